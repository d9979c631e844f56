"""The reference job: multiply-adds in registers, whose speed depends on the processor and on nothing else."""

from __future__ import annotations

from typing import Any

from fastdyn.scalars import all_finite, entry, give, load, store, take

STEPS = 4096
CHAINS = 8


@entry
def run_dependent(P: Any, T: Any, x: Any, y: Any, scratch: Any) -> Any:
    """One chain of multiply-adds, each of which depends on the one before."""
    check = take(x, 0, scratch, 0)
    a = load(scratch, 0)
    for _ in range(STEPS):
        a = a * P[0, 0] + P[1, 0]
    store(scratch, 0, a)
    return 0 if all_finite(check + give(y, 0, scratch, 0)) else 1


@entry
def run_independent(P: Any, T: Any, x: Any, y: Any, scratch: Any) -> Any:
    """CHAINS independent chains of multiply-adds."""
    check = take(x, 0, scratch, 0)
    a, b, c, d = load(scratch, 0), load(scratch, 1), load(scratch, 2), load(scratch, 3)
    e, f, g, h = load(scratch, 4), load(scratch, 5), load(scratch, 6), load(scratch, 7)
    for _ in range(STEPS):
        a, b, c, d = (
            a * P[0, 0] + P[1, 0], b * P[0, 0] + P[1, 0], c * P[0, 0] + P[1, 0], d * P[0, 0] + P[1, 0]
        )  # fmt: skip
        e, f, g, h = (
            e * P[0, 0] + P[1, 0], f * P[0, 0] + P[1, 0], g * P[0, 0] + P[1, 0], h * P[0, 0] + P[1, 0]
        )  # fmt: skip
    store(scratch, 0, a + b + c + d + e + f + g + h)
    return 0 if all_finite(check + give(y, 0, scratch, 0)) else 1
