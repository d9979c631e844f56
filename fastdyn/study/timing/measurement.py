"""Runs the timings: which sizes, how often and how long, and what is kept of it after each pass."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from fastdyn import clock
from fastdyn.scalars import LANES
from fastdyn.study.rows import SIMPLIFIED
from fastdyn.study.timing import host, jobs
from fastdyn.study.timing.results import FAMILIES, FEWEST, LABELS, UPPER, USUAL, Point, Spread, Timings
from fastdyn.study.timing.work import Work, works

Progress = Callable[[float, str], None]
CHAINED = tuple(name for names in FAMILIES.values() for name in names)  # whose latency is measured


@dataclass(frozen=True)
class Plan:
    """Extent of the measurements. Sizes at which a formulation takes more than `operations` operations are left out."""

    sizes: tuple[int, ...]
    operations: int
    seconds: float  # for each job at each size in each pass, at least
    turns: int  # of each job at each size in each pass, at least
    passes: int = 3
    names: tuple[str, ...] = tuple(LABELS)
    room: int = 1 << 18  # bytes of a batch


FULL = Plan(
    (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 25, 32, 40, 50, 64, 80, 100, 128, 160, 200),
    operations=500_000_000, seconds=0.15, turns=8,
)  # fmt: skip
QUICK = Plan(
    (1, 2, 3, 4, 6, 8, 12, 16, 20, 25, 50, 100, 200), operations=15_000_000, seconds=0.015, turns=4, passes=2,
    names=(*CHAINED, "recursive_lagrange", "kane"),
)  # fmt: skip


def measure(
    quick: bool = False, progress: Progress | None = None, keep: Callable[[Timings], None] | None = None
) -> Timings:
    """Times every formulation and the library's kernels: about ten minutes, or twenty seconds for the chief if quick.

    progress: called as progress(fraction done, what is being done). keep: called after each pass with what all passes
    so far have found, so that a run that is ended early loses one pass at most. The first run on a machine also
    compiles.

    >>> print(measure(quick=True).points[0].label)  # doctest: +SKIP
    Lagrange-Euler
    """
    return run(QUICK if quick else FULL, progress or (lambda fraction, what: None), keep or (lambda timings: None))


@dataclass
class _Run:
    """What the passes have found so far: times by formulation, size and kind, and the state of the host."""

    plan: Plan
    works: Mapping[str, Work]
    levels: Mapping[int, list[str]]
    times: dict[tuple[str, int, str], list[float]] = field(default_factory=dict)
    load: list[float] = field(default_factory=list)
    share: list[float] = field(default_factory=list)
    rates: list[host.Rates] = field(default_factory=list)


def run(plan: Plan, progress: Progress, keep: Callable[[Timings], None]) -> Timings:
    """As `measure`, with a given plan."""
    progress(0.0, "counting operations")
    work = works()
    levels = {n: [name for name in plan.names if work[name].at(n).operations <= plan.operations] for n in plan.sizes}
    state = _Run(plan, work, levels)
    state.load += clock.load()
    for number in range(plan.passes):
        start, used = time.perf_counter(), time.process_time()
        _one_pass(state, number, progress)
        state.rates.append(jobs.rates(plan.seconds, plan.turns))
        state.share.append((time.process_time() - used) / (time.perf_counter() - start))
        state.load += clock.load()
        found = _timings(state)
        keep(found)
    progress(1.0, "timed")
    return found


def _one_pass(state: _Run, number: int, progress: Progress) -> None:
    """All sizes, with fresh arrays."""
    each = sum(map(len, state.levels.values()))
    total, done = each * state.plan.passes, each * number
    for n, names in state.levels.items():
        what = f"timing, pass {number + 1} of {state.plan.passes}, {n} joint{'s' * (n > 1)}"
        report = partial(_report, progress, what, done / total, len(names) / total)
        for (name, kind), ns in _level(state.plan, n, names, report).items():
            state.times.setdefault((name, n, kind), []).append(ns)
        done += len(names)


def _report(progress: Progress, what: str, start: float, share: float, part: float) -> None:
    progress(start + share * part, what)


def _level(plan: Plan, n: int, names: list[str], told: Callable[[float], None]) -> dict[tuple[str, str], float]:
    """Nanoseconds per state at one size, by formulation and kind. Results are compared first."""
    names = [*names, SIMPLIFIED.name] if n == USUAL else names
    calls: dict[tuple[str, str], jobs.Call] = {}
    for kind in ("lanes", "scalars"):
        for name in names:
            told(0.0)
            calls[name, kind] = jobs.job(name, n, plan.room, kind == "lanes")
        jobs.check(n, {name: calls[name, kind].results for name in names})
    for name in names:
        if name in CHAINED and (call := jobs.chain(name, n, plan.room)):
            calls[name, "latency"] = call
    ready = {key: jobs.compiled(call) for key, call in calls.items()}
    found = clock.best(ready, plan.turns, plan.seconds, clock.TURN, told)
    return {key: 1e9 * found[key] / len(call.arguments[2]) for key, call in calls.items()}


def _timings(state: _Run) -> Timings:
    def spread(name: str, n: int, kind: str) -> Spread:
        return Spread(tuple(state.times[name, n, kind]))

    points = tuple(
        Point(
            name, LABELS[name], n, state.works[name].at(n), spread(name, n, "lanes"), spread(name, n, "scalars"),
            spread(name, n, "latency") if (name, n, "latency") in state.times else None,
        )
        for n, names in state.levels.items()
        for name in names
    )  # fmt: skip
    simplified = [spread(SIMPLIFIED.name, USUAL, kind) for kind in ("lanes", "scalars") if USUAL in state.levels]
    now = host.Host(
        os.cpu_count() or 1, host.caches(), tuple(state.load), tuple(state.share), tuple(state.rates)
    )  # fmt: skip
    return Timings(points, tuple(simplified), now, _how(state.plan, len(state.share)))


def _how(plan: Plan, passes: int) -> dict[str, str]:
    """What a reader needs to know of the measurements."""
    return {
        "Passes": f"{passes} over all sizes, with fresh arrays in each, on one thread",
        "Time of a pass": f"the best of {plan.turns} or more turns of about {1e3 * clock.TURN:g} ms or more, for at "
        f"least {plan.seconds:g} s a job, because other programs only add time; jobs of the same size took turns",
        "Figures": "medians of the passes; intervals go from the least to the most of them",
        "Throughput on lanes": f"batches of up to {jobs.MOST:,} states, as many as fit into {plan.room // 1024} KiB "
        f"and make {jobs.ENOUGH / 1e6:.0f} million operations, {LANES} states at a time in SIMD registers",
        "Throughput on scalars": "the same code and as many bytes, one state after the other; states do not depend on "
        "each other, so that the processor may overlap them",
        "Latency of one state": "the same code on scalars, where the torques of a state are the joint positions of the "
        "next, so that states cannot overlap",
        "Memory": f"the scratch memory was placed at {len(jobs.PLACES)} offsets in turn, the best of which counts",
        "Check": "all formulations gave the same torques before they were timed",
        "Growth": f"fitted within one level of cache, from 1/{UPPER} of the largest n of its range on, to {FEWEST} "
        "sizes or more",
    }
