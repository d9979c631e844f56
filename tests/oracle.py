"""The equations of motion, slow and literal, from a robot's description alone.

Every link is placed in the world; a point on it has a Jacobian, the Jacobian has derivatives, and Newton's and Euler's
laws are projected through them. There is no recursion over velocities or forces. Numbers are long doubles: where these
are longer than 64 bits, what is found against this oracle is the library's rounding alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

Real = np.longdouble


def cross_matrix(v):
    x, y, z = v
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]], Real)


def pose(matrix):
    """A 4x4 pose whose rotation, rounded to 64 bits, is made one again (a Newton step to the nearest rotation)."""
    T = np.array(matrix, Real)
    R = T[:3, :3]
    T[:3, :3] = R @ (3 * np.eye(3, dtype=Real) - R.T @ R) / 2
    return T


def unit_axis(joint):
    axis = np.asarray(joint.axis, Real)
    return axis / np.sqrt(axis @ axis)


def joint_motion(joint, q):
    """What a joint at q does to its frame: a turn about its axis (Rodrigues), a way along it, both, or nothing."""
    T, axis = np.eye(4, dtype=Real), unit_axis(joint)
    K = cross_matrix(axis)
    if turns(joint):
        T[:3, :3] += np.sin(q) * K + (1 - np.cos(q)) * (K @ K)
    T[:3, 3] = travel(joint) * q * axis
    return T


def turns(joint):
    """How far a joint turns, rad, per unit of its coordinate."""
    return {"revolute": 1, "helical": 1, "prismatic": 0, "fixed": 0}[joint.kind]


def travel(joint):
    """How far a joint slides, m, per unit of its coordinate."""
    return {"revolute": Real(0), "helical": Real(joint.pitch), "prismatic": Real(1), "fixed": Real(0)}[joint.kind]


@dataclass
class Body:
    """A link that moves: its name, and in the world its mass, inertia, centre and Jacobians of centre and turning."""

    name: str
    mass: Real
    inertia: np.ndarray
    centre: np.ndarray
    Jv: np.ndarray
    Jw: np.ndarray


class Stand:
    """A robot that stands at q, in the world.

    pose[link]: 4x4; path[link]: the coordinates that move it, from the base outward. Of coordinate k: axis[k];
    origin[k], that of the joint's frame after its own motion; turn[k], the axis as a matrix, zero for prismatic joints.
    """

    def __init__(self, robot, q):
        self.robot = robot
        self.joints = [joint for joint in robot.all_joints if joint.kind != "fixed"]
        self.n = len(self.joints)
        self.g = np.asarray(robot.gravity, Real)
        self._index = {joint.name: k for k, joint in enumerate(self.joints)}
        self._above = {joint.child: joint for joint in robot.all_joints}
        self.axis, self.origin = np.zeros((self.n, 3), Real), np.zeros((self.n, 3), Real)
        self.pose, self.path = {}, {}
        for link in robot.all_links:
            self._place(link.name, np.asarray(q, Real))
        self.turn = [cross_matrix(axis) * turns(joint) for axis, joint in zip(self.axis, self.joints, strict=True)]

    def _place(self, link, q):
        if link in self.pose:
            return
        if link not in self._above:
            self.pose[link], self.path[link] = pose(self.robot.mount), []
            return
        joint = self._above[link]
        self._place(joint.parent, q)
        k = self._index.get(joint.name)
        frame = self.pose[joint.parent] @ pose(joint.origin)
        frame = frame @ joint_motion(joint, Real(0) if k is None else q[k])
        self.pose[link] = frame @ pose(joint.tail)
        self.path[link] = self.path[joint.parent] + ([] if k is None else [k])
        if k is not None:
            self.axis[k], self.origin[k] = frame[:3, :3] @ unit_axis(joint), frame[:3, 3]

    def jacobians(self, link, point) -> tuple[np.ndarray, np.ndarray]:
        """(3, n) each: velocity of a point of the link, and the link's angular velocity, per joint velocity."""
        Jv, Jw = np.zeros((3, self.n), Real), np.zeros((3, self.n), Real)
        for k in self.path[link]:
            Jv[:, k] = self.turn[k] @ (point - self.origin[k]) + self.axis[k] * travel(self.joints[k])
            Jw[:, k] = self.axis[k] * turns(self.joints[k])
        return Jv, Jw

    def jacobian_derivatives(self, body: Body) -> tuple[np.ndarray, np.ndarray]:
        """(3, n, n) each: entry [:, k, j] is the derivative of column k of Jv and Jw by q[j].

        Joint j turns all that is outward of it, and a point's second derivatives do not depend on their order.
        """
        Hv, Hw = np.zeros((3, self.n, self.n), Real), np.zeros((3, self.n, self.n), Real)
        path = self.path[body.name]
        for place, j in enumerate(path):
            here, outward = path[place:], path[place + 1 :]
            Hv[:, here, j] = Hv[:, j, here] = self.turn[j] @ body.Jv[:, here]
            Hw[:, outward, j] = self.turn[j] @ body.Jw[:, outward]
        return Hv, Hw

    def bodies(self) -> Iterator[Body]:
        """The links that some joint moves."""
        for link in self.robot.all_links:
            if self.path[link.name]:
                T = self.pose[link.name]
                centre = T[:3, :3] @ np.asarray(link.com, Real) + T[:3, 3]
                inertia = T[:3, :3] @ np.asarray(link.inertia, Real) @ T[:3, :3].T
                yield Body(link.name, Real(link.mass), inertia, centre, *self.jacobians(link.name, centre))

    def applied(self, wrenches) -> Iterator[tuple[str, np.ndarray, np.ndarray, np.ndarray]]:
        """(link, place, force, moment) in the world, of (n, 6) for the moving joints' links or of a mapping by name."""
        if wrenches is None:
            return
        if not isinstance(wrenches, Mapping):
            wrenches = {joint.child: wrench for joint, wrench in zip(self.joints, wrenches, strict=True)}
        for name, wrench in wrenches.items():
            R, force_moment = self.pose[name][:3, :3], np.asarray(wrench, Real)
            yield name, self.pose[name][:3, 3], R @ force_moment[:3], R @ force_moment[3:]


