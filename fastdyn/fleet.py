"""Fleet: robots of the same tree with other numbers, computed together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from fastdyn.calls.arguments import check_robots, read
from fastdyn.calls.parameters import Parameters
from fastdyn.dynamics import Wrenches
from fastdyn.errors import ArgumentError, RobotError
from fastdyn.kernels import coupling
from fastdyn.kernels.rows import AXES, FORK, INDEX, KIND, LENGTH, PARENT, PATH, STRAIGHT
from fastdyn.kinematics import FrameName, Kinematics, Point
from fastdyn.mechanism.limits import limits_of
from fastdyn.mechanism.parts import Array
from fastdyn.simulation.methods import Moving


class Fleet(Moving):
    """Robots of the same tree with other numbers. Made by fd.stack(robots) or robot.vary(...).

    Robots are the last batch axis: q is (R, n), one state for each of R robots, (..., R, n) several states for each, or
    (..., 1, n), all states for all robots; a single state (n,) is that of all robots. The methods are those of a robot,
    except inverse kinematics and pictures, the results (..., R, n): what the robots give one by one in batches, to the
    last bit if there are 32 states or more and all are for all robots, up to rounding otherwise. len(fleet), fleet[k]
    and iteration give the robots.

    >>> import fastdyn as fd
    >>> arm = fd.robots.two_link(m1=1.0, m2=1.0, length=1.0, g=10.0)
    >>> fleet = fd.stack([arm, arm.with_payload(2.0)])
    >>> fleet.gravity_forces([0.0, 0.0]).round(12).tolist()
    [[20.0, 5.0], [60.0, 25.0]]
    """

    def __init__(self, robots: Iterable[Kinematics]) -> None:
        robots = tuple(robots)
        _check(robots)
        self._hold(robots)

    def _hold(self, robots: tuple[Kinematics, ...]) -> None:
        self.robots = robots
        self.description = robots[0].description
        self._frozen = True

    def __getstate__(self) -> tuple[Kinematics, ...]:
        """The robots alone, as those consist of their descriptions alone."""
        return self.robots

    def __setstate__(self, robots: tuple[Kinematics, ...]) -> None:
        self._hold(robots)

    def __eq__(self, other: object) -> bool:
        """Whether the other is a fleet of equal robots in the same order."""
        return self.robots == other.robots if isinstance(other, Fleet) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.robots)

    def __len__(self) -> int:
        return len(self.robots)

    def __getitem__(self, k: int) -> Any:
        return self.robots[k]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.robots)

    def __repr__(self) -> str:
        return f"<Fleet of {len(self)}: {self.robots[0]!r}{', ...' * (len(self) > 1)}>"

    @property
    def n(self) -> int:
        """Number of coordinates of each robot."""
        return self.robots[0].n

    @cached_property
    def parameters(self) -> Parameters:
        """The arrays of all robots for compiled code, and names for messages."""
        return self._together(tuple(robot.parameters for robot in self.robots))

    def parameters_in(self, frame: FrameName, point: Point, local: bool) -> Parameters:
        """The same for quantities of a frame, which may be at another place on each robot, but on the same link."""
        return self._together(tuple(robot.parameters_in(frame, point, local) for robot in self.robots))

    def _together(self, each: tuple[Parameters, ...]) -> Parameters:
        from fastdyn.calls.fleet import FleetParameters

        tree = _common_tree([one.constants[1] for one in each])

        def common(real: DTypeLike) -> tuple[Any, ...]:
            constants = [one.of(np.dtype(real)) for one in each]
            P, _, *rest = constants[0]
            if rest:  # coupled: the largest singularity thresholds of all robots
                rest[0] = rest[0].copy(order="F")
                rest[0][coupling.SMALLEST] = np.max([G[coupling.SMALLEST] for _, _, G, _ in constants], axis=0)
                rest[0].flags.writeable = False
            return P, tree, *rest

        name, first = f"a fleet of {self.name}", each[0]
        return FleetParameters(
            name, common(np.float64), first.joints, lambda: common(np.float32), first.names, each=each
        )

    @cached_property
    def _massless(self) -> list[int]:
        return [k for k, robot in enumerate(self.robots) if not robot.moving_mass]

    def _check_mass(self) -> None:
        if self._massless:
            k = self._massless[0]
            raise ArgumentError(f"robot {k} of {self!r} has no centre of mass: none of its moving links has mass")

    @property
    def _effort(self) -> Array:
        """(R, n): of each robot."""
        return np.stack([limits_of(robot.description).effort for robot in self.robots])

    def _task_class(self) -> Any:
        from fastdyn.calls.fleet import FleetTask

        return FleetTask

    def _wrenches(self, wrenches: Wrenches) -> ArrayLike:
        """(..., R, n, 6) from a mapping of link names: the links' frames may differ between robots."""
        if not isinstance(wrenches, Mapping) or not wrenches:
            return super()._wrenches(wrenches)
        named = {f"wrenches[{name!r}]": value for name, value in wrenches.items()}
        cores = dict.fromkeys(named, (6,))
        arrays, _ = read(named, cores, "a wrench", dict.fromkeys(named, "component"))
        check_robots(arrays, cores, len(self))

        def of_robot(k: int, array: Array) -> Array:
            return array if array.ndim == 1 else array[..., k if array.shape[-2] > 1 else 0, :]

        each = [
            robot._wrenches({name: of_robot(k, array) for name, array in zip(wrenches, arrays.values(), strict=True)})
            for k, robot in enumerate(self.robots)
        ]
        return np.stack([np.asarray(array) for array in each], axis=-3)


