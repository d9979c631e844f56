"""Helical joints (angle q, travel pitch q): descriptions, formats, poses, and dynamics.

Dynamics are compared with the oracle and with Pinocchio by the tests of test_oracle.py and test_peers.py, collected
here again for robots with helical joints, and with a revolute and a prismatic joint coupled one to the other.
"""

from dataclasses import replace

import numpy as np
import pytest

import fastdyn as fd
from fastdyn.geometry import go, homogeneous, turn_x, turn_z
from fastdyn.mechanism.poses import link_poses
from fastdyn.rotations import turn
from fastdyn.study.formulations import inverse_dynamics as by_formulation
from tests.peers import Pinocchio
from tests.samples import EPS, changed, energy_scale, reach, square, states, torque_scale, with_motors
from tests.test_identities import momentum_scales
from tests.test_oracle import (  # noqa: F401
    Case,
    check,
    shuffled,
    test_bias_forces_agree_with_the_oracle,
    test_center_of_mass_agrees_with_the_oracle,
    test_coriolis_matrix_agrees_with_the_oracle,
    test_forward_dynamics_agree_with_the_oracle,
    test_gravity_forces_agree_with_the_oracle,
    test_inverse_dynamics_agrees_with_the_oracle,
    test_joint_reactions_agree_with_the_oracle,
    test_kinetic_energy_agrees_with_the_oracle,
    test_mass_matrix_agrees_with_the_oracle,
    test_momentum_agrees_with_the_oracle,
    test_potential_energy_agrees_with_the_oracle,
    test_rate_of_the_mass_matrix_less_twice_the_coriolis_matrix_is_skew,
    with_fixed_links,
)
from tests.test_peers import (  # noqa: F401
    pinocchio,
    prepared,
    test_accelerations_are_pinocchios,
    test_bias_gravity_and_coriolis_forces_are_pinocchios,
    test_coriolis_matrix_is_pinocchios,
    test_energies_are_pinocchios,
    test_joint_reactions_are_pinocchios,
    test_mass_matrix_is_pinocchios,
    test_momentum_and_center_of_mass_are_pinocchios,
    test_torques_are_pinocchios,
    test_torques_under_wrenches_are_pinocchios,
)

PITCH = 0.08  # m/rad
SEEDS = range(4)
SIZES = (1, 2, 3, 5, 8, 13)
BODY = {"mass": 2.0, "com": (0.1, -0.2, 0.05), "inertia": np.diag([0.03, 0.04, 0.05])}
LEAD_SCREW = fd.Joint("lead screw", "base", "nut", "helical", pitch=PITCH)


def one_joint(joint=LEAD_SCREW, **more):
    return fd.Robot([fd.Link("base"), fd.Link(joint.child, **BODY)], [joint], **more)


def aligned(n, seed):
    """A random tree whose axes are along x, y and z, some backward, so that Pinocchio's HX, HY and HZ are met."""
    drawn = fd.robots.random_tree(n, seed, 0.2, True, helical=0.5)
    robot = square(n, seed, 0.2, True)
    made = [
        replace(joint, kind=other.kind, pitch=other.pitch, axis=joint.axis if i % 3 == 0 else np.abs(joint.axis))
        for i, (joint, other) in enumerate(zip(robot.all_joints, drawn.all_joints, strict=True))
    ]
    return changed(robot, joints=made)


def helical_robots(n, seed):
    """Chains and trees with all kinds of joints, right angles and fixed links."""
    rng = np.random.default_rng([n, seed])
    yield fd.robots.random_chain(n, seed, helical=1.0)
    yield fd.robots.random_chain(n, seed, 0.3, True, helical=0.4)
    yield fd.robots.random_tree(n, seed, 0.3, True, helical=0.4)
    yield shuffled(with_fixed_links(fd.robots.random_tree(n, seed, 0.2, True, helical=0.5), rng), rng)
    yield aligned(n, seed)