def world_poses(robot, q) -> dict[str, np.ndarray]:
    """Every link's 4x4 pose in the world, fixed links too."""
    return Stand(robot, q).pose


class Sight:
    """A frame of a robot that stands at q, seen from the base: the last moving link's own if none is named.

    R, p: the frame's axes and origin in the world; see: what turns vectors of the world into the axes asked for.
    """

    def __init__(self, robot, q, frame=None, point=None, local=False):
        self.stand = Stand(robot, q)
        known = robot.frames[robot.links[-1].name if frame is None else frame]
        T = self.stand.pose[known.on] @ pose(known.pose)
        self.mount = pose(robot.mount)
        self.R = T[:3, :3]
        self.p = T[:3, :3] @ np.asarray((0, 0, 0) if point is None else point, Real) + T[:3, 3]
        self.local, self.see = local, (self.R if local else self.mount[:3, :3]).T
        self.on = known.on
        self.body = Body(known.on, Real(0), np.zeros((3, 3), Real), self.p, *self.stand.jacobians(known.on, self.p))

    def both(self, v, w):
        """Linear and angular parts, (3, ...) each, along the axes asked for."""
        return np.concatenate([np.tensordot(self.see, v, 1), np.tensordot(self.see, w, 1)])


def forward_kinematics(robot, q, frame=None, point=None):
    """(4, 4): in the base link's frame."""
    sight, T = Sight(robot, q, frame, point), np.eye(4, dtype=Real)
    T[:3, :3], T[:3, 3] = sight.see @ sight.R, sight.see @ (sight.p - sight.mount[:3, 3])
    return T


def link_poses(robot, q):
    """(n, 4, 4): of the links that joints move, in the base link's frame."""
    return np.stack([forward_kinematics(robot, q, link.name) for link in robot.links])


def jacobian(robot, q, frame=None, point=None, local=False):
    sight = Sight(robot, q, frame, point, local)
    return sight.both(sight.body.Jv, sight.body.Jw)


def pose_and_jacobian(robot, q, frame=None, point=None, local=False):
    return forward_kinematics(robot, q, frame, point), jacobian(robot, q, frame, point, local)


