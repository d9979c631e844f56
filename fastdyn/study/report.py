"""Runs every part of the study, and writes the page and its numbers.

`fastdyn study` on the command line; in Python:

    from fastdyn.study import report
    report.write(report.gather(quick=True), Path("study"))
"""

from __future__ import annotations

import platform
import warnings
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from fastdyn import clock, output
from fastdyn.errors import MissingExtraError, RobotWarning
from fastdyn.page import files
from fastdyn.robot import Robot
from fastdyn.robots import get, puma560
from fastdyn.study import counts, timing
from fastdyn.study.counts.robot import CHIEF, SPECIALISED, Count, count
from fastdyn.study.effects import results as effects
from fastdyn.study.formulations import FORMULATIONS, inverse_dynamics
from fastdyn.study.results import Agreement, Results

Progress = Callable[[float, str], None]
STATES = 1000
COUNTED = ("puma560", "ur5", "panda", "iiwa", "stanford", "irb1400")  # robots, without friction, which hardly counts


def gather(
    quick: bool = False,
    progress: Progress | None = None,
    command: str = "fastdyn study",
    keep: Callable[[Results], None] | None = None,
) -> Results:
    """Runs the whole study, with fewer sizes and repeats if `quick`. A first run also compiles, for a minute or two.

    progress: called as progress(fraction from 0 to 1, what is being done). command: shown on the page. keep: called
    after each pass of the timings with the results so far, so that a run that is ended loses one pass at most.
    """
    if find_spec("matplotlib") is None:
        raise MissingExtraError("the study draws figures: pip install 'fastdyn[plots]'")
    say = progress or (lambda fraction, what: None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RobotWarning)  # some of the PUMA's published inertias are physically impossible
        robot = puma560()
    about = circumstances(command, quick)
    say(0.0, "comparing formulations; a first run compiles them")
    found = agreement(robot)
    counted = 0.5 if quick else 0.1  # estimated share of the total time
    say(0.1 * counted, "counting operations of the formulations")
    published, texts = counts.tables(), counts.formulations()
    probing, dalembert = counts.probing_counts(), counts.dalembert.search()
    say(0.4 * counted, "counting operations of the library's kernels")
    kernels = counts.kernels()
    own = robot_counts(
        CHIEF if quick else SPECIALISED, lambda fraction, what: say(counted * (0.6 + 0.3 * fraction), what)
    )
    terms = effects.gather(lambda part, what: say(counted * (0.9 + 0.1 * part), what))

    def results(timings: timing.Timings) -> Results:
        return Results(
            about, found, published, texts, kernels, counts.literature(), probing, dalembert, own, timings, terms
        )

    def kept(timings: timing.Timings) -> None:
        if keep is not None:
            keep(results(timings))

    return results(timing.measure(quick, lambda part, what: say(counted + (0.95 - counted) * part, what), kept))


def agreement(robot: Robot, states: int = STATES) -> tuple[Agreement, ...]:
    """Compares every formulation with Robot.inverse_dynamics on random states, without motors.

    >>> import fastdyn as fd
    >>> max(found.difference for found in agreement(fd.robots.two_link(), 10)) < 1e-13
    True
    """
    arm = robot.without_motors()
    q, qd, qdd = np.random.default_rng(0).uniform(-3, 3, (3, states, arm.n))
    ours = arm.inverse_dynamics(q, qd, qdd)
    largest = np.abs(ours).max(axis=0)
    found = []
    for name, how in FORMULATIONS.items():
        if not how.rotary_only or all(joint.kind == "revolute" for joint in arm.joints):
            difference = float((np.abs(inverse_dynamics(arm, q, qd, qdd, name) - ours) / largest).max())
            gives = tuple(field.name for field in how.gives)
            found.append(Agreement(name, how.source, gives, how.rotary_only, difference, states, arm.name))
    return tuple(found)


def robot_counts(names: Sequence[str], progress: Progress | None = None) -> tuple[Count, ...]:
    """Operations of some quantities for each of the built-in robots COUNTED."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RobotWarning)
        robots = [get(name).without_friction() for name in COUNTED]
    found: list[Count] = []
    for name in names:
        for robot in robots:
            if progress is not None:
                progress(len(found) / (len(names) * len(robots)), f"counting operations of robots: {name}")
            found.append(count(robot, name))
    return tuple(found)


def circumstances(command: str, quick: bool) -> dict[str, str]:
    """Machine, system, date, load, versions and command, before anything is run."""
    packages, load = ("fastdyn", "numpy", "numba", "llvmlite", "matplotlib"), clock.load()
    return {
        "Machine": output.machine(),
        "System": f"{platform.system()} {platform.machine()}",
        "Date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        **({"Load": f"load average {load[0]:.2f} at the start"} if load else {}),
        "Versions": ", ".join(
            [f"Python {platform.python_version()}", *(f"{p} {metadata.version(p)}" for p in packages)]
        ),
        "Command": command,
        "Extent": "quick run: fewer sizes and repeats" if quick else "full run",
    }


def write(results: Results, folder: Path) -> Path:
    """Writes index.html, summary.md, study.json and csv/*.csv into the folder; returns the page's path.

    Nothing is written unless everything can be; each file appears whole, and the page is written last.
    """
    from fastdyn.study.sections import report

    return files.write(report(results), results.text(), folder)
