"""Every quantity of a coupled robot, slow and literal: the oracle's for its joints, projected by G with matrices."""

from __future__ import annotations

import numpy as np

from tests import oracle

Real = oracle.Real


class Projected:
    """A coupled robot at a state of its coordinates, in long doubles."""

    def __init__(self, robot):
        self.robot, self.G = robot.robot, np.asarray(robot.G, Real)
        self.offset, self.motors = np.asarray(robot.offset, Real), robot.description.coupling.motors

    def joints(self, phi):
        return self.G @ np.asarray(phi, Real) + self.offset

    def rates(self, phid):
        return self.G @ np.asarray(phid, Real)

    def rotors(self):
        return np.array([motor.armature for motor in self.motors], Real)

    def friction(self, phid):
        return oracle.motor_friction(self.motors, phid)

    def inverse_dynamics(self, q, qd, qdd, wrenches=None):
        tau = oracle.inverse_dynamics(self.robot, self.joints(q), self.rates(qd), self.rates(qdd), wrenches)
        return self.G.T @ tau + self.rotors() * np.asarray(qdd, Real) + self.friction(qd)

    def forward_dynamics(self, q, qd, tau, wrenches=None):
        bias = self.inverse_dynamics(q, qd, np.zeros(len(q)), wrenches)
        return oracle.solved(self.mass_matrix(q), np.asarray(tau, Real) - bias)

    def mass_matrix(self, q):
        return self.G.T @ oracle.mass_matrix(self.robot, self.joints(q)) @ self.G + np.diag(self.rotors())

    def coriolis_matrix(self, q, qd):
        return self.G.T @ oracle.coriolis_matrix(self.robot, self.joints(q), self.rates(qd)) @ self.G

    def bias_forces(self, q, qd):
        return self.inverse_dynamics(q, qd, np.zeros(len(q)))

    def gravity_forces(self, q):
        return self.G.T @ oracle.gravity_forces(self.robot, self.joints(q))

    def kinetic_energy(self, q, qd):
        rotors = self.rotors() @ np.asarray(qd, Real) ** 2 / 2
        return oracle.kinetic_energy(self.robot, self.joints(q), self.rates(qd)) + rotors

    def potential_energy(self, q):
        return oracle.potential_energy(self.robot, self.joints(q))

    def joint_reactions(self, q, qd, qdd, wrenches=None):
        return oracle.joint_reactions(self.robot, self.joints(q), self.rates(qd), self.rates(qdd), wrenches)

    def center_of_mass(self, q):
        return oracle.center_of_mass(self.robot, self.joints(q))

    def momentum(self, q, qd):
        return oracle.momentum(self.robot, self.joints(q), self.rates(qd))
