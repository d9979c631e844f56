"""Rotations as matrices, quaternions, roll-pitch-yaw, Euler angles and rotation vectors, and their rates; batched.

A matrix R (..., 3, 3) takes coordinates in the turned frame to the reference frame: x = R x'. Quaternions (..., 4) are
(w, x, y, z), of any length but zero where they stand for a rotation. Angles are in rad, angular velocities (..., 3) in
rad/s, along the reference's axes, or along the turned frame's own if `local`. Leading axes broadcast as in NumPy.

What is no rotation (not orthonormal to 1e-6, a reflection, NaN) is refused by an error that names argument and element.

Equation numbers: M. Norrlöf, Modeling of industrial robots, LiTH-ISY-R-2208, 1999.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastdyn.arrays import Array, place, real_numbers
from fastdyn.errors import ArgumentError, NotFiniteError

EPS = float(np.finfo(float).eps)
ORTHONORMAL = 1e-6  # largest error of R R^T: rotations given in single precision pass
ROUNDED = 2 * EPS  # a sine or cosine not above this may be a rounded zero: two roundings


# ---------------------------------------------------------------------------------------------- matrices


def is_rotation(R: Array) -> NDArray[np.bool_]:
    """Whether R R^T = 1 to 1e-6, and det R > 0; (...), for each matrix of (..., 3, 3).

    >>> is_rotation(np.array([np.eye(3), -np.eye(3), 2 * np.eye(3)])).tolist()
    [True, False, False]
    """
    with np.errstate(over="ignore", invalid="ignore"):  # of large numbers, which are refused
        errors = np.abs(R @ np.swapaxes(R, -1, -2) - np.eye(3)).max((-2, -1))
        good: NDArray[np.bool_] = (errors <= ORTHONORMAL) & (np.linalg.det(R) > 0)
    return good


def skew(v: ArrayLike) -> Array:
    """The matrix of the cross product, (..., 3, 3): skew(v) @ w = v x w.

    >>> (skew((1, 2, 3)) @ (4, 5, 6)).tolist()
    [-3.0, 6.0, -3.0]
    """
    x, y, z = np.moveaxis(_read(v, "v", 3), -1, 0)
    zero = np.zeros_like(x)
    return _matrix([[zero, -z, y], [z, zero, -x], [-y, x, zero]])


def turn(axis: ArrayLike, angle: ArrayLike) -> Array:
    """The rotation about an axis (..., 3) of any length but zero by an angle (...): Rodrigues' formula.

    >>> turn((0, 0, 2), np.pi / 2).round(12).tolist()
    [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    axis, angle = _read(axis, "axis", 3), _read(angle, "angle")
    _check_lead(axis=axis.shape[:-1], angle=angle.shape)
    S, angle = skew(_scaled(axis, "axis")[0]), angle[..., None, None]
    half = np.sin(angle / 2)
    R: Array = np.eye(3) + np.sin(angle) * S + 2 * half * half * (S @ S)  # 1 - cos without cancellation
    return R


def sine_cosine(angle: ArrayLike) -> tuple[Array, Array]:
    """Sine and cosine, exact at multiples of a right angle: the cosine of pi/2 is 0, not 6e-17.

    >>> [float(x) for x in sine_cosine(np.pi / 2)]
    [1.0, 0.0]
    """
    s, c, quarters = np.sin(angle), np.cos(angle), np.divide(angle, np.pi / 2)
    right = (quarters == np.round(quarters)) & (np.abs(quarters) < 2**20)
    return np.where(right, np.round(s), s), np.where(right, np.round(c), c)


# ---------------------------------------------------------------------------------------------- quaternions


def from_quaternion(quaternion: ArrayLike) -> Array:
    """The rotation (..., 3, 3) of quaternions (..., 4) of any length but zero, (2.15).

    >>> from_quaternion((1, 0, 0, 1)).tolist()
    [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    q = _read(quaternion, "quaternion", 4)
    q = q / _largest(q, "quaternion")
    w, x, y, z = np.moveaxis(q, -1, 0)
    a = 2 / (q * q).sum(-1)  # of a unit quaternion 2; by the squared length no root is rounded
    R = [
        [1 - a * (y * y + z * z), a * (x * y - w * z), a * (x * z + w * y)],
        [a * (x * y + w * z), 1 - a * (x * x + z * z), a * (y * z - w * x)],
        [a * (x * z - w * y), a * (y * z + w * x), 1 - a * (x * x + y * y)],
    ]
    return _matrix(R) + 0.0  # no negative zeros


def to_quaternion(R: ArrayLike) -> Array:
    """The unit quaternion (..., 4) of a rotation, accurate at all angles.

    Its sign: w >= 0; where w = 0 (half a turn), the first of x, y, z that is not zero is positive.

    The right-hand sides of (2.16) to (2.19) are entries of 4 q q^T, of which each row is a multiple of q. The row of
    the largest of all four components never vanishes. (The means of two rows by (2.20) to (2.22) take w from (2.16)
    even where it is small, and then lose half its digits.)

    >>> to_quaternion([[0, 0, 1], [0, 1, 0], [-1, 0, 0]]).round(4).tolist()
    [0.7071, 0.0, 0.7071, 0.0]
    """
    R = _rotation(R)
    xx, yy, zz = R[..., 0, 0], R[..., 1, 1], R[..., 2, 2]
    wx, wy, wz = R[..., 2, 1] - R[..., 1, 2], R[..., 0, 2] - R[..., 2, 0], R[..., 1, 0] - R[..., 0, 1]  # (2.17)
    xy, xz, yz = R[..., 1, 0] + R[..., 0, 1], R[..., 2, 0] + R[..., 0, 2], R[..., 2, 1] + R[..., 1, 2]  # (2.19)
    rows = _matrix(
        [
            [1 + xx + yy + zz, wx, wy, wz],  # (2.16)
            [wx, 1 + xx - yy - zz, xy, xz],  # (2.18)
            [wy, xy, 1 - xx + yy - zz, yz],
            [wz, xz, yz, 1 - xx - yy + zz],
        ]
    )
    largest = np.argmax(np.diagonal(rows, axis1=-2, axis2=-1), axis=-1)
    q = np.take_along_axis(rows, largest[..., None, None], axis=-2)[..., 0, :]
    first = np.argmax(q != 0, axis=-1)  # of the components that are not zero
    sign = np.sign(np.take_along_axis(q, first[..., None], axis=-1))
    unit: Array = q * sign / np.linalg.norm(q, axis=-1, keepdims=True) + 0.0  # no negative zeros
    return unit


def quaternion_product(p: ArrayLike, q: ArrayLike) -> Array:
    """p * q, (2.6): the rotation q, then p.

    >>> quaternion_product((0, 1, 0, 0), (0, 0, 1, 0)).tolist()  # i j = k
    [0.0, 0.0, 0.0, 1.0]
    """
    p, q = _read(p, "p", 4), _read(q, "q", 4)
    _check_lead(p=p.shape[:-1], q=q.shape[:-1])
    return _product(p, q)


def quaternion_conjugate(quaternion: ArrayLike) -> Array:
    """(w, -x, -y, -z), (2.7): of a unit quaternion the inverse.

    >>> quaternion_conjugate((1, 2, 3, 4)).tolist()
    [1.0, -2.0, -3.0, -4.0]
    """
    return _read(quaternion, "quaternion", 4) * (1, -1, -1, -1)


def quaternion_inverse(quaternion: ArrayLike) -> Array:
    """The quaternion whose product with the given one is 1: the conjugate over the squared length, (2.9).

    >>> quaternion_inverse((0, 0, 2, 0)).tolist()
    [0.0, 0.0, -0.5, 0.0]
    """
    unit, length = _scaled(_read(quaternion, "quaternion", 4), "quaternion")
    inverse: Array = unit * (1, -1, -1, -1) / length + 0.0  # no negative zeros
    return inverse


def rotate(quaternion: ArrayLike, v: ArrayLike) -> Array:
    """Vectors (..., 3) turned by quaternions (..., 4) of any length but zero: q * v * q^-1, (2.14).

    >>> rotate((1, 0, 0, 1), (2, 0, 0)).round(12).tolist()
    [0.0, 2.0, 0.0]
    """
    q, v = _read(quaternion, "quaternion", 4), _read(v, "v", 3)
    _check_lead(quaternion=q.shape[:-1], v=v.shape[:-1])
    q = _scaled(q, "quaternion")[0]
    return _product(_product(q, _pure(v)), q * (1, -1, -1, -1))[..., 1:]


def from_exponential(length: ArrayLike, v: ArrayLike) -> Array:
    """The quaternion r e^v = r (cos |v| + v / |v| sin |v|) of lengths r (...) and vectors v (..., 3), (2.12).

    >>> from_exponential(2, (0, 0, np.pi / 3)).round(12).tolist()
    [1.0, 0.0, 0.0, 1.732050807569]
    """
    r, v = _read(length, "length"), _read(v, "v", 3)
    _check_lead(length=r.shape, v=v.shape[:-1])
    angle = _norm(v)
    ratio = np.where(angle > 0, np.sin(angle), 1.0) / np.where(angle > 0, angle, 1.0)
    parts = np.broadcast_arrays(r[..., None] * np.cos(angle), r[..., None] * ratio * v)
    return np.concatenate([parts[0][..., :1], parts[1]], axis=-1)


def to_exponential(quaternion: ArrayLike) -> tuple[Array, Array]:
    """The length r (...) of quaternions and the vector v (..., 3) with q = r e^v, |v| from 0 to pi, (2.10) to (2.12).

    For a unit quaternion, v is half the rotation vector. A negative real number has v along x, as good as any.

    >>> r, v = to_exponential((1, 0, 0, np.sqrt(3)))
    >>> r.round(12).tolist(), (v / np.pi).round(12).tolist()
    (2.0, [0.0, 0.0, 0.333333333333])
    """
    q, length = _scaled(_read(quaternion, "quaternion", 4), "quaternion")
    w, v = q[..., :1], q[..., 1:]
    size = _norm(v)
    angle = np.arctan2(size, w)
    v = np.where(size > 0, v, (1.0, 0.0, 0.0))
    return length[..., 0], angle / np.where(size > 0, size, 1.0) * v


# ---------------------------------------------------------------------------------------------- rotation vectors


def from_vector(v: ArrayLike) -> Array:
    """The rotation (..., 3, 3) about v (..., 3) by |v| rad.

    >>> from_vector((0, 0, np.pi / 2)).round(12).tolist()
    [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    return from_quaternion(from_exponential(1.0, _read(v, "v", 3) / 2))


def to_vector(R: ArrayLike) -> Array:
    """The rotation vector (..., 3): along the axis, as long as the angle, 0 to pi; accurate at 0 and at pi.

    At half a turn, where both directions of the axis serve, it is the one of `to_quaternion`.

    >>> to_vector(from_vector((0.0, 3e-9, -4e-9))).tolist()
    [0.0, 3e-09, -4e-09]
    """
    return 2 * to_exponential(to_quaternion(R))[1]


# ---------------------------------------------------------------------------------------------- three angles


def from_rpy(rpy: ArrayLike) -> Array:
    """The rotation (..., 3, 3) about the fixed x, y and z axes by roll, pitch and yaw (..., 3), as in URDF.

    Rz(yaw) Ry(pitch) Rx(roll); exact at multiples of a right angle.

    >>> from_rpy((0, np.pi / 2, 0)).tolist()
    [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]
    """
    (sr, sp, sy), (cr, cp, cy) = _sines_cosines(_read(rpy, "rpy", 3))
    R = [
        [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
        [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
        [-sp, cp * sr, cp * cr],
    ]
    return _matrix(R) + 0.0  # no negative zeros


def to_rpy(R: ArrayLike) -> Array:
    """Roll, pitch and yaw (..., 3) of rotations: the inverse of from_rpy, with pitch from -pi/2 to pi/2.

    Roll and pitch follow from the yaw that was found, so that no pitch is singular. Where pitch is a right angle up to
    rounding, only the sum or difference of roll and yaw is determined: yaw is then zero.

    >>> to_rpy(from_rpy((0.1, -0.2, 3.0))).round(12).tolist()
    [0.1, -0.2, 3.0]
    >>> to_rpy(from_rpy((0.1, np.pi / 2, 0.3))).round(12).tolist()
    [-0.2, 1.570796326795, 0.0]
    """
    R = _rotation(R)
    yaw, rest = _without_z(R, R[..., 0])
    pitch = np.arctan2(-rest[..., 2, 0], rest[..., 0, 0])
    roll = np.arctan2(-rest[..., 1, 2], rest[..., 1, 1])
    return np.stack([roll, pitch, yaw], axis=-1)


def from_euler(angles: ArrayLike) -> Array:
    """The rotation (..., 3, 3) of Euler angles (..., 3): about z, then the current y, then the current z.

    Rz(a) Ry(b) Rz(c), in the order of turning: the report's beta, alpha, gamma. Exact at multiples of a right angle.

    >>> from_euler((0, np.pi / 2, 0)).tolist()
    [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]
    """
    (sa, sb, sc), (ca, cb, cc) = _sines_cosines(_read(angles, "angles", 3))
    R = [
        [ca * cb * cc - sa * sc, -ca * cb * sc - sa * cc, ca * sb],
        [sa * cb * cc + ca * sc, -sa * cb * sc + ca * cc, sa * sb],
        [-sb * cc, sb * sc, cb],
    ]
    return _matrix(R) + 0.0  # no negative zeros


def to_euler(R: ArrayLike) -> Array:
    """Euler angles (..., 3) of rotations: the inverse of from_euler, with the second angle from 0 to pi.

    Where that is 0 or pi up to rounding, only the sum or difference of the others is determined: the first is zero.

    >>> to_euler(from_euler((0.1, 0.2, -3.0))).round(12).tolist()
    [0.1, 0.2, -3.0]
    >>> to_euler(from_euler((0.1, 0.0, 0.3))).round(12).tolist()
    [0.0, 0.0, 0.4]
    """
    R = _rotation(R)
    a, rest = _without_z(R, R[..., 2])
    b = np.arctan2(np.hypot(R[..., 0, 2], R[..., 1, 2]), R[..., 2, 2])
    c = np.arctan2(rest[..., 1, 0], rest[..., 1, 1])
    return np.stack([a, b, c], axis=-1)


# ---------------------------------------------------------------------------------------------- rates


def rpy_rates(rpy: ArrayLike, velocity: ArrayLike, local: bool = False) -> Array:
    """The rates (..., 3), rad/s, of roll, pitch and yaw at an angular velocity (..., 3).

    Where pitch is a right angle up to rounding, rates of roll and yaw are not determined: an ArgumentError.

    >>> rpy_rates((0, 0, np.pi / 2), (1, 0, 0)).tolist()
    [0.0, -1.0, 0.0]
    """
    rpy, w = _angles_and(rpy, "rpy", velocity, "velocity")
    w = _turned(from_rpy(rpy), w) if local else w
    (_, sp, sy), (_, cp, cy) = _sines_cosines(rpy)
    _check_regular(cp, rpy, "rpy", "pitch is a right angle: expected one at which roll and yaw have axes of their own")
    roll = (cy * w[..., 0] + sy * w[..., 1]) / cp
    return np.stack([roll, cy * w[..., 1] - sy * w[..., 0], w[..., 2] + sp * roll], axis=-1)


def rpy_velocity(rpy: ArrayLike, rates: ArrayLike, local: bool = False) -> Array:
    """The angular velocity (..., 3) at rates (..., 3), rad/s, of roll, pitch and yaw.

    >>> rpy_velocity((0, 0, np.pi / 2), (1, 0, 0)).tolist()
    [0.0, 1.0, 0.0]
    """
    rpy, rates = _angles_and(rpy, "rpy", rates, "rates")
    (_, sp, sy), (_, cp, cy) = _sines_cosines(rpy)
    roll, pitch, yaw = np.moveaxis(rates, -1, 0)
    w = np.stack([cy * cp * roll - sy * pitch, sy * cp * roll + cy * pitch, yaw - sp * roll], axis=-1)
    return _turned(np.swapaxes(from_rpy(rpy), -1, -2), w) if local else w


def euler_rates(angles: ArrayLike, velocity: ArrayLike, local: bool = False) -> Array:
    """The rates (..., 3), rad/s, of Euler angles at an angular velocity (..., 3).

    Where the second angle is 0 or pi up to rounding, rates of the others are not determined: an ArgumentError.

    >>> euler_rates((0, np.pi / 2, 0), (1, 2, 3)).tolist()
    [3.0, 2.0, 1.0]
    """
    angles, w = _angles_and(angles, "angles", velocity, "velocity")
    w = _turned(from_euler(angles), w) if local else w
    (sa, sb, _), (ca, cb, _) = _sines_cosines(angles)
    _check_regular(sb, angles, "angles", "the second angle is 0 or pi: expected one at which both z axes differ")
    c = (ca * w[..., 0] + sa * w[..., 1]) / sb
    return np.stack([w[..., 2] - cb * c, ca * w[..., 1] - sa * w[..., 0], c], axis=-1)


def euler_velocity(angles: ArrayLike, rates: ArrayLike, local: bool = False) -> Array:
    """The angular velocity (..., 3) at rates (..., 3), rad/s, of Euler angles.

    >>> euler_velocity((0, np.pi / 2, 0), (3, 2, 1)).tolist()
    [1.0, 2.0, 3.0]
    """
    angles, rates = _angles_and(angles, "angles", rates, "rates")
    (sa, sb, _), (ca, cb, _) = _sines_cosines(angles)
    a, b, c = np.moveaxis(rates, -1, 0)
    w = np.stack([ca * sb * c - sa * b, sa * sb * c + ca * b, a + cb * c], axis=-1)
    return _turned(np.swapaxes(from_euler(angles), -1, -2), w) if local else w


def quaternion_rates(quaternion: ArrayLike, velocity: ArrayLike, local: bool = False) -> Array:
    """The rates (..., 4), 1/s, of a quaternion of constant length at an angular velocity: w * q / 2, or q * w / 2.

    >>> quaternion_rates((1, 0, 0, 0), (0, 0, 2)).tolist()
    [0.0, 0.0, 0.0, 1.0]
    """
    q, w = _read(quaternion, "quaternion", 4), _read(velocity, "velocity", 3)
    _check_lead(quaternion=q.shape[:-1], velocity=w.shape[:-1])
    w = _pure(w)
    return (_product(q, w) if local else _product(w, q)) / 2


def quaternion_velocity(quaternion: ArrayLike, rates: ArrayLike, local: bool = False) -> Array:
    """The angular velocity (..., 3) at rates (..., 4), 1/s, of a quaternion; a change of its length does not count.

    >>> quaternion_velocity((1, 0, 0, 0), (0, 0, 0, 1)).tolist()
    [0.0, 0.0, 2.0]
    """
    q, rates = _read(quaternion, "quaternion", 4), _read(rates, "rates", 4)
    _check_lead(quaternion=q.shape[:-1], rates=rates.shape[:-1])
    back = quaternion_inverse(q)
    return 2 * (_product(back, rates) if local else _product(rates, back))[..., 1:]


# ---------------------------------------------------------------------------------------------- steps of the above


def _matrix(rows: list[list[Array]]) -> Array:
    """Matrices (..., r, c) from rows of arrays (...)."""
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def _product(p: Array, q: Array) -> Array:
    """(2.6)."""
    pw, px, py, pz = np.moveaxis(p, -1, 0)
    qw, qx, qy, qz = np.moveaxis(q, -1, 0)
    found = [
        pw * qw - px * qx - py * qy - pz * qz,
        pw * qx + qw * px + py * qz - pz * qy,
        pw * qy + qw * py + pz * qx - px * qz,
        pw * qz + qw * pz + px * qy - py * qx,
    ]
    return np.stack(found, axis=-1)


def _pure(v: Array) -> Array:
    """The quaternions (0, v)."""
    return np.concatenate([np.zeros_like(v[..., :1]), v], axis=-1)


def _turned(R: Array, v: Array) -> Array:
    turned: Array = (R @ v[..., None])[..., 0]
    return turned


def _sines_cosines(angles: Array) -> tuple[Array, Array]:
    """The sines and the cosines of (..., 3), each (3, ...)."""
    return sine_cosine(np.moveaxis(angles, -1, 0))


def _without_z(R: Array, across: Array) -> tuple[Array, Array]:
    """The angle about z in the direction of `across` (..., 3), and the rotation without it; 0 where there is none."""
    x, y = across[..., 0], across[..., 1]
    angle = np.where(np.hypot(x, y) <= ROUNDED, 0.0, np.arctan2(y, x))
    s, c = (part[..., None] for part in sine_cosine(angle))
    x, y, z = R[..., 0, :], R[..., 1, :], R[..., 2, :]
    return angle, np.stack([c * x + s * y, c * y - s * x, z], axis=-2)


def _norm(v: Array) -> Array:
    """Lengths (..., 1), also of vectors whose squares underflow."""
    return np.hypot(np.hypot(v[..., :1], v[..., 1:2]), v[..., 2:])


def _largest(v: Array, name: str) -> Array:
    """The magnitude of the largest component, (..., 1); raises where all are zero."""
    largest: Array = np.abs(v).max(axis=-1, keepdims=True)
    if not largest.all():
        where = tuple(np.argwhere(largest[..., 0] == 0)[0].tolist())
        raise ArgumentError(f"{name}{place(where)}: expected numbers that are not all zero, found {v[where].tolist()}")
    return largest


def _scaled(v: Array, name: str) -> tuple[Array, Array]:
    """Unit vectors, and their lengths (..., 1)."""
    largest = _largest(v, name)
    length: Array = np.linalg.norm(v / largest, axis=-1, keepdims=True)
    return v / largest / length, largest * length


# ---------------------------------------------------------------------------------------------- checks


def _read(value: ArrayLike, name: str, *core: int) -> Array:
    """Finite float64 numbers (..., *core)."""
    array = np.asarray(real_numbers(value, name), dtype=np.float64)
    if array.shape[max(array.ndim - len(core), 0) :] != core:
        raise ArgumentError(f"{name} has shape {array.shape}: expected (..., {', '.join(map(str, core))})")
    if not np.isfinite(array).all():
        where = tuple(np.argwhere(~np.isfinite(array))[0].tolist())
        raise NotFiniteError(f"{name}{place(where)} is {array[where]}: expected finite numbers")
    return array


def _rotation(value: ArrayLike) -> Array:
    """Rotations (..., 3, 3)."""
    R = _read(value, "R", 3, 3)
    good = is_rotation(R)
    if not good.all():
        where = tuple(np.argwhere(~good)[0].tolist())
        raise ArgumentError(
            f"R{place(where)}: expected a rotation (R R^T = 1 to {ORTHONORMAL:g}, det R = 1), found {R[where].tolist()}"
        )
    return R


def _angles_and(angles: ArrayLike, angles_name: str, value: ArrayLike, name: str) -> tuple[Array, Array]:
    """Two arrays (..., 3) with the same leading axes."""
    one, other = _read(angles, angles_name, 3), _read(value, name, 3)
    _check_lead(**{angles_name: one.shape[:-1], name: other.shape[:-1]})
    one, other = np.broadcast_arrays(one, other)
    return one, other


def _check_regular(size: Array, angles: Array, name: str, what: str) -> None:
    """Raises where a sine or cosine that rates are divided by is zero up to rounding."""
    singular = np.abs(size) <= ROUNDED
    if singular.any():
        where = tuple(np.argwhere(singular)[0].tolist())
        raise ArgumentError(f"{name}{place(where)} is {angles[where].tolist()}, {what}")


def _check_lead(**leads: tuple[int, ...]) -> None:
    """Raises where leading axes do not broadcast."""
    try:
        np.broadcast_shapes(*leads.values())
    except ValueError as problem:
        found = ", ".join(f"{name} {lead}" for name, lead in leads.items())
        raise ArgumentError(f"batch axes do not fit together: {found}") from problem
