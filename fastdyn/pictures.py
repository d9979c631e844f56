"""The methods of a robot that show it: tables, drawings, animations, maps of its workspace."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

from numpy.typing import ArrayLike

from fastdyn import maps, show
from fastdyn.kinematics import FrameName
from fastdyn.task_space import Axes, TaskSpace


class Pictures(TaskSpace):
    """Tables and pictures of a robot."""

    def __str__(self) -> str:
        return show.table(self)

    def _repr_html_(self) -> str:
        """Tables for notebooks."""
        return show.html(self)

    def plot(
        self,
        q: ArrayLike | None = None,
        ax: Any = None,
        legend: bool = True,
        frames: bool | Iterable[str] = True,
    ) -> Any:
        """A drawing of the robot on a 3-D matplotlib Axes: see fastdyn.show.plot.

        >>> import fastdyn as fd
        >>> arm = fd.robots.puma560().with_frame("tcp", pose=(0, 0, 0.1))
        >>> ax = arm.plot([[0.0] * 6, [0.5] * 6, [1.0] * 6], frames=["link6", "tcp"])
        >>> ax.get_title()
        'puma560\\nq = (1, 1, 1, 1, 1, 1), and 2 other postures'
        """
        return show.plot(self, q, ax, legend, frames)

    def animate(
        self,
        q: ArrayLike,
        t: ArrayLike | None = None,
        file: str | os.PathLike[str] | None = None,
        fps: int = 25,
        trace: str | Sequence[str] | None = None,
    ) -> show.Animation:
        """The robot moving along q, (K, n): a notebook shows what is returned; `file`, .gif or .mp4, is written.

        t: (K,) s, then shown in real time; else each posture is one picture. trace: names of frames whose paths are
        drawn, the tips' if not given. See fastdyn.show.Animation.

        >>> import numpy as np
        >>> import fastdyn as fd
        >>> path = np.linspace((0.0, 0.0), (1.0, 2.0), 30)
        >>> len(fd.robots.two_link().animate(path, t=np.linspace(0.0, 2.0, 30)))  # pictures, 25 in a second
        51
        """
        animation = show.Animation(self, q, t, fps, trace)
        if file is not None:
            animation.save(file)
        return animation

    def workspace_slice(
        self,
        plane: str = "xz",
        at: float = 0.0,
        frame: FrameName = None,
        axes: Axes = None,
        samples: int = 50_000,
        cells: int = 100,
        seed: int = 0,
    ) -> maps.WorkspaceSlice:
        """Where a frame's origin can be in a plane of the base's frame, within the limits, and how well it moves there.

        plane: "xy", "xz" or "yz"; at: the plane's place on the third axis, m; axes: those of `manipulability`; cells:
        along the longer side. The result has the cells' arrays, an `area`, and `plot()`.

        Random postures (samples) are brought into the plane by Newton's method; then each cell's best posture to the
        centres of its neighbours, until no cell is new and hardly one gains 1 %. A cell without a posture is one where
        none was found: a part of the workspace that no random posture came near is missed. Joints without limits turn
        by pi both ways.

        >>> import fastdyn as fd
        >>> arm = fd.robots.two_link(length=1.0)
        >>> found = arm.workspace_slice("xy", axes="xy", samples=2000, cells=50)
        >>> round(found.area, 0)  # a disc of radius 2 m: 12.57 m^2
        13.0
        """
        return maps.workspace_slice(self, plane, at, frame, axes, samples, cells, seed)
