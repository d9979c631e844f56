"""Tracing and symbolic scalars: the recorded program gives the text's numbers, the expressions are the equations."""

from __future__ import annotations

import math

import numpy as np
import pytest
import sympy
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fastdyn.scalars import (
    Counting,
    Operations,
    Tally,
    add,
    all_above,
    all_finite,
    any_above,
    atan2,
    by_sign,
    count,
    fill,
    load,
    maximum,
    minimum,
    sincos,
    sqrt,
    store,
    where_above,
)
from fastdyn.scalars.symbols import Symbolic
from fastdyn.scalars.tracing import Graph, Traced
from fastdyn.scalars.vectors import cross, dot, matrix_vector, unit_matrix

EPS = np.finfo(float).eps


def text(P, X):
    """Uses every verb: four inputs in the first rows of X, eight results in the next."""
    s, c = sincos(load(X, 0) + P[0])
    axis = s, -c, fill(X, 0.0)
    arm = load(X, 1), P[1] * load(X, 2), fill(X, 1.0)
    store(X, 4, dot(axis, arm))
    for k, value in enumerate(matrix_vector(unit_matrix(X), cross(axis, arm))):
        store(X, 5 + k, value)
    add(X, 5, 2.0 / (3.0 + load(X, 3) * load(X, 3)) - (1.0 - s) / P[2])
    friction = by_sign(load(X, 3), P[3], -P[3]) + by_sign(-load(X, 3), load(X, 1), -load(X, 2))
    store(X, 8, friction)
    store(X, 9, load(X, 2) if P[3] == 0 else -friction)
    root = sqrt(maximum(load(X, 0), 0.25) - minimum(-load(X, 1), 0.0))
    store(X, 10, where_above(-load(X, 2), P[0], root, -root) + where_above(P[0], 0.1, load(X, 1), 0.0))
    store(X, 11, atan2(-load(X, 0), -load(X, 1)) + atan2(P[1], load(X, 2)))
    return all_above(3.0 + load(X, 3), P[2]) and all_finite(friction) and any_above(root, 0.0)


ROWS = 12
P = np.array([0.3, -1.0, 1.7, 0.4])


def traced(graph, constants=P):
    X = np.concatenate([graph.inputs("x", 4), graph.array(np.zeros(ROWS - 4))])
    assert text(graph.array(constants), X)
    return X[4:]


def plain(x, constants=P):
    X = np.concatenate([x, np.zeros(ROWS - 4)])
    text(constants, X)
    return X[4:]


# ---------------------------------------------------------------------------------------------- values


@pytest.mark.parametrize("fold", [False, True])
@pytest.mark.parametrize("constants", [P, 0 * P + [0, 0, 1, 0], -P], ids=["any", "zeros and one", "negative"])
def test_an_evaluated_graph_gives_the_numbers_of_the_text(fold, constants):
    graph = Graph(fold)
    outputs = traced(graph, constants)
    samples = np.random.default_rng(0).uniform(-2, 2, (4, 20))
    samples[3, :5] = 0.0
    expected = np.array([plain(x, constants) for x in samples.T])
    for x, y in zip(samples.T, expected, strict=True):
        # the same operations in the same order; sine and cosine are the C library's in both
        np.testing.assert_array_equal(graph.evaluate(outputs, {"x": x.tolist()}), y)
    rows = graph.evaluate(outputs, {"x": samples})
    assert rows.shape == (ROWS - 4, 20)
    # NumPy's sine of a row may differ by an ulp, which a few sums of numbers below 10 pass on
    np.testing.assert_allclose(rows.T, expected, rtol=0, atol=20 * EPS)


CONSTANTS = st.sampled_from([0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, 0.1, -0.1, 3.7])
EXPRESSIONS = st.recursive(
    st.one_of(CONSTANTS, st.integers(0, 2)),  # a constant, or the number of an input
    lambda deeper: st.one_of(
        st.tuples(st.sampled_from([*"+-*/", "atan2"]), deeper, deeper),
        st.tuples(st.sampled_from(["neg", "sin", "cos", "sqrt"]), deeper),
        st.tuples(st.just("by_sign"), deeper, deeper, deeper),
        st.tuples(st.just("where_above"), deeper, deeper, deeper, deeper),
    ),
    max_leaves=25,
)


