"""Shapes, types, `out=` and threads: a batch gives what its samples give, wherever they stand in it."""

from __future__ import annotations

import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np
import pytest

import fastdyn as fd
from tests.samples import EPS, any_robot, changed, states, torque_scale

ROBOT = any_robot("tree", 7, seed=3, prismatic=0.3, drives=True)
N = ROBOT.n

# every function: its name, the arguments it takes, and the shape of one sample of its result
FUNCTIONS = {
    "inverse_dynamics": ("q qd qdd", (N,)),
    "forward_dynamics": ("q qd tau", (N,)),
    "bias_forces": ("q qd", (N,)),
    "gravity_forces": ("q", (N,)),
    "mass_matrix": ("q", (N, N)),
    "coriolis_matrix": ("q qd", (N, N)),
    "kinetic_energy": ("q qd", ()),
    "potential_energy": ("q", ()),
    "joint_reactions": ("q qd qdd", (N, 6)),
}
WITH_OUT = [name for name in FUNCTIONS if not name.endswith("energy")]

every_function = pytest.mark.parametrize("name", FUNCTIONS)
every_function_with_out = pytest.mark.parametrize("name", WITH_OUT)


def arguments(name: str, *lead: int, seed: int = 0, robot: fd.Robot = ROBOT) -> list[np.ndarray]:
    """Random arguments of a function, (*lead, n) each."""
    return list(states(robot, seed, *lead)[: len(FUNCTIONS[name][0].split())])


def same(a, b) -> bool:
    """Bit for bit, shapes included."""
    return np.shape(a) == np.shape(b) and np.array_equal(a, b)


# ---------------------------------------------------------------------------------------------- shapes


@every_function
@pytest.mark.parametrize("lead", [(), (1,), (5,), (0,), (2, 3), (2, 0, 3), (1, 2, 1, 3)])
def test_leading_axes_are_kept(name, lead):
    result = getattr(ROBOT, name)(*arguments(name, *lead))
    assert np.shape(result) == lead + FUNCTIONS[name][1]
    assert result.dtype == np.float64


@every_function
def test_samples_of_a_batch_are_what_each_gives_alone(name):
    function, given = getattr(ROBOT, name), arguments(name, 2, 3)
    batch = function(*given)
    for place in np.ndindex(2, 3):
        alone = function(*(a[place] for a in given))
        # lanes round in another order than scalars and take another sine: 8 n eps of what the result is made of
        scale = torque_scale(ROBOT, *states(ROBOT, 0, 2, 3)[:, *place])
        if name == "forward_dynamics":
            scale *= np.linalg.norm(np.linalg.inv(ROBOT.mass_matrix(given[0][place])), 2)
        np.testing.assert_allclose(batch[place], alone, rtol=0, atol=8 * N * EPS * scale)


def test_leading_axes_broadcast():
    q, qd, qdd = states(ROBOT, 1, 4, 3)
    cases = [(q, qd[0], qdd[0, 0]), (q[:, :1], qd[:1], qdd), (q[0, 0], qd, qdd[:, :1]), (q[0, 0], qd[0, 0], qdd)]
    for given in cases:
        full = np.broadcast_arrays(*given)
        assert same(ROBOT.inverse_dynamics(*given), ROBOT.inverse_dynamics(*full))


def test_wrenches_broadcast_against_states():
    q, qd, qdd = states(ROBOT, 2, 5)
    W = np.random.default_rng(0).normal(size=(N, 6))
    one = ROBOT.inverse_dynamics(q, qd, qdd, W)
    assert same(one, ROBOT.inverse_dynamics(q, qd, qdd, np.broadcast_to(W, (5, N, 6))))
    many = ROBOT.inverse_dynamics(q[0], qd[0], qdd[0], np.stack([W, 2 * W, 3 * W]))
    assert many.shape == (3, N)
    by_name = ROBOT.inverse_dynamics(q, qd, qdd, {link.name: w for link, w in zip(ROBOT.links, W, strict=True)})
    assert same(one, by_name)


