"""The classic formulations on a Robot: torques, and the terms that each formulation has.

>>> import fastdyn as fd
>>> from fastdyn.study import formulations
>>> arm = fd.robots.two_link(m1=1.0, m2=1.0, length=1.0, g=10.0)
>>> formulations.inverse_dynamics(arm, [0, 0], [0, 0], [0, 0], "lagrange_euler").round(12)
array([20.,  5.])
>>> formulations.terms(arm, [0, 0], [1, 0], [0, 0], "generalized_dalembert").D.round(6)
array([[2.666667, 0.833333],
       [0.833333, 0.333333]])

Links only: rotors and friction belong to the drives, and are left out (robot.without_motors() gives the same robot for
comparison). The library's own algorithms are Robot.inverse_dynamics (recursive Newton-Euler in canonical frames),
Robot.mass_matrix (composite rigid bodies) and Robot.forward_dynamics (articulated bodies).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike

from fastdyn.calls.arguments import check_finite, read
from fastdyn.calls.parameters import Parameters
from fastdyn.calls.task import Task
from fastdyn.errors import FormulationError
from fastdyn.mechanism.chains import Chain, dh_chain, screw_chain
from fastdyn.mechanism.description import HasDescription
from fastdyn.mechanism.parts import Array
from fastdyn.quantities import Quantity
from fastdyn.study.rows import DH, KANE_RRT, LAGRANGIAN, SCREWS
from fastdyn.study.rows import FORMULATIONS as FORMULATIONS

LAYOUTS = {DH: dh_chain, SCREWS: screw_chain}  # by layout: what makes the arrays that texts read


@dataclass(frozen=True, eq=False)
class Terms:
    """tau = D qdd + h + c, as far as the formulation has these; what else it has stands in `details`.

    A load and a base that moves add to tau alone.

    tau, h, c: (..., n); D: (..., n, n). details: h_ikm of Lagrange-Euler, (..., n, n, n), felt at joint i; D_tran,
    D_rot, h_tran and h_rot of generalized d'Alembert; C and the symbols c_ijp by Christoffel; K and Q of Kane, the
    generalized inertia forces and gravity's share of the generalized active forces.
    """

    formulation: str
    tau: Array
    D: Array | None = None
    h: Array | None = None
    c: Array | None = None
    details: Mapping[str, Array] = field(default_factory=dict)


def inverse_dynamics(
    robot: HasDescription,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    formulation: str = "newton_euler_link",
    load: ArrayLike | None = None,
    base_twist: ArrayLike | None = None,
    base_rate: ArrayLike | None = None,
) -> Array:
    """The joint torques of a motion by the formulation named, (..., n). Arguments as for Robot.inverse_dynamics.

    load: for newton_euler_link and by screws, (..., 6): force and moment that the hand exerts on an object, at the
    origin and along the axes of the last link's own frame (of a standard D-H table: f_{n+1} and n_{n+1} in frame n).
    base_twist, base_rate: by screws, (..., 6): linear and angular velocity of a base that moves, and their rates of
    change, at the origin and along the axes of the base's own frame (so that the origin accelerates at v' + w x v);
    the robot's gravity is that of the base as it stands.

    >>> import fastdyn as fd
    >>> arm = fd.robots.two_link(m1=1.0, m2=1.0, length=1.0, g=10.0)
    >>> still = np.zeros((3, 2))
    >>> inverse_dynamics(arm, *still, "screws", load=[0, -1, 0, 0, 0, 0]).round(12)  # presses down with 1 N
    array([18.,  4.])
    >>> inverse_dynamics(arm, *still, "screws", base_rate=[0, -10, 0, 0, 0, 0]).round(12) + 0.0  # falls freely
    array([0., 0.])
    """
    return terms(robot, q, qd, qdd, formulation, load, base_twist, base_rate).tau


def terms(
    robot: HasDescription,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    formulation: str,
    load: ArrayLike | None = None,
    base_twist: ArrayLike | None = None,
    base_rate: ArrayLike | None = None,
) -> Terms:
    """The torques of a motion and the terms they are made of. Arguments as for inverse_dynamics."""
    row = find(formulation)
    chain, task = _prepared(robot, row)
    more = {"load": load, "base_twist": base_twist, "base_rate": base_rate}
    given = {"q": q, "qd": qd, "qdd": qdd, **_optional(row, {k: x for k, x in more.items() if x is not None})}
    arrays, _ = read(given, task.inputs, chain.name, task.units)
    if "load" in arrays:
        check_finite({"load": arrays["load"]})
        arrays["load"] = _moved(arrays["load"], chain.hand)
    results = task(tuple(array if name in more else array[..., chain.order] for name, array in arrays.items()))
    found = {}
    for one, result in zip(row.gives, results if task.several else (results,), strict=True):
        for axis in range(-len(one.shape), 0):
            result = np.take(result, np.argsort(chain.order), axis=axis)
        found[one.name] = result
    return _terms(row, found)


def _optional(row: Quantity, given: dict[str, ArrayLike]) -> dict[str, ArrayLike]:
    """All optional inputs of a formulation, zeros for those that are not given; none if none is."""
    for name in given:
        if name not in (field.name for field in row.optional):
            able = [f.name for f in FORMULATIONS.values() if name in (field.name for field in f.optional)]
            raise FormulationError(f"{row.name} takes no {name}: use one of {', '.join(able)}")
    return {field.name: given.get(field.name, np.zeros(field.core(0))) for field in row.optional} if given else {}


def _moved(wrench: Array, T: Array) -> Array:
    """The same wrench in the frame with pose T."""
    f, m = wrench[..., :3], wrench[..., 3:]
    return np.concatenate([f @ T[:3, :3], (m - np.cross(T[:3, 3], f)) @ T[:3, :3]], axis=-1)


_PREPARED: WeakKeyDictionary[Any, dict[str, tuple[Chain, Task]]] = WeakKeyDictionary()


def _prepared(robot: HasDescription, row: Quantity) -> tuple[Chain, Task]:
    """A robot's arrays in the layout of a formulation, and its calls: made once for each robot."""
    known = _PREPARED.setdefault(robot, {})
    if row.name not in known:
        same = (chain for chain, task in known.values() if task.quantity.layout == row.layout)
        chain = chain_of(robot, row, next(same, None))
        known[row.name] = chain, Task(parameters(chain), row)
    return known[row.name]


