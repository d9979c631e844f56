"""Poses and Jacobians of arms' tips, one process, taking turns with Pinocchio in C++ and from Python.

    python -m benchmarks.kinematics [--cold] [EIGEN]

Each turn begins with an untimed run; --cold: without, so that a side finds its arrays where the other has left them, in
the last cache or in memory.
EIGEN: the folder with Eigen's headers, /usr/include/eigen3 if not given (Debian: libeigen3-dev). Pinocchio's loops in
C++ (kinematics.cpp) are built against the headers and libraries of its PyPI package with -O3 -march=native.
"""

from __future__ import annotations

import ctypes
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pinocchio as pin

import fastdyn as fd
from benchmarks.common import best, circumstances, heading, markdown
from tests.peers import Pinocchio

T, TURNS = 8192, 60
WARM = "--cold" not in sys.argv
ROBOTS = ("puma560", "ur5", "irb1400", "panda", "iiwa")


def library(folder: str, eigen: str) -> ctypes.CDLL:
    """kinematics.cpp, compiled."""
    prefix = Path(pin.__file__).parents[4]  # cmeel.prefix
    target = Path(folder) / "kinematics.so"
    subprocess.run(
        ["g++", "-O3", "-march=native", "-DNDEBUG", "-std=c++17", "-shared", "-fPIC", "-w",
         "-DBOOST_MPL_LIMIT_LIST_SIZE=30", "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
         f"-I{eigen}", f"-I{prefix}/include", Path(__file__).with_suffix(".cpp"),
         "-o", target, f"-L{prefix}/lib", f"-Wl,-rpath,{prefix}/lib", "-lpinocchio_default"],
        check=True,
    )  # fmt: skip
    found = ctypes.CDLL(str(target))
    found.make.restype = ctypes.c_void_p
    return found


def chain(robot: fd.Robot) -> tuple[np.ndarray, np.ndarray]:
    """What `make` of kinematics.cpp takes."""
    found, rest = [], np.eye(4)
    for joint in robot.all_joints:  # of these arms in order, from the base to the tip
        rest = rest @ joint.origin
        if joint.kind != "fixed":
            assert tuple(joint.axis) == (0, 0, 1)
            found.append(rest)
            rest = np.eye(4)
        rest = rest @ joint.tail
    return np.array([*found, rest]), np.array([joint.kind == "prismatic" for joint in robot.joints], dtype=np.int64)


def pointer(array: np.ndarray) -> ctypes.c_void_p:
    """An array's address."""
    return ctypes.c_void_p(array.ctypes.data)


def rows(name: str, peer: ctypes.CDLL) -> Iterator[tuple[str, ...]]:
    """Times per state of one robot, ns, and ratios."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fd.RobotWarning)  # published inertias may be impossible
        robot = fd.robots.get(name)
    n, tip = robot.n, robot.all_joints[-1].child
    q = np.random.default_rng(0).uniform(-2, 2, (T, n))
    pose, J = robot.pose_and_jacobian(q, tip)
    theirs, their_J = np.empty_like(pose), np.empty_like(J)
    placements, slides = chain(robot)
    made = ctypes.c_void_p(peer.make(pointer(placements), pointer(slides), n))

    def run(function: str, out: np.ndarray) -> None:
        getattr(peer, function)(made, pointer(q), pointer(out), T)

    run("poses", theirs)
    run("jacobians", their_J)
    assert np.abs(theirs - pose).max() < 1e-12, "they must agree"
    assert np.abs(their_J - J).max() < 1e-12, "they must agree"
    seconds = best(
        {
            "pose": lambda: robot.forward_kinematics(q, tip, out=pose),
            "pose and jacobian": lambda: robot.pose_and_jacobian(q, tip, out=(pose, J)),
            "pin poses": lambda: run("poses", theirs),
            "pin joints": lambda: run("joints_only", theirs),
            "pin jacobians": lambda: run("jacobians", their_J),
        },
        TURNS,
        warm=WARM,
    )
    ns = {key: 1e9 * value / T for key, value in seconds.items()}
    other = Pinocchio(robot)
    index, state = other.frame(tip), q[0].copy()
    model, data = other.model, other.data
    loop = robot.bind("jacobian", "pose_and_jacobian", frame=tip)
    loop.q[:] = state
    axes = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    one = best(
        {
            "bound": loop.pose_and_jacobian,
            "checked": lambda: robot.jacobian(state, tip),
            "pin": lambda: pin.computeFrameJacobian(model, data, state, index, axes),
        },
        TURNS,
    )
    yield (
        name, f"{ns['pose']:.1f}", f"{ns['pin joints']:.0f}", f"{ns['pin joints'] / ns['pose']:.1f}",
        f"{ns['pin poses'] / ns['pose']:.1f}", f"{ns['pose and jacobian']:.1f}", f"{ns['pin jacobians']:.0f}",
        f"{ns['pin jacobians'] / ns['pose and jacobian']:.1f}", f"{1e9 * one['bound']:.0f}",
        f"{1e9 * one['checked']:.0f}", f"{1e9 * one['pin']:.0f}", f"{one['pin'] / one['bound']:.1f}",
    )  # fmt: skip


def main() -> None:
    """Prints the table."""
    print(heading("Kinematics of the tip, ns per state", circumstances()))
    columns = (
        "robot", "pose", "C++ forwardKinematics", "ratio", "ratio to pose of the frame, written",
        "pose and Jacobian", "C++ computeFrameJacobian, written", "ratio", "one state, bound: pose and Jacobian",
        "checked: Jacobian", "pin.computeFrameJacobian", "ratio to bound",
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        given = [argument for argument in sys.argv[1:] if argument != "--cold"]
        peer = library(folder, *given or ["/usr/include/eigen3"])
        print(markdown(columns, [row for name in ROBOTS for row in rows(name, peer)]))


if __name__ == "__main__":
    main()