ROBOTS = [
    robot for n in SIZES for robot in helical_robots(n, n) if any(joint.kind == "helical" for joint in robot.joints)
]


def same_poses(found, expected, tolerance=1e-14):
    """Products of a dozen matrices with entries of a few metres at most: 1e-14 is 45 eps."""
    for pose, other in zip(found.values(), expected.values(), strict=True):
        np.testing.assert_allclose(pose, other, rtol=0, atol=tolerance)


# ---------------------------------------------------------------------------------------------- poses


@pytest.mark.parametrize("q", [0.0, 0.3, -2.5, 40.0])
def test_a_nut_turns_and_travels(q):
    c, s = np.cos(q), np.sin(q)
    expected = [[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, PITCH * q], [0, 0, 0, 1]]
    np.testing.assert_allclose(link_poses(one_joint(), [q])["nut"], expected, rtol=0, atol=4 * EPS)


def test_the_axis_is_that_of_the_joint_frame():
    axis, origin, tail = np.array([2.0, -1.0, 2.0]) / 3, turn_x(0.4) @ go(1, 2, 3), go(0.1, 0, 0.2) @ turn_z(0.7)
    arm = one_joint(fd.Joint("j", "base", "nut", "helical", origin, axis, tail, pitch=-PITCH))
    expected = origin @ homogeneous(turn(axis, 0.9), -PITCH * 0.9 * axis) @ tail
    np.testing.assert_allclose(link_poses(arm, [0.9])["nut"], expected, rtol=0, atol=8 * EPS)


@pytest.mark.parametrize("robot", ROBOTS, ids=repr)
def test_link_poses_are_pinocchios(robot):
    pin = pytest.importorskip("pinocchio")
    peer, (q,) = Pinocchio(robot), states(robot, 1, count=1)
    pin.forwardKinematics(peer.model, peer.data, q[peer.order])
    found = link_poses(robot, q)
    for joint, k in zip(robot.joints, peer.place, strict=True):
        expected = peer.data.oMi[int(k) + 1].homogeneous @ joint.tail
        np.testing.assert_allclose(robot.mount @ found[joint.child], expected, rtol=0, atol=20 * EPS * (1 + robot.n))


# ---------------------------------------------------------------------------------------------- D-H tables and screws


TABLE = [  # a, alpha, d, theta, kind, pitch
    (0.3, 0.5, 0.1, 0.2, "revolute", 0.0),
    (0.1, -np.pi / 2, 0.2, -0.4, "helical", PITCH),
    (0.2, 1.1, 0.0, 0.3, "prismatic", 0.0),
    (0.0, 0.7, -0.1, 0.0, "helical", -2 * PITCH),
]
Q = np.array([0.4, -1.2, 0.15, 2.0])


def table_arm(convention):
    rows = [fd.DHLink(a, alpha, d, theta, kind, **BODY, pitch=pitch) for a, alpha, d, theta, kind, pitch in TABLE]
    return fd.from_dh(rows, convention)


def table_poses(convention):
    """theta + q and d + pitch q in the table's row, as the convention multiplies them."""
    poses = {"base": np.eye(4)}
    for i, ((a, alpha, d, theta, kind, pitch), q) in enumerate(zip(TABLE, Q, strict=True), start=1):
        theta, d = theta + q * (kind != "prismatic"), d + q * (kind == "prismatic") + pitch * q
        along, across = turn_z(theta) @ go(0, 0, d), go(a, 0, 0) @ turn_x(alpha)
        step = along @ across if convention == "standard" else across @ along
        poses[f"link{i}"] = poses[f"link{i - 1}" if i > 1 else "base"] @ step
    return poses


def spatial(body):
    cross = np.cross(body["com"], np.eye(3)).T
    m = body["mass"]
    return np.block([[body["inertia"] - m * cross @ cross, m * cross], [m * cross.T, m * np.eye(3)]])


