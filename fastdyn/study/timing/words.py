"""Sentences about the results of a run: how well counts predict times, and published times beside today's."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from statistics import median

import numpy as np

from fastdyn.scalars import LANES
from fastdyn.study.timing.jobs import scratch_bytes
from fastdyn.study.timing.results import OTHER, USUAL, Crossover, Growth, Point, Then, by_formulation

_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")  # Linux


# ---------------------------------------------------------------------------------------------- published and today


def history(points: Iterable[Point], simplified: tuple[float, float] | None) -> tuple[Then, ...]:
    """Published times beside those of this run; empty if six joints were not timed.

    simplified: ns per state of D qdd + c by Lagrange-Euler, on lanes and on scalars.
    """
    at = {p.formulation: (p.ns, p.ns_one) for p in points if p.n == USUAL}
    if not at or simplified is None:
        return ()
    long, short, ours = at["lagrange_euler"], at["newton_euler_link"], at["rnea"]
    luh = "Luh, Walker and Paul 1980, Stanford arm, PDP-11/45; as commonly quoted"
    other_arm = "another arm of six joints, all rotary"
    return (
        Then(
            "simplified model, without Coriolis and centrifugal forces", "less than 10 ms", "by 1987",
            "document 000, section 3.3, PDP-11/45; arm and program are not given",
            f"{_spell(simplified)}: D qdd + c by Lagrange-Euler; with all forces, by the library's inverse dynamics, "
            f"{_spell(ours)}",
            f"up to {_times(10e6, simplified)}",
        ),
        Then("Lagrange-Euler", "7.9 s", "1980", luh, f"{_spell(long)}; {other_arm}", _times(7.9e9, long)),
        Then(
            "Newton-Euler", "4.5 ms", "1980", luh,
            f"{_spell(short)}: link frames, Table 3.3; library's inverse dynamics, {_spell(ours)}; {other_arm}",
            _times(4.5e6, short),
        ),
        Then(
            "Lagrange-Euler over Newton-Euler", f"{_round(7.9e9 / 4.5e6)} times", "1980",
            "the quotient of the two above",
            f"{_round(long[1] / short[1])} times on scalars, {_round(long[0] / short[0])} times on lanes", "",
        ),
    )  # fmt: skip


def _spell(ns: tuple[float, float]) -> str:
    lanes, one = ns
    return f"{_time(one)} a state on scalars, {_time(lanes)} on lanes"


def _times(then: float, ns: tuple[float, float]) -> str:
    lanes, one = ns
    return f"{_round(then / one)} times on scalars, {_round(then / lanes)} on lanes"


def _time(ns: float) -> str:
    return f"{ns:.3g} ns" if ns < 1e3 else f"{ns / 1e3:.3g} µs" if ns < 1e6 else f"{ns / 1e6:.3g} ms"


def _round(value: float) -> str:
    """Two significant figures.

    >>> _round(173451.0)
    '170 000'
    """
    return f"{int(float(f'{value:.1e}')):,}".replace(",", " ") if value >= 10 else f"{value:.1f}"


# ---------------------------------------------------------------------------------------------- counts and times


def notes(
    points: Sequence[Point], growth: Iterable[Growth], crossovers: Iterable[Crossover], control: Mapping[str, float]
) -> tuple[str, ...]:
    """Sentences about inverse dynamics in this run. control: operations per ns of multiply-adds in registers."""
    points = [p for p in points if p.formulation not in OTHER]
    fitted = [g for g in growth if g.formulation not in OTHER]
    sizes = caches()
    found = [_correlation(points), _order(points), _small(points), _fused(points, control), _lanes(points)]
    found += [
        _beyond(points, level, sizes[level], sizes.get(level + 1, math.inf)) for level in (1, 2) if level in sizes
    ]
    found += [_saved(points), _growth(fitted), _crossings(crossovers)]
    return tuple(note for note in found if note)


def _rate(p: Point) -> float:
    return p.operations / p.ns


def _where(p: Point) -> str:
    return f"{p.label}, n = {p.n}"


def _correlation(points: Sequence[Point]) -> str:
    x, y = np.log([p.operations for p in points]), np.log([p.ns for p in points])
    typical = median(map(_rate, points))
    off = [max(_rate(p) / typical, typical / _rate(p)) for p in points]
    return (
        f"Over {len(points)} points the logarithms of time and operations correlate by {np.corrcoef(x, y)[0, 1]:.3f}. "
        f"A time predicted from the count alone, at {typical:.0f} operations per ns, is right within a factor of "
        f"{np.quantile(off, 0.9):.1f} for nine points in ten, and of {max(off):.1f} for all."
    )


def _order(points: Sequence[Point]) -> str:
    n = USUAL if any(p.n == USUAL for p in points) else points[-1].n
    own = [p for p in points if p.n == n]
    swapped = [(a, b) for a, b in combinations(own, 2) if (a.operations - b.operations) * (a.ns - b.ns) < 0]
    slow, quick = min(own, key=_rate), max(own, key=_rate)
    return (
        f"At n = {n}, {_pairs(len(own)) - len(swapped)} of {_pairs(len(own))} pairs of formulations have the same "
        f"order by count as by time; the rates lie between {_rate(slow):.0f} operations per ns ({slow.label}) and "
        f"{_rate(quick):.0f} ({quick.label})."
    )


def _pairs(count: int) -> int:
    return count * (count - 1) // 2


def _small(points: Sequence[Point]) -> str:
    gains = {own[0].label: max(map(_rate, own)) / _rate(own[0]) for own in by_formulation(points).values()}
    least, most = min(gains, key=gains.__getitem__), max(gains, key=gains.__getitem__)
    return (
        "Counts leave out sines and cosines, copying of samples in and out, and loop overhead. At its best n a "
        f"formulation runs {gains[least]:.1f} ({least}) to {gains[most]:.1f} times ({most}) as many operations per ns "
        f"as at n = {points[0].n}."
    )


def _fused(points: Sequence[Point], control: Mapping[str, float]) -> str:
    slow, quick = min(points, key=_rate), max(points, key=_rate)
    one = [p.operations / p.ns_one for p in points]
    return (
        f"For comparison: on lanes, multiply-adds in registers run {control['independent']:.0f} operations per ns if "
        f"they are independent, and {control['dependent']:.1f} if each depends on the one before. The formulations lie "
        f"between {_rate(slow):.1f} ({_where(slow)}) and {_rate(quick):.0f} ({_where(quick)}). On scalars, a dependent "
        f"chain runs {control['scalar']:.1f}, and the formulations {min(one):.1f} to {max(one):.1f}."
    )


def _lanes(points: Sequence[Point]) -> str:
    low, high = min(points, key=_gain), max(points, key=_gain)
    over = sum(_gain(p) > LANES for p in points)
    return (
        f"{LANES} lanes make the same code {_gain(low):.1f} ({_where(low)}) to {_gain(high):.1f} times "
        f"({_where(high)}) as fast as scalars, {median(map(_gain, points)):.1f} times in the median, and more than "
        f"{LANES} times at {over} of {len(points)} points."
    )


def _gain(p: Point) -> float:
    return p.ns_one / p.ns


def caches() -> dict[int, int]:
    """Bytes of each level of data cache, level 1 first, as far as the system tells."""
    found = {}
    for place in _CACHES.glob("index*"):
        try:
            kind, level, size = ((place / name).read_text().strip() for name in ("type", "level", "size"))
            if kind != "Instruction":
                found[int(level)] = int(size.removesuffix("K")) * 1024
        except (OSError, ValueError):
            continue
    return dict(sorted(found.items()))


def _beyond(points: Sequence[Point], level: int, size: float, wider: float) -> str:
    """How rates change where the scratch memory outgrows a cache but fits into the next level."""
    told = []
    for name, own in by_formulation(points).items():
        inside = [p for p in own if p.n > 1 and scratch_bytes(name, p.n) <= size]
        outside = [p for p in own if size < scratch_bytes(name, p.n) <= wider]
        if inside and outside:
            told.append((inside[-1], outside[-1]))
    if not told:
        return ""
    lose = [(a, b) for a, b in told if _rate(b) < _rate(a)]
    lose.sort(key=lambda pair: _rate(pair[1]) / _rate(pair[0]))
    most = "; ".join(
        f"{a.label} from {_rate(a):.0f} at n = {a.n} to {_rate(b):.0f} at n = {b.n} (on scalars, in 1/{LANES} of the "
        f"memory, from {a.operations / a.ns_one:.1f} to {b.operations / b.ns_one:.1f})"
        for a, b in lose[:3]
    )
    return (
        f"Level-{level} cache, {size / 1024:.0f} KiB: of {len(told)} formulations whose scratch memory on lanes "
        f"outgrows it, {len(lose)} run fewer operations per ns at the largest n that the next level holds than at the "
        f"largest that fits" + (f". Largest losses: {most}." if most else ".")
    )


def _saved(points: Sequence[Point]) -> str:
    """Time saved by the savings of Table 3.4."""
    own = by_formulation(points)
    pairs = [
        (b.operations / a.operations, b.ns / a.ns)
        for a, b in zip(own["newton_euler_link"], own["newton_euler_frugal"], strict=False)
        if a.n > 1
    ]
    if not pairs:
        return ""
    fewer, less = zip(*pairs, strict=True)
    return (
        f"The savings of Table 3.4 over Table 3.3 leave {100 * median(fewer):.0f} % of the operations, and "
        f"{100 * min(less):.0f} to {100 * max(less):.0f} % of the time, {100 * median(less):.0f} % in the median (from "
        "two joints on)."
    )


def _growth(growth: Sequence[Growth]) -> str:
    if not growth:
        return ""
    off = max(growth, key=lambda g: abs(g.exponent_batch - g.predicted))
    near = sum(abs(g.exponent - g.predicted) <= 0.1 for g in growth)
    near_batch = sum(abs(g.exponent_batch - g.predicted) <= 0.1 for g in growth)
    return (
        f"Of {len(growth)} exponents fitted to the time of one state {near} lie within 0.1 of that of the counts, and "
        f"{near_batch} of those fitted to batches. The largest deviation is that of {off.label}: "
        f"{off.exponent_batch:.2f} in batches and {off.exponent:.2f} for one state, where the counts give "
        f"{off.predicted:.2f}, n = {off.first} to {off.last}. Its scratch memory grows from "
        f"{scratch_bytes(off.formulation, off.first) // 1024} to "
        f"{scratch_bytes(off.formulation, off.last) // 1024} KiB on lanes, an eighth of that on scalars."
    )


def _crossings(crossovers: Iterable[Crossover]) -> str:
    found: dict[tuple[str, str], dict[str, int | None]] = {}
    for c in crossovers:
        found.setdefault((c.slower, c.quicker), {})[c.by] = c.n
    differ = [
        f"{quicker} against {slower}: {_since(by['operations'])} by operations, {_since(by['time'])} by time"
        for (slower, quicker), by in found.items()
        if by["operations"] != by["time"]
    ]
    if not differ:
        return ""
    return f"Counts and times do not always agree on which formulation is faster from which n: {'; '.join(differ)}."


def _since(n: int | None) -> str:
    return "never" if n is None else "always" if n == 1 else f"n = {n}"
