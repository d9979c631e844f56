"""Arms whose equations of motion fit on a page, against those equations, and against Lagrange's by SymPy.

Book: Fu, Gonzalez, Lee, Robotics, chapter 3. Numbers in brackets are those of the equations in each arm's source.
"""

import numpy as np
import pytest
import sympy as sp

import fastdyn as fd

EPS = np.finfo(float).eps


def assert_close(found, *terms):
    """found is the sum of the terms, arrays of one shape (samples, ...), up to rounding.

    Each term is good to some eps of its own size, and terms may cancel; so the scale is the largest number among them,
    and a hundred eps for each of the arms' two or three joints are allowed, as against the oracle.
    """
    reference = sum(terms)
    assert found.shape == reference.shape
    scale = max(np.abs(term).max() for term in terms)
    assert scale > 0
    assert np.abs(found - reference).max() <= 100 * 3 * EPS * scale


def lagrange(T, V, q, qd):
    """A function (q, qd, qdd) -> tau from kinetic and potential energy: d/dt dT/dqd - dT/dq + dV/dq."""
    qdd = sp.symbols(f"a:{len(q)}")
    momentum = sp.Matrix([T]).jacobian(qd)
    rate = momentum.jacobian(q) * sp.Matrix(qd) + momentum.jacobian(qd) * sp.Matrix(qdd)
    tau = rate.T - sp.Matrix([T]).jacobian(q) + sp.Matrix([V]).jacobian(q)
    function = sp.lambdify([q, qd, qdd], list(tau))
    return lambda *state: np.stack(function(*(np.moveaxis(x, -1, 0) for x in state)), axis=-1)


def velocity(place, q, qd):
    return place.jacobian(q) * sp.Matrix(qd)


def states(n, samples=20, seed=0):
    return np.random.default_rng(seed).normal(size=(3, samples, n)) * 2


def columns(*entries):
    """(samples, k) of k arrays of samples."""
    return np.stack(np.broadcast_arrays(*entries), axis=-1)


def symmetric(d11, d12, d22):
    return columns(d11, d12, d12, d22).reshape(-1, 2, 2)


def times(M, v):
    return (M @ v[..., None])[..., 0]


class TestTwoLinkArm:
    """Book, section 3.2.6: slender rods of one length. D, h, c as in section 3.4.2, where they are printed right."""

    m1, m2, l, g = 2.3, 1.7, 0.6, 9.8062

    @pytest.fixture
    def arm(self):
        return fd.robots.two_link(self.m1, self.m2, self.l, self.g)

    def D(self, q):
        m1, m2, l2, C2 = self.m1, self.m2, self.l**2, np.cos(q[:, 1])
        D12 = m2 * l2 / 3 + m2 * l2 * C2 / 2
        return symmetric(m1 * l2 / 3 + 4 * m2 * l2 / 3 + m2 * l2 * C2, D12, m2 * l2 / 3)

    def h(self, q, qd):
        k, (v1, v2) = self.m2 * np.sin(q[:, 1]) * self.l**2, qd.T
        return columns(-k * v2**2 / 2 - k * v1 * v2, k * v1**2 / 2)

    def c(self, q):
        m1, m2, gl = self.m1, self.m2, self.g * self.l
        C1, C12 = np.cos(q[:, 0]), np.cos(q.sum(axis=1))
        return columns((m1 / 2 + m2) * gl * C1 + m2 * gl * C12 / 2, m2 * gl * C12 / 2)

    def test_mass_matrix_is_D(self, arm):
        q, _, _ = states(2)
        assert_close(arm.mass_matrix(q), self.D(q))

    def test_velocity_forces_are_h(self, arm):
        q, qd, _ = states(2)
        assert_close(times(arm.coriolis_matrix(q, qd), qd), self.h(q, qd))
        assert_close(arm.with_gravity((0, 0, 0)).bias_forces(q, qd), self.h(q, qd))

    def test_gravity_forces_are_c(self, arm):
        q, _, _ = states(2)
        assert_close(arm.gravity_forces(q), self.c(q))

    def test_torques_are_their_sum(self, arm):
        q, qd, qdd = states(2)
        assert_close(arm.inverse_dynamics(q, qd, qdd), times(self.D(q), qdd), self.h(q, qd), self.c(q))


