"""Composite rigid body: the mass matrix, and its L^T D L factors.

When joint j alone accelerates, all it carries moves as one body: that body's wrench, felt at every joint further in, is
column j. X rows: q (n), then M (n * n, row by row), both in the user's order of joints. work: WORK rows for each link.
Entries of joints on different branches are zero and never touched: the caller clears M once.
"""

from fastdyn.kernels.joints import TURNS, coordinate, turn, turn_all
from fastdyn.kernels.rnea import parent_wrench
from fastdyn.kernels.rows import *
from fastdyn.kernels.vectors import out_of_link, symmetric_turned_x, symmetric_turned_z, turned
from fastdyn.scalars import add, all_above, all_finite, fill, kernel, load, store

SLOTS = 10  # of the composite: h, J (xx yy zz xy xz yz), m
WORK = TURNS + SLOTS  # rows of a link, its turn (joints.py) among those of all links first


@kernel
def composite_row(P, i):
    return TURNS * P.shape[1] + SLOTS * i


@kernel
def begin(P, T, X, work):
    """Clears what links that are not straight will add to."""
    for i in range(P.shape[1]):
        if T[KIND, i] & FORK:
            for k in range(SLOTS):
                store(work, composite_row(P, i) + k, fill(X, 0.0))


@kernel
def composite(P, T, work, i, hx, hy, hz, xx, yy, zz, xy, xz, yz, m):
    """Link i and all it carries, from what the link visited before has handed on."""
    hx, hy = hx + P[HX, i], hy + P[HY, i]
    if T[KIND, i] & PRISMATIC:
        hz, m = hz + P[HZ, i], m + P[MASS, i]
    else:
        xx, yy, xy, xz, yz = xx + P[JXX, i], yy + P[JYY, i], xy + P[JXY, i], xz + P[JXZ, i], yz + P[JYZ, i]
    if T[KIND, i] & FORK:
        row = composite_row(P, i)
        hx, hy, hz = hx + load(work, row), hy + load(work, row + 1), hz + load(work, row + 2)
        xx, yy, zz = xx + load(work, row + 3), yy + load(work, row + 4), zz + load(work, row + 5)
        xy, xz, yz = xy + load(work, row + 6), xz + load(work, row + 7), yz + load(work, row + 8)
        m = m + load(work, row + 9)
    return hx, hy, hz, xx, yy, zz, xy, xz, yz, m


@kernel
def hand_on(P, T, X, work, i, hx, hy, hz, xx, yy, zz, xy, xz, yz, m):
    """A composite to its parent: a straight link's in registers, any other's through the parent's rows."""
    zero = fill(X, 0.0)
    if T[PARENT, i] < 0:
        return zero, zero, zero, zero, zero, zero, zero, zero, zero, zero
    s, c = turn(P, work, i)
    hx, hy, hz, xx, yy, zz, xy, xz, yz, m = parent_inertia(P, T, X, i, s, c, hx, hy, hz, xx, yy, zz, xy, xz, yz, m)
    if T[KIND, i] & STRAIGHT:
        return hx, hy, hz, xx, yy, zz, xy, xz, yz, m
    row = composite_row(P, T[PARENT, i])
    add(work, row, hx)
    add(work, row + 1, hy)
    add(work, row + 2, hz)
    add(work, row + 3, xx)
    add(work, row + 4, yy)
    add(work, row + 5, zz)
    add(work, row + 6, xy)
    add(work, row + 7, xz)
    add(work, row + 8, yz)
    add(work, row + 9, m)
    return zero, zero, zero, zero, zero, zero, zero, zero, zero, zero


@kernel
def composites(P, T, X, work):
    """The inertia of each link and all it carries, about its frame's origin, into its rows."""
    zero = fill(X, 0.0)
    begin(P, T, X, work)
    hx, hy, hz, xx, yy, zz, xy, xz, yz, m = zero, zero, zero, zero, zero, zero, zero, zero, zero, zero
    for i in range(P.shape[1] - 1, -1, -1):
        hx, hy, hz, xx, yy, zz, xy, xz, yz, m = composite(P, T, work, i, hx, hy, hz, xx, yy, zz, xy, xz, yz, m)
        row = composite_row(P, i)
        store(work, row, hx)
        store(work, row + 1, hy)
        store(work, row + 2, hz)
        store(work, row + 3, xx)
        store(work, row + 4, yy)
        store(work, row + 5, zz)
        store(work, row + 6, xy)
        store(work, row + 7, xz)
        store(work, row + 8, yz)
        store(work, row + 9, m)
        hx, hy, hz, xx, yy, zz, xy, xz, yz, m = hand_on(P, T, X, work, i, hx, hy, hz, xx, yy, zz, xy, xz, yz, m)


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
        if kind & HEAVY:
            mx, mz = m * px, m * pz
            ux, uz = hx + 0.5 * mx, hz + 0.5 * mz
            xx, zz = xx + (px + px) * ux, zz + (pz + pz) * uz
            xy, xz, yz = xy + px * hy, xz + px * uz + pz * ux, yz + pz * hy
            hx, hz = hx + mx, hz + mz
        else:
            xx, zz = xx + (px + px) * hx, zz + (pz + pz) * hz
            xy, xz, yz = xy + px * hy, xz + px * hz + pz * hx, yz + pz * hy
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
    turn_all(P, T, X, work)
    columns(P, T, X, work)


@kernel
def columns(P, T, X, work):
    """The same, where the turns stand in `work` already."""
    zero = fill(X, 0.0)
    begin(P, T, X, work)
    hx, hy, hz, xx, yy, zz, xy, xz, yz, m = zero, zero, zero, zero, zero, zero, zero, zero, zero, zero
    for j in range(P.shape[1] - 1, -1, -1):
        hx, hy, hz, xx, yy, zz, xy, xz, yz, m = composite(P, T, work, j, hx, hy, hz, xx, yy, zz, xy, xz, yz, m)
        if T[KIND, j] & PRISMATIC:  # the composite accelerates along z ...
            column(P, T, X, work, j, m, zero, zero, m, hy, -hx, zero)
        else:  # ... or turns about it
            column(P, T, X, work, j, xx + yy, -hy, hx, zero, -xz, -yz, xx + yy)
        hx, hy, hz, xx, yy, zz, xy, xz, yz, m = hand_on(P, T, X, work, j, hx, hy, hz, xx, yy, zz, xy, xz, yz, m)


@kernel
def column(P, T, X, work, j, inertia, fx, fy, fz, nx, ny, nz):
    """Column j of M, and row j: the wrench of its composite, felt at each joint on the way to the base."""
    n = P.shape[1]
    store(X, n + at(T, j, j), inertia + P[ARMATURE, j])
    i, parent = j, T[PARENT, j]
    while parent >= 0:
        s, c = turn(P, work, i)
        if T[PARENT, parent] < 0:  # of the last wrench only what the joint feels is wanted: the rest is not computed
            _, _, fz, _, _, nz = parent_wrench(P, T, X, i, s, c, fx, fy, fz, nx, ny, nz)
        else:
            fx, fy, fz, nx, ny, nz = parent_wrench(P, T, X, i, s, c, fx, fy, fz, nx, ny, nz)
        entry = fz if T[KIND, parent] & PRISMATIC else nz
        store(X, n + at(T, parent, j), entry)
        store(X, n + at(T, j, parent), entry)
        i, parent = parent, T[PARENT, parent]


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
