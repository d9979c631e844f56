"""The order in which the operations of a program are computed, and how many values are live in it.

A value is live from its operation to its last use; more live values than registers are stored and loaded again. Inputs
and constants are operands in memory: they are not counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from fastdyn.scalars.tracing import Graph, Traced
from fastdyn.specialize.program import Program

_LEAVES = ("input", "constant")
ROUNDS = 2  # of moving operations: more change little


class Live(NamedTuple):
    """Live values of a program, in its order: the most, the mean, and the mean of what exceeds 16 and 32 registers."""

    most: int
    mean: float
    beyond_16: float
    beyond_32: float


def reordered(program: Program, order: list[int]) -> Program:
    """The same program on a new graph; order: the nodes that it has, each after its operands."""
    graph = Graph()
    numbers: dict[int, int] = {}
    for k in order:
        operation, operands = program.graph.nodes[k]
        if operation not in _LEAVES:
            operands = tuple(numbers[x] for x in operands)
        numbers[k] = graph._node((operation, operands), shared=True)
    return program.rebuilt(graph, [Traced(graph, numbers[x.node], x.sign) for x in program.results])


class _Flow:
    """The live operations of a program, in order, and for each its operands and its users; leaves are set apart."""

    def __init__(self, program: Program) -> None:
        nodes = program.graph.nodes
        live = program.graph.live(program.results)
        self.leaves = [k for k in live if nodes[k][0] in _LEAVES]
        self.order = [k for k in live if nodes[k][0] not in _LEAVES]
        self.products = {k for k in self.order if nodes[k][0] == "*"}
        apart = set(self.leaves)
        self.operands = {k: sorted({x for x in nodes[k][1] if x not in apart}) for k in self.order}
        self.users: dict[int, list[int]] = {k: [] for k in self.order}
        for k in self.order:
            for x in self.operands[k]:
                self.users[x].append(k)
        self.results = {x.node for x in program.results}

    def after_operands(self, wanted: list[int]) -> list[int]:
        """Operations in a wanted order, each preceded by those that it still lacks."""
        found: dict[int, None] = {}
        for k in wanted:
            left = [k]
            while left:
                missing = [x for x in self.operands[left[-1]] if x not in found] if left[-1] not in found else []
                if missing:
                    left.append(missing[0])
                else:
                    found[left.pop()] = None
        return list(found)


def live_values(program: Program) -> Live:
    """How many values are live after each operation; a result is written as soon as it is known."""
    flow = _Flow(program)
    live, counts = 0, []
    left = {k: len(users) for k, users in flow.users.items()}
    for k in flow.order:
        live += left[k] > 0
        for x in flow.operands[k]:
            left[x] -= 1
            live -= left[x] == 0
        counts.append(live)
    n = max(len(counts), 1)
    beyond = [sum(max(c - size, 0) for c in counts) / n for size in (16, 32)]
    return Live(max(counts, default=0), sum(counts) / n, *beyond)


def fused_operations(program: Program) -> int:
    """Multiplications and additions that are left if an addition fuses with a product that is used nowhere else."""
    nodes, flow = program.graph.nodes, _Flow(program)
    alone = {k for k in flow.products - flow.results if len(flow.users[k]) == 1}
    additions = [k for k in flow.order if nodes[k][0] in ("+", "-")]
    return len(flow.products) + len(additions) - sum(not alone.isdisjoint(nodes[k][1]) for k in additions)


# ---------------------------------------------------------------------------------------------- orders


def timed(program: Program, times: Mapping[int, int]) -> Program:
    """In order of the nodes' times, products just before the additions they fuse with; then moved to free registers."""
    flow = _Flow(program)
    fused = {k for k in flow.products if len(flow.users[k]) == 1}
    order = flow.after_operands(sorted((k for k in flow.order if k not in fused), key=lambda k: (times.get(k, 0), k)))
    order = flow.after_operands(order + flow.order)
    for _ in range(ROUNDS):
        order = moved(flow, moved(flow, order, later=True), later=False)
    return reordered(program, flow.leaves + order)


def moved(flow: _Flow, order: list[int], later: bool) -> list[int]:
    """Moves operations that end no live value to their first use, or those that end two to where these are known."""
    place = {k: float(at) for at, k in enumerate(order)}
    for k in reversed(order) if later else order:
        ends = sum(max(place[u] for u in flow.users[x]) == place[k] for x in flow.operands[k])
        if later and ends == 0 and flow.users[k]:
            place[k] = min(place[u] for u in flow.users[k]) - 0.25
        elif not later and ends > 1:
            place[k] = max(place[x] for x in flow.operands[k]) + 0.25
    return flow.after_operands(sorted(order, key=place.__getitem__))


def greedy(program: Program) -> Program:
    """Of the operations that are ready, the one that ends most live values; of those the first in depth-first order."""
    flow = _Flow(program)
    place = {k: at for at, k in enumerate(flow.after_operands([k for k in flow.order if k in flow.results]))}
    waits = {k: len(operands) for k, operands in flow.operands.items()}
    left = {k: len(users) for k, users in flow.users.items()}

    def worth(k: int) -> tuple[int, int]:
        return sum(left[x] == 1 for x in flow.operands[k]) - (left[k] > 0), -place[k]

    order: list[int] = []
    ready = {k for k in flow.order if not waits[k]}
    while ready:
        k = max(ready, key=worth)
        ready.remove(k)
        order.append(k)
        for x in flow.operands[k]:
            left[x] -= 1
        for user in flow.users[k]:
            waits[user] -= 1
            if not waits[user]:
                ready.add(user)
    return reordered(program, flow.leaves + order)