class TestGeneralPlanarArm:
    """Asada and Slotine's, by Newton and Euler: lengths l, centres of mass at lc, moments I about them."""

    figures = m1, m2, l1, l2, lc1, lc2, I1, I2, g = 3.1, 1.9, 0.8, 0.5, 0.3, 0.35, 0.21, 0.08, 9.81

    @pytest.fixture
    def arm(self):
        return fd.robots.planar_2r(*self.figures)

    def M(self, q):
        m2, l1, lc2, C2 = self.m2, self.l1, self.lc2, np.cos(q[:, 1])
        I11 = self.m1 * self.lc1**2 + self.I1 + m2 * (l1**2 + lc2**2 + 2 * l1 * lc2 * C2) + self.I2
        return symmetric(I11, m2 * (lc2**2 + l1 * lc2 * C2) + self.I2, m2 * lc2**2 + self.I2)

    def h(self, q, qd):
        k, (v1, v2) = self.m2 * self.l1 * self.lc2 * np.sin(q[:, 1]), qd.T
        return columns(-k * v2**2 - 2 * k * v1 * v2, k * v1**2)

    def gravity(self, q):
        C1, C12 = np.cos(q[:, 0]), np.cos(q.sum(axis=1))
        second = self.m2 * self.g * self.lc2 * C12
        return columns(self.m1 * self.g * self.lc1 * C1 + self.m2 * self.g * self.l1 * C1 + second, second)

    def test_mass_matrix_is_the_closed_form(self, arm):
        q, _, _ = states(2)
        assert_close(arm.mass_matrix(q), self.M(q))

    def test_velocity_forces_are_the_centripetal_and_coriolis_terms(self, arm):
        q, qd, _ = states(2)
        assert_close(times(arm.coriolis_matrix(q, qd), qd), self.h(q, qd))
        assert_close(arm.with_gravity((0, 0, 0)).bias_forces(q, qd), self.h(q, qd))

    def test_gravity_forces_are_the_gravity_terms(self, arm):
        q, _, _ = states(2)
        assert_close(arm.gravity_forces(q), self.gravity(q))

    def test_torques_are_the_sum_of_all_terms(self, arm):
        q, qd, qdd = states(2)
        assert_close(arm.inverse_dynamics(q, qd, qdd), times(self.M(q), qdd), self.h(q, qd), self.gravity(q))

    def test_bearings_carry_what_newtons_equations_ask_for(self, arm):
        """f12 = m2 (a2 - g) and f01 = f12 + m1 (a1 - g), a the centres' accelerations; n_z are the torques."""
        q, qd, qdd = states(2)
        (t1, t2), (v1, v2), (a1, a2) = q.T, qd.T, qdd.T
        out = [columns(np.cos(t), np.sin(t)) for t in (t1, t1 + t2)]  # along the links, and across
        across = [columns(-np.sin(t), np.cos(t)) for t in (t1, t1 + t2)]

        def swing(link, length, rate, acceleration):
            """Acceleration of a link's point, seen from its joint: inward by the rate, across by its change."""
            return length * (acceleration[:, None] * across[link] - rate[:, None] ** 2 * out[link])

        up = np.array([0, self.g])
        force2 = self.m2 * (swing(0, self.l1, v1, a1) + swing(1, self.lc2, v1 + v2, a1 + a2) + up)
        force1 = self.m1 * (swing(0, self.lc1, v1, a1) + up) + force2
        torques = times(self.M(q), qdd) + self.h(q, qd) + self.gravity(q)
        zero = np.zeros(len(q))
        reference = [
            columns((force * out[i]).sum(1), (force * across[i]).sum(1), zero, zero, zero, torques[:, i])
            for i, force in enumerate((force1, force2))
        ]
        assert_close(arm.joint_reactions(q, qd, qdd), np.stack(reference, axis=1))

    def test_momentum_is_that_of_two_bodies(self, arm):
        """About the centre of mass of both, two masses a distance apart move as their reduced mass does."""
        q, qd, _ = states(2)
        (t1, t2), (v1, v2), m1, m2, zero = q.T, qd.T, self.m1, self.m2, np.zeros(len(q))
        out = [columns(np.cos(t), np.sin(t), zero) for t in (t1, t1 + t2)]
        across = [columns(-np.sin(t), np.cos(t), zero) for t in (t1, t1 + t2)]
        turning = columns(v1, v1 + v2)[..., None]
        place1, place2 = self.lc1 * out[0], self.l1 * out[0] + self.lc2 * out[1]
        speed1 = self.lc1 * turning[:, 0] * across[0]
        speed2 = self.l1 * turning[:, 0] * across[0] + self.lc2 * turning[:, 1] * across[1]
        assert_close(arm.center_of_mass(q), m1 * place1 / (m1 + m2), m2 * place2 / (m1 + m2))
        found = arm.momentum(q, qd)
        assert_close(found[:, :3], m1 * speed1, m2 * speed2)
        orbit = m1 * m2 / (m1 + m2) * np.cross(place2 - place1, speed2 - speed1)
        assert_close(found[:, 3:], orbit, columns(zero, zero, self.I1 * v1), columns(zero, zero, self.I2 * (v1 + v2)))


