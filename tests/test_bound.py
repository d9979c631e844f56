"""Bound calls give what the checked calls give, on memory that never moves, and cost nothing but the computation."""

from __future__ import annotations

import copy
import gc
import pickle
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
from fastdyn.calls import api, batch
from fastdyn.calls.bound import Bound
from fastdyn.calls.workspace import BOUND, C_FUNCTIONS, ONE_STATE, state_offset, workspace_size
from fastdyn.compiler.policy import Entry

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="bound calls are machine code")

EPS = np.finfo(float).eps
# by name: what it reads and what it writes
QUANTITIES = {
    "inverse_dynamics": (("q", "qd", "qdd"), "tau"),
    "forward_dynamics": (("q", "qd", "tau"), "qdd"),
    "mass_matrix": (("q",), "M"),
    "bias_forces": (("q", "qd"), "tau"),
    "gravity_forces": (("q",), "tau"),
}
ROBOTS = [
    *[fd.robots.random_chain(n, seed=n, prismatic=0.3, drives=bool(n % 2)) for n in (1, 2, 3, 5, 6, 7, 12, 24, 40)],
    *[fd.robots.random_tree(n, seed=n, prismatic=0.3, drives=bool(n % 2)) for n in (1, 2, 4, 7, 9, 17, 40)],
    fd.robots.random_chain(6, seed=1, prismatic=1.0, drives=True),
    fd.robots.puma560(),
    fd.robots.stanford(),
]
each_robot = pytest.mark.parametrize("robot", ROBOTS, ids=lambda robot: robot.name)
each_quantity = pytest.mark.parametrize("name", QUANTITIES)


