"""Articulated bodies: forward dynamics in O(n).

`rnea.outward` with qdd = 0 has left each link's wrench at zero joint acceleration; friction stands in the tau rows. What
is still to be found is linear in qdd, so no velocity appears below: going inward, each link and all it carries becomes
one articulated body (its inertia felt through free joints) with a wrench; going outward, each joint gives way.

Inertia of an articulated body, force over moment: f = A a + B w', n = B^T a + C w', with A and C symmetric.
X rows, n each: q, qd, qdd (zero at first, then written), tau (as left by rnea.outward), torque given.
work: rows as in rnea.py, and SLOTS more for each link behind them.
"""

from fastdyn.kernels import rnea
from fastdyn.kernels.rows import (
    ARMATURE, COS_ALPHA, COS_GAMMA, HX, HY, HZ, JXX, JXY, JXZ, JYY, JYZ, KIND, MASS, OFFSET, PARENT, PRISMATIC, PX, PY,
    PZ, SIN_ALPHA, SIN_GAMMA, SMALLEST, STRAIGHT,
)  # fmt: skip
from fastdyn.kernels.vectors import (
    cross, into_link, matrix_turned_x, matrix_turned_z, symmetric_turned_x, symmetric_turned_z, turned_back,
)  # fmt: skip
from fastdyn.scalars import add, all_above, fill, kernel, load, store

SLOTS = 21  # A and C (xx yy zz xy xz yz each), B by rows
JOINT = 7  # and behind those of all links: the column of the joint over D (6 values), the force left over D
WORK = rnea.WORK + SLOTS + JOINT


@kernel
def rigid(P, X, work, i, row):
    """Link i's own inertia, as an articulated body without joints."""
    zero = fill(X, 0.0)
    m, hx, hy, hz = P[MASS, i], P[HX, i], P[HY, i], P[HZ, i]
    Jxx, Jyy = P[JXX, i], P[JYY, i]
    store(work, row, fill(X, m))
    store(work, row + 1, fill(X, m))
    store(work, row + 2, fill(X, m))
    store(work, row + 3, zero)
    store(work, row + 4, zero)
    store(work, row + 5, zero)
    store(work, row + 6, fill(X, Jyy))
    store(work, row + 7, fill(X, Jxx))
    store(work, row + 8, fill(X, Jxx + Jyy))
    store(work, row + 9, fill(X, -P[JXY, i]))
    store(work, row + 10, fill(X, -P[JXZ, i]))
    store(work, row + 11, fill(X, -P[JYZ, i]))
    store(work, row + 12, zero)
    store(work, row + 13, fill(X, hz))
    store(work, row + 14, fill(X, -hy))
    store(work, row + 15, fill(X, -hz))
    store(work, row + 16, zero)
    store(work, row + 17, fill(X, hx))
    store(work, row + 18, fill(X, hy))
    store(work, row + 19, fill(X, -hx))
    store(work, row + 20, zero)