class TestRRT:
    """Marghitu's: gravity along axis 1. The energies are made here from the centres' positions and the unit vectors."""

    L1, L2, m1, m2, m3, I3, g = 0.4, 0.7, 90, 60, 40, (5, 4, 1), 9.81

    @pytest.fixture
    def by_lagrange(self):
        q, qd = sp.symbols("q1:4"), sp.symbols("v1:4")
        (q1, q2, q3), (v1, v2, _) = q, qd
        k1 = sp.Matrix([0, -sp.sin(q1), sp.cos(q1)])  # (1)
        k2 = sp.Matrix([sp.sin(q2), -sp.cos(q2) * sp.sin(q1), sp.cos(q1) * sp.cos(q2)])  # (3)
        spin1 = sp.Matrix([v1, 0, 0])  # (5), in frame 1
        spin2 = sp.Matrix([v1 * sp.cos(q2), v2, v1 * sp.sin(q2)])  # (6), in frame 2
        centres = [self.L1 * k1, 2 * self.L1 * k1 + self.L2 * k2, 2 * self.L1 * k1 + (self.L2 + q3) * k2]
        rods = [sp.diag(1, 1, 0) * m * L**2 / 3 for m, L in ((self.m1, self.L1), (self.m2, self.L2))]
        T = V = 0
        for m, centre, spin, inertia in zip(
            (self.m1, self.m2, self.m3), centres, (spin1, spin2, spin2), (*rods, sp.diag(*self.I3)), strict=True
        ):
            speed = velocity(centre, q, qd)
            T += (m * speed.dot(speed) + spin.dot(inertia * spin)) / 2
            V += m * self.g * centre[0]
        return lagrange(T, V, q, qd)

    def cycloid(self):
        """(30) at 0, 1, ..., 15 s, and its derivatives."""
        start, end, Tp = np.array([np.pi / 18, np.pi / 6, 0.25]), np.array([np.pi / 3, np.pi / 3, 0.3]), 15.0
        t, way, w = np.arange(16.0)[:, None], (end - start) / Tp, 2 * np.pi / Tp
        return start + way * (t - np.sin(w * t) / w), way * (1 - np.cos(w * t)), way * w * np.sin(w * t)

    def test_inverse_dynamics_along_the_cycloidal_motion_are_lagranges(self, by_lagrange):
        q, qd, qdd = self.cycloid()
        arm = fd.robots.rrt()
        assert_close(arm.inverse_dynamics(q, qd, qdd), by_lagrange(q, qd, qdd))

    def test_inverse_dynamics_anywhere_are_lagranges(self, by_lagrange):
        state = states(3)
        assert_close(fd.robots.rrt().inverse_dynamics(*state), by_lagrange(*state))

    def test_gravity_forces_are_those_of_equation_15(self):
        q, _, _ = states(3)
        c2, s2, reach = np.cos(q[:, 1]), np.sin(q[:, 1]), self.L2 + q[:, 2]
        reference = self.g * columns(0, self.m2 * self.L2 * c2 + self.m3 * c2 * reach, self.m3 * s2)
        assert_close(fd.robots.rrt().gravity_forces(q), reference)

    def test_kinetic_energy_is_the_sum_of_the_three_links_closed_forms(self):
        q, qd, _ = states(3)
        (_, q2, q3), (v1, v2, v3), L1, L2 = q.T, qd.T, self.L1, self.L2
        c2, s2, (Ix, Iy, Iz) = np.cos(q2), np.sin(q2), self.I3
        T1 = 2 / 3 * self.m1 * L1**2 * v1**2
        T2 = self.m2 / 3 * ((6 * L1**2 + L2**2 + 6 * L1 * L2 * c2 + L2**2 * np.cos(2 * q2)) * v1**2 + 2 * L2**2 * v2**2)
        speeds = ((2 * L1 + L2 * c2 + c2 * q3) * v1) ** 2 + ((L2 + q3) * v2) ** 2 + v3**2
        T3 = (Ix * c2**2 * v1**2 + Iz * s2**2 * v1**2 + Iy * v2**2 + self.m3 * speeds) / 2
        assert_close(fd.robots.rrt().kinetic_energy(q, qd), T1, T2, T3)


