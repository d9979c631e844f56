"""Generalized d'Alembert with every sum where (3.4-25) to (3.4-27) print it: O(n^5).

000, eqs. (3.4-24) to (3.4-28). Each coefficient is computed by its own equation from the rotations, axes and positions
of the links, which the equations take as given and which are computed once. Nothing else is kept for the next term, sum
or coefficient. D has three nested sums, h_rot four (i, s, j, k), h_tran five (i, s, k, p, q): that is the order n^5.
generalized_dalembert.py computes the same in O(n^3), each sum once. D_ij is computed for i <= j, as (3.4-25) says.
Joints and links are numbered from 0 here, as there.
"""

from fastdyn.formulations.dh_rows import *
from fastdyn.formulations.generalized_dalembert import (
    AXIS,
    CENTRE,
    ORIGIN,
    POSITION,
    SLOTS,
    SPAN,
    R,
    geometry,
    gravity_torques,
    torques,
)
from fastdyn.formulations.links import inertia
from fastdyn.scalars import kernel, load, store
from fastdyn.scalars.vectors import (
    cross,
    dot,
    load_matrix,
    load_vector,
    matrix_vector,
    minus,
    plus,
    times,
    transposed_vector,
)


def work_rows(n: int) -> int:
    return SLOTS * n


@kernel
def generalized_dalembert_literal(P, kinds, q, qd, qdd, tau, D_tran, D_rot, h_tran, h_rot, c, work):
    n = P.shape[1]
    geometry(P, kinds, q, work)
    for i in range(n):
        for j in range(i, n):
            rotational_inertia(P, D_rot, work, n, i, j)
            translational_inertia(P, D_tran, work, n, i, j)
        translational_velocity_torque(P, qd, h_tran, work, n, i)
        rotational_velocity_torque(P, qd, h_rot, work, n, i)
    gravity_torques(P, c, work, n)
    torques(qdd, tau, D_tran, D_rot, h_tran, h_rot, c, n)


@kernel
def own_axis(work, s, j):
    """^sR_0 z_j."""
    return transposed_vector(load_matrix(work, SLOTS * s + R), load_vector(work, SLOTS * j + AXIS))


@kernel
def sweep(work, s, j):
    """z_j x (r_s - p_j)."""
    arm = minus(load_vector(work, SLOTS * s + POSITION), load_vector(work, SLOTS * j + ORIGIN))
    return cross(load_vector(work, SLOTS * j + AXIS), arm)


# ------------------------------------------------------------------------------------------ D, (3.4-25)


@kernel
def rotational_inertia(P, D_rot, work, n, i, j):
    """D_rot,ij: the sum over s from j of (^sR_0 z_i)^T I_s (^sR_0 z_j)."""
    total = rotational_term(P, work, j, i, j)
    for s in range(j + 1, n):
        total = total + rotational_term(P, work, s, i, j)
    store(D_rot, n * i + j, total)
    store(D_rot, n * j + i, total)


@kernel
def rotational_term(P, work, s, i, j):
    return dot(own_axis(work, s, i), matrix_vector(inertia(P, s), own_axis(work, s, j)))


@kernel
def translational_inertia(P, D_tran, work, n, i, j):
    """D_tran,ij: the sum over s from j of m_s [z_j x (r_s - p_j)] . [z_i x (r_s - p_i)]."""
    total = translational_term(P, work, j, i, j)
    for s in range(j + 1, n):
        total = total + translational_term(P, work, s, i, j)
    store(D_tran, n * i + j, total)
    store(D_tran, n * j + i, total)


@kernel
def translational_term(P, work, s, i, j):
    return P[MASS, s] * dot(sweep(work, s, j), sweep(work, s, i))


# ------------------------------------------------------------------------------------------ h_tran, (3.4-26)


@kernel
def joint_rate(qd, work, p):
    """qd_p z_p."""
    return times(load(qd, p), load_vector(work, SLOTS * p + AXIS))