CHOICES = {"by_sign": by_sign, "where_above": where_above, "sqrt": sqrt, "atan2": atan2}


def built(expression, inputs, constant):
    """The value of an expression, on scalars of any kind."""
    if isinstance(expression, int):
        return inputs[expression]
    if isinstance(expression, float):
        return constant(expression)
    operation, *operands = expression
    a, *rest = (built(operand, inputs, constant) for operand in operands)
    if operation == "neg":
        return -a
    if operation in ("sin", "cos"):
        return sincos(a)[operation == "cos"]
    if operation == "atan2" and isinstance(a, float) and a == 0:
        raise ZeroDivisionError("a graph does not keep the sign of a zero")
    if operation in CHOICES:
        return CHOICES[operation](a, *rest)
    (b,) = rest
    return a + b if operation == "+" else a - b if operation == "-" else a * b if operation == "*" else a / b


X, Y, Z = 0, 1, 2


@settings(max_examples=300)
@given(expressions=st.lists(EXPRESSIONS, min_size=1, max_size=4), values=st.tuples(*[st.floats(-4, 4)] * 3))
@example([("-", X, Y), ("-", Y, X), ("+", ("neg", X), Y)], (0.1, 0.7, 0.0))
@example([("by_sign", ("neg", X), Y, ("neg", Y)), ("by_sign", X, ("neg", Y), Y)], (0.1, 0.7, 0.0))
@example([("by_sign", X, 0.0, ("neg", Y)), ("by_sign", X, -1.0, 1.0), ("by_sign", X, 0.0, -0.0)], (-0.1, 0.7, 0.0))
@example([("/", X, ("-", Y, Y)), ("/", 1.0, 0.0), ("/", 0.0, ("*", 0.0, X))], (0.1, 0.7, 0.0))
def test_folding_never_changes_values(expressions, values):
    """To the last bit, and from those of floats, where all values on the way are finite."""
    graphs = {fold: Graph(fold) for fold in (False, True)}
    outputs = {
        fold: [graph.own(built(e, graph.inputs("x", 3), graph.constant)) for e in expressions]
        for fold, graph in graphs.items()
    }
    unfolded = graphs[False]
    try:
        every = unfolded.evaluate([Traced(unfolded, k) for k in unfolded.live(outputs[False])], {"x": values})
        expected = [built(e, values, float) for e in expressions]
    except ZeroDivisionError:
        return
    if np.isfinite(every).all():
        for fold, graph in graphs.items():
            assert graph.evaluate(outputs[fold], {"x": values}).tolist() == expected


# ---------------------------------------------------------------------------------------------- the graph


def test_zeros_and_ones_cost_nothing():
    graph = Graph()
    x, zero, one = graph.input("x"), graph.constant(0.0), graph.constant(1.0)
    same = [x + zero, 0.0 + x, x - zero, x * one, 1.0 * x, x / one, -(x * -1.0), -(x / -1.0), zero - -x]
    assert {(y.node, y.sign) for y in same} == {(x.node, 1)}
    nothing = [x * zero, zero * x, x - x, -x + x, zero / x, x * 0.0 - zero, by_sign(x, zero, 0.0), by_sign(zero, x, x)]
    assert {y.known for y in nothing} == {0.0}
    assert graph.operations() == Operations()


def test_constants_are_computed():
    graph = Graph()
    a, b = graph.array([3.0, -0.5])
    s, c = sincos(a)
    found = [a + b, a - b, a * b, a / b, 1.0 / b, -a, s, c, by_sign(b, a, 4.0), sqrt(a), atan2(b, a), maximum(a, b)]
    expected = [2.5, 3.5, -1.5, -6.0, -2.0, -3.0, math.sin(3.0), math.cos(3.0), 4.0]
    expected += [math.sqrt(3.0), math.atan2(-0.5, 3.0), 3.0]
    assert [y.known for y in found] == expected
    assert {operation for operation, _ in graph.nodes} == {"constant"}


