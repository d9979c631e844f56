"""What control loops require of a robot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from fastdyn.mechanism.parts import Joint

if TYPE_CHECKING:
    from fastdyn.calls.bound import Bound


class Bindable(Protocol):
    """A robot that can be bound to fixed memory, such as fastdyn.Robot."""

    @property
    def name(self) -> str:
        """The robot's name."""

    @property
    def n(self) -> int:
        """Number of joints."""

    @property
    def joints(self) -> Sequence[Joint]:
        """The moving joints."""

    def bind(self, *quantities: str) -> Bound:
        """The robot on fixed memory."""
