"""Scalars that are polynomials in letters and in sines and cosines of coordinates, as equations of motion are.

Products of sines and cosines become those of sums of angles, so that every polynomial has one form: cos^2 + sin^2 is 1,
and angles of parallel axes add up.

>>> q1, q2, a = Polynomial.letter("q1"), Polynomial.letter("q2"), Polynomial.letter("a1")
>>> s, c = q1.sincos()
>>> (a * s * s + a * c * c).terms
{(('a1',), ((), False)): 1.0}
>>> list((c * q2.sincos()[1] - s * q2.sincos()[0]).terms)
[((), ((('q1', 1), ('q2', 1)), False))]
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from typing import Any

Monomial = tuple[str, ...]  # letters, sorted, each as often as its power says
Angle = tuple[tuple[str, float], ...]  # coordinates and their multiples, sorted; the first multiple is positive
Wave = tuple[Angle, bool]  # the cosine of an angle, or its sine (True); the cosine of no angle is 1
Key = tuple[Monomial, Wave]

ONE: Wave = ((), False)
DIGITS = 12  # to which multiples of coordinates are rounded, so that equal ones meet


def is_coordinate(letter: str) -> bool:
    """Whether a letter is a coordinate: q1, q2, ..."""
    return letter.startswith("q")


class Polynomial:
    """A sum of terms: a number times letters times the sine or cosine of a sum of coordinates.

    A scalar for texts that use + - * and sincos of what is linear in the coordinates.
    """

    __slots__ = ("terms",)

    def __init__(self, terms: dict[Key, float]) -> None:
        self.terms = terms

    @staticmethod
    def constant(value: float) -> Polynomial:
        """A number."""
        return Polynomial({((), ONE): float(value)} if value else {})

    @staticmethod
    def letter(name: str) -> Polynomial:
        """A letter, or a coordinate."""
        return Polynomial({((name,), ONE): 1.0})

    def like(self, value: Any) -> Polynomial:
        """A number as a polynomial."""
        return value if isinstance(value, Polynomial) else Polynomial.constant(value)

    def __add__(self, other: Any) -> Polynomial:
        total = dict(self.terms)
        for key, value in self.like(other).terms.items():
            _add(total, key, value)
        return Polynomial(total)

    def __mul__(self, other: Any) -> Polynomial:
        if not isinstance(other, Polynomial):
            return Polynomial({key: value * other for key, value in self.terms.items()} if other else {})
        total: dict[Key, float] = {}
        for (letters, wave), value in self.terms.items():
            for (others, second), factor in other.terms.items():
                monomial = tuple(sorted(letters + others)) if letters and others else letters or others
                for third, share in _product(wave, second):
                    _add(total, (monomial, third), share * value * factor)
        return Polynomial(total)

    __radd__ = __add__
    __rmul__ = __mul__

    def __neg__(self) -> Polynomial:
        return self * -1.0

    def __sub__(self, other: Any) -> Polynomial:
        return self + -self.like(other)

    def __rsub__(self, other: Any) -> Polynomial:
        return self.like(other) + -self

    def __eq__(self, other: object) -> bool:
        return self.terms == self.like(other).terms

    def __hash__(self) -> int:
        return hash(frozenset(self.terms.items()))

    def sincos(self) -> tuple[Polynomial, Polynomial]:
        """Sine and cosine of a polynomial that is linear in the coordinates, with numbers as factors."""
        multiples: dict[str, float] = {}
        phase = 0.0
        for (letters, wave), value in self.terms.items():
            if not letters and wave == ONE:
                phase = value
            elif len(letters) == 1 and is_coordinate(letters[0]) and wave == ONE:
                multiples[letters[0]] = value
            else:
                raise ValueError(f"sincos: expected numbers times coordinates, found a term {letters}")
        (sine, up), (cosine, _) = _wave(multiples, True), _wave(multiples, False)
        s, c = (Polynomial({((), sine): up} if up else {}), Polynomial({((), cosine): 1.0}))
        if phase == 0:
            return s, c
        ps, pc = _exact(math.sin(phase)), _exact(math.cos(phase))
        return pc * s + ps * c, pc * c - ps * s

    def derivative(self, coordinate: str) -> Polynomial:
        """The derivative by a coordinate."""
        total: dict[Key, float] = {}
        for (letters, (angle, odd)), value in self.terms.items():
            if power := letters.count(coordinate):
                at = letters.index(coordinate)
                _add(total, (letters[:at] + letters[at + 1 :], (angle, odd)), power * value)
            if multiple := dict(angle).get(coordinate):
                _add(total, (letters, (angle, not odd)), multiple * value * (1 if odd else -1))
        return Polynomial(total)

    def cleaned(self, smallest: float) -> Polynomial:
        """Without terms whose factors are at most this: what rounding has left of zeros."""
        return Polynomial({key: value for key, value in self.terms.items() if abs(value) > smallest})

    @property
    def size(self) -> float:
        """The largest factor."""
        return max(map(abs, self.terms.values()), default=0.0)

    def by_letters(self, chosen: Any) -> Iterator[tuple[Monomial, Polynomial]]:
        """The chosen letters' products, each with the polynomial that it multiplies."""
        found: dict[Monomial, dict[Key, float]] = {}
        for (letters, wave), value in self.terms.items():
            product = tuple(x for x in letters if x in chosen)
            found.setdefault(product, {})[tuple(x for x in letters if x not in chosen), wave] = value
        return ((product, Polynomial(terms)) for product, terms in found.items())


