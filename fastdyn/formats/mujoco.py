"""mujoco.MjModel and MJCF files -> Description. The package mujoco is needed only when a reader is called."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from fastdyn.errors import DescriptionError, RobotError
from fastdyn.formats import xml
from fastdyn.formats.files import contents, package
from fastdyn.formats.names import free_name
from fastdyn.geometry import go, homogeneous
from fastdyn.mechanism import variations
from fastdyn.mechanism.description import Description, doubtful
from fastdyn.mechanism.parts import Array, Joint, Limits, Link, Motor
from fastdyn.rotations import from_quaternion, turn

# features that affect the motion and that a Robot cannot represent: (array of the model, owner, meaning)
FOREIGN = (
    ("jnt_stiffness", "joint", "a spring"),
    ("jnt_stiffnesspoly", "joint", "a spring"),
    ("dof_dampingpoly", "joint", "damping that is not linear"),
    ("body_gravcomp", "body", "gravity compensation"),
    ("tendon_stiffness", "tendon", "a spring"),
    ("tendon_stiffnesspoly", "tendon", "a spring"),
    ("tendon_damping", "tendon", "damping"),
    ("tendon_dampingpoly", "tendon", "damping"),
    ("tendon_frictionloss", "tendon", "friction"),
    ("tendon_armature", "tendon", "inertia"),
    ("actuator_dampingpoly", "actuator", "damping that is not linear"),
)


def from_mujoco(model: Any, strict: bool = False, locked: Mapping[str, float] | None = None) -> Description:
    """The robot of a mujoco.MjModel with hinge and slide joints; q is MuJoCo's qpos, in its order.

    Bodies become links, fixed ones if they have no joint; several joints of one body are linked by massless links.
    Armature, damping and frictionloss of joints, and armature and damping of actuators on joints, become motors; MuJoCo
    smooths friction near zero velocity, a Robot does not. tau is the total actuator force at the joints, including
    actuator bias forces and plugins (a RobotWarning lists these, an error under strict=True). Anything else that
    affects the motion raises a RobotError: ball and free joints, springs, equality constraints, tendons with forces,
    fluid, gravity compensation. Contacts are ignored. locked: joints to hold, as in robot.locked.

    >>> import fastdyn as fd, mujoco
    >>> import numpy as np
    >>> pendulum = "<body><joint axis='0 1 0'/><inertial pos='0 0 -0.5' mass='2' diaginertia='0.1 0.1 0.1'/></body>"
    >>> option = "<option gravity='0 0 -10'/>"
    >>> model = mujoco.MjModel.from_xml_string(f"<mujoco>{option}<worldbody>{pendulum}</worldbody></mujoco>")
    >>> fd.from_mujoco(model).inverse_dynamics([np.pi / 2], [0.0], [1.0]).round(12)
    array([10.6])
    """
    mujoco = package("mujoco", "from_mujoco")
    if not isinstance(model, mujoco.MjModel):
        raise RobotError(f"model: expected a mujoco.MjModel, found {type(model).__name__}")
    try:
        model.names.decode()
    except UnicodeDecodeError as problem:
        raise RobotError(f"names: expected UTF-8 text, found: {problem}") from problem
    _refuse(model, mujoco)
    _check_dropped(model, strict)
    motors = _motors(model, mujoco)
    bodies = _names(model, "body", model.nbody)
    called = _names(model, "joint", model.njnt)
    taken_links, taken_joints = set(bodies), set(called)
    links, joints = [Link(bodies[0])], []
    for b in range(1, model.nbody):
        parent = bodies[model.body_parentid[b]]
        at = homogeneous(from_quaternion(model.body_quat[b]), model.body_pos[b])
        first, count = model.body_jntadr[b], model.body_jntnum[b]
        for j in range(first, first + count):
            last = j == first + count - 1
            child = bodies[b] if last else free_name(f"{bodies[b]}_{called[j]}", taken_links)
            joints.append(_joint(model, mujoco, j, called[j], (parent, child), at, motors[j]))
            if not last:
                links.append(Link(child))
            parent, at = child, np.eye(4)
        if count == 0:
            joints.append(Joint(free_name(bodies[b], taken_joints), parent, bodies[b], "fixed", origin=at))
        R = from_quaternion(model.body_iquat[b])
        links.append(Link(bodies[b], model.body_mass[b], model.body_ipos[b], R @ np.diag(model.body_inertia[b]) @ R.T))
    gravity = np.zeros(3) if _off(model, mujoco, "GRAVITY") else model.opt.gravity
    description = Description(links, joints, model.names.split(b"\0")[0].decode(), gravity).checked(strict)
    return variations.locked(description, locked)


def load_mjcf(
    path: str | os.PathLike[str], strict: bool = False, locked: Mapping[str, float] | None = None
) -> Description:
    """The robot of an MJCF file, compiled by MuJoCo: see from_mujoco."""
    mujoco = package("mujoco", f"reading the MJCF file {path}")
    data = contents(path)
    text = xml.decoded(data, os.fspath(path))
    try:
        if text.encode() == data:
            model = mujoco.MjModel.from_xml_path(os.fspath(path))
        else:  # MuJoCo reads UTF-8 only
            model = mujoco.MjModel.from_xml_string(text.lstrip("\ufeff"))
    except ValueError as problem:
        raise DescriptionError(f"{path}: MuJoCo refuses it: {problem}") from problem
    return from_mujoco(model, strict, locked)


def is_mjcf(path: str | os.PathLike[str]) -> bool:
    """Whether an XML file's first element is <mujoco>."""
    return xml.prolog(contents(path))[0] == "mujoco"


