"""What a robot looks like: as a table (print(robot)) and as a drawing (extra `plots`)."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fastdyn.errors import ArgumentError, MissingExtraError
from fastdyn.mechanism.coupling import Coupling
from fastdyn.mechanism.description import Mechanism
from fastdyn.mechanism.limits import UNITS, limits_of
from fastdyn.mechanism.parts import Array, JointKind, Link, Motor
from fastdyn.mechanism.poses import coordinates, motion, poses_at, reach
from fastdyn.rotations import to_rpy

WIDTH = 120  # columns that a table may take

Drive = tuple[str, JointKind, Motor]  # a joint's or coordinate's name and kind, and its motor


# ---------------------------------------------------------------------------------------------- as a table


class Column(NamedTuple):
    """A column of a table: text is aligned left, numbers right."""

    head: str
    unit: str
    cells: Sequence[str] | Sequence[float]


def table(robot: Mechanism) -> str:
    """The robot in plain text: joints, masses, drives, gravity, mount and warnings; at most 120 columns wide.

    The first column is the place in q; "-" stands where a limit is not known.

    >>> import fastdyn as fd
    >>> print(table(fd.robots.two_link(g=10.0)))
    two_link: 2 joints (RR), 3 links, 2 kg moving
    gravity (0, -10, 0) m/s^2; mounted at the world's origin
    <BLANKLINE>
    q  joint   kind      parent  child  axis   lower  upper  velocity  effort
                                        x y z    rad    rad     rad/s     N m
    0  joint1  revolute  base    link1  0 0 1      -      -         -       -
    1  joint2  revolute  link1   link2  0 0 1      -      -         -       -
    <BLANKLINE>
    link   mass  com x  com y  com z     Ixx       Iyy       Izz     Ixy     Ixz     Iyz
             kg      m      m      m  kg m^2    kg m^2    kg m^2  kg m^2  kg m^2  kg m^2
    base      0      0      0      0       0         0         0       0       0       0
    link1     1   -0.5      0      0       0  0.083333  0.083333       0       0       0
    link2     1   -0.5      0      0       0  0.083333  0.083333       0       0       0
    """
    parts = [_heading(robot)]
    if robot.coupling is not None:
        parts.append("\n".join(map(_filled, _coupled(robot, robot.coupling))))
    if robot.all_joints:
        parts.append(_layout(_joint_columns(robot)))
    parts.append(_layout(_link_columns(robot.all_links)))
    if driven := _drives(robot):
        parts.append(_layout(_motor_columns(driven)) + "\n(armature and friction as felt at the joint)")
    parts += [_filled(f"warning: {name!r} {doubt}") for name, doubt in robot.doubts().items()]
    return "\n\n".join(parts)


def html(robot: Mechanism) -> str:
    """The same data as HTML, for notebooks: without colours of its own, so that it suits light and dark pages.

    >>> import fastdyn as fd
    >>> html(fd.robots.two_link()).count("<tr>")  # joints and links, each with a row of names and one of units
    9
    """
    tables = [_joint_columns(robot)] * bool(robot.all_joints) + [_link_columns(robot.all_links)]
    if driven := _drives(robot):
        tables.append(_motor_columns(driven))
    lines = _heading(robot).replace("\n  ", " ").splitlines()
    if robot.coupling is not None:
        lines += _coupled(robot, robot.coupling)
    parts = [f"<p>{escape(line)}</p>" for line in lines]
    parts += [_html_table(columns) for columns in tables]
    parts += [f"<p>warning: {escape(f'{name!r} {doubt}')}</p>" for name, doubt in robot.doubts().items()]
    return f"<div>{''.join(parts)}</div>"


def _html_table(columns: Sequence[Column]) -> str:
    sides = ["left" if isinstance(column.cells[0], str) else "right" for column in columns]
    cells = [[c if isinstance(c, str) else _number(c, 5) for c in column.cells] for column in columns]

    def row(tag: str, texts: Iterable[str]) -> str:
        each = (f'<{tag} style="text-align:{s}">{escape(x)}</{tag}>' for s, x in zip(sides, texts, strict=True))
        return f"<tr>{''.join(each)}</tr>"

    head = row("th", (column.head for column in columns)) + row("th", (column.unit for column in columns))
    body = "".join(row("td", texts) for texts in zip(*cells, strict=True))
    return f"<table><thead>{head}</thead><tbody>{body}</tbody></table>"


def _heading(robot: Mechanism) -> str:
    joints = _count(len(robot.joints), "joint") + (f" ({robot.kinds})" if robot.kinds else "")
    if robot.coupling is not None:
        joints += f" moved by {_count(robot.coupling.m, 'coordinate')}"
    mounted = "the world's origin"
    if not np.array_equal(robot.mount, np.eye(4)):
        turned = np.degrees(to_rpy(robot.mount[:3, :3]))
        mounted = f"({_numbers(robot.mount[:3, 3])}) m, roll pitch yaw ({_numbers(turned)}) deg"
    return "\n".join(
        (
            _filled(
                f"{robot.name}: {joints}, {_count(len(robot.all_links), 'link')}, {robot.moving_mass:.6g} kg moving"
            ),
            _filled(f"gravity ({_numbers(robot.gravity)}) m/s^2; mounted at {mounted}"),
        )
    )


def _coupled(robot: Mechanism, coupling: Coupling) -> list[str]:
    """The coordinates by place in q, and the positions of those joints that are not coordinates themselves."""
    lines = ["coordinates: " + ", ".join(f"{k} {name}" for k, name in enumerate(coupling.names))]
    for joint, row, shift in zip(robot.joints, coupling.G, coupling.offset, strict=True):
        terms = [(f"{_number(row[k], 6)} ", coupling.names[k]) for k in np.flatnonzero(row)]
        right = " + ".join(("" if factor == "1 " else factor) + name for factor, name in terms)
        if shift or not right:
            right += f"{' + ' * bool(right)}{_number(shift, 6)}"
        if right != joint.name:
            lines.append(f"{joint.name} = {right.replace('+ -', '- ')}")
    for name, kind, limits in zip(coupling.names, coupling.kinds(robot.joints), coupling.limits, strict=True):
        place, speed, effort = (UNITS[of][kind == "prismatic"] for of in ("q", "qd", "tau"))
        said = {
            f"{_number(limits.lower, 5)} to {_number(limits.upper, 5)} {place}": (limits.lower, limits.upper),
            f"velocity {_number(limits.velocity, 5)} {speed}": (limits.velocity,),
            f"effort {_number(limits.effort, 5)} {effort}": (limits.effort,),
        }
        if found := [text for text, values in said.items() if np.isfinite(values).any()]:
            lines.append(f"limits of {name}: {', '.join(found)}")
    return lines


def _drives(robot: Mechanism) -> list[Drive]:
    """The motors of joints and of coordinates, without those that neither weigh nor rub."""
    drives: list[Drive] = [(joint.name, joint.kind, joint.motor) for joint in robot.joints]
    if robot.coupling is not None:
        drives += zip(robot.coupling.names, robot.coupling.kinds(robot.joints), robot.coupling.motors, strict=True)
    return [drive for drive in drives if drive[2] != Motor()]


def _places(robot: Mechanism) -> dict[str, str]:
    """For each moving joint its place in q; of a coupled robot the places of the coordinates that move it."""
    G = np.eye(len(robot.joints)) if robot.coupling is None else robot.coupling.G
    return {j.name: ", ".join(map(str, np.flatnonzero(row))) for j, row in zip(robot.joints, G, strict=True)}


def _joint_columns(robot: Mechanism) -> list[Column]:
    joints, place = robot.all_joints, _places(robot)
    kinds = [joint.kind for joint in joints]

    def limit(name: str, turning: str, sliding: str) -> Column:
        return Column(name, _unit(kinds, turning, sliding), [getattr(joint.limits, name) for joint in joints])

    return [
        Column("q", "", [place.get(joint.name, "") for joint in joints]),
        Column("joint", "", [joint.name for joint in joints]),
        Column("kind", "", kinds),
        Column("parent", "", [joint.parent for joint in joints]),
        Column("child", "", [joint.child for joint in joints]),
        Column("axis", "x y z", ["" if j.kind == "fixed" else _numbers(j.axis, " ", 3) for j in joints]),
        *[Column("pitch", "m/rad", [j.pitch for j in joints])] * any(j.kind == "helical" for j in joints),
        limit("lower", "rad", "m"),
        limit("upper", "rad", "m"),
        limit("velocity", "rad/s", "m/s"),
        limit("effort", "N m", "N"),
    ]


def _link_columns(links: Sequence[Link]) -> list[Column]:
    com = np.array([link.com for link in links])
    inertia = np.array([link.inertia for link in links])
    columns = [Column("link", "", [link.name for link in links]), Column("mass", "kg", [link.mass for link in links])]
    columns += [Column(f"com {axis}", "m", com[:, i].tolist()) for i, axis in enumerate("xyz")]
    pairs = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
    columns += [Column(f"I{'xyz'[i]}{'xyz'[j]}", "kg m^2", inertia[:, i, j].tolist()) for i, j in pairs]
    return columns


def _motor_columns(drives: Sequence[Drive]) -> list[Column]:
    names, kinds, motors = zip(*drives, strict=True)
    felt = [motor.joint_coulomb for motor in motors]
    torque = _unit(kinds, "N m", "N")
    return [
        Column("drive of", "", names),
        Column("rotor", _unit(kinds, "kg m^2", "kg"), [motor.inertia for motor in motors]),
        Column("gear", "", [motor.gear for motor in motors]),
        Column("armature", _unit(kinds, "kg m^2", "kg"), [motor.armature for motor in motors]),
        Column("viscous", _unit(kinds, "N m s/rad", "N s/m"), [motor.joint_viscous for motor in motors]),
        Column("coulomb +", torque, [plus for plus, _ in felt]),
        Column("coulomb -", torque, [minus for _, minus in felt]),
    ]


def _unit(kinds: Iterable[JointKind], turning: str, sliding: str) -> str:
    """The unit of a quantity for these kinds of joints: both, where some turn and others slide. Helical joints turn."""
    found = set(kinds)
    return " | ".join([turning] * bool(found & {"revolute", "helical"}) + [sliding] * ("prismatic" in found))


def _layout(columns: Sequence[Column]) -> str:
    """Columns side by side; where they exceed WIDTH, with fewer digits and then with shortened names."""
    for digits in (5, 4, 3):
        cells = [[c if isinstance(c, str) else _number(c, digits) for c in column.cells] for column in columns]
        grid = [[column.head, column.unit, *rows] for column, rows in zip(columns, cells, strict=True)]
        widths = [max(map(len, column)) for column in grid]
        if _total(widths) <= WIDTH:
            break
    text = [isinstance(column.cells[0], str) for column in columns]
    while _total(widths) > WIDTH:
        widest = max((i for i, is_text in enumerate(text) if is_text), key=lambda i: widths[i])
        widths[widest] -= 1
    lines = []
    for row in zip(*grid, strict=True):
        padded = [
            _shortened(cell, width).ljust(width) if is_text else cell.rjust(width)
            for cell, width, is_text in zip(row, widths, text, strict=True)
        ]
        lines.append("  ".join(padded).rstrip())
    return "\n".join(lines)


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + 2 * (len(widths) - 1)


def _shortened(text: str, width: int) -> str:
    """The beginning and the end of a name, where its middle does not fit."""
    if len(text) <= width:
        return text
    tail = (width - 2) // 2
    return f"{text[: width - 2 - tail]}..{text[len(text) - tail :]}"


def _number(value: float, digits: int) -> str:
    return f"{value + 0.0:.{digits}g}" if math.isfinite(value) else "-"  # + 0.0: no negative zeros


def _numbers(values: ArrayLike, between: str = ", ", digits: int = 6) -> str:
    return between.join(_number(value, digits) for value in np.asarray(values).tolist())


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _filled(line: str) -> str:
    return textwrap.fill(line, WIDTH, subsequent_indent="  ")


# ---------------------------------------------------------------------------------------------- as a drawing


MARKS = {"revolute": "o", "prismatic": "s", "helical": "D"}  # of the joints
FRAME_LINES: tuple[tuple[str, Any], ...] = (  # of x, y and z: told apart in grey too
    ("tab:red", "-"),
    ("tab:green", (0, (3, 1))),
    ("tab:blue", (0, (1, 1))),
)


def plot(robot: Mechanism, q: ArrayLike | None = None, ax: Any = None, legend: bool = True) -> Any:
    """A stick figure in the world's frame on a 3-D matplotlib Axes, which is returned.

    Links are thick lines, joints circles (revolute), squares (prismatic) or diamonds (helical) with their axes and
    their places in q, centres of mass grey discs whose area grows with mass; frames have x solid, y dashed, z dotted.
    q: (n,) rad or m; zero, or the limit next to it, if not given. ax: axes with projection="3d"; new ones if not given.
    A coupled robot's q is in its own coordinates, and its joints are labelled with the coordinates that move them.
    legend: whether to name joints and marks beside the drawing. The axes show what the robot can reach, so that they
    are the same for every q.
    """
    resting = np.clip(0.0, *limits_of(robot).position.T)
    q = resting if q is None else q
    rest, values = coordinates(robot, resting), coordinates(robot, q)
    if ax is None:
        ax = _axes(legend)
    elif not hasattr(ax, "get_zlim"):
        raise ArgumentError(f"ax: expected matplotlib axes with projection='3d', found {type(ax).__name__}")
    size = float(np.ptp(_points(*_placed(robot, rest)), axis=0).max()) or 1.0
    world, hinges = _placed(robot, values)
    box = reach(robot, list(rest.values()), travel=size)
    ax.computed_zorder = False  # what was drawn last lies on top: no label hides behind a link
    _draw_links(ax, robot, world, hinges, values)
    _draw_masses(ax, robot, world)
    _draw_frames(ax, list(world.values()), 0.09 * size)
    _draw_gravity(ax, robot, 0.15 * size)
    _frame_view(ax, box, _points(world, hinges))
    _draw_joints(ax, robot, hinges, values, 0.1 * size)
    shown = ", ".join(f"{value:.3g}" for value in np.asarray(q).tolist())
    ax.set_title("\n".join([_plain(robot.name), *textwrap.wrap(f"q = ({shown})", 72)]), fontsize=12)
    if legend:
        _explain(ax, robot)
    return ax


def _placed(robot: Mechanism, values: dict[str, float]) -> tuple[dict[str, Array], dict[str, Array]]:
    """The poses of all links and of all joints' frames in the world, by name."""
    world = {name: robot.mount @ pose for name, pose in poses_at(robot, values).items()}
    return world, {joint.name: world[joint.parent] @ np.asarray(joint.origin) for joint in robot.all_joints}


