"""Simplified models: within their tolerance, and what they cost, by stages that were counted elsewhere."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastdyn as fd
from fastdyn.errors import ArgumentError, FormulationError
from fastdyn.scalars import Operations
from fastdyn.study import effects, formulations, simplify
from fastdyn.study.counts import texts
from fastdyn.study.counts.costs import summed
from fastdyn.study.effects.models import cost, places
from tests.test_effects import motion
from tests.test_formulations import shuffled

EPS = np.finfo(float).eps
ROBOTS = [fd.robots.random_chain(n, seed) for n, seed in ((1, 0), (2, 1), (3, 2), (5, 3))]
DALEMBERT = texts.dalembert()  # by stage


@pytest.fixture(scope="module")
def puma():
    return fd.robots.puma560()


def kept_cost(n, keep):
    """What the text costs with those terms kept for which keep(place) is true."""
    return cost(n, [place for place in places(n) if keep(place)])


def stages(n, names):
    """What some stages of the text cost, by counting scalars."""
    found = [DALEMBERT[name].at(n) for name in names.split()]
    return Operations(*(int(total) for total in np.sum(found, axis=0)))


def largest(found):
    return max(term.largest for term in found.terms)


def rounding(n, scale):
    """Torques that are added up in another order: some n roundings of the largest term (tests/test_formulations.py)."""
    return 20 * n * EPS * scale


# ------------------------------------------------------------------------------------------ the error


@given(
    robot=st.sampled_from(ROBOTS),
    points=st.integers(1, 12),
    seed=st.integers(0, 1000),
    tolerance=st.one_of(st.floats(0, 1e-6), st.floats(0, 1.5)),
)
def test_the_error_is_that_of_the_simplified_model_and_within_the_tolerance(robot, points, seed, tolerance):
    trajectory = motion(robot.n, points, seed)
    found = simplify(robot, trajectory, tolerance)
    assert found.error <= tolerance == found.tolerance
    states = trajectory.q, trajectory.qd, trajectory.qdd
    full = formulations.inverse_dynamics(robot, *states, "generalized_dalembert")
    errors = np.abs(found.inverse_dynamics(*states) - full).max(axis=0)
    top = np.abs(full).max(axis=0)
    np.testing.assert_allclose(found.errors, errors, rtol=0, atol=rounding(robot.n, largest(found)))
    assert found.error == pytest.approx((found.errors / top).max(), rel=1e-12)
    assert found.multiplications[1] <= found.multiplications[0]
    assert found.additions[1] <= found.additions[0]


def test_what_is_dropped_is_missing_from_the_torques_and_nothing_else(puma):
    found = simplify(puma, effects.puma_trajectory(), 0.05)
    kept = {term.name for term in found.terms if term.kept}
    assert 0 < len(kept) < len(found.terms) == 2 * 21 + 3 * 6
    other = motion(6, 5)
    split = effects.split(puma, other)
    expected = np.zeros((5, 6))
    for i in range(6):
        for j in range(6):
            pair = f"D{min(i, j) + 1}{max(i, j) + 1}"
            expected[:, i] += split.D_tran[:, i, j] * other.qdd[:, j] * (f"{pair} tran" in kept)
            expected[:, i] += split.D_rot[:, i, j] * other.qdd[:, j] * (f"{pair} rot" in kept)
        expected[:, i] += split.h_tran[:, i] * (f"h{i + 1} tran" in kept) + split.h_rot[:, i] * (
            f"h{i + 1} rot" in kept
        )
        expected[:, i] += split.c[:, i] * (f"c{i + 1}" in kept)
    got = found.inverse_dynamics(other.q, other.qd, other.qdd)
    inertial = np.einsum("tij,tj->ti", np.abs(split.D_tran) + np.abs(split.D_rot), np.abs(other.qdd))
    terms = inertial + np.abs(split.h_tran) + np.abs(split.h_rot) + np.abs(split.c)
    np.testing.assert_allclose(got, expected, rtol=0, atol=rounding(6, terms.max()))
    assert found.inverse_dynamics(other.q[0], other.qd[0], other.qdd[0]).shape == (6,)
    assert found.inverse_dynamics(other.q[0], other.qd[0], other.qdd).shape == (5, 6)


def test_with_no_tolerance_the_model_is_the_full_one():
    robot = fd.robots.random_chain(4, 9, drives=True)
    trajectory = motion(4)
    found = simplify(robot, trajectory, 0)
    assert found.error == 0
    assert not found.errors.any()
    assert {term.name for term in found.terms if not term.kept} <= {"h4 tran", "h4 rot"}  # at most what is zero
    full = robot.without_motors().inverse_dynamics(trajectory.q, trajectory.qd, trajectory.qdd)
    got = found.inverse_dynamics(trajectory.q, trajectory.qd, trajectory.qdd)
    np.testing.assert_allclose(got, full, rtol=0, atol=rounding(4, largest(found)))


def test_with_a_tolerance_of_one_nothing_is_left(puma):
    found = simplify(puma, effects.puma_trajectory(), 1.0)
    assert not any(term.kept for term in found.terms)
    assert found.error == 1
    assert "exact inverse dynamics: 744" in str(found)  # a model without terms costs nothing
    assert (found.multiplications, found.additions) == ((2114, 0), (1740, 0))
    assert not found.inverse_dynamics(*effects.puma_trajectory().q[:3]).any()


def test_an_arm_that_needs_no_torque_needs_no_terms():
    still = effects.Trajectory([0.0, 1.0], *np.zeros((3, 2, 2)))
    found = simplify(fd.robots.two_link(g=0.0), still, 0.01)
    assert found.error == 0
    assert not any(term.kept for term in found.terms)


def test_a_joint_that_needs_no_torque_allows_no_error():
    """Joint 1 follows freely: its inertia and that of joint 2's motion cancel, and neither may be dropped."""
    arm = fd.from_dh(
        [
            fd.DHLink(alpha=np.pi / 2, mass=1.0, inertia=np.eye(3)),
            fd.DHLink(a=1.0, mass=1.0, com=(-0.5, 0, 0.1), inertia=np.eye(3)),
        ]
    )
    q = np.array([[0.0, np.pi / 2]])
    D = arm.mass_matrix(q[0])
    qdd = np.array([[-D[0, 1] / D[0, 0], 1.0]])
    found = simplify(arm, effects.Trajectory([0.0], q, 0 * q, qdd), 0.5)
    assert found.errors[0] <= rounding(2, largest(found))  # what is left of the torque
    kept = {term.name for term in found.terms if term.kept}
    assert {"D11 tran", "D11 rot", "D12 tran"} <= kept
    assert "D22 rot" not in kept or "D22 tran" not in kept


