"""Numeric inverse kinematics beside the Robotics Toolbox's `ik_LM` in C++: the same arms and poses, in one run.

    python -m benchmarks.inverse_kinematics [--peer PYTHON] [--poses 10000] [--turns 5] [--seed 1]

Poses are those of random joint angles within the limits; starts are random. A pose counts as found if, by fastdyn's
forward kinematics, its errors are below 1e-6 m and rad, and all joints within their limits. The toolbox gets its best
settings (method "chan", k = 0.1, up to 100 searches) and each arm as the shortest sequence of elementary
transforms: a constant one before each joint. --peer: a Python that has roboticstoolbox-python, which needs not be this
one; without it fastdyn runs alone, general and specialised (`robot.specialize()`). --tol: the toolbox's, of half the
square of its error, so that 5e-13 is the error that counts; with 1e-11 it stops earlier, and finds 83 %. Sides take
turns, each on one thread; fastdyn's begin with an untimed run of a few milliseconds (a toolbox's turn is a hundred
times as long).
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import fastdyn as fd
from benchmarks.common import circumstances, figures, heading, markdown
from fastdyn.rotations import turn

ARMS = ("panda", "iiwa", "ur5", "puma560")
CLOSE = 1e-6  # m and rad

PEER = """
import sys, time
import numpy as np
import roboticstoolbox
from roboticstoolbox import ET, ETS

given = np.load(sys.argv[1])
path = []
for before, limits in zip(given["before"], given["limits"]):
    path += [ET.SE3(before), ET.Rz(qlim=limits)]
arm = ETS([*path, ET.SE3(given["last"])])
check = max(np.abs(arm.fkine(q).A - T).max() for q, T in zip(given["q"][:100], given["T"][:100]))
print(roboticstoolbox.__version__, check, flush=True)
settings = dict(ilimit=30, slimit=100, tol=float(sys.argv[3]), joint_limits=True, k=0.1, method="chan")
for line in sys.stdin:
    begun = time.perf_counter()
    found = [arm.ik_LM(T, **settings) for T in given["T"]]
    took = time.perf_counter() - begun
    np.save(sys.argv[2], np.array([each.q for each in found]))
    print(took, flush=True)
"""


def posed(robot: fd.Robot, count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Random joint angles within the limits, and the tip's poses there."""
    low, high = robot.limits.position.T
    q = np.random.default_rng(seed).uniform(low, high, (count, robot.n))
    return q, robot.forward_kinematics(q)


def constants(robot: fd.Robot) -> tuple[np.ndarray, np.ndarray]:
    """The constant transform before each joint, which then turns about its z axis, and the one behind the last."""
    passed, found = np.eye(4), []
    by_parent = {joint.parent: joint for joint in robot.all_joints}
    link = robot.base.name
    while link in by_parent:
        joint = by_parent[link]
        passed = passed @ joint.origin
        if joint.kind == "revolute":
            upright = np.eye(4)
            upright[:3, :3] = onto(np.asarray(joint.axis))
            found.append(passed @ upright)
            passed = np.linalg.inv(upright)
        passed = passed @ joint.tail
        link = joint.child
    return np.array(found), passed


def onto(axis: np.ndarray) -> np.ndarray:
    """A rotation whose z axis is the given direction."""
    normal = np.cross((0.0, 0.0, 1.0), axis)
    sine = np.linalg.norm(normal)
    if sine < 1e-12:
        return np.diag([1.0, np.sign(axis[2]), np.sign(axis[2])])
    return turn(normal / sine, float(np.arctan2(sine, axis[2])))


class Toolbox:
    """A process of another Python that solves the same poses, a turn at a time."""

    def __init__(self, python: str, robot: fd.Robot, q: np.ndarray, T: np.ndarray, folder: Path, tol: float) -> None:
        before, last = constants(robot)
        self.answers = folder / "found.npy"
        np.savez(folder / "given.npz", before=before, last=last, limits=robot.limits.position, q=q, T=T)
        command = [python, "-c", PEER, str(folder / "given.npz"), str(self.answers), str(tol)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.version, difference = self._line().split()
        if float(difference) > 1e-9:
            raise SystemExit(f"the toolbox has another {robot.name}: poses differ by {difference}")

    def _line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def turn(self) -> float:
        """Seconds for all poses."""
        assert self.process.stdin is not None
        print("go", file=self.process.stdin, flush=True)
        return float(self._line())

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def share_found(robot: fd.Robot, q: np.ndarray, T: np.ndarray) -> float:
    """The share of poses that are reached within the limits."""
    found = robot.forward_kinematics(q)
    distance = np.linalg.norm((found - T)[:, :3, 3], axis=1)
    R = np.swapaxes(T[:, :3, :3], 1, 2) @ found[:, :3, :3]
    angle = 2 * np.arcsin(np.minimum(1, np.linalg.norm(R - np.eye(3), axis=(1, 2)) / np.sqrt(8)))
    low, high = robot.limits.position.T
    return float(((distance < CLOSE) & (angle < CLOSE) & (q >= low).all(1) & (q <= high).all(1)).mean())


def compare(name: str, peer: str | None, poses: int, turns: int, tol: float, seed: int) -> list[tuple[Any, ...]]:
    """Rows of the table, of the general robot and the specialised one: microseconds a pose, shares found, ratios."""
    robot = fd.robots.get(name)
    q, T = posed(robot, poses, seed)
    kinds = {"": robot, ", specialised": robot.specialize()}
    found = {kind: each.inverse_kinematics(T) for kind, each in kinds.items()}
    ours, theirs = dict.fromkeys(kinds, np.inf), np.inf
    with tempfile.TemporaryDirectory() as folder:
        toolbox = Toolbox(peer, robot, q, T, Path(folder), tol) if peer else None
        for _ in range(turns):
            for kind, each in kinds.items():
                each.inverse_kinematics(T)  # not timed: none begins with the caches that another has left
                begun = time.perf_counter()
                found[kind] = each.inverse_kinematics(T)
                ours[kind] = min(ours[kind], time.perf_counter() - begun)
            if toolbox:
                theirs = min(theirs, toolbox.turn())
        share = ""
        if toolbox:
            toolbox.close()
            share = f"{100 * share_found(robot, np.load(toolbox.answers), T):.2f} %"
    rows = []
    for kind, each in found.items():
        row: tuple[Any, ...] = (
            f"{name}{kind}", figures(1e6 * ours[kind] / poses), f"{100 * share_found(robot, each.q, T):.2f} %",
            figures(float(each.iterations.mean())),
        )  # fmt: skip
        rows.append((*row, figures(1e6 * theirs / poses), share, figures(theirs / ours[kind])) if toolbox else row)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer")
    parser.add_argument("--poses", type=int, default=10_000)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--tol", type=float, default=5e-13)
    parser.add_argument("--seed", type=int, default=1)  # of the poses; the method was tuned on those of seed 0
    options = parser.parse_args()
    print(heading("Numeric inverse kinematics", circumstances()))
    header = ["arm", ">us a pose", ">found", ">steps"]
    if options.peer:
        header += [">toolbox, us", ">found", ">ratio"]
    given = options.peer, options.poses, options.turns, options.tol, options.seed
    print(markdown(header, [row for name in ARMS for row in compare(name, *given)]))


if __name__ == "__main__":
    main()
