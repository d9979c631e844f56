"""Poses, Jacobians and their derivatives of frames: against the oracle, finite differences in it, and Pinocchio."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba.core import config

import fastdyn as fd
from fastdyn.kinematics import KEPT
from fastdyn.mechanism.poses import tips
from tests import oracle
from tests.coupled_oracle import Projected
from tests.peers import Pinocchio
from tests.samples import geared, reach, rotation
from tests.test_oracle import make_robots, random_pose

EPS = np.finfo(float).eps
Real = oracle.Real
POINT = (0.1, -0.2, 0.3)
jit_only = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="machine code only")
SIZES = [*range(1, 13), *range(1, 13), *range(1, 11)] if not config.DISABLE_JIT else [1, 2, 3, 5]  # six robots of each


def rounding(robot, q, order=1):
    """How far a sum of products along a path may be off: each link rounds what is as large as the reach, n + 3 of them.

    Derivatives of order k are sums over k joints, of products of k + 1 such numbers. 4: a rotation is four products.
    """
    return 4 * (robot.n + 3) ** order * EPS * (1 + np.linalg.norm(POINT) + reach(robot, q))


def states(robot, rng):
    q = rng.uniform(-2, 2, robot.n)
    return q, rng.uniform(-2, 2, robot.n), rng.uniform(-2, 2, robot.n)


@pytest.mark.parametrize("k", range(len(SIZES)))
def test_frames_of_random_robots(k):
    """204 robots, chains and trees: all quantities of some frame against the oracle, one state and a batch."""
    rng = np.random.default_rng([k, SIZES[k]])
    for robot in make_robots(SIZES[k], rng):
        q, qd, qdd = states(robot, rng)
        robot = robot.with_frame(
            "tcp", on=str(rng.choice([link.name for link in robot.all_links])), pose=random_pose(rng)
        )
        frame, local = ("tcp", robot.links[-1].name)[k % 2], bool(rng.integers(2))
        view = {"frame": frame, "point": POINT}
        rate, acceleration = 1 + np.abs(qd).sum(), np.abs(qdd).sum()
        for name, arguments, more, size in (
            ("forward_kinematics", (q,), {}, rounding(robot, q)),
            ("jacobian", (q,), {"local": local}, rounding(robot, q)),
            ("frame_velocity", (q, qd), {"local": local}, rounding(robot, q) * rate),
            ("frame_acceleration", (q, qd, qdd), {"local": local}, rounding(robot, q, 2) * (rate**2 + acceleration)),
            ("jacobian_derivative", (q, qd), {"local": local}, rounding(robot, q, 2) * rate),
            ("hessian", (q,), {"local": local}, rounding(robot, q, 2)),
        ):
            reference = getattr(oracle, name)(robot, *arguments, **view, **more)
            found = getattr(robot, name)(*arguments, **view, **more)
            assert np.abs(found - reference).max() <= size, (robot.name, name)
            batch = getattr(robot, name)(*(np.tile(value, (9, 1)) for value in arguments), **view, **more)
            assert np.abs(batch - reference).max() <= size, (robot.name, name)
        bias = oracle.frame_acceleration(robot, q, qd, **view, local=local)
        found = robot.jacobian_bias(q, qd, **view, local=local)
        assert np.abs(found - bias).max() <= rounding(robot, q, 2) * rate**2
        assert np.abs(robot.link_poses(q) - oracle.link_poses(robot, q)).max() <= rounding(robot, q)


def difference(function, x, k):
    """The derivative of a function of long doubles by x[k]: a central difference with the best step of that order.

    Its error is about h^2 of the third derivative (as large as the value, for sums of products of sines) plus eps / h.
    """
    h = np.finfo(Real).eps ** (Real(1) / 3)
    step = np.zeros(len(x), Real)
    step[k] = h
    return (function(x + step) - function(x - step)) / (2 * h)


@pytest.mark.parametrize("k", range(len(SIZES)))
def test_derivatives_are_limits_of_differences_in_higher_precision(k):
    """204 robots: Jacobian from poses, Hessian and dJ/dt from Jacobians, all differences in long doubles."""
    rng, local = np.random.default_rng([k, SIZES[k], 2]), bool(k % 2)
    error = 20 * np.finfo(Real).eps ** (2 / 3)
    for robot in make_robots(SIZES[k], rng):
        q, qd, _ = states(robot, rng)
        q = q.astype(Real)
        view = {"frame": robot.links[-1].name, "point": POINT}
        size = error * (1 + reach(robot, q.astype(float))) + rounding(robot, q.astype(float), 2)

        def pose(x, robot=robot, view=view):
            return oracle.forward_kinematics(robot, x, **view)

        def jacobian(x, robot=robot, view=view):
            return oracle.jacobian(robot, x, **view, local=local)

        R = pose(q)[:3, :3]
        axes = R.T if local else np.eye(3)
        J, H = robot.jacobian(q.astype(float), **view, local=local), robot.hessian(q.astype(float), **view, local=local)
        for j in range(robot.n):
            dT = difference(pose, q, j)
            W = dT[:3, :3] @ R.T
            column = np.concatenate([axes @ dT[:3, 3], axes @ np.array([W[2, 1], W[0, 2], W[1, 0]])])
            assert np.abs(J[:, j] - column).max() <= size
            assert np.abs(H[:, :, j] - difference(jacobian, q, j)).max() <= size

        def moved(t, q=q, qd=qd, jacobian=jacobian):
            return jacobian(q + t[0] * qd)

        dJ = difference(moved, np.zeros(1, Real), 0)
        found = robot.jacobian_derivative(q.astype(float), qd, **view, local=local)
        assert np.abs(found - dJ).max() <= size * (1 + np.linalg.norm(qd) ** 3)


@pytest.mark.parametrize("k", range(len(SIZES)))
def test_pinocchio_agrees(k):
    """204 robots: pose, Jacobian, dJ/dt and Hessian, along the base's and the frame's axes.

    Pinocchio's Hessian is that of a joint's own frame; its dJ/dt along the frame's axes is the derivative of the
    Jacobian there, as ours.
    """
    pytest.importorskip("pinocchio")
    rng = np.random.default_rng([k, SIZES[k], 1])
    for robot in make_robots(SIZES[k], rng):
        q, qd, _ = states(robot, rng)
        peer, joint = Pinocchio(robot), robot.joints[rng.integers(robot.n)]
        frame, rate = joint.child, 1 + np.abs(qd).sum()
        assert np.abs(robot.forward_kinematics(q, frame) - peer.pose(q, frame)).max() <= 2 * rounding(robot, q)
        moved = fd.Frame("moved joint", joint.child, np.linalg.inv(joint.tail))
        for local in (False, True):
            J = robot.jacobian(q, frame, local=local)
            assert np.abs(J - peer.jacobian(q, frame, local)).max() <= 2 * rounding(robot, q)
            dJ = robot.jacobian_derivative(q, qd, frame, local=local)
            assert np.abs(dJ - peer.jacobian_derivative(q, qd, frame, local)).max() <= 2 * rate * rounding(robot, q, 2)
            H = robot.hessian(q, moved, local=local)
            assert np.abs(H - peer.hessian(q, joint.name, local)).max() <= 2 * rounding(robot, q, 2)


@pytest.mark.parametrize("name", ["jacobian", "pose_and_jacobian", "hessian", "frame_acceleration", "link_poses"])
def test_coupled_robots_are_projected(name):
    robot = geared(7, 5, seed=3)
    rng = np.random.default_rng(0)
    q, qd, qdd = rng.normal(size=(3, 5))
    arguments = (q, qd, qdd) if name == "frame_acceleration" else (q,)
    options = {} if name == "link_poses" else {"frame": robot.links[-1].name}
    found, expected = getattr(robot, name)(*arguments, **options), getattr(Projected(robot), name)(*arguments)
    gain = max(1, np.linalg.norm(robot.G, 2)) ** 2 * (1 + np.abs(qd).sum() ** 2 + np.abs(qdd).sum())
    size = gain * rounding(robot.robot, robot.joint_positions(q), 2)
    for one, other in zip(found, expected, strict=True) if name == "pose_and_jacobian" else [(found, expected)]:
        assert np.abs(one - other).max() <= size


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.booleans())
def test_velocity_of_a_point_is_that_of_a_rigid_body(seed, local):
    """Two points of one link: v2 = v1 + w x r, the same w; and R of the frame relates local to base axes."""
    rng = np.random.default_rng(seed)
    robot = fd.robots.random_tree(5, seed % 7, 0.3)
    q, qd, _ = states(robot, rng)
    frame, r = robot.links[-1].name, rng.normal(size=3)
    one = robot.frame_velocity(q, qd, frame, local=local)
    other = robot.frame_velocity(q, qd, frame, point=r, local=local)
    R = robot.forward_kinematics(q, frame)[:3, :3]
    arm = r if local else R @ r
    size = rounding(robot, q) * (1 + np.abs(qd).sum()) * (1 + np.linalg.norm(r))
    assert np.abs(other[:3] - one[:3] - np.cross(one[3:], arm)).max() <= size
    assert np.abs(other[3:] - one[3:]).max() <= size
    base = robot.jacobian(q, frame, point=r)
    assert np.abs(robot.jacobian(q, frame, point=r, local=True) - np.kron(np.eye(2), R.T) @ base).max() <= size


# ---------------------------------------------------------------------------------------------- frames


def arm():
    return fd.robots.two_link(length=1.0).with_frame("tcp", on="link2", pose=(0.5, 0, 0))


def test_frames_are_named_and_stand_on_links_or_frames():
    robot = arm().with_frame("camera", on="tcp", pose=fd.pose((0, 0.1, 0), (0, 0, np.pi / 2))).with_frame("flange")
    assert list(robot.frames) == ["base", "link1", "link2", "tcp", "camera", "flange"]
    assert robot.frames["camera"].on == "link2"
    assert robot.frames["link1"] == fd.Frame("link1", "link1")
    np.testing.assert_allclose(robot.frames["camera"].pose[:3, 3], (0.5, 0.1, 0), rtol=0, atol=EPS)
    q = [0.3, -0.4]
    np.testing.assert_array_equal(robot.forward_kinematics(q, "flange"), robot.forward_kinematics(q))
    one = robot.forward_kinematics(q, "tcp") @ fd.pose((0, 0.1, 0), (0, 0, np.pi / 2))
    np.testing.assert_allclose(robot.forward_kinematics(q, "camera"), one, rtol=0, atol=8 * EPS)
    own = fd.Frame("mine", "link1", (0, 0, 1))
    np.testing.assert_allclose(robot.forward_kinematics(q, own)[2, 3], 1.0)


def test_frames_survive_variations_copies_and_files():
    robot = arm()
    q = [0.2, 0.3]
    pose = robot.forward_kinematics(q, "tcp")
    coupled = robot.coupled([[1, 0], [-1, 1]])
    assert np.array_equal(coupled.forward_kinematics([0.2, 0.5], "tcp"), robot.forward_kinematics([0.2, 0.3], "tcp"))
    for other in (
        pickle.loads(pickle.dumps(robot)),
        copy.deepcopy(robot),
        fd.from_toml(robot.to_toml()),
        fd.from_urdf(robot.to_urdf()),
        robot.with_payload(1.0),
        robot.with_gravity((0, 0, 0)),
        robot.without_motors(),
        coupled.robot,
    ):
        assert list(other.frames) == list(robot.frames)
        np.testing.assert_allclose(other.forward_kinematics(q, "tcp"), pose, rtol=0, atol=8 * EPS)
    assert fd.from_toml(robot.to_toml()) == robot
    assert fd.from_toml(coupled.to_toml()) == coupled
    assert tips(fd.from_urdf(robot.to_urdf())) == ["link2"]  # frames are no links
    held = robot.locked({"joint1": 0.2})
    np.testing.assert_allclose(held.forward_kinematics([0.3], "tcp"), pose, rtol=0, atol=8 * EPS)
    assert robot != robot.with_frame("other")


def test_a_tool_is_the_new_tip():
    robot = fd.robots.puma560()
    with_tool = robot.with_tool(0.5, pose=(0, 0, 0.1), name="gripper")
    q = np.full(6, 0.3)
    expected = robot.forward_kinematics(q) @ fd.pose((0, 0, 0.1))
    np.testing.assert_allclose(with_tool.forward_kinematics(q), expected, rtol=0, atol=16 * EPS)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: arm().with_frame("tcp"), "two of its links and frames have the name 'tcp'"),
        (lambda: arm().with_frame("link1"), "two of its links and frames have the name 'link1'"),
        (lambda: arm().with_tool(name="tcp"), "two of its links and frames have the name 'tcp'"),
        (lambda: arm().with_frame("f", on="nose"), "frame is 'nose', which is no link or frame of two_link"),
        (lambda: arm().with_frame("", on="link1"), "frame name: expected a name, found ''"),
        (lambda: arm().with_frame("f", pose=np.ones((4, 4))), "frame 'f', pose: expected a rotation"),
        (lambda: arm().with_frame("f", pose=(0, 0, np.nan)), "frame 'f', pose: expected finite numbers"),
        (
            lambda: fd.Robot([fd.Link("a")], [], frames=[fd.Frame("f", "b")]),
            "the link 'b' that it is on does not exist",
        ),
        (lambda: fd.Robot([fd.Link("a")], [], frames=["f"]), "expected a Frame, found 'f'"),
        (lambda: arm().jacobian([0, 0], "nose"), "frame is 'nose', which is no link or frame of two_link: expected"),
        (lambda: arm().jacobian([0, 0], fd.Frame("f", "b")), "frame 'f' is on 'b', which is no link of two_link"),
        (lambda: arm().jacobian([0, 0], point=(0, 0)), r"point: expected shape \(3,\), found shape \(2,\)"),
        (lambda: arm().jacobian([0, 0], point=(0, 0, np.inf)), "point: expected finite numbers"),
        (lambda: arm().jacobian([0, np.nan]), r"q\[1\] is nan: expected finite numbers"),
        (lambda: fd.robots.dual_arm().jacobian(np.zeros(9)), "has 2 tips: expected frame to be given, one of"),
        (lambda: arm().jacobian([0, 0, 0]), r"q has shape \(3,\), but two_link has 2 joints"),
    ],
)
def test_errors_name_the_frame(make, message):
    with pytest.raises((fd.RobotError, fd.ArgumentError), match=message):
        make()


def test_several_frames_and_the_base():
    robot, q = fd.robots.dual_arm(), np.random.default_rng(0).uniform(-0.3, 0.3, (4, 9))
    names = list(robot.frames)
    several = robot.forward_kinematics(q, names)
    assert several.shape == (4, len(names), 4, 4)
    for k, name in enumerate(names):
        assert np.array_equal(several[:, k], robot.forward_kinematics(q, name))
    out = np.empty_like(several)
    assert robot.forward_kinematics(q, names, out=out) is out
    assert np.array_equal(out, several)
    assert robot.forward_kinematics(q, []).shape == (4, 0, 4, 4)
    base = robot.base.name
    assert np.array_equal(robot.forward_kinematics(q[0], base), np.eye(4))
    assert not robot.jacobian(q[0], base).any()
    assert not robot.hessian(q[0], base).any()
    moving = [name for name in names if name in {link.name for link in robot.links}]
    expected = robot.forward_kinematics(q, moving)
    np.testing.assert_allclose(robot.link_poses(q), expected, rtol=0, atol=rounding(robot, q[0]))


def test_a_robot_without_joints_has_poses():
    post = fd.Robot([fd.Link("base"), fd.Link("top")], [fd.Joint("weld", "base", "top", "fixed", origin=(0, 0, 2))])
    q = np.zeros((3, 0))
    assert post.forward_kinematics(q)[:, 2, 3].tolist() == [2, 2, 2]
    pose, J = post.pose_and_jacobian(q, point=(1, 0, 0))
    assert pose[0, :3, 3].tolist() == [1, 0, 2]
    assert J.shape == (3, 6, 0)
    assert not post.frame_velocity(q, q).any()
    assert post.hessian(q).shape == (3, 6, 0, 0)


def test_a_robot_keeps_the_frames_prepared_last_only():
    robot = fd.robots.two_link()
    for k in range(KEPT + 5):
        robot.jacobian([0.0, 0.0], point=[0.0, 0.0, float(k)])
    assert len(robot._views) == KEPT


def test_fleets_may_have_frames_at_other_places():
    robots = [
        fd.robots.two_link(length=1.0).with_frame("tcp", pose=rot)
        for rot in (np.eye(4), fd.pose((0.1, 0, 0), (1, 2, 3)))
    ]
    fleet, rng = fd.stack(robots), np.random.default_rng(0)
    for lead in ((2,), (5, 2), (40, 1)):
        q = rng.uniform(-2, 2, (*lead, 2))
        for local in (False, True):
            pose, J = fleet.pose_and_jacobian(q, "tcp", local=local)
            for k, robot in enumerate(robots):
                own = q[..., min(k, lead[-1] - 1), :]
                one, other = robot.pose_and_jacobian(own, "tcp", local=local)
                np.testing.assert_allclose(pose[..., k, :, :], one, rtol=0, atol=20 * EPS)
                np.testing.assert_allclose(J[..., k, :, :], other, rtol=0, atol=20 * EPS)
    elsewhere = fd.robots.two_link().with_frame("tcp", on="link1")
    with pytest.raises(fd.RobotError, match=r"robots\[1\]: expected the frame on the same link as of robots\[0\]"):
        fd.stack([robots[0], elsewhere]).jacobian([0, 0], "tcp")


# ---------------------------------------------------------------------------------------------- control loops


@jit_only
def test_bound_calls_and_c_functions_of_a_frame():
    robot = arm()
    loop = robot.bind("jacobian", "forward_kinematics", "frame_acceleration", frame="tcp", point=POINT, local=True)
    loop.q[:], loop.qd[:], loop.qdd[:] = [0.4, -0.7], [1.0, 2.0], [0.5, -0.5]
    view = {"frame": "tcp", "point": POINT}
    size = rounding(robot, loop.q) * 10
    for twin in (loop, pickle.loads(pickle.dumps(loop))):
        assert twin.jacobian() == twin.forward_kinematics() == twin.frame_acceleration() == 0
        np.testing.assert_allclose(twin.J, robot.jacobian(loop.q, **view, local=True), rtol=0, atol=size)
        np.testing.assert_allclose(twin.pose, robot.forward_kinematics(loop.q, **view), rtol=0, atol=size)
        expected = robot.frame_acceleration(loop.q, loop.qd, loop.qdd, **view, local=True)
        np.testing.assert_allclose(twin.acceleration, expected, rtol=0, atol=size)
    loop.qdd[:] = 0
    assert loop.frame_acceleration() == 0
    bias = robot.jacobian_bias(loop.q, loop.qd, **view, local=True)
    np.testing.assert_allclose(loop.acceleration, bias, rtol=0, atol=size)
    function = robot.c_function("jacobian", "tcp", POINT, True)
    assert function.declaration == "int64_t jacobian(const double *q, double *J, void *workspace)"
    assert pickle.loads(pickle.dumps(function)).view == function.view


@jit_only
def test_a_robot_with_several_tips_is_bound_without_kinematics_unless_a_frame_is_named():
    robot = fd.robots.dual_arm()
    loop = robot.bind("gravity_forces")
    assert loop.gravity_forces() == 0
    with pytest.raises(fd.ArgumentError, match="has 2 tips: expected frame to be given"):
        robot.bind("jacobian")
    with pytest.raises(fd.ArgumentError, match="has 2 tips: expected frame to be given"):
        robot.c_function("hessian")
    last = robot.links[-1].name
    loop = robot.bind("jacobian", frame=last)
    assert loop.jacobian() == 0
    np.testing.assert_allclose(loop.J, robot.jacobian(np.zeros(9), last), rtol=0, atol=rounding(robot, np.zeros(9)))


def test_a_rotated_base_does_not_matter():
    """Poses are those in the base link's frame, wherever the base is mounted."""
    robot = fd.robots.puma560()
    mount = np.eye(4)
    mount[:3, :3] = rotation(np.array([0.3, -1, 0.5]))
    q = np.full(6, 0.4)
    assert np.array_equal(robot.with_mount(mount).forward_kinematics(q), robot.forward_kinematics(q))
