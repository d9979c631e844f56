"""A robot's numbers as letters, and the rows that the texts by screws read, made of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fastdyn.errors import ArgumentError
from fastdyn.formulations import screw_rows as r
from fastdyn.mechanism.chains import about_centre
from fastdyn.mechanism.description import Description, Mechanism
from fastdyn.mechanism.model import Node
from fastdyn.mechanism.parts import EPS, Array
from fastdyn.specialize.symbolic.polynomials import Polynomial

ROUNDING = 16 * EPS  # of its scale: a number this small is what rounding has left of a zero
AXES = "xyz"
Objects = np.ndarray[Any, np.dtype[Any]]  # of polynomials

SIX = {r.IXX: (0, 0), r.IYY: (1, 1), r.IZZ: (2, 2), r.IXY: (0, 1), r.IXZ: (0, 2), r.IYZ: (1, 2)}


@dataclass(frozen=True)
class Letter:
    """A letter of the equations: what it stands for, its unit, and the robot's number."""

    name: str
    meaning: str
    unit: str
    value: float


class Alphabet:
    """Gives letters to a robot's numbers, as far as they are not zero.

    letters: False keeps the numbers. relations: polynomials in letters, old or new, that take the place of letters.
    """

    def __init__(self, letters: bool, relations: Mapping[str, Polynomial]) -> None:
        self.letters, self.relations = letters, relations
        self.known: dict[str, Letter] = {}
        self.inertial: set[str] = set()

    def __call__(self, name: str, meaning: str, unit: str, value: float, inertial: bool = False) -> Polynomial:
        """The letter of a number; inertial: a mass or a moment of inertia, in which equations are linear."""
        if not value or not self.letters:
            return Polynomial.constant(value)
        self.known[name] = Letter(name, meaning, unit, float(value))
        if inertial:
            self.inertial.add(name)
        return self.relations.get(name, Polynomial.letter(name))

    def vector(self, names: Any, meaning: str, values: Array) -> Objects:
        """Three lengths; the meaning has a place for the axis."""
        found = zip(names, AXES, values.tolist(), strict=True)
        return np.array([self(name, meaning.format(axis), "m", value) for name, axis, value in found], dtype=object)

    def related(self) -> dict[str, Letter]:
        """All letters that are left, with the robot's values: new ones from the relations, which must hold."""
        for name in self.relations:
            if name not in self.known:
                known = ", ".join(self.known)
                raise ArgumentError(f"relations: {name!r} is no letter of these equations: expected some of {known}")
        left = {name: letter for name, letter in self.known.items() if name not in self.relations}
        waiting = dict(self.relations)
        while waiting:
            name = next((one for one, p in waiting.items() if len(_letters(p) - set(left)) <= 1), "")
            if not name:
                unclear = ", ".join(sorted(set().union(*map(_letters, waiting.values())) - set(left)))
                raise ArgumentError(
                    f"relations: expected one relation that gives each new letter, found none: {unclear}"
                )
            self._relate(name, waiting.pop(name), left)
        return left

    def _relate(self, name: str, relation: Polynomial, left: dict[str, Letter]) -> None:
        """Adds the new letter of a relation, if there is one, and checks the relation on the robot's values."""
        given, values = self.known[name], {one: letter.value for one, letter in left.items()}
        for new in _letters(relation) - set(left):
            alone = relation == Polynomial.letter(new)
            values[new] = _solved(name, given.value, relation, new, values)
            meaning = given.meaning if alone else f"by its relation with {name}, {given.meaning}"
            left[new] = Letter(new, meaning, given.unit if alone else "", values[new])
            if alone and name in self.inertial:
                self.inertial.add(new)
        found = _evaluated(relation, values)
        if abs(found - given.value) > 1e-9 * max(abs(given.value), abs(found)):
            raise ArgumentError(
                f"relations: {name} of this robot is {given.value:.9g}, but its relation gives {found:.9g}: "
                "expected a relation that holds"
            )


def _letters(p: Polynomial) -> set[str]:
    return {x for letters, _ in p.terms for x in letters}


def _evaluated(p: Polynomial, values: Mapping[str, float]) -> float:
    return sum(k * float(np.prod([values[x] for x in letters])) for (letters, _), k in p.terms.items())


def _solved(name: str, value: float, relation: Polynomial, new: str, values: Mapping[str, float]) -> float:
    """The only positive root, or the only one, of relation = value."""
    by_power: dict[int, float] = {0: -value}
    for (letters, _), k in relation.terms.items():
        rest = [values[x] for x in letters if x != new]
        power = letters.count(new)
        by_power[power] = by_power.get(power, 0.0) + k * float(np.prod(rest))
    roots = np.roots([by_power.get(power, 0.0) for power in range(max(by_power), -1, -1)])
    real = [float(x.real) for x in roots if abs(x.imag) <= 1e-12 * abs(x)]
    chosen = [x for x in real if x > 0] if len(real) > 1 else real
    if len(chosen) != 1:
        raise ArgumentError(f"relations: expected that {name} gives one value of {new!r}, found {sorted(real)}")
    return chosen[0]


