"""MuJoCo, one state at a time: only the stages that the result needs, called one by one."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np

from fastdyn.bench.case import FORWARD, INVERSE, MASS, SINGLE, Case, Job
from fastdyn.bench.peers.models import mujoco_model

NAME = "MuJoCo"


def jobs(case: Case) -> Iterator[Job]:
    """One state; results of inverse dynamics and mass matrix go into prepared arrays."""
    mujoco: Any = import_module("mujoco")
    model, data = mujoco_model(case.robot)
    one, tau, M = case.one, np.empty(case.n), np.empty((case.n, case.n))

    def inverse() -> Any:
        data.qpos[:], data.qvel[:], data.qacc[:] = one.q, one.qd, one.qdd
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_comVel(model, data)
        mujoco.mj_rne(model, data, 1, tau)
        return tau

    def forward() -> Any:
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = one.q, one.qd, one.tau
        mujoco.mj_forward(model, data)
        return data.qacc

    def mass() -> Any:
        data.qpos[:] = one.q
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_makeM(model, data)
        mujoco.mj_fullM(model, data, M)
        return M

    yield Job(NAME, INVERSE, SINGLE, inverse)
    yield Job(NAME, FORWARD, SINGLE, forward)
    yield Job(NAME, MASS, SINGLE, mass)
