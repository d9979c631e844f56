"""Lagrange-Euler (Uicker 1965, Bejczy 1974): 4x4 matrices, O(n^4). Fu, Gonzalez and Lee, (3.2-5) to (3.2-34).

tau_i = sum_k D_ik qdd_k + sum_k sum_m h_ikm qd_k qd_m + c_i, each coefficient a sum of traces. Every trace computes its
matrices U again, each in one full product, as Table 3.1 counts.

Joints and links are numbered from 1, as in the book. `lagrange_euler_table` also computes the traces of h_ikm that are
zero, those with j < i, because Table 3.1 counts them. `simplified` leaves out the velocity forces h (section 3.3).
"""

from fastdyn.formulations.dh_rows import *
from fastdyn.formulations.matrices import (
    SIZE,
    clear,
    identity,
    link_transform,
    multiply,
    multiply_transposed,
    pseudo_inertia,
    q_times,
    trace,
)
from fastdyn.scalars import kernel, load, store

SPARE = 7


def lagrange_euler_rows(n: int) -> int:
    """The frames ^jA_i, the matrices U_ij, the pseudo-inertias J_i and SPARE matrices more."""
    return SIZE * ((n + 1) * (n + 1) + n * n + n + SPARE)


lagrange_euler_table_rows = lagrange_euler_rows


def simplified_rows(n: int) -> int:
    """D, c, and the matrices of Lagrange-Euler."""
    return n * n + n + lagrange_euler_rows(n)


@kernel
def frame(n, j, i):
    """First row of ^jA_i, frame i in frame j."""
    return SIZE * ((n + 1) * j + i)


@kernel
def partial(n, i, j):
    """First row of U_ij."""
    return SIZE * ((n + 1) * (n + 1) + n * (i - 1) + j - 1)


@kernel
def pseudo(n, i):
    """First row of J_i."""
    return SIZE * ((n + 1) * (n + 1) + n * n + i - 1)


@kernel
def spare(n, k):
    return SIZE * ((n + 1) * (n + 1) + n * n + n + k)


@kernel
def lagrange_euler(P, kinds, q, qd, qdd, tau, D, h, c, h_ikm, work):
    coefficients(P, kinds, q, D, c, h_ikm, work, False)
    torques(P.shape[1], qd, qdd, tau, D, h, c, h_ikm)


@kernel
def lagrange_euler_table(P, kinds, q, qd, qdd, tau, D, h, c, h_ikm, work):
    coefficients(P, kinds, q, D, c, h_ikm, work, True)
    torques(P.shape[1], qd, qdd, tau, D, h, c, h_ikm)


@kernel
def simplified(P, kinds, q, qd, qdd, tau, work):
    """D(q) qdd + c(q)."""
    n = P.shape[1]
    D, c, matrices = work[: n * n], work[n * n : n * n + n], work[n * n + n :]
    link_matrices(P, kinds, q, matrices)
    frame_products(n, matrices)
    gravity_loading(P, kinds, c, matrices)
    inertia_coefficients(kinds, D, matrices, n)
    for i in range(n):
        store(tau, i, inertia_torque(n, D, qdd, i) + load(c, i))


@kernel
def coefficients(P, kinds, q, D, c, h_ikm, work, zeros):
    """D_ik, h_ikm and c_i. zeros: compute the traces of h_ikm that are zero, too."""
    n = P.shape[1]
    link_matrices(P, kinds, q, work)
    frame_products(n, work)
    gravity_loading(P, kinds, c, work)
    inertia_coefficients(kinds, D, work, n)
    coriolis_coefficients(kinds, h_ikm, work, n, zeros)


@kernel
def link_matrices(P, kinds, q, work):
    """^{i-1}A_i (3.2-5), J_i (3.2-17)."""
    n = P.shape[1]
    for i in range(n + 1):
        identity(work, frame(n, i, i))
    for i in range(1, n + 1):
        link_transform(P, kinds, q, work, frame(n, i - 1, i), i - 1)
        pseudo_inertia(P, work, pseudo(n, i), i - 1)
    clear(work, spare(n, 6))


@kernel
def frame_products(n, work):
    """^jA_i = ^jA_{i-1} ^{i-1}A_i, for all j < i - 1. (3.2-4)"""
    for j in range(n - 1):
        for i in range(j + 2, n + 1):
            multiply(work, frame(n, j, i), frame(n, j, i - 1), frame(n, i - 1, i))


@kernel
def first_partial(kinds, work, target, n, i, j):
    """U_ij = ^0A_{j-1} Q_j ^{j-1}A_i if j <= i, else 0. (3.2-11)"""
    q_times(kinds, work, spare(n, 0), frame(n, j - 1, i) if j <= i else spare(n, 6), j - 1)
    multiply(work, target, frame(n, 0, j - 1), spare(n, 0))


@kernel
def second_partial(kinds, work, target, n, i, j, k):
    """U_ijk = ^0A_{j-1} Q_j ^{j-1}A_{k-1} Q_k ^{k-1}A_i for j <= k <= i. (3.2-13)

    The first half is U_{k-1,j}, known from the gravity terms; for k = j it is ^0A_{j-1} Q_j.
    """
    q_times(kinds, work, spare(n, 0), frame(n, k - 1, i), k - 1)
    if j == k:
        q_times(kinds, work, spare(n, 1), spare(n, 0), j - 1)
        multiply(work, target, frame(n, 0, j - 1), spare(n, 1))
    else:
        multiply(work, target, partial(n, k - 1, j), spare(n, 0))


