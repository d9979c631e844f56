"""Physical identities that hold for every robot in every state, tried on random robots."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastdyn as fd
from fastdyn.kernels import rows
from tests.samples import (
    EPS,
    KINDS,
    any_robot,
    changed,
    energy_scale,
    hat,
    jacobian,
    poses,
    reach,
    rotation,
    square,
    states,
    torque_scale,
    with_motors,
)

# A link costs some hundred roundings of both signs, which add up to about ten eps of the scale at worst, and rounding
# grows with the number of links it passes through: n * ROUNDING * scale. Measured: 1.7 n eps where this allows 8.
ROUNDING = 8 * EPS

# Central differences with step h, extrapolated once, err by h^4 / 480 of the fifth derivative and by 3 / h of the
# rounding in what is differentiated. At this h both are 0.7 eps^(4/5) of its size.
STEP = (1440 * EPS) ** 0.2
DIFFERENCES = 8 * EPS**0.8


@st.composite
def scenes(draw, largest: int = 12):
    """A robot, and q, qd, qdd."""
    kind, n, seed = draw(st.sampled_from(KINDS)), draw(st.integers(1, largest)), draw(st.integers(0, 2**32 - 1))
    robot = any_robot(kind, n, seed, draw(st.sampled_from((0.0, 0.3, 1.0))), draw(st.booleans()))
    return robot, *states(robot, seed)


def assert_close(found, expected, tolerance):
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance)


def derivative(f):
    """f'(0) for an f that changes by its own size over a unit."""
    wide, narrow = ((f(h) - f(-h)) / (2 * h) for h in (STEP, STEP / 2))
    return (4 * narrow - wide) / 3


# ---------------------------------------------------------------------------------------------- the equation of motion


@given(scenes(), st.sampled_from(("aba", "crba")), st.booleans())
def test_forward_dynamics_undoes_inverse_dynamics(scene, method, pushed):
    robot, q, qd, qdd = scene
    W = np.random.default_rng(robot.n).normal(size=(robot.n, 6)) if pushed else None
    tau = robot.inverse_dynamics(q, qd, qdd, W)
    found = robot.forward_dynamics(q, qd, tau, W, method=method)
    # rounding in torques becomes rounding in accelerations through M^-1
    amplified = np.linalg.norm(np.linalg.inv(robot.mass_matrix(q)), 2)
    scale = torque_scale(robot, q, qd, qdd) + (np.linalg.norm(W) * (1 + reach(robot, q)) if pushed else 0)
    assert_close(found, qdd, robot.n * ROUNDING * scale * amplified)


@given(scenes())
def test_torques_are_mass_matrix_times_acceleration_plus_bias(scene):
    robot, q, qd, qdd = scene
    expected = robot.mass_matrix(q) @ qdd + robot.bias_forces(q, qd)
    assert_close(robot.inverse_dynamics(q, qd, qdd), expected, robot.n * ROUNDING * torque_scale(*scene))


@given(scenes())
def test_bias_without_friction_is_coriolis_matrix_times_rates_plus_gravity(scene):
    robot, q, qd, qdd = scene
    expected = robot.coriolis_matrix(q, qd) @ qd + robot.gravity_forces(q)
    tolerance = robot.n * ROUNDING * torque_scale(robot, q, qd, 0 * qdd)
    assert_close(robot.without_friction().bias_forces(q, qd), expected, tolerance)


@given(scenes())
def test_bias_at_rest_is_gravity(scene):
    robot, q, qd, _ = scene
    tolerance = robot.n * ROUNDING * torque_scale(robot, q, 0 * qd, 0 * qd)
    assert_close(robot.bias_forces(q, 0 * qd), robot.gravity_forces(q), tolerance)


@given(scenes())
def test_mass_matrix_is_symmetric_and_positive_definite(scene):
    robot, q, _, _ = scene
    M = robot.mass_matrix(q)
    assert np.array_equal(M, M.T)
    smallest, largest = np.linalg.eigvalsh(M)[[0, -1]]
    assert smallest > robot.n * ROUNDING * largest  # not just a positive rounding error


@given(scenes())
def test_rotors_stand_on_the_diagonal_of_the_mass_matrix(scene):
    robot, q, _, _ = scene
    bare = with_motors(robot, lambda joint: fd.Motor())
    armature = np.diag([joint.motor.armature for joint in robot.joints])
    M = robot.mass_matrix(q)
    assert_close(M - bare.mass_matrix(q), armature, robot.n * ROUNDING * np.linalg.norm(M))


