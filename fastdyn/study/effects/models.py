"""Equations of motion without some of their terms: torques, errors, and operations.

The chapter's own simplified model is one of them (section 3.4.1): of each element of D and h it keeps the effect that
is called dominant, and of some both; gravity stays. Nothing else is dropped there. Section 3.3 mentions a model without
Coriolis and centrifugal forces.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np

from fastdyn.errors import ArgumentError
from fastdyn.formulations import dh_rows
from fastdyn.formulations import generalized_dalembert as text
from fastdyn.mechanism.chains import dh_chain
from fastdyn.mechanism.parts import Array
from fastdyn.quantities import QUANTITIES
from fastdyn.robot import Robot
from fastdyn.scalars import Operations
from fastdyn.scalars.tracing import Graph, Traced
from fastdyn.study import formulations
from fastdyn.study.counts.robot import general
from fastdyn.study.effects.dominance import PUBLISHED
from fastdyn.study.effects.terms import parts
from fastdyn.study.effects.trajectory import Trajectory, random_motions

KINDS = ("D_tran", "D_rot", "h_tran", "h_rot", "c")
SPEEDS = (0.5, 1.0, 2.0)  # of other motions, as multiples of the trajectory's


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


def places(n: int) -> list[Place]:
    """All terms of an arm with n joints."""
    return [
        Place(kind, i, j) for kind in KINDS for i in range(n) for j in (range(i, n) if kind.startswith("D") else [i])
    ]


def stated() -> frozenset[Place]:
    """The terms that the chapter keeps for the PUMA 560: the dominant effects by its own account, and gravity.

    >>> len(stated()), len(places(6))
    (46, 60)
    """

    def kept(place: Place) -> bool:
        element, _, effect = place.name(6).partition(" ")
        return not effect or PUBLISHED[element].startswith((effect, "both"))

    return frozenset(filter(kept, places(6)))


def without_velocity(n: int) -> frozenset[Place]:
    """All terms but Coriolis and centrifugal forces."""
    return frozenset(place for place in places(n) if not place.kind.startswith("h"))


# ------------------------------------------------------------------------------------------ torques


def torques(terms: Mapping[str, Array], qdd: Array, kept: Iterable[Place]) -> Array:
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


def relative(errors: Array, largest: Array) -> Array:
    """Errors over the joints' largest torques; 0 / 0 counts as 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(errors == 0, 0.0, errors / largest)


def errors(terms: Mapping[str, Array], qdd: Array, kept: Iterable[Place]) -> Array:
    """Each joint's largest error along a trajectory, over its largest torque there: (..., n) from terms (..., T, n)."""
    full = torques(terms, qdd, places(qdd.shape[-1]))
    wrong = torques(terms, qdd, kept) - full
    return relative(np.abs(wrong).max(axis=-2), np.abs(full).max(axis=-2))


@dataclass(frozen=True, eq=False)
class Elsewhere:
    """The error of the worst joint at another speed, over the largest torque of that joint in the same motion.

    own: along the model's own path; random: along random trajectories, sorted, (trajectories,); joint: the one that is
    the worst on most of these, from 1.
    """

    speed: float
    own: float
    random: Array
    joint: int

    @property
    def median(self) -> float:
        """Over the random trajectories."""
        return float(np.median(self.random))

    @property
    def worst(self) -> float:
        """Of the random trajectories."""
        return float(self.random[-1])


