"""Motions between two positions in closed form: cycloidal, cubic, quintic, trapezoidal velocity."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fastdyn.arrays import Array
from fastdyn.errors import ArgumentError
from fastdyn.mechanism.limits import RobotLimits
from fastdyn.mechanism.parts import EPS
from fastdyn.trajectories import arguments
from fastdyn.trajectories.trajectory import Trajectory


def cycloidal(q0: ArrayLike, q1: ArrayLike, duration: float) -> Trajectory:
    """From rest to rest: q0 + (q1 - q0) / T (t - T / (2 pi) sin(2 pi t / T)), T the duration.

    Equation (30) of *RRT Robot: Lagrange and Kane equations of motion*.

    >>> motion = cycloidal([0.0], [1.0], duration=2.0)
    >>> motion(1.0)[1].tolist()  # twice the mean velocity
    [1.0]
    """
    start, end = arguments.ends(q0, q1)
    T = arguments.positive(duration, "duration")
    c = np.zeros((1, 6, len(start)))
    c[0, :2] = start, (end - start) / T
    return Trajectory(np.array([0.0, T]), c, (start - end) / (2 * math.pi))


def cubic(q0: ArrayLike, q1: ArrayLike, duration: float, qd0: ArrayLike = 0.0, qd1: ArrayLike = 0.0) -> Trajectory:
    """The cubic polynomial with these positions and velocities at both ends.

    >>> cubic([0.0], [1.0], duration=1.0).coefficients[0].ravel().tolist()
    [0.0, 0.0, 3.0, -2.0, 0.0, 0.0]
    """
    start, end = arguments.ends(q0, q1)
    T, n = arguments.positive(duration, "duration"), len(start)
    v0, v1 = arguments.each(qd0, "qd0", n), arguments.each(qd1, "qd1", n)
    return Trajectory(np.array([0.0, T]), cubics(np.array([start, end]), np.array([v0, v1]), np.array([T])))


def quintic(
    q0: ArrayLike,
    q1: ArrayLike,
    duration: float,
    qd0: ArrayLike = 0.0,
    qd1: ArrayLike = 0.0,
    qdd0: ArrayLike = 0.0,
    qdd1: ArrayLike = 0.0,
) -> Trajectory:
    """The quintic polynomial with these positions, velocities and accelerations at both ends.

    >>> quintic([0.0], [1.0], duration=1.0).coefficients[0].ravel().tolist()
    [0.0, 0.0, 0.0, 10.0, -15.0, 6.0]
    """
    start, end = arguments.ends(q0, q1)
    T, n = arguments.positive(duration, "duration"), len(start)
    v = np.array([arguments.each(qd0, "qd0", n), arguments.each(qd1, "qd1", n)])
    a = np.array([arguments.each(qdd0, "qdd0", n), arguments.each(qdd1, "qdd1", n)])
    return Trajectory(np.array([0.0, T]), quintics(np.array([start, end]), v, a, np.array([T])))


def cubics(q: Array, v: Array, h: Array) -> Array:
    """Coefficients (K - 1, 6, n) from positions and velocities (K, n) at knots, with the segments' durations (K - 1,).

    >>> cubics(np.array([[0.0], [1.0]]), np.zeros((2, 1)), np.array([2.0])).ravel().tolist()
    [0.0, 0.0, 0.75, -0.25, 0.0, 0.0]
    """
    h = h[:, None]
    D, V0, V1, zero = np.diff(q, axis=0), h * v[:-1], h * v[1:], np.zeros_like(q[1:])
    return np.stack([q[:-1], v[:-1], (3 * D - 2 * V0 - V1) / h**2, (V0 + V1 - 2 * D) / h**3, zero, zero], axis=1)


def quintics(q: Array, v: Array, a: Array, h: Array) -> Array:
    """As `cubics`, with accelerations.

    >>> quintics(np.array([[0.0], [1.0]]), np.zeros((2, 1)), np.zeros((2, 1)), np.array([1.0])).ravel().tolist()
    [0.0, 0.0, 0.0, 10.0, -15.0, 6.0]
    """
    h = h[:, None]
    D, V0, V1, A0, A1 = np.diff(q, axis=0), h * v[:-1], h * v[1:], h**2 * a[:-1], h**2 * a[1:]
    c3 = (10 * D - 6 * V0 - 4 * V1 - 1.5 * A0 + 0.5 * A1) / h**3
    c4 = (-15 * D + 8 * V0 + 7 * V1 + 1.5 * A0 - A1) / h**4
    c5 = (6 * D - 3 * (V0 + V1) - 0.5 * (A0 - A1)) / h**5
    return np.stack([q[:-1], v[:-1], a[:-1] / 2, c3, c4, c5], axis=1)


# ---------------------------------------------------------------------------------------------- trapezoidal velocity


def trapezoidal(
    q0: ArrayLike,
    q1: ArrayLike,
    velocity: ArrayLike | RobotLimits,
    acceleration: ArrayLike,
    duration: float | None = None,
) -> Trajectory:
    """From rest to rest with trapezoidal velocities: constant acceleration, constant velocity, deceleration.

    All joints start and end together, in the shortest time that the limits allow, unless a longer duration is given.
    Joints that could be quicker move at a lower velocity, with the acceleration given. velocity: one limit for all
    joints, (n,), or robot.limits; acceleration: one or (n,).

    >>> trapezoidal([0.0, 0.0], [1.0, 0.1], velocity=0.5, acceleration=1.0).duration
    2.5
    """
    start, end = arguments.ends(q0, q1)
    n = len(start)
    v, a = arguments.velocity_limits(velocity, n), arguments.limits(acceleration, "acceleration", n)
    d = np.abs(end - start)
    reached = np.minimum(v, np.sqrt(d * a))  # the velocity
    needed = np.divide(d, reached, out=np.zeros(n), where=reached > 0) + reached / a
    slowest = int(needed.argmax())
    T = float(needed[slowest])
    if duration is not None:
        shortest, T = T, arguments.positive(duration, "duration")
        if T < shortest * (1 - 4 * EPS):  # the shortest itself, as another machine rounds it, is no error
            raise ArgumentError(f"duration is {T} s: expected at least {shortest} s, which joint {slowest} needs")
    if T == 0:
        raise ArgumentError("q1 equals q0: expected a motion, or a duration above zero")
    return joined([_ramps(*each, T) for each in zip(start.tolist(), end.tolist(), a.tolist(), strict=True)], T)


class Pieces(NamedTuple):
    """One joint's motion: at each breakpoint position, velocity, acceleration, and jerk up to the next, (K,) each."""

    times: Array
    q: Array
    qd: Array
    qdd: Array
    jerk: Array


