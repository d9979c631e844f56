"""The compiled loop that samples trajectories at a batch of times."""

from __future__ import annotations

from typing import Any

from fastdyn.arrays import Array
from fastdyn.calls import lanes
from fastdyn.calls.arguments import FLOAT
from fastdyn.calls.threads import Call, useful, walk
from fastdyn.kernels.trajectories import trajectory, trajectory_rows
from fastdyn.scalars import LANES, all_finite, fill, give, load, take, width
from fastdyn.scalars.entry import SampleEntry

WORTH = 1 << 18  # times and joints of a batch that is one compiled call: less than 1 ms


def sampled(times: Any, c: Any, omega: Any, sine: Any, t: Any, q: Any, qd: Any, qdd: Any, scratch: Any) -> int:
    """Status 1: a time, or a result, is not finite."""
    n, k = q.shape[1], 0
    x, work = scratch[1 : 1 + 3 * n], scratch[1 + 3 * n :]
    check = fill(scratch, 0.0)
    for first in range(0, t.shape[0], width(scratch)):
        check = check + take(t, first, scratch, 0)
        k = trajectory(times, c, omega, sine, k, t, first, load(scratch, 0), x, work)
        check = check + give(q, first, x, 0) + give(qd, first, x, n) + give(qdd, first, x, 2 * n)
    return 0 if all_finite(check) else 1


def _types(real: Any, count: int) -> tuple[Any, ...]:
    from numba import types

    vector, coefficients = (types.Array(real, axes, "C", readonly=True) for axes in (1, 3))
    return vector, coefficients, real, vector


SAMPLED = SampleEntry(sampled, _types)


def sample(constants: tuple[Any, ...], t: Array, results: tuple[Array, ...], threads: int) -> bool:
    """Computes all samples, t (T, 1) and results (T, n) each; whether all are finite."""
    from fastdyn.calls.task import lane_rows  # imports Numba

    T, n = results[0].shape
    kind, worth = lanes.kind(FLOAT), max(LANES, WORTH // n)

    def ready() -> Call:
        scratch, run = lane_rows(1 + 3 * n + trajectory_rows(n), kind.lanes), SAMPLED.compiled(kind)
        return lambda first, last: run(*constants, t[first:last], *(a[first:last] for a in results), scratch)

    return walk(T, useful(threads, T, worth), worth, ready) is None