# ------------------------------------------------------------------------------------------ the operations


@pytest.mark.parametrize("n", [1, 2, 3, 6, 9])
def test_the_whole_text_costs_what_was_counted_and_no_terms_cost_nothing(n):
    assert kept_cost(n, lambda place: True).totals()[:2] == summed(DALEMBERT.values()).at(n)
    assert kept_cost(n, lambda place: False) == Operations()


@pytest.mark.parametrize("n", [1, 2, 6])
def test_without_rotation_the_stages_of_rotation_are_saved(n):
    rotation = "own_axes turned_axes rotational_inertia own_velocities rotational_velocity_torques"
    sums = Operations(0, n * n + n)  # D_tran + D_rot, and h_rot
    saved = kept_cost(n, lambda place: True) - kept_cost(n, lambda place: not place.kind.endswith("rot"))
    assert saved == stages(n, rotation) + sums


@pytest.mark.parametrize("n", [1, 2, 6])
def test_without_translation_and_gravity_the_places_of_the_links_are_saved_too(n):
    translation = (
        "sweeps translational_inertia base_velocities centre_accelerations translational_velocity_torques "
        "gravity_torques"
    )
    # d sin and d cos, two products with R, and c, r and the next p; of these the last p leads nowhere, and is kept
    places = Operations(20 * n, 21 * n - 3)
    sums = Operations(0, n * n + 2 * n)
    saved = kept_cost(n, lambda place: True) - kept_cost(n, lambda place: place.kind.endswith("rot"))
    assert saved == stages(n, translation) + places + sums


