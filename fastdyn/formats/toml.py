"""Robots in TOML files, with units in the names of the keys: see notes/toml_format.md for the format.

Two kinds: "fastdyn-dh-1", a D-H table as books print it, and "fastdyn-tree-1", links and joints as Robot takes them.
"""

from __future__ import annotations

import difflib
import json
import math
import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from fastdyn.errors import DescriptionError, RobotError
from fastdyn.formats.dh import Convention, DHLink, from_dh
from fastdyn.formats.files import check_size, contents
from fastdyn.geometry import homogeneous
from fastdyn.mechanism import variations
from fastdyn.mechanism.coupling import Coupling
from fastdyn.mechanism.description import STANDARD_GRAVITY, Description, Mechanism
from fastdyn.mechanism.parts import KINDS, MOVING, Array, Frame, Joint, JointKind, Limits, Link, Motor, checked_pose
from fastdyn.rotations import from_rpy

DH, TREE = "fastdyn-dh-1", "fastdyn-tree-1"
DEPTH = 16  # tables and lists inside each other
LONG = re.compile(r"[0-9][0-9_]{4299,}")  # more digits than Python reads

Units = dict[str, Callable[[float], float]]  # unit at the end of a key -> conversion to SI
ANGLE: Units = {"rad": float, "deg": math.radians}
SPIN: Units = {"rad_per_s": float, "deg_per_s": math.radians}
LENGTH: Units = {"m": float}
PITCH: Units = {"m_per_rad": float}
SPEED: Units = {"m_per_s": float}
ACCELERATION: Units = {"m_per_s2": float}
FORCE: Units = {"N": float}
TORQUE: Units = {"N_m": float}
MASS: Units = {"kg": float}
INERTIA: Units = {"kg_m2": float}
TURNING_DAMPING: Units = {"N_m_s": float}
SLIDING_DAMPING: Units = {"N_s_per_m": float}
NONE: Units = {"": float}


def load_toml(
    path: str | os.PathLike[str], strict: bool = False, locked: Mapping[str, float] | None = None
) -> Description:
    """The robot that a TOML file describes: see from_toml."""
    return from_toml(contents(path), strict, os.fspath(path), locked)


def from_toml(
    text: str | bytes, strict: bool = False, source: str = "<text>", locked: Mapping[str, float] | None = None
) -> Description:
    """The robot that a TOML text describes, a CoupledRobot if it has coordinates of its own.

    strict: as for Robot; source: the text's name in error messages; locked: joints or coordinates to hold, as in
    robot.locked.

    >>> import fastdyn as fd
    >>> arm = fd.from_toml('''
    ... format = "fastdyn-dh-1"
    ... name = "rod"
    ... convention = "standard"
    ... [[row]]
    ... a_m = 1.0
    ... alpha_deg = 0
    ... d_m = 0
    ... theta_deg = 0
    ... mass_kg = 3.0
    ... com_m = [-0.5, 0, 0]
    ... inertia_kg_m2 = [0, 0.25, 0.25]
    ... ''')
    >>> arm.mass_matrix([0.0])
    array([[1.]])
    """
    top = _Table(_entries(_decoded(text, source), source), source)
    top.text("source", default="")  # where the figures are from, and remarks: not kept
    top.text("note", default="")
    kind = top.choice("format", (DH, TREE))
    return variations.locked(_dh(top, strict) if kind == DH else _tree(top, strict), locked)


