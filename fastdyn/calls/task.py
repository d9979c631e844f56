"""A quantity of one robot, as users call it: checks arguments, runs one state or a batch on threads, raises errors.

This module alone turns the status of kernels into errors. Arrays that need no conversion go
directly to compiled code: one state through `generate.single`, batches through `generate.batch`.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy import empty, ndarray
from numpy.typing import ArrayLike, DTypeLike

from fastdyn.calls import generate, lanes
from fastdyn.calls.arguments import FLOAT, check_finite, flat, precision, read, target
from fastdyn.calls.headers import READABLE, WELL_FORMED, layout_table
from fastdyn.calls.parameters import Parameters
from fastdyn.calls.threads import Call, Span, first_wrong, useful, walk
from fastdyn.calls.workspace import Workspace
from fastdyn.errors import ArgumentError, ArgumentTypeError, FastdynError, NotFiniteError, SingularMassMatrixError
from fastdyn.mechanism.parts import Array
from fastdyn.quantities import Quantity
from fastdyn.scalars import LANES

Result = Any  # an array, or a tuple of arrays where a quantity gives several
LINE = 64  # bytes of a cache line
ONE = 1  # small integers are single objects in CPython: `is` tells 1 from True and 1.0, and is fast
WORTH = 1 << 21  # samples times rows of scratch, 0.4 to 4 ms of work: up to this size a batch is one compiled call

_LOCK = threading.Lock()
_table = cache(layout_table)  # robots of the same size share them


def lane_rows(rows: int, lanes: int = LANES, real: np.dtype[Any] = FLOAT) -> Array:
    """A (rows, lanes) buffer aligned to cache lines: a row across two lines takes two accesses."""
    size = rows * lanes * real.itemsize
    memory = np.empty(size + LINE, dtype=np.uint8)
    start = -memory.__array_interface__["data"][0] % LINE
    return memory[start : start + size].view(real).reshape(rows, lanes)


class Request(NamedTuple):
    """What a call asks for. indices: one integer, if the quantity takes one."""

    arrays: Mapping[str, Array]
    results: Sequence[Array]
    lead: tuple[int, ...]
    threads: int
    indices: tuple[int, ...]


class Task:
    """A quantity of a robot in one precision, with all that can be computed before the first call."""

    def __init__(self, parameters: Parameters, quantity: Quantity, real: np.dtype[Any] = FLOAT) -> None:
        n, m, coupled = parameters.joints, parameters.coordinates, parameters.coupled
        quantity = parameters.row(quantity)
        self.parameters, self.quantity, self.real = parameters, quantity, real
        self.constants = parameters.of(real)
        self.entry = generate.batch(quantity, coupled)
        self.names = tuple(field.name for field in quantity.inputs)
        self.inputs = {field.name: field.core(n, m) for field in quantity.inputs}
        self.units = {field.name: parameters.unit for field in quantity.inputs if field.coupling}
        self.units |= {field.name: "" for field in quantity.inputs if "n" not in field.shape}
        self.results = tuple(field.core(n, m) for field in quantity.gives)
        self.columns = tuple(math.prod(core) for core in self.results)
        self.several = len(self.results) > 1
        self.core = None if self.several else self.results[0]
        inside = [field.core(n) for field in generate.fields_in_joints(quantity)] if coupled else []
        self.rows = sum(math.prod(core) for core in (*self.inputs.values(), *self.results, *inside))
        self.rows += generate.scratch_rows(quantity, coupled, n)
        self.worth = max(LANES, WORTH // max(1, self.rows))  # samples
        self.none = np.empty((0, 0), real)  # an optional input that is left out
        self.required, self.absent = len(quantity.reads), (self.none,) * len(quantity.optional)
        self.plain = all(len(self.inputs[field.name]) == 1 for field in quantity.reads)
        self.reshaped = any(len(core) != 1 for core in self.results)
        self.readable = READABLE and n > 0
        self.tables = {
            count: _table((*list(self.inputs.values())[:count], *self.results), len(self.results), real.itemsize)
            for count in (len(quantity.reads), len(quantity.inputs))
        }
        # where the tables lie, which must live as long as the task
        self.places = {count: table.ctypes.data for count, table in self.tables.items()}
        self.kind = lanes.kind(real)
        self.workspace: Workspace | None = None
        self.address = 0
        self.one: Callable[..., int] = self._first_state
        self.others: dict[np.dtype[Any], Task] = {}  # in other precisions
        self.spare: list[Array] = []  # unused scratch buffers

    def __call__(
        self,
        values: tuple[Any, ...],
        out: Result = None,
        threads: int = 1,
        dtype: DTypeLike | None = None,
        index: tuple[int, ...] = (),
    ) -> Result:
        """The quantity for one state (n,) or any batch (..., n) of them.

        values: in the order of its inputs, optional ones last or left out; dtype: if not the task's own precision;
        index: one integer if it takes one.
        """
        if dtype is not None:
            return self.in_precision(dtype)(values, out, threads, index=index)
        if self.readable and type(values[0]) is ndarray:
            if out is None and threads is ONE:
                result = empty(self.core) if self.core is not None else self._empty(())
                if self.one(values, result, *index, self.address) == 0:
                    return result if self.core != () else result[()]
            found = self._well_formed(values, out, threads, index)
            if found is not None:
                return found
        return self._any(values, out, threads, index)

    def in_precision(self, dtype: DTypeLike | None) -> Task:
        """The same quantity in another precision, made once; this one if none is given."""
        real = self.real if dtype is None else precision(dtype)
        if real is self.real:
            return self
        if real not in self.others:
            self.others.setdefault(real, type(self)(self.parameters, self.quantity, real))
        return self.others[real]

    def _empty(self, lead: tuple[int, ...]) -> Result:
        if self.several:
            return tuple(empty(lead + core, self.real) for core in self.results)
        return empty(lead + self.results[0], self.real)

    def _first_state(self, *arguments: Any) -> int:
        """Looks up the compiled single-state call and runs it; -1 where there is none."""
        if self.real is not FLOAT:
            self.one = _no_call
            return -1
        if arguments[0][0].ndim != 1:  # a batch: it does not need this code, which takes seconds to compile
            return -1
        with _LOCK:  # another thread may already be using the workspace: it must not be replaced
            if self.workspace is None:
                self.workspace = Workspace(self.parameters, [self.quantity])
                self.address = self.workspace.address
        self.one = generate.single(self.quantity, self.parameters.coupled).compiled()
        return int(self.one(*arguments[:-1], self.address))

    def _well_formed(self, values: tuple[Any, ...], out: Result, threads: int, index: tuple[int, ...]) -> Result:
        """The result of a batch, if no argument must be converted first; else None."""
        place = self.places.get(len(values))
        if place is None or (
            self.several and not (out is None or (type(out) is tuple and len(out) == len(self.results)))
        ):
            return None
        try:
            result = self._empty((len(values[0]),)) if out is None else out
        except TypeError:  # zero-dimensional
            return None
        results = result if self.several else (result,)
        T = WELL_FORMED.compiled()((*values, *results), self.none, place, len(results))
        if T < 1:
            return None
        if self.plain and len(values) == self.required:  # (T, n) as they are
            given = (*values, *self.absent)
        else:
            given = (*(value.reshape(T, -1) for value in values), *self.absent[: len(self.names) - len(values)])
        targets = results
        if self.reshaped:
            targets = [array.reshape(T, columns) for array, columns in zip(results, self.columns, strict=True)]
        if threads is ONE and T <= self.worth:
            scratch = self._scratch()
            status = self.entry.compiled(self.kind)(*self.constants, *index, *given, *targets, scratch)
            self.spare.append(scratch)
            if status == 0:
                return result
        self._compute(dict(zip(self.names, values, strict=False)), given, targets, (T,), threads, index)
        return result

    def _any(self, values: tuple[ArrayLike, ...], out: Result, threads: int, index: tuple[int, ...]) -> Result:
        """The result for anything that can be converted to arrays."""
        arrays, lead = self._read(values)
        results = self._targets(out, lead, list(arrays.values()))
        self._fill(Request(arrays, results, lead, threads, index))
        outs = (out,) if not self.several else out
        if out is not None:
            for wanted, result in zip(outs, results, strict=True):
                if wanted is not result:
                    np.copyto(wanted, result)
            return out
        if self.several:
            return tuple(results)
        return results[0] if self.results[0] else results[0][()]

    def _read(self, values: tuple[ArrayLike, ...]) -> tuple[dict[str, Array], tuple[int, ...]]:
        """The arguments by name, as arrays, and the batch axes of the result."""
        given = dict(zip(self.names, values, strict=False))  # optional inputs may be left out
        return read(given, self.inputs, self.parameters.robot, self.units, self.real)

    def _fill(self, request: Request) -> None:
        """Computes the results."""
        arrays, results, lead, threads, index = request
        targets = [flat(array, lead, core) for array, core in zip(results, self.results, strict=True)]
        self._compute(arrays, self._samples(arrays, lead), targets, lead, threads, index)

    def _samples(self, arrays: Mapping[str, Array], lead: tuple[int, ...]) -> list[Array]:
        """(T, columns) of each input."""
        return [flat(arrays[name], lead, core) if name in arrays else self.none for name, core in self.inputs.items()]

    def _targets(self, out: Result, lead: tuple[int, ...], inputs: list[Array]) -> list[Array]:
        """Arrays that kernels can write the results to: those of `out` where they can, else fresh ones."""
        outs: tuple[Any, ...] = (out,)
        if self.several:
            outs = (None,) * len(self.results) if out is None else out
            if not isinstance(outs, tuple):
                raise ArgumentTypeError(
                    f"out is a {type(out).__name__}: expected a tuple of {len(self.results)} arrays"
                )
            if len(outs) != len(self.results):
                raise ArgumentError(f"out has {len(outs)} arrays: expected {len(self.results)}")
        found: list[Array] = []
        for k, (one, core) in enumerate(zip(outs, self.results, strict=True)):
            name = f"out[{k}]" if self.several else "out"
            found.append(target(one, lead, core, [*inputs, *found], self.real, name))
        return found

    def _compute(
        self,
        arrays: Mapping[str, Array],
        samples: Sequence[Array],
        targets: Sequence[Array],
        lead: tuple[int, ...],
        threads: int,
        index: tuple[int, ...],
    ) -> None:
        """Computes all samples into the targets; raises for a nonzero status."""
        used: list[Array] = []

        def ready() -> Call:
            if lead == () and self.real is FLOAT:
                return one_state
            scratch, run = self._scratch(), self.entry.compiled(self.kind)
            used.append(scratch)
            return lambda first, last: run(
                *self.constants, *index, *(a[first:last] for a in samples), *(a[first:last] for a in targets), scratch
            )

        def one_state(first: int, last: int) -> int:
            if self.readable:
                states = tuple(a.reshape(core) for a, core in zip(samples, self.inputs.values(), strict=True) if a.size)
                result = tuple(a[0] for a in targets)
                status = self.one(states, result if self.several else result[0], *index, self.address)
                if status >= 0:
                    return status
            scratch = np.empty(self.rows)
            return int(self.entry(*self.constants, *index, *samples, *targets, scratch))

        T = len(targets[0])
        threads = useful(threads, T, self.worth)
        if self.parameters.joints == 0:
            for array in targets:
                array[...] = 0.0
        elif wrong := walk(T, threads, self.worth, ready):
            self._explain(arrays, ready(), lead, wrong)
        self.spare += used

    def _scratch(self) -> Array:
        """An unused scratch buffer for lanes; thread-safe."""
        try:
            return self.spare.pop()
        except IndexError:
            return lane_rows(self.rows, self.kind.lanes, self.real)

    def _explain(self, arrays: Mapping[str, Array], run: Call, lead: tuple[int, ...], within: Span) -> NoReturn:
        """Raises for a nonzero status of some samples, naming the argument and the sample."""
        check_finite(arrays)
        first, status = first_wrong(within, run)
        sample = "" if lead == () else f" at sample {', '.join(map(str, np.unravel_index(first, lead)))}"
        raise error_of(status, sample, self.parameters, self.real)


def error_of(status: int, sample: str, parameters: Parameters, real: np.dtype[Any]) -> FastdynError:
    """The error that a status stands for if all arguments are finite; sample: where, for its message."""
    if status > 1:
        return SingularMassMatrixError(
            f"{parameters.robot} has a singular mass matrix{sample}: {parameters.singular(status)}; "
            f"give the links that this {parameters.unit} moves mass, or its motor inertia"
        )
    return NotFiniteError(
        f"the result of {parameters.robot}{sample} is beyond the range of {real}, though all arguments are finite"
    )


def _no_call(*arguments: Any) -> int:
    return -1
