"""The table as bars: nanoseconds on a log axis, distinguished by hatching, readable when printed grey."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.common import figures
from benchmarks.peers.case import BATCH, FORWARD, INVERSE, MASS, SINGLE

HATCHES = ("", "//", "..", "xx", "\\\\", "--", "oo", "++", "||", "**")
Rows = list[dict[str, Any]]


def chart(about: dict[str, Any], rows: Rows, file: Any) -> None:
    """A panel for each quantity and call, with the robots side by side and a bar for each timed program."""
    timed = [row for row in rows if row["ns"]]
    programs = list(dict.fromkeys(row["program"] for row in timed))
    figure = Figure(figsize=(16, 12), layout="constrained")
    panels = figure.subplots(3, 2, sharey="col")
    for line, what in zip(panels, (INVERSE, FORWARD, MASS), strict=True):
        for panel, call in zip(line, (BATCH, SINGLE), strict=True):
            _bars(panel, [row for row in timed if (row["what"], row["call"]) == (what, call)], programs)
            panel.set_title(f"{what}, {call}")
    known = {
        label: bars for panel in figure.axes for bars, label in zip(*panel.get_legend_handles_labels(), strict=True)
    }
    figure.legend(known.values(), known.keys(), loc="outside lower center", ncols=len(known))
    figure.suptitle(f"fastdyn and its peers: {about['processor']}, one thread, {about['date'][:10]}; lower is faster")
    figure.savefig(file, format="png", dpi=110)


def _bars(panel: Axes, rows: Rows, programs: list[str]) -> None:
    robots = list(dict.fromkeys(row["robot"] for row in rows))
    present = [program for program in programs if any(row["program"] == program for row in rows)]
    width = 0.85 / max(1, len(present))
    for place, program in enumerate(present):
        own = [row for row in rows if row["program"] == program]
        left = [robots.index(row["robot"]) + (place + 0.5) * width - 0.425 for row in own]
        k = programs.index(program)
        bars = panel.bar(
            left, [row["ns"] for row in own], width, label=program, edgecolor="black", linewidth=0.6,
            color=str(0.15 if k == 0 else 0.65 + 0.3 * (k % 2)), hatch=HATCHES[k % len(HATCHES)],
        )  # fmt: skip
        panel.bar_label(bars, [figures(row["ns"]) for row in own], rotation=90, fontsize=6, padding=2)
    panel.set(yscale="log", ylabel="ns per state (log)", xticks=range(len(robots)), xticklabels=robots)
    panel.margins(y=0.15)
    panel.grid(axis="y", linewidth=0.4)
    panel.set_axisbelow(True)
