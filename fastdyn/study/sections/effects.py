"""Translational against rotational effects, and the terms that may be dropped."""

from __future__ import annotations

from fastdyn.page.content import Column, Picture, Section, Sentences, Table, Value
from fastdyn.study.effects import NOTES
from fastdyn.study.effects.figures import figures
from fastdyn.study.results import Results, Simplified


def section(results: Results) -> Section:
    """The section."""
    split = results.split
    return Section(
        "effects",
        "Translational against rotational effects",
        (
            f"The inertia and velocity terms of the {split.robot}, split by generalized d'Alembert into the parts that "
            "the links' translation and rotation contribute, along a trajectory of "
            f"{len(split.trajectory.t)} points ({split.trajectory.name}). The chapter does not give the trajectory of "
            "its figures; the table of random trajectories shows how often others lead to the same verdict.",
            *(Picture(title, figure) for title, figure in figures(split, results.robustness).items()),
            Table(
                "verdicts", "Which effect dominates, here and in the chapter",
                (
                    Column("element", "math"), Column("found"), Column("published"), Column("agrees", "mark"),
                    Column("translational share", "percent"),
                ),
                tuple(
                    (
                        _element(v.element), v.found, v.published, "yes" if v.agrees else "no",
                        None if v.found == "none" else float(v.share),
                    )
                    for v in results.verdicts
                ),
            ),
            Sentences(NOTES),
            Table(
                "robustness", "Random trajectories: the share that leads to each verdict",
                (
                    Column("element", "math"),
                    *(Column(verdict, "percent") for verdict in ("translational", "rotational", "both", "none")),
                    Column("as published", "percent"),
                ),
                tuple(
                    (_element(r.element), *map(float, (r.translational, r.rotational, r.both, r.none, r.agrees)))
                    for r in results.robustness
                ),
                folded=True,
            ),
            Table(
                "simplification", "Terms that can be dropped along this trajectory",
                (
                    Column("tolerance", "percent"), Column("terms kept", "number"), Column("of", "number"),
                    Column("torque error", "percent", 3), Column("× before", "number"), Column("× after", "number"),
                    Column("+ before", "number"), Column("+ after", "number"), Column("dropped", "detail"),
                ),
                tuple(_simplification(s) for s in results.simplifications),
            ),
        ),
    )  # fmt: skip


def _element(name: str) -> str:
    """D12 -> D_12."""
    return f"{name[0]}_{name[1:]}"


def _simplification(found: Simplified) -> tuple[Value, ...]:
    kept = sum(term.kept for term in found.terms)
    return (
        float(found.tolerance), kept, len(found.terms), float(found.error),
        *map(int, (*found.multiplications, *found.additions)),
        ", ".join(term.name for term in found.terms if not term.kept) or "nothing",
    )  # fmt: skip
