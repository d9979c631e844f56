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
from fastdyn.calls import workspace
from fastdyn.calls.bound import CFunction
from fastdyn.calls.workspace import gravity_forces, inverse_dynamics, state_offset, workspace_size

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="C functions are machine code")

COMPILER = shutil.which("gcc") or shutil.which("cc")
ARGUMENTS = {
    "inverse_dynamics": ("q", "qd", "qdd"),
    "forward_dynamics": ("q", "qd", "tau"),
    "mass_matrix": ("q",),
    "bias_forces": ("q", "qd"),
    "gravity_forces": ("q",),
}
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


@pytest.fixture
def robot() -> fd.Robot:
    return fd.robots.random_tree(7, seed=3, prismatic=0.3, drives=True)


def motion_of(robot: fd.Robot, cycles: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(3, cycles, robot.n))


def one_by_one(robot: fd.Robot, motion: np.ndarray) -> np.ndarray:
    return np.array([robot.inverse_dynamics(*state) for state in motion.transpose(1, 0, 2)])


# ---------------------------------------------------------------------------------------------- from C


def test_a_c_loop_gives_what_python_gives(library, robot):
    function, motion = robot.c_function("inverse_dynamics"), motion_of(robot, 2000)
    tau, memory = np.zeros((2000, robot.n)), function.workspace()
    assert ctypes.CDLL(str(library)).run(ctypes.byref(job(function, motion, tau, memory))) == 0
    assert np.array_equal(tau, one_by_one(robot, motion))


def test_a_c_loop_at_1_khz(library, robot):
    function, motion = robot.c_function("inverse_dynamics"), motion_of(robot, 200)
    tau, memory = np.zeros((200, robot.n)), function.workspace()
    host = ctypes.CDLL(str(library))
    host.run_timed.restype, host.run_timed.argtypes = ctypes.c_int64, (ctypes.POINTER(Job), ctypes.c_int64)
    assert host.run_timed(ctypes.byref(job(function, motion, tau, memory)), 1_000_000) >= 0
    assert np.array_equal(tau, one_by_one(robot, motion))


def test_c_threads_need_no_gil(library, robot):
    function, motion = robot.c_function("inverse_dynamics"), motion_of(robot, 500)
    tau = np.zeros((4, 500, robot.n))
    memories = [function.workspace() for _ in tau]
    jobs = (Job * 4)(*[job(function, motion, *both) for both in zip(tau, memories, strict=True)])
    host = ctypes.PyDLL(str(library))  # PyDLL keeps the GIL while C waits for its threads
    assert host.run_in_threads(jobs, 4) == 0
    assert [each.status for each in jobs] == [0] * 4
    assert (tau == one_by_one(robot, motion)).all()


def test_the_declaration_compiles(robot, tmp_path):
    if COMPILER is None:
        pytest.skip("there is no C compiler")
    declarations = [robot.c_function(name).declaration for name in ARGUMENTS]
    source = tmp_path / "fastdyn.h.c"
    source.write_text("#include <stdint.h>\n" + "".join(f"{text};\n" for text in declarations))
    command = [COMPILER, "-Wall", "-Werror", "-fsyntax-only", str(source)]
    assert subprocess.run(command, capture_output=True, timeout=60).returncode == 0


# ---------------------------------------------------------------------------------------------- from ctypes


def through_ctypes(function: CFunction) -> Callable[..., int]:
    """As a user would: a prototype with as many pointers as the declaration has."""
    pointers = [ctypes.c_void_p] * function.declaration.count("*")
    return ctypes.CFUNCTYPE(ctypes.c_int64, *pointers)(function.address)


@pytest.mark.parametrize("name", ARGUMENTS)
@pytest.mark.parametrize("n", [1, 6, 40])
def test_ctypes_gives_what_python_gives(name, n):
    robot = fd.robots.random_chain(n, seed=1, prismatic=0.3, drives=True)
    function = robot.c_function(name)
    memory, values = function.workspace(), np.random.default_rng(n).normal(size=(3, n))[: len(ARGUMENTS[name])]
    expected = getattr(robot, name)(*values)
    # something behind the arrays would show a function that writes too far
    result = np.full(expected.size + 8, 7.0)
    given = values.copy()
    call = through_ctypes(function)
    assert call(*(value.ctypes.data for value in values), result.ctypes.data, memory.ctypes.data) == 0
    assert np.array_equal(result[:-8].reshape(expected.shape), expected)
    assert (result[-8:] == 7.0).all()
    assert np.array_equal(values, given)


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


def test_a_users_compiled_function_calls_the_kernels(robot):
    bound = robot.bind()
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


@pytest.mark.parametrize("name", ARGUMENTS)
def test_every_kernel_can_be_called_from_compiled_functions(robot, name):
    kernel = getattr(workspace, name)
    call = numba.njit(lambda memory: kernel(memory))
    bound, twin = robot.bind(), robot.bind()
    for each in (bound, twin):
        each.q[:], each.qd[:], each.qdd[:], each.tau[:] = np.random.default_rng(0).normal(size=(4, robot.n))
    assert call(bound.address) == getattr(twin, name)() == 0
    for result in ("qdd", "tau", "M"):
        scale = np.abs(getattr(twin, result)).max()
        np.testing.assert_allclose(getattr(bound, result), getattr(twin, result), rtol=1e-10, atol=1e-12 * scale)


# ---------------------------------------------------------------------------------------------- from SciPy


def test_scipy_integrates_a_torque_without_python_in_between():
    """The work of holding a joint against gravity along its way is the change of potential energy."""
    integrate = pytest.importorskip("scipy.integrate")
    from scipy import LowLevelCallable

    robot = fd.robots.puma560().without_friction()
    size, first = workspace_size(robot.n), state_offset(robot.n)
    shoulder, its_torque = first + 1, first + 3 * robot.n + 1  # in the order q, qd, qdd, tau

    @cfunc("float64(float64, voidptr)")
    def torque(angle, memory):
        block = carray(memory, size, np.float64)
        block[shoulder] = angle
        gravity_forces(block.ctypes.data)
        return block[its_torque]

    bound = robot.bind()
    bound.q[:] = 0.4
    function = LowLevelCallable(torque.ctypes, bound.workspace.ctypes.data_as(ctypes.c_void_p))
    work, uncertainty = integrate.quad(function, -0.5, 1.0, epsabs=1e-12)
    low, high = np.full((2, robot.n), 0.4)
    low[1], high[1] = -0.5, 1.0
    assert abs(work - (robot.potential_energy(high) - robot.potential_energy(low))) < 1e-11 + uncertainty