def screws_of(robot):
    """Home placements and screws A_i = (w, v) of a chain in the links' own frames."""
    home, A = [], []
    for joint in robot.joints:
        tail = np.asarray(joint.tail)
        home.append(joint.origin @ tail)
        axis, point = tail[:3, :3].T @ joint.axis, -tail[:3, :3].T @ tail[:3, 3]
        moment = np.cross(point, axis) + joint.pitch * axis
        A.append([*axis, *moment] if joint.kind != "prismatic" else [0, 0, 0, *axis])
    return home, np.array(A)


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_a_row_of_a_table_turns_theta_and_moves_d(convention):
    same_poses(link_poses(table_arm(convention), Q), table_poses(convention))


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_screws_and_table_describe_one_arm(convention):
    arm = table_arm(convention)
    home, A = screws_of(arm)
    by_screws = fd.from_screws(home, [spatial(BODY)] * 4, A)
    assert [joint.kind for joint in by_screws.joints] == [row[4] for row in TABLE]
    np.testing.assert_allclose(
        [joint.pitch for joint in by_screws.joints], [row[5] for row in TABLE], rtol=0, atol=8 * EPS
    )
    same_poses(link_poses(by_screws, Q), link_poses(arm, Q))


def test_screws_in_the_base_frame_describe_the_same_arm():
    home, A = screws_of(table_arm("standard"))
    at, S = np.eye(4), []
    for M, a in zip(home, A, strict=True):
        at = at @ M
        w = at[:3, :3] @ a[:3]
        S.append([*w, *np.cross(at[:3, 3], w) + at[:3, :3] @ a[3:]])
    one = fd.from_screws(home, [spatial(BODY)] * 4, A)
    two = fd.from_screws(home, [spatial(BODY)] * 4, np.transpose(S), convention="modern_robotics")
    same_poses(link_poses(two, Q), link_poses(one, Q))


def test_a_longer_screw_has_the_same_pitch_and_scales_its_coordinate():
    screw = np.array([0, 0, 1, 0.2, -0.3, PITCH])
    with pytest.warns(fd.RobotWarning, match=r"not of unit length.*\[2.0\] rad or m"):
        arm = fd.from_screws([np.eye(4)], [spatial(BODY)], [2 * screw])
    (joint,) = arm.joints
    assert joint.kind == "helical"
    assert joint.pitch == pytest.approx(PITCH, rel=4 * EPS)
    found = link_poses(arm.robot, arm.joint_positions([0.7]))
    same_poses(found, link_poses(fd.from_screws([np.eye(4)], [spatial(BODY)], [screw]), [1.4]))


def test_a_pitch_below_single_precision_is_a_revolute_joint():
    arm = fd.from_screws([np.eye(4)], [spatial(BODY)], [[0, 0, 1, 0.2, -0.3, 1e-8]])
    assert (arm.joints[0].kind, arm.joints[0].pitch) == ("revolute", 0.0)


@pytest.mark.parametrize(("kind", "pitch", "message"), [
    ("helical", 0.0, "joint 'joint1', pitch: expected a number other than zero, m/rad, found 0.0"),
    ("revolute", 0.1, "joint 'joint1', pitch: expected 0 for a revolute joint, found 0.1"),
    ("helical", np.inf, "joint 'joint1', pitch: expected a finite number, found inf"),
    ("fixed", 0.0, "row 1, kind: expected one of revolute, prismatic, helical, found 'fixed'"),
])  # fmt: skip
def test_rows_that_are_no_joints(kind, pitch, message):
    with pytest.raises(fd.RobotError, match=message):
        fd.from_dh([fd.DHLink(kind=kind, pitch=pitch)])


# ---------------------------------------------------------------------------------------------- Pinocchio's models


