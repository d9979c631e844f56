"""Flexible joints: the linear model of a drive train against its simulation, stiff springs, and control.

    python -m benchmarks.flexible_joint [--out folder]

Writes flexible_joint.md and its two pictures, `notes/measurements` if no folder is given.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import fastdyn as fd
from benchmarks import common
from fastdyn import control
from fastdyn.arrays import Array
from fastdyn.control import Controller
from fastdyn.simulation import FlexibleJoint, FlexibleJoints, irb1400_joint_1, irb1400_joint_1_deviations
from fastdyn.simulation.drive_train import Mode

OUT = Path(__file__).parents[1] / "notes" / "measurements"
DT, EVERY = 2e-4, 25  # s; samples of the fit are 5 ms apart, about eight in a period of the ring


def _arm() -> fd.Robot:
    """Two rods of 1 kg and 1 m with motors whose inertia is 1 kg m^2 on the arm's side."""
    rods = fd.robots.two_link()
    joints = [replace(joint, motor=fd.Motor(1e-4, 100.0)) for joint in rods.joints]
    return fd.Robot(rods.all_links, joints, name="two_link", gravity=rods.gravity)


ARM = _arm()
SPRINGS = FlexibleJoints([2000.0, 1000.0])  # N m/rad


def damping() -> Array:
    """kf = 2 0.7 sqrt(k B), N m s/rad, with B = 1 kg m^2."""
    return 1.4 * np.sqrt(np.asarray(SPRINGS.stiffness, dtype=np.float64))


def reference(t: Array) -> tuple[Array, Array, Array]:
    """Both joints swing by 0.4 rad, at 2 and 3 rad/s."""
    w = np.array([2.0, 3.0])
    angle = np.multiply.outer(t, w)
    return -0.4 * np.cos(angle), 0.4 * w * np.sin(angle), 0.4 * w**2 * np.cos(angle)


def fitted_poles(joint: FlexibleJoint) -> NDArray[np.complex128]:
    """Poles, 1/s, (3,), by size, from a simulation by RK4 after a step of torque: linear prediction from samples.

    With y the samples' differences, which drop the constant part, y[k + 3] = a y[k + 2] + b y[k + 1] + c y[k]: least
    squares over the arm's and the motor's velocity and the twist together. The roots of z^3 - a z^2 - b z - c are
    exp(pole times the samples' period).
    """
    robot = fd.robots.flexible_joint(joint)
    r = robot.simulate([0.0], [0.0], 1.0, DT, tau=[100.0], flexible=joint.springs(), every=EVERY)
    assert r.motor_q is not None
    assert r.motor_qd is not None
    signals = [np.diff(x[:, 0]) for x in (r.qd, r.motor_qd, r.motor_q - r.q)]
    signals = [x / np.abs(x).max() for x in signals]
    past = np.concatenate([np.stack([x[2:-1], x[1:-2], x[:-3]], axis=1) for x in signals])
    a = np.linalg.lstsq(past, np.concatenate([x[3:] for x in signals]), rcond=None)[0]
    found = np.log(np.roots([1.0, *-a]).astype(np.complex128)) / (EVERY * DT)
    return found[np.lexsort((found.imag, abs(found).round(6)))]


# ---------------------------------------------------------------------------------------------- tables


def resonances(joint: FlexibleJoint) -> str:
    """Linear against simulated, for the joint and for softer and stiffer springs."""
    rows = []
    for times in (0.25, 1.0, 4.0):
        each = replace(joint, k=times * joint.k)
        linear = each.resonance()
        root = max(fitted_poles(each), key=lambda pole: pole.imag)
        simulated = Mode(abs(root), -root.real / abs(root))
        off = abs(root - linear.root) / abs(linear.root)
        decay = abs(root.real / linear.root.real - 1)
        rows.append(
            (
                f"{each.k / 1e3:.1f}", f"{each.antiresonance().hertz:.4f}", f"{linear.hertz:.6f}",
                f"{simulated.hertz:.6f}", f"{linear.damping:.7f}", f"{simulated.damping:.7f}", f"{off:.0e}",
                f"{decay:.0e}",
            )
        )  # fmt: skip
    names = (
        ">k, kN m/rad", ">antiresonance, Hz", ">resonance, linear, Hz", ">simulated", ">damping ratio, linear",
        ">simulated", ">pole, relative difference", ">decay, relative difference",
    )  # fmt: skip
    return common.markdown(names, rows)


def stiffness(joint: FlexibleJoint) -> str:
    """What each integrator does with stiff springs at 1 ms."""
    robot, rows = fd.robots.flexible_joint(joint), []
    rigid = robot.simulate([0.0], [0.0], 1.0, 1e-3, tau=[100.0])
    for times in (1, 100, 1000, 10_000):
        each = replace(joint, k=times * joint.k)
        found = []
        for integrator in ("implicit", "euler", "rk4"):
            try:
                r = robot.simulate([0.0], [0.0], 1.0, 1e-3, None, integrator, tau=[100.0], flexible=each.springs())
                found.append(f"{1e3 * np.abs(r.q - rigid.q).max():.3f}")
            except fd.NotFiniteError:
                found.append("unstable")
        rows.append((times, f"{each.resonance().frequency * 1e-3:.2f}", *found))
    return common.markdown((">times k", ">w dt", ">implicit", ">euler", ">rk4"), rows)


