"""NumPy arrays as the Python objects they are: compiled code looks into them, which is quicker than Python can.

Numba takes an array apart for every argument, and does not look at its dtype. Here an argument arrives as the address
of a Python object, and is compared with an array that is known to be right: same type, same dtype, the axes wanted. The
places of NumPy's fields are part of its binary interface; READABLE tells whether they were found there.
"""

import ctypes

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import config
from numba.extending import NativeValue, intrinsic, models, register_model, unbox

from fastdyn.compiler.policy import Entry, kernel
from fastdyn.scalars.samples import floats_at, integers_at

TYPE, DATA, AXES, SHAPE, STRIDES, DTYPE, FLAGS = 8, 16, 24, 32, 40, 56, 64  # bytes into a PyArrayObject
C_CONTIGUOUS, WRITEABLE = 0x1, 0x400  # bits of its flags


class ReferenceType(types.Type):
    """The address of a Python object, which lives as long as the call."""

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
def _address(typingctx, reference):
    return types.intp(reference), lambda context, builder, sig, args: args[0]


@kernel
def _word(address):
    return integers_at(address, 1, 1)[0, 0]


@kernel
def _alike(here, known):
    """Whether an object is an array, of the known one's dtype."""
    there = _address(known)
    return _word(here + TYPE) == _word(there + TYPE) and _word(here + DTYPE) == _word(there + DTYPE)


@kernel
def _axes(here):
    return _word(here + AXES) & 0xFFFFFFFF


@kernel
def is_state(reference, known, n):
    """Whether an object is an array like the known one, with one axis of n."""
    here = _address(reference)
    return _alike(here, known) and _axes(here) == 1 and _word(_word(here + SHAPE)) == n


@kernel
def _samples(reference, known, axes, n, last, flags):
    """T of an array like the known one with so many axes, (T,), (T, n) or (T, n, last); else -1."""
    here = _address(reference)
    if not _alike(here, known) or _axes(here) != axes or _word(here + FLAGS) & flags != flags:
        return -1
    shape = integers_at(_word(here + SHAPE), 1, axes)
    if (axes > 1 and shape[0, 1] != n) or (axes > 2 and shape[0, 2] != last):
        return -1
    return shape[0, 0]


@kernel
def _apart(reference, other, size, other_size):
    """Whether two stretches of memory, of so many bytes, have nothing in common."""
    a, b = data_of(reference), data_of(other)
    return a + size <= b or b + other_size <= a


def well_formed(q, qd, qdd, out, known, bytes_each, n, axes, last):
    """How many samples three (T, n) arrays like the known one have, if their results can go to `out`, else -1.

    They are ready for compiled code: C-ordered; `out` (T,), (T, n) or (T, n, last), and apart from the others.
    """
    T = _samples(q, known, 2, n, n, C_CONTIGUOUS)
    if _samples(qd, known, 2, n, n, C_CONTIGUOUS) != T or _samples(qdd, known, 2, n, n, C_CONTIGUOUS) != T:
        return -1
    if _samples(out, known, axes, n, last, C_CONTIGUOUS | WRITEABLE) != T:
        return -1
    size = T * n * bytes_each
    out_size = size * last if axes > 2 else size
    apart = _apart(out, q, out_size, size) and _apart(out, qd, out_size, size) and _apart(out, qdd, out_size, size)
    return T if apart else -1


@kernel
def copy_state(reference, target, n):
    """Copies the n values of an array with one axis to an address."""
    here = _address(reference)
    data, stride = _word(here + DATA), _word(_word(here + STRIDES))
    copy = floats_at(target, 1, n)
    for i in range(n):
        copy[0, i] = floats_at(data + i * stride, 1, 1)[0, 0]


@kernel
def data_of(reference):
    """Where an array's values begin."""
    return _word(_address(reference) + DATA)


class StateEntry(Entry):
    """An entry for one state: references to arrays, the result last, and a workspace's address.

    It keeps the GIL, so that one workspace serves all threads.
    """

    nogil = False

    def signature(self, width=1):
        """References and an address."""
        return (*[REFERENCE] * (self.py_func.__code__.co_argcount - 1), types.intp)


class LookEntry(StateEntry):
    """An entry that looks at arrays: five references, and four whole numbers."""

    def signature(self, width=1):
        """References and numbers."""
        return (*[REFERENCE] * 5, *[types.intp] * 4)


WELL_FORMED = LookEntry(well_formed)


def _readable():
    """Whether the fields of an array stand where they are looked for."""
    if config.DISABLE_JIT or ctypes.sizeof(ctypes.c_void_p) != 8:
        return False
    array = np.zeros(3)[::2]
    word = ctypes.c_int64.from_address
    at = id(array)
    if word(at + TYPE).value != id(np.ndarray) or word(at + DTYPE).value != id(array.dtype):
        return False
    if word(at + DATA).value != array.ctypes.data or word(at + AXES).value & 0xFFFFFFFF != 1:
        return False
    if word(at + FLAGS).value & (C_CONTIGUOUS | WRITEABLE) != WRITEABLE:  # it is strided
        return False
    return (word(word(at + SHAPE).value).value, word(word(at + STRIDES).value).value) == (2, 16)


READABLE = _readable()
