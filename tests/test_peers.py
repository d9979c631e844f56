"""fastdyn against Pinocchio and MuJoCo: the same robots, the same numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import fastdyn as fd
from tests.peers import MuJoCo, Pinocchio
from tests.samples import (
    EPS,
    KINDS,
    any_robot,
    changed,
    energy_scale,
    reach,
    rotation,
    states,
    torque_scale,
    with_motors,
)
from tests.test_identities import momentum_scales

# 8 n eps of the scale for each of the two programs (tests/test_identities.py says why); MuJoCo turns every pose into a
# unit quaternion and every inertia into principal axes and back, which costs no more than that. Measured: 4.4 n eps at
# worst, in a mass matrix from MuJoCo; all else below 1.2.
ROUNDING = 2 * 8 * EPS

SIZES = {1: 0.3, 2: 0.5, 3: 1.0, 5: 0.0, 7: 0.3, 10: 0.5, 14: 0.1, 20: 0.3}  # joints: share of prismatic ones


def robots():
    for kind in KINDS:
        for n, prismatic in SIZES.items():
            yield pytest.param(any_robot(kind, n, seed=n, prismatic=prismatic, drives=True), id=f"{kind}-{n}")
    yield pytest.param(fd.robots.puma560(), id="puma560")
    yield pytest.param(fd.robots.stanford(), id="stanford")
    yield pytest.param(with_brackets(), id="brackets")


def with_brackets() -> fd.Robot:
    """A tree some of whose joints are fixed, on the base too, and whose joints come in another order than its links."""
    robot = any_robot("tree", 12, seed=5, prismatic=0.3, drives=True)
    joints = [replace(joint, kind="fixed") if i % 4 == 0 else joint for i, joint in enumerate(robot.all_joints)]
    return changed(robot, joints=joints[::-1])


def prepared(robot: fd.Robot) -> fd.Robot:
    """On a base that stands askew, with viscous friction only: MuJoCo's Coulomb friction is another one."""
    mount = np.eye(4)
    mount[:3, :3], mount[:3, 3] = rotation(np.array([0.3, -0.7, 1.9])), (0.5, -0.2, 0.1)
    robot = with_motors(robot, lambda joint: fd.Motor(joint.motor.armature, viscous=joint.motor.joint_viscous))
    return robot.with_mount(mount)


@pytest.fixture(params=robots(), scope="module")
def scene(request):
    """A robot, and q, qd, qdd."""
    robot = prepared(request.param)
    return robot, *states(robot, robot.n)


@pytest.fixture(scope="module")
def pinocchio(scene):
    pytest.importorskip("pinocchio")
    return Pinocchio(scene[0])


@pytest.fixture(scope="module")
def mujoco(scene):
    pytest.importorskip("mujoco")
    return MuJoCo(scene[0])


def assert_close(found, expected, tolerance):
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance)


def torque_tolerance(scene, wrenches=0.0):
    robot, q, _, _ = scene
    return robot.n * ROUNDING * (torque_scale(*scene) + np.linalg.norm(wrenches) * (1 + reach(robot, q)))


def acceleration_tolerance(scene, M, wrenches=0.0):
    """Rounding in torques becomes rounding in accelerations through M^-1."""
    return torque_tolerance(scene, wrenches) * np.linalg.norm(np.linalg.inv(M), 2)


def wrenches(robot):
    return np.random.default_rng(robot.n).normal(size=(robot.n, 6)) * 10


# ---------------------------------------------------------------------------------------------- Pinocchio


def test_torques_are_pinocchios(scene, pinocchio):
    robot, q, qd, qdd = scene
    found = robot.without_friction().inverse_dynamics(q, qd, qdd)
    assert_close(found, pinocchio.inverse_dynamics(q, qd, qdd), torque_tolerance(scene))


def test_torques_under_wrenches_are_pinocchios(scene, pinocchio):
    robot, q, qd, qdd = scene
    W = wrenches(robot)
    found = robot.without_friction().inverse_dynamics(q, qd, qdd, W)
    assert_close(found, pinocchio.inverse_dynamics(q, qd, qdd, W), torque_tolerance(scene, W))


def test_mass_matrix_is_pinocchios(scene, pinocchio):
    robot, q, _, _ = scene
    expected = pinocchio.mass_matrix(q)
    assert_close(robot.mass_matrix(q), expected, robot.n * ROUNDING * np.linalg.norm(expected))


