"""Operation counts of some robots: general code, and code made for each."""

from __future__ import annotations

from collections.abc import Iterable

from fastdyn.page.content import Column, Section, Table
from fastdyn.study.counts.robot import CHIEF, Count
from fastdyn.study.results import Results


def section(results: Results) -> Section:
    """The section."""

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
