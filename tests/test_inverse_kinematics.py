"""Numeric inverse kinematics: answers are checked by forward kinematics, and by what they must not depend on."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

import numba
import numpy as np
import pytest

import fastdyn as fd
from fastdyn import kinematics
from fastdyn.calls import threads
from fastdyn.geometry import go, homogeneous
from fastdyn.ik import numeric
from fastdyn.kernels import levenberg_marquardt as lm
from tests.samples import EPS, geared, rotation

COMPILED = not numba.config.DISABLE_JIT
MANY = 2000 if COMPILED else 12  # plain Python takes a millisecond a step
SOME = 100 if COMPILED else 6
FEW = 24 if COMPILED else 3
ROUNDING = 1e-13  # m and rad: a hundred roundings in a path of a few metres

ARMS = {name: fd.robots.get(name) for name in ("panda", "iiwa", "ur5", "puma560")}
PANDA, UR5 = ARMS["panda"], ARMS["ur5"]
each_arm = pytest.mark.parametrize("arm", ARMS.values(), ids=ARMS)


def postures(robot, count, seed=0, most=2.5):
    """Random coordinates within the limits, or within +-most where there are none."""
    low, high = robot.limits.position.T
    low, high = np.where(np.isfinite(low), low, -most), np.where(np.isfinite(high), high, most)
    return np.random.default_rng(seed).uniform(low, high, (count, robot.n))


def errors(robot, q, T, frame=None):
    """Distance and angle of the frame's pose at q from T: by other formulas than those tested."""
    found = robot.forward_kinematics(q, frame)
    R = np.swapaxes(T[..., :3, :3], -1, -2) @ found[..., :3, :3]
    chord = np.linalg.norm(R - np.eye(3), axis=(-2, -1)) / np.sqrt(8)  # sine of half the angle
    return np.linalg.norm(found[..., :3, 3] - T[..., :3, 3], axis=-1), 2 * np.arcsin(np.minimum(chord, 1))


def assert_found(robot, T, found, frame=None):
    distance, angle = errors(robot, found.q, T, frame)
    assert found.success.all()
    assert max(distance.max(), angle.max()) < 1e-8
    np.testing.assert_allclose(found.error, np.stack([distance, angle], axis=-1), rtol=0, atol=ROUNDING)


# ---------------------------------------------------------------------------------------------- whole searches


@each_arm
def test_reachable_poses_are_found_within_the_limits(arm):
    q = postures(arm, MANY, seed=1)
    T = arm.forward_kinematics(q)
    found = arm.inverse_kinematics(T)
    distance, angle = errors(arm, found.q, T)
    right = (distance < 1e-6) & (angle < 1e-6)
    assert np.array_equal(found.success, right)
    assert right.mean() >= 0.9995
    low, high = arm.limits.position.T
    assert ((found.q >= low) & (found.q <= high)).all()
    assert (found.iterations >= 1).all()


def helical_arm():
    """A lead screw, a revolute and a prismatic joint, and a wrist."""
    arm = fd.robots.random_chain(6, seed=3, prismatic=0.3)
    joints = list(arm.all_joints)
    return fd.Robot(arm.all_links, [replace(joints[0], kind="helical", pitch=0.1), *joints[1:]], name="helical")


DUAL = fd.robots.dual_arm()
ROBOTS = {
    "one joint": (fd.robots.random_chain(1, seed=2), None),
    "fewer than six": (fd.robots.random_chain(4, seed=2), None),
    "a plane": (fd.robots.two_link(), None),
    "sliding": (fd.robots.stanford(), None),
    "helical": (helical_arm(), None),
    "tree": (DUAL, "right_tool"),
    "coupled": (geared(6, 4, seed=3), "link6"),
    "parallelogram": (fd.robots.irb1400_main_axes(), fd.robots.irb1400_main_axes().links[-1].name),
    "many": (fd.robots.random_chain(60 if COMPILED else 12, seed=2), None),
}


@pytest.mark.parametrize(("robot", "frame"), ROBOTS.values(), ids=ROBOTS)
def test_any_robot_and_frame(robot, frame):
    q = postures(robot, SOME, seed=2, most=2.0)
    T = robot.forward_kinematics(q, frame)
    found = robot.inverse_kinematics(T, frame)
    assert_found(robot, T, found, frame)
    low, high = robot.limits.position.T
    assert ((found.q >= low) & (found.q <= high)).all()


