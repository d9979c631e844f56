"""The classic formulations on a Robot: torques, and the terms that each formulation has.

>>> import fastdyn as fd
>>> from fastdyn.study import formulations
>>> arm = fd.robots.two_link(m1=1.0, m2=1.0, length=1.0, g=10.0)
>>> formulations.inverse_dynamics(arm, [0, 0], [0, 0], [0, 0], "lagrange_euler").round(12)
array([20.,  5.])
>>> formulations.terms(arm, [0, 0], [1, 0], [0, 0], "generalized_dalembert").D.round(6)
array([[2.666667, 0.833333],
       [0.833333, 0.333333]])

Links only: rotors and friction belong to the drives, and are left out (chains.without_motors gives the same robot for
comparison). The library's own algorithms are Robot.inverse_dynamics (recursive Newton-Euler in canonical frames),
Robot.mass_matrix (composite rigid bodies) and Robot.forward_dynamics (articulated bodies).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike

from fastdyn.calls import api
from fastdyn.errors import FormulationError, NotFiniteError
from fastdyn.formulations import (
    christoffel,
    entries,
    generalized_dalembert,
    kane,
    kane_rrt,
    lagrange_euler,
    newton_euler_base,
    newton_euler_frugal,
    newton_euler_link,
    probing,
    recursive_lagrange,
    screws,
)
from fastdyn.mechanism.chains import Chain, dh_chain, screw_chain
from fastdyn.mechanism.parts import Array
from fastdyn.robot import Robot

VECTOR, MATRIX, TENSOR = 1, 2, 3  # axes of a result


@dataclass(frozen=True, eq=False)
class Call:
    """An entry point and all that it takes, scratch last; its results among them, (T, columns) each, also by name."""

    entry: Any
    arguments: tuple[Any, ...]
    results: Mapping[str, Array]

    def __call__(self) -> int:
        """Computes the results; a status as the entry point returns it."""
        return int(self.entry(*self.arguments))


@dataclass(frozen=True, eq=False)
class Formulation:
    """How a formulation is run: its entry point, what it gives, and the rows of scratch it needs."""

    name: str
    source: str
    entry: Any
    results: Mapping[str, int]  # name and number of axes, in the order of the entry's arguments
    rows: Callable[[int], int]
    chain: Callable[[Robot], Chain] = dh_chain
    rotary_only: bool = False
    takes_load: bool = False


@dataclass(frozen=True, eq=False)
class Terms:
    """tau = D qdd + h + c, as far as the formulation has these; what else it has stands in `details`.

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


def _rows(work_rows: Callable[[int], int], results: Mapping[str, int], more: int = 0) -> Callable[[int], int]:
    """q, qd, qdd, the results, `more` rows, and the work of the text."""
    return lambda n: 3 * n + sum(n**axes for axes in results.values()) + more + work_rows(n)


_DHC = {"tau": VECTOR, "D": MATRIX, "h": VECTOR, "c": VECTOR}
_TAU = {"tau": VECTOR}
_LAGRANGE = {**_DHC, "h_ikm": TENSOR}
_DALEMBERT = {"tau": VECTOR, "D_tran": MATRIX, "D_rot": MATRIX, "h_tran": VECTOR, "h_rot": VECTOR, "c": VECTOR}
_CHRISTOFFEL = {"tau": VECTOR, "D": MATRIX, "C": MATRIX, "c": VECTOR, "c_ijp": TENSOR}
_KANE = {"tau": VECTOR, "K": VECTOR, "Q": VECTOR}
FORMULATIONS: dict[str, Formulation] = {
    f.name: f
    for f in (
        Formulation(
            "lagrange_euler", "000, eqs. (3.2-24) to (3.2-34)", entries.run_lagrange_euler,
            _LAGRANGE, _rows(lagrange_euler.lagrange_euler_rows, _LAGRANGE),
        ),
        Formulation(
            "recursive_lagrange", "Hollerbach 1980, with 4x4 matrices", entries.run_recursive_lagrange,
            _TAU, _rows(recursive_lagrange.work_rows, _TAU),
        ),
        Formulation(
            "newton_euler_base", "000, Table 3.2", entries.run_newton_euler_base,
            _TAU, _rows(newton_euler_base.work_rows, _TAU),
        ),
        Formulation(
            "newton_euler_link", "000, Table 3.3", entries.run_newton_euler_link,
            _TAU, _rows(newton_euler_link.work_rows, _TAU, more=6), takes_load=True,
        ),
        Formulation(
            "newton_euler_frugal", "000, Table 3.4", entries.run_newton_euler_frugal,
            _TAU, _rows(newton_euler_frugal.work_rows, _TAU),
        ),
        Formulation("probing", "000, problem 3.11", entries.run_probing, _DHC, _rows(probing.work_rows, _DHC)),
        Formulation(
            "generalized_dalembert", "000, eqs. (3.4-24) to (3.4-28)", entries.run_generalized_dalembert,
            _DALEMBERT, _rows(generalized_dalembert.work_rows, _DALEMBERT), rotary_only=True,
        ),
        Formulation(
            "christoffel", "001, Algorithm 2", entries.run_christoffel,
            _CHRISTOFFEL, _rows(christoffel.work_rows, _CHRISTOFFEL),
        ),
        Formulation("kane", "003", entries.run_kane, _KANE, _rows(kane.work_rows, _KANE)),
        Formulation(
            "screws", "002, the recursion", entries.run_screws, _TAU, _rows(screws.screws_rows, _TAU), screw_chain
        ),
        Formulation(
            "stacked_screws", "002, the closed form", entries.run_stacked_screws,
            _DHC, _rows(screws.stacked_screws_rows, _DHC), screw_chain,
        ),
    )
}  # fmt: skip


