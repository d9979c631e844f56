"""What each term of the published counts of generalized d'Alembert may pay for."""

from __future__ import annotations

from fractions import Fraction

from fastdyn.page.content import Block, Column, Sentences, Table, Value
from fastdyn.polynomials import Polynomial
from fastdyn.study.counts import Search


def blocks(found: Search) -> tuple[Block, ...]:
    """The search for the published procedure, the nearest procedure stage by stage, and what that shows."""
    conditions = ("13 and 8 for each triple", "and 46 and 40 n^2", "and 85 and 46 n", "and the constants 69 and 45")
    costs = [Column(f"{sign} {term}", "number") for sign in "×+" for term in ("T", "n^2", "n", "1")]
    met, neighbours = found.neighbours
    return (
        "Generalized d'Alembert is published as 13 T + 46 n^2 + 85 n + 69 multiplications and 8 T + 40 n^2 + 46 n + 45 "
        "additions, where T = n (n + 1) (n + 2) / 6 is the number of triples i <= j <= s. Which procedure has these "
        "counts is not known: Fig. 3.9, which shows it, is missing from the copy used here. Searched were procedures "
        "that compute D, h and c, keeping some vectors and computing others again.",
        Table(
            "dalembert-search", "Procedures that have the published numbers of operations",
            (Column("numbers of operations", "math"), Column("procedures", "number")),
            (("any", found.members), *zip(conditions, found.equal, strict=True)),
        ),
        Table(
            "dalembert-terms", "What each term of the published counts may pay for: the nearest procedure",
            (Column("stage", "math"), *costs, Column("how", "detail")),
            tuple(
                (share.stage, *map(_value, share.multiplications + share.additions), share.way)
                for share in found.shares
            ),
        ),
        Sentences(
            (
                f"The {found.equal[2]} procedures that lack only the constants are one, with three details open.",
                "In every procedure with 13 and 8 for each triple, one of the two additions for each term of D_ij is "
                "not counted.",
                f"The nearest procedure may be found by chance: {met / neighbours:.0%} of the polynomials whose "
                "coefficients of n^2 and n differ from the published ones by at most 2 and 4 are met by some procedure "
                "as well, and not all choices of the search were made before its first results were seen.",
            )
        ),
    )  # fmt: skip


def _value(term: Fraction) -> Value:
    """Zero is blank."""
    return Polynomial((term,)) if term else None
