"""Bound calls give what the checked calls give, on memory that never moves, and cost nothing but the computation."""

from __future__ import annotations

import copy
import gc
import pickle
import subprocess
import sys
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from numba.core import config
from numba.core.runtime import _nrt_python
from numba.core.runtime.nrt import rtsys

import fastdyn as fd
from fastdyn.calls import bound as bound_module
from fastdyn.calls import generate, headers, task
from fastdyn.calls.bound import Bound, c_functions, call_name
from fastdyn.compiler.entries import Entry
from fastdyn.quantities import GRAVITY_FORCES, METHODS, QUANTITIES, Quantity
from tests.samples import (
    FEW,
    GEARED,
    State,
    assert_rounded,
    computed,
    core,
    draw,
    each_row,
    few_rows,
    geared,
    part,
    same,
)  # fmt: skip
from tests.samples import (
    bound as bound_robot,
)

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="bound calls are machine code")

ROBOTS = [
    *[fd.robots.random_chain(n, seed=n, prismatic=0.3, drives=bool(n % 2)) for n in (1, 2, 3, 5, 6, 7, 12, 24, 40)],
    *[fd.robots.random_tree(n, seed=n, prismatic=0.3, drives=bool(n % 2)) for n in (1, 2, 4, 7, 9, 17, 40)],
    fd.robots.random_chain(6, seed=1, prismatic=1.0, drives=True),
    fd.robots.puma560(),
    fd.robots.stanford(),
    *[geared(n, m, seed=n) for n, m in ((1, 1), (2, 1), (7, 5), (12, 12))],
]
TREE, CHAIN = (make(12, seed=5, prismatic=0.3, drives=True) for make in (fd.robots.random_tree, fd.robots.random_chain))
each_robot = pytest.mark.parametrize("robot", ROBOTS, ids=repr)
# those of methods of robots; tests/test_controllers.py has the controllers
FIELDS = tuple(dict.fromkeys(field for row in QUANTITIES.values() for field in row.inputs + row.gives))
# all rows on one robot of each kind, and those of FEW on all robots
PAIRS = [(robot, row) for robot in ROBOTS for row in (QUANTITIES if robot.n == 7 or robot.coupling else FEW).values()]
each_pair = pytest.mark.parametrize(
    ("robot", "row"), PAIRS, ids=[f"{row.name}-{type(robot).__name__}-{robot.name}" for robot, row in PAIRS]
)
with_and_without = pytest.mark.parametrize("optional", [False, True], ids=["required inputs", "all inputs"])


def everything(robot: Any, seed: int = 0) -> State:
    """Random values of all fields."""
    rng = np.random.default_rng([robot.n, seed])
    return {field.name: rng.normal(size=core(robot, field)) for field in FIELDS}


def bind(robot: Any) -> Bound:
    """With every row of the table."""
    return bound_robot(robot, *QUANTITIES)


def write(bound: Bound, values: State) -> None:
    for name, value in values.items():
        getattr(bound, name)[...] = value


def call(bound: Bound, row: Quantity) -> Callable[[], int]:
    return getattr(bound, call_name(row))


def results(bound: Bound, row: Quantity) -> tuple[np.ndarray, ...]:
    return tuple(getattr(bound, field.name) for field in row.gives)


def all_entries() -> list[Entry]:
    found = [headers.WELL_FORMED]
    for coupled in (False, True):
        for row in QUANTITIES.values():
            found += [make(row, coupled) for make in (generate.batch, generate.bound, generate.single)]
        found += [generate.c_function(row, coupled, optional) for row, optional in c_functions().values()]
    return found


def compiled_so_far() -> list[int]:
    """How many kinds of arguments each entry has been compiled for."""
    return [0 if entry.dispatcher is None else len(entry.dispatcher.overloads) for entry in all_entries()]


# ---------------------------------------------------------------------------------------------- the same numbers


