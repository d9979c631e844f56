"""What a number is: lanes, scalars and counting scalars do the same, in compiled code and in plain Python."""

from __future__ import annotations

import math

import mpmath
import numba
import numpy as np
import pytest
from numba.core import config

import fastdyn as fd
from fastdyn import robots
from fastdyn.calls import generate
from fastdyn.compiler.policy import OPTIONS, register
from fastdyn.kernels import rnea
from fastdyn.quantities import QUANTITIES
from fastdyn.scalars import (
    LANES,
    SINCOS_RANGE,
    Counting,
    Operations,
    all_above,
    all_finite,
    any_above,
    atan2,
    by_sign,
    count,
    fill,
    give,
    load,
    maximum,
    minimum,
    sincos,
    sqrt,
    store,
    take,
    where_above,
    width,
)  # fmt: skip
from fastdyn.scalars.tracing import Graph
from fastdyn.scalars.vectors import cross
from tests.samples import (
    EPS,
    FEW,
    any_robot,
    assert_rounded,
    computed,
    core,
    draw,
    each_row,
    every_row,
    geared,
    parameters,
    part,
)  # fmt: skip

ULP = EPS / 2  # the spacing of numbers between 1/2 and 1, where the sines are


def compiled(function):
    """As kernels are: with the flags that let the compiler fuse and reorder."""
    register()
    return numba.njit(**OPTIONS)(function)


def rows(*values) -> np.ndarray:
    """A buffer of lanes: each value a row, numbers in all lanes."""
    return np.array([np.broadcast_to(np.asarray(value, dtype=float), LANES) for value in values])


in_python_and_compiled = pytest.mark.parametrize("build", [lambda f: f, compiled], ids=["python", "compiled"])

# ---------------------------------------------------------------------------------------------- arithmetic


def arithmetic(X):
    x, y = load(X, 0), load(X, 1)
    store(X, 2, x + y)
    store(X, 3, x - y)
    store(X, 4, x * y)
    store(X, 5, x / y)
    store(X, 6, -x)
    store(X, 7, 2 + x)
    store(X, 8, x - 0.5)
    store(X, 9, 3 * x)
    store(X, 10, 1.0 / x)
    store(X, 11, fill(X, 7))


@in_python_and_compiled
@pytest.mark.parametrize("lanes", [False, True])
def test_arithmetic_is_that_of_floats(build, lanes):
    x, y = np.random.default_rng(0).normal(size=(2, LANES)) if lanes else (0.3, -1.7)
    X = np.zeros((12, LANES)) if lanes else np.zeros(12)
    X[0], X[1] = x, y
    build(arithmetic)(X)
    expected = [x, y, x + y, x - y, x * y, x / y, -x, 2 + x, x - 0.5, 3 * x, 1 / x, 7 + 0 * x]
    # one operation each, so that nothing can be fused; arcp may make a quotient a product: one rounding more
    np.testing.assert_allclose(X, np.array(expected), rtol=2 * EPS, atol=0)


# ---------------------------------------------------------------------------------------------- sine and cosine


@compiled
def sincos_rows(X, S, C):
    for i in range(X.shape[0]):
        s, c = sincos(load(X, i))
        store(S, i, s)
        store(C, i, c)


