"""Controllers: joint torques from a measured state and a desired motion; and an observer of external torques.

q_d, qd_d, qdd_d: the desired motion; e = q_d - q; kp, kd: gains of each coordinate. For coupled robots all of these are
in actuator coordinates: the gains then act on motors, and only the model's part is computed in joints. Of flexible
joints q and qd are the motors', on the arm's side of the gears, and arm_q, arm_qd those of the arm behind the springs.
"""

from fastdyn.kernels import coriolis, coupling, gravity, kinematics, rnea
from fastdyn.kernels.levenberg_marquardt import half_sines
from fastdyn.scalars import add, fill, kernel, load, store
from fastdyn.scalars.vectors import *

SIX, POSE = 6, 16


def pd_rows(n):
    return 1


def pd_gravity_rows(n):
    return 2 * n + gravity.gravity_forces_rows(n)


def model_rows(n):
    return 5 * n + rnea.inverse_dynamics_rows(n)


def impedance_rows(n):
    return 6 * n + n * n + max(rnea.inverse_dynamics_rows(n), coriolis.coriolis_matrix_rows(n))


def task_space_pd_rows(n):
    rest = max(kinematics.pose_and_jacobian_rows(n), gravity.gravity_forces_rows(n))
    return 2 * SIX * n + POSE + 2 * SIX + 2 * n + rest


def momentum_observer_rows(n):
    return 5 * n + n * n + max(rnea.inverse_dynamics_rows(n), coriolis.coriolis_matrix_rows(n))


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
def flexible_computed_torque(P, tree, qd, arm_q, arm_qd, q_d, qd_d, qdd_d, kp, kd, kf, tau, work):
    """Computed torque from the arm's motion, as if it were rigid, plus kf (arm_qd - qd), which damps the springs."""
    computed_torque(P, tree, arm_q, arm_qd, q_d, qd_d, qdd_d, kp, kd, tau, work)
    damp_springs(qd, arm_qd, kf, tau)


@kernel
def coupled_flexible_computed_torque(P, tree, G, pattern, qd, arm_q, arm_qd, q_d, qd_d, qdd_d, kp, kd, kf, tau, work):
    coupled_computed_torque(P, tree, G, pattern, arm_q, arm_qd, q_d, qd_d, qdd_d, kp, kd, tau, work)
    damp_springs(qd, arm_qd, kf, tau)


@kernel
def damp_springs(qd, arm_qd, kf, tau):
    """tau += kf (arm_qd - qd)."""
    for j in range(tau.shape[0]):
        add(tau, j, load(kf, j) * (load(arm_qd, j) - load(qd, j)))


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


# ---------------------------------------------------------------------------------------------- impedance


@kernel
def add_product(C, x, tau):
    """tau += C x."""
    n = x.shape[0]
    for i in range(n):
        for j in range(n):
            add(tau, i, load(C, n * i + j) * load(x, j))


@kernel
def add_transposed_product(C, x, tau):
    """tau += C^T x."""
    n = x.shape[0]
    for i in range(n):
        for j in range(n):
            add(tau, i, load(C, n * j + i) * load(x, j))


@kernel
def held_inertia(P, tree, q, qd, qd_d, qdd_d, tau, work):
    """tau = M q_d'' + C q_d' + g."""
    n = P.shape[1]
    rest, C, still = work[n + n * n :], work[n : n + n * n], work[:n]
    for j in range(n):
        store(still, j, fill(work, 0.0))
    rnea.inverse_dynamics(P, tree, q, still, qdd_d, work[:0], tau, rest)
    coriolis.coriolis_matrix(P, tree, q, qd, C, rest)
    add_product(C, qd_d, tau)


@kernel
def joint_impedance(P, tree, q, qd, q_d, qd_d, qdd_d, kp, kd, tau, work):
    """tau = M q_d'' + C q_d' + g + kp e + kd e'; under external torques x then M e'' + (C + kd) e' + kp e = -x.

    Friction is left as it is: it adds to the damping.
    """
    held_inertia(P, tree, q, qd, qd_d, qdd_d, tau, work)
    add_feedback(q, qd, q_d, qd_d, kp, kd, tau)


@kernel
def coupled_joint_impedance(P, tree, G, pattern, q, qd, q_d, qd_d, qdd_d, kp, kd, tau, work):
    n = P.shape[1]
    joint_q, joint_qd, wanted, change = work[:n], work[n : 2 * n], work[2 * n : 3 * n], work[3 * n : 4 * n]
    joint_tau, rest = work[4 * n : 5 * n], work[5 * n :]
    coupling.positions(G, pattern, q, joint_q)
    coupling.rates(G, pattern, qd, joint_qd)
    coupling.rates(G, pattern, qd_d, wanted)
    coupling.rates(G, pattern, qdd_d, change)
    held_inertia(P, tree, joint_q, joint_qd, wanted, change, joint_tau, rest)
    coupling.forces(G, pattern, joint_tau, tau)
    coupling.add_rotor_torques(G, qdd_d, tau)
    add_feedback(q, qd, q_d, qd_d, kp, kd, tau)


# ---------------------------------------------------------------------------------------------- task space


@kernel
def turned(pose, target):
    """2 sin(angle / 2) times the axis of the rotation from a pose to another, along the base's axes."""
    x, y, z = transposed(matrix_product(rotation(target), transposed(rotation(pose))))
    return half_sines((x, y, z, zero_vector(pose)))


