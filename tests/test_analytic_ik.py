"""Inverse kinematics in closed form: all solutions, singular and unreachable poses, and which arms are recognised."""

import math

import numpy as np
import pytest

import fastdyn as fd
from fastdyn.errors import ArgumentError, NoClosedFormError, NotFiniteError
from fastdyn.ik.analytic import EXACT, Solutions, continuous
from fastdyn.ik.entries import CLOSED_FORM, closed_form_scratch
from fastdyn.kernels.conic_circle import lines, polished

ACCURACY = 1e-9  # of poses, m and rad: what all solutions keep, on every arm
EPS = np.finfo(float).eps
X, Y, Z = np.eye(3)
W = np.array([0.5, 0.1, 0.7])  # where wrists meet
WRIST_X, WRIST_Z = [("R", X, W - 0.1 * X), ("R", Y, W), ("R", X, W + 0.05 * X)], [("R", h, W) for h in (Z, Y, Z)]
OBLIQUE = [("R", X, W), ("R", (1, 1, 0.2), W), ("R", (0.2, 1, 0.5), W)]
TURRET, SKEW = ("R", Z, (0, 0, 0)), (0.3, 0.4, -0.6)
# joints at q = 0: kind, axis, a point of it; and the number of branches
ARMS = {
    "gantry": ([("P", X, (0, 0, 0)), ("P", Y, (0, 0, 0.2)), ("P", Z, (0, 0, 0.3)), *WRIST_X], 2),
    "oblique gantry": ([("P", X, (0, 0, 0)), ("P", (0.2, 1, 0), Z), ("P", (0, 0.3, 1), X), *OBLIQUE], 2),
    "two slide, then one turns": ([("P", X, (0, 0, 0)), ("P", Y, (0, 0, 0)), ("R", Y, (0.2, 0.1, 0.3)), *WRIST_Z], 4),
    "cylindrical": ([TURRET, ("P", Z, (0, 0, 0.2)), ("P", X, (0.2, 0.1, 0.3)), *WRIST_Z], 4),
    "cylindrical, lift first": ([("P", Z, (0, 0, 0)), ("R", Z, (0, 0, 0)), ("P", X, (0.2, 0.1, 0.3)), *WRIST_Z], 4),
    "scara": ([TURRET, ("R", Z, (0.3, 0, 0.2)), ("P", Z, (0.2, 0.1, 0.3)), *WRIST_X], 4),
    "1 and 2 parallel": ([TURRET, ("R", Z, (0.3, 0, 0.2)), ("R", X, (0.2, 0.1, 0.3)), *WRIST_Z], 8),
    "lift, then 2 and 3 parallel": ([("P", Z, (0, 0, 0)), ("R", Z, (0, 0, 0)), ("R", Z, X), *WRIST_X], 4),
    "lift, then 2 and 3 meet": ([("P", Z, (0, 0, 0)), ("R", X, (0, 0.1, 0)), ("R", Y, (0.1, 0.1, 0)), *WRIST_Z], 8),
    "1 and 3 parallel": ([TURRET, ("P", (0.3, 0, 1), (0, 0, 0)), ("R", Z, (0.2, 0.1, 0.3)), *WRIST_X], 4),
    "1 and 2 meet": ([TURRET, ("R", (1, 0, 0.3), (0, 0, 0.2)), ("R", (0, 1, 0.4), (0.2, 0.1, 0.3)), *OBLIQUE], 8),
    "2 and 3 meet": ([TURRET, ("R", (1, 0, 0.3), 0.1 * X), ("R", (0, 1, 0.4), 0.1 * X), *WRIST_Z], 8),
    "skew": ([TURRET, ("R", (1, 0.2, 0.5), 0.1 * X), ("R", (0, 1, 0.4), (0.4, 0.1, 0.2)), *WRIST_X], 8),
    "skew, by little": ([TURRET, ("R", (1, 0, 0.5), 0.04 * Y), ("R", Y, (0.4, 0, 0.23)), *WRIST_X], 8),
    "skew, 2 and 3 farther": ([TURRET, ("R", (1, 0, 0.5), 0.1 * Y), ("R", (0, 1, 0.4), (0.4, 0.6, 0.9)), *OBLIQUE], 8),
    "skew wrist at the base": ([*WRIST_X, ("R", Y, X), ("R", (1, 0, 0.3), (1, 0.2, 0.3)), ("R", SKEW, 1.5 * X)], 8),
    "2 and 3 opposite": ([TURRET, ("R", Y, (0.1, 0, 0.2)), ("R", -Y, (0.1, 0.1, 0.6)), *WRIST_X], 8),
    "wrist at the base": ([*WRIST_X, ("R", Y, (0.7, 0.2, 0.3)), ("R", -Y, (0.9, 0.2, 0.3)), ("R", SKEW, X)], 8),
    "2, 3, 4 parallel": (
        [("R", (0.2, 0, 1), (0, 0, 0)), ("R", Y, (0.1, 0.1, 0.2)), ("R", -Y, (0.4, 0.2, 0.3)),
         ("R", Y, (0.7, 0.2, 0.35)), ("R", (1, 0.5, 0.1), (0.9, 0.3, 0.4)), ("R", (0.2, 0.3, 1), (0.9, 0.3, 0.4))], 8,
    ),
    "3, 4, 5 parallel": (
        [("R", Z, (0, 0, 0)), ("R", Y, (0, 0.1, 0.2)), ("R", X, (0.1, 0.2, 0.3)), ("R", -X, (0.1, 0.2, 0.6)),
         ("R", X, (0.1, 0.5, 0.6)), ("R", SKEW, (0.4, 0.5, 0.7))], 8,
    ),
}  # fmt: skip
BUILT_IN = ("irb1400", "puma560", "stanford", "ur5")


