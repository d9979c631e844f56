"""Joints: the motion of the link, the component of a wrench along the joint, the inertia that acts on it.

Everything that depends on the type of a joint, except the parts of one algorithm, is here. A joint's unit motion is

    revolute: rotation about z;   prismatic: translation along z;   helical: the rotation, and PITCH of the translation.

`turns` holds each link's angle about its joint: n sines, then n cosines, in the model's order of links.
"""

from fastdyn.kernels.rows import *
from fastdyn.scalars import angle_sum, by_sign, fill, kernel, load, sincos_rows, store
from fastdyn.scalars.vectors import *

TURN = 2  # rows of a link's sine and cosine


@kernel
def turn_all(P, tree, q, turns):
    """Sine and cosine of the angle between each link and its parent, about the joint's axis."""
    n = P.shape[1]
    for i in range(n):
        store(turns, i, angle_sum(load(q, tree[INDEX, i]), P[OFFSET, i]))
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
    """Travel along z for a coordinate, speed for a rate, ..., of a prismatic or helical joint."""
    return P[PITCH, i] * value if tree[KIND, i] & HELICAL else value


@kernel
def travel(P, tree, q, i):
    """Travel of a link along z, by its prismatic or helical joint."""
    return along(P, tree, i, load(q, tree[INDEX, i]))


# ---------------------------------------------------------------------------------------------- motion


@kernel
def slid(P, tree, q, i, motion):
    """A motion given at link i's origin at q = 0, as the motion at its origin."""
    v, w = motion
    if tree[KIND, i] & SLIDES:
        d = travel(P, tree, q, i)
        return (v[0] + w[1] * d, v[1] - w[0] * d, v[2]), w
    return v, w


@kernel
def plus_joint(P, tree, i, motion, rate):
    """A link's motion plus the joint's: its unit motion times a rate."""
    v, w = motion
    kind = tree[KIND, i]
    if kind & SLIDES:
        v = v[0], v[1], v[2] + along(P, tree, i, rate)
        if kind & PRISMATIC:
            return v, w
    return v, (w[0], w[1], w[2] + rate)


@kernel
def slide_rate(P, tree, q, qd, i, w):
    """Velocity of link i's origin relative to its position at q = 0; w: the link's angular velocity."""
    d = travel(P, tree, q, i)
    return w[1] * d, -(w[0] * d), along(P, tree, i, load(qd, tree[INDEX, i]))


# ---------------------------------------------------------------------------------------------- force


@kernel
def felt(P, tree, i, wrench):
    """The component of a wrench on link i along its joint: its power at the joint's unit motion. (3.3-58)"""
    force, moment = wrench
    kind = tree[KIND, i]
    if kind & SLIDES:
        if kind & PRISMATIC:
            return force[2]
        return moment[2] + P[PITCH, i] * force[2]
    return moment[2]


@kernel
def at_zero(P, tree, q, i, wrench):
    """A wrench on link i, about its origin at q = 0."""
    f, n = wrench
    if tree[KIND, i] & SLIDES:
        d = travel(P, tree, q, i)
        return f, (n[0] - d * f[1], n[1] + d * f[0], n[2])
    return f, n


@kernel
def friction(P, tree, qd, i):
    """Friction of joint i, whose KIND has RUBS."""
    rate = load(qd, tree[INDEX, i])
    return rate * P[VISCOUS, i] + by_sign(rate, P[PLUS, i], P[MINUS, i])


# ---------------------------------------------------------------------------------------------- inertia


@kernel
def unit_wrench(P, tree, i, body, zero):
    """The wrench that gives a rigid body (m, h, J) on joint i, at rest, the joint's unit acceleration.

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
    """The wrench that gives an articulated body (A, B, C) on joint i, at rest, the joint's unit acceleration."""
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
    """A rigid body (m, h, J) plus the remaining inertia of link i."""
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
    """An articulated body (A, B, C) plus the remaining inertia of link i: A = m, B = -[h]x, C = trace(J) - J."""
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