def _ramps(q0: float, q1: float, a: float, T: float) -> Pieces:
    """Acceleration, constant velocity and deceleration of one joint in the time T, with acceleration a."""
    d = q1 - q0
    v = 2 * d / (T + math.sqrt(max(0.0, T * T - 4 * abs(d) / a)))  # v (T - |v| / a) = d
    if v == 0:
        return Pieces(np.zeros(1), np.array([q0]), *np.zeros((3, 1)))
    ramp = min(abs(v) / a, T / 2)
    a = v / ramp
    return Pieces(
        np.array([0.0, ramp, T - ramp]),
        np.array([q0, q0 + v * ramp / 2, q1 - v * ramp / 2]),
        np.array([0.0, v, v]),
        np.array([a, 0.0, -a]),
        np.zeros(3),
    )


def joined(joints: list[Pieces], duration: float) -> Trajectory:
    """The motions of all joints over the union of their breakpoints; those that rounding separates are one.

    >>> times, q, qd, qdd, jerk = np.array([[0.0, 1.0], [0.0, 0.5], [0.0, 1.0], [1.0, 0.0], [0.0, 0.0]])
    >>> joined([Pieces(times, q, qd, qdd, jerk)], 2.0).end.tolist()
    [1.5]
    """
    times = np.unique(np.concatenate([each.times for each in joints]))
    apart = 16 * EPS * duration
    times = times[(times > apart) & (times < duration - apart)]
    times = np.concatenate([[0.0], times[np.diff(times, prepend=0.0) > apart], [duration]])
    middle = (times[:-1] + times[1:]) / 2
    c = np.zeros((len(middle), 6, len(joints)))
    for j, each in enumerate(joints):
        k = np.searchsorted(each.times, middle, side="right") - 1
        u = times[:-1] - each.times[k]
        q, v, a, jerk = each.q[k], each.qd[k], each.qdd[k], each.jerk[k]
        c[:, 0, j] = q + u * (v + u * (a / 2 + u * jerk / 6))
        c[:, 1, j] = v + u * (a + u * jerk / 2)
        c[:, 2, j] = (a + u * jerk) / 2
        c[:, 3, j] = jerk / 6
    return Trajectory(times, c)
