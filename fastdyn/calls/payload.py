"""The payload of a bound robot: compiled code that rewrites the model in a workspace."""

import math

import numpy as np
from numba import types
from numpy.typing import NDArray

from fastdyn.calls.headers import word
from fastdyn.calls.layout import JOINTS, PATTERN, coupling_at, model_at
from fastdyn.compiler.entries import Entry
from fastdyn.compiler.policy import kernel
from fastdyn.kernels.coupling import COUPLING_ROWS, PATTERN_ROWS, thresholds
from fastdyn.kernels.rows import HX, KIND, LOST_YZ, ROWS, TREE_ROWS
from fastdyn.mechanism.description import Description
from fastdyn.mechanism.model import INERTIAL_ROWS, PARAMETERS, Model, moved_parameters
from fastdyn.mechanism.parts import Array
from fastdyn.scalars.memory import columns_at, integers_at, vector_at

ROUNDING = 8 * 2.0**-52  # of a body's size: what rounding may make of a moment that is zero


def payload_map(description: Description, model: Model, link: str) -> tuple[Array, NDArray[np.int64]]:
    """The model's PayloadMap of a link, fixed to others or not, for parameters in its own frame."""
    joint, where = description.place(link)
    if joint < 0:  # carried by the base: acts on no joint
        return np.zeros((model.n * INERTIAL_ROWS, PARAMETERS)), np.zeros(model.n, dtype=np.int64)
    found = model.payload_map(joint)
    return np.ascontiguousarray(found.rows @ moved_parameters(where)), found.heavy


@kernel
def not_negative(xx, yy, zz, xy, xz, yz, size):
    """Whether a symmetric matrix has no negative eigenvalue: none of its principal minors is below rounding."""
    one, two, three = ROUNDING * size, ROUNDING * size * size, ROUNDING * size * size * size
    a, b, c = yy * zz - yz * yz, xx * zz - xz * xz, xx * yy - xy * xy
    whole = xx * a - xy * (xy * zz - xz * yz) + xz * (xy * yz - xz * yy)
    return min(xx, yy, zz) >= -one and min(a, b, c) >= -two and whole >= -three


@kernel
def parameters(m, x, y, z, Ixx, Iyy, Izz, Ixy, Ixz, Iyz):
    """See mechanism.model.payload_parameters."""
    half = 0.5 * (Ixx + Iyy + Izz)
    hx, hy, hz = m * x, m * y, m * z
    first = math.sqrt(hx * hx + hy * hy + hz * hz)
    xx, yy, zz = half - Ixx + hx * x, half - Iyy + hy * y, half - Izz + hz * z
    return m, hx, hy, hz, xx, yy, zz, hx * y - Ixy, hx * z - Ixz, hy * z - Iyz, first


def set_payload(workspace, base, kinds, rows, heavy, trusted, m, x, y, z, xx, xy, xz, yx, yy, yz, zx, zy, zz):
    """Writes a model with a payload into a workspace, from a model without; 1 if the payload must be checked first.

    base, kinds: addresses of P and tree without payload; rows, heavy: of a payload_map; trusted: whether the payload
    has been checked; m: mass; x, y, z: centre of mass; xx, ...: inertia about it.
    """
    size = max(abs(xx), abs(yy), abs(zz), abs(xy), abs(xz), abs(yz))
    if not trusted:
        if not (m >= 0.0 and (m + x + y + z + size) * 0.0 == 0.0 and (m > 0.0 or size == 0.0)):
            return 1
        if xy != yx or xz != zx or yz != zy:
            return 1
        half = 0.5 * (xx + yy + zz)
        if not not_negative(half - xx, half - yy, half - zz, -xy, -xz, -yz, size):  # also the triangle inequality
            return 1
    n = word(workspace + 8 * JOINTS)
    P, tree = model_at(workspace, n, ROWS, TREE_ROWS)
    values = parameters(m, x, y, z, xx, yy, zz, 0.5 * (xy + yx), 0.5 * (xz + zx), 0.5 * (yz + zy))
    P_, tree_ = columns_at(base, ROWS, n), integers_at(kinds, TREE_ROWS, n)
    change, bits = vector_at(rows, n * INERTIAL_ROWS * PARAMETERS), integers_at(heavy, 1, n)
    k = 0
    for i in range(n):
        tree[KIND, i] = tree_[KIND, i] | (bits[0, i] if m > 0.0 else 0)
        for row in range(HX, LOST_YZ + 1):
            total = 0.0
            for value in values:
                total = total + change[k] * value
                k += 1
            P[row, i] = P_[row, i] + total
    if word(workspace + 8 * PATTERN) != 0:
        G, pattern = coupling_at(workspace, COUPLING_ROWS, PATTERN_ROWS)
        thresholds(P, tree, G, pattern)
    return 0


SET_PAYLOAD = Entry(set_payload, lambda kind: (types.intp,) * 6 + (types.float64,) * 13, nogil=False)
