"""Actuator coordinates phi with q = G phi + offset: how each field transforms, on any kind of scalar.

The principle of virtual work: tau_phi = G^T tau, M_phi = G^T M G, C_phi = G^T C G. G is constant, so there is no
extra velocity term. G is sparse (a row for each joint, most with one entry): `G` is a (COUPLING_ROWS, ...) array of
reals and `pattern` a (3, ...) array of integers; joint i's entries are START[i] to START[i + 1]. A motor may belong
to a coordinate instead of a joint: its rotor and friction act along that coordinate.
"""

from fastdyn.kernels import crba, rnea
from fastdyn.scalars import add, all_above, all_finite, by_sign, fill, kernel, load, store

VALUE, OFFSET, ARMATURE, VISCOUS, PLUS, MINUS, SMALLEST, COUPLING_ROWS = range(8)
START, COLUMN, SIZES, PATTERN_ROWS = range(4)  # SIZES: joints, coordinates


@kernel
def rates(G, pattern, coordinates, joints):
    """Velocities or accelerations of the joints: G phi'."""
    for i in range(pattern[SIZES, 0]):
        total = fill(joints, 0.0)
        for k in range(pattern[START, i], pattern[START, i + 1]):
            total = total + load(coordinates, pattern[COLUMN, k]) * G[VALUE, k]
        store(joints, i, total)


@kernel
def positions(G, pattern, coordinates, joints):
    """G phi + offset."""
    rates(G, pattern, coordinates, joints)
    for i in range(pattern[SIZES, 0]):
        add(joints, i, G[OFFSET, i])


@kernel
def forces(G, pattern, joints, coordinates):
    """G^T tau."""
    for c in range(pattern[SIZES, 1]):
        store(coordinates, c, fill(coordinates, 0.0))
    for i in range(pattern[SIZES, 0]):
        for k in range(pattern[START, i], pattern[START, i + 1]):
            add(coordinates, pattern[COLUMN, k], load(joints, i) * G[VALUE, k])


@kernel
def matrix(G, pattern, joints, coordinates):
    """G^T M G, row by row."""
    n, m = pattern[SIZES, 0], pattern[SIZES, 1]
    for c in range(m * m):
        store(coordinates, c, fill(coordinates, 0.0))
    for i in range(n):
        for j in range(n):
            entry = load(joints, n * i + j)
            for k in range(pattern[START, i], pattern[START, i + 1]):
                row = entry * G[VALUE, k]
                for l in range(pattern[START, j], pattern[START, j + 1]):
                    add(coordinates, m * pattern[COLUMN, k] + pattern[COLUMN, l], row * G[VALUE, l])


@kernel
def add_rotor_torques(G, accelerations, tau):
    """Adds the torques that accelerate the coordinates' own rotors."""
    for c in range(tau.shape[0]):
        add(tau, c, load(accelerations, c) * G[ARMATURE, c])


@kernel
def add_friction(G, velocities, tau):
    """Adds the friction of the coordinates' own motors."""
    for c in range(tau.shape[0]):
        rate = load(velocities, c)
        add(tau, c, rate * G[VISCOUS, c] + by_sign(rate, G[PLUS, c], G[MINUS, c]))


@kernel
def inertia(G, pattern, joints, coordinates):
    """G^T M G of a symmetric M, symmetric to the last bit, with the coordinates' own rotors on its diagonal.

    Only upper triangles are read and summed: M_ij adds to entry (a, b) or (b, a), whichever is in the upper one, and
    twice if i and j move with the same coordinate.
    """
    n, m = pattern[SIZES, 0], pattern[SIZES, 1]
    for c in range(m * m):
        store(coordinates, c, fill(coordinates, 0.0))
    for i in range(n):
        for j in range(i, n):
            entry = load(joints, n * i + j)
            for k in range(pattern[START, i], pattern[START, i + 1]):
                a, row = pattern[COLUMN, k], entry * G[VALUE, k]
                for l in range(pattern[START, j], pattern[START, j + 1]):
                    b = pattern[COLUMN, l]
                    if i < j and a == b:
                        add(coordinates, m * a + a, row * (2.0 * G[VALUE, l]))
                    elif i < j or a <= b:
                        add(coordinates, m * min(a, b) + max(a, b), row * G[VALUE, l])
    for a in range(m):
        add(coordinates, m * a + a, G[ARMATURE, a])
        for b in range(a):
            store(coordinates, m * a + b, load(coordinates, m * b + a))


@kernel
def add_rotor_energies(G, velocities, kinetic):
    """Adds the kinetic energy of the coordinates' own rotors."""
    for c in range(velocities.shape[0]):
        rate = load(velocities, c)
        add(kinetic, 0, rate * rate * (0.5 * G[ARMATURE, c]))


def forward_dynamics_rows(n):
    return 5 * n + 2 * n * n + max(rnea.inverse_dynamics_rows(n), crba.mass_matrix_rows(n))


@kernel
def forward_dynamics(P, tree, G, pattern, q, qd, tau, wrenches, qdd, work):
    """The accelerations of phi, from M_phi; returns a coordinate that moves no inertia, or -1."""
    n, m = pattern[SIZES, 0], pattern[SIZES, 1]
    joint_q, joint_qd, still = work[:n], work[n : 2 * n], work[2 * n : 3 * n]
    bias, bias_phi = work[3 * n : 4 * n], work[4 * n : 4 * n + m]
    end = 5 * n + n * n
    M, M_phi, rest = work[5 * n : end], work[end : end + m * m], work[end + n * n :]
    positions(G, pattern, q, joint_q)
    rates(G, pattern, qd, joint_qd)
    for i in range(n):
        store(still, i, fill(work, 0.0))
    rnea.inverse_dynamics(P, tree, joint_q, joint_qd, still, wrenches, bias, rest)
    forces(G, pattern, bias, bias_phi)
    add_friction(G, qd, bias_phi)
    crba.mass_matrix(P, tree, joint_q, M, rest)
    inertia(G, pattern, M, M_phi)
    for c in range(m):
        store(qdd, c, load(tau, c) - load(bias_phi, c))
    return solve(G, M_phi, qdd)


@kernel
def solve(G, M, x):
    """Solves M x = b in place, b given in x, by elimination without pivoting: M is positive definite.

    Returns the first coordinate that moves no inertia that those before it do not, or -1. The upper triangle of M is
    read and overwritten.
    """
    m = x.shape[0]
    bad = -1
    for k in range(m):
        pivot = load(M, m * k + k)
        if bad < 0 and all_finite(pivot) and not all_above(pivot, G[SMALLEST, k]):
            bad = k
        over = 1.0 / pivot
        for i in range(k + 1, m):
            factor = load(M, m * k + i) * over
            for j in range(i, m):
                add(M, m * i + j, -(factor * load(M, m * k + j)))
            add(x, i, -(factor * load(x, k)))
        store(x, k, load(x, k) * over)
        for i in range(k + 1, m):
            store(M, m * k + i, load(M, m * k + i) * over)
    for k in range(m - 2, -1, -1):
        total = load(x, k)
        for j in range(k + 1, m):
            total = total - load(M, m * k + j) * load(x, j)
        store(x, k, total)
    return bad
