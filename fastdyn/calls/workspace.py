"""Kernels on a workspace: one block of fixed memory, machine code, a status. For control loops, in Python and in C.

A workspace is one block of float64 that holds a robot's model, its state and all scratch:

    n (int64) and 7 unused | tree, 3 n int64 | P, ROWS n | q, qd, qdd, tau, n each | M, n n | scratch

Every function here takes a workspace's address. They allocate nothing, check nothing and raise nothing: they return a
status, 0 if all is well, 1 if an argument or a result is not finite, 2 (k + 1) (or one more) if joint k (in the model's
order) moves no inertia. Of the state, only the result changes.
They can be called from a user's own @njit functions as they are; each workspace serves one thread at a time.
"""

from __future__ import annotations

import numpy as np

from fastdyn.calls import batch
from fastdyn.calls.headers import StateEntry, copy_state, data_of, is_state
from fastdyn.kernels import aba, crba, gravity, rnea
from fastdyn.kernels.rows import ROWS
from fastdyn.mechanism.model import Model
from fastdyn.mechanism.parts import Array
from fastdyn.scalars import (
    LANES,
    AddressEntry,
    columns_at,
    floats_at,
    integers_at,
    kernel,
)

HEADER = 8
SCRATCH: int = aba.forward_dynamics_rows(1)  # rows for each joint: the largest need


def workspace_size(n: int) -> int:
    """Float64 values that a workspace for n joints has."""
    return state_offset(n) + 4 * n + n * n + scratch_size(n)


def state_offset(n: int) -> int:
    """Where q begins."""
    return HEADER + (3 + ROWS) * n


def scratch_size(n: int) -> int:
    """The largest need of the functions below, forward dynamics'."""
    return SCRATCH * n


# ---------------------------------------------------------------------------------------------- compiled


@kernel
def _layout(workspace):
    """n, and the addresses of tree, P, q, qd, qdd, tau, M and scratch."""
    n = integers_at(workspace, 1, 1)[0, 0]
    tree = workspace + 8 * HEADER
    P = tree + 24 * n
    q = P + 8 * ROWS * n
    return n, tree, P, q, q + 8 * n, q + 16 * n, q + 24 * n, q + 32 * n, q + 32 * n + 8 * n * n


@kernel
def _finite(address, count):
    """0, or 1 if a value is not finite. Arguments are asked too: some, as q[0] for the mass matrix, reach no result."""
    values = floats_at(address, 1, count)[0]
    check = 0.0
    for i in range(count):
        check = check + values[i] * 0.0
    return 0 if check == 0.0 else 1


@kernel
def _model(workspace):
    """P, tree, q, qd, qdd, tau, M and scratch as arrays."""
    n, at_tree, at_P, q, qd, qdd, tau, M, at_scratch = _layout(workspace)
    return (
        columns_at(at_P, ROWS, n),
        integers_at(at_tree, 3, n),
        floats_at(q, 1, n)[0],
        floats_at(qd, 1, n)[0],
        floats_at(qdd, 1, n)[0],
        floats_at(tau, 1, n)[0],
        floats_at(M, 1, n * n)[0],
        floats_at(at_scratch, 1, SCRATCH * n)[0],
    )


@kernel
def inverse_dynamics(workspace):
    """tau of q, qd and qdd."""
    n, _, _, at_q, _, _, _, _, _ = _layout(workspace)
    P, tree, q, qd, qdd, tau, _, work = _model(workspace)
    rnea.inverse_dynamics(P, tree, q, qd, qdd, work[:0], tau, work)
    return _finite(at_q, 4 * n)


@kernel
def bias_forces(workspace):
    """tau of q and qd at zero acceleration."""
    n, _, _, at_q, _, _, at_tau, _, _ = _layout(workspace)
    P, tree, q, qd, _, tau, _, work = _model(workspace)
    rnea.bias_forces(P, tree, q, qd, tau, work)
    return _finite(at_q, 2 * n) | _finite(at_tau, n)


