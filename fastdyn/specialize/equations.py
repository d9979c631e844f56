"""Equations of motion of a robot as formulas, with SymPy (extra `symbols`).

A text by screws (formulations/screws.py) runs on polynomials in letters, sines and cosines and gives each link's
velocity for each coordinate, (w_a, v_a) along the link's axes at its centre of mass. Then

    M_ab = sum over links of m v_a . v_b + w_a . I w_b
    c_abp = (dM_pb/dq_a + dM_pa/dq_b - dM_ab/dq_p) / 2,    C_pb = sum over a of c_abp qd_a
    V = sum over links of -m g . r,                        g_p = dV/dq_p
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from fastdyn.errors import ArgumentError, FormulationError, MissingExtraError
from fastdyn.formulations import screw_rows, screws
from fastdyn.mechanism.description import Mechanism
from fastdyn.mechanism.parts import Array
from fastdyn.scalars.vectors import matrix_vector, plus
from fastdyn.specialize.letters import ROUNDING, SIX, Alphabet, Letter, Rows, rows
from fastdyn.specialize.polynomials import Polynomial, Wave, is_coordinate

SMALL = 4  # coordinates: what more have is refused unless asked for
TERMS = 40  # of a sum: longer ones are not factored

Vector = tuple[Polynomial, Polynomial, Polynomial]
Share = tuple[Polynomial, Polynomial, Polynomial]  # a number of the robot, and two factors: a term of a sum


def sympy(wanted_by: str = "robot.equations()") -> Any:
    """SymPy, or an error that names the extra."""
    try:
        import sympy as found  # type: ignore[import-untyped]
    except ImportError as problem:
        raise MissingExtraError(f"{wanted_by} needs SymPy, which is missing: pip install fastdyn[symbols]") from problem
    return found


# ---------------------------------------------------------------------------------------------- links


class Moving:
    """A link in motion: its velocity for each coordinate, along its own axes, at its centre of mass."""

    def __init__(self, P: Array, i: int, turning: list[Vector], moving: list[Vector], down: Vector, base: Vector) -> None:
        self.mass, self.inertia = P[screw_rows.MASS, i], {place: P[row, i] for row, place in SIX.items()}
        self.w, self.v = turning, moving
        self.down = down  # gravity
        self.base = base  # the base's origin, from the centre of mass

    def inertia_shares(self, a: int, b: int) -> Iterable[Share]:
        """m v_a . v_b + w_a . I w_b."""
        for axis in range(3):
            yield self.mass, self.v[a][axis], self.v[b][axis]
        for (x, y), moment in self.inertia.items():
            yield moment, self.w[a][x], self.w[b][y]
            if x != y:
                yield moment, self.w[a][y], self.w[b][x]

    def christoffel_shares(self, q: list[str], a: int, b: int, p: int) -> Iterable[Share]:
        """c_abp: of the mass, the acceleration d2r/dq_a dq_b times v_p, along the link's axes, which turn."""
        turned = np.cross(np.array(self.w[a], dtype=object), np.array(self.v[b], dtype=object))
        for axis in range(3):
            yield self.mass, self.v[b][axis].derivative(q[a]) + turned[axis], self.v[p][axis]
        for (x, y), moment in self.inertia.items():
            for one, other in {(x, y), (y, x)}:
                for i, j, by, half in ((p, b, a, 0.5), (p, a, b, 0.5), (a, b, p, -0.5)):
                    yield moment * half, self.w[i][one].derivative(q[by]), self.w[j][other]
                    yield moment * half, self.w[i][one], self.w[j][other].derivative(q[by])

    def gravity_share(self, p: int) -> Share:
        """-m g . v_p."""
        return self.mass, -screws.dot(self.down, self.v[p]), Polynomial.constant(1.0)

    def potential_share(self, lift: Polynomial) -> Share:
        """-m g . r."""
        return self.mass, screws.dot(self.down, self.base) + lift, Polynomial.constant(1.0)


