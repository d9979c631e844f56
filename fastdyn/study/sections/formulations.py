"""The formulations: what each gives, its order in n, and how well they agree."""

from __future__ import annotations

from fastdyn.page.content import Column, Section, Sentences, Table
from fastdyn.polynomials import Polynomial
from fastdyn.study.counts import Cost
from fastdyn.study.formulations import FORMULATIONS
from fastdyn.study.results import Results


def section(results: Results) -> Section:
    """The section."""
    costs = {text.name: text.cost for text in results.texts}
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
            "Each formulation follows the equations of its source, and all are compiled with the same options. On "
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
            Sentences(
                (
                    "Fu, Gonzalez and Lee: K. S. Fu, R. C. Gonzalez and C. S. G. Lee, Robotics: Control, Sensing, "
                    "Vision, and Intelligence, McGraw-Hill 1987, chapter 3, Robot Arm Dynamics.",
                    "Hollerbach: J. M. Hollerbach, A recursive Lagrangian formulation of manipulator dynamics, IEEE "
                    "Transactions on Systems, Man, and Cybernetics, 1980.",
                    "Norrlöf: M. Norrlöf, Modeling of industrial robots, report LiTH-ISY-R-2208, Linköping University "
                    "1999.",
                    "Fakhari: A. Fakhari, Robot Dynamics, Part 1, lecture slides, 2024.",
                    "RRT Robot: Lagrange and Kane equations of motion, author not named.",
                )
            ),
        ),
    )  # fmt: skip


def _order(cost: Cost) -> Polynomial:
    degree = max(len(cost.multiplications.coefficients), len(cost.additions.coefficients)) - 1
    return Polynomial((0,) * degree + (1,))
