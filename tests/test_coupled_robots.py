"""Coupled robots are robots: locked, printed, drawn, written and read like plain ones."""

import numpy as np
import pytest

import fastdyn as fd
from fastdyn.mechanism.poses import link_poses
from tests.test_coupling import driven, random_coupling

BODY = '<inertial><mass value="{}"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
HAND = f"""<robot name="hand">
  <link name="palm"/>
  <link name="arm">{BODY.format(1)}</link> <link name="a">{BODY.format(1)}</link> <link name="b">{BODY.format(2)}</link>
  <joint name="turn" type="continuous"><parent link="palm"/><child link="arm"/><axis xyz="1 0 0"/></joint>
  <joint name="left" type="prismatic"><parent link="arm"/><child link="a"/><axis xyz="0 1 0"/>
    <limit lower="0" upper="0.04" velocity="1" effort="1"/></joint>
  <joint name="right" type="prismatic"><parent link="arm"/><child link="b"/><axis xyz="0 -1 0"/>
    <limit lower="-0.1" upper="0.1" velocity="1" effort="1"/><mimic joint="left" multiplier="2" offset="0.01"/></joint>
</robot>"""


def state(robot, seed=0):
    return np.random.default_rng(seed).uniform(-1, 1, (3, robot.n))


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * max(1.0, np.abs(expected).max(initial=0)))


# ---------------------------------------------------------------------------------------------- arguments


@pytest.mark.parametrize("robot", [None, 3, "arm", fd.Robot, fd.robots.two_link().description])
def test_only_robots_can_be_coupled(robot):
    with pytest.raises(fd.ArgumentTypeError, match="robot: expected a Robot or CoupledRobot, found "):
        fd.CoupledRobot(robot, np.eye(2))


@pytest.mark.parametrize("seed", range(4))
def test_coordinates_of_joint_positions_come_back(seed):
    """Up to rounding: some eps of G phi + offset, times the condition of G."""
    arm = fd.robots.random_tree(5, seed).coupled(*random_coupling(5, 3, seed))
    phi = np.random.default_rng(seed).normal(size=(4, 6, 3))
    size = np.abs(arm.joint_positions(phi)).max() * np.linalg.cond(arm.G)
    assert np.abs(arm.coordinates(arm.joint_positions(phi)) - phi).max() <= 50 * np.finfo(float).eps * size


def test_joint_positions_that_no_coordinates_give_are_named():
    arm = fd.robots.two_link().coupled([[1], [2]], offset=[0, 0.5])
    message = r"joints\[1, 0\] is 1.0: expected positions that coordinates can give; .* joint 'joint1' at 1.4"
    with pytest.raises(fd.ArgumentError, match=message):
        arm.coordinates([[1.0, 2.5], [1.0, 3.5]])
    with pytest.raises(fd.ArgumentError, match=r"joints has shape \(1,\), but two_link has 2 joints"):
        arm.coordinates([1.0])
    with pytest.raises(fd.NotFiniteError, match=r"joints\[1\] is nan"):
        arm.coordinates([1.0, np.nan])


# ---------------------------------------------------------------------------------------------- locked


@pytest.mark.parametrize("seed", range(4))
def test_locked_coordinates_are_coordinates_at_rest(seed):
    """The others' part of the mass matrix and torques, for dense couplings with motors at joints and coordinates."""
    robot = fd.robots.random_tree(6, seed, prismatic=0.3, drives=True)
    arm = robot.coupled(*random_coupling(6, 4, seed), names="abcd", motors=driven(4, seed))
    q, qd, qdd = state(arm, seed)
    qd[[0, 2]] = qdd[[0, 2]] = 0
    held = arm.locked({"a": q[0], "c": q[2]})
    assert held.names == ("b", "d")
    assert len(held.joints) == 6  # other coordinates move every joint, too
    free = [1, 3]
    close(held.joint_positions(q[free]), arm.joint_positions(q))
    close(held.mass_matrix(q[free]), arm.mass_matrix(q)[np.ix_(free, free)])
    close(held.inverse_dynamics(q[free], qd[free], qdd[free]), arm.inverse_dynamics(q, qd, qdd)[free])