def arm_of(joints, name="arm", tip=(0.1, 0.05, 0.2), rpy=(0.3, -0.5, 0.8), fingers=()):
    """A robot from (kind, axis, point) at q = 0, with a tool fixed to its last link; fingers: joints on that link."""
    links, made, last = [fd.Link("link0")], [], np.zeros(3)
    for k, (kind, axis, point) in enumerate(joints, 1):
        links.append(fd.Link(f"link{k}", 1.0))
        kind = "revolute" if kind == "R" else "prismatic"
        made.append(fd.Joint(f"joint{k}", f"link{k - 1}", f"link{k}", kind, np.subtract(point, last), axis))
        last = np.asarray(point)
    links.append(fd.Link("tool"))
    made.append(fd.Joint("fixed", f"link{len(joints)}", "tool", "fixed", fd.pose(tip, rpy)))
    for k, limits in enumerate(fingers, 1):
        links.append(fd.Link(f"finger{k}", 0.1))
        made.insert(0, fd.Joint(f"grip{k}", f"link{len(joints)}", f"finger{k}", "prismatic", axis=Y, limits=limits))
    return fd.Robot(links, made, name)


def positions(arm, count, seed=0):
    """Random positions, (count, n): angles in a whole turn, travels within limits or a metre."""
    sliding = sliding_joints(arm)
    low, high = np.array([(joint.limits.lower, joint.limits.upper) for joint in arm.joints]).T
    low, high = (np.where(sliding, np.clip(limit, -1, 1), way * math.pi) for limit, way in ((low, -1), (high, 1)))
    return np.random.default_rng(seed).uniform(low, high, (count, len(arm.joints)))


def sliding_joints(arm):
    return np.array([joint.kind == "prismatic" for joint in arm.joints])


def apart(q, other, sliding=False):
    """The largest difference of coordinates, angles up to whole turns."""
    difference = np.asarray(q) - other
    return np.abs(np.where(sliding, difference, np.angle(np.exp(1j * difference)))).max(axis=-1)


def pose_errors(arm, solutions, T, frame=None):
    """The largest difference of elements, of every valid solution."""
    reached = arm.forward_kinematics(solutions.q[solutions.valid], frame)
    return np.abs(reached - np.broadcast_to(T[..., None, :, :], (*solutions.valid.shape, 4, 4))[solutions.valid])


def check_all(arm, count=100, branches=8, frame=None):
    """The true positions are among the solutions, and every solution reproduces its pose."""
    q = positions(arm, count)
    T = arm.forward_kinematics(q, frame)
    s = arm.inverse_kinematics_all(T, frame)
    assert s.q.shape == (count, branches, 6)
    assert s.valid.shape == s.singular.shape == (count, branches)
    assert np.array_equal(np.isnan(s.q).any(axis=-1), ~s.valid)
    assert pose_errors(arm, s, T, frame).max() < ACCURACY
    # positions follow from poses up to the condition of the Jacobian, which random positions make large now and then
    condition = np.linalg.cond(arm.jacobian(q, frame))
    nearest = np.nanmin(apart(s.q, q[:, None], sliding_joints(arm)), axis=-1)
    assert (nearest < 1e-12 * np.maximum(condition, 100) ** 2).all()
    assert not s.singular.any()
    return s


