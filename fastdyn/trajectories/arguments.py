"""Checks and converts the arguments of trajectories; errors name the argument, what was expected and what was found."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fastdyn.arrays import Array, real_numbers
from fastdyn.calls.arguments import check_finite
from fastdyn.errors import ArgumentError
from fastdyn.mechanism.limits import RobotLimits


def positions(value: ArrayLike, name: str) -> Array:
    """(n,) finite numbers, at least one; a copy.

    >>> positions([1, 2], "q0")
    array([1., 2.])
    """
    array = _finite(value, name)
    if array.ndim != 1 or len(array) == 0:
        raise ArgumentError(f"{name} has shape {array.shape}: expected (n,), one number for each joint")
    return array


def ends(q0: ArrayLike, q1: ArrayLike) -> tuple[Array, Array]:
    """The first and the last position, (n,) each."""
    first, last = positions(q0, "q0"), positions(q1, "q1")
    if first.shape != last.shape:
        raise ArgumentError(f"q1 has shape {last.shape}, but q0 has {first.shape}: expected the same")
    return first, last


def each(value: ArrayLike, name: str, n: int) -> Array:
    """(n,) finite numbers, from one for all joints or one for each.

    >>> each(0.5, "qd0", 3)
    array([0.5, 0.5, 0.5])
    """
    return _one_or_each(_finite(value, name), name, n)


def limits(value: ArrayLike, name: str, n: int) -> Array:
    """(n,) finite numbers above zero, from one for all joints or one for each."""
    return _above_zero(each(value, name, n), name)


def velocity_limits(value: ArrayLike | RobotLimits, n: int) -> Array:
    """(n,) numbers above zero, infinite where there is no limit; also those of robot.limits.

    >>> velocity_limits(np.inf, 2)
    array([inf, inf])
    """
    given = value.velocity if isinstance(value, RobotLimits) else value
    array = _one_or_each(np.array(real_numbers(given, "velocity"), dtype=np.float64), "velocity", n)
    return _above_zero(array, "velocity")


def positive(value: Any, name: str) -> float:
    """One finite number above zero.

    >>> positive(2, "duration")
    2.0
    """
    array = _finite(value, name)
    if array.shape != ():
        raise ArgumentError(f"{name} has shape {array.shape}: expected one number")
    if not array > 0:
        raise ArgumentError(f"{name} is {value}: expected a number of seconds above zero")
    return float(array)


def breakpoints(value: ArrayLike, name: str = "times") -> Array:
    """(K,) increasing times, K > 1, the first of them zero."""
    times = _finite(value, name)
    if times.ndim != 1 or len(times) < 2:
        raise ArgumentError(f"{name} has shape {times.shape}: expected (K,) times, at least two")
    if times[0] != 0:
        raise ArgumentError(f"{name}[0] is {times[0]}: expected 0, where every trajectory begins")
    wrong = np.flatnonzero(np.diff(times) <= 0)
    if len(wrong):
        k = int(wrong[0])
        raise ArgumentError(f"{name}[{k + 1}] is {times[k + 1]} after {times[k]}: expected increasing times")
    return times


def via_points(points: ArrayLike, times: ArrayLike) -> tuple[Array, Array]:
    """(K, n) positions and their times, (K,)."""
    q, t = _finite(points, "points"), breakpoints(times)
    if q.ndim != 2 or q.shape[1] == 0:
        raise ArgumentError(f"points has shape {q.shape}: expected (K, n), a position for each time")
    if len(q) != len(t):
        raise ArgumentError(f"points has shape {q.shape}, but there are {len(t)} times: expected ({len(t)}, n)")
    return q, t


def _one_or_each(array: Array, name: str, n: int) -> Array:
    if array.shape not in ((), (n,)):
        raise ArgumentError(f"{name} has shape {array.shape}: expected one number, or ({n},), one for each joint")
    return np.array(np.broadcast_to(array, (n,)))


def _above_zero(array: Array, name: str) -> Array:
    for i, number in enumerate(array.tolist()):
        if not number > 0:
            raise ArgumentError(f"{name} of joint {i} is {number}: expected a number above zero")
    return array


def _finite(value: ArrayLike, name: str) -> Array:
    array = np.array(real_numbers(value, name), dtype=np.float64)
    if array.ndim == 0 and not math.isfinite(array):
        raise ArgumentError(f"{name} is {array}: expected a finite number")
    check_finite({name: array})
    return array
