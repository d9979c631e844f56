"""The classic formulations: against the library's kernels, against closed forms, and against each other.

Errors are norm-wise: the largest difference over the largest of the terms that a torque is the sum of. All
formulations round some ten times a joint on the way from base to tip and back: 20 n eps for the difference of two. A
quarter of that was seen.
"""

from dataclasses import replace

import numpy as np
import pytest
from numba.core import config

import fastdyn as fd
from fastdyn.formulations import (
    christoffel,
    dh_rows,
    generalized_dalembert,
    generalized_dalembert_literal,
    generalized_dalembert_nearest,
    kane,
    kane_rrt,
    lagrange_euler,
    newton_euler_base,
    newton_euler_frugal,
    newton_euler_link,
    probing,
    recursive_lagrange,
    screw_rows,
    screws,
)
from fastdyn.mechanism.chains import dh_chain, screw_chain
from fastdyn.scalars import Counting
from fastdyn.study import formulations
from fastdyn.study.formulations import FORMULATIONS, FormulationError
from tests.test_oracle import with_fixed_links

EPS = np.finfo(float).eps
NAMES = list(FORMULATIONS)
DALEMBERT = {
    module.__name__.rpartition(".")[2]: module
    for module in (generalized_dalembert, generalized_dalembert_literal, generalized_dalembert_nearest)
}
SAMPLES = 11  # a block of eight lanes, and a part of one


def states(n, samples=SAMPLES, seed=0):
    return np.random.default_rng([n, seed]).normal(size=(3, samples, n)) * 1.5


def shuffled(robot, seed=0):
    """The same robot with its joints listed in another order."""
    joints = [robot.all_joints[i] for i in np.random.default_rng(seed).permutation(len(robot.all_joints))]
    return fd.Robot(robot.all_links, joints, name=f"{robot.name}, shuffled", gravity=robot.gravity, mount=robot.mount)


BUILT_IN = {
    "two_link": fd.robots.two_link,
    "planar_2r": lambda: fd.robots.planar_2r(m1=2.0, l1=0.7, lc2=0.2),
    "rrt": fd.robots.rrt,
    "puma560": fd.robots.puma560,
    "stanford": fd.robots.stanford,
}
RANDOM = {
    "one joint": lambda: fd.robots.random_chain(1, 1),
    "a slider": lambda: fd.robots.random_chain(1, 2, prismatic=1.0),
    "rotary": lambda: fd.robots.random_chain(5, 3),
    "mixed": lambda: fd.robots.random_chain(7, 4, prismatic=0.4, drives=True),
    "sliders": lambda: fd.robots.random_chain(4, 5, prismatic=1.0),
    "long": lambda: fd.robots.random_chain(9, 6, prismatic=0.2),
    "fixed links": lambda: with_fixed_links(fd.robots.random_chain(4, 7, prismatic=0.3), np.random.default_rng(1)),
    "shuffled": lambda: shuffled(fd.robots.random_chain(5, 8, prismatic=0.3)),
}
ROBOTS = BUILT_IN | RANDOM


@pytest.fixture(scope="module")
def robots():
    """Each robot, its states, and the reference: torques and terms by the kernels, without motors."""
    found = {}
    for name, make in ROBOTS.items():
        robot = make()
        links = robot.without_motors()
        q, qd, qdd = states(robot.n)
        D, g = links.mass_matrix(q), links.gravity_forces(q)
        h = links.bias_forces(q, qd) - g
        tau = links.inverse_dynamics(q, qd, qdd)
        C = links.coriolis_matrix(q, qd)
        scale = max(np.abs(x).max() for x in (tau, h, g, D @ qdd[..., None], D))
        found[name] = {
            "robot": robot,
            "state": (q, qd, qdd),
            "tau": tau,
            "D": D,
            "h": h,
            "c": g,
            "C": C,
            "scale": scale,
        }
    return found


def close(found, reference, n, scale, eps=20):
    assert found.shape == reference.shape
    assert np.abs(found - reference).max() <= eps * n * EPS * scale


