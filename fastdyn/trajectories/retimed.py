"""A path with its time-optimal speed: times, states, torques, what limits it, and a plot."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastdyn.arrays import Array, real_numbers
from fastdyn.calls.arguments import check_finite
from fastdyn.errors import ArgumentError
from fastdyn.trajectories.plots import new_figure
from fastdyn.trajectories.speeds import Speeds

BINDING = 1 - 1e-6  # of a limit: one that is used to more than this binds
MOVING = 1e-9  # of the largest speed: friction at rest is that of a speed this small


class Rows(NamedTuple):
    """Limits of torques and accelerations, scaled by half of their range: -1 <= a u + b x + v sqrt(x) + c <= 1.

    table: (B, points, 3, m), a, b, c; viscous: v, (B, points, m), or None; joint and kind of each.
    """

    table: Array
    viscous: Array | None
    joint: NDArray[np.int64]
    kind: NDArray[np.str_]

    def tangents(self, near: Array) -> Array:
        """The table with v sqrt(x) replaced by its tangent at `near`, (B, points); without friction where that is 0."""
        if self.viscous is None:
            return self.table
        root = np.sqrt(near)[..., None]
        per_root = np.divide(0.5, root, out=np.zeros_like(root), where=root > 0)
        table = self.table.copy()
        assert self.viscous is not None
        table[:, :, 1] += self.viscous * per_root
        table[:, :, 2] += self.viscous * (root / 2)
        return table

    def use(self, x: Array, u: Array) -> Array:
        """(B, points, m): how much of each limit is used, -1 to 1."""
        a, b, c = (self.table[:, :, k] for k in range(3))
        used = a * u[..., None] + b * x[..., None] + c
        return np.asarray(used if self.viscous is None else used + self.viscous * np.sqrt(x)[..., None])


class Saturated(NamedTuple):
    """What binds at each grid point: joint (..., points), -1 if none; kind: torque, acceleration, velocity or empty.

    joint: an index of the coordinates, or after those, of joints that several of them drive; see Retimed.names.
    """

    joint: NDArray[np.int64]
    kind: NDArray[np.str_]


class Retimed:
    """The fastest motion along a path; batch axes first; its arrays are read-only.

    s: (points,), the grid. x, sd: (..., points), (ds/dt)^2 and ds/dt, 1/s if s has no unit. sdd: d2s/dt2 from each grid
    point to the next, the last one repeated. t: (..., points), s; duration: (...). limit: (..., points), the largest
    ds/dt that the limits of each grid point admit, infinite where there is none (with viscous friction as at sd).
    q, slope, bend: (..., points, n), the path and its derivatives by s. bounds: (n, 2), limits of each kind. names: of
    the joints; of a coupled robot, of the coordinates, and then of the joints that several of these drive and whose
    velocity limits count. `saturated` has their indices.
    """

    def __init__(
        self,
        robot: Any,
        on: Any,
        bounds: dict[str, Array],
        rows: Rows,
        limited: Speeds,
        speed: Array,
        by: Any,
        x: Array,
        limit: Array,
    ) -> None:
        self.robot, self.s, self.bounds, self.names = robot, on.s, bounds, tuple(limited.names)
        self._limited, self._on, self._rows, self._speed, self._by, self._x = limited, on, rows, speed, by, x
        sd, h, lead = np.sqrt(x), np.diff(on.s), on.lead
        u = np.empty_like(x)
        np.divide(x[:, 1:] - x[:, :-1], 2 * h, out=u[:, :-1])
        u[:, -1] = u[:, -2]
        t = np.zeros_like(x)
        np.cumsum(2 * h / (sd[:, 1:] + sd[:, :-1]), axis=1, out=t[:, 1:])
        self._u, self._t = u, t
        found = x, sd, u, t, np.sqrt(limit), on.q, on.slope, on.bend
        parts = [_read_only(a.reshape(*lead, *a.shape[1:])) for a in found]
        self.x, self.sd, self.sdd, self.t, self.limit, self.q, self.slope, self.bend = parts
        self.duration = float(t[0, -1]) if lead == () else _read_only(t[:, -1].reshape(lead))

    def __call__(self, t: ArrayLike) -> tuple[Array, Array, Array]:
        """q, qd and qdd at times t, (K, n) each, or (n,) for one time; of a batch, (..., K, n), all paths at all times.

        Before 0 and after the duration the joints rest at the ends: velocity and acceleration are
        zero. At 0 and at the duration they are those of the motion; at a grid point the acceleration is that which
        follows, at the last one that before it.
        """
        times = real_numbers(t, "t").astype(np.float64)
        check_finite({"t": times})
        found = [self._states(k, times.ravel()) for k in range(len(self._x))]
        shape = (*self._on.lead, *times.shape, self.robot.n)
        q, qd, qdd = (np.stack([one[part] for one in found]).reshape(shape) for part in range(3))
        return q, qd, qdd

    def _states(self, k: int, times: Array) -> tuple[Array, Array, Array]:
        t, x, s = self._t[k], self._x[k], self.s
        rests, ended = (times < 0) | (times > t[-1]), times >= t[-1]
        times = np.clip(times, 0.0, t[-1])
        i = np.clip(np.searchsorted(t, times, side="right") - 1, 0, len(t) - 2)
        passed, u, begun = times - t[i], self._u[k, i], np.sqrt(x[i])
        sd = np.where(ended, np.sqrt(x[-1]), np.maximum(begun + u * passed, 0.0))
        along = np.where(ended, s[-1], np.minimum(s[i] + (begun + sd) / 2 * passed, s[i + 1]))
        q, slope, bend = self._on.curve(k)(along)
        sd, u = (np.where(rests, 0.0, each)[:, None] for each in (sd, u))
        return q, slope * sd, slope * u + bend * sd * sd

    @cached_property
    def tau(self) -> Array:
        """Torques at the grid points, (..., points, n), as the motion leaves them, and as it ends.

        Friction at rest is that of the motion which begins or ends there.
        """
        sd = np.maximum(self.sd, MOVING * self.sd.max(axis=-1, keepdims=True))[..., None]
        qdd = self.slope * self.sdd[..., None] + self.bend * sd * sd
        return _read_only(np.asarray(self.robot.inverse_dynamics(self.q, self.slope * sd, qdd)))

    @cached_property
    def use(self) -> Array:
        """How much of each limited torque, then acceleration is used at grid points: (..., points, m), at most 1.

        The larger one of those before and after the point, between which the acceleration changes.
        """
        before = np.concatenate([self._u[:, :1], self._u[:, :-1]], axis=1)
        used = np.maximum(*(np.abs(self._rows.use(self._x, u)) for u in (self._u, before)))
        return _read_only(used.reshape(*self._on.lead, *used.shape[1:]))

    @cached_property
    def saturated(self) -> Saturated:
        """Which joint's limit binds at each grid point, and of which kind: names[joint] is what it is called.

        >>> import numpy as np
        >>> import fastdyn as fd
        >>> from fastdyn.trajectories.retiming import time_optimal
        >>> motion = time_optimal(
        ...     fd.robots.two_link(), [[0, 0], [1, 0]], torque=np.inf, acceleration=2.0, velocity=1.0, grid=5
        ... )
        >>> motion.saturated.kind.tolist()
        ['acceleration', 'velocity', 'velocity', 'velocity', 'acceleration']
        """
        use = self.use.reshape(*self._x.shape, -1)
        use = np.concatenate([np.sqrt(self._x / self._speed)[..., None], use], axis=2)
        most, binds = use.argmax(axis=2), use.max(axis=2) > BINDING
        joint = np.where(most == 0, self._by, np.append(-1, self._rows.joint)[most])
        kind = np.append("velocity", self._rows.kind)[most]
        shape = self.x.shape
        joint, kind = np.where(binds, joint, -1), np.where(binds, kind, "")
        return Saturated(_read_only(joint.reshape(shape)), _read_only(kind.reshape(shape)))

    def excess(self, between: int = 10) -> float:
        """By how much of half its range a limit is exceeded at most, at `between` times in each interval.

        Negative if by none. It falls with the interval, in proportion where the limiting joint changes; but not
        steadily where a joint with Coulomb friction reverses inside an interval. Its torque jumps there, and the excess
        depends on where in the interval that is: a finer grid may have a larger one.
        """
        if isinstance(between, bool) or not isinstance(between, int | np.integer) or between < 1:
            raise ArgumentError(f"between is {between!r}: expected a whole number, one or more")
        worst = -1.0
        share = (np.arange(between) + 0.5) / between
        for k, t in enumerate(self._t):
            q, qd, qdd = self._states(k, (t[:-1, None] + np.diff(t)[:, None] * share).ravel())
            for bounds, values in (
                (self.bounds["torque"], self.robot.inverse_dynamics(q, qd, qdd)),
                (self._limited.bounds, self._limited.of(qd)),
                (self.bounds["acceleration"], qdd),
            ):
                finite = np.isfinite(bounds[:, 1])
                low, high = bounds[finite].T
                used = np.abs(2 * values[..., finite] - low - high) / (high - low)
                worst = max(worst, float(used.max(initial=0.0)) - 1)
        return worst

    def plot(self, sample: Any = None) -> Any:
        """A Matplotlib figure: speed over the path below its limit, and torques over their limits.

        Dots are where a joint's limit binds. sample: the index of one path, where there are several.

        >>> import fastdyn as fd
        >>> from fastdyn.trajectories.retiming import time_optimal
        >>> motion = time_optimal(fd.robots.panda(), [[0, 0, 0, -1, 0, 1, 0], [1, 0.5, 0, -2, 0, 1, 0]])
        >>> [axis.get_ylabel() for axis in motion.plot().axes]
        ['ds/dt [1/s]', 'torque / limit', 'time [s]']
        """
        where = self._index(sample)
        s, sd, limit, tau, t = self.s, self.sd[where], self.limit[where], self.tau[where], self.t[where]
        joint, kind = (part[where] for part in self.saturated)
        figure = new_figure(8, 8)
        speed, load, clock = figure.subplots(3, sharex=True, height_ratios=(3, 3, 1))
        speed.plot(s, limit, "--", color="0.4", label="limit")
        speed.plot(s, sd, color="black", label="speed")
        low, high = self.bounds["torque"].T
        for j, name in enumerate(self.names):
            bound, color = joint == j, f"C{j % 10}"
            if bound.any():
                speed.plot(
                    s[bound], sd[bound], ".", color=color, label=f"{name}: {', '.join(sorted(set(kind[bound])))}"
                )
            if j < self.robot.n and np.isfinite(high[j]):
                used = (2 * tau[:, j] - high[j] - low[j]) / (high[j] - low[j])
                load.plot(s, used, "-" if j < 10 else "--", color=color, label=name)
                binds = bound & (kind == "torque")
                load.plot(s[binds], used[binds], ".", color=color)
        speed.set(ylabel="ds/dt [1/s]", ylim=(0, 1.5 * sd.max()))
        load.set(ylabel="torque / limit", ylim=(-1.1, 1.1))
        clock.set(xlabel="path s", ylabel="time [s]")
        clock.plot(s, t, color="black")
        for axis in (speed, load) if np.isfinite(high).any() else (speed,):
            axis.legend(fontsize="small", ncols=4)
        for side in (-1, 1):
            load.axhline(side, color="0.4", linestyle="--")
        figure.suptitle(f"{self.robot.name}, {t[-1]:.4g} s")
        return figure

    def _index(self, sample: Any) -> tuple[int, ...]:
        """Of one path in the batch."""
        lead, given = self._on.lead, () if sample is None else sample
        where = tuple(given) if isinstance(given, tuple | list) else tuple(np.atleast_1d(given))
        whole = all(isinstance(k, int | np.integer) and not isinstance(k, bool) for k in where)
        if not whole or len(where) != len(lead) or any(not -n <= k < n for k, n in zip(where, lead, strict=True)):
            expected = f"expected the index of one path among {lead}" if lead else "expected None, as there is one path"
            raise ArgumentError(f"sample is {sample!r}: {expected}")
        return tuple(map(int, where))


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array
