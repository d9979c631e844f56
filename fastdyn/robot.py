"""Robot and CoupledRobot: descriptions with the methods a user calls; and the readers that return them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastdyn import formats
from fastdyn.calls.arguments import check_finite, read
from fastdyn.calls.parameters import Parameters
from fastdyn.compiler.announce import announced
from fastdyn.errors import ArgumentError, ArgumentTypeError
from fastdyn.fleet import Fleet
from fastdyn.ik.methods import InverseKinematics
from fastdyn.kernels.rows import INDEX
from fastdyn.kinematics import FrameName, Point, has_name
from fastdyn.mechanism import variations
from fastdyn.mechanism.coupled_model import coupling_arrays, single_precision, with_thresholds
from fastdyn.mechanism.coupling import Coupling
from fastdyn.mechanism.description import Description, HasDescription
from fastdyn.mechanism.frames import named_frame
from fastdyn.mechanism.limits import RobotLimits, check_limits, limits_of
from fastdyn.mechanism.model import Model, build
from fastdyn.mechanism.parts import Array, Frame, Joint, Limits, Link, Motor
from fastdyn.mechanism.poses import tips
from fastdyn.pictures import Pictures
from fastdyn.programs import Programs
from fastdyn.quantities import QUANTITIES
from fastdyn.simulation.methods import Moving
from fastdyn.view.methods import Views

if TYPE_CHECKING:
    from fastdyn.calls.bound import Bound, CFunction


class _Facade(Pictures, Programs, Moving, Views, InverseKinematics):
    """What Robot and CoupledRobot share: an immutable object with a description, and its variations."""

    def _hold(self, description: Description) -> None:
        self.description = description
        self._frozen = True

    def _again(self, description: Description) -> Self:
        """The same kind of robot with another description; already warned at construction."""
        made = object.__new__(type(self))
        made._hold(description)
        return made

    def _varied(self, description: Description, model: Model) -> Self:
        """As `_again`, with a model that follows from this robot's, which costs less than building one."""
        made = self._again(description)
        made.__dict__["model"] = model
        return made

    def _loaded(self, description: Description, load: variations.Load) -> Self:
        model = self.model if load.joint < 0 else self.model.with_payload(*load)
        return self._varied(description, model)

    def _moved(self, description: Description) -> Self:
        return self._varied(description, self.model.with_gravity(description.gravity, description.mount))

    def __getstate__(self) -> tuple[Description, bool]:
        """No model, calls or memory: a copy, also in another process, builds its own."""
        return self.description, self.specialized

    def __setstate__(self, state: tuple[Description, bool]) -> None:
        description, specialized = state
        self.__dict__["specialized"] = specialized
        self._hold(description)

    def __eq__(self, other: object) -> bool:
        """Whether the other is a robot of the same kind with an equal description."""
        if not isinstance(other, _Facade) or type(self) is not type(other):
            return NotImplemented
        return self.description == other.description

    def __hash__(self) -> int:
        return hash(self.description)

    @cached_property
    def model(self) -> Model:
        """The flat arrays that kernels read."""
        return build(self.description.nodes, self.gravity, self.mount)

    @abstractmethod
    def _parameters_of(self, model: Model) -> Parameters: ...

    @cached_property
    def parameters(self) -> Parameters:
        """The flat arrays that compiled code reads, and names for messages."""
        return self._with_rows(self._parameters_of(self.model), frame=False)

    def parameters_in(self, frame: FrameName, point: Point, local: bool) -> Parameters:
        """The same for quantities of a frame."""
        if not self.description.n:
            return self.parameters  # without columns there is no place for a frame
        place = self.description.frame_place(named_frame(self.description, frame, point))
        named = point is None and has_name(frame)
        return self._with_rows(self._parameters_of(self.model.with_frame(*place, local)), named)

    def _with_rows(self, parameters: Parameters, frame: bool) -> Parameters:
        """Those of a specialised robot with its own rows; frame: whether the frame is one that code is made for."""
        if not self.specialized:
            return parameters
        from fastdyn.specialize.rows import Rows

        return replace(parameters, specialised=Rows(parameters, frame))

    specialized: bool = False

    def specialize(self) -> Self:
        """The same robot with its numbers folded into straight-line code of its own: usually 1.5 to 3 times as fast.

        Methods, bound calls and C functions are those of any robot, and results the same up to rounding. Each quantity
        is compiled on first use (`fd.warmup` does it ahead), in about a second for a usual arm, and kept on disk for
        later processes. General code computes what is not quicker so: robots of many joints, poses of points that are
        given by `point=`, inverse velocities, singular values and task-space dynamics. What changes the robot
        (`with_payload`, ...) gives a general one again: specialise last.

        >>> import fastdyn as fd
        >>> arm = fd.robots.two_link(m1=1.0, m2=1.0, length=1.0, g=10.0).specialize()
        >>> arm.gravity_forces([0.0, 0.0]).round(12)
        array([20.,  5.])
        """
        made = self._varied(self.description, self.model)
        made.__dict__["specialized"] = True
        return made

    @cached_property
    def limits(self) -> RobotLimits:
        """The limits of q, qd and tau as read-only arrays: position (n, 2), velocity (n,), effort (n,).

        Infinite where there is none. For a coupled robot, position and velocity keep every coordinate within its own
        limits and every joint that one coordinate alone drives within those of the joint; effort is the coordinate's
        own, or the sum of |G| times the effort limits of the joints it drives, if that is less.

        >>> import fastdyn as fd
        >>> limits = fd.robots.panda().limits
        >>> limits.position[3].tolist(), limits.velocity[3].tolist(), limits.effort[3].tolist()
        ([-3.0718, -0.0698], 2.175, 87.0)
        """
        return limits_of(self.description)

    def check_limits(
        self, q: ArrayLike | None = None, qd: ArrayLike | None = None, tau: ArrayLike | None = None
    ) -> None:
        """Raises a LimitError if any of the given (n,) or (..., n) values is outside the limits of its joint.

        The message names the joint, the sample, the value, the limits and the number of samples outside. Limits have a
        tolerance of 1e-9. For a coupled robot, q and qd are checked on all coordinates and all physical joints.

        >>> import fastdyn as fd
        >>> arm = fd.robots.panda()
        >>> arm.check_limits(qd=[[0.1] * 7, [2.5] * 7])
        Traceback (most recent call last):
        fastdyn.errors.LimitError: qd of joint 'panda_joint1' in sample 1 is 2.5 rad/s: expected -2.175 to 2.175 rad/s,
        its limits; 1 of 2 samples are outside
        """
        unit = "joint" if self.coupling is None else "coordinate"
        for name, value in {"q": q, "qd": qd, "tau": tau}.items():
            if value is not None:
                array, _ = read({name: value}, {name: (self.n,)}, self.name, {name: unit})
                check_finite(array)
                check_limits(self.description, name, array[name])

    def with_gravity(self, gravity: ArrayLike) -> Self:
        """The same robot under another gravity vector, m/s^2 in the world.

        >>> import fastdyn as fd
        >>> fd.robots.puma560().with_gravity((0, 0, 0)).gravity_forces([0.3] * 6).tolist()
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
        """
        return self._moved(variations.with_gravity(self.description, gravity))

    def with_mount(self, mount: ArrayLike) -> Self:
        """The same robot with its base at another pose in the world, 4x4 or (x, y, z)."""
        return self._moved(variations.with_mount(self.description, mount))

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

    def with_payload(
        self, mass: float, com: ArrayLike = (0, 0, 0), inertia: ArrayLike | None = None, link: str | None = None
    ) -> Self:
        """The same robot with a payload, which becomes part of its tip or of the named link.

        com: the payload's centre of mass in that link's frame, m; inertia: about it, along the frame's axes (a point
        mass if not given). Links, joints and their names stay as they are. A robot with several tips needs `link`.

        >>> import fastdyn as fd
        >>> arm = fd.robots.two_link(m1=1.0, m2=1.0, length=1.0, g=10.0)
        >>> arm.with_payload(2.0).gravity_forces([0.0, 0.0]).round(12)
        array([60., 25.])
        """
        return self._loaded(*variations.with_payload(self.description, mass, com, inertia, link))

    def with_tool(
        self,
        mass: float = 0.0,
        com: ArrayLike = (0, 0, 0),
        inertia: ArrayLike | None = None,
        pose: ArrayLike | None = None,
        name: str = "tool",
        link: str | None = None,
    ) -> Self:
        """The same robot with a link fixed to its tip, or to the named link: a body with its own frame and name.

        pose: of the tool's frame in the carrying link's frame, 4x4 or (x, y, z) (the same frame if not given; fd.pose
        makes one); com and inertia (about the centre of mass): in the tool's frame. The fixed joint is called
        `<name>_joint`.

        >>> import fastdyn as fd
        >>> arm = fd.robots.puma560().with_tool(0.5, (0, 0, 0.05), name="gripper")
        >>> arm.n, arm.all_links[-1].name, arm.all_joints[-1].parent
        (6, 'gripper', 'link6')
        """
        return self._loaded(*variations.with_tool(self.description, mass, com, inertia, pose, name, link))

    def with_frame(self, name: str, on: str | None = None, pose: ArrayLike | None = None) -> Self:
        """The same robot with a named frame: a tool centre point, a camera. Kinematics takes its name as `frame=`.

        on: the link or frame that it is fixed to (the robot's tip if not given); pose: of the frame there, 4x4 or
        (x, y, z) (the same frame if not given; fd.pose makes one).

        >>> import fastdyn as fd
        >>> arm = fd.robots.two_link(length=1.0).with_frame("tcp", on="link2", pose=(0.5, 0, 0))
        >>> arm.forward_kinematics([0.0, 0.0], "tcp")[:3, 3].tolist()
        [2.5, 0.0, 0.0]
        """
        frame = variations.new_frame(self.description, name, on, pose)
        return self._varied(self.description.with_frame(frame), self.model)

    def vary(
        self,
        mass: Mapping[str, ArrayLike] | None = None,
        com: Mapping[str, ArrayLike] | None = None,
        inertia: Mapping[str, ArrayLike] | None = None,
        payload: ArrayLike | None = None,
        payload_com: ArrayLike = (0, 0, 0),
        link: str | None = None,
    ) -> Fleet:
        """A fleet of robots like this one, with other masses, centres of mass, inertias or payloads.

        mass: {link: (R,)}, kg; com: {link: (R, 3)}, m; inertia: {link: (R, 3, 3)}, kg m^2, about the centre of mass;
        payload: (R,), kg, carried by the tip or the named link, with its centre of mass at payload_com, (3,) or (R, 3),
        in that link's frame. All have the same number of robots R; a single value holds for all. What is not given
        stays as it is.

        >>> import fastdyn as fd
        >>> arm = fd.robots.two_link(m1=1.0, m2=1.0, length=1.0, g=10.0)
        >>> arm.vary(payload=[0.0, 1.0, 2.0]).gravity_forces([0.0, 0.0]).round(12)[:, 0].tolist()
        [20.0, 40.0, 60.0]
        >>> arm.vary(mass={"link2": [1.0, 3.0]}).gravity_forces([0.0, 0.0]).round(12)[:, 1].tolist()
        [5.0, 15.0]
        """
        loads = {} if payload is None else {"mass": payload, "com": payload_com}
        changes = variations.several(self.description, loads, mass=mass, com=com, inertia=inertia)
        emptied = self
        if changed := {each.name for links, _ in changes for each in links}:
            emptied = self._again(variations.with_empty_links(self.description, changed))
        robots = []
        for links, load in changes:
            robot = emptied
            for each in links:
                robot = robot._loaded(*variations.with_body(robot.description, each))
            robots.append(robot.with_payload(**load, link=link) if load else robot)
        return Fleet(robots)

    def coupled(
        self,
        G: ArrayLike,
        offset: ArrayLike | None = None,
        names: Sequence[str] | None = None,
        motors: Sequence[Motor | None] | None = None,
        limits: Sequence[Limits | None] | None = None,
    ) -> CoupledRobot:
        """The same robot in coordinates phi with q = G phi + offset, the coordinates of its motors for example.

        G: (n, m) for the robot's n coordinates, m <= n, of full column rank; offset: (n,), zero if not given; names: of
        the m new coordinates, phi1, phi2, ... if not given; motors, limits: m of each (or None), of these coordinates;
        the joints' own hold besides. For a CoupledRobot, the new coordinates drive the old ones, which must have no
        motors and limits.

        >>> import fastdyn as fd
        >>> arm = fd.robots.two_link(g=10.0).coupled([[1, 0], [-1, 1]], names=("shoulder", "upper arm"))
        >>> arm.gravity_forces([0.0, 0.0]).round(12)  # the second motor, on the base, carries the outer link by itself
        array([15.,  5.])
        >>> fd.robots.two_link().coupled([[1], [2]]).coupled([[3]]).G.tolist()
        [[3.0], [6.0]]
        """
        return CoupledRobot(self, G, offset, names, motors, limits)

    def locked(self, values: Mapping[str, float]) -> Robot | CoupledRobot:
        """The robot with the named joints held at the given coordinates, rad or m: they become fixed joints.

        The others keep their order in q. A locked joint has no limits and no motor: its rotor stands still on its link.
        A value outside the joint's limits is an error. A coupled robot's coordinates are named, or joints that are the
        only ones their coordinate moves; a joint that other coordinates move, too, stays. Where nothing coupled is
        left, the result is a Robot.

        >>> import fastdyn as fd
        >>> arm = fd.robots.puma560().locked({"joint2": 0.3, "joint5": -1.0})
        >>> arm.n, [joint.name for joint in arm.joints]
        (4, ['joint1', 'joint3', 'joint4', 'joint6'])
        >>> fd.robots.two_link().coupled([[1, 0], [-1, 1]]).locked({"phi1": 0.5})
        <CoupledRobot 'two_link': 1 coordinate moves 1 joint>
        """
        return robot_of(variations.locked(self.description, values))

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

    # ------------------------------------------------------------------------------------------ real time

    def bind(self, *quantities: str, frame: FrameName = None, point: Point = None, local: bool = False) -> Bound:
        """The robot on fixed memory, for control loops: no allocation, no checks, a status instead of exceptions.

        quantities: the calls to prepare, all if none is named; only these are compiled. frame, point, local: those of
        the kinematic quantities; the tip's frame if not given. A robot with several tips needs `frame` for them.

        >>> import fastdyn as fd
        >>> loop = fd.robots.two_link(m1=1.0, m2=1.0, length=1.0, g=10.0).bind("inverse_dynamics")
        >>> loop.q[:] = loop.qd[:] = loop.qdd[:] = 0.0
        >>> loop.inverse_dynamics()
        0
        >>> loop.tau.round(12)
        array([20.,  5.])
        """
        from fastdyn.calls.bound import Bound, default_names

        view = frame, point, local
        if frame is None and len(tips(self.description)) != 1 and not any(_of_frame(name) for name in quantities):
            quantities = quantities or default_names(frames=False)
            parameters = self.parameters
        else:
            parameters = self.parameters_in(*view)
        with announced("bound calls"):
            return Bound(self, parameters, quantities, view)

    def c_function(self, name: str, frame: FrameName = None, point: Point = None, local: bool = False) -> CFunction:
        """A C function of this process that computes a quantity of this robot, without Python and without the GIL.

        name: the method's; a suffix such as `_with_wrenches` selects the function that takes the optional input. frame,
        point, local: of a kinematic quantity.

        >>> import fastdyn as fd
        >>> fd.robots.puma560().c_function("gravity_forces").declaration
        'int64_t gravity_forces(const double *q, double *tau, void *workspace)'
        """
        from fastdyn.calls.bound import c_function

        view = frame, point, local
        parameters = self.parameters_in(*view) if _of_frame(name) else self.parameters
        return c_function(self, parameters, name, view)


