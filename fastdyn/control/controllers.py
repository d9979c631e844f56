"""Controllers for simulations: a law, its gains and its reference. The laws are rows of the table of quantities.

The same rows run in control loops, `robot.bind("computed_torque")`, and as C functions, `robot.c_function`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from fastdyn.errors import ArgumentTypeError
from fastdyn.mechanism.parts import Array
from fastdyn.quantities import CONTROLLERS, Quantity

Motion = Callable[[Array], tuple[Array, Array, Array]]  # times (K,) -> q, qd, qdd, each (K, n)


@dataclass(frozen=True, eq=False)
class Controller:
    """A law with its gains, made by one of the functions below.

    reference: a position to hold, (n,) or one for each motion (..., n), or a trajectory: reference(t) gives q, qd, qdd.
    robot: whose model the law uses; that which is simulated if not given.
    """

    row: Quantity
    reference: ArrayLike | Motion
    kp: ArrayLike
    kd: ArrayLike
    robot: Any = None
    kf: ArrayLike | None = None

    @property
    def gains(self) -> dict[str, ArrayLike]:
        """Those that the law reads, by name, in its order."""
        return {field.name: getattr(self, field.name) for field in self.row.reads if field.coupling == "gain"}

    def __post_init__(self) -> None:
        if self.robot is not None and not hasattr(self.robot, "parameters"):
            raise ArgumentTypeError(f"robot is a {type(self.robot).__name__}: expected a Robot or CoupledRobot")


def pd(reference: ArrayLike | Motion, kp: ArrayLike, kd: ArrayLike) -> Controller:
    """tau = kp e + kd e', e = q_d - q. kp: (n,) or one number, N m/rad or N/m; kd: N m s/rad or N s/m.

    >>> import fastdyn as fd
    >>> from fastdyn import control
    >>> arm = fd.robots.two_link(g=0.0)
    >>> r = arm.simulate([0.0, 0.0], [0.0, 0.0], 10.0, 0.01, control.pd([1.0, 0.5], kp=20.0, kd=10.0))
    >>> r.q[-1].round(3)
    array([1. , 0.5])
    """
    return Controller(CONTROLLERS["pd"], reference, kp, kd)


def pd_gravity(reference: ArrayLike | Motion, kp: ArrayLike, kd: ArrayLike, robot: Any = None) -> Controller:
    """tau = g(q) + kp e + kd e': reaches a position against gravity without knowing the inertias.

    >>> import fastdyn as fd
    >>> from fastdyn import control
    >>> arm = fd.robots.two_link(g=9.81)
    >>> r = arm.simulate([0.0, 0.0], [0.0, 0.0], 10.0, 0.01, control.pd_gravity([1.0, 0.5], kp=20.0, kd=10.0))
    >>> r.q[-1].round(3)
    array([1. , 0.5])
    """
    return Controller(CONTROLLERS["pd_gravity"], reference, kp, kd, robot)


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
    return Controller(CONTROLLERS["computed_torque"], reference, kp, kd, robot)


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
    return Controller(CONTROLLERS["pd_feedforward"], reference, kp, kd, robot)


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
    return Controller(CONTROLLERS["flexible_computed_torque"], reference, kp, kd, robot, kf)