def elsewhere(
    robot: Robot,
    trajectory: Trajectory,
    kept: Collection[Place],
    trajectories: int = 200,
    seed: int = 0,
    speeds: Sequence[float] = SPEEDS,
) -> tuple[Elsewhere, ...]:
    """The errors of a model on motions that it was not made for: other speeds, other trajectories (random_motions).

    speeds: multiples of the trajectory's; the same paths are travelled so many times as fast.
    """
    if not all(0 < speed < math.inf for speed in speeds):
        raise ArgumentError(f"speeds is {speeds!r}: expected finite numbers above zero")
    motions = [(trajectory.q, trajectory.qd, trajectory.qdd), random_motions(robot, trajectories, seed)]
    found = [(parts(robot, *motion), motion[2]) for motion in motions]
    rows = []
    for speed in speeds:
        own, other = (errors(_at_speed(terms, speed), speed**2 * qdd, kept) for terms, qdd in found)
        worst = int(np.bincount(other.argmax(axis=-1)).argmax()) + 1
        rows.append(Elsewhere(float(speed), float(own.max()), np.sort(other.max(axis=-1)), worst))
    return tuple(rows)


def _at_speed(terms: Mapping[str, Array], speed: float) -> dict[str, Array]:
    """Terms where the same path is travelled so many times as fast: accelerations and h grow with the square."""
    return {kind: values * speed**2 if kind.startswith("h") else values for kind, values in terms.items()}


# ------------------------------------------------------------------------------------------ operations


@dataclass(frozen=True)
class Exact:
    """The operations of exact inverse dynamics for one state."""

    name: str
    multiplications: int
    additions: int


def exact(robot: Robot) -> tuple[Exact, ...]:
    """By Newton-Euler with the savings of Table 3.4, and by the library's own kernel; links only.

    >>> import fastdyn as fd
    >>> [(each.multiplications, each.additions) for each in exact(fd.robots.puma560())]
    [(744, 615), (446, 398)]
    """
    row = formulations.find("newton_euler_frugal")
    counted = {
        "Newton-Euler": general(row, formulations.parameters(formulations.chain_of(robot, row))),
        "the library": general(QUANTITIES["inverse_dynamics"], robot.without_motors().parameters),
    }
    return tuple(Exact(name, each.multiplications, each.additions) for name, each in counted.items())


def operations(robot: Robot, kept: Iterable[Place]) -> Operations:
    """The cost of a model: of the operations of generalized d'Alembert that lead to the terms that are kept."""
    rank = np.argsort(dh_chain(robot).order).tolist()  # the text numbers joints from the base outward
    return cost(robot.n, {Place(p.kind, *sorted((rank[p.i], rank[p.j]))) for p in kept})


def cost(n: int, kept: Collection[Place]) -> Operations:
    """The cost of the operations that lead to the terms that are kept, joints numbered from the base outward.

    A few additions lead to no term (the origin of the frame behind the last link): they go with the last term.
    """
    if not kept:
        return Operations()
    everything = places(n)
    whole = _arithmetic(_trace(n)[0].operations())
    return whole - _needed(n, everything) - _summed(n, everything) + _needed(n, kept) + _summed(n, kept)


@cache
def _trace(n: int) -> tuple[Graph, Mapping[Place, Traced]]:
    """All operations of the text on n joints, and its terms."""
    graph = Graph(fold=False)
    P, kinds = graph.inputs("P", dh_rows.ROWS * n).reshape(dh_rows.ROWS, n), np.zeros((1, n), dtype=np.int64)
    motion = [graph.inputs(name, n) for name in ("q", "qd", "qdd")]
    terms = {kind: graph.inputs(kind, n * n if kind.startswith("D") else n) for kind in KINDS}
    buffers = [*motion, graph.inputs("tau", n), *terms.values(), graph.inputs("work", text.work_rows(n))]
    text.generalized_dalembert(P, kinds, *buffers)
    rows = {p: n * p.i + p.j if p.kind.startswith("D") else p.i for p in places(n)}
    return graph, {place: terms[place.kind][row] for place, row in rows.items()}


def _needed(n: int, kept: Iterable[Place]) -> Operations:
    """The operations that lead to these terms."""
    graph, terms = _trace(n)
    return _arithmetic(graph.operations([terms[place] for place in kept]))


def _arithmetic(found: Operations) -> Operations:
    return Operations(found.multiplications, found.additions)


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