# ---------------------------------------------------------------------------------------------- rows


@dataclass(frozen=True, eq=False)
class Friction:
    """Friction of a motor that moves at the rate row . qd."""

    row: Array
    viscous: Polynomial
    plus: Polynomial
    minus: Polynomial


@dataclass(frozen=True, eq=False)
class Rows:
    """The links of a robot for texts by screws: a column of P for each, and what the texts do not read."""

    P: Objects  # (screw_rows.ROWS, n) of polynomials
    parents: tuple[int, ...]  # of each link: its parent's column, -1 for the base
    q: Objects  # (n,): the joints in terms of the coordinates
    G: Array  # (n, m): joints by coordinates
    lift: Polynomial  # potential energy of 1 kg at the base's origin
    armature: Objects  # (m, m): what rotors add to the mass matrix
    friction: tuple[Friction, ...]

    @property
    def depth(self) -> int:
        """The largest number of joints one after the other."""

        def below(i: int) -> int:
            return 0 if i < 0 else 1 + below(self.parents[i])

        return max(map(below, range(len(self.parents))))


@dataclass(frozen=True, eq=False)
class _Link:
    """A link on its joint: the rotation of the joint's tail; its centre of mass and its origin, from the joint."""

    turn: Array
    centre: Objects
    end: Objects


def rows(robot: Mechanism, alphabet: Alphabet) -> Rows:
    """The rows of a robot. Frames of the links are at their centres of mass, parallel to the links' own frames."""
    description = robot if isinstance(robot, Description) else robot.description
    nodes = description.nodes
    P = np.array([[Polynomial.constant(0.0)] * len(nodes) for _ in range(r.ROWS)], dtype=object)
    strength = float(np.linalg.norm(description.gravity))
    g = alphabet("g", "strength of gravity", "m/s^2", strength)
    down = description.gravity / strength if strength else np.zeros(3)
    P[r.GX : r.GZ + 1] = np.repeat(_tidy(description.mount[:3, :3].T @ down)[:, None] * g, len(nodes), axis=1)
    bodies = [_link(description, i, P, alphabet) for i in range(len(nodes))]
    for i, node in enumerate(nodes):
        _joint(node, i, P, bodies[i], bodies[node.parent] if node.parent >= 0 else None, alphabet)
    parents = tuple(node.parent for node in nodes)
    lift = g * -float(down @ description.mount[:3, 3])
    return Rows(P, parents, *_coordinates(description), lift, *_drives(description, alphabet))


def _link(description: Description, i: int, P: Objects, alphabet: Alphabet) -> _Link:
    """Writes a link's inertia."""
    joint, k = description.joints[i], i + 1
    tail, link = np.asarray(joint.tail), joint.child
    turn = _tidy(tail[:3, :3])
    mass, com, inertia = _body(description, i)
    P[r.MASS, i] = alphabet(f"m{k}", f"mass of {link}", "kg", mass, inertial=True)
    for row, (one, other) in SIX.items():
        name = AXES[one] + AXES[other]
        what = f"moment of inertia of {link} about its centre of mass, {name}"
        P[row, i] = alphabet(f"I{k}{name}", what, "kg m^2", inertia[one, other], inertial=True)
    place = _cleaned(turn.T @ tail[:3, 3] + com, float(np.abs(tail[:3, 3]).max() + np.abs(com).max()))
    what = f"centre of mass of {link} from {joint.name}, along {{}} of {link}"
    centre = alphabet.vector([f"{axis}{k}" for axis in AXES], what, place * bool(mass))
    what = f"from {joint.name} to the origin of {link}, along {{}} of the joint"
    return _Link(turn, centre, turn.T @ alphabet.vector([f"{name}{k}" for name in "abd"], what, tail[:3, 3]))


