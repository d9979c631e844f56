"""Newton-Euler with twists and wrenches (Fakhari's slides): the recursion, O(n), and the stacked closed form, O(n^3).

    V = L (A qd + V_base),  V' = L (A qdd - [ad_{A qd}] (W V + V_base) + V'_base)
    F = L^T (G V' - [ad_V]^T G V + F_tip),  tau = A^T F
    L = (I - W)^-1 = I + W + ... + W^{n-1}, because W is nilpotent

L is block triangular, its block (i, j) the adjoint of T_ij: block row i is [Ad_{T_{i,i-1}}] times block row i - 1. From
it M = A^T L^T G L A, and with qdd = 0 and no gravity the velocity terms c, with qd = qdd = 0 the gravity terms g. A
load and a base that moves add to tau alone. Results D, h, c of the closed form are M, c and g here.

A twist is a pair of vectors (w, v), a wrench (m, f), an adjoint [Ad_T] the pair (R, p) of T. `load`, `base_twist` and
`base_rate` have six rows each, the linear part first, or none: F_{n+1}, the wrench that the hand exerts on the
environment, in frame n + 1; V_0 and V'_0 of a base that moves, in frame 0. No rows mean zeros.
"""

from fastdyn.formulations.screw_rows import *
from fastdyn.scalars import fill, kernel, load, sincos, store
from fastdyn.scalars.vectors import (
    cross,
    dot,
    load_matrix,
    load_vector,
    matrix_product,
    matrix_vector,
    minus,
    negative,
    plus,
    store_matrix,
    store_vector,
    times,
    transposed_vector,
    zero_vector,
)

# rows of a link: R and p of T_{i,i-1}, its twist V and V'
R, SHIFT, TWIST, RATE, SLOTS = 0, 9, 12, 18, 24
# stacked vectors of the closed form: V, V', F, and the current right-hand side
TWISTS, RATES, WRENCHES, SIDE, STACKS = 0, 1, 2, 3, 4
BLOCK = 36


def screws_rows(n: int) -> int:
    return SLOTS * n


def stacked_screws_rows(n: int) -> int:
    return (SLOTS + 6 * STACKS) * n + BLOCK * n * n


# ---------------------------------------------------------------------------------------- twists and wrenches


@kernel
def twist_plus(a, b):
    return plus(a[0], b[0]), plus(a[1], b[1])


@kernel
def twist_minus(a, b):
    return minus(a[0], b[0]), minus(a[1], b[1])


@kernel
def twist_times(k, a):
    return times(k, a[0]), times(k, a[1])


@kernel
def no_twist(buffer):
    return zero_vector(buffer), zero_vector(buffer)


@kernel
def load_twist(buffer, row):
    return load_vector(buffer, row), load_vector(buffer, row + 3)


@kernel
def store_twist(buffer, row, a):
    store_vector(buffer, row, a[0])
    store_vector(buffer, row + 3, a[1])


@kernel
def adjoint(T, V):
    """[Ad_T] V = (R w, p x R w + R v)."""
    w = matrix_vector(T[0], V[0])
    return w, plus(cross(T[1], w), matrix_vector(T[0], V[1]))


@kernel
def adjoint_transposed(T, F):
    """[Ad_T]^T F = (R^T (m - p x f), R^T f)."""
    return transposed_vector(T[0], minus(F[0], cross(T[1], F[1]))), transposed_vector(T[0], F[1])


@kernel
def bracket(V, U):
    """[ad_V] U = (w x w_U, v x w_U + w x v_U)."""
    return cross(V[0], U[0]), plus(cross(V[1], U[0]), cross(V[0], U[1]))


@kernel
def bracket_transposed(V, F):
    """[ad_V]^T F = -(w x m + v x f, w x f)."""
    return negative(plus(cross(V[0], F[0]), cross(V[1], F[1]))), negative(cross(V[0], F[1]))


@kernel
def momentum(P, V, i):
    """G_i V, G_i = diag(I_i, m_i)."""
    I = (
        (P[IXX, i], P[IXY, i], P[IXZ, i]),
        (P[IXY, i], P[IYY, i], P[IYZ, i]),
        (P[IXZ, i], P[IYZ, i], P[IZZ, i]),
    )
    return matrix_vector(I, V[0]), times(P[MASS, i], V[1])


