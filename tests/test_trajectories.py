"""Trajectories: boundary conditions, continuity, derivatives, optimality, limits, errors."""

from __future__ import annotations

import copy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import BPoly, CubicSpline, PPoly

import fastdyn as fd
from fastdyn import control, trajectories
from fastdyn.errors import ArgumentError, ArgumentTypeError, LimitError, MissingExtraError, NotFiniteError

EPS = np.finfo(float).eps
RNG = np.random.default_rng(7)
Q0, Q1 = RNG.normal(size=(2, 7))
POINTS, TIMES = RNG.normal(size=(6, 7)), np.array([0.0, 0.5, 1.5, 1.75, 3.0, 4.0])
ALL = {
    "cycloidal": trajectories.cycloidal(Q0, Q1, 1.5),
    "cubic": trajectories.cubic(Q0, Q1, 1.5, qd0=0.3, qd1=Q0),
    "quintic": trajectories.quintic(Q0, Q1, 1.5, qd0=0.3, qd1=Q0, qdd0=-1.0, qdd1=Q1),
    "trapezoidal": trajectories.trapezoidal(Q0, Q1, 1.0, 2.0),
    "jerk_limited": trajectories.jerk_limited(Q0, Q1, 1.0, 2.0, 10.0),
    "spline": trajectories.spline(POINTS, TIMES),
    "natural": trajectories.spline(POINTS, TIMES, ends="natural"),
    "minimum_jerk": trajectories.minimum_jerk(POINTS, TIMES),
}
each = pytest.mark.parametrize("motion", ALL.values(), ids=ALL.keys())


def reference(motion: trajectories.Trajectory, t: np.ndarray, order: int) -> np.ndarray:
    """SciPy's value of the same polynomials, plus the sine."""
    found = PPoly(motion.coefficients[:, ::-1].transpose(1, 0, 2), motion.times)(t, nu=order)
    if motion.sine is not None:
        w = 2 * np.pi / motion.duration
        wave = (np.sin(w * t), w * np.cos(w * t), -w * w * np.sin(w * t))[order]
        found = found + wave[..., None] * motion.sine
    return found


def scale(motion: trajectories.Trajectory, order: int) -> float:
    """The sum of the sizes of all terms: what rounding of a value is relative to."""
    h = np.diff(motion.times)[:, None]
    k = np.arange(6)
    factors = (np.ones(6), k, k * (k - 1))[order] * h ** np.maximum(k - order, 0)
    size = (np.abs(motion.coefficients) * factors[:, :, None]).sum(axis=1).max()
    if motion.sine is not None:
        size += np.abs(motion.sine).max() * (2 * np.pi / motion.duration) ** order
    return float(size)


def bound(motion: trajectories.Trajectory, order: int) -> float:
    """A dozen operations, and a time whose own rounding moves the value by its derivative."""
    return 100 * EPS * (scale(motion, order) + motion.duration * (scale(motion, order + 1) if order < 2 else 0.0))


@each
def test_samples_are_scipys_values_of_the_same_polynomials(motion: trajectories.Trajectory) -> None:
    t = np.sort(RNG.uniform(0, motion.duration, 203))
    for times in (t, RNG.permutation(t)):
        for order, found in enumerate(motion(times)):
            rounding = 100 * EPS * scale(motion, order)
            np.testing.assert_allclose(found, reference(motion, times, order), rtol=0, atol=rounding)


