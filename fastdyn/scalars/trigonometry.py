"""Sine, cosine and atan2, for scalars and for lanes.

Range reduction by Cody and Waite (pi/2 in parts so short that k times a part is exact), then minimax polynomials on
[-pi/4, pi/4]: fdlibm's for float64, Cephes' for float32. Lanes beyond the range of the reduction, NaN and infinity are
computed one by one by the C library, so that no lane's result depends on the others.

atan2 brings the angle to [-pi/8, pi/8] by exchanging |x| and |y| and by a turn of pi/4, before its only division, then
a minimax polynomial: fdlibm's for float64, Cephes' for float32.

In single precision whole turns are taken off an angle before anything is added to it: x + offset has the spacing of
its own size, which at 300 rad is 3e-5.
"""

import math
from dataclasses import dataclass

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from fastdyn.compiler.policy import overload
from fastdyn.scalars.lanes import (
    INT32,
    LaneType,
    constant,
    every,
    first_of,
    is_lane,
    masked_load,
    masked_store,
    widened,
)
from fastdyn.scalars.verbs import (
    LANES,
    SINCOS_RANGE,
    SINGLE_SINCOS_RANGE,
    angle_sum,
    atan2,
    fill,
    load,
    sincos,
    sincos_rows,
    store,
)


@dataclass(frozen=True)
class _Recipe:
    range: float  # rad: up to here k times a part is exact
    half_pi: tuple[float, ...]
    sin: tuple[float, ...]  # s = r + r^3 (sin0 + sin1 r^2 + ...)
    cos: tuple[float, ...]  # c = 1 - r^2 / 2 + r^4 (cos0 + cos1 r^2 + ...)
    magic: float  # 1.5 times 2^(bits of the mantissa): adding and subtracting it rounds to an integer
    bits: int
    quarter_pi: tuple[float, float]  # pi/4; 4 times the first part is exact
    atan: tuple[float, ...]  # atan t = t + t^3 (atan0 + atan1 t^2 + ...)


_FLOAT64 = _Recipe(
    SINCOS_RANGE,
    (1.57079632673412561417e00, 6.07710050630396597660e-11, 2.02226624879595063154e-21),
    (-1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04,
     2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10),
    (4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
     -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11),
    6755399441055744.0,
    64,
    (7.85398163367062807e-01, 3.03855025325309633e-11),
    (-3.33333333333329318027e-01, 1.99999999998764832476e-01, -1.42857142725034663711e-01, 1.11111104054623557880e-01,
     -9.09088713343650656196e-02, 7.69187620504482999495e-02, -6.66107313738753120669e-02, 5.83357013379057348645e-02,
     -4.97687799461593236017e-02, 3.65315727442169155270e-02, -1.62858201153657823623e-02),
)  # fmt: skip
_FLOAT32 = _Recipe(
    SINGLE_SINCOS_RANGE,
    (1.5703125, 4.837512969970703125e-4, 7.54978995489188216e-8),
    (-1.6666654611e-1, 8.3321608736e-3, -1.9515295891e-4),
    (4.166664568298827e-2, -1.388731625493765e-3, 2.443315711809948e-5),
    12582912.0,
    32,
    (0.78515625, 2.41913397448309616e-04),
    (-3.33329491539e-1, 1.99777106478e-1, -1.38776856032e-1, 8.05374449538e-2),
)
RECIPES = {64: _FLOAT64, 32: _FLOAT32}  # by bits


def _recipe(x):
    return _FLOAT32 if is_lane(x) and x.element == types.float32 else _FLOAT64


