"""Paths as piecewise polynomials of s in [0, 1]: cubic splines through way points, quintics through derivatives."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from fastdyn.arrays import Array
from fastdyn.errors import ArgumentError

ENDS = "not-a-knot", "natural", "clamped"


class Curve(NamedTuple):
    """Pieces between breaks; coefficients: (..., pieces, degree + 1, n), of powers of s minus the piece's break."""

    breaks: Array
    coefficients: Array

    def __call__(self, s: Array) -> tuple[Array, Array, Array]:
        """Value, first and second derivative at s; batch axes of s are those of the coefficients, then any others."""
        piece = np.clip(np.searchsorted(self.breaks, s, side="right") - 1, 0, len(self.breaks) - 2)
        lead = self.coefficients.ndim - 3
        if lead:
            first = np.arange(len(self.coefficients)).reshape(-1, *[1] * (s.ndim - 1))
            C = self.coefficients[first, piece]
        else:
            C = self.coefficients[piece]
        local = (s - self.breaks[piece])[..., None]
        value, slope, bend = C[..., -1, :], np.zeros_like(C[..., -1, :]), np.zeros_like(C[..., -1, :])
        for k in range(C.shape[-2] - 2, -1, -1):
            bend = bend * local + 2 * slope
            slope = slope * local + value
            value = value * local + C[..., k, :]
        return value, slope, bend


@lru_cache(maxsize=32)
def cardinal(knots: tuple[float, ...], ends: str) -> Curve:
    """The cubic splines that are 1 at one knot and 0 at the others: columns."""
    s, K = np.array(knots), len(knots)
    if ends not in ENDS:
        raise ArgumentError(f"ends is {ends!r}: expected one of {', '.join(ENDS)}")
    h, y = np.diff(s), np.eye(K)
    rise = np.diff(y, axis=0) / h[:, None]
    T, R = np.zeros((K, K)), np.zeros((K, K))  # second derivatives M at the knots: T M = R y
    for i in range(1, K - 1):
        T[i, i - 1 : i + 2] = h[i - 1], 2 * (h[i - 1] + h[i]), h[i]
        R[i] = 6 * (rise[i] - rise[i - 1])
    T[0, 0] = T[-1, -1] = 1.0  # natural
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
    return Curve(s, np.stack([y[:-1], slope, M[:-1] / 2, np.diff(M, axis=0) / (6 * h)], axis=1))


@lru_cache(maxsize=32)
def cardinal_on(knots: tuple[float, ...], ends: str, grid: tuple[float, ...]) -> tuple[Array, Array, Array]:
    """Values and derivatives of the cardinal splines on a grid: (points, knots) each."""
    return cardinal(knots, ends)(np.array(grid))


def through(knots: tuple[float, ...], ends: str, points: Array) -> Curve:
    """The cubic spline through way points (..., K, n)."""
    unit = cardinal(knots, ends)
    return Curve(unit.breaks, np.einsum("pdk,...kn->...pdn", unit.coefficients, points))


def quintic(s: Array, q: Array, slope: Array, bend: Array) -> Curve:
    """The curve with these values and derivatives (..., points, n) at s."""
    h = np.diff(s)[:, None]
    v0, v1, a0, a1 = (each * scale for each, scale in (
        (slope[..., :-1, :], h), (slope[..., 1:, :], h), (bend[..., :-1, :], h * h), (bend[..., 1:, :], h * h)
    ))  # fmt: skip
    d = np.diff(q, axis=-2)
    terms = [
        q[..., :-1, :], v0, a0 / 2,
        10 * d - 6 * v0 - 4 * v1 - 1.5 * a0 + 0.5 * a1,
        -15 * d + 8 * v0 + 7 * v1 + 1.5 * a0 - a1,
        6 * d - 3 * (v0 + v1) - 0.5 * (a0 - a1),
    ]  # fmt: skip
    return Curve(s, np.stack([term / h**k for k, term in enumerate(terms)], axis=-2))
