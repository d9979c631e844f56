"""A reference motion for control loops."""

from __future__ import annotations

import math

import numpy as np

from fastdyn.control.bindable import Bindable
from fastdyn.mechanism.parts import Array


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
