"""Why a path cannot be followed: a LimitError that names the grid point, the joint and the limit."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fastdyn.arrays import Array, place
from fastdyn.errors import ArgumentError, LimitError, NotFiniteError
from fastdyn.kernels import retiming as text
from fastdyn.trajectories.speeds import Speeds


class Refusal(NamedTuple):
    """Checks of x and of what kernels report."""

    robot: Any
    on: Any
    rows: Any
    limited: Speeds
    speed: Array
    by: Any

    def unless_feasible(self, report: Array, ends: list[float]) -> None:
        """Raises for the first path that has no motion."""
        wrong = np.flatnonzero(report[:, 0] != text.FEASIBLE)
        if not wrong.size:
            return
        k, (point, least, most) = int(wrong[0]), report[wrong[0]]
        if point == text.START:
            expected = f"expected {np.sqrt(least):.6g} to {np.sqrt(most):.6g}, within the limits of {self._name(k)}"
            raise LimitError(f"start_speed is {np.sqrt(ends[0]):.6g}: {expected}")
        i, last = int(point), len(self.on.s) - 1
        if i == last:  # of a path that may end at rest, the end speed is too high
            x = ends[1]
            why = self._held(k, i) or self._row(k, i, x, f"at end_speed {np.sqrt(x):.6g}")
            if x > self.speed[k, i]:
                velocity = self.limited.owners[self.by[k, i]]
                why = f"{velocity} takes {np.sqrt(x / self.speed[k, i]):.4g} of its velocity limit at end_speed"
        else:
            why = self._held(k, i) or self._held(k, i + 1) or self._row(k, i, 0.0, "at rest")
        raise LimitError(f"{self._name(k)} cannot be followed at grid point {i}, s = {self.on.s[i]:.6g}: {why}")

    def unless_moving(self, x: Array) -> None:
        """Raises where neighbouring grid points both have no speed, or where nothing limits it."""
        pace = x[:, 1:] + x[:, :-1]
        if pace.min() > 0 and x.max() < text.UNLIMITED / 2:
            return
        if not np.isfinite(x).all():
            raise NotFiniteError(f"the speed along a path of {self.robot.name} has left the range of numbers")
        stuck = np.argwhere(pace <= 0)
        if len(stuck):
            k, i = stuck[0].tolist()
            if x.shape[1] == 2:
                why = "it rests at both ends of its only interval, expected a grid of three or more points"
            elif self.rows.joint.size:
                why = self._row(k, i, 0.0, "at rest")
            else:
                why = f"no speed is within the velocity limit of {self.limited.owners[self.by[k, i]]}"
            raise LimitError(f"{self._name(k)} cannot leave grid point {i}, s = {self.on.s[i]:.6g}: {why}")
        free = np.argwhere(x > text.UNLIMITED / 2)
        if len(free):
            k, i = free[0].tolist()
            if not self.on.slope[k, max(i - 1, 0) : i + 2].any():
                raise ArgumentError(
                    f"path: no joint moves at grid point {i}, s = {self.on.s[i]:.6g}, of {self._name(k)}: "
                    "expected a path that moves"
                )
            raise LimitError(
                f"{self._name(k)} has no limit at grid point {i}: expected one of velocity or acceleration"
            )

    def _name(self, k: int) -> str:
        lead = self.on.lead
        return f"path{place(tuple(map(int, np.unravel_index(k, lead)))) if lead else ''} of {self.robot.name}"

    def _held(self, k: int, i: int) -> str:
        """The joint that needs more than its limit at rest; empty if none does."""
        c = np.abs(self.rows.table[k, i, 2])
        return self._row(k, i, 0.0, "at rest") if c.size and c.max() > 1 else ""

    def _row(self, k: int, i: int, x: float, when: str) -> str:
        """The limit of which most is used, without acceleration."""
        _, b, c = self.rows.table[k, i]
        use = np.abs(b * x + c)
        worst = int(use.argmax())
        joint, kind = self.limited.owners[self.rows.joint[worst]], self.rows.kind[worst]
        return f"{joint} takes {use[worst]:.4g} of its {kind} limit {when}"
