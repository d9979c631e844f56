"""Forward kinematics of one sample in plain NumPy, for descriptions, drawings and tests; links by name."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from fastdyn.errors import ArgumentError
from fastdyn.geometry import turn
from fastdyn.mechanism.description import Mechanism
from fastdyn.mechanism.parts import Array, Joint, masked


def link_poses(robot: Mechanism, q: ArrayLike) -> dict[str, Array]:
    """The 4x4 pose of every link, fixed ones included, in the base link's frame; parents come before their children.

    q: (n,) rad or m. The pose in the world is `robot.mount @ pose`.

    >>> import fastdyn as fd
    >>> arm = fd.robots.two_link(length=1.0)
    >>> link_poses(arm, [np.pi / 2, 0.0])["link2"][:3, 3].round(12).tolist()
    [0.0, 2.0, 0.0]
    """
    values = coordinates(robot, q)
    children: dict[str, list[Joint]] = {}
    for joint in robot.all_joints:
        children.setdefault(joint.parent, []).append(joint)
    poses, waiting = {robot.base.name: np.eye(4)}, [robot.base.name]
    while waiting:
        parent = waiting.pop(0)
        for joint in children.get(parent, ()):
            poses[joint.child] = poses[parent] @ child_pose(joint, values.get(joint.name, 0.0))
            waiting.append(joint.child)
    return poses


def coordinates(robot: Mechanism, q: ArrayLike) -> dict[str, float]:
    """Joint names and their coordinates, from one sample q."""
    n = len(robot.joints)
    if masked(q):
        raise ArgumentError(f"q is a masked array: expected {n} numbers without a mask")
    try:
        array = np.asarray(q, dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise ArgumentError(f"q: expected {n} numbers, found {q!r}") from problem
    if array.shape != (n,):
        raise ArgumentError(f"q has shape {array.shape}, but {robot.name} has {n} joints: expected ({n},)")
    if not np.isfinite(array).all():
        raise ArgumentError(f"q: expected finite numbers, found {array.tolist()}")
    return {joint.name: float(value) for joint, value in zip(robot.joints, array, strict=True)}


def child_pose(joint: Joint, value: float) -> Array:
    """Pose of a joint's child link on its parent link when the joint's coordinate is `value`, rad or m."""
    pose: Array = np.asarray(joint.origin) @ motion(joint, value) @ np.asarray(joint.tail)
    return pose


def motion(joint: Joint, value: float) -> Array:
    """Pose of the moved joint frame on the joint frame at zero: rotation about the axis and/or translation along it."""
    axis, T = np.asarray(joint.axis), np.eye(4)
    if joint.kind in ("revolute", "helical"):
        T[:3, :3] = turn(axis, value)
    if joint.kind in ("prismatic", "helical"):
        T[:3, 3] = (value if joint.kind == "prismatic" else joint.pitch * value) * axis
    return T


def tips(robot: Mechanism) -> list[str]:
    """Names of the links without children; only those that move, if any does.

    >>> import fastdyn as fd
    >>> tips(fd.robots.puma560())
    ['link6']
    """
    parents = {joint.parent for joint in robot.all_joints}
    ends = [link.name for link in robot.all_links if link.name not in parents]
    moving = {joint.child for joint in robot.joints}
    return [name for name in ends if robot.carriers[name][0] in moving] or ends


def named_link(robot: Mechanism, link: str | None) -> str:
    """The named link, checked to exist; without a name the robot's only tip."""
    if link is None:
        ends = tips(robot)
        if len(ends) != 1:
            raise ArgumentError(f"{robot.name} has {len(ends)} tips: expected link to be given, one of {ends}")
        return ends[0]
    names = [each.name for each in robot.all_links]
    if link not in names:
        raise ArgumentError(f"link is {link!r}, which is no link of {robot.name}: expected one of {names}")
    return link
