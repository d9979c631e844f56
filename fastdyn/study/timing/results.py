"""Times of all passes as plain data, and what follows from them: growth with n, comparisons, doubts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from fastdyn.quantities import FORWARD_DYNAMICS, INVERSE_DYNAMICS, MASS_MATRIX
from fastdyn.scalars import LANES
from fastdyn.study.timing.host import Host

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

KINDS = {
    "lanes": "throughput on lanes", "scalars": "throughput on scalars", "latency": "latency of one state",
}  # fmt: skip

# the three families of the published tables: the first of each stands for it, the first two are in figures
FAMILIES = {
    "Lagrange-Euler": ("lagrange_euler", "lagrange_euler_table"),
    "generalized d'Alembert": (
        "generalized_dalembert", "generalized_dalembert_literal", "generalized_dalembert_nearest",
    ),
    "Newton-Euler": ("newton_euler_link", "rnea", "newton_euler_frugal", "newton_euler_base"),
}  # fmt: skip

# the one with the higher power of n, or with more operations, first
PAIRS = (
    ("lagrange_euler", "generalized_dalembert"),
    ("lagrange_euler", "recursive_lagrange"),
    ("lagrange_euler", "christoffel"),
    ("lagrange_euler_table", "lagrange_euler"),
    ("christoffel", "generalized_dalembert"),
    ("christoffel", "stacked_screws"),
    ("generalized_dalembert_literal", "lagrange_euler"),
    ("generalized_dalembert_literal", "generalized_dalembert"),
    ("generalized_dalembert_nearest", "generalized_dalembert"),
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
UPPER = 4  # growth is fitted from a quarter of the largest size of a range on
FEWEST = 3  # sizes of a fit
EXPONENTS = 0.05  # spread up to which an exponent is worth a headline
RATIOS = 0.1  # the same for a ratio, relative


# ---------------------------------------------------------------------------------------------- data


@dataclass(frozen=True)
class Spread:
    """A figure of every pass: the median stands for all, the interval is from the least to the most.

    >>> print(Spread((2.0, 2.5, 2.1)))
    2.1 (2 to 2.5)
    """

    passes: tuple[float, ...]

    @property
    def median(self) -> float:
        """The middle one of all passes."""
        return median(self.passes)

    @property
    def least(self) -> float:
        """The smallest."""
        return min(self.passes)

    @property
    def most(self) -> float:
        """The largest."""
        return max(self.passes)

    def within(self, width: float) -> bool:
        """Whether there are several passes, and they differ by this or less."""
        return len(self.passes) > 1 and self.most - self.least <= width

    def __str__(self) -> str:
        return f"{self.median:.3g} ({self.least:.3g} to {self.most:.3g})"


@dataclass(frozen=True)
class Amounts:
    """What a text does for one state: operations, pairs of sine and cosine, bytes moved and bytes of memory touched.

    Moved: values that the text loads from its buffers or stores there, and those copied in and out, at 8 bytes. Memory:
    all of these that lie at different addresses, scratch, inputs and results.
    """

    multiplications: int
    additions: int
    sines: int
    moved: int
    memory: int

    @property
    def operations(self) -> int:
        """Multiplications and additions."""
        return self.multiplications + self.additions


@dataclass(frozen=True)
class Point:
    """A formulation at one size: nanoseconds per state in each pass, the best turn of the pass.

    lanes, scalars: states that do not depend on each other, so that the processor overlaps them; latency, where it was
    measured: each state takes the torques of the one before as its joint positions.
    """

    formulation: str
    label: str
    n: int
    amounts: Amounts
    lanes: Spread
    scalars: Spread
    latency: Spread | None = None

    def ns(self, kind: str) -> Spread:
        """The times of one kind, which must have been measured."""
        found = getattr(self, kind)
        if not isinstance(found, Spread):
            raise ValueError(f"kind is {kind!r}: not measured for {self.formulation}, {self.n} joints")
        return found


@dataclass(frozen=True)
class Timings:
    """What was measured, in one or more passes, and how.

    simplified: D qdd + c by Lagrange-Euler for six joints, on lanes and on scalars; empty if six were not timed.
    """

    points: tuple[Point, ...]
    simplified: tuple[Spread, ...]
    host: Host
    how: Mapping[str, str]


def by_formulation(points: Iterable[Point]) -> dict[str, list[Point]]:
    """The points of each formulation, smallest n first."""
    found: dict[str, list[Point]] = {}
    for point in sorted(points, key=lambda p: p.n):
        found.setdefault(point.formulation, []).append(point)
    return {name: found[name] for name in LABELS if name in found} | found


# ---------------------------------------------------------------------------------------------- levels of cache


def level(p: Point, kind: str, host: Host) -> int:
    """The nearest level of cache that holds the memory that a state, or a block of lanes, touches; 0 if not known.

    Beyond the last level: its number plus one.
    """
    size = p.amounts.memory * (LANES if kind == "lanes" else 1)
    return next((c.level for c in host.caches if size <= c.bytes), len(host.caches) and host.caches[-1].level + 1)


def in_level(points: Iterable[Point], kind: str, host: Host, of: int) -> list[Point]:
    """Those whose memory that level of cache holds, and no nearer one."""
    return [p for p in points if level(p, kind, host) == of]


def levels(points: Iterable[Point], kind: str, host: Host) -> list[int]:
    """The levels of cache up to the second, those whose latency the processor hides well, that occur; or 0, unknown."""
    return sorted({found for p in points if (found := level(p, kind, host)) <= 2})


# ---------------------------------------------------------------------------------------------- growth


@dataclass(frozen=True)
class Growth:
    """The exponent of n, fitted to the times of each pass over a range of n within one level of cache (0: not known).

    counted: the exponent of the operation counts over the same sizes.
    """

    formulation: str
    label: str
    kind: str
    level: int
    first: int
    last: int
    exponent: Spread
    counted: float


def slope(sizes: Sequence[int], values: Sequence[float]) -> float:
    """Exponent of a power law by least squares on logarithms.

    >>> round(slope([1, 2, 4, 8], [3.0, 12.0, 48.0, 192.0]), 9)
    2.0
    """
    x, y = np.log(sizes), np.log(values)
    x = x - x.mean()
    return float(x @ y / (x @ x))


def growth(timings: Timings) -> tuple[Growth, ...]:
    """Of every formulation, kind and level of cache with FEWEST sizes or more in the upper part of its range."""
    found = []
    for own in by_formulation(timings.points).values():
        for kind in ("scalars", "lanes"):
            for of in levels(own, kind, timings.host):
                inside = in_level(own, kind, timings.host, of)
                upper = [p for p in inside if UPPER * p.n >= inside[-1].n]
                if len(upper) >= FEWEST:
                    found.append(_grown(upper, kind, of))
    return tuple(found)


def _grown(points: list[Point], kind: str, of: int) -> Growth:
    sizes = [p.n for p in points]
    times = zip(*(p.ns(kind).passes for p in points), strict=True)
    exponent = Spread(tuple(slope(sizes, one) for one in times))
    counted = slope(sizes, [float(p.amounts.operations) for p in points])
    return Growth(points[0].formulation, points[0].label, kind, of, sizes[0], sizes[-1], exponent, counted)


def furthest(found: Iterable[Growth], formulation: str, kind: str) -> Growth | None:
    """The growth of a formulation in the range with the largest n."""
    own = [g for g in found if g.formulation == formulation and g.kind == kind]
    return max(own, key=lambda g: g.last, default=None)


# ---------------------------------------------------------------------------------------------- comparisons


@dataclass(frozen=True)
class Comparison:
    """How many times the operations and the time of one formulation another takes."""

    slower: str
    quicker: str
    kind: str
    n: int
    operations: float
    time: Spread


def compare(timings: Timings, slower: str, quicker: str, kind: str, n: int = USUAL) -> Comparison | None:
    """Two formulations at one size, pass by pass; None if one was not timed."""
    at = {p.formulation: p for p in timings.points if p.n == n}
    if slower not in at or quicker not in at or getattr(at[slower], kind) is None or getattr(at[quicker], kind) is None:
        return None
    a, b = at[slower], at[quicker]
    ratio = Spread(tuple(x / y for x, y in zip(a.ns(kind).passes, b.ns(kind).passes, strict=True)))
    return Comparison(a.label, b.label, kind, n, a.amounts.operations / b.amounts.operations, ratio)


def classic(timings: Timings) -> Comparison | None:
    """Lagrange-Euler over Newton-Euler for six joints: the one figure for this comparison.

    The texts are those of (3.2-24) to (3.2-34) and of Table 3.3, on scalars, where an operation is an instruction.
    """
    return compare(timings, "lagrange_euler", "newton_euler_link", "scalars")


def for_good(ahead: dict[int, bool]) -> int | None:
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


# ---------------------------------------------------------------------------------------------- doubts


def doubts(timings: Timings) -> tuple[str, ...]:
    """Sentences for the top of the page: what makes the figures of this run less sure."""
    found = list(timings.host.doubts())
    passes = len(timings.points[0].lanes.passes) if timings.points else 0
    if passes < 2:
        found.append(
            "The times are those of one pass only: their spread is not known, so no headline is drawn from them."
        )
    wide = [g for g in growth(timings) if passes > 1 and not g.exponent.within(EXPONENTS)]
    if wide:
        found.append(
            f"The interval of {len(wide)} of {len(growth(timings))} exponents is wider than {EXPONENTS:g}: "
            f"{'; '.join(dict.fromkeys(g.label for g in wide))}."
        )
    ratio = classic(timings)
    if ratio and passes > 1 and not ratio.time.within(RATIOS * ratio.time.median):
        found.append(f"The interval of {ratio.slower} over {ratio.quicker} is wider than {100 * RATIOS:g} %.")
    return tuple(found)
