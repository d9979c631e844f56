"""Inverse kinematics in closed form: all solutions of a batch of poses, and a continuous choice among them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastdyn.calls.arguments import check_finite, flat, read
from fastdyn.calls.parameters import Parameters
from fastdyn.errors import ArgumentError, NoClosedFormError
from fastdyn.ik.poses import refuse
from fastdyn.ik.recognize import ClosedForm
from fastdyn.mechanism.description import Description
from fastdyn.mechanism.limits import limits_of, outside
from fastdyn.mechanism.parts import Array

POSE = (4, 4)
# of the arm's size: closer forms give the arm's own poses to 1e-11, also at singularities; a Newton step would gain
# nothing, and take several times as long as the closed form
EXACT = 1e-11


@dataclass(frozen=True, eq=False)
class Solutions:
    """All solutions of poses (...): K branches each, of which some may not exist.

    q: (..., K, n), NaN where not valid; valid: (..., K), whether a branch reaches the pose (within limits, if asked).
    singular: (..., K), what is not determined: 0 nothing; 1 or -1 where axes 4 and 6 are parallel or opposite, and only
    q4 + q6, or q4 - q6, is determined (of an arm that begins with its wrist: axes 1 and 3); 2 where another angle is
    not, such as the first one with the wrist on its axis. An angle that is not determined is 0: q4 (q3 at the base), or
    q6 of an arm with three parallel axes (2, 3, 4; or q1 if they are 3, 4, 5), whose q2 + q3 + q4 takes the part of q4.
    """

    q: Array
    valid: NDArray[np.bool_]
    singular: NDArray[np.int64]

    @property
    def reachable(self) -> NDArray[np.bool_]:
        """(...): whether a pose has a solution."""
        return np.asarray(np.any(self.valid, axis=-1))


class Solver:
    """The closed form of one frame of a robot, with all that can be computed before the first call."""

    def __init__(self, description: Description, form: ClosedForm, parameters: Parameters) -> None:
        self.description, self.form, self.parameters = description, form, parameters
        self.given = _coordinates(description, form.path)

    def __call__(self, T: ArrayLike, limits: bool, threads: int) -> Solutions:
        """All solutions of poses (..., 4, 4)."""
        arrays, lead = read({"T": T}, {"T": POSE}, self.description.name, {"T": "row"})
        poses = flat(arrays["T"], lead, POSE)
        count, K = len(poses), self.form.branches
        rows, valid, singular = np.empty((count, 6 * K)), np.empty((count, K)), np.empty((count, K))
        self._solve(arrays, poses, (rows, valid, singular), lead, limits, threads)
        q, found = rows.reshape(count, K, 6), valid != 0.0
        if self.form.deviation > EXACT:
            self._refine(poses, q, found, threads)
        result = self._in_coordinates(q, found, limits)
        codes = np.where(found, singular, 0).astype(np.int64)
        return Solutions(result.reshape(*lead, K, result.shape[2]), found.reshape(*lead, K), codes.reshape(*lead, K))

    def _solve(
        self,
        arrays: dict[str, Array],
        poses: Array,
        results: tuple[Array, ...],
        lead: tuple[int, ...],
        limits: bool,
        threads: int,
    ) -> None:
        from fastdyn.ik import entries

        constants = self.form.limited if limits else self.form.free
        if entries.run(entries.CLOSED_FORM, constants, (poses, *results), entries.closed_form_scratch, threads):
            check_finite(arrays)
            refuse(poses.reshape(*lead, *POSE))

    def _refine(self, poses: Array, q: Array, valid: NDArray[np.bool_], threads: int) -> None:
        """A Newton step of every solution of an arm whose form is not exact."""
        from fastdyn.ik import entries

        positions = np.zeros((int(valid.sum()), self.parameters.joints))
        positions[:, self.form.path] = q[valid]
        targets = poses[np.nonzero(valid)[0]]
        entries.run(
            entries.NEWTON_STEP, self.parameters.constants[:2], (targets, positions), entries.newton_scratch, threads
        )
        q[valid] = positions[:, self.form.path]

    def _in_coordinates(self, q: Array, valid: NDArray[np.bool_], limits: bool) -> Array:
        """q of the six joints as the robot's coordinates; limits: those outside of their own become invalid."""
        given = self.given
        if given is None:
            return q
        found = np.empty((*q.shape[:-1], len(given.rest)))
        found[...] = given.rest
        found[..., given.columns] = (q - given.offset) @ given.back.T
        if limits and self.description.coupling is not None:
            low, high = limits_of(self.description).position.T
            valid &= ~outside(found, low, high).any(axis=-1)
        found[~valid] = math.nan
        return found