def _points(world: dict[str, Array], hinges: dict[str, Array]) -> Array:
    return np.array([pose[:3, 3] for pose in (*world.values(), *hinges.values())])


def _axes(legend: bool) -> Any:
    try:
        from matplotlib import pyplot
    except ImportError as problem:
        raise MissingExtraError("plot needs matplotlib, which is missing: pip install fastdyn[plots]") from problem
    width = 0.64 if legend else 0.9
    return pyplot.figure(figsize=(9, 7)).add_axes((0.03, 0.06, width, 0.82), projection="3d")


def _draw_links(
    ax: Any, robot: Mechanism, world: dict[str, Array], hinges: dict[str, Array], q: dict[str, float]
) -> None:
    """From each link's origin to the joints it carries, and from each joint to the origin of the link it moves."""
    link = {"color": "0.45", "linewidth": 4, "solid_capstyle": "round", "alpha": 0.8}
    for joint in robot.all_joints:
        hinge = hinges[joint.name]
        moved = hinge @ motion(joint, q.get(joint.name, 0.0))
        _line(ax, world[joint.parent], hinge, **link)
        _line(ax, hinge, moved, color="0.45", linewidth=1.5, linestyle=(0, (4, 2)))
        _line(ax, moved, world[joint.child], **link)


def _draw_masses(ax: Any, robot: Mechanism, world: dict[str, Array]) -> None:
    heavy = [link for link in robot.all_links if link.mass > 0]
    if not heavy:
        return
    places = np.array([(world[link.name] @ [*np.asarray(link.com), 1.0])[:3] for link in heavy])
    mass = np.array([link.mass for link in heavy])
    areas = 20 + 280 * mass / mass.max()
    ax.scatter(*places.T, s=areas, c="0.75", edgecolors="black", linewidths=0.8, alpha=0.7, depthshade=False, zorder=3)
    ax.scatter(*places.T, s=18, c="black", marker="+", linewidths=0.9, depthshade=False, zorder=3)


