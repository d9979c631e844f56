"""Variations of a description: another gravity, a payload, locked joints. Robot's methods call these.

Physically impossible links were already warned of at construction: variations do not repeat the warning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fastdyn.errors import ArgumentError, RobotError
from fastdyn.geometry import point_inertia
from fastdyn.mechanism.coupling import Coupling
from fastdyn.mechanism.description import Description, warn
from fastdyn.mechanism.frames import named_frame
from fastdyn.mechanism.limits import outside
from fastdyn.mechanism.parts import IDENTITY, Array, Frame, Joint, Limits, Link, Motor, checked_pose, frozen, number
from fastdyn.mechanism.poses import motion, named_link


class Load(NamedTuple):
    """What a payload or a tool adds: 4x4 moments, in the frame of the link that a joint moves."""

    joint: int  # index in q; -1 for the base
    moments: Array


def with_gravity(description: Description, gravity: ArrayLike) -> Description:
    """The same under another gravity vector, m/s^2 in the world."""
    return description.with_world(frozen(gravity, (3,), "gravity"), description.mount)


def with_mount(description: Description, mount: ArrayLike) -> Description:
    """The same with the base at another pose in the world, 4x4 or (x, y, z)."""
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
    limits: Sequence[Limits | None] | None = None,
) -> Description:
    """The same in coordinates that drive its joints, or its present coordinates: see Coupling."""
    outer = description.coupling
    inner = Coupling(G, offset, names, motors, limits, n=description.n if outer is None else outer.m)
    return description.replace(coupling=inner if outer is None else outer.compose(inner))


def with_payload(
    description: Description, mass: float, com: ArrayLike, inertia: ArrayLike | None, link: str | None
) -> tuple[Description, Load]:
    """The same with a body added to its tip, or to the named link; and what that adds to its model."""
    name = named_link(description, link)
    body = checked_body("payload", mass, com, inertia)
    old = next(each for each in description.all_links if each.name == name)
    return description.with_link(_joined(old, body)), _load(description, name, body)


def with_empty_links(description: Description, names: Iterable[str]) -> Description:
    """The same with some links that have no mass and no inertia."""
    links = {each.name: each for each in description.all_links}
    for name in names:
        description = description.with_link(replace(links[name], mass=0.0, inertia=np.zeros((3, 3))))
    return description


def with_body(description: Description, link: Link) -> tuple[Description, Load]:
    """The same with a link in place of an empty one of its name; and what that adds to its model."""
    return description.with_link(link), _load(description, link.name, link)


def several(description: Description, payloads: Mapping[str, ArrayLike], **links: Any) -> list[tuple[list[Link], Any]]:
    """What differs between robots, for each of them: links, and a payload as keyword arguments.

    payloads: mass (R,) and com (R, 3), or empty; links: mass, com, inertia, each {link: (R, ...)} or None.
    """
    cores: dict[str, tuple[int, ...]] = {"mass": (), "com": (3,), "inertia": (3, 3)}
    given = {f"payload {what}": _several(value, cores[what], f"payload {what}") for what, value in payloads.items()}
    names, changed = {each.name: each for each in description.all_links}, dict[str, dict[str, str]]()
    for what, values in links.items():
        if values is None:
            continue
        if not isinstance(values, Mapping):
            raise ArgumentError(f"{what}: expected a mapping from link names to values, found {values!r}")
        for name, value in values.items():
            if name not in names:
                raise ArgumentError(f"{what} names {name!r}, which is no link of {description.name}: {list(names)}")
            changed.setdefault(name, {})[what] = where = f"{what}[{name!r}]"
            given[where] = _several(value, cores[what], where)
    if not given:
        raise ArgumentError("vary: expected mass, com, inertia or payload, found none")
    count = max(map(len, given.values()))
    for what, array in given.items():
        if len(array) not in (1, count):
            raise ArgumentError(f"{what}: expected values for {count} robots, as of others, found {len(array)}")

    def of_robot(where: str, k: int) -> Any:
        return given[where][k % len(given[where])]

    found: list[tuple[list[Link], Any]] = []
    for k in range(count):
        made = [
            replace(names[name], **{what: of_robot(where, k) for what, where in values.items()})
            for name, values in changed.items()
        ]
        found.append((made, {what: of_robot(f"payload {what}", k) for what in payloads}))
    for k, (made, _) in enumerate(found):
        for link in made:
            if not names[link.name].doubts() and (doubt := link.doubts()):
                warn(f"no real body can be link {link.name!r} of robot {k} of the fleet: it {doubt}")
                return found  # one warning is enough
    return found


def _several(values: ArrayLike, core: tuple[int, ...], what: str) -> Array:
    """(R, ...) of finite numbers, one value for each robot; R = 1 for a single value."""
    try:
        shape = np.shape(values)
    except ValueError as problem:
        raise ArgumentError(f"{what}: expected a rectangular array, found {values!r}") from problem
    lead = shape[: len(shape) - len(core)]
    if len(lead) > 1 or shape[len(lead) :] != core or lead == (0,):
        expected = ", ".join(["R", *map(str, core)])
        raise ArgumentError(f"{what}: expected shape ({expected}), one value for each robot, found shape {shape}")
    return frozen(values, shape, what).reshape(-1, *core)


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


def new_frame(description: Description, name: str, on: str | None, pose: ArrayLike | None) -> Frame:
    """A frame on a link, or on a frame of a link, or on the tip; not yet part of the description."""
    carrier = named_frame(description, on)
    here = Frame(name, carrier.on, IDENTITY if pose is None else pose)
    return Frame(name, carrier.on, np.asarray(carrier.pose) @ np.asarray(here.pose))


def locked(description: Description, values: Mapping[str, float] | None) -> Description:
    """The same with the named joints or coordinates held at the given values, rad or m; with all free if None."""
    if values is None:
        return description
    if not isinstance(values, Mapping):
        raise ArgumentError(f"locked: expected a mapping from joint names to coordinates, found {values!r}")
    if description.coupling is not None and values:
        return _held(description, description.coupling, values)
    moving = [joint.name for joint in description.joints]
    for name in values:
        if name not in moving:
            raise ArgumentError(f"locked names {name!r}, which is no moving joint of {description.name}: {moving}")
    at = {name: _value(name, value) for name, value in values.items()}
    for joint in description.joints:
        if joint.name in at:
            _check_limits(joint, at[joint.name], f"locked[{joint.name!r}] is")
    return description.replace(joints=[_fixed(j, at[j.name]) if j.name in at else j for j in description.all_joints])


def _held(description: Description, coupling: Coupling, values: Mapping[str, float]) -> Description:
    """The same with some coordinates held: the joints that no other coordinate moves become fixed."""
    held: dict[int, float] = {}
    for name, value in values.items():
        k, at = _coordinate(description, coupling, name, _value(name, value))
        if k in held:
            raise ArgumentError(f"locked names {name!r} and another name for coordinate {coupling.names[k]!r}")
        own = coupling.limits[k]
        if outside(at, own.lower, own.upper):
            raise ArgumentError(
                f"locked[{name!r}] is {value}: expected a value in [{own.lower}, {own.upper}], its limits"
            )
        held[k] = at
    free = [k for k in range(coupling.m) if k not in held]
    G, gain = coupling.G[:, free], coupling.G[:, list(held)]
    offset = coupling.offset + gain @ list(held.values())
    still = ~G.any(axis=1)
    at_rest = {}
    for i in np.flatnonzero(still):
        joint = description.joints[i]
        at_rest[joint.name] = float(offset[i])
        if gain[i].any():
            _check_limits(joint, float(offset[i]), f"locked: joint {joint.name!r} would stand at")
    joints = [_fixed(j, at_rest[j.name]) if j.name in at_rest else j for j in description.all_joints]
    names, motors = [coupling.names[k] for k in free], [coupling.motors[k] for k in free]
    limits = [coupling.limits[k] for k in free]
    rest = Coupling(G[~still], offset[~still], names, motors, limits) if free else None
    moving = [joint for joint in joints if joint.kind != "fixed"]
    return description.replace(joints=joints, coupling=None if rest is None or rest.is_trivial(moving) else rest)


def _coordinate(description: Description, coupling: Coupling, name: str, value: float) -> tuple[int, float]:
    """The coordinate of that name, or the one that moves the joint of that name and no other joint; and its value."""
    if name in coupling.names:
        return coupling.names.index(name), value
    joints = [joint.name for joint in description.joints]
    if name not in joints:
        raise ArgumentError(
            f"locked names {name!r}, which is no coordinate of {description.name}: {list(coupling.names)}, "
            f"and no moving joint: {joints}"
        )
    row = coupling.G[joints.index(name)]
    movers = np.flatnonzero(row)
    if len(movers) != 1:
        by = [coupling.names[k] for k in movers] or "none"
        raise ArgumentError(f"locked names joint {name!r}: expected a joint that one coordinate moves, found {by}")
    (k,) = movers.tolist()
    others = [joints[i] for i in np.flatnonzero(coupling.G[:, k]) if joints[i] != name]
    if others:
        raise ArgumentError(
            f"locked names joint {name!r}, which moves together with {others}: expected the name of the coordinate "
            f"that moves them, {coupling.names[k]!r}"
        )
    return k, (value - float(coupling.offset[joints.index(name)])) / float(row[k])


def _with_motors(description: Description, change: Callable[[Motor], Motor]) -> Description:
    coupling = description.coupling
    if coupling is not None:
        motors = [change(motor) for motor in coupling.motors]
        coupling = Coupling(coupling.G, coupling.offset, coupling.names, motors, coupling.limits)
    joints = [replace(joint, motor=change(joint.motor)) for joint in description.all_joints]
    return description.replace(joints=joints, coupling=coupling)


def _value(name: str, value: float) -> float:
    try:
        return number(value, f"locked[{name!r}]")
    except RobotError as problem:
        raise ArgumentError(str(problem)) from problem


def _check_limits(joint: Joint, at: float, said: str) -> None:
    low, high = joint.limits.lower, joint.limits.upper
    if outside(at, low, high):
        unit = "m" if joint.kind == "prismatic" else "rad"
        raise ArgumentError(f"{said} {at} {unit}: expected a value in [{low}, {high}], its limits")


def _fixed(joint: Joint, at: float) -> Joint:
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
