"""Problems and examples of the sources that no other file solves.

Book: Fu, Gonzalez, Lee, Robotics, chapter 3. Slides: Fakhari, Robot Dynamics, Part 1. Where a figure is needed to know
what is meant, the reading that is taken is stated.
"""

from dataclasses import replace

import numpy as np
import pytest

import fastdyn as fd
from fastdyn.formulations import dh_rows, lagrange_euler, newton_euler_link
from fastdyn.inertia import box, compound, steiner
from fastdyn.mechanism.chains import dh_chain
from fastdyn.rotations import turn

EPS = np.finfo(float).eps


def assert_close(found, expected, scale=None):
    """Equal up to rounding: a hundred eps of the largest number, or of the scale."""
    expected = np.asarray(expected, dtype=float)
    scale = np.abs(expected).max() if scale is None else scale
    assert np.shape(found) == expected.shape
    assert scale > 0
    assert np.abs(found - expected).max() <= 100 * EPS * scale


def states(n, samples=10, seed=0):
    return np.random.default_rng(seed).normal(size=(3, samples, n))


def cartesian(masses, gravity):
    """Three prismatic joints along x, y and z, each link on the one before."""
    links = [fd.Link("base"), *(fd.Link(f"link{i}", m) for i, m in enumerate(masses, 1))]
    joints = [
        fd.Joint(f"joint{i}", links[i - 1].name, links[i].name, "prismatic", axis=np.eye(3)[i - 1]) for i in range(1, 4)
    ]
    return fd.Robot(links, joints, gravity=gravity)


# ---------------------------------------------------------------------------------------------- book: moving frames


@pytest.mark.parametrize("t", [0.0, 0.7, 2.0])
def test_problem_3_2_a_point_of_a_frame_that_is_carried_along(t):
    """The frame moves at 3 t i + 2 t j + 4 k and does not turn: the point accelerates as the frame, by 3 i + 2 j."""
    carriage = cartesian((1, 1, 1), (0, 0, 0))
    q, qd, qdd = [1.5 * t**2, t**2, 4 * t], [3 * t, 2 * t, 4], [3, 2, 0]
    assert_close(carriage.frame_acceleration(q, qd, qdd, point=(-1, 1, 2)), [3, 2, 0, 0, 0, 0])


def turntable():
    """A frame O* that is carried along x, y and z, turns about the third axis, and carries a point along its axes."""
    names = ["h1", "h2", "h3", "turn", "r1", "r2", "r3"]
    axes = [*np.eye(3), (0, 0, 1), *np.eye(3)]
    links = [fd.Link("base"), *(fd.Link(name, 1.0) for name in names)]
    joints = [
        fd.Joint(name, links[i].name, name, "revolute" if name == "turn" else "prismatic", axis=axis)
        for i, (name, axis) in enumerate(zip(names, axes, strict=True))
    ]
    return fd.Robot(links, joints)


@pytest.mark.parametrize("t", [0.5, 2.0])
def test_problem_3_3_a_point_at_rest_in_a_frame_that_turns(t):
    """At rest in the frame: no Coriolis acceleration; w x (w x r) = (-3 t, -2 t, 0) for w = (0, 0, 1)."""
    r, angle = np.array([3 * t, 2 * t, 4.0]), 0.3
    at_rest = turntable().frame_acceleration(
        [0, 0, 0, angle, *turn((0, 0, 1), -angle) @ r], [0, 0, 0, 1, 0, 0, 0], np.zeros(7)
    )
    assert_close(at_rest, [-3 * t, -2 * t, 0, 0, 0, 0])


@pytest.mark.parametrize("t", [0.5, 2.0])
def test_problem_3_3_a_point_that_is_at_rest_nowhere(t):
    """Taken literally, r(t) moves straight on, and not with the frame.

    Its velocity in the frame is d*r/dt = dr/dt - w x r = (3 + 2 t, 2 - 3 t, 0), so that the Coriolis acceleration is
    2 w x d*r/dt = (6 t - 4, 4 t + 6, 0). With w x (w x r) and d*2r/dt2 it adds up to zero, by (3.3-14).
    """
    w, r, rate = np.array([0, 0, 1.0]), np.array([3 * t, 2 * t, 4.0]), np.array([3, 2, 0.0])
    seen = rate - np.cross(w, r)
    coriolis, centripetal = 2 * np.cross(w, seen), np.cross(w, np.cross(w, r))
    assert_close(seen, [3 + 2 * t, 2 - 3 * t, 0])
    assert_close(coriolis, [6 * t - 4, 4 * t + 6, 0])
    back = turn((0, 0, 1), -t)  # into the frame, which has turned by t
    q, qd, qdd = (
        [0, 0, 0, t, *back @ r], [0, 0, 0, 1, *back @ seen], [0, 0, 0, 0, *back @ -(coriolis + centripetal)]
    )  # fmt: skip
    scale = np.abs(coriolis).max()
    assert_close(turntable().frame_velocity(q, qd), [*rate, *w])
    assert_close(turntable().frame_acceleration(q, qd, qdd), np.zeros(6), scale)


