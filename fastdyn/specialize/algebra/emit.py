"""From a network back to a graph: sums and products become operations of two operands."""

from __future__ import annotations

from collections import defaultdict

from fastdyn.scalars.tracing import Graph, Traced
from fastdyn.specialize.algebra.network import ONE, Network, comparable
from fastdyn.specialize.program import Program

# a sum starts with a term that is no product if one of its first terms is none: one that is known later would keep the
# operands of all products before it in registers
START = 3


def emitted(network: Network, program: Program, early: bool) -> tuple[Program, dict[int, int]]:
    """The program of a network, on a new graph, and a time for each of its nodes, in operations of the text.

    early: when the text had computed the operands; else when it computed the value itself, or the first of its users.
    """
    writer = _Writer(network, early)
    for v in network.order():
        writer.write(v)
    results = [writer.scaled(scale, v) for scale, v in network.results]
    return program.rebuilt(writer.graph, results), writer.times


class _Writer:
    def __init__(self, network: Network, early: bool) -> None:
        self.network, self.uses = network, network.uses()
        self.graph = Graph()
        self.done: dict[int, Traced] = {}
        self.times: dict[int, int] = {}
        self.early = early
        # the text's time of each value, or the first of its users'
        last = max(network.times.values(), default=0)
        self.wanted: dict[int, int] = {}
        for v in reversed(network.order()):
            self.wanted[v] = network.times.get(v, self.wanted.get(v, last))
            for w in network.below(v):
                self.wanted[w] = min(self.wanted.get(w, last), self.wanted[v])

    def write(self, v: int) -> None:
        """Writes a value whose parts have been written."""
        network, made = self.network, len(self.graph.nodes)
        now = max([self.wanted[v], *(self.times[self.done[w].node] for w in network.below(v))])
        if v in network.terms:
            x = self._sum(v)
        elif v in network.factors:
            x = self._product(v)
        else:
            x = self._call(v)
        self.done[v] = x
        if x.node not in self.times or (x.node >= made and not self.early):
            self.times[x.node] = now

    def scaled(self, scale: float, v: int) -> Traced:
        """A value times a constant."""
        x = self.graph.constant(scale) * self.done[v]
        self.times.setdefault(x.node, self.times[self.done[v].node])
        return x

    def _call(self, v: int) -> Traced:
        operation, operands = self.network.calls[v]
        if operation == "input":
            return self.graph.input(*operands)
        if operation == "constant":
            return self.graph.constant(*operands)
        x, *rest = (self.scaled(scale, w) for scale, w in operands)
        if operation in ("sin", "cos"):
            return x.sincos()[operation == "cos"]
        if operation == "inverse":
            return 1.0 / x
        made: Traced = getattr(x, operation)(*rest)
        return made

    def _product(self, v: int) -> Traced:
        """The factors that are known first, first; an inverse that is used only here divides."""
        network = self.network
        factors = sorted(network.factors[v], key=lambda w: (self._time(w), w))
        divisor = next((w for w in factors if self.uses[w] == 1 and network.calls.get(w, ("",))[0] == "inverse"), None)
        x, *rest = (self.done[w] for w in factors if w != divisor)
        for y in rest:
            x = self._recorded(x * y, x, y)
        if divisor is not None:
            ((scale, below),) = network.calls[divisor][1]
            x = x / self.scaled(scale, below)
        return x

    def _sum(self, v: int) -> Traced:
        """The terms in the order in which they are known, but first one that is no product: each product fuses."""
        network, terms = self.network, self.network.terms[v]
        groups: dict[str, list[int]] = defaultdict(list)
        for w, c in terms.items():
            groups[comparable(abs(c)) if abs(c) != 1 and w != ONE else f"alone {w}"].append(w)
        parts = []
        for which in groups.values():
            scale = abs(terms[which[0]])
            ordered = sorted(which, key=lambda w: (self._time(w), w))
            inner = [self.done[w] if terms[w] > 0 else -self.done[w] for w in ordered]
            product = scale != 1 and which != [ONE]
            product |= len(which) == 1 and which[0] in network.factors and self.uses[which[0]] == 1
            x = self._chain(inner)
            y = x * scale
            parts.append((product, self._recorded(y, x)))
        parts.sort(key=lambda part: (self.times[part[1].node], part[1].node))
        first = next((k for k, (product, _) in enumerate(parts[:START]) if not product), 0)
        return self._chain([x for _, x in [parts[first], *parts[:first], *parts[first + 1 :]]])

    def _chain(self, scalars: list[Traced]) -> Traced:
        total, *rest = scalars
        for x in rest:
            total = self._recorded(total + x, total, x)
        return total

    def _recorded(self, x: Traced, *operands: Traced) -> Traced:
        self.times.setdefault(x.node, max(self.times[y.node] for y in operands))
        return x

    def _time(self, v: int) -> int:
        return self.times[self.done[v].node]
