"""Composite rigid body: the mass matrix, and its L^T D L factors.

When joint j alone accelerates, all it carries moves as one body: that body's wrench, felt at every joint further in, is
column j. X rows: q (n), then M (n * n, row by row), both in the user's order of joints. work: SLOTS rows for each link.
Entries of joints on different branches are zero and never touched: the caller clears M once.
"""

from fastdyn.kernels.rnea import coordinate, joint_rotation, parent_wrench
from fastdyn.kernels.rows import *
from fastdyn.kernels.vectors import out_of_link, symmetric_turned_x, symmetric_turned_z, turned
from fastdyn.scalars import add, all_above, all_finite, fill, kernel, load, store

SLOTS = 12  # work rows of a link: sine, cosine, and the composite's h, J (xx yy zz xy xz yz), m


@kernel
def composites(P, T, X, work):
    """The inertia of each link and all it carries, about its frame's origin, from the tips to the base.

    A straight link hands its composite on in registers, any other through its parent's rows.
    """
    n = P.shape[1]
    zero = fill(X, 0.0)
    for i in range(n):
        if T[KIND, i] & FORK:
            for k in range(2, SLOTS):
                store(work, SLOTS * i + k, zero)
    hx, hy, hz, m = zero, zero, zero, zero  # what the link just visited hands to this one
    xx, yy, zz, xy, xz, yz = zero, zero, zero, zero, zero, zero
    for i in range(n - 1, -1, -1):
        kind, row = T[KIND, i], SLOTS * i
        hx, hy, hz, m = hx + P[HX, i], hy + P[HY, i], hz + P[HZ, i], m + P[MASS, i]
        xx, yy, xy, xz, yz = xx + P[JXX, i], yy + P[JYY, i], xy + P[JXY, i], xz + P[JXZ, i], yz + P[JYZ, i]
        if kind & FORK:
            hx, hy, hz = hx + load(work, row + 2), hy + load(work, row + 3), hz + load(work, row + 4)
            xx, yy, zz = xx + load(work, row + 5), yy + load(work, row + 6), zz + load(work, row + 7)
            xy, xz, yz = xy + load(work, row + 8), xz + load(work, row + 9), yz + load(work, row + 10)
            m = m + load(work, row + 11)
        s, c = joint_rotation(P, T, X, i)
        store(work, row, s)
        store(work, row + 1, c)
        store(work, row + 2, hx)
        store(work, row + 3, hy)
        store(work, row + 4, hz)
        store(work, row + 5, xx)
        store(work, row + 6, yy)
        store(work, row + 7, zz)
        store(work, row + 8, xy)
        store(work, row + 9, xz)
        store(work, row + 10, yz)
        store(work, row + 11, m)
        if T[PARENT, i] >= 0:
            hx, hy, hz, xx, yy, zz, xy, xz, yz, m = parent_inertia(
                P, T, X, i, s, c, hx, hy, hz, xx, yy, zz, xy, xz, yz, m
            )
        if not kind & STRAIGHT:
            if T[PARENT, i] >= 0:
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
            hx, hy, hz, m = zero, zero, zero, zero
            xx, yy, zz, xy, xz, yz = zero, zero, zero, zero, zero, zero


@kernel
def parent_inertia(P, T, X, i, s, c, hx, hy, hz, xx, yy, zz, xy, xz, yz, m):
    """A composite of link i, as its parent sees it, about the parent's origin."""
    kind = T[KIND, i]
    ca, sa = P[COS_ALPHA, i], P[SIN_ALPHA, i]
    px, pz = P[PX, i], P[PZ, i]
    if kind & PRISMATIC:
        d = coordinate(P, T, X, i)
        zz = zz + d * (hz + hz + d * m)
        xz, yz, hz = xz + d * hx, yz + d * hy, hz + d * m
    xx, yy, zz, xy, xz, yz = symmetric_turned_z(c, s, xx, yy, zz, xy, xz, yz)
    xx, yy, zz, xy, xz, yz = symmetric_turned_x(ca, sa, xx, yy, zz, xy, xz, yz)
    hx, hy, hz = out_of_link(c, s, ca, sa, hx, hy, hz)
    # J about the parent's origin: J + h p^T + p h^T + m p p^T, with half of the last term in h
    if kind & STRAIGHT:
        mx, mz = m * px, m * pz
        ux, uz = hx + 0.5 * mx, hz + 0.5 * mz
        xx, zz = xx + (px + px) * ux, zz + (pz + pz) * uz
        xy, xz, yz = xy + px * hy, xz + px * uz + pz * ux, yz + pz * hy
        hx, hz = hx + mx, hz + mz
    else:
        py = P[PY, i]
        mx, my, mz = m * px, m * py, m * pz
        ux, uy, uz = hx + 0.5 * mx, hy + 0.5 * my, hz + 0.5 * mz
        xx, yy, zz = xx + (px + px) * ux, yy + (py + py) * uy, zz + (pz + pz) * uz
        xy, xz, yz = xy + px * uy + py * ux, xz + px * uz + pz * ux, yz + py * uz + pz * uy
        cg, sg = P[COS_GAMMA, i], P[SIN_GAMMA, i]
        xx, yy, zz, xy, xz, yz = symmetric_turned_z(cg, sg, xx, yy, zz, xy, xz, yz)
        hx, hy, hz = turned(cg, sg, hx + mx, hy + my, hz + mz)
    return hx, hy, hz, xx, yy, zz, xy, xz, yz, m


