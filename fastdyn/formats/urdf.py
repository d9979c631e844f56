"""URDF files -> Description; urdf_writer.py writes them.

Read: links with their inertia; revolute, continuous, prismatic and fixed joints with limits, damping, friction, mimic.
Joint coordinates are in the file's order of joints. Angles are used as given: 1.5708 is not rounded to pi/2.

Visuals, sensors, transmissions, simulator settings and elements of other tools are ignored, and no file they name is
ever opened. Nothing that affects dynamics is ignored silently: a misplaced or misspelt element or attribute (<limits>,
xzy="...", <inertia> outside <inertial>) is an error; unknown attributes of elements that matter for dynamics
(mu_viscous on <dynamics>) are listed in the warning, or in the error under strict=True.

URDF cannot express all that a Robot has. `to_urdf` writes the rest as extensions that other programs ignore, and the
reader understands them: armature, gear and friction_minus on <dynamics> (reflected to the joint: kg m^2; motor turns
per joint turn; Coulomb friction in the minus direction), tail="joint" on the fixed joint from the moved joint frame to
the link, frame="true" on the fixed joint of a link that is only a frame, <fastdyn gravity= xyz= rpy=> for gravity and
the base's pose in the world. The largest float64 as a limit means no limit.
"""

from __future__ import annotations

import math
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from fastdyn.errors import DescriptionError, RobotError
from fastdyn.formats import xml
from fastdyn.formats.files import contents
from fastdyn.formats.urdf_grammar import MOMENTS, check, listed
from fastdyn.formats.xml import Element, short
from fastdyn.geometry import homogeneous
from fastdyn.mechanism import variations
from fastdyn.mechanism.coupling import Coupling
from fastdyn.mechanism.description import STANDARD_GRAVITY, Description, warn
from fastdyn.mechanism.parts import Array, Frame, Joint, JointKind, Limits, Link, Motor
from fastdyn.rotations import from_rpy

KINDS: dict[str, JointKind] = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "fixed": "fixed",
}
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
LONGEST = 400  # characters of a number; float64 needs 17 digits
UNLIMITED = sys.float_info.max  # written for no limit where URDF requires a number


@dataclass(frozen=True)
class Mimic:
    """A joint that follows another: q = multiplier q[joint] + offset."""

    joint: str
    multiplier: float = 1.0
    offset: float = 0.0


def load_urdf(
    path: str | os.PathLike[str],
    strict: bool = False,
    gravity: ArrayLike | None = None,
    locked: Mapping[str, float] | None = None,
) -> Description:
    """The robot of a URDF file. An invalid file raises a DescriptionError that names line and element.

    Joint coordinates are in the file's order of joints. If some joints mimic others, the result is a CoupledRobot in
    the coordinates of the rest. Problems that are common in published files (physically impossible inertias, attributes
    of other tools on <dynamics>) are listed in one RobotWarning, or an error under strict=True; nothing is repaired.
    gravity: m/s^2 in the world; by default the file's, or else (0, 0, -9.80665). locked: joints or coordinates to hold,
    as in robot.locked.

    >>> import os, tempfile, fastdyn as fd
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "arm.urdf")
    ...     with open(path, "w") as file:
    ...         _ = file.write(fd.to_urdf(fd.robots.two_link()))
    ...     fd.load_urdf(path)
    <Robot 'two_link': 2 joints RR, 2 kg moving>
    """
    return from_urdf(contents(path), strict, gravity, os.fspath(path), locked)


def from_urdf(
    text: str | bytes,
    strict: bool = False,
    gravity: ArrayLike | None = None,
    source: str = "<text>",
    locked: Mapping[str, float] | None = None,
) -> Description:
    """The robot of a URDF text, as `load_urdf` reads it from a file. source: the text's name in messages.

    >>> import fastdyn as fd
    >>> import numpy as np
    >>> pendulum = fd.from_urdf('''<robot name="pendulum">
    ...   <link name="base"/>
    ...   <link name="bob">
    ...     <inertial>
    ...       <origin xyz="0 0 -0.5"/> <mass value="2"/>
    ...       <inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/>
    ...     </inertial>
    ...   </link>
    ...   <joint name="hinge" type="continuous"> <parent link="base"/> <child link="bob"/> <axis xyz="0 1 0"/> </joint>
    ... </robot>''', gravity=(0, 0, -10))
    >>> pendulum.gravity_forces([np.pi / 2]).round(12)
    array([10.])
    """
    if not isinstance(text, (str, bytes)):
        raise DescriptionError(f"{source}: expected the text of a URDF file, found {type(text).__name__}")
    return variations.locked(_load(text, strict, gravity, source), locked)


