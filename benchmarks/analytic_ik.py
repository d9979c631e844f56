"""Inverse kinematics in closed form, all solutions of random reachable poses, beside EAIK.

    python -m benchmarks.analytic_ik [--poses 10000] [--turns 50] [--eaik FOLDER]

Every arm's solutions are checked first: the true positions must be among them, and every solution must reproduce its
pose to 1e-9 (of the arm whose axes miss by more: only away from singularities, where a Newton step is taken).

EAIK (pip install EAIK) gets the same axes, and the first thousand of the poses, one by one and in its batch call with
one thread; its solutions that reproduce their pose are counted beside ours of the same poses. --eaik: the site-packages
folder that it is installed in, if not this environment's. Sides take turns, on one thread.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import fastdyn as fd
from benchmarks.common import best, circumstances, figures, heading, markdown, versions
from fastdyn.clock import Job
from fastdyn.ik.analytic import EXACT
from fastdyn.mechanism.poses import poses_at
from tests.real_robots import FILES

ACCURACY = 1e-9  # of poses: m, and elements of rotations
CLOSE = 1e-6  # of positions, rad or m; more where a pose determines them less
FEW = 1000  # poses that the peer solves
TIMED = 250  # of these, so that a turn is short: about a millisecond


def gantry() -> fd.Robot:
    """Three sliding joints and a spherical wrist."""
    axes = [("prismatic", k) for k in np.eye(3)] + [("revolute", np.eye(3)[k]) for k in (0, 1, 0)]
    joints = [
        fd.Joint(f"joint{i}", f"link{i - 1}", f"link{i}", kind, (0.1, 0.0, 0.1) if i < 5 else (0, 0, 0), axis,
                 limits=fd.Limits(-1.0, 1.0) if kind == "prismatic" else fd.Limits())
        for i, (kind, axis) in enumerate(axes, 1)
    ]  # fmt: skip
    joints.append(fd.Joint("fixed", "link6", "tool", "fixed", fd.pose((0.1, 0.0, 0.05), (0.3, 0.2, 0.1))))
    links = [fd.Link("link0"), *(fd.Link(f"link{i}", 1.0) for i in range(1, 7)), fd.Link("tool")]
    return fd.Robot(links, joints, name="gantry")


def skew() -> fd.Robot:
    """A spherical wrist on three joints of which no two axes meet or are parallel."""
    rows = [(0.1, 1.0, 0.3), (0.4, -0.7, 0.1), (0.2, 1.3, 0.0), (0, -np.pi / 2, 0.4), (0, np.pi / 2, 0), (0, 0, 0.1)]
    return fd.from_dh([fd.DHLink(a, alpha, d, mass=1.0) for a, alpha, d in rows], name="skew axes 1, 2, 3")


def from_file(name: str) -> fd.Robot:
    (path,) = [path for path in FILES if path.name == name]
    robot = fd.load(path)
    found = robot.locked({joint.name: 0.0 for joint in robot.joints[6:]})
    assert isinstance(found, fd.Robot)
    return found


def inexact(arm: fd.Robot, amount: float) -> fd.Robot:
    """An arm whose axes are all tilted a little: solved with a Newton step."""
    rng = np.random.default_rng(0)
    joints = [
        fd.Joint(j.name, j.parent, j.child, j.kind, j.origin, np.asarray(j.axis) + amount * rng.normal(size=3), j.tail)
        for j in arm.all_joints
    ]
    return fd.Robot(arm.all_links, joints, name=f"{arm.name}, axes tilted by {amount:.0e}", strict=None)


def rounded(arm: fd.Robot) -> fd.Robot:
    """An arm from a file in which pi / 2 is 1.5708."""
    robot = fd.from_urdf(arm.to_urdf().replace(repr(np.pi / 2), "1.5708"))
    assert isinstance(robot, fd.Robot)
    return fd.Robot(robot.all_links, robot.all_joints, name=f"{arm.name}, pi/2 = 1.5708", strict=None)


# the arm, and the frame
ARMS: dict[str, tuple[Callable[[], fd.Robot], str | None]] = {
    "irb1400": (fd.robots.irb1400, None),
    "puma560": (fd.robots.puma560, None),
    "stanford": (fd.robots.stanford, None),
    "ur5": (fd.robots.ur5, None),
    "gantry": (gantry, None),
    "skew axes 1, 2, 3": (skew, None),
    "ur10_robot.urdf": (lambda: from_file("ur10_robot.urdf"), "ee_link"),
    "ur3_robot.urdf": (lambda: from_file("ur3_robot.urdf"), "ee_link"),
    "kinova.urdf (6 joints)": (lambda: from_file("kinova.urdf"), "j2s6s200_end_effector"),
    "puma560, pi/2 = 1.5708": (lambda: rounded(fd.robots.puma560()), None),
    "ur5, axes tilted by 1e-9": (lambda: inexact(fd.robots.ur5(), 1e-9), None),
}


def positions(arm: fd.Robot, count: int) -> np.ndarray:
    """Angles in a whole turn, travels within limits."""
    sliding = np.array([joint.kind == "prismatic" for joint in arm.joints])
    low, high = (np.where(sliding, arm.limits.position[:, k], way * np.pi) for k, way in ((0, -1), (1, 1)))
    return np.random.default_rng(0).uniform(low, high, (count, arm.n))


def peer(arm: fd.Robot, frame: str | None) -> Any:
    """EAIK's robot with the same axes, or None if it is not installed or knows no closed form."""
    try:
        from eaik.IK_Homogeneous import HomogeneousRobot
    except ImportError:
        return None
    if "P" in arm.kinds:
        return None  # it knows turning joints only
    poses = poses_at(arm.description, {})
    frames = []
    for joint in arm.joints:
        T = poses[joint.parent] @ np.asarray(joint.origin)
        z = T[:3, :3] @ np.asarray(joint.axis)
        x = np.cross(z, np.eye(3)[np.argmin(np.abs(z))])
        x /= np.linalg.norm(x)
        T[:3, :3] = np.column_stack([x, np.cross(z, x), z])
        frames.append(T)
    tip = arm.forward_kinematics(np.zeros(6), frame)
    robot = HomogeneousRobot(np.array([*frames, tip]))
    return robot if robot.hasKnownDecomposition() else None


