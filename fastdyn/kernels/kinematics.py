"""Poses, velocities and Jacobians of a frame, along the path of links from the base to it. Frame and path: rows.py.

A frame is (x, y, z, o): its axes and origin, along the base's axes. Vectors are along the base's axes throughout; where
LOCAL is set, results are expressed along the frame's own axes at the end.

A joint whose axis z goes through o moves a point p at the unit rate (v, w): columns of the geometric Jacobian,

    revolute: z x (p - o), z;   prismatic: z, 0;   helical: z x (p - o) + PITCH z, z.
"""

from fastdyn.kernels.frames import *
from fastdyn.kernels.joints import *
from fastdyn.kernels.rows import *
from fastdyn.scalars import angle_sum, fill, kernel, load, sincos_rows, store
from fastdyn.scalars.vectors import *

POSE = 16  # rows of a 4x4 matrix
FRAME = 12  # rows of a frame

# ---------------------------------------------------------------------------------------------- frames


@kernel
def turn_path(P, tree, q, turns):
    """Sines of the joints on the path, then their cosines: those of link PATH[k] are rows k and LENGTH + k."""
    length = tree[LENGTH, 0]
    for k in range(length):
        i = tree[PATH, k]
        store(turns, k, angle_sum(load(q, tree[INDEX, i]), P[OFFSET, i]))
    sincos_rows(turns, length)
    for k in range(length):
        i = tree[PATH, k]
        if tree[KIND, i] & PRISMATIC:
            store(turns, k, fill(turns, P[SIN_THETA, i]))
            store(turns, length + k, fill(turns, P[COS_THETA, i]))


@kernel
def turn_at(tree, turns, k):
    """Sine and cosine of the k-th joint on the path."""
    return load(turns, k), load(turns, tree[LENGTH, 0] + k)


@kernel
def base_frame(buffer):
    zero, one = fill(buffer, 0.0), fill(buffer, 1.0)
    return (one, zero, zero), (zero, one, zero), (zero, zero, one), (zero, zero, zero)


@kernel
def rotated(angle, a, b):
    """Two axes of a frame, rotated about the third from the first towards the second."""
    s, c = angle
    return plus(times(c, a), times(s, b)), minus(times(c, b), times(s, a))


@kernel
def link_frame(P, tree, q, i, turn, frame):
    """The frame of link i from its parent's."""
    kind = tree[KIND, i]
    if tree[PARENT, i] < 0:
        return first_frame(P, tree, q, i, turn)
    x, y, z, o = frame
    if not kind & STRAIGHT:
        x, y = rotated(gamma(P, i), x, y)
        o = plus(o, times(P[PY, i], y))
    o = plus(o, plus(times(P[PX, i], x), times(P[PZ, i], z)))
    y, z = rotated(alpha(P, i), y, z)
    if kind & SLIDES:
        o = plus(o, times(travel(P, tree, q, i), z))
    x, y = rotated(turn, x, y)
    return x, y, z, o


@kernel
def first_frame(P, tree, q, i, turn):
    """The frame of link i on the base: as from a parent's frame whose entries are zeros and ones."""
    (sg, cg), (sa, ca), (s, c) = gamma(P, i), alpha(P, i), turn
    a, b = sg * ca, cg * ca  # y is (-a, b, sa) before the joint's rotation
    z = fill(q, sg * sa), fill(q, -(cg * sa)), fill(q, ca)
    p = turned(gamma(P, i), place(P, i))
    o = fill(q, p[0]), fill(q, p[1]), fill(q, p[2])
    if tree[KIND, i] & SLIDES:
        o = plus(o, times(travel(P, tree, q, i), z))
    return (c * cg - s * a, c * sg + s * b, s * sa), (-(c * a) - s * cg, c * b - s * sg, c * sa), z, o


@kernel
def combined(frame, a, b, c):
    """The vector with components a, b, c along a frame's axes."""
    return plus(plus(times(a, frame[0]), times(b, frame[1])), times(c, frame[2]))


@kernel
def fixed_frame(P, row, i, frame):
    """A frame fixed to another, by its rotation and origin in twelve rows of column i."""
    p = combined(frame, P[row + 9, i], P[row + 10, i], P[row + 11, i])
    return (
        combined(frame, P[row, i], P[row + 3, i], P[row + 6, i]),
        combined(frame, P[row + 1, i], P[row + 4, i], P[row + 7, i]),
        combined(frame, P[row + 2, i], P[row + 5, i], P[row + 8, i]),
        plus(frame[3], p),
    )