def test_operations_are_shared_up_to_sign():
    graph = Graph()
    x, y = graph.inputs("x", 2)

    def costs(*values):
        return graph.operations(values).totals()

    assert costs(x + y, y + x, -x - y) == (0, 1, 0, 0, 0, 0)
    assert costs(x - y, y - x, -y + x) == (0, 1, 0, 0, 0, 0)
    assert costs(x * y, -y * x, y * -x) == (1, 0, 0, 0, 0, 0)
    assert costs(x / y, -x / y, x / -y) == (0, 0, 1, 0, 0, 0)
    assert costs(*sincos(x), *sincos(-x)) == (0, 0, 0, 1, 0, 0)
    assert costs(sqrt(x), sqrt(x)) == (0, 0, 0, 0, 1, 0)
    assert costs(atan2(x, y), atan2(-x, y)) == (0, 0, 0, 0, 0, 1)
    assert where_above(y, 1.0, x, x) == x
    assert len(graph.live([by_sign(x, y, -y), by_sign(-x, y, -y), by_sign(x, -y, y)])) == 4  # x, y, -y, a choice


def test_only_what_outputs_need_is_live():
    graph = Graph()
    x, y = graph.inputs("x", 2)
    unused, used = x * y, (x + y) * 2.0
    assert graph.live([used]) == [x.node, y.node, (x + y).node, graph.constant(2.0).node, used.node]
    assert graph.operations([used]).totals() == (1, 1, 0, 0, 0, 0)
    assert graph.operations().totals() == (2, 1, 0, 0, 0, 0)
    assert unused.node not in graph.live([used])
    for number, (operation, operands) in enumerate(graph.nodes):
        assert operation in ("input", "constant") or all(k < number for k in operands)


def test_without_folding_every_operation_is_recorded():
    """As many as counting scalars count."""
    graph = Graph(fold=False)
    outputs = traced(graph)
    assert graph.operations() == count(text, P, np.ones(ROWS))
    assert graph.operations([*outputs, *graph.checks[0]]) == graph.operations()
    folded = Graph()
    assert sum(folded.operations(traced(folded)).totals()) < sum(graph.operations().totals())


def test_outputs_keep_their_shape():
    graph = Graph()
    table = graph.array(np.arange(6.0).reshape(2, 3)) * graph.input("x")
    assert graph.evaluate(table, {"x": [2.0]}).tolist() == [[0.0, 2.0, 4.0], [6.0, 8.0, 10.0]]
    assert graph.evaluate(table, {"x": np.ones((1, 5))}).shape == (2, 3, 5)
    assert graph.evaluate(graph.constant(3.0), {}) == 3.0
    assert graph.evaluate([], {}).shape == (0,)


def test_checks_are_recorded_and_the_answer_is_yes():
    graph = Graph()
    x = graph.input("x")
    assert all_above(2.0 * x, 1e-9)
    assert all_above(-x, graph.input("y"))
    assert all_finite(x)
    assert [graph.evaluate(check, {"x": [3.0], "y": [5.0]}).tolist() for check in graph.checks] == [[6, 1e-9], [-3, 5]]


def test_graphs_do_not_see_each_other():
    one, two = Graph(), Graph()
    x, y = one.input("x"), two.input("x")
    assert len(one.nodes) == len(two.nodes) == 1
    for mix in (
        lambda: x + y, lambda: x - y, lambda: x * y, lambda: x / y, lambda: by_sign(x, y, 0.0), lambda: x.like(y),
        lambda: all_above(x, y), lambda: one.live([y]), lambda: one.evaluate([y], {"x": [1.0]}), lambda: x == y,
    ):  # fmt: skip
        with pytest.raises(ValueError, match="scalars of two graphs meet"):
            mix()
    assert len(one.nodes) == len(two.nodes) == 1


