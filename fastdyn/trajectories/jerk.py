"""Time-optimal motions with limited jerk: computed by Ruckig (extra `trajectories`), sampled by this package."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fastdyn.arrays import Array
from fastdyn.errors import ArgumentError, MissingExtraError
from fastdyn.mechanism.limits import RobotLimits
from fastdyn.trajectories import arguments
from fastdyn.trajectories.motions import Pieces, joined
from fastdyn.trajectories.trajectory import Trajectory


def jerk_limited(
    q0: ArrayLike,
    q1: ArrayLike,
    velocity: ArrayLike | RobotLimits,
    acceleration: ArrayLike,
    jerk: ArrayLike,
    qd0: ArrayLike = 0.0,
    qdd0: ArrayLike = 0.0,
    qd1: ArrayLike = 0.0,
    qdd1: ArrayLike = 0.0,
) -> Trajectory:
    """The quickest motion within limits of velocity, acceleration and jerk; all joints start and end together.

    Limits and the states at the ends: one number for all joints or (n,); velocity also robot.limits. Ruckig (Berscheid
    and Kroeger, 2021; extra `trajectories`) computes the motion, which is converted once to cubic polynomials.

    >>> motion = jerk_limited([0.0, 0.0], [1.0, -2.0], velocity=1.0, acceleration=2.0, jerk=10.0)
    >>> round(motion.duration, 9)
    2.7
    """
    ruckig = _ruckig()
    start, end = arguments.ends(q0, q1)
    n = len(start)
    v, a = arguments.velocity_limits(velocity, n), arguments.limits(acceleration, "acceleration", n)
    given = ruckig.InputParameter(n)
    given.current_position, given.target_position = start.tolist(), end.tolist()
    given.max_velocity, given.max_acceleration = v.tolist(), a.tolist()
    given.max_jerk = arguments.limits(jerk, "jerk", n).tolist()
    given.current_velocity = arguments.each(qd0, "qd0", n).tolist()
    given.current_acceleration = arguments.each(qdd0, "qdd0", n).tolist()
    given.target_velocity = _within(qd1, "qd1", v, "velocity")
    given.target_acceleration = _within(qdd1, "qdd1", a, "acceleration")
    found = _calculated(ruckig, given, n)
    T = float(found.duration)
    if T == 0:
        raise ArgumentError("q1 equals q0, at the same velocity and acceleration: expected a motion")
    return joined([_pieces(profile) for profile in found.profiles[0]], T)


def _ruckig() -> Any:
    try:
        import ruckig
    except ImportError as problem:
        raise MissingExtraError(
            "jerk_limited needs ruckig, which is missing: pip install fastdyn[trajectories]"
        ) from problem
    return ruckig


def _within(value: ArrayLike, name: str, limits: Array, what: str) -> list[float]:
    """The state at the end, which must be within the limits; at the start the motion may brake into them."""
    array = arguments.each(value, name, len(limits))
    for i in np.flatnonzero(np.abs(array) > limits):
        raise ArgumentError(f"{name} of joint {i} is {array[i]}: expected at most its {what} limit, {limits[i]}")
    return [float(x) for x in array]


def _calculated(ruckig: Any, given: Any, n: int) -> Any:
    found = ruckig.Trajectory(n)
    try:
        result = ruckig.Ruckig(n).calculate(given, found)
    except ruckig.RuckigError as problem:
        raise ArgumentError(f"no motion is possible between these states within these limits: {problem}") from problem
    if result not in (ruckig.Result.Working, ruckig.Result.Finished):
        raise ArgumentError(f"no motion is possible between these states within these limits: Ruckig says {result}")
    return found


def _pieces(profile: Any) -> Pieces:
    """A joint's motion: at most two pieces that brake into the limits, seven pieces, and rest of jerk after them."""
    brake = profile.brake
    lengths, rows = [], []
    for k, length in enumerate(brake.t):
        if length > 0:
            lengths.append(length)
            rows.append((brake.p[k], brake.v[k], brake.a[k], brake.j[k]))
    lengths += profile.t
    rows += zip(profile.p, profile.v, profile.a, [*profile.j, 0.0], strict=True)
    q, v, a, jerk = np.array(rows).T
    return Pieces(np.concatenate([[0.0], np.cumsum(lengths)]), q, v, a, jerk)
