"""Timing against counting."""

from __future__ import annotations

from collections.abc import Iterable

from fastdyn.page.content import SORTED_AT, Column, Picture, Section, Sentences, Table, Value
from fastdyn.study.results import Results
from fastdyn.study.timing import Crossover
from fastdyn.study.timing.figures import figures


def section(results: Results) -> Section:
    """The section."""
    timings = results.timings
    points = [
        (p.label, p.n, p.ns, p.ns_one, p.multiplications, p.additions, (p.multiplications + p.additions) / p.ns)
        for p in timings.points
    ]
    columns = (
        Column("formulation"), Column("n", "number"), Column("ns per state, batch", "number"),
        Column("ns, one state", "number"), Column("×", "number"), Column("+", "number"),
        Column("operations per ns", "number"),
    )  # fmt: skip
    return Section(
        "timing",
        "Timing against counting",
        (
            timings.samples,
            *(Picture(title, figure) for title, figure in figures(timings).items()),
            Table(
                "growth", "How the time grows: fitted exponents of n",
                (
                    Column("formulation"), Column("time of one state", "number", 2), Column("± (95 %)", "number", 2),
                    Column("time in a batch", "number", 2), Column("± (95 %, batch)", "number", 2),
                    Column("operations", "number", 2), Column("from n", "number"), Column("to n", "number"),
                ),
                tuple(
                    (g.label, g.exponent, g.plus_minus, g.exponent_batch, g.plus_minus_batch, g.predicted, g.first,
                     g.last)
                    for g in timings.growth
                ),
            ),
            Table(
                "six-joints", f"At n = {SORTED_AT} joints", columns, tuple(p for p in points if p[1] == SORTED_AT),
            ),
            Table(
                "crossovers",
                "Smallest n from which one formulation is faster at all larger n (blank: never in the measured range)",
                (Column("faster"), Column("than"), Column("by operations", "number"), Column("by time", "number")),
                tuple(_crossovers(timings.crossovers)),
            ),
            Sentences(timings.notes),
            Table(
                "history", "Published times and today's",
                (Column("what"), Column("published"), Column("year"), Column("today, here"), Column("ratio"),
                 Column("source")),
                tuple((h.what, h.published, h.year, h.today, h.ratio, h.source) for h in timings.history),
            ),
            Table("points", "All measurements", columns, tuple(points), folded=True),
        ),
    )  # fmt: skip


def _crossovers(found: Iterable[Crossover]) -> Iterable[tuple[Value, ...]]:
    """One row for each pair: by operations and by time."""
    pairs: dict[tuple[str, str], dict[str, int | None]] = {}
    for crossover in found:
        pairs.setdefault((crossover.quicker, crossover.slower), {})[crossover.by] = crossover.n
    return ((*pair, since.get("operations"), since.get("time")) for pair, since in pairs.items())
