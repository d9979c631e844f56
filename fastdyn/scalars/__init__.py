"""What a number is: float64, lanes of SIMD, or a scalar that counts. Kernels import their verbs from here."""

from fastdyn.compiler.policy import AddressEntry, Entry, entry, kernel
from fastdyn.scalars.counting import Counting, Operations, count, count_stages
from fastdyn.scalars.lanes import LANES, SINGLE_LANES, add, all_above, all_finite, buffer_type, by_sign, fill, load, store
from fastdyn.scalars.samples import columns_at, floats_at, give, integers_at, take, width
from fastdyn.scalars.trigonometry import SINCOS_RANGE, SINGLE_SINCOS_RANGE, sincos, sincos_rows

__all__ = [
    "LANES",
    "SINCOS_RANGE",
    "SINGLE_LANES",
    "SINGLE_SINCOS_RANGE",
    "AddressEntry",
    "Counting",
    "Entry",
    "Operations",
    "add",
    "all_above",
    "all_finite",
    "buffer_type",
    "by_sign",
    "columns_at",
    "count",
    "count_stages",
    "entry",
    "fill",
    "floats_at",
    "give",
    "integers_at",
    "kernel",
    "load",
    "sincos",
    "sincos_rows",
    "store",
    "take",
    "width",
]
