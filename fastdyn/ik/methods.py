"""The methods of inverse kinematics that robots share."""

from __future__ import annotations

import math
from abc import abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from fastdyn.calls.arguments import check_finite, read
from fastdyn.errors import ArgumentError
from fastdyn.ik.poses import read_poses
from fastdyn.kinematics import FrameName, Kinematics, has_name, kept
from fastdyn.mechanism.frames import named_frame
from fastdyn.mechanism.limits import RobotLimits
from fastdyn.mechanism.parts import Array

if TYPE_CHECKING:
    from fastdyn.calls.parameters import Parameters
    from fastdyn.ik.analytic import Solutions, Solver
    from fastdyn.ik.numeric import PathSolution, Problem, Search, Solution
    from fastdyn.quantities import Quantity


class InverseKinematics(Kinematics):
    """Coordinates from poses of a frame."""

    @property
    @abstractmethod
    def limits(self) -> RobotLimits:
        """The limits of q, qd and tau."""

    @cached_property
    def _problems(self) -> dict[Any, Problem]:
        return {}

    @cached_property
    def _paths(self) -> dict[Any, Quantity]:
        """Straight-line code of a specialised robot, by frame and order of axes."""
        return {}

    def inverse_kinematics(
        self,
        T: ArrayLike,
        frame: FrameName = None,
        q0: ArrayLike | None = None,
        axes: str | None = None,
        limits: bool = True,
        posture: ArrayLike | None = None,
        restarts: int = 100,
        seed: int = 0,
        tol: float = 1e-9,
        steps: int = 20,
        threads: int = 1,
    ) -> Solution:
        """Coordinates at which a frame has the poses T, (..., 4, 4) in the base's frame; numeric, for any robot.

        The result has q (..., n), success (...), error (..., 2) in m and rad, and iterations (...). Where there is no
        success q is the best attempt. The method is that of Levenberg and Marquardt, with up to `restarts` starts of
        up to `steps` steps each: the first at q0, (n,) or (..., n), or at the posture, if given; start k of pose i is
        otherwise random, from (seed, i, k), so that no answer depends on other poses or on threads.

        axes: which axes of the target count: some of x, y, z (position) and three, two or none of rx, ry, rz; with
        "xyz" only the position matters, with "xyzrxry" the rotation about the target's z axis is free. limits: whether
        coordinates must be within robot.limits. posture: (n,) or (..., n), a wish: of a robot that can move while the
        frame stays, the solution nearby that is closest to it. tol: the largest error, m and rad.

        Coordinates that do not move the frame stay at q0, or the posture, or zero within their limits.
        A specialised robot (`specialize`) searches with code of its own for frames that are given by name.

        >>> import fastdyn as fd
        >>> arm = fd.robots.panda()
        >>> T = arm.forward_kinematics([0.1, 0.2, 0.3, -1.5, 0.5, 1.6, 0.7])
        >>> found = arm.inverse_kinematics(T)
        >>> found.success.item(), bool(np.abs(arm.forward_kinematics(found.q) - T).max() < 1e-8)
        (True, True)
        """
        from fastdyn.ik import numeric

        poses = read_poses(T)
        lead = poses.shape[:-2]
        problem = self._problem(frame, axes, limits)
        values = {name: self._coordinates(name, given, lead) for name, given in (("q0", q0), ("posture", posture))}
        found = problem.solve(poses, values["q0"], values["posture"], _search(tol, restarts, steps, seed), threads)
        self._measure(problem, frame, poses.reshape(-1, 4, 4), found)
        return numeric.Solution(
            found.q.reshape(*lead, self.n), found.success.reshape(lead), found.error.reshape(*lead, 2),
            found.iterations.reshape(lead),
        )  # fmt: skip

    def inverse_kinematics_all(
        self, T: ArrayLike, frame: FrameName = None, limits: bool = False, threads: int = 1
    ) -> Solutions:
        """All joint positions that give a frame the pose T, in closed form, for six-joint arms that have one.

        T: (..., 4, 4), in the base link's frame; frame: a link's or frame's name, the tip if not given. The result's
        q is (..., K, n), with K = 2, 4 or 8 branches; `valid`, (..., K), says which of them exist, `singular` where an
        angle is not determined, `reachable`, (...), whether any exists. Angles are in [-pi, pi]; with limits=True they
        are moved by whole turns into the limits of their joints, and a branch is valid only if that can be, and if the
        coordinates of a coupled robot are then within their own limits. At a singularity, such as a stretched elbow,
        branches coincide. Joints that do not move the frame are at zero, or the nearest limit.

        Arms are recognised from their axes (to 1e-6 rad, and 1e-6 of their size): three axes at the end, or at the
        base, that meet in a point, the other joints turning in any arrangement, or sliding in most; or three parallel
        axes 2, 3, 4 with 5 and 6 meeting (or 3, 4, 5 with 1 and 2). For others a NoClosedFormError names the axes that
        prevent it: `inverse_kinematics` solves them numerically. Where axes miss by more than rounding, a Newton step
        follows; poses are then accurate to 1e-9 except near singularities, where they stay as far off as the axes.

        >>> import numpy as np, fastdyn as fd
        >>> arm = fd.robots.puma560()
        >>> s = arm.inverse_kinematics_all(arm.forward_kinematics([0.1, 0.2, 0.3, 0.4, 0.5, 0.6]))
        >>> s.q.shape, int(s.valid.sum()), bool(s.reachable)
        ((8, 6), 8, True)
        >>> bool(np.isclose(s.q, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]).all(axis=1).any())
        True
        """
        return self._closed_form(frame)(T, limits, threads)

    def inverse_kinematics_path(
        self,
        T: ArrayLike,
        q0: ArrayLike | None = None,
        frame: FrameName = None,
        axes: str | None = None,
        limits: bool = True,
        jump: float = 0.5,
        restarts: int = 100,
        seed: int = 0,
        tol: float = 1e-9,
        steps: int = 20,
    ) -> PathSolution:
        """Coordinates along a path of poses T, (K, 4, 4): each solution is searched for from the last.

        The first is searched for from q0, (n,), or at random. Where the search from the last solution fails or ends
        farther than `jump` (rad or m) from it in some coordinate, up to `restarts` random starts are tried, too, and
        the closest solution is taken. The result is that of `inverse_kinematics`, with jumps: rows (k, c), coordinate c
        changes by more than `jump` from pose k - 1 to pose k.

        >>> import fastdyn as fd
        >>> arm = fd.robots.ur5()
        >>> q = np.linspace([0, -1, 1, 0, 1, 0], [1, -0.5, 1.5, 0.2, 1, 0], 20)
        >>> found = arm.inverse_kinematics_path(arm.forward_kinematics(q), q0=q[0])
        >>> bool(found.success.all()), bool(np.abs(found.q - q).max() < 1e-6), len(found.jumps)
        (True, True, 0)
        """
        from fastdyn.ik import numeric

        poses = read_poses(T)
        if poses.ndim != 3:
            raise ArgumentError(f"T has shape {poses.shape}: expected (K, 4, 4), a path of poses")
        problem = self._problem(frame, axes, limits)
        first = self._coordinates("q0", q0, ())
        found = numeric.along_path(
            problem, poses, None if first is None else first[0], _positive("jump", jump),
            _search(tol, restarts, steps, seed),
        )  # fmt: skip
        self._measure(problem, frame, poses, found)
        return found

    @cached_property
    def _closed_forms(self) -> dict[Any, Solver]:
        return {}

    def _closed_form(self, frame: FrameName) -> Solver:
        """The closed form of a frame, found once."""
        from fastdyn.ik.analytic import Solver
        from fastdyn.ik.recognize import recognize

        named = named_frame(self.description, frame)

        def make() -> Solver:
            form = recognize(self.description, named)
            return Solver(self.description, form, self.parameters_in(named, None, False))

        return kept(self._closed_forms, named, make)

    def _problem(self, frame: FrameName, axes: str | None, limits: bool) -> Problem:
        """The search for poses of a frame, made once."""
        from fastdyn.ik import numeric

        counting = numeric.Axes.named(axes)
        parameters = self._in(frame, None, False).parameters
        bounds, description = self.limits.position if limits else None, self.description

        def own(path: Parameters) -> Quantity:
            from fastdyn.specialize.rows import specialised

            return kept(self._paths, (frame, counting.order), lambda: specialised(numeric.PATH, path, in_rows=True))

        def make() -> Problem:
            return numeric.Problem(
                description.name, parameters.constants, description.joints, description.coupling, bounds, counting,
                own if parameters.specialised is not None and has_name(frame) else None,
            )  # fmt: skip

        return kept(self._problems, (frame, axes, bool(limits)), make)

    def _coordinates(self, name: str, value: ArrayLike | None, lead: tuple[int, ...]) -> Array | None:
        """(K, n) of coordinates given for all poses or for each."""
        if value is None:
            return None
        parameters = self.parameters
        given, own = read({name: value}, {name: (self.n,)}, parameters.robot, {name: parameters.unit})
        check_finite(given)
        try:
            return np.broadcast_to(given[name], (*lead, self.n)).reshape(-1, self.n)
        except ValueError as problem:
            raise ArgumentError(f"{name} has batch axes {own}: expected those of T, {lead}, or none") from problem

    def _measure(self, problem: Problem, frame: FrameName, poses: Array, found: Solution) -> None:
        """The errors of the best attempts, which may have been clipped to limits."""
        from fastdyn.ik import numeric

        failed = ~found.success
        if failed.any():
            reached = self.forward_kinematics(found.q[failed], frame)
            found.error[failed] = numeric.errors(poses[failed], reached, problem.axes)


def _search(tol: float, restarts: int, steps: int, seed: int) -> Search:
    from fastdyn.ik.numeric import Search

    return Search(
        _positive("tol", tol), _whole("restarts", restarts, 1), _whole("steps", steps, 1), _whole("seed", seed, 0)
    )


def _whole(name: str, value: int, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not least <= value < 2**63:
        raise ArgumentError(f"{name} is {value!r}: expected a whole number from {least} on")
    return int(value)


def _positive(name: str, value: float) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not 0 < value < math.inf:
        raise ArgumentError(f"{name} is {value!r}: expected a number above zero")
    return float(value)
