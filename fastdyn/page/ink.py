"""Style of the study's figures. matplotlib draws in these colours; the page replaces them by its light and dark ones.

Every series has its own line style and marker too, so that figures can be read in a grey print.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

INK, FAINT, GRID, PAPER = "#1f2328", "#6e7781", "#d8dee4", "#fefefe"
SERIES = ("#0b62c4", "#d1480f", "#1a7f37", "#8250df", "#b0136b", "#9a6700", "#087e8b", "#57606a")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "d")
LINES = ("-", "--", "-.", ":")
WIDE, NARROW = 9.9, 3.7  # inches: the page's width, and a phone's
SMALLEST = 8.0  # points: no text in a figure is smaller


@contextmanager
def style() -> Iterator[None]:
    """Applies the style to figures made inside: `with ink.style(): figure = ...`."""
    from matplotlib import rc_context
    from matplotlib.rcsetup import cycler

    settings: dict[Any, Any] = {
        "svg.fonttype": "none",  # text stays text: searchable, in the page's fonts
        "font.family": "sans-serif",
        "font.size": 10.0,
        "figure.facecolor": "none",  # the page's paper, and the shadow where a figure scrolls
        "axes.facecolor": "none",
        "axes.edgecolor": FAINT,
        "axes.labelcolor": INK,
        "axes.titlecolor": INK,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.axisbelow": True,
        "axes.prop_cycle": cycler(color=SERIES),
        "grid.color": GRID,
        "text.color": INK,
        "xtick.color": INK,
        "ytick.color": INK,
        "legend.frameon": False,
        "figure.constrained_layout.use": True,
    }
    with rc_context(settings):
        yield
