"""The class of all trajectories: polynomials over shared breakpoints, sampled by compiled code."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from fastdyn.arrays import Array, real_numbers
from fastdyn.calls.arguments import FLOAT, check_finite, flat, target
from fastdyn.errors import ArgumentError, ArgumentTypeError, NotFiniteError
from fastdyn.kernels.trajectories import ORDER
from fastdyn.mechanism.description import Mechanism
from fastdyn.mechanism.limits import RobotLimits
from fastdyn.mechanism.parts import Record
from fastdyn.trajectories import arguments, extrema, plots
from fastdyn.trajectories.sampling import sample

Motion = tuple[Array, Array, Array]  # q, qd, qdd


class Peak(NamedTuple):
    """The largest |qd| and |qdd| of each joint along a trajectory, (n,) each: rad/s or m/s, rad/s^2 or m/s^2."""

    velocity: Array
    acceleration: Array


@dataclass(frozen=True, eq=False, repr=False)
class Trajectory(Record):
    """A motion of n joints from time 0 to `duration`; immutable. The functions of this package make them.

    times: (S + 1,) s, increasing from 0; coefficients: (S, 6, n), so that in segment k a joint is at
    c[0] + c[1] u + ... + c[5] u^5, where u = t - times[k]. sine: (n,), or None, amplitudes of one period of a sine over
    the whole duration that is added to a single straight line: the cycloidal motion. Positions are as given at the
    ends up to rounding; whether segments meet is not checked.

    >>> from fastdyn import trajectories
    >>> motion = trajectories.cubic([0.0, 1.0], [1.0, 3.0], duration=2.0)
    >>> q, qd, qdd = motion([0.0, 1.0, 2.0])
    >>> q.tolist()
    [[0.0, 1.0], [0.5, 2.0], [1.0, 3.0]]
    >>> qd.tolist()
    [[0.0, 0.0], [0.75, 1.5], [0.0, 0.0]]
    """

    times: Array
    coefficients: Array
    sine: Array | None = None

    def __post_init__(self) -> None:
        times = arguments.breakpoints(self.times)
        c = np.array(real_numbers(self.coefficients, "coefficients"), dtype=np.float64, order="C")
        check_finite({"coefficients": c})
        if c.ndim != 3 or c.shape[:2] != (len(times) - 1, ORDER) or c.shape[2] == 0:
            raise ArgumentError(f"coefficients has shape {c.shape}: expected ({len(times) - 1}, {ORDER}, n)")
        sine = None if self.sine is None else arguments.each(self.sine, "sine", c.shape[2])
        if sine is not None and (len(c) > 1 or c[:, 2:].any()):
            raise ArgumentError(f"sine is given with {len(c)} segments: expected a single straight line, if any")
        for name, array in {"times": times, "coefficients": c, "sine": sine}.items():
            if array is not None:
                array.flags.writeable = False
            object.__setattr__(self, name, array)

    def __repr__(self) -> str:
        kind = "cycloidal" if self.sine is not None else f"{len(self.coefficients)} segments"
        return f"Trajectory({self.n} joints, {self.duration:g} s, {kind})"

    @property
    def n(self) -> int:
        """Number of joints."""
        return int(self.coefficients.shape[2])

    @property
    def duration(self) -> float:
        """The time from start to end, s."""
        return float(self.times[-1])

    @cached_property
    def start(self) -> Array:
        """The position at time 0, (n,)."""
        return _read_only(self.coefficients[0, 0].copy())

    @cached_property
    def end(self) -> Array:
        """The position at the end, (n,)."""
        return _read_only(self(self.duration)[0])

    def __call__(self, t: ArrayLike, out: tuple[Array, Array, Array] | None = None, threads: int = 1) -> Motion:
        """Positions, velocities and accelerations at the times t (...), each (..., n).

        Before 0 and after the duration the joints rest at the ends: velocity and acceleration are zero. At 0 and at the
        duration they are those of the motion; where they jump between two segments, those of the later one.

        out: three arrays for the results, which do not overlap; threads: the most to use. Sorted times are quickest.

        >>> from fastdyn import trajectories
        >>> q, qd, qdd = trajectories.quintic([0.0], [1.0], duration=1.0)(0.5)
        >>> q.tolist(), qd.tolist(), qdd.tolist()
        ([0.5], [1.875], [0.0])
        """
        given = np.asarray(real_numbers(t, "t"), dtype=np.float64)
        lead, core = given.shape, (self.n,)
        results = _targets(out, lead, core, given)
        flats = tuple(flat(array, lead, core) for array in results)
        if not sample(self._constants, flat(given, lead, ()).reshape(-1, 1), flats, threads):
            _refuse(given)
        if out is None:
            return results
        for wanted, result in zip(out, results, strict=True):
            if wanted is not result:
                np.copyto(wanted, result)
        return out

    @cached_property
    def _constants(self) -> tuple[Any, ...]:
        """What the compiled loop takes before the samples."""
        if self.sine is None:
            return self.times, self.coefficients, 0.0, np.zeros(self.n)
        return self.times, self.coefficients, 2 * math.pi / self.duration, self.sine

    def peak(self) -> Peak:
        """The largest |qd| and |qdd| of each joint, (n,) each: extrema of the polynomials, not of samples.

        >>> from fastdyn import trajectories
        >>> peak = trajectories.cubic([0.0], [1.0], duration=1.0).peak()
        >>> peak.velocity.tolist(), peak.acceleration.tolist()
        ([1.5], [6.0])
        """
        velocity, acceleration = (np.abs(extrema.of(self, order)[1]).max(axis=0) for order in (1, 2))
        return Peak(velocity, acceleration)

    def check_limits(self, limits: Mechanism | RobotLimits, acceleration: ArrayLike | None = None) -> None:
        """Raises a LimitError if a joint leaves its limits of position, velocity or acceleration at any time.

        limits: a robot, or robot.limits; acceleration: limits that robots do not have, one for all joints or (n,).
        Extrema are those of the polynomials, not of samples. The message names the joint that is furthest outside, and
        the time. The tolerance is that of `robot.check_limits`.

        >>> import fastdyn as fd
        >>> from fastdyn import trajectories
        >>> arm = fd.robots.panda()
        >>> middle = arm.limits.position.mean(axis=1)
        >>> trajectories.cubic(middle, middle + 0.5, duration=1.0).check_limits(arm)
        >>> trajectories.cubic(middle, middle + 0.5, duration=0.25).check_limits(arm)
        Traceback (most recent call last):
        fastdyn.errors.LimitError: qd of joint 'panda_joint1' is 3.0 rad/s at t = 0.125 s:
        expected -2.175 to 2.175 rad/s, its limits
        """
        if not isinstance(limits, Mechanism | RobotLimits):
            raise ArgumentTypeError(f"limits is a {type(limits).__name__}: expected a robot, or robot.limits")
        extrema.check_limits(self, limits, acceleration)

    def retimed(self, duration: float) -> Trajectory:
        """The same path in another time: faster or slower everywhere by the same factor.

        >>> from fastdyn import trajectories
        >>> trajectories.cubic([0.0], [1.0], duration=1.0).retimed(2.0).peak().velocity.tolist()
        [0.75]
        """
        ratio = self.duration / arguments.positive(duration, "duration")
        c = self.coefficients * (ratio ** np.arange(ORDER))[:, None]
        times = self.times / ratio
        times[-1] = duration
        return Trajectory(times, c, self.sine)

    def plot(self, robot: Mechanism | None = None) -> Any:
        """A Matplotlib figure (extra `plots`) of position, velocity and acceleration over time.

        robot: whose joints these are, for names and units.

        >>> from fastdyn import trajectories
        >>> figure = trajectories.cycloidal([0.0, 1.0], [1.0, 0.0], duration=2.0).plot()
        >>> [ax.get_ylabel() for ax in figure.axes]
        ['q [rad or m]', 'qd [rad/s or m/s]', 'qdd [rad/s² or m/s²]']
        """
        return plots.plot(self, robot)


def _targets(out: Any, lead: tuple[int, ...], core: tuple[int, ...], t: Array) -> Motion:
    """Arrays that compiled code can write the results to: those of `out` where it can, else fresh ones."""
    if out is None:
        q, qd, qdd = np.empty((3, *lead, *core))
        return q, qd, qdd
    if not isinstance(out, tuple):
        raise ArgumentTypeError(f"out is a {type(out).__name__}: expected a tuple of 3 arrays")
    if len(out) != 3:
        raise ArgumentError(f"out has {len(out)} arrays: expected 3, for q, qd and qdd")
    found: list[Array] = []
    for k, array in enumerate(out):
        found.append(target(array, lead, core, [t, *found], FLOAT, f"out[{k}]"))
        for other in range(k):
            if np.may_share_memory(array, out[other]) and np.shares_memory(array, out[other]):
                raise ArgumentError(f"out[{k}] overlaps out[{other}]: expected 3 arrays of their own")
    return found[0], found[1], found[2]


def _refuse(t: Array) -> NoReturn:
    if t.ndim == 0 and not math.isfinite(t):
        raise NotFiniteError(f"t is {t}: expected a finite number")
    check_finite({"t": t})
    raise NotFiniteError("the motion is beyond the range of float64, though all times are finite")


def _read_only(array: Array) -> Array:
    array.flags.writeable = False
    return array
