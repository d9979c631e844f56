"""Recursive Newton-Euler in the base frame, O(n). Fu, Gonzalez and Lee, Table 3.2.

All vectors and inertia tensors are expressed in frame 0. In the translational case the Coriolis term is 2 w x (z qd),
as in (3.3-35): the table prints qdd.
"""

from fastdyn.formulations.dh_rows import *
from fastdyn.formulations.links import base_acceleration, centre, inertia, is_rotary, rotation, span
from fastdyn.scalars import kernel, load, store
from fastdyn.scalars.vectors import (
    column,
    cross,
    dot,
    load_matrix,
    load_vector,
    matrix_product,
    matrix_vector,
    plus,
    store_matrix,
    store_vector,
    times,
    transposed,
    unit_matrix,
    zero_vector,
)

# rows of a link: R_0i, p*_i, s_i, z_{i-1}, w_i, w'_i, a_i
R, SPAN, CENTRE, AXIS, OMEGA, OMEGA_DOT, ACCELERATION, SLOTS = 0, 9, 12, 15, 18, 21, 24, 27


def work_rows(n: int) -> int:
    return SLOTS * n


@kernel
def newton_euler_base(P, kinds, q, qd, qdd, tau, work):
    geometry(P, kinds, q, work)
    forward(P, kinds, qd, qdd, work)
    backward(P, kinds, tau, work)


@kernel
def geometry(P, kinds, q, work):
    """Axes, p* and centres of mass in frame 0."""
    R0 = unit_matrix(work)
    for i in range(P.shape[1]):
        row = SLOTS * i
        store_vector(work, row + AXIS, column(R0, 2))
        R0 = matrix_product(R0, rotation(P, kinds, q, i))
        store_matrix(work, row + R, R0)
        store_vector(work, row + SPAN, matrix_vector(R0, span(P, kinds, q, i)))
        store_vector(work, row + CENTRE, matrix_vector(R0, centre(P, i)))


@kernel
def forward(P, kinds, qd, qdd, work):
    w, dw, dv = zero_vector(work), zero_vector(work), base_acceleration(P, work)
    for i in range(P.shape[1]):
        row, rate, acceleration = SLOTS * i, load(qd, i), load(qdd, i)
        z, p, s = load_vector(work, row + AXIS), load_vector(work, row + SPAN), load_vector(work, row + CENTRE)
        if is_rotary(kinds, i):
            turning = times(rate, z)
            dw = plus(plus(dw, times(acceleration, z)), cross(w, turning))  # (3.3-29), with w of link i - 1
            w = plus(w, turning)  # (3.3-28)
            dv = plus(plus(cross(dw, p), cross(w, cross(w, p))), dv)  # (3.3-35)
        else:
            coriolis = times(2.0, cross(w, times(rate, z)))
            dv = plus(plus(plus(plus(times(acceleration, z), cross(dw, p)), coriolis), cross(w, cross(w, p))), dv)
        store_vector(work, row + OMEGA, w)
        store_vector(work, row + OMEGA_DOT, dw)
        store_vector(work, row + ACCELERATION, plus(plus(cross(dw, s), cross(w, cross(w, s))), dv))  # (3.3-39)


@kernel
def backward(P, kinds, tau, work):
    f, m = zero_vector(work), zero_vector(work)  # no load: f_{n+1} = n_{n+1} = 0
    for i in range(P.shape[1] - 1, -1, -1):
        row = SLOTS * i
        z, p, s = load_vector(work, row + AXIS), load_vector(work, row + SPAN), load_vector(work, row + CENTRE)
        w, dw = load_vector(work, row + OMEGA), load_vector(work, row + OMEGA_DOT)
        R0 = load_matrix(work, row + R)
        I = matrix_product(matrix_product(R0, inertia(P, i)), transposed(R0))
        F = times(P[MASS, i], load_vector(work, row + ACCELERATION))  # (3.3-36)
        N = plus(matrix_vector(I, dw), cross(w, matrix_vector(I, w)))  # (3.3-37)
        m = plus(plus(plus(m, cross(p, f)), cross(plus(p, s), F)), N)  # (3.3-44), with f of link i + 1
        f = plus(F, f)  # (3.3-43)
        store(tau, i, dot(m if is_rotary(kinds, i) else f, z))  # (3.3-45)
