"""Payloads, tools and locked joints against robots made by hand and against what physics says of them."""

from dataclasses import replace

import numpy as np
import pytest

import fastdyn as fd
from fastdyn.inertia import box
from fastdyn.mechanism.poses import link_poses, tips
from fastdyn.rotations import turn

SEEDS = range(4)
EPS = np.finfo(float).eps


def sample(robot, seed=0):
    rng = np.random.default_rng(seed)
    return rng.uniform(-2, 2, (3, 5, robot.n))


def same(found, wanted, scale=1.0):
    """Equal up to rounding: two ways of adding the same inertia differ by some hundred eps of the largest torque."""
    size = max(1.0, scale, float(np.abs(wanted).max(initial=0.0)))
    np.testing.assert_allclose(found, wanted, rtol=0, atol=500 * EPS * size)


def same_dynamics(found, wanted):
    q, qd, qdd = sample(wanted)
    same(found.mass_matrix(q), wanted.mass_matrix(q))
    same(found.inverse_dynamics(q, qd, qdd), wanted.inverse_dynamics(q, qd, qdd))
    same(found.potential_energy(q), wanted.potential_energy(q))


POSE = np.eye(4)
POSE[:3, :3] = turn(np.array([2.0, 1.0, -2.0]) / 3, 0.7)
POSE[:3, 3] = 0.1, -0.2, 0.3


# ---------------------------------------------------------------------------------------------- payload


@pytest.mark.parametrize("seed", SEEDS)
def test_a_payload_is_a_body_fixed_to_the_tip(seed):
    arm = fd.robots.random_chain(5, seed, prismatic=0.3, drives=True)
    mass, com, inertia = 1.7, (0.05, -0.1, 0.2), box(1.7, 0.1, 0.2, 0.3)
    by_hand = fd.Robot(
        [*arm.all_links, fd.Link("load", mass, com, inertia)],
        [*arm.all_joints, fd.Joint("grip", "link5", "load", "fixed")],
        gravity=arm.gravity,
    )
    loaded = arm.with_payload(mass, com, inertia)
    same_dynamics(loaded, by_hand)
    assert [link.name for link in loaded.all_links] == [link.name for link in arm.all_links]
    assert loaded.name == arm.name


def test_a_payload_in_the_two_link_arm_has_its_textbook_torques():
    m, l, g = 2.0, 1.0, 10.0
    arm = fd.robots.two_link(m1=1.0, m2=1.0, length=l, g=g).with_payload(m)
    q = np.array([0.4, -0.9])
    c1, c12 = np.cos(q[0]), np.cos(q.sum())
    bare = fd.robots.two_link(m1=1.0, m2=1.0, length=l, g=g).gravity_forces(q)
    same(arm.gravity_forces(q), bare + m * g * l * np.array([c1 + c12, c12]))


@pytest.mark.parametrize("link", ["link2", "link4"])
def test_holding_a_payload_still_is_carrying_its_weight(link):
    arm = fd.robots.random_tree(6, 3)
    com, mass, q = np.array([0.1, 0.2, -0.3]), 2.5, sample(arm)[0][0]
    weight = link_poses(arm, q)[link][:3, :3].T @ (mass * arm.gravity)
    wrench = {link: [*weight, *np.cross(com, weight)]}
    still = np.zeros(6)
    found = arm.with_payload(mass, com, link=link).inverse_dynamics(q, still, still)
    same(found, arm.inverse_dynamics(q, still, still, wrenches=wrench))


def test_no_payload_changes_nothing():
    arm = fd.robots.puma560()
    same_dynamics(arm.with_payload(0.0, (1, 2, 3)), arm)


def test_a_payload_on_the_base_is_not_felt():
    arm = fd.robots.puma560()
    same_dynamics(arm.with_payload(5.0, (0, 0, 1), link="base"), arm)


def test_a_payload_on_a_massless_frame_sits_in_that_frame():
    arm = fd.robots.two_link().with_tool(pose=POSE, name="flange")
    place = POSE @ [0.1, 0, 0, 1]
    same_dynamics(arm.with_payload(3.0, (0.1, 0, 0)), fd.robots.two_link().with_payload(3.0, place[:3]))


def test_several_payloads_add_up():
    arm = fd.robots.random_chain(4, 9)
    both = arm.with_payload(1.0, (0.1, 0, 0)).with_payload(2.0, (0, 0.2, 0))
    same_dynamics(both, arm.with_payload(2.0, (0, 0.2, 0)).with_payload(1.0, (0.1, 0, 0)))


