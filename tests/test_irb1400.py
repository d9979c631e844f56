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


# ---------------------------------------------------------------------------------------------- printed numbers

THETA0 = np.array([0, -np.pi / 2, 0, 0, 0, np.pi])  # (2.24)
TABLE = np.array([  # alpha, a, theta, d: Table 2.1
    [-np.pi / 2, 0.15, 0, 0.475], [0, 0.6, -np.pi / 2, 0], [-np.pi / 2, 0.12, 0, 0],
    [np.pi / 2, 0, 0, 0.72], [-np.pi / 2, 0, 0, 0], [0, 0, np.pi, 0.085],
])  # fmt: skip
JV = [[0, 0.72, 0.12, 0, 0, 0], [0.955, 0, 0, 0, 0, 0], [0, -0.805, -0.805, 0, -0.085, 0]]
JW = [[0, 0, 0, 1, 0, 1], [0, 1, 1, 0, 1, 0], [1, 0, 0, 0, 0, 0]]


def printed(values):
    """As MATLAB prints them: four digits after the point; the signs of zeros aside."""
    return np.round(values, 4) + 0.0


def test_pose_at_zero_is_the_printed_one():
    """fkine(irb1400, qz): section 2.2.1."""
    found = printed(fd.robots.irb1400().forward_kinematics(np.zeros(6)))
    assert found.tolist() == [[0, 0, 1, 0.955], [0, 1, 0, 0], [-1, 0, 0, 1.195], [0, 0, 0, 1]]


def test_quaternion_at_zero_is_the_printed_one():
    """tr2q(T): section 2.2.1."""
    R = fd.robots.irb1400().forward_kinematics(np.zeros(6))[:3, :3]
    assert printed(fd.rotations.to_quaternion(R)).tolist() == [0.7071, 0, 0.7071, 0]


def test_jacobian_at_zero_is_the_printed_one():
    """Jv, Jw and jacob0(irb1400, qz): section 2.3.3."""
    assert printed(fd.robots.irb1400().jacobian(np.zeros(6))).tolist() == JV + JW


def test_jacobian_is_made_of_axes_and_distances():
    """(2.54), (2.63): columns z x (d_n - d), z of the frames before each joint, as the report's program has it."""
    arm = fd.robots.irb1400()
    q, _, _ = states(6)
    before = arm.forward_kinematics(q, ["base", *(f"link{i}" for i in range(1, 6))])
    z, d = before[..., :3, 2], before[..., :3, 3]
    tip = arm.forward_kinematics(q)[:, None, :3, 3]
    expected = np.concatenate([np.cross(z, tip - d), z], axis=-1).swapaxes(-1, -2)
    assert np.abs(arm.jacobian(q) - expected).max() <= PLACING


def test_table_of_link_parameters_is_the_printed_one():
    """Each link's pose on the one before it is A_i (2.23) with Table 2.1, at theta0 and elsewhere."""
    arm = fd.robots.irb1400()
    for q in (np.zeros(6), *states(6, 3)[0]):
        before = np.eye(4)
        for i, (alpha, a, theta, d) in enumerate(TABLE):
            pose = arm.forward_kinematics(q, f"link{i + 1}")
            A = np.eye(4)
            A[:3, :3] = about("z", theta + q[i]) @ about("x", alpha)
            A[:3, 3] = about("z", theta + q[i]) @ [a, 0, d]
            assert np.abs(before @ A - pose).max() <= PLACING
            before = pose


PLACING = 20 * 6 * EPS  # some ten operations a joint, of lengths up to 2 m


def about(axis, angle):
    """The rotation about an axis."""
    c, s = np.cos(angle), np.sin(angle)
    i, j = {"x": (1, 2), "y": (2, 0), "z": (0, 1)}[axis]
    R = np.eye(3)
    R[[i, i, j, j], [i, j, i, j]] = c, -s, s, c
    return R


# ---------------------------------------------------------------------------------------------- the wrist's centre


def test_wrist_centre_is_where_the_last_three_axes_meet():
    """(2.27), (2.28): d6 behind the flange, at the origins of frames 4 and 5, wherever joints 4 to 6 stand."""
    arm = fd.robots.irb1400()
    q, other, _ = states(6)
    T = arm.forward_kinematics(q)
    centre = T[:, :3, 3] - TABLE[5, 3] * T[:, :3, 2]
    turned = np.concatenate([q[:, :3], other[:, 3:]], axis=1)
    for pose in (arm.forward_kinematics(q, "link4"), arm.forward_kinematics(turned, "link5")):
        assert np.abs(pose[:, :3, 3] - centre).max() <= PLACING


def test_first_angle_points_at_the_wrists_centre():
    """(2.29) where the arm reaches forward, (2.38) where it reaches over itself."""
    arm = fd.robots.irb1400()
    q, _, _ = states(6, 50)
    px, py, _ = arm.forward_kinematics(q, "link4")[:, :3, 3].T
    ahead = px * np.cos(q[:, 0]) + py * np.sin(q[:, 0])
    assert (ahead > 0).any()
    assert (ahead < 0).any()
    found = np.arctan2(np.sign(ahead) * py, np.sign(ahead) * px)
    # an angle is as uncertain as a place is, seen from the axis
    assert (np.abs(np.sin((found - q[:, 0]) / 2)) <= PLACING / np.abs(ahead)).all()


