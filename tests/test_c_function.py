"""A robot as a C function: from C, from ctypes, from other compiled Python, from SciPy; with and without threads."""

from __future__ import annotations

import ctypes
import pickle
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from numba import carray, cfunc
from numba.core import config

import fastdyn as fd
from fastdyn import workspace
from fastdyn.calls import generate
from fastdyn.calls.bound import CFunction, c_functions, call_name, declaration
from fastdyn.quantities import ROWS, Quantity
from fastdyn.workspace import coupled_inverse_dynamics, gravity_forces, inverse_dynamics
from tests.samples import (
    FEW,
    GEARED,
    assert_rounded,
    c_function,
    computed,
    draw,
    each_row,
    geared,
    same,
    shapes,
)  # fmt: skip
from tests.samples import (
    bound as bound_robot,
)

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="C functions are machine code")

COMPILER = shutil.which("gcc") or shutil.which("cc")
FUNCTIONS = c_functions()
each_function = pytest.mark.parametrize("name", [name for name, (row, _) in FUNCTIONS.items() if row in FEW.values()])
POINTER = ctypes.POINTER(ctypes.c_double)


class Job(ctypes.Structure):
    """As in host.c."""

    _fields_ = [
        ("function", ctypes.c_void_p),
        ("workspace", ctypes.c_void_p),
        ("cycles", ctypes.c_int64),
        ("n", ctypes.c_int64),
        ("q", POINTER),
        ("qd", POINTER),
        ("qdd", POINTER),
        ("tau", POINTER),
        ("status", ctypes.c_int64),
        ("done", ctypes.c_int),
    ]


def pointer(array: np.ndarray) -> Any:
    return array.ctypes.data_as(POINTER)


