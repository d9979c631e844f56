"""Description -> URDF. What URDF cannot express is written as extensions that other programs ignore: see urdf.py."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from fastdyn.errors import RobotError
from fastdyn.formats.names import free_name
from fastdyn.formats.urdf import KINDS, UNLIMITED, Mimic
from fastdyn.formats.urdf_grammar import MOMENTS
from fastdyn.mechanism.coupling import Coupling
from fastdyn.mechanism.description import STANDARD_GRAVITY, Mechanism
from fastdyn.mechanism.parts import Array, Joint, Limits, Link, Motor
from fastdyn.rotations import to_rpy


def to_urdf(robot: Mechanism) -> str:
    """A robot as URDF, which `from_urdf` reads as the same robot: same names, order, link frames and torques.

    Numbers are exact; rotations, stored as angles, and motor parameters, stored at the joint, are exact up to rounding.
    What URDF cannot express is written as extensions that other programs ignore: see urdf.py. A helical joint
    raises an error. A frame becomes a link without mass, fixed to its link. A CoupledRobot is written with <mimic>:
    each coordinate must be the position of the joint of its name, in the joints' order and without a motor of its
    own, and each other joint must follow one of them; to_toml writes the rest.

    >>> import fastdyn as fd
    >>> arm = fd.robots.puma560()
    >>> again = fd.from_urdf(fd.to_urdf(arm))
    >>> np.allclose(again.gravity_forces([0.3] * 6), arm.gravity_forces([0.3] * 6), rtol=0, atol=1e-13)
    True
    """
    for joint in robot.joints:
        if joint.kind == "helical":
            raise RobotError(f"joint {joint.name!r}: expected a kind that URDF has ({', '.join(KINDS)}), found helical")
    names = [joint.name for joint in robot.joints]
    followers = {} if robot.coupling is None else _followers(robot.coupling, names, robot.name)
    lines = [f"<robot{_attributes(name=robot.name)}>"]
    if not (np.array_equal(robot.gravity, STANDARD_GRAVITY) and np.array_equal(robot.mount, np.eye(4))):
        lines.append(f"  <fastdyn{_attributes(gravity=robot.gravity)}{_xyz_rpy(robot.mount)}/>")
    for link in robot.all_links:
        lines += _written_link(link)
    taken_links, taken_joints = {link.name for link in robot.all_links}, {joint.name for joint in robot.all_joints}
    for joint in robot.all_joints:
        origin, tail = np.asarray(joint.origin), np.asarray(joint.tail)
        if joint.kind == "fixed":
            lines += _written_joint(replace(joint, origin=origin @ tail), None)
        elif np.array_equal(tail, np.eye(4)):
            lines += _written_joint(joint, followers.get(joint.name))
        else:  # a massless link at the moved joint frame, to which the child is fixed
            between = free_name(f"{joint.child}_at_{joint.name}", taken_links)
            fixed = Joint(free_name(f"{joint.name}_tail", taken_joints), between, joint.child, "fixed", tail)
            lines += [f"  <link{_attributes(name=between)}/>"]
            lines += _written_joint(replace(joint, child=between), followers.get(joint.name))
            lines += _written_joint(fixed, None, tail=joint.name)
    for frame in robot.added_frames:
        fixed = Joint(free_name(f"{frame.name}_joint", taken_joints), frame.on, frame.name, "fixed", frame.pose)
        lines += [f"  <link{_attributes(name=frame.name)}/>", *_written_joint(fixed, None, frame="true")]
    return "\n".join([*lines, "</robot>", ""])


def _followers(coupling: Coupling, names: list[str], robot: str) -> dict[str, Mimic]:
    """The <mimic> rule of each joint that is not itself a coordinate."""

    def refused(what: str) -> RobotError:
        return RobotError(f"robot {robot!r}: URDF's <mimic> cannot express {what}; to_toml writes any coupling")

    rows = dict(zip(names, zip(coupling.G, coupling.offset, strict=True), strict=True))
    for k, (unit, called) in enumerate(zip(np.eye(coupling.m), coupling.names, strict=True)):
        if coupling.motors[k] != Motor():
            raise refused(f"the motor of coordinate {called!r}: expected motors at joints only")
        if coupling.limits[k] != Limits():
            raise refused(f"the limits of coordinate {called!r}: expected limits of joints only")
        row, shift = rows.get(called, (np.zeros(coupling.m), 0.0))
        if shift or not np.array_equal(row, unit):
            raise refused(f"coordinate {called!r}: expected it to be the position of a joint of that name, found none")
    order = [name for name in names if name in coupling.names]
    if order != list(coupling.names):
        raise refused(f"the order of coordinates {list(coupling.names)}: expected the order of the joints, {order}")
    followers = {}
    for name, (row, shift) in rows.items():
        if name in coupling.names:
            continue
        if np.count_nonzero(row) > 1:
            movers = [coupling.names[k] for k in np.flatnonzero(row)]
            raise refused(f"joint {name!r}: expected it to follow one coordinate, found {movers}")
        k = int(np.argmax(np.abs(row)))
        followers[name] = Mimic(coupling.names[k], float(row[k]), float(shift))
    return followers


def _written_link(link: Link) -> list[str]:
    inertia = np.asarray(link.inertia)
    if not (link.mass or np.any(link.com) or np.any(inertia)):
        return [f"  <link{_attributes(name=link.name)}/>"]
    moments = dict(zip(MOMENTS, inertia[np.triu_indices(3)], strict=True))
    return [
        f"  <link{_attributes(name=link.name)}>",
        "    <inertial>",
        f"      <origin{_attributes(xyz=link.com)}/>",
        f"      <mass{_attributes(value=link.mass)}/>",
        f"      <inertia{_attributes(**moments)}/>",
        "    </inertial>",
        "  </link>",
    ]


def _written_joint(joint: Joint, rule: Mimic | None, **marks: str) -> list[str]:
    limits, motor = joint.limits, joint.motor
    bounded = math.isfinite(limits.lower) or math.isfinite(limits.upper) or joint.kind == "prismatic"
    kind = joint.kind if bounded or joint.kind == "fixed" else "continuous"
    lines = [
        f"  <joint{_attributes(name=joint.name, type=kind, **marks)}>",
        f"    <parent{_attributes(link=joint.parent)}/>",
        f"    <child{_attributes(link=joint.child)}/>",
        f"    <origin{_xyz_rpy(np.asarray(joint.origin))}/>",
    ]
    if joint.kind != "fixed":
        lines.append(f"    <axis{_attributes(xyz=joint.axis)}/>")
        if limits != Limits() or kind != "continuous":
            bounds = {"lower": limits.lower, "upper": limits.upper} if bounded else {}
            lines.append(f"    <limit{_attributes(**bounds, effort=limits.effort, velocity=limits.velocity)}/>")
        if motor != Motor():
            lines.append(f"    <dynamics{_friction(motor)}/>")
        if rule is not None:
            lines.append(f"    <mimic{_attributes(joint=rule.joint, multiplier=rule.multiplier, offset=rule.offset)}/>")
    return [*lines, "  </joint>"]


def _friction(motor: Motor) -> str:
    """Damping and friction at the joint; attributes that are not in URDF only where needed."""
    plus, minus = motor.joint_coulomb
    found = {"damping": motor.joint_viscous, "friction": plus}
    if minus != plus:
        found["friction_minus"] = minus
    if motor.armature:
        found["armature"] = motor.armature
    if motor.gear not in (0.0, 1.0):
        found["gear"] = motor.gear
    return _attributes(**found)


def _xyz_rpy(pose: Array) -> str:
    return _attributes(xyz=pose[:3, 3], rpy=to_rpy(pose[:3, :3]))


def _attributes(**values: str | ArrayLike) -> str:
    return "".join(f' {key}="{_escaped(v) if isinstance(v, str) else _digits(v)}"' for key, v in values.items())


def _digits(values: ArrayLike) -> str:
    """The fewest digits that give the same float64 when read, at most 17."""
    return " ".join(repr(float(np.clip(value, -UNLIMITED, UNLIMITED))) for value in np.atleast_1d(values))


def _escaped(text: str) -> str:
    for char in text:
        if (char < " " and char not in "\t\n\r") or "\ud800" <= char <= "\udfff" or char in "\ufffe\uffff":
            raise RobotError(f"name {text!r}: expected characters that XML can hold, found {char!r}")
    return text.translate({ord(char): f"&#{ord(char)};" for char in '&<>"\t\n\r'})
