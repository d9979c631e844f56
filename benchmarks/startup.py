"""Time to the first result: with compiled code in the cache, and with an empty cache.

python -m benchmarks.startup [--quick]
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile

FIRST_CALL = """
import time; start = time.perf_counter()
import fastdyn as fd
robot = fd.robots.random_chain(6)
robot.inverse_dynamics([0.1] * 6, [0.1] * 6, [0.1] * 6)
print(time.perf_counter() - start)
"""

FIRST_CALLS = """
import json, sys, time; start = time.perf_counter()
import numpy as np, fastdyn as fd
found = {"import": time.perf_counter() - start}
robot = fd.robots.random_chain(6)
from fastdyn.quantities import METHODS
calls = {name: len(rows[0].reads) for name, rows in METHODS.items()}
for name in sys.argv[1:] or calls:
    for shape, what in (((6,), "one state"), ((16, 6), "batch")):
        start = time.perf_counter()
        getattr(robot, name)(*[np.full(shape, 0.1)] * calls[name])
        found[f"{name}, {what}"] = time.perf_counter() - start
print(json.dumps(found))
"""


def _run(code: str, *arguments: str, **environment: str) -> str:
    command, env = [sys.executable, "-c", code, *arguments], {**os.environ, **environment}
    return subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True, check=True).stdout


def second_process(runs: int = 5) -> float:
    """Seconds from `import fastdyn` to the first torques, with compiled code in the cache."""
    return min(float(_run(FIRST_CALL)) for _ in range(runs + 1))


def first_process(quick: bool = False) -> dict[str, float]:
    """Seconds of the import and of each function's first call, with an empty cache; measured once."""
    with tempfile.TemporaryDirectory() as empty:
        found: dict[str, float] = json.loads(_run(FIRST_CALLS, *["inverse_dynamics"] * quick, FASTDYN_CACHE_DIR=empty))
    return found


def main() -> None:
    for what, seconds in first_process("--quick" in sys.argv).items():
        print(f"{seconds:6.2f} s  {what}, empty cache")
    print(f"{second_process():6.2f} s  import and first call in a second process")


if __name__ == "__main__":
    main()