def _links(found: Rows) -> list[Moving]:
    """All links, path by path from the base to each tip: what is beyond a link does not move it."""
    links: dict[int, Moving] = {}
    tips = [i for i in range(len(found.parents)) if i not in found.parents]
    for tip in tips:
        path = [tip]
        while found.parents[path[0]] >= 0:
            path.insert(0, found.parents[path[0]])
        P, q = found.P[:, path], found.q[path]
        n = len(path)
        work = np.array([Polynomial.constant(0.0)] * screws.stacked_screws_rows(n), dtype=object)
        screws.placements(P, q, work)
        for k in range(screws.SLOTS * n):
            work[k] = _clean(work[k])
        screws.inverse(work, n)
        down: Any = tuple(P[screw_rows.GX : screw_rows.GZ + 1, 0])
        base = screws.zero_vector(work)
        for i, link in enumerate(path):
            R, shift = screws.placement(work, i)
            down, base = matrix_vector(R, down), plus(matrix_vector(R, base), shift)
            if link not in links:
                by_joint = [screws.block_times(work, screws.block(n, i, j), screws.screw(P, j)) for j in range(i + 1)]
                columns = np.array(by_joint, dtype=object)  # (joints, 2, 3)
                by_coordinate = np.tensordot(found.G[path[: i + 1]].T, columns, axes=1)
                cleaned = [[tuple(map(_clean, vector)) for vector in pair] for pair in by_coordinate]
                turning, moving = ([pair[k] for pair in cleaned] for k in (0, 1))
                links[link] = Moving(P, i, turning, moving, tuple(map(_clean, down)), tuple(map(_clean, base)))
    return [links[i] for i in range(len(found.parents))]


def _clean(p: Polynomial) -> Polynomial:
    return p.cleaned(4 * ROUNDING * p.size)


# ---------------------------------------------------------------------------------------------- formulas


class Formulas:
    """Polynomials as SymPy expressions, in the shortest of the forms that books use.

    exact: factors are recognised as fractions and their products with square roots of 2, 3 and 6. inertial: the letters
    that sums are collected by.
    """

    def __init__(self, exact: bool, inertial: set[str], simplify: bool) -> None:
        self.sp, self.exact, self.inertial, self.simplify = sympy(), exact, inertial, simplify

    def number(self, x: float) -> Any:
        """A float; whole numbers, and in equations with letters fractions and roots, as such."""
        if abs(x - round(x)) <= ROUNDING * abs(x):
            return self.sp.Integer(round(x))
        for square in (1, 2, 3, 6) if self.exact else ():
            near = Fraction(x / math.sqrt(square)).limit_denominator(1000)
            if abs(float(near) * math.sqrt(square) - x) <= 8 * ROUNDING * abs(x):
                return self.sp.Rational(near.numerator, near.denominator) * self.sp.sqrt(square)
        return self.sp.Float(x)

    def letters(self, names: Iterable[str]) -> Any:
        """The product of some letters."""
        return self.sp.Mul(*map(self.sp.Symbol, names))

    def wave(self, wave: Wave) -> Any:
        """The sine or cosine of a sum of coordinates."""
        angle = self.sp.Add(*(self.number(k) * self.sp.Symbol(name) for name, k in wave[0]))
        return (self.sp.sin if wave[1] else self.sp.cos)(angle)

    def expanded(self, p: Polynomial) -> Any:
        """A sum of waves, each times a sum of products of letters."""
        sums: dict[Wave, list[Any]] = {}
        for (names, wave), value in p.terms.items():
            sums.setdefault(wave, []).append(self.number(value) * self.letters(names))
        return self.sp.Add(*(self._factored(self.sp.Add(*terms)) * self.wave(wave) for wave, terms in sums.items()))

    def sum_of(self, shares: Iterable[Share]) -> Any:
        """The sum of products, collected by inertial letters."""
        groups: dict[Any, list[Share]] = {}
        for number, one, other in shares:
            if one.terms and other.terms:
                for names, rest in number.by_letters(self.inertial):
                    groups.setdefault(names, []).append((rest, one, other))
        by_factor: dict[Any, list[Any]] = {}
        for names, group in groups.items():
            by_factor.setdefault(self._shortest(group), []).append(self.letters(names))
        return self.sp.Add(*(factor * self.sp.Add(*letters) for factor, letters in by_factor.items()))

    def _shortest(self, group: list[Share]) -> Any:
        """Multiplied out and added up, or left as products of velocities: what has fewer operations."""
        total = Polynomial.constant(0.0)
        for rest, one, other in group:
            total = total + rest * one * other
        scale = max(rest.size * one.size * other.size for rest, one, other in group)
        total = total.cleaned(4 * ROUNDING * scale)
        found = self.expanded(total)
        if not self.simplify or not total.terms:
            return found
        products = [self.sp.Mul(*(self._pulled(self.expanded(p)) for p in share)) for share in group]
        return min((found, self._pulled(found), self.sp.Add(*products)), key=self._length)

    def _factored(self, total: Any) -> Any:
        """A sum of products of letters, factored if that makes it shorter."""
        if not (self.simplify and self.exact and total.is_Add and len(total.args) <= TERMS):
            return total
        return total if total.has(self.sp.Float) else min((total, self.sp.factor(total)), key=self._length)

    def _pulled(self, total: Any) -> Any:
        """A sum with what its terms have in common pulled out."""
        return self.sp.factor_terms(total) if self.exact else total

    def _length(self, expression: Any) -> int:
        return int(expression.count_ops())


