"""The samples of a motion: checked, completed by speeds and energies, thinned out where there are too many."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastdyn.arrays import Array, real_numbers
from fastdyn.calls.arguments import check_finite, read
from fastdyn.dynamics import Dynamics
from fastdyn.errors import ArgumentError, ArgumentTypeError

RATE = 25.0  # postures a second where times are not given
LARGEST = 1e30  # the page keeps single precision, which ends at 3.4e38
MOST = 500_000  # numbers on a page, 4 bytes each, a time counting as two: more are thinned out


@dataclass(frozen=True, eq=False)
class Motion:
    """K samples: t (K,) s; q, qd and tau (K, n), tau or none; energies (K,) J by name; total: K before thinning."""

    t: Array
    q: Array
    qd: Array
    tau: Array | None
    energies: dict[str, Array]
    total: int

    @property
    def columns(self) -> Array:
        """All but the times, (K, columns)."""
        tau = [] if self.tau is None else [self.tau]
        return np.hstack([self.q, self.qd, *tau, *(each[:, None] for each in self.energies.values())])

    def thinned(self, most: int = MOST) -> Motion:
        """The samples that `extremes` keeps where there are more than `most` numbers."""
        columns = self.columns
        kept = extremes(columns, max(most // (columns.shape[1] + 2), 2))
        tau = None if self.tau is None else self.tau[kept]
        energies = {name: each[kept] for name, each in self.energies.items()}
        return Motion(self.t[kept], self.q[kept], self.qd[kept], tau, energies, self.total)


def motion(
    robot: Dynamics,
    q: ArrayLike,
    t: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    qd: ArrayLike | None = None,
    energies: Mapping[str, ArrayLike] | None = None,
) -> Motion:
    """Checks the arguments of `write`, and computes those that are not given.

    >>> import fastdyn as fd
    >>> found = motion(fd.robots.two_link(), [[0.0, 0.0], [0.1, 0.2]], t=[0.0, 0.1])
    >>> found.qd[0].round(12).tolist(), list(found.energies)
    ([1.0, 2.0], ['kinetic', 'potential', 'total'])
    """
    unit = "joint" if robot.coupling is None else "coordinate"
    arrays = {}
    for name, value in {"q": q, "tau": tau, "qd": qd}.items():
        if value is not None:
            (array,) = read({name: value}, {name: (robot.n,)}, robot.name, {name: unit})[0].values()
            arrays[name] = array[None] if array.ndim == 1 else array
    count = len(arrays["q"])
    if arrays["q"].ndim != 2 or count == 0:
        raise ArgumentError(f"q has shape {arrays['q'].shape}: expected (K, {robot.n}), one motion")
    for name, array in arrays.items():
        if array.shape != (count, robot.n):
            expected = f"({count}, {robot.n})"
            raise ArgumentError(f"{name} has shape {array.shape}, but q has {count} postures: expected {expected}")
    check_finite(arrays)
    for name, array in arrays.items():
        _check_size(name, array)
    times = np.arange(count) / RATE if t is None else _times(t, count)
    positions = arrays["q"]
    speeds = arrays.get("qd")
    if speeds is None:
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            speeds = np.gradient(positions, times, axis=0) if count > 1 else np.zeros_like(positions)
        _check_size("qd, the differences of q,", speeds)
    known = _computed(robot, positions, speeds) if energies is None else _energies(energies, count)
    for name, array in known.items():
        _check_size(f"energies[{name!r}]", array)
    return Motion(times, positions, speeds, arrays.get("tau"), known, count)


def extremes(columns: Array, most: int) -> NDArray[np.intp]:
    """The rows to keep of (K, columns), at most `most` if these suffice: of every stretch of equal length its first
    row and, for each column, those with its least and its greatest value; and the last row. Stretches are as short as
    `most` allows.

    >>> wave = np.sin(np.linspace(0.0, 20.0, 1000))[:, None]
    >>> kept = extremes(wave, 100)
    >>> len(kept) <= 100, float(wave[kept].max()) == float(wave.max())
    (True, True)
    """
    count = len(columns)
    if count <= most:
        return np.arange(count)
    stretches = max(most // 2, 1)
    while True:
        length = -(-count // stretches)
        starts = np.arange(0, count, length)
        padded = np.vstack([columns, np.repeat(columns[-1:], len(starts) * length - count, axis=0)])
        parts = padded.reshape(len(starts), length, -1)
        found = [(starts[:, None] + pick(parts, axis=1)).ravel() for pick in (np.argmin, np.argmax)]
        kept: NDArray[np.intp] = np.unique(np.minimum(np.concatenate([starts, *found, [count - 1]]), count - 1))
        if len(kept) <= most or stretches == 1:
            return kept
        stretches = max(int(0.8 * stretches), 1)


def _check_size(name: str, array: Array) -> None:
    most = np.abs(array).max(initial=0.0)
    if not most <= LARGEST:
        raise ArgumentError(f"{name} has the value {most:.3g}: expected at most {LARGEST:g}, as pages hold float32")


def _times(t: ArrayLike, count: int) -> Array:
    times = np.asarray(real_numbers(t, "t"), dtype=np.float64)
    if times.shape != (count,):
        raise ArgumentError(f"t has shape {times.shape}, but q has {count} postures: expected ({count},)")
    check_finite({"t": times})
    late = np.flatnonzero(np.diff(times) <= 0)
    if len(late):
        k = int(late[0]) + 1
        raise ArgumentError(f"t[{k}] is {times[k]} after {times[k - 1]}: expected times that increase")
    return times


def _computed(robot: Dynamics, q: Array, qd: Array) -> dict[str, Array]:
    kinetic, potential = robot.kinetic_energy(q, qd), robot.potential_energy(q)
    return {"kinetic": kinetic, "potential": potential, "total": kinetic + potential}


def _energies(energies: Mapping[str, ArrayLike], count: int) -> dict[str, Array]:
    if not isinstance(energies, Mapping):
        raise ArgumentTypeError(f"energies is of type {type(energies).__name__}: expected names with arrays, a dict")
    found = {}
    for name, value in energies.items():
        called = f"energies[{name!r}]"
        array = np.atleast_1d(np.asarray(real_numbers(value, called), dtype=np.float64))
        if array.shape != (count,):
            raise ArgumentError(f"{called} has shape {array.shape}, but q has {count} postures: expected ({count},)")
        check_finite({called: array})
        found[str(name)] = array
    return found
