"""Robots in TOML files, with units in the names of the keys: see notes/toml_format.md for the format.

Two kinds: "fastdyn-dh-1", a D-H table as books print it, and "fastdyn-tree-1", links and joints as Robot takes them.
"""

from __future__ import annotations

import difflib
import json
import math
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from fastdyn.errors import RobotError
from fastdyn.formats.dh import Convention, DHLink, from_dh
from fastdyn.geometry import homogeneous, rotation_from_rpy
from fastdyn.mechanism.description import STANDARD_GRAVITY, Description, Mechanism
from fastdyn.mechanism.parts import KINDS, MOVING, Array, Joint, JointKind, Limits, Link, Motor, checked_pose

DH, TREE = "fastdyn-dh-1", "fastdyn-tree-1"

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


def load_toml(path: str | Path, strict: bool = False) -> Description:
    """The robot that a TOML file describes. strict: as for Robot."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as problem:
        raise RobotError(f"{path}: expected UTF-8 text, found {problem}") from problem
    return from_toml(text, strict, source=str(path))


def from_toml(text: str, strict: bool = False, source: str = "<text>") -> Description:
    """The robot that a TOML text describes. source: the text's name in error messages.

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
    try:
        entries = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as problem:  # RecursionError: nested too deeply
        raise RobotError(f"{source}: expected valid TOML, found: {problem}") from problem
    top = _Table(entries, source)
    top.text("source", default="")  # where the figures are from, and remarks: not kept
    top.text("note", default="")
    kind = top.choice("format", (DH, TREE))
    return _dh(top, strict) if kind == DH else _tree(top, strict)


def to_toml(robot: Mechanism) -> str:
    """The robot as a TOML text of the kind "fastdyn-tree-1". Reading it gives the same robot, bit for bit.

    The format has no coupling: a CoupledRobot raises a RobotError.

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
    if robot.coupling is not None:
        raise RobotError(f"robot {robot.name!r}: expected joints that move independently, found them coupled")
    lines = [f"format = {_quoted(TREE)}", f"name = {_quoted(robot.name)}"]
    lines += [f"gravity_m_per_s2 = {robot.gravity.tolist()}", *_pose_out("mount", robot.mount)]
    for link in robot.all_links:
        lines += ["", "[[link]]", *_link_out(link)]
    for joint in robot.all_joints:
        lines += ["", "[[joint]]", *_joint_out(joint)]
    return "\n".join(lines) + "\n"


# ---------------------------------------------------------------------------------------------- reading


class _Table:
    """A TOML table that records which keys were read; `finish` raises for any others."""

    def __init__(self, entries: dict[str, Any], source: str, path: str = "") -> None:
        self.entries, self.source, self.path, self.known = entries, source, path, set[str]()

    def inside(self, key: str) -> str:
        """A key's path in the file, for messages: "[[joint]] 2 ('elbow'), limits, lower_deg"."""
        return f"{self.path}, {key}" if self.path else key

    def error(self, key: str, expected: str, found: Any) -> RobotError:
        return RobotError(f"{self.source}: {self.inside(key)}: expected {expected}, found {_shown(found)}")

    def take(self, stem: str, units: Units = NONE) -> tuple[str, Any, Callable[[float], float]]:
        """The key given for a quantity, its value (None if not given) and its conversion to SI."""
        keys = {f"{stem}_{unit}" if unit else stem: change for unit, change in units.items()}
        self.known |= set(keys)
        given = [key for key in keys if key in self.entries]
        if len(given) > 1:
            raise RobotError(f"{self.source}: {self.inside(stem)}: expected one of {' and '.join(given)}, found both")
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
                raise RobotError(f"{self.source}: {self.inside(key)}: unknown key, expected {' or '.join(near)}")

    @contextmanager
    def blamed(self) -> Iterator[None]:
        """Adds the file and the table to errors raised inside."""
        try:
            yield
        except RobotError as problem:
            raise RobotError(f"{self.source}: {self.path + ': ' if self.path else ''}{problem}") from problem


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
    joints = [_joint(table) for table in _named(top.tables("joint"))]
    top.finish()
    with top.blamed():
        return Description(links, joints, name, gravity, mount).checked(strict)


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
    name, mass = table.text("name"), _mass(table)
    table.finish()
    with table.blamed():
        return Link(name, **mass)


def _joint(table: _Table) -> Joint:
    kind = cast(JointKind, table.choice("kind", KINDS, default="revolute"))
    parts: dict[str, Any] = {key: table.text(key) for key in ("name", "parent", "child")}
    parts |= {"origin": _pose(table, "origin"), "tail": _pose(table, "tail")}
    parts["axis"] = table.numbers("axis", NONE, ((3,),), default=(0, 0, 1))
    parts["pitch"] = table.number("pitch", PITCH, default=0.0)
    parts |= {"limits": _limits(table.table("limits"), kind), "motor": _motor(table.table("motor"), kind)}
    table.finish()
    with table.blamed():
        return Joint(kind=kind, **parts)


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
        roll, pitch, yaw = table.numbers("rpy", ANGLE, ((3,),), default=(0, 0, 0)).tolist()
        place = table.numbers("xyz", LENGTH, ((3,),), default=(0, 0, 0))
        T = homogeneous(rotation_from_rpy(roll, pitch, yaw), place)
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
    return lines


def _joint_out(joint: Joint) -> list[str]:
    lines = [f"{key} = {_quoted(getattr(joint, key))}" for key in ("name", "parent", "child", "kind")]
    lines.append(f"axis = {np.asarray(joint.axis).tolist()}")
    lines += [f"pitch_m_per_rad = {joint.pitch!r}"] if joint.pitch else []
    lines += _pose_out("origin", np.asarray(joint.origin)) + _pose_out("tail", np.asarray(joint.tail))
    sliding = joint.kind == "prismatic"
    limits, motor = joint.limits, joint.motor
    place, speed, effort = ("m", "m_per_s", "N") if sliding else ("rad", "rad_per_s", "N_m")
    inertia, damping = ("kg", "N_s_per_m") if sliding else ("kg_m2", "N_m_s")
    if limits != Limits():
        lines += _inline_out("limits", {
            f"lower_{place}": limits.lower, f"upper_{place}": limits.upper,
            f"velocity_{speed}": limits.velocity, f"effort_{effort}": limits.effort,
        })  # fmt: skip
    if motor != Motor():
        lines += _inline_out("motor", {
            f"inertia_{inertia}": motor.inertia, "gear": motor.gear,
            f"viscous_{damping}": motor.viscous, f"coulomb_{effort}": list(cast(tuple[float, float], motor.coulomb)),
        })  # fmt: skip
    return lines


def _pose_out(key: str, pose: Array) -> list[str]:
    if np.array_equal(pose, np.eye(4)):
        return []
    if np.array_equal(pose[:3, :3], np.eye(3)):
        return [f"{key}.xyz_m = {pose[:3, 3].tolist()}"]
    return _matrix_out(f"{key}.matrix", pose[:3])


def _matrix_out(key: str, matrix: Array) -> list[str]:
    return [f"{key} = [", *(f"    {row}," for row in matrix.tolist()), "]"]


def _inline_out(key: str, entries: dict[str, float | list[float]]) -> list[str]:
    return [f"{key} = {{ {', '.join(f'{name} = {value!r}' for name, value in entries.items())} }}"]


def _quoted(text: str) -> str:
    """A TOML string: JSON's escapes, and DEL, which JSON does not escape."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
