"""The methods that compute poses, velocities and Jacobians of frames, shared by all kinds of robots."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from fastdyn.calls.parameters import Parameters
from fastdyn.dynamics import Dynamics, Tasks
from fastdyn.mechanism.frames import named_frame
from fastdyn.mechanism.parts import Array, Frame
from fastdyn.mechanism.poses import tips
from fastdyn.quantities import (
    FORWARD_KINEMATICS,
    FRAME_ACCELERATION,
    FRAME_VELOCITY,
    HESSIAN,
    JACOBIAN,
    JACOBIAN_DERIVATIVE,
    LINK_POSES,
    POSE_AND_JACOBIAN,
    Quantity,
)

if TYPE_CHECKING:
    from fastdyn.calls.task import Task

KEPT = 64  # frames, or the like, that a robot has prepared and keeps
SEVERAL = (list, tuple)

FrameName = str | Frame | None
Point = ArrayLike | None
T = TypeVar("T")


def kept(found: dict[Any, T], key: Any, make: Callable[[], T]) -> T:
    """found[key], made if it is not there; then the oldest goes if there are too many.

    >>> kept({}, "a", lambda: 1)
    1
    """
    if key not in found:
        if len(found) >= KEPT:
            found.pop(next(iter(found)), None)
        found[key] = make()
    return found[key]


def has_name(frame: FrameName) -> bool:
    """Whether a frame is one of the robot's own: those that specialised robots have code for."""
    return frame is None or isinstance(frame, str)


