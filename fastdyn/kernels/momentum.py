"""Momentum and centre of mass of the moving links, O(n).

Each link's share is expressed in its parent's frame and added there, from the tips to the base.
"""

from fastdyn.kernels.frames import *
from fastdyn.kernels.joints import *
from fastdyn.kernels.rows import *
from fastdyn.kernels.velocities import spin, velocities
from fastdyn.scalars import add, fill, kernel, load, store
from fastdyn.scalars.vectors import *

BODY = 4  # rows of a body: mass, first moment; the base's rows follow those of the links


def momentum_rows(n):
    return (TURN + PAIR) * n + (PAIR + BODY) * (n + 1)


def center_of_mass_rows(n):
    return TURN * n + BODY * (n + 1)


@kernel
def momentum(P, tree, q, qd, momentum, work):
    """Linear momentum, then angular about the centre of mass, along the base's axes; rotors left out."""
    n = P.shape[1]
    turns, speeds = work[: TURN * n], work[TURN * n : (TURN + PAIR) * n]
    shares, bodies = work[(TURN + PAIR) * n :], work[(TURN + PAIR) * n + PAIR * (n + 1) :]
    turn_all(P, tree, q, turns)
    velocities(P, tree, q, qd, turns, speeds)
    for i in range(n):
        store_pair(shares, i, link_momentum(P, i, load_pair(speeds, i)))
    store_pair(shares, n, zero_pair(turns))
    sum_of_wrenches(P, tree, q, turns, shares)
    first_moments(P, tree, q, turns, bodies)
    linear, angular = load_pair(shares, n)
    store_pair(momentum, 0, (linear, minus(angular, cross(centre(bodies, n), linear))))


@kernel
def center_of_mass(P, tree, q, com, work):
    """The centre of mass in the base link's frame."""
    n = P.shape[1]
    turns, bodies = work[: TURN * n], work[TURN * n :]
    turn_all(P, tree, q, turns)
    first_moments(P, tree, q, turns, bodies)
    store_vector(com, 0, centre(bodies, n))


@kernel
def link_momentum(P, i, motion):
    """Momentum of link i, about its origin: m v + w x h, and h x v + I w."""
    v, w = motion
    h = P[HX, i], P[HY, i], P[HZ, i]
    return plus(times(P[MASS, i], v), cross(w, h)), plus(cross(h, v), spin(P, i, w))


@kernel
def receiver(P, tree, i):
    """Index of the rows that link i is added to: its parent's, or n for the base's."""
    return tree[PARENT, i] if tree[PARENT, i] >= 0 else P.shape[1]


@kernel
def sum_of_wrenches(P, tree, q, turns, wrenches):
    """Adds each link's wrench to its parent's, so that the base's is the sum of all, about the base's origin."""
    none = zero_pair(turns)
    wrench = none
    for i in range(P.shape[1] - 1, -1, -1):
        wrench = parent_wrench(P, tree, q, i, turn_of(P, turns, i), plus_pair(wrench, load_pair(wrenches, i)))
        if not tree[KIND, i] & STRAIGHT:
            add_pair(wrenches, receiver(P, tree, i), wrench)
            wrench = none


# ---------------------------------------------------------------------------------------------- mass, first moment


@kernel
def first_moments(P, tree, q, turns, bodies):
    """Mass and first moment of all links into the base's rows of `bodies`, about the base's origin."""
    n, zero = P.shape[1], fill(turns, 0.0)
    store_body(bodies, n, zero, zero_vector(turns))
    for i in range(n):
        if tree[KIND, i] & FORK:
            store_body(bodies, i, zero, zero_vector(turns))
    m, h = zero, zero_vector(turns)  # passed on by the link visited last
    for i in range(n - 1, -1, -1):
        kind = tree[KIND, i]
        h = h[0] + P[HX, i], h[1] + P[HY, i], h[2]
        if kind & SLIDES:
            m, h = m + P[MASS, i], (h[0], h[1], h[2] + P[HZ, i])
        if kind & FORK:
            beside = load_body(bodies, i)
            m, h = m + beside[0], plus(h, beside[1])
        if tree[PARENT, i] < 0:  # inertia that acts on no joint was moved to the base, but moves with this link
            m, h = m + P[LOST_MASS, i], (h[0], h[1], h[2] + P[LOST_HZ, i])
        h = parent_moment(P, tree, q, i, turn_of(P, turns, i), m, h)
        if not kind & STRAIGHT:
            add_body(bodies, receiver(P, tree, i), m, h)
            m, h = zero, zero_vector(turns)


@kernel
def parent_moment(P, tree, q, i, turn, m, h):
    """A first moment of link i, about its origin, expressed in the parent's frame, about the parent's."""
    kind = tree[KIND, i]
    if kind & SLIDES:
        h = h[0], h[1], h[2] + travel(P, tree, q, i) * m
    h = out_of_link(P, i, turn, h)
    if kind & STRAIGHT:
        if kind & HEAVY:
            h = h[0] + P[PX, i] * m, h[1], h[2] + P[PZ, i] * m
        return h
    return turned(gamma(P, i), plus(h, times(m, place(P, i))))


@kernel
def centre(bodies, i):
    m, h = load_body(bodies, i)
    return h[0] / m, h[1] / m, h[2] / m


@kernel
def load_body(bodies, i):
    return load(bodies, BODY * i), load_vector(bodies, BODY * i + 1)


@kernel
def store_body(bodies, i, m, h):
    store(bodies, BODY * i, m)
    store_vector(bodies, BODY * i + 1, h)


@kernel
def add_body(bodies, i, m, h):
    add(bodies, BODY * i, m)
    add_vector(bodies, BODY * i + 1, h)
