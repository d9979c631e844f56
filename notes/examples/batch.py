"""A batch of trajectories: which of a thousand motions can the motors follow, and how fast could the others be?

    python notes/examples/batch.py [FOLDER]

Writes batch.png.
"""

import sys
from pathlib import Path

import numpy as np

import fastdyn as fd
from fastdyn import trajectories

COUNT, POINTS = 1000, 101


def main(folder: Path) -> None:
    """Runs the example, checks its results and writes its pictures."""
    arm = fd.robots.panda()
    low, high = arm.limits.position.T
    random = np.random.default_rng(1)
    ends = random.uniform(low + 0.2, high - 0.2, (COUNT, 2, arm.n))

    # all torques of all motions in one call: (motions, times, joints)
    duration = 2.0
    t = np.linspace(0, duration, POINTS)
    states = [np.stack(part) for part in zip(*(trajectories.quintic(*pair, duration)(t) for pair in ends), strict=True)]
    tau = arm.inverse_dynamics(*states)
    worst = (np.abs(tau) / arm.limits.effort).max(axis=1)  # of each motion and joint
    speed = (np.abs(states[1]) / arm.limits.velocity).max(axis=1)
    fits = (worst.max(axis=1) <= 1) & (speed.max(axis=1) <= 1)
    print(f"{fits.sum()} of {COUNT} motions of {duration:g} s stay within torque and velocity limits")
    joint = np.bincount(worst.argmax(axis=1), minlength=arm.n)
    print(
        "the joint with the largest share of its torque:", dict(zip(range(1, arm.n + 1), joint.tolist(), strict=True))
    )

    # as fast as velocities and torques allow, along straight lines in joint space
    fastest = trajectories.time_optimal(arm, ends)
    print(f"time-optimal: {fastest.duration.min():.2f} to {fastest.duration.max():.2f} s, median "
          f"{np.median(fastest.duration):.2f} s")  # fmt: skip
    assert (fastest.duration[fits] <= duration * 1.02).all()  # a motion that fits is not faster than the fastest

    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 3.5), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.boxplot(100 * worst)
    left.axhline(100, color="red", linewidth=1)
    left.set_xlabel("joint")
    left.set_ylabel("largest torque [% of its limit]")
    right.hist(fastest.duration, bins=40)
    right.set_xlabel("time-optimal duration [s]")
    right.set_ylabel("motions")
    figure.suptitle(f"{COUNT} motions of a Panda")
    figure.savefig(folder / "batch.png", dpi=80)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent))
