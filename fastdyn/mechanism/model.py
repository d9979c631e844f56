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

The inertial rows are linear in the inertia of each link: a payload's effect on them is a PayloadMap times its
parameters, by which the model of a robot with a payload follows from that of the robot without.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastdyn.geometry import homogeneous, inverse
from fastdyn.kernels import rows as r
from fastdyn.mechanism.parts import EPS, Array, Joint

BITS = {"revolute": 0, "prismatic": r.PRISMATIC, "helical": r.HELICAL}  # of KIND
INERTIAL = slice(r.HX, r.LOST_YZ + 1)  # the rows that a payload changes are all among these
INERTIAL_ROWS = r.LOST_YZ + 1 - r.HX


class PayloadMap(NamedTuple):
    """What a payload on some link adds to a Model, linear in the payload's parameters (see `payload_parameters`)."""

    rows: Array  # (n * INERTIAL_ROWS, PARAMETERS): times the parameters, the change of P[INERTIAL], column by column
    heavy: NDArray[np.int64]  # (n,): the bits HEAVY that a payload with mass adds to KIND


@dataclass(frozen=True, eq=False)
class Model:
    """Flat arrays of a robot, in the kernels' own order of links."""

    P: Array  # (ROWS, n): one row per quantity, one column per link
    tree: NDArray[np.int64]  # (TREE_ROWS, n): parent, kind, index in the user's q; the path to a frame
    maps: dict[int, PayloadMap] = field(default_factory=dict)  # by joint; shared by models of one geometry

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

    def payload_map(self, index: int) -> PayloadMap:
        """The map of payloads on the link that joint `index` (in the user's q) moves, given in that link's frame."""
        if index not in self.maps:
            self.maps[index] = _payload_map(self.P, self.tree, self.tree[r.INDEX].tolist().index(index))
        return self.maps[index]

    def with_payload(self, index: int, moments: Array) -> Model:
        """The model with 4x4 moments added to the link that joint `index` moves, in that link's frame."""
        added = self.payload_map(index)
        P, tree = self.P.copy(order="F"), self.tree
        P.T[:, INERTIAL] += (added.rows @ payload_parameters(moments)).reshape(self.n, INERTIAL_ROWS)
        P.flags.writeable = False
        if moments[3, 3] > 0:
            tree = tree.copy()
            tree[r.KIND] |= added.heavy
            tree.flags.writeable = False
        return Model(P, tree, self.maps)

    def with_frame(self, index: int, pose: Array, local: bool) -> Model:
        """The model of kinematics in a frame, on the link that joint `index` moves (the base's if -1), at `pose` there.

        local: whether vectors are along the frame's axes, not the base's.
        """
        P, tree = self.P.copy(order="F"), self.tree.copy()
        path: list[int] = []
        if index >= 0:
            i = self.tree[r.INDEX].tolist().index(index)
            pose = homogeneous(P[r.EXX : r.EZZ + 1, i].reshape(3, 3), P[r.EX : r.EZ + 1, i]) @ pose
            while i >= 0:
                path.insert(0, i)
                i = int(tree[r.PARENT, i])
        P[r.FXX : r.FZZ + 1, 0] = pose[:3, :3].ravel()
        P[r.FX : r.FZ + 1, 0] = pose[:3, 3]
        turned = not np.array_equal(pose[:3, :3], np.eye(3))
        tree[r.PATH, : len(path)], tree[r.LENGTH, 0] = path, len(path)
        tree[r.AXES, 0] = r.LOCAL * local | r.TURNED * turned
        for array in (P, tree):
            array.flags.writeable = False
        return Model(P, tree, self.maps)

    def with_gravity(self, gravity: Array, mount: Array) -> Model:
        """The model under another gravity vector, or with its base at another pose in the world."""
        P = self.P.copy(order="F")
        _set_gravity(P, self.tree, gravity, mount)
        P.flags.writeable = False
        return Model(P, self.tree, self.maps)


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
    tree = np.zeros((r.TREE_ROWS, n), dtype=np.int64)
    for index in order:
        _place(P, tree, place, nodes, children, nodes[index], size)
    _set_gravity(P, tree, gravity, mount)
    for i, index in enumerate(order):
        _drive(P, tree, i, nodes[index].joint)
    moments = np.array([_in_canonical(nodes[index]) for index in order]).reshape(1, n, 4, 4)
    poses = _poses(P)
    P += _lumped(tree, poses, moments)[0]
    P[r.SMALLEST] = _thresholds(P, tree, poses, *_sizes(moments))[0] + 4 * n * EPS * P[r.ARMATURE]
    tree[r.KIND] |= _heavy(tree, P[r.MASS])
    P[[r.FXX, r.FYY, r.FZZ]] = 1.0  # kinematics of the base's frame, until `with_frame` names another
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
    return _about_z(math.cos(angle), math.sin(angle))