def test_a_locked_coordinate_holds_the_joints_that_it_alone_moves():
    arm = fd.robots.irb1400_main_axes()
    held = arm.locked({"theta2": 0.3})
    assert [joint.name for joint in held.joints] == ["joint1", "joint3", "joint4", "joint5"]
    assert held.names == ("theta1", "theta3")
    q = np.array([0.2, 0.3, -0.4])
    poses, before = link_poses(held, q[[0, 2]]), link_poses(arm, q)
    for link in before:
        close(poses[link], before[link])
    close(held.gravity_forces(q[[0, 2]]), arm.gravity_forces(q)[[0, 2]])


def test_where_nothing_coupled_is_left_the_robot_is_plain():
    arm = fd.from_urdf(HAND)
    held = arm.locked({"left": 0.02})
    assert type(held) is fd.Robot
    assert [joint.name for joint in held.joints] == ["turn"]
    assert held == fd.from_urdf(HAND, locked={"left": 0.02})
    assert np.asarray(held.all_joints[2].origin)[1, 3] == -0.05  # 2 x 0.02 + 0.01, along -y
    close(held.mass_matrix([0.3]), arm.mass_matrix([0.3, 0.02])[:1, :1])
    still = type(arm.locked({"turn": 0.1}))
    assert still is fd.CoupledRobot
    all_held = arm.locked({"turn": 0.1, "left": 0.02})
    assert (type(all_held), all_held.n) == (fd.Robot, 0)
    assert arm.locked({}) == arm


def test_coordinates_with_names_or_motors_of_their_own_stay_coupled():
    arm = fd.robots.two_link()
    assert type(arm.coupled([[1, 0], [0, 2]], names=("joint1", "x")).locked({"x": 0.1})) is fd.Robot
    assert type(arm.coupled([[1, 0], [0, 2]]).locked({"phi2": 0.1})) is fd.CoupledRobot
    motors = [fd.Motor(1e-3), None]
    held = arm.coupled([[1, 0], [0, 2]], names=("joint1", "x"), motors=motors).locked({"x": 0.1})
    assert held.coupling.motors == (fd.Motor(1e-3),)


def test_a_joint_that_its_coordinate_alone_moves_may_be_named():
    arm = fd.robots.random_chain(3, 1).coupled(np.diag([1.0, -2.0, 1.0]), [0, 0.5, 0])
    assert arm.locked({"joint2": 0.3}).coupling == arm.locked({"phi2": (0.3 - 0.5) / -2.0}).coupling
    close(
        np.asarray(arm.locked({"joint2": 0.3}).all_joints[1].origin),
        arm.robot.locked({"joint2": 0.3}).all_joints[1].origin,
    )


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"right": 0.02}, r"joint 'right', which moves together with \['left'\]: expected .* coordinate .*, 'left'"),
        ({"left": 0.05}, r"locked: joint 'left' would stand at 0.05 m: expected a value in \[0.0, 0.04\], its limits"),
        ({"palm": 0.0}, r"'palm', which is no coordinate of hand: \['turn', 'left'\], and no moving joint"),
        ({"left": "x"}, r"locked\['left'\]: expected a number, found 'x'"),
        (["left"], "expected a mapping"),
    ],
)
def test_what_cannot_be_locked(values, message):
    with pytest.raises(fd.ArgumentError, match=message):
        fd.from_urdf(HAND).locked(values)


def test_joints_that_stand_still_become_fixed_with_the_first_lock():
    arm = fd.robots.random_chain(3, 1).coupled([[1, 0], [0, 1], [0, 0]], [0, 0, 0.4])
    assert arm.locked({}) == arm
    held = arm.locked({"phi2": 0.3})
    assert [joint.name for joint in held.joints] == ["joint1"]
    close(held.mass_matrix([0.2]), arm.mass_matrix([0.2, 0.3])[:1, :1])


def test_joints_of_several_coordinates_or_of_none_cannot_be_locked():
    arm = fd.robots.random_chain(3, 1).coupled([[1, 0], [1, 1], [0, 0]], names="ab")
    with pytest.raises(
        fd.ArgumentError, match=r"joint 'joint2': expected a joint that one coordinate moves, found \['a', 'b'"
    ):
        arm.locked({"joint2": 0.1})
    with pytest.raises(
        fd.ArgumentError, match="joint 'joint3': expected a joint that one coordinate moves, found none"
    ):
        arm.locked({"joint3": 0.1})
    square = fd.robots.two_link().coupled(np.eye(2))
    with pytest.raises(fd.ArgumentError, match="'joint1' and another name for coordinate 'phi1'"):
        square.locked({"phi1": 0.1, "joint1": 0.1})


