"""TOML files: what goes out comes in again to the last bit, the documented examples work, and mistakes are named."""

import math
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fastdyn as fd

PAGE = Path(__file__).parents[1] / "notes" / "toml_format.md"
DH, TREE, COUPLED = re.findall(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def figures(robot):
    """Every figure and name of a robot, as plain data that compares exactly."""
    return {
        "name": robot.name,
        "gravity": robot.gravity.tolist(),
        "mount": robot.mount.tolist(),
        "links": [
            (l.name, l.mass, np.asarray(l.com).tolist(), np.asarray(l.inertia).tolist()) for l in robot.all_links
        ],
        "joints": [
            (j.name, j.parent, j.child, j.kind, *(np.asarray(a).tolist() for a in (j.origin, j.axis, j.tail)))
            for j in robot.all_joints
        ],
        "limits": [joint.limits for joint in robot.all_joints],
        "motors": [joint.motor for joint in robot.all_joints],
    }


# ---------------------------------------------------------------------------------------------- there and back


@pytest.mark.parametrize("name", fd.robots.names())
def test_built_in_robots_go_out_and_come_in_the_same(name):
    robot = fd.robots.get(name)
    assert figures(fd.from_toml(fd.to_toml(robot))) == figures(robot)


@pytest.mark.parametrize("seed", range(5))
def test_random_trees_go_out_and_come_in_the_same(seed):
    robot = fd.robots.random_tree(8, seed, prismatic=0.4, drives=True).locked({"joint3": 0.5})
    again = fd.from_toml(fd.to_toml(robot))
    assert figures(again) == figures(robot)
    assert np.array_equal(again.mass_matrix(np.ones(7)), robot.mass_matrix(np.ones(7)))


def test_every_field_goes_out_and_comes_in_the_same():
    turned = fd.from_toml(TREE).mount
    robot = fd.Robot(
        [fd.Link("b", 1.0), fd.Link("c", 1 / 3, (0.1, 1e-300, -2e22), 1e-5 * np.eye(3)), fd.Link("d")],
        [
            fd.Joint("j", "b", "c", "fixed", limits=fd.Limits(-1, 1), motor=fd.Motor(1e-3, -3, 0.1, (1, 2))),
            fd.Joint("k", "c", "d", "prismatic", turned, (1, 2, 3), turned, fd.Limits(upper=5), fd.Motor(2, 1, 3, 4)),
        ],
        name="",
        gravity=(1, 2, 3),
        mount=turned,
    )
    assert figures(fd.from_toml(fd.to_toml(robot))) == figures(robot)


names = st.text(min_size=1).filter(str.strip)
floats = st.floats(allow_nan=False, allow_infinity=False)
positive = st.floats(0, 1e300)


@settings(max_examples=60, deadline=None)
@given(names, names, positive, st.tuples(floats, floats, floats), st.floats(max_value=0), st.floats(min_value=0))
def test_any_name_and_any_number_go_out_and_come_in_the_same(name, robot_name, mass, com, lower, upper):
    robot = fd.Robot(
        [fd.Link("base" + name), fd.Link(name, mass, com)],
        [fd.Joint(name, "base" + name, name, limits=fd.Limits(lower, upper))],
        name=robot_name,
    )
    assert figures(fd.from_toml(fd.to_toml(robot))) == figures(robot)


# ---------------------------------------------------------------------------------------------- the documented examples


def test_the_documented_table_is_the_robot_it_says():
    robot = fd.from_toml(DH, strict=True)
    rows = [
        fd.DHLink(0.3, 0, 0.2, 0, "revolute", 4.0, (-0.15, 0, 0), np.diag([0.005, 0.035, 0.035]),
                  fd.Limits(math.radians(-140), math.radians(140), math.radians(300), 80),
                  fd.Motor(5e-5, 80, 1e-4, (0.02, 0.03))),
        fd.DHLink(0.25, math.pi, 0, 0, "revolute", 2.5, (-0.12, 0, 0), np.diag([0.003, 0.014, 0.014]),
                  fd.Limits(math.radians(-150), math.radians(150))),
        fd.DHLink(0, 0, 0.05, 0, "prismatic", 1.0, limits=fd.Limits(0, 0.15, 1.2, 200), motor=fd.Motor(0.5, 1, 12, 4)),
    ]  # fmt: skip
    mount = np.eye(4)
    mount[2, 3] = 0.8
    assert figures(robot) == figures(fd.from_dh(rows, name="scara").with_mount(mount))


def test_the_documented_tree_is_the_robot_it_says():
    robot = fd.from_toml(TREE, strict=True)
    assert robot.name == "crane"
    assert robot.gravity.tolist() == [0, 0, -9.81]
    assert robot.mount.tolist() == [[0, -1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 2], [0, 0, 0, 1]]
    assert [joint.kind for joint in robot.all_joints] == ["prismatic", "revolute", "fixed"]
    drive, slew, hook = robot.all_joints
    assert drive.motor == fd.Motor(0.01, 40, 0.02)
    assert drive.limits == fd.Limits(-5, 5, 1)
    assert slew.limits == fd.Limits(effort=500)
    assert np.asarray(slew.origin).tolist() == [[1, 0, 0, 0], [0, -1, 0, 0], [0, 0, -1, -0.3], [0, 0, 0, 1]]
    assert np.asarray(hook.origin)[:3, 3].tolist() == [2.0, 0, 0.1]
    assert robot.all_links[1].inertia[0, 2] == 1


def test_the_documented_gripper_is_the_robot_it_says():
    robot = fd.from_toml(COUPLED, strict=True)
    assert (robot.names, robot.G.tolist(), robot.offset.tolist()) == (("opening",), [[0.5], [-0.5]], [0, -0.01])
    assert robot.coupling.motors == (fd.Motor(1e-6, 500, 1e-5),)
    assert robot.mass_matrix([0.0]) == pytest.approx(0.05 + 0.25)  # two fingers at half the rate, and a rotor
    assert fd.from_toml(robot.to_toml()) == robot


@pytest.mark.parametrize("angles", [(0.3, -0.7, 1.1), (90, 0, 180), (-90, 180, 0), (10, 90, 20)])
def test_roll_pitch_yaw_turn_about_fixed_axes(angles):
    text = TREE.replace("rpy_deg = [0, 0, 90]", f"rpy_deg = {list(angles)}")
    r, p, y = np.radians(angles)
    (cr, cp, cy), (sr, sp, sy) = np.cos([r, p, y]), np.sin([r, p, y])
    X = np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    Y = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
    Z = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
    np.testing.assert_allclose(fd.from_toml(text).mount[:3, :3], Z @ Y @ X, rtol=0, atol=10 * np.finfo(float).eps)


def test_degrees_and_radians_say_the_same():
    radians = re.sub(r"(\w+)_deg(\w*) = (-?\d+)", lambda m: f"{m[1]}_rad{m[2]} = {math.radians(float(m[3]))!r}", DH)
    assert "deg" not in radians
    assert figures(fd.from_toml(radians)) == figures(fd.from_toml(DH))


def test_modified_tables_are_read_as_such():
    robot = fd.from_toml(DH.replace('"standard"', '"modified"'))
    np.testing.assert_array_equal(np.asarray(robot.joints[1].tail), np.eye(4))


# ---------------------------------------------------------------------------------------------- files


@pytest.mark.parametrize(("prefix", "newline"), [(b"", "\n"), (b"\xef\xbb\xbf", "\n"), (b"", "\r\n")])
def test_files_of_any_editor_are_read(tmp_path, prefix, newline):
    file = tmp_path / "crane.toml"
    file.write_bytes(prefix + TREE.replace("\n", newline).encode())
    assert figures(fd.load_toml(file)) == figures(fd.from_toml(TREE))
    assert figures(fd.load_toml(str(file))) == figures(fd.from_toml(TREE))


def test_text_may_be_bytes():
    assert fd.from_toml(TREE.encode()) == fd.from_toml(TREE)


def test_errors_name_the_file(tmp_path):
    file = tmp_path / "arm.toml"
    file.write_text('format = "fastdyn-dh-1"\nname = 3\n')
    with pytest.raises(fd.RobotError, match=r"arm\.toml: name: expected a string, found 3"):
        fd.load_toml(file)
    file.write_bytes(b'name = "\xff"')
    with pytest.raises(fd.RobotError, match=r"arm\.toml: expected UTF-8 text"):
        fd.load_toml(file)
    with pytest.raises(FileNotFoundError, match="nowhere"):
        fd.load_toml(tmp_path / "nowhere.toml")


# ---------------------------------------------------------------------------------------------- mistakes


MISTAKES = [
    # the example, what is replaced, by what, the message
    (DH, '"fastdyn-dh-1"', '"urdf"', "x: format: expected one of 'fastdyn-dh-1', 'fastdyn-tree-1', found 'urdf'"),
    (DH, 'name = "scara"', "", "x: name: expected a string, found nothing"),
    (DH, "a_m = 0.3", "a_m =", "at line 8"),
    (DH, "a_m = 0.3", "a_m = 0.3\na_m = 0.4", "at line 9"),
    (DH, 'convention = "standard"', "", "x: convention: expected a string, found nothing"),
    (DH, '"standard"', '"denavit"', "x: convention: expected one of 'standard', 'modified', found 'denavit'"),
    (DH, "a_m = 0.3", "", "x: [[row]] 1, a_m: expected a number, found nothing"),
    (DH, "alpha_deg = 180", "", "x: [[row]] 2, alpha_rad or alpha_deg: expected a number, found nothing"),
    (DH, "alpha_deg = 180", "alpha_deg = 180\nalpha_rad = 3", "[[row]] 2, alpha: expected one of alpha_rad and"),
    (DH, "mass_kg = 4.0", "mass = 4.0", "x: [[row]] 1, mass: unknown key, expected mass_kg"),
    (DH, "mass_kg = 4.0", "colour = 4.0", "x: [[row]] 1, colour: unknown key, expected a_m or"),
    (DH, "mass_kg = 4.0", 'mass_kg = "4"', "x: [[row]] 1, mass_kg: expected a number, found '4'"),
    (DH, "mass_kg = 4.0", "mass_kg = true", "x: [[row]] 1, mass_kg: expected a number, found True"),
    (DH, "mass_kg = 4.0", "mass_kg = nan", "x: [[row]] 1, mass_kg: expected finite numbers, found nan"),
    (DH, "mass_kg = 4.0", "mass_kg = inf", "x: [[row]] 1, mass_kg: expected finite numbers, found inf"),
    (DH, "mass_kg = 4.0", "mass_kg = -4", "x: [[row]] 1, mass_kg: expected a number not below zero, found -4"),
    (DH, "mass_kg = 4.0", f"mass_kg = 1{'0' * 400}", "mass_kg: expected numbers within the range of float64"),
    (DH, "mass_kg = 4.0", "mass_kg = 1979-05-27", "mass_kg: expected a number, found datetime.date"),
    (DH, "[-0.15, 0, 0]", "[-0.15, 0]", "x: [[row]] 1, com_m: expected 3 numbers, found [-0.15, 0]"),
    (DH, "[-0.15, 0, 0]", "[]", "com_m: expected 3 numbers, found []"),
    (DH, "[-0.15, 0, 0]", "[1, 2, nan]", "com_m: expected finite numbers"),
    (DH, "[0.005, 0.035, 0.035]", "[[1, 2], [3]]", "inertia_kg_m2: expected 3 numbers or 3x3 numbers, found [[1, 2]"),
    (DH, "[0.005, 0.035, 0.035]", "[1, 1, -1]", "inertia: expected no negative principal moment"),
    (DH, 'kind = "prismatic"', 'kind = "fixed"', "x: [[row]] 3, kind: expected one of 'revolute', 'prismatic'"),
    (DH, "lower_deg = -140", "lower_m = -1", "x: [[row]] 1, limits, lower_m: unknown key, expected lower_"),
    (DH, "lower_deg = -140", "lower_deg = nan", "x: [[row]] 1, limits, lower_deg: expected no NaN, found nan"),
    (DH, "lower_deg = -140", "lower_deg = 150", "x: [[row]] 1, limits: limits: expected lower <= upper"),
    (DH, "effort_N_m = 80", "effort_N_m = -80", "[[row]] 1, limits, effort_N_m: expected a number not below zero"),
    (DH, "coulomb_N_m = [0.02, 0.03]", "coulomb_N_m = [1, 2, 3]", "motor, coulomb_N_m: expected a number or 2 numbers"),
    (DH, "gear = 80", "gear = inf", "x: [[row]] 1, motor, gear: expected finite numbers, found inf"),
    (DH, "inertia_kg = 0.5", "inertia_kg_m2 = 0.5", "[[row]] 3, motor, viscous_N_s_per_m: unknown key, expected visc"),
    (DH, "mount.xyz_m = [0, 0, 0.8]", "mount = 3", "x: mount: expected a table, found 3"),
    (DH, "mount.xyz_m", "mount.place_m", "x: mount, place_m: unknown key"),
    (DH, "mount.xyz_m = [0, 0, 0.8]", "mount.matrix = [1]", "x: mount, matrix: expected 3x4 numbers or 4x4 numbers"),
    (DH, "mount.xyz_m", "mount.rpy_rad = [0, 0, 0]\nmount.matrix = [[2, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]] #",
     "x: mount, rpy_rad: unknown key, expected matrix"),
    (DH, "mount.xyz_m", "mount.matrix = [[2, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]] #", "pose: expected a rotation"),
    (TREE, "[0, 0, -9.81]", "[0, 0]", "x: gravity_m_per_s2: expected 3 numbers"),
    (TREE, 'name = "jib"', 'name = "trolley"', "x: [[link]] 3, name: expected another name than that of [[link]] 2"),
    (TREE, 'name = "slew"', 'name = "drive"', "[[joint]] 2, name: expected another name than that of [[joint]] 1"),
    (TREE, 'name = "jib"', "", "x: [[link]] 3, name: expected a string, found nothing"),
    (TREE, 'name = "jib"', 'name = " "', "x: [[link]] 3 (' '): link: expected a name"),
    (TREE, 'parent = "rail"', "", "x: [[joint]] 1 ('drive'), parent: expected a string, found nothing"),
    (TREE, 'parent = "rail"', 'parent = "road"', "x: joint 'drive': its parent link 'road' does not exist"),
    (TREE, "axis = [1, 0, 0]", "axis = [0, 0, 0]", "[[joint]] 1 ('drive'): joint 'drive', axis: expected a direction"),
    (TREE, 'kind = "fixed"', 'kind = "ball"', "x: [[joint]] 3 ('hook_joint'), kind: expected one of 'revolute'"),
    (TREE, "[[20, 0, 1]", "[[20, 0, 2]", "[[link]] 2 ('trolley'): link 'trolley', inertia: expected a symmetric"),
    (TREE, "gravity_m_per_s2", "gravity_m_s2", "x: gravity_m_s2: unknown key, expected gravity_m_per_s2"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "old", "new", "message"), MISTAKES, ids=range(len(MISTAKES)))
def test_mistakes_are_named_with_table_and_key(text, old, new, message):
    assert old in text
    with pytest.raises(fd.RobotError, match=re.escape(message)):
        fd.from_toml(text.replace(old, new, 1), source="x")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "<text>: format: expected a string, found nothing"),
        ("a = " + 5_000 * "[" + 5_000 * "]", "<text>: expected at most 16 tables and lists inside each other"),
        ("a = " + 30 * "[" + 30 * "]", "<text>: expected at most 16 tables and lists inside each other"),
        (f"name{'.a' * 5_000} = 1", "<text>: expected at most 16 tables and lists inside each other"),
        (f"\n# {'1' * 9}\na = {'1' * 5_000}", "<text>:3: expected numbers of fewer digits, found: Exceeds the limit"),
        (b"name = 3", "<text>: format: expected a string, found nothing"),
        (b"\xff", "<text>: expected UTF-8 text, found: 'utf-8' codec"),
        ("\ud800", "<text>: expected UTF-8 text, found: 'utf-8' codec"),
        (3, "<text>: expected the text of a TOML file, found int"),
        (b"#" + b" " * 2**24, "<text>: expected at most 16 MiB, found more"),
        ('format = "fastdyn-tree-1"\nname = "x"', r"link: expected at least 1 \[\[link\]\], found nothing"),
        ('format = "fastdyn-tree-1"\nname = "x"\nlink = []', r"link: expected at least 1 \[\[link\]\], found \[\]"),
        ('format = "fastdyn-tree-1"\nname = "x"\nlink = [1]', r"link: expected at least 1 \[\[link\]\], found \[1\]"),
        (
            'format = "fastdyn-tree-1"\nname = "x"\njoint = 3\n[[link]]\nname = "b"',
            r"joint: expected tables \[\[joint\]\]",
        ),
        ('format = "fastdyn-dh-1"\nname = "x"\nconvention = "standard"', r"row: expected at least 1 \[\[row\]\]"),
    ],
)
def test_what_is_missing_is_named(text, message):
    with pytest.raises(fd.DescriptionError, match=message):
        fd.from_toml(text)


def test_bodies_that_cannot_be_are_warnings_and_errors_if_strict():
    text = DH.replace("[0.005, 0.035, 0.035]", "[0.005, 0.035, 0.135]")
    with pytest.warns(fd.RobotWarning, match="'link1'"):
        fd.from_toml(text)
    with pytest.raises(fd.RobotError, match="x: robot 'scara' has links that no real body can be:\n  'link1'"):
        fd.from_toml(text, strict=True, source="x")


def test_a_robot_of_one_link_is_a_file_too():
    robot = fd.Robot([fd.Link("stone", 3.0)], [], name="rock")
    assert figures(fd.from_toml(fd.to_toml(robot))) == figures(robot)