@pytest.mark.parametrize("case", ["in general", "h = 0", "h is constant"])
def test_problem_3_4_frames_that_turn_and_frames_that_also_move(case):
    """(3.3-13), dr/dt = d*r/dt + w x r, against (3.3-17), v = d*r*/dt + w x r* + dh/dt, where r = r* + h.

    (a) h = 0: the same equation. (b) dh/dt = 0: they look the same, but (3.3-17) turns r* about O*, and (3.3-13) would
    turn r about O: w x h more, unless the frame's own derivative of h, -w x h, is counted in d*r/dt.
    """
    rng = np.random.default_rng(4)
    h, h_rate, star, star_rate = rng.normal(size=(4, 3))  # the last two along the axes of the frame that turns
    angle, rate = 0.8, 1.7
    if case != "in general":
        h_rate = np.zeros(3)
    if case == "h = 0":
        h = np.zeros(3)
    R, w = turn((0, 0, 1), angle), np.array([0, 0, rate])
    r_star, seen = R @ star, R @ star_rate  # r* and d*r*/dt
    v = turntable().frame_velocity([*h, angle, *star], [*h_rate, rate, *star_rate])[:3]
    assert_close(v, seen + np.cross(w, r_star) + h_rate)  # (3.3-17)
    about_origin = seen + np.cross(w, r_star + h)  # (3.3-13) with d*r*/dt in place of d*r/dt
    assert_close(v - about_origin, h_rate - np.cross(w, h), np.abs(v).max())
    assert np.allclose(v, about_origin) == (case == "h = 0")
    own_derivative = seen + h_rate - np.cross(w, h)  # d*r/dt: d*h/dt = dh/dt - w x h
    assert_close(v, own_derivative + np.cross(w, r_star + h))  # (3.3-13)


# ---------------------------------------------------------------------------------------------- book: inertia tensors

M, A, B, C = 3.0, 0.2, 0.3, 0.5


def test_problem_3_5_inertia_of_a_cube():
    """Side 2 a; reference frame at a corner, along the edges."""
    centre = box(M, 2 * A, 2 * A, 2 * A)
    assert_close(centre, np.eye(3) * M * A**2 * 2 / 3)
    corner = M * A**2 * np.array([[8 / 3, -1, -1], [-1, 8 / 3, -1], [-1, -1, 8 / 3]])
    assert_close(steiner(centre, M, (A, A, A)), corner)


def block_at_its_corner():
    """Sides 2 a, 2 b, 2 c; reference frame at a corner, along the edges."""
    return M * np.array([
        [4 / 3 * (B**2 + C**2), -A * B, -A * C],
        [-A * B, 4 / 3 * (A**2 + C**2), -B * C],
        [-A * C, -B * C, 4 / 3 * (A**2 + B**2)],
    ])  # fmt: skip


def test_problem_3_6_inertia_of_a_block():
    centre = box(M, 2 * A, 2 * B, 2 * C)
    assert_close(centre, np.diag([B**2 + C**2, A**2 + C**2, A**2 + B**2]) * M / 3)
    assert_close(steiner(centre, M, (A, B, C)), block_at_its_corner())


@pytest.mark.parametrize("sides", [(A, A, A), (A, B, C)], ids=["3.7", "3.8"])
def test_problems_3_7_and_3_8_inertia_of_a_turned_body(sides):
    """Turned by alpha about z0, then by theta about u, with its corner at the origin: R I R^T."""
    R = turn((0, 0, 1), 0.7) @ turn((1, 0, 0), -0.4)
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = R, R @ sides
    centre = box(M, *(2 * side for side in sides))
    body = compound([(M, centre, pose)])
    found = steiner(body.inertia, body.mass, body.com)
    assert_close(found, R @ steiner(centre, M, sides) @ R.T)
    # sums over the points of Gauss's rule, exact for squares: two in each direction
    places = R @ np.stack(np.meshgrid(*(side * np.array([1 - 3**-0.5, 1 + 3**-0.5]) for side in sides))).reshape(3, -1)
    summed = np.mean([p @ p * np.eye(3) - np.outer(p, p) for p in places.T], axis=0) * M
    assert_close(found, summed)


def test_problem_3_14_pseudo_inertia_and_inertia_tensor():
    """J holds the integrals of r r^T about the link frame's origin: the tensor about it is tr(J) 1 - J."""
    rng = np.random.default_rng(3)
    com, sides = rng.normal(size=(2, 3))
    R = turn((0, 1, 0), 0.3)
    link = fd.Link("link", M, com, R @ box(M, *np.abs(sides)) @ R.T)
    moments = link.moments(np.eye(4))
    J = moments[:3, :3]
    assert_close(np.trace(J) * np.eye(3) - J, steiner(link.inertia, M, com))
    assert_close(moments[3], [*M * com, M])


# ---------------------------------------------------------------------------------------------- book: gravity