@pytest.mark.parametrize("name", ARMS)
def test_each_kind_of_arm_is_solved(name):
    joints, branches = ARMS[name]
    check_all(arm_of(joints, name), branches=branches)


@pytest.mark.parametrize("name", BUILT_IN)
def test_built_in_arms_are_solved_completely(name):
    s = check_all(fd.robots.get(name))
    if name in ("puma560", "stanford"):  # every branch has a solution near the middle of the range
        assert s.valid.mean() > 0.9


def test_different_branches_are_different_solutions():
    arm = fd.robots.puma560()
    s = arm.inverse_kinematics_all(arm.forward_kinematics([0.1, 0.2, 0.3, 0.4, 0.5, 0.6]))
    assert s.valid.all()
    gaps = apart(s.q[:, None], s.q[None])
    assert gaps[~np.eye(8, dtype=bool)].min() > 0.1


def test_conics_meet_the_circle_in_the_roots_of_a_quartic():
    """With t = tan(angle / 2) the same points are the real roots of a polynomial."""
    rng = np.random.default_rng(3)
    for _ in range(200):
        cc, ss, one, cs, c1, s1 = Q = tuple(rng.normal(size=6))
        found = []
        for a, b, d in lines(Q):
            if (radicand := a * a + b * b - d * d) > 0:
                for side in (1, -1):
                    angle = math.atan2(b, a) + side * math.atan2(math.sqrt(radicand), -d)
                    value, residual = polished(Q, (math.sin(angle), math.cos(angle)))
                    if abs(residual) < 100 * EPS * np.abs(Q).sum():  # else the lines are not real
                        found.append(math.tan(0.5 * math.atan2(*value)))
        # cos = (1 - t^2) / (1 + t^2), sin = 2 t / (1 + t^2)
        quartic = [cc + one - 2 * c1, 4 * s1 - 4 * cs, 4 * ss + 2 * one - 2 * cc, 4 * cs + 4 * s1, cc + one + 2 * c1]
        roots = np.roots(quartic)
        real = np.sort(roots[np.abs(roots.imag) < 1e-9].real)
        assert len(found) == len(real)
        assert np.allclose(np.sort(found), real, rtol=1e-7, atol=1e-7)  # np.roots loses half the digits of near roots


# ---------------------------------------------------------------------------------------------- Norrlöf's report

THETA_0 = np.array([0, -math.pi / 2, 0, 0, 0, math.pi])  # (2.24): theta = q + theta0
WRIST_CENTRE = np.array([1.0877, 0.1091, 0.8235])
EXAMPLE_1 = np.array([[0.1, -1.1567, 0.0297], [0.1, 0.4488, -2.8410], [-3.0416, -2.6007, -1.8924], [-3.0416, -3.1359, -0.9189]])  # fmt: skip  # noqa: E501
EXAMPLE_2 = np.array([[2.9128, 0.4540, 0.2070], [-0.2288, -0.4540, -2.9346]])
R = np.array([[-0.0003, -0.1983, 0.9801], [0.0007, 0.9801, 0.1983], [-1.0, 0.0007, -0.0001]])
R03 = np.array([[0.4272, 0.0998, 0.8986], [0.0429, -0.9950, 0.0902], [0.9031, 0.0, -0.4294]])
LAST_DIGIT = 0.5e-4


def wrist_centre(T):
    """(2.28)"""
    return T[..., :3, 3] - 0.085 * T[..., :3, 2]


def test_examples_1_and_2_of_norrlofs_report():
    """The first printed rows, as one posture, have the printed inputs and all printed results to the digits printed."""
    arm = fd.robots.irb1400()
    q = np.concatenate([EXAMPLE_1[0], EXAMPLE_2[0]]) - THETA_0
    T = arm.forward_kinematics(q)
    assert np.abs(wrist_centre(T) - WRIST_CENTRE).max() < LAST_DIGIT
    assert np.abs(T[:3, :3] - R).max() < LAST_DIGIT
    assert np.abs(arm.forward_kinematics(q, "link3")[:3, :3] - R03).max() < LAST_DIGIT
    s = arm.inverse_kinematics_all(T)
    theta = s.q + THETA_0
    assert s.valid.all()
    assert not s.singular.any()  # s = 0 in Example 2
    for row in EXAMPLE_1:
        found = apart(theta[:, :3], row) < LAST_DIGIT
        assert found.sum() == 2  # two positions of the wrist each
        if row is EXAMPLE_1[0]:
            for wrist in EXAMPLE_2:
                assert (apart(theta[found, 3:], wrist) < LAST_DIGIT).sum() == 1