@kernel
def screw(P, i):
    """A_i."""
    return (P[WX, i], P[WY, i], P[WZ, i]), (P[VX, i], P[VY, i], P[VZ, i])


@kernel
def power(F, A):
    """F^T A."""
    return dot(F[0], A[0]) + dot(F[1], A[1])


@kernel
def angular_first(six):
    """A twist or a wrench from rows that begin with its linear part."""
    return load_vector(six, 3), load_vector(six, 0)


@kernel
def base_velocity(base_twist, buffer):
    """V_0."""
    if base_twist.shape[0] > 0:
        return angular_first(base_twist)
    return no_twist(buffer)


@kernel
def base_acceleration(P, base_rate, buffer):
    """V'_0 - (0, g): the base accelerates at -g, so that no link needs its own gravity term."""
    up = fill(buffer, -P[GX, 0]), fill(buffer, -P[GY, 0]), fill(buffer, -P[GZ, 0])
    if base_rate.shape[0] > 0:
        w, v = angular_first(base_rate)
        return w, plus(v, up)
    return zero_vector(buffer), up


@kernel
def tip_wrench(P, tip):
    """[Ad_{T_{n+1,n}}]^T F_{n+1}, the load in frame n; frame n + 1 is parallel to it."""
    last = P.shape[1] - 1
    m, f = angular_first(tip)
    return minus(m, cross((P[TIPX, last], P[TIPY, last], P[TIPZ, last]), f)), f


# ---------------------------------------------------------------------------------------- placements


@kernel
def exponential(w, v, angle):
    """e^{[A] angle} for a screw axis A = (w, v) with |w| = 1 or w = 0: rotation (Rodrigues) and position.

    R = 1 + sin [w] + (1 - cos) [w]^2;  p = (angle + (1 - cos) [w] + (angle - sin) [w]^2) v.
    """
    s, c = sincos(angle)
    d = 1.0 - c
    one = c + d * (w[0] * w[0]), c + d * (w[1] * w[1]), c + d * (w[2] * w[2])
    if w[0] == 0 and w[1] == 0 and w[2] == 0:  # a translation: R = 1
        one = c + d, c + d, c + d
    xy, xz, yz = d * (w[0] * w[1]), d * (w[0] * w[2]), d * (w[1] * w[2])
    R = (
        (one[0], xy - s * w[2], xz + s * w[1]),
        (xy + s * w[2], one[1], yz - s * w[0]),
        (xz - s * w[1], yz + s * w[0], one[2]),
    )
    across = cross(w, v)
    twice = cross(w, across)
    p = plus(plus(times(angle, v), times(d, across)), times(angle - s, twice))
    return R, p


@kernel
def placements(P, q, work):
    """T_{i,i-1} = e^{-[A_i] q_i} M_{i,i-1}."""
    for i in range(P.shape[1]):
        A = screw(P, i)
        turn, shift = exponential(A[0], A[1], -load(q, i))
        M = (
            (P[RXX, i], P[RXY, i], P[RXZ, i]),
            (P[RYX, i], P[RYY, i], P[RYZ, i]),
            (P[RZX, i], P[RZY, i], P[RZZ, i]),
        )
        store_matrix(work, SLOTS * i + R, matrix_product(turn, M))
        store_vector(work, SLOTS * i + SHIFT, plus(matrix_vector(turn, (P[PX, i], P[PY, i], P[PZ, i])), shift))


@kernel
def placement(work, i):
    return load_matrix(work, SLOTS * i + R), load_vector(work, SLOTS * i + SHIFT)


# ---------------------------------------------------------------------------------------- the recursion


@kernel
def screws(P, kinds, q, qd, qdd, load, base_twist, base_rate, tau, work):
    placements(P, q, work)
    outward(P, qd, qdd, base_twist, base_rate, work)
    inward(P, load, tau, work)