def test_named_frames_with_their_own_axes():
    arm = PANDA.with_frame(
        "tcp", PANDA.links[-1].name, homogeneous(rotation(np.array([0.3, -1.0, 2.0])), (0.1, 0.2, 0.3))
    )
    T = arm.forward_kinematics(postures(arm, FEW), "tcp")
    assert_found(arm, T, arm.inverse_kinematics(T, "tcp"), "tcp")


def test_coordinates_that_do_not_move_the_frame_stay():
    T = DUAL.forward_kinematics(postures(DUAL, FEW), "right_tool")
    idle = [k for k in range(DUAL.n) if not DUAL.jacobian(np.full(DUAL.n, 0.3), "right_tool")[:, k].any()]
    assert len(idle) == 4
    low, high = DUAL.limits.position.T
    assert (DUAL.inverse_kinematics(T, "right_tool").q[:, idle] == np.clip(0.0, low, high)[idle]).all()
    q0 = postures(DUAL, 1, seed=5)[0]
    assert (DUAL.inverse_kinematics(T, "right_tool", q0=q0).q[:, idle] == q0[idle]).all()


# ---------------------------------------------------------------------------------------------- specialised robots

TOOL = homogeneous(rotation(np.array([0.3, -1.0, 2.0])), (0.1, 0.2, 0.3))
SPECIAL = {
    "panda": (PANDA, None, None),
    "axes and a frame": (ARMS["puma560"].with_frame("tcp", "link6", TOOL), "tcp", "xyzryrz"),
    "coupled": (geared(4, 3, seed=3), "link4", None),
}


@pytest.mark.parametrize(("robot", "frame", "axes"), SPECIAL.values(), ids=SPECIAL)
def test_a_specialised_robot_finds_what_the_general_one_finds(robot, frame, axes):
    """Both take the same starts; their steps differ by rounding, which Newton's last ones remove again."""
    special = robot.specialize()
    T = robot.forward_kinematics(postures(robot, SOME, seed=12, most=2.0), frame)
    general, found = (each.inverse_kinematics(T, frame, axes=axes) for each in (robot, special))
    assert special._problem(frame, axes, True).walk is not lm.path
    assert found.success.all()
    assert found.error.max() < 1e-9
    reached = robot.forward_kinematics(found.q, frame)
    np.testing.assert_allclose(numeric.errors(T, reached, numeric.Axes.named(axes)), found.error, rtol=0, atol=ROUNDING)
    # a lane that rounding sends to another solution, at a threshold of the search, is rare
    assert (np.abs(found.q - general.q).max(axis=1) < 1e-6).mean() > 0.9
    with pytest.raises(fd.ArgumentError, match="T is no pose"):
        special.inverse_kinematics(np.diag([1.0, 1.0, 1.0, 2.0]), frame, axes=axes)


def test_specialised_searches_share_code_where_they_can():
    special = fd.robots.two_link().specialize()
    walks = {axes: special._problem(None, axes, False).walk for axes in (None, "xy", "xyzrxry", "xyzryrz")}
    assert walks[None] is walks["xy"] is walks["xyzrxry"] is special._problem(None, None, True).walk
    assert walks["xyzryrz"] is not walks[None]  # the free axis is another
    assert special._problem(fd.Frame("here", "link1"), None, True).walk is lm.path


# ---------------------------------------------------------------------------------------------- what answers depend on


def same(a, b, part=slice(None)):
    return all(
        np.array_equal(getattr(a, name)[part], getattr(b, name)[part]) for name in ("q", "success", "iterations")
    )


def test_no_answer_depends_on_other_poses():
    T = PANDA.forward_kinematics(postures(PANDA, FEW, seed=3))
    found = PANDA.inverse_kinematics(T)
    others = PANDA.forward_kinematics(postures(PANDA, FEW, seed=4))
    others[::5] = T[::5]
    assert same(found, PANDA.inverse_kinematics(others), slice(None, None, 5))
    assert same(found, PANDA.inverse_kinematics(np.concatenate([T, others])), slice(0, FEW))
    assert not same(found, PANDA.inverse_kinematics(T, seed=1))
    in_columns = PANDA.inverse_kinematics(T.reshape(-1, 1, 4, 4))
    assert in_columns.error.shape == (FEW, 1, 2)
    assert np.array_equal(in_columns.q[:, 0], found.q)


