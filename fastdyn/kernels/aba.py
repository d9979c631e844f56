"""Articulated bodies: forward dynamics in O(n).

`rnea.outward` with qdd = 0 has left each link's wrench at zero joint acceleration; friction stands in the tau rows.
What is still to be found is linear in qdd, so no velocity appears below: going inward, each link and all it carries
becomes one articulated body (its inertia felt through free joints) with a wrench; going outward, each joint gives way.

Inertia of an articulated body, force over moment: f = A a + B w', n = B^T a + C w', with A and C symmetric.
X rows, n each, in the user's order of joints: q, qd, qdd (zero at first, then written), tau (as left by rnea.outward),
torque given.
work: rows as in rnea.py, and SLOTS more for each link behind them.
"""

from fastdyn.kernels import rnea
from fastdyn.kernels.joints import coordinate, turn
from fastdyn.kernels.rows import *
from fastdyn.kernels.vectors import (
    cross,
    into_link,
    matrix_turned_x,
    matrix_turned_z,
    symmetric_turned_x,
    symmetric_turned_z,
    turned_back,
)
from fastdyn.scalars import add, all_above, all_finite, fill, kernel, load, store

SLOTS = 21  # A and C (xx yy zz xy xz yz each), B by rows
JOINT = 7  # and behind those of all links: the column of the joint over D (6 values), the force left over D
WORK = rnea.WORK + SLOTS + JOINT


