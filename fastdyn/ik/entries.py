"""The compiled loops of inverse kinematics over batches of poses; imports Numba."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastdyn.calls import lanes
from fastdyn.calls.arguments import FLOAT
from fastdyn.calls.layout import not_finite
from fastdyn.calls.task import WORTH, lane_rows
from fastdyn.calls.threads import Call, useful, walk
from fastdyn.kernels.closed_form_ik import closed_form, closed_form_rows, improper
from fastdyn.kernels.newton_step import newton_step, newton_step_rows
from fastdyn.mechanism.parts import Array
from fastdyn.scalars import LANES, all_above, fill, give, take, width
from fastdyn.scalars.entry import SampleEntry, entry

POSE = 16  # columns
SQUARED = 1e-12  # a matrix this close to a pose, in the sum of squares, is one: rotations given in single precision


def all_solutions(P, tree, T, q, valid, singular, scratch):
    """Status 1: a pose is not finite; 2: one is no pose."""
    columns, branches = q.shape[1], valid.shape[1]
    pose_, q_ = scratch[:POSE], scratch[POSE : POSE + columns]
    valid_ = scratch[POSE + columns : POSE + columns + branches]
    singular_ = scratch[POSE + columns + branches : POSE + columns + 2 * branches]
    work = scratch[POSE + columns + 2 * branches :]
    check, proper = fill(scratch, 0.0), True
    for first in range(0, T.shape[0], width(scratch)):
        check = check + take(T, first, pose_, 0)
        proper = proper and all_above(SQUARED - improper(pose_), 0.0)
        closed_form(P, tree, pose_, q_, valid_, singular_, work)
        give(q, first, q_, 0)
        give(valid, first, valid_, 0)
        give(singular, first, singular_, 0)
    return not_finite(check) if proper else 2


def newton_steps(P, tree, T, q, scratch):
    """Moves each position one Newton step towards its pose."""
    n = q.shape[1]
    pose_, q_, work = scratch[:POSE], scratch[POSE : POSE + n], scratch[POSE + n :]
    for first in range(0, T.shape[0], width(scratch)):
        take(T, first, pose_, 0)
        take(q, first, q_, 0)
        newton_step(P, tree, q_, pose_, work)
        give(q, first, q_, 0)
    return 0


CLOSED_FORM, NEWTON_STEP = entry(all_solutions), entry(newton_steps)


def closed_form_scratch(samples: tuple[Array, ...]) -> int:
    """Rows of scratch of CLOSED_FORM."""
    return int(sum(array.shape[1] for array in samples) + closed_form_rows())


def newton_scratch(samples: tuple[Array, ...]) -> int:
    """Rows of scratch of NEWTON_STEP."""
    return int(sum(array.shape[1] for array in samples) + newton_step_rows(samples[1].shape[1]))


def run(
    loop: SampleEntry,
    constants: tuple[Any, ...],
    samples: tuple[Array, ...],
    rows: Callable[[tuple[Array, ...]], int],
    threads: int,
) -> bool:
    """Computes all samples; whether some step failed."""
    count, kind = rows(samples), lanes.kind(FLOAT)
    worth = max(LANES, WORTH // (4 * count))  # samples; a row of scratch stands for several operations

    def ready() -> Call:
        scratch, call = lane_rows(count, kind.lanes), loop.compiled(kind)
        return lambda first, last: call(*constants, *(a[first:last] for a in samples), scratch)

    T = len(samples[0])
    return walk(T, useful(threads, T, worth), worth, ready) is not None
