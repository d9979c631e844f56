"""(T, columns) arrays of samples -> blocks of lanes -> kernels. The compiled entry points, one for each quantity.

Each runs on whatever its buffers hold: 1-D buffers mean one sample at a time, (rows, LANES) buffers LANES at a time. A
block that the samples do not fill is filled up with the last one, so that no result depends on what stands beside it.
All return a status: 2 (joint + 1) if some joint moves no inertia, plus 1 if an input or a result is not finite.
"""

from fastdyn.kernels import aba, coriolis, crba, gravity, rnea, velocities
from fastdyn.scalars import all_finite, entry, fill, give, kernel, load, store, take, width


@kernel
def clear(X, row, count):
    for i in range(count):
        store(X, row + i, fill(X, 0.0))


@kernel
def not_finite(check):
    return 0 if all_finite(check) else 1


# rows of scratch that each entry needs, for n joints
def newton_euler_rows(n):
    return (10 + rnea.WORK) * n


def bias_rows(n):
    return (4 + rnea.WORK) * n


def kinetic_rows(n):
    return (2 + velocities.WORK) * n


def mass_rows(n):
    return (1 + crba.WORK) * n + n * n


def coriolis_rows(n):
    return (2 + velocities.SLOTS + coriolis.WORK) * n + n * n


def aba_rows(n):
    return (11 + aba.WORK) * n


def crba_rows(n):
    return (11 + rnea.WORK) * n + n * n


@entry
def inverse_dynamics(P, T, q, qd, qdd, wrenches, tau, scratch):
    """wrenches: (T, 6 n), or no samples for none."""
    n = P.shape[1]
    X, W, work = scratch[: 4 * n], scratch[4 * n : 10 * n], scratch[10 * n :]
    check = fill(X, 0.0)
    for first in range(0, q.shape[0], width(X)):
        check = check + take(q, first, X, 0)
        check = check + take(qd, first, X, n)
        check = check + take(qdd, first, X, 2 * n)
        rnea.outward(P, T, X, work)
        if wrenches.shape[0] > 0:
            check = check + take(wrenches, first, W, 0)
            rnea.surroundings(P, T, W, work)
        rnea.inward(P, T, X, work)
        check = check + give(X, 3 * n, tau, first)
    return not_finite(check)


@entry
def bias_forces(P, T, q, qd, tau, scratch):
    n = P.shape[1]
    X, work = scratch[: 4 * n], scratch[4 * n :]
    check = fill(X, 0.0)
    clear(X, 2 * n, n)
    for first in range(0, q.shape[0], width(X)):
        check = check + take(q, first, X, 0)
        check = check + take(qd, first, X, n)
        rnea.outward(P, T, X, work)
        rnea.inward(P, T, X, work)
        check = check + give(X, 3 * n, tau, first)
    return not_finite(check)


@entry
def gravity_forces(P, T, q, tau, scratch):
    n = P.shape[1]
    X, work = scratch[: 4 * n], scratch[4 * n :]
    check = fill(X, 0.0)
    for first in range(0, q.shape[0], width(X)):
        check = check + take(q, first, X, 0)
        gravity.outward(P, T, X, work)
        rnea.inward(P, T, X, work)
        check = check + give(X, 3 * n, tau, first)
    return not_finite(check)


@entry
def potential_energy(P, T, q, energy, scratch):
    """energy: (T, 1), without what no joint can feel."""
    n = P.shape[1]
    X, work = scratch[: 4 * n], scratch[4 * n :]
    check = fill(X, 0.0)
    for first in range(0, q.shape[0], width(X)):
        check = check + take(q, first, X, 0)
        value = gravity.outward(P, T, X, work)
        store(X, 0, value)
        check = check + give(X, 0, energy, first)
    return not_finite(check)


@entry
def kinetic_energy(P, T, q, qd, energy, scratch):
    """energy: (T, 1)."""
    n = P.shape[1]
    X, work, speeds = scratch[: 2 * n], scratch[2 * n : 4 * n], scratch[4 * n :]
    check = fill(X, 0.0)
    for first in range(0, q.shape[0], width(X)):
        check = check + take(q, first, X, 0)
        check = check + take(qd, first, X, n)
        value = velocities.kinetic_energy(P, T, X, work, speeds)
        store(X, 0, value)
        check = check + give(X, 0, energy, first)
    return not_finite(check)


