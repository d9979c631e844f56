"""Trajectories as matplotlib figures (extra `plots`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastdyn.errors import ArgumentError
from fastdyn.mechanism.description import Mechanism
from fastdyn.show.drawing import plain, pyplot

if TYPE_CHECKING:
    from fastdyn.trajectories.trajectory import Trajectory

QUANTITIES = ("position", "velocity", "acceleration")
UNITS = (("rad", "m"), ("rad/s", "m/s"), ("rad/s²", "m/s²"))  # of turning and of sliding joints
STYLES = ("-", "--", "-.", ":")  # joints are told apart in grey, too


def plot(motion: Trajectory, robot: Mechanism | None, samples: int) -> Any:
    """A figure with three axes over time, one line for each joint."""
    if isinstance(samples, bool) or not isinstance(samples, int) or samples < 2:
        raise ArgumentError(f"samples is {samples!r}: expected a whole number above one")
    names, units = _labels(motion, robot)
    t = np.union1d(np.linspace(0.0, motion.duration, samples), motion.times)
    figure, axes = pyplot("Trajectory.plot").subplots(3, sharex=True, figsize=(8, 7), layout="constrained")
    for ax, what, unit, values in zip(axes, QUANTITIES, units, motion(t), strict=True):
        for j, name in enumerate(names):
            ax.plot(t, values[:, j], STYLES[j // 10 % 4 if len(names) > 40 else j % 4], label=name)
        ax.set_ylabel(what + unit)
        ax.grid(alpha=0.3)
    axes[-1].set_xlabel("time (s)")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right upper")
    if robot is not None:
        figure.suptitle(plain(robot.name))
    return figure


def _labels(motion: Trajectory, robot: Mechanism | None) -> tuple[list[str], list[str]]:
    """The names of the lines, and what follows the names of the axes."""
    if robot is None:
        return [f"joint {i}" for i in range(motion.n)], [""] * 3
    if robot.n != motion.n:
        raise ArgumentError(f"robot is {robot.name} with {robot.n} joints, but the trajectory has {motion.n}")
    names, kinds = [joint.name for joint in robot.joints], [joint.kind for joint in robot.joints]
    if robot.coupling is not None:
        names, kinds = list(robot.coupling.names), robot.coupling.kinds(robot.joints)
    sliding = [kind == "prismatic" for kind in kinds]
    units = [
        " (" + " or ".join([turning] * (not all(sliding)) + [along] * any(sliding)) + ")" for turning, along in UNITS
    ]
    return [plain(name) for name in names], units