@each
def test_velocity_and_acceleration_are_derivatives(motion: trajectories.Trajectory) -> None:
    """Central differences of polynomials of degree 5: error h^2/6 times the third derivative, plus eps/h."""
    h = 1e-5 * motion.duration
    t = RNG.uniform(2 * h, motion.duration - 2 * h, 40)
    t = t[np.abs(t[:, None] - motion.times).min(axis=1) > 2 * h]
    before, now, after = (motion(t + shift) for shift in (-h, 0.0, h))
    for order in (0, 1):
        c = motion.coefficients * (np.diff(motion.times)[:, None] ** np.arange(6))[:, :, None]
        third = 60 * np.abs(c).max() / np.diff(motion.times).min() ** (3 + order)
        if motion.sine is not None:
            third += np.abs(motion.sine).max() * (2 * np.pi / motion.duration) ** (3 + order)
        error = h * h * third + 100 * EPS * scale(motion, order) / h
        np.testing.assert_allclose((after[order] - before[order]) / (2 * h), now[order + 1], rtol=0, atol=error)


@each
def test_positions_and_velocities_are_continuous(motion: trajectories.Trajectory) -> None:
    """Accelerations too, but for the trapezoidal motion."""
    middle = motion.times[1:-1]
    for order in range(2 if motion is ALL["trapezoidal"] else 3):
        before = reference(motion, np.nextafter(middle, 0), order)
        np.testing.assert_allclose(motion(middle)[order], before, rtol=0, atol=10 * bound(motion, order))


@each
def test_joints_rest_at_the_ends_outside_the_motion(motion: trajectories.Trajectory) -> None:
    T = motion.duration
    q, qd, qdd = motion([-1e300, -1.0, np.nextafter(0, -1), np.nextafter(T, 2 * T), T + 1, 1e300])
    assert (q[:3] == motion.start).all()
    assert (q[3:] == motion.end).all()
    assert not qd.any()
    assert not qdd.any()


@pytest.mark.parametrize("name", ["cycloidal", "cubic", "quintic", "trapezoidal", "jerk_limited"])
def test_ends_are_as_given(name: str) -> None:
    motion = ALL[name]
    (q0, q1), (v0, v1), (a0, a1) = motion([0.0, motion.duration])
    zero = np.zeros(7)
    wanted = {"cubic": (0.3, Q0), "quintic": (0.3, Q0)}.get(name, (zero, zero))
    for found, value in ((q0, Q0), (q1, Q1)):
        np.testing.assert_allclose(found, value, rtol=0, atol=bound(motion, 0))
    for found, value in ((v0, wanted[0]), (v1, wanted[1])):
        np.testing.assert_allclose(found, np.broadcast_to(value, 7), rtol=0, atol=10 * bound(motion, 1))
    if name in ("cycloidal", "quintic", "jerk_limited"):
        for found, value in ((a0, -1.0), (a1, Q1)):
            value = np.broadcast_to(value if name == "quintic" else 0.0, 7)
            np.testing.assert_allclose(found, value, rtol=0, atol=1e4 * EPS * scale(motion, 2))


def test_cycloidal_motion_is_equation_30() -> None:
    motion, t = ALL["cycloidal"], np.linspace(0, 1.5, 31)
    part = t / 1.5 - np.sin(2 * np.pi * t / 1.5) / (2 * np.pi)
    np.testing.assert_allclose(motion(t)[0], Q0 + part[:, None] * (Q1 - Q0), rtol=0, atol=bound(motion, 0))


def test_quintic_is_the_hermite_polynomial() -> None:
    motion, t = ALL["quintic"], np.linspace(0, 1.5, 31)
    ends = [[Q0, np.full(7, 0.3), np.full(7, -1.0)], [Q1, Q0, Q1]]
    np.testing.assert_allclose(
        motion(t)[0], BPoly.from_derivatives([0, 1.5], ends)(t), rtol=0, atol=10 * bound(motion, 0)
    )


@pytest.mark.parametrize(("ends", "scipy"), [("rest", "clamped"), ("natural", "natural"), ((0.5, Q1), None)])
def test_spline_is_scipys(ends: object, scipy: str | None) -> None:
    motion = trajectories.spline(POINTS, TIMES, ends)
    other = CubicSpline(TIMES, POINTS, bc_type=scipy or ((1, np.full(7, 0.5)), (1, Q1)))
    t = np.linspace(0, 4, 101)
    for order, found in enumerate(motion(t)):
        # the system of velocities is diagonally dominant: its condition is below 3 times the ratio of durations
        np.testing.assert_allclose(found, other(t, nu=order), rtol=0, atol=1000 * EPS * scale(motion, order))