def inverse_dynamics(
    robot: Robot,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    formulation: str = "newton_euler_link",
    load: ArrayLike | None = None,
) -> Array:
    """The joint torques of a motion by the formulation named, (..., n). Arguments as for Robot.inverse_dynamics.

    load: for newton_euler_link only, (..., 6): force and moment f_{n+1}, n_{n+1} that the hand exerts on an object, at
    the origin and along the axes of frame n.
    """
    return terms(robot, q, qd, qdd, formulation, load).tau


def terms(
    robot: Robot,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    formulation: str,
    load: ArrayLike | None = None,
) -> Terms:
    """The torques of a motion and the terms they are made of. Arguments as for inverse_dynamics."""
    how = find(formulation)
    chain = _chain(robot, how)
    if how.rotary_only and not chain.rotary:
        (first, *_) = (robot.joints[i].name for i in chain.order if robot.joints[i].kind == "prismatic")
        raise FormulationError(
            f"{formulation} is for rotary joints only, but joint {first!r} of {robot.name} is prismatic: "
            f"use one of {', '.join(f.name for f in FORMULATIONS.values() if not f.rotary_only)}"
        )
    if load is not None and not how.takes_load:
        raise FormulationError(f"{formulation} takes no load: use 'newton_euler_link'")
    given: dict[str, ArrayLike | None] = {"q": q, "qd": qd, "qdd": qdd}
    if how.takes_load:
        given["load"] = load
    return _terms(how, _run(how, chain, given))


_CHAINS: WeakKeyDictionary[Robot, dict[Any, Chain]] = WeakKeyDictionary()


def _chain(robot: Robot, how: Formulation) -> Chain:
    """The flat arrays that a formulation reads, made once for each robot."""
    known = _CHAINS.setdefault(robot, {})
    if how.chain not in known:
        known[how.chain] = how.chain(robot)
    return known[how.chain]


def find(formulation: str) -> Formulation:
    """The formulation of that name."""
    if formulation not in FORMULATIONS:
        raise FormulationError(f"formulation is {formulation!r}: expected one of {', '.join(FORMULATIONS)}")
    return FORMULATIONS[formulation]


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
    """T_01x, T_12y and F_23z of the RRT arm, by Kane's equations as 003 works them out. Figures as in robots.rrt.

    >>> kane_rrt_torques([0, 0, 0], [0, 0, 0], [0, 0, 0], g=10.0).round(9)
    array([  0., 700.,   0.])
    """
    P = np.array([[L1], [L2], [m1], [m2], [m3], *([moment] for moment in I3), [g]], order="F")
    chain = Chain("rrt", P, np.zeros((1, 1), dtype=np.int64), np.arange(3))
    how = Formulation("kane_rrt", "003", entries.run_kane_rrt, _TAU, _rows(kane_rrt.work_rows, _TAU))
    return _run(how, chain, {"q": q, "qd": qd, "qdd": qdd}, 3)["tau"]


def _run(
    how: Formulation, chain: Chain, given: Mapping[str, ArrayLike | None], n: int | None = None
) -> dict[str, Array]:
    """Calls the entry point: shapes, order of joints, scratch."""
    n = chain.n if n is None else n
    cores = {name: (6,) if name == "load" else (n,) for name in given}
    arrays, lead = api.read({name: v for name, v in given.items() if v is not None}, cores, chain.name)
    count, place = math.prod(lead), chain.order
    samples = [
        _samples(arrays[name], lead, place if name != "load" else None) if name in arrays else api.NONE
        for name in given
    ]
    call = prepare(how, chain, samples, lanes=lead != (), n=n)
    if count and n and call():
        api.check_finite(arrays)
        raise NotFiniteError(f"a result of {how.name} for {chain.name} is beyond the range of float64")
    return {
        name: _ordered(call.results[name].reshape(*lead, *[n] * axes), axes, place)
        for name, axes in how.results.items()
    }


def prepare(how: Formulation, chain: Chain, samples: Sequence[Array], lanes: bool, n: int | None = None) -> Call:
    """A formulation ready to be run as often as wanted: nothing is checked or allocated then.

    samples: what the entry point reads, (T, columns) each, C-ordered, joints in the order of the chain. lanes: whether
    many samples run at once, or one after the other.
    """
    n = chain.n if n is None else n
    results = {name: np.empty((len(samples[0]), n**axes)) for name, axes in how.results.items()}
    scratch = api.lane_rows(how.rows(n)) if lanes else np.empty(how.rows(n))
    return Call(how.entry, (chain.P, chain.T, *samples, *results.values(), scratch), results)


def _samples(array: Array, lead: tuple[int, ...], place: Any) -> Array:
    """(T, columns), C-ordered, in the order of the chain."""
    flat = np.broadcast_to(array, lead + array.shape[-1:]).reshape(-1, array.shape[-1])
    return np.ascontiguousarray(flat if place is None else flat[:, place])


def _ordered(result: Array, axes: int, place: Any) -> Array:
    """In the user's order of joints."""
    back = np.argsort(place)
    for axis in range(-axes, 0):
        result = np.take(result, back, axis=axis)
    return result


def _terms(how: Formulation, found: dict[str, Array]) -> Terms:
    """D, h and c, those that can be had from what a formulation gives, and the rest as details."""
    known = {name: found.pop(name) for name in ("tau", "D", "h", "c") if name in found}
    if "D_tran" in found:
        known["D"], known["h"] = found["D_tran"] + found["D_rot"], found["h_tran"] + found["h_rot"]
    if "Q" in found:
        known["c"] = -found["Q"]
    return Terms(how.name, **known, details=found)