def lane_sincos(x) -> tuple[np.ndarray, np.ndarray]:
    x = np.asarray(x, dtype=float)
    X = np.zeros((-(-x.size // LANES), LANES))
    X.flat[: x.size] = x
    S, C = np.empty_like(X), np.empty_like(X)
    sincos_rows(X, S, C)
    return S.ravel()[: x.size], C.ravel()[: x.size]


def angles() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    quarters = rng.integers(-636619, 636620, 500)  # all multiples of pi/2 within a million
    steps = np.arange(-2, 3)[:, None]
    near = quarters * (np.pi / 2)
    return {
        "a turn": rng.uniform(-np.pi, np.pi, 4000),
        "the whole range": rng.uniform(-SINCOS_RANGE, SINCOS_RANGE, 4000),
        "next to multiples of a right angle": (near + steps * np.spacing(near)).ravel(),
        "first multiples of a right angle": (np.arange(-8, 9) * np.pi / 2 + steps * EPS).ravel(),
        "between two quadrants": (near + np.pi / 4 + steps * np.spacing(near)).ravel(),
        "small": rng.choice((-1, 1), 500) * 10.0 ** rng.uniform(-308, -1, 500),
        "the ends": np.array([0.0, SINCOS_RANGE, -SINCOS_RANGE, 5e-324, np.pi / 4, -np.pi / 4]),
    }


@pytest.mark.parametrize("where", angles())
def test_sine_and_cosine_of_lanes_are_within_one_eps(where):
    """Both in absolute error and, where they are small, relative to their size.

    Taking away multiples of pi/2 rounds twice, by half an ulp of 1 each; the polynomial adds its own rounding and that
    of the result: 2 ulp, or one eps. Measured: 1.7 ulp absolute, 2.7 ulp relative.
    """
    x = angles()[where]
    worst = worst_relative = 0.0
    with mpmath.workprec(160):
        for value, *found in zip(x.tolist(), *lane_sincos(x), strict=True):
            for y, exact in zip(found, (mpmath.sin(value), mpmath.cos(value)), strict=True):
                error = abs(mpmath.mpf(float(y)) - exact)
                worst = max(worst, float(error))
                if abs(exact) > 2.0**-1022:  # a relative error below that is one of the number format
                    worst_relative = max(worst_relative, float(error / abs(exact)))
    assert worst <= 2 * ULP
    assert worst_relative <= 4 * ULP  # half of one is two ulp of 1/2


FAR = [1e7, -1e7, np.nextafter(SINCOS_RANGE, np.inf), -2e6, 2.0**60, 1e22, -1e300, 1.7e308]


@pytest.mark.parametrize("lane", range(LANES))
def test_lanes_out_of_range_are_right_and_disturb_no_other(lane):
    near = np.random.default_rng(lane).uniform(-3, 3, LANES)
    undisturbed = lane_sincos(near)
    with mpmath.workprec(1200):  # enough to know 1.7e308 within a turn
        for far in [*FAR, np.inf, -np.inf, np.nan]:
            x = near.copy()
            x[lane] = far
            exact = (mpmath.sin(far), mpmath.cos(far)) if math.isfinite(far) else (np.nan, np.nan)
            for found, expected, others in zip(lane_sincos(x), exact, undisturbed, strict=True):
                # the C library's: within an ulp
                np.testing.assert_allclose(found[lane], float(expected), rtol=0, atol=ULP)
                assert np.array_equal(np.delete(found, lane), np.delete(others, lane))


def test_sine_and_cosine_of_a_scalar_are_the_c_librarys():
    X = np.array([0.0, 1.0, -2.5, 1e6, 1e300])
    S, C = np.empty_like(X), np.empty_like(X)
    sincos_rows(X, S, C)
    # one eps is ours, half an ulp the C library's
    np.testing.assert_allclose(S, [*map(math.sin, X)], rtol=0, atol=EPS + ULP / 2)
    np.testing.assert_allclose(C, [*map(math.cos, X)], rtol=0, atol=EPS + ULP / 2)


# ---------------------------------------------------------------------------------------------- atan2 and square root


def atan2_rows(Y, X, A):
    for i in range(X.shape[0]):
        store(A, i, atan2(load(Y, i), load(X, i)))


def directions() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(0)
    turn = rng.uniform(-np.pi, np.pi, 4000)
    edges = np.arange(-8, 9) * np.pi / 8 + np.arange(-3, 4)[:, None] * EPS
    sizes = 10.0 ** rng.uniform(-150, 150, (2, 2000))
    return {
        "a turn": (np.sin(turn), np.cos(turn)),
        "next to multiples of pi/8": (np.sin(edges).ravel(), np.cos(edges).ravel()),
        "all sizes": (rng.choice((-1, 1), 2000) * sizes[0], rng.choice((-1, 1), 2000) * sizes[1]),
        "the largest and the smallest": (
            np.array([8e307, -8e307, 1e-300, 5e-324, -2.2e-308, 1e-320, 8e307]),
            np.array([8e307, 7e307, -1e-300, 1.0, 3e-308, 3e-320, 1e-308]),
        ),
    }


@pytest.mark.parametrize("where", directions())
@pytest.mark.parametrize("lanes", [False, True])
def test_atan2_is_within_three_ulp(where, lanes):
    """The reduced point and its quotient round by half an ulp each, the polynomial and the sum by less than one."""
    y, x = (np.resize(v, -(-v.size // LANES) * LANES) for v in directions()[where])
    shape = (-1, LANES) if lanes else (-1,)
    A = np.empty_like(x).reshape(shape)
    compiled(atan2_rows)(y.reshape(shape), x.reshape(shape), A)
    worst = 0.0
    with mpmath.workprec(160):
        for found, *point in zip(A.ravel().tolist(), y.tolist(), x.tolist(), strict=True):
            exact = mpmath.atan2(*point)
            worst = max(worst, float(abs(found - exact) / np.spacing(abs(float(exact)))))
    assert worst <= 3


def verbs_of_two(X):
    x, y = load(X, 0), load(X, 1)
    store(X, 2, sqrt(x))
    store(X, 3, atan2(x, y))
    store(X, 4, atan2(2, x))
    store(X, 5, minimum(x, y))
    store(X, 6, maximum(x, y))
    store(X, 7, where_above(x, y, 1, x))
    store(X, 8, where_above(y, 0.5, y, -1.0))


@in_python_and_compiled
def test_verbs_of_a_scalar_are_those_of_numpy(build):
    run, values = build(verbs_of_two), [-1.0, 0.0, -0.0, 0.25, 3.0, np.inf, -np.inf, np.nan]
    for x, y in [(x, y) for x in values for y in values]:
        X = np.array([x, y, *[99.0] * 7])
        run(X)
        with np.errstate(invalid="ignore"):
            angles = np.arctan2(x, y), np.arctan2(2, x)
            expected = [
                np.sqrt(x),
                *angles,
                np.minimum(x, y),
                np.maximum(x, y),
                1 if x > y else x,
                y if y > 0.5 else -1,
            ]
        np.testing.assert_allclose(X[2:], expected, rtol=4 * EPS, atol=0)  # 3 ulp ours, 1 the C library's


# ---------------------------------------------------------------------------------------------- questions


def choose(X):
    for i in range(X.shape[0]):
        store(X, i, by_sign(load(X, i), 2.0, -3.0))


@in_python_and_compiled
def test_by_sign_chooses_in_each_lane(build):
    given = [5.0, -5.0, 0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324][:LANES]
    expected = [2.0, -3.0, 0.0, 0.0, 2.0, -3.0, 0.0, 2.0][:LANES]
    X, x = rows(given), np.array(given)
    build(choose)(X)
    build(choose)(x)
    assert X.tolist() == [expected]
    assert x.tolist() == expected


def above(X, bound):
    return all_above(load(X, 0), bound)


def some_above(X, bound):
    return any_above(load(X, 0), bound)


@in_python_and_compiled
def test_any_above_needs_one_lane(build):
    ask = build(some_above)
    for value in (1.0, 2.0, np.inf, np.nan):
        assert ask(np.array([value]), 1.0) == (value > 1)
        for lane in range(LANES):
            X = rows(-2.0)
            X[0, lane] = value
            assert ask(X, 1.0) == (value > 1)


@in_python_and_compiled
def test_all_above_needs_every_lane(build):
    ask = build(above)
    assert ask(rows(2.0), 1.0)
    assert ask(np.array([2.0]), 1.0)
    for value in (1.0, 0.5, -np.inf, np.nan):
        assert not ask(np.array([value]), 1.0)
        for lane in range(LANES):
            X = rows(2.0)
            X[0, lane] = value
            assert not ask(X, 1.0)


def finite(X):
    return all_finite(load(X, 0))


def finite_sum(X):
    return all_finite(load(X, 0) + load(X, 1))


def finite_product(X):
    return all_finite(load(X, 0) * load(X, 1) + 1.0)


def finite_loop(X):
    check = fill(X, 0.0)
    for i in range(X.shape[0]):
        check = check + load(X, i) * 0.0
    return all_finite(check)


@in_python_and_compiled
@pytest.mark.parametrize("text", [finite, finite_sum, finite_product, finite_loop])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_all_finite_needs_every_lane_whatever_the_compiler_may_reorder(build, text, value):
    ask = build(text)
    with np.errstate(invalid="ignore"):  # plain Python would warn of inf - inf
        assert ask(rows(1.0, 2.0))
        assert ask(np.array([1.0, 2.0]))
        assert not ask(np.array([value, 2.0]))
        for lane in range(LANES):
            X = rows(1.0, 2.0)
            X[0, lane] = value
            assert not ask(X)


@in_python_and_compiled
def test_the_largest_numbers_are_finite(build):
    largest = np.finfo(float).max
    assert build(finite)(rows(largest))
    assert build(finite)(np.array([-largest]))


# ---------------------------------------------------------------------------------------------- samples in and out


def copy(samples, X, row, out):
    check = fill(X, 0.0)
    for first in range(0, samples.shape[0], width(X)):
        check = check + take(samples, first, X, row)
        check = check + give(out, first, X, row)
    return all_finite(check)


@in_python_and_compiled
@pytest.mark.parametrize("lanes", [False, True])
@pytest.mark.parametrize("columns", [1, 3, LANES - 1, LANES, LANES + 1, 3 * LANES, 3 * LANES + 2])
def test_samples_go_in_and_out_whatever_their_number(build, lanes, columns):
    copied, row = build(copy), 2
    for T in range(1, 2 * LANES + 2):
        samples = np.random.default_rng(T).normal(size=(T, columns))
        memory = np.full((T + 2, columns), 99.0)  # a sample more on either side
        X = np.full((columns + 4, LANES) if lanes else columns + 4, 99.0)
        assert copied(samples, X, row, memory[1:-1])
        assert np.array_equal(memory[1:-1], samples)
        assert (memory[[0, -1]] == 99.0).all()  # nothing outside
        assert (X[:row] == 99.0).all()
        assert (X[row + columns :] == 99.0).all()
        if lanes:  # past the last sample the last one stands in
            held, X = (T - 1) % LANES + 1, X[row : row + columns]
            assert np.array_equal(X[:, :held].T, samples[-held:])
            assert (X[:, held:].T == samples[-1]).all()


@in_python_and_compiled
@pytest.mark.parametrize("lanes", [False, True])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_samples_that_are_not_finite_are_noticed_on_the_way(build, lanes, value):
    copied = build(copy)
    T, columns = LANES + 3, LANES + 2
    X, out = np.zeros((columns, LANES) if lanes else columns), np.zeros((T, columns))
    for place in np.ndindex(T, columns):
        samples = np.ones((T, columns))
        samples[place] = value
        with np.errstate(invalid="ignore"):  # plain Python would warn of inf * 0
            assert not copied(samples, X, 0, out)


# ---------------------------------------------------------------------------------------------- counting


def test_counting_scalars_count_a_known_text():
    assert count(cross, np.ones(3), np.ones(3)) == Operations(multiplications=6, additions=3)

    def text(x):
        a, b = x[0], x[1]
        s, c = sincos(a)
        x[2] = 2.0 * a - b / a + (1.0 - s) * c  # *, /, *; three + or -
        x[3] = -a + 1.0 / b + by_sign(a, b, a)  # /; two +; a sign and a choice are free
        x[3] = where_above(a, b, minimum(a, 1.0), sqrt(atan2(maximum(1.0, b), a)))
        return all_above(a, 0.0) and any_above(a, 9.0)  # True of whatever the work that may be skipped depends on

    given = np.array([0.5, 2.0, 0.0, 0.0])
    assert count(text, given) == Operations(multiplications=2, additions=5, divisions=2, sincos=1, sqrt=1, atan2=1)
    assert given.tolist() == [0.5, 2.0, 0.0, 0.0]  # counted on a copy


def test_counting_scalars_compute_what_floats_compute():
    def text(x):
        x[2] = 2.0 * x[0] - x[1] / x[0] + (1.0 - x[1]) * 3.0
        x[3] = sincos(x[0])[0] + by_sign(-x[0], 1.0, 2.0)
        x[3] = x[3] + where_above(x[0], 0.1, sqrt(x[1]), 5.0) + where_above(0.1, x[0], 7.0, atan2(x[0], 0.25))
        x[3] = x[3] + atan2(-2.0, x[1]) - maximum(x[0], x[1]) * minimum(3.0, x[0])

    plain, counting = np.array([0.5, 2.0, 0.0, 0.0]), Counting.array([0.5, 2.0, 0.0, 0.0])
    text(plain)
    text(counting)
    assert [float(x) for x in counting] == plain.tolist()


def newton_euler(robot):
    """What inverse dynamics costs, without external wrenches."""
    n, none = robot.n, np.zeros(0)
    motion, work = [np.zeros(n)] * 3, np.zeros(rnea.inverse_dynamics_rows(n))
    return count(rnea.inverse_dynamics, robot.model.P, robot.model.tree, *motion, none, np.zeros(n), work)


def test_newton_euler_for_six_revolute_joints_costs_what_it_has_always_cost():
    """Exact numbers: a change of the text that costs operations, or saves some, shows here."""
    assert newton_euler(robots.random_chain(6)) == Operations(multiplications=446, additions=398, divisions=0, sincos=6)


def test_the_cost_of_newton_euler_grows_by_the_same_for_every_joint():
    costs = [newton_euler(robots.random_chain(n)) for n in (6, 7, 8, 20, 21)]
    assert costs[1] - costs[0] == costs[2] - costs[1] == costs[4] - costs[3]


@every_row
def test_what_a_text_costs_does_not_depend_on_the_state(row):
    robot = any_robot("tree", 6, seed=4, prismatic=0.4)

    def cost(seed):
        rng = np.random.default_rng(seed)
        arrays = [rng.normal(size=math.prod(core(robot, field))) for field in row.inputs + row.gives]
        return count(row.text, *parameters(robot, row).constants, *arrays, np.zeros(row.rows(robot.n)))

    assert cost(0) == cost(1)
    assert min(cost(0).multiplications, cost(0).additions, cost(0).sincos) > 0


# ---------------------------------------------------------------------------------------------- one text, every scalar

SIX = any_robot("tree", 6, seed=4, prismatic=0.4, drives=True)
assert {joint.kind for joint in SIX.joints} == {"revolute", "prismatic"}
TRIED = {"joints": SIX, "coupled": geared(6, 4, seed=4)}
on_each = pytest.mark.parametrize("robot", TRIED.values(), ids=TRIED)
with_and_without = pytest.mark.parametrize("optional", [False, True], ids=["required inputs", "all inputs"])
SAMPLES = 11  # a block of lanes and a part of one

WAYS = {  # how the entry is run, and what its scratch holds
    "compiled on lanes": (lambda entry: entry, lambda k: np.full((k, LANES), np.nan)),
    "Python on scalars": (lambda entry: entry.py_func, lambda k: np.full(k, np.nan)),
    "Python on rows of lanes": (lambda entry: entry.py_func, lambda k: np.full((k, LANES), np.nan)),
    "Python on counting scalars": (lambda entry: entry.py_func, lambda k: Counting.array(np.full(k, np.nan))),
}
ON_SCALARS = (lambda entry: entry, lambda k: np.full(k, np.nan))
# in plain Python two of them are the same as others
OTHERS = [way for way in WAYS if not config.DISABLE_JIT or way not in ("compiled on lanes", "Python on scalars")]


def run(row, robot, values, choose, buffer):
    """Results, (T, columns) each, and the status. Scratch holds NaN at first: no result may depend on it."""
    T = len(values["q"])
    scratch = buffer(robot.task(row).rows)
    given = [values.get(field.name, np.empty((0, 0))) for field in row.inputs]
    samples = [np.ascontiguousarray(value.reshape(len(value), math.prod(value.shape[1:]))) for value in given]
    results = [np.zeros((T, math.prod(core(robot, field)))) for field in row.gives]
    constants = parameters(robot, row).constants
    if scratch.dtype == object:
        samples, results = ([Counting.array(array) for array in arrays] for arrays in (samples, results))
        constants = [Counting.array(array) if array.dtype == float else array for array in constants]
    status = choose(generate.batch(row, robot.parameters.coupled))(*constants, *samples, *results, scratch)
    return [result.astype(float) for result in results], status


def close(row, robot, values, found, expected):
    """Equal up to rounding: the same operations, fused and reordered."""
    for k in range(len(values["q"])):
        assert_rounded(part(found, k), part(expected, k), robot, row, part(values, k))


@every_row
@on_each
@with_and_without
@pytest.mark.parametrize("way", OTHERS)
def test_one_text_gives_the_same_numbers_on_every_scalar(row, robot, optional, way):
    values = draw(robot, row, SAMPLES, optional=optional)
    expected, fine = run(row, robot, values, *ON_SCALARS)
    found, status = run(row, robot, values, *WAYS[way])
    assert fine == status == 0
    close(row, robot, values, found, expected)


@each_row
@on_each
@pytest.mark.parametrize("way", ["compiled on scalars", *OTHERS])
def test_every_scalar_finds_what_is_not_finite(row, robot, way):
    for field in row.inputs:
        values = {name: np.ones_like(value) for name, value in draw(robot, row, 5, optional=True).items()}
        values[field.name][4:].flat[-1] = np.nan
        _, status = run(row, robot, values, *WAYS.get(way, ON_SCALARS))
        assert status % 2 == 1


FOUR = [(row, SIX) for row in FEW.values()]
FOUR += [(QUANTITIES[name], TRIED["coupled"]) for name in ("inverse_dynamics", "mass_matrix", "kinetic_energy")]


@pytest.mark.parametrize(("row", "robot"), FOUR, ids=[f"{row.name}-{type(robot).__name__}" for row, robot in FOUR])
def test_lanes_of_4_give_the_bits_of_lanes_of_8(row, robot):
    values = draw(robot, row, SAMPLES, optional=True)
    eight, _ = run(row, robot, values, *WAYS["compiled on lanes"])
    four, status = run(row, robot, values, lambda entry: entry, lambda k: np.full((k, 4), np.nan))
    assert status == 0
    for one, other in zip(four, eight, strict=True):
        assert one.tobytes() == other.tobytes()


@every_row
@with_and_without
def test_a_text_keeps_to_its_row_of_the_table(row, optional):
    """In plain Python on plain floats: it writes all of its results, and needs no more scratch than the row says."""
    values, n = draw(SIX, row, optional=optional), SIX.n
    given = [values.get(field.name, np.empty(0)).ravel() for field in row.inputs]
    results = [np.full(math.prod(core(SIX, field)), np.nan) for field in row.gives]
    before = [array.copy() for array in given]
    found = row.text(*parameters(SIX, row).constants, *given, *results, np.full(row.rows(n), np.nan))
    assert found == (-1 if row.solves else None)
    assert all(np.array_equal(a, b) for a, b in zip(given, before, strict=True))
    expected = [np.reshape(result, (1, -1)) for result in computed(SIX, row, values)]
    close(row, SIX, {name: value[None] for name, value in values.items()}, [r[None] for r in results], expected)


# ---------------------------------------------------------------------------------------------- traced


def traced(row, robot, graph, optional=False):
    """The results of one sample as scalars of a graph, with the robot's constants folded in."""
    fields = row.inputs if optional else row.reads
    given = {field.name: graph.inputs(field.name, math.prod(core(robot, field)))[None] for field in fields}
    samples = [given.get(field.name, np.empty((0, 0), dtype=object)) for field in row.inputs]
    results = [np.empty((1, math.prod(core(robot, field))), dtype=object) for field in row.gives]
    constants = [graph.array(array) if array.dtype == float else array for array in parameters(robot, row).constants]
    scratch = graph.array(np.zeros(robot.task(row).rows))
    status = generate.batch(row, robot.parameters.coupled).py_func(*constants, *samples, *results, scratch)
    return [result[0] for result in results], status


@every_row
@on_each
@with_and_without
@pytest.mark.parametrize("fold", [False, True], ids=["all operations", "folded"])
def test_evaluated_traces_give_the_compiled_numbers(row, robot, optional, fold):
    graph = Graph(fold)
    outputs, status = traced(row, robot, graph, optional)
    assert status == 0
    values = draw(robot, row, SAMPLES, optional=optional)
    inputs = {name: value.reshape(SAMPLES, -1).T for name, value in values.items()}
    found = [np.broadcast_to(graph.evaluate(output, inputs), (len(output), SAMPLES)).T for output in outputs]
    expected, _ = run(row, robot, values, *WAYS["compiled on lanes"])
    close(row, robot, values, found, expected)

    # what a solution divides by, one for each joint or coordinate, and nothing else, must be above a threshold
    assert len(graph.checks) == (robot.n if row.solves else 0)
    for check in graph.checks:
        assert (graph.evaluate(check.value, inputs) > graph.evaluate(check.bound, inputs)).all()


@pytest.mark.parametrize("row", [row for row in QUANTITIES.values() if row.solves], ids=lambda row: row.name)
def test_a_joint_that_moves_no_inertia_fails_its_check(row):
    links = [fd.Link("base"), fd.Link("arm", 2.0, (0, 0, 0.3)), fd.Link("tip")]
    joints = [fd.Joint("shoulder", "base", "arm", axis=(0, 1, 0)), fd.Joint("wrist", "arm", "tip", axis=(1, 0, 0))]
    robot, graph = fd.Robot(links, joints, strict=None), Graph(fold=False)
    traced(row, robot, graph)
    inputs = draw(robot, row)
    above = (graph.evaluate(check.value, inputs) > graph.evaluate(check.bound, inputs) for check in graph.checks)
    assert not all(above)  # in the order of the text: what follows divides by zero


def test_folding_the_constants_of_a_robot_leaves_fewer_operations():
    robot, row = robots.puma560(), QUANTITIES["inverse_dynamics"]
    every, folded = Graph(fold=False), Graph()
    whole = every.operations(traced(row, robot, every)[0][0])
    few = folded.operations(traced(row, robot, folded)[0][0])
    assert few.multiplications < 0.5 * whole.multiplications
    assert few.additions < 0.5 * whole.additions
    assert few.sincos <= whole.sincos == 6
