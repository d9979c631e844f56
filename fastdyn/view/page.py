"""The page as one self-contained HTML file."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Mapping
from datetime import date
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fastdyn import output
from fastdyn.arrays import Array
from fastdyn.dynamics import Dynamics
from fastdyn.errors import ArgumentError
from fastdyn.view.motion import Motion, motion
from fastdyn.view.scene import scene

# the browser itself refuses whatever is not in the file
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"


def write(
    robot: Dynamics,
    q: ArrayLike,
    t: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    qd: ArrayLike | None = None,
    energies: Mapping[str, ArrayLike] | None = None,
    path: str | os.PathLike[str] = "motion.html",
    title: str | None = None,
) -> Path:
    """Writes a page to watch a motion on: the arm in 3-D, and torques, speeds, positions and energies over time.

    q: (K, n), or (n,) for one posture; t: (K,) s, 25 postures a second if not given; tau: (K, n) N m or N; qd: (K, n),
    by differences of q if not given; energies: (K,) J by name, kinetic, potential and total if not given. The file
    opens from disk and loads nothing. Samples of more than half a million numbers are thinned out: extremes of every
    column stay (`fastdyn.view.motion.extremes`).

    >>> import tempfile
    >>> import fastdyn as fd
    >>> path = np.linspace((0.0, 0.0), (1.0, 2.0), 30)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = write(fd.robots.two_link(), path, path=Path(folder) / "swing.html")
    ...     page.name, page.stat().st_size < 100_000
    ('swing.html', True)
    """
    file = Path(path)
    check_file(file, "path")
    found = motion(robot, q, t, tau, qd, energies)
    output.write(file, html(robot, found.thinned(), title))
    return file


def check_file(file: Path, name: str) -> None:
    """Raises an ArgumentError that calls it `name` unless the file can be written.

    >>> check_file(Path("/dev"), "--out")
    Traceback (most recent call last):
    fastdyn.errors.ArgumentError: --out is /dev: expected a file's name, found a folder
    """
    if file.is_dir():
        raise ArgumentError(f"{name} is {file}: expected a file's name, found a folder")
    output.check_folder(file.parent, name)


def html(robot: Dynamics, shown: Motion, title: str | None = None) -> str:
    """The file's text."""
    called = f"{robot.name} in motion" if title is None else title
    still = len(shown.t) == 1
    return f"""<!DOCTYPE html>
<html lang="en-GB">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<title>{escape(called)} – fastdyn</title>
<style>
{_file("fastdyn.page", "page.css")}{_file("fastdyn.view", "view.css")}</style>
</head>
<body{' class="still"' if still else ""}>
<main>
<header>
<div>
<p class="kicker">fastdyn view</p>
<h1>{escape(called)}</h1>
<p class="state">{"".join(f"<span>{escape(part)}</span>" for part in _state(robot, shown))}</p>
</div>
<button type="button" class="theme">Light or dark</button>
</header>
{_file("fastdyn.view", "view.html")}{_rule(shown)}</main>
<script type="application/json" id="motion">{_data(robot, shown)}</script>
<script>
{_file("fastdyn.page", "page.js")}</script>
<script>
{_file("fastdyn.view", "space.js")}</script>
<script>
{_file("fastdyn.view", "view.js")}</script>
</body>
</html>
"""


def _state(robot: Dynamics, shown: Motion) -> list[str]:
    joints = f"{len(robot.joints)} joint{'s' * (len(robot.joints) != 1)} {robot.kinds}"
    count = f"{shown.total:,} sample{'s' * (shown.total != 1)}"
    if len(shown.t) < shown.total:
        count += f", {len(shown.t):,} of them kept"
    span = f"{shown.t[-1] - shown.t[0]:.4g} s, " if shown.total > 1 else ""
    return [robot.name, joints, span + count, date.today().isoformat()]


def _rule(shown: Motion) -> str:
    """What was left out, if anything."""
    if len(shown.t) == shown.total:
        return ""
    return (
        f'<p class="help">This page keeps {len(shown.t):,} of {shown.total:,} samples: of every stretch of equal '
        "length the first, and those at which a curve is lowest or highest. Between samples it draws straight lines."
        "</p>\n"
    )


def _data(robot: Dynamics, shown: Motion) -> str:
    """The robot and the samples as JSON that cannot end the script element."""
    data: dict[str, Any] = {
        "scene": scene(robot),
        "t": _packed(shown.t, "<f8"),
        "q": _packed(shown.q),
        "qd": _packed(shown.qd),
        "tau": None if shown.tau is None else _packed(shown.tau),
        "energies": [[name, _packed(each)] for name, each in shown.energies.items()],
    }
    return json.dumps(data, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def _packed(array: Array, dtype: str = "<f4") -> str:
    return base64.b64encode(np.ascontiguousarray(array, dtype=dtype).tobytes()).decode()


def _file(room: str, name: str) -> str:
    return (resources.files(room) / name).read_text(encoding="utf-8")
