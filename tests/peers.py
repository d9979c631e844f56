"""The same robot in Pinocchio and in MuJoCo, for comparisons and for benchmarks.

Both classes answer for one state, joints in the order of `robot.joints` whatever order the peer keeps; `model` and
`data` are the peer's own objects, for whoever wants to time them. Packages are imported when a class is made.
"""

from __future__ import annotations

import numpy as np

import fastdyn as fd
from fastdyn.bench.peers.models import mujoco_model, pinocchio_model, skeleton


class Pinocchio:
    """A robot as a pinocchio.Model: rotors as armature. Pinocchio's algorithms know no friction."""

    def __init__(self, robot: fd.Robot) -> None:
        import pinocchio as pin

        self.pin, self.robot = pin, robot
        self.model, self.order = pinocchio_model(robot)  # order: of Pinocchio's coordinates, in robot.joints
        self.place = np.argsort(self.order)
        self.data = self.model.createData()

    def _forces(self, wrenches):
        """Wrenches (n, 6) in the links' frames, as forces along and about the joints' moved frames."""
        forces = [self.pin.Force.Zero() for _ in range(self.model.njoints)]
        for k, i in enumerate(self.order):
            forces[k + 1] = self.pin.SE3(np.asarray(self.robot.joints[i].tail)).act(self.pin.Force(wrenches[i]))
        return forces

    def _matrix(self, A):
        return np.array(A)[np.ix_(self.place, self.place)]

    def inverse_dynamics(self, q, qd, qdd, wrenches=None):
        states = (x[self.order] for x in (q, qd, qdd))
        more = () if wrenches is None else (self._forces(wrenches),)
        return self.pin.rnea(self.model, self.data, *states, *more)[self.place]

    def forward_dynamics(self, q, qd, tau, wrenches=None):
        states = (x[self.order] for x in (q, qd, tau))
        more = () if wrenches is None else (self._forces(wrenches),)
        return self.pin.aba(self.model, self.data, *states, *more)[self.place]

    def bias_forces(self, q, qd):
        return self.pin.nonLinearEffects(self.model, self.data, q[self.order], qd[self.order])[self.place]

    def gravity_forces(self, q):
        return self.pin.computeGeneralizedGravity(self.model, self.data, q[self.order])[self.place]

    def mass_matrix(self, q):
        upper = np.triu(self.pin.crba(self.model, self.data, q[self.order]))
        return self._matrix(upper + np.triu(upper, 1).T)

    def coriolis_matrix(self, q, qd):
        return self._matrix(self.pin.computeCoriolisMatrix(self.model, self.data, q[self.order], qd[self.order]))

    def kinetic_energy(self, q, qd):
        """Of robots without rotors: for some kinds of joints Pinocchio counts them, for others it does not."""
        return self.pin.computeKineticEnergy(self.model, self.data, q[self.order], qd[self.order])

    def potential_energy(self, q):
        return self.pin.computePotentialEnergy(self.model, self.data, q[self.order])

    def joint_reactions(self, q, qd, qdd):
        """(n, 6): what the parent exerts at the joint, along the axes of the link's frame."""
        self.inverse_dynamics(q, qd, qdd)
        found = []
        for joint, k in zip(self.robot.joints, self.place, strict=True):
            R, force = np.asarray(joint.tail)[:3, :3], self.data.f[int(k) + 1]
            found.append(np.concatenate([R.T @ force.linear, R.T @ force.angular]))
        return np.array(found)

    def momentum(self, q, qd):
        """(6,): linear, then angular about the centre of mass, along the base's axes."""
        found = self.pin.computeCentroidalMomentum(self.model, self.data, q[self.order], qd[self.order])
        R = self.robot.mount[:3, :3]
        return np.concatenate([R.T @ found.linear, R.T @ found.angular])

    def frame(self, name):
        """The number, in Pinocchio, of a frame at a link's, added to its model on the first use."""
        index = self.model.getFrameId(name)
        if index == self.model.nframes:
            _, links = skeleton(self.robot)
            on, where = next((on, where) for link, on, where in links if link.name == name)
            number = self.model.getJointId(self.robot.joints[on].name)
            index = self.model.addFrame(self.pin.Frame(name, number, self.pin.SE3(where), self.pin.FrameType.OP_FRAME))
            self.data = self.model.createData()
        return index

    def pose(self, q, frame):
        """In the base link's frame."""
        index = self.frame(frame)
        self.pin.framesForwardKinematics(self.model, self.data, q[self.order])
        return np.linalg.inv(self.robot.mount) @ self.data.oMf[index].homogeneous

    def _axes(self, local):
        """Pinocchio's name of the axes, and what turns them into those of the base."""
        turn = np.eye(3) if local else self.robot.mount[:3, :3].T
        reference = self.pin.ReferenceFrame
        return reference.LOCAL if local else reference.LOCAL_WORLD_ALIGNED, np.kron(np.eye(2), turn)

    def jacobian(self, q, frame, local=False):
        axes, turn = self._axes(local)
        index = self.frame(frame)
        found = self.pin.computeFrameJacobian(self.model, self.data, q[self.order], index, axes)
        return turn @ found.reshape(6, -1)[:, self.place]

    def jacobian_derivative(self, q, qd, frame, local=False):
        axes, turn = self._axes(local)
        index = self.frame(frame)
        self.pin.computeJointJacobiansTimeVariation(self.model, self.data, q[self.order], qd[self.order])
        self.pin.updateFramePlacements(self.model, self.data)
        found = self.pin.getFrameJacobianTimeVariation(self.model, self.data, index, axes)
        return turn @ found.reshape(6, -1)[:, self.place]

    def hessian(self, q, joint, local=False):
        """Of a joint's own moved frame."""
        axes, turn = self._axes(local)
        self.pin.computeJointJacobians(self.model, self.data, q[self.order])
        self.pin.computeJointKinematicHessians(self.model, self.data)
        number = self.model.getJointId(joint)
        found = np.array(self.pin.getJointKinematicHessian(self.model, self.data, number, axes))
        found = found.ravel().reshape(6, self.model.nv, self.model.nv, order="F")  # its binding swaps the axes
        return np.tensordot(turn, found[:, self.place][:, :, self.place], 1)

    def center_of_mass(self, q):
        """In the base link's frame."""
        mount = self.robot.mount
        return mount[:3, :3].T @ (self.pin.centerOfMass(self.model, self.data, q[self.order]) - mount[:3, 3])


