"""Controllers for simulations: a law, its gains and its reference. The laws are rows of the table of quantities.

The same rows run in control loops, `robot.bind("computed_torque")`, and as C functions, `robot.c_function`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from fastdyn.errors import ArgumentTypeError
from fastdyn.kinematics import FrameName, Point
from fastdyn.mechanism.parts import Array
from fastdyn.quantities import ARM_Q, ARM_QD, CONTROLLERS, POSE_D, Q_D, QD, QD_D, QDD_D, VELOCITY_D, Field, Q, Quantity

Motion = Callable[[Array], tuple[Array, Array, Array]]  # times (K,) -> q, qd, qdd, each (K, n)
TaskMotion = Callable[[Array], tuple[Array, Array]]  # times (K,) -> poses (K, 4, 4), velocities (K, 6)
MEASURED = (Q, QD, ARM_Q, ARM_QD)  # at the motors, and behind the springs of flexible joints
JOINTS, FRAME = (Q_D, QD_D, QDD_D), (POSE_D, VELOCITY_D)  # what a reference gives


@dataclass(frozen=True, eq=False)
class Controller:
    """A law with its gains: made by `pd`, `computed_torque` and the others of this module.

    reference: a position to hold, (n,) or one for each motion (..., n), or a trajectory: reference(t) gives q, qd, qdd.
    In task space: a pose (..., 4, 4), or reference(t) gives poses and velocities. gains: by the names of the row's
    fields. robot: whose model the law uses; that which is simulated if not given. frame, point: of a law in task space.
    """

    row: Quantity
    reference: ArrayLike | Motion | TaskMotion
    gains: Mapping[str, ArrayLike]
    robot: Any = None
    frame: FrameName = None
    point: Point = None

    def __post_init__(self) -> None:
        if self.robot is not None and not hasattr(self.robot, "parameters"):
            raise ArgumentTypeError(f"robot is a {type(self.robot).__name__}: expected a Robot or CoupledRobot")

    @property
    def desired(self) -> tuple[Field, ...]:
        """What the reference gives, in order."""
        return desired(self.row)

    @property
    def gain_fields(self) -> tuple[Field, ...]:
        """The gains, in order."""
        return gain_fields(self.row)


def desired(row: Quantity) -> tuple[Field, ...]:
    """What a reference gives to a law."""
    return FRAME if POSE_D in row.reads else JOINTS


def gain_fields(row: Quantity) -> tuple[Field, ...]:
    """A law's gains."""
    return tuple(field for field in row.reads if field not in MEASURED + JOINTS + FRAME)


def pd(reference: ArrayLike | Motion, kp: ArrayLike, kd: ArrayLike) -> Controller:
    """tau = kp e + kd e', e = q_d - q. kp: (n,) or one number, N m/rad or N/m; kd: N m s/rad or N s/m.

    >>> import fastdyn as fd
    >>> from fastdyn import control
    >>> arm = fd.robots.two_link(g=0.0)
    >>> r = arm.simulate([0.0, 0.0], [0.0, 0.0], 10.0, 0.01, control.pd([1.0, 0.5], kp=20.0, kd=10.0))
    >>> r.q[-1].round(3)
    array([1. , 0.5])
    """
    return Controller(CONTROLLERS["pd"], reference, {"kp": kp, "kd": kd})


def pd_gravity(reference: ArrayLike | Motion, kp: ArrayLike, kd: ArrayLike, robot: Any = None) -> Controller:
    """tau = g(q) + kp e + kd e': reaches a position against gravity without knowing the inertias.

    >>> import fastdyn as fd
    >>> from fastdyn import control
    >>> arm = fd.robots.two_link(g=9.81)
    >>> r = arm.simulate([0.0, 0.0], [0.0, 0.0], 10.0, 0.01, control.pd_gravity([1.0, 0.5], kp=20.0, kd=10.0))
    >>> r.q[-1].round(3)
    array([1. , 0.5])
    """
    return Controller(CONTROLLERS["pd_gravity"], reference, {"kp": kp, "kd": kd}, robot)


def computed_torque(
    reference: ArrayLike | Motion, kp: ArrayLike = 400.0, kd: ArrayLike = 40.0, robot: Any = None
) -> Controller:
    """Inverse dynamics of q_d'' + kp e + kd e': the error obeys e'' + kd e' + kp e = 0 if the model is exact.

    kp: 1/s^2, kd: 1/s; kd = 2 sqrt(kp) is critical damping.

    >>> import fastdyn as fd
    >>> from fastdyn import control
    >>> arm = fd.robots.puma560().without_friction()
    >>> r = arm.simulate([0.0] * 6, [0.0] * 6, 1.0, 0.001, control.computed_torque([0.5] * 6))
    >>> r.q[-1].round(6).tolist()
    [0.5, 0.5, 0.5, 0.5, 0.5, 0.5]
    """
    return Controller(CONTROLLERS["computed_torque"], reference, {"kp": kp, "kd": kd}, robot)


