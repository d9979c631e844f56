"""Translational and rotational effects: the split against first principles, the verdicts against their rule."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

import fastdyn as fd
from fastdyn.errors import ArgumentError, ArgumentTypeError, FormulationError, NotFiniteError
from fastdyn.page.content import Picture
from fastdyn.study import effects, formulations
from fastdyn.study.effects import baselines, models, results
from fastdyn.study.sections import effects as effects_section
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


@pytest.fixture(scope="module")
def found():
    return results.gather(arms=20)


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


def test_what_the_page_says_of_some_elements_is_true(puma, split, found):
    """The notes of the section, and the comment on DOMINANCE."""
    assert found.thresholds == (9, 14)
    rows = {row.element: row for row in found.robustness}
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


def test_robustness_of_any_chain_depends_on_the_seed_only():
    robot = fd.robots.random_chain(3, 1)
    rows = effects.robustness(robot, 20, 7)
    assert rows == effects.robustness(robot, 20, 7)
    assert rows != effects.robustness(robot, 20, 8)
    assert [row.element for row in rows] == ["D11", "D12", "D13", "D22", "D23", "D33", "h1", "h2", "h3"]
    for row in rows:
        assert row.translational + row.rotational + row.both + row.none == pytest.approx(1)
        assert row.agrees == 0
        assert 0 <= row.low <= row.high <= 1


@pytest.mark.parametrize("trajectories", [0, -1, 2.5, "many"])
def test_a_number_of_trajectories_that_is_none_is_refused(puma, trajectories):
    with pytest.raises(ArgumentError, match=r"trajectories is .*: expected a whole number, 1 or more"):
        effects.robustness(puma, trajectories)


# ------------------------------------------------------------------------------------------ what agreement is worth


def test_the_agreement_is_that_of_chance(found):
    """No share is nearer than 2e-5 to the threshold, so that rounding changes no verdict."""
    rows = {row.answer: row for row in found.scores}
    here, other, many, arms = (row for name, row in rows.items() if not name.startswith("always"))
    assert (here.single, here.both, here.total) == (10, 4, 14)
    assert (other.single, other.both, other.total) == (9, 4, 13)  # D33: 73.7 %
    assert many.cases == 200
    assert many.total == pytest.approx(13.74, rel=1e-12)
    assert many.deviation == pytest.approx(1.22, abs=0.01)
    assert (many.least, many.most) == (10, 17)
    assert many.total == pytest.approx(sum(row.agrees for row in found.robustness), rel=1e-12)
    assert arms.least < 14 < arms.most  # other parameters decide more than other trajectories do
    assert arms.deviation > many.deviation
    always = [(row.single, row.both) for name, row in rows.items() if name.startswith("always")]
    assert always == [(9, 0), (5, 0), (0, 13)]


def test_random_parameters_stay_near_those_given(puma):
    arms = baselines._random_arms(puma, 30, 1)
    for before, *after in zip(puma.links, *(arm.links for arm in arms), strict=True):
        for link in after:
            assert before.mass / 2 <= link.mass <= 2 * before.mass
            assert np.abs(link.com - before.com).max() <= baselines.SHIFT * (1 + 10 * EPS)
            assert np.trace(before.inertia) / 2 <= np.trace(link.inertia) <= 2 * np.trace(before.inertia)
    assert np.std([arm.links[2].mass for arm in arms]) > 1


def test_the_two_tables_are_one_measurement_but_for_link_4():
    """Their authors' d4 is 1.3 mm longer; the wrist weighs 1.25 kg, and reaches 0.9 m from the base."""
    ours, theirs = effects.parameter_sets().values()
    ours = ours.without_motors()
    mirrored = theirs.vary(com={"link4": [(0, 0, 0.019)]})[0]
    q = np.random.default_rng(0).uniform(-np.pi, np.pi, (50, 6))
    poses, others = ours.forward_kinematics(q), theirs.forward_kinematics(q)
    np.testing.assert_allclose(others[:, :3, 3], poses[:, :3, 3], rtol=0, atol=1.4e-3)
    np.testing.assert_allclose(others[:, :3, 2], poses[:, :3, 2], rtol=0, atol=100 * EPS)
    wrist, longer = 1.25, 1.4e-3
    g, M = ours.bias_forces(q, 0 * q), ours.mass_matrix(q)
    np.testing.assert_allclose(mirrored.bias_forces(q, 0 * q), g, rtol=0, atol=wrist * longer * 9.81)
    np.testing.assert_allclose(mirrored.mass_matrix(q), M, rtol=0, atol=wrist * 2 * 0.9 * longer)
    # as tabulated, link 4 lies 38 mm off
    assert np.abs(theirs.bias_forces(q, 0 * q) - g).max() == pytest.approx(0.82 * 9.81 * 0.038, rel=0.1)
    assert [joint.limits for joint in theirs.joints] == [joint.limits for joint in ours.joints]


