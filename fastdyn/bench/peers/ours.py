"""fastdyn: (T, n) rows in and out; for one state it checks its arguments and returns a new array.

Built-in arms also as specialised robots; chains of generic geometry gain little by that, and take long to compile.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from fastdyn.bench.case import BATCH, FORWARD, INVERSE, MASS, SINGLE, Case, Job
from fastdyn.robots import names

NAME = "fastdyn"
SPECIALISED = f"{NAME}, specialised"


def jobs(case: Case) -> Iterator[Job]:
    """Batches, one state, and one state on fixed memory, as in a control loop."""
    yield from _jobs(NAME, case.robot, case)
    if case.robot.name in names():
        yield from _jobs(SPECIALISED, case.robot.specialize(), case)


def _jobs(name: str, robot: Any, case: Case) -> Iterator[Job]:
    n, one = case.n, case.one
    rows, matrices = np.empty((case.T, n)), np.empty((case.T, n, n))
    yield Job(name, INVERSE, BATCH, lambda: robot.inverse_dynamics(case.q, case.qd, case.qdd, out=rows))
    yield Job(name, FORWARD, BATCH, lambda: robot.forward_dynamics(case.q, case.qd, case.tau, out=rows))
    yield Job(name, MASS, BATCH, lambda: robot.mass_matrix(case.q, out=matrices))
    yield Job(name, INVERSE, SINGLE, lambda: robot.inverse_dynamics(one.q, one.qd, one.qdd))
    yield Job(name, FORWARD, SINGLE, lambda: robot.forward_dynamics(one.q, one.qd, one.tau))
    yield Job(name, MASS, SINGLE, lambda: robot.mass_matrix(one.q))
    for what, method, result in (
        (INVERSE, "inverse_dynamics", "tau"),
        (FORWARD, "forward_dynamics", "qdd"),
        (MASS, "mass_matrix", "M"),
    ):
        loop = robot.bind(method)
        for given in {"q", "qd", "qdd", "tau"} - {result}:
            if hasattr(loop, given):
                getattr(loop, given)[:] = getattr(one, given)
        yield Job(f"{name}, bound", what, SINGLE, getattr(loop, method), answer=partial(getattr, loop, result))