@entry
def mass_matrix(P, T, q, M, scratch):
    """M: (T, n * n)."""
    n = P.shape[1]
    X, work = scratch[: n + n * n], scratch[n + n * n :]
    check = fill(X, 0.0)
    clear(X, n, n * n)
    for first in range(0, q.shape[0], width(X)):
        check = check + take(q, first, X, 0)
        crba.mass_matrix(P, T, X, work)
        check = check + give(X, n, M, first)
    return not_finite(check)


@entry
def coriolis_matrix(P, T, q, qd, C, scratch):
    """C: (T, n * n)."""
    n = P.shape[1]
    end = (2 + velocities.SLOTS) * n + n * n
    X, speeds, work = scratch[: 2 * n + n * n], scratch[2 * n + n * n : end], scratch[end:]
    check = fill(X, 0.0)
    clear(X, 2 * n, n * n)
    for first in range(0, q.shape[0], width(X)):
        check = check + take(q, first, X, 0)
        check = check + take(qd, first, X, n)
        coriolis.coriolis_matrix(P, T, X, work, speeds)
        check = check + give(X, 2 * n, C, first)
    return not_finite(check)


@entry
def joint_reactions(P, T, q, qd, qdd, wrenches, F, scratch):
    """F: (T, 6 n); T: every link a FORK."""
    n = P.shape[1]
    X, W, work = scratch[: 4 * n], scratch[4 * n : 10 * n], scratch[10 * n :]
    check = fill(X, 0.0)
    for first in range(0, q.shape[0], width(X)):
        check = check + take(q, first, X, 0)
        check = check + take(qd, first, X, n)
        check = check + take(qdd, first, X, 2 * n)
        rnea.outward(P, T, X, work)
        if wrenches.shape[0] > 0:
            check = check + take(wrenches, first, W, 0)
            rnea.surroundings(P, T, W, work)
        rnea.inward(P, T, X, work)
        rnea.reactions(P, T, work, W)
        check = check + give(W, 0, F, first)
    return not_finite(check)


@entry
def forward_dynamics_aba(P, T, q, qd, tau, wrenches, qdd, scratch):
    n = P.shape[1]
    X, W, work = scratch[: 5 * n], scratch[5 * n : 11 * n], scratch[11 * n :]
    check = fill(X, 0.0)
    bad = -1
    for first in range(0, q.shape[0], width(X)):
        check = check + take(q, first, X, 0)
        check = check + take(qd, first, X, n)
        clear(X, 2 * n, n)
        check = check + take(tau, first, X, 4 * n)
        rnea.outward(P, T, X, work)
        if wrenches.shape[0] > 0:
            check = check + take(wrenches, first, W, 0)
            rnea.surroundings(P, T, W, work)
        bad = max(bad, aba.inward(P, T, X, work))
        aba.outward(P, T, X, work)
        check = check + give(X, 2 * n, qdd, first)
    return 2 * (bad + 1) + not_finite(check)


@entry
def forward_dynamics_crba(P, T, q, qd, tau, wrenches, qdd, scratch):
    n = P.shape[1]
    X, W, M = scratch[: 4 * n], scratch[4 * n : 10 * n], scratch[10 * n : 11 * n + n * n]
    work = scratch[11 * n + n * n :]
    check = fill(X, 0.0)
    bad = -1
    clear(M, n, n * n)
    for first in range(0, q.shape[0], width(X)):
        check = check + take(q, first, X, 0)
        check = check + take(qd, first, X, n)
        clear(X, 2 * n, n)
        rnea.outward(P, T, X, work)
        if wrenches.shape[0] > 0:
            check = check + take(wrenches, first, W, 0)
            rnea.surroundings(P, T, W, work)
        rnea.inward(P, T, X, work)
        check = check + take(tau, first, X, 2 * n)
        for i in range(n):
            store(M, i, load(X, i))
            store(X, 2 * n + i, load(X, 2 * n + i) - load(X, 3 * n + i))
        crba.columns(P, T, M, work)  # whose turns rnea.outward has left in `work`
        bad = max(bad, crba.factorise(P, T, M, n))
        crba.solve(T, M, n, X, 2 * n)
        check = check + give(X, 2 * n, qdd, first)
    return 2 * (bad + 1) + not_finite(check)
