"""Time of a point (q, qd, qdd of 7 joints) of each kind of trajectory, beside SciPy.

    python -m benchmarks.trajectories [--turns 300]

SciPy evaluates the same piecewise polynomials, and their derivatives made ahead (`PPoly`, or `CubicSpline` for the
spline); of the cycloidal motion NumPy computes the formula. Writes notes/measurements/trajectories.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline, PPoly

from benchmarks.common import best, circumstances, figures, heading, markdown, page, versions, write
from fastdyn import trajectories
from fastdyn.clock import Job

PAGE = page("trajectories")
POINTS, N = 20_000, 7
COLUMNS = ("kind", ">segments", ">ns a point", ">times in random order", ">SciPy", ">ratio", ">one time, us")


def motions() -> dict[str, trajectories.Trajectory]:
    random = np.random.default_rng(0)
    q0, q1 = random.normal(size=(2, N))
    points, times = random.normal(size=(10, N)), np.arange(10.0)
    return {
        "cycloidal": trajectories.cycloidal(q0, q1, 2.0),
        "cubic": trajectories.cubic(q0, q1, 2.0),
        "quintic": trajectories.quintic(q0, q1, 2.0),
        "trapezoidal": trajectories.trapezoidal(q0, q1, 1.0, 2.0),
        "jerk_limited": trajectories.jerk_limited(q0, q1, 1.0, 2.0, 10.0),
        "spline": trajectories.spline(points, times),
        "minimum_jerk": trajectories.minimum_jerk(points, times),
    }


def peer(name: str, motion: trajectories.Trajectory) -> Callable[[Any], tuple[Any, ...]]:
    """The same from SciPy, or of the cycloidal motion from NumPy."""
    if motion.sine is not None:
        (q0, v), A, w = motion.coefficients[0, :2], motion.sine, 2 * np.pi / motion.duration

        def cycloidal(t: Any) -> tuple[Any, ...]:
            t = t[:, None]
            s, c = np.sin(w * t), np.cos(w * t)
            return q0 + v * t + A * s, v + (w * A) * c, (-w * w * A) * s

        return cycloidal
    degree = int(np.flatnonzero(motion.coefficients.any(axis=(0, 2)))[-1])
    q: Any = PPoly(motion.coefficients[:, degree::-1].transpose(1, 0, 2), motion.times)
    if name == "spline":
        q = CubicSpline(motion.times, motion(motion.times)[0], bc_type="clamped")
    qd, qdd = q.derivative(1), q.derivative(2)
    return lambda t: (q(t), qd(t), qdd(t))


def row(name: str, motion: trajectories.Trajectory, turns: int) -> tuple[str, ...]:
    """A row of the table; results are compared before anything is timed."""
    out = tuple(np.empty((POINTS, N)) for _ in range(3))
    t = np.linspace(0.0, motion.duration, POINTS)
    mixed, other = np.random.default_rng(1).permutation(t), peer(name, motion)
    inner = np.abs(t[:, None] - motion.times).min(axis=1) > 1e-9  # accelerations may jump at breakpoints
    for ours, theirs in zip(motion(t), other(t), strict=True):
        np.testing.assert_allclose(ours[inner], theirs[inner], rtol=0, atol=1e-9)
    jobs: dict[str, Job] = {
        "ours": lambda: motion(t, out=out),
        "mixed": lambda: motion(mixed, out=out),
        "peer": lambda: other(t),
        "one": lambda: motion(0.3),
    }
    took = best(jobs, turns, warm=True)
    each = (figures(1e9 * took[side] / POINTS) for side in ("ours", "mixed", "peer"))
    ratio = f"{took['peer'] / took['ours']:.0f}"
    return name, f"{len(motion.coefficients)}", *each, ratio, figures(1e6 * took["one"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, default=300)
    given = parser.parse_args()
    about = circumstances()
    about["versions"] |= versions(["scipy", "ruckig"])
    table = [row(name, motion, given.turns) for name, motion in motions().items()]
    write(PAGE, f"""{heading("Trajectories", about)}
    python -m benchmarks.trajectories --turns {given.turns}

Time of a point, ns: q, qd and qdd of {N} joints, in batches of {POINTS} times, one thread, into existing arrays; sorted
times, and the same times in random order. SciPy: the same polynomials and their derivatives, made ahead, as `PPoly` or
`CubicSpline`; NumPy's formula of the cycloidal motion. Sides take turns, best of {given.turns}. One time: traj(0.3), a
call from Python, whose cost a batch has once.

{markdown(COLUMNS, table)}""")  # fmt: skip
    print(PAGE.read_text())


if __name__ == "__main__":
    main()
