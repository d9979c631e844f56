"""Figures of the translational and rotational effects, for the study's page (extra `plots`).

Panels share the time axis. Elements differ by a factor of 1e5, so only neighbours of the same order of magnitude
(columns of D, elements of h) share a value axis, in units of one power of ten.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fastdyn.mechanism.parts import Array
from fastdyn.page import ink
from fastdyn.study.effects.dominance import DOMINANCE, Robustness, Verdict, verdicts
from fastdyn.study.effects.results import CHAPTER, Effects, Simplified
from fastdyn.study.effects.terms import Split

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LINES = (
    ("translational", ink.SERIES[0], "--", 1.5),
    ("rotational", ink.SERIES[1], ":", 2.0),
)
_MODELS = ("tolerance 1 %", "tolerance 10 %", CHAPTER)  # whose errors are drawn
_ZONES = {"rotational": (0, 1 - DOMINANCE), "both": (1 - DOMINANCE, DOMINANCE), "translational": (DOMINANCE, 1)}


def figures(found: Effects, width: float = ink.WIDE) -> dict[str, Figure]:
    """Shares of translation; D_ij and h_i along the trajectory, as Figs. 3.10 and 3.11 show them; errors elsewhere.

    width: in inches. The triangle of D_ij does not fit a phone and is left out there.

    >>> from fastdyn.study.effects import results
    >>> [len(figure.axes) for figure in figures(results.gather(trajectories=5, arms=1)).values()]
    [1, 21, 6, 1]
    """
    robot = found.split.robot
    inertia = f"Inertia of {robot} along the trajectory: the elements of D"
    velocity = f"Coriolis and centrifugal torques of {robot} along the trajectory: the elements of h"
    with ink.style():
        return {
            f"How much of each element of D and h of {robot} is translation, here and in the chapter": _shares(
                found.parameters[0].verdicts, found.robustness, width
            ),
            **({inertia: _inertia(found.split, width)} if width > ink.NARROW else {}),
            velocity: _velocity(found.split, width),
            "Errors of simplified models on random trajectories, at the speed that they were made for": _errors(
                found.models, width
            ),
        }


def _shares(found: Sequence[Verdict], robustness: Sequence[Robustness], width: float) -> Figure:
    """The translational share of every element: here, on random trajectories, and where the chapter has it."""
    figure = _figure(width, 0.24 * len(found) + 1.2)
    axes = figure.add_subplot()
    for k, (verdict, many) in enumerate(zip(found, robustness, strict=True)):
        if verdict.published:
            low, high = _ZONES[verdict.published]
            axes.barh(k, 100 * (high - low), 0.8, 100 * low, color=ink.GRID)
        if verdict.found != "none":
            axes.plot([100 * many.low, 100 * many.high], [k, k], "-", color=ink.SERIES[0], linewidth=2)
            axes.plot(100 * verdict.share, k, "o", color=ink.SERIES[1], markeredgecolor=ink.INK, clip_on=False)
    axes.plot([], [], "o", color=ink.SERIES[1], markeredgecolor=ink.INK, label="this trajectory")
    axes.plot([], [], "-", color=ink.SERIES[0], linewidth=2, label="random trajectories, 5 % to 95 %")
    axes.bar(0, 0, color=ink.GRID, label="where the chapter's verdict has it")
    axes.set(xlim=(0, 100), ylim=(len(found) - 0.4, -0.6), xlabel="translational share, %", ylabel="element")
    axes.set_xticks([0, *(100 * edge for edge in _ZONES["both"]), 100])
    axes.set_yticks(range(len(found)), [verdict.element for verdict in found])
    axes.grid(axis="y", visible=False)
    top = axes.secondary_xaxis("top")
    top.set_xticks([50 * sum(zone) for zone in _ZONES.values()], list(_ZONES))
    top.tick_params(length=0, labelsize=9)
    top.spines["top"].set_visible(False)
    figure.legend(loc="outside lower center", ncols=3 if width > ink.NARROW else 1)
    return figure


def _inertia(split: Split, width: float) -> Figure:
    """The upper triangle of D."""
    n = split.h_tran.shape[1]
    figure = _figure(width, 1.4 * n)
    grid = figure.add_gridspec(n, n)
    places = [(i, j) for i in range(n) for j in range(i, n)]
    found = dict(zip(places, verdicts(split), strict=False))  # verdicts on h follow those on D
    total = split.D_tran + split.D_rot
    first: Any = None
    for columns in _groups(np.abs(total).max(axis=(0, 1))):
        power = _power(total[:, :, columns])
        shared: Any = None
        for j, i in ((column, row) for column in columns for row in range(column + 1)):
            axes = figure.add_subplot(grid[i, j], sharex=first, sharey=shared)
            first, shared = first or axes, shared or axes
            _draw(axes, split.trajectory.t, split.D_tran[:, i, j], split.D_rot[:, i, j], power, found[i, j])
            labelled = j == max(i, columns[0])
            axes.tick_params(labelleft=labelled, labelbottom=i == j)
            axes.set_ylabel(_unit(power, "kg m²") if labelled else "")
            axes.set_xlabel("time, s" if i == j else "")
    _legend(figure, first, loc="lower left")
    return figure


def _velocity(split: Split, width: float) -> Figure:
    """h, three panels in a row, or two on a phone."""
    n = split.h_tran.shape[1]
    across = 3 if width > ink.NARROW else 2
    down = math.ceil(n / across)
    figure = _figure(width, (2.2 if across == 3 else 1.6) * down + 0.5)
    grid = figure.add_gridspec(down, across)
    found = verdicts(split)[-n:]
    total = split.h_tran + split.h_rot
    first: Any = None
    for group in _groups(np.abs(total).max(axis=0)):
        power = _power(total[:, group])
        shared: Any = None
        for i in group:
            axes = figure.add_subplot(grid[i // across, i % across], sharex=first, sharey=shared)
            first, shared = first or axes, shared or axes
            _draw(axes, split.trajectory.t, split.h_tran[:, i], split.h_rot[:, i], power, found[i])
            axes.set_ylabel(_unit(power, "N m"))
            axes.set_xlabel("time, s")
    _legend(figure, first, loc="outside lower center", ncols=2)
    return figure


def _errors(models: Sequence[Simplified], width: float) -> Figure:
    """On how many random trajectories each model's error stays below a value; a marker on its error here."""
    figure = _figure(width, 4.2)
    axes = figure.add_subplot()
    shown = [model for model in models if model.name in _MODELS and model.parameters == models[0].parameters]
    for k, model in enumerate(shown):
        (same,) = (each for each in model.elsewhere if each.speed == 1)
        percent = 100 * np.arange(1, len(same.random) + 1) / len(same.random)
        colour, line = ink.SERIES[k], ink.LINES[k % len(ink.LINES)]
        axes.plot(100 * same.random, percent, line, color=colour, linewidth=1.8, label=model.name)
        axes.plot(100 * same.own, 0, ink.MARKERS[k], color=colour, clip_on=False, markersize=7)
    axes.set_xscale("log")
    axes.plot([], [], ink.MARKERS[0], color=ink.FAINT, label="on this trajectory")
    axes.set(
        xlabel="largest torque error, % of the joint's\nlargest torque in the same motion",
        ylabel="random trajectories with a smaller error, %", ylim=(0, 100),
    )  # fmt: skip
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    figure.legend(loc="outside upper left", ncols=4 if width > ink.NARROW else 2)
    return figure


