"""Newton-Euler in link frames with the savings that the book's Table 3.4 counts. The equations of newton_euler_link.py.

- w x (w x p) = w (w . p) - p (w . w), by (3.3-34), and w . w is computed once for p*_i and s_i;
- (3.3-57) with R taken out of the bracket: R n_{i+1} + p*_i x (R f_{i+1}), where R f_{i+1} is known from (3.3-56);
- no load: nothing is rotated into frame n, and no moment is added there; the force f_{n+1} = 0 is, as the table counts.
"""

from fastdyn.formulations.dh_rows import *
from fastdyn.formulations.links import base_acceleration, centre, is_rotary
from fastdyn.formulations.newton_euler_link import (
    ACCELERATION,
    OMEGA,
    OMEGA_DOT,
    SLOTS,
    SPAN,
    R,
    axis_rate,
    geometry,
    joint_torque,
    link_force,
    link_moment,
    work_rows,
)
from fastdyn.scalars import fill, kernel, load, store
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

__all__ = ["newton_euler_frugal", "work_rows"]


@kernel
def newton_euler_frugal(P, kinds, q, qd, qdd, tau, work):
    geometry(P, kinds, q, work)
    forward(P, kinds, qd, qdd, work)
    backward(P, kinds, tau, work)


@kernel
def forward(P, kinds, qd, qdd, work):
    w, dw, dv = zero_vector(work), zero_vector(work), base_acceleration(P, work)
    for i in range(P.shape[1]):
        row, rotary, rate, acceleration = SLOTS * i, is_rotary(kinds, i), load(qd, i), load(qdd, i)
        Ri, p = load_matrix(work, row + R), load_vector(work, row + SPAN)
        dw = angular_acceleration(Ri, w, dw, rate, acceleration, rotary)  # with w of link i - 1
        w = angular_velocity(Ri, w, rate, rotary)
        if rotary:
            dv, square = linear_acceleration(Ri, w, dw, dv, p)
        else:
            dv, square = linear_acceleration_prismatic(work, Ri, w, dw, dv, p, rate, acceleration)
        store_vector(work, row + OMEGA, w)
        store_vector(work, row + OMEGA_DOT, dw)
        store_vector(work, row + ACCELERATION, centre_acceleration(P, w, square, dw, dv, i))


@kernel
def angular_velocity(Ri, w, rate, rotary):
    """(3.3-50)."""
    if rotary:
        w = (w[0], w[1], w[2] + rate)
    return transposed_vector(Ri, w)


@kernel
def angular_acceleration(Ri, w, dw, rate, acceleration, rotary):
    """(3.3-51)."""
    if rotary:
        x, y = axis_rate(w, rate)
        dw = (dw[0] + x, dw[1] + y, dw[2] + acceleration)
    return transposed_vector(Ri, dw)


@kernel
def centripetal(w, square, p):
    """w x (w x p) = w (w . p) - p (w . w). (3.3-34)"""
    return minus(times(dot(w, p), w), times(square, p))


@kernel
def linear_acceleration(Ri, w, dw, dv, p):
    """(3.3-52), rotational; and w . w."""
    square = dot(w, w)
    return plus(plus(cross(dw, p), centripetal(w, square, p)), transposed_vector(Ri, dv)), square


@kernel
def linear_acceleration_prismatic(work, Ri, w, dw, dv, p, rate, acceleration):
    """(3.3-52), translational; and w . w."""
    zero, square = fill(work, 0.0), dot(w, w)
    dv = transposed_vector(Ri, (dv[0], dv[1], acceleration + dv[2]))
    coriolis = cross(w, transposed_vector(Ri, (zero, zero, rate + rate)))
    return plus(plus(plus(dv, cross(dw, p)), coriolis), centripetal(w, square, p)), square


@kernel
def centre_acceleration(P, w, square, dw, dv, i):
    """(3.3-53)."""
    s = centre(P, i)
    return plus(plus(cross(dw, s), centripetal(w, square, s)), dv)


@kernel
def backward(P, kinds, tau, work):
    n = P.shape[1]
    f, m = zero_vector(work), zero_vector(work)  # f_{n+1}, n_{n+1}
    R_next = load_matrix(work, R)
    for i in range(n - 1, -1, -1):
        row, loaded = SLOTS * i, i < n - 1
        p, w, dw = load_vector(work, row + SPAN), load_vector(work, row + OMEGA), load_vector(work, row + OMEGA_DOT)
        F = link_force(P, load_vector(work, row + ACCELERATION), i)
        N = link_moment(P, w, dw, i)
        beyond, f = joint_force(R_next, f, F, loaded)
        m = joint_moment(P, R_next, p, beyond, m, F, N, i, loaded)
        store(tau, i, joint_torque(P, work, f, m, is_rotary(kinds, i), i))
        R_next = load_matrix(work, row + R)


@kernel
def joint_force(R_next, f, F, loaded):
    """R f_{i+1}, and f_i. (3.3-56)"""
    if loaded:
        f = matrix_vector(R_next, f)
    return f, plus(f, F)


@kernel
def joint_moment(P, R_next, p, beyond, m, F, N, i, loaded):
    """(3.3-57)."""
    own = plus(cross(plus(p, centre(P, i)), F), N)
    if loaded:
        return plus(plus(matrix_vector(R_next, m), cross(p, beyond)), own)
    return own
