"""Operation counts: the published tables row by row with labels, all formulations, the kernels, and two problems."""

from __future__ import annotations

from collections.abc import Iterable

from fastdyn.page.content import SORTED_AT, Column, Section, Table, Value
from fastdyn.polynomials import Polynomial
from fastdyn.study.counts import KINDS, Cost, Label, Row, labels
from fastdyn.study.results import Results
from fastdyn.study.sections import dalembert

SOURCE = (
    "K. S. Fu, R. C. Gonzalez and C. S. G. Lee, Robotics: Control, Sensing, Vision, and Intelligence, McGraw-Hill "
    "1987, chapter 3"
)
TABLES = {
    "3.1": "Lagrange-Euler, row by row",
    "3.4": "Newton-Euler, row by row",
    "3.5": "totals of the three formulations",
}


def section(results: Results) -> Section:
    """The section."""
    texts = (Column("code"), Column("what it is"), *_cost_columns())
    return Section(
        "counts",
        "Operation counts",
        (
            f"Tables 3.1, 3.4 and 3.5 of {SOURCE}: multiplications (×) and additions (+) for n rotary joints on a "
            "level base, as published and as counted. Every row is counted in code that is timed below: it names the "
            "formulation, the stages of its code that the row is the sum of, and at a total what of the code the table "
            f"leaves out. Polynomials are exact; columns of them sort by their values at n = {SORTED_AT}.",
            "That two polynomials are equal shows little if nothing else could come out, or if the code was chosen for "
            "it: each has a label that says so.",
            Table(
                "labels", "What the labels mean, and how many of the polynomials have them",
                (Column("label"), Column("polynomials", "number"), Column("meaning", "detail")),
                tuple((kind, number, KINDS[kind]) for kind, number in labels(results.tables).items()),
            ),
            *(
                _published(f"table-{table.replace('.', '-')}", f"Table {table}: {what}", table, results.tables)
                for table, what in TABLES.items()
            ),
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
            *dalembert.blocks(results.dalembert),
            *_problems(results),
        ),
    )  # fmt: skip


def _cost_columns() -> tuple[Column, ...]:
    at = f"at n = {SORTED_AT}"
    return Column("×", "number"), Column("+", "number"), Column(f"× {at}", "number"), Column(f"+ {at}", "number")


def _cost_values(cost: Cost) -> tuple[Value, ...]:
    return cost.multiplications, cost.additions, *cost.at(SORTED_AT)


def _published(key: str, title: str, table: str, rows: Iterable[Row]) -> Table:
    return Table(
        key,
        title,
        (
            Column("row", "math"), Column("× published", "number"), Column("× counted", "number"), Column("× label"),
            Column("+ published", "number"), Column("+ counted", "number"), Column("+ label"),
            Column("why", "detail"), Column("labels", "detail"), Column("counted in", "detail"),
            Column("left out", "detail"), Column("other readings", "detail"),
        ),
        tuple(
            (
                row.name, row.published.multiplications, row.counted.multiplications, row.multiplications.kind,
                row.published.additions, row.counted.additions, row.additions.kind, row.why,
                _reasons(row.multiplications, row.additions),
                f"{_words(row.text)}: {', '.join(map(_words, row.stages))}", ", ".join(row.left_out.values()),
                " | ".join(f"{reading.what}: {reading.cost}" for reading in row.readings),
            )
            for row in rows
            if row.table == table
        ),
    )  # fmt: skip


def _reasons(multiplications: Label, additions: Label) -> str:
    if multiplications == additions:
        return f"× and +: {additions.why}"
    return f"×: {multiplications.why} | +: {additions.why}"


def _words(name: str) -> str:
    """A name of code in a formula's column, where an underscore would be a subscript."""
    return name.replace("_", " ")


def _problems(results: Results) -> tuple[str | Table, ...]:
    """Problems 3.10 and 3.12 of the chapter."""
    texts, kernels = ({text.name: text.cost for text in found} for found in (results.texts, results.kernels))
    square = Polynomial((0, 0, 1))
    by_kernels = kernels["mass_matrix"] + kernels["gravity_forces"] + Cost(square, square)
    probing = results.probing
    columns = Column("what is computed", "math"), *_cost_columns()
    return (
        "Problem 3.10 asks whether Lagrange-Euler without velocity terms costs less than Newton-Euler with all terms. "
        "In the chapter's form it does not, for any number of joints. With the library's own kernels, D by composite "
        "rigid bodies, it does for one and two joints.",
        Table(
            "problem-3-10", "Without velocity terms, and with all terms (problem 3.10)", columns,
            (
                ("D qdd + c by Lagrange-Euler", *_cost_values(texts["simplified"])),
                ("tau by Newton-Euler, Table 3.3", *_cost_values(texts["newton_euler_link"])),
                ("tau by Newton-Euler, Table 3.4", *_cost_values(texts["newton_euler_frugal"])),
                ("D qdd + c by the library's kernels", *_cost_values(by_kernels)),
                ("tau by the library's Newton-Euler", *_cost_values(kernels["inverse_dynamics"])),
            ),
        ),
        "Problem 3.12 asks for the least number of operations to find D by probing, given those of one run of "
        "Newton-Euler. The answer holds if every probe is charged a whole run; a probe moves one joint at no velocity, "
        "and code that does not compute what is then zero costs far less.",
        Table(
            "problem-3-12", "The inertia matrix D by runs of Newton-Euler with unit accelerations (problem 3.12)",
            columns,
            (
                ("one run", *_cost_values(probing.run)),
                ("n whole runs, one for each column of D", *_cost_values(probing.columns)),
                (
                    "n whole runs, column k from joint k on, because D is symmetric: the least in whole runs",
                    *_cost_values(probing.lower),
                ),
                ("D by composite rigid bodies, the library's kernel", *_cost_values(kernels["mass_matrix"])),
            ),
        ),
    )  # fmt: skip
