"""Rotations against SciPy, against long-double products of elementary rotations, and against each other.

A function rounds each entry of a rotation or unit quaternion, at most 1, in at most ten operations: 10 eps. Where two
rotations are multiplied, another three products and two sums are added to each entry. Sines and inverse tangents of
NumPy may be off by some units in the last place on some processors: this is within the ten.
"""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import fastdyn as fd
from fastdyn import rotations as rot

EPS = np.finfo(float).eps
ROUNDING = 10 * EPS
Real = np.longdouble
RIGHT = [k * math.pi / 2 for k in range(-4, 5)]
ANGLES = st.floats(-7, 7) | st.sampled_from(RIGHT) | st.floats(-1e-8, 1e-8)
TRIPLES = st.tuples(ANGLES, ANGLES, ANGLES)
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


@pytest.fixture(scope="module")
def turned():
    """Rotation vectors (K, 3): all directions, angles from 0 to pi, many of them near both ends."""
    rng = np.random.default_rng(2)
    axes = np.concatenate([np.eye(3), -np.eye(3), rng.normal(size=(94, 3))])
    small = np.geomspace(1e-16, 0.1, 18)
    angles = np.concatenate([[0.0], small, rng.uniform(0, np.pi, 20), np.pi - small])
    return (axes / np.linalg.norm(axes, axis=1)[:, None] * angles[:, None, None]).reshape(-1, 3)


# ---------------------------------------------------------------------------------------------- against SciPy


def test_matrices_are_scipys(turned):
    there = Rotation.from_rotvec(turned)
    angles = np.random.default_rng(3).uniform(-7, 7, (1000, 3))
    numbers = np.random.default_rng(4).normal(size=(1000, 4))
    close(rot.from_vector(turned), there.as_matrix(), 2 * ROUNDING)
    close(rot.from_quaternion(numbers), Rotation.from_quat(numbers[:, [1, 2, 3, 0]]).as_matrix(), 2 * ROUNDING)
    close(rot.from_rpy(angles), Rotation.from_euler("xyz", angles).as_matrix(), 2 * ROUNDING)
    close(rot.from_euler(angles), Rotation.from_euler("ZYZ", angles).as_matrix(), 2 * ROUNDING)


def test_quaternions_are_scipys_whichever_component_is_largest(turned):
    R = rot.from_vector(turned)
    q = rot.to_quaternion(R)
    assert min(np.bincount(np.abs(q).argmax(axis=1))) > 50
    there = Rotation.from_matrix(R).as_quat()[:, [3, 0, 1, 2]]
    close(q * np.sign((q * there).sum(axis=1))[:, None], there, 2 * ROUNDING)
    close(np.linalg.norm(q, axis=1), np.ones(len(q)))


def test_rotation_vectors_come_back_near_zero_and_near_half_a_turn(turned):
    found, size = rot.to_vector(rot.from_vector(turned)), np.linalg.norm(turned, axis=1)
    half = size > math.pi - 4 * ROUNDING  # both directions of the axis serve
    found[half] *= np.sign((found * turned).sum(axis=1))[half, None]
    assert half.any()
    # relative to the angle, as entries of R off the diagonal are as small as it is
    error = np.linalg.norm(found - turned, axis=1)
    assert (error[size > 0] / size[size > 0]).max() <= 4 * ROUNDING
    assert (found[size == 0] == 0).all()


def test_angles_are_scipys_away_from_singularities():
    angles = np.random.default_rng(5).uniform((-3, -1.5, -3), (3, 1.5, 3), (1000, 3))
    R = rot.from_rpy(angles)
    close(rot.to_rpy(R), angles, ROUNDING / math.cos(1.5))
    close(rot.to_rpy(R), Rotation.from_matrix(R).as_euler("xyz"), 2 * ROUNDING / math.cos(1.5))
    angles[:, 1] = np.abs(angles[:, 1]) + 0.07
    R = rot.from_euler(angles)
    close(rot.to_euler(R), angles, ROUNDING / math.sin(0.07))
    close(rot.to_euler(R), Rotation.from_matrix(R).as_euler("ZYZ"), 2 * ROUNDING / math.sin(0.07))


# ---------------------------------------------------------------------------------------------- matrices


@given(VECTORS, VECTORS)
def test_skew_is_the_cross_product(v, w):
    close(rot.skew(v) @ w, np.cross(v, w))
    np.testing.assert_array_equal(rot.skew(v), -rot.skew(v).T)