@kernel
def rotation(pose):
    """A pose's rotation matrix."""
    return load_vector(pose, 0), load_vector(pose, 4), load_vector(pose, 8)


@kernel
def add_task_feedback(J, pose, qd, pose_d, velocity_d, kx, dx, tau, wrench):
    """tau += J^T (kx e + dx (velocity_d - J qd)), e: position, then rotation."""
    m = tau.shape[0]
    store_vector(wrench, 3, turned(pose, pose_d))
    for r in range(SIX):
        if r < 3:
            store(wrench, r, load(pose_d, 4 * r + 3) - load(pose, 4 * r + 3))
        rate = load(velocity_d, r)
        for j in range(m):
            rate = rate - load(J, m * r + j) * load(qd, j)
        force = load(kx, r) * load(wrench, r) + load(dx, r) * rate
        for j in range(m):
            add(tau, j, load(J, m * r + j) * force)


@kernel
def task_space_pd(P, tree, q, qd, pose_d, velocity_d, kx, dx, tau, work):
    """tau = g(q) + J^T (kx e + dx e'), e the way from the frame's pose to the desired one."""
    n = P.shape[1]
    J, rest = work[: SIX * n], work[SIX * n :]
    pose, wrench, rest = rest[:POSE], rest[POSE : POSE + SIX], rest[POSE + SIX :]
    gravity.gravity_forces(P, tree, q, tau, rest)
    kinematics.pose_and_jacobian(P, tree, q, pose, J, rest)
    add_task_feedback(J, pose, qd, pose_d, velocity_d, kx, dx, tau, wrench)


@kernel
def coupled_task_space_pd(P, tree, G, pattern, q, qd, pose_d, velocity_d, kx, dx, tau, work):
    n, m = P.shape[1], tau.shape[0]
    J, joint_q, joint_tau, rest = work[: SIX * m], work[SIX * m :][:n], work[SIX * m + n :][:n], work[SIX * m + 2 * n :]
    pose, wrench, rest = rest[:POSE], rest[POSE : POSE + SIX], rest[POSE + SIX :]
    coupling.positions(G, pattern, q, joint_q)
    gravity.gravity_forces(P, tree, joint_q, joint_tau, rest)
    coupling.forces(G, pattern, joint_tau, tau)
    joint_J = rest[: SIX * n]
    kinematics.pose_and_jacobian(P, tree, joint_q, pose, joint_J, rest[SIX * n :])
    coupling.columns(G, pattern, joint_J, J)
    add_task_feedback(J, pose, qd, pose_d, velocity_d, kx, dx, tau, wrench)


# ---------------------------------------------------------------------------------------------- observer


@kernel
def momentum_parts(P, tree, q, qd, p, drain, work):
    """p = M qd, and drain = g + friction - C^T qd: without external torques dp/dt = tau - drain."""
    n = P.shape[1]
    still, C, rest = work[:n], work[n : n + n * n], work[n + n * n :]
    for j in range(n):
        store(still, j, fill(work, 0.0))
    rnea.inverse_dynamics(P, tree, q, still, qd, work[:0], p, rest)
    gravity.gravity_forces(P, tree, q, drain, rest)
    for j in range(n):
        add(p, j, -load(drain, j))
        store(still, j, fill(work, 0.0))
    rnea.bias_forces(P, tree, q, qd, drain, rest)
    coriolis.coriolis_matrix(P, tree, q, qd, C, rest)
    add_product(C, qd, still)
    add_transposed_product(C, qd, still)
    for j in range(n):
        add(drain, j, -load(still, j))


@kernel
def observe(p, drain, tau, observed, ko, period, external, observed_next):
    """One step of the observer: see momentum_observer."""
    for j in range(tau.shape[0]):
        gap = load(ko, j) * (load(p, j) - load(observed, j))
        store(external, j, gap)
        store(observed_next, j, load(observed, j) + load(period, 0) * (load(tau, j) - load(drain, j) + gap))


@kernel
def momentum_observer(P, tree, q, qd, tau, observed, ko, period, external, observed_next, work):
    """External torques x as r, where dr/dt = ko (x - r); of momenta, so that no accelerations are needed.

    r = ko (p - o), do/dt = tau - drain + r; `observed` is o now, `observed_next` after a period under tau. Begin with
    o = p, the momenta at the start: 0 for a robot at rest.
    """
    n = P.shape[1]
    p, drain = work[:n], work[n : 2 * n]
    momentum_parts(P, tree, q, qd, p, drain, work[2 * n :])
    observe(p, drain, tau, observed, ko, period, external, observed_next)


@kernel
def coupled_momentum_observer(
    P, tree, G, pattern, q, qd, tau, observed, ko, period, external, observed_next, work
):  # fmt: skip
    n, m = P.shape[1], tau.shape[0]
    p, drain, joint_q, joint_qd = work[:n], work[n : 2 * n], work[2 * n : 3 * n], work[3 * n : 4 * n]
    coupling.positions(G, pattern, q, joint_q)
    coupling.rates(G, pattern, qd, joint_qd)
    momentum_parts(P, tree, joint_q, joint_qd, p, drain, work[4 * n :])
    # joints' values are not read again: those of coordinates take their places
    coupling.forces(G, pattern, p, joint_q[:m])
    coupling.add_rotor_torques(G, qd, joint_q[:m])
    coupling.forces(G, pattern, drain, joint_qd[:m])
    coupling.add_friction(G, qd, joint_qd[:m])
    observe(joint_q[:m], joint_qd[:m], tau, observed, ko, period, external, observed_next)