def test_no_answer_depends_on_what_neighbours_need():
    """Lanes beside one that must stay within its limits compute what they compute without it, to the last bit."""
    T = PANDA.forward_kinematics(postures(PANDA, 8 * FEW, seed=3))
    found = PANDA.inverse_kinematics(T, restarts=40)
    others = T.copy()
    others[::8] = go(0.0, 0.0, 9.0)  # takes all starts
    beside = PANDA.inverse_kinematics(others, restarts=40)
    for lane in range(1, 8):
        assert same(found, beside, slice(lane, None, 8))


def test_no_answer_depends_on_threads(monkeypatch):
    monkeypatch.setattr(numeric, "WORK", 1)  # a block of lanes in each call
    monkeypatch.setattr(threads, "STEP", 0.0)
    monkeypatch.setattr(threads, "_cores", lambda: 4)
    T = UR5.forward_kinematics(postures(UR5, 4 * FEW, seed=3))
    alone = UR5.inverse_kinematics(T)
    assert same(alone, UR5.inverse_kinematics(T, threads=3))
    monkeypatch.setattr(numeric, "WORK", 10**9)
    assert same(alone, UR5.inverse_kinematics(T))


def test_starts_fill_the_range_evenly():
    """Of 4000 hashes in ten bins: each within five standard deviations of 400, which is 19."""
    units = np.array([lm.mixed(lm.hashed(0, pose, k) ^ 1) / lm.WORD for pose in range(200) for k in range(20)])
    assert np.abs(np.histogram(units, 10, (0, 1))[0] - 400).max() < 95
    assert len({lm.hashed(seed, pose, 0) for seed in (0, 1, 2**40) for pose in (0, 1, 2**33)}) == 9


# ---------------------------------------------------------------------------------------------- one step


def state(problem, lanes=None):
    shape = (problem.rows,) if lanes is None else (problem.rows, lanes)
    return np.zeros(shape)


def step_of(problem, T, phi, wish=0.0, posture=0.0, bounded=0.0, lanes=None, rotation=lm.FULL):
    """The coordinates after one step, and the errors before it."""
    X, m, p = state(problem, lanes), len(problem.active), T[:3, 3] / problem.unit
    target = [*T[:3, :3].ravel(), *-(T[:3, :3].T @ p)]
    parts = X[lm.TARGET : lm.STATE], X[lm.STATE : lm.STATE + m], X[lm.STATE + 2 * m : lm.STATE + 3 * m]
    for part, values in zip(parts, (target, phi, np.broadcast_to(posture, m)), strict=True):
        part[...] = np.reshape(values, (-1,) if lanes is None else (-1, 1))
    X[lm.WISHING], X[lm.BOUNDED] = wish, max(wish, bounded)
    numbers = np.zeros((1, lm.NUMBERS), dtype=np.int64)
    numbers[0, [lm.ROTATION, lm.WEIGHTED]] = rotation, problem.axes.weights != (1.0,) * 6
    lm.step(problem.walk, problem.model, problem.tree, problem.G, problem.table, numbers, X)
    return X[lm.STATE : lm.STATE + m], X[lm.POSITION2], X[lm.ANGLE2]


def by_numpy(robot, problem, frame, T, phi, posture=None):
    """The same, from the formula."""
    pose, J = robot.pose_and_jacobian(phi, frame)
    R = T[:3, :3].T
    way = R @ (T[:3, 3] - pose[:3, 3]) / problem.unit
    turn = R @ pose[:3, :3]
    values, vectors = np.linalg.eig(turn)
    axis = vectors[:, np.argmin(np.abs(values - 1))].real
    sine = np.trace(turn @ np.cross(np.eye(3), axis)) / -2
    angle = np.arctan2(sine, (np.trace(turn) - 1) / 2)
    e = np.concatenate([way, -2 * np.sin(angle / 2) * axis * np.sign(1)])
    J = np.concatenate([R @ J[:3] / problem.unit, R @ J[3:]])
    g = np.zeros(robot.n) if posture is None else posture - phi
    damping = lm.DAMPING * e @ e / 2 + lm.FLOOR
    change = g + J.T @ np.linalg.solve(J @ J.T + damping * np.eye(6), e - J @ g)
    if posture is not None:
        change *= min(1, lm.LONGEST / np.linalg.norm(change))
    return phi + change, e


