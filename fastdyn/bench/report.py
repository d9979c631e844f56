"""A run, and a comparison of two, as pages: their content, from the data alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fastdyn import record
from fastdyn.bench import compare
from fastdyn.bench.case import BATCH, FORWARD, INVERSE, MASS, SINGLE
from fastdyn.bench.compare import Comparison
from fastdyn.bench.results import FORM, Bench, Row, quickest
from fastdyn.page import files, ink
from fastdyn.page.content import Column, Facts, Headline, Picture, Report, Section, Sentences, Table, Value

if TYPE_CHECKING:
    from matplotlib.figure import Figure

QUESTIONS = tuple((what, call) for call in (BATCH, SINGLE) for what in (INVERSE, FORWARD, MASS))
INTRODUCTION = (
    "The same robots and states in this package and in others, on one thread of the machine named below. Jobs that "
    "compute the same take turns in one process, each gets its data in the layout that it prefers, prepared "
    "beforehand, and a job is timed only if its results agree."
)
NOTES = (
    "A ratio is a program's time over that of fastdyn's general code for the same states: above 1, fastdyn is quicker. "
    "It is that of the best times of all passes; lowest and highest are those of single passes.",
    "Built-in arms are without motors and friction, which not all programs have. Chains are random, of revolute "
    "joints. “specialised” is fastdyn's code for the one arm, “bound” the call on fixed memory for control loops.",
    "Differences are the largest from fastdyn's result, relative to the largest number in it; those of forward "
    "dynamics are from the accelerations that the torques were made from.",
    "Generated C has the robot's numbers folded in, checks nothing, and is called through prepared pointers; it was "
    "widened to lanes by hand, which no package offers. Peers are as their wheels come, not built for this machine.",
    "Drake and PyBullet give other results for the published PUMA 560, whose link 1 has moments but no mass.",
)


def read(path: Path) -> Bench:
    """The run in a file bench.json."""
    return record.read(Bench, path, FORM)


def text(bench: Bench) -> str:
    """The content of bench.json."""
    return record.text(bench, FORM)


def write(bench: Bench, folder: Path) -> Path:
    """Writes index.html, summary.md, bench.json and csv/*.csv into the folder; returns the page's path."""
    return files.write(report(bench), text(bench), folder)


def write_comparison(comparison: Comparison, folder: Path) -> Path:
    """The same of a comparison; its data are comparison.json."""
    return files.write(comparison_report(comparison), record.text(comparison, compare.FORM), folder)


# ---------------------------------------------------------------------------------------------- a run


def report(bench: Bench) -> Report:
    """The page of a run."""
    peers = list(dict.fromkeys(row.program for row in bench.rows if not row.program.startswith("fastdyn")))
    pictures = []
    for what, call in QUESTIONS:
        rows = [row for row in bench.rows if (row.what, row.call) == (what, call) and row.program in peers]
        if rows:
            title = f"{what.capitalize()}, {call}: time over that of fastdyn's general code; bars: single passes"
            pictures.append(Picture(title, figure(rows, peers), narrow=figure(rows, peers, narrow=True)))
    robots = tuple(
        Table(f"robot-{place}", f"{rows[0].robot}, {rows[0].joints} joints", ROW, tuple(map(_row, rows)))
        for place, rows in enumerate(_by_robot(bench.rows), 1)
    )
    return Report(
        "bench",
        "fastdyn and its peers",
        INTRODUCTION,
        tuple(headlines(bench)),
        (
            Section("quickest", "The quickest of each side", (quickest_table(bench), *pictures)),
            Section("robots", "Every robot", (Sentences(NOTES), *robots)),
            Section("untimed", "What was not timed", tuple(_untimed(bench))),
            Section("measured", "Machine and versions", (Facts(tuple(_facts(bench))),)),
        ),
        state=(bench.extent + " run", f"{bench.processor}, {bench.cores} cores", bench.instructions, bench.date),
        warnings=bench.doubts,
    )


def _by_robot(rows: Iterable[Row]) -> list[list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.robot, []).append(row)
    return list(found.values())


def _pairs(bench: Bench, what: str, call: str) -> Iterator[tuple[Row, Row]]:
    """fastdyn's quickest and the quickest peer, of each robot."""
    for rows in _by_robot(row for row in bench.rows if (row.what, row.call) == (what, call)):
        ours, theirs = quickest(rows, True), quickest(rows, False)
        if ours is not None and theirs is not None:
            yield ours, theirs


def headlines(bench: Bench) -> Iterator[Headline]:
    """The quickest peer's time over fastdyn's, for each question; none from a loaded host or ratios not steady."""
    for what, call in QUESTIONS:
        pairs = list(_pairs(bench, what, call))
        if not pairs or bench.loaded or not all(row.steady for pair in pairs for row in pair):
            continue
        ratios = {theirs.ns / ours.ns: theirs for ours, theirs in pairs}
        low, high = min(ratios), max(ratios)
        least = ratios[low]
        yield Headline(
            (f"{low:.3g} to {high:.3g}" if low < high else f"{low:.3g}") + " times",
            f"fastdyn's time is what the quickest peer takes for {what}, {call}; the least: {least.program}, "
            f"{least.robot}",
        )


def quickest_table(bench: Bench) -> Table:
    """fastdyn's quickest program beside the quickest peer, for each robot and question."""
    return Table(
        "quickest",
        "The quickest of fastdyn's programs and the quickest peer",
        (
            Column("quantity"), Column("call"), Column("robot"), Column("fastdyn's quickest"),
            Column("ns per state", "number"), Column("quickest peer"), Column("its ns per state", "number"),
            Column("ratio", "number"),
        ),
        tuple(
            (what, call, ours.robot, ours.program, ours.ns, theirs.program, theirs.ns, theirs.ns / ours.ns)
            for what, call in QUESTIONS
            for ours, theirs in _pairs(bench, what, call)
        ),
    )  # fmt: skip


ROW = (
    Column("quantity"), Column("call"), Column("program"), Column("ns per state", "number"), Column("ratio", "number"),
    Column("lowest", "number"), Column("highest", "number"), Column("steady", "mark"), Column("difference", "number"),
)  # fmt: skip


def _row(row: Row) -> tuple[Value, ...]:
    steady = "yes" if row.steady else "no"
    return (
        row.what, row.call, row.program, row.ns, row.ratio, min(row.passes), max(row.passes), steady, row.difference,
    )  # fmt: skip


def _untimed(bench: Bench) -> Iterator[Table | str]:
    if bench.untimed:
        yield Table(
            "untimed",
            "Computed otherwise, or not at all",
            (
                Column("program"), Column("robot"), Column("quantity"), Column("call"), Column("difference", "number"),
                Column("why"),
            ),
            tuple((e.program, e.robot, e.what, e.call, e.difference, e.why) for e in bench.untimed),
        )  # fmt: skip
    if bench.absent:
        yield Table(
            "absent",
            "Programs that are not installed",
            (Column("program"), Column("installed by")),
            tuple(bench.absent.items()),
        )
    if not bench.untimed and not bench.absent:
        yield "Everything was timed."


def _facts(bench: Bench) -> Iterator[tuple[str, str]]:
    yield "Processor", f"{bench.processor}, {bench.cores} cores"
    yield "Instructions", bench.instructions
    yield "System", bench.system
    yield "Versions", ", ".join(f"{name} {version}" for name, version in bench.versions.items())
    yield "Generated C", bench.compiler
    yield "Batch", f"{bench.batch} states, one thread"
    yield "Passes", f"{bench.passes}, each the best of {bench.turns} turns, each job after another"
    if bench.load_before is not None:
        during = ", ".join(map(str, bench.load_during))
        yield "Load average", f"{bench.load_before} before; {during} after each robot, 1 of it by the run itself"
    yield "Share of a core", ", ".join(f"{100 * share:.0f} %" for share in bench.share) + ", while timing each robot"
    yield "Date", bench.date
    yield "Command", bench.command


def figure(rows: Sequence[Row], peers: Sequence[str], narrow: bool = False) -> Figure:
    """Ratios of the peers for each robot, with those of single passes as bars. peers: in the order of their styles.

    narrow: for phones.
    """
    from matplotlib.figure import Figure

    robots = list(dict.fromkeys(row.robot for row in rows))
    with ink.style():
        drawn = Figure(figsize=(ink.NARROW, 4.4) if narrow else (ink.WIDE, 3.6))
        panel = drawn.add_subplot()
        for number, program in enumerate(peers):
            own = [row for row in rows if row.program == program]
            if own:
                again, style = divmod(number, len(ink.SERIES))  # hollow markers where colours repeat
                aside = 0.6 * ((number + 0.5) / len(peers) - 0.5)
                low, high = [row.ratio - min(row.passes) for row in own], [max(row.passes) - row.ratio for row in own]
                panel.errorbar(
                    [robots.index(row.robot) + aside for row in own], [row.ratio for row in own], (low, high),
                    label=program, linestyle="", markersize=5.0, color=ink.SERIES[style], marker=ink.MARKERS[style],
                    markerfacecolor=ink.PAPER if again else ink.SERIES[style],
                )  # fmt: skip
        panel.axhline(1.0, color=ink.INK, linewidth=1.0)
        panel.set(yscale="log", ylabel="ratio", xlim=(-0.6, len(robots) - 0.4))
        panel.yaxis.set_major_formatter("{x:g}")
        panel.set_xticks(range(len(robots)), robots, rotation=45, ha="right", rotation_mode="anchor")
        panel.minorticks_off()
        place = {"loc": "outside lower left", "ncols": 2} if narrow else {"loc": "outside right upper"}
        drawn.legend(fontsize=ink.SMALLEST, **place)
    return drawn


# ---------------------------------------------------------------------------------------------- two runs


def comparison_report(comparison: Comparison) -> Report:
    """The page of a comparison."""
    old, new = comparison.old, comparison.new
    doubts = [f"{side} run: {doubt}" for side, bench in (("Old", old), ("New", new)) for doubt in bench.doubts]
    return Report(
        "comparison",
        "Two benchmarks of fastdyn and its peers",
        "Ratios of a program's time to fastdyn's, measured in two runs: on two machines, of two versions, or twice the "
        "same.",
        (),
        (
            Section("differences", "What differs", (differences_table(comparison),)),
            Section("ratios", "Ratios", (ratios_table(comparison), times_table(comparison))),
            Section("missing", "Timed in one run only", (missing_table(comparison),)),
        ),
        state=(f"old: {old.processor}, {old.date}", f"new: {new.processor}, {new.date}"),
        warnings=tuple(doubts),
    )


def differences_table(comparison: Comparison) -> Table:
    """Circumstances of the two runs that are not the same."""
    rows = tuple((each.name, each.old, each.new) for each in comparison.differences)
    return Table("differences", "Circumstances that differ", (Column("what"), Column("old"), Column("new")), rows)


def ratios_table(comparison: Comparison) -> Table:
    """The ratio of each program in both runs."""
    return Table(
        "ratios",
        "Time over fastdyn's; “beyond”: no pass of one run lies within those of the other",
        (
            Column("robot"), Column("quantity"), Column("call"), Column("program"), Column("old ratio", "number"),
            Column("new ratio", "number"), Column("new over old", "number"), Column("beyond"),
        ),
        tuple(
            (*each.new.key, each.old.ratio, each.new.ratio, each.ratio, "yes" if each.beyond else "no")
            for each in comparison.changes
            if each.new.program != "fastdyn"
        ),
    )  # fmt: skip


def times_table(comparison: Comparison) -> Table:
    """The times of fastdyn itself."""
    return Table(
        "times",
        "fastdyn's own times, ns per state",
        (
            Column("robot"), Column("quantity"), Column("call"), Column("program"), Column("old", "number"),
            Column("new", "number"), Column("new over old", "number"),
        ),
        tuple(
            (*each.new.key, each.old.ns, each.new.ns, each.time)
            for each in comparison.changes
            if each.new.program.startswith("fastdyn")
        ),
    )  # fmt: skip


def missing_table(comparison: Comparison) -> Table:
    """What only one of the runs has: whole robots, or programs on a robot."""
    found: dict[tuple[str, str, str], list[Row]] = {}
    old, new = comparison.old, comparison.new
    for side, rows, other in (("old", comparison.only_old, new), ("new", comparison.only_new, old)):
        robots = {row.robot for row in other.rows}
        for row in rows:
            found.setdefault((side, row.robot, row.program if row.robot in robots else "all"), []).append(row)
    return Table(
        "missing",
        "Timed in one run only",
        (Column("run"), Column("robot"), Column("program"), Column("timings", "number"), Column("of")),
        tuple(
            (*key, len(rows), "; ".join(f"{row.what}, {row.call}" for row in rows if key[2] != "all"))
            for key, rows in found.items()
        ),
    )
