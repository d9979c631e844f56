"""Recursive Newton-Euler: the forces that a motion takes, O(n).

Everything of link i is expressed in link i's own frame, about its origin (eqs. 3.3-50 to 3.3-58 of the chapter on robot
arm dynamics, there for frames at the links' far ends). Two passes: `outward` finds each link's motion and the wrench
that this motion takes, `inward` sums the wrenches of all that a joint carries.

X rows, n each, in the user's order of joints: q, qd, qdd (read), tau (written). work: WORK rows for each link.
"""

from fastdyn.kernels.joints import TURNS, coordinate, turn, turn_all
from fastdyn.kernels.rows import *
from fastdyn.kernels.vectors import cross, into_link, out_of_link, turned, turned_back
from fastdyn.scalars import add, by_sign, fill, kernel, load, store

# work rows of a link, those of all links together: its turn (joints.py), then
WRENCH = 6  # force, moment
MOTION = 9  # angular velocity, angular acceleration, linear acceleration
WORK = TURNS + WRENCH + MOTION


@kernel
def wrench_row(P, i):
    return TURNS * P.shape[1] + WRENCH * i


@kernel
def motion_row(P, i):
    return (TURNS + WRENCH) * P.shape[1] + MOTION * i


@kernel
def whirl(wx, wy, wz, ax, ay, az):
    """[a]x + [w]x[w]x: times a place, the acceleration there against the origin's. (3.3-52), (3.3-53)"""
    xx, yy, zz = wx * wx, wy * wy, wz * wz
    xy, xz, yz = wx * wy, wx * wz, wy * wz
    return -(yy + zz), xy - az, xz + ay, xy + az, -(xx + zz), yz - ax, xz - ay, yz + ax, -(xx + yy)


@kernel
def outward(P, T, X, work):
    """Each link's motion, from the base to the tips, and the wrench it takes; tau starts with what the drive takes."""
    n = P.shape[1]
    zero = fill(X, 0.0)
    turn_all(P, T, X, work)
    wx, wy, wz = zero, zero, zero  # angular velocity
    ax, ay, az = zero, zero, zero  # angular acceleration
    vx, vy, vz = zero, zero, zero  # linear acceleration of the frame's origin
    Uxx, Uxy, Uxz, Uyx, Uyy, Uyz, Uzx, Uzy, Uzz = zero, zero, zero, zero, zero, zero, zero, zero, zero

    for i in range(n):
        kind, parent, j = T[KIND, i], T[PARENT, i], T[INDEX, i]
        s, c = turn(P, work, i)
        rate, acceleration = load(X, n + j), load(X, 2 * n + j)

        if parent < 0:
            # the base accelerates at -g, so no link needs its own gravity term
            wx, wy, wz = zero, zero, zero
            ax, ay, az = zero, zero, zero
            vx, vy, vz = turned_back(c, s, P[GX, i], P[GY, i], fill(X, P[GZ, i]))
        else:
            if kind & STRAIGHT:
                px, pz = P[PX, i], P[PZ, i]
                vx, vy, vz = vx + Uxx * px + Uxz * pz, vy + Uyx * px + Uyz * pz, vz + Uzx * px + Uzz * pz
            else:
                row = motion_row(P, parent)
                cg, sg = P[COS_GAMMA, i], P[SIN_GAMMA, i]
                wx, wy, wz = turned_back(cg, sg, load(work, row), load(work, row + 1), load(work, row + 2))
                ax, ay, az = turned_back(cg, sg, load(work, row + 3), load(work, row + 4), load(work, row + 5))
                vx, vy, vz = turned_back(cg, sg, load(work, row + 6), load(work, row + 7), load(work, row + 8))
                px, pz = P[PX, i], P[PZ, i]
                ux, uy, uz = cross(wx, wy, wz, px, P[PY, i], pz)
                ux, uy, uz = cross(wx, wy, wz, ux, uy, uz)
                ex, ey, ez = cross(ax, ay, az, px, P[PY, i], pz)
                vx, vy, vz = vx + ux + ex, vy + uy + ey, vz + uz + ez
            ca, sa = P[COS_ALPHA, i], P[SIN_ALPHA, i]
            wx, wy, wz = into_link(c, s, ca, sa, wx, wy, wz)
            ax, ay, az = into_link(c, s, ca, sa, ax, ay, az)
            vx, vy, vz = into_link(c, s, ca, sa, vx, vy, vz)

        if kind & PRISMATIC:
            Uxx, Uxy, Uxz, Uyx, Uyy, Uyz, Uzx, Uzy, Uzz = whirl(wx, wy, wz, ax, ay, az)
            # (3.3-52): the joint's travel, the Coriolis term 2 w x z qd, and the joint's own acceleration
            d, twice = coordinate(P, T, X, i), rate + rate
            vx = vx + Uxz * d + wy * twice
            vy = vy + Uyz * d - wx * twice
            vz = vz + Uzz * d + acceleration
            m, hx, hy, hz = P[MASS, i], P[HX, i], P[HY, i], P[HZ, i]
            # (3.3-53), (3.3-54), and the force's moment about the origin
            fx = vx * m + Uxx * hx + Uxy * hy + Uxz * hz
            fy = vy * m + Uyx * hx + Uyy * hy + Uyz * hz
            fz = vz * m + Uzx * hx + Uzy * hy + Uzz * hz
            nx, ny, nz = cross(hx, hy, hz, vx, vy, vz)
        else:
            # (3.3-50), (3.3-51): the parent's motion plus the joint's, about z
            ax, ay, az = ax + wy * rate, ay - wx * rate, az + acceleration
            wz = wz + rate
            Uxx, Uxy, Uxz, Uyx, Uyy, Uyz, Uzx, Uzy, Uzz = whirl(wx, wy, wz, ax, ay, az)
            hx, hy = P[HX, i], P[HY, i]
            Jxx, Jyy, Jxy, Jxz, Jyz = P[JXX, i], P[JYY, i], P[JXY, i], P[JXZ, i], P[JYZ, i]
            # (3.3-53), (3.3-54): mass and hz are the parent's by now
            fx = Uxx * hx + Uxy * hy
            fy = Uyx * hx + Uyy * hy
            fz = Uzx * hx + Uzy * hy
            # (3.3-55) about the origin: the antisymmetric part of U J, and h x v
            nx = hy * vz + Uzx * Jxy + Uzy * Jyy + (Uzz - Uyy) * Jyz - Uyx * Jxz
            ny = (Uxx - Uzz) * Jxz + Uxy * Jyz - Uzx * Jxx - Uzy * Jxy - hx * vz
            nz = hx * vy - hy * vx + Uyx * Jxx + (Uyy - Uxx) * Jxy + Uyz * Jxz - Uxy * Jyy - Uxz * Jyz

        store_wrench(work, wrench_row(P, i), fx, fy, fz, nx, ny, nz)
        if kind & FORK:
            row = motion_row(P, i)
            store(work, row, wx)
            store(work, row + 1, wy)
            store(work, row + 2, wz)
            store(work, row + 3, ax)
            store(work, row + 4, ay)
            store(work, row + 5, az)
            store(work, row + 6, vx)
            store(work, row + 7, vy)
            store(work, row + 8, vz)

        drive = P[ARMATURE, i] * acceleration
        if kind & RUBS:
            drive = drive + rate * P[VISCOUS, i] + by_sign(rate, P[PLUS, i], P[MINUS, i])
        store(X, 3 * n + j, drive)


