"""Link velocities and kinetic energy."""

from fastdyn.kernels.frames import *
from fastdyn.kernels.joints import *
from fastdyn.kernels.rows import *
from fastdyn.scalars import fill, kernel, load, store
from fastdyn.scalars.vectors import *


def kinetic_energy_rows(n):
    return (TURN + PAIR) * n


@kernel
def velocities(P, tree, q, qd, turns, speeds):
    """(linear, angular) velocity of each link's frame, expressed in it. (3.3-50) for the angular part"""
    motion = zero_pair(turns)
    for i in range(P.shape[1]):
        motion = carried_motion(P, tree, q, i, turns, speeds, motion)
        motion = plus_joint(P, tree, i, motion, load(qd, tree[INDEX, i]))
        store_pair(speeds, i, motion)


@kernel
def spin(P, i, w):
    """I w: angular momentum of a link that rotates about its origin, I = trace(J) - J."""
    Jxx, Jyy, Jxy, Jxz, Jyz = P[JXX, i], P[JYY, i], P[JXY, i], P[JXZ, i], P[JYZ, i]
    return (
        Jyy * w[0] - Jxy * w[1] - Jxz * w[2],
        Jxx * w[1] - Jxy * w[0] - Jyz * w[2],
        (Jxx + Jyy) * w[2] - Jxz * w[0] - Jyz * w[1],
    )


@kernel
def kinetic_energy(P, tree, q, qd, kinetic, work):
    """The sum over links of m v.v / 2 + v.(w x h) + w.I w / 2, plus the rotors'."""
    n = P.shape[1]
    turns, speeds = work[: TURN * n], work[TURN * n :]
    turn_all(P, tree, q, turns)
    velocities(P, tree, q, qd, turns, speeds)
    twice = fill(turns, 0.0)
    for i in range(n):
        v, w = load_pair(speeds, i)
        twice = twice + P[MASS, i] * dot(v, v) + 2.0 * dot(v, cross(w, (P[HX, i], P[HY, i], P[HZ, i])))
        twice = twice + dot(w, spin(P, i, w))
        rate = load(qd, tree[INDEX, i])
        twice = twice + P[ARMATURE, i] * rate * rate
    store(kinetic, 0, 0.5 * twice)
