"""Built-in arms and D-H tables: one arm by two descriptions, published numbers, and bodies that cannot be."""

from math import pi

import numpy as np
import pytest

import fastdyn as fd
from fastdyn.robots import puma560, random_chain, random_tree, stanford
from tests import oracle

EPS = np.finfo(float).eps


def assert_same_arm(one, other, seed=0):
    """Torques, mass matrix and energy agree, with drives, to rounding: a hundred eps a joint of the largest."""
    q, qd, qdd = np.random.default_rng(seed).normal(size=(3, 20, one.n))
    for quantity, state in (("inverse_dynamics", (q, qd, qdd)), ("mass_matrix", (q,)), ("kinetic_energy", (q, qd))):
        a, b = (getattr(robot, quantity)(*state) for robot in (one, other))
        assert np.abs(a - b).max() <= 100 * one.n * EPS * np.abs(a).max(), quantity


def motors(robot):
    return [joint.motor for joint in robot.joints]


# ------------------------------------------------------------------------------------------ D-H conventions


def test_puma_in_modified_dh_is_the_puma_in_standard_dh():
    """Frames stand at the joints: a and alpha move one row down, and bodies no longer see those of their own row."""
    geometry = [
        # a, alpha, d
        (0, 0, 0),
        (0, pi / 2, 0),
        (0.4318, 0, 0.15005),
        (0.0203, -pi / 2, 0.4318),
        (0, pi / 2, 0),
        (0, -pi / 2, 0),
    ]
    bodies = [
        (0, (0, 0, 0), (0, 0, 0.35)),
        (17.4, (0.068, 0.006, 0.2275), (0.13, 0.524, 0.539)),
        (4.8, (0, 0.070, 0.0141), (0.066, 0.0125, 0.086)),
        (0.82, (0, 0, 0.019), (1.8e-3, 1.8e-3, 1.3e-3)),
        (0.34, (0, 0, 0), (0.3e-3, 0.3e-3, 0.4e-3)),
        (0.09, (0, 0, 0.032), (0.15e-3, 0.15e-3, 0.04e-3)),
    ]
    arm = puma560()
    rows = [
        fd.DHLink(a=a, alpha=alpha, d=d, mass=mass, com=com, inertia=np.diag(moments), motor=motor)
        for (a, alpha, d), (mass, com, moments), motor in zip(geometry, bodies, motors(arm), strict=True)
    ]
    assert_same_arm(arm, fd.from_dh(rows, convention="modified"))