def stack(robots: Iterable[Kinematics]) -> Fleet:
    """A fleet of robots of the same tree: the same joints of the same kinds, in the same order; numbers may differ.

    Geometry, inertia, motors, gravity and mount may all differ. Coupled robots must have the same coupling.

    >>> import fastdyn as fd
    >>> arm = fd.robots.puma560()
    >>> fd.stack(arm.with_payload(mass) for mass in (0.0, 1.0, 2.0)).gravity_forces([0.1] * 6).shape
    (3, 6)
    """
    return Fleet(robots)


def _check(robots: tuple[Kinematics, ...]) -> None:
    if not robots:
        raise RobotError("robots: expected at least one, found none")
    for k, robot in enumerate(robots):
        if not isinstance(robot, Kinematics) or isinstance(robot, Fleet):
            raise RobotError(f"robots[{k}]: expected a robot, found {robot!r}")
    first = robots[0]
    for k, robot in enumerate(robots[1:], 1):
        for what, one, other in (
            ("joints", first.kinds, robot.kinds),
            ("parents of its joints", _parents(first), _parents(robot)),
        ):
            if one != other:
                raise RobotError(f"robots[{k}], {robot.name!r}, {what}: expected {one} as of robots[0], found {other}")
        if first.coupling != robot.coupling:
            raise RobotError(f"robots[{k}], {robot.name!r}: expected the coupling of robots[0]")


def _parents(robot: Kinematics) -> list[int]:
    """For each joint the one that carries it, by index; -1 for the base."""
    return [robot.description.place(joint.parent)[0] for joint in robot.joints]


def _common_tree(trees: list[Any]) -> Any:
    """A tree that holds for all: a link is straight if it is so in all robots; other bits of KIND are set if one is."""
    found, kinds = trees[0].copy(), np.stack([tree[KIND] for tree in trees])
    straight = np.bitwise_and.reduce(kinds) & STRAIGHT
    found[KIND] = (np.bitwise_or.reduce(kinds) & ~STRAIGHT) | straight
    for i, parent in enumerate(found[PARENT]):
        if parent >= 0 and not straight[i]:
            found[KIND, parent] |= FORK
    if len(found[AXES]):
        found[AXES, 0] = np.bitwise_or.reduce([tree[AXES, 0] for tree in trees])
    same = [PARENT, INDEX, PATH, LENGTH]
    for k, tree in enumerate(trees):
        if not np.array_equal(tree[same], found[same]):  # the parents are known to be the same
            raise RobotError(f"robots[{k}]: expected the frame on the same link as of robots[0]")
    found.flags.writeable = False
    return found