@kernel
def surroundings(P, T, wrenches, work):
    """Takes away what the surroundings exert on each link: 6 rows a link, force then moment, in the user's frames."""
    for i in range(P.shape[1]):
        row = 6 * T[INDEX, i]
        fx, fy, fz = load(wrenches, row), load(wrenches, row + 1), load(wrenches, row + 2)
        mx, my, mz = load(wrenches, row + 3), load(wrenches, row + 4), load(wrenches, row + 5)
        fx, fy, fz = from_user(P, i, fx, fy, fz)
        mx, my, mz = from_user(P, i, mx, my, mz)
        ex, ey, ez = cross(P[EX, i], P[EY, i], P[EZ, i], fx, fy, fz)
        add_wrench(work, wrench_row(P, i), -fx, -fy, -fz, -(mx + ex), -(my + ey), -(mz + ez))


@kernel
def from_user(P, i, x, y, z):
    """A vector of the user's link frame, expressed in the model's."""
    return (
        P[EXX, i] * x + P[EXY, i] * y + P[EXZ, i] * z,
        P[EYX, i] * x + P[EYY, i] * y + P[EYZ, i] * z,
        P[EZX, i] * x + P[EZY, i] * y + P[EZZ, i] * z,
    )


@kernel
def to_user(P, i, x, y, z):
    """A vector of the model's link frame, expressed in the user's."""
    return (
        P[EXX, i] * x + P[EYX, i] * y + P[EZX, i] * z,
        P[EXY, i] * x + P[EYY, i] * y + P[EZY, i] * z,
        P[EXZ, i] * x + P[EYZ, i] * y + P[EZZ, i] * z,
    )


@kernel
def inward(P, T, X, work):
    """From the tips to the base: what each joint transmits, and of it what its motor gives.

    A straight link hands its wrench on in registers, any other through its parent's rows. A FORK's rows hold all that
    its joint transmits afterwards.
    """
    n = P.shape[1]
    zero = fill(X, 0.0)
    fx, fy, fz, nx, ny, nz = zero, zero, zero, zero, zero, zero  # what the link just visited hands to this one
    for i in range(n - 1, -1, -1):
        kind, row = T[KIND, i], wrench_row(P, i)
        fx, fy, fz = fx + load(work, row), fy + load(work, row + 1), fz + load(work, row + 2)
        nx, ny, nz = nx + load(work, row + 3), ny + load(work, row + 4), nz + load(work, row + 5)
        if kind & FORK:
            store_wrench(work, row, fx, fy, fz, nx, ny, nz)
        add(X, 3 * n + T[INDEX, i], fz if kind & PRISMATIC else nz)  # (3.3-58)
        if T[PARENT, i] >= 0:
            s, c = turn(P, work, i)
            fx, fy, fz, nx, ny, nz = parent_wrench(P, T, X, i, s, c, fx, fy, fz, nx, ny, nz)
        if not kind & STRAIGHT:
            if T[PARENT, i] >= 0:
                add_wrench(work, wrench_row(P, T[PARENT, i]), fx, fy, fz, nx, ny, nz)
            fx, fy, fz, nx, ny, nz = zero, zero, zero, zero, zero, zero