def following(description: Description, followers: Mapping[str, Mimic]) -> Description:
    """The same in the coordinates of the joints that follow no other."""
    if not followers:
        return description
    names = [joint.name for joint in description.joints]
    free = [name for name in names if name not in followers]
    return description.replace(coupling=Coupling(*mimics(names, followers), free))


def mimics(joints: Sequence[str], followers: Mapping[str, Mimic]) -> tuple[Array, Array]:
    """(G, offset) of q = G phi + offset, where phi are the coordinates of those joints that follow no other, in order.

    >>> G, offset = mimics(["a", "b", "c"], {"b": Mimic("a", 2.0, 0.5), "c": Mimic("b", -1.0, 0.0)})
    >>> G.tolist(), offset.tolist()
    ([[1.0], [2.0], [-2.0]], [0.0, 0.5, -0.5])
    """
    free = {name: k for k, name in enumerate(name for name in joints if name not in followers)}
    rules = _unchained(followers)
    G, offset = np.zeros((len(joints), len(free))), np.zeros(len(joints))
    for i, name in enumerate(joints):
        rule = rules.get(name, Mimic(name))
        G[i, free[rule.joint]], offset[i] = rule.multiplier, rule.offset
    return G, offset


def _unchained(followers: Mapping[str, Mimic]) -> dict[str, Mimic]:
    """The same with chains resolved: each joint in terms of one that follows no other."""
    found: dict[str, Mimic] = {}
    for name in followers:
        way, at = [], name
        while at in followers and at not in found:
            way.append(at)
            at = followers[at].joint
        end = found.get(at, Mimic(at))
        for at in reversed(way):
            rule = followers[at]
            end = Mimic(end.joint, rule.multiplier * end.multiplier, rule.multiplier * end.offset + rule.offset)
            found[at] = end
    return found


# ---------------------------------------------------------------------------------------------- reading


@dataclass(frozen=True, eq=False)
class Described:
    """A file's contents: the robot with independent joints, which joints follow others, and doubts by line."""

    description: Description
    followers: dict[str, Mimic]
    doubts: list[tuple[int, str]]


def _load(data: str | bytes, strict: bool, gravity: ArrayLike | None, source: str) -> Description:
    found = describe(data, gravity, source)
    if found.doubts:
        doubts = "".join(f"\n  line {line}: {doubt}" for line, doubt in sorted(found.doubts))
        if strict:
            raise DescriptionError(f"{source}: expected nothing doubtful, found{doubts}")
        warn(f"{source} is doubtful, and taken as it stands:{doubts}")
    return following(found.description, found.followers)


def describe(data: str | bytes, gravity: ArrayLike | None = None, source: str = "<text>") -> Described:
    """Reads and checks a URDF text, without coupling joints or issuing warnings."""
    root = xml.read(data, source)
    if root.tag != "robot":
        raise root.error(f"expected <robot>, found <{root.tag}>")
    doubts: list[tuple[int, str]] = []
    check(root, doubts)
    link_elements, joint_elements = _by_name(root, "link"), _by_name(root, "joint")
    if not link_elements:
        raise root.error("expected at least one <link>, found none")
    links = {name: _link(element) for name, element in link_elements.items()}
    joints = {name: _joint(element) for name, element in joint_elements.items()}
    _check_tree(link_elements, joint_elements, joints)
    followers = _followers(joint_elements, joints)
    _take_tails(joint_elements, links, joints)
    frames = list(_take_frames(joint_elements, links, joints))
    world = root.find("fastdyn")
    mount = None if world is None else _pose(world)
    if gravity is None and world is not None:
        gravity = _numbers(world, "gravity", STANDARD_GRAVITY)
    description = Description(
        links.values(), joints.values(), root.attributes["name"], gravity, mount, added_frames=frames
    )
    for name, doubt in description.doubts(massless=True).items():
        doubts.append((link_elements[name].line, f"{link_elements[name]} {doubt}"))
    return Described(description, followers, doubts)


def _by_name(root: Element, tag: str) -> dict[str, Element]:
    found: dict[str, Element] = {}
    for element in root.children:
        if element.tag == tag:
            name = element.attributes["name"]
            if not name.strip():
                raise element.error(f"name: expected one, found {name!r}")
            if name in found:
                raise element.error(
                    f"expected a name of its own, found another {found[name]} in line {found[name].line}"
                )
            found[name] = element
    return found


