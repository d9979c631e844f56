"""Compilation ahead of time."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from fastdyn.calls.arguments import FLOAT, precision
from fastdyn.compiler.announce import announced
from fastdyn.errors import ArgumentError, SingularMassMatrixError
from fastdyn.quantities import CONTROLLERS, METHODS


def warmup(
    robot: Any, quantities: Iterable[str] | None = None, batch: bool = True, dtype: DTypeLike | None = None
) -> None:
    """Compiles, or loads from the cache, the code for calls on a robot, so that no later call has to.

    quantities: the methods that will be called, all if not given, and controllers by name; batch: whether to include
    batches; dtype: their precision, float64 if not given (call it twice for both). Bound calls and C functions of these
    quantities, which exist in float64, are included with it (a fleet has none). The first run on a machine takes about
    a minute for all quantities, and says on a terminal what it is compiling; later runs take about a second.

    >>> import fastdyn as fd
    >>> robot = fd.robots.two_link()
    >>> fd.warmup(robot, ["gravity_forces"], batch=False)
    """
    from numba.core import config

    from fastdyn.calls import generate
    from fastdyn.calls.bound import c_functions
    from fastdyn.calls.fleet import STATES, FleetTask
    from fastdyn.calls.headers import READABLE, WELL_FORMED
    from fastdyn.calls.payload import SET_PAYLOAD

    known = METHODS | {name: [row] for name, row in CONTROLLERS.items()}
    names = [quantities] if isinstance(quantities, str) else list(METHODS if quantities is None else quantities)
    for name in names:
        if name not in known:
            raise ArgumentError(f"quantities names {name!r}: expected some of {', '.join(map(repr, known))}")
    coupled, real = robot.parameters.coupled, precision(dtype)
    if READABLE:
        WELL_FORMED.compiled()  # also used for one state that needs conversion or has out=
    if not config.DISABLE_JIT and real is FLOAT:
        SET_PAYLOAD.compiled()
    rows = [row for name in names for row in known[name]]
    for k, quantity in enumerate(rows, 1):
        with announced(f"{quantity.name} ({k} of {len(rows)})"):
            task = robot.task(quantity, dtype)
            state = tuple(np.zeros(core, real) for core in list(task.inputs.values())[: len(quantity.reads)])
            lead = (STATES, 1) if isinstance(task, FleetTask) else (1,)
            calls = [state, tuple(np.zeros(lead + value.shape, real) for value in state)]
            calls = calls[: 2 if batch else 1] if quantity.name not in CONTROLLERS else []  # those are only bound, or C
            for values in calls:
                with suppress(SingularMassMatrixError):
                    task(values)
            if not config.DISABLE_JIT and robot.n and real is FLOAT and not isinstance(task, FleetTask):
                row = task.parameters.row(quantity)
                generate.bound(row, coupled).compiled()
                for other, optional in c_functions().values():
                    if other is quantity:
                        generate.c_function(row, coupled, optional).address()
