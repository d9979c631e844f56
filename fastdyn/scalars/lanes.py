"""Lanes: several samples in one SIMD value, so that one kernel text serves one sample or many.

The compiled versions of the verbs (verbs.py): 1-D buffers hold scalars; (rows, lanes) buffers hold lanes.

The Numba type of a buffer carries its number of lanes: `buffer_type`.
"""

import math
import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model

from fastdyn.compiler.policy import FAST, overload
from fastdyn.scalars.verbs import (
    LANES,
    SINGLE_LANES,
    add,
    all_above,
    all_finite,
    any_above,
    by_sign,
    fill,
    load,
    maximum,
    minimum,
    sqrt,
    store,
    where_above,
)

# ---------------------------------------------------------------------------------------------- the types


class LaneType(types.Type):
    """`count` floats in one LLVM vector."""

    def __init__(self, element, count):
        self.element, self.count = element, count
        super().__init__(name=f"{element}x{count}")

    @property
    def vector(self):
        """The LLVM type."""
        return ir.VectorType(ir.DoubleType() if self.element == types.float64 else ir.FloatType(), self.count)


class CountedArray(types.Array):
    """A C-ordered array whose last axis has a length that its type knows: `count` lanes."""

    def __init__(self, element, axes, count):
        self.count = count
        super().__init__(element, axes, "C", name=f"{type(self).__name__}({element}, {count})")

    @property
    def key(self):
        """What makes two types the same."""
        return *super().key, self.count

    @property
    def mangling_args(self):
        """The part of a compiled function's name that stands for this type."""
        return type(self).__name__, [self.dtype, self.count]


class LaneBuffer(CountedArray):
    """A (rows, count) array of floats whose rows are loaded and stored as lanes."""

    def __init__(self, element, count):
        super().__init__(element, 2, count)

    def copy(self, dtype=None, ndim=None, layout=None, readonly=None):
        """The type of a slice: rows remain rows of lanes, anything else is a plain array."""
        found = super().copy(dtype, ndim, layout, readonly)
        return self if found == types.Array(self.dtype, 2, "C") else found


INT32 = ir.IntType(32)
register_model(LaneBuffer)(models.ArrayModel)


@register_model(LaneType)
class _LaneModel(models.PrimitiveModel):
    def __init__(self, manager, frontend_type):
        super().__init__(manager, frontend_type, frontend_type.vector)


def buffer_type(element: Any, count: int) -> Any:
    """The Numba type of a buffer whose rows hold `count` samples: 1-D for one, otherwise (rows, count).

    Signatures use it. A buffer typed from a NumPy array does not know its count and holds LANES float64 or SINGLE_LANES
    float32.
    """
    return types.Array(element, 1, "C") if count == 1 else LaneBuffer(element, count)


def lane_of(buffer):
    """The type of a row of a buffer of lanes."""
    usual = SINGLE_LANES if buffer.dtype == types.float32 else LANES
    return LaneType(buffer.dtype, buffer.count if isinstance(buffer, LaneBuffer) else usual)


def is_lane(t):
    """Whether a Numba type is one of lanes."""
    return isinstance(t, LaneType)


def constant(value, kind):
    """A constant of LLVM type `kind`, in every lane if it is a vector."""
    return ir.Constant(kind, [value] * kind.count if isinstance(kind, ir.VectorType) else value)


def splat(builder, x, vector):
    """A value in every lane."""
    undefined = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(undefined, x, ir.Constant(INT32, 0))
    return builder.shuffle_vector(first, undefined, constant(0, ir.VectorType(INT32, vector.count)))


def widened(context, builder, value, t, lane):
    """A number, or lanes, as lanes."""
    return value if is_lane(t) else splat(builder, context.cast(builder, value, t, lane.element), lane.vector)


def _is_number(t):
    return isinstance(t, (types.Float, types.Integer))


# ---------------------------------------------------------------------------------------------- arithmetic


def _define_binary(op, instruction):
    @intrinsic
    def vector_op(typingctx, a, b):
        lane = a if is_lane(a) else b

        def lower(context, builder, sig, args):
            x, y = (widened(context, builder, v, t, lane) for v, t in zip(args, sig.args, strict=True))
            return getattr(builder, instruction)(x, y, flags=FAST)

        return lane(a, b), lower

    @overload(op)
    def overloaded(a, b):
        if (is_lane(a) and (a == b or _is_number(b))) or (is_lane(b) and _is_number(a)):
            return lambda a, b: vector_op(a, b)
        return None