class _Given(NamedTuple):
    """phi of six coordinates is back (q - offset); the others rest, at zero or the nearest limit."""

    rest: Array
    columns: NDArray[np.intp]
    back: Array
    offset: Array


def _coordinates(description: Description, path: tuple[int, ...]) -> _Given | None:
    """How the robot's coordinates follow from the six joints; None if they are the same."""
    coupling, n = description.coupling, description.n
    if coupling is None and path == tuple(range(n)):
        return None
    G, offset = (np.eye(n), np.zeros(n)) if coupling is None else (coupling.G, coupling.offset)
    columns = np.flatnonzero(G[list(path)].any(axis=0))
    moved = G[list(path)][:, columns]
    if len(columns) != 6 or np.linalg.cond(moved) > 1e12:
        raise NoClosedFormError(
            f"{description.name}: expected six independent coordinates that move the six joints between the base and "
            f"the frame, found {len(columns)}; inverse_kinematics solves any arm numerically"
        )
    rest = np.clip(0.0, *limits_of(description).position.T)
    return _Given(rest, columns, np.asarray(np.linalg.inv(moved), dtype=np.float64), offset[list(path)])


# ---------------------------------------------------------------------------------------------- along a path


class ChosenPath(NamedTuple):
    """One solution for each pose of a path. q: (T, n), NaN where there is none; branch: (T,), -1 where there is none.

    jumps: (J, 2), rows (k, c): coordinate c changes too much from the last pose that has a solution to pose k.
    """

    q: Array
    branch: NDArray[np.int64]
    jumps: NDArray[np.int64]


def continuous(solutions: Solutions, turns: ArrayLike, start: ArrayLike | None = None, jump: float = 0.5) -> ChosenPath:
    """Of all solutions of a path's poses (T,), those nearest to the solution before, wrapped by whole turns.

    turns: (n,), whether a coordinate may be wrapped by whole turns; start: (n,), what the first solution is nearest to
    (zero if not given); jump: the largest change of a coordinate from one pose to the next, rad or m, that is no jump.

    >>> import fastdyn as fd
    >>> arm = fd.robots.puma560()
    >>> path = np.linspace([0.1] * 6, [0.9] * 6, 50)
    >>> found = arm.inverse_kinematics_all(arm.forward_kinematics(path))
    >>> chosen = continuous(found, [True] * 6, start=path[0])
    >>> bool(np.allclose(chosen.q, path)), chosen.jumps.tolist()
    (True, [])
    """
    q, whole = solutions.q, np.where(np.asarray(turns, dtype=bool), 2 * np.pi, 0.0)
    if q.ndim != 3:
        raise ArgumentError(f"solutions.q has shape {q.shape}: expected (T, K, n), the solutions along one path")
    last = np.zeros(q.shape[-1]) if start is None else np.asarray(start, dtype=np.float64)
    known = start is not None
    chosen, branch = np.full((len(q), q.shape[-1]), math.nan), np.full(len(q), -1)
    jumps: list[tuple[int, int]] = []
    for k in np.flatnonzero(solutions.reachable).tolist():
        near = q[k] - whole * np.round((q[k] - last) / np.where(whole > 0, whole, 1.0))
        change = np.abs(near - last)
        branch[k] = np.nanargmin(change.max(axis=-1))
        if known:
            jumps += [(k, int(c)) for c in np.flatnonzero(change[branch[k]] > jump)]
        last, known = near[branch[k]], True
        chosen[k] = last
    return ChosenPath(chosen, branch, np.array(jumps, dtype=np.int64).reshape(-1, 2))
