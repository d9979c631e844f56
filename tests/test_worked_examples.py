"""Examples that the sources work out step by step: every formula on the way, not only the last.

Book: Fu, Gonzalez, Lee, Robotics, chapter 3. Slides: Fakhari, Robot Dynamics, Part 1; their figures are not in the
text, so each reading that a figure may have is worked out.
"""

import numpy as np
import pytest

import fastdyn as fd
from fastdyn.formulations import newton_euler_link
from fastdyn.formulations.links import base_acceleration
from fastdyn.inertia import box, compound, cylinder
from fastdyn.mechanism.chains import dh_chain
from fastdyn.study import formulations

EPS = np.finfo(float).eps


def assert_close(found, expected, scale=None, factor=100.0):
    """Equal up to rounding: a hundred eps of the largest number, or of the scale."""
    expected = np.asarray(expected, dtype=float)
    scale = np.abs(expected).max() if scale is None else scale
    assert np.shape(found) == expected.shape
    assert scale > 0
    assert np.abs(found - expected).max() <= factor * EPS * scale


# ------------------------------------------------------------------------------------- book: kinetic energy by traces


@pytest.mark.parametrize("name", ["two_link", "rrt", "puma560", "stanford"])
def test_energies_by_traces_are_the_kernels(name):
    """(3.2-20) and (3.2-22); a sum of n^3 traces of products of rounded matrices."""
    arm = getattr(fd.robots, name)()
    q, qd = np.random.default_rng(1).uniform(-2, 2, (2, 11, arm.n))
    found = formulations.energies(arm, q, qd)
    kinetic, potential = arm.without_motors().kinetic_energy(q, qd), arm.potential_energy(q)
    assert_close(found.kinetic, kinetic, factor=20 * arm.n)
    assert_close(found.potential, potential, factor=20 * arm.n)
    assert np.array_equal(found.lagrangian, found.kinetic - found.potential)


def test_potential_energy_is_zero_at_frame_0_of_a_table_made_for_the_robot():
    arm = fd.robots.random_chain(5, 8, prismatic=0.3)
    q, qd = np.random.default_rng(2).uniform(-2, 2, (2, 9, 5))
    found = formulations.energies(arm, q, qd)
    apart = found.potential - arm.potential_energy(q)
    assert np.abs(found.kinetic / arm.without_motors().kinetic_energy(q, qd) - 1).max() <= 100 * 5 * EPS
    assert np.ptp(apart) <= 100 * 5 * EPS * (np.abs(found.potential).max() + np.abs(apart).max())


def test_lagranges_equations_of_the_lagrangian_give_the_torques():
    """d/dt dL/dqd_i - dL/dq_i by differences: h = eps^(1/4) leaves some h^2 of L and of its third derivatives."""
    arm = fd.robots.stanford()
    n, h = arm.n, EPS**0.25
    q, qd, qdd = np.random.default_rng(3).uniform(-1, 1, (3, n))
    e = h * np.eye(n)

    def slopes(t):
        """dL/dqd at a time t from now."""
        at, rate = q + t * qd + t * t / 2 * qdd, qd + t * qdd
        ahead, behind = (formulations.energies(arm, at, rate + each).lagrangian for each in (e, -e))
        return (ahead - behind) / (2 * h)

    ahead, behind = (formulations.energies(arm, q + each, qd).lagrangian for each in (e, -e))
    tau = (slopes(h) - slopes(-h)) / (2 * h) - (ahead - behind) / (2 * h)
    expected = arm.without_motors().inverse_dynamics(q, qd, qdd)
    assert np.abs(tau - expected).max() <= 5 * h**2 * max(np.abs(expected).max(), np.abs(ahead).max())


# ------------------------------------------------------------------------------------- book: two links by Newton-Euler


