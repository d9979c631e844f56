"""Pictures of a report's page, wide and on a phone, light and dark.

python -m tests.screenshots study notes/measurements

Writes <report>_<width>_<scheme>_<part>.png for the top of the page and for some of its sections. With --whole, also the
whole page, folded parts opened, which is large.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from tests import browser

HEIGHTS = {1280: 1500, 390: 1700}  # of pictures, by the width of the window
SCHEMES = ("light", "dark")
SECTIONS = ("counts", "timing", "effects")


def main(folder: Path, out: Path, whole: bool) -> None:
    (name,) = (path.stem for path in folder.glob("*.json"))
    out.mkdir(parents=True, exist_ok=True)
    with browser.browser() as chromium:
        for width, height in HEIGHTS.items():
            for scheme in SCHEMES:
                tab = chromium.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
                tab.goto((folder / "index.html").resolve().as_uri())
                take(tab, out / f"{name}_{width}_{scheme}", height, whole)
                tab.close()


def take(tab: Any, start: Path, height: int, whole: bool) -> None:
    tab.screenshot(path=f"{start}_top.png")
    for section in SECTIONS:
        if tab.locator(f"#{section}").count():
            top = tab.locator(f"#{section}").evaluate("part => part.getBoundingClientRect().top + scrollY")
            clip = {"x": 0, "y": top, "width": tab.viewport_size["width"], "height": height}
            tab.screenshot(path=f"{start}_{section}.png", full_page=True, clip=clip)
    if whole:
        tab.locator("main details").evaluate_all("all => all.forEach(one => one.open = true)")
        tab.screenshot(path=f"{start}_whole.png", full_page=True)


if __name__ == "__main__":
    given = [argument for argument in sys.argv[1:] if argument != "--whole"]
    if len(given) != 2:
        sys.exit("usage: python -m tests.screenshots FOLDER OUT [--whole]")
    main(Path(given[0]), Path(given[1]), "--whole" in sys.argv)
