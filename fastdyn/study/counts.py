"""What the formulations cost: multiplications and additions, counted by running their texts on counting scalars.

>>> from fastdyn.study import counts
>>> row = counts.table_3_1()[0]
>>> print(row.name, "|", row.published.multiplications, "|", row.counted.multiplications, "|", row.equal)
^jA_i | 32 n^2 - 32 n | 32 n^2 - 32 n | True

A count is a polynomial in n, the number of joints: exact fractions, found from n = 1, 2, ... and checked on all of
SIZES. Tables 3.1, 3.4 and 3.5 are those of document 000. Arms have rotary joints and a level base.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from fastdyn.formats.dh import DHLink
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
from fastdyn.kernels import aba, crba, rnea
from fastdyn.mechanism.chains import dh_chain, screw_chain
from fastdyn.mechanism.parts import Array
from fastdyn.robot import Robot, from_dh
from fastdyn.robots import random_chain
from fastdyn.scalars import Operations, count, count_stages
from fastdyn.study.polynomials import Polynomial

SIZES = range(1, 13)  # numbers of joints that are counted


# ------------------------------------------------------------------------------------------ rows of tables


@dataclass(frozen=True)
class Cost:
    """Multiplications and additions, for n joints."""

    multiplications: Polynomial
    additions: Polynomial

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.multiplications + other.multiplications, self.additions + other.additions)

    def __sub__(self, other: Cost) -> Cost:
        return Cost(self.multiplications - other.multiplications, self.additions - other.additions)

    def __str__(self) -> str:
        return f"{self.multiplications}; {self.additions}"

    def at(self, n: int) -> tuple[int, int]:
        """The numbers for n joints."""
        return int(self.multiplications(n)), int(self.additions(n))


@dataclass(frozen=True)
class Reading:
    """Another way to count a row."""

    what: str
    cost: Cost


@dataclass(frozen=True)
class Row:
    """A row of a published table beside what the text costs, and why they are equal or not."""

    table: str
    name: str
    published: Cost
    counted: Cost
    why: str
    readings: tuple[Reading, ...] = ()

    @property
    def equal_multiplications(self) -> bool:
        """Whether the multiplications come out as published."""
        return self.published.multiplications == self.counted.multiplications

    @property
    def equal_additions(self) -> bool:
        """Whether the additions come out as published."""
        return self.published.additions == self.counted.additions

    @property
    def equal(self) -> bool:
        """Whether both come out as published."""
        return self.equal_multiplications and self.equal_additions


@dataclass(frozen=True)
class Text:
    """The cost of a text of this library, in all and by stage."""

    name: str
    what: str
    cost: Cost
    stages: Mapping[str, Cost]


@dataclass(frozen=True)
class Figure:
    """A count for six joints from the literature."""

    method: str
    multiplications: int
    additions: int
    source: str


NOTHING = Cost(Polynomial(()), Polynomial(()))
n = Polynomial((0, 1))


def _total(costs: Iterable[Cost]) -> Cost:
    return sum(costs, NOTHING)


# ------------------------------------------------------------------------------------------ counting


Rows = Callable[[int], int]


@cache
def arm(joints: int) -> Robot:
    """A rotary arm of which no number is special, but whose base is level."""
    inertia = [[0.5, 0.02, 0.03], [0.02, 0.6, 0.04], [0.03, 0.04, 0.7]]
    link = DHLink(a=0.3, alpha=0.7, d=0.2, theta=0.1, mass=1.0, com=(0.1, 0.2, 0.3), inertia=inertia)
    return from_dh([link] * joints, name=f"arm of {joints} joints")


@cache
def _chain(joints: int) -> tuple[Array, Any]:
    chain = dh_chain(arm(joints))
    return chain.P, chain.T


@cache
def _screw_chain(joints: int) -> tuple[Array, Any]:
    chain = screw_chain(arm(joints))
    return chain.P, chain.T


def _buffers(rows: Iterable[Rows], joints: int) -> list[Array]:
    return [np.full(r(joints), 0.5) for r in rows]


def _fit(counted: Iterable[Operations]) -> Cost:
    operations = list(counted)
    return Cost(
        Polynomial.through(o.multiplications for o in operations), Polynomial.through(o.additions for o in operations)
    )


def _by_stage(
    text: Callable[..., Any],
    stages: Mapping[str, Callable[..., Any]],
    rows: Iterable[Rows],
    chain: Callable[[int], tuple[Array, Any]] = _chain,
    sizes: range = SIZES,
) -> dict[str, Cost]:
    """Each stage's cost, and under "" that of what lies outside all of them."""
    counted = [count_stages(text, stages, *chain(k), *_buffers(rows, k)) for k in sizes]
    return {name: _fit(c[name] for c in counted) for name in ["", *stages]}


