"""This project and Pinocchio on the same robots, in one run on one thread, taking turns.

    python -m benchmarks.peers

Before anything is timed, both must agree. Times are the best of many turns: on a shared machine only the best is a
property of the program. Each side is handed batches in the layout it likes: (T, n) rows here, (n, T) columns there, and
Pinocchio gets joints along z, its quickest kind.
"""

from __future__ import annotations

import platform
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

import fastdyn as fd
from tests.peers import Pinocchio

T = 8192
SIZES = (6, 7, 12, 24, 48)
TURNS = 40
Job = Callable[[], Any]


def chain(n: int) -> fd.Robot:
    """A random chain whose joints turn about z."""
    robot = fd.robots.random_chain(n, seed=1)
    joints = [replace(joint, axis=(0, 0, 1)) for joint in robot.all_joints]
    return fd.Robot(robot.all_links, joints, name=robot.name, gravity=robot.gravity)


def best(jobs: list[Job], turns: int = TURNS) -> list[float]:
    """Nanoseconds per sample of each job, at best, taking turns."""
    times = [np.inf] * len(jobs)
    for job in jobs:
        job()
    for _ in range(turns):
        for k, job in enumerate(jobs):
            start = time.perf_counter()
            job()
            times[k] = min(times[k], time.perf_counter() - start)
    return [t / T * 1e9 for t in times]


def compare(n: int) -> list[tuple[str, float, float | None]]:
    """Rows: what, nanoseconds here, nanoseconds in Pinocchio."""
    import pinocchio as pin

    robot = chain(n)
    peer = Pinocchio(robot)
    rng = np.random.default_rng(0)
    q, qd, qdd = rng.uniform(-3, 3, (3, T, n))
    tau, out, M = np.empty((T, n)), np.empty((T, n)), np.empty((T, n, n))
    columns = [np.asfortranarray(x.T) for x in (q, qd, qdd)]
    result = np.empty((n, T), order="F")
    pool = pin.ModelPool(peer.model, 1)

    robot.inverse_dynamics(q, qd, qdd, out=tau)
    pin.rneaInParallel(1, pool, *columns, result)
    _agree("inverse dynamics", tau, result.T, 100 * n)
    robot.mass_matrix(q, out=M)
    _agree("mass matrix", M[0], peer.mass_matrix(q[0]), 100 * n)
    load = columns[2].copy()
    load[...] = tau.T
    robot.forward_dynamics(q, qd, tau, out=out)
    pin.abaInParallel(1, pool, columns[0], columns[1], load, result)
    condition = max(np.linalg.cond(matrix) for matrix in M[::64])
    _agree("forward dynamics", out, result.T, 100 * condition)

    here, there = best(
        [lambda: robot.inverse_dynamics(q, qd, qdd, out=tau), lambda: pin.rneaInParallel(1, pool, *columns, result)]
    )
    rows: list[tuple[str, float, float | None]] = [("inverse dynamics", here, there)]
    here, there = best(
        [
            lambda: robot.forward_dynamics(q, qd, tau, out=out),
            lambda: pin.abaInParallel(1, pool, columns[0], columns[1], load, result),
        ]
    )
    rows.append(("forward dynamics", here, there))
    _, mass = best([lambda: robot.inverse_dynamics(q, qd, qdd, out=tau), lambda: robot.mass_matrix(q, out=M)])
    rows.append(("mass matrix", mass, None))
    return rows


def _agree(what: str, ours: np.ndarray, theirs: np.ndarray, factor: float) -> None:
    error = np.abs(ours - theirs).max() / np.abs(theirs).max()
    if not error <= factor * np.finfo(float).eps:
        sys.exit(f"{what}: fastdyn and Pinocchio differ by {error:.1e}: nothing is timed that is not the same")


def second_process() -> float:
    """Seconds from starting Python to the first torques, with compiled code in the cache."""
    code = (
        "import time; start = time.perf_counter(); import fastdyn as fd; robot = fd.robots.random_chain(6); "
        "robot.inverse_dynamics([0.1] * 6, [0.1] * 6, [0.1] * 6); print(time.perf_counter() - start)"
    )
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(5)]
    return min(float(run.stdout) for run in runs)


def machine() -> str:
    """The processor's name."""
    try:
        with open("/proc/cpuinfo") as file:
            return next(line.split(":")[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def main() -> None:
    import numba
    import pinocchio as pin

    print(f"{machine()}, one thread, batches of {T}; best of {TURNS} turns")
    print(f"fastdyn {fd.__version__}, Numba {numba.__version__}, Pinocchio {pin.__version__}\n")
    print("| joints | what | fastdyn, ns per sample | Pinocchio, ns per sample | ratio |")
    print("|---:|---|---:|---:|---:|")
    for n in SIZES:
        rows = compare(n)
        inverse = rows[0][1]
        for what, here, there in rows:
            other = f"{there:.0f} | {there / here:.1f}" if there else f"| {here / inverse:.2f} of inverse dynamics"
            print(f"| {n} | {what} | {here:.1f} | {other} |")
    print(f"\nimport and first call in a second process: {second_process():.2f} s")


if __name__ == "__main__":
    main()
