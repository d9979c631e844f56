"""Copies blocks of samples from (T, columns) arrays into the rows of a buffer, and back.

A block holds as many samples as the buffer has lanes. It is transposed in registers, a few columns at a time; loads and
stores are masked where columns or samples run out.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from fastdyn.compiler.policy import FAST, overload
from fastdyn.scalars.lanes import (
    INT32,
    constant,
    first_of,
    lane_of,
    load_row,
    masked_load,
    masked_store,
    row_pointer,
    store_row,
)
from fastdyn.scalars.verbs import fill, give, take, width


def _columns(lane):
    """How many columns are transposed at once: 4 x 4 or 8 x 8 values, or 8 columns of 16 samples as two squares."""
    return min(8, lane.count)


def _transposed(builder, rows):
    """Transposes a square of vectors, or two squares side by side, by swapping halves, then quarters, and so on."""
    lanes = rows[0].type.count
    half = len(rows) // 2
    while half:
        swapped = list(rows)
        for i in range(len(rows)):
            if not i & half:
                low = [k if not k & half else lanes + k - half for k in range(lanes)]
                high = [k + half if not k & half else lanes + k for k in range(lanes)]
                for place, mask in ((i, low), (i + half, high)):
                    order = ir.Constant(ir.VectorType(INT32, lanes), mask)
                    swapped[place] = builder.shuffle_vector(rows[i], rows[i + half], order)
        rows = swapped
        half //= 2
    return rows


def _side_by_side(builder, rows):
    """One vector for each sample -> a square, or two squares side by side: sample k beside sample k + columns."""
    columns = rows[0].type.count
    if len(rows) == columns:
        return rows
    order = ir.Constant(ir.VectorType(INT32, 2 * columns), list(range(2 * columns)))
    return [builder.shuffle_vector(rows[k], rows[k + columns], order) for k in range(columns)]


def _one_by_one(builder, rows):
    """The inverse of `_side_by_side`."""
    lanes, columns = rows[0].type.count, len(rows)
    if lanes == columns:
        return rows
    orders = [ir.Constant(ir.VectorType(INT32, columns), list(range(k, k + columns))) for k in range(0, lanes, columns)]
    return [builder.shuffle_vector(row, row, order) for order in orders for row in rows]


def _block(context, builder, lane, array_type, array, first, column, full):
    """Addresses of a block's samples from `column` on, whether each exists, how many columns are left, and their mask.

    full: whether all samples of the block are known to exist; otherwise addresses past the last sample repeat it.
    """
    part = ir.VectorType(lane.vector.element, _columns(lane))
    array = context.make_array(array_type)(context, builder, array)
    samples, columns = (builder.extract_value(array.shape, k) for k in range(2))
    place = builder.gep(array.data, [builder.add(builder.mul(first, columns), column)])
    after = builder.sub(builder.sub(samples, first), ir.Constant(first.type, 1))  # samples after the first
    places, exist = [], []
    for k in range(lane.count):
        if k and full:
            place = builder.gep(place, [columns])
        elif k:
            exists = builder.icmp_signed("<=", ir.Constant(first.type, k), after)
            place = builder.gep(place, [builder.select(exists, columns, ir.Constant(columns.type, 0))])
        places.append(builder.bitcast(place, part.as_pointer()))
        exist.append(None if full else builder.icmp_signed("<=", ir.Constant(first.type, k), after))
    left = builder.sub(columns, column)
    return places, exist, left, first_of(builder, part.count, left)


def _prefetch(builder, places, columns, count, write):
    """Prefetches the same columns of the next block."""
    byte = ir.IntType(8).as_pointer()
    function = ir.FunctionType(ir.VoidType(), [byte, INT32, INT32, INT32])
    callee = cgutils.get_or_insert_function(builder.module, function, "llvm.prefetch.p0")
    hints = [ir.Constant(INT32, hint) for hint in (write, 3, 1)]  # write or read, keep in all caches, data
    element = places[0].type.pointee.element.as_pointer()
    onward = builder.mul(columns, ir.Constant(columns.type, count))
    for place in places:
        following = builder.gep(builder.bitcast(place, element), [onward])
        builder.call(callee, [builder.bitcast(following, byte), *hints])


def _finite_check(builder, rows):
    """Zero, or NaN where a row holds something that is not finite."""
    zero = constant(0.0, rows[0].type)
    check = zero
    for value in rows:
        check = builder.fadd(check, builder.fmul(value, zero, flags=FAST), flags=FAST)
    return check


def _define_take_block(full):
    @intrinsic
    def take_block(typingctx, samples, first, column, buffer, row):
        """`take` for a few columns from `column` on."""
        lane = lane_of(buffer)

        def lower(context, builder, sig, args):
            places, _, left, mask = _block(context, builder, lane, sig.args[0], *args[:3], full)
            if full:
                columns = builder.extract_value(context.make_array(sig.args[0])(context, builder, args[0]).shape, 1)
                _prefetch(builder, places, columns, lane.count, write=0)
            zero = constant(0.0, places[0].type.pointee)
            loaded = [masked_load(builder, place, mask, zero) for place in places]
            loaded = _side_by_side(builder, loaded)
            row = builder.add(args[4], args[2])
            for k, value in enumerate(_transposed(builder, loaded)):
                with builder.if_then(builder.icmp_signed("<", ir.Constant(left.type, k), left)):
                    target = builder.add(row, ir.Constant(row.type, k))
                    store_row(builder, value, row_pointer(context, builder, sig.args[3], args[3], target))
            return _finite_check(builder, loaded)

        return lane(samples, types.intp, types.intp, buffer, types.intp), lower

    return take_block


def _define_give_block(full):
    @intrinsic
    def give_block(typingctx, buffer, row, samples, first, column):
        """`give` for a few columns from `column` on."""
        lane = lane_of(buffer)

        def lower(context, builder, sig, args):
            places, exist, left, mask = _block(context, builder, lane, sig.args[2], *args[2:], full)
            if full:
                columns = builder.extract_value(context.make_array(sig.args[2])(context, builder, args[2]).shape, 1)
                _prefetch(builder, places, columns, lane.count, write=1)
            row = builder.add(args[1], args[4])
            rows = []
            for k in range(_columns(lane)):  # past the last column the first is loaded, and masked when stored
                offset = ir.Constant(row.type, k)
                offset = builder.select(builder.icmp_signed("<", offset, left), offset, ir.Constant(row.type, 0))
                place = row_pointer(context, builder, sig.args[0], args[0], builder.add(row, offset))
                rows.append(load_row(builder, place))
            nowhere = constant(0, mask.type)
            values = _one_by_one(builder, _transposed(builder, rows))
            for place, exists, value in zip(places, exist, values, strict=True):
                wanted = mask if full else builder.select(exists, mask, nowhere)
                masked_store(builder, value, place, wanted)
            return _finite_check(builder, rows)

        return lane(buffer, types.intp, samples, types.intp, types.intp), lower

    return give_block


_take_full, _take_edge = _define_take_block(full=True), _define_take_block(full=False)
_give_full, _give_edge = _define_give_block(full=True), _define_give_block(full=False)


@overload(width)
def _width_overload(buffer):
    count = 1 if buffer.ndim == 1 else lane_of(buffer).count
    return lambda buffer: count


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

    columns = _columns(lane_of(buffer))

    def take_lanes(samples, first, buffer, row):
        check = fill(buffer, 0.0)
        if first + width(buffer) <= samples.shape[0]:
            for column in range(0, samples.shape[1], columns):
                check = check + _take_full(samples, first, column, buffer, row)
        else:
            for column in range(0, samples.shape[1], columns):
                check = check + _take_edge(samples, first, column, buffer, row)
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

    columns = _columns(lane_of(buffer))

    def give_lanes(buffer, row, samples, first):
        check = fill(buffer, 0.0)
        if first + width(buffer) <= samples.shape[0]:
            for column in range(0, samples.shape[1], columns):
                check = check + _give_full(buffer, row, samples, first, column)
        else:
            for column in range(0, samples.shape[1], columns):
                check = check + _give_edge(buffer, row, samples, first, column)
        return check

    return give_lanes
