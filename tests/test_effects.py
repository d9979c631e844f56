"""Translational and rotational effects: the split against first principles, the verdicts against their rule."""

import io
import math

import numpy as np
import pytest

import fastdyn as fd
from fastdyn.errors import ArgumentError, ArgumentTypeError, FormulationError, NotFiniteError
from fastdyn.study import effects
from fastdyn.study.effects import figures
from tests.oracle import Stand, cross_matrix

EPS = np.finfo(float).eps
ROBOTS = {
    "puma560": fd.robots.puma560,
    "one joint": lambda: fd.robots.random_chain(1, 1),
    "random": lambda: fd.robots.random_chain(5, 3),
}


def motion(n, points=6, seed=0):
    q, qd, qdd = np.random.default_rng([n, seed]).normal(size=(3, points, n))
    return effects.Trajectory(np.arange(points), q, qd, qdd)


@pytest.fixture(scope="module")
def puma():
    return fd.robots.puma560()


@pytest.fixture(scope="module")
def split(puma):
    return effects.split(puma, effects.puma_trajectory())


# ------------------------------------------------------------------------------------------ the trajectory


def test_the_trajectory_moves_all_joints_from_rest_to_rest_within_their_limits(puma):
    trajectory = effects.puma_trajectory()
    assert trajectory.q.shape == (31, 6)
    np.testing.assert_allclose(trajectory.t, np.arange(31) / 10, rtol=1e-15)
    for joint, q in zip(puma.joints, trajectory.q.T, strict=True):
        assert joint.limits.lower < q.min() < q.max() < joint.limits.upper
    np.testing.assert_allclose(trajectory.q[[0, -1]], np.radians([effects.START, effects.END]), rtol=1e-14)
    assert np.abs(trajectory.qd[[0, -1]]).max() < 1e-14
    assert np.abs(trajectory.qdd[[0, -1]]).max() < 1e-14
    assert (np.abs(trajectory.qd[15]) > 0.5).all()


def test_velocities_and_accelerations_are_derivatives():
    trajectory = effects.puma_trajectory()
    step = trajectory.t[1]
    # sines of 2 pi / 3 per second: Simpson's rule over two steps is out by (2 pi / 3)^4 step^4 / 90 = 2e-5 at most
    for values, rates in ((trajectory.q, trajectory.qd), (trajectory.qd, trajectory.qdd)):
        simpson = (rates[:-2] + 4 * rates[1:-1] + rates[2:]) * step / 3
        np.testing.assert_allclose(
            values[2:] - values[:-2], simpson, rtol=0, atol=2e-5 * 2 * step * np.abs(rates).max()
        )


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"t": [0.0, 1.0]}, ArgumentError, "q has shape (3, 2): expected (2, n), a row for each t"),
        ({"t": [[0.0], [1.0], [2.0]]}, ArgumentError, "t has shape (3, 1): expected (T,)"),
        ({"t": []}, ArgumentError, "t has shape (0,): expected (T,), with one set point at least"),
        ({"t": [0.0, 1.0, 1.0]}, ArgumentError, "t[2] is 1.0, but t[1] is 1.0: expected increasing times"),
        ({"q": np.zeros(3)}, ArgumentError, "q has shape (3,): expected (3, n)"),
        ({"qd": np.zeros((3, 1))}, ArgumentError, "qd has shape (3, 1): expected (3, 2), that of q"),
        ({"qdd": np.zeros((2, 2))}, ArgumentError, "qdd has shape (2, 2): expected (3, 2), that of q"),
        ({"qdd": [[1.0], [1.0, 2.0], [3.0]]}, ArgumentError, "qdd is not a rectangular array"),
        ({"qd": [["a", "b"]] * 3}, ArgumentTypeError, "qd has dtype"),
        ({"q": np.ma.zeros((3, 2))}, ArgumentTypeError, "q is a masked array"),
        ({"t": [0.0, 1.0, math.nan]}, NotFiniteError, "t[2] is nan: expected finite numbers"),
        ({"qd": [[0, 0], [0, math.inf], [0, 0]]}, NotFiniteError, "qd[1, 1] is inf: expected finite numbers"),
    ],
)
def test_what_is_no_trajectory_is_refused(change, error, message):
    good = {"t": [0.0, 1.0, 2.0], "q": np.zeros((3, 2)), "qd": np.zeros((3, 2)), "qdd": np.zeros((3, 2))}
    with pytest.raises(error) as caught:
        effects.Trajectory(**good | change)
    assert str(caught.value).startswith(message)


def test_a_trajectory_is_a_copy_that_cannot_be_written_to():
    q = np.zeros((2, 1))
    trajectory = effects.Trajectory([0, 1], q, q, q)
    q += 1
    assert not trajectory.q.any()
    with pytest.raises(ValueError, match="read-only"):
        trajectory.q[0] = 1


# ------------------------------------------------------------------------------------------ the split