@pytest.mark.parametrize("letter", ["X", "Y", "Z", "unaligned"])
@pytest.mark.parametrize("pitch", [PITCH, -0.3, 0.0])
def test_helical_joints_come_from_pinocchio(letter, pitch):
    pin = pytest.importorskip("pinocchio")
    axis = np.array([2.0, -1.0, 2.0]) / 3 if letter == "unaligned" else np.eye(3)["XYZ".index(letter)]
    made = (
        pin.JointModelHelicalUnaligned(axis, pitch)
        if letter == "unaligned"
        else getattr(pin, f"JointModelH{letter}")(pitch)
    )
    model = pin.Model()
    placement = pin.SE3(turn_x(0.3) @ go(0.1, 0.2, 0.3))
    model.addJoint(0, made, placement, "j")
    model.appendBodyToJoint(1, pin.Inertia(2.0, np.array([0.1, 0, 0]), np.eye(3) / 10), pin.SE3.Identity())
    (joint,) = fd.from_pinocchio(model).joints
    assert (joint.kind, joint.pitch) == ("helical" if pitch else "revolute", pitch)
    np.testing.assert_allclose(joint.axis, axis, rtol=0, atol=EPS)
    data = model.createData()
    pin.forwardKinematics(model, data, np.array([1.3]))
    found = link_poses(fd.from_pinocchio(model), [1.3])["j"]
    np.testing.assert_allclose(found, data.oMi[1].homogeneous, rtol=0, atol=8 * EPS)


def test_all_of_pinocchios_helical_joints_are_met():
    pytest.importorskip("pinocchio")
    met = {joint.shortname() for robot in ROBOTS for joint in Pinocchio(robot).model.joints}
    assert met >= {"JointModelHX", "JointModelHY", "JointModelHZ", "JointModelHelicalUnaligned"}


@pytest.mark.parametrize("robot", ROBOTS[:10], ids=repr)
def test_robots_come_back_from_pinocchio(robot):
    pytest.importorskip("pinocchio")
    again = fd.from_pinocchio(Pinocchio(robot).model)
    by_name = {joint.name: joint for joint in robot.joints}
    for joint in again.joints:
        assert (joint.kind, joint.pitch) == (by_name[joint.name].kind, by_name[joint.name].pitch)


# ---------------------------------------------------------------------------------------------- files


@pytest.mark.parametrize("robot", ROBOTS, ids=repr)
def test_toml_gives_the_same_robot_back_to_the_last_bit(robot):
    again = fd.from_toml(fd.to_toml(robot))
    for joint, other in zip(again.all_joints, robot.all_joints, strict=True):
        assert (joint.name, joint.kind, joint.pitch) == (other.name, other.kind, other.pitch)
        assert (joint.limits, joint.motor) == (other.limits, other.motor)
        for part in ("origin", "axis", "tail"):
            np.testing.assert_array_equal(getattr(joint, part), getattr(other, part))


TREE = """format = "fastdyn-tree-1"
name = "press"
[[link]]
name = "base"
[[link]]
name = "ram"
mass_kg = 3.0
[[joint]]
name = "spindle"
parent = "base"
child = "ram"
kind = "helical"
pitch_m_per_rad = 1e-3
limits = { lower_deg = -360, upper_deg = 720, velocity_rad_per_s = 4, effort_N_m = 9 }
motor = { inertia_kg_m2 = 1e-4, gear = 5 }
"""
TABLE_TOML = """format = "fastdyn-dh-1"
name = "press"
convention = "standard"
[[row]]
kind = "helical"
pitch_m_per_rad = 1e-3
a_m = 0.1
alpha_deg = 90
d_m = 0.2
theta_deg = 0
"""


def test_helical_joints_in_files_have_the_units_of_revolute_ones():
    (joint,) = fd.from_toml(TREE).joints
    assert (joint.kind, joint.pitch) == ("helical", 1e-3)
    assert joint.limits == fd.Limits(-2 * np.pi, 4 * np.pi, 4, 9)
    assert "lower_rad = " in fd.to_toml(fd.from_toml(TREE))
    row = fd.DHLink(0.1, np.pi / 2, 0.2, kind="helical", pitch=1e-3)
    same_poses(link_poses(fd.from_toml(TABLE_TOML), [3.0]), link_poses(fd.from_dh([row]), [3.0]), 0.0)