@kernel
def inward(P, T, X, work):
    """Articulated inertias and wrenches; returns the joint found to move no inertia, or -1."""
    n = P.shape[1]
    bodies, joints = rnea.WORK * n, (rnea.WORK + SLOTS) * n
    for i in range(n):
        rigid(P, X, work, i, bodies + SLOTS * i)
    bad = -1
    for i in range(n - 1, -1, -1):
        prismatic = T[KIND, i] & PRISMATIC
        row = bodies + SLOTS * i
        Axx, Ayy, Azz = load(work, row), load(work, row + 1), load(work, row + 2)
        Axy, Axz, Ayz = load(work, row + 3), load(work, row + 4), load(work, row + 5)
        Cxx, Cyy, Czz = load(work, row + 6), load(work, row + 7), load(work, row + 8)
        Cxy, Cxz, Cyz = load(work, row + 9), load(work, row + 10), load(work, row + 11)
        Bxx, Bxy, Bxz = load(work, row + 12), load(work, row + 13), load(work, row + 14)
        Byx, Byy, Byz = load(work, row + 15), load(work, row + 16), load(work, row + 17)
        Bzx, Bzy, Bzz = load(work, row + 18), load(work, row + 19), load(work, row + 20)
        row = rnea.SLOTS * i
        fx, fy, fz = load(work, row + 2), load(work, row + 3), load(work, row + 4)
        nx, ny, nz = load(work, row + 5), load(work, row + 6), load(work, row + 7)

        # the wrench that a unit acceleration of the joint takes
        if prismatic:
            ux, uy, uz, tx, ty, tz = Axz, Ayz, Azz, Bzx, Bzy, Bzz
            inertia, felt = Azz + P[ARMATURE, i], fz
        else:
            ux, uy, uz, tx, ty, tz = Bxz, Byz, Bzz, Cxz, Cyz, Czz
            inertia, felt = Czz + P[ARMATURE, i], nz
        if not all_above(inertia, P[SMALLEST, i]):
            bad = i
        over = 1.0 / inertia
        force = load(X, 4 * n + i) - load(X, 3 * n + i) - felt  # what is left to accelerate the joint
        qdd = force * over
        ex, ey, ez, kx, ky, kz = ux * over, uy * over, uz * over, tx * over, ty * over, tz * over
        row = joints + JOINT * i
        store(work, row, ex)
        store(work, row + 1, ey)
        store(work, row + 2, ez)
        store(work, row + 3, kx)
        store(work, row + 4, ky)
        store(work, row + 5, kz)
        store(work, row + 6, qdd)
        if T[PARENT, i] < 0:
            continue

        # the joint gives way: inertia less column column^T / D, wrench plus column u / D
        Axx, Ayy, Azz = Axx - ux * ex, Ayy - uy * ey, Azz - uz * ez
        Axy, Axz, Ayz = Axy - ux * ey, Axz - ux * ez, Ayz - uy * ez
        Bxx, Bxy, Bxz = Bxx - ux * kx, Bxy - ux * ky, Bxz - ux * kz
        Byx, Byy, Byz = Byx - uy * kx, Byy - uy * ky, Byz - uy * kz
        Bzx, Bzy, Bzz = Bzx - uz * kx, Bzy - uz * ky, Bzz - uz * kz
        Cxx, Cyy, Czz = Cxx - tx * kx, Cyy - ty * ky, Czz - tz * kz
        Cxy, Cxz, Cyz = Cxy - tx * ky, Cxz - tx * kz, Cyz - ty * kz
        fx, fy, fz = fx + ux * qdd, fy + uy * qdd, fz + uz * qdd
        nx, ny, nz = nx + tx * qdd, ny + ty * qdd, nz + tz * qdd
        rnea.hand_inward(P, T, X, work, i, fx, fy, fz, nx, ny, nz)

        row = rnea.SLOTS * i
        s, c = load(work, row), load(work, row + 1)
        ca, sa = P[COS_ALPHA, i], P[SIN_ALPHA, i]
        px, py, pz = P[PX, i], P[PY, i], P[PZ, i]
        if prismatic:  # to where the origin is when the joint is at its zero
            d = load(X, i) + P[OFFSET, i]
            Bxx, Bxy, Bxz, Byx, Byy, Byz, Bzx, Bzy, Bzz, Cxx, Cyy, Czz, Cxy, Cxz, Cyz = shifted_z(
                d, Axx, Ayy, Axy, Axz, Ayz, Bxx, Bxy, Bxz, Byx, Byy, Byz, Bzx, Bzy, Bzz, Cxx, Cyy, Czz, Cxy, Cxz, Cyz
            )
        Axx, Ayy, Azz, Axy, Axz, Ayz = symmetric_turned_z(c, s, Axx, Ayy, Azz, Axy, Axz, Ayz)
        Axx, Ayy, Azz, Axy, Axz, Ayz = symmetric_turned_x(ca, sa, Axx, Ayy, Azz, Axy, Axz, Ayz)
        Cxx, Cyy, Czz, Cxy, Cxz, Cyz = symmetric_turned_z(c, s, Cxx, Cyy, Czz, Cxy, Cxz, Cyz)
        Cxx, Cyy, Czz, Cxy, Cxz, Cyz = symmetric_turned_x(ca, sa, Cxx, Cyy, Czz, Cxy, Cxz, Cyz)
        Bxx, Bxy, Bxz, Byx, Byy, Byz, Bzx, Bzy, Bzz = matrix_turned_z(c, s, Bxx, Bxy, Bxz, Byx, Byy, Byz, Bzx, Bzy, Bzz)
        Bxx, Bxy, Bxz, Byx, Byy, Byz, Bzx, Bzy, Bzz = matrix_turned_x(
            ca, sa, Bxx, Bxy, Bxz, Byx, Byy, Byz, Bzx, Bzy, Bzz
        )
        # about the parent's origin: B' = B - A [p]x, C' = C - B^T [p]x + [p]x B'
        Dxx, Dxy, Dxz = Bxx - Axy * pz + Axz * py, Bxy + Axx * pz - Axz * px, Bxz - Axx * py + Axy * px
        Dyx, Dyy, Dyz = Byx - Ayy * pz + Ayz * py, Byy + Axy * pz - Ayz * px, Byz - Axy * py + Ayy * px
        Dzx, Dzy, Dzz = Bzx - Ayz * pz + Azz * py, Bzy + Axz * pz - Azz * px, Bzz - Axz * py + Ayz * px
        Cxx = Cxx - Byx * pz + Bzx * py + py * Dzx - pz * Dyx
        Cyy = Cyy + Bxy * pz - Bzy * px + pz * Dxy - px * Dzy
        Czz = Czz - Bxz * py + Byz * px + px * Dyz - py * Dxz
        Cxy = Cxy + Bxx * pz - Bzx * px + py * Dzy - pz * Dyy
        Cxz = Cxz - Bxx * py + Byx * px + py * Dzz - pz * Dyz
        Cyz = Cyz - Bxy * py + Byy * px + pz * Dxz - px * Dzz
        if not T[KIND, i] & STRAIGHT:
            cg, sg = P[COS_GAMMA, i], P[SIN_GAMMA, i]
            Axx, Ayy, Azz, Axy, Axz, Ayz = symmetric_turned_z(cg, sg, Axx, Ayy, Azz, Axy, Axz, Ayz)
            Cxx, Cyy, Czz, Cxy, Cxz, Cyz = symmetric_turned_z(cg, sg, Cxx, Cyy, Czz, Cxy, Cxz, Cyz)
            Dxx, Dxy, Dxz, Dyx, Dyy, Dyz, Dzx, Dzy, Dzz = matrix_turned_z(
                cg, sg, Dxx, Dxy, Dxz, Dyx, Dyy, Dyz, Dzx, Dzy, Dzz
            )
        row = bodies + SLOTS * T[PARENT, i]
        add(work, row, Axx)
        add(work, row + 1, Ayy)
        add(work, row + 2, Azz)
        add(work, row + 3, Axy)
        add(work, row + 4, Axz)
        add(work, row + 5, Ayz)
        add(work, row + 6, Cxx)
        add(work, row + 7, Cyy)
        add(work, row + 8, Czz)
        add(work, row + 9, Cxy)
        add(work, row + 10, Cxz)
        add(work, row + 11, Cyz)
        add(work, row + 12, Dxx)
        add(work, row + 13, Dxy)
        add(work, row + 14, Dxz)
        add(work, row + 15, Dyx)
        add(work, row + 16, Dyy)
        add(work, row + 17, Dyz)
        add(work, row + 18, Dzx)
        add(work, row + 19, Dzy)
        add(work, row + 20, Dzz)
    return bad