@pytest.mark.parametrize("name", ROBOTS)
def test_translation_is_newtons_part_and_rotation_is_eulers(name):
    """(3.4-25) to (3.4-27), from Jacobians of the centres of mass and of the links' turning, and their derivatives."""
    robot = ROBOTS[name]()
    found = effects.split(robot, motion(robot.n))
    for k, (q, qd) in enumerate(zip(found.trajectory.q, found.trajectory.qd, strict=True)):
        stand = Stand(robot, q)
        expected = dict.fromkeys(("D_tran", "D_rot", "h_tran", "h_rot"), 0.0)
        for body in stand.bodies():
            Hv, Hw = stand.jacobian_derivatives(body)
            w = body.Jw @ qd
            expected["D_tran"] += body.mass * body.Jv.T @ body.Jv
            expected["D_rot"] += body.Jw.T @ body.inertia @ body.Jw
            expected["h_tran"] += body.mass * body.Jv.T @ (Hv @ qd) @ qd
            moment = body.inertia @ ((Hw @ qd) @ qd) + cross_matrix(w) @ body.inertia @ w
            expected["h_rot"] += body.Jw.T @ moment
        for part, value in expected.items():
            # as in test_formulations: norm-wise, 20 n eps of the terms that are summed. h is a sum of inertias times
            # products of velocities, which may cancel (for one joint to zero, but not to the last bit in every order)
            scale = sum(np.abs(expected[of]).max() for of in ("D_tran", "D_rot"))
            scale *= np.abs(qd).max() ** 2 if part.startswith("h") else 1.0
            got = getattr(found, part)[k]
            np.testing.assert_allclose(got, value.astype(float), rtol=0, atol=20 * robot.n * EPS * scale, err_msg=part)


@pytest.mark.parametrize("name", ROBOTS)
def test_both_effects_and_gravity_make_up_the_librarys_dynamics(name):
    robot = ROBOTS[name]()
    links = robot.without_motors()
    found = effects.split(robot, motion(robot.n))
    D, bias = links.mass_matrix(found.trajectory.q), links.bias_forces(found.trajectory.q, found.trajectory.qd)
    tolerance = 20 * robot.n * EPS
    np.testing.assert_allclose(found.D_tran + found.D_rot, D, rtol=0, atol=tolerance * np.abs(D).max())
    h = found.h_tran + found.h_rot
    # h is a sum of terms that may cancel, as above
    scale = np.abs(D).max() * np.abs(found.trajectory.qd).max() ** 2 + np.abs(found.c).max()
    np.testing.assert_allclose(h + found.c, bias, rtol=0, atol=tolerance * scale)


def test_only_chains_with_rotary_joints_can_be_split():
    with pytest.raises(FormulationError, match="generalized_dalembert is for rotary joints only"):
        effects.split(fd.robots.stanford(), effects.puma_trajectory())
    with pytest.raises(ArgumentError, match=r"q has shape \(31, 6\), but two_link has 2 joints"):
        effects.split(fd.robots.two_link(), effects.puma_trajectory())


# ------------------------------------------------------------------------------------------ the verdicts


def made_up(tran, rot, robot="made up"):
    """A split of one joint, of which D and h are what is given, and c is zero."""
    points = len(tran)
    vector = np.zeros((points, 1))
    trajectory = effects.Trajectory(np.arange(points), vector, vector, vector)
    tran, rot = np.reshape(tran, (-1, 1)), np.reshape(rot, (-1, 1))
    return effects.Split(robot, trajectory, tran[..., None], rot[..., None], tran, rot, vector)


@pytest.mark.parametrize(
    ("tran", "rot", "found", "share"),
    [
        ([3.0, -3.0], [1.0, 1.0], "translational", 0.75),
        ([2.9, -2.9], [1.0, 1.0], "both", 2.9 / 3.9),
        ([1.0, 1.0], [-3.0, 3.0], "rotational", 0.25),
        ([7.0, 1.0], [1.0, 7.0], "both", 0.5),
        ([0.0, 0.0], [0.0, 0.0], "none", 0.5),
    ],
)
def test_an_effect_dominates_from_three_to_one_on(tran, rot, found, share):
    for verdict in effects.verdicts(made_up(tran, rot)):
        assert (verdict.found, verdict.published, verdict.agrees) == (found, "", False)
        assert verdict.share == pytest.approx(share, rel=1e-14)


@pytest.mark.parametrize("dominance", [0.5, 1.01, math.nan])
def test_a_share_that_cannot_dominate_is_refused(split, dominance):
    with pytest.raises(ArgumentError, match=r"dominance is .*: expected more than 0.5, at most 1"):
        effects.verdicts(split, dominance)


def test_every_element_is_judged_once_beside_what_the_chapter_states(split):
    found = effects.verdicts(split)
    assert {verdict.element: verdict.published for verdict in found} == effects.PUBLISHED
    assert len(found) == len(effects.PUBLISHED) == 21 + 6
    assert all(verdict.agrees == (verdict.found == verdict.published) for verdict in found)


