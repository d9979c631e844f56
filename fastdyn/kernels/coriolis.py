"""The Coriolis matrix whose entries are Christoffel symbols times rates, so that dM/dt - 2 C is skew, O(n * depth).

A point x of the robot moves at the rate J_j(x) when joint j alone moves at unit rate. For point masses the symbols are
mass times dx/dq_i . d2x/dq_j dq_k, hence

    C_ij = integral of J_i(x) . dJ_j(x)/dt dm,    J_j(x) = z_j x (x - o_j) (revolute),  z_j (prismatic).

Both factors are affine in x and in the point's velocity, so that all of a composite body that matters is: mass m, first
moment h and second moments J about its origin o, the relative momentum l = integral of (x' - o') dm and the matrix
K = integral of (x' - o') (x - o)^T dm. Column j sends inward two wrenches and a free vector:

    (f1, n1)  of the field dJ_j/dt: felt at joint i, C_ij
    (f2, n2)  of the field J_j, and  e = integral of (x' - o') x J_j dm:  C_ji = dz_i/dt . n2 + z_i . e  (revolute i),
              dz_i/dt . f2  (prismatic i)

X rows, in the user's order of joints: q (n), qd (n), C (n * n, row by row; entries of joints on different branches are
never touched).
work: crba.WORK rows for each link, then SLOTS for each.
"""

from fastdyn.kernels import crba, velocities
from fastdyn.kernels.joints import coordinate, turn, turn_all
from fastdyn.kernels.rnea import parent_wrench
from fastdyn.kernels.rows import *
from fastdyn.kernels.vectors import cross, matrix_turned_x, matrix_turned_z, out_of_link, turned, turned_back
from fastdyn.scalars import add, fill, kernel, load, store

SLOTS = 12  # l, then K by rows
WORK = crba.WORK + SLOTS  # and `speeds`, a buffer of its own


@kernel
def momenta(P, T, X, work, speeds, first):
    """l and K of each composite. `speeds`: the buffer of velocities; K and l stand in `work` from row `first` on."""
    n = P.shape[1]
    for i in range(n):
        row = velocities.SLOTS * i
        wx, wy, wz = load(speeds, row), load(speeds, row + 1), load(speeds, row + 2)
        Jxx, Jyy, Jxy, Jxz, Jyz = P[JXX, i], P[JYY, i], P[JXY, i], P[JXZ, i], P[JYZ, i]
        lx, ly, lz = cross(wx, wy, wz, P[HX, i], P[HY, i], P[HZ, i])
        row = first + SLOTS * i
        store(work, row, lx)
        store(work, row + 1, ly)
        store(work, row + 2, lz)
        # [w]x J, column by column w x (J's column)
        kx, ky, kz = cross(wx, wy, wz, Jxx, Jxy, Jxz)
        store(work, row + 3, kx)
        store(work, row + 6, ky)
        store(work, row + 9, kz)
        kx, ky, kz = cross(wx, wy, wz, Jxy, Jyy, Jyz)
        store(work, row + 4, kx)
        store(work, row + 7, ky)
        store(work, row + 10, kz)
        kx, ky, kz = cross(wx, wy, wz, Jxz, Jyz, 0.0)
        store(work, row + 5, kx)
        store(work, row + 8, ky)
        store(work, row + 11, kz)
    for i in range(n - 1, -1, -1):
        if T[PARENT, i] >= 0:
            hand_inward(P, T, X, work, speeds, first, i)


@kernel
def shifted(m, hx, hy, hz, lx, ly, lz, Kxx, Kxy, Kxz, Kyx, Kyy, Kyz, Kzx, Kzy, Kzz, px, py, pz, ux, uy, uz):
    """l and K about a point from which the old one is at p and moves at u: K + l p^T + u h^T + m u p^T."""
    ax, ay, az = lx + m * ux, ly + m * uy, lz + m * uz
    return (
        ax, ay, az,
        Kxx + ax * px + ux * hx, Kxy + ax * py + ux * hy, Kxz + ax * pz + ux * hz,
        Kyx + ay * px + uy * hx, Kyy + ay * py + uy * hy, Kyz + ay * pz + uy * hz,
        Kzx + az * px + uz * hx, Kzy + az * py + uz * hy, Kzz + az * pz + uz * hz,
    )  # fmt: skip


