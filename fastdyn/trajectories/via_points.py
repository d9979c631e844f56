"""Trajectories through via points: cubic splines and minimum jerk."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fastdyn.arrays import Array
from fastdyn.errors import ArgumentError
from fastdyn.trajectories import arguments
from fastdyn.trajectories.motions import cubics, quintics
from fastdyn.trajectories.trajectory import Trajectory


def spline(points: ArrayLike, times: ArrayLike, ends: Any = "rest") -> Trajectory:
    """The cubic spline through points (K, n) at times (K,), from 0 on: velocity and acceleration are continuous.

    ends: "rest", no velocity at the ends; "natural", no acceleration there; or (qd0, qd1), the velocities, one number
    for all joints or (n,) each.

    >>> motion = spline([[0.0], [1.0], [0.0]], [0.0, 1.0, 2.0], ends="natural")
    >>> motion([0.0, 0.5, 1.0])[0].ravel().tolist()
    [0.0, 0.6875, 1.0]
    """
    q, t = arguments.via_points(points, times)
    h = np.diff(t)
    slope = np.diff(q, axis=0) / h[:, None]
    v = np.zeros_like(q)
    # continuous acceleration, unknown velocities: v[i-1] / hL + 2 v[i] (1 / hL + 1 / hR) + v[i+1] / hR = right[i]
    diagonal, right = np.zeros((len(q), 1, 1)), np.zeros((*q.shape[:1], 1, q.shape[1]))
    diagonal[1:, 0, 0], right[1:, 0] = 2 / h, 3 * slope / h[:, None]
    diagonal[:-1, 0, 0] += 2 / h
    right[:-1, 0] += 3 * slope / h[:, None]
    beside = (1 / h)[:, None, None]
    if isinstance(ends, str) and ends == "natural":  # the same equations, with no acceleration beyond the ends
        v = block_tridiagonal(diagonal, beside, right)[:, 0]
    else:
        v[0], v[-1] = _end_velocities(ends, q.shape[1])
        right[1, 0] -= v[0] / h[0]
        right[-2, 0] -= v[-1] / h[-1]
        v[1:-1] = block_tridiagonal(diagonal[1:-1], beside[1:-1], right[1:-1])[:, 0]
    return Trajectory(t, cubics(q, v, h))


def _end_velocities(ends: Any, n: int) -> tuple[Array, Array]:
    if isinstance(ends, str) and ends == "rest":
        return np.zeros(n), np.zeros(n)
    if isinstance(ends, str) or not isinstance(ends, list | tuple) or len(ends) != 2:
        raise ArgumentError(f"ends is {ends!r}: expected 'rest', 'natural' or (qd0, qd1), the velocities at the ends")
    return arguments.each(ends[0], "ends[0]", n), arguments.each(ends[1], "ends[1]", n)


def minimum_jerk(points: ArrayLike, times: ArrayLike) -> Trajectory:
    """Through points (K, n) at times (K,), from rest to rest, with the least integral of squared jerk of all motions.

    Velocity and acceleration are zero at both ends; quintic polynomials meet with four continuous derivatives.

    >>> motion = minimum_jerk([[0.0], [0.5], [1.0]], [0.0, 0.5, 1.0])
    >>> np.allclose(motion.coefficients[0].ravel(), [0, 0, 0, 10, -15, 6])  # the quintic passes there anyway
    True
    """
    q, t = arguments.via_points(points, times)
    h, n = np.diff(t), q.shape[1]
    D = np.diff(q, axis=0)
    v, a = np.zeros_like(q), np.zeros_like(q)
    L, R, left, right = h[:-1], h[1:], h[:-1, None], h[1:, None]
    # unknown velocities and accelerations at via points; rows: continuous snap, then continuous jerk
    diagonal = np.empty((len(L), 2, 2))
    diagonal[:, 0, 0] = 192 / L**3 + 192 / R**3
    diagonal[:, 0, 1] = diagonal[:, 1, 0] = 36 / R**2 - 36 / L**2
    diagonal[:, 1, 1] = 9 / L + 9 / R
    M = h[1:-1]
    beside = np.array([[168 / M**3, -24 / M**2], [24 / M**2, -3 / M]]).transpose(2, 0, 1)
    wanted = np.empty((len(L), 2, n))
    wanted[:, 0] = 360 * (D[1:] / right**4 + D[:-1] / left**4)
    wanted[:, 1] = 60 * (D[1:] / right**3 - D[:-1] / left**3)
    found = block_tridiagonal(diagonal, beside, wanted)
    v[1:-1], a[1:-1] = found[:, 0], found[:, 1]
    return Trajectory(t, quintics(q, v, a, h))


def block_tridiagonal(diagonal: Array, beside: Array, right: Array) -> Array:
    """Solves a symmetric positive definite block tridiagonal system by elimination, block by block.

    diagonal: (K, m, m); beside: (K - 1, m, m), right of the diagonal; right: (K, m, n), the right-hand side.

    >>> right = np.array([[[3.0]], [[4.0]], [[3.0]]])
    >>> block_tridiagonal(np.full((3, 1, 1), 2.0), np.full((2, 1, 1), 1.0), right).ravel()
    array([1., 1., 1.])
    """
    K = len(diagonal)
    pivots, x = diagonal.copy(), right.copy()
    for k in range(1, K):
        factor = np.linalg.solve(pivots[k - 1], beside[k - 1]).T
        pivots[k] -= factor @ beside[k - 1]
        x[k] -= factor @ x[k - 1]
    for k in range(K - 1, -1, -1):
        x[k] = np.linalg.solve(pivots[k], x[k] - beside[k] @ x[k + 1] if k < K - 1 else x[k])
    return x
