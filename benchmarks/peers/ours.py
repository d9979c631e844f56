"""fastdyn: (T, n) rows in and out; for one state it checks its arguments and returns a new array."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from benchmarks.peers.case import BATCH, FORWARD, INVERSE, MASS, SINGLE, Case, Job

NAME, PACKAGE, MODULE = "fastdyn", "fastdyn", "fastdyn"


def jobs(case: Case) -> Iterator[Job]:
    robot, n, one = case.robot, case.n, case.one
    rows, matrices = np.empty((case.T, n)), np.empty((case.T, n, n))
    yield Job(NAME, INVERSE, BATCH, lambda: robot.inverse_dynamics(case.q, case.qd, case.qdd, out=rows))
    yield Job(NAME, FORWARD, BATCH, lambda: robot.forward_dynamics(case.q, case.qd, case.tau, out=rows))
    yield Job(NAME, MASS, BATCH, lambda: robot.mass_matrix(case.q, out=matrices))
    yield Job(NAME, INVERSE, SINGLE, lambda: robot.inverse_dynamics(one.q, one.qd, one.qdd))
    yield Job(NAME, FORWARD, SINGLE, lambda: robot.forward_dynamics(one.q, one.qd, one.tau))
    yield Job(NAME, MASS, SINGLE, lambda: robot.mass_matrix(one.q))
    yield from _bound(case)


def _bound(case: Case) -> Iterator[Job]:
    """The same on fixed memory, as in a control loop."""
    name = f"{NAME}, bound"
    for what, method, result in (
        (INVERSE, "inverse_dynamics", "tau"),
        (FORWARD, "forward_dynamics", "qdd"),
        (MASS, "mass_matrix", "M"),
    ):
        loop = case.robot.bind()
        loop.q[:], loop.qd[:], loop.qdd[:], loop.tau[:] = case.one.q, case.one.qd, case.one.qdd, case.one.tau
        yield Job(name, what, SINGLE, getattr(loop, method), answer=partial(getattr, loop, result))
