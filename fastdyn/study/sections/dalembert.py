"""What each term of the published counts of generalized d'Alembert may pay for."""

from __future__ import annotations

from fractions import Fraction

from fastdyn.page.content import Block, Column, Table, Value
from fastdyn.polynomials import Polynomial
from fastdyn.study.counts import Search


def blocks(found: Search) -> tuple[Block, ...]:
    """A paragraph and a table."""
    equal = found.equal
    signs = [Column(f"{sign} {term}", "number") for sign in "×+" for term in ("T", "n^2", "n", "1")]
    return (
        "With T = n (n + 1) (n + 2) / 6, the number of triples i <= j <= s, generalized d'Alembert is published as "
        "13 T + 46 n^2 + 85 n + 69 multiplications and 8 T + 40 n^2 + 46 n + 45 additions. Of "
        f"{found.members:,} procedures, each of which computes some vectors once and some again, {equal[0]:,} have 13 "
        f"and 8 for each triple, {equal[1]:,} of these also 46 and 40, {equal[2]} also 85 and 46, and "
        f"{equal[3] or 'none'} also 69 and 45. Those {equal[2]} are one procedure with three details open; the table "
        "shows it. The choices of the search were not made before its first results were seen, so that the procedure "
        "is a possible one and no more. In all that have 13 and 8, one of the two additions for each term of D_ij "
        "is not counted.",
        Table(
            "dalembert-terms", "What each term of the published counts may pay for: the nearest procedure",
            (Column("stage", "math"), *signs, Column("how", "detail")),
            tuple(
                (share.stage, *map(_value, share.multiplications + share.additions), share.way)
                for share in found.shares
            ),
        ),
    )  # fmt: skip


def _value(term: Fraction) -> Value:
    """Zero is blank."""
    return Polynomial((term,)) if term else None
