"""What a number is: float64, lanes of SIMD, or a scalar that counts. Kernels import their verbs from here."""

from fastdyn.scalars.counting import Counting, Operations, count
from fastdyn.scalars.jit import AddressEntry, StateEntry, entry, kernel
from fastdyn.scalars.lanes import (
    LANES,
    SINCOS_RANGE,
    add,
    all_above,
    all_finite,
    by_sign,
    columns_at,
    fill,
    floats_at,
    give,
    integers_at,
    load,
    sincos,
    store,
    take,
    width,
)

__all__ = [
    "LANES",
    "SINCOS_RANGE",
    "AddressEntry",
    "Counting",
    "Operations",
    "StateEntry",
    "add",
    "all_above",
    "all_finite",
    "by_sign",
    "columns_at",
    "count",
    "entry",
    "fill",
    "floats_at",
    "give",
    "integers_at",
    "kernel",
    "load",
    "sincos",
    "store",
    "take",
    "width",
]
