"""The quick ways: well-formed arrays go to compiled code as they are, and everything else still gets there."""

from __future__ import annotations

import copy
import math

import numba
import numpy as np
import pytest
from numba.core import config

import fastdyn as fd
from fastdyn.calls import api
from fastdyn.calls.headers import READABLE
from fastdyn.scalars import SINCOS_RANGE, entry, give, sincos_rows, take
from tests.samples import QUANTITIES

jit_only = pytest.mark.skipif(config.DISABLE_JIT, reason="compiled code only")

ROBOT = fd.robots.random_tree(7, seed=5, prismatic=0.3, drives=True)


def motion(T: int | None, count: int = 3, dtype: type = np.float64) -> list[np.ndarray]:
    shape = (7,) if T is None else (T, 7)
    return [x.astype(dtype) for x in np.random.default_rng(0).uniform(-2, 2, (3, *shape))[:count]]


@pytest.fixture
def asked(monkeypatch) -> list[api.Task]:
    """Every task that went the general way."""
    found: list[api.Task] = []
    general = api.Task._any

    def spy(task: api.Task, *arguments: object) -> object:
        found.append(task)
        return general(task, *arguments)

    monkeypatch.setattr(api.Task, "_any", spy)
    return found


@jit_only
def test_arrays_are_laid_out_as_expected() -> None:
    assert READABLE


@jit_only
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", QUANTITIES)
def test_well_formed_batches_go_the_quick_way(name, dtype, asked) -> None:
    given = motion(21, QUANTITIES[name], dtype)
    getattr(ROBOT, name)(*given, dtype=dtype)
    assert asked == []


@jit_only
@pytest.mark.parametrize("name", [name for name in QUANTITIES if name not in ("kinetic_energy", "potential_energy")])
def test_both_ways_give_the_same_numbers_to_the_bit(name, asked) -> None:
    given = motion(21, QUANTITIES[name])
    method = getattr(ROBOT, name)
    quick = method(*given)
    out = np.full_like(quick, np.nan)
    assert method(*given, out=out) is out
    assert asked == []
    general = method(*[x.tolist() for x in given])
    assert len(asked) == 1
    assert quick.tobytes() == out.tobytes() == general.tobytes()


def strided(x: np.ndarray) -> np.ndarray:
    return np.repeat(x, 2, axis=0)[::2]


OTHERWISE = {
    "a list": np.ndarray.tolist,
    "strided": strided,
    "in Fortran order": np.asfortranarray,
    "of whole numbers": lambda x: np.round(x).astype(np.int64),
    "in single precision": lambda x: x.astype(np.float32),
    "of the other byte order": lambda x: x.astype(">f8"),
    "with one more axis": lambda x: x[None],
    "a subclass": lambda x: x.view(type("Sub", (np.ndarray,), {})),
}


@jit_only
@pytest.mark.parametrize("change", OTHERWISE.values(), ids=OTHERWISE.keys())
@pytest.mark.parametrize("which", range(3))
def test_other_arguments_go_the_general_way(change, which, asked) -> None:
    given = motion(21)
    changed = given.copy()
    changed[which] = change(given[which])
    plain = given.copy()
    plain[which] = np.array(changed[which], dtype=np.float64, order="C").reshape(21, 7)
    expected = ROBOT.inverse_dynamics(*plain)
    assert asked == []
    found = ROBOT.inverse_dynamics(*changed)
    assert len(asked) == 1
    assert np.array_equal(np.asarray(found).reshape(21, 7), expected)


@jit_only
@pytest.mark.parametrize("which", range(3))
@pytest.mark.parametrize("shift", [0, 1, 7, 40])
def test_an_out_that_overlaps_an_argument_is_seen(which, shift, asked) -> None:
    memory = np.empty(21 * 7 + shift)
    given = motion(21)
    expected = ROBOT.inverse_dynamics(*given)
    argument, out = memory[: 21 * 7].reshape(21, 7), memory[shift:].reshape(21, 7)
    argument[...] = given[which]
    given[which] = argument
    ROBOT.inverse_dynamics(*given, out=out)
    assert len(asked) == 1
    assert np.array_equal(out, expected)