def test_the_notes_are_true(puma, split):
    """NOTES and the comment on DOMINANCE, on this trajectory and on random ones."""
    agree = [sum(v.agrees for v in effects.verdicts(split, share)) for share in np.linspace(0.55, 0.99, 45)]
    assert (min(agree), max(agree)) == (9, 14)
    rows = {row.element: row for row in effects.robustness(puma)}
    assert rows["D45"].none == rows["D56"].none == 1
    assert all(rows[element].rotational == 1 for element in ("D16", "D26", "D36", "D46", "D66", "h6"))
    assert rows["D33"].translational == 1
    assert effects.verdicts(split)[11].share == pytest.approx(0.755, abs=1e-3)  # D33


def test_how_fast_a_path_is_travelled_does_not_matter(puma, split):
    t = split.trajectory
    slow = effects.split(puma, effects.Trajectory(8 * t.t, t.q, t.qd / 8, t.qdd / 64))
    assert effects.verdicts(slow) == effects.verdicts(split)


def test_robustness_gives_the_fractions_of_single_verdicts(puma):
    rows = effects.robustness(puma, trajectories=5, seed=3)
    limits = np.array([(joint.limits.lower, joint.limits.upper) for joint in puma.joints]).T
    start, end = np.random.default_rng(3).uniform(*limits, (2, 5, 6))
    single = [
        effects.verdicts(effects.split(puma, effects.Trajectory(*effects.rest_to_rest(a, b))))
        for a, b in zip(start, end, strict=True)
    ]
    for k, row in enumerate(rows):
        for word in effects.WORDS:
            assert getattr(row, word) == pytest.approx(np.mean([verdicts[k].found == word for verdicts in single]))
        assert row.agrees == pytest.approx(np.mean([verdicts[k].agrees for verdicts in single]))


def test_robustness_of_any_chain_tells_its_progress_and_depends_on_the_seed_only():
    robot, told = fd.robots.random_chain(3, 1), []
    rows = effects.robustness(robot, 20, 7, lambda fraction, what: told.append((fraction, what)))
    assert rows == effects.robustness(robot, 20, 7)
    assert rows != effects.robustness(robot, 20, 8)
    assert [fraction for fraction, _ in told] == [0.0, 1.0]
    assert [row.element for row in rows] == ["D11", "D12", "D13", "D22", "D23", "D33", "h1", "h2", "h3"]
    for row in rows:
        assert row.translational + row.rotational + row.both + row.none == pytest.approx(1)
        assert row.agrees == 0


@pytest.mark.parametrize("trajectories", [0, -1, 2.5, "many"])
def test_a_number_of_trajectories_that_is_none_is_refused(puma, trajectories):
    with pytest.raises(ArgumentError, match=r"trajectories is .*: expected a whole number, 1 or more"):
        effects.robustness(puma, trajectories)


# ------------------------------------------------------------------------------------------ the figures


def test_figures_show_every_element_with_units_and_can_be_drawn(puma, split):
    found = list(figures.figures(split, effects.robustness(puma, 10)).values())
    inertia, velocity, bars = (figure.axes for figure in found)
    names = [verdict.element for verdict in effects.verdicts(split)]
    assert sorted(axes.get_title("left") for axes in inertia + velocity) == sorted(names)
    for axes in inertia + velocity:
        tran, rot, total = (line.get_ydata() for line in axes.get_lines())
        np.testing.assert_allclose(tran + rot, total, rtol=1e-14, atol=1e-14 * np.abs(total).max())
        assert len({line.get_linestyle() for line in axes.get_lines()}) == 3
        assert axes.get_shared_x_axes().joined(axes, inertia[0] if axes in inertia else velocity[0])
    panel = {axes.get_title("left"): axes for axes in inertia}
    scale = panel["D11"].get_shared_y_axes()
    assert scale.joined(panel["D11"], panel["D23"])
    assert scale.joined(panel["D14"], panel["D55"])
    assert scale.joined(panel["D16"], panel["D66"])
    assert not scale.joined(panel["D33"], panel["D34"])
    assert {axes.get_ylabel() for axes in inertia} == {"", "kg m²", "$10^{-3}$ kg m²", "$10^{-6}$ kg m²"}
    assert {axes.get_ylabel() for axes in velocity} == {"N m", "$10^{-3}$ N m", "$10^{-6}$ N m"}
    assert {axes.get_xlabel() for axes in inertia + velocity} == {"", "time, s"}
    assert [label.get_text() for label in bars[0].get_yticklabels()] == names
    assert bars[0].get_xlabel() == "random trajectories, %"
    for figure in found:  # warnings are errors: a missing glyph, or a layout that does not fit
        figure.savefig(io.BytesIO(), format="svg")