def to_toml(robot: Mechanism) -> str:
    """The robot as a TOML text of the kind "fastdyn-tree-1". Reading it gives the same robot, bit for bit.

    >>> import fastdyn as fd
    >>> print(to_toml(fd.Robot([fd.Link("base"), fd.Link("bob", 2.0, (0, 0, -0.5))],
    ...                        [fd.Joint("hinge", "base", "bob", axis=(0, 1, 0))], name="pendulum")))
    format = "fastdyn-tree-1"
    name = "pendulum"
    gravity_m_per_s2 = [0.0, 0.0, -9.80665]
    <BLANKLINE>
    [[link]]
    name = "base"
    <BLANKLINE>
    [[link]]
    name = "bob"
    mass_kg = 2.0
    com_m = [0.0, 0.0, -0.5]
    <BLANKLINE>
    [[joint]]
    name = "hinge"
    parent = "base"
    child = "bob"
    kind = "revolute"
    axis = [0.0, 1.0, 0.0]
    <BLANKLINE>
    """
    lines = [f"format = {_quoted(TREE)}", f"name = {_quoted(robot.name)}"]
    lines += [f"gravity_m_per_s2 = {robot.gravity.tolist()}", *_pose_out("mount", robot.mount)]
    for link in robot.all_links:
        lines += ["", "[[link]]", *_link_out(link)]
    coupling = robot.coupling
    offsets = (
        {} if coupling is None else dict(zip((j.name for j in robot.joints), coupling.offset.tolist(), strict=True))
    )
    for joint in robot.all_joints:
        lines += ["", "[[joint]]", *_joint_out(joint, offsets.get(joint.name, 0.0))]
    if coupling is not None:
        lines += _coordinates_out(coupling, robot.joints)
    for frame in robot.added_frames:
        lines += ["", "[[frame]]", f"name = {_quoted(frame.name)}", f"on = {_quoted(frame.on)}"]
        lines += _pose_out("pose", np.asarray(frame.pose))
    return "\n".join(lines) + "\n"


# ---------------------------------------------------------------------------------------------- reading


def _decoded(text: str | bytes, source: str) -> str:
    if not isinstance(text, str | bytes):
        raise DescriptionError(f"{source}: expected the text of a TOML file, found {type(text).__name__}")
    try:
        data = text.encode() if isinstance(text, str) else text
        check_size(data, source)
        return data.decode("utf-8-sig")
    except UnicodeError as problem:
        raise DescriptionError(f"{source}: expected UTF-8 text, found: {problem}") from problem


def _entries(text: str, source: str) -> dict[str, Any]:
    """The contents of a TOML text."""
    try:
        entries = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise DescriptionError(f"{source}: expected valid TOML, found: {problem}") from problem
    except RecursionError as problem:
        raise _too_deep(source) from problem
    except ValueError as problem:  # a number with more digits than Python reads
        long = LONG.search(text)
        line = "" if long is None else f":{text.count(chr(10), 0, long.start()) + 1}"
        raise DescriptionError(f"{source}{line}: expected numbers of fewer digits, found: {problem}") from problem
    waiting: list[tuple[Any, int]] = [(entries, 0)]
    while waiting:
        found, depth = waiting.pop()
        if depth > DEPTH:
            raise _too_deep(source)
        inside = found.values() if isinstance(found, dict) else found if isinstance(found, list) else ()
        waiting += [(each, depth + 1) for each in inside]
    return entries


def _too_deep(source: str) -> DescriptionError:
    return DescriptionError(f"{source}: expected at most {DEPTH} tables and lists inside each other, found more")