@intrinsic
def _polynomial(typingctx, x):
    """Sine and cosine within the recipe's range."""
    recipe = _recipe(x)

    def lower(context, b, sig, args):
        floats = args[0].type
        integers = ir.IntType(recipe.bits)
        if is_lane(x):
            integers = ir.VectorType(integers, x.count)
        # no reordering: the reduction depends on the order (and Numba would add its flags where it finds none)
        flags = ("contract",)

        def plus(u, v):
            return b.fadd(u, v, flags=flags)

        def minus(u, v):
            return b.fsub(u, v, flags=flags)

        def times(u, v):
            return b.fmul(u, v, flags=flags)

        def horner(z, coefficients):
            p = constant(coefficients[-1], floats)
            for c in coefficients[-2::-1]:
                p = plus(constant(c, floats), times(z, p))
            return p

        # adding the magic number rounds to an integer k, whose low bits are those of the mantissa
        magic = constant(recipe.magic, floats)
        shifted = plus(times(args[0], constant(2 / math.pi, floats)), magic)
        k = minus(shifted, magic)
        r = args[0]
        for part in recipe.half_pi:
            r = minus(r, times(k, constant(part, floats)))
        z = times(r, r)
        s = plus(r, times(times(r, z), horner(z, recipe.sin)))
        c = minus(constant(1.0, floats), times(constant(0.5, floats), z))
        c = plus(c, times(times(z, z), horner(z, recipe.cos)))

        # the lowest bits of k as signs: bit 0 exchanges sine and cosine
        bits = b.bitcast(shifted, integers)
        bit_0, bit_1 = (b.shl(bits, constant(recipe.bits - place, integers)) for place in (1, 2))
        odd = b.icmp_signed("<", bit_0, constant(0, integers))
        s, c = b.select(odd, c, s), b.select(odd, s, c)
        # the sine is negative in quadrants 2 and 3, the cosine in 1 and 2: where bit 1 is set, and where one bit is
        sign = constant(1 << (recipe.bits - 1), integers)
        s = b.bitcast(b.xor(b.bitcast(s, integers), b.and_(bit_1, sign)), floats)
        c = b.bitcast(b.xor(b.bitcast(c, integers), b.and_(b.xor(bit_0, bit_1), sign)), floats)
        return context.make_tuple(b, sig.return_type, (s, c))

    return types.UniTuple(x, 2)(x), lower


@intrinsic
def _all_near(typingctx, x):
    """Whether every lane is within the recipe's range; a NaN is not."""

    def lower(context, builder, sig, args):
        limit = constant(_recipe(x).range, x.vector)
        above = builder.fcmp_ordered(">=", args[0], builder.fneg(limit))
        return every(builder, builder.and_(above, builder.fcmp_ordered("<=", args[0], limit)))

    return types.boolean(x), lower


@intrinsic
def _absolute(typingctx, x):
    def lower(context, builder, sig, args):
        integers = ir.VectorType(ir.IntType(_recipe(x).bits), x.count)
        rest = builder.and_(builder.bitcast(args[0], integers), constant((1 << (_recipe(x).bits - 1)) - 1, integers))
        return builder.bitcast(rest, x.vector)

    return x(x), lower


@intrinsic
def _far(typingctx, x, sine, cosine):
    """The given sines and cosines, with those of lanes out of range replaced by the C library's."""

    def lower(context, b, sig, args):
        x_lanes, sines, cosines = args
        element, double = x.vector.element, ir.DoubleType()
        unary = ir.FunctionType(double, [double])
        functions = [cgutils.get_or_insert_function(b.module, unary, name) for name in ("sin", "cos")]
        places = [cgutils.alloca_once(b, element) for _ in functions]
        limit = ir.Constant(element, _recipe(x).range)
        results = [sines, cosines]
        for k in range(x.count):
            position = ir.Constant(INT32, k)
            value = b.extract_element(x_lanes, position)
            for place, result in zip(places, results, strict=True):
                b.store(b.extract_element(result, position), place)
            near = b.and_(b.fcmp_ordered("<=", value, limit), b.fcmp_ordered(">=", value, b.fneg(limit)))
            with b.if_then(b.not_(near), likely=False):
                wide = value if element == double else b.fpext(value, double)
                for place, function in zip(places, functions, strict=True):
                    exact = b.call(function, [wide])
                    b.store(exact if element == double else b.fptrunc(exact, element), place)
            results = [b.insert_element(r, b.load(p), position) for r, p in zip(results, places, strict=True)]
        return context.make_tuple(b, sig.return_type, results)

    return types.UniTuple(x, 2)(x, x, x), lower