class MuJoCo:
    """A robot as a mujoco.MjModel: rotors as armature, viscous friction as damping. Coulomb friction is left out."""

    def __init__(self, robot: fd.Robot) -> None:
        import mujoco

        self.mujoco, self.robot = mujoco, robot
        self.model, self.data = mujoco_model(robot)
        self.place = np.array([self.model.joint(joint.name).dofadr[0] for joint in robot.joints])

    def _set(self, q, qd=0.0):
        self.data.qpos[self.place] = q
        self.data.qvel[self.place] = qd
        self.data.xfrc_applied[:] = 0

    def inverse_dynamics(self, q, qd, qdd):
        self._set(q, qd)
        self.data.qacc[self.place] = qdd
        self.mujoco.mj_inverse(self.model, self.data)
        return self.data.qfrc_inverse[self.place]

    def forward_dynamics(self, q, qd, tau, wrenches=None):
        self._set(q, qd)
        self.data.qfrc_applied[self.place] = tau
        if wrenches is not None:
            self._push(wrenches)
        self.mujoco.mj_forward(self.model, self.data)
        return self.data.qacc[self.place]

    def _push(self, wrenches):
        """Wrenches (n, 6) in the links' frames, as forces at the centres of mass along the world's axes."""
        self.mujoco.mj_kinematics(self.model, self.data)
        for joint, wrench in zip(self.robot.joints, wrenches, strict=True):
            body = self.data.body(joint.child)
            link = body.xmat.reshape(3, 3) @ np.asarray(joint.tail)[:3, :3]
            origin = body.xpos + body.xmat.reshape(3, 3) @ np.asarray(joint.tail)[:3, 3]
            force, moment = link @ wrench[:3], link @ wrench[3:]
            self.data.xfrc_applied[body.id] = *force, *(moment + np.cross(origin - body.xipos, force))

    def bias_forces(self, q, qd):
        """Without friction."""
        self._set(q, qd)
        self.mujoco.mj_forward(self.model, self.data)
        return self.data.qfrc_bias[self.place]

    def mass_matrix(self, q):
        self._set(q)
        self.mujoco.mj_forward(self.model, self.data)
        n = self.model.nv
        M = np.zeros((n, n))
        for row, unit in zip(M, np.eye(n), strict=True):
            self.mujoco.mj_mulM(self.model, self.data, row, unit)
        return M[np.ix_(self.place, self.place)]

    def energies(self, q, qd):
        """Kinetic (rotors included) and potential energy."""
        self._set(q, qd)
        self.mujoco.mj_forward(self.model, self.data)
        self.mujoco.mj_energyPos(self.model, self.data)
        self.mujoco.mj_energyVel(self.model, self.data)
        potential, kinetic = self.data.energy
        return kinetic, potential