@kernel
def at(T, i, j):
    """The place of entry (i, j) in a matrix written row by row in the user's order."""
    return T[INDEX, i] * T.shape[1] + T[INDEX, j]


@kernel
def mass_matrix(P, T, X, work):
    """M, both triangles."""
    n = P.shape[1]
    composites(P, T, X, work)
    for j in range(n):
        row = SLOTS * j
        hx, hy = load(work, row + 2), load(work, row + 3)
        if T[KIND, j] & PRISMATIC:  # the composite accelerates along z ...
            m = load(work, row + 11)
            fx, fy, fz = fill(X, 0.0), fill(X, 0.0), m
            nx, ny, nz = hy, -hx, fill(X, 0.0)
            diagonal = m
        else:  # ... or turns about it
            fx, fy, fz = -hy, hx, fill(X, 0.0)
            nx, ny, nz = -load(work, row + 9), -load(work, row + 10), load(work, row + 5) + load(work, row + 6)
            diagonal = nz
        store(X, n + at(T, j, j), diagonal + P[ARMATURE, j])
        i = j
        while T[PARENT, i] >= 0:
            s, c = load(work, SLOTS * i), load(work, SLOTS * i + 1)
            fx, fy, fz, nx, ny, nz = parent_wrench(P, T, X, i, s, c, fx, fy, fz, nx, ny, nz)
            i = T[PARENT, i]
            entry = fz if T[KIND, i] & PRISMATIC else nz
            store(X, n + at(T, i, j), entry)
            store(X, n + at(T, j, i), entry)


@kernel
def factorise(P, T, M, offset):
    """M = L^T D L in place, D on the diagonal and L below it: no entry is made where the tree has none.

    Returns the first joint found to move no inertia, or -1.
    """
    bad = -1
    for k in range(T.shape[1] - 1, -1, -1):
        pivot = load(M, offset + at(T, k, k))
        # an overflow is not singular; and further in than a singular joint, everything would follow
        if bad < 0 and all_finite(pivot) and not all_above(pivot, P[SMALLEST, k]):
            bad = k
        i = T[PARENT, k]
        while i >= 0:
            factor = load(M, offset + at(T, k, i)) / pivot
            j = i
            while j >= 0:
                add(M, offset + at(T, i, j), -(factor * load(M, offset + at(T, k, j))))
                j = T[PARENT, j]
            store(M, offset + at(T, k, i), factor)
            i = T[PARENT, i]
    return bad


@kernel
def solve(T, M, offset, y, first):
    """Solves L^T D L x = y in place; y's rows begin at `first`."""
    n = T.shape[1]
    for k in range(n - 1, -1, -1):
        i = T[PARENT, k]
        while i >= 0:
            add(y, first + T[INDEX, i], -(load(M, offset + at(T, k, i)) * load(y, first + T[INDEX, k])))
            i = T[PARENT, i]
    for k in range(n):
        x = load(y, first + T[INDEX, k]) / load(M, offset + at(T, k, k))
        i = T[PARENT, k]
        while i >= 0:
            x = x - load(M, offset + at(T, k, i)) * load(y, first + T[INDEX, i])
            i = T[PARENT, i]
        store(y, first + T[INDEX, k], x)
