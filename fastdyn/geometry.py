"""Homogeneous poses and the inertia of a point mass: NumPy functions of small arrays, for descriptions.

Poses are 4x4; angles are in rad, lengths in m. A pose T of a frame maps its coordinates to those of the frame it is
given in: x = T[:3, :3] @ x' + T[:3, 3].
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from fastdyn.arrays import Array
from fastdyn.errors import RobotError
from fastdyn.rotations import sine_cosine

# ---------------------------------------------------------------------------------------------- poses


def homogeneous(R: ArrayLike, p: ArrayLike = (0.0, 0.0, 0.0)) -> Array:
    """The pose of a frame with rotation R and origin p.

    >>> homogeneous(np.eye(3), (1, 2, 3))[:3].tolist()
    [[1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 2.0], [0.0, 0.0, 1.0, 3.0]]
    """
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R, p
    return T


def go(x: float, y: float, z: float) -> Array:
    """The pose of a frame that is only translated.

    >>> go(1, 2, 3)[:3, 3].tolist()
    [1.0, 2.0, 3.0]
    """
    return homogeneous(np.eye(3), (x, y, z))


def turn_x(angle: float) -> Array:
    """The pose of a frame rotated about x. Exact at multiples of a right angle.

    >>> turn_x(np.pi / 2)[:3, :3].tolist()
    [[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]
    """
    s, c = sine_cosine(angle)
    return np.array([[1, 0, 0, 0], [0, c, -s, 0], [0, s, c, 0], [0, 0, 0, 1.0]])


def turn_z(angle: float) -> Array:
    """The pose of a frame rotated about z. Exact at multiples of a right angle.

    >>> turn_z(np.pi / 2)[:3, :3].tolist()
    [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    s, c = sine_cosine(angle)
    return np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]])


def inverse(T: Array) -> Array:
    """The inverse of a pose, by the transpose of its rotation.

    >>> inverse(go(1, 2, 3))[:3, 3].tolist()
    [-1.0, -2.0, -3.0]
    """
    Rt = T[:3, :3].T
    return homogeneous(Rt, -Rt @ T[:3, 3])


# ---------------------------------------------------------------------------------------------- rigid bodies


def point_inertia(offset: ArrayLike) -> Array:
    """The inertia about the origin of a unit mass at `offset`: |p|^2 1 - p p^T. Times a mass: the parallel axis term.

    >>> point_inertia((0, 0, 2)).diagonal().tolist()
    [4.0, 4.0, 0.0]
    """
    p = _numbers(offset, 3, "offset")
    found: Array = p @ p * np.eye(3) - np.outer(p, p)
    return found


def _numbers(values: ArrayLike, count: int, what: str) -> Array:
    array = np.asarray(values, dtype=np.float64)
    if array.shape != (count,):
        raise RobotError(f"{what}: expected {count} numbers, found shape {array.shape}")
    return array