def test_problem_3_13_gravity_is_a_row_in_one_formulation_and_an_acceleration_in_the_other():
    """Lagrange-Euler has g = (0, 0, -|g|, 0), which points down; Newton-Euler begins with v'_0 = (0, 0, |g|), up.

    A base that accelerates upward at |g| without gravity asks for the same torques as one at rest under gravity, so
    v'_0 = -g: one and the same g. v'_0 = g would give the opposite torques.
    """
    arm, g = fd.robots.puma560(), 9.8062
    arm = arm.without_motors().with_gravity((0, 0, -g))
    chain, q, rest = dh_chain(arm), states(6, 1)[0, 0], np.zeros(6)
    assert chain.P[[dh_rows.GX, dh_rows.GY, dh_rows.GZ], 0].tolist() == [0, 0, -g]
    c, matrices = np.zeros(6), np.zeros(lagrange_euler.lagrange_euler_rows(6))
    lagrange_euler.link_matrices(chain.P, chain.kinds, q, matrices)
    lagrange_euler.frame_products(6, matrices)
    lagrange_euler.gravity_loading(chain.P, chain.kinds, c, matrices)  # (3.2-34)
    assert_close(c, arm.gravity_forces(q))  # the gradient of the potential energy, which grows with height
    work = np.zeros(newton_euler_link.work_rows(6))
    for sign in (1, -1):
        tau = np.zeros(6)
        newton_euler_link.geometry(chain.P, chain.kinds, q, work)
        newton_euler_link.forward(chain.P, chain.kinds, rest, rest, work, 0, (0.0, 0.0, sign * g))
        newton_euler_link.backward(chain.P, chain.kinds, np.zeros(0), tau, work, 0)
        assert_close(tau, sign * c)
    links = [fd.Link("ground"), fd.Link("lift", 1.0), *arm.all_links[1:]]
    joints = [fd.Joint("lift", "ground", "lift", "prismatic"), *arm.all_joints]
    joints[1] = replace(joints[1], parent="lift")
    lifted = fd.Robot(links, joints, gravity=(0, 0, 0))
    assert_close(lifted.inverse_dynamics([0, *q], np.zeros(7), [g, *rest])[1:], c)


# ---------------------------------------------------------------------------------------------- slides


def test_slides_example_2_planar_arm_of_two_point_masses():
    m1, m2, L1, L2, g = 2.0, 1.5, 0.4, 0.3, 9.81
    arm = fd.from_dh([fd.DHLink(a=L1, mass=m1), fd.DHLink(a=L2, mass=m2)], gravity=(0, -g, 0))
    q, qd, qdd = states(2)
    (q1, q2), (v1, v2) = q.T, qd.T
    c2, s2 = np.cos(q2), np.sin(q2)
    M11, M12 = m1 * L1**2 + m2 * (L1**2 + 2 * L1 * L2 * c2 + L2**2), m2 * (L1 * L2 * c2 + L2**2)
    M = np.stack([np.stack([M11, M12]), np.stack([M12, m2 * L2**2 + 0 * c2])]).transpose(2, 0, 1)
    c = np.stack([-m2 * L1 * L2 * s2 * (2 * v1 * v2 + v2**2), m2 * L1 * L2 * v1**2 * s2], axis=-1)
    outer = m2 * g * L2 * np.cos(q1 + q2)
    weight = np.stack([(m1 + m2) * L1 * g * np.cos(q1) + outer, outer], axis=-1)
    assert_close(arm.mass_matrix(q), M)
    assert_close((arm.coriolis_matrix(q, qd) @ qd[..., None])[..., 0], c)
    assert_close(arm.gravity_forces(q), weight)
    assert_close(arm.inverse_dynamics(q, qd, qdd), (M @ qdd[..., None])[..., 0] + c + weight)


# ---------------------------------------------------------------------------------------------- the RRT arm


def test_rrt_arm_under_feedback_comes_to_rest_where_it_should():
    """The worked example's direct dynamics: (31) from rest, 15 s; reference integrated independently.

    Runge-Kutta's rule of fourth order: halving this step changes the last state by 1e-9, and four digits are known.
    """
    arm, final = fd.robots.rrt(), np.array([np.pi / 3, np.pi / 3, 0.3])
    damping, stiffness = np.array([450.0, 200, 150]), np.array([300.0, 300, 50])

    def rate(state):
        q, qd = state
        tau = arm.gravity_forces(q) - damping * qd - stiffness * (q - final)
        return np.stack([qd, arm.forward_dynamics(q, qd, tau)])

    state, h = np.array([[np.pi / 18, np.pi / 6, 0.25], [0, 0, 0]]), 0.02
    for _ in range(750):
        k1 = rate(state)
        k2 = rate(state + h / 2 * k1)
        k3 = rate(state + h / 2 * k2)
        k4 = rate(state + h * k3)
        state = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    assert state[0].round(4).tolist() == [1.0472, 1.0472, 0.3005]
