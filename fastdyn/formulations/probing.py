"""D, h and c found by asking Newton-Euler for torques of chosen motions. 000, problems 3.11 and 3.12.

    c         the torques of a robot at rest, qd = qdd = 0
    h         those of a motion with qdd = 0 and no gravity
    column k  of D: those with qdd = e_k and qd = 0, and no gravity

n + 2 runs of (N multiplications, M additions) in all, n of them for D: n N and n M. D is symmetric, so column k is
wanted from row k on only, and the links before joint k stand still: the chain may begin at joint k. A run of j links
costs N_j; those for D then cost N_1 + ... + N_n, about (n + 1) / 2 times N and M. That is the least.

X rows: q, qd, qdd (read), tau, c, h (n each), D (n * n). Y: 4 n rows, the motion asked for. L and work: as in
newton_euler_link.py.
"""

from fastdyn.formulations.links import base_acceleration
from fastdyn.formulations.newton_euler_link import backward, forward, geometry
from fastdyn.scalars import fill, kernel, load, store
from fastdyn.scalars.vectors import zero_vector


@kernel
def sample_rows(n):
    return 6 * n + n * n


@kernel
def probing(P, T, X, Y, L, work):
    n = P.shape[1]
    for k in range(6):
        store(L, k, fill(L, 0.0))
    rest(Y, n)
    for i in range(n):
        store(Y, i, load(X, i))
    geometry(P, T, Y, work)
    gravity_by_probing(P, T, X, Y, L, work)
    velocity_by_probing(P, T, X, Y, L, work)
    inertia_by_probing(P, T, X, Y, L, work, True)
    for i in range(n):
        total = load(X, 4 * n + i) + load(X, 5 * n + i)
        for k in range(n):
            total = total + load(X, 6 * n + n * i + k) * load(X, 2 * n + k)
        store(X, 3 * n + i, total)


@kernel
def rest(Y, n):
    """qd = qdd = 0."""
    for i in range(2 * n):
        store(Y, n + i, fill(Y, 0.0))


@kernel
def gravity_by_probing(P, T, X, Y, L, work):
    """c, the robot at rest."""
    n = P.shape[1]
    rest(Y, n)
    forward(P, T, Y, work, 0, base_acceleration(P, Y))
    backward(P, T, Y, L, work, 0)
    for i in range(n):
        store(X, 4 * n + i, load(Y, 3 * n + i))


@kernel
def velocity_by_probing(P, T, X, Y, L, work):
    """h, no gravity and no acceleration."""
    n = P.shape[1]
    rest(Y, n)
    for i in range(n):
        store(Y, n + i, load(X, n + i))
    forward(P, T, Y, work, 0, zero_vector(Y))
    backward(P, T, Y, L, work, 0)
    for i in range(n):
        store(X, 5 * n + i, load(Y, 3 * n + i))


@kernel
def inertia_by_probing(P, T, X, Y, L, work, short):
    """D column by column, no gravity and no velocity. short: from joint k on only, the rest by symmetry."""
    n = P.shape[1]
    rest(Y, n)
    for k in range(n):
        first = k if short else 0
        store(Y, 2 * n + k, fill(Y, 1.0))
        forward(P, T, Y, work, first, zero_vector(Y))
        backward(P, T, Y, L, work, first)
        store(Y, 2 * n + k, fill(Y, 0.0))
        for i in range(first, n):
            store(X, 6 * n + n * i + k, load(Y, 3 * n + i))
            if short:
                store(X, 6 * n + n * k + i, load(Y, 3 * n + i))