class TestArmHungFromTheCeiling:
    """Book, problems 3.16 and 3.17: masses lumped at the links' ends. x0 points down, so that the arm hangs at zero."""

    m1, m2, d1, d2, g = 1.4, 0.9, 0.7, 0.45, 9.8062

    @pytest.fixture
    def arm(self):
        rows = [fd.DHLink(a=d, mass=m) for d, m in ((self.d1, self.m1), (self.d2, self.m2))]
        return fd.from_dh(rows, gravity=(self.g, 0, 0))

    def test_lagrange_euler_by_hand_gives_the_same_terms(self, arm):
        q, qd, qdd = states(2)
        m1, m2, d1, d2 = self.m1, self.m2, self.d1, self.d2
        (t1, t2), (v1, v2) = q.T, qd.T
        C2, k = np.cos(t2), m2 * d1 * d2 * np.sin(t2)
        D12 = m2 * d2**2 + m2 * d1 * d2 * C2
        D = symmetric((m1 + m2) * d1**2 + m2 * d2**2 + 2 * m2 * d1 * d2 * C2, D12, m2 * d2**2)
        h = columns(-k * (2 * v1 * v2 + v2**2), k * v1**2)
        swing = m2 * self.g * d2 * np.sin(t1 + t2)
        c = columns((m1 + m2) * self.g * d1 * np.sin(t1) + swing, swing)
        assert_close(arm.mass_matrix(q), D)
        assert_close(times(arm.coriolis_matrix(q, qd), qd), h)
        assert_close(arm.gravity_forces(q), c)
        assert_close(arm.inverse_dynamics(q, qd, qdd), times(D, qdd), h, c)

    def test_torques_are_those_of_lagranges_equations(self, arm):
        q, qd = sp.symbols("q1:3"), sp.symbols("v1:3")
        end1 = self.d1 * sp.Matrix([sp.cos(q[0]), sp.sin(q[0])])
        end2 = end1 + self.d2 * sp.Matrix([sp.cos(q[0] + q[1]), sp.sin(q[0] + q[1])])
        masses = ((self.m1, end1), (self.m2, end2))
        T = sum(m * velocity(end, q, qd).dot(velocity(end, q, qd)) / 2 for m, end in masses)
        V = -sum(m * self.g * end[0] for m, end in masses)
        state = states(2)
        assert_close(arm.inverse_dynamics(*state), lagrange(T, V, q, qd)(*state))

    def test_newton_euler_in_link_frames_by_hand_gives_the_same_torques_and_forces(self, arm):
        """The base accelerates at -g; each end swings about its joint; the forces come back along the links."""
        q, qd, qdd = states(2)
        (t1, t2), spins, rates = q.T, np.cumsum(qd, axis=1).T, np.cumsum(qdd, axis=1).T

        def into_next(t, x, y):
            return np.cos(t) * x + np.sin(t) * y, -np.sin(t) * x + np.cos(t) * y

        x1, y1 = into_next(t1, -self.g, 0.0)
        x1, y1 = x1 - self.d1 * spins[0] ** 2, y1 + self.d1 * rates[0]
        x2, y2 = into_next(t2, x1, y1)
        x2, y2 = x2 - self.d2 * spins[1] ** 2, y2 + self.d2 * rates[1]
        f2 = columns(self.m2 * x2, self.m2 * y2)
        f1 = columns(self.m1 * x1, self.m1 * y1) + columns(*into_next(-t2, *f2.T))
        tau2 = self.d2 * f2[:, 1]
        tau1 = tau2 + self.d1 * f1[:, 1]
        assert_close(arm.inverse_dynamics(q, qd, qdd), columns(tau1, tau2))
        forces = arm.joint_reactions(q, qd, qdd)[:, :, :2]
        assert_close(forces, np.stack([f1, f2], axis=1))