def test_axes_that_do_not_fit_together_are_named():
    with pytest.raises(fd.ArgumentError, match=r"batch axes.*q \(2, 7\), qd \(3, 7\)"):
        ROBOT.bias_forces(np.zeros((2, N)), np.zeros((3, N)))


# ---------------------------------------------------------------------------------------------- position and threads


@every_function
def test_results_do_not_depend_on_the_length_of_the_batch(name):
    function, given = getattr(ROBOT, name), arguments(name, 40)
    whole = function(*given)
    for T in range(41):
        assert same(function(*(a[:T] for a in given)), whole[:T]), f"{T} samples"


@every_function
def test_results_do_not_depend_on_the_place_in_the_batch(name):
    function, given = getattr(ROBOT, name), arguments(name, 30)
    whole = function(*given)
    for first in range(10):
        assert same(function(*(a[first:] for a in given)), whole[first:]), f"from sample {first} on"
    assert same(function(*(a[::-1] for a in given)), whole[::-1])


@every_function
def test_results_do_not_depend_on_threads(name):
    T = 3 * 512 + 13  # enough for three threads, and no multiple of anything
    function, given = getattr(ROBOT, name), arguments(name, T)
    one = function(*given)
    for threads in (2, 3, 1000, np.int64(2)):
        assert same(function(*given, threads=threads), one)


def test_long_batches_do_not_depend_on_threads():
    q, qd, qdd = states(ROBOT, 5, 4001)
    W = np.random.default_rng(0).normal(size=(4001, N, 6))
    for method in ("aba", "crba"):
        one = ROBOT.forward_dynamics(q, qd, qdd, W, method=method)
        for threads in (2, 3):
            assert same(ROBOT.forward_dynamics(q, qd, qdd, W, method=method, threads=threads), one)


def test_several_python_threads_may_use_one_robot():
    q, qd, qdd = states(ROBOT, 6, 2000)
    expected = ROBOT.inverse_dynamics(q, qd, qdd)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda k: ROBOT.inverse_dynamics(q, qd, qdd, threads=1 + k % 3), range(12)))
    assert all(same(tau, expected) for tau in found)


def test_several_python_threads_may_ask_for_single_states_at_once():
    given = np.moveaxis(states(ROBOT, 6, 64), 0, 1)
    expected = [ROBOT.inverse_dynamics(*state) for state in given]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(20):
            found = pool.map(lambda state: ROBOT.inverse_dynamics(*state), given)
            assert all(same(tau, right) for tau, right in zip(found, expected, strict=True))


@every_function
def test_a_batch_of_n_samples_is_not_taken_for_one_state(name):
    function, given = getattr(ROBOT, name), arguments(name, N + 1)
    function(*(a[0] for a in given))  # whatever is kept for the next single state must not serve a batch
    assert same(function(*(a[:N].copy() for a in given)), function(*given)[:N])


# ---------------------------------------------------------------------------------------------- out=


@every_function_with_out
@pytest.mark.parametrize("lead", [(), (20,), (4, 5)])
def test_out_is_filled_and_returned(name, lead):
    function, given = getattr(ROBOT, name), arguments(name, *lead)
    out = np.full(lead + FUNCTIONS[name][1], np.nan)
    assert function(*given, out=out) is out
    assert same(out, function(*given))


@every_function_with_out
def test_out_need_not_be_contiguous(name):
    function, given = getattr(ROBOT, name), arguments(name, 20)
    expected = function(*given)
    for out in (
        np.empty((40, *expected.shape[1:]))[::2],
        np.empty_like(expected, order="F"),
        np.empty_like(expected)[::-1],
    ):
        assert function(*given, out=out) is out
        assert same(out, expected)


def test_out_may_be_an_input():
    q, qd, qdd = states(ROBOT, 7, 20)
    expected = ROBOT.inverse_dynamics(q, qd, qdd)
    for k in range(3):
        given = [q.copy(), qd.copy(), qdd.copy()]
        assert ROBOT.inverse_dynamics(*given, out=given[k]) is given[k]
        assert same(given[k], expected)