class _Table:
    """A TOML table that records which keys were read; `finish` raises for any others."""

    def __init__(self, entries: dict[str, Any], source: str, path: str = "") -> None:
        self.entries, self.source, self.path, self.known = entries, source, path, set[str]()

    def inside(self, key: str) -> str:
        """A key's path in the file, for messages: "[[joint]] 2 ('elbow'), limits, lower_deg"."""
        return f"{self.path}, {key}" if self.path else key

    def error(self, key: str, expected: str, found: Any) -> DescriptionError:
        return DescriptionError(f"{self.source}: {self.inside(key)}: expected {expected}, found {_shown(found)}")

    def take(self, stem: str, units: Units = NONE) -> tuple[str, Any, Callable[[float], float]]:
        """The key given for a quantity, its value (None if not given) and its conversion to SI."""
        keys = {f"{stem}_{unit}" if unit else stem: change for unit, change in units.items()}
        self.known |= set(keys)
        given = [key for key in keys if key in self.entries]
        if len(given) > 1:
            raise DescriptionError(
                f"{self.source}: {self.inside(stem)}: expected one of {' and '.join(given)}, found both"
            )
        key = given[0] if given else " or ".join(keys)
        return key, self.entries.get(key), keys[given[0]] if given else float

    def text(self, key: str, default: str | None = None) -> str:
        _, found, _ = self.take(key)
        if found is None and default is not None:
            return default
        if not isinstance(found, str):
            raise self.error(key, "a string", found)
        return found

    def choice(self, key: str, among: tuple[str, ...], default: str | None = None) -> str:
        found = self.text(key, default)
        if found not in among:
            raise self.error(key, f"one of {', '.join(map(repr, among))}", found)
        return found

    def flag(self, key: str) -> bool:
        _, found, _ = self.take(key)
        if found is not None and not isinstance(found, bool):
            raise self.error(key, "true or false", found)
        return bool(found)

    def numbers(
        self,
        stem: str,
        units: Units,
        shapes: tuple[tuple[int, ...], ...],
        default: ArrayLike | None = None,
        not_negative: bool = False,
        infinite: bool = False,
    ) -> Array:
        """An array of one of the given shapes, in SI units."""
        key, found, change = self.take(stem, units)
        if found is None and default is not None:
            return np.asarray(default, dtype=np.float64)
        if _shape(found) not in shapes:
            raise self.error(key, " or ".join(_many(shape) for shape in shapes), found)
        try:
            array = np.array(found, dtype=np.float64)
        except OverflowError as problem:
            raise self.error(key, "numbers within the range of float64", found) from problem
        if np.isnan(array).any() or not (infinite or np.isfinite(array).all()):
            raise self.error(key, "no NaN" if infinite else "finite numbers", found)
        if not_negative and (array < 0).any():
            raise self.error(key, "a number not below zero", found)
        return np.array([change(value) for value in array.ravel().tolist()]).reshape(array.shape)

    def number(self, stem: str, units: Units = NONE, **options: Any) -> float:
        return float(self.numbers(stem, units, ((),), **options))

    def table(self, key: str) -> _Table | None:
        _, found, _ = self.take(key)
        if found is None:
            return None
        if not isinstance(found, dict):
            raise self.error(key, "a table", found)
        return _Table(found, self.source, self.inside(key))

    def tables(self, key: str, least: int = 0) -> list[_Table]:
        _, found, _ = self.take(key)
        if found is None and least == 0:
            return []
        if not isinstance(found, list) or len(found) < least or not all(isinstance(each, dict) for each in found):
            raise self.error(key, f"at least {least} [[{key}]]" if least else f"tables [[{key}]]", found)
        return [_Table(each, self.source, f"[[{key}]] {i}") for i, each in enumerate(found, start=1)]

    def finish(self) -> None:
        for key in self.entries:
            if key not in self.known:
                near = difflib.get_close_matches(key, self.known, n=1) or sorted(self.known)
                raise DescriptionError(f"{self.source}: {self.inside(key)}: unknown key, expected {' or '.join(near)}")

    @contextmanager
    def blamed(self) -> Iterator[None]:
        """Adds the file and the table to errors raised inside."""
        try:
            yield
        except RobotError as problem:
            raise DescriptionError(f"{self.source}: {self.path + ': ' if self.path else ''}{problem}") from problem


def _dh(top: _Table, strict: bool) -> Description:
    name, gravity, mount = top.text("name"), _gravity(top), _pose(top, "mount")
    convention = top.choice("convention", ("standard", "modified"))
    rows = [_row(table) for table in top.tables("row", least=1)]
    top.finish()
    with top.blamed():
        return from_dh(rows, cast(Convention, convention), name, gravity, strict).replace(mount=mount)


