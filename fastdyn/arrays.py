"""Arrays of real numbers from what users give: refused by name where they are something else."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastdyn.errors import ArgumentError, ArgumentTypeError

Array = NDArray[np.float64]


def masked(value: Any) -> bool:
    """Whether a value is a masked array, or a list or tuple that holds one: NumPy would drop the mask silently.

    >>> masked([np.zeros(2), np.ma.masked_invalid([1.0, np.nan])])
    True
    """
    return isinstance(value, np.ma.MaskedArray) or (isinstance(value, list | tuple) and any(map(masked, value)))


def real_numbers(value: ArrayLike, name: str) -> Array:
    """An array of real numbers, of any shape and precision; raises for anything else."""
    if masked(value):
        raise ArgumentTypeError(f"{name} is a masked array: expected real numbers without a mask")
    try:
        array = np.asarray(value)
    except ValueError as problem:
        raise ArgumentError(f"{name} is not a rectangular array: {problem}") from problem
    if array.dtype.kind not in "fiu":
        raise ArgumentTypeError(f"{name} has dtype {array.dtype}: expected real numbers")
    return array


def place(where: tuple[int, ...]) -> str:
    """An index as it follows a name in a message: "[2, 0]", or nothing for an array without batch axes.

    >>> place((2, 0)), place(())
    ('[2, 0]', '')
    """
    return f"[{', '.join(map(str, where))}]" if where else ""
