"""An arm simulated beside a control loop."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from fastdyn.control.bindable import Bindable
from fastdyn.control.swing import swing
from fastdyn.mechanism.parts import Array

if TYPE_CHECKING:
    from fastdyn.calls.bound import Bound


class SimulatedArm:
    """An arm that obeys its model exactly: `read` measures it, and a call moves it on for one period under bound.tau.

    It starts at rest where ComputedTorque's motion starts. Semi-implicit Euler steps of at most 1 ms; rate: Hz.

    >>> import fastdyn as fd
    >>> robot = fd.robots.two_link()
    >>> arm, bound = SimulatedArm(robot, rate=100), robot.bind("computed_torque")
    >>> arm(bound, 0.0)
    >>> arm.read(bound.q, bound.qd)
    >>> bool((bound.qd != 0).all())
    True
    """

    def __init__(self, robot: Bindable, rate: float) -> None:
        self.bound = robot.bind("forward_dynamics")
        middle, reach, _ = swing(robot)
        self.bound.q[:] = middle - reach
        self.steps = math.ceil(1000 / rate)
        self.dt = 1.0 / (rate * self.steps)
        self.change = np.zeros(robot.n)

    def read(self, q: Array, qd: Array) -> None:
        """Writes the state into q and qd."""
        q[:], qd[:] = self.bound.q, self.bound.qd

    def __call__(self, bound: Bound, t: float) -> None:
        """Moves on for a period: velocities first, then positions with the new velocities."""
        q, qd, qdd, change = self.bound.q, self.bound.qd, self.bound.qdd, self.change
        self.bound.tau[:] = bound.tau
        for _ in range(self.steps):
            self.bound.forward_dynamics()
            np.multiply(qdd, self.dt, out=change)
            np.add(qd, change, out=qd)
            np.multiply(qd, self.dt, out=change)
            np.add(q, change, out=q)