# ---------------------------------------------------------------------------------------------- readers


def test_every_reader_of_files_can_lock(tmp_path):
    arm = fd.from_urdf(HAND)
    (tmp_path / "hand.urdf").write_text(HAND)
    (tmp_path / "hand.toml").write_text(arm.to_toml())
    expected = arm.locked({"left": 0.02})
    for read in (fd.load, fd.load_urdf):
        assert read(tmp_path / "hand.urdf", locked={"left": 0.02}) == expected
    for read in (fd.load, fd.load_toml):
        assert read(tmp_path / "hand.toml", locked={"left": 0.02}) == expected
    assert fd.from_toml(arm.to_toml(), locked={"left": 0.02}) == expected
    with pytest.raises(fd.ArgumentError, match="locked names 'middle'"):
        fd.load(tmp_path / "hand.urdf", locked={"middle": 0.02})


def test_models_of_mujoco_can_be_locked(tmp_path):
    pytest.importorskip("mujoco")
    body = "<inertial pos='0 0 -0.5' mass='2' diaginertia='0.1 0.1 0.1'/>"
    inner = f"<body name='b'><joint name='k'/>{body}</body>"
    text = f"<mujoco><worldbody><body name='a'><joint name='j'/>{body}{inner}</body></worldbody></mujoco>"
    (tmp_path / "arm.xml").write_text(text)
    assert fd.load(tmp_path / "arm.xml", locked={"k": 0.2}) == fd.load(tmp_path / "arm.xml").locked({"k": 0.2})


# ---------------------------------------------------------------------------------------------- TOML


@pytest.mark.parametrize("seed", range(4))
def test_coupled_robots_go_out_and_come_in_the_same(seed):
    robot = fd.robots.random_tree(6, seed, prismatic=0.5, drives=True, helical=0.2)
    arm = robot.coupled(*random_coupling(6, 4, seed), names=["a", "b c", '"d"', "e.f"], motors=driven(4, seed))
    again = fd.from_toml(arm.to_toml())
    assert again == arm
    assert np.array_equal(again.G, arm.G)
    values = state(arm)
    assert np.array_equal(again.inverse_dynamics(*values), arm.inverse_dynamics(*values))


def test_motors_of_sliding_coordinates_have_their_units():
    arm = fd.from_urdf(HAND)
    driven = arm.robot.coupled(arm.G, arm.offset, arm.names, [fd.Motor(1e-3, 5.0), fd.Motor(0.2, 1.0, 3.0, 4.0)])
    text = driven.to_toml()
    assert "motor = { inertia_kg_m2 = 0.001, gear = 5.0" in text
    assert "motor = { inertia_kg = 0.2, gear = 1.0, viscous_N_s_per_m = 3.0, coulomb_N = [4.0, 4.0] }" in text
    assert fd.from_toml(text) == driven


def test_joints_that_stand_still_and_fixed_ones_come_back():
    arm = fd.robots.random_chain(4, 2).locked({"joint2": 0.4}).coupled([[0], [2], [1]], [0.3, 0, -0.1])
    assert fd.from_toml(arm.to_toml()) == arm


MISTAKES = [
    ('moves = { "left" = 1.0, "right" = 2.0 }', "", "[[coordinate]] 2 ('left'), moves: expected a table of joints"),
    ('"right" = 2.0', '"wrong" = 2.0', "[[coordinate]] 2 ('left'), moves: expected names of moving joints, turn, left"),
    ('"right" = 2.0', '"right" = "2"', "[[coordinate]] 2 ('left'), moves, right: expected a number, found '2'"),
    (', "right" = 2.0', "", "[[coordinate]]: expected every moving joint in the moves of some coordinate"),
    ('moves = { "turn" = 1.0 }', 'moves = { "turn" = 0.0 }', "G: coordinate 'turn' moves no joint"),
    ('moves = { "turn" = 1.0 }', 'moves = { "turn" = 1.0 }\ngear = 3', "[[coordinate]] 1 ('turn'), gear: unknown key"),
    ("offset_m = 0.01", "offset_rad = 0.01", "[[joint]] 3 ('right'), offset_rad: unknown key, expected offset_m"),
    ("offset_m = 0.01", "offset_m = inf", "[[joint]] 3 ('right'), offset_m: expected finite numbers"),
]