@kernel
def wanted_frame(P, tree, frame):
    """The frame that is asked for, from that of the last link on the path."""
    if tree[AXES, 0] & TURNED:
        return fixed_frame(P, FXX, 0, frame)
    x, y, z, o = frame
    return x, y, z, plus(o, combined(frame, P[FX, 0], P[FY, 0], P[FZ, 0]))


@kernel
def store_pose(buffer, k, frame):
    """The k-th 4x4 matrix in a buffer, by rows."""
    row = POSE * k
    store_every_fourth(buffer, row, frame[0])
    store_every_fourth(buffer, row + 1, frame[1])
    store_every_fourth(buffer, row + 2, frame[2])
    store_every_fourth(buffer, row + 3, frame[3])
    store_vector(buffer, row + 12, zero_vector(buffer))
    store(buffer, row + 15, fill(buffer, 1.0))


@kernel
def store_every_fourth(buffer, row, v):
    store(buffer, row, v[0])
    store(buffer, row + 4, v[1])
    store(buffer, row + 8, v[2])


@kernel
def along_axes(tree, frame, v):
    """A vector as it is asked for: along the base's axes, or the frame's."""
    if tree[AXES, 0] & LOCAL:
        return dot(frame[0], v), dot(frame[1], v), dot(frame[2], v)
    return v


# ---------------------------------------------------------------------------------------------- poses


def forward_kinematics_rows(n):
    return TURN * n


@kernel
def forward_kinematics(P, tree, q, pose, work):
    """The frame's pose in the base's frame, 4x4 by rows. (2.23), (2.65) of Norrlof"""
    turn_path(P, tree, q, work)
    frame = base_frame(work)
    for k in range(tree[LENGTH, 0]):
        frame = link_frame(P, tree, q, tree[PATH, k], turn_at(tree, work, k), frame)
    store_pose(pose, 0, wanted_frame(P, tree, frame))


def link_poses_rows(n):
    return (TURN + FRAME) * n


@kernel
def link_poses(P, tree, q, poses, work):
    """The poses of all moving links' own frames, in the user's order of joints."""
    n = P.shape[1]
    turns, frames = work[: TURN * n], work[TURN * n :]
    turn_all(P, tree, q, turns)
    frame = base_frame(work)
    for i in range(n):
        kind, parent = tree[KIND, i], tree[PARENT, i]
        if parent >= 0 and not kind & STRAIGHT:
            frame = load_frame(frames, parent)
        frame = link_frame(P, tree, q, i, turn_of(P, turns, i), frame)
        if kind & FORK:
            store_frame(frames, i, frame)
        store_pose(poses, tree[INDEX, i], fixed_frame(P, EXX, i, frame))


@kernel
def load_frame(buffer, i):
    row = FRAME * i
    return (
        load_vector(buffer, row),
        load_vector(buffer, row + 3),
        load_vector(buffer, row + 6),
        load_vector(buffer, row + 9),
    )


@kernel
def store_frame(buffer, i, frame):
    row = FRAME * i
    store_vector(buffer, row, frame[0])
    store_vector(buffer, row + 3, frame[1])
    store_vector(buffer, row + 6, frame[2])
    store_vector(buffer, row + 9, frame[3])


# ---------------------------------------------------------------------------------------------- Jacobian


@kernel
def unit_motion(P, tree, i, z, arm, none):
    """Joint i's column of the Jacobian: the motion (v, w) at its unit rate of a point at `arm` from its axis.

    none: the zero vector.
    """
    kind = tree[KIND, i]
    if kind & PRISMATIC:
        return z, none
    v = cross(z, arm)
    if kind & HELICAL:
        v = plus(v, times(P[PITCH, i], z))
    return v, z


@kernel
def load_column(J, n, j):
    """(v, w) of column j of a (6, n) matrix."""
    return (
        (load(J, j), load(J, n + j), load(J, 2 * n + j)),
        (load(J, 3 * n + j), load(J, 4 * n + j), load(J, 5 * n + j)),
    )


@kernel
def store_column(J, n, j, v, w):
    store(J, j, v[0])
    store(J, n + j, v[1])
    store(J, 2 * n + j, v[2])
    store(J, 3 * n + j, w[0])
    store(J, 4 * n + j, w[1])
    store(J, 5 * n + j, w[2])


