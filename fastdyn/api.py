"""From what a user hands over to what `batch` takes, and back: shapes, types, `out=`, threads, errors.

The only place that allocates, and the only place that raises for what kernels found.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, pairwise
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from fastdyn import batch
from fastdyn.errors import ArgumentError, ArgumentTypeError, NotFiniteError, SingularMassMatrixError
from fastdyn.kernels import aba, coriolis, crba, rnea, velocities
from fastdyn.kernels.rows import INDEX
from fastdyn.model import Model
from fastdyn.parts import Array
from fastdyn.scalars import LANES

Core = Callable[[int], tuple[int, ...]]


def per_joint(n: int) -> tuple[int, ...]:
    """Shape of one sample of q, qd, qdd or tau."""
    return (n,)


def matrix(n: int) -> tuple[int, ...]:
    """Shape of one mass or Coriolis matrix."""
    return (n, n)


def sixes(n: int) -> tuple[int, ...]:
    """Shape of one sample of wrenches: force and moment for each link."""
    return (n, 6)


def scalar(n: int) -> tuple[int, ...]:
    """Shape of one energy."""
    return ()


@dataclass(frozen=True)
class Quantity:
    """What can be computed: the entry point, its arguments and result, and the rows of scratch it needs."""

    entry: Any
    arguments: tuple[str, ...]
    result: Core
    scratch: Callable[[int], tuple[int, ...]]  # rows of each buffer, for n joints
    forked: bool = False


def _newton_euler(n: int) -> tuple[int, ...]:
    return 4 * n, 6 * n, rnea.WORK * n


INVERSE_DYNAMICS = Quantity(batch.inverse_dynamics, ("q", "qd", "qdd", "wrenches"), per_joint, _newton_euler)
JOINT_REACTIONS = Quantity(batch.joint_reactions, ("q", "qd", "qdd", "wrenches"), sixes, _newton_euler, forked=True)
BIAS_FORCES = Quantity(batch.bias_forces, ("q", "qd"), per_joint, lambda n: (4 * n, rnea.WORK * n))
GRAVITY_FORCES = Quantity(batch.gravity_forces, ("q",), per_joint, lambda n: (4 * n, rnea.WORK * n))
POTENTIAL_ENERGY = Quantity(batch.potential_energy, ("q",), scalar, lambda n: (4 * n, rnea.WORK * n))
KINETIC_ENERGY = Quantity(batch.kinetic_energy, ("q", "qd"), scalar, lambda n: (2 * n, velocities.SLOTS * n))
MASS_MATRIX = Quantity(batch.mass_matrix, ("q",), matrix, lambda n: (n + n * n, crba.SLOTS * n))
CORIOLIS_MATRIX = Quantity(
    batch.coriolis_matrix, ("q", "qd"), matrix, lambda n: (2 * n + n * n, velocities.SLOTS * n, coriolis.WORK * n)
)
FORWARD_DYNAMICS = {
    "aba": Quantity(
        batch.forward_dynamics_aba,
        ("q", "qd", "tau", "wrenches"),
        per_joint,
        lambda n: (5 * n, 6 * n, aba.WORK * n),
    ),
    "crba": Quantity(
        batch.forward_dynamics_crba,
        ("q", "qd", "tau", "wrenches"),
        per_joint,
        lambda n: (4 * n, 6 * n, n + n * n, rnea.WORK * n),
    ),
}

NONE = np.empty((0, 0))  # the wrenches of a call without any
SMALLEST_CHUNK = 512  # samples a thread should have to be worth waking


def evaluate(
    robot: str,
    joints: Sequence[str],
    model: Model,
    quantity: Quantity,
    values: Mapping[str, ArrayLike | None],
    out: Array | None = None,
    threads: int = 1,
) -> Array:
    """Computes a quantity for one state (n,) or any batch (..., n) of them."""
    n = model.n
    cores = {name: sixes(n) if name == "wrenches" else per_joint(n) for name in quantity.arguments}
    arrays = {name: _numbers(v, name, cores[name], robot) for name, v in values.items() if v is not None}
    lead = _common_lead(arrays, cores)
    core = quantity.result(n)
    result = _result(out, lead + core, arrays.values())
    T = math.prod(lead)
    flat = [_flat(arrays[name], lead, cores[name]) if name in arrays else NONE for name in quantity.arguments]
    target = result.reshape(T, math.prod(core))
    topology = model.forked if quantity.forked else model.T

    def run(first: int, last: int) -> int:
        rows = quantity.scratch(n)
        buffers = [np.empty(k) for k in rows] if lead == () else lane_rows(*rows)
        samples = (a[first:last] for a in flat)
        return int(quantity.entry(model.P, topology, *samples, target[first:last], *buffers))

    chunks = _chunks(T, threads)
    statuses = [run(*chunks[0])] if len(chunks) == 1 else list(_pool(len(chunks)).map(lambda c: run(*c), chunks))
    if any(statuses):
        _explain(robot, joints, model, arrays, run, lead, T, max(statuses))
    if out is not None and result is not out:
        np.copyto(out, result)
        return out
    return result


def _numbers(value: ArrayLike, name: str, core: tuple[int, ...], robot: str) -> Array:
    """A float64 array whose last axes have the expected lengths."""
    try:
        array = np.asarray(value)
    except ValueError as problem:
        raise ArgumentError(f"{name} is not a rectangular array: {problem}") from problem
    if array.dtype.kind not in "fiu":
        raise ArgumentTypeError(f"{name} has dtype {array.dtype}: expected real numbers")
    if array.shape[max(array.ndim - len(core), 0) :] != core:
        joints = f"{core[0]} joint" + "s" * (core[0] != 1)
        expected = ", ".join(map(str, core))
        raise ArgumentError(f"{name} has shape {array.shape}, but {robot} has {joints}: expected (..., {expected})")
    return array.astype(np.float64, copy=False)


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


def _flat(array: Array, lead: tuple[int, ...], core: tuple[int, ...]) -> Array:
    """(T, columns), C-ordered: the array's own memory where it is that already."""
    if array.shape != lead + core:
        array = np.broadcast_to(array, lead + core)
    return np.ascontiguousarray(array).reshape(math.prod(lead), math.prod(core))


