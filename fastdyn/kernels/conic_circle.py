"""Where a conic meets the unit circle: up to four points (c, s), cosine and sine of an angle.

The conic is u^T Q u = 0, u = (c, s, 1), with Q as a symmetric tuple (cc, ss, 11, cs, c1, s1). Every conic Q - r E of
the pencil with the circle, E = diag(1, 1, -1), goes through the same points. It is a pair of lines where its
determinant, a cubic in r, is zero: of the real roots the one farthest from the others is taken, which gives real lines
whenever there are real points. Each line meets the circle in two points.
"""

from fastdyn.scalars import by_sign, kernel, maximum, sqrt, where_above
from fastdyn.scalars.vectors import *

ROOT_STEPS = 5  # Halley's: 4 leave a determinant of 3e-14 at worst in 600,000 conics, 5 rounding
LARGEST = 1e-3  # rad: larger steps are not taken, as at double points
LEAST = 1e-300  # keeps divisions finite


@kernel
def lines(Q):
    """Two lines l . u = 0, each of length 1, that meet the circle where the conic does, if it does."""
    r = extreme_root(Q)
    M = Q[0] - r, Q[1] - r, Q[2] + r, Q[3], Q[4], Q[5]
    # M = l g^T + g l^T up to a factor: its adjugate is -p p^T, p = l x g, and M + [p]x is a multiple of l g^T
    rows = (M[0], M[3], M[4]), (M[3], M[1], M[5]), (M[4], M[5], M[2])
    A, B, C = cross(rows[1], rows[2]), cross(rows[2], rows[0]), cross(rows[0], rows[1])  # of the adjugate
    most, chosen = larger(-A[0], A, -B[1], B)
    most, chosen = larger(most, chosen, -C[2], C)
    scale = -1.0 / sqrt(maximum(most, LEAST))
    p = times(scale, chosen)
    N = (
        (M[0], M[3] - p[2], M[4] + p[1]),
        (M[3] + p[2], M[1], M[5] - p[0]),
        (M[4] - p[1], M[5] + p[0], M[2]),
    )
    return longest(N[0], N[1], N[2]), longest(column(N, 0), column(N, 1), column(N, 2))


@kernel
def extreme_root(Q):
    """The real root of det(Q - r E) that is farthest from the others."""
    cc, ss, one, cs, c1, s1 = Q
    total, minor = cc + ss, cc * ss - cs * cs
    a2 = one - total
    a1 = minor - total * one + c1 * c1 + s1 * s1
    a0 = minor * one - s1 * s1 * cc - c1 * c1 * ss + 2.0 * cs * c1 * s1
    # r = t - a2 / 3: t^3 + a t + b = 0
    third = a2 / 3.0
    a, b = a1 - a2 * third, a0 + third * (2.0 * third * third - a1)
    size_b = by_sign(b, b, -b)
    # b^(1/4 + 1/16 + 1/64 + 1/256) is about its cube root; the root is not beyond the sum of both terms
    quarter = sqrt(sqrt(size_b))
    sixteenth = sqrt(sqrt(quarter))
    cube = quarter * sixteenth * sqrt(sqrt(sixteenth))
    start = sqrt(by_sign(a, a, -a)) + cube * 1.1
    t = by_sign(b, -start, start)
    for _ in range(ROOT_STEPS):
        value, slope = (t * t + a) * t + b, 3.0 * t * t + a
        below = slope * slope - 3.0 * t * value
        t = t - value * slope / (below + LEAST)  # beyond the extreme root below is above 0
    return t - third


@kernel
def larger(size, v, other, w):
    """The larger of two sizes, and its vector."""
    chosen = (
        where_above(other, size, w[0], v[0]), where_above(other, size, w[1], v[1]), where_above(other, size, w[2], v[2])
    )  # fmt: skip
    return maximum(size, other), chosen


@kernel
def longest(u, v, w):
    """The longest of three vectors, with length 1."""
    size, found = larger(dot(u, u), u, dot(v, v), v)
    size, found = larger(size, found, dot(w, w), w)
    return times(1.0 / sqrt(maximum(size, LEAST)), found)


@kernel
def polished(Q, value):
    """A point (sine, cosine) moved along the circle to where the conic is, by a Newton step; the residual there."""
    s, c = value
    x, y = Q[0] * c + Q[3] * s + Q[4], Q[3] * c + Q[1] * s + Q[5]
    slope = 2.0 * (c * y - s * x)
    step = -form(Q, s, c) * slope / (slope * slope + LEAST)
    step = where_above(LARGEST * LARGEST, step * step, step, 0.0)
    s, c = s + step * c, c - step * s
    scale = 1.0 / sqrt(s * s + c * c)
    s, c = scale * s, scale * c
    return (s, c), form(Q, s, c)


@kernel
def form(Q, s, c):
    """u^T Q u"""
    return c * (Q[0] * c + 2.0 * (Q[3] * s + Q[4])) + s * (Q[1] * s + 2.0 * Q[5]) + Q[2]