@kernel
def clear_others(tree, J):
    """Zeros in all columns, if some joint is not on the path."""
    if tree[LENGTH, 0] < tree.shape[1]:
        zero = fill(J, 0.0)
        for row in range(J.shape[0]):
            store(J, row, zero)


@kernel
def axes_outward(P, tree, q, J, turns):
    """Writes a point and the direction of each joint's axis into its column; the last link's frame."""
    turn_path(P, tree, q, turns)
    clear_others(tree, J)
    frame = base_frame(turns)
    for k in range(tree[LENGTH, 0]):
        i = tree[PATH, k]
        frame = link_frame(P, tree, q, i, turn_at(tree, turns, k), frame)
        store_column(J, P.shape[1], tree[INDEX, i], frame[3], frame[2])
    return frame


@kernel
def columns(P, tree, J, frame):
    """The Jacobian in place of points and directions of the joints' axes; frame: the one that is asked for."""
    n, none = P.shape[1], zero_vector(J)
    for k in range(tree[LENGTH, 0]):
        i = tree[PATH, k]
        o, z = load_column(J, n, tree[INDEX, i])
        v, w = unit_motion(P, tree, i, z, minus(frame[3], o), none)
        store_column(J, n, tree[INDEX, i], along_axes(tree, frame, v), along_axes(tree, frame, w))


def jacobian_rows(n):
    return TURN * n


@kernel
def jacobian(P, tree, q, J, work):
    """(6, n) by rows: velocity of the frame's origin, then angular velocity. (2.54), (2.58), (2.63), (2.64)"""
    columns(P, tree, J, wanted_frame(P, tree, axes_outward(P, tree, q, J, work)))


def pose_and_jacobian_rows(n):
    return TURN * n


@kernel
def pose_and_jacobian(P, tree, q, pose, J, work):
    frame = wanted_frame(P, tree, axes_outward(P, tree, q, J, work))
    store_pose(pose, 0, frame)
    columns(P, tree, J, frame)


# ---------------------------------------------------------------------------------------------- velocity, acceleration


@kernel
def carried(w, v, arm):
    """The velocity of a point of a body, from the body's angular velocity and the velocity of another point."""
    return plus(v, cross(w, arm))


@kernel
def speed_along(P, tree, qd, i, z):
    """What joint i adds to the velocity of its link's origin."""
    rate = load(qd, tree[INDEX, i])
    return times(along(P, tree, i, rate), z) if tree[KIND, i] & SLIDES else zero_vector(qd)


@kernel
def spin_about(P, tree, qd, i, z):
    """What joint i adds to the angular velocity of its link."""
    return zero_vector(qd) if tree[KIND, i] & PRISMATIC else times(load(qd, tree[INDEX, i]), z)


def frame_velocity_rows(n):
    return TURN * n


@kernel
def frame_velocity(P, tree, q, qd, velocity, work):
    """The velocity of the frame's origin, then the angular velocity: J qd. (2.51)"""
    turn_path(P, tree, q, work)
    frame, v, w = base_frame(work), zero_vector(work), zero_vector(work)
    for k in range(tree[LENGTH, 0]):
        i = tree[PATH, k]
        o = frame[3]
        frame = link_frame(P, tree, q, i, turn_at(tree, work, k), frame)
        v = plus(carried(w, v, minus(frame[3], o)), speed_along(P, tree, qd, i, frame[2]))
        w = plus(w, spin_about(P, tree, qd, i, frame[2]))
    o = frame[3]
    frame = wanted_frame(P, tree, frame)
    v = carried(w, v, minus(frame[3], o))
    store_pair(velocity, 0, (along_axes(tree, frame, v), along_axes(tree, frame, w)))


def frame_acceleration_rows(n):
    return TURN * n


