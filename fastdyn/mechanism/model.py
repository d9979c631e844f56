"""Description -> Model: the flat arrays that kernels read. rows.py defines the rows.

The description is transformed in three ways, none of which changes a torque:

1. Fixed joints are removed: their links' inertia is lumped into the moving link that carries them.
2. Frames are made canonical. A link's frame has its z axis along its joint; its x axis is the common normal towards the
   next child, and its origin the foot of the common normal from the parent. Then a rotation costs 8 multiplications and
   the translation from parent to child has two components. Where the foot is too far away (nearly parallel axes, as
   from rounded angles in files), the origin stays at the joint's: inertia about a distant point would be lost in
   rounding.
3. Inertial parameters are regrouped: those that do not act on a joint move to the parent. Rotation about z does not
   move mass on the axis, so a revolute link gives up m, h_z and J_zz; translation does not involve rotational inertia,
   so a prismatic link gives up J; a helical link gives up what both have in common, J_zz.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fastdyn.geometry import inverse
from fastdyn.kernels import rows as r
from fastdyn.mechanism.parts import EPS, Array, Joint

BITS = {"revolute": 0, "prismatic": r.PRISMATIC, "helical": r.HELICAL}  # of KIND


@dataclass(frozen=True, eq=False)
class Model:
    """Flat arrays of a robot, in the kernels' own order of links."""

    P: Array  # (ROWS, n): one row per quantity, one column per link
    tree: NDArray[np.int64]  # (3, n): parent, kind, index in the user's q

    @property
    def n(self) -> int:
        """Number of joints."""
        return int(self.P.shape[1])

    @cached_property
    def single(self) -> NDArray[np.float32]:
        """P in single precision; singularity thresholds are scaled to its rounding."""
        P = self.P.copy(order="F")
        P[r.SMALLEST] *= np.finfo(np.float32).eps / EPS
        rounded = np.asfortranarray(P, dtype=np.float32)
        rounded.flags.writeable = False
        return rounded


@dataclass
class Node:
    """A joint and its link, which become a column of P."""

    joint: Joint
    index: int  # in the user's q
    parent: int  # in the user's q; -1 for the base
    before: Array  # pose of the joint's frame at q = 0 in the user's frame of the carrying link
    moments: Array  # 4x4 moments about the user's link frame, fixed children included
    frame: Array | None = None  # pose of the canonical frame in the user's link frame
    turn: float = 0.0  # angle about z from the axis frame to the canonical one


def build(nodes: Sequence[Node], gravity: Array, mount: Array) -> Model:
    """The Model of joints in the user's order. gravity: in the world; mount: the base's pose in the world."""
    size = _size(nodes)
    children: dict[int, list[int]] = {i: [] for i in range(-1, len(nodes))}
    for node in nodes:
        children[node.parent].append(node.index)
    order = _depth_first(children)
    place = {index: i for i, index in enumerate(order)}
    n = len(nodes)
    P = np.zeros((r.ROWS, n), order="F")  # a link's column is contiguous
    tree = np.zeros((3, n), dtype=np.int64)
    poses = [_place(P, tree, place, nodes, children, nodes[index], size, mount.T[:3, :3] @ gravity) for index in order]
    P[r.BASE_GX : r.BASE_GZ + 1] = -(mount.T[:3, :3] @ gravity)[:, None]
    P[r.BASE_POTENTIAL] = -gravity @ mount[:3, 3]
    for i, index in enumerate(order):
        _drive(P, tree, i, nodes[index].joint)
    moments = [_in_canonical(nodes[index]) for index in order]
    _thresholds(P, tree, poses, moments)
    _lump(P, tree, poses, moments)
    for array in (P, tree):
        array.flags.writeable = False
    return Model(P, tree)


def _size(nodes: Sequence[Node]) -> float:
    """About the length of the longest link: limits how far an origin may move along its axis."""
    reach = [
        float(np.linalg.norm(node.before[:3, 3]) + np.linalg.norm(np.asarray(node.joint.tail)[:3, 3])) for node in nodes
    ]
    return max(reach, default=0.0) + EPS


def _depth_first(children: dict[int, list[int]]) -> list[int]:
    """Parents before children; after each link its child with the largest subtree, so that chains are contiguous."""
    below: dict[int, int] = {}
    stack, seen = [-1], []
    while stack:
        index = stack.pop()
        seen.append(index)
        stack.extend(children[index])
    for index in reversed(seen):
        below[index] = 1 + sum(below[c] for c in children[index])
    order, stack = [], [-1]
    while stack:
        index = stack.pop()
        order.append(index)
        stack.extend(sorted(children[index], key=lambda c: (below[c], -c)))
    return order[1:]


