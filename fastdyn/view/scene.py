"""The robot as the page's script moves it: links as numbers, joints with their frames, coordinates with their limits.

The script computes poses from q, so that a file holds n numbers for each posture and not a matrix for each link.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fastdyn.mechanism.description import Mechanism
from fastdyn.mechanism.limits import UNITS, limits_of
from fastdyn.mechanism.poses import outward, tips


def scene(robot: Mechanism) -> dict[str, Any]:
    """Ready for JSON. Link 0 is the base, link k + 1 the child of joint k; matrices are the upper 3x4 of poses.

    A joint's position is its offset plus the sum of its factors times coordinates: `by` has pairs [place, factor].

    >>> import fastdyn as fd
    >>> found = scene(fd.robots.two_link())
    >>> [joint["parent"] for joint in found["joints"]], found["tips"], found["joints"][1]["by"]
    ([0, 1], [2], [[1, 1.0]])
    """
    n = len(robot.joints)
    coupling = robot.coupling
    G, offset = (np.eye(n), np.zeros(n)) if coupling is None else (coupling.G, coupling.offset)
    rows = {joint.name: row for row, joint in enumerate(robot.joints)}
    links, joints = {robot.base.name: 0}, []
    for joint in outward(robot):
        row = rows.get(joint.name)
        by = [] if row is None else [[int(k), float(G[row, k])] for k in np.flatnonzero(G[row])]
        joints.append(
            {
                "parent": links[joint.parent],
                "kind": joint.kind,
                "origin": _matrix(joint.origin),
                "axis": np.asarray(joint.axis).tolist(),
                "tail": _matrix(joint.tail),
                "pitch": joint.pitch,
                "by": by,
                "offset": 0.0 if row is None else float(offset[row]),
            }
        )
        links[joint.child] = len(joints)
    return {
        "mount": _matrix(robot.mount),
        "joints": joints,
        "tips": [links[name] for name in tips(robot)],
        "coordinates": _coordinates(robot),
    }


def _coordinates(robot: Mechanism) -> list[dict[str, Any]]:
    """Names, units and limits, in the order of q."""
    names, kinds = [joint.name for joint in robot.joints], [joint.kind for joint in robot.joints]
    if robot.coupling is not None:
        names, kinds = list(robot.coupling.names), robot.coupling.kinds(robot.joints)
    limits = limits_of(robot)
    return [
        {
            "name": name,
            "units": {key: pair[kind == "prismatic"] for key, pair in UNITS.items()},
            "position": [_finite(value) for value in position],
            "qd": _finite(velocity),
            "tau": _finite(effort),
        }
        for name, kind, position, velocity, effort in zip(
            names, kinds, limits.position.tolist(), limits.velocity.tolist(), limits.effort.tolist(), strict=True
        )
    ]


def _matrix(pose: Any) -> list[float]:
    found: list[float] = np.asarray(pose, dtype=np.float64)[:3].ravel().tolist()
    return found


def _finite(value: float) -> float | None:
    """JSON has no infinity."""
    return value if math.isfinite(value) else None
