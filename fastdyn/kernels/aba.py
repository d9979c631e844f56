"""Articulated-body algorithm: forward dynamics in O(n).

`rnea.outward` at zero joint acceleration gives each link's bias wrench. The rest is linear in qdd, so no velocity
appears below: the inward pass combines each link and its subtree into one articulated body with a wrench, the outward
pass computes the joint accelerations.

An articulated body's inertia is (A, B, C): f = A a + B w', n = B^T a + C w', with A and C symmetric.
"""

from fastdyn.kernels import rnea
from fastdyn.kernels.frames import *
from fastdyn.kernels.joints import *
from fastdyn.kernels.rows import *
from fastdyn.scalars import all_above, all_finite, kernel, load, store
from fastdyn.scalars.vectors import *

BODY = 21  # rows of an articulated body: A, C, B by rows


def forward_dynamics_rows(n):
    return rnea.bias_forces_rows(n) + (BODY + PAIR) * n


@kernel
def forward_dynamics(P, tree, q, qd, tau, wrenches, qdd, work):
    """Computes qdd; returns a joint that moves no inertia, or -1."""
    n = P.shape[1]
    turns, loads, motions, rest = rnea.parts(P, work)
    bodies, shares, still = rest[: BODY * n], rest[BODY * n :], work[:0]
    rnea.outward(P, tree, q, qd, still, turns, loads, motions, False)
    rnea.surroundings(P, tree, wrenches, loads)
    bad = inward(P, tree, q, qd, tau, qdd, turns, loads, bodies, shares)
    outward(P, tree, q, qdd, turns, shares, loads)  # accelerations in place of loads, no longer needed
    return bad


@kernel
def inward(P, tree, q, qd, tau, qdd, turns, loads, bodies, shares):
    """Articulated bodies and wrenches, from the tips to the base; returns a joint that moves no inertia, or -1.

    qdd becomes each joint's acceleration on a parent that does not accelerate; the parent's acceleration adds minus
    share . acceleration. A straight link passes its articulated body on in registers, any other through its parent's
    rows.
    """
    begin(tree, bodies)
    body, wrench = no_body(turns), zero_pair(turns)  # passed on by the link visited last
    bad = -1
    for i in range(P.shape[1] - 1, -1, -1):
        kind, parent = tree[KIND, i], tree[PARENT, i]
        body = articulated_plus_link(P, tree, i, body)
        if kind & FORK:
            body = plus_body(body, load_body(bodies, i))
        wrench = plus_pair(wrench, load_pair(loads, i))
        unit = articulated_wrench(P, tree, i, body)
        inertia = felt(P, tree, i, unit) + P[ARMATURE, i]
        # an overflow is not singular; only the outermost singular joint is reported, as those further in follow from it
        if bad < 0 and all_finite(inertia) and not all_above(inertia, P[SMALLEST, i]):
            bad = i
        over = 1.0 / inertia
        force = load(tau, tree[INDEX, i]) - felt(P, tree, i, wrench)  # what is left to accelerate the joint
        if kind & RUBS:
            force = force - friction(P, tree, qd, i)
        acceleration = force * over
        share = times(over, unit[0]), times(over, unit[1])
        store_pair(shares, i, share)
        store(qdd, tree[INDEX, i], acceleration)
        if parent < 0:
            body, wrench = no_body(turns), zero_pair(turns)
            continue
        turn = turn_of(P, turns, i)
        body = turned_body(P, tree, q, i, turn, given_way(body, unit, share))
        wrench = plus(wrench[0], times(acceleration, unit[0])), plus(wrench[1], times(acceleration, unit[1]))
        wrench = parent_wrench(P, tree, q, i, turn, wrench)
        if kind & STRAIGHT:
            body = straight_body(P[PX, i], P[PZ, i], body)
        else:
            add_body(bodies, parent, placed_body(P, i, body))
            add_pair(loads, parent, wrench)
            body, wrench = no_body(turns), zero_pair(turns)
    return bad


@kernel
def outward(P, tree, q, qdd, turns, shares, accelerations):
    """Joint accelerations, from the base to the tips; `accelerations`: those of the links due to qdd."""
    motion = zero_pair(turns)
    for i in range(P.shape[1]):
        motion = carried_motion(P, tree, q, i, turns, accelerations, motion)
        share = load_pair(shares, i)
        acceleration = load(qdd, tree[INDEX, i]) - (dot(motion[0], share[0]) + dot(motion[1], share[1]))
        store(qdd, tree[INDEX, i], acceleration)
        motion = plus_joint(P, tree, i, motion, acceleration)
        if tree[KIND, i] & FORK:
            store_pair(accelerations, i, motion)


# ---------------------------------------------------------------------------------------------- articulated bodies


@kernel
def given_way(body, unit, share):
    """An articulated body seen across its free joint: less unit unit^T / D, share = unit / D."""
    A, B, C = body
    return (
        symmetric_minus_outer(A, unit[0], share[0]),
        matrix_minus_outer(B, unit[0], share[1]),
        symmetric_minus_outer(C, unit[1], share[1]),
    )


@kernel
def turned_body(P, tree, q, i, turn, body):
    """An articulated body of link i, about its origin at q = 0, in the parent's axes (gamma not yet undone)."""
    if tree[KIND, i] & SLIDES:
        body = slid_body(travel(P, tree, q, i), body)
    A, B, C = body
    return (
        symmetric_turned_x(alpha(P, i), symmetric_turned_z(turn, A)),
        matrix_turned_x(alpha(P, i), matrix_turned_z(turn, B)),
        symmetric_turned_x(alpha(P, i), symmetric_turned_z(turn, C)),
    )


# About a new origin, where p is the old one's position relative to it: B' = B - A [p]x, C' = C - B^T [p]x + [p]x B'


