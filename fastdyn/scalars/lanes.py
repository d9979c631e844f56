"""Lanes: LANES samples in one SIMD value, so that one kernel text serves one sample or LANES of them.

A kernel speaks to its buffers through a few verbs. On a 1-D float64 buffer they mean scalars; on a 2-D (rows, LANES)
buffer they mean lanes; in plain Python they work on any object with + - * / (counting scalars, NumPy rows).

    load, store, add     one row of a buffer
    fill                 a constant, as wide as the buffer
    sincos               sine and cosine, accurate for every finite argument
    by_sign              one of two constants, by the sign of a value
    all_above            whether every lane exceeds a bound (False for NaN)
    all_finite           whether no lane is NaN or infinite
    width, take, give    samples in and out of (T, columns) arrays
"""

import math
import operator

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, overload, register_model
from numba.np.arrayobj import populate_array

from fastdyn.scalars.jit import FAST

LANES = 8  # one AVX-512 register, two AVX2 registers

# ---------------------------------------------------------------------------------------------- the type


class LaneType(types.Type):
    """LANES doubles in one LLVM vector."""

    def __init__(self):
        super().__init__(name=f"f64x{LANES}")


lane = LaneType()
_VECTOR = ir.VectorType(ir.DoubleType(), LANES)
_INT32 = ir.IntType(32)


@register_model(LaneType)
class _LaneModel(models.PrimitiveModel):
    def __init__(self, manager, frontend_type):
        super().__init__(manager, frontend_type, _VECTOR)


def _constant(value):
    return ir.Constant(_VECTOR, [float(value)] * LANES)


def _splat(builder, x):
    undefined = ir.Constant(_VECTOR, ir.Undefined)
    first = builder.insert_element(undefined, x, ir.Constant(_INT32, 0))
    return builder.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(_INT32, LANES), [0] * LANES))


def _is_number(t):
    return isinstance(t, (types.Float, types.Integer))


# ---------------------------------------------------------------------------------------------- + - * / and minus


def _define_binary(op, instruction: str):
    def lower(context, builder, sig, args):
        a, b = (
            v if t == lane else _splat(builder, context.cast(builder, v, t, types.float64))
            for v, t in zip(args, sig.args, strict=True)
        )
        return getattr(builder, instruction)(a, b, flags=FAST)

    @intrinsic
    def vector_op(typingctx, a, b):
        return lane(a, b), lower

    @overload(op)
    def overloaded(a, b):
        if (a == lane and (b == lane or _is_number(b))) or (b == lane and _is_number(a)):
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
    return lane(lane), lambda context, builder, sig, args: builder.fneg(args[0])


@overload(operator.neg)
def _negate_overload(x):
    return (lambda x: _negate(x)) if x == lane else None


# ---------------------------------------------------------------------------------------------- buffers


def load(buffer, row):
    """The value in a row of a buffer."""
    return buffer[row].copy() if buffer.ndim == 2 else buffer[row]


def store(buffer, row, value):
    """Puts a value into a row of a buffer."""
    buffer[row] = value


def add(buffer, row, value):
    """Adds a value to a row of a buffer."""
    buffer[row] = buffer[row] + value


def fill(buffer, value):
    """A constant, as wide as the buffer's rows; of the buffer's own kind of scalar where it holds objects."""
    if buffer.ndim == 2:
        return np.full(buffer.shape[1], value)
    return type(buffer[0])(value) if buffer.dtype == object else value


def _row_pointer(context, builder, array_type, array, row):
    data = context.make_array(array_type)(context, builder, array).data
    offset = builder.mul(row, ir.Constant(row.type, LANES))
    return builder.bitcast(builder.gep(data, [offset]), _VECTOR.as_pointer())


@intrinsic
def _load(typingctx, array, row):
    def lower(context, builder, sig, args):
        value = builder.load(_row_pointer(context, builder, sig.args[0], *args))
        value.align = 8
        return value

    return lane(array, types.intp), lower


@intrinsic
def _store(typingctx, array, row, value):
    def lower(context, builder, sig, args):
        stored = builder.store(args[2], _row_pointer(context, builder, sig.args[0], *args[:2]))
        stored.align = 8
        return context.get_dummy_value()

    return types.none(array, types.intp, lane), lower


@intrinsic
def _fill(typingctx, x):
    return lane(types.float64), lambda context, builder, sig, args: _splat(builder, args[0])


