"""Fast paths: well-formed arrays go to compiled code without conversion; anything else is converted first."""

from __future__ import annotations

import copy
import math

import numba
import numpy as np
import pytest
from numba.core import config

import fastdyn as fd
from fastdyn.calls import task
from fastdyn.calls.headers import READABLE
from fastdyn.scalars import SINCOS_RANGE, entry, give, sincos_rows, take
from tests.samples import ARM, EPS, assert_rounded, computed, draw, each_row, few_rows, on_both, same

jit_only = pytest.mark.skipif(config.DISABLE_JIT, reason="compiled code only")


def motion(T: int | None, count: int = 3, dtype: type = np.float64) -> list[np.ndarray]:
    shape = (7,) if T is None else (T, 7)
    return [x.astype(dtype) for x in np.random.default_rng(0).uniform(-2, 2, (3, *shape))[:count]]


@pytest.fixture
def asked(monkeypatch) -> list[task.Task]:
    """Every task that went the general way."""
    found: list[task.Task] = []
    general = task.Task._any

    def spy(one: task.Task, *arguments: object) -> object:
        found.append(one)
        return general(one, *arguments)

    monkeypatch.setattr(task.Task, "_any", spy)
    return found


@jit_only
def test_arrays_are_laid_out_as_expected() -> None:
    assert READABLE


@jit_only
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("optional", [False, True])
@on_both
@each_row
def test_well_formed_batches_go_the_quick_way(row, robot, optional, dtype, asked) -> None:
    given = {name: value.astype(dtype) for name, value in draw(robot, row, 21, optional=optional).items()}
    computed(robot, row, given, dtype=dtype)
    assert asked == []


@jit_only
@pytest.mark.parametrize("optional", [False, True])
@on_both
@each_row
def test_one_well_formed_state_goes_the_quick_way(row, robot, optional, asked, monkeypatch) -> None:
    given = draw(robot, row, optional=optional)
    general = computed(robot, row, {name: value.tolist() for name, value in given.items()})
    assert len(asked) == 1
    monkeypatch.setattr(task.Task, "_well_formed", None)  # nor the way of batches
    assert same(computed(robot, row, given), general)
    assert len(asked) == 1


@jit_only
@on_both
@each_row
def test_both_ways_give_the_same_numbers_to_the_bit(row, robot, asked) -> None:
    given = draw(robot, row, 21)
    quick = computed(robot, row, given)
    out = tuple(np.full_like(array, np.nan) for array in quick)
    filled = computed(robot, row, given, out=out)
    assert all(a is b for a, b in zip(filled, out, strict=True))
    assert asked == []
    general = computed(robot, row, {name: value.tolist() for name, value in given.items()})
    assert len(asked) == 1
    for a, b, c in zip(quick, out, general, strict=True):
        assert a.tobytes() == b.tobytes() == c.tobytes()


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
    expected = ARM.inverse_dynamics(*plain)
    assert asked == []
    found = ARM.inverse_dynamics(*changed)
    assert len(asked) == 1
    assert np.array_equal(np.asarray(found).reshape(21, 7), expected)


@jit_only
@pytest.mark.parametrize("which", range(3))
@pytest.mark.parametrize("shift", [0, 1, 7, 40])
def test_an_out_that_overlaps_an_argument_is_seen(which, shift, asked) -> None:
    memory = np.empty(21 * 7 + shift)
    given = motion(21)
    expected = ARM.inverse_dynamics(*given)
    argument, out = memory[: 21 * 7].reshape(21, 7), memory[shift:].reshape(21, 7)
    argument[...] = given[which]
    given[which] = argument
    ARM.inverse_dynamics(*given, out=out)
    assert len(asked) == 1
    assert np.array_equal(out, expected)


@jit_only
def test_an_out_that_touches_an_argument_is_no_obstacle(asked) -> None:
    memory = np.empty((3, 21, 7))
    q, qd, qdd = motion(21)
    memory[0], memory[2] = q, qdd
    ARM.inverse_dynamics(memory[0], qd, memory[2], out=memory[1])
    assert asked == []
    assert np.array_equal(memory[1], ARM.inverse_dynamics(q, qd, qdd))


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
        ARM.inverse_dynamics(*motion(21), out=out)


@jit_only
@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("T", [None, 21])
def test_what_is_not_finite_is_named_on_the_quick_ways_too(value, T) -> None:
    q, qd, qdd = motion(T)
    qd.flat[3] = value
    with pytest.raises(fd.NotFiniteError, match=r"qd\[.*3\] is (nan|inf)"):
        ARM.inverse_dynamics(q, qd, qdd)


@on_both
@few_rows
def test_without_the_quick_ways_nothing_changes(row, robot, monkeypatch) -> None:
    states = [draw(robot, row), draw(robot, row, 21)]
    quick = [computed(robot, row, given) for given in states]
    monkeypatch.setattr(task, "READABLE", False)
    again = copy.copy(robot)
    assert_rounded(computed(again, row, states[0]), quick[0], robot, row, states[0])
    assert same(computed(again, row, states[1]), quick[1])


@jit_only
def test_objects_of_any_kind_are_looked_at_safely(asked) -> None:
    class Odd:
        __slots__ = ()

    for thing in (None, 1, 1.5, "q", b"q", (), Odd(), np.float64(1.0), np.array(1.0), np.ndarray, {}, len):
        with pytest.raises((fd.ArgumentError, fd.ArgumentTypeError, TypeError)):
            ARM.inverse_dynamics(thing, thing, thing)
    assert len(asked) == 12


# ---------------------------------------------------------------------------------------------- sines of many angles


@entry
def _sines(P, T, angles, found, scratch):
    n = angles.shape[1]
    take(angles, 0, scratch, 0)
    sincos_rows(scratch, n)
    give(found, 0, scratch, 0)
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
    assert np.abs(found - expected).max() <= 1.25 * EPS  # one eps is ours, half an ulp the C library's
    assert (scratch[-1] == 7.0).all()  # nothing is written behind the last
