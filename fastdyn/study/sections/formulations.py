"""The formulations: what each gives, its order in n, and how well they agree."""

from __future__ import annotations

from fastdyn.page.content import Column, Section, Table
from fastdyn.polynomials import Polynomial
from fastdyn.study.counts import Cost
from fastdyn.study.results import Results


def section(results: Results) -> Section:
    """The section."""
    costs = {text.name: text.cost for text in results.texts}
    worst = max(a.difference for a in results.agreement)
    rows = [
        (
            found.formulation, found.source, ", ".join(found.gives), "rotary" if found.rotary_only else "any",
            _order(costs[found.formulation]), found.difference,
        )
        for found in results.agreement
    ]  # fmt: skip
    return Section(
        "formulations",
        "The formulations",
        (
            "Each formulation follows the equations of its source, and all are compiled with the same options. On "
            f"{results.agreement[0].states:,} random states of the {results.agreement[0].robot} all of them agree with "
            f"the library's own inverse dynamics within {worst:.0e} of the largest torque of the joint. Sources are "
            "listed in full at the end.",
            Table(
                "overview",
                "The results of each formulation, and its order in the number of joints n",
                (
                    Column("formulation"), Column("source"), Column("results", "math"), Column("joints"),
                    Column("order", "number"), Column("largest difference", "number"),
                ),
                tuple(rows),
            ),
        ),
    )  # fmt: skip


def _order(cost: Cost) -> Polynomial:
    degree = max(len(cost.multiplications.coefficients), len(cost.additions.coefficients)) - 1
    return Polynomial((0,) * degree + (1,))
