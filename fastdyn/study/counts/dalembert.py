"""What the counts of generalized d'Alembert in Table 3.5 may pay for: a family of procedures, and the nearest of them.

The procedure that the table counts is in Fig. 3.9, which is missing from the copy used here. Between the equations as
they are printed (formulations/generalized_dalembert_literal.py, order n^5) and each sum computed once
(formulations/generalized_dalembert.py) there are many procedures: at each stage some vectors are kept and some computed
again. `family` has the choices as data. Every combination is a procedure that gives D, h and c, and its cost is the sum
of the costs of its stages. A stage of generalized_dalembert.py costs what is counted there; the cost of another way is
the number of times that a loop runs times the vector operations in it, a sum of k terms taking k - 1 additions. The
first ways of all stages are those of generalized_dalembert.py.

>>> found = search()
>>> found.members, found.equal
(151165440, (2239488, 1128, 8, 0))
>>> print(PUBLISHED - found.nearest.cost)
73; 42
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

from fastdyn.polynomials import Polynomial
from fastdyn.study.counts import texts
from fastdyn.study.counts.costs import NOTHING, Cost, Label, Reading, Row, summed

n = Polynomial((0, 1))
SQUARE = n * n  # pairs of joints
PAIRS = Fraction(1, 2) * n * (n + 1)  # i <= s
LOWER = Fraction(1, 2) * n * (n - 1)  # k < s
TRIPLES = Fraction(1, 6) * n * (n + 1) * (n + 2)  # i <= j <= s
ALL_TRIPLES = Fraction(1, 6) * n * (n + 1) * (2 * n + 1)  # i, j <= s
ONE = Polynomial((1,))

# multiplications and additions of vector operations
Operation = tuple[int, int]
DOT, CROSS, MATRIX, SCALE, PLUS, PRODUCT, SUM = (3, 2), (6, 3), (9, 6), (3, 0), (0, 3), (1, 0), (0, 1)

PUBLISHED = Cost(Polynomial.of("13/6", "105/2", "268/3", 69), Polynomial.of("4/3", 44, "146/3", 45))
POWERS = (3, 2, 1, 0)


def times(count: Polynomial, *operations: Operation) -> Cost:
    """The cost of some operations, each of them `count` times.

    >>> print(times(n, CROSS, DOT))
    9 n; 5 n
    """
    return Cost(sum(a for a, _ in operations) * count, sum(b for _, b in operations) * count)


# ------------------------------------------------------------------------------------------ the family


@dataclass(frozen=True)
class Stage:
    """A part of the computation, and the cost of each way to do it."""

    name: str
    ways: Mapping[str, Cost]


@cache
def family() -> tuple[Stage, ...]:
    """The choices, stage by stage."""
    s = texts.formulation("generalized_dalembert").stages
    first = times(ONE, MATRIX, MATRIX, MATRIX)
    join = times(SQUARE, SUM)
    return (
        Stage(
            "rotations, axes and positions, (3.4-3)",
            {
                "computed, the first link's rotation without a product": s["geometry"],
                "computed, with a product for the first link too": s["geometry"] + first,
                "given": NOTHING,
            },
        ),
        Stage(
            "^sR_0 z_j, (3.4-2)",
            {
                "for j up to s": s["own_axes"],
                "for j below s, as z_s is constant in frame s": times(LOWER, MATRIX),
                "for all n^2 pairs": times(SQUARE, MATRIX),
            },
        ),
        Stage("I_s ^sR_0 z_j", {"for j up to s": s["turned_axes"], "for all n^2 pairs": times(SQUARE, MATRIX)}),
        Stage(
            "z_j x (r_s - p_j), (3.4-7)",
            {"for j up to s": s["sweeps"], "for all n^2 pairs": times(SQUARE, PLUS, CROSS)},
        ),
        Stage("sums of D, (3.4-25)", dict(_inertia())),
        Stage(
            "D_rot + D_tran", {"for all n^2 pairs": join, "for i up to j": times(PAIRS, SUM), "not counted": NOTHING}
        ),
        Stage(
            "w_k and its Coriolis sum, frame 0",
            {
                "running sums": s["base_velocities"],
                "summed again for every k": _rates_again() + times(LOWER, CROSS),
                "the inner sum too, for every p": _rates_again() + times(LOWER, CROSS, SCALE) + _inner_again(),
            },
        ),
        Stage("h_tran, (3.4-26)", dict(_translational())),
        Stage(
            "w_s and its Coriolis sum, frame s",
            {
                "running sums": s["own_velocities"],
                "the inner sum again for every j": _rates_again() + times(LOWER, CROSS, SCALE) + _inner_again(),
                "rotated from frame 0": times(n, MATRIX, MATRIX),
            },
        ),
        Stage("h_rot, (3.4-27)", dict(_rotational())),
        Stage(
            "c, (3.4-28)",
            {
                "as printed": s["gravity_torques"],
                "as printed, gravity along one axis": times(PAIRS, PLUS, SCALE) + times(LOWER, PLUS)
                + times(n, PRODUCT, PRODUCT, SUM, PRODUCT),
                "from the vectors of (3.4-7)": times(PAIRS, SCALE) + times(LOWER, PLUS) + times(n, DOT),
            },
        ),
        Stage(
            "tau, (3.4-24)",
            {"computed": s["torques"] - join, "the products D qdd": times(SQUARE, PRODUCT), "not counted": NOTHING},
        ),
    )  # fmt: skip


def _inertia() -> Iterator[tuple[str, Cost]]:
    """D_ij from the vectors above: two sums, so that each s takes two additions, or one if the other is not counted."""
    vectors = {
        "": (DOT, DOT),
        ", one cross product again": (CROSS, DOT, DOT),
        ", one cross product and its difference again": (CROSS, PLUS, DOT, DOT),
        ", I_s z_j again": (MATRIX, DOT, DOT),
        ", all vectors again": (MATRIX, MATRIX, MATRIX, CROSS, CROSS, PLUS, PLUS, DOT, DOT),
    }
    for half, terms, sums in (("for i up to j", TRIPLES, PAIRS), ("for all i, j", ALL_TRIPLES, SQUARE)):
        masses = {"times m_s": times(terms, PRODUCT), "m_s at (3.4-7)": times(PAIRS, SCALE)}
        additions = {
            "": times(terms - sums, SUM, SUM),
            ", one addition for each s": times(terms, SUM),
            ", one addition for each further s": times(terms - sums, SUM),
        }
        for (again, operations), (where, mass), (how, added) in product(
            vectors.items(), masses.items(), additions.items()
        ):
            yield f"{half}{again}, {where}{how}", times(terms, *operations) + mass + added


def _translational() -> Iterator[tuple[str, Cost]]:
    """h_tran: accelerations of the links below s and of its own centre, their sums, and products with (3.4-7)."""
    nested = (CROSS, CROSS, CROSS, PLUS)  # w x (w x a) + b x a
    expanded = (DOT, SCALE, DOT, SCALE, PLUS, CROSS, PLUS)  # w (w . a) - a (w . w) + b x a, as in (3.3-34)
    below = {
        "once for each link": (n - 1, n - 1, n),
        "once for each link, also the last": (n, n, n),
        "again for every s": (LOWER, Fraction(1, 2) * (n - 1) * (n - 2), n - 1),
    }  # accelerations, additions of their sums, additions of the own part
    own = {"": n, ", own again for every i": PAIRS}
    for (how, operations), (lower, (accelerations, sums, joins)), (again, centres) in product(
        {"": nested, ", by (3.3-34)": expanded}.items(), below.items(), own.items()
    ):
        vectors = times(accelerations, *operations) + times(sums, PLUS) + times(centres, *operations)
        forces = centres + n - 1  # two products for each s but the first
        one = times(PAIRS, DOT) + times(LOWER, SUM) + times(joins if centres == n else PAIRS - 1, PLUS)
        two = times(2 * PAIRS - 1, DOT) + times(2 * PAIRS - 1 - n, SUM)
        name = f"{lower}{again}{how}"
        yield f"{name}, m_s times the acceleration", vectors + one + times(centres, SCALE)
        yield f"{name}, m_s times the torque", vectors + one + times(PAIRS, PRODUCT)
        yield f"{name}, two sums, m_s times the accelerations", vectors + two + times(forces, SCALE)
        yield f"{name}, two sums, m_s times the torques", vectors + two + times(2 * PAIRS - 1, PRODUCT)


def _rotational() -> Iterator[tuple[str, Cost]]:
    """h_rot: products with I_s, and for each pair a cross product and two dot products."""
    rest = times(PAIRS, DOT, CROSS, DOT, SUM) + times(LOWER, SUM)
    first = {
        "z_i^T I_s from D": NOTHING,
        "I_s times the Coriolis sum once for each link": times(n, MATRIX),
        "I_s times the Coriolis sum again for every i": times(PAIRS, MATRIX),
    }
    second = {"I_s w_s once for each link": times(n, MATRIX), "I_s w_s again for every i": times(PAIRS, MATRIX)}
    for (a, x), (b, y) in product(first.items(), second.items()):
        yield f"{a}, {b}", x + y + rest


def _rates_again() -> Cost:
    """qd_p z_p summed from p = 1 for every k, and the sum of the Coriolis terms without their cross products."""
    return times(PAIRS, SCALE) + times(LOWER, PLUS) + times(Fraction(1, 2) * (n - 1) * (n - 2), PLUS)


def _inner_again() -> Cost:
    """Sums of qd z within the Coriolis sum, again for each of its terms."""
    return times(Fraction(1, 6) * (n - 1) * n * (n + 1), SCALE) + times(Fraction(1, 6) * n * (n - 1) * (n - 2), PLUS)


# ------------------------------------------------------------------------------------------ term by term


@dataclass(frozen=True)
class Share:
    """The cost of a stage as a T + b n^2 + c n + d, where T = n (n + 1) (n + 2) / 6 is the number of triples."""

    stage: str
    way: str
    multiplications: tuple[Fraction, ...]
    additions: tuple[Fraction, ...]


def share(stage: str, way: str, cost: Cost) -> Share:
    """The terms of a cost.

    >>> share("", "", PUBLISHED).multiplications == (13, 46, 85, 69)
    True
    """
    return Share(stage, way, _terms(cost.multiplications), _terms(cost.additions))


def _terms(polynomial: Polynomial) -> tuple[Fraction, ...]:
    cubes, squares, joints, constant = (of_power(polynomial, k) for k in POWERS)
    return 6 * cubes, squares - 3 * cubes, joints - 2 * cubes, constant


# ------------------------------------------------------------------------------------------ the search


@dataclass(frozen=True)
class Procedure:
    """A member of the family: the way of each stage, and its cost in all."""

    ways: Mapping[str, str]
    cost: Cost


@dataclass(frozen=True)
class Search:
    """How many members of the family have the published coefficients, in multiplications and additions both.

    equal: of n^3, of n^3 and n^2, of n^3 to n, and all. neighbours: how many of the polynomials around the published
    ones (WINDOW) some member has as well, and how many there are, which says how easily chance finds such a member.
    inertia: the ways to sum D with which n^3 is equal. nearest: of the members equal in
    n^3 and n^2, that which differs least in n, then in the constants. shares: what each of its stages pays for, their
    sum, and the published counts.
    """

    members: int
    equal: tuple[int, ...]
    neighbours: tuple[int, int]
    inertia: tuple[str, ...]
    nearest: Procedure
    shares: tuple[Share, ...]


def procedure(ways: Mapping[str, str]) -> Procedure:
    """The member with the given way of each stage."""
    return Procedure(ways, summed(stage.ways[ways[stage.name]] for stage in family()))


def shares(found: Procedure) -> tuple[Share, ...]:
    """What each stage of a member pays for, what they sum to, and what is published."""
    rows = [share(stage.name, found.ways[stage.name], stage.ways[found.ways[stage.name]]) for stage in family()]
    return (*rows, share("sum", "", found.cost), share("published", "", PUBLISHED))


@cache
def search() -> Search:
    """Compares every member with the published counts, power by power from n^3 down."""
    target = _coefficients(PUBLISHED)
    cubic = [stage for stage in family() if any(_coefficients(cost)[0].any() for cost in stage.ways.values())]
    others = [stage for stage in family() if stage not in cubic]
    rest, sizes = _sums(others), [len(stage.ways) for stage in others]
    equal, near = np.zeros(len(POWERS), dtype=np.int64), []
    inertia: dict[str, None] = {}
    around: set[tuple[int, ...]] = set()
    for choice, chosen in zip(product(*(stage.ways for stage in cubic)), _sums(cubic), strict=True):
        if (chosen[0] == target[0]).all():
            inertia[choice[0]] = None  # the first of these stages is that of the sums of D
            off = np.abs(rest + chosen - target)
            found = np.flatnonzero(~off[:, 1].any(axis=1))
            joints, constants = off[found, 2].sum(axis=1), off[found, 3].sum(axis=1)
            equal += [len(rest), len(found), (joints == 0).sum(), (joints + constants == 0).sum()]
            near += [(*each, choice) for each in zip(joints, constants, found, strict=True)]
            close = rest[(off[:, 1] <= 6 * WINDOW[0]).all(axis=1) & (off[:, 2] <= 6 * WINDOW[1]).all(axis=1)]
            around.update(map(tuple, (close + chosen)[:, 1:3].reshape(-1, 4).tolist()))
    *_, k, choice = min(near, key=lambda each: each[:2])
    ways = dict(zip((stage.name for stage in cubic), choice, strict=True))
    for stage, i in zip(others, np.unravel_index(k, sizes), strict=True):
        ways[stage.name] = list(stage.ways)[i]
    nearest = procedure({stage.name: ways[stage.name] for stage in family()})
    members = math.prod(len(stage.ways) for stage in family())
    neighbours = len(around) - 1, _whole_neighbours() ** 2 - 1  # without the published polynomials themselves
    return Search(members, tuple(equal.tolist()), neighbours, tuple(inertia), nearest, shares(nearest))


WINDOW = 2, 4  # of n^2 and of n: coefficients that differ by no more are near


def _whole_neighbours() -> int:
    """Number of a n^2 + b n in the window that are whole for every n: a and b are whole, or both are halves."""
    squares, joints = (range(-2 * width, 2 * width + 1) for width in WINDOW)
    return sum((a + b) % 2 == 0 for a, b in product(squares, joints))


def _sums(stages: Sequence[Stage]) -> NDArray[np.int64]:
    """Coefficients of every combination of ways, (combinations, powers, 2), in the order of itertools.product."""
    found = np.zeros((1, len(POWERS), 2), dtype=np.int64)
    for stage in stages:
        ways = np.array([_coefficients(cost) for cost in stage.ways.values()])
        found = (found[:, None] + ways).reshape(-1, len(POWERS), 2)
    return found


def _coefficients(cost: Cost) -> NDArray[np.int64]:
    """Six times the coefficients, which are whole: a row for each power, of multiplications and of additions."""
    found = [[6 * of_power(p, k) for p in (cost.multiplications, cost.additions)] for k in POWERS]
    return np.array([[int(value) for value in row] for row in found])


def of_power(polynomial: Polynomial, power: int) -> Fraction:
    """The coefficient of a power of n."""
    given = polynomial.coefficients
    return Fraction(given[power]) if power < len(given) else Fraction(0)


# ------------------------------------------------------------------------------------------ the row of Table 3.5


def row() -> Row:
    """Generalized d'Alembert in Table 3.5: counted is the nearest procedure as a text that runs."""
    found, text = search(), texts.formulation("generalized_dalembert_nearest")
    literal, once = (texts.formulation(f"generalized_dalembert{name}").cost for name in ("_literal", ""))
    (one_mul, one_add), (mul, add) = literal.at(1), PUBLISHED.at(1)
    return Row(
        "3.5", "generalized d'Alembert", PUBLISHED, text.cost - text.stages["torques"],
        "the procedure and its counts are in Fig. 3.9, which is missing from the copy used here, so procedures were "
        f"searched: {found.members:,} ways to compute D, h and c, in which some vectors are kept and some computed "
        f"again. {found.equal[2]} of them, one procedure with three details open, have the published coefficients of "
        f"n^3, n^2 and n in both polynomials; none has the constants. That may be chance: {found.neighbours[0]} of the "
        f"{found.neighbours[1]:,} polynomials next to the published ones are met as well, and not all choices of the "
        "search were made before its first results were seen. Counted is that procedure as it runs, without (3.4-24). "
        "With every sum where it is printed, which "
        "is what no effort to optimize would mean, the order is n^5 and not n^3; even so one joint takes "
        f"{one_mul} multiplications and {one_add} additions, where {mul} and {add} are published: the equations have "
        "nothing that the constants 69 and 45 could pay for. The multiplications are hard to read in print: as the "
        "glyphs are they are a whole number only if n is a multiple of 6, so they cannot be a count; the polynomial "
        "given in the literature, compared here, is whole for every n.",
        text.name, tuple(stage for stage in text.stages if stage != "torques"),
        Label(
            "not reproduced",
            "All coefficients but the constant are equal, and 100 multiplications are missing for any n; the procedure "
            "was chosen for that.",
        ),
        Label(
            "not reproduced",
            "8 are published for each triple i <= j <= s. No procedure of the search has 13 multiplications and 8 "
            "additions there unless one of the two additions for each term of D_ij, one for D_rot and one for D_tran, "
            "is not counted.",
        ),
        {"torques": "tau of (3.4-24), with D_rot + D_tran"},
        (
            Reading(
                "the same with one addition for each term of D_ij, n^2 for D_rot + D_tran, and a product for the first "
                "link's rotation",
                found.nearest.cost,
            ),
            Reading("each sum computed once, with (3.4-24)", once),
            Reading("every sum where it is printed, with (3.4-24)", literal),
            Reading(
                "published, as the glyphs are",
                Cost(Polynomial.of("13/6", "108/2", "268/6", 69), PUBLISHED.additions),
            ),
        ),
    )  # fmt: skip
