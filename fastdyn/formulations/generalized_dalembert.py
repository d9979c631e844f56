"""Generalized d'Alembert (Lee 1983): D, h_tran, h_rot and c of arms with rotary joints, each sum computed once, O(n^3).

000, eqs. (3.4-24) to (3.4-28), with the effects of translation and rotation of the links kept separate. The equations
repeat sums over lower joints in every term, and generalized_dalembert_literal.py follows them, O(n^5); here each of
these sums is computed once. Joints and links are numbered from 0: z_j is the axis of joint j, p_j the origin of the
frame that joint j rotates in.
"""

from fastdyn.formulations.dh_rows import *
from fastdyn.formulations.links import centre, gravity, inertia, rotation, span
from fastdyn.scalars import kernel, load, store
from fastdyn.scalars.vectors import (
    column,
    cross,
    dot,
    load_matrix,
    load_vector,
    matrix_product,
    matrix_vector,
    minus,
    plus,
    store_matrix,
    store_vector,
    times,
    transposed_vector,
    unit_matrix,
    zero_vector,
)

# rows of a link s, in frame 0 unless stated otherwise: R, z, p, p*, c (its centre of mass from p), r (from the base),
# w and the Coriolis part of w', the velocity part of the centre's acceleration; w and that part of w' in frame s
R, AXIS, ORIGIN, SPAN, CENTRE, POSITION, OMEGA, CORIOLIS, ACCELERATION, OWN_OMEGA, OWN_CORIOLIS, SLOTS = (
    0, 9, 12, 15, 18, 21, 24, 27, 30, 33, 36, 39,
)  # fmt: skip
# rows of a pair (s, j), joint j moving link s: z_j in frame s, I_s times that, z_j x (r_s - p_j)
OWN_AXIS, MOMENTUM, PARTIAL, PAIR = 0, 3, 6, 9


def work_rows(n: int) -> int:
    return SLOTS * n + PAIR * n * n


@kernel
def pair(n, s, j):
    return SLOTS * n + PAIR * (n * s + j)


@kernel
def generalized_dalembert(P, kinds, q, qd, qdd, tau, D_tran, D_rot, h_tran, h_rot, c, work):
    n = P.shape[1]
    geometry(P, kinds, q, work)
    own_axes(work, n)
    turned_axes(P, work, n)
    sweeps(work, n)
    rotational_inertia(D_rot, work, n)
    translational_inertia(P, D_tran, work, n)
    base_velocities(qd, work, n)
    centre_accelerations(work, n)
    translational_velocity_torques(P, h_tran, work, n)
    own_velocities(qd, work, n)
    rotational_velocity_torques(P, h_rot, work, n)
    gravity_torques(P, c, work, n)
    torques(qdd, tau, D_tran, D_rot, h_tran, h_rot, c, n)


@kernel
def geometry(P, kinds, q, work):
    """R, z, p, p*, c and r of every link in frame 0. (3.4-3)"""
    R0, p = unit_matrix(work), zero_vector(work)
    for s in range(P.shape[1]):
        row = SLOTS * s
        store_vector(work, row + AXIS, column(R0, 2))
        store_vector(work, row + ORIGIN, p)
        if s == 0:
            R0 = rotation(P, kinds, q, s)
        else:
            R0 = matrix_product(R0, rotation(P, kinds, q, s))
        step = matrix_vector(R0, span(P, kinds, q, s))
        c = plus(step, matrix_vector(R0, centre(P, s)))
        store_matrix(work, row + R, R0)
        store_vector(work, row + SPAN, step)
        store_vector(work, row + CENTRE, c)
        store_vector(work, row + POSITION, plus(p, c))
        p = plus(p, step)


@kernel
def own_axes(work, n):
    """^sR_0 z_j: axes in the frame of link s, for all j up to s."""
    for s in range(n):
        R0 = load_matrix(work, SLOTS * s + R)
        for j in range(s + 1):
            z = load_vector(work, SLOTS * j + AXIS)
            store_vector(work, pair(n, s, j) + OWN_AXIS, transposed_vector(R0, z))


@kernel
def turned_axes(P, work, n):
    """I_s ^sR_0 z_j: angular momentum of link s per unit rate of joint j, in frame s."""
    for s in range(n):
        for j in range(s + 1):
            row = pair(n, s, j)
            store_vector(work, row + MOMENTUM, matrix_vector(inertia(P, s), load_vector(work, row + OWN_AXIS)))


@kernel
def sweeps(work, n):
    """z_j x (r_s - p_j): velocity of the centre of mass of link s per unit rate of joint j. (3.4-7)"""
    for s in range(n):
        r = load_vector(work, SLOTS * s + POSITION)
        for j in range(s + 1):
            z, p = load_vector(work, SLOTS * j + AXIS), load_vector(work, SLOTS * j + ORIGIN)
            store_vector(work, pair(n, s, j) + PARTIAL, cross(z, minus(r, p)))


