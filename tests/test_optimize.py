"""Optimised programs: the traced results from fewer operations, to rounding, the same in every process."""

from __future__ import annotations

import functools
import hashlib
import math
import os
import subprocess
import sys
import warnings

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import fastdyn as fd
from fastdyn.quantities import QUANTITIES
from fastdyn.scalars.tracing import Graph, Traced
from fastdyn.specialize.algebra.across import cancel_across
from fastdyn.specialize.algebra.network import Network
from fastdyn.specialize.algebra.optimize import SCHEDULES, collect, factor, flatten, group, optimized, settle, share
from fastdyn.specialize.algebra.schedule import fused_operations, live_values
from fastdyn.specialize.program import Condition, Program, trace
from tests.test_tracing import EXPRESSIONS, X, Y, Z, built

EPS = np.finfo(float).eps
# How many times as large as the traced program's error bound that of the optimised one may be. Of a few operations the
# bound counts each, so that 2 x has twice the error of x + x.
LARGER, LARGER_IF_SMALL = 2, 6
LOOPS = {"singular_values", "inverse_velocity", "inverse_acceleration", "task_dynamics"}  # depend on values
TRACED = [name for name in QUANTITIES if name not in LOOPS]

# ---------------------------------------------------------------------------------------------- roundings


def error_of(operation, x, e):
    """The error of a value, in eps and to first order, from the operands' values x and errors e: what these pass on.

    And roundings: of a sum by its terms, as the order of more than two may change; of products and functions by a few
    of the value itself. Sines and cosines: a quarter turn in the argument is exact to the argument's rounding.
    """
    if operation in "+-":
        return e[0] + e[1] + np.abs(x[0]) + np.abs(x[1])
    if operation == "*":
        return e[0] * np.abs(x[1]) + np.abs(x[0]) * e[1] + 2 * np.abs(x[0] * x[1])
    if operation == "/":
        return (e[0] + np.abs(x[0] / x[1]) * e[1] + 3 * np.abs(x[0])) / np.abs(x[1])
    if operation == "neg":
        return e[0]
    if operation in ("sin", "cos"):
        return 2 + e[0]
    if operation == "sqrt":
        return 2 * np.sqrt(x[0]) + e[0] / np.sqrt(x[0])
    if operation == "atan2":
        return 8 + (np.abs(x[1]) * e[0] + np.abs(x[0]) * e[1]) / (x[0] ** 2 + x[1] ** 2)
    return sum(e)  # a choice


def margin_of(operation, x, e):
    """How far a choice is from its edge, in multiples of the error of what decides."""
    edge, error = (x[0], e[0]) if operation == "by_sign" else (x[0] - x[1], e[0] + e[1])
    return np.min(np.abs(edge) / (EPS * error + 1e-300))


def with_errors(program, inputs):
    """Values and errors of the results, and the least margin of all choices. Constants have been combined: rounded."""
    graph = program.graph
    live = graph.live(program.results)
    every = dict(zip(live, graph.evaluate([Traced(graph, k) for k in live], inputs), strict=True))
    errors, margin = {}, np.inf
    for k in live:
        operation, operands = graph.nodes[k]
        if operation in ("input", "constant"):
            exact = operation == "constant" and operands[0] in (0.0, 1.0)
            errors[k] = np.abs(every[k]) * (0 if exact else 2 if operation == "constant" else 1)
        else:
            x, e = [every[j] for j in operands], [errors[j] for j in operands]
            errors[k] = error_of(operation, x, e)
            if operation in ("by_sign", "where_above"):
                margin = min(margin, margin_of(operation, x, e))
    results = program.results
    return np.array([x.sign * every[x.node] for x in results]), np.array([errors[x.node] for x in results]), margin


def check_values(program, better, inputs, larger=LARGER):
    """The results agree within the errors of both, and those of the optimised program are not much larger."""
    expected, errors, _ = with_errors(program, inputs)
    found, others, _ = with_errors(better, inputs)
    assert np.all(np.abs(found - expected) <= EPS * (errors + others))
    assert np.all(others <= larger * errors)


def samples(program, count=20):
    random = np.random.default_rng(3)
    return {name: random.uniform(-2, 2, (len(field), count)) for name, field in program.inputs.items()}


def work(program):
    operations = program.operations()
    return operations.multiplications + operations.additions


# ---------------------------------------------------------------------------------------------- small programs