@overload(load)
def _load_overload(buffer, row):
    return (lambda buffer, row: buffer[row]) if buffer.ndim == 1 else (lambda buffer, row: _load(buffer, row))


@overload(store)
def _store_overload(buffer, row, value):
    if buffer.ndim == 1:
        return store
    return lambda buffer, row, value: _store(buffer, row, value)


@overload(add)
def _add_overload(buffer, row, value):
    if buffer.ndim == 1:
        return add
    return lambda buffer, row, value: _store(buffer, row, _load(buffer, row) + value)


@overload(fill)
def _fill_overload(buffer, value):
    if buffer.ndim == 1:
        return lambda buffer, value: float(value)
    return lambda buffer, value: _fill(float(value))


def _define_view(dtype, layout):
    @intrinsic
    def view(typingctx, address, rows, columns):
        """The memory at an address as an array of (rows, columns), in compiled code only."""
        array_type = types.Array(dtype, 2, layout)

        def lower(context, builder, sig, args):
            array = context.make_array(array_type)(context, builder)
            element = context.get_data_type(dtype)
            size = ir.Constant(args[0].type, 8)
            strides = [size, builder.mul(size, args[1])] if layout == "F" else [builder.mul(size, args[2]), size]
            data = builder.inttoptr(args[0], element.as_pointer())
            populate_array(array, data=data, shape=args[1:], strides=strides, itemsize=size, meminfo=None)
            return array._getvalue()

        return array_type(types.intp, types.intp, types.intp), lower

    return view


floats_at, columns_at, integers_at = (
    _define_view(types.float64, "C"),
    _define_view(types.float64, "F"),
    _define_view(types.int64, "C"),
)


# ---------------------------------------------------------------------------------------------- questions about lanes


def by_sign(x, positive, negative):
    """`positive` where x > 0, `negative` where x < 0, else 0."""
    if hasattr(x, "by_sign"):
        return x.by_sign(positive, negative)
    if isinstance(x, np.ndarray):
        return np.where(x > 0, positive, np.where(x < 0, negative, 0.0))
    return positive if x > 0 else (negative if x < 0 else 0.0)


def all_above(x, bound):
    """Whether x > bound in every lane; a NaN is not above anything."""
    return bool(np.all(x > bound))


def all_finite(x):
    """Whether no lane is NaN or infinite."""
    return bool(np.all(x - x == 0))


@intrinsic
def _by_sign(typingctx, x, positive, negative):
    def lower(context, builder, sig, args):
        x, positive, negative = args[0], _splat(builder, args[1]), _splat(builder, args[2])
        below = builder.select(builder.fcmp_ordered("<", x, _constant(0)), negative, _constant(0))
        return builder.select(builder.fcmp_ordered(">", x, _constant(0)), positive, below)

    return lane(lane, types.float64, types.float64), lower


def _every(builder, bits):
    """i1: whether all bits of a vector of i1 are set."""
    mask = builder.bitcast(bits, ir.IntType(LANES))
    return builder.icmp_signed("==", mask, ir.Constant(ir.IntType(LANES), -1))


@intrinsic
def _all_above(typingctx, x, bound):
    def lower(context, builder, sig, args):
        return _every(builder, builder.fcmp_ordered(">", args[0], _splat(builder, args[1])))

    return types.boolean(lane, types.float64), lower


@intrinsic
def _all_finite(typingctx, x):
    def lower(context, builder, sig, args):
        return _every(builder, builder.fcmp_ordered("==", builder.fsub(args[0], args[0]), _constant(0)))

    return types.boolean(lane), lower


@overload(by_sign)
def _by_sign_overload(x, positive, negative):
    if x == lane:
        return lambda x, positive, negative: _by_sign(x, positive, negative)
    return lambda x, positive, negative: positive if x > 0 else (negative if x < 0 else 0.0)


@overload(all_above)
def _all_above_overload(x, bound):
    return (lambda x, bound: _all_above(x, bound)) if x == lane else (lambda x, bound: x > bound)


@overload(all_finite)
def _all_finite_overload(x):
    return (lambda x: _all_finite(x)) if x == lane else (lambda x: math.isfinite(x))


# ---------------------------------------------------------------------------------------------- sine and cosine

# fdlibm's minimax polynomials on [-pi/4, pi/4]; pi/2 in three parts (Cody and Waite). The first two parts have 33 bits,
# so that k times a part is exact while |k| < 2^20: hence the range.
_SIN = (-1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04,
        2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10)  # fmt: skip
_COS = (4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
        -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11)  # fmt: skip