@kernel
def parent_rate(P, T, speeds, i):
    """How fast link i's place on its parent moves against the parent's origin, in the parent's turned frame."""
    row = velocities.SLOTS * T[PARENT, i]
    wx, wy, wz = load(speeds, row), load(speeds, row + 1), load(speeds, row + 2)
    if not T[KIND, i] & STRAIGHT:
        wx, wy, wz = turned_back(P[COS_GAMMA, i], P[SIN_GAMMA, i], wx, wy, wz)
    return cross(wx, wy, wz, P[PX, i], P[PY, i], P[PZ, i])


@kernel
def slide_rate(P, T, X, speeds, i):
    """How fast a prismatic link's origin moves against where it is at the joint's zero, in the link's frame."""
    row = velocities.SLOTS * i
    d = coordinate(P, T, X, i)
    return load(speeds, row + 1) * d, -(load(speeds, row) * d), load(X, P.shape[1] + T[INDEX, i])


@kernel
def hand_inward(P, T, X, work, speeds, first, i):
    """Adds a composite's l and K to its parent's."""
    kind, row = T[KIND, i], crba.composite_row(P, i)
    s, c = turn(P, work, i)
    hx, hy, hz, m = load(work, row), load(work, row + 1), load(work, row + 2), load(work, row + 9)
    row = first + SLOTS * i
    lx, ly, lz = load(work, row), load(work, row + 1), load(work, row + 2)
    Kxx, Kxy, Kxz = load(work, row + 3), load(work, row + 4), load(work, row + 5)
    Kyx, Kyy, Kyz = load(work, row + 6), load(work, row + 7), load(work, row + 8)
    Kzx, Kzy, Kzz = load(work, row + 9), load(work, row + 10), load(work, row + 11)
    ca, sa = P[COS_ALPHA, i], P[SIN_ALPHA, i]
    zero = fill(X, 0.0)
    if kind & PRISMATIC:
        d = coordinate(P, T, X, i)
        ux, uy, uz = slide_rate(P, T, X, speeds, i)
        lx, ly, lz, Kxx, Kxy, Kxz, Kyx, Kyy, Kyz, Kzx, Kzy, Kzz = shifted(
            m, hx, hy, hz, lx, ly, lz, Kxx, Kxy, Kxz, Kyx, Kyy, Kyz, Kzx, Kzy, Kzz, zero, zero, d, ux, uy, uz
        )
        hz = hz + m * d
    hx, hy, hz = out_of_link(c, s, ca, sa, hx, hy, hz)
    lx, ly, lz = out_of_link(c, s, ca, sa, lx, ly, lz)
    Kxx, Kxy, Kxz, Kyx, Kyy, Kyz, Kzx, Kzy, Kzz = matrix_turned_z(c, s, Kxx, Kxy, Kxz, Kyx, Kyy, Kyz, Kzx, Kzy, Kzz)
    Kxx, Kxy, Kxz, Kyx, Kyy, Kyz, Kzx, Kzy, Kzz = matrix_turned_x(ca, sa, Kxx, Kxy, Kxz, Kyx, Kyy, Kyz, Kzx, Kzy, Kzz)
    ux, uy, uz = parent_rate(P, T, speeds, i)
    px, py, pz = P[PX, i] + zero, P[PY, i] + zero, P[PZ, i] + zero
    lx, ly, lz, Kxx, Kxy, Kxz, Kyx, Kyy, Kyz, Kzx, Kzy, Kzz = shifted(
        m, hx, hy, hz, lx, ly, lz, Kxx, Kxy, Kxz, Kyx, Kyy, Kyz, Kzx, Kzy, Kzz, px, py, pz, ux, uy, uz
    )
    if not kind & STRAIGHT:
        cg, sg = P[COS_GAMMA, i], P[SIN_GAMMA, i]
        lx, ly, lz = turned(cg, sg, lx, ly, lz)
        Kxx, Kxy, Kxz, Kyx, Kyy, Kyz, Kzx, Kzy, Kzz = matrix_turned_z(
            cg, sg, Kxx, Kxy, Kxz, Kyx, Kyy, Kyz, Kzx, Kzy, Kzz
        )
    row = first + SLOTS * T[PARENT, i]
    add(work, row, lx)
    add(work, row + 1, ly)
    add(work, row + 2, lz)
    add(work, row + 3, Kxx)
    add(work, row + 4, Kxy)
    add(work, row + 5, Kxz)
    add(work, row + 6, Kyx)
    add(work, row + 7, Kyy)
    add(work, row + 8, Kyz)
    add(work, row + 9, Kzx)
    add(work, row + 10, Kzy)
    add(work, row + 11, Kzz)