def _draw_frames(ax: Any, poses: Sequence[Array], length: float) -> None:
    for pose in poses:
        for i, (color, style) in enumerate(FRAME_LINES):
            end = pose[:3, 3] + length * pose[:3, i]
            ax.plot(*np.column_stack([pose[:3, 3], end]), color=color, linestyle=style, linewidth=1.6, zorder=4)


def _draw_joints(ax: Any, robot: Mechanism, hinges: dict[str, Array], q: dict[str, float], length: float) -> None:
    """Axes and marks; each axis has its number at its end, on the side away from the joint."""
    from matplotlib.patheffects import withStroke

    ends: list[tuple[Array, dict[str, str], list[str]]] = []
    view, places = ax.get_proj(), _places(robot)
    for joint in robot.joints:
        number = places[joint.name]
        hinge = hinges[joint.name] @ motion(joint, q[joint.name])
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


def _draw_gravity(ax: Any, robot: Mechanism, length: float) -> None:
    strength = float(np.linalg.norm(robot.gravity))
    if strength > 0:
        start = robot.mount[:3, 3]
        way = robot.gravity / strength * length
        ax.quiver(*start, *way, color="black", linewidth=1.2, arrow_length_ratio=0.25)
        ax.text(*(start + 1.2 * way), "g", fontsize=10, style="italic", ha="center", va="center")