_HALF_PI = (1.57079632673412561417e00, 6.07710050630396597660e-11, 2.02226624879595063154e-21)
SINCOS_RANGE = 1.0e6  # radians; beyond it (and for NaN and infinity) each lane, or scalar, asks the C library


def sincos(x):
    """Sine and cosine. Compiled: within 1.2e-16 of the true value up to SINCOS_RANGE, the C library's beyond."""
    if hasattr(x, "sincos"):
        return x.sincos()
    return (np.sin(x), np.cos(x)) if isinstance(x, np.ndarray) else (math.sin(x), math.cos(x))


def _like(value, kind):
    """A constant of LLVM type `kind`, in every lane if it is a vector."""
    return ir.Constant(kind, [value] * kind.count if isinstance(kind, ir.VectorType) else value)


@intrinsic
def _sincos_polynomial(typingctx, x):
    def lower(context, b, sig, args):
        floats = args[0].type
        integers = ir.VectorType(ir.IntType(64), LANES) if isinstance(floats, ir.VectorType) else ir.IntType(64)
        # no reordering: the reduction depends on the order (and Numba would add its flags where it finds none)
        flags = ("contract",)

        def plus(u, v):
            return b.fadd(u, v, flags=flags)

        def minus(u, v):
            return b.fsub(u, v, flags=flags)

        def times(u, v):
            return b.fmul(u, v, flags=flags)

        def horner(z, coefficients):
            p = _like(coefficients[-1], floats)
            for c in coefficients[-2::-1]:
                p = plus(_like(c, floats), times(z, p))
            return p

        # adding and taking away 1.5 * 2^52 rounds to an integer, and leaves that integer's low bits in the mantissa
        magic = _like(6755399441055744.0, floats)
        shifted = plus(times(args[0], _like(2 / math.pi, floats)), magic)
        k = minus(shifted, magic)
        r = args[0]
        for part in _HALF_PI:
            r = minus(r, times(k, _like(part, floats)))
        z = times(r, r)
        s = plus(r, times(times(r, z), horner(z, _SIN)))
        c = plus(minus(_like(1.0, floats), times(_like(0.5, floats), z)), times(times(z, z), horner(z, _COS)))

        bits = b.bitcast(shifted, integers)
        one, two, top = (_like(i, integers) for i in (1, 2, 62))
        odd = b.icmp_signed("!=", b.and_(bits, one), _like(0, integers))
        s, c = b.select(odd, c, s), b.select(odd, s, c)
        # quadrants 2, 3 turn the sine's sign; quadrants 1, 2 the cosine's: bit 1 of k, and bit 1 of k + 1
        sign_s = b.shl(b.and_(bits, two), top)
        sign_c = b.shl(b.and_(b.add(bits, one), two), top)
        s = b.bitcast(b.xor(b.bitcast(s, integers), sign_s), floats)
        c = b.bitcast(b.xor(b.bitcast(c, integers), sign_c), floats)
        return context.make_tuple(b, sig.return_type, (s, c))

    return types.UniTuple(x, 2)(x), lower


@intrinsic
def _all_within(typingctx, x, bound):
    def lower(context, builder, sig, args):
        bound = _splat(builder, args[1])
        above = builder.fcmp_ordered(">=", args[0], builder.fneg(bound))
        return _every(builder, builder.and_(above, builder.fcmp_ordered("<=", args[0], bound)))

    return types.boolean(lane, types.float64), lower


@intrinsic
def _sincos_far(typingctx, x, sine, cosine):
    """The given sines and cosines, with those of lanes out of range replaced by the C library's."""

    def lower(context, b, sig, args):
        x, sines, cosines = args
        unary = ir.FunctionType(ir.DoubleType(), [ir.DoubleType()])
        sin, cos = (cgutils.get_or_insert_function(b.module, unary, name) for name in ("sin", "cos"))
        one_s, one_c = cgutils.alloca_once(b, ir.DoubleType()), cgutils.alloca_once(b, ir.DoubleType())
        limit = ir.Constant(ir.DoubleType(), SINCOS_RANGE)
        for k in range(LANES):
            position = ir.Constant(_INT32, k)
            value = b.extract_element(x, position)
            b.store(b.extract_element(sines, position), one_s)
            b.store(b.extract_element(cosines, position), one_c)
            near = b.and_(b.fcmp_ordered("<=", value, limit), b.fcmp_ordered(">=", value, b.fneg(limit)))
            with b.if_then(b.not_(near), likely=False):
                b.store(b.call(sin, [value]), one_s)
                b.store(b.call(cos, [value]), one_c)
            sines = b.insert_element(sines, b.load(one_s), position)
            cosines = b.insert_element(cosines, b.load(one_c), position)
        return context.make_tuple(b, sig.return_type, (sines, cosines))

    return types.UniTuple(lane, 2)(lane, lane, lane), lower


