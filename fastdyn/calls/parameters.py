"""A robot's parameters for compiled code: flat arrays in one layout, and names for messages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from fastdyn.quantities import Quantity


@dataclass(frozen=True, eq=False)
class Parameters:
    """The arrays that a quantity's text reads before its inputs.

    constants: P and tree, and G and pattern of a coupled robot, in double precision; joints: their number; single: the
    same arrays in single precision; names: of the joints, or coordinates if coupled, that a status refers to;
    specialised: the rows of this robot's own straight-line code, if it has any.
    """

    robot: str
    constants: tuple[Any, ...]
    joints: int
    single: Callable[[], tuple[Any, ...]] | None = None
    names: tuple[str, ...] = ()
    specialised: Callable[[Quantity], Quantity] | None = None

    def row(self, quantity: Quantity) -> Quantity:
        """The row whose text computes a quantity of this robot."""
        return quantity if self.specialised is None else self.specialised(quantity)

    @property
    def coupled(self) -> bool:
        """Whether q is in actuator coordinates, not joints."""
        return len(self.constants) > 2

    @property
    def coordinates(self) -> int:
        """The number of values of q."""
        return len(self.names) if self.coupled else self.joints

    @property
    def unit(self) -> str:
        """What q counts."""
        return "coordinate" if self.coupled else "joint"

    def of(self, real: np.dtype[Any]) -> tuple[Any, ...]:
        """The arrays in a precision."""
        return self.single() if self.single is not None and real == np.float32 else self.constants

    def singular(self, status: int) -> str:
        """What a status above 1 means."""
        name = self.names[status // 2 - 1]
        others = " that those before it do not" * self.coupled
        return f"{self.unit} {name!r} moves no inertia{others}"
