"""Controllers: joint torques from a measured state and a desired motion.

q_d, qd_d, qdd_d: the desired motion; e = q_d - q; kp, kd: gains of each coordinate. For coupled robots all of these are
in actuator coordinates: the gains then act on motors, and only the model's part is computed in joints.
"""

from fastdyn.kernels import coupling, gravity, rnea
from fastdyn.scalars import add, kernel, load, store


def pd_rows(n):
    return 1


def pd_gravity_rows(n):
    return 2 * n + gravity.gravity_forces_rows(n)


def model_rows(n):
    return 5 * n + rnea.inverse_dynamics_rows(n)


@kernel
def add_feedback(q, qd, q_d, qd_d, kp, kd, tau):
    """tau += kp e + kd e'."""
    for j in range(tau.shape[0]):
        e, ed = load(q_d, j) - load(q, j), load(qd_d, j) - load(qd, j)
        add(tau, j, load(kp, j) * e + load(kd, j) * ed)


@kernel
def pd(P, tree, q, qd, q_d, qd_d, kp, kd, tau, work):
    """tau = kp e + kd e'."""
    for j in range(tau.shape[0]):
        e, ed = load(q_d, j) - load(q, j), load(qd_d, j) - load(qd, j)
        store(tau, j, load(kp, j) * e + load(kd, j) * ed)


@kernel
def coupled_pd(P, tree, G, pattern, q, qd, q_d, qd_d, kp, kd, tau, work):
    pd(P, tree, q, qd, q_d, qd_d, kp, kd, tau, work)


@kernel
def pd_gravity(P, tree, q, qd, q_d, qd_d, kp, kd, tau, work):
    """tau = g(q) + kp e + kd e': eq. (31) of the RRT example."""
    gravity.gravity_forces(P, tree, q, tau, work)
    add_feedback(q, qd, q_d, qd_d, kp, kd, tau)


@kernel
def coupled_pd_gravity(P, tree, G, pattern, q, qd, q_d, qd_d, kp, kd, tau, work):
    n = P.shape[1]
    joint_q, joint_tau = work[:n], work[n : 2 * n]
    coupling.positions(G, pattern, q, joint_q)
    gravity.gravity_forces(P, tree, joint_q, joint_tau, work[2 * n :])
    coupling.forces(G, pattern, joint_tau, tau)
    add_feedback(q, qd, q_d, qd_d, kp, kd, tau)


@kernel
def wanted_acceleration(q, qd, q_d, qd_d, qdd_d, kp, kd, found):
    """q_d'' + kp e + kd e'."""
    for j in range(qdd_d.shape[0]):
        e, ed = load(q_d, j) - load(q, j), load(qd_d, j) - load(qd, j)
        store(found, j, load(qdd_d, j) + load(kp, j) * e + load(kd, j) * ed)


@kernel
def computed_torque(P, tree, q, qd, q_d, qd_d, qdd_d, kp, kd, tau, work):
    """Inverse dynamics of q_d'' + kp e + kd e': on an exact model e'' + kd e' + kp e = 0."""
    n = P.shape[1]
    wanted = work[:n]
    wanted_acceleration(q, qd, q_d, qd_d, qdd_d, kp, kd, wanted)
    rnea.inverse_dynamics(P, tree, q, qd, wanted, work[:0], tau, work[n:])


@kernel
def coupled_computed_torque(P, tree, G, pattern, q, qd, q_d, qd_d, qdd_d, kp, kd, tau, work):
    n = P.shape[1]
    wanted = work[: tau.shape[0]]
    wanted_acceleration(q, qd, q_d, qd_d, qdd_d, kp, kd, wanted)
    coupled_inverse_dynamics(P, tree, G, pattern, q, qd, wanted, tau, work[n:])


@kernel
def pd_feedforward(P, tree, q, qd, q_d, qd_d, qdd_d, kp, kd, tau, work):
    """Inverse dynamics of the desired motion, plus kp e + kd e'."""
    rnea.inverse_dynamics(P, tree, q_d, qd_d, qdd_d, work[:0], tau, work)
    add_feedback(q, qd, q_d, qd_d, kp, kd, tau)


@kernel
def coupled_pd_feedforward(P, tree, G, pattern, q, qd, q_d, qd_d, qdd_d, kp, kd, tau, work):
    coupled_inverse_dynamics(P, tree, G, pattern, q_d, qd_d, qdd_d, tau, work)
    add_feedback(q, qd, q_d, qd_d, kp, kd, tau)


@kernel
def coupled_inverse_dynamics(P, tree, G, pattern, q, qd, qdd, tau, work):
    """Inverse dynamics in actuator coordinates, motors of the coordinates included."""
    n = P.shape[1]
    joint_q, joint_qd, joint_qdd, joint_tau = work[:n], work[n : 2 * n], work[2 * n : 3 * n], work[3 * n : 4 * n]
    coupling.positions(G, pattern, q, joint_q)
    coupling.rates(G, pattern, qd, joint_qd)
    coupling.rates(G, pattern, qdd, joint_qdd)
    rnea.inverse_dynamics(P, tree, joint_q, joint_qd, joint_qdd, work[:0], joint_tau, work[4 * n :])
    coupling.forces(G, pattern, joint_tau, tau)
    coupling.add_rotor_torques(G, qdd, tau)
    coupling.add_friction(G, qd, tau)
