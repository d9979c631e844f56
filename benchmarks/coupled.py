"""What coupled joints cost: every quantity of a coupled robot against its plain robot, the same tree, in one run.

    python -m benchmarks.coupled [file] [--quantities inverse_dynamics mass_matrix ...]

By default the Panda with its hand, whose 8 coordinates move 9 joints. Sides take turns; both compute the same motion.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from importlib.metadata import distribution
from typing import Any

import numpy as np

import fastdyn as fd
from benchmarks.common import best, circumstances, heading, markdown
from fastdyn.calls.bound import call_name
from fastdyn.clock import Job
from fastdyn.quantities import QUANTITIES, Quantity

T, TURNS = 4096, 200
PANDA = "panda_description/urdf/panda.urdf"


def panda() -> str:
    """The Panda with its hand, of the package example-robot-data."""
    package = distribution("example-robot-data")
    return str(next(package.locate_file(file) for file in package.files or () if str(file).endswith(PANDA)))


def motion(coupled: fd.CoupledRobot) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """T states of a coupled robot, and of its joints."""
    q, qd, qdd = np.random.default_rng(0).uniform(-1, 1, (3, T, coupled.n))
    own = {"q": q, "qd": qd, "qdd": qdd, "tau": coupled.inverse_dynamics(q, qd, qdd)}
    joints = {"q": coupled.joint_positions(q), "qd": qd @ coupled.G.T, "qdd": qdd @ coupled.G.T}
    return own, {**joints, "tau": coupled.robot.inverse_dynamics(*joints.values())}


def calls(robot: Any, row: Quantity, values: dict[str, np.ndarray]) -> Iterator[tuple[str, Job]]:
    """The calls that are timed: one state, checked and bound, and a batch."""
    task, loop = robot.task(row), robot.bind(row.name)
    batch = tuple(values[field.name] for field in row.reads)
    one = tuple(value[0].copy() for value in batch)
    for field, value in zip(row.reads, one, strict=True):
        getattr(loop, field.name)[...] = value
    out = np.empty_like(task(batch))
    yield "single", lambda: task(one)
    yield "bound", getattr(loop, call_name(row))
    yield "batch", lambda: task(batch, out)


def ratios(coupled: fd.CoupledRobot, row: Quantity) -> dict[str, float]:
    """The coupled robot's time over the plain one's, for each way of calling."""
    own, joints = motion(coupled)
    found = {}
    pairs = zip(calls(coupled, row, own), calls(coupled.robot, row, joints), strict=True)
    for (way, here), (_, there) in pairs:
        seconds = best({"coupled": here, "plain": there}, TURNS)
        found[way] = seconds["coupled"] / seconds["plain"]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", nargs="?", default=panda())
    parser.add_argument("--quantities", nargs="+", choices=QUANTITIES, default=list(QUANTITIES))
    options = parser.parse_args()
    robot = fd.load(options.file)
    if not isinstance(robot, fd.CoupledRobot):
        parser.error(f"{options.file} has no coupled joints")
    about = circumstances()
    rows = []
    for name in options.quantities:
        try:
            figures = [f"{ratio:.2f}" for ratio in ratios(robot, QUANTITIES[name]).values()]
        except fd.SingularMassMatrixError:  # some files have hands without mass
            figures = ["singular"] * 3
        rows.append((name.replace("_", " "), *figures))
    print(heading(f"fastdyn {fd.__version__}: coupled robots against plain ones", about))
    print(f"{robot!r}. Time over the plain robot's; batches of {T}; best of {TURNS} turns.\n")
    print(markdown(("quantity", ">single", ">bound", ">batch"), rows))


if __name__ == "__main__":
    main()
