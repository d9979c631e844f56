"""Limits of a robot's coordinates as arrays, and checks of states and torques against the limits of joints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastdyn.errors import LimitError
from fastdyn.mechanism.coupling import Coupling
from fastdyn.mechanism.description import Mechanism
from fastdyn.mechanism.parts import Array, Joint, JointKind, Limits

SLACK = 1e-9  # of a limit, or of 1 rad or m: tolerance for limits given in degrees or with few digits
UNITS = {"q": ("rad", "m"), "qd": ("rad/s", "m/s"), "tau": ("N m", "N")}  # of turning and of sliding joints


@dataclass(frozen=True, eq=False)
class RobotLimits:
    """The limits of all coordinates, in the order of q: read-only arrays, infinite where there is no limit.

    position: (n, 2), [lower, upper], rad or m; velocity: (n,), rad/s or m/s; effort: (n,), N m or N.
    """

    position: Array
    velocity: Array
    effort: Array

    def __post_init__(self) -> None:
        for array in (self.position, self.velocity, self.effort):
            array.flags.writeable = False

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies are read-only, too."""
        return RobotLimits, (self.position.copy(), self.velocity.copy(), self.effort.copy())


def limits_of(robot: Mechanism) -> RobotLimits:
    """The limits of a robot's joints, or of the coordinates that drive them.

    A coordinate's positions and velocities are those within its own limits that keep every joint which it alone drives
    within limits (lower above upper: there is none). Its effort is its own limit, or the sum of |G| times the effort
    limits of the joints that it drives, the most that these can bear together by virtual work, if that is less.
    """
    joints = _of_joints(robot.joints)
    return joints if robot.coupling is None else _of_coordinates(joints, robot.coupling)


def joint_ranges(robot: Mechanism) -> Array:
    """The positions of joints, (joints, 2), within their limits and those of a coordinate that alone drives them."""
    ranges: Array = _of_joints(robot.joints).position.copy()
    if robot.coupling is not None:
        for i, (row, shift) in enumerate(zip(robot.coupling.G, robot.coupling.offset, strict=True)):
            drivers = np.flatnonzero(row)
            if len(drivers) == 1:
                own = robot.coupling.limits[drivers[0]]
                low, high = sorted(row[drivers[0]] * np.array([own.lower, own.upper]) + shift)
                ranges[i] = max(ranges[i, 0], low), min(ranges[i, 1], high)
    return ranges


def _of_joints(joints: Sequence[Joint]) -> RobotLimits:
    return _arrays([joint.limits for joint in joints])


def _arrays(limits: Sequence[Limits]) -> RobotLimits:
    return RobotLimits(
        np.array([(each.lower, each.upper) for each in limits]).reshape(-1, 2),
        np.array([each.velocity for each in limits], dtype=np.float64),
        np.array([each.effort for each in limits], dtype=np.float64),
    )


def _of_coordinates(joints: RobotLimits, coupling: Coupling) -> RobotLimits:
    own = _arrays(coupling.limits)
    position, velocity, effort = own.position.copy(), own.velocity.copy(), np.zeros(coupling.m)
    for row, shift, reach, speed, most in zip(
        coupling.G, coupling.offset, joints.position, joints.velocity, joints.effort, strict=True
    ):
        drivers = np.flatnonzero(row)
        effort[drivers] += np.abs(row[drivers]) * most
        if len(drivers) == 1:
            (k,) = drivers
            low, high = sorted((reach - shift) / row[k])
            position[k] = max(position[k, 0], low), min(position[k, 1], high)
            velocity[k] = min(velocity[k], speed / abs(row[k]))
    return RobotLimits(position, velocity, np.minimum(effort, own.effort))


def check_limits(robot: Mechanism, name: str, array: Array) -> None:
    """Raises a LimitError if an array (..., n) of q, qd or tau, as `name` says, has values outside the limits.

    Positions and velocities of coordinates are checked against their own limits, and as those of all joints that they
    drive.
    """
    coupling = robot.coupling
    kinds = [joint.kind for joint in robot.joints]
    owners = [f"joint {joint.name!r}" for joint in robot.joints]
    if coupling is None:
        _check(name, array, _of_joints(robot.joints), owners, kinds)
        return
    of_coordinates = limits_of(robot) if name == "tau" else _arrays(coupling.limits)
    _check(
        name, array, of_coordinates, [f"coordinate {each!r}" for each in coupling.names], coupling.kinds(robot.joints)
    )
    if name != "tau":
        placed = array @ coupling.G.T + coupling.offset * (name == "q")
        _check(name, placed, _of_joints(robot.joints), owners, kinds)


def _check(name: str, array: Array, limits: RobotLimits, owners: Sequence[str], kinds: Sequence[JointKind]) -> None:
    size = limits.velocity if name == "qd" else limits.effort
    low, high = limits.position.T if name == "q" else (-size, size)
    out = outside(array, low, high)
    if out.any():
        *sample, i = np.argwhere(out)[0].tolist()
        unit = UNITS[name][kinds[i] == "prismatic"]
        found = f"{name} of {owners[i]}{_in_sample(sample)} is {array[(*sample, i)]} {unit}"
        count = f"; {out.any(axis=-1).sum()} of {out[..., 0].size} samples are outside" * bool(sample)
        raise LimitError(f"{found}: expected {low[i]} to {high[i]} {unit}, its limits{count}")


def outside(values: Array | float, low: Array | float, high: Array | float) -> NDArray[np.bool_]:
    """Which values exceed their limits by more than the tolerance.

    >>> outside(np.array([1.0, 1.0 + 1e-10, 1.0 + 1e-8]), -1.0, 1.0).tolist()
    [False, False, True]
    """
    slack_low, slack_high = (SLACK * np.maximum(1.0, np.abs(limit)) for limit in (low, high))
    return np.asarray((values < low - slack_low) | (values > high + slack_high))


def _in_sample(sample: list[int]) -> str:
    return f" in sample {sample[0] if len(sample) == 1 else tuple(sample)}" if sample else ""