def _functions(module: Any, names: str) -> dict[str, Callable[..., Any]]:
    return {name: getattr(module, name) for name in names.split()}


_LAGRANGE_STAGES = (
    "link_matrices frame_products gravity_term gravity_loading inertia_trace inertia_coefficients coriolis_trace "
    "coriolis_coefficients inertia_torque velocity_torque torques"
)
_NEWTON_STAGES = (
    "geometry angular_velocity angular_acceleration swept_axis linear_acceleration centre_acceleration link_force "
    "joint_force link_moment joint_moment joint_torque"
)
_DALEMBERT_STAGES = (
    "geometry own_axes turned_axes sweeps rotational_inertia translational_inertia base_velocities "
    "centre_accelerations translational_velocity_torques own_velocities rotational_velocity_torques gravity_torques "
    "torques"
)


@cache
def _lagrange_euler_as_tabled() -> dict[str, Cost]:
    """Stages of Lagrange-Euler, with h_ikm summed from m = max(j, k) for every i, as Table 3.1 counts it."""

    def text(P: Any, T: Any, X: Any, work: Any) -> None:
        joints = P.shape[1]
        lagrange_euler.link_matrices(P, T, X, work)
        lagrange_euler.frame_products(joints, work)
        lagrange_euler.gravity_loading(P, T, X, work)
        lagrange_euler.inertia_coefficients(T, X, work, joints)
        lagrange_euler.coriolis_coefficients(T, X, work, joints, True)
        lagrange_euler.torques(joints, X)

    return _by_stage(
        text, _functions(lagrange_euler, _LAGRANGE_STAGES), (lagrange_euler.sample_rows, lagrange_euler.work_rows)
    )


@cache
def _newton_euler_link() -> dict[str, Cost]:
    return _by_stage(
        newton_euler_link.newton_euler_link,
        _functions(newton_euler_link, _NEWTON_STAGES),
        (newton_euler_link.sample_rows, lambda k: newton_euler_link.LOAD, newton_euler_link.work_rows),
    )


@cache
def _newton_euler_frugal() -> dict[str, Cost]:
    return _by_stage(
        newton_euler_frugal.newton_euler_frugal,
        _functions(newton_euler_frugal, _NEWTON_STAGES),
        (newton_euler_frugal.sample_rows, newton_euler_frugal.work_rows),
    )


@cache
def _generalized_dalembert() -> dict[str, Cost]:
    module = generalized_dalembert
    return _by_stage(
        module.generalized_dalembert, _functions(module, _DALEMBERT_STAGES), (module.sample_rows, module.work_rows)
    )


# ------------------------------------------------------------------------------------------ Table 3.1


