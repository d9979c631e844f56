"""Simulation, trajectories and retiming, each a job of milliseconds. Versions that have none of them skip."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import fastdyn as fd


def simulated(integrator: str, law: str | None = None, soft: bool = False) -> Callable[[], Any]:
    """1024 motions of 20 steps; with a law, computed continuously."""
    from fastdyn import control, simulation

    arm = fd.robots.puma560().without_friction()
    q, qd = np.random.default_rng(0).uniform(-1, 1, (2, 1024, 6))
    controller = getattr(control, law)([0.1] * 6, 100.0, 20.0) if law else None
    springs = simulation.FlexibleJoints(stiffness=2e3, damping=5.0) if soft else None
    options = {"controller": controller, "integrator": integrator, "flexible": springs, "every": 20}
    return partial(arm.simulate, q, qd, 0.02, 1e-3, **options)


def one_short_motion() -> Callable[[], Any]:
    """What a call costs beside its steps."""
    return partial(fd.robots.two_link().simulate, [0.1, 0.2], [0.0, 0.0], 0.01, 1e-3)


def sampled() -> Callable[[], Any]:
    """A spline of 7 joints at 10,000 times."""
    from fastdyn import trajectories

    motion = trajectories.spline(np.random.default_rng(0).normal(size=(10, 7)), np.arange(10.0))
    return partial(motion, np.linspace(0, 9, 10_000), out=tuple(np.empty((3, 10_000, 7))))


def retimed(paths: int) -> Callable[[], Any]:
    """Paths of the Panda through 5 way points, 100 grid points."""
    from fastdyn import trajectories

    arm = fd.robots.panda().without_friction()
    low, high = arm.limits.position.T
    points = low + (high - low) * np.random.default_rng(0).uniform(0.35, 0.65, (paths, 5, 7))
    return partial(trajectories.time_optimal, arm, points)


JOBS: dict[str, Callable[[], Callable[[], Any]]] = {
    "simulation, euler": partial(simulated, "euler"),
    "simulation, rk4": partial(simulated, "rk4"),
    "simulation, rk4, computed torque": partial(simulated, "rk4", "computed_torque"),
    "simulation, implicit, springs": partial(simulated, "implicit", None, True),
    "simulation, one short motion": one_short_motion,
    "trajectory": sampled,
    "retiming, one path": partial(retimed, 1),
    "retiming, 64 paths": partial(retimed, 64),
}


class Motion:
    """Seconds of a call."""

    param_names = ("job",)
    params = (list(JOBS),)

    def setup(self, job: str) -> None:
        try:
            self.job = JOBS[job]()
        except (ImportError, AttributeError):
            raise NotImplementedError from None
        self.job()

    def time_call(self, job: str) -> None:
        self.job()
