"""Singular values of Jacobians, and the joint velocities and accelerations of a frame's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba.core import config

import fastdyn as fd
from fastdyn.kernels import singular_values as text
from fastdyn.kinematics import Kinematics
from fastdyn.scalars import Counting
from fastdyn.scalars.counting import Tally
from fastdyn.task_space import weights
from tests import oracle
from tests.coupled_oracle import Projected
from tests.samples import EPS, any_robot, geared, solution_scale

jit_only = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="machine code only")
PUMA, PANDA, PLANAR = fd.robots.puma560(), fd.robots.panda(), fd.robots.two_link(length=1.0)
VELOCITY, ACCELERATION = fd.quantities.INVERSE_VELOCITY, fd.quantities.INVERSE_ACCELERATION


def state(robot: Kinematics, seed: int, *lead: int) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-1.5, 1.5, (*lead, robot.n))


def times(J: np.ndarray, x: np.ndarray) -> np.ndarray:
    return (J @ x[..., None])[..., 0]


# ---------------------------------------------------------------------------------------------- the text alone


def matrices(kind: str, n: int, rng: np.random.Generator, count: int = 40) -> np.ndarray:
    A = rng.normal(size=(count, 6, n))
    if kind == "graded":
        A *= 10.0 ** rng.uniform(-6, 2, (count, 6, 1)) * 10.0 ** rng.uniform(-6, 2, (count, 1, n))
    if kind == "of low rank":
        rank = rng.integers(0, min(6, n) + 1)
        A = rng.normal(size=(count, 6, rank)) @ rng.normal(size=(count, rank, n))
    if kind == "with equal rows":
        A[:, 3], A[:, 4] = A[:, 0], -A[:, 1]
    if kind == "with zeros":
        A[::2], A[1::2, 2:] = 0, 0
    if kind == "with close values":
        U, _, Vt = np.linalg.svd(A, full_matrices=False)
        A = U * (1 + 1e-7 * rng.normal(size=(count, 1, U.shape[2]))) @ Vt
    return A


KINDS = ("random", "graded", "of low rank", "with equal rows", "with zeros", "with close values")


def rotated(A: np.ndarray, c: np.ndarray, real: type = np.float64) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows after `orthogonalise` on lanes in plain Python, (T, 6, n), their c (T, 6) and lengths (T, 6)."""
    T, _, n = A.shape
    rows, entries = np.array(A.reshape(T, 6 * n).T, real, order="C"), np.array(c.T, real, order="C")
    sigma = np.empty((6, T), real)
    text.orthogonalise(rows, entries, n)
    text.lengths(rows, n, sigma)
    return rows.T.reshape(T, 6, n), entries.T, sigma.T


@pytest.mark.parametrize("real", [np.float64, np.float32])
@pytest.mark.parametrize("kind", KINDS)
def test_singular_values_of_any_matrix(kind, real):
    """Rotations are orthogonal up to some eps, and end when rows are so up to max(6, n) eps: together 4 times that."""
    rng = np.random.default_rng(len(kind))
    for n in range(1, 13):
        A = matrices(kind, n, rng).astype(real)
        rows, _, sigma = rotated(A, np.zeros((len(A), 6)), real)
        assert (np.diff(sigma) <= 0).all()
        tolerance = 4 * max(6, n) * np.finfo(real).eps
        for one, after, values in zip(A, rows, sigma, strict=True):
            expected = oracle.singular_values_of(one.astype(oracle.Real))
            assert np.abs(values - expected).max() <= tolerance * expected[0]
            gram = after.astype(float) @ after.T.astype(float)
            off = np.abs(gram - np.diag(np.diag(gram)))
            # rows as short as the rounding errors of all are left as they are
            values = np.where(values > 3 * np.finfo(real).eps * expected[0], values, np.inf)
            assert (off <= tolerance * np.outer(values, values)).all()


def test_what_is_rotated_along():
    """c becomes U^T c, with the same U that makes the rows: |c| stays, and so does A^T c."""
    rng = np.random.default_rng(1)
    A, c = rng.normal(size=(20, 6, 7)), rng.normal(size=(20, 6))
    rows, entries, _ = rotated(A, c)
    np.testing.assert_allclose(np.linalg.norm(entries, axis=1), np.linalg.norm(c, axis=1), rtol=100 * EPS)
    before, after = (times(np.swapaxes(M, 1, 2), x) for M, x in ((A, c), (rows, entries)))
    np.testing.assert_allclose(after, before, rtol=0, atol=100 * EPS * np.abs(A).sum(axis=(1, 2)).max())