@cache
def table_3_1() -> tuple[Row, ...]:
    """Lagrange-Euler, row by row: every row comes out equal."""
    s = _lagrange_euler_as_tabled()
    triples = n * (n + 1) * (n + 2)
    coriolis = _coriolis_as_written()
    assembly = s["inertia_torque"] + s["velocity_torque"] + s["torques"]
    rows = [
        Row(
            "3.1", "^jA_i", Cost(32 * n * (n - 1), 24 * n * (n - 1)), s["frame_products"],
            "n (n - 1) / 2 full 4x4 products, 64 multiplications and 48 additions each: ^jA_i = ^jA_{i-1} ^{i-1}A_i "
            "for j < i - 1. The entries of the ^{i-1}A_i themselves are not counted.",
            (Reading("and the entries of ^{i-1}A_i", s["frame_products"] + s["link_matrices"]),),
        ),
        Row(
            "3.1", "-m_j g U_ji r_j", Cost(4 * n * (9 * n - 7), Fraction(1, 2) * n * (51 * n - 45)), s["gravity_term"],
            "one product for each U_ji = ^0A_{i-1} Q_i ^{i-1}A_j with i > 1 (Q_i only moves rows, and ^0A_0 is the "
            "identity), then for each pair 4 multiplications for -m_j g U_ji, g having one component on a level base, "
            "and 4 with 3 additions for the product with r_j.",
        ),
        Row(
            "3.1", "sum of -m_j g U_ji r_j", Cost(0 * n, Fraction(1, 2) * n * (n - 1)), s["gravity_loading"],
            "n - i additions for each c_i.",
        ),
        Row(
            "3.1", "Tr(U_kj J_k U_ki^T)", Cost(Fraction(128, 3) * triples, Fraction(65, 2) * triples),
            s["inertia_trace"],
            "n (n + 1) (n + 2) / 6 traces, D being symmetric, each of four full products (both U anew, the product "
            "with J_k, that with U_ki^T) and 3 additions. Here products with ^0A_0 = 1 are counted, in row 2 not.",
        ),
        Row(
            "3.1", "sum of Tr(U_kj J_k U_ki^T)", Cost(0 * n, Fraction(1, 6) * n * (n - 1) * (n + 1)),
            s["inertia_coefficients"], "n - max(i, j) additions for each D_ij with i <= j.",
        ),
        Row(
            "3.1", "Tr(U_mjk J_m U_mi^T)", Cost(Fraction(128, 3) * n * triples, Fraction(65, 2) * n * triples),
            s["coriolis_trace"],
            "four full products and 3 additions for each trace again, U_mjk in one product from the U_{k-1,j} of row "
            "2; symmetric in j and k, but for every i, also where m < i and U_mi = 0: n times the traces of row 4.",
            (Reading("m from max(i, j, k), as (3.2-33) says", coriolis["coriolis_trace"]),),
        ),
        Row(
            "3.1", "sum of Tr(U_mjk J_m U_mi^T)", Cost(0 * n, Fraction(1, 6) * n * n * (n - 1) * (n + 1)),
            s["coriolis_coefficients"], "n - max(j, k) additions for each h_ijk with j <= k, for every i.",
            (Reading("m from max(i, j, k), as (3.2-33) says", coriolis["coriolis_coefficients"]),),
        ),
    ]  # fmt: skip
    total = _total(row.counted for row in rows)
    published = Cost(
        Polynomial.of("128/3", "512/3", "844/3", "76/3", 0), Polynomial.of("98/3", "781/6", "637/3", "107/6", 0)
    )
    whole = s["link_matrices"] + assembly
    honest = total - s["coriolis_trace"] - s["coriolis_coefficients"]
    honest = honest + coriolis["coriolis_trace"] + coriolis["coriolis_coefficients"] + whole
    rows.append(
        Row(
            "3.1", "tau = D qdd + h + c", published, total,
            "the sum of the rows above. The products with qdd, qd qd and their sums are not counted.",
            (
                Reading("and the products and sums of (3.2-26), and the entries of ^{i-1}A_i", total + whole),
                Reading("the same with m from max(i, j, k): all that the text in this library does", honest),
            ),
        )
    )  # fmt: skip
    return tuple(rows)


@cache
def _coriolis_as_written() -> dict[str, Cost]:
    """Stages of h_ikm with the sum as (3.2-33) writes it; up to 8 joints, degree 4 with three to spare."""
    module = lagrange_euler

    def text(P: Any, T: Any, X: Any, work: Any) -> None:
        module.coriolis_coefficients(T, X, work, P.shape[1], False)

    stages = _functions(module, "coriolis_trace coriolis_coefficients")
    return _by_stage(text, stages, (module.sample_rows, module.work_rows), sizes=SIZES[:8])


# ------------------------------------------------------------------------------------------ Table 3.4