@jit_only
def test_an_out_that_touches_an_argument_is_no_obstacle(asked) -> None:
    memory = np.empty((3, 21, 7))
    q, qd, qdd = motion(21)
    memory[0], memory[2] = q, qdd
    ROBOT.inverse_dynamics(memory[0], qd, memory[2], out=memory[1])
    assert asked == []
    assert np.array_equal(memory[1], ROBOT.inverse_dynamics(q, qd, qdd))


@pytest.mark.parametrize(
    ("out", "message"),
    [
        (np.empty((20, 7)), r"out has shape \(20, 7\): expected \(21, 7\)"),
        (np.empty((21, 7), dtype=np.float32), "out has dtype float32: expected float64"),
        ([[0.0] * 7] * 21, "out is a list: expected a NumPy array"),
    ],
)
def test_an_out_that_cannot_take_the_result_is_refused(out, message) -> None:
    with pytest.raises((fd.ArgumentError, fd.ArgumentTypeError), match=message):
        ROBOT.inverse_dynamics(*motion(21), out=out)


@jit_only
@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("T", [None, 21])
def test_what_is_not_finite_is_named_on_the_quick_ways_too(value, T) -> None:
    q, qd, qdd = motion(T)
    qd.flat[3] = value
    with pytest.raises(fd.NotFiniteError, match=r"qd\[.*3\] is (nan|inf)"):
        ROBOT.inverse_dynamics(q, qd, qdd)


@pytest.mark.parametrize("name", QUANTITIES)
def test_without_the_quick_ways_nothing_changes(name, monkeypatch) -> None:
    quick = [getattr(ROBOT, name)(*motion(T, QUANTITIES[name])) for T in (None, 21)]
    monkeypatch.setattr(api, "READABLE", False)
    robot = copy.copy(ROBOT)
    for T, expected in zip((None, 21), quick, strict=True):
        found = getattr(robot, name)(*motion(T, QUANTITIES[name]))
        # the one state is computed by another compilation of the same text, so that its last bits may differ
        assert np.allclose(found, expected, rtol=0, atol=20 * 7 * np.finfo(float).eps * np.abs(expected).max())


@jit_only
def test_objects_of_any_kind_are_looked_at_safely(asked) -> None:
    class Odd:
        __slots__ = ()

    for thing in (None, 1, 1.5, "q", b"q", (), Odd(), np.float64(1.0), np.array(1.0), np.ndarray, {}, len):
        with pytest.raises((fd.ArgumentError, fd.ArgumentTypeError, TypeError)):
            ROBOT.inverse_dynamics(thing, thing, thing)
    assert len(asked) == 12


# ---------------------------------------------------------------------------------------------- sines of many angles


@entry
def _sines(P, T, angles, found, scratch):
    n = angles.shape[1]
    take(angles, 0, scratch, 0)
    sincos_rows(scratch, n)
    give(scratch, 0, found, 0)
    return 0


@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 16, 23])
@pytest.mark.parametrize("lanes", [1, 8])
def test_sines_and_cosines_of_neighbours_are_those_of_each(n, lanes) -> None:
    _sines.dispatcher = None if config.DISABLE_JIT else numba.njit(_sines.py_func)  # not cached: this is no kernel
    angles = np.random.default_rng(n).uniform(-10, 10, (lanes, n))
    angles[0, n // 2] = 3 * SINCOS_RANGE
    found = np.empty((lanes, 2 * n))
    scratch = np.full(2 * n + 1, 7.0) if lanes == 1 else np.full((2 * n + 1, lanes), 7.0)
    _sines(np.zeros((1, 1), order="F"), np.zeros((1, 1), dtype=np.int64), angles, found, scratch)
    expected = np.array([[*map(math.sin, row), *map(math.cos, row)] for row in angles])
    assert np.abs(found - expected).max() <= 2.3e-16  # 2.2e-16 is ours, the rest the C library's
    assert (scratch[-1] == 7.0).all()  # nothing is written behind the last
