"""Polynomials in n with exact coefficients, for operation counts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise


@dataclass(frozen=True)
class Polynomial:
    """A polynomial in n with exact coefficients, that of n^0 first, the last not zero.

    >>> n = Polynomial((0, 1))
    >>> print(Fraction(1, 2) * n * (n - 1))
    1/2 n^2 - 1/2 n
    """

    coefficients: tuple[Fraction | int, ...]

    def __call__(self, n: int) -> Fraction:
        """The value at n."""
        return sum((Fraction(c) * n**k for k, c in enumerate(self.coefficients)), Fraction(0))

    def __add__(self, other: Polynomial | Fraction | int) -> Polynomial:
        a, b = self.coefficients, _coefficients(other)
        size = max(len(a), len(b))
        return _trimmed([x + y for x, y in zip(_padded(a, size), _padded(b, size), strict=True)])

    def __sub__(self, other: Polynomial | Fraction | int) -> Polynomial:
        return self + -1 * Polynomial(_coefficients(other))

    def __mul__(self, other: Polynomial | Fraction | int) -> Polynomial:
        a, b = self.coefficients, _coefficients(other)
        product = [Fraction(0)] * max(len(a) + len(b) - 1, 0)
        for i, x in enumerate(a):
            for j, y in enumerate(b):
                product[i + j] += x * Fraction(y)
        return _trimmed(product)

    __radd__, __rmul__ = __add__, __mul__

    def __str__(self) -> str:
        terms = [(c, k) for k, c in enumerate(self.coefficients) if c][::-1]
        if not terms:
            return "0"
        text = ""
        for c, k in terms:
            power = "" if k == 0 else "n" if k == 1 else f"n^{k}"
            size = "" if abs(c) == 1 and k else str(abs(c))
            sign = ("-" if c < 0 else "") if not text else (" - " if c < 0 else " + ")
            text += sign + " ".join(part for part in (size, power) if part)
        return text

    @classmethod
    def of(cls, *coefficients: str | int) -> Polynomial:
        """A polynomial as it is printed, the highest power first.

        >>> print(Polynomial.of("1/2", "-45/2", 0))
        1/2 n^2 - 45/2 n
        """
        return _trimmed([Fraction(c) for c in reversed(coefficients)])

    @classmethod
    def through(cls, values: Iterable[int], first: int = 1) -> Polynomial:
        """The polynomial of least degree with these values at n = first, first + 1, ...; at least two are a check.

        >>> print(Polynomial.through([1, 3, 6, 10, 15]))
        1/2 n^2 + 1/2 n
        """
        differences, column = [], [Fraction(v) for v in values]
        points = len(column)
        while any(column):
            differences.append(column[0])
            column = [b - a for a, b in pairwise(column)]
        if len(differences) > points - 2:
            raise ValueError(f"{points} values do not lie on a polynomial of degree {points - 3} or less")
        total, basis = cls(()), cls((Fraction(1),))  # Newton's forward differences
        for k, difference in enumerate(differences):
            total = total + difference * basis
            basis = Fraction(1, k + 1) * basis * cls((Fraction(-first - k), Fraction(1)))
        return total


def _coefficients(value: Polynomial | Fraction | int) -> tuple[Fraction | int, ...]:
    return value.coefficients if isinstance(value, Polynomial) else (value,)


def _padded(values: tuple[Fraction | int, ...], size: int) -> list[Fraction]:
    return [Fraction(v) for v in values] + [Fraction(0)] * (size - len(values))


def _trimmed(values: list[Fraction]) -> Polynomial:
    while values and not values[-1]:
        values = values[:-1]
    return Polynomial(tuple(values))
