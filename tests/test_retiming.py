"""Time-optimal retiming: closed forms, linear programs, toppra, invariances, errors."""

from __future__ import annotations

import logging
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba.core import config
from scipy.interpolate import CubicSpline
from scipy.optimize import linprog

import fastdyn as fd
from fastdyn.errors import ArgumentError, ArgumentTypeError, LimitError, NotFiniteError
from fastdyn.trajectories.path_curves import ENDS, Spline
from fastdyn.trajectories.retiming import time_optimal

PANDA = fd.robots.panda()
ARM = fd.robots.two_link()
TORQUE = 0.75 * PANDA.limits.effort
GRID = 40
ROWS = 1e-8  # limits hold to FLAT of the kernel, here with a factor for the sum of rows


def way_points(paths: int, seed: int = 0) -> np.ndarray:
    low, high = PANDA.limits.position.T
    return low + (high - low) * np.random.default_rng(seed).uniform(0.35, 0.65, (paths, 5, 7))


@pytest.mark.parametrize("ends", ENDS)
@pytest.mark.parametrize("K", [2, 3, 6])
def test_splines_are_those_of_scipy(ends, K):
    knots, points = (
        np.sort(np.append([0.0, 1.0], np.linspace(0.2, 0.7, K - 2))),
        np.cos(np.arange(2.0 * K)).reshape(K, 2),
    )
    s = np.linspace(0, 1, 23)
    peer = CubicSpline(knots, points, bc_type=ends)
    found = Spline(tuple(knots.tolist()), ends, points)(s)
    for order, part in enumerate(found):
        np.testing.assert_allclose(part, peer(s, order), atol=1e-11 * 100**order)  # divided differences lose digits


@settings(max_examples=20, deadline=None)
@given(st.floats(0.1, 10), st.floats(0.1, 10), st.floats(0.1, 10))
def test_one_joint_has_the_closed_form_of_a_trapezoid(distance, most, limit):
    peak = math.sqrt(distance * limit)
    grid = np.linspace(0, 1, 101)
    if peak > most:  # grid points where the velocity limit is reached and left, so that the profile is exact
        reached = most**2 / (2 * limit * distance)
        grid = np.unique(np.append(grid, [reached, 1 - reached]))
        expected = distance / most + most / limit
    else:
        expected = 2 * distance / peak
    found = time_optimal(ARM, [[0, 0], [distance, 0]], velocity=most, acceleration=limit, torque=np.inf, grid=grid)
    assert found.duration == pytest.approx(expected, rel=1e-6)  # FLAT and NOISE, at roots of x near zero


def test_profile_is_that_of_linear_programs():
    """Backward and forward stages by scipy, with the same rows."""
    found = time_optimal(PANDA.without_friction(), way_points(1)[0], torque=TORQUE, acceleration=8.0, grid=GRID)
    table, step = found._rows.table[0], 2 * np.diff(found.s)
    speed = found._speed[0]

    def stage(i, objective, low, high, x=None):
        a, b, c = table[i]
        A, d, e = table[i + 1]
        left = np.concatenate([np.stack([a, b], 1), np.stack([A + step[i] * d, d], 1), [[step[i], 1.0]]])
        top = np.concatenate([1 - c, 1 - e, [high]])
        bottom = np.concatenate([-1 - c, -1 - e, [low]])
        bounds = [(None, None), (0, speed[i]) if x is None else (x, x)]
        return linprog(objective, np.concatenate([left, -left]), np.concatenate([top, -bottom]), bounds=bounds)

    sets = [(0.0, 0.0)]
    for i in range(GRID - 2, -1, -1):
        sets.insert(0, tuple(stage(i, [0, sign], *sets[0]).x[1] for sign in (1, -1)))
    x = [0.0]
    for i in range(GRID - 1):
        u = stage(i, [-1, 0], *sets[i + 1], x[-1]).x[0]
        x.append(min(max(x[-1] + step[i] * u, sets[i + 1][0]), sets[i + 1][1]))
    np.testing.assert_allclose(found.x, x, atol=1e-5 * found.x.max())  # HiGHS: 1e-7, summed over the stages


