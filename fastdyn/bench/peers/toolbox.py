"""Corke's Robotics Toolbox: its Newton-Euler is C (`frne`) and takes whole trajectories; the rest is built on it."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np

from fastdyn.bench.case import BATCH, FORWARD, INVERSE, MASS, SINGLE, Case, Job
from fastdyn.mechanism.parts import Joint, Link

NAME = "Robotics Toolbox"


def jobs(case: Case) -> Iterator[Job]:
    """Chains in standard Denavit-Hartenberg form only: others it computes in Python."""
    rtb: Any = import_module("roboticstoolbox")
    links = [rtb.RevoluteDH(**_row(*pair)) for pair in zip(case.robot.joints, case.robot.links, strict=True)]
    arm, one = rtb.DHRobot(links, gravity=np.array(case.robot.gravity)), case.one
    yield Job(NAME, INVERSE, BATCH, lambda: arm.rne(case.q, case.qd, case.qdd))
    yield Job(NAME, INVERSE, SINGLE, lambda: arm.rne(one.q, one.qd, one.qdd))
    yield Job(NAME, FORWARD, SINGLE, lambda: arm.accel(one.q, one.qd, one.tau))
    yield Job(NAME, MASS, SINGLE, lambda: arm.inertia(one.q))


def _row(joint: Joint, link: Link) -> dict[str, object]:
    """A row of the standard D-H table, read back from the poses."""
    origin, tail = np.asarray(joint.origin), np.asarray(joint.tail)
    moved = np.array([*origin[:3, 3], *(origin[:3, 2] - [0, 0, 1]), *(tail[:3, 0] - [1, 0, 0]), tail[1, 3]])
    if np.abs(moved).max() > 1e-12:  # a rotation about z before the joint, a screw along x behind it
        raise ValueError(f"joint {joint.name!r} is not in standard Denavit-Hartenberg form")
    theta, alpha = np.arctan2(origin[1, 0], origin[0, 0]), np.arctan2(tail[2, 1], tail[1, 1])
    bodies = {"m": link.mass, "r": np.array(link.com), "I": np.array(link.inertia)}
    return {"a": tail[0, 3], "alpha": alpha, "d": tail[2, 3], "offset": theta, **bodies}
