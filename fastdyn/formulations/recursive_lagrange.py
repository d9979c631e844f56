"""Recursive Lagrange with 4x4 matrices (Hollerbach 1980): the sums of Lagrange-Euler as two recursions, O(n).

W_i is ^0A_i. Outward: its first and second derivatives in time. Inward: sums over all links beyond joint i,

    tau_i = Tr(dW_i/dq_i D_i) - g dW_i/dq_i c_i,  D_i = J_i W''_i^T + A_{i+1} D_{i+1},  c_i = m_i r_i + A_{i+1} c_{i+1}
"""

from fastdyn.formulations.dh_rows import *
from fastdyn.formulations.matrices import (
    SIZE,
    accumulate,
    clear,
    identity,
    link_transform,
    multiply,
    multiply_transposed,
    pseudo_inertia,
    q_times,
)
from fastdyn.scalars import fill, kernel, load, store

# matrices of a link: A_i, dW_i/dq_i, W''_i
LINK, PARTIAL, SECOND, PER_LINK = 0, 1, 2, 3
# and of all: W_i and W_{i-1}, W'_i and W'_{i-1}, W''_0, four spare ones, D_i and D_{i+1}; then the vectors c_i, c_{i+1}
SPARE = 11
VECTORS = 8


def work_rows(n: int) -> int:
    return SIZE * (PER_LINK * n + SPARE) + VECTORS


@kernel
def of_link(i, what):
    return SIZE * (PER_LINK * i + what)


@kernel
def recursive_lagrange(P, kinds, q, qd, qdd, tau, work):
    n = P.shape[1]
    outward(P, kinds, q, qd, qdd, work, n)
    inward(P, tau, work, n)


@kernel
def outward(P, kinds, q, qd, qdd, work, n):
    """W_i, W'_i, W''_i from the base outward."""
    first = SIZE * PER_LINK * n
    W, W_before, V, V_before, A_before = first, first + SIZE, first + 2 * SIZE, first + 3 * SIZE, first + 4 * SIZE
    dA, ddA, one, two = first + 5 * SIZE, first + 6 * SIZE, first + 7 * SIZE, first + 8 * SIZE
    identity(work, W_before)
    clear(work, V_before)
    clear(work, A_before)
    for i in range(n):
        A, dW, second = of_link(i, LINK), of_link(i, PARTIAL), of_link(i, SECOND)
        rate, acceleration = load(qd, i), load(qdd, i)
        link_transform(P, kinds, q, work, A, i)
        q_times(kinds, work, dA, A, i)  # dA_i/dq_i = Q_i A_i (3.2-9)
        q_times(kinds, work, ddA, dA, i)
        multiply(work, dW, W_before, dA)  # dW_i/dq_i = W_{i-1} dA_i/dq_i
        multiply(work, W, W_before, A)  # W_i = W_{i-1} A_i

        # W'_i = W'_{i-1} A_i + dW_i/dq_i qd_i
        multiply(work, V, V_before, A)
        add_scaled(work, V, dW, rate)

        # W''_i = W''_{i-1} A_i + 2 W'_{i-1} dA_i/dq_i qd_i + W_{i-1} d2A_i/dq_i2 qd_i^2 + dW_i/dq_i qdd_i
        multiply(work, second, A_before if i == 0 else of_link(i - 1, SECOND), A)
        multiply(work, one, V_before, dA)
        add_scaled(work, second, one, rate + rate)
        multiply(work, two, W_before, ddA)
        add_scaled(work, second, two, rate * rate)
        add_scaled(work, second, dW, acceleration)
        W, W_before = W_before, W
        V, V_before = V_before, V


@kernel
def add_scaled(work, C, A, factor):
    """C + factor A, in C: 16 multiplications, 16 additions."""
    for k in range(SIZE):
        store(work, C + k, load(work, C + k) + factor * load(work, A + k))


@kernel
def inward(P, tau, work, n):
    """D_i, c_i and tau_i from the tip inward."""
    first = SIZE * (PER_LINK * n + 5)
    J, carried, D, D_beyond = first, first + SIZE, first + 4 * SIZE, first + 5 * SIZE
    c, c_beyond = SIZE * (PER_LINK * n + SPARE), SIZE * (PER_LINK * n + SPARE) + 4
    g = P[GX, 0], P[GY, 0], P[GZ, 0]
    for i in range(n - 1, -1, -1):
        dW = of_link(i, PARTIAL)
        pseudo_inertia(P, work, J, i)
        multiply_transposed(work, D, J, of_link(i, SECOND))  # D_i = J_i W''_i^T + A_{i+1} D_{i+1}
        moment(P, work, c, i)  # c_i = m_i r_i + A_{i+1} c_{i+1}
        if i < n - 1:
            multiply(work, carried, of_link(i + 1, LINK), D_beyond)
            accumulate(work, D, carried)
            for r in range(4):
                row = of_link(i + 1, LINK) + 4 * r
                moved = load(work, row) * load(work, c_beyond)
                for k in range(1, 4):
                    moved = moved + load(work, row + k) * load(work, c_beyond + k)
                store(work, c + r, load(work, c + r) + moved)

        # tau_i = Tr(dW_i/dq_i D_i) - g dW_i/dq_i c_i
        total = load(work, dW) * load(work, D)
        for r in range(4):
            for k in range(4):
                if r + k > 0:
                    total = total + load(work, dW + 4 * r + k) * load(work, D + 4 * k + r)
        for k in range(4):
            pull = g[0] * load(work, dW + k) + g[1] * load(work, dW + 4 + k) + g[2] * load(work, dW + 8 + k)
            total = total - pull * load(work, c + k)
        store(tau, i, total)
        D, D_beyond = D_beyond, D
        c, c_beyond = c_beyond, c


@kernel
def moment(P, work, c, i):
    """m_i ^ir_i in homogeneous coordinates."""
    store(work, c, fill(work, P[HX, i]))
    store(work, c + 1, fill(work, P[HY, i]))
    store(work, c + 2, fill(work, P[HZ, i]))
    store(work, c + 3, fill(work, P[MASS, i]))
