"""Times predicted from counts: costs fitted to some formulations and sizes, and tried on others that were held out.

The time of a state is taken as a sum: so many nanoseconds for each multiplication, addition, pair of sine and cosine
and byte moved, and some for the state itself. The costs are not negative; the squares of relative errors are least.
They are fitted for each level of cache, on lanes and on scalars, by themselves. The plain model that it is compared
with has one cost: that of an operation.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import median

import numpy as np

from fastdyn.mechanism.parts import Array
from fastdyn.study.timing.results import (
    LABELS,
    PAIRS,
    Amounts,
    Point,
    Timings,
    by_formulation,
    for_good,
    in_level,
    level,
    levels,
)

FEWEST = 8  # points that costs are fitted to: more than there are costs
BY_FORMULATION, BY_SIZE = "the formulation", "the larger sizes"  # what is held out


@dataclass(frozen=True)
class Costs:
    """Nanoseconds of each multiplication, addition, pair of sine and cosine, byte moved, and of a state by itself."""

    kind: str
    level: int
    points: int  # fitted to
    multiplication: float
    addition: float
    sine: float
    byte: float
    state: float

    def time(self, amounts: Amounts) -> float:
        """The time of a state in nanoseconds."""
        own = (self.multiplication, self.addition, self.sine, self.byte, self.state)
        return float(np.dot(own, _columns(amounts)))


@dataclass(frozen=True)
class Prediction:
    """A measured time and what costs predict that were fitted without it: five costs, or a cost of operations alone."""

    held_out: str
    formulation: str
    label: str
    n: int
    kind: str
    level: int
    measured: float
    predicted: float
    plain: float

    @property
    def factor(self) -> float:
        """Predicted over measured, or its inverse, whichever is above 1."""
        return _factor(self.predicted, self.measured)

    @property
    def plain_factor(self) -> float:
        """The same for the plain model."""
        return _factor(self.plain, self.measured)


@dataclass(frozen=True)
class Errors:
    """Factors by which predictions were off: of the five costs, and of the plain model; label: "all" for the sum."""

    held_out: str
    label: str
    kind: str
    points: int
    median: float
    worst: float
    worst_n: int
    plain_median: float
    plain_worst: float


@dataclass(frozen=True)
class Crossover:
    """The smallest timed size from which one formulation is faster at all larger sizes; None for never.

    counted: by operations; predicted: by costs that were fitted without either; measured: in each pass. largest: of the
    sizes, which are those where the memory that both touch stays within two levels of cache.
    """

    slower: str
    quicker: str
    kind: str
    largest: int
    counted: int | None
    predicted: int | None
    measured: tuple[int | None, ...]


def _columns(amounts: Amounts) -> tuple[float, ...]:
    return amounts.multiplications, amounts.additions, amounts.sines, amounts.moved, 1.0


def _factor(a: float, b: float) -> float:
    return max(a / b, b / a)


# ---------------------------------------------------------------------------------------------- fits


def non_negative(A: Array, b: Array) -> Array:
    """The x >= 0 that makes |A x - b| least.

    Its nonzero entries are the least-squares solution for their columns alone, so that trying all sets of columns finds
    it: 31 for 5 columns.

    >>> non_negative(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), np.array([2.0, -1.0, 1.0])).round(9)
    array([1.5, 0. ])
    """
    columns = A.shape[1]
    best, least = np.zeros(columns), float(b @ b)
    for size in range(1, columns + 1):
        for chosen in combinations(range(columns), size):
            x = np.linalg.lstsq(A[:, chosen], b, rcond=None)[0]
            left = A[:, chosen] @ x - b
            if (x >= 0).all() and left @ left < least:
                best, least = np.zeros(columns), float(left @ left)
                best[list(chosen)] = x
    return best


def fit(points: Sequence[Point], kind: str, of: int) -> Costs | None:
    """The costs that fit the median times of some points best; None for fewer than FEWEST points."""
    if len(points) < FEWEST:
        return None
    A = np.array([_columns(p.amounts) for p in points]) / np.array([[p.ns(kind).median] for p in points])
    size = A.max(axis=0)  # columns of like size, so that the least-squares solver drops none as too small
    found = non_negative(A / size, np.ones(len(points))) / size
    return Costs(kind, of, len(points), *map(float, found))


def fit_plain(points: Sequence[Point], kind: str, of: int) -> Costs:
    """The same with one cost, that of an operation."""
    x = np.array([p.amounts.operations / p.ns(kind).median for p in points])
    cost = float(x.sum() / (x @ x))
    return Costs(kind, of, len(points), cost, cost, 0.0, 0.0, 0.0)


def costs(timings: Timings) -> tuple[Costs, ...]:
    """The costs of each kind and level, fitted to all points."""
    found = [fit(own, kind, of) for kind, of, own in _groups(timings)]
    return tuple(each for each in found if each)


def _groups(timings: Timings) -> list[tuple[str, int, list[Point]]]:
    """The points of each kind and level of cache."""
    points, host = timings.points, timings.host
    return [
        (kind, of, in_level(points, kind, host, of))
        for kind in ("scalars", "lanes")
        for of in levels(points, kind, host)
    ]


# ---------------------------------------------------------------------------------------------- what is held out


def predictions(timings: Timings) -> tuple[Prediction, ...]:
    """Every formulation predicted from the others, and the larger half of the sizes from the smaller half."""
    found: list[Prediction] = []
    for kind, of, own in _groups(timings):
        for name in by_formulation(own):
            rest, held = [p for p in own if p.formulation != name], [p for p in own if p.formulation == name]
            found += _predicted(BY_FORMULATION, kind, of, rest, held)
        sizes = sorted({p.n for p in own})
        middle = sizes[(len(sizes) - 1) // 2]
        small, large = [p for p in own if p.n <= middle], [p for p in own if p.n > middle]
        found += _predicted(BY_SIZE, kind, of, small, large)
    return tuple(found)


def _predicted(held_out: str, kind: str, of: int, known: list[Point], held: list[Point]) -> list[Prediction]:
    fitted = fit(known, kind, of)
    if fitted is None:
        return []
    plain = fit_plain(known, kind, of)
    return [
        Prediction(
            held_out, p.formulation, p.label, p.n, kind, of, p.ns(kind).median, fitted.time(p.amounts),
            plain.time(p.amounts),
        )
        for p in held
    ]  # fmt: skip


def errors(found: Iterable[Prediction]) -> tuple[Errors, ...]:
    """Of each formulation, after those of all together, for each kind and what was held out."""
    groups: dict[tuple[str, str, str], list[Prediction]] = {}
    for p in found:
        for label in ("all", p.label):
            groups.setdefault((p.held_out, p.kind, label), []).append(p)
    ordered = sorted(groups, key=lambda key: (key[0], key[1] != "scalars", key[2] != "all"))
    return tuple(_errors(*key, groups[key]) for key in ordered)


def _errors(held_out: str, kind: str, label: str, found: list[Prediction]) -> Errors:
    worst = max(found, key=lambda p: p.factor)
    return Errors(
        held_out, label, kind, len(found), median(p.factor for p in found), worst.factor, worst.n,
        median(p.plain_factor for p in found), max(p.plain_factor for p in found),
    )  # fmt: skip


# ---------------------------------------------------------------------------------------------- crossovers


def crossovers(timings: Timings) -> tuple[Crossover, ...]:
    """Of PAIRS, on scalars and on lanes."""
    own = {name: {p.n: p for p in found} for name, found in by_formulation(timings.points).items()}
    found = []
    for slower, quicker in PAIRS:
        a, b = own.get(slower, {}), own.get(quicker, {})
        for kind in ("scalars", "lanes"):
            sizes = [n for n in sorted(a.keys() & b.keys()) if _near(timings, kind, a[n], b[n])]
            if sizes:
                found.append(_crossover(timings, kind, {n: a[n] for n in sizes}, {n: b[n] for n in sizes}))
    return tuple(found)


def _near(timings: Timings, kind: str, *points: Point) -> bool:
    return all(level(p, kind, timings.host) <= 2 for p in points)


def _crossover(timings: Timings, kind: str, a: dict[int, Point], b: dict[int, Point]) -> Crossover:
    slower, quicker = next(iter(a.values())).formulation, next(iter(b.values())).formulation
    others = [p for p in timings.points if p.formulation not in (slower, quicker)]
    fitted = {
        of: fit(in_level(others, kind, timings.host, of), kind, of) for of in levels(timings.points, kind, timings.host)
    }

    def predicted(p: Point) -> float | None:
        known = fitted[level(p, kind, timings.host)]
        return None if known is None else known.time(p.amounts)

    expected = {n: (predicted(a[n]), predicted(b[n])) for n in a}
    passes = range(len(next(iter(a.values())).ns(kind).passes))
    return Crossover(
        LABELS[slower], LABELS[quicker], kind, max(a),
        for_good({n: b[n].amounts.operations < a[n].amounts.operations for n in a}),
        for_good({n: y < x for n, (x, y) in expected.items() if x is not None and y is not None}),
        tuple(for_good({n: b[n].ns(kind).passes[k] < a[n].ns(kind).passes[k] for n in a}) for k in passes),
    )  # fmt: skip