def state(robot: fd.Robot, seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng([robot.n, seed])
    return dict(zip(("q", "qd", "qdd", "tau"), rng.normal(size=(4, robot.n)), strict=True))


def write(bound: Bound, values: dict[str, np.ndarray]) -> None:
    for name, value in values.items():
        getattr(bound, name)[:] = value


def all_entries() -> list[Entry]:
    compiled = [entry for entry in vars(batch).values() if isinstance(entry, Entry)]
    return [*compiled, *BOUND.values(), *(entry for entry, _ in C_FUNCTIONS.values()), *ONE_STATE.values()]


def compiled_so_far() -> list[int]:
    """How many kinds of arguments each entry has been compiled for."""
    return [0 if entry.dispatcher is None else len(entry.dispatcher.overloads) for entry in all_entries()]


# ---------------------------------------------------------------------------------------------- the same numbers


@each_robot
@each_quantity
def test_bound_calls_give_what_checked_calls_give(robot, name):
    bound, (reads, writes) = robot.bind(), QUANTITIES[name]
    for seed in range(5):
        values = state(robot, seed)
        write(bound, values)
        assert getattr(bound, name)() == 0
        expected = getattr(robot, name)(*(values[argument] for argument in reads))
        assert np.array_equal(getattr(bound, writes), expected)  # the same text, compiled the same way

        # the batch's text is compiled for lanes: what may differ is rounding, amplified as the problem amplifies it
        lanes = getattr(robot, name)(*(values[argument][None] for argument in reads))[0]
        if name == "forward_dynamics":
            M = robot.mass_matrix(values["q"])
            bias = robot.bias_forces(values["q"], values["qd"])
            scale = np.linalg.cond(M) * (np.abs(values["tau"]) + np.abs(bias)).max() / np.linalg.norm(M, 2)
        else:
            scale = np.abs(expected).max()
        assert np.abs(lanes - expected).max() <= 50 * robot.n * EPS * scale + 1e-300


@each_robot
@each_quantity
def test_of_the_state_only_the_result_changes(robot, name):
    bound, (_, writes) = robot.bind(), QUANTITIES[name]
    values = state(robot) | {"M": np.full((robot.n, robot.n), 7.0)}
    write(bound, values)
    model = bound.workspace[: state_offset(robot.n)].copy()
    getattr(bound, name)()
    for other in {"q", "qd", "qdd", "tau", "M"} - {writes}:
        assert np.array_equal(getattr(bound, other), values[other]), other
    assert bound.workspace[: state_offset(robot.n)].tobytes() == model.tobytes()


def test_results_do_not_depend_on_what_was_computed_before():
    robot = fd.robots.random_tree(9, seed=2, prismatic=0.3, drives=True)
    fresh, used = robot.bind(), robot.bind()
    for name in [*QUANTITIES, *reversed(QUANTITIES)]:
        for bound in (used, fresh):
            write(bound, state(robot))
        getattr(used, name)()
    for name, (_, writes) in QUANTITIES.items():
        fresh = robot.bind()
        for bound in (fresh, used):
            write(bound, state(robot))
            getattr(bound, name)()
        assert np.array_equal(getattr(fresh, writes), getattr(used, writes))


# ---------------------------------------------------------------------------------------------- memory


@each_robot
def test_views_share_one_memory_that_never_moves(robot):
    bound = robot.bind()
    views = [bound.q, bound.qd, bound.qdd, bound.tau, bound.M]
    places = [view.ctypes.data for view in views]
    for view in views:
        assert view.flags.writeable
        assert view.flags.c_contiguous
        assert np.shares_memory(view, bound.workspace)
    for i, one in enumerate(views):
        assert not any(np.shares_memory(one, other) for other in views[i + 1 :])
    assert bound.address == bound.workspace.ctypes.data
    assert bound.address % 64 == 0
    for name in QUANTITIES:
        getattr(bound, name)()
    gc.collect()
    assert [view.ctypes.data for view in (bound.q, bound.qd, bound.qdd, bound.tau, bound.M)] == places


def test_a_view_cannot_be_replaced_but_written_into():
    bound = fd.robots.two_link().bind()
    with pytest.raises(AttributeError, match=r"q of a bound robot cannot be replaced: .* loop\.q\[:\] = "):
        bound.q = np.zeros(2)
    bound.q += 1.0
    bound.q[:] *= 2.0
    assert bound.q.tolist() == [2.0, 2.0]


def test_a_call_kept_by_itself_keeps_its_memory():
    robot = fd.robots.random_chain(40, seed=1)
    calls = [robot.bind().inverse_dynamics for _ in range(20)]
    gc.collect()
    others = [np.full(workspace_size(40) + 8, 7.0) for _ in range(20)]  # would be where freed workspaces were
    assert [call() for call in calls] == [0] * 20
    assert all((other == 7.0).all() for other in others)


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy, lambda bound: pickle.loads(pickle.dumps(bound))])
def test_a_copy_has_memory_of_its_own(how):
    bound = fd.robots.puma560().bind()
    bound.q[:] = 0.3
    bound.gravity_forces()
    other = how(bound)
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
    other = how(robot)
    del robot
    gc.collect()
    others = [np.full(workspace_size(30) + 8, 7.0) for _ in range(20)]
    assert np.array_equal(other.gravity_forces(q), expected)
    assert all((block == 7.0).all() for block in others)


def test_nothing_to_move_is_nothing_to_bind():
    with pytest.raises(fd.ArgumentError, match="statue has no moving joint: there is nothing to bind"):
        fd.Robot([fd.Link("base")], [], name="statue").bind()


# ---------------------------------------------------------------------------------------------- status