def chain_of(robot: HasDescription, row: Quantity, known: Chain | None = None) -> Chain:
    """A robot's arrays in the layout of a formulation; raises if the formulation cannot have the robot's joints."""
    chain = known or LAYOUTS[row.layout](robot)
    if row.rotary_only and not chain.rotary:
        (first, *_) = (robot.joints[i].name for i in chain.order if robot.joints[i].kind == "prismatic")
        raise FormulationError(
            f"{row.name} is for rotary joints only, but joint {first!r} of {robot.name} is prismatic: "
            f"use one of {', '.join(f.name for f in FORMULATIONS.values() if not f.rotary_only)}"
        )
    return chain


def parameters(chain: Chain) -> Parameters:
    """What compiled code reads of a chain."""
    return Parameters(chain.name, (chain.P, chain.kinds), chain.n)


def find(formulation: str) -> Quantity:
    """The row of the formulation of that name."""
    if formulation not in FORMULATIONS:
        raise FormulationError(f"formulation is {formulation!r}: expected one of {', '.join(FORMULATIONS)}")
    return FORMULATIONS[formulation]


@dataclass(frozen=True, eq=False)
class Energies:
    """Kinetic and potential energy of the links, each (...), J."""

    kinetic: Array
    potential: Array

    @property
    def lagrangian(self) -> Array:
        """L = K - P. (3.2-23)"""
        return self.kinetic - self.potential


def energies(robot: HasDescription, q: ArrayLike, qd: ArrayLike) -> Energies:
    """K and P of a chain by 4x4 matrices, as the Lagrange-Euler formulation begins: (3.2-20) and (3.2-22).

    The potential energy is zero at the origin of frame 0: the base's, if the robot was described by a D-H table. The
    library's own are Robot.kinetic_energy, with rotors, and Robot.potential_energy, zero at the world's origin.

    >>> import fastdyn as fd
    >>> found = energies(fd.robots.two_link(m1=1.0, m2=1.0, length=1.0, g=10.0), [np.pi / 2, 0.0], [1.0, 0.0])
    >>> float(found.kinetic.round(6)), float(found.potential.round(6)), float(found.lagrangian.round(6))
    (1.333333, 20.0, -18.666667)
    """
    chain, task = _prepared(robot, LAGRANGIAN)
    arrays, _ = read({"q": q, "qd": qd}, task.inputs, chain.name)
    return Energies(*task(tuple(array[..., chain.order] for array in arrays.values())))


def kane_rrt_torques(
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    L1: float = 0.4,
    L2: float = 0.7,
    m1: float = 90.0,
    m2: float = 60.0,
    m3: float = 40.0,
    I3: tuple[float, float, float] = (5.0, 4.0, 1.0),
    g: float = 9.81,
) -> Array:
    """T_01x, T_12y and F_23z of the RRT arm, by Kane's equations as the worked example derives them.

    "RRT Robot: Lagrange and Kane equations of motion"; figures as in robots.rrt.

    >>> kane_rrt_torques([0, 0, 0], [0, 0, 0], [0, 0, 0], g=10.0).round(9)
    array([  0., 700.,   0.])
    """
    P = np.array([[L1], [L2], [m1], [m2], [m3], *([moment] for moment in I3), [g]], order="F")
    task = Task(Parameters("rrt", (P, np.zeros((1, 1), dtype=np.int64)), 3), KANE_RRT)
    tau: Array = task((q, qd, qdd))
    return tau


def _terms(row: Quantity, found: dict[str, Array]) -> Terms:
    """D, h and c, those that can be had from what a formulation gives, and the rest as details."""
    known = {name: found.pop(name) for name in ("tau", "D", "h", "c") if name in found}
    if "D_tran" in found:
        known["D"], known["h"] = found["D_tran"] + found["D_rot"], found["h_tran"] + found["h_rot"]
    if "Q" in found:
        known["c"] = -found["Q"]
    return Terms(row.name, **known, details=found)
