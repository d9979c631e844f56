"""Scalars that record operations: run a kernel's text on them once and get its straight-line program as a graph.

>>> graph = Graph()
>>> q, (a, b) = graph.inputs("q", 2), graph.array([2.0, 0.0])
>>> y = a * q[0] + b * q[1] - q[1]
>>> graph.operations([y])
Operations(multiplications=1, additions=1, divisions=0, sincos=0, sqrt=0, atan2=0)
>>> graph.evaluate([y], {"q": [3.0, 4.0]})
array([2.])
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from fastdyn.scalars.counting import Operations
from fastdyn.scalars.verbs import atan2, by_sign, sincos, sqrt, where_above

Node = tuple[str, tuple[Any, ...]]

_LEAVES = ("input", "constant")
RULES: dict[str, Any] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "neg": lambda a: -a,
    "sin": lambda a: sincos(a)[0],
    "cos": lambda a: sincos(a)[1],
    "sqrt": sqrt,
    "atan2": atan2,
    "by_sign": by_sign,
    "where_above": where_above,
}


# operands whose infinities and NaN make the result of an operation infinite or NaN
_PASSED_ON = {"+": (0, 1), "-": (0, 1), "*": (0, 1), "/": (0,), "neg": (0,), "sin": (0,), "cos": (0,), "sqrt": (0,)}


def shown(nodes: Sequence[tuple[str, Sequence[Any]]], results: Iterable[int]) -> set[int]:
    """The nodes of which an infinity or NaN is sure to show in one of the results."""
    left = list(results)
    found = set(left)
    while left:
        operation, operands = nodes[left.pop()]
        fresh = {operands[k] for k in _PASSED_ON.get(operation, ())} - found
        found |= fresh
        left += fresh
    return found


class Check(NamedTuple):
    """A value that the text requires to be above a bound."""

    value: Traced
    bound: Traced


class Graph:
    """The operations of a text, in the order in which they were made.

    nodes: (operation, operands). Operands are numbers of earlier nodes, but for the first two operations:

        input       a name and an index
        constant    a float
        + - * /     two nodes
        neg         a node; made only for operands of the operations below
        sin, cos    a node
        sqrt        a node
        atan2       y, x
        by_sign     x, positive, negative: positive where x > 0, negative where x < 0, else 0
        where_above x, bound, a, b: a where x > bound, else b

    A scalar of the graph is a node with a sign (`Traced`), so that a change of sign is no operation.

    checks: what the text asked by all_above. The trace follows the answer True; whoever runs the graph checks.

    fold: operations on constants are computed, zeros and ones dropped, and operations that were made before, up to
    sign, shared. No result changes as long as all values are finite; the sign of a zero, which atan2 sees, may.
    Without it every operation is recorded.

    refused: the number of the check that is answered by False, to see what the text then does.
    """

    def __init__(self, fold: bool = True, refused: int | None = None) -> None:
        self.fold, self.refused = fold, refused
        self.nodes: list[Node] = []
        self.checks: list[Check] = []
        self._numbers: dict[Node, int] = {}

    def input(self, name: str, index: int = 0) -> Traced:
        """One number of an input."""
        return Traced(self, self._leaf("input", name, index))

    def inputs(self, name: str, count: int) -> np.ndarray[Any, np.dtype[Any]]:
        """An input of some numbers, as an array."""
        return np.array([self.input(name, index) for index in range(count)], dtype=object)

    def constant(self, value: float) -> Traced:
        """A number that is known."""
        value = float(value)
        return Traced(self, self._leaf("constant", abs(value)), -1 if value < 0 else 1)

    def array(self, values: Any) -> np.ndarray[Any, np.dtype[Any]]:
        """Numbers that are known, as an array of the same shape."""
        given = np.asarray(values, dtype=float)
        return np.array([self.constant(value) for value in given.ravel()], dtype=object).reshape(given.shape)

    def live(self, outputs: Any) -> list[int]:
        """The numbers of the nodes that some outputs depend on, in order."""
        left = [x.node for x in self._scalars(outputs)]
        found = set(left)
        while left:
            operation, operands = self.nodes[left.pop()]
            if operation not in _LEAVES:
                fresh = set(operands) - found
                found |= fresh
                left += fresh
        return sorted(found)

    def operations(self, outputs: Any = None) -> Operations:
        """The operations that some outputs need, or all that were recorded. Sine and cosine of one angle are one."""
        numbers = range(len(self.nodes)) if outputs is None else self.live(outputs)
        nodes = [self.nodes[k] for k in numbers]
        made = Counter(operation for operation, _ in nodes)
        sines, cosines = (Counter(operands for name, operands in nodes if name == which) for which in ("sin", "cos"))
        waves = (sines | cosines).total()
        return Operations(made["*"], made["+"] + made["-"], made["/"], waves, made["sqrt"], made["atan2"])

    def evaluate(self, outputs: Any, inputs: Mapping[str, Any]) -> np.ndarray[Any, np.dtype[Any]]:
        """The values of outputs, in their shape, for inputs by name: arrays of floats, or of rows of samples.

        Rows give rows: (outputs, samples).
        """
        values: dict[int, Any] = {}
        for number in self.live(outputs):
            operation, operands = self.nodes[number]
            if operation == "input":
                name, index = operands
                values[number] = inputs[name][index]
            elif operation == "constant":
                (values[number],) = operands
            else:
                values[number] = RULES[operation](*(values[k] for k in operands))
        found = np.array(np.broadcast_arrays(*(x.sign * values[x.node] for x in self._scalars(outputs))), dtype=float)
        return found.reshape(np.shape(outputs) + found.shape[1:])

    def own(self, x: Any) -> Traced:
        """A scalar of this graph: a number becomes a constant, a scalar of another graph is refused."""
        if not isinstance(x, Traced):
            return self.constant(x)
        if x.graph is not self:
            raise ValueError("scalars of two graphs meet: a text is traced on one graph")
        return x

    def _scalars(self, outputs: Any) -> list[Traced]:
        return [self.own(x) for x in np.asarray(outputs, dtype=object).ravel()]

    def _leaf(self, operation: str, *operands: Any) -> int:
        return self._node((operation, operands), shared=True)

    def _made(self, operation: str, *operands: int, sign: int = 1) -> Traced:
        """The result of an operation, which is recorded."""
        return Traced(self, self._node((operation, operands), shared=self.fold), sign)

    def _node(self, node: Node, shared: bool) -> int:
        if not shared or node not in self._numbers:
            self._numbers[node] = len(self.nodes)
            self.nodes.append(node)
        return self._numbers[node]

    def _sum(self, a: Traced, b: Traced) -> Traced:
        if self.fold:
            x, y = a.known, b.known
            if x is not None and y is not None:
                return self.constant(x + y)
            if x == 0 or y == 0:
                return b if x == 0 else a
            if a.node == b.node and a.sign != b.sign:
                return self.constant(0.0)
        if a.sign == b.sign:
            return self._made("+", *self._ordered(a, b), sign=a.sign)
        plus, minus = (a, b) if a.sign > 0 else (b, a)
        if self.fold and ("-", (minus.node, plus.node)) in self._numbers:
            return self._made("-", minus.node, plus.node, sign=-1)
        return self._made("-", plus.node, minus.node)

    def _product(self, a: Traced, b: Traced) -> Traced:
        sign = a.sign * b.sign
        if self.fold:
            x, y = a.known, b.known
            if x is not None and y is not None:
                return self.constant(x * y)
            if x == 0 or y == 0:
                return self.constant(0.0)
            for known, other in ((x, b), (y, a)):
                if known is not None and abs(known) == 1:
                    return Traced(self, other.node, sign)
        return self._made("*", *self._ordered(a, b), sign=sign)

    def _quotient(self, a: Traced, b: Traced) -> Traced:
        sign = a.sign * b.sign
        if self.fold:
            x, y = a.known, b.known
            if x is not None and y:
                return self.constant(x / y)
            if x == 0 and y is None:
                return self.constant(0.0)
            if y is not None and abs(y) == 1:
                return Traced(self, a.node, sign)
        return self._made("/", a.node, b.node, sign=sign)

    def _sine(self, x: Traced) -> Traced:
        known = x.known if self.fold else None
        return self._made("sin", x.node, sign=x.sign) if known is None else self.constant(sincos(known)[0])

    def _cosine(self, x: Traced) -> Traced:
        known = x.known if self.fold else None
        return self._made("cos", x.node) if known is None else self.constant(sincos(known)[1])

    def _root(self, x: Traced) -> Traced:
        known = x.known if self.fold else None
        return self._made("sqrt", self._unsigned(x)) if known is None else self.constant(sqrt(known))

    def _angle(self, y: Traced, x: Traced) -> Traced:
        if self.fold and y.known is not None and x.known is not None:
            return self.constant(atan2(y.known, x.known))
        return self._made("atan2", y.node, self._unsigned(x), sign=y.sign)

    def _where(self, x: Traced, bound: Traced, above: Traced, otherwise: Traced) -> Traced:
        if self.fold and x.known is not None and bound.known is not None:
            return above if x.known > bound.known else otherwise
        if self.fold and (above.node, above.sign) == (otherwise.node, otherwise.sign):
            return above
        return self._made("where_above", *(self._unsigned(y) for y in (x, bound, above, otherwise)))

    def _choice(self, x: Traced, positive: Traced, negative: Traced) -> Traced:
        if self.fold and x.known is not None:
            return self.own(by_sign(x.known, positive, negative))
        if self.fold and positive.known == negative.known == 0:
            return positive
        if x.sign < 0:
            positive, negative = negative, positive
        sign = (negative if positive.known == 0 else positive).sign
        operands = (self._unsigned(y if sign > 0 else -y) for y in (positive, negative))
        return self._made("by_sign", x.node, *operands, sign=sign)

    def _unsigned(self, x: Traced) -> int:
        """A node with the value of a scalar, its sign included."""
        if x.sign > 0:
            return x.node
        return self._leaf("constant", x.known) if x.known is not None else self._made("neg", x.node).node

    def _ordered(self, a: Traced, b: Traced) -> tuple[int, int]:
        """Operands that may be exchanged, in one order, so that both orders are one operation."""
        return (b.node, a.node) if self.fold and b.node < a.node else (a.node, b.node)


class Traced:
    """A scalar of a graph: the value of a node, times a sign."""

    __slots__ = ("graph", "node", "sign")

    def __init__(self, graph: Graph, node: int, sign: int = 1) -> None:
        self.graph, self.node, self.sign = graph, node, sign

    @property
    def known(self) -> float | None:
        """The value of a constant; None for anything that depends on inputs."""
        operation, operands = self.graph.nodes[self.node]
        return self.sign * operands[0] if operation == "constant" else None

    def __add__(self, other: Any) -> Traced:
        return self.graph._sum(self, self.graph.own(other))

    def __sub__(self, other: Any) -> Traced:
        return self.graph._sum(self, -self.graph.own(other))

    def __rsub__(self, other: Any) -> Traced:
        return self.graph._sum(self.graph.own(other), -self)

    def __mul__(self, other: Any) -> Traced:
        return self.graph._product(self, self.graph.own(other))

    def __truediv__(self, other: Any) -> Traced:
        return self.graph._quotient(self, self.graph.own(other))

    def __rtruediv__(self, other: Any) -> Traced:
        return self.graph._quotient(self.graph.own(other), self)

    __radd__ = __add__
    __rmul__ = __mul__

    def __neg__(self) -> Traced:
        return Traced(self.graph, self.node, -self.sign)

    def __eq__(self, other: object) -> bool:
        """Of constants: a text may branch on the constants of a model."""
        other = self.graph.own(other)
        if self.known is None or other.known is None:
            return (self.node, self.sign) == (other.node, other.sign) or self.__bool__()
        return self.known == other.known

    def __hash__(self) -> int:
        return hash((self.node, self.sign))

    def __bool__(self) -> bool:
        raise TypeError(
            "the text branches on a value that is not known while tracing: use by_sign, where_above or all_above"
        )

    def like(self, value: Any) -> Traced:
        """A constant of the same graph."""
        return self.graph.own(value)

    def sincos(self) -> tuple[Traced, Traced]:
        """Two nodes."""
        return self.graph._sine(self), self.graph._cosine(self)

    def by_sign(self, positive: Any, negative: Any) -> Traced:
        """One node."""
        return self.graph._choice(self, self.graph.own(positive), self.graph.own(negative))

    def sqrt(self) -> Traced:
        """One node."""
        return self.graph._root(self)

    def atan2(self, x: Any) -> Traced:
        """One node."""
        return self.graph._angle(self, self.graph.own(x))

    def where_above(self, bound: Any, above: Any, otherwise: Any) -> Traced:
        """One node."""
        return self.graph._where(self, *(self.graph.own(y) for y in (bound, above, otherwise)))

    def any_above(self, bound: Any) -> bool:
        """True: not known, so that no work is skipped."""
        return True

    def all_above(self, bound: Any) -> bool:
        """True, but for the check that is refused; what was asked is recorded in the graph's checks."""
        self.graph.checks.append(Check(self, self.graph.own(bound)))
        return len(self.graph.checks) - 1 != self.graph.refused

    def all_finite(self) -> bool:
        """True: results are checked where the graph is run."""
        return True