@intrinsic
def _within_a_turn(typingctx, x):
    """x less whole turns, within the recipe's range: in [-pi, pi] up to rounding, and x itself if it was there."""
    recipe = _recipe(x)

    def lower(context, b, sig, args):
        flags = ("contract",)  # no reordering, as in _polynomial
        magic = constant(recipe.magic, x.vector)
        turns = b.fmul(args[0], constant(0.5 / math.pi, x.vector), flags=flags)
        turns = b.fsub(b.fadd(turns, magic, flags=flags), magic, flags=flags)
        r = args[0]
        for part in recipe.half_pi:
            r = b.fsub(r, b.fmul(turns, constant(4 * part, x.vector), flags=flags), flags=flags)
        return r

    return x(x), lower


@intrinsic
def _far_within_a_turn(typingctx, x, reduced):
    """The given angles, with those of lanes out of range replaced by the C library's atan2(sin x, cos x)."""

    def lower(context, b, sig, args):
        element, double = x.vector.element, ir.DoubleType()
        unary, binary = (ir.FunctionType(double, [double] * count) for count in (1, 2))
        sin, cos = (cgutils.get_or_insert_function(b.module, unary, name) for name in ("sin", "cos"))
        atan2 = cgutils.get_or_insert_function(b.module, binary, "atan2")
        limit = ir.Constant(element, _recipe(x).range)
        place = cgutils.alloca_once_value(b, args[1])
        with cgutils.for_range(b, ir.Constant(INT32, x.count)) as loop:
            value = b.extract_element(args[0], loop.index)
            near = b.and_(b.fcmp_ordered("<=", value, limit), b.fcmp_ordered(">=", value, b.fneg(limit)))
            with b.if_then(b.not_(near), likely=False):
                wide = b.fpext(value, double)
                angle = b.fptrunc(b.call(atan2, [b.call(sin, [wide]), b.call(cos, [wide])]), element)
                b.store(b.insert_element(b.load(place), angle, loop.index), place)
        return b.load(place)

    return x(x, x), lower


@overload(angle_sum)
def _angle_sum_overload(x, offset):
    if not (is_lane(x) and x.element == types.float32):
        return lambda x, offset: x + offset

    def angle_sum_lanes(x, offset):
        reduced = _within_a_turn(x)
        if not _all_near(x):
            reduced = _far_within_a_turn(x, reduced)
        return reduced + offset

    return angle_sum_lanes


@overload(sincos)
def _sincos_overload(x):
    if is_lane(x):

        def sincos_lanes(x):
            s, c = _polynomial(x)
            if not _all_near(x):
                s, c = _far(x, s, c)
            return s, c

        return sincos_lanes

    def sincos_scalar(x):
        if abs(x) <= SINCOS_RANGE:
            return _polynomial(x)
        return math.sin(x), math.cos(x)

    return sincos_scalar


# ---------------------------------------------------------------------------------------------- atan2


