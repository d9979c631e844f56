"""A few cases in seconds, for use while editing a kernel.

    pytest benchmarks/test_speed.py --benchmark-enable --benchmark-save=before
    pytest benchmarks/test_speed.py --benchmark-enable --benchmark-compare

Times are comparable within a group. Without --benchmark-enable every job runs once and is checked.
"""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.common import chain, states

T = 4096


@pytest.fixture(params=(6, 24), ids=lambda n: f"{n} joints")
def motion(request):
    """A robot, q, qd, qdd and their torques, for T states."""
    robot = chain(request.param)
    q, qd, qdd = states(robot.n, T)
    return robot, q, qd, qdd, robot.inverse_dynamics(q, qd, qdd)


def close(found, right, allowed=1e-6):
    """Equal up to rounding, amplified by the mass matrix's condition number."""
    return np.abs(found - right).max() <= allowed * np.abs(right).max()


@pytest.mark.benchmark(group="one state")
def test_inverse_dynamics_of_one_state(benchmark, motion):
    robot, q, qd, qdd, tau = motion
    one = q[0].copy(), qd[0].copy(), qdd[0].copy()
    robot.inverse_dynamics(*one)
    assert close(benchmark(robot.inverse_dynamics, *one), tau[0])


@pytest.mark.benchmark(group="one state")
def test_forward_dynamics_of_one_state(benchmark, motion):
    robot, q, qd, qdd, tau = motion
    one = q[0].copy(), qd[0].copy(), tau[0].copy()
    robot.forward_dynamics(*one)
    assert close(benchmark(robot.forward_dynamics, *one), qdd[0])


@pytest.mark.benchmark(group="batch of torques and accelerations")
@pytest.mark.parametrize("threads", [1, 2])
def test_inverse_dynamics_of_a_batch(benchmark, motion, threads):
    robot, q, qd, qdd, tau = motion
    out = np.empty_like(tau)
    robot.inverse_dynamics(q, qd, qdd, out=out, threads=threads)
    benchmark(robot.inverse_dynamics, q, qd, qdd, out=out, threads=threads)
    assert close(out, tau)


@pytest.mark.benchmark(group="batch of torques and accelerations")
@pytest.mark.parametrize("method", ["aba", "crba"])
def test_forward_dynamics_of_a_batch(benchmark, motion, method):
    robot, q, qd, qdd, tau = motion
    out = np.empty_like(qdd)
    robot.forward_dynamics(q, qd, tau, method=method, out=out)
    benchmark(robot.forward_dynamics, q, qd, tau, method=method, out=out)
    assert close(out, qdd)


@pytest.mark.benchmark(group="batch of matrices")
def test_mass_matrix_of_a_batch(benchmark, motion):
    robot, q, qd, qdd, tau = motion
    M = robot.mass_matrix(q)
    benchmark(robot.mass_matrix, q, out=M)
    assert close(np.einsum("tij,tj->ti", M, qdd) + robot.bias_forces(q, qd), tau)


@pytest.mark.benchmark(group="batch of matrices")
def test_coriolis_matrix_of_a_batch(benchmark, motion):
    robot, q, qd, _, _ = motion
    C = robot.coriolis_matrix(q, qd)
    benchmark(robot.coriolis_matrix, q, qd, out=C)
    assert close(np.einsum("tij,tj->ti", C, qd) + robot.gravity_forces(q), robot.bias_forces(q, qd))
