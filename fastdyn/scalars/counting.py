"""Scalars that count the operations made on them: run a kernel's text on them in plain Python and read the totals."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Operations:
    """How many floating-point operations a text made. Subtractions count as additions; a change of sign is free."""

    multiplications: int = 0
    additions: int = 0
    divisions: int = 0
    sincos: int = 0

    def __add__(self, other: Operations) -> Operations:
        return Operations(*(a + b for a, b in zip(self.totals(), other.totals(), strict=True)))

    def __sub__(self, other: Operations) -> Operations:
        return Operations(*(a - b for a, b in zip(self.totals(), other.totals(), strict=True)))

    def totals(self) -> tuple[int, int, int, int]:
        """The four numbers in order."""
        return self.multiplications, self.additions, self.divisions, self.sincos


class Counting:
    """A float that counts. Counts are kept for the whole class; `count` reads their difference."""

    __slots__ = ("value",)
    multiplications = additions = divisions = sincoses = 0

    def __init__(self, value: Any) -> None:
        self.value = float(value)

    def __add__(self, other: Any) -> Counting:
        Counting.additions += 1
        return Counting(self.value + _value(other))

    def __sub__(self, other: Any) -> Counting:
        Counting.additions += 1
        return Counting(self.value - _value(other))

    def __rsub__(self, other: Any) -> Counting:
        Counting.additions += 1
        return Counting(_value(other) - self.value)

    def __mul__(self, other: Any) -> Counting:
        Counting.multiplications += 1
        return Counting(self.value * _value(other))

    def __truediv__(self, other: Any) -> Counting:
        Counting.divisions += 1
        return Counting(self.value / _value(other))

    def __rtruediv__(self, other: Any) -> Counting:
        Counting.divisions += 1
        return Counting(_value(other) / self.value)

    __radd__ = __add__
    __rmul__ = __mul__

    def __neg__(self) -> Counting:
        return Counting(-self.value)

    def __gt__(self, other: Any) -> bool:
        return bool(self.value > _value(other))

    def __eq__(self, other: object) -> bool:
        return bool(self.value == _value(other))

    def __hash__(self) -> int:
        return hash(self.value)

    def __float__(self) -> float:
        return self.value

    def sincos(self) -> tuple[Counting, Counting]:
        """Counted as one operation of its own kind."""
        Counting.sincoses += 1
        return Counting(math.sin(self.value)), Counting(math.cos(self.value))

    def by_sign(self, positive: Any, negative: Any) -> Counting:
        """A choice, not an operation."""
        return Counting(_value(positive) if self.value > 0 else _value(negative) if self.value < 0 else 0.0)

    @classmethod
    def counts(cls) -> Operations:
        """The totals since the program began."""
        return Operations(cls.multiplications, cls.additions, cls.divisions, cls.sincoses)

    @staticmethod
    def array(values: Any) -> np.ndarray[Any, np.dtype[Any]]:
        """The same numbers as an array of counting scalars."""
        flat = np.asarray(values, dtype=float)
        counted = np.empty(flat.shape, dtype=object)
        for place, value in np.ndenumerate(flat):
            counted[place] = Counting(value)
        return counted


def _value(x: Any) -> Any:
    return x.value if isinstance(x, Counting) else x


def count(text: Callable[..., Any], *arguments: Any) -> Operations:
    """Runs a kernel's text on counting scalars and tells what it cost.

    Arrays of floats become arrays of counting scalars; everything else is handed over as it is. Results are written to
    the counting arrays and lost: pass arrays made by `Counting.array` to see them.
    """
    before = Counting.counts()
    text(*_counting(arguments))
    return Counting.counts() - before


def count_stages(
    text: Callable[..., Any], stages: Mapping[str, Callable[..., Any]], *arguments: Any
) -> dict[str, Operations]:
    """Like `count`, with a breakdown: what each of some functions cost that the text calls, by the names given.

    Operations of a stage that another stage calls count for the inner one only; those outside all stages stand under
    "". Not for several threads at once: while it runs, the modules of the text and its stages call watched functions.

    >>> def square(x): return x * x
    >>> def text(x): return square(x[0]) + square(x[1])
    >>> count_stages(text, {"squares": square}, np.ones(2))["squares"].multiplications
    2
    """
    totals = dict.fromkeys(["", *stages], Operations())
    running = [""]
    since = Counting.counts()

    def settle() -> None:
        nonlocal since
        now = Counting.counts()
        totals[running[-1]] += now - since
        since = now

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
        text(*_counting(arguments))
    settle()
    return totals


@contextmanager
def _in_place_of(
    others: Mapping[Callable[..., Any], Callable[..., Any]], modules: list[dict[str, Any]]
) -> Iterator[None]:
    """For a while, calls of these functions in these modules reach others."""
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


def _counting(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(Counting.array(a) if isinstance(a, np.ndarray) and a.dtype == float else a for a in arguments)
