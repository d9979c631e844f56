"""The jobs that are timed, and the check that their results agree."""

from __future__ import annotations

import math
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
from fastdyn.robot import Robot
from fastdyn.scalars import LANES, kind_of
from fastdyn.study import counts
from fastdyn.study.formulations import LAYOUTS, parameters
from fastdyn.study.timing.host import Rates
from fastdyn.study.timing.reference import CHAINS, STEPS, run_dependent, run_independent
from fastdyn.study.timing.results import KERNELS
from fastdyn.study.timing.work import operations, row

PLACES = (0, 13, 26, 39)  # offsets of the scratch memory, in cache lines
SHORTEST = 8  # states of a chain, and of a batch that has enough operations
MOST = 4096  # states in a batch: enough to make a call's overhead, below a microsecond, negligible
ENOUGH = 1 << 20  # operations of a batch: a fraction of a millisecond, in which a process is seldom interrupted


@dataclass(frozen=True, eq=False)
class Call:
    """A compiled loop over samples with all its arguments, scratch last; its results among them, also by name."""

    entry: Any
    arguments: tuple[Any, ...]
    results: Mapping[str, Array]

    def __call__(self) -> int:
        """Computes the results; a status as the entry returns it."""
        return int(self.entry(*self.arguments))


def _states(n: int, T: int) -> list[Array]:
    """q, qd and qdd, (T, n) each; the first states are the same for every T."""
    motion = np.random.default_rng(n).uniform(-1.5, 1.5, (T, 3, n))
    return [np.ascontiguousarray(motion[:, k]) for k in range(3)]


def batch(columns: int, operations: int, room: int, lanes: bool) -> int:
    """Number of states that fit into `room` bytes, in whole blocks of lanes; at least one block, or one state.

    columns, operations: of one state. No more than make ENOUGH operations, or SHORTEST.
    """
    block = LANES if lanes else 1
    return block * max(1, min(MOST, room // (8 * columns), max(SHORTEST, ENOUGH // operations)) // block)


def job(name: str, n: int, room: int, lanes: bool) -> Call:
    """A formulation or kernel on a batch of states that fits into `room` bytes, already run once."""
    robot, quantity = counts.arm(n), row(name)
    motion = _states(n, batch(quantity.columns(n), operations(name, n), room, lanes))
    motion[2] = robot.inverse_dynamics(motion[0], motion[1], motion[2]) if name == "aba" else motion[2]
    return _call(name, robot, motion, [np.empty((len(motion[0]), size)) for size in _sizes(quantity, n)], lanes)


def chain(name: str, n: int, room: int) -> Call | None:
    """A formulation on scalars whose every state takes the torques of the one before as its joint positions.

    q and tau are one array, shifted by a state, so that a state cannot begin before the one before has ended. Torques
    are proportional to gravity, accelerations and squares of velocities together: these are scaled so that the torques
    are at most about 1. None if fewer than SHORTEST states fit into `room` bytes.
    """
    quantity = row(name)
    T = batch(quantity.columns(n), operations(name, n), room, lanes=False)
    if T < SHORTEST:
        return None
    q, qd, qdd = _states(n, T)
    robot = counts.arm(n)
    scale = 1.0 / float(np.abs(robot.inverse_dynamics(q, qd, qdd)).max())
    both = np.empty((T + 1, n))
    both[0] = q[0]
    results = [both[1:], *(np.empty((T, size)) for size in _sizes(quantity, n)[1:])]
    light = robot.with_gravity(scale * robot.gravity)
    motion = [both[:-1], np.sqrt(scale) * qd, scale * qdd]
    call = _call(name, light, motion, results, lanes=False)
    tau, bias, c = (light.inverse_dynamics(*motion), light.bias_forces(*motion[:2]), light.gravity_forces(motion[0]))
    _compare(name, n, both[1:] - tau, max(np.abs(x).max() for x in (tau, bias, c, tau - bias)))
    return call


def _sizes(quantity: Quantity, n: int) -> list[int]:
    """Values of each result for one state."""
    return [math.prod(field.core(n)) for field in quantity.gives]


def _call(name: str, robot: Robot, motion: list[Array], results: list[Array], lanes: bool) -> Call:
    quantity = row(name)
    found = robot.parameters if name in KERNELS else parameters(LAYOUTS[quantity.layout](robot))
    task = Task(found, quantity)
    given = [*motion[: len(quantity.reads)], *[task.none] * len(quantity.optional)]
    scratch = lane_rows(task.rows) if lanes else np.empty(task.rows)
    named = {field.name: result for field, result in zip(quantity.gives, results, strict=True)}
    call = Call(task.entry, (*task.constants, *given, *results, scratch), named)
    if call():
        raise FastdynError(f"{name} for {robot.n} joints gave results that are not finite")
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
        _compare(name, n, difference, scale)


def _compare(name: str, n: int, difference: Array, scale: float) -> None:
    off = float(np.abs(difference).max() / scale)
    if not off <= 20 * n * EPS:
        raise FastdynError(
            f"{name} disagrees with Robot.inverse_dynamics for {n} joints: the largest difference is {off:.1e} of the "
            f"largest torque, expected at most {20 * n * EPS:.1e}"
        )


# ---------------------------------------------------------------------------------------------- the reference job


def rates(seconds: float, turns: int) -> Rates:
    """How fast multiply-adds are now."""
    P, T = np.asfortranarray([[0.999], [0.001]]), np.zeros((1, 1), dtype=np.int64)
    jobs = {}
    for name, text, lanes in (
        ("dependent", run_dependent, LANES), ("independent", run_independent, LANES), ("scalar", run_dependent, 1)
    ):  # fmt: skip
        scratch = lane_rows(CHAINS) if lanes > 1 else np.empty(CHAINS)
        call = Call(text, (P, T, np.full((lanes, CHAINS), 0.5), np.empty((lanes, 1)), scratch), {})
        jobs[name] = (compiled(call), 2 * STEPS * lanes * (CHAINS if name == "independent" else 1))
    found = clock.best({name: ready for name, (ready, _) in jobs.items()}, turns, seconds, clock.TURN)
    return Rates(**{name: operations / found[name] * 1e-9 for name, (_, operations) in jobs.items()})