@kernel
def slid_body(d, body):
    """p = (0, 0, d)."""
    A, ((Bxx, Bxy, Bxz), (Byx, Byy, Byz), (Bzx, Bzy, Bzz)), (Cxx, Cyy, Czz, Cxy, Cxz, Cyz) = body
    Axx, Ayy, _, Axy, Axz, Ayz = A
    Dxx, Dxy = Bxx - Axy * d, Bxy + Axx * d
    Dyx, Dyy = Byx - Ayy * d, Byy + Axy * d
    Dzx, Dzy = Bzx - Ayz * d, Bzy + Axz * d
    Cxx, Cyy, Cxy = Cxx - (Byx + Dyx) * d, Cyy + (Bxy + Dxy) * d, Cxy + (Bxx - Dyy) * d
    Cxz, Cyz = Cxz - Byz * d, Cyz + Bxz * d
    return A, ((Dxx, Dxy, Bxz), (Dyx, Dyy, Byz), (Dzx, Dzy, Bzz)), (Cxx, Cyy, Czz, Cxy, Cxz, Cyz)


@kernel
def straight_body(px, pz, body):
    """p = (px, 0, pz)."""
    A, B, C = body
    Axx, Ayy, Azz, Axy, Axz, Ayz = A
    (Bxx, Bxy, Bxz), (Byx, Byy, Byz), (Bzx, Bzy, Bzz) = B
    Cxx, Cyy, Czz, Cxy, Cxz, Cyz = C
    Dxx, Dxy, Dxz = Bxx - Axy * pz, Bxy + Axx * pz - Axz * px, Bxz + Axy * px
    Dyx, Dyy, Dyz = Byx - Ayy * pz, Byy + Axy * pz - Ayz * px, Byz + Ayy * px
    Dzx, Dzy, Dzz = Bzx - Ayz * pz, Bzy + Axz * pz - Azz * px, Bzz + Ayz * px
    Cxx = Cxx - (Byx + Dyx) * pz
    Cyy = Cyy + (Bxy + Dxy) * pz - (Bzy + Dzy) * px
    Czz = Czz + (Byz + Dyz) * px
    Cxy = Cxy + (Bxx - Dyy) * pz - Bzx * px
    Cxz = Cxz + Byx * px - pz * Dyz
    Cyz = Cyz + (Byy - Dzz) * px + pz * Dxz
    return A, ((Dxx, Dxy, Dxz), (Dyx, Dyy, Dyz), (Dzx, Dzy, Dzz)), (Cxx, Cyy, Czz, Cxy, Cxz, Cyz)


@kernel
def placed_body(P, i, body):
    """Any p; then gamma is undone."""
    px, py, pz = place(P, i)
    A, B, C = body
    Axx, Ayy, Azz, Axy, Axz, Ayz = A
    (Bxx, Bxy, Bxz), (Byx, Byy, Byz), (Bzx, Bzy, Bzz) = B
    Cxx, Cyy, Czz, Cxy, Cxz, Cyz = C
    Dxx, Dxy, Dxz = Bxx - Axy * pz + Axz * py, Bxy + Axx * pz - Axz * px, Bxz - Axx * py + Axy * px
    Dyx, Dyy, Dyz = Byx - Ayy * pz + Ayz * py, Byy + Axy * pz - Ayz * px, Byz - Axy * py + Ayy * px
    Dzx, Dzy, Dzz = Bzx - Ayz * pz + Azz * py, Bzy + Axz * pz - Azz * px, Bzz - Axz * py + Ayz * px
    Cxx = Cxx - Byx * pz + Bzx * py + py * Dzx - pz * Dyx
    Cyy = Cyy + Bxy * pz - Bzy * px + pz * Dxy - px * Dzy
    Czz = Czz - Bxz * py + Byz * px + px * Dyz - py * Dxz
    Cxy = Cxy + Bxx * pz - Bzx * px + py * Dzy - pz * Dyy
    Cxz = Cxz - Bxx * py + Byx * px + py * Dzz - pz * Dyz
    Cyz = Cyz - Bxy * py + Byy * px + pz * Dxz - px * Dzz
    B, C = ((Dxx, Dxy, Dxz), (Dyx, Dyy, Dyz), (Dzx, Dzy, Dzz)), (Cxx, Cyy, Czz, Cxy, Cxz, Cyz)
    angle = gamma(P, i)
    return symmetric_turned_z(angle, A), matrix_turned_z(angle, B), symmetric_turned_z(angle, C)


# ---------------------------------------------------------------------------------------------- rows


@kernel
def no_body(buffer):
    none = zero_vector(buffer)
    return zero_symmetric(buffer), (none, none, none), zero_symmetric(buffer)


@kernel
def plus_body(a, b):
    return symmetric_plus(a[0], b[0]), matrix_plus(a[1], b[1]), symmetric_plus(a[2], b[2])


@kernel
def begin(tree, bodies):
    """Clears the rows that links that are not straight add to."""
    for i in range(tree.shape[1]):
        if tree[KIND, i] & FORK:
            A, B, C = no_body(bodies)
            store_symmetric(bodies, BODY * i, A)
            store_symmetric(bodies, BODY * i + 6, C)
            store_matrix(bodies, BODY * i + 12, B)


@kernel
def load_body(bodies, i):
    row = BODY * i
    return load_symmetric(bodies, row), load_matrix(bodies, row + 12), load_symmetric(bodies, row + 6)


@kernel
def add_body(bodies, i, body):
    add_symmetric(bodies, BODY * i, body[0])
    add_symmetric(bodies, BODY * i + 6, body[2])
    add_matrix(bodies, BODY * i + 12, body[1])
