"""How much the agreement with the chapter's verdicts is worth: beside other parameters, other paths, fixed answers."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fastdyn.errors import ArgumentError, RobotWarning
from fastdyn.robot import Robot
from fastdyn.study.effects.dominance import WORDS, judge, published
from fastdyn.study.effects.terms import parts
from fastdyn.study.effects.trajectory import Trajectory, random_motions

# Random parameters: masses and moments between half and twice the built-in ones, centres of mass up to 1 cm off.
FACTOR, SHIFT = 2.0, 0.01
TRAJECTORIES = "random trajectories"


@dataclass(frozen=True)
class Score:
    """How many of the chapter's verdicts an answer agrees with, on average over `cases`.

    single: of those that name one effect; both: of the others. deviation: the standard deviation of their sum; least,
    most: its range.
    """

    answer: str
    cases: int
    single: float
    both: float
    deviation: float
    least: int
    most: int

    @property
    def total(self) -> float:
        """Of all."""
        return self.single + self.both


def scores(
    sets: Mapping[str, Robot], trajectory: Trajectory, trajectories: int = 200, arms: int = 100, seed: int = 0
) -> tuple[Score, ...]:
    """Each parameter set on the trajectory, random trajectories and random parameters of the first, fixed answers.

    >>> from fastdyn.study import effects
    >>> found = effects.scores(effects.parameter_sets(), effects.puma_trajectory(), trajectories=5, arms=5)
    >>> [(row.answer, round(row.total)) for row in found if row.answer.startswith("always")]
    [('always "translational"', 9), ('always "rotational"', 5), ('always "both"', 13)]
    """
    (robot, *_) = sets.values()
    words = published(robot.name, robot.n)[1]
    if "" in words:
        raise ArgumentError(f"sets has {robot.name}: expected PUMA 560s, the arm that the chapter judges")
    stated = np.array([WORDS.index(word) for word in words])

    def verdicts(arm: Robot) -> NDArray[np.int64]:
        return judge(parts(arm, trajectory.q, trajectory.qd, trajectory.qdd))[1]

    answers = {f"this trajectory, parameters: {name}": verdicts(arm) for name, arm in sets.items()}
    answers[TRAJECTORIES] = judge(parts(robot, *random_motions(robot, trajectories, seed)))[1]
    answers["random parameters"] = np.array([verdicts(arm) for arm in _random_arms(robot, arms, seed)])
    answers |= {f'always "{word}"': np.full(len(stated), k) for k, word in enumerate(WORDS[:3])}
    return tuple(_score(name, np.atleast_2d(found), stated) for name, found in answers.items())


def _score(answer: str, found: NDArray[np.int64], stated: NDArray[np.int64]) -> Score:
    agrees = found == stated
    both = stated == WORDS.index("both")
    totals = agrees.sum(axis=1)
    single, together = (float(agrees[:, which].sum(axis=1).mean()) for which in (~both, both))
    return Score(
        answer, len(found), single, together, float(totals.std()), int(totals.min()), int(totals.max())
    )  # fmt: skip


def _random_arms(robot: Robot, arms: int, seed: int) -> list[Robot]:
    """The robot with other masses, centres of mass and moments of inertia."""
    rng = np.random.default_rng(seed)
    mass, com, inertia = {}, {}, {}
    for link in robot.links:
        mass[link.name] = link.mass * FACTOR ** rng.uniform(-1, 1, arms)
        com[link.name] = np.asarray(link.com) + rng.uniform(-SHIFT, SHIFT, (arms, 3))
        inertia[link.name] = np.asarray(link.inertia) * FACTOR ** rng.uniform(-1, 1, (arms, 1, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RobotWarning)
        fleet = robot.vary(mass, com, inertia)
        return [fleet[k] for k in range(arms)]
