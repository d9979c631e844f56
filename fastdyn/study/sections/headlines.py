"""The main results, in large type at the top of the page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fastdyn.page.content import SORTED_AT, Headline
from fastdyn.study.counts import Row, summary
from fastdyn.study.results import Results

NEWTON, DALEMBERT, LAGRANGE = "newton_euler_frugal", "generalized_dalembert", "lagrange_euler"


def headlines(results: Results) -> Iterable[Headline]:
    """The main results."""
    yield _reproduced(results.tables)
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


def _reproduced(rows: Sequence[Row]) -> Headline:
    """How many published polynomials are counted exactly, and what that shows."""
    value, _, label = summary(rows).partition(" polynomials equal: ")
    return Headline(value, f"published operation counts are equal to those of the code: {label}")
