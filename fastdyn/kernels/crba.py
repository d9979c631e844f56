"""Composite-rigid-body algorithm: the mass matrix, its L^T D L factors, and forward dynamics from them.

When joint j alone accelerates, its subtree moves as one body: the components of that body's wrench along all joints
further in are column j. A composite is (m, h, J), as in rows.py. A matrix has n * n rows, row by row, in the user's
order of joints.
"""

from fastdyn.kernels import rnea
from fastdyn.kernels.frames import *
from fastdyn.kernels.joints import *
from fastdyn.kernels.rows import *
from fastdyn.scalars import add, all_above, all_finite, fill, kernel, load, store, width
from fastdyn.scalars.vectors import *

COMPOSITE = 10  # rows of a composite: m, h, J


def mass_matrix_rows(n):
    return (TURN + COMPOSITE) * n


def forward_dynamics_rows(n):
    return rnea.bias_forces_rows(n) + n + n * n


@kernel
def mass_matrix(P, tree, q, M, work):
    """M, both triangles."""
    n = P.shape[1]
    turns, composites = work[: TURN * n], work[TURN * n :]
    turn_all(P, tree, q, turns)
    clear_scalars(tree, M, fill(turns, 0.0))
    columns(P, tree, q, M, turns, composites, True)


@kernel
def forward_dynamics(P, tree, q, qd, tau, wrenches, qdd, work):
    """qdd = M^-1 (tau - bias); returns a joint that moves no inertia, or -1."""
    n = P.shape[1]
    turns, loads, motions, rest = rnea.parts(P, work)
    bias, M, still = rest[:n], rest[n:], work[:0]
    rnea.outward(P, tree, q, qd, still, turns, loads, motions, False)
    rnea.surroundings(P, tree, wrenches, loads)
    rnea.inward(P, tree, q, qd, still, bias, turns, loads, False)
    for i in range(n):
        store(qdd, i, load(tau, i) - load(bias, i))
    composites = work[TURN * n : (TURN + COMPOSITE) * n]  # in place of loads and motions, no longer needed
    columns(P, tree, q, M, turns, composites, False)
    bad = factorise(P, tree, M)
    solve(tree, M, qdd)
    return bad


# ---------------------------------------------------------------------------------------------- composites


@kernel
def no_body(buffer):
    return fill(buffer, 0.0), zero_vector(buffer), zero_symmetric(buffer)


@kernel
def load_body(composites, i):
    row = COMPOSITE * i
    return load(composites, row), load_vector(composites, row + 1), load_symmetric(composites, row + 4)


@kernel
def store_body(composites, i, body):
    m, h, J = body
    store(composites, COMPOSITE * i, m)
    store_vector(composites, COMPOSITE * i + 1, h)
    store_symmetric(composites, COMPOSITE * i + 4, J)


@kernel
def begin(tree, composites):
    """Clears the rows that links that are not straight add to."""
    for i in range(tree.shape[1]):
        if tree[KIND, i] & FORK:
            store_body(composites, i, no_body(composites))


@kernel
def composite(P, tree, composites, i, body):
    """Link i and its subtree; body: passed on by the link visited last."""
    m, h, J = plus_link(P, tree, i, body)
    if tree[KIND, i] & FORK:
        mass, first, second = load_body(composites, i)
        return m + mass, plus(h, first), symmetric_plus(J, second)
    return m, h, J


@kernel
def hand_on(P, tree, q, turns, composites, i, body):
    """Passes a composite to its parent: a straight link's in registers, any other's through the parent's rows."""
    if tree[PARENT, i] >= 0:
        m, h, J = parent_inertia(P, tree, q, i, turn_of(P, turns, i), body)
        if tree[KIND, i] & STRAIGHT:
            return m, h, J
        row = COMPOSITE * tree[PARENT, i]
        add(composites, row, m)
        add_vector(composites, row + 1, h)
        add_symmetric(composites, row + 4, J)
    return no_body(turns)


@kernel
def all_composites(P, tree, q, turns, composites):
    """The inertia of each link and its subtree, about its frame's origin, into its rows."""
    begin(tree, composites)
    body = no_body(turns)
    for i in range(P.shape[1] - 1, -1, -1):
        body = composite(P, tree, composites, i, body)
        store_body(composites, i, body)
        body = hand_on(P, tree, q, turns, composites, i, body)