@cache
def table_3_4() -> tuple[Row, ...]:
    """Newton-Euler in link frames, row by row."""
    s = _newton_euler_frugal()
    printed = _newton_euler_link()
    turning = s["angular_acceleration"] + s["swept_axis"]
    as_printed = "as Table 3.3 prints it (nested cross products"
    rows = [
        Row(
            "3.4", "w_i", Cost(9 * n, 7 * n), s["angular_velocity"],
            "one addition and a full 3x3 rotation, 9 and 6. Nothing is special to the PUMA arm of the caption.",
        ),
        Row(
            "3.4", "w'_i", Cost(9 * n, 9 * n), turning,
            "the rotation, 9 and 6, and 3 additions; but w x z qd = (w_y qd, -w_x qd, 0) also takes two "
            "multiplications a joint, which the table leaves out and (3.3-51) cannot do without.",
            (Reading("without the products of w x z qd", s["angular_acceleration"]),),
        ),
        Row(
            "3.4", "v'_i", Cost(27 * n, 22 * n), s["linear_acceleration"],
            "w x (w x p) as w (w . p) - p (w . w), by (3.3-34): 12 and 7. Nested cross products would take 12 and 6.",
            (Reading(as_printed + ")", printed["linear_acceleration"]),),
        ),
        Row(
            "3.4", "a_i", Cost(15 * n, 14 * n), s["centre_acceleration"],
            "by (3.3-34) again, and w . w is known from the row before.",
            (Reading(as_printed + ")", printed["centre_acceleration"]),),
        ),
        Row("3.4", "F_i", Cost(3 * n, 0 * n), s["link_force"], "m_i times a vector."),
        Row(
            "3.4", "f_i", Cost(9 * (n - 1), 9 * n - 6), s["joint_force"],
            "no load to turn into frame n, so n - 1 rotations; but the addition of f_{n+1} = 0 is counted.",
            (
                Reading("without adding f_{n+1}", s["joint_force"] - Cost(0 * n, 0 * n + 3)),
                Reading("with a load in frame n + 1, turned like any other force", printed["joint_force"]),
            ),
        ),
        Row(
            "3.4", "N_i", Cost(24 * n, 18 * n), s["link_moment"],
            "two products with I_i, 9 and 6 each, a cross product and a sum.",
        ),
        Row(
            "3.4", "n_i", Cost(21 * n - 15, 24 * n - 15), s["joint_moment"],
            "R taken out of the bracket of (3.3-57), so that R f_{i+1} of (3.3-56) serves again; p* + s is added anew; "
            "no load, so that link n has neither rotation nor the first two terms.",
            (Reading("as (3.3-57) is printed, p*_i turned into frame i + 1, and a load", printed["joint_moment"]),),
        ),
    ]  # fmt: skip
    total = _total(row.counted for row in rows)
    rows.append(
        Row(
            "3.4", "total", Cost(117 * n - 24, 103 * n - 21), total,
            "the sum of the rows: 2 n multiplications more, those of w x z qd. The entries of R, p* and tau_i are not "
            "counted.",
            (
                Reading("without the products of w x z qd", total - s["swept_axis"]),
                Reading("and the entries of R, p* and tau_i", total + s["geometry"] + s["joint_torque"]),
            ),
        )
    )  # fmt: skip
    return tuple(rows)


# ------------------------------------------------------------------------------------------ Table 3.5


@cache
def table_3_5() -> tuple[Row, ...]:
    """The three formulations in all: six polynomials."""
    return _lagrange_row(), _newton_row(), _dalembert_row()


def _lagrange_row() -> Row:
    total, s = table_3_1()[-1], _lagrange_euler_as_tabled()
    gravity = s["gravity_term"] + s["gravity_loading"]
    products = Cost(s["inertia_torque"].multiplications, 0 * n)
    return Row(
        "3.5", "Lagrange-Euler",
        Cost(Polynomial.of("128/3", "512/3", "739/3", "160/3", 0), Polynomial.of("98/3", "781/6", "559/3", "245/6", 0)),
        total.counted,
        "the procedure of Table 3.1, but without its gravity rows (2 and 3), and with the n^2 multiplications of "
        "D qdd, whose n^2 - n additions are not counted: so it comes out equal to the last term.",
        (
            Reading("rows 1 and 4 to 7 of Table 3.1, and the multiplications of D qdd",
                    total.counted - gravity + products),
        ),
    )  # fmt: skip


