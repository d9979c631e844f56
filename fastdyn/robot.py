"""Robot and CoupledRobot, the methods a user calls on them, and the readers that return them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Self

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from fastdyn import formats, show
from fastdyn.calls import api
from fastdyn.errors import ArgumentError, NotFiniteError, SingularMassMatrixError
from fastdyn.kernels.rows import INDEX, SMALLEST
from fastdyn.mechanism import variations
from fastdyn.mechanism.coupling import Coupling
from fastdyn.mechanism.description import Description, HasDescription
from fastdyn.mechanism.model import Model, build
from fastdyn.mechanism.parts import EPS, Array, Joint, Link, Motor

if TYPE_CHECKING:
    from fastdyn.calls.bound import Bound, CFunction

Wrenches = ArrayLike | Mapping[str, ArrayLike]


class _Facade(HasDescription):
    """What Robot and CoupledRobot share: an immutable object with a description, and its variations."""

    def _hold(self, description: Description) -> None:
        self.description = description
        self._frozen = True

    def _again(self, description: Description) -> Self:
        """The same kind of robot of another description; already warned at construction."""
        made = object.__new__(type(self))
        made._hold(description)
        return made

    def __setattr__(self, name: str, value: object) -> None:
        if getattr(self, "_frozen", False):
            kind = type(self).__name__
            raise AttributeError(f"a {kind} cannot be changed: make a new one instead of setting {name!r}")
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a {type(self).__name__} cannot be changed: {name!r} stays")

    def __getstate__(self) -> Description:
        """The description alone: a copy, here or in another process, makes its own model, calls and memory."""
        return self.description

    def __setstate__(self, description: Description) -> None:
        self._hold(description)

    def with_gravity(self, gravity: ArrayLike) -> Self:
        """The same robot under another gravity vector, m/s^2 in the world.

        >>> import fastdyn as fd
        >>> fd.robots.puma560().with_gravity((0, 0, 0)).gravity_forces([0.3] * 6).tolist()
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
        """
        return self._again(variations.with_gravity(self.description, gravity))

    def with_mount(self, mount: ArrayLike) -> Self:
        """The same robot on a base that stands at another 4x4 pose in the world."""
        return self._again(variations.with_mount(self.description, mount))

    def without_friction(self) -> Self:
        """The same robot with frictionless motors; rotors stay."""
        return self._again(variations.without_friction(self.description))

    def without_motors(self) -> Self:
        """The same robot without rotors and friction: links only, as the classic formulations describe it.

        >>> import fastdyn as fd
        >>> fd.robots.stanford().without_motors().joints[0].motor
        Motor(inertia=0.0, gear=1.0, viscous=0.0, coulomb=(0.0, 0.0))
        """
        return self._again(variations.without_motors(self.description))

    def coupled(
        self,
        G: ArrayLike,
        offset: ArrayLike | None = None,
        names: Sequence[str] | None = None,
        motors: Sequence[Motor | None] | None = None,
    ) -> CoupledRobot:
        """The same robot in coordinates phi with q = G phi + offset, the coordinates of its motors for example.

        G: (n, m) for the robot's n coordinates, m <= n, of full column rank; offset: (n,), zero if not given; names: of
        the m new coordinates, phi1, phi2, ... if not given; motors: m motors (or None) that turn with them. Of a
        CoupledRobot, the new coordinates move the old ones, which must have no motors.

        >>> import fastdyn as fd
        >>> arm = fd.robots.two_link(g=10.0).coupled([[1, 0], [-1, 1]], names=("shoulder", "upper arm"))
        >>> arm.gravity_forces([0.0, 0.0]).round(12)  # the second motor, on the base, carries the outer link by itself
        array([15.,  5.])
        >>> fd.robots.two_link().coupled([[1], [2]]).coupled([[3]]).G.tolist()
        [[3.0], [6.0]]
        """
        return CoupledRobot(self, G, offset, names, motors)


class Robot(_Facade):
    """A tree of rigid links on a fixed base.

    links and joints may come in any order; joint coordinates are in the order of the moving joints given. gravity: the
    vector g in the world, m/s^2; mount: the base link's pose in the world. Physically impossible links raise a
    RobotWarning, an error under strict=True, and under strict=None are only what `doubts()` returns.

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
        description = Description(links, joints, name, gravity, mount)
        self._hold(description if strict is None else description.checked(strict))

    def _hold(self, description: Description) -> None:
        self._tasks = _Tasks(self)
        super()._hold(description)

    def __repr__(self) -> str:
        return f"<Robot {self.description.summary}>"

    def __str__(self) -> str:
        return show.table(self)

    @cached_property
    def model(self) -> Model:
        """The flat arrays that kernels read."""
        return build(self.description.nodes, self.gravity, self.mount)

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
        return self._tasks[api.POTENTIAL_ENERGY, dtype]((q,), None, threads) + self.model.base_potential

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

    def with_payload(
        self, mass: float, com: ArrayLike = (0, 0, 0), inertia: ArrayLike | None = None, link: str | None = None
    ) -> Robot:
        """The same robot, carrying a body: it becomes part of the robot's tip, or of the link that is named.

        com: the payload's centre of mass in that link's frame, m; inertia: about it, along the frame's axes (a point
        mass if not given). Links, joints and their names stay as they are. A robot with several tips needs `link`.

        >>> import fastdyn as fd
        >>> arm = fd.robots.two_link(m1=1.0, m2=1.0, length=1.0, g=10.0)
        >>> arm.with_payload(2.0).gravity_forces([0.0, 0.0]).round(12)
        array([60., 25.])
        """
        return self._again(variations.with_payload(self.description, mass, com, inertia, link))

    def with_tool(
        self,
        mass: float = 0.0,
        com: ArrayLike = (0, 0, 0),
        inertia: ArrayLike | None = None,
        pose: ArrayLike | None = None,
        name: str = "tool",
        link: str | None = None,
    ) -> Robot:
        """The same robot with a link fixed to its tip, or to the link that is named: a body with a frame and a name.

        pose: of the tool's frame in the carrying link's frame, 4x4 (the same frame if not given); com and inertia
        (about the centre of mass): in the tool's frame. The fixed joint is called `<name>_joint`.

        >>> import fastdyn as fd
        >>> arm = fd.robots.puma560().with_tool(0.5, (0, 0, 0.05), name="gripper")
        >>> arm.n, arm.all_links[-1].name, arm.all_joints[-1].parent
        (6, 'gripper', 'link6')
        """
        return self._again(variations.with_tool(self.description, mass, com, inertia, pose, name, link))

    def locked(self, values: Mapping[str, float]) -> Robot:
        """The robot with the named joints held at the given coordinates, rad or m: they become fixed joints.

        The others keep their order in q. A locked joint has no limits and no motor: its rotor stands still on its link.
        A value outside the joint's limits is an error.

        >>> import fastdyn as fd
        >>> arm = fd.robots.puma560().locked({"joint2": 0.3, "joint5": -1.0})
        >>> arm.n, [joint.name for joint in arm.joints]
        (4, ['joint1', 'joint3', 'joint4', 'joint6'])
        """
        return self._again(variations.locked(self.description, values))

    def plot(self, q: ArrayLike | None = None, ax: Any = None) -> Any:
        """A drawing of the robot on a 3-D matplotlib Axes: see fastdyn.show.plot."""
        return show.plot(self, q, ax)

    # ------------------------------------------------------------------------------------------ files

    def to_urdf(self) -> str:
        """The robot as URDF: `fd.from_urdf` reads the same robot from it.

        >>> import fastdyn as fd
        >>> fd.from_urdf(fd.robots.two_link().to_urdf())
        <Robot 'two_link': 2 joints RR, 2 kg moving>
        """
        return formats.to_urdf(self)

    def to_toml(self) -> str:
        """The robot in fastdyn's own format: `fd.from_toml` reads the same robot from it, to the last bit.

        >>> import fastdyn as fd
        >>> fd.from_toml(fd.robots.two_link().to_toml())
        <Robot 'two_link': 2 joints RR, 2 kg moving>
        """
        return formats.to_toml(self)

    # ------------------------------------------------------------------------------------------ arguments

    def _wrenches(self, wrenches: Wrenches) -> ArrayLike:
        """(..., n, 6) from a mapping of link names; those of fixed links are handed to the links that carry them."""
        if not isinstance(wrenches, Mapping):
            return wrenches
        carrier, place = self.carriers, {joint.child: i for i, joint in enumerate(self.joints)}
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


