"""Shapes, types, `out=` and threads: a batch gives what its samples give, wherever they stand in it."""

from __future__ import annotations

import copy
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np
import pytest

import fastdyn as fd
from fastdyn.calls import threads as calls_threads
from fastdyn.calls.task import Task
from fastdyn.quantities import BIAS_FORCES
from tests.samples import (
    ARM,
    assert_rounded,
    changed,
    computed,
    core,
    draw,
    each_row,
    on_both,
    part,
    same,
    shapes,
    states,
    watch_helpers,
)  # fmt: skip

N = ARM.n

# ---------------------------------------------------------------------------------------------- shapes


@each_row
@on_both
@pytest.mark.parametrize("lead", [(), (1,), (5,), (0,), (2, 3), (2, 0, 3), (1, 2, 1, 3)])
def test_leading_axes_are_kept(row, robot, lead):
    results = computed(robot, row, draw(robot, row, *lead))
    assert [np.shape(result) for result in results] == shapes(robot, row, *lead)
    assert {result.dtype for result in results} == {np.dtype(np.float64)}


@each_row
@on_both
@pytest.mark.parametrize("optional", [False, True])
def test_samples_of_a_batch_are_what_each_gives_alone(row, robot, optional):
    given = draw(robot, row, 2, 3, optional=optional)
    batch = computed(robot, row, given)
    for place in np.ndindex(2, 3):
        one = part(given, place)
        assert_rounded(part(batch, place), computed(robot, row, one), robot, row, one)


@each_row
@on_both
def test_leading_axes_broadcast(row, robot):
    given = draw(robot, row, 4, 3, optional=True)
    cuts = [np.s_[:], np.s_[0], np.s_[0, 0], np.s_[:1], np.s_[:, :1]]
    for turn in range(len(cuts)):
        chosen = {name: value[cuts[(turn + k) % len(cuts)]] for k, (name, value) in enumerate(given.items())}
        cores = {name: value.shape[2:] for name, value in given.items()}
        leads = [chosen[name].shape[: chosen[name].ndim - len(cores[name])] for name in chosen]
        lead = np.broadcast_shapes(*leads)
        full = {name: np.broadcast_to(value, lead + cores[name]) for name, value in chosen.items()}
        if lead:
            assert same(computed(robot, row, chosen), computed(robot, row, full))


def spread(value):
    """The same values in Fortran order, every second sample of an array twice as long, and columns of a wider table."""
    wider = np.zeros((*value.shape[:-1], value.shape[-1] + 2))[..., 1:-1]
    wider[...] = value
    return [np.asfortranarray(value), np.repeat(value, 2, axis=0)[::2], wider]


@each_row
@on_both
def test_arrays_of_any_strides_are_read_and_written_where_they_are(row, robot, monkeypatch):
    used = []

    def recorded(task, arrays, samples, targets, *rest):
        used.append((samples, targets))
        return compute(task, arrays, samples, targets, *rest)

    given = draw(robot, row, 21)
    usual = computed(robot, row, given)
    compute = Task._compute
    monkeypatch.setattr(Task, "_compute", recorded)
    for k in range(3):
        strided = {name: spread(value)[k] for name, value in given.items()}
        assert same(computed(robot, row, strided), usual)
        samples, _ = used.pop()
        assert all(np.shares_memory(a, b) for a, b in zip(strided.values(), samples, strict=False))
    # matrices in Fortran order are no (T, columns), single numbers are in C order, too
    vectors = all(result.ndim == 2 for result in usual)
    out = tuple(np.full(result.shape, 7.0, order="F") for result in usual)
    assert all(a is b for a, b in zip(computed(robot, row, given, out=out), out, strict=True))
    assert same(tuple(map(np.ascontiguousarray, out)), usual)
    assert not vectors or all(np.shares_memory(a, b) for a, b in zip(out, used.pop()[1], strict=True))
    assert all(result.flags.c_contiguous for result in computed(robot, row, strided))