def test_minimum_jerk_solves_the_quadratic_program() -> None:
    """Independent: all coefficients as unknowns, the integral of squared jerk, constraints, one KKT system."""
    S, h = len(TIMES) - 1, np.diff(TIMES)
    H, rows, right = np.zeros((6 * S, 6 * S)), [], []

    def row(segment: int, u: float, order: int) -> np.ndarray:
        found = np.zeros(6 * S)
        for k in range(order, 6):
            found[6 * segment + k] = np.prod(np.arange(k, k - order, -1)) * u ** (k - order)
        return found

    for s in range(S):
        for i in range(3, 6):
            for j in range(3, 6):
                factor = i * (i - 1) * (i - 2) * j * (j - 1) * (j - 2)
                H[6 * s + i, 6 * s + j] = factor * h[s] ** (i + j - 5) / (i + j - 5)
        rows += [row(s, 0.0, 0), row(s, h[s], 0)]
        right += [POINTS[s], POINTS[s + 1]]
        for order in (1, 2):
            rows.append(row(s, h[s], order) - (row(s + 1, 0.0, order) if s < S - 1 else 0.0))
            right.append(np.zeros(7))
    rows += [row(0, 0.0, 1), row(0, 0.0, 2)]
    right += [np.zeros(7)] * 2
    A = np.array(rows)
    K = np.block([[H, A.T], [A, np.zeros((len(A), len(A)))]])
    solved = np.linalg.solve(K, np.concatenate([np.zeros((6 * S, 7)), right]))[: 6 * S].reshape(S, 6, 7)
    motion = ALL["minimum_jerk"]
    unit = (h[:, None] ** np.arange(6))[:, :, None]
    tolerance = EPS * np.linalg.cond(K) * np.abs(motion.coefficients * unit).max()
    assert tolerance < 1e-6
    np.testing.assert_allclose(motion.coefficients * unit, solved * unit, rtol=0, atol=tolerance)


@pytest.mark.parametrize("kind", [trajectories.spline, trajectories.minimum_jerk])
def test_via_points_are_reached(kind: object) -> None:
    motion = kind(POINTS, TIMES)  # type: ignore[operator]
    np.testing.assert_allclose(motion(TIMES)[0], POINTS, rtol=0, atol=bound(motion, 0))
    two = kind(POINTS[:2], [0.0, 1.0])  # type: ignore[operator]
    simple = trajectories.cubic if kind is trajectories.spline else trajectories.quintic
    np.testing.assert_allclose(two.coefficients, simple(*POINTS[:2], 1.0).coefficients, rtol=0, atol=1000 * EPS)


# ---------------------------------------------------------------------------------------------- limits


def test_trapezoidal_motion_is_as_quick_as_the_slowest_joint_allows() -> None:
    motion = trajectories.trapezoidal([0.0, 0.0, 1.0], [1.0, -0.1, 1.0], [0.5, 1.0, 1.0], [1.0, 2.0, 1.0])
    assert motion.duration == 2.5
    peak = motion.peak()
    np.testing.assert_allclose(peak.acceleration, [1.0, 2.0, 0.0], rtol=100 * EPS)
    assert peak.velocity[0] == pytest.approx(0.5, rel=100 * EPS)
    assert motion.retimed(5.0).peak().velocity[0] == pytest.approx(0.25, rel=100 * EPS)
    triangle = trajectories.trapezoidal([0.0], [1.0], np.inf, 4.0)
    assert triangle.duration == 1.0
    assert triangle.peak().velocity[0] == pytest.approx(2.0, rel=100 * EPS)
    longer = trajectories.trapezoidal([0.0], [1.0], 2.0, 4.0, duration=3.0)
    assert longer.duration == 3.0
    assert longer.end[0] == pytest.approx(1.0, rel=100 * EPS)
    arm = fd.robots.panda()
    middle = arm.limits.position.mean(axis=1)
    trajectories.trapezoidal(middle, middle + 0.5, arm.limits, 5.0).check_limits(arm, acceleration=5.0)


