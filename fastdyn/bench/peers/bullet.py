"""PyBullet, one state at a time, as lists of floats: its fastest input."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from fastdyn.bench.case import INVERSE, MASS, SINGLE, Case, Job
from fastdyn.bench.peers import urdf

NAME = "PyBullet"


def jobs(case: Case) -> Iterator[Job]:
    """Inverse dynamics and mass matrix of one state, from a URDF file."""
    with _silence(), tempfile.TemporaryDirectory() as folder:
        bullet: Any = import_module("pybullet")
        path = os.path.join(folder, "robot.urdf")
        with open(path, "w") as file:
            file.write(urdf.text(case.robot))
        client, flags = bullet.connect(bullet.DIRECT), bullet.URDF_USE_INERTIA_FROM_FILE
        body = bullet.loadURDF(path, useFixedBase=True, flags=flags, physicsClientId=client)
        bullet.setGravity(*case.robot.gravity, physicsClientId=client)
        names = [bullet.getJointInfo(body, i, client)[1].decode() for i in range(case.n)]
    assert names == [f"joint{i}" for i in range(case.n)]
    q, qd, qdd = (x.tolist() for x in (case.one.q, case.one.qd, case.one.qdd))
    inverse, mass = bullet.calculateInverseDynamics, bullet.calculateMassMatrix
    yield Job(NAME, INVERSE, SINGLE, lambda: inverse(body, q, qd, qdd, physicsClientId=client))
    yield Job(NAME, MASS, SINGLE, lambda: mass(body, q, physicsClientId=client))


@contextmanager
def _silence() -> Iterator[None]:
    """Suppresses output, also that of compiled code."""
    sys.stdout.flush()
    kept, nowhere = (os.dup(1), os.dup(2)), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        yield
    finally:
        for number, copy in zip((1, 2), kept, strict=True):
            os.dup2(copy, number)
            os.close(copy)
        os.close(nowhere)
