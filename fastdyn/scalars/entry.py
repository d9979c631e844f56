"""Compiled loops over samples, for each kind of scalar."""

from collections.abc import Callable
from typing import Any, NamedTuple

from fastdyn.compiler.entries import Entry
from fastdyn.scalars.verbs import LANES, SINGLE_LANES


class Kind(NamedTuple):
    """What a row of scratch holds: so many samples of this type."""

    element: str
    lanes: int


SCALAR, DOUBLE, SINGLE = Kind("float64", 1), Kind("float64", LANES), Kind("float32", SINGLE_LANES)


def kind_of(scratch: Any) -> Kind:
    """The kind of scalar that a buffer holds: 1-D is one sample at a time, (rows, lanes) as many as there are lanes."""
    return Kind(str(scratch.dtype), 1 if scratch.ndim == 1 else scratch.shape[1])


class SampleEntry(Entry):
    """A loop over samples: parameters, arrays of samples (T, columns), scratch.

    parameters: the types of the arguments before the samples, from the type of a real number and the number of lanes: P
    (a Fortran-ordered array) and tree (whole numbers) if not given.
    """

    def __init__(
        self, function: Callable[..., Any], parameters: Callable[[Any, int], tuple[Any, ...]] | None = None
    ) -> None:
        super().__init__(function, self._types)
        self._parameters = parameters or reals_and_integers

    def __call__(self, *arguments: Any) -> Any:
        """Runs on scalars or on lanes, whichever the scratch holds."""
        return self.compiled(kind_of(arguments[-1]))(*arguments)

    def described(self, kind: Kind) -> str:
        """The quantity, and how many samples at a time."""
        return f"{self.__name__} ({'one sample' if kind.lanes == 1 else 'batch'}, {kind.element})"

    def _types(self, kind: Kind) -> tuple[Any, ...]:
        from numba import types

        from fastdyn.scalars.lanes import buffer_type

        real = getattr(types, kind.element)
        first = self._parameters(real, kind.lanes)
        samples, scratch = types.Array(real, 2, "A"), buffer_type(real, kind.lanes)
        return (*first, *[samples] * (self.py_func.__code__.co_argcount - len(first) - 1), scratch)


def reals_and_integers(real: Any, lanes: int = 1) -> tuple[Any, ...]:
    """The types of P and tree."""
    from numba import types

    return types.Array(real, 2, "F"), types.Array(types.int64, 2, "C")


def entry(function: Callable[..., Any]) -> SampleEntry:
    """A function that Python calls: (P, tree, arrays of samples ..., scratch)."""
    return SampleEntry(function)
