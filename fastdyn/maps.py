"""Slices of a robot's workspace: where a frame's origin can be in a plane, and how well it moves there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastdyn.arrays import Array
from fastdyn.errors import ArgumentError
from fastdyn.kinematics import FrameName
from fastdyn.mechanism.frames import named_frame
from fastdyn.mechanism.limits import limits_of
from fastdyn.mechanism.parts import JointKind
from fastdyn.show.drawing import plain, pyplot
from fastdyn.task_space import Axes, TaskSpace, weights

PLANES = {"xy": (0, 1, 2), "xz": (0, 2, 1), "yz": (1, 2, 0)}  # axes to the right, upward, and across
MARGIN = 3  # cells around those that random postures reach
STEPS, SHORT = 12, 5  # of Newton's method, from a posture into the plane, and to the next cell's centre
SWEEPS = 40  # over all cells, at most
CLEARLY = 0.01  # a gain in manipulability that is worth another sweep, if this share of the cells has it
NEIGHBOURS = ((0, 1), (0, -1), (1, 0), (-1, 0))
ROUNDED = 1e-9  # of the limits of joints that several coordinates move


@dataclass(frozen=True)
class WorkspaceSlice:
    """Where a frame's origin can be in a plane of the base link's frame, by square cells.

    manipulability: (rows, columns), the largest that was found in each cell; NaN where no posture within the limits was
    found. q: (rows, columns, n), the postures it was found at. right, up: (columns + 1,) and (rows + 1,), the edges of
    the cells, m. unit: of the manipulability. samples: random postures drawn.
    """

    robot: str
    frame: str
    plane: str
    at: float
    right: Array = field(repr=False)
    up: Array = field(repr=False)
    manipulability: Array = field(repr=False)
    q: Array = field(repr=False)
    unit: str
    samples: int

    @property
    def cell(self) -> float:
        """The length of a cell's sides, m."""
        return float(self.right[1] - self.right[0])

    @property
    def area(self) -> float:
        """Of the cells that are reached, m^2."""
        return float(np.isfinite(self.manipulability).sum()) * self.cell**2

    def plot(self, ax: Any = None, manipulability: bool = True) -> Any:
        """A map on matplotlib Axes, which are returned: manipulability by colour, or only which cells are reached."""
        if ax is None:
            rows, columns = self.manipulability.shape
            height = min(max(1.0 + 5.6 * rows / columns, 3.5), 9.0)  # inches: as high as the colour bar
            ax = pyplot("plot").subplots(figsize=(7.5, height), layout="constrained")[1]
        if manipulability:
            mesh = ax.pcolormesh(self.right, self.up, self.manipulability, cmap="viridis", vmin=0.0)
            ax.figure.colorbar(mesh, ax=ax, label=f"largest manipulability found ({self.unit})")
        else:
            reached = np.where(np.isfinite(self.manipulability), 1.0, np.nan)
            ax.pcolormesh(self.right, self.up, reached, cmap="Blues", vmin=0.0, vmax=2.0)
        if self.right[0] <= 0 <= self.right[-1] and self.up[0] <= 0 <= self.up[-1]:
            ax.plot(0, 0, marker="P", color="black", markeredgecolor="white", markersize=10, label="base", linestyle="")
            ax.legend(loc="upper right", fontsize=9)
        across = "xyz"[PLANES[self.plane][2]]
        ax.set(xlabel=f"{self.plane[0]} (m)", ylabel=f"{self.plane[1]} (m)", aspect="equal")
        ax.set_title(
            f"{plain(self.robot)}: where {plain(self.frame)} can be, {across} = {self.at:g} m\n"
            f"cells of {1000 * self.cell:.3g} mm, {self.area:.3g} m$^2$ reached, {self.samples:,} random postures",
            fontsize=11,
        )
        return ax


def workspace_slice(
    robot: TaskSpace, plane: str, at: float, frame: FrameName, axes: Axes, samples: int, cells: int, seed: int
) -> WorkspaceSlice:
    """See `fastdyn.pictures.Pictures.workspace_slice`."""
    if plane not in PLANES:
        raise ArgumentError(f"plane is {plane!r}: expected one of {list(PLANES)}")
    if not isinstance(at, float | int | np.number) or not np.isfinite(at):
        raise ArgumentError(f"at is {at!r}: expected a finite number")
    if not robot.n:
        raise ArgumentError(f"{robot.name} has no joints: expected a robot that moves")
    for name, number, least in (("samples", samples, 1), ("cells", cells, 2)):
        if not isinstance(number, int | np.integer) or number < least:
            raise ArgumentError(f"{name} is {number!r}: expected a whole number, {least} or more")
    arm = _Arm(robot, frame, axes)
    rows = list(PLANES[plane])
    low, high = arm.range
    q = np.random.default_rng(seed).uniform(low, high, (samples, robot.n))
    q, place, value = arm.moved(q, rows[2:], np.full((samples, 1), float(at)), STEPS)
    if not len(q):
        raise ArgumentError(
            f"at is {at:g} m: {arm.frame.name!r} of {robot.name} was found nowhere in that plane "
            f"by {samples} random postures"
        )
    grid = _Grid(place[:, rows[:2]], cells, robot.n)
    grid.keep(place[:, rows[:2]], q, value)
    for _ in range(SWEEPS):
        if not grid.sweep(arm, rows, float(at)):
            break
    value, q = grid.value.reshape(grid.shape), grid.q.reshape(*grid.shape, robot.n)
    return WorkspaceSlice(robot.name, arm.frame.name, plane, float(at), *grid.edges, value, q, arm.unit, int(samples))


