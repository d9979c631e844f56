"""Extrema of trajectories, and whether they stay within a robot's limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from fastdyn.arrays import Array
from fastdyn.errors import ArgumentError, LimitError
from fastdyn.mechanism.description import Mechanism
from fastdyn.mechanism.limits import UNITS as OF_STATES
from fastdyn.mechanism.limits import RobotLimits, limits_of, outside
from fastdyn.trajectories import arguments

if TYPE_CHECKING:
    from fastdyn.trajectories.trajectory import Trajectory

UNITS = {**OF_STATES, "qdd": ("rad/s²", "m/s²")}
HALVINGS = 54  # of an interval of length 1: down to the rounding of its numbers


def of(motion: Trajectory, order: int) -> tuple[Array, Array]:
    """Times (K, n) that contain all extrema of each joint's position (order 0), velocity or acceleration; the values.

    Both ends of each segment are among them.

    >>> from fastdyn import trajectories
    >>> times, values = of(trajectories.quintic([0.0], [1.0], duration=1.0), order=1)
    >>> times[values.argmax(), 0].round(15).item(), values.max().item()
    (0.5, 1.875)
    """
    if motion.sine is not None:
        return _of_cycloid(motion, motion.sine, order)
    h = np.diff(motion.times)
    c = motion.coefficients * (h[:, None] ** np.arange(6))[:, :, None]  # of s = u / h, from 0 to 1
    for _ in range(order):
        c = _derivative(c) / h[:, None, None]
    s = _critical(c)
    times = motion.times[:-1, None, None] + s * h[:, None, None]
    return times.reshape(-1, motion.n), _value(c, s).reshape(-1, motion.n)


def _critical(c: Array) -> Array:
    """Points of [0, 1], (S, K, n), that contain all extrema of polynomials with coefficients c, (S, degree + 1, n).

    Between two neighbouring extrema of its derivative a polynomial has at most one root, which bisection finds; where
    there is none it finds an end of the interval, which does no harm.
    """
    S, _, n = c.shape
    points = np.concatenate([np.zeros((S, 1, n)), np.ones((S, 1, n))], axis=1)
    derivatives = [c]
    while derivatives[-1].shape[1] > 2:
        derivatives.append(_derivative(derivatives[-1]))
    for d in reversed(derivatives[1:]):  # that of degree 1 first
        low, high = points[:, :-1].copy(), points[:, 1:].copy()
        rising = _value(d, low) < 0
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            left = (_value(d, middle) < 0) == rising  # of the root
            low, high = np.where(left, middle, low), np.where(left, high, middle)
        points = np.concatenate([points[:, :1], (low + high) / 2, points[:, -1:]], axis=1)
    return points


def _derivative(c: Array) -> Array:
    return c[:, 1:] * np.arange(1.0, c.shape[1])[:, None]


def _value(c: Array, s: Array) -> Array:
    """Values (S, K, n) of polynomials (S, degree + 1, n) at (S, K, n)."""
    found = np.broadcast_to(c[:, -1:], s.shape)
    for k in range(c.shape[1] - 2, -1, -1):
        found = found * s + c[:, k : k + 1]
    return found


def _of_cycloid(motion: Trajectory, sine: Array, order: int) -> tuple[Array, Array]:
    """The same for c0 + c1 t + A sin(w t), one period: where c1 + A w cos(w t) = 0, and at the quarters of the period.

    A cycloidal motion has c1 = -A w: its position has no extrema but the ends.
    """
    T, (c0, c1) = motion.duration, motion.coefficients[0, :2]
    w = 2 * np.pi / T
    with np.errstate(divide="ignore", invalid="ignore"):
        cosine = np.nan_to_num(-c1 / (sine * w), nan=1.0)
    turn = np.arccos(np.clip(cosine, -1.0, 1.0)) / w
    quarters = np.broadcast_to(np.linspace(0.0, T, 5)[:, None], (5, motion.n))
    times = np.concatenate([quarters, [turn, T - turn]])
    angle = w * times
    values = (
        c0 + c1 * times + sine * np.sin(angle),
        c1 + sine * w * np.cos(angle),
        -sine * w * w * np.sin(angle),
    )
    return times, values[order]


# ---------------------------------------------------------------------------------------------- limits


def check_limits(motion: Trajectory, limits: Mechanism | RobotLimits, acceleration: ArrayLike | None) -> None:
    """Raises a LimitError if coordinates, or joints that they drive, leave their limits."""
    own = limits if isinstance(limits, RobotLimits) else limits_of(limits)
    n = len(own.velocity)
    if motion.n != n:
        raise ArgumentError(f"limits has {n} joints, but the trajectory has {motion.n}: expected the same")
    most = None if acceleration is None else arguments.limits(acceleration, "acceleration", n)
    if isinstance(limits, RobotLimits):
        _check(motion, [(f"joint {i}", "?") for i in range(n)], own.position, own.velocity, most)
        return
    joints, coupling = limits.joints, limits.coupling
    owners = [(f"joint {joint.name!r}", joint.kind) for joint in joints]
    if coupling is None:
        _check(motion, owners, own.position, own.velocity, most)
        return
    names = [f"coordinate {name!r}" for name in coupling.names]
    _check(motion, list(zip(names, coupling.kinds(joints), strict=True)), own.position, own.velocity, most)
    c = motion.coefficients @ coupling.G.T
    c[:, 0] += coupling.offset
    driven = type(motion)(motion.times, c, None if motion.sine is None else coupling.G @ motion.sine)
    position = np.array([(joint.limits.lower, joint.limits.upper) for joint in joints])
    _check(driven, owners, position, np.array([joint.limits.velocity for joint in joints]), None)


def _check(
    motion: Trajectory, owners: Sequence[tuple[str, str]], position: Array, velocity: Array, most: Array | None
) -> None:
    """owners: name and kind; most: the largest acceleration, if there is a limit."""
    ranges = [("q", position[:, 0], position[:, 1]), ("qd", -velocity, velocity)]
    ranges += [] if most is None else [("qdd", -most, most)]
    for order, (name, low, high) in enumerate(ranges):
        times, values = of(motion, order)
        wrong = outside(values, low, high)
        if not wrong.any():
            continue
        excess = np.where(wrong, np.maximum(low - values, values - high), 0.0)
        k, i = divmod(int(excess.argmax()), motion.n)
        owner, kind = owners[i]
        unit = "" if kind == "?" else f" {UNITS[name][kind == 'prismatic']}"
        raise LimitError(
            f"{name} of {owner} is {values[k, i]}{unit} at t = {times[k, i]} s: "
            f"expected {low[i]} to {high[i]}{unit}, its limits"
        )
