"""Descriptions: immutable, checked once, the same after copying; and the robots that are made of them."""

import copy
import inspect
import pickle
import warnings
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

import fastdyn as fd
from fastdyn.formats import FORMATS
from fastdyn.mechanism.coupling import Coupling
from fastdyn.mechanism.description import Description
from fastdyn.robot import robot_of

READERS = ("load", "from_urdf", "load_urdf", "from_toml", "load_toml", "from_dh", "from_screws", "from_mujoco",
           "from_pinocchio")  # fmt: skip
IMPOSSIBLE = fd.DHLink(mass=1.0, inertia=np.diag([1.0, 1.0, 3.0]))
COPIES = [copy.copy, copy.deepcopy, lambda robot: pickle.loads(pickle.dumps(robot))]


def branched():
    """Two moving links; a bracket fixed to the first carries the second joint, a plate is fixed to the base."""
    links = [
        fd.Link(name, mass) for name, mass in (("base", 5.0), ("plate", 4.0), ("a", 2.0), ("bracket", 1.0), ("b", 3.0))
    ]
    shift = np.eye(4)
    shift[:3, 3] = 1, 2, 3
    joints = [
        fd.Joint("weld", "base", "plate", "fixed", origin=shift),
        fd.Joint("second", "bracket", "b", "prismatic"),
        fd.Joint("first", "plate", "a"),
        fd.Joint("screws", "a", "bracket", "fixed", origin=shift, tail=shift),
    ]
    return Description(links, joints, name="branched")


def test_facts_of_a_tree():
    tree = branched()
    assert [joint.name for joint in tree.joints] == ["second", "first"]
    assert [link.name for link in tree.links] == ["b", "a"]
    assert (tree.base.name, tree.n, tree.kinds, tree.moving_mass) == ("base", 2, "PR", 6.0)
    assert {name: carrier for name, (carrier, _) in tree.carriers.items()} == {
        "base": "base", "plate": "base", "a": "a", "bracket": "a", "b": "b",
    }  # fmt: skip
    assert tree.carriers["bracket"][1][:3, 3].tolist() == [2, 4, 6]
    assert [moments[3, 3] for moments in tree.moments] == [3.0, 3.0]
    assert [(node.index, node.parent, node.before[:3, 3].tolist()) for node in tree.nodes] == [
        (0, 1, [2, 4, 6]), (1, -1, [1, 2, 3]),
    ]  # fmt: skip