def _row(table: _Table) -> DHLink:
    kind = cast(JointKind, table.choice("kind", MOVING, default="revolute"))
    row = DHLink(
        a=table.number("a", LENGTH),
        alpha=table.number("alpha", ANGLE),
        d=table.number("d", LENGTH),
        theta=table.number("theta", ANGLE),
        kind=kind,
        pitch=table.number("pitch", PITCH, default=0.0),
        limits=_limits(table.table("limits"), kind),
        motor=_motor(table.table("motor"), kind),
        **_mass(table),
    )
    table.finish()
    with table.blamed():
        Link("link", row.mass, row.com, row.inertia)  # checked here, where the row's number is known
        Joint("joint", "parent", "link", kind, pitch=row.pitch)
    return row


def _tree(top: _Table, strict: bool) -> Description:
    name, gravity, mount = top.text("name"), _gravity(top), _pose(top, "mount")
    links = [_link(table) for table in _named(top.tables("link", least=1))]
    coordinates = _named(top.tables("coordinate"))
    joints, offsets = [], []
    for table in _named(top.tables("joint")):
        joint, offset = _joint(table, coupled=bool(coordinates))
        joints.append(joint)
        offsets += [offset] if joint.kind != "fixed" else []
    frames = [_frame(table) for table in _named(top.tables("frame"))]
    top.finish()
    with top.blamed():
        description = Description(links, joints, name, gravity, mount, added_frames=frames).checked(strict)
    if not coordinates:
        return description
    return description.replace(coupling=_coupling(top, coordinates, description.joints, offsets))


def _frame(table: _Table) -> Frame:
    name, on, pose = table.text("name"), table.text("on"), _pose(table, "pose")
    table.finish()
    with table.blamed():
        return Frame(name, on, pose)


def _coupling(top: _Table, tables: list[_Table], joints: Sequence[Joint], offsets: list[float]) -> Coupling:
    """q = G phi + offset from the [[coordinate]] tables."""
    place = {joint.name: i for i, joint in enumerate(joints)}
    G, unnamed = np.zeros((len(joints), len(tables))), dict(place)
    for k, table in enumerate(tables):
        moves = table.table("moves")
        if moves is None:
            raise table.error("moves", "a table of joints and their ratios", None)
        for name in moves.entries:
            if name not in place:
                raise table.error("moves", f"names of moving joints, {', '.join(place)}", name)
            G[place[name], k] = moves.number(name)
            unnamed.pop(name, None)
    if unnamed:
        expected = "every moving joint in the moves of some coordinate, by 0 if it stands still"
        raise DescriptionError(f"{top.source}: [[coordinate]]: expected {expected}, found no {next(iter(unnamed))!r}")
    names = [table.text("name") for table in tables]
    with top.blamed():
        coupling = Coupling(G, offsets, names)
    kinds = coupling.kinds(joints)
    motors = [_motor(table.table("motor"), kind) for table, kind in zip(tables, kinds, strict=True)]
    limits = [_limits(table.table("limits"), kind) for table, kind in zip(tables, kinds, strict=True)]
    for table in tables:
        table.finish()
    return Coupling(G, offsets, names, motors, limits)


def _named(tables: list[_Table]) -> list[_Table]:
    """The same tables, with names checked to be unique and added to their paths for messages."""
    seen: dict[str, str] = {}
    for table in tables:
        name = table.text("name")
        if name in seen:
            raise table.error("name", f"another name than that of {seen[name]}", name)
        seen[name] = table.path
        table.path += f" ({name!r})"
    return tables


def _link(table: _Table) -> Link:
    name, mass, as_found = table.text("name"), _mass(table), table.flag("as_found")
    table.finish()
    with table.blamed():
        return Link(name, **mass, as_found=as_found)


def _joint(table: _Table, coupled: bool) -> tuple[Joint, float]:
    """A joint and, if joints are coupled, its position at zero of all coordinates."""
    kind = cast(JointKind, table.choice("kind", KINDS, default="revolute"))
    parts: dict[str, Any] = {key: table.text(key) for key in ("name", "parent", "child")}
    parts |= {"origin": _pose(table, "origin"), "tail": _pose(table, "tail")}
    parts["axis"] = table.numbers("axis", NONE, ((3,),), default=(0, 0, 1))
    parts["pitch"] = table.number("pitch", PITCH, default=0.0)
    parts |= {"limits": _limits(table.table("limits"), kind), "motor": _motor(table.table("motor"), kind)}
    offset = 0.0
    if coupled and kind != "fixed":
        offset = table.number("offset", LENGTH if kind == "prismatic" else ANGLE, default=0.0)
    table.finish()
    with table.blamed():
        return Joint(kind=kind, **parts), offset