def test_wrenches_broadcast_against_states():
    q, qd, qdd = states(ARM, 2, 5)
    W = np.random.default_rng(0).normal(size=(N, 6))
    one = ARM.inverse_dynamics(q, qd, qdd, W)
    assert np.array_equal(one, ARM.inverse_dynamics(q, qd, qdd, np.broadcast_to(W, (5, N, 6))))
    many = ARM.inverse_dynamics(q[0], qd[0], qdd[0], np.stack([W, 2 * W, 3 * W]))
    assert many.shape == (3, N)
    by_name = ARM.inverse_dynamics(q, qd, qdd, {link.name: w for link, w in zip(ARM.links, W, strict=True)})
    assert np.array_equal(one, by_name)


def test_axes_that_do_not_fit_together_are_named():
    with pytest.raises(fd.ArgumentError, match=r"batch axes.*q \(2, 7\), qd \(3, 7\)"):
        ARM.bias_forces(np.zeros((2, N)), np.zeros((3, N)))


# ---------------------------------------------------------------------------------------------- position and threads


@each_row
@on_both
def test_results_do_not_depend_on_the_length_of_the_batch(row, robot):
    given = draw(robot, row, 40, optional=True)
    whole = computed(robot, row, given)
    for T in range(41):
        assert same(computed(robot, row, part(given, np.s_[:T])), part(whole, np.s_[:T])), f"{T} samples"


@each_row
@on_both
def test_results_do_not_depend_on_the_place_in_the_batch(row, robot):
    given = draw(robot, row, 30)
    whole = computed(robot, row, given)
    for first in range(10):
        rest = np.s_[first:]
        assert same(computed(robot, row, part(given, rest)), part(whole, rest)), f"from sample {first} on"
    assert same(computed(robot, row, part(given, np.s_[::-1])), part(whole, np.s_[::-1]))


@each_row
@on_both
@pytest.mark.parametrize("optional", [False, True])
def test_results_do_not_depend_on_threads(row, robot, optional, monkeypatch):
    given = draw(robot, row, 149, optional=optional)  # no multiple of anything
    one = computed(robot, row, given)
    taken = watch_helpers(monkeypatch)
    for threads in (2, 3, 1000, np.int64(2)):
        taken.clear()
        assert same(computed(copy.copy(robot), row, given, threads=threads), one)
        assert taken  # by helper threads


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="takes long in plain Python")
def test_long_batches_do_not_depend_on_threads(monkeypatch):
    """With steps as long as they are: enough samples for three threads."""
    monkeypatch.setattr(calls_threads, "_cores", lambda: 3)
    robot, T = fd.robots.random_chain(40, seed=1), 20_000
    assert calls_threads.useful(3, T, robot.task(BIAS_FORCES).worth) == 3
    q, qd = states(robot, 5, T)[:2]
    one = robot.bias_forces(q, qd)
    for threads in (2, 3):
        assert np.array_equal(robot.bias_forces(q, qd, threads=threads), one)


def test_several_python_threads_may_use_one_robot(monkeypatch):
    q, qd, qdd = states(ARM, 6, 200 if numba.config.DISABLE_JIT else 2000)
    expected = ARM.inverse_dynamics(q, qd, qdd)
    taken, robot = watch_helpers(monkeypatch), copy.copy(ARM)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda k: robot.inverse_dynamics(q, qd, qdd, threads=1 + k % 3), range(12)))
    assert all(np.array_equal(tau, expected) for tau in found)
    assert taken


def test_several_python_threads_may_ask_for_single_states_at_once():
    given = np.moveaxis(states(ARM, 6, 64), 0, 1)
    expected = [ARM.inverse_dynamics(*state) for state in given]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(20):
            found = pool.map(lambda state: ARM.inverse_dynamics(*state), given)
            assert all(np.array_equal(tau, right) for tau, right in zip(found, expected, strict=True))


@each_row
@on_both
def test_a_batch_of_n_samples_is_not_taken_for_one_state(row, robot):
    given = draw(robot, row, robot.n + 1)
    computed(robot, row, part(given, 0))  # whatever is kept for the next single state must not serve a batch
    first = {name: value[: robot.n].copy() for name, value in given.items()}
    assert same(computed(robot, row, first), part(computed(robot, row, given), np.s_[: robot.n]))


# ---------------------------------------------------------------------------------------------- out=


@each_row
@on_both
@pytest.mark.parametrize("lead", [(), (20,), (4, 5)])
def test_out_is_filled_and_returned(row, robot, lead):
    given = draw(robot, row, *lead)
    out = tuple(np.full(shape, np.nan) for shape in shapes(robot, row, *lead))
    found = computed(robot, row, given, out=out)
    assert all(a is b for a, b in zip(found, out, strict=True))
    assert same(out, computed(robot, row, given))