state = st.floats(-3.0, 3.0).map(lambda x: round(x, 3))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(state, state), min_size=1, max_size=4), st.floats(0.1, 5.0), st.floats(0.1, 20.0))
def test_trapezoidal_motions_end_there_within_limits(ends: list[tuple[float, float]], v: float, a: float) -> None:
    q0, q1 = np.array(ends).T
    if (q0 == q1).all():
        return
    motion = trajectories.trapezoidal(q0, q1, v, a)
    np.testing.assert_allclose(motion.start, q0, rtol=0, atol=0)
    np.testing.assert_allclose(motion.end, q1, rtol=0, atol=100 * EPS * (3 + motion.duration * v))
    peak = motion.peak()
    assert (peak.velocity <= v * (1 + 100 * EPS)).all()
    assert (peak.acceleration <= a * (1 + 100 * EPS)).all()


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(state, state, state, state, state, state), min_size=1, max_size=3),
    st.floats(0.5, 3.0), st.floats(1.0, 5.0), st.floats(5.0, 50.0),
)  # fmt: skip
def test_jerk_limited_motions_are_ruckigs(rows: list[tuple[float, ...]], v: float, a: float, jerk: float) -> None:
    """Also from states beyond the limits, into which the motion brakes first."""
    import ruckig

    q0, q1, qd0, qdd0, qd1, _ = np.array(rows).T
    qd1 = 0.1 * qd1 * v / 3
    n = len(rows)
    given, found = ruckig.InputParameter(n), ruckig.Trajectory(n)
    given.current_position, given.current_velocity, given.current_acceleration = q0, qd0, qdd0
    given.target_position, given.target_velocity = q1, qd1
    given.max_velocity, given.max_acceleration, given.max_jerk = [v] * n, [a] * n, [jerk] * n
    result = ruckig.Ruckig(n).calculate(given, found)
    if result not in (ruckig.Result.Working, ruckig.Result.Finished) or found.duration == 0:
        return
    motion = trajectories.jerk_limited(q0, q1, v, a, jerk, qd0, qdd0, qd1)
    assert motion.duration == found.duration
    T = motion.duration
    t = np.linspace(0, T, 57)
    wanted = np.array([found.at_time(each) for each in t]).transpose(1, 0, 2)
    # times that Ruckig adds up carry eps T, which each derivative multiplies
    sizes = 3 + T * (v + 3) + T * T * a, v + 3 + T * (a + 3), a + 3 + T * jerk
    for values, other, size in zip(motion(t), wanted, sizes, strict=True):
        np.testing.assert_allclose(values, other, rtol=0, atol=1000 * EPS * size)


@each
@pytest.mark.parametrize("order", [1, 2])
def test_peaks_are_those_of_dense_samples(motion: trajectories.Trajectory, order: int) -> None:
    """Samples never exceed the peak, and miss it by at most half a step times the next derivative."""
    t = np.linspace(0, motion.duration, 20001)
    sampled = np.abs(reference(motion, t, order)).max(axis=0)
    peak = motion.peak()[order - 1]
    assert (sampled <= peak + 100 * EPS * scale(motion, order)).all()
    step = t[1]
    third = 60 * np.abs(motion.coefficients[:, 3:]).sum(axis=(0, 1)).max() * max(1, np.diff(motion.times).max()) ** 2
    slope = motion.peak().acceleration if order == 1 else third
    if motion.sine is not None and order == 2:
        slope = np.abs(motion.sine).max() * (2 * np.pi / motion.duration) ** 3
    assert (peak <= sampled + step * slope + 100 * EPS * scale(motion, order)).all()


