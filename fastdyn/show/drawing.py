"""A robot as a stick figure on 3-D matplotlib axes (extra `plots`)."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fastdyn.arrays import Array
from fastdyn.errors import ArgumentError, MissingExtraError
from fastdyn.mechanism.description import Mechanism
from fastdyn.mechanism.limits import limits_of
from fastdyn.mechanism.poses import coordinates, motion, poses_at, reach
from fastdyn.show.tables import added_frames, places, shortened

MARKS = {"revolute": "o", "prismatic": "s", "helical": "D"}  # of the joints
FRAME_LINES: tuple[tuple[str, Any], ...] = (  # of x, y and z: told apart in grey too
    ("tab:red", "-"),
    ("tab:green", (0, (3, 1))),
    ("tab:blue", (0, (1, 1))),
)
SOLID: dict[str, Any] = {"color": "0.45", "linewidth": 4, "solid_capstyle": "round", "alpha": 0.8}  # links
DASHED: dict[str, Any] = {"color": "0.45", "linewidth": 1.5, "linestyle": (0, (4, 2))}  # the travel of sliding joints
PALE: dict[str, Any] = {"color": "0.72", "linewidth": 3, "solid_capstyle": "round", "alpha": 0.55}  # other postures
BREAK = np.full((1, 3), np.nan)  # between two lines that are drawn as one


class Posture(NamedTuple):
    """A robot's frames in the world at one q, by name."""

    links: dict[str, Array]
    hinges: dict[str, Array]  # of the joints, on their parent links
    moved: dict[str, Array]  # the joints' frames that move with the child links
    frames: dict[str, Array]  # links' frames and added ones

    @property
    def points(self) -> Array:
        """The origins of all of them, (K, 3)."""
        poses = (*self.links.values(), *self.hinges.values(), *self.frames.values())
        return np.array([pose[:3, 3] for pose in poses])


def posture(robot: Mechanism, q: ArrayLike) -> Posture:
    """The robot's frames in the world at q, (n,).

    >>> import fastdyn as fd
    >>> posture(fd.robots.two_link(length=1.0), [0.0, 0.0]).links["link2"][:3, 3].tolist()
    [2.0, 0.0, 0.0]
    """
    values = coordinates(robot, q)
    links = {name: robot.mount @ pose for name, pose in poses_at(robot, values).items()}
    hinges = {joint.name: links[joint.parent] @ np.asarray(joint.origin) for joint in robot.all_joints}
    moved = {joint.name: hinges[joint.name] @ motion(joint, values.get(joint.name, 0.0)) for joint in robot.all_joints}
    frames = {frame.name: links[frame.on] @ np.asarray(frame.pose) for frame in robot.frames.values()}
    return Posture(links, hinges, moved, frames)


def skeleton(robot: Mechanism, at: Posture) -> tuple[Array, Array]:
    """Points (K, 3) of two broken lines, NaN between their pieces: links, and the travel of sliding joints.

    Links go from each link's origin to the joints it carries, and from each joint to the origin of the link it moves.
    """
    solid, dashed = [BREAK], [BREAK]
    for joint in robot.all_joints:
        parent, hinge, moved, child = (
            pose[:3, 3]
            for pose in (at.links[joint.parent], at.hinges[joint.name], at.moved[joint.name], at.links[joint.child])
        )
        solid += [np.array([parent, hinge]), BREAK, np.array([moved, child]), BREAK]
        dashed += [np.array([hinge, moved]), BREAK]
    return np.vstack(solid), np.vstack(dashed)


def plot(
    robot: Mechanism,
    q: ArrayLike | None = None,
    ax: Any = None,
    legend: bool = True,
    frames: bool | Iterable[str] = True,
) -> Any:
    """A stick figure in the world's frame on a 3-D matplotlib Axes, which is returned.

    Links are thick lines, joints circles (revolute), squares (prismatic) or diamonds (helical) with their axes and
    their places in q, centres of mass grey discs whose area grows with mass; frames have x solid, y dashed, z dotted.

    q: (n,) rad or m; zero, or the limit next to it, if not given; (K, n) for several postures, all but the last pale.
    A coupled robot's q is in its own coordinates, and its joints are labelled with the coordinates that move them.
    ax: axes with projection="3d"; new ones if not given. legend: whether to name joints and marks beside the drawing.
    frames: whether to draw frames, or the names of those to draw; added frames are drawn with their names.
    The axes show what the robot can reach, so that they are the same for every q.
    """
    resting = np.clip(0.0, *limits_of(robot).position.T)
    given = resting if q is None else q
    rows = rows_of(given)
    shown = _named(robot, frames)
    *others, last = [posture(robot, row) for row in rows]
    if ax is None:
        ax = axes(legend)
    elif not hasattr(ax, "get_zlim"):
        raise ArgumentError(f"ax: expected matplotlib axes with projection='3d', found {type(ax).__name__}")
    size = frame_view(ax, robot, [last, *others])
    ax.computed_zorder = False  # what was drawn last lies on top: no label hides behind a link
    for other in others:
        ax.plot(*skeleton(robot, other)[0].T, **PALE)
    for line, style in zip(skeleton(robot, last), (SOLID, DASHED), strict=True):
        ax.plot(*line.T, **style)
    _draw_masses(ax, robot, last.links)
    draw_gravity(ax, robot, 0.15 * size)
    _draw_frames(ax, {name: last.frames[name] for name in shown}, 0.09 * size)
    _draw_joints(ax, robot, last, 0.1 * size)
    _label_frames(ax, {frame.name: last.frames[frame.name] for frame in added_frames(robot) if frame.name in shown})
    text = f"q = ({', '.join(f'{value:.3g}' for value in np.asarray(rows[-1]).tolist())})"
    if others:
        text += f", and {len(others)} other posture{'s' * (len(others) > 1)}"
    ax.set_title("\n".join([plain(robot.name), *textwrap.wrap(text, 72)]), fontsize=12)
    if legend:
        _explain(ax, robot, bool(shown), bool(others))
    return ax


