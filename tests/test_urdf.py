"""URDF: what is read, what is refused and how it is said, and that what is written comes back."""

import math
import time
import tomllib
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fastdyn as fd
from fastdyn.formats import files, xml
from fastdyn.formats.urdf import Described, Mimic, describe, mimics

DATA = Path(__file__).parent / "data"
ARM = (DATA / "arm.urdf").read_text()
EXPECTED = tomllib.loads((DATA / "bad" / "expected.toml").read_text())
EPS = np.finfo(float).eps
THERE_AND_BACK = 2 * 10 * EPS  # rotation to angles and back: 10 eps each (tests/test_rotations.py)
ZERO = '<inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/>'


def one_joint(joint="", link=f'<inertial><mass value="1"/>{ZERO}</inertial>', kind="continuous", robot=""):
    """A base and one link; texts go into the joint, the link and the robot."""
    return (
        f'<robot name="r"><link name="base"/><link name="arm">{link}</link>\n<joint name="j" type="{kind}">'
        f'<parent link="base"/><child link="arm"/>{joint}</joint>{robot}</robot>'
    )


def warned(text):
    """The warnings that reading gives."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fd.from_urdf(text)
    return [str(warning.message) for warning in caught]


# ---------------------------------------------------------------------------------------------- what is read


def test_links_and_joints_are_read_as_typed():
    robot = fd.load_urdf(DATA / "arm.urdf")
    assert robot.name == "arm"
    assert [joint.name for joint in robot.joints] == ["shoulder", "elbow", "grip"]
    assert [joint.kind for joint in robot.all_joints] == ["revolute", "revolute", "fixed", "prismatic"]
    assert [link.name for link in robot.all_links] == ["base", "upper", "lower", "tool", "finger"]
    assert [link.mass for link in robot.all_links] == [0.0, 3.5, 1.25, 0.0, 0.05]
    shoulder, elbow, grip = robot.joints
    assert shoulder.limits == fd.Limits()
    assert elbow.limits == fd.Limits(-2.5, 2.5, velocity=3, effort=40)
    assert grip.limits == fd.Limits(0, 0.04, velocity=0.2, effort=20)
    assert shoulder.motor == fd.Motor(viscous=0.2, coulomb=0.1)
    np.testing.assert_array_equal(elbow.axis, (0, 1, 0))
    np.testing.assert_array_equal(elbow.origin[:3, 3], (0, 0, 0.4))
    assert elbow.origin[1, 1] == math.cos(1.5708) != 0  # not made a right angle


def test_inertia_is_turned_into_the_axes_of_the_link():
    def about(axis, angle):
        x, y, z = np.eye(3)[axis]
        K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        return np.eye(3) + math.sin(angle) * K + (1 - math.cos(angle)) * K @ K

    R = about(2, 0.3) @ about(1, 0.2) @ about(0, 0.1)
    typed = np.array([[0.04, 0.001, 0], [0.001, 0.05, -0.002], [0, -0.002, 0.02]])
    link = fd.load_urdf(DATA / "arm.urdf").links[0]
    # sums of products with rotations that are good to 10 eps (tests/test_rotations.py), at most 0.05
    np.testing.assert_allclose(link.inertia, R @ typed @ R.T, rtol=0, atol=20 * EPS * 0.05)
    np.testing.assert_array_equal(link.com, (0, 0.01, 0.2))


def test_joints_keep_the_order_of_the_file():
    first, second = "<joint name='b'", "<joint name='a'"
    links = "<link name='0'/><link name='1'/><link name='2'/>"
    ends = [f" type='fixed'><parent link='0'/><child link='{i}'/></joint>" for i in (1, 2)]
    robot = fd.from_urdf(f"<robot name='r'>{first}{ends[0]}{links}{second}{ends[1]}</robot>")
    assert [joint.name for joint in robot.all_joints] == ["b", "a"]


def test_what_urdf_leaves_out_has_its_defaults():
    joint = describe(one_joint(kind="prismatic")).description.joints[0]
    np.testing.assert_array_equal(joint.axis, (1, 0, 0))
    np.testing.assert_array_equal(joint.origin, np.eye(4))
    assert joint.limits == fd.Limits()
    assert joint.motor == fd.Motor()
    limits = describe(one_joint('<limit effort="3"/>', kind="revolute")).description.joints[0].limits
    assert limits == fd.Limits(effort=3)


def test_limits_of_continuous_and_all_of_fixed_joints_do_not_count():
    limit = '<limit lower="1" upper="-1" effort="2" velocity="3"/>'
    assert describe(one_joint(limit)).description.joints[0].limits == fd.Limits(effort=2, velocity=3)
    junk = limit.replace('"2"', '"-2"') + '<axis xyz="0 0 0"/><mimic joint="nobody"/>'
    assert describe(one_joint(junk, kind="fixed")).description.n == 0


@pytest.mark.parametrize(
    ("text", "value"),
    [("1", 1), ("1.", 1), ("+.5", 0.5), ("1e-3", 1e-3), ("2E+2", 200), (" 7 ", 7), ("\n7\t", 7), ("1e-400", 0)],
)
def test_plain_decimal_numbers_are_read(text, value):
    assert (
        describe(one_joint(link=f'<inertial><mass value="{text}"/>{ZERO}</inertial>')).description.links[0].mass
        == value
    )


def test_text_and_bytes_in_any_encoding_are_read():
    text = ARM.replace('"arm"', '"Ärmchen"')
    body = text[text.index("?>") + 2 :]
    for data in (
        text,
        "\ufeff" + text,
        text.replace("utf-8", "latin-1"),  # a str is decoded already, whatever it says of itself
        text.encode(),
        b"\xef\xbb\xbf" + text.encode(),
        text.replace("utf-8", "latin-1").encode("latin-1"),
        text.replace("utf-8", "cp1252").encode("cp1252"),
        ("<?xml version='1.0' encoding='utf-16'?>" + body).encode("utf-16"),
        text.replace("\n", "\r\n").encode(),
    ):
        assert fd.from_urdf(data).name == "Ärmchen"


def test_no_file_but_the_given_one_is_opened(monkeypatch, tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(ARM.replace("package://nowhere/upper.stl", str(DATA / "arm.urdf")))
    opened = []
    real = open
    monkeypatch.setattr("builtins.open", lambda name, *rest, **more: opened.append(name) or real(name, *rest, **more))
    fd.load_urdf(path)
    assert opened == [path]


def test_gravity_is_standard_unless_given():
    assert fd.from_urdf(ARM).gravity.tolist() == [0, 0, -9.80665]
    assert fd.from_urdf(ARM, gravity=(1, 2, 3)).gravity.tolist() == [1, 2, 3]
    assert fd.from_urdf(ARM.replace("<link", '<fastdyn gravity="3 2 1"/><link', 1)).gravity.tolist() == [3, 2, 1]
    with pytest.raises(fd.RobotError, match=r"gravity: expected shape \(3,\)"):
        fd.from_urdf(ARM, gravity=9.81)


def test_a_file_that_is_not_there_is_an_os_error():
    with pytest.raises(FileNotFoundError, match=r"nowhere\.urdf"):
        fd.load_urdf("nowhere.urdf")


# ---------------------------------------------------------------------------------------------- what is refused


def test_every_bad_file_is_in_the_table():
    assert {path.stem for path in (DATA / "bad").glob("*.urdf")} == set(EXPECTED)
    assert len(EXPECTED) >= 60


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_bad_file_is_refused_with_line_and_reason(name):
    path = DATA / "bad" / f"{name}.urdf"
    start = time.process_time()
    with pytest.raises(fd.DescriptionError) as caught:
        fd.load_urdf(path)
    assert time.process_time() - start < 1
    assert str(caught.value).startswith(f"{path}:{EXPECTED[name]['line']}: ")
    assert EXPECTED[name]["says"] in str(caught.value)


def test_what_is_too_much_is_refused(monkeypatch):
    with pytest.raises(fd.DescriptionError, match="expected at most 16 MiB, found more"):
        fd.from_urdf("<robot>" + " " * files.SIZE)
    with pytest.raises(fd.DescriptionError, match="2: <a> in <robot name='r'>: expected at most 50000 elements"):
        fd.from_urdf("<robot name='r'>\n" + "<a/>" * xml.ELEMENTS + "</robot>")
    with pytest.raises(fd.DescriptionError, match="expected the text of a URDF file, found PosixPath"):
        fd.from_urdf(Path("arm.urdf"))
    with pytest.raises(fd.DescriptionError, match="found half a character at 13"):
        fd.from_urdf("<robot name='\ud800'/>")


@pytest.mark.parametrize("kind", ["fixed", "continuous"])
def test_the_longest_chain_takes_seconds_and_not_hours(kind):
    count = xml.ELEMENTS // 10
    parts = ["<link name='0'/>"]
    for i in range(count):
        follows = f"<mimic joint='{i}'/>" if i else ""
        ends = f"<parent link='{i}'/><child link='{i + 1}'/>"
        parts.append(f"<link name='{i + 1}'/><joint name='{i + 1}' type='{kind}'>{ends}{follows}</joint>")
    start = time.process_time()
    found = describe(f"<robot name='r'>{''.join(reversed(parts))}</robot>")
    assert len(found.description.all_joints) == count
    assert time.process_time() - start < 10  # 1 s on a quiet machine


def test_mimics_that_exceed_float64_are_refused():
    links = "".join(f"<link name='{i}'/>" for i in range(4))
    joints = "".join(
        f"<joint name='{i}' type='prismatic'><parent link='{i - 1}'/><child link='{i}'/>{mimic}</joint>"
        for i, mimic in (
            (1, ""),
            (2, "<mimic joint='1' multiplier='1e200'/>"),
            (3, "<mimic joint='2' multiplier='1e200'/>"),
        )
    )
    with pytest.raises(fd.DescriptionError, match="<joint name='3'>: mimic: expected finite numbers"):
        describe(f"<robot name='r'>{links}{joints}</robot>")


def test_a_truncated_file_never_loads():
    data = ARM.rstrip().encode()
    for length in range(len(data)):
        with pytest.raises(fd.DescriptionError):
            describe(data[:length])


def survives(data):
    """Whether reading ends in a robot or in a DescriptionError; warnings are errors here."""
    try:
        found = describe(data)
    except fd.DescriptionError as problem:
        return str(problem).startswith("<text>:")
    return isinstance(found, Described)


EDITS = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 12), st.binary(max_size=8)), min_size=1, max_size=4)


@settings(max_examples=300, deadline=None)
@given(EDITS)
def test_bytes_cut_out_and_put_in_are_read_or_refused(edits):
    data = ARM.encode()
    for where, cut, put in edits:
        at = int(where * len(data))
        data = data[:at] + put + data[at + cut :]
    assert survives(data)


VALUES = st.one_of(
    st.sampled_from(["", "0", "-1", "1e308", "-1.7e308", "1e-320", "nan", "0 0 0", "1e308 1e308 1e308", "1e-300 0 0"]),
    st.floats().map(repr),
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=3, max_size=3).map(
        lambda v: " ".join(map(repr, v))
    ),
    st.sampled_from(["base", "upper", "lower", "tool", "finger", "elbow", "grip", "fixed", "revolute", "shoulder"]),
    st.text(st.characters(codec="utf-8", exclude_characters='<&"', exclude_categories=["Cc", "Cs"]), max_size=5),
)
PIECES = ARM.split('"')  # every second one is the value of an attribute


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.integers(2, len(PIECES) // 2 - 1), VALUES), min_size=1, max_size=3))
def test_attributes_with_other_values_are_read_or_refused(changes):
    pieces = list(PIECES)
    for i, value in changes:
        pieces[2 * i + 1] = value
    assert survives('"'.join(pieces))


LINES = ARM.splitlines()


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.integers(3, len(LINES) - 2), st.integers(3, len(LINES) - 2)), min_size=1, max_size=4))
def test_lines_moved_doubled_and_lost_are_read_or_refused(moves):
    lines = list(LINES)
    for source, target in moves:
        lines[target] = lines[source] if (source + target) % 3 else lines[source] + lines[target]
    assert survives("\n".join(lines))


# ---------------------------------------------------------------------------------------------- what is doubtful


def body(name, mass, ixx, iyy, izz):
    moments = f'<inertia ixx="{ixx}" ixy="0" ixz="0" iyy="{iyy}" iyz="0" izz="{izz}"/>'
    return f'<link name="{name}"><inertial><mass value="{mass}"/>{moments}</inertial></link>'


DOUBTFUL = f"""<robot name="doubtful">
  <link name="base"/>
  {body("negative", 1, -1, 2, 2)}
  {body("triangle", 1, 1, 1, 3)}
  {body("massless", 0, 1, 1, 1)}
  <link name="nothing"/>
  <link name="carrier"/>
  {body("carried", 1, 1, 1, 1)}
  <link name="tip"/>
  <joint name="1" type="continuous"><parent link="base"/><child link="negative"/></joint>
  <joint name="2" type="continuous"><parent link="negative"/><child link="triangle"/></joint>
  <joint name="3" type="continuous"><parent link="triangle"/><child link="massless"/></joint>
  <joint name="4" type="continuous"><parent link="massless"/><child link="nothing"/></joint>
  <joint name="5" type="continuous"><parent link="nothing"/><child link="carrier"/><dynamics mu_viscous="3"/></joint>
  <joint name="6" type="fixed"><parent link="carrier"/><child link="carried"/></joint>
  <joint name="7" type="fixed"><parent link="carried"/><child link="tip"/></joint>