for _op, _instruction in (
    (operator.add, "fadd"),
    (operator.sub, "fsub"),
    (operator.mul, "fmul"),
    (operator.truediv, "fdiv"),
):
    _define_binary(_op, _instruction)


@intrinsic
def _negate(typingctx, x):
    return x(x), lambda context, builder, sig, args: builder.fneg(args[0])


@overload(operator.neg)
def _negate_overload(x):
    return (lambda x: _negate(x)) if is_lane(x) else None


@intrinsic
def _sqrt(typingctx, x):
    def lower(context, builder, sig, args):
        kind = f"v{x.count}f{64 if x.element == types.float64 else 32}"
        unary = ir.FunctionType(x.vector, [x.vector])
        return builder.call(cgutils.get_or_insert_function(builder.module, unary, f"llvm.sqrt.{kind}"), args)

    return x(x), lower


@overload(sqrt)
def _sqrt_overload(x):
    return (lambda x: _sqrt(x)) if is_lane(x) else (lambda x: math.sqrt(x))


# ---------------------------------------------------------------------------------------------- buffers


def row_pointer(context, builder, array_type, array, row):
    """The address of a row of a buffer of lanes."""
    vector = lane_of(array_type).vector
    data = context.make_array(array_type)(context, builder, array).data
    offset = builder.mul(row, ir.Constant(row.type, vector.count))
    return builder.bitcast(builder.gep(data, [offset]), vector.as_pointer())


def load_row(builder, pointer):
    """The lanes at a pointer that is aligned to its elements."""
    value = builder.load(pointer)
    value.align = 4
    return value


def store_row(builder, value, pointer):
    """Stores lanes at a pointer that is aligned to its elements."""
    builder.store(value, pointer).align = 4


def first_of(builder, count, some):
    """A mask for `count` values that is on for the first `some` of them."""
    numbers = ir.VectorType(ir.IntType(64), count)
    return builder.icmp_signed("<", ir.Constant(numbers, list(range(count))), splat(builder, some, numbers))


def masked_load(builder, pointer, mask, otherwise):
    """Loads values where the mask is on; other memory is not accessed."""
    return _masked(builder, "load", otherwise.type, otherwise.type, [pointer, ir.Constant(INT32, 4), mask, otherwise])


def masked_store(builder, value, pointer, mask):
    """Stores values where the mask is on; other memory is not accessed."""
    _masked(builder, "store", value.type, ir.VoidType(), [value, pointer, ir.Constant(INT32, 4), mask])


def _masked(builder, name, vector, result, arguments):
    function = ir.FunctionType(result, [a.type for a in arguments])
    kind = f"v{vector.count}f{64 if vector.element == ir.DoubleType() else 32}"
    callee = cgutils.get_or_insert_function(builder.module, function, f"llvm.masked.{name}.{kind}.p0")
    return builder.call(callee, arguments)


@intrinsic
def _load(typingctx, array, row):
    def lower(context, builder, sig, args):
        return load_row(builder, row_pointer(context, builder, sig.args[0], *args))

    return lane_of(array)(array, types.intp), lower


@intrinsic
def _store(typingctx, array, row, value):
    lane = lane_of(array)

    def lower(context, builder, sig, args):
        store_row(builder, args[2], row_pointer(context, builder, sig.args[0], *args[:2]))
        return context.get_dummy_value()

    return types.none(array, types.intp, lane), lower


@intrinsic
def _fill(typingctx, array, x):
    lane = lane_of(array)

    def lower(context, builder, sig, args):
        return widened(context, builder, args[1], sig.args[1], lane)

    return lane(array, x), lower


@overload(load)
def _load_overload(buffer, row):
    return (lambda buffer, row: buffer[row]) if buffer.ndim == 1 else (lambda buffer, row: _load(buffer, row))


@overload(store)
def _store_overload(buffer, row, value):
    return store if buffer.ndim == 1 else lambda buffer, row, value: _store(buffer, row, value)


@overload(add)
def _add_overload(buffer, row, value):
    if buffer.ndim == 1:
        return add
    return lambda buffer, row, value: _store(buffer, row, _load(buffer, row) + value)