@given(VECTORS, ANGLES)
def test_a_turn_is_a_rotation_about_its_axis(v, angle):
    axis = unit(v)
    R = rot.turn(v, angle)
    assert off_rotation(R) <= 4 * ROUNDING
    close(R @ axis, axis)
    close(R @ rot.turn(axis, -angle), np.eye(3), 2 * ROUNDING)
    across = unit(np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))]))
    assert math.isclose(across @ R @ across, math.cos(angle), abs_tol=2 * ROUNDING)
    assert math.isclose(np.cross(axis, across) @ R @ across, math.sin(angle), abs_tol=2 * ROUNDING)


@given(ANGLES)
def test_turns_about_coordinate_axes(angle):
    for k, axis in enumerate(np.eye(3)):
        close(rot.turn(axis, angle), about(k, angle))


@given(VECTORS, st.floats(1e-12, 1e-2))
def test_small_turns_are_exact_relative_to_their_angle(v, angle):
    axis, half = unit(v), np.sin(Real(angle) / 2)
    S = rot.skew(axis).astype(Real)
    expected = np.sin(Real(angle)) * S + 2 * half**2 * S @ S
    off_diagonal = ~np.eye(3, dtype=bool)
    for R in (rot.turn(v, angle), rot.from_quaternion(quaternion(axis, angle)), rot.from_vector(angle * axis)):
        close(R[off_diagonal], expected[off_diagonal], ROUNDING * angle)


def test_right_angles_are_exact():
    angles = np.array(list(itertools.product(RIGHT[2:7], repeat=3)))
    for R in (rot.from_rpy(angles), rot.from_euler(angles)):
        assert not np.signbit(R[R == 0]).any()
        assert set(np.unique(R)) == {-1.0, 0.0, 1.0}


def test_angles_near_right_ones_stay_as_they_are():
    far = 2.0**30 * math.pi
    for angle in (1.5708, 1.5707963, np.nextafter(np.pi / 2, 0), np.nextafter(np.pi / 2, 2), far):
        assert rot.sine_cosine(angle) == (np.sin(angle), np.cos(angle))


# ---------------------------------------------------------------------------------------------- quaternions


def test_the_quaternion_that_the_report_prints_for_the_zero_position():
    R = [[0, 0, 1], [0, 1, 0], [-1, 0, 0]]
    close(rot.to_quaternion(R), (0.7071, 0, 0.7071, 0), 0.5e-4)  # the digits printed
    close(rot.to_quaternion(R), (math.sqrt(0.5), 0, math.sqrt(0.5), 0))


def test_the_sign_of_quaternions():
    for numbers, expected in {
        (-1, 2, 3, 4): (1, -2, -3, -4),
        (0, -1, 0, 0): (0, 1, 0, 0),
        (0, 0, -3, 4): (0, 0, 3, -4),
        (0, -1, 5, 2): (0, 1, -5, -2),
        (0, 0, 0, -1): (0, 0, 0, 1),
        (-1, 0, 0, 0): (1, 0, 0, 0),
    }.items():
        q = rot.to_quaternion(rot.from_quaternion(numbers))
        close(q, unit(expected))
        assert not np.signbit(q[q == 0]).any()


@given(st.tuples(*4 * [st.floats(-1, 1)]).filter(lambda q: np.linalg.norm(q) > 1e-3))
def test_quaternions_of_rotations_come_back(numbers):
    q = unit(numbers)
    found = rot.to_quaternion(rot.from_quaternion(numbers))
    assert found[0] >= 0
    close(found, q if found @ q > 0 else -q)


@given(VECTORS, ANGLES)
def test_quaternions_of_any_length_are_turns(v, angle):
    axis = unit(v)
    q = quaternion(axis, angle)
    for scale in (1.0, -1.0, 1e-5, 300.0, 1e-300, 1e300):
        close(rot.from_quaternion(scale * q), rot.turn(axis, angle), 2 * ROUNDING)


@given(VECTORS, ANGLES, VECTORS, ANGLES)
def test_the_product_of_quaternions_is_the_product_of_rotations(v, a, w, b):
    p, q = quaternion(unit(v), a), quaternion(unit(w), b)
    both = rot.from_quaternion(p) @ rot.from_quaternion(q)
    close(rot.from_quaternion(rot.quaternion_product(p, q)), both, 3 * ROUNDING)