def takes(name, robot):
    return not FORMULATIONS[name].rotary_only or all(joint.kind == "revolute" for joint in robot.joints)


@pytest.mark.parametrize("robot_name", ROBOTS)
@pytest.mark.parametrize("name", NAMES)
def test_torques_and_terms_are_those_of_the_kernels(name, robot_name, robots):
    case = robots[robot_name]
    robot, (q, qd, qdd), scale = case["robot"], case["state"], case["scale"]
    if not takes(name, robot):
        with pytest.raises(FormulationError, match="rotary joints only"):
            formulations.terms(robot, q, qd, qdd, name)
        return
    batch = formulations.terms(robot, q, qd, qdd, name)
    single = formulations.terms(robot, q[3], qd[3], qdd[3], name)
    for term in ("tau", "D", "h", "c"):
        if getattr(batch, term) is not None:
            close(getattr(batch, term), case[term], robot.n, scale)
            close(getattr(single, term), case[term][3], robot.n, scale)


@pytest.mark.parametrize("name", NAMES)
def test_which_terms_a_formulation_has(name):
    found = formulations.terms(fd.robots.two_link(), *states(2)[:, 0], name)
    has = {term for term in ("D", "h", "c") if getattr(found, term) is not None}
    structure = {
        "lagrange_euler": {"D", "h", "c"},
        "lagrange_euler_table": {"D", "h", "c"},
        "probing": {"D", "h", "c"},
        **{dalembert: {"D", "h", "c"} for dalembert in DALEMBERT},
        "christoffel": {"D", "c"},
        "kane": {"c"},
        "stacked_screws": {"D", "h", "c"},
    }
    assert has == structure.get(name, set())


def test_christoffel_symbols_are_the_coefficients_h_of_lagrange_euler(robots):
    for case in robots.values():
        robot, state = case["robot"], [x[0] for x in case["state"]]
        by_symbols = formulations.terms(robot, *state, "christoffel").details
        h_ikm = formulations.terms(robot, *state, "lagrange_euler").details["h_ikm"]
        close(np.moveaxis(by_symbols["c_ijp"], -1, -3), h_ikm, robot.n, case["scale"])
        close(by_symbols["C"], case["C"][0], robot.n, case["scale"] * np.abs(state[1]).max())


def test_centrifugal_forces_do_not_act_on_the_joint_that_makes_them(robots):
    """h_iii = 0, and with k, m > i the coefficients are antisymmetric in i and the smaller of them."""
    for case in robots.values():
        h = formulations.terms(case["robot"], *(x[0] for x in case["state"]), "lagrange_euler").details["h_ikm"]
        diagonal = np.einsum("...iii->...i", h)
        assert np.abs(diagonal).max() <= 20 * case["robot"].n * EPS * case["scale"]


# ------------------------------------------------------------------------------------------ PUMA 560


def test_lagrange_dalembert_and_newton_agree_on_the_puma560_to_1e12():
    samples = 16 if config.DISABLE_JIT else 1000
    arm = fd.robots.puma560()
    rng = np.random.default_rng(560)
    q = rng.uniform(-np.pi, np.pi, (samples, 6))
    qd, qdd = rng.uniform(-3, 3, (2, samples, 6))
    found = {name: formulations.inverse_dynamics(arm, q, qd, qdd, name) for name in NAMES}
    found["kernel"] = arm.without_motors().inverse_dynamics(q, qd, qdd)
    newton = found["newton_euler_link"]
    size = np.abs(newton).max(axis=1)  # of each state's torques: N m throughout
    for tau in found.values():
        assert (np.abs(tau - newton).max(axis=1) <= 1e-12 * size).all()


# ------------------------------------------------------------------------------------------ the two-link arm