Separated = dict[tuple[Monomial, tuple[Wave, ...]], float]  # by letters and waves that are multiplied


def separated(p: Polynomial, smallest: float) -> Separated:
    """A polynomial with coordinates split off from sums of angles, as long as that leaves fewer terms.

    cos(q1 - q2) + cos(q1 + q2) is 2 cos(q1) cos(q2). smallest: factors up to this are what rounding has left of zeros.

    >>> (_, c1), (_, c2) = (Polynomial.letter(name).sincos() for name in ("q1", "q2"))
    >>> separated(c1 * c2, 0.0)
    {((), (((('q2', 1),), False), ((('q1', 1),), False))): 1.0}
    """
    terms: Separated = {(letters, (wave,)): value for (letters, wave), value in p.terms.items()}
    names = sorted({name for _, (angle, _) in p.terms for name, _ in angle})
    while names:
        best = min((_split(terms, name, smallest) for name in names), key=len)
        if len(best) >= len(terms):
            break
        terms = best
    return terms


def _split(terms: Separated, name: str, smallest: float) -> Separated:
    """Splits a coordinate off from the waves that it is in."""
    total: Separated = {}
    for (letters, waves), value in terms.items():
        at = next((k for k, (angle, _) in enumerate(waves) if name in dict(angle) and len(angle) > 1), None)
        if at is None:
            _add(total, (letters, waves), value)
            continue
        angle, odd = waves[at]
        rest = dict(angle)
        own = {name: rest.pop(name)}
        # cos(a + b) = cos a cos b - sin a sin b, sin(a + b) = sin a cos b + cos a sin b
        for first, second, sign in ((odd, False, 1.0), (not odd, True, 1.0 if odd else -1.0)):
            (one, up), (other, along) = _wave(rest, second), _wave(own, first)
            _add(total, (letters, (*waves[:at], one, *waves[at + 1 :], other)), value * sign * up * along)
    return {key: value for key, value in total.items() if abs(value) > smallest}


def _add(total: dict[Any, float], key: Any, value: float) -> None:
    value += total.get(key, 0.0)
    if value:
        total[key] = value
    else:
        total.pop(key, None)


def _exact(x: float) -> float:
    """A sine or cosine of a known angle; of multiples of a right angle without rounding."""
    return float(round(x)) if abs(x - round(x)) <= 2.0**-50 else x


def _wave(multiples: dict[str, float], odd: bool) -> tuple[Wave, float]:
    """The sine or cosine of a sum of coordinates with its first multiple positive, and the sign: 0 for sin(0)."""
    angle = tuple(sorted((name, _whole(k)) for name, k in multiples.items() if round(k, DIGITS)))
    if not angle:
        return ONE, 0.0 if odd else 1.0
    if angle[0][1] < 0:
        return (tuple((name, -k) for name, k in angle), odd), -1.0 if odd else 1.0
    return (angle, odd), 1.0


def _whole(k: float) -> float:
    k = round(k, DIGITS)
    return int(k) if k == int(k) else k


@cache
def _product(a: Wave, b: Wave) -> tuple[tuple[Wave, float], ...]:
    """The product of two waves as a sum of waves, each with its factor."""
    (first, a_odd), (second, b_odd) = a, b
    if not first or not second:
        return ((b if not first else a, 1.0),)
    plus, minus = dict(first), dict(first)
    for name, k in second:
        plus[name], minus[name] = plus.get(name, 0) + k, minus.get(name, 0) - k
    odd = a_odd != b_odd
    signs = {
        (False, False): (0.5, 0.5),
        (True, True): (-0.5, 0.5),
        (True, False): (0.5, 0.5),
        (False, True): (0.5, -0.5),
    }
    found = []
    for multiples, factor in zip((plus, minus), signs[a_odd, b_odd], strict=True):
        wave, sign = _wave(multiples, odd)
        if sign:
            found.append((wave, sign * factor))
    return tuple(found)
