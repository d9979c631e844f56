"""Rotations and poses against long-double products of elementary rotations, and against each other.

A function here rounds each entry of a rotation, at most 1, in at most ten operations: 10 eps. Where two rotations are
multiplied, another three products and two sums are added to each entry.
"""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastdyn as fd
from fastdyn import geometry as geo

EPS = np.finfo(float).eps
ROUNDING = 10 * EPS
Real = np.longdouble
RIGHT = [k * math.pi / 2 for k in range(-4, 5)]
ANGLES = st.floats(-7, 7) | st.sampled_from(RIGHT) | st.floats(-1e-8, 1e-8)
VECTORS = st.tuples(*3 * [st.floats(-1, 1)]).filter(lambda v: np.linalg.norm(v) > 1e-3)


def close(found, expected, tolerance=ROUNDING):
    np.testing.assert_allclose(found, np.asarray(expected, float), rtol=0, atol=tolerance)


def about(k, angle):
    """The rotation about coordinate axis k, in long doubles."""
    i, j = (k + 1) % 3, (k + 2) % 3
    R = np.eye(3, dtype=Real)
    R[i, i] = R[j, j] = np.cos(Real(angle))
    R[j, i] = np.sin(Real(angle))
    R[i, j] = -R[j, i]
    return R


def unit(v):
    return np.asarray(v) / np.linalg.norm(v)


def off_rotation(R):
    return max(np.abs(R @ R.T - np.eye(3)).max(), abs(np.linalg.det(R) - 1))


def quaternion(axis, angle):
    return np.array([math.cos(angle / 2), *(math.sin(angle / 2) * np.asarray(axis))])


def product(p, q):
    """Of two quaternions, by Hamilton's rule."""
    return np.array([p[0] * q[0] - p[1:] @ q[1:], *(p[0] * q[1:] + q[0] * p[1:] + np.cross(p[1:], q[1:]))])


# ---------------------------------------------------------------------------------------------- rotations


@given(VECTORS, VECTORS)
def test_skew_is_the_cross_product(v, w):
    close(geo.skew(v) @ w, np.cross(v, w))
    np.testing.assert_array_equal(geo.skew(v), -geo.skew(v).T)


@given(VECTORS, ANGLES)
def test_a_turn_is_a_rotation_about_its_axis(v, angle):
    axis = unit(v)
    R = geo.turn(axis, angle)
    assert off_rotation(R) <= 4 * ROUNDING
    close(R @ axis, axis)
    close(R @ geo.turn(axis, -angle), np.eye(3), 2 * ROUNDING)
    across = unit(np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))]))
    assert math.isclose(across @ R @ across, math.cos(angle), abs_tol=2 * ROUNDING)
    assert math.isclose(np.cross(axis, across) @ R @ across, math.sin(angle), abs_tol=2 * ROUNDING)


@given(ANGLES)
def test_turns_about_coordinate_axes(angle):
    for k, axis in enumerate(np.eye(3)):
        close(geo.turn(axis, angle), about(k, angle))
    close(geo.turn_x(angle), geo.homogeneous(about(0, angle)))
    close(geo.turn_z(angle), geo.homogeneous(about(2, angle)))


@given(VECTORS, st.floats(1e-12, 1e-2))
def test_small_turns_are_exact_relative_to_their_angle(v, angle):
    axis, half = unit(v), np.sin(Real(angle) / 2)
    S = geo.skew(axis).astype(Real)
    expected = np.sin(Real(angle)) * S + 2 * half**2 * S @ S
    off_diagonal = ~np.eye(3, dtype=bool)
    for R in (geo.turn(axis, angle), geo.rotation_from_quaternion(quaternion(axis, angle))):
        close(R[off_diagonal], expected[off_diagonal], ROUNDING * angle)


def test_right_angles_are_exact():
    for angles in itertools.product(RIGHT[2:7], repeat=3):
        R = geo.rotation_from_rpy(*angles)
        assert not np.signbit(R[R == 0]).any()
        for exact in (R, geo.turn_x(angles[0]), geo.turn_z(angles[1])):
            assert set(np.unique(exact)) <= {-1.0, 0.0, 1.0}


def test_angles_near_right_ones_stay_as_they_are():
    for angle in (1.5708, 1.5707963, np.nextafter(np.pi / 2, 0), np.nextafter(np.pi / 2, 2)):
        assert geo.sine_cosine(angle) == (math.sin(angle), math.cos(angle))
    far = 2.0**30 * math.pi
    assert geo.sine_cosine(far) == (math.sin(far), math.cos(far))