def _newton_row() -> Row:
    s = _newton_euler_link()
    total = _total(s.values()) - s["geometry"]
    return Row(
        "3.5", "Newton-Euler", Cost(132 * n, 111 * n - 4), total,
        "not Table 3.4's savings but Table 3.3 as printed: nested cross products, p*_i turned into frame i + 1, a load "
        "that is turned into frame n like any other force, and tau_i; w_0 = w'_0 = 0 spare 4 additions at joint 1. "
        "Additions come out equal; the multiplications of w x z qd, two for each joint but the first, are left out.",
        (
            Reading("without the products of w x z qd", total - s["swept_axis"]),
            Reading("with the savings of Table 3.4", table_3_4()[-1].counted),
            Reading("and the entries of R and p*", total + s["geometry"]),
        ),
    )  # fmt: skip


def _dalembert_row() -> Row:
    s = _generalized_dalembert()
    total = _total(s.values())
    additions = Polynomial.of("4/3", 44, "146/3", 45)
    published = Cost(Polynomial.of("13/6", "105/2", "268/3", 69), additions)
    glyphs = Cost(Polynomial.of("13/6", "108/2", "268/6", 69), additions)
    return Row(
        "3.5", "generalized d'Alembert", published, total,
        "cannot be obtained: the procedure and its counts stood in Fig. 3.9, which is lost. Counted is (3.4-24) to "
        "(3.4-28) with every sum over lower joints made once. The order is the same, n^3; the published constants 69 "
        "and 45 speak for work done once for any number of joints, which the equations do not show. The "
        "multiplications are damaged in print: what the glyphs say is a whole number only where n is a multiple of 6, "
        "so it is no count; the reading known from the literature, compared here, is whole for every n, for it equals "
        "13 n (n + 1) (n + 2) / 6 + 46 n^2 + 85 n + 69.",
        (
            Reading("published, as the glyphs say", glyphs),
            Reading("the coefficients D, h and c alone, without (3.4-24)", total - s["torques"]),
            Reading("and without the places and rotations of the links", total - s["torques"] - s["geometry"]),
        ),
    )  # fmt: skip


def tables() -> tuple[Row, ...]:
    """All rows of Tables 3.1, 3.4 and 3.5."""
    return table_3_1() + table_3_4() + table_3_5()


# ------------------------------------------------------------------------------------------ all texts, and probing


@cache
def formulations() -> tuple[Text, ...]:
    """Every text of fastdyn.formulations, all that it does for rotary joints, by stage."""
    lagrange = _lagrange_euler_as_tabled() | _coriolis_as_written()
    plain: tuple[tuple[str, str, Any, Any, str], ...] = (
        ("recursive_lagrange", "Hollerbach, 4x4 matrices", recursive_lagrange, "recursive_lagrange", "outward inward"),
        ("newton_euler_base", "Table 3.2", newton_euler_base, "newton_euler_base", "geometry forward backward"),
        ("christoffel", "001, Algorithm 2", christoffel, "christoffel",
         "body_jacobian inertia_and_gravity partials christoffel_symbols coriolis_matrix torques"),
        ("kane", "003", kane, "kane", "partial_velocities inertia_forces"),
    )  # fmt: skip
    found = [
        _text("lagrange_euler", "(3.2-24) to (3.2-34)", lagrange),
        *(
            _text(name, what, _by_stage(
                getattr(module, text), _functions(module, stages), (module.sample_rows, module.work_rows)
            ))
            for name, what, module, text, stages in plain
        ),
        _text("newton_euler_link", "Table 3.3", _newton_euler_link()),
        _text("newton_euler_frugal", "Table 3.4", _newton_euler_frugal()),
        _text("probing", "problem 3.11", _by_stage(
            probing.probing,
            _functions(probing, "geometry gravity_by_probing velocity_by_probing inertia_by_probing"),
            (probing.sample_rows, lambda k: 4 * k, lambda k: newton_euler_link.LOAD, newton_euler_link.work_rows),
        )),
        _text("generalized_dalembert", "(3.4-24) to (3.4-28)", _generalized_dalembert()),
        _text("screws", "002, the recursion", _by_stage(
            screws.screws, _functions(screws, "placements"), (screws.sample_rows, screws.work_rows), _screw_chain
        )),
        _text("stacked_screws", "002, the closed form", _by_stage(
            screws.stacked_screws, _functions(screws, "placements inverse closed_form mass_matrix"),
            (screws.stacked_sample_rows, screws.stacked_work_rows), _screw_chain,
        )),
    ]  # fmt: skip
    return tuple(found)


