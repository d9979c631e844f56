"""Description -> the flat arrays that fastdyn.formulations reads: a D-H table, or home placements and screws.

Motors (rotors and friction) are left out. Fixed links are lumped into the moving ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fastdyn.errors import FormulationError
from fastdyn.formulations import dh_rows, screw_rows
from fastdyn.geometry import go, homogeneous, inverse
from fastdyn.mechanism.description import Mechanism
from fastdyn.mechanism.parts import EPS, IDENTITY, Array

FARTHEST = 1000.0  # robot sizes: inertia about a D-H origin farther away is lost in rounding


@dataclass(frozen=True, eq=False)
class Chain:
    """Flat arrays of a chain, from the base outward."""

    name: str
    P: Array  # (ROWS, n): one row per quantity, one column per link
    kinds: NDArray[np.int64]  # (1, n): of the joints
    order: NDArray[np.int64]  # index of each joint in the user's q
    hand: Array  # the frame that texts have a load in, in the last link's own

    @property
    def n(self) -> int:
        """Number of joints."""
        return int(self.P.shape[1])

    @property
    def rotary(self) -> bool:
        """Whether all joints are revolute."""
        return not self.kinds.any()


@dataclass(frozen=True, eq=False)
class _Body:
    """A moving link of a chain, in the order of the chain."""

    index: int  # of its joint in the user's q
    before: Array  # pose of the joint's frame on the previous link, at q = 0
    moments: Array  # 4x4 moments about the link's frame, fixed links included


def dh_chain(robot: Mechanism) -> Chain:
    """A chain in standard D-H frames: the robot's own if it was described by a D-H table, else constructed."""
    for joint in robot.joints:
        if joint.kind == "helical":
            raise FormulationError(
                f"D-H formulations are for revolute and prismatic joints, but joint {joint.name!r} of {robot.name} is "
                "helical: use one by screws"
            )
    bodies = _bodies(robot)
    n = len(bodies)
    table, frames, gravity = _own_table(robot, bodies) or _constructed_table(robot, bodies)
    P = np.zeros((dh_rows.ROWS, n), order="F")
    P[dh_rows.COS_ALPHA : dh_rows.THETA + 1] = table
    for i, (body, frame) in enumerate(zip(bodies, frames, strict=True)):
        moved = inverse(frame) @ body.moments @ inverse(frame).T
        mass, com, inertia = about_centre(moved)
        P[dh_rows.MASS, i], P[dh_rows.SX : dh_rows.SZ + 1, i] = mass, com
        P[dh_rows.IXX : dh_rows.IYZ + 1, i] = _six(inertia)
        P[dh_rows.JXX : dh_rows.JYZ + 1, i] = _six(moved)
        P[dh_rows.HX : dh_rows.HZ + 1, i] = moved[:3, 3]
        P[dh_rows.GX : dh_rows.GZ + 1, i] = gravity
        P[dh_rows.LIFT_X : dh_rows.LIFT_Z + 1, i] = -mass * gravity
    return Chain(robot.name, _frozen(P), _kinds(robot, bodies), _order(bodies), frames[-1] if frames else IDENTITY)


def screw_chain(robot: Mechanism) -> Chain:
    """A chain in terms of screws, with frames at the centres of mass, parallel to the links' own frames."""
    bodies = _bodies(robot)
    P = np.zeros((screw_rows.ROWS, len(bodies)), order="F")
    gravity = robot.mount[:3, :3].T @ robot.gravity
    before = np.eye(4)  # frame i - 1 in the frame of link i - 1
    for i, body in enumerate(bodies):
        joint = robot.joints[body.index]
        mass, com, inertia = about_centre(body.moments)
        frame = go(*com)
        home = inverse(before) @ body.before @ np.asarray(joint.tail) @ frame  # M_{i-1,i}
        seen = inverse(np.asarray(joint.tail) @ frame)  # the joint's frame in frame i
        axis = seen[:3, :3] @ np.asarray(joint.axis)
        turning = [*axis, *np.cross(seen[:3, 3], axis) + joint.pitch * axis]
        screw = [0.0, 0.0, 0.0, *axis] if joint.kind == "prismatic" else turning
        back = inverse(home)
        P[screw_rows.RXX : screw_rows.RZZ + 1, i] = back[:3, :3].ravel()
        P[screw_rows.PX : screw_rows.PZ + 1, i] = back[:3, 3]
        P[screw_rows.WX : screw_rows.VZ + 1, i] = screw
        P[screw_rows.IXX : screw_rows.IYZ + 1, i] = _six(inertia)
        P[screw_rows.MASS, i] = mass
        P[screw_rows.GX : screw_rows.GZ + 1, i] = gravity
        P[screw_rows.TIPX : screw_rows.TIPZ + 1, i] = com
        before = frame
    return Chain(robot.name, _frozen(P), _kinds(robot, bodies), _order(bodies), IDENTITY)


def _bodies(robot: Mechanism) -> list[_Body]:
    """The moving links from the base outward; raises if they do not form a chain."""
    if robot.coupling is not None:
        raise FormulationError(f"{robot.name} is coupled: expected a robot whose joints move independently")
    carrier, moments = robot.carriers, robot.moments
    beyond: dict[str, list[int]] = {}
    for i, joint in enumerate(robot.joints):
        beyond.setdefault(carrier[joint.parent][0], []).append(i)
    found: list[_Body] = []
    at = robot.base.name
    while at in beyond:
        if len(beyond[at]) > 1:
            names = ", ".join(repr(robot.joints[i].name) for i in beyond[at])
            raise FormulationError(f"{robot.name} is a tree: link {at!r} carries the joints {names}; expected a chain")
        (i,) = beyond[at]
        joint = robot.joints[i]
        found.append(_Body(i, carrier[joint.parent][1] @ np.asarray(joint.origin), moments[i]))
        at = joint.child
    return found


