"""Compiling before it matters."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

import numpy as np
from numba.core import config

from fastdyn.calls.workspace import BOUND, C_FUNCTIONS
from fastdyn.errors import ArgumentError, SingularMassMatrixError
from fastdyn.robot import CoupledRobot, Robot

# how many arguments of a state each takes
_STATES = {
    "inverse_dynamics": 3,
    "forward_dynamics": 3,
    "joint_reactions": 3,
    "bias_forces": 2,
    "coriolis_matrix": 2,
    "kinetic_energy": 2,
    "mass_matrix": 1,
    "gravity_forces": 1,
    "potential_energy": 1,
}


def warmup(robot: Robot | CoupledRobot, quantities: Iterable[str] | None = None, batch: bool = True) -> None:
    """Compiles, or loads from the cache, what calls on a robot need, so that no later call has to.

    quantities: the methods that will be called, all if not given; batch: whether for batches too, or for single states
    only. Bound calls and C functions of these quantities are made ready in any case. On a machine's first run this can
    take minutes for everything, later about a second.

    >>> import fastdyn as fd
    >>> robot = fd.robots.two_link()
    >>> fd.warmup(robot, ["gravity_forces"], batch=False)
    """
    names = [quantities] if isinstance(quantities, str) else list(_STATES if quantities is None else quantities)
    for name in names:
        if name not in _STATES:
            raise ArgumentError(f"quantities names {name!r}: expected some of {', '.join(map(repr, _STATES))}")
    one = np.zeros(robot.n)
    calls = [(one, 1), (one, 2), (one[None], 1)][: 3 if batch else 2]  # states and threads: each goes another way
    for name in names:
        methods = [{"method": "aba"}, {"method": "crba"}] if name == "forward_dynamics" else [{}]
        for state, threads in calls:
            for method in methods:
                with suppress(SingularMassMatrixError):
                    getattr(robot, name)(*[state] * _STATES[name], threads=threads, **method)
        if name in BOUND and not config.DISABLE_JIT:
            BOUND[name].compiled()
            C_FUNCTIONS[name][0].address()