def check(arm: fd.Robot, frame: str | None, q: np.ndarray, T: np.ndarray) -> tuple[int, float, float]:
    """Positions that are missing, the largest error of a pose, and solutions per pose."""
    s = arm.inverse_kinematics_all(T, frame)
    sliding = np.array([joint.kind == "prismatic" for joint in arm.joints])
    apart = s.q - q[:, None]
    apart = np.abs(np.where(sliding, apart, np.angle(np.exp(1j * apart)))).max(axis=-1)
    least = np.linalg.svd(arm.jacobian(q, frame), compute_uv=False)[:, -1]
    deviation = arm._closed_form(frame).form.deviation
    missing = int((~(np.nanmin(apart, axis=-1) < CLOSE + 10 * deviation / least)).sum())
    where = np.nonzero(s.valid)
    errors = np.abs(arm.forward_kinematics(s.q[where], frame) - T[where[0]]).max(axis=(-1, -2))
    regular = np.linalg.svd(arm.jacobian(s.q[where], frame), compute_uv=False)[:, -1] > 1e-3
    assert errors[regular | (deviation < EXACT)].max() < ACCURACY
    return missing, float(errors.max()), s.valid.sum() / len(T)


def row(name: str, count: int, turns: int) -> tuple[Any, ...]:
    make, frame = ARMS[name]
    arm = make()
    q = positions(arm, count)
    T = arm.forward_kinematics(q, frame)
    missing, error, each = check(arm, frame, q, T)
    assert missing == 0, f"{name}: {missing} positions are not among the solutions"
    other = peer(arm, frame)
    jobs: dict[str, Job] = {"ours": lambda: arm.inverse_kinematics_all(T, frame)}
    found = ""
    if other is not None:
        few = [np.asfortranarray(one) for one in T[:FEW]]
        exact = 0
        for one in few:
            answers = np.asarray(other.IK(one).Q).reshape(-1, 6)
            exact += int((np.abs(arm.forward_kinematics(answers, frame) - one).max(axis=(-1, -2)) < ACCURACY).sum())
        mine = arm.inverse_kinematics_all(T[:FEW], frame).valid.sum()
        found = f"{exact} of {mine}"
        timed = few[:TIMED]
        jobs["one"] = lambda: [other.IK(one) for one in timed]
        jobs["batch"] = lambda: other.IK_batched(timed, 1)
    seconds = best(jobs, turns)
    ours = 1e9 * seconds["ours"] / count
    theirs = [1e9 * seconds[job] / TIMED if job in seconds else None for job in ("one", "batch")]
    fastest = min((time for time in theirs if time is not None), default=None)
    ratio = "" if fastest is None else f"{fastest / ours:.1f}"
    return name, figures(each), f"{error:.0e}", figures(ours), found, *map(figures, theirs), ratio


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--poses", type=int, default=10_000)
    parser.add_argument("--turns", type=int, default=50)
    parser.add_argument("--eaik")
    options = parser.parse_args()
    if options.eaik:
        sys.path.append(options.eaik)  # behind this environment's own packages
    about = circumstances()
    about["versions"] |= versions(["EAIK"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fd.RobotWarning)  # published inertias that are impossible do not matter here
        table = [row(name, options.poses, options.turns) for name in ARMS]
    print(heading(f"fastdyn {fd.__version__}: inverse kinematics in closed form", about))
    print(
        f"{options.poses} random poses of each arm, all solutions, ns per pose, one thread; ratio: to EAIK's quicker.\n"
    )
    header = (
        "arm",
        ">solutions",
        ">largest error",
        ">ns",
        ">EAIK's solutions",
        ">one by one, ns",
        ">batch, ns",
        ">ratio",
    )
    print(markdown(header, table))


if __name__ == "__main__":
    main()
