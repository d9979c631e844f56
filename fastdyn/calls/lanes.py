"""Choices that follow the instruction set, all in one place. Measured: notes/measurements/instruction_sets.md."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from fastdyn.compiler.host import register_bits
from fastdyn.scalars import Kind


@cache
def kind(real: np.dtype[Any]) -> Kind:
    """What a batch computes with: 8 float64 or 16 float32 at once, half as many with 128-bit registers (SSE2, NEON).

    With AVX2, 8 float64 are two registers each: still quicker than 4 for most quantities, because loops over links and
    index computations cost half as much for each sample.
    """
    return Kind(str(real), (8 if register_bits() >= 256 else 4) * 8 // real.itemsize)


def quicker_solver(joints: int, straight: bool = False) -> str:
    """The quicker method of forward dynamics for a chain of so many joints; straight: in straight-line code."""
    largest = 8 if straight else 5 if register_bits() >= 512 else 7
    return "crba" if joints <= largest else "aba"