def hessian(robot, q, frame=None, point=None, local=False):
    """(6, n, n): the axes asked for may move, too; those of joint j's rotation are then taken off."""
    sight = Sight(robot, q, frame, point, local)
    Hv, Hw = sight.stand.jacobian_derivatives(sight.body)
    if local:
        for j in range(sight.stand.n):
            turning = cross_matrix(sight.body.Jw[:, j])
            Hv[:, :, j] -= turning @ sight.body.Jv
            Hw[:, :, j] -= turning @ sight.body.Jw
    return sight.both(Hv, Hw)


def jacobian_derivative(robot, q, qd, frame=None, point=None, local=False):
    return hessian(robot, q, frame, point, local) @ np.asarray(qd, Real)


def frame_velocity(robot, q, qd, frame=None, point=None, local=False):
    return jacobian(robot, q, frame, point, local) @ np.asarray(qd, Real)


def frame_acceleration(robot, q, qd, qdd=None, frame=None, point=None, local=False):
    """(6,): of the origin and of the rotation, whatever axes they are then expressed along."""
    sight, qd = Sight(robot, q, frame, point, local), np.asarray(qd, Real)
    qdd = 0 * qd if qdd is None else np.asarray(qdd, Real)
    Hv, Hw = sight.stand.jacobian_derivatives(sight.body)
    return sight.both(sight.body.Jv @ qdd + (Hv @ qd) @ qd, sight.body.Jw @ qdd + (Hw @ qd) @ qd)


# Functions of a Jacobian serve coupled robots, too. LAPACK knows no long doubles: its singular vectors are made
# orthogonal in these, and used to make the matrix diagonal once more, which squares their errors.


def decomposed(J):
    """U, s, V of J = U diag(s) V^T, s descending."""
    U, _, Vt = np.linalg.svd(np.asarray(J, float), full_matrices=False)
    U, V = U.astype(Real), Vt.T.astype(Real)
    for _ in range(2):
        U, V = (Q @ (3 * np.eye(Q.shape[1], dtype=Real) - Q.T @ Q) / 2 for Q in (U, V))
    s = np.sum(U * (J @ V), axis=0)
    return U, np.abs(s), V * np.where(s < 0, -1, 1)


def weights(axes):
    return np.ones(6, Real) if axes is None or not np.any(axes) else np.asarray(axes, Real)


def singular_values_of(J, axes=None):
    found = np.zeros(6, Real)
    found[: min(J.shape)] = np.sort(decomposed(weights(axes)[:, None] * J)[1])[::-1]
    return found


def inverse_of(J, target, preferred=None, axes=None, damping=0.0, tolerance=0.0):
    """x near `preferred` with J x = target, the rank of J, the length of what is missing."""
    w, x = weights(axes), np.zeros(J.shape[1], Real) if preferred is None else np.asarray(preferred, Real)
    U, s, V = decomposed(w[:, None] * J)
    c = w * (np.asarray(target, Real) - J @ x)
    kept = s > max(float(tolerance), 4 * max(J.shape) * np.finfo(float).eps) * s.max()
    U, s, V = U[:, kept], s[kept], V[:, kept]
    step = V @ (s / (s**2 + Real(damping) ** 2) * (U.T @ c))
    return x + step, Real(kept.sum()), np.sqrt(np.sum((c - w * (J @ step)) ** 2))


def singular_values(robot, q, axes=None, frame=None, point=None, local=False):
    return singular_values_of(jacobian(robot, q, frame, point, local), axes)


def inverse_velocity(
    robot, q, velocity, preferred=None, axes=None, damping=0.0, tolerance=0.0, frame=None, point=None, local=False
):
    return inverse_of(jacobian(robot, q, frame, point, local), velocity, preferred, axes, damping, tolerance)


def inverse_acceleration(
    robot, q, qd, acceleration, preferred=None, axes=None, damping=0.0, tolerance=0.0,
    frame=None, point=None, local=False,
):  # fmt: skip
    rest = np.asarray(acceleration, Real) - frame_acceleration(robot, q, qd, None, frame, point, local)
    return inverse_of(jacobian(robot, q, frame, point, local), rest, preferred, axes, damping, tolerance)


def static_torques(robot, q, wrench, frame=None, point=None, local=False):
    return gravity_forces(robot, q) - jacobian(robot, q, frame, point, local).T @ np.asarray(wrench, Real)


