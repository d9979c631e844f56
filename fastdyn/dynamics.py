"""The methods that compute quantities, shared by all kinds of robots: one for each quantity."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from fastdyn.calls.arguments import check_finite, read
from fastdyn.calls.parameters import Parameters
from fastdyn.errors import ArgumentError
from fastdyn.mechanism.description import HasDescription
from fastdyn.mechanism.parts import Array
from fastdyn.quantities import (
    BIAS_FORCES,
    CENTER_OF_MASS,
    CORIOLIS_MATRIX,
    GRAVITY_FORCES,
    INVERSE_DYNAMICS,
    JOINT_REACTIONS,
    KINETIC_ENERGY,
    MASS_MATRIX,
    METHODS,
    MOMENTUM,
    POTENTIAL_ENERGY,
    ROWS,
    Quantity,
)

if TYPE_CHECKING:
    from fastdyn.calls.task import Task

Wrenches = ArrayLike | Mapping[str, ArrayLike]


class Dynamics(HasDescription, ABC):
    """The quantities of a robot. Every method takes one state (n,) or any batch (..., n) of states.

    n is the number of moving joints; for a coupled robot it is the number of actuator coordinates, in which q, qd, qdd
    and tau are then given; wrenches and reactions are those of the physical links. Batch axes broadcast. out: an array
    for the result; threads: the most to use for a long batch (results do not depend on it); dtype=np.float32 computes
    in single precision, on twice as many lanes (error: notes/conventions.md). Units are SI: rad or m, s, N m or N.
    """

    def __setattr__(self, name: str, value: object) -> None:
        if getattr(self, "_frozen", False):
            kind = type(self).__name__
            raise AttributeError(f"a {kind} cannot be changed: make a new one instead of setting {name!r}")
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a {type(self).__name__} cannot be changed: {name!r} stays")

    @property
    @abstractmethod
    def parameters(self) -> Parameters:
        """The flat arrays that compiled code reads, and names for messages."""

    @cached_property
    def _tasks(self) -> Tasks:
        return Tasks(self.parameters, self._task_class)

    def _task_class(self) -> type[Task]:
        from fastdyn.calls.task import Task  # imports Numba: not before the first call

        return Task

    @cached_property
    def _solvers(self) -> dict[str | None, Quantity]:
        """Texts of forward dynamics, by method."""
        from fastdyn.calls.lanes import quicker_solver

        rows: dict[str | None, Quantity] = {row.method: row for row in METHODS["forward_dynamics"]}
        straight = self.parameters.specialised is not None
        return {None: rows[quicker_solver(self.parameters.joints, straight)], **rows}

    def task(self, quantity: Quantity, dtype: DTypeLike | None = None) -> Task:
        """The calls of one quantity in one precision."""
        found: Any = self._tasks[quantity]
        task: Task = found.in_precision(dtype)
        return task

    def inverse_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        wrenches: Wrenches | None = None,
        out: Array | None = None,
        threads: int = 1,
        dtype: DTypeLike | None = None,
    ) -> Array:
        """The joint torques of a motion: (..., n), N m for revolute, N for prismatic joints.

        q, qd, qdd: (..., n) in rad or m and seconds. Friction and rotors are included. wrenches: external wrenches on
        the links, (..., n, 6) or a mapping from link names to (..., 6): force, then moment, N and N m, at the origin
        and along the axes of the link's frame. Batch axes broadcast. Results do not depend on `threads`.
        dtype=np.float32 computes in single precision, on twice as many lanes (error: notes/conventions.md).

        >>> import fastdyn as fd
        >>> arm = fd.robots.two_link(m1=1.0, m2=1.0, length=1.0, g=10.0)
        >>> arm.inverse_dynamics([0, 0], [0, 0], [0, 0]).round(12)
        array([20.,  5.])
        """
        values = (q, qd, qdd) if wrenches is None else (q, qd, qdd, self._wrenches(wrenches))
        return self._tasks[INVERSE_DYNAMICS](values, out, threads, dtype)

    def forward_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        wrenches: Wrenches | None = None,
        method: Literal["aba", "crba"] | None = None,
        out: Array | None = None,
        threads: int = 1,
        dtype: DTypeLike | None = None,
    ) -> Array:
        """The joint accelerations under given torques: (..., n), rad/s^2 or m/s^2.

        method: "aba", articulated bodies, O(n); "crba", factorised mass matrix; the quicker of the two on this machine
        if not given. They agree up to rounding. A joint that moves no inertia raises a SingularMassMatrixError.

        >>> import fastdyn as fd
        >>> arm = fd.robots.puma560()
        >>> tau = arm.inverse_dynamics([0.1] * 6, [0.2] * 6, [0.3] * 6)
        >>> arm.forward_dynamics([0.1] * 6, [0.2] * 6, tau).round(10)
        array([0.3, 0.3, 0.3, 0.3, 0.3, 0.3])
        """
        values = (q, qd, tau) if wrenches is None else (q, qd, tau, self._wrenches(wrenches))
        try:
            row = self._solvers[method]
        except (KeyError, TypeError):
            raise ArgumentError(
                f"method is {method!r}: expected {' or '.join(repr(key) for key in self._solvers if key)}"
            ) from None
        return self._tasks[row](values, out, threads, dtype)

    def mass_matrix(
        self, q: ArrayLike, out: Array | None = None, threads: int = 1, dtype: DTypeLike | None = None
    ) -> Array:
        """M(q), (..., n, n): kg m^2, kg m or kg. Rotors add to its diagonal.

        >>> import fastdyn as fd
        >>> fd.robots.two_link(m1=1.0, m2=1.0, length=1.0).mass_matrix([0.0, 0.0]).round(6)
        array([[2.666667, 0.833333],
               [0.833333, 0.333333]])
        """
        return self._tasks[MASS_MATRIX]((q,), out, threads, dtype)

    def coriolis_matrix(
        self, q: ArrayLike, qd: ArrayLike, out: Array | None = None, threads: int = 1, dtype: DTypeLike | None = None
    ) -> Array:
        """C(q, qd) from Christoffel symbols, (..., n, n): C qd are the velocity forces, and dM/dt - 2 C is skew.

        >>> import fastdyn as fd
        >>> arm = fd.robots.two_link(m1=1.0, m2=1.0, length=1.0)
        >>> (arm.coriolis_matrix([0.0, np.pi / 2], [1.0, 2.0]) @ [1.0, 2.0]).round(12)
        array([-4. ,  0.5])
        """
        return self._tasks[CORIOLIS_MATRIX]((q, qd), out, threads, dtype)

    def bias_forces(
        self, q: ArrayLike, qd: ArrayLike, out: Array | None = None, threads: int = 1, dtype: DTypeLike | None = None
    ) -> Array:
        """Inverse dynamics at zero acceleration, (..., n): velocity forces, gravity and friction. tau = M qdd + bias.

        >>> import fastdyn as fd
        >>> fd.robots.two_link(m1=1.0, m2=1.0, length=1.0, g=0.0).bias_forces([0.0, np.pi / 2], [1.0, 2.0]).round(12)
        array([-4. ,  0.5])
        """
        return self._tasks[BIAS_FORCES]((q, qd), out, threads, dtype)

    def gravity_forces(
        self, q: ArrayLike, out: Array | None = None, threads: int = 1, dtype: DTypeLike | None = None
    ) -> Array:
        """The torques that hold the robot still against gravity, (..., n).

        >>> import fastdyn as fd
        >>> fd.robots.two_link(m1=1.0, m2=1.0, length=1.0, g=10.0).gravity_forces([0.0, 0.0]).round(12)
        array([20.,  5.])
        """
        return self._tasks[GRAVITY_FORCES]((q,), out, threads, dtype)

    def kinetic_energy(
        self, q: ArrayLike, qd: ArrayLike, out: Array | None = None, threads: int = 1, dtype: DTypeLike | None = None
    ) -> Array:
        """Kinetic energy, rotors included, (...), J.

        >>> import fastdyn as fd
        >>> float(fd.robots.two_link(m1=1.0, m2=1.0, length=1.0).kinetic_energy([0.0, 0.0], [1.0, 0.0]).round(6))
        1.333333
        """
        return self._tasks[KINETIC_ENERGY]((q, qd), out, threads, dtype)

    def potential_energy(
        self, q: ArrayLike, out: Array | None = None, threads: int = 1, dtype: DTypeLike | None = None
    ) -> Array:
        """Potential energy of the moving links in the gravity field, zero at the world's origin, (...), J.

        >>> import fastdyn as fd
        >>> float(fd.robots.two_link(m1=1.0, m2=1.0, length=1.0, g=10.0).potential_energy([np.pi / 2, 0.0]).round(6))
        20.0
        """
        return self._tasks[POTENTIAL_ENERGY]((q,), out, threads, dtype)

    def joint_reactions(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        wrenches: Wrenches | None = None,
        out: Array | None = None,
        threads: int = 1,
        dtype: DTypeLike | None = None,
    ) -> Array:
        """Joint reactions, (..., n, 6): force (N), then moment (N m) that the parent exerts on the link.

        At the joint's origin (which slides with the link where the joint is prismatic), along the axes of the link's
        frame. The component along the joint axis is the motor's torque less friction and rotor inertia.

        >>> import fastdyn as fd
        >>> arm = fd.robots.two_link(m1=1.0, m2=1.0, length=1.0, g=10.0)
        >>> arm.joint_reactions([0, 0], [0, 0], [0, 0])[0].round(12)
        array([ 0., 20.,  0.,  0.,  0., 20.])
        """
        values = (q, qd, qdd) if wrenches is None else (q, qd, qdd, self._wrenches(wrenches))
        return self._tasks[JOINT_REACTIONS](values, out, threads, dtype)

    def center_of_mass(
        self, q: ArrayLike, out: Array | None = None, threads: int = 1, dtype: DTypeLike | None = None
    ) -> Array:
        """The centre of mass of all moving links, (..., 3), m, in the base link's frame.

        >>> import fastdyn as fd
        >>> fd.robots.two_link(m1=1.0, m2=1.0, length=1.0).center_of_mass([0.0, 0.0]).round(12)
        array([1., 0., 0.])
        """
        self._check_mass()
        return self._tasks[CENTER_OF_MASS]((q,), out, threads, dtype)

    def momentum(
        self, q: ArrayLike, qd: ArrayLike, out: Array | None = None, threads: int = 1, dtype: DTypeLike | None = None
    ) -> Array:
        """The momentum of all moving links, (..., 6): linear (N s), then angular about the centre of mass (N m s).

        Along the base link's axes. Rotors are left out.

        >>> import fastdyn as fd
        >>> fd.robots.two_link(m1=1.0, m2=1.0, length=1.0).momentum([0.0, 0.0], [1.0, 0.0]).round(6)
        array([0.      , 2.      , 0.      , 0.      , 0.      , 0.666667])
        """
        self._check_mass()
        return self._tasks[MOMENTUM]((q, qd), out, threads, dtype)

    # ------------------------------------------------------------------------------------------ arguments

    def _check_mass(self) -> None:
        """Raises if there is no centre of mass."""
        if not self.description.moving_mass:
            raise ArgumentError(f"{self.description.name} has no centre of mass: none of its moving links has mass")

    def _wrenches(self, wrenches: Wrenches) -> ArrayLike:
        """(..., n, 6) from a mapping of link names; those on fixed links are moved to the links that carry them."""
        if not isinstance(wrenches, Mapping):
            return wrenches
        carriers, joints = self.description.carriers, self.description.joints
        place = {joint.child: i for i, joint in enumerate(joints)}
        if not wrenches:
            return np.zeros((len(joints), 6))
        given = {}
        for name, wrench in wrenches.items():
            if name not in carriers:
                robot = self.description.name
                raise ArgumentError(f"wrenches names {name!r}, which is no link of {robot}: {sorted(carriers)}")
            given[f"wrenches[{name!r}]"] = wrench
        arrays, lead = read(given, dict.fromkeys(given, (6,)), "a wrench", dict.fromkeys(given, "component"))
        check_finite(arrays)
        total = np.zeros((*lead, len(joints), 6))
        for name, array in zip(wrenches, arrays.values(), strict=True):
            moving, where = carriers[name]
            if moving not in place:
                continue  # on the base: acts on no joint
            force, moment = array[..., :3] @ where[:3, :3].T, array[..., 3:] @ where[:3, :3].T
            total[..., place[moving], :3] += force
            total[..., place[moving], 3:] += moment + np.cross(where[:3, 3], force)
        return total


class Tasks(dict[Quantity, Callable[..., Array]]):
    """A robot's tasks by quantity, created on first use."""

    def __init__(self, parameters: Parameters, task_class: Callable[[], type[Task]]) -> None:
        self.parameters, self.task_class = parameters, task_class

    def __missing__(self, quantity: Quantity) -> Callable[..., Array]:
        row = quantity
        if self.parameters.coupled and row.coupled is not None:  # methods may share a text
            row = next(each for each in ROWS.values() if each.coupled is row.coupled)
        task = self.task_class()(self.parameters, row) if row is quantity else self[row]
        self[quantity] = task
        return task
