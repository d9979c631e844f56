"""Description: an immutable, checked tree of links and joints. Readers return it; robots are built from it."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from types import FrameType, MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fastdyn.errors import RobotError, RobotWarning
from fastdyn.mechanism.coupling import Coupling
from fastdyn.mechanism.model import Node
from fastdyn.mechanism.parts import IDENTITY, Array, Frame, Joint, Link, Record, checked_pose, frozen

STANDARD_GRAVITY = (0.0, 0.0, -9.80665)  # m/s^2
LETTERS = {"revolute": "R", "prismatic": "P", "helical": "H"}

Carriers = Mapping[str, tuple[str, Array]]


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Description(Record):
    """A tree of rigid links on a fixed base, optionally with coupled joints.

    links and joints may be in any order; joint coordinates are in the order of the moving joints given. gravity: the
    vector g in the world, m/s^2; mount: the base link's pose in the world, 4x4 or (x, y, z); coupling: of all moving
    joints; added_frames: frames fixed to links, besides the links' own.
    """

    all_links: tuple[Link, ...]
    all_joints: tuple[Joint, ...]
    name: str
    gravity: Array
    mount: Array
    coupling: Coupling | None
    added_frames: tuple[Frame, ...]
    joints: tuple[Joint, ...]  # those that move, in the order of q
    links: tuple[Link, ...]  # the links that these joints move
    base: Link

    def __init__(
        self,
        links: Iterable[Link],
        joints: Iterable[Joint],
        name: str | None = None,
        gravity: ArrayLike | None = None,
        mount: ArrayLike | None = None,
        coupling: Coupling | None = None,
        added_frames: Iterable[Frame] = (),
    ) -> None:
        called = "robot" if name is None else str(name)
        facts: dict[str, Any] = {
            "name": called,
            "gravity": frozen(STANDARD_GRAVITY if gravity is None else gravity, (3,), "gravity"),
            "mount": checked_pose(IDENTITY if mount is None else mount, "mount"),
            "all_links": tuple(links),
            "all_joints": tuple(joints),
            "coupling": coupling,
            "added_frames": tuple(added_frames),
        }
        root = _checked_root(called, facts["all_links"], facts["all_joints"])
        _check_frames(called, facts["all_links"], facts["added_frames"])
        by_name = {link.name: link for link in facts["all_links"]}
        facts["base"] = by_name[root]
        facts["joints"] = tuple(joint for joint in facts["all_joints"] if joint.kind != "fixed")
        facts["links"] = tuple(by_name[joint.child] for joint in facts["joints"])
        for key, value in facts.items():
            object.__setattr__(self, key, value)
        if coupling is not None and len(coupling.G) != self.n:
            raise RobotError(
                f"robot {called!r}: expected a coupling of its {self.n} joints, found one of {len(coupling.G)}"
            )

    def _arguments(self) -> tuple[Any, ...]:
        """Links, joints, name, gravity, mount, coupling and frames: the rest is derived from them."""
        return (
            self.all_links, self.all_joints, self.name, self.gravity, self.mount, self.coupling, self.added_frames
        )  # fmt: skip

    def __repr__(self) -> str:
        return f"<Description {self.summary}>"

    def replace(self, **changes: Any) -> Description:
        """The same description with other links, joints, name, gravity, mount, coupling or frames.

        >>> Description([Link("base")], [], name="post").replace(name="pole").name
        'pole'
        """
        names = ("links", "joints", "name", "gravity", "mount", "coupling", "added_frames")
        parts: dict[str, Any] = dict(zip(names, self._arguments(), strict=True))
        return Description(**{**parts, **changes})

    def with_link(self, link: Link) -> Description:
        """The same description with another link in place of the one of this name.

        >>> Description([Link("base")], [], name="post").with_link(Link("base", 2.0)).base.mass
        2.0
        """
        links = {each.name: each for each in self.all_links} | {link.name: link}
        return self._with(
            all_links=tuple(links.values()),
            links=tuple(links[each.name] for each in self.links),
            base=links[self.base.name],
        )

    def with_fixed_link(self, link: Link, joint: Joint) -> Description:
        """The same description with one more link, fixed to another one by a fixed joint."""
        links, joints = (*self.all_links, link), (*self.all_joints, joint)
        _checked_root(self.name, links, joints)
        _check_frames(self.name, links, self.added_frames)
        made = self._with(all_links=links, all_joints=joints)
        moving, where = self.carriers[joint.parent]
        where = where @ np.asarray(joint.origin) @ np.asarray(joint.tail)
        where.flags.writeable = False
        made.__dict__["carriers"] = MappingProxyType({**self.carriers, link.name: (moving, where)})
        return made

    def with_frame(self, frame: Frame) -> Description:
        """The same description with one more frame."""
        frames = (*self.added_frames, frame)
        _check_frames(self.name, self.all_links, frames)
        return self._with(added_frames=frames)

    def with_world(self, gravity: Array, mount: Array) -> Description:
        """The same description under another gravity vector, or with its base at another pose: both checked before."""
        return self._with(gravity=gravity, mount=mount)

    def _with(self, **changes: Any) -> Description:
        """A copy with other values of some fields, unchecked; links stay fixed to what they were fixed to."""
        made = object.__new__(Description)
        made.__dict__.update({each.name: getattr(self, each.name) for each in fields(self)} | changes)
        made.__dict__["carriers"] = self.carriers
        return made

    # ------------------------------------------------------------------------------------------ derived values

    @property
    def n(self) -> int:
        """Number of moving joints, coupled or not."""
        return len(self.joints)

    @property
    def kinds(self) -> str:
        """One letter for each moving joint: R, P or H."""
        return "".join(LETTERS[joint.kind] for joint in self.joints)

    @property
    def summary(self) -> str:
        """Name, joints and moving mass on one line."""
        joints = f"{self.n} joint{'s' * (self.n != 1)} {self.kinds}".rstrip()
        return f"{self.name!r}: {joints}, {self.moving_mass:.6g} kg moving"

    @cached_property
    def moving_mass(self) -> float:
        """Mass of all moving links, kg."""
        return sum(link.mass for link in self.all_links if self.carriers[link.name][0] != self.base.name)

    @cached_property
    def carriers(self) -> Carriers:
        """For each link, the moving link (or the base) it is fixed to, and its pose there."""
        joint_of = {joint.child: joint for joint in self.all_joints}
        found: dict[str, tuple[str, Array]] = {}
        for link in self.all_links:
            way, name = [], link.name
            while name not in found and name in joint_of and joint_of[name].kind == "fixed":
                way.append(joint_of[name])
                name = joint_of[name].parent
            moving, where = found.setdefault(name, (name, np.eye(4)))
            for joint in reversed(way):
                where = where @ np.asarray(joint.origin) @ np.asarray(joint.tail)
                found[joint.child] = (moving, where)
        for _, where in found.values():
            where.flags.writeable = False
        return MappingProxyType(found)

    @cached_property
    def frames(self) -> Mapping[str, Frame]:
        """All frames by name: those of the links, then the added ones."""
        found = {link.name: Frame(link.name, link.name) for link in self.all_links}
        return MappingProxyType(found | {frame.name: frame for frame in self.added_frames})

    @property
    def moments(self) -> list[Array]:
        """The 4x4 moments of each moving link and the links fixed to it, in its frame, in the order of q."""
        found = [np.zeros((4, 4)) for _ in self.joints]
        for link in self.all_links:
            place, where = self.place(link.name)
            if place >= 0:
                found[place] += link.moments(where)
        return found

    @property
    def nodes(self) -> list[Node]:
        """The input of mechanism.model.build: each moving joint, its parent and the inertia of its link."""
        moments, found = self.moments, []
        for i, joint in enumerate(self.joints):
            parent, where = self.place(joint.parent)
            found.append(Node(joint, i, parent, where @ np.asarray(joint.origin), moments[i]))
        return found

    def place(self, link: str) -> tuple[int, Array]:
        """The moving joint, by its index in q, that carries a link (-1 for the base's), and the link's pose there."""
        moving, where = self.carriers[link]
        return self._places.get(moving, -1), where

    def frame_place(self, frame: Frame) -> tuple[int, Array]:
        """As `place`, of a frame."""
        joint, where = self.place(frame.on)
        return joint, where @ np.asarray(frame.pose)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {joint.child: i for i, joint in enumerate(self.joints)}

    # ------------------------------------------------------------------------------------------ doubtful links

    def doubts(self, massless: bool = False) -> dict[str, str]:
        """Physically impossible links and the reasons; see Robot.doubts."""
        found = {link.name: doubt for link in self.all_links if link is not self.base and (doubt := link.doubts())}
        if massless:
            with np.errstate(over="ignore", invalid="ignore"):  # poses do not matter here
                carriers = self.carriers
            heavy = {carriers[link.name][0] for link in self.all_links if link.mass}
            for link in self.links:
                if link.name not in heavy:
                    found.setdefault(link.name, "moves, but neither it nor what is fixed to it has mass")
        return found

    def checked(self, strict: bool) -> Description:
        """Returns itself; physically impossible links raise a RobotWarning, or a RobotError if strict."""
        doubts = [f"\n  {name!r} {doubt}" for name, doubt in self.doubts().items()]
        if doubts:
            doubtful(f"robot {self.name!r} has links that no real body can be:{''.join(doubts)}", strict)
        return self


class HasDescription:
    """Base class of objects with a description: gives access to its attributes."""

    description: Description

    @property
    def name(self) -> str:
        """The robot's name."""
        return self.description.name

    @property
    def gravity(self) -> Array:
        """The gravity vector in the world, m/s^2."""
        return self.description.gravity

    @property
    def mount(self) -> Array:
        """The base link's pose in the world."""
        return self.description.mount

    @property
    def all_links(self) -> tuple[Link, ...]:
        """All links, in the order given."""
        return self.description.all_links

    @property
    def all_joints(self) -> tuple[Joint, ...]:
        """All joints, fixed ones included, in the order given."""
        return self.description.all_joints

    @property
    def joints(self) -> tuple[Joint, ...]:
        """The joints that move, in the order given."""
        return self.description.joints

    @property
    def links(self) -> tuple[Link, ...]:
        """The links that these joints move."""
        return self.description.links

    @property
    def base(self) -> Link:
        """The fixed link."""
        return self.description.base

    @property
    def coupling(self) -> Coupling | None:
        """The coupling of the joints, or None."""
        return self.description.coupling

    @property
    def added_frames(self) -> tuple[Frame, ...]:
        """The frames that are not links' own."""
        return self.description.added_frames

    @property
    def frames(self) -> Mapping[str, Frame]:
        """All frames by name, as `frame=` takes it: those of the links, then those added by with_frame.

        >>> import fastdyn as fd
        >>> list(fd.robots.two_link().with_frame("tcp", pose=(0.1, 0, 0)).frames)
        ['base', 'link1', 'link2', 'tcp']
        """
        return self.description.frames

    @property
    def n(self) -> int:
        """Number of moving joints."""
        return self.description.n

    @property
    def kinds(self) -> str:
        """One letter for each moving joint: R, P or H."""
        return self.description.kinds

    @property
    def moving_mass(self) -> float:
        """Mass of all moving links, kg."""
        return self.description.moving_mass

    @property
    def carriers(self) -> Carriers:
        """For each link, the moving link (or the base) it is fixed to, and its pose there."""
        return self.description.carriers

    @property
    def moments(self) -> list[Array]:
        """The 4x4 moments of each moving link and the links fixed to it, in its frame, in the order of q."""
        return self.description.moments

    def doubts(self, massless: bool = False) -> dict[str, str]:
        """Physically impossible links and the reasons: {} if there are none. The base is not checked.

        massless: whether to list moving links without mass. Between two joints, as in a joint with several axes, they
        do no harm; at the end of a chain they make the mass matrix singular.

        >>> import fastdyn as fd
        >>> arm = fd.Robot([Link("base"), Link("rod")], [Joint("hinge", "base", "rod")])
        >>> arm.doubts(), arm.doubts(massless=True)
        ({}, {'rod': 'moves, but neither it nor what is fixed to it has mass'})
        """
        return self.description.doubts(massless)


Mechanism = Description | HasDescription  # the argument of lower-level functions: a description or a robot


def doubtful(message: str, strict: bool) -> None:
    """Issues a RobotWarning located at the user's line; raises a RobotError if strict."""
    if strict:
        raise RobotError(message)
    warn(message)


def warn(message: str) -> None:
    """Issues a RobotWarning located at the caller's line outside this package."""
    frame: FrameType | None = sys._getframe(1)
    level = 2
    while frame is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == "fastdyn":
        frame, level = frame.f_back, level + 1
    warnings.warn(message, RobotWarning, stacklevel=level)


# ---------------------------------------------------------------------------------------------- checks


def _checked_root(name: str, links: Sequence[Link], joints: Sequence[Joint]) -> str:
    """The base link's name, after checking that links and joints form a tree."""
    for parts, kind in ((links, Link), (joints, Joint)):
        for one in parts:
            if not isinstance(one, kind):
                raise RobotError(f"robot {name!r}: expected a {kind.__name__}, found {one!r}")
    if not links:
        raise RobotError(f"robot {name!r}: expected at least one link, found none")
    known = _unique([link.name for link in links], "link", name)
    _unique([joint.name for joint in joints], "joint", name)
    joint_of: dict[str, Joint] = {}
    for joint in joints:
        for end, link in (("parent", joint.parent), ("child", joint.child)):
            if link not in known:
                raise RobotError(f"joint {joint.name!r}: its {end} link {link!r} does not exist")
        if joint.child in joint_of:
            other = joint_of[joint.child].name
            raise RobotError(f"link {joint.child!r} is the child of two joints, {other!r} and {joint.name!r}")
        joint_of[joint.child] = joint
    roots = [link.name for link in links if link.name not in joint_of]
    if len(roots) > 1:
        raise RobotError(f"robot {name!r}: expected one base link, found {len(roots)}: {', '.join(roots)}")
    _check_cycles(name, links, joint_of)
    return roots[0]


def _check_frames(name: str, links: Sequence[Link], frames: Sequence[Frame]) -> None:
    known = {link.name for link in links}
    for frame in frames:
        if not isinstance(frame, Frame):
            raise RobotError(f"robot {name!r}: expected a Frame, found {frame!r}")
        if frame.on not in known:
            raise RobotError(f"frame {frame.name!r}: the link {frame.on!r} that it is on does not exist")
    _unique([link.name for link in links] + [frame.name for frame in frames], "links and frame", name)


def _check_cycles(name: str, links: Sequence[Link], joint_of: Mapping[str, Joint]) -> None:
    safe: set[str] = set()  # links known to be connected to the base
    for link in (other.name for other in links):
        seen, at = {link}, link
        while at in joint_of and at not in safe:
            at = joint_of[at].parent
            if at in seen:
                raise RobotError(f"robot {name!r}: the joints above link {link!r} form a cycle through {at!r}")
            seen.add(at)
        safe |= seen


def _unique(names: list[str], what: str, robot: str) -> set[str]:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise RobotError(f"robot {robot!r}: two of its {what}s have the name {name!r}")
        seen.add(name)
    return seen
