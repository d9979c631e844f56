"""Coupled robots: virtual work, closed forms, and the same conventions as Robot."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastdyn as fd
from fastdyn.geometry import go
from fastdyn.quantities import QDD, QUANTITIES
from tests.coupled_oracle import Projected
from tests.peers import Pinocchio
from tests.samples import (
    EPS,
    computed,
    draw,
    energy_scale,
    last_link,
    part,
    reach,
    result_scale,
    same,
    torque_scale,
)  # fmt: skip
from tests.test_identities import momentum_scales
from tests.test_oracle import with_fixed_links


def close(found, expected, scale=None, factor=200.0):
    """Equal up to rounding: sums of at most some tens of terms of the size of the largest."""
    scale = max(1.0, np.abs(expected).max()) if scale is None else scale
    np.testing.assert_allclose(found, expected, rtol=0, atol=factor * EPS * scale)


def state(robot, seed, *lead):
    return np.random.default_rng(seed).uniform(-1, 1, (3, *lead, robot.n))


def random_coupling(n, m, seed):
    rng = np.random.default_rng([n, m, seed])
    return rng.normal(size=(n, m)), rng.normal(size=n)


def inputs(robot, row, q, qd, qdd):
    """The required inputs of a quantity: of those not given here, random ones."""
    given = {"q": q, "qd": qd, "qdd": qdd, "tau": qdd}
    return {name: given.get(name, value) for name, value in draw(robot, row, *q.shape[:-1]).items()}


def everything(robot, q, qd, qdd):
    """All results of all quantities, by name."""
    return {name: computed(robot, row, inputs(robot, row, q, qd, qdd)) for name, row in QUANTITIES.items()}


SOLUTIONS = [name for name, row in QUANTITIES.items() if row.solves and row.gives == (QDD,)]


def close_results(found, expected, robot, row, q, qd, qdd):
    """Equal up to rounding: another compilation of the same text rounds in another order, by 8 n eps of the terms."""
    values = inputs(robot, row, q, qd, qdd)
    scale = max(result_scale(robot, row, part(values, place)) for place in np.ndindex(q.shape[:-1]))
    for one, other in zip(found, expected, strict=True):
        close(one, other, scale, factor=8 * robot.n)


def close_accelerations(found, expected, M):
    """Equal up to rounding: a relative change of M by eps changes what is solved by cond(M) eps."""
    close(*found, *expected, scale=np.linalg.cond(*M).max() * np.abs(expected).max())


# ---------------------------------------------------------------------------------------------- identities


@pytest.mark.parametrize("lead", [(), (11,), (2, 3)])
def test_coupling_by_the_identity_changes_nothing(lead):
    robot = fd.robots.random_tree(5, seed=3, prismatic=0.3, drives=True, helical=0.2)
    arm = robot.coupled(np.eye(5))
    values = state(robot, 1, *lead)
    expected = everything(robot, *values)
    for name, found in everything(arm, *values).items():
        if name in SOLUTIONS:  # by M_phi, and not by articulated bodies
            close_accelerations(found, expected[name], expected["mass_matrix"])
        else:
            close_results(found, expected[name], robot, QUANTITIES[name], *values)


def test_coupling_by_a_permutation_permutes():
    robot = fd.robots.random_chain(4, seed=1, drives=True)
    order = [2, 0, 3, 1]
    permuted = robot.coupled(np.eye(4)[:, order])  # phi_k is joint order[k]
    q, qd, qdd = state(robot, 2, 9)
    expected, found = everything(robot, q, qd, qdd), everything(permuted, q[:, order], qd[:, order], qdd[:, order])
    for name, row in QUANTITIES.items():
        for k, field in enumerate(row.gives):
            for axis, size in enumerate(field.shape, start=1):
                if size == "n" and field.coupling:
                    result = np.take(expected[name][k], order, axis)
                    expected[name] = (*expected[name][:k], result, *expected[name][k + 1 :])
        if name in SOLUTIONS:
            close_accelerations(found[name], expected[name], found["mass_matrix"])
        else:
            close_results(found[name], expected[name], robot, row, q, qd, qdd)


@given(n=st.integers(1, 6), drop=st.integers(0, 5), seed=st.integers(0, 50))
def test_power_and_energy_do_not_depend_on_the_coordinates(n, drop, seed):
    robot = fd.robots.random_tree(n, seed=seed, prismatic=0.3, drives=True)
    arm = robot.coupled(*random_coupling(n, max(1, n - drop), seed))
    q, qd, qdd = state(arm, seed)
    Q, Qd, Qdd = arm.G @ q + arm.offset, arm.G @ qd, arm.G @ qdd
    tau = robot.inverse_dynamics(Q, Qd, Qdd)
    close(arm.inverse_dynamics(q, qd, qdd) @ qd, tau @ Qd, scale=1 + np.abs(tau) @ np.abs(arm.G) @ np.abs(qd))
    M = arm.mass_matrix(q)
    close(0.5 * qd @ M @ qd, robot.kinetic_energy(Q, Qd), scale=1 + np.abs(qd) @ np.abs(M) @ np.abs(qd))
    # G phi is summed in another order: angles and rates are off by some eps of what is summed
    size = 1 + np.abs(arm.offset).max() + np.abs(arm.G).sum()
    scale = size * energy_scale(robot, Q, np.abs(arm.G) @ np.abs(qd))
    close(arm.kinetic_energy(q, qd), robot.kinetic_energy(Q, Qd), scale=scale)
    close(arm.potential_energy(q), robot.potential_energy(Q), scale=scale)


@given(n=st.integers(1, 6), drop=st.integers(0, 5), seed=st.integers(0, 50), method=st.sampled_from(["aba", "crba"]))
def test_forward_dynamics_undoes_inverse_dynamics(n, drop, seed, method):
    robot = fd.robots.random_tree(n, seed=seed, prismatic=0.3, drives=True)
    arm = robot.coupled(*random_coupling(n, max(1, n - drop), seed))
    q, qd, qdd = state(arm, seed, 3)
    wrenches = np.random.default_rng(seed).normal(size=(3, n, 6))
    tau = arm.inverse_dynamics(q, qd, qdd, wrenches)
    found = arm.forward_dynamics(q, qd, tau, wrenches, method=method)
    joint = robot.inverse_dynamics(arm.joint_positions(q), qd @ arm.G.T, qdd @ arm.G.T, wrenches)
    noise = EPS * np.linalg.norm(arm.G) * (1 + np.abs(joint).max())  # in tau, before M_phi is divided out
    worst = noise * np.linalg.cond(arm.G) * np.linalg.norm(np.linalg.inv(arm.mass_matrix(q)), axis=(1, 2)).max()
    np.testing.assert_allclose(found, qdd, rtol=0, atol=100 * worst)


def test_velocity_forces_are_coriolis_times_velocity_and_skewness_survives():
    robot = fd.robots.random_tree(5, seed=8, prismatic=0.3).with_gravity((0, 0, 0))
    arm = robot.coupled(*random_coupling(5, 3, 0))
    q, qd, _ = state(arm, 4)
    C = arm.coriolis_matrix(q, qd)
    close(C @ qd, arm.bias_forces(q, qd), scale=np.abs(C).max())
    h = 1e-5
    rate = (arm.mass_matrix(q + h * qd) - arm.mass_matrix(q - h * qd)) / (2 * h)
    skew = rate - 2 * C
    np.testing.assert_allclose(skew, -skew.T, rtol=0, atol=1e-8 * np.abs(C).max())  # h^2 of the central difference


def test_gravity_forces_are_the_gradient_of_potential_energy():
    arm = fd.robots.random_tree(5, seed=9).coupled(*random_coupling(5, 3, 1))
    q, h = state(arm, 5)[0], 1e-5
    slope = [(arm.potential_energy(q + e) - arm.potential_energy(q - e)) / (2 * h) for e in h * np.eye(3)]
    np.testing.assert_allclose(arm.gravity_forces(q), slope, rtol=0, atol=1e-8 * np.abs(slope).max())


def test_inverse_dynamics_is_mass_times_acceleration_plus_bias():
    arm = fd.robots.random_tree(6, seed=2, drives=True).coupled(*random_coupling(6, 4, 2))
    q, qd, qdd = state(arm, 6, 7)
    M = arm.mass_matrix(q)
    together = np.einsum("tij,tj->ti", M, qdd) + arm.bias_forces(q, qd)
    close(together, arm.inverse_dynamics(q, qd, qdd), scale=np.abs(M).max() * 6)
    assert np.array_equal(M, M.swapaxes(1, 2))


@pytest.mark.parametrize("m", [1, 4, 7])
def test_the_mass_matrix_is_symmetric_to_the_last_bit(m):
    arm = fd.robots.random_tree(7, seed=2, drives=True).coupled(*random_coupling(7, m, 2))
    q = state(arm, 6, 11)[0]
    for M in (arm.mass_matrix(q), arm.mass_matrix(q[0]), arm.mass_matrix(q, dtype=np.float32)):
        assert np.array_equal(M, M.swapaxes(-1, -2))


def test_two_couplings_one_after_the_other_are_one():
    robot = fd.robots.random_chain(5, seed=4)
    (G1, shift1), (G2, shift2) = random_coupling(5, 4, 3), random_coupling(4, 2, 3)
    twice, once = robot.coupled(G1, shift1).coupled(G2, shift2), robot.coupled(G1 @ G2, G1 @ shift2 + shift1)
    values = state(twice, 7)
    assert np.array_equal(twice.inverse_dynamics(*values), once.inverse_dynamics(*values))


# ---------------------------------------------------------------------------------------------- oracle and Pinocchio


def mimicking(n, m, rng):
    """Each coordinate moves a joint of its own; the other joints follow one each, by some ratio."""
    G = np.zeros((n, m))
    G[np.arange(m), np.arange(m)] = 1.0
    G[np.arange(m, n), rng.integers(m, size=n - m)] = rng.uniform(0.5, 2, n - m) * rng.choice([-1, 1], n - m)
    return rng.permutation(G)


def dense(n, m, rng):
    """Orthogonal columns, longer and shorter: no inertia is lost to their condition."""
    return np.linalg.qr(rng.normal(size=(n, m)))[0] * rng.uniform(0.5, 2, m)


COUPLINGS = {  # n, m, and the matrix
    "one": (1, 1, dense), "gripper": (2, 1, mimicking), "mimic": (7, 4, mimicking), "long mimic": (13, 9, mimicking),
    "square": (6, 6, dense), "rectangular": (5, 3, dense), "long": (11, 8, dense),
}  # fmt: skip


class Coupled:
    """A coupled robot with motors at joints and coordinates, two states of it, and sizes of what is summed there."""

    def __init__(self, name, bare=False):
        n, m, make = COUPLINGS[name]
        rng = np.random.default_rng(n)
        robot = fd.robots.random_tree(n, n, prismatic=0.3, drives=not bare, helical=0.2)
        robot = robot if bare else with_fixed_links(robot, rng)
        motors = None if bare else driven(m, n)
        self.arm = robot.coupled(make(n, m, rng), rng.normal(size=n), motors=motors)
        self.values = dict(zip(("q", "qd", "qdd"), rng.uniform(-2, 2, (3, 2, m)), strict=True))
        self.values |= {"tau": 10 * rng.normal(size=(2, m)), "wrenches": rng.normal(size=(2, n, 6))}
        self.values |= {name: rng.normal(size=(2, 6)) for name in ("velocity", "acceleration", "wrench", "axes")}
        self.values |= {"preferred": rng.normal(size=(2, m)), "damping": np.array([0.0, 0.5]), "tolerance": np.zeros(2)}
        # as single precision holds them, so that both precisions are given the same
        self.values = {name: value.astype(np.float32).astype(float) for name, value in self.values.items()}

    def at(self, k):
        return {name: value[k] for name, value in self.values.items()}

    def scale(self, row, k):
        """The size of the terms that a quantity sums at state k, before G^T makes them cancel."""
        if row.frame or row.name == "link_poses":
            return result_scale(self.arm, row, {field.name: self.at(k)[field.name] for field in row.inputs})
        arm, robot, G, motors = self.arm, self.arm.robot, np.abs(self.arm.G), self.arm.coupling.motors
        q, qd, qdd, tau, W = list(self.at(k).values())[:5]
        Q, Qd, Qdd = arm.joint_positions(q), G @ np.abs(qd), G @ np.abs(qdd)
        gain, M = np.linalg.norm(G), np.linalg.norm(robot.mass_matrix(Q))
        rotors = np.array([motor.armature for motor in motors])
        drives = sum(motor.joint_viscous * 2 + max(motor.joint_coulomb) for motor in motors)  # rates are below 2
        pushed = np.linalg.norm(W) * (1 + reach(robot, Q))
        inertia = gain**2 * M + rotors.max()
        energy = energy_scale(robot, Q, Qd) + rotors.sum() * 2 + weight_of_mount(robot)
        bias = gain * torque_scale(robot, Q, Qd, 0 * Qd) + drives
        if row.solves:
            oracle_ = Projected(arm)
            M_phi, found = oracle_.mass_matrix(q).astype(float), oracle_.forward_dynamics(q, qd, tau, W).astype(float)
            forces = bias + gain * pushed + np.linalg.norm(tau) + inertia * np.linalg.norm(found)
            return np.linalg.norm(np.linalg.inv(M_phi), 2) * forces
        return {
            "inverse_dynamics": bias + gain * (pushed + M * np.linalg.norm(Qdd)) + rotors.max() * 2,
            "mass_matrix": inertia,
            "coriolis_matrix": gain**2 * M * np.linalg.norm(Qd),
            "bias_forces": bias,
            "gravity_forces": gain * energy_scale(robot, Q, 0 * Qd),
            "kinetic_energy": energy,
            "potential_energy": energy,
            "joint_reactions": torque_scale(robot, Q, Qd, Qdd) + pushed,
            "center_of_mass": 1 + reach(robot, Q),
            "momentum": np.repeat(momentum_scales(robot, Q, Qd), 3),
        }[row.name]

    def tolerance(self, row, k, eps=EPS):
        """8 n eps of these sizes (tests/test_identities.py says why), and as much for the rounding of G phi + offset.

        No sine is faster than its angle: angles that are off by eps of |G| |phi| + |offset| are n more roundings.
        """
        arm, n = self.arm, len(self.arm.joints)
        off = 1 + (np.abs(arm.G) @ np.abs(self.values["q"][k]) + np.abs(arm.offset)).max()
        return 8 * n * off * eps * self.scale(row, k)


def weight_of_mount(robot):
    mass = sum(link.mass for link in robot.all_links)
    return mass * np.linalg.norm(robot.gravity) * np.linalg.norm(robot.mount[:3, 3])


every_coupling = pytest.mark.parametrize("name", COUPLINGS)


@every_coupling
def test_every_quantity_agrees_with_the_oracle(name):
    case = Coupled(name)
    projected = Projected(case.arm)
    rows = [0, 1] * 5 + [0]  # the two states fill a block of eight lanes, and begin another one
    for row in QUANTITIES.values():
        given = {field.name: case.values[field.name] for field in row.inputs}
        for dtype, eps in ((None, EPS), (np.float32, np.finfo(np.float32).eps)):
            batch = computed(case.arm, row, part(given, rows), dtype=dtype)
            for k in range(2):
                at = part(given, k)
                reference = getattr(projected, row.name.removesuffix("_crba"))(*at.values())
                tolerance = case.tolerance(row, k, eps)
                for found in (*(part(batch, t) for t in range(k, 10, 2)), computed(case.arm, row, at, dtype=dtype)):
                    for one, other in zip(found, reference if len(row.gives) > 1 else (reference,), strict=True):
                        assert one.dtype == (dtype or float)
                        assert (np.abs(one - other) <= tolerance).all(), (row.name, dtype, k)


@every_coupling
def test_every_quantity_is_pinocchios_projected(name):
    """Pinocchio knows the joints, and neither the coupling nor friction."""
    pytest.importorskip("pinocchio")
    case = Coupled(name, bare=True)
    peer, G, frame = Pinocchio(case.arm.robot), case.arm.G, last_link(case.arm)
    for k in range(2):
        at = case.at(k)
        q, qd, qdd, tau, W = list(at.values())[:5]
        Q, Qd, Qdd = case.arm.joint_positions(q), G @ qd, G @ qdd
        M = G.T @ peer.mass_matrix(Q) @ G
        bias = G.T @ (peer.inverse_dynamics(Q, Qd, 0 * Qd, W))
        pose, J, dJ = peer.pose(Q, frame), peer.jacobian(Q, frame), peer.jacobian_derivative(Q, Qd, frame)
        expected = {
            "inverse_dynamics": G.T @ peer.inverse_dynamics(Q, Qd, Qdd, W),
            "forward_dynamics": np.linalg.solve(M, tau - bias),
            "forward_dynamics_crba": np.linalg.solve(M, tau - bias),
            "mass_matrix": M,
            "coriolis_matrix": G.T @ peer.coriolis_matrix(Q, Qd) @ G,
            "bias_forces": G.T @ peer.bias_forces(Q, Qd),
            "gravity_forces": G.T @ peer.gravity_forces(Q),
            "kinetic_energy": peer.kinetic_energy(Q, Qd),
            "potential_energy": peer.potential_energy(Q),
            "joint_reactions": peer.joint_reactions(Q, Qd, Qdd),
            "center_of_mass": peer.center_of_mass(Q),
            "momentum": peer.momentum(Q, Qd),
            "forward_kinematics": pose,
            "link_poses": np.stack([peer.pose(Q, link.name) for link in case.arm.links]),
            "jacobian": J @ G,
            "pose_and_jacobian": (pose, J @ G),
            "frame_velocity": J @ Qd,
            "frame_acceleration": J @ Qdd + dJ @ Qd,
            "jacobian_derivative": dJ @ G,
            "static_torques": G.T @ (peer.gravity_forces(Q) - J.T @ at["wrench"]),
        }
        others = {"hessian", "singular_values", "inverse_velocity", "inverse_acceleration", "task_dynamics"}
        assert expected.keys() | others == QUANTITIES.keys()
        for name, right in expected.items():
            row = QUANTITIES[name]
            fields = row.reads if name == "joint_reactions" else row.inputs
            found = computed(case.arm, row, {field.name: at[field.name] for field in fields})
            for one, other in zip(found, right if len(row.gives) > 1 else (right,), strict=True):
                assert (np.abs(one - other) <= 2 * case.tolerance(row, k)).all(), (name, k)  # of both


# ---------------------------------------------------------------------------------------------- closed forms


def test_coupled_planar_arm_has_the_equations_of_absolute_angles():
    m1, m2, l1, lc1, lc2, I1, I2, g = 3.0, 2.0, 0.7, 0.3, 0.4, 0.2, 0.15, 9.8
    arm = fd.robots.planar_2r(m1, m2, l1, 0.9, lc1, lc2, I1, I2, g).coupled([[1, 0], [-1, 1]])
    for phi, phid, phidd in np.random.default_rng(0).normal(size=(10, 3, 2)):
        (p1, p2), (w1, w2), (a1, a2) = phi, phid, phidd
        c, s = m2 * l1 * lc2 * np.cos(p2 - p1), m2 * l1 * lc2 * np.sin(p2 - p1)
        tau1 = (I1 + m1 * lc1**2 + m2 * l1**2) * a1 + c * a2 - s * w2**2 + (m1 * lc1 + m2 * l1) * g * np.cos(p1)
        tau2 = c * a1 + (I2 + m2 * lc2**2) * a2 + s * w1**2 + m2 * lc2 * g * np.cos(p2)
        close(arm.inverse_dynamics(phi, phid, phidd), [tau1, tau2], scale=50.0)


def test_two_joints_geared_together_have_one_equation():
    """q1 = phi, q2 = r phi + b: tau = M phidd + M' phid^2 / 2 + V', with M and V of the planar arm by hand."""
    m1, m2, l1, lc1, lc2, I1, I2, g, r, b = 3.0, 2.0, 0.7, 0.3, 0.4, 0.2, 0.15, 9.8, -1.5, 0.3
    arm = fd.robots.planar_2r(m1, m2, l1, 0.9, lc1, lc2, I1, I2, g).coupled([[1], [r]], offset=[0, b])
    constant = I1 + m1 * lc1**2 + m2 * l1**2 + (1 + r) ** 2 * (I2 + m2 * lc2**2)
    for phi, phid, phidd in np.random.default_rng(1).normal(size=(10, 3)):
        q2, k = r * phi + b, 2 * (1 + r) * m2 * l1 * lc2
        M, slope = constant + k * np.cos(q2), -k * r * np.sin(q2)
        weight = g * ((m1 * lc1 + m2 * l1) * np.cos(phi) + m2 * lc2 * (1 + r) * np.cos(phi + q2))
        tau = M * phidd + 0.5 * slope * phid**2 + weight
        close(arm.inverse_dynamics([phi], [phid], [phidd]), [tau], scale=100.0)
        close(arm.mass_matrix([phi]), [[M]])
        close(arm.coriolis_matrix([phi], [phid]), [[0.5 * slope * phid]])
        close(arm.forward_dynamics([phi], [phid], [tau]), [phidd], scale=100.0 / M)


def test_friction_of_the_physical_joints_is_felt_through_the_coupling():
    robot = fd.from_dh([fd.DHLink(mass=1.0, motor=fd.Motor(1e-3, 10.0, viscous=0.02, coulomb=(0.3, 0.1)))] * 2)
    arm = robot.coupled([[1.0], [-2.0]]).with_gravity((0, 0, 0))
    # joints turn at 3 and -6: viscous 2 N m s/rad, Coulomb 3 N m forward and 1 N m backward
    close(arm.bias_forces([0.0], [3.0]), [(2 * 3 + 3) - 2 * (2 * -6 - 1)])
    close(arm.mass_matrix([0.0]), [[0.1 + 4 * 0.1]])
    close(arm.without_friction().bias_forces([0.0], [3.0]), [0.0])


def test_variations_are_those_of_the_robot_coupled_again():
    robot, (G, shift) = fd.robots.random_tree(4, seed=6, drives=True), random_coupling(4, 2, 4)
    arm, mount = robot.coupled(G, shift, names=("a", "b")), go(1, 2, 3) @ np.diag([1.0, -1, -1, 1])
    values = state(arm, 9)
    for changed, expected in (
        (arm.with_gravity((1, 2, 3)), robot.with_gravity((1, 2, 3))),
        (arm.with_mount(mount), robot.with_mount(mount)),
        (arm.without_friction(), robot.without_friction()),
        (arm.without_motors(), robot.without_motors()),
        (arm.with_payload(2.0, (0.1, 0, 0), link="link2"), robot.with_payload(2.0, (0.1, 0, 0), link="link2")),
        (arm.with_tool(0.5, (0, 0, 0.1), link="link4"), robot.with_tool(0.5, (0, 0, 0.1), link="link4")),
    ):
        assert isinstance(changed, fd.CoupledRobot)
        assert changed.names == ("a", "b")
        assert np.array_equal(changed.gravity, expected.gravity)
        assert np.array_equal(changed.mount, expected.mount)
        again = expected.coupled(G, shift).inverse_dynamics(*values)
        # its model follows from the arm's, the other's from its description: they round differently
        close_results([changed.inverse_dynamics(*values)], [again], changed, QUANTITIES["inverse_dynamics"], *values)


# ---------------------------------------------------------------------------------------------- motors of coordinates


def driven(m, seed):
    """m motors with rotors and friction; those with an odd number have none."""
    rng = np.random.default_rng([m, seed])
    return [
        None if k % 2 else fd.Motor(rng.uniform(1e-3, 1e-2), rng.uniform(-20, 20), rng.uniform(0, 1e-2), (0.3, 0.1))
        for k in range(m)
    ]


def on_joints(robot, motors):
    """The same robot with these motors at its joints, all of which move."""
    joints = [replace(joint, motor=motor or fd.Motor()) for joint, motor in zip(robot.joints, motors, strict=True)]
    return fd.Robot(robot.all_links, joints, gravity=robot.gravity, mount=robot.mount)


@pytest.mark.parametrize("lead", [(), (11,)])
def test_motors_of_coordinates_that_are_joints_are_motors_of_joints(lead):
    robot = fd.robots.random_tree(5, seed=3, prismatic=0.3)
    motors = driven(5, 0)
    values = state(robot, 1, *lead)
    moved = on_joints(robot, motors)
    expected = everything(moved, *values)
    for name, found in everything(robot.coupled(np.eye(5), motors=motors), *values).items():
        if name in SOLUTIONS:
            close_accelerations(found, expected[name], expected["mass_matrix"])
        else:
            close_results(found, expected[name], moved, QUANTITIES[name], *values)


def test_motors_of_coordinates_by_hand():
    """A coordinate at rate 3 turns a motor of gear -10: viscous 2 N m s/rad, Coulomb 3 N m forward and 1 N m back."""
    motor = fd.Motor(1e-3, -10.0, viscous=0.02, coulomb=(0.3, 0.1))
    robot = fd.from_dh(
        [fd.DHLink(mass=1.0)] * 2, gravity=(0, 0, 0)
    )  # point masses on the axes: no inertia of their own
    arm = robot.coupled([[1.0], [-2.0]], motors=[motor])
    close(arm.mass_matrix([0.0]), [[0.1]])
    close(arm.kinetic_energy([0.0], [3.0]), 0.5 * 0.1 * 9)
    close(arm.bias_forces([0.0], [3.0]), [2 * 3 + 3])
    close(arm.bias_forces([0.0], [-3.0]), [-2 * 3 - 1])
    close(arm.bias_forces([0.0], [0.0]), [0.0])
    close(arm.inverse_dynamics([0.0], [3.0], [4.0]), [0.1 * 4 + 2 * 3 + 3])
    close(arm.forward_dynamics([0.0], [3.0], [0.1 * 4 + 2 * 3 + 3]), [4.0], scale=100.0)
    close(arm.gravity_forces([0.0]), [0.0])
    close(arm.without_friction().bias_forces([0.0], [3.0]), [0.0])
    close(arm.without_friction().mass_matrix([0.0]), [[0.1]])
    close(arm.without_motors().mass_matrix([0.0]), [[0.0]])


@given(n=st.integers(1, 5), drop=st.integers(0, 4), seed=st.integers(0, 30), method=st.sampled_from(["aba", "crba"]))
def test_motors_of_coordinates_belong_to_inverse_forward_and_mass(n, drop, seed, method):
    robot = fd.robots.random_tree(n, seed=seed, prismatic=0.3, drives=True)
    m = max(1, n - drop)
    arm = robot.coupled(*random_coupling(n, m, seed), motors=driven(m, seed))
    q, qd, qdd = state(arm, seed)
    M, tau = arm.mass_matrix(q), arm.inverse_dynamics(q, qd, qdd)
    # torques at the joints cancel in G^T tau: their sizes, not the sum's, scale the rounding
    size = np.abs(arm.G).T @ np.abs(robot.inverse_dynamics(arm.joint_positions(q), arm.G @ qd, arm.G @ qdd))
    scale = 1 + size.max() + (np.abs(M) @ np.abs(qdd)).max() + np.linalg.norm(arm.G) ** 2
    close(M @ qdd + arm.bias_forces(q, qd), tau, scale=scale)
    close(0.5 * qd @ M @ qd, arm.kinetic_energy(q, qd), scale=1 + np.abs(qd) @ np.abs(M) @ np.abs(qd))
    found = arm.forward_dynamics(q, qd, tau, method=method)
    worst = scale * np.linalg.cond(arm.G) * np.linalg.norm(np.linalg.inv(M))
    close(found, qdd, scale=max(1.0, worst))


def test_power_of_motors_of_coordinates_is_rate_of_energy_and_friction():
    """Along a motion, tau phid is dE/dt plus what friction of the motors takes."""
    arm = fd.robots.random_tree(4, seed=7).coupled(*random_coupling(4, 3, 8), motors=driven(3, 1))
    q, qd, qdd = state(arm, 13)
    h = 1e-5

    def energy(t):
        moved, rate = q + t * qd + 0.5 * t * t * qdd, qd + t * qdd
        return arm.kinetic_energy(moved, rate) + arm.potential_energy(moved)

    rate = (energy(h) - energy(-h)) / (2 * h)
    friction = arm.bias_forces(q, qd) - arm.without_friction().bias_forces(q, qd)
    assert friction @ qd > 0.1
    power = arm.inverse_dynamics(q, qd, qdd) @ qd
    size = 1 + abs(power) + abs(energy(0))
    # h^2 of the central difference, and eps / h of the energies it subtracts
    np.testing.assert_allclose(power, rate + friction @ qd, rtol=0, atol=(100 * h**2 + EPS / h) * size * 10)


def test_motors_of_coordinates_leave_links_alone():
    robot, (G, shift) = fd.robots.random_tree(4, seed=6, drives=True), random_coupling(4, 2, 4)
    without, arm = robot.coupled(G, shift), robot.coupled(G, shift, motors=driven(2, 2))
    values = state(arm, 9)
    expected, found = everything(without, *values), everything(arm, *values)
    driven_by = {"inverse_dynamics", "mass_matrix", "bias_forces", "kinetic_energy", "task_dynamics", *SOLUTIONS}
    assert {name for name in QUANTITIES if not same(found[name], expected[name])} == driven_by


def test_motors_of_coordinates_are_checked():
    robot = fd.robots.two_link()
    motor = fd.Motor(1e-3)
    with pytest.raises(fd.RobotError, match="motors: expected 2, one for each coordinate, found 1"):
        robot.coupled(np.eye(2), motors=[motor])
    with pytest.raises(fd.RobotError, match=r"motors\[1\], of 'b': expected a Motor or None, found 3"):
        robot.coupled(np.eye(2), names=["a", "b"], motors=[motor, 3])
    arm = robot.coupled(np.eye(2), names=["a", "b"], motors=[None, motor])
    assert arm.coupling.motors == (fd.Motor(), motor)
    assert robot.coupled(np.eye(2)).coupled(np.eye(2), motors=[None, motor]).coupling.motors == (fd.Motor(), motor)
    with pytest.raises(fd.RobotError, match="coordinate 'b' has a motor"):
        arm.coupled(np.eye(2))
