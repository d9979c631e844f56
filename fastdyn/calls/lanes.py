"""Choices that follow the instruction set, as measured: how many samples a batch computes at once, and by which text.

With AVX-512, a float64 register holds 8 lanes, and there are 32 of them. With AVX2, 8 lanes are two registers each of
16: where a block's scratch fits the nearest cache (32 KiB), that is as quick as 4 lanes or quicker, because loops over
links and index computations cost half as much a sample; beyond it, 4 lanes are quicker. Registers of 128 bits (SSE2,
NEON) always get 4. Single precision has twice as many lanes. Figures: notes/measurements/instruction_sets.md.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fastdyn.compiler.host import register_bits
from fastdyn.scalars import Kind

NEAREST_CACHE = 32 * 1024  # bytes


def kind(rows: int, real: np.dtype[Any]) -> Kind:
    """The kind of scalar for a batch whose scratch has so many rows."""
    bits = register_bits()
    wide = bits >= 512 or (bits == 256 and rows * 8 * 8 <= NEAREST_CACHE)
    return Kind(str(real), (8 if wide else 4) * 8 // real.itemsize)


def quicker_solver(joints: int) -> str:
    """The quicker method of forward dynamics for a chain of so many joints; one state or a batch."""
    return "crba" if joints <= (5 if register_bits() >= 512 else 7) else "aba"
