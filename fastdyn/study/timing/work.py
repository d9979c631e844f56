"""What the text of a formulation or kernel does for one state of n joints: operations, sines, memory."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from fastdyn.mechanism.parts import Array
from fastdyn.polynomials import Polynomial
from fastdyn.quantities import Quantity
from fastdyn.scalars import count
from fastdyn.study import counts
from fastdyn.study.counts.costs import Cost
from fastdyn.study.formulations import LAYOUTS, parameters
from fastdyn.study.rows import FORMULATIONS, SIMPLIFIED
from fastdyn.study.timing.results import KERNELS, LABELS, Amounts

MOVED = range(1, 9)  # numbers of joints at which loads and stores are counted: two more than n^5 needs
TURNED = range(1, 5)  # the same for sines, which grow as n


def row(name: str) -> Quantity:
    """The row of a kernel or a formulation."""
    return KERNELS.get(name) or FORMULATIONS.get(name) or SIMPLIFIED


@dataclass(frozen=True)
class Work:
    """Operations, pairs of sine and cosine, values moved and values of memory, as polynomials in n."""

    operations: Cost
    sines: Polynomial
    moved: Polynomial
    memory: Polynomial

    def at(self, n: int) -> Amounts:
        """The numbers for n joints; a value has 8 bytes."""
        return Amounts(*self.operations.at(n), int(self.sines(n)), 8 * int(self.moved(n)), 8 * int(self.memory(n)))


@cache
def works() -> dict[str, Work]:
    """Of every formulation and kernel that is timed."""
    costs = {text.name: text.cost for text in counts.formulations() + counts.kernels()}
    return {name: _work(row(name), costs[KERNELS[name].name if name in KERNELS else name]) for name in LABELS}


def operations(name: str, n: int) -> int:
    """Multiplications and additions of one state; of the simplified model, those of the whole one."""
    return works()[name if name in LABELS else "lagrange_euler"].at(n).operations


def _work(quantity: Quantity, cost: Cost) -> Work:
    """Values moved: loads and stores of the text, and of each input and result that is copied to scratch or from it."""

    def through(values: Iterable[int]) -> Polynomial:
        return Polynomial.through(values, MOVED[0])

    return Work(
        cost,
        through(sines(quantity, n) for n in TURNED),
        through(moved(quantity, n) + 2 * quantity.columns(n) for n in MOVED),
        through(2 * quantity.columns(n) + quantity.rows(n) for n in MOVED),
    )


def moved(quantity: Quantity, n: int) -> int:
    """How many values the text of a row loads from its buffers and stores there, for n joints.

    >>> moved(FORMULATIONS["newton_euler_link"], 6)
    348
    """
    tally = [0]
    quantity.text(*_arguments(quantity, n, lambda size: _watched(size, tally)))
    return tally[0]


def sines(quantity: Quantity, n: int) -> int:
    """How many pairs of sine and cosine the text of a row computes."""
    return count(quantity.text, *_arguments(quantity, n, lambda size: np.full(size, 0.5))).sincos


def _arguments(quantity: Quantity, n: int, buffer: Any) -> list[Any]:
    """Those of the text, without optional inputs; buffer: makes one of a given size."""
    robot = counts.arm(n)
    found = robot.parameters if quantity.name in _KERNELS else parameters(LAYOUTS[quantity.layout](robot))
    sizes = [0 if f in quantity.optional else math.prod(f.core(n)) for f in quantity.inputs + quantity.gives]
    return [*found.constants, *map(buffer, sizes), buffer(quantity.rows(n))]


_KERNELS = {quantity.name for quantity in KERNELS.values()}


class _Watched(np.ndarray[Any, np.dtype[np.float64]]):
    """A buffer that counts the values loaded and stored in `tally`; its slices do, too."""

    tally: list[int]

    def __array_finalize__(self, other: Any) -> None:
        self.tally = getattr(other, "tally", [0])

    def __getitem__(self, rows: Any) -> Any:
        if not isinstance(rows, slice):
            self.tally[0] += 1
        return super().__getitem__(rows)

    def __setitem__(self, row: Any, value: Any) -> None:
        self.tally[0] += 1
        super().__setitem__(row, value)


def _watched(size: int, tally: list[int]) -> Array:
    found = np.full(size, 0.5).view(_Watched)
    found.tally = tally
    return found
