"""C that CasADi generates from ADAM's algorithms: M qdd + h, as its own recursion takes no accelerations."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np

from fastdyn.bench.case import INVERSE, MASS, Case, Job
from fastdyn.bench.peers import urdf
from fastdyn.bench.peers.generated import generated
from fastdyn.robot import Robot

NAME = "ADAM's C"


def jobs(case: Case) -> Iterator[Job]:
    """Inverse dynamics and mass matrix."""
    return generated(NAME, {INVERSE: _inverse, MASS: _mass}, case)


def _model(robot: Robot) -> Any:
    names = [f"joint{i}" for i in range(robot.n)]
    adam: Any = import_module("adam.casadi")
    return adam.KinDynComputations(urdf.text(robot), names, gravity=np.array([*robot.gravity, 0, 0, 0]))


def _inverse(robot: Robot, q: Any, qd: Any, qdd: Any) -> Any:
    """The base held still."""
    bias = _model(robot).bias_force(np.eye(4), q, np.zeros(6), qd)[6:]
    return _mass(robot, q, qd, qdd) @ qdd + bias


def _mass(robot: Robot, q: Any, qd: Any, qdd: Any) -> Any:
    """The joints' block of the floating-base mass matrix."""
    return _model(robot).mass_matrix(np.eye(4), q)[6:, 6:]
