"""What a number is: float64, lanes of SIMD, or a scalar that counts. Kernels import their verbs from here."""

from fastdyn.scalars.counting import Counting, Operations, count
from fastdyn.scalars.jit import entry, kernel
from fastdyn.scalars.lanes import (
    LANES,
    SINCOS_RANGE,
    add,
    all_above,
    all_finite,
    by_sign,
    fill,
    give,
    load,
    sincos,
    store,
    take,
    width,
)

__all__ = [
    "LANES",
    "SINCOS_RANGE",
    "Counting",
    "Operations",
    "add",
    "all_above",
    "all_finite",
    "by_sign",
    "count",
    "entry",
    "fill",
    "give",
    "kernel",
    "load",
    "sincos",
    "store",
    "take",
    "width",
]