@kernel
def gravity_forces(workspace):
    """tau that holds the robot still at q."""
    n, _, _, at_q, _, _, at_tau, _, _ = _layout(workspace)
    P, tree, q, _, _, tau, _, work = _model(workspace)
    gravity.gravity_forces(P, tree, q, tau, work)
    return _finite(at_q, n) | _finite(at_tau, n)


@kernel
def mass_matrix(workspace):
    """M of q."""
    n, _, _, at_q, _, _, _, at_M, _ = _layout(workspace)
    P, tree, q, _, _, _, M, work = _model(workspace)
    crba.mass_matrix(P, tree, q, M, work)
    return _finite(at_q, n) | _finite(at_M, n * n)


@kernel
def forward_dynamics(workspace):
    """qdd of q, qd and tau."""
    n, _, _, at_q, _, _, at_tau, _, _ = _layout(workspace)
    P, tree, q, qd, qdd, tau, _, work = _model(workspace)
    bad = aba.forward_dynamics(P, tree, q, qd, tau, work[:0], qdd, work)
    if _finite(at_q, 4 * n) == 0:
        return 2 * (bad + 1)
    if _finite(at_q, 2 * n) | _finite(at_tau, n):
        return 1  # with such arguments a joint can seem to move no inertia
    return 2 * (bad + 1) + 1


@kernel
def _copy(source, target, count):
    a, b = floats_at(source, 1, count), floats_at(target, 1, count)
    for i in range(count):
        b[0, i] = a[0, i]


def _inverse_dynamics(workspace):
    return inverse_dynamics(workspace)


def _bias_forces(workspace):
    return bias_forces(workspace)


def _gravity_forces(workspace):
    return gravity_forces(workspace)


def _mass_matrix(workspace):
    return mass_matrix(workspace)


def _forward_dynamics(workspace):
    return forward_dynamics(workspace)


def _c_inverse_dynamics(q, qd, qdd, tau, workspace):
    n, _, _, to_q, to_qd, to_qdd, from_tau, _, _ = _layout(workspace)
    _copy(q, to_q, n)
    _copy(qd, to_qd, n)
    _copy(qdd, to_qdd, n)
    status = inverse_dynamics(workspace)
    _copy(from_tau, tau, n)
    return status


def _c_bias_forces(q, qd, tau, workspace):
    n, _, _, to_q, to_qd, _, from_tau, _, _ = _layout(workspace)
    _copy(q, to_q, n)
    _copy(qd, to_qd, n)
    status = bias_forces(workspace)
    _copy(from_tau, tau, n)
    return status


def _c_gravity_forces(q, tau, workspace):
    n, _, _, to_q, _, _, from_tau, _, _ = _layout(workspace)
    _copy(q, to_q, n)
    status = gravity_forces(workspace)
    _copy(from_tau, tau, n)
    return status


def _c_mass_matrix(q, M, workspace):
    n, _, _, to_q, _, _, _, from_M, _ = _layout(workspace)
    _copy(q, to_q, n)
    status = mass_matrix(workspace)
    _copy(from_M, M, n * n)
    return status


def _c_forward_dynamics(q, qd, tau, qdd, workspace):
    n, _, _, to_q, to_qd, from_qdd, to_tau, _, _ = _layout(workspace)
    _copy(q, to_q, n)
    _copy(qd, to_qd, n)
    _copy(tau, to_tau, n)
    status = forward_dynamics(workspace)
    _copy(from_qdd, qdd, n)
    return status


def _one_inverse_dynamics(q, qd, qdd, tau, workspace):
    n, _, _, to_q, to_qd, to_qdd, from_tau, _, _ = _layout(workspace)
    if not (is_state(q, tau, n) and is_state(qd, tau, n) and is_state(qdd, tau, n)):
        return -1
    copy_state(q, to_q, n)
    copy_state(qd, to_qd, n)
    copy_state(qdd, to_qdd, n)
    status = inverse_dynamics(workspace)
    _copy(from_tau, data_of(tau), n)
    return status


