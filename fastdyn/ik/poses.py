"""Poses as arguments of inverse kinematics."""

from __future__ import annotations

from typing import NoReturn

import numpy as np
from numpy.typing import ArrayLike

from fastdyn.arrays import Array, place, real_numbers
from fastdyn.calls.arguments import check_finite
from fastdyn.errors import ArgumentError


def read_poses(T: ArrayLike) -> Array:
    """(..., 4, 4) finite numbers."""
    array = real_numbers(T, "T").astype(np.float64, copy=False)
    if array.shape[-2:] != (4, 4):
        raise ArgumentError(f"T has shape {array.shape}: expected (..., 4, 4), poses")
    check_finite({"T": array})
    return array


def refuse(T: Array) -> NoReturn:
    """Raises for that of the matrices (..., 4, 4) that is farthest from a pose."""
    R = T[..., :3, :3]
    off = np.abs(R @ R.swapaxes(-1, -2) - np.eye(3)).max(axis=(-2, -1))
    off = off + np.abs(T[..., 3, :] - (0, 0, 0, 1)).max(axis=-1) + (np.linalg.det(R) < 0)
    where = tuple(int(k) for k in np.unravel_index(np.argmax(off), off.shape))
    raise ArgumentError(
        f"T{place(where)} is no pose: expected a rotation and a last row of (0, 0, 0, 1), found {T[where].tolist()}"
    )