# ---------------------------------------------------------------------------------------------- the Coriolis matrix


@given(scenes())
def test_mass_matrix_changes_at_the_rate_of_the_coriolis_matrix_and_its_transpose(scene):
    """That is, dM/dt - 2 C is skew."""
    robot, q, qd, _ = scene
    # products of two rotations: no sine in M(q + t direction) is faster than sin(t)
    pace = 2 * np.abs(qd).sum()
    rate = pace * derivative(lambda t: robot.mass_matrix(q + t * qd / pace))
    C = robot.coriolis_matrix(q, qd)
    assert_close(C + C.T, rate, pace * robot.n * DIFFERENCES * np.linalg.norm(robot.mass_matrix(q)))


@given(scenes())
def test_coriolis_matrix_is_linear_in_the_rates(scene):
    robot, q, a, b = scene
    expected = robot.coriolis_matrix(q, a) - 3.7 * robot.coriolis_matrix(q, b)
    size = np.linalg.norm(robot.mass_matrix(q)) * (np.linalg.norm(a) + 3.7 * np.linalg.norm(b))
    assert_close(robot.coriolis_matrix(q, a - 3.7 * b), expected, robot.n * ROUNDING * size)


@given(scenes())
def test_coriolis_matrix_holds_christoffel_symbols(scene):
    """They are symmetric in the two rates; of all C with a skew dM/dt - 2 C only this one is."""
    robot, q, a, b = scene
    size = np.linalg.norm(robot.mass_matrix(q)) * np.linalg.norm(a) * np.linalg.norm(b)
    tolerance = robot.n * ROUNDING * size
    assert_close(robot.coriolis_matrix(q, a) @ b, robot.coriolis_matrix(q, b) @ a, tolerance)


# ---------------------------------------------------------------------------------------------- energy


@given(scenes())
def test_gravity_forces_are_the_gradient_of_potential_energy(scene):
    robot, q, qd, _ = scene
    gradient = [derivative(lambda t, unit=unit: robot.potential_energy(q + t * unit)) for unit in np.eye(robot.n)]
    assert_close(robot.gravity_forces(q), gradient, robot.n * DIFFERENCES * energy_scale(robot, q, 0 * qd))


@given(scenes())
def test_potential_energy_is_the_work_of_lifting_every_link(scene):
    robot, q, qd, _ = scene
    found, _ = poses(robot, q)
    centres = {link.name: found[link.name][:3, :3] @ link.com + found[link.name][:3, 3] for link in robot.links}
    work = -sum(link.mass * robot.gravity @ centres[link.name] for link in robot.links)
    assert_close(robot.potential_energy(q), work, robot.n * ROUNDING * energy_scale(robot, q, 0 * qd))


@given(scenes())
def test_kinetic_energy_is_half_the_mass_matrix_between_the_rates(scene):
    robot, q, qd, _ = scene
    M = robot.mass_matrix(q)
    size = np.linalg.norm(M) * np.linalg.norm(qd) ** 2
    assert_close(robot.kinetic_energy(q, qd), qd @ M @ qd / 2, robot.n * ROUNDING * size)


@given(scenes())
def test_power_of_the_drives_is_the_rate_of_energy(scene):
    robot, q, qd, qdd = scene
    robot = robot.without_friction()
    pace = 2 * np.abs(qd).sum() + np.sqrt(np.abs(qdd).sum())  # 1/s: t * pace = 1 is when the motion has changed much

    def energy(s):
        t = s / pace
        at, rate = q + t * qd + t**2 / 2 * qdd, qd + t * qdd
        return robot.kinetic_energy(at, rate) + robot.potential_energy(at)

    power = robot.inverse_dynamics(q, qd, qdd) @ qd
    scale = energy_scale(robot, q, np.abs(qd) + np.abs(qdd) / pace)
    assert_close(pace * derivative(energy), power, pace * robot.n * DIFFERENCES * scale)


# ---------------------------------------------------------------------------------------------- momentum


def moving_mass(robot):
    return sum(link.mass for link in robot.links)


def askew(robot):
    """On a base that stands neither upright nor at the world's origin."""
    mount = np.eye(4)
    mount[:3, :3], mount[:3, 3] = rotation(np.array([0.5, -1.0, 2.0])), (3.0, -2.0, 1.0)
    return robot.with_mount(mount)