def test_example_1_from_its_rounded_input():
    """From the four digits of the wrist centre alone, last digits differ, by no more than its rounding explains."""
    arm = fd.robots.irb1400()
    T = np.eye(4)
    T[:3, 3] = WRIST_CENTRE + 0.085 * Z
    s = arm.inverse_kinematics_all(T)
    theta = s.q + THETA_0
    differences = []
    for row in EXAMPLE_1:
        k = int(np.argmin(apart(theta[:, :3], row)))
        q = s.q[k]
        J = arm.jacobian(q, point=(0, 0, -0.085))[:3, :3]  # of the wrist centre, which joints 1 to 3 move
        explained = LAST_DIGIT * np.abs(np.linalg.inv(J)).sum(axis=1) + LAST_DIGIT
        difference = np.abs(np.angle(np.exp(1j * (theta[k, :3] - row))))
        assert (difference < 1.01 * explained).all()  # first order in the rounding
        differences.append(difference.max())
    assert 1e-4 < max(differences) < 3e-4  # so the printed digits do not follow from the printed input


# ---------------------------------------------------------------------------------------------- singular, unreachable


@pytest.mark.parametrize(("q5", "sign"), [(0.0, 1), (math.pi, -1)])
def test_parallel_wrist_axes_determine_a_sum_or_a_difference(q5, sign):
    arm = fd.robots.irb1400()
    q = np.array([0.3, 0.2, -0.1, 0.7, q5, 0.4])
    T = arm.forward_kinematics(q)
    s = arm.inverse_kinematics_all(T)
    mine = s.valid & (apart(s.q[:, :3], q[:3]) < 1e-7)
    assert mine.sum() == 2  # both branches of the wrist coincide
    assert (s.singular[mine] == sign).all()
    assert not s.q[mine, 3].any()
    assert (apart(s.q[mine, 5:], q[5] + sign * q[3]) < 1e-12).all()
    assert (s.singular[~mine] == 0).all()
    assert pose_errors(arm, s, T).max() < ACCURACY


def test_parallel_axes_4_and_6_of_a_ur5():
    arm = fd.robots.ur5()
    T = arm.forward_kinematics([0.3, -0.8, 1.2, 0.5, 0.0, 0.4])
    s = arm.inverse_kinematics_all(T)
    assert (np.abs(s.singular) == 1).any()
    assert not s.q[np.abs(s.singular) == 1, 5].any()
    assert pose_errors(arm, s, T).max() < ACCURACY


def test_wrist_on_the_first_axis():
    """(2.29) is not defined: the first angle is free, and taken as 0."""
    arm = fd.robots.irb1400()
    to_axis = [
        q3
        for q3 in np.linspace(-3, 3, 2001)
        if abs(wrist_centre(arm.forward_kinematics([0, -1.2, q3, 0, 0, 0]))[0]) < 2e-3
    ]
    low, high = to_axis[0] - 5e-3, to_axis[0] + 5e-3

    def off(q3):
        return wrist_centre(arm.forward_kinematics([0.0, -1.2, q3, 0.0, 0.0, 0.0]))[0]

    for _ in range(80):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if off(low) * off(middle) <= 0 else (middle, high)
    T = arm.forward_kinematics([0.7, -1.2, low, 0.4, 0.5, 0.6])
    s = arm.inverse_kinematics_all(T)
    assert s.reachable
    assert (s.singular[s.valid] == 2).all()
    assert not s.q[s.valid, 0].any()
    assert pose_errors(arm, s, T).max() < ACCURACY


def test_stretched_elbow_is_reached_and_nothing_beyond_it():
    arm = fd.robots.irb1400()
    q = np.array([0.3, 0.2, math.atan2(0.72, 0.12) - math.pi, 0.7, 0.5, 0.4])
    centre = arm.forward_kinematics(q, "link1")[:3, 3]  # axis 2
    reach = 0.6 + math.hypot(0.72, 0.12)
    for beyond, reachable in ((0.0, True), (1e-14, True), (1e-6, False)):
        T = arm.forward_kinematics(q)
        away = wrist_centre(T) - centre
        T[:3, 3] += away * (reach * (1 + beyond) / np.linalg.norm(away) - 1)
        s = arm.inverse_kinematics_all(T)
        near = s.valid & (apart(s.q[:, :1], q[:1]) < 1e-6)
        assert near.any() == reachable
        if reachable:
            assert pose_errors(arm, s, T).max() < ACCURACY