@kernel
def store_wrench(work, row, fx, fy, fz, nx, ny, nz):
    store(work, row, fx)
    store(work, row + 1, fy)
    store(work, row + 2, fz)
    store(work, row + 3, nx)
    store(work, row + 4, ny)
    store(work, row + 5, nz)


@kernel
def add_wrench(work, row, fx, fy, fz, nx, ny, nz):
    add(work, row, fx)
    add(work, row + 1, fy)
    add(work, row + 2, fz)
    add(work, row + 3, nx)
    add(work, row + 4, ny)
    add(work, row + 5, nz)


@kernel
def parent_wrench(P, T, X, i, s, c, fx, fy, fz, nx, ny, nz):
    """A wrench on link i, about its origin, as its parent sees it, about the parent's. (3.3-56), (3.3-57)"""
    kind = T[KIND, i]
    if kind & PRISMATIC:  # the moment about where the frame's origin is when the joint is at its zero
        d = coordinate(P, T, X, i)
        nx, ny = nx - d * fy, ny + d * fx
    ca, sa = P[COS_ALPHA, i], P[SIN_ALPHA, i]
    fx, fy, fz = out_of_link(c, s, ca, sa, fx, fy, fz)
    nx, ny, nz = out_of_link(c, s, ca, sa, nx, ny, nz)
    px, pz = P[PX, i], P[PZ, i]
    if kind & STRAIGHT:
        nx, ny, nz = nx - pz * fy, ny + pz * fx - px * fz, nz + px * fy
    else:
        mx, my, mz = cross(px, P[PY, i], pz, fx, fy, fz)
        cg, sg = P[COS_GAMMA, i], P[SIN_GAMMA, i]
        nx, ny, nz = turned(cg, sg, nx + mx, ny + my, nz + mz)
        fx, fy, fz = turned(cg, sg, fx, fy, fz)
    return fx, fy, fz, nx, ny, nz


@kernel
def reactions(P, T, work, F):
    """What the parent exerts on each link at its joint, in the user's link frame, after both passes; every link a FORK.

    The wrenches in `work` lack the inertia that was moved to the parents: it rests on the joint and is added here.
    """
    n = P.shape[1]
    for i in range(n):
        row = motion_row(P, i)
        wx, wy, wz = load(work, row), load(work, row + 1), load(work, row + 2)
        ax, ay, az = load(work, row + 3), load(work, row + 4), load(work, row + 5)
        vx, vy, vz = load(work, row + 6), load(work, row + 7), load(work, row + 8)
        Uxx, Uxy, Uxz, Uyx, Uyy, Uyz, Uzx, Uzy, Uzz = whirl(wx, wy, wz, ax, ay, az)
        m, hz = P[LOST_MASS, i], P[LOST_HZ, i]
        Jxx, Jyy, Jzz = P[LOST_XX, i], P[LOST_YY, i], P[LOST_ZZ, i]
        Jxy, Jxz, Jyz = P[LOST_XY, i], P[LOST_XZ, i], P[LOST_YZ, i]
        row = wrench_row(P, i)
        fx = load(work, row) + vx * m + Uxz * hz
        fy = load(work, row + 1) + vy * m + Uyz * hz
        fz = load(work, row + 2) + vz * m + Uzz * hz
        nx = load(work, row + 3) - hz * vy + Uzx * Jxy + Uzy * Jyy + (Uzz - Uyy) * Jyz - Uyx * Jxz - Uyz * Jzz
        ny = load(work, row + 4) + hz * vx + (Uxx - Uzz) * Jxz + Uxy * Jyz + Uxz * Jzz - Uzx * Jxx - Uzy * Jxy
        nz = load(work, row + 5) + Uyx * Jxx + (Uyy - Uxx) * Jxy + Uyz * Jxz - Uxy * Jyy - Uxz * Jyz
        d = P[JOINT_Z, i]  # moments about the joint's own origin
        nx, ny = nx + d * fy, ny - d * fx
        fx, fy, fz = to_user(P, i, fx, fy, fz)
        nx, ny, nz = to_user(P, i, nx, ny, nz)
        row = 6 * T[INDEX, i]
        store(F, row, fx)
        store(F, row + 1, fy)
        store(F, row + 2, fz)
        store(F, row + 3, nx)
        store(F, row + 4, ny)
        store(F, row + 5, nz)