def program_of(outputs, graph, inputs):
    return Program("small", graph, {"x": tuple(inputs)}, {"y": tuple(graph.own(y) for y in outputs)})


@settings(max_examples=200)
@given(expressions=st.lists(EXPRESSIONS, min_size=1, max_size=4), values=st.tuples(*[st.floats(-4, 4)] * 3))
@example([("-", ("+", X, Y), ("+", Y, Z)), ("+", ("*", X, Y), ("*", Z, X))], (0.1, 0.7, -3.0))  # cancel, factor
@example([("*", 3.7, ("+", X, Y)), ("*", 0.1, ("+", Y, X)), ("-", ("neg", X), Y)], (0.1, 0.7, -3.0))  # up to scale
@example([("/", X, Z), ("/", Y, Z), ("/", ("+", X, Y), 0.1), ("/", X, Y)], (0.1, 0.7, -3.0))  # common divisors
@example([("+", X, ("sqrt", -1.0)), ("*", Y, ("sqrt", -1.0))], (0.1, 0.7, -3.0))
@example([("/", X, 0.0), ("*", X, 0.0), ("/", X, ("-", Y, Y))], (0.1, 0.7, -3.0))
@example([("sin", ("+", X, math.pi / 2)), ("cos", ("-", math.pi, X)), ("sin", ("neg", X))], (0.1, 0.7, -3.0))
@example([("+", ("*", ("sin", X), ("sin", X)), ("*", ("cos", X), ("cos", X)))], (0.1, 0.7, -3.0))
def test_values_are_those_of_the_traced_program_to_rounding(expressions, values):
    graph = Graph()
    inputs = graph.inputs("x", 3)
    try:
        program = program_of([built(e, inputs, graph.constant) for e in expressions], graph, inputs)
        better = optimized(program)
        with np.errstate(all="ignore"):
            expected, errors, margin = with_errors(program, {"x": values})
    except ZeroDivisionError:
        assume(False)
    assume(np.isfinite(expected).all() and np.isfinite(errors).all() and errors.max() < 1e9 and margin > 10)
    check_values(program, better, {"x": values}, LARGER_IF_SMALL)
    # a division by a common divisor may become a multiplication
    assert work(better) + better.operations().divisions <= work(program) + 2 * program.operations().divisions


def small(build, count=10):
    graph = Graph()
    x = graph.inputs("x", count)
    return program_of(build(x, graph), graph, x)


def rotated_twice(x, graph):
    """Two vectors, rotated by two angles: 24 operations, or 6 for the sum of the angles and 6 for each vector."""
    (s, c), (t, d) = x[0].sincos(), x[1].sincos()
    for u, v in ((x[2], x[3]), (x[4], x[5])):
        u, v = c * u + s * v, c * v - s * u
        yield from (d * u + t * v, d * v - t * u)


def rotated_back(x, graph):
    """Components of vectors that are rotated by an angle and, after another is added, by a second: 39 operations."""
    (s, c), (t, d) = x[0].sincos(), x[1].sincos()
    for u, v, k in ((x[2], x[3], 0.1), (x[4], x[5], 0.2), (x[8], x[9], 0.3)):
        yield s * (k * x[6] + d * u - t * v) + c * (k * x[7] + d * v + t * u)


def across(x, graph):
    """The terms with x2 cancel."""
    s, c = x[0].sincos()
    return [s * (x[1] + c * x[2]) + c * (x[3] - s * x[2])]


@pytest.mark.parametrize(
    ("build", "least"),
    [
        (lambda x, g: [x[0] * x[1] + x[0] * x[2]], 2),
        (lambda x, g: [(x[0] + x[1]) - (x[1] + x[2])], 1),
        (lambda x, g: [2.0 * (x[0] + x[1]) + 3.0 * (x[0] - x[1])], 3),
        (lambda x, g: [(x[0] + x[1]) + x[2], (x[0] + x[2]) - x[1], x[0] + x[2]], 3),
        (lambda x, g: [0.3 * x[0] + 0.3 * x[1]], 2),
        (lambda x, g: [0.3 * x[0] + 0.5 * x[1], 0.6 * x[0] + 1.0 * x[1]], 4),
        (lambda x, g: [x[0] * x[1] * x[2], x[2] * x[0]], 2),
        (lambda x, g: [0.1 * (0.2 * (0.3 * x[0]))], 1),
        (lambda x, g: [(x[0] + math.pi).sincos()[0] + (x[0] - math.pi / 2).sincos()[1]], 0),
        (lambda x, g: [g.constant(1.0) / 4.0 * x[0] - x[0] / 4.0], 0),
        (rotated_twice, 18),
        (rotated_back, 24),
        (across, 3),
    ],
)
def test_known_savings(build, least):
    program = small(build)
    better = optimized(program)
    assert work(better) <= least
    check_values(program, better, samples(program), LARGER_IF_SMALL)