@kernel
def rate_sum(qd, work, last):
    """The sum over p from 0 to last of qd_p z_p."""
    total = joint_rate(qd, work, 0)
    for p in range(1, last + 1):
        total = plus(total, joint_rate(qd, work, p))
    return total


@kernel
def coriolis_term(qd, work, p, arm):
    """[(sum over q < p of qd_q z_q) x qd_p z_p] x arm."""
    return cross(cross(rate_sum(qd, work, p - 1), joint_rate(qd, work, p)), arm)


@kernel
def bias_acceleration(qd, work, k, arm):
    """A brace of (3.4-26), with arm p*_k or c_s: w_k x (w_k x arm), and the sum over p of the Coriolis terms."""
    total = cross(rate_sum(qd, work, k), cross(rate_sum(qd, work, k), arm))
    if k > 0:
        coriolis = coriolis_term(qd, work, 1, arm)
        for p in range(2, k + 1):
            coriolis = plus(coriolis, coriolis_term(qd, work, p, arm))
        total = plus(total, coriolis)
    return total


@kernel
def lower_links_torque(P, qd, work, s, i):
    """Link s in the first sum over s: what the links below it contribute, for s > 0."""
    total = bias_acceleration(qd, work, 0, load_vector(work, SPAN))
    for k in range(1, s):
        total = plus(total, bias_acceleration(qd, work, k, load_vector(work, SLOTS * k + SPAN)))
    return P[MASS, s] * dot(total, sweep(work, s, i))


@kernel
def own_link_torque(P, qd, work, s, i):
    """Link s in the second sum over s: its own part."""
    own = bias_acceleration(qd, work, s, load_vector(work, SLOTS * s + CENTRE))
    return P[MASS, s] * dot(own, sweep(work, s, i))


@kernel
def translational_velocity_torque(P, qd, h_tran, work, n, i):
    """h_tran,i: two sums over s from i."""
    total = own_link_torque(P, qd, work, i, i)
    for s in range(i + 1, n):
        total = total + own_link_torque(P, qd, work, s, i)
    for s in range(max(i, 1), n):
        total = total + lower_links_torque(P, qd, work, s, i)
    store(h_tran, i, total)


# ------------------------------------------------------------------------------------------ h_rot, (3.4-27)


@kernel
def own_joint_rate(qd, work, s, j):
    """qd_j ^sR_0 z_j."""
    return times(load(qd, j), own_axis(work, s, j))


@kernel
def own_rate_sum(qd, work, s, first):
    """The sum over k from first to s of qd_k ^sR_0 z_k."""
    total = own_joint_rate(qd, work, s, first)
    for k in range(first + 1, s + 1):
        total = plus(total, own_joint_rate(qd, work, s, k))
    return total


@kernel
def own_coriolis_term(qd, work, s, j):
    """qd_j ^sR_0 z_j x (sum over k > j of qd_k ^sR_0 z_k)."""
    return cross(own_joint_rate(qd, work, s, j), own_rate_sum(qd, work, s, j + 1))


@kernel
def rotational_velocity_term(P, qd, work, s, i):
    """Link s in h_rot,i; the first term is zero for s = 0."""
    spin = matrix_vector(inertia(P, s), own_rate_sum(qd, work, s, 0))
    total = dot(cross(own_axis(work, s, i), own_rate_sum(qd, work, s, 0)), spin)
    if s > 0:
        coriolis = own_coriolis_term(qd, work, s, 0)
        for j in range(1, s):
            coriolis = plus(coriolis, own_coriolis_term(qd, work, s, j))
        total = dot(own_axis(work, s, i), matrix_vector(inertia(P, s), coriolis)) + total
    return total


@kernel
def rotational_velocity_torque(P, qd, h_rot, work, n, i):
    """h_rot,i: the sum over s from i."""
    total = rotational_velocity_term(P, qd, work, i, i)
    for s in range(i + 1, n):
        total = total + rotational_velocity_term(P, qd, work, s, i)
    store(h_rot, i, total)