@pytest.mark.parametrize("change", ["with_payload", "with_tool"])
def test_a_tree_needs_the_link_to_be_named(change):
    arm = fd.robots.dual_arm()
    with pytest.raises(fd.ArgumentError, match=r"dual_arm has 2 tips: expected link .*'left_tool', 'right_tool'"):
        getattr(arm, change)(1.0)
    assert getattr(arm, change)(1.0, link="left_tool").n == arm.n
    with pytest.raises(fd.ArgumentError, match="link is 'tool', which is no link of dual_arm"):
        getattr(arm, change)(1.0, link="tool")


def test_frames_on_the_base_are_no_tips():
    arm = fd.robots.two_link().with_tool(name="camera", link="base")
    assert tips(arm) == ["link2"]
    assert tips(arm.locked({"joint1": 0, "joint2": 0})) == ["link2", "camera"]


def test_a_payload_must_be_a_body():
    arm = fd.robots.two_link()
    with pytest.raises(fd.RobotError, match="'payload', mass: expected a number not below zero, found -1"):
        arm.with_payload(-1.0)
    with pytest.raises(fd.RobotError, match=r"'payload', com: expected shape \(3,\)"):
        arm.with_payload(1.0, (0, 0))
    with pytest.warns(fd.RobotWarning, match="the largest exceeds the sum of the others"):
        arm.with_payload(1.0, (0, 0, 0), np.diag([1.0, 1.0, 3.0]))
    with pytest.warns(fd.RobotWarning, match="but no mass"):
        arm.with_tool(0.0, (0, 0, 0), np.eye(3))


# ---------------------------------------------------------------------------------------------- tool


def test_a_tool_is_a_fixed_link_with_its_own_frame():
    arm = fd.robots.random_chain(4, 2, prismatic=0.5)
    mass, com, inertia = 1.2, (0.3, 0.1, 0), box(1.2, 0.3, 0.2, 0.1)
    held = arm.with_tool(mass, com, inertia, POSE, name="drill")
    by_hand = fd.Robot(
        [*arm.all_links, fd.Link("drill", mass, com, inertia)],
        [*arm.all_joints, fd.Joint("any", "link4", "drill", "fixed", origin=POSE)],
        gravity=arm.gravity,
    )
    same_dynamics(held, by_hand)
    q = sample(arm)[0][0]
    poses = link_poses(held, q)
    np.testing.assert_allclose(poses["drill"], poses["link4"] @ POSE, rtol=0, atol=20 * EPS)


def test_a_tool_can_be_pushed_by_name():
    arm = fd.robots.puma560().with_tool(0.4, (0, 0, 0.1), pose=POSE, name="drill")
    q, still = np.full(6, 0.3), np.zeros(6)
    push = {"drill": [0, 0, 1, 0, 0, 0]}
    assert np.abs(arm.inverse_dynamics(q, still, still, push) - arm.inverse_dynamics(q, still, still)).max() > 0.1


def test_two_tools_one_behind_the_other():
    arm = fd.robots.two_link().with_tool(0.1, name="changer", pose=POSE).with_tool(0.5, name="drill", pose=POSE)
    assert arm.all_joints[-1].parent == "changer"
    assert tips(arm) == ["drill"]
    with pytest.raises(fd.RobotError, match="two of its links have the name 'drill'"):
        arm.with_tool(0.5, name="drill")


# ---------------------------------------------------------------------------------------------- locked joints


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("make", [fd.robots.random_chain, fd.robots.random_tree])
def test_locked_joints_are_joints_at_rest(make, seed):
    """The others' part of the mass matrix, their torques and the energy: joint tails, sliders and drives included."""
    arm = make(7, seed, prismatic=0.4, drives=True)
    rng = np.random.default_rng(seed)
    at_rest = np.sort(rng.choice(7, 3, replace=False))
    free = np.setdiff1d(np.arange(7), at_rest)
    q, qd, qdd = sample(arm, seed)
    q[:, at_rest] = q[0, at_rest]
    qd[:, at_rest] = qdd[:, at_rest] = 0
    held = arm.locked({arm.joints[i].name: q[0, i] for i in at_rest})
    assert [joint.name for joint in held.joints] == [arm.joints[i].name for i in free]
    same(held.mass_matrix(q[:, free]), arm.mass_matrix(q)[:, free][:, :, free])
    same(held.inverse_dynamics(q[:, free], qd[:, free], qdd[:, free]), arm.inverse_dynamics(q, qd, qdd)[:, free])
    same(held.kinetic_energy(q[:, free], qd[:, free]), arm.kinetic_energy(q, qd))
    # links that stand on the base now no longer count as moving: their energy is a constant
    same(np.ptp(held.potential_energy(q[:, free]) - arm.potential_energy(q)), 0.0, scale=100.0)


