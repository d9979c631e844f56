"""Time to the first result: with compiled code in the cache, and with an empty cache.

    python -m benchmarks.startup [--quick]

Each figure is that of a new process: wall time, and processor time, which other programs disturb less.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

VERSION_0_1 = (
    "inverse_dynamics", "forward_dynamics", "mass_matrix", "coriolis_matrix", "bias_forces", "gravity_forces",
    "kinetic_energy", "potential_energy", "joint_reactions",
)  # fmt: skip
MADE = "import numpy as np, fastdyn as fd; robot = fd.robots.random_chain(6); "
IMPORT = "import fastdyn"
FIRST_CALL = MADE + "robot.inverse_dynamics(*[np.full(6, 0.1)] * 3)"
FIRST_BATCH = MADE + "robot.inverse_dynamics(*[np.full((16, 6), 0.1)] * 3)"
JOBS = {
    "import": IMPORT,
    "first inverse dynamics, one state": FIRST_CALL,
    "first inverse dynamics, a batch": FIRST_BATCH,
    "bind, inverse dynamics": MADE + "robot.bind('inverse_dynamics')",
}
LONG_JOBS = {
    "bind, all quantities": MADE + "robot.bind()",
    f"warmup of {len(VERSION_0_1)} quantities, float64": MADE + f"fd.warmup(robot, {VERSION_0_1})",
}
TIMED = """
import time; begun = time.perf_counter(), time.process_time()
{job}
print(time.perf_counter() - begun[0], time.process_time() - begun[1])
"""


def seconds(job: str, **environment: str) -> tuple[float, float]:
    """Wall time and processor time of some code in a new process, without the start of Python itself."""
    command, env = [sys.executable, "-c", TIMED.format(job=job)], {**os.environ, **environment}
    wall, processor = subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    return float(wall), float(processor)


def cold(job: str) -> tuple[float, float]:
    """With an empty cache; measured once."""
    with tempfile.TemporaryDirectory() as empty:
        return seconds(job, FASTDYN_CACHE_DIR=empty)


def warm(job: str, runs: int = 5) -> tuple[float, float]:
    """With compiled code in the cache: the best of some runs."""
    return min(seconds(job) for _ in range(runs + 1))


def _jobs(quick: bool) -> dict[str, str]:
    return JOBS if quick else {**JOBS, **LONG_JOBS}


def main() -> None:
    print("  wall, s  processor, s")
    for name, job in _jobs("--quick" in sys.argv).items():
        print("{:9.2f} {:9.2f}    {}, empty cache".format(*cold(job), name), flush=True)
    for name, job in {"import": IMPORT, "first inverse dynamics, one state": FIRST_CALL}.items():
        print("{:9.2f} {:9.2f}    {}, second process".format(*warm(job), name), flush=True)


if __name__ == "__main__":
    main()