def test_unreachable_poses_have_no_valid_branch():
    arm = fd.robots.puma560()
    T = arm.forward_kinematics(np.zeros((2, 6)))
    T[1, :3, 3] = 9.0
    s = arm.inverse_kinematics_all(T)
    assert s.reachable.tolist() == [True, False]
    assert np.isnan(s.q[1]).all()
    assert not s.singular[1].any()


@pytest.mark.parametrize("name", ["skew", "1 and 2 meet", "2 and 3 opposite", "2, 3, 4 parallel", "oblique gantry"])
def test_poses_of_which_many_are_unreachable(name):
    arm = arm_of(ARMS[name][0], name)
    rng = np.random.default_rng(4)
    T = np.tile(np.eye(4), (200, 1, 1))
    T[:, :3, :3] = fd.rotations.from_vector(rng.uniform(-2, 2, (200, 3)))
    T[:, :3, 3] = rng.uniform(-1, 1, (200, 3))
    s = arm.inverse_kinematics_all(T)
    assert 0.1 < s.reachable.mean() < 0.95
    assert pose_errors(arm, s, T).max() < ACCURACY


# ---------------------------------------------------------------------------------------------- limits, coordinates


def test_limits_keep_the_solutions_within_them():
    arm = fd.robots.puma560()
    low, high = arm.limits.position.T
    T = arm.forward_kinematics(np.random.default_rng(5).uniform(low, high, (200, 6)))
    s, every = arm.inverse_kinematics_all(T, limits=True), arm.inverse_kinematics_all(T)
    assert s.reachable.all()
    arm.check_limits(s.q[s.valid])
    turns = 2 * math.pi * np.arange(-2, 3)
    with np.errstate(invalid="ignore"):
        inside = ((every.q[..., None] + turns >= low[:, None]) & (every.q[..., None] + turns <= high[:, None])).any(-1)
    assert np.array_equal(s.valid, inside.all(axis=-1))
    assert 0.1 < s.valid.mean() < 0.9
    assert apart(s.q[s.valid], every.q[s.valid]).max() == pytest.approx(0.0, abs=1e-14)


def test_branches_outside_limits_are_not_singular():
    arm = fd.robots.puma560()
    T = arm.forward_kinematics([0.1, 0.2, 0.3, 0.4, math.pi, 0.6])  # joint 5 turns by 100 degrees at most
    assert (arm.inverse_kinematics_all(T).singular == -1).any()
    s = arm.inverse_kinematics_all(T, limits=True)
    assert s.reachable
    assert not s.singular.any()


@pytest.mark.parametrize("limits", [(4.0, 9.0), (-math.inf, -5.0), (7.0, math.inf), (-8.0, -1.0)])
def test_angles_are_moved_by_whole_turns_into_limits(limits):
    joints, _ = ARMS["2 and 3 opposite"]
    free = arm_of(joints)
    moved = [fd.Joint(j.name, j.parent, j.child, j.kind, j.origin, j.axis, j.tail, fd.Limits(*limits) if j.name == "joint6" else fd.Limits()) for j in free.all_joints]  # fmt: skip  # noqa: E501
    arm = fd.Robot(free.all_links, moved)
    T = arm.forward_kinematics(positions(free, 100))
    s, every = arm.inverse_kinematics_all(T, limits=True), free.inverse_kinematics_all(T)
    arm.check_limits(s.q[s.valid])
    assert apart(s.q[s.valid], every.q[s.valid]).max() < 1e-13
    span = min(1.0, (limits[1] - limits[0]) / (2 * math.pi))
    assert s.valid.sum() / every.valid.sum() == pytest.approx(span, abs=0.1)