Table = tuple[Array, list[Array], Array]  # rows COS_ALPHA to THETA; D-H frames in the links' own; gravity in frame 0


def _own_table(robot: Mechanism, bodies: list[_Body]) -> Table | None:
    """The robot's own D-H table: every joint axis is z, followed by d, a and alpha. None if it was not described so."""
    table = np.zeros((5, len(bodies)))
    for i, body in enumerate(bodies):
        joint, turn = robot.joints[body.index], body.before
        tail = np.asarray(joint.tail)
        along = (
            np.array_equal(np.asarray(joint.axis), (0, 0, 1))
            and np.array_equal(turn[:, 2:], np.eye(4)[:, 2:])
            and np.array_equal(tail[:3, 0], (1, 0, 0))
            and tail[1, 3] == 0
        )
        if not along:
            return None
        table[:, i] = tail[1, 1], tail[2, 1], tail[0, 3], tail[2, 3], math.atan2(turn[1, 0], turn[0, 0])
    return table, [np.eye(4)] * len(bodies), robot.mount[:3, :3].T @ robot.gravity


def _constructed_table(robot: Mechanism, bodies: list[_Body]) -> Table:
    """A table for any chain, from the joints' axes at zero: x_i along the common normal of the axes i and i + 1.

    The last frame is that of the last joint; parallel axes get the normal that makes d zero.
    """
    n = len(bodies)
    lines, links = _axes_at_zero(robot, bodies)
    size = 1e-9 + max((float(np.linalg.norm(b[0] - a[0])) for a, b in pairwise(lines)), default=0.0)
    table, frames = np.zeros((5, n)), []
    origin, z = lines[0]
    x = np.cross(np.eye(3)[int(np.argmin(np.abs(z)))], z)
    x /= np.linalg.norm(x)
    gravity = np.stack([x, np.cross(z, x), z]) @ robot.mount[:3, :3].T @ robot.gravity
    for i in range(n):
        foot, x_next, z_next, a, d = origin, x, z, 0.0, 0.0
        if i < n - 1:
            point, z_next = lines[i + 1]
            d, a, x_next = _normal(point - origin, z, z_next, x)
            foot = origin + d * z + a * x_next
            if np.linalg.norm(foot - origin) > FARTHEST * size:
                one, other = (robot.joints[bodies[k].index].name for k in (i, i + 1))
                raise FormulationError(
                    f"{robot.name} has no usable D-H table: the axes of {one!r} and {other!r} are so nearly parallel "
                    f"that their common normal lies {FARTHEST:g} times farther off than the robot is large"
                )
        turn, twist = np.cross(x, x_next) @ z, np.cross(z, z_next) @ x_next
        length = math.hypot(z @ z_next, twist)
        table[:, i] = z @ z_next / length, twist / length, a, d, math.atan2(turn, x @ x_next)
        frame = homogeneous(np.column_stack([x_next, np.cross(z_next, x_next), z_next]), foot)
        frames.append(inverse(links[i]) @ frame)
        origin, x, z = foot, x_next, z_next
    return table, frames, gravity


def _axes_at_zero(robot: Mechanism, bodies: list[_Body]) -> tuple[list[tuple[Array, Array]], list[Array]]:
    """A point and the direction of each joint axis, and the links' poses, in the base frame at q = 0."""
    lines, links, pose = [], [], np.eye(4)
    for body in bodies:
        joint = robot.joints[body.index]
        pose = pose @ body.before
        lines.append((pose[:3, 3], pose[:3, :3] @ np.asarray(joint.axis)))
        pose = pose @ np.asarray(joint.tail)
        links.append(pose)
    return lines, links


def _normal(way: Array, z: Array, z_next: Array, x: Array) -> tuple[float, float, Array]:
    """The common normal of two lines: its offset along z, its length and its direction.

    way: from a point of the first line to one of the second. x: the direction if the lines coincide.
    """
    across = np.cross(z, z_next)
    square = float(across @ across)
    if square > (8 * EPS) ** 2:
        along = float(np.cross(way, z_next) @ across) / square
        x_next = across / math.sqrt(square)
        return along, float(way @ x_next), x_next
    way = way - (way @ z) * z
    length = float(np.linalg.norm(way))
    return 0.0, length, way / length if length > 0 else x


def about_centre(moments: Array) -> tuple[float, Array, Array]:
    """Mass, centre of mass and the inertia tensor about it, from 4x4 moments [[J, h], [h^T, m]]."""
    mass = float(moments[3, 3])
    com = moments[:3, 3] / mass if mass else np.zeros(3)
    J = moments[:3, :3] - mass * np.outer(com, com)
    return mass, com, np.trace(J) * np.eye(3) - J


def _six(M: Array) -> list[float]:
    return [float(M[i]) for i in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]


def _kinds(robot: Mechanism, bodies: list[_Body]) -> NDArray[np.int64]:
    kinds = [[int(robot.joints[body.index].kind == "prismatic") for body in bodies]]
    return _frozen(np.array(kinds, dtype=np.int64).reshape(1, len(bodies)))


def _order(bodies: list[_Body]) -> NDArray[np.int64]:
    return _frozen(np.array([body.index for body in bodies], dtype=np.int64))


A = TypeVar("A", bound=np.ndarray[Any, Any])


def _frozen(array: A) -> A:
    array.flags.writeable = False
    return array
