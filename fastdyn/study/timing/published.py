"""Published procedures and times beside today's, for six joints."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fastdyn.study.counts import Figure, Row
from fastdyn.study.timing.predictions import costs
from fastdyn.study.timing.results import KINDS, USUAL, Amounts, Spread, Timings, classic, level

# published procedures, and the texts that are nearest to each, the nearest first
_LIKE = {
    "Table 3.1: Lagrange-Euler": ("lagrange_euler_table", "lagrange_euler"),
    "Table 3.4: Newton-Euler": ("newton_euler_frugal",),
    "Table 3.5: Lagrange-Euler": ("lagrange_euler_table", "lagrange_euler"),
    "Table 3.5: Newton-Euler": ("newton_euler_link",),
    "Table 3.5: generalized d'Alembert": ("generalized_dalembert_nearest", "generalized_dalembert"),
    "Lagrange-Euler, 4x4 matrices": ("lagrange_euler",),
    "recursive Lagrange, 4x4 matrices": ("recursive_lagrange",),
    "recursive Lagrange, 3x3 matrices": ("recursive_lagrange",),
    "general recursive Newton-Euler": ("newton_euler_base",),
    "Kane, for the Stanford arm": ("kane",),
    "Newton-Euler simplified for the PUMA 560": ("rnea",),
}
_BOOK = "Fu, Gonzalez and Lee, Robotics, 1987"


def procedures(tables: Iterable[Row], literature: Iterable[Figure]) -> tuple[Figure, ...]:
    """The totals of Tables 3.1, 3.4 and 3.5, and the literature's counts, for six joints."""
    totals = {f"Table {row.table}: {_WHAT.get(row.table, row.name)}": row for row in tables}  # the last rows are totals
    found = [Figure(name, *totals[name].published.at(USUAL), _BOOK) for name in _LIKE if name in totals]
    return (*found, *literature)


_WHAT = {"3.1": "Lagrange-Euler", "3.4": "Newton-Euler"}


@dataclass(frozen=True)
class Expected:
    """The time that a published procedure would take here, in ns per state, by the costs of the formulations timed.

    like: the formulation whose sines, and whose bytes per operation, are taken for the procedure's; its measured times
    on scalars and on lanes.
    """

    name: str
    source: str
    multiplications: int
    additions: int
    like: str
    scalars: float | None
    lanes: float | None
    like_scalars: float
    like_lanes: float


def expected(timings: Timings, procedures: Iterable[Figure]) -> tuple[Expected, ...]:
    """Those whose nearest text was timed for six joints, at a level of cache that has costs."""
    at = {p.formulation: p for p in timings.points if p.n == USUAL}
    fitted = {(c.kind, c.level): c for c in costs(timings)}
    found = []
    for each in procedures:
        p = next((at[name] for name in _LIKE.get(each.method, ()) if name in at), None)
        if p is None:
            continue
        known = [fitted.get((kind, level(p, kind, timings.host))) for kind in ("scalars", "lanes")]
        share = (each.multiplications + each.additions) / p.amounts.operations
        moved = round(share * p.amounts.moved)
        amounts = Amounts(each.multiplications, each.additions, p.amounts.sines, moved, p.amounts.memory)
        scalars, lanes = (None if c is None else c.time(amounts) for c in known)
        found.append(
            Expected(
                each.method, each.source, each.multiplications, each.additions, p.label, scalars, lanes,
                p.scalars.median, p.lanes.median,
            )
        )  # fmt: skip
    return tuple(found)


@dataclass(frozen=True)
class Then:
    """A published figure for six joints beside today's. ratio: published over today's on scalars, unless a bound."""

    what: str
    published: str
    year: str
    source: str
    text: str
    scalars: Spread | None
    lanes: Spread | None
    ratio: float | None
    remark: str


def history(timings: Timings) -> tuple[Then, ...]:
    """Published times beside those of this run; empty if six joints were not timed."""
    at = {p.formulation: p for p in timings.points if p.n == USUAL}
    comparison = classic(timings)
    if comparison is None or not timings.simplified:
        return ()
    long, short = at["lagrange_euler"], at["newton_euler_link"]
    luh = "Luh, Walker and Paul 1980, as commonly quoted"
    arm = "Stanford arm on a PDP-11/45 then; an arm of six rotary joints now"
    lanes, scalars = timings.simplified
    return (
        Then(
            "simplified model, without Coriolis and centrifugal forces", "less than 10 ms", "by 1987",
            f"{_BOOK}, section 3.3, PDP-11/45", "D qdd + c by Lagrange-Euler", scalars, lanes, None,
            "an upper bound, and neither arm nor program is given: no ratio follows",
        ),
        Then(
            "Lagrange-Euler", "7.9 s", "1980", luh, long.label, long.scalars, long.lanes,
            7.9e9 / long.scalars.median, arm,
        ),
        Then(
            "Newton-Euler", "4.5 ms", "1980", luh, short.label, short.scalars, short.lanes,
            4.5e6 / short.scalars.median, arm,
        ),
        Then(
            "Lagrange-Euler over Newton-Euler", f"{7.9e9 / 4.5e6:,.0f} times", "1980", "the quotient of the two above",
            f"{comparison.time.median:.3g} times here ({KINDS[comparison.kind]})", None, None, None,
            f"the texts that are timed have {comparison.operations:.3g} times the operations",
        ),
    )  # fmt: skip
