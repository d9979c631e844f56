"""Everything that the study says about translational and rotational effects, as plain data."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np

from fastdyn.mechanism.parts import Array
from fastdyn.robot import Robot
from fastdyn.study.effects import models
from fastdyn.study.effects.baselines import Score, scores
from fastdyn.study.effects.dominance import Robustness, Verdict, robustness, verdicts
from fastdyn.study.effects.models import Elsewhere, Exact, Place
from fastdyn.study.effects.parameter_sets import SOURCES, parameter_sets
from fastdyn.study.effects.terms import Split, parts, split
from fastdyn.study.effects.trajectory import Trajectory, puma_trajectory
from fastdyn.study.simplification import simplify

TOLERANCES = (0.001, 0.01, 0.05, 0.1)  # of simplification: torque errors, relative to the largest torque
THRESHOLDS = (0.55, 0.99)  # other shares from which an effect might be called dominant
CHAPTER = "the chapter's"


@dataclass(frozen=True)
class Parameters:
    """A published set of parameters, and the verdicts with it on the trajectory."""

    name: str
    source: str
    verdicts: tuple[Verdict, ...]


@dataclass(frozen=True, eq=False)
class Simplified:
    """A simplified model with one set of parameters: what it leaves out, what it costs, how wrong it is.

    tolerance: the one that it was made for, if any; errors: each joint's largest error along the trajectory, over its
    largest torque there, (n,).
    """

    name: str
    parameters: str
    tolerance: float | None
    kept: int
    dropped: tuple[str, ...]
    multiplications: int
    additions: int
    errors: Array
    elsewhere: tuple[Elsewhere, ...]

    @property
    def error(self) -> float:
        """The worst joint's."""
        return float(self.errors.max())


@dataclass(frozen=True, eq=False)
class Effects:
    """The results. thresholds: the least and the most agreement if another share is called dominant (THRESHOLDS)."""

    split: Split
    parameters: tuple[Parameters, ...]
    robustness: tuple[Robustness, ...]
    scores: tuple[Score, ...]
    thresholds: tuple[int, int]
    models: tuple[Simplified, ...]
    exact: tuple[Exact, ...]


def gather(progress: Callable[[float, str], None] | None = None, trajectories: int = 200, arms: int = 200) -> Effects:
    """Runs this part of the study: two seconds once compiled. trajectories, arms: how many random ones."""
    say = progress or (lambda fraction, what: None)
    sets, trajectory = parameter_sets(), puma_trajectory()
    robot = sets["built-in"]
    say(0.0, "translational against rotational effects")
    whole = split(robot, trajectory)
    agreeing = [sum(v.agrees for v in verdicts(whole, share)) for share in np.linspace(*THRESHOLDS, 45)]
    found = tuple(
        Parameters(name, SOURCES[name], verdicts(split(arm, trajectory))) for name, arm in sets.items()
    )  # fmt: skip
    many = robustness(robot, trajectories)
    say(0.3, "random trajectories and parameters")
    baselines = scores(sets, trajectory, trajectories, arms)
    say(0.6, "simplified models")
    made = [simplify(robot, trajectory, tolerance) for tolerance in TOLERANCES]

    def model(name: str, parameters: str, kept: Collection[Place], tolerance: float | None = None) -> Simplified:
        return _simplified(name, parameters, sets[parameters], trajectory, kept, tolerance, trajectories)

    chosen = [model(f"tolerance {100 * each.tolerance:g} %", "built-in", each.kept, each.tolerance) for each in made]
    chosen += [model(CHAPTER, name, models.stated()) for name in sets]
    chosen.append(model("without velocity terms", "built-in", models.without_velocity(robot.n)))
    return Effects(
        whole, found, many, baselines, (min(agreeing), max(agreeing)), tuple(chosen), models.exact(robot)
    )  # fmt: skip


def _simplified(
    name: str,
    parameters: str,
    robot: Robot,
    trajectory: Trajectory,
    kept: Collection[Place],
    tolerance: float | None,
    trajectories: int,
) -> Simplified:
    terms = parts(robot, trajectory.q, trajectory.qd, trajectory.qdd)
    cost = models.operations(robot, kept)
    return Simplified(
        name,
        parameters,
        tolerance,
        len(kept),
        tuple(place.name(robot.n) for place in models.places(robot.n) if place not in kept),
        cost.multiplications,
        cost.additions,
        models.errors(terms, trajectory.qdd, kept),
        models.elsewhere(robot, trajectory, kept, trajectories),
    )
