"""Torques of a PUMA 560 along a smooth trajectory of 100,000 set points: computed, checked, timed and plotted.

python -m fastdyn.demo [folder]
"""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import fastdyn as fd
from fastdyn import clock
from fastdyn.interrupt import INTERRUPTED, handle_again
from fastdyn.mechanism.parts import Array
from fastdyn.output import check_folder, machine, print_anything, write

SET_POINTS = 100_000
SECONDS = 10.0  # length of the motion


def trajectory(
    robot: fd.Robot, points: int = SET_POINTS, seconds: float = SECONDS
) -> tuple[Array, Array, Array, Array]:
    """t (T,), q, qd, qdd (T, n): each joint oscillates about the middle of its range, at its own frequency.

    The phase s(t) is a cycloid: the motion starts and ends at rest, without a jump in acceleration. Derivatives are
    exact.
    """
    t = np.linspace(0.0, seconds, points)
    turn = 2 * np.pi / seconds
    s, sd, sdd = t - np.sin(turn * t) / turn, 1 - np.cos(turn * t), turn * np.sin(turn * t)
    lower, upper = robot.limits.position.T
    centre, reach = (lower + upper) / 2, (upper - lower) / 4
    pace = turn * np.arange(1, robot.n + 1) / 2
    wave, slope = np.sin(s[:, None] * pace), np.cos(s[:, None] * pace)
    q = centre + reach * wave
    qd = reach * pace * slope * sd[:, None]
    qdd = reach * pace * (slope * sdd[:, None] - pace * wave * sd[:, None] ** 2)
    return t, q, qd, qdd


def main(folder: str = "demo") -> None:
    """Computes, checks, times, and writes torques.npz and torques.png into the folder."""
    print_anything()
    target = Path(folder)
    check_folder(target, "folder")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", fd.RobotWarning)
        robot = fd.robots.puma560()
    print(f"{robot!r} on {machine()}")
    for warning in caught:
        print(f"note: {warning.message}")

    start = time.perf_counter()
    t, q, qd, qdd = trajectory(robot)
    tau = robot.inverse_dynamics(q, qd, qdd)
    found = robot.forward_dynamics(q, qd, tau)
    robot.inverse_dynamics(q[0], qd[0], qdd[0])
    print(f"ready in {time.perf_counter() - start:.1f} s (the first run on a machine compiles; later ones load)")

    out = np.empty_like(tau)
    seconds = clock.best(
        {
            "one": lambda: [robot.inverse_dynamics(q[k], qd[k], qdd[k]) for k in range(1000)],
            "batch": lambda: robot.inverse_dynamics(q, qd, qdd, out=out),
            "two": lambda: robot.inverse_dynamics(q, qd, qdd, out=out, threads=2),
            "forward": lambda: robot.forward_dynamics(q, qd, tau, out=out),
        },
        turns=20,
    )
    ns = {name: 1e9 * took / (1000 if name == "one" else len(t)) for name, took in seconds.items()}
    print(f"inverse dynamics of {len(t):,} set points, per set point:")
    print(f"  one call each     {ns['one']:10,.0f} ns  (checks and the call itself included)")
    print(f"  one batch         {ns['batch']:10,.1f} ns")
    print(f"  two threads       {ns['two']:10,.1f} ns")
    print(f"forward dynamics    {ns['forward']:10,.1f} ns")
    error = np.abs(found - qdd).max()
    print(f"forward dynamics recovers the accelerations: largest error {error:.1e} rad/s^2 of {np.abs(qdd).max():.1f}")

    write(target / "torques.npz", lambda file: np.savez_compressed(file, t=t, q=q, qd=qd, qdd=qdd, tau=tau))
    print(f"wrote {target / 'torques.npz'}: t, q, qd, qdd, tau")
    figure = _picture(robot, t, tau)
    write(target / "torques.png", lambda file: figure.savefig(file, format="png", dpi=120))
    print(f"wrote {target / 'torques.png'}")


def _picture(robot: fd.Robot, t: Array, tau: Array) -> Any:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 10), layout="constrained")
    axes = figure.subplots(robot.n, 1, sharex=True)
    step = max(1, len(t) // 4000)  # no more points than the picture has pixels
    for axis, joint, torque in zip(axes, robot.joints, tau.T, strict=True):
        axis.axhline(0, color="0.7", linewidth=0.8)
        axis.plot(t[::step], torque[::step], color="black", linewidth=1.2)
        axis.set_ylabel(f"{joint.name}\n[{'N' if joint.kind == 'prismatic' else 'N m'}]")
        axis.margins(x=0)
    axes[-1].set_xlabel("time [s]")
    figure.suptitle(f"Joint torques of the {robot.name} along {len(t):,} set points\n(friction and rotors included)")
    return figure


if __name__ == "__main__":
    handle_again()
    try:
        main(*sys.argv[1:2])
    except fd.FastdynError as problem:
        print(f"fastdyn.demo: {problem}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
