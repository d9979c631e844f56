"""Equations of motion of a robot as formulas, with SymPy (extra `symbols`).

From each link's velocities for each coordinate a, (w_a, v_a) along its own axes at its centre of mass (moving.py):

    M_ab = sum over links of m v_a . v_b + w_a . I w_b
    c_abp = (dM_pb/dq_a + dM_pa/dq_b - dM_ab/dq_p) / 2,    C_pb = sum over a of c_abp qd_a
    V = sum over links of -m g . r,                        g_p = dV/dq_p
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from functools import cached_property
from itertools import combinations, product
from typing import Any

from fastdyn.compiler.announce import announced
from fastdyn.errors import ArgumentError, FormulationError, MissingExtraError
from fastdyn.mechanism.description import Mechanism
from fastdyn.specialize.symbolic import written
from fastdyn.specialize.symbolic.letters import ROUNDING, Alphabet, Letter, coordinates, rows
from fastdyn.specialize.symbolic.moving import Moving, Share, links
from fastdyn.specialize.symbolic.polynomials import Monomial, Polynomial, Wave, is_coordinate, separated
from fastdyn.specialize.symbolic.written import PARTS, RESERVED

TERMS = 40  # of a sum: longer ones are not factored
PRODUCTS = 60  # terms of all factors of a sum of products: longer ones are multiplied out
ZERO, ONE = Polynomial.constant(0.0), Polynomial.constant(1.0)

Sums = dict[Monomial, Polynomial]  # by products of inertial letters: what these are multiplied by
DEEPEST = 6  # joints one after the other
DERIVING = "deriving {} ..."


def sympy(wanted_by: str = "robot.equations()") -> Any:
    """SymPy, or an error that names the extra."""
    try:
        import sympy as found  # type: ignore[import-untyped]
    except ImportError as problem:
        raise MissingExtraError(f"{wanted_by} needs SymPy, which is missing: pip install fastdyn[symbols]") from problem
    return found


# ---------------------------------------------------------------------------------------------- formulas


class Formulas:
    """Polynomials as SymPy expressions, in the shortest of the forms that books use.

    exact: factors are recognised as fractions and their products with square roots of 2, 3 and 6. inertial: the letters
    that sums are collected by.
    """

    def __init__(self, exact: bool, inertial: set[str]) -> None:
        self.sp, self.exact, self.inertial = sympy(), exact, inertial
        self._known: dict[Any, Any] = {}  # by the terms of a sum: the shortest form found
        self._factors: dict[Polynomial, Any] = {}
        self._numbers: dict[float, Any] = {}

    def number(self, x: float) -> Any:
        """A float; whole numbers, and in equations with letters fractions and roots, as such."""
        if x not in self._numbers:
            self._numbers[x] = self._recognised(x)
        return self._numbers[x]

    def _recognised(self, x: float) -> Any:
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
        """A sum of products of waves, each times a sum of products of letters."""
        sums: dict[tuple[Wave, ...], list[Any]] = {}
        for (names, waves), value in separated(p, 4 * ROUNDING * p.size).items():
            sums.setdefault(waves, []).append(self.number(value) * self.letters(names))
        return self.sp.Add(
            *(self.sp.Mul(self._factored(self.sp.Add(*sums[waves])), *map(self.wave, waves)) for waves in sums)
        )

    def collected(self, shares: Iterable[Share]) -> Sums:
        """The sum of products, multiplied out, for each product of inertial letters."""
        found: Sums = {}
        sizes: dict[Monomial, float] = {}
        for names, (rest, one, other) in self._split(shares):
            found[names] = found.get(names, ZERO) + rest * one * other
            sizes[names] = max(sizes.get(names, 0.0), rest.size * one.size * other.size)
        return {names: total.cleaned(4 * ROUNDING * sizes[names]) for names, total in found.items()}

    def sum_of(self, totals: Sums, shares: Iterable[Share]) -> Any:
        """The formula of a sum by inertial letters; shares: the products that it is the sum of."""
        groups: dict[Monomial, list[Share]] = {}
        for names, share in self._split(shares) if any(total.terms for total in totals.values()) else ():
            groups.setdefault(names, []).append(share)
        by_factor: dict[Any, list[Any]] = {}
        for names, total in totals.items():
            if total.terms:
                by_factor.setdefault(self._shortest(total, groups[names]), []).append(self.letters(names))
        return self.shortened(self.sp.Add(*(factor * self.sp.Add(*letters) for factor, letters in by_factor.items())))

    def _split(self, shares: Iterable[Share]) -> Iterator[tuple[Monomial, Share]]:
        for number, one, other in shares:
            if one.terms and other.terms:
                for names, rest in number.by_letters(self.inertial):
                    yield names, (rest, one, other)

    def shortened(self, total: Any) -> Any:
        """A sum with what its terms have in common pulled out, if that makes it shorter."""
        return min((total, self._pulled(total)), key=self._length)

    def _shortest(self, total: Polynomial, group: list[Share]) -> Any:
        """Multiplied out and added up, all or some, or left as products of velocities: what has fewest operations."""
        key = frozenset((place, float(f"{value:.13g}")) for place, value in total.terms.items())
        opposite = frozenset((place, -value) for place, value in key)
        forms = [self.shortened(self.expanded(total))]
        if sum(len(p.terms) for share in group for p in share) <= min(PRODUCTS, 2 * len(total.terms)):
            forms.append(self.sp.Add(*map(self._product, group)))
        for count in range(1, len(group)) if len(group) <= 3 else ():
            for left in combinations(group, count):
                rest = sum((-number * one * other for number, one, other in left), start=total)
                rest = rest.cleaned(4 * ROUNDING * total.size)
                if len(rest.terms) < len(total.terms) <= PRODUCTS / 3:
                    products = map(self._product, left)
                    forms.append(self.sp.Add(self.shortened(self.expanded(rest)), *products))
        forms += [self._known[key]] if key in self._known else []
        forms += [-self._known[opposite]] if opposite in self._known else []
        self._known[key] = min(forms, key=self._length)
        return self._known[key]

    def _product(self, share: Share) -> Any:
        """A product, whose factors are velocities that many sums share."""
        for p in share:
            if p not in self._factors:
                self._factors[p] = self._pulled(self.expanded(p))
        return self.sp.Mul(*(self._factors[p] for p in share))

    def _factored(self, total: Any) -> Any:
        """A sum of products of letters, factored if that makes it shorter."""
        if not self._is_short(total):
            return total
        return min((total, self.sp.factor_terms(total), self.sp.factor(total)), key=self._length)

    def _pulled(self, total: Any) -> Any:
        """A sum with what its terms have in common pulled out, but for the angles of sines and cosines."""
        if not self._is_short(total):
            return total
        waves = {wave: self.sp.Dummy() for wave in total.atoms(self.sp.sin, self.sp.cos)}
        pulled = self.sp.factor_terms(total.xreplace(waves))
        return pulled.xreplace({name: wave for wave, name in waves.items()})

    def _is_short(self, total: Any) -> bool:
        """Whether a sum is worth the time of looking for factors."""
        return bool(total.is_Add and len(total.args) <= TERMS and not total.has(self.sp.Float))

    def _length(self, expression: Any) -> int:
        return int(expression.count_ops())


# ---------------------------------------------------------------------------------------------- equations


class Equations:
    """M(q) qdd + C(q, qd) qd + g(q) + friction = tau of a robot, as SymPy expressions; see robot.equations.

    q, qd, qdd: the symbols; coordinates: their names and units; M, C, g, friction, tau: matrices; kinetic, potential:
    energies; symbols: what each letter stands for, its unit and the robot's number. Rotors are in M, what is fixed to a
    link is part of it. C is made of Christoffel symbols: dM/dt - 2 C is skew. Each is derived when first asked for.
    """

    def __init__(self, robot: Mechanism, letters: bool = True, relations: Mapping[str, Any] | None = None) -> None:
        sp = sympy()
        if not robot.joints:
            raise FormulationError(f"{robot.name} has no moving joint: expected at least one")
        if relations and not letters:
            raise ArgumentError("relations: expected none with letters=False, whose equations have no letters")
        alphabet = Alphabet(letters, _relations(relations or {}))
        self._rows = rows(robot, alphabet)
        if self._rows.depth > DEEPEST:
            raise FormulationError(
                f"{robot.name} has {self._rows.depth} joints one after the other: expected at most {DEEPEST}; formulas "
                "of more take many minutes and fill hundreds of pages. robot.locked({'joint': 0.0}) leaves some out"
            )
        self._known = alphabet.related()
        m = self._rows.G.shape[1]
        self.name = robot.name
        self.coordinates = coordinates(robot)
        self._formulas = Formulas(letters, alphabet.inertial)
        self._names = [f"q{k + 1}" for k in range(m)]
        self.q, self.qd, self.qdd = (
            sp.Matrix(sp.symbols([f"{x}{k + 1}" for k in range(m)])) for x in ("q", "qd", "qdd")
        )

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return len(self._names)

    @cached_property
    def _links(self) -> list[Moving]:
        return links(self._rows)

    @cached_property
    def M(self) -> Any:
        """The mass matrix, (n, n), with rotors."""
        with announced(f"the equations of {self.name}", DERIVING):
            upper = {at: self._formulas.sum_of(sums, self._inertia(*at)) for at, sums in self._sums.items()}
        return self._formulas.sp.Matrix(self.n, self.n, lambda a, b: upper[min(a, b), max(a, b)])

    @cached_property
    def _sums(self) -> dict[tuple[int, int], Sums]:
        """The entries of M on and above the diagonal."""
        pairs = [(a, b) for a in range(self.n) for b in range(a, self.n)]
        return {pair: self._formulas.collected(self._inertia(*pair)) for pair in pairs}

    def _inertia(self, a: int, b: int) -> Iterator[Share]:
        for link in self._links:
            yield from link.inertia_shares(a, b)
        yield self._rows.armature[a, b], ONE, ONE

    @cached_property
    def christoffel(self) -> dict[tuple[int, int, int], Any]:
        """c_abp by (a, b, p), from 0, without those that are zero: tau_p contains c_abp qd_a qd_b."""
        found = {}
        with announced(f"the equations of {self.name}", DERIVING):
            # those with a < b first: they are shorter, and others may be the same
            for (a, b), p in product(sorted(self._sums, key=lambda pair: pair[0] == pair[1]), range(self.n)):
                symbol = self._formulas.sum_of(self._slopes(a, b, p), self._curvature(a, b, p))
                if symbol != 0:
                    found[a, b, p] = found[b, a, p] = symbol
        return found

    def _slopes(self, a: int, b: int, p: int) -> Sums:
        """(dM_pb/dq_a + dM_pa/dq_b - dM_ab/dq_p) / 2."""
        parts: dict[Monomial, list[Polynomial]] = {}
        for i, j, by, half in ((p, b, a, 0.5), (p, a, b, 0.5), (a, b, p, -0.5)):
            for names, total in self._sums[min(i, j), max(i, j)].items():
                parts.setdefault(names, []).append(half * total.derivative(self._names[by]))
        sums = {names: (sum(each, start=ZERO), max(part.size for part in each)) for names, each in parts.items()}
        return {names: total.cleaned(4 * ROUNDING * size) for names, (total, size) in sums.items()}

    def _curvature(self, a: int, b: int, p: int) -> Iterator[Share]:
        for link in self._links:
            yield from link.christoffel_shares(self._names, a, b, p)

    @cached_property
    def C(self) -> Any:
        """The Coriolis matrix, (n, n)."""
        sp = self._formulas.sp
        rates: dict[tuple[int, int], dict[Any, list[Any]]] = {}
        for (a, b, p), symbol in self.christoffel.items():
            rates.setdefault((p, b), {}).setdefault(symbol, []).append(self.qd[a])

        def entry(p: int, b: int) -> Any:
            return sp.Add(*(symbol * sp.Add(*each) for symbol, each in rates.get((p, b), {}).items()))

        return sp.Matrix(self.n, self.n, lambda p, b: self._formulas.shortened(entry(p, b)))

    @cached_property
    def g(self) -> Any:
        """Gravity forces, (n, 1)."""
        return self._formulas.sp.Matrix([self._sum([x.gravity_share(p) for x in self._links]) for p in range(self.n)])

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
        return self._sum([link.potential_share(self._rows.lift) for link in self._links])

    def _sum(self, shares: list[Share]) -> Any:
        return self._formulas.sum_of(self._formulas.collected(shares), shares)

    @cached_property
    def symbols(self) -> tuple[Letter, ...]:
        """The letters of these equations, each with its meaning, unit and value."""
        used = {str(x) for part in (self.M, self.potential, self.friction) for x in part.free_symbols}
        return tuple(letter for name, letter in self._known.items() if name in used)

    @cached_property
    def values(self) -> dict[Any, float]:
        """The robot's number for each letter: eq.M.subs(eq.values) is the robot's own."""
        return {self._formulas.sp.Symbol(letter.name): letter.value for letter in self.symbols}

    # ------------------------------------------------------------------------------------------ written

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<Equations of {self.name}: {self.n} coordinate{'s' * (self.n != 1)}>"

    def _repr_latex_(self) -> str:
        return self.latex()

    def text(self, what: Iterable[str] = PARTS) -> str:
        """The equations as text; what: some of M, C, g, friction, tau, kinetic, potential.

        >>> import fastdyn as fd
        >>> print(fd.robots.two_link().equations(letters=False).text(["M"]))
        two_link: M(q) qdd + C(q, qd) qd + g(q) = tau
        <BLANKLINE>
        M[1,1] = cos(q2) + 1.66666666666667
        M[1,2] = M[2,1] = 0.5*cos(q2) + 0.333333333333333
        M[2,2] = 0.333333333333333
        <BLANKLINE>
        q1  joint1, rad
        q2  joint2, rad
        """
        return written.text(self, what)

    def latex(self, what: Iterable[str] = PARTS) -> str:
        r"""The equations as LaTeX, an align* environment; what: as for text.

        >>> import fastdyn as fd
        >>> print(fd.robots.two_link().equations().latex(["g"]).splitlines()[2])
        g_{2} &= g m_{2} x_{2} \cos{\left(q_{1} + q_{2} \right)}
        """
        return written.latex(self, what)

    def code(self, language: str = "python") -> str:
        """Functions mass_matrix, coriolis_matrix, gravity_forces and inverse_dynamics; language: python, numpy or c.

        Python's take one state, NumPy's any batch (..., n); letters are keyword arguments with the robot's values. C's
        have the robot's name in front and fixed values.

        >>> import fastdyn as fd
        >>> functions = {}
        >>> exec(fd.robots.two_link(g=10.0).equations().code(), functions)
        >>> functions["gravity_forces"]([0.0, 0.0]), functions["gravity_forces"]([0.0, 0.0], m2=3.0)
        ([20.0, 5.0], [50.0, 15.0])
        """
        return written.code(self, language)


def _relations(given: Mapping[str, Any]) -> dict[str, Polynomial]:
    """Relations as polynomials: text or SymPy expressions; letters that have relations themselves are replaced."""
    sp = sympy()
    found = {}
    for name, formula in given.items():
        symbols = {each: sp.Symbol(each) for each in re.findall(r"[^\W\d]\w*", str(formula))}
        expected = f"relations: expected a formula such as 'm1*l**2/12' for {name}, found {formula!r}"
        try:
            expression = sp.sympify(str(formula), locals=symbols)
        except (sp.SympifyError, TypeError, SyntaxError, AttributeError) as problem:
            raise ArgumentError(expected) from problem
        if not isinstance(expression, sp.Expr):
            raise ArgumentError(expected)
        found[sp.Symbol(str(name))] = expression
    for _ in given:
        found = {letter: expression.subs(found) for letter, expression in found.items()}
    return {str(letter): _polynomial(str(letter), expression) for letter, expression in found.items()}


def _polynomial(name: str, expression: Any) -> Polynomial:
    symbols = sorted(expression.free_symbols, key=str)
    wrong = [str(x) for x in symbols if is_coordinate(str(x)) or str(x) in RESERVED]
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