def _text(name: str, what: str, stages: Mapping[str, Cost]) -> Text:
    return Text(name, what, _total(stages.values()), {k: v for k, v in stages.items() if k or v != NOTHING})


@dataclass(frozen=True)
class Probing:
    """Problem 3.12: what D costs when it is probed out of Newton-Euler, one run costing N and M."""

    run: Cost  # N multiplications and M additions of one run
    columns: Cost  # n runs: n N and n M
    lower: Cost  # column k from joint k on only, by symmetry: the least


@cache
def probing_counts() -> Probing:
    """The counts of problem 3.12; rotations and spans are found once, and counted in none of them."""
    rows = (probing.sample_rows, lambda k: 4 * k, lambda k: newton_euler_link.LOAD, newton_euler_link.work_rows)

    def run(P: Any, T: Any, X: Any, Y: Any, L: Any, work: Any) -> None:
        newton_euler_link.forward(P, T, Y, work, 0, links.base_acceleration(P, Y))
        newton_euler_link.backward(P, T, Y, L, work, 0)

    def columns(P: Any, T: Any, X: Any, Y: Any, L: Any, work: Any) -> None:
        probing.inertia_by_probing(P, T, X, Y, L, work, False)

    def lower(P: Any, T: Any, X: Any, Y: Any, L: Any, work: Any) -> None:
        probing.inertia_by_probing(P, T, X, Y, L, work, True)

    return Probing(*(_fit(count(t, *_chain(k), *_buffers(rows, k)) for k in SIZES) for t in (run, columns, lower)))


# ------------------------------------------------------------------------------------------ the library's kernels


@cache
def kernels() -> tuple[Text, ...]:
    """The library's own algorithms on a chain of rotary joints, rotors included, as polynomials in n."""

    def newton_euler(P: Any, T: Any, X: Any, work: Any) -> None:
        rnea.outward(P, T, X, work)
        rnea.inward(P, T, X, work)

    def articulated(P: Any, T: Any, X: Any, work: Any) -> None:
        rnea.outward(P, T, X, work)
        aba.inward(P, T, X, work)
        aba.outward(P, T, X, work)

    def model(joints: int) -> tuple[Array, Any]:
        found = random_chain(joints).model
        return found.P, found.T

    def text(name: str, what: str, run: Callable[..., Any], module: Any, stages: str, rows: Iterable[Rows]) -> Text:
        return _text(name, what, _by_stage(run, _functions(module, stages), rows, model))

    return (
        text(
            "kernels/rnea.py", "inverse dynamics: recursive Newton-Euler in canonical frames", newton_euler, rnea,
            "outward inward", (lambda k: 4 * k, lambda k: rnea.WORK * k),
        ),
        text(
            "kernels/crba.py", "mass matrix: composite rigid bodies", crba.mass_matrix, crba,
            "composite hand_on column",
            (lambda k: k + k * k, lambda k: crba.WORK * k),
        ),
        text(
            "kernels/aba.py", "forward dynamics: articulated bodies", articulated, aba, "inward outward",
            (lambda k: 5 * k, lambda k: aba.WORK * k),
        ),
    )  # fmt: skip


def literature() -> tuple[Figure, ...]:
    """Inverse dynamics of six joints, from the literature."""
    hollerbach = "Hollerbach 1980, A recursive Lagrangian formulation of manipulator dynamics"
    corke = "tabulated in Corke's Robotics Toolbox manual"
    return (
        Figure("Lagrange-Euler, 4x4 matrices", 66_271, 51_548, f"{hollerbach}; {corke}"),
        Figure("recursive Lagrange, 4x4 matrices", 4_388, 3_586, f"{hollerbach}: 830 n - 592, 675 n - 464"),
        Figure("recursive Lagrange, 3x3 matrices", 2_195, 1_719, f"{hollerbach}: 412 n - 277, 320 n - 201"),
        Figure("general recursive Newton-Euler", 852, 738, f"{hollerbach}: 150 n - 48, 131 n - 48; {corke}"),
        Figure("Kane, for the Stanford arm", 646, 394, f"Kane and Levinson 1983; {corke}"),
        Figure("Newton-Euler simplified for the PUMA 560", 224, 174, f"Murray and Neuman's program ARM; {corke}"),
    )
