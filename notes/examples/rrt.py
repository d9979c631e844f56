"""An RRT arm, from equations of motion to simulation: a published worked example with its own figures.

    python notes/examples/rrt.py [FOLDER]

1. Lagrange's and Kane's equations, derived here by SymPy from positions alone, against fastdyn's inverse dynamics.
2. Torques and force along the cycloidal motion (30), 15 s.
3. Direct dynamics under the control torques (31), 15 s, against SciPy on the derived equations.

Writes rrt_torques.png and rrt_motion.png.
"""

import sys
from pathlib import Path

import numpy as np
import sympy as sp
from scipy.integrate import solve_ivp

import fastdyn as fd
from fastdyn import control, trajectories

L1, L2, M1, M2, M3, I3, G = 0.4, 0.7, 90.0, 60.0, 40.0, (5.0, 4.0, 1.0), 9.81
START, END, T = [np.pi / 18, np.pi / 6, 0.25], [np.pi / 3, np.pi / 3, 0.3], 15.0
BETA, GAMMA = [450.0, 200.0, 150.0], [300.0, 300.0, 50.0]  # gains of velocity and position in (31)

# ---------------------------------------------------------------------------------------------- 1. equations of motion

t = sp.Symbol("t")
q = [sp.Function(f"q{k}")(t) for k in (1, 2, 3)]
u = [x.diff(t) for x in q]
a = [x.diff(t, 2) for x in q]
X, Y, Z = (sp.Matrix(np.eye(3, dtype=int)[k]) for k in range(3))


def turn(axis, angle):
    """The rotation about a coordinate axis."""
    i, j = (1, 2) if axis == 0 else (2, 0)
    R = sp.eye(3)
    R[i, i] = R[j, j] = sp.cos(angle)
    R[i, j], R[j, i] = -sp.sin(angle), sp.sin(angle)
    return R


def bodies():
    """(mass, position of the centre of mass, rotation, principal moments) of the three links; x points up."""
    R1 = turn(0, q[0])
    R2 = R1 * turn(1, q[1])
    elbow = R1 * Z * 2 * L1
    rod = [m * L**2 / 3 for m, L in ((M1, L1), (M2, L2))]
    yield M1, R1 * Z * L1, R1, (rod[0], rod[0], 0)
    yield M2, elbow + R2 * Z * L2, R2, (rod[1], rod[1], 0)
    yield M3, elbow + R2 * Z * (L2 + q[2]), R2, I3


def spin(R):
    """The angular velocity in the body's axes."""
    W = R.T * R.diff(t)
    return sp.Matrix([W[2, 1], W[0, 2], W[1, 0]])


def lagrange():
    """d/dt dT/du - dT/dq + dV/dq."""
    kinetic = potential = 0
    for mass, place, R, moments in bodies():
        v, w = place.diff(t), spin(R)
        kinetic += mass * v.dot(v) / 2 + sum(I * w[k] ** 2 for k, I in enumerate(moments)) / 2
        potential += mass * G * place[0]
    return [kinetic.diff(rate).diff(t) - kinetic.diff(x) + potential.diff(x) for x, rate in zip(q, u, strict=True)]


def kane():
    """Partial velocities times inertia forces and weights, partial angular velocities times inertia moments."""
    found = [0, 0, 0]
    for mass, place, R, moments in bodies():
        v, w, I = place.diff(t), spin(R), sp.diag(*moments)
        force, moment = mass * (v.diff(t) + G * X), I * w.diff(t) + w.cross(I * w)
        for r, rate in enumerate(u):
            found[r] += v.diff(rate).dot(force) + w.diff(rate).dot(moment)
    return found


def numbers(equations):
    """A NumPy function of q, u, a, each (..., 3)."""
    plain = sp.symbols("q1:4 u1:4 a1:4")
    known = dict(zip([*a, *u, *q], [*plain[6:], *plain[3:6], *plain[:3]], strict=True))
    compute = sp.lambdify(plain, [e.subs(known) for e in equations], cse=True)

    def of(q, u, a):
        columns = [x[..., k] for x in (q, u, a) for k in range(3)]
        return np.stack(np.broadcast_arrays(*compute(*columns)), axis=-1)

    return of


def main(folder: Path) -> None:
    """Runs the example, checks its results and writes its pictures."""
    robot = fd.robots.rrt(L1, L2, M1, M2, M3, I3, G)
    derived = {"Lagrange": numbers(lagrange()), "Kane": numbers(kane())}

    # ------------------------------------------------------------------------------------------ 2. inverse dynamics
    motion = trajectories.cycloidal(START, END, T)
    times = np.linspace(0, T, 1000)
    states = motion(times)
    tau = robot.inverse_dynamics(*states)
    for name, equations in derived.items():
        error = np.abs(equations(*states) - tau).max() / np.abs(tau).max()
        print(f"inverse dynamics, 1,000 times: fastdyn and {name} differ by {error:.1e} of the largest value")
        assert error < 1e-12

    # ------------------------------------------------------------------------------------------ 3. direct dynamics
    law = control.pd_gravity(END, kp=GAMMA, kd=BETA)
    r = robot.simulate(START, [0.0] * 3, T, 1e-3, law, every=100)
    print("q at 15 s:", r.q[-1].round(4))
    assert np.abs(r.q[-1] - [1.0472, 1.0472, 0.3005]).max() < 0.5e-4
    equations, zero = derived["Lagrange"], np.zeros(3)

    def rate(time, x):
        q, u = x[:3], x[3:]
        M = np.stack([equations(q, zero, e) - equations(q, zero, zero) for e in np.eye(3)], axis=1)
        torque = equations(q, zero, zero) - np.multiply(GAMMA, q - END) - np.multiply(BETA, u)
        return np.concatenate([u, np.linalg.solve(M, torque - equations(q, u, zero))])

    x = solve_ivp(rate, (0, T), [*START, 0, 0, 0], "DOP853", r.t, rtol=1e-12, atol=1e-12).y.T
    error = np.abs(x - np.concatenate([r.q, r.qd], axis=1)).max()
    print(f"direct dynamics: fastdyn (RK4, 1 ms) and SciPy (DOP853, 1e-12) differ by {error:.1e}")
    assert error < 1e-9

    # ------------------------------------------------------------------------------------------ pictures
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 6), layout="constrained")
    labels = ("T01 [N m]", "T12 [N m]", "F23 [N]")
    for axis, values, label in zip(figure.subplots(3, 1, sharex=True), tau.T, labels, strict=True):
        axis.plot(times, values)
        axis.set_ylabel(label)
    axis.set_xlabel("time [s]")
    figure.suptitle("Torques and force along the cycloidal motion (30)")
    figure.savefig(folder / "rrt_torques.png", dpi=80)
    figure = r.plot()
    figure.suptitle("Direct dynamics under the control torques (31)")
    figure.savefig(folder / "rrt_motion.png", dpi=60)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent))