def _frame_view(ax: Any, box: Array, points: Array) -> None:
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


def _explain(ax: Any, robot: Mechanism) -> None:
    """The joints' names and what the marks mean, beside the drawing."""
    from matplotlib.lines import Line2D

    frames = [
        Line2D([], [], color=color, linestyle=style, label=f"{axis} of a link's frame")
        for axis, (color, style) in zip("xyz", FRAME_LINES, strict=True)
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
    moved, called = "joints", [joint.name for joint in robot.joints]
    if robot.coupling is not None:
        moved, called = "coordinates", list(robot.coupling.names)
    names = [
        Line2D([], [], linestyle="", marker=f"${i}$", color="black", markersize=7, label=f" {name}")
        for i, name in enumerate(_plain(_shortened(name, 24)) for name in called)
    ]
    blank = Line2D([], [], linestyle="", label=" ")
    ax.legend(handles=[*names, blank, *symbols, disc, *frames], title=f"{moved} by place in q", loc="center left",
              bbox_to_anchor=(1.12, 0.5), fontsize=9, title_fontsize=9, alignment="left", frameon=False)  # fmt: skip


def _plain(name: str) -> str:
    """A name escaped so that matplotlib does not read it as a formula."""
    return name.replace("$", r"\$")


def _line(ax: Any, start: Array, end: Array, **style: Any) -> None:
    if not np.allclose(start[:3, 3], end[:3, 3], rtol=0, atol=1e-12):
        ax.plot(*np.column_stack([start[:3, 3], end[:3, 3]]), **style)
