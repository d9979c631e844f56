"""Robot: an immutable, checked description of a tree of rigid links, and the methods a user calls."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from fastdyn import show
from fastdyn.calls import api
from fastdyn.errors import ArgumentError, RobotError, RobotWarning
from fastdyn.mechanism import variations
from fastdyn.mechanism.model import Model, Node, build
from fastdyn.mechanism.parts import Array, Joint, Link, frozen, pose

if TYPE_CHECKING:
    from fastdyn.calls.bound import Bound, CFunction
    from fastdyn.mechanism.coupling import CoupledRobot

STANDARD_GRAVITY = (0.0, 0.0, -9.80665)  # m/s^2
Wrenches = ArrayLike | Mapping[str, ArrayLike]


class Robot:
    """A tree of rigid links on a fixed base.

    links and joints may come in any order; joint coordinates are in the order of the moving joints given. gravity: the
    vector g in the world, m/s^2; mount: the base link's pose in the world. Bodies that no real ones can be are a
    RobotWarning, an error under strict=True, and under strict=None only what `doubts()` returns.

    >>> arm = Robot([Link("base"), Link("bob", mass=2.0, com=(0, 0, -0.5))],
    ...             [Joint("hinge", "base", "bob", axis=(0, 1, 0))], name="pendulum", gravity=(0, 0, -10))
    >>> arm.inverse_dynamics([np.pi / 2], [0.0], [0.0]).round(12)
    array([10.])
    """

    def __init__(
        self,
        links: Iterable[Link],
        joints: Iterable[Joint],
        name: str | None = None,
        gravity: ArrayLike | None = None,
        mount: ArrayLike | None = None,
        strict: bool | None = False,
    ) -> None:
        self.name: str = "robot" if name is None else str(name)
        self.gravity: Array = frozen(STANDARD_GRAVITY if gravity is None else gravity, (3,), "gravity")
        self.mount: Array = pose(np.eye(4) if mount is None else mount, "mount")
        self.all_links: tuple[Link, ...] = tuple(links)
        self.all_joints: tuple[Joint, ...] = tuple(joints)
        self._check_tree()
        self.joints: tuple[Joint, ...] = tuple(j for j in self.all_joints if j.kind != "fixed")
        by_name = {link.name: link for link in self.all_links}
        self.links: tuple[Link, ...] = tuple(by_name[j.child] for j in self.joints)
        self.base: Link = by_name[self._root]
        if strict is not None:
            self._complain(strict)
        self._tasks = _Tasks(self)
        self._frozen = True

    def __setattr__(self, name: str, value: object) -> None:
        if getattr(self, "_frozen", False):
            raise AttributeError(f"a Robot cannot be changed: make a new one instead of setting {name!r}")
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a Robot cannot be changed: {name!r} stays")

    def __getstate__(self) -> dict[str, object]:
        """A copy, here or in another process, has the description; it finds model, calls and memory of its own."""
        return {**{name: value for name, value in self.__dict__.items() if name != "model"}, "_tasks": _Tasks(self)}

    # ------------------------------------------------------------------------------------------ what it is

    @property
    def n(self) -> int:
        """Number of moving joints."""
        return len(self.joints)

    @property
    def moving_mass(self) -> float:
        """Mass of all links that some joint moves, kg."""
        carrier = self._carriers()
        return sum(link.mass for link in self.all_links if carrier[link.name][0] != self.base.name)

    def __repr__(self) -> str:
        kinds = "".join("R" if j.kind == "revolute" else "P" for j in self.joints)
        return f"<Robot {self.name!r}: {self.n} joint{'s' * (self.n != 1)} {kinds}, {self.moving_mass:.6g} kg moving>"

    def __str__(self) -> str:
        return show.table(self)

    @cached_property
    def model(self) -> Model:
        """The flat arrays that kernels read."""
        carrier = self._carriers()
        index = {joint.child: i for i, joint in enumerate(self.joints)}
        moments = {i: np.zeros((4, 4)) for i in range(-1, self.n)}
        for link in self.all_links:
            moving, where = carrier[link.name]
            moments[index.get(moving, -1)] += link.moments(where)
        nodes = []
        for i, joint in enumerate(self.joints):
            moving, where = carrier[joint.parent]
            nodes.append(Node(joint, i, index.get(moving, -1), where @ np.asarray(joint.origin), moments[i]))
        return build(nodes, self.gravity, self.mount)

    def doubts(self, massless: bool = False) -> dict[str, str]:
        """For each link that no real body can be, why: {} for a robot that could be built. The base never counts.

        massless: whether a link that moves without mass counts. It makes no difference between two joints, where it is
        a way to describe one joint of several axes; at the end of a chain it makes the mass matrix singular.

        >>> arm = Robot([Link("base"), Link("rod")], [Joint("hinge", "base", "rod")])
        >>> arm.doubts(), arm.doubts(massless=True)
        ({}, {'rod': 'moves, but neither it nor what is fixed to it has mass'})
        """
        found = {link.name: doubt for link in self.all_links if link is not self.base and (doubt := link.doubts())}
        if massless:
            with np.errstate(over="ignore", invalid="ignore"):  # poses do not matter here
                carrier = self._carriers()
            heavy = {carrier[link.name][0] for link in self.all_links if link.mass}
            for link in self.links:
                if link.name not in heavy:
                    found.setdefault(link.name, "moves, but neither it nor what is fixed to it has mass")
        return found

    # ------------------------------------------------------------------------------------------ dynamics

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
        """The joint torques that a motion takes: (..., n), N m for revolute, N for prismatic joints.

        q, qd, qdd: (..., n) in rad or m and seconds. Friction and rotors are included. wrenches: what the surroundings
        exert on the links, (..., n, 6) or a mapping from link names to (..., 6): force, then moment, N and N m, at the
        origin and along the axes of the link's frame. Batch axes broadcast. Results do not depend on `threads`.
        dtype=np.float32 computes in single precision, on twice as many lanes (notes/conventions.md has its error).

        >>> import fastdyn as fd
        >>> arm = fd.robots.two_link(m1=1.0, m2=1.0, length=1.0, g=10.0)
        >>> arm.inverse_dynamics([0, 0], [0, 0], [0, 0]).round(12)
        array([20.,  5.])
        """
        values = (q, qd, qdd) if wrenches is None else (q, qd, qdd, self._wrenches(wrenches))
        return self._tasks[api.INVERSE_DYNAMICS, dtype](values, out, threads)

    def forward_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        wrenches: Wrenches | None = None,
        method: Literal["aba", "crba"] = "aba",
        out: Array | None = None,
        threads: int = 1,
        dtype: DTypeLike | None = None,
    ) -> Array:
        """The accelerations that torques cause: (..., n), rad/s^2 or m/s^2.

        method: "aba", articulated bodies, O(n); "crba", mass matrix and its factors. Both give the same numbers up to
        rounding. A joint that moves no inertia is a SingularMassMatrixError.

        >>> import fastdyn as fd
        >>> arm = fd.robots.puma560()
        >>> tau = arm.inverse_dynamics([0.1] * 6, [0.2] * 6, [0.3] * 6)
        >>> arm.forward_dynamics([0.1] * 6, [0.2] * 6, tau).round(10)
        array([0.3, 0.3, 0.3, 0.3, 0.3, 0.3])
        """
        if method not in api.FORWARD_DYNAMICS:
            raise ArgumentError(f"method is {method!r}: expected one of {', '.join(map(repr, api.FORWARD_DYNAMICS))}")
        values = (q, qd, tau) if wrenches is None else (q, qd, tau, self._wrenches(wrenches))
        return self._tasks[api.FORWARD_DYNAMICS[method], dtype](values, out, threads)

    def mass_matrix(
        self, q: ArrayLike, out: Array | None = None, threads: int = 1, dtype: DTypeLike | None = None
    ) -> Array:
        """M(q), (..., n, n): kg m^2, kg m or kg. Rotors stand on its diagonal.

        >>> import fastdyn as fd
        >>> fd.robots.two_link(m1=1.0, m2=1.0, length=1.0).mass_matrix([0.0, 0.0]).round(6)
        array([[2.666667, 0.833333],
               [0.833333, 0.333333]])
        """
        return self._tasks[api.MASS_MATRIX, dtype]((q,), out, threads)

    def coriolis_matrix(
        self, q: ArrayLike, qd: ArrayLike, out: Array | None = None, threads: int = 1, dtype: DTypeLike | None = None
    ) -> Array:
        """C(q, qd) from Christoffel symbols, (..., n, n): C qd are the velocity forces, and dM/dt - 2 C is skew.

        >>> import fastdyn as fd
        >>> arm = fd.robots.two_link(m1=1.0, m2=1.0, length=1.0)
        >>> (arm.coriolis_matrix([0.0, np.pi / 2], [1.0, 2.0]) @ [1.0, 2.0]).round(12)
        array([-4. ,  0.5])
        """
        return self._tasks[api.CORIOLIS_MATRIX, dtype]((q, qd), out, threads)

    def bias_forces(
        self, q: ArrayLike, qd: ArrayLike, out: Array | None = None, threads: int = 1, dtype: DTypeLike | None = None
    ) -> Array:
        """Inverse dynamics at zero acceleration, (..., n): velocity forces, gravity and friction. tau = M qdd + bias.

        >>> import fastdyn as fd
        >>> fd.robots.two_link(m1=1.0, m2=1.0, length=1.0, g=0.0).bias_forces([0.0, np.pi / 2], [1.0, 2.0]).round(12)
        array([-4. ,  0.5])
        """
        return self._tasks[api.BIAS_FORCES, dtype]((q, qd), out, threads)

    def gravity_forces(
        self, q: ArrayLike, out: Array | None = None, threads: int = 1, dtype: DTypeLike | None = None
    ) -> Array:
        """The torques that hold the robot still against gravity, (..., n).

        >>> import fastdyn as fd
        >>> fd.robots.two_link(m1=1.0, m2=1.0, length=1.0, g=10.0).gravity_forces([0.0, 0.0]).round(12)
        array([20.,  5.])
        """
        return self._tasks[api.GRAVITY_FORCES, dtype]((q,), out, threads)

    def kinetic_energy(self, q: ArrayLike, qd: ArrayLike, threads: int = 1, dtype: DTypeLike | None = None) -> Array:
        """Kinetic energy, rotors included, (...), J.

        >>> import fastdyn as fd
        >>> float(fd.robots.two_link(m1=1.0, m2=1.0, length=1.0).kinetic_energy([0.0, 0.0], [1.0, 0.0]).round(6))
        1.333333
        """
        return self._tasks[api.KINETIC_ENERGY, dtype]((q, qd), None, threads)[()]

    def potential_energy(self, q: ArrayLike, threads: int = 1, dtype: DTypeLike | None = None) -> Array:
        """Potential energy of the moving links in the gravity field, zero at the world's origin, (...), J.

        >>> import fastdyn as fd
        >>> float(fd.robots.two_link(m1=1.0, m2=1.0, length=1.0, g=10.0).potential_energy([np.pi / 2, 0.0]).round(6))
        20.0
        """
        return self._tasks[api.POTENTIAL_ENERGY, dtype]((q,), None, threads)

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
        """What each bearing carries, (..., n, 6): force (N), then moment (N m) that the parent exerts on the link.

        At the joint's origin (which slides with the link where the joint is prismatic), along the axes of the link's
        frame. The component along the joint is what moves the link: the motor's torque less friction and rotor.

        >>> import fastdyn as fd
        >>> arm = fd.robots.two_link(m1=1.0, m2=1.0, length=1.0, g=10.0)
        >>> arm.joint_reactions([0, 0], [0, 0], [0, 0])[0].round(12)
        array([ 0., 20.,  0.,  0.,  0., 20.])
        """
        values = (q, qd, qdd) if wrenches is None else (q, qd, qdd, self._wrenches(wrenches))
        return self._tasks[api.JOINT_REACTIONS, dtype](values, out, threads)

    # ------------------------------------------------------------------------------------------ real time

    def bind(self) -> Bound:
        """The robot on fixed memory, for control loops: no allocation, no checks, a status instead of exceptions.

        >>> import fastdyn as fd
        >>> loop = fd.robots.two_link(m1=1.0, m2=1.0, length=1.0, g=10.0).bind()
        >>> loop.q[:] = loop.qd[:] = loop.qdd[:] = 0.0
        >>> loop.inverse_dynamics()
        0
        >>> loop.tau.round(12)
        array([20.,  5.])
        """
        from fastdyn.calls.bound import Bound

        return Bound(self)

    def c_function(self, name: str) -> CFunction:
        """A C function of this process that computes a quantity of this robot, without Python and without the GIL.

        name: inverse_dynamics, forward_dynamics, mass_matrix, bias_forces or gravity_forces.

        >>> import fastdyn as fd
        >>> fd.robots.puma560().c_function("gravity_forces").declaration
        'int64_t gravity_forces(const double *q, double *tau, void *workspace)'
        """
        from fastdyn.calls.bound import c_function

        return c_function(self, name)

    # ------------------------------------------------------------------------------------------ variations

    def with_gravity(self, gravity: ArrayLike) -> Robot:
        """The same robot under another gravity vector, m/s^2 in the world.

        >>> import fastdyn as fd
        >>> fd.robots.puma560().with_gravity((0, 0, 0)).gravity_forces([0.3] * 6).tolist()
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
        """
        return self._again(gravity=frozen(gravity, (3,), "gravity"))

    def with_mount(self, mount: ArrayLike) -> Robot:
        """The same robot on a base that stands at another 4x4 pose in the world."""
        return self._again(mount=pose(mount, "mount"))

    def without_friction(self) -> Robot:
        """The same robot with frictionless joints; rotors stay."""
        return self._again(joints=[replace(j, motor=j.motor.without_friction()) for j in self.all_joints])

    def coupled(
        self, G: ArrayLike, offset: ArrayLike | None = None, names: Sequence[str] | None = None
    ) -> CoupledRobot:
        """The same robot in actuator coordinates phi, with q = G phi + offset: see CoupledRobot.

        >>> import fastdyn as fd
        >>> fd.robots.two_link(g=10.0).coupled([[1.0], [-1.0]]).gravity_forces([0.0]).round(12)
        array([15.])
        """
        from fastdyn.mechanism.coupling import coupled

        return coupled(self, G, offset, names)

    def with_payload(
        self, mass: float, com: ArrayLike = (0, 0, 0), inertia: ArrayLike | None = None, link: str | None = None
    ) -> Robot:
        """The same robot, carrying a body on its tip or on the named link: see variations.with_payload.

        >>> import fastdyn as fd
        >>> loaded = fd.robots.puma560().with_payload(2.5, com=(0, 0, 0.1))
        >>> round(loaded.links[5].mass, 6)
        2.59
        """
        return variations.with_payload(self, mass, com, inertia, link)

    def with_tool(
        self,
        mass: float = 0.0,
        com: ArrayLike = (0, 0, 0),
        inertia: ArrayLike | None = None,
        pose: ArrayLike | None = None,
        name: str = "tool",
        link: str | None = None,
    ) -> Robot:
        """The same robot with a link fixed to its tip or to the named link: see fastdyn.mechanism.variations.with_tool.

        >>> import fastdyn as fd
        >>> fd.robots.puma560().with_tool(0.5, name="gripper").all_links[-1].name
        'gripper'
        """
        return variations.with_tool(self, mass, com, inertia, pose, name, link)

    def locked(self, values: Mapping[str, float]) -> Robot:
        """The robot with the named joints held at the given coordinates, rad or m: see variations.locked.

        >>> import fastdyn as fd
        >>> fd.robots.puma560().locked({"joint1": 0.0, "joint4": 0.5}).n
        4
        """
        return variations.locked(self, values)

    def plot(self, q: ArrayLike | None = None, ax: Any = None) -> Any:
        """A drawing of the robot on a 3-D matplotlib Axes: see fastdyn.show.plot."""
        return show.plot(self, q, ax)

    def _again(
        self,
        links: Iterable[Link] | None = None,
        joints: Iterable[Joint] | None = None,
        gravity: ArrayLike | None = None,
        mount: ArrayLike | None = None,
    ) -> Robot:
        return Robot(
            self.all_links if links is None else links,
            self.all_joints if joints is None else joints,
            name=self.name,
            gravity=self.gravity if gravity is None else gravity,
            mount=self.mount if mount is None else mount,
            strict=None,  # doubts were uttered once, when the robot was made
        )

    # ------------------------------------------------------------------------------------------ on the way out

    def to_urdf(self) -> str:
        """The robot as URDF: `fd.from_urdf` reads the same robot from it.

        >>> import fastdyn as fd
        >>> fd.from_urdf(fd.robots.two_link().to_urdf())
        <Robot 'two_link': 2 joints RR, 2 kg moving>
        """
        from fastdyn.formats.urdf_writer import to_urdf

        return to_urdf(self)

    def to_toml(self) -> str:
        """The robot in fastdyn's own format: `fd.from_toml` reads the same robot from it, to the last bit.

        >>> import fastdyn as fd
        >>> fd.from_toml(fd.robots.two_link().to_toml())
        <Robot 'two_link': 2 joints RR, 2 kg moving>
        """
        from fastdyn.formats.toml import to_toml

        return to_toml(self)

    # ------------------------------------------------------------------------------------------ on the way in

    def _wrenches(self, wrenches: Wrenches) -> ArrayLike:
        """(..., n, 6) from a mapping of link names; those of fixed links are handed to the links that carry them."""
        if not isinstance(wrenches, Mapping):
            return wrenches
        carrier, place = self._carriers(), {joint.child: i for i, joint in enumerate(self.joints)}
        if not wrenches:
            return np.zeros((self.n, 6))
        given = {}
        for name, wrench in wrenches.items():
            if name not in carrier:
                raise ArgumentError(f"wrenches names {name!r}, which is no link of {self.name}: {sorted(carrier)}")
            given[f"wrenches[{name!r}]"] = wrench
        arrays, lead = api.read(given, dict.fromkeys(given, (6,)), "a wrench", of="component")
        api.check_finite(arrays)
        total = np.zeros((*lead, self.n, 6))
        for name, array in zip(wrenches, arrays.values(), strict=True):
            moving, where = carrier[name]
            if moving not in place:
                continue  # on the base: no joint feels it
            force, moment = array[..., :3] @ where[:3, :3].T, array[..., 3:] @ where[:3, :3].T
            total[..., place[moving], :3] += force
            total[..., place[moving], 3:] += moment + np.cross(where[:3, 3], force)
        return total

    def _carriers(self) -> dict[str, tuple[str, Array]]:
        """For each link, the moving link (or the base) it is fixed to, and its pose there."""
        joint_of = {joint.child: joint for joint in self.all_joints}
        found: dict[str, tuple[str, Array]] = {}
        for link in self.all_links:
            way, name = [], link.name
            while name not in found and name in joint_of and joint_of[name].kind == "fixed":
                way.append(joint_of[name])
                name = joint_of[name].parent
            moving, where = found.setdefault(name, (name, np.eye(4)))
            for joint in reversed(way):
                where = where @ np.asarray(joint.origin) @ np.asarray(joint.tail)
                found[joint.child] = (moving, where)
        return found

    # ------------------------------------------------------------------------------------------ checks

    def _check_tree(self) -> None:
        for part, kind in ((self.all_links, Link), (self.all_joints, Joint)):
            for one in part:
                if not isinstance(one, kind):
                    raise RobotError(f"robot {self.name!r}: expected a {kind.__name__}, found {one!r}")
        if not self.all_links:
            raise RobotError(f"robot {self.name!r}: expected at least one link, found none")
        links = _unique([link.name for link in self.all_links], "link", self.name)
        _unique([joint.name for joint in self.all_joints], "joint", self.name)
        joint_of: dict[str, Joint] = {}
        for joint in self.all_joints:
            for end, link in (("parent", joint.parent), ("child", joint.child)):
                if link not in links:
                    raise RobotError(f"joint {joint.name!r}: its {end} link {link!r} does not exist")
            if joint.child in joint_of:
                other = joint_of[joint.child].name
                raise RobotError(f"link {joint.child!r} is the child of two joints, {other!r} and {joint.name!r}")
            joint_of[joint.child] = joint
        roots = [link.name for link in self.all_links if link.name not in joint_of]
        if len(roots) > 1:
            raise RobotError(f"robot {self.name!r}: expected one base link, found {len(roots)}: {', '.join(roots)}")
        safe: set[str] = set()  # links known to hang on the base
        for link in (other.name for other in self.all_links):
            seen, at = {link}, link
            while at in joint_of and at not in safe:
                at = joint_of[at].parent
                if at in seen:
                    raise RobotError(f"robot {self.name!r}: the joints above link {link!r} form a cycle through {at!r}")
                seen.add(at)
            safe |= seen
        self._root = roots[0]

    def _complain(self, strict: bool) -> None:
        doubts = [f"{name!r} {doubt}" for name, doubt in self.doubts().items()]
        if doubts:
            message = f"robot {self.name!r} has links that no real body can be: {'; '.join(doubts)}"
            if strict:
                raise RobotError(message)
            warnings.warn(message, RobotWarning, stacklevel=3)


class _Tasks(dict[tuple[api.Quantity, DTypeLike | None], api.Task]):
    """What a robot has been asked for, by quantity and precision: made when first asked."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot

    def __missing__(self, key: tuple[api.Quantity, DTypeLike | None]) -> api.Task:
        quantity, dtype = key
        names = tuple(joint.name for joint in self.robot.joints)
        task = api.Task(self.robot.name, names, self.robot.model, quantity, api.precision(dtype))
        self[key] = task
        return task


def _unique(names: list[str], what: str, robot: str) -> set[str]:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise RobotError(f"robot {robot!r}: two of its {what}s have the name {name!r}")
        seen.add(name)
    return seen