@pytest.mark.parametrize("lanes", [None, 3], ids=["scalars", "rows"])
@pytest.mark.parametrize("wish", [False, True])
@pytest.mark.parametrize("name", ["joints", "coupled"])
def test_a_step_is_that_of_the_formula(lanes, wish, name):
    robot, frame = (PANDA, None) if name == "joints" else (geared(6, 4, seed=3, prismatic=0.0), "link6")
    problem = robot._problem(frame, None, False)
    phi, goal, posture = postures(robot, 3, seed=7, most=1.0)
    posture = np.where(np.isin(np.arange(robot.n), problem.active), posture, phi)
    T = robot.forward_kinematics(goal, frame)
    expected, e = by_numpy(robot, problem, frame, T, phi, posture if wish else None)
    found, position2, angle2 = step_of(
        problem, T, phi[problem.active], float(wish), posture[problem.active], lanes=lanes
    )
    for column in [found] if lanes is None else found.T:
        # lambda is above 1e-3 here: the condition of J J^T + lambda is below 1e4
        np.testing.assert_allclose(column, expected[problem.active], rtol=0, atol=1e5 * EPS)
    np.testing.assert_allclose(position2, e[:3] @ e[:3], rtol=1e-12)
    np.testing.assert_allclose(angle2, e[3:] @ e[3:], rtol=1e-12)


def test_a_coordinate_at_its_limit_is_held_and_the_others_take_its_part():
    problem, low = copy(PANDA._problem(None, None, True)), PANDA.limits.position[:, 0]
    phi, goal = postures(PANDA, 2, seed=8)
    T = PANDA.forward_kinematics(goal)
    free = step_of(problem, T, phi[problem.active])[0]
    k = int(np.argmin(free - phi))  # this one goes down: put its limit there
    problem.table = problem.table.copy(order="F")
    problem.table[lm.LOWER, k] = phi[k]
    found = step_of(problem, T, phi[problem.active], bounded=1.0)[0]
    assert found[k] == phi[k]
    assert (found >= np.minimum(low, phi)).all()
    assert np.abs(np.delete(found - free, k)).max() > 1e-3


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-3, 1.0, 3.0, np.pi - 1e-3, np.pi - 1e-5, np.pi])
def test_the_rotational_error_is_right_at_all_angles(angle):
    rng = np.random.default_rng(0)
    for axis in [*np.eye(3), *rng.normal(size=(20, 3)), np.array([1.0, -1.0, 0.0])]:
        axis = axis / np.linalg.norm(axis)
        R = rotation(angle * axis)
        found = np.array(lm.half_sines((*R.T, np.zeros(3))))
        # near a half turn 1 + cos has lost half of its digits, or is replaced: the axis is right up to its square root
        slack = 4 * EPS / (1 + np.cos(angle)) if angle < 3.1 else 2 * np.sqrt(lm.OPPOSITE)
        assert (
            min(np.abs(found - s * 2 * np.sin(angle / 2) * axis).max() for s in ((1, -1) if angle > 3.1 else (1,)))
            < slack
        )
        tilt = rotation(angle * np.cross(axis, (0, 0, 1)))[:, 2]
        about_z = np.linalg.norm(lm.half_sines_of_axis(tilt))
        expected = np.sqrt(max(0.0, 2 - 2 * tilt[2]))  # the chord
        np.testing.assert_allclose(about_z, expected, rtol=0, atol=1e-7)


def test_a_half_turn_is_found_from_its_opposite():
    hinge = fd.Robot([fd.Link("base"), fd.Link("arm")], [fd.Joint("hinge", "base", "arm")], strict=None)
    T = hinge.forward_kinematics([np.pi])
    found = hinge.inverse_kinematics(T, q0=[0.0], restarts=1)
    assert_found(hinge, T, found)
    assert abs(abs(found.q[0]) - np.pi) < 1e-8
    tilted = hinge.inverse_kinematics(homogeneous(np.diag([1.0, -1.0, -1.0])), axes="xyzrxry")
    assert not tilted.success  # its z axis cannot turn over
    np.testing.assert_allclose(tilted.error, [0.0, np.pi], atol=1e-7)


# ---------------------------------------------------------------------------------------------- limits, axes, posture


