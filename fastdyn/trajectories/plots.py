"""Trajectories as Matplotlib figures (extra `plots`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastdyn.errors import ArgumentError, ArgumentTypeError, MissingExtraError
from fastdyn.mechanism.description import Mechanism
from fastdyn.show.drawing import plain
from fastdyn.trajectories.extrema import UNITS

if TYPE_CHECKING:
    from fastdyn.trajectories.trajectory import Trajectory

SAMPLES = 500
STYLES = ("-", "--", "-.", ":")  # joints are told apart in grey, too


def new_figure(width: float, height: float) -> Any:
    """An empty figure, size in inches."""
    try:
        from matplotlib.figure import Figure
    except ImportError as problem:
        raise MissingExtraError("plot needs matplotlib, which is missing: pip install fastdyn[plots]") from problem
    return Figure(figsize=(width, height), layout="constrained")


def plot(motion: Trajectory, robot: Mechanism | None) -> Any:
    """A figure with three axes over time, one line for each joint."""
    names, kinds = _labels(motion, robot)
    t = np.union1d(np.linspace(0.0, motion.duration, SAMPLES), motion.times)
    figure = new_figure(9, 8)
    axes = figure.subplots(3, 1, sharex=True)
    for axis, what, values in zip(axes, ("q", "qd", "qdd"), motion(t), strict=True):
        for j, name in enumerate(names):
            axis.plot(t, values[:, j], STYLES[j % 4], label=name)
        units = dict.fromkeys(UNITS[what][kind == "prismatic"] for kind in kinds)
        axis.set_ylabel(f"{what} [{' or '.join(units)}]")
    axes[0].legend(fontsize="small", ncols=4)
    axes[-1].set_xlabel("time [s]")
    figure.suptitle(f"{plain(robot.name) + ', ' if robot is not None else ''}{motion.duration:g} s")
    return figure


def _labels(motion: Trajectory, robot: Mechanism | None) -> tuple[list[str], list[str]]:
    """Names of the joints, or coordinates, and their kinds: without a robot, any."""
    if robot is None:
        return [f"joint {i}" for i in range(motion.n)], ["revolute", "prismatic"]
    if not isinstance(robot, Mechanism):
        raise ArgumentTypeError(f"robot is a {type(robot).__name__}: expected a robot, or None")
    if robot.n != motion.n:
        raise ArgumentError(
            f"robot is {robot.name} with {robot.n} joints, but the trajectory has {motion.n}: expected the same"
        )
    names, kinds = [joint.name for joint in robot.joints], [str(joint.kind) for joint in robot.joints]
    if robot.coupling is not None:
        names, kinds = list(robot.coupling.names), [str(kind) for kind in robot.coupling.kinds(robot.joints)]
    return [plain(name) for name in names], kinds
