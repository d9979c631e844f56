"""Inertia of simple bodies and of compounds (kg, m, kg m^2), for robots described by hand.

The moments of uniform bodies are about their centres and along their own axes. A rod is a cylinder of zero radius.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fastdyn.errors import RobotError
from fastdyn.geometry import point_inertia
from fastdyn.mechanism.parts import Array, Link, checked_pose, frozen, not_negative


class Body(NamedTuple):
    """Mass, centre of mass and inertia about that centre: `Link("arm", *body)` makes a link of it."""

    mass: float
    com: Array
    inertia: Array


def box(mass: float, x: float, y: float, z: float) -> Array:
    """A cuboid with sides x, y and z.

    >>> box(12.0, 1.0, 2.0, 3.0).diagonal().tolist()
    [13.0, 10.0, 5.0]
    """
    m, x, y, z = _sizes(mass=mass, x=x, y=y, z=z)
    return _about(m * x * x / 12, m * y * y / 12, m * z * z / 12)


def cylinder(mass: float, radius: float, length: float) -> Array:
    """A solid cylinder along z.

    >>> cylinder(12.0, 1.0, 3.0).diagonal().tolist()
    [12.0, 12.0, 6.0]
    """
    m, r, h = _sizes(mass=mass, radius=radius, length=length)
    return _about(m * r * r / 4, m * r * r / 4, m * h * h / 12)


def ellipsoid(mass: float, a: float, b: float, c: float) -> Array:
    """A solid ellipsoid with semi-axes a, b and c along x, y and z.

    >>> ellipsoid(5.0, 1.0, 2.0, 3.0).diagonal().tolist()
    [13.0, 10.0, 5.0]
    """
    m, a, b, c = _sizes(mass=mass, a=a, b=b, c=c)
    return _about(m * a * a / 5, m * b * b / 5, m * c * c / 5)


def sphere(mass: float, radius: float) -> Array:
    """A solid sphere.

    >>> sphere(5.0, 1.0).diagonal().tolist()
    [2.0, 2.0, 2.0]
    """
    return ellipsoid(mass, radius, radius, radius)


def rod(mass: float, length: float) -> Array:
    """A slender rod along z.

    >>> rod(12.0, 2.0).diagonal().tolist()
    [4.0, 4.0, 0.0]
    """
    return cylinder(mass, 0.0, length)


def steiner(inertia: ArrayLike, mass: float, offset: ArrayLike) -> Array:
    """The inertia about a point `offset` away from the centre of mass, along the same axes: the parallel axis theorem.

    >>> steiner(rod(12.0, 2.0), 12.0, (0, 0, 1)).diagonal().tolist()
    [16.0, 16.0, 0.0]
    """
    (m,) = _sizes(mass=mass)
    p = frozen(offset, (3,), "offset")
    moved: Array = frozen(inertia, (3, 3), "inertia") + m * point_inertia(p)
    return moved


def compound(bodies: Iterable[tuple[float, ArrayLike, ArrayLike]]) -> Body:
    """Several bodies as one. Each is (mass, inertia about its centre of mass along its own axes, pose of its centre).

    A pose is 4x4, or three coordinates for a pure translation; the result is in the frame the poses are in.

    >>> hammer = compound([(1.0, rod(1.0, 0.3), (0, 0, 0.15)), (3.0, box(3.0, 0.1, 0.04, 0.04), (0, 0, 0.3))])
    >>> hammer.mass, hammer.com.round(6).tolist()
    (4.0, [0.0, 0.0, 0.2625])
    """
    parts = [_placed(i, *body) for i, body in enumerate(bodies, start=1)]
    if not parts:
        raise RobotError("compound: expected at least one body, found none")
    mass = sum(m for m, _, _ in parts)
    moment = np.sum([m * p for m, p, _ in parts], axis=0)
    com = moment / mass if mass > 0 else np.zeros(3)
    inertia = np.sum([steiner(I, m, p - com) for m, p, I in parts], axis=0)
    return Body(mass, com, inertia)


def principal_axes(inertia: ArrayLike) -> tuple[Array, Array]:
    """The principal moments, ascending, and the right-handed rotation R whose columns are their directions.

    inertia = R diag(moments) R^T. The signs of the first two columns make their largest components positive.

    >>> moments, R = principal_axes(np.diag([3.0, 1.0, 2.0]))
    >>> moments.tolist()
    [1.0, 2.0, 3.0]
    >>> R.tolist()
    [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    """
    matrix = np.asarray(Link("body", 0.0, (0, 0, 0), inertia).inertia)  # checked to be symmetric and not negative
    moments, axes = np.linalg.eigh((matrix + matrix.T) / 2)
    R = np.empty((3, 3))
    for i in range(2):
        axis = axes[:, i]
        R[:, i] = axis * np.sign(axis[np.argmax(np.abs(axis))])
    R[:, 2] = np.cross(R[:, 0], R[:, 1])
    return moments, R + 0.0  # no negative zeros


def _about(xx: float, yy: float, zz: float) -> Array:
    """The inertia from the second moments: the integrals of x^2, y^2 and z^2 over the mass."""
    return np.diag([yy + zz, xx + zz, xx + yy])


def _sizes(**given: float) -> list[float]:
    return [not_negative(value, name) for name, value in given.items()]


def _placed(number: int, mass: float, inertia: ArrayLike, where: ArrayLike) -> tuple[float, Array, Array]:
    """Mass, position and rotated inertia of a body of a compound."""
    what = f"body {number}"
    I = frozen(inertia, (3, 3), f"{what}, inertia")
    m = not_negative(mass, f"{what}, mass")
    if np.shape(where) == (3,):
        return m, frozen(where, (3,), f"{what}, place"), I
    T = checked_pose(where, f"{what}, pose")
    return m, T[:3, 3], T[:3, :3] @ I @ T[:3, :3].T
