"""Robots made from robots: with a payload, with a tool, with joints locked. Robot has methods that call these."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from fastdyn.errors import ArgumentError, RobotError, RobotWarning
from fastdyn.inertia import compound
from fastdyn.mechanism.parts import Joint, Limits, Link, Motor, number
from fastdyn.mechanism.poses import motion, named_link

if TYPE_CHECKING:
    from fastdyn.robot import Robot


def with_payload(
    robot: Robot,
    mass: float,
    com: ArrayLike = (0.0, 0.0, 0.0),
    inertia: ArrayLike | None = None,
    link: str | None = None,
) -> Robot:
    """The same robot, carrying a body: it becomes part of the robot's tip, or of the link that is named.

    com: the payload's centre of mass in that link's frame, m; inertia: about it, along the frame's axes (a point mass
    if not given). Links, joints and their names stay as they are. A robot with several tips needs `link`.

    >>> import fastdyn as fd
    >>> arm = fd.robots.two_link(m1=1.0, m2=1.0, length=1.0, g=10.0)
    >>> with_payload(arm, 2.0).gravity_forces([0.0, 0.0]).round(12)
    array([60., 25.])
    """
    name = named_link(robot, link)
    body = _body("payload", mass, com, inertia)

    def loaded(old: Link) -> Link:
        both = compound([(each.mass, each.inertia, each.com) for each in (old, body)])
        return Link(old.name, *both)

    return robot._again(links=[loaded(each) if each.name == name else each for each in robot.all_links])


def with_tool(
    robot: Robot,
    mass: float = 0.0,
    com: ArrayLike = (0.0, 0.0, 0.0),
    inertia: ArrayLike | None = None,
    pose: ArrayLike | None = None,
    name: str = "tool",
    link: str | None = None,
) -> Robot:
    """The same robot with a link fixed to its tip, or to the link that is named: a body with a frame and a name.

    pose: of the tool's frame in the carrying link's frame, 4x4 (the same frame if not given); com and inertia (about
    the centre of mass): in the tool's frame. The fixed joint is called `<name>_joint`.

    >>> import fastdyn as fd
    >>> arm = with_tool(fd.robots.puma560(), 0.5, (0, 0, 0.05), name="gripper")
    >>> arm.n, arm.all_links[-1].name, arm.all_joints[-1].parent
    (6, 'gripper', 'link6')
    """
    tool = _body(name, mass, com, inertia)
    joint = Joint(f"{name}_joint", named_link(robot, link), name, "fixed", origin=np.eye(4) if pose is None else pose)
    return robot._again(links=[*robot.all_links, tool], joints=[*robot.all_joints, joint])


def locked(robot: Robot, values: Mapping[str, float]) -> Robot:
    """The robot with the named joints held at the given coordinates, rad or m: they become fixed joints.

    The others keep their order in q. A locked joint has no limits and no motor: its rotor stands still on its link.
    A value outside the joint's limits is an error.

    >>> import fastdyn as fd
    >>> arm = locked(fd.robots.puma560(), {"joint2": 0.3, "joint5": -1.0})
    >>> arm.n, [joint.name for joint in arm.joints]
    (4, ['joint1', 'joint3', 'joint4', 'joint6'])
    """
    if not isinstance(values, Mapping):
        raise ArgumentError(f"locked: expected a mapping from joint names to coordinates, found {values!r}")
    moving = [joint.name for joint in robot.joints]
    for name in values:
        if name not in moving:
            raise ArgumentError(f"locked names {name!r}, which is no moving joint of {robot.name}: {moving}")
    return robot._again(joints=[_lock(j, values[j.name]) if j.name in values else j for j in robot.all_joints])


def _lock(joint: Joint, value: float) -> Joint:
    try:
        at = number(value, f"locked[{joint.name!r}]")
    except RobotError as problem:
        raise ArgumentError(str(problem)) from problem
    low, high = joint.limits.lower, joint.limits.upper
    slack = 1e-9 * max(1.0, abs(at))  # limits typed in degrees or with few digits are met up to rounding
    if not low - slack <= at <= high + slack:
        unit = "m" if joint.kind == "prismatic" else "rad"
        raise ArgumentError(f"locked[{joint.name!r}] is {at} {unit}: expected a value in [{low}, {high}], its limits")
    origin = np.asarray(joint.origin) @ motion(joint, at)
    return replace(joint, kind="fixed", origin=origin, limits=Limits(), motor=Motor(), pitch=0.0)


def _body(name: str, mass: float, com: ArrayLike, inertia: ArrayLike | None) -> Link:
    body = Link(name, mass, com, np.zeros((3, 3)) if inertia is None else inertia)
    if doubt := body.doubts():
        warnings.warn(f"no real body can be what was given: {doubt}", RobotWarning, stacklevel=4)
    return body