def test_position_extrema_inside_a_segment_count() -> None:
    """q = 4 t (1 - t) leaves [-1, 0.9] although both ends are within."""
    motion = trajectories.cubic([0.0], [0.0], 1.0, qd0=4.0, qd1=-4.0)
    arm = fd.robots.two_link()
    limits = type(arm.limits)(np.array([[-1.0, 0.9]]), np.array([5.0]), np.array([1.0]))
    with pytest.raises(LimitError, match=r"q of joint 0 is 1\.0.* at t = 0\.5.*expected -1\.0 to 0\.9, its limits"):
        motion.check_limits(limits)
    wide = type(arm.limits)(np.array([[-1.0, 1.0]]), np.array([4.0]), np.array([1.0]))
    motion.check_limits(wide, acceleration=8.0)
    with pytest.raises(LimitError, match=r"qdd of joint 0 is -8\.0"):
        motion.check_limits(wide, acceleration=7.0)


def test_coupled_robots_are_checked_in_coordinates_and_joints() -> None:
    arm = fd.robots.panda()
    G = np.zeros((7, 2))
    G[0, 0], G[3, 0], G[3, 1], G[5, 1] = 1.0, -0.5, -1.0, 1.0
    coupled = arm.coupled(G, offset=arm.limits.position.mean(axis=1))
    for kind in (trajectories.cubic, trajectories.cycloidal):
        kind([0.0, 0.0], [0.1, 0.1], 1.0).check_limits(coupled)
        with pytest.raises(LimitError, match=r"q of joint 'panda_joint4'"):
            kind([0.0, 0.0], [1.4, 1.4], 3.0).check_limits(coupled)
    assert len(trajectories.cubic([0.0, 0.0], [0.1, 0.1], 1.0).plot(coupled).axes) == 3


# ---------------------------------------------------------------------------------------------- calls


def test_shapes_out_and_threads() -> None:
    motion = ALL["spline"]
    t = RNG.uniform(-0.5, 4.5, (3, 5))
    q, qd, qdd = motion(t)
    assert q.shape == qd.shape == qdd.shape == (3, 5, 7)
    assert [part.shape for part in motion(0.5)] == [(7,)] * 3
    assert [part.shape for part in motion(np.zeros(0))] == [(0, 7)] * 3
    for k, values in enumerate(motion(t[1, 2])):
        assert np.array_equal(values, (q, qd, qdd)[k][1, 2])
    interleaved = np.empty((3, 5, 7, 3)).transpose(3, 0, 1, 2)  # no element in common: no overlap
    for parts in ([np.empty((3, 5, 7)) for _ in range(3)], np.empty((3, 7, 5, 3)).transpose(0, 3, 2, 1), interleaved):
        out = tuple(parts)
        assert motion(t, out=out) is out
        assert all(np.array_equal(a, b) for a, b in zip(out, (q, qd, qdd), strict=True))
    for turned, part in zip(motion(t.T), (q, qd, qdd), strict=True):
        assert np.array_equal(turned, part.swapaxes(0, 1))
    assert all(np.array_equal(a, b) for a, b in zip(motion(t, threads=2), (q, qd, qdd), strict=True))


def test_trajectories_are_immutable_values() -> None:
    motion = ALL["minimum_jerk"]
    assert copy.deepcopy(motion) == motion
    assert motion != ALL["spline"]
    with pytest.raises(ValueError, match="read-only"):
        motion.coefficients[0, 0, 0] = 1.0
    with pytest.raises(AttributeError):
        motion.times = TIMES  # type: ignore[misc]
    assert repr(motion) == "Trajectory(7 joints, 4 s, 5 segments)"