@intrinsic
def _atan2(typingctx, y, x):
    recipe, kind = _recipe(y), y

    def lower(context, b, sig, args):
        y, x = args
        floats, flags = y.type, ("contract",)  # no reordering, as in _polynomial
        integers = ir.IntType(recipe.bits)
        if is_lane(kind):
            integers = ir.VectorType(integers, kind.count)
        zero, top = constant(0.0, floats), constant(1 << (recipe.bits - 1), integers)

        def sign(u):
            return b.and_(b.bitcast(u, integers), top)

        def turned(u, signs):
            return b.bitcast(b.xor(b.bitcast(u, integers), signs), floats)

        def multiply_add(u, v, w):
            return b.fadd(b.fmul(u, v, flags=flags), w, flags=flags)

        # 0 <= short <= long: their angle a is in [0, pi/4]
        across, along = turned(y, sign(y)), turned(x, sign(x))
        swapped = b.fcmp_ordered(">", across, along)
        short, long = b.select(swapped, along, across), b.select(swapped, across, along)
        total = b.fadd(short, long, flags=flags)
        # a = atan t if it is below pi/8, else pi/4 + atan t
        steep = b.fcmp_ordered(">=", short, b.fmul(long, constant(math.sqrt(2) - 1, floats), flags=flags))
        difference = b.select(b.fcmp_ordered("==", short, long), zero, b.fsub(short, long, flags=flags))
        t = b.fdiv(b.select(steep, difference, short), b.select(steep, total, long), flags=flags)
        z = b.fmul(t, t, flags=flags)
        p = constant(recipe.atan[-1], floats)
        for c in recipe.atan[-2::-1]:
            p = multiply_add(z, p, constant(c, floats))
        a = multiply_add(b.fmul(t, z, flags=flags), p, t)
        eighths = b.select(steep, constant(1.0, floats), zero)
        origin = b.fcmp_ordered("==", total, zero)  # 0 / 0; not for NaN
        a, eighths = b.select(origin, zero, a), b.select(origin, zero, eighths)
        # pi/2 - a if exchanged, then pi - that if x is negative or -0: eighths of a turn, and the sign of atan t
        eighths = b.select(swapped, b.fsub(constant(2.0, floats), eighths, flags=flags), eighths)
        backward = b.icmp_signed("!=", sign(x), constant(0, integers))
        eighths = b.select(backward, b.fsub(constant(4.0, floats), eighths, flags=flags), eighths)
        a = turned(a, b.select(b.xor(swapped, backward), top, constant(0, integers)))
        first, rest = (constant(part, floats) for part in recipe.quarter_pi)
        a = multiply_add(eighths, first, multiply_add(eighths, rest, a))
        return turned(a, sign(y))

    return kind(kind, kind), lower


@intrinsic
def _as_lanes(typingctx, value, like):
    return like(value, like), lambda context, b, sig, args: widened(context, b, args[0], sig.args[0], like)


@overload(atan2)
def _atan2_overload(y, x):
    if not (is_lane(x) or is_lane(y)):
        return lambda y, x: _atan2(float(y), float(x))
    if is_lane(x) and is_lane(y):
        return lambda y, x: _atan2(y, x)
    return (lambda y, x: _atan2(y, _as_lanes(x, y))) if is_lane(y) else (lambda y, x: _atan2(_as_lanes(y, x), x))


_NEIGHBOURS = LaneType(types.float64, LANES)  # elements of a 1-D buffer as lanes


def _pointer(context, builder, array_type, array, first):
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [first]), _NEIGHBOURS.vector.as_pointer())


@intrinsic
def _take_some(typingctx, buffer, first, count):
    """Up to `count` elements of a 1-D buffer as lanes, zero in the lanes that are left."""

    def lower(context, builder, sig, args):
        pointer, zero = _pointer(context, builder, sig.args[0], args[0], args[1]), constant(0.0, _NEIGHBOURS.vector)
        return masked_load(builder, pointer, first_of(builder, LANES, args[2]), zero)

    return _NEIGHBOURS(buffer, types.intp, types.intp), lower


@intrinsic
def _give_some(typingctx, value, buffer, first, count):
    """Stores up to `count` lanes into elements of a 1-D buffer."""

    def lower(context, builder, sig, args):
        pointer = _pointer(context, builder, sig.args[1], args[1], args[2])
        masked_store(builder, args[0], pointer, first_of(builder, LANES, args[3]))
        return context.get_dummy_value()

    return types.none(value, buffer, types.intp, types.intp), lower


@overload(sincos_rows)
def _sincos_rows_overload(buffer, count):
    if buffer.ndim == 2:

        def sincos_lanes(buffer, count):
            total = fill(buffer, 0.0)
            for i in range(count):
                total = total + _absolute(load(buffer, i))
            if _all_near(total):  # then every angle is: one branch for all
                for i in range(count):
                    s, c = _polynomial(load(buffer, i))
                    store(buffer, i, s)
                    store(buffer, count + i, c)
            else:
                for i in range(count):
                    s, c = sincos(load(buffer, i))
                    store(buffer, i, s)
                    store(buffer, count + i, c)

        return sincos_lanes

    def sincos_neighbours(buffer, count):
        for first in range(0, count, LANES):
            s, c = sincos(_take_some(buffer, first, count - first))
            _give_some(s, buffer, first, count - first)
            _give_some(c, buffer, count + first, count - first)

    return sincos_neighbours