</robot>"""


def test_one_warning_lists_all_that_is_doubtful():
    with pytest.warns(fd.RobotWarning) as caught:
        robot = fd.from_urdf(DOUBTFUL, source="file.urdf")
    (warning,) = caught
    assert warning.filename == __file__  # it points to the caller
    assert str(warning.message) == (
        "file.urdf is doubtful, and taken as it stands:\n"
        "  line 3: <link name='negative'> has principal moments [-1.0, 2.0, 2.0]: expected none below zero\n"
        "  line 4: <link name='triangle'> has principal moments [1.0, 1.0, 3.0]: the largest exceeds the sum of the "
        "others\n"
        "  line 5: <link name='massless'> has moments of inertia [1.0, 1.0, 1.0] but no mass\n"
        "  line 6: <link name='nothing'> moves, but neither it nor what is fixed to it has mass\n"
        "  line 14: <dynamics> in <joint name='5'> has 'mu_viscous', unknown to URDF and passed over"
    )
    np.testing.assert_array_equal(robot.links[0].inertia, np.diag([-1.0, 2, 2]))  # nothing is repaired
    np.testing.assert_array_equal(robot.links[2].inertia, np.eye(3))


def test_strict_makes_doubts_errors():
    with pytest.raises(
        fd.DescriptionError, match=r"(?s)file\.urdf: expected nothing doubtful, found\n  line 3: .*\n  line 14: "
    ):
        fd.from_urdf(DOUBTFUL, strict=True, source="file.urdf")
    assert fd.from_urdf(ARM, strict=True).n == 3


def test_a_robot_says_the_same_of_itself():
    robot = describe(DOUBTFUL).description
    assert list(robot.doubts()) == ["negative", "triangle", "massless"]
    assert list(robot.doubts(massless=True)) == ["negative", "triangle", "massless", "nothing"]
    with pytest.warns(
        fd.RobotWarning, match=r"\n  'negative' has principal moments .*\n  'triangle' .*\n  'massless' "
    ) as caught:
        fd.Robot(robot.all_links, robot.all_joints)
    assert len(caught) == 1
    with pytest.raises(fd.RobotError, match="'negative' has principal moments"):
        fd.Robot(robot.all_links, robot.all_joints, strict=True)


def test_what_is_sound_gives_no_warning():
    assert warned(ARM) == []
    rod = '<inertial><mass value="1"/><inertia ixx="0.3" ixy="0" ixz="0" iyy="0.3" iyz="0" izz="0"/></inertial>'
    turned = rod.replace("<mass", '<origin rpy="0.3 1.1 -2"/><mass')  # its zero moment becomes -1e-17
    assert warned(one_joint(link=rod)) == warned(one_joint(link=turned)) == []
    zero = '<origin xyz="0 0 0" rpy="0 -0 0"/>'  # in a link, where it has no place, and no meaning
    assert warned(one_joint(link=zero + rod)) == []


# ---------------------------------------------------------------------------------------------- mimic joints


def test_mimics_in_a_chain():
    G, offset = mimics(["a", "b", "c", "d"], {"d": Mimic("b", 2.0, 0.5), "b": Mimic("a", -1.0, 0.25)})
    assert G.tolist() == [[1, 0], [-1, 0], [0, 1], [-2, 0]]
    assert offset.tolist() == [0, 0.25, 0, 1.0]


@given(st.integers(1, 12).flatmap(lambda n: st.tuples(st.just(n), st.permutations(range(n)), st.randoms())))
def test_mimics_satisfy_every_rule(given_):
    n, order, random = given_
    names = [f"joint{i}" for i in range(n)]
    followers = {
        names[order[k]]: Mimic(names[order[random.randrange(k)]], random.uniform(-2, 2), random.uniform(-1, 1))
        for k in range(1, n)
        if random.random() < 0.7
    }
    G, offset = mimics(names, followers)
    assert G.shape == (n, n - len(followers))
    phi = np.array([random.uniform(-1, 1) for _ in range(G.shape[1])])
    q = dict(zip(names, G @ phi + offset, strict=True))
    free = [name for name in names if name not in followers]
    np.testing.assert_array_equal([q[name] for name in free], phi)
    for name, rule in followers.items():
        assert q[name] == pytest.approx(rule.multiplier * q[rule.joint] + rule.offset, abs=1e-12)


GRIPPER = ARM.replace(
    "</robot>",
    """  <link name="thumb"><inertial><mass value="0.05"/>
    <inertia ixx="1e-5" ixy="0" ixz="0" iyy="1e-5" iyz="0" izz="1e-5"/></inertial></link>
  <joint name="follow" type="prismatic"><parent link="tool"/><child link="thumb"/><axis xyz="0 1 0"/>
    <mimic joint="grip" multiplier="-1" offset="0.01"/></joint>
