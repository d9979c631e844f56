"""Straight-line code for Numba: the operations of a program as LLVM instructions, on scalars or on lanes.

The instructions are written directly, not as Python source for Numba to type and translate statement by statement:
its flags would let LLVM reorder sums whose order was chosen to need few operations.

On lanes, results are transposed in registers and stored sample by sample, into a block that `block_out` (samples.py)
has chosen: the user's array itself, wherever that is possible. Those that other texts read are stored in rows of lanes.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from fastdyn.compiler.policy import overload
from fastdyn.scalars.lanes import constant, every, lane_of, load_row, row_pointer, store_row
from fastdyn.scalars.samples import groups, samples_of
from fastdyn.specialize.code import SINGLE, Output, Steps

WORD = ir.IntType(64)
FLAGS = ("contract", "nsz", "arcp")  # multiply and add may fuse; no reordering


def straight_line(name: str, steps: Steps, buffers: Sequence[str]) -> Callable[..., int]:
    """A function of some buffers, `work` last, that runs steps of a program, for compiled code to call."""

    def run(*arrays: Any) -> int:
        return in_python(steps, arrays)

    run.__name__ = run.__qualname__ = name
    run.generated = json.dumps(vars(steps), default=list)  # type: ignore[attr-defined]
    _tell_numba(run, steps, ", ".join(buffers))
    return run


def in_python(steps: Steps, arrays: Sequence[Any]) -> int:
    """Runs steps in plain Python. Named by every straight-line function: their machine code depends on this module."""
    return steps(*arrays)


def _tell_numba(function: Callable[..., int], steps: Steps, names: str) -> None:
    def typed(*arrays: Any) -> tuple[Any, Any]:
        def write(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return _Writer(context, builder, list(zip(sig.args, args, strict=True))).write(steps)

        return types.intp(*arrays), write

    # Numba reads the names of arguments from the functions themselves
    known: dict[str, Any] = {"typed": typed}
    exec(f"def straight(typingctx, {names}):\n    return typed({names})\n", known)
    known["straight"] = intrinsic(known["straight"])
    exec(f"def run({names}):\n    return straight({names})\n", known)
    overload(function, strict=False)(lambda *arrays: known["run"])


class _Writer:
    """Writes the instructions of steps. arrays: types and values of the buffers, `work` last."""

    def __init__(self, context: Any, builder: Any, arrays: Sequence[tuple[Any, Any]]) -> None:
        self.context, self.b, self.arrays = context, builder, arrays
        work = arrays[-1][0]
        self.single = work.dtype == types.float32
        self.on_lanes = work.ndim == 2
        self.kind = lane_of(work).vector if self.on_lanes else context.get_value_type(work.dtype)

    def write(self, steps: Steps) -> Any:
        """All instructions; the status."""
        self.columns = Counter(each.buffer for each in steps.stores)
        self.by_samples = self.on_lanes and not steps.in_rows
        values: dict[int, Any] = {}
        zero, check, checked = constant(0.0, self.kind), constant(0.0, self.kind), set(steps.checked)
        due = self._stores(steps)
        for number in steps.order:
            operation, operands = steps.nodes[number]
            if number in steps.places:
                values[number] = self._load(*steps.places[number])
            elif operation == "constant":
                values[number] = constant(operands[0], self.kind)
            else:
                values[number] = self._operation(operation, [values[k] for k in operands])
            for stores in due.get(number, ()):  # at once: they need not be kept in registers
                self._store(stores, [self._signed(values[each.node], each.sign) for each in stores])
            if number in checked:  # NaN if the value is not finite
                check = self.b.fadd(self.b.fmul(values[number], zero, flags=FLAGS), check, flags=FLAGS)
        status = self._status(steps, values)
        if not checked:
            return status
        return self.b.or_(status, self.b.zext(self.b.not_(self._all(self.b.fcmp_ordered("==", check, zero))), WORD))

    def _all(self, bits: Any) -> Any:
        return every(self.b, bits) if self.on_lanes else bits

    def _signed(self, value: Any, sign: int) -> Any:
        return value if sign > 0 else self.b.fneg(value)

    def _pointer(self, buffer: int, row: int) -> Any:
        array_type, array = self.arrays[buffer]
        place = ir.Constant(WORD, row)
        if self.on_lanes:
            return row_pointer(self.context, self.b, array_type, array, place)
        return self.b.gep(self.context.make_array(array_type)(self.context, self.b, array).data, [place])

    def _load(self, buffer: int, row: int) -> Any:
        pointer = self._pointer(buffer, row)
        return load_row(self.b, pointer) if self.on_lanes else self.b.load(pointer)

    def _stores(self, steps: Steps) -> dict[int, list[list[Output]]]:
        """What is stored together, by the last node of it: on lanes, neighbouring columns of a result."""
        place = {number: k for k, number in enumerate(steps.order)}
        columns: dict[int, list[Output]] = {}
        found: dict[int, list[list[Output]]] = {}
        for each in steps.stores:
            columns.setdefault(each.buffer, []).append(each)
        for stores in columns.values():
            alone = [(k, 1) for k in range(len(stores))]
            parts = groups(len(stores), self.kind.count) if self.by_samples else alone
            for start, count in parts:
                together = stores[start : start + count]
                found.setdefault(max((each.node for each in together), key=place.__getitem__), []).append(together)
        return found

    def _store(self, stores: list[Output], values: list[Any]) -> None:
        """Stores a value, or some neighbouring columns sample by sample."""
        b, (buffer, row) = self.b, stores[0][:2]
        if self.by_samples:
            columns = self.columns[buffer]
            first = b.bitcast(self._pointer(buffer, 0), self.kind.element.as_pointer())
            for sample, part in enumerate(samples_of(b, values)):
                at = b.gep(first, [ir.Constant(WORD, sample * columns + row)])
                store_row(b, part, b.bitcast(at, part.type.as_pointer()))
        elif self.on_lanes:
            store_row(b, values[0], self._pointer(buffer, row))
        else:
            b.store(values[0], self._pointer(buffer, row))

    def _operation(self, operation: str, x: list[Any]) -> Any:
        b = self.b
        zero = constant(0.0, self.kind)
        if operation in _INSTRUCTIONS:
            return getattr(b, _INSTRUCTIONS[operation])(*x, flags=FLAGS)
        if operation == "neg":
            return b.fneg(x[0])
        if operation == "by_sign":
            below = b.select(b.fcmp_ordered("<", x[0], zero), x[2], zero)
            return b.select(b.fcmp_ordered(">", x[0], zero), x[1], below)
        if operation == "where_above":
            return b.select(b.fcmp_ordered(">", x[0], x[1]), x[2], x[3])
        if operation == "sqrt":
            unary = ir.FunctionType(self.kind, [self.kind])
            bits = 32 if self.single else 64
            name = f"v{self.kind.count}f{bits}" if self.on_lanes else f"f{bits}"
            return b.call(cgutils.get_or_insert_function(b.module, unary, f"llvm.sqrt.{name}"), x)
        raise NotImplementedError(f"{operation} has no instructions")

    def _status(self, steps: Steps, values: Mapping[int, Any]) -> Any:
        """2 (k + 1) for the first condition that does not hold, of joint k; else 0."""
        b = self.b
        found = ir.Constant(WORD, 0)
        infinity = constant(math.inf, self.kind)
        for node, sign, bound, joint in reversed(steps.conditions):
            value = self._signed(values[node], sign)
            limit = constant(bound * (SINGLE if self.single else 1.0), self.kind)
            below = b.and_(b.fcmp_ordered("<=", value, limit), b.fcmp_ordered(">", value, b.fneg(infinity)))
            found = b.select(self._all(b.not_(below)), found, ir.Constant(WORD, 2 * (joint + 1)))
        return found


_INSTRUCTIONS = {"+": "fadd", "-": "fsub", "*": "fmul", "/": "fdiv"}
