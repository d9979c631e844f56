"""Translational against rotational effects, and the terms that may be dropped."""

from __future__ import annotations

from collections.abc import Iterable

from fastdyn.page import ink
from fastdyn.page.content import Block, Column, Picture, Section, Sentences, Table, Value
from fastdyn.study.effects import DOMINANCE, END, SECONDS, START, WORDS
from fastdyn.study.effects.baselines import FACTOR, SHIFT, TRAJECTORIES, Score
from fastdyn.study.effects.figures import figures
from fastdyn.study.effects.results import CHAPTER, THRESHOLDS, Effects, Simplified
from fastdyn.study.results import Results


def section(results: Results) -> Section:
    """The section."""
    found = results.effects
    split = found.split
    narrow = figures(found, ink.NARROW)
    shares, inertia, velocity, errors = (
        Picture(title, figure, narrow.get(title)) for title, figure in figures(found).items()
    )
    blocks: tuple[Block, ...] = (
        f"The inertia and velocity terms of the {split.robot}, split by generalized d'Alembert into the parts that the "
        f"links' translation and rotation contribute, along a trajectory of {len(split.trajectory.t)} points "
        f"({split.trajectory.name}). Fu, Gonzalez and Lee (Robotics, 1987, section 3.4.1, Figs. 3.10 and 3.11) name "
        "the dominant effect of each term for a trajectory and parameters that they do not give.",
        _finding(found),
        _baselines(found),
        shares,
        _verdicts(found),
        Sentences(tuple(_notes(found))),
        _robustness(found),
        inertia,
        velocity,
        _savings(found),
        _models(found),
        _joints(found),
        "A simplified model is made for one trajectory, and its error on other motions is another:",
        _elsewhere(found),
        errors,
    )
    return Section("effects", "Translational against rotational effects", blocks)


# ---------------------------------------------------------------------------------------------- the verdicts


def _finding(found: Effects) -> str:
    rows = {score.answer: score for score in found.scores}
    here, many, both = found.scores[0], rows[TRAJECTORIES], rows['always "both"']
    return (
        f"{here.total:.0f} of the chapter's {len(found.parameters[0].verdicts)} verdicts are found here. Always "
        f'answering "both" would be right {both.total:.0f} times, and random trajectories find {many.total:.1f} on '
        f"average (standard deviation {many.deviation:.1f}): this agreement is no evidence for or against the "
        "chapter's figures."
    )


def _baselines(found: Effects) -> Table:
    verdicts = found.parameters[0].verdicts
    both = sum(verdict.published == "both" for verdict in verdicts)

    def row(score: Score) -> tuple[Value, ...]:
        spread = f"{score.least} to {score.most}" if score.cases > 1 else ""
        return score.answer, score.cases, score.single, score.both, score.total, spread

    return Table(
        "baselines", "How many of the chapter's verdicts an answer agrees with, on average over its cases",
        (
            Column("answer"), Column("cases", "number"),
            Column(f"one effect (of {len(verdicts) - both})", "number", 1), Column(f"both (of {both})", "number", 1),
            Column(f"all (of {len(verdicts)})", "number", 1), Column("range"),
        ),
        tuple(map(row, found.scores)),
    )  # fmt: skip


def _verdicts(found: Effects) -> Table:
    first, *others = found.parameters
    rows: list[tuple[Value, ...]] = []
    for k, verdict in enumerate(first.verdicts):
        row: list[Value] = [_element(verdict.element), verdict.published, verdict.found]
        row += ["yes" if verdict.agrees else "no", None if verdict.found == "none" else verdict.share]
        for other in others:
            row += [other.verdicts[k].found, None if other.verdicts[k].found == "none" else other.verdicts[k].share]
        rows.append(tuple(row))
    columns = [Column("element", "math"), Column("chapter"), Column(first.name), Column("agrees", "mark")]
    columns.append(Column("translational share", "percent"))
    for other in others:
        columns += [Column(other.name), Column(f"share, {other.name}", "percent")]
    return Table("verdicts", "Which effect dominates, by parameters", tuple(columns), tuple(rows))


