"""A quantity of a fleet of robots: the same tree with other numbers.

Robots are the last batch axis. If the states are the same for all robots and there are many, each robot runs the
ordinary batch, its parameters being constants; otherwise each sample has its own robot, whose parameters lie on lanes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastdyn.calls import generate
from fastdyn.calls.arguments import FLOAT, check_finite, check_robots
from fastdyn.calls.parameters import Parameters
from fastdyn.calls.task import Request, Task, lane_rows
from fastdyn.calls.threads import Call, first_wrong, useful, walk
from fastdyn.errors import FastdynError, NotFiniteError, SingularMassMatrixError
from fastdyn.mechanism.parts import Array
from fastdyn.quantities import Quantity

STATES = 32  # from so many states on that are the same for all robots, a batch for each robot is quicker
TURN = 1024  # states that a robot computes before the next one has its turn: neighbours share lines of the cache


@dataclass(frozen=True, eq=False)
class FleetParameters(Parameters):
    """The parameters of a fleet: those of each robot. `constants` has a tree that holds for all of them."""

    each: tuple[Parameters, ...] = ()

    def stack(self, count: int, real: np.dtype[Any]) -> NDArray[Any]:
        """P of all robots in blocks."""
        return stacked([each.of(real)[0] for each in self.each], count)


def stacked(arrays: Sequence[NDArray[Any]], count: int) -> NDArray[Any]:
    """(blocks, columns, rows, count): arrays (rows, columns), `count` in a block; the last fills up the last block."""
    blocks = -(-len(arrays) // count)
    P = np.stack([array.T for array in arrays])  # (robots, links, rows)
    P = P[np.minimum(np.arange(blocks * count), len(arrays) - 1)]
    return np.ascontiguousarray(P.reshape(blocks, count, *P.shape[1:]).transpose(0, 2, 3, 1))


class FleetTask(Task):
    """A quantity of a fleet in one precision; see Task."""

    parameters: FleetParameters

    def __init__(self, parameters: FleetParameters, quantity: Quantity, real: np.dtype[Any] = FLOAT) -> None:
        super().__init__(parameters, quantity, real)
        self.readable = False  # arguments are broadcast against the robots first
        self.robots = len(parameters.each)
        self.fleet_entry = generate.fleet(quantity, parameters.coupled)

    @cached_property
    def stack(self) -> NDArray[Any]:
        """The robots' parameters on lanes."""
        return self.parameters.stack(self.kind.lanes, self.real)

    def _read(self, values: tuple[ArrayLike, ...]) -> tuple[dict[str, Array], tuple[int, ...]]:
        arrays, lead = super()._read(values)
        check_robots(arrays, self.inputs, self.robots)
        return arrays, np.broadcast_shapes(lead, (self.robots,))

    def _targets(self, out: Any, lead: tuple[int, ...], inputs: list[Array]) -> list[Array]:
        found = super()._targets(out, lead, inputs)
        return [array if array.flags.c_contiguous else np.empty(array.shape, self.real) for array in found]

    def _fill(self, request: Request) -> None:
        arrays, results, lead = request[:3]
        states = math.prod(lead[:-1])
        same = all(
            array.ndim == len(self.inputs[name]) or array.shape[-1 - len(self.inputs[name])] == 1
            for name, array in arrays.items()
        )
        if self.parameters.joints == 0:
            for result in results:
                result[...] = 0.0
        elif same and states >= STATES:
            self._by_robots(request)
        else:
            self._on_lanes(request)

    def _by_robots(self, request: Request) -> None:
        """A batch of all states for each robot."""
        arrays, results, lead, threads, index = request
        states = math.prod(lead[:-1])
        shared = {
            name: array if array.ndim == len(self.inputs[name]) else np.squeeze(array, -1 - len(self.inputs[name]))
            for name, array in arrays.items()
        }
        samples = self._samples(shared, lead[:-1])
        targets = [a.reshape(states, self.robots, k) for a, k in zip(results, self.columns, strict=True)]
        turns = [range(states)[first : first + TURN] for first in range(0, states, TURN)]
        parts = [[[a[turn.start : turn.stop] for a in arrays] for arrays in (samples, targets)] for turn in turns]

        def ready() -> Call:
            scratch, run = lane_rows(self.rows, self.kind.lanes, self.real), self.entry.compiled(self.kind)

            def some(first: int, last: int) -> int:
                status = 0
                for unit in range(first, last):
                    turn, k = divmod(unit, self.robots)
                    given, found = parts[turn]
                    constants = self.parameters.each[k].of(self.real)
                    status = max(status, run(*constants, *index, *given, *(a[:, k] for a in found), scratch))
                return status

            return some

        units, worth = len(turns) * self.robots, max(1, self.worth // min(states, TURN))
        if wrong := walk(units, useful(threads, units, worth), worth, ready):
            first, status = first_wrong(wrong, ready())
            turn, k = divmod(first, self.robots)
            self._explain_robots(arrays, lead, [k], turns[turn], index, status)

    def _on_lanes(self, request: Request) -> None:
        """Samples with a robot each: units of work are a state of a block of robots."""
        arrays, results, lead, threads, index = request
        states, count = math.prod(lead[:-1]), self.kind.lanes
        samples = self._samples(arrays, lead)
        targets = [a.reshape(states * self.robots, k) for a, k in zip(results, self.columns, strict=True)]
        constants = (self.stack, *self.constants[1:], self.robots)

        def ready() -> Call:
            scratch, run = lane_rows(self.rows, count, self.real), self.fleet_entry.compiled(self.kind)
            return lambda first, last: run(*constants, first, last, *index, *samples, *targets, scratch)

        units, worth = len(self.stack) * states, max(1, self.worth // count)
        if wrong := walk(units, useful(threads, units, worth), worth, ready):
            first, status = first_wrong(wrong, ready())
            block, state = divmod(first, states)
            robots = range(block * count, min(self.robots, (block + 1) * count))
            self._explain_robots(arrays, lead, robots, [state], index, status)

    def _explain_robots(
        self,
        arrays: Mapping[str, Array],
        lead: tuple[int, ...],
        robots: Sequence[int],
        states: Sequence[int],
        index: tuple[int, ...],
        status: int,
    ) -> NoReturn:
        """Raises the error of the first of some robots and states that has one by itself, and says which."""
        check_finite(arrays)
        whole = {name: np.broadcast_to(a, lead + self.inputs[name]) for name, a in arrays.items()}
        for robot in robots:
            task = Task(self.parameters.each[robot], self.quantity, self.real)
            for state in states:
                where: Any = (*np.unravel_index(state, lead[:-1]), robot)
                try:
                    task(tuple(a[where] for a in whole.values()), index=index)
                except FastdynError as problem:
                    sample = ", ".join(map(str, where))
                    raise type(problem)(f"sample {sample} (robot {robot} of the fleet): {problem}") from problem
        where = f"{self.parameters.robot}, robots {robots[0]} to {robots[-1]},"
        if status > 1:
            raise SingularMassMatrixError(f"{where} has a mass matrix that is singular beside those of the others")
        raise NotFiniteError(f"{where} has a result beyond the range of {self.real}")
