"""A robot as a table: print(robot), and HTML for notebooks."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fastdyn.mechanism.coupling import Coupling
from fastdyn.mechanism.description import Mechanism
from fastdyn.mechanism.limits import UNITS
from fastdyn.mechanism.parts import Frame, JointKind, Link, Motor
from fastdyn.rotations import to_rpy

WIDTH = 120  # columns that a table may take

Drive = tuple[str, JointKind, Motor]  # a joint's or coordinate's name and kind, and its motor


class Column(NamedTuple):
    """A column of a table: text is aligned left, numbers right."""

    head: str
    unit: str
    cells: Sequence[str] | Sequence[float]


def table(robot: Mechanism) -> str:
    """The robot in plain text: joints, masses, drives, added frames, gravity, mount and warnings; at most 120 columns.

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
    if added := added_frames(robot):
        parts.append(_layout(_frame_columns(added)))
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
    if added := added_frames(robot):
        tables.append(_frame_columns(added))
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


def places(robot: Mechanism) -> dict[str, str]:
    """For each moving joint its place in q; of a coupled robot the places of the coordinates that move it."""
    G = np.eye(len(robot.joints)) if robot.coupling is None else robot.coupling.G
    return {j.name: ", ".join(map(str, np.flatnonzero(row))) for j, row in zip(robot.joints, G, strict=True)}


def _joint_columns(robot: Mechanism) -> list[Column]:
    joints, place = robot.all_joints, places(robot)
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


def added_frames(robot: Mechanism) -> list[Frame]:
    """The frames that are not links' own."""
    return [frame for frame in robot.frames.values() if frame.name != frame.on]


def _frame_columns(frames: Sequence[Frame]) -> list[Column]:
    """Names, links, and poses there."""
    poses = np.array([frame.pose for frame in frames])
    numbers = np.hstack([poses[:, :3, 3], np.degrees(to_rpy(poses[:, :3, :3]))]).T.tolist()
    heads = ("x", "y", "z", "roll", "pitch", "yaw")
    return [
        Column("frame", "", [frame.name for frame in frames]),
        Column("on", "", [frame.on for frame in frames]),
        *(Column(head, unit, each) for head, unit, each in zip(heads, 3 * ["m"] + 3 * ["deg"], numbers, strict=True)),
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
            shortened(cell, width).ljust(width) if is_text else cell.rjust(width)
            for cell, width, is_text in zip(row, widths, text, strict=True)
        ]
        lines.append("  ".join(padded).rstrip())
    return "\n".join(lines)


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + 2 * (len(widths) - 1)


def shortened(text: str, width: int) -> str:
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