@pytest.mark.parametrize("kind", KINDS)
def test_a_lane_does_not_depend_on_the_others(kind):
    rng = np.random.default_rng(2)
    A = np.concatenate([matrices(kind, 6, rng, 5), matrices("with close values", 6, rng, 5)])
    together = rotated(A, np.ones((10, 6)))
    for k in range(10):
        alone = rotated(A[k : k + 1], np.ones((1, 6)))
        assert all(one.tobytes() == other[k : k + 1].tobytes() for one, other in zip(alone, together, strict=True))


def test_scalars_that_cannot_say_when_to_stop_make_all_sweeps():
    """Counting scalars must not depend on values: what they compute is the same, and what they cost."""
    rng = np.random.default_rng(3)
    costs = []
    for A in rng.normal(size=(2, 1, 6, 3)):
        tally = Tally()
        rows, c = Counting.array(A.ravel(), tally), Counting.array(np.ones(6), tally)
        text.orthogonalise(rows, c, 3)
        expected, entries, _ = rotated(A, np.ones((1, 6)))
        np.testing.assert_allclose(rows.astype(float), expected.ravel(), rtol=0, atol=100 * EPS)
        np.testing.assert_allclose(c.astype(float), entries[0], rtol=0, atol=1000 * EPS)
        costs.append(tally.operations())
    assert costs[0] == costs[1]
    assert costs[0].sqrt == 2 * 15 * text.SWEEPS


# ---------------------------------------------------------------------------------------------- against the oracle


def agree(found, expected, scale, n):
    """Up to 8 n eps of what is summed; the residual is zero where it is rounding only."""
    for one, other in zip(found[:2], expected[:2], strict=True):
        assert np.abs(one - other).max() <= 8 * n * EPS * scale
    missing = float(expected[2])
    assert abs(found[2] - missing) <= 8 * n * EPS * scale * (1 if found[2] else 40)


CASES = [PUMA, PANDA, *(any_robot("tree", n, seed=n, prismatic=0.3) for n in (1, 3, 9))]


@pytest.mark.parametrize("robot", CASES, ids=lambda robot: robot.name)
@pytest.mark.parametrize("options", ["none", "all"])
def test_solutions_are_the_oracles(robot, options):
    rng = np.random.default_rng(robot.n)
    frame, view = robot.links[-1].name, {"point": (0.1, -0.2, 0.3), "local": True}
    q, qd = state(robot, 1, 3), state(robot, 2, 3)
    target = rng.uniform(-2, 2, (3, 6))
    more = {}
    if options == "all":
        more = {"preferred": state(robot, 3, 3), "axes": rng.uniform(-2, 2, (3, 6)), "damping": np.array([0, 0.1, 1])}
        more["tolerance"] = np.array([0.0, 1e-3, 1e-9])
    speed = robot.inverse_velocity(q, target, **more, frame=frame, **view)
    push = robot.inverse_acceleration(q, qd, target, **more, frame=frame, **view)
    sigma = robot.singular_values(q, frame, axes=more.get("axes"), **view)
    for k in range(3):
        at = {name: value[k] for name, value in more.items()}
        J = oracle.jacobian(robot, q[k], frame, **view)
        values = oracle.singular_values_of(J, at.get("axes"))
        assert np.abs(sigma[k] - values).max() <= 8 * (robot.n + 3) * EPS * 4 * values[0]
        # the point lies 0.4 m off the frame whose Jacobian the scale is made of
        scale = 4 * solution_scale(robot, VELOCITY, {"q": q[k], "velocity": target[k], **at})
        agree([each[k] for each in speed], oracle.inverse_of(J, target[k], **at), scale, robot.n)
        scale = 4 * solution_scale(robot, ACCELERATION, {"q": q[k], "qd": qd[k], "acceleration": target[k], **at})
        rest = target[k] - oracle.frame_acceleration(robot, q[k], qd[k], None, frame, **view)
        agree([each[k] for each in push], oracle.inverse_of(J, rest, **at), scale, robot.n)


