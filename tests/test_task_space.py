"""The dynamics of a frame, the torques that hold a wrench, and how much of it a robot can withstand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba.core import config

import fastdyn as fd
from fastdyn.task_space import weights
from tests import oracle
from tests.coupled_oracle import Projected
from tests.peers import Pinocchio
from tests.samples import EPS, any_robot, geared, task_scale, torque_scale

jit_only = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="machine code only")
PUMA, PANDA, PLANAR = fd.robots.puma560(), fd.robots.panda(), fd.robots.two_link(length=1.0)
CASES = [PUMA, PANDA, *(any_robot("tree", n, seed=n, prismatic=0.3, drives=True) for n in (1, 3, 9))]
each_robot = pytest.mark.parametrize("robot", CASES, ids=lambda robot: robot.name)


def state(robot, seed, *lead):
    return np.random.default_rng(seed).uniform(-1.5, 1.5, (*lead, robot.n))


def agree(found, expected, scale, n):
    for one, other in zip(found, expected, strict=True):
        assert np.abs(one - other).max() <= 8 * n * EPS * scale


# ---------------------------------------------------------------------------------------------- task-space dynamics


@each_robot
@pytest.mark.parametrize("axes", [None, "xyz", "zrxry"])
def test_task_dynamics_are_the_oracles(robot, axes):
    frame, q, qd = robot.links[-1].name, state(robot, 1, 3), state(robot, 2, 3)
    found = robot.task_dynamics(q, qd, frame, local=True, axes=axes)
    for k in range(3):
        numbers = None if axes is None else weights(axes)
        expected = oracle.task_dynamics(robot, q[k], qd[k], numbers, frame, local=True)
        at = {"q": q[k], "qd": qd[k], **({} if axes is None else {"axes": numbers})}
        agree([each[k] for each in found], expected, task_scale(robot, at), robot.n)
        one = robot.task_dynamics(q[k], qd[k], frame, local=True, axes=axes)
        agree(one, expected, task_scale(robot, at), robot.n)


def test_task_dynamics_of_coupled_robots_are_the_oracles():
    robot = geared(7, 5, seed=3)
    q, qd = state(robot, 1), state(robot, 2)
    frame = robot.links[-1].name
    expected = Projected(robot).task_dynamics(q, qd)
    found = robot.task_dynamics(q, qd, frame=frame)
    agree(found, expected, task_scale(robot, {"q": q, "qd": qd}), 7)
    batch = robot.task_dynamics(np.tile(q, (9, 1)), np.tile(qd, (9, 1)), frame=frame)
    agree([each[8] for each in batch], expected, task_scale(robot, {"q": q, "qd": qd}), 7)


@given(seed=st.integers(0, 10_000))
def test_the_wrench_accelerates_the_frame_as_asked(seed):
    """Torques J^T F, F = Lambda a + mu + p, through forward dynamics: friction, gravity and dJ/dt qd included."""
    robot = (PUMA, PANDA)[seed % 2]
    q, qd = state(robot, seed), state(robot, seed + 1)
    a = np.random.default_rng(seed).normal(size=6)
    found = robot.task_dynamics(q, qd)
    assert found.kept.all()
    J = robot.jacobian(q)
    tau = J.T @ (found.Lambda @ a + found.mu + found.p)
    qdd = robot.forward_dynamics(q, qd, tau)
    reached = robot.frame_acceleration(q, qd, qdd)
    # torques are off by what F is, and accelerations by M^-1 of that and of what the torques are sums of
    noise = np.linalg.norm(J, 2) * task_scale(robot, {"q": q, "qd": qd}) * (1 + np.linalg.norm(a))
    noise += torque_scale(robot, q, qd, qdd)
    gain = np.linalg.norm(J, 2) * np.linalg.norm(np.linalg.inv(robot.mass_matrix(q)), 2)
    assert np.abs(reached - a).max() <= 8 * robot.n * EPS * gain * noise


def test_kinetic_energy_is_that_of_the_frame():
    """Six joints: v^T Lambda v / 2 is all of it. Seven: the least that any motion with that velocity has."""
    for robot in (PUMA, PANDA):
        q, qd = state(robot, 5, 10), state(robot, 6, 10)
        v, Lambda = robot.frame_velocity(q, qd), robot.task_dynamics(q, qd).Lambda
        energy = 0.5 * np.einsum("ti,tij,tj->t", v, Lambda, v)
        whole = robot.kinetic_energy(q, qd)
        if robot.n == 6:
            np.testing.assert_allclose(energy, whole, rtol=1e-9)
        else:
            assert (energy < whole).all()
            M, J = robot.mass_matrix(q), robot.jacobian(q)
            least = np.linalg.solve(M, np.swapaxes(J, 1, 2)) @ Lambda @ v[..., None]
            np.testing.assert_allclose(J @ least, v[..., None], rtol=0, atol=1e-10)
            np.testing.assert_allclose(energy, robot.kinetic_energy(q, least[..., 0]), rtol=1e-9)


def test_inertia_is_symmetric_to_the_last_bit_and_positive():
    Lambda = PANDA.task_dynamics(state(PANDA, 7, 20), state(PANDA, 8, 20)).Lambda
    assert np.array_equal(Lambda, np.swapaxes(Lambda, 1, 2))
    assert (np.linalg.eigvalsh(Lambda) > 0).all()


def test_a_payload_at_the_frame_adds_its_mass():
    """A point mass at the frame's origin adds m to the inertia of its velocity, and its weight to gravity."""
    q, qd = state(PUMA, 9), np.zeros(6)
    before, after = (robot.task_dynamics(q, qd, axes="xyz") for robot in (PUMA, PUMA.with_payload(2.5)))
    np.testing.assert_allclose(after.Lambda[:3, :3] - before.Lambda[:3, :3], 2.5 * np.eye(3), rtol=0, atol=1e-10)
    np.testing.assert_allclose(after.p[:3] - before.p[:3], [0, 0, 2.5 * 9.80665], rtol=0, atol=1e-9)


