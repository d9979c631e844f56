"""A robot as URDF, for programs that read nothing else: link i at joint i's moved frame, bodies only."""

from __future__ import annotations

import numpy as np

from fastdyn.arrays import Array
from fastdyn.bench.peers.models import skeleton
from fastdyn.robot import Robot


def text(robot: Robot) -> str:
    """Links base, link0, link1, ..., joints joint0, joint1, ... in the order of robot.joints; no limits, no motors."""
    joints, links = skeleton(robot)
    moments = np.zeros((robot.n, 4, 4))
    for link, on, where in links:
        moments[on] += link.moments(where)
    lines = ['<robot name="robot">', '<link name="base"/>']
    for i, on, before in joints:
        joint = robot.joints[i]
        kind = "continuous" if joint.kind == "revolute" else "prismatic"
        place = f'xyz="{_row(before[:3, 3])}" rpy="{_row(_roll_pitch_yaw(before[:3, :3]))}"'
        mass, com, I = _body(moments[i])
        inertia = " ".join(f'i{"xyz"[j]}{"xyz"[k]}="{I[j, k]!s}"' for j in range(3) for k in range(j, 3))
        lines += [
            f'<link name="link{i}"><inertial><origin xyz="{_row(com)}"/><mass value="{mass!s}"/><inertia {inertia}/>'
            "</inertial></link>",
            f'<joint name="joint{i}" type="{kind}"><parent link="{"base" if on < 0 else f"link{on}"}"/>'
            f'<child link="link{i}"/><origin {place}/><axis xyz="{_row(np.asarray(joint.axis))}"/></joint>',
        ]
    return "\n".join([*lines, "</robot>"])


def _body(moments: Array) -> tuple[float, Array, Array]:
    """Mass, centre of mass and inertia about it, from the 4x4 moments."""
    mass, first = moments[3, 3], moments[:3, 3]
    com = first / mass if mass else np.zeros(3)
    second = moments[:3, :3] - mass * np.outer(com, com)
    return mass, com, np.trace(second) * np.eye(3) - second


def _row(numbers: Array) -> str:
    return " ".join(map(str, numbers))


def _roll_pitch_yaw(R: Array) -> Array:
    """Angles about the fixed axes x, y, z."""
    pitch = np.arctan2(-R[2, 0], np.hypot(R[0, 0], R[1, 0]))
    return np.array([np.arctan2(R[2, 1], R[2, 2]), pitch, np.arctan2(R[1, 0], R[0, 0])])
