"""Kane's equations for a chain, O(n^2), with generalized speeds u_r = qd_r. RRT Robot: Lagrange and Kane equations.

    F_in = -m a_C                                                       (19)
    M_in = -I alpha - w x (I w)                                         (20)
    K*_r = sum over links of dv_C/du_r . F_in + dw/du_r . M_in          (28)
    K*_r + Q_r = 0,  Q_r = tau_r + sum over links of dv_C/du_r . m g    (29)

The vectors of a link are expressed in its own frame. Results: K is K*, Q the part of gravity in Q_r.
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

# rows of a joint r: the partial velocities dw/du_r, and dv/du_r of the frame's origin, of the current link
OMEGA, VELOCITY, SLOTS = 0, 3, 6


def work_rows(n: int) -> int:
    return SLOTS * n


@kernel
def kane(P, kinds, q, qd, qdd, tau, K, Q, work):
    n = P.shape[1]
    w, alpha, a, g = zero_vector(work), zero_vector(work), zero_vector(work), plus(zero_vector(work), gravity(P))
    for r in range(n):
        store(K, r, fill(K, 0.0))
        store(Q, r, fill(Q, 0.0))
    for s in range(n):
        R, p, rotary = rotation(P, kinds, q, s), span(P, kinds, q, s), is_rotary(kinds, s)
        z, rate, acceleration = axis(P, work, s), load(qd, s), load(qdd, s)
        partial_velocities(work, R, p, z, rotary, s)
        w, alpha, a, g = (
            transposed_vector(R, w), transposed_vector(R, alpha), transposed_vector(R, a), transposed_vector(R, g),
        )  # fmt: skip
        if rotary:
            turning = times(rate, z)
            alpha = plus(plus(alpha, cross(w, turning)), times(acceleration, z))
            w = plus(w, turning)
        else:
            a = plus(plus(a, times(acceleration, z)), cross(w, times(rate + rate, z)))
        a = plus(a, rotational_acceleration(w, alpha, p))
        inertia_forces(P, K, Q, work, w, alpha, plus(a, rotational_acceleration(w, alpha, centre(P, s))), g, s)
    for r in range(n):
        store(tau, r, -(load(K, r) + load(Q, r)))  # (29)


@kernel
def rotational_acceleration(w, alpha, p):
    """alpha x p + w x (w x p)."""
    return plus(cross(alpha, p), cross(w, cross(w, p)))


@kernel
def partial_velocities(work, R, p, z, rotary, s):
    """dw/du_r and dv/du_r of link s, from those of link s - 1."""
    for r in range(s):
        row = SLOTS * r
        turn = transposed_vector(R, load_vector(work, row + OMEGA))
        store_vector(work, row + OMEGA, turn)
        carried = transposed_vector(R, load_vector(work, row + VELOCITY))
        store_vector(work, row + VELOCITY, plus(carried, cross(turn, p)))
    store_vector(work, SLOTS * s + OMEGA, z if rotary else zero_vector(work))
    store_vector(work, SLOTS * s + VELOCITY, cross(z, p) if rotary else z)


@kernel
def inertia_forces(P, K, Q, work, w, alpha, a, g, s):
    """Adds link s to K* and to Q. (27)"""
    I = inertia(P, s)
    F = times(-P[MASS, s], a)  # (19)
    M = negative(plus(matrix_vector(I, alpha), cross(w, matrix_vector(I, w))))  # (20)
    weight = times(P[MASS, s], g)
    for r in range(s + 1):
        turn = load_vector(work, SLOTS * r + OMEGA)
        velocity = plus(load_vector(work, SLOTS * r + VELOCITY), cross(turn, centre(P, s)))
        add(K, r, dot(velocity, F) + dot(turn, M))
        add(Q, r, dot(velocity, weight))