@overload(sincos)
def _sincos_overload(x):
    if x != lane:

        def sincos_scalar(x):
            if abs(x) <= SINCOS_RANGE:
                return _sincos_polynomial(x)
            return math.sin(x), math.cos(x)

        return sincos_scalar

    def sincos_lanes(x):
        s, c = _sincos_polynomial(x)
        if not _all_within(x, SINCOS_RANGE):
            s, c = _sincos_far(x, s, c)
        return s, c

    return sincos_lanes


# ---------------------------------------------------------------------------------------------- samples in and out


def width(buffer):
    """How many samples a buffer's row holds."""
    return buffer.shape[1] if buffer.ndim == 2 else 1


def take(samples, first, buffer, row):
    """Puts samples first, first + 1, ... of a (T, columns) array into the buffer, column k into row `row + k`.

    Samples past the last are stood in for by the last. Returns 0, or NaN in the lanes where a sample is not finite.
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


def give(buffer, row, samples, first):
    """Puts rows of the buffer into a (T, columns) array of samples, none past the last; returns 0 or NaN as `take`."""
    check = fill(buffer, 0.0)
    for k in range(samples.shape[1]):
        value = load(buffer, row + k)
        if buffer.ndim == 2:
            samples[first : first + buffer.shape[1], k] = value[: samples.shape[0] - first]
        else:
            samples[first, k] = value
        check = check + value * 0.0
    return check


_BITS = ir.VectorType(ir.IntType(1), LANES)
_LONGS = ir.VectorType(ir.IntType(64), LANES)


def _transposed(builder, rows):
    """LANES vectors of LANES: rows become columns, in log2(LANES) rounds of swaps of ever smaller blocks."""
    half = LANES // 2
    while half:
        swapped = list(rows)
        for i in range(LANES):
            if not i & half:
                low = [k if not k & half else LANES + k - half for k in range(LANES)]
                high = [k + half if not k & half else LANES + k for k in range(LANES)]
                for place, mask in ((i, low), (i + half, high)):
                    order = ir.Constant(ir.VectorType(_INT32, LANES), mask)
                    swapped[place] = builder.shuffle_vector(rows[i], rows[i + half], order)
        rows = swapped
        half //= 2
    return rows


def _block(context, builder, array_type, array, first, column):
    """Where LANES samples lie from `column` on, which of them exist, how many columns are left, and that as a mask.

    A sample past the last is stood in for by the last.
    """
    array = context.make_array(array_type)(context, builder, array)
    samples, columns = (builder.extract_value(array.shape, k) for k in range(2))
    last = builder.sub(samples, ir.Constant(samples.type, 1))
    places, exist = [], []
    for k in range(LANES):
        sample = builder.add(first, ir.Constant(first.type, k))
        exist.append(builder.icmp_signed("<=", sample, last))
        offset = builder.add(builder.mul(builder.select(exist[k], sample, last), columns), column)
        places.append(builder.bitcast(builder.gep(array.data, [offset]), _VECTOR.as_pointer()))
    left = builder.sub(columns, column)
    every = builder.insert_element(ir.Constant(_LONGS, ir.Undefined), left, ir.Constant(_INT32, 0))
    every = builder.shuffle_vector(every, every, ir.Constant(ir.VectorType(_INT32, LANES), [0] * LANES))
    mask = builder.icmp_signed("<", ir.Constant(_LONGS, list(range(LANES))), every)
    return places, exist, left, mask


def _masked(builder, name, result, arguments):
    """LLVM's masked load or store: touches no memory where the mask is off."""
    function = ir.FunctionType(result, [a.type for a in arguments])
    callee = cgutils.get_or_insert_function(builder.module, function, f"llvm.masked.{name}.v{LANES}f64.p0")
    return builder.call(callee, arguments)


def _finite_check(builder, rows):
    """Zero, or NaN where a row holds something that is not finite."""
    check = _constant(0)
    for value in rows:
        check = builder.fadd(check, builder.fmul(value, _constant(0), flags=FAST), flags=FAST)
    return check


