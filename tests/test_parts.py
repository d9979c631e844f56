"""Parts of robots: what cannot be is refused and named, and nothing changes afterwards."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import numpy as np
import pytest

import fastdyn as fd
from tests.samples import square
from tests.test_errors import ROBOT, raises

# ---------------------------------------------------------------------------------------------- parts of robots

NOT_A_NUMBER = [np.nan, np.inf, "heavy", None, [1.0, 2.0]]


@pytest.mark.parametrize("mass", [-1.0, -1e-300, *NOT_A_NUMBER])
def test_bad_masses_name_the_link(mass):
    with raises(fd.RobotError, "link 'hand', mass"):
        fd.Link("hand", mass)


@pytest.mark.parametrize("com", [(0, 0), (0, 0, np.nan), (0, np.inf, 0), 1.0, "left", None, [[0, 0, 0]]])
def test_bad_centres_of_mass_name_the_link(com):
    with raises(fd.RobotError, "link 'hand', com"):
        fd.Link("hand", 1.0, com)


@pytest.mark.parametrize(
    ("inertia", "problem"),
    [
        ([[1, 0.1, 0], [0, 1, 0], [0, 0, 1]], "symmetric"),
        (np.diag([1, 1, -1e-3]), "negative principal moment"),
        ([[1, 2, 0], [2, 1, 0], [0, 0, 1]], "negative principal moment"),
        (np.diag([1, 1, np.nan]), "finite"),
        (np.eye(2), "shape"),
        ([1, 2, 3], "shape"),
        ("round", "numbers"),
    ],
)
def test_bad_inertias_name_the_link(inertia, problem):
    with raises(fd.RobotError, "link 'hand', inertia", problem):
        fd.Link("hand", 1.0, (0, 0, 0), inertia)


def test_moments_that_no_body_has_are_doubted():
    link = fd.Link("plate", 1.0, inertia=np.diag([1.0, 1.0, 3.0]))
    with pytest.warns(fd.RobotWarning, match="'plate' has principal moments"):
        one_joint(link=link)
    with raises(fd.RobotError, "'plate' has principal moments"):
        one_joint(link=link, strict=True)
    with pytest.warns(fd.RobotWarning, match="'ghost' has moments of inertia .* but no mass"):
        one_joint(link=fd.Link("ghost", 0.0, inertia=np.eye(3)))


def test_rounded_moments_are_not_doubted(recwarn):
    one_joint(link=fd.Link("disc", 1.0, inertia=np.diag([0.1, 0.2, 0.3])))  # 0.1 + 0.2 is not 0.3
    one_joint(link=fd.Link("point", 1.0, inertia=np.zeros((3, 3))), strict=True)
    assert not [w for w in recwarn if issubclass(w.category, fd.RobotWarning)]


def one_joint(link: fd.Link | None = None, strict: bool = False, **joint) -> fd.Robot:
    link = fd.Link("hand", 1.0) if link is None else link
    joint = {"name": "wrist", "parent": "base", "child": link.name} | joint
    return fd.Robot([fd.Link("base"), link], [fd.Joint(**joint)], name="one", strict=strict)


@pytest.mark.parametrize("axis", [(0, 0, 0), (0, 0, 1e-12), (0, 0, np.nan), (1, 0), "z", None])
def test_bad_axes_name_the_joint(axis):
    with raises(fd.RobotError, "joint 'wrist', axis"):
        one_joint(axis=axis)


def test_axes_are_made_unit_vectors():
    assert one_joint(axis=(0, -3, 0)).joints[0].axis.tolist() == [0, -1, 0]


@pytest.mark.parametrize("place", ["origin", "tail"])
@pytest.mark.parametrize(
    ("pose", "problem"),
    [
        (np.eye(3), "shape"),
        ((1.0, 2.0), "shape"),
        ([[1.0], [1.0, 2.0]], "shape"),
        ((0.0, np.inf, 0.0), "finite"),
        (2 * np.eye(4), "rotation"),
        (np.diag([1.0, 1.0, -1.0, 1.0]), "rotation"),
        (np.diag([1.0, 1.0, 1.0, 2.0]), "last row"),
        (np.full((4, 4), np.nan), "finite"),
        ("here", "numbers"),
    ],
)
def test_bad_poses_name_the_joint(place, pose, problem):
    with raises(fd.RobotError, f"joint 'wrist', {place}", problem):
        one_joint(**{place: pose})


@pytest.mark.parametrize("given", [{"xyz": (1, 2)}, {"xyz": "abc"}, {"xyz": (0, 0, 0), "rpy": (0, np.nan, 0)}])
def test_bad_numbers_of_a_pose_are_named(given):
    with raises(fd.RobotError, f"{list(given)[-1]}: expected"):
        fd.pose(**given)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"kind": "spherical"}, ["joint 'wrist', kind", "revolute, prismatic, helical, fixed", "'spherical'"]),
        ({"kind": "helical"}, ["joint 'wrist', pitch: expected a number other than zero", "found 0.0"]),
        ({"pitch": 0.1}, ["joint 'wrist', pitch: expected 0 for a revolute joint, found 0.1"]),
        ({"name": ""}, ["joint: expected a name"]),
        ({"name": 3}, ["joint: expected a name, found 3"]),
        ({"parent": None}, ["joint 'wrist', parent link: expected a name"]),
        ({"limits": (0, 1)}, ["joint 'wrist', limits: expected Limits"]),
        ({"motor": 0.1}, ["joint 'wrist', motor: expected Motor"]),
    ],
)
def test_bad_joints_are_named(changes, words):
    with raises(fd.RobotError, *words):
        one_joint(**changes)


@pytest.mark.parametrize(
    ("values", "word"),
    [
        ({"lower": 1.0, "upper": -1.0}, "lower 1.0 and upper -1.0"),
        ({"lower": np.nan}, "limit lower"),
        ({"upper": "far"}, "limit upper"),
        ({"velocity": -1.0}, "limit velocity"),
        ({"effort": -1.0}, "limit effort"),
    ],
)
def test_bad_limits_are_named(values, word):
    with raises(fd.RobotError, word):
        fd.Limits(**values)


@pytest.mark.parametrize(
    ("values", "word"),
    [
        ({"inertia": -1.0}, "motor inertia"),
        ({"viscous": -1.0}, "motor viscous"),
        ({"viscous": np.inf}, "motor viscous"),
        ({"gear": np.nan}, "motor gear"),
        ({"gear": "reverse"}, "motor gear"),
        ({"coulomb": -1.0}, "motor coulomb"),
        ({"coulomb": (-1.0, 1.0)}, "motor coulomb, first number"),
        ({"coulomb": (1.0, 2.0, 3.0)}, "motor coulomb"),
        ({"coulomb": (1.0, np.nan)}, "motor coulomb"),
    ],
)
def test_bad_motors_are_named(values, word):
    with raises(fd.RobotError, word):
        fd.Motor(**values)


@pytest.mark.parametrize(
    "gravity", [9.81, (0, 0), (0, 0, np.nan), (0, 0, -np.inf), "down", [[0, 0, 1]], np.array([0, 0, 1j])]
)
def test_bad_gravity_is_refused(gravity):
    with raises(fd.RobotError, "gravity"):
        ROBOT.with_gravity(gravity)
    with raises(fd.RobotError, "gravity"):
        fd.Robot(ROBOT.all_links, ROBOT.all_joints, gravity=gravity)


def test_bad_mounts_are_refused():
    with raises(fd.RobotError, "mount", "rotation"):
        ROBOT.with_mount(-np.eye(4))


# ---------------------------------------------------------------------------------------------- trees that are none


def links(*names):
    return [fd.Link(name, 1.0) for name in names]


def joints(*pairs):
    return [fd.Joint(f"{a}-{b}", a, b) for a, b in pairs]


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        (([], []), ["at least one link"]),
        ((links("a", "a"), []), ["two of its links", "'a'"]),
        ((links("a", "b", "c"), [*joints(("a", "b")), fd.Joint("a-b", "b", "c")]), ["two of its joints", "'a-b'"]),
        ((links("a", "b"), joints(("x", "b"))), ["joint 'x-b'", "parent link 'x' does not exist"]),
        ((links("a", "b"), joints(("a", "x"))), ["joint 'a-x'", "child link 'x' does not exist"]),
        ((links("a", "b", "c"), joints(("a", "b"))), ["one base link, found 2", "a, c"]),
        ((links("a", "b"), []), ["one base link, found 2", "a, b"]),
        ((links("a", "b", "c"), joints(("a", "c"), ("b", "c"))), ["'c' is the child of two joints", "'a-c'", "'b-c'"]),
        ((links("a", "b"), joints(("a", "b"), ("b", "a"))), ["form a cycle through"]),
        ((links("a", "b", "c"), joints(("b", "c"), ("c", "b"))), ["form a cycle through"]),
        ((links("a", "b"), joints(("b", "b"))), ["form a cycle through 'b'"]),
    ],
)
def test_what_is_no_tree_is_refused(parts, words):
    with raises(fd.RobotError, *words):
        fd.Robot(*parts)


# ---------------------------------------------------------------------------------------------- D-H tables


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (fd.DHLink(a=np.nan), ["row 2, a"]),
        (fd.DHLink(alpha="flat"), ["row 2, alpha"]),
        (fd.DHLink(kind="fixed"), ["row 2, kind"]),
        (fd.DHLink(limits=(1.0, 0.0)), ["lower 1.0 and upper 0.0"]),
        (fd.DHLink(limits=3.0), ["row 2, limits"]),
        (fd.DHLink(mass=-1.0), ["link 'link2', mass"]),
        ((0.0, 0.0, 0.0, 0.0), ["row 2", "DHLink"]),
    ],
)
def test_bad_rows_of_a_dh_table_are_named(row, words):
    with raises(fd.RobotError, *words):
        fd.from_dh([fd.DHLink(mass=1.0), row])


def test_unknown_dh_conventions_are_refused():
    with raises(fd.RobotError, "convention is 'craig'", "'standard' or 'modified'"):
        fd.from_dh([fd.DHLink()], convention="craig")


# ---------------------------------------------------------------------------------------------- nothing changes


def test_robots_cannot_be_changed():
    robot = square(2)
    for name in ("name", "gravity", "joints", "all_links", "model", "anything"):
        with pytest.raises(AttributeError, match=f"make a new one instead of setting '{name}'"):
            setattr(robot, name, None)


def test_nothing_can_be_taken_from_robots():
    robot = square(2)
    with pytest.raises(AttributeError):
        del robot.name
    assert robot.name


def test_arrays_of_robots_and_models_are_read_only():
    robot = square(2)
    joint, link, model = robot.joints[0], robot.links[0], robot.model
    for array in (
        robot.gravity, robot.mount, joint.origin, joint.tail, joint.axis, link.com, link.inertia, model.P, model.tree,
    ):  # fmt: skip
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_parts_and_models_are_frozen():
    robot = square(2)
    for part in (robot.joints[0], robot.links[0], robot.joints[0].motor, robot.joints[0].limits, robot.model):
        name = next(iter(part.__dataclass_fields__))
        with pytest.raises(FrozenInstanceError):
            setattr(part, name, None)


def test_robots_keep_copies_of_what_they_were_given():
    com, gravity = np.array([0.1, 0.2, 0.3]), np.array([0.0, 0.0, -1.0])
    robot = fd.Robot([fd.Link("base"), fd.Link("hand", 1.0, com)], [fd.Joint("wrist", "base", "hand")], gravity=gravity)
    com[:], gravity[:] = 9.0, 9.0
    assert robot.links[0].com.tolist() == [0.1, 0.2, 0.3]
    assert robot.gravity.tolist() == [0.0, 0.0, -1.0]
