"""Which frame a call means: a link's, an added one's, or one moved to a point."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from fastdyn.errors import ArgumentError, RobotError
from fastdyn.geometry import go
from fastdyn.mechanism.description import Description
from fastdyn.mechanism.parts import Frame, frozen
from fastdyn.mechanism.poses import tips


def named_frame(description: Description, frame: str | Frame | None, point: ArrayLike | None = None) -> Frame:
    """The frame of that name, or the frame itself; that of the robot's only tip if none is given.

    point: a new origin, (3,) in the frame's coordinates.
    """
    if frame is None:
        ends = tips(description)
        if len(ends) != 1:
            raise ArgumentError(f"{description.name} has {len(ends)} tips: expected frame to be given, one of {ends}")
        (frame,) = ends
    if isinstance(frame, Frame):
        if frame.on not in description.carriers:
            raise ArgumentError(f"frame {frame.name!r} is on {frame.on!r}, which is no link of {description.name}")
        found = frame
    elif isinstance(frame, str) and frame in description.frames:
        found = description.frames[frame]
    else:
        raise ArgumentError(
            f"frame is {frame!r}, which is no link or frame of {description.name}: "
            f"expected one of {list(description.frames)}"
        )
    if point is None:
        return found
    try:
        return Frame(found.name, found.on, np.asarray(found.pose) @ go(*frozen(point, (3,), "point").tolist()))
    except RobotError as problem:
        raise ArgumentError(str(problem)) from problem
