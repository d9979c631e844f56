"""What a number is: float64, lanes of SIMD, or a scalar that counts. Kernels import their verbs from here."""

from fastdyn.scalars.counting import Counting, Operations, count, count_stages
from fastdyn.scalars.jit import AddressEntry, Entry, entry, kernel
from fastdyn.scalars.lanes import LANES, SINGLE_LANES, add, all_above, all_finite, by_sign, fill, load, store
from fastdyn.scalars.references import READABLE, WELL_FORMED, StateEntry, copy_state, data_of, is_state
from fastdyn.scalars.samples import columns_at, floats_at, give, integers_at, take, width
from fastdyn.scalars.trigonometry import SINCOS_RANGE, SINGLE_SINCOS_RANGE, sincos, sincos_rows

__all__ = [
    "LANES",
    "READABLE",
    "SINCOS_RANGE",
    "SINGLE_LANES",
    "SINGLE_SINCOS_RANGE",
    "WELL_FORMED",
    "AddressEntry",
    "Counting",
    "Entry",
    "Operations",
    "StateEntry",
    "add",
    "all_above",
    "all_finite",
    "by_sign",
    "columns_at",
    "copy_state",
    "count",
    "count_stages",
    "data_of",
    "entry",
    "fill",
    "floats_at",
    "give",
    "integers_at",
    "is_state",
    "kernel",
    "load",
    "sincos",
    "sincos_rows",
    "store",
    "take",
    "width",
]