class CoupledRobot(_Facade):
    """A robot seen from its actuators: as a Robot, but q, qd, qdd and tau stand for phi and what acts along it.

    Made by robot.coupled(G, offset, names, motors). n is the number of coordinates; joints and links are the physical
    ones, and so are `wrenches`. Motors of the physical joints are felt through G; a motor of a coordinate turns with it
    and adds gear^2 inertia to M_phi[k, k] and its friction to tau_phi[k]. By the principle of virtual work

        tau_phi = G^T tau,    M_phi = G^T M G,    C_phi = G^T C G

    without the latter motors. G is constant: no velocity term of its own appears, and dM_phi/dt - 2 C_phi is skew.
    """

    def __init__(
        self,
        robot: HasDescription,
        G: ArrayLike,
        offset: ArrayLike | None = None,
        names: Sequence[str] | None = None,
        motors: Sequence[Motor | None] | None = None,
    ) -> None:
        self._hold(variations.coupled(robot.description, G, offset, names, motors))

    @cached_property
    def robot(self) -> Robot:
        """The same robot in the coordinates of its joints."""
        return _plain(self.description.replace(coupling=None))

    @property
    def _coupling(self) -> Coupling:
        assert self.description.coupling is not None  # as made
        return self.description.coupling

    @property
    def G(self) -> Array:
        """(number of joints, n): dq/dphi."""
        return self._coupling.G

    @property
    def offset(self) -> Array:
        """(number of joints,): the joint positions at phi = 0."""
        return self._coupling.offset

    @property
    def names(self) -> tuple[str, ...]:
        """The coordinates' names."""
        return self._coupling.names

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return self._coupling.m

    def __repr__(self) -> str:
        return f"<CoupledRobot {self.name!r}: {self.n} coordinates move {len(self.joints)} joints>"

    # ------------------------------------------------------------------------------------------ dynamics

    def inverse_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        wrenches: Wrenches | None = None,
        out: Array | None = None,
        threads: int = 1,
    ) -> Array:
        """What the actuators have to give along their coordinates, (..., m). Arguments: as for Robot, in phi.

        >>> import fastdyn as fd
        >>> geared = fd.robots.two_link(g=10.0).coupled([[1], [2]])
        >>> geared.inverse_dynamics([0.0], [0.0], [0.0]).round(12)
        array([30.])
        """
        given, _ = self._read(q=q, qd=qd, qdd=qdd)
        Q, Qd, Qdd = self._joints(given)
        tau = self.robot.inverse_dynamics(Q, Qd, Qdd, wrenches, threads=threads) @ self.G
        return self._deliver(tau + self._armature * given["qdd"] + self._friction(given["qd"]), out)

    def forward_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        wrenches: Wrenches | None = None,
        method: Literal["aba", "crba"] = "aba",
        out: Array | None = None,
        threads: int = 1,
    ) -> Array:
        """The accelerations of phi, (..., m).

        Where there are fewer coordinates than joints, or rotors turn with them, both methods solve with M_phi. A
        coordinate that moves no inertia is a SingularMassMatrixError.

        >>> import fastdyn as fd
        >>> geared = fd.robots.two_link().coupled([[1], [2]])
        >>> tau = geared.inverse_dynamics([0.1], [0.2], [0.3])
        >>> geared.forward_dynamics([0.1], [0.2], tau).round(12)
        array([0.3])
        """
        if method not in api.FORWARD_DYNAMICS:
            raise ArgumentError(f"method is {method!r}: expected one of {', '.join(map(repr, api.FORWARD_DYNAMICS))}")
        given, lead = self._read(q=q, qd=qd, tau=tau)
        Q, Qd = given["q"] @ self.G.T + self.offset, given["qd"] @ self.G.T
        tau_left = given["tau"] - self._friction(given["qd"])
        if self.n == self.robot.n and not self._armature.any():  # the joints' own O(n) solution, seen from phi
            back = self._inverse
            Qdd = self.robot.forward_dynamics(Q, Qd, tau_left @ back, wrenches, method, threads=threads)
            return self._deliver(Qdd @ back.T, out)
        still = np.zeros((*lead, self.robot.n))
        rest = tau_left - self.robot.inverse_dynamics(Q, Qd, still, wrenches, threads=threads) @ self.G
        return self._deliver(self._solve(self.mass_matrix(q, threads=threads), rest), out)

    def mass_matrix(self, q: ArrayLike, out: Array | None = None, threads: int = 1) -> Array:
        """G^T M G, (..., m, m), and the rotors that turn with the coordinates on its diagonal.

        >>> import fastdyn as fd
        >>> fd.robots.two_link().coupled([[1, 0], [-1, 1]]).mass_matrix([0.0, 0.0]).round(6)
        array([[1.333333, 0.5     ],
               [0.5     , 0.333333]])
        """
        M = self.G.T @ self.robot.mass_matrix(self.joint_positions(q), threads=threads) @ self.G
        return self._deliver(0.5 * (M + M.swapaxes(-1, -2)) + np.diag(self._armature), out)

    def coriolis_matrix(self, q: ArrayLike, qd: ArrayLike, out: Array | None = None, threads: int = 1) -> Array:
        """G^T C G, (..., m, m): the Christoffel symbols of M_phi.

        >>> import fastdyn as fd
        >>> arm = fd.robots.two_link().coupled([[1, 0], [-1, 1]])
        >>> (arm.coriolis_matrix([0.0, np.pi / 2], [1.0, 2.0]) @ [1.0, 2.0]).round(12)
        array([-2. ,  0.5])
        """
        given, _ = self._read(q=q, qd=qd)
        Q, Qd = self._joints(given)
        return self._deliver(self.G.T @ self.robot.coriolis_matrix(Q, Qd, threads=threads) @ self.G, out)

    def bias_forces(self, q: ArrayLike, qd: ArrayLike, out: Array | None = None, threads: int = 1) -> Array:
        """Inverse dynamics at zero acceleration, (..., m): velocity forces, gravity and friction.

        >>> import fastdyn as fd
        >>> fd.robots.two_link(g=0.0).coupled([[1, 0], [-1, 1]]).bias_forces([0.0, np.pi / 2], [1.0, 2.0]).round(12)
        array([-2. ,  0.5])
        """
        given, _ = self._read(q=q, qd=qd)
        Q, Qd = self._joints(given)
        bias = self.robot.bias_forces(Q, Qd, threads=threads) @ self.G
        return self._deliver(bias + self._friction(given["qd"]), out)

    def gravity_forces(self, q: ArrayLike, out: Array | None = None, threads: int = 1) -> Array:
        """What holds the robot still against gravity, (..., m).

        >>> import fastdyn as fd
        >>> fd.robots.two_link(g=10.0).coupled([[1], [2]]).gravity_forces([0.0]).round(12)
        array([30.])
        """
        return self._deliver(self.robot.gravity_forces(self.joint_positions(q), threads=threads) @ self.G, out)

    def kinetic_energy(self, q: ArrayLike, qd: ArrayLike, threads: int = 1) -> Array:
        """Kinetic energy, rotors included, (...), J.

        >>> import fastdyn as fd
        >>> float(fd.robots.two_link().coupled([[1], [0]]).kinetic_energy([0.0], [1.0]).round(6))
        1.333333
        """
        given, _ = self._read(q=q, qd=qd)
        Q, Qd = self._joints(given)
        energy: Array = self.robot.kinetic_energy(Q, Qd, threads) + 0.5 * (given["qd"] ** 2 @ self._armature)
        return energy

    def potential_energy(self, q: ArrayLike, threads: int = 1) -> Array:
        """Potential energy in the gravity field, zero at the world's origin, (...), J.

        >>> import fastdyn as fd
        >>> float(fd.robots.two_link(g=10.0).coupled([[1], [0]]).potential_energy([np.pi / 2]).round(6))
        20.0
        """
        return self.robot.potential_energy(self.joint_positions(q), threads)

    def joint_reactions(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        wrenches: Wrenches | None = None,
        out: Array | None = None,
        threads: int = 1,
    ) -> Array:
        """What each physical bearing carries, (..., number of joints, 6), were each joint driven at its own axis.

        How the rods or gears of the coupling lead forces past the bearings is not known from G.

        >>> import fastdyn as fd
        >>> fd.robots.two_link(g=10.0).coupled([[1], [2]]).joint_reactions([0], [0], [0])[0].round(12)
        array([ 0., 20.,  0.,  0.,  0., 20.])
        """
        given, _ = self._read(q=q, qd=qd, qdd=qdd)
        Q, Qd, Qdd = self._joints(given)
        return self.robot.joint_reactions(Q, Qd, Qdd, wrenches, out, threads)

    def joint_positions(self, q: ArrayLike) -> Array:
        """Where the physical joints stand, (..., number of joints): G phi + offset.

        >>> import fastdyn as fd
        >>> fd.robots.two_link().coupled([[1], [2]], offset=[0, 0.5]).joint_positions([1.0])
        array([1. , 2.5])
        """
        given, _ = self._read(q=q)
        return self._joints(given)[0]

    # ------------------------------------------------------------------------------------------ between phi and q

    def _read(self, **values: ArrayLike) -> tuple[dict[str, Array], tuple[int, ...]]:
        """Arguments in phi, and their batch axes; checked here, so that errors count coordinates, not joints."""
        given, lead = api.read(values, dict.fromkeys(values, (self.n,)), self.name, of="coordinate")
        api.check_finite(given)  # before G mixes them
        return given, lead

    def _joints(self, given: Mapping[str, Array]) -> list[Array]:
        """q, qd or qdd of the physical joints, in the order given."""
        return [a @ self.G.T + self.offset if name == "q" else a @ self.G.T for name, a in given.items()]

    @cached_property
    def _armature(self) -> Array:
        return np.array([motor.armature for motor in self._coupling.motors])

    def _friction(self, qd: Array) -> Array:
        """Friction of the motors that turn with the coordinates."""
        motors = self._coupling.motors
        viscous = np.array([motor.joint_viscous for motor in motors])
        plus, minus = np.array([motor.joint_coulomb for motor in motors]).T
        found: Array = viscous * qd + plus * (qd > 0) - minus * (qd < 0)
        return found

    def _deliver(self, result: Array, out: Array | None) -> Array:
        if not np.isfinite(result).all():
            raise NotFiniteError(f"the result of {self.name} is beyond the range of float64")
        return api.deliver(result, out)

    @cached_property
    def _inverse(self) -> Array:
        return np.asarray(np.linalg.inv(self.G), dtype=np.float64)

    @cached_property
    def _smallest(self) -> Array:
        """Singularity threshold of each coordinate's inertia, from the joints': |M_ij| <= sqrt(M_ii M_jj)."""
        model = self.robot.model
        noise = np.empty(self.robot.n)
        noise[model.T[INDEX]] = model.P[SMALLEST]
        felt: Array = (np.abs(self.G).T @ np.sqrt(noise)) ** 2 + 4 * self.robot.n * EPS * self._armature
        return felt

    def _solve(self, M: Array, b: Array) -> Array:
        """x with M x = b, by elimination over all samples at once: M is positive definite, rows need no exchange."""
        m, lead = self.n, b.shape[:-1]
        M, x = np.array(np.broadcast_to(M, (*lead, m, m))), b.copy()
        for k in range(m):
            none = ~(M[..., k, k] > self._smallest[k])
            if none.any():
                self._explain(k, none)
            factor = M[..., k + 1 :, k] / M[..., k, k, None]
            M[..., k + 1 :, k:] -= factor[..., None] * M[..., k, None, k:]
            x[..., k + 1 :] -= factor * x[..., k, None]
        for k in reversed(range(m)):
            x[..., k] = (x[..., k] - (M[..., k, k + 1 :] * x[..., k + 1 :]).sum(axis=-1)) / M[..., k, k]
        return x

    def _explain(self, k: int, none: NDArray[np.bool_]) -> NoReturn:
        sample = f" at sample {', '.join(map(str, np.argwhere(none)[0].tolist()))}" if none.ndim else ""
        raise SingularMassMatrixError(
            f"{self.name} has a singular mass matrix{sample}: coordinate {self.names[k]!r} moves no inertia "
            "that those before it do not; give the links it moves mass, or their motors inertia"
        )


# ---------------------------------------------------------------------------------------------- from descriptions


def _plain(description: Description) -> Robot:
    robot = object.__new__(Robot)
    robot._hold(description)
    return robot


def robot_of(description: Description) -> Robot | CoupledRobot:
    """The robot of a description: a CoupledRobot if there is a coupling. Does not warn of impossible links.

    >>> robot_of(Description([Link("base")], [], name="post")).n
    0
    """
    if description.coupling is None:
        return _plain(description)
    robot = object.__new__(CoupledRobot)
    robot._hold(description)
    return robot


load = formats.returning(robot_of, formats.load)
from_urdf = formats.returning(robot_of, formats.from_urdf)
load_urdf = formats.returning(robot_of, formats.load_urdf)
from_screws = formats.returning(robot_of, formats.from_screws)
from_toml = formats.returning(_plain, formats.from_toml)
load_toml = formats.returning(_plain, formats.load_toml)
from_dh = formats.returning(_plain, formats.from_dh)
from_mujoco = formats.returning(_plain, formats.from_mujoco)
from_pinocchio = formats.returning(_plain, formats.from_pinocchio)