@each
def test_retimed_motion_is_the_same_path(motion: trajectories.Trajectory) -> None:
    other = motion.retimed(3 * motion.duration)
    s = np.linspace(0, 1, 23)
    for order, (slow, quick) in enumerate(zip(other(s * other.duration), motion(s * motion.duration), strict=True)):
        if not (order == 2 and motion is ALL["trapezoidal"]):  # jumps, which rounding of time may pass
            np.testing.assert_allclose(slow * 3.0**order, quick, rtol=0, atol=10 * bound(motion, order)
                                       + 1e4 * EPS * scale(motion, order))  # fmt: skip


def test_robots_follow_a_trajectory() -> None:
    arm = fd.robots.two_link()
    motion = trajectories.quintic([0.0, 0.0], [1.0, -0.5], 0.5)
    r = arm.simulate([0.0, 0.0], [0.0, 0.0], 0.5, 0.005, control.computed_torque(motion))
    np.testing.assert_allclose(r.q, motion(r.t)[0], rtol=0, atol=1e-6)  # of Runge-Kutta at this step
    tau = arm.inverse_dynamics(*motion(r.t))
    np.testing.assert_allclose(tau[0], r.tau[0], rtol=0, atol=1e-9 * np.abs(tau).max())


def test_plot_names_axes_and_units() -> None:
    figure = ALL["cycloidal"].plot(fd.robots.panda())
    assert [axis.get_ylabel() for axis in figure.axes] == ["q [rad]", "qd [rad/s]", "qdd [rad/s²]"]
    assert figure.axes[-1].get_xlabel() == "time [s]"
    assert figure.axes[0].get_legend().get_texts()[0].get_text() == "panda_joint1"


def test_importing_trajectories_imports_no_numba_scipy_or_ruckig() -> None:
    code = (
        "import sys; from fastdyn import trajectories as t; t.trapezoidal([0.0], [1.0], 1.0, 1.0).peak()\n"
        "print([m for m in ('numba', 'scipy', 'ruckig', 'matplotlib') if m in sys.modules])"
    )
    root = Path(__file__).parent.parent
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, timeout=100)
    assert done.stdout == "[]\n", done.stderr


# ---------------------------------------------------------------------------------------------- errors

