"""Adaptive integration by SciPy: compiled code computes the accelerations of a state, SciPy chooses the steps."""

from __future__ import annotations

import copy
import math
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from fastdyn.errors import FastdynError, MissingExtraError, NotFiniteError
from fastdyn.mechanism.parts import Array
from fastdyn.simulation.laws import Law
from fastdyn.simulation.result import Simulation

if TYPE_CHECKING:
    from fastdyn.simulation.run import Run

TOLERANCE = 1e-9  # of SciPy's rtol and atol
NONE = np.empty((0, 0))


def integrate(run: Run, law: Law) -> Simulation:
    """All motions, one after the other; times between records are those of `run`."""
    try:
        solve_ivp = import_module("scipy.integrate").solve_ivp
    except ImportError as problem:
        raise MissingExtraError(
            f"integrator {run.integrator!r} needs scipy, which is missing: pip install fastdyn[simulation]"
        ) from problem
    times: Array = (run.every * run.dt) * np.arange(run.total // run.every + 1, dtype=np.float64)
    found = [_motion(solve_ivp, run, law, k, times) for k in range(run.T)]
    if not found:
        return run.finished([np.empty((0, len(times), run.n))] * (4 + 2 * run.flexible), times)
    return run.finished([np.stack(parts) for parts in zip(*found, strict=True)], times)


def _motion(solve_ivp: Any, run: Run, law: Law, k: int, times: Array) -> list[Array]:
    """One motion: q, qd, qdd, tau (K, n); of flexible joints also q and qd of the motors."""
    n, R = run.n, len(run.robots)
    one = copy.copy(run)
    one.T, one.lead, one.total, one.robot, one.robots = 1, (), 0, run.robots[k % R], (run.robots[k % R],)
    one.parameters, one.drives = one.robot.parameters, [run.drives[k % R]]
    one.state, one.order = run.state[k : k + 1], np.arange(1)
    each = getattr(law.parameters, "each", None)
    law = law._replace(
        gains=law.gains[k : k + 1] if len(law.gains) > 1 else law.gains,
        parameters=law.parameters if each is None else each[k % R],
    )
    loop = one.loop(law, 1)
    wide = n * (1 + run.flexible)
    places = [slice(2 * n * half, 2 * n * half + wide) for half in (0, 1)]  # of positions and velocities in a state

    def rate(t: float, x: Array) -> Array:
        for place, values in zip(places, (x[:wide], x[wide:]), strict=True):
            loop.state[0, place] = values
        if run.python is not None:
            reference = run.asked(t, x[wide - n : wide].copy(), x[2 * wide - n :].copy())[None]
        else:
            reference = law.at(np.array([t]))
            reference = reference[k : k + 1] if len(reference) > 1 else reference
        if loop(0, 1, reference, NONE):  # SciPy tries a shorter step
            return np.full(2 * wide, math.nan)
        arm = loop.out[2][0]
        return np.concatenate([x[wide:], arm, loop.motor[0, 2 * n :]] if run.flexible else [x[wide:], arm])

    start = np.concatenate([run.state[k, place] for place in places])
    tolerance = {
        "rtol": TOLERANCE if run.rtol is None else run.rtol,
        "atol": TOLERANCE if run.atol is None else run.atol,
    }
    which = f"{one.robot.name}{f' of sample {k}' * bool(run.lead)}"
    end = max(float(times[-1]), run.total * run.dt)
    try:
        found = solve_ivp(rate, (0.0, end), start, run.integrator, times, **tolerance)
    except FastdynError:
        raise
    except (ValueError, np.linalg.LinAlgError) as problem:  # of implicit methods: NaN in a matrix
        raise NotFiniteError(f"SciPy's {run.integrator} failed on the motion of {which}: {problem}") from problem
    if not found.success or not np.isfinite(found.y).all():
        reached = f"{found.t[-1]:g} s" if len(found.t) else "its start"
        raise NotFiniteError(f"SciPy's {run.integrator} stopped the motion of {which} at {reached}: {found.message}")
    x = found.y.T
    rows = []
    for t, values in zip(times, x, strict=True):
        rows.append((rate(t, values)[wide : wide + n], loop.out[3][0].copy()))
    qdd, tau = (np.array(part) for part in zip(*rows, strict=True))
    motors = [x[:, n:wide], x[:, wide + n :]] * run.flexible
    return [x[:, :n], x[:, wide : wide + n], qdd, tau, *motors]