def test_stanford_arm_in_modified_dh_is_the_stanford_arm_in_standard_dh():
    geometry = [
        # alpha, d, theta, kind
        (0, 0.412, 0, "revolute"),
        (-pi / 2, 0.154, 0, "revolute"),
        (pi / 2, 0, -pi / 2, "prismatic"),
        (0, 0, 0, "revolute"),
        (-pi / 2, 0, 0, "revolute"),
        (pi / 2, 0.263, 0, "revolute"),
    ]
    bodies = [
        (9.29, (0, -0.1105, -0.0175), (0.276, 0.071, 0.255)),
        (5.01, (0, 0, -0.1054), (0.108, 0.1, 0.018)),
        (4.25, (0, 0, -0.6447), (2.51, 2.51, 0.006)),
        (1.08, (0, -0.054, -0.0092), (0.002, 0.001, 0.001)),
        (0.63, (0, -0.003, 0.0566), (0.003, 0, 0.0004)),
        (0.51, (0, 0, 0.1554), (0.013, 0.013, 0.0003)),
    ]
    arm = stanford()
    rows = [
        fd.DHLink(0, alpha, d, theta, kind, mass, com, np.diag(moments), motor=motor)
        for (alpha, d, theta, kind), (mass, com, moments), motor in zip(geometry, bodies, motors(arm), strict=True)
    ]
    assert_same_arm(arm, fd.from_dh(rows, convention="modified"))


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_link_poses_are_the_products_of_the_conventions_matrices(convention):
    def turn(axis, angle):
        c, s = np.cos(angle), np.sin(angle)
        T = np.eye(4)
        i, j = {"x": (1, 2), "z": (0, 1)}[axis]
        T[i, i], T[i, j], T[j, i], T[j, j] = c, -s, s, c
        return T

    def go(x, z):
        T = np.eye(4)
        T[0, 3], T[2, 3] = x, z
        return T

    rng = np.random.default_rng(1)
    kinds = ["revolute", "prismatic", "prismatic", "revolute", "revolute"]
    table = rng.normal(size=(5, 4))
    robot = fd.from_dh([fd.DHLink(*row, kind) for row, kind in zip(table, kinds, strict=True)], convention)
    q = rng.normal(size=5)
    T, poses = np.eye(4), oracle.world_poses(robot, q)
    for i, ((a, alpha, d, theta), kind) in enumerate(zip(table, kinds, strict=True), start=1):
        theta, d = (theta + q[i - 1], d) if kind == "revolute" else (theta, d + q[i - 1])
        across, along = go(a, 0) @ turn("x", alpha), turn("z", theta) @ go(0, d)
        T = T @ (along @ across if convention == "standard" else across @ along)
        # a few eps for each of the four factors a link; places are of the order of the lengths passed so far
        assert np.abs(T - poses[f"link{i}"]).max() <= 20 * i * EPS * np.abs(table).sum()


def test_a_convention_that_is_none_is_an_error():
    with pytest.raises(fd.RobotError, match=r"'denavit'.*'standard' or 'modified'"):
        fd.from_dh([], convention="denavit")


# ------------------------------------------------------------------------------------------ PUMA 560

NOMINAL = [0, pi / 4, pi, 0, pi / 4, 0]
ONES = np.ones(6)
PRINTED = 0.5e-4  # the Robotics Toolbox prints four decimals


@pytest.fixture
def puma():
    return puma560().with_gravity((0, 0, -9.81))


class TestPumaAgainstTheNumbersPrintedByTheRoboticsToolbox:
    """Corke's, from the reference results of its own tests, at the arm's nominal pose."""

    def test_gravity_forces_are_the_printed_ones(self, puma):
        reference = [0, 31.6399, 6.0351, 0, 0.0283, 0]
        assert np.abs(puma.gravity_forces(NOMINAL) - reference).max() <= PRINTED

    def test_bias_forces_with_friction_are_the_printed_ones(self, puma):
        reference = [29.1421, 56.5044, 16.3528, 1.2645, 1.1239, 0.5196]
        assert np.abs(puma.bias_forces(NOMINAL, ONES) - reference).max() <= PRINTED

    def test_torques_are_the_printed_ones(self, puma):
        reference = [32.4952, 60.8670, 17.7436, 1.4545, 1.2991, 0.7138]
        assert np.abs(puma.inverse_dynamics(NOMINAL, ONES, ONES) - reference).max() <= PRINTED

    def test_torques_while_the_tool_pushes_are_the_printed_ones(self, puma):
        pushes = np.array([1, 2, 3, 1, 2, 3])  # on the surroundings, along the last link's axes: they push back
        reference = [29.7849, 53.9511, 15.0208, 4.0929, -0.8761, 3.5196]
        found = puma.inverse_dynamics(NOMINAL, ONES, 0 * ONES, {"link6": -pushes})
        assert np.abs(found - reference).max() <= PRINTED

    @pytest.mark.parametrize("method", ["aba", "crba"])
    def test_accelerations_are_the_printed_ones(self, puma, method):
        qd, tau = [0.1, 0.2, 0.8, 0.2, 0.5, 1.0], [1.0, 3.2, 1.8, 0.1, 0.7, 4.6]
        reference = [-7.4102, -9.8432, -10.9694, -4.4314, -0.9881, 21.0228]
        assert np.abs(puma.forward_dynamics(NOMINAL, qd, tau, method=method) - reference).max() <= PRINTED

    def test_mass_matrix_is_the_printed_one(self, puma):
        reference = [
            [3.6594, -0.4044, 0.1006, -0.0025, 0.0000, 0.0000],
            [-0.4044, 4.4137, 0.3509, 0.0000, 0.0024, 0.0000],
            [0.1006, 0.3509, 0.9378, 0.0000, 0.0015, 0.0000],
            [-0.0025, 0.0000, 0.0000, 0.1925, 0.0000, 0.0000],
            [0.0000, 0.0024, 0.0015, 0.0000, 0.1713, 0.0000],
            [0.0000, 0.0000, 0.0000, 0.0000, 0.0000, 0.1941],
        ]
        assert np.abs(puma.mass_matrix(NOMINAL) - reference).max() <= PRINTED

    def test_coriolis_matrix_is_the_printed_one(self, puma):
        reference = [
            [-0.1735, -2.0494, -0.1178, -0.0002, -0.0045, 0.0001],
            [0.6274, 1.1572, 1.9287, -0.0015, -0.0003, 0.0000],
            [-0.3608, -0.7734, -0.0018, -0.0009, -0.0064, 0.0000],
            [0.0011, 0.0005, -0.0001, 0.0002, 0.0002, -0.0001],
            [-0.0002, 0.0028, 0.0046, -0.0002, 0.0000, 0.0000],
            [0.0001, 0.0000, 0.0000, 0.0000, 0.0000, 0.0000],
        ]
        assert np.abs(puma.coriolis_matrix(NOMINAL, [1, 2, 3, 1, 2, 3]) - reference).max() <= PRINTED


