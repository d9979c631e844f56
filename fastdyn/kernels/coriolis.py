"""The Coriolis matrix from Christoffel symbols, so that dM/dt - 2 C is skew, O(n * depth).

A point x of the robot has velocity J_j(x) when joint j alone moves at unit rate. For point masses the symbols are
mass times dx/dq_i . d2x/dq_j dq_k, hence

    C_ij = integral of J_i(x) . dJ_j(x)/dt dm,    J_j(x) = z_j x (x - o_j) (revolute),  z_j (prismatic),
                                                  the first plus PITCH of the second (helical).

Both factors are affine in x and in the point's velocity, so that a composite body is described by: mass m, first
moment h and second moments J about its origin o, the relative momentum l = integral of (x' - o') dm and the matrix
K = integral of (x' - o') (x - o)^T dm. For column j, two wrenches and a free vector are propagated inward:

    changing  of the field dJ_j/dt: its component along joint i is C_ij
    unit      of the field J_j, and  e = integral of (x' - o') x J_j dm.  C_ji is the component of `unit` along the
              axis' rate dz_i/dt instead of the axis z_i, plus z_i . e if joint i rotates.
"""

from fastdyn.kernels import crba
from fastdyn.kernels.crba import COMPOSITE, at, clear_lanes, clear_scalars, load_body
from fastdyn.kernels.frames import *
from fastdyn.kernels.joints import *
from fastdyn.kernels.rows import *
from fastdyn.kernels.velocities import velocities
from fastdyn.scalars import fill, kernel, store
from fastdyn.scalars.vectors import *

FLOW = 12  # rows of a composite's l, and K by rows


def coriolis_matrix_rows(n):
    return (TURN + COMPOSITE + PAIR + FLOW) * n


@kernel
def coriolis_matrix(P, tree, q, qd, C, work):
    """C, both triangles."""
    n = P.shape[1]
    turns, composites = work[: TURN * n], work[TURN * n : (TURN + COMPOSITE) * n]
    rest = work[(TURN + COMPOSITE) * n :]
    speeds, flows = rest[: PAIR * n], rest[PAIR * n :]
    turn_all(P, tree, q, turns)
    crba.all_composites(P, tree, q, turns, composites)
    velocities(P, tree, q, qd, turns, speeds)
    all_flows(P, tree, q, qd, turns, composites, speeds, flows)
    clear_scalars(tree, C, fill(turns, 0.0))
    for j in range(n):
        coriolis_column(P, tree, q, qd, C, turns, composites, speeds, flows, j)


# ---------------------------------------------------------------------------------------------- l and K


@kernel
def all_flows(P, tree, q, qd, turns, composites, speeds, flows):
    """l and K of each composite."""
    n = P.shape[1]
    for i in range(n):
        _, w = load_pair(speeds, i)
        Jxx, Jyy, Jxy, Jxz, Jyz = P[JXX, i], P[JYY, i], P[JXY, i], P[JXZ, i], P[JYZ, i]
        store_vector(flows, FLOW * i, cross(w, (P[HX, i], P[HY, i], P[HZ, i])))
        # [w]x J, column by column w x (J's column)
        K = transposed((cross(w, (Jxx, Jxy, Jxz)), cross(w, (Jxy, Jyy, Jyz)), cross(w, (Jxz, Jyz, 0.0))))
        store_matrix(flows, FLOW * i + 3, K)
    for i in range(n - 1, -1, -1):
        if tree[PARENT, i] >= 0:
            l, K = parent_flow(P, tree, q, qd, turns, composites, speeds, flows, i)
            row = FLOW * tree[PARENT, i]
            add_vector(flows, row, l)
            add_matrix(flows, row + 3, K)


@kernel
def parent_flow(P, tree, q, qd, turns, composites, speeds, flows, i):
    """l and K of a composite, in its parent's frame."""
    kind, turn = tree[KIND, i], turn_of(P, turns, i)
    m, h, _ = load_body(composites, i)
    l, K = load_vector(flows, FLOW * i), load_matrix(flows, FLOW * i + 3)
    if kind & SLIDES:
        zero, d = fill(turns, 0.0), travel(P, tree, q, i)
        _, w = load_pair(speeds, i)
        l, K = shifted(m, h, l, K, (zero, zero, d), slide_rate(P, tree, q, qd, i, w))
        h = h[0], h[1], h[2] + m * d
    h, l = out_of_link(P, i, turn, h), out_of_link(P, i, turn, l)
    K = matrix_turned_x(alpha(P, i), matrix_turned_z(turn, K))
    l, K = shifted(m, h, l, K, place(P, i), place_rate(P, tree, speeds, i))
    if not kind & STRAIGHT:
        l, K = turned(gamma(P, i), l), matrix_turned_z(gamma(P, i), K)
    return l, K