@given(ANGLES, ANGLES, ANGLES)
def test_roll_pitch_yaw_turn_about_fixed_axes(roll, pitch, yaw):
    R = geo.rotation_from_rpy(roll, pitch, yaw)
    close(R, about(2, yaw) @ about(1, pitch) @ about(0, roll))
    assert off_rotation(R) <= 4 * ROUNDING


@given(ANGLES, ANGLES, ANGLES)
def test_roll_pitch_yaw_of_a_rotation_give_it_back(roll, pitch, yaw):
    R = geo.rotation_from_rpy(roll, pitch, yaw)
    found = geo.rpy_from_rotation(R)
    assert abs(found[1]) <= math.pi / 2
    close(geo.rotation_from_rpy(*found), R, 1e-15)  # what is dropped at gimbal lock is 2 eps


@given(st.floats(-3, 3), st.floats(-1.5, 1.5), st.floats(-3, 3))
def test_roll_pitch_yaw_away_from_gimbal_lock_are_unique(roll, pitch, yaw):
    found = geo.rpy_from_rotation(geo.rotation_from_rpy(roll, pitch, yaw))
    close(found, (roll, pitch, yaw), ROUNDING / math.cos(pitch))


@pytest.mark.parametrize("sign", [-1, 1])
@given(roll=st.floats(-1.5, 1.5), yaw=st.floats(-1.5, 1.5))
def test_yaw_is_zero_at_gimbal_lock(sign, roll, yaw):
    close(geo.rpy_from_rotation(geo.rotation_from_rpy(roll, sign * math.pi / 2, yaw)),
          (roll - sign * yaw, sign * math.pi / 2, 0))  # fmt: skip


@given(VECTORS, ANGLES)
def test_quaternions_of_any_length_are_turns(v, angle):
    axis = unit(v)
    q = quaternion(axis, angle)
    for scale in (1.0, -1.0, 1e-5, 300.0):
        close(geo.rotation_from_quaternion(scale * q), geo.turn(axis, angle), 2 * ROUNDING)


@given(VECTORS, ANGLES, VECTORS, ANGLES)
def test_the_product_of_quaternions_is_the_product_of_rotations(v, a, w, b):
    p, q = quaternion(unit(v), a), quaternion(unit(w), b)
    both = geo.rotation_from_quaternion(p) @ geo.rotation_from_quaternion(q)
    close(geo.rotation_from_quaternion(product(p, q)), both, 3 * ROUNDING)


# ---------------------------------------------------------------------------------------------- poses and bodies


@given(VECTORS, ANGLES, VECTORS)
def test_a_pose_and_its_inverse(v, angle, place):
    T = geo.homogeneous(geo.turn(unit(v), angle), place)
    np.testing.assert_array_equal(T[3], (0, 0, 0, 1))
    close(geo.inverse(T) @ T, np.eye(4), 4 * ROUNDING)
    close(geo.inverse(T), np.linalg.inv(T), 20 * ROUNDING)  # elimination on a matrix of condition below 20
    np.testing.assert_array_equal(geo.inverse(geo.go(*place)), geo.go(*-np.asarray(place)))


@given(VECTORS, ANGLES, ANGLES, ANGLES)
def test_fd_pose_turns_about_fixed_axes_x_then_y_then_z(place, roll, pitch, yaw):
    T = fd.pose(place, rpy=(roll, pitch, yaw))
    turned = geo.turn((0, 0, 1), yaw) @ geo.turn((0, 1, 0), pitch) @ geo.turn((1, 0, 0), roll)
    close(T[:3, :3], turned, 4 * ROUNDING)
    np.testing.assert_array_equal(T[:3, 3], place)
    np.testing.assert_array_equal(T[3], (0, 0, 0, 1))
    np.testing.assert_array_equal(fd.pose(place), geo.go(*place))


@given(VECTORS)
def test_the_inertia_of_a_point_is_its_cross_product_squared(p):
    S = geo.skew(p)
    close(geo.point_inertia(p), S.T @ S)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: geo.skew((1, 2)), r"vector: expected 3 numbers, found shape \(2,\)"),
        (lambda: geo.rotation_from_quaternion((1, 2, 3)), r"quaternion: expected 4 numbers, found shape \(3,\)"),
        (lambda: geo.rotation_from_quaternion((0, 0, 0, 0)), "quaternion: expected numbers that are not all zero"),
    ],
)
def test_what_is_no_vector_or_quaternion(call, message):
    with pytest.raises(fd.RobotError, match=message):
        call()