def _notes(found: Effects) -> Iterable[str]:
    yield (
        f"The trajectory is a choice: every joint goes from rest to rest on a cycloid in {SECONDS:g} s, from {START} "
        f"to {END} degrees. Random trajectories are of the same kind, between random postures."
    )
    for each in found.parameters:
        yield f"Parameters, {each.name}: {each.source}."
    yield (
        "Both sets are one measurement: its two forms place link 4's centre of mass on opposite sides of the wrist, "
        "19 mm away, and differ by a millimetre elsewhere. No other measurement of all links was at hand. Random "
        f"parameters: masses and moments between 1/{FACTOR:g} and {FACTOR:g} times the built-in ones, centres of mass "
        f"up to {1000 * SHIFT:g} mm off."
    )
    least, most = found.thresholds
    yield (
        f"An effect dominates where it makes up {100 * DOMINANCE:g} % or more of the sum of both, as root mean squares "
        "over the set points. The chapter names no threshold: three to one is the strictest round ratio at which D33 "
        "is translational, as it is in the chapter, so this one agreement is by construction. With any threshold from "
        f"{100 * THRESHOLDS[0]:g} % to {100 * THRESHOLDS[1]:g} %, between {least} and {most} of the verdicts agree."
    )
    yield (
        "The chapter lists D45 and D56 as translational, but also says that their translational parts are rounding "
        "errors and very small beside the rotational ones. With the parameters used here both parts of both are zero."
    )
    yield (
        "Link 6's centre of mass lies on its axis here, so that no D_i6 and no h6 has a translational part on any "
        "trajectory: where the chapter finds both effects in them, its parameters cannot be these."
    )


def _robustness(found: Effects) -> Table:
    return Table(
        "robustness", "Random trajectories: the share that leads to each verdict",
        (
            Column("element", "math"), *(Column(word, "percent") for word in WORDS), Column("as published", "percent"),
        ),
        tuple(
            (_element(r.element), r.translational, r.rotational, r.both, r.none, r.agrees) for r in found.robustness
        ),
        folded=True,
    )  # fmt: skip


def _element(name: str) -> str:
    """D12 -> D_12."""
    return f"{name[0]}_{name[1:]}"


# ---------------------------------------------------------------------------------------------- simplified models


def _savings(found: Effects) -> str:
    """What the chapter's model does, and that the exact recursion is cheaper, where it is."""
    worst = max(model.error for model in found.models if model.name == CHAPTER)
    exact = max(each.multiplications + each.additions for each in found.exact)
    cheaper = all(exact < model.multiplications + model.additions for model in found.models)
    return (
        "Which terms may be dropped? The chapter keeps the dominant effects and gravity: on this trajectory torques "
        f"are then wrong by up to {100 * worst:.0f} % of the joint's largest. fastdyn.study.simplify drops the "
        "smallest terms within a tolerance. Operations are those of generalized d'Alembert, for any arm, that lead to "
        "the terms kept." + (" Exact inverse dynamics is cheaper than all of these models." if cheaper else "")
    )


def _label(found: Effects, model: Simplified) -> str:
    """A model's name, and its parameters unless they are the first."""
    return model.name if model.parameters == found.parameters[0].name else f"{model.name}, {model.parameters}"


def _models(found: Effects) -> Table:
    rows: list[tuple[Value, ...]] = [
        (
            _label(found, model), model.kept, model.multiplications, model.additions, model.error,
            ", ".join(model.dropped) or "nothing",
        )
        for model in found.models
    ]  # fmt: skip
    rows += [(f"exact, {each.name}", None, each.multiplications, each.additions, 0.0, "") for each in found.exact]
    return Table(
        "simplification", "Simplified models along this trajectory, and exact inverse dynamics",
        (
            Column("model"), Column("terms kept", "number"), Column("×", "number"), Column("+", "number"),
            Column("largest torque error", "percent", 2), Column("dropped", "detail"),
        ),
        tuple(rows),
    )  # fmt: skip


def _joints(found: Effects) -> Table:
    joints = len(found.models[0].errors)
    return Table(
        "joint-errors", "Largest torque error of each joint, over its largest torque on this trajectory",
        (Column("model"), *(Column(f"joint {i + 1}", "percent", 2) for i in range(joints))),
        tuple((_label(found, model), *map(float, model.errors)) for model in found.models),
        folded=True,
    )  # fmt: skip


def _elsewhere(found: Effects) -> Table:
    speeds = [each.speed for each in found.models[0].elsewhere]
    cases = len(found.models[0].elsewhere[0].random)

    def row(model: Simplified) -> tuple[Value, ...]:
        medians = (each.median for each in model.elsewhere)
        (same,) = (each for each in model.elsewhere if each.speed == 1)
        return _label(found, model), model.elsewhere[-1].own, *medians, same.worst, same.joint

    return Table(
        "elsewhere",
        f"Largest torque error on other motions, {cases:,} of them random, over the joint's largest torque in the same "
        "motion",
        (
            Column("model"), Column(f"same path at {speeds[-1]:g} times the speed", "percent"),
            *(Column(f"random: median at {speed:g} times", "percent") for speed in speeds),
            Column("worst at 1 times", "percent"), Column("worst joint, mostly", "number"),
        ),
        tuple(map(row, found.models)),
    )  # fmt: skip
