"""Inertia of simple bodies against numeric integration over their mass, and of bodies put together."""

import numpy as np
import pytest

import fastdyn as fd
from fastdyn.inertia import box, compound, cylinder, ellipsoid, principal_axes, rod, sphere, steiner
from fastdyn.rotations import turn

X, W = np.polynomial.legendre.leggauss(12)  # exact for polynomials of degree 23
ROUNDING = 1e-13  # of sums over a few thousand points


def cloud(density, *axes):
    """Points and weights of a product rule: axes are (low, high), density maps them to (places, weight per volume)."""
    grids = np.meshgrid(*[(a + b) / 2 + (b - a) / 2 * X for a, b in axes], indexing="ij")
    weights = np.meshgrid(*[(b - a) / 2 * W for a, b in axes], indexing="ij")
    places, jacobian = density(*[g.ravel() for g in grids])
    return np.array(places).T, np.prod([w.ravel() for w in weights], axis=0) * jacobian


def box_points(x, y, z):
    return cloud(lambda u, v, w: ((u, v, w), 1.0), (-x / 2, x / 2), (-y / 2, y / 2), (-z / 2, z / 2))


def cylinder_points(radius, length):
    def density(r, phi, z):
        return (r * np.cos(phi), r * np.sin(phi), z), r

    return cloud(density, (0, radius), (0, 2 * np.pi), (-length / 2, length / 2))


def ellipsoid_points(a, b, c):
    def density(r, phi, u):  # u: cosine of the angle from z
        s = np.sqrt(1 - u * u)
        return (a * r * s * np.cos(phi), b * r * s * np.sin(phi), c * r * u), a * b * c * r * r

    return cloud(density, (0, 1), (0, 2 * np.pi), (-1, 1))


def integrated(points, weights, mass):
    """Mass, centre of mass and inertia about it, as sums over points."""
    share = weights * mass / weights.sum()
    com = share @ points / mass
    arms = points - com
    inertia = np.einsum("k,ka,ka->", share, arms, arms) * np.eye(3) - np.einsum("k,ka,kb->ab", share, arms, arms)
    return mass, com, inertia


@pytest.mark.parametrize(
    ("formula", "points"),
    [
        (box(2.0, 0.3, 0.5, 0.9), box_points(0.3, 0.5, 0.9)),
        (cylinder(2.0, 0.3, 0.9), cylinder_points(0.3, 0.9)),
        (ellipsoid(2.0, 0.3, 0.5, 0.9), ellipsoid_points(0.3, 0.5, 0.9)),
        (sphere(2.0, 0.3), ellipsoid_points(0.3, 0.3, 0.3)),
        (rod(2.0, 0.9), box_points(1e-12, 1e-12, 0.9)),
    ],
    ids=["box", "cylinder", "ellipsoid", "sphere", "rod"],
)
def test_moments_are_the_integrals_over_the_mass(formula, points):
    _, com, inertia = integrated(*points, mass=2.0)
    # angles are integrated by a rule that is exact for polynomials only: 12 points leave 1e-8 of cos^2
    np.testing.assert_allclose(com, 0, atol=1e-9)
    np.testing.assert_allclose(formula, inertia, rtol=1e-7, atol=1e-9)


def test_compound_is_the_integral_over_all_its_bodies():
    rng = np.random.default_rng(7)
    bodies = [
        (2.0, box(2.0, 0.3, 0.5, 0.9), box_points(0.3, 0.5, 0.9)),
        (0.7, box(0.7, 0.2, 0.1, 0.4), box_points(0.2, 0.1, 0.4)),
        (1.1, rod(1.1, 0.6), box_points(1e-12, 1e-12, 0.6)),
    ]
    given, places, weights = [], [], []
    for mass, inertia, (points, volume) in bodies:
        pose = np.eye(4)
        axis = rng.normal(size=3)
        pose[:3, :3] = turn(axis / np.linalg.norm(axis), rng.uniform(-3, 3))
        pose[:3, 3] = rng.uniform(-1, 1, 3)
        given.append((mass, inertia, pose))
        places.append(points @ pose[:3, :3].T + pose[:3, 3])
        weights.append(mass * volume / volume.sum())
    mass, com, inertia = integrated(np.concatenate(places), np.concatenate(weights), 3.8)
    found = compound(given)
    assert found.mass == pytest.approx(mass, rel=ROUNDING)
    np.testing.assert_allclose(found.com, com, rtol=0, atol=ROUNDING)
    np.testing.assert_allclose(found.inertia, inertia, rtol=0, atol=100 * ROUNDING)


