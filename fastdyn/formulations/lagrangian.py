"""Kinetic and potential energy by 4x4 matrices: what Lagrange's equations differentiate. (3.2-14) to (3.2-22).

K = 1/2 sum over i, p and r of Tr(U_ip J_i U_ir^T) qd_p qd_r and P = - sum over i of m_i g ^0A_i r_i, link by link from
the base outward: U_ip = dA_i/dq_p are carried from link to link. Joints and links are numbered from 0 here.
"""

from fastdyn.formulations.dh_rows import *
from fastdyn.formulations.matrices import (
    SIZE,
    identity,
    link_transform,
    multiply,
    multiply_transposed,
    pseudo_inertia,
    q_times,
    trace,
)
from fastdyn.scalars import fill, kernel, load, store

# matrices: ^0A_i, ^{i-1}A_i, J_i, two products, and U_i0 ... U_i,n-1
POSE, STEP, PSEUDO, SPARE, OTHER, PARTIALS = (SIZE * k for k in range(6))


def work_rows(n: int) -> int:
    return PARTIALS + SIZE * n


@kernel
def lagrangian(P, kinds, q, qd, kinetic, potential, work):
    K, V = fill(work, 0.0), fill(work, 0.0)
    identity(work, POSE)
    for i in range(P.shape[1]):
        link_transform(P, kinds, q, work, STEP, i)
        partials(kinds, work, i)
        pseudo_inertia(P, work, PSEUDO, i)
        K = K + link_kinetic_energy(qd, work, i)
        V = V + link_potential_energy(P, work, i)
    store(kinetic, 0, K)
    store(potential, 0, V)


@kernel
def partials(kinds, work, i):
    """U_ip = U_{i-1,p} ^{i-1}A_i for p < i, U_ii = ^0A_{i-1} Q_i ^{i-1}A_i (3.2-11), and ^0A_i (3.2-4)."""
    for p in range(i):
        multiply(work, SPARE, PARTIALS + SIZE * p, STEP)
        move(work, PARTIALS + SIZE * p, SPARE)
    q_times(kinds, work, SPARE, STEP, i)
    multiply(work, PARTIALS + SIZE * i, POSE, SPARE)
    multiply(work, SPARE, POSE, STEP)
    move(work, POSE, SPARE)


@kernel
def move(work, C, A):
    """C = A."""
    for k in range(SIZE):
        store(work, C + k, load(work, A + k))


@kernel
def link_kinetic_energy(qd, work, i):
    """K_i, half the sum over p and r of Tr(U_ip J_i U_ir^T) qd_p qd_r. (3.2-16)"""
    total = fill(work, 0.0)
    for p in range(i + 1):
        multiply(work, SPARE, PARTIALS + SIZE * p, PSEUDO)
        for r in range(i + 1):
            multiply_transposed(work, OTHER, SPARE, PARTIALS + SIZE * r)
            total = total + trace(work, OTHER) * load(qd, p) * load(qd, r)
    return 0.5 * total


@kernel
def link_potential_energy(P, work, i):
    """P_i = -m_i g ^0A_i r_i. (3.2-21)"""
    total = fill(work, 0.0)
    for row in range(3):
        at = POSE + 4 * row
        height = load(work, at) * P[SX, i] + load(work, at + 1) * P[SY, i] + load(work, at + 2) * P[SZ, i]
        total = total + P[LIFT_X + row, i] * (height + load(work, at + 3))
    return total
