"""Results of the timings, fitted growth exponents, and crossovers between formulations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from fastdyn.quantities import FORWARD_DYNAMICS, INVERSE_DYNAMICS, MASS_MATRIX
from fastdyn.study import counts

KERNELS = {"rnea": INVERSE_DYNAMICS, "crba": MASS_MATRIX, "aba": FORWARD_DYNAMICS}
LABELS = {
    "lagrange_euler": "Lagrange-Euler",
    "lagrange_euler_table": "Lagrange-Euler, as Table 3.1 counts it",
    "christoffel": "Christoffel symbols",
    "stacked_screws": "screws, stacked",
    "generalized_dalembert": "generalized d'Alembert",
    "generalized_dalembert_literal": "generalized d'Alembert, every sum as printed",
    "generalized_dalembert_nearest": "generalized d'Alembert, nearest to Table 3.5",
    "probing": "probed Newton-Euler",
    "kane": "Kane",
    "recursive_lagrange": "recursive Lagrange",
    "screws": "screws, recursive",
    "newton_euler_base": "Newton-Euler, base frame",
    "newton_euler_link": "Newton-Euler, link frames",
    "newton_euler_frugal": "Newton-Euler, frugal",
    "rnea": "fastdyn inverse dynamics",
    "crba": "fastdyn mass matrix",
    "aba": "fastdyn forward dynamics",
}

# the one with the higher power of n first
PAIRS = (
    ("lagrange_euler", "generalized_dalembert"),
    ("lagrange_euler", "recursive_lagrange"),
    ("lagrange_euler", "christoffel"),
    ("christoffel", "generalized_dalembert"),
    ("christoffel", "stacked_screws"),
    ("generalized_dalembert", "probing"),
    ("generalized_dalembert", "recursive_lagrange"),
    ("generalized_dalembert", "newton_euler_link"),
    ("stacked_screws", "screws"),
    ("kane", "recursive_lagrange"),
    ("kane", "newton_euler_base"),
    ("kane", "newton_euler_link"),
    ("newton_euler_link", "rnea"),
    ("crba", "aba"),
)

OTHER = ("crba", "aba")  # not inverse dynamics
USUAL = 6  # joints of the usual arm
UPPER = 4  # growth is fitted from a quarter of the largest size on


@dataclass(frozen=True)
class Point:
    """A formulation at one size: best time in nanoseconds per state, and operations per state."""

    formulation: str
    label: str
    n: int
    ns: float  # on lanes
    ns_one: float  # on scalars, one state after the other
    multiplications: int
    additions: int

    @property
    def operations(self) -> int:
        """Multiplications and additions."""
        return self.multiplications + self.additions


@dataclass(frozen=True)
class Growth:
    """Exponents of n by least squares on logarithms, from n = first to last; `predicted`: of the operation counts.

    `exponent` is for one state at a time, on scalars, `exponent_batch` for a batch, on lanes, which take eight times as
    much memory. plus_minus: 95 % confidence, from the scatter of the points about the straight line.
    """

    formulation: str
    label: str
    exponent: float
    plus_minus: float
    exponent_batch: float
    plus_minus_batch: float
    first: int
    last: int
    predicted: float


@dataclass(frozen=True)
class Crossover:
    """The smallest n from which one formulation is faster at all larger n: 1 for always, None for never.

    by: "time", among the measured sizes, or "operations", among all n up to the largest measured size.
    """

    slower: str
    quicker: str
    n: int | None
    by: str


@dataclass(frozen=True)
class Then:
    """A published figure beside today's, for six joints."""

    what: str
    published: str
    year: str
    source: str
    today: str
    ratio: str


@dataclass(frozen=True)
class Timings:
    """Results of one run."""

    points: tuple[Point, ...]
    growth: tuple[Growth, ...]
    crossovers: tuple[Crossover, ...]
    history: tuple[Then, ...]
    notes: tuple[str, ...]
    samples: str


@cache
def operation_counts() -> dict[str, counts.Cost]:
    """Operation counts of every formulation and kernel that is timed, as polynomials in n."""
    costs = {text.name: text.cost for text in counts.formulations() + counts.kernels()}
    return {name: costs[KERNELS[name].name if name in KERNELS else name] for name in LABELS}


# ---------------------------------------------------------------------------------------------- growth and crossovers

# Student's t, 97.5 %, by degrees of freedom
_STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179)


def student(freedom: int) -> float:
    """Half-width of the 95 % confidence interval, in standard errors.

    >>> round(student(5), 2), round(student(60), 2)
    (2.57, 2.0)
    """
    if freedom <= len(_STUDENT):
        return _STUDENT[freedom - 1]
    z = 1.959964
    return z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)


def fit(sizes: Sequence[int], values: Sequence[float]) -> tuple[float, float]:
    """Exponent of a power law by least squares on logarithms, and its 95 % confidence, from three values or more.

    >>> [round(x, 9) for x in fit([1, 2, 4, 8], [3.0, 12.0, 48.0, 192.0])]
    [2.0, 0.0]
    """
    x, y = np.log(sizes), np.log(values)
    x, y = x - x.mean(), y - y.mean()
    slope = float(x @ y / (x @ x))
    left = y - slope * x
    freedom = len(x) - 2
    return slope, float(student(freedom) * np.sqrt(left @ left / freedom / (x @ x)))


def growth(points: Iterable[Point]) -> tuple[Growth, ...]:
    """Growth of every formulation with at least three sizes from a quarter of its largest on."""
    found = []
    for own in by_formulation(points).values():
        upper = [p for p in own if UPPER * p.n >= own[-1].n]
        if len(upper) >= 3:
            sizes = [p.n for p in upper]
            one, batch = fit(sizes, [p.ns_one for p in upper]), fit(sizes, [p.ns for p in upper])
            predicted, _ = fit(sizes, [float(p.operations) for p in upper])
            found.append(Growth(own[0].formulation, own[0].label, *one, *batch, sizes[0], sizes[-1], predicted))
    return tuple(found)


def by_formulation(points: Iterable[Point]) -> dict[str, list[Point]]:
    """The points of each formulation, smallest n first."""
    found: dict[str, list[Point]] = {}
    for point in sorted(points, key=lambda p: p.n):
        found.setdefault(point.formulation, []).append(point)
    return {name: found[name] for name in LABELS if name in found}


def crossovers(points: Iterable[Point]) -> tuple[Crossover, ...]:
    """Crossovers of PAIRS, by operations and by time, at the sizes that both were timed at."""
    own = {name: {p.n: p for p in found} for name, found in by_formulation(points).items()}
    found = []
    for slower, quicker in PAIRS:
        a, b = own.get(slower, {}), own.get(quicker, {})
        sizes = sorted(a.keys() & b.keys())
        if not sizes:
            continue
        every = range(1, sizes[-1] + 1)
        many, few = operation_counts()[slower], operation_counts()[quicker]
        for by, ahead in (
            ("operations", {n: sum(few.at(n)) < sum(many.at(n)) for n in every}),
            ("time", {n: b[n].ns < a[n].ns for n in sizes}),
        ):
            found.append(Crossover(LABELS[slower], LABELS[quicker], for_good(ahead), by))
    return tuple(found)


def for_good(ahead: Mapping[int, bool]) -> int | None:
    """The smallest n from which all values are true.

    >>> for_good({1: True, 2: False, 3: True, 4: True})
    3
    """
    since = None
    for n in sorted(ahead, reverse=True):
        if not ahead[n]:
            break
        since = n
    return since
