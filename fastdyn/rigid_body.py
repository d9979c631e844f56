"""The dynamics of one rigid body: twists, wrenches and spatial inertias in any frame fixed to it.

Six-vectors have their linear part first. A twist is the velocity (v, w) of a frame's origin and of the body's rotation,
along the frame's own axes; its rate is the rate of change of these six numbers, so that the origin accelerates at v' +
w x v. A wrench is (f, m), the moment about the frame's origin; weight is a part of it. The equations have the same form
in every frame of the body (Fakhari, Robot Dynamics, Part 1):

    F = G V' - [ad_V]^T G V,   K = V^T G V / 2,   G_a = [Ad_T]^T G_b [Ad_T] with T the pose of frame a in frame b

>>> G = spatial_inertia(2.0, (0.0, 0.0, 0.5))  # a point mass half a metre from the frame's origin
>>> wrench(G, [0, 0, 0, 3, 0, 0], np.zeros(6)).tolist()  # turning about the origin takes a centripetal force
[0.0, 0.0, -9.0, 0.0, 0.0, 0.0]
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from fastdyn.arrays import Array, real_numbers
from fastdyn.errors import ArgumentError, NotFiniteError, SingularMassMatrixError
from fastdyn.mechanism.parts import EPS, checked_pose, frozen, not_negative
from fastdyn.rotations import skew


def spatial_inertia(mass: float, com: ArrayLike = (0, 0, 0), inertia: ArrayLike = ((0, 0, 0),) * 3) -> Array:
    """G of a body, (6, 6): [[m 1, -m [c]], [m [c], I - m [c]^2]]; I about the centre of mass, along the frame's axes.

    The figures of a body of `fastdyn.inertia` in this order: spatial_inertia(*body).

    >>> spatial_inertia(2.0, (0, 0, 1))[1].tolist()
    [0.0, 2.0, 0.0, -2.0, 0.0, 0.0]
    """
    m, c, I = not_negative(mass, "mass"), skew(frozen(com, (3,), "com")), frozen(inertia, (3, 3), "inertia")
    return np.block([[m * np.eye(3), -m * c], [m * c, I - m * c @ c]]) + 0.0  # no negative zeros


def adjoint(T: ArrayLike) -> Array:
    """[Ad_T], (6, 6): a twist of frame b, from the same twist in the frame whose pose in b is T (4x4, or x, y, z).

    >>> (adjoint((0, 0, 1)) @ [0, 0, 0, 1, 0, 0]).tolist()
    [0.0, 1.0, 0.0, 1.0, 0.0, 0.0]
    """
    pose = checked_pose(T, "T")
    R = pose[:3, :3]
    return np.block([[R, skew(pose[:3, 3]) @ R], [np.zeros((3, 3)), R]])


def inertia_in_frame(inertia: ArrayLike, T: ArrayLike) -> Array:
    """The spatial inertia of the same body in the frame with pose T: Steiner's theorem and rotation in one.

    >>> bool(np.array_equal(inertia_in_frame(spatial_inertia(2.0), (0, 0, -1)), spatial_inertia(2.0, (0, 0, 1))))
    True
    """
    Ad = adjoint(T)
    found: Array = Ad.T @ frozen(inertia, (6, 6), "inertia") @ Ad
    return found


def kinetic_energy(inertia: ArrayLike, twist: ArrayLike) -> Array:
    """V^T G V / 2, (...), J.

    >>> float(kinetic_energy(spatial_inertia(2.0, (0, 0, 0.5)), [0, 0, 0, 3, 0, 0]))
    2.25
    """
    V = _six(twist, "twist")
    found: Array = np.einsum("...i,ij,...j->...", V, frozen(inertia, (6, 6), "inertia"), V) / 2
    return found


def wrench(inertia: ArrayLike, twist: ArrayLike, rate: ArrayLike) -> Array:
    """Inverse dynamics: the wrench that a motion takes, (..., 6).

    >>> wrench(spatial_inertia(2.0), [1, 0, 0, 0, 0, 3], np.zeros(6)).tolist()  # round in a circle, its nose ahead
    [0.0, 6.0, 0.0, 0.0, 0.0, 0.0]
    """
    G, V = frozen(inertia, (6, 6), "inertia"), _six(twist, "twist")
    return _six(rate, "rate") @ G.T + _velocity_wrench(G, V)


def twist_rate(inertia: ArrayLike, twist: ArrayLike, wrench: ArrayLike) -> Array:
    """Forward dynamics: the rate of the twist under a wrench, (..., 6).

    >>> G = spatial_inertia(2.0, inertia=np.diag([1.0, 2.0, 3.0]))
    >>> twist_rate(G, [0, 0, 0, 1, 1, 0], [0, 0, -20, 0, 0, 0]).round(6) + 0.0  # a body that falls and tumbles
    array([  0.      ,   0.      , -10.      ,   0.      ,   0.      ,
            -0.333333])
    """
    G, V = frozen(inertia, (6, 6), "inertia"), _six(twist, "twist")
    size = np.sqrt(np.abs(np.diagonal(G)))
    # in units that make the diagonal ones: rounding moves an eigenvalue by less than 6 times 6 eps
    if not size.all() or np.linalg.eigvalsh(G / np.outer(size, size))[0] <= 36 * EPS:
        raise SingularMassMatrixError(f"inertia: expected one of a body that resists every motion, found {G.tolist()}")
    side = _six(wrench, "wrench") - _velocity_wrench(G, V)
    found: Array = np.linalg.solve(G, side[..., None])[..., 0].astype(np.float64, copy=False)
    return found


def carried(
    T: ArrayLike, base_twist: ArrayLike, base_rate: ArrayLike, twist: ArrayLike, rate: ArrayLike
) -> tuple[Array, Array]:
    """Twist and rate of a body that moves on a moving base: V = [Ad] V_0 + V_r, V' = [Ad] V'_0 + [ad_V] V_r + V'_r.

    T: pose of the body's frame in the base's. base_twist, base_rate: of the base, in its own frame. twist, rate: of the
    body as seen from the base, in the body's frame. Each (..., 6).

    >>> V, _ = carried((1, 0, 0), [0, 0, 0, 0, 0, 2], np.zeros(6), np.zeros(6), np.zeros(6))  # on a turning table
    >>> V.tolist()
    [0.0, 2.0, 0.0, 0.0, 0.0, 2.0]
    """
    from_base = np.linalg.inv(adjoint(T)).T
    own = _six(twist, "twist")
    V = _six(base_twist, "base_twist") @ from_base + own
    v, w = V[..., :3], V[..., 3:]
    bracket = [np.cross(w, own[..., :3]) + np.cross(v, own[..., 3:]), np.cross(w, own[..., 3:])]
    return V, _six(base_rate, "base_rate") @ from_base + np.concatenate(bracket, axis=-1) + _six(rate, "rate")


def _velocity_wrench(G: Array, V: Array) -> Array:
    """-[ad_V]^T G V = (w x p, v x p + w x L), with p and L the linear and the angular momentum."""
    momentum = V @ G.T
    v, w, p, L = V[..., :3], V[..., 3:], momentum[..., :3], momentum[..., 3:]
    return np.concatenate([np.cross(w, p), np.cross(v, p) + np.cross(w, L)], axis=-1)


def _six(values: ArrayLike, name: str) -> Array:
    """(..., 6) finite numbers; errors name the argument."""
    found = real_numbers(values, name).astype(np.float64, copy=False)
    if found.shape[-1:] != (6,):
        raise ArgumentError(f"{name} has shape {found.shape}: expected (..., 6)")
    if not np.isfinite(found).all():
        place = tuple(np.argwhere(~np.isfinite(found))[0].tolist())
        raise NotFiniteError(f"{name}[{', '.join(map(str, place))}] is {found[place]}: expected finite numbers")
    return found
