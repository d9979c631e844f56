"""Compiled code that reads the headers of NumPy arrays and of tuples of them.

Numba unboxes every array argument, and does not check its dtype. Here an argument is passed as the address of a Python
object and compared with a reference array: same type, same dtype, the expected axes. The offsets of these fields are
part of the binary interfaces of NumPy and Python; READABLE tells whether they were verified.
"""

import ctypes
from collections.abc import Sequence

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import config
from numba.extending import NativeValue, intrinsic, models, register_model, unbox
from numpy.typing import NDArray

from fastdyn.compiler.entries import Entry
from fastdyn.compiler.policy import kernel
from fastdyn.scalars.memory import integers_at, vector_at

TYPE, DATA, AXES, SHAPE, STRIDES, DTYPE, FLAGS = 8, 16, 24, 32, 40, 56, 64  # bytes into a PyArrayObject
SIZE = 16  # bytes into a PyTupleObject; the items begin at ITEMS
C_CONTIGUOUS, WRITEABLE = 0x1, 0x400  # bits of an array's flags


def _word(address):
    return ctypes.c_int64.from_address(address).value


def _items():
    """The offset of a tuple's items: Python 3.14 stores a hash before them."""
    pair = (object(), object())
    return next((k for k in (24, 32) if _word(id(pair) + k) == id(pair[0])), 0)


ITEMS = _items() if ctypes.sizeof(ctypes.c_void_p) == 8 else 0


def _readable():
    """Whether the fields of arrays and tuples are at the expected offsets."""
    if config.DISABLE_JIT or not ITEMS:
        return False
    array = np.zeros(3)[::2]
    at, pair = id(array), (array, array)
    if _word(at + TYPE) != id(np.ndarray) or _word(at + DTYPE) != id(array.dtype) or _word(id(pair) + SIZE) != 2:
        return False
    if _word(at + DATA) != array.ctypes.data or _word(at + AXES) & 0xFFFFFFFF != 1:
        return False
    if _word(at + FLAGS) & (C_CONTIGUOUS | WRITEABLE) != WRITEABLE:  # it is strided
        return False
    return (_word(_word(at + SHAPE)), _word(_word(at + STRIDES))) == (2, 16)


READABLE = _readable()


class ReferenceType(types.Type):
    """The address of a Python object that stays alive during the call."""

    def __init__(self):
        super().__init__(name="reference")


REFERENCE = ReferenceType()


@register_model(ReferenceType)
class _ReferenceModel(models.PrimitiveModel):
    def __init__(self, manager, frontend_type):
        super().__init__(manager, frontend_type, ir.IntType(64))


@unbox(ReferenceType)
def _unbox(reference, python_object, c):
    return NativeValue(c.builder.ptrtoint(python_object, ir.IntType(64)))


@intrinsic
def address_of(typingctx, reference):
    """The address of a Python object."""
    return types.intp(reference), lambda context, builder, sig, args: args[0]


@kernel
def word(address):
    """The int64 at an address."""
    return integers_at(address, 1, 1)[0, 0]


@kernel
def items(sequence):
    """The number of a tuple's items."""
    return word(sequence + SIZE)


@kernel
def item(sequence, k):
    """The address of a tuple's k-th item."""
    return word(sequence + ITEMS + 8 * k)


@kernel
def data_of(array):
    """The address of an array's values."""
    return word(array + DATA)


@kernel
def _alike(array, known, axes, flags):
    """Whether an object is an array of the dtype of `known`, with this number of axes and these flags."""
    if word(array + TYPE) != word(known + TYPE) or word(array + DTYPE) != word(known + DTYPE):
        return False
    return word(array + AXES) & 0xFFFFFFFF == axes and word(array + FLAGS) & flags == flags


@kernel
def is_number(array, known):
    """Whether an object is an array like `known`, of shape ()."""
    return _alike(array, known, 0, 0)


@kernel
def is_vector(array, known, n):
    """Whether an object is an array like `known`, of shape (n,)."""
    return _alike(array, known, 1, 0) and word(word(array + SHAPE)) == n


@kernel
def is_table(array, known, rows, columns):
    """Whether an object is a C-ordered array like `known`, of shape (rows, columns)."""
    if not _alike(array, known, 2, C_CONTIGUOUS):
        return False
    shape = integers_at(word(array + SHAPE), 1, 2)
    return shape[0, 0] == rows and shape[0, 1] == columns


@kernel
def copy_vector(array, target, n):
    """Copies the n values of an array with one axis to an address."""
    data, stride = word(array + DATA), word(word(array + STRIDES))
    copied = vector_at(target, n)
    for i in range(n):
        copied[i] = vector_at(data + i * stride, 1)[0]


@kernel
def copy(source, target, count):
    """Copies `count` values from one address to another."""
    a, b = vector_at(source, count), vector_at(target, count)
    for i in range(count):
        b[i] = a[i]


# rows of well_formed's table, a column for each array: number of axes, sizes of up to three axes after
# the first (samples), flags, bytes per sample
COUNT, SIZES, FLAG_BITS, BYTES, TABLE_ROWS = 0, 1, 4, 5, 6


def layout_table(shapes: Sequence[tuple[int, ...]], results: int, itemsize: int) -> NDArray[np.int64]:
    """The table for `well_formed`: `shapes` of one sample of each array, of which the last `results` are written."""
    table = np.zeros((TABLE_ROWS, len(shapes)), dtype=np.int64)
    for k, shape in enumerate(shapes):
        flags = C_CONTIGUOUS | (WRITEABLE if k >= len(shapes) - results else 0)
        table[:, k] = 1 + len(shape), *(*shape, 1, 1, 1)[:3], flags, int(np.prod(shape)) * itemsize
    return table


def well_formed(arrays, known, table, results):
    """The number of samples of arrays (T, ...), if compiled code can use all of them as they are, else -1.

    arrays: a tuple of inputs, then `results` results. They must be like `known`, C-ordered and of the shapes in the
    table; results must be writable and must not overlap any other array.
    """
    at, like = address_of(arrays), address_of(known)
    count = items(at)
    wanted = integers_at(table, TABLE_ROWS, count)
    T = -1
    for k in range(count):
        array, axes = item(at, k), wanted[COUNT, k]
        if not _alike(array, like, axes, wanted[FLAG_BITS, k]):
            return -1
        shape = integers_at(word(array + SHAPE), 1, axes)
        if k == 0:
            T = shape[0, 0]
        if shape[0, 0] != T:
            return -1
        for axis in range(1, axes):
            if shape[0, axis] != wanted[SIZES + axis - 1, k]:
                return -1
    for k in range(count - results, count):
        first = data_of(item(at, k))
        behind = first + T * wanted[BYTES, k]
        for j in range(count):
            other = data_of(item(at, j))
            if j != k and first < other + T * wanted[BYTES, j] and other < behind:
                return -1
    return T


WELL_FORMED = Entry(well_formed, lambda kind: (REFERENCE, REFERENCE, types.intp, types.intp), nogil=False)