def test_toppra_finds_the_same_profile():
    toppra = pytest.importorskip("toppra")
    logging.getLogger("toppra").setLevel(logging.ERROR)
    from toppra import constraint

    robot = PANDA.without_friction()
    velocity = PANDA.limits.velocity[:, None] * [-1, 1]
    torques = constraint.JointTorqueConstraint(
        robot.inverse_dynamics, TORQUE[:, None] * [-1, 1], np.zeros(7), constraint.DiscretizationType.Interpolation
    )
    for points in way_points(3):
        path = toppra.SplineInterpolator(np.linspace(0, 1, 5), points)
        limits = [constraint.JointVelocityConstraint(velocity), torques]
        peer = toppra.algorithm.TOPPRA(limits, path, np.linspace(0, 1, 100), solver_wrapper="seidel")
        _, sd, _ = peer.compute_parameterization(0, 0)
        found = time_optimal(robot, points, torque=TORQUE)
        np.testing.assert_allclose(found.sd, sd, atol=1e-4 * sd.max())  # seidel's tolerances; 3e-6 measured
        assert found.duration == pytest.approx((2 * np.diff(found.s) / (sd[1:] + sd[:-1])).sum(), rel=1e-5)


def test_limits_are_reached_and_not_exceeded_at_grid_points():
    paths = way_points(2 if config.DISABLE_JIT else 9)
    found = time_optimal(PANDA, paths, torque=TORQUE)
    assert 1 - 1e-9 < found.use.max() < 1 + ROWS
    assert (np.abs(found.tau) <= TORQUE * (1 + ROWS)).all()
    assert {"torque", "velocity"} <= set(found.saturated.kind.ravel().tolist())
    fine = time_optimal(PANDA, paths, torque=TORQUE, grid=400)
    assert fine.excess() < found.excess() / 2  # at least in proportion to the interval


def test_batches_are_single_paths_and_threads_change_nothing():
    half = 2 if config.DISABLE_JIT else 33  # with blocks of lanes, and a rest
    W = way_points(2 * half).reshape(2, half, 5, 7)
    found = time_optimal(PANDA, W, torque=TORQUE, grid=GRID)
    again = time_optimal(PANDA, W, torque=TORQUE, grid=GRID, threads=2)
    assert found.duration.shape == (2, half)
    np.testing.assert_array_equal(found.x, again.x)
    for k in (0, 1, 2 * half - 1):
        one = time_optimal(PANDA, W[divmod(k, half)], torque=TORQUE, grid=GRID)
        np.testing.assert_allclose(found.x[divmod(k, half)], one.x, atol=1e-6 * one.x.max())  # CLOSE, FLAT
        for mine, single in zip(found([0.1, 0.2]), one([0.1, 0.2]), strict=True):
            np.testing.assert_allclose(mine[divmod(k, half)], single, atol=1e-5 * max(1, np.abs(single).max()))


@settings(max_examples=10, deadline=None)
@given(st.floats(0.2, 5))
def test_twice_the_speed_takes_half_the_time(k):
    limits = {"velocity": np.array([1.0, 2.0]), "acceleration": np.array([5.0, 3.0])}
    W = [[0, 0], [1, 0.3], [0.5, 1]]
    one = time_optimal(ARM, W, torque=np.inf, **limits)
    other = time_optimal(
        ARM, W, torque=np.inf, velocity=k * limits["velocity"], acceleration=k**2 * limits["acceleration"]
    )
    assert other.duration * k == pytest.approx(one.duration, rel=1e-7)


def test_payload_and_friction_slow_it_down():
    puma = fd.robots.puma560()
    W = [[0, -0.5, 0.5, 0, 0, 0], [1, 0, 1, 0.5, 0.3, 1]]
    limits = {"torque": [150, 250, 150, 30, 30, 30], "velocity": 30.0, "grid": GRID}
    free = time_optimal(puma.without_friction(), W, **limits)
    rough = time_optimal(puma, W, **limits)
    loaded = time_optimal(puma.with_payload(3.0), W, **limits)
    assert free.duration < rough.duration < loaded.duration
    for each in (rough, loaded):
        assert 1 - 1e-6 < each.use.max() < 1 + 1e-6  # tangents of viscous friction, CLOSE
        assert (np.abs(each.tau) <= np.array(limits["torque"]) * (1 + 1e-6)).all()