@each_robot
@each_quantity
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_in_any_place_is_told(robot, name, value):
    bound, (reads, _) = robot.bind(), QUANTITIES[name]
    for argument in reads:
        for i in {0, robot.n // 2, robot.n - 1}:
            values = state(robot)
            values[argument][i] = value
            write(bound, values)
            status = getattr(bound, name)()
            assert bound.explain(status) == "an argument or a result is not finite"
            with pytest.raises(fd.NotFiniteError, match=argument):
                getattr(robot, name)(*(values[other] for other in reads))
    write(bound, state(robot))
    assert getattr(bound, name)() == 0  # nothing of it stays


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
    write(bound, state(robot))
    status = bound.forward_dynamics()
    assert status >= 2
    assert bound.explain(status) == "singular mass matrix: joint 'wrist' moves no inertia"
    with pytest.raises(fd.SingularMassMatrixError, match="'wrist' moves no inertia"):
        robot.forward_dynamics(bound.q, bound.qd, bound.tau)
    assert bound.inverse_dynamics() == 0 or not np.isfinite(bound.qdd).all()
    assert bound.explain(0) == "all is well"


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


@each_quantity
def test_calls_allocate_nothing(name, counters):
    bound = fd.robots.puma560().bind()
    write(bound, state(bound.robot))
    call = getattr(bound, name)
    repeated(call, 100)
    gc.collect()
    before = counters()
    repeated(call, 100_000)
    after = counters()
    assert after[0] == before[0]
    assert after[1] - before[1] < 10  # the figures themselves
    tracemalloc.start()
    try:
        repeated(call, 100)
        start = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        repeated(call, 1000)
        now, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert now - start < 500
    assert peak - start < 2000  # a frame and a few whole numbers; one array would be more


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the system does not tell")
def test_a_million_calls_need_no_memory():
    bound = fd.robots.puma560().bind()
    write(bound, state(bound.robot))
    calls = [getattr(bound, name) for name in QUANTITIES]
    for call in calls:
        repeated(call, 1000)
    gc.collect()
    before = resident()
    for call in calls:
        repeated(call, 200_000)
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


@each_quantity
@pytest.mark.parametrize("lead", [(), (1,), (3, 5)])
def test_no_kind_of_argument_compiles_anything_and_all_give_the_same(name, lead):
    robot, (reads, _) = fd.robots.random_tree(4, seed=1, prismatic=0.3, drives=True), QUANTITIES[name]
    fd.warmup(robot, [name])
    robot.bind()
    before = compiled_so_far()
    rng = np.random.default_rng(0)
    values = {argument: rng.integers(0, 4, (*lead, robot.n)).astype(float) for argument in reads}
    forms = {argument: layouts(values[argument]) for argument in reads}
    expected = getattr(robot, name)(*values.values())
    scale = np.abs(expected).max()
    for form in forms["q"]:
        found = getattr(robot, name)(*(forms[argument][form] for argument in reads))
        # one state takes another way if it is not float64: the same text, but compiled apart
        assert np.abs(found - expected).max() <= (0 if lead else 50 * robot.n * EPS * scale), form
    bound = robot.bind()
    for form in forms["q"] if lead == () else ():
        for argument in reads:
            getattr(bound, argument)[:] = forms[argument][form]
        assert getattr(bound, name)() == 0
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


def test_each_thread_with_a_bound_robot_of_its_own_gets_its_own_answers():
    robot = fd.robots.random_tree(12, seed=5, prismatic=0.3, drives=True)

    def job(seed: int) -> Callable[[], None]:
        bound, values = robot.bind(), state(robot, seed)
        expected = {name: getattr(robot, name)(*(values[a] for a in reads)) for name, (reads, _) in QUANTITIES.items()}

        def work() -> None:
            for _ in range(300):
                for name, (_, writes) in QUANTITIES.items():
                    write(bound, values)
                    assert getattr(bound, name)() == 0
                    assert np.array_equal(getattr(bound, writes), expected[name])

        return work

    together([job(seed) for seed in range(6)])


def test_the_checked_call_is_right_from_many_threads_at_once():
    shared = fd.robots.random_chain(12, seed=5, prismatic=0.3, drives=True)
    reference = copy.deepcopy(shared)  # so that the first calls on the shared one are made by all threads at once

    def job(seed: int) -> Callable[[], None]:
        values = state(reference, seed)
        jobs = [(name, [values[a] for a in reads]) for name, (reads, _) in QUANTITIES.items()]
        expected = {name: getattr(reference, name)(*arguments) for name, arguments in jobs}

        def work() -> None:
            for _ in range(300):
                for name, arguments in jobs:
                    assert np.array_equal(getattr(shared, name)(*arguments), expected[name])

        return work

    together([job(seed) for seed in range(6)])


def test_first_calls_from_many_threads_do_not_pull_memory_from_under_each_other(monkeypatch):
    made = []
    original = api.workspace

    def slow(model):
        memory = original(model)
        made.append(memory)
        threading.Event().wait(0.002)  # lets the other threads in
        return memory

    monkeypatch.setattr(api, "workspace", slow)
    robot = fd.robots.random_chain(8, seed=1)
    robot._tasks[api.GRAVITY_FORCES, None]  # makes the task
    z = np.zeros(8)
    together([lambda: (robot.gravity_forces(z), None)[1]] * 8)
    assert len(made) == 1  # a second one would replace, and so free, what a call under way works on
