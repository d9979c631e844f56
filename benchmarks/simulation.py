"""Simulation: steps a second beside MuJoCo's rollout, and how well integrators keep energy.

    python -m benchmarks.simulation [--states 8192] [--steps 20] [--turns 7]

Both sides simulate the same arm, without friction and contacts, from the same states under the same constant torques on
one thread, and keep every step: MuJoCo its state, fastdyn q, qd, qdd and tau. Before, their final states are compared.
Writes notes/measurements/simulation.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import mujoco
import numpy as np
from mujoco import rollout

import fastdyn as fd
from benchmarks.common import best, circumstances, figures, heading, markdown, page, versions, write
from fastdyn.bench.case import plain
from fastdyn.bench.peers.models import mujoco_model
from fastdyn.simulation import FlexibleJoints

PAGE = page("simulation")
DT = 1e-3
SPEEDS = ("robot", "integrator", ">every step", ">last only", ">MuJoCo", ">ratio", ">last only", ">difference, rad")
INTEGRATORS = {"euler": mujoco.mjtIntegrator.mjINT_EULER, "rk4": mujoco.mjtIntegrator.mjINT_RK4}


def speeds(name: str, T: int, steps: int, turns: int) -> Iterator[tuple[str, ...]]:
    """Rows of the table for one robot."""
    robot = plain(name)
    n = robot.n
    model, data = mujoco_model(robot)
    model.opt.timestep = DT
    q, qd, tau = np.random.default_rng(0).uniform(-1, 1, (3, T, n))
    start = np.zeros((T, mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
    start[:, 1 : 1 + n], start[:, 1 + n : 1 + 2 * n] = q, qd
    torques = np.repeat(tau[:, None], steps, axis=1)
    kept = np.empty((T, steps, start.shape[1]))
    runner = rollout.Rollout(nthread=0)
    for integrator, theirs in INTEGRATORS.items():
        model.opt.integrator = theirs

        def peer() -> Any:
            runner.rollout(model, data, start, torques, control_spec=mujoco.mjtState.mjSTATE_QFRC_APPLIED, state=kept)

        def ours(every: int = 1, integrator: str = integrator) -> Any:
            return robot.simulate(q, qd, steps * DT, DT, integrator=integrator, tau=tau, every=every)

        peer()
        error = np.abs(ours().q[:, -1] - kept[:, -1, 1 : 1 + n]).max()
        assert error < 1e-10, error
        took = best({"ours": ours, "last": lambda: ours(steps), "peer": peer}, turns)
        each = {side: 1e9 * seconds / (T * steps) for side, seconds in took.items()}
        yield (
            name, integrator, figures(each["ours"]), figures(each["last"]), figures(each["peer"]),
            f"{each['peer'] / each['ours']:.1f}", f"{each['peer'] / each['last']:.1f}", f"{error:.0e}",
        )  # fmt: skip


def drifts() -> Iterator[tuple[str, ...]]:
    """Rows of the table of energies: PUMA 560, 10 s, median of 16 starts."""
    arm = fd.robots.puma560().without_friction()
    starts = np.random.default_rng(5).uniform(-1, 1, (2, 16, 6))
    soft = FlexibleJoints([2e3, 2e3, 2e3, 5.0, 5.0, 5.0])
    cases = [
        ("rk4", "rigid", None, (4e-3, 2e-3, 1e-3, 5e-4)),
        ("euler", "rigid", None, (4e-3, 2e-3, 1e-3, 5e-4)),
        ("rk4", "flexible", soft, (1e-3, 5e-4, 2.5e-4, 1.25e-4)),
        ("euler", "flexible", soft, (1e-3, 5e-4, 2.5e-4, 1.25e-4)),
    ]
    for integrator, kind, flexible, steps in cases:
        found = []
        for dt in steps:
            r = arm.simulate(*starts, 10.0, dt, integrator=integrator, flexible=flexible, every=round(4e-3 / dt))
            change = np.abs(r.energy - r.energy[:, :1]).max(axis=1) / r.kinetic_energy.max(axis=1)
            found.append(np.median(change))
        texts = [
            f"{found[0]:.1e}",
            *(f"{b:.1e} ({a / b:.1f})" for a, b in pairwise(found)),
        ]
        yield integrator, kind, ", ".join(f"{1e3 * dt:g}" for dt in steps), *texts


def main() -> None:
    """Measures and writes the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--states", type=int, default=8192)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--turns", type=int, default=7)
    given = parser.parse_args()
    about = circumstances()
    about["versions"] |= versions(["mujoco"])
    table = [row for name in ("puma560", "panda") for row in speeds(name, given.states, given.steps, given.turns)]
    energy = list(drifts())
    write(PAGE, f"""{heading("Simulation", about)}
    python -m benchmarks.simulation --states {given.states} --steps {given.steps} --turns {given.turns}

## Beside MuJoCo's rollout

{given.states} states, {given.steps} steps of 1 ms, the same constant torques, no contacts, no friction; one thread. ns
a step, best of {given.turns} turns taken in alternation. Kept: every step (MuJoCo: its state; fastdyn: q, qd, qdd,
tau), or with fastdyn the last one only. Ratio: how many times as fast fastdyn is.

{markdown(SPEEDS, table)}
## Energy of a passive arm

PUMA 560 without friction, 10 s, 16 starts: the largest change of energy relative to the largest kinetic energy, median
of the starts, for four steps; in brackets how many times smaller than with the step before. Flexible: springs of
2000 N m/rad at the first three joints, 5 at the wrist.

{markdown(("integrator", "joints", "steps, ms", ">1st", ">2nd", ">3rd", ">4th"), energy)}""")  # fmt: skip
    print(PAGE.read_text())


if __name__ == "__main__":
    main()