class TestTwoLinkArmByNewtonEuler:
    """Section 3.3.7: every vector of the forward and the backward equations, along the axes of its link."""

    m1, m2, l, g = 2.0, 1.5, 0.8, 9.8062
    arm = fd.robots.two_link(m1, m2, l, g)
    q, qd, qdd = np.random.default_rng(7).uniform(-2, 2, (3, 2))

    @property
    def expected(self):
        m1, m2, l, g = self.m1, self.m2, self.l, self.g
        (v1, v2), (a1, a2) = self.qd, self.qdd
        q1, q2 = self.q
        C1, S1, C2, S2, C12, S12 = np.cos(q1), np.sin(q1), np.cos(q2), np.sin(q2), np.cos(q1 + q2), np.sin(q1 + q2)
        found = {
            "omega": [[0, 0, v1], [0, 0, v1 + v2]],
            "omega_dot": [[0, 0, a1], [0, 0, a1 + a2]],
            "v_dot": [
                [-l * v1**2 + g * S1, l * a1 + g * C1, 0],
                [
                    l * (S2 * a1 - C2 * v1**2 - v1**2 - v2**2 - 2 * v1 * v2) + g * S12,
                    l * (a1 + a2 + C2 * a1 + S2 * v1**2) + g * C12,
                    0,
                ],
            ],
            "a": [
                [-l / 2 * v1**2 + g * S1, l / 2 * a1 + g * C1, 0],
                [
                    l * (S2 * a1 - C2 * v1**2 - v1**2 / 2 - v2**2 / 2 - v1 * v2) + g * S12,
                    l * (C2 * a1 + S2 * v1**2 + a1 / 2 + a2 / 2) + g * C12,
                    0,
                ],
            ],
        }
        f1 = [
            m2 * l * (-(v1**2) - C2 * (v1**2 + v2**2) / 2 - C2 * v1 * v2 - S2 * (a1 + a2) / 2)
            - m2 * g * (C12 * S2 - C2 * S12)
            - m1 * l * v1**2 / 2
            + m1 * g * S1,
            m2 * l * (a1 - S2 * (v1**2 + v2**2) / 2 - S2 * v1 * v2 + C2 * (a1 + a2) / 2)
            + m2 * g * C1
            + m1 * l * a1 / 2
            + g * m1 * C1,
            0,
        ]
        tau2 = m2 * l**2 * (a1 / 3 + a2 / 3 + (C2 * a1 + S2 * v1**2) / 2) + m2 * g * l * C12 / 2
        tau1 = (
            (m1 / 3 + 4 * m2 / 3 + m2 * C2) * l**2 * a1
            + m2 * l**2 * (a2 / 3 + C2 * a2 / 2 - S2 * v1 * v2 - S2 * v2**2 / 2)
            + g * l * (m1 * C1 / 2 + m2 * C12 / 2 + m2 * C1)
        )
        found["f"] = [f1, m2 * np.array(found["a"][1])]
        found["n"] = [[0, 0, tau1], [0, 0, tau2]]
        return {name: np.array(vectors) for name, vectors in found.items()}

    @property
    def scale(self):
        return np.abs(self.expected["f"]).max() + np.abs(self.expected["n"]).max()

    def test_vectors_of_the_formulation(self):
        """Table 3.3, stage by stage."""
        text, chain = newton_euler_link, dh_chain(self.arm)
        P, kinds, work, expected = chain.P, chain.kinds, np.zeros(newton_euler_link.work_rows(2)), self.expected
        text.geometry(P, kinds, self.q, work)
        text.forward(P, kinds, self.qd, self.qdd, work, 0, base_acceleration(P, work))
        links = work.reshape(2, text.SLOTS)
        for name, slot in {"omega": text.OMEGA, "omega_dot": text.OMEGA_DOT, "a": text.ACCELERATION}.items():
            assert_close(links[:, slot : slot + 3], expected[name])
        turns = links[:, text.R : text.R + 9].reshape(2, 3, 3)
        C, S = np.cos(self.q), np.sin(self.q)
        for i in range(2):
            assert_close(turns[i], [[C[i], -S[i], 0], [S[i], C[i], 0], [0, 0, 1]])
        dv, p = np.array([0, self.g, 0]), (self.l, 0.0, 0.0)
        f, n, beyond = np.zeros(3), np.zeros(3), np.eye(3)
        for i in range(2):
            dv = text.linear_acceleration(turns[i], expected["omega"][i], expected["omega_dot"][i], dv, p)
            assert_close(dv, expected["v_dot"][i])
        for i in (1, 0):
            F = text.link_force(P, expected["a"][i], i)
            N = text.link_moment(P, expected["omega"][i], expected["omega_dot"][i], i)
            assert_close(N, [0, 0, (self.m1, self.m2)[i] * self.l**2 / 12 * expected["omega_dot"][i, 2]])
            n, f = text.joint_moment(P, beyond, p, f, n, F, N, i), text.joint_force(beyond, f, F)
            assert_close(f, expected["f"][i], self.scale)
            assert_close(n, expected["n"][i], self.scale)
            beyond = turns[i]

    def test_vectors_of_the_kernels(self):
        expected, state = self.expected, (self.q, self.qd, self.qdd)
        poses = self.arm.link_poses(self.q)
        for i, link in enumerate(self.arm.links):
            lifted = [*(poses[i, :3, :3].T @ [0, self.g, 0]), 0, 0, 0]  # the book's base accelerates upward
            at = {"frame": link.name, "local": True}
            assert_close(self.arm.frame_velocity(self.q, self.qd, **at)[3:], expected["omega"][i])
            end = self.arm.frame_acceleration(*state, **at) + lifted
            assert_close(end, [*expected["v_dot"][i], *expected["omega_dot"][i]])
            middle = self.arm.frame_acceleration(*state, **at, point=(-self.l / 2, 0, 0)) + lifted
            assert_close(middle[:3], expected["a"][i])
        reactions = self.arm.joint_reactions(*state)
        assert_close(reactions[:, :3], expected["f"], self.scale)
        assert_close(reactions[:, 3:], expected["n"], self.scale)
        assert_close(self.arm.inverse_dynamics(*state), expected["n"][:, 2], self.scale)


