"""Specialised code and exported C against general code: the largest relative difference on 10,000 states of each robot.

    python -m benchmarks.agreement [--states 10000]

All built-in robots, and 20 random trees with drives. Differences are shares of the largest number in the general
result; those of forward dynamics are divided by the condition of the mass matrix (at its worst of ten states), which
multiplies every rounding. C is compiled with -O1 -ffp-contract=fast.
"""

from __future__ import annotations

import argparse
import tempfile
import warnings
from collections.abc import Iterable

import numpy as np

import fastdyn as fd
from benchmarks.common import circumstances, heading, markdown

WHAT = ("inverse_dynamics", "mass_matrix", "forward_dynamics")


def robots() -> dict[str, fd.Robot]:
    """The built-in robots, and random ones."""
    found = {name: fd.robots.get(name) for name in fd.robots.names()}
    return found | {f"random {k}": fd.robots.random_tree(2 + k % 6, k, 0.3, drives=True) for k in range(20)}


def differences(robot: fd.Robot, states: int) -> list[str]:
    """For each quantity: specialised, C in double precision, C in single precision."""
    q, qd, u = np.random.default_rng(0).uniform(-1.5, 1.5, (3, states, robot.n))
    arguments = {"inverse_dynamics": (q, qd, u), "mass_matrix": (q,), "forward_dynamics": (q, qd, u)}
    condition = max(np.linalg.cond(robot.mass_matrix(q[:10])))
    with tempfile.TemporaryDirectory() as place:
        flags = ("-O1", "-ffp-contract=fast")
        others = [
            robot.specialize(),
            *(
                fd.load_exported(robot.export_c(f"{place}/{real}", WHAT, real), flags=flags)
                for real in ("double", "float")
            ),
        ]
    cells = []
    for what in WHAT:
        expected = getattr(robot, what)(*arguments[what])
        scale = np.abs(expected).max() * (condition if what == "forward_dynamics" else 1.0)
        cells += [f"{np.abs(getattr(other, what)(*arguments[what]) - expected).max() / scale:.0e}" for other in others]
    return cells


def main(arguments: Iterable[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.agreement")
    parser.add_argument("--states", type=int, default=10_000)
    options = parser.parse_args(arguments)
    print(heading("Specialised code and C against general code", circumstances()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fd.RobotWarning)
        table = [(name, robot.n, *differences(robot, options.states)) for name, robot in robots().items()]
    ways = [f">{what.replace('_', ' ')}, {way}" for what in WHAT for way in ("specialised", "C", "C float")]
    print(markdown(("robot", ">joints", *ways), table))


if __name__ == "__main__":
    main()
