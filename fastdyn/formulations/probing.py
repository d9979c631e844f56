"""D, h and c from the torques that Newton-Euler gives for chosen motions. Fu, Gonzalez and Lee, problems 3.11, 3.12.

    c         the torques at rest, qd = qdd = 0
    h         those with qdd = 0 and no gravity
    column k  of D: those with qdd = e_k and qd = 0, and no gravity

n + 2 runs of (N multiplications, M additions) in all, n of them for D: n N and n M. D is symmetric, so column k is
needed from row k on only, and the links before joint k are at rest: the chain may begin at joint k. A run of j links
costs N_j; those for D then cost N_1 + ... + N_n, about (n + 1) / 2 times N and M. That is the least if every probe is a
whole run of Newton-Euler, as problem 3.12 charges it; without what is zero in a probe, D costs far less, as in
kernels/crba.py.
"""

from fastdyn.formulations import newton_euler_link
from fastdyn.formulations.links import base_acceleration
from fastdyn.formulations.newton_euler_link import backward, forward, geometry
from fastdyn.scalars import fill, kernel, load, store
from fastdyn.scalars.vectors import zero_vector


def work_rows(n: int) -> int:
    """Rates and accelerations of the chosen motion, the torques of one run, and the rows of Newton-Euler."""
    return 3 * n + newton_euler_link.work_rows(n)


@kernel
def probing(P, kinds, q, qd, qdd, tau, D, h, c, work):
    n = P.shape[1]
    geometry(P, kinds, q, work[3 * n :])
    gravity_by_probing(P, kinds, c, work)
    velocity_by_probing(P, kinds, qd, h, work)
    inertia_by_probing(P, kinds, D, work, True)
    for i in range(n):
        total = load(c, i) + load(h, i)
        for k in range(n):
            total = total + load(D, n * i + k) * load(qdd, k)
        store(tau, i, total)


@kernel
def zeros(buffer):
    for k in range(buffer.shape[0]):
        store(buffer, k, fill(buffer, 0.0))


@kernel
def run(P, kinds, qd, qdd, tau, links, first, dv):
    """Newton-Euler without a load, for the links from `first` on."""
    forward(P, kinds, qd, qdd, links, first, dv)
    backward(P, kinds, links[:0], tau, links, first)


@kernel
def gravity_by_probing(P, kinds, c, work):
    """c, the robot at rest."""
    n = P.shape[1]
    zeros(work[: 2 * n])
    run(P, kinds, work[:n], work[n : 2 * n], c, work[3 * n :], 0, base_acceleration(P, work))


@kernel
def velocity_by_probing(P, kinds, qd, h, work):
    """h, no gravity and no acceleration."""
    n = P.shape[1]
    zeros(work[n : 2 * n])
    run(P, kinds, qd, work[n : 2 * n], h, work[3 * n :], 0, zero_vector(work))


@kernel
def inertia_by_probing(P, kinds, D, work, short):
    """D column by column, no gravity and no velocity. short: from joint k on only, the rest by symmetry."""
    n = P.shape[1]
    zeros(work[: 2 * n])
    acceleration, tau = work[n : 2 * n], work[2 * n : 3 * n]
    for k in range(n):
        first = k if short else 0
        store(acceleration, k, fill(work, 1.0))
        run(P, kinds, work[:n], acceleration, tau, work[3 * n :], first, zero_vector(work))
        store(acceleration, k, fill(work, 0.0))
        for i in range(first, n):
            store(D, n * i + k, load(tau, i))
            if short:
                store(D, n * k + i, load(tau, i))
