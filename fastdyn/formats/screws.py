"""Home placements, spatial inertias and screw axes -> Description: a chain as screw theory describes it.

Twists are (w, v) and wrenches (moment, force) here: angular part first, unlike in the rest of the API.
The pose of link frame i in frame i - 1 is M_i exp([A_i] q_i), with A_i the screw axis of joint i in frame i. In the
base frame, at q = 0, the same axis is S_i = Ad(M_1 ... M_i) A_i.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from fastdyn.errors import RobotError
from fastdyn.geometry import go, point_inertia
from fastdyn.mechanism.coupling import Coupling
from fastdyn.mechanism.description import Description, doubtful
from fastdyn.mechanism.parts import Array, Joint, JointKind, Link, checked_pose, frozen

Convention = Literal["link", "modern_robotics"]
ROUNDING = 1e-6  # tolerance for screws and placements given in single precision


def from_screws(
    home: Iterable[ArrayLike],
    inertias: Iterable[ArrayLike],
    screws: ArrayLike,
    names: Sequence[str] | None = None,
    gravity: ArrayLike | None = None,
    name: str | None = None,
    convention: Convention = "link",
    strict: bool = False,
) -> Description:
    """A chain of n links, called link1, link2, ..., from its screws.

    home: n 4x4 poses M_i of each link's frame in the previous one, at q = 0, optionally followed by the pose of a frame
    "tip" on the last link; inertias: n spatial inertias, 6x6, in the link frames (block diagonal if these are at the
    centres of mass); names: of the joints, default joint1, joint2, .... convention: "link" for screws as n rows A_i in
    the link frames, "modern_robotics" for n columns S_i in the base frame, as in Mlist, Glist and Slist of that
    package. A screw (w, v) is a revolute joint if its pitch w . v / |w|^2 is zero, a prismatic one if w is, else a
    helical one. A screw that is not of unit length scales its coordinate: this issues a RobotWarning, and the result is
    a CoupledRobot in the coordinates of the screws. strict: warnings are errors.

    >>> import fastdyn as fd
    >>> import numpy as np
    >>> home, bob = np.eye(4), np.diag([0, 0, 0, 2.0, 2.0, 2.0])
    >>> home[0, 3] = 0.5
    >>> arm = fd.from_screws([home], [bob], [[0, 0, 1, 0, 0.5, 0]], gravity=(0, -10, 0))
    >>> arm.inverse_dynamics([0.0], [0.0], [0.0]).round(12)
    array([10.])
    """
    if convention not in ("link", "modern_robotics"):
        raise RobotError(f"convention is {convention!r}: expected 'link' or 'modern_robotics'")
    rows = _rows(screws, convention)
    n = len(rows)
    places = [checked_pose(M, f"home[{i}]") for i, M in enumerate(home)]
    bodies = list(inertias)
    called = [f"joint{i + 1}" for i in range(n)] if names is None else list(names)
    for what, found, expected in (
        ("home", len(places), (n, n + 1)),
        ("inertias", len(bodies), (n,)),
        ("names", len(called), (n,)),
    ):
        if found not in expected:
            raise RobotError(f"{what}: expected {' or '.join(map(str, expected))} for {n} screws, found {found}")
    links, joints, lengths = [Link("base")], [], np.ones(n)
    at = np.eye(4)
    for i, screw in enumerate(rows):
        at = at @ places[i]
        seen = screw if convention == "link" else _seen_from(at, screw)
        kind, axis, point, pitch, lengths[i] = _motion(seen, f"screws[{i}]")
        link = _link(f"link{i + 1}", bodies[i], f"inertias[{i}]")
        origin, tail = places[i] @ go(*point), go(*-point)
        joints.append(Joint(called[i], links[-1].name, link.name, kind, origin, axis, tail, pitch=pitch))
        links.append(link)
    if len(places) > n:
        joints.append(Joint("tip", links[-1].name, "tip", "fixed", origin=places[n]))
        links.append(Link("tip"))
    description = Description(links, joints, "screw robot" if name is None else name, gravity).checked(strict)
    if np.abs(lengths - 1).max(initial=0.0) <= ROUNDING:
        return description
    doubtful(
        f"robot {description.name!r} has screws that are not of unit length: one unit of the coordinates is "
        f"{lengths.tolist()} rad or m",
        strict,
    )
    return description.replace(coupling=Coupling(np.diag(lengths), names=called))


def _rows(screws: ArrayLike, convention: Convention) -> Array:
    try:
        found = np.shape(screws)
    except ValueError as problem:
        raise RobotError("screws: expected a matrix, found rows of different lengths") from problem
    across = convention == "modern_robotics"
    if len(found) != 2 or found[0 if across else 1] != 6:
        expected = "(6, n), one column a joint" if across else "(n, 6), one row a joint"
        raise RobotError(f"screws: expected shape {expected}, found shape {found}")
    matrix = frozen(screws, found, "screws")
    return matrix.T if across else matrix


def _seen_from(at: Array, screw: Array) -> Array:
    """Ad(at^-1) screw: a screw of the base frame, expressed in the frame with pose `at`."""
    w, v = screw[:3], screw[3:]
    R, p = at[:3, :3], at[:3, 3]
    return np.concatenate([R.T @ w, R.T @ (v - np.cross(p, w))])


def _motion(screw: Array, where: str) -> tuple[JointKind, Array, Array, float, float]:
    """Kind of joint, direction and a point of its axis, its pitch, and the screw's length."""
    w, v = screw[:3], screw[3:]
    turn, shift = float(np.linalg.norm(w)), float(np.linalg.norm(v))
    if turn == shift == 0:
        raise RobotError(f"{where}: expected a screw axis, found zeros")
    if turn <= ROUNDING * shift:
        return "prismatic", v / shift, np.zeros(3), 0.0, shift
    pitch = float(w @ v) / turn**2
    helical = abs(pitch) > ROUNDING * max(1.0, shift / turn)
    point = np.cross(w, v) / turn**2
    return "helical" if helical else "revolute", w / turn, point, pitch if helical else 0.0, turn


def _link(name: str, inertia: ArrayLike, where: str) -> Link:
    """A link from its spatial inertia [[J, m [c]], [-m [c], m 1]], whose structure is checked."""
    where = f"{where}, of {name!r}"
    found = frozen(inertia, (6, 6), where)
    mass = float(np.trace(found[3:, 3:])) / 3
    upper = found[:3, 3:]
    first = np.array([upper[2, 1] - upper[1, 2], upper[0, 2] - upper[2, 0], upper[1, 0] - upper[0, 1]]) / 2
    about = 0.5 * (found[:3, :3] + found[:3, :3].T)
    cross = np.cross(first, np.eye(3)).T  # [m c]
    ideal = np.block([[about, cross], [cross.T, mass * np.eye(3)]])
    off = np.abs(found - ideal)
    if off.max() > 1e-9 * np.abs(found).max():
        i, j = np.unravel_index(int(off.argmax()), off.shape)
        raise RobotError(
            f"{where}: expected [[J, m [c]], [-m [c], m 1]] of a rigid body, "
            f"found {found[i, j]} at [{i}, {j}] where {ideal[i, j]} would fit the other entries"
        )
    if mass == 0 and first.any():
        raise RobotError(f"{where}: expected no first moment without mass, found {first.tolist()}")
    com = first / mass if mass else first
    return Link(name, mass, com, about - mass * point_inertia(com))