class TestTwoLinkArm:
    """Fu, Gonzalez and Lee, sections 3.2.6, 3.3.7 and 3.4.2: rods of one length l, term by term."""

    m1, m2, l, g = 2.0, 1.5, 0.8, 9.8062
    arm = fd.robots.two_link(m1, m2, l, g)
    q, qd, qdd = states(2, 40)

    def closed_form(self):
        m1, m2, l, g = self.m1, self.m2, self.l, self.g
        C1, C2, S2, C12 = np.cos(self.q[:, 0]), np.cos(self.q[:, 1]), np.sin(self.q[:, 1]), np.cos(self.q.sum(axis=1))
        D, h, c = np.empty((40, 2, 2)), np.zeros((40, 2, 2, 2)), np.empty((40, 2))
        D[:, 0, 0] = m1 * l**2 / 3 + 4 * m2 * l**2 / 3 + m2 * C2 * l**2
        D[:, 0, 1] = D[:, 1, 0] = m2 * l**2 / 3 + m2 * l**2 * C2 / 2
        D[:, 1, 1] = m2 * l**2 / 3
        h[:, 0, 0, 1] = h[:, 0, 1, 0] = h[:, 0, 1, 1] = -m2 * S2 * l**2 / 2
        h[:, 1, 0, 0] = m2 * S2 * l**2 / 2
        c[:, 0] = m1 * g * l * C1 / 2 + m2 * g * l * C12 / 2 + m2 * g * l * C1
        c[:, 1] = m2 * g * l * C12 / 2
        return D, h, c

    @pytest.mark.parametrize("name", NAMES)
    def test_every_formulation_equals_the_closed_form(self, name):
        D, h_ikm, c = self.closed_form()
        h = np.einsum("sikm,sk,sm->si", h_ikm, self.qd, self.qd)
        tau = np.einsum("sik,sk->si", D, self.qdd) + h + c
        scale = max(np.abs(x).max() for x in (tau, h, c, D))
        found = formulations.terms(self.arm, self.q, self.qd, self.qdd, name)
        for term, reference in (("tau", tau), ("D", D), ("h", h), ("c", c)):
            if getattr(found, term) is not None:
                close(getattr(found, term), reference, 2, scale)
        if "h_ikm" in found.details:
            close(found.details["h_ikm"], h_ikm, 2, scale)
        if "c_ijp" in found.details:
            close(np.moveaxis(found.details["c_ijp"], -1, 1), h_ikm, 2, scale)

    def test_translation_and_rotation_apart(self):
        """The rods' own moments are m l^2 / 12 about every parallel axis; no velocity torque comes of turning."""
        D, h_ikm, _ = self.closed_form()
        found = formulations.terms(self.arm, self.q, self.qd, self.qdd, "generalized_dalembert").details
        turning = np.array([[self.m1 + self.m2, self.m2], [self.m2, self.m2]]) * self.l**2 / 12
        close(found["D_rot"], np.broadcast_to(turning, D.shape), 2, np.abs(D).max())
        close(found["D_tran"], D - turning, 2, np.abs(D).max())
        h = np.einsum("sikm,sk,sm->si", h_ikm, self.qd, self.qd)
        close(found["h_tran"], h, 2, np.abs(h).max())
        close(found["h_rot"], np.zeros((40, 2)), 2, np.abs(h).max())

    def test_table_and_pseudo_inertias_are_those_of_the_book(self):
        P = dh_chain(self.arm).P
        for i, m in enumerate((self.m1, self.m2)):
            length, mass = P[[dh_rows.A, dh_rows.MASS], i]
            assert (length, mass) == (self.l, m)
            assert np.allclose(P[[dh_rows.JXX, dh_rows.HX], i], [m * self.l**2 / 3, -m * self.l / 2], rtol=4 * EPS)
            zeros = [dh_rows.JYY, dh_rows.JZZ, dh_rows.JXY, dh_rows.JXZ, dh_rows.JYZ, dh_rows.HY, dh_rows.HZ]
            assert np.abs(P[zeros, i]).max() <= 4 * EPS * m * self.l**2


# ------------------------------------------------------------------------------------------ the RRT arm