# ------------------------------------------------------------------------------------------ simplified models


def test_the_chapters_model_keeps_what_the_chapter_calls_dominant(puma, split):
    kept = models.stated()
    names = {place.name(6) for place in kept}
    assert {"D12 tran", "D44 rot", "D11 tran", "D11 rot", "h1 tran", "h4 rot", "h5 tran", "h5 rot", "c1"} <= names
    assert not {"D12 rot", "D44 tran", "h1 rot", "h4 tran"} & names
    assert len(kept) == 9 + 5 + 2 * 13 + 6  # translational, rotational, both, gravity
    motion = split.trajectory
    tau = models.torques(vars(split), motion.qdd, kept)
    full = formulations.inverse_dynamics(puma, motion.q, motion.qd, motion.qdd, "generalized_dalembert")
    # joint 2: D22 rot, D23 rot and h2 rot are left out
    left_out = split.D_rot[:, 1, 0] * motion.qdd[:, 0] + split.h_rot[:, 1]
    left_out += split.D_rot[:, 1, 1] * motion.qdd[:, 1] + split.D_rot[:, 1, 2] * motion.qdd[:, 2]
    np.testing.assert_allclose(tau[:, 1], full[:, 1] - left_out, rtol=0, atol=20 * 6 * EPS * np.abs(full).max())


def test_simplified_models_are_wrong_and_cost_more_than_exact_dynamics(found):
    rows = {(model.name, model.parameters): model for model in found.models}
    chapter = rows[results.CHAPTER, "built-in"]
    assert (chapter.kept, chapter.multiplications, chapter.additions) == (46, 1708, 1420)
    np.testing.assert_allclose(100 * chapter.errors, [6.33, 2.06, 0.85, 13.41, 0.39, 0], rtol=0, atol=0.01)
    assert rows[results.CHAPTER, "authors' frames"].error == pytest.approx(0.134, abs=1e-3)
    without = rows["without velocity terms", "built-in"]
    assert (without.multiplications, without.additions) == (1328, 1104)
    assert without.error == pytest.approx(0.309, abs=1e-3)
    newton, library = found.exact
    assert (newton.multiplications, newton.additions) == (744, 615)
    assert (library.multiplications, library.additions) == (446, 398)
    assert all(model.multiplications > 744 and model.additions > 615 for model in found.models)


def test_a_tolerance_does_not_hold_elsewhere(found):
    (model,) = (model for model in found.models if model.tolerance == 0.01)
    slow, same, fast = model.elsewhere
    assert same.own == model.error <= 0.01
    assert [each.speed for each in model.elsewhere] == [0.5, 1, 2]
    assert slow.own < same.own < fast.own  # what is dropped of h grows with the square of the speed, gravity does not
    assert same.median == pytest.approx(0.187, abs=1e-3)
    assert same.worst == pytest.approx(1.80, abs=0.01)
    assert same.joint == 5  # h5 is dropped
    assert (np.diff(same.random) >= 0).all()
    assert len(same.random) == 200


