"""Costs as polynomials in n, and the rows in which they are compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

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


Kind = Literal["forced", "no information", "follows", "tuned", "not equal", "not reproduced"]

# what is known of a published polynomial; the first four are equal to what is counted
KINDS: Mapping[Kind, str] = {
    "forced": "equal, and every way to evaluate the printed equation with full matrix and vector products gives it",
    "no information": "equal, but it could not be otherwise: a zero, or the sum of rows above that are equal",
    "follows": "equal by one plain procedure for the printed equation; another one would give another number",
    "tuned": "equal only because the procedure was chosen to give the number: the printed equation does not ask for it",
    "not equal": "not equal; the published number results if the operations that the row names are left out or added",
    "not reproduced": "not equal, and no procedure was found that gives the published number",
}


@dataclass(frozen=True)
class Label:
    """What is known of one published polynomial, and why."""

    kind: Kind
    why: str


@dataclass(frozen=True)
class Row:
    """A row of a published table beside the counted cost of some stages of a text, and why they are equal or not."""

    table: str
    name: str
    published: Cost
    counted: Cost
    why: str
    text: str  # the formulation that is counted, and timed
    stages: tuple[str, ...]  # of that text: `counted` is their sum
    multiplications: Label
    additions: Label
    left_out: Mapping[str, str] = field(default_factory=dict)  # other stages of the text, and what they compute
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


def labels(rows: Iterable[Row]) -> dict[Kind, int]:
    """How many of the published polynomials, two for each row, have each kind of label."""
    found: dict[Kind, int] = dict.fromkeys(get_args(Kind), 0)
    for row in rows:
        found[row.multiplications.kind] += 1
        found[row.additions.kind] += 1
    return found


_PHRASES: Mapping[Kind, str] = {
    "forced": "forced by the printed equations",
    "no information": "that carry no information",
    "follows": "that follow from a plain procedure",
    "tuned": "tuned to the number",
}


def summary(rows: Iterable[Row]) -> str:
    """How many of the published polynomials are equal to what is counted, and what that shows.

    >>> from fastdyn.study import counts
    >>> print(summary(counts.table_3_4()))
    16 of 18 polynomials equal: 7 forced by the printed equations, 2 that carry no information, 7 that follow from a \
plain procedure; 2 not equal
    """
    found = labels(rows)
    equal = [f"{found[kind]} {phrase}" for kind, phrase in _PHRASES.items() if found[kind]]
    others = [f"{number} {kind}" for kind, number in found.items() if number and kind not in _PHRASES]
    reproduced, total = sum(found[kind] for kind in _PHRASES), sum(found.values())
    return "; ".join([f"{reproduced} of {total} polynomials equal: {', '.join(equal)}", *others])


@dataclass(frozen=True)
class Text:
    """The cost of a text of this library, in all and by stage; under "" that of what is in no stage."""

    name: str
    what: str
    cost: Cost
    stages: Mapping[str, Cost]


@dataclass(frozen=True)
class Probing:
    """Problem 3.12: the cost of D when it is probed out of Newton-Euler, one run costing N and M.

    Each run is charged as the whole of Newton-Euler for its links, as the problem does, although qd = 0 and qdd = 0 but
    for one joint would save most of it.
    """

    run: Cost  # N multiplications and M additions of one run
    columns: Cost  # n runs: n N and n M
    lower: Cost  # column k from joint k on only, by symmetry: the least in whole runs


@dataclass(frozen=True)
class Figure:
    """A count for six joints from the literature."""

    method: str
    multiplications: int
    additions: int
    source: str
