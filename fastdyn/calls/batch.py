"""(T, columns) arrays of samples -> blocks of lanes -> kernels. The compiled entry points, one for each quantity.

Each runs on whatever its buffers hold: 1-D buffers mean one sample at a time, (rows, LANES) buffers LANES at a time. A
block that the samples do not fill is filled up with the last one, so that no result depends on what stands beside it.
All return a status: 2 (joint + 1) if some joint moves no inertia, plus 1 if an input or a result is not finite.
"""

from fastdyn.kernels import aba, coriolis, crba, gravity, momentum, rnea, velocities
from fastdyn.scalars import all_finite, entry, fill, give, kernel, take, width


@kernel
def not_finite(check):
    return 0 if all_finite(check) else 1


def inverse_dynamics_rows(n):
    return 9 * n + n + rnea.inverse_dynamics_rows(n)


@entry
def inverse_dynamics(P, tree, q, qd, qdd, wrenches, tau, scratch):
    n = P.shape[1]
    X_q = scratch[0 * n : 1 * n]
    X_qd = scratch[1 * n : 2 * n]
    X_qdd = scratch[2 * n : 3 * n]
    W = scratch[3 * n : 9 * n if wrenches.shape[0] > 0 else 3 * n]
    Y, work = scratch[9 * n : 9 * n + n], scratch[9 * n + n :]
    check = fill(scratch, 0.0)
    for first in range(0, q.shape[0], width(scratch)):
        check = check + take(q, first, X_q, 0)
        check = check + take(qd, first, X_qd, 0)
        check = check + take(qdd, first, X_qdd, 0)
        if wrenches.shape[0] > 0:
            check = check + take(wrenches, first, W, 0)
        rnea.inverse_dynamics(P, tree, X_q, X_qd, X_qdd, W, Y, work)
        check = check + give(Y, 0, tau, first)
    return not_finite(check)


def bias_forces_rows(n):
    return 2 * n + n + rnea.bias_forces_rows(n)


@entry
def bias_forces(P, tree, q, qd, tau, scratch):
    n = P.shape[1]
    X_q = scratch[0 * n : 1 * n]
    X_qd = scratch[1 * n : 2 * n]
    Y, work = scratch[2 * n : 2 * n + n], scratch[2 * n + n :]
    check = fill(scratch, 0.0)
    for first in range(0, q.shape[0], width(scratch)):
        check = check + take(q, first, X_q, 0)
        check = check + take(qd, first, X_qd, 0)
        rnea.bias_forces(P, tree, X_q, X_qd, Y, work)
        check = check + give(Y, 0, tau, first)
    return not_finite(check)


def joint_reactions_rows(n):
    return 9 * n + 6 * n + rnea.joint_reactions_rows(n)


@entry
def joint_reactions(P, tree, q, qd, qdd, wrenches, F, scratch):
    n = P.shape[1]
    X_q = scratch[0 * n : 1 * n]
    X_qd = scratch[1 * n : 2 * n]
    X_qdd = scratch[2 * n : 3 * n]
    W = scratch[3 * n : 9 * n if wrenches.shape[0] > 0 else 3 * n]
    Y, work = scratch[9 * n : 9 * n + 6 * n], scratch[9 * n + 6 * n :]
    check = fill(scratch, 0.0)
    for first in range(0, q.shape[0], width(scratch)):
        check = check + take(q, first, X_q, 0)
        check = check + take(qd, first, X_qd, 0)
        check = check + take(qdd, first, X_qdd, 0)
        if wrenches.shape[0] > 0:
            check = check + take(wrenches, first, W, 0)
        rnea.joint_reactions(P, tree, X_q, X_qd, X_qdd, W, Y, work)
        check = check + give(Y, 0, F, first)
    return not_finite(check)


def gravity_forces_rows(n):
    return 1 * n + n + gravity.gravity_forces_rows(n)


@entry
def gravity_forces(P, tree, q, tau, scratch):
    n = P.shape[1]
    X_q = scratch[0 * n : 1 * n]
    Y, work = scratch[1 * n : 1 * n + n], scratch[1 * n + n :]
    check = fill(scratch, 0.0)
    for first in range(0, q.shape[0], width(scratch)):
        check = check + take(q, first, X_q, 0)
        gravity.gravity_forces(P, tree, X_q, Y, work)
        check = check + give(Y, 0, tau, first)
    return not_finite(check)


def potential_energy_rows(n):
    return 1 * n + 1 + gravity.potential_energy_rows(n)


@entry
def potential_energy(P, tree, q, energy, scratch):
    n = P.shape[1]
    X_q = scratch[0 * n : 1 * n]
    Y, work = scratch[1 * n : 1 * n + 1], scratch[1 * n + 1 :]
    check = fill(scratch, 0.0)
    for first in range(0, q.shape[0], width(scratch)):
        check = check + take(q, first, X_q, 0)
        gravity.potential_energy(P, tree, X_q, Y, work)
        check = check + give(Y, 0, energy, first)
    return not_finite(check)


def kinetic_energy_rows(n):
    return 2 * n + 1 + velocities.kinetic_energy_rows(n)


@entry
def kinetic_energy(P, tree, q, qd, energy, scratch):
    n = P.shape[1]
    X_q = scratch[0 * n : 1 * n]
    X_qd = scratch[1 * n : 2 * n]
    Y, work = scratch[2 * n : 2 * n + 1], scratch[2 * n + 1 :]
    check = fill(scratch, 0.0)
    for first in range(0, q.shape[0], width(scratch)):
        check = check + take(q, first, X_q, 0)
        check = check + take(qd, first, X_qd, 0)
        velocities.kinetic_energy(P, tree, X_q, X_qd, Y, work)
        check = check + give(Y, 0, energy, first)
    return not_finite(check)


