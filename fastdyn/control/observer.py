"""Contact detection: external torques from the momentum, without accelerations."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fastdyn.arrays import real_numbers
from fastdyn.control.bindable import Bindable
from fastdyn.errors import ArgumentError, ArgumentTypeError, NotFiniteError
from fastdyn.mechanism.parts import Array


class MomentumObserver:
    """External torques, from what is measured and the torques that were commanded: a first-order filter of them.

    gain: 1/s, (n,) or one number: external torques appear with a time constant of 1 / gain; period: s between two
    calls. A robot that starts in motion gives its state, start=(q, qd). The model's friction is taken off. The row
    `momentum_observer` is the same as a bound call and in C.

    A. De Luca and R. Mattone, Sensorless robot collision detection and hybrid force/motion control, ICRA 2005.

    >>> import fastdyn as fd
    >>> arm = fd.robots.two_link()
    >>> observer = MomentumObserver(arm, gain=50.0, period=0.001)
    >>> for _ in range(200):  # it stands still under torques that are 1 N m too small at joint 1: something holds it
    ...     external = observer([0.3, 0.2], [0.0, 0.0], arm.gravity_forces([0.3, 0.2]) - [1.0, 0.0])
    >>> external.round(3)
    array([1., 0.])
    """

    def __init__(
        self, robot: Bindable, gain: ArrayLike, period: float, start: tuple[ArrayLike, ArrayLike] | None = None
    ) -> None:
        if not hasattr(robot, "bind"):
            raise ArgumentTypeError(f"robot is a {type(robot).__name__}: expected a Robot or CoupledRobot")
        gains = real_numbers(gain, "gain")
        if gains.shape not in ((), (robot.n,)) or not (gains > 0).all() or not np.isfinite(gains).all():
            raise ArgumentError(f"gain is {gain!r}: expected one finite number above zero, or {robot.n}")
        if not isinstance(period, int | float | np.number) or not period > 0 or not (gains * period < 2).all():
            raise ArgumentError(f"period is {period!r} s: expected one above zero and below 2 / gain, to be stable")
        self.loop: Any = robot.bind("momentum_observer")
        self.loop.ko[:], self.loop.period[...] = gains, period
        if start is not None:
            if not isinstance(start, tuple | list) or len(start) != 2:
                raise ArgumentError(f"start is {start!r}: expected a pair q, qd")
            self._write(q=start[0], qd=start[1])
            self._step()
            self.loop.observed[:] = self.loop.external / gains  # the momenta, as observed was zero

    def _write(self, **given: ArrayLike) -> None:
        n = len(self.loop.q)
        for name, value in given.items():
            array = real_numbers(value, name)
            if array.shape != (n,):
                raise ArgumentError(f"{name} has shape {array.shape}: expected ({n},)")
            getattr(self.loop, name)[:] = array

    def _step(self) -> None:
        status = self.loop.momentum_observer()
        if status:
            raise NotFiniteError(f"momentum_observer: {self.loop.explain(status)}")

    def __call__(self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike) -> Array:
        """External torques (n,) so far; q, qd: measured now; tau: the motors' until the next call."""
        self._write(q=q, qd=qd, tau=tau)
        self._step()
        self.loop.observed[:] = self.loop.observed_next
        found: Array = self.loop.external.copy()
        return found
