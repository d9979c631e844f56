"""Time-optimal retiming beside toppra: one path and a batch, the same grid, limits and scheme.

    python -m benchmarks.retiming [--paths 256] [--turns 20]

The Panda without friction (toppra has no viscous friction), splines through 5 way points, 100 grid points, velocity
limits of the robot and 3 / 4 of its torques. Timed on both sides, on one thread: from way points to the profile of x
and the times of the grid points, that is spline, coefficients of the torques, reachability. toppra: seidel solver,
interpolation scheme, inverse dynamics by Pinocchio or by the single-state call of fastdyn. Sides take turns. Writes
notes/measurements/retiming.md and retiming.png.
"""

from __future__ import annotations

import argparse
import logging

import numpy as np
import pinocchio as pin
import toppra
from toppra.constraint import DiscretizationType, JointTorqueConstraint, JointVelocityConstraint

import fastdyn as fd
from benchmarks.common import best, circumstances, figures, heading, markdown, page, versions, write
from fastdyn.clock import Job
from fastdyn.trajectories.retiming import time_optimal

PAGE = page("retiming")
POINTS, SHARE = 100, 0.75


def way_points(robot: fd.Robot, paths: int) -> np.ndarray:
    """In the middle of the joints' ranges."""
    low, high = robot.limits.position.T
    return low + (high - low) * np.random.default_rng(0).uniform(0.35, 0.65, (paths, 5, robot.n))


class Peer:
    """toppra with one of two functions of inverse dynamics."""

    def __init__(self, robot: fd.Robot, inverse_dynamics: str) -> None:
        self.robot, self.knots, self.grid = robot, np.linspace(0, 1, 5), np.linspace(0, 1, POINTS)
        torque, velocity = SHARE * robot.limits.effort, robot.limits.velocity
        self.velocity = np.stack([-velocity, velocity], axis=1)
        self.torque = np.stack([-torque, torque], axis=1)
        if inverse_dynamics == "Pinocchio":
            model = pin.buildModelFromXML(robot.to_urdf())
            model.gravity.linear = robot.gravity
            data = model.createData()
            self.tau = lambda q, qd, qdd: pin.rnea(model, data, q, qd, qdd).copy()
        else:
            self.tau = robot.inverse_dynamics

    def __call__(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """ds/dt and times at the grid points."""
        path = toppra.SplineInterpolator(self.knots, points)
        limits = [
            JointVelocityConstraint(self.velocity),
            JointTorqueConstraint(self.tau, self.torque, np.zeros(self.robot.n), DiscretizationType.Interpolation),
        ]
        solver = toppra.algorithm.TOPPRA(limits, path, gridpoints=self.grid, solver_wrapper="seidel")
        _, sd, _ = solver.compute_parameterization(0.0, 0.0)
        times = np.cumsum(2 * np.diff(self.grid) / (sd[1:] + sd[:-1]))
        return sd, np.append(0.0, times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--paths", type=int, default=256)
    parser.add_argument("--turns", type=int, default=20)
    options = parser.parse_args()
    logging.getLogger("toppra").setLevel(logging.ERROR)
    about = circumstances()
    about["versions"] |= versions(["toppra", "pin"])
    robot = fd.robots.panda().without_friction()
    W, torque = way_points(robot, options.paths), SHARE * robot.limits.effort
    peers = {name: Peer(robot, name) for name in ("Pinocchio", "fastdyn")}

    def ours(points: np.ndarray, threads: int = 1) -> object:
        return time_optimal(robot, points, torque=torque, grid=POINTS, threads=threads)

    batch = time_optimal(robot, W, torque=torque, grid=POINTS)
    theirs = [peers["Pinocchio"](points) for points in W]
    sd, last = np.array([each[0] for each in theirs]), np.array([each[1][-1] for each in theirs])
    jobs: dict[str, Job] = {
        "toppra, Pinocchio": lambda: peers["Pinocchio"](W[0]),
        "toppra, fastdyn": lambda: peers["fastdyn"](W[0]),
        "one path": lambda: ours(W[0]),
        "batch": lambda: ours(W),
        "batch, two threads": lambda: ours(W, 2),
    }
    seconds = best(jobs, options.turns, warm=True)
    each = {name: took / (options.paths if name.startswith("batch") else 1) for name, took in seconds.items()}
    rows = [
        (name, figures(1e6 * took), *(figures(each[peer] / took) for peer in list(jobs)[:2]))
        for name, took in each.items()
    ]
    relative = np.abs(batch.sd - sd).max(axis=1) / sd.max(axis=1)
    kinds, counts = np.unique(batch.saturated.kind, return_counts=True)
    binding = ", ".join(f"{kind or 'nothing'} at {count}" for kind, count in zip(kinds, counts, strict=True))
    apart, most = f"{np.abs(batch.duration / last - 1).max():.0e}", f"{relative.max():.0e}"
    finer = []
    for points in (50, 100, 200, 400):
        found = time_optimal(robot, W, torque=torque, grid=points)
        finer.append((str(points), f"{found.excess():.1e}", f"{found.duration.mean():.5f}"))
    batch.plot(0).savefig(PAGE.with_name("retiming.png"), dpi=80)
    write(PAGE, f"""{heading("Time-optimal retiming", about)}
    python -m benchmarks.retiming --paths {options.paths} --turns {options.turns}

The Panda without friction (toppra has no viscous friction), cubic splines through 5 way points, {POINTS} grid points,
the robot's velocity limits and 3 / 4 of its torque limits; rest at both ends. Timed on both sides, one thread unless
said: from way points to ds/dt and times of the grid points. toppra: seidel solver, interpolation scheme, inverse
dynamics by Pinocchio or by the single-state call of fastdyn. One path, or a batch of {options.paths}; sides take turns,
best of {options.turns}.

{markdown(("", ">us a path", ">times as fast as toppra, Pinocchio", ">as toppra, fastdyn"), rows)}
- Durations of the {options.paths} paths: {last.min():.3f} to {last.max():.3f} s, within {apart} of toppra's. ds/dt
  differs by at most {most} of a path's largest, median {np.median(relative):.0e}: toppra's tolerances.
- Limits that bind, of {batch.x.size} grid points: {binding}.
- The largest use of a torque limit at a grid point, less 1: {batch.use.max() - 1:.0e}.

In between, limits are exceeded as the scheme's discretisation has it: the largest excess of any limit of any path,
relative, and the mean duration:

{markdown((">grid points", ">excess", ">mean duration, s"), finer)}
![One path](retiming.png)
""")  # fmt: skip
    print(PAGE.read_text())


if __name__ == "__main__":
    main()
