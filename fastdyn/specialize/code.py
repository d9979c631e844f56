"""Programs as plain data, and the texts that run them: what is kept in a file, hashed, and turned into instructions.

A text has three steps: the angles; their sines and cosines, all together; the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from fastdyn.scalars.tracing import RULES, shown
from fastdyn.scalars.verbs import all_above, all_finite, load, store

SINGLE = 2.0**29  # the rounding of float32 over that of float64: by so much its bounds of conditions are larger


class Output(NamedTuple):
    """A node, times a sign, in a row of a buffer."""

    buffer: int
    row: int
    node: int
    sign: int


class Condition(NamedTuple):
    """A node, times a sign, that must be above a bound, else a joint is singular."""

    node: int
    sign: int
    bound: float
    joint: int


class Code(NamedTuple):
    """A program: nodes as in a Graph; the names of its buffers, inputs and results, in the order of arguments."""

    nodes: Sequence[tuple[str, Sequence[Any]]]
    buffers: Sequence[str]
    outputs: Sequence[Output]
    conditions: Sequence[Condition]

    @property
    def angles(self) -> list[int]:
        """The nodes whose sine or cosine is used."""
        return sorted({operands[0] for operation, operands in self.nodes if operation in ("sin", "cos")})

    def angle(self, node: int) -> tuple[list[tuple[int, int]], float]:
        """An angle as a sum of nodes, each with a sign, and a constant."""
        operation, operands = self.nodes[node]
        if operation == "constant":
            return [], operands[0]
        if operation not in ("+", "-"):
            return [(node, 1)], 0.0
        (parts, x), (others, y) = map(self.angle, operands)
        sign = 1 if operation == "+" else -1
        return parts + [(part, sign * its) for part, its in others], x + sign * y

    @property
    def checked(self) -> list[int]:
        """The nodes that are not finite if any input or result is not: results, and inputs that need not reach one."""
        results = {each.node for each in self.outputs if self.nodes[each.node][0] != "constant"}
        inputs = {k for k, (operation, _) in enumerate(self.nodes) if operation == "input"}
        return sorted(results | (inputs - shown(self.nodes, results)))

    def lines(self, name: str) -> list[str]:
        """The source of a text that runs the program; `name`_angles and `name`_rest run its steps."""
        arguments = ", ".join([*self.buffers, "work"])
        found = []
        if self.multiples:
            found.append(f"{name}_angles({arguments})")
        for k, node in enumerate(self.angles):
            found.append(f"store(work, {k}, {self._sum(*self.angle(node))})")
        if self.angles:
            found.append(f"sincos_rows(work, {len(self.angles)})")
        return [*found, f"return {name}_rest({arguments})"]

    def _sum(self, parts: list[tuple[int, int]], offset: float) -> str:
        """Source of an angle: whole turns are taken off each part before they are added, which float32 needs."""
        rows = {node: len(self.angles) + k for k, node in enumerate(self.multiples)}
        places = [("work", rows[node]) if node in rows else self.nodes[node][1] for node, _ in parts]
        values = [f"load({buffer}, {row})" for buffer, row in places]
        if [sign for _, sign in parts] == [1] and not offset:
            return values[0]
        signs = ["+" if sign > 0 else "-" for _, sign in parts]
        turned = " ".join(f"{sign} angle_sum({value}, 0.0)" for sign, value in zip(signs, values, strict=True))
        return turned.removeprefix("+ ") + (f" + {offset!r}" if offset else "")

    @property
    def multiples(self) -> list[int]:
        """The parts of angles that are not inputs: multiples of coordinates."""
        parts = {part for node in self.angles for part, _ in self.angle(node)[0]}
        return sorted(part for part in parts if self.nodes[part][0] != "input")

    def before_sines(self) -> Steps:
        """The parts of angles that are not inputs, into rows of `work` after those of the angles."""
        work = len(self.buffers)
        rows = [Output(work, len(self.angles) + k, node, 1) for k, node in enumerate(self.multiples)]
        return Steps(self, rows, in_rows=True)

    def after_sines(self, in_rows: bool) -> Steps:
        """The results, from the inputs and from the sines and cosines in `work`; in_rows: without their status."""
        if in_rows:
            return Steps(self, self.outputs, in_rows=True)
        return Steps(self, self.outputs, self.conditions, self.checked)


class Steps:
    """The part of a program that some of its values need: stores, conditions and nodes that are checked to be finite.

    `order`: the numbers of its nodes; `places`: the buffer and the row of those that are read from memory. in_rows:
    whether lanes of a result are stored side by side, not samples.
    """

    def __init__(
        self,
        code: Code,
        stores: Sequence[Output],
        conditions: Sequence[Condition] = (),
        checked: Sequence[int] = (),
        in_rows: bool = False,
    ) -> None:
        self.in_rows = in_rows
        self.nodes, self.stores, self.conditions, self.checked = code.nodes, stores, conditions, checked
        rows = {node: k for k, node in enumerate(code.angles)}
        self.places: dict[int, tuple[int, int]] = {}
        left = [*(each.node for each in stores), *(each.node for each in conditions), *checked]
        found = set(left)
        while left:
            number = left.pop()
            operation, operands = self.nodes[number]
            if operation == "input":
                self.places[number] = code.buffers.index(operands[0]), operands[1]
            elif operation in ("sin", "cos"):
                self.places[number] = len(code.buffers), rows[operands[0]] + len(rows) * (operation == "cos")
            elif operation != "constant":
                fresh = set(operands) - found
                found |= fresh
                left += fresh
        self.order = sorted(found)

    def __call__(self, *buffers: Any) -> int:
        """In plain Python: a status, as generate.py defines it."""
        values: dict[int, Any] = {}
        real = buffers[-1].dtype.type
        for number in self.order:
            operation, operands = self.nodes[number]
            if number in self.places:
                buffer, row = self.places[number]
                values[number] = load(buffers[buffer], row)
            else:
                values[number] = (
                    real(operands[0]) if operation == "constant" else RULES[operation](*map(values.get, operands))
                )
        for buffer, row, node, sign in self.stores:
            store(buffers[buffer], row, values[node] if sign > 0 else -values[node])
        found = 0
        for node, sign, bound, joint in self.conditions:
            value = values[node] if sign > 0 else -values[node]
            if all_finite(value) and not all_above(value, bound * (SINGLE if real(0).itemsize == 4 else 1.0)):
                found = 2 * (joint + 1)
                break
        return found + (not all(all_finite(values[k]) for k in self.checked))
