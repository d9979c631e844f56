"""Rotations, homogeneous poses and the inertia of a point mass: NumPy functions of small arrays, for descriptions.

Rotations are 3x3, poses 4x4; angles are in rad, lengths in m. A pose T of a frame maps its coordinates to those of the
frame it is given in: x = T[:3, :3] @ x' + T[:3, 3].
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastdyn.errors import RobotError

Array = NDArray[np.float64]
EPS = float(np.finfo(float).eps)

# ---------------------------------------------------------------------------------------------- rotations


def skew(v: ArrayLike) -> Array:
    """The matrix of the cross product: skew(v) @ w = v x w.

    >>> (skew((1, 2, 3)) @ (4, 5, 6)).tolist()
    [-3.0, 6.0, -3.0]
    """
    x, y, z = _numbers(v, 3, "vector")
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def turn(axis: ArrayLike, angle: float) -> Array:
    """The rotation about a unit vector by an angle: Rodrigues' formula.

    >>> turn((0, 0, 1), np.pi / 2).round(12).tolist()
    [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    s, half = math.sin(angle), math.sin(angle / 2)
    S = skew(axis)
    R: Array = np.eye(3) + s * S + 2 * half * half * S @ S  # 1 - cos = 2 sin^2(angle / 2), accurate at small angles
    return R


def rotation_from_rpy(roll: float, pitch: float, yaw: float) -> Array:
    """Rotations about the fixed x, y and z axes, in this order, as in URDF. Exact at multiples of a right angle.

    >>> rotation_from_rpy(0, np.pi / 2, 0).tolist()
    [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]
    """
    (sr, cr), (sp, cp), (sy, cy) = map(sine_cosine, (roll, pitch, yaw))
    R = np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )
    return R + 0.0  # no negative zeros


def rpy_from_rotation(R: Array) -> tuple[float, float, float]:
    """Roll, pitch and yaw of a rotation: the inverse of rotation_from_rpy.

    Roll and pitch follow from the yaw that was found, so that no pitch is singular. Where pitch is a right angle up to
    rounding, only the sum or difference of roll and yaw is determined: yaw is then zero.

    >>> np.round(rpy_from_rotation(rotation_from_rpy(0.1, -0.2, 3.0)), 12).tolist()
    [0.1, -0.2, 3.0]
    >>> np.round(rpy_from_rotation(rotation_from_rpy(0.1, np.pi / 2, 0.3)), 12).tolist()
    [-0.2, 1.570796326795, 0.0]
    """
    locked = math.hypot(R[0, 0], R[1, 0]) <= 2 * EPS  # two roundings
    yaw = 0.0 if locked else math.atan2(R[1, 0], R[0, 0])
    s, c = math.sin(yaw), math.cos(yaw)
    pitch = math.atan2(-R[2, 0], c * R[0, 0] + s * R[1, 0])
    roll = math.atan2(s * R[0, 2] - c * R[1, 2], c * R[1, 1] - s * R[0, 1])
    return roll, pitch, yaw


def rotation_from_quaternion(quaternion: ArrayLike) -> Array:
    """The rotation of a quaternion (w, x, y, z) of any length but zero.

    >>> rotation_from_quaternion((1, 0, 0, 1)).round(12).tolist()
    [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    found = _numbers(quaternion, 4, "quaternion")
    length = float(np.linalg.norm(found))
    if length == 0:
        raise RobotError("quaternion: expected numbers that are not all zero, found four zeros")
    w, x, y, z = found / length
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def sine_cosine(angle: float) -> tuple[float, float]:
    """Sine and cosine, exact at multiples of a right angle: the cosine of pi/2 is 0, not 6e-17.

    >>> sine_cosine(np.pi / 2), sine_cosine(0.0)
    ((1.0, 0.0), (0.0, 1.0))
    """
    s, c = math.sin(angle), math.cos(angle)
    quarters = angle / (math.pi / 2)
    if quarters == round(quarters) and abs(quarters) < 2**20:
        s, c = float(round(s)), float(round(c))
    return s, c


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
