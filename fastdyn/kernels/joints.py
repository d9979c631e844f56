"""What a joint does: how its coordinate moves its link, what it feels of a wrench, which inertia it sees.

Everything that depends on the type of a joint and is not an algorithm's own stands here. A joint's unit motion is

    revolute: a turn about z;   prismatic: travel along z;   helical: the turn, and PITCH of the travel.

`turns` holds how far each joint turns its link: n sines, then n cosines, in the model's order of links.
"""

from fastdyn.kernels.rows import *
from fastdyn.scalars import by_sign, fill, kernel, load, sincos_rows, store
from fastdyn.scalars.vectors import *

TURN = 2  # rows of a link's turn


@kernel
def turn_all(P, tree, q, turns):
    """Sine and cosine of the angle between each link and its parent, about the joint's axis."""
    n = P.shape[1]
    for i in range(n):
        store(turns, i, load(q, tree[INDEX, i]) + P[OFFSET, i])
    sincos_rows(turns, n)
    for i in range(n):
        if tree[KIND, i] & PRISMATIC:
            store(turns, i, fill(turns, P[SIN_THETA, i]))
            store(turns, n + i, fill(turns, P[COS_THETA, i]))


@kernel
def turn_of(P, turns, i):
    """Sine and cosine of joint i."""
    return load(turns, i), load(turns, P.shape[1] + i)


@kernel
def along(P, tree, i, value):
    """Travel along z that belongs to a coordinate, speed that belongs to a rate, ... of a joint that slides."""
    return P[PITCH, i] * value if tree[KIND, i] & HELICAL else value


@kernel
def travel(P, tree, q, i):
    """How far a joint that slides has moved its link along z."""
    return along(P, tree, i, load(q, tree[INDEX, i]))


# ---------------------------------------------------------------------------------------------- motion


@kernel
def slid(P, tree, q, i, motion):
    """A motion about where link i's origin is at the joint's zero, as motion about the origin."""
    v, w = motion
    if tree[KIND, i] & SLIDES:
        d = travel(P, tree, q, i)
        return (v[0] + w[1] * d, v[1] - w[0] * d, v[2]), w
    return v, w


@kernel
def plus_joint(P, tree, i, motion, rate):
    """A link's motion and the joint's own: its unit motion times a rate."""
    v, w = motion
    kind = tree[KIND, i]
    if kind & SLIDES:
        v = v[0], v[1], v[2] + along(P, tree, i, rate)
        if kind & PRISMATIC:
            return v, w
    return v, (w[0], w[1], w[2] + rate)


@kernel
def slide_rate(P, tree, q, qd, i, w):
    """How fast link i's origin moves against where it is at the joint's zero; w: the link's angular velocity."""
    d = travel(P, tree, q, i)
    return w[1] * d, -(w[0] * d), along(P, tree, i, load(qd, tree[INDEX, i]))


# ---------------------------------------------------------------------------------------------- force


@kernel
def felt(P, tree, i, wrench):
    """The part of a wrench on link i that its joint feels: the power it takes at the joint's unit motion. (3.3-58)"""
    force, moment = wrench
    kind = tree[KIND, i]
    if kind & SLIDES:
        if kind & PRISMATIC:
            return force[2]
        return moment[2] + P[PITCH, i] * force[2]
    return moment[2]


@kernel
def at_zero(P, tree, q, i, wrench):
    """A wrench on link i, about where its origin is at the joint's zero."""
    f, n = wrench
    if tree[KIND, i] & SLIDES:
        d = travel(P, tree, q, i)
        return f, (n[0] - d * f[1], n[1] + d * f[0], n[2])
    return f, n


@kernel
def friction(P, tree, qd, i):
    """What friction takes at joint i, whose KIND has RUBS."""
    rate = load(qd, tree[INDEX, i])
    return rate * P[VISCOUS, i] + by_sign(rate, P[PLUS, i], P[MINUS, i])


# ---------------------------------------------------------------------------------------------- inertia


@kernel
def unit_wrench(P, tree, i, body, zero):
    """The wrench that a rigid body (m, h, J) on joint i takes, at rest, at the joint's unit acceleration.

    zero: of the body's kind of scalar.
    """
    m, h, (xx, yy, _, _, xz, yz) = body
    kind = tree[KIND, i]
    if kind & PRISMATIC:
        return (zero, zero, m), (h[1], -h[0], zero)
    if kind & HELICAL:
        pitch = P[PITCH, i]
        return (-h[1], h[0], pitch * m), (pitch * h[1] - xz, -(pitch * h[0] + yz), xx + yy)
    return (-h[1], h[0], zero), (-xz, -yz, xx + yy)


@kernel
def articulated_wrench(P, tree, i, body):
    """The wrench that an articulated body (A, B, C) on joint i takes, at rest, at the joint's unit acceleration."""
    A, B, C = body
    kind = tree[KIND, i]
    along_z = (A[4], A[5], A[2]), B[2]
    about_z = (B[0][2], B[1][2], B[2][2]), (C[4], C[5], C[2])
    if kind & SLIDES:
        if kind & PRISMATIC:
            return along_z
        pitch = P[PITCH, i]
        return plus(about_z[0], times(pitch, along_z[0])), plus(about_z[1], times(pitch, along_z[1]))
    return about_z


@kernel
def plus_link(P, tree, i, body):
    """A rigid body (m, h, J) and what joint i can feel of its link's inertia."""
    m, h, J = body
    kind = tree[KIND, i]
    hx, hy, hz = h[0] + P[HX, i], h[1] + P[HY, i], h[2]
    if kind & SLIDES:
        m, hz = m + P[MASS, i], hz + P[HZ, i]
        if kind & PRISMATIC:
            return m, (hx, hy, hz), J
    xx, yy, zz, xy, xz, yz = J
    J = xx + P[JXX, i], yy + P[JYY, i], zz, xy + P[JXY, i], xz + P[JXZ, i], yz + P[JYZ, i]
    return m, (hx, hy, hz), J


@kernel
def articulated_plus_link(P, tree, i, body):
    """An articulated body (A, B, C) and what joint i can feel of its link: A = m, B = -[h]x, C = trace(J) - J."""
    (Axx, Ayy, Azz, Axy, Axz, Ayz), (Bx, By, Bz), C = body
    kind, hx, hy = tree[KIND, i], P[HX, i], P[HY, i]
    Bx, By, Bz = (Bx[0], Bx[1], Bx[2] - hy), (By[0], By[1], By[2] + hx), (Bz[0] + hy, Bz[1] - hx, Bz[2])
    if kind & SLIDES:
        m, hz = P[MASS, i], P[HZ, i]
        Axx, Ayy, Azz = Axx + m, Ayy + m, Azz + m
        Bx, By = (Bx[0], Bx[1] + hz, Bx[2]), (By[0] - hz, By[1], By[2])
    if not kind & PRISMATIC:
        xx, yy, zz, xy, xz, yz = C
        Jxx, Jyy = P[JXX, i], P[JYY, i]
        C = xx + Jyy, yy + Jxx, zz + (Jxx + Jyy), xy - P[JXY, i], xz - P[JXZ, i], yz - P[JYZ, i]
    return (Axx, Ayy, Azz, Axy, Axz, Ayz), (Bx, By, Bz), C