def test_rrt_arm_as_the_worked_example_derives_it():
    arm = fd.robots.rrt()
    q, qd, qdd = states(3, 20)
    general = formulations.terms(arm, q, qd, qdd, "kane")
    scale = np.abs(general.details["K"]).max()
    close(formulations.kane_rrt_torques(q, qd, qdd), general.tau, 3, scale)
    close(formulations.kane_rrt_torques(q[0], qd[0], qdd[0]), general.tau[0], 3, scale)
    close(arm.without_motors().inverse_dynamics(q, qd, qdd), general.tau, 3, scale)
    # (15): gravity's share of the generalized active forces
    g, m2, m3, L2, c2 = 9.81, 60.0, 40.0, 0.7, np.cos(q[:, 1])
    Q = np.stack([0 * c2, -g * m2 * L2 * c2 - g * m3 * c2 * (L2 + q[:, 2]), -g * m3 * np.sin(q[:, 1])], axis=-1)
    close(general.details["Q"], Q, 3, scale)
    close(general.details["K"], -(general.tau + Q), 3, scale)


def test_rrt_arm_takes_other_figures():
    figures = {"L1": 0.3, "L2": 0.5, "m1": 7.0, "m2": 5.0, "m3": 3.0, "I3": (0.3, 0.2, 0.1), "g": 1.6}
    q, qd, qdd = states(3, 9)
    found = formulations.kane_rrt_torques(q, qd, qdd, **figures)
    reference = fd.robots.rrt(**figures).inverse_dynamics(q, qd, qdd)
    close(found, reference, 3, np.abs(reference).max())


# ------------------------------------------------------------------------------------------ loads, screws, order


LOADED = ("newton_euler_link", "screws", "stacked_screws")


@pytest.mark.parametrize("robot_name", ["puma560", "stanford", "mixed", "fixed links", "shuffled"])
@pytest.mark.parametrize("name", LOADED)
def test_a_load_in_the_hand_is_the_reaction_of_a_wrench_on_the_last_link(name, robot_name, robots):
    """At the origin of the last link's own frame, whether the robot has a D-H table of its own or not."""
    case = robots[robot_name]
    robot, (q, qd, qdd) = case["robot"], case["state"]
    load = np.random.default_rng(5).normal(size=(SAMPLES, 6)) * 10
    wrenches = np.zeros((SAMPLES, robot.n, 6))
    wrenches[:, dh_chain(robot).order[-1]] = -load  # the hand pushes, the object pushes back
    reference = robot.without_motors().inverse_dynamics(q, qd, qdd, wrenches=wrenches)
    found = formulations.terms(robot, q, qd, qdd, name, load=load)
    scale = max(case["scale"], np.abs(reference).max())
    close(found.tau, reference, robot.n, scale)
    one = formulations.inverse_dynamics(robot, q[0], qd[0], qdd[0], name, load=load[0])
    close(one, reference[0], robot.n, scale)
    if found.D is not None:  # the load adds to the torques alone
        without = formulations.terms(robot, q, qd, qdd, name)
        for term in ("D", "h", "c"):
            assert np.array_equal(getattr(found, term), getattr(without, term))


def test_the_stacked_matrix_is_the_inverse_of_one_less_the_nilpotent_one():
    chain = screw_chain(fd.robots.random_chain(4, 9, prismatic=0.3))
    n, q = 4, states(4)[0, 0]
    work = np.zeros(screws.stacked_screws_rows(n))
    screws.placements(chain.P, q, work)
    screws.inverse(work, n)
    W, L = np.zeros((6 * n, 6 * n)), np.zeros((6 * n, 6 * n))
    for i in range(n):
        for j in range(i + 1):
            row = screws.block(n, i, j)
            L[6 * i : 6 * i + 6, 6 * j : 6 * j + 6] = work[row : row + 36].reshape(6, 6)
        if i > 0:
            T = screws.placement(work, i)
            columns = [np.concatenate(screws.adjoint(T, (e[:3], e[3:]))) for e in np.eye(6)]
            W[6 * i : 6 * i + 6, 6 * i - 6 : 6 * i] = np.transpose(columns)
    assert not np.linalg.matrix_power(W, n).any()
    assert np.linalg.matrix_power(W, n - 1).any()
    assert np.abs(L @ (np.eye(6 * n) - W) - np.eye(6 * n)).max() <= 100 * n * EPS * np.abs(L).max()


