"""The IRB 1400 of Norrlöf's report (Modeling of industrial robots, LiTH-ISY-R-2208, 1999).

Numbers in brackets are those of the report's equations.
"""

from dataclasses import replace

import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

import fastdyn as fd
from fastdyn.mechanism.poses import link_poses
from fastdyn.robots import MainAxes
from tests.test_identities import DIFFERENCES, derivative

EPS = np.finfo(float).eps


def states(n, samples=20, seed=0):
    return np.random.default_rng(seed).normal(size=(3, samples, n)) * 2


def times(M, v):
    return (M @ v[..., None])[..., 0]


# ---------------------------------------------------------------------------------------------- main axes


def random_axes(rng):
    """Masses up to 50 kg, moments up to 10 kg m^2, lengths up to 1 m of either sign."""
    return MainAxes(
        **dict(zip(("l1x", "l1z", "l2z", "l5x"), rng.uniform(-1, 1, 4), strict=True)),
        **{f"rc{i}": tuple(rng.uniform(-1, 1, 2)) for i in range(2, 6)},
        **{f"m{i}": rng.uniform(0, 50) for i in range(2, 6)},
        **{f"I{i}": rng.uniform(0, 10) for i in range(1, 6)},
        f=tuple(rng.uniform(0, 200, 3)),
        g=rng.uniform(0, 20),
    )


