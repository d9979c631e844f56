"""Translational against rotational effects: D_ij and h_i of a PUMA 560, split along a trajectory (000, section 3.4.1).

>>> import fastdyn as fd
>>> from fastdyn.study import effects
>>> split = effects.split(fd.robots.puma560(), effects.puma_trajectory())
>>> found = {verdict.element: verdict for verdict in effects.verdicts(split)}
>>> found["D12"].found, found["D12"].agrees, round(found["D12"].share, 3)
('translational', True, 1.0)

(3.4-25) to (3.4-27) give every element as a sum of two: what moves with the links' centres of mass, and what turns
about them. NOTES says what was chosen, because the chapter leaves it open, and where the chapter contradicts itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastdyn.calls.api import check_finite
from fastdyn.errors import ArgumentError, ArgumentTypeError
from fastdyn.mechanism.parts import Array
from fastdyn.robot import Robot
from fastdyn.study import formulations

SECONDS, SET_POINTS = 3.0, 31
START = (-60.0, 120.0, -150.0, -30.0, -60.0, -100.0)  # degrees
END = (50.0, 50.0, -60.0, 60.0, 40.0, 100.0)

# Dominance is three to one. The chapter calls D33 translational, whose share hardly depends on the trajectory: 0.755
# with the parameters used here, so that its own notion cannot be much stricter.
DOMINANCE = 0.75
# An element this small beside the largest of D, or of h, is zero: far above rounding, far below a real element (1e-5).
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
    f"An effect dominates where it makes up {DOMINANCE:.0%} or more of both, taken as root mean squares over the set "
    "points. The chapter names no constant: three to one is the strictest round ratio at which D33 is translational, "
    "as it is in the chapter, so that this one agreement is built in. With any constant from 55 % to 99 %, between 9 "
    "and 14 of the 27 verdicts agree.",
    "The chapter lists D45 and D56 as translational, but also says that their translational parts are rounding errors "
    "and very small beside the rotational ones. With the parameters used here both parts of both are zero.",
    "Link 6's centre of mass lies on its axis here, so that no D_i6 and no h6 has a translational part on any "
    "trajectory: where the chapter finds both effects in them, its parameters cannot be these.",
)


@dataclass(frozen=True, eq=False)
class Trajectory:
    """A motion: t (T,), s, increasing; q, qd, qdd (T, n). Checked, copied and read-only.

    >>> Trajectory([0.0, 0.1], [[0.0], [0.1]], [[1.0], [1.0]], [[0.0], [0.0]], "a steady turn").q.shape
    (2, 1)
    >>> Trajectory([0.0, 0.1], [[0.0], [0.1]], [[1.0]], [[0.0], [0.0]])
    Traceback (most recent call last):
    ...
    fastdyn.errors.ArgumentError: qd has shape (1, 1): expected (2, 1), that of q
    """

    t: Array
    q: Array
    qd: Array
    qdd: Array
    name: str = ""

    def __post_init__(self) -> None:
        for name in ("t", "q", "qd", "qdd"):
            object.__setattr__(self, name, _numbers(getattr(self, name), name))
        if self.t.ndim != 1 or len(self.t) == 0:
            raise ArgumentError(f"t has shape {self.t.shape}: expected (T,), with one set point at least")
        if self.q.ndim != 2 or len(self.q) != len(self.t):
            raise ArgumentError(f"q has shape {self.q.shape}: expected ({len(self.t)}, n), a row for each t")
        for name in ("qd", "qdd"):
            if getattr(self, name).shape != self.q.shape:
                raise ArgumentError(f"{name} has shape {getattr(self, name).shape}: expected {self.q.shape}, that of q")
        check_finite({name: getattr(self, name) for name in ("t", "q", "qd", "qdd")})
        steps = np.diff(self.t)
        if (steps <= 0).any():
            k = int(np.argmax(steps <= 0))
            raise ArgumentError(f"t[{k + 1}] is {self.t[k + 1]}, but t[{k}] is {self.t[k]}: expected increasing times")


@dataclass(frozen=True, eq=False)
class Split:
    """D and h along a trajectory by (3.4-25) to (3.4-27), and c: D_tran, D_rot (T, n, n) kg m^2; the rest (T, n) N m.

    Links only, as in all formulations: rotors and friction are left out. Links that a fixed joint holds together are
    one, with one centre of mass.
    """

    robot: str
    trajectory: Trajectory
    D_tran: Array
    D_rot: Array
    h_tran: Array
    h_rot: Array
    c: Array


@dataclass(frozen=True)
class Verdict:
    """Which effect dominates an element ("D12", "h4"), what the chapter states ("" for other robots), and the reason.

    share: the translational effect's part of both, 0 to 1; 0.5 where the element is zero and `found` is "none".
    """

    element: str
    found: str
    published: str
    agrees: bool
    share: float


@dataclass(frozen=True)
class Robustness:
    """In what fraction of many trajectories an element gets each verdict, and the one that the chapter states."""

    element: str
    translational: float
    rotational: float
    both: float
    none: float
    agrees: float


def puma_trajectory() -> Trajectory:
    """31 set points over 3 s, from rest to rest on a cycloid, all six joints moving: a choice, the chapter gives none.

    From START to END, degrees. Joints reach their highest speeds halfway: 73, 47, 60, 60, 67 and 133 degrees/s.

    >>> trajectory = puma_trajectory()
    >>> trajectory.q.shape, float(trajectory.t[-1]), abs(np.degrees(trajectory.qd[15])).round().astype(int).tolist()
    ((31, 6), 3.0, [73, 47, 60, 60, 67, 133])
    """
    t, q, qd, qdd = _rest_to_rest(np.radians(START), np.radians(END))
    return Trajectory(t, q, qd, qdd, "from rest to rest on a cycloid, 3 s")


def split(robot: Robot, trajectory: Trajectory) -> Split:
    """D and h of a chain with rotary joints along a trajectory, translation and rotation apart.

    >>> import fastdyn as fd
    >>> split(fd.robots.puma560(), puma_trajectory()).D_tran.shape
    (31, 6, 6)
    """
    return Split(robot.name, trajectory, **parts(robot, trajectory.q, trajectory.qd, trajectory.qdd))


def parts(robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> dict[str, Array]:
    """D_tran, D_rot, h_tran, h_rot and c of any states (..., n), which broadcast.

    >>> import fastdyn as fd
    >>> parts(fd.robots.two_link(g=10.0), [0, 0], [0, 0], [0, 0])["c"].round(12)
    array([20.,  5.])
    """
    found = formulations.terms(robot, q, qd, qdd, "generalized_dalembert")
    assert found.c is not None  # generalized d'Alembert has it
    return {**found.details, "c": found.c}


def verdicts(split: Split, dominance: float = DOMINANCE) -> tuple[Verdict, ...]:
    """Which effect dominates each element along the trajectory: D_ij, i <= j, row by row, then h_i.

    An element's effects are weighed by their root mean squares over the set points, the translational one's share
    being tran / (tran + rot). An effect dominates where its share is `dominance` or more, both do where neither's is,
    and none does where the element is zero up to rounding (NEGLIGIBLE). How fast a path is travelled does not matter:
    both parts of h grow with the square of the speed.
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
    """How the verdicts fare on random trajectories of the same kind: rest to rest on a cycloid, 3 s, 31 set points.

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
    _, q, qd, qdd = _rest_to_rest(start, end)
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
    """Translational shares and verdicts (places in WORDS), (..., elements), from D_tran (..., T, n, n) and so on."""
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


def _rest_to_rest(start: Array, end: Array) -> tuple[Array, Array, Array, Array]:
    """t (T,) and q, qd, qdd (..., T, n) of cycloids between two states (..., n)."""
    t = np.linspace(0.0, SECONDS, SET_POINTS)
    turn = 2 * np.pi / SECONDS
    way = (end - start)[..., None, :]
    s = (t - np.sin(turn * t) / turn)[:, None] / SECONDS
    sd = (1 - np.cos(turn * t))[:, None] / SECONDS
    sdd = turn * np.sin(turn * t)[:, None] / SECONDS
    return t, start[..., None, :] + way * s, way * sd, way * sdd


def _numbers(values: ArrayLike, name: str) -> Array:
    """A read-only float64 copy, or an error that names the argument."""
    try:
        found = np.asarray(values)
    except ValueError as problem:
        raise ArgumentError(f"{name} is not a rectangular array: {problem}") from problem
    if found.dtype.kind not in "fiu":
        raise ArgumentTypeError(f"{name} has dtype {found.dtype}: expected real numbers")
    array = np.array(found, dtype=np.float64)
    array.flags.writeable = False
    return array
