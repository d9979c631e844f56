"""The costs of every formulation, of probing, and of the library's own kernels."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from fastdyn.formulations import links, probing
from fastdyn.mechanism.parts import Array
from fastdyn.quantities import QUANTITIES, Field, Quantity
from fastdyn.robots import random_chain
from fastdyn.study.counts.costs import NOTHING, Cost, Probing, Text, summed
from fastdyn.study.counts.counting import SIZES, Rows, by_stage, dh_arm, screw_arm, whole
from fastdyn.study.rows import DH, FORMULATIONS, SCREWS, SIMPLIFIED

_STAGES = {"inverse_dynamics": "outward inward", "forward_dynamics": "inward outward"}
_LAGRANGE = (
    "link_matrices frame_products gravity_term gravity_loading inertia_trace inertia_coefficients inertia_torque"
)
_CORIOLIS = "coriolis_trace coriolis_coefficients velocity_torque torques"
_NEWTON = (
    "geometry angular_velocity angular_acceleration axis_rate linear_acceleration centre_acceleration link_force "
    "joint_force link_moment joint_moment joint_torque"
)
# by formulation: what it is, and the functions whose operations are counted apart
_FORMULATIONS = {
    "lagrange_euler": ("(3.2-24) to (3.2-34)", f"{_LAGRANGE} {_CORIOLIS}"),
    "lagrange_euler_table": ("Table 3.1", f"{_LAGRANGE} {_CORIOLIS}"),
    "simplified": ("D qdd + c, without h, problem 3.10", _LAGRANGE),
    "recursive_lagrange": ("Hollerbach, 4x4 matrices", "outward inward"),
    "newton_euler_base": ("Table 3.2", "geometry forward backward"),
    "newton_euler_link": ("Table 3.3", _NEWTON),
    "newton_euler_frugal": ("Table 3.4", _NEWTON),
    "probing": ("problem 3.11", "geometry gravity_by_probing velocity_by_probing inertia_by_probing"),
    "generalized_dalembert": (
        "(3.4-24) to (3.4-28), each sum computed once",
        "geometry own_axes turned_axes sweeps rotational_inertia translational_inertia base_velocities "
        "centre_accelerations translational_velocity_torques own_velocities rotational_velocity_torques "
        "gravity_torques torques",
    ),
    "generalized_dalembert_literal": (
        "(3.4-24) to (3.4-28), every sum where it is printed",
        "geometry rotational_inertia translational_inertia translational_velocity_torque rotational_velocity_torque "
        "gravity_torques torques",
    ),
    "generalized_dalembert_nearest": (
        "(3.4-24) to (3.4-28), the procedure nearest to Table 3.5",
        "geometry lower_axes turned_axes arms_and_sweeps rotational_inertia translational_inertia base_velocities "
        "translational_velocity_torques own_velocities rotational_velocity_torques gravity_torques torques",
    ),
    "christoffel": (
        "Norrlöf, Algorithm 2",
        "body_jacobian inertia_and_gravity partials christoffel_symbols coriolis_matrix torques",
    ),
    "kane": ("RRT Robot: Lagrange and Kane equations", "partial_velocities inertia_forces"),
    "screws": ("Fakhari, the recursion", "placements"),
    "stacked_screws": ("Fakhari, the closed form", "placements inverse closed_form mass_matrix"),
}
_ARMS = {DH: dh_arm, SCREWS: screw_arm}
# high degrees: counted up to three joints more than they need
_UP_TO = {"lagrange_euler": 8, "lagrange_euler_table": 8, "generalized_dalembert_literal": 9}


@cache
def formulation(name: str) -> Text:
    """The text of one formulation for n rotary joints, without a load: all operations, by stage."""
    row = SIMPLIFIED if name == SIMPLIFIED.name else FORMULATIONS[name]
    what, stages = _FORMULATIONS[name]
    rows: dict[str, Rows] = {**{field.name: lambda n: 0 for field in row.optional}, "work": row.rows}
    sizes = SIZES[: _UP_TO.get(name)]
    found = by_stage(row.text, sys.modules[row.text.__module__], stages, rows, _ARMS[row.layout], sizes)
    return _text(name, what, found)


def formulations() -> tuple[Text, ...]:
    """Every formulation, and Lagrange-Euler without velocity terms."""
    return tuple(formulation(name) for name in _FORMULATIONS)


def _text(name: str, what: str, stages: Mapping[str, Cost]) -> Text:
    return Text(name, what, summed(stages.values()), {k: v for k, v in stages.items() if k or v != NOTHING})


@cache
def probing_counts() -> Probing:
    """The counts of problem 3.12; rotations and p* are computed once and not counted here."""

    def run(P: Any, kinds: Any, qd: Any, qdd: Any, tau: Any, work: Any) -> None:
        probing.run(P, kinds, qd, qdd, tau, work, 0, links.base_acceleration(P, work))

    def columns(P: Any, kinds: Any, D: Any, work: Any) -> None:
        probing.inertia_by_probing(P, kinds, D, work, False)

    def lower(P: Any, kinds: Any, D: Any, work: Any) -> None:
        probing.inertia_by_probing(P, kinds, D, work, True)

    return Probing(*(whole(text, {"work": probing.work_rows}) for text in (run, columns, lower)))


def _size(field: Field) -> Rows:
    return lambda n: math.prod(field.core(n))


@cache
def kernels() -> tuple[Text, ...]:
    """The library's own texts, one for each quantity, on a chain of rotary joints with rotors and no wrenches.

    Those of a frame: of the last link's, along the base's axes.
    """

    def model(joints: int) -> tuple[Array, Any]:
        found = random_chain(joints).model.with_frame(joints - 1, np.eye(4), local=False)
        return found.P, found.tree

    def text(quantity: Quantity) -> Text:
        module = sys.modules[quantity.text.__module__]
        rows: dict[str, Rows] = {field.name: _size(field) for field in quantity.reads + quantity.gives}
        rows |= {**{field.name: lambda n: 0 for field in quantity.optional}, "work": quantity.rows}
        cost = by_stage(quantity.text, module, _STAGES.get(quantity.name, ""), rows, model)
        return _text(quantity.name, quantity.name.replace("_", " "), cost)

    return tuple(text(quantity) for quantity in QUANTITIES.values())
