"""Copies blocks of samples from (T, columns) arrays of any strides into the rows of a buffer, and back.

A block holds as many samples as the buffer has lanes. There are three ways, none of which needs a mask:

    rows      consecutive samples of a column lie side by side (Fortran order, one column): copied as they are
    groups    consecutive columns of a sample lie side by side (C order): transposed in registers, 8, 4 or 2 at a time,
              the last ones overlapping those before them where their number asks for it
    elements  any other array, and the last block if it is not full: one by one

Lanes past the last sample hold the last sample, so that they compute its result, too: storing that again is harmless.
"""

from functools import cache

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from fastdyn.compiler.host import register_bits
from fastdyn.compiler.policy import FAST, overload
from fastdyn.scalars.lanes import INT32, constant, lane_of, load_row, row_pointer, store_row
from fastdyn.scalars.verbs import block_out, copy_in, copy_out, give, take, width

BYTE, WORD = ir.IntType(8), ir.IntType(64)
AHEAD = 4  # blocks: how far memory is prefetched
KNOWN = 6, 7  # numbers of columns, those of most arms, for which the copying of contiguous samples is written out


# ---------------------------------------------------------------------------------------------- transposing


def _shuffled(builder, a, b, order):
    return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(INT32, len(order)), list(order)))


def _transposed(builder, rows):
    """Transposes squares that lie side by side in vectors, a row of each square in a vector: halves, then quarters."""
    lanes = rows[0].type.count
    half = len(rows) // 2
    while half:
        swapped = list(rows)
        for i in range(len(rows)):
            if not i & half:
                low = [k if not k & half else lanes + k - half for k in range(lanes)]
                high = [k + half if not k & half else lanes + k for k in range(lanes)]
                swapped[i] = _shuffled(builder, rows[i], rows[i + half], low)
                swapped[i + half] = _shuffled(builder, rows[i], rows[i + half], high)
        rows = swapped
        half //= 2
    return rows


