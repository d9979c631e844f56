"""The classic formulations as rows of the table of quantities (fastdyn/quantities.py): one runner serves both."""

from __future__ import annotations

from typing import Any

from fastdyn.formulations import (
    christoffel,
    dh_rows,
    generalized_dalembert,
    generalized_dalembert_literal,
    generalized_dalembert_nearest,
    kane,
    kane_rrt,
    lagrange_euler,
    lagrangian,
    newton_euler_base,
    newton_euler_frugal,
    newton_euler_link,
    probing,
    recursive_lagrange,
    screw_rows,
    screws,
)
from fastdyn.quantities import KINETIC, POTENTIAL, QD, QDD, TAU, Field, Layout, Q, Quantity
from fastdyn.study.sources import BOOK, RRT_ROBOT

DH, SCREWS, RRT = (
    Layout("dh", dh_rows.ROWS, 1), Layout("screws", screw_rows.ROWS, 1), Layout("rrt", kane_rrt.ROWS, 1),
)  # fmt: skip

D, C, H, GRAVITY = (
    Field("D", ("n", "n")), Field("C", ("n", "n")), Field("h", ("n",)), Field("c", ("n",)),
)  # fmt: skip
_TERMS = (TAU, D, H, GRAVITY)
_COEFFICIENTS = (*_TERMS, Field("h_ikm", ("n",) * 3))
_SPLIT_TERMS = (
    TAU, Field("D_tran", ("n", "n")), Field("D_rot", ("n", "n")), Field("h_tran", ("n",)), Field("h_rot", ("n",)),
    GRAVITY,
)  # fmt: skip


def _formulation(
    name: str,
    source: str,
    module: Any,
    gives: tuple[Field, ...] = (TAU,),
    layout: Layout = DH,
    **more: Any,
) -> Quantity:
    """The row of a module's text `name`; its scratch is `<name>_rows`, or `work_rows` in a module with one text."""
    work = getattr(module, f"{name}_rows", None) or module.work_rows
    more.setdefault("optional", _OPTIONAL.get(layout, ()))
    return Quantity(name, getattr(module, name), work, (Q, QD, QDD), gives, layout=layout, source=source, **more)


_OPTIONAL = {SCREWS: (Field("load", (6,)), Field("base_twist", (6,)), Field("base_rate", (6,)))}
LAGRANGIAN = Quantity(
    "lagrangian",
    lagrangian.lagrangian,
    lagrangian.work_rows,
    (Q, QD),
    (KINETIC, POTENTIAL),
    layout=DH,
    source="Fu, Gonzalez and Lee, (3.2-14) to (3.2-22)",
)
FORMULATIONS = {
    quantity.name: quantity
    for quantity in (
        _formulation("lagrange_euler", f"{BOOK}, (3.2-24) to (3.2-34)", lagrange_euler, _COEFFICIENTS),
        _formulation("lagrange_euler_table", f"{BOOK}, Table 3.1", lagrange_euler, _COEFFICIENTS),
        _formulation("recursive_lagrange", "Hollerbach 1980, with 4x4 matrices", recursive_lagrange),
        _formulation("newton_euler_base", f"{BOOK}, Table 3.2", newton_euler_base),
        _formulation("newton_euler_link", f"{BOOK}, Table 3.3", newton_euler_link, optional=(Field("load", (6,)),)),
        _formulation("newton_euler_frugal", f"{BOOK}, Table 3.4", newton_euler_frugal),
        _formulation("probing", f"{BOOK}, problem 3.11", probing, _TERMS),
        _formulation(
            "generalized_dalembert", f"{BOOK}, (3.4-24) to (3.4-28), each sum computed once", generalized_dalembert,
            _SPLIT_TERMS, rotary_only=True,
        ),
        _formulation(
            "generalized_dalembert_literal", f"{BOOK}, (3.4-24) to (3.4-28), every sum where it is printed",
            generalized_dalembert_literal, _SPLIT_TERMS, rotary_only=True,
        ),
        _formulation(
            "generalized_dalembert_nearest", f"{BOOK}, (3.4-24) to (3.4-28), the procedure nearest to Table 3.5",
            generalized_dalembert_nearest, _SPLIT_TERMS, rotary_only=True,
        ),
        _formulation(
            "christoffel", "Norrlöf, Algorithm 2", christoffel, (TAU, D, C, GRAVITY, Field("c_ijp", ("n",) * 3))
        ),
        _formulation("kane", RRT_ROBOT, kane, (TAU, Field("K", ("n",)), Field("Q", ("n",)))),
        _formulation("screws", "Fakhari, the recursion", screws, layout=SCREWS),
        _formulation("stacked_screws", "Fakhari, the closed form", screws, _TERMS, layout=SCREWS),
    )
}  # fmt: skip
KANE_RRT = _formulation("kane_rrt", RRT_ROBOT, kane_rrt, layout=RRT)
SIMPLIFIED = _formulation("simplified", f"{BOOK}, section 3.3", lagrange_euler)
