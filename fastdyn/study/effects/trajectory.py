"""Trajectories, given by set points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fastdyn.arrays import real_numbers
from fastdyn.calls.arguments import check_finite
from fastdyn.errors import ArgumentError
from fastdyn.mechanism.parts import Array
from fastdyn.robot import Robot

SECONDS, SET_POINTS = 3.0, 31
START = (-60.0, 120.0, -150.0, -30.0, -60.0, -100.0)  # degrees
END = (50.0, 50.0, -60.0, 60.0, 40.0, 100.0)


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


def puma_trajectory() -> Trajectory:
    """31 set points over 3 s, from rest to rest on a cycloid, all six joints moving. The chapter does not give its own.

    From START to END, degrees. Joints reach their highest speeds halfway: 73, 47, 60, 60, 67 and 133 degrees/s.

    >>> trajectory = puma_trajectory()
    >>> trajectory.q.shape, float(trajectory.t[-1]), abs(np.degrees(trajectory.qd[15])).round().astype(int).tolist()
    ((31, 6), 3.0, [73, 47, 60, 60, 67, 133])
    """
    t, q, qd, qdd = rest_to_rest(np.radians(START), np.radians(END))
    return Trajectory(t, q, qd, qdd, "from rest to rest on a cycloid, 3 s")


def rest_to_rest(start: Array, end: Array) -> tuple[Array, Array, Array, Array]:
    """t (T,) and q, qd, qdd (..., T, n) of cycloids between two states (..., n)."""
    t = np.linspace(0.0, SECONDS, SET_POINTS)
    turn = 2 * np.pi / SECONDS
    way = (end - start)[..., None, :]
    s = (t - np.sin(turn * t) / turn)[:, None] / SECONDS
    sd = (1 - np.cos(turn * t))[:, None] / SECONDS
    sdd = turn * np.sin(turn * t)[:, None] / SECONDS
    return t, start[..., None, :] + way * s, way * sd, way * sdd


def random_motions(robot: Robot, trajectories: int, seed: int = 0) -> tuple[Array, Array, Array]:
    """q, qd, qdd (trajectories, T, n) of random motions: rest to rest on a cycloid, 3 s, 31 set points.

    Starts and ends are uniform between the joints' limits, and between -180 and 180 degrees where there is none.

    >>> import fastdyn as fd
    >>> random_motions(fd.robots.two_link(), 5)[0].shape
    (5, 31, 2)
    """
    if not isinstance(trajectories, (int, np.integer)) or trajectories < 1:
        raise ArgumentError(f"trajectories is {trajectories!r}: expected a whole number, 1 or more")
    limits = np.array([(joint.limits.lower, joint.limits.upper) for joint in robot.joints]).reshape(robot.n, 2)
    lower, upper = np.where(np.isfinite(limits).all(axis=1, keepdims=True), limits, [-np.pi, np.pi]).T
    start, end = np.random.default_rng(seed).uniform(lower, upper, (2, trajectories, robot.n))
    _, q, qd, qdd = rest_to_rest(start, end)
    return q, qd, qdd


def _numbers(values: ArrayLike, name: str) -> Array:
    """A read-only float64 copy, or an error that names the argument."""
    array = np.array(real_numbers(values, name), dtype=np.float64)
    array.flags.writeable = False
    return array
