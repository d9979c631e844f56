"""The method of a robot that simulates it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from fastdyn.task_space import TaskSpace

if TYPE_CHECKING:
    from fastdyn.control.controllers import Controller
    from fastdyn.simulation.flexible import FlexibleJoints
    from fastdyn.simulation.result import Simulation


class Moving(TaskSpace):
    """Motion under torques."""

    def simulate(
        self,
        q0: ArrayLike,
        qd0: ArrayLike,
        duration: float,
        dt: float = 1e-3,
        controller: Controller | Callable[..., Any] | None = None,
        integrator: str = "rk4",
        *,
        tau: ArrayLike | None = None,
        control_period: float | None = None,
        delay: float = 0.0,
        noise: tuple[ArrayLike, ArrayLike] | None = None,
        seed: int = 0,
        torque_limits: bool | ArrayLike = False,
        stops: bool = False,
        slip: ArrayLike | None = None,
        flexible: FlexibleJoints | None = None,
        every: int = 1,
        threads: int = 1,
    ) -> Simulation:
        """The robot's motion from q0, qd0, (n,) or (..., n), for `duration` s in steps of dt s, compiled end to end.

        The result has t (K,), q, qd, qdd, tau (..., K, n), energies, and `.plot()`, `.animate(file)`, `.save(file)`.
        every: how many steps lie between two records. threads: the most to use; results do not depend on it.

        controller: one of fastdyn.control (`pd`, `pd_gravity`, `computed_torque`, `pd_feedforward`), or any function
        controller(t, q, qd) of all motions at once, q and qd (..., n), which returns torques: Python then runs at every
        control period (dt if not given), which is slower. tau: constant torques, (n,) or (..., n), instead.
        control_period: s between two torques of the controller, which are held meanwhile; if not given, it acts
        continuously: the integrator evaluates it at each of its stages. delay: s from a measurement to its torque.
        noise: standard deviations of the measured q and qd. torque_limits: True for robot.limits.effort, or (n,).

        integrator: "rk4", the classic Runge-Kutta method, of fourth order; "euler", semi-implicit, of first order;
        "implicit", the same with viscous friction and the springs of flexible joints taken at the end of the step: of
        first order, stable for stiff drives. flexible: springs between motors and arm (simulation.FlexibleJoints).

        stops: whether robot.limits.position are stops, springs with dampers as stiff as dt allows. Friction is the
        robot's own, except that Coulomb friction is proportional to the velocity below `slip` (rad/s or m/s), so that
        it does not chatter at standstill: 0.001, or more where a step would otherwise be too long, if not given. Of a
        coupled robot this concerns the motors of its coordinates; those of its joints keep their sudden friction.

        >>> import fastdyn as fd
        >>> arm = fd.robots.two_link(m1=1.0, m2=1.0, length=1.0, g=9.81)
        >>> r = arm.simulate([0.0, 0.0], [0.0, 0.0], duration=1.0, dt=0.001)
        >>> r.q.shape, bool(abs(r.energy - r.energy[0]).max() < 1e-9)
        ((1001, 2), True)
        """
        from fastdyn.simulation.run import Run

        return Run(
            self, q0, qd0, duration, dt, controller, tau, integrator, control_period, delay, noise, seed, torque_limits,
            stops, slip, flexible, every, threads,
        ).result()  # fmt: skip