def test_nothing_of_a_description_can_be_changed():
    tree = branched()
    with pytest.raises(FrozenInstanceError):
        tree.name = "other"
    with pytest.raises(ValueError, match="read-only"):
        tree.gravity[0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        tree.carriers["bracket"][1][0, 3] = 1.0
    with pytest.raises(TypeError):
        tree.carriers["bracket"] = ("b", np.eye(4))


def test_replace_keeps_what_is_not_named_and_checks_what_is():
    tree = branched()
    other = tree.replace(name="other", gravity=(1, 2, 3))
    assert (other.name, other.gravity.tolist()) == ("other", [1, 2, 3])
    assert other.all_links == tree.all_links
    assert other.all_joints == tree.all_joints
    with pytest.raises(fd.RobotError, match="gravity: expected shape"):
        tree.replace(gravity=(1, 2))
    with pytest.raises(TypeError, match="color"):
        tree.replace(color="red")
    with pytest.raises(fd.RobotError, match="expected a coupling of its 2 joints, found one of 3"):
        tree.replace(coupling=Coupling(np.eye(3)))


@pytest.mark.parametrize("how", COPIES)
def test_copies_are_the_same_and_read_only(how):
    tree = branched().replace(coupling=Coupling([[1], [2]], [0.5, 0], ["x"], [fd.Motor(1e-3)]))
    assert tree.carriers
    other = how(tree)
    assert repr(other) == repr(tree)
    assert other.coupling.G.tolist() == [[1], [2]]
    assert other.coupling.motors == tree.coupling.motors
    for array in (other.gravity, other.mount, other.coupling.G, other.coupling.offset):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


@pytest.mark.parametrize("how", COPIES)
def test_parts_of_copies_are_read_only(how):
    """Of a robot, of its description, and copied by themselves: what a model was built from cannot change."""
    robot = robot_of(branched())
    links, joints = [how(link) for link in robot.all_links], [how(joint) for joint in robot.all_joints]
    for other in (how(robot), how(robot.description)):
        links += other.all_links
        joints += other.all_joints
    arrays = [getattr(link, key) for link in links for key in ("com", "inertia")]
    arrays += [getattr(joint, key) for joint in joints for key in ("origin", "axis", "tail")]
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


# ---------------------------------------------------------------------------------------------- equality


def different():
    """Pairs of a part and parts that differ from it in one field each."""
    link = fd.Link("a", 1.0, (1, 2, 3), np.eye(3))
    joint = fd.Joint("j", "a", "b", "helical", pitch=0.1)
    coupling = Coupling([[1], [2]], [0.5, 0], ["x"], [fd.Motor(1e-3)])
    tree = branched()
    limits, motor = fd.Limits(-1, 1), fd.Motor(1e-3, 2.0)
    return [
        (link, replace(link, mass=2.0), replace(link, com=(1, 2, 4)), replace(link, inertia=2 * np.eye(3))),
        (joint, replace(joint, pitch=0.2), replace(joint, axis=(1, 0, 0)), replace(joint, limits=limits)),
        (coupling, Coupling([[1], [3]], [0.5, 0], ["x"], [fd.Motor(1e-3)]), Coupling([[1], [2]], [0.5, 0], ["x"])),
        (tree, tree.replace(name="x"), tree.replace(gravity=(0, 0, 0)), tree.replace(coupling=coupling)),
        (robot_of(tree), robot_of(tree.replace(name="x")), robot_of(tree.replace(coupling=coupling)), tree),
        (limits, fd.Limits(-1, 2), fd.Limits(-1, 1, 3)),
        (motor, fd.Motor(1e-3, -2.0), fd.Motor(1e-3, 2.0, coulomb=1.0)),
    ]


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("parts", different(), ids=lambda parts: type(parts[0]).__name__)
def test_parts_are_equal_by_value(parts, how):
    one, *others = parts
    again = how(one)
    assert again == one
    assert hash(again) == hash(one)
    assert {one: 1}[again] == 1
    for other in (*others, None, "a", 3):
        assert one != other
    assert len({one, again, *others}) == 1 + len(others)


def test_arrays_are_compared_exactly():
    assert fd.Link("a", com=(0.0, 0, 0)) == fd.Link("a", com=(-0.0, 0, 0))
    assert hash(fd.Link("a", com=(0.0, 0, 0))) == hash(fd.Link("a", com=(-0.0, 0, 0)))
    assert fd.Link("a", com=(1.0, 0, 0)) != fd.Link("a", com=(np.nextafter(1, 2), 0, 0))


def test_equal_robots_come_from_equal_calls():
    assert fd.robots.panda() == fd.robots.panda()
    assert fd.robots.panda() != fd.robots.panda().with_payload(1.0)
    assert fd.robots.two_link().coupled(np.eye(2)) == fd.robots.two_link().coupled(np.eye(2))


# ---------------------------------------------------------------------------------------------- robots of descriptions


@pytest.mark.parametrize("how", COPIES)
def test_copies_of_robots_are_robots(how):
    robot = robot_of(branched())
    other = how(robot)
    assert type(other) is fd.Robot
    assert other.gravity_forces([0.1, 0.2]).tolist() == robot.gravity_forces([0.1, 0.2]).tolist()
    with pytest.raises(AttributeError, match="a Robot cannot be changed"):
        other.name = "other"


def test_a_coupling_makes_a_coupled_robot():
    tree = branched()
    assert type(robot_of(tree)) is fd.Robot
    robot = robot_of(tree.replace(coupling=Coupling([[1], [2]])))
    assert type(robot) is fd.CoupledRobot
    assert type(robot.robot) is fd.Robot
    assert robot.n == 1
    with pytest.raises(AttributeError, match="a CoupledRobot cannot be changed"):
        robot.names = ("x",)


# ---------------------------------------------------------------------------------------------- warnings


def test_impossible_links_are_warned_of_once_at_the_line_that_made_them():
    text = fd.from_dh([IMPOSSIBLE], name="odd").to_toml()
    link = fd.Link("link", 1.0, inertia=np.diag([1.0, 1.0, 3.0]))
    makes = [
        lambda: fd.from_dh([IMPOSSIBLE]),
        lambda: fd.from_toml(text),
        lambda: fd.Robot([fd.Link("base"), link], [fd.Joint("joint", "base", "link")]),
        lambda: fd.from_urdf(fd.Robot([fd.Link("base"), link], [fd.Joint("j", "base", "link")], strict=None).to_urdf()),
        lambda: fd.robots.puma560(),
        lambda: fd.robots.two_link().with_payload(1.0, inertia=np.diag([1.0, 1.0, 3.0])),
        lambda: fd.robots.two_link().with_tool(1.0, inertia=np.diag([1.0, 1.0, 3.0])),
    ]
    for make in makes:
        with pytest.warns(fd.RobotWarning) as caught:
            robot = make()
        assert [(warning.filename, warning.lineno) for warning in caught] == [(__file__, make.__code__.co_firstlineno)]
        with warnings.catch_warnings():
            warnings.simplefilter("error", fd.RobotWarning)
            robot.with_gravity((0, 0, 0)).without_friction().coupled(np.eye(robot.n)).without_motors()


def test_every_doubtful_link_has_a_line_of_its_own():
    with pytest.warns(fd.RobotWarning) as caught:
        fd.from_dh([IMPOSSIBLE, IMPOSSIBLE], name="odd")
    (warning,) = caught
    first, *lines = str(warning.message).splitlines()
    assert first == "robot 'odd' has links that no real body can be:"
    assert [line.split()[0] for line in lines] == ["'link1'", "'link2'"]


@pytest.mark.parametrize("given", [{"gear": 1e200}, {"gear": 1e160, "inertia": 1.0}, {"gear": 1e10, "coulomb": 1e300}])
def test_motors_beyond_float64_are_refused(given):
    with pytest.raises(
        fd.RobotError, match=r"motor gear: expected inertia and friction .* within the range of float64"
    ):
        fd.Motor(**given)


def test_numbers_beyond_float64_are_refused():
    with pytest.raises(fd.RobotError, match="motor gear: expected a number within the range of float64"):
        fd.Motor(gear=10**400)
    with pytest.raises(fd.RobotError, match="limit upper: expected a number"):
        fd.Limits(upper=10**400)


# ---------------------------------------------------------------------------------------------- readers


@pytest.mark.parametrize("name", READERS)
def test_public_readers_are_documented_as_they_are(name):
    reader = getattr(fd, name)
    (inner,) = {each for row in FORMATS for each in (row.from_text, row.read) if each and each.__name__ == name} or {
        inspect.unwrap(reader)
    }
    assert reader is not inner
    assert inspect.unwrap(reader) is inner
    assert reader.__doc__ == inner.__doc__
    assert ">>>" in reader.__doc__ or name == "load_toml"
    assert inspect.signature(reader).parameters == inspect.signature(inner).parameters
    assert inspect.signature(reader).return_annotation in (fd.Robot, fd.Robot | fd.CoupledRobot)
    assert pickle.loads(pickle.dumps(reader)) is reader  # a pool of processes may be given it


@pytest.mark.parametrize("row", [row for row in FORMATS if row.write], ids=lambda row: row.name)
def test_what_a_format_writes_it_reads(row, tmp_path):
    tree = branched()
    text = row.write(tree)
    (tmp_path / "robot").write_text(text)
    for again in (row.from_text(text), row.read(tmp_path / "robot")):
        assert repr(again) == repr(tree)
        assert [link.name for link in again.all_links] == [link.name for link in tree.all_links]
    assert row.write(robot_of(tree)) == text


def test_suffixes_that_formats_share_can_be_told_apart():
    for suffix in {suffix for row in FORMATS for suffix in row.suffixes}:
        rows = [row for row in FORMATS if suffix in row.suffixes]
        assert sum(row.recognises is None for row in rows) == 1
        assert rows[0].recognises is None
