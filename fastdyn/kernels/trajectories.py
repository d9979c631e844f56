"""Positions, velocities and accelerations along piecewise polynomials; a time in each lane."""

from fastdyn.scalars import (
    add,
    all_above,
    any_above,
    fill,
    kernel,
    load,
    maximum,
    minimum,
    sincos,
    store,
    where_above,
    width,
)

ORDER = 6  # coefficients of a polynomial


def trajectory_rows(n):
    """Rows of scratch: a breakpoint and coefficients for each lane."""
    return 1 + ORDER * n


@kernel
def segment_of(times, t, k):
    """The segment that a time lies in, k or another one; the outer segments have no end."""
    low, high = 0, len(times) - 2
    if (k == 0 or times[k] <= t) and (k == high or t < times[k + 1]):
        return k
    while low < high:
        middle = (low + high + 1) // 2
        if times[middle] <= t:
            low = middle
        else:
            high = middle - 1
    return low


@kernel
def polynomial(u, c0, c1, c2, c3, c4, c5):
    """Value, first and second derivative of c0 + c1 u + ... + c5 u^5, by nested Horner schemes."""
    q4 = c5 * u + c4
    d3 = c5 * u + q4
    q3 = q4 * u + c3
    e2 = c5 * u + d3
    d2 = d3 * u + q3
    q2 = q3 * u + c2
    e1 = e2 * u + d2
    d1 = d2 * u + q2
    q1 = q2 * u + c1
    return q1 * u + c0, d1 * u + q1, 2.0 * (e1 * u + d1)


@kernel
def in_one_segment(c, k, u, x):
    """All times in segment k."""
    n = c.shape[2]
    for j in range(n):
        q, v, a = polynomial(u, c[k, 0, j], c[k, 1, j], c[k, 2, j], c[k, 3, j], c[k, 4, j], c[k, 5, j])
        store(x, j, q)
        store(x, n + j, v)
        store(x, 2 * n + j, a)


@kernel
def in_several_segments(times, c, k, t, first, inside, x, work):
    """Each lane has its own coefficients; returns the last segment. t: (T, 1), of which lanes hold those from first."""
    n = c.shape[2]
    for lane in range(width(work)):
        k = segment_of(times, t[min(first + lane, t.shape[0] - 1), 0], k)
        work[0, lane] = times[k]
        for j in range(n):
            for r in range(ORDER):
                work[1 + ORDER * j + r, lane] = c[k, r, j]
    u = inside - load(work, 0)
    for j in range(n):
        at = 1 + ORDER * j
        q, v, a = polynomial(
            u, load(work, at), load(work, at + 1), load(work, at + 2), load(work, at + 3), load(work, at + 4),
            load(work, at + 5),
        )  # fmt: skip
        store(x, j, q)
        store(x, n + j, v)
        store(x, 2 * n + j, a)
    return k


@kernel
def trajectory(times, c, omega, sine, k, t, first, now, x, work):
    """q, qd and qdd of n joints, in this order in the rows of x; returns the segment, where the next search begins.

    c: (segments, 6, n); sine: (n,) amplitudes of sin(omega t), which is added if omega > 0. now: the times t from
    `first` on, in lanes; k: a segment near them. Outside the motion joints rest at its ends.
    """
    n, end = c.shape[2], times[-1]
    inside = minimum(maximum(now, 0.0), end)
    k = segment_of(times, t[first, 0], k)
    begun = k == 0 or not any_above(times[k] - now, 0.0)
    if begun and (k == len(times) - 2 or all_above(times[k + 1] - now, 0.0)):
        in_one_segment(c, k, inside - times[k], x)
    else:
        k = in_several_segments(times, c, k, t, first, inside, x, work)
    if omega > 0.0:
        s, co = sincos(omega * inside)
        for j in range(n):
            add(x, j, sine[j] * s)
            add(x, n + j, omega * sine[j] * co)
            add(x, 2 * n + j, -omega * omega * sine[j] * s)
    if any_above(-now, 0.0) or any_above(now - end, 0.0):
        moving = where_above(now, end, 0.0, where_above(0.0, now, 0.0, fill(x, 1.0)))
        for j in range(n, 3 * n):
            store(x, j, moving * load(x, j))
    return k