def _about_z(c: float, s: float) -> Array:
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def _about_x(c: float, s: float) -> Array:
    return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def _place(
    P: Array,
    tree: NDArray[np.int64],
    place: dict[int, int],
    nodes: Sequence[Node],
    children: dict[int, list[int]],
    node: Node,
    size: float,
) -> None:
    """Chooses a link's canonical frame and writes its column's geometry."""
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
    rest = _about_x(ca, sa).T @ _rotation_z(-gamma) @ R
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
    E = inverse(node.frame)
    P[r.EXX : r.EZZ + 1, i] = E[:3, :3].ravel()
    P[r.EX : r.EZ + 1, i] = E[:3, 3]
    P[r.JOINT_Z, i] = -slide


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


def _poses(P: Array) -> list[Array]:
    """The pose of each link's frame in its parent's, at q = 0."""
    found = []
    for link in P.T:
        first = _about_z(link[r.COS_GAMMA], link[r.SIN_GAMMA])
        turned = first @ _about_x(link[r.COS_ALPHA], link[r.SIN_ALPHA])
        R = turned @ _about_z(link[r.COS_THETA], link[r.SIN_THETA])
        found.append(homogeneous(R, first @ link[r.PX : r.PZ + 1]))
    return found


def _set_gravity(P: Array, tree: NDArray[np.int64], gravity: Array, mount: Array) -> None:
    """Writes the rows that depend on gravity. gravity: in the world; mount: the base's pose in the world."""
    seen = mount.T[:3, :3] @ gravity
    for i in np.flatnonzero(tree[r.PARENT] < 0):
        turned = _about_z(P[r.COS_GAMMA, i], P[r.SIN_GAMMA, i]) @ _about_x(P[r.COS_ALPHA, i], P[r.SIN_ALPHA, i])
        P[r.GX : r.GZ + 1, i] = -turned.T @ seen
    P[r.BASE_GX : r.BASE_GZ + 1] = -seen[:, None]
    P[r.BASE_POTENTIAL] = -gravity @ mount[:3, 3]


# ---------------------------------------------------------------------------------------------- inertia


def _lumped(tree: NDArray[np.int64], poses: list[Array], moments: Array) -> Array:
    """The inertial rows of P, (K, ROWS, n), of K robots whose links have the moments (K, n, 4, 4).

    Moves inertia that does not act on a joint to the parent, from the tips inward.
    """
    K, n = moments.shape[:2]
    moments, found = moments.copy(), np.zeros((K, r.ROWS, n))
    for i in range(n - 1, -1, -1):
        S, lost = moments[:, i], np.zeros((K, 4, 4))
        if tree[r.KIND, i] & r.PRISMATIC:
            lost[:, :3, :3] = S[:, :3, :3]
        elif tree[r.KIND, i] & r.HELICAL:
            lost[:, 2, 2] = S[:, 2, 2]
        else:
            lost[:, 2:, 2:] = S[:, 2:, 2:]
        S = S - lost
        for row, (a, b) in KEPT.items():
            found[:, row, i] = S[:, a, b]
        for row, (a, b) in LOST.items():
            found[:, row, i] = lost[:, a, b]
        if tree[r.PARENT, i] >= 0:
            moments[:, tree[r.PARENT, i]] += poses[i] @ lost @ poses[i].T
    return found


# entries of the 4x4 moments
KEPT = {
    r.JXX: (0, 0), r.JYY: (1, 1), r.JXY: (0, 1), r.JXZ: (0, 2), r.JYZ: (1, 2),
    r.HX: (0, 3), r.HY: (1, 3), r.HZ: (2, 3), r.MASS: (3, 3),
}  # fmt: skip
LOST = {
    r.LOST_XX: (0, 0), r.LOST_YY: (1, 1), r.LOST_ZZ: (2, 2), r.LOST_XY: (0, 1), r.LOST_XZ: (0, 2), r.LOST_YZ: (1, 2),
    r.LOST_HZ: (2, 3), r.LOST_MASS: (3, 3),
}  # fmt: skip


def _heavy(tree: NDArray[np.int64], mass: Array) -> NDArray[np.int64]:
    """The bits HEAVY of links with some remaining mass on them or in their subtrees."""
    found = np.where(mass != 0, r.HEAVY, 0)
    for i in range(len(mass) - 1, -1, -1):
        if tree[r.PARENT, i] >= 0:
            found[tree[r.PARENT, i]] |= found[i]
    return found


