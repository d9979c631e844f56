"""A path with its time-optimal speed: times, states, torques, what limits it, and a plot."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastdyn.arrays import Array
from fastdyn.errors import LimitError
from fastdyn.trajectories.path_curves import Curve

BINDING = 1 - 1e-6  # of a limit: used to more than this, it binds


class Rows(NamedTuple):
    """Limits scaled by half of their range: table (B, points, a b c (v), m); the joint of each; torque or not."""

    table: Array
    joint: NDArray[np.int64]
    torque: NDArray[np.bool_]


class Saturated(NamedTuple):
    """What binds at each grid point: joint (..., points), -1 if none; kind: torque, acceleration, velocity or empty."""

    joint: NDArray[np.int64]
    kind: NDArray[np.str_]


@dataclass(frozen=True, eq=False)
class Retimed:
    """The fastest motion along a path; every array of a batch has the leading axis B.

    s: (points,). x, sd: (..., points), (ds/dt)^2 and ds/dt. sdd: d2s/dt2 from each grid point to the next, the last one
    repeated. t: s. limit: the largest x that the limits at each grid point admit. q, slope, bend: the path and its
    derivatives by s. Called with times, it gives q, qd and qdd.
    """

    robot: Any
    s: Array
    x: Array
    sd: Array
    sdd: Array
    t: Array
    limit: Array
    q: Array
    slope: Array
    bend: Array
    bounds: dict[str, Array]
    _curve: Curve
    _rows: Rows
    _speed: tuple[Array, Array]
    single: bool

    @staticmethod
    def of(
        robot: Any, on: Any, bounds: dict[str, Array], rows: Rows, s: Array, x: Array, limit: Array,
        speed: tuple[Array, Array], single: bool,
    ) -> Retimed:  # fmt: skip
        """From x of a batch of paths."""
        sd, h = np.sqrt(x), np.diff(s)
        sdd = np.diff(x, axis=1) / (2 * h)
        sdd = np.concatenate([sdd, sdd[:, -1:]], axis=1)
        pace = sd[:, 1:] + sd[:, :-1]
        if not (pace > 0).all():
            path, i = np.argwhere(~(pace > 0))[0]
            which = "path" if single else f"path {path}"
            raise LimitError(f"{which} of {robot.name}: no speed is possible at grid points {i} and {i + 1}")
        t = np.concatenate([np.zeros((len(x), 1)), np.cumsum(2 * h / pace, axis=1)], axis=1)
        arrays = [a[0] if single else a for a in (x, sd, sdd, t, limit, on.q, on.slope, on.bend)]
        curve = Curve(on.curve.breaks, on.curve.coefficients[0]) if single else on.curve
        return Retimed(robot, s, *arrays, bounds, curve, rows, speed, single)

    @property
    def duration(self) -> Any:
        """s: a number, or (B,)."""
        return float(self.t[-1]) if self.single else self.t[:, -1]

    def __call__(self, t: ArrayLike) -> tuple[Array, Array, Array]:
        """q, qd and qdd at times t, (..., n) each; times before the start or after the end are those.

        In a batch every path is seen at all times: (B, ..., n).
        """
        times = np.asarray(t, dtype=np.float64)
        if self.single:
            return self._states(times.reshape(-1), self.t, self.x, self.sdd, self._curve, times.shape)
        curves = (Curve(self._curve.breaks, C) for C in self._curve.coefficients)
        each = zip(self.t, self.x, self.sdd, curves, strict=True)
        found = [self._states(times.reshape(-1), *one, times.shape) for one in each]
        q, qd, qdd = (np.stack([one[k] for one in found]) for k in range(3))
        return q, qd, qdd

    def _states(
        self, times: Array, t: Array, x: Array, sdd: Array, curve: Curve, shape: tuple[int, ...]
    ) -> tuple[Array, Array, Array]:
        times = np.clip(times, 0.0, t[-1])
        i = np.clip(np.searchsorted(t, times, side="right") - 1, 0, len(t) - 2)
        passed, u, begun = times - t[i], sdd[i], np.sqrt(x[i])
        sd = begun + u * passed
        q, slope, bend = curve(np.minimum(self.s[i] + (begun + sd) / 2 * passed, self.s[i + 1]))
        sd, u = sd[:, None], u[:, None]
        qd, qdd = slope * sd, slope * u + bend * sd * sd
        return q.reshape(*shape, -1), qd.reshape(*shape, -1), qdd.reshape(*shape, -1)

    @cached_property
    def tau(self) -> Array:
        """Torques at the grid points, (..., points, n), at the start of each interval; the last at the end of it."""
        sd, u = self.sd[..., None], self.sdd[..., None]
        found = self.robot.inverse_dynamics(self.q, self.slope * sd, self.slope * u + self.bend * sd * sd)
        return np.asarray(found)

    @cached_property
    def use(self) -> Array:
        """How much of each limited torque and acceleration is used, at most 1: (B, points, m), either side of a point."""
        x, u = np.atleast_2d(self.x)[..., None], np.atleast_2d(self.sdd)[..., None]
        before = np.concatenate([u[:, :1], u[:, :-1]], axis=1)
        table = self._rows.table
        rest = table[:, :, 1] * x + table[:, :, 2]
        if table.shape[2] == 4:
            rest = rest + table[:, :, 3] * np.sqrt(x)
        a = table[:, :, 0]
        return np.maximum(np.abs(a * u + rest), np.abs(a * before + rest))

    @cached_property
    def saturated(self) -> Saturated:
        """Which joint's limit binds at each grid point, and of which kind."""
        speed, by = self._speed
        use = np.concatenate([self.use, np.sqrt(np.atleast_2d(self.x) / speed)[..., None]], axis=2)
        most = use.argmax(axis=2)
        binds = use.max(axis=2) > BINDING
        joints = np.append(self._rows.joint, -1)[most]
        kinds = np.append(np.where(self._rows.torque, "torque", "acceleration"), "velocity")[most]
        joint = np.where(binds, np.where(kinds == "velocity", by, joints), -1)
        kind = np.where(binds, kinds, "")
        return Saturated(joint[0], kind[0]) if self.single else Saturated(joint, kind)

    def excess(self, between: int = 10) -> float:
        """The largest use of a limit minus 1, also at `between` times within each interval: above 0 beyond a limit."""
        worst = -1.0
        for one in [self.t] if self.single else self.t:
            k = (np.arange(between) + 0.5) / between
            times = (one[:-1, None] + np.diff(one)[:, None] * k).ravel()
            q, qd, qdd = self(times)
            found = {"torque": self.robot.inverse_dynamics(q, qd, qdd), "velocity": qd, "acceleration": qdd}
            for kind, values in found.items():
                low, high = self.bounds[kind].T
                limited = np.isfinite(high)
                half, middle = ((high - low) / 2)[limited], ((high + low) / 2)[limited]
                if limited.any():
                    worst = max(worst, float((np.abs(values[..., limited] - middle) / half).max()) - 1)
        return worst

    def plot(self, path: int = 0) -> Any:
        """A matplotlib figure: speed along the path below its limit, and torques relative to limits over time.

        path: of a batch.
        """
        from matplotlib.figure import Figure

        sd, limit, t, tau = (
            (a if self.single else a[path]) for a in (self.sd, np.sqrt(self.limit), self.t, self.tau)
        )
        joint = self.saturated.joint if self.single else self.saturated.joint[path]
        figure = Figure(figsize=(7, 6), layout="constrained")
        above, below = figure.subplots(2)
        above.plot(self.s, sd, label="speed")
        finite = np.isfinite(limit)
        above.plot(self.s[finite], limit[finite], "--", color="0.4", label="largest speed")
        above.set(xlabel="path s", ylabel="ds/dt (1/s)", title=f"{self.robot.name}: {t[-1]:.4g} s", ylim=(0, 2 * sd.max()))
        above.legend()
        low, high = self.bounds["torque"].T
        for k in np.flatnonzero(np.isfinite(high)):
            used = (2 * tau[:, k] - high[k] - low[k]) / (high[k] - low[k])
            (line,) = below.plot(t, used, label=f"joint {k}")
            bound = joint == k
            below.plot(t[bound], used[bound], ".", color=line.get_color())
        below.axhline(1, color="0.4", linestyle="--")
        below.axhline(-1, color="0.4", linestyle="--")
        below.set(xlabel="time (s)", ylabel="torque / limit (dots: joint saturated)")
        if below.get_legend_handles_labels()[0]:
            below.legend(ncols=4, fontsize="small")
        return figure
