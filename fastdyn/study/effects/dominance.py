"""Which effect dominates each element of D and h, on one trajectory and on many, beside what the chapter states."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fastdyn.errors import ArgumentError
from fastdyn.mechanism.parts import Array
from fastdyn.robot import Robot
from fastdyn.study.effects.terms import Split, parts
from fastdyn.study.effects.trajectory import END, SECONDS, START, rest_to_rest

# An effect dominates from three to one on. The chapter calls D33 translational, and the translational share of D33
# hardly depends on the trajectory (0.755 with the parameters used here): its own threshold cannot be much higher.
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

NOTES = (
    "The chapter gives neither its trajectory nor its inertial parameters. The trajectory here is a choice: every "
    f"joint goes from rest to rest on a cycloid in {SECONDS:g} s, from {START} to {END} degrees. The parameters are "
    "those of Armstrong, Khatib and Burdick; other sources differ.",
    f"An effect dominates where it makes up {DOMINANCE:.0%} or more of the sum of both, as root mean squares over the "
    "set points. The chapter names no threshold: three to one is the strictest round ratio at which D33 is "
    "translational, as it is in the chapter, so this one agreement is by construction. With any threshold from 55 % to "
    "99 %, between 9 and 14 of the 27 verdicts agree.",
    "The chapter lists D45 and D56 as translational, but also says that their translational parts are rounding errors "
    "and very small beside the rotational ones. With the parameters used here both parts of both are zero.",
    "Link 6's centre of mass lies on its axis here, so that no D_i6 and no h6 has a translational part on any "
    "trajectory: where the chapter finds both effects in them, its parameters cannot be these.",
)


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
    """Fractions of many trajectories on which an element gets each verdict; `agrees`: that of the chapter."""

    element: str
    translational: float
    rotational: float
    both: float
    none: float
    agrees: float


def verdicts(split: Split, dominance: float = DOMINANCE) -> tuple[Verdict, ...]:
    """Which effect dominates each element along the trajectory: D_ij, i <= j, row by row, then h_i.

    Effects are compared by their root mean squares over the set points: the translational share is
    tran / (tran + rot). An effect dominates if its share is `dominance` or more; the verdict is "both" if neither does,
    and "none" if the element is zero up to rounding (NEGLIGIBLE). The speed along a path does not matter: both parts of
    h grow with its square.
    """
    if not 0.5 < dominance <= 1:
        raise ArgumentError(f"dominance is {dominance!r}: expected more than 0.5, at most 1")
    shares, found = _judge(vars(split), dominance)
    return tuple(
        Verdict(element, WORDS[k], published, WORDS[k] == published, float(share))
        for element, published, k, share in zip(
            *_elements(split.robot, split.h_tran.shape[-1]), found, shares, strict=True
        )
    )


def robustness(
    robot: Robot,
    trajectories: int = 200,
    seed: int = 0,
    progress: Callable[[float, str], None] | None = None,
) -> tuple[Robustness, ...]:
    """The verdicts on random trajectories of the same kind: rest to rest on a cycloid, 3 s, 31 set points.

    Starts and ends are uniform between the joints' limits, and between -180 and 180 degrees where there is none.

    >>> import fastdyn as fd
    >>> rows = {row.element: row for row in robustness(fd.robots.puma560(), trajectories=20)}
    >>> rows["D12"]
    Robustness(element='D12', translational=1.0, rotational=0.0, both=0.0, none=0.0, agrees=1.0)
    """
    if not isinstance(trajectories, (int, np.integer)) or trajectories < 1:
        raise ArgumentError(f"trajectories is {trajectories!r}: expected a whole number, 1 or more")
    tell = progress or (lambda fraction, what: None)
    tell(0.0, f"{trajectories} random trajectories of {robot.name}")
    limits = np.array([(joint.limits.lower, joint.limits.upper) for joint in robot.joints]).reshape(robot.n, 2)
    lower, upper = np.where(np.isfinite(limits).all(axis=1, keepdims=True), limits, [-np.pi, np.pi]).T
    start, end = np.random.default_rng(seed).uniform(lower, upper, (2, trajectories, robot.n))
    _, q, qd, qdd = rest_to_rest(start, end)
    _, found = _judge(parts(robot, q, qd, qdd), DOMINANCE)
    elements = _elements(robot.name, robot.n)
    rows = []
    for element, published, words in zip(*elements, found.T, strict=True):
        fractions = {word: float((words == k).mean()) for k, word in enumerate(WORDS)}
        rows.append(Robustness(element, **fractions, agrees=fractions.get(published, 0.0)))
    tell(1.0, f"{trajectories} random trajectories of {robot.name}")
    return tuple(rows)


def _elements(robot: str, n: int) -> tuple[list[str], list[str]]:
    """The elements' names, in the order of `_judge`, and what the chapter states of each."""
    comma = "," if n > 9 else ""
    names = [f"D{i + 1}{comma}{j + 1}" for i, j in zip(*np.triu_indices(n), strict=True)]
    names += [f"h{i + 1}" for i in range(n)]
    return names, [PUBLISHED.get(name, "") if robot == "puma560" else "" for name in names]


def _judge(effects: Mapping[str, Array], dominance: float) -> tuple[Array, NDArray[np.int64]]:
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
