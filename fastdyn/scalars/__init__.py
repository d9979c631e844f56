"""Kinds of scalars that the same kernel texts run on, and the verbs that the texts use.

    float64     one sample, compiled
    lanes       4 to 16 samples in a SIMD value, compiled; in plain Python a NumPy row         lanes.py
    Counting    counts operations, in plain Python                                             counting.py
    Traced      records operations as a graph, in plain Python                                 tracing.py
    Symbolic    holds a SymPy expression, in plain Python                                      symbols.py

A text computes with + - * / and negation, and with these verbs (verbs.py):

    load, store, add                    one row of a buffer
    fill(buffer, value)                 a constant of the buffer's kind of scalar: x.like(value)
    angle_sum(x, offset)                x + offset, up to whole turns
    sincos(x), sincos_rows              sine and cosine: x.sincos()
    sqrt(x), atan2(y, x)                x.sqrt(), y.atan2(x)
    by_sign(x, positive, negative)      positive where x > 0, negative where x < 0, else 0: x.by_sign(...)
    where_above(x, bound, a, b)         a where x > bound, else b, in each lane: x.where_above(bound, a, b)
    minimum(x, y), maximum(x, y)        in each lane, by where_above
    all_above(x, bound)                 whether x > bound in every lane: x.all_above(bound)
    any_above(x, bound)                 whether x > bound in some lane, or not known: x.any_above(bound)
    all_finite(x)                       whether no lane is NaN or infinite: x.all_finite()
    width, take, give                   blocks of samples into a buffer and out, checked
    copy_in, block_out, copy_out        the same for straight-line code, not checked
    block(stack, k)                     the parameters of several robots, P, on lanes

Their compiled versions (lanes.py, trigonometry.py, samples.py, parameters.py) are loaded at the first compilation.
It may branch on integers, on all_above and all_finite, and on whether a constant of the model == a number; on any_above
only to skip work that would change nothing.

A new kind of scalar implements the operators, which also accept floats on either side, == for constants, and the
methods named above: x, or y of atan2, is of that kind, the other operands may be floats. Its buffers are 1-D
NumPy arrays of objects.
"""

from fastdyn.compiler.policy import kernel, lowered_by
from fastdyn.scalars.counting import Counting, Operations, Tally, count, count_stages
from fastdyn.scalars.entry import DOUBLE, SCALAR, SINGLE, Kind, entry, kind_of
from fastdyn.scalars.verbs import (
    LANES,
    SINCOS_RANGE,
    SINGLE_LANES,
    SINGLE_SINCOS_RANGE,
    add,
    all_above,
    all_finite,
    angle_sum,
    any_above,
    atan2,
    block,
    block_out,
    by_sign,
    copy_in,
    copy_out,
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

__all__ = [
    "DOUBLE",
    "LANES",
    "SCALAR",
    "SINCOS_RANGE",
    "SINGLE",
    "SINGLE_LANES",
    "SINGLE_SINCOS_RANGE",
    "Counting",
    "Kind",
    "Operations",
    "Tally",
    "add",
    "all_above",
    "all_finite",
    "angle_sum",
    "any_above",
    "atan2",
    "block",
    "block_out",
    "by_sign",
    "copy_in",
    "copy_out",
    "count",
    "count_stages",
    "entry",
    "fill",
    "give",
    "kernel",
    "kind_of",
    "load",
    "maximum",
    "minimum",
    "sincos",
    "sincos_rows",
    "sqrt",
    "store",
    "take",
    "where_above",
    "width",
]

lowered_by(
    "fastdyn.scalars.lanes", "fastdyn.scalars.trigonometry", "fastdyn.scalars.samples", "fastdyn.scalars.parameters"
)
