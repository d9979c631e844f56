"""(samples, columns) arrays -> blocks of lanes -> texts. The compiled entry points, one for each formulation.

As in batch.py: 1-D scratch means one sample at a time, (rows, LANES) scratch LANES at a time. Each returns 0, or 1 if
an input or a result is not finite. All arguments between qdd and scratch are results, (samples, columns). Scratch holds
the buffers of q, qd, qdd and the results in this order, then the text's work.
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
from fastdyn.scalars import all_finite, entry, fill, give, kernel, take, width


@kernel
def motion_buffers(n, scratch):
    return scratch[:n], scratch[n : 2 * n], scratch[2 * n : 3 * n]


@kernel
def take_motion(q, qd, qdd, first, q_, qd_, qdd_):
    check = take(q, first, q_, 0)
    check = check + take(qd, first, qd_, 0)
    return check + take(qdd, first, qdd_, 0)


@kernel
def status(check):
    return 0 if all_finite(check) else 1


@entry
def run_lagrange_euler(P, T, q, qd, qdd, tau, D, h, c, h_ikm, scratch):
    n = P.shape[1]
    q_, qd_, qdd_ = motion_buffers(n, scratch)
    tau_ = scratch[3 * n : 4 * n]
    D_ = scratch[4 * n : 4 * n + n * n]
    h_ = scratch[4 * n + n * n : 5 * n + n * n]
    c_ = scratch[5 * n + n * n : 6 * n + n * n]
    h_ikm_ = scratch[6 * n + n * n : 6 * n + n * n + n * n * n]
    work = scratch[6 * n + n * n + n * n * n :]
    check = fill(scratch, 0.0)
    for first in range(0, q.shape[0], width(scratch)):
        check = check + take_motion(q, qd, qdd, first, q_, qd_, qdd_)
        lagrange_euler.lagrange_euler(P, T, q_, qd_, qdd_, tau_, D_, h_, c_, h_ikm_, work)
        check = check + give(tau_, 0, tau, first)
        check = check + give(D_, 0, D, first)
        check = check + give(h_, 0, h, first)
        check = check + give(c_, 0, c, first)
        check = check + give(h_ikm_, 0, h_ikm, first)
    return status(check)


@entry
def run_recursive_lagrange(P, T, q, qd, qdd, tau, scratch):
    n = P.shape[1]
    q_, qd_, qdd_ = motion_buffers(n, scratch)
    tau_ = scratch[3 * n : 4 * n]
    work = scratch[4 * n :]
    check = fill(scratch, 0.0)
    for first in range(0, q.shape[0], width(scratch)):
        check = check + take_motion(q, qd, qdd, first, q_, qd_, qdd_)
        recursive_lagrange.recursive_lagrange(P, T, q_, qd_, qdd_, tau_, work)
        check = check + give(tau_, 0, tau, first)
    return status(check)


@entry
def run_newton_euler_base(P, T, q, qd, qdd, tau, scratch):
    n = P.shape[1]
    q_, qd_, qdd_ = motion_buffers(n, scratch)
    tau_ = scratch[3 * n : 4 * n]
    work = scratch[4 * n :]
    check = fill(scratch, 0.0)
    for first in range(0, q.shape[0], width(scratch)):
        check = check + take_motion(q, qd, qdd, first, q_, qd_, qdd_)
        newton_euler_base.newton_euler_base(P, T, q_, qd_, qdd_, tau_, work)
        check = check + give(tau_, 0, tau, first)
    return status(check)


@entry
def run_newton_euler_link(P, T, q, qd, qdd, load, tau, scratch):
    """load: (samples, 6), force and moment that the hand exerts, or no samples for none."""
    n = P.shape[1]
    q_, qd_, qdd_ = motion_buffers(n, scratch)
    tau_ = scratch[3 * n : 4 * n]
    rows = 6 if load.shape[0] > 0 else 0
    load_, work = scratch[4 * n : 4 * n + rows], scratch[4 * n + rows :]
    check = fill(scratch, 0.0)
    for first in range(0, q.shape[0], width(scratch)):
        check = check + take_motion(q, qd, qdd, first, q_, qd_, qdd_)
        if rows > 0:
            check = check + take(load, first, load_, 0)
        newton_euler_link.newton_euler_link(P, T, q_, qd_, qdd_, load_, tau_, work)
        check = check + give(tau_, 0, tau, first)
    return status(check)


@entry
def run_newton_euler_frugal(P, T, q, qd, qdd, tau, scratch):
    n = P.shape[1]
    q_, qd_, qdd_ = motion_buffers(n, scratch)
    tau_ = scratch[3 * n : 4 * n]
    work = scratch[4 * n :]
    check = fill(scratch, 0.0)
    for first in range(0, q.shape[0], width(scratch)):
        check = check + take_motion(q, qd, qdd, first, q_, qd_, qdd_)
        newton_euler_frugal.newton_euler_frugal(P, T, q_, qd_, qdd_, tau_, work)
        check = check + give(tau_, 0, tau, first)
    return status(check)


@entry
def run_probing(P, T, q, qd, qdd, tau, D, h, c, scratch):
    n = P.shape[1]
    q_, qd_, qdd_ = motion_buffers(n, scratch)
    tau_ = scratch[3 * n : 4 * n]
    D_ = scratch[4 * n : 4 * n + n * n]
    h_ = scratch[4 * n + n * n : 5 * n + n * n]
    c_ = scratch[5 * n + n * n : 6 * n + n * n]
    work = scratch[6 * n + n * n :]
    check = fill(scratch, 0.0)
    for first in range(0, q.shape[0], width(scratch)):
        check = check + take_motion(q, qd, qdd, first, q_, qd_, qdd_)
        probing.probing(P, T, q_, qd_, qdd_, tau_, D_, h_, c_, work)
        check = check + give(tau_, 0, tau, first)
        check = check + give(D_, 0, D, first)
        check = check + give(h_, 0, h, first)
        check = check + give(c_, 0, c, first)
    return status(check)


@entry
def run_generalized_dalembert(P, T, q, qd, qdd, tau, D_tran, D_rot, h_tran, h_rot, c, scratch):
    n = P.shape[1]
    q_, qd_, qdd_ = motion_buffers(n, scratch)
    tau_ = scratch[3 * n : 4 * n]
    D_tran_ = scratch[4 * n : 4 * n + n * n]
    D_rot_ = scratch[4 * n + n * n : 4 * n + 2 * n * n]
    h_tran_ = scratch[4 * n + 2 * n * n : 5 * n + 2 * n * n]
    h_rot_ = scratch[5 * n + 2 * n * n : 6 * n + 2 * n * n]
    c_ = scratch[6 * n + 2 * n * n : 7 * n + 2 * n * n]
    work = scratch[7 * n + 2 * n * n :]
    check = fill(scratch, 0.0)
    for first in range(0, q.shape[0], width(scratch)):
        check = check + take_motion(q, qd, qdd, first, q_, qd_, qdd_)
        generalized_dalembert.generalized_dalembert(
            P, T, q_, qd_, qdd_, tau_, D_tran_, D_rot_, h_tran_, h_rot_, c_, work
        )
        check = check + give(tau_, 0, tau, first)
        check = check + give(D_tran_, 0, D_tran, first)
        check = check + give(D_rot_, 0, D_rot, first)
        check = check + give(h_tran_, 0, h_tran, first)
        check = check + give(h_rot_, 0, h_rot, first)
        check = check + give(c_, 0, c, first)
    return status(check)


@entry
def run_christoffel(P, T, q, qd, qdd, tau, D, C, c, c_ijp, scratch):
    n = P.shape[1]
    q_, qd_, qdd_ = motion_buffers(n, scratch)
    tau_ = scratch[3 * n : 4 * n]
    D_ = scratch[4 * n : 4 * n + n * n]
    C_ = scratch[4 * n + n * n : 4 * n + 2 * n * n]
    c_ = scratch[4 * n + 2 * n * n : 5 * n + 2 * n * n]
    c_ijp_ = scratch[5 * n + 2 * n * n : 5 * n + 2 * n * n + n * n * n]
    work = scratch[5 * n + 2 * n * n + n * n * n :]
    check = fill(scratch, 0.0)
    for first in range(0, q.shape[0], width(scratch)):
        check = check + take_motion(q, qd, qdd, first, q_, qd_, qdd_)
        christoffel.christoffel(P, T, q_, qd_, qdd_, tau_, D_, C_, c_, c_ijp_, work)
        check = check + give(tau_, 0, tau, first)
        check = check + give(D_, 0, D, first)
        check = check + give(C_, 0, C, first)
        check = check + give(c_, 0, c, first)
        check = check + give(c_ijp_, 0, c_ijp, first)
    return status(check)


@entry
def run_kane(P, T, q, qd, qdd, tau, K, Q, scratch):
    n = P.shape[1]
    q_, qd_, qdd_ = motion_buffers(n, scratch)
    tau_ = scratch[3 * n : 4 * n]
    K_ = scratch[4 * n : 5 * n]
    Q_ = scratch[5 * n : 6 * n]
    work = scratch[6 * n :]
    check = fill(scratch, 0.0)
    for first in range(0, q.shape[0], width(scratch)):
        check = check + take_motion(q, qd, qdd, first, q_, qd_, qdd_)
        kane.kane(P, T, q_, qd_, qdd_, tau_, K_, Q_, work)
        check = check + give(tau_, 0, tau, first)
        check = check + give(K_, 0, K, first)
        check = check + give(Q_, 0, Q, first)
    return status(check)


@entry
def run_kane_rrt(P, T, q, qd, qdd, tau, scratch):
    n = 3
    q_, qd_, qdd_ = motion_buffers(n, scratch)
    tau_ = scratch[3 * n : 4 * n]
    work = scratch[4 * n :]
    check = fill(scratch, 0.0)
    for first in range(0, q.shape[0], width(scratch)):
        check = check + take_motion(q, qd, qdd, first, q_, qd_, qdd_)
        kane_rrt.kane_rrt(P, T, q_, qd_, qdd_, tau_, work)
        check = check + give(tau_, 0, tau, first)
    return status(check)


@entry
def run_screws(P, T, q, qd, qdd, tau, scratch):
    n = P.shape[1]
    q_, qd_, qdd_ = motion_buffers(n, scratch)
    tau_ = scratch[3 * n : 4 * n]
    work = scratch[4 * n :]
    check = fill(scratch, 0.0)
    for first in range(0, q.shape[0], width(scratch)):
        check = check + take_motion(q, qd, qdd, first, q_, qd_, qdd_)
        screws.screws(P, T, q_, qd_, qdd_, tau_, work)
        check = check + give(tau_, 0, tau, first)
    return status(check)


@entry
def run_stacked_screws(P, T, q, qd, qdd, tau, D, h, c, scratch):
    n = P.shape[1]
    q_, qd_, qdd_ = motion_buffers(n, scratch)
    tau_ = scratch[3 * n : 4 * n]
    D_ = scratch[4 * n : 4 * n + n * n]
    h_ = scratch[4 * n + n * n : 5 * n + n * n]
    c_ = scratch[5 * n + n * n : 6 * n + n * n]
    work = scratch[6 * n + n * n :]
    check = fill(scratch, 0.0)
    for first in range(0, q.shape[0], width(scratch)):
        check = check + take_motion(q, qd, qdd, first, q_, qd_, qdd_)
        screws.stacked_screws(P, T, q_, qd_, qdd_, tau_, D_, h_, c_, work)
        check = check + give(tau_, 0, tau, first)
        check = check + give(D_, 0, D, first)
        check = check + give(h_, 0, h, first)
        check = check + give(c_, 0, c, first)
    return status(check)