def test_solutions_of_coupled_robots_are_the_oracles():
    robot = geared(7, 5, seed=3)
    projected = Projected(robot)
    q, qd = state(robot, 1), state(robot, 2)
    target = np.random.default_rng(5).normal(size=6)
    frame = robot.links[-1].name
    speed = robot.inverse_velocity(q, target, frame=frame)
    agree(
        speed, projected.inverse_velocity(q, target), solution_scale(robot, VELOCITY, {"q": q, "velocity": target}), 7
    )
    given = {"q": q, "qd": qd, "acceleration": target}
    push = robot.inverse_acceleration(**given, frame=frame)
    agree(push, projected.inverse_acceleration(q, qd, target), solution_scale(robot, ACCELERATION, given), 7)
    expected = projected.singular_values(q)
    assert np.abs(robot.singular_values(q, frame=frame) - expected).max() <= 50 * EPS * expected[0]


def test_the_axes_of_the_irb1400_move_its_joints_as_asked():
    """Where there is one solution, that in the angles of the controller moves the joints as the chain's own does."""
    arm, controlled = fd.robots.irb1400(), fd.robots.irb1400(coupled=True)
    phi, target = state(controlled, 4), np.array([0.1, -0.2, 0.3, 0.2, 0.1, 0.4])
    q = controlled.joint_positions(phi)
    found, expected = controlled.inverse_velocity(phi, target), arm.inverse_velocity(q, target)
    assert found.exact
    assert expected.exact
    limit = 100 * EPS * arm.condition_number(q) * np.linalg.norm(expected.qd)
    np.testing.assert_allclose(controlled.G @ found.qd, expected.qd, rtol=0, atol=limit)


# ---------------------------------------------------------------------------------------------- what it is for


@given(seed=st.integers(0, 10_000))
def test_the_frame_moves_as_asked(seed):
    """Away from singular poses: J qd is the velocity, with and without motion in the null space. (2.68), (2.69)"""
    q, qd = state(PANDA, seed), state(PANDA, seed + 1)
    target = np.random.default_rng(seed).normal(size=6)
    J = PANDA.jacobian(q)
    condition = PANDA.condition_number(q)
    limit = 100 * EPS * condition * np.linalg.norm(target)
    found = PANDA.inverse_velocity(q, target)
    assert found.exact == (found.residual == 0)
    assert found.exact
    assert found.rank == 6
    assert np.abs(J @ found.qd - target).max() <= limit
    moved = PANDA.inverse_velocity(q, target, preferred=qd)
    assert moved.exact
    assert np.abs(J @ moved.qd - target).max() <= limit + 100 * EPS * condition * np.linalg.norm(J) * np.linalg.norm(qd)
    assert np.linalg.norm(moved.qd - qd) <= np.linalg.norm(found.qd - qd) * (1 + 1e-9)  # of all solutions the closest
    push = PANDA.inverse_acceleration(q, qd, target)
    assert push.exact
    reached = PANDA.frame_acceleration(q, qd, push.qdd)
    size = np.linalg.norm(target) + np.linalg.norm(J) * np.linalg.norm(qd) ** 2 * 7
    assert np.abs(reached - target).max() <= 100 * EPS * condition * size


def test_damping_bounds_the_velocity_near_singular_poses():
    q = np.array([0.1, 0.2, 0.3, 0.4, 1e-7, 0.6])  # axes 4 and 6 of the wrist are nearly the same
    target = np.array([0, 0, 0, 0.1, 0.2, 0.3])
    J = PUMA.jacobian(q)
    assert np.abs(PUMA.inverse_velocity(q, target).qd).max() > 1e4
    for damping in (0.01, 0.1):
        found = PUMA.inverse_velocity(q, target, damping=damping)
        assert np.linalg.norm(found.qd) <= np.linalg.norm(target) / (2 * damping)  # s / (s^2 + d^2) <= 1 / (2 d)
        expected = np.linalg.solve(J.T @ J + damping**2 * np.eye(6), J.T @ target)
        np.testing.assert_allclose(found.qd, expected, rtol=0, atol=100 * EPS / damping**2)
        assert not found.exact
        np.testing.assert_allclose(found.residual, np.linalg.norm(target - J @ found.qd), rtol=1e-9)


