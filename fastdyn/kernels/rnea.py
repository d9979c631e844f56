"""Recursive Newton-Euler: the forces of a motion, O(n).

Everything of link i is expressed in link i's own frame, about its origin (eqs. 3.3-50 to 3.3-58 of the chapter on robot
arm dynamics, there for frames at the links' far ends). Two passes: `outward` computes each link's motion and the wrench
that causes it, `inward` sums the wrenches of each joint's subtree.
"""

from fastdyn.kernels.frames import *
from fastdyn.kernels.joints import *
from fastdyn.kernels.rows import *
from fastdyn.scalars import fill, kernel, load, store
from fastdyn.scalars.vectors import *

MOTION = 9  # rows of a link's motion: angular velocity, angular acceleration, acceleration of the origin
ROWS_A_LINK = TURN + PAIR + MOTION


def inverse_dynamics_rows(n):
    return ROWS_A_LINK * n


def bias_forces_rows(n):
    return ROWS_A_LINK * n


def joint_reactions_rows(n):
    return ROWS_A_LINK * n


@kernel
def inverse_dynamics(P, tree, q, qd, qdd, wrenches, tau, work):
    """tau of a motion under external wrenches."""
    turns, loads, motions, _ = parts(P, work)
    outward(P, tree, q, qd, qdd, turns, loads, motions, False)
    surroundings(P, tree, wrenches, loads)
    inward(P, tree, q, qd, qdd, tau, turns, loads, False)


@kernel
def bias_forces(P, tree, q, qd, tau, work):
    """tau at zero acceleration."""
    turns, loads, motions, _ = parts(P, work)
    still = work[:0]
    outward(P, tree, q, qd, still, turns, loads, motions, False)
    inward(P, tree, q, qd, still, tau, turns, loads, False)


@kernel
def joint_reactions(P, tree, q, qd, qdd, wrenches, reactions, work):
    """What the parent exerts on each link at its joint, in the user's link frame: force, moment."""
    turns, loads, motions, _ = parts(P, work)
    outward(P, tree, q, qd, qdd, turns, loads, motions, True)
    surroundings(P, tree, wrenches, loads)
    inward(P, tree, q, qd, qdd, work[:0], turns, loads, True)
    for i in range(P.shape[1]):
        store_pair(reactions, tree[INDEX, i], reaction(P, i, load_motion(motions, i), load_pair(loads, i)))


@kernel
def parts(P, work):
    """The rows of `work` by name: turns, loads (a wrench for each link), motions (MOTION rows for each), the rest."""
    n = P.shape[1]
    loads, motions, rest = TURN * n, (TURN + PAIR) * n, ROWS_A_LINK * n
    return work[:loads], work[loads:motions], work[motions:rest], work[rest:]


# ---------------------------------------------------------------------------------------------- outward


@kernel
def outward(P, tree, q, qd, qdd, turns, loads, motions, keep):
    """Each link's motion, from the base to the tips, and the wrench that causes it.

    qdd: an empty buffer for no acceleration; keep: whether every link's motion is stored.
    w, dw: angular velocity and acceleration; a: acceleration of the origin; U: see `whirl`.
    """
    turn_all(P, tree, q, turns)
    zero, none = fill(turns, 0.0), zero_vector(turns)
    w, dw, a, U = none, none, none, (none, none, none)
    for i in range(P.shape[1]):
        kind, parent, j = tree[KIND, i], tree[PARENT, i], tree[INDEX, i]
        turn, rate = turn_of(P, turns, i), load(qd, j)
        acceleration = load(qdd, j) if qdd.shape[0] > 0 else zero
        if parent < 0:
            w, dw, a = none, none, turned_back(turn, base_acceleration(P, i, turns))
        else:
            if kind & STRAIGHT:
                a = plus_straight(P, i, a, U)
            else:
                w, dw, a = beside(P, i, load_motion(motions, parent))
            w, dw, a = into_link(P, i, turn, w), into_link(P, i, turn, dw), into_link(P, i, turn, a)

        if kind & SLIDES:
            if kind & HELICAL:
                w, dw = turning(w, dw, rate, acceleration)
            U = whirl(w, dw)
            a = sliding(travel(P, tree, q, i), along(P, tree, i, rate), along(P, tree, i, acceleration), w, a, U)
            wrench = heavy_wrench(P, i, a, U)
            if kind & HELICAL:
                wrench = wrench[0], plus(wrench[1], second_moment(P, i, U))
        else:
            w, dw = turning(w, dw, rate, acceleration)
            U = whirl(w, dw)
            wrench = light_wrench(P, i, a, U)

        store_pair(loads, i, wrench)
        if keep or kind & FORK:
            store_motion(motions, i, w, dw, a)