class TestThetaDArm:
    """Book, problem 3.18, in a vertical plane: m1 at r1 from the axis, m2 at the end of what slides, at d."""

    m1, m2, r1, g = 2.1, 1.3, 0.4, 9.8062

    @pytest.fixture(params=["table", "links"])
    def arm(self, request):
        gravity = (0, -self.g, 0)
        if request.param == "table":  # z of frame 1 along the arm
            turning = fd.DHLink(theta=np.pi / 2, alpha=np.pi / 2, mass=self.m1, com=(0, 0, self.r1))
            return fd.from_dh([turning, fd.DHLink(kind="prismatic", mass=self.m2)], gravity=gravity)
        links = [fd.Link("base"), fd.Link("arm", self.m1, (self.r1, 0, 0)), fd.Link("slider", self.m2)]
        joints = [fd.Joint("theta", "base", "arm"), fd.Joint("d", "arm", "slider", "prismatic", axis=(1, 0, 0))]
        return fd.Robot(links, joints, gravity=gravity)

    def test_equations_by_hand_give_the_same_terms(self, arm):
        q, qd, qdd = states(2)
        (theta, d), (spin, speed), m1, m2 = q.T, qd.T, self.m1, self.m2
        M = symmetric(m1 * self.r1**2 + m2 * d**2, 0, m2)
        h = columns(2 * m2 * d * spin * speed, -m2 * d * spin**2)
        c = self.g * columns((m1 * self.r1 + m2 * d) * np.cos(theta), m2 * np.sin(theta))
        assert_close(arm.mass_matrix(q), M)
        assert_close(times(arm.coriolis_matrix(q, qd), qd), h)
        assert_close(arm.gravity_forces(q), c)
        assert_close(arm.inverse_dynamics(q, qd, qdd), times(M, qdd), h, c)

    def test_torques_are_those_of_lagranges_equations(self, arm):
        q, qd = sp.symbols("theta d"), sp.symbols("v1:3")
        along = sp.Matrix([sp.cos(q[0]), sp.sin(q[0])])
        masses = ((self.m1, self.r1 * along), (self.m2, q[1] * along))
        T = sum(m * velocity(place, q, qd).dot(velocity(place, q, qd)) / 2 for m, place in masses)
        V = sum(m * self.g * place[1] for m, place in masses)
        state = states(2)
        assert_close(arm.inverse_dynamics(*state), lagrange(T, V, q, qd)(*state))


class TestSliderBesideTheAxis:
    """A mass on a rail along x of a turning link; the rail passes the axis at a distance, and begins away from it.

    At x along the rail and y beside the axis it moves by (x' - y w, x w), w the rate of turning.
    """

    m, x0, y0, z0 = 1.6, 0.5, 0.2, 0.1

    @pytest.fixture
    def arm(self):
        origin = np.eye(4)
        origin[:3, 3] = self.x0, self.y0, self.z0
        links = [fd.Link("base"), fd.Link("table"), fd.Link("slider", self.m)]
        rail = fd.Joint("rail", "table", "slider", "prismatic", origin=origin, axis=(1, 0, 0))
        return fd.Robot(links, [fd.Joint("axis", "base", "table"), rail], gravity=(0, 0, 0))

    def test_equations_by_hand_give_the_same_terms(self, arm):
        q, qd, qdd = states(2)
        x, y, m, (spin, speed) = self.x0 + q[:, 1], self.y0, self.m, qd.T
        M = symmetric(m * (x**2 + y**2), -m * y, m)
        h = columns(2 * m * x * spin * speed, -m * x * spin**2)
        assert_close(arm.mass_matrix(q), M)
        assert_close(times(arm.coriolis_matrix(q, qd), qd), h)
        assert_close(arm.inverse_dynamics(q, qd, qdd), times(M, qdd), h)

    def test_rail_pushes_the_mass_and_the_axis_feels_its_moment(self, arm):
        q, qd, qdd = states(2)
        x, y, m, (spin, speed), (rate, acceleration) = self.x0 + q[:, 1], self.y0, self.m, qd.T, qdd.T
        fx = m * (acceleration - y * rate - x * spin**2)
        fy = m * (x * rate + 2 * speed * spin - y * spin**2)
        zero = np.zeros(len(q))
        on_slider = columns(fx, fy, zero, zero, zero, zero)  # a point feels no moment at its own place
        on_table = columns(fx, fy, zero, -self.z0 * fy, self.z0 * fx, x * fy - y * fx)
        assert_close(arm.joint_reactions(q, qd, qdd), np.stack([on_table, on_slider], axis=1))