def job(function: CFunction, motion: np.ndarray, tau: np.ndarray, memory: np.ndarray) -> Job:
    """motion: (3, cycles, n)."""
    cycles, n = tau.shape
    return Job(function.address, memory.ctypes.data, cycles, n, *map(pointer, motion), pointer(tau), 0, 0)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A shared library made from host.c."""
    if COMPILER is None:
        pytest.skip("there is no C compiler")
    target = tmp_path_factory.mktemp("host") / "host.so"
    source = Path(__file__).with_name("host.c")
    command = [COMPILER, "-O2", "-Wall", "-Werror", "-shared", "-fPIC", "-pthread", "-o", str(target), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return target


@pytest.fixture(params=[fd.robots.random_tree(7, seed=3, prismatic=0.3, drives=True), GEARED], ids=repr)
def robot(request) -> fd.Robot | fd.CoupledRobot:
    return request.param


def motion_of(robot: fd.Robot, cycles: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(3, cycles, robot.n))


def one_by_one(function: CFunction, motion: np.ndarray) -> np.ndarray:
    """The same function, called from Python."""
    memory = function.workspace()
    states = [dict(zip(("q", "qd", "qdd"), state, strict=True)) for state in motion.transpose(1, 0, 2)]
    return np.array([run(function, state, memory)[0] for state in states])


# ---------------------------------------------------------------------------------------------- from C


def test_a_c_loop_gives_what_python_gives(library, robot):
    function, motion = robot.c_function("inverse_dynamics"), motion_of(robot, 2000)
    tau, memory = np.zeros((2000, robot.n)), function.workspace()
    assert ctypes.CDLL(str(library)).run(ctypes.byref(job(function, motion, tau, memory))) == 0
    assert np.array_equal(tau, one_by_one(function, motion))


def test_a_c_loop_at_1_khz(library, robot):
    function, motion = robot.c_function("inverse_dynamics"), motion_of(robot, 200)
    tau, memory = np.zeros((200, robot.n)), function.workspace()
    host = ctypes.CDLL(str(library))
    host.run_timed.restype, host.run_timed.argtypes = ctypes.c_int64, (ctypes.POINTER(Job), ctypes.c_int64)
    assert host.run_timed(ctypes.byref(job(function, motion, tau, memory)), 1_000_000) >= 0
    assert np.array_equal(tau, one_by_one(function, motion))


def test_c_threads_need_no_gil(library, robot):
    function, motion = robot.c_function("inverse_dynamics"), motion_of(robot, 500)
    tau = np.zeros((4, 500, robot.n))
    memories = [function.workspace() for _ in tau]
    jobs = (Job * 4)(*[job(function, motion, *both) for both in zip(tau, memories, strict=True)])
    host = ctypes.PyDLL(str(library))  # PyDLL keeps the GIL while C waits for its threads
    assert host.run_in_threads(jobs, 4) == 0
    assert [each.status for each in jobs] == [0] * 4
    assert (tau == one_by_one(function, motion)).all()


def test_the_declaration_compiles(tmp_path):
    if COMPILER is None:
        pytest.skip("there is no C compiler")
    declarations = [declaration(name, *FUNCTIONS[name]) for name in FUNCTIONS]
    assert len(set(declarations)) == len(FUNCTIONS)
    source = tmp_path / "fastdyn.h.c"
    source.write_text("#include <stdint.h>\n" + "".join(f"{text};\n" for text in declarations))
    command = [COMPILER, "-Wall", "-Werror", "-fsyntax-only", str(source)]
    assert subprocess.run(command, capture_output=True, timeout=60).returncode == 0


# ---------------------------------------------------------------------------------------------- from ctypes


def through_ctypes(function: CFunction) -> Callable[..., int]:
    """As a user would: a prototype with as many pointers as the declaration has."""
    pointers = [ctypes.c_void_p] * function.declaration.count("*")
    return ctypes.CFUNCTYPE(ctypes.c_int64, *pointers)(function.address)


def run(function: CFunction, values: dict[str, np.ndarray], memory: np.ndarray) -> tuple[np.ndarray, ...]:
    """The results of a state; behind every array there is something that must stay as it is."""
    row, given = function.quantity, {name: value.copy() for name, value in values.items()}
    sizes = [int(np.prod(shape)) for shape in shapes(function.robot, row)]
    blocks = [np.full(size + 8, 7.0) for size in sizes]
    addresses = [array.ctypes.data for array in (*values.values(), *blocks, memory)]
    assert through_ctypes(function)(*addresses) == 0
    assert all((block[-8:] == 7.0).all() for block in blocks)
    assert same(tuple(values.values()), tuple(given.values()))
    return tuple(block[:-8].reshape(shape) for block, shape in zip(blocks, shapes(function.robot, row), strict=True))


@each_function
@pytest.mark.parametrize(
    "robot",
    [*(fd.robots.random_chain(n, seed=1, prismatic=0.3, drives=True) for n in (1, 6, 40)), geared(2, 1), GEARED],
    ids=repr,
)
def test_ctypes_gives_what_python_gives(name, robot):
    row, optional = FUNCTIONS[name]
    function, values = c_function(robot, name), draw(robot, row, optional=optional)
    memory = function.workspace()
    for _ in range(2):
        assert_rounded(run(function, values, memory), computed(robot, row, values), robot, row, values)


@pytest.mark.parametrize("row", [row for row in FEW.values() if row.optional], ids=lambda row: row.name)
def test_the_function_without_an_optional_input_ignores_what_is_left_in_the_workspace(robot, row):
    values = draw(robot, row, optional=True)
    (other,) = (name for name, function in FUNCTIONS.items() if function == (row, True))
    plain, loaded = c_function(robot, row.name), c_function(robot, other)
    without = {name: values[name] for name in draw(robot, row)}
    memory = loaded.workspace()
    with_it = run(loaded, values, memory)
    assert_rounded(run(plain, without, memory), computed(robot, row, without), robot, row, without)
    assert not same(with_it, computed(robot, row, without))
    assert same(run(loaded, values, memory), with_it)
    nothing = {**values, **{field.name: np.zeros_like(values[field.name]) for field in row.optional}}
    assert_rounded(run(loaded, nothing, memory), computed(robot, row, without), robot, row, without)


def test_every_quantity_has_a_function_and_those_with_an_optional_input_two():
    assert set(FUNCTIONS) - set(ROWS) == {
        "inverse_dynamics_with_wrenches",
        "forward_dynamics_with_wrenches",
        "forward_dynamics_crba_with_wrenches",
        "joint_reactions_with_wrenches",
        "frame_acceleration_with_qdd",
        "singular_values_with_axes",
        "inverse_velocity_with_preferred_axes_damping_tolerance",
        "inverse_acceleration_with_preferred_axes_damping_tolerance",
        "task_dynamics_with_axes",
    }
    function = fd.robots.puma560().c_function("forward_dynamics_with_wrenches")
    assert function.declaration == (
        "int64_t forward_dynamics_with_wrenches(const double *q, const double *qd, const double *tau, "
        "const double *wrenches, double *qdd, void *workspace)"
    )


@each_function
def test_what_is_not_finite_is_told_by_every_function(name):
    row, optional = FUNCTIONS[name]
    for robot in (fd.robots.random_chain(6, seed=1), GEARED):
        function = c_function(robot, name)
        call, memory = through_ctypes(function), function.workspace()
        out = [np.zeros(shape) for shape in shapes(robot, row)]
        for field in draw(robot, row, optional=optional):
            for value, status in ((np.nan, 1), (np.inf, 1), (0.5, 0)):
                values = draw(robot, row, optional=optional)
                values[field].flat[-1] = value
                arrays = (*values.values(), *out, memory)
                assert call(*(array.ctypes.data for array in arrays)) == status


def test_a_status_comes_back():
    robot = fd.Robot([fd.Link("base"), fd.Link("tip")], [fd.Joint("hinge", "base", "tip")], strict=None)
    function = robot.c_function("forward_dynamics")
    memory, (q, qd, tau, qdd) = function.workspace(), np.zeros((4, 1))
    arguments = [array.ctypes.data for array in (q, qd, tau, qdd, memory)]
    call = through_ctypes(function)
    assert robot.bind().explain(call(*arguments)) == "singular mass matrix: joint 'hinge' moves no inertia"
    q[0] = np.nan
    assert robot.bind().explain(call(*arguments)) == "an argument or a result is not finite"


def test_a_function_is_found_anew_after_pickling(robot):
    function = robot.c_function("gravity_forces")
    other = pickle.loads(pickle.dumps(function))
    assert (other.name, other.declaration) == (function.name, function.declaration)
    assert other.address == function.address  # in the same process


def test_a_name_that_is_none_is_told(robot):
    with pytest.raises(fd.ArgumentError, match="name is 'inverse_kinematics': expected one of 'inverse_dynamics', "):
        robot.c_function("inverse_kinematics")


# ---------------------------------------------------------------------------------------------- from @njit


@numba.njit
def swing_up(q, qd, qdd, tau, memory, angles):
    """A user's own compiled loop: the torque of the first joint, its angle going through the values given."""
    found = np.empty(len(angles))
    for k, angle in enumerate(angles):
        q[0] = angle
        if inverse_dynamics(memory) != 0:
            return found[:k]
        found[k] = tau[0]
    return found


