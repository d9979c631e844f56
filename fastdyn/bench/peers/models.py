"""A robot as a model of Pinocchio and of MuJoCo."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from fastdyn.arrays import Array
from fastdyn.mechanism.parts import Link
from fastdyn.robot import Robot


def skeleton(robot: Robot) -> tuple[list[tuple[int, int, Array]], list[tuple[Link, int, Array]]]:
    """The robot without its fixed joints, each branch in one run from the base on (Pinocchio silently relies on that).

    Moving joints as (index in robot.joints, index of the joint that carries it, pose of its frame at zero on that
    joint's moved frame), and links as (link, index of the joint that carries it, pose on that joint's moved frame).
    Index -1 is the world; links that do not move are left out.
    """
    index = {joint.name: i for i, joint in enumerate(robot.joints)}
    place = {robot.base.name: (-1, np.asarray(robot.mount))}
    joints, waiting = [], [joint for joint in robot.all_joints if joint.parent == robot.base.name]
    while waiting:
        joint = waiting.pop()
        on, pose = place[joint.parent]
        before = pose @ np.asarray(joint.origin)
        if joint.kind == "fixed":
            place[joint.child] = on, before @ np.asarray(joint.tail)
        else:
            joints.append((index[joint.name], on, before))
            place[joint.child] = index[joint.name], np.asarray(joint.tail)
        waiting += [other for other in robot.all_joints if other.parent == joint.child]
    links = [(link, *place[link.name]) for link in robot.all_links if place[link.name][0] >= 0]
    return joints, links


def pinocchio_model(robot: Robot) -> tuple[Any, list[int]]:
    """A pinocchio.Model, rotors as armature, and the places of its coordinates in robot.joints.

    Pinocchio's algorithms know no friction.
    """
    pin: Any = import_module("pinocchio")
    model = pin.Model()
    model.gravity.linear = robot.gravity
    joints, links = skeleton(robot)
    number = {-1: 0}  # of each joint, in Pinocchio
    for i, on, before in joints:
        joint = robot.joints[i]
        kind, pitch = joint.kind, (joint.pitch,) if joint.kind == "helical" else ()
        letter = {(1, 0, 0): "X", (0, 1, 0): "Y", (0, 0, 1): "Z"}.get(tuple(np.asarray(joint.axis)))
        if letter:  # a cheaper kind
            motion = getattr(pin, f"JointModel{kind[0].upper()}{letter}")(*pitch)
        else:
            motion = getattr(pin, f"JointModel{kind.title()}Unaligned")(np.array(joint.axis), *pitch)
        number[i] = model.addJoint(number[on], motion, pin.SE3(before), joint.name)
    for link, on, where in links:
        model.appendBodyToJoint(number[on], pin.Inertia(link.mass, link.com, link.inertia), pin.SE3(where))
    order = [i for i, _, _ in joints]
    model.armature = np.array([robot.joints[i].motor.armature for i in order])
    return model, order


def mujoco_model(robot: Robot) -> tuple[Any, Any]:
    """A mujoco.MjModel and its MjData: rotors as armature, viscous friction as damping, no Coulomb friction.

    MuJoCo keeps orientations as unit quaternions and inertias as principal moments, so that what it computes with
    differs from the description by a few roundings. Its compiler refuses links without mass and moments that break the
    triangle inequality, which published tables have: masses and moments are therefore written after it has run.
    """
    mujoco: Any = import_module("mujoco")
    joints, links = skeleton(robot)
    bodies = {i: _principal([(link, where) for link, on, where in links if on == i]) for i in range(robot.n)}
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    spec.compiler.balanceinertia = False
    spec.compiler.inertiafromgeom = mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_FALSE
    spec.option.gravity = robot.gravity
    made = {-1: spec.worldbody}

    def quaternion(R: Array) -> Array:
        found = np.empty(4)
        mujoco.mju_mat2Quat(found, np.ascontiguousarray(R).ravel())
        return found

    for i, on, before in joints:
        joint = robot.joints[i]
        _, com, _, axes = bodies[i]
        made[i] = made[on].add_body(
            name=joint.child, pos=before[:3, 3], quat=quaternion(before[:3, :3]),
            explicitinertial=True, mass=1.0, inertia=np.ones(3), ipos=com, iquat=quaternion(axes),
        )  # fmt: skip
        made[i].add_joint(
            name=joint.name, axis=joint.axis, armature=joint.motor.armature, damping=joint.motor.joint_viscous,
            type=getattr(mujoco.mjtJoint, "mjJNT_HINGE" if joint.kind == "revolute" else "mjJNT_SLIDE"),
        )  # fmt: skip
    model = spec.compile()
    data = mujoco.MjData(model)
    for i, (mass, _, moments, _) in bodies.items():
        model.body(robot.joints[i].child).mass[:] = mass
        model.body(robot.joints[i].child).inertia[:] = moments
    mujoco.mj_setConst(model, data)
    return model, data


def _principal(parts: list[tuple[Link, Array]]) -> tuple[float, Array, Array, Array]:
    """Mass, centre of mass, principal moments and axes of links that stand at given poses."""
    mass = sum(link.mass for link, _ in parts)
    centres = [where[:3, :3] @ np.asarray(link.com) + where[:3, 3] for link, where in parts]
    weighted = sum((link.mass * c for (link, _), c in zip(parts, centres, strict=True)), np.zeros(3))
    com = weighted / mass if mass else centres[0]
    inertia = np.zeros((3, 3))
    for (link, where), centre in zip(parts, centres, strict=True):
        R, arm = where[:3, :3], centre - com
        inertia += R @ np.asarray(link.inertia) @ R.T + link.mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    moments, axes = np.linalg.eigh(inertia)
    return mass, com, moments, axes * np.linalg.det(axes).round()
