"""Denavit-Hartenberg tables -> Description, in the standard (Paul) and the modified (Craig) convention."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from fastdyn.errors import RobotError
from fastdyn.geometry import go, turn_x, turn_z
from fastdyn.mechanism.description import Description
from fastdyn.mechanism.parts import MOVING, Joint, JointKind, Limits, Link, Motor, number

Convention = Literal["standard", "modified"]


def _zeros() -> Any:
    return np.zeros((3, 3))


@dataclass(frozen=True, eq=False)
class DHLink:
    """A row of a D-H table: geometry (m, rad), kind of joint, inertia, limits and motor.

    theta is added to a revolute joint's coordinate, d to a prismatic one's; a helical joint has theta + q and
    d + pitch q (pitch: m/rad). com and inertia (about the centre of mass) are in the link's own frame, which is
    at the link's far end in the standard convention, at its joint in the modified one. limits: Limits, or a pair
    (lower, upper).
    """

    a: float = 0.0
    alpha: float = 0.0
    d: float = 0.0
    theta: float = 0.0
    kind: JointKind = "revolute"
    mass: float = 0.0
    com: ArrayLike = (0.0, 0.0, 0.0)
    inertia: ArrayLike = field(default_factory=_zeros)
    limits: Limits | tuple[float, float] | None = None
    motor: Motor | None = None
    pitch: float = 0.0


def from_dh(
    rows: Iterable[DHLink],
    convention: Convention = "standard",
    name: str | None = None,
    gravity: ArrayLike | None = None,
    strict: bool = False,
) -> Description:
    """A chain from its D-H table. Links are called link1, link2, ..., joints joint1, joint2, ....

    >>> import fastdyn as fd
    >>> import numpy as np
    >>> rod = fd.DHLink(a=1.0, mass=3.0, com=(-0.5, 0, 0), inertia=np.diag([0, 0.25, 0.25]))
    >>> fd.from_dh([rod]).mass_matrix([0.0])
    array([[1.]])
    """
    if convention not in ("standard", "modified"):
        raise RobotError(f"convention is {convention!r}: expected 'standard' or 'modified'")
    links, joints = [Link("base")], []
    for i, row in enumerate(rows, start=1):
        if not isinstance(row, DHLink):
            raise RobotError(f"row {i}: expected a DHLink, found {type(row).__name__}")
        if row.kind not in MOVING:
            raise RobotError(f"row {i}, kind: expected one of {', '.join(MOVING)}, found {row.kind!r}")
        a, alpha, d, theta = (number(getattr(row, key), f"row {i}, {key}") for key in ("a", "alpha", "d", "theta"))
        if convention == "standard":
            origin, tail = turn_z(theta), go(0, 0, d) @ go(a, 0, 0) @ turn_x(alpha)
        else:
            origin, tail = turn_x(alpha) @ go(a, 0, 0) @ turn_z(theta) @ go(0, 0, d), np.eye(4)
        joints.append(
            Joint(
                name=f"joint{i}",
                parent=links[-1].name,
                child=f"link{i}",
                kind=row.kind,
                origin=origin,
                tail=tail,
                limits=_limits(row.limits, i),
                motor=Motor() if row.motor is None else row.motor,
                pitch=row.pitch,
            )
        )
        links.append(Link(f"link{i}", row.mass, row.com, row.inertia))
    return Description(links, joints, "dh robot" if name is None else name, gravity).checked(strict)


def _limits(limits: Limits | tuple[float, float] | None, row: int) -> Limits:
    if limits is None:
        return Limits()
    if isinstance(limits, Limits):
        return limits
    try:
        lower, upper = limits
    except (TypeError, ValueError) as problem:
        raise RobotError(f"row {row}, limits: expected (lower, upper), found {limits!r}") from problem
    return Limits(lower, upper)