def momentum_scales(robot, q, qd):
    """kg m/s and kg m^2/s: the sizes of the terms that linear and angular momentum are sums of.

    A joint moves no mass faster than the reach times its rate, or, a prismatic one, than its rate.
    """
    lever, rates = 1 + reach(robot, q), np.abs(qd).sum()
    spin = sum(np.linalg.norm(link.inertia) for link in robot.all_links) * rates
    linear = sum(link.mass for link in robot.all_links) * lever * rates
    return linear, linear * lever + spin


@given(scenes())
def test_linear_momentum_is_mass_times_the_velocity_of_the_centre_of_mass(scene):
    robot, q, qd, _ = scene
    robot = askew(robot)
    pace = np.abs(qd).sum()  # no sine of a single rotation is faster
    velocity = pace * derivative(lambda t: robot.center_of_mass(q + t * qd / pace))
    tolerance = robot.n * DIFFERENCES * momentum_scales(robot, q, qd)[0]
    assert_close(robot.momentum(q, qd)[:3], moving_mass(robot) * velocity, tolerance)


@given(scenes())
def test_momentum_changes_by_weight_and_by_what_the_base_exerts(scene):
    """Newton and Euler for the whole robot: the weight has no moment about the centre of mass."""
    robot, q, qd, qdd = scene
    robot = askew(robot)
    pace = 2 * np.abs(qd).sum() + np.sqrt(np.abs(qdd).sum())

    def momentum(s):
        t = s / pace
        return robot.momentum(q + t * qd + t**2 / 2 * qdd, qd + t * qdd)

    R, base = robot.mount[:3, :3], robot.mount[:3, 3]
    force, moment = moving_mass(robot) * R.T @ robot.gravity, np.zeros(3)
    found, _ = poses(robot, q)
    for joint, reaction in zip(robot.joints, robot.joint_reactions(q, qd, qdd), strict=True):
        if joint.parent == robot.base.name:
            link = found[joint.child]
            at = R.T @ ((link @ np.linalg.inv(joint.tail))[:3, 3] - base) - robot.center_of_mass(q)
            push, twist = (R.T @ link[:3, :3] @ half for half in (reaction[:3], reaction[3:]))
            force, moment = force + push, moment + twist + np.cross(at, push)
    rate = pace * derivative(momentum)
    linear, angular = momentum_scales(robot, q, np.abs(qd) + np.abs(qdd) / pace)
    # the reactions are rounded, too, and the weight is a part of them that cancels
    size = torque_scale(robot, q, qd, qdd) * (1 + reach(robot, q))
    rounding = robot.n * ROUNDING * size
    assert_close(rate[:3], force, pace * robot.n * DIFFERENCES * linear + rounding)
    assert_close(rate[3:], moment, pace * robot.n * DIFFERENCES * angular + rounding)


@given(scenes())
def test_potential_energy_is_the_whole_mass_at_its_centre(scene):
    robot, q, qd, _ = scene
    robot = askew(robot)
    centre = robot.mount[:3, :3] @ robot.center_of_mass(q) + robot.mount[:3, 3]
    lifted = moving_mass(robot) * np.linalg.norm(robot.gravity) * np.linalg.norm(robot.mount[:3, 3])
    tolerance = robot.n * ROUNDING * (energy_scale(robot, q, 0 * qd) + lifted)
    assert_close(robot.potential_energy(q), -moving_mass(robot) * robot.gravity @ centre, tolerance)


@given(scenes(), st.integers(0, 11))
def test_momentum_of_one_body_is_mass_times_velocity_and_inertia_times_turning(scene, which):
    robot, q, qd, _ = scene
    body = robot.links[which % robot.n]
    bare = [link if link is body else replace(link, mass=0.0, inertia=np.zeros((3, 3))) for link in robot.all_links]
    alone = changed(robot, links=bare)
    link = poses(alone, q)[0][body.name]
    v, w = (link[:3, :3] @ half for half in np.split(jacobian(alone, q, body.name) @ qd, 2))
    arm, I = link[:3, :3] @ body.com, link[:3, :3] @ body.inertia @ link[:3, :3].T
    found = alone.momentum(q, qd)
    linear, angular = momentum_scales(alone, q, qd)
    assert_close(found[:3], body.mass * (v + np.cross(w, arm)), robot.n * ROUNDING * linear)
    # the moment about the base's origin, less that of the whole about it
    assert_close(found[3:], I @ w, robot.n * ROUNDING * angular)
    assert_close(alone.center_of_mass(q), link[:3, 3] + arm, robot.n * ROUNDING * (1 + reach(alone, q)))