def test_common_divisors_are_inverted_once_and_single_ones_divide():
    several = optimized(small(lambda x, g: [x[0] / x[2], x[1] / x[2], x[0] * x[1] / x[2]]))
    assert several.operations().divisions == 1
    single = optimized(small(lambda x, g: [x[0] / x[2] + x[1] / x[0]]))
    assert (single.operations().divisions, single.operations().multiplications) == (2, 0)


def test_no_cancellation_is_added():
    """x = (x + y) - y holds for all inputs, but loses digits where y is large."""
    better = optimized(small(lambda x, g: [x[0] * x[1] + x[2], x[2], x[0] * x[1]]))
    found = better.evaluate({"x": [1e-9, 1.0, 1e9]})["y"]
    np.testing.assert_allclose(found, [1e9, 1e9, 1e-9], rtol=4 * EPS)


def test_nothing_is_lost():
    graph = Graph()
    x, unused = graph.inputs("x", 2), graph.inputs("z", 2)
    s = x[0] + x[1]
    outputs = {"y": (-s, s, -x[0], x[1], graph.constant(0.0), graph.constant(-2.5)), "w": (s * s, s - s)}
    conditions = (Condition(s * x[0], 1e-3, 1), Condition(-x[1], 0.0, 0))
    program = Program("all", graph, {"x": tuple(x), "z": tuple(unused)}, outputs, conditions)
    better = optimized(program)
    assert better.name == "all"
    assert [len(field) for field in better.inputs.values()] == [2, 2]
    assert [(c.bound, c.index) for c in better.conditions] == [(1e-3, 1), (0.0, 0)]
    found = better.evaluate({"x": [3.0, 4.0], "z": [0.0, 0.0]})
    assert found["y"].tolist() == [-7.0, 7.0, -3.0, 4.0, 0.0, -2.5]
    assert found["w"].tolist() == [49.0, 0.0]
    values = better.graph.evaluate([c.value for c in better.conditions], {"x": [3.0, 4.0]})
    assert values.tolist() == [21.0, -4.0]


# ---------------------------------------------------------------------------------------------- robots


@functools.cache
def robot_of(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fd.RobotWarning)
        if name == "puma560 without motors":
            return fd.robots.puma560().without_motors()
        return getattr(fd.robots, name)()


@functools.cache
def programs(name, quantity):
    robot, row = robot_of(name), QUANTITIES[quantity]
    program = trace(row, robot.parameters_in(None, None, False) if row.frame else robot.parameters)
    return program, optimized(program)


# multiplications and additions together: inverse dynamics, mass matrix, forward dynamics by both methods
COUNTS = {
    "puma560 without motors": (308, 141, 571, 531),
    "puma560": (335, 144, 654, 554),
    "ur5": (282, 139, 604, 514),
    "panda": (585, 311, 1146, 1116),
    "iiwa": (404, 192, 739, 792),
    "stanford": (242, 100, 551, 445),
    "irb1400": (285, 133, 542, 509),
}
MAIN = ("inverse_dynamics", "mass_matrix", "forward_dynamics", "forward_dynamics_crba")


@pytest.mark.parametrize("name", COUNTS)
def test_operations_of_the_zoo(name):
    found = [programs(name, quantity)[1] for quantity in MAIN]
    assert all(work(program) <= count for program, count in zip(found, COUNTS[name], strict=True))


@pytest.mark.parametrize("name", COUNTS)
def test_values_of_the_zoo(name):
    for quantity in MAIN:
        program, better = programs(name, quantity)
        check_values(program, better, samples(program))


@pytest.mark.parametrize("quantity", TRACED)
@pytest.mark.parametrize("name", ["puma560", "stanford"])
def test_every_quantity_needs_no_more_work_and_keeps_its_values(name, quantity):
    program, better = programs(name, quantity)
    check_values(program, better, samples(program))
    before, after = program.operations(), better.operations()
    assert after.sincos <= before.sincos
    assert work(better) + 4 * after.divisions <= work(program) + 4 * before.divisions


