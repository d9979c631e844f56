"""Actuator coordinates phi with q = G phi + offset: how each field transforms, on any kind of scalar.

The principle of virtual work: tau_phi = G^T tau, M_phi = G^T M G, C_phi = G^T C G. G is constant, so there is no
extra velocity term. A motor may belong to a coordinate instead of a joint: its rotor and friction act along that
coordinate.

G is sparse: most joints move with one coordinate, and most coordinates move one joint. `G` is a (COUPLING_ROWS, ...)
array of reals and `pattern` a (PATTERN_ROWS, ...) array of integers, which list the entries of G twice:

    by joints       VALUE[k], of joint ROW[k] and coordinate COLUMN[k]: one of each joint, in order, then all others
    by coordinates  FACTOR[k], of coordinate MOVER[k] and joint MOVED[k]: one of each coordinate, then all others
"""

import math

from fastdyn.kernels import crba, rnea, rows
from fastdyn.kernels.joints import TURN
from fastdyn.scalars import add, all_above, all_finite, by_sign, fill, kernel, load, store

VALUE, OFFSET, ARMATURE, VISCOUS, PLUS, MINUS, SMALLEST, FACTOR, COUPLING_ROWS = range(9)
ROW, COLUMN, SIZES, MOVER, MOVED, PATTERN_ROWS = range(6)  # SIZES: joints, coordinates, entries
EPS = 2.0**-52


@kernel
def rates(G, pattern, coordinates, joints):
    """Velocities or accelerations of the joints: G phi'."""
    n = pattern[SIZES, 0]
    for i in range(n):
        store(joints, i, load(coordinates, pattern[COLUMN, i]) * G[VALUE, i])
    for k in range(n, pattern[SIZES, 2]):
        add(joints, pattern[ROW, k], load(coordinates, pattern[COLUMN, k]) * G[VALUE, k])


@kernel
def positions(G, pattern, coordinates, joints):
    """G phi + offset."""
    rates(G, pattern, coordinates, joints)
    for i in range(pattern[SIZES, 0]):
        add(joints, i, G[OFFSET, i])


@kernel
def forces(G, pattern, joints, coordinates):
    """G^T tau."""
    m = pattern[SIZES, 1]
    for c in range(m):
        store(coordinates, c, load(joints, pattern[MOVED, c]) * G[FACTOR, c])
    for k in range(m, pattern[SIZES, 2]):
        add(coordinates, pattern[MOVER, k], load(joints, pattern[MOVED, k]) * G[FACTOR, k])


@kernel
def between(G, pattern, joints, k, l):
    """What entries k and l of G contribute to G^T M G."""
    return load(joints, pattern[SIZES, 0] * pattern[MOVED, k] + pattern[MOVED, l]) * (G[FACTOR, k] * G[FACTOR, l])


@kernel
def matrix(G, pattern, joints, coordinates):
    """G^T M G, row by row."""
    m = pattern[SIZES, 1]
    for a in range(m):
        for b in range(m):
            store(coordinates, m * a + b, between(G, pattern, joints, a, b))
    for k in range(m, pattern[SIZES, 2]):
        for l in range(k + 1):
            a, b = pattern[MOVER, k], pattern[MOVER, l]
            add(coordinates, m * a + b, between(G, pattern, joints, k, l))
            if l < k:
                add(coordinates, m * b + a, between(G, pattern, joints, l, k))


@kernel
def columns(G, pattern, joints, coordinates):
    """J G of a matrix of six rows: each row transforms as forces do."""
    n, m = pattern[SIZES, 0], pattern[SIZES, 1]
    for r in range(6):
        forces(G, pattern, joints[n * r : n * (r + 1)], coordinates[m * r : m * (r + 1)])


@kernel
def hessian(G, pattern, joints, coordinates):
    """G^T H G of each of six matrices."""
    n, m = pattern[SIZES, 0], pattern[SIZES, 1]
    for r in range(6):
        matrix(G, pattern, joints[n * n * r : n * n * (r + 1)], coordinates[m * m * r : m * m * (r + 1)])


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
    """G^T M G of a symmetric M, with the coordinates' own rotors on its diagonal.

    Symmetric to the last bit: the compiler may order the products of entries (a, b) and (b, a) differently, so that one
    is copied from the other.
    """
    m = pattern[SIZES, 1]
    unmirrored_inertia(G, pattern, joints, coordinates)
    for a in range(m):
        for b in range(a):
            store(coordinates, m * a + b, load(coordinates, m * b + a))


