"""Kane's equations for a chain, O(n^2). 003, eqs. (16) to (29), with generalized speeds u_r = qd_r.

    F_in = -m a_C                                                       (19)
    M_in = -I alpha - w x (I w)                                         (20)
    K*_r = sum over links of dv_C/du_r . F_in + dw/du_r . M_in          (28)
    K*_r + Q_r = 0,  Q_r = tau_r + sum over links of dv_C/du_r . m g    (29)

Every link's vectors are along its own frame. X rows: q, qd, qdd (read), tau, K*, Q of gravity (n each). work: SLOTS
rows for each joint.
"""

from fastdyn.formulations.dh_rows import *
from fastdyn.formulations.links import axis, centre, gravity, inertia, is_rotary, rotation, span
from fastdyn.scalars import add, fill, kernel, load, store
from fastdyn.scalars.vectors import (
    cross,
    dot,
    load_vector,
    matrix_vector,
    negative,
    plus,
    store_vector,
    times,
    transposed_vector,
    zero_vector,
)

# rows of a joint r: the partial velocities dw/du_r, and dv/du_r of the frame's origin, of the link at hand
OMEGA, VELOCITY, SLOTS = 0, 3, 6


@kernel
def sample_rows(n):
    return 6 * n


@kernel
def work_rows(n):
    return SLOTS * n


@kernel
def kane(P, T, X, work):
    n = P.shape[1]
    w, alpha, a, g = zero_vector(X), zero_vector(X), zero_vector(X), plus(zero_vector(X), gravity(P))
    for r in range(2 * n):
        store(X, 4 * n + r, fill(X, 0.0))
    for s in range(n):
        R, p, rotary = rotation(P, T, X, s), span(P, T, X, s), is_rotary(T, s)
        z, rate, acceleration = axis(P, X, s), load(X, n + s), load(X, 2 * n + s)
        partial_velocities(X, work, R, p, z, rotary, s)
        w, alpha, a, g = (
            transposed_vector(R, w), transposed_vector(R, alpha), transposed_vector(R, a), transposed_vector(R, g),
        )  # fmt: skip
        if rotary:
            turning = times(rate, z)
            alpha = plus(plus(alpha, cross(w, turning)), times(acceleration, z))
            w = plus(w, turning)
        else:
            a = plus(plus(a, times(acceleration, z)), cross(w, times(rate + rate, z)))
        a = plus(a, swung(w, alpha, p))
        inertia_forces(P, X, work, w, alpha, plus(a, swung(w, alpha, centre(P, s))), g, s)
    for r in range(n):
        store(X, 3 * n + r, -(load(X, 4 * n + r) + load(X, 5 * n + r)))  # (29)


@kernel
def swung(w, alpha, p):
    """alpha x p + w x (w x p)."""
    return plus(cross(alpha, p), cross(w, cross(w, p)))


@kernel
def partial_velocities(X, work, R, p, z, rotary, s):
    """dw/du_r and dv/du_r of link s, from those of link s - 1."""
    for r in range(s):
        row = SLOTS * r
        turn = transposed_vector(R, load_vector(work, row + OMEGA))
        store_vector(work, row + OMEGA, turn)
        carried = transposed_vector(R, load_vector(work, row + VELOCITY))
        store_vector(work, row + VELOCITY, plus(carried, cross(turn, p)))
    store_vector(work, SLOTS * s + OMEGA, z if rotary else zero_vector(X))
    store_vector(work, SLOTS * s + VELOCITY, cross(z, p) if rotary else z)


@kernel
def inertia_forces(P, X, work, w, alpha, a, g, s):
    """Adds link s to K* and to Q. (27)"""
    n, I = P.shape[1], inertia(P, s)
    F = times(-P[MASS, s], a)  # (19)
    M = negative(plus(matrix_vector(I, alpha), cross(w, matrix_vector(I, w))))  # (20)
    weight = times(P[MASS, s], g)
    for r in range(s + 1):
        turn = load_vector(work, SLOTS * r + OMEGA)
        velocity = plus(load_vector(work, SLOTS * r + VELOCITY), cross(turn, centre(P, s)))
        add(X, 4 * n + r, dot(velocity, F) + dot(turn, M))
        add(X, 5 * n + r, dot(velocity, weight))
