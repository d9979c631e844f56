"""Variations of a description: another gravity, a payload, locked joints. Robot's methods call these.

Physically impossible links were already warned of at construction: variations do not repeat the warning.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fastdyn.errors import ArgumentError, RobotError
from fastdyn.geometry import point_inertia
from fastdyn.mechanism.coupling import Coupling
from fastdyn.mechanism.description import Description, warn
from fastdyn.mechanism.parts import IDENTITY, Array, Joint, Limits, Link, Motor, frozen, number
from fastdyn.mechanism.parts import pose as checked_pose
from fastdyn.mechanism.poses import motion, named_link


class Load(NamedTuple):
    """What a payload or a tool adds: 4x4 moments, in the frame of the link that a joint moves."""

    joint: int  # index in q; -1 for the base
    moments: Array


def with_gravity(description: Description, gravity: ArrayLike) -> Description:
    """The same under another gravity vector, m/s^2 in the world."""
    return description.with_world(frozen(gravity, (3,), "gravity"), description.mount)


def with_mount(description: Description, mount: ArrayLike) -> Description:
    """The same with the base at another 4x4 pose in the world."""
    return description.with_world(description.gravity, checked_pose(mount, "mount"))


def without_friction(description: Description) -> Description:
    """The same with frictionless motors; rotors stay."""
    return _with_motors(description, Motor.without_friction)


def without_motors(description: Description) -> Description:
    """The same without rotors and friction."""
    return _with_motors(description, lambda motor: Motor())


def coupled(
    description: Description,
    G: ArrayLike,
    offset: ArrayLike | None = None,
    names: Sequence[str] | None = None,
    motors: Sequence[Motor | None] | None = None,
) -> Description:
    """The same in coordinates that drive its joints, or its present coordinates: see Coupling."""
    outer = description.coupling
    inner = Coupling(G, offset, names, motors, n=description.n if outer is None else outer.m)
    return description.replace(coupling=inner if outer is None else outer.compose(inner))


def with_payload(
    description: Description, mass: float, com: ArrayLike, inertia: ArrayLike | None, link: str | None
) -> tuple[Description, Load]:
    """The same with a body added to its tip, or to the named link; and what that adds to its model."""
    name = named_link(description, link)
    body = checked_body("payload", mass, com, inertia)
    old = next(each for each in description.all_links if each.name == name)
    return description.with_link(_joined(old, body)), _load(description, name, body)


def with_tool(
    description: Description,
    mass: float,
    com: ArrayLike,
    inertia: ArrayLike | None,
    pose: ArrayLike | None,
    name: str,
    link: str | None,
) -> tuple[Description, Load]:
    """The same with a link fixed to its tip, or to the named link; and what that adds to its model."""
    tool = checked_body(name, mass, com, inertia)
    origin = IDENTITY if pose is None else pose
    joint = Joint(f"{name}_joint", named_link(description, link), name, "fixed", origin=origin)
    made = description.with_fixed_link(tool, joint)
    return made, _load(made, name, tool)


def locked(description: Description, values: Mapping[str, float]) -> Description:
    """The same with the named joints fixed at the given coordinates, rad or m."""
    if not isinstance(values, Mapping):
        raise ArgumentError(f"locked: expected a mapping from joint names to coordinates, found {values!r}")
    moving = [joint.name for joint in description.joints]
    for name in values:
        if name not in moving:
            raise ArgumentError(f"locked names {name!r}, which is no moving joint of {description.name}: {moving}")
    joints = [_lock(j, values[j.name]) if j.name in values else j for j in description.all_joints]
    return description.replace(joints=joints)


def _with_motors(description: Description, change: Callable[[Motor], Motor]) -> Description:
    coupling = description.coupling
    if coupling is not None:
        coupling = Coupling(coupling.G, coupling.offset, coupling.names, [change(motor) for motor in coupling.motors])
    joints = [replace(joint, motor=change(joint.motor)) for joint in description.all_joints]
    return description.replace(joints=joints, coupling=coupling)


def _lock(joint: Joint, value: float) -> Joint:
    try:
        at = number(value, f"locked[{joint.name!r}]")
    except RobotError as problem:
        raise ArgumentError(str(problem)) from problem
    low, high = joint.limits.lower, joint.limits.upper
    slack = 1e-9 * max(1.0, abs(at))  # tolerance for limits given in degrees or with few digits
    if not low - slack <= at <= high + slack:
        unit = "m" if joint.kind == "prismatic" else "rad"
        raise ArgumentError(f"locked[{joint.name!r}] is {at} {unit}: expected a value in [{low}, {high}], its limits")
    origin = np.asarray(joint.origin) @ motion(joint, at)
    return replace(joint, kind="fixed", origin=origin, limits=Limits(), motor=Motor(), pitch=0.0)


def checked_body(name: str, mass: float, com: ArrayLike, inertia: ArrayLike | None) -> Link:
    """A body to be added: an error names what is wrong with it, a warning what no real body can have."""
    body = Link(name, mass, com, np.zeros((3, 3)) if inertia is None else inertia)
    if doubt := body.doubts():
        warn(f"no real body can be what was given: {doubt}")
    return body


def _joined(link: Link, body: Link) -> Link:
    """A link and a body given in its frame as one link."""
    mass, a, b = link.mass + body.mass, np.asarray(link.com), np.asarray(body.com)
    share = body.mass / mass if mass > 0 else 0.0
    inertia = np.asarray(link.inertia) + np.asarray(body.inertia) + link.mass * share * point_inertia(b - a)
    return Link(link.name, mass, a + share * (b - a), inertia, link.as_found)


def _load(description: Description, name: str, body: Link) -> Load:
    joint, where = description.place(name)
    return Load(joint, body.moments(where))
