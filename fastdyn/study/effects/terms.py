"""The translational and rotational parts of D and h, by generalized d'Alembert."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import ArrayLike

from fastdyn.mechanism.parts import Array
from fastdyn.robot import Robot
from fastdyn.study import formulations
from fastdyn.study.effects.trajectory import Trajectory


@dataclass(frozen=True, eq=False)
class Split:
    """D and h along a trajectory by (3.4-25) to (3.4-27), and c: D_tran, D_rot (T, n, n) kg m^2; the rest (T, n) N m.

    Rotors and friction are left out, as in all formulations. Links connected by a fixed joint count as one, with one
    centre of mass.
    """

    robot: str
    trajectory: Trajectory
    D_tran: Array
    D_rot: Array
    h_tran: Array
    h_rot: Array
    c: Array


def split(robot: Robot, trajectory: Trajectory) -> Split:
    """D and h of a chain with rotary joints along a trajectory, in translational and rotational parts.

    >>> import fastdyn as fd
    >>> from fastdyn.study import effects
    >>> effects.split(fd.robots.puma560(), effects.puma_trajectory()).D_tran.shape
    (31, 6, 6)
    """
    return Split(robot.name, trajectory, **parts(robot, trajectory.q, trajectory.qd, trajectory.qdd))


def parts(robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> dict[str, Array]:
    """D_tran, D_rot, h_tran, h_rot and c at states (..., n), which broadcast.

    >>> import fastdyn as fd
    >>> parts(fd.robots.two_link(g=10.0), [0, 0], [0, 0], [0, 0])["c"].round(12)
    array([20.,  5.])
    """
    found = formulations.terms(robot, q, qd, qdd, "generalized_dalembert")
    assert found.c is not None  # generalized d'Alembert gives c
    return {**found.details, "c": found.c}
