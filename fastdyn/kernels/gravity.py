"""Gravity alone: the forces that hold a robot still, and its potential energy."""

from fastdyn.kernels.joints import coordinate, turn, turn_all
from fastdyn.kernels.rnea import motion_row, store_wrench, wrench_row
from fastdyn.kernels.rows import *
from fastdyn.kernels.vectors import cross, into_link, turned_back
from fastdyn.scalars import fill, kernel, load, store


@kernel
def outward(P, T, X, work):
    """Each link's weight, as the wrench that carries it; rnea.inward sums them. X and work as in rnea.py.

    Minus the gravity vector, seen from each link, stands where rnea.py keeps the acceleration of the origin; the
    potential of a unit mass at the origin stands where it keeps the angular acceleration's z.
    """
    n = P.shape[1]
    zero = fill(X, 0.0)
    vx, vy, vz, potential = zero, zero, zero, zero
    total = zero
    turn_all(P, T, X, work)
    for i in range(n):
        kind, parent = T[KIND, i], T[PARENT, i]
        s, c = turn(P, work, i)
        px, py, pz = P[PX, i], P[PY, i], P[PZ, i]
        if parent < 0:
            potential = fill(X, P[GX, i] * px + P[GY, i] * py + P[GZ, i] * pz)
            vx, vy, vz = turned_back(c, s, P[GX, i], P[GY, i], fill(X, P[GZ, i]))
        else:
            if not kind & STRAIGHT:
                row = motion_row(P, parent)
                potential = load(work, row + 5)
                vx, vy, vz = load(work, row + 6), load(work, row + 7), load(work, row + 8)
                vx, vy, vz = turned_back(P[COS_GAMMA, i], P[SIN_GAMMA, i], vx, vy, vz)
            potential = potential + vx * px + vy * py + vz * pz
            vx, vy, vz = into_link(c, s, P[COS_ALPHA, i], P[SIN_ALPHA, i], vx, vy, vz)

        m, hx, hy, hz = P[MASS, i], P[HX, i], P[HY, i], P[HZ, i]
        if kind & PRISMATIC:
            potential = potential + vz * coordinate(P, T, X, i)
        nx, ny, nz = cross(hx, hy, hz, vx, vy, vz)
        total = total + potential * m + vx * hx + vy * hy + vz * hz

        store_wrench(work, wrench_row(P, i), vx * m, vy * m, vz * m, nx, ny, nz)
        if kind & FORK:
            row = motion_row(P, i)
            store(work, row + 5, potential)
            store(work, row + 6, vx)
            store(work, row + 7, vy)
            store(work, row + 8, vz)
        store(X, 3 * n + T[INDEX, i], zero)
    return total