def _result(out: Array | None, shape: tuple[int, ...], inputs: Iterable[Array]) -> Array:
    """`out` itself if kernels can write to it, else a fresh array."""
    if out is None:
        return np.empty(shape)
    if not isinstance(out, np.ndarray):
        raise ArgumentTypeError(f"out is a {type(out).__name__}: expected a NumPy array")
    if out.dtype != np.float64:
        raise ArgumentTypeError(f"out has dtype {out.dtype}: expected float64")
    if out.shape != shape:
        raise ArgumentError(f"out has shape {out.shape}: expected {shape}")
    if not out.flags.writeable:
        raise ArgumentError("out is read-only: expected an array that can be written")
    if not out.flags.c_contiguous or any(np.may_share_memory(out, a) for a in inputs):
        return np.empty(shape)
    return out


def lane_rows(*rows: int) -> list[Array]:
    """(rows, LANES) buffers that start on a cache line: a row that straddles two costs twice."""
    line = 8 * LANES
    memory = np.empty(line * (sum(rows) + 1), dtype=np.uint8)
    start = -memory.__array_interface__["data"][0] % line
    block = memory[start : start + line * sum(rows)].view(np.float64).reshape(-1, LANES)
    edges = list(accumulate(rows, initial=0))
    return [block[first:last] for first, last in pairwise(edges)]


def _chunks(T: int, threads: int) -> list[tuple[int, int]]:
    """Runs of whole blocks, one a thread; fewer threads where a chunk would not be worth waking one."""
    if isinstance(threads, bool) or not isinstance(threads, (int, np.integer)) or threads < 1:
        raise ArgumentError(f"threads is {threads!r}: expected a whole number above zero")
    count = max(1, min(int(threads), T // SMALLEST_CHUNK))
    blocks = -(-T // LANES)
    edges = [min(T, LANES * (blocks * k // count)) for k in range(count + 1)]
    return list(pairwise(edges))


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="fastdyn")


if hasattr(os, "register_at_fork"):  # a child process has none of its parent's threads
    os.register_at_fork(after_in_child=_pool.cache_clear)


def _explain(
    robot: str,
    joints: Sequence[str],
    model: Model,
    arrays: Mapping[str, Array],
    run: Callable[[int, int], int],
    lead: tuple[int, ...],
    T: int,
    status: int,
) -> NoReturn:
    """Raises for what a kernel found, naming the argument and the sample."""
    for name, array in arrays.items():
        if not np.isfinite(array).all():
            where = tuple(np.argwhere(~np.isfinite(array))[0].tolist())
            place = ", ".join(map(str, where))
            raise NotFiniteError(f"{name}[{place}] is {array[where]}: expected finite numbers")
    first, last = 0, T
    while last - first > 1:
        middle = (first + last) // 2
        first, last = (first, middle) if run(first, middle) else (middle, last)
    status = run(first, last) or status
    sample = "" if lead == () else f" at sample {', '.join(map(str, np.unravel_index(first, lead)))}"
    if status > 1:
        joint = joints[model.T[INDEX, status // 2 - 1]]
        raise SingularMassMatrixError(
            f"{robot} has a singular mass matrix{sample}: joint {joint!r} moves no inertia; "
            "give the links behind it mass, or its motor inertia"
        )
    raise NotFiniteError(
        f"the result of {robot}{sample} is beyond the range of float64, though all arguments are finite"
    )