def _side_by_side(builder, samples):
    """A vector of some columns for each sample -> squares: in vector k samples k, k + columns, k + 2 columns, ..."""
    columns = samples[0].type.count

    def joined(parts):
        if len(parts) == 1:
            return parts[0]
        first, second = joined(parts[: len(parts) // 2]), joined(parts[len(parts) // 2 :])
        return _shuffled(builder, first, second, range(2 * first.type.count))

    return [joined(samples[k::columns]) for k in range(columns)]


def samples_of(builder, columns):
    """Some columns, lanes each -> their values for each sample."""
    return _one_by_one(builder, _transposed(builder, columns))


def groups(columns, lanes):
    """Columns that are transposed at once: (the first, how many), the last ones overlapping those before them."""
    start, found = 0, []
    for count in _counts(lanes):
        while columns - start > (count // 2 if count > 2 else 0) and columns >= count:
            start = min(start, columns - count)
            found.append((start, count))
            start += count
    return found or [(0, 1)] * columns


def _counts(lanes):
    """8 columns at once pay only where a register holds them."""
    return (8, 4, 2) if lanes >= 8 and register_bits() >= 512 else (4, 2)


def _one_by_one(builder, rows):
    """The inverse of `_side_by_side`."""
    columns = len(rows)
    starts = range(0, rows[0].type.count, columns)
    return [_shuffled(builder, row, row, range(start, start + columns)) for start in starts for row in rows]


# ---------------------------------------------------------------------------------------------- blocks


class _Block:
    """Code that copies a block of samples: a function of its own, which keeps its many addresses out of the kernels.

    (address of the first value, bytes from sample to sample, bytes from column to column, columns, samples that are
    left, first row of the buffer) -> check.
    """

    def __init__(self, module, lane, write, known, checked):
        self.lane, self.write, self.known, self.checked = lane, write, known, checked
        row = lane.vector.as_pointer()
        kind = ir.FunctionType(lane.vector, [BYTE.as_pointer(), WORD, WORD, WORD, WORD, row])
        name = "give" if write else "take"
        variant = "" if checked else f".unchecked.{known}"
        self.function = ir.Function(module, kind, f"fastdyn.{name}.{lane}{variant}")
        self.function.linkage = "internal"
        self.function.attributes.add("noinline")
        self.function.attributes.add("nounwind")
        self.data, self.sample_step, self.column_step, self.columns, self.left, self.rows = self.function.args
        self.b = ir.IRBuilder(self.function.append_basic_block())
        self.check = cgutils.alloca_once_value(self.b, constant(0.0, lane.vector))
        self._body()
        self.b.ret(self.b.load(self.check))

    def _body(self):
        b, size = self.b, ir.Constant(WORD, 8 if self.lane.element == types.float64 else 4)
        full = b.icmp_signed(">=", self.left, ir.Constant(WORD, self.lane.count))
        side_by_side = b.icmp_signed("==", self.column_step, size)
        several = b.icmp_signed(">", self.columns, ir.Constant(WORD, 1))
        with b.if_else(b.and_(full, b.and_(side_by_side, several))) as (grouped, otherwise):
            with grouped:
                self._known(self.known, size)
            with otherwise:
                rows = b.and_(full, b.icmp_signed("==", self.sample_step, size))
                with b.if_else(rows) as (by_rows, by_elements):
                    with by_rows, cgutils.for_range(b, self.columns) as column:
                        self._row(column.index)
                    with by_elements, cgutils.for_range(b, self.columns) as column:
                        self._elements(column.index)

    def _at(self, sample, column, kind):
        """The address of a value, or of a vector that begins with it."""
        b = self.b
        offset = b.add(b.mul(sample, self.sample_step), b.mul(column, self.column_step))
        return b.bitcast(b.gep(self.data, [offset]), kind.as_pointer())

    def _load(self, row, count):
        return [load_row(self.b, self.b.gep(self.rows, [self.b.add(row, ir.Constant(WORD, k))])) for k in range(count)]

    def _store(self, values, row):
        for k, value in enumerate(values):
            store_row(self.b, value, self.b.gep(self.rows, [self.b.add(row, ir.Constant(WORD, k))]))

    def _note(self, values):
        """Adds 0 to the check, or NaN where a value is not finite."""
        if not self.checked:
            return
        b, zero, check = self.b, constant(0.0, self.lane.vector), self.b.load(self.check)
        for value in values:
            check = b.fadd(check, b.fmul(value, zero, flags=FAST), flags=FAST)
        b.store(check, self.check)

    # ------------------------------------------------------------------------------------------ three ways

    def _row(self, column):
        place = self._at(ir.Constant(WORD, 0), column, self.lane.vector)
        if self.write:
            values = self._load(column, 1)
            store_row(self.b, values[0], place)
        else:
            values = [load_row(self.b, place)]
            self._store(values, column)
        self._note(values)

    def _elements(self, column):
        b, element = self.b, self.lane.vector.element
        last = b.sub(self.left, ir.Constant(WORD, 1))
        values = self._load(column, 1) if self.write else [ir.Constant(self.lane.vector, ir.Undefined)]
        for k in range(self.lane.count):
            lane, sample = ir.Constant(INT32, k), ir.Constant(WORD, k)
            place = self._at(b.select(b.icmp_signed("<", sample, last), sample, last), column, element)
            if self.write:
                b.store(b.extract_element(values[0], lane), place)
            else:
                values[0] = b.insert_element(values[0], b.load(place), lane)
        if not self.write:
            self._store(values, column)
        self._note(values)

    def _known(self, numbers, size):
        """Groups, at constant offsets for contiguous samples of these numbers of columns."""
        if not numbers:
            return self._groups()
        b, columns = self.b, ir.Constant(WORD, numbers[0])
        step = b.mul(columns, size)
        is_known = b.and_(b.icmp_signed("==", self.columns, columns), b.icmp_signed("==", self.sample_step, step))
        with b.if_else(is_known) as (known, other):
            with known:
                general = self.columns, self.sample_step, self.column_step
                self.columns, self.sample_step, self.column_step = columns, step, size
                for start, count in groups(numbers[0], self.lane.count):
                    self._group(ir.Constant(WORD, start), count)
                self.columns, self.sample_step, self.column_step = general
            with other:
                self._known(numbers[1:], size)

    def _groups(self):
        """As few groups as possible; the last ones end with the last column, overlapping those before them."""
        b = self.b
        done = cgutils.alloca_once_value(b, ir.Constant(WORD, 0))
        for count in _counts(self.lane.count):
            size = ir.Constant(WORD, count)
            with b.if_then(b.icmp_signed(">=", self.columns, size)):
                end = b.sub(self.columns, ir.Constant(WORD, count // 2 if count > 2 else 0))
                with cgutils.for_range_slice(b, b.load(done), end, size, WORD) as (start, _):
                    latest = b.sub(self.columns, size)
                    column = b.select(b.icmp_signed("<", start, latest), start, latest)
                    self._group(column, count)
                    b.store(b.add(column, size), done)

    def _group(self, column, count):
        b, lanes = self.b, self.lane.count
        part = ir.VectorType(self.lane.vector.element, count)
        places = [self._at(ir.Constant(WORD, k), column, part) for k in range(lanes)]
        if count == 8:
            self._prefetch(places)
        elif count == 4:  # half a cache line of float64
            with b.if_then(b.icmp_signed("==", b.and_(column, ir.Constant(WORD, 4)), ir.Constant(WORD, 0))):
                self._prefetch(places)
        if self.write:
            values = self._load(column, count)
            for value, place in zip(samples_of(b, values), places, strict=True):
                store_row(b, value, place)
        else:
            values = _transposed(b, _side_by_side(b, [load_row(b, place) for place in places]))
            self._store(values, column)
        self._note(values)

    def _prefetch(self, places):
        """Prefetches the same columns of a later block, a few at a time: all at once would delay what is loaded.

        To the second cache: the scratch of a long robot fills the first, which would lose them again.
        """
        b = self.b
        function = ir.FunctionType(ir.VoidType(), [BYTE.as_pointer(), INT32, INT32, INT32])
        callee = cgutils.get_or_insert_function(b.module, function, "llvm.prefetch.p0")
        hints = [ir.Constant(INT32, hint) for hint in (int(self.write), 2, 1)]  # write or read, second cache, data
        later = b.mul(self.sample_step, ir.Constant(WORD, AHEAD * self.lane.count))
        for place in places:
            b.call(callee, [b.gep(b.bitcast(place, BYTE.as_pointer()), [later]), *hints])


@cache
def _define_copy(write, known=KNOWN, checked=True):
    @intrinsic
    def copy(typingctx, samples, first, buffer, row):
        lane = lane_of(buffer)

        def lower(context, builder, sig, args):
            array = context.make_array(sig.args[0])(context, builder, args[0])
            (count, columns), (sample_step, column_step) = (
                [builder.extract_value(pair, k) for k in range(2)] for pair in (array.shape, array.strides)
            )
            data = builder.bitcast(array.data, BYTE.as_pointer())
            data = builder.gep(data, [builder.mul(args[1], sample_step)])
            rows = row_pointer(context, builder, sig.args[2], *args[2:])
            left = builder.sub(count, args[1])
            function = _Block(builder.module, lane, write, known, checked).function
            return builder.call(function, [data, sample_step, column_step, columns, left, rows])

        return lane(samples, types.intp, buffer, types.intp), lower

    return copy


_take_block, _give_block = _define_copy(False), _define_copy(True)


@overload(width)
def _width_overload(buffer):
    count = 1 if buffer.ndim == 1 else lane_of(buffer).count
    return lambda buffer: count


@overload(take)
def _take_overload(samples, first, buffer, row):
    if buffer.ndim == 2:
        return lambda samples, first, buffer, row: _take_block(samples, first, buffer, row)

    def take_scalar(samples, first, buffer, row):
        check = 0.0
        for k in range(samples.shape[1]):
            value = samples[first, k]
            buffer[row + k] = value
            check = check + value * 0.0
        return check

    return take_scalar


@overload(give)
def _give_overload(samples, first, buffer, row):
    if buffer.ndim == 2:
        return lambda samples, first, buffer, row: _give_block(samples, first, buffer, row)

    def give_scalar(samples, first, buffer, row):
        check = 0.0
        for k in range(samples.shape[1]):
            value = buffer[row + k]
            samples[first, k] = value
            check = check + value * 0.0
        return check

    return give_scalar


@overload(copy_in)
def _copy_in_overload(samples, first, buffer, columns):
    if not isinstance(columns, types.IntegerLiteral):
        return None  # Numba asks again with the number
    count = columns.literal_value
    if buffer.ndim == 2:
        copy = _define_copy(False, (count,), False)
        return lambda samples, first, buffer, columns: copy(samples, first, buffer, 0)

    def copy_in_scalar(samples, first, buffer, columns):
        for k in range(count):
            buffer[k] = samples[first, k]

    return copy_in_scalar


@intrinsic
def _block_out(typingctx, samples, first, buffer):
    lane = lane_of(buffer)

    def lower(context, b, sig, args):
        array = context.make_array(sig.args[0])(context, b, args[0])
        block = context.make_array(sig.args[2])(context, b, args[2])
        (count, columns), (sample_step, column_step) = (
            [b.extract_value(pair, k) for k in range(2)] for pair in (array.shape, array.strides)
        )
        size = ir.Constant(WORD, 8 if lane.element == types.float64 else 4)
        full = b.icmp_signed(">=", b.sub(count, args[1]), ir.Constant(WORD, lane.count))
        side_by_side = b.and_(
            b.icmp_signed("==", column_step, size), b.icmp_signed("==", sample_step, b.mul(columns, size))
        )
        own = b.and_(full, side_by_side)
        block.data = b.select(own, b.gep(array.data, [b.mul(args[1], columns)]), block.data)
        return context.make_tuple(b, sig.return_type, (block._getvalue(), own))

    return types.Tuple((buffer, types.boolean))(samples, types.intp, buffer), lower


@overload(block_out)
def _block_out_overload(samples, first, buffer):
    if buffer.ndim == 2:
        return lambda samples, first, buffer: _block_out(samples, first, buffer)
    return lambda samples, first, buffer: (buffer, False)


@overload(copy_out)
def _copy_out_overload(samples, first, buffer, columns):
    if not isinstance(columns, types.IntegerLiteral):
        return None
    count = columns.literal_value
    lanes = 1 if buffer.ndim == 1 else lane_of(buffer).count

    def copy_out_lanes(samples, first, buffer, columns):
        for s in range(min(lanes, samples.shape[0] - first)):
            for k in range(count):
                place = s * count + k
                samples[first + s, k] = buffer[place // lanes, place % lanes]

    def copy_out_scalar(samples, first, buffer, columns):
        for k in range(count):
            samples[first, k] = buffer[k]

    return copy_out_lanes if buffer.ndim == 2 else copy_out_scalar
