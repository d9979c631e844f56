"""Every quantity of a coupled robot, slow and literal: the oracle's for its joints, projected by G with matrices."""

from __future__ import annotations

import numpy as np

from fastdyn.quantities import METHODS
from tests import oracle

Real = oracle.Real


class Projected:
    """A coupled robot in long doubles; it has a method for every quantity of the table.

    Inputs become those of the joints by what the table says they are (a position, a rate), results are projected by
    what they are (a force, an inertia, ...), and the coordinates' own motors act besides.
    """

    def __init__(self, robot):
        self.robot, self.G = robot.robot, np.asarray(robot.G, Real)
        self.offset, self.motors = np.asarray(robot.offset, Real), robot.description.coupling.motors
        self.rotors = np.array([motor.armature for motor in self.motors], Real)

    def __getattr__(self, name):
        if name not in METHODS:
            raise AttributeError(name)
        return lambda *given: self._project(name, *given)

    def forward_dynamics(self, q, qd, tau, wrenches=None):
        bias = self.inverse_dynamics(q, qd, np.zeros(len(q)), wrenches)
        return oracle.solved(self.mass_matrix(q), np.asarray(tau, Real) - bias)

    def singular_values(self, q, axes=None):
        return oracle.singular_values_of(self.jacobian(q), axes)

    def inverse_velocity(self, q, velocity, *options):
        return oracle.inverse_of(self.jacobian(q), velocity, *options)

    def inverse_acceleration(self, q, qd, acceleration, *options):
        rest = np.asarray(acceleration, Real) - self.frame_acceleration(q, qd)
        return oracle.inverse_of(self.jacobian(q), rest, *options)

    def task_dynamics(self, q, qd, axes=None):
        g = self.gravity_forces(q)
        h = self.bias_forces(q, qd) - g
        return oracle.operational(self.jacobian(q), self.mass_matrix(q), h, g, self.frame_acceleration(q, qd), axes)

    def _project(self, name, *given):
        row = METHODS[name][0]
        values = {field.name: value for field, value in zip(row.inputs, given, strict=False)}
        joints = []
        for field, value in zip(row.inputs, given, strict=False):
            if field.coupling:
                value = self.G @ np.asarray(value, Real) + (self.offset if field.coupling == "position" else 0)
            joints.append(value)
        found = getattr(oracle, name)(self.robot, *joints)
        if len(row.gives) == 1:
            return self._result(row.gives[0], found, values)
        return tuple(self._result(field, one, values) for field, one in zip(row.gives, found, strict=True))

    def _result(self, result, found, values):
        if result.coupling == "force":
            found = self.G.T @ found
            if "qdd" in values:
                found = found + self.rotors * np.asarray(values["qdd"], Real)
            if "qd" in values:
                found = found + oracle.motor_friction(self.motors, values["qd"])
        elif result.coupling in ("inertia", "matrix"):
            found = self.G.T @ found @ self.G + (np.diag(self.rotors) if result.coupling == "inertia" else 0)
        elif result.coupling == "columns":
            found = found @ self.G
        elif result.coupling == "hessian":
            found = self.G.T @ found @ self.G
        elif result.coupling == "kinetic":
            found = found + self.rotors @ np.asarray(values["qd"], Real) ** 2 / 2
        return found
