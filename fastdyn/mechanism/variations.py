"""Variations of a description: another gravity, a payload, locked joints. Robot's methods call these.

Physically impossible links were already warned of at construction: variations do not repeat the warning.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from fastdyn.errors import ArgumentError, RobotError
from fastdyn.inertia import compound
from fastdyn.mechanism.coupling import Coupling
from fastdyn.mechanism.description import Description, warn
from fastdyn.mechanism.parts import Joint, Limits, Link, Motor, checked_pose, frozen, number
from fastdyn.mechanism.poses import motion, named_link


def with_gravity(description: Description, gravity: ArrayLike) -> Description:
    """The same under another gravity vector, m/s^2 in the world."""
    return description.replace(gravity=frozen(gravity, (3,), "gravity"))


def with_mount(description: Description, mount: ArrayLike) -> Description:
    """The same with the base at another pose in the world, 4x4 or (x, y, z)."""
    return description.replace(mount=checked_pose(mount, "mount"))


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
) -> Description:
    """The same with a body added to its tip, or to the named link."""
    name = named_link(description, link)
    body = _body("payload", mass, com, inertia)

    def loaded(old: Link) -> Link:
        both = compound([(each.mass, each.inertia, each.com) for each in (old, body)])
        return Link(old.name, *both)

    return description.replace(links=[loaded(each) if each.name == name else each for each in description.all_links])


def with_tool(
    description: Description,
    mass: float,
    com: ArrayLike,
    inertia: ArrayLike | None,
    pose: ArrayLike | None,
    name: str,
    link: str | None,
) -> Description:
    """The same with a link fixed to its tip, or to the named link."""
    tool = _body(name, mass, com, inertia)
    origin = np.eye(4) if pose is None else pose
    joint = Joint(f"{name}_joint", named_link(description, link), name, "fixed", origin=origin)
    return description.replace(links=[*description.all_links, tool], joints=[*description.all_joints, joint])


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


def _body(name: str, mass: float, com: ArrayLike, inertia: ArrayLike | None) -> Link:
    body = Link(name, mass, com, np.zeros((3, 3)) if inertia is None else inertia)
    if doubt := body.doubts():
        warn(f"no real body can be what was given: {doubt}")
    return body
