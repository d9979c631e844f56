"""Which effect dominates each element of D and h, on one trajectory and on many, beside what the chapter states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fastdyn.errors import ArgumentError
from fastdyn.mechanism.parts import Array
from fastdyn.robot import Robot
from fastdyn.study.effects.terms import Split, parts
from fastdyn.study.effects.trajectory import random_motions

# An effect dominates from three to one on. The chapter calls D33 translational, and the translational share of D33
# hardly depends on the trajectory (0.755 with the built-in parameters): its own threshold cannot be much higher.
DOMINANCE = 0.75
# Elements below this fraction of the largest of D, or of h, count as zero: rounding is far smaller, and the smallest
# element that is not zero far larger (1e-5).
NEGLIGIBLE = 1e-12

WORDS = ("translational", "rotational", "both", "none")
_TRANSLATIONAL, _ROTATIONAL, _BOTH, _NONE = range(4)
_STATED = {
    "translational": "D12 D22 D23 D33 D45 D56 h1 h2 h3",
    "rotational": "D44 D46 D55 D66 h4",
    "both": "D11 D13 D14 D15 D16 D24 D25 D26 D34 D35 D36 h5 h6",
}
PUBLISHED = {element: word for word, elements in _STATED.items() for element in elements.split()}


@dataclass(frozen=True)
class Verdict:
    """Which effect dominates an element ("D12", "h4"), and what the chapter states ("" for other robots).

    share: translational over the sum of both, 0 to 1; 0.5 where the element is zero and `found` is "none".
    """

    element: str
    found: str
    published: str
    agrees: bool
    share: float


@dataclass(frozen=True)
class Robustness:
    """Fractions of many trajectories on which an element gets each verdict; `agrees`: that of the chapter.

    low, high: 5th and 95th percentile of the translational share.
    """

    element: str
    translational: float
    rotational: float
    both: float
    none: float
    agrees: float
    low: float
    high: float


def verdicts(split: Split, dominance: float = DOMINANCE) -> tuple[Verdict, ...]:
    """Which effect dominates each element along the trajectory: D_ij, i <= j, row by row, then h_i.

    Effects are compared by their root mean squares over the set points: the translational share is
    tran / (tran + rot). An effect dominates if its share is `dominance` or more; the verdict is "both" if neither does,
    and "none" if the element is zero up to rounding (NEGLIGIBLE). The speed along a path does not matter: both parts of
    h grow with its square.
    """
    if not 0.5 < dominance <= 1:
        raise ArgumentError(f"dominance is {dominance!r}: expected more than 0.5, at most 1")
    shares, found = judge(vars(split), dominance)
    return tuple(
        Verdict(element, WORDS[k], stated, WORDS[k] == stated, float(share))
        for element, stated, k, share in zip(
            *published(split.robot, split.h_tran.shape[-1]), found, shares, strict=True
        )
    )


def robustness(robot: Robot, trajectories: int = 200, seed: int = 0) -> tuple[Robustness, ...]:
    """The verdicts on random trajectories (trajectory.random_motions).

    >>> import fastdyn as fd
    >>> rows = {row.element: row for row in robustness(fd.robots.puma560(), trajectories=20)}
    >>> rows["D12"].translational, rows["D12"].agrees
    (1.0, 1.0)
    """
    shares, found = judge(parts(robot, *random_motions(robot, trajectories, seed)), DOMINANCE)
    low, high = np.percentile(shares, [5, 95], axis=0)
    rows = []
    for k, (element, stated) in enumerate(zip(*published(robot.name, robot.n), strict=True)):
        fractions = {word: float((found[:, k] == index).mean()) for index, word in enumerate(WORDS)}
        rows.append(
            Robustness(element, **fractions, agrees=fractions.get(stated, 0.0), low=float(low[k]), high=float(high[k]))
        )
    return tuple(rows)


def published(robot: str, n: int) -> tuple[list[str], list[str]]:
    """The elements' names, in the order of `judge`, and what the chapter states of each if the robot is a PUMA 560."""
    comma = "," if n > 9 else ""
    names = [f"D{i + 1}{comma}{j + 1}" for i, j in zip(*np.triu_indices(n), strict=True)]
    names += [f"h{i + 1}" for i in range(n)]
    return names, [PUBLISHED.get(name, "") if robot.startswith("puma560") else "" for name in names]


def judge(effects: Mapping[str, Array], dominance: float = DOMINANCE) -> tuple[Array, NDArray[np.int64]]:
    """Translational shares and verdicts (indices into WORDS), (..., elements), from D_tran (..., T, n, n) and so on."""
    D_tran, D_rot, h_tran, h_rot = (effects[name] for name in ("D_tran", "D_rot", "h_tran", "h_rot"))
    upper = (..., *np.triu_indices(h_tran.shape[-1]))
    shares, found = [], []
    for tran, rot in ((D_tran[upper], D_rot[upper]), (h_tran, h_rot)):
        tran, rot = (np.sqrt((effect**2).mean(axis=-2)) for effect in (tran, rot))
        whole = tran + rot
        nothing = whole <= NEGLIGIBLE * whole.max(axis=-1, keepdims=True, initial=0.0)
        share = np.where(nothing, 0.5, tran / np.where(nothing, 1.0, whole))
        cases = [nothing, share >= dominance, 1 - share >= dominance]
        shares.append(share)
        found.append(np.select(cases, [_NONE, _TRANSLATIONAL, _ROTATIONAL], _BOTH))
    return np.concatenate(shares, axis=-1), np.concatenate(found, axis=-1)