def rows_of(q: Any) -> list[ArrayLike]:
    """The postures of q, (n,) or (K, n): not converted, so that what is no posture can be refused by name."""
    try:
        several = np.ndim(q) == 2 and len(q) > 0
    except ValueError:  # not rectangular
        several = False
    return list(q) if several else [q]


def _named(robot: Mechanism, frames: bool | Iterable[str]) -> list[str]:
    """The names of the frames to draw, checked."""
    if isinstance(frames, bool):
        return list(robot.frames) if frames else []
    names = [frames] if isinstance(frames, str) else list(frames)
    for name in names:
        if name not in robot.frames:
            raise ArgumentError(
                f"frames has {name!r}, which is no link or frame of {robot.name}: expected some of {list(robot.frames)}"
            )
    return names


def pyplot(what: str) -> Any:
    """matplotlib.pyplot, or an error that names the extra that brings it."""
    try:
        from matplotlib import pyplot
    except ImportError as problem:
        raise MissingExtraError(f"{what} needs matplotlib, which is missing: pip install fastdyn[plots]") from problem
    return pyplot


def axes(legend: bool) -> Any:
    """New 3-D axes, with room for a legend on the right if there is one."""
    figure = pyplot("plot").figure(figsize=(9, 7) if legend else (7, 6.5))
    return figure.add_axes((0.03, 0.06, 0.64 if legend else 0.88, 0.82), projection="3d")


def frame_view(ax: Any, robot: Mechanism, postures: Iterable[Posture], whole: bool = True) -> float:
    """Sets equal scales, limits that fit these postures and, if whole, all that the robot can reach, and labels.

    Returns the robot's size, m: by it frames and arrows are scaled.
    """
    points = np.vstack([each.points for each in postures])
    rest = np.clip(0.0, *limits_of(robot).position.T)
    size = float(np.ptp(posture(robot, rest).points, axis=0).max()) or 1.0
    box = np.array([points.min(axis=0), points.max(axis=0)])
    if whole:
        box = reach(robot, list(coordinates(robot, rest).values()), travel=size)
    _set_box(ax, box, points)
    return size


def _draw_masses(ax: Any, robot: Mechanism, world: dict[str, Array]) -> None:
    heavy = [link for link in robot.all_links if link.mass > 0]
    if not heavy:
        return
    places = np.array([(world[link.name] @ [*np.asarray(link.com), 1.0])[:3] for link in heavy])
    mass = np.array([link.mass for link in heavy])
    areas = 20 + 280 * mass / mass.max()
    ax.scatter(*places.T, s=areas, c="0.75", edgecolors="black", linewidths=0.8, alpha=0.7, depthshade=False, zorder=3)
    ax.scatter(*places.T, s=18, c="black", marker="+", linewidths=0.9, depthshade=False, zorder=3)


def _draw_frames(ax: Any, poses: dict[str, Array], length: float) -> None:
    for i, (color, style) in enumerate(FRAME_LINES):
        lines = [np.array([pose[:3, 3], pose[:3, 3] + length * pose[:3, i]]) for pose in poses.values()]
        for line in lines:
            ax.plot(*line.T, color=color, linestyle=style, linewidth=1.6, zorder=4)


def _label_frames(ax: Any, poses: dict[str, Array]) -> None:
    """The names of added frames, below their origins."""
    from matplotlib.patheffects import withStroke

    halo = [withStroke(linewidth=3, foreground="white")]
    for name, pose in poses.items():
        ax.text(*pose[:3, 3], f" {plain(shortened(name, 24))}", fontsize=9, style="italic", va="top", zorder=10,
                path_effects=halo)  # fmt: skip