@pytest.mark.parametrize(("text", "old", "new", "message"), [
    (TREE, "pitch_m_per_rad = 1e-3\n", "", r"\[\[joint\]\] 1 \('spindle'\): joint 'spindle', pitch: expected a number "
     "other than zero"),
    (TREE, '"helical"', '"revolute"', "pitch: expected 0 for a revolute joint, found 0.001"),
    (TREE, "pitch_m_per_rad = 1e-3", "pitch_m = 1e-3", "pitch_m: unknown key, expected pitch_m_per_rad"),
    (TREE, "pitch_m_per_rad = 1e-3", "pitch_m_per_rad = nan", "pitch_m_per_rad: expected finite numbers"),
    (TREE, "lower_deg", "lower_m", "lower_m: unknown key"),
    (TABLE_TOML, "pitch_m_per_rad = 1e-3\n", "", r"\[\[row\]\] 1: joint 'joint', pitch: expected a number other than"),
    (TABLE_TOML, '"helical"', '"prismatic"', "pitch: expected 0 for a prismatic joint"),
])  # fmt: skip
def test_files_that_contradict_themselves(text, old, new, message):
    with pytest.raises(fd.RobotError, match=message):
        fd.from_toml(text.replace(old, new))


def test_urdf_has_no_helical_joints():
    message = (
        r"joint 'lead screw': expected a kind that URDF has \(revolute, continuous, prismatic, fixed\), found helical"
    )
    for robot in (one_joint(), one_joint().coupled([[1.0]])):
        with pytest.raises(fd.RobotError, match=message):
            fd.to_urdf(robot)


# ---------------------------------------------------------------------------------------------- variations


@pytest.mark.parametrize("seed", SEEDS)
def test_a_locked_helical_joint_stands_where_it_was(seed):
    arm = fd.robots.random_tree(6, seed, 0.2, True, helical=0.5)
    (q,) = states(arm, seed, count=1)
    i = [joint.kind for joint in arm.joints].index("helical")
    held = arm.locked({arm.joints[i].name: q[i]})
    assert (held.all_joints[i].kind, held.all_joints[i].pitch) == ("fixed", 0.0)
    same_poses(link_poses(held, np.delete(q, i)), link_poses(arm, q))


def test_a_payload_leaves_the_helical_joint_alone():
    arm = one_joint().with_payload(1.0, (0, 0, 0.1))
    assert (arm.joints[0].kind, arm.joints[0].pitch, arm.links[0].mass) == ("helical", PITCH, 3.0)
    same_poses(link_poses(arm, [0.4]), link_poses(one_joint(), [0.4]), 0.0)


def test_limits_of_a_helical_joint_are_angles():
    arm = one_joint(replace(LEAD_SCREW, limits=fd.Limits(-1, 1)))
    with pytest.raises(fd.ArgumentError, match=r"locked\['lead screw'\] is 2.0 rad: expected a value in \[-1.0, 1.0\]"):
        arm.locked({"lead screw": 2.0})


# ---------------------------------------------------------------------------------------------- random robots


def test_random_robots_have_helical_joints_only_on_request():
    for make in (fd.robots.random_chain, fd.robots.random_tree):
        assert {joint.kind for joint in make(40, 1, 0.3).joints} == {"revolute", "prismatic"}
        assert {joint.kind for joint in make(40, 1, helical=1.0).joints} == {"helical"}
        assert {joint.kind for joint in make(40, 1, 0.5, helical=0.5).joints} == {"prismatic", "helical"}
        pitches = [joint.pitch for joint in make(40, 1, helical=1.0).joints]
        assert min(pitches) < 0 < max(pitches)