def test_coupled_robots_are_solved_in_their_coordinates():
    """(2.25): the third angle of the controller is the upper arm's, theta = G phi + theta0."""
    arm = fd.robots.irb1400(coupled=True)
    phi = np.random.default_rng(2).uniform(-1.0, 1.0, (50, 6))
    T = arm.forward_kinematics(phi)
    s = arm.inverse_kinematics_all(T)
    assert np.nanmin(apart(s.q, phi[:, None]), axis=-1).max() < 1e-9
    assert pose_errors(arm, s, T).max() < ACCURACY
    within = arm.inverse_kinematics_all(T, limits=True)
    arm.check_limits(within.q[within.valid])
    assert 0 < within.valid.sum() < s.valid.sum()


def test_limits_of_a_coordinate_are_reached_by_whole_turns_of_its_joint():
    """Joint 6 turns by -phi6 / 2 + 0.1: two turns of the coordinate are one of the joint."""
    G, offset, limits = np.diag([1, 1, 1, 1, 1, -0.5]), [0, 0, 0, 0, 0, 0.1], [None] * 5 + [fd.Limits(20.0, 32.0)]
    arm = fd.robots.irb1400().coupled(G, offset, limits=limits)
    T = arm.forward_kinematics(np.random.default_rng(2).uniform([-1] * 5 + [20], [1] * 5 + [32], (50, 6)))
    s = arm.inverse_kinematics_all(T, limits=True)
    assert s.reachable.all()
    arm.check_limits(s.q[s.valid])


def test_coordinates_that_do_not_determine_six_joints_are_refused():
    G = np.eye(6)[:, :5]
    G[5, 4] = 1.0
    arm = fd.robots.irb1400().coupled(G)
    with pytest.raises(NoClosedFormError, match=r"expected six independent coordinates .* found 5"):
        arm.inverse_kinematics_all(np.eye(4))


def test_joints_that_do_not_move_the_frame_rest():
    joints, _ = ARMS["2 and 3 opposite"]
    arm = arm_of(joints, fingers=[fd.Limits(), fd.Limits(0.01, 0.04)])
    q = np.r_[0.0, 0.0, positions(arm_of(joints), 1)[0]]  # grip2, grip1, joint1, ...
    T = arm.forward_kinematics(q, "tool")
    s = arm.inverse_kinematics_all(T, "tool")
    assert s.q.shape == (8, 8)
    assert (s.q[s.valid, :2] == (0.01, 0.0)).all()  # zero, or the nearest limit
    assert pose_errors(arm, s, T, "tool").max() < ACCURACY
    assert np.isnan(s.q[~s.valid]).all()


def test_solvers_of_many_frames_are_not_kept(monkeypatch):
    monkeypatch.setattr("fastdyn.kinematics.KEPT", 3)
    arm = fd.robots.ur5()
    for k in range(5):
        arm.inverse_kinematics_all(np.eye(4), fd.Frame("tcp", "link6", (0.0, 0.0, 0.01 * k)))
    assert len(arm._closed_forms) == 3


def test_frames_may_be_added_ones():
    arm = fd.robots.ur5().with_frame("tcp", on="link6", pose=fd.pose((0.1, 0.2, 0.3), (0.4, 0.5, 0.6)))
    T = arm.forward_kinematics(positions(arm, 20), "tcp")
    s = arm.inverse_kinematics_all(T, "tcp")
    assert s.reachable.all()
    assert pose_errors(arm, s, T, "tcp").max() < ACCURACY


# ---------------------------------------------------------------------------------------------- geometry from files


@pytest.mark.parametrize("name", ["puma560", "ur5"])
def test_pi_may_be_rounded_in_a_file(name):
    """Right angles that are not quite right leave axes parallel, or meeting: the closed form needs no right angles."""
    text = fd.robots.get(name).to_urdf()
    assert repr(math.pi / 2) in text
    check_all(fd.from_urdf(text.replace(repr(math.pi / 2), "1.5708").replace(repr(math.pi), "3.1416")))


def inexact(name, amount):
    """An arm whose axes are not quite parallel, and do not quite meet."""
    rng = np.random.default_rng(1)
    joints = [(k, np.asarray(h) + amount * rng.normal(size=3), np.asarray(p) + amount * rng.normal(size=3)) for k, h, p in ARMS[name][0]]  # fmt: skip  # noqa: E501
    return arm_of(joints, name)


