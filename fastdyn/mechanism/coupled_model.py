"""Coupling -> the flat arrays that kernels/coupling.py reads."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastdyn.kernels import coupling as c
from fastdyn.mechanism.coupling import Coupling
from fastdyn.mechanism.model import Model
from fastdyn.mechanism.parts import EPS, Array


def coupling_arrays(coupling: Coupling) -> tuple[Array, NDArray[np.int64]]:
    """G and pattern: the coupling matrix in sparse form, offsets, and the coordinates' own motors; no thresholds."""
    n, m = coupling.G.shape
    nonzero = coupling.G != 0
    nonzero[~nonzero.any(axis=1), 0] = True  # a joint that does not move has an entry, too
    rows, columns = _first_of_each(*np.nonzero(nonzero))
    movers, moved = _first_of_each(*np.nonzero(nonzero.T))
    count = len(rows)
    G = np.zeros((c.COUPLING_ROWS, max(n, m, count)), order="F")
    pattern = np.zeros((c.PATTERN_ROWS, max(3, count)), dtype=np.int64)
    G[c.VALUE, :count] = coupling.G[rows, columns]
    G[c.FACTOR, :count] = coupling.G[moved, movers]
    G[c.OFFSET, :n] = coupling.offset
    for k, motor in enumerate(coupling.motors):
        plus, minus = motor.joint_coulomb
        G[[c.ARMATURE, c.VISCOUS, c.PLUS, c.MINUS], k] = motor.armature, motor.joint_viscous, plus, -minus
    pattern[[c.ROW, c.COLUMN, c.MOVER, c.MOVED], :count] = rows, columns, movers, moved
    pattern[c.SIZES, :3] = n, m, count
    pattern.flags.writeable = False
    return G, pattern


def _first_of_each(rows: NDArray[np.intp], columns: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Entries of a matrix, given row by row, in another order: the first of each row, then all others."""
    later = np.concatenate([[False], np.diff(rows) == 0])
    order = np.argsort(later, kind="stable")
    return rows[order], columns[order]


def with_thresholds(G: Array, pattern: NDArray[np.int64], model: Model) -> Array:
    """G with the singularity thresholds that follow from the model's."""
    found = G.copy(order="F")
    c.thresholds(model.P, model.tree, found, pattern)  # type: ignore[no-untyped-call]
    found.flags.writeable = False
    return found


def single_precision(G: Array) -> Any:
    """G in single precision; the singularity thresholds are scaled to its rounding."""
    scaled = G.copy(order="F")
    scaled[c.SMALLEST] *= np.finfo(np.float32).eps / EPS
    rounded = np.asfortranarray(scaled, dtype=np.float32)
    rounded.flags.writeable = False
    return rounded
