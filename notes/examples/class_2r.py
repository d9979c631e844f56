"""For a class: the planar 2R arm from its equations to a simulation.

    python notes/examples/class_2r.py [FOLDER]

Two rods of mass m and length 1 in a vertical plane, tau = M(q) q'' + h(q, q') + g(q), with

    M11 = m (5/3 + c2), M12 = M21 = m (1/3 + c2/2), M22 = m/3
    h1 = -m s2 (q1' q2' + q2'^2 / 2), h2 = m s2 q1'^2 / 2
    g1 = m g (3/2 c1 + c12 / 2), g2 = m g c12 / 2

Writes class_2r.png.
"""

import sys
from pathlib import Path

import numpy as np

import fastdyn as fd

M, G = 1.0, 9.81


def by_hand(q, qd, qdd):
    """tau from the equations above."""
    s2, c1, c2, c12 = np.sin(q[1]), np.cos(q[0]), np.cos(q[1]), np.cos(q[0] + q[1])
    inertia = M * np.array([[5 / 3 + c2, 1 / 3 + c2 / 2], [1 / 3 + c2 / 2, 1 / 3]])
    velocity = M * s2 * np.array([-(qd[0] * qd[1] + qd[1] ** 2 / 2), qd[0] ** 2 / 2])
    gravity = M * G * np.array([1.5 * c1 + c12 / 2, c12 / 2])
    return inertia @ qdd + velocity + gravity


def main(folder: Path) -> None:
    """Runs the example, checks its results and writes its pictures."""
    arm = fd.robots.two_link(m1=M, m2=M, length=1.0, g=G)

    # the equations are the program's
    random = np.random.default_rng(0)
    q, qd, qdd = random.uniform(-3, 3, (3, 2))
    print("by hand:", by_hand(q, qd, qdd), " fastdyn:", arm.inverse_dynamics(q, qd, qdd))
    np.testing.assert_allclose(arm.inverse_dynamics(q, qd, qdd), by_hand(q, qd, qdd), rtol=1e-12)

    # energy tells how good an integrator is: halve the step and see the error fall by 2 or by 16
    for integrator in ("euler", "rk4"):
        drift = []
        for dt in (2e-3, 1e-3):
            r = arm.simulate([0.0, 0.0], [0.0, 0.0], 2.0, dt, integrator=integrator)
            drift.append(np.abs(r.energy - r.energy[0]).max())
        ratio = drift[0] / drift[1]
        print(f"{integrator}: energy drifts by {drift[0]:.1e} J at 2 ms, {drift[1]:.1e} J at 1 ms: {ratio:.1f} times")
    assert 12 < ratio < 40

    # a double pendulum is chaotic: motions that start 1e-6 rad apart part company
    starts = np.array([[1.5, 0.0], [1.5 + 1e-6, 0.0]])
    r = arm.simulate(starts, np.zeros((2, 2)), 12.0, 1e-3)
    apart = np.abs(r.q[0] - r.q[1]).max(axis=1)
    print(f"1e-6 rad apart at 0 s: {apart[6000]:.1e} rad at 6 s, {apart[-1]:.1e} rad at 12 s")

    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 3.5), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.plot(r.t, r.q[0], label=["q1", "q2"])
    left.set_xlabel("time [s]")
    left.set_ylabel("angle [rad]")
    left.legend()
    right.semilogy(r.t[1:], np.maximum(apart[1:], 1e-17))
    right.set_xlabel("time [s]")
    right.set_ylabel("distance of two motions [rad]")
    figure.suptitle("A 2R arm falls")
    figure.savefig(folder / "class_2r.png", dpi=80)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent))