def operational(J, M, h, g, b, axes=None):
    """Lambda, mu, p and kept: the components asked for that do not depend on those before them.

    h: velocity forces and friction; g: gravity; b: dJ/dt qd. Independent: a sine above 3e-7, in the metric of M^-1.
    """
    kept = []
    for r in np.flatnonzero(weights(axes)).tolist():
        A = np.array([solved(M, row) for row in J[[*kept, r]]], Real) @ J[[*kept, r]].T
        size = np.sqrt(np.maximum(np.diag(A), np.finfo(float).tiny))
        if np.linalg.eigvalsh((A / np.outer(size, size)).astype(float))[0] > 1e-13:
            kept.append(r)
    J, b = J[kept], b[kept]
    whole, mu, p, mask = np.zeros((6, 6), Real), np.zeros(6, Real), np.zeros(6, Real), np.zeros(6, Real)
    mask[kept] = 1
    if kept:
        inverse = np.array([solved(M, row) for row in J], Real)  # J M^-1
        A = inverse @ J.T
        whole[np.ix_(kept, kept)] = np.array([solved(A, row) for row in np.eye(len(kept), dtype=Real)])
        mu[kept], p[kept] = solved(A, inverse @ h - b), solved(A, inverse @ g)
    return whole, mu, p, mask


def task_dynamics(robot, q, qd, axes=None, frame=None, point=None, local=False):
    g = gravity_forces(robot, q)
    b = frame_acceleration(robot, q, qd, None, frame, point, local)
    J = jacobian(robot, q, frame, point, local)
    return operational(J, mass_matrix(robot, q), bias_forces(robot, q, qd) - g, g, b, axes)


def mass_matrix(robot, q):
    stand = Stand(robot, q)
    M = np.diag(np.array([joint.motor.armature for joint in stand.joints], Real))
    for body in stand.bodies():
        M = M + body.mass * body.Jv.T @ body.Jv + body.Jw.T @ body.inertia @ body.Jw
    return M


def mass_matrix_derivatives(robot, q):
    """(n, n, n): entry [:, :, j] is dM/dq[j]."""
    stand = Stand(robot, q)
    dM = np.zeros((stand.n, stand.n, stand.n), Real)
    for body in stand.bodies():
        Hv, Hw = stand.jacobian_derivatives(body)
        for j in stand.path[body.name]:
            # the inertia turns with joint j: dI = Z I + I Z^T, Z the axis as a matrix
            turned = Hw[:, :, j] + stand.turn[j].T @ body.Jw
            half = body.mass * Hv[:, :, j].T @ body.Jv + turned.T @ body.inertia @ body.Jw
            dM[:, :, j] += half + half.T
    return dM


def coriolis_matrix(robot, q, qd):
    return christoffel(mass_matrix_derivatives(robot, q)) @ np.asarray(qd, Real)


def christoffel(dM):
    """(n, n, n): entry [k, l, j] is half of dM[k, l]/dq[j] + dM[k, j]/dq[l] - dM[l, j]/dq[k]."""
    return (dM + dM.transpose(0, 2, 1) - dM.transpose(2, 1, 0)) / 2


def link_loads(stand: Stand, qd, qdd) -> Iterator[tuple[Body, np.ndarray, np.ndarray]]:
    """(body, force at its centre, moment) that its motion takes against gravity: Newton and Euler."""
    qd, qdd = np.asarray(qd, Real), np.asarray(qdd, Real)
    for body in stand.bodies():
        Hv, Hw = stand.jacobian_derivatives(body)
        acceleration = body.Jv @ qdd + (Hv @ qd) @ qd
        turning, turning_rate = body.Jw @ qd, body.Jw @ qdd + (Hw @ qd) @ qd
        moment = body.inertia @ turning_rate + cross_matrix(turning) @ body.inertia @ turning
        yield body, body.mass * (acceleration - stand.g), moment


def friction(robot, qd):
    """What friction at the joints takes."""
    return motor_friction([joint.motor for joint in robot.all_joints if joint.kind != "fixed"], qd)