SINGULAR = {
    "wrist": (PUMA, [0.1, 0.2, 0.3, 0.4, 0.0, 0.6], 5),
    "stretched elbow": (PUMA, [0.1, 0.2, np.arctan2(0.0203, 0.4318) - np.pi / 2, 0.4, 0.5, 0.6], 5),
    "irb1400 at zero": (fd.robots.irb1400(), [0.0] * 6, 5),  # the wrist, axes 4 and 6
    "plane": (PLANAR, [0.3, 0.4], 2),
    "stretched plane": (PLANAR, [0.3, 0.0], 2),  # rx and ry are zero, but rz is not
    "panda": (PANDA, [0.0] * 7, 5),
}


@pytest.mark.parametrize("name", SINGULAR)
def test_rank_and_exactness_at_singular_poses(name):
    robot, q, rank = SINGULAR[name]
    J = robot.jacobian(q)
    assert np.linalg.matrix_rank(J, 1e-12) == rank
    for k, u in enumerate(state(robot, 3, 4)):
        inside = robot.inverse_velocity(q, J @ u)  # in the range of J: there is a solution
        assert (inside.rank, inside.residual, bool(inside.exact)) == (rank, 0, True)
        np.testing.assert_allclose(J @ inside.qd, J @ u, rtol=0, atol=1e-13)
        U = np.linalg.svd(J)[0]
        outside = robot.inverse_velocity(q, J @ u + 1e-3 * (k + 1) * U[:, -1])  # U's last column is not in it
        assert outside.rank == rank
        assert not outside.exact
        np.testing.assert_allclose(outside.residual, 1e-3 * (k + 1), rtol=1e-9)
        np.testing.assert_allclose(outside.qd, inside.qd, rtol=0, atol=1e-12)  # least squares


def test_singular_poses_have_no_volume_and_no_condition():
    for robot, q, rank in SINGULAR.values():
        singular = rank < min(robot.n, 6)
        assert (robot.condition_number(q) == np.inf) == singular
        assert (robot.manipulability(q) < 1e-14) == singular


def test_the_tolerance_decides_about_the_rank():
    q = [0.1, 0.2, 0.3, 0.4, 1e-6, 0.6]
    sigma = PUMA.singular_values(q)
    assert 1e-8 < sigma[5] / sigma[0] < 1e-5
    assert PUMA.inverse_velocity(q, np.ones(6)).rank == 6
    found = PUMA.inverse_velocity([q, q], np.ones(6), tolerance=[1e-8, 1e-5])
    assert found.rank.tolist() == [6, 5]
    assert found.exact.tolist() == [True, False]
    assert PUMA.inverse_velocity(q, np.ones(6), tolerance=1e-30).rank == 6  # at least rounding


def test_manipulability_and_condition_number():
    q = state(PANDA, 4, 20)
    J = PANDA.jacobian(q)
    volume = np.sqrt(np.linalg.det(J @ np.swapaxes(J, 1, 2)))
    np.testing.assert_allclose(PANDA.manipulability(q), volume, rtol=1e-10)
    np.testing.assert_allclose(PANDA.condition_number(q), np.linalg.cond(J), rtol=1e-10)
    np.testing.assert_allclose(PANDA.condition_number(q, axes="xyz"), np.linalg.cond(J[:, :3]), rtol=1e-10)
    scale = np.array([1, 1, 1, 0.3, 0.3, 0.3])
    np.testing.assert_allclose(
        PANDA.singular_values(q, axes=scale), np.linalg.svd(scale[:, None] * J, compute_uv=False), rtol=1e-10
    )
    q = state(PLANAR, 4, 20)
    J = PLANAR.jacobian(q)
    np.testing.assert_allclose(
        PLANAR.manipulability(q, axes="xy"), np.abs(np.linalg.det(J[:, :2])), rtol=0, atol=50 * EPS
    )
    np.testing.assert_allclose(
        PLANAR.manipulability(q), np.sqrt(np.linalg.det(np.swapaxes(J, 1, 2) @ J)), rtol=0, atol=50 * EPS
    )
    each = PLANAR.manipulability(q[:2], axes=[[1, 1, 0, 0, 0, 0], [0, 0, 0, 0, 0, 1]])
    np.testing.assert_allclose(each, [PLANAR.manipulability(q[0], axes="xy"), np.sqrt(2)], rtol=1e-14)