def _mass(table: _Table) -> dict[str, Any]:
    inertia = table.numbers("inertia", INERTIA, ((3,), (3, 3)), default=np.zeros((3, 3)))
    return {
        "mass": table.number("mass", MASS, default=0.0, not_negative=True),
        "com": table.numbers("com", LENGTH, ((3,),), default=(0, 0, 0)),
        "inertia": np.diag(inertia) if inertia.shape == (3,) else inertia,
    }


def _limits(table: _Table | None, kind: JointKind) -> Limits:
    if table is None:
        return Limits()
    place, speed, effort = (LENGTH, SPEED, FORCE) if kind == "prismatic" else (ANGLE, SPIN, TORQUE)
    found = {
        "lower": table.number("lower", place, default=-math.inf, infinite=True),
        "upper": table.number("upper", place, default=math.inf, infinite=True),
        "velocity": table.number("velocity", speed, default=math.inf, infinite=True, not_negative=True),
        "effort": table.number("effort", effort, default=math.inf, infinite=True, not_negative=True),
    }
    table.finish()
    with table.blamed():
        return Limits(**found)


def _motor(table: _Table | None, kind: JointKind) -> Motor:
    if table is None:
        return Motor()
    # a prismatic joint's motor may be rotary: its figures then have rotary units, and its gear is in rad/m
    turns = kind != "prismatic" or {"inertia_kg_m2", "viscous_N_m_s", "coulomb_N_m"} & set(table.entries)
    inertia, damping, effort = (INERTIA, TURNING_DAMPING, TORQUE) if turns else (MASS, SLIDING_DAMPING, FORCE)
    coulomb = table.numbers("coulomb", effort, ((), (2,)), default=0.0)
    found = {
        "inertia": table.number("inertia", inertia, default=0.0, not_negative=True),
        "gear": table.number("gear", default=1.0),
        "viscous": table.number("viscous", damping, default=0.0, not_negative=True),
    }
    table.finish()
    with table.blamed():
        return Motor(coulomb=tuple(coulomb.tolist()) if coulomb.ndim else float(coulomb), **found)


def _gravity(top: _Table) -> Array:
    return top.numbers("gravity", ACCELERATION, ((3,),), default=STANDARD_GRAVITY)


def _pose(parent: _Table, key: str) -> Array:
    table = parent.table(key)
    if table is None:
        return np.eye(4)
    if "matrix" in table.entries:
        T = np.eye(4)
        given = table.numbers("matrix", NONE, ((3, 4), (4, 4)))
        T[: len(given)] = given
    else:
        rpy = table.numbers("rpy", ANGLE, ((3,),), default=(0, 0, 0))
        place = table.numbers("xyz", LENGTH, ((3,),), default=(0, 0, 0))
        T = homogeneous(from_rpy(rpy), place)
    table.finish()
    with table.blamed():
        return checked_pose(T, "pose")


