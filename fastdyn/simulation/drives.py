"""What drives a robot, for the compiled loop: motors, friction, stops, springs. One drive for each robot of a fleet."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fastdyn.arrays import real_numbers
from fastdyn.errors import ArgumentError, SingularMassMatrixError
from fastdyn.kernels import coupling as c
from fastdyn.kernels import rows as r
from fastdyn.kernels import simulation as s
from fastdyn.mechanism.parts import Array
from fastdyn.simulation.flexible import FlexibleJoints

SLIP = 1e-3  # rad/s or m/s: the least velocity at which Coulomb friction is full
STARTS = 64  # motions whose starts tell the inertias at the joints


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


def drive(robot: Any, q0: Array, given: Options) -> Drive:
    """The drive of a robot; q0: where it starts, (T, n)."""
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
    inertia = armature + h * viscous
    if given.flexible is not None:
        if robot.coupling is not None:
            raise ArgumentError("flexible: expected a robot without coupled joints")
        if (armature <= 0).any():
            names = [robot.joints[j].name for j in np.flatnonzero(armature <= 0)]
            raise ArgumentError(f"flexible: expected motors with inertia at all joints, found none at {names}")
        k, d, S[s.ARM_VISCOUS] = given.flexible.arrays(n)
        rotor, soft = inertia, h * (h * k + d)
        S[s.SPRING], S[s.DAMPER] = k, d
        S[s.BACK], S[s.PER_ROTOR] = soft / (rotor + soft), 1 / (rotor + soft)
        springs = Springs(k, armature)
        inertia = soft * rotor / (rotor + soft)
    table[list(places), : len(order)] = 0.0
    table[places[0], : len(order)] = inertia[order]
    least = _inertias(robot if springs is None else robot.without_motors(), q0)
    most = np.maximum(np.abs(plus), np.abs(minus))
    # the velocity at which friction is full: one that friction alone stops within a step
    slip = np.maximum(SLIP, dt * most / least) if given.slip is None else _each(given.slip, n, "slip")
    S[s.PER_SLIP] = 1 / slip
    if given.stops:
        S[s.LOW], S[s.HIGH] = robot.limits.position.T
        rate = 0.2 / dt  # rad/s: as stiff as explicit steps allow
        S[s.STOP_K], S[s.STOP_D] = least * rate**2, 1.4 * least * rate
    return Drive(constants, S, springs)


def _inertias(robot: Any, q0: Array) -> Array:
    """(n,): the least inertia that a torque at each joint meets, all others being free to move."""
    M = robot.mass_matrix(q0[:STARTS])
    try:
        found: Array = (1 / np.diagonal(np.linalg.inv(M), axis1=-2, axis2=-1)).min(axis=0)
    except np.linalg.LinAlgError:
        raise SingularMassMatrixError(f"{robot.name} has a singular mass matrix at q0") from None
    return np.maximum(found, np.finfo(float).tiny)


def _each(value: ArrayLike, n: int, name: str) -> Array:
    """Numbers above zero, (n,), from one or n of them."""
    array = real_numbers(value, name)
    if array.shape not in ((), (n,)) or not (array > 0).all():
        raise ArgumentError(f"{name} is {value!r}: expected one number above zero, or {n}")
    return np.broadcast_to(array, (n,)).astype(np.float64)