def _one_forward_dynamics(q, qd, tau, qdd, workspace):
    n, _, _, to_q, to_qd, from_qdd, to_tau, _, _ = _layout(workspace)
    if not (is_state(q, qdd, n) and is_state(qd, qdd, n) and is_state(tau, qdd, n)):
        return -1
    copy_state(q, to_q, n)
    copy_state(qd, to_qd, n)
    copy_state(tau, to_tau, n)
    status = forward_dynamics(workspace)
    _copy(from_qdd, data_of(qdd), n)
    return status


def _one_bias_forces(q, qd, tau, workspace):
    n, _, _, to_q, to_qd, _, from_tau, _, _ = _layout(workspace)
    if not (is_state(q, tau, n) and is_state(qd, tau, n)):
        return -1
    copy_state(q, to_q, n)
    copy_state(qd, to_qd, n)
    status = bias_forces(workspace)
    _copy(from_tau, data_of(tau), n)
    return status


def _one_gravity_forces(q, tau, workspace):
    n, _, _, to_q, _, _, from_tau, _, _ = _layout(workspace)
    if not is_state(q, tau, n):
        return -1
    copy_state(q, to_q, n)
    status = gravity_forces(workspace)
    _copy(from_tau, data_of(tau), n)
    return status


def _one_mass_matrix(q, M, workspace):
    n, _, _, to_q, _, _, _, from_M, _ = _layout(workspace)
    if not is_state(q, M, n):
        return -1
    copy_state(q, to_q, n)
    status = mass_matrix(workspace)
    _copy(from_M, data_of(M), n * n)
    return status


# ---------------------------------------------------------------------------------------------- by name

_STATE = "const double *q, const double *qd"
# by name: of the workspace alone
BOUND = {
    "inverse_dynamics": AddressEntry(_inverse_dynamics),
    "forward_dynamics": AddressEntry(_forward_dynamics),
    "mass_matrix": AddressEntry(_mass_matrix),
    "bias_forces": AddressEntry(_bias_forces),
    "gravity_forces": AddressEntry(_gravity_forces),
}
# by name: of C arrays and the workspace, and their declarations
C_FUNCTIONS = {
    "inverse_dynamics": (AddressEntry(_c_inverse_dynamics), f"{_STATE}, const double *qdd, double *tau"),
    "forward_dynamics": (AddressEntry(_c_forward_dynamics), f"{_STATE}, const double *tau, double *qdd"),
    "mass_matrix": (AddressEntry(_c_mass_matrix), "const double *q, double *M"),
    "bias_forces": (AddressEntry(_c_bias_forces), f"{_STATE}, double *tau"),
    "gravity_forces": (AddressEntry(_c_gravity_forces), "const double *q, double *tau"),
}  # fmt: skip


# one state, by the entry point of its batches; answers -1 where an argument is no array of n float64
ONE_STATE = {
    batch.inverse_dynamics: StateEntry(_one_inverse_dynamics),
    batch.forward_dynamics_aba: StateEntry(_one_forward_dynamics),
    batch.bias_forces: StateEntry(_one_bias_forces),
    batch.gravity_forces: StateEntry(_one_gravity_forces),
    batch.mass_matrix: StateEntry(_one_mass_matrix),
}


def workspace(model: Model) -> Array:
    """A fresh workspace of a model, at rest at zero; it starts on a cache line."""
    n = model.n
    size = workspace_size(n)
    memory = np.zeros(size + LANES)
    start = (-memory.ctypes.data % (8 * LANES)) // 8
    block = memory[start : start + size]
    block.view(np.int64)[0] = n
    block[HEADER : HEADER + 3 * n].view(np.int64)[:] = model.tree.ravel()
    block[HEADER + 3 * n : HEADER + (3 + ROWS) * n] = model.P.ravel(order="F")
    return block