def _joint(node: Node, i: int, P: Objects, link: _Link, parent: _Link | None, alphabet: Alphabet) -> None:
    """Writes a joint's place and screw axis."""
    joint, k = node.joint, i + 1
    what = f"origin of {joint.name} on {joint.parent}, along {{}}"
    origin = alphabet.vector([f"p{k}{axis}" for axis in AXES], what, node.before[:3, 3])
    if parent is not None:
        origin = origin + parent.end - parent.centre
    home = _tidy(_tidy(node.before[:3, :3]) @ link.turn)  # the link's axes in those of the one before it
    P[r.RXX : r.RZZ + 1, i] = _constants(home.T.ravel())
    P[r.PX : r.PZ + 1, i] = -(home.T @ origin) - link.centre
    axis = _tidy(link.turn.T @ np.asarray(joint.axis))
    pitch = alphabet(f"h{k}", f"pitch of {joint.name}", "m/rad", joint.pitch)
    if joint.kind == "prismatic":
        P[r.VX : r.VZ + 1, i] = _constants(axis)
    else:
        P[r.WX : r.WZ + 1, i] = _constants(axis)
        P[r.VX : r.VZ + 1, i] = np.cross(axis, link.centre) + axis * pitch


def _constants(values: Array) -> list[Polynomial]:
    return [Polynomial.constant(x) for x in values]


def coordinates(robot: Mechanism) -> tuple[tuple[str, str], ...]:
    """The name and unit of each coordinate."""
    coupling = robot.coupling
    names = [joint.name for joint in robot.joints] if coupling is None else coupling.names
    kinds = [joint.kind for joint in robot.joints] if coupling is None else coupling.kinds(robot.joints)
    return tuple((name, "m" if kind == "prismatic" else "rad") for name, kind in zip(names, kinds, strict=True))


def _coordinates(description: Description) -> tuple[Objects, Array]:
    """The joints in terms of the coordinates, and G."""
    n, coupling = description.n, description.coupling
    G, offset = (np.eye(n), np.zeros(n)) if coupling is None else (coupling.G, coupling.offset)
    phi = np.array([Polynomial.letter(f"q{k + 1}") for k in range(G.shape[1])], dtype=object)
    q = np.array([Polynomial.constant(x) for x in offset], dtype=object)
    return q + G @ phi, G


def _drives(description: Description, alphabet: Alphabet) -> tuple[Objects, tuple[Friction, ...]]:
    """What rotors add to the mass matrix, and the friction of the motors of joints and of coordinates."""
    joints, coupling = description.joints, description.coupling
    G = np.eye(len(joints)) if coupling is None else coupling.G
    m = G.shape[1]
    found = [(G[i], joint.motor, str(i + 1), joint.name, joint.kind) for i, joint in enumerate(joints)]
    if coupling is not None:
        named = zip(np.eye(m), coupling.motors, coupling.names, coupling.kinds(joints), strict=True)
        found += [(row, motor, f"q{k + 1}", name, kind) for k, (row, motor, name, kind) in enumerate(named)]
    armature, friction = np.array([[Polynomial.constant(0.0)] * m for _ in range(m)], dtype=object), []
    for row, motor, k, name, kind in found:
        inertia, force, damping = ("kg", "N", "N s/m") if kind == "prismatic" else ("kg m^2", "N m", "N m s/rad")
        rotor = alphabet(f"J{k}", f"rotor inertia at {name}: gear^2 inertia", inertia, motor.armature, inertial=True)
        armature = armature + np.outer(row, row) * rotor
        viscous = alphabet(f"f{k}", f"viscous friction at {name}", damping, motor.joint_viscous)
        plus, minus = motor.joint_coulomb
        if plus == minus:
            both = alphabet(f"fc{k}", f"Coulomb friction at {name}", force, plus)
            friction.append(Friction(row, viscous, both, both))
        else:
            ahead = alphabet(f"fp{k}", f"Coulomb friction at {name}, moving forward", force, plus)
            back = alphabet(f"fm{k}", f"Coulomb friction at {name}, moving backward", force, minus)
            friction.append(Friction(row, viscous, ahead, back))
    return armature, tuple(friction)


def _body(description: Description, i: int) -> tuple[float, Array, Array]:
    """Mass, centre of mass and inertia about it of a moving link, with what is fixed to it."""
    link = description.links[i]
    carried = [each for each in description.all_links if description.place(each.name)[0] == i]
    if len(carried) == 1:
        inertia = np.asarray(link.inertia)
        return link.mass, np.asarray(link.com), _cleaned((inertia + inertia.T) / 2, float(np.abs(inertia).max()))
    moments = description.moments[i]
    mass, com, inertia = about_centre(moments)
    scale = float(np.trace(moments[:3, :3]))
    return mass, _cleaned(com, float(np.abs(com).max())), _cleaned(inertia, scale)


def _cleaned(values: Array, scale: float) -> Array:
    found: Array = np.where(np.abs(values) <= ROUNDING * scale, 0.0, values)
    return found


def _tidy(values: Any) -> Any:
    """Directions, with what rounding has left of zeros and ones made exact."""
    near = np.round(values)
    return np.where(np.abs(values - near) <= ROUNDING, near, values) + 0.0