def test_centre_of_the_wrist_from_the_second_axis():
    """(2.30), with the rotation by theta1 about z for the printed R_0^1, which also turns z to the second axis."""
    arm, (a1, d1) = fd.robots.irb1400(), TABLE[0, [1, 3]]
    for q in states(6, 5)[0]:
        centre, second = (arm.forward_kinematics(q, name)[:3, 3] for name in ("link4", "link1"))
        lever = np.array([a1, 0, d1])
        assert np.abs(about("z", q[0]) @ lever - second).max() <= PLACING
        R01 = arm.forward_kinematics(q, "link1")[:3, :3]
        assert np.abs(R01 @ lever - second).max() > 0.1  # as printed
        # (2.31): the law of cosines, b3 from the third axis to the centre
        b3, c = np.hypot(TABLE[2, 1], TABLE[3, 3]), np.linalg.norm(centre - second)
        bend = q[2] + np.arctan2(TABLE[3, 3], TABLE[2, 1])  # (2.37)
        assert abs(c**2 - TABLE[1, 1] ** 2 - b3**2 - 2 * TABLE[1, 1] * b3 * np.cos(bend)) <= 4 * PLACING


def test_rotations_of_arm_and_wrist_are_the_printed_ones():
    """(2.41), (2.42), (2.44)."""
    arm = fd.robots.irb1400()
    q, _, _ = states(6)
    (c1, c2, c3, c4, c5, c6), (s1, s2, s3, s4, s5, s6) = np.cos(q + THETA0).T, np.sin(q + THETA0).T
    c23, s23, zero = c2 * c3 - s2 * s3, s2 * c3 + c2 * s3, np.zeros(len(q))
    R03 = [[c1 * c23, s1, -c1 * s23], [s1 * c23, -c1, -s1 * s23], [-s23, zero, -c23]]
    R36 = [
        [c4 * c5 * c6 - s4 * s6, -c4 * c5 * s6 - s4 * c6, -c4 * s5],
        [s4 * c5 * c6 + c4 * s6, -s4 * c5 * s6 + c4 * c6, -s4 * s5],
        [s5 * c6, -s5 * s6, c5],
    ]
    R03, R36 = (np.moveaxis(np.array(R), -1, 0) for R in (R03, R36))
    third, tip = arm.forward_kinematics(q, "link3")[:, :3, :3], arm.forward_kinematics(q)[:, :3, :3]
    assert np.abs(third - R03).max() <= PLACING
    assert np.abs(third.swapaxes(1, 2) @ tip - R36).max() <= PLACING
    for place, R in zip(q + THETA0, R03, strict=True):
        by_axes = [about("z", t) @ about("x", alpha) for t, alpha in zip(place, TABLE[:3, 0], strict=False)]
        assert np.abs(np.linalg.multi_dot(by_axes) - R).max() <= PLACING


# ---------------------------------------------------------------------------------------------- the controller's angles

G = np.array([[1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0], [0, -1, 1, 0, 0, 0],
              [0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 1, 0], [0, 0, 0, 0, 0, 1]])  # (2.25)  # fmt: skip


def test_angles_of_the_controller_become_those_of_the_chain_and_back():
    """abb2dh, dh2abb: (2.25)."""
    arm = fd.robots.irb1400(coupled=True)
    phi, _, _ = states(6)
    theta = phi @ G.T + THETA0
    assert np.abs(arm.joint_positions(phi) + THETA0 - theta).max() <= 4 * EPS * np.abs(theta).max()
    assert np.abs(arm.coordinates(theta - THETA0) - phi).max() <= 16 * EPS * np.abs(theta).max()
    assert arm.names == ("axis1", "axis2", "axis3", "axis4", "axis5", "axis6")
    assert not arm.joint_positions(np.zeros(6)).any()
    assert np.array_equal(arm.G, G)


def test_upper_arm_keeps_its_slope_when_only_axis_2_moves():
    arm, chain = fd.robots.irb1400(coupled=True), fd.robots.irb1400()
    phi = np.array([0.4, 0.3, -0.2, 0.5, -0.6, 0.7])
    moved = phi + 0.5 * np.eye(6)[1]
    before, after = (arm.forward_kinematics(at, ["link3", "link6"]) for at in (phi, moved))
    assert np.abs(before[:, :3, :3] - after[:, :3, :3]).max() <= PLACING
    shift = 0.6 * np.array([np.sin(moved[1]) - np.sin(phi[1]), 0, np.cos(moved[1]) - np.cos(phi[1])])
    assert np.abs(after[:, :3, 3] - before[:, :3, 3] - about("z", phi[0]) @ shift).max() <= PLACING
    alone = [chain.forward_kinematics(at, "link3")[:3, :3] for at in (phi, moved)]
    assert np.abs(alone[0] - alone[1]).max() > 0.1  # as the joints of the chain, they turn the upper arm


