"""How fast each link moves, and the kinetic energy of it.

X rows, n each, in the user's order of joints: q, qd. work: the turns (joints.py);
speeds: SLOTS rows for each link.
"""

from fastdyn.kernels.joints import TURNS, coordinate, turn, turn_all
from fastdyn.kernels.rows import *
from fastdyn.kernels.vectors import cross, into_link, turned_back
from fastdyn.scalars import fill, kernel, load, store

SLOTS = 6  # angular velocity, velocity of the frame's origin
WORK = TURNS + SLOTS


@kernel
def velocities(P, T, X, work, speeds):
    """Angular and linear velocity of each link's frame, expressed in it. (3.3-50) and its integral"""
    n = P.shape[1]
    zero = fill(X, 0.0)
    for i in range(n):
        kind, parent, rate = T[KIND, i], T[PARENT, i], load(X, n + T[INDEX, i])
        wx, wy, wz, vx, vy, vz = zero, zero, zero, zero, zero, zero
        if parent >= 0:
            s, c = turn(P, work, i)
            ca, sa = P[COS_ALPHA, i], P[SIN_ALPHA, i]
            row = SLOTS * parent
            wx, wy, wz = load(speeds, row), load(speeds, row + 1), load(speeds, row + 2)
            vx, vy, vz = load(speeds, row + 3), load(speeds, row + 4), load(speeds, row + 5)
            if not kind & STRAIGHT:
                wx, wy, wz = turned_back(P[COS_GAMMA, i], P[SIN_GAMMA, i], wx, wy, wz)
                vx, vy, vz = turned_back(P[COS_GAMMA, i], P[SIN_GAMMA, i], vx, vy, vz)
            ux, uy, uz = cross(wx, wy, wz, P[PX, i], P[PY, i], P[PZ, i])
            wx, wy, wz = into_link(c, s, ca, sa, wx, wy, wz)
            vx, vy, vz = into_link(c, s, ca, sa, vx + ux, vy + uy, vz + uz)
        if kind & PRISMATIC:
            d = coordinate(P, T, X, i)
            vx, vy, vz = vx + wy * d, vy - wx * d, vz + rate
        else:
            wz = wz + rate
        row = SLOTS * i
        store(speeds, row, wx)
        store(speeds, row + 1, wy)
        store(speeds, row + 2, wz)
        store(speeds, row + 3, vx)
        store(speeds, row + 4, vy)
        store(speeds, row + 5, vz)


@kernel
def kinetic_energy(P, T, X, work, speeds):
    """The sum over links of m v.v / 2 + v.(w x h) + w.I w / 2, and the rotors'."""
    n = P.shape[1]
    turn_all(P, T, X, work)
    velocities(P, T, X, work, speeds)
    twice = fill(X, 0.0)
    for i in range(n):
        row = SLOTS * i
        wx, wy, wz = load(speeds, row), load(speeds, row + 1), load(speeds, row + 2)
        vx, vy, vz = load(speeds, row + 3), load(speeds, row + 4), load(speeds, row + 5)
        ux, uy, uz = cross(wx, wy, wz, P[HX, i], P[HY, i], P[HZ, i])
        twice = twice + P[MASS, i] * (vx * vx + vy * vy + vz * vz) + 2.0 * (vx * ux + vy * uy + vz * uz)
        Jxx, Jyy, Jxy, Jxz, Jyz = P[JXX, i], P[JYY, i], P[JXY, i], P[JXZ, i], P[JYZ, i]
        twice = twice + wx * (Jyy * wx - Jxy * wy - Jxz * wz)
        twice = twice + wy * (Jxx * wy - Jxy * wx - Jyz * wz)
        twice = twice + wz * ((Jxx + Jyy) * wz - Jxz * wx - Jyz * wy)
        rate = load(X, n + T[INDEX, i])
        twice = twice + P[ARMATURE, i] * rate * rate
    return 0.5 * twice