def test_puma_stands_upright_without_torque_at_the_waist_whatever_it_does():
    q = np.random.default_rng(0).uniform(-pi, pi, (20, 6))
    forces = puma560().gravity_forces(q)
    # axis 1 is vertical: only rounding of the other joints' torques is left, 8 n eps (tests/test_identities.py)
    assert np.abs(forces[:, 0]).max() <= 8 * 6 * EPS * np.abs(forces).max()


@pytest.mark.parametrize("make", [puma560, stanford])
def test_real_arms_agree_with_the_oracle(make):
    arm = make()
    q, qd, qdd = np.random.default_rng(2).normal(size=(3, 10, 6))
    reference = np.stack([oracle.inverse_dynamics(arm, *state) for state in zip(q, qd, qdd, strict=True)])
    # as on random robots: a hundred eps a joint, of the largest torque
    assert np.abs(arm.inverse_dynamics(q, qd, qdd) - reference).max() <= 600 * EPS * np.abs(reference).max()


def test_puma_rubs_by_other_numbers_in_the_other_direction(puma):
    for qd, coulomb in ((0.1 * ONES, 0.395), (-0.1 * ONES, -0.435)):
        torque = puma.bias_forces(NOMINAL, qd)
        rubbing = torque - puma.without_friction().bias_forces(NOMINAL, qd)
        # 62.6111 turns of the motor to one of the joint: viscous friction by the square of it, Coulomb's by its size
        expected = 62.6111**2 * 1.48e-3 * qd[0] + 62.6111 * coulomb
        assert abs(rubbing[0] - expected) <= 100 * EPS * np.abs(torque).max()  # a difference of two torques


# ------------------------------------------------------------------------------------------ Stanford arm


def test_stanford_slider_carries_all_beyond_it_when_it_points_up():
    arm, beyond = stanford(), 4.25 + 1.08 + 0.63 + 0.51
    upright = [0.3, 0.0, 0.5, 1.0, -0.4, 0.7]
    force = arm.gravity_forces(upright)[2]
    assert abs(force - beyond * 9.80665) <= 10 * EPS * force  # a sum of four weights
    inertia = arm.mass_matrix(upright)[2, 2]
    assert abs(inertia - (beyond + 0.782)) <= 10 * EPS * inertia  # and the rotor's
    level = [0.3, pi / 2, 0.5, 1.0, -0.4, 0.7]
    assert abs(arm.gravity_forces(level)[2]) <= 10 * EPS * force