def test_motors_feel_the_torques_of_the_joints_through_the_rod():
    arm, chain = fd.robots.irb1400(coupled=True), fd.robots.irb1400()
    phi, phid, phidd = states(6)
    joints = phi @ G.T, phid @ G.T, phidd @ G.T
    tau = chain.inverse_dynamics(*joints)
    tolerance = 100 * 6 * EPS * np.abs(tau).max()  # as against the oracle
    found = arm.inverse_dynamics(phi, phid, phidd)
    assert np.abs(found - tau @ G).max() <= tolerance
    assert np.abs(found[:, 1] - (tau[:, 1] - tau[:, 2])).max() <= tolerance
    M = chain.mass_matrix(joints[0])
    assert np.abs(arm.mass_matrix(phi) - G.T @ M @ G).max() <= 100 * 6 * EPS * np.abs(M).max()
    assert np.abs(arm.jacobian(phi) - chain.jacobian(joints[0]) @ G).max() <= PLACING


def test_controller_and_main_axes_agree_on_where_the_wrist_is():
    """theta1 to theta3 of section 3.1.5 are phi1 to phi3; a3 and d4 place the wrist's centre on the upper arm."""
    arm, axes = fd.robots.irb1400(coupled=True), fd.robots.irb1400_main_axes()
    phi, _, _ = states(6)
    wrist = arm.forward_kinematics(phi, "link4")[:, :3, 3]
    found = axes.forward_kinematics(phi[:, :3], "link3", point=(0.72, 0, 0.12))[:, :3, 3]
    assert np.abs(found - wrist).max() <= PLACING


def test_limits_of_the_controllers_angles():
    """Axis 3 has a range of its own, and joint 3 all that this leaves for it."""
    arm = fd.robots.irb1400(coupled=True)
    np.testing.assert_allclose(arm.limits.position[:3], np.radians([[-170, 170], [-70, 70], [-65, 70]]), rtol=4 * EPS)
    assert np.isinf(arm.limits.position[3:]).all()
    for corner in ([0, -70, 70, 0, 0, 0], [0, 70, -65, 0, 0, 0]):  # joint 3 at 140 and -135 degrees, its limits
        arm.check_limits(np.radians(corner))
    with pytest.raises(fd.LimitError, match="q of coordinate 'axis3' is"):
        arm.check_limits(np.radians([0, 0, 71, 0, 0, 0]))


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
    """Equal up to rounding: some ten roundings for each of three coordinates, of terms whose sizes sum up to the scale.

    Less than one eps of the scale was found; the scale is up to a hundred times the largest entry, so that 16 eps of it
    are 4e-13 of that at most.
    """
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() <= 16 * EPS * scale


@given(scenes)
def test_main_axes_closed_form_is_the_coupled_tree(scene):
    axes, robot, q, qd, qdd = scene.axes, scene.axes.robot(), scene.q, scene.qd, scene.qdd
    assert_close(axes.mass_matrix(q), robot.mass_matrix(q), scene.inertia)
    assert_close(axes.coriolis_matrix(q, qd), robot.coriolis_matrix(q, qd), scene.inertia * scene.rate)
    assert_close(axes.gravity_forces(q), robot.gravity_forces(q), scene.weight)
    assert_close(axes.potential_energy(q), robot.potential_energy(q), scene.weight)
    tau = axes.inverse_dynamics(q, qd, qdd)
    assert_close(tau, robot.inverse_dynamics(q, qd, qdd), scene.torque)
    stiff = np.linalg.norm(np.linalg.inv(axes.mass_matrix(q)), 2, axis=(1, 2)).max()  # torques to accelerations
    assert_close(robot.forward_dynamics(q, qd, tau), qdd, scene.torque * stiff)


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
        self.axes, self.l1, self.l2, self.l5 = axes, axes.l1x, axes.l2z, axes.l5x
        (self.x2, self.z2), (self.x3, self.z3), (self.x5, self.z5) = axes.rc2, axes.rc3, axes.rc5
        self.z4 = axes.rc4[1]

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


def test_force_that_closes_the_parallelogram_does_no_work():
    """The rod pulls at link 3, and link 3 at the rod: together the motors feel nothing of it."""
    scene = Scene(3)
    axes, robot, q, qd, qdd = scene.axes, scene.axes.robot(), scene.q[0], scene.qd[0], scene.qdd[0]
    force = np.array([30.0, -20.0, 10.0])  # on link 3, along the axes of link 1
    on3, on4 = about("y", -q[2]) @ force, -about("y", -q[1]) @ force
    wrenches = {"link3": [*on3, *np.cross([axes.l5x, 0, 0], on3)], "link4": [*on4, *np.cross([0, 0, axes.l2z], on4)]}
    free = robot.inverse_dynamics(q, qd, qdd)
    assert_close(robot.inverse_dynamics(q, qd, qdd, wrenches), free, scene.torque)
    alone = robot.inverse_dynamics(q, qd, qdd, {"link3": wrenches["link3"]})
    assert np.abs(alone - free).max() > 1


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