def test_screw_axes_have_unit_length_and_no_pitch():
    P = screw_chain(fd.robots.random_chain(6, 1, prismatic=0.5)).P
    for w, v in zip(P[screw_rows.WX : screw_rows.WZ + 1].T, P[screw_rows.VX : screw_rows.VZ + 1].T, strict=True):
        assert abs(np.linalg.norm(w if w.any() else v) - 1) <= 8 * EPS
        assert abs(w @ v) <= 8 * EPS


def test_results_come_in_the_order_of_the_joints_given(robots):
    robot = ROBOTS["shuffled"]()
    order = dh_chain(robot).order
    assert order.tolist() != sorted(order)
    plain = fd.Robot(robot.all_links, sorted(robot.all_joints, key=lambda j: j.name), gravity=robot.gravity)
    q, qd, qdd = states(5)
    one = formulations.terms(robot, q, qd, qdd, "lagrange_euler")
    other = formulations.terms(plain, q[:, order], qd[:, order], qdd[:, order], "lagrange_euler")
    assert np.array_equal(one.tau[:, order], other.tau)
    assert np.array_equal(one.details["h_ikm"][:, order][:, :, order][..., order], other.details["h_ikm"])


def test_no_states_give_no_torques():
    assert formulations.inverse_dynamics(fd.robots.two_link(), *np.empty((3, 0, 2))).shape == (0, 2)


# ------------------------------------------------------------------------------------------ the texts in plain Python


VECTOR, MATRIX, TENSOR = 1, 2, 3  # axes of a result
TEXTS = {
    "lagrange_euler": (
        lagrange_euler.lagrange_euler, lagrange_euler.lagrange_euler_rows, (VECTOR, MATRIX, VECTOR, VECTOR, TENSOR)
    ),
    "lagrange_euler_table": (
        lagrange_euler.lagrange_euler_table, lagrange_euler.lagrange_euler_table_rows,
        (VECTOR, MATRIX, VECTOR, VECTOR, TENSOR),
    ),
    "simplified": (lagrange_euler.simplified, lagrange_euler.simplified_rows, (VECTOR,)),
    "recursive_lagrange": (recursive_lagrange.recursive_lagrange, recursive_lagrange.work_rows, (VECTOR,)),
    "newton_euler_base": (newton_euler_base.newton_euler_base, newton_euler_base.work_rows, (VECTOR,)),
    "newton_euler_link": (newton_euler_link.newton_euler_link, newton_euler_link.work_rows, (VECTOR,)),
    "newton_euler_frugal": (newton_euler_frugal.newton_euler_frugal, newton_euler_frugal.work_rows, (VECTOR,)),
    "probing": (probing.probing, probing.work_rows, (VECTOR, MATRIX, VECTOR, VECTOR)),
    **{
        name: (getattr(module, name), module.work_rows, (VECTOR, MATRIX, MATRIX, VECTOR, VECTOR, VECTOR))
        for name, module in DALEMBERT.items()
    },
    "christoffel": (
        christoffel.christoffel, christoffel.work_rows, (VECTOR, MATRIX, MATRIX, VECTOR, TENSOR)
    ),
    "kane": (kane.kane, kane.work_rows, (VECTOR, VECTOR, VECTOR)),
    "screws": (screws.screws, screws.screws_rows, (VECTOR,)),
    "stacked_screws": (screws.stacked_screws, screws.stacked_screws_rows, (VECTOR, MATRIX, VECTOR, VECTOR)),
    "kane_rrt": (kane_rrt.kane_rrt, kane_rrt.work_rows, (VECTOR,)),
}  # fmt: skip
RRT = np.array([[0.4], [0.7], [90.0], [60.0], [40.0], [5.0], [4.0], [1.0], [9.81]])


