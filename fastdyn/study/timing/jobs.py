"""The jobs that are timed, and the check that their results agree."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from fastdyn import clock
from fastdyn.calls.task import Task, lane_rows
from fastdyn.errors import FastdynError
from fastdyn.mechanism.parts import EPS, Array
from fastdyn.quantities import Quantity
from fastdyn.scalars import LANES, all_finite, entry, give, kind_of, load, store, take
from fastdyn.study import counts
from fastdyn.study.formulations import LAYOUTS, parameters
from fastdyn.study.rows import FORMULATIONS, SIMPLIFIED
from fastdyn.study.timing.results import KERNELS

PLACES = (0, 13, 26, 39)  # offsets of the scratch memory, in cache lines
MOST = 4096  # states in a batch: enough to make a call's overhead, below a microsecond, negligible


@dataclass(frozen=True, eq=False)
class Call:
    """A compiled loop over samples with all its arguments, scratch last; its results among them, also by name."""

    entry: Any
    arguments: tuple[Any, ...]
    results: Mapping[str, Array]

    def __call__(self) -> int:
        """Computes the results; a status as the entry returns it."""
        return int(self.entry(*self.arguments))


def row(name: str) -> Quantity:
    """The row of a kernel or a formulation."""
    return KERNELS.get(name) or FORMULATIONS.get(name) or SIMPLIFIED


def scratch_bytes(name: str, n: int) -> int:
    """Scratch memory of a formulation or kernel on lanes: fields and work."""
    return 8 * LANES * (row(name).columns(n) + row(name).rows(n))


def _states(n: int, T: int) -> list[Array]:
    """q, qd and qdd, (T, n) each; the first states are the same for every T."""
    motion = np.random.default_rng(n).uniform(-1.5, 1.5, (T, 3, n))
    return [np.ascontiguousarray(motion[:, k]) for k in range(3)]


def batch(columns: int, room: int, lanes: bool) -> int:
    """Number of states that fit into `room` bytes, in whole blocks of lanes; at least one block, or one state."""
    block = LANES if lanes else 1
    return block * max(1, min(MOST, room // (8 * columns)) // block)


def job(name: str, n: int, room: int, lanes: bool) -> Call:
    """A formulation or kernel on a batch of states that fits into `room` bytes, already run once."""
    robot, quantity = counts.arm(n), row(name)
    found = robot.parameters if name in KERNELS else parameters(LAYOUTS[quantity.layout](robot))
    task = Task(found, quantity)
    motion = _states(n, batch(quantity.columns(n), room, lanes))
    motion[2] = robot.inverse_dynamics(motion[0], motion[1], motion[2]) if name == "aba" else motion[2]
    given = [*motion[: len(quantity.reads)], *[task.none] * len(quantity.optional)]
    results = {
        f.name: np.empty((len(motion[0]), columns)) for f, columns in zip(quantity.gives, task.columns, strict=True)
    }
    scratch = lane_rows(task.rows) if lanes else np.empty(task.rows)
    call = Call(task.entry, (*task.constants, *given, *results.values(), scratch), results)
    if call():
        raise FastdynError(f"{name} for {n} joints gave results that are not finite")
    return call


def compiled(call: Call) -> list[Callable[[], Any]]:
    """The compiled function on its arguments, with the scratch memory at several offsets within a page.

    The offset from the other arrays was seen to halve or double the time, so all jobs take the best of several.
    """
    scratch = call.arguments[-1]
    rows, lanes = len(scratch), scratch.ndim == 2
    lines = lane_rows((rows if lanes else -(-rows // LANES)) + PLACES[-1])
    run = call.entry.compiled(kind_of(scratch))
    places = [lines[k:][:rows] if lanes else lines[k:].reshape(-1)[:rows] for k in PLACES]
    return [partial(run, *call.arguments[:-1], place) for place in places]


def check(n: int, results: Mapping[str, Mapping[str, Array]]) -> None:
    """Raises unless all results agree: torques, D and accelerations, on the states that all batches share.

    Each torque is a sum of terms as large as `scale`, rounded some n times: 20 n eps is four times the largest
    difference seen for n from 1 to 200.
    """
    T = min(len(array) for found in results.values() for array in found.values())
    q, qd, qdd = _states(n, T)
    robot = counts.arm(n)
    tau, bias, c = robot.inverse_dynamics(q, qd, qdd), robot.bias_forces(q, qd), robot.gravity_forces(q)
    scale = max(np.abs(x).max() for x in (tau, bias, c, tau - bias))
    for name, found in results.items():
        if name == "simplified":
            difference = found["tau"][:T] - (tau - bias + c)
        elif name == "crba":
            difference = (found["M"][:T].reshape(T, n, n) @ qdd[..., None])[..., 0] - (tau - bias)
        elif name == "aba":
            difference = robot.inverse_dynamics(q, qd, found["qdd"][:T]) - tau
        else:
            difference = found["tau"][:T] - tau
        off = float(np.abs(difference).max() / scale)
        if not off <= 20 * n * EPS:
            raise FastdynError(
                f"{name} disagrees with Robot.inverse_dynamics for {n} joints: the largest difference is {off:.1e} of "
                f"the largest torque, expected at most {20 * n * EPS:.1e}"
            )


# ---------------------------------------------------------------------------------------------- peak rates


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


def control(seconds: float, turns: int) -> dict[str, float]:
    """Operations per nanosecond of multiply-adds in registers: dependent and independent on lanes, and on scalars."""
    P, T = np.asfortranarray([[0.999], [0.001]]), np.zeros((1, 1), dtype=np.int64)
    jobs = {}
    for name, text, lanes in (
        ("dependent", run_dependent, LANES), ("independent", run_independent, LANES), ("scalar", run_dependent, 1)
    ):  # fmt: skip
        scratch = lane_rows(CHAINS) if lanes > 1 else np.empty(CHAINS)
        call = Call(text, (P, T, np.full((lanes, CHAINS), 0.5), np.empty((lanes, 1)), scratch), {})
        jobs[name] = (compiled(call), 2 * STEPS * lanes * (CHAINS if name == "independent" else 1))
    found = clock.best({name: ready for name, (ready, _) in jobs.items()}, turns, seconds, clock.TURN)
    return {name: operations / found[name] * 1e-9 for name, (_, operations) in jobs.items()}
