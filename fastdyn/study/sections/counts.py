"""Operation counts: the published tables row by row, all formulations, the kernels, and probing."""

from __future__ import annotations

from collections.abc import Iterable

from fastdyn.page.content import SORTED_AT, Block, Column, Section, Table, Value
from fastdyn.study.counts import Cost, Row
from fastdyn.study.results import Results


def section(results: Results) -> Section:
    """The section."""

    def of(table: str) -> Iterable[Row]:
        return (row for row in results.tables if row.table == table)

    published = {
        "3.1": ("table-3-1", "Table 3.1: Lagrange-Euler", of("3.1")),
        "3.4": ("table-3-4", "Table 3.4: Newton-Euler", of("3.4")),
        "3.5": ("table-3-5", "Table 3.5: totals of the three formulations", of("3.5")),
    }
    texts = (Column("code"), Column("what it is"), *_cost_columns())
    probing = results.probing
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
            texts, tuple((t.name, t.what, *_cost_values(t.cost)) for t in results.texts),
        ),
        Table(
            "kernels", "The library's own kernels",
            texts, tuple((t.name, t.what, *_cost_values(t.cost)) for t in results.kernels),
        ),
        Table(
            "literature", "Counts for six joints in the literature",
            (Column("method"), Column("×", "number"), Column("+", "number"), Column("source")),
            tuple((f.method, f.multiplications, f.additions, f.source) for f in results.literature),
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


def _cost_values(cost: Cost) -> tuple[Value, ...]:
    return cost.multiplications, cost.additions, *cost.at(SORTED_AT)


def _published(key: str, title: str, rows: Iterable[Row]) -> Table:
    def equal(row: Row) -> str:
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
