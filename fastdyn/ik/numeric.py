"""Numeric inverse kinematics: the Levenberg-Marquardt method with restarts, for any robot and any frame."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastdyn.calls import lanes
from fastdyn.calls.arguments import FLOAT
from fastdyn.calls.parameters import Parameters
from fastdyn.calls.task import lane_rows
from fastdyn.calls.threads import Call, useful, walk
from fastdyn.compiler.entries import generated
from fastdyn.errors import ArgumentError, ArgumentTypeError
from fastdyn.ik.poses import refuse
from fastdyn.kernels import levenberg_marquardt as lm
from fastdyn.kernels import rows as r
from fastdyn.mechanism.coupling import Coupling
from fastdyn.mechanism.parts import Array, Joint
from fastdyn.quantities import JACOBI, Field, Q, Quantity
from fastdyn.scalars.entry import SampleEntry, reals_and_integers
from fastdyn.task_space import AXES, named_axes

WORK = 1 << 16  # poses times rows of scratch, about a millisecond: up to so many are one compiled call
# what the search computes at every step, as a row of the table of quantities: specialised robots have their own
PATH = Quantity(
    "path", lm.path, lm.path_rows, (Q, Field("base", (lm.FRAME,))), (Field("tip", (lm.FRAME,)), JACOBI), frame=True
)
RANGE = 1.0  # m: starts of sliding joints without limits are drawn from so far to either side


@dataclass(frozen=True, eq=False)
class Solution:
    """What inverse kinematics found, one for each pose.

    q: (..., n); where there is no success, the best attempt, within the limits. success: (...), whether all errors are
    below the tolerance and all coordinates within their limits. error: (..., 2), m and rad, of the axes that count.
    iterations: (...), steps of all starts.
    """

    q: Array
    success: NDArray[np.bool_]
    error: Array
    iterations: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class PathSolution(Solution):
    """The same along a path: jumps, (J, 2), lists where a coordinate changes too much: pose and coordinate."""

    jumps: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Axes:
    """Which axes of the target count: three of position and all three of rotation, two (one is free) or none."""

    weights: tuple[float, ...]
    rotation: int
    order: tuple[int, ...]  # the axes, so that the free one, if any, is the last

    @staticmethod
    def named(axes: str | None) -> Axes:
        """From names such as "xyz" or "xyzrxry", in any order."""
        if axes is None:
            return Axes((1.0,) * 6, lm.FULL, (0, 1, 2))
        if not isinstance(axes, str):
            raise ArgumentTypeError(f"axes is a {type(axes).__name__}: expected a string such as 'xyzrxry'")
        names = named_axes(axes)
        turns = [name[1] for name in names if name[0] == "r"]
        if len(turns) == 1:
            raise ArgumentError(f"axes is {axes!r}: expected three, two or none of rx, ry and rz, found one")
        free = next((k for k, name in enumerate("xyz") if name not in turns), 2) if turns else 2
        order = (free + 1) % 3, (free + 2) % 3, free
        weights = [float(name in names) for name in AXES]
        rotation = (lm.NONE, lm.NONE, lm.AXIS, lm.FULL)[len(turns)]
        return Axes(tuple(weights[3 * part + k] for part in (0, 1) for k in order), rotation, order)


class Problem:
    """The search for poses of one frame: what compiled code reads, in units of about half of the path's length.

    own: makes the row PATH of a specialised robot, from the parameters of the path.
    """

    def __init__(
        self,
        robot: str,
        constants: tuple[Any, ...],
        joints: tuple[Joint, ...],
        coupling: Coupling | None,
        limits: Array | None,
        axes: Axes,
        own: Callable[[Parameters], Quantity] | None = None,
    ) -> None:
        P, tree = constants[:2]
        path = tree[r.PATH, : tree[r.LENGTH, 0] if tree.size else 0]
        if not len(path):
            raise ArgumentError(f"frame: expected one that joints of {robot} move, found one fixed to the base")
        on_path = tree[r.INDEX, path]
        G = np.eye(len(joints)) if coupling is None else coupling.G
        self.axes, self.n = axes, G.shape[1]
        self.active = on_path if coupling is None else np.flatnonzero(G[on_path].any(axis=0))
        self.bounds = np.tile((-np.inf, np.inf), (self.n, 1)) if limits is None else limits
        empty = np.flatnonzero(self.bounds[:, 0] > self.bounds[:, 1])
        if empty.size:
            raise ArgumentError(f"limits: expected a range for coordinate {empty[0]} of {robot}, found none")
        self.idle = np.clip(0.0, *self.bounds.T)  # coordinates that do not move the frame
        slides = np.array([joints[i].kind == "prismatic" for i in on_path])
        self.model, self.tree = _path_model(P, tree, path, axes)
        lengths = np.linalg.norm(self.model[r.PX : r.PZ + 1], axis=0).sum() + np.linalg.norm(self.model[r.FX :, 0][:3])
        self.unit = float(lengths + RANGE * slides.sum()) / 2 or 1.0
        self.model[[r.PX, r.PY, r.PZ, r.PITCH, r.FX, r.FY, r.FZ]] /= self.unit
        self.G, self.units = np.empty((0, 0), order="F"), np.where(slides, self.unit, 1.0)
        moves = G[on_path][:, self.active]
        if coupling is not None:
            self.G = np.asfortranarray(np.column_stack([moves, coupling.offset[on_path]]) / self.units[:, None])
            self.units = np.ones(len(self.active))
        gears = np.where(moves == 0, np.inf, np.abs(moves))
        self.table = self._table((np.where(slides, RANGE, math.pi)[:, None] / gears).max(axis=0))
        turning = np.array([joint.kind == "revolute" for joint in joints])
        whole = np.where(turning[:, None], G == np.round(G), G == 0)[:, self.active]
        self.table[lm.TURNS] = whole.all(axis=0)
        row = PATH if own is None else own(Parameters(robot, (self.model, self.tree), len(path)))
        self.walk, self.entry = row.text, search_by(row.text)
        self.rows: int = lm.search_rows(len(path), len(self.active), row.rows(len(path)))  # type: ignore[no-untyped-call]

    def _table(self, most: Array) -> Array:
        """most: how far starts are from zero where there are no limits."""
        low, high = self.bounds[self.active].T
        table = np.zeros((lm.TABLE_ROWS, len(self.active)), order="F")
        table[lm.LOWER], table[lm.UPPER] = low, high
        # without a limit on one side: as far from the other as if there were none on either
        table[lm.FROM] = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high - 2 * most, -most))
        table[lm.TO] = np.where(np.isfinite(high), high, np.where(np.isfinite(low), low + 2 * most, most))
        table[[lm.LOWER, lm.UPPER, lm.FROM, lm.TO]] /= self.units
        table[lm.PER_UNIT, 0] = 1 / self.unit
        table[lm.WEIGHT : lm.WEIGHT + 6, 0] = self.axes.weights
        return table

    def solve(
        self,
        T: Array,
        q0: Array | None,
        posture: Array | None,
        search: Search,
        threads: int = 1,
        rest: Array | None = None,
    ) -> Solution:
        """Poses (..., 4, 4), in all K; starts and postures (K, n). The result has one batch axis.

        rest: (n,), coordinates that do not move the frame.
        """
        targets = np.ascontiguousarray(T[..., (*self.axes.order, 3)] if self.axes.rotation == lm.AXIS else T)
        targets = targets.reshape(-1, 16)
        count, m, (tol, restarts, steps, seed) = len(targets), len(self.active), search
        starts, wishes = (self._given(values) for values in (posture if q0 is None else q0, posture))
        found, report = np.empty((count, m)), np.empty((count, lm.REPORT))
        table = self.table.copy(order="F")
        table[[lm.TOLERANCE, lm.ANGLE], 0] = (tol / self.unit) ** 2, tol**2
        kind = lanes.kind(FLOAT)

        def ready() -> Call:
            run, scratch = self.entry.compiled(kind), lane_rows(self.rows, kind.lanes)
            scratch[...] = 0.0
            numbers = np.zeros((1, lm.NUMBERS), dtype=np.int64)
            numbers[0] = seed, 0, restarts, steps, self.axes.rotation, self.axes.weights != (1.0,) * 6

            def call(first: int, last: int) -> int:
                numbers[0, lm.FIRST] = first
                part = slice(first, last)
                return int(
                    run(
                        self.model, self.tree, self.G, table, numbers, targets[part], starts[part], wishes[part],
                        found[part], report[part], scratch,
                    )
                )  # fmt: skip

            return call

        worth = max(kind.lanes, WORK // self.rows)
        if count and walk(count, useful(threads, count, worth), worth, ready):
            refuse(T)
        others = next(values for values in (q0, posture, rest, self.idle) if values is not None)
        q = np.array(np.broadcast_to(others, (count, self.n)))
        q[:, self.active] = np.clip(found * self.units, *self.bounds[self.active].T)  # units round
        error = report[:, [lm.POSITION_ERROR, lm.ANGLE_ERROR]]
        error[:, 0] *= self.unit
        success = report[:, lm.SUCCESS] > 0.5
        return Solution(q, success, error, report[:, lm.ITERATIONS].astype(np.int64))

    def _given(self, values: Array | None) -> Array:
        if values is None:
            return np.empty((0, 0))
        return np.ascontiguousarray(values[:, self.active] / self.units)


def _path_model(P: Array, tree: NDArray[np.int64], path: NDArray[np.int64], axes: Axes) -> tuple[Array, Any]:
    """The links on the path as a robot of their own, which begins at any frame; the free axis becomes the z axis."""
    model, found = np.asfortranarray(P[:, path]), tree[:, path].copy()
    F = P[r.FXX : r.FZ + 1, 0]
    model[r.FXX : r.FZ + 1, 0] = [*F[:9].reshape(3, 3)[:, axes.order].ravel(), *F[9:]]
    found[r.INDEX] = found[r.PATH] = found[r.PARENT] = np.arange(len(path))  # no link is on the base
    found[r.KIND, 0] &= ~r.STRAIGHT
    found[r.LENGTH], found[r.AXES] = len(path), tree[r.AXES, 0] | r.TURNED * (axes.order != (0, 1, 2))
    return model, found


class Search(NamedTuple):
    """How far to search."""

    tol: float
    restarts: int
    steps: int
    seed: int


def along_path(problem: Problem, T: Array, q0: Array | None, jump: float, search: Search) -> PathSolution:
    """Poses (K, 4, 4), each solved from the solution before, or by the closest of many; q0: (n,)."""
    count = len(T)
    found = Solution(
        np.empty((count, problem.n)), np.empty(count, dtype=bool), np.empty((count, 2)), np.empty(count, dtype=np.int64)
    )
    last = q0
    for k in range(count):
        pose = T[k : k + 1]
        if last is None:
            one = problem.solve(pose, None, None, search)
        else:
            one = problem.solve(pose, last[None], None, search._replace(restarts=1))
            if not one.success[0] or np.abs(one.q[0] - last).max() > jump:
                one = _closest(problem, one, pose, last, search)
        found.q[k], found.success[k], found.error[k], found.iterations[k] = _first(one)
        last = found.q[k]
    before = np.concatenate([found.q[:1] if q0 is None else q0[None], found.q])[:count]
    jumps = np.argwhere(np.abs(found.q - before) > jump)
    return PathSolution(found.q, found.success, found.error, found.iterations, jumps)


def _closest(problem: Problem, one: Solution, pose: Array, last: Array, search: Search) -> Solution:
    """The success that is closest to the last solution: `one`, or that of one of many random starts."""
    tries = np.repeat(pose, search.restarts, axis=0)
    many = problem.solve(tries, None, None, search._replace(restarts=1), rest=last)
    q, success = np.vstack([one.q, many.q]), np.append(one.success, many.success)
    k = int(np.argmin(np.where(success, np.abs(q - last).max(axis=1), np.inf)))
    error = np.vstack([one.error, many.error])
    part = slice(k, k + 1)
    return Solution(q[part], success[part], error[part], one.iterations + many.iterations.sum())


def _first(found: Solution) -> tuple[Any, ...]:
    return found.q[0], found.success[0], found.error[0], found.iterations[0]


def errors(T: Array, found: Array, axes: Axes) -> Array:
    """(K, 2): the distance (m) and the angle (rad) of poses from those wanted, as far as the axes count."""
    p = np.einsum("kba,kb->ka", T[:, :3, :3], found[:, :3, 3] - T[:, :3, 3])
    p = p[:, axes.order] * axes.weights[:3]
    R = np.einsum("kba,kbc->kac", T[:, :3, :3], found[:, :3, :3])[:, axes.order][:, :, axes.order]
    angle = np.zeros(len(T))
    if axes.rotation == lm.AXIS:
        angle = np.arctan2(np.hypot(R[:, 0, 2], R[:, 1, 2]), R[:, 2, 2])
    elif axes.rotation == lm.FULL:
        sines = np.stack([R[:, 2, 1] - R[:, 1, 2], R[:, 0, 2] - R[:, 2, 0], R[:, 1, 0] - R[:, 0, 1]])
        angle = np.arctan2(np.linalg.norm(sines, axis=0), np.trace(R, axis1=1, axis2=2) - 1)
    return np.stack([np.linalg.norm(p, axis=1), angle], axis=1)


def _types(real: Any, lanes: int) -> tuple[Any, ...]:
    from numba import types

    P, tree = reals_and_integers(real)
    return P, tree, P, P, types.Array(types.int64, 2, "C")


@cache
def search_by(walk: Callable[..., Any]) -> SampleEntry:
    """The compiled search of robots whose path is computed by a text: `lm.path`, or a specialised robot's own."""
    arguments = "P, tree, G, table, numbers, targets, starts, posture, found, report, X"
    source = f"def inverse_kinematics({arguments}):\n    return search(walk, {arguments})\n"
    names = {"search": lm.search, "walk": walk}
    return SampleEntry(generated(source, "inverse_kinematics", names, __name__), _types)