@kernel
def outward(P, qd, qdd, base_twist, base_rate, work):
    """Twists and their rates."""
    V, rate = base_velocity(base_twist, work), base_acceleration(P, base_rate, work)
    for i in range(P.shape[1]):
        A, T_i = screw(P, i), placement(work, i)
        joint = twist_times(load(qd, i), A)
        V = twist_plus(adjoint(T_i, V), joint)  # V_i = [Ad] V_{i-1} + A_i qd_i
        rate = twist_plus(twist_plus(adjoint(T_i, rate), bracket(V, joint)), twist_times(load(qdd, i), A))
        store_twist(work, SLOTS * i + TWIST, V)
        store_twist(work, SLOTS * i + RATE, rate)


@kernel
def inward(P, tip, tau, work):
    """Wrenches and torques."""
    n, F = P.shape[1], no_twist(work)
    for i in range(n - 1, -1, -1):
        V, rate = load_twist(work, SLOTS * i + TWIST), load_twist(work, SLOTS * i + RATE)
        own = twist_minus(momentum(P, rate, i), bracket_transposed(V, momentum(P, V, i)))
        if i < n - 1:
            F = twist_plus(adjoint_transposed(placement(work, i + 1), F), own)
        elif tip.shape[0] > 0:
            F = twist_plus(tip_wrench(P, tip), own)
        else:
            F = own
        store(tau, i, power(F, screw(P, i)))  # tau_i = F_i^T A_i


# ---------------------------------------------------------------------------------------- the closed form


@kernel
def stack(n, k, i):
    """First row of twist or wrench i in stacked vector k; these follow the rows of the links."""
    return SLOTS * n + 6 * (n * k + i)


@kernel
def block(n, i, j):
    """First row of block (i, j) of L."""
    return stack(n, STACKS, 0) + BLOCK * (n * i + j)


@kernel
def stacked_screws(P, kinds, q, qd, qdd, load, base_twist, base_rate, tau, D, h, c, work):
    n, none = P.shape[1], work[:0]
    placements(P, q, work)
    inverse(work, n)
    closed_form(P, qd, qdd, none, none, none, c, work, n, False, False, True)  # g: the robot at rest
    closed_form(P, qd, qdd, none, none, none, h, work, n, True, False, False)  # c: no acceleration, no gravity
    closed_form(P, qd, qdd, load, base_twist, base_rate, tau, work, n, True, True, True)
    mass_matrix(P, D, work, n)


@kernel
def inverse(work, n):
    """L = (I - W)^-1, block row by block row: L_ii = 1, L_ij = [Ad_{T_{i,i-1}}] L_{i-1,j}."""
    zero, one = fill(work, 0.0), fill(work, 1.0)
    for i in range(n):
        T_i = placement(work, i)
        for k in range(BLOCK):
            store(work, block(n, i, i) + k, one if k % 7 == 0 else zero)
        for j in range(i):
            for c in range(6):
                store_column(work, block(n, i, j) + c, adjoint(T_i, load_column(work, block(n, i - 1, j) + c)))


@kernel
def load_column(work, row):
    return (
        (load(work, row), load(work, row + 6), load(work, row + 12)),
        (load(work, row + 18), load(work, row + 24), load(work, row + 30)),
    )


@kernel
def store_column(work, row, V):
    store(work, row, V[0][0])
    store(work, row + 6, V[0][1])
    store(work, row + 12, V[0][2])
    store(work, row + 18, V[1][0])
    store(work, row + 24, V[1][1])
    store(work, row + 30, V[1][2])


@kernel
def block_times(work, row, a):
    """A 6x6 block times a twist, column by column."""
    total = twist_times(a[0][0], load_column(work, row))
    total = twist_plus(total, twist_times(a[0][1], load_column(work, row + 1)))
    total = twist_plus(total, twist_times(a[0][2], load_column(work, row + 2)))
    total = twist_plus(total, twist_times(a[1][0], load_column(work, row + 3)))
    total = twist_plus(total, twist_times(a[1][1], load_column(work, row + 4)))
    return twist_plus(total, twist_times(a[1][2], load_column(work, row + 5)))


