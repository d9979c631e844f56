"""Pictures of the page of a motion, wide and on a phone, light and dark.

python -m tests.view_screenshots notes/measurements
"""

from __future__ import annotations

import io
import sys
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

import fastdyn as fd
from fastdyn import control
from fastdyn.arrays import Array
from fastdyn.simulation.result import Simulation
from tests import browser
from tests.screenshots import SCHEMES

HEIGHTS = {1280: 1330, 390: 1600}  # of pictures, by the width of the window
AT = 0.4  # s: a joint is at its torque limit
LOAD, TIME = 3.2, 1.35  # kg, s


def motion() -> Simulation:
    """The Panda with a load, sent along a motion faster than its motors can follow."""
    arm = fd.robots.panda().with_payload(LOAD)
    start = np.array([-0.9, 1.05, 0.3, -1.0, 0.2, 2.0, 0.8])
    goal = np.array([0.6, -0.35, -0.2, -2.2, -0.4, 2.6, -0.3])

    def reference(t: Array) -> tuple[Array, Array, Array]:
        s = np.clip(t / TIME, 0.0, 1.0)[:, None]
        way = np.stack([10 * s**3 - 15 * s**4 + 6 * s**5, 30 * s**2 * (1 - s) ** 2, 60 * s - 180 * s**2 + 120 * s**3])
        q, qd, qdd = way * (goal - start)
        return start + q, qd / TIME, qdd / TIME**2

    law = control.computed_torque(reference, kp=100.0, kd=20.0)
    return arm.simulate(start, np.zeros(7), 1.9, 1e-3, law, torque_limits=True, every=5)


def main(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, browser.browser() as chromium:
        page = motion().view(Path(folder) / "panda.html")
        for width, height in HEIGHTS.items():
            for scheme in SCHEMES:
                tab = chromium.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
                tab.goto(page.resolve().as_uri())
                tab.evaluate(f"view.go({AT})")
                tab.wait_for_timeout(200)
                picture = Image.open(io.BytesIO(tab.screenshot())).convert("RGB")
                picture.quantize(256, kmeans=3).save(out / f"view_{width}_{scheme}.png", optimize=True)
                tab.close()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m tests.view_screenshots OUT")
    main(Path(sys.argv[1]))