def _draw_joints(ax: Any, robot: Mechanism, at: Posture, length: float) -> None:
    """Axes and marks; each axis has its number at its end, on the side away from the joint."""
    from matplotlib.patheffects import withStroke

    ends: list[tuple[Array, dict[str, str], list[str]]] = []
    view, numbered = ax.get_proj(), places(robot)
    for joint in robot.joints:
        number = numbered[joint.name]
        hinge = at.moved[joint.name]
        axis = hinge[:3, :3] @ np.asarray(joint.axis)
        place, end = hinge[:3, 3], hinge[:3, 3] + length * axis
        ax.plot(*np.column_stack([place - length * axis / 2, end]), color="black", linewidth=1.0, zorder=5)
        ax.plot(
            *place[:, None], marker=MARKS[joint.kind], markersize=7, color="black", markerfacecolor="white", zorder=6
        )
        near = next((numbers for other, _, numbers in ends if np.linalg.norm(other - end) < 0.2 * length), None)
        if near is None:
            (x0, y0, _, w0), (x1, y1, _, w1) = view @ [*place, 1.0], view @ [*end, 1.0]
            side = {"ha": "right" if x1 / w1 < x0 / w0 else "left", "va": "top" if y1 / w1 < y0 / w0 else "bottom"}
            ends.append((end, side, [number]))
        else:
            near.append(number)
    halo = [withStroke(linewidth=3, foreground="white")]
    for end, side, numbers in ends:
        label = f" {', '.join(dict.fromkeys(numbers))} "
        ax.text(*end, label, fontsize=10, fontweight="bold", path_effects=halo, zorder=10, **side)


def draw_gravity(ax: Any, robot: Mechanism, length: float) -> None:
    """An arrow from the base along g."""
    strength = float(np.linalg.norm(robot.gravity))
    if strength > 0:
        start = robot.mount[:3, 3]
        way = robot.gravity / strength * length
        ax.quiver(*start, *way, color="black", linewidth=1.2, arrow_length_ratio=0.25)
        ax.text(*(start + 1.2 * way), "g", fontsize=10, style="italic", ha="center", va="center")


def _set_box(ax: Any, box: Array, points: Array) -> None:
    """Equal scales, and limits that leave room for axes and labels: around the box, and around points far outside."""
    size = float(np.ptp(box, axis=0).max()) or 1.0
    middle, margin = box.mean(axis=0), 0.06 * size
    half = np.maximum(np.ptp(box, axis=0) / 2 + margin, 0.2 * size)  # a flat robot still has a box to stand in
    low, high = np.minimum(middle - half, points.min(axis=0)), np.maximum(middle + half, points.max(axis=0))
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), zlim=(low[2], high[2]))
    ax.set(xlabel="x (m)", ylabel="y (m)", zlabel="z (m)")
    ax.set_box_aspect(high - low)
    ax.tick_params(labelsize=8)
    ax.locator_params(nbins=5)


def _explain(ax: Any, robot: Mechanism, framed: bool, several: bool) -> None:
    """The joints' names and what the marks mean, beside the drawing."""
    from matplotlib.lines import Line2D

    frames = [
        Line2D([], [], color=color, linestyle=style, label=f"{axis} of a frame")
        for axis, (color, style) in zip("xyz", FRAME_LINES, strict=True)
        if framed
    ]
    kinds = {joint.kind for joint in robot.joints}
    symbols = [
        Line2D(
            [],
            [],
            linestyle="",
            marker=mark,
            color="black",
            markerfacecolor="white",
            markersize=7,
            label=f"{kind} joint",
        )
        for kind, mark in MARKS.items()
        if kind in kinds
    ]
    disc = Line2D([], [], linestyle="", marker="o", color="black", markerfacecolor="0.75", markersize=11,
                  label="centre of mass")  # fmt: skip
    pale = [Line2D([], [], **PALE, label="other postures")] * several
    moved, called = "joints", [joint.name for joint in robot.joints]
    if robot.coupling is not None:
        moved, called = "coordinates", list(robot.coupling.names)
    names = [
        Line2D([], [], linestyle="", marker=f"${i}$", color="black", markersize=7, label=f" {name}")
        for i, name in enumerate(plain(shortened(name, 24)) for name in called)
    ]
    blank = Line2D([], [], linestyle="", label=" ")
    handles = [*names, blank, *symbols, disc, *frames, *pale]
    ax.legend(handles=handles, title=f"{moved} by place in q", loc="center left",
              bbox_to_anchor=(1.12, 0.5), fontsize=9, title_fontsize=9, alignment="left", frameon=False)  # fmt: skip


def plain(name: str) -> str:
    """A name escaped so that matplotlib does not read it as a formula."""
    return name.replace("$", r"\$")
