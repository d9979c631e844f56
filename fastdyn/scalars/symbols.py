"""Scalars that hold SymPy expressions: run a kernel's text on them and read its equations.

>>> q = Symbolic.symbols("q", 2)
>>> s, c = q[0].sincos()
>>> (2.0 * c * q[1] + 0.0 * s).expression
2*q2*cos(q1)
"""

from __future__ import annotations

from typing import Any

import numpy as np


class Symbolic:
    """A SymPy expression. Needs SymPy, which is imported when the first scalar is made."""

    __slots__ = ("expression",)

    def __init__(self, value: Any) -> None:
        self.expression = _expression(value)

    def __add__(self, other: Any) -> Symbolic:
        return Symbolic(self.expression + _expression(other))

    def __sub__(self, other: Any) -> Symbolic:
        return Symbolic(self.expression - _expression(other))

    def __rsub__(self, other: Any) -> Symbolic:
        return Symbolic(_expression(other) - self.expression)

    def __mul__(self, other: Any) -> Symbolic:
        return Symbolic(self.expression * _expression(other))

    def __truediv__(self, other: Any) -> Symbolic:
        return Symbolic(self.expression / _expression(other))

    def __rtruediv__(self, other: Any) -> Symbolic:
        return Symbolic(_expression(other) / self.expression)

    __radd__ = __add__
    __rmul__ = __mul__

    def __neg__(self) -> Symbolic:
        return Symbolic(-self.expression)

    def __eq__(self, other: object) -> bool:
        return bool(self.expression == _expression(other))

    def __hash__(self) -> int:
        return hash(self.expression)

    def like(self, value: Any) -> Symbolic:
        """A constant."""
        return Symbolic(value)

    def sincos(self) -> tuple[Symbolic, Symbolic]:
        """Sine and cosine as functions."""
        return Symbolic(_sympy().sin(self.expression)), Symbolic(_sympy().cos(self.expression))

    def by_sign(self, positive: Any, negative: Any) -> Symbolic:
        """A piecewise function."""
        x, above, below = self.expression, _expression(positive), _expression(negative)
        return Symbolic(_sympy().Piecewise((above, x > 0), (below, x < 0), (0, True)))

    def sqrt(self) -> Symbolic:
        """The square root as a function."""
        return Symbolic(_sympy().sqrt(self.expression))

    def atan2(self, x: Any) -> Symbolic:
        """The angle of (x, self) as a function."""
        return Symbolic(_sympy().atan2(self.expression, _expression(x)))

    def where_above(self, bound: Any, above: Any, otherwise: Any) -> Symbolic:
        """A piecewise function."""
        asked = self.expression > _expression(bound)
        return Symbolic(_sympy().Piecewise((_expression(above), asked), (_expression(otherwise), True)))

    def any_above(self, bound: Any) -> bool:
        """True: not known, so that no work is skipped."""
        return True

    def all_above(self, bound: Any) -> bool:
        """True: the equations hold where the value is above the bound."""
        return True

    def all_finite(self) -> bool:
        """True: expressions are finite."""
        return True

    @staticmethod
    def array(values: Any) -> np.ndarray[Any, np.dtype[Any]]:
        """Numbers or SymPy expressions as an array of the same shape."""
        given = np.asarray(values, dtype=object)
        return np.array([Symbolic(value) for value in given.ravel()], dtype=object).reshape(given.shape)

    @staticmethod
    def symbols(name: str, count: int) -> np.ndarray[Any, np.dtype[Any]]:
        """An array of real symbols, the name followed by 1, 2, ..."""
        return Symbolic.array([_sympy().Symbol(f"{name}{k + 1}", real=True) for k in range(count)])


def _expression(value: Any) -> Any:
    """Integers stay exact, so that zeros and ones drop out."""
    if isinstance(value, Symbolic):
        return value.expression
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return _sympy().Integer(int(value))
    return _sympy().sympify(value)


def _sympy() -> Any:
    import sympy  # type: ignore[import-untyped]

    return sympy
