"""Time-optimal retiming beside toppra: one path and a batch, the same grid, limits and scheme.

    python -m benchmarks.retiming [--paths 256] [--turns 20] [--picture FILE]

The Panda without friction (toppra has no viscous friction), splines through 5 way points, 100 grid points, velocity
limits of the robot and 3 / 4 of its torques. Timed on both sides, on one thread: from way points to the profile of x
and the times of the grid points, that is spline, coefficients of the torques, reachability. toppra: seidel solver,
interpolation scheme, inverse dynamics by Pinocchio or by the single-state call of fastdyn. Sides take turns.
"""

from __future__ import annotations

import argparse
import logging

import numpy as np
import pinocchio as pin
import toppra
from toppra.constraint import DiscretizationType, JointTorqueConstraint, JointVelocityConstraint

import fastdyn as fd
from benchmarks.common import best, circumstances, figures, heading, markdown, versions
from fastdyn.clock import Job
from fastdyn.trajectories.retiming import time_optimal

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
    parser.add_argument("--picture")
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
    print(heading(f"fastdyn {fd.__version__}: time-optimal retiming", about))
    rows = [
        (name, figures(1e6 * took), *(figures(each[peer] / took) for peer in list(jobs)[:2]))
        for name, took in each.items()
    ]
    print(markdown(("", ">us per path", ">times as fast as toppra, Pinocchio", ">as toppra, fastdyn"), rows))
    relative = np.abs(batch.sd - sd).max(axis=1) / sd.max(axis=1)
    print(
        f"Durations {last.min():.3f} to {last.max():.3f} s, "
        f"within {np.abs(batch.duration / last - 1).max():.1e} of toppra's"
    )
    print(f"ds/dt, of a path's largest: {relative.max():.1e}, median {np.median(relative):.1e}")
    kinds, counts = np.unique(batch.saturated.kind, return_counts=True)
    print("binding at grid points:", {str(k) or "none": int(c) for k, c in zip(kinds, counts, strict=True)})
    print(f"largest use of a torque limit at grid points - 1: {batch.use.max() - 1:.1e}")
    for points in (50, 100, 200, 400):
        found = time_optimal(robot, W, torque=torque, grid=points)
        print(
            f"{points} grid points: excess in between {found.excess():.1e}, mean duration {found.duration.mean():.5f} s"
        )
    if options.picture:
        batch.plot(0).savefig(options.picture, dpi=80)


if __name__ == "__main__":
    main()
