"""The parts of a description: links, joints, motors, limits. Immutable, checked at construction."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from fastdyn import rotations
from fastdyn.arrays import Array as Array
from fastdyn.arrays import masked
from fastdyn.errors import RobotError
from fastdyn.geometry import go, homogeneous

JointKind = Literal["revolute", "prismatic", "helical", "fixed"]
MOVING: tuple[JointKind, ...] = ("revolute", "prismatic", "helical")
KINDS: tuple[JointKind, ...] = (*MOVING, "fixed")
EPS = float(np.finfo(float).eps)
IDENTITY = np.eye(4)  # the default pose
IDENTITY.flags.writeable = False


class Record:
    """Base class of immutable dataclasses with arrays: equal by value; copies have read-only arrays, too."""

    def _arguments(self) -> tuple[Any, ...]:
        """What the constructor takes to build the same again."""
        return tuple(getattr(self, each.name) for each in fields(self))  # type: ignore[arg-type]  # of a dataclass

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies, also in another process, are built anew: only the constructor makes arrays read-only."""
        return type(self), self._arguments()

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Record) or type(self) is not type(other):
            return NotImplemented
        return all(map(_same, self._arguments(), other._arguments()))

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(tuple(tuple(x.ravel().tolist()) if isinstance(x, np.ndarray) else x for x in self._arguments()))


def _same(one: Any, other: Any) -> bool:
    return np.array_equal(one, other) if isinstance(one, np.ndarray) else bool(one == other)


def frozen(values: ArrayLike, shape: tuple[int, ...], what: str) -> Array:
    """A read-only float64 copy of the given shape; errors name `what`."""
    if masked(values):
        raise RobotError(f"{what}: expected numbers of shape {shape}, found a masked array")
    try:
        found = np.asarray(values)
    except ValueError as problem:
        raise RobotError(f"{what}: expected numbers of shape {shape}, found {values!r}") from problem
    if found.dtype.kind not in "fiu":
        raise RobotError(f"{what}: expected real numbers of shape {shape}, found {values!r}")
    array = np.array(found, dtype=np.float64)
    if array.shape != shape:
        raise RobotError(f"{what}: expected shape {shape}, found shape {array.shape}")
    if not np.isfinite(array).all():
        raise RobotError(f"{what}: expected finite numbers, found {array.tolist()}")
    array.flags.writeable = False
    return array


def number(value: Any, what: str) -> float:
    """A finite float; errors name `what`."""
    try:
        found = float(value)
    except (TypeError, ValueError) as problem:
        raise RobotError(f"{what}: expected a number, found {value!r}") from problem
    except OverflowError as problem:
        raise RobotError(f"{what}: expected a number within the range of float64, found a larger one") from problem
    if not math.isfinite(found):
        raise RobotError(f"{what}: expected a finite number, found {found}")
    return found


def not_negative(value: Any, what: str) -> float:
    """A finite float that is not negative; errors name `what`."""
    found = number(value, what)
    if found < 0:
        raise RobotError(f"{what}: expected a number not below zero, found {found}")
    return found


def pose(xyz: ArrayLike, rpy: ArrayLike | None = None) -> Array:
    """The pose of a frame with its origin at xyz, m, as a 4x4 matrix.

    rpy: roll, pitch and yaw, rad, about the fixed x, y and z axes in this order, as in URDF; not turned if not given.
    `T1 @ T2` is the pose T2 given in the frame of T1.

    >>> pose((0, 0, 0.1), rpy=(0, 0, np.pi / 2))[:3].tolist()
    [[0.0, -1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.1]]
    """
    angles = np.zeros(3) if rpy is None else frozen(rpy, (3,), "rpy")
    return homogeneous(rotations.from_rpy(angles), frozen(xyz, (3,), "xyz"))


def checked_pose(given: ArrayLike, what: str) -> Array:
    """A read-only 4x4 homogeneous matrix from one, or from an origin (x, y, z), checked; errors name `what`."""
    if given is IDENTITY:
        return IDENTITY
    try:
        axes = np.ndim(given)
    except ValueError:
        axes = 2  # not rectangular: refused below
    if axes == 1:
        given = go(*frozen(given, (3,), what).tolist())
    T = frozen(given, (4, 4), what)
    if not rotations.is_rotation(T[:3, :3]):
        raise RobotError(f"{what}: expected a rotation in the upper left 3x3, found {T[:3, :3].tolist()}")
    if not np.array_equal(T[3], (0, 0, 0, 1)):
        raise RobotError(f"{what}: expected (0, 0, 0, 1) as last row, found {T[3].tolist()}")
    return T