@given(scenes())
def test_momentum_is_linear_in_the_rates_and_knows_no_drives(scene):
    robot, q, a, b = scene
    expected = robot.momentum(q, a) - 3.7 * robot.momentum(q, b)
    scales = np.repeat(momentum_scales(robot, q, np.abs(a) + 3.7 * np.abs(b)), 3)
    difference = robot.momentum(q, a - 3.7 * b) - expected
    assert (np.abs(difference) <= robot.n * ROUNDING * scales).all()
    assert np.array_equal(with_motors(robot, lambda joint: fd.Motor()).momentum(q, a), robot.momentum(q, a))


# ---------------------------------------------------------------------------------------------- linear in the masses


def together(name: str, *parts: tuple[fd.Link, np.ndarray]) -> fd.Link:
    """One link of several, each standing at a pose."""
    mass = sum(link.mass for link, _ in parts)
    centres = [where[:3, :3] @ link.com + where[:3, 3] for link, where in parts]
    com = sum(link.mass * c for (link, _), c in zip(parts, centres, strict=True)) / mass
    inertia = np.zeros((3, 3))
    for (link, where), centre in zip(parts, centres, strict=True):
        R, arm = where[:3, :3], hat(centre - com)
        inertia += R @ link.inertia @ R.T - link.mass * arm @ arm
    return fd.Link(name, mass, com, (inertia + inertia.T) / 2)


@given(scenes(), st.floats(1e-3, 1e3))
def test_torques_are_proportional_to_all_masses(scene, factor):
    robot, q, qd, qdd = scene
    robot = with_motors(robot, lambda joint: fd.Motor())
    links = [replace(link, mass=factor * link.mass, inertia=factor * link.inertia) for link in robot.all_links]
    found = changed(robot, links=links).inverse_dynamics(q, qd, qdd)
    tolerance = factor * robot.n * ROUNDING * torque_scale(robot, q, qd, qdd)
    assert_close(found, factor * robot.inverse_dynamics(q, qd, qdd), tolerance)


@given(scenes())
def test_torques_of_two_sets_of_bodies_add_up(scene):
    robot, q, qd, qdd = scene
    first = with_motors(robot, lambda joint: fd.Motor())
    others = fd.robots.random_chain(robot.n, seed=99).links
    second = changed(first, links=[robot.base, *others])
    pairs = zip(robot.links, others, strict=True)
    both = changed(first, links=[robot.base, *(together(a.name, (a, np.eye(4)), (b, np.eye(4))) for a, b in pairs)])
    expected = first.inverse_dynamics(q, qd, qdd) + second.inverse_dynamics(q, qd, qdd)
    tolerance = robot.n * ROUNDING * torque_scale(both, q, qd, qdd)
    assert_close(both.inverse_dynamics(q, qd, qdd), expected, tolerance)


def with_extra(robot: fd.Robot, seed: int, on: str) -> tuple[fd.Robot, fd.Joint, fd.Link]:
    """The robot with a body on a bracket on a link: two fixed joints in a row."""
    other = fd.robots.random_chain(2, seed)
    bracket, body = (replace(link, name=name) for link, name in zip(other.links, ("bracket", "body"), strict=True))
    joints = [
        replace(other.joints[0], name="screws", kind="fixed", parent=on, child="bracket"),
        replace(other.joints[1], name="glue", kind="fixed", parent="bracket", child="body"),
    ]
    # children before parents: the order of a description does not matter
    return (
        changed(robot, [body, bracket, *robot.all_links], [*joints[::-1], *robot.all_joints]),
        joints,
        (bracket, body),
    )


