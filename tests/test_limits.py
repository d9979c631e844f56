"""Limits as arrays, of joints and of the coordinates that drive them; states and torques checked against them."""

import copy
import pickle

import numpy as np
import pytest

import fastdyn as fd
from fastdyn.mechanism.limits import joint_ranges


def slider_arm() -> fd.Robot:
    links = [fd.Link("base"), *(fd.Link(name, 1.0) for name in ("upper", "lower", "hand"))]
    joints = [
        fd.Joint("swing", "base", "upper", limits=fd.Limits(-1.0, 2.0, velocity=3.0, effort=40.0)),
        fd.Joint("slide", "upper", "lower", "prismatic", limits=fd.Limits(0.0, 0.5, effort=10.0)),
        fd.Joint("free", "lower", "hand"),
    ]
    return fd.Robot(links, joints, name="slider arm")


@pytest.mark.parametrize("name", fd.robots.names())
def test_arrays_hold_the_limits_of_the_joints(name):
    robot = fd.robots.get(name)
    limits = robot.limits
    assert (limits.position.shape, limits.velocity.shape, limits.effort.shape) == ((robot.n, 2), (robot.n,), (robot.n,))
    for i, joint in enumerate(robot.joints):
        assert tuple(limits.position[i]) == (joint.limits.lower, joint.limits.upper)
        assert (limits.velocity[i], limits.effort[i]) == (joint.limits.velocity, joint.limits.effort)


def test_arrays_are_read_only_in_copies_too():
    limits = slider_arm().limits
    for each in (limits, copy.deepcopy(limits), pickle.loads(pickle.dumps(limits))):
        for array in (each.position, each.velocity, each.effort):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 1.0


def test_a_robot_that_does_not_move_has_no_limits():
    block = fd.Robot([fd.Link("block")], [])
    assert block.limits.position.shape == (0, 2)
    block.check_limits([], [], [])


def test_within_limits_nothing_is_raised():
    arm = slider_arm()
    arm.check_limits()
    arm.check_limits([2.0, 0.0, 1e6], [-3.0, 1e6, 1e6], [40.0, -10.0, 1e6])
    arm.check_limits(q=np.zeros((0, 3)))
    arm.check_limits(q=[2.0 * (1 + 1e-12), 0.0, 0.0])  # rounding
    arm.check_limits(tau=np.zeros((4, 5, 3)))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"q": [2.5, 0.1, 0.0]}, "q of joint 'swing' is 2.5 rad: expected -1.0 to 2.0 rad, its limits"),
        (
            {"q": [[0.0, 0.1, 0.0], [0.0, -0.25, 0.0], [9.0, 0.1, 0.0]]},
            "q of joint 'slide' in sample 1 is -0.25 m: expected 0.0 to 0.5 m, its limits; 2 of 3 samples are outside",
        ),
        (
            {"qd": np.full((2, 3, 3), -4.0)},
            "qd of joint 'swing' in sample (0, 0) is -4.0 rad/s: expected -3.0 to 3.0 rad/s, its limits; "
            "6 of 6 samples are outside",
        ),
        ({"tau": [0.0, 11.0, 0.0]}, "tau of joint 'slide' is 11.0 N: expected -10.0 to 10.0 N, its limits"),
        ({"tau": [41.0, 11.0, 0.0]}, "tau of joint 'swing' is 41.0 N m: expected -40.0 to 40.0 N m, its limits"),
    ],
)
def test_what_is_outside_is_named_with_joint_sample_value_and_limits(values, message):
    with pytest.raises(fd.LimitError) as found:
        slider_arm().check_limits(**values)
    assert str(found.value) == message
    assert isinstance(found.value, fd.FastdynError)
    assert isinstance(found.value, ValueError)


@pytest.mark.parametrize("seed", range(5))
def test_samples_are_counted_as_a_loop_would(seed):
    arm = fd.robots.panda()
    q = np.random.default_rng(seed).uniform(-3, 3, (50, 7))
    limits = [joint.limits for joint in arm.joints]
    bad = [k for k in range(50) if any(not limits[i].lower <= q[k, i] <= limits[i].upper for i in range(7))]
    with pytest.raises(fd.LimitError, match=rf"in sample {bad[0]} .*; {len(bad)} of 50 samples"):
        arm.check_limits(q)


def test_values_of_the_wrong_shape_or_kind_are_named():
    arm = slider_arm()
    with pytest.raises(fd.ArgumentError, match=r"qd has shape \(2,\), but slider arm has 3 joints"):
        arm.check_limits(qd=[0.0, 0.0])
    with pytest.raises(fd.NotFiniteError, match=r"tau\[1\] is nan"):
        arm.check_limits(tau=[0.0, np.nan, 0.0])


# ---------------------------------------------------------------------------------------------- coupled robots


def geared() -> fd.CoupledRobot:
    """swing = -2 a + 0.5, slide = 0.1 a, free = a + b."""
    return slider_arm().coupled([[-2.0, 0.0], [0.1, 0.0], [1.0, 1.0]], [0.5, 0.0, 0.0], names=("a", "b"))


def test_coordinates_keep_the_joints_that_they_alone_drive_within_limits():
    limits = geared().limits
    # swing allows a from -0.75 to 0.75, slide from 0 to 5; free, which both drive, has no limits
    np.testing.assert_allclose(limits.position, [[0.0, 0.75], [-np.inf, np.inf]], rtol=1e-15)
    np.testing.assert_allclose(limits.velocity, [1.5, np.inf], rtol=1e-15)
    assert limits.effort.tolist() == [np.inf, np.inf]  # free bears any torque


