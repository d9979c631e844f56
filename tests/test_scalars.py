"""What a number is: lanes, scalars and counting scalars do the same, in compiled code and in plain Python."""

from __future__ import annotations

import math

import mpmath
import numba
import numpy as np
import pytest

from fastdyn import robots
from fastdyn.calls import api, batch
from fastdyn.compiler.policy import _OPTIONS, Entry
from fastdyn.kernels import rnea
from fastdyn.scalars import (
    LANES,
    SINCOS_RANGE,
    Counting,
    Operations,
    all_above,
    all_finite,
    by_sign,
    count,
    fill,
    give,
    load,
    sincos,
    store,
    take,
    width,
)  # fmt: skip
from fastdyn.scalars.vectors import cross
from tests.samples import EPS, any_robot, states, torque_scale

ULP = EPS / 2  # the spacing of numbers between 1/2 and 1, where the sines are


def compiled(function):
    """As kernels are: with the flags that let the compiler fuse and reorder."""
    return numba.njit(**_OPTIONS)(function)


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
    np.testing.assert_allclose(S, np.sin(X), rtol=0, atol=ULP)
    np.testing.assert_allclose(C, np.cos(X), rtol=0, atol=ULP)


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
        check = check + give(X, row, out, first)
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
    assert count(cross, *[(Counting(1.0),) * 3] * 2) == Operations(multiplications=6, additions=3)

    def text(x):
        a, b = x[0], x[1]
        s, c = sincos(a)
        x[2] = 2.0 * a - b / a + (1.0 - s) * c  # *, /, *; three + or -
        x[3] = -a + 1.0 / b + by_sign(a, b, a)  # /; two +; a sign and a choice are free
        return all_above(a, 0.0)

    given = np.array([0.5, 2.0, 0.0, 0.0])
    assert count(text, given) == Operations(multiplications=2, additions=5, divisions=2, sincos=1)
    assert given.tolist() == [0.5, 2.0, 0.0, 0.0]  # counted on a copy


def test_counting_scalars_compute_what_floats_compute():
    def text(x):
        x[2] = 2.0 * x[0] - x[1] / x[0] + (1.0 - x[1]) * 3.0
        x[3] = sincos(x[0])[0] + by_sign(-x[0], 1.0, 2.0)

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


# ---------------------------------------------------------------------------------------------- one text, every scalar

QUANTITIES = {
    **{name.lower(): q for name, q in vars(api).items() if isinstance(q, api.Quantity)},
    **{f"forward_dynamics_{name}": q for name, q in api.FORWARD_DYNAMICS.items()},
}
WAYS = {  # how the entry is run, and what its scratch holds
    "compiled on lanes": (lambda entry: entry, lambda k: np.full((k, LANES), np.nan)),
    "Python on scalars": (lambda entry: entry.py_func, lambda k: np.full(k, np.nan)),
    "Python on rows of lanes": (lambda entry: entry.py_func, lambda k: np.full((k, LANES), np.nan)),
    "Python on counting scalars": (lambda entry: entry.py_func, lambda k: Counting.array(np.full(k, np.nan))),
}


def test_every_entry_is_tried():
    entries = {value for value in vars(batch).values() if isinstance(value, Entry)}
    assert {quantity.entry for quantity in QUANTITIES.values()} == entries


def run(quantity, robot, samples, function, buffer):
    """The result, (T, columns), and the status. Scratch holds NaN at first: no result may depend on it."""
    model, n = robot.model, robot.n
    scratch = buffer(quantity.rows(n))
    result = np.zeros((len(samples[0]), math.prod(quantity.result(n))))
    P, tree = model.P, model.tree
    if scratch.dtype == object:
        P, result, samples = Counting.array(P), Counting.array(result), [Counting.array(a) for a in samples]
    status = function(P, tree, *samples, result, scratch)
    return result.astype(float), status


@pytest.mark.parametrize("name", QUANTITIES)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("wrenches", [False, True])
def test_one_text_gives_the_same_numbers_on_every_scalar(name, way, wrenches):
    quantity, samples = QUANTITIES[name], 11  # a block of lanes and a part of one
    robot = any_robot("tree", 6, seed=4, prismatic=0.4, drives=True)
    assert {joint.kind for joint in robot.joints} == {"revolute", "prismatic"}
    given = dict(zip(("q", "qd", "qdd"), states(robot, 0, samples), strict=True))
    given["tau"] = given["qdd"]
    W = np.random.default_rng(0).normal(size=(samples, 6 * robot.n))
    given["wrenches"] = W if wrenches else np.empty((0, 0))
    arguments = [given[argument] for argument in quantity.arguments]

    expected, fine = run(quantity, robot, arguments, quantity.entry, lambda k: np.full(k, np.nan))
    choose, buffer = WAYS[way]
    found, status = run(quantity, robot, arguments, choose(quantity.entry), buffer)
    assert fine == status == 0
    for k in range(samples):
        # the same operations, fused and reordered: a few eps of what the sums are made of (see test_identities.py)
        scale = torque_scale(robot, *(given[name][k] for name in ("q", "qd", "qdd"))) + np.linalg.norm(W[k])
        if "tau" in quantity.arguments:
            scale *= np.linalg.norm(np.linalg.inv(robot.mass_matrix(given["q"][k])), 2)
        np.testing.assert_allclose(found[k], expected[k], rtol=0, atol=8 * robot.n * EPS * scale)


@pytest.mark.parametrize("name", QUANTITIES)
@pytest.mark.parametrize("way", ["compiled on scalars", *WAYS])
def test_every_scalar_finds_what_is_not_finite(name, way):
    quantity = QUANTITIES[name]
    robot = any_robot("tree", 3, seed=4)
    choose, buffer = WAYS.get(way, (lambda entry: entry, lambda k: np.full(k, np.nan)))
    for argument in range(len(quantity.arguments)):
        samples = [np.ones((5, robot.n * (6 if name == "wrenches" else 1))) for name in quantity.arguments]
        samples[argument][4, -1] = np.nan
        _, status = run(quantity, robot, samples, choose(quantity.entry), buffer)
        assert status % 2 == 1
