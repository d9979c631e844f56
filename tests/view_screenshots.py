"""Pictures of the page of a motion, wide and on a phone, light and dark.

python -m tests.view_screenshots notes/measurements
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np

import fastdyn as fd
from fastdyn import control
from fastdyn.simulation.result import Simulation
from tests import browser
from tests.screenshots import SCHEMES

HEIGHTS = {1280: 1180, 390: 1560}  # of pictures, by the width of the window
AT = 0.14  # s: two joints are at their torque limits


def motion() -> Simulation:
    """The Panda, sent to another posture faster than its motors can."""
    arm = fd.robots.panda()
    start = np.array([-1.2, -0.9, 0.3, -2.4, 0.2, 1.6, 0.8])
    goal = np.array([0.9, 0.5, -0.2, -1.3, -0.4, 2.2, -0.3])
    law = control.computed_torque(goal, kp=90.0, kd=14.0)
    return arm.simulate(start, np.zeros(7), 1.5, 1e-3, law, torque_limits=True, every=3)


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
                tab.screenshot(path=out / f"view_{width}_{scheme}.png")
                tab.close()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m tests.view_screenshots OUT")
    main(Path(sys.argv[1]))
