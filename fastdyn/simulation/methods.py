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
        rtol: float | None = None,
        atol: float | None = None,
    ) -> Simulation:
        """The robot's motion from q0, qd0, (n,) or (..., n), for `duration` s in steps of dt s, compiled end to end.

        The result has t (K,), q, qd, qdd, tau (..., K, n), energies, and `.plot()`, `.animate(file)`, `.save(file)`.
        Of a fleet the last of the batch axes is that of the robots.
        every: how many steps lie between two records. threads: the most to use; results do not depend on it.

        controller: one of fastdyn.control (`pd`, `computed_torque`, ...); of flexible joints they measure the motors,
        `flexible_computed_torque` the arm too. Or a function compiled by numba.njit, controller(t, q, qd, tau), that
        writes the torques of one motion, element by element, into tau (n,): it may not allocate arrays; motions are
        then not on lanes. Or any function controller(t, q, qd) of all motions at once, q and qd (..., n), that returns
        torques: Python then runs at every control period (dt if not given), which is slower. tau: constant torques,
        (n,) or (..., n), instead. control_period: s between two torques of the controller, which are held meanwhile; if
        not given, it acts continuously: the integrator evaluates it at each of its stages. delay: s from a measurement
        to its torque; until the first one arrives, torques are zero. noise: standard deviations of the measured q and
        qd; each motion has its own, by seed and its place in the batch. torque_limits: True for robot.limits.effort, or
        (n,).

        integrator: "rk4", the classic Runge-Kutta method, of fourth order; "euler", semi-implicit, of first order;
        "implicit", the same with the springs of flexible joints and viscous friction taken at the end of the step: of
        first order, stable for stiff drives, its qdd a mean over the step; or a method of SciPy's solve_ivp, "DOP853",
        "Radau", ..., which chooses its steps for rtol and atol (1e-9), dt being the time between records, and which
        takes one motion at a time (a Python controller then gets (n,)). flexible: springs between motors and arm
        (simulation.FlexibleJoints).

        stops: whether robot.limits.position are stops of the coordinates, springs with dampers as stiff as dt allows at
        the least inertia of each joint; of flexible joints they hold motors and arm. Friction is the robot's own,
        except that Coulomb friction is proportional to the velocity below `slip` (rad/s or m/s), so that it does not
        chatter at standstill: 0.001, or more where a step would otherwise be too long, if not given. Of a coupled robot
        this concerns the motors of its coordinates; those of its joints keep their sudden friction, and explicit steps.

        >>> import fastdyn as fd
        >>> arm = fd.robots.two_link(m1=1.0, m2=1.0, length=1.0, g=9.81)
        >>> r = arm.simulate([0.0, 0.0], [0.0, 0.0], duration=1.0, dt=0.001)
        >>> r.q.shape, bool(abs(r.energy - r.energy[0]).max() < 1e-9)
        ((1001, 2), True)
        """
        from fastdyn.simulation.run import Run

        options = {
            "torque_limits": torque_limits, "stops": stops, "slip": slip, "flexible": flexible
        }  # fmt: skip
        return Run(
            self, q0, qd0, duration, dt, controller, tau, integrator, control_period, delay, noise, seed, every,
            threads, (rtol, atol), options,
        ).result()  # fmt: skip
