"""Lanes of every width give the numbers of plain Python: arithmetic, sines, comparisons, samples in and out."""

from __future__ import annotations

import math
import platform
import re
from functools import cache

import numba
import numpy as np
import pytest
from numba import types

from fastdyn.compiler import pipeline
from fastdyn.compiler.policy import OPTIONS, register
from fastdyn.scalars import (
    LANES,
    SINGLE_LANES,
    add,
    all_above,
    all_finite,
    angle_sum,
    any_above,
    atan2,
    by_sign,
    fill,
    give,
    load,
    maximum,
    minimum,
    sincos,
    sincos_rows,
    sqrt,
    store,
    take,
    where_above,
    width,
)
from fastdyn.scalars.lanes import buffer_type

WIDTHS = [(np.float64, 4), (np.float64, LANES), (np.float32, 8), (np.float32, SINGLE_LANES)]
every_width = pytest.mark.parametrize(("real", "count"), WIDTHS, ids=lambda v: v if isinstance(v, int) else v.__name__)
MOST_COLUMNS = 17  # two blocks of 8 columns and one more, four blocks of 4 and one more


@cache
def compiled(text, real, count, kinds):
    """A text compiled for one width: "b" a buffer of lanes, "s" samples, "i" an integer, "r" a float."""
    if numba.config.DISABLE_JIT:
        return text
    real = types.float32 if real is np.float32 else types.float64
    known = {"b": buffer_type(real, count), "s": types.Array(real, 2, "A"), "i": types.intp, "r": types.float64}
    register()
    dispatcher = numba.njit(**OPTIONS)(text)
    dispatcher.compile(tuple(known[kind] for kind in kinds))
    return next(iter(dispatcher.overloads.values())).entry_point


def buffer(rows, count, real):
    return np.full((rows, count), 99, dtype=real)


# ---------------------------------------------------------------------------------------------- the type


def test_a_buffers_type_knows_its_width_and_rows_of_it_keep_it():
    four, eight = buffer_type(types.float64, 4), buffer_type(types.float64, 8)
    assert four == buffer_type(types.float64, 4)
    assert len({four, eight, buffer_type(types.float32, 8), types.Array(types.float64, 2, "C")}) == 4
    assert four.copy(ndim=2, layout="C") == four
    assert four.copy(ndim=1) == types.Array(types.float64, 1, "C") == buffer_type(types.float64, 1)
    assert four.copy(layout="A") == types.Array(types.float64, 2, "A")


def widths(X):
    return width(X), width(X[1:]), width(X[1:][:1])


@every_width
def test_slices_are_as_wide_as_the_buffer(real, count):
    assert compiled(widths, real, count, "b")(buffer(3, count, real)) == (count, count, count)


# ---------------------------------------------------------------------------------------------- arithmetic


def arithmetic(X):
    x, y, rest = load(X, 0), load(X, 1), X[2:]
    store(rest, 0, x + y)
    store(rest, 1, x - y)
    store(rest, 2, x * y)
    store(rest, 3, x / y)
    store(rest, 4, -x)
    store(rest, 5, 2 + x)
    store(rest, 6, x - 0.5)
    store(rest, 7, fill(X, 7.5))
    add(rest, 7, x)


@every_width
def test_arithmetic_is_that_of_floats(real, count):
    X = buffer(10, count, real)
    x, y = X[:2] = np.random.default_rng(0).normal(size=(2, count)).astype(real)
    compiled(arithmetic, real, count, "b")(X)
    half, two, constant = real(0.5), real(2), real(7.5)
    expected = [x, y, x + y, x - y, x * y, x / y, -x, two + x, x - half, constant + x]
    # one operation each; the compiler may turn a quotient into a product: one rounding more
    np.testing.assert_allclose(X, expected, rtol=2 * np.finfo(real).eps, atol=0)


# ---------------------------------------------------------------------------------------------- sine and cosine


