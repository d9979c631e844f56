"""Figures of the translational and rotational effects, for the study's page (extra `plots`).

All panels share the time axis. Elements differ by a factor of 1e5, so only neighbours of the same order of magnitude
(columns of D, elements of h) share a value axis, in units of one power of ten.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fastdyn.mechanism.parts import Array
from fastdyn.page import ink
from fastdyn.study.effects import WORDS, Robustness, Split, Verdict, verdicts

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH = 10.0  # inches
_LINES = (
    ("translational", ink.SERIES[0], "--", 1.5),
    ("rotational", ink.SERIES[1], ":", 2.0),
    ("sum", ink.INK, "-", 0.8),
)
_FILLS = (
    (ink.SERIES[0], "////"),
    (ink.SERIES[1], "...."),
    (ink.SERIES[2], ""),
    (ink.GRID, ""),
)  # one for each of WORDS


def figures(split: Split, robustness: Sequence[Robustness]) -> dict[str, Figure]:
    """D_ij and h_i along the trajectory, as Figs. 3.10 and 3.11 show them, and the verdicts on many trajectories.

    >>> import fastdyn as fd
    >>> from fastdyn.study import effects
    >>> robot = fd.robots.puma560()
    >>> found = figures(effects.split(robot, effects.puma_trajectory()), effects.robustness(robot, 10))
    >>> [len(figure.axes) for figure in found.values()]
    [21, 6, 1]
    """
    with ink.style():
        return {
            f"Inertia of {split.robot} along the trajectory: the elements of D": _inertia(split),
            f"Coriolis and centrifugal torques of {split.robot} along the trajectory: the elements of h": _velocity(
                split
            ),
            f"Which effect dominates in {split.robot} on random trajectories": _bars(robustness, verdicts(split)),
        }


def _inertia(split: Split) -> Figure:
    """The upper triangle of D."""
    n = split.h_tran.shape[1]
    figure = _figure(1.4 * n)
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


def _velocity(split: Split) -> Figure:
    """h, three panels in a row."""
    n = split.h_tran.shape[1]
    figure = _figure(2.2 * math.ceil(n / 3) + 0.5)
    grid = figure.add_gridspec(math.ceil(n / 3), 3)
    found = verdicts(split)[-n:]
    total = split.h_tran + split.h_rot
    first: Any = None
    for group in _groups(np.abs(total).max(axis=0)):
        power = _power(total[:, group])
        shared: Any = None
        for i in group:
            axes = figure.add_subplot(grid[i // 3, i % 3], sharex=first, sharey=shared)
            first, shared = first or axes, shared or axes
            _draw(axes, split.trajectory.t, split.h_tran[:, i], split.h_rot[:, i], power, found[i])
            axes.set_ylabel(_unit(power, "N m"))
            axes.set_xlabel("time, s")
    _legend(figure, first, loc="outside lower center", ncols=3)
    return figure


def _bars(robustness: Sequence[Robustness], found: Sequence[Verdict]) -> Figure:
    """Fractions of trajectories with each verdict, for each element; a dot marks the chapter's verdict."""
    figure = _figure(0.26 * len(robustness) + 1.0)
    axes = figure.add_subplot()
    places = np.arange(len(robustness))
    left = np.zeros(len(robustness))
    stated = np.array([verdict.published for verdict in found])
    for word, (colour, hatch) in zip(WORDS, _FILLS, strict=True):
        widths = np.array([100 * getattr(row, word) for row in robustness])
        axes.barh(places, widths, 0.72, left, color=colour, hatch=hatch, edgecolor=ink.PAPER, linewidth=0, label=word)
        dots = (stated == word) & (widths > 0)
        axes.plot((left + widths / 2)[dots], places[dots], "o", color=ink.PAPER, markeredgecolor=ink.INK, markersize=6)
        left += widths
    axes.plot([], [], "o", color=ink.PAPER, markeredgecolor=ink.INK, label="the chapter's verdict")
    axes.set(xlim=(0, 100), ylim=(len(places) - 0.4, -0.6), xlabel="random trajectories, %")
    axes.set_yticks(places, [row.element for row in robustness])
    axes.grid(axis="y", visible=False)
    right = axes.secondary_yaxis("right")
    right.set_yticks(places, [f"{word or '-'}, {row.agrees:.0%}" for word, row in zip(stated, robustness, strict=True)])
    right.set_ylabel("the chapter's verdict, and on how many trajectories it is found")
    right.tick_params(length=0)
    right.spines["right"].set_visible(False)
    figure.legend(loc="outside upper center", ncols=5)
    return figure


def _figure(height: float) -> Figure:
    from matplotlib.figure import Figure

    return Figure(figsize=(WIDTH, height))


def _draw(axes: Any, t: Array, tran: Array, rot: Array, power: int, verdict: Verdict) -> None:
    """Both effects and their sum, under the element's name and verdict."""
    for (label, colour, line, width), values in zip(_LINES, (tran, rot, tran + rot), strict=True):
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