@kernel
def base_acceleration(P, i, buffer):
    """The base accelerates at -g, so that no link needs its own gravity term."""
    return P[GX, i], P[GY, i], fill(buffer, P[GZ, i])


@kernel
def plus_straight(P, i, a, U):
    """(3.3-52): the acceleration of the parent at a straight link's origin at q = 0."""
    px, pz = P[PX, i], P[PZ, i]
    return (
        a[0] + U[0][0] * px + U[0][2] * pz,
        a[1] + U[1][0] * px + U[1][2] * pz,
        a[2] + U[2][0] * px + U[2][2] * pz,
    )


@kernel
def beside(P, i, motion):
    """The parent's motion in axes rotated by gamma, with its acceleration at any link's origin at q = 0. (3.3-52)"""
    w, dw, a = motion
    w, dw, a = turned_back(gamma(P, i), w), turned_back(gamma(P, i), dw), turned_back(gamma(P, i), a)
    p = place(P, i)
    return w, dw, plus(plus(a, cross(w, cross(w, p))), cross(dw, p))


@kernel
def turning(w, dw, rate, acceleration):
    """(3.3-50), (3.3-51): the parent's motion plus the joint's, about z."""
    return (w[0], w[1], w[2] + rate), (dw[0] + w[1] * rate, dw[1] - w[0] * rate, dw[2] + acceleration)


@kernel
def sliding(d, speed, acceleration, w, a, U):
    """(3.3-52): the joint's travel d, the Coriolis term 2 w x z speed, and the joint's own acceleration, along z."""
    twice = speed + speed
    return (
        a[0] + U[0][2] * d + w[1] * twice,
        a[1] + U[1][2] * d - w[0] * twice,
        a[2] + U[2][2] * d + acceleration,
    )


@kernel
def whirl(w, dw):
    """[dw]x + [w]x[w]x: times a position, the acceleration there relative to the origin's. (3.3-52), (3.3-53)"""
    xx, yy, zz = w[0] * w[0], w[1] * w[1], w[2] * w[2]
    xy, xz, yz = w[0] * w[1], w[0] * w[2], w[1] * w[2]
    return (
        (-(yy + zz), xy - dw[2], xz + dw[1]),
        (xy + dw[2], -(xx + zz), yz - dw[0]),
        (xz - dw[1], yz + dw[0], -(xx + yy)),
    )


@kernel
def light_wrench(P, i, a, U):
    """The wrench of a revolute link's motion: mass and hz have been moved to the parent."""
    hx, hy = P[HX, i], P[HY, i]
    # (3.3-53), (3.3-54)
    force = U[0][0] * hx + U[0][1] * hy, U[1][0] * hx + U[1][1] * hy, U[2][0] * hx + U[2][1] * hy
    # (3.3-55) about the origin: h x a, and the second moments' part
    lever = hy * a[2], -(hx * a[2]), hx * a[1] - hy * a[0]
    return force, plus(lever, second_moment(P, i, U))


@kernel
def heavy_wrench(P, i, a, U):
    """The wrench due to mass and first moment. (3.3-53), (3.3-54)"""
    h = P[HX, i], P[HY, i], P[HZ, i]
    return plus(times(P[MASS, i], a), matrix_vector(U, h)), cross(h, a)


@kernel
def second_moment(P, i, U):
    """(3.3-55): the moment due to the link's second moments."""
    return whirled(U, P[JXX, i], P[JYY, i], P[JXY, i], P[JXZ, i], P[JYZ, i])