@pytest.mark.parametrize("name", fd.robots.names())
def test_locking_does_not_move_any_link(name):
    arm = fd.robots.get(name)
    q = np.array([np.clip(0.2, j.limits.lower, j.limits.upper) for j in arm.joints])
    held = arm.locked({arm.joints[0].name: q[0]})
    before, after = link_poses(arm, q), link_poses(held, q[1:])
    for link in before:
        np.testing.assert_allclose(after[link], before[link], rtol=0, atol=20 * arm.n * EPS)


def test_a_locked_joint_has_no_motor_and_no_limits():
    held = fd.robots.puma560().locked({"joint2": 0.5})
    joint = held.all_joints[1]
    assert (joint.kind, joint.motor, joint.limits) == ("fixed", fd.Motor(), fd.Limits())
    assert held.joints[0].motor == fd.robots.puma560().joints[0].motor


def test_all_joints_may_be_locked():
    arm = fd.robots.stanford()
    q = [0.1, 0.2, 0.5, 0.3, -0.4, 0.6]
    held = arm.locked({joint.name: value for joint, value in zip(arm.joints, q, strict=True)})
    assert held.n == 0
    assert held.mass_matrix([]).shape == (0, 0)
    assert held.moving_mass == 0


def test_locking_nothing_changes_nothing():
    arm = fd.robots.dual_arm()
    same_dynamics(arm.locked({}), arm)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"joint9": 0.0}, r"locked names 'joint9', which is no moving joint of puma560: \['joint1', .*'joint6'\]"),
        ({"link1": 0.0}, "locked names 'link1'"),
        ({"joint1": 90.0}, r"locked\['joint1'\] is 90.0 rad: expected a value in \[-2.79\d*, 2.79\d*\], its limits"),
        ({"joint1": float("nan")}, r"locked\['joint1'\]: expected a finite number, found nan"),
        ({"joint1": "up"}, r"locked\['joint1'\]: expected a number, found 'up'"),
        (["joint1"], "expected a mapping from joint names to coordinates"),
    ],
)
def test_what_cannot_be_locked(values, message):
    with pytest.raises(fd.ArgumentError, match=message):
        fd.robots.puma560().locked(values)


def test_sliders_are_told_their_limits_in_metres():
    with pytest.raises(fd.ArgumentError, match=r"locked\['joint3'\] is 0.0 m: expected a value in \[0.305, 1.27\]"):
        fd.robots.stanford().locked({"joint3": 0.0})


def test_a_joint_may_be_locked_at_its_limit_and_not_twice():
    arm = fd.robots.puma560()
    held = arm.locked({"joint1": arm.joints[0].limits.upper})
    with pytest.raises(fd.ArgumentError, match="'joint1', which is no moving joint"):
        held.locked({"joint1": 0.0})


# ---------------------------------------------------------------------------------------------- joints and their copies


def test_copying_a_joint_leaves_its_axis_alone():
    for axis in np.random.default_rng(0).normal(size=(500, 3)):
        joint = fd.Joint("j", "a", "b", axis=axis)
        assert np.array_equal(replace(joint, name="k").axis, joint.axis)


def test_a_pose_is_a_matrix_or_an_origin_wherever_one_is_taken():
    place = (0.1, -0.2, 0.3)
    arm = fd.robots.two_link()
    joint = fd.Joint("j", "base", "arm", origin=place, tail=place)
    both = arm.with_mount(place), arm.with_tool(pose=place)
    made = fd.Robot([fd.Link("base"), fd.Link("arm", 1.0)], [joint], mount=place)
    for found in (joint.origin, joint.tail, both[0].mount, both[1].all_joints[-1].origin, made.mount):
        assert np.array_equal(found, fd.pose(place))
        assert not np.asarray(found).flags.writeable


def test_moving_mass_counts_what_is_fixed_to_moving_links():
    arm = fd.robots.two_link(m1=1.0, m2=2.0).with_tool(0.5, name="drill").with_tool(9.0, name="table", link="base")
    assert arm.moving_mass == 3.5
    assert "3.5 kg moving" in repr(arm)