@kernel
def shifted_z(d, Axx, Ayy, Axy, Axz, Ayz, Bxx, Bxy, Bxz, Byx, Byy, Byz, Bzx, Bzy, Bzz, Cxx, Cyy, Czz, Cxy, Cxz, Cyz):
    """B and C about a point that lies d further back along z: B' = B - A [p]x, C' = C - B^T [p]x + [p]x B'."""
    Dxx, Dxy = Bxx - Axy * d, Bxy + Axx * d
    Dyx, Dyy = Byx - Ayy * d, Byy + Axy * d
    Dzx, Dzy = Bzx - Ayz * d, Bzy + Axz * d
    Cxx, Cyy, Cxy = Cxx - (Byx + Dyx) * d, Cyy + (Bxy + Dxy) * d, Cxy + (Bxx - Dyy) * d
    Cxz, Cyz = Cxz - Byz * d, Cyz + Bxz * d
    return Dxx, Dxy, Bxz, Dyx, Dyy, Byz, Dzx, Dzy, Bzz, Cxx, Cyy, Czz, Cxy, Cxz, Cyz


@kernel
def outward(P, T, X, work):
    """Joint accelerations, from the base to the tips."""
    n = P.shape[1]
    motion, joints = rnea.SLOTS * n, (rnea.WORK + SLOTS) * n
    zero = fill(X, 0.0)
    ax, ay, az, vx, vy, vz = zero, zero, zero, zero, zero, zero  # angular, linear acceleration due to qdd
    for i in range(n):
        kind, parent = T[KIND, i], T[PARENT, i]
        if parent < 0:
            ax, ay, az, vx, vy, vz = zero, zero, zero, zero, zero, zero
        else:
            row = rnea.SLOTS * i
            s, c = load(work, row), load(work, row + 1)
            ca, sa = P[COS_ALPHA, i], P[SIN_ALPHA, i]
            row = motion + rnea.MOTION * parent
            ax, ay, az = load(work, row + 3), load(work, row + 4), load(work, row + 5)
            vx, vy, vz = load(work, row + 6), load(work, row + 7), load(work, row + 8)
            if not kind & STRAIGHT:
                cg, sg = P[COS_GAMMA, i], P[SIN_GAMMA, i]
                ax, ay, az = turned_back(cg, sg, ax, ay, az)
                vx, vy, vz = turned_back(cg, sg, vx, vy, vz)
            ux, uy, uz = cross(ax, ay, az, P[PX, i], P[PY, i], P[PZ, i])
            ax, ay, az = into_link(c, s, ca, sa, ax, ay, az)
            vx, vy, vz = into_link(c, s, ca, sa, vx + ux, vy + uy, vz + uz)
            if kind & PRISMATIC:
                d = load(X, i) + P[OFFSET, i]
                vx, vy = vx + ay * d, vy - ax * d
        row = joints + JOINT * i
        carried = vx * load(work, row) + vy * load(work, row + 1) + vz * load(work, row + 2)
        carried = carried + ax * load(work, row + 3) + ay * load(work, row + 4) + az * load(work, row + 5)
        qdd = load(work, row + 6) - carried
        store(X, 2 * n + i, qdd)
        if kind & PRISMATIC:
            vz = vz + qdd
        else:
            az = az + qdd
        row = motion + rnea.MOTION * i
        store(work, row + 3, ax)
        store(work, row + 4, ay)
        store(work, row + 5, az)
        store(work, row + 6, vx)
        store(work, row + 7, vy)
        store(work, row + 8, vz)