@kernel
def shifted(m, h, l, K, p, u):
    """l and K about a new point, relative to which the old one is at p with velocity u: K + l p^T + u h^T + m u p^T."""
    l = plus(l, times(m, u))
    return l, (
        plus(plus(K[0], times(l[0], p)), times(u[0], h)),
        plus(plus(K[1], times(l[1], p)), times(u[1], h)),
        plus(plus(K[2], times(l[2], p)), times(u[2], h)),
    )


@kernel
def place_rate(P, tree, speeds, i):
    """Velocity of link i's origin at q = 0 relative to the parent's origin, in axes rotated by gamma."""
    _, w = load_pair(speeds, tree[PARENT, i])
    if not tree[KIND, i] & STRAIGHT:
        w = turned_back(gamma(P, i), w)
    return cross(w, place(P, i))


# ---------------------------------------------------------------------------------------------- columns


@kernel
def coriolis_column(P, tree, q, qd, C, turns, composites, speeds, flows, j):
    """Column j of C from its diagonal inward, and row j."""
    body = load_body(composites, j)
    l, K = load_vector(flows, FLOW * j), load_matrix(flows, FLOW * j + 3)
    _, w = load_pair(speeds, j)
    zero = fill(turns, 0.0)
    unit = unit_wrench(P, tree, j, body, zero)
    changing, e = changing_wrench(P, tree, j, body, l, K, w, zero)
    i = j
    while True:
        _, w = load_pair(speeds, i)
        store(C, at(tree, i, j), felt(P, tree, i, changing))
        store(C, at(tree, j, i), felt_by_rate(P, tree, i, unit, e, w))
        parent = tree[PARENT, i]
        clear_lanes(tree, C, j, i, parent)
        if parent < 0:
            break
        turn = turn_of(P, turns, i)
        if tree[KIND, i] & SLIDES:
            e = plus(e, cross(slide_rate(P, tree, q, qd, i, w), unit[0]))
        e = out_of_link(P, i, turn, e)
        changing, unit = parent_wrench(P, tree, q, i, turn, changing), parent_wrench(P, tree, q, i, turn, unit)
        u = place_rate(P, tree, speeds, i)
        if not tree[KIND, i] & STRAIGHT:
            e, u = turned(gamma(P, i), e), turned(gamma(P, i), u)
        e = plus(e, cross(u, unit[0]))
        i = parent


@kernel
def changing_wrench(P, tree, j, body, l, K, w, zero):
    """The wrench of the field dJ_j/dt on a composite, and e; w: the link's angular velocity."""
    m, h, (Jxx, Jyy, Jzz, Jxy, Jxz, Jyz) = body
    zx, zy = w[1], -w[0]  # dz/dt = w x z
    kind = tree[KIND, j]
    if kind & PRISMATIC:
        return ((m * zx, m * zy, zero), cross(h, (zx, zy, zero))), (l[1], -l[0], zero)
    trace = K[0][0] + K[1][1]  # of K, without zz, which K z cancels
    f = cross((zx, zy, zero), h)
    force = f[0] - l[1], f[1] + l[0], f[2]
    moment = (
        (Jyy + Jzz) * zx - Jxy * zy - K[0][2],
        (Jxx + Jzz) * zy - Jxy * zx - K[1][2],
        trace - Jxz * zx - Jyz * zy,
    )
    e = -K[2][0], -K[2][1], trace
    if kind & HELICAL:  # plus PITCH of what a prismatic joint has
        rate = times(P[PITCH, j], (zx, zy, zero))
        force, moment = plus(force, times(m, rate)), plus(moment, cross(h, rate))
        e = e[0] + P[PITCH, j] * l[1], e[1] - P[PITCH, j] * l[0], e[2]
    return (force, moment), e


@kernel
def felt_by_rate(P, tree, i, unit, e, w):
    """The component of a wrench along dz/dt = w x z in place of joint i's axis, plus that of e if it rotates."""
    force, moment = unit
    kind = tree[KIND, i]
    if kind & PRISMATIC:
        return w[1] * force[0] - w[0] * force[1]
    turning = w[1] * moment[0] - w[0] * moment[1] + e[2]
    if kind & HELICAL:
        return turning + P[PITCH, i] * (w[1] * force[0] - w[0] * force[1])
    return turning
