"""MuJoCo, one state at a time: only the stages that the result needs, called one by one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.peers.case import FORWARD, INVERSE, MASS, SINGLE, Case, Job
from tests.peers import MuJoCo

NAME, PACKAGE, MODULE = "MuJoCo", "mujoco", "mujoco"


def jobs(case: Case) -> Iterator[Job]:
    import mujoco

    peer = MuJoCo(case.robot)
    model, data, one = peer.model, peer.data, case.one
    tau, M = np.empty(case.n), np.empty((case.n, case.n))

    def inverse() -> np.ndarray:
        data.qpos[:], data.qvel[:], data.qacc[:] = one.q, one.qd, one.qdd
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_comVel(model, data)
        mujoco.mj_rne(model, data, 1, tau)
        return tau

    def forward() -> np.ndarray:
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = one.q, one.qd, one.tau
        mujoco.mj_forward(model, data)
        return data.qacc

    def mass() -> np.ndarray:
        data.qpos[:] = one.q
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_makeM(model, data)
        mujoco.mj_fullM(model, data, M)
        return M

    yield Job(NAME, INVERSE, SINGLE, inverse)
    yield Job(NAME, FORWARD, SINGLE, forward)
    yield Job(NAME, MASS, SINGLE, mass)