# ---------------------------------------------------------------------------------------------- equations


class Equations:
    """M(q) qdd + C(q, qd) qd + g(q) + friction = tau of a robot, as SymPy expressions; see robot.equations.

    q, qd, qdd: the symbols; M, C, g, friction, tau: matrices; kinetic, potential: energies; letters: what each letter
    stands for, its unit and the robot's number. Rotors are in M, what is fixed to a link is part of it. C is made of
    Christoffel symbols: dM/dt - 2 C is skew. Each is derived when it is first asked for.
    """

    def __init__(
        self, robot: Mechanism, letters: bool = True, relations: Mapping[str, Any] | None = None, simplify: bool = True
    ) -> None:
        sp = sympy()
        alphabet = Alphabet(letters, _relations(relations or {}))
        self._rows = rows(robot, alphabet)
        self._known = alphabet.related()
        m = self._rows.G.shape[1]
        if not m:
            raise FormulationError(f"{robot.name} has no moving joint: expected at least one")
        if simplify and m > SMALL:
            unit = "joints" if robot.coupling is None else "coordinates"
            raise ArgumentError(
                f"{robot.name} has {m} {unit}: expected at most {SMALL}, whose equations fit on a page; "
                "simplify=False derives those of more, which fill many"
            )
        self.name = robot.name
        self._formulas = Formulas(letters, alphabet.inertial, simplify)
        self._letters = letters
        self._names = [f"q{k + 1}" for k in range(m)]
        self.q, self.qd, self.qdd = (sp.Matrix(sp.symbols([f"{x}{k + 1}" for k in range(m)])) for x in ("q", "qd", "qdd"))

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return len(self._names)

    @cached_property
    def _links(self) -> list[Moving]:
        return _links(self._rows)

    @cached_property
    def M(self) -> Any:
        """The mass matrix, (n, n), with rotors."""

        def entry(a: int, b: int) -> Any:
            one = Polynomial.constant(1.0)
            shares = [share for link in self._links for share in link.inertia_shares(a, b)]
            return self._formulas.sum_of([*shares, (self._rows.armature[a, b], one, one)])

        return self._symmetric(entry)

    @cached_property
    def christoffel(self) -> dict[tuple[int, int, int], Any]:
        """c_abp by (a, b, p), from 0, without those that are zero: tau_p contains c_abp qd_a qd_b."""
        found = {}
        for a, b, p in product(range(self.n), repeat=3):
            if (b, a, p) in found:
                found[a, b, p] = found[b, a, p]
            elif a <= b:
                shares = (share for link in self._links for share in link.christoffel_shares(self._names, a, b, p))
                symbol = self._formulas.sum_of(shares)
                if symbol != 0:
                    found[a, b, p] = symbol
        return found

    @cached_property
    def C(self) -> Any:
        """The Coriolis matrix, (n, n)."""
        found = self._formulas.sp.zeros(self.n, self.n)
        for (a, b, p), symbol in self.christoffel.items():
            found[p, b] += symbol * self.qd[a]
        return found

    @cached_property
    def g(self) -> Any:
        """Gravity forces, (n, 1)."""
        forces = ([link.gravity_share(p) for link in self._links] for p in range(self.n))
        return self._formulas.sp.Matrix([self._formulas.sum_of(shares) for shares in forces])

    @cached_property
    def friction(self) -> Any:
        """Friction forces, (n, 1)."""
        sp, formula = self._formulas.sp, self._formulas.expanded
        total = sp.zeros(self.n, 1)
        for each in self._rows.friction:
            row = sp.Matrix([self._formulas.number(x) for x in each.row])
            rate, plus, minus = row.dot(self.qd), formula(each.plus), formula(each.minus)
            dry = sp.Piecewise((plus, rate > 0), (-minus, rate < 0), (0, True))
            total += row * (formula(each.viscous) * rate + (plus * sp.sign(rate) if plus == minus else dry))
        return total

    @cached_property
    def tau(self) -> Any:
        """M qdd + C qd + g + friction, (n, 1)."""
        total = self.M * self.qdd + self.g + self.friction
        for (a, b, p), symbol in self.christoffel.items():
            if a <= b:
                total[p] += (1 if a == b else 2) * symbol * self.qd[a] * self.qd[b]
        return total

    @cached_property
    def kinetic(self) -> Any:
        """Kinetic energy, with rotors."""
        rates = [(1 if a == b else 2, a, b) for a in range(self.n) for b in range(a, self.n)]
        return self._formulas.sp.Add(*(k * self.M[a, b] * self.qd[a] * self.qd[b] / 2 for k, a, b in rates))

    @cached_property
    def potential(self) -> Any:
        """Potential energy."""
        return self._formulas.sum_of([link.potential_share(self._rows.lift) for link in self._links])

    @cached_property
    def letters(self) -> tuple[Letter, ...]:
        """The letters of these equations."""
        used = {str(x) for part in (self.M, self.potential, self.friction) for x in part.free_symbols}
        return tuple(letter for name, letter in self._known.items() if name in used)

    @cached_property
    def values(self) -> dict[Any, float]:
        """The robot's number for each letter: eq.M.subs(eq.values) is the robot's own."""
        return {self._formulas.sp.Symbol(letter.name): letter.value for letter in self.letters}

    def _symmetric(self, entry: Callable[[int, int], Any]) -> Any:
        n = self.n
        upper = {(a, b): entry(a, b) for a in range(n) for b in range(a, n)}
        return self._formulas.sp.Matrix(n, n, lambda a, b: upper[min(a, b), max(a, b)])