def test_errors_at_another_speed_are_those_of_the_faster_motion(puma):
    kept = models.stated()
    trajectory = effects.puma_trajectory()
    faster = effects.Trajectory(trajectory.t / 2, trajectory.q, 2 * trajectory.qd, 4 * trajectory.qdd)
    (at_once,) = models.elsewhere(puma, trajectory, kept, 3, 5, [2.0])
    (again,) = models.elsewhere(puma, faster, kept, 3, 5, [1.0])
    assert at_once.own == pytest.approx(again.own, rel=1e-12)
    q, qd, qdd = effects.random_motions(puma, 3, 5)
    expected = models.errors(effects.parts(puma, q, 2 * qd, 4 * qdd), 4 * qdd, kept).max(axis=-1)
    np.testing.assert_allclose(at_once.random, np.sort(expected), rtol=1e-12)


@pytest.mark.parametrize("speeds", [[1.0, math.nan], [0.0], [math.inf], [-1.0]])
def test_a_speed_that_is_none_is_refused(puma, speeds):
    with pytest.raises(ArgumentError, match=r"speeds is .*: expected finite numbers above zero"):
        models.elsewhere(puma, effects.puma_trajectory(), models.stated(), 1, 0, speeds)


def test_only_the_arm_that_the_chapter_judges_has_scores():
    with pytest.raises(ArgumentError, match="sets has two_link: expected PUMA 560s, the arm that the chapter judges"):
        effects.scores({"another": fd.robots.two_link()}, motion(2))


# ------------------------------------------------------------------------------------------ the figures


def test_the_section_states_the_finding_and_its_figures_show_every_element_with_units(split, found):
    section = effects_section.section(SimpleNamespace(effects=found))
    assert (
        '14 of the chapter\'s 27 verdicts are found here. Always answering "both" would be right 13'
        in section.blocks[1]
    )
    assert "random trajectories find 13.7 on average (standard deviation 1.2)" in section.blocks[1]
    assert any("Exact inverse dynamics is cheaper than all of these models." in str(block) for block in section.blocks)
    (shares,), inertia, velocity, (errors,) = (picture.figure.axes for picture in section.of(Picture))
    names = [verdict.element for verdict in effects.verdicts(split)]
    assert sorted(axes.get_title("left") for axes in inertia + velocity) == sorted(names)
    for axes in inertia + velocity:
        assert len({line.get_linestyle() for line in axes.get_lines()}) == 2
        assert axes.get_shared_x_axes().joined(axes, inertia[0] if axes in inertia else velocity[0])
    panel = {axes.get_title("left"): axes for axes in inertia}
    tran, rot = (line.get_ydata() for line in panel["D14"].get_lines())
    np.testing.assert_allclose(tran, 1e3 * split.D_tran[:, 0, 3], rtol=1e-14)
    np.testing.assert_allclose(rot, 1e3 * split.D_rot[:, 0, 3], rtol=1e-14)
    scale = panel["D11"].get_shared_y_axes()
    assert scale.joined(panel["D11"], panel["D23"])
    assert scale.joined(panel["D14"], panel["D55"])
    assert scale.joined(panel["D16"], panel["D66"])
    assert not scale.joined(panel["D33"], panel["D34"])
    assert {axes.get_ylabel() for axes in inertia} == {"", "kg m²", "$10^{-3}$ kg m²", "$10^{-6}$ kg m²"}
    assert {axes.get_ylabel() for axes in velocity} == {"N m", "$10^{-3}$ N m", "$10^{-6}$ N m"}
    assert {axes.get_xlabel() for axes in inertia + velocity} == {"", "time, s"}
    assert [label.get_text() for label in shares.get_yticklabels()] == names
    assert shares.get_xlabel() == "translational share, %"
    dots = [line for line in shares.get_lines() if line.get_marker() == "o" and len(line.get_xdata())]
    assert len(dots) == 27 - 2  # D45 and D56 are zero
    zones = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in shares.patches[:27]]
    where = {"rotational": (0, 25), "both": (25, 75), "translational": (75, 100)}
    assert zones == [where[effects.PUBLISHED[name]] for name in names]
    assert errors.get_ylabel() == "random trajectories with a smaller error, %"