def _numbers(element: Element, attribute: str, default: Sequence[float]) -> tuple[float, ...]:
    """As many finite decimal numbers as the default has; the default itself if there is no such attribute."""
    text = element.attributes.get(attribute)
    if text is None:
        return tuple(default)
    words = re.findall(r"[^ \t\r\n]+", text)
    if len(words) == len(default) and all(len(word) <= LONGEST and NUMBER.fullmatch(word) for word in words):
        values = tuple(map(float, words))
        if all(map(math.isfinite, values)):
            return values
    expected = "a finite decimal number" if len(default) == 1 else f"{len(default)} finite decimal numbers"
    raise element.error(f"{attribute}: expected {expected}, found {short(text)}")


def _number(element: Element, attribute: str, default: float = 0.0, least: float = -math.inf) -> float:
    value = _numbers(element, attribute, (default,))[0]
    if value < least:
        raise element.error(
            f"{attribute}: expected a number not below zero, found {short(element.attributes[attribute])}"
        )
    return value


@contextmanager
def _naming(element: Element) -> Iterator[None]:
    """Adds file, line and element to errors raised inside."""
    try:
        with np.errstate(all="ignore"):  # overflow is caught by the checks for finite numbers
            yield
    except DescriptionError:
        raise
    except RobotError as problem:
        raise element.error(str(problem)) from problem


def _pose(element: Element) -> Array:
    """4x4 from xyz and rpy: rotations about the fixed x, y and z axes, in this order."""
    rpy = _numbers(element, "rpy", (0.0, 0.0, 0.0))
    return homogeneous(from_rpy(rpy), _numbers(element, "xyz", (0.0, 0.0, 0.0)))


def _origin(element: Element) -> Array:
    origin = element.find("origin")
    return np.eye(4) if origin is None else _pose(origin)


def _link(element: Element) -> Link:
    name, inertial = element.attributes["name"], element.find("inertial")
    if inertial is None:
        return Link(name)
    where, mass, inertia = _origin(inertial), inertial.find("mass"), inertial.find("inertia")
    assert mass is not None  # checked by urdf_grammar
    assert inertia is not None
    xx, xy, xz, yy, yz, zz = (_number(inertia, key) for key in MOMENTS)
    with _naming(inertia):
        R = where[:3, :3]
        moments = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T
        return Link(name, _number(mass, "value", least=0.0), where[:3, 3], 0.5 * (moments + moments.T), as_found=True)


def _joint(element: Element) -> Joint:
    name, kind = element.attributes["name"], element.attributes["type"]
    if kind not in KINDS:
        advice = ""
        if kind in ("floating", "planar"):
            advice = (
                ", which is not supported: the base is fixed; write prismatic and revolute joints one after another"
            )
        raise element.error(f"type: expected {', '.join(KINDS)}, found {short(kind)}{advice}")
    parent, child, axis = element.find("parent"), element.find("child"), element.find("axis")
    assert parent is not None  # checked by urdf_grammar
    assert child is not None
    direction: tuple[float, ...] = (1.0, 0.0, 0.0)
    if axis is not None:
        direction = _numbers(axis, "xyz", direction)
    limits, motor = _limits(element, kind), _motor(element)
    ends = parent.attributes["link"], child.attributes["link"]
    with _naming(axis or element):
        if KINDS[kind] == "fixed":  # its axis, limits and motor are ignored
            return Joint(name, *ends, "fixed", _origin(element))
        return Joint(name, *ends, KINDS[kind], _origin(element), direction, limits=limits, motor=motor)


def _limits(joint: Element, kind: str) -> Limits:
    """The limits in <limit>; a missing attribute means no limit."""
    limit = joint.find("limit")
    if limit is None:
        return Limits()
    found = {}
    for key in ("lower", "upper", "velocity", "effort"):
        value = _number(limit, key, -math.inf if key == "lower" else math.inf)
        found[key] = math.copysign(math.inf, value) if abs(value) >= UNLIMITED else value
    if kind == "fixed":
        return Limits()
    if kind == "continuous":
        found.update(lower=-math.inf, upper=math.inf)
    with _naming(limit):
        return Limits(**found)


def _motor(joint: Element) -> Motor:
    dynamics = joint.find("dynamics")
    if dynamics is None:
        return Motor()
    damping, friction, armature = (_number(dynamics, key, least=0.0) for key in ("damping", "friction", "armature"))
    minus, gear = _number(dynamics, "friction_minus", friction, least=0.0), np.float64(_number(dynamics, "gear", 1.0))
    with _naming(dynamics):
        return Motor(armature / gear**2, gear, damping / gear**2, (friction / abs(gear), minus / abs(gear)))