def mass_matrix_rows(n):
    return 1 * n + n * n + crba.mass_matrix_rows(n)


@entry
def mass_matrix(P, tree, q, M, scratch):
    n = P.shape[1]
    X_q = scratch[0 * n : 1 * n]
    Y, work = scratch[1 * n : 1 * n + n * n], scratch[1 * n + n * n :]
    check = fill(scratch, 0.0)
    for first in range(0, q.shape[0], width(scratch)):
        check = check + take(q, first, X_q, 0)
        crba.mass_matrix(P, tree, X_q, Y, work)
        check = check + give(Y, 0, M, first)
    return not_finite(check)


def coriolis_matrix_rows(n):
    return 2 * n + n * n + coriolis.coriolis_matrix_rows(n)


@entry
def coriolis_matrix(P, tree, q, qd, C, scratch):
    n = P.shape[1]
    X_q = scratch[0 * n : 1 * n]
    X_qd = scratch[1 * n : 2 * n]
    Y, work = scratch[2 * n : 2 * n + n * n], scratch[2 * n + n * n :]
    check = fill(scratch, 0.0)
    for first in range(0, q.shape[0], width(scratch)):
        check = check + take(q, first, X_q, 0)
        check = check + take(qd, first, X_qd, 0)
        coriolis.coriolis_matrix(P, tree, X_q, X_qd, Y, work)
        check = check + give(Y, 0, C, first)
    return not_finite(check)


def total_momentum_rows(n):
    return 2 * n + 6 + momentum.momentum_rows(n)


@entry
def total_momentum(P, tree, q, qd, result, scratch):
    n = P.shape[1]
    X_q = scratch[0 * n : 1 * n]
    X_qd = scratch[1 * n : 2 * n]
    Y, work = scratch[2 * n : 2 * n + 6], scratch[2 * n + 6 :]
    check = fill(scratch, 0.0)
    for first in range(0, q.shape[0], width(scratch)):
        check = check + take(q, first, X_q, 0)
        check = check + take(qd, first, X_qd, 0)
        momentum.momentum(P, tree, X_q, X_qd, Y, work)
        check = check + give(Y, 0, result, first)
    return not_finite(check)


def center_of_mass_rows(n):
    return 1 * n + 3 + momentum.center_of_mass_rows(n)


@entry
def center_of_mass(P, tree, q, result, scratch):
    n = P.shape[1]
    X_q = scratch[0 * n : 1 * n]
    Y, work = scratch[1 * n : 1 * n + 3], scratch[1 * n + 3 :]
    check = fill(scratch, 0.0)
    for first in range(0, q.shape[0], width(scratch)):
        check = check + take(q, first, X_q, 0)
        momentum.center_of_mass(P, tree, X_q, Y, work)
        check = check + give(Y, 0, result, first)
    return not_finite(check)


def forward_dynamics_aba_rows(n):
    return 9 * n + n + aba.forward_dynamics_rows(n)


@entry
def forward_dynamics_aba(P, tree, q, qd, tau, wrenches, qdd, scratch):
    n = P.shape[1]
    X_q = scratch[0 * n : 1 * n]
    X_qd = scratch[1 * n : 2 * n]
    X_tau = scratch[2 * n : 3 * n]
    W = scratch[3 * n : 9 * n if wrenches.shape[0] > 0 else 3 * n]
    Y, work = scratch[9 * n : 9 * n + n], scratch[9 * n + n :]
    check = fill(scratch, 0.0)
    bad = -1
    for first in range(0, q.shape[0], width(scratch)):
        check = check + take(q, first, X_q, 0)
        check = check + take(qd, first, X_qd, 0)
        check = check + take(tau, first, X_tau, 0)
        if wrenches.shape[0] > 0:
            check = check + take(wrenches, first, W, 0)
        bad = max(bad, aba.forward_dynamics(P, tree, X_q, X_qd, X_tau, W, Y, work))
        check = check + give(Y, 0, qdd, first)
    return 2 * (bad + 1) + not_finite(check)


def forward_dynamics_crba_rows(n):
    return 9 * n + n + crba.forward_dynamics_rows(n)


@entry
def forward_dynamics_crba(P, tree, q, qd, tau, wrenches, qdd, scratch):
    n = P.shape[1]
    X_q = scratch[0 * n : 1 * n]
    X_qd = scratch[1 * n : 2 * n]
    X_tau = scratch[2 * n : 3 * n]
    W = scratch[3 * n : 9 * n if wrenches.shape[0] > 0 else 3 * n]
    Y, work = scratch[9 * n : 9 * n + n], scratch[9 * n + n :]
    check = fill(scratch, 0.0)
    bad = -1
    for first in range(0, q.shape[0], width(scratch)):
        check = check + take(q, first, X_q, 0)
        check = check + take(qd, first, X_qd, 0)
        check = check + take(tau, first, X_tau, 0)
        if wrenches.shape[0] > 0:
            check = check + take(wrenches, first, W, 0)
        bad = max(bad, crba.forward_dynamics(P, tree, X_q, X_qd, X_tau, W, Y, work))
        check = check + give(Y, 0, qdd, first)
    return 2 * (bad + 1) + not_finite(check)