@each_pair
@with_and_without
def test_bound_calls_give_what_checked_calls_give(robot, row, optional):
    bound = bind(robot)
    for seed in range(3):
        values = draw(robot, row, seed=seed, optional=optional)
        write(bound, values)
        assert call(bound, row)() == 0
        assert_rounded(results(bound, row), computed(robot, row, values), robot, row, values)
        lanes = computed(robot, row, {name: value[None] for name, value in values.items()})
        assert_rounded(results(bound, row), part(lanes, 0), robot, row, values)


@each_pair
def test_of_the_state_only_the_result_changes(robot, row):
    bound = bind(robot)
    values = everything(robot)
    write(bound, values)
    model = bound.workspace[: (bound.q.ctypes.data - bound.address) // 8].copy()
    assert call(bound, row)() == 0
    for other in values.keys() - {field.name for field in row.gives}:
        assert np.array_equal(getattr(bound, other), values[other]), other
    assert bound.workspace[: len(model)].tobytes() == model.tobytes()
    for field in row.gives:
        assert not np.array_equal(getattr(bound, field.name), values[field.name])


@pytest.mark.parametrize("robot", [TREE, GEARED], ids=repr)
def test_results_do_not_depend_on_what_was_computed_before(robot):
    used = bind(robot)
    for row in [*QUANTITIES.values(), *reversed(QUANTITIES.values())]:
        write(used, everything(robot))
        call(used, row)()
    for row in QUANTITIES.values():
        fresh = bind(robot)
        for bound in (fresh, used):
            write(bound, everything(robot))
            assert call(bound, row)() == 0
        assert same(results(fresh, row), results(used, row))


# ---------------------------------------------------------------------------------------------- optional inputs


@pytest.mark.parametrize("row", [row for row in QUANTITIES.values() if row.optional], ids=lambda row: row.name)
@pytest.mark.parametrize("robot", [ROBOTS[6], GEARED], ids=repr)
def test_an_optional_input_of_zeros_is_none(row, robot):
    bound, values = bound_robot(robot, row.name), draw(robot, row, optional=True)
    without, given = draw(robot, row), [getattr(bound, field.name) for field in row.optional]
    nothing = {field.name: np.zeros(core(robot, field)) for field in row.optional}
    assert not any(array.any() for array in given)  # at first
    write(bound, values)
    assert call(bound, row)() == 0
    loaded = [array.copy() for array in results(bound, row)]
    without = {name: values[name] for name in without}
    for zero in (0.0, -0.0):
        write(bound, dict.fromkeys(nothing, zero))
        assert call(bound, row)() == 0
        assert_rounded(results(bound, row), computed(robot, row, without), robot, row, without)
        assert not np.array_equal(loaded[0], results(bound, row)[0])
    for field, array in zip(row.optional, given, strict=True):
        for i in {0, array.size // 2, array.size - 1}:  # one component alone counts
            write(bound, nothing)
            array.flat[i] = 0.5
            assert call(bound, row)() == 0
            values = {**without, **nothing, field.name: array.copy()}
            assert_rounded(results(bound, row), computed(robot, row, values), robot, row, values)


# ---------------------------------------------------------------------------------------------- which calls


def test_only_the_calls_that_are_named_are_compiled(monkeypatch):
    asked, make = [], generate.bound
    monkeypatch.setattr(
        bound_module.generate, "bound", lambda row, coupled: asked.append(row.name) or make(row, coupled)
    )
    loop = fd.robots.puma560().bind("gravity_forces", "momentum")
    assert asked == ["gravity_forces", "momentum"]
    assert loop.gravity_forces() == loop.compute_momentum() == 0
    with pytest.raises(AttributeError, match=r"a bound robot has no 'mass_matrix': expected one of .*gravity_forces"):
        loop.mass_matrix()
    assert not hasattr(loop, "M")
    asked.clear()
    everything = fd.robots.puma560().bind()
    assert asked == [rows[0].name for rows in METHODS.values()]
    assert {row.name for rows in METHODS.values() for row in rows[:1]} == set(everything.quantities)


def test_in_a_fresh_process_bind_compiles_one_function_for_each_name():
    job = """
import warnings; warnings.simplefilter("ignore")
import fastdyn as fd
from tests.test_bound import all_entries
loop = fd.robots.two_link().bind("potential_energy")
loop.potential_energy()
print([entry.__name__ for entry in all_entries() if entry.dispatcher is not None])
"""
    done = subprocess.run([sys.executable, "-c", job], capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == "['potential_energy_bound']", done.stderr


def test_momentum_is_the_result_and_compute_momentum_the_call():
    robot, values = fd.robots.puma560(), {"q": np.full(6, 0.3), "qd": np.full(6, 0.2)}
    loop = robot.bind("momentum")
    write(loop, values)
    assert loop.compute_momentum() == 0
    assert_rounded((loop.momentum,), (robot.momentum(**values),), robot, QUANTITIES["momentum"], values)


def test_a_name_that_is_none_is_told():
    with pytest.raises(fd.ArgumentError, match="bind names 'inverse_kinematics': expected some of 'inv"):
        fd.robots.puma560().bind("mass_matrix", "inverse_kinematics")


def test_every_result_has_a_field():
    loop = fd.robots.puma560().bind()
    shapes = {
        "q": (6,), "qd": (6,), "qdd": (6,), "tau": (6,), "wrenches": (6, 6), "M": (6, 6), "C": (6, 6),
        "reactions": (6, 6), "kinetic": (), "potential": (), "momentum": (6,), "com": (3,), "pose": (4, 4),
        "poses": (6, 4, 4), "J": (6, 6), "velocity": (6,), "acceleration": (6,), "dJ": (6, 6), "H": (6, 6, 6),
        "preferred": (6,), "axes": (6,), "damping": (), "tolerance": (), "rank": (), "residual": (), "sigma": (6,),
        "wrench": (6,), "Lambda": (6, 6), "mu": (6,), "p": (6,), "kept": (6,),
    }  # fmt: skip
    assert {name: getattr(loop, name).shape for name in shapes} == shapes
    assert {field.name for field in FIELDS} == set(shapes)


# ---------------------------------------------------------------------------------------------- memory


@each_robot
def test_views_share_one_memory_that_never_moves(robot):
    bound = bind(robot)
    views = [getattr(bound, field.name) for field in FIELDS]
    places = [view.ctypes.data for view in views]
    for view, field in zip(views, FIELDS, strict=True):
        assert view.shape == core(robot, field)
        assert view.flags.writeable
        assert view.flags.c_contiguous
        assert np.shares_memory(view, bound.workspace)
    for i, one in enumerate(views):
        assert not any(np.shares_memory(one, other) for other in views[i + 1 :])
    assert bound.address == bound.workspace.ctypes.data
    assert bound.address % 64 == 0
    for row in QUANTITIES.values():
        call(bound, row)()
    gc.collect()
    assert [getattr(bound, field.name).ctypes.data for field in FIELDS] == places


def test_a_view_cannot_be_replaced_but_written_into():
    bound = fd.robots.two_link().bind()
    with pytest.raises(AttributeError, match=r"q of a bound robot cannot be replaced: .* loop\.q\[:\] = "):
        bound.q = np.zeros(2)
    bound.q += 1.0
    bound.q[:] *= 2.0
    assert bound.q.tolist() == [2.0, 2.0]


def test_a_call_kept_by_itself_keeps_its_memory():
    robot = fd.robots.random_chain(40, seed=1)
    size = robot.bind("inverse_dynamics").workspace.size
    calls = [robot.bind("inverse_dynamics").inverse_dynamics for _ in range(20)]
    gc.collect()
    others = [np.full(size + 8, 7.0) for _ in range(20)]  # would be where freed workspaces were
    assert [call() for call in calls] == [0] * 20
    assert all((other == 7.0).all() for other in others)


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy, lambda bound: pickle.loads(pickle.dumps(bound))])
def test_a_copy_has_memory_of_its_own(how):
    bound = fd.robots.puma560().bind("gravity_forces")
    bound.q[:] = 0.3
    bound.gravity_forces()
    other = how(bound)
    assert other.quantities == ("gravity_forces",)
    assert np.array_equal(other.tau, bound.tau)
    tau = bound.tau.copy()
    other.q[:] = -1.0
    assert other.gravity_forces() == 0
    assert not np.array_equal(other.tau, tau)
    assert np.array_equal(bound.tau, tau)
    assert np.shares_memory(other.q, other.workspace)


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy, lambda robot: pickle.loads(pickle.dumps(robot))])
def test_a_copy_of_a_used_robot_works_when_the_original_is_gone(how):
    robot = fd.robots.random_chain(30, seed=1)
    q = np.full(30, 0.3)
    expected = robot.gravity_forces(q)  # from here on it has memory
    size = robot.task(GRAVITY_FORCES).workspace.memory.size
    other = how(robot)
    del robot
    gc.collect()
    others = [np.full(size + 8, 7.0) for _ in range(20)]
    assert np.array_equal(other.gravity_forces(q), expected)
    assert all((block == 7.0).all() for block in others)


