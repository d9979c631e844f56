"""Computed torque: inverse dynamics of the desired acceleration plus feedback of position and velocity errors."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from fastdyn.control.bindable import Bindable
from fastdyn.control.swing import swing
from fastdyn.mechanism.parts import Array

if TYPE_CHECKING:
    from fastdyn.calls.bound import Bound


class ComputedTorque:
    """A step that writes bound.tau such that the error e = q_d - q obeys e'' + kd e' + kp e = 0 on an exact model.

    Each joint oscillates about the middle of its range (control/swing.py). read(q, qd) writes the measured state into
    the arrays it is given. stiffness: kp, 1/s^2; kd = 2 sqrt(kp) is critical damping. worst: the largest |e| so far.

    >>> import fastdyn as fd
    >>> from fastdyn.simulation import SimulatedArm
    >>> robot = fd.robots.two_link()
    >>> arm = SimulatedArm(robot, rate=1000)
    >>> controller, bound = ComputedTorque(robot, arm.read), robot.bind("inverse_dynamics")
    >>> for k in range(100):
    ...     status = controller(bound, k / 1000)
    ...     arm(bound, k / 1000)
    >>> bool(controller.worst.max() < 1e-3)
    True
    """

    def __init__(self, robot: Bindable, read: Callable[[Array, Array], Any], stiffness: float = 400.0) -> None:
        self.read = read
        self.middle, reach, pace = swing(robot)
        turn = math.pi / 2
        self.reach = np.stack([reach, reach * pace, reach * pace**2])  # amplitudes of position, velocity, acceleration
        self.pace, self.phase = np.stack([pace] * 3), np.full((3, robot.n), [[-turn], [0.0], [turn]])
        self.desired = np.zeros((3, robot.n))  # position, velocity, acceleration
        self.gains = np.full((2, robot.n), [[stiffness], [2 * math.sqrt(stiffness)]])
        self.errors = np.zeros((2, robot.n))
        self.size, self.worst = np.zeros((2, robot.n))
        self.parts = (*self.desired, *self.errors)  # views made once: a step allocates nothing

    def __call__(self, bound: Bound, t: float) -> int:
        """Reads the state, compares it with the reference at time t, and computes tau; returns the call's status."""
        q_d, qd_d, qdd_d, e, ed = self.parts
        self.read(bound.q, bound.qd)
        np.multiply(self.pace, t, out=self.desired)  # middle + reach sin(pace t - pi / 2), and its derivatives
        np.add(self.desired, self.phase, out=self.desired)
        np.sin(self.desired, out=self.desired)
        np.multiply(self.desired, self.reach, out=self.desired)
        np.add(q_d, self.middle, out=q_d)
        np.subtract(q_d, bound.q, out=e)
        np.subtract(qd_d, bound.qd, out=ed)
        np.abs(e, out=self.size)
        np.maximum(self.worst, self.size, out=self.worst)
        np.multiply(self.errors, self.gains, out=self.errors)
        np.add(qdd_d, e, out=qdd_d)
        np.add(qdd_d, ed, out=bound.qdd)
        status: int = bound.inverse_dynamics()
        return status