@pytest.mark.parametrize(("old", "new", "message"), MISTAKES)
def test_mistakes_in_couplings_are_named(old, new, message):
    text = fd.from_urdf(HAND).to_toml()
    assert old in text
    with pytest.raises(fd.DescriptionError) as caught:
        fd.from_toml(text.replace(old, new), source="x")
    assert str(caught.value).startswith(f"x: {message}")


def test_an_offset_needs_coordinates():
    text = fd.robots.two_link().to_toml().replace('kind = "revolute"', 'kind = "revolute"\noffset_rad = 0.1', 1)
    with pytest.raises(fd.DescriptionError, match="offset_rad: unknown key"):
        fd.from_toml(text)


# ---------------------------------------------------------------------------------------------- inertias as found


def test_impossible_inertias_go_out_and_come_in_and_carry_payloads():
    text = HAND.replace('<mass value="2"/><inertia ixx="1"', '<mass value="2"/><inertia ixx="-1"')
    with pytest.warns(fd.RobotWarning, match="negative|below zero"):
        arm = fd.from_urdf(text)
    assert [link.name for link in arm.links if link.as_found] == ["b"]
    assert arm.to_toml().count("as_found = true") == 1
    with pytest.warns(fd.RobotWarning, match="'b' has principal moments"):
        again = fd.from_toml(arm.to_toml())
    assert again == arm
    with pytest.raises(fd.RobotError, match="'b' has principal moments"):
        fd.from_toml(arm.to_toml(), strict=True)
    with pytest.raises(fd.RobotError, match="expected no negative principal moment"):
        fd.from_toml(arm.to_toml().replace("as_found = true", ""))
    with pytest.raises(fd.DescriptionError, match="as_found: expected true or false, found 1"):
        fd.from_toml(arm.to_toml().replace("as_found = true", "as_found = 1"))
    loaded = arm.with_payload(0.5, link="b").links[2]
    assert (loaded.mass, loaded.as_found) == (2.5, True)
    assert not arm.with_payload(0.5, (0, 2, 2), link="b").links[2].as_found  # large enough to make a body of it


# ---------------------------------------------------------------------------------------------- tables and drawings


def test_the_table_says_how_joints_move():
    text = str(fd.from_urdf(HAND))
    assert text.startswith("hand: 3 joints (RPP) moved by 2 coordinates, 4 links, 4 kg moving\n")
    assert "\ncoordinates: 0 turn, 1 left\nright = 2 left + 0.01\n" in text
    assert [line.split()[:2] for line in text.splitlines() if "prismatic" in line] == [["1", "left"], ["1", "right"]]


def test_the_table_has_sums_signs_joints_at_rest_and_drives_of_coordinates():
    robot = fd.robots.random_chain(3, 1)
    arm = robot.coupled([[1, 0], [-1, -2.5], [0, 0]], [0, -0.1, 0], names="ab", motors=[None, fd.Motor(1e-3, 10.0)])
    lines = str(arm).splitlines()
    assert "joint1 = a" in lines
    assert "joint2 = -1 a - 2.5 b - 0.1" in lines
    assert "joint3 = 0" in lines
    assert next(line for line in lines if line.startswith("b ")).split() == ["b", "0.001", "10", "0.1", "0", "0", "0"]
    assert max(map(len, lines)) <= 120


@pytest.fixture
def pyplot():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


def test_drawings_take_the_robots_own_coordinates(pyplot):
    arm = fd.from_urdf(HAND)
    ax = arm.plot([0.0, 0.03])
    ax.figure.canvas.draw()
    assert "q = (0, 0.03)" in ax.get_title()
    assert np.array(ax.collections[0]._offsets3d).T.round(12).tolist() == [[0, 0, 0], [0, 0.03, 0], [0, -0.07, 0]]
    labels = [text.get_text().strip() for text in ax.get_legend().get_texts()]
    assert labels[:2] == ["turn", "left"]
    assert ax.get_legend().get_title().get_text() == "coordinates by place in q"
    with pytest.raises(fd.ArgumentError, match=r"q has shape \(3,\), but hand has 2 coordinates: expected \(2,\)"):
        arm.plot([0.0, 0.03, 0.0])


def test_without_q_coordinates_stand_within_the_limits_of_their_joints(pyplot):
    arm = fd.from_urdf(HAND.replace('lower="-0.1" upper="0.1"', 'lower="0.03" upper="0.1"'))
    assert "q = (0, 0.01)" in arm.plot().get_title()