def test_limits_may_be_ignored():
    low, high = PANDA.limits.position.T
    q = np.array([0.1, 0.2, 0.3, 0.5, 0.4, 1.0, 0.2])  # the elbow beyond its limit
    T = PANDA.forward_kinematics(q)
    found = PANDA.inverse_kinematics(T, limits=False, q0=q + 0.05, restarts=1)
    assert_found(PANDA, T, found)
    assert ((found.q < low) | (found.q > high)).any()
    assert (np.abs(PANDA.inverse_kinematics(T, limits=False).q) <= np.pi).all()  # without whole turns


def test_whole_turns_bring_coordinates_into_their_limits():
    joint = fd.Joint("hinge", "base", "arm", limits=fd.Limits(5.0, 8.0))
    hinge = fd.Robot([fd.Link("base"), fd.Link("arm")], [joint], strict=None)
    for angle in (5.1, 6.5, 7.9):
        found = hinge.inverse_kinematics(hinge.forward_kinematics([angle - 4 * np.pi]))
        assert found.success
        assert abs(found.q[0] - angle) < 1e-8
    assert not hinge.inverse_kinematics(hinge.forward_kinematics([4.5]), restarts=20).success
    free = fd.Robot([fd.Link("base"), fd.Link("arm")], [replace(joint, limits=fd.Limits())], strict=None)
    found = free.inverse_kinematics(free.forward_kinematics([0.5]), q0=[0.5 + 6 * np.pi + 0.2])
    assert abs(found.q[0] - 0.5 - 6 * np.pi) < 1e-8  # the turn of the start


def counted(axes, T, found):
    """Errors of the axes that count, in the target's axes: of position, and of rotation."""
    names = [axes[k : k + 1 + (axes[k] == "r")] for k in range(len(axes)) if axes[k - 1 : k] != "r"]
    R = np.swapaxes(T[..., :3, :3], -1, -2)
    p = (R @ (found[..., :3, 3:] - T[..., :3, 3:]))[..., 0]
    moved = R @ found[..., :3, :3]
    wrong = [np.abs(p[..., "xyz".index(name)]) for name in names if name[0] != "r"]
    turns = {name[1] for name in names if name[0] == "r"}
    if len(turns) == 3:
        wrong.append(np.abs(moved - np.eye(3)).max(axis=(-2, -1)))
    elif turns:
        (free,) = (k for k in range(3) if "xyz"[k] not in turns)
        wrong.append(np.abs(moved[..., free] - np.eye(3)[free]).max(axis=-1))
    return np.max(wrong)


@pytest.mark.parametrize("axes", ["xyz", "xyzrxry", "zyxrzrx", "xyzryrz", "rxryrz", "xz", "yrxry", "xyzrxryrz"])
def test_only_the_axes_named_count(axes):
    T = UR5.forward_kinematics(postures(UR5, SOME, seed=6))
    found = UR5.inverse_kinematics(T, axes=axes)
    assert found.success.all()
    reached = UR5.forward_kinematics(found.q)
    assert counted(axes, T, reached) < 1e-8
    if len(axes) < 9:
        assert np.abs(reached - T).max() > 0.1  # the others do not
    assert found.error.max() < 1e-9
    np.testing.assert_allclose(numeric.errors(T, reached, numeric.Axes.named(axes)), found.error, rtol=0, atol=ROUNDING)


def test_the_posture_is_approached_while_the_pose_stays():
    q = postures(PANDA, FEW, seed=9)
    T = PANDA.forward_kinematics(q)
    posture = PANDA.limits.position.mean(axis=1)
    plain, found = PANDA.inverse_kinematics(T, q0=posture), PANDA.inverse_kinematics(T, posture=posture)
    assert_found(PANDA, T, found)
    before, after = (np.linalg.norm(each.q - posture, axis=1) for each in (plain, found))
    assert (after <= before + 1e-6).all()
    assert (after < before - 1e-3).mean() > 0.5
    low, high = PANDA.limits.position.T
    inside = ((found.q > low + 1e-9) & (found.q < high - 1e-9)).all(axis=1)
    assert inside.any()
    inside &= np.linalg.svd(PANDA.jacobian(found.q), compute_uv=False)[:, -1] > 0.01
    for q, J in zip(found.q[inside], PANDA.jacobian(found.q[inside]), strict=True):
        wish = posture - q
        left = wish - np.linalg.pinv(J) @ (J @ wish)
        assert np.linalg.norm(left) < 1e-5  # the last step was below 1e-7, and each one halves the rest or better


