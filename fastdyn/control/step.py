"""A step of a control loop: the row `computed_torque` along a motion that oscillates."""

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
    >>> controller, bound = ComputedTorque(robot, arm.read), robot.bind("computed_torque")
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
        self.gains = stiffness, 2 * math.sqrt(stiffness)
        self.size, self.worst = np.zeros((2, robot.n))
        self.parts = tuple(self.desired)  # views made once: a step allocates nothing

    def __call__(self, bound: Bound, t: float) -> int:
        """Reads the state, compares it with the reference at time t, and computes tau; returns the call's status."""
        q_d = self.parts[0]
        self.read(bound.q, bound.qd)
        np.multiply(self.pace, t, out=self.desired)  # middle + reach sin(pace t - pi / 2), and its derivatives
        np.add(self.desired, self.phase, out=self.desired)
        np.sin(self.desired, out=self.desired)
        np.multiply(self.desired, self.reach, out=self.desired)
        np.add(q_d, self.middle, out=q_d)
        bound.q_d[:], bound.qd_d[:], bound.qdd_d[:] = self.parts
        bound.kp[:], bound.kd[:] = self.gains
        np.subtract(q_d, bound.q, out=self.size)
        np.abs(self.size, out=self.size)
        np.maximum(self.worst, self.size, out=self.worst)
        status: int = bound.computed_torque()
        return status
