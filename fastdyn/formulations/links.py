"""What all texts ask of a link in a D-H chain. X rows begin with q."""

from fastdyn.formulations.dh_rows import *
from fastdyn.scalars import fill, kernel, load, sincos


@kernel
def is_rotary(T, i):
    return T[KIND, i] == ROTARY


@kernel
def joint_rotation(P, T, X, i):
    """Sine and cosine of theta_i."""
    if is_rotary(T, i):
        return sincos(load(X, i) + P[THETA, i])
    return sincos(fill(X, P[THETA, i]))


@kernel
def joint_distance(P, T, X, i):
    """d_i."""
    if is_rotary(T, i):
        return fill(X, P[D, i])
    return load(X, i) + P[D, i]


@kernel
def rotation(P, T, X, i):
    """Frame i turned into frame i - 1, R of (3.3-48)."""
    s, c = joint_rotation(P, T, X, i)
    ca, sa = P[COS_ALPHA, i], P[SIN_ALPHA, i]
    return (c, -(ca * s), sa * s), (s, ca * c, -(sa * c)), (fill(X, 0.0), fill(X, sa), fill(X, ca))


@kernel
def span(P, T, X, i):
    """p*_i, from the origin of frame i - 1 to that of frame i, along frame i. (3.3-59)"""
    d = joint_distance(P, T, X, i)
    return fill(X, P[A, i]), d * P[SIN_ALPHA, i], d * P[COS_ALPHA, i]


@kernel
def axis(P, X, i):
    """Joint i's axis, z of frame i - 1, along frame i."""
    return fill(X, 0.0), fill(X, P[SIN_ALPHA, i]), fill(X, P[COS_ALPHA, i])


@kernel
def centre(P, i):
    """The centre of mass s_i from frame i."""
    return P[SX, i], P[SY, i], P[SZ, i]


@kernel
def inertia(P, i):
    """I_i about the centre of mass, along frame i."""
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
def base_acceleration(P, X):
    """Minus gravity: a base that accelerates so spares every link its own gravity term. (3.3-46), problem 3.13"""
    return fill(X, -P[GX, 0]), fill(X, -P[GY, 0]), fill(X, -P[GZ, 0])