def test_products_of_the_units():
    """(2.4)."""
    one, i, j, k = np.eye(4)
    product = rot.quaternion_product
    for p, q, expected in ((i, i, -one), (j, j, -one), (k, k, -one), (i, j, k), (j, k, i), (k, i, j), (j, i, -k)):
        np.testing.assert_array_equal(product(p, q), expected)


@given(VECTORS, ANGLES, st.floats(1e-3, 1e3), VECTORS)
def test_inverses_and_conjugates_turn_back(v, angle, length, vector):
    q = length * quaternion(unit(v), angle)
    close(rot.quaternion_product(q, rot.quaternion_inverse(q)), (1, 0, 0, 0))
    close(rot.quaternion_inverse(q) * length**2, rot.quaternion_conjugate(q), ROUNDING * length)
    turned = rot.rotate(q, vector)
    close(turned, rot.turn(v, angle) @ vector, 3 * ROUNDING)  # |vector| < 2
    close(rot.rotate(rot.quaternion_conjugate(q), turned), vector, 3 * ROUNDING)


@given(VECTORS, st.floats(-3.14, 3.14), st.floats(1e-3, 1e3))
def test_exponential_form(v, angle, length):
    axis = unit(v) * math.copysign(1.0, angle)
    q = rot.from_exponential(length, angle * unit(v))
    close(q, length * np.array([math.cos(angle), *(math.sin(abs(angle)) * axis)]), ROUNDING * length)
    found, vector = rot.to_exponential(q)
    assert math.isclose(found, length, rel_tol=ROUNDING)
    # near pi, where |v| sin is small, the direction is as precise as that sine
    close(vector, angle * unit(v), 4 * ROUNDING / max(abs(math.sin(angle)), 0.3) if abs(angle) > 1 else ROUNDING)


def test_exponential_form_of_real_numbers():
    for number, vector in ((2.0, (0, 0, 0)), (-2.0, (math.pi, 0, 0))):
        length, found = rot.to_exponential((number, 0, 0, 0))
        assert length == 2.0
        close(found, vector)
        close(rot.from_exponential(length, found), (number, 0, 0, 0))


# ---------------------------------------------------------------------------------------------- three angles


@given(TRIPLES)
def test_roll_pitch_yaw_turn_about_fixed_axes(rpy):
    R = rot.from_rpy(rpy)
    close(R, about(2, rpy[2]) @ about(1, rpy[1]) @ about(0, rpy[0]))
    assert off_rotation(R) <= 4 * ROUNDING


@given(TRIPLES)
def test_euler_angles_turn_about_current_axes(angles):
    R = rot.from_euler(angles)
    close(R, about(2, angles[0]) @ about(1, angles[1]) @ about(2, angles[2]))
    assert off_rotation(R) <= 4 * ROUNDING


@given(TRIPLES)
def test_angles_of_a_rotation_give_it_back(angles):
    R = rot.from_rpy(angles)
    rpy, euler = rot.to_rpy(R), rot.to_euler(R)
    assert abs(rpy[1]) <= math.pi / 2
    assert 0 <= euler[1] <= math.pi
    close(rot.from_rpy(rpy), R)  # what is dropped at gimbal lock is 2 eps
    close(rot.from_euler(euler), R)
    close(rot.from_euler(rot.to_euler(rot.from_euler(angles))), rot.from_euler(angles))


@given(st.floats(-3, 3), st.floats(-1.5, 1.5), st.floats(-3, 3))
def test_angles_away_from_singularities_are_unique(first, second, third):
    rpy, euler = (first, second, third), (first, math.pi / 2 + second, third)
    close(rot.to_rpy(rot.from_rpy(rpy)), rpy, ROUNDING / math.cos(second))
    close(rot.to_euler(rot.from_euler(euler)), euler, ROUNDING / math.cos(second))


@pytest.mark.parametrize("sign", [-1, 1])
@given(one=st.floats(-1.5, 1.5), other=st.floats(-1.5, 1.5))
def test_the_outer_turn_about_z_is_zero_where_it_is_not_determined(sign, one, other):
    close(rot.to_rpy(rot.from_rpy((one, sign * math.pi / 2, other))), (one - sign * other, sign * math.pi / 2, 0))
    second = 0.0 if sign == 1 else math.pi
    close(rot.to_euler(rot.from_euler((other, second, one))), (0, second, one + sign * other))


