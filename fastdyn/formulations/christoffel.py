"""Euler-Lagrange by body Jacobians and Christoffel symbols. Norrlöf, Algorithm 2.

    D = sum over links of m J_v^T J_v + J_w^T R I R^T J_w                                    step 1, (3.38)
    c_ijp = (dd_pj/dq_i + dd_pi/dq_j - dd_ij/dq_p) / 2,   C_pj = sum over i of c_ijp qd_i    step 3, (3.46)
    g_p = dV/dq_p                                                                            step 4
    tau = D qdd + C qd + g                                                                   step 5, (3.44)

Columns of J_v are z x (r - o) or z, those of J_w are z or 0 (2.54), (2.63). Joint i rotates all that it carries, so
dJ_v,p/dq_i = z_min x J_v,max with min and max of p and i (zero if joint min is prismatic), and in the frame of a link
beyond joint i > p, d(R^T z_p)/dq_i = R^T z_p x R^T z_i. Results: c is g, c_ijp is in row n (n i + j) + p.
"""

from fastdyn.formulations.dh_rows import *
from fastdyn.formulations.links import centre, gravity, inertia, is_rotary, rotation, span
from fastdyn.scalars import add, fill, kernel, load, store
from fastdyn.scalars.vectors import (
    column,
    cross,
    dot,
    load_vector,
    matrix_product,
    matrix_vector,
    minus,
    plus,
    store_vector,
    transposed_vector,
    unit_matrix,
    zero_vector,
)

# rows of a joint: axis z (0 if prismatic) and origin o in frame 0; for the current link J_v, R^T J_w, I R^T J_w
TURN, ORIGIN, VELOCITY, OMEGA, SPIN, SLOTS = 0, 3, 6, 9, 12, 15


def work_rows(n: int) -> int:
    return SLOTS * n + n * n * n


@kernel
def partial(n, p, j, i):
    """Row of dd_pj/dq_i."""
    return SLOTS * n + n * (n * p + j) + i


@kernel
def symbol(n, i, j, p):
    """Row of c_ijp."""
    return n * (n * i + j) + p


@kernel
def christoffel(P, kinds, q, qd, qdd, tau, D, C, c, c_ijp, work):
    n = P.shape[1]
    zero = fill(work, 0.0)
    for k in range(n):
        store(c, k, zero)
    for k in range(n * n):
        store(D, k, zero)
    for k in range(n * n * n):
        store(work, SLOTS * n + k, zero)
    R0, o = unit_matrix(work), zero_vector(work)
    for s in range(n):
        z = column(R0, 2)
        store_vector(work, SLOTS * s + TURN, z if is_rotary(kinds, s) else zero_vector(work))
        store_vector(work, SLOTS * s + ORIGIN, o)
        R0 = matrix_product(R0, rotation(P, kinds, q, s))
        o = plus(o, matrix_vector(R0, span(P, kinds, q, s)))
        r = plus(o, matrix_vector(R0, centre(P, s)))
        body_jacobian(P, kinds, work, s, R0, r, z)
        inertia_and_gravity(P, D, c, work, s)
        partials(P, work, n, s)
    christoffel_symbols(c_ijp, work, n)
    coriolis_matrix(qd, C, c_ijp, n)
    torques(qd, qdd, tau, D, C, c, n)


@kernel
def body_jacobian(P, kinds, work, s, R0, r, z):
    """J_v of the centre of mass of link s (2.63), (2.58), and R^T J_w (3.37), for the joints up to s.

    z: the axis of joint s. The column of a prismatic joint in J_v is its axis, the same for all later links.
    """
    I = inertia(P, s)
    for j in range(s + 1):
        row = SLOTS * j
        turn = load_vector(work, row + TURN)
        if is_rotary(kinds, j):
            store_vector(work, row + VELOCITY, cross(turn, minus(r, load_vector(work, row + ORIGIN))))
        elif j == s:
            store_vector(work, row + VELOCITY, z)
        w = transposed_vector(R0, turn)
        store_vector(work, row + OMEGA, w)
        store_vector(work, row + SPIN, matrix_vector(I, w))


@kernel
def inertia_and_gravity(P, D, c, work, s):
    """Adds link s to D (3.38) and to g = dV/dq."""
    n, m = P.shape[1], P[MASS, s]
    for p in range(s + 1):
        velocity, w = load_vector(work, SLOTS * p + VELOCITY), load_vector(work, SLOTS * p + OMEGA)
        add(c, p, -(m * dot(gravity(P), velocity)))
        for j in range(p, s + 1):
            row = SLOTS * j
            term = m * dot(velocity, load_vector(work, row + VELOCITY)) + dot(w, load_vector(work, row + SPIN))
            add(D, n * p + j, term)
            if j > p:
                add(D, n * j + p, term)


@kernel
def velocity_partial(work, p, i):
    """dJ_v,p/dq_i."""
    turn = load_vector(work, SLOTS * min(p, i) + TURN)
    return cross(turn, load_vector(work, SLOTS * max(p, i) + VELOCITY))


@kernel
def omega_partial(work, p, i):
    """d(R^T z_p)/dq_i for i > p."""
    return cross(load_vector(work, SLOTS * p + OMEGA), load_vector(work, SLOTS * i + OMEGA))


@kernel
def half_partial(P, work, s, p, j, i):
    """The half of dd_pj/dq_i that comes from the derivative of column p."""
    total = P[MASS, s] * dot(velocity_partial(work, p, i), load_vector(work, SLOTS * j + VELOCITY))
    if i > p:
        total = total + dot(omega_partial(work, p, i), load_vector(work, SLOTS * j + SPIN))
    return total


@kernel
def partials(P, work, n, s):
    """Adds link s to dd_pj/dq_i, for all p, j, i up to s."""
    for p in range(s + 1):
        for j in range(p, s + 1):
            for i in range(s + 1):
                term = half_partial(P, work, s, p, j, i) + half_partial(P, work, s, j, p, i)
                add(work, partial(n, p, j, i), term)
                if j > p:
                    add(work, partial(n, j, p, i), term)


@kernel
def christoffel_symbols(c_ijp, work, n):
    """c_ijp = c_jip. (3.46)"""
    for p in range(n):
        for i in range(n):
            for j in range(i, n):
                total = load(work, partial(n, p, j, i)) + load(work, partial(n, p, i, j))
                total = 0.5 * (total - load(work, partial(n, i, j, p)))
                store(c_ijp, symbol(n, i, j, p), total)
                store(c_ijp, symbol(n, j, i, p), total)


@kernel
def coriolis_matrix(qd, C, c_ijp, n):
    """C_pj = sum over i of c_ijp qd_i. (3.45), which omits the rate in print"""
    for p in range(n):
        for j in range(n):
            total = load(c_ijp, symbol(n, 0, j, p)) * load(qd, 0)
            for i in range(1, n):
                total = total + load(c_ijp, symbol(n, i, j, p)) * load(qd, i)
            store(C, n * p + j, total)


@kernel
def torques(qd, qdd, tau, D, C, c, n):
    """tau = D qdd + C qd + g. (3.44)"""
    for p in range(n):
        total = load(c, p)
        for j in range(n):
            total = total + load(D, n * p + j) * load(qdd, j) + load(C, n * p + j) * load(qd, j)
        store(tau, p, total)
