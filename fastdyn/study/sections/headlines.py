"""The main results, in large type at the top of the page, and warnings above them."""

from __future__ import annotations

from collections.abc import Sequence

from fastdyn.page.content import Headline
from fastdyn.study.counts import Row, summary
from fastdyn.study.results import Results
from fastdyn.study.timing.results import (
    EXPONENTS,
    FAMILIES,
    KINDS,
    RATIOS,
    USUAL,
    Timings,
    classic,
    doubts,
    furthest,
    growth,
)


def headlines(results: Results) -> tuple[Headline, ...]:
    """The main results."""
    return tuple(keyed(results).values())


def keyed(results: Results) -> dict[str, Headline]:
    """The main results by key, for texts that quote them: counts, growth.<formulation>, ratio.

    Those of times are left out where the host was loaded or unsteady, or the passes differ too much.
    """
    return {
        "counts": _reproduced(results.tables),
        **(_timed(results.timings) if results.timings.host.quiet else {}),
    }


def warnings(results: Results) -> tuple[str, ...]:
    """What makes the figures of this run less sure, for the top of the page."""
    return doubts(results.timings)


def _timed(timings: Timings) -> dict[str, Headline]:
    found = {}
    grown = growth(timings)
    for family, (name, *_) in FAMILIES.items():
        g = furthest(grown, name, "scalars")
        if g and g.exponent.within(EXPONENTS):
            where = f"within level {g.level} of the cache" if g.level else "caches unknown"
            found[f"growth.{name}"] = Headline(
                f"n^{{{g.exponent.median:.2f}}}",
                f"is the growth of the time of {family}, {g.exponent.least:.2f} to {g.exponent.most:.2f} in "
                f"{len(g.exponent.passes)} passes, {KINDS['scalars']}, n = {g.first} to {g.last} ({where}); its "
                f"counts grow as n^{{{g.counted:.2f}}} there",
            )
    ratio = classic(timings)
    if ratio and ratio.time.within(RATIOS * ratio.time.median):
        found["ratio"] = Headline(
            f"{ratio.time.median:.0f} times",
            f"the time of Newton-Euler (Table 3.3, link frames) is what Lagrange-Euler (3.2-24 to 3.2-34) takes for "
            f"{USUAL} joints, {ratio.time.least:.0f} to {ratio.time.most:.0f} in {len(ratio.time.passes)} passes, "
            f"{KINDS[ratio.kind]}; it has {ratio.operations:.0f} times the operations",
        )
    return found


def _reproduced(rows: Sequence[Row]) -> Headline:
    """How many published polynomials are counted exactly, and what that shows."""
    value, _, label = summary(rows).partition(" polynomials equal: ")
    return Headline(value, f"published operation counts are equal to those of the code: {label}")