@kernel
def frame_acceleration(P, tree, q, qd, qdd, acceleration, work):
    """The acceleration of the frame's origin, then the angular acceleration: J qdd + dJ/dt qd. (2.67)

    Without qdd the second term alone.
    """
    turn_path(P, tree, q, work)
    frame, none = base_frame(work), zero_vector(work)
    w, a, b = none, none, none  # angular velocity; acceleration of the link's origin; angular acceleration
    for k in range(tree[LENGTH, 0]):
        i = tree[PATH, k]
        o = frame[3]
        frame = link_frame(P, tree, q, i, turn_at(tree, work, k), frame)
        z, arm = frame[2], minus(frame[3], o)
        sliding, spinning = speed_along(P, tree, qd, i, z), spin_about(P, tree, qd, i, z)
        a = plus(carried(b, a, arm), cross(w, plus(cross(w, arm), times(2.0, sliding))))
        b = plus(b, cross(w, spinning))
        if qdd.shape[0] > 0:
            a, b = plus(a, speed_along(P, tree, qdd, i, z)), plus(b, spin_about(P, tree, qdd, i, z))
        w = plus(w, spinning)
    o = frame[3]
    frame = wanted_frame(P, tree, frame)
    arm = minus(frame[3], o)
    a = plus(carried(b, a, arm), cross(w, cross(w, arm)))
    store_pair(acceleration, 0, (along_axes(tree, frame, a), along_axes(tree, frame, b)))


# ---------------------------------------------------------------------------------------------- derivatives of J


def jacobian_derivative_rows(n):
    return (TURN + PAIR) * n


@kernel
def jacobian_derivative(P, tree, q, qd, dJ, work):
    """dJ/dt, (6, n) by rows; where LOCAL, of the Jacobian along the frame's axes."""
    n, length = P.shape[1], tree[LENGTH, 0]
    turns, motions = work[: TURN * n], work[TURN * n :]
    turn_path(P, tree, q, turns)
    clear_others(tree, dJ)
    frame, none = base_frame(work), zero_vector(work)
    v, w = none, none
    for k in range(length):
        i = tree[PATH, k]
        o = frame[3]
        frame = link_frame(P, tree, q, i, turn_at(tree, turns, k), frame)
        z = frame[2]
        v = plus(carried(w, v, minus(frame[3], o)), speed_along(P, tree, qd, i, z))
        store_column(dJ, n, tree[INDEX, i], frame[3], z)
        store_pair(motions, k, (v, w))  # of the point on the axis; of the axis
        w = plus(w, spin_about(P, tree, qd, i, z))
    o = frame[3]
    frame = wanted_frame(P, tree, frame)
    v = carried(w, v, minus(frame[3], o))
    for k in range(length):
        i = tree[PATH, k]
        o, z = load_column(dJ, n, tree[INDEX, i])
        speed, spin = load_pair(motions, k)
        arm = minus(frame[3], o)
        changing = cross(spin, z)
        dv, dw = unit_motion(P, tree, i, changing, arm, none)
        if not tree[KIND, i] & PRISMATIC:
            dv = plus(dv, cross(z, minus(v, speed)))
        if tree[AXES, 0] & LOCAL:
            column = unit_motion(P, tree, i, z, arm, none)
            dv, dw = minus(dv, cross(w, column[0])), minus(dw, cross(w, column[1]))
        store_column(dJ, n, tree[INDEX, i], along_axes(tree, frame, dv), along_axes(tree, frame, dw))


def hessian_rows(n):
    return (TURN + PAIR) * n


@kernel
def hessian(P, tree, q, H, work):
    """H[:, i, j] = dJ[:, i] / dq_j, (6, n, n) by rows.

    A joint rotates the columns of all joints further out. The second derivatives of a point do not depend on their
    order; those of the rotation do, as angular velocity is no derivative of angles.
    """
    n, length = P.shape[1], tree[LENGTH, 0]
    turns, J = work[: TURN * n], work[TURN * n :]
    frame = wanted_frame(P, tree, axes_outward(P, tree, q, J, turns))
    clear_others(tree, H)
    local = tree[AXES, 0] & LOCAL
    none = zero_vector(work)
    columns(P, tree, J, frame)
    for a in range(length):
        i = tree[INDEX, tree[PATH, a]]
        v, w = load_column(J, n, i)
        for b in range(a + 1):  # joint j is nearer to the base, or the same
            j = tree[INDEX, tree[PATH, b]]
            inner_v, inner_w = load_column(J, n, j)
            second, turning = cross(inner_w, v), cross(inner_w, w)
            if local:  # along the frame's axes a column depends on the joints further out alone
                store_column(H, n * n, n * i + j, none, none)
                if b < a:
                    store_column(H, n * n, n * j + i, minus(second, cross(w, inner_v)), turning)
            else:
                store_column(H, n * n, n * j + i, second, none)
                store_column(H, n * n, n * i + j, second, turning)
