"""Checks and converts arguments: shapes, types, `out=`. Bad input raises an error that names the argument."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from fastdyn.arrays import Array, masked, real_numbers
from fastdyn.errors import ArgumentError, ArgumentTypeError, NotFiniteError

FLOAT: np.dtype[Any] = np.dtype(np.float64)
SINGLE: np.dtype[Any] = np.dtype(np.float32)
REALS: dict[np.dtype[Any], np.dtype[Any]] = {FLOAT: FLOAT, SINGLE: SINGLE}


def precision(dtype: DTypeLike | None) -> np.dtype[Any]:
    """float64 or float32; raises for any other dtype."""
    if dtype is None:
        return FLOAT
    try:
        return REALS[np.dtype(dtype)]
    except (TypeError, ValueError, KeyError) as problem:
        raise ArgumentError(f"dtype is {dtype!r}: expected float64 or float32") from problem


def read(
    values: Mapping[str, ArrayLike],
    cores: Mapping[str, tuple[int, ...]],
    robot: str,
    of: Mapping[str, str] = MappingProxyType({}),
    real: np.dtype[Any] = FLOAT,
) -> tuple[dict[str, Array], tuple[int, ...]]:
    """The arguments given, as arrays, and their common batch axes.

    cores: the shape of one sample; of: what its first axis counts, if not joints; empty for what is always the same.
    """
    arrays = {name: _numbers(v, name, cores[name], robot, of.get(name, "joint"), real) for name, v in values.items()}
    return arrays, _common_lead(arrays, cores)


def check_finite(arrays: Mapping[str, Array]) -> None:
    """Raises if an argument holds NaN or infinity, and says where."""
    for name, array in arrays.items():
        if not np.isfinite(array).all():
            where = tuple(np.argwhere(~np.isfinite(array))[0].tolist())
            place = ", ".join(map(str, where))
            raise NotFiniteError(f"{name}[{place}] is {array[where]}: expected finite numbers")


def _numbers(value: ArrayLike, name: str, core: tuple[int, ...], robot: str, of: str, real: np.dtype[Any]) -> Array:
    """An array of the wanted precision whose last axes have the expected lengths."""
    if type(value) is np.ndarray and value.dtype is real and value.shape[value.ndim - len(core) :] == core:
        return value
    array = real_numbers(value, name)
    if array.shape[max(array.ndim - len(core), 0) :] != core:
        why = f", but {robot} has {core[0]} {of}{'s' * (core[0] != 1)}" if of else ""
        expected = ", ".join(map(str, core))
        raise ArgumentError(f"{name} has shape {array.shape}{why}: expected (..., {expected})")
    with np.errstate(over="ignore"):  # values beyond single precision become infinite, and are then refused
        return array.astype(real, copy=False)


def _common_lead(arrays: Mapping[str, Array], cores: Mapping[str, tuple[int, ...]]) -> tuple[int, ...]:
    """The batch axes, those of all arguments broadcast against each other."""
    leads = [a.shape[: a.ndim - len(cores[name])] for name, a in arrays.items()]
    if all(lead == leads[0] for lead in leads):
        return leads[0]
    try:
        return np.broadcast_shapes(*leads)
    except ValueError as problem:
        shapes = ", ".join(f"{name} {a.shape}" for name, a in arrays.items())
        raise ArgumentError(f"batch axes do not fit together: {shapes}") from problem


def check_robots(arrays: Mapping[str, Array], cores: Mapping[str, tuple[int, ...]], robots: int) -> None:
    """Raises if the last batch axis of an argument fits neither one robot nor all."""
    for name, array in arrays.items():
        lead = array.shape[: array.ndim - len(cores[name])]
        if lead and lead[-1] not in (1, robots):
            core = ", ".join(map(str, cores[name]))
            raise ArgumentError(
                f"{name} has shape {array.shape}, but there are {robots} robots: expected "
                f"(..., {robots}, {core}), one state for each, or (..., 1, {core}) for all"
            )


def flat(array: Array, lead: tuple[int, ...], core: tuple[int, ...]) -> Array:
    """(T, columns) of any strides, one state contiguous: the array's own memory if possible."""
    if array.shape != lead + core:
        array = np.broadcast_to(array, lead + core)
    if not array.flags.aligned or (lead == () and not array.flags.c_contiguous):
        array = np.array(array, order="C")
    return array.reshape(math.prod(lead), math.prod(core))


def target(
    out: Any,
    lead: tuple[int, ...],
    core: tuple[int, ...],
    inputs: Iterable[Array],
    real: np.dtype[Any],
    name: str = "out",
) -> Array:
    """`out` itself if kernels can write to it as (T, columns), else a fresh array."""
    shape = lead + core
    if out is None:
        return np.empty(shape, real)
    if not isinstance(out, np.ndarray) or masked(out):
        raise ArgumentTypeError(f"{name} is a {type(out).__name__}: expected a NumPy array")
    if out.dtype != real:
        raise ArgumentTypeError(f"{name} has dtype {out.dtype}: expected {real}")
    if out.shape != shape:
        raise ArgumentError(f"{name} has shape {out.shape}: expected {shape}")
    if not out.flags.writeable:
        raise ArgumentError(f"{name} is read-only: expected an array that can be written")
    is_view = np.may_share_memory(flat(out, lead, core), out)  # otherwise reshaping has copied it
    if not is_view or any(np.may_share_memory(out, a) for a in inputs):
        return np.empty(shape, real)
    return out