def test_a_program_that_cannot_be_improved_is_kept():
    program, better = programs("two_link", "joint_reactions")
    check_values(program, better, samples(program))
    assert work(better) <= work(program)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("quantity", ["inverse_dynamics", "forward_dynamics", "coriolis_matrix"])
def test_values_of_random_robots(quantity, seed):
    """Trees and chains of all types of joints, with friction; optional inputs; coupled."""
    tree = fd.robots.random_tree(4, seed=seed, prismatic=0.3, drives=True, helical=0.2)
    chain = fd.robots.random_chain(3, seed=seed, prismatic=0.3, helical=0.3)
    coupling = np.random.default_rng(seed).uniform(-1, 1, (3, 2))
    row = QUANTITIES[quantity]
    for robot, optional in ((tree, False), (chain, bool(row.optional)), (chain.coupled(coupling), False)):
        program = trace(row, robot.parameters, optional)
        better = optimized(program)
        check_values(program, better, samples(program))
        assert [c.index for c in better.conditions] == [c.index for c in program.conditions]


def test_rewriting_keeps_every_value():
    """Not only the results: values are compared by fingerprints that rewriting must not make wrong."""
    network = Network(programs("ur5", "inverse_dynamics")[0])
    for rewrite in (flatten, collect, factor, share, cancel_across, settle, group):
        rewrite(network)
        for v in network.order():
            if v in network.terms:
                found = [sum(c * network.values[w][k] for w, c in network.terms[v].items()) for k in (0, 1)]
            elif v in network.factors:
                found = [math.prod(network.values[w][k] for w in network.factors[v]) for k in (0, 1)]
            else:
                continue
            error = np.abs(np.subtract(found, network.values[v]))
            assert np.all(error <= 1000 * EPS * np.array(network.sizes[v]))  # paths of less than 1000 operations


def nodes_of(program):
    lines = [repr(node) for node in program.graph.nodes] + [repr((x.node, x.sign)) for x in program.results]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def test_every_process_makes_the_same_program():
    text = "from tests.test_optimize import *; print(nodes_of(programs('ur5', 'inverse_dynamics')[1]))"
    environment = {**os.environ, "PYTHONHASHSEED": "17"}
    found = subprocess.run(
        [sys.executable, "-c", text], env=environment, capture_output=True, text=True, check=True
    ).stdout
    assert found.strip() == nodes_of(programs("ur5", "inverse_dynamics")[1])


# ---------------------------------------------------------------------------------------------- schedules


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_schedule_has_live_nodes_after_their_operands(schedule):
    program = programs("stanford", "inverse_dynamics")[0]
    better = optimized(program, schedule)
    check_values(program, better, samples(program))
    live = set(better.graph.live(better.results))
    for k, (operation, operands) in enumerate(better.graph.nodes):
        assert k in live or operation == "input"
        if operation not in ("input", "constant"):
            assert max(operands) < k


def test_unknown_schedules_are_refused():
    with pytest.raises(ValueError, match="schedule is 'quick': expected one of 'text', 'early', 'greedy', 'fewest'"):
        optimized(small(lambda x, g: [x[0]]), "quick")


def test_live_values_are_counted():
    program = small(lambda x, g: [(x[0] + x[1]) * (x[1] + x[2]) - x[0] * x[2]])
    live = live_values(program)  # two sums; their product; with the other product; the result, written at once
    assert (live.most, live.mean, live.beyond_16) == (2, (1 + 2 + 1 + 2 + 0) / 5, 0.0)
    assert live_values(small(lambda x, g: [x[0]])).most == 0
    assert fused_operations(program) == 4


@pytest.mark.parametrize(("name", "most", "mean"), [("puma560", 40, 23.2), ("panda", 61, 35.8)])
def test_few_values_are_live_in_inverse_dynamics(name, most, mean):
    program, better = programs(name, "inverse_dynamics")
    live = live_values(better)
    assert live.most <= most
    assert live.mean <= mean + 0.1 <= live_values(program).mean
    assert fused_operations(better) < fused_operations(program)


def test_rewriting_never_makes_a_value_depend_on_itself():
    """A vector turned by a sum of angles may not be made of what it replaces: this one did not end."""
    robot = fd.robots.dual_arm()
    program = trace(QUANTITIES["coriolis_matrix"], robot.parameters)
    assert sum(optimized(program).operations().totals()) < sum(program.operations().totals())
