"""A robot in motion: GIF, MP4, or in a notebook (extra `plots`; MP4 takes the program ffmpeg)."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fastdyn.arrays import Array, real_numbers
from fastdyn.compiler.announce import quiet
from fastdyn.errors import ArgumentError, MissingExtraError
from fastdyn.mechanism.description import Mechanism
from fastdyn.mechanism.poses import tips
from fastdyn.output import check_folder, write
from fastdyn.show.drawing import (
    DASHED,
    FRAME_LINES,
    SOLID,
    Posture,
    axes,
    draw_gravity,
    frame_view,
    plain,
    posture,
    pyplot,
    rows_of,
    skeleton,
)  # fmt: skip

Progress = Callable[[float, str], None]
TRACES = ("tab:orange", "tab:purple", "tab:cyan", "tab:olive")
DPI = 80


class Animation:
    """A motion to look at: a notebook shows it, `save` writes it.

    q: (K, n), K >= 2 postures; of a coupled robot its own coordinates. t: (K,) increasing times, s: the motion is then
    shown in real time, with q interpolated linearly; without t each posture is one picture. fps: pictures per second.
    trace: the names of frames whose paths are drawn; the tips' if not given.

    >>> import fastdyn as fd
    >>> motion = Animation(fd.robots.two_link(), [[0.0, 0.0], [0.3, 0.6], [0.5, 1.0]], t=[0.0, 0.1, 0.2], fps=10)
    >>> len(motion), motion.q[1].tolist()
    (3, [0.3, 0.6])
    """

    def __init__(
        self,
        robot: Mechanism,
        q: ArrayLike,
        t: ArrayLike | None = None,
        fps: int = 25,
        trace: str | Sequence[str] | None = None,
    ) -> None:
        pyplot("animate")
        rows = rows_of(q)
        if len(rows) < 2:
            raise ArgumentError(f"q has shape {np.shape(q)}: expected (K, n) with two postures or more")
        if not isinstance(fps, int | np.integer) or not 1 <= fps <= 100:
            raise ArgumentError(f"fps is {fps!r}: expected a whole number from 1 to 100")
        for row in rows:
            posture(robot, row)  # refused by name if it is none
        self.robot, self.fps = robot, int(fps)
        self.q, self.t = np.asarray(q, dtype=np.float64), None
        if t is not None:
            times = _times(t, len(rows))
            self.t = times[0] + np.arange(int((times[-1] - times[0]) * fps * (1 + 1e-9)) + 1) / fps
            self.q = np.stack([np.interp(self.t, times, each) for each in self.q.T], axis=-1)
        names = tips(robot) if trace is None else [trace] if isinstance(trace, str) else list(trace)
        for name in names:
            if name not in robot.frames:
                raise ArgumentError(
                    f"trace has {name!r}, which is no link or frame of {robot.name}: "
                    f"expected some of {list(robot.frames)}"
                )
        self.trace = names

    def __len__(self) -> int:
        """Number of pictures."""
        return len(self.q)

    def save(self, file: str | os.PathLike[str], progress: Progress | None = None) -> None:
        """Writes the animation to a file: .gif or .mp4. The file appears whole or not at all.

        progress: called as progress(fraction from 0 to 1, what is being done); if not given, a terminal shows it.
        """
        from matplotlib import animation

        path = Path(file)
        if path.suffix.lower() not in (".gif", ".mp4"):
            raise ArgumentError(f"file is {path}: expected a name that ends in .gif or .mp4")
        check_folder(path.parent, "file")
        if path.suffix.lower() == ".gif":
            writer: Any = animation.PillowWriter(fps=self.fps)
        elif animation.FFMpegWriter.isAvailable():
            writer = animation.FFMpegWriter(fps=self.fps)
        else:
            raise MissingExtraError(f"{path} needs the program ffmpeg, which is missing: install it, or write a .gif")
        content = self._drawn(writer, path.suffix.lower(), progress)
        write(path, lambda file: file.write(content))

    def _repr_html_(self) -> str:
        """A player with buttons, for notebooks."""
        from matplotlib import animation

        writer = animation.HTMLWriter(fps=self.fps, embed_frames=True, default_mode="loop", embed_limit=200)
        return self._drawn(writer, ".html", None).decode()

    def _drawn(self, writer: Any, suffix: str, progress: Progress | None) -> bytes:
        """What the writer makes of the pictures: drawn one by one, in a folder of its own."""
        tell = progress or _tell
        scene = _Scene(self.robot, [posture(self.robot, row) for row in self.q], self.trace)
        try:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / f"motion{suffix}"
                with writer.saving(scene.figure, str(path), DPI):
                    for k in range(len(self)):
                        scene.show(k, f"{k + 1} of {len(self)}" if self.t is None else f"t = {self.t[k]:.2f} s")
                        writer.grab_frame()
                        tell((k + 1) / len(self), f"picture {k + 1} of {len(self)}")
                return path.read_bytes()
        finally:
            pyplot("animate").close(scene.figure)


class _Scene:
    """Axes whose lines are moved from picture to picture."""

    def __init__(self, robot: Mechanism, postures: Sequence[Posture], trace: Sequence[str]) -> None:
        self.robot, self.postures = robot, postures
        self.paths = [np.array([each.frames[name][:3, 3] for each in postures]) for name in trace]
        self.ax = axes(legend=False)
        self.figure = self.ax.figure
        self.size = frame_view(self.ax, robot, postures, whole=False)
        self.ax.computed_zorder = False
        draw_gravity(self.ax, robot, 0.15 * self.size)
        self.drawn = []
        for k, (name, path) in enumerate(zip(trace, self.paths, strict=True)):
            color = TRACES[k % len(TRACES)]
            self.ax.plot(*path.T, color=color, linewidth=0.8, alpha=0.6)
            self.drawn += self.ax.plot([], [], [], color=color, linewidth=2.2, label=f"path of {plain(name)}")
        self.lines = [self.ax.plot([], [], [], **style)[0] for style in (SOLID, DASHED)]
        self.joints = self.ax.plot([], [], [], "o", markersize=6, color="black", markerfacecolor="white", zorder=6)[0]
        self.triads = [
            self.ax.plot([], [], [], color=color, linestyle=style, linewidth=1.6, zorder=5)[0]
            for color, style in FRAME_LINES
        ]
        self.trace = trace
        if trace:
            self.ax.legend(loc="upper left", fontsize=9, frameon=False)

    def show(self, k: int, text: str) -> None:
        """Picture k."""
        at = self.postures[k]
        for line, points in zip(self.lines, skeleton(self.robot, at), strict=True):
            line.set_data_3d(*points.T)
        moving = [at.moved[joint.name][:3, 3] for joint in self.robot.joints]
        self.joints.set_data_3d(*np.reshape(moving, (-1, 3)).T)
        for path, line in zip(self.paths, self.drawn, strict=True):
            line.set_data_3d(*path[: k + 1].T)
        for i, line in enumerate(self.triads):
            line.set_data_3d(*_spikes([at.frames[name] for name in self.trace], i, 0.12 * self.size).T)
        self.ax.set_title(f"{plain(self.robot.name)}, {text}", fontsize=12)


def _spikes(poses: Sequence[Array], i: int, length: float) -> Array:
    """Axis i of these frames as one broken line, (K, 3)."""
    pieces = [np.array([T[:3, 3], T[:3, 3] + length * T[:3, i], 3 * [np.nan]]) for T in poses]
    return np.vstack(pieces) if pieces else np.empty((0, 3))


def _times(t: ArrayLike, count: int) -> Array:
    times = np.asarray(real_numbers(t, "t"), dtype=np.float64)
    if times.shape != (count,):
        raise ArgumentError(f"t has shape {times.shape}, but q has {count} postures: expected ({count},)")
    if not (np.isfinite(times).all() and (np.diff(times) > 0).all()):
        raise ArgumentError(f"t: expected finite times that increase, found {times.tolist()}")
    return times


def _tell(fraction: float, what: str) -> None:
    """On a terminal, one line that is written over."""
    if not quiet():
        print(f"\rfastdyn: {what}", end="\n" if fraction == 1 else "", file=sys.stderr, flush=True)
