"""The report of the study: runs every part, and writes the page and its numbers.

`fastdyn study` on the command line; in Python:

    from fastdyn.study import report
    report.write(report.gather(quick=True), Path("study"))
"""

from __future__ import annotations

import json
import platform
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fastdyn import output
from fastdyn.errors import MissingExtraError, RobotWarning
from fastdyn.robot import Robot
from fastdyn.robots import get, puma560
from fastdyn.study import counts
from fastdyn.study.counts.robot import CHIEF, SPECIALISED, Count, count
from fastdyn.study.formulations import FORMULATIONS, inverse_dynamics

if TYPE_CHECKING:
    from fastdyn.study.effects import Robustness, Split, Verdict
    from fastdyn.study.page.content import Report
    from fastdyn.study.simplification import Simplification
    from fastdyn.study.timing import Timings

Figures = dict[str, Any]  # title: matplotlib's Figure
Progress = Callable[[float, str], None]
TOLERANCES = (0.001, 0.01, 0.05, 0.1)  # of simplification: torque errors, relative to the largest torque
STATES = 1000
COUNTED = ("puma560", "ur5", "panda", "iiwa", "stanford", "irb1400")  # robots, without friction, which hardly counts


@dataclass(frozen=True)
class Agreement:
    """A formulation's largest difference from the library, relative to the largest torque of the joint."""

    formulation: str
    difference: float
    states: int
    robot: str


@dataclass(frozen=True, eq=False)
class Results:
    """Results of all parts of the study."""

    agreement: tuple[Agreement, ...]
    robot_counts: tuple[Count, ...]
    timings: Timings
    timing_figures: Figures
    split: Split
    verdicts: tuple[Verdict, ...]
    robustness: tuple[Robustness, ...]
    simplifications: tuple[Simplification, ...]
    effects_figures: Figures
    effects_notes: tuple[str, ...]
    about: dict[str, str]  # machine, versions, date, command


def gather(quick: bool = False, progress: Progress | None = None, command: str = "fastdyn study") -> Results:
    """Runs the whole study, with fewer sizes and repeats if `quick`. The first run on a machine compiles for minutes.

    progress: called as progress(fraction from 0 to 1, what is being done). command: shown on the page.
    """
    if find_spec("matplotlib") is None:
        raise MissingExtraError("the study draws figures: pip install 'fastdyn[plots]'")
    from fastdyn.study import effects, ink, simplify, timing
    from fastdyn.study.effects.figures import figures as effects_figures
    from fastdyn.study.timing.figures import figures as timing_figures

    say = progress or (lambda fraction, what: None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RobotWarning)  # some of the PUMA's published inertias are physically impossible
        robot = puma560()
    say(0.0, "comparing formulations; a first run compiles them")
    found = agreement(robot)
    say(0.03, "counting operations")
    counts.tables(), counts.formulations(), counts.kernels(), counts.probing_counts()
    own = robot_counts(CHIEF if quick else SPECIALISED)
    counted = 0.5 if quick else 0.1  # estimated share of the total time
    timings = timing.measure(quick, lambda fraction, what: say(counted + (0.9 - counted) * fraction, what))
    say(0.9, "translational against rotational effects")
    trajectory = effects.puma_trajectory()
    split = effects.split(robot, trajectory)
    robustness = effects.robustness(robot, progress=lambda fraction, what: say(0.9 + 0.03 * fraction, what))
    say(0.93, "simplification")
    simplifications = tuple(simplify(robot, trajectory, tolerance) for tolerance in TOLERANCES)
    say(0.95, "figures")
    with ink.style():
        drawn = timing_figures(timings), effects_figures(split, robustness)
    return Results(
        found, own, timings, drawn[0], split, effects.verdicts(split), robustness, simplifications, drawn[1],
        effects.NOTES, circumstances(command, quick),
    )  # fmt: skip


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
    return tuple(
        Agreement(
            name, float((np.abs(inverse_dynamics(arm, q, qd, qdd, name) - ours) / largest).max()), states, arm.name
        )
        for name, how in FORMULATIONS.items()
        if not how.rotary_only or all(joint.kind == "revolute" for joint in arm.joints)
    )


def robot_counts(names: Iterable[str]) -> tuple[Count, ...]:
    """Operations of some quantities for each of the built-in robots COUNTED."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RobotWarning)
        robots = [get(name).without_friction() for name in COUNTED]
    return tuple(count(robot, name) for name in names for robot in robots)


def circumstances(command: str, quick: bool) -> dict[str, str]:
    """Machine, system, date, versions and command."""
    packages = ("fastdyn", "numpy", "numba", "llvmlite", "matplotlib")
    return {
        "Machine": output.machine(),
        "System": f"{platform.system()} {platform.machine()}",
        "Date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "Versions": ", ".join(
            [f"Python {platform.python_version()}", *(f"{p} {metadata.version(p)}" for p in packages)]
        ),
        "Command": command,
        "Extent": "quick: fewer sizes and repeats" if quick else "full",
    }


def write(results: Results, folder: Path) -> Path:
    """Writes index.html, summary.md, study.json and csv/*.csv into the folder; returns the page's path.

    Nothing is written unless everything can be; each file appears whole, and the page is written last.
    """
    from fastdyn.study import page

    report = page.report(results)
    files = {f"csv/{table.key}.csv": table.csv() for table in report.tables}
    files["study.json"] = json.dumps(_data(results, report), indent=1, allow_nan=False, ensure_ascii=False) + "\n"
    files["summary.md"] = page.markdown(report)
    files["index.html"] = page.html(report)
    for name, text in files.items():
        output.write(folder / name, text)
    return folder / "index.html"


def _data(results: Results, report: Report) -> dict[str, Any]:
    """All results for JSON: the tables, and the curves of the figures."""
    split = results.split
    motion = {name: getattr(split.trajectory, name) for name in ("t", "q", "qd", "qdd")}
    parts = {name: getattr(split, name) for name in ("D_tran", "D_rot", "h_tran", "h_rot", "c")}
    return {
        "about": results.about,
        "headlines": [{"value": headline.value, "label": headline.label} for headline in report.headlines],
        "tables": {table.key: table.data() for table in report.tables},
        "notes": list(results.timings.notes),
        "split": {
            "robot": split.robot,
            "trajectory": split.trajectory.name,
            **{name: np.asarray(array).tolist() for name, array in (motion | parts).items()},
        },
    }