@each_row
@on_both
def test_out_need_not_be_contiguous(row, robot):
    given = draw(robot, row, 20)
    expected = computed(robot, row, given)
    makers = [
        lambda a: np.empty((40, *a.shape[1:]))[::2],
        lambda a: np.empty_like(a, order="F"),
        lambda a: np.empty_like(a)[::-1],
    ]
    for make in makers:
        out = tuple(make(array) for array in expected)
        found = computed(robot, row, given, out=out)
        assert all(a is b for a, b in zip(found, out, strict=True))
        assert same(out, expected)


def test_out_may_be_an_input():
    q, qd, qdd = states(ARM, 7, 20)
    expected = ARM.inverse_dynamics(q, qd, qdd)
    for k in range(3):
        given = [q.copy(), qd.copy(), qdd.copy()]
        assert ARM.inverse_dynamics(*given, out=given[k]) is given[k]
        assert np.array_equal(given[k], expected)


@pytest.mark.parametrize(("given", "wanted"), [(slice(1, None), slice(None, -1)), (slice(None, -1), slice(1, None))])
def test_out_may_overlap_an_input(given, wanted):
    q, qd, qdd = states(ARM, 8, 20)
    memory = np.zeros((21, N))
    memory[given] = q
    ARM.inverse_dynamics(memory[given], qd, qdd, out=memory[wanted])
    assert np.array_equal(memory[wanted], ARM.inverse_dynamics(q, qd, qdd))


@each_row
def test_out_of_the_wrong_kind_is_refused(row):
    given, right = draw(ARM, row, 4), shapes(ARM, row, 4)

    def call(make):
        return computed(ARM, row, given, out=tuple(make(shape) for shape in right))

    for change in (lambda s: (5, *s[1:]), lambda s: s[1:], lambda s: (4, *s), lambda s: (4, 1, *s[1:])):
        with pytest.raises(fd.ArgumentError, match=r"out(\[0\])? has shape .*: expected \(4,"):
            call(lambda shape, change=change: np.empty(change(shape)))
    for kind in (np.float32, np.int64, complex, object):
        with pytest.raises(fd.ArgumentTypeError, match=r"out(\[0\])? has dtype .*: expected float64"):
            call(lambda shape, kind=kind: np.empty(shape, kind))
    with pytest.raises(fd.ArgumentTypeError, match=r"out(\[0\])? is a list"):
        call(lambda shape: np.empty(shape).tolist())
    with pytest.raises(fd.ArgumentError, match=r"out(\[0\])? is read-only"):
        call(lambda shape: frozen(np.empty(shape)))


# ---------------------------------------------------------------------------------------------- whatever is handed over


def frozen(a):
    a = a.copy()
    a.flags.writeable = False
    return a