@intrinsic
def _take_block(typingctx, samples, first, column, buffer, row):
    """`take` for LANES columns from `column` on."""

    def lower(context, builder, sig, args):
        places, _, left, mask = _block(context, builder, sig.args[0], *args[:3])
        align = ir.Constant(_INT32, 8)
        loaded = [_masked(builder, "load", _VECTOR, [place, align, mask, _constant(0)]) for place in places]
        row = builder.add(args[4], args[2])
        for k, value in enumerate(_transposed(builder, loaded)):
            with builder.if_then(builder.icmp_signed("<", ir.Constant(left.type, k), left)):
                target = builder.add(row, ir.Constant(row.type, k))
                stored = builder.store(value, _row_pointer(context, builder, sig.args[3], args[3], target))
                stored.align = 8
        return _finite_check(builder, loaded)

    return lane(samples, types.intp, types.intp, buffer, types.intp), lower


@intrinsic
def _give_block(typingctx, buffer, row, samples, first, column):
    """`give` for LANES columns from `column` on."""

    def lower(context, builder, sig, args):
        places, exist, left, mask = _block(context, builder, sig.args[2], *args[2:])
        row = builder.add(args[1], args[4])
        rows = []
        for k in range(LANES):  # rows past the last column are read as the first, and go nowhere
            offset = ir.Constant(row.type, k)
            offset = builder.select(builder.icmp_signed("<", offset, left), offset, ir.Constant(row.type, 0))
            value = builder.load(_row_pointer(context, builder, sig.args[0], args[0], builder.add(row, offset)))
            value.align = 8
            rows.append(value)
        for place, exists, value in zip(places, exist, _transposed(builder, rows), strict=True):
            wanted = builder.select(exists, mask, ir.Constant(_BITS, [0] * LANES))
            _masked(builder, "store", ir.VoidType(), [value, place, ir.Constant(_INT32, 8), wanted])
        return _finite_check(builder, rows)

    return lane(buffer, types.intp, samples, types.intp, types.intp), lower


def _define_prefetch(write):
    @intrinsic
    def prefetch(typingctx, samples, first, column):
        """Asks for the same columns of the LANES samples after these, so that memory is awaited while computing."""

        def lower(context, builder, sig, args):
            following = builder.add(args[1], ir.Constant(args[1].type, LANES))
            places, *_ = _block(context, builder, sig.args[0], args[0], following, args[2])
            byte = ir.IntType(8).as_pointer()
            function = ir.FunctionType(ir.VoidType(), [byte, _INT32, _INT32, _INT32])
            callee = cgutils.get_or_insert_function(builder.module, function, "llvm.prefetch.p0")
            for place in places:
                hints = [ir.Constant(_INT32, hint) for hint in (write, 3, 1)]  # for writing or reading, near, data
                builder.call(callee, [builder.bitcast(place, byte), *hints])
            return context.get_dummy_value()

        return types.none(samples, types.intp, types.intp), lower

    return prefetch


_prefetch_to_read, _prefetch_to_write = _define_prefetch(0), _define_prefetch(1)


@overload(width)
def _width_overload(buffer):
    return (lambda buffer: 1) if buffer.ndim == 1 else (lambda buffer: LANES)


@overload(take)
def _take_overload(samples, first, buffer, row):
    if buffer.ndim == 1:

        def take_scalar(samples, first, buffer, row):
            check = 0.0
            for k in range(samples.shape[1]):
                value = samples[first, k]
                buffer[row + k] = value
                check = check + value * 0.0
            return check

        return take_scalar

    def take_lanes(samples, first, buffer, row):
        check = _fill(0.0)
        for column in range(0, samples.shape[1], LANES):
            if samples.shape[1] > LANES:  # many streams at once are more than the hardware foresees
                _prefetch_to_read(samples, first, column)
            check = check + _take_block(samples, first, column, buffer, row)
        return check

    return take_lanes


@overload(give)
def _give_overload(buffer, row, samples, first):
    if buffer.ndim == 1:

        def give_scalar(buffer, row, samples, first):
            check = 0.0
            for k in range(samples.shape[1]):
                value = buffer[row + k]
                samples[first, k] = value
                check = check + value * 0.0
            return check

        return give_scalar

    def give_lanes(buffer, row, samples, first):
        check = _fill(0.0)
        for column in range(0, samples.shape[1], LANES):
            if samples.shape[1] > LANES:
                _prefetch_to_write(samples, first, column)
            check = check + _give_block(buffer, row, samples, first, column)
        return check

    return give_lanes