def test_nothing_to_move_is_nothing_to_bind():
    with pytest.raises(fd.ArgumentError, match="statue has no moving joint: there is nothing to bind"):
        fd.Robot([fd.Link("base")], [], name="statue").bind()


# ---------------------------------------------------------------------------------------------- status


@each_pair
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_in_any_place_is_told(robot, row, value):
    bound = bound_robot(robot, row.name)
    for field in row.inputs:
        size = int(np.prod(core(robot, field)))
        for i in {0, size // 2, size - 1}:
            values = draw(robot, row, optional=True)
            values[field.name].flat[i] = value
            write(bound, values)
            status = call(bound, row)()
            assert bound.explain(status) == "an argument or a result is not finite"
            with pytest.raises(fd.NotFiniteError, match=field.name):
                computed(robot, row, values)
    write(bound, draw(robot, row, optional=True))
    assert call(bound, row)() == 0  # nothing of it stays


def test_a_result_beyond_the_range_of_float64_is_told():
    bound = fd.robots.puma560().bind()
    bound.qd[:] = 1e200
    assert bound.explain(bound.bias_forces()) == "an argument or a result is not finite"


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_a_joint_that_moves_no_inertia_is_named(order):
    links = [fd.Link("base"), fd.Link("upper", 2.0, (0, 0, 0.3)), fd.Link("lower", 1.0, (0, 0, 0.2)), fd.Link("tip")]
    joints = [
        fd.Joint("shoulder", "base", "upper", axis=(0, 1, 0)),
        fd.Joint("elbow", "upper", "lower", axis=(0, 1, 0)),
        fd.Joint("wrist", "lower", "tip", axis=(1, 0, 0)),
    ]
    robot = fd.Robot(links, [joints[i] for i in order], name="arm", strict=None)
    bound = robot.bind()
    write(bound, everything(robot))
    status = bound.forward_dynamics()
    assert status >= 2
    assert bound.explain(status) == "singular mass matrix: joint 'wrist' moves no inertia"
    with pytest.raises(fd.SingularMassMatrixError, match="'wrist' moves no inertia"):
        robot.forward_dynamics(bound.q, bound.qd, bound.tau)
    assert bound.inverse_dynamics() == 0 or not np.isfinite(bound.qdd).all()
    assert bound.explain(0) == "all is well"


@pytest.mark.parametrize("status", [1000, -2, 2 * 6 + 2, True, 0.0, None, "1"])
def test_what_is_no_status_is_not_explained(status):
    bound = fd.robots.puma560().bind("gravity_forces")
    with pytest.raises(fd.ArgumentError, match=f"status is {status!r}: expected .* -1 to 13"):
        bound.explain(status)


def test_a_coordinate_that_moves_no_inertia_is_named():
    arm = fd.Robot([fd.Link("base"), fd.Link("tip")], [fd.Joint("hinge", "base", "tip")], strict=None)
    bound = arm.coupled([[2.0]], names=("crank",)).bind("forward_dynamics", "forward_dynamics_crba")
    for name in bound.quantities:
        message = bound.explain(getattr(bound, name)())
        assert message == "singular mass matrix: coordinate 'crank' moves no inertia that those before it do not"


# ---------------------------------------------------------------------------------------------- no allocation


def resident() -> int:
    """Pages of this process that are in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1])


@pytest.fixture
def counters() -> Iterator[Callable[[], tuple[Any, int]]]:
    """What Numba and Python have allocated: Numba's counters, Python's blocks."""
    _nrt_python.memsys_enable_stats()
    yield lambda: (rtsys.get_allocation_stats(), sys.getallocatedblocks())
    _nrt_python.memsys_disable_stats()


def test_the_counters_count(counters):
    allocates = numba.njit(lambda n: np.zeros(n))
    allocates(3)
    gc.collect()
    before = counters()
    kept = [allocates(3) for _ in range(20)]
    after = counters()
    assert after[0].alloc >= before[0].alloc + len(kept)
    assert after[1] >= before[1] + len(kept)


def repeated(call: Callable[[], Any], times: int) -> None:
    for _ in range(times):
        call()


@few_rows
@pytest.mark.parametrize("robot", [fd.robots.puma560(), GEARED], ids=repr)
def test_calls_allocate_nothing(row, robot, counters):
    bound = bound_robot(robot, row.name)
    write(bound, draw(robot, row, optional=True))
    compute = call(bound, row)
    repeated(compute, 100)
    gc.collect()
    before = counters()
    repeated(compute, 100_000)
    after = counters()
    assert after[0] == before[0]
    assert after[1] - before[1] < 10  # the figures themselves
    tracemalloc.start()
    try:
        repeated(compute, 100)
        start = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        repeated(compute, 1000)
        now, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert now - start < 500
    assert peak - start < 2000  # a frame and a few whole numbers; one array would be more


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the system does not tell")
def test_a_million_calls_need_no_memory():
    bound = bind(fd.robots.puma560())
    write(bound, everything(bound.robot))
    calls = [call(bound, row) for row in FEW.values()]
    for compute in calls:
        repeated(compute, 1000)
    gc.collect()
    before = resident()
    for compute in calls:
        repeated(compute, 1_000_000 // len(calls))
    assert resident() - before <= 4  # pages of 4 kB: other parts of the process may have touched some


def test_checked_calls_keep_no_memory(counters):
    robot = fd.robots.two_link()
    q = np.zeros(2)
    repeated(lambda: robot.gravity_forces(q), 1000)
    gc.collect()
    before = counters()
    repeated(lambda: robot.gravity_forces(q), 200_000)
    after = counters()
    assert after[0] == before[0]
    assert after[1] - before[1] < 20


# ---------------------------------------------------------------------------------------------- no compilation


def layouts(array: np.ndarray) -> dict[str, Any]:
    """The same numbers (small whole ones) in every form that checked calls accept."""
    if not array.ndim:
        return dict.fromkeys(layouts(np.ones(1)), array)
    spaced = np.zeros((*array.shape[:-1], 2 * array.shape[-1]))
    spaced[..., ::2] = array
    fixed = array.copy()
    fixed.flags.writeable = False
    backward = array[..., ::-1].copy()[..., ::-1]
    return {
        "float64": array,
        "float32": array.astype(np.float32),
        "float16": array.astype(np.float16),
        "long double": array.astype(np.longdouble),
        "int64": array.astype(np.int64),
        "int8": array.astype(np.int8),
        "uint16": np.abs(array).astype(np.uint16),
        "big-endian": array.astype(">f8"),
        "big-endian int": array.astype(">i4"),
        "list": array.tolist(),
        "tuple": tuple(array.tolist()),
        "strided": spaced[..., ::2],
        "backward": backward,
        "read-only": fixed,
        "Fortran": np.asfortranarray(array),
        "unaligned": np.frombuffer(b"\0" + array.tobytes(), np.float64, array.size, offset=1).reshape(array.shape),
    }


@each_row
@pytest.mark.parametrize("robot", [fd.robots.random_tree(4, seed=1, prismatic=0.3, drives=True), GEARED], ids=repr)
@pytest.mark.parametrize("lead", [(), (1,), (3, 5)])
def test_no_kind_of_argument_compiles_anything_and_all_give_the_same(row, robot, lead):
    fd.warmup(robot, [row.name.removesuffix(f"_{row.method}")])
    bound = bound_robot(robot, row.name)
    before = compiled_so_far()
    values = {name: np.rint(value) for name, value in draw(robot, row, *lead).items()}
    values = {name: np.abs(value) for name, value in values.items()}  # some layouts are unsigned
    forms = {name: layouts(value) for name, value in values.items()}
    expected = computed(robot, row, values)
    for form in forms["q"]:
        given = {name: forms[name][form] for name in values}
        assert same(computed(robot, row, given), expected), form
        if lead == ():
            write(bound, given)
            assert call(bound, row)() == 0
            assert_rounded(results(bound, row), expected, robot, row, values)
    assert compiled_so_far() == before


# ---------------------------------------------------------------------------------------------- threads


def together(jobs: list[Callable[[], None]]) -> None:
    """Runs jobs in threads that all start at once; raises what any of them raised."""
    start, problems = threading.Barrier(len(jobs)), []

    def run(job: Callable[[], None]) -> None:
        start.wait()
        try:
            job()
        except BaseException as problem:
            problems.append(problem)

    threads = [threading.Thread(target=run, args=(job,)) for job in jobs]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    if problems:
        raise problems[0]


@pytest.mark.parametrize("robot", [TREE, GEARED], ids=repr)
def test_each_thread_with_a_bound_robot_of_its_own_gets_its_own_answers(robot):
    def job(seed: int) -> Callable[[], None]:
        bound = bind(robot)
        states = {row: draw(robot, row, seed=seed, optional=True) for row in QUANTITIES.values()}

        def answer(row: Quantity) -> tuple[np.ndarray, ...]:
            write(bound, states[row])
            assert call(bound, row)() == 0
            return tuple(array.copy() for array in results(bound, row))

        expected = {row: answer(row) for row in states}

        def work() -> None:
            for _ in range(100):
                for row in states:
                    assert same(answer(row), expected[row])

        return work

    together([job(seed) for seed in range(6)])


@pytest.mark.parametrize("shared", [CHAIN, geared(7, 4)], ids=repr)
def test_the_checked_call_is_right_from_many_threads_at_once(shared):
    reference = copy.deepcopy(shared)  # so that the first calls on the shared one are made by all threads at once

    def job(seed: int) -> Callable[[], None]:
        states = {row: draw(reference, row, seed=seed, optional=True) for row in QUANTITIES.values()}
        expected = {row: computed(reference, row, values) for row, values in states.items()}

        def work() -> None:
            for _ in range(100):
                for row, values in states.items():
                    assert same(computed(shared, row, values), expected[row])

        return work

    together([job(seed) for seed in range(6)])


def test_first_calls_from_many_threads_do_not_pull_memory_from_under_each_other(monkeypatch):
    made = []

    class Slow(task.Workspace):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            made.append(self)
            threading.Event().wait(0.002)  # lets the other threads in

    monkeypatch.setattr(task, "Workspace", Slow)
    robot = fd.robots.random_chain(8, seed=1)
    robot.task(GRAVITY_FORCES)  # makes the task
    z = np.zeros(8)
    together([lambda: (robot.gravity_forces(z), None)[1]] * 8)
    assert len(made) == 1  # a second one would replace, and so free, what a call under way works on
