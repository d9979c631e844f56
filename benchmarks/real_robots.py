"""Every URDF file of example-robot-data: read, printed, drawn, bound, compared with Pinocchio; the cost of coupling.

    python -m benchmarks.real_robots

Inverse dynamics of 1,000 random states, in one batch and state by state on a bound robot, against Pinocchio's rnea; of
a coupled robot against G^T tau, with Pinocchio's tau at q = G phi + offset. Friction is left out: Pinocchio has none.
The two files that contradict themselves must be refused. Times of a coupled robot stand beside those of the same robot
in joint coordinates, measured in turns.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pinocchio as pin

import fastdyn as fd
from benchmarks.common import best, circumstances, figures, heading, markdown, states
from tests.real_robots import FILES, REFUSED, Peer

STATES, BATCH = 1000, 4096
TURNS = 60
LARGEST = 1e-13  # difference to Pinocchio, of the largest torque: rounding stays far below, a wrong term far above
Row = tuple[Any, ...]


def joint_states(robot: fd.Robot | fd.CoupledRobot, q: Any, qd: Any, qdd: Any) -> tuple[Any, Any, Any]:
    """The same states in the coordinates of the joints."""
    if isinstance(robot, fd.Robot):
        return q, qd, qdd
    return robot.joint_positions(q), qd @ robot.G.T, qdd @ robot.G.T


def difference(robot: fd.Robot | fd.CoupledRobot, path: Path) -> float:
    """The worst difference to Pinocchio, of the largest torque: in a batch, and bound."""
    peer = Peer(path, [joint.name for joint in robot.joints], robot.gravity)
    given = states(robot.n, STATES)
    expected = np.array([peer.inverse_dynamics(*x) for x in zip(*joint_states(robot, *given), strict=True)])
    if isinstance(robot, fd.CoupledRobot):
        expected = expected @ robot.G
    loop, bound = robot.bind("inverse_dynamics"), np.empty_like(expected)
    for k, (loop.q[:], loop.qd[:], loop.qdd[:]) in enumerate(zip(*given, strict=True)):
        assert loop.inverse_dynamics() == 0
        bound[k] = loop.tau
    found = max(np.abs(tau - expected).max() for tau in (robot.inverse_dynamics(*given), bound))
    return float(found / np.abs(expected).max())


def compared(robot: fd.Robot | fd.CoupledRobot, path: Path) -> Row:
    """A row: the robot printed, drawn and bound, and its difference to Pinocchio."""
    from matplotlib import pyplot

    assert str(robot)
    robot.plot().figure.canvas.draw()
    pyplot.close("all")
    name = f"{path.parts[-3]}/{path.name}"
    if robot.n == 0:
        return name, 0, 0, "nothing moves"
    worst = difference(robot, path)
    assert worst < LARGEST, f"{path}: {worst}"
    return name, len(robot.joints), robot.n, f"{worst:.0e}"


def calls(robot: fd.Robot | fd.CoupledRobot, given: tuple[Any, Any, Any]) -> dict[str, Callable[[], Any]]:
    """Inverse dynamics of one state, of one state on a bound robot, and of a batch."""
    loop, out, first = robot.bind("inverse_dynamics"), np.empty((BATCH, robot.n)), [x[0].copy() for x in given]
    loop.q[:], loop.qd[:], loop.qdd[:] = first
    return {
        "one state": lambda: robot.inverse_dynamics(*first),
        "bound": loop.inverse_dynamics,
        "batch": lambda: robot.inverse_dynamics(*given, out=out),
    }


def cost(robot: fd.CoupledRobot, path: Path) -> Row:
    """A row: microseconds of the coupled and of the plain robot, and their ratio, for each way of calling."""
    given = states(robot.n, BATCH)
    jobs = {("coupled", way): call for way, call in calls(robot, given).items()}
    jobs |= {("plain", way): call for way, call in calls(robot.robot, joint_states(robot, *given)).items()}
    seconds = best(jobs, TURNS)
    row: list[Any] = [f"{path.parts[-3]}/{path.name}", len(robot.joints), robot.n]
    for way, count in (("one state", 1), ("bound", 1), ("batch", BATCH)):
        coupled, plain = (1e6 * seconds[kind, way] / count for kind in ("coupled", "plain"))
        row += [figures(coupled), figures(plain), f"{coupled / plain:.2f}"]
    return tuple(row)


def main() -> None:
    matplotlib.use("Agg")
    warnings.simplefilter("ignore", fd.RobotWarning)  # published inertias
    about = circumstances()
    about["versions"] |= {"pinocchio": pin.__version__}
    rows: list[Row] = []
    costs: list[Row] = []
    for path in FILES:
        try:
            robot = fd.load(path)
        except fd.DescriptionError as problem:
            if REFUSED.get(path.name, "no error") not in str(problem):
                raise
            rows.append((f"{path.parts[-3]}/{path.name}", "", "", "refused"))
            continue
        assert path.name not in REFUSED, path
        rows.append(compared(robot.without_friction(), path))
        if isinstance(robot, fd.CoupledRobot):
            costs.append(cost(robot, path))
    print(heading(f"fastdyn {fd.__version__}: the robots of example-robot-data", about))
    print(f"Worst difference to Pinocchio of {STATES} states, of the largest torque: in a batch and bound.\n")
    print(markdown(("file", ">joints", ">coordinates", ">difference"), rows))
    print(f"Inverse dynamics of coupled robots, us for each state, batches of {BATCH}; best of {TURNS} turns.\n")
    ways = [f">{way}{more}" for way in ("one state", "bound", "batch") for more in (", coupled", ", plain", ", ratio")]
    print(markdown(("file", ">joints", ">coordinates", *ways), costs))


if __name__ == "__main__":
    main()