def test_functions_are_paths_and_states_are_derivatives():
    spline = CubicSpline([0, 0.5, 1], [[0, 0], [1, 0.5], [0.5, 1]])
    found = time_optimal(
        ARM, lambda s: (spline(s), spline(s, 1), spline(s, 2)), torque=np.inf, velocity=1, acceleration=3
    )
    same = time_optimal(ARM, [[0, 0], [1, 0.5], [0.5, 1]], torque=np.inf, velocity=1, acceleration=3)
    np.testing.assert_allclose(found.x, same.x, rtol=1e-6, atol=1e-9)
    t, h = np.linspace(0.01, found.duration - 0.01, 50), 1e-6
    q, qd, qdd = found(t)
    np.testing.assert_allclose(qd, (found(t + h)[0] - found(t - h)[0]) / (2 * h), atol=1e-4)
    again = time_optimal(ARM, found, torque=np.inf, velocity=1, acceleration=3, grid=200)
    assert again.duration == pytest.approx(found.duration, rel=0.1)
    assert q.shape == qdd.shape == (50, 2)
    assert found(0.0)[0].shape == (2,)


def test_speeds_at_the_ends():
    limits = {"torque": np.inf, "velocity": 2.0, "acceleration": 1.0, "grid": 101}
    found = time_optimal(ARM, [[0, 0], [1, 0]], start_speed=1.0, end_speed=1.0, **limits)
    assert found.sd[[0, -1]].tolist() == [1.0, 1.0]
    assert found.duration == pytest.approx(2 * (math.sqrt(2) - 1), rel=1e-6)
    with pytest.raises(LimitError, match=r"start_speed is 2: expected 0 to 1\.41421"):
        time_optimal(ARM, [[0, 0], [1, 0]], start_speed=2.0, **limits)
    with pytest.raises(LimitError, match=r"grid point 100, s = 1: joint .* takes 1.5 of its velocity limit"):
        time_optimal(ARM, [[0, 0], [1, 0]], end_speed=3.0, **limits)


def test_paths_that_cannot_be_followed():
    with pytest.raises(
        LimitError, match=r"path\[1\] of panda .* grid point \d+, .*joint 'panda_joint2' takes .* torque"
    ):
        time_optimal(
            PANDA, [[[0] * 7, [0.1] * 7], [[0] * 7, [0, 1.5, 0, 0, 0, 0, 0]]], torque=0.4 * PANDA.limits.effort
        )
    with pytest.raises(LimitError, match="no limit at grid point"):
        time_optimal(ARM, [[0, 0], [1, 0]], torque=np.inf, velocity=np.inf)


def coupled_arm(velocity: float) -> fd.CoupledRobot:
    """Joint b, which has a limit, is the sum of both coordinates."""
    limits = fd.Limits(-1, 1, effort=10, velocity=velocity)
    joints = [
        fd.Joint("a", "base", "l0", axis=(0, 0, 1)),
        fd.Joint("b", "l0", "l1", axis=(0, 0, 1), origin=(0.3, 0, 0), limits=limits),
    ]
    links = [fd.Link("base"), *(fd.Link(name, 1.0, (0.1, 0, 0), np.eye(3) * 0.1) for name in ("l0", "l1"))]
    return fd.Robot(links, joints).coupled([[1, 0], [1, 1]])


def test_joints_that_several_coordinates_drive_stay_within_their_velocity_limits():
    robot = coupled_arm(1.0)
    found = time_optimal(robot, [[0, 0], [0.6, 0.6]], torque=100.0)
    speed = np.abs(found.slope.sum(axis=-1) * found.sd)
    assert speed.max() == pytest.approx(1.0, rel=ROWS)
    assert found.duration > 1.2
    assert found.names == ("phi1", "phi2", "b")
    joint, kind = found.saturated
    assert (joint[1:-1] == 2).mean() > 0.8
    assert set(kind[joint == 2]) == {"velocity"}
    assert "b: velocity" in found.plot().axes[0].get_legend_handles_labels()[1]
    with pytest.raises(LimitError, match=r"joint 'b' takes 2\.4 of its velocity limit at end_speed"):
        time_optimal(robot, [[0, 0], [0.6, 0.6]], torque=100.0, end_speed=2.0)
    with pytest.raises(LimitError, match=r"no limit at grid point"):  # the coordinates cancel: b does not move
        time_optimal(robot, [[0, 0], [0.6, -0.6]], torque=np.inf)