def pd_feedforward(reference: ArrayLike | Motion, kp: ArrayLike, kd: ArrayLike, robot: Any = None) -> Controller:
    """Inverse dynamics of the desired motion by recursive Newton-Euler, plus kp e + kd e'.

    The model's part depends on the reference alone and can be computed ahead.

    >>> import fastdyn as fd
    >>> from fastdyn import control
    >>> arm = fd.robots.two_link()
    >>> r = arm.simulate([0.3, 0.2], [0.0, 0.0], 1.0, 0.01, control.pd_feedforward([0.3, 0.2], kp=20.0, kd=10.0))
    >>> r.q[-1].round(6)
    array([0.3, 0.2])
    """
    return Controller(CONTROLLERS["pd_feedforward"], reference, {"kp": kp, "kd": kd}, robot)


def joint_impedance(reference: ArrayLike | Motion, kp: ArrayLike, kd: ArrayLike, robot: Any = None) -> Controller:
    """tau = M q_d'' + C q_d' + g + kp e + kd e': under an external torque x the arm yields as spring and damper would.

    M e'' + (C + kd) e' + kp e = -x: it keeps its own inertia, and x does work on it as on a passive mechanism. Friction
    is left as it is. kp: N m/rad or N/m; kd: N m s/rad or N s/m.

    >>> import fastdyn as fd
    >>> from fastdyn import control
    >>> arm = fd.robots.two_link()
    >>> r = arm.simulate([0.3, 0.2], [0.0, 0.0], 5.0, 0.01, control.joint_impedance([0.3, 0.2], kp=20.0, kd=10.0))
    >>> r.q[-1].round(6)
    array([0.3, 0.2])
    """
    return Controller(CONTROLLERS["joint_impedance"], reference, {"kp": kp, "kd": kd}, robot)


def task_space_pd(
    reference: ArrayLike | TaskMotion,
    kx: ArrayLike,
    dx: ArrayLike,
    robot: Any = None,
    frame: FrameName = None,
    point: Point = None,
) -> Controller:
    """tau = g(q) + J^T (kx e + dx e'), e the way from the frame's pose to the reference: position, then rotation.

    The rotation is 2 sin(angle / 2) times its axis, in the base's axes like all six components. reference: a pose,
    (4, 4), or reference(t) gives poses (K, 4, 4) and velocities (K, 6). kx: (6,) or one number, N/m and N m/rad; dx:
    N s/m and N m s/rad. What the frame does not feel is not damped: an arm with more joints than six drifts there.

    >>> import fastdyn as fd
    >>> from fastdyn import control
    >>> arm = fd.robots.puma560().without_friction()
    >>> goal = arm.forward_kinematics([0.1, -0.3, 0.4, 0.2, 0.6, 0.0])
    >>> law = control.task_space_pd(goal, kx=[900, 900, 900, 40, 40, 40], dx=[300, 300, 300, 15, 15, 15])
    >>> r = arm.simulate([0.0, -0.2, 0.3, 0.0, 0.7, 0.1], [0.0] * 6, 4.0, 0.001, law)
    >>> bool(abs(arm.forward_kinematics(r.q[-1]) - goal).max() < 1e-3)
    True
    """
    return Controller(CONTROLLERS["task_space_pd"], reference, {"kx": kx, "dx": dx}, robot, frame, point)


def flexible_computed_torque(
    reference: ArrayLike | Motion, kf: ArrayLike, kp: ArrayLike = 400.0, kd: ArrayLike = 40.0, robot: Any = None
) -> Controller:
    """Computed torque for flexible joints: that of the rigid robot from the arm's own motion, and kf (arm_qd - qd).

    The composite law of singular perturbation (Spong, Modeling and control of elastic joint robots, 1987). Slow part:
    inverse dynamics, rotors included, of q_d'' + kp e + kd e', e = q_d - arm_q. Fast part: kf, N m s/rad on the arm's
    side, damps the springs; with kf = 2 zeta B w, w the joint's resonance in rad/s and B its motor's inertia on the
    arm's side, the springs' damping ratio is about zeta. It needs sensors behind the springs, and springs that are fast
    beside the slow part: with w below 2 sqrt(kp), for the slowest mode of the arm, it may be unstable.

    >>> import fastdyn as fd
    >>> from fastdyn import control
    >>> from fastdyn.simulation import irb1400_joint_1
    >>> joint = irb1400_joint_1()
    >>> law = control.flexible_computed_torque([0.5], kf=1.2 * joint.J_m / joint.r**2 * joint.resonance().frequency)
    >>> r = fd.robots.flexible_joint(joint).simulate([0.0], [0.0], 1.0, 1e-3, law, flexible=joint.springs())
    >>> r.q[-1].round(4)
    array([0.5])
    """
    return Controller(CONTROLLERS["flexible_computed_torque"], reference, {"kp": kp, "kd": kd, "kf": kf}, robot)
