"""Timing against counting."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from statistics import median

from fastdyn.page import ink
from fastdyn.page.content import Block, Column, Facts, Picture, Section, Sentences, Table, Value
from fastdyn.study.results import Results
from fastdyn.study.timing import predictions as model
from fastdyn.study.timing import published
from fastdyn.study.timing.figures import figures, more_figures
from fastdyn.study.timing.results import (
    FAMILIES,
    KINDS,
    OTHER,
    USUAL,
    Growth,
    Point,
    Spread,
    Timings,
    by_formulation,
    compare,
    furthest,
    growth,
    in_level,
)

TEXT, N, ON, NS = Column("formulation"), Column("n", "number"), Column("throughput on"), "ns per state"


def section(results: Results) -> Section:
    """The section."""
    timings = results.timings
    predictions = model.predictions(timings)
    blocks: list[Block] = [
        Facts(tuple(timings.how.items())),
        *_pictures(timings),
        _six_joints(timings),
        *_latency(timings),
        _comparisons(timings),
        *_growth(timings),
        _levels(timings),
        *_predictions(timings, predictions),
        _crossovers(timings),
        *_expected(results),
        _history(timings),
        _host(timings),
        _points(timings),
    ]
    return Section("timing", "Timing against counting", tuple(blocks))


def _pictures(timings: Timings) -> Iterable[Picture]:
    narrow = figures(timings, ink.NARROW)
    yield from (Picture(title, figure, narrow[title]) for title, figure in figures(timings).items())
    yield from (Picture(title, figure, folded=True) for title, figure in more_figures(timings).items())


def _spread(name: str, digits: int | None = None) -> tuple[Column, ...]:
    return Column(name, "number", digits), Column("least", "number", digits), Column("most", "number", digits)


def _median(found: Spread | None) -> float | None:
    return None if found is None else found.median


def _values(found: Spread) -> tuple[Value, ...]:
    return found.median, found.least, found.most


# ---------------------------------------------------------------------------------------------- times


def _six_joints(timings: Timings) -> Table:
    columns = (
        TEXT, *(Column(f"{kind}, {NS}", "number") for kind in KINDS.values()), Column("×", "number"),
        Column("+", "number"), Column("operations per ns, lanes", "number"),
        Column("operations per ns, scalars", "number"),
    )  # fmt: skip
    rows = tuple(
        (
            p.label, p.lanes.median, p.scalars.median, _median(p.latency), p.amounts.multiplications,
            p.amounts.additions, p.amounts.operations / p.lanes.median, p.amounts.operations / p.scalars.median,
        )
        for p in timings.points
        if p.n == USUAL
    )  # fmt: skip
    return Table("six-joints", f"At n = {USUAL} joints", columns, rows)


def _latency(timings: Timings) -> Iterable[Block]:
    """Latency over throughput on scalars."""
    chained = [p for p in timings.points if p.latency]
    chief = [names[0] for names in FAMILIES.values()]
    rows = tuple(
        (p.label, p.n, p.scalars.median, p.latency.median, p.latency.median / p.scalars.median)
        for name in chief
        for p in chained
        if p.formulation == name and p.latency
    )
    if not rows:
        return
    yield Table(
        "latency", "Latency of one state beside throughput on scalars",
        (TEXT, N, Column(f"{KINDS['scalars']}, {NS}", "number"), Column(f"{KINDS['latency']}, ns", "number"),
         Column("ratio", "number", 2)),
        rows, folded=True,
    )  # fmt: skip
    ratios = {p: p.latency.median / p.scalars.median for p in chained if p.latency}
    largest = max(ratios, key=lambda p: ratios[p])
    beyond = [ratio for p, ratio in ratios.items() if p.n >= USUAL]
    tail = f" From n = {USUAL} on it is {median(beyond):.2f} times in the median." if beyond else ""
    yield (
        f"A state that waits for the one before takes at most {ratios[largest]:.2f} times as long as one that does not "
        f"({largest.label}, n = {largest.n}).{tail}"
    )


def _comparisons(timings: Timings) -> Table:
    found = (compare(timings, slower, quicker, "scalars") for slower, quicker in COMPARED)
    return Table(
        "comparisons", f"How many times the time of another formulation, {KINDS['scalars']}, n = {USUAL}",
        (Column("formulation"), Column("over"), Column("operations", "number"), *_spread("time")),
        tuple((c.slower, c.quicker, c.operations, *_values(c.time)) for c in found if c),
    )  # fmt: skip


COMPARED = (
    ("lagrange_euler", "newton_euler_link"), ("lagrange_euler_table", "lagrange_euler"),
    ("generalized_dalembert", "newton_euler_link"), ("generalized_dalembert_literal", "generalized_dalembert"),
    ("generalized_dalembert_nearest", "generalized_dalembert"),
    ("newton_euler_link", "newton_euler_frugal"), ("newton_euler_link", "rnea"),
)  # fmt: skip


def _points(timings: Timings) -> Table:
    columns = (
        TEXT, N,
        *(Column(f"{kind}, {what}", "number") for kind in KINDS.values() for what in ("median ns", "least", "most")),
        *(Column(what, "number") for what in ("×", "+", "sines", "bytes moved", "bytes of memory")),
    )  # fmt: skip

    def row(p: Point) -> tuple[Value, ...]:
        a = p.amounts
        latency: tuple[Value, ...] = _values(p.latency) if p.latency else (None,) * 3
        return (
            p.label, p.n, *_values(p.lanes), *_values(p.scalars), *latency, a.multiplications, a.additions, a.sines,
            a.moved, a.memory,
        )  # fmt: skip

    return Table("points", "All measurements", columns, tuple(map(row, timings.points)), folded=True)


# ---------------------------------------------------------------------------------------------- growth and caches


def _growth(timings: Timings) -> Iterable[Block]:
    if not timings.host.caches:
        yield (
            "The system does not tell the sizes of its caches: growth and costs are fitted over all sizes, and memory "
            "may have slowed the largest."
        )
    found = growth(timings)
    last = [g for g in found if g == furthest(found, g.formulation, g.kind)]
    yield _grown("growth", "How the time grows: exponents of n within one level of cache, the furthest that is", last)
    yield _grown("growth-all", "The same for every level of cache", found, folded=True)


def _grown(key: str, title: str, found: Iterable[Growth], folded: bool = False) -> Table:
    columns = (
        TEXT, ON, Column("level of cache"), Column("from n", "number"), Column("to n", "number"),
        *_spread("exponent of time", 2), Column("exponent of counts", "number", 2),
    )  # fmt: skip
    rows = ((g.label, g.kind, _level(g.level), g.first, g.last, *_values(g.exponent), g.counted) for g in found)
    return Table(key, title, columns, tuple(rows), folded)


def _level(number: int) -> str:
    return str(number) if number else "not known"


def _levels(timings: Timings) -> Table:
    """The sizes at which memory stays within each level."""
    caches = timings.host.caches
    numbers = [c.level for c in caches]
    columns = [
        Column(f"level {c.level} ({c.bytes // 1024:,} KiB), {kind}") for kind in ("lanes", "scalars") for c in caches
    ]

    def sizes(own: Sequence[Point], kind: str, of: int) -> str:
        inside = [p.n for p in in_level(own, kind, timings.host, of)]
        return "" if not inside else f"{inside[0]}" if len(inside) == 1 else f"{inside[0]} to {inside[-1]}"

    rows = tuple(
        (own[0].label, *(sizes(own, kind, of) for kind in ("lanes", "scalars") for of in numbers))
        for own in by_formulation(timings.points).values()
    )
    title = "Numbers of joints whose memory (scratch, inputs, results) each level of cache holds, and no nearer one"
    return Table("levels", title, (TEXT, *columns), rows, folded=True)


# ---------------------------------------------------------------------------------------------- predictions


def _predictions(timings: Timings, found: Sequence[model.Prediction]) -> Iterable[Block]:
    errors = model.errors(found)
    yield (
        "Can times be predicted from counts? Costs of a multiplication, an addition, a pair of sine and cosine, a byte "
        "moved and a state are fitted (none negative, squares of relative errors least) to some of the measurements "
        "and tried on others: on a formulation that was left out, and on the larger half of the sizes. The plain model "
        "has one cost, that of an operation. A factor of 1.2 means predicted 1.2 times too long or too short. Sizes "
        "whose memory outgrows the second level of cache are left out."
    )
    factors = (
        Column("predictions", "number"), Column("median factor", "number", 2), Column("worst factor", "number", 2),
        Column("plain: median factor", "number", 2), Column("plain: worst factor", "number", 2),
    )  # fmt: skip

    def values(e: model.Errors) -> tuple[Value, ...]:
        return e.points, e.median, e.worst, e.plain_median, e.plain_worst

    yield Table(
        "prediction-errors", "How far predictions were off",
        (Column("held out"), ON, *factors),
        tuple((e.held_out, e.kind, *values(e)) for e in errors if e.label == "all"),
    )  # fmt: skip
    yield Sentences(tuple(_verdicts(errors)))
    yield Table(
        "prediction-by-formulation", "The same by formulation",
        (TEXT, Column("held out"), ON, *factors, Column("worst at n", "number")),
        tuple((e.label, e.held_out, e.kind, *values(e), e.worst_n) for e in errors if e.label != "all"), folded=True,
    )  # fmt: skip
    yield Table(
        "predictions", "All predictions",
        (TEXT, N, Column("held out"), ON, Column("level of cache"), Column("measured, ns", "number"),
         Column("predicted, ns", "number"), Column("plain, ns", "number")),
        tuple(
            (p.label, p.n, p.held_out, p.kind, _level(p.level), p.measured, p.predicted, p.plain) for p in found
        ),
        folded=True,
    )  # fmt: skip
    yield Table(
        "costs", "Costs in ns, fitted to all measurements of a level of cache",
        (ON, Column("level of cache"), Column("measurements", "number"), Column("multiplication", "number"),
         Column("addition", "number"), Column("sine and cosine", "number"), Column("byte moved", "number"),
         Column("state", "number")),
        tuple(
            (c.kind, _level(c.level), c.points, c.multiplication, c.addition, c.sine, c.byte, c.state)
            for c in model.costs(timings)
        ),
    )  # fmt: skip
    yield _order(timings)


def _verdicts(errors: Iterable[model.Errors]) -> Iterable[str]:
    """Whether the five costs predict better than one."""
    for e in errors:
        if e.label == "all":
            better = "better" if round(e.median, 2) < round(e.plain_median, 2) else "no better"
            yield (
                f"Where {e.held_out} had to be predicted, {KINDS[e.kind]}: five costs predict {better} than operations "
                f"alone (median factor {e.median:.2f} against {e.plain_median:.2f})."
            )


def _order(timings: Timings) -> str:
    """Whether counts put the formulations into the order of their times."""
    own = [p for p in timings.points if p.n == USUAL and p.formulation not in OTHER]
    pairs = list(combinations(own, 2))
    same = sum((a.amounts.operations < b.amounts.operations) == (a.scalars.median < b.scalars.median) for a, b in pairs)
    return (
        f"At n = {USUAL}, {same} of {len(pairs)} pairs of formulations have the same order by operations as by time "
        f"({KINDS['scalars']}). The costs of multiplications, additions and bytes are not to be read one by one: texts "
        "with more of one have more of the others, so that small errors move cost from one to another."
    )


def _crossovers(timings: Timings) -> Table:
    def measured(values: Sequence[int | None]) -> tuple[Value, ...]:
        known = [n for n in values if n is not None]
        return min(known, default=None), max(known, default=None) if len(known) == len(values) else None

    return Table(
        "crossovers",
        "Smallest timed n from which one formulation is faster at all larger n (blank: never up to the largest)",
        (
            Column("faster"), Column("than"), ON, Column("by operations", "number"),
            Column("predicted", "number"), Column("measured, least", "number"), Column("measured, most", "number"),
            Column("largest n", "number"),
        ),
        tuple(
            (c.quicker, c.slower, c.kind, c.counted, c.predicted, *measured(c.measured), c.largest)
            for c in model.crossovers(timings)
        ),
    )  # fmt: skip


# ---------------------------------------------------------------------------------------------- published and today


def _expected(results: Results) -> Iterable[Block]:
    found = published.expected(results.timings, published.procedures(results.tables, results.literature))
    yield Table(
        "expected", f"Published procedures for n = {USUAL}: the times they would take here, by the costs above",
        (
            Column("procedure"), Column("×", "number"), Column("+", "number"),
            Column(f"expected, {KINDS['scalars']}, ns", "number"), Column(f"expected, {KINDS['lanes']}, ns", "number"),
            Column("nearest text"), Column("measured, scalars, ns", "number"), Column("measured, lanes, ns", "number"),
            Column("source", "detail"),
        ),
        tuple(
            (e.name, e.multiplications, e.additions, e.scalars, e.lanes, e.like, e.like_scalars, e.like_lanes, e.source)
            for e in found
        ),
    )  # fmt: skip
    yield (
        "Publications give multiplications and additions only: sines, and bytes in proportion to operations, are those "
        "of the nearest text."
    )


def _history(timings: Timings) -> Table:
    return Table(
        "history", f"Published times for n = {USUAL}, and today's",
        (
            Column("what"), Column("published"), Column("year"), Column("today"), Column("scalars, ns", "number"),
            Column("lanes, ns", "number"), Column("published over scalars", "number"), Column("source"),
            Column("remark", "detail"),
        ),
        tuple(
            (h.what, h.published, h.year, h.text, _median(h.scalars), _median(h.lanes), h.ratio, h.source, h.remark)
            for h in published.history(timings)
        ),
    )  # fmt: skip


def _host(timings: Timings) -> Table:
    host = timings.host
    rows: list[tuple[Value, ...]] = [
        ("load average over a minute (this program counts as one)", *_of(host.load)),
        ("share of a processor that this program had", *_of(host.share)),
        ("multiply-adds in registers, operations per ns: lanes, independent", *_of(r.independent for r in host.rates)),
        ("the same: lanes, each depends on the one before", *_of(r.dependent for r in host.rates)),
        ("the same: scalars, each depends on the one before", *_of(r.scalar for r in host.rates)),
    ]
    title = f"The host during the passes: {host.processors} processors"
    return Table("host", title, (Column("what"), *_spread("median")), tuple(rows))


def _of(values: Iterable[float]) -> tuple[Value, ...]:
    known = tuple(values)
    return _values(Spread(known)) if known else (None,) * 3