@kernel
def rotational_inertia(D_rot, work, n):
    """D_rot, first sum of (3.4-25)."""
    for i in range(n):
        for j in range(i, n):
            total = rotational_term(work, n, j, i, j)
            for s in range(j + 1, n):
                total = total + rotational_term(work, n, s, i, j)
            store(D_rot, n * i + j, total)
            store(D_rot, n * j + i, total)


@kernel
def rotational_term(work, n, s, i, j):
    """Link s in D_rot,ij."""
    return dot(load_vector(work, pair(n, s, i) + OWN_AXIS), load_vector(work, pair(n, s, j) + MOMENTUM))


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
    """Link s in D_tran,ij."""
    return P[MASS, s] * dot(load_vector(work, pair(n, s, j) + PARTIAL), load_vector(work, pair(n, s, i) + PARTIAL))


@kernel
def base_velocities(qd, work, n):
    """w_s = sum of qd_p z_p (3.4-1), and the sum over p of w_{p-1} x qd_p z_p, both up to s."""
    w, coriolis = zero_vector(work), zero_vector(work)
    for s in range(n):
        joint_rate = times(load(qd, s), load_vector(work, SLOTS * s + AXIS))
        if s > 0:
            coriolis = plus(coriolis, cross(w, joint_rate))
        w = plus(w, joint_rate)
        store_vector(work, SLOTS * s + OMEGA, w)
        store_vector(work, SLOTS * s + CORIOLIS, coriolis)


@kernel
def bias_acceleration(work, s, arm):
    """w_s x (w_s x arm) + (sum of w x qd z) x arm: acceleration of the end of the arm at qdd = 0."""
    w, coriolis = load_vector(work, SLOTS * s + OMEGA), load_vector(work, SLOTS * s + CORIOLIS)
    return plus(cross(w, cross(w, arm)), cross(coriolis, arm))


@kernel
def centre_accelerations(work, n):
    """Accelerations of the centres of mass at qdd = 0 without gravity: the braces of (3.4-26)."""
    carried = zero_vector(work)
    for s in range(n):
        row = SLOTS * s
        own = bias_acceleration(work, s, load_vector(work, row + CENTRE))
        store_vector(work, row + ACCELERATION, plus(carried, own))
        if s < n - 1:
            carried = plus(carried, bias_acceleration(work, s, load_vector(work, row + SPAN)))


@kernel
def translational_velocity_torques(P, h_tran, work, n):
    """h_tran (3.4-26)."""
    for s in range(n):
        force = times(P[MASS, s], load_vector(work, SLOTS * s + ACCELERATION))
        for i in range(s + 1):
            term = dot(force, load_vector(work, pair(n, s, i) + PARTIAL))
            store(h_tran, i, term if i == s else load(h_tran, i) + term)


@kernel
def own_velocities(qd, work, n):
    """w_s (3.4-2), and the sum over j of qd_j z_j x (sum over k > j of qd_k z_k), in frame s."""
    for s in range(n):
        later = times(load(qd, s), load_vector(work, pair(n, s, s) + OWN_AXIS))
        coriolis = zero_vector(work)
        for j in range(s - 1, -1, -1):
            joint_rate = times(load(qd, j), load_vector(work, pair(n, s, j) + OWN_AXIS))
            coriolis = plus(coriolis, cross(joint_rate, later))
            later = plus(later, joint_rate)
        store_vector(work, SLOTS * s + OWN_OMEGA, later)
        store_vector(work, SLOTS * s + OWN_CORIOLIS, coriolis)


@kernel
def rotational_velocity_torques(P, h_rot, work, n):
    """h_rot (3.4-27)."""
    for s in range(n):
        w, coriolis = load_vector(work, SLOTS * s + OWN_OMEGA), load_vector(work, SLOTS * s + OWN_CORIOLIS)
        spin = matrix_vector(inertia(P, s), w)
        for i in range(s + 1):
            z = load_vector(work, pair(n, s, i) + OWN_AXIS)
            term = dot(load_vector(work, pair(n, s, i) + MOMENTUM), coriolis) + dot(cross(z, w), spin)
            store(h_rot, i, term if i == s else load(h_rot, i) + term)


@kernel
def gravity_torques(P, c, work, n):
    """c_i = -g . [z_i x sum over j of m_j (r_j - p_i)]. (3.4-28)"""
    g = gravity(P)
    for i in range(n):
        p = load_vector(work, SLOTS * i + ORIGIN)
        total = times(P[MASS, i], minus(load_vector(work, SLOTS * i + POSITION), p))
        for j in range(i + 1, n):
            total = plus(total, times(P[MASS, j], minus(load_vector(work, SLOTS * j + POSITION), p)))
        store(c, i, -dot(g, cross(load_vector(work, SLOTS * i + AXIS), total)))


@kernel
def torques(qdd, tau, D_tran, D_rot, h_tran, h_rot, c, n):
    """tau_i = sum of D_ij qdd_j + h_tran + h_rot + c. (3.4-24)"""
    for i in range(n):
        total = load(h_tran, i) + load(h_rot, i) + load(c, i)
        for j in range(n):
            total = total + (load(D_tran, n * i + j) + load(D_rot, n * i + j)) * load(qdd, j)
        store(tau, i, total)