def test_velocities_given_replace_those_of_driven_joints():
    robot, W = coupled_arm(1.0), [[0, 0], [0.6, 0.6]]
    free = time_optimal(robot, W, torque=100.0, velocity=np.inf)
    assert free.names == ("phi1", "phi2")
    assert free.duration < 0.2
    fast = time_optimal(coupled_arm(np.inf), W, torque=100.0)
    np.testing.assert_array_equal(fast.x, free.x)


def test_excess_sees_the_velocity_of_driven_joints():
    """On a path that bends between the grid points, joint b alone is too fast there."""

    def wave(s):
        along, w = np.zeros((3, len(s), 2)), 2 * np.pi * 10
        along[:, :, 0] = 0.01 * s, 0.01 + 0 * s, 0 * s
        along[:, :, 1] = 0.01 * np.sin(w * s), 0.01 * w * np.cos(w * s), -0.01 * w * w * np.sin(w * s)
        return tuple(along)

    found = time_optimal(coupled_arm(1.0), wave, torque=np.inf, acceleration=1e6, grid=13)
    t = np.linspace(0, found.duration, 1201)
    assert found.excess(100) == pytest.approx(np.abs(found(t)[1].sum(axis=-1)).max() - 1, rel=0.05)
    assert found.excess(100) > 0.1