FORMS = {
    "float32": lambda a: a.astype(np.float32),
    "float16": lambda a: a.astype(np.float16),
    "integers": lambda a: np.rint(a).astype(np.int64),
    "small unsigned integers": lambda a: np.rint(np.abs(a)).astype(np.uint8),
    "lists": lambda a: a.tolist(),
    "integer lists": lambda a: np.rint(a).astype(int).tolist(),
    "tuples": lambda a: tuple(map(tuple, a.tolist())),
    "other byte order": lambda a: a.astype(">f8"),
    "every second sample": lambda a: np.repeat(a, 2, axis=0)[::2],
    "every second column": lambda a: np.repeat(a, 2, axis=1)[:, ::2],
    "backwards": lambda a: a[::-1, ::-1].copy()[::-1, ::-1],
    "Fortran order": np.asfortranarray,
    "one sample over and over": lambda a: np.broadcast_to(a[0], a.shape),
    "read-only": frozen,
    "memoryview": lambda a: memoryview(a.copy()),
    "misaligned": lambda a: np.frombuffer(b"x" + a.tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(a.shape),
    "no samples": lambda a: a[:0],
    "subclass": lambda a: a.view(type("Sub", (np.ndarray,), {})),
}


@each_row
@on_both
@pytest.mark.parametrize("form", FORMS)
def test_any_form_of_numbers_gives_what_float64_gives(row, robot, form):
    given = {name: FORMS[form](value) for name, value in draw(robot, row, 11).items()}
    plain = {name: np.array(value, dtype=np.float64, order="C") for name, value in given.items()}
    results = computed(robot, row, given)
    assert {type(result) for result in results} == {np.ndarray}
    assert same(results, computed(robot, row, plain))


@each_row
@on_both
def test_one_state_may_have_any_form_too(row, robot):
    given = {name: np.rint(value) for name, value in draw(robot, row).items()}
    expected = computed(robot, row, given)
    forms = [lambda a: np.repeat(a, 2)[::2], np.ndarray.tolist, lambda a: a.astype(np.int32), frozen]
    for form in forms:
        assert same(computed(robot, row, {name: form(value) for name, value in given.items()}), expected)


@each_row
@on_both
def test_arguments_are_left_alone(row, robot):
    given = draw(robot, row, 20, optional=True)
    before = {name: value.copy() for name, value in given.items()}
    computed(robot, row, given)
    assert same(tuple(given.values()), tuple(before.values()))


@each_row
def test_results_are_fresh_memory(row):
    first = computed(ARM, row, draw(ARM, row, 20))
    kept = tuple(array.copy() for array in first)
    second = computed(ARM, row, draw(ARM, row, 20, seed=1))
    assert not any(np.may_share_memory(a, b) for a in first for b in second)
    assert same(first, kept)


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="plain Python allocates")
@pytest.mark.parametrize("threads", [1, 2])
def test_well_formed_batches_are_not_copied(threads):
    robot = fd.robots.puma560()
    q, qd, qdd = states(robot, 0, 100_000)
    out = np.empty_like(q)
    robot.inverse_dynamics(q[:2000], qd[:2000], qdd[:2000], out=out[:2000], threads=threads)  # compiles, wakes threads
    tracemalloc.start()
    try:
        robot.inverse_dynamics(q, qd, qdd, out=out, threads=threads)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # scratch is some 30 rows of 64 bytes a joint for each thread, 12 kB here; one copy of an argument would be 4.8 MB
    assert peak < 64_000 * threads


# ---------------------------------------------------------------------------------------------- no joints at all


def motionless():
    bolted = fd.Robot(
        [fd.Link("base"), fd.Link("lamp", mass=2.0, com=(0, 0, 1))], [fd.Joint("screws", "base", "lamp", "fixed")]
    )
    return {"only a base": fd.Robot([fd.Link("base", mass=1.0)], []), "only fixed joints": bolted}


@pytest.mark.parametrize("robot", motionless().values(), ids=motionless())
@pytest.mark.parametrize("lead", [(), (0,), (5,), (2, 3), (3000,)])
@each_row
def test_robots_without_joints_have_empty_results(robot, lead, row):
    given = {field.name: np.zeros((*lead, *core(robot, field))) for field in row.reads}
    fixed = {"pose": np.eye(4)}  # where a frame is on the base; energies are zero: what cannot move has none
    if any(field.name in ("com", "momentum") for field in row.gives):
        with pytest.raises(fd.ArgumentError, match="no centre of mass: none of its moving links has mass"):
            computed(robot, row, given, threads=2)
        return
    results = computed(robot, row, given, threads=2)
    assert [np.shape(result) for result in results] == shapes(robot, row, *lead)
    for field, result in zip(row.gives, results, strict=True):
        assert np.array_equal(result, np.broadcast_to(fixed.get(field.name, 0.0), np.shape(result)))


def test_robots_without_joints_take_wrenches():
    robot = motionless()["only fixed joints"]
    none = np.zeros((4, 0))
    for wrenches in (None, np.zeros((0, 6)), np.zeros((4, 0, 6)), {"lamp": np.ones(6)}, {}):
        assert robot.inverse_dynamics(none, none, none, wrenches).shape == (4, 0)
        for method in ("aba", "crba"):
            assert robot.forward_dynamics(none, none, none, wrenches, method=method).shape == (4, 0)


def test_renaming_a_robot_changes_no_number():
    q, qd, qdd = states(ARM, 9, 10)
    assert np.array_equal(changed(ARM, name="other").inverse_dynamics(q, qd, qdd), ARM.inverse_dynamics(q, qd, qdd))
