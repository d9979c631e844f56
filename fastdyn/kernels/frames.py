"""Vectors, matrices, wrenches and motions in the frames of a link and of its parent. Frames are those of rows.py.

An angle is a pair (sine, cosine), a wrench a pair (force, moment), a motion a pair (linear, angular); moments and
linear parts are those at the frame's origin.
"""

from fastdyn.kernels.joints import *
from fastdyn.kernels.rows import *
from fastdyn.scalars import kernel
from fastdyn.scalars.vectors import *


@kernel
def alpha(P, i):
    """The angle about x from the parent's frame to the link's."""
    return P[SIN_ALPHA, i], P[COS_ALPHA, i]


@kernel
def gamma(P, i):
    """The angle about z from the parent's frame to the link's, before alpha."""
    return P[SIN_GAMMA, i], P[COS_GAMMA, i]


@kernel
def place(P, i):
    """The link's origin at q = 0, relative to its parent's, in the parent's axes rotated by gamma."""
    return P[PX, i], P[PY, i], P[PZ, i]


# ---------------------------------------------------------------------------------------------- rotations


@kernel
def turned_back(angle, v):
    """A vector, expressed in a frame that is rotated about z."""
    s, c = angle
    return c * v[0] + s * v[1], c * v[1] - s * v[0], v[2]


@kernel
def turned(angle, v):
    """A vector of a frame that is rotated about z, expressed in the frame before the rotation."""
    s, c = angle
    return c * v[0] - s * v[1], s * v[0] + c * v[1], v[2]


@kernel
def into_link(P, i, turn, v):
    """A vector of the parent's frame (already rotated by gamma), expressed in the link's."""
    s, c = turn
    sa, ca = alpha(P, i)
    t = ca * v[1] + sa * v[2]
    return c * v[0] + s * t, c * t - s * v[0], ca * v[2] - sa * v[1]


@kernel
def out_of_link(P, i, turn, v):
    """A vector of the link's frame, expressed in the parent's (gamma not yet undone)."""
    s, c = turn
    sa, ca = alpha(P, i)
    t = s * v[0] + c * v[1]
    return c * v[0] - s * v[1], ca * t - sa * v[2], sa * t + ca * v[2]


@kernel
def symmetric_turned_z(angle, S):
    """R S R^T for a symmetric S and a rotation R about z."""
    s, c = angle
    xx, yy, zz, xy, xz, yz = S
    u = s * (xx - yy) + (c + c) * xy
    v = s * u
    return xx - v, yy + v, zz, c * u - xy, c * xz - s * yz, s * xz + c * yz


@kernel
def symmetric_turned_x(angle, S):
    """R S R^T for a symmetric S and a rotation R about x."""
    s, c = angle
    xx, yy, zz, xy, xz, yz = S
    u = s * (yy - zz) + (c + c) * yz
    v = s * u
    return xx, yy - v, zz + v, c * xy - s * xz, s * xy + c * xz, c * u - yz


@kernel
def matrix_turned_z(angle, M):
    """R M R^T for any M and a rotation R about z; the difference xy - yx does not change."""
    s, c = angle
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = M
    u = s * (xx - yy) + c * (xy + yx)
    v = s * u
    t = c * u
    return (
        (xx - v, t - yx, c * xz - s * yz),
        (t - xy, yy + v, s * xz + c * yz),
        (c * zx - s * zy, s * zx + c * zy, zz),
    )


@kernel
def matrix_turned_x(angle, M):
    """R M R^T for any M and a rotation R about x; the difference yz - zy does not change."""
    s, c = angle
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = M
    u = s * (yy - zz) + c * (yz + zy)
    v = s * u
    t = c * u
    return (
        (xx, c * xy - s * xz, s * xy + c * xz),
        (c * yx - s * zx, yy - v, t - zy),
        (s * yx + c * zx, t - yz, zz + v),
    )


# ---------------------------------------------------------------------------------------------- pairs of vectors

PAIR = 6  # rows of a wrench or a motion


@kernel
def plus_pair(a, b):
    return plus(a[0], b[0]), plus(a[1], b[1])


@kernel
def zero_pair(buffer):
    return zero_vector(buffer), zero_vector(buffer)


@kernel
def load_pair(buffer, i):
    return load_vector(buffer, PAIR * i), load_vector(buffer, PAIR * i + 3)


@kernel
def store_pair(buffer, i, pair):
    store_vector(buffer, PAIR * i, pair[0])
    store_vector(buffer, PAIR * i + 3, pair[1])


@kernel
def add_pair(buffer, i, pair):
    add_vector(buffer, PAIR * i, pair[0])
    add_vector(buffer, PAIR * i + 3, pair[1])


@kernel
def parent_wrench(P, tree, q, i, turn, wrench):
    """A wrench on link i, about its origin, expressed in the parent's frame, about the parent's. (3.3-56), (3.3-57)"""
    force, moment = at_zero(P, tree, q, i, wrench)
    f, n = out_of_link(P, i, turn, force), out_of_link(P, i, turn, moment)
    if tree[KIND, i] & STRAIGHT:
        px, pz = P[PX, i], P[PZ, i]
        return f, (n[0] - pz * f[1], n[1] + pz * f[0] - px * f[2], n[2] + px * f[1])
    n = plus(n, cross(place(P, i), f))
    return turned(gamma(P, i), f), turned(gamma(P, i), n)


@kernel
def carried_motion(P, tree, q, i, turns, motions, before):
    """The motion of link i's frame due to its parent's motion alone.

    The parent's motion is `before`, that of the link visited last, or in `motions` if link i is not straight.
    """
    if tree[PARENT, i] < 0:
        return zero_pair(turns)
    linear, angular = before
    if not tree[KIND, i] & STRAIGHT:
        linear, angular = load_pair(motions, tree[PARENT, i])
        linear, angular = turned_back(gamma(P, i), linear), turned_back(gamma(P, i), angular)
    turn = turn_of(P, turns, i)
    linear = plus(linear, cross(angular, place(P, i)))
    return slid(P, tree, q, i, (into_link(P, i, turn, linear), into_link(P, i, turn, angular)))
