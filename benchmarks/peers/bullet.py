"""PyBullet, one state at a time, as lists of floats: its fastest input."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator

from benchmarks.common import silence
from benchmarks.peers import urdf
from benchmarks.peers.case import INVERSE, MASS, SINGLE, Case, Job

NAME, PACKAGE, MODULE = "PyBullet", "pybullet", "pybullet"


def jobs(case: Case) -> Iterator[Job]:
    with silence(), tempfile.NamedTemporaryFile("w", suffix=".urdf") as file:
        import pybullet

        file.write(urdf.text(case.robot))
        file.flush()
        client, flags = pybullet.connect(pybullet.DIRECT), pybullet.URDF_USE_INERTIA_FROM_FILE
        body = pybullet.loadURDF(file.name, useFixedBase=True, flags=flags, physicsClientId=client)
        pybullet.setGravity(*case.robot.gravity, physicsClientId=client)
        names = [pybullet.getJointInfo(body, i, client)[1].decode() for i in range(case.n)]
    assert names == [f"joint{i}" for i in range(case.n)]
    q, qd, qdd = (x.tolist() for x in (case.one.q, case.one.qd, case.one.qdd))
    inverse, mass = pybullet.calculateInverseDynamics, pybullet.calculateMassMatrix
    yield Job(NAME, INVERSE, SINGLE, lambda: inverse(body, q, qd, qdd, physicsClientId=client))
    yield Job(NAME, MASS, SINGLE, lambda: mass(body, q, physicsClientId=client))