</robot>""",
)


def test_mimic_joints_couple_the_robot():
    robot = fd.from_urdf(GRIPPER)
    assert [joint.name for joint in robot.joints] == ["shoulder", "elbow", "grip", "follow"]
    assert robot.names == ("shoulder", "elbow", "grip")
    assert robot.G.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, -1]]
    assert robot.offset.tolist() == [0, 0, 0, 0.01]
    assert robot.mass_matrix([0, 0, 0])[2, 2] == pytest.approx(0.1)  # two fingers


# ---------------------------------------------------------------------------------------------- there and back


def poses(robot, q):
    """The 4x4 pose of every link in the world, link by link, from the parts alone."""
    place, joint_of = dict(zip([j.name for j in robot.joints], q, strict=True)), {j.child: j for j in robot.all_joints}

    def pose(link):
        if link not in joint_of:
            return robot.mount
        joint = joint_of[link]
        x, y, z = axis = np.asarray(joint.axis)
        angle, motion, K = place.get(joint.name, 0.0), np.eye(4), np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        if joint.kind == "revolute":
            motion[:3, :3] += math.sin(angle) * K + (1 - math.cos(angle)) * K @ K
        elif joint.kind == "prismatic":
            motion[:3, 3] = angle * axis
        return pose(joint.parent) @ joint.origin @ motion @ joint.tail

    return {link.name: pose(link.name) for link in robot.all_links}


def assert_same(robot, again, tolerance=1e-12):
    """The same names, order and figures, and the same poses and torques up to rounding."""
    assert again.name == robot.name
    assert again.gravity.tolist() == robot.gravity.tolist()
    for ours, theirs in zip(again.all_links, robot.all_links, strict=True):
        assert (ours.name, ours.mass, ours.com.tolist()) == (theirs.name, theirs.mass, theirs.com.tolist())
        np.testing.assert_array_equal(ours.inertia, 0.5 * (theirs.inertia + theirs.inertia.T))
    for ours, theirs in zip(again.all_joints, robot.all_joints, strict=True):
        assert (ours.name, ours.parent, ours.child, ours.kind) == (
            theirs.name,
            theirs.parent,
            theirs.child,
            theirs.kind,
        )
        if ours.kind != "fixed":
            assert ours.limits == theirs.limits
            for key in ("inertia", "gear", "viscous", "coulomb"):
                assert getattr(ours.motor, key) == pytest.approx(getattr(theirs.motor, key), rel=1e-14)
    q, qd, qdd = np.random.default_rng(1).uniform(-1, 1, (3, 5, robot.n))
    there, back = poses(robot, q[0]), poses(again, q[0])
    for link in there:
        np.testing.assert_allclose(back[link], there[link], rtol=0, atol=tolerance)
    for ours, theirs in (
        (again.inverse_dynamics(q, qd, qdd), robot.inverse_dynamics(q, qd, qdd)),
        (again.mass_matrix(q), robot.mass_matrix(q)),
        (again.potential_energy(q), robot.potential_energy(q)),
    ):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=tolerance * (1 + np.abs(theirs).max(initial=0)))


def turned(seed):
    """A pose out of a random robot."""
    return fd.robots.random_chain(1, seed).joints[0].origin


BUILT_IN = [fd.robots.puma560, fd.robots.stanford, fd.robots.two_link, fd.robots.planar_2r, fd.robots.rrt]


@pytest.mark.parametrize("make", BUILT_IN)
def test_built_in_arms_come_back(make):
    assert_same(make(), fd.from_urdf(fd.to_urdf(make())))


@pytest.mark.parametrize("seed", range(8))
def test_random_trees_come_back(seed):
    tree = fd.robots.random_tree(9, seed, prismatic=0.3, drives=True).with_mount(turned(seed))
    assert_same(tree, fd.from_urdf(fd.to_urdf(tree)))


def test_fixed_joints_limits_and_odd_names_come_back():
    inf = math.inf
    names = ["tab\there", "line\nbreak\r", "quote\"'", "<&>]]>", "  space ", "Ä ☃ 🤖", "_at_"]
    limits = [
        fd.Limits(),
        fd.Limits(-1, inf),
        fd.Limits(-inf, 2),
        fd.Limits(effort=3),
        fd.Limits(-1, 1, 2, 3),
        fd.Limits(),
    ]
    chain = fd.robots.random_chain(6, 3, prismatic=0.5)
    rename = dict(zip([link.name for link in chain.all_links], names, strict=True))
    links = [replace(link, name=rename[link.name]) for link in chain.all_links]
    joints = [
        replace(j, name=f"{rename[j.child]} joint", parent=rename[j.parent], child=rename[j.child], limits=limit)
        for j, limit in zip(chain.joints, limits, strict=True)
    ]
    joints[2] = replace(joints[2], kind="fixed", tail=np.eye(4))
    robot = fd.Robot(links, joints, name='all "odd" <names>')
    assert_same(robot, fd.from_urdf(fd.to_urdf(robot)))


def test_the_tail_of_a_fixed_joint_is_part_of_its_origin():
    joint = fd.Joint("weld", "base", "plate", "fixed", turned(1), tail=turned(2))
    robot = fd.Robot([fd.Link("base"), fd.Link("plate", 1.0)], [joint])
    found = poses(fd.from_urdf(fd.to_urdf(robot)), [])["plate"]
    np.testing.assert_allclose(found, turned(1) @ turned(2), rtol=0, atol=THERE_AND_BACK)


def test_names_for_what_urdf_needs_do_not_clash():
    names = ["base", "tip", "tip_at_j", "tip_at_j_"]
    joints = [
        fd.Joint("j", "base", "tip", tail=turned(1)),
        fd.Joint("j_tail", "tip", "tip_at_j", "fixed"),
        fd.Joint("k", "tip", "tip_at_j_", tail=turned(2)),
    ]
    robot = fd.Robot([fd.Link(name, 1.0) for name in names], joints)
    assert_same(robot, fd.from_urdf(fd.to_urdf(robot)))


def test_names_that_xml_cannot_hold_are_refused():
    for name in ("bell\x07", "half\ud800", "none\uffff"):
        with pytest.raises(fd.RobotError, match="expected characters that XML can hold"):
            fd.to_urdf(fd.Robot([fd.Link(name)], []))


ANGLES = st.floats(-math.pi, math.pi) | st.sampled_from(
    [-math.pi / 2, math.pi / 2, 0.0, math.pi, 1.5707963, 1.57079632]
)


@given(ANGLES, ANGLES, ANGLES)
def test_every_rotation_comes_back(roll, pitch, yaw):
    joint = describe(one_joint(f'<origin rpy="{roll!r} {pitch!r} {yaw!r}"/>')).description.joints[0]
    robot = fd.Robot([fd.Link("base"), fd.Link("arm", 1.0)], [joint])
    again = describe(fd.to_urdf(robot)).description.joints[0]
    np.testing.assert_allclose(again.origin, joint.origin, rtol=0, atol=THERE_AND_BACK)


def test_mimic_joints_come_back():
    robot = fd.from_urdf(GRIPPER)
    again = fd.from_urdf(fd.to_urdf(robot))
    assert again.names == robot.names
    np.testing.assert_array_equal(again.G, robot.G)
    np.testing.assert_array_equal(again.offset, robot.offset)
    assert_same(robot.robot, again.robot)


def test_the_order_of_coordinates_comes_back():
    arm = fd.robots.random_chain(3, 1)
    names = ["joint1", "joint2", "joint3"]
    same = fd.from_urdf(fd.to_urdf(arm.coupled(np.eye(3), names=names)))
    assert type(same) is fd.Robot  # a coupling that changes nothing
    held = arm.coupled([[0, 0], [1, 0], [0, 1]], [0.5, 0, 0], names=names[1:])
    again = fd.from_urdf(held.to_urdf())
    assert again.coupling == held.coupling
    assert again.joint_positions([1.0, 2.0]).tolist() == [0.5, 1, 2]


@pytest.mark.parametrize(
    ("G", "more", "message"),
    [
        ([[1, 0], [0, 2], [0, 3]], {}, "coordinate 'joint2': expected it to be the position of a joint of that name"),
        ([[1, 0], [0, 1], [0, 3]], {"offset": [0, 1, 0]}, "coordinate 'joint2': expected it to be the position"),
        ([[1, 0], [0, 1], [0, 3]], {"names": None}, "coordinate 'phi1': expected it to be the position of a joint"),
        (
            [[1, 0], [0, 1], [1, 1]],
            {},
            r"joint 'joint3': expected it to follow one coordinate, found \['joint1', 'joint2",
        ),
        ([[0, 1], [1, 0], [1, 0]], {"names": ["joint2", "joint1"]}, r"the order of coordinates \['joint2', 'joint1'\]"),
        ([[1, 0], [0, 1], [1, 0]], {"motors": [None, fd.Motor(1e-3)]}, "the motor of coordinate 'joint2'"),
    ],
)
def test_couplings_that_mimic_cannot_say_are_refused(G, more, message):
    arm = fd.robots.random_chain(3, 1).coupled(G, **{"names": ["joint1", "joint2"], **more})
    with pytest.raises(fd.RobotError, match=f"URDF's <mimic> cannot express {message}.*; to_toml writes any coupling"):
        fd.to_urdf(arm)
    assert fd.from_toml(arm.to_toml()) == arm


def test_others_read_what_is_written():
    pin = pytest.importorskip("pinocchio")
    robot = fd.robots.random_tree(8, 5, prismatic=0.3).with_gravity((0, 0, -9.80665))
    joints = [replace(j, limits=fd.Limits(-9, 9)) for j in robot.joints]  # so that it has one coordinate for each
    robot = fd.Robot(robot.all_links, joints, gravity=robot.gravity)
    model = pin.buildModelFromXML(fd.to_urdf(robot))
    model.gravity.linear = robot.gravity
    data = model.createData()
    place = [model.joints[model.getJointId(joint.name)].idx_v for joint in robot.joints]
    q, qd, qdd = motion = np.random.default_rng(0).normal(size=(3, robot.n))
    sorted_ = np.empty_like(motion)
    sorted_[:, place] = motion
    tau = pin.rnea(model, data, *sorted_)[place]
    np.testing.assert_allclose(robot.inverse_dynamics(q, qd, qdd), tau, rtol=0, atol=1e-12 * np.abs(tau).max())
    pin.framesForwardKinematics(model, data, sorted_[0])
    for link, pose in poses(robot, q).items():
        frame = model.getFrameId(link, pin.FrameType.BODY)
        np.testing.assert_allclose(data.oMf[frame].homogeneous, pose, rtol=0, atol=1e-13)
