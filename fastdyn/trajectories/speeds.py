"""Velocities that have limits along a path: of coordinates, and of joints that several coordinates drive together."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike

from fastdyn.arrays import Array, real_numbers
from fastdyn.errors import ArgumentError
from fastdyn.simulation.result import coordinate_names

_OWN: WeakKeyDictionary[Any, Speeds] = WeakKeyDictionary()  # robots do not change


class Speeds(NamedTuple):
    """Velocities and their limits: of the n coordinates, then of d joints that several of them drive.

    names: n + d; owners: the same for messages; G: (d, n), velocities of these joints by those of the coordinates;
    bounds: (n + d, 2).
    """

    names: list[str]
    owners: list[str]
    G: Array
    bounds: Array

    def of(self, qd: Array) -> Array:
        """(..., n + d), from those of the coordinates, (..., n)."""
        return np.concatenate([qd, qd @ self.G.T], axis=-1) if len(self.G) else qd


def speeds(robot: Any, velocity: ArrayLike | None) -> Speeds:
    """Those of the coordinates have the limits given; else the robot's, and then driven joints have their own.

    >>> import fastdyn as fd
    >>> arm = fd.robots.panda().coupled(np.eye(7) + np.eye(7, k=-1))  # the first joint is driven alone
    >>> found = speeds(arm, None)
    >>> found.names[6:9], found.bounds[7].tolist()
    (['phi7', 'panda_joint2', 'panda_joint3'], [-2.175, 2.175])
    """
    if velocity is not None:
        owners = coordinate_owners(robot)
        bounds = limits("velocity", velocity, owners)
        return Speeds(coordinate_names(robot), owners, np.empty((0, robot.n)), bounds)
    if robot not in _OWN:
        _OWN[robot] = _own(robot)
    return _OWN[robot]


def _own(robot: Any) -> Speeds:
    names, owners = coordinate_names(robot), coordinate_owners(robot)
    own = limits("velocity", robot.limits.velocity, owners)
    if robot.coupling is None:
        return Speeds(names, owners, np.empty((0, robot.n)), own)
    G = robot.coupling.G
    fastest = np.array([joint.limits.velocity for joint in robot.joints])
    several = np.flatnonzero((np.count_nonzero(G, axis=1) > 1) & np.isfinite(fastest))
    driven = [robot.joints[j].name for j in several]
    driven_owners = [f"joint {name!r}" for name in driven]
    bounds = np.concatenate([own, limits("velocity", fastest[several], driven_owners)])
    return Speeds(names + driven, owners + driven_owners, G[several], bounds)


def coordinate_owners(robot: Any) -> list[str]:
    """What messages call the coordinates."""
    kind = "joint" if robot.coupling is None else "coordinate"
    return [f"{kind} {name!r}" for name in coordinate_names(robot)]


@lru_cache(maxsize=32)
def without_limits(n: int) -> Array:
    """(n, 2), read-only: infinite.

    >>> without_limits(1).tolist()
    [[-inf, inf]]
    """
    return limits("", np.inf, [""] * n)


def limits(name: str, value: Any, owners: list[str]) -> Array:
    """(n, 2), read-only: lower and upper limits, both infinite where there are none."""
    array, n = real_numbers(value, name).astype(np.float64), len(owners)
    if array.shape not in ((), (n,), (n, 2)):
        raise ArgumentError(f"{name} has shape {array.shape}: expected one number, ({n},) or ({n}, 2)")
    if array.ndim < 2:
        pairs = np.empty((n, 2))
        np.negative(array, out=pairs[:, 0])
        pairs[:, 1] = array
    else:
        pairs = array
    low, high = pairs.T
    good = (low < high) & (np.isfinite(low) == np.isfinite(high)) & ((name == "torque") | ((low < 0) & (high > 0)))
    if not good.all():
        j = int(np.argmin(good))
        around = "" if name == "torque" else " on either side of zero"
        raise ArgumentError(
            f"{name} of {owners[j]} is {low[j]} to {high[j]}: expected a lower and an upper "
            f"limit{around}, both finite or both infinite"
        )
    pairs.flags.writeable = False
    return np.asarray(pairs)
