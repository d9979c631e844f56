"""What goes wrong is said at once, by the right type of exception, in a message that names the thing."""

from __future__ import annotations

import math
import re

import numba
import numpy as np
import pytest

import fastdyn as fd
from fastdyn.mechanism.poses import coordinates
from fastdyn.quantities import METHODS
from tests.samples import any_robot, computed, core, draw, of_row, states

ROBOT = any_robot("tree", 5, seed=1, prismatic=0.4)
N = ROBOT.n
# by the method called, and the value of `method=` where it is not the first: its row
FUNCTIONS = {
    f"{name}, {row.method}" if k else name: row for name, texts in METHODS.items() for k, row in enumerate(texts)
}
MANY = 48 if numba.config.DISABLE_JIT else 1600  # states: enough for three threads where compiled
ARGUMENTS = [(name, field.name) for name, row in FUNCTIONS.items() for field in row.inputs]

every_function = pytest.mark.parametrize("name", FUNCTIONS)
every_argument = pytest.mark.parametrize(("name", "argument"), ARGUMENTS)


def call(name: str, robot: fd.Robot = ROBOT, lead: tuple[int, ...] = (), threads: int = 1, **changes):
    """Calls a function with well-formed arguments, except for `changes`."""
    row = FUNCTIONS[name]
    arguments = {field.name: np.ones(lead + core(robot, field)) for field in row.inputs}
    assert changes.keys() <= arguments.keys()
    return getattr(robot, name.partition(", ")[0])(**arguments | changes, threads=threads, **of_row(robot, row))


def shape_of(name: str, argument: str) -> tuple[int, ...]:
    """Of one sample."""
    (found,) = (core(ROBOT, field) for field in FUNCTIONS[name].inputs if field.name == argument)
    return found


WRONG = {  # shapes that are not a given one
    "one too many": lambda right: (*right[:-1], right[-1] + 1),
    "one too few": lambda right: (*right[:-1], right[-1] - 1),
    "a batch of one too many": lambda right: (3, *right[:-1], right[-1] + 1),
    "an axis too few": lambda right: right[:-1],
    "an axis of one behind": lambda right: (*right, 1),
    "an axis behind": lambda right: (3, *right, 4),
    "one number": lambda right: (1,),
    "a number": lambda right: (),
    "nothing": lambda right: (0,),
}


def raises(kind, *words):
    """An exception of this package whose message has these words in this order."""
    assert issubclass(kind, fd.FastdynError)
    return pytest.raises(kind, match="(?s)" + ".*".join(map(re.escape, words)))


def test_every_error_is_also_a_builtin_one():
    for kind, builtin in (
        (fd.RobotError, ValueError),
        (fd.ArgumentError, ValueError),
        (fd.ArgumentTypeError, TypeError),
        (fd.NotFiniteError, ValueError),
        (fd.SingularMassMatrixError, ArithmeticError),
    ):
        assert issubclass(kind, (fd.FastdynError,))
        assert issubclass(kind, builtin)


# ---------------------------------------------------------------------------------------------- shapes and types


@pytest.mark.parametrize(("name", "argument"), [pair for pair in ARGUMENTS if shape_of(*pair)])
@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_lengths_are_named(name, argument, wrong):
    right = shape_of(name, argument)
    shape = WRONG[wrong](right)
    call(name)  # whatever a good call leaves ready must not let a bad one through
    counted = [f"{N} joints"] * (right[0] == N)
    with raises(fd.ArgumentError, f"{argument} has shape {shape}", *counted, f"(..., {', '.join(map(str, right))})"):
        call(name, **{argument: np.ones(shape)})


@every_argument
@pytest.mark.parametrize("nested", [False, True])
def test_masked_arrays_are_refused(name, argument, nested):
    hidden = np.ma.masked_equal(np.ones((2, 2, *shape_of(name, argument))), 0.0)
    with raises(fd.ArgumentTypeError, f"{argument} is a masked array"):
        call(name, **{argument: list(hidden) if nested else hidden})


def test_a_masked_array_takes_no_result_and_describes_no_robot():
    with raises(fd.ArgumentTypeError, "out is a MaskedArray"):
        ROBOT.gravity_forces(np.zeros(N), out=np.ma.zeros(N))
    with raises(fd.ArgumentTypeError, "wrenches['link2'] is a masked array"):
        call("inverse_dynamics", wrenches={"link2": np.ma.zeros(6)})
    with raises(fd.RobotError, "link 'arm', com", "masked array"):
        fd.Link("arm", 1.0, np.ma.masked_equal([0.0, 1.0, 2.0], 1.0))
    with raises(fd.RobotError, "mount", "masked array"):
        ROBOT.with_mount(np.ma.array(np.eye(4)))
    with raises(fd.ArgumentError, "q is a masked array"):
        coordinates(ROBOT, np.ma.zeros(N))