@kernel
def whirled(U, Jxx, Jyy, Jxy, Jxz, Jyz):
    """The antisymmetric part of U J, as a vector, for Jzz = 0."""
    (Uxx, Uxy, Uxz), (Uyx, Uyy, Uyz), (Uzx, Uzy, Uzz) = U
    return (
        Uzx * Jxy + Uzy * Jyy + (Uzz - Uyy) * Jyz - Uyx * Jxz,
        (Uxx - Uzz) * Jxz + Uxy * Jyz - Uzx * Jxx - Uzy * Jxy,
        Uyx * Jxx + (Uyy - Uxx) * Jxy + Uyz * Jxz - Uxy * Jyy - Uxz * Jyz,
    )


@kernel
def load_motion(motions, i):
    row = MOTION * i
    return load_vector(motions, row), load_vector(motions, row + 3), load_vector(motions, row + 6)


@kernel
def store_motion(motions, i, w, dw, a):
    store_vector(motions, MOTION * i, w)
    store_vector(motions, MOTION * i + 3, dw)
    store_vector(motions, MOTION * i + 6, a)


@kernel
def surroundings(P, tree, wrenches, loads):
    """Subtracts external wrenches, which are given in the user's frames; an empty buffer for none."""
    if wrenches.shape[0] > 0:
        for i in range(P.shape[1]):
            force, moment = load_pair(wrenches, tree[INDEX, i])
            force, moment = matrix_vector(user_axes(P, i), force), matrix_vector(user_axes(P, i), moment)
            moment = plus(moment, cross((P[EX, i], P[EY, i], P[EZ, i]), force))
            add_pair(loads, i, (negative(force), negative(moment)))


@kernel
def user_axes(P, i):
    """The rotation of the user's link frame in the model's."""
    return (P[EXX, i], P[EXY, i], P[EXZ, i]), (P[EYX, i], P[EYY, i], P[EYZ, i]), (P[EZX, i], P[EZY, i], P[EZZ, i])


# ---------------------------------------------------------------------------------------------- inward


@kernel
def inward(P, tree, q, qd, qdd, tau, turns, loads, keep):
    """From the tips to the base: the wrench that each joint transmits, and its component tau.

    A straight link passes its wrench on in registers, any other through its parent's rows. keep: `loads` becomes the
    wrenches that joints transmit, and tau is not written.
    """
    none = zero_pair(turns)
    wrench = none  # passed on by the link visited last
    for i in range(P.shape[1] - 1, -1, -1):
        wrench = plus_pair(wrench, load_pair(loads, i))
        if keep:
            store_pair(loads, i, wrench)
        else:
            store(tau, tree[INDEX, i], plus_drive(P, tree, qd, qdd, i, felt(P, tree, i, wrench)))  # (3.3-58)
        if tree[PARENT, i] >= 0:
            wrench = parent_wrench(P, tree, q, i, turn_of(P, turns, i), wrench)
        if not tree[KIND, i] & STRAIGHT:
            if tree[PARENT, i] >= 0:
                add_pair(loads, tree[PARENT, i], wrench)
            wrench = none


@kernel
def plus_drive(P, tree, qd, qdd, i, force):
    """A joint's force plus rotor inertia and friction; empty buffers for no acceleration, no velocity."""
    if qdd.shape[0] > 0:
        force = force + P[ARMATURE, i] * load(qdd, tree[INDEX, i])
    if qd.shape[0] > 0 and tree[KIND, i] & RUBS:
        force = force + friction(P, tree, qd, i)
    return force


@kernel
def reaction(P, i, motion, wrench):
    """The wrench that joint i transmits, about the joint's own origin, in the user's link frame.

    `wrench` lacks the inertia that was moved to the parent: it acts on this joint and is added here.
    """
    w, dw, a = motion
    U = whirl(w, dw)
    m, hz, Jzz = P[LOST_MASS, i], P[LOST_HZ, i], P[LOST_ZZ, i]
    fx, fy, fz = plus(wrench[0], plus(times(m, a), times(hz, column(U, 2))))
    J = whirled(U, P[LOST_XX, i], P[LOST_YY, i], P[LOST_XY, i], P[LOST_XZ, i], P[LOST_YZ, i])
    nx, ny, nz = plus(wrench[1], J)
    nx, ny = nx - hz * a[1] - U[1][2] * Jzz, ny + hz * a[0] + U[0][2] * Jzz
    d = P[JOINT_Z, i]
    user = user_axes(P, i)
    return transposed_vector(user, (fx, fy, fz)), transposed_vector(user, (nx + d * fy, ny - d * fx, nz))
