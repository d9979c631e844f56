"""Scalars that count operations: run a kernel's text on them in plain Python and read the totals."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import Any

import numpy as np

from fastdyn.scalars.verbs import sqrt


@dataclass(frozen=True)
class Operations:
    """Numbers of floating-point operations. Subtractions count as additions; a change of sign is free."""

    multiplications: int = 0
    additions: int = 0
    divisions: int = 0
    sincos: int = 0
    sqrt: int = 0
    atan2: int = 0

    def __add__(self, other: Operations) -> Operations:
        return Operations(*(a + b for a, b in zip(self.totals(), other.totals(), strict=True)))

    def __sub__(self, other: Operations) -> Operations:
        return Operations(*(a - b for a, b in zip(self.totals(), other.totals(), strict=True)))

    def totals(self) -> tuple[int, ...]:
        """The six numbers in order."""
        return self.multiplications, self.additions, self.divisions, self.sincos, self.sqrt, self.atan2


class Tally(Counter[str]):
    """Counts the operations of all scalars that refer to it.

    >>> tally = Tally()
    >>> x = Counting.array([3.0, 4.0], tally)
    >>> float(x[0] * x[0] + x[1] * x[1]), tally.operations()
    (25.0, Operations(multiplications=2, additions=1, divisions=0, sincos=0, sqrt=0, atan2=0))
    """

    def operations(self) -> Operations:
        """The totals so far."""
        return Operations(**self)


class Counting:
    """A float that counts its operations in a tally; without a tally it only computes.

    Results belong to the operands' tally. Operands of two tallies are refused: neither count would be right.
    """

    __slots__ = ("tally", "value")

    def __init__(self, value: Any, tally: Tally | None = None) -> None:
        self.value, self.tally = float(value), tally

    def __add__(self, other: Any) -> Counting:
        return self._counted("additions", self.value + _value(other), other)

    def __sub__(self, other: Any) -> Counting:
        return self._counted("additions", self.value - _value(other), other)

    def __rsub__(self, other: Any) -> Counting:
        return self._counted("additions", _value(other) - self.value, other)

    def __mul__(self, other: Any) -> Counting:
        return self._counted("multiplications", self.value * _value(other), other)

    def __truediv__(self, other: Any) -> Counting:
        return self._counted("divisions", self.value / _value(other), other)

    def __rtruediv__(self, other: Any) -> Counting:
        return self._counted("divisions", _value(other) / self.value, other)

    __radd__ = __add__
    __rmul__ = __mul__

    def __neg__(self) -> Counting:
        return self.like(-self.value)

    def __eq__(self, other: object) -> bool:
        return bool(self.value == _value(other))

    def __hash__(self) -> int:
        return hash(self.value)

    def __float__(self) -> float:
        return self.value

    def like(self, value: Any) -> Counting:
        """A constant of the same tally."""
        return Counting(value, self.tally)

    def sincos(self) -> tuple[Counting, Counting]:
        """Counted as one operation of its own kind."""
        sine, cosine = math.sin(self.value), math.cos(self.value)
        return self._counted("sincos", sine, None), self.like(cosine)

    def sqrt(self) -> Counting:
        """Counted as an operation of its own kind."""
        return self._counted("sqrt", sqrt(self.value), None)

    def atan2(self, x: Any) -> Counting:
        """The angle of (x, self), counted as an operation of its own kind."""
        return self._counted("atan2", math.atan2(self.value, _value(x)), x)

    def by_sign(self, positive: Any, negative: Any) -> Counting:
        """A choice, not an operation."""
        return self.like(_value(positive) if self.value > 0 else _value(negative) if self.value < 0 else 0.0)

    def where_above(self, bound: Any, above: Any, otherwise: Any) -> Counting:
        """A choice, not an operation."""
        return self.like(_value(above) if self.value > _value(bound) else _value(otherwise))

    def any_above(self, bound: Any) -> bool:
        """True: what a text costs does not depend on values, so that no work is skipped."""
        return True

    def all_above(self, bound: Any) -> bool:
        """Whether the value is above a bound; not counted."""
        return bool(self.value > _value(bound))

    def all_finite(self) -> bool:
        """Whether the value is neither NaN nor infinite; not counted."""
        return math.isfinite(self.value)

    @staticmethod
    def array(values: Any, tally: Tally | None = None) -> np.ndarray[Any, np.dtype[Any]]:
        """The same numbers as an array of counting scalars."""
        given = np.asarray(values, dtype=float)
        return np.array([Counting(value, tally) for value in given.ravel()], dtype=object).reshape(given.shape)

    def _counted(self, operation: str, value: Any, other: Any) -> Counting:
        """The result of an operation."""
        tally = self.tally
        if isinstance(other, Counting) and other.tally is not tally:
            if tally is not None and other.tally is not None:
                raise ValueError("counting scalars of two tallies meet in one operation: use one tally for all arrays")
            tally = tally if other.tally is None else other.tally
        if tally is not None:
            tally[operation] += 1
        return Counting(value, tally)


def _value(x: Any) -> Any:
    return x.value if isinstance(x, Counting) else x


def count(text: Callable[..., Any], *arguments: Any) -> Operations:
    """The operations that a kernel's text makes, by running it on counting scalars.

    Arrays of floats are copied to arrays of counting scalars, so that results are lost: pass arrays made by
    `Counting.array` to see them. These join the count; everything else is passed as it is.

    >>> count(lambda x: x[0] * x[1] + 1.0, np.ones(2))
    Operations(multiplications=1, additions=1, divisions=0, sincos=0, sqrt=0, atan2=0)
    """
    tally = Tally()
    text(*(_counting(a, tally) for a in arguments))
    return tally.operations()


def count_stages(
    text: Callable[..., Any], stages: Mapping[str, Callable[..., Any]], *arguments: Any
) -> dict[str, Operations]:
    """Like `count`, by stage: the operations of some functions that the text calls, under the names given.

    Operations of a stage that another stage calls count for the inner one only; those outside all stages are under "".
    Not for several threads at once: while it runs, the stages are replaced in the modules of the text and the stages.

    >>> def square(x): return x * x
    >>> def text(x): return square(x[0]) + square(x[1])
    >>> count_stages(text, {"squares": square}, np.ones(2))["squares"].multiplications
    2
    """
    totals = dict.fromkeys(["", *stages], Operations())
    running = [""]
    tally = Tally()

    def settle() -> None:
        totals[running[-1]] += tally.operations()
        tally.clear()

    def watched(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def run(*given: Any) -> Any:
            settle()
            running.append(name)
            try:
                return function(*given)
            finally:
                settle()
                running.pop()

        return run

    modules = [f.__globals__ for f in (text, *stages.values())]
    with _in_place_of({function: watched(name, function) for name, function in stages.items()}, modules):
        text(*(_counting(a, tally) for a in arguments))
    settle()
    return totals


@contextmanager
def _in_place_of(
    others: Mapping[Callable[..., Any], Callable[..., Any]], modules: list[dict[str, Any]]
) -> Iterator[None]:
    """Replaces functions by others in some modules, and puts them back."""
    places = [
        (module, name, function) for function in others for module in modules for name in [function.__name__]
        if module.get(name) is function
    ]  # fmt: skip
    try:
        for module, name, function in places:
            module[name] = others[function]
        yield
    finally:
        for module, name, function in places:
            module[name] = function


def _counting(argument: Any, tally: Tally) -> Any:
    if isinstance(argument, Counting):
        return Counting(argument, tally)
    if not isinstance(argument, np.ndarray) or argument.dtype not in (float, object):
        return argument
    counted = Counting.array(argument, tally)
    if argument.dtype == float:
        return counted
    argument[...] = counted
    return argument