@kernel
def parent_inertia(P, tree, q, i, turn, body):
    """A composite of link i, in its parent's frame, about the parent's origin."""
    m, h, J = body
    kind = tree[KIND, i]
    if kind & SLIDES:
        d = travel(P, tree, q, i)
        xx, yy, zz, xy, xz, yz = J
        J = xx, yy, zz + d * (h[2] + h[2] + d * m), xy, xz + d * h[0], yz + d * h[1]
        h = h[0], h[1], h[2] + d * m
    xx, yy, zz, xy, xz, yz = symmetric_turned_x(alpha(P, i), symmetric_turned_z(turn, J))
    h = out_of_link(P, i, turn, h)
    # J about the parent's origin: J + h p^T + p h^T + m p p^T, with half of the last term in h
    if kind & STRAIGHT:
        px, pz = P[PX, i], P[PZ, i]
        hx, hy, hz = h
        if kind & HEAVY:
            mx, mz = m * px, m * pz
            ux, uz = hx + 0.5 * mx, hz + 0.5 * mz
            J = xx + (px + px) * ux, yy, zz + (pz + pz) * uz, xy + px * hy, xz + px * uz + pz * ux, yz + pz * hy
            return m, (hx + mx, hy, hz + mz), J
        return m, h, (xx + (px + px) * hx, yy, zz + (pz + pz) * hz, xy + px * hy, xz + px * hz + pz * hx, yz + pz * hy)
    p = px, py, pz = place(P, i)
    mp = times(m, p)
    ux, uy, uz = plus(h, times(0.5, mp))
    J = (
        xx + (px + px) * ux, yy + (py + py) * uy, zz + (pz + pz) * uz,
        xy + px * uy + py * ux, xz + px * uz + pz * ux, yz + py * uz + pz * uy,
    )  # fmt: skip
    return m, turned(gamma(P, i), plus(h, mp)), symmetric_turned_z(gamma(P, i), J)


# ---------------------------------------------------------------------------------------------- columns


@kernel
def at(tree, i, j):
    """The row of entry (i, j) of a matrix."""
    return tree[INDEX, i] * tree.shape[1] + tree[INDEX, j]


# Entries of joints on different branches are zero. Scalars are cleared in one sweep before the columns, lanes entry by
# entry with them: each is the faster method for its type, and a chain needs neither.


@kernel
def clear_scalars(tree, M, zero):
    """Clears a matrix of scalars if some joints are on different branches."""
    if width(M) == 1:
        for i in range(tree.shape[1]):
            if tree[PARENT, i] != i - 1:
                for row in range(M.shape[0]):
                    store(M, row, zero)
                break


@kernel
def clear_lanes(tree, M, j, i, parent):
    """Clears lanes: entries of joint j and the links between link i, on j's path to the base, and link i's parent."""
    if width(M) > 1:
        for k in range(parent + 1, i):
            store(M, at(tree, k, j), fill(M, 0.0))
            store(M, at(tree, j, k), fill(M, 0.0))


@kernel
def columns(P, tree, q, M, turns, composites, whole):
    """All of M; if not whole, entries of joints on different branches are not written."""
    begin(tree, composites)
    body = no_body(turns)
    for j in range(P.shape[1] - 1, -1, -1):
        body = composite(P, tree, composites, j, body)
        mass_column(P, tree, q, M, turns, j, unit_wrench(P, tree, j, body, fill(turns, 0.0)), whole)
        body = hand_on(P, tree, q, turns, composites, j, body)


@kernel
def mass_column(P, tree, q, M, turns, j, wrench, whole):
    """Column j of M, and row j: components of its composite's wrench along each joint on the path to the base."""
    store(M, at(tree, j, j), felt(P, tree, j, wrench) + P[ARMATURE, j])
    i, parent = j, tree[PARENT, j]
    while parent >= 0:
        if whole:
            clear_lanes(tree, M, j, i, parent)
        turn = turn_of(P, turns, i)
        if tree[PARENT, parent] < 0:  # of the last wrench only the component along the joint is needed
            entry = felt(P, tree, parent, parent_wrench(P, tree, q, i, turn, wrench))
        else:
            wrench = parent_wrench(P, tree, q, i, turn, wrench)
            entry = felt(P, tree, parent, wrench)
        store(M, at(tree, parent, j), entry)
        store(M, at(tree, j, parent), entry)
        i, parent = parent, tree[PARENT, parent]
    if whole:
        clear_lanes(tree, M, j, i, parent)


# ---------------------------------------------------------------------------------------------- factors


@kernel
def factorise(P, tree, M):
    """M = L^T D L in place, D on the diagonal and L below it: without fill-in, as the tree is sparse.

    Returns the first joint that moves no inertia, or -1.
    """
    bad = -1
    for k in range(tree.shape[1] - 1, -1, -1):
        pivot = load(M, at(tree, k, k))
        # an overflow is not singular; only the outermost singular joint is reported, as those further in follow from it
        if bad < 0 and all_finite(pivot) and not all_above(pivot, P[SMALLEST, k]):
            bad = k
        i = tree[PARENT, k]
        while i >= 0:
            factor = load(M, at(tree, k, i)) / pivot
            j = i
            while j >= 0:
                add(M, at(tree, i, j), -(factor * load(M, at(tree, k, j))))
                j = tree[PARENT, j]
            store(M, at(tree, k, i), factor)
            i = tree[PARENT, i]
    return bad


@kernel
def solve(tree, M, y):
    """Solves L^T D L x = y in place."""
    n = tree.shape[1]
    for k in range(n - 1, -1, -1):
        i = tree[PARENT, k]
        while i >= 0:
            add(y, tree[INDEX, i], -(load(M, at(tree, k, i)) * load(y, tree[INDEX, k])))
            i = tree[PARENT, i]
    for k in range(n):
        x = load(y, tree[INDEX, k]) / load(M, at(tree, k, k))
        i = tree[PARENT, k]
        while i >= 0:
            x = x - load(M, at(tree, k, i)) * load(y, tree[INDEX, i])
            i = tree[PARENT, i]
        store(y, tree[INDEX, k], x)
