"""Generalized d'Alembert, some sums computed once and some again: the procedure nearest to the counts of Table 3.5.

000, eqs. (3.4-24) to (3.4-28), O(n^3). Fig. 3.9, which shows the procedure that the table counts, is missing from the
copy used here. Of the procedures of study/counts/dalembert.py this one comes nearest: without (3.4-24) its
multiplications are the published ones but for the constant. It differs from generalized_dalembert.py in that

    z_j x (r_s - p_j) is computed again for every D_ij, from r_s - p_j, which is kept
    ^sR_0 z_j takes a product for j < s only, because z_s is constant in frame s
    w_k and its Coriolis sum are computed again for every k
    the accelerations of the links below link s are computed again for every s
    h_tran is two sums over s, as printed, each term with its mass
    I_s w_s is computed again for every joint i
"""

from fastdyn.formulations.dh_rows import *
from fastdyn.formulations.generalized_dalembert import (
    AXIS,
    CENTRE,
    CORIOLIS,
    MOMENTUM,
    OMEGA,
    ORIGIN,
    OWN_AXIS,
    OWN_CORIOLIS,
    OWN_OMEGA,
    PAIR,
    PARTIAL,
    POSITION,
    SLOTS,
    SPAN,
    R,
    bias_acceleration,
    geometry,
    gravity_torques,
    own_velocities,
    pair,
    rotational_inertia,
    torques,
    turned_axes,
)
from fastdyn.formulations.links import axis, inertia
from fastdyn.scalars import kernel, load, store
from fastdyn.scalars.vectors import (
    cross,
    dot,
    load_matrix,
    load_vector,
    matrix_vector,
    minus,
    plus,
    store_vector,
    times,
    transposed_vector,
    zero_vector,
)


def work_rows(n: int) -> int:
    return SLOTS * n + (PAIR + 3) * n * n


@kernel
def arm_row(n, s, j):
    """Where r_s - p_j is kept, after the pairs."""
    return SLOTS * n + PAIR * n * n + 3 * (n * s + j)


@kernel
def generalized_dalembert_nearest(P, kinds, q, qd, qdd, tau, D_tran, D_rot, h_tran, h_rot, c, work):
    n = P.shape[1]
    geometry(P, kinds, q, work)
    lower_axes(P, work, n)
    turned_axes(P, work, n)
    arms_and_sweeps(work, n)
    rotational_inertia(D_rot, work, n)
    translational_inertia(P, D_tran, work, n)
    base_velocities(qd, work, n)
    translational_velocity_torques(P, h_tran, work, n)
    own_velocities(qd, work, n)
    rotational_velocity_torques(P, h_rot, work, n)
    gravity_torques(P, c, work, n)
    torques(qdd, tau, D_tran, D_rot, h_tran, h_rot, c, n)


@kernel
def lower_axes(P, work, n):
    """^sR_0 z_j: axes in the frame of link s, by a product for j below s."""
    for s in range(n):
        R0 = load_matrix(work, SLOTS * s + R)
        for j in range(s):
            z = load_vector(work, SLOTS * j + AXIS)
            store_vector(work, pair(n, s, j) + OWN_AXIS, transposed_vector(R0, z))
        store_vector(work, pair(n, s, s) + OWN_AXIS, axis(P, work, s))


@kernel
def arms_and_sweeps(work, n):
    """r_s - p_j and z_j x (r_s - p_j). (3.4-7)"""
    for s in range(n):
        r = load_vector(work, SLOTS * s + POSITION)
        for j in range(s + 1):
            arm = minus(r, load_vector(work, SLOTS * j + ORIGIN))
            store_vector(work, arm_row(n, s, j), arm)
            store_vector(work, pair(n, s, j) + PARTIAL, cross(load_vector(work, SLOTS * j + AXIS), arm))


@kernel
def translational_inertia(P, D_tran, work, n):
    """D_tran, second sum of (3.4-25)."""
    for i in range(n):
        for j in range(i, n):
            total = translational_term(P, work, n, j, i, j)
            for s in range(j + 1, n):
                total = total + translational_term(P, work, n, s, i, j)
            store(D_tran, n * i + j, total)
            store(D_tran, n * j + i, total)


@kernel
def translational_term(P, work, n, s, i, j):
    """Link s in D_tran,ij: the first bracket is computed here, the second is kept."""
    first = cross(load_vector(work, SLOTS * j + AXIS), load_vector(work, arm_row(n, s, j)))
    return P[MASS, s] * dot(first, load_vector(work, pair(n, s, i) + PARTIAL))


@kernel
def base_velocities(qd, work, n):
    """w_k = sum of qd_p z_p (3.4-1), and the sum over p of w_{p-1} x qd_p z_p, each summed from p = 0 for every k."""
    for k in range(n):
        w = times(load(qd, 0), load_vector(work, AXIS))
        coriolis = zero_vector(work)
        for p in range(1, k + 1):
            rate = times(load(qd, p), load_vector(work, SLOTS * p + AXIS))
            term = cross(w, rate)
            coriolis = term if p == 1 else plus(coriolis, term)
            w = plus(w, rate)
        store_vector(work, SLOTS * k + OMEGA, w)
        store_vector(work, SLOTS * k + CORIOLIS, coriolis)


@kernel
def lower_acceleration(work, s):
    """What the links below link s > 0 give its centre of mass at qdd = 0: the first brace of (3.4-26)."""
    total = bias_acceleration(work, 0, load_vector(work, SPAN))
    for k in range(1, s):
        total = plus(total, bias_acceleration(work, k, load_vector(work, SLOTS * k + SPAN)))
    return total


@kernel
def translational_velocity_torques(P, h_tran, work, n):
    """h_tran (3.4-26), two sums over s."""
    for s in range(n):
        own = bias_acceleration(work, s, load_vector(work, SLOTS * s + CENTRE))
        lower = lower_acceleration(work, s) if s > 0 else own
        for i in range(s + 1):
            partial = load_vector(work, pair(n, s, i) + PARTIAL)
            term = P[MASS, s] * dot(own, partial)
            if s > 0:
                term = term + P[MASS, s] * dot(lower, partial)
            store(h_tran, i, term if i == s else load(h_tran, i) + term)


@kernel
def rotational_velocity_torques(P, h_rot, work, n):
    """h_rot (3.4-27)."""
    for s in range(n):
        w, coriolis = load_vector(work, SLOTS * s + OWN_OMEGA), load_vector(work, SLOTS * s + OWN_CORIOLIS)
        for i in range(s + 1):
            z = load_vector(work, pair(n, s, i) + OWN_AXIS)
            spin = matrix_vector(inertia(P, s), w)
            term = dot(load_vector(work, pair(n, s, i) + MOMENTUM), coriolis) + dot(cross(z, w), spin)
            store(h_rot, i, term if i == s else load(h_rot, i) + term)
