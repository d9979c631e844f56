"""Quantities of a link in a D-H chain that several formulations use."""

from fastdyn.formulations.dh_rows import *
from fastdyn.scalars import fill, kernel, load, sincos


@kernel
def is_rotary(kinds, i):
    return kinds[KIND, i] == ROTARY


@kernel
def joint_rotation(P, kinds, q, i):
    """Sine and cosine of theta_i."""
    if is_rotary(kinds, i):
        return sincos(load(q, i) + P[THETA, i])
    return sincos(fill(q, P[THETA, i]))


@kernel
def joint_distance(P, kinds, q, i):
    """d_i."""
    if is_rotary(kinds, i):
        return fill(q, P[D, i])
    return load(q, i) + P[D, i]


@kernel
def rotation(P, kinds, q, i):
    """Rotation from frame i into frame i - 1, R of (3.3-48)."""
    s, c = joint_rotation(P, kinds, q, i)
    ca, sa = P[COS_ALPHA, i], P[SIN_ALPHA, i]
    return (c, -(ca * s), sa * s), (s, ca * c, -(sa * c)), (fill(q, 0.0), fill(q, sa), fill(q, ca))


@kernel
def span(P, kinds, q, i):
    """p*_i, from the origin of frame i - 1 to that of frame i, in frame i. (3.3-59)"""
    d = joint_distance(P, kinds, q, i)
    return fill(q, P[A, i]), d * P[SIN_ALPHA, i], d * P[COS_ALPHA, i]


@kernel
def axis(P, buffer, i):
    """Axis of joint i, z of frame i - 1, in frame i."""
    return fill(buffer, 0.0), fill(buffer, P[SIN_ALPHA, i]), fill(buffer, P[COS_ALPHA, i])


@kernel
def centre(P, i):
    """Centre of mass s_i in frame i."""
    return P[SX, i], P[SY, i], P[SZ, i]


@kernel
def inertia(P, i):
    """I_i about the centre of mass, axes of frame i."""
    return (
        (P[IXX, i], P[IXY, i], P[IXZ, i]),
        (P[IXY, i], P[IYY, i], P[IYZ, i]),
        (P[IXZ, i], P[IYZ, i], P[IZZ, i]),
    )


@kernel
def gravity(P):
    """The gravity vector in frame 0."""
    return P[GX, 0], P[GY, 0], P[GZ, 0]


@kernel
def base_acceleration(P, buffer):
    """The base accelerates at -g, so that no link needs its own gravity term. (3.3-46), problem 3.13"""
    return fill(buffer, -P[GX, 0]), fill(buffer, -P[GY, 0]), fill(buffer, -P[GZ, 0])