@pytest.mark.parametrize("method", ["aba", "crba"])
def test_accelerations_are_pinocchios(scene, pinocchio, method):
    robot, q, qd, tau = scene
    W = wrenches(robot)
    expected = pinocchio.forward_dynamics(q, qd, tau, W)
    found = robot.without_friction().forward_dynamics(q, qd, tau, W, method=method)
    moved = robot, q, qd, expected
    assert_close(found, expected, acceleration_tolerance(moved, pinocchio.mass_matrix(q), W))


def test_bias_gravity_and_coriolis_forces_are_pinocchios(scene, pinocchio):
    robot, q, qd, _ = scene
    tolerance = torque_tolerance((robot, q, qd, 0 * qd))
    assert_close(robot.without_friction().bias_forces(q, qd), pinocchio.bias_forces(q, qd), tolerance)
    assert_close(robot.gravity_forces(q), pinocchio.gravity_forces(q), tolerance)
    assert_close(robot.coriolis_matrix(q, qd) @ qd, pinocchio.coriolis_matrix(q, qd) @ qd, tolerance)


def test_coriolis_matrix_is_pinocchios(scene, pinocchio):
    """Pinocchio's also holds Christoffel symbols, so that it agrees entry by entry."""
    robot, q, qd, _ = scene
    size = np.linalg.norm(pinocchio.mass_matrix(q)) * np.linalg.norm(qd)
    tolerance = robot.n * ROUNDING * size
    assert_close(robot.coriolis_matrix(q, qd), pinocchio.coriolis_matrix(q, qd), tolerance)


def test_energies_are_pinocchios(scene, pinocchio):
    robot, q, qd, _ = scene
    bare = with_motors(robot, lambda joint: fd.Motor())
    tolerance = robot.n * ROUNDING * energy_scale(bare, q, qd)
    assert_close(bare.kinetic_energy(q, qd), Pinocchio(bare).kinetic_energy(q, qd), tolerance)
    assert_close(robot.potential_energy(q), pinocchio.potential_energy(q), tolerance)


def test_joint_reactions_are_pinocchios(scene):
    pytest.importorskip("pinocchio")
    robot, q, qd, qdd = scene
    bare = with_motors(robot, lambda joint: fd.Motor())  # bearings do not feel rotors
    expected = Pinocchio(bare).joint_reactions(q, qd, qdd)
    assert_close(robot.joint_reactions(q, qd, qdd), expected, torque_tolerance(scene))


def test_momentum_and_center_of_mass_are_pinocchios(scene, pinocchio):
    robot, q, qd, _ = scene
    linear, angular = momentum_scales(robot, q, qd)
    found, expected = robot.momentum(q, qd), pinocchio.momentum(q, qd)
    assert_close(found[:3], expected[:3], robot.n * ROUNDING * linear)
    assert_close(found[3:], expected[3:], robot.n * ROUNDING * angular)
    # Pinocchio's is in the world, where the base stands apart from the origin
    size = 1 + reach(robot, q) + np.linalg.norm(robot.mount[:3, 3])
    assert_close(robot.center_of_mass(q), pinocchio.center_of_mass(q), robot.n * ROUNDING * size)


# ---------------------------------------------------------------------------------------------- MuJoCo


def test_torques_with_damping_are_mujocos(scene, mujoco):
    robot, q, qd, qdd = scene
    assert_close(robot.inverse_dynamics(q, qd, qdd), mujoco.inverse_dynamics(q, qd, qdd), torque_tolerance(scene))


def test_mass_matrix_is_mujocos(scene, mujoco):
    robot, q, _, _ = scene
    expected = mujoco.mass_matrix(q)
    assert_close(robot.mass_matrix(q), expected, robot.n * ROUNDING * np.linalg.norm(expected))


@pytest.mark.parametrize("method", ["aba", "crba"])
def test_accelerations_with_damping_are_mujocos(scene, mujoco, method):
    robot, q, qd, tau = scene
    W = wrenches(robot)
    expected = mujoco.forward_dynamics(q, qd, tau, W)
    found = robot.forward_dynamics(q, qd, tau, W, method=method)
    moved = robot, q, qd, expected
    assert_close(found, expected, acceleration_tolerance(moved, mujoco.mass_matrix(q), W))


def test_bias_forces_are_mujocos(scene, mujoco):
    robot, q, qd, _ = scene
    tolerance = torque_tolerance((robot, q, qd, 0 * qd))
    assert_close(robot.without_friction().bias_forces(q, qd), mujoco.bias_forces(q, qd), tolerance)


def test_energies_are_mujocos(scene, mujoco):
    robot, q, qd, _ = scene
    found = robot.kinetic_energy(q, qd), robot.potential_energy(q)
    assert_close(found, mujoco.energies(q, qd), robot.n * ROUNDING * energy_scale(robot, q, qd))
