"""Cubic splines through way points, over s."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from fastdyn.arrays import Array

ENDS = "not-a-knot", "natural", "clamped"


class Spline:
    """The cubic spline through way points (K, n) at knots (K,), with one of ENDS.

    >>> spline = Spline((0.0, 0.5, 1.0), "not-a-knot", np.array([[0.0], [0.25], [1.0]]))  # s^2
    >>> [part.round(12).tolist() for part in spline(np.array([0.25, 1.0]))]
    [[[0.0625], [1.0]], [[0.5], [2.0]], [[2.0], [2.0]]]
    """

    def __init__(self, knots: tuple[float, ...], ends: str, points: Array) -> None:
        self.knots = np.array(knots)
        self.pieces = np.einsum("pdk,kn->pdn", cardinal(knots, ends), points - points[0])
        self.pieces[:, 0] += points[0]

    def __call__(self, s: Array) -> tuple[Array, Array, Array]:
        """Value, first and second derivative at s, (K, n) each."""
        piece = np.clip(np.searchsorted(self.knots, s, side="right") - 1, 0, len(self.pieces) - 1)
        c0, c1, c2, c3 = np.moveaxis(self.pieces[piece], -2, 0)
        h = (s - self.knots[piece])[..., None]
        return c0 + h * (c1 + h * (c2 + h * c3)), c1 + h * (2 * c2 + 3 * h * c3), 2 * c2 + 6 * h * c3


@lru_cache(maxsize=32)
def cardinal(knots: tuple[float, ...], ends: str) -> Array:
    """The splines that are 1 at one knot and 0 at the others: (pieces, powers of s minus the piece's knot, knots)."""
    s, K = np.array(knots), len(knots)
    h, y = np.diff(s), np.eye(K)
    rise = np.diff(y, axis=0) / h[:, None]
    T, R = np.zeros((K, K)), np.zeros((K, K))  # second derivatives M at the knots: T M = R y
    for i in range(1, K - 1):
        T[i, i - 1 : i + 2] = h[i - 1], 2 * (h[i - 1] + h[i]), h[i]
        R[i] = 6 * (rise[i] - rise[i - 1])
    T[0, 0] = T[-1, -1] = 1.0  # natural, or a line through two points
    if ends == "clamped":
        T[0, :2], R[0] = (2 * h[0], h[0]), 6 * rise[0]
        T[-1, -2:], R[-1] = (h[-1], 2 * h[-1]), -6 * rise[-1]
    elif ends == "not-a-knot" and K == 3:  # one parabola
        T[0, :2], T[-1, -2:] = (1, -1), (-1, 1)
    elif ends == "not-a-knot" and K > 3:
        T[0, :3] = h[1], -(h[0] + h[1]), h[0]
        T[-1, -3:] = h[-1], -(h[-2] + h[-1]), h[-2]
    M, h = np.linalg.solve(T, R), h[:, None]
    slope = rise - h * (2 * M[:-1] + M[1:]) / 6
    return np.stack([y[:-1], slope, M[:-1] / 2, np.diff(M, axis=0) / (6 * h)], axis=1)


@lru_cache(maxsize=32)
def cardinal_on(knots: tuple[float, ...], ends: str, grid: tuple[float, ...]) -> tuple[Array, Array, Array]:
    """Values and derivatives of the cardinal splines on a grid: (points, knots) each."""
    return Spline(knots, ends, np.eye(len(knots)))(np.array(grid))


def on_grid(knots: tuple[float, ...], ends: str, points: Array, grid: Array) -> tuple[Array, Array, Array]:
    """The splines through way points (B, K, n), and their derivatives, on a grid: (B, points, n) each."""
    first = points[:, :1]
    value, slope, bend = (W @ (points - first) for W in cardinal_on(knots, ends, tuple(grid.tolist())))
    value += first  # taken off before, so that a joint that does not move has no velocity
    return value, slope, bend