# ---------------------------------------------------------------------------------------------- payloads

TEN = ((3, 3), (0, 3), (1, 3), (2, 3), (0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))  # entries of the 4x4 moments
PARAMETERS = 11
TRACE = slice(4, 7)  # Jxx, Jyy, Jzz


def payload_parameters(moments: Array) -> Array:
    """The PARAMETERS of a body: m, h, J (xx, yy, zz, xy, xz, yz), and |h|, for singularity thresholds."""
    ten = [moments[place] for place in TEN]
    return np.array([*ten, math.hypot(*ten[1:4])])


def moved_parameters(pose: Array) -> Array:
    """(PARAMETERS, PARAMETERS): times a body's parameters in a frame, those in the frame that `pose` is given in.

    The new |h| is an upper bound.
    """
    found = np.zeros((PARAMETERS, PARAMETERS))
    for k, unit in enumerate(_units()):
        S = pose @ unit @ pose.T
        found[:10, k] = [S[place] for place in TEN]
    found[10, 10], found[10, 0] = 1.0, np.linalg.norm(pose[:3, 3])
    return found


def _units() -> Array:
    """(10, 4, 4): moments in which one of the TEN is 1."""
    found = np.zeros((10, 4, 4))
    for k, (a, b) in enumerate(TEN):
        found[k, a, b] = found[k, b, a] = 1.0
    return found


def _payload_map(P: Array, tree: NDArray[np.int64], link: int) -> PayloadMap:
    """The map of payloads on a link of the model: what is linear in its parameters, by unit payloads."""
    n = tree.shape[1]
    poses, moments, sizes = _poses(P), np.zeros((10, n, 4, 4)), np.zeros((3, 3, n))
    moments[:, link] = _units()
    sizes[:, :, link] = np.eye(3)
    rows = np.zeros((n, INERTIAL_ROWS, PARAMETERS))
    rows[:, :, :10] = _lumped(tree, poses, moments)[:, INERTIAL].T
    by_mass, by_first, by_second = _thresholds(P, tree, poses, *sizes)
    smallest = rows[:, r.SMALLEST - r.HX]
    smallest[:, 0], smallest[:, 10], smallest[:, TRACE] = by_mass, by_first, by_second[:, None]
    E = homogeneous(P[r.EXX : r.EZZ + 1, link].reshape(3, 3), P[r.EX : r.EZ + 1, link])
    heavy = _heavy(tree, rows[:, r.MASS - r.HX, 0])
    return PayloadMap(rows.reshape(-1, PARAMETERS) @ moved_parameters(E), heavy)


def _drive(P: Array, tree: NDArray[np.int64], i: int, joint: Joint) -> None:
    motor = joint.motor
    plus, minus = motor.joint_coulomb
    P[r.ARMATURE, i], P[r.VISCOUS, i], P[r.PLUS, i], P[r.MINUS, i] = motor.armature, motor.joint_viscous, plus, -minus
    if motor.joint_viscous or plus or minus:
        tree[r.KIND, i] |= r.RUBS


def _sizes(moments: Array) -> tuple[Array, Array, Array]:
    """(K, n) each: mass, magnitude of the first moment and trace of the second ones, of moments (K, n, 4, 4)."""
    first = np.linalg.norm(moments[..., :3, 3], axis=-1)
    return moments[..., 3, 3].copy(), first, np.trace(moments[..., :3, :3], axis1=-2, axis2=-1)


def _thresholds(
    P: Array, tree: NDArray[np.int64], poses: list[Array], mass: Array, first: Array, second: Array
) -> Array:
    """SMALLEST without rotors, (K, n), of K robots: 4 n eps times the largest inertia a joint can have (stretched out).

    The inertia at a joint is a difference of numbers up to that bound; below the threshold it is rounding. mass, first,
    second: see `_sizes`, of which it is a linear function; they are overwritten.
    """
    n = P.shape[1]
    found = np.empty_like(mass)
    for i in range(n - 1, -1, -1):
        pitch = abs(P[r.PITCH, i])  # acts as a lever arm
        turning = second[:, i] + 2 * first[:, i] * pitch + mass[:, i] * pitch**2
        found[:, i] = 4 * n * EPS * (mass[:, i] if tree[r.KIND, i] & r.PRISMATIC else turning)
        parent, reach = tree[r.PARENT, i], float(np.linalg.norm(poses[i][:3, 3]))
        if parent >= 0:
            second[:, parent] += second[:, i] + 2 * first[:, i] * reach + mass[:, i] * reach**2
            first[:, parent] += first[:, i] + mass[:, i] * reach
            mass[:, parent] += mass[:, i]
    return found
