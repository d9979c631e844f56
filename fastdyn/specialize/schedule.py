"""The order in which the operations of a program are computed."""

from __future__ import annotations

from fastdyn.scalars.tracing import Graph, Traced
from fastdyn.specialize.program import Program


def compact(program: Program) -> Program:
    """The same program on a new graph that has its live nodes only."""
    graph = Graph()
    numbers: dict[int, int] = {}
    for k in program.graph.live(program.results):
        operation, operands = program.graph.nodes[k]
        if operation not in ("input", "constant"):
            operands = tuple(numbers[x] for x in operands)
        numbers[k] = graph._node((operation, operands), shared=True)
    return program.rebuilt(graph, [Traced(graph, numbers[x.node], x.sign) for x in program.results])
