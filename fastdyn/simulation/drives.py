"""What drives a robot, for the compiled loop: motors, friction, stops, springs. One drive for each robot of a fleet."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike

from fastdyn.arrays import real_numbers
from fastdyn.errors import ArgumentError, ArgumentTypeError, SingularMassMatrixError
from fastdyn.kernels import coupling as c
from fastdyn.kernels import rows as r
from fastdyn.kernels import simulation as s
from fastdyn.mechanism.parts import Array
from fastdyn.simulation.flexible import FlexibleJoints

SLIP = 1e-3  # rad/s or m/s: the least velocity at which Coulomb friction is full
POSTURES = 256  # random ones within the limits, which tell the least inertia at each joint
PACE = 0.25  # natural frequency of a stop times the step: stable if coupled joints multiply 1 / inertia by up to five

_LEAST: WeakKeyDictionary[Any, dict[bool, Array]] = WeakKeyDictionary()  # robots do not change


class Springs(NamedTuple):
    """What energies of flexible joints need."""

    stiffness: Array
    rotors: Array


@dataclass(frozen=True)
class Options:
    """What was asked for. implicit: whether springs and viscous friction act at the end of a step."""

    dt: float
    implicit: bool
    torque_limits: bool | ArrayLike
    stops: bool
    slip: ArrayLike | None
    flexible: FlexibleJoints | None


class Drive(NamedTuple):
    """constants: P, tree (G, pattern), without what the settings S hold; springs: of flexible joints."""

    constants: tuple[Any, ...]
    S: Array
    springs: Springs | None

    @property
    def rough(self) -> bool:
        """Whether there is friction or a stop."""
        return bool((self.S[[s.VISCOUS, s.PLUS, s.MINUS, s.STOP_K]] != 0).any())


def drive(robot: Any, given: Options) -> Drive:
    """The drive of a robot."""
    n, dt = robot.n, given.dt
    constants = tuple(np.array(a, order="F" if a.flags.f_contiguous else "C") for a in robot.parameters.constants)
    P, tree = constants[:2]
    if robot.coupling is None:
        table, order = P, tree[r.INDEX]
        places = r.ARMATURE, r.VISCOUS, r.PLUS, r.MINUS
        tree[r.KIND] &= ~r.RUBS
    else:  # friction of the joints' own motors stays where it is: it is not one of coordinates
        table, order = constants[2], np.arange(n)
        places = c.ARMATURE, c.VISCOUS, c.PLUS, c.MINUS
    armature, viscous, plus, minus = (np.zeros(n) for _ in range(4))
    for place, values in zip(places, (armature, viscous, plus, minus), strict=True):
        values[order] = table[place, : len(order)]
    S = np.zeros((s.SETTINGS, n), order="F")
    S[s.STEP, 0], S[s.IMPLICIT_STEP, 0] = dt, dt * given.implicit
    S[s.VISCOUS], S[s.PLUS], S[s.MINUS] = viscous, plus, minus
    S[s.EFFORT], S[s.LOW], S[s.HIGH] = math.inf, -math.inf, math.inf
    if not isinstance(given.torque_limits, bool | np.bool_):
        S[s.EFFORT] = _each(given.torque_limits, n, "torque_limits")
    elif given.torque_limits:
        S[s.EFFORT] = robot.limits.effort
    springs, h = None, dt * given.implicit
    rotor = inertia = armature + h * viscous
    if given.flexible is not None:
        k, d, f = _springs(robot, given.flexible, armature)
        soft = h * (h * k + d)
        S[s.SPRING], S[s.DAMPER], S[s.ARM_VISCOUS] = k, d, f
        S[s.BACK], S[s.PER_ROTOR] = soft / (rotor + soft), 1 / (rotor + soft)
        springs = Springs(k, armature)
        inertia = soft * rotor / (rotor + soft) + h * f
    table[list(places), : len(order)] = 0.0
    table[places[0], : len(order)] = inertia[order]
    rubs = np.maximum(np.abs(plus), np.abs(minus))
    if given.slip is None:  # the velocity at which friction is full: one that friction alone stops within a step
        felt = rotor if springs is not None else least_inertias(robot) if rubs.any() else np.ones(n)
        slip = np.maximum(SLIP, dt * rubs / felt)
    else:
        slip = _each(given.slip, n, "slip")
    S[s.PER_SLIP] = 1 / slip
    if given.stops:
        S[s.LOW], S[s.HIGH] = robot.limits.position.T
        S[s.STOP_K], S[s.STOP_D] = _stop(least_inertias(robot, springs is not None), dt)
        if springs is not None:
            S[s.MOTOR_STOP_K], S[s.MOTOR_STOP_D] = _stop(rotor, dt)
    return Drive(constants, S, springs)


def _springs(robot: Any, flexible: Any, armature: Array) -> tuple[Array, Array, Array]:
    """Stiffness, damping and friction of the arm, (n,) each."""
    if not isinstance(flexible, FlexibleJoints):
        raise ArgumentTypeError(f"flexible is a {type(flexible).__name__}: expected simulation.FlexibleJoints or None")
    if robot.coupling is not None:
        raise ArgumentError("flexible: expected a robot without coupled joints")
    if (armature <= 0).any():
        names = [robot.joints[j].name for j in np.flatnonzero(armature <= 0)]
        raise ArgumentError(f"flexible: expected motors with inertia at all joints, found none at {names}")
    return flexible.arrays(robot.n)


def _stop(inertia: Array, dt: float) -> tuple[Array, Array]:
    """Stiffness and damping of stops for these inertias, as stiff as explicit steps allow with a margin."""
    rate = PACE / dt
    return inertia * rate**2, 1.4 * inertia * rate


def least_inertias(robot: Any, without_motors: bool = False) -> Array:
    """(n,): the least inertia that a torque at each coordinate meets, all others being free to move.

    Of postures within the limits of positions; where there is none, within half a turn, or 1 m, of zero. A property of
    the robot, so that a motion does not depend on those beside it.

    >>> import fastdyn as fd
    >>> least_inertias(fd.robots.two_link()).round(2)
    array([0.58, 0.07])
    """
    known = _LEAST.setdefault(robot, {})
    if without_motors not in known:
        low, high = robot.limits.position.T
        kinds = [j.kind for j in robot.joints] if robot.coupling is None else robot.coupling.kinds(robot.joints)
        span = np.where([kind == "prismatic" for kind in kinds], 1.0, math.pi)
        bounded = np.isfinite(high - low)
        low, high = np.where(bounded, low, -span), np.where(bounded, high, span)
        q = np.random.default_rng(0).uniform(low, high, (POSTURES, robot.n))
        try:
            M = (robot.without_motors() if without_motors else robot).mass_matrix(q)
            found = (1 / np.diagonal(np.linalg.inv(M), axis1=-2, axis2=-1)).min(axis=0)
        except np.linalg.LinAlgError:
            found = np.zeros(robot.n)
        if not (found > 0).all():
            raise SingularMassMatrixError(f"{robot.name} has a singular mass matrix: friction and stops need inertias")
        known[without_motors] = found
    return known[without_motors]


def _each(value: ArrayLike, n: int, name: str) -> Array:
    """Numbers above zero, (n,), from one or n of them."""
    array = real_numbers(value, name)
    if array.shape not in ((), (n,)) or not (array > 0).all():
        raise ArgumentError(f"{name} is {value!r}: expected one number above zero, or {n}")
    return np.broadcast_to(array, (n,)).astype(np.float64)