@pytest.mark.parametrize("n", [1, 2, 6])
def test_without_velocity_torques_all_that_depends_on_velocities_is_saved(n):
    velocities = (
        "base_velocities centre_accelerations translational_velocity_torques own_velocities rotational_velocity_torques"
    )
    saved = kept_cost(n, lambda place: True) - kept_cost(n, lambda place: not place.kind.startswith("h"))
    assert saved == stages(n, velocities) + Operations(0, 2 * n)


def test_one_element_costs_the_rotations_and_its_own_sum():
    """D_22^rot of two joints: z_2 in frame 2, I_2 times that and a dot product, from R_1 and R_2; then times qdd_2."""
    rotations = Operations(2 * 4 + 27, 2 + 18)  # four products and theta + q for each, and a product of two
    own = Operations(9 + 9 + 3, 6 + 6 + 2)
    idle = Operations(0, 3)
    needed = kept_cost(2, lambda place: place == ("D_rot", 1, 1))
    assert needed == rotations + own + Operations(1, 0) + idle


@given(n=st.integers(1, 5), data=st.data())
def test_keeping_more_never_costs_less(n, data):
    few = data.draw(st.sets(st.sampled_from(places(n))))
    more = few | data.draw(st.sets(st.sampled_from(places(n))))
    less, much = cost(n, few), cost(n, more)
    assert less.multiplications <= much.multiplications
    assert less.additions <= much.additions


def test_the_order_in_which_joints_are_listed_changes_nothing():
    robot = fd.robots.random_chain(4, 2)
    other = shuffled(robot)
    place = [[joint.name for joint in robot.joints].index(joint.name) for joint in other.joints]
    assert place != sorted(place)
    trajectory = motion(4)
    mixed = effects.Trajectory(trajectory.t, *(a[:, place] for a in (trajectory.q, trajectory.qd, trajectory.qdd)))
    one, two = simplify(robot, trajectory, 0.1), simplify(other, mixed, 0.1)
    assert (one.multiplications, one.additions) == (two.multiplications, two.additions)
    np.testing.assert_allclose(two.errors, one.errors[place], rtol=0, atol=rounding(4, largest(one)))


# ------------------------------------------------------------------------------------------ what it says


def test_it_prints_as_a_table(puma):
    found = simplify(puma, effects.puma_trajectory(), 0.01)
    lines = str(found).splitlines()
    assert lines[0].startswith("puma560, simplified: ")
    assert "2,114 -> " in lines[0]
    assert lines[1] == "exact inverse dynamics is cheaper: 744 and 615 by Newton-Euler, 446 and 398 by the library"
    assert len(lines) == 6 + 6
    assert [line.split()[0] for line in lines[6:]] == list("123456")
    assert max(map(len, lines)) <= 120


@pytest.mark.parametrize("tolerance", [-0.1, math.nan, math.inf, "tight", None])
def test_a_tolerance_that_is_none_is_refused(puma, tolerance):
    with pytest.raises(ArgumentError, match=r"tolerance is .*: expected a finite number not below zero"):
        simplify(puma, effects.puma_trajectory(), tolerance)


def test_only_chains_with_rotary_joints_can_be_simplified():
    with pytest.raises(FormulationError, match="generalized_dalembert is for rotary joints only"):
        simplify(fd.robots.stanford(), effects.puma_trajectory(), 0.1)
    with pytest.raises(ArgumentError, match=r"q has shape \(31, 6\), but two_link has 2 joints"):
        simplify(fd.robots.two_link(), effects.puma_trajectory(), 0.1)
