"""Robots from the files in data/, each with its source, and all built-in robots by name."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from importlib import resources
from math import radians
from pathlib import Path
from typing import Literal, overload

import numpy as np

from fastdyn.errors import ArgumentError
from fastdyn.formats import by_suffix
from fastdyn.mechanism.parts import Limits
from fastdyn.robot import CoupledRobot, Robot, from_toml
from fastdyn.robots.arms import puma560, stanford
from fastdyn.robots.closed_form import planar_2r, rrt, two_link
from fastdyn.robots.parallelogram import irb1400_main_axes


@overload
def irb1400(coupled: Literal[False] = False) -> Robot: ...


@overload
def irb1400(coupled: Literal[True]) -> CoupledRobot: ...


def irb1400(coupled: bool = False) -> Robot | CoupledRobot:
    """The ABB IRB 1400 from the D-H table of Norrlöf's report; its masses are illustrative.

    q are the angles of the D-H chain, from the report's zero pose: theta = q + theta0, theta0 = (0, -pi/2, 0, 0, 0, pi)
    (2.24). With coupled=True, q are the angles phi of the arm's controller, also zero in that pose. A rod turns the
    upper arm, so that it keeps its slope when axis 2 moves: theta3 = phi3 - phi2 (2.25), all others as without the rod.
    `joint_positions(phi)` gives theta - theta0, `coordinates(theta - theta0)` gives phi. Axis 3 has the range of phi3.

    >>> irb1400().n
    6
    >>> irb1400(coupled=True).joint_positions([0, 0.5, 0.2, 0, 0, 0]).round(9).tolist()
    [0.0, 0.5, -0.3, 0.0, 0.0, 0.0]
    """
    robot = _load("irb1400")
    if not coupled:
        return robot
    G = np.eye(6)
    G[2, 1] = -1  # (2.25)
    limits = [Limits(radians(-65), radians(70)) if k == 2 else None for k in range(6)]  # other axes: as their joints
    return robot.coupled(G, names=[f"axis{k}" for k in range(1, 7)], limits=limits)


def ur5() -> Robot:
    """The Universal Robots UR5, standard D-H, with the manufacturer's masses and moments of cylinders.

    >>> ur5().joints[5].limits.effort
    28.0
    """
    return _load("ur5")


def panda() -> Robot:
    """The Franka Emika Panda with its hand, with the parameters identified by Gaz et al.

    >>> panda().n
    7
    """
    return _load("panda")


def iiwa() -> Robot:
    """The KUKA LBR iiwa 14 R820, with the parameters of Drake's description.

    >>> iiwa().joints[0].limits.effort
    320.0
    """
    return _load("iiwa")


def dual_arm() -> Robot:
    """Two arms of four joints on a torso on a lift: a made-up tree with prismatic and revolute joints.

    >>> dual_arm().n
    9
    """
    return _load("dual_arm")


ROBOTS: dict[str, Callable[[], Robot]] = {
    make.__name__: make for make in (puma560, stanford, two_link, planar_2r, rrt, irb1400, ur5, panda, iiwa, dual_arm)
}
COUPLED: dict[str, Callable[[], CoupledRobot]] = {
    "irb1400": lambda: irb1400(coupled=True),
    "irb1400_main_axes": irb1400_main_axes,
}


def names(coupled: bool = False) -> list[str]:
    """The names of all built-in robots that need no arguments; coupled: of those in coordinates of their motors.

    >>> "panda" in names()
    True
    >>> names(coupled=True)
    ['irb1400', 'irb1400_main_axes']
    """
    return list(COUPLED if coupled else ROBOTS)


@overload
def get(name: str, coupled: Literal[False] = False) -> Robot: ...


@overload
def get(name: str, coupled: bool) -> Robot | CoupledRobot: ...


def get(name: str, coupled: bool = False) -> Robot | CoupledRobot:
    """The built-in robot of that name; coupled: in the coordinates of its motors.

    >>> get("iiwa").n
    7
    >>> get("irb1400", coupled=True).names[2]
    'axis3'
    """
    known: Mapping[str, Callable[[], Robot | CoupledRobot]] = COUPLED if coupled else ROBOTS
    if name not in known:
        near = difflib.get_close_matches(str(name), known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"expected one of {', '.join(known)}"
        if Path(str(name)).suffix in by_suffix():
            hint = f"fd.load({str(name)!r}) reads a file"
        elif name in COUPLED:
            hint = "expected coupled=True"
        raise ArgumentError(f"there is no {'coupled ' * coupled}built-in robot {name!r}: {hint}")
    return known[name]()


def _load(name: str) -> Robot:
    file = resources.files("fastdyn.robots") / "data" / f"{name}.toml"
    robot = from_toml(file.read_text(encoding="utf-8"), source=str(file))
    assert isinstance(robot, Robot)  # none of the files couples joints
    return robot
