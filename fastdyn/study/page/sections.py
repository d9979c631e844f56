"""The sections of the report, from the results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from fastdyn.study import counts
from fastdyn.study.counts.robot import CHIEF, Count
from fastdyn.study.formulations import FORMULATIONS
from fastdyn.study.page.content import (
    SORTED_AT,
    Block,
    Column,
    Facts,
    Headline,
    Picture,
    Report,
    Section,
    Sentences,
    Table,
    Value,
)
from fastdyn.study.polynomials import Polynomial

if TYPE_CHECKING:
    from fastdyn.study.report import Results
    from fastdyn.study.simplification import Simplification
    from fastdyn.study.timing import Crossover

TITLE = "Eleven formulations of inverse dynamics, counted and timed"
INTRODUCTION = (
    "Inverse dynamics: the joint torques that move an arm along a given path. This page takes its classic formulations "
    "from the literature, counts their operations by running their code on counting numbers, compares the counts with "
    "the published tables, and times the code on the machine named below."
)
NEWTON, DALEMBERT, LAGRANGE = "newton_euler_frugal", "generalized_dalembert", "lagrange_euler"


def report(results: Results) -> Report:
    """The whole report."""
    return Report(
        TITLE,
        INTRODUCTION,
        tuple(_headlines(results)),
        (
            _formulations(results),
            _counts(),
            _robots(results),
            _timing(results),
            _effects(results),
            _circumstances(results),
        ),
    )


# ---------------------------------------------------------------------------------------------- headlines


def _headlines(results: Results) -> Iterable[Headline]:
    yield _reproduced(counts.tables())
    growth = {g.formulation: g for g in results.timings.growth}
    for name, title in ((LAGRANGE, "Lagrange-Euler"), (DALEMBERT, "generalized d'Alembert"), (NEWTON, "Newton-Euler")):
        if found := growth.get(name):
            yield Headline(
                f"n^{{{found.exponent:.2f}}}",
                f"is the growth of the time of {title} for one state, ± {found.plus_minus:.2f}, fitted from "
                f"n = {found.first} to {found.last}",
            )
    at = {p.formulation: p for p in results.timings.points if p.n == SORTED_AT}
    if LAGRANGE in at and NEWTON in at:
        yield Headline(
            f"{at[LAGRANGE].ns / at[NEWTON].ns:.0f} times",
            f"the time of Newton-Euler is what Lagrange-Euler takes for six joints: {at[LAGRANGE].ns / 1000:.3g} µs "
            f"per state of a batch against {at[NEWTON].ns:.3g} ns",
        )
    agreeing = sum(verdict.agrees for verdict in results.verdicts)
    yield Headline(
        f"{agreeing} of {len(results.verdicts)}",
        "inertia and velocity terms of the PUMA 560 are dominated by the effect that the chapter states: translation, "
        "rotation or both",
    )


def _reproduced(rows: Sequence[counts.Row]) -> Headline:
    """How many published polynomials are counted exactly, how many more in another reading of their row."""
    equal = sum(row.equal_multiplications + row.equal_additions for row in rows)
    explained = [row for row in rows if any(reading.cost == row.published for reading in row.readings)]
    others = [row for row in rows if not row.equal and row not in explained]
    more, left = (
        sum(2 - row.equal_multiplications - row.equal_additions for row in found) for found in (explained, others)
    )
    return Headline(
        f"{equal} of {2 * len(rows)}",
        f"published operation counts are reproduced exactly, and {more} more in another reading of their rows"
        + (f"; {left} are not ({', '.join(row.name for row in others)})" if others else ""),
    )


# ---------------------------------------------------------------------------------------------- sections


def _formulations(results: Results) -> Section:
    costs = {text.name: text.cost for text in counts.formulations()}
    worst = max(a.difference for a in results.agreement)
    rows = [
        (
            how.name, how.source, ", ".join(field.name for field in how.gives), "rotary" if how.rotary_only else "any",
            _order(costs[how.name]), difference,
        )
        for how, difference in (
            (FORMULATIONS[found.formulation], found.difference) for found in results.agreement
        )
    ]  # fmt: skip
    return Section(
        "formulations",
        "The formulations",
        (
            f"Each formulation is written as its source prints it, and all are compiled with the same options. On "
            f"{results.agreement[0].states:,} random states of the {results.agreement[0].robot} all of them agree with "
            f"the library's own inverse dynamics within {worst:.0e} of the largest torque of the joint.",
            Table(
                "overview",
                "The results of each formulation, and its order in the number of joints n",
                (
                    Column("formulation"), Column("source"), Column("results", "math"), Column("joints"),
                    Column("order", "number"), Column("largest difference", "number"),
                ),
                tuple(rows),
            ),
            "Documents: 000 is the chapter on arm dynamics whose Tables 3.1, 3.4 and 3.5 are compared below; 001, 002 "
            "and 003 treat Christoffel symbols, screws and Kane's equations.",
        ),
    )  # fmt: skip


def _order(cost: counts.Cost) -> Polynomial:
    degree = max(len(cost.multiplications.coefficients), len(cost.additions.coefficients)) - 1
    return Polynomial((0,) * degree + (1,))


def _counts() -> Section:
    published = {
        "3.1": ("table-3-1", "Table 3.1: Lagrange-Euler", counts.table_3_1()),
        "3.4": ("table-3-4", "Table 3.4: Newton-Euler", counts.table_3_4()),
        "3.5": ("table-3-5", "Table 3.5: totals of the three formulations", counts.table_3_5()),
    }
    texts = (Column("code"), Column("what it is"), *_cost_columns())
    probing = counts.probing_counts()
    blocks: list[Block] = [
        "Multiplications (×) and additions (+) for n rotary joints, as published and as counted in the code that is "
        f"timed below. Polynomials are exact; columns of them sort by their values at n = {SORTED_AT}.",
        "One exception: rows 6 to 8 of Table 3.1, and with them Lagrange-Euler in Table 3.5, are counted with the sums "
        "of h_ikm from the larger of the last two indices on for every i, as the table does. The code that is timed "
        "begins at the largest of all three, as (3.2-33) is printed: its counts are among the other readings of those "
        "rows of Table 3.1, and in the table of all formulations.",
        *(_published(*given) for given in published.values()),
        Table(
            "texts", "All operations of each formulation",
            texts, tuple((t.name, t.what, *_cost_values(t.cost)) for t in counts.formulations()),
        ),
        Table(
            "kernels", "The library's own kernels",
            texts, tuple((t.name, t.what, *_cost_values(t.cost)) for t in counts.kernels()),
        ),
        Table(
            "literature", "Counts for six joints in the literature",
            (Column("method"), Column("×", "number"), Column("+", "number"), Column("source")),
            tuple((f.method, f.multiplications, f.additions, f.source) for f in counts.literature()),
        ),
        Table(
            "probing", "The inertia matrix D by runs of Newton-Euler with unit accelerations (problem 3.12)",
            (Column("what is run", "math"), *_cost_columns()),
            (
                ("one run", *_cost_values(probing.run)),
                ("n runs, one for each column of D", *_cost_values(probing.columns)),
                ("column k only from joint k on, because D is symmetric", *_cost_values(probing.lower)),
            ),
        ),
    ]  # fmt: skip
    return Section("counts", "Operation counts", tuple(blocks))


def _cost_columns() -> tuple[Column, ...]:
    at = f"at n = {SORTED_AT}"
    return Column("×", "number"), Column("+", "number"), Column(f"× {at}", "number"), Column(f"+ {at}", "number")


def _cost_values(cost: counts.Cost) -> tuple[Value, ...]:
    return cost.multiplications, cost.additions, *cost.at(SORTED_AT)


def _published(key: str, title: str, rows: Iterable[counts.Row]) -> Table:
    def equal(row: counts.Row) -> str:
        if row.equal:
            return "yes"
        return (
            "multiplications only" if row.equal_multiplications else "additions only" if row.equal_additions else "no"
        )

    return Table(
        key,
        title,
        (
            Column("row", "math"), Column("× published", "number"), Column("× counted", "number"),
            Column("+ published", "number"), Column("+ counted", "number"), Column("equal", "mark"),
            Column("why", "detail"), Column("other readings", "detail"),
        ),
        tuple(
            (
                row.name, row.published.multiplications, row.counted.multiplications, row.published.additions,
                row.counted.additions, equal(row), row.why,
                " | ".join(f"{reading.what}: {reading.cost}" for reading in row.readings),
            )
            for row in rows
        ),
    )  # fmt: skip


def _robots(results: Results) -> Section:
    def table(key: str, title: str, shown: Iterable[Count], folded: bool = False) -> Table:
        sides = ("general", "traced", "specialised")
        columns = (Column("quantity"), Column("robot"), *(Column(f"{s} {o}", "number") for s in sides for o in "×+"))
        rows = []
        for found in shown:
            costs = [getattr(found, side) for side in sides]
            numbers = [value for cost in costs for value in (cost.multiplications, cost.additions)]
            rows.append((found.name, found.robot, *numbers))
        return Table(key, title, columns, tuple(rows), folded)

    return Section(
        "robots",
        "Counts of one robot",
        (
            "A robot's own zeros, ones and constants save most of the operations of code that serves any robot. "
            "General: as the library's kernels run on the robot. Traced: its numbers folded in, zeros and ones "
            "dropped, common results shared. Specialised: the same rewritten by algebra, the code of "
            "robot.specialize(). Rotors are included, friction is not.",
            table(
                "robots-chief", "Multiplications (×) and additions (+) for one state",
                (found for found in results.robot_counts if found.name in CHIEF),
            ),
            table("robots-all", "All quantities that were counted", results.robot_counts, folded=True),
        ),
    )  # fmt: skip


def _timing(results: Results) -> Section:
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
            *_pictures(results.timing_figures),
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


def _effects(results: Results) -> Section:
    split = results.split
    return Section(
        "effects",
        "Translational against rotational effects",
        (
            f"The inertia and velocity terms of the {split.robot}, split by generalized d'Alembert into the parts that "
            "the links' translation and rotation contribute, along a trajectory of "
            f"{len(split.trajectory.t)} points ({split.trajectory.name}). The chapter does not give the trajectory of "
            "its figures; the table of random trajectories shows how often others lead to the same verdict.",
            *_pictures(results.effects_figures),
            Table(
                "verdicts", "Which effect dominates, here and in the chapter",
                (
                    Column("element", "math"), Column("found"), Column("published"), Column("agrees", "mark"),
                    Column("translational share", "percent"),
                ),
                tuple(
                    (
                        _element(v.element), v.found, v.published, "yes" if v.agrees else "no",
                        None if v.found == "none" else float(v.share),
                    )
                    for v in results.verdicts
                ),
            ),
            Sentences(results.effects_notes),
            Table(
                "robustness", "Random trajectories: the share that leads to each verdict",
                (
                    Column("element", "math"),
                    *(Column(verdict, "percent") for verdict in ("translational", "rotational", "both", "none")),
                    Column("as published", "percent"),
                ),
                tuple(
                    (_element(r.element), *map(float, (r.translational, r.rotational, r.both, r.none, r.agrees)))
                    for r in results.robustness
                ),
                folded=True,
            ),
            Table(
                "simplification", "Terms that can be dropped along this trajectory",
                (
                    Column("tolerance", "percent"), Column("terms kept", "number"), Column("of", "number"),
                    Column("torque error", "percent", 3), Column("× before", "number"), Column("× after", "number"),
                    Column("+ before", "number"), Column("+ after", "number"), Column("dropped", "detail"),
                ),
                tuple(_simplification(s) for s in results.simplifications),
            ),
        ),
    )  # fmt: skip


def _element(name: str) -> str:
    """D12 -> D_12."""
    return f"{name[0]}_{name[1:]}"


def _simplification(found: Simplification) -> tuple[Value, ...]:
    kept = sum(term.kept for term in found.terms)
    return (
        float(found.tolerance), kept, len(found.terms), float(found.error),
        *map(int, (*found.multiplications, *found.additions)),
        ", ".join(term.name for term in found.terms if not term.kept) or "nothing",
    )  # fmt: skip


def _pictures(figures: dict[str, Any]) -> Iterable[Picture]:
    return (Picture(title, figure) for title, figure in figures.items())


def _circumstances(results: Results) -> Section:
    return Section(
        "measured",
        "Machine and versions",
        (Facts(tuple(results.about.items())),),
    )