# ---------------------------------------------------------------------------------------------- rates


@given(st.floats(-3, 3), st.floats(-1.5, 1.5), st.floats(-3, 3), VECTORS)
def test_rates_of_angles_turn_about_their_axes(first, second, third, rates):
    x, y, z = np.eye(3)
    for angles, of, velocity, back, axes in (
        ((first, second, third), rot.from_rpy, rot.rpy_velocity, rot.rpy_rates,
         (about(2, third) @ about(1, second) @ x, about(2, third) @ y, z)),
        ((first, math.pi / 2 + second, third), rot.from_euler, rot.euler_velocity, rot.euler_rates,
         (z, about(2, first) @ y, about(2, first) @ about(1, math.pi / 2 + second) @ z)),
    ):  # fmt: skip
        w = np.transpose(axes) @ rates
        close(velocity(angles, rates), w, 3 * ROUNDING)  # three terms, rates at most 1
        close(velocity(angles, rates, local=True), of(angles).T @ w, 5 * ROUNDING)
        close(back(angles, velocity(angles, rates)), rates, 5 * ROUNDING / math.cos(second))
        close(back(angles, velocity(angles, rates, local=True), local=True), rates, 9 * ROUNDING / math.cos(second))


@given(VECTORS, ANGLES, st.floats(1e-3, 1e3), VECTORS)
def test_rates_of_quaternions(v, angle, length, w):
    q = length * quaternion(unit(v), angle)
    R = rot.from_quaternion(q)
    close(rot.quaternion_velocity(q, rot.quaternion_rates(q, w)), w, 2 * ROUNDING)
    close(rot.quaternion_velocity(q, rot.quaternion_rates(q, w) + 3 * q), w, 8 * ROUNDING)  # it grows, too
    close(rot.quaternion_velocity(q, rot.quaternion_rates(q, w, local=True), local=True), w, 2 * ROUNDING)
    close(rot.quaternion_rates(q, w, local=True), rot.quaternion_rates(q, R @ w), 4 * ROUNDING * length)


@pytest.mark.parametrize(
    ("back", "of", "at"),
    [
        (rot.rpy_rates, rot.from_rpy, (0.3, -0.8, 2.0)),
        (rot.euler_rates, rot.from_euler, (0.3, 0.8, 2.0)),
        (rot.quaternion_rates, rot.from_quaternion, (0.5, -0.1, 0.7, 0.2)),
    ],
)
def test_angular_velocity_is_the_rate_of_the_matrix(back, of, at):
    """dR/dt = [w]x R, or R [w]x in the turned frame's axes, by central differences."""
    w, h = np.array([0.4, -0.5, 0.6]), 1e-5
    for local in (False, True):
        rates = back(at, w, local=local)
        slope = (of(at + h * rates) - of(at - h * rates)) / (2 * h)
        expected = of(at) @ rot.skew(w) if local else rot.skew(w) @ of(at)
        close(slope, expected, 10 * h**2 + 2 * ROUNDING / h)  # third derivatives are below 60; rounding over h


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rot.rpy_rates([(0, 0, 0), (1, -np.pi / 2, 2)], (1, 2, 3)), r"rpy\[1\] is \[1.0, -1.57.*, pitch is a"),
        (lambda: rot.euler_rates((1, np.pi, 0), (1, 2, 3)), r"angles is \[1.0, 3.14.*, the second angle is 0 or pi"),
        (lambda: rot.euler_rates((1, 1e-16, 0), (1, 2, 3)), "the second angle is 0 or pi"),
    ],
)
def test_singular_angles_have_no_rates(call, message):
    with pytest.raises(fd.ArgumentError, match=message):
        call()


# ---------------------------------------------------------------------------------------------- batches and errors


