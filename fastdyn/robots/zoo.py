"""Robots from the files in data/, each with its source, and all built-in robots by name."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from importlib import resources
from pathlib import Path

from fastdyn.errors import ArgumentError
from fastdyn.formats import by_suffix
from fastdyn.robot import Robot, from_toml
from fastdyn.robots.arms import puma560, stanford
from fastdyn.robots.closed_form import planar_2r, rrt, two_link


def irb1400() -> Robot:
    """The ABB IRB 1400 from the D-H table of Norrlöf's report; its masses are illustrative.

    >>> irb1400().n
    6
    """
    return _load("irb1400")


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


def names() -> list[str]:
    """The names of all built-in robots that need no arguments.

    >>> "panda" in names()
    True
    """
    return list(ROBOTS)


def get(name: str) -> Robot:
    """The built-in robot of that name.

    >>> get("iiwa").n
    7
    """
    if name not in ROBOTS:
        near = difflib.get_close_matches(str(name), ROBOTS, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"expected one of {', '.join(ROBOTS)}"
        if Path(str(name)).suffix in by_suffix():
            hint = f"fd.load({str(name)!r}) reads a file"
        raise ArgumentError(f"there is no built-in robot {name!r}: {hint}")
    return ROBOTS[name]()


def _load(name: str) -> Robot:
    file = resources.files("fastdyn.robots") / "data" / f"{name}.toml"
    robot = from_toml(file.read_text(encoding="utf-8"), source=str(file))
    assert isinstance(robot, Robot)  # none of the files couples joints
    return robot
