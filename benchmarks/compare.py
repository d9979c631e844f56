"""This version of the package against another one: every quantity and kind of call, as ratios of times.

    python -m benchmarks.compare OTHER [--rounds 6]

OTHER: a checkout of the other version (git worktree add ../other REVISION). The two run in separate processes that take
turns; each figure is the best of all rounds. A ratio above 1 means that this version is slower.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import best, chain, circumstances, heading, markdown, states

HERE = Path(__file__).resolve().parent.parent
N = ("n",)  # the shape of q, qd, qdd and tau
try:  # the shapes of what each takes
    from fastdyn.quantities import METHODS

    QUANTITIES = {
        f"{name} {row.method}".strip() if row is not rows[0] else name: [field.shape for field in row.reads]
        for name, rows in METHODS.items()
        for row in rows
    }
except ImportError:  # version 0.1 had no table of quantities
    QUANTITIES = {
        "inverse_dynamics": [N] * 3, "forward_dynamics": [N] * 3, "forward_dynamics crba": [N] * 3,
        "joint_reactions": [N] * 3, "bias_forces": [N] * 2, "coriolis_matrix": [N] * 2, "kinetic_energy": [N] * 2,
        "mass_matrix": [N], "gravity_forces": [N], "potential_energy": [N],
    }  # fmt: skip
JOINTS = (6, 7, 24, 48)
T = 4096


def jobs() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Every job of the version that this process imports, with its name."""
    for n in JOINTS:
        robot = chain(n)
        loop = robot.bind() if n < 10 else None
        many, one = states(n, T), [x[0].copy() for x in states(n, 1)]
        for name, shapes in QUANTITIES.items():
            method, _, text = name.partition(" ")
            options = {"method": text} if text else {}
            call = partial(getattr(robot, method), **options)
            given = [many[k] if shape == N else np.ones((T, *shape)) for k, shape in enumerate(shapes)]
            result = call(*given)
            several = isinstance(result, tuple)
            out = {"out": tuple(result) if several else result} if several or np.ndim(result) > 1 else {}
            yield f"{name}, batch, {n}", partial(call, *given, **out)
            if n < 10:
                yield f"{name}, one state, {n}", partial(call, *(value[0].copy() for value in given))
                if not text and callable(getattr(loop, method, None)):
                    for field, value in zip(("q", "qd", "qdd", "tau"), (*one, one[2]), strict=True):
                        getattr(loop, field)[:] = value
                    yield f"{name}, bound, {n}", getattr(loop, method)
        single = [x.astype(np.float32) for x in many]
        yield f"inverse_dynamics, float32, {n}", partial(robot.inverse_dynamics, *single, dtype=np.float32)


def worker(turns: int) -> None:
    """Prints the best seconds of each job."""
    print(json.dumps({name: best({name: job}, turns, warm=True)[name] for name, job in jobs()}))


def run(tree: Path, turns: int) -> dict[str, float]:
    """The figures of one version, from a separate process."""
    environment = {**os.environ, "PYTHONPATH": str(tree), "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, __file__, "--worker", "--turns", str(turns), str(tree)]
    done = subprocess.run(command, env=environment, cwd=tree, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{tree}: {done.stderr}")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("other", type=Path)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--turns", type=int, default=12)
    parser.add_argument("--worker", action="store_true", help="only print the figures of the version that is imported")
    chosen = parser.parse_args()
    if chosen.worker:
        return worker(chosen.turns)
    trees = {"this": HERE, "other": chosen.other.resolve()}
    found: dict[str, dict[str, float]] = {name: {} for name in trees}
    for _ in range(chosen.rounds):
        for name, tree in trees.items():
            for job, seconds in run(tree, chosen.turns).items():
                found[name][job] = min(seconds, found[name].get(job, np.inf))
    rows = [
        (*job.rsplit(", ", 2), f"{1e6 * seconds:.3g}", f"{seconds / found['other'][job]:.3f}")
        for job, seconds in found["this"].items()
        if job in found["other"]
    ]
    print(heading("this version against another", circumstances()))
    print(f"Batches of {T}; best of {chosen.rounds} rounds of {chosen.turns} turns, processes taking turns.\n")
    print(markdown(("quantity", "call", ">joints", ">us", ">time over the other's"), rows))


if __name__ == "__main__":
    main()
