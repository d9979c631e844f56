"""Costs as polynomials in n, and the rows in which they are compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fastdyn.polynomials import Polynomial


@dataclass(frozen=True)
class Cost:
    """Multiplications and additions for n joints.

    >>> n = Polynomial((0, 1))
    >>> print(Cost(9 * n, 7 * n) + Cost(3 * n, 0 * n))
    12 n; 7 n
    """

    multiplications: Polynomial
    additions: Polynomial

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.multiplications + other.multiplications, self.additions + other.additions)

    def __sub__(self, other: Cost) -> Cost:
        return Cost(self.multiplications - other.multiplications, self.additions - other.additions)

    def __str__(self) -> str:
        return f"{self.multiplications}; {self.additions}"

    def at(self, n: int) -> tuple[int, int]:
        """The numbers for n joints."""
        return int(self.multiplications(n)), int(self.additions(n))


NOTHING = Cost(Polynomial(()), Polynomial(()))


def summed(costs: Iterable[Cost]) -> Cost:
    """The sum of some costs."""
    return sum(costs, NOTHING)


@dataclass(frozen=True)
class Reading:
    """Another way to count a row."""

    what: str
    cost: Cost


@dataclass(frozen=True)
class Row:
    """A row of a published table beside the counted cost of the text, and why they are equal or not."""

    table: str
    name: str
    published: Cost
    counted: Cost
    why: str
    readings: tuple[Reading, ...] = ()

    @property
    def equal_multiplications(self) -> bool:
        """Whether the counted multiplications equal the published ones."""
        return self.published.multiplications == self.counted.multiplications

    @property
    def equal_additions(self) -> bool:
        """Whether the counted additions equal the published ones."""
        return self.published.additions == self.counted.additions

    @property
    def equal(self) -> bool:
        """Whether both are equal."""
        return self.equal_multiplications and self.equal_additions


@dataclass(frozen=True)
class Text:
    """The cost of a text of this library, in all and by stage; under "" that of what is in no stage."""

    name: str
    what: str
    cost: Cost
    stages: Mapping[str, Cost]


@dataclass(frozen=True)
class Probing:
    """Problem 3.12: the cost of D when it is probed out of Newton-Euler, one run costing N and M."""

    run: Cost  # N multiplications and M additions of one run
    columns: Cost  # n runs: n N and n M
    lower: Cost  # column k from joint k on only, by symmetry: the minimum


@dataclass(frozen=True)
class Figure:
    """A count for six joints from the literature."""

    method: str
    multiplications: int
    additions: int
    source: str