class _Arm:
    """A robot's frame, its range of postures, and the way from a posture to a place."""

    def __init__(self, robot: TaskSpace, frame: FrameName, axes: Axes) -> None:
        description = robot.description
        self.robot, self.frame, self.axes = robot, named_frame(description, frame), axes
        coupling = description.coupling
        kinds = [joint.kind for joint in description.joints] if coupling is None else coupling.kinds(description.joints)
        self.range = limits_of(description).position.T.copy()
        for k, kind in enumerate(kinds):
            if np.isfinite(self.range[:, k]).all():
                continue
            if kind == "prismatic":
                raise ArgumentError(f"coordinate {k} of {robot.name} slides without limits: expected limits to sample")
            self.range[:, k] = np.where(np.isfinite(self.range[:, k]), self.range[:, k], (-np.pi, np.pi))
        self.unit = _unit(kinds, axes)
        self.size = 0.0  # m: largest distance seen

    def moved(self, q: Array, rows: list[int], goal: Array, steps: int) -> tuple[Array, Array, Array]:
        """Postures from which these coordinates (rows) of the frame's origin were brought to goals (K, len(rows)).

        By so many steps of Newton's method within the limits. Returns those that got there: q (K', n), the origins
        (K', 3), and the manipulability (K',).
        """
        for _ in range(steps):
            pose, J = self.robot.pose_and_jacobian(q, self.frame)
            self.size = max(self.size, float(np.abs(pose[:, :3, 3]).max(initial=0.0)))
            J, error = J[:, rows], goal - pose[:, rows, 3]
            A = J @ J.mT
            A += 1e-9 * (np.trace(A, axis1=-2, axis2=-1)[:, None, None] + self.size**2 * 1e-9) * np.eye(len(rows))
            q = np.clip(q + (J.mT @ np.linalg.solve(A, error[..., None]))[..., 0], *self.range)
        pose = self.robot.forward_kinematics(q, self.frame)
        good = self._inside(q) & (np.abs(pose[:, rows, 3] - goal) <= 1e-6 * self.size).all(axis=1)
        return q[good], pose[good, :3, 3], self.robot.manipulability(q[good], self.frame, axes=self.axes)

    def _inside(self, q: Array) -> NDArray[np.bool_]:
        """Whether joints that several coordinates move are within their limits, too."""
        coupling, joints = self.robot.coupling, self.robot.joints
        if coupling is None:
            return np.ones(len(q), bool)
        low, high = np.array([(joint.limits.lower, joint.limits.upper) for joint in joints]).T
        found = q @ coupling.G.T + coupling.offset
        inside: NDArray[np.bool_] = ((found >= low - ROUNDED) & (found <= high + ROUNDED)).all(axis=1)
        return inside


def _unit(kinds: Sequence[JointKind], axes: Axes) -> str:
    """The unit of the manipulability: a power of m, if all products of entries of J that it sums have the same."""
    counted = np.ones(6) if axes is None else np.asarray(weights(axes))
    linear, angular = int(np.count_nonzero(counted[:3])), int(np.count_nonzero(counted[3:]))
    n, sliding = len(kinds), kinds.count("prismatic")
    if (n < linear + angular and linear and angular) or (n != linear + angular and sliding):
        return "m and rad mixed"
    power = min(n, linear) - sliding
    return {0: "1", 1: "m"}.get(power, f"m$^{{{power}}}$")


class _Grid:
    """Square cells in rows from below, each with the best posture found so far."""

    def __init__(self, places: Array, cells: int, n: int) -> None:
        low, high = places.min(axis=0), places.max(axis=0)
        self.cell = float((high - low).max()) / cells or 1e-3  # m, where there is only one point
        self.low = low - MARGIN * self.cell
        columns, rows = (np.ceil((high - low) / self.cell).astype(int) + 2 * MARGIN).tolist()
        self.shape = rows, columns
        self.value, self.q = np.full(rows * columns, np.nan), np.full((rows * columns, n), np.nan)

    @property
    def edges(self) -> tuple[Array, Array]:
        """To the right and upward."""
        rows, columns = self.shape
        return self.low[0] + self.cell * np.arange(columns + 1), self.low[1] + self.cell * np.arange(rows + 1)

    def keep(self, places: Array, q: Array, value: Array) -> bool:
        """Keeps postures that are the first or the best in their cells; returns whether that was worth a sweep."""
        column, row = np.floor((places - self.low) / self.cell).astype(int).T
        cells = np.ravel_multi_index((row, column), self.shape, mode="clip")
        order = np.argsort(value)
        best = np.full(self.value.size, -1)
        best[cells[order]] = order  # the best of a cell comes last, and stays
        (found,) = np.nonzero(best >= 0)
        better = found[~(self.value[found] >= value[best[found]])]  # NaN is not: a cell's first posture
        before, after = self.value[better], value[best[better]]
        self.value[better], self.q[better] = after, q[best[better]]
        clearly = (after > (1 + CLEARLY) * before).sum() > CLEARLY * np.isfinite(self.value).sum()
        return bool(clearly or np.isnan(before).any())

    def sweep(self, arm: _Arm, rows: list[int], at: float) -> bool:
        """Moves each cell's posture to the centres of its neighbours; returns whether that was worth it."""
        (reached,) = np.nonzero(np.isfinite(self.value))
        place = np.column_stack(np.unravel_index(reached, self.shape)[::-1])[:, None] + NEIGHBOURS  # (K, 4, 2)
        inside = ((place >= 0) & (place < self.shape[::-1])).all(axis=-1)
        starts = np.repeat(self.q[reached], len(NEIGHBOURS), axis=0)[inside.ravel()]
        centres = self.low + (place[inside] + 0.5) * self.cell
        goal = np.column_stack([centres, np.full(len(centres), at)])
        q, origins, value = arm.moved(starts, rows, goal, SHORT)
        return self.keep(origins[:, rows[:2]], q, value)