class Kinematics(Dynamics):
    """The quantities of a robot's frames. Every method takes one state (n,) or any batch (..., n) of states.

    frame: the name of a link or of a frame added by `with_frame`, or a Frame; the robot's tip if not given. point: a
    point (x, y, z) in that frame, m, to be taken as its origin. Poses are 4x4, in the base link's frame; six-vectors
    and rows of Jacobians are linear (m), then angular (rad), along the base's axes, or along the frame's if local. For
    a coupled robot q, qd, qdd and the columns of Jacobians are those of its coordinates. Batch axes broadcast; out,
    threads and dtype are as for the dynamics.
    """

    @abstractmethod
    def parameters_in(self, frame: FrameName, point: Point, local: bool) -> Parameters:
        """The flat arrays that compiled code reads, for quantities of a frame."""

    @cached_property
    def _views(self) -> dict[Any, Tasks]:
        """Tasks by frame, point and axes: those made last."""
        return {}

    def _in(self, frame: FrameName, point: Point, local: bool) -> Tasks:
        """The tasks of a frame."""
        try:
            return self._views[frame, point, local]
        except (KeyError, TypeError):  # TypeError: a point that is a list or an array
            pass
        named_frame(self.description, frame, point)  # checked before it becomes a key
        key = frame, None if point is None else tuple(np.asarray(point, dtype=np.float64).tolist()), bool(local)
        return kept(self._views, key, lambda: Tasks(self.parameters_in(*key), self._task_class))

    def task(self, quantity: Quantity, dtype: DTypeLike | None = None) -> Task:
        """The calls of one quantity in one precision; specialised ones of a frame are those of the only tip."""
        if not quantity.frame or self.parameters.specialised is None or len(tips(self.description)) != 1:
            return super().task(quantity, dtype)
        found: Any = self._in(None, None, False)[quantity]
        task: Task = found.in_precision(dtype)
        return task

    def forward_kinematics(
        self,
        q: ArrayLike,
        frame: FrameName | list[str] | tuple[str, ...] = None,
        point: Point = None,
        out: Array | None = None,
        threads: int = 1,
        dtype: DTypeLike | None = None,
    ) -> Array:
        """The pose of a frame in the base link's frame, (..., 4, 4); of a list of frames (..., K, 4, 4).

        `robot.mount @ pose` is the pose in the world.

        >>> import fastdyn as fd
        >>> arm = fd.robots.two_link(length=1.0)
        >>> arm.forward_kinematics([np.pi / 2, 0.0])[:3, 3].round(12).tolist()
        [0.0, 2.0, 0.0]
        >>> arm.forward_kinematics([0.0, 0.0], ["link1", "link2"])[:, 0, 3].tolist()
        [1.0, 2.0]
        """
        if isinstance(frame, SEVERAL):
            each = [self.forward_kinematics(q, one, point, None, threads, dtype) for one in frame]
            found = np.stack(each or [self.forward_kinematics(q, self.base.name)], axis=-3)[..., : len(each), :, :]
            if out is None:
                return found
            np.copyto(out, found)
            return out
        tasks = self._in(frame, point, False)
        pose = tasks[FORWARD_KINEMATICS]((q,), out, threads, dtype)
        return pose if tasks.parameters.joints else self._without_joints(pose, frame, point)

    def _without_joints(self, pose: Array, frame: FrameName, point: Point) -> Array:
        """A pose that no joint moves: compiled code has no columns to read it from."""
        _, where = self.description.frame_place(named_frame(self.description, frame, point))
        pose[...] = where
        return pose

    def link_poses(
        self, q: ArrayLike, out: Array | None = None, threads: int = 1, dtype: DTypeLike | None = None
    ) -> Array:
        """The poses of all links that joints move (robot.links), (..., number of joints, 4, 4), in the base's frame.

        One pass over the robot: cheaper than forward_kinematics of a list of frames.

        >>> import fastdyn as fd
        >>> fd.robots.two_link(length=1.0).link_poses([0.0, 0.0])[:, 0, 3].tolist()
        [1.0, 2.0]
        """
        return self._tasks[LINK_POSES]((q,), out, threads, dtype)

    def jacobian(
        self,
        q: ArrayLike,
        frame: FrameName = None,
        point: Point = None,
        local: bool = False,
        out: Array | None = None,
        threads: int = 1,
        dtype: DTypeLike | None = None,
    ) -> Array:
        """The geometric Jacobian of a frame, (..., 6, n): J qd is the velocity of its origin, then angular velocity.

        >>> import fastdyn as fd
        >>> fd.robots.two_link(length=1.0).jacobian([0.0, 0.0])[[1, 5]].tolist()
        [[2.0, 1.0], [1.0, 1.0]]
        """
        return self._in(frame, point, local)[JACOBIAN]((q,), out, threads, dtype)

    def pose_and_jacobian(
        self,
        q: ArrayLike,
        frame: FrameName = None,
        point: Point = None,
        local: bool = False,
        out: tuple[Array, Array] | None = None,
        threads: int = 1,
        dtype: DTypeLike | None = None,
    ) -> tuple[Array, Array]:
        """`forward_kinematics` and `jacobian` of a frame together: (..., 4, 4) and (..., 6, n).

        >>> import fastdyn as fd
        >>> pose, J = fd.robots.two_link(length=1.0).pose_and_jacobian([0.0, 0.0])
        >>> pose[0, 3].item(), J[1].tolist()
        (2.0, [2.0, 1.0])
        """
        task: Any = self._in(frame, point, local)[POSE_AND_JACOBIAN]
        pose, J = task((q,), out, threads, dtype)
        return (pose if self.description.n else self._without_joints(pose, frame, point)), J

    def frame_velocity(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        frame: FrameName = None,
        point: Point = None,
        local: bool = False,
        out: Array | None = None,
        threads: int = 1,
        dtype: DTypeLike | None = None,
    ) -> Array:
        """The velocity of a frame, (..., 6): of its origin (m/s), then angular (rad/s).

        >>> import fastdyn as fd
        >>> fd.robots.two_link(length=1.0).frame_velocity([0.0, 0.0], [1.0, 1.0]).tolist()
        [0.0, 3.0, 0.0, 0.0, 0.0, 2.0]
        """
        return self._in(frame, point, local)[FRAME_VELOCITY]((q, qd), out, threads, dtype)

    def frame_acceleration(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike | None = None,
        frame: FrameName = None,
        point: Point = None,
        local: bool = False,
        out: Array | None = None,
        threads: int = 1,
        dtype: DTypeLike | None = None,
    ) -> Array:
        """The acceleration of a frame, (..., 6): of its origin (m/s^2), then angular (rad/s^2): J qdd + dJ/dt qd.

        The second derivative of the origin's position, gravity left out; qdd = 0 if not given. Where local, the same
        two vectors along the frame's axes.

        >>> import fastdyn as fd
        >>> fd.robots.two_link(length=1.0).frame_acceleration([0.0, 0.0], [1.0, 0.0], [0.0, 1.0])[:3].tolist()
        [-2.0, 1.0, 0.0]
        """
        values = (q, qd) if qdd is None else (q, qd, qdd)
        return self._in(frame, point, local)[FRAME_ACCELERATION](values, out, threads, dtype)

    def jacobian_bias(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        frame: FrameName = None,
        point: Point = None,
        local: bool = False,
        out: Array | None = None,
        threads: int = 1,
        dtype: DTypeLike | None = None,
    ) -> Array:
        """dJ/dt qd, (..., 6): `frame_acceleration` at qdd = 0.

        >>> import fastdyn as fd
        >>> fd.robots.two_link(length=1.0).jacobian_bias([0.0, 0.0], [1.0, 0.0])[:3].tolist()
        [-2.0, 0.0, 0.0]
        """
        return self.frame_acceleration(q, qd, None, frame, point, local, out, threads, dtype)

    def jacobian_derivative(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        frame: FrameName = None,
        point: Point = None,
        local: bool = False,
        out: Array | None = None,
        threads: int = 1,
        dtype: DTypeLike | None = None,
    ) -> Array:
        """The time derivative of `jacobian`, (..., 6, n); where local, of the Jacobian along the frame's axes.

        >>> import fastdyn as fd
        >>> fd.robots.two_link(length=1.0).jacobian_derivative([0.0, 0.0], [1.0, 0.0])[0].tolist()
        [-2.0, -1.0]
        """
        return self._in(frame, point, local)[JACOBIAN_DERIVATIVE]((q, qd), out, threads, dtype)

    def hessian(
        self,
        q: ArrayLike,
        frame: FrameName = None,
        point: Point = None,
        local: bool = False,
        out: Array | None = None,
        threads: int = 1,
        dtype: DTypeLike | None = None,
    ) -> Array:
        """The kinematic Hessian, (..., 6, n, n): [:, i, j] is the derivative of the Jacobian's column i by q_j.

        >>> import fastdyn as fd
        >>> fd.robots.two_link(length=1.0).hessian([0.0, 0.0])[0].tolist()
        [[-2.0, -1.0], [-1.0, -1.0]]
        """
        return self._in(frame, point, local)[HESSIAN]((q,), out, threads, dtype)