@pytest.mark.parametrize(("given", "wanted"), [(slice(1, None), slice(None, -1)), (slice(None, -1), slice(1, None))])
def test_out_may_overlap_an_input(given, wanted):
    q, qd, qdd = states(ROBOT, 8, 20)
    memory = np.zeros((21, N))
    memory[given] = q
    ROBOT.inverse_dynamics(memory[given], qd, qdd, out=memory[wanted])
    assert same(memory[wanted], ROBOT.inverse_dynamics(q, qd, qdd))


@every_function_with_out
def test_out_of_the_wrong_kind_is_refused(name):
    function, given, right = getattr(ROBOT, name), arguments(name, 4), (4, *FUNCTIONS[name][1])
    for out in (np.empty((5, *right[1:])), np.empty(right[1:]), np.empty((4, *right)), np.empty((4, 1, *right[1:]))):
        with pytest.raises(fd.ArgumentError, match=r"out has shape .*: expected \(4, "):
            function(*given, out=out)
    for kind in (np.float32, np.int64, complex, object):
        with pytest.raises(fd.ArgumentTypeError, match=r"out has dtype .*: expected float64"):
            function(*given, out=np.empty(right, kind))
    with pytest.raises(fd.ArgumentTypeError, match="out is a list"):
        function(*given, out=np.empty(right).tolist())
    frozen = np.empty(right)
    frozen.flags.writeable = False
    with pytest.raises(fd.ArgumentError, match="out is read-only"):
        function(*given, out=frozen)


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
    "subclass": lambda a: a.view(np.ma.MaskedArray),
}


@every_function
@pytest.mark.parametrize("form", FORMS)
def test_any_form_of_numbers_gives_what_float64_gives(name, form):
    function, given = getattr(ROBOT, name), [FORMS[form](a) for a in arguments(name, 11)]
    plain = [np.array(a, dtype=np.float64, order="C") for a in given]
    result = function(*given)
    assert type(result) is np.ndarray
    assert same(result, function(*plain))


@every_function
def test_one_state_may_have_any_form_too(name):
    function, given = getattr(ROBOT, name), [np.rint(a) for a in arguments(name)]
    expected = function(*given)
    strided = [np.repeat(a, 2)[::2] for a in given]
    for form in (strided, [a.tolist() for a in given], [a.astype(np.int32) for a in given], [frozen(a) for a in given]):
        assert same(function(*form), expected)


@every_function
def test_arguments_are_left_alone(name):
    given = arguments(name, 20)
    before = [a.copy() for a in given]
    getattr(ROBOT, name)(*given)
    assert all(same(a, b) for a, b in zip(given, before, strict=True))


@every_function
def test_results_are_fresh_memory(name):
    function, given = getattr(ROBOT, name), arguments(name, 20)
    first = function(*given)
    kept = first.copy()
    second = function(*arguments(name, 20, seed=1))
    assert not np.may_share_memory(first, second)
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
@every_function
def test_robots_without_joints_have_empty_results(robot, lead, name):
    count, core = len(FUNCTIONS[name][0].split()), FUNCTIONS[name][1]
    result = getattr(robot, name)(*[np.zeros((*lead, 0))] * count, threads=2)
    assert np.shape(result) == (*lead, *(0 if axis == N else axis for axis in core))
    assert not np.any(result)  # energies are zero: what cannot move has none


def test_robots_without_joints_take_wrenches():
    robot = motionless()["only fixed joints"]
    none = np.zeros((4, 0))
    for wrenches in (None, np.zeros((0, 6)), np.zeros((4, 0, 6)), {"lamp": np.ones(6)}, {}):
        assert robot.inverse_dynamics(none, none, none, wrenches).shape == (4, 0)
        for method in ("aba", "crba"):
            assert robot.forward_dynamics(none, none, none, wrenches, method=method).shape == (4, 0)


def test_renaming_a_robot_changes_no_number():
    q, qd, qdd = states(ROBOT, 9, 10)
    assert same(changed(ROBOT, name="other").inverse_dynamics(q, qd, qdd), ROBOT.inverse_dynamics(q, qd, qdd))
