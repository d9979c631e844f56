"""A simplified model for one trajectory: which terms of the equations of motion may be dropped.

Fu, Gonzalez and Lee, Robotics, 1987, section 3.4.1. Exact inverse dynamics by Newton-Euler is cheaper.

>>> import fastdyn as fd
>>> from fastdyn.study import effects, simplify
>>> simplified = simplify(fd.robots.puma560(), effects.puma_trajectory(), tolerance=0.01)
>>> simplified.error <= 0.01, simplified.multiplications
(True, (2114, 1812))
>>> simplified.exact[0].multiplications, simplified.exact[1].multiplications
(744, 446)
>>> (elsewhere,) = simplified.elsewhere(speeds=[1.0])
>>> print(f"{elsewhere.median:.0%} is the median error on random trajectories")
19% is the median error on random trajectories
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from fastdyn.errors import ArgumentError
from fastdyn.mechanism.parts import Array
from fastdyn.robot import Robot
from fastdyn.study.effects import Trajectory, models, parts
from fastdyn.study.effects.models import SPEEDS, Elsewhere, Exact, Place


@dataclass(frozen=True)
class Term:
    """A term of (3.4-24), whether it is kept, and the largest torque that it contributes to any joint, N m."""

    name: str
    kept: bool
    largest: float


@dataclass(frozen=True, eq=False)
class Simplification:
    """The equations of motion without some terms, the error on a trajectory, and the operations saved.

    error: the largest torque error, over the joint's largest torque on the trajectory, of the worst joint; errors: the
    largest error of each joint, N m; multiplications, additions: for one set point, before and after; exact: those of
    exact inverse dynamics, by other formulations.
    """

    robot: str
    tolerance: float
    terms: tuple[Term, ...]
    error: float
    errors: Array
    multiplications: tuple[int, int]
    additions: tuple[int, int]
    exact: tuple[Exact, ...]
    arm: Robot = field(repr=False)
    trajectory: Trajectory = field(repr=False)
    kept: frozenset[Place] = field(repr=False)

    def inverse_dynamics(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> Array:
        """Torques of the simplified model, (..., n) N m, for any motion: the tolerance holds on its trajectory only.

        For comparison only: all terms are computed and some left out of the sum, so that it is no faster.
        """
        return models.torques(parts(self.arm, q, qd, qdd), np.asarray(qdd, dtype=float), self.kept)

    def elsewhere(
        self, trajectories: int = 200, seed: int = 0, speeds: Sequence[float] = SPEEDS
    ) -> tuple[Elsewhere, ...]:
        """Errors on motions that the model was not made for: its path at other speeds, random trajectories."""
        return models.elsewhere(self.arm, self.trajectory, self.kept, trajectories, seed, speeds)

    def __str__(self) -> str:
        """What is kept: the upper triangle of D, h and c, joint by joint, and each joint's error."""
        n = len(self.errors)
        costs = zip(("multiplications", "additions"), (self.multiplications, self.additions), strict=True)
        left = self.multiplications[1] + self.additions[1]
        cheaper = all(each.multiplications + each.additions < left for each in self.exact)
        lines = [
            f"{self.robot}, simplified: {len(self.kept)} of {len(self.terms)} terms kept, "
            + ", ".join(f"{before:,} -> {after:,} {what}" for what, (before, after) in costs),
            f"exact inverse dynamics{' is cheaper' if cheaper else ''}: "
            + ", ".join(f"{each.multiplications:,} and {each.additions:,} by {each.name}" for each in self.exact),
            f"largest error {self.error:.3%} of the joint's largest torque, on its trajectory only; "
            f"tolerance {self.tolerance:.3%}",
            "kept: t the translational, r the rotational effect, + all, . nothing",
            "",
            "joint" + "".join(f"{head:>6}" for head in [*(f"D_i{j + 1}" for j in range(n)), "h_i", "c_i"])
            + "  error, N m",
        ]  # fmt: skip
        for i in range(n):
            marks = ["" if j < i else self._mark("D", i, j) for j in range(n)] + [self._mark("h", i, i)]
            marks.append("+" if Place("c", i, i) in self.kept else ".")
            lines.append(f"{i + 1:5}" + "".join(f"{mark:>6}" for mark in marks) + f"{self.errors[i]:12.3g}")
        return "\n".join(lines)

    def _mark(self, letter: str, i: int, j: int) -> str:
        tran, rot = (Place(f"{letter}_{effect}", i, j) in self.kept for effect in ("tran", "rot"))
        return ".tr+"[tran + 2 * rot]