def _check_tree(links: Mapping[str, Element], elements: Mapping[str, Element], joints: Mapping[str, Joint]) -> None:
    """Checks that the links form one tree: every link but the root is the child of one joint."""
    joint_of: dict[str, str] = {}
    for name, joint in joints.items():
        for end, link in (("parent", joint.parent), ("child", joint.child)):
            if link not in links:
                raise (elements[name].find(end) or elements[name]).error(
                    f"expected the name of a link, found {short(link)}"
                )
        if other := joint_of.get(joint.child):
            where = f"{elements[other]} in line {elements[other].line}"
            raise elements[name].error(
                f"expected a child of its own, found {short(joint.child)}, the child of {where} too"
            )
        joint_of[joint.child] = name
    if loop := _loop({joint.child: joint.parent for joint in joints.values()}):
        element = elements[joint_of[loop]]
        raise element.error(f"expected a tree of links, found that {short(loop)} is carried by itself")
    roots = [name for name in links if name not in joint_of]
    if len(roots) > 1:
        raise links[roots[1]].error(f"expected one link that is no joint's child, found {len(roots)}: {listed(roots)}")


def _loop(up: Mapping[str, str]) -> str | None:
    """A name on a cycle of parents, if there is one."""
    safe: set[str] = set()
    for start in up:
        seen: set[str] = set()
        at = start
        while at in up and at not in safe:
            if at in seen:
                return at
            seen.add(at)
            at = up[at]
        safe |= seen
    return None


def _followers(elements: Mapping[str, Element], joints: Mapping[str, Joint]) -> dict[str, Mimic]:
    """The <mimic> rules of moving joints; those of fixed joints are ignored."""
    found = {}
    for name, element in elements.items():
        mimic = element.find("mimic")
        if mimic is None:
            continue
        rule = Mimic(mimic.attributes["joint"], _number(mimic, "multiplier", 1.0), _number(mimic, "offset", 0.0))
        if joints[name].kind == "fixed":
            continue
        if rule.joint not in joints or joints[rule.joint].kind == "fixed":
            kind = "a fixed joint" if rule.joint in joints else "no joint of this robot"
            raise mimic.error(f"joint: expected the name of a moving joint, found {short(rule.joint)}, {kind}")
        found[name] = rule
    if loop := _loop({name: rule.joint for name, rule in found.items()}):
        mimic = elements[loop].find("mimic") or elements[loop]
        raise mimic.error(
            f"joint: expected a joint that moves by itself in the end, found that {short(loop)} follows itself"
        )
    for name, rule in _unchained(found).items():
        if not (math.isfinite(rule.multiplier) and math.isfinite(rule.offset)):
            raise elements[name].error("mimic: expected finite numbers, found that they exceed float64 along the chain")
    return found


def _take_frames(elements: Mapping[str, Element], links: dict[str, Link], joints: dict[str, Joint]) -> Iterator[Frame]:
    """Takes off the links and fixed joints that `to_urdf` writes for frames."""
    parents = {joint.parent for joint in joints.values()}
    for name, element in elements.items():
        if element.attributes.get("frame") != "true":
            continue
        joint = joints.pop(name)
        link = links.pop(joint.child)
        if joint.kind != "fixed" or link.mass or np.any(link.inertia) or link.name in parents:
            raise element.error(f"frame: expected a fixed link without mass at the end, found {short(link.name)}")
        yield Frame(link.name, joint.parent, joint.origin)


def _take_tails(elements: Mapping[str, Element], links: dict[str, Link], joints: dict[str, Joint]) -> None:
    """Merges a moving joint and the fixed joint that `to_urdf` writes for its tail."""
    carried: dict[str, int] = {}
    for joint in joints.values():
        carried[joint.parent] = carried.get(joint.parent, 0) + 1
    for name, element in elements.items():
        moving = element.attributes.get("tail")
        if moving is None:
            continue
        tail, between = joints[name], joints[name].parent
        if tail.kind != "fixed" or moving not in joints or joints[moving].child != between:
            raise element.error(
                f"tail: expected the joint that carries the parent of this fixed one, found {short(moving)}"
            )
        if carried[between] > 1 or links[between].mass or np.any(links[between].inertia):
            raise element.error(f"tail: expected nothing else on its parent, found that {short(between)} carries more")
        both = np.asarray(joints[moving].tail) @ np.asarray(tail.origin)
        joints[moving] = replace(joints[moving], child=tail.child, tail=both)
        del joints[name], links[between]