@kernel
def gravity_loading(P, kinds, c, work):
    """c_i = sum over j = i..n of -m_j g U_ji ^jr_j. (3.2-34)"""
    n = P.shape[1]
    for j in range(1, n + 1):
        for i in range(1, j + 1):
            term = gravity_term(P, kinds, work, j, i)
            store(c, i - 1, term if j == i else load(c, i - 1) + term)


@kernel
def gravity_term(P, kinds, work, j, i):
    """-m_j g U_ji ^jr_j; computes U_ji, which is free for joint 1, where ^0A_0 is the identity."""
    n, link = P.shape[1], j - 1
    U = partial(n, j, i)
    if i == 1:
        q_times(kinds, work, U, frame(n, 0, j), 0)
    else:
        first_partial(kinds, work, U, n, j, i)
    if P[GX, link] == 0 and P[GY, link] == 0:  # a level base: g = (0, 0, -|g|, 0)
        x, y, z, last = weight_row_level(P, work, U, link)
    else:
        x, y, z, last = weight_row(P, work, U, link)
    return x * P[SX, link] + y * P[SY, link] + z * P[SZ, link] + last * 1.0


@kernel
def weight_row_level(P, work, U, link):
    """The row -m g U where g has only its third component."""
    m = P[LIFT_Z, link]
    return m * load(work, U + 8), m * load(work, U + 9), m * load(work, U + 10), m * load(work, U + 11)


@kernel
def weight_row(P, work, U, link):
    """The row -m g U."""
    x, y, z = P[LIFT_X, link], P[LIFT_Y, link], P[LIFT_Z, link]
    return (
        x * load(work, U) + y * load(work, U + 4) + z * load(work, U + 8),
        x * load(work, U + 1) + y * load(work, U + 5) + z * load(work, U + 9),
        x * load(work, U + 2) + y * load(work, U + 6) + z * load(work, U + 10),
        x * load(work, U + 3) + y * load(work, U + 7) + z * load(work, U + 11),
    )


@kernel
def inertia_coefficients(kinds, D, work, n):
    """D_ik = sum over j = max(i, k)..n of Tr(U_jk J_j U_ji^T), symmetric. (3.2-31)"""
    for i in range(1, n + 1):
        for k in range(i, n + 1):
            total = inertia_trace(kinds, work, n, k, k, i)
            for j in range(k + 1, n + 1):
                total = total + inertia_trace(kinds, work, n, j, k, i)
            store(D, n * (i - 1) + k - 1, total)
            store(D, n * (k - 1) + i - 1, total)


@kernel
def inertia_trace(kinds, work, n, j, k, i):
    """Tr(U_jk J_j U_ji^T): four products and a trace."""
    first_partial(kinds, work, spare(n, 2), n, j, k)
    first_partial(kinds, work, spare(n, 3), n, j, i)
    multiply(work, spare(n, 4), spare(n, 2), pseudo(n, j))
    multiply_transposed(work, spare(n, 5), spare(n, 4), spare(n, 3))
    return trace(work, spare(n, 5))


@kernel
def coriolis_coefficients(kinds, h_ikm, work, n, zeros):
    """h_ikm = sum over j = max(i, k, m)..n of Tr(U_jkm J_j U_ji^T), symmetric in k and m. (3.2-33)

    zeros: from j = max(k, m) on for every i; U_ji = 0 for j < i.
    """
    for i in range(1, n + 1):
        for k in range(1, n + 1):
            for m in range(k, n + 1):
                first = m if zeros else max(i, m)
                total = coriolis_trace(kinds, work, n, first, k, m, i)
                for j in range(first + 1, n + 1):
                    total = total + coriolis_trace(kinds, work, n, j, k, m, i)
                store(h_ikm, n * (n * (i - 1) + k - 1) + m - 1, total)
                store(h_ikm, n * (n * (i - 1) + m - 1) + k - 1, total)


@kernel
def coriolis_trace(kinds, work, n, j, k, m, i):
    """Tr(U_jkm J_j U_ji^T): four products and a trace."""
    second_partial(kinds, work, spare(n, 2), n, j, k, m)
    first_partial(kinds, work, spare(n, 3), n, j, i)
    multiply(work, spare(n, 4), spare(n, 2), pseudo(n, j))
    multiply_transposed(work, spare(n, 5), spare(n, 4), spare(n, 3))
    return trace(work, spare(n, 5))


@kernel
def torques(n, qd, qdd, tau, D, h, c, h_ikm):
    """tau = D(q) qdd + h(q, qd) + c(q). (3.2-26)"""
    for i in range(n):
        store(h, i, velocity_torque(n, h_ikm, qd, i))
        store(tau, i, inertia_torque(n, D, qdd, i) + load(h, i) + load(c, i))


@kernel
def inertia_torque(n, D, qdd, i):
    """sum over k of D_ik qdd_k."""
    total = load(D, n * i) * load(qdd, 0)
    for k in range(1, n):
        total = total + load(D, n * i + k) * load(qdd, k)
    return total


@kernel
def velocity_torque(n, h_ikm, qd, i):
    """h_i = sum over k and m of h_ikm qd_k qd_m. (3.2-32)"""
    total = load(h_ikm, n * n * i) * load(qd, 0) * load(qd, 0)
    for k in range(n):
        for m in range(n):
            if k + m > 0:
                total = total + load(h_ikm, n * (n * i + k) + m) * load(qd, k) * load(qd, m)
    return total