def _figure(width: float, height: float) -> Figure:
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height))


def _draw(axes: Any, t: Array, tran: Array, rot: Array, power: int, verdict: Verdict) -> None:
    """Both effects, under the element's name and verdict."""
    for (label, colour, line, width), values in zip(_LINES, (tran, rot), strict=True):
        axes.plot(t, values / 10.0**power, line, color=colour, linewidth=width, label=label)
    mark = ("✓" if verdict.agrees else "✗") if verdict.published else ""
    axes.set_title(verdict.element, loc="left", fontsize=9, fontweight="bold", pad=3)
    axes.set_title(f"{verdict.found} {mark}", loc="right", fontsize=8, pad=3)
    axes.set_xlim(t[0], t[-1])
    axes.locator_params(nbins=4)
    axes.tick_params(labelsize=8)
    axes.xaxis.label.set_size(8)
    axes.yaxis.label.set_size(8)


def _legend(figure: Figure, axes: Any, **place: Any) -> None:
    lines, labels = axes.get_legend_handles_labels()
    figure.legend(lines, labels, title="✓ as the chapter states, ✗ otherwise", alignment="left", **place)


def _groups(sizes: Array) -> list[list[int]]:
    """Groups of neighbours within a factor of ten of the first."""
    groups: list[list[int]] = []
    for k, size in enumerate(sizes):
        if groups and 0.1 * sizes[groups[-1][0]] <= size <= 10 * sizes[groups[-1][0]]:
            groups[-1].append(k)
        else:
            groups.append([k])
    return groups


def _power(values: Array) -> int:
    """The exponent of ten, a multiple of three, that the largest value is written with."""
    largest = float(np.abs(values).max(initial=0.0))
    return 3 * math.floor(math.log10(largest) / 3) if largest > 0 else 0


def _unit(power: int, unit: str) -> str:
    return f"$10^{{{power}}}$ {unit}" if power else unit