T = trajectories
OUT = np.empty(7)
WRONG = {
    r"q0 has shape \(1, 2\): expected \(n,\)": lambda: T.cubic([[0.0, 0.0]], [1.0], 1.0),
    r"q1 has shape \(1,\), but q0 has \(2,\)": lambda: T.cubic([0.0, 0.0], [1.0], 1.0),
    r"q1\[1\] is nan": lambda: T.cycloidal([0.0, 0.0], [1.0, np.nan], 1.0),
    r"duration is 0: expected a number of seconds above zero": lambda: T.cycloidal([0.0], [1.0], 0),
    r"duration is inf: expected a finite number": lambda: T.cycloidal([0.0], [1.0], np.inf),
    r"duration has shape \(1,\): expected one number": lambda: T.cycloidal([0.0], [1.0], [1.0]),  # type: ignore[arg-type]
    r"qd0 has shape \(3,\): expected one number, or \(2,\)": lambda: T.cubic([0, 0], [1, 1], 1.0, qd0=[1, 2, 3]),
    r"velocity of joint 1 is -1.0: expected a number above zero": lambda: T.trapezoidal([0, 0], [1, 1], [1, -1], 1.0),
    r"velocity of joint 0 is nan": lambda: T.trapezoidal([0], [1], np.nan, 1.0),
    r"acceleration is inf: expected a finite": lambda: T.trapezoidal([0], [1], 1.0, np.inf),
    r"duration is 1.0 s: expected at least 2.0 s, which joint 0 needs": lambda: T.trapezoidal([0], [1], 1, 1, 1.0),
    r"q1 equals q0: expected a motion": lambda: T.trapezoidal([1], [1], 1, 1),
    r"q1 equals q0, at the same velocity": lambda: T.jerk_limited([1], [1], 1, 1, 1),
    r"qd1 of joint 0 is 2.0: expected at most its velocity limit": lambda: T.jerk_limited([0], [1], 1, 1, 1, qd1=2),
    r"times\[0\] is 1.0: expected 0": lambda: T.spline([[0], [1]], [1, 2]),
    r"times\[2\] is 1.0 after 1.0: expected increasing": lambda: T.spline([[0], [1], [2]], [0, 1, 1]),
    r"times has shape \(1,\): expected \(K,\)": lambda: T.spline([[0]], [0]),
    r"points has shape \(2,\): expected \(K, n\)": lambda: T.minimum_jerk([0, 1], [0, 1]),
    r"points has shape \(3, 1\), but there are 2 times": lambda: T.minimum_jerk([[0], [1], [2]], [0, 1]),
    r"ends is 'free': expected 'rest', 'natural'": lambda: T.spline([[0], [1]], [0, 1], ends="free"),
    r"t\[1, 0\] is nan": lambda: ALL["cubic"]([[0.0], [np.nan]]),
    r"t is nan: expected a finite number": lambda: ALL["cubic"](np.nan),
    r"t\[0\] is inf": lambda: ALL["cubic"]([np.inf]),
    r"beyond the range of float64": lambda: T.Trajectory([0, 9], np.full((1, 6, 1), 1e307))(8.0),
    r"out has 2 arrays: expected 3": lambda: ALL["cubic"](0.0, out=(Q0, Q1)),  # type: ignore[arg-type]
    r"out\[0\] has shape \(6,\): expected \(7,\)": lambda: ALL["cubic"](0.0, out=tuple(np.empty((3, 6)))),  # type: ignore[arg-type]
    r"out\[1\] overlaps out\[0\]: expected 3 arrays of their own": lambda: ALL["cubic"](0.0, out=(OUT, OUT, OUT)),
    r"out\[2\] overlaps out\[1\]": lambda: ALL["cubic"](0.0, out=(np.empty(7), OUT, OUT[::-1])),
    r"limits has 2 joints, but the trajectory has 7": lambda: ALL["cubic"].check_limits(fd.robots.two_link()),
    r"with 2 joints, but the trajectory has 7": lambda: ALL["cubic"].plot(fd.robots.two_link()),
    r"coefficients has shape \(1, 5, 1\): expected \(1, 6, n\)": lambda: T.Trajectory([0, 1], np.zeros((1, 5, 1))),  # type: ignore[arg-type]
    r"sine is given with 2 segments": lambda: T.Trajectory([0, 1, 2], np.zeros((2, 6, 1)), [1]),  # type: ignore[arg-type]
}  # fmt: skip


@pytest.mark.parametrize("message", WRONG)
def test_errors_name_what_is_wrong(message: str) -> None:
    with np.errstate(over="ignore", invalid="ignore"), pytest.raises(ArgumentError, match=message):
        WRONG[message]()
    if message.startswith("t"):
        assert issubclass(NotFiniteError, ArgumentError)


def test_errors_of_type() -> None:
    with pytest.raises(ArgumentTypeError, match="limits is a int: expected a robot"):
        ALL["cubic"].check_limits(3)  # type: ignore[arg-type]
    with pytest.raises(ArgumentTypeError, match="out is a list: expected a tuple of 3 arrays"):
        ALL["cubic"](0.0, out=[Q0, Q0, Q0])  # type: ignore[arg-type]
    with pytest.raises(ArgumentTypeError, match="robot is a int: expected a robot, or None"):
        ALL["cubic"].plot(3)  # type: ignore[arg-type]
    with pytest.raises(ArgumentTypeError, match="q0 has dtype"):
        trajectories.cubic(["a"], [1.0], 1.0)  # type: ignore[list-item]


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ruckig", None)
    with pytest.raises(MissingExtraError, match=r"fastdyn\[trajectories\]"):
        trajectories.jerk_limited([0.0], [1.0], 1.0, 1.0, 1.0)