def sines(X):
    for i in range(X.shape[0] // 3):
        s, c = sincos(load(X, 3 * i))
        store(X, 3 * i + 1, s)
        store(X, 3 * i + 2, c)


# eps: one of float64 (tests/test_scalars.py; float32: reduction and polynomial round as often), and half an ulp of the
# C library's
SINE = 1.25


def expected_sines(x):
    """By the C library in float64; no number for NaN and infinity."""
    pairs = [(math.sin(v), math.cos(v)) if math.isfinite(v) else (math.nan, math.nan) for v in x.ravel().tolist()]
    return np.array(pairs).T.reshape(2, *x.shape)


@every_width
@pytest.mark.parametrize("far", [None, 1e7, -(2.0**40), np.inf, np.nan])
def test_sines_are_those_of_the_c_library_in_every_lane(real, count, far):
    x = np.random.default_rng(1).uniform(-8, 8, (3 + count, count)).astype(real)
    if far is not None:
        x[3:][np.diag_indices(count)] = far  # each lane out of the polynomial's range once
    X = buffer(3 * len(x), count, real)
    X[::3] = x
    with np.errstate(invalid="ignore"):
        compiled(sines, real, count, "b")(X)
    s, c = expected_sines(x)
    assert np.array_equal(X[::3], x, equal_nan=True)
    np.testing.assert_allclose(X[1::3], s, rtol=0, atol=SINE * np.finfo(real).eps)
    np.testing.assert_allclose(X[2::3], c, rtol=0, atol=SINE * np.finfo(real).eps)


@every_width
def test_sines_fill_rows(real, count):
    x = np.random.default_rng(2).uniform(-8, 8, (5, count)).astype(real)
    X = buffer(11, count, real)
    X[:5] = x
    compiled(sincos_rows, real, count, "bi")(X, 5)
    np.testing.assert_allclose(X[:10], np.concatenate(expected_sines(x)), rtol=0, atol=SINE * np.finfo(real).eps)
    assert (X[10] == 99).all()


def sums(X):
    for i in range(X.shape[0] // 3):
        store(X, 3 * i + 2, angle_sum(load(X, 3 * i), load(X, 3 * i + 1)))


def summed(x, offset, count, real):
    X = buffer(3 * len(x), count, real)
    X[::3], X[1::3] = x, offset
    with np.errstate(invalid="ignore"):
        compiled(sums, real, count, "b")(X)
    return X[2::3]


@every_width
@pytest.mark.parametrize("largest", [30.0, 300.0, 8192.0, 1e5, 2.0**40])
def test_sums_of_angles_are_right_up_to_whole_turns(real, count, largest):
    rng = np.random.default_rng(3)
    x = rng.uniform(-largest, largest, (200, count)).astype(real)
    x[::7] = rng.uniform(-3, 3, x[::7].shape)  # small angles beside large ones
    offset = rng.uniform(-np.pi, np.pi, x.shape).astype(real)
    found = summed(x, offset, count, real)
    if real is np.float64:
        assert np.array_equal(found, x + offset)
        return
    assert np.array_equal(found[::7], (x + offset)[::7])
    # taking turns off rounds twice below 4, by half of 2 eps each, and the sum once below 8, by half of 4 eps
    (s, c), (s_x, c_x), (s_o, c_o) = (expected_sines(angle.astype(float)) for angle in (found, x, offset))
    np.testing.assert_allclose(s, s_x * c_o + c_x * s_o, rtol=0, atol=4 * np.finfo(real).eps)
    np.testing.assert_allclose(c, c_x * c_o - s_x * s_o, rtol=0, atol=4 * np.finfo(real).eps)


@every_width
@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_sums_with_angles_that_are_not_finite_are_not_either(real, count, value):
    x = np.ones((count, count), dtype=real)
    x[np.diag_indices(count)] = value  # each lane once
    found = summed(x, real(0.5), count, real)
    assert np.array_equal(np.isfinite(found), np.isfinite(x))
    assert (found[np.isfinite(x)] == 1.5).all()


# ---------------------------------------------------------------------------------------------- atan2 and square root

POINTS = [0.0, -0.0, 1.0, -1.0, 1e-15, -1e-15, 1e15, -1e15, math.inf, -math.inf, math.nan]


def angles(X):
    for i in range(X.shape[0] // 5):
        y, x = load(X, 5 * i), load(X, 5 * i + 1)
        store(X, 5 * i + 2, atan2(y, x))
        store(X, 5 * i + 3, atan2(y, 2.0))
        store(X, 5 * i + 4, atan2(-1, x))


@every_width
def test_angles_are_those_of_the_c_library_in_every_lane(real, count):
    rng = np.random.default_rng(5)
    special = np.array([(y, x) for y in POINTS for x in POINTS]).T  # (2, 121)
    anywhere = rng.normal(size=(2, 400)) * 10.0 ** rng.uniform(-6, 6, (2, 400))
    octants = np.array([1, 1, 0.4142135623730951, 2.414213562373095])[:, None] * rng.uniform(1, 2, (4, 20))
    steep = np.stack([octants.ravel(), np.tile(octants[0], 4)])  # near pi/8, pi/4 and 3 pi/8
    points = np.concatenate([special, anywhere, steep], axis=1).astype(real)
    y, x = points[:, np.arange(640) % points.shape[1]]
    y, x = y.reshape(-1, count), x.reshape(-1, count)
    X = buffer(5 * len(x), count, real)
    X[::5], X[1::5] = y, x
    compiled(angles, real, count, "b")(X)
    for found, expected in (
        (X[2::5], np.arctan2(y.astype(float), x.astype(float))),
        (X[3::5], np.arctan2(y.astype(float), 2.0)),
        (X[4::5], np.arctan2(-1.0, x.astype(float))),
    ):
        # 3 ulp of ours (tests/test_scalars.py), an ulp being at most eps of the value, and 1 of the C library's
        np.testing.assert_allclose(found, expected, rtol=4 * np.finfo(real).eps, atol=0)
        known = ~np.isnan(expected)
        assert np.array_equal(np.signbit(found)[known], np.signbit(expected)[known])  # of zeros, too


def roots(X):
    x = load(X, 0)
    store(X, 1, sqrt(x))
    store(X, 2, 1.0 / sqrt(x))
    store(X, 3, x / sqrt(x))


@every_width
def test_square_roots_are_rounded_once_and_quotients_by_them_a_few_times(real, count):
    """Whatever the compiler may do with reciprocals: an estimated reciprocal root has errors of many eps."""
    X = buffer(4, count, real)
    for seed in range(20):
        x = X[0] = 10.0 ** np.random.default_rng(seed).uniform(-30, 30, count).astype(real)
        compiled(roots, real, count, "b")(X)
        exact = np.sqrt(x.astype(float))
        assert np.array_equal(X[1], np.sqrt(x))
        np.testing.assert_allclose(X[2], 1 / exact, rtol=3 * np.finfo(real).eps)  # root, reciprocal, product
        np.testing.assert_allclose(X[3], exact, rtol=3 * np.finfo(real).eps)
    X[0] = np.resize([0.0, -1.0, np.inf, np.nan], count)
    with np.errstate(divide="ignore", invalid="ignore"):
        compiled(roots, real, count, "b")(X)
    np.testing.assert_array_equal(X[1], np.resize([0.0, np.nan, np.inf, np.nan], count))


# ---------------------------------------------------------------------------------------------- comparisons


def choices(X):
    x, y = load(X, 0), load(X, 1)
    store(X, 2, where_above(x, y, x, 7.0))
    store(X, 3, where_above(x, 0.5, -1.0, y))
    store(X, 4, where_above(2, x, 3.0, 4.0))
    store(X, 5, minimum(x, y))
    store(X, 6, maximum(x, y))
    store(X, 7, minimum(1.0, maximum(x, -1.0)))


@every_width
def test_choices_are_made_in_each_lane(real, count):
    values = [-2.0, 0.0, 0.5, 3.0, math.inf, -math.inf, math.nan]
    pairs = np.array([(x, y) for x in values for y in values])[np.arange(64) % 49].T
    for x, y in zip(*(p.reshape(-1, count).astype(real) for p in pairs), strict=True):
        X = buffer(8, count, real)
        X[:2] = x, y
        compiled(choices, real, count, "b")(X)
        expected = [
            np.where(x > y, x, 7), np.where(x > 0.5, -1, y), np.where(x < 2, 3, 4), np.minimum(x, y), np.maximum(x, y),
            np.minimum(1, np.maximum(x, -1)),
        ]  # fmt: skip
        np.testing.assert_array_equal(X[2:], expected)


def choose(X):
    store(X, 1, by_sign(load(X, 0), 2.0, load(X, 2)))


@every_width
def test_by_sign_chooses_in_each_lane(real, count):
    X = buffer(3, count, real)
    X[0] = np.resize([5.0, -5.0, 0.0, -0.0, np.inf, -np.inf, np.nan, 1e-30], count)
    X[2] = np.arange(count)
    compiled(choose, real, count, "b")(X)
    assert X[1].tolist() == [2.0 if x > 0 else lane if x < 0 else 0.0 for lane, x in enumerate(X[0].tolist())]


def above(X, bound):
    return all_above(load(X, 0), bound)


def some_above(X, bound):
    return any_above(load(X, 0), bound)


def finite(X):
    return all_finite(load(X, 0))


@every_width
def test_comparisons_need_every_lane(real, count):
    is_above, is_finite = compiled(above, real, count, "br"), compiled(finite, real, count, "b")
    X = buffer(1, count, real)
    assert is_above(X, 98.0)
    assert is_finite(X)
    for lane in range(count):
        for value in (98.0, -np.inf, np.nan):
            X[:] = 99
            X[0, lane] = value
            assert not is_above(X, 98.0)
            assert is_finite(X) == math.isfinite(value)


@every_width
def test_some_lane_is_enough_for_any_above(real, count):
    is_above, X = compiled(some_above, real, count, "br"), buffer(1, count, real)
    for lane in range(count):
        for value in (1.0, 2.0, np.inf, np.nan):
            X[:] = -99
            X[0, lane] = value
            assert is_above(X, 1.0) == (value > 1)


# ---------------------------------------------------------------------------------------------- samples in and out


def copy(samples, X, row, out):
    check = fill(X, 0.0)
    for first in range(0, samples.shape[0], width(X)):
        check = check + take(samples, first, X, row)
        check = check + give(out, first, X, row)
    return all_finite(check)


@every_width
@pytest.mark.parametrize("columns", range(1, MOST_COLUMNS + 1))
def test_samples_go_in_and_out_whatever_their_number(real, count, columns):
    copied, row = compiled(copy, real, count, "sbis"), 2
    for T in range(1, 2 * count + 2):
        samples = np.random.default_rng(T).normal(size=(T, columns)).astype(real)
        memory = np.full((T + 2, columns), 99, dtype=real)  # a sample more on either side
        X = buffer(columns + 4, count, real)
        assert copied(samples, X, row, memory[1:-1])
        assert np.array_equal(memory[1:-1], samples)
        assert (memory[[0, -1]] == 99).all()
        assert (X[:row] == 99).all()
        assert (X[row + columns :] == 99).all()
        held, block = (T - 1) % count + 1, X[row : row + columns].T
        assert np.array_equal(block[:held], samples[-held:])
        assert (block[held:] == samples[-1]).all()  # partial blocks repeat the last sample


LAYOUTS = {
    "Fortran order": lambda T, columns, real: np.empty((T, columns), dtype=real, order="F"),
    "columns of a wider table": lambda T, columns, real: np.empty((T, columns + 3), dtype=real)[:, 2 : 2 + columns],
    "every second sample": lambda T, columns, real: np.empty((2 * T, columns), dtype=real)[::2],
    "every second column": lambda T, columns, real: np.empty((T, 2 * columns), dtype=real)[:, ::2],
    "backwards": lambda T, columns, real: np.empty((T, columns), dtype=real)[::-1, ::-1],
}


@every_width
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("columns", [1, 2, 3, 6, 9])
def test_samples_go_in_and_out_whatever_their_strides(real, count, layout, columns):
    copied, make = compiled(copy, real, count, "sbis"), LAYOUTS[layout]
    for T in (1, count, 2 * count + 1):
        samples, out = make(T, columns, real), make(T, columns, real)
        memory = out if out.base is None else out.base
        samples[:], memory[:] = np.random.default_rng(T).normal(size=(T, columns)), 99
        assert copied(samples, buffer(columns, count, real), 0, out)
        assert np.array_equal(out, samples)
        out[:] = 99
        assert (memory == 99).all()  # nothing beside the samples was written


@every_width
def test_one_sample_may_stand_for_all(real, count):
    T, columns = 2 * count + 1, 6
    samples = np.broadcast_to(np.arange(columns, dtype=real), (T, columns))
    out = np.zeros((T, columns), dtype=real)
    assert compiled(copy, real, count, "sbis")(samples, buffer(columns, count, real), 0, out)
    assert np.array_equal(out, samples)


@every_width
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_samples_that_are_not_finite_are_noticed(real, count, value):
    copied, T, columns = compiled(copy, real, count, "sbis"), count + 3, 10
    X, out = buffer(columns, count, real), np.zeros((T, columns), dtype=real)
    with np.errstate(invalid="ignore"):  # plain Python warns of inf * 0
        for place in np.ndindex(T, columns):
            samples = np.ones((T, columns), dtype=real)
            samples[place] = value
            assert not copied(samples, X, 0, out)


# ---------------------------------------------------------------------------------------------- the stack


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="only machine code has a stack of registers")
@pytest.mark.skipif(platform.machine() != "x86_64", reason="the instruction is that of x86-64")
def test_entries_align_their_stack_to_cache_lines():
    register()
    dispatcher = numba.njit(**OPTIONS, pipeline_class=pipeline.Entry)(copy)
    samples, lanes = types.Array(types.float64, 2, "A"), buffer_type(types.float64, 8)
    dispatcher.compile((samples, lanes, types.intp, samples))
    assert re.search(r"and[ql]?\s+\$-64, %rsp", "".join(dispatcher.inspect_asm().values()))
