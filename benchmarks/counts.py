"""The published operation counts beside those of the code, as Markdown.

python -m benchmarks.counts > notes/measurements/counts.md
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fastdyn.study import counts
from fastdyn.study.counts import Text

INTRODUCTION = """\
# Operation counts against the published tables

Written by `python -m benchmarks.counts`; a test fails if it is out of date. Tables 3.1, 3.4 and 3.5 are those of
K. S. Fu, R. C. Gonzalez and C. S. G. Lee, *Robotics: Control, Sensing, Vision, and Intelligence*, McGraw-Hill 1987,
chapter 3. Each text is run on counting scalars for n = 1 to 12 joints (1 to 8 for Lagrange-Euler), and the exact
polynomial is fitted: n rotary joints, a level base, no load. Every row is counted in a formulation that is also timed:
the stages of its text that it is the sum of are named, and so are those that a total leaves out.
"""

DALEMBERT = """\
T = n (n + 1) (n + 2) / 6 is the number of triples i <= j <= s: published are 13 T + 46 n^2 + 85 n + 69 multiplications
and 8 T + 40 n^2 + 46 n + 45 additions. The procedure (Fig. 3.9) is missing from the copy used here. As printed, with no
sum kept, (3.4-25) to (3.4-27) are of order n^5, so that the published order n^3 already needs sums that are kept.
`fastdyn/study/counts/dalembert.py` has {found.members:,} procedures in between as choices at each stage.
{found.equal[0]:,} of them have the published coefficients of n^3 in both polynomials, {found.equal[1]:,} also those of
n^2, {found.equal[2]} also those of n: one procedure with three details open (a product for the first link's rotation or
none; I_s z_j for n^2 pairs and I_s w_s once, or for pairs and again; how the additions of D and h_tran are shared).
{found.equal[3]} have the constants. It may be chance: of {found.neighbours[1]:,} polynomials whose coefficients of n^2
and n differ from the published ones by at most 2 and 4, {found.neighbours[0]} are met by some procedure as well, and
some choices were added after the first results. In all procedures with 13 and 8, one of the two additions for each term
of D_ij is not counted: none of them can run with so few. The nearest procedure:
"""


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """A table in Markdown."""
    lines = [list(head)]
    lines += [["---"] * len(lines[0]), *([str(cell) for cell in row] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def polynomials() -> Iterator[tuple[object, ...]]:
    """A line for each of the 40 polynomials."""
    for row in counts.tables():
        for sign, side, label in (("×", "multiplications", row.multiplications), ("+", "additions", row.additions)):
            published, counted = getattr(row.published, side), getattr(row.counted, side)
            yield row.table, f"`{row.name}`", sign, published, counted, label.kind, label.why


def origins() -> Iterator[tuple[object, ...]]:
    """A line for each of the 20 rows: where it is counted, what is left out, why, and other readings."""
    for row in counts.tables():
        stages = ", ".join(f"`{stage}`" for stage in row.stages)
        left_out = ", ".join(f"`{stage}`: {what}" for stage, what in row.left_out.items())
        readings = "; ".join(f"{reading.what}: {reading.cost}" for reading in row.readings)
        yield row.table, f"`{row.name}`", f"`{row.text}`: {stages}", left_out, row.why, readings


def dalembert() -> Iterator[tuple[object, ...]]:
    """A line for each stage of the procedure that is nearest to the counts of generalized d'Alembert."""
    ways = {stage.name: len(stage.ways) for stage in counts.dalembert.family()}
    for share in counts.dalembert.search().shares:
        yield f"`{share.stage}`", ways.get(share.stage, ""), share.way, *share.multiplications, *share.additions


def texts(found: Iterable[Text]) -> str:
    """The costs of some texts."""
    return table(
        ("text", "what", "multiplications; additions", "6 joints"),
        ((f"`{text.name}`", text.what, text.cost, text.cost.at(6)) for text in found),
    )


def text() -> str:
    """The whole note."""
    probing = counts.probing_counts()
    runs = {"one run": probing.run, "n whole runs": probing.columns, "column k from joint k on": probing.lower}
    parts = (
        INTRODUCTION,
        f"{counts.summary(counts.tables())}.\n",
        table(("label", "meaning"), counts.KINDS.items()),
        "## The 40 polynomials\n",
        table(("table", "row", "", "published", "counted", "label", "why this label"), polynomials()),
        "## Where each row is counted\n",
        table(
            ("table", "row", "counted in", "left out", "why", "other readings: multiplications; additions"), origins()
        ),
        "## What the terms of generalized d'Alembert in Table 3.5 may pay for\n",
        DALEMBERT.format(found=counts.dalembert.search()),
        table(
            ("stage", "ways", "way", *(f"{sign} {term}" for sign in "×+" for term in ("T", "n^2", "n", "1"))),
            dalembert(),
        ),
        "## The formulations\n",
        texts(counts.formulations()),
        "## The library's own kernels\n",
        texts(counts.kernels()),
        "## D by probing, every probe charged a whole run of Newton-Euler (problem 3.12)\n",
        table(("what is run", "multiplications; additions", "6 joints"), ((k, c, c.at(6)) for k, c in runs.items())),
    )
    return "\n".join(parts)


if __name__ == "__main__":
    print(text(), end="")
