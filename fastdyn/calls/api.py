"""From what a user hands over to what `batch` takes, and back: shapes, types, `out=`, threads, errors.

The only place that allocates, and the only place that raises for what kernels found.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from queue import SimpleQueue
from time import thread_time
from typing import Any, NoReturn

import numpy as np
from numpy import empty, ndarray
from numpy.typing import ArrayLike, DTypeLike

from fastdyn.calls import batch
from fastdyn.calls.headers import READABLE, WELL_FORMED
from fastdyn.calls.workspace import ONE_STATE, workspace
from fastdyn.errors import ArgumentError, ArgumentTypeError, NotFiniteError, SingularMassMatrixError
from fastdyn.kernels.rows import INDEX
from fastdyn.mechanism.model import Model
from fastdyn.mechanism.parts import Array
from fastdyn.scalars import LANES

Core = Callable[[int], tuple[int, ...]]
FLOAT, SINGLE = np.dtype(np.float64), np.dtype(np.float32)


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


@dataclass(frozen=True, eq=False)
class Quantity:
    """What can be computed: the entry point, its arguments and result, and the rows of scratch it needs."""

    entry: Any
    arguments: tuple[str, ...]
    result: Core
    rows: Callable[[int], int]


_MOTION = ("q", "qd", "qdd", "wrenches")
_LOAD = ("q", "qd", "tau", "wrenches")
INVERSE_DYNAMICS = Quantity(batch.inverse_dynamics, _MOTION, per_joint, batch.inverse_dynamics_rows)
JOINT_REACTIONS = Quantity(batch.joint_reactions, _MOTION, sixes, batch.joint_reactions_rows)
BIAS_FORCES = Quantity(batch.bias_forces, ("q", "qd"), per_joint, batch.bias_forces_rows)
GRAVITY_FORCES = Quantity(batch.gravity_forces, ("q",), per_joint, batch.gravity_forces_rows)
POTENTIAL_ENERGY = Quantity(batch.potential_energy, ("q",), scalar, batch.potential_energy_rows)
KINETIC_ENERGY = Quantity(batch.kinetic_energy, ("q", "qd"), scalar, batch.kinetic_energy_rows)
MASS_MATRIX = Quantity(batch.mass_matrix, ("q",), matrix, batch.mass_matrix_rows)
CORIOLIS_MATRIX = Quantity(batch.coriolis_matrix, ("q", "qd"), matrix, batch.coriolis_matrix_rows)
MOMENTUM = Quantity(batch.total_momentum, ("q", "qd"), lambda n: (6,), batch.total_momentum_rows)
CENTER_OF_MASS = Quantity(batch.center_of_mass, ("q",), lambda n: (3,), batch.center_of_mass_rows)
FORWARD_DYNAMICS = {
    "aba": Quantity(batch.forward_dynamics_aba, _LOAD, per_joint, batch.forward_dynamics_aba_rows),
    "crba": Quantity(batch.forward_dynamics_crba, _LOAD, per_joint, batch.forward_dynamics_crba_rows),
}

REALS = {np.dtype(t): np.dtype(t) for t in (np.float64, np.float32)}
ONE = 1  # small integers are single objects in CPython: `is` tells 1 from True and 1.0, and is quick
NONE = np.empty((0, 0))  # the wrenches of a call without any
WORTH = 1 << 21  # samples times rows of scratch, 0.4 to 4 ms of work: up to here a batch is one compiled call
STEP = 0.01  # s: a compiled call of a long batch takes up to twice this, so that Ctrl-C is answered soon

Span = tuple[int, int]  # the first sample, and the one behind the last
Call = Callable[[int, int], int]  # computes these samples and returns a status

_LOCK = threading.Lock()


class Task:
    """A quantity of a certain robot, with what need not be found out anew at every call."""

    def __init__(
        self, robot: str, joints: tuple[str, ...], model: Model, quantity: Quantity, real: np.dtype[Any] = FLOAT
    ) -> None:
        self.robot, self.joints, self.model, self.quantity, self.real = robot, joints, model, quantity, real
        self.P = model.single if real == SINGLE else model.P
        self.n = model.n
        self.topology = model.tree
        self.core = quantity.result(model.n)
        self.cores = {name: (sixes if name == "wrenches" else per_joint)(model.n) for name in quantity.arguments}
        self.none = NONE.astype(real)
        self.columns = math.prod(self.core)
        self.numbers = (real.itemsize, model.n, 1 + len(self.core), self.core[-1] if self.core else 1)
        self.rows = quantity.rows(model.n)
        self.worth = max(LANES, WORTH // max(1, self.rows))  # samples
        self.memory: Array | None = None
        self.address = 0
        self.one: Callable[..., int] = self._first_state
        # how many arguments a call without wrenches has; 0 where there is no quick way
        self.states = len(quantity.arguments) - ("wrenches" in quantity.arguments) if READABLE and model.n else 0
        self.spare: list[Array] = []  # scratch that nobody uses

    def __call__(self, values: tuple[Any, ...], out: Array | None = None, threads: int = 1) -> Array:
        """The quantity for one state (n,) or any batch (..., n) of them; values in the order of its arguments."""
        if len(values) == self.states and type(values[0]) is ndarray:
            if out is None and threads is ONE:
                result: Array = empty(self.core)
                if self.one(*values, result, self.address) == 0:
                    return result
            found = self._well_formed(values, out, threads)
            if found is not None:
                return found
        return self._any(values, out, threads)

    def _well_formed(self, values: tuple[Any, ...], out: Array | None, threads: int) -> Array | None:
        """The result of a batch, if no argument must be converted first; else None."""
        q, qd, qdd = (*values, values[0], values[0])[:3]
        try:
            result = empty((len(q), *self.core), self.real) if out is None else out
        except TypeError:  # no axes
            return None
        T = WELL_FORMED.compiled()(q, qd, qdd, result, self.none, *self.numbers)
        if T < 1:
            return None
        names = self.quantity.arguments
        flat = (*values, *(self.none,) * (len(names) - self.states))
        target = result.reshape(T, self.columns)
        if threads is ONE and T <= self.worth:
            scratch = self._scratch()
            status = self.quantity.entry.compiled(scratch.shape[1])(self.P, self.topology, *flat, target, scratch)
            self.spare.append(scratch)
            if status == 0:
                return result
        self._compute(dict(zip(names, values, strict=False)), flat, target, (T,), threads)
        return result

    def _first_state(self, *arguments: Any) -> int:
        """Finds the quick way for one well-formed state, where there is one, and goes it; -1 where there is none."""
        entry = ONE_STATE.get(self.quantity.entry)
        if entry is None or self.real is not FLOAT:
            self.one = _no_quick_way
            return -1
        with _LOCK:  # several threads may come here, and what one of them works on already must not be replaced
            if self.memory is None:
                self.memory = workspace(self.model)
                self.address = self.memory.ctypes.data
        self.one = entry.compiled()
        return int(self.one(*arguments[:-1], self.address))

    def _any(self, values: tuple[ArrayLike, ...], out: Array | None, threads: int) -> Array:
        names, cores = self.quantity.arguments, self.cores
        # wrenches may be left out
        arrays, lead = read(dict(zip(names, values, strict=False)), cores, self.robot, real=self.real)
        result = _result(out, lead + self.core, arrays.values(), self.real)
        T = math.prod(lead)
        flat = [_flat(arrays[name], lead, cores[name]) if name in arrays else self.none for name in names]
        self._compute(arrays, flat, result.reshape(T, self.columns), lead, threads)
        if out is not None and result is not out:
            np.copyto(out, result)
            return out
        return result

    def _compute(
        self, arrays: Mapping[str, Array], flat: Sequence[Array], target: Array, lead: tuple[int, ...], threads: int
    ) -> None:
        """The result of all samples into the target; raises for what kernels found."""

        used: list[Array] = []

        def ready() -> Call:
            if lead == () and self.real is FLOAT:
                scratch = np.empty(self.rows)
            else:
                scratch = self._scratch()
                used.append(scratch)
            return lambda first, last: self.quantity.entry(
                self.P, self.topology, *(a[first:last] for a in flat), target[first:last], scratch
            )

        T = len(target)
        threads = _useful(threads, T, self.worth)
        if self.n == 0:
            target[...] = 0.0
        elif wrong := _walk(T, threads, self.worth, ready):
            self._explain(arrays, ready(), lead, wrong)
        self.spare += used

    def _scratch(self) -> Array:
        """Scratch on lanes that nobody uses; several threads may ask at once."""
        try:
            return self.spare.pop()
        except IndexError:
            return lane_rows(self.rows, self.real)

    def _explain(self, arrays: Mapping[str, Array], run: Call, lead: tuple[int, ...], within: Span) -> NoReturn:
        """Raises for what a kernel found within some samples, naming the argument and the sample."""
        check_finite(arrays)
        first, last = within
        while last - first > 1:
            middle = (first + last) // 2
            first, last = (first, middle) if run(first, middle) else (middle, last)
        status = run(first, last)
        sample = "" if lead == () else f" at sample {', '.join(map(str, np.unravel_index(first, lead)))}"
        if status > 1:
            joint = self.joints[self.model.tree[INDEX, status // 2 - 1]]
            raise SingularMassMatrixError(
                f"{self.robot} has a singular mass matrix{sample}: joint {joint!r} moves no inertia; "
                "give the links behind it mass, or its motor inertia"
            )
        raise NotFiniteError(
            f"the result of {self.robot}{sample} is beyond the range of {self.real}, though all arguments are finite"
        )


def _no_quick_way(*arguments: Any) -> int:
    return -1


def precision(dtype: DTypeLike | None) -> np.dtype[Any]:
    """float64 or float32, or an error that says so."""
    if dtype is None:
        return FLOAT
    try:
        return REALS[np.dtype(dtype)]
    except (TypeError, KeyError) as problem:
        raise ArgumentError(f"dtype is {dtype!r}: expected float64 or float32") from problem


def read(
    values: Mapping[str, ArrayLike],
    cores: Mapping[str, tuple[int, ...]],
    robot: str,
    of: str = "joint",
    real: np.dtype[Any] = FLOAT,
) -> tuple[dict[str, Array], tuple[int, ...]]:
    """The arguments given, as arrays, and their common batch axes. cores: shape of one sample; of: what they count."""
    arrays = {name: _numbers(v, name, cores[name], robot, of, real) for name, v in values.items()}
    return arrays, _common_lead(arrays, cores)


def check_finite(arrays: Mapping[str, Array]) -> None:
    """Raises if an argument holds NaN or infinity, and says where."""
    for name, array in arrays.items():
        if not np.isfinite(array).all():
            where = tuple(np.argwhere(~np.isfinite(array))[0].tolist())
            place = ", ".join(map(str, where))
            raise NotFiniteError(f"{name}[{place}] is {array[where]}: expected finite numbers")


def deliver(result: Array, out: Array | None) -> Array:
    """The result itself, or `out` with the result in it."""
    if out is None:
        return result
    _result(out, result.shape, ())
    np.copyto(out, result)
    return out


def _numbers(value: ArrayLike, name: str, core: tuple[int, ...], robot: str, of: str, real: np.dtype[Any]) -> Array:
    """An array of the wanted precision whose last axes have the expected lengths."""
    if type(value) is np.ndarray and value.dtype is real and value.shape[value.ndim - len(core) :] == core:
        return value
    try:
        array = np.asarray(value)
    except ValueError as problem:
        raise ArgumentError(f"{name} is not a rectangular array: {problem}") from problem
    if array.dtype.kind not in "fiu":
        raise ArgumentTypeError(f"{name} has dtype {array.dtype}: expected real numbers")
    if array.shape[max(array.ndim - len(core), 0) :] != core:
        count = f"{core[0]} {of}" + "s" * (core[0] != 1)
        expected = ", ".join(map(str, core))
        raise ArgumentError(f"{name} has shape {array.shape}, but {robot} has {count}: expected (..., {expected})")
    with np.errstate(over="ignore"):  # what is too large for single precision becomes infinite, and is then refused
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


def _flat(array: Array, lead: tuple[int, ...], core: tuple[int, ...]) -> Array:
    """(T, columns), C-ordered: the array's own memory where it is that already."""
    if array.ndim == 2 and len(lead) == len(core) == 1 and array.shape[0] == lead[0] and array.flags.c_contiguous:
        return array
    if array.shape != lead + core:
        array = np.broadcast_to(array, lead + core)
    return np.ascontiguousarray(array).reshape(math.prod(lead), math.prod(core))