def test_halves_of_a_box_make_the_box():
    halves = [(1.5, box(1.5, 0.5, 2.0, 3.0), (x, 0, 0)) for x in (-0.25, 0.25)]
    np.testing.assert_allclose(compound(halves).inertia, box(3.0, 1.0, 2.0, 3.0), rtol=ROUNDING)


def test_compound_of_one_body_is_that_body_turned():
    pose = np.eye(4)
    pose[:3, :3] = turn((0, 0, 1), np.pi / 2)
    pose[:3, 3] = 1, 2, 3
    mass, com, inertia = compound([(2.0, np.diag([1.0, 2.0, 2.5]), pose)])
    assert mass == 2.0
    np.testing.assert_array_equal(com, (1, 2, 3))
    np.testing.assert_allclose(inertia, np.diag([2.0, 1.0, 2.5]), rtol=0, atol=1e-15)


def test_a_compound_makes_a_link():
    link = fd.Link("hammer", *compound([(1.0, rod(1.0, 0.3), (0, 0, 0.15)), (0.0, np.zeros((3, 3)), np.eye(4))]))
    assert link.mass == 1.0


def test_massless_bodies_have_a_compound():
    mass, com, inertia = compound([(0.0, np.diag([1.0, 1.0, 0.0]), (0, 0, 1)), (0.0, np.zeros((3, 3)), (1, 0, 0))])
    assert mass == 0
    assert com.tolist() == [0, 0, 0]
    np.testing.assert_array_equal(inertia, np.diag([1.0, 1.0, 0.0]))


@pytest.mark.parametrize("seed", range(5))
def test_steiner_there_and_back(seed):
    rng = np.random.default_rng(seed)
    offset, mass = rng.normal(size=3), rng.uniform(0.1, 5)
    inertia = box(mass, *rng.uniform(0.1, 1, 3))
    about = steiner(inertia, mass, offset)
    skew = np.cross(np.eye(3), offset)
    np.testing.assert_allclose(about, inertia + mass * skew.T @ skew, rtol=1e-14)
    np.testing.assert_array_equal(about, steiner(inertia, mass, -offset))


@pytest.mark.parametrize("seed", range(20))
def test_principal_axes_rebuild_the_inertia_and_are_right_handed(seed):
    rng = np.random.default_rng(seed)
    axis = rng.normal(size=3)
    R = turn(axis / np.linalg.norm(axis), rng.uniform(-3, 3))
    wanted = np.sort([1.0, 1.5, 1.5 if seed % 3 == 0 else 2.0])
    moments, axes = principal_axes(R @ np.diag(rng.permutation(wanted)) @ R.T)
    np.testing.assert_allclose(moments, wanted, rtol=1e-14)
    np.testing.assert_allclose(axes @ axes.T, np.eye(3), rtol=0, atol=1e-14)
    assert np.linalg.det(axes) == pytest.approx(1.0)


def test_principal_axes_of_a_body_turned_by_a_known_rotation():
    R = turn((0, 0, 1), 0.3)
    _, axes = principal_axes(R @ np.diag([1.0, 2.0, 2.5]) @ R.T)
    np.testing.assert_allclose(axes, R, rtol=0, atol=1e-14)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: box(-1.0, 1, 1, 1), "mass: expected a number not below zero, found -1.0"),
        (lambda: cylinder(1.0, float("nan"), 1), "radius: expected a finite number, found nan"),
        (lambda: sphere(1.0, "big"), "a: expected a number, found 'big'"),
        (lambda: steiner(np.eye(3), 1.0, (1, 2)), r"offset: expected shape \(3,\), found shape \(2,\)"),
        (lambda: compound([]), "expected at least one body"),
        (lambda: compound([(1.0, np.eye(3), np.zeros((4, 4)))]), "body 1, pose: expected a rotation"),
        (lambda: compound([(1.0, np.eye(3), (0, 0, 0)), (1.0, np.eye(2), (0, 0, 0))]), "body 2, inertia"),
        (lambda: principal_axes([[1, 2, 0], [0, 1, 0], [0, 0, 1]]), "expected a symmetric matrix"),
    ],
)
def test_errors_name_the_figure(call, message):
    with pytest.raises(fd.RobotError, match=message):
        call()