def test_pinocchio_has_the_same_inertia():
    pytest.importorskip("pinocchio")
    peer = Pinocchio(PANDA)
    for q in state(PANDA, 10, 3):
        J = PANDA.jacobian(q)
        expected = np.linalg.inv(J @ np.linalg.solve(peer.mass_matrix(q), J.T))
        found = PANDA.task_dynamics(q, 0 * q)
        np.testing.assert_allclose(found.Lambda, expected, rtol=0, atol=1e-9 * np.abs(expected).max())
        np.testing.assert_allclose(
            found.p, expected @ J @ np.linalg.solve(peer.mass_matrix(q), peer.gravity_forces(q)), rtol=0, atol=1e-8
        )


SINGULAR = {
    "wrist": (PUMA, [0.1, 0.2, 0.3, 0.4, 0.0, 0.6], "xyzrxryrz", 5),
    "stretched elbow": (PUMA, [0.1, 0.2, np.arctan2(0.0203, 0.4318) - np.pi / 2, 0.4, 0.5, 0.6], "xyzrxryrz", 5),
    "plane": (PLANAR, [0.3, 0.4], "xyzrxryrz", 2),
    "plane, rotation first": (PLANAR, [0.3, 0.4], "yrz", 2),
    "stretched plane": (PLANAR, [0.0, 0.0], "xy", 1),
    "panda": (PANDA, [0.0] * 7, "xyzrxryrz", 5),
}


@pytest.mark.parametrize("name", SINGULAR)
def test_dependent_components_are_left_free(name):
    robot, q, axes, rank = SINGULAR[name]
    qd = state(robot, 11)
    found = robot.task_dynamics(q, qd, axes=axes)
    asked = weights(axes).astype(bool)
    kept = found.kept.astype(bool)
    assert set(found.kept) <= {0.0, 1.0}
    assert kept.sum() == rank == np.linalg.matrix_rank(robot.jacobian(q)[asked], 1e-12)
    assert not kept[~asked].any()
    assert not found.Lambda[~kept].any()
    assert not found.mu[~kept].any()
    assert not found.p[~kept].any()
    # those that are kept are those of the components alone
    alone = robot.task_dynamics(q, qd, axes=found.kept)
    for one, other in zip(found, alone, strict=True):
        assert np.array_equal(one, other)
    np.testing.assert_allclose(
        found.Lambda[np.ix_(kept, kept)] @ _mobility(robot, q, kept), np.eye(rank), rtol=0, atol=1e-9
    )


def _mobility(robot, q, kept):
    J = robot.jacobian(q)[kept]
    return J @ np.linalg.solve(robot.mass_matrix(q), J.T)


def test_a_joint_without_inertia_is_named():
    links = [fd.Link("base"), fd.Link("arm", 2.0, (0, 0, 0.3)), fd.Link("tip")]
    joints = [fd.Joint("shoulder", "base", "arm", axis=(0, 1, 0)), fd.Joint("wrist", "arm", "tip", axis=(1, 0, 0))]
    robot = fd.Robot(links, joints, strict=None)
    with pytest.raises(fd.SingularMassMatrixError, match="joint 'wrist' moves no inertia"):
        robot.task_dynamics([0.1, 0.2], [0.0, 0.0])


# ---------------------------------------------------------------------------------------------- static torques