@kernel
def inward(P, T, X, work):
    """Articulated inertias and wrenches, from the tips to the base; returns a joint found to move no inertia, or -1.

    A straight link hands its articulated body on in registers, any other through its parent's rows.
    """
    n = P.shape[1]
    bodies, joints = rnea.WORK * n, (rnea.WORK + SLOTS) * n
    zero = fill(X, 0.0)
    for i in range(n):
        if T[KIND, i] & FORK:
            for k in range(SLOTS):
                store(work, bodies + SLOTS * i + k, zero)
    Axx, Ayy, Azz, Axy, Axz, Ayz = zero, zero, zero, zero, zero, zero  # what the link just visited hands to this one
    Bxx, Bxy, Bxz, Byx, Byy, Byz, Bzx, Bzy, Bzz = zero, zero, zero, zero, zero, zero, zero, zero, zero
    Cxx, Cyy, Czz, Cxy, Cxz, Cyz = zero, zero, zero, zero, zero, zero
    fx, fy, fz, nx, ny, nz = zero, zero, zero, zero, zero, zero
    bad = -1
    for i in range(n - 1, -1, -1):
        kind = T[KIND, i]
        hx, hy, Jxx, Jyy = P[HX, i], P[HY, i], P[JXX, i], P[JYY, i]
        # plus the link's own inertia: A = m, B = -[h]x, C = trace(J) - J
        Bxz, Byz, Bzx, Bzy = Bxz - hy, Byz + hx, Bzx + hy, Bzy - hx
        if kind & PRISMATIC:
            m, hz = P[MASS, i], P[HZ, i]
            Axx, Ayy, Azz, Bxy, Byx = Axx + m, Ayy + m, Azz + m, Bxy + hz, Byx - hz
        else:
            Cxx, Cyy, Czz = Cxx + Jyy, Cyy + Jxx, Czz + (Jxx + Jyy)
            Cxy, Cxz, Cyz = Cxy - P[JXY, i], Cxz - P[JXZ, i], Cyz - P[JYZ, i]
        if kind & FORK:
            row = bodies + SLOTS * i
            Axx, Ayy, Azz = Axx + load(work, row), Ayy + load(work, row + 1), Azz + load(work, row + 2)
            Axy, Axz, Ayz = Axy + load(work, row + 3), Axz + load(work, row + 4), Ayz + load(work, row + 5)
            Cxx, Cyy, Czz = Cxx + load(work, row + 6), Cyy + load(work, row + 7), Czz + load(work, row + 8)
            Cxy, Cxz, Cyz = Cxy + load(work, row + 9), Cxz + load(work, row + 10), Cyz + load(work, row + 11)
            Bxx, Bxy, Bxz = Bxx + load(work, row + 12), Bxy + load(work, row + 13), Bxz + load(work, row + 14)
            Byx, Byy, Byz = Byx + load(work, row + 15), Byy + load(work, row + 16), Byz + load(work, row + 17)
            Bzx, Bzy, Bzz = Bzx + load(work, row + 18), Bzy + load(work, row + 19), Bzz + load(work, row + 20)
        row = rnea.wrench_row(P, i)
        fx, fy, fz = fx + load(work, row), fy + load(work, row + 1), fz + load(work, row + 2)
        nx, ny, nz = nx + load(work, row + 3), ny + load(work, row + 4), nz + load(work, row + 5)

        # the wrench that a unit acceleration of the joint takes
        if kind & PRISMATIC:
            ux, uy, uz, tx, ty, tz = Axz, Ayz, Azz, Bzx, Bzy, Bzz
            inertia, felt = Azz + P[ARMATURE, i], fz
        else:
            ux, uy, uz, tx, ty, tz = Bxz, Byz, Bzz, Cxz, Cyz, Czz
            inertia, felt = Czz + P[ARMATURE, i], nz
        # an overflow is not singular; and further in than a singular joint, everything would follow
        if bad < 0 and all_finite(inertia) and not all_above(inertia, P[SMALLEST, i]):
            bad = i
        over = 1.0 / inertia
        force = (
            load(X, 4 * n + T[INDEX, i]) - load(X, 3 * n + T[INDEX, i]) - felt
        )  # what is left to accelerate the joint
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
            Axx, Ayy, Azz, Axy, Axz, Ayz = zero, zero, zero, zero, zero, zero
            Bxx, Bxy, Bxz, Byx, Byy, Byz, Bzx, Bzy, Bzz = zero, zero, zero, zero, zero, zero, zero, zero, zero
            Cxx, Cyy, Czz, Cxy, Cxz, Cyz = zero, zero, zero, zero, zero, zero
            fx, fy, fz, nx, ny, nz = zero, zero, zero, zero, zero, zero
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
        s, c = turn(P, work, i)
        fx, fy, fz, nx, ny, nz = rnea.parent_wrench(P, T, X, i, s, c, fx, fy, fz, nx, ny, nz)
        ca, sa = P[COS_ALPHA, i], P[SIN_ALPHA, i]
        px, pz = P[PX, i], P[PZ, i]
        if kind & PRISMATIC:  # to where the origin is when the joint is at its zero
            d = coordinate(P, T, X, i)
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
        if kind & STRAIGHT:
            Dxx, Dxy, Dxz = Bxx - Axy * pz, Bxy + Axx * pz - Axz * px, Bxz + Axy * px
            Dyx, Dyy, Dyz = Byx - Ayy * pz, Byy + Axy * pz - Ayz * px, Byz + Ayy * px
            Dzx, Dzy, Dzz = Bzx - Ayz * pz, Bzy + Axz * pz - Azz * px, Bzz + Ayz * px
            Cxx = Cxx - (Byx + Dyx) * pz
            Cyy = Cyy + (Bxy + Dxy) * pz - (Bzy + Dzy) * px
            Czz = Czz + (Byz + Dyz) * px
            Cxy = Cxy + (Bxx - Dyy) * pz - Bzx * px
            Cxz = Cxz + Byx * px - pz * Dyz
            Cyz = Cyz + (Byy - Dzz) * px + pz * Dxz
            Bxx, Bxy, Bxz, Byx, Byy, Byz, Bzx, Bzy, Bzz = Dxx, Dxy, Dxz, Dyx, Dyy, Dyz, Dzx, Dzy, Dzz
        else:
            py = P[PY, i]
            Dxx, Dxy, Dxz = Bxx - Axy * pz + Axz * py, Bxy + Axx * pz - Axz * px, Bxz - Axx * py + Axy * px
            Dyx, Dyy, Dyz = Byx - Ayy * pz + Ayz * py, Byy + Axy * pz - Ayz * px, Byz - Axy * py + Ayy * px
            Dzx, Dzy, Dzz = Bzx - Ayz * pz + Azz * py, Bzy + Axz * pz - Azz * px, Bzz - Axz * py + Ayz * px
            Cxx = Cxx - Byx * pz + Bzx * py + py * Dzx - pz * Dyx
            Cyy = Cyy + Bxy * pz - Bzy * px + pz * Dxy - px * Dzy
            Czz = Czz - Bxz * py + Byz * px + px * Dyz - py * Dxz
            Cxy = Cxy + Bxx * pz - Bzx * px + py * Dzy - pz * Dyy
            Cxz = Cxz - Bxx * py + Byx * px + py * Dzz - pz * Dyz
            Cyz = Cyz - Bxy * py + Byy * px + pz * Dxz - px * Dzz
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
            rnea.add_wrench(work, rnea.wrench_row(P, T[PARENT, i]), fx, fy, fz, nx, ny, nz)
            Axx, Ayy, Azz, Axy, Axz, Ayz = zero, zero, zero, zero, zero, zero
            Bxx, Bxy, Bxz, Byx, Byy, Byz, Bzx, Bzy, Bzz = zero, zero, zero, zero, zero, zero, zero, zero, zero
            Cxx, Cyy, Czz, Cxy, Cxz, Cyz = zero, zero, zero, zero, zero, zero
            fx, fy, fz, nx, ny, nz = zero, zero, zero, zero, zero, zero
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
    joints = (rnea.WORK + SLOTS) * n
    zero = fill(X, 0.0)
    ax, ay, az, vx, vy, vz = zero, zero, zero, zero, zero, zero  # angular, linear acceleration due to qdd
    for i in range(n):
        kind, parent = T[KIND, i], T[PARENT, i]
        if parent < 0:
            ax, ay, az, vx, vy, vz = zero, zero, zero, zero, zero, zero
        else:
            s, c = turn(P, work, i)
            ca, sa = P[COS_ALPHA, i], P[SIN_ALPHA, i]
            row = rnea.motion_row(P, parent)
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
                d = coordinate(P, T, X, i)
                vx, vy = vx + ay * d, vy - ax * d
        row = joints + JOINT * i
        carried = vx * load(work, row) + vy * load(work, row + 1) + vz * load(work, row + 2)
        carried = carried + ax * load(work, row + 3) + ay * load(work, row + 4) + az * load(work, row + 5)
        qdd = load(work, row + 6) - carried
        store(X, 2 * n + T[INDEX, i], qdd)
        if kind & PRISMATIC:
            vz = vz + qdd
        else:
            az = az + qdd
        row = rnea.motion_row(P, i)
        store(work, row + 3, ax)
        store(work, row + 4, ay)
        store(work, row + 5, az)
        store(work, row + 6, vx)
        store(work, row + 7, vy)
        store(work, row + 8, vz)