class Scene:
    """Main axes with random figures, states of theirs, and the size of what is summed in a result."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.axes = random_axes(rng)
        self.q, self.qd, self.qdd = rng.normal(size=(3, 8, 3)) * 2
        axes = self.axes
        masses = np.array([axes.m2, axes.m3, axes.m4, axes.m5])
        levers = [axes.rc2, axes.rc3, axes.rc4, axes.rc5, (axes.l1x, axes.l1z), (axes.l2z, axes.l5x)]
        self.reach = np.abs(levers).sum()
        self.inertia = axes.I1 + axes.I2 + axes.I3 + axes.I4 + axes.I5 + masses.sum() * self.reach**2
        self.weight = axes.g * masses.sum() * self.reach
        self.rate, self.acceleration = (np.abs(x).sum(axis=-1).max() for x in (self.qd, self.qdd))
        self.torque = self.inertia * (self.rate**2 + self.acceleration) + self.weight + max(axes.f) * self.rate


scenes = st.integers(0, 2**32 - 1).map(Scene)


def assert_close(found, expected, scale):
    """Some hundred roundings, of terms of that size and of angles of up to 8 rad: at most 1e-13 of the size."""
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() <= 500 * EPS * scale


@given(scenes)
def test_main_axes_closed_form_is_the_coupled_tree(scene):
    axes, robot, q, qd, qdd = scene.axes, scene.axes.robot(), scene.q, scene.qd, scene.qdd
    assert_close(axes.mass_matrix(q), robot.mass_matrix(q), scene.inertia)
    assert_close(axes.coriolis_matrix(q, qd), robot.coriolis_matrix(q, qd), scene.inertia * scene.rate)
    assert_close(axes.gravity_forces(q), robot.gravity_forces(q), scene.weight)
    assert_close(axes.potential_energy(q), robot.potential_energy(q), scene.weight)
    assert_close(axes.inverse_dynamics(q, qd, qdd), robot.inverse_dynamics(q, qd, qdd), scene.torque)


@given(scenes)
def test_main_axes_mass_matrix_changes_at_the_rate_of_the_coriolis_matrix_and_its_transpose(scene):
    """That is, dD/dt - 2 C is skew, in both forms."""
    q, qd = scene.q[0], scene.qd[0]
    pace = 2 * np.abs(qd).sum()  # products of two rotations: no sine is faster than sin(t)
    for arm in (scene.axes, scene.axes.robot()):
        rate = pace * derivative(lambda t, arm=arm: arm.mass_matrix(q + t * qd / pace))
        C = arm.coriolis_matrix(q, qd)
        assert np.abs(C + C.T - rate).max() <= pace * 3 * DIFFERENCES * scene.inertia


def unbalanced(scene, C):
    """The power that C adds to the energies: qd . (C qd) less the rate of the kinetic energy at constant rates."""
    q, qd = scene.q[0], scene.qd[0]
    pace = 2 * np.abs(qd).sum()
    rate = pace * derivative(lambda t: qd @ scene.axes.mass_matrix(q + t * qd / pace) @ qd / 2)
    return qd @ C @ qd - rate


@given(scenes)
def test_main_axes_energy_changes_by_the_power_of_the_motors_less_friction(scene):
    """Along q + qd t + qdd t^2 / 2, in both forms."""
    axes, robot, q, qd, qdd = scene.axes, scene.axes.robot(), scene.q[0], scene.qd[0], scene.qdd[0]
    pace = 4 * (scene.rate + scene.acceleration)

    def energy(t):
        t = t / pace
        place, speed = q + qd * t + qdd * t**2 / 2, qd + qdd * t
        return speed @ axes.mass_matrix(place) @ speed / 2 + axes.potential_energy(place)

    size = scene.inertia * (scene.rate + scene.acceleration / pace) ** 2 + scene.weight
    rate = pace * derivative(energy)
    for arm in (axes, robot):
        power = qd @ (arm.inverse_dynamics(q, qd, qdd) - axes.f * qd)
        assert abs(power - rate) <= pace * 3 * DIFFERENCES * size


@pytest.mark.parametrize("left_out", [[(0, 0)], [(1, 2), (2, 1)], [(0, 0), (1, 2), (2, 1)]])
def test_coriolis_matrix_as_printed_violates_the_energy_balance(left_out):
    """(3.58) prints zeros for c11, c23 and c32."""
    scene = Scene(1)
    C = scene.axes.coriolis_matrix(scene.q[0], scene.qd[0])
    tolerance = 2 * scene.rate * 3 * DIFFERENCES * scene.inertia * scene.rate**2
    assert abs(unbalanced(scene, C)) <= tolerance
    for place in left_out:
        C[place] = 0
    assert abs(unbalanced(scene, C)) > 1e6 * tolerance


@given(scenes)
def test_main_axes_gravity_forces_are_the_gradient_of_potential_energy(scene):
    q = scene.q[0]
    for arm in (scene.axes, scene.axes.robot()):
        slopes = [derivative(lambda t, k=k, arm=arm: arm.potential_energy(q + t * np.eye(3)[k])) for k in range(3)]
        assert np.abs(arm.gravity_forces(q) - slopes).max() <= 3 * DIFFERENCES * scene.weight


@given(scenes)
def test_friction_of_the_main_axes_adds_to_the_torques(scene):
    """(3.61): tau_ext = tau + f qd."""
    smooth = replace(scene.axes, f=(0, 0, 0))
    extra = scene.axes.f * scene.qd
    for rough, bare in ((scene.axes, smooth), (scene.axes.robot(), smooth.robot())):
        with_friction, without = (arm.inverse_dynamics(scene.q, scene.qd, scene.qdd) for arm in (rough, bare))
        assert_close(with_friction - without, extra, scene.torque)


class Printed:
    """Section 3.1.5 as printed, with r_c4x = 0, where it is right; what is wrong has an argument for its reading."""

    def __init__(self, axes):
        self.axes = axes
        self.l1, self.l2, self.l5 = axes.l1x, axes.l2z, axes.l5x
        (self.x2, self.z2), (self.x3, self.z3), (_, self.z4), (self.x5, self.z5) = (
            axes.rc2,
            axes.rc3,
            axes.rc4,
            axes.rc5,
        )

    def d11(self, q2, q3, of_link5):
        """of_link5: the angle in the cos(2 theta) and sin terms of link 5, printed theta2."""
        a, l1, x2, z2, x5, z5 = self.axes, self.l1, self.x2, self.z2, self.x5, self.z5
        return (
            a.I1 + a.m4 * (l1 + self.l5 * np.cos(q3) + self.z4 * np.sin(q2)) ** 2
            + a.m2 / 2 * (
                2 * l1**2 + x2**2 + z2**2 + 4 * l1 * x2 * np.cos(q2) + (x2**2 - z2**2) * np.cos(2 * q2)
                + 4 * l1 * z2 * np.sin(q2) + 2 * x2 * z2 * np.sin(2 * q2)
            )
            + a.m3 * (l1 + self.x3 * np.cos(q3) + self.l2 * np.sin(q2) + self.z3 * np.sin(q3)) ** 2
            + a.m5 / 2 * (
                2 * l1**2 + x5**2 + z5**2 + 4 * l1 * x5 * np.cos(q3) + (x5**2 - z5**2) * np.cos(2 * of_link5)
                + 4 * l1 * z5 * np.sin(of_link5) + 2 * x5 * z5 * np.sin(2 * q3)
            )
        )  # fmt: skip

    def d22(self):
        a = self.axes
        return a.I2 + a.I4 + a.m2 * (self.x2**2 + self.z2**2) + a.m3 * self.l2**2 + a.m4 * self.z4**2

    def d23(self, q2, q3):
        a = self.axes
        across = a.m3 * self.l2 * self.x3 + a.m4 * self.l5 * self.z4
        return a.m3 * self.l2 * self.z3 * np.cos(q2 - q3) + across * np.sin(q2 - q3)

    def d33(self):
        a = self.axes
        levers = a.m3 * (self.x3**2 + self.z3**2) + a.m4 * self.l5**2 + a.m5 * (self.x5**2 + self.z5**2)
        return a.I3 + a.I5 + levers

    def c12(self, q2, q3, v1):
        a, l1, l2, l5, x2, z2, z4 = self.axes, self.l1, self.l2, self.l5, self.x2, self.z2, self.z4
        c2, s2, c3, s3 = np.cos(q2), np.sin(q2), np.cos(q3), np.sin(q3)
        return v1 * (
            a.m2 * x2 * z2 * c2**2 - a.m2 * x2 * s2 * (l1 + z2 * s2)
            + c2 * (
                l1 * l2 * a.m3 + l1 * a.m2 * z2 + l1 * a.m4 * z4 + (l2 * a.m3 * self.x3 + l5 * a.m4 * z4) * c3
                + (l2**2 * a.m3 - a.m2 * x2**2 + a.m2 * z2**2 + a.m4 * z4**2) * s2 + l2 * a.m3 * self.z3 * s3
            )
        )  # fmt: skip

    def c13(self, q2, q3, v1):
        a, l1, l2, l5, x3, z3, x5, z5 = self.axes, self.l1, self.l2, self.l5, self.x3, self.z3, self.x5, self.z5
        s2, c3, s3 = np.sin(q2), np.cos(q3), np.sin(q3)
        return v1 * (
            -l5 * a.m4 * (l1 + l5 * c3 + self.z4 * s2) * s3
            + a.m3 * (z3 * c3 - x3 * s3) * (l1 + x3 * c3 + l2 * s2 + z3 * s3)
            + a.m5 * (z5 * c3 - x5 * s3) * (l1 + x5 * c3 + z5 * s3)
        )

    def g2(self, q2, sign_of_link3):
        """sign_of_link3: of its term, printed +1."""
        a = self.axes
        upright = -a.m2 * self.z2 + sign_of_link3 * a.m3 * self.l2 - a.m4 * self.z4
        return a.g * (upright * np.sin(q2) - a.m2 * self.x2 * np.cos(q2))

    def g3(self, q3):
        a = self.axes
        level = -a.m3 * self.x3 - a.m4 * self.l5 - a.m5 * self.x5
        return a.g * ((-a.m3 * self.z3 - a.m5 * self.z5) * np.sin(q3) + level * np.cos(q3))


@given(scenes)
def test_main_axes_closed_form_is_the_printed_one_with_its_misprints_corrected(scene):
    axes = replace(scene.axes, rc4=(0.0, scene.axes.rc4[1]))
    printed, (_, q2, q3), v1 = Printed(axes), scene.q.T, scene.qd[:, 0]
    D, C, g = axes.mass_matrix(scene.q), axes.coriolis_matrix(scene.q, scene.qd), axes.gravity_forces(scene.q)
    one = np.ones(len(q2))
    assert_close(D[:, 0, 0], printed.d11(q2, q3, of_link5=q3), scene.inertia)
    assert_close(D[:, 1, 1], printed.d22() * one, scene.inertia)
    assert_close(D[:, 1, 2], printed.d23(q2, q3), scene.inertia)
    assert_close(D[:, 2, 2], printed.d33() * one, scene.inertia)
    assert not D[:, 0, 1:].any()
    assert_close(C[:, 0, 1], printed.c12(q2, q3, v1), scene.inertia * scene.rate)
    assert_close(C[:, 0, 2], printed.c13(q2, q3, v1), scene.inertia * scene.rate)
    assert np.array_equal(C[:, 1:, 0], -C[:, 0, 1:])
    assert_close(g[:, 1], printed.g2(q2, sign_of_link3=-1), scene.weight)
    assert_close(g[:, 2], printed.g3(q3), scene.weight)


def test_misprints_are_misprints():
    """With the figures that stand for the arm, they change the numbers by far more than rounding does."""
    axes = MainAxes(rc5=(-0.1, 0.05))
    printed, q = Printed(axes), np.array([0.0, 0.4, -0.3])
    d11, g2 = axes.mass_matrix(q)[0, 0], axes.gravity_forces(q)[1]
    assert abs(printed.d11(q[1], q[2], of_link5=q[1]) - d11) > 1e-3 * d11
    assert abs(printed.g2(q[1], sign_of_link3=1) - g2) > 0.1 * abs(g2)


def test_main_axes_equations_are_lagranges_by_sympy():
    """D, C and g from the positions (3.49) to (3.52), by (3.53), (3.54), (3.46), (3.45) and (3.59)."""
    q, v = sp.symbols("q1:4"), sp.symbols("v1:4")
    scene = Scene(7)
    axes = scene.axes
    about_z = sp.Matrix([[sp.cos(q[0]), -sp.sin(q[0]), 0], [sp.sin(q[0]), sp.cos(q[0]), 0], [0, 0, 1]])
    turn2, turn3 = (sp.Matrix([[sp.cos(t), 0, sp.sin(t)], [0, 1, 0], [-sp.sin(t), 0, sp.cos(t)]]) for t in (q[1], q[2]))

    def flat(x, z):
        return sp.Matrix([x, 0, z])

    l1 = flat(axes.l1x, axes.l1z)
    centres = [
        l1 + turn2 * flat(*axes.rc2),
        l1 + turn2 * flat(0, axes.l2z) + turn3 * flat(*axes.rc3),
        l1 + turn3 * flat(axes.l5x, 0) + turn2 * flat(*axes.rc4),
        l1 + turn3 * flat(*axes.rc5),
    ]
    D, V = sp.diag(axes.I1, axes.I2 + axes.I4, axes.I3 + axes.I5), 0
    for m, centre in zip((axes.m2, axes.m3, axes.m4, axes.m5), centres, strict=True):
        J = (about_z * centre).jacobian(q)
        D += m * J.T * J
        V += m * axes.g * centre[2]

    def c(p, j):
        return sum((D[p, j].diff(q[i]) + D[p, i].diff(q[j]) - D[i, j].diff(q[p])) * v[i] / 2 for i in range(3))

    reference = sp.lambdify([q, v], [D, sp.Matrix(3, 3, c), sp.Matrix([V.diff(x) for x in q]), V])
    for place, rate in zip(scene.q, scene.qd, strict=True):
        inertia, coriolis, gravity, potential = reference(place, rate)
        assert_close(axes.mass_matrix(place), inertia, scene.inertia)
        assert_close(axes.coriolis_matrix(place, rate), coriolis, scene.inertia * scene.rate)
        assert_close(axes.gravity_forces(place), gravity[:, 0], scene.weight)
        assert_close(axes.potential_energy(place), np.asarray(potential), scene.weight)


@given(scenes)
def test_parallelogram_is_closed(scene):
    """The rod ends at the lever of link 3, and turns as link 2 does."""
    robot, axes = scene.axes.robot(), scene.axes
    poses = link_poses(robot, scene.q[0])
    rod, lever = poses["link4"] @ [0, 0, axes.l2z, 1], poses["link3"] @ [axes.l5x, 0, 0, 1]
    assert_close(rod, lever, 1 + scene.reach)
    assert_close(poses["link4"][:3, :3], poses["link2"][:3, :3], 1)
    assert_close(poses["link3"][:3, :3], poses["link5"][:3, :3], 1)


def test_main_axes_take_batches_that_broadcast():
    axes, (q, qd, qdd) = MainAxes(), states(3, 4)
    found = axes.inverse_dynamics(q[:, None], qd, qdd)
    assert found.shape == (4, 4, 3)
    assert_close(found[1, 2], axes.inverse_dynamics(q[1], qd[2], qdd[2]), np.abs(found).max())
    assert axes.coriolis_matrix(q[0], qd).shape == (4, 3, 3)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"m3": -1.0}, "m3: expected a number not below zero, found -1.0"),
        ({"I2": float("nan")}, "I2: expected a finite number, found nan"),
        ({"rc4": 0.3}, r"rc4: expected shape \(2,\), found shape \(\)"),
        ({"f": (0, 1, -2)}, "f: expected a number not below zero, found -2"),
        ({"l5x": "long"}, "l5x: expected a number, found 'long'"),
    ],
)
def test_main_axes_refuse_figures_that_cannot_be(wrong, said):
    with pytest.raises(fd.RobotError, match=said):
        MainAxes(**wrong)


def test_main_axes_refuse_states_that_are_none():
    with pytest.raises(fd.ArgumentError, match=r"q has shape \(2,\), but MainAxes has 3 coordinates: expected"):
        MainAxes().mass_matrix([0, 0])
    with pytest.raises(fd.NotFiniteError, match=r"qd\[1\] is nan: expected finite numbers"):
        MainAxes().coriolis_matrix([0, 0, 0], [0, np.nan, 0])
