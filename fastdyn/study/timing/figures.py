"""Figures of the timings: time and rates against n, and predicted against measured times (extra `plots`).

Each figure shows the three families of the published tables, one colour each; the other formulations are faint lines.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from fastdyn.page import ink
from fastdyn.scalars import LANES
from fastdyn.study.timing.predictions import BY_FORMULATION, predictions
from fastdyn.study.timing.results import FAMILIES, KINDS, LABELS, Point, Timings, by_formulation, furthest, growth

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

HEIGHT = 5.5  # inches; narrow figures have their legend below and are as high
LINE_STYLE = {"linewidth": 1.4, "markersize": 4.5, "markeredgewidth": 1.0}
TICKS = (1, 2, 3, 4, 6, 10, 20, 30, 50, 100, 200)
_RAISED = str.maketrans("0123456789.-", "⁰¹²³⁴⁵⁶⁷⁸⁹·⁻")
Value = Callable[[Point], float]


def figures(timings: Timings, width: float = ink.WIDE) -> dict[str, Figure]:
    """Each figure of the three families by its caption, `width` inches wide."""
    with ink.style():
        return {
            "Throughput on scalars: time per state": _time(timings, "scalars", width),
            "Throughput on lanes: time per state": _time(timings, "lanes", width),
            "Predicted over measured times of formulations held out (dashed: half, twice)": _predicted(timings, width),
        }


def more_figures(timings: Timings) -> dict[str, Figure]:
    """More of the families, and every formulation, for those who ask."""
    with ink.style():
        return {
            "Operations per nanosecond, on lanes": _rate(timings),
            f"Speed-up by computing {LANES} states at a time": _lanes(timings),
            "All formulations: throughput on scalars": _all_times(timings, "scalars"),
            "All formulations: throughput on lanes": _all_times(timings, "lanes"),
        }


# ---------------------------------------------------------------------------------------------- curves


def _families(timings: Timings) -> dict[str, dict[str, Any]]:
    """Line styles of the formulations of the three families: a colour for each, the first of it solid."""
    timed = by_formulation(timings.points)
    return {
        name: {
            "color": ink.SERIES[k], "marker": ink.MARKERS[k], "linestyle": ink.LINES[i % len(ink.LINES)],
            "markerfacecolor": ink.PAPER if i else ink.SERIES[k], **LINE_STYLE,
        }
        for k, names in enumerate(FAMILIES.values())
        for i, name in enumerate(n for n in names[:2] if n in timed)
    }  # fmt: skip


def _everyone(timings: Timings) -> dict[str, dict[str, Any]]:
    """Line styles of all formulations; hollow markers where colours repeat."""
    found = {}
    for k, name in enumerate(by_formulation(timings.points)):
        colour, again = ink.SERIES[k % len(ink.SERIES)], k // len(ink.SERIES)
        found[name] = {
            "color": colour, "marker": ink.MARKERS[k % len(ink.MARKERS)],
            "linestyle": ink.LINES[(k + again) % len(ink.LINES)], "markerfacecolor": ink.PAPER if again else colour,
            **LINE_STYLE,
        }  # fmt: skip
    return found


def _axes(x: str, y: str, width: float = ink.WIDE) -> tuple[Figure, Axes]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, HEIGHT))
    axes = figure.add_subplot()
    axes.set(xlabel=x, ylabel=y, xscale="log", yscale="log")
    return figure, axes


def _joints(axes: Axes, points: Sequence[Point]) -> None:
    """Ticks at whole numbers of joints."""
    largest = max(p.n for p in points)
    ticks = [n for n in TICKS if n <= largest]
    axes.set_xticks(ticks, [str(n) for n in ticks])
    axes.minorticks_off()


def _curves(axes: Axes, timings: Timings, value: Value, styles: dict[str, dict[str, Any]]) -> None:
    faint = {"color": ink.FAINT, "alpha": 0.5, "linewidth": 1.0, "zorder": 1}
    for name, own in by_formulation(timings.points).items():
        style = {"label": LABELS.get(name, name), **styles[name]} if name in styles else faint
        axes.plot([p.n for p in own], [value(p) for p in own], **style)
    _joints(axes, timings.points)


def _legend(figure: Figure, axes: Axes, note: str = "", title: str | None = None) -> None:
    """The uppermost curve first; note: what faint lines are."""
    from matplotlib.lines import Line2D

    lines = [line for line in axes.get_lines() if not str(line.get_label()).startswith("_")]
    lines = sorted(lines, key=lambda line: -float(line.get_ydata()[-1]))  # type: ignore[index, arg-type]
    if note:
        lines.append(Line2D([], [], color=ink.FAINT, alpha=0.5, linewidth=1.0, label=note))
    _placed(figure, lines, title)


def _placed(figure: Figure, lines: Sequence[Line2D], title: str | None = None) -> None:
    """A legend to the right of the axes, or below them in a narrow figure."""
    figure.legend(
        lines, [str(line.get_label()) for line in lines], title=title, fontsize=ink.SMALLEST,
        loc="outside right upper" if figure.get_figwidth() > ink.NARROW else "outside lower left",
        title_fontsize=ink.SMALLEST, handlelength=3.2, labelspacing=0.6, alignment="left",
    )  # fmt: skip


OTHERS = "other formulations"


# ---------------------------------------------------------------------------------------------- figures


def _time(timings: Timings, kind: str, width: float) -> Figure:
    figure, axes = _axes("joints n", f"ns per state, {KINDS[kind]}", width)
    _curves(axes, timings, lambda p: p.ns(kind).median, _families(timings))
    for line in axes.get_lines():
        name = next((n for n, label in LABELS.items() if label == line.get_label()), "")
        if found := furthest(growth(timings), name, kind):
            power = raised(f"{found.exponent.median:.2f}")
            line.set_label(f"{line.get_label()}\nn{power}, n = {found.first} to {found.last}")
    _legend(figure, axes, OTHERS, "growth within one level of cache")
    return figure


def raised(text: str) -> str:
    """A number as superscript characters, which stay text in SVG.

    >>> raised("3.80")
    '³·⁸⁰'
    """
    return text.translate(_RAISED)


def _all_times(timings: Timings, kind: str) -> Figure:
    figure, axes = _axes("joints n", f"ns per state, {KINDS[kind]}")
    _curves(axes, timings, lambda p: p.ns(kind).median, _everyone(timings))
    _legend(figure, axes)
    return figure


def _rate(timings: Timings) -> Figure:
    figure, axes = _axes("joints n", "multiplications and additions per ns, on lanes")
    _curves(axes, timings, lambda p: p.amounts.operations / p.lanes.median, _families(timings))
    axes.set_yscale("linear")
    axes.set_ylim(bottom=0)
    _legend(figure, axes, OTHERS)
    return figure


def _lanes(timings: Timings) -> Figure:
    figure, axes = _axes("joints n", "time on scalars over time on lanes")
    _curves(axes, timings, lambda p: p.scalars.median / p.lanes.median, _families(timings))
    axes.set_yscale("linear")
    axes.set_ylim(bottom=0)
    axes.axhline(LANES, color=ink.FAINT, linewidth=0.9)
    axes.annotate(
        f"{LANES}, the number of lanes", (max(p.n for p in timings.points), LANES), (0, 3), textcoords="offset points",
        ha="right", va="bottom", color=ink.FAINT, fontsize=9,
    )  # fmt: skip
    _legend(figure, axes, OTHERS)
    return figure


def _predicted(timings: Timings, width: float) -> Figure:
    """Each held-out point, on scalars and on lanes; lines at half and twice the measured time."""
    figure, axes = _axes("measured, ns per state", "predicted over measured", width)
    found = [p for p in predictions(timings) if p.held_out == BY_FORMULATION]
    for factor, style in ((1.0, "-"), (0.5, "--"), (2.0, "--")):
        axes.axhline(factor, color=ink.FAINT, linewidth=0.9, linestyle=style)
    for k, (kind, place) in enumerate((("scalars", "on scalars"), ("lanes", "on lanes"))):
        own = [p for p in found if p.kind == kind]
        x = [p.measured for p in own]
        look: dict[str, Any] = {"linestyle": "none", "color": ink.SERIES[k], "marker": ink.MARKERS[k]}
        axes.plot(x, [p.predicted / p.measured for p in own], label=place, markersize=4.5, zorder=3, **look)
        axes.plot(
            x, [p.plain / p.measured for p in own], markerfacecolor=ink.PAPER, markersize=4.0, zorder=2,
            label=f"{place},\nfrom operations alone", **look,
        )  # fmt: skip
    ticks = (0.1, 0.25, 0.5, 1, 2, 4, 10)
    axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    _placed(figure, [line for line in axes.get_lines() if not str(line.get_label()).startswith("_")])
    return figure