def _axis_frame(axis: Array) -> Array:
    """A rotation whose z axis is the given direction; the identity if that is z itself."""
    x, y, z = axis
    if x == 0 and y == 0:
        return np.diag([1.0, 1.0, 1.0] if z > 0 else [1.0, -1.0, -1.0])
    helper = np.eye(3)[int(np.argmin(np.abs(axis)))]
    first = np.cross(helper, axis)
    first /= np.linalg.norm(first)
    return np.column_stack([first, np.cross(axis, first), axis])


def _way(node: Node, nodes: Sequence[Node]) -> tuple[Array, Array]:
    """Rotation and position of the joint's axis frame in the parent's canonical frame."""
    before = node.before
    if node.parent >= 0:
        frame = nodes[node.parent].frame
        assert frame is not None
        before = inverse(frame) @ before
    return before[:3, :3] @ _axis_frame(np.asarray(node.joint.axis)), before[:3, 3]


def _angles(R: Array, p: Array) -> tuple[float, float, float]:
    """gamma, cos and sin of alpha with R = Rz(gamma) Rx(alpha) Rz(.): gamma turns x onto the common normal."""
    sine = math.hypot(R[0, 2], R[1, 2])
    if sine <= 4 * EPS:  # parallel up to rounding: take the normal through the joint's origin
        return (math.atan2(p[1], p[0]) if math.hypot(p[0], p[1]) > 0 else 0.0), math.copysign(1.0, R[2, 2]), 0.0
    length = math.hypot(sine, R[2, 2])
    return math.atan2(R[0, 2], -R[1, 2]), R[2, 2] / length, sine / length


def _rotation_z(angle: float) -> Array:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def _place(
    P: Array,
    tree: NDArray[np.int64],
    place: dict[int, int],
    nodes: Sequence[Node],
    children: dict[int, list[int]],
    node: Node,
    size: float,
    gravity: Array,
) -> Array:
    """Chooses a link's canonical frame, writes its column's geometry and returns its pose on its parent at zero."""
    i, joint = place[node.index], node.joint
    parent = place[node.parent] if node.parent >= 0 else -1
    R, p = _way(node, nodes)
    gamma, ca, sa = _angles(R, p)
    straight = parent == i - 1 and parent >= 0
    if straight:  # the parent's x axis was aligned with this child: the remaining gamma is rounding
        gamma = 0.0
    p = _rotation_z(-gamma) @ p
    slide = 0.0
    if parent >= 0:
        wanted = p[1] / sa if sa > 0 else -p[2] * ca
        if abs(wanted) <= 2 * size:
            slide = wanted
            p = np.array([p[0], 0.0, p[2] + slide * ca])
            if sa == 0:
                p[2] = 0.0
        else:
            straight = False

    # the angle about z from Rz(gamma) Rx(alpha) to the axis frame
    Rx = np.array([[1.0, 0.0, 0.0], [0.0, ca, -sa], [0.0, sa, ca]])
    rest = Rx.T @ _rotation_z(-gamma) @ R
    delta = math.atan2(rest[1, 0] - rest[0, 1], rest[0, 0] + rest[1, 1])
    node.frame = _canonical(joint, slide, 0.0)
    main = next((c for c in children[node.index] if place[c] == i + 1), None)
    if main is not None:  # align x with the common normal to the next child
        node.turn = _angles(*_way(nodes[main], nodes))[0]
        node.frame = _canonical(joint, slide, node.turn)
    theta = delta + node.turn

    tree[r.PARENT, i], tree[r.INDEX, i] = parent, node.index
    tree[r.KIND, i] = BITS[joint.kind] | (r.STRAIGHT if straight else 0)
    if parent >= 0 and not straight:
        tree[r.KIND, parent] |= r.FORK
    P[r.COS_ALPHA, i], P[r.SIN_ALPHA, i] = ca, sa
    P[r.PX : r.PZ + 1, i] = p
    P[r.COS_GAMMA, i], P[r.SIN_GAMMA, i] = math.cos(gamma), math.sin(gamma)
    P[r.OFFSET, i], P[r.PITCH, i] = theta, joint.pitch
    P[r.COS_THETA, i], P[r.SIN_THETA, i] = math.cos(theta), math.sin(theta)
    if parent < 0:
        seen = Rx.T @ _rotation_z(-gamma)
        P[r.GX : r.GZ + 1, i] = -seen @ gravity
    E = inverse(node.frame)
    P[r.EXX : r.EZZ + 1, i] = E[:3, :3].ravel()
    P[r.EX : r.EZ + 1, i] = E[:3, 3]
    P[r.JOINT_Z, i] = -slide

    pose = np.eye(4)
    pose[:3, :3] = _rotation_z(gamma) @ Rx @ _rotation_z(theta)
    pose[:3, 3] = _rotation_z(gamma) @ p
    return pose