@kernel
def coriolis_matrix(P, T, X, work, speeds):
    """C, both triangles. `speeds`: a buffer of velocities.SLOTS rows for each link."""
    n = P.shape[1]
    first = crba.WORK * n
    zero = fill(X, 0.0)
    turn_all(P, T, X, work)
    crba.composites(P, T, X, work)
    velocities.velocities(P, T, X, work, speeds)
    momenta(P, T, X, work, speeds, first)
    for j in range(n):
        row = crba.composite_row(P, j)
        hx, hy, hz, m = load(work, row), load(work, row + 1), load(work, row + 2), load(work, row + 9)
        Jxx, Jyy, Jzz = load(work, row + 3), load(work, row + 4), load(work, row + 5)
        Jxy, Jxz, Jyz = load(work, row + 6), load(work, row + 7), load(work, row + 8)
        row = first + SLOTS * j
        lx, ly = load(work, row), load(work, row + 1)
        row = velocities.SLOTS * j
        zx, zy = load(speeds, row + 1), -load(speeds, row)  # dz/dt = w x z
        if T[KIND, j] & PRISMATIC:
            ax, ay, az = m * zx, m * zy, zero  # (f1, n1)
            bx, by, bz = cross(hx, hy, hz, zx, zy, zero)
            fx, fy, fz = zero, zero, m  # (f2, n2)
            nx, ny, nz = hy, -hx, zero
            ex, ey, ez = ly, -lx, zero
        else:
            row = first + SLOTS * j
            Kxz, Kyz, Kzx, Kzy = load(work, row + 5), load(work, row + 8), load(work, row + 9), load(work, row + 10)
            trace = load(work, row + 3) + load(work, row + 7)  # of K, less the zz that K z takes away again
            ax, ay, az = cross(zx, zy, zero, hx, hy, hz)
            ax, ay = ax - ly, ay + lx
            bx = (Jyy + Jzz) * zx - Jxy * zy - Kxz
            by = (Jxx + Jzz) * zy - Jxy * zx - Kyz
            bz = trace - Jxz * zx - Jyz * zy
            fx, fy, fz = -hy, hx, zero
            nx, ny, nz = -Jxz, -Jyz, Jxx + Jyy
            ex, ey, ez = -Kzx, -Kzy, trace

        i = j
        while True:
            row = velocities.SLOTS * i
            zx, zy = load(speeds, row + 1), -load(speeds, row)
            if T[KIND, i] & PRISMATIC:
                store(X, 2 * n + crba.at(T, i, j), az)
                store(X, 2 * n + crba.at(T, j, i), zx * fx + zy * fy)
            else:
                store(X, 2 * n + crba.at(T, i, j), bz)
                store(X, 2 * n + crba.at(T, j, i), zx * nx + zy * ny + ez)
            if T[PARENT, i] < 0:
                break
            s, c = turn(P, work, i)
            if T[KIND, i] & PRISMATIC:
                ux, uy, uz = slide_rate(P, T, X, speeds, i)
                dx, dy, dz = cross(ux, uy, uz, fx, fy, fz)
                ex, ey, ez = ex + dx, ey + dy, ez + dz
            ex, ey, ez = out_of_link(c, s, P[COS_ALPHA, i], P[SIN_ALPHA, i], ex, ey, ez)
            if not T[KIND, i] & STRAIGHT:
                ex, ey, ez = turned(P[COS_GAMMA, i], P[SIN_GAMMA, i], ex, ey, ez)
            ax, ay, az, bx, by, bz = parent_wrench(P, T, X, i, s, c, ax, ay, az, bx, by, bz)
            fx, fy, fz, nx, ny, nz = parent_wrench(P, T, X, i, s, c, fx, fy, fz, nx, ny, nz)
            ux, uy, uz = parent_rate(P, T, speeds, i)
            if not T[KIND, i] & STRAIGHT:
                ux, uy, uz = turned(P[COS_GAMMA, i], P[SIN_GAMMA, i], ux, uy, uz)
            dx, dy, dz = cross(ux, uy, uz, fx, fy, fz)
            ex, ey, ez = ex + dx, ey + dy, ez + dz
            i = T[PARENT, i]
