"""A control loop: computed torque on an arm with a payload that its model may or may not know.

    python notes/examples/control_loop.py [FOLDER]

The same law three times: in simulation, in a loop on fixed memory as a real controller runs it, and as a C function.
Writes payload.png.
"""

import sys
from pathlib import Path

import numpy as np

import fastdyn as fd
from fastdyn import control, trajectories

DT, DURATION = 1e-3, 2.0


def main(folder: Path) -> None:
    """Runs the example, checks its results and writes its pictures."""
    arm = fd.robots.puma560().without_friction()
    loaded = arm.with_payload(1.0, (0, 0, 0.1))
    motion = trajectories.quintic([0.0, -0.6, 0.6, 0.0, 0.5, 0.0], [1.0, -1.2, 1.2, 0.5, 1.0, 0.8], DURATION)
    start = motion(0.0)[0]

    # in simulation: who carries what, and what the law believes
    cases = {
        "no payload, model exact": (arm, arm),
        "1 kg, unknown to the model": (loaded, arm),
        "1 kg, model with_payload(1.0)": (loaded, loaded),
    }
    errors = {}
    for name, (robot, model) in cases.items():
        law = control.computed_torque(motion, kp=400.0, kd=40.0, robot=model)
        r = robot.simulate(start, np.zeros(6), DURATION, DT, law)
        errors[name] = np.abs(r.q - motion(r.t)[0])
        print(f"{name}: largest error {errors[name].max():.1e} rad")
    exact, unknown, mended = (error.max() for error in errors.values())
    assert exact < 1e-9  # of the integration: fourth order at 1 ms
    assert mended < 1e-9
    assert unknown > 1e-3

    # in a loop: write into fixed memory, call, read; the arm is simulated for one period at a time
    loop = loaded.bind("computed_torque")
    loop.kp[:], loop.kd[:] = 400.0, 40.0
    q, qd = start, np.zeros(6)
    for k in range(round(DURATION / DT)):
        loop.q[:], loop.qd[:] = q, qd
        loop.q_d[:], loop.qd_d[:], loop.qdd_d[:] = motion(k * DT)
        assert loop.computed_torque() == 0
        step = loaded.simulate(q, qd, DT, DT, tau=loop.tau)
        q, qd = step.q[-1], step.qd[-1]
    held = np.abs(q - motion(DURATION)[0]).max()
    print(f"the loop, torques held for 1 ms: error at the end {held:.1e} rad")
    assert held < 1e-3
    print("in C:", loaded.c_function("computed_torque").declaration)

    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    axis = figure.subplots()
    times = DT * np.arange(round(DURATION / DT) + 1)
    for name, error in errors.items():
        axis.semilogy(times, np.maximum(error.max(axis=1), 1e-17), label=name)
    axis.set_xlabel("time [s]")
    axis.set_ylabel("largest error of a joint [rad]")
    axis.legend(fontsize="small")
    figure.suptitle("Computed torque on a PUMA 560, kp = 400 1/s^2, kd = 40 1/s")
    figure.savefig(folder / "payload.png", dpi=90)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent))