def test_a_users_compiled_function_calls_the_kernels():
    robot = fd.robots.random_tree(7, seed=3, prismatic=0.3, drives=True)
    bound = robot.bind("inverse_dynamics")
    bound.qd[:], bound.qdd[:] = 0.3, -0.2
    angles = np.linspace(-1, 1, 50)
    found = swing_up(bound.q, bound.qd, bound.qdd, bound.tau, bound.address, angles)
    expected = []
    for angle in angles:
        q = np.zeros(robot.n)
        q[0] = angle
        expected.append(robot.inverse_dynamics(q, np.full(robot.n, 0.3), np.full(robot.n, -0.2))[0])
    # the user's function is compiled with the user's own options: what may differ is rounding
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())
    assert len(swing_up(bound.q, bound.qd, bound.qdd, bound.tau, bound.address, np.array([0.0, np.nan, 0.0]))) == 1


@each_row
@pytest.mark.parametrize("coupled", [False, True], ids=["joints", "coupled"])
def test_every_kernel_has_a_name_for_users_compiled_functions(row, coupled):
    kernel, entry = getattr(workspace, f"{'coupled_' * coupled}{row.name}"), generate.bound(row, coupled)
    head, test, refusal, *text = kernel.generated.splitlines()  # checks the kind of workspace, then is the bound call
    assert (test.split()[0], refusal.split()) == ("if", ["return", str(generate.WRONG_KIND)])
    assert [head.replace("(", "_bound(", 1), *text] == entry.py_func.generated.splitlines()


