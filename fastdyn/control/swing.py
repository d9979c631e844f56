"""A reference motion for control loops, and what they require of a robot."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from fastdyn.mechanism.parts import Array, Joint

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

    def bind(self) -> Bound:
        """The robot on fixed memory."""


def swing(robot: Bindable) -> tuple[Array, Array, Array]:
    """Middle, amplitude and angular frequency (rad/s), (n,) each: joint i moves as middle - amplitude cos(frequency t).

    The middle is that of the joint's range and the amplitude an eighth of the range; without limits they are zero and
    one radian or metre. Periods are 2.0, 2.3, 2.6, ... s, so that joints pass through many combinations.
    """
    ranges = [(joint.limits.lower, joint.limits.upper) for joint in robot.joints]
    ranges = [(low, high) if math.isfinite(high - low) else (-4.0, 4.0) for low, high in ranges]
    lower, upper = np.array(ranges).T
    periods = np.linspace(2.0, 2.0 + 0.3 * (robot.n - 1), robot.n)
    return (lower + upper) / 2, (upper - lower) / 8, 2 * math.pi / periods