def test_efforts_add_up_by_virtual_work():
    arm = slider_arm().locked({"free": 0.0}).coupled([[2.0], [-0.5]], [0.0, 0.1], names=("a",))
    assert arm.limits.effort.tolist() == [2.0 * 40.0 + 0.5 * 10.0]
    arm.check_limits(tau=[85.0])
    with pytest.raises(
        fd.LimitError, match=r"tau of coordinate 'a' is 86.0 N m: expected -85.0 to 85.0 N m, its limits"
    ):
        arm.check_limits(tau=[86.0])


@pytest.mark.parametrize("seed", range(3))
def test_limits_of_coordinates_are_those_within_which_no_joint_leaves_its_own(seed):
    arm = geared()
    low, high = arm.limits.position.T
    phi = np.random.default_rng(seed).uniform(-1, 1, (100, 2))
    q = arm.joint_positions(phi)
    joints = arm.robot.limits.position
    inside = ((q >= joints[:, 0]) & (q <= joints[:, 1])).all(axis=1)
    assert 0 < inside.sum() < 100
    np.testing.assert_array_equal(((phi >= low) & (phi <= high)).all(axis=1), inside)
    arm.check_limits(q=phi[inside])
    with pytest.raises(fd.LimitError, match=f"{100 - inside.sum()} of 100 samples"):
        arm.check_limits(q=phi)


def test_coordinates_have_limits_of_their_own_besides_those_of_their_joints():
    own = fd.Limits(-0.5, 0.5, velocity=1.0, effort=30.0)
    arm = slider_arm().coupled([[1, 0, 0], [0, 0.1, 0], [1, 0, 1]], names=("a", "b", "c"), limits=(own, own, own))
    np.testing.assert_allclose(arm.limits.position, [[-0.5, 0.5], [0.0, 0.5], [-0.5, 0.5]], rtol=1e-15)
    assert arm.limits.velocity.tolist() == [1.0, 1.0, 1.0]
    assert arm.limits.effort.tolist() == [30.0, 1.0, 30.0]
    arm.check_limits([0.5, 0.5, -0.5], [1, 1, 1], [30, 1, 30])
    for values, message in (
        ({"q": [0, 0, 0.75]}, "q of coordinate 'c' is 0.75 rad: expected -0.5 to 0.5 rad"),
        ({"q": [0, -0.25, 0]}, "q of joint 'slide' is -0.025 m: expected 0.0 to 0.5 m"),
        ({"qd": [0, 2, 0]}, "qd of coordinate 'b' is 2.0 m/s: expected -1.0 to 1.0 m/s"),
        ({"tau": [0, 0, 31]}, "tau of coordinate 'c' is 31.0 N m: expected -30.0 to 30.0 N m"),
    ):
        with pytest.raises(fd.LimitError, match=message):
            arm.check_limits(**values)


def test_ranges_of_joints_are_narrowed_by_the_coordinate_that_alone_drives_them():
    own = fd.Limits(-0.5, 0.25)
    arm = slider_arm().coupled([[-1, 0, 0], [0, 0.1, 0], [1, 0, 1]], [0.5, 0, 0], limits=(own, own, own))
    expected = [[0.25, 1.0], [0.0, 0.025], [-np.inf, np.inf]]
    np.testing.assert_allclose(joint_ranges(arm.description), expected, rtol=1e-15)
    assert np.array_equal(joint_ranges(slider_arm().description), slider_arm().limits.position)


def test_limits_of_coordinates_stay_with_them():
    own = fd.Limits(-0.5, 0.5)
    arm = slider_arm().coupled(np.eye(3), names=("a", "b", "c"), limits=(None, own, own))
    assert arm.locked({"b": 0.25}).coupling.limits == (fd.Limits(), own)
    assert arm.without_friction() == arm
    assert fd.from_toml(arm.to_toml()) == arm
    assert "limits of b: -0.5 to 0.5 m" in str(arm)
    with pytest.raises(fd.ArgumentError, match=r"locked\['c'\] is 0.75: expected a value in \[-0.5, 0.5\], its limits"):
        arm.locked({"c": 0.75})
    with pytest.raises(fd.RobotError, match="coordinate 'b' has limits: expected motors and limits only on"):
        arm.coupled(np.eye(3))
    named = slider_arm().coupled(np.eye(3), names=("swing", "slide", "free"), limits=(own, None, None))
    assert isinstance(named.locked({"slide": 0.1}), fd.CoupledRobot)  # not the joints alone
    with pytest.raises(fd.RobotError, match="cannot express the limits of coordinate 'swing'"):
        named.to_urdf()
    with pytest.raises(fd.RobotError, match=r"limits: expected 3, one for each coordinate, found 1"):
        slider_arm().coupled(np.eye(3), limits=[own])
    with pytest.raises(fd.RobotError, match=r"limits\[1\], of 'phi2': expected a Limits or None, found 3"):
        slider_arm().coupled(np.eye(3), limits=[own, 3, None])


def test_joints_that_several_coordinates_drive_are_checked_too():
    arm = slider_arm().coupled([[1.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    assert arm.limits.position[0].tolist() == [-np.inf, np.inf]
    with pytest.raises(fd.LimitError, match=r"q of joint 'swing' is 2.25 rad: expected -1.0 to 2.0 rad"):
        arm.check_limits(q=[2.0, 0.25, 0.0])
    with pytest.raises(fd.LimitError, match=r"qd of joint 'swing' is 4.0 rad/s"):
        arm.check_limits(qd=[2.0, 2.0, 0.0])
    with pytest.raises(fd.ArgumentError, match="but slider arm has 3 coordinates"):
        arm.check_limits(q=[0.0])