# ------------------------------------------------------------------------------------- slides


def lagrangian_terms(arm, state, M, c, g, K, P):
    """All that Lagrange's equations are made of: K, P, L and tau = M qdd + c + g."""
    q, qd, qdd = state
    inertial = (M @ qdd[..., None])[..., 0]
    scale = max(np.abs(x).max() for x in (inertial, c, g, K, P))
    assert_close(arm.kinetic_energy(q, qd), K, scale)
    assert_close(arm.potential_energy(q), P, scale)
    assert_close(arm.mass_matrix(q), np.broadcast_to(M, (*q.shape, q.shape[-1])))
    assert_close(arm.coriolis_matrix(q, qd)[..., 0] * qd if arm.n == 1 else arm.bias_forces(q, qd) - g, c, scale)
    assert_close(arm.gravity_forces(q), g, scale)
    assert_close(arm.inverse_dynamics(q, qd, qdd), inertial + c + g, scale)


@pytest.mark.parametrize("axis", ["vertical", "horizontal"])
def test_slides_example_1_a_bent_link(axis):
    """Masses at the ends of both parts of a link, the second bent by phi against the first, turning about z0.

    Vertical: the second part rises out of the plane of turning, and gravity does no work. Horizontal: both parts turn
    in a vertical plane.
    """
    m1, m2, l1, l2, phi, gravity = 2.0, 1.5, 0.4, 0.3, 0.6, 9.81
    along, across = l1 + l2 * np.cos(phi), l2 * np.sin(phi)
    upright = axis == "vertical"
    point = np.zeros((3, 3))
    body = compound([(m1, point, (l1, 0, 0)), (m2, point, (along, 0, across) if upright else (along, across, 0))])
    down = (0, 0, -gravity) if upright else (0, -gravity, 0)
    arm = fd.Robot([fd.Link("base"), fd.Link("link", *body)], [fd.Joint("theta", "base", "link")], gravity=down)
    state = np.random.default_rng(4).normal(size=(3, 10, 1))
    theta, rate = state[0, :, 0], state[1, :, 0]
    if upright:
        inertia, P, g = m1 * l1**2 + m2 * along**2, m2 * gravity * across + 0 * theta, 0 * theta
    else:
        inertia = m1 * l1**2 + m2 * (l1**2 + l2**2 + 2 * l1 * l2 * np.cos(phi))
        P = gravity * ((m1 + m2) * l1 * np.sin(theta) + m2 * l2 * np.sin(theta + phi))
        g = gravity * ((m1 + m2) * l1 * np.cos(theta) + m2 * l2 * np.cos(theta + phi))
    lagrangian_terms(arm, state, np.array([[inertia]]), 0 * state[0], g[:, None], inertia * rate**2 / 2, P)


@pytest.mark.parametrize("vertical", range(3))
def test_slides_example_4_cartesian_robot(vertical):
    """Three prismatic joints at right angles, the given one vertical: each moves all links from its own on."""
    masses, gravity = np.array([3.0, 2.0, 1.0]), 9.81
    names = ["base", "link1", "link2", "link3"]
    links = [fd.Link("base"), *map(fd.Link, names[1:], masses)]
    joints = [fd.Joint(f"q{i}", names[i], names[i + 1], "prismatic", axis=np.eye(3)[i]) for i in range(3)]
    arm = fd.Robot(links, joints, gravity=-gravity * np.eye(3)[vertical])
    state = np.random.default_rng(5).normal(size=(3, 10, 3))
    moved = np.cumsum(masses[::-1])[::-1]  # m1 + m2 + m3, m2 + m3, m3
    g = np.broadcast_to(gravity * moved * np.eye(3)[vertical], (10, 3))
    K, P = state[1] ** 2 @ moved / 2, gravity * moved[vertical] * state[0][:, vertical]
    lagrangian_terms(arm, state, np.diag(moved), np.zeros((10, 3)), g, K, P)
    assert not arm.coriolis_matrix(*state[:2]).any()


def test_slides_example_of_a_compound_object():
    """A cylinder of 2 kg along z and a prism of 1 kg along x, its centre at a distance d; their sizes are not known.

    The centre of mass is at d / 3, and Steiner's terms about it come to 2/3 d^2 for y and z.
    """
    r, h, length, width, height, d = 0.2, 0.1, 0.6, 0.05, 0.04, 0.45
    body = compound([(2.0, cylinder(2.0, r, h), (0, 0, 0)), (1.0, box(1.0, length, width, height), (d, 0, 0))])
    assert body.mass == 3.0
    assert_close(body.com, [d / 3, 0, 0])
    across = 2 * (3 * r**2 + h**2) / 12
    moments = [
        across + (width**2 + height**2) / 12,
        across + (length**2 + height**2) / 12 + 2 / 3 * d**2,
        2 * r**2 / 2 + (length**2 + width**2) / 12 + 2 / 3 * d**2,
    ]
    assert_close(body.inertia, np.diag(moments))
