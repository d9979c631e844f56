"""Figures of the timings: time, operations, operations per nanosecond, and speed-up by lanes (extra `plots`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from fastdyn.page import ink
from fastdyn.scalars import LANES
from fastdyn.study.timing.results import LABELS, Growth, Point, Timings, by_formulation

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZE = (9.0, 5.5)  # inches
LINE_STYLE = {"linewidth": 1.3, "markersize": 4.5, "markeredgewidth": 1.0}
TICKS = (1, 2, 3, 4, 6, 10, 20, 30, 50, 100, 200)
BESIDE = {"lagrange_euler": (-9, 0), "rnea": (4, -48)}  # labels beside curves: offset from the last point


def figures(timings: Timings) -> dict[str, Figure]:
    """Each figure by its caption."""
    with ink.style():
        return {
            "Time for one state against the number of joints": _time(timings, batch=False),
            "Time per state of a batch against the number of joints": _time(timings, batch=True),
            "Time against operations": _operations(timings),
            "Operations per nanosecond against the number of joints": _rate(timings),
            "Speed-up by computing eight states at a time": _lanes(timings),
        }


def _style(name: str) -> dict[str, Any]:
    """Colour, marker and line of a formulation, the same in all figures; hollow markers where colours repeat."""
    k = list(LABELS).index(name)
    colour, again = ink.SERIES[k % len(ink.SERIES)], k // len(ink.SERIES)
    return {
        "color": colour,
        "marker": ink.MARKERS[k % len(ink.MARKERS)],
        "linestyle": ink.LINES[(k + again) % len(ink.LINES)],
        "markerfacecolor": ink.PAPER if again else colour,
        **LINE_STYLE,
    }


def _axes(x: str, y: str) -> tuple[Figure, Axes]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=SIZE)
    axes = figure.add_subplot()
    axes.set(xlabel=x, ylabel=y, xscale="log", yscale="log")
    return figure, axes


def _joints(axes: Axes, points: tuple[Point, ...]) -> None:
    """Ticks at whole numbers of joints."""
    largest = max(p.n for p in points)
    ticks = [n for n in TICKS if n <= largest]
    axes.set_xticks(ticks, [str(n) for n in ticks])
    axes.minorticks_off()


def _curves(axes: Axes, timings: Timings, value: Callable[[Point], float]) -> None:
    for name, own in by_formulation(timings.points).items():
        axes.plot([p.n for p in own], [value(p) for p in own], label=LABELS[name], **_style(name))


def _legend(figure: Figure, axes: Axes, grown: Mapping[str, str] = MappingProxyType({})) -> None:
    """To the right of the axes, the uppermost curve first."""
    lines = axes.get_legend_handles_labels()[0]
    last = {id(line): float(line.get_ydata()[-1]) for line in lines}  # type: ignore[attr-defined]
    lines = sorted(lines, key=lambda line: -last[id(line)])
    labels = [str(line.get_label()) for line in lines]
    figure.legend(
        lines, ["\n".join(filter(None, (label, grown.get(label)))) for label in labels], loc="outside right upper",
        title="fitted growth, 95 %" if grown else None,
        fontsize=8.0, title_fontsize=8.5, handlelength=3.2, labelspacing=0.6, alignment="left",
    )  # fmt: skip


def _time(timings: Timings, batch: bool) -> Figure:
    def value(p: Point) -> float:
        return p.ns if batch else p.ns_one

    figure, axes = _axes("joints n", "ns per state, on lanes" if batch else "ns per state, on scalars")
    _curves(axes, timings, value)
    _joints(axes, timings.points)
    for name, own in by_formulation(timings.points).items():
        if name in BESIDE:
            axes.annotate(
                LABELS[name], (own[-1].n, value(own[-1])), BESIDE[name], textcoords="offset points", ha="right",
                va="center", color=_style(name)["color"], fontsize=9,
            )  # fmt: skip
    start = (1.05, 40 * max(value(p) for p in timings.points if p.n == 1))
    for power, text in ((1, "n"), (3, "n³"), (4, "n⁴")):
        end = (start[0] * 4, start[1] * 4**power)
        axes.plot(*zip(start, end, strict=True), color=ink.FAINT, linewidth=0.9)
        axes.annotate(text, end, (4, 0), textcoords="offset points", va="center", color=ink.FAINT)
    _legend(figure, axes, {g.label: _grown(g, batch) for g in timings.growth})
    return figure


def _grown(growth: Growth, batch: bool) -> str:
    one, more = (growth.exponent, growth.plus_minus), (growth.exponent_batch, growth.plus_minus_batch)
    exponent, plus_minus = more if batch else one
    return f"n^{exponent:.2f} ± {plus_minus:.2f}, n = {growth.first} to {growth.last}"


def _operations(timings: Timings) -> Figure:
    figure, axes = _axes("multiplications and additions per state", "ns per state, on lanes")
    for name, own in by_formulation(timings.points).items():
        style = _style(name) | {"linestyle": "none"}
        axes.plot([p.operations for p in own], [p.ns for p in own], label=LABELS[name], **style)
    low, high = min(p.operations for p in timings.points), max(p.operations for p in timings.points)
    bounds = axes.get_ylim()
    for rate in (1, 10, 100):
        axes.plot((low, high), (low / rate, high / rate), color=ink.FAINT, linewidth=0.9, linestyle="--")
        foot = 1.15 * rate * bounds[0]  # where the line meets the lower edge
        x = foot if foot > low else 6 * low
        axes.annotate(
            f"{rate} per ns", (x, x / rate), (-5, 0), textcoords="offset points", ha="right", color=ink.FAINT,
            fontsize=9,
        )  # fmt: skip
    axes.set_ylim(bounds)
    _legend(figure, axes)
    return figure


def _rate(timings: Timings) -> Figure:
    figure, axes = _axes("joints n", "multiplications and additions per ns, on lanes")
    _curves(axes, timings, lambda p: p.operations / p.ns)
    _joints(axes, timings.points)
    axes.set_yscale("linear")
    axes.set_ylim(bottom=0)
    _legend(figure, axes)
    return figure


def _lanes(timings: Timings) -> Figure:
    figure, axes = _axes("joints n", "time on scalars over time on lanes")
    _curves(axes, timings, lambda p: p.ns_one / p.ns)
    _joints(axes, timings.points)
    axes.set_yscale("linear")
    axes.set_ylim(bottom=0)
    axes.axhline(LANES, color=ink.FAINT, linewidth=0.9)
    axes.annotate(
        f"{LANES}, the number of lanes", (max(p.n for p in timings.points), LANES), (0, 3), textcoords="offset points",
        ha="right", va="bottom", color=ink.FAINT, fontsize=9,
    )  # fmt: skip
    _legend(figure, axes)
    return figure
