"""Time of a point (q, qd, qdd of 7 joints) of each kind of trajectory, beside SciPy: python -m benchmarks.trajectories

SciPy evaluates the same piecewise polynomials, and their derivatives made ahead (`PPoly`, or `CubicSpline` for the
spline); of the cycloidal motion NumPy computes the formula. One thread; both sides alternate; the best of all repeats.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline, PPoly

from fastdyn import trajectories
from fastdyn.compiler.host import register_bits

POINTS, REPEATS, N = 10_000, 300, 7


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


def seconds(call: Callable[[], Any]) -> float:
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


def main() -> None:
    print(f"{platform.processor() or platform.machine()}, {register_bits()}-bit registers, {POINTS} points, 1 thread")
    print(
        "| kind | segments | fastdyn, ns | times in random order, ns | SciPy, ns | ratio |\n|---|---|---|---|---|---|"
    )
    out = tuple(np.empty((POINTS, N)) for _ in range(3))
    for name, motion in motions().items():
        t = np.linspace(0.0, motion.duration, POINTS)
        mixed, other = np.random.default_rng(1).permutation(t), peer(name, motion)
        for ours, theirs in zip(motion(t), other(t), strict=True):
            inner = np.abs(t[:, None] - motion.times).min(axis=1) > 1e-9  # accelerations may jump at breakpoints
            np.testing.assert_allclose(ours[inner], theirs[inner], rtol=0, atol=1e-9)
        calls = (lambda: motion(t, out=out)), (lambda: motion(mixed, out=out)), (lambda: other(t))  # noqa: B023
        best = np.min([[seconds(call) for call in calls] for _ in range(REPEATS)], axis=0) / POINTS * 1e9
        print(f"| {name} | {len(motion.coefficients)} | {best[0]:.1f} | {best[1]:.1f} | {best[2]:.0f} "
              f"| {best[2] / best[0]:.0f} |")  # fmt: skip


if __name__ == "__main__":
    main()