def _shape(value: Any) -> tuple[int, ...] | None:
    """The shape of a number or of nested lists of numbers; None if it is neither."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return ()
    if isinstance(value, list):
        inner = {_shape(each) for each in value}
        only = inner.pop() if len(inner) == 1 else None
        return None if only is None else (len(value), *only)
    return None


def _many(shape: tuple[int, ...]) -> str:
    return f"{'x'.join(map(str, shape))} numbers" if shape else "a number"


def _shown(found: Any) -> str:
    text = "nothing" if found is None else repr(found)
    return text if len(text) <= 80 else text[:77] + "..."


# ---------------------------------------------------------------------------------------------- writing


def _link_out(link: Link) -> list[str]:
    lines, com, inertia = [f"name = {_quoted(link.name)}"], np.asarray(link.com), np.asarray(link.inertia)
    if link.mass:
        lines.append(f"mass_kg = {link.mass!r}")
    if com.any():
        lines.append(f"com_m = {com.tolist()}")
    if np.array_equal(inertia, np.diag(inertia.diagonal())):
        lines += [f"inertia_kg_m2 = {inertia.diagonal().tolist()}"] if inertia.any() else []
    else:
        lines += _matrix_out("inertia_kg_m2", inertia)
    lines += ["as_found = true"] if link.as_found else []
    return lines


def _joint_out(joint: Joint, offset: float) -> list[str]:
    lines = [f"{key} = {_quoted(getattr(joint, key))}" for key in ("name", "parent", "child", "kind")]
    lines.append(f"axis = {np.asarray(joint.axis).tolist()}")
    lines += [f"pitch_m_per_rad = {joint.pitch!r}"] if joint.pitch else []
    lines += _pose_out("origin", np.asarray(joint.origin)) + _pose_out("tail", np.asarray(joint.tail))
    lines += [f"offset_{'m' if joint.kind == 'prismatic' else 'rad'} = {offset!r}"] if offset else []
    return lines + _limits_out(joint.limits, joint.kind) + _motor_out(joint.motor, joint.kind)


def _limits_out(limits: Limits, kind: JointKind) -> list[str]:
    if limits == Limits():
        return []
    place, speed, effort = ("m", "m_per_s", "N") if kind == "prismatic" else ("rad", "rad_per_s", "N_m")
    return _inline_out("limits", {
        f"lower_{place}": limits.lower, f"upper_{place}": limits.upper,
        f"velocity_{speed}": limits.velocity, f"effort_{effort}": limits.effort,
    })  # fmt: skip


def _motor_out(motor: Motor, kind: JointKind) -> list[str]:
    if motor == Motor():
        return []
    inertia, damping, effort = ("kg", "N_s_per_m", "N") if kind == "prismatic" else ("kg_m2", "N_m_s", "N_m")
    return _inline_out("motor", {
        f"inertia_{inertia}": motor.inertia, "gear": motor.gear,
        f"viscous_{damping}": motor.viscous, f"coulomb_{effort}": list(cast(tuple[float, float], motor.coulomb)),
    })  # fmt: skip


def _coordinates_out(coupling: Coupling, joints: Sequence[Joint]) -> list[str]:
    lines = []
    still = ~coupling.G.any(axis=1)  # named with a ratio of 0 by the first coordinate: every joint must be named
    for k, kind in enumerate(coupling.kinds(joints)):
        moved = coupling.G[:, k] != 0
        named = np.flatnonzero(moved | still if k == 0 else moved).tolist()
        ratios = {_quoted(joints[i].name): float(coupling.G[i, k]) for i in named}
        lines += ["", "[[coordinate]]", f"name = {_quoted(coupling.names[k])}"]
        lines += _inline_out("moves", ratios) + _limits_out(coupling.limits[k], kind)
        lines += _motor_out(coupling.motors[k], kind)
    return lines


def _pose_out(key: str, pose: Array) -> list[str]:
    if np.array_equal(pose, np.eye(4)):
        return []
    if np.array_equal(pose[:3, :3], np.eye(3)):
        return [f"{key}.xyz_m = {pose[:3, 3].tolist()}"]
    return _matrix_out(f"{key}.matrix", pose[:3])


def _matrix_out(key: str, matrix: Array) -> list[str]:
    return [f"{key} = [", *(f"    {row}," for row in matrix.tolist()), "]"]


def _inline_out(key: str, entries: Mapping[str, float | list[float]]) -> list[str]:
    return [f"{key} = {{ {', '.join(f'{name} = {value!r}' for name, value in entries.items())} }}"]


def _quoted(text: str) -> str:
    """A TOML string: JSON's escapes, and DEL, which JSON does not escape."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
