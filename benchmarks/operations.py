"""Operations of one state: the general text, the program traced from it for one robot, and that program optimised.

    python -m benchmarks.operations [robot ...]

For each: multiplications + additions, and divisions after a slash. Fused: instructions if an addition fuses with a
product that is used nowhere else. Live: the mean number of values that are live, in the order of the program; inputs
and constants are not counted.
"""

from __future__ import annotations

import math
import sys
import time
import warnings

import numpy as np

import fastdyn as fd
from fastdyn.quantities import QUANTITIES, Quantity
from fastdyn.robot import Robot
from fastdyn.scalars import Operations, count
from fastdyn.specialize.algebra.optimize import optimized
from fastdyn.specialize.algebra.schedule import fused_operations, live_values
from fastdyn.specialize.program import trace

ROBOTS = ("puma560 without motors", "puma560", "ur5", "panda", "iiwa", "stanford", "irb1400")
LOOPS = ("singular_values", "inverse_velocity", "inverse_acceleration", "task_dynamics")  # depend on values


def general(robot: Robot, row: Quantity) -> Operations:
    """The operations of the text that every robot shares."""
    parameters = robot.parameters_in(None, None, False) if row.frame else robot.parameters
    P, tree = parameters.constants[:2]
    n = parameters.joints
    sizes = [0 if field in row.optional else math.prod(field.core(n)) for field in row.inputs]
    inputs = [np.random.default_rng(0).uniform(-1, 1, size) for size in sizes]
    return count(
        row.text, P, tree, *inputs, *(np.zeros(math.prod(f.core(n))) for f in row.gives), np.zeros(row.rows(n))
    )


def shown(operations: Operations) -> str:
    """Multiplications + additions / divisions."""
    divided = f" / {operations.divisions}" if operations.divisions else ""
    return f"{operations.multiplications} + {operations.additions}{divided}"


def line(robot: Robot, row: Quantity) -> list[str]:
    """A row of the table."""
    program = trace(row, robot.parameters_in(None, None, False) if row.frame else robot.parameters)
    start = time.process_time()
    better = optimized(program)
    took = time.process_time() - start

    counts = [shown(x) for x in (general(robot, row), program.operations(), better.operations())]
    fused = [fused_operations(one) for one in (program, better)]
    live = [live_values(one).mean for one in (program, better)]
    after = better.operations()
    total = str(after.multiplications + after.additions)
    return [row.name, *counts, total, f"{fused[0]} to {fused[1]}", f"{live[0]:.0f} to {live[1]:.0f}", f"{took:.2f} s"]


def main() -> None:
    warnings.simplefilter("ignore", fd.RobotWarning)
    for name in sys.argv[1:] or ROBOTS:
        robot = getattr(fd.robots, name.removesuffix(" without motors"))()
        robot = robot.without_motors() if name.endswith("without motors") else robot
        print(f"\n## {name}\n")
        print("| quantity | general | traced | optimised | together | fused | live | took |")
        print("|---|---:|---:|---:|---:|---:|---:|---:|")
        for row in QUANTITIES.values():
            if row.name not in LOOPS:
                print("|", " | ".join(line(robot, row)), "|")


if __name__ == "__main__":
    main()