@dataclass(frozen=True, eq=False)
class Frame(Record):
    """A named frame fixed to a link: a tool centre point, a camera, a calibration target.

    on: the link's name; pose: of the frame in the link's frame, 4x4 or (x, y, z).

    >>> Frame("tcp", "link6", (0, 0, 0.1)).pose[2, 3].item()
    0.1
    """

    name: str
    on: str
    pose: ArrayLike = field(default_factory=lambda: IDENTITY)

    def __post_init__(self) -> None:
        for what in ("name", "on"):
            if not isinstance(getattr(self, what), str) or not getattr(self, what):
                raise RobotError(f"frame {what}: expected a name, found {getattr(self, what)!r}")
        object.__setattr__(self, "pose", checked_pose(self.pose, f"frame {self.name!r}, pose"))


@dataclass(frozen=True)
class Motor:
    """A motor and its gear: rotor inertia and friction.

    inertia: rotor inertia, kg m^2 (kg at a prismatic joint); gear: motor turns per joint turn, of either sign; viscous:
    N m s/rad at the motor; coulomb: N m at the motor, one number or (plus, minus) for the two directions of the joint's
    motion. Friction opposes motion, so only the magnitude of `minus` is used: tables print it negative.

    >>> motor = Motor(inertia=200e-6, gear=-62.6111, viscous=1.48e-3, coulomb=(0.395, -0.435))
    >>> round(motor.armature, 6)
    0.78403
    """

    inertia: float = 0.0
    gear: float = 1.0
    viscous: float = 0.0
    coulomb: tuple[float, float] | float = (0.0, 0.0)

    def __post_init__(self) -> None:
        for name in ("inertia", "viscous"):
            object.__setattr__(self, name, not_negative(getattr(self, name), f"motor {name}"))
        object.__setattr__(self, "gear", number(self.gear, "motor gear"))
        if np.ndim(self.coulomb) == 0:
            size = not_negative(self.coulomb, "motor coulomb")
            both = (size, size)
        else:
            plus, minus = frozen(self.coulomb, (2,), "motor coulomb").tolist()
            both = (not_negative(plus, "motor coulomb, first number"), abs(minus))
        object.__setattr__(self, "coulomb", both)
        reflected = (self.armature, self.joint_viscous, *self.joint_coulomb)
        if not all(map(math.isfinite, reflected)):
            raise RobotError(
                f"motor gear: expected inertia and friction at the joint within the range of float64, "
                f"found {reflected} with gear {self.gear}"
            )

    @property
    def armature(self) -> float:
        """Rotor inertia reflected to the joint, on the mass matrix's diagonal: gear^2 inertia."""
        return self.gear * self.gear * self.inertia

    @property
    def joint_viscous(self) -> float:
        """Viscous friction reflected to the joint: gear^2 viscous."""
        return self.gear * self.gear * self.viscous

    @property
    def joint_coulomb(self) -> tuple[float, float]:
        """Magnitudes of Coulomb friction reflected to the joint, for the plus and the minus direction."""
        plus, minus = self.coulomb  # type: ignore[misc]  # a pair since __post_init__
        return abs(self.gear) * plus, abs(self.gear) * minus

    def without_friction(self) -> Motor:
        """The same rotor, without friction."""
        return Motor(inertia=self.inertia, gear=self.gear)


@dataclass(frozen=True)
class Limits:
    """Position, velocity and effort limits of a joint; infinite where unknown."""

    lower: float = -math.inf
    upper: float = math.inf
    velocity: float = math.inf
    effort: float = math.inf

    def __post_init__(self) -> None:
        for name in ("lower", "upper", "velocity", "effort"):
            try:
                value = float(getattr(self, name))
            except (TypeError, ValueError, OverflowError) as problem:
                raise RobotError(f"limit {name}: expected a number, found {getattr(self, name)!r}") from problem
            if math.isnan(value):
                raise RobotError(f"limit {name}: expected a number, found NaN")
            object.__setattr__(self, name, value)
        if self.lower > self.upper:
            raise RobotError(f"limits: expected lower <= upper, found lower {self.lower} and upper {self.upper}")
        for name in ("velocity", "effort"):
            if getattr(self, name) < 0:
                raise RobotError(f"limit {name}: expected a number not below zero, found {getattr(self, name)}")


def _zero_vector() -> Any:
    return np.zeros(3)


def _zero_matrix() -> Any:
    return np.zeros((3, 3))


def _identity() -> Any:
    return IDENTITY


def _z() -> Any:
    return np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True, eq=False)
