"""What a robot looks like: as a table (print(robot)), as a drawing, and as an animation (extra `plots`)."""

from fastdyn.show.animation import Animation
from fastdyn.show.drawing import plot
from fastdyn.show.tables import html, table

__all__ = ["Animation", "html", "plot", "table"]