@given(scenes())
def test_what_is_fixed_to_a_link_is_part_of_it(scene):
    robot, q, qd, qdd = scene
    chosen = robot.links[robot.n // 2]
    found, (screws, glue), (bracket, body) = with_extra(robot, robot.n, chosen.name)
    first = screws.origin @ screws.tail
    whole = together(chosen.name, (chosen, np.eye(4)), (bracket, first), (body, first @ glue.origin @ glue.tail))
    expected = changed(robot, links=[whole if link is chosen else link for link in robot.all_links])
    tolerance = robot.n * ROUNDING * torque_scale(expected, q, qd, qdd)
    assert_close(found.inverse_dynamics(q, qd, qdd), expected.inverse_dynamics(q, qd, qdd), tolerance)
    tolerance = robot.n * ROUNDING * energy_scale(expected, q, qd)
    assert_close(found.potential_energy(q), expected.potential_energy(q), tolerance)


# ---------------------------------------------------------------------------------------------- frames and order


@given(scenes())
def test_turning_the_base_is_turning_gravity_back(scene):
    robot, q, qd, qdd = scene
    mount = np.eye(4)
    mount[:3, :3], mount[:3, 3] = rotation(np.array([0.5, -1.0, 2.0])), (3.0, -2.0, 1.0)
    mounted, turned = robot.with_mount(mount), robot.with_gravity(mount[:3, :3].T @ robot.gravity)
    tolerance = robot.n * ROUNDING * torque_scale(*scene)
    assert_close(mounted.inverse_dynamics(q, qd, qdd), turned.inverse_dynamics(q, qd, qdd), tolerance)
    lifted = -sum(link.mass for link in robot.links) * (robot.gravity @ mount[:3, 3])
    tolerance = robot.n * ROUNDING * (energy_scale(robot, q, 0 * qd) + abs(lifted))
    assert_close(mounted.potential_energy(q), turned.potential_energy(q) + lifted, tolerance)


@given(scenes(), st.randoms(use_true_random=False))
def test_joints_and_links_may_come_in_any_order(scene, random):
    robot, q, qd, qdd = scene
    order = random.sample(range(robot.n), robot.n)
    links = random.sample(robot.all_links, robot.n + 1)
    shuffled = changed(robot, links, [robot.all_joints[i] for i in order])
    expected = robot.inverse_dynamics(q, qd, qdd)[order]
    found = shuffled.inverse_dynamics(q[order], qd[order], qdd[order])
    assert_close(found, expected, robot.n * ROUNDING * torque_scale(*scene))
    M = robot.mass_matrix(q)
    assert_close(shuffled.mass_matrix(q[order]), M[np.ix_(order, order)], robot.n * ROUNDING * np.linalg.norm(M))


@given(scenes())
def test_turning_a_revolute_joint_once_around_changes_nothing(scene):
    robot, q, qd, qdd = scene
    around = q + [2 * np.pi * (joint.kind == "revolute") for joint in robot.joints]
    # 2 pi is rounded, and so is the sum: each joint is off by up to 4 eps rad, which turns all it carries
    tolerance = (4 + 8) * robot.n * EPS * torque_scale(*scene)
    assert_close(robot.inverse_dynamics(around, qd, qdd), robot.inverse_dynamics(q, qd, qdd), tolerance)


# ---------------------------------------------------------------------------------------------- wrenches and reactions


@given(scenes())
def test_wrenches_enter_as_minus_jacobian_transposed_times_wrench(scene):
    robot, q, qd, qdd = scene
    W = np.random.default_rng(robot.n).normal(size=(robot.n, 6)) * 10
    found = robot.inverse_dynamics(q, qd, qdd, W) - robot.inverse_dynamics(q, qd, qdd)
    expected = -sum(jacobian(robot, q, link.name).T @ w for link, w in zip(robot.links, W, strict=True))
    scale = torque_scale(*scene) + np.linalg.norm(W) * (1 + reach(robot, q))
    assert_close(found, expected, robot.n * ROUNDING * scale)


@given(scenes())
def test_wrenches_may_name_links_even_fixed_ones(scene):
    robot, q, qd, qdd = scene
    robot, _, _ = with_extra(robot, robot.n, robot.links[-1].name)
    pushes = np.random.default_rng(robot.n).normal(size=(3, 6)) * 10
    wrenches = {"body": pushes[0], robot.links[0].name: pushes[1], "base": pushes[2]}
    found = robot.inverse_dynamics(q, qd, qdd, wrenches) - robot.inverse_dynamics(q, qd, qdd)
    expected = -sum(jacobian(robot, q, name).T @ wrench for name, wrench in wrenches.items())
    scale = torque_scale(robot, q, qd, qdd) + np.linalg.norm(pushes) * (1 + reach(robot, q))
    assert_close(found, expected, robot.n * ROUNDING * scale)


@given(scenes())
def test_reactions_along_the_joints_are_the_torques_without_friction_and_rotors(scene):
    robot, q, qd, qdd = scene
    W = np.random.default_rng(robot.n).normal(size=(robot.n, 6))
    along = []
    for joint, reaction in zip(robot.joints, robot.joint_reactions(q, qd, qdd, W), strict=True):
        force, moment = reaction[:3], reaction[3:]
        axis = joint.tail[:3, :3].T @ joint.axis
        along.append(axis @ (moment if joint.kind == "revolute" else force))
    bare = with_motors(robot, lambda joint: fd.Motor())
    scale = torque_scale(*scene) + np.linalg.norm(W) * (1 + reach(robot, q))
    assert_close(along, bare.inverse_dynamics(q, qd, qdd, W), robot.n * ROUNDING * scale)


@given(scenes())
def test_base_joints_carry_the_weight_of_a_robot_at_rest(scene):
    robot, q, qd, _ = scene
    links = {joint.child for joint in robot.joints if joint.parent == "base"}
    found, _ = poses(robot, q)
    reactions = robot.joint_reactions(q, 0 * qd, 0 * qd)
    pairs = zip(robot.links, reactions, strict=True)
    carried = sum(found[link.name][:3, :3] @ reaction[:3] for link, reaction in pairs if link.name in links)
    weight = sum(link.mass for link in robot.links) * robot.gravity
    assert_close(carried, -weight, robot.n * ROUNDING * np.linalg.norm(weight))


# ---------------------------------------------------------------------------------------------- friction


@pytest.mark.parametrize("gear", [10.0, -10.0])
def test_coulomb_friction_opposes_motion_with_a_size_for_each_direction(gear):
    robot = with_motors(square(3, 1, prismatic=0.5), lambda joint: fd.Motor(gear=gear, coulomb=(0.2, -0.3)))
    q, qdd = states(robot, 0)[[0, 2]]
    qd = np.array([2.0, -2.0, 0.0])
    found = robot.inverse_dynamics(q, qd, qdd) - robot.without_friction().inverse_dynamics(q, qd, qdd)
    assert_close(found, [2.0, -3.0, 0.0], 3 * ROUNDING * torque_scale(robot, q, qd, qdd))


@given(scenes())
def test_friction_takes_energy_and_is_viscous_plus_coulomb(scene):
    robot, q, qd, qdd = scene
    found = robot.inverse_dynamics(q, qd, qdd) - robot.without_friction().inverse_dynamics(q, qd, qdd)
    motors = [joint.motor for joint in robot.joints]
    coulomb = [m.joint_coulomb[0] if rate > 0 else -m.joint_coulomb[1] for m, rate in zip(motors, qd, strict=True)]
    viscous = [m.joint_viscous * rate for m, rate in zip(motors, qd, strict=True)]
    assert_close(found, np.add(viscous, coulomb), robot.n * ROUNDING * torque_scale(*scene))
    assert (np.add(viscous, coulomb) * qd >= 0).all()


@given(scenes())
def test_friction_is_zero_at_rest(scene):
    robot, q, qd, qdd = scene
    bare = robot.without_friction()
    for rest in (0.0 * np.abs(qd), -0.0 * np.abs(qd)):
        found, expected = robot.inverse_dynamics(q, rest, qdd), bare.inverse_dynamics(q, rest, qdd)
        assert_close(found, expected, robot.n * ROUNDING * torque_scale(bare, q, rest, qdd))


@given(scenes())
def test_friction_off_leaves_all_but_friction_as_it_was_bit_for_bit(scene):
    robot = scene[0]
    before, after = robot.model.P.copy(), robot.without_friction().model.P
    before[[rows.VISCOUS, rows.PLUS, rows.MINUS]] = 0.0
    assert np.array_equal(after, before)


def test_friction_off_leaves_the_rotor_on():
    robot = with_motors(square(2), lambda joint: fd.Motor(inertia=0.1, gear=-3.0, viscous=1.0, coulomb=2.0))
    q, qd, qdd = states(robot, 0)
    bare = with_motors(robot, lambda joint: fd.Motor())
    found = robot.without_friction().inverse_dynamics(q, qd, qdd) - bare.inverse_dynamics(q, qd, qdd)
    assert_close(found, 0.9 * qdd, 2 * ROUNDING * torque_scale(robot, q, qd, qdd))