def test_motion_does_not_change_with_the_callers_array():
    W = np.array([[0.0, 0.0], [1.0, 0.3], [0.5, 1.0]])
    found = time_optimal(ARM, W, torque=np.inf, acceleration=1.0)
    t = np.linspace(0, found.duration, 9)
    before = found(t)
    W[1] = 7.0
    for one, other in zip(before, found(t), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("grid", [11, np.linspace(0, 1, 11)])
def test_results_are_read_only(grid):
    held = np.ones((3, 11, 2))
    held[0] *= np.linspace(0, 1, 11)[:, None]
    for path in ([[0, 0], [1, 1]], [[[0, 0], [1, 1]]] * 2, lambda s: held):
        found = time_optimal(ARM, path, torque=np.inf, velocity=1.0, acceleration=10.0, grid=grid)
        for name in ("s", "x", "sd", "sdd", "t", "limit", "q", "slope", "bend", "tau", "use"):
            with pytest.raises(ValueError, match="read-only"):
                getattr(found, name)[...] = 0.0
    held[0] = 0.0  # the array of a path function stays its own
    assert found.q[-1].tolist() == [1.0, 1.0]


def test_joints_rest_at_the_ends_outside_the_motion():
    limits = {"torque": np.inf, "velocity": 2.0, "acceleration": 1.0}
    W = [[0, 0], [1, 0.3], [0.5, 1]]
    for found in (
        time_optimal(ARM, W, **limits),
        time_optimal(ARM, W, start_speed=0.1, end_speed=0.1, **limits),
        time_optimal(ARM, [W, W[::-1]], **limits),
    ):
        T = np.ravel(found.duration)[0]
        outside = np.array([-1e300, -1.0, np.nextafter(0, -1), np.nextafter(T, 2 * T), T + 1, 1e300])
        q, qd, qdd = (np.reshape(part, (-1, 6, 2))[0] for part in found(outside))
        ends = [np.reshape(part, (-1, 2, 2))[0] for part in found([0.0, T])]
        assert (q[:3] == ends[0][0]).all()
        assert (q[3:] == ends[0][1]).all()
        np.testing.assert_allclose(ends[0], np.reshape(found.q, (-1, 100, 2))[0, [0, -1]], rtol=0, atol=1e-14)
        assert not qd.any()
        assert not qdd.any()
        states = [np.reshape(part, (-1, *part.shape[-1:]))[[0, 99]] for part in (found.slope, found.bend)]
        sd, sdd = (np.ravel(part)[[0, 99], None] for part in (found.sd, found.sdd))
        np.testing.assert_allclose(ends[1], states[0] * sd, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(ends[2], states[0] * sdd + states[1] * sd * sd, rtol=1e-12, atol=1e-12)


def lasting(duration):
    """A path function with this attribute."""

    def path(s):
        return np.zeros((3, len(s), 2))

    path.duration = duration
    return path


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"path": [[0, 0, 0], [1, 1, 1]]}, ArgumentError, r"path has shape \(2, 3\)"),
        ({"path": [[0, 0]]}, ArgumentError, "two or more"),
        ({"path": [[0, np.nan], [1, 1]]}, NotFiniteError, r"path\[0, 1\] is nan"),
        ({"path": [["a", "b"], ["c", "d"]]}, ArgumentTypeError, "path has dtype"),
        ({"path": lambda s: (s, s)}, ArgumentError, r"path\(s\) has shapes"),
        ({"path": lambda s: None}, ArgumentTypeError, r"path\(s\) is a NoneType: expected q, dq/ds, d2q/ds2, three"),
        ({"path": lambda s: 1.0}, ArgumentTypeError, r"path\(s\) is a float: expected"),
        ({"path": lambda s: (None, s, s)}, ArgumentTypeError, r"path\(s\) has dtype object"),
        ({"path": lasting(0.0)}, ArgumentError, r"path.duration is 0.0: expected a number of seconds above zero"),
        ({"path": lasting(np.inf)}, ArgumentError, r"path.duration is inf: expected a finite number"),
        ({"path": lasting([1.0, 2.0])}, ArgumentError, r"path.duration has shape \(2,\): expected one number"),
        ({"path": lasting("a")}, ArgumentTypeError, r"path.duration has dtype"),
        ({"path": [[0.5, 1], [0.5, 1]]}, ArgumentError, "path: no joint moves at grid point 1, s = 0.010"),
        ({"grid": 2}, LimitError, "rests at both ends of its only interval, expected a grid of three"),
        ({"velocity": np.nan}, ArgumentError, "velocity of joint"),
        ({"velocity": [1, 2, 3]}, ArgumentError, r"velocity has shape \(3,\)"),
        ({"acceleration": -1.0}, ArgumentError, "acceleration of joint"),
        ({"torque": [[-1, np.inf], [-1, 1]]}, ArgumentError, "torque of joint"),
        ({"grid": 1}, ArgumentError, "grid is 1"),
        ({"grid": [0, 0.5, 0.4, 1]}, ArgumentError, "grid is"),
        ({"knots": [0, 0.5, 1]}, ArgumentError, "knots has 3 values"),
        ({"ends": "free"}, ArgumentError, "ends is 'free'"),
        ({"ends": ["x"]}, ArgumentError, r"ends is \['x'\]: expected one of not-a-knot, natural, clamped"),
        ({"start_speed": np.nan}, ArgumentError, "start_speed is nan"),
        ({"end_speed": "fast"}, ArgumentError, "end_speed is 'fast'"),
        ({"threads": 0}, ArgumentError, "threads is 0"),
        ({"robot": fd.stack([ARM, ARM])}, ArgumentTypeError, "robot is a Fleet: expected one robot of the fleet"),
        ({"robot": 3}, ArgumentTypeError, "robot is a int: expected a robot"),
        ({"robot": ARM.description}, ArgumentTypeError, "robot is a Description: expected a robot"),
        ({"robot": fd.Robot([fd.Link("base")], [])}, ArgumentError, "robot is robot, which has no joints"),
    ],
)
def test_bad_arguments_are_named(change, error, message):
    good = {"robot": ARM, "path": [[0, 0], [1, 1]], "velocity": 1.0, "acceleration": 1.0, "torque": np.inf}
    with pytest.raises(error, match=message):
        time_optimal(**(good | change))


def test_times_and_samples_are_checked():
    found = time_optimal(ARM, [[[0, 0], [1, 1]]] * 2, velocity=1.0, acceleration=1.0, torque=np.inf)
    with pytest.raises(NotFiniteError, match=r"t\[1\] is nan"):
        found([0.0, np.nan])
    for wrong in (None, 1.5, "a", 2, -3, True, [0, 1], [[0]]):
        with pytest.raises(ArgumentError, match=r"sample is .*: expected the index of one path among \(2,\)"):
            found.plot(wrong)
    for wrong in ("a", 0, -1, 2.5, True, None):
        with pytest.raises(ArgumentError, match=r"between is .*: expected a whole number, one or more"):
            found.excess(wrong)
    assert len(found.plot(np.int64(-1)).axes) == 3
    single = time_optimal(ARM, [[0, 0], [1, 1]], velocity=1.0, acceleration=1.0, torque=np.inf)
    with pytest.raises(ArgumentError, match="sample is 0: expected None, as there is one path"):
        single.plot(0)
    assert len(found.plot(1).axes) == 3