def test_the_posture_of_a_solution_is_that_solution():
    q = postures(PANDA, FEW, seed=10)
    found = PANDA.inverse_kinematics(PANDA.forward_kinematics(q), posture=q)
    np.testing.assert_allclose(found.q, q, atol=1e-6)
    assert found.success.all()


def test_a_posture_is_left_where_only_the_pose_can_be_kept():
    """Without redundancy the posture changes nothing but the start."""
    q = postures(UR5, FEW, seed=11)
    T = UR5.forward_kinematics(q)
    found, plain = UR5.inverse_kinematics(T, posture=q + 0.1), UR5.inverse_kinematics(T, q0=q + 0.1)
    assert_found(UR5, T, found)
    regular = np.linalg.svd(UR5.jacobian(plain.q), compute_uv=False)[:, -1] > 0.01
    assert regular.sum() > FEW / 2
    np.testing.assert_allclose(found.q[regular], plain.q[regular], atol=1e-6)  # an error of 1e-9, by 0.01, with room


def test_a_pose_that_is_lost_on_the_way_to_a_posture_keeps_its_first_solution(monkeypatch):
    monkeypatch.setattr(lm, "POSTURE_STEPS", 3)  # ends in the middle of the way, one step too far to return in one
    entry = numeric.search_by(lm.path)
    monkeypatch.setattr(entry, "compiled", lambda kind: entry.py_func)
    q = postures(PANDA, 8, seed=10)
    T = PANDA.forward_kinematics(q)
    found = PANDA.inverse_kinematics(T, q0=q, posture=PANDA.limits.position.mean(axis=1), steps=1)
    assert_found(PANDA, T, found)
    assert (found.q == q).all(axis=1).any()


# ---------------------------------------------------------------------------------------------- failures


def test_unreachable_poses_fail_with_their_error():
    T = np.stack([UR5.forward_kinematics(np.full(6, 0.3)), go(9.0, 0.0, 0.0), go(0.0, 0.0, -4.0)])
    found = UR5.inverse_kinematics(T, restarts=20)
    assert found.success.tolist() == [True, False, False]
    assert (found.iterations <= 20 * 22).all()
    distance, angle = errors(UR5, found.q, T)
    np.testing.assert_allclose(found.error, np.stack([distance, angle], axis=-1), rtol=0, atol=1e-7)
    assert distance[1] > 7.5
    low, high = UR5.limits.position.T
    assert ((found.q >= low) & (found.q <= high)).all()


def test_poses_that_only_solutions_beyond_limits_reach_fail_within_them():
    q = np.array([0.1, 0.2, 0.3, 0.5, 0.4, 1.0, 0.2])
    T = PANDA.forward_kinematics(q)
    found = PANDA.inverse_kinematics(T, restarts=3, posture=PANDA.limits.position.mean(axis=1))
    low, high = PANDA.limits.position.T
    assert ((found.q >= low) & (found.q <= high)).all()
    if not found.success:
        np.testing.assert_allclose(found.error, np.ravel(errors(PANDA, found.q, T)), rtol=0, atol=1e-7)


def test_no_poses_have_no_solutions():
    found = UR5.inverse_kinematics(np.empty((0, 4, 4)))
    assert found.q.shape == (0, 6)
    assert found.success.shape == found.iterations.shape == (0,)