class Robot(_Facade):
    """A tree of rigid links on a fixed base.

    links and joints may be in any order; joint coordinates are in the order of the moving joints given. gravity: the
    vector g in the world, m/s^2; mount: the base link's pose in the world, 4x4 or (x, y, z). Physically impossible
    links raise a RobotWarning, an error under strict=True; under strict=None only `doubts()` reports them. frames:
    named frames fixed to links, besides the links' own.

    >>> import numpy as np
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
        frames: Iterable[Frame] = (),
    ) -> None:
        description = Description(links, joints, name, gravity, mount, added_frames=frames)
        self._hold(description if strict is None else description.checked(strict))

    if TYPE_CHECKING:  # a Robot with fewer joints is a Robot

        def locked(self, values: Mapping[str, float]) -> Robot: ...  # noqa: D102

    def __repr__(self) -> str:
        return f"<Robot {self.description.summary}{', specialised' * self.specialized}>"

    def _parameters_of(self, model: Model) -> Parameters:
        names = tuple(self.joints[i].name for i in model.tree[INDEX])
        return Parameters(self.name, (model.P, model.tree), model.n, lambda: (model.single, model.tree), names)


class CoupledRobot(_Facade):
    """A robot in actuator coordinates phi: like a Robot, but q, qd, qdd and tau are those of phi.

    Made by robot.coupled(G, offset, names, motors, limits). n is the number of coordinates; joints, links and
    `wrenches` are the physical ones. Motors of the physical joints act through G; a motor of coordinate k adds gear^2
    inertia to M_phi[k, k] and its friction to tau_phi[k]. By the principle of virtual work

        tau_phi = G^T tau,    M_phi = G^T M G,    C_phi = G^T C G

    without the coordinates' motors. G is constant: there is no extra velocity term, and dM_phi/dt - 2 C_phi is skew.
    """

    def __init__(
        self,
        robot: HasDescription,
        G: ArrayLike,
        offset: ArrayLike | None = None,
        names: Sequence[str] | None = None,
        motors: Sequence[Motor | None] | None = None,
        limits: Sequence[Limits | None] | None = None,
    ) -> None:
        if not isinstance(robot, HasDescription):
            raise ArgumentTypeError(f"robot: expected a Robot or CoupledRobot, found {type(robot).__name__}")
        self._hold(variations.coupled(robot.description, G, offset, names, motors, limits))

    @cached_property
    def robot(self) -> Robot:
        """The same robot in the coordinates of its joints."""
        return _plain(self.description.replace(coupling=None))

    @property
    def _coupling(self) -> Coupling:
        assert self.description.coupling is not None  # set in __init__
        return self.description.coupling

    @cached_property
    def _sparse(self) -> tuple[Array, NDArray[np.int64]]:
        """The coupling for compiled code, without what depends on the model."""
        return coupling_arrays(self._coupling)

    def _varied(self, description: Description, model: Model) -> Self:
        made = super()._varied(description, model)
        made.__dict__["_sparse"] = self._sparse
        return made

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
        n, joints = self.n, len(self.joints)
        moves = f"{n} coordinate moves" if n == 1 else f"{n} coordinates move"
        special = ", specialised" * self.specialized
        return f"<CoupledRobot {self.name!r}: {moves} {joints} joint{'s' * (joints != 1)}{special}>"

    def _parameters_of(self, model: Model) -> Parameters:
        G, pattern = self._sparse
        G = with_thresholds(G, pattern, model)

        def single() -> tuple[Any, ...]:
            return model.single, model.tree, single_precision(G), pattern

        return Parameters(self.name, (model.P, model.tree, G, pattern), model.n, single, self.names)

    def joint_positions(self, q: ArrayLike) -> Array:
        """Positions of the physical joints, (..., number of joints): G phi + offset.

        >>> import fastdyn as fd
        >>> fd.robots.two_link().coupled([[1], [2]], offset=[0, 0.5]).joint_positions([1.0])
        array([1. , 2.5])
        """
        given, _ = read({"q": q}, {"q": (self.n,)}, self.name, {"q": "coordinate"})
        check_finite(given)
        positions: Array = given["q"] @ self.G.T + self.offset
        return positions

    def coordinates(self, joints: ArrayLike) -> Array:
        """The coordinates (..., n) of given positions of the physical joints: the inverse of `joint_positions`.

        joints: (..., number of joints), rad or m. Positions that no coordinates give raise an ArgumentError, with a
        tolerance of 1e-9.

        >>> import fastdyn as fd
        >>> fd.robots.two_link().coupled([[1], [2]], offset=[0, 0.5]).coordinates([1.0, 2.5]).round(12)
        array([1.])
        """
        given, _ = read({"joints": joints}, {"joints": (len(self.joints),)}, self.name)
        check_finite(given)
        found: Array = (given["joints"] - self.offset) @ np.linalg.pinv(self.G).T
        nearest = self.joint_positions(found)
        apart = np.abs(nearest - given["joints"]) > 1e-9 * (1 + np.abs(given["joints"]))
        if apart.any():
            place = tuple(np.argwhere(apart)[0].tolist())
            raise ArgumentError(
                f"joints[{', '.join(map(str, place))}] is {given['joints'][place]}: expected positions that "
                f"coordinates can give; the nearest have joint {self.joints[place[-1]].name!r} at {nearest[place]:.6g}"
            )
        return found


def _of_frame(name: str) -> bool:
    """Whether a quantity of that name belongs to a frame."""
    return any(row.frame and str(name).startswith(row.name) for row in QUANTITIES.values())


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
from_toml = formats.returning(robot_of, formats.from_toml)
load_toml = formats.returning(robot_of, formats.load_toml)
from_dh = formats.returning(_plain, formats.from_dh)
from_mujoco = formats.returning(_plain, formats.from_mujoco)
from_pinocchio = formats.returning(robot_of, formats.from_pinocchio)