@pytest.mark.parametrize("name", ["2 and 3 opposite", "2, 3, 4 parallel", "1 and 2 meet", "wrist at the base"])
def test_inexact_geometry_is_solved_by_a_newton_step(name, monkeypatch):
    arm = inexact(name, 2e-7)
    assert EXACT < arm._closed_form(None).form.deviation < 1e-5
    q = positions(arm, 100)
    T = arm.forward_kinematics(q)
    s = arm.inverse_kinematics_all(T)
    # a Newton step squares an error of 1e-6 times the inverse of the smallest singular value
    regular = np.linalg.svd(arm.jacobian(s.q[s.valid]), compute_uv=False)[:, -1] > 0.05
    assert regular.mean() > 0.1
    errors = pose_errors(arm, s, T).max(axis=(-1, -2))
    assert errors[regular].max() < ACCURACY
    assert errors.max() < 1e-5
    monkeypatch.setattr("fastdyn.ik.analytic.EXACT", 1.0)
    assert pose_errors(arm, arm.inverse_kinematics_all(T), T).max() > 100 * ACCURACY  # the step was needed


def test_a_newton_step_is_not_taken_at_a_singularity():
    arm = inexact("2 and 3 opposite", 2e-7)
    T = arm.forward_kinematics([0.3, 0.2, -0.1, 0.7, 0.0, 0.4])
    s = arm.inverse_kinematics_all(T)
    assert (s.singular[s.valid] == 1).any()
    assert pose_errors(arm, s, T).max() < 1e-5  # as far as the geometry is from the recognised one


@pytest.mark.parametrize("name", ["2 and 3 opposite", "2, 3, 4 parallel"])
def test_geometry_that_misses_by_more_is_not_recognised(name):
    with pytest.raises(NoClosedFormError, match=r"not parallel|miss a common point"):
        inexact(name, 1e-5).inverse_kinematics_all(np.eye(4))


@pytest.mark.parametrize(("file", "tip"), [("ur3_robot.urdf", "ee_link"), ("ur10_robot.urdf", "ee_link"), ("kinova.urdf", "j2s6s200_end_effector")])  # fmt: skip  # noqa: E501
def test_arms_from_real_files(file, tip):
    real = pytest.importorskip("tests.real_robots")
    paths = [path for path in real.FILES if path.name == file]
    if not paths:
        pytest.skip("example-robot-data is not installed")
    arm = fd.load(paths[0])
    check_all(arm.locked({name.name: 0.0 for name in arm.joints[6:]}), frame=tip)


# ---------------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("arm", "message"),
    [
        (lambda: fd.robots.panda(), r"expected six joints that turn or slide .* found 7 \(RRRRRRR\)"),
        (lambda: fd.Robot([fd.Link("post")], []), "found 0;"),
        (
            lambda: arm_of([TURRET, ("R", (1, 0.2, 0.5), 0.1 * X), ("P", (0, 1, 0.4), (0.4, 0.1, 0.2)), *WRIST_X]),
            r"axes 4, 5, 6 meet, but no neighbours of 1, 2, 3 meet or are parallel, and not all .*1, 2, 3 turn",
        ),
        (
            lambda: arm_of([TURRET, ("R", (1, 0, 0.5), 1e-3 * Y), ("R", Y, (0.4, 1e-3, 0.201)), *WRIST_X]),
            r"neighbours of 1, 2, 3 miss each other by less than 0.0",
        ),
        (
            lambda: arm_of([("R", np.random.default_rng(k).normal(size=3), k * X) for k in range(6)]),
            r"axes 4, 5, 6 miss a common point by .* m; axes 2, 3, 4 are not parallel \(by .* rad\)",
        ),
        (lambda: arm_of([TURRET, ("P", X, Z), ("P", Y, Z), *WRIST_X[:2], ("P", X, Z)]), "joints 4, 5, 6 turn"),
        (lambda: arm_of([*ARMS["2, 3, 4 parallel"][0][:5], ("R", Z, (2, 2, 2))]), "axes 5, 6 miss a common point by"),
        (lambda: arm_of([("R", Z, (k, 0, 0)) for k in range(6)]), "do not move it in all six directions"),
    ],
)  # fmt: skip
def test_other_arms_are_refused_with_the_reason(arm, message):
    with pytest.raises(NoClosedFormError, match=message) as found:
        arm().inverse_kinematics_all(np.eye(4))
    assert "inverse_kinematics" in str(found.value) or "six directions" in str(found.value)