T0 = np.eye(4)
SQUASHED, MIRRORED, WRONG_ROW, SKEWED = (np.array([T0, T0]) for _ in range(4))
SQUASHED[1, 0, 0], MIRRORED[1, 0, 0], WRONG_ROW[1, 3, 3], SKEWED[1, 0, 1] = 0.9, -1.0, 2.0, 0.1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"T": np.full((3, 4, 4), np.nan)}, r"T\[0, 0, 0\] is nan"),
        ({"T": np.zeros((4, 3))}, r"T has shape \(4, 3\): expected \(\.\.\., 4, 4\)"),
        ({"T": SQUASHED}, r"T\[1\] is no pose: expected a rotation"),
        ({"T": MIRRORED}, r"T\[1\] is no pose: expected a rotation"),
        ({"T": WRONG_ROW}, r"T\[1\] is no pose: expected a rotation"),
        ({"T": SKEWED}, r"T\[1\] is no pose: expected a rotation"),
        ({"T": 2 * T0}, "T is no pose: expected a rotation"),
        ({"T": SKEWED[None]}, r"T\[0, 1\] is no pose"),
        ({"axes": "xyzw"}, "axes is 'xyzw'"),
        ({"axes": "xx"}, "axes is 'xx'"),
        ({"axes": "xyzrx"}, "three, two or none of rx, ry and rz"),
        ({"axes": ""}, "axes is ''"),
        ({"axes": 3}, "axes is a int: expected a string"),
        ({"q0": np.zeros(5)}, "q0 has shape"),
        ({"q0": np.zeros((2, 6))}, r"q0 has batch axes \(2,\): expected those of T, \(\), or none"),
        ({"posture": np.full(6, np.inf)}, r"posture\[0\] is inf"),
        ({"restarts": 0}, "restarts is 0: expected a whole number from 1 on"),
        ({"steps": 1.5}, "steps is 1.5"),
        ({"seed": -1}, "seed is -1: expected a whole number from 0 on"),
        ({"tol": 0.0}, "tol is 0.0: expected a number above zero"),
        ({"tol": np.nan}, "tol is nan"),
        ({"frame": "base"}, "found one fixed to the base"),
        ({"frame": "nose"}, "frame is 'nose'"),
    ],
)
def test_wrong_arguments_are_named(arguments, message):
    with pytest.raises((fd.ArgumentError, fd.ArgumentTypeError), match=message):
        UR5.inverse_kinematics(**{"T": T0, **arguments})


def test_coordinates_without_a_range_are_refused():
    arm = fd.robots.two_link()
    joints = [replace(j, limits=fd.Limits(k, k + 0.5)) for k, j in enumerate(arm.all_joints)]
    tied = fd.Robot(arm.all_links, joints, strict=None).coupled([[1.0], [1.0]])
    with pytest.raises(fd.ArgumentError, match="limits: expected a range for coordinate 0"):
        tied.inverse_kinematics(np.eye(4))


def test_a_robot_keeps_the_problems_it_was_given_last(monkeypatch):
    monkeypatch.setattr(kinematics, "KEPT", 2)
    arm = fd.robots.two_link()
    for axes in ("x", "y", "z"):
        arm.inverse_kinematics(arm.forward_kinematics([0.1, 0.2]), axes=axes)
    assert [axes for _, axes, _ in arm._problems] == ["y", "z"]


# ---------------------------------------------------------------------------------------------- paths


def test_a_path_is_followed_without_jumps():
    corners = postures(PANDA, 2, seed=12)
    q = np.linspace(corners[0], 0.7 * corners[0] + 0.3 * corners[1], 4 * FEW)
    T = PANDA.forward_kinematics(q)
    found = PANDA.inverse_kinematics_path(T, q0=q[0])
    assert_found(PANDA, T, found)
    assert len(found.jumps) == 0
    assert np.abs(np.diff(found.q, axis=0)).max() < 0.2


def test_jumps_of_a_path_are_told_by_pose_and_coordinate():
    q = np.repeat([[0.3, -1.0, 1.0, 0.4, 1.0, 0.2]], 6, axis=0)
    q[3:, 0] += 1.0
    T = UR5.forward_kinematics(q)
    found = UR5.inverse_kinematics_path(T, q0=q[0])
    assert found.success.all()
    assert found.jumps.tolist() == [[3, 0]]
    np.testing.assert_allclose(found.q, q, atol=1e-7)
    anywhere = UR5.inverse_kinematics_path(T)  # the first is free: no jump to it
    assert anywhere.success.all()
    assert set(anywhere.jumps[:, 0].tolist()) == {3}


def test_a_path_goes_on_behind_a_pose_that_cannot_be_reached():
    q = np.repeat([[0.3, -1.0, 1.0, 0.4, 1.0, 0.2]], 3, axis=0)
    T = UR5.forward_kinematics(q)
    T[1, 0, 3] += 10.0
    found = UR5.inverse_kinematics_path(T, q0=q[0], restarts=5)
    assert found.success.tolist() == [True, False, True]
    assert found.error[1, 0] > 8
    assert UR5.inverse_kinematics_path(T[:0]).jumps.shape == (0, 2)


def test_a_path_is_a_list_of_poses():
    with pytest.raises(fd.ArgumentError, match=r"T has shape \(4, 4\): expected \(K, 4, 4\), a path of poses"):
        UR5.inverse_kinematics_path(np.eye(4))
    with pytest.raises(fd.ArgumentError, match="jump is 0: expected a number above zero"):
        UR5.inverse_kinematics_path(np.empty((0, 4, 4)), jump=0)