def test_a_text_cannot_branch_on_what_is_not_known():
    graph = Graph()
    x = graph.input("x")
    assert graph.constant(2.0) == 2.0
    assert graph.constant(-2.0) != 2.0
    assert x == x + 0.0
    for branch in (lambda: x == 0, lambda: x != 0, lambda: 1 if x else 2):
        with pytest.raises(TypeError, match="branches on a value that is not known"):
            branch()
    with pytest.raises(TypeError):
        x > 0  # noqa: B015


# ---------------------------------------------------------------------------------------------- tallies


def test_counting_scalars_of_one_tally_count_together_and_others_do_not():
    one, two = Tally(), Tally()
    x, y, free = Counting(2.0, one), Counting(3.0, two), Counting(4.0)
    assert float(x * x + free * x - 1.0) == 11.0
    assert one.operations() == Operations(multiplications=2, additions=2)
    assert two.operations() == Operations()
    assert (free * free).tally is None
    for mix in (lambda: x + y, lambda: y - x, lambda: x * y, lambda: x / y):
        with pytest.raises(ValueError, match="counting scalars of two tallies"):
            mix()


def test_counted_arrays_receive_results_and_may_be_counted_again():
    X = Counting.array(np.concatenate([np.full(4, 0.5), np.zeros(ROWS - 4)]))
    first, second = (count(text, P, X) for _ in range(2))
    assert first == second == count(text, P, np.ones(ROWS))
    assert X[4:].astype(float).tolist() == plain(np.full(4, 0.5)).tolist()


# ---------------------------------------------------------------------------------------------- symbols


def inertia(P, X):
    """M11 and M12 of two links in a plane, by the columns of the Jacobians of their centres of mass."""
    (l1, c1, c2, m1, m2, I1, I2) = P
    (s1, k1), (s12, k12) = sincos(load(X, 0)), sincos(load(X, 0) + load(X, 1))
    first = -c1 * s1, c1 * k1, fill(X, 0.0)
    swept = -c2 * s12, c2 * k12, fill(X, 0.0)
    both = swept[0] - l1 * s1, swept[1] + l1 * k1, fill(X, 0.0)
    store(X, 2, m1 * dot(first, first) + m2 * dot(both, both) + I1 + I2)
    store(X, 3, m2 * dot(both, swept) + I2)


def test_the_symbolic_inertia_of_two_links_is_the_textbooks():
    symbols = sympy.symbols("l1 c1 c2 m1 m2 I1 I2", real=True)
    l1, c1, c2, m1, m2, I1, I2 = symbols
    X = np.concatenate([Symbolic.symbols("q", 2), Symbolic.array([0.0, 0.0])])
    q2 = X[1].expression
    inertia(Symbolic.array(symbols), X)
    M11 = m1 * c1**2 + m2 * (l1**2 + c2**2 + 2 * l1 * c2 * sympy.cos(q2)) + I1 + I2
    M12 = m2 * (c2**2 + l1 * c2 * sympy.cos(q2)) + I2
    assert sympy.simplify(X[2].expression - M11) == 0
    assert sympy.simplify(X[3].expression - M12) == 0


def test_symbolic_scalars_give_the_numbers_of_the_text():
    X = np.concatenate([Symbolic.symbols("x", 4), Symbolic.array(np.zeros(ROWS - 4))])
    assert text(Symbolic.array(P), X)
    names = sympy.symbols("x1:5", real=True)
    for x in ([0.5, -1.0, 2.0, 0.75], [0.5, -1.0, 2.0, -0.75], [0.5, -1.0, 2.0, 0.0]):
        found = [float(y.expression.subs(dict(zip(names, x, strict=True)))) for y in X[4:]]
        # SymPy sums in another order: a few roundings of numbers below 10
        np.testing.assert_allclose(found, plain(np.array(x)), rtol=0, atol=40 * EPS)


def test_symbolic_zeros_and_ones_drop_out():
    x = Symbolic.symbols("x", 1)[0]
    assert (x * 0.0 + 1.0 * x).expression == x.expression
    assert x * 0.0 == 0
    assert x != 0
    assert str((2.0 / x - np.float64(3.0)).expression) == "-3 + 2/x1"