# ---------------------------------------------------------------------------------------------- formulations


def by_two_joints(robot):
    """The same robot with a revolute and a prismatic joint for every helical one, coupled; rotors on the first."""
    links, joints = list(robot.all_links), []
    for joint in robot.all_joints:
        if joint.kind != "helical":
            joints.append(joint)
            continue
        between = f"{joint.child} before it travels"
        links.append(fd.Link(between))
        turning = replace(joint, child=between, kind="revolute", tail=np.eye(4), pitch=0.0)
        joints += [turning, replace(joint, name=f"{joint.name} along", parent=between, kind="prismatic", pitch=0.0,
                                    origin=np.eye(4), motor=fd.Motor(), limits=fd.Limits())]  # fmt: skip
    both = changed(robot, links=links, joints=joints)
    place = {joint.name: i for i, joint in enumerate(robot.joints)}
    G = np.zeros((both.n, robot.n))
    for row, joint in zip(G, both.joints, strict=True):
        name = joint.name.removesuffix(" along")
        row[place[name]] = 1.0 if name == joint.name else robot.joints[place[name]].pitch
    return both.coupled(G)


@pytest.mark.parametrize("formulation", ["screws", "stacked_screws"])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_formulations_by_screws_take_helical_joints(formulation, seed):
    robot = fd.robots.random_chain(5, seed, 0.2, helical=0.5)
    q, qd, qdd = states(robot, seed, 3)
    expected = by_two_joints(robot).inverse_dynamics(q, qd, qdd)
    # each of the two computes with n and at most 2 n joints: 100 eps a joint, as against the oracle
    tolerance = 300 * robot.n * EPS * np.abs(expected).max()
    np.testing.assert_allclose(by_formulation(robot, q, qd, qdd, formulation), expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize("formulation", ["newton_euler_link", "generalized_dalembert"])
def test_formulations_by_tables_refuse_helical_joints(formulation):
    with pytest.raises(fd.FormulationError, match="joint 'lead screw' of robot is helical"):
        by_formulation(one_joint(), [0.1], [0.2], [0.3], formulation)


# ---------------------------------------------------------------------------------------------- dynamics


@pytest.fixture(scope="module")
def cases():
    """For the tests of test_oracle.py."""
    rng = np.random.default_rng(21)
    return [Case(robot, rng) for robot in ROBOTS]


@pytest.fixture(params=[pytest.param(robot, id=repr(robot)) for robot in ROBOTS], scope="module")
def scene(request):
    """For the tests of test_peers.py: a robot, and q, qd, qdd."""
    robot = prepared(request.param)
    return robot, *states(robot, robot.n)


def test_a_nut_on_a_vertical_screw_is_a_textbook_exercise():
    """tau = (I + m r^2 + m h^2) qdd + m g h: its centre stays r away from the axis, and weighs on the thread."""
    m, h, g, q, qd, qdd = 2.0, PITCH, 10.0, 0.7, -1.3, 2.1
    inertia = 0.05 + m * (0.1**2 + 0.2**2) + m * h**2
    nut = one_joint(gravity=(0, 0, -g))
    np.testing.assert_allclose(nut.mass_matrix([q]), [[inertia]], rtol=8 * EPS)
    np.testing.assert_allclose(nut.inverse_dynamics([q], [qd], [qdd]), [inertia * qdd + m * g * h], rtol=8 * EPS)
    for method in ("aba", "crba"):
        found = nut.forward_dynamics([q], [qd], [1.5], method=method)
        np.testing.assert_allclose(found, [(1.5 - m * g * h) / inertia], rtol=40 * EPS)
    np.testing.assert_allclose(nut.coriolis_matrix([q], [qd]), [[0.0]], atol=8 * EPS * inertia)
    np.testing.assert_allclose(nut.kinetic_energy([q], [qd]), inertia * qd**2 / 2, rtol=8 * EPS)
    np.testing.assert_allclose(nut.potential_energy([q]), m * g * (h * q + 0.05), rtol=8 * EPS)
    c, s = np.cos(q), np.sin(q)
    centre = np.array([0.1 * c + 0.2 * s, 0.1 * s - 0.2 * c, h * q + 0.05])
    np.testing.assert_allclose(nut.center_of_mass([q]), centre, rtol=0, atol=8 * EPS)
    linear = m * qd * np.array([-centre[1], centre[0], h])
    np.testing.assert_allclose(nut.momentum([q], [qd]), [*linear, 0, 0, 0.05 * qd], rtol=0, atol=8 * EPS * m)


@pytest.mark.parametrize("robot", ROBOTS, ids=repr)
def test_a_helical_joint_is_a_revolute_and_a_prismatic_one_coupled(robot):
    q, qd, qdd = states(robot, 3)
    two = by_two_joints(robot)
    tolerance = 300 * robot.n * EPS  # 100 eps a joint for each, as against the oracle, and twice the joints for one
    torque = tolerance * torque_scale(robot, q, qd, qdd)
    M = two.mass_matrix(q)
    np.testing.assert_allclose(robot.mass_matrix(q), M, rtol=0, atol=tolerance * np.linalg.norm(M))
    np.testing.assert_allclose(
        robot.coriolis_matrix(q, qd), two.coriolis_matrix(q, qd), rtol=0,
        atol=tolerance * np.linalg.norm(M) * np.linalg.norm(qd),
    )  # fmt: skip
    for quantity, state in {"inverse_dynamics": (q, qd, qdd), "bias_forces": (q, qd), "gravity_forces": (q,)}.items():
        found, expected = (getattr(arm, quantity)(*state) for arm in (robot, two))
        np.testing.assert_allclose(found, expected, rtol=0, atol=torque, err_msg=quantity)
    tau = two.inverse_dynamics(q, qd, qdd)
    for method in ("aba", "crba"):
        found = robot.forward_dynamics(q, qd, tau, method=method)
        np.testing.assert_allclose(found, qdd, rtol=0, atol=torque * np.linalg.norm(np.linalg.inv(M), 2))
    energy = tolerance * energy_scale(robot, q, qd)
    np.testing.assert_allclose(robot.kinetic_energy(q, qd), two.kinetic_energy(q, qd), rtol=0, atol=energy)
    np.testing.assert_allclose(robot.potential_energy(q), two.potential_energy(q), rtol=0, atol=energy)
    atol = tolerance * np.repeat(momentum_scales(robot, q, qd), 3)
    assert (np.abs(robot.momentum(q, qd) - two.momentum(q, qd)) <= atol).all()
    np.testing.assert_allclose(
        robot.center_of_mass(q), two.center_of_mass(q), rtol=0, atol=tolerance * (1 + reach(robot, q))
    )


@pytest.mark.parametrize("robot", ROBOTS, ids=repr)
def test_reactions_along_a_helical_joint_are_torque_plus_pitch_times_force(robot):
    """Without rotors and friction, what the parent exerts along the joint's motion is what the motor gives."""
    bare = with_motors(robot, lambda joint: fd.Motor())
    q, qd, qdd = states(bare, 4)
    tau, reactions = bare.inverse_dynamics(q, qd, qdd), bare.joint_reactions(q, qd, qdd)
    found = []
    for joint, (*force, a, b, c) in zip(bare.joints, reactions, strict=True):
        along = joint.tail[:3, :3].T @ joint.axis
        carried = along @ force * (1.0 if joint.kind == "prismatic" else joint.pitch)
        found.append(carried + along @ [a, b, c] * (joint.kind != "prismatic"))
    np.testing.assert_allclose(found, tau, rtol=0, atol=100 * bare.n * EPS * torque_scale(bare, q, qd, qdd))