OPTIONAL = {"newton_euler_link": 1, "screws": 3, "stacked_screws": 3}  # inputs of six rows that may be left out


def plain(name, robot, state, start=np.zeros, array=np.asarray, optional=()):
    """Runs a text in plain Python, with results and work that hold `start` before; its results."""
    text, rows, axes = TEXTS[name]
    n = robot.n
    if name == "kane_rrt":
        P, kinds = RRT, np.zeros((1, 1), dtype=np.int64)
    else:
        chain = screw_chain(robot) if "screws" in name else dh_chain(robot)
        P, kinds = chain.P, chain.kinds
    results = [array(start(n**k)) for k in axes]
    more = [array(np.asarray(optional, dtype=float))] * OPTIONAL.get(name, 0)
    text(P, kinds, *map(array, state), *more, *results, array(start(rows(n))))
    return results


@pytest.mark.parametrize("name", TEXTS)
def test_texts_run_in_plain_python_on_counting_scalars_and_give_the_same(name):
    robot = fd.robots.rrt() if name == "kane_rrt" else fd.robots.random_chain(3, 2)
    q, qd, qdd = states(3)[:, 0]
    tau = robot.without_motors().inverse_dynamics(q, 0 * qd if name == "simplified" else qd, qdd)
    found, *_ = plain(name, robot, (q, qd, qdd), array=Counting.array)
    close(found.astype(float), tau, 3, np.abs(tau).max())


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_writes_all_of_its_results_and_none_of_its_inputs(name):
    robot, state = fd.robots.random_chain(3, 2), states(3)[:, 0]
    given = state.copy()
    unset = plain(name, robot, given, start=lambda size: np.full(size, np.nan))
    assert np.array_equal(given, state)
    for found, again in zip(unset, plain(name, robot, given), strict=True):
        assert np.isfinite(found).all()
        assert np.array_equal(found, again)


@pytest.mark.parametrize("name", LOADED)
def test_loads_and_base_motions_of_zeros_are_none(name):
    robot, state = fd.robots.random_chain(3, 2), states(3)[:, 0]
    with_zeros = plain(name, robot, state, optional=np.zeros(6))
    for found, without in zip(with_zeros, plain(name, robot, state), strict=True):
        assert np.array_equal(found, without)


def test_traces_of_zeros_that_the_table_counts_change_nothing():
    """h_ikm summed from max(k, m) for every i, and as (3.2-33) says: the same to the last digit."""
    robot, state = fd.robots.random_chain(3, 5, prismatic=0.3), states(3)[:, 0]
    for found, again in zip(
        *(plain(name, robot, state) for name in ("lagrange_euler", "lagrange_euler_table")), strict=True
    ):
        assert found.any()
        assert np.array_equal(again, found)


def test_probing_whole_columns_gives_the_same_matrix():
    chain, n = dh_chain(fd.robots.random_chain(4, 5, prismatic=0.3)), 4
    D, columns = np.zeros((2, n * n))
    work = np.zeros(probing.work_rows(n))
    probing.probing(chain.P, chain.kinds, *states(n)[:, 0], np.zeros(n), D, np.zeros(n), np.zeros(n), work)
    probing.inertia_by_probing(chain.P, chain.kinds, columns, work, False)
    assert np.abs(columns - D).max() <= 100 * n * EPS * np.abs(D).max()


# ------------------------------------------------------------------------------------------ what cannot be done


def test_generalized_dalembert_refuses_a_prismatic_joint_by_name():
    with pytest.raises(FormulationError, match=r"rotary joints only, but joint 'joint3' of stanford is prismatic"):
        formulations.inverse_dynamics(fd.robots.stanford(), *np.zeros((3, 6)), "generalized_dalembert")


@pytest.mark.parametrize("chain", [dh_chain, screw_chain])
def test_chains_are_of_independent_joints(chain):
    with pytest.raises(FormulationError, match="two_link is coupled"):
        chain(fd.robots.two_link().coupled([[1.0], [2.0]]))