def _canonical(joint: Joint, slide: float, turn: float) -> Array:
    """Pose of the canonical frame in the user's link frame: shifted along the axis by `slide`, rotated by `turn`."""
    frame = np.eye(4)
    axis = np.asarray(joint.axis)
    frame[:3, :3] = _axis_frame(axis) @ _rotation_z(turn)
    frame[:3, 3] = axis * slide
    found: Array = inverse(np.asarray(joint.tail)) @ frame
    return found


def _in_canonical(node: Node) -> Array:
    assert node.frame is not None
    to = inverse(node.frame)
    moved: Array = to @ node.moments @ to.T
    return moved


def _lump(P: Array, tree: NDArray[np.int64], poses: list[Array], moments: list[Array]) -> None:
    """Moves inertia that does not act on a joint to the parent, from the tips inward."""
    for i in range(len(moments) - 1, -1, -1):
        S = moments[i]
        lost = np.zeros((4, 4))
        if tree[r.KIND, i] & r.PRISMATIC:
            lost[:3, :3] = S[:3, :3]
        elif tree[r.KIND, i] & r.HELICAL:
            lost[2, 2] = S[2, 2]
        else:
            lost[2:, 2:] = S[2:, 2:]
        S = S - lost
        P[[r.JXX, r.JYY, r.JXY, r.JXZ, r.JYZ], i] = S[0, 0], S[1, 1], S[0, 1], S[0, 2], S[1, 2]
        P[[r.HX, r.HY, r.HZ, r.MASS], i] = S[0, 3], S[1, 3], S[2, 3], S[3, 3]
        P[[r.LOST_MASS, r.LOST_HZ], i] = lost[3, 3], lost[2, 3]
        P[r.LOST_XX : r.LOST_ZZ + 1, i] = np.diagonal(lost)[:3]
        P[[r.LOST_XY, r.LOST_XZ, r.LOST_YZ], i] = lost[0, 1], lost[0, 2], lost[1, 2]
        parent = tree[r.PARENT, i]
        if S[3, 3] or tree[r.KIND, i] & r.HEAVY:
            tree[r.KIND, i] |= r.HEAVY
            if parent >= 0:
                tree[r.KIND, parent] |= r.HEAVY
        if parent >= 0:
            moments[parent] = moments[parent] + poses[i] @ lost @ poses[i].T


def _drive(P: Array, tree: NDArray[np.int64], i: int, joint: Joint) -> None:
    motor = joint.motor
    plus, minus = motor.joint_coulomb
    P[r.ARMATURE, i], P[r.VISCOUS, i], P[r.PLUS, i], P[r.MINUS, i] = motor.armature, motor.joint_viscous, plus, -minus
    if motor.joint_viscous or plus or minus:
        tree[r.KIND, i] |= r.RUBS


def _thresholds(P: Array, tree: NDArray[np.int64], poses: list[Array], moments: list[Array]) -> None:
    """SMALLEST, the singularity threshold: 4 n eps times the largest inertia a joint could have (links stretched out).

    The inertia at a joint is a difference of numbers up to that bound; below the threshold it is rounding.
    """
    n = P.shape[1]
    mass = np.array([S[3, 3] for S in moments])
    first = np.array([np.linalg.norm(S[:3, 3]) for S in moments])
    second = np.array([np.trace(S[:3, :3]) for S in moments])
    for i in range(n - 1, -1, -1):
        pitch = abs(P[r.PITCH, i])  # acts as a lever arm
        turning = second[i] + 2 * first[i] * pitch + mass[i] * pitch**2
        bound = mass[i] if tree[r.KIND, i] & r.PRISMATIC else turning
        P[r.SMALLEST, i] = 4 * n * EPS * (bound + P[r.ARMATURE, i])
        parent, reach = tree[r.PARENT, i], float(np.linalg.norm(poses[i][:3, 3]))
        if parent >= 0:
            second[parent] += second[i] + 2 * first[i] * reach + mass[i] * reach**2
            first[parent] += first[i] + mass[i] * reach
            mass[parent] += mass[i]
