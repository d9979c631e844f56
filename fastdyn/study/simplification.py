"""A simplified model for one trajectory: which terms of the equations of motion may be dropped (000, section 3.4.1).

>>> import fastdyn as fd
>>> from fastdyn.study import effects, simplify
>>> simplified = simplify(fd.robots.puma560(), effects.puma_trajectory(), tolerance=0.01)
>>> simplified.error <= 0.01, simplified.multiplications[0]
(True, 2114)
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fastdyn.errors import ArgumentError
from fastdyn.formulations import dh_rows
from fastdyn.formulations import generalized_dalembert as text
from fastdyn.mechanism.chains import dh_chain
from fastdyn.mechanism.parts import Array
from fastdyn.robot import Robot
from fastdyn.scalars import Operations
from fastdyn.scalars.tracing import Graph, Traced
from fastdyn.study.effects import Trajectory, parts

KINDS = ("D_tran", "D_rot", "h_tran", "h_rot", "c")


class Place(NamedTuple):
    """A term: what kind it is, and its indices, i <= j for D, both the same for the others."""

    kind: str
    i: int
    j: int

    def name(self, n: int) -> str:
        """As it is printed: "D12 tran", "h4 rot", "c2"."""
        letter, _, effect = self.kind.partition("_")
        indices = f"{self.i + 1}{',' if n > 9 else ''}{self.j + 1}" if letter == "D" else f"{self.i + 1}"
        return f"{letter}{indices} {effect}".strip()


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
    largest error of each joint, N m; multiplications, additions: for one set point, before and after.
    """

    robot: str
    tolerance: float
    terms: tuple[Term, ...]
    error: float
    errors: Array
    multiplications: tuple[int, int]
    additions: tuple[int, int]
    arm: Robot = field(repr=False)
    kept: frozenset[Place] = field(repr=False)

    def inverse_dynamics(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> Array:
        """Torques of the simplified model, (..., n) N m, for any motion: the tolerance holds on its trajectory only.

        For comparison only: all terms are computed and some left out of the sum, so that it is no faster.
        """
        return _torques(parts(self.arm, q, qd, qdd), np.asarray(qdd, dtype=float), self.kept)

    def __str__(self) -> str:
        """What is kept: the upper triangle of D, h and c, joint by joint, and each joint's error."""
        n = len(self.errors)
        costs = zip(("multiplications", "additions"), (self.multiplications, self.additions), strict=True)
        lines = [
            f"{self.robot}, simplified: {len(self.kept)} of {len(self.terms)} terms kept, "
            + ", ".join(f"{before:,} -> {after:,} {what}" for what, (before, after) in costs),
            f"largest error {self.error:.3%} of the joint's largest torque; tolerance {self.tolerance:.3%}",
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
    one that are zero save nothing.

    >>> import fastdyn as fd
    >>> from fastdyn.study import effects
    >>> print(simplify(fd.robots.puma560(), effects.puma_trajectory(), tolerance=0.1))
    puma560, simplified: 19 of 60 terms kept, 2,114 -> 1,199 multiplications, 1,740 -> 988 additions
    largest error 9.875% of the joint's largest torque; tolerance 10.000%
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
    everything = _places(n)
    full = _torques(found, qdd, everything)
    top = np.abs(full).max(axis=0)

    def errors(kept: Iterable[Place]) -> Array:
        largest: Array = np.abs(_torques(found, qdd, kept) - full).max(axis=0)
        return largest

    contribution = {place: np.abs(_torques(found, qdd, [place])).max(axis=0) for place in everything}
    kept = set(everything)
    for place in sorted(everything, key=lambda p: _relative(contribution[p], top)):
        if _relative(errors(kept - {place}), top) <= allowed:
            kept.remove(place)
    rank = np.argsort(dh_chain(robot).order).tolist()  # the text numbers joints from the base outward
    after = _cost(n, {Place(p.kind, *sorted((rank[p.i], rank[p.j]))) for p in kept})
    before, worst = _cost(n, everything), errors(kept)
    return Simplification(
        robot.name,
        allowed,
        tuple(Term(p.name(n), p in kept, float(contribution[p].max())) for p in everything),
        _relative(worst, top),
        worst,
        (before.multiplications, after.multiplications),
        (before.additions, after.additions),
        robot,
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


def _places(n: int) -> list[Place]:
    """All terms of an arm with n joints."""
    return [
        Place(kind, i, j) for kind in KINDS for i in range(n) for j in (range(i, n) if kind.startswith("D") else [i])
    ]


def _torques(terms: Mapping[str, Array], qdd: Array, kept: Iterable[Place]) -> Array:
    """(3.4-24), the sum of the terms that are kept."""
    keep = {kind: np.zeros(terms[kind].shape[-(2 if kind.startswith("D") else 1) :]) for kind in KINDS}
    for kind, i, j in kept:
        if kind.startswith("D"):
            keep[kind][i, j] = keep[kind][j, i] = 1.0
        else:
            keep[kind][i] = 1.0
    D = terms["D_tran"] * keep["D_tran"] + terms["D_rot"] * keep["D_rot"]
    tau: Array = np.einsum("...ij,...j->...i", D, qdd)
    for kind in ("h_tran", "h_rot", "c"):
        tau = tau + terms[kind] * keep[kind]
    return tau


def _relative(torques: Array, top: Array) -> float:
    """The largest ratio of a joint's torque to its largest on the trajectory; 0 / 0 counts as 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.where(torques == 0, 0.0, torques / top).max(initial=0.0))


# ------------------------------------------------------------------------------------------ operations


@cache
def _trace(n: int) -> tuple[Graph, Mapping[Place, Traced]]:
    """All operations of the text on n joints, and its terms."""
    graph = Graph(fold=False)
    P, kinds = graph.inputs("P", dh_rows.ROWS * n).reshape(dh_rows.ROWS, n), np.zeros((1, n), dtype=np.int64)
    motion = [graph.inputs(name, n) for name in ("q", "qd", "qdd")]
    terms = {kind: graph.inputs(kind, n * n if kind.startswith("D") else n) for kind in KINDS}
    buffers = [*motion, graph.inputs("tau", n), *terms.values(), graph.inputs("work", text.work_rows(n))]
    text.generalized_dalembert(P, kinds, *buffers)
    rows = {p: n * p.i + p.j if p.kind.startswith("D") else p.i for p in _places(n)}
    return graph, {place: terms[place.kind][row] for place, row in rows.items()}


def _cost(n: int, kept: Collection[Place]) -> Operations:
    """The cost of the operations that lead to the terms that are kept.

    A few additions lead to no term (the origin of the frame behind the last link): they go with the last term.
    """
    if not kept:
        return Operations()
    everything = _places(n)
    whole = _arithmetic(_trace(n)[0].operations())
    return whole - _needed(n, everything) - _summed(n, everything) + _needed(n, kept) + _summed(n, kept)


def _needed(n: int, kept: Iterable[Place]) -> Operations:
    """The operations that lead to these terms."""
    graph, terms = _trace(n)
    return _arithmetic(graph.operations([terms[place] for place in kept]))


def _arithmetic(operations: Operations) -> Operations:
    return Operations(operations.multiplications, operations.additions)


def _summed(n: int, kept: Collection[Place]) -> Operations:
    """The sums and products of (3.4-24)."""
    times = additions = 0
    for i in range(n):
        summands = sum(Place(kind, i, i) in kept for kind in ("h_tran", "h_rot", "c"))
        for j in range(n):
            effects = sum(Place(kind, min(i, j), max(i, j)) in kept for kind in ("D_tran", "D_rot"))
            times += effects > 0
            additions += effects == 2
            summands += effects > 0
        additions += max(summands - 1, 0)
    return Operations(times, additions)