class Link(Record):
    """A rigid body: mass, kg; com, centre of mass in the link frame, m; inertia about that, along the frame's axes.

    A negative principal moment raises an error; with as_found=True, for links read from files, `doubts` reports it.
    The attribute as_found then says whether there is one.
    """

    name: str
    mass: float = 0.0
    com: ArrayLike = field(default_factory=_zero_vector)
    inertia: ArrayLike = field(default_factory=_zero_matrix)
    as_found: bool = False

    def __post_init__(self) -> None:
        check_name(self.name, "link")
        where = f"link {self.name!r}"
        object.__setattr__(self, "mass", not_negative(self.mass, f"{where}, mass"))
        object.__setattr__(self, "com", frozen(self.com, (3,), f"{where}, com"))
        inertia = frozen(self.inertia, (3, 3), f"{where}, inertia")
        scale = float(np.abs(inertia).max())
        if np.abs(inertia - inertia.T).max() > 1e-9 * scale:
            raise RobotError(f"{where}, inertia: expected a symmetric matrix, found {inertia.tolist()}")
        object.__setattr__(self, "inertia", inertia)
        negative = self._is_negative()
        if negative and not self.as_found:
            raise RobotError(f"{where}, inertia: expected no negative principal moment, found {self._principal}")
        object.__setattr__(self, "as_found", negative)

    @cached_property
    def _principal(self) -> list[float]:
        inertia = np.asarray(self.inertia)
        return list(np.linalg.eigvalsh(inertia).tolist()) if inertia.any() else [0.0, 0.0, 0.0]

    def _is_negative(self) -> bool:
        small, _, large = self._principal
        return small < -1e-9 * max(-small, large)  # a zero moment is smaller than this, up to rounding

    def doubts(self) -> str | None:
        """Why the inertia is physically impossible (negative moments, no mass, triangle inequality), or None."""
        moments = small, middle, large = self._principal
        if self._is_negative():
            return f"has principal moments {moments}: expected none below zero"
        if self.mass == 0 and large > 0:
            return f"has moments of inertia {moments} but no mass"
        if small + middle < large * (1 - 1e-9):
            return f"has principal moments {moments}: the largest exceeds the sum of the others"
        return None

    def moments(self, where: Array) -> Array:
        """The 4x4 matrix of moments [[J, h], [h^T, m]] of this body at the pose `where`."""
        com, inertia = np.asarray(self.com), np.asarray(self.inertia)
        S = np.empty((4, 4))
        S[:3, :3] = 0.5 * np.trace(inertia) * np.eye(3) - 0.5 * (inertia + inertia.T) + self.mass * np.outer(com, com)
        S[:3, 3] = S[3, :3] = self.mass * com
        S[3, 3] = self.mass
        moved: Array = where @ S @ where.T
        return moved


@dataclass(frozen=True, eq=False)
class Joint(Record):
    """A joint. The child's pose on its parent: origin, then the motion along or about `axis`, then tail.

    origin: pose of the joint's frame on the parent link, at zero; axis: in the joint's frame; tail: pose of the child
    link's frame on the moved joint frame (the identity in URDF; the link's D-H transform in standard D-H). Poses are
    4x4 or (x, y, z). A helical joint turns by q, rad, and travels pitch q along its axis; pitch: m/rad, otherwise 0.
    """

    name: str
    parent: str
    child: str
    kind: JointKind = "revolute"
    origin: ArrayLike = field(default_factory=_identity)
    axis: ArrayLike = field(default_factory=_z)
    tail: ArrayLike = field(default_factory=_identity)
    limits: Limits = Limits()
    motor: Motor = Motor()
    pitch: float = 0.0

    def __post_init__(self) -> None:
        check_name(self.name, "joint")
        where = f"joint {self.name!r}"
        if self.kind not in KINDS:
            raise RobotError(f"{where}, kind: expected one of {', '.join(KINDS)}, found {self.kind!r}")
        object.__setattr__(self, "pitch", number(self.pitch, f"{where}, pitch"))
        if (self.kind == "helical") != (self.pitch != 0):
            expected = "a number other than zero, m/rad" if self.kind == "helical" else f"0 for a {self.kind} joint"
            raise RobotError(f"{where}, pitch: expected {expected}, found {self.pitch}")
        for end in ("parent", "child"):
            check_name(getattr(self, end), f"{where}, {end} link")
        object.__setattr__(self, "origin", checked_pose(self.origin, f"{where}, origin"))
        object.__setattr__(self, "tail", checked_pose(self.tail, f"{where}, tail"))
        axis = frozen(self.axis, (3,), f"{where}, axis")
        length = math.hypot(*axis)
        if not 1e-9 < length < math.inf:
            raise RobotError(f"{where}, axis: expected a direction, found {axis.tolist()}")
        if abs(length - 1) > 4 * EPS:  # unit vectors are not rescaled, so that copies are identical
            axis = frozen(axis / length, (3,), f"{where}, axis")
        object.__setattr__(self, "axis", axis)
        for name, kind in (("limits", Limits), ("motor", Motor)):
            if not isinstance(getattr(self, name), kind):
                raise RobotError(f"{where}, {name}: expected {kind.__name__}, found {getattr(self, name)!r}")


def check_name(name: Any, what: str) -> None:
    """Raises unless the name is a string that is not blank."""
    if not isinstance(name, str) or not name.strip():
        raise RobotError(f"{what}: expected a name, found {name!r}")
