"""Recursive Newton-Euler, every link in its own frame, O(n). Fu, Gonzalez and Lee, Table 3.3, Algorithm 3.1.

As printed, (3.3-50) to (3.3-58), without the damping b_i qd_i. `load` has six rows, the force f_{n+1} and the moment
n_{n+1} that the hand exerts on an object, at the origin and along the axes of frame n; no rows mean no load. Frame
n + 1 is frame n here; the rotation between them, the identity, is applied as for any other link.
"""

from fastdyn.formulations.dh_rows import *
from fastdyn.formulations.links import axis, base_acceleration, centre, inertia, is_rotary, rotation, span
from fastdyn.scalars import fill, kernel, load, store
from fastdyn.scalars.vectors import (
    cross,
    dot,
    load_matrix,
    load_vector,
    matrix_vector,
    plus,
    store_matrix,
    store_vector,
    times,
    transposed_vector,
    unit_matrix,
    zero_vector,
)

# rows of a link: R_i (frame i into frame i - 1), p*_i, w_i, w'_i, a_i
R, SPAN, OMEGA, OMEGA_DOT, ACCELERATION, SLOTS = 0, 9, 12, 15, 18, 21


def work_rows(n: int) -> int:
    return SLOTS * n


@kernel
def newton_euler_link(P, kinds, q, qd, qdd, load, tau, work):
    geometry(P, kinds, q, work)
    forward(P, kinds, qd, qdd, work, 0, base_acceleration(P, work))
    backward(P, kinds, load, tau, work, 0)


@kernel
def geometry(P, kinds, q, work):
    """R_i (3.3-48) and p*_i (3.3-59)."""
    for i in range(P.shape[1]):
        store_matrix(work, SLOTS * i + R, rotation(P, kinds, q, i))
        store_vector(work, SLOTS * i + SPAN, span(P, kinds, q, i))


@kernel
def forward(P, kinds, qd, qdd, work, first, dv):
    """Steps N1 to N3, for the links from `first` on; the link before them does not rotate and accelerates at dv."""
    w, dw = zero_vector(work), zero_vector(work)
    for i in range(first, P.shape[1]):
        row, rotary, rate, acceleration = SLOTS * i, is_rotary(kinds, i), load(qd, i), load(qdd, i)
        Ri, p = load_matrix(work, row + R), load_vector(work, row + SPAN)
        dw = angular_acceleration(Ri, w, dw, rate, acceleration, rotary, i == first)  # with w of link i - 1
        w = angular_velocity(Ri, w, rate, rotary, i == first)
        if rotary:
            dv = linear_acceleration(Ri, w, dw, dv, p)
        else:
            dv = linear_acceleration_prismatic(work, Ri, w, dw, dv, p, rate, acceleration)
        store_vector(work, row + OMEGA, w)
        store_vector(work, row + OMEGA_DOT, dw)
        store_vector(work, row + ACCELERATION, centre_acceleration(P, w, dw, dv, i))


@kernel
def angular_velocity(Ri, w, rate, rotary, at_rest):
    """(3.3-50). at_rest: w_{i-1} = 0, so that nothing is added to z qd."""
    if rotary:
        w = (w[0], w[1], rate if at_rest else w[2] + rate)
    return transposed_vector(Ri, w)


@kernel
def angular_acceleration(Ri, w, dw, rate, acceleration, rotary, at_rest):
    """(3.3-51)."""
    if rotary:
        if at_rest:
            dw = (dw[0], dw[1], acceleration)
        else:
            x, y = axis_rate(w, rate)
            dw = (dw[0] + x, dw[1] + y, dw[2] + acceleration)
    return transposed_vector(Ri, dw)


@kernel
def axis_rate(w, rate):
    """w x z qd without its third component, which is 0: two multiplications, which no table of the book counts."""
    return w[1] * rate, -(w[0] * rate)


@kernel
def linear_acceleration(Ri, w, dw, dv, p):
    """(3.3-52), rotational."""
    return plus(plus(cross(dw, p), cross(w, cross(w, p))), transposed_vector(Ri, dv))


@kernel
def linear_acceleration_prismatic(work, Ri, w, dw, dv, p, rate, acceleration):
    """(3.3-52), translational."""
    zero = fill(work, 0.0)
    dv = transposed_vector(Ri, (dv[0], dv[1], acceleration + dv[2]))
    coriolis = times(2.0, cross(w, transposed_vector(Ri, (zero, zero, rate))))
    return plus(plus(plus(dv, cross(dw, p)), coriolis), cross(w, cross(w, p)))


@kernel
def centre_acceleration(P, w, dw, dv, i):
    """(3.3-53)."""
    s = centre(P, i)
    return plus(plus(cross(dw, s), cross(w, cross(w, s))), dv)


@kernel
def backward(P, kinds, load, tau, work, first):
    """Steps N4 to N6, down to link `first`."""
    f, m = zero_vector(work), zero_vector(work)
    if load.shape[0] > 0:
        f, m = load_vector(load, 0), load_vector(load, 3)
    R_next = unit_matrix(work)
    for i in range(P.shape[1] - 1, first - 1, -1):
        row = SLOTS * i
        p, w, dw = load_vector(work, row + SPAN), load_vector(work, row + OMEGA), load_vector(work, row + OMEGA_DOT)
        F = link_force(P, load_vector(work, row + ACCELERATION), i)
        N = link_moment(P, w, dw, i)
        m = joint_moment(P, R_next, p, f, m, F, N, i)  # with f of link i + 1
        f = joint_force(R_next, f, F)
        store(tau, i, joint_torque(P, work, f, m, is_rotary(kinds, i), i))
        R_next = load_matrix(work, row + R)


@kernel
def link_force(P, a, i):
    """(3.3-54)."""
    return times(P[MASS, i], a)


@kernel
def link_moment(P, w, dw, i):
    """(3.3-55)."""
    I = inertia(P, i)
    return plus(matrix_vector(I, dw), cross(w, matrix_vector(I, w)))


@kernel
def joint_force(R_next, f, F):
    """(3.3-56)."""
    return plus(matrix_vector(R_next, f), F)


@kernel
def joint_moment(P, R_next, p, f, m, F, N, i):
    """(3.3-57): p*_i is rotated into frame i + 1, in which f_{i+1} is given."""
    beyond = matrix_vector(R_next, plus(m, cross(transposed_vector(R_next, p), f)))
    return plus(plus(beyond, cross(plus(p, centre(P, i)), F)), N)


@kernel
def joint_torque(P, work, f, m, rotary, i):
    """(3.3-58)."""
    return dot(m if rotary else f, axis(P, work, i))