def test_arguments_are_checked():
    arm = fd.robots.puma560()
    T = np.tile(np.eye(4), (3, 1, 1))
    T[2, 1, 3] = np.nan
    with pytest.raises(NotFiniteError, match=r"T\[2, 1, 3\] is nan"):
        arm.inverse_kinematics_all(T)
    T[2, 1, 3] = 0.0
    for row, column, value in ((0, 0, 1.1), (0, 0, -1.0), (3, 0, 0.5), (3, 3, 2.0)):
        wrong = T.copy()
        wrong[1, row, column] = value
        with pytest.raises(ArgumentError, match=r"T\[1\] is no pose: expected a rotation"):
            arm.inverse_kinematics_all(wrong)
    with pytest.raises(ArgumentError, match="T is no pose"):
        arm.inverse_kinematics_all(np.zeros((4, 4)))
    with pytest.raises(ArgumentError, match="T has shape"):
        arm.inverse_kinematics_all(np.eye(3))
    with pytest.raises(ArgumentError, match="frame is 'hand'"):
        arm.inverse_kinematics_all(np.eye(4), "hand")
    with pytest.raises(ArgumentError, match=r"frame is \['tool'\]"):
        arm.inverse_kinematics_all(np.eye(4), ["tool"])
    with pytest.raises(ArgumentError, match="threads"):
        arm.inverse_kinematics_all(T, threads=0)


# ---------------------------------------------------------------------------------------------- batches


def test_batch_axes_and_threads_do_not_change_results():
    arm = fd.robots.irb1400()
    T = arm.forward_kinematics(positions(arm, 40)).reshape(5, 8, 4, 4)
    whole = arm.inverse_kinematics_all(T)
    assert whole.q.shape == (5, 8, 8, 6)
    assert whole.reachable.shape == (5, 8)
    flat = arm.inverse_kinematics_all(T.reshape(40, 4, 4), threads=2)
    assert np.array_equal(whole.q.reshape(40, 8, 6), flat.q, equal_nan=True)
    one = arm.inverse_kinematics_all(T[3, 5])
    assert np.array_equal(one.q, whole.q[3, 5], equal_nan=True)
    assert np.array_equal(one.valid, whole.valid[3, 5])
    none = arm.inverse_kinematics_all(np.empty((0, 4, 4)))
    assert none.q.shape == (0, 8, 6)


@pytest.mark.parametrize("name", ["irb1400", "ur5"])
def test_one_pose_at_a_time_in_plain_python(name):
    """The text on float64 agrees with lanes up to rounding."""
    arm = fd.robots.get(name)
    T = arm.forward_kinematics(positions(arm, 3))
    form = arm._closed_form(None).form
    samples = T.reshape(3, 16), np.empty((3, 48)), np.empty((3, 8)), np.empty((3, 8))
    assert CLOSED_FORM.py_func(*form.free, *samples, np.empty(closed_form_scratch(samples))) == 0
    s = arm.inverse_kinematics_all(T)
    assert np.array_equal(samples[2] == 1.0, s.valid)
    # positions agree up to rounding times the condition of the Jacobian, about 10 to 1000 here
    assert apart(samples[1].reshape(3, 8, 6)[s.valid], s.q[s.valid]).max() < 1e-10


# ---------------------------------------------------------------------------------------------- along a path


def test_a_continuous_sequence_follows_a_path():
    arm = fd.robots.ur5()
    path = np.linspace([0.1, -1.0, 1.0, 0.2, 0.8, -0.5], [5.0, -2.0, 0.6, 1.0, 1.4, 6.0], 200)  # more than a turn
    found = arm.inverse_kinematics_all(arm.forward_kinematics(path))
    chosen = continuous(found, [True] * 6, start=path[0])
    assert np.abs(chosen.q - path).max() < 1e-9
    assert len(chosen.jumps) == 0
    assert (chosen.branch >= 0).all()


def test_jumps_and_gaps_of_a_sequence_are_reported():
    q = np.array([0.0, 0.1, np.nan, 0.2, 2.0, 2.1])[:, None, None]
    found = Solutions(q, ~np.isnan(q[..., 0]), np.zeros((6, 1), dtype=np.int64))
    chosen = continuous(found, [False])
    assert chosen.jumps.tolist() == [[4, 0]]
    assert chosen.branch.tolist() == [0, 0, -1, 0, 0, 0]
    assert np.isnan(chosen.q[2]).all()
    assert continuous(found, [False], start=[1.0]).jumps.tolist() == [[0, 0], [4, 0]]
    with pytest.raises(ArgumentError, match=r"solutions.q has shape .* expected \(T, K, n\)"):
        continuous(Solutions(q[0], found.valid[0], found.singular[0]), [False])