def test_single_precision():
    q, target = state(PANDA, 5, 20), np.ones(6)
    found, exact = PANDA.inverse_velocity(q, target, dtype=np.float32), PANDA.inverse_velocity(q, target)
    assert found.qd.dtype == found.rank.dtype == np.float32
    eps = np.finfo(np.float32).eps
    condition = PANDA.condition_number(q)
    error = np.linalg.norm(found.qd - exact.qd, axis=1) / np.linalg.norm(exact.qd, axis=1)
    assert (error <= 8 * 7 * eps * condition).all()
    assert (found.rank == 6).all()


def test_a_fleet_solves_for_each_robot():
    fleet = fd.stack([PUMA, PUMA.with_payload(1.0)])
    q = state(PUMA, 6)
    found = fleet.inverse_velocity(q, np.ones(6), axes="xyz")
    assert found.qd.shape == (2, 6)
    assert found.rank.tolist() == [3, 3]
    np.testing.assert_allclose(found.qd[1], PUMA.inverse_velocity(q, np.ones(6), axes="xyz").qd, rtol=0, atol=1e-13)


def test_a_robot_without_joints_misses_all_of_it():
    post = fd.Robot([fd.Link("post")], [])
    found = post.inverse_velocity(np.zeros((2, 0)), [[0] * 6, [3, 0, 4, 0, 0, 0]])
    assert found.qd.shape == (2, 0)
    assert found.residual.tolist() == [0, 5]
    assert post.inverse_acceleration([], [], np.ones(6), axes="xyzrx").residual == 2
    assert post.manipulability([]) == 0
    assert post.condition_number([]) == np.inf


@jit_only
def test_a_control_loop():
    loop = PUMA.bind("inverse_velocity", "singular_values")
    q = state(PUMA, 7)
    loop.q[:], loop.velocity[:] = q, 1.0
    assert loop.inverse_velocity() == loop.singular_values() == 0
    expected = PUMA.inverse_velocity(q, np.ones(6))
    np.testing.assert_allclose(loop.qd, expected.qd, rtol=1e-12)
    assert (loop.rank, loop.residual) == (6, 0)
    np.testing.assert_allclose(loop.sigma, PUMA.singular_values(q), rtol=1e-12)
    loop.damping[()] = 0.1  # the other options stay zero: as if not given
    assert loop.inverse_velocity() == 0
    expected = PUMA.inverse_velocity(q, np.ones(6), damping=0.1)
    np.testing.assert_allclose(loop.qd, expected.qd, rtol=1e-12)
    np.testing.assert_allclose(loop.residual, expected.residual, rtol=1e-12)


# ---------------------------------------------------------------------------------------------- arguments


@pytest.mark.parametrize("axes", ["", "xq", "xx", "x y", "rr"])
def test_axes_that_are_none(axes):
    with pytest.raises(fd.ArgumentError, match=f"axes is '{axes}': expected some of x, y, z, rx, ry, rz"):
        PUMA.singular_values(np.zeros(6), axes=axes)


def test_axes():
    assert np.array_equal(weights("zrx"), [0, 0, 1, 1, 0, 0])
    q = state(PUMA, 8)
    whole = PUMA.singular_values(q)
    np.testing.assert_allclose(PUMA.singular_values(q, axes=np.zeros(6)), whole, rtol=1e-13)  # all zero: not given
    np.testing.assert_allclose(PUMA.singular_values(q, axes="rzryrxzyx"), whole, rtol=1e-13)


def test_wrong_arguments_are_named():
    q = np.zeros(6)
    with pytest.raises(fd.ArgumentError, match=r"velocity has shape \(5,\): expected \(..., 6\)"):
        PUMA.inverse_velocity(q, np.zeros(5))
    with pytest.raises(fd.ArgumentError, match=r"preferred has shape \(5,\), but puma560 has 6 joints"):
        PUMA.inverse_velocity(q, np.zeros(6), preferred=np.zeros(5))
    with pytest.raises(fd.ArgumentError, match=r"axes has shape \(3,\): expected \(..., 6\)"):
        PUMA.inverse_velocity(q, np.zeros(6), axes=[1, 1, 1])
    for name in ("velocity", "preferred", "axes", "damping", "tolerance"):
        given = {"velocity": np.ones(6), "preferred": np.ones(6), "axes": np.ones(6), "damping": 0.1, "tolerance": 0.1}
        given[name] = np.multiply(given[name], np.nan)
        with pytest.raises(fd.NotFiniteError, match=f"^{name}"):
            PUMA.inverse_velocity(q, **given)