@each_robot
def test_static_torques_are_those_of_inverse_dynamics_at_rest(robot):
    """The wrench is along the base's axes, or the frame's; that of inverse dynamics is along the link's."""
    q, wrench = state(robot, 12, 5), np.random.default_rng(3).normal(size=(5, 6))
    link = robot.links[-1].name
    R = robot.forward_kinematics(q, link)[:, :3, :3]
    turned = np.concatenate([np.einsum("tji,tj->ti", R, wrench[:, part]) for part in (slice(3), slice(3, 6))], axis=1)
    zero = np.zeros_like(q)
    for on_link, local in ((turned, False), (wrench, True)):
        expected = robot.without_friction().inverse_dynamics(q, zero, zero, {link: on_link})
        found = robot.static_torques(q, wrench, link, local=local)
        scale = max(torque_scale(robot, one, 0 * one, 0 * one) for one in q)
        np.testing.assert_allclose(found, expected, rtol=0, atol=16 * robot.n * EPS * scale)


def test_static_torques_do_the_work_of_the_wrench():
    """Virtual work: the surroundings' power on the moving frame plus the motors' is what gravity takes."""
    robot = geared(7, 5, seed=3)
    q, qd, wrench = state(robot, 1), state(robot, 2), np.arange(6.0)
    frame = robot.links[-1].name
    tau = robot.static_torques(q, wrench, frame, point=(0.1, 0.2, 0.3))
    power = robot.frame_velocity(q, qd, frame, point=(0.1, 0.2, 0.3)) @ wrench
    np.testing.assert_allclose(tau @ qd + power, robot.gravity_forces(q) @ qd, rtol=0, atol=1e-12 * np.abs(tau).max())


# ---------------------------------------------------------------------------------------------- wrench capability


def test_the_limiting_joint_is_at_its_limit():
    q, directions = state(PANDA, 13, 6, 1), np.random.default_rng(4).normal(size=(20, 6))
    found = PANDA.wrench_capability(q, directions)
    assert found.factor.shape == found.joint.shape == found.possible.shape == (6, 20)
    assert found.possible.all()
    tau = np.abs(PANDA.static_torques(q, found.factor[..., None] * directions)) / PANDA.limits.effort
    assert tau.max() <= 1 + 1e-9
    assert np.array_equal(tau.argmax(axis=-1), found.joint)
    np.testing.assert_allclose(tau.max(axis=-1), 1, rtol=1e-9)


def test_robots_without_limits_withstand_anything():
    found = PLANAR.wrench_capability([0.1, 0.2], [1.0, 0, 0, 0, 0, 0])
    assert (found.factor, found.joint, found.possible) == (np.inf, -1, True)


def limited(effort):
    """A pendulum of 2 kg at 0.5 m, in gravity of 10 m/s^2: it takes 10 N m to hold it level."""
    links = [fd.Link("base"), fd.Link("bob", mass=2.0, com=(0.5, 0, 0))]
    hinge = fd.Joint("hinge", "base", "bob", axis=(0, -1, 0), limits=fd.Limits(effort=effort))
    return fd.Robot(links, [hinge], gravity=(0, 0, -10))


def test_gravity_takes_its_part():
    up, down, across = np.eye(6)[2], -np.eye(6)[2], np.eye(6)[1]
    arm = limited(effort=15.0)
    view = {"point": (0.5, 0.0, 0.0)}
    assert [arm.wrench_capability([0.0], f, **view).factor.round(9) for f in (up, down)] == [50, 10]
    assert arm.wrench_capability([0.0], across, **view).factor == np.inf
    weak = limited(effort=8.0)
    found = weak.wrench_capability([0.0], [up, down, across], **view)
    assert found.possible.tolist() == [True, False, False]  # pushed upwards, it can be held
    assert found.factor.round(9).tolist() == [36, 0, 0]
    assert found.joint.tolist() == [0, 0, 0]


def test_a_fleet_has_the_limits_of_each():
    fleet = fd.stack([limited(15.0), limited(20.0)])
    found = fleet.wrench_capability([0.0], -np.eye(6)[2], point=(0.5, 0.0, 0.0))
    assert found.factor.round(9).tolist() == [10, 20]


def test_directions_are_checked():
    with pytest.raises(fd.ArgumentError, match=r"direction has shape \(3,\)"):
        PANDA.wrench_capability(np.zeros(7), [0, 0, 1])
    with pytest.raises(fd.NotFiniteError, match=r"direction\[1\] is nan"):
        PANDA.wrench_capability(np.zeros(7), [0, np.nan, 1, 0, 0, 0])


@jit_only
def test_a_control_loop():
    loop = PUMA.bind("task_dynamics", "static_torques")
    q, qd = state(PUMA, 14), state(PUMA, 15)
    loop.q[:], loop.qd[:], loop.axes[:3], loop.wrench[:] = q, qd, 1.0, 2.0
    assert loop.task_dynamics() == loop.static_torques() == 0
    expected = PUMA.task_dynamics(q, qd, axes="xyz")
    for name in ("Lambda", "mu", "p", "kept"):
        np.testing.assert_allclose(getattr(loop, name), getattr(expected, name), rtol=0, atol=1e-10)
    np.testing.assert_allclose(loop.tau, PUMA.static_torques(q, np.full(6, 2.0)), rtol=0, atol=1e-12)