@kernel
def unmirrored_inertia(G, pattern, joints, coordinates):
    """As `inertia`, symmetric up to rounding."""
    m = pattern[SIZES, 1]
    matrix(G, pattern, joints, coordinates)
    for c in range(m):
        add(coordinates, m * c + c, G[ARMATURE, c])


@kernel
def add_rotor_energies(G, velocities, kinetic):
    """Adds the kinetic energy of the coordinates' own rotors."""
    for c in range(velocities.shape[0]):
        rate = load(velocities, c)
        add(kinetic, 0, rate * rate * (0.5 * G[ARMATURE, c]))


def forward_dynamics_rows(n):
    return rnea.bias_forces_rows(n) + 3 * n + 2 * n * n


@kernel
def forward_dynamics(P, tree, G, pattern, q, qd, tau, wrenches, qdd, work):
    """The accelerations of phi, from M_phi; returns a coordinate that moves no inertia, or -1."""
    n, m = pattern[SIZES, 0], pattern[SIZES, 1]
    turns, loads, motions, rest = rnea.parts(P, work)
    joint_q, joint_qd, bias = rest[:n], rest[n : 2 * n], rest[2 * n : 3 * n]
    M, M_phi, still = rest[3 * n : 3 * n + n * n], rest[3 * n + n * n :], work[:0]
    positions(G, pattern, q, joint_q)
    rates(G, pattern, qd, joint_qd)
    rnea.outward(P, tree, joint_q, joint_qd, still, turns, loads, motions, False)
    rnea.surroundings(P, tree, wrenches, loads)
    rnea.inward(P, tree, joint_q, joint_qd, still, bias, turns, loads, False)
    forces(G, pattern, bias, qdd)
    add_friction(G, qd, qdd)
    for c in range(m):
        store(qdd, c, load(tau, c) - load(qdd, c))
    composites = work[TURN * n : (TURN + crba.COMPOSITE) * n]  # in place of loads and motions, no longer needed
    crba.clear_scalars(tree, M, fill(turns, 0.0))
    crba.columns(P, tree, joint_q, M, turns, composites, True)
    unmirrored_inertia(G, pattern, M, M_phi)
    return solve(G, M_phi, qdd)


@kernel
def thresholds(P, tree, G, pattern):
    """Writes SMALLEST: rounding errors of the coordinates' inertias, from the joints' by M_ij <= sqrt(M_ii M_jj)."""
    n, m = pattern[SIZES, 0], pattern[SIZES, 1]
    for c in range(m):
        G[SMALLEST, c] = 0.0
    for i in range(n):
        noise, joint = math.sqrt(P[rows.SMALLEST, i]), tree[rows.INDEX, i]
        G[SMALLEST, pattern[COLUMN, joint]] += abs(G[VALUE, joint]) * noise
        for k in range(n, pattern[SIZES, 2]):
            if pattern[ROW, k] == joint:
                G[SMALLEST, pattern[COLUMN, k]] += abs(G[VALUE, k]) * noise
    for c in range(m):
        G[SMALLEST, c] = G[SMALLEST, c] * G[SMALLEST, c] + 4 * n * EPS * G[ARMATURE, c]


@kernel
def solve(G, M, x):
    """Solves M x = b in place, b given in x, by M = L D L^T without pivoting: M is positive definite.

    Returns the first coordinate that moves no inertia that those before it do not, or -1. The upper triangle of M is
    read; it becomes D L^T, the lower one L, the diagonal the inverse of D.
    """
    m = x.shape[0]
    bad = -1
    for i in range(m):
        for j in range(i):
            total = load(M, m * j + i)
            for k in range(j):
                total = total - load(M, m * k + i) * load(M, m * j + k)
            store(M, m * j + i, total)
        pivot, y = load(M, m * i + i), load(x, i)
        for j in range(i):
            entry = load(M, m * j + i)
            factor = entry * load(M, m * j + j)
            store(M, m * i + j, factor)
            pivot = pivot - factor * entry
            y = y - factor * load(x, j)
        if bad < 0 and all_finite(pivot) and not all_above(pivot, G[SMALLEST, i]):
            bad = i
        store(M, m * i + i, 1.0 / pivot)
        store(x, i, y)
    for i in range(m - 1, -1, -1):
        total = load(x, i) * load(M, m * i + i)
        for j in range(i + 1, m):
            total = total - load(M, m * j + i) * load(x, j)
        store(x, i, total)
    return bad