def _relations(given: Mapping[str, Any]) -> dict[str, Polynomial]:
    """Relations as polynomials: text or SymPy expressions; letters that have relations themselves are replaced."""
    sp = sympy()
    names = {str(name): name for name in given}
    try:
        found = {name: sp.sympify(given[key], locals=_Symbols()) for name, key in names.items()}
    except (sp.SympifyError, TypeError, SyntaxError) as problem:
        raise ArgumentError(f"relations: expected formulas such as 'm1*l**2/12', found {dict(given)!r}") from problem
    for _ in found:
        found = {name: expression.subs(found) for name, expression in found.items()}
    return {name: _polynomial(name, expression) for name, expression in found.items()}


class _Symbols(dict[str, Any]):
    """Every name is a symbol, also those that SymPy has functions for."""

    def __contains__(self, name: object) -> bool:
        return True

    def __missing__(self, name: str) -> Any:
        return sympy().Symbol(name)


def _polynomial(name: str, expression: Any) -> Polynomial:
    symbols = sorted(expression.free_symbols, key=str)
    wrong = [str(x) for x in symbols if is_coordinate(str(x))]
    if wrong or not (expression.is_number or expression.is_polynomial(*symbols)):
        raise ArgumentError(f"relations: expected that {name} is a polynomial in letters, found {expression}")
    total = Polynomial.constant(0.0)
    for powers, factor in sympy().Poly(expression, *symbols).terms() if symbols else [((), expression)]:
        term = Polynomial.constant(float(factor))
        for symbol, power in zip(symbols, powers, strict=True):
            for _ in range(power):
                term = term * Polynomial.letter(str(symbol))
        total = total + term
    return total
