"""The verbs of kernel texts in plain Python, on every kind of scalar; compiled code has its own versions of them.

Buffers are of three kinds: 1-D buffers hold scalars; (rows, lanes) buffers hold lanes, in plain Python as NumPy rows;
1-D object buffers hold scalars of other kinds. Compiled versions: lanes.py, samples.py, trigonometry.py.
"""

import math
from typing import Any

import numpy as np

LANES = 8  # float64: one AVX-512 register, two AVX2 registers
SINGLE_LANES = 16  # float32: the same registers
SINCOS_RANGE = 1.0e6  # rad: up to here the range reduction of float64 is exact
SINGLE_SINCOS_RANGE = 8192.0  # the same for float32

# ---------------------------------------------------------------------------------------------- buffers


def load(buffer, row):
    """The value in a row of a buffer."""
    return buffer[row].copy() if buffer.ndim == 2 else buffer[row]


def store(buffer, row, value):
    """Stores a value in a row of a buffer."""
    buffer[row] = value


def add(buffer, row, value):
    """Adds a value to a row of a buffer."""
    buffer[row] = buffer[row] + value


def fill(buffer, value):
    """A constant, which may be a scalar already, as the kind of scalar that the buffer holds."""
    if buffer.ndim == 2:
        return np.full(buffer.shape[1], value, dtype=buffer.dtype)
    return buffer[0].like(value) if buffer.dtype == object else value


# ---------------------------------------------------------------------------------------------- functions of scalars


def angle_sum(x: Any, offset: Any) -> Any:
    """x + offset, up to whole turns, which single precision takes off x first."""
    if isinstance(x, np.ndarray) and x.dtype == np.float32:
        wide = x.astype(np.float64)
        x = np.arctan2(np.sin(wide), np.cos(wide)).astype(np.float32)
    return x + offset


def sincos(x: Any) -> Any:
    """Sine and cosine. Compiled float64: within 2.2e-16 of the true value up to SINCOS_RANGE, then the C library's."""
    if hasattr(x, "sincos"):
        return x.sincos()
    if isinstance(x, np.ndarray):
        return np.sin(x), np.cos(x)
    return (math.sin(x), math.cos(x)) if math.isfinite(x) else (math.nan, math.nan)


def sincos_rows(buffer, count):
    """Replaces the angles in the first `count` rows of a buffer by their sines; the cosines fill the next `count`."""
    for i in range(count):
        s, c = sincos(load(buffer, i))
        store(buffer, i, s)
        store(buffer, count + i, c)


def by_sign(x: Any, positive: Any, negative: Any) -> Any:
    """`positive` where x > 0, `negative` where x < 0, else 0."""
    if hasattr(x, "by_sign"):
        return x.by_sign(positive, negative)
    if isinstance(x, np.ndarray):
        zero = x.dtype.type(0)
        return np.where(x > 0, positive, np.where(x < 0, negative, zero))
    return positive if x > 0 else (negative if x < 0 else 0.0)


def sqrt(x: Any) -> Any:
    """The square root; NaN for negative numbers."""
    if hasattr(x, "sqrt"):
        return x.sqrt()
    if isinstance(x, np.ndarray):
        with np.errstate(invalid="ignore"):
            return np.sqrt(x)
    return math.sqrt(x) if x >= 0 else math.nan


def atan2(y: Any, x: Any) -> Any:
    """The angle of the point (x, y) in [-pi, pi], as the C library's, zeros and infinities included.

    Compiled: within 3 ulp, for |x| + |y| below the largest number.
    """
    kind = _kind(y, x)
    if kind is not None:
        return _like(kind, y).atan2(x)
    return np.arctan2(y, x) if _rows(y, x) else math.atan2(y, x)


def where_above(x: Any, bound: Any, above: Any, otherwise: Any) -> Any:
    """`above` where x > bound, else `otherwise`, also for NaN."""
    kind = _kind(x, bound, above, otherwise)
    if kind is not None:
        return _like(kind, x).where_above(bound, above, otherwise)
    if _rows(x, bound, above, otherwise):
        return np.where(x > bound, above, otherwise)
    return above if x > bound else otherwise


def minimum(x: Any, y: Any) -> Any:
    """The smaller of two; NaN if one of them is."""
    if _kind(x, y) is not None:
        return where_above(x, y, y, x)
    return np.minimum(x, y)


def maximum(x: Any, y: Any) -> Any:
    """The larger of two; NaN if one of them is."""
    if _kind(x, y) is not None:
        return where_above(x, y, x, y)
    return np.maximum(x, y)


def _kind(*values: Any) -> Any:
    """A scalar of a kind of its own among some values, or None."""
    return next((value for value in values if hasattr(value, "where_above")), None)


def _like(kind: Any, x: Any) -> Any:
    return x if isinstance(x, type(kind)) else kind.like(x)


def _rows(*values: Any) -> bool:
    return any(isinstance(value, np.ndarray) for value in values)


def all_above(x, bound):
    """Whether x > bound in every lane; False for NaN."""
    return x.all_above(bound) if hasattr(x, "all_above") else bool(np.all(x > bound))


def any_above(x, bound):
    """Whether x > bound in some lane. Kinds of scalars that do not know, or must not depend on values, say True."""
    return x.any_above(bound) if hasattr(x, "any_above") else bool(np.any(x > bound))


def all_finite(x):
    """Whether no lane is NaN or infinite."""
    return x.all_finite() if hasattr(x, "all_finite") else bool(np.isfinite(x).all())


# ---------------------------------------------------------------------------------------------- samples


def width(buffer):
    """The number of samples in a row of the buffer."""
    return buffer.shape[1] if buffer.ndim == 2 else 1


def take(samples, first, buffer, row):
    """Loads a block of samples, beginning with number `first`, into the buffer: column k into row `row + k`.

    Partial blocks repeat the last sample. Returns 0, or NaN in some lane if a sample is not finite.
    """
    check = fill(buffer, 0.0)
    for k in range(samples.shape[1]):
        if buffer.ndim == 2:
            value = samples[np.minimum(np.arange(first, first + buffer.shape[1]), samples.shape[0] - 1), k]
        else:
            value = samples[first, k]
        store(buffer, row + k, value)
        check = check + value * 0.0
    return check


def give(samples, first, buffer, row):
    """Stores a block of samples, without those past the last: row `row + k` into column k; returns as `take`."""
    check = fill(buffer, 0.0)
    for k in range(samples.shape[1]):
        value = load(buffer, row + k)
        if buffer.ndim == 2:
            samples[first : first + buffer.shape[1], k] = value[: samples.shape[0] - first]
        else:
            samples[first, k] = value
        check = check + value * 0.0
    return check


def copy_in(samples, first, buffer, columns):
    """As `take`, into the first rows and without a check, for a number of columns that the source states."""
    take(samples, first, buffer, 0)


def block_out(samples, first, buffer):
    """Where straight-line code stores a block of results, and whether that is the samples' own memory.

    Compiled, on lanes: a block of samples, column by column of each; the samples themselves if they are contiguous.
    """
    return buffer, False


def copy_out(samples, first, buffer, columns):
    """Stores a block of results that is not in the samples' own memory, for a number of columns as in `copy_in`."""
    give(samples, first, buffer, 0)


# ---------------------------------------------------------------------------------------------- robots on lanes


def block(stack, k):
    """P of the k-th block of robots of a stack (blocks, links, rows, lanes): P[row, i] is a value for each lane."""
    return stack[k].transpose(1, 0, 2)
