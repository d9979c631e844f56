"""Forward kinematics of one sample, and reach, in plain NumPy, for descriptions, drawings and tests; links by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import ArrayLike

from fastdyn.arrays import Array, masked
from fastdyn.errors import ArgumentError
from fastdyn.mechanism.description import Mechanism
from fastdyn.mechanism.parts import Joint
from fastdyn.rotations import turn

SWEPT, SCATTERED = 13, 500  # positions: of each joint by itself, and of all joints at random


def link_poses(robot: Mechanism, q: ArrayLike) -> dict[str, Array]:
    """The 4x4 pose of every link, fixed ones included, in the base link's frame; parents come before their children.

    q: (n,) rad or m, of a coupled robot its own coordinates. The pose in the world is `robot.mount @ pose`.

    >>> import fastdyn as fd
    >>> arm = fd.robots.two_link(length=1.0)
    >>> link_poses(arm, [np.pi / 2, 0.0])["link2"][:3, 3].round(12).tolist()
    [0.0, 2.0, 0.0]
    """
    return poses_at(robot, coordinates(robot, q))


def poses_at(robot: Mechanism, values: Mapping[str, float]) -> dict[str, Array]:
    """As link_poses, from the positions of the joints by name."""
    poses = {robot.base.name: np.eye(4)}
    for joint in outward(robot):
        poses[joint.child] = poses[joint.parent] @ child_pose(joint, values.get(joint.name, 0.0))
    return poses


def outward(robot: Mechanism) -> Iterator[Joint]:
    """All joints, fixed ones included, those nearer to the base first."""
    children: dict[str, list[Joint]] = {}
    for joint in robot.all_joints:
        children.setdefault(joint.parent, []).append(joint)
    waiting = [robot.base.name]
    while waiting:
        for joint in children.get(waiting.pop(0), ()):
            yield joint
            waiting.append(joint.child)


def coordinates(robot: Mechanism, q: ArrayLike) -> dict[str, float]:
    """Joint names and their coordinates, from one sample q; of a coupled robot q is in its own coordinates."""
    coupling = robot.coupling
    n, unit = (len(robot.joints), "joints") if coupling is None else (coupling.m, "coordinates")
    if masked(q):
        raise ArgumentError(f"q is a masked array: expected {n} numbers without a mask")
    try:
        array = np.asarray(q, dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise ArgumentError(f"q: expected {n} numbers, found {q!r}") from problem
    if array.shape != (n,):
        raise ArgumentError(f"q has shape {array.shape}, but {robot.name} has {n} {unit}: expected ({n},)")
    if not np.isfinite(array).all():
        raise ArgumentError(f"q: expected finite numbers, found {array.tolist()}")
    if coupling is not None:
        array = coupling.G @ array + coupling.offset
    return {joint.name: float(value) for joint, value in zip(robot.joints, array, strict=True)}


def child_pose(joint: Joint, value: float) -> Array:
    """Pose of a joint's child link on its parent link when the joint's coordinate is `value`, rad or m."""
    pose: Array = np.asarray(joint.origin) @ motion(joint, value) @ np.asarray(joint.tail)
    return pose


def motion(joint: Joint, value: ArrayLike) -> Array:
    """Pose of the moved joint frame on the joint frame at zero: rotation about the axis and/or translation along it.

    value: (...), rad or m; the pose: (..., 4, 4).
    """
    axis, found = np.asarray(joint.axis), np.asarray(value, dtype=np.float64)
    T = np.tile(np.eye(4), (*found.shape, 1, 1))
    if joint.kind in ("revolute", "helical"):
        T[..., :3, :3] = turn(axis, found)
    if joint.kind in ("prismatic", "helical"):
        T[..., :3, 3] = (found if joint.kind == "prismatic" else joint.pitch * found)[..., None] * axis
    return T


def reach(robot: Mechanism, rest: ArrayLike, travel: float) -> Array:
    """The box in the world that a robot's links and joints occupied in many positions, the same ones in every call.

    (2, 3): the least and the greatest x, y and z, m. Each joint goes through its range from the position `rest`, (n,),
    and all joints take random positions. Without limits they turn by pi and slide by `travel` m, both ways.

    >>> import fastdyn as fd
    >>> reach(fd.robots.two_link(length=1.0), [0.0, 0.0], 0.0).round(2).tolist()
    [[-2.0, -2.0, 0.0], [2.0, 2.0, 0.0]]
    """
    n = len(robot.joints)
    free = [(-travel, travel) if joint.kind == "prismatic" else (-np.pi, np.pi) for joint in robot.joints]
    limits = np.array([(joint.limits.lower, joint.limits.upper) for joint in robot.joints]).reshape(n, 2)
    low, high = np.where(np.isfinite(limits), limits, np.reshape(free, (n, 2))).T
    swept = np.tile(np.asarray(rest, dtype=np.float64), (n, SWEPT, 1))
    for i in range(n):
        swept[i, :, i] = np.linspace(low[i], high[i], SWEPT)
    q = np.vstack([swept.reshape(n * SWEPT, n), np.random.default_rng(0).uniform(low, high, (SCATTERED, n))])
    places = {joint.name: k for k, joint in enumerate(robot.joints)}
    poses, points = {robot.base.name: robot.mount}, [robot.mount[:3, 3]]
    for joint in outward(robot):
        hinge = poses[joint.parent] @ np.asarray(joint.origin)
        moved = hinge @ motion(joint, q[:, places[joint.name]]) if joint.name in places else hinge
        poses[joint.child] = moved @ np.asarray(joint.tail)
        points += [*np.atleast_2d(hinge[..., :3, 3]), *np.atleast_2d(poses[joint.child][..., :3, 3])]
    return np.array([np.min(points, axis=0), np.max(points, axis=0)])


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