@every_function
@pytest.mark.parametrize("dtype", [[], {}, [("x", float)], "float16", "nothing", int, object, 3, np.zeros(2), {"a": 1}])
def test_any_other_dtype_is_refused(name, dtype):
    row = FUNCTIONS[name]
    with raises(fd.ArgumentError, "dtype is", "expected float64 or float32"):
        computed(ROBOT, row, draw(ROBOT, row), dtype=dtype)


def test_wrenches_without_their_last_axis_are_refused():
    with raises(fd.ArgumentError, f"wrenches has shape ({N},)"):
        call("inverse_dynamics", wrenches=np.ones(N))


@every_argument
@pytest.mark.parametrize("kind", [complex, str, object, bool, "datetime64[s]", "S8", [("x", float)]])
def test_what_is_no_real_number_is_named(name, argument, kind):
    with raises(fd.ArgumentTypeError, f"{argument} has dtype", "expected real numbers"):
        call(name, **{argument: np.zeros(shape_of(name, argument), dtype=kind)})


@every_argument
def test_ragged_lists_are_named(name, argument):
    with raises(fd.ArgumentError, f"{argument} is not a rectangular array"):
        call(name, **{argument: [[1.0] * N, [1.0] * (N - 1)]})


@pytest.mark.parametrize(("name", "argument"), [(name, f.name) for name, row in FUNCTIONS.items() for f in row.reads])
@pytest.mark.parametrize("lead", [(), (3,)])
def test_missing_arguments_are_named(name, argument, lead):
    with raises(fd.ArgumentTypeError, argument):
        call(name, lead=lead, **{argument: None})


@every_function
@pytest.mark.parametrize("lead", [(), (3,)])
@pytest.mark.parametrize("threads", [0, -1, 1.5, 1.0, True, "2", None])
def test_bad_threads_are_refused(name, lead, threads):
    with raises(fd.ArgumentError, f"threads is {threads!r}", "whole number"):
        call(name, lead=lead, threads=threads)


@pytest.mark.parametrize("method", ["ABA", "", False, 3, []])
def test_unknown_methods_are_refused(method):
    with raises(fd.ArgumentError, f"method is {method!r}", "'aba' or 'crba'"):
        ROBOT.forward_dynamics(*np.zeros((3, N)), method=method)


# ---------------------------------------------------------------------------------------------- wrenches by name


def test_wrenches_on_unknown_links_are_refused():
    with raises(fd.ArgumentError, "wrenches names 'hand'", ROBOT.name, "link1"):
        call("inverse_dynamics", wrenches={"link1": np.ones(6), "hand": np.ones(6)})


@pytest.mark.parametrize("shape", [(), (5,), (7,), (6, 1)])
def test_wrenches_of_wrong_length_name_the_link(shape):
    with raises(fd.ArgumentError, f"wrenches['link2'] has shape {shape}", "(..., 6)"):
        call("inverse_dynamics", wrenches={"link2": np.ones(shape)})


@pytest.mark.parametrize("kind", [complex, str, object, bool])
def test_wrenches_that_are_no_real_numbers_name_the_link(kind):
    with raises(fd.ArgumentTypeError, "wrenches['link2'] has dtype"):
        call("inverse_dynamics", wrenches={"link2": np.zeros(6, dtype=kind)})


def test_ragged_wrenches_name_the_link():
    with raises(fd.ArgumentError, "wrenches['link2']"):
        call("inverse_dynamics", wrenches={"link2": [[1.0] * 6, [1.0] * 5]})


def test_wrenches_that_do_not_fit_together_are_refused():
    with raises(fd.ArgumentError, "wrenches"):
        call("inverse_dynamics", wrenches={"link1": np.ones((2, 6)), "link2": np.ones((3, 6))})


