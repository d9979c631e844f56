"""Poses and bodies against products of elementary rotations, and against each other.

A function here rounds each entry of a rotation, at most 1, in at most ten operations: 10 eps.
"""

import numpy as np
import pytest
from hypothesis import given

import fastdyn as fd
from fastdyn import geometry as geo
from fastdyn.rotations import skew, turn
from tests.test_rotations import ANGLES, RIGHT, ROUNDING, VECTORS, about, close, unit


@given(ANGLES)
def test_poses_turned_about_coordinate_axes(angle):
    close(geo.turn_x(angle), geo.homogeneous(about(0, angle)))
    close(geo.turn_z(angle), geo.homogeneous(about(2, angle)))


def test_poses_turned_by_right_angles_are_exact():
    for angle in RIGHT:
        for exact in (geo.turn_x(angle), geo.turn_z(angle)):
            assert set(np.unique(exact)) <= {-1.0, 0.0, 1.0}


@given(VECTORS, ANGLES, VECTORS)
def test_a_pose_and_its_inverse(v, angle, place):
    T = geo.homogeneous(turn(unit(v), angle), place)
    np.testing.assert_array_equal(T[3], (0, 0, 0, 1))
    close(geo.inverse(T) @ T, np.eye(4), 4 * ROUNDING)
    close(geo.inverse(T), np.linalg.inv(T), 20 * ROUNDING)  # elimination on a matrix of condition below 20
    np.testing.assert_array_equal(geo.inverse(geo.go(*place)), geo.go(*-np.asarray(place)))


@given(VECTORS, ANGLES, ANGLES, ANGLES)
def test_fd_pose_turns_about_fixed_axes_x_then_y_then_z(place, roll, pitch, yaw):
    T = fd.pose(place, rpy=(roll, pitch, yaw))
    turned = turn((0, 0, 1), yaw) @ turn((0, 1, 0), pitch) @ turn((1, 0, 0), roll)
    close(T[:3, :3], turned, 4 * ROUNDING)
    np.testing.assert_array_equal(T[:3, 3], place)
    np.testing.assert_array_equal(T[3], (0, 0, 0, 1))
    np.testing.assert_array_equal(fd.pose(place), geo.go(*place))


@given(VECTORS)
def test_the_inertia_of_a_point_is_its_cross_product_squared(p):
    S = skew(p)
    close(geo.point_inertia(p), S.T @ S)


def test_what_is_no_vector():
    with pytest.raises(fd.RobotError, match=r"offset: expected 3 numbers, found shape \(2,\)"):
        geo.point_inertia((1, 2))
