"""Texts that only add their inputs: reading and writing alone (python -m benchmarks.specialized --copying)."""

from fastdyn.scalars import kernel, load, store


@kernel
def sum_of_two(P, tree, q, qd, tau, work):
    for i in range(P.shape[1]):
        store(tau, i, load(q, i) + load(qd, i))


@kernel
def sum_of_three(P, tree, q, qd, qdd, tau, work):
    for i in range(P.shape[1]):
        store(tau, i, load(q, i) + load(qd, i) + load(qdd, i))
