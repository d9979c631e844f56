"""Coupled joints: coordinates phi with q = G phi + offset, G constant, and motors and limits of these coordinates.

Examples: motors at the base that drive distal joints through rods or belts, mimic joints, parallelogram linkages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from fastdyn.errors import RobotError
from fastdyn.mechanism.parts import EPS, Array, Joint, JointKind, Limits, Motor, Record, check_name, frozen

T = TypeVar("T", Motor, Limits)


@dataclass(frozen=True, eq=False, init=False)
class Coupling(Record):
    """q = G phi + offset for n joints and m coordinates.

    G: (n, m), m <= n, of full column rank; offset: (n,), zero if not given; names: of the m coordinates, default
    phi1, phi2, ...; motors, limits: m of each, one for each coordinate, or None where there is none; the limits of
    joints hold besides.

    >>> Coupling([[1, 0], [-1, 1]], names=("shoulder", "upper arm")).offset.tolist()
    [0.0, 0.0]
    """

    G: Array
    offset: Array
    names: tuple[str, ...]
    motors: tuple[Motor, ...]
    limits: tuple[Limits, ...]

    def __init__(
        self,
        G: ArrayLike,
        offset: ArrayLike | None = None,
        names: Sequence[str] | None = None,
        motors: Sequence[Motor | None] | None = None,
        limits: Sequence[Limits | None] | None = None,
        n: int | None = None,
    ) -> None:
        """n: the number of joints, if known: the expected number of rows of G."""
        matrix = _matrix(G, n)
        n, m = matrix.shape
        shift = frozen(np.zeros(n) if offset is None else offset, (n,), "offset")
        called = _names(names, m)
        _check_rank(matrix, called)
        object.__setattr__(self, "G", matrix)
        object.__setattr__(self, "offset", shift)
        object.__setattr__(self, "names", called)
        object.__setattr__(self, "motors", _one_each(motors, "motors", called, Motor()))
        object.__setattr__(self, "limits", _one_each(limits, "limits", called, Limits()))

    @property
    def m(self) -> int:
        """Number of coordinates."""
        return len(self.names)

    def is_trivial(self, joints: Sequence[Joint]) -> bool:
        """Whether the coordinates are the joints, by name and position, without motors and limits of their own.

        >>> Coupling([[1]], names=["hinge"]).is_trivial([Joint("hinge", "base", "bob")])
        True
        """
        same = np.array_equal(self.G, np.eye(len(self.G))) and not self.offset.any()
        own = set(self.motors) != {Motor()} or set(self.limits) != {Limits()}
        return same and self.names == tuple(joint.name for joint in joints) and not own

    def kinds(self, joints: Sequence[Joint]) -> list[JointKind]:
        """Whether each coordinate turns or slides, for the units of its motor: it slides if all its joints do.

        >>> Coupling([[1, 0], [2, 1]]).kinds([Joint("a", "b", "c"), Joint("d", "c", "e", "prismatic")])
        ['revolute', 'prismatic']
        """
        sliding = np.array([joint.kind == "prismatic" for joint in joints])
        return ["prismatic" if sliding[column != 0].all() else "revolute" for column in self.G.T]

    def compose(self, inner: Coupling) -> Coupling:
        """The joints in terms of the coordinates of `inner`, which drive the coordinates of this coupling.

        >>> Coupling([[1], [2]]).compose(Coupling([[3]])).G.tolist()
        [[3.0], [6.0]]
        """
        for name, motor, limits in zip(self.names, self.motors, self.limits, strict=True):
            for what, found in {"a motor": motor != Motor(), "limits": limits != Limits()}.items():
                if found:
                    raise RobotError(
                        f"coordinate {name!r} has {what}: expected motors and limits only on the coordinates of the "
                        f"last coupling"
                    )
        return Coupling(self.G @ inner.G, self.G @ inner.offset + self.offset, inner.names, inner.motors, inner.limits)


def _matrix(G: ArrayLike, n: int | None) -> Array:
    try:
        shape = np.shape(G)
    except ValueError as problem:
        raise RobotError(f"G: expected a rectangular matrix, found {G!r}") from problem
    if n is None and len(shape) == 2:
        n = shape[0]
    if n is None or len(shape) != 2 or shape[0] != n or not 1 <= shape[1] <= n:
        rows = "n" if n is None else n
        raise RobotError(f"G: expected shape ({rows}, m) with 1 <= m <= {rows}, found shape {shape}")
    return frozen(G, shape, "G")


def _names(names: Sequence[str] | None, m: int) -> tuple[str, ...]:
    called = tuple(f"phi{k + 1}" for k in range(m)) if names is None else _listed(names, "names", m)
    for name in called:
        check_name(name, "names")
    if len(called) != m or len(set(called)) != m:
        raise RobotError(f"names: expected {m} different names, one for each column of G, found {list(called)}")
    return called


def _listed(values: Any, what: str, m: int) -> tuple[Any, ...]:
    try:
        return tuple(values)
    except TypeError as problem:
        raise RobotError(f"{what}: expected {m}, one for each coordinate, found {values!r}") from problem


def _check_rank(matrix: Array, names: tuple[str, ...]) -> None:
    n, m = matrix.shape
    lengths = np.abs(matrix).max(axis=0)
    if not lengths.all():
        raise RobotError(f"G: coordinate {names[int(np.argmin(lengths))]!r} moves no joint: its column is zero")
    apart = np.abs(np.diagonal(np.linalg.qr(matrix / lengths)[1]))  # distance of each column from those before it
    if apart.min() <= 8 * n * EPS:
        k = int(np.argmax(apart <= 8 * n * EPS))
        raise RobotError(
            f"G: expected {m} independent columns, but coordinate {names[k]!r} moves the joints as those before it do"
        )


def _one_each(values: Any, what: str, names: tuple[str, ...], none: T) -> tuple[T, ...]:
    """A motor, or limits, for each coordinate; `none` where None is given."""
    given = (None,) * len(names) if values is None else _listed(values, what, len(names))
    if len(given) != len(names):
        raise RobotError(f"{what}: expected {len(names)}, one for each coordinate, found {len(given)}")
    kind = type(none)
    for k, (value, name) in enumerate(zip(given, names, strict=True)):
        if not (value is None or isinstance(value, kind)):
            raise RobotError(f"{what}[{k}], of {name!r}: expected a {kind.__name__} or None, found {value!r}")
    return tuple(none if value is None else value for value in given)
