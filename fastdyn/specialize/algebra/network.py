"""Networks: a program as sums of scaled values, products of values and calls, so that algebra can rewrite it.

Scales are constants: changes of sign and multiplications by constants belong to the sums. Every value has a
fingerprint: its remainder modulo a prime for inputs drawn at random, where sines and cosines are points of a circle.
Values with equal fingerprints are equal for all inputs: they are computed once. It also has a size, for two random
inputs: by how much it changes, at most and to first order, if every input, sine and cosine changes by its own magnitude
(times something small). Cancellation makes a value small, but not its size. An equal value is used only if its size is
not much larger: then no cancellation is new.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from fastdyn.mechanism.parts import EPS
from fastdyn.specialize.program import Program

Ref = tuple[float, int]  # a scale and the number of a value
Terms = dict[int, float]  # scales by the numbers of values

ONE = 0  # the number of the value 1
_LEAVES = ("input", "constant")  # a constant is a value only if it is not finite; all others are scales
PRIME = 2**61 - 1
SAMPLES = 2
GROWTH = 1.2  # of sizes: equal values that the text computes in two ways differ a little in size
ROUNDING = 8 * EPS  # of the scales that were added: what is left of scales that cancel


class Network:
    """The values of a program by number: a sum has `terms`, a product `factors`, anything else is a call.

    results: those of the program, in order.
    """

    def __init__(self, program: Program) -> None:
        self.terms: dict[int, Terms] = {}
        self.factors: dict[int, tuple[int, ...]] = {}
        self.calls: dict[int, tuple[str, tuple[Any, ...]]] = {ONE: ("constant", (1.0,))}
        self.turns: list[tuple[int, int]] = []  # sines and cosines of sums of angles
        self.prints = [1]
        self.values: list[Sequence[float]] = [[1.0] * SAMPLES]
        self.sizes: list[Sequence[float]] = [[1.0] * SAMPLES]
        self._known: dict[Any, Ref] = {1: (1.0, ONE), PRIME - 1: (-1.0, ONE)}
        self.times: dict[int, int] = {}  # when the text computed a value: the number of its node
        refs: dict[int, Ref] = {}
        for k in program.graph.live(program.results):
            refs[k] = self._read(*program.graph.nodes[k], refs)
            self.times.setdefault(refs[k][1], k)
        self.results = [(x.sign * refs[x.node][0], refs[x.node][1]) for x in program.results]

    def copy(self) -> Network:
        """A network that may be rewritten without changing this one."""
        other: Network = object.__new__(Network)
        other.__dict__.update({name: table.copy() for name, table in self.__dict__.items()})
        other.terms = {v: terms.copy() for v, terms in self.terms.items()}
        return other

    def _read(self, operation: str, operands: tuple[Any, ...], refs: dict[int, Ref]) -> Ref:
        """The value of a node of a graph."""
        if operation == "constant" and math.isfinite(operands[0]):
            return operands[0], ONE
        if operation in _LEAVES:
            return self.call(operation, operands)
        given = [refs[k] for k in operands]
        if operation in ("+", "-"):
            (a, x), (b, y) = given
            return self.sum(collected({x: a}, {y: b if operation == "+" else -b}))
        if operation == "*":
            return self.product(given)
        if operation == "/":
            return self.product([given[0], self.inverse(given[1])])
        if operation == "neg":
            return -given[0][0], given[0][1]
        if operation in ("sin", "cos"):
            return self.wave(operation, given[0])
        return self.call(operation, tuple(given))

    # ------------------------------------------------------------------------------------------ making values

    def sum(self, terms: Terms, user: int | None = None) -> Ref:
        """A sum, or a value that equals it, up to a scale, and does not depend on its user."""
        terms = {v: terms[v] for v in sorted(terms) if terms[v]}
        if len(terms) < 2:
            return next(((scale, v) for v, scale in terms.items()), (0.0, ONE))
        scale = next(iter(terms.values()))
        if abs(scale) != 1 and ONE not in terms and all(same(c, scale) for c in terms.values()):
            whole, v = self.sum({v: math.copysign(1.0, c) for v, c in terms.items()}, user)
            return whole * abs(scale), v
        key = tuple((v, comparable(c / scale)) for v, c in terms.items())
        mark = sum(_remainder(c) * self.prints[v] for v, c in terms.items()) % PRIME
        if mark == 0:
            return 0.0, ONE
        values = [sum(c * self.values[v][k] for v, c in terms.items()) for k in range(SAMPLES)]
        sizes = [sum(abs(c) * self.sizes[v][k] for v, c in terms.items()) for k in range(SAMPLES)]
        found = self._same(mark, sizes, user) or self._same(key, [x / abs(scale) for x in sizes], user, scale)
        if found is None:
            found = 1.0, self._new(mark, values, sizes)
            self.terms[found[1]] = terms
            self._known.setdefault(key, (1 / scale, found[1]))
        return found

    def product(self, given: Iterable[Ref], user: int | None = None) -> Ref:
        """A product of scaled values."""
        given = list(given)
        scale = math.prod(c for c, _ in given)
        factors = tuple(sorted(v for _, v in given if v != ONE))
        if scale == 0 or not factors:
            return scale, ONE
        if len(factors) == 1:
            return scale, factors[0]
        mark = math.prod(self.prints[v] for v in factors) % PRIME
        values = [math.prod(self.values[v][k] for v in factors) for k in range(SAMPLES)]
        sizes = [0.0] * SAMPLES
        for at, v in enumerate(factors):
            others = factors[:at] + factors[at + 1 :]
            for k in range(SAMPLES):
                sizes[k] += self.sizes[v][k] * abs(math.prod(self.values[w][k] for w in others))
        found = self._same(mark, sizes, user)
        if found is None:
            found = 1.0, self._new(mark, values, sizes)
            self.factors[found[1]] = factors
        return scale * found[0], found[1]

    def inverse(self, x: Ref) -> Ref:
        """1 / x; of several quotients by one value, the inverse is computed once."""
        scale, v = x
        if v == ONE and scale:
            return 1 / scale, ONE
        if scale == 0:
            return self.call("inverse", ((0.0, ONE),))
        over, w = self.call("inverse", ((1.0, v),))
        return over / scale, w

    def wave(self, operation: str, x: Ref) -> Ref:
        """Sine or cosine. Quarter turns that are added to the angle are taken off: sin(x + pi/2) = cos(x)."""
        scale, v = x
        offset = scale * self.terms[v].get(ONE, 0.0) if v in self.terms else 0.0
        quarters = round(offset / (math.pi / 2))
        if quarters and abs(offset - quarters * (math.pi / 2)) <= ROUNDING * abs(offset):
            rest, w = self.sum({u: c for u, c in self.terms[v].items() if u != ONE})
            sine, cosine = (self.wave(name, (scale * rest, w)) for name in ("sin", "cos"))
            for _ in range(quarters % 4):
                sine, cosine = cosine, (-sine[0], sine[1])
            return sine if operation == "sin" else cosine
        sign = math.copysign(1.0, scale)
        found = self.call(operation, ((abs(scale), v),))
        return (sign if operation == "sin" else 1.0) * found[0], found[1]

    def call(self, operation: str, operands: tuple[Any, ...]) -> Ref:
        """An input or a function of values."""
        key = operation, operands
        if key not in self._known:
            marks = operands if operation in _LEAVES else tuple((c, self.prints[v]) for c, v in operands)
            draw = random.Random(repr((operation if operation not in ("sin", "cos") else "wave", marks)))
            mark, values, sizes = self._sampled(operation, operands, draw)
            self._known[key] = 1.0, self._new(mark, values, sizes)
            self.calls[self._known[key][1]] = key
        return self._known[key]

    def _sampled(self, operation: str, operands: tuple[Any, ...], draw: random.Random) -> Any:
        """The fingerprint, the values and the sizes of a call."""
        if operation in _LEAVES:
            values = [draw.uniform(-3, 3) for _ in range(SAMPLES)]
            return draw.randrange(PRIME), values, [abs(x) for x in values]
        inside, sizes = zip(*(self._sampled_ref(x) for x in operands), strict=True)
        if operation in ("sin", "cos"):
            t = draw.randrange(PRIME)
            over = pow(1 + t * t, -1, PRIME)
            mark = (2 * t if operation == "sin" else 1 - t * t) * over % PRIME
            values = [getattr(math, operation)(x) for x in inside[0]]
            return mark, values, [abs(x) for x in values]
        mark = draw.randrange(PRIME)
        if operation == "inverse":
            values = [1 / x if x else math.inf for x in inside[0]]
            mark = pow(self.prints[operands[0][1]], -1, PRIME) if operands[0][0] else mark
            return mark, values, [s * y * y for s, y in zip(sizes[0], values, strict=True)]
        values = [draw.uniform(1, 3) for _ in range(SAMPLES)]  # of any other function: like an input
        return mark, values, values

    def _sampled_ref(self, x: Ref) -> tuple[Sequence[float], Sequence[float]]:
        scale, v = x
        return [scale * y for y in self.values[v]], [abs(scale) * y for y in self.sizes[v]]

    def _new(self, mark: int, values: Sequence[float], sizes: Sequence[float]) -> int:
        number = len(self.prints)
        self.prints.append(mark)
        self.values.append(values)
        self.sizes.append(sizes)
        self._known.setdefault(mark, (1.0, number))
        self._known.setdefault(PRIME - mark, (-1.0, number))
        return number

    def equal(self, mark: int, sizes: Sequence[float], user: int) -> Ref | None:
        """A value with this fingerprint, if there is one that is not much larger and does not depend on `user`."""
        return (0.0, ONE) if mark % PRIME == 0 else self._same(mark % PRIME, sizes, user)

    def _same(self, key: Any, sizes: Sequence[float], user: int | None, scale: float = 1.0) -> Ref | None:
        """A value that was made before, is not much larger and does not depend on `user`."""
        if key not in self._known:
            return None
        known, v = self._known[key]
        larger = any(abs(known) * x > GROWTH * size for x, size in zip(self.sizes[v], sizes, strict=True))
        if larger or (user is not None and self.depends(v, user)):
            return None
        return known * scale, v

    # ------------------------------------------------------------------------------------------ looking

    def below(self, v: int) -> list[int]:
        """The values that a value is made of, as often as it uses them."""
        if v in self.terms:
            return list(self.terms[v])
        if v in self.factors:
            return list(self.factors[v])
        operation, operands = self.calls[v]
        return [] if operation in _LEAVES else [w for _, w in operands]

    def order(self) -> list[int]:
        """The values that the results need, each after those that it is made of."""
        found: dict[int, None] = {}
        left = [v for _, v in reversed(self.results)]
        while left:
            v = left[-1]
            missing = [w for w in self.below(v) if w not in found] if v not in found else []
            if missing:
                left += reversed(missing)
            else:
                found[left.pop()] = None
        return list(found)

    def uses(self) -> Counter[int]:
        """How often each value is used by others and by the results."""
        made = Counter(w for v in self.order() for w in self.below(v))
        return made + Counter(v for _, v in self.results)

    def depends(self, v: int, on: int) -> bool:
        """Whether a value is computed from another."""
        seen, left = {v}, [v]
        while left:
            w = left.pop()
            if w == on:
                return True
            fresh = set(self.below(w)) - seen
            seen |= fresh
            left += fresh
        return False

    # ------------------------------------------------------------------------------------------ replacing

    def resolve(self, aliases: dict[int, Ref]) -> None:
        """Replaces values by scaled values everywhere."""
        if not aliases:
            return

        def final(x: Ref) -> Ref:
            scale, v = x
            while v in aliases:
                scale, v = scale * aliases[v][0], aliases[v][1]
            return scale, v

        # from below, so that a sum or product that becomes another value is replaced in turn
        for v in self.order():
            below = self.below(v)
            if v in aliases or not any(w in aliases for w in below):
                continue
            if v in self.terms:
                terms: Terms = {}
                for w, c in self.terms[v].items():
                    scale, u = final((c, w))
                    terms = collected(terms, {u: scale})
                self.terms[v] = terms
                if len(terms) < 2:
                    aliases[v] = next(((c, w) for w, c in terms.items()), (0.0, ONE))
            elif v in self.factors:
                scale, w = self.product([final((1.0, u)) for u in self.factors[v]], v)
                aliases[v] = scale, w
            else:
                operation, operands = self.calls[v]
                self.calls[v] = operation, tuple(final(x) for x in operands)
        self.results = [final(x) for x in self.results]


def collected(a: Terms, b: Terms) -> Terms:
    """The sum of two sums; terms whose scales cancel are dropped."""
    found = dict(a)
    for v, c in b.items():
        scale = found.pop(v, 0.0)
        if abs(scale + c) > ROUNDING * (abs(scale) + abs(c)):
            found[v] = scale + c
    return found


def same(a: float, b: float) -> bool:
    """Whether two scales are equal up to sign and roundings."""
    return abs(abs(a) - abs(b)) <= ROUNDING * abs(a)


def comparable(scale: float) -> str:
    """A scale in 14 digits, so that scales that differ by roundings compare equal; rare ones do not."""
    return f"{scale:.13e}"


def _remainder(scale: float) -> int:
    over, under = scale.as_integer_ratio()
    return over * pow(under, -1, PRIME) % PRIME