def simplify(robot: Robot, trajectory: Trajectory, tolerance: float) -> Simplification:
    """Drops terms, smallest first, within a tolerance that holds for every joint at all set points of a trajectory.

    tolerance: the torque error that is allowed, as a fraction of the largest torque that the joint needs along the
    trajectory; a joint that needs none allows none. Torques are the links' alone: motors are left out.

    Terms are D_ij^tran and D_ij^rot, i <= j, with which D_ji goes, h_i^tran, h_i^rot and c_i, of a chain with rotary
    joints. They are tried in the order of their largest contribution, relative to the joint's largest torque; one that
    would break the tolerance, together with those dropped before, is kept. So a larger tolerance may drop other terms,
    and sometimes fewer.

    Operations are those of formulations/generalized_dalembert.py: an operation is saved when no term that is kept needs
    its result. Much is shared: every term needs rotations of the links. The count is for any arm: parameters of this
    one that are zero save nothing. Exact inverse dynamics by Newton-Euler costs less than such a model, and the
    tolerance does not hold on other trajectories (`elsewhere`): this shows which terms matter, and saves no time.

    >>> import fastdyn as fd
    >>> from fastdyn.study import effects
    >>> print(simplify(fd.robots.puma560(), effects.puma_trajectory(), tolerance=0.1))
    puma560, simplified: 19 of 60 terms kept, 2,114 -> 1,199 multiplications, 1,740 -> 988 additions
    exact inverse dynamics is cheaper: 744 and 615 by Newton-Euler, 446 and 398 by the library
    largest error 9.875% of the joint's largest torque, on its trajectory only; tolerance 10.000%
    kept: t the translational, r the rotational effect, + all, . nothing
    <BLANKLINE>
    joint  D_i1  D_i2  D_i3  D_i4  D_i5  D_i6   h_i   c_i  error, N m
        1     +     t     .     r     .     r     t     .       0.308
        2           t     t     t     .     .     .     +        1.36
        3                 .     t     .     .     .     +       0.204
        4                       r     .     r     t     +    0.000549
        5                             .     .     .     +     0.00155
        6                                   r     r     .     4.4e-06
    """
    allowed = _tolerance(tolerance)
    found = parts(robot, trajectory.q, trajectory.qd, trajectory.qdd)
    n, qdd = robot.n, trajectory.qdd
    everything = models.places(n)
    full = models.torques(found, qdd, everything)
    top = np.abs(full).max(axis=0)

    def errors(kept: Iterable[Place]) -> Array:
        largest: Array = np.abs(models.torques(found, qdd, kept) - full).max(axis=0)
        return largest

    def worst(torques: Array) -> float:
        return float(models.relative(torques, top).max(initial=0.0))

    contribution = {place: np.abs(models.torques(found, qdd, [place])).max(axis=0) for place in everything}
    kept = set(everything)
    for place in sorted(everything, key=lambda p: worst(contribution[p])):
        if worst(errors(kept - {place})) <= allowed:
            kept.remove(place)
    before, after, wrong = models.operations(robot, everything), models.operations(robot, kept), errors(kept)
    return Simplification(
        robot.name,
        allowed,
        tuple(Term(p.name(n), p in kept, float(contribution[p].max())) for p in everything),
        worst(wrong),
        wrong,
        (before.multiplications, after.multiplications),
        (before.additions, after.additions),
        models.exact(robot),
        robot,
        trajectory,
        frozenset(kept),
    )


def _tolerance(value: float) -> float:
    try:
        found = float(value)
    except (TypeError, ValueError):
        found = math.nan
    if not 0 <= found < math.inf:
        raise ArgumentError(f"tolerance is {value!r}: expected a finite number not below zero")
    return found
