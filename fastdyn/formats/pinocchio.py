"""pinocchio.Model -> Description. Pinocchio itself is needed only when from_pinocchio is called."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from fastdyn.errors import RobotError
from fastdyn.formats.files import package
from fastdyn.formats.names import free_name
from fastdyn.formats.urdf import Mimic, following
from fastdyn.mechanism import variations
from fastdyn.mechanism.description import Description, doubtful
from fastdyn.mechanism.parts import Array, Joint, JointKind, Limits, Link, Motor

KINDS: dict[str, JointKind] = {
    **dict.fromkeys(("RX", "RY", "RZ", "RevoluteUnaligned"), "revolute"),
    **dict.fromkeys(("RUBX", "RUBY", "RUBZ", "RevoluteUnboundedUnaligned"), "revolute"),
    **dict.fromkeys(("PX", "PY", "PZ", "PrismaticUnaligned"), "prismatic"),
    **dict.fromkeys(("HX", "HY", "HZ", "HelicalUnaligned"), "helical"),
}
MIMIC = "JointModelMimic"


def from_pinocchio(model: Any, strict: bool = False, locked: Mapping[str, float] | None = None) -> Description:
    """The robot of a pinocchio.Model with revolute, prismatic and helical joints, in its order of joints.

    q has one value per joint: for a continuous joint the angle, where Pinocchio stores cosine and sine. A moving link
    is named after the body at its joint's origin, or else after the joint; all other frames except joint frames become
    massless fixed links, so that wrenches can refer to them. Armature is part of both libraries' dynamics; the model's
    damping and dry friction, which Pinocchio's dynamics ignore, are included here (see without_friction). Joints that
    mimic others make a CoupledRobot in Pinocchio's coordinates. locked: joints or coordinates to hold, as in
    robot.locked.

    >>> import fastdyn as fd, pinocchio
    >>> import numpy as np
    >>> model = pinocchio.Model()
    >>> joint = model.addJoint(0, pinocchio.JointModelRY(), pinocchio.SE3.Identity(), "hinge")
    >>> bob = pinocchio.Inertia(2.0, np.array([0, 0, -0.5]), np.eye(3) / 10)
    >>> model.appendBodyToJoint(joint, bob, pinocchio.SE3.Identity())
    >>> fd.from_pinocchio(model).with_gravity((0, 0, -10)).inverse_dynamics([np.pi / 2], [0.0], [1.0]).round(12)
    array([10.6])
    """
    pinocchio = package("pinocchio", "from_pinocchio")
    if not isinstance(model, pinocchio.Model):
        raise RobotError(f"model: expected a pinocchio.Model, found {type(model).__name__}")
    if np.any(model.gravity.angular):
        raise RobotError(f"gravity: expected no angular part, found {model.gravity.angular.tolist()}")
    if np.any(model.rotorInertia):
        found = model.rotorInertia.tolist()
        doubtful(f"rotorInertia {found} is dropped, as in Pinocchio's rnea: use armature", strict)
    names, own = _link_names(model, pinocchio)
    at_rest = pinocchio.neutral(model)
    taken_links, taken_joints = set(names), set(model.names)
    links, joints = [], []
    for i in range(model.njoints):
        body = model.inertias[i]
        links.append(Link(names[i], body.mass, body.lever, body.inertia, as_found=True))
        if i > 0:
            joints.append(_joint(model, i, names[model.parents[i]], names[i], at_rest))
    for k, frame in enumerate(model.frames):
        if k in own or frame.type == pinocchio.FrameType.JOINT or k == 0:
            continue
        link, joint = free_name(frame.name, taken_links), free_name(frame.name, taken_joints)
        links.append(Link(link))
        joints.append(Joint(joint, names[frame.parentJoint], link, "fixed", origin=frame.placement.homogeneous))
    description = Description(links, joints, model.name or "pinocchio robot", model.gravity.linear).checked(strict)
    return variations.locked(following(description, _followers(model)), locked)


def _followers(model: Any) -> dict[str, Mimic]:
    """The rules of the joints that mimic others; one that mimics by a factor of 0 is fixed."""
    if not any(joint.shortname() == MIMIC for joint in model.joints):
        return {}
    found = {}
    for i, leader in zip(model.mimicking_joints, model.mimicked_joints, strict=True):
        rule = model.joints[i].extract()
        if rule.scaling:
            found[model.names[i]] = Mimic(model.names[leader], rule.scaling, rule.offset)
    return found


def _joint(model: Any, i: int, parent: str, child: str, at_rest: Any) -> Joint:
    joint, name = model.joints[i], model.names[i]
    data = joint.createData()
    origin = model.jointPlacements[i].homogeneous
    if joint.shortname() == MIMIC:  # the model has neither limits nor a motor of it
        joint.calc(data, at_rest, np.ones(model.nv))
        factor = joint.extract().scaling
        if not factor:
            return Joint(name, parent, child, "fixed", origin @ data.M.homogeneous)
        return _follower((name, parent, child), origin, data.v.vector / factor)
    kind = KINDS.get(joint.shortname().removeprefix("JointModel"))
    if kind is None:
        raise RobotError(f"joint {name!r}: expected a revolute, prismatic or helical joint, found {joint.shortname()}")
    joint.calc(data, at_rest)
    axis = np.ravel(data.S)[:3] if kind == "prismatic" else np.ravel(data.S)[3:]  # the joint's unit twist, linear first
    pitch = joint.extract().pitch if kind == "helical" else 0.0
    if kind == "helical" and pitch == 0:
        kind = "revolute"
    v, q = joint.idx_v, joint.idx_q
    bounded = joint.nq == 1  # a continuous joint's bounds are those of cosine and sine
    limits = Limits(
        lower=_bound(model.lowerPositionLimit[q]) if bounded else -math.inf,
        upper=_bound(model.upperPositionLimit[q]) if bounded else math.inf,
        velocity=_bound(model.velocityLimit[v]),
        effort=_bound(model.effortLimit[v]),
    )
    plus = getattr(model, "upperDryFrictionLimit", model.friction)[v]
    minus = getattr(model, "lowerDryFrictionLimit", -model.friction)[v]
    motor = Motor(model.armature[v], 1.0, model.damping[v], (plus, minus))
    return Joint(name, parent, child, kind, origin, axis, limits=limits, motor=motor, pitch=pitch)


def _follower(names: tuple[str, str, str], origin: Array, twist: Array) -> Joint:
    """A joint that mimics another, from its motion at unit rate, linear part first."""
    linear, angular = twist[:3], twist[3:]
    if not angular.any():
        return Joint(*names, "prismatic", origin, linear)
    pitch = float(linear @ angular / (angular @ angular))
    return Joint(*names, "helical" if pitch else "revolute", origin, angular, pitch=pitch)


def _link_names(model: Any, pinocchio: Any) -> tuple[list[str], set[int]]:
    """A name for each joint's link, and the frames the names are from: bodies at their joint's origin."""
    found: dict[int, str] = {}
    own: set[int] = set()
    for k, frame in enumerate(model.frames):
        at_joint = frame.type == pinocchio.FrameType.BODY and frame.placement.isIdentity(0.0)
        if at_joint and frame.parentJoint not in found:
            found[frame.parentJoint] = frame.name
            own.add(k)
    taken = set(found.values())
    return [found.get(i) or free_name(model.names[i], taken) for i in range(model.njoints)], own


def _bound(limit: float) -> float:
    """Pinocchio uses the largest float64 for unknown limits."""
    return math.copysign(math.inf, limit) if abs(limit) > 1e300 else limit
