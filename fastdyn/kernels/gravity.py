"""Gravity alone: the forces that hold a robot still, and its potential energy."""

from fastdyn.kernels.frames import *
from fastdyn.kernels.joints import *
from fastdyn.kernels.momentum import BODY, first_moments, load_body
from fastdyn.kernels.rnea import base_acceleration, inward
from fastdyn.kernels.rows import *
from fastdyn.scalars import fill, kernel, store
from fastdyn.scalars.vectors import *


def gravity_forces_rows(n):
    return (TURN + PAIR + 3) * n


def potential_energy_rows(n):
    return TURN * n + BODY * (n + 1)


@kernel
def gravity_forces(P, tree, q, tau, work):
    """tau that holds the robot still."""
    n = P.shape[1]
    turns, loads, ups = work[: TURN * n], work[TURN * n : (TURN + PAIR) * n], work[(TURN + PAIR) * n :]
    turn_all(P, tree, q, turns)
    outward(P, tree, turns, loads, ups)
    still = work[:0]
    inward(P, tree, q, still, still, tau, turns, loads, False)


@kernel
def outward(P, tree, turns, loads, ups):
    """The wrench that supports each link's weight; up: minus the gravity vector, in the link's frame."""
    zero = fill(turns, 0.0)
    up = zero_vector(turns)
    for i in range(P.shape[1]):
        kind, parent, turn = tree[KIND, i], tree[PARENT, i], turn_of(P, turns, i)
        if parent < 0:
            up = turned_back(turn, base_acceleration(P, i, turns))
        else:
            if not kind & STRAIGHT:
                up = turned_back(gamma(P, i), load_vector(ups, 3 * parent))
            up = into_link(P, i, turn, up)
        hx, hy = P[HX, i], P[HY, i]
        if kind & SLIDES:
            store_pair(loads, i, (times(P[MASS, i], up), cross((hx, hy, P[HZ, i]), up)))
        else:  # mass and hz have been moved to the parent
            store_pair(loads, i, ((zero, zero, zero), (hy * up[2], -(hx * up[2]), hx * up[1] - hy * up[0])))
        if kind & FORK:
            store_vector(ups, 3 * i, up)


@kernel
def potential_energy(P, tree, q, potential, work):
    """The potential energy of the moving links, zero at the world's origin: their weight at their centre of mass."""
    n = P.shape[1]
    turns, bodies = work[: TURN * n], work[TURN * n :]
    turn_all(P, tree, q, turns)
    first_moments(P, tree, q, turns, bodies)
    m, h = load_body(bodies, n)
    up = P[BASE_GX, 0], P[BASE_GY, 0], P[BASE_GZ, 0]
    store(potential, 0, dot(up, h) + P[BASE_POTENTIAL, 0] * m)
