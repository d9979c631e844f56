"""A computed-torque loop on a simulated arm: how long it computes and how late it wakes on this host.

python -m fastdyn.realtime [--robot puma560] [--rate 1000] [--seconds 10] [--fifo PRIORITY] [--core N]
                           [--lock-memory] [--out FOLDER]
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

import fastdyn as fd
from fastdyn.control import ComputedTorque
from fastdyn.interrupt import INTERRUPTED, handle_again
from fastdyn.output import check_folder, print_anything
from fastdyn.realtime.loop import Loop
from fastdyn.realtime.report import Report
from fastdyn.simulation import SimulatedArm


def main(arguments: Sequence[str] | None = None) -> Report:
    """Runs a computed-torque loop on a simulated arm and prints its report."""
    print_anything()
    parser = argparse.ArgumentParser(prog="python -m fastdyn.realtime", description=main.__doc__)
    known = ", ".join(fd.robots.names())
    parser.add_argument("--robot", default="puma560", help=f"{known}, or a file (default: puma560)")
    parser.add_argument("--rate", type=float, default=1000.0, metavar="HZ", help="cycles a second (default: 1000)")
    parser.add_argument(
        "--seconds", type=float, default=10.0, help="length of the run (default: 10); Ctrl-C ends it sooner"
    )
    parser.add_argument(
        "--fifo", type=int, metavar="PRIORITY", help="run under SCHED_FIFO, 1 to 99 (needs root or CAP_SYS_NICE)"
    )
    parser.add_argument("--core", type=int, metavar="N", help="run on this core only")
    parser.add_argument(
        "--lock-memory", action="store_true", help="keep all pages in memory (needs root or CAP_IPC_LOCK)"
    )
    parser.add_argument("--out", metavar="FOLDER", help="write the report as text, JSON and a figure there")
    given = parser.parse_args(arguments)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", fd.RobotWarning)
        try:
            path = Path(given.robot)
            robot = fd.load(path) if path.suffix or path.is_file() else fd.robots.get(given.robot)
            if given.out is not None:
                check_folder(Path(given.out), "--out")  # now, not after the run
        except fd.FastdynError as problem:
            parser.error(str(problem))
        except OSError as problem:
            parser.error(f"--robot {given.robot}: {problem.strerror}")
    for warning in caught:
        print(f"note: {warning.message}")
    if not isinstance(robot, fd.Robot):
        parser.error(f"--robot {given.robot}: expected a robot without coupled joints, found {robot!r}")
    try:
        settings = {"fifo": given.fifo, "core": given.core, "lock_memory": given.lock_memory}
        loop = Loop(robot, given.rate, quantities=["computed_torque"], **settings)
        arm = SimulatedArm(robot, given.rate)
        controller = ComputedTorque(robot, arm.read)
        report = loop.run(controller, given.seconds, after=arm)
    except fd.FastdynError as problem:
        parser.error(str(problem))
    print(report)
    print(
        f"Computed torque on a simulated arm, which is not timed: largest error {controller.worst.max():.1e} rad or m."
    )
    if given.out is not None:
        for path in report.save(given.out):
            print(f"wrote {path}")
    return report


if __name__ == "__main__":
    handle_again()
    try:
        main()
    except KeyboardInterrupt:  # before the loop, which ends by Ctrl-C with a report
        sys.exit(INTERRUPTED)