@kernel
def transposed_times(work, row, a):
    """The transpose of a 6x6 block times a wrench."""
    return (
        (
            power(load_column(work, row), a),
            power(load_column(work, row + 1), a),
            power(load_column(work, row + 2), a),
        ),
        (
            power(load_column(work, row + 3), a),
            power(load_column(work, row + 4), a),
            power(load_column(work, row + 5), a),
        ),
    )


@kernel
def times_inverse(work, n, source, target):
    """L times a stacked vector."""
    for i in range(n):
        total = block_times(work, block(n, i, 0), load_twist(work, stack(n, source, 0)))
        for j in range(1, i + 1):
            total = twist_plus(total, block_times(work, block(n, i, j), load_twist(work, stack(n, source, j))))
        store_twist(work, stack(n, target, i), total)


@kernel
def times_inverse_transposed(work, n, source, target):
    """L^T times a stacked vector."""
    for j in range(n):
        total = transposed_times(work, block(n, j, j), load_twist(work, stack(n, source, j)))
        for i in range(j + 1, n):
            total = twist_plus(total, transposed_times(work, block(n, i, j), load_twist(work, stack(n, source, i))))
        store_twist(work, stack(n, target, j), total)


@kernel
def closed_form(P, qd, qdd, tip, base_twist, base_rate, tau, work, n, moving, accelerating, heavy):
    """tau with qd (if moving), qdd (if accelerating) and gravity (if heavy), each zero otherwise."""
    none = no_twist(work)
    V_base = none
    # V = L (A qd + V_base)
    for i in range(n):
        store_twist(work, stack(n, SIDE, i), twist_times(load(qd, i), screw(P, i)) if moving else none)
    first = load_twist(work, stack(n, SIDE, 0))
    if base_twist.shape[0] > 0:
        V_base = adjoint(placement(work, 0), base_velocity(base_twist, work))
        store_twist(work, stack(n, SIDE, 0), twist_plus(first, V_base))
    times_inverse(work, n, SIDE, TWISTS)
    # V' = L (A qdd - [ad_{A qd}] (W V + V_base) + V'_base)
    for i in range(n):
        side = twist_times(load(qdd, i), screw(P, i)) if accelerating else none
        if i > 0:
            W_V = adjoint(placement(work, i), load_twist(work, stack(n, TWISTS, i - 1)))
            side = twist_minus(side, bracket(load_twist(work, stack(n, SIDE, i)), W_V))
        elif heavy:
            side = twist_plus(side, adjoint(placement(work, 0), base_acceleration(P, base_rate, work)))
            if base_twist.shape[0] > 0:
                side = twist_minus(side, bracket(first, V_base))
        store_twist(work, stack(n, SIDE, i), side)
    times_inverse(work, n, SIDE, RATES)
    # F = L^T (G V' - [ad_V]^T G V + F_tip)
    for i in range(n):
        V, rate = load_twist(work, stack(n, TWISTS, i)), load_twist(work, stack(n, RATES, i))
        own = twist_minus(momentum(P, rate, i), bracket_transposed(V, momentum(P, V, i)))
        store_twist(work, stack(n, SIDE, i), own)
    if tip.shape[0] > 0:
        last = stack(n, SIDE, n - 1)
        store_twist(work, last, twist_plus(load_twist(work, last), tip_wrench(P, tip)))
    times_inverse_transposed(work, n, SIDE, WRENCHES)
    # tau = A^T F
    for i in range(n):
        store(tau, i, power(load_twist(work, stack(n, WRENCHES, i)), screw(P, i)))


@kernel
def mass_matrix(P, D, work, n):
    """M = A^T L^T G L A: the sum over links i of (L_ij A_j)^T G_i (L_ik A_k)."""
    for i in range(n):
        for j in range(i + 1):
            store_twist(work, stack(n, SIDE, j), block_times(work, block(n, i, j), screw(P, j)))
        for k in range(i + 1):
            carried = momentum(P, load_twist(work, stack(n, SIDE, k)), i)
            for j in range(k + 1):
                term = power(carried, load_twist(work, stack(n, SIDE, j)))
                total = term if i == k else load(D, n * j + k) + term
                store(D, n * j + k, total)
                store(D, n * k + j, total)