def motor_friction(motors, rates):
    """What friction of motors takes: viscous, and Coulomb's by the direction of motion; none at rest."""
    forces = []
    for motor, rate in zip(motors, np.asarray(rates, Real), strict=True):
        plus, minus = motor.joint_coulomb
        forces.append(motor.joint_viscous * rate + (plus if rate > 0 else -minus if rate < 0 else 0))
    return np.array(forces, Real)


def inverse_dynamics(robot, q, qd, qdd, wrenches=None):
    stand = Stand(robot, q)
    rotors = np.array([joint.motor.armature for joint in stand.joints], Real)
    tau = rotors * np.asarray(qdd, Real) + friction(robot, qd)
    for body, force, moment in link_loads(stand, qd, qdd):
        tau = tau + body.Jv.T @ force + body.Jw.T @ moment
    for link, place, force, moment in stand.applied(wrenches):
        Jv, Jw = stand.jacobians(link, place)
        tau = tau - Jv.T @ force - Jw.T @ moment
    return tau


def bias_forces(robot, q, qd):
    return inverse_dynamics(robot, q, qd, np.zeros(len(qd)))


def gravity_forces(robot, q):
    stand = Stand(robot, q)
    return -sum((body.mass * body.Jv.T @ stand.g for body in stand.bodies()), np.zeros(stand.n, Real))


def forward_dynamics(robot, q, qd, tau, wrenches=None):
    rest = np.asarray(tau, Real) - inverse_dynamics(robot, q, qd, np.zeros(len(qd)), wrenches)
    return solved(mass_matrix(robot, q), rest)


def solved(M, b):
    """x of M x = b. LAPACK knows no long doubles: each repetition corrects by what the last answer leaves over."""
    x, coarse = np.zeros(len(b), Real), M.astype(float)
    for _ in range(4):
        x = x + np.linalg.solve(coarse, (b - M @ x).astype(float))
    return x


def kinetic_energy(robot, q, qd):
    stand, qd = Stand(robot, q), np.asarray(qd, Real)
    energy = sum(joint.motor.armature * rate**2 / 2 for joint, rate in zip(stand.joints, qd, strict=True))
    for body in stand.bodies():
        velocity, turning = body.Jv @ qd, body.Jw @ qd
        energy = energy + (body.mass * velocity @ velocity + turning @ body.inertia @ turning) / 2
    return energy


def potential_energy(robot, q):
    stand = Stand(robot, q)
    return -sum((body.mass * (stand.g @ body.centre) for body in stand.bodies()), Real(0))


def momentum(robot, q, qd):
    """(6,): linear, then angular about the centre of mass, along the base's axes, rotors left out."""
    stand, qd = Stand(robot, q), np.asarray(qd, Real)
    total, centre = np.zeros(6, Real), world_center_of_mass(stand)
    for body in stand.bodies():
        linear = body.mass * (body.Jv @ qd)
        arm = body.centre - centre
        total += np.concatenate([linear, cross_matrix(arm) @ linear + body.inertia @ body.Jw @ qd])
    R = pose(robot.mount)[:3, :3]
    return np.concatenate([R.T @ total[:3], R.T @ total[3:]])


def center_of_mass(robot, q):
    """(3,): of the links that some joint moves, in the base link's frame."""
    mount = pose(robot.mount)
    return mount[:3, :3].T @ (world_center_of_mass(Stand(robot, q)) - mount[:3, 3])


def world_center_of_mass(stand: Stand):
    bodies = list(stand.bodies())
    return sum(body.mass * body.centre for body in bodies) / sum(body.mass for body in bodies)


def joint_reactions(robot, q, qd, qdd, wrenches=None):
    """(n, 6): force and moment by which the parent holds all that joint i carries, friction and rotors left out."""
    stand = Stand(robot, q)
    loads = [(body.name, body.centre, force, moment) for body, force, moment in link_loads(stand, qd, qdd)]
    loads += [(link, place, -force, -moment) for link, place, force, moment in stand.applied(wrenches)]
    reactions = np.zeros((stand.n, 6), Real)
    for i, joint in enumerate(stand.joints):
        into_link = stand.pose[joint.child][:3, :3].T
        for link, place, force, moment in loads:
            if i in stand.path[link]:
                about_joint = moment + cross_matrix(place - stand.origin[i]) @ force
                reactions[i] += np.concatenate([into_link @ force, into_link @ about_joint])
    return reactions