# ------------------------------------------------------------------------------------------ bodies that cannot be


@pytest.mark.parametrize(("make", "offenders"), [(puma560, {"link1", "link3"}), (stanford, {"link5"})])
def test_warning_names_the_links_that_no_real_body_can_be_and_no_others(make, offenders):
    with pytest.warns(fd.RobotWarning) as caught:
        arm = make()
    (warning,) = caught
    named = {link.name for link in arm.all_links if repr(link.name) in str(warning.message)}
    assert named == offenders
    with pytest.raises(fd.RobotError, match=r" .*\n  ".join(sorted(map(repr, offenders)))):
        fd.Robot(arm.all_links, arm.all_joints, strict=True)


def test_strict_dh_tables_raise_for_moments_without_mass_and_past_the_triangle():
    for row in (fd.DHLink(inertia=np.eye(3)), fd.DHLink(mass=1.0, inertia=np.diag([1.0, 1.0, 2.1]))):
        with pytest.raises(fd.RobotError, match="'link1'"):
            fd.from_dh([row], strict=True)
        with pytest.warns(fd.RobotWarning, match="'link1'"):
            fd.from_dh([row])


def test_strict_accepts_bodies_that_can_be(recwarn):
    fd.from_dh([fd.DHLink(mass=1.0, inertia=np.diag([1.0, 1.0, 2.0]))], strict=True)  # a disc
    for make in (random_chain, random_tree):
        robot = make(12, seed=3)
        fd.Robot(robot.all_links, robot.all_joints, strict=True)
    assert not [warning for warning in recwarn if issubclass(warning.category, fd.RobotWarning)]


# ------------------------------------------------------------------------------------------ random robots


def figures(robot):
    """Every number of a description, in one array."""
    parts = [robot.gravity, robot.mount]
    for link in robot.all_links:
        parts += [link.mass, link.com, link.inertia]
    for joint in robot.all_joints:
        motor = joint.motor
        parts += [joint.origin, joint.axis, joint.tail, motor.inertia, motor.gear, motor.viscous, motor.coulomb]
    return np.concatenate([np.ravel(part) for part in parts])


@pytest.mark.parametrize("make", [random_chain, random_tree])
def test_random_robots_are_the_same_for_the_same_seed_and_others_for_another(make):
    one, again, other = (make(8, seed=seed, prismatic=0.5, drives=True) for seed in (5, 5, 6))
    assert np.array_equal(figures(one), figures(again))
    assert [(j.kind, j.parent) for j in one.all_joints] == [(j.kind, j.parent) for j in again.all_joints]
    assert not np.isclose(figures(one), figures(other)).all()


def test_random_chains_are_chains_and_random_trees_branch():
    chain, tree = random_chain(20, seed=0), random_tree(20, seed=0)
    assert [joint.parent for joint in chain.joints] == ["base", *(link.name for link in chain.links[:-1])]
    parents = [joint.parent for joint in tree.joints]
    assert len(set(parents)) < len(parents)


def test_random_robots_slide_and_are_driven_only_where_asked():
    for make in (random_chain, random_tree):
        plain, sliding = make(30, seed=1), make(30, seed=1, prismatic=1.0)
        assert {joint.kind for joint in plain.joints} == {"revolute"}
        assert {joint.kind for joint in sliding.joints} == {"prismatic"}
        assert {joint.kind for joint in make(30, seed=1, prismatic=0.5).joints} == {"revolute", "prismatic"}
        assert all(motor == fd.Motor() for motor in motors(plain))
        assert all(motor.armature > 0 and motor.joint_viscous > 0 for motor in motors(make(30, seed=1, drives=True)))