CALLED = {  # those that users' loops call, each kind of result, and a coupled robot's
    **{name: (getattr(workspace, name), False) for name in ("inverse_dynamics", "forward_dynamics", "mass_matrix")},
    **{
        name: (getattr(workspace, name), False)
        for name in ("bias_forces", "gravity_forces", "kinetic_energy", "momentum")
    },
    "coupled_inverse_dynamics": (coupled_inverse_dynamics, True),
}


@pytest.mark.parametrize("name", CALLED)
def test_kernels_can_be_called_from_compiled_functions(name):
    kernel, coupled = CALLED[name]
    call = numba.njit(lambda memory: kernel(memory))
    row: Quantity = ROWS[name.removeprefix("coupled_")]
    robot = GEARED if coupled else fd.robots.random_tree(7, seed=3, prismatic=0.3, drives=True)
    bound, twin, values = *(bound_robot(robot, row.name) for _ in range(2)), draw(robot, row, optional=True)
    for each in (bound, twin):
        for field, value in values.items():
            getattr(each, field)[:] = value
    assert call(bound.address) == getattr(twin, call_name(row))() == 0
    # the user's function is compiled with the user's own options: what may differ is rounding
    found, expected = ([getattr(each, field.name) for field in row.gives] for each in (bound, twin))
    assert_rounded(found, expected, robot, row, values)


def test_a_workspace_of_the_other_kind_of_robot_is_refused():
    plain, coupled = fd.robots.two_link().bind("inverse_dynamics"), GEARED.bind("inverse_dynamics")
    of_joints = numba.njit(lambda memory: inverse_dynamics(memory))
    of_coordinates = numba.njit(lambda memory: coupled_inverse_dynamics(memory))
    assert of_joints(plain.address) == of_coordinates(coupled.address) == 0
    for call, loop, message in (
        (of_joints, coupled, "a coupled robot's: expected a call of fastdyn.workspace.coupled_<quantity>"),
        (of_coordinates, plain, "a plain robot's: expected a call of fastdyn.workspace.<quantity>"),
    ):
        before = loop.workspace.copy()
        status = call(loop.address)
        assert status == -1
        assert loop.explain(status) == f"the workspace is {message}"
        assert loop.workspace.tobytes() == before.tobytes()


# ---------------------------------------------------------------------------------------------- as a callback


def shoulder_torque(bound: Any) -> Any:
    """A C callback, double(double, void *): the shoulder's gravity torque at an angle, on a bound robot's workspace."""
    size = bound.workspace.size
    shoulder, its_torque = ((view.ctypes.data - bound.address) // 8 + 1 for view in (bound.q, bound.tau))

    @cfunc("float64(float64, voidptr)")
    def torque(angle, memory):
        block = carray(memory, size, np.float64)
        block[shoulder] = angle
        gravity_forces(block.ctypes.data)
        return block[its_torque]

    return torque


@pytest.mark.parametrize("by", ["numpy", "scipy"])
def test_a_torque_is_integrated_without_python_in_between(by):
    """The work of holding a joint against gravity along its way is the change of potential energy."""
    robot = fd.robots.puma560().without_friction()
    bound = robot.bind("gravity_forces")
    bound.q[:] = 0.4
    torque = shoulder_torque(bound)
    address = bound.workspace.ctypes.data_as(ctypes.c_void_p)
    if by == "scipy":
        integrate, scipy = pytest.importorskip("scipy.integrate"), pytest.importorskip("scipy")
        function = scipy.LowLevelCallable(torque.ctypes, address)
        work, uncertainty = integrate.quad(function, -0.5, 1.0, epsabs=1e-12)
    else:  # Gauss-Legendre: the torque is a sine of the angle, for which 20 points are exact up to rounding
        points, weights = np.polynomial.legendre.leggauss(20)
        values = [torque.ctypes(angle, address) for angle in 0.25 + 0.75 * points]
        work, uncertainty = 0.75 * float(weights @ values), 0.0
    low, high = np.full((2, robot.n), 0.4)
    low[1], high[1] = -0.5, 1.0
    assert abs(work - (robot.potential_energy(high) - robot.potential_energy(low))) < 1e-11 + uncertainty
