"""The costs of every formulation, of probing, and of the library's own kernels."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np

from fastdyn.formulations import (
    christoffel,
    generalized_dalembert,
    kane,
    lagrange_euler,
    links,
    newton_euler_base,
    newton_euler_frugal,
    newton_euler_link,
    probing,
    recursive_lagrange,
    screws,
)
from fastdyn.mechanism.parts import Array
from fastdyn.quantities import QUANTITIES, Field, Quantity
from fastdyn.robots import random_chain
from fastdyn.study.counts.costs import NOTHING, Cost, Probing, Text, summed
from fastdyn.study.counts.counting import SIZES, Rows, by_stage, screw_arm, whole

_STAGES = {"inverse_dynamics": "outward inward", "forward_dynamics": "inward outward"}
_NEWTON_STAGES = (
    "geometry angular_velocity angular_acceleration axis_rate linear_acceleration centre_acceleration link_force "
    "joint_force link_moment joint_moment joint_torque"
)


@cache
def lagrange_euler_as_tabled() -> dict[str, Cost]:
    """Stages of Lagrange-Euler, with h_ikm summed from m = max(j, k) for every i, as Table 3.1 counts it."""

    def text(
        P: Any, kinds: Any, q: Any, qd: Any, qdd: Any, tau: Any, D: Any, h: Any, c: Any, h_ikm: Any, work: Any
    ) -> None:
        joints = P.shape[1]
        lagrange_euler.link_matrices(P, kinds, q, work)
        lagrange_euler.frame_products(joints, work)
        lagrange_euler.gravity_loading(P, kinds, c, work)
        lagrange_euler.inertia_coefficients(kinds, D, work, joints)
        lagrange_euler.coriolis_coefficients(kinds, h_ikm, work, joints, True)
        lagrange_euler.torques(joints, qd, qdd, tau, D, h, c, h_ikm)

    stages = (
        "link_matrices frame_products gravity_term gravity_loading inertia_trace inertia_coefficients coriolis_trace "
        "coriolis_coefficients inertia_torque velocity_torque torques"
    )
    return by_stage(text, lagrange_euler, stages, {"work": lagrange_euler.lagrange_euler_rows})


@cache
def coriolis_as_written() -> dict[str, Cost]:
    """Stages of h_ikm with the sum as (3.2-33) writes it; up to 8 joints, which is three more than degree 4 needs."""

    def text(P: Any, kinds: Any, h_ikm: Any, work: Any) -> None:
        lagrange_euler.coriolis_coefficients(kinds, h_ikm, work, P.shape[1], False)

    stages = "coriolis_trace coriolis_coefficients"
    return by_stage(text, lagrange_euler, stages, {"work": lagrange_euler.lagrange_euler_rows}, sizes=SIZES[:8])


@cache
def newton_euler_as_printed() -> dict[str, Cost]:
    """Stages of Newton-Euler in link frames as Table 3.3 prints it, with a load."""
    module = newton_euler_link
    return by_stage(module.newton_euler_link, module, _NEWTON_STAGES, {"work": module.work_rows})


@cache
def newton_euler_with_savings() -> dict[str, Cost]:
    """Stages of Newton-Euler in link frames with the savings of Table 3.4."""
    module = newton_euler_frugal
    return by_stage(module.newton_euler_frugal, module, _NEWTON_STAGES, {"work": module.work_rows})


@cache
def dalembert() -> dict[str, Cost]:
    """Stages of generalized d'Alembert."""
    module = generalized_dalembert
    stages = (
        "geometry own_axes turned_axes sweeps rotational_inertia translational_inertia base_velocities "
        "centre_accelerations translational_velocity_torques own_velocities rotational_velocity_torques "
        "gravity_torques torques"
    )
    return by_stage(module.generalized_dalembert, module, stages, {"work": module.work_rows})


@cache
def formulations() -> tuple[Text, ...]:
    """Every text of fastdyn.formulations for n rotary joints, all operations, by stage."""

    def alone(module: Any, what: str, stages: str) -> Text:
        """The only text of a module, which has the module's name."""
        name = module.__name__.rpartition(".")[2]
        return _text(name, what, by_stage(getattr(module, name), module, stages, {"work": module.work_rows}))

    def by_screws(text: Callable[..., Any], what: str, stages: str, rows: Rows) -> Text:
        none = dict.fromkeys(("load", "base_twist", "base_rate"), lambda n: 0)  # an empty hand, a base at rest
        return _text(text.__name__, what, by_stage(text, screws, stages, {**none, "work": rows}, screw_arm))

    return (
        _text("lagrange_euler", "(3.2-24) to (3.2-34)", lagrange_euler_as_tabled() | coriolis_as_written()),
        alone(recursive_lagrange, "Hollerbach, 4x4 matrices", "outward inward"),
        alone(newton_euler_base, "Table 3.2", "geometry forward backward"),
        _text("newton_euler_link", "Table 3.3", newton_euler_as_printed()),
        _text("newton_euler_frugal", "Table 3.4", newton_euler_with_savings()),
        alone(probing, "problem 3.11", "geometry gravity_by_probing velocity_by_probing inertia_by_probing"),
        _text("generalized_dalembert", "(3.4-24) to (3.4-28)", dalembert()),
        alone(
            christoffel, "Norrlöf, Algorithm 2",
            "body_jacobian inertia_and_gravity partials christoffel_symbols coriolis_matrix torques",
        ),
        alone(kane, "RRT Robot: Lagrange and Kane equations", "partial_velocities inertia_forces"),
        by_screws(screws.screws, "Fakhari, the recursion", "placements", screws.screws_rows),
        by_screws(
            screws.stacked_screws, "Fakhari, the closed form", "placements inverse closed_form mass_matrix",
            screws.stacked_screws_rows,
        ),
    )  # fmt: skip


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
