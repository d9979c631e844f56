"""Runs the timings: which sizes, how long, and what is reported about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from fastdyn import clock
from fastdyn.scalars import LANES
from fastdyn.study.rows import SIMPLIFIED
from fastdyn.study.timing import jobs, words
from fastdyn.study.timing.results import (
    LABELS,
    UPPER,
    USUAL,
    Point,
    Timings,
    crossovers,
    growth,
    operation_counts,
)

Progress = Callable[[float, str], None]


@dataclass(frozen=True)
class Plan:
    """Extent of the measurements. Sizes at which a formulation takes more than `operations` operations are left out."""

    sizes: tuple[int, ...]
    operations: int
    seconds: float  # for each job at each size, at least
    turns: int  # of each job at each size, at least
    room: int = 1 << 18  # bytes of a batch


FULL = Plan(
    (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 25, 32, 40, 50, 64, 80, 100, 128, 160, 200),
    operations=500_000_000, seconds=0.3, turns=8,
)  # fmt: skip
QUICK = Plan((1, 2, 3, 4, 6, 8, 12, 16, 24, 50, 80, 128, 200), operations=25_000_000, seconds=0.015, turns=4)


def measure(quick: bool = False, progress: Progress | None = None) -> Timings:
    """Times every formulation and the library's kernels: about four minutes, or twenty seconds if quick.

    progress: called as progress(fraction done, what is being done). The first run on a machine also compiles.

    >>> print(measure(quick=True).growth[0].label)  # doctest: +SKIP
    Lagrange-Euler
    """
    return run(QUICK if quick else FULL, progress or (lambda fraction, what: None))


def run(plan: Plan, progress: Progress) -> Timings:
    """As `measure`, with a given plan."""
    progress(0.0, "counting operations")
    costs = operation_counts()
    levels = {n: [name for name in LABELS if sum(costs[name].at(n)) <= plan.operations] for n in plan.sizes}
    total, done = sum(map(len, levels.values())), 0
    points: list[Point] = []
    simplified: tuple[float, float] | None = None
    for n, names in levels.items():
        report = partial(_report, progress, f"timing, {n} joint{'s' * (n > 1)}", done / total, len(names) / total)
        ns = _level(plan, n, names, report)
        points += [Point(name, LABELS[name], n, *ns[name], *costs[name].at(n)) for name in names]
        simplified = ns.get(SIMPLIFIED.name, simplified)
        done += len(names)
    rates = jobs.control(plan.seconds, plan.turns)
    found, crossed = growth(points), crossovers(points)
    progress(1.0, "timed")
    return Timings(
        tuple(points), found, crossed, words.history(points, simplified),
        words.notes(points, found, crossed, rates), _samples(plan),
    )  # fmt: skip


def _report(progress: Progress, what: str, start: float, share: float, part: float) -> None:
    progress(start + share * part, what)


def _level(plan: Plan, n: int, names: list[str], told: Callable[[float], None]) -> dict[str, tuple[float, float]]:
    """Nanoseconds per state at one size, on lanes and on scalars. Results are compared first."""
    names = [*names, SIMPLIFIED.name] if n == USUAL else names
    calls = {}
    for lanes in (True, False):
        for name in names:
            told(0.0)
            calls[name, lanes] = jobs.job(name, n, plan.room, lanes)
        jobs.check(n, {name: calls[name, lanes].results for name in names})
    ready = {key: jobs.compiled(call) for key, call in calls.items()}
    found = clock.best(ready, plan.turns, plan.seconds, clock.TURN, told)
    ns = {key: 1e9 * found[key] / len(calls[key].arguments[2]) for key in calls}
    return {name: (ns[name, True], ns[name, False]) for name in names}


def _samples(plan: Plan) -> str:
    return (
        f"One thread. Times are the best of {plan.turns} or more turns of about {1e3 * clock.TURN:g} ms or more, for "
        f"at least {plan.seconds:g} s a job; jobs of the same size took turns. Batches have up to {jobs.MOST} states, "
        f"as many as fit into {plan.room // 1024} KiB: {LANES} states at a time on lanes (SIMD registers), and the "
        f"same code on scalars, one state after the other. The scratch memory was placed at {len(jobs.PLACES)} offsets "
        "in turn. All formulations were checked to give the same torques before they were timed. Growth is fitted from "
        f"1/{UPPER} of a formulation's largest n on."
    )
