"""(T, columns) arrays of samples -> blocks of lanes -> texts. The compiled entry points, one for each formulation.

As in batch.py: 1-D scratch means one sample at a time, (rows, LANES) scratch LANES at a time. Each returns 0, or 1 if
an input or a result is not finite. All arguments between qdd and scratch are results, (T, columns).
"""

from fastdyn.formulations import (
    christoffel,
    generalized_dalembert,
    kane,
    kane_rrt,
    lagrange_euler,
    newton_euler_base,
    newton_euler_frugal,
    newton_euler_link,
    probing,
    recursive_lagrange,
    screws,
)
from fastdyn.scalars import all_finite, entry, fill, give, kernel, store, take, width


@kernel
def take_motion(q, qd, qdd, first, X):
    check = take(q, first, X, 0)
    check = check + take(qd, first, X, q.shape[1])
    return check + take(qdd, first, X, 2 * q.shape[1])


@kernel
def status(check):
    return 0 if all_finite(check) else 1


@entry
def run_lagrange_euler(P, T, q, qd, qdd, tau, D, h, c, h_ikm, scratch):
    n = P.shape[1]
    rows = lagrange_euler.sample_rows(n)
    X, work = scratch[:rows], scratch[rows:]
    check = fill(X, 0.0)
    for first in range(0, q.shape[0], width(X)):
        check = check + take_motion(q, qd, qdd, first, X)
        lagrange_euler.lagrange_euler(P, T, X, work)
        check = check + give(X, 3 * n, tau, first)
        check = check + give(X, 4 * n, c, first)
        check = check + give(X, 5 * n, h, first)
        check = check + give(X, 6 * n, D, first)
        check = check + give(X, 6 * n + n * n, h_ikm, first)
    return status(check)


@entry
def run_recursive_lagrange(P, T, q, qd, qdd, tau, scratch):
    n = P.shape[1]
    rows = recursive_lagrange.sample_rows(n)
    X, work = scratch[:rows], scratch[rows:]
    check = fill(X, 0.0)
    for first in range(0, q.shape[0], width(X)):
        check = check + take_motion(q, qd, qdd, first, X)
        recursive_lagrange.recursive_lagrange(P, T, X, work)
        check = check + give(X, 3 * n, tau, first)
    return status(check)


@entry
def run_newton_euler_base(P, T, q, qd, qdd, tau, scratch):
    n = P.shape[1]
    rows = newton_euler_base.sample_rows(n)
    X, work = scratch[:rows], scratch[rows:]
    check = fill(X, 0.0)
    for first in range(0, q.shape[0], width(X)):
        check = check + take_motion(q, qd, qdd, first, X)
        newton_euler_base.newton_euler_base(P, T, X, work)
        check = check + give(X, 3 * n, tau, first)
    return status(check)


@entry
def run_newton_euler_link(P, T, q, qd, qdd, load, tau, scratch):
    """load: (T, 6), force and moment that the hand exerts, or no samples for none."""
    n = P.shape[1]
    rows = newton_euler_link.sample_rows(n)
    X, L, work = scratch[:rows], scratch[rows : rows + 6], scratch[rows + 6 :]
    check = fill(X, 0.0)
    for k in range(6):
        store(L, k, fill(L, 0.0))
    for first in range(0, q.shape[0], width(X)):
        check = check + take_motion(q, qd, qdd, first, X)
        if load.shape[0] > 0:
            check = check + take(load, first, L, 0)
        newton_euler_link.newton_euler_link(P, T, X, L, work)
        check = check + give(X, 3 * n, tau, first)
    return status(check)


@entry
def run_newton_euler_frugal(P, T, q, qd, qdd, tau, scratch):
    n = P.shape[1]
    rows = newton_euler_frugal.sample_rows(n)
    X, work = scratch[:rows], scratch[rows:]
    check = fill(X, 0.0)
    for first in range(0, q.shape[0], width(X)):
        check = check + take_motion(q, qd, qdd, first, X)
        newton_euler_frugal.newton_euler_frugal(P, T, X, work)
        check = check + give(X, 3 * n, tau, first)
    return status(check)


