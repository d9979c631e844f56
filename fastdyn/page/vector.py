"""matplotlib's figures as SVG inside the page, with the page's colours and fonts, and with unique ids."""

from __future__ import annotations

import io
import re
from html import escape
from typing import Any

from fastdyn.page import ink

COLOURS = {
    ink.INK: "--ink", "#000000": "--ink", ink.FAINT: "--faint", ink.GRID: "--grid", ink.PAPER: "--paper",
    "#ffffff": "--paper", **{colour: f"--series-{number}" for number, colour in enumerate(ink.SERIES, 1)},
}  # fmt: skip


def svg(figure: Any, title: str, key: str) -> str:
    """A matplotlib figure as an <svg> element of its own width, or less; its ids begin with `key`."""
    file = io.BytesIO()
    with ink.style():
        figure.savefig(file, format="svg", metadata={"Date": None})
    text = file.getvalue().decode()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>|<style[^>]*>.*?</style>|<!--.*?-->", "", text, flags=re.DOTALL)
    text = text.replace("xlink:href=", "href=")
    used = dict.fromkeys(re.findall(r'(?:href="#|url\(#)([^")]+)', text))
    names = {name: f"{key}-{number}" for number, name in enumerate(used)}
    text = re.sub(r' id="([^"]+)"', lambda found: f' id="{names[found[1]]}"' if found[1] in used else "", text)
    text = re.sub(r'(href="#|url\(#)([^")]+)', lambda found: found[1] + names[found[2]], text)
    for colour, name in COLOURS.items():
        text = re.sub(re.escape(colour), f"var({name})", text, flags=re.IGNORECASE)
    text = re.sub(r"'DejaVu Sans'[^;\"]*", "var(--sans)", text)
    text = re.sub(r' (?:d|x|y|transform)="[^"]*"', _shortened, text)
    box = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', text)
    if box is None:
        raise ValueError(f"matplotlib wrote no viewBox for {title!r}")
    head = (
        f'<svg viewBox="{box[0][9:-1]}" role="img" aria-label="{escape(title)}" '
        f'style="--width: {float(box[1]) * 4 / 3:.0f}px">'
    )
    text = re.sub(r"\s*\n\s*", "\n", re.sub(r"<svg[^>]*>", head, text, count=1))
    return text.strip()


def _shortened(attribute: re.Match[str]) -> str:
    """Coordinates to hundredths of a point."""
    return re.sub(r"(\.\d\d)\d+", r"\1", attribute[0])