def test_batches_are_their_samples(turned):
    v = turned[:12].reshape(3, 4, 3)
    R = rot.from_vector(v)
    q = rot.to_quaternion(R)
    assert (R.shape, q.shape) == ((3, 4, 3, 3), (3, 4, 4))
    for call, value in (
        (rot.from_vector, v), (rot.to_vector, R), (rot.to_quaternion, R), (rot.from_quaternion, q), (rot.to_rpy, R),
        (rot.to_euler, R), (rot.from_rpy, v), (rot.from_euler, v), (rot.skew, v), (rot.quaternion_inverse, q),
    ):  # fmt: skip
        single = np.array([[call(value[i, j]) for j in range(4)] for i in range(3)])
        close(call(value), single, 4 * EPS)  # SIMD and scalar sines may differ in the last place
        assert call(value[:0]).shape == (0, *call(value).shape[1:])
    assert rot.turn(v[0, 0] + 1, np.zeros((5, 2))).shape == (5, 2, 3, 3)
    assert rot.turn(v + 1, 0.3).shape == (3, 4, 3, 3)
    assert rot.rotate(q, v[0]).shape == (3, 4, 3)
    assert rot.rotate(q[0, 0], v).shape == (3, 4, 3)
    assert rot.quaternion_product(q[0, 0], q).shape == (3, 4, 4)
    assert rot.from_exponential(np.ones((2, 1, 1)), v).shape == (2, 3, 4, 4)
    assert rot.rpy_rates((0.1, 0.2, 0.3), v).shape == (3, 4, 3)
    assert rot.quaternion_velocity(q, q[0], local=True).shape == (3, 4, 3)


BAD = np.array([np.eye(3), np.diag([1, 1, -1.0])])
NOT_ALL_ZERO = "expected numbers that are not all zero, found"


@pytest.mark.parametrize("to", [rot.to_quaternion, rot.to_rpy, rot.to_euler, rot.to_vector])
@pytest.mark.parametrize(
    ("R", "kind", "message"),
    [
        (BAD, fd.ArgumentError, r"^R\[1\]: expected a rotation \(R R\^T = 1 to 1e-06, det R = 1\), found \[\[1.0"),
        (np.diag([1, 1, 1.00001]), fd.ArgumentError, r"^R: expected a rotation"),
        (1e200 * np.ones((3, 3)), fd.ArgumentError, r"^R: expected a rotation"),
        (np.where(np.eye(3), np.nan, 0), fd.NotFiniteError, r"^R\[0, 0\] is nan: expected finite numbers"),
        (np.eye(4), fd.ArgumentError, r"^R has shape \(4, 4\): expected \(..., 3, 3\)"),
        (np.eye(3) + 0j, fd.ArgumentTypeError, r"^R has dtype complex128: expected real numbers"),
        ([[1, 0, 0], [0, 1]], fd.ArgumentError, r"^R is not a rectangular array"),
        (np.ma.array(np.eye(3)), fd.ArgumentTypeError, r"^R is a masked"),
    ],
)
def test_what_is_no_rotation_is_refused(to, R, kind, message):
    with pytest.raises(kind, match=message):
        to(R)


def test_rotations_in_single_precision_are_taken(turned):
    R = rot.from_vector(turned).astype(np.float32)
    close(rot.from_quaternion(rot.to_quaternion(R)), R, 1e-6)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rot.skew((1, 2)), r"v has shape \(2,\): expected \(..., 3\)"),
        (lambda: rot.turn((0, 0, 0), 1.0), f"axis: {NOT_ALL_ZERO}"),
        (lambda: rot.turn((0, 0, 1), np.nan), "angle is nan: expected finite numbers"),
        (lambda: rot.turn(np.ones((3, 3)), np.ones(2)), r"batch axes do not fit together: axis \(3,\), angle \(2,\)"),
        (lambda: rot.from_quaternion((1, 2, 3)), r"quaternion has shape \(3,\): expected \(..., 4\)"),
        (lambda: rot.from_quaternion(np.diag([1, 1, 0, 1.0])), rf"quaternion\[2\]: {NOT_ALL_ZERO} \[0.0, 0.0, 0.0"),
        (lambda: rot.quaternion_inverse((0, 0, 0, 0)), f"quaternion: {NOT_ALL_ZERO}"),
        (lambda: rot.rotate((1, 0, 0, np.inf), (1, 2, 3)), r"quaternion\[3\] is inf: expected finite numbers"),
        (lambda: rot.rpy_velocity((0, 0, 0), (1, 2)), r"rates has shape \(2,\): expected \(..., 3\)"),
        (lambda: rot.from_rpy((0, 0, np.nan)), r"rpy\[2\] is nan: expected finite numbers"),
    ],
)
def test_what_is_no_vector_or_quaternion_is_refused(call, message):
    with pytest.raises(fd.ArgumentError, match=message):
        call()