@entry
def run_probing(P, T, q, qd, qdd, tau, D, h, c, scratch):
    n = P.shape[1]
    rows = probing.sample_rows(n)
    X, Y, L, work = (
        scratch[:rows], scratch[rows : rows + 4 * n], scratch[rows + 4 * n : rows + 4 * n + 6],
        scratch[rows + 4 * n + 6 :],
    )  # fmt: skip
    check = fill(X, 0.0)
    for first in range(0, q.shape[0], width(X)):
        check = check + take_motion(q, qd, qdd, first, X)
        probing.probing(P, T, X, Y, L, work)
        check = check + give(X, 3 * n, tau, first)
        check = check + give(X, 4 * n, c, first)
        check = check + give(X, 5 * n, h, first)
        check = check + give(X, 6 * n, D, first)
    return status(check)


@entry
def run_generalized_dalembert(P, T, q, qd, qdd, tau, D_tran, D_rot, h_tran, h_rot, c, scratch):
    n = P.shape[1]
    rows = generalized_dalembert.sample_rows(n)
    X, work = scratch[:rows], scratch[rows:]
    check = fill(X, 0.0)
    for first in range(0, q.shape[0], width(X)):
        check = check + take_motion(q, qd, qdd, first, X)
        generalized_dalembert.generalized_dalembert(P, T, X, work)
        check = check + give(X, 3 * n, tau, first)
        check = check + give(X, 4 * n, c, first)
        check = check + give(X, 5 * n, h_tran, first)
        check = check + give(X, 6 * n, h_rot, first)
        check = check + give(X, 7 * n, D_tran, first)
        check = check + give(X, 7 * n + n * n, D_rot, first)
    return status(check)


@entry
def run_christoffel(P, T, q, qd, qdd, tau, D, C, c, symbols, scratch):
    n = P.shape[1]
    rows = christoffel.sample_rows(n)
    X, work = scratch[:rows], scratch[rows:]
    check = fill(X, 0.0)
    for first in range(0, q.shape[0], width(X)):
        check = check + take_motion(q, qd, qdd, first, X)
        christoffel.christoffel(P, T, X, work)
        check = check + give(X, 3 * n, tau, first)
        check = check + give(X, 4 * n, c, first)
        check = check + give(X, 5 * n, D, first)
        check = check + give(X, 5 * n + n * n, C, first)
        check = check + give(X, 5 * n + 2 * n * n, symbols, first)
    return status(check)


@entry
def run_kane(P, T, q, qd, qdd, tau, K, Q, scratch):
    n = P.shape[1]
    rows = kane.sample_rows(n)
    X, work = scratch[:rows], scratch[rows:]
    check = fill(X, 0.0)
    for first in range(0, q.shape[0], width(X)):
        check = check + take_motion(q, qd, qdd, first, X)
        kane.kane(P, T, X, work)
        check = check + give(X, 3 * n, tau, first)
        check = check + give(X, 4 * n, K, first)
        check = check + give(X, 5 * n, Q, first)
    return status(check)


@entry
def run_kane_rrt(P, T, q, qd, qdd, tau, scratch):
    check = fill(scratch, 0.0)
    for first in range(0, q.shape[0], width(scratch)):
        check = check + take_motion(q, qd, qdd, first, scratch)
        kane_rrt.kane_rrt(P, scratch)
        check = check + give(scratch, 9, tau, first)
    return status(check)


@entry
def run_screws(P, T, q, qd, qdd, tau, scratch):
    n = P.shape[1]
    rows = screws.sample_rows(n)
    X, work = scratch[:rows], scratch[rows:]
    check = fill(X, 0.0)
    for first in range(0, q.shape[0], width(X)):
        check = check + take_motion(q, qd, qdd, first, X)
        screws.screws(P, T, X, work)
        check = check + give(X, 3 * n, tau, first)
    return status(check)


@entry
def run_stacked_screws(P, T, q, qd, qdd, tau, D, h, c, scratch):
    n = P.shape[1]
    rows = screws.stacked_sample_rows(n)
    X, work = scratch[:rows], scratch[rows:]
    check = fill(X, 0.0)
    for first in range(0, q.shape[0], width(X)):
        check = check + take_motion(q, qd, qdd, first, X)
        screws.stacked_screws(P, T, X, work)
        check = check + give(X, 3 * n, tau, first)
        check = check + give(X, 4 * n, c, first)
        check = check + give(X, 5 * n, h, first)
        check = check + give(X, 6 * n, D, first)
    return status(check)