def _result(out: Array | None, shape: tuple[int, ...], inputs: Iterable[Array], real: np.dtype[Any] = FLOAT) -> Array:
    """`out` itself if kernels can write to it, else a fresh array."""
    if out is None:
        return np.empty(shape, real)
    if not isinstance(out, np.ndarray):
        raise ArgumentTypeError(f"out is a {type(out).__name__}: expected a NumPy array")
    if out.dtype != real:
        raise ArgumentTypeError(f"out has dtype {out.dtype}: expected {real}")
    if out.shape != shape:
        raise ArgumentError(f"out has shape {out.shape}: expected {shape}")
    if not out.flags.writeable:
        raise ArgumentError("out is read-only: expected an array that can be written")
    if not out.flags.c_contiguous or any(np.may_share_memory(out, a) for a in inputs):
        return np.empty(shape, real)
    return out


def lane_rows(rows: int, real: np.dtype[Any] = FLOAT) -> Array:
    """A (rows, lanes) buffer that starts on a cache line: a row that straddles two costs twice."""
    line = 8 * LANES
    memory = np.empty(line * (rows + 1), dtype=np.uint8)
    start = -memory.__array_interface__["data"][0] % line
    return memory[start : start + line * rows].view(real).reshape(rows, -1)


def _useful(threads: int, T: int, worth: int) -> int:
    """How many threads to occupy: no more than wanted or than there are cores, each with enough to do to be woken."""
    if isinstance(threads, bool) or not isinstance(threads, (int, np.integer)) or threads < 1:
        raise ArgumentError(f"threads is {threads!r}: expected a whole number above zero")
    wanted = min(int(threads), T // (2 * worth))
    return min(wanted, _cores()) if wanted > 1 else 1


def _cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _walk(T: int, threads: int, worth: int, ready: Callable[[], Call]) -> Span | None:
    """Computes all samples; the first step that went wrong, if any. ready: makes a thread's own call."""
    if T <= worth:
        return (0, T) if ready()(0, T) else None
    return _Steps(T, threads, worth).walk(ready)


class _Steps:
    """A batch as a queue of short compiled calls, of which a thread takes the next when it is done with the last.

    In between Python can answer Ctrl-C, and a thread that others keep off its core does not hold up the rest. Steps are
    whole blocks of lanes, so that no result depends on them.
    """

    def __init__(self, T: int, threads: int, worth: int) -> None:
        self.T, self.threads, self.first_size, self.smallest = T, threads, _blocks(worth), _blocks(worth // 8)
        self.next = 0
        self.helping, self.over = 0, False
        self.answers: SimpleQueue[Span | BaseException | None] = SimpleQueue()
        self.lock, self.stop = threading.Lock(), False

    def walk(self, ready: Callable[[], Call]) -> Span | None:
        """Takes all steps, here and in helpers. After an exception, as Ctrl-C is one, nobody writes any more."""
        for k in range(1, self.threads):
            _helper(k).put(lambda: self._help(ready))
        try:
            found = [self._work(ready), *self._helped()]
        except BaseException:
            self.stop = True
            list(self._helped())
            raise
        for answer in found:
            if isinstance(answer, BaseException):
                raise answer
        # all steps before the first that went wrong were taken before it, and finished
        return min((answer for answer in found if isinstance(answer, tuple)), default=None)

    def _help(self, ready: Callable[[], Call]) -> None:
        """A helper's part, unless all is done before it could begin."""
        with self.lock:
            if self.over:
                return
            self.helping += 1
        try:
            self.answers.put(self._work(ready))
        except BaseException as problem:
            self.answers.put(problem)

    def _helped(self) -> Iterator[Span | BaseException | None]:
        """What the helpers that began answer; nobody begins any more."""
        with self.lock:
            self.over = True
        while self.helping:
            yield self.answers.get()
            self.helping -= 1

    def _work(self, ready: Callable[[], Call]) -> Span | None:
        """One thread's part: each step twice as long as its last one, until one takes STEP seconds."""
        try:
            run, size = ready(), self.first_size
            while not self.stop and (step := self._take(size)):
                begun = thread_time()
                if run(*step):
                    self.stop = True
                    return step
                if thread_time() - begun < STEP:
                    size *= 2
            return None
        except BaseException:
            self.stop = True
            raise

    def _take(self, size: int) -> Span | None:
        """The next step, of so many samples; towards the end of fewer, so that nobody waits long for another."""
        with self.lock:
            first = self.next
            if self.threads > 1:
                size = max(self.smallest, min(size, _blocks((self.T - first) // (2 * self.threads))))
            self.next = min(self.T, first + size)
            return (first, self.next) if first < self.T else None


def _blocks(samples: int) -> int:
    """Whole blocks of lanes, at least one."""
    return max(1, samples // LANES) * LANES


_HELPERS: list[SimpleQueue[Callable[[], None]]] = []


def _helper(k: int) -> SimpleQueue[Callable[[], None]]:
    """Where the k-th helper thread, from 1 on, looks for work: a queue wakes it sooner than a future of a pool."""
    with _LOCK:
        while len(_HELPERS) < k:
            work: SimpleQueue[Callable[[], None]] = SimpleQueue()
            threading.Thread(target=_serve, args=(work,), name=f"fastdyn {k}", daemon=True).start()
            _HELPERS.append(work)
    return _HELPERS[k - 1]


def _serve(work: SimpleQueue[Callable[[], None]]) -> None:
    while True:
        work.get()()


if hasattr(os, "register_at_fork"):  # a child process has none of its parent's threads
    os.register_at_fork(after_in_child=_HELPERS.clear)