def _joint(model: Any, mujoco: Any, j: int, name: str, ends: tuple[str, str], at: Array, motor: Motor) -> Joint:
    """Joint j. `at`: the child's pose on its parent at the joint's reference coordinate (qpos0), not at zero."""
    place, axis, reference = model.jnt_pos[j], model.jnt_axis[j], float(model.qpos0[model.jnt_qposadr[j]])
    lower, upper = model.jnt_range[j] if model.jnt_limited[j] else (-math.inf, math.inf)
    effort = float(np.abs(model.jnt_actfrcrange[j]).max()) if model.jnt_actfrclimited[j] else math.inf
    limits = Limits(lower, upper, effort=effort)
    if model.jnt_type[j] == int(mujoco.mjtJoint.mjJNT_SLIDE):
        origin = at @ go(*-reference * axis)
        return Joint(name, *ends, "prismatic", origin, axis, limits=limits, motor=motor)
    back = homogeneous(turn(axis, -reference))
    return Joint(name, *ends, "revolute", at @ go(*place) @ back, axis, go(*-place), limits, motor)


def _motors(model: Any, mujoco: Any) -> list[Motor]:
    """Rotor inertia and friction at each joint; an actuator's are reflected through its gear."""
    armature, damping, friction = model.dof_armature.copy(), model.dof_damping.copy(), model.dof_frictionloss.copy()
    on_joint = (int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT))
    for attribute, felt in (("actuator_armature", armature), ("actuator_damping", damping)):
        for i in np.flatnonzero(getattr(model, attribute, ())):
            if model.actuator_trntype[i] not in on_joint:
                raise RobotError(
                    f"actuator {_name(model, 'actuator', i)!r}: expected {attribute} only on actuators at joints, "
                    f"found {getattr(model, attribute)[i]} on another transmission"
                )
            felt[model.actuator_trnid[i, 0]] += model.actuator_gear[i, 0] ** 2 * getattr(model, attribute)[i]
    if _off(model, mujoco, "DAMPER") or _off(model, mujoco, "PASSIVE"):
        damping[:] = 0
    if _off(model, mujoco, "FRICTIONLOSS") or _off(model, mujoco, "CONSTRAINT"):
        friction[:] = 0
    return [Motor(a, 1.0, d, f) for a, d, f in zip(armature, damping, friction, strict=True)]


def _refuse(model: Any, mujoco: Any) -> None:
    """Raises for features that affect the motion and that a Robot cannot represent."""
    for j, kind in enumerate(map(mujoco.mjtJoint, model.jnt_type)):
        if kind not in (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE):
            found = kind.name.removeprefix("mjJNT_").lower()
            raise RobotError(f"joint {_name(model, 'joint', j)!r}: expected a hinge or slide, found a {found} joint")
    for attribute, owner, what in FOREIGN:
        values = np.asarray(getattr(model, attribute, ()))
        for i in np.flatnonzero(values.reshape(len(values), -1).any(axis=1) if len(values) else ()):
            found = f"{attribute} = {values[i].tolist()}"
            raise RobotError(f"{owner} {_name(model, owner, i)!r} has {what}, which a Robot has not: found {found}")
    if model.neq:
        name = _name(model, "equality", 0)
        raise RobotError(f"equality constraint {name!r}: expected none; a Robot can be coupled instead")
    if model.opt.density or model.opt.viscosity:
        found = f"density {model.opt.density} and viscosity {model.opt.viscosity}"
        raise RobotError(f"option: expected no fluid around the robot, found {found}")
    if model.nflex:
        raise RobotError(f"expected rigid bodies, found {model.nflex} flexes")
    for b in np.flatnonzero(model.body_plugin >= 0):
        raise RobotError(f"body {_name(model, 'body', b)!r}: expected no plugin, found one")


def _check_dropped(model: Any, strict: bool) -> None:
    """Warns of dropped features that do not change the equations of motion; raises if strict."""
    own = np.flatnonzero((model.actuator_biastype != 0) | (model.actuator_plugin >= 0))
    if own.size:
        names = ", ".join(repr(_name(model, "actuator", i)) for i in own)
        doubtful(f"forces of their own of actuators {names} are left to tau", strict)
    bounded = np.flatnonzero(model.tendon_limited)
    if bounded.size:
        names = ", ".join(repr(_name(model, "tendon", i)) for i in bounded)
        doubtful(f"limits of tendons {names} are dropped", strict)


def _off(model: Any, mujoco: Any, what: str) -> bool:
    """Whether the model disables a feature; the available flags depend on MuJoCo's version."""
    return bool(model.opt.disableflags & int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{what}", 0)))


def _name(model: Any, kind: str, i: Any) -> str:
    return getattr(model, kind)(i).name or f"{kind}{i}"


def _names(model: Any, kind: str, count: int) -> list[str]:
    given = [getattr(model, kind)(i).name for i in range(count)]
    taken = {name for name in given if name}
    return [name or free_name(f"{kind}{i}", taken) for i, name in enumerate(given)]
