"""Composite rigid body: the mass matrix, and its L^T D L factors.

When joint j alone accelerates, all it carries moves as one body: that body's wrench, felt at every joint further in, is
column j. X rows: q (n), then M (n * n, row by row). work: SLOTS rows for each link. Entries of joints on different
branches are zero and never touched: the caller clears M once.
"""

from fastdyn.kernels.rnea import joint_rotation, parent_wrench
from fastdyn.kernels.rows import (
    ARMATURE, COS_ALPHA, COS_GAMMA, HX, HY, HZ, JXX, JXY, JXZ, JYY, JYZ, KIND, MASS, OFFSET, PARENT, PRISMATIC, PX, PY,
    PZ, SIN_ALPHA, SIN_GAMMA, SMALLEST, STRAIGHT,
)  # fmt: skip
from fastdyn.kernels.vectors import out_of_link, symmetric_turned_x, symmetric_turned_z, turned
from fastdyn.scalars import add, all_above, fill, kernel, load, store

SLOTS = 12  # work rows of a link: sine, cosine, and the composite's h, J (xx yy zz xy xz yz), m


@kernel
def composites(P, T, X, work):
    """Each link's inertia, and then that of all it carries, about its frame's origin."""
    n = P.shape[1]
    for i in range(n):
        row = SLOTS * i
        s, c = joint_rotation(P, T, X, i)
        store(work, row, s)
        store(work, row + 1, c)
        store(work, row + 2, fill(X, P[HX, i]))
        store(work, row + 3, fill(X, P[HY, i]))
        store(work, row + 4, fill(X, P[HZ, i]))
        store(work, row + 5, fill(X, P[JXX, i]))
        store(work, row + 6, fill(X, P[JYY, i]))
        store(work, row + 7, fill(X, 0.0))
        store(work, row + 8, fill(X, P[JXY, i]))
        store(work, row + 9, fill(X, P[JXZ, i]))
        store(work, row + 10, fill(X, P[JYZ, i]))
        store(work, row + 11, fill(X, P[MASS, i]))
    for i in range(n - 1, -1, -1):
        if T[PARENT, i] >= 0:
            hand_inward(P, T, X, work, i)


@kernel
def hand_inward(P, T, X, work, i):
    """Adds a composite's inertia to its parent's."""
    kind, row = T[KIND, i], SLOTS * i
    s, c = load(work, row), load(work, row + 1)
    hx, hy, hz = load(work, row + 2), load(work, row + 3), load(work, row + 4)
    xx, yy, zz = load(work, row + 5), load(work, row + 6), load(work, row + 7)
    xy, xz, yz = load(work, row + 8), load(work, row + 9), load(work, row + 10)
    m = load(work, row + 11)
    ca, sa = P[COS_ALPHA, i], P[SIN_ALPHA, i]
    px, py, pz = P[PX, i], P[PY, i], P[PZ, i]
    if kind & PRISMATIC:
        d = load(X, i) + P[OFFSET, i]
        zz = zz + d * (hz + hz + d * m)
        xz, yz, hz = xz + d * hx, yz + d * hy, hz + d * m
    xx, yy, zz, xy, xz, yz = symmetric_turned_z(c, s, xx, yy, zz, xy, xz, yz)
    xx, yy, zz, xy, xz, yz = symmetric_turned_x(ca, sa, xx, yy, zz, xy, xz, yz)
    hx, hy, hz = out_of_link(c, s, ca, sa, hx, hy, hz)
    # J about the parent's origin: J + h p^T + p h^T + m p p^T, with half of the last term in h
    mx, my, mz = m * px, m * py, m * pz
    ux, uy, uz = hx + 0.5 * mx, hy + 0.5 * my, hz + 0.5 * mz
    xx, yy, zz = xx + (px + px) * ux, yy + (py + py) * uy, zz + (pz + pz) * uz
    xy, xz, yz = xy + px * uy + py * ux, xz + px * uz + pz * ux, yz + py * uz + pz * uy
    hx, hy, hz = hx + mx, hy + my, hz + mz
    if not kind & STRAIGHT:
        cg, sg = P[COS_GAMMA, i], P[SIN_GAMMA, i]
        xx, yy, zz, xy, xz, yz = symmetric_turned_z(cg, sg, xx, yy, zz, xy, xz, yz)
        hx, hy, hz = turned(cg, sg, hx, hy, hz)
    row = SLOTS * T[PARENT, i]
    add(work, row + 2, hx)
    add(work, row + 3, hy)
    add(work, row + 4, hz)
    add(work, row + 5, xx)
    add(work, row + 6, yy)
    add(work, row + 7, zz)
    add(work, row + 8, xy)
    add(work, row + 9, xz)
    add(work, row + 10, yz)
    add(work, row + 11, m)


@kernel
def mass_matrix(P, T, X, work):
    """M, both triangles."""
    n = P.shape[1]
    composites(P, T, X, work)
    for j in range(n):
        row = SLOTS * j
        hx, hy, hz = load(work, row + 2), load(work, row + 3), load(work, row + 4)
        if T[KIND, j] & PRISMATIC:  # the composite accelerates along z ...
            m = load(work, row + 11)
            fx, fy, fz = fill(X, 0.0), fill(X, 0.0), m
            nx, ny, nz = hy, -hx, fill(X, 0.0)
            diagonal = m
        else:  # ... or turns about it
            fx, fy, fz = -hy, hx, fill(X, 0.0)
            nx, ny, nz = -load(work, row + 9), -load(work, row + 10), load(work, row + 5) + load(work, row + 6)
            diagonal = nz
        store(X, n + j * n + j, diagonal + P[ARMATURE, j])
        i = j
        while T[PARENT, i] >= 0:
            s, c = load(work, SLOTS * i), load(work, SLOTS * i + 1)
            fx, fy, fz, nx, ny, nz = parent_wrench(P, T, X, i, s, c, fx, fy, fz, nx, ny, nz)
            i = T[PARENT, i]
            entry = fz if T[KIND, i] & PRISMATIC else nz
            store(X, n + i * n + j, entry)
            store(X, n + j * n + i, entry)


@kernel
def factorise(P, T, M, offset):
    """M = L^T D L in place, D on the diagonal and L below it: no entry is made where the tree has none.

    Returns the first joint found to move no inertia, or -1.
    """
    n = P.shape[1]
    bad = -1
    for k in range(n - 1, -1, -1):
        pivot = load(M, offset + k * n + k)
        if not all_above(pivot, P[SMALLEST, k]):
            bad = k
        i = T[PARENT, k]
        while i >= 0:
            factor = load(M, offset + k * n + i) / pivot
            j = i
            while j >= 0:
                add(M, offset + i * n + j, -(factor * load(M, offset + k * n + j)))
                j = T[PARENT, j]
            store(M, offset + k * n + i, factor)
            i = T[PARENT, i]
    return bad


@kernel
def solve(T, M, offset, y, first):
    """Solves L^T D L x = y in place; y's rows begin at `first`."""
    n = T.shape[1]
    for k in range(n - 1, -1, -1):
        i = T[PARENT, k]
        while i >= 0:
            add(y, first + i, -(load(M, offset + k * n + i) * load(y, first + k)))
            i = T[PARENT, i]
    for k in range(n):
        x = load(y, first + k) / load(M, offset + k * n + k)
        i = T[PARENT, k]
        while i >= 0:
            x = x - load(M, offset + k * n + i) * load(y, first + i)
            i = T[PARENT, i]
        store(y, first + k, x)
