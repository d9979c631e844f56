"""Coupling -> the flat arrays that kernels/coupling.py reads."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastdyn.kernels import coupling as c
from fastdyn.kernels.rows import INDEX, SMALLEST
from fastdyn.mechanism.coupling import Coupling
from fastdyn.mechanism.model import Model
from fastdyn.mechanism.parts import EPS, Array


def coupling_arrays(coupling: Coupling, model: Model) -> tuple[Array, NDArray[np.int64]]:
    """G and pattern: the coupling matrix in sparse rows, offsets, and the coordinates' own motors."""
    n, m = coupling.G.shape
    joints, columns = np.nonzero(coupling.G)
    G = np.zeros((c.COUPLING_ROWS, max(n, m, len(joints))), order="F")
    pattern = np.zeros((c.PATTERN_ROWS, max(n + 1, len(joints), 2)), dtype=np.int64)
    G[c.VALUE, : len(joints)] = coupling.G[joints, columns]
    G[c.OFFSET, :n] = coupling.offset
    for k, motor in enumerate(coupling.motors):
        plus, minus = motor.joint_coulomb
        G[[c.ARMATURE, c.VISCOUS, c.PLUS, c.MINUS], k] = motor.armature, motor.joint_viscous, plus, -minus
    # rounding error of a coordinate's inertia, from that of the joints' inertias: M_ij <= sqrt(M_ii M_jj)
    noise = np.empty(n)
    noise[model.tree[INDEX]] = model.P[SMALLEST]
    G[c.SMALLEST, :m] = (np.abs(coupling.G).T @ np.sqrt(noise)) ** 2 + 4 * n * EPS * G[c.ARMATURE, :m]
    pattern[c.START, : n + 1] = np.searchsorted(joints, np.arange(n + 1))
    pattern[c.COLUMN, : len(joints)] = columns
    pattern[c.SIZES, :2] = n, m
    for array in (G, pattern):
        array.flags.writeable = False
    return G, pattern


def single_precision(G: Array) -> Any:
    """G in single precision; the singularity thresholds are scaled to its rounding."""
    scaled = G.copy(order="F")
    scaled[c.SMALLEST] *= np.finfo(np.float32).eps / EPS
    rounded = np.asfortranarray(scaled, dtype=np.float32)
    rounded.flags.writeable = False
    return rounded
