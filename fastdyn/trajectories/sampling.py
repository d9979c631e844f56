"""The compiled loop that samples trajectories at a batch of times: a segment's polynomials on lanes of times."""

from __future__ import annotations

from typing import Any

from fastdyn.arrays import Array
from fastdyn.calls import lanes
from fastdyn.calls.arguments import FLOAT
from fastdyn.calls.threads import Call, Span, useful, walk
from fastdyn.compiler.policy import kernel
from fastdyn.scalars import (
    LANES,
    add,
    all_above,
    all_finite,
    any_above,
    fill,
    give,
    load,
    maximum,
    minimum,
    sincos,
    store,
    take,
    where_above,
    width,
)
from fastdyn.scalars.entry import SampleEntry

ORDER = 6  # coefficients of a polynomial
WORTH = 1 << 18  # times and joints of a batch that is one compiled call: about 1 ms


@kernel
def segment_of(times: Any, t: float, last_found: int) -> int:
    """The segment that a time lies in; times before the first and after the last belong to the outer segments.

    >>> [segment_of(np.array([0.0, 1.0, 3.0]), t, 0) for t in (-1.0, 0.5, 1.0, 3.0, 9.0)]
    [0, 0, 1, 1, 1]
    """
    k, low, high = last_found, 0, len(times) - 2
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
def polynomial(u: Any, c0: Any, c1: Any, c2: Any, c3: Any, c4: Any, c5: Any) -> Any:
    """Value, first and second derivative of c0 + c1 u + ... + c5 u^5, by nested Horner schemes.

    >>> polynomial(2.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
    (9.0, 12.0, 12.0)
    """
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
def put(buffer: Any, n: int, j: int, moving: Any, q: Any, qd: Any, qdd: Any) -> None:
    """Stores the results of a joint: rows 1 to n, then those of velocities, then those of accelerations."""
    store(buffer, 1 + j, q)
    store(buffer, 1 + n + j, moving * qd)
    store(buffer, 1 + 2 * n + j, moving * qdd)


def sampled(times: Any, c: Any, omega: float, sine: Any, t: Any, q: Any, qd: Any, qdd: Any, X: Any) -> int:
    """Status 1: a time, or a result, is not finite.

    c: (segments, 6, n); sine: (n,) amplitudes of sin(omega t), which is added if omega > 0. X: scratch.
    """
    n, end, k, mixed = q.shape[1], times[-1], 0, 1 + 3 * q.shape[1]
    check = fill(X, 0.0)
    for first in range(0, t.shape[0], width(X)):
        check = check + take(t, first, X, 0)
        now = load(X, 0)
        moving = where_above(now, end, 0.0, where_above(0.0, now, 0.0, fill(X, 1.0)))
        inside = minimum(maximum(now, 0.0), end)
        k = segment_of(times, t[first, 0], k)
        after_start = k == 0 or not any_above(times[k] - now, 0.0)
        if after_start and (k == len(times) - 2 or all_above(times[k + 1] - now, 0.0)):
            u = inside - times[k]
            for j in range(n):
                x, v, a = polynomial(u, c[k, 0, j], c[k, 1, j], c[k, 2, j], c[k, 3, j], c[k, 4, j], c[k, 5, j])
                put(X, n, j, moving, x, v, a)
        else:  # each lane has its own coefficients
            for lane in range(width(X)):
                k = segment_of(times, t[min(first + lane, t.shape[0] - 1), 0], k)
                X[0, lane] = times[k]
                for j in range(n):
                    for r in range(6):
                        X[mixed + 6 * j + r, lane] = c[k, r, j]
            u = inside - load(X, 0)
            for j in range(n):
                row = mixed + 6 * j
                x, v, a = polynomial(
                    u, load(X, row), load(X, row + 1), load(X, row + 2), load(X, row + 3), load(X, row + 4),
                    load(X, row + 5),
                )  # fmt: skip
                put(X, n, j, moving, x, v, a)
        if omega > 0.0:
            s, co = sincos(omega * inside)
            for j in range(n):
                add(X, 1 + j, sine[j] * s)
                add(X, 1 + n + j, omega * sine[j] * (moving * co))
                add(X, 1 + 2 * n + j, -omega * omega * sine[j] * (moving * s))
        check = check + give(q, first, X, 1) + give(qd, first, X, 1 + n) + give(qdd, first, X, 1 + 2 * n)
    return 0 if all_finite(check) else 1


def _types(real: Any, count: int) -> tuple[Any, ...]:
    from numba import types

    vector, coefficients = (types.Array(real, axes, "C", readonly=True) for axes in (1, 3))
    return vector, coefficients, real, vector


SAMPLED = SampleEntry(sampled, _types)


def sample(constants: tuple[Any, ...], t: Array, results: tuple[Array, ...], threads: int) -> Span | None:
    """Computes all samples, t (T, 1) and results (T, n) each; the first step that failed, if any."""
    from fastdyn.calls.task import lane_rows  # imports Numba

    T, n = results[0].shape
    kind, worth = lanes.kind(FLOAT), max(LANES, WORTH // n)

    def ready() -> Call:
        scratch, run = lane_rows(1 + (3 + ORDER) * n, kind.lanes), SAMPLED.compiled(kind)
        return lambda first, last: run(*constants, t[first:last], *(a[first:last] for a in results), scratch)

    return walk(T, useful(threads, T, worth), worth, ready)
