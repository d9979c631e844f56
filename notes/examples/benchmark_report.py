"""A benchmark report: the classic comparison of formulations of inverse dynamics, counted and timed on this machine.

    python notes/examples/benchmark_report.py [FOLDER]

Lagrange-Euler grows as n^4, generalised d'Alembert as n^3, Newton-Euler as n. `fastdyn study` writes the whole report.
Writes benchmark_report.png.
"""

import sys
from pathlib import Path

import numpy as np

from fastdyn.bench.case import chain, states
from fastdyn.clock import best
from fastdyn.output import processor
from fastdyn.study.formulations import inverse_dynamics

SIZES, SAMPLES = (4, 8, 16, 32), 64
NAMES = {"lagrange_euler": 4, "generalized_dalembert": 3, "newton_euler_link": 1}  # and the exponent


def main(folder: Path) -> None:
    """Runs the example, checks its results and writes its pictures."""
    jobs, right = {}, {}
    for n in SIZES:
        robot, motion = chain(n), states(n, SAMPLES)
        right[n] = robot.inverse_dynamics(*motion)
        for name in NAMES:
            found = inverse_dynamics(robot, *motion, name)
            assert np.abs(found - right[n]).max() <= 1e-9 * np.abs(right[n]).max()  # they agree before they are timed
            jobs[name, n] = lambda robot=robot, motion=motion, name=name: inverse_dynamics(robot, *motion, name)
    seconds = best(jobs, turns=5)  # jobs take turns: a disturbance slows all of them
    print(f"us a state on {processor()}, best of 5, {SAMPLES} states a call, whose fixed cost counts")
    for name, power in NAMES.items():
        times = [1e6 * seconds[name, n] / SAMPLES for n in SIZES]
        slope = np.log2(times[-1] / times[-2])
        print(f"{name:24}", *(f"{x:9.3f}" for x in times), f"  grows as n^{slope:.1f} at the end (text: n^{power})")

    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4), layout="constrained")
    axis = figure.subplots()
    for name in NAMES:
        axis.loglog(SIZES, [1e6 * seconds[name, n] / SAMPLES for n in SIZES], "o-", label=name.replace("_", " "))
    axis.set_xlabel("joints")
    axis.set_ylabel("time of one state [us]")
    axis.legend()
    figure.suptitle(f"Inverse dynamics on {processor()}")
    figure.savefig(folder / "benchmark_report.png", dpi=80)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent))