def test_only_screws_describe_helical_joints():
    links = [fd.Link("base"), fd.Link("nut", 1.0)]
    press = fd.Robot(links, [fd.Joint("spindle", "base", "nut", "helical", pitch=0.01)], name="press")
    message = "revolute and prismatic joints, but joint 'spindle' of press is helical: use one by screws"
    with pytest.raises(FormulationError, match=message):
        dh_chain(press)
    assert screw_chain(press).P[screw_rows.WX : screw_rows.VZ + 1, 0].tolist() == [0, 0, 1, 0, 0, 0.01]


def test_a_tree_is_refused_with_the_link_that_forks():
    with pytest.raises(FormulationError, match=r"is a tree: link '\w+' carries the joints"):
        formulations.inverse_dynamics(fd.robots.random_tree(6, 1), *np.zeros((3, 6)))


def test_an_unknown_name_is_answered_with_those_there_are():
    with pytest.raises(FormulationError, match=r"formulation is 'hamilton': expected one of lagrange_euler, "):
        formulations.terms(fd.robots.two_link(), *np.zeros((3, 2)), "hamilton")


@pytest.mark.parametrize(
    ("name", "given", "able"),
    [("kane", "load", "newton_euler_link, screws"), ("newton_euler_link", "base_rate", "screws")],
)
def test_what_a_formulation_does_not_take_is_answered_with_those_that_do(name, given, able):
    with pytest.raises(FormulationError, match=f"{name} takes no {given}: use one of {able}, stacked_screws"):
        formulations.inverse_dynamics(fd.robots.two_link(), *np.zeros((3, 2)), name, **{given: np.zeros(6)})


def test_axes_too_nearly_parallel_for_a_table_are_named():
    arm = fd.robots.random_chain(3, 1)
    links = [replace(link, mass=1.0) for link in arm.all_links[:3]]
    tilt = np.eye(4)
    c, s = np.cos(1e-7), np.sin(1e-7)
    tilt[1:3, 1:3], tilt[:3, 3] = [[c, -s], [s, c]], (0.0, 0.3, 0.0)
    joints = [
        fd.Joint("first", links[0].name, links[1].name),
        fd.Joint("second", links[1].name, links[2].name, origin=tilt),
    ]
    robot = fd.Robot(links, joints)
    with pytest.raises(FormulationError, match=r"no usable D-H table: the axes of 'first' and 'second'"):
        formulations.inverse_dynamics(robot, *np.zeros((3, 2)))
    q, qd, qdd = states(2)
    reference = robot.inverse_dynamics(q, qd, qdd)
    found = formulations.inverse_dynamics(robot, q, qd, qdd, "screws")  # screws need no common normal
    close(found, reference, 2, np.abs(reference).max())


def test_wrong_shapes_and_numbers_are_named():
    arm = fd.robots.two_link()
    with pytest.raises(fd.ArgumentError, match=r"qd has shape \(3,\), but two_link has 2 joints"):
        formulations.inverse_dynamics(arm, [0, 0], [0, 0, 0], [0, 0])
    with pytest.raises(fd.NotFiniteError, match=r"qdd\[1\] is nan"):
        formulations.inverse_dynamics(arm, [0, 0], [0, 0], [0, np.nan])
    with pytest.raises(fd.NotFiniteError, match=r"load\[5\] is inf"):
        formulations.inverse_dynamics(arm, *np.zeros((3, 2)), load=[0, 0, 0, 0, 0, np.inf])
    with pytest.raises(fd.ArgumentError, match=r"base_twist has shape \(3,\): expected \(..., 6\)"):
        formulations.inverse_dynamics(arm, *np.zeros((3, 2)), "screws", base_twist=[0, 0, 1])
    with np.errstate(all="ignore"), pytest.raises(fd.NotFiniteError, match="beyond the range of float64"):
        formulations.inverse_dynamics(arm, [0, 0], [1e200, 0], [0, 0], "kane")