def laws() -> dict[str, Controller]:
    """What is compared."""
    return {
        "rigid computed torque, measuring the motors": control.computed_torque(reference),
        "the same, measuring the arm (kf = 0)": control.flexible_computed_torque(reference, 0.0),
        "composite, measuring both": control.flexible_computed_torque(reference, damping()),
    }


def tracking() -> tuple[str, Any]:
    """A table of errors, and the picture."""
    from matplotlib.figure import Figure

    q0, qd0, _ = (part[0] for part in reference(np.zeros(1)))
    figure = Figure(figsize=(8, 6.5), layout="constrained")
    axes, rows = figure.subplots(2, 1, sharex=True), []
    for (name, law), style in zip(laws().items(), ("--", ":", "-"), strict=True):
        unstable = ""
        try:
            r = ARM.simulate(q0, qd0, 4.0, 5e-4, law, flexible=SPRINGS)
        except fd.NotFiniteError as problem:
            unstable = "unstable: " + str(problem).split(" at ")[1].split(":")[0]
            r = ARM.simulate(q0, qd0, 0.4, 5e-4, law, flexible=SPRINGS)
        error = 1e3 * (r.q - reference(r.t)[0])
        for j, axis in enumerate(axes):
            axis.plot(r.t, error[:, j], style, color=("tab:orange", "tab:red", "black")[len(rows)], label=name)
        late = error[r.t >= 2.0]
        figures = [f"{x:.3f}" for x in (*np.sqrt((late**2).mean(0)), *np.abs(error).max(0))] if not unstable else []
        rows.append((name, *(figures or [unstable] * 4)))
    for j, axis in enumerate(axes):
        axis.set(ylabel=f"q - q_d of the arm,\njoint {j + 1} [mrad]", ylim=((-25, 25), (-15, 15))[j])
        axis.grid(True, color="0.92")
    axes[0].legend(fontsize="small", loc="upper right")
    axes[0].set_title("two_link on soft joints: 2000 and 1000 N m/rad, kp = 400 1/s², kd = 40 1/s")
    axes[1].set_xlabel("time [s]")
    return common.markdown(
        ("law", ">joint 1: rms", ">joint 2: rms", ">joint 1: largest", ">joint 2: largest"), rows
    ), figure


def page() -> tuple[str, dict[str, Any]]:
    """The page, and its pictures by name."""
    joint = irb1400_joint_1()
    ring, spread = joint.resonance(), joint.spread(irb1400_joint_1_deviations())
    errors, picture = tracking()
    text = f"""{common.heading("Flexible joints", common.circumstances())}
    python -m benchmarks.flexible_joint

## One joint: linear model and simulation

Joint 1 of the IRB 1400 by Table 3.1 of Norrlöf's report, in the reading that conserves energy: on the arm's side
k / r = {joint.k / 1e3:.1f} kN m/rad and J_a / r = {joint.J_a:.2f} kg m^2. All coefficients are those of the
report's own model. The resonance is {ring.frequency:.2f} rad/s +- {spread.frequency:.2f}, its damping ratio
{ring.damping:.4f} +- {spread.damping:.4f} (one standard deviation, from the table's). As printed, with
-k / J_a, the model of three states has a pole at +74 1/s.

Simulated: `robots.flexible_joint(joint).simulate(..., flexible=joint.springs())`, RK4 at {DT * 1e3:g} ms, after a step
of torque; poles fitted to samples {EVERY * DT * 1e3:g} ms apart by linear prediction.

{resonances(joint)}
![Bode diagram](flexible_joint_bode.png)

## Stiff springs at 1 ms

The largest difference from the rigid robot in 1 s under 100 N m, mrad; the motion reaches 505 mrad. Explicit steps
are stable up to w dt = 2 (semi-implicit Euler) and 2.8 (RK4), w being the resonance.

{stiffness(joint)}
## Control of soft joints

Two rods of 1 kg and 1 m in gravity, motors of 1 kg m^2 on the arm's side, springs of 2000 and 1000 N m/rad without
damping (50 and 121 rad/s at the start); all laws with kp = 400 1/s^2 and kd = 40 1/s on a motion of 0.4 rad. Errors of
the arm, mrad: rms from 2 s to 4 s, and the largest of all.

{errors}
The springs are not bent at the start, so that each law begins with a fall. The composite law
(`control.flexible_computed_torque`) needs springs that are fast beside kp. Here they are hardly so: its transient rings
for 2 s. With 1000 N m/rad at both joints the slow mode, 37 rad/s, is below 2 sqrt(kp) = 40 rad/s, and it is unstable,
too, with kf by the same rule. The rigid law on motors stays stable, and the arm sags by the torque over the stiffness.

![Tracking](flexible_joint_tracking.png)
"""
    pictures = {"flexible_joint_bode": joint.bode(title="IRB 1400, joint 1"), "flexible_joint_tracking": picture}
    return text, pictures


def main() -> None:
    """Writes page and pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=OUT)
    out: Path = parser.parse_args().out
    text, pictures = page()
    out.mkdir(parents=True, exist_ok=True)
    (out / "flexible_joint.md").write_text(text, encoding="utf-8")
    for name, figure in pictures.items():
        figure.savefig(out / f"{name}.png", dpi=90)
    print(text)


if __name__ == "__main__":
    main()