@overload(fill)
def _fill_overload(buffer, value):
    if buffer.ndim == 1:
        return lambda buffer, value: float(value)
    return lambda buffer, value: _fill(buffer, value)


# ---------------------------------------------------------------------------------------------- comparisons


@intrinsic
def _by_sign(typingctx, x, positive, negative):
    def lower(context, builder, sig, args):
        zero = constant(0.0, x.vector)
        plus, minus = (widened(context, builder, v, t, x) for v, t in zip(args[1:], sig.args[1:], strict=True))
        below = builder.select(builder.fcmp_ordered("<", args[0], zero), minus, zero)
        return builder.select(builder.fcmp_ordered(">", args[0], zero), plus, below)

    return x(x, positive, negative), lower


@intrinsic
def _where_above(typingctx, x, bound, above, otherwise):
    lane = next(t for t in (x, bound, above, otherwise) if is_lane(t))

    def lower(context, builder, sig, args):
        values = (widened(context, builder, v, t, lane) for v, t in zip(args, sig.args, strict=True))
        value, limit, then, other = values
        return builder.select(builder.fcmp_ordered(">", value, limit), then, other)

    return lane(x, bound, above, otherwise), lower


def _define_extreme(verb, order):
    @intrinsic
    def extreme(typingctx, x, y):
        lane = x if is_lane(x) else y

        def lower(context, builder, sig, args):
            a, b = (widened(context, builder, v, t, lane) for v, t in zip(args, sig.args, strict=True))
            found = builder.select(builder.fcmp_ordered(order, a, b), a, b)  # b if one is NaN
            return builder.select(builder.fcmp_unordered("uno", a, a), a, found)

        return lane(x, y), lower

    @overload(verb)
    def overloaded(x, y):
        if is_lane(x) or is_lane(y):
            return lambda x, y: extreme(x, y)
        if order == "<":
            return lambda x, y: float(x) if x < y or x != x else float(y)
        return lambda x, y: float(x) if x > y or x != x else float(y)


_define_extreme(minimum, "<")
_define_extreme(maximum, ">")


def every(builder, bits):
    """i1: whether all bits of a vector of i1 are set."""
    whole = ir.IntType(bits.type.count)
    return builder.icmp_signed("==", builder.bitcast(bits, whole), ir.Constant(whole, -1))


@intrinsic
def _all_above(typingctx, x, bound):
    def lower(context, builder, sig, args):
        limit = widened(context, builder, args[1], sig.args[1], x)
        return every(builder, builder.fcmp_ordered(">", args[0], limit))

    return types.boolean(x, bound), lower


@intrinsic
def _any_above(typingctx, x, bound):
    def lower(context, builder, sig, args):
        limit = widened(context, builder, args[1], sig.args[1], x)
        return builder.not_(every(builder, builder.not_(builder.fcmp_ordered(">", args[0], limit))))

    return types.boolean(x, bound), lower


@intrinsic
def _all_finite(typingctx, x):
    def lower(context, builder, sig, args):
        # comparisons only: the compiler may replace x - x by 0
        above = builder.fcmp_ordered(">", args[0], constant(-math.inf, x.vector))
        return every(builder, builder.and_(above, builder.fcmp_ordered("<", args[0], constant(math.inf, x.vector))))

    return types.boolean(x), lower


@overload(by_sign)
def _by_sign_overload(x, positive, negative):
    if is_lane(x):
        return lambda x, positive, negative: _by_sign(x, positive, negative)
    return lambda x, positive, negative: positive if x > 0 else (negative if x < 0 else 0.0)


@overload(where_above)
def _where_above_overload(x, bound, above, otherwise):
    if any(is_lane(t) for t in (x, bound, above, otherwise)):
        return lambda x, bound, above, otherwise: _where_above(x, bound, above, otherwise)
    return lambda x, bound, above, otherwise: float(above) if x > bound else float(otherwise)


@overload(any_above)
def _any_above_overload(x, bound):
    return (lambda x, bound: _any_above(x, bound)) if is_lane(x) else (lambda x, bound: x > bound)


@overload(all_above)
def _all_above_overload(x, bound):
    return (lambda x, bound: _all_above(x, bound)) if is_lane(x) else (lambda x, bound: x > bound)


@overload(all_finite)
def _all_finite_overload(x):
    return (lambda x: _all_finite(x)) if is_lane(x) else (lambda x: -math.inf < x < math.inf)
