"""Inverse kinematics of 1000 random poses: numeric, and all solutions in closed form."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np

import fastdyn as fd

POSES = 1000
METHODS = {
    "numeric": ("inverse_kinematics", ("panda", "ur5", "puma560")),
    "closed form": ("inverse_kinematics_all", ("ur5", "puma560", "stanford")),
}


class InverseKinematics:
    """Seconds of one call."""

    param_names = ("method, robot",)
    params = ([f"{method}, {robot}" for method, (_, robots) in METHODS.items() for robot in robots],)

    def setup(self, job: str) -> None:
        method, _, name = job.partition(", ")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", fd.RobotWarning)  # published inertias may be impossible
            robot = fd.robots.get(name)
        if not hasattr(robot, METHODS[method][0]):  # an older version
            raise NotImplementedError
        q = np.random.default_rng(0).uniform(*robot.limits.position.T, (POSES, robot.n))
        self.job = partial(getattr(robot, METHODS[method][0]), robot.forward_kinematics(q))
        self.job()

    def time_call(self, job: str) -> None:
        self.job()
