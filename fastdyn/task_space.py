"""The methods between a frame and the joints: inverse velocities, singularities, task-space dynamics, wrenches."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from fastdyn.calls.arguments import check_finite, precision, read
from fastdyn.errors import ArgumentError
from fastdyn.kinematics import FrameName, Kinematics, Point
from fastdyn.mechanism.limits import limits_of
from fastdyn.mechanism.parts import Array
from fastdyn.quantities import (
    INVERSE_ACCELERATION,
    INVERSE_VELOCITY,
    RESIDUAL,
    SINGULAR_VALUES,
    STATIC_TORQUES,
    TASK_DYNAMICS,
    Quantity,
)

AXES = ("x", "y", "z", "rx", "ry", "rz")

Axes = str | ArrayLike | None


class InverseVelocity(NamedTuple):
    """Joint velocities qd (..., n), the rank (...) of the Jacobian, and the length (...) of velocity - J qd."""

    qd: Array
    rank: Array
    residual: Array

    @property
    def exact(self) -> NDArray[np.bool_]:
        """Where J qd is the velocity asked for; elsewhere qd is the least-squares solution."""
        return np.equal(self.residual, 0)


class InverseAcceleration(NamedTuple):
    """Joint accelerations qdd (..., n), the rank (...) of the Jacobian, and the length (...) of what is missing."""

    qdd: Array
    rank: Array
    residual: Array

    @property
    def exact(self) -> NDArray[np.bool_]:
        """Where the frame accelerates as asked for; elsewhere qdd is the least-squares solution."""
        return np.equal(self.residual, 0)


class TaskDynamics(NamedTuple):
    """Lambda (..., 6, 6), mu (..., 6) and p (..., 6) of F = Lambda a + mu + p; kept (..., 6): 1 for its components.

    0 for those left free, with zeros in Lambda, mu and p: not asked for, or dependent on those before them.
    """

    Lambda: Array
    mu: Array
    p: Array
    kept: Array


class WrenchCapability(NamedTuple):
    """The largest factor (...), the joint or coordinate (...) that limits it, and whether there is one at all (...).

    factor: infinite, and joint -1, where nothing limits it; 0 where not possible, joint being one that is overloaded.
    """

    factor: Array
    joint: NDArray[np.intp]
    possible: NDArray[np.bool_]


class TaskSpace(Kinematics):
    """What connects a frame's motion and wrenches with those of the joints.

    frame, point and local are those of the kinematic quantities. axes: which of the six components of the frame's
    velocity count, a string such as "xyz", "xyrz" or "rxryrz", or six weights, zero for what does not count; all with
    weight 1 if not given. Linear (m) and angular (rad) components have different units: what depends on their
    ratio (singular values, least squares, damping) takes 1 rad as 1 m, or as c m for axes=(1, 1, 1, c, c, c).
    """

    def singular_values(
        self,
        q: ArrayLike,
        frame: FrameName = None,
        point: Point = None,
        local: bool = False,
        axes: Axes = None,
        out: Array | None = None,
        threads: int = 1,
        dtype: DTypeLike | None = None,
    ) -> Array:
        """The singular values of the Jacobian, (..., 6), descending; zeros follow those of fewer than six joints.

        Their error is a few eps of the largest.

        >>> import fastdyn as fd
        >>> fd.robots.two_link(length=1.0).singular_values([0.0, np.pi / 2], axes="xy").round(6).tolist()
        [1.618034, 0.618034, 0.0, 0.0, 0.0, 0.0]
        """
        values = (q,) if axes is None else (q, weights(axes))
        return self._in(frame, point, local)[SINGULAR_VALUES](values, out, threads, dtype)

    def manipulability(
        self,
        q: ArrayLike,
        frame: FrameName = None,
        point: Point = None,
        local: bool = False,
        axes: Axes = None,
        threads: int = 1,
        dtype: DTypeLike | None = None,
    ) -> Array:
        """Yoshikawa's measure, (...): the product of the singular values, as many as there are joints and axes.

        That is sqrt(det(J J^T)), or sqrt(det(J^T J)) for fewer joints than axes; zero at singular poses.

        >>> import fastdyn as fd
        >>> fd.robots.two_link(length=1.0).manipulability([0.0, np.pi / 2], axes="xy").round(12).item()
        1.0
        """
        sigma = self.singular_values(q, frame, point, local, axes, None, threads, dtype)
        product: Array = np.where(np.arange(6) < self._count(axes), sigma, 1).prod(axis=-1)
        return product

    def condition_number(
        self,
        q: ArrayLike,
        frame: FrameName = None,
        point: Point = None,
        local: bool = False,
        axes: Axes = None,
        threads: int = 1,
        dtype: DTypeLike | None = None,
    ) -> Array:
        """The largest singular value by the smallest, (...), of as many as there are joints and axes.

        Infinite where the smallest is zero up to rounding, at most 4 max(6, n) eps of the largest.

        >>> import fastdyn as fd
        >>> arm = fd.robots.two_link(length=1.0)
        >>> arm.condition_number([[0.0, np.pi / 2], [0.0, 0.0]], axes="xy").round(6).tolist()
        [2.618034, inf]
        """
        sigma = self.singular_values(q, frame, point, local, axes, None, threads, dtype)
        last = np.broadcast_to(self._count(axes) - 1, (*sigma.shape[:-1], 1))
        largest, smallest = sigma[..., 0], np.take_along_axis(sigma, last, axis=-1)[..., 0]
        singular = smallest <= 4 * max(6, self.n) * np.finfo(precision(dtype)).eps * largest
        condition: Array = np.where(singular, np.inf, largest / np.where(singular, 1, smallest))
        return condition

    def inverse_velocity(
        self,
        q: ArrayLike,
        velocity: ArrayLike,
        frame: FrameName = None,
        point: Point = None,
        local: bool = False,
        preferred: ArrayLike | None = None,
        axes: Axes = None,
        damping: ArrayLike | None = None,
        tolerance: ArrayLike | None = None,
        out: tuple[Array, Array, Array] | None = None,
        threads: int = 1,
        dtype: DTypeLike | None = None,
    ) -> InverseVelocity:
        """Joint velocities that move a frame at a velocity (..., 6), m/s and rad/s: the result's qd, (..., n).

        Exact where the velocity is in the range of the Jacobian J (rank J = rank [J velocity]), else least squares: see
        `exact`, `rank` and `residual` of the result. Of several solutions the one closest to preferred (..., n), zero
        if not given: motion in the null space. damping, m or rad: minimises |J qd - velocity|^2 + damping^2
        |qd - preferred|^2 instead, which is bounded near singular poses and not exact. tolerance: singular values up to
        this part of the largest count as zero; at least 4 max(6, n) eps, rounding. The residual is zero where it is
        rounding, too: up to that much of the velocity times the condition number.

        >>> import fastdyn as fd
        >>> arm = fd.robots.two_link(length=1.0)
        >>> found = arm.inverse_velocity([0.0, np.pi / 2], [0.5, 0.2, 0, 0, 0, 0], axes="xy")
        >>> found.qd.round(12).tolist(), bool(found.exact), float(found.rank)
        ([0.2, -0.7], True, 2.0)
        >>> arm.inverse_velocity([0.0, 0.0], [0.5, 0, 0, 0, 0, 0], axes="xy").exact.item()  # stretched: not along x
        False
        """
        values = (q, velocity, *self._options(preferred, axes, damping, tolerance))
        return InverseVelocity(*self._solved(INVERSE_VELOCITY, values, (frame, point, local), out, threads, dtype))

    def inverse_acceleration(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        acceleration: ArrayLike,
        frame: FrameName = None,
        point: Point = None,
        local: bool = False,
        preferred: ArrayLike | None = None,
        axes: Axes = None,
        damping: ArrayLike | None = None,
        tolerance: ArrayLike | None = None,
        out: tuple[Array, Array, Array] | None = None,
        threads: int = 1,
        dtype: DTypeLike | None = None,
    ) -> InverseAcceleration:
        """Joint accelerations that accelerate a frame as `frame_acceleration` gives it: the result's qdd, (..., n).

        acceleration: (..., 6), m/s^2 and rad/s^2. J qdd = acceleration - dJ/dt qd, solved as by `inverse_velocity`,
        with the same options.

        >>> import fastdyn as fd
        >>> arm = fd.robots.two_link(length=1.0)
        >>> a = arm.frame_acceleration([0.0, 1.0], [1.0, 2.0], [3.0, 4.0])
        >>> arm.inverse_acceleration([0.0, 1.0], [1.0, 2.0], a).qdd.round(12).tolist()
        [3.0, 4.0]
        """
        values = (q, qd, acceleration, *self._options(preferred, axes, damping, tolerance))
        view = frame, point, local
        return InverseAcceleration(*self._solved(INVERSE_ACCELERATION, values, view, out, threads, dtype))

    def static_torques(
        self,
        q: ArrayLike,
        wrench: ArrayLike,
        frame: FrameName = None,
        point: Point = None,
        local: bool = False,
        out: Array | None = None,
        threads: int = 1,
        dtype: DTypeLike | None = None,
    ) -> Array:
        """The torques, (..., n), that hold the robot still while its surroundings exert a wrench on a frame.

        wrench: (..., 6), force (N), then moment (N m), at the frame's origin, along the base's axes, or the frame's if
        local. Gravity is included: gravity_forces(q) - J^T wrench, as `inverse_dynamics` at rest with that wrench.

        >>> import fastdyn as fd
        >>> arm = fd.robots.two_link(m1=1.0, m2=1.0, length=1.0, g=10.0)
        >>> arm.static_torques([0.0, 0.0], [0, -3.0, 0, 0, 0, 0]).round(12)  # 3 N more downward at the tip
        array([26.,  8.])
        """
        return self._in(frame, point, local)[STATIC_TORQUES]((q, wrench), out, threads, dtype)

    def wrench_capability(
        self,
        q: ArrayLike,
        direction: ArrayLike,
        frame: FrameName = None,
        point: Point = None,
        local: bool = False,
        threads: int = 1,
    ) -> WrenchCapability:
        """How much of a wrench the robot can withstand at rest within its effort limits.

        The largest factor s >= 0 for which the torques `static_torques(q, s * direction)`, gravity included, are within
        robot.limits.effort. direction: (..., 6), what the surroundings exert on the frame (the robot exerts the
        opposite); its batch axes and those of q broadcast: directions (D, 6) and states (T, 1, n) give (T, D).

        >>> import fastdyn as fd
        >>> arm = fd.robots.panda()
        >>> found = arm.wrench_capability(arm.limits.position.mean(axis=1), [0, 0, -1.0, 0, 0, 0])
        >>> float(found.factor.round(3)), int(found.joint), bool(found.possible)  # N downward, at joint 6
        (64.133, 5, True)
        """
        given, _ = read({"direction": direction}, {"direction": (6,)}, "a wrench", {"direction": "component"})
        check_finite(given)
        J = self.jacobian(q, frame, point, local, None, threads)
        weight, part = self.gravity_forces(q), -(given["direction"][..., None, :] @ J)[..., 0, :]
        effort = self._effort
        with np.errstate(divide="ignore", invalid="ignore"):
            toward = np.where(part == 0, np.inf, (effort - np.sign(part) * weight) / np.abs(part))
            least = np.where(part == 0, -np.inf, (-effort - np.sign(part) * weight) / np.abs(part))
        overloaded = (part == 0) & (np.abs(weight) > effort)
        most, lowest = toward.min(axis=-1, initial=np.inf), least.max(axis=-1, initial=0.0)
        possible = ~overloaded.any(axis=-1) & (most >= lowest)
        factor = np.where(possible, most, 0.0)
        joint = np.where(np.isinf(factor), -1, _first(toward))
        worst = np.where(overloaded.any(axis=-1), _first(np.where(overloaded, -1.0, 0.0)), _first(toward))
        return WrenchCapability(factor, np.where(possible, joint, worst), possible)

    def task_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        frame: FrameName = None,
        point: Point = None,
        local: bool = False,
        axes: Axes = None,
        out: tuple[Array, Array, Array, Array] | None = None,
        threads: int = 1,
        dtype: DTypeLike | None = None,
    ) -> TaskDynamics:
        """The dynamics of a frame: the wrench F = Lambda a + mu + p, (..., 6), accelerates it at a, (..., 6).

        Lambda = (J M^-1 J^T)^-1, (..., 6, 6), the inertia that the frame shows; mu = Lambda (J M^-1 (C qd + friction) -
        dJ/dt qd); p = Lambda J M^-1 g, gravity. Torques J^T F accelerate the frame so, as `frame_acceleration` has it.
        Rotors are part of M. axes: the components that are controlled; all others are free, and
        zero in the results. At singular poses, and with fewer joints than axes, components that depend on those before
        them are left free, too: the result's `kept` is 0 for these.

        >>> import fastdyn as fd
        >>> arm = fd.robots.two_link(m1=1.0, m2=1.0, length=1.0, g=10.0)
        >>> found = arm.task_dynamics([0.0, np.pi / 2], [0.0, 0.0], axes="xy")
        >>> found.Lambda.diagonal().round(6).tolist(), found.kept.tolist()
        ([0.333333, 1.333333, 0.0, 0.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0, 0.0, 0.0])
        """
        values = (q, qd) if axes is None else (q, qd, weights(axes))
        return TaskDynamics(*self._solved(TASK_DYNAMICS, values, (frame, point, local), out, threads, dtype))

    # ------------------------------------------------------------------------------------------ arguments

    @property
    def _effort(self) -> Array:
        """(n,): the effort limits."""
        return limits_of(self.description).effort

    def _solved(self, row: Quantity, values: tuple[Any, ...], view: tuple[Any, ...], *options: Any) -> Any:
        found: Any = self._in(*view)[row](values, *options)
        if (
            not self.n and RESIDUAL in row.gives
        ):  # nothing is computed where nothing moves: all of the target is missing
            target, *optional = values[len(row.reads) - 1 :]
            axes = np.asarray(optional[1]) if optional and np.any(optional[1]) else np.ones(6)
            found[2][...] = np.linalg.norm(np.asarray(target) * axes, axis=-1)
        return found

    def _options(self, preferred: Any, axes: Axes, damping: Any, tolerance: Any) -> tuple[Any, ...]:
        """The optional inputs of inverse velocities: none, or all of them."""
        if preferred is None and axes is None and damping is None and tolerance is None:
            return ()
        return (
            np.zeros(self.n) if preferred is None else preferred,
            np.ones(6) if axes is None else weights(axes),
            0.0 if damping is None else damping,
            0.0 if tolerance is None else tolerance,
        )

    def _count(self, axes: Axes) -> Any:
        """How many singular values are not zero by themselves, (..., 1)."""
        given = np.ones(6) if axes is None else np.asarray(weights(axes))
        counted = np.count_nonzero(given, axis=-1, keepdims=True)
        return np.clip(np.where(counted == 0, 6, counted), 1, max(1, self.n))


def weights(axes: str | ArrayLike) -> ArrayLike:
    """Six weights of the axes in a string, or the weights themselves.

    >>> weights("xyrz").tolist()
    [1.0, 1.0, 0.0, 0.0, 0.0, 1.0]
    """
    if not isinstance(axes, str):
        return axes
    named = named_axes(axes)
    return np.array([float(name in named) for name in AXES])


def named_axes(axes: str) -> list[str]:
    """The names in a string such as "xyrz": some of AXES, each once.

    >>> named_axes("xyrz")
    ['x', 'y', 'rz']
    """
    named = re.findall("r?[xyz]", axes)
    if not named or "".join(named) != axes or len(set(named)) != len(named):
        raise ArgumentError(f"axes is {axes!r}: expected some of {', '.join(AXES)}, each once, as in 'xyz'")
    return named


def _first(values: Array) -> NDArray[np.intp]:
    """Index of the smallest value along the last axis; -1 if there is none."""
    return np.argmin(values, axis=-1) if values.shape[-1] else np.full(values.shape[:-1], -1)