@pytest.mark.parametrize("link", ["link2", "base"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_wrenches_that_are_not_finite_are_refused(link, value):
    with raises(fd.NotFiniteError, "wrenches"):
        call("inverse_dynamics", wrenches={link: [0, 0, 0, 0, value, 0]})


# ---------------------------------------------------------------------------------------------- not finite


@every_argument
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(("lead", "threads"), [((), 1), ((3,), 1), ((2, 9), 1), ((MANY,), 3)])
def test_what_is_not_finite_is_named_with_its_place(name, argument, value, lead, threads):
    given = np.zeros(lead + shape_of(name, argument))
    place = tuple(length - 1 - (length > 2) for length in given.shape)
    given[place] = value
    index = ", ".join(map(str, place))
    with raises(fd.NotFiniteError, f"{argument}[{index}] is {value}", "finite"):
        call(name, lead=lead, threads=threads, **{argument: given})


@every_function
def test_what_is_not_finite_is_found_in_broadcast_arguments(name):
    q = np.zeros((4, 1, N))
    q[2, 0, 3] = np.nan
    with raises(fd.NotFiniteError, "q[2, 0, 3] is nan"):
        call(name, lead=(3,), q=q)


SLIDER = fd.Robot(
    [fd.Link("base"), *(fd.Link(name, 1.0, (1, 0, 0)) for name in ("arm", "slide")), fd.Link("sled", 2.0, (0, 1, 0))],
    [
        fd.Joint("hinge", "base", "arm"),
        fd.Joint("rail", "arm", "slide", "prismatic", axis=(1, 0, 0)),
        fd.Joint("short rail", "slide", "sled", "prismatic", axis=(1, 0, 0)),
    ],
    name="slider",
    gravity=(0, -1e200, 0),
)
FAR = [0.0, 1.7e308, 1.7e308]
BEYOND = {  # finite arguments, and results, or moments and squares on the way to them, that are not
    "inverse_dynamics": {"qd": [1e200, 0.0, 0.0]},
    "bias_forces": {"qd": [1e200, 0.0, 0.0]},
    "joint_reactions": {"qd": [1e200, 0.0, 0.0]},
    "kinetic_energy": {"qd": [1e200, 0.0, 0.0]},
    "coriolis_matrix": {"q": [0.0, 1e200, 0.0], "qd": [1e200, 0.0, 0.0]},
    "mass_matrix": {"q": [0.0, 1e200, 0.0]},
    "gravity_forces": {"q": [0.0, 1e200, 0.0]},
    "potential_energy": {"q": [1.0, 1e200, 0.0]},
    "center_of_mass": {"q": [0.0, 1.7e308, 0.0]},
    "momentum": {"q": [0.0, 1e200, 0.0], "qd": [1e200, 0.0, 0.0]},
    "forward_dynamics": {"qd": [1e200, 0.0, 0.0]},
    "forward_dynamics, crba": {"qd": [1e200, 0.0, 0.0]},
    **{key: {"q": FAR} for key in ("forward_kinematics", "link_poses", "jacobian", "pose_and_jacobian", "hessian")},
    "frame_velocity": {"q": [0.0, 1e200, 0.0], "qd": [1e200, 0.0, 0.0]},
    "frame_acceleration": {"qd": [1e200, 0.0, 0.0]},
    "jacobian_derivative": {"q": [0.0, 1e200, 0.0], "qd": [1e200, 0.0, 0.0]},
    "singular_values": {"q": [0.0, 1e200, 0.0]},
    "inverse_velocity": {"velocity": [1e200] * 6},
    "inverse_acceleration": {"qd": [1e200, 0.0, 0.0]},
    "static_torques": {"q": [0.0, 1e200, 0.0]},
    "task_dynamics": {"qd": [1e200, 0.0, 0.0]},
}


@every_function
def test_results_beyond_the_range_of_floats_are_errors(name):
    with raises(fd.NotFiniteError, "result of slider is beyond the range"):
        call(name, SLIDER, **BEYOND[name])
    batch = {argument: np.full((11, len(value)), 0.5) for argument, value in BEYOND[name].items()}
    for argument, value in BEYOND[name].items():
        batch[argument][9] = value
    with raises(fd.NotFiniteError, "result of slider at sample 9 is beyond the range"):
        call(name, SLIDER, lead=(11,), **batch)


@pytest.mark.parametrize("name", ["forward_dynamics", "forward_dynamics, crba"])
def test_an_inertia_beyond_the_range_of_floats_is_not_called_singular(name):
    with raises(fd.NotFiniteError, "result of slider is beyond the range"):
        call(name, SLIDER, q=[0.0, 1e200, 0.0])


@pytest.mark.parametrize("coupled", [False, True])
def test_moving_links_without_mass_have_no_centre_of_mass(coupled):
    links = [fd.Link("base", 1.0), fd.Link("rotor", 0.0, inertia=np.eye(3))]
    robot = fd.Robot(links, [fd.Joint("hinge", "base", "rotor")], name="flywheel", strict=None)
    robot = robot.coupled([[2.0]]) if coupled else robot
    for call in (lambda: robot.center_of_mass([0.1]), lambda: robot.momentum([0.1], [0.2])):
        with raises(fd.ArgumentError, "flywheel has no centre of mass: none of its moving links has mass"):
            call()


def test_angles_of_any_size_are_accepted():
    pendulum = fd.Robot(
        [fd.Link("base"), fd.Link("bob", 1.0, (1, 0, 0))], [fd.Joint("hinge", "base", "bob")], gravity=(0, -1, 0)
    )
    q = np.array([[1e6], [-1e7], [1e15], [1e100], [-1e300], [1e308], [5e-324], [0.0], [1.0]])
    expected = np.array([[math.cos(angle)] for angle in q[:, 0]])
    # one eps in the cosine, and half an ulp, eps / 4, in that of the C library and in each of two roundings
    tolerance = 1.75 * np.finfo(float).eps
    np.testing.assert_allclose(pendulum.gravity_forces(q), expected, rtol=0, atol=tolerance)
    for angle, cosine in zip(q, expected, strict=True):
        np.testing.assert_allclose(pendulum.gravity_forces(angle), cosine, rtol=0, atol=tolerance)


# ---------------------------------------------------------------------------------------------- singular mass matrices


def feather() -> fd.Robot:
    """Its last link has no mass. Joints come in another order than they stand on each other."""
    robot = any_robot("chain", 4, seed=2, prismatic=0.3)
    return fd.Robot([*robot.all_links[:-1], fd.Link("link4")], robot.all_joints[::-1], name="feather")


def swing() -> fd.Robot:
    """A point mass on an arm about y on a hub about z: at q2 = 0 it stands above the hub, which then turns nothing."""
    links = [fd.Link("base"), fd.Link("hub"), fd.Link("arm", mass=2.0, com=(0, 0, 1))]
    return fd.Robot(
        links, [fd.Joint("turn", "base", "hub"), fd.Joint("tilt", "hub", "arm", axis=(0, 1, 0))], name="swing"
    )


methods = pytest.mark.parametrize("method", ["aba", "crba"])


@methods
def test_a_joint_that_moves_no_mass_is_named(method):
    robot = feather()
    for lead, sample in (((), ""), ((3,), " at sample 0"), ((2, 30), " at sample 0, 0")):
        with raises(fd.SingularMassMatrixError, f"feather has a singular mass matrix{sample}: joint 'joint4'"):
            robot.forward_dynamics(*np.ones((3, *lead, robot.n)), method=method)
    assert robot.forward_dynamics(*np.ones((3, 0, robot.n)), method=method).shape == (0, robot.n)


@methods
@pytest.mark.parametrize("threads", [1, 2])
def test_the_sample_with_a_singular_mass_matrix_is_named(method, threads):
    robot = swing()
    q = np.ones((2, 800, 2))
    robot.forward_dynamics(q, q, q, method=method, threads=threads)
    q[1, 77, 1] = 0.0
    with raises(fd.SingularMassMatrixError, "swing has a singular mass matrix at sample 1, 77: joint 'turn'"):
        robot.forward_dynamics(q, np.ones(2), np.ones(2), method=method, threads=threads)
    with raises(fd.SingularMassMatrixError, "swing has a singular mass matrix: joint 'turn'"):
        robot.forward_dynamics(q[1, 77], np.ones(2), np.ones(2), method=method)


@methods
def test_a_rotor_or_any_mass_makes_it_regular(method):
    robot = feather()
    light = fd.Robot([*robot.all_links[:-1], fd.Link("link4", 1e-9, (1, 1, 1))], robot.all_joints)
    assert np.isfinite(light.forward_dynamics(*np.ones((3, robot.n)), method=method)).all()


@methods
def test_a_massless_link_between_others_is_regular(method):
    robot = swing()
    q, qd, tau = states(robot, 0, 10)
    assert np.isfinite(robot.forward_dynamics(q, qd, tau, method=method)).all()


@methods
def test_inverse_dynamics_needs_no_regular_mass_matrix(method):
    assert np.isfinite(feather().inverse_dynamics(*np.ones((3, 4)))).all()
