"""The operation counts that Fu, Gonzalez and Lee publish, row by row, beside what the texts cost; others' counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import cache

from fastdyn.polynomials import Polynomial
from fastdyn.study.counts import dalembert, texts
from fastdyn.study.counts.costs import Cost, Figure, Kind, Label, Reading, Row, summed

n = Polynomial((0, 1))

NO_PRODUCT = Label("no information", "There is nothing to multiply.")
NO_SUM = Label("no information", "There is nothing to add.")
SUM_OF_ROWS = Label("no information", "The sum of the rows above, which are equal.")


def _both(kind: Kind, why: str) -> tuple[Label, Label]:
    """The same label for multiplications and for additions."""
    return Label(kind, why), Label(kind, why)


def _row(
    table: str,
    name: str,
    published: Cost,
    counted: tuple[str, str],
    why: str,
    labels: tuple[Label, Label],
    readings: Iterable[Reading] = (),
    left_out: Mapping[str, str] | None = None,
) -> Row:
    """A row that is counted as the sum of some stages of a formulation; counted: its name, and theirs."""
    text, stages = counted[0], tuple(counted[1].split())
    cost = summed(texts.formulation(text).stages[stage] for stage in stages)
    return Row(table, name, published, cost, why, text, stages, *labels, left_out or {}, tuple(readings))


# ------------------------------------------------------------------------------------------ Table 3.1

_TABLED = (
    "frame_products gravity_term gravity_loading inertia_trace inertia_coefficients coriolis_trace "
    "coriolis_coefficients"
)
_NOT_TABLED = {
    "link_matrices": "the entries of the ^{i-1}A_i",
    "inertia_torque": "D qdd",
    "velocity_torque": "the sums of h_ikm qd_k qd_m",
    "torques": "D qdd + h + c",
}


@cache
def table_3_1() -> tuple[Row, ...]:
    """Lagrange-Euler, row by row: every count equals the published one."""
    text = "lagrange_euler_table"
    table, printed = texts.formulation(text), texts.formulation("lagrange_euler")
    triples = n * (n + 1) * (n + 2)
    from_all_three = "m from max(i, j, k), as (3.2-33) says"
    return (
        _row(
            "3.1", "^jA_i", Cost(32 * n * (n - 1), 24 * n * (n - 1)), (text, "frame_products"),
            "n (n - 1) / 2 full 4x4 products, 64 multiplications and 48 additions each: ^jA_i = ^jA_{i-1} ^{i-1}A_i "
            "for j < i - 1.",
            _both("forced", "One full product for each matrix that is needed, in whatever order."),
            [Reading("and the entries of ^{i-1}A_i", table.stages["frame_products"] + table.stages["link_matrices"])],
            {"link_matrices": _NOT_TABLED["link_matrices"]},
        ),
        _row(
            "3.1", "-m_j g U_ji r_j", Cost(4 * n * (9 * n - 7), Fraction(1, 2) * n * (51 * n - 45)),
            (text, "gravity_term"),
            "one product for each U_ji = ^0A_{i-1} Q_i ^{i-1}A_j with i > 1 (Q_i only moves rows, and ^0A_0 is the "
            "identity), then for each pair 4 multiplications for -m_j g U_ji, g having one component on a level base, "
            "and 4 with 3 additions for the product with r_j, that with its last component, 1, included.",
            _both(
                "follows",
                "Products with the identity ^0A_0 are not counted here, although row 4 counts them; counted, they "
                "would add 64 n and 48 n.",
            ),
        ),
        _row(
            "3.1", "sum of -m_j g U_ji r_j", Cost(0 * n, Fraction(1, 2) * n * (n - 1)), (text, "gravity_loading"),
            "n - i additions for each c_i.",
            (NO_PRODUCT, Label("forced", "n (n + 1) / 2 terms in n sums.")),
        ),
        _row(
            "3.1", "Tr(U_kj J_k U_ki^T)", Cost(Fraction(128, 3) * triples, Fraction(65, 2) * triples),
            (text, "inertia_trace"),
            "n (n + 1) (n + 2) / 6 traces, D being symmetric, each of four full products (both U again, the product "
            "with J_k, that with U_ki^T) and 3 additions. Products with ^0A_0 = 1 are counted here, but not in row 2.",
            _both(
                "follows",
                "Both U are computed again for each trace, although row 2 has them all, and all of the last product is "
                "computed, although its diagonal is enough.",
            ),
        ),
        _row(
            "3.1", "sum of Tr(U_kj J_k U_ki^T)", Cost(0 * n, Fraction(1, 6) * n * (n - 1) * (n + 1)),
            (text, "inertia_coefficients"), "n - max(i, j) additions for each D_ij with i <= j.",
            (NO_PRODUCT, Label("forced", "The traces of row 4 in n (n + 1) / 2 sums.")),
        ),
        _row(
            "3.1", "Tr(U_mjk J_m U_mi^T)", Cost(Fraction(128, 3) * n * triples, Fraction(65, 2) * n * triples),
            (text, "coriolis_trace"),
            "four full products and 3 additions for each trace again, U_mjk in one product from the U_{k-1,j} of row "
            "2; symmetric in j and k, but for every i, also for m < i, where U_mi = 0: n times the traces of row 4.",
            _both(
                "tuned",
                "The table's own sum begins at max(i, j, k), which leaves up to a quarter of these traces out; all n "
                "times those of row 4 are computed because the number is n times that of row 4.",
            ),
            [Reading(from_all_three, printed.stages["coriolis_trace"])],
        ),
        _row(
            "3.1", "sum of Tr(U_mjk J_m U_mi^T)", Cost(0 * n, Fraction(1, 6) * n * n * (n - 1) * (n + 1)),
            (text, "coriolis_coefficients"), "n - max(j, k) additions for each h_ijk with j <= k, for every i.",
            (NO_PRODUCT, Label("tuned", "The traces of row 6, zeros included, in n^2 (n + 1) / 2 sums.")),
            [Reading(from_all_three, printed.stages["coriolis_coefficients"])],
        ),
        _row(
            "3.1", "tau = D qdd + h + c",
            Cost(
                Polynomial.of("128/3", "512/3", "844/3", "76/3", 0), Polynomial.of("98/3", "781/6", "637/3", "107/6", 0)
            ),
            (text, _TABLED), "the sum of the rows above.", (SUM_OF_ROWS, SUM_OF_ROWS),
            [
                Reading("and all that is left out: the whole text", table.cost),
                Reading("the same with m from max(i, j, k), as (3.2-33) says", printed.cost),
            ],
            _NOT_TABLED,
        ),
    )  # fmt: skip


# ------------------------------------------------------------------------------------------ Table 3.4

_NEWTON = (
    "angular_velocity angular_acceleration axis_rate linear_acceleration centre_acceleration link_force joint_force "
    "link_moment joint_moment"
)
_GEOMETRY = {"geometry": "the entries of R and p*"}


@cache
def table_3_4() -> tuple[Row, ...]:
    """Newton-Euler in link frames, row by row."""
    text = "newton_euler_frugal"
    s, printed = texts.formulation(text).stages, texts.formulation("newton_euler_link").stages
    as_printed = "as Table 3.3 prints it (nested cross products)"
    not_known = "The products of w x z qd, {}, are not in the published number: an omission or a slip of the table."
    total = summed(s[stage] for stage in _NEWTON.split())
    return (
        _row(
            "3.4", "w_i", Cost(9 * n, 7 * n), (text, "angular_velocity"),
            "one addition and a full 3x3 rotation, 9 and 6. The count holds for any arm; the caption names a PUMA.",
            _both("forced", "A full rotation, and z qd has one component."),
        ),
        _row(
            "3.4", "w'_i", Cost(9 * n, 9 * n), (text, "angular_acceleration axis_rate"),
            "the rotation, 9 and 6, and 3 additions; but w x z qd = (w_y qd, -w_x qd, 0) also takes two "
            "multiplications a joint, which (3.3-51) needs and the table leaves out.",
            (
                Label("not equal", not_known.format("2 n")),
                Label("forced", "A full rotation; z qdd has one component and w x z qd two."),
            ),
            [Reading("without the products of w x z qd", s["angular_acceleration"])],
        ),
        _row(
            "3.4", "v'_i", Cost(27 * n, 22 * n), (text, "linear_acceleration"),
            "w x (w x p) as w (w . p) - p (w . w), by (3.3-34): 12 and 7. Nested cross products would take 12 and 6.",
            (
                Label("forced", "Both ways to compute w x (w x p) take 12 multiplications."),
                Label("follows", "By (3.3-34), which the chapter states; nested cross products would give 21 n."),
            ),
            [Reading(as_printed, printed["linear_acceleration"])],
        ),
        _row(
            "3.4", "a_i", Cost(15 * n, 14 * n), (text, "centre_acceleration"),
            "by (3.3-34) again, and w . w is known from the row before.",
            _both("follows", "By (3.3-34) with w . w used twice; nested cross products would give 18 n and 15 n."),
            [Reading(as_printed, printed["centre_acceleration"])],
        ),
        _row(
            "3.4", "F_i", Cost(3 * n, 0 * n), (text, "link_force"), "m_i times a vector.",
            (Label("forced", "A number times a vector."), NO_SUM),
        ),
        _row(
            "3.4", "f_i", Cost(9 * (n - 1), 9 * n - 6), (text, "joint_force"),
            "no load to rotate into frame n, so n - 1 rotations; but the addition of f_{n+1} = 0 is counted.",
            (
                Label("follows", "Without a load; with one, rotated like any other force, it would be 9 n."),
                Label(
                    "follows", "f_{n+1} = 0 is added, although n_{n+1} = 0 is not in the row of n_i; else 9 n - 9.",
                ),
            ),
            [
                Reading("without adding f_{n+1}", s["joint_force"] - Cost(0 * n, 0 * n + 3)),
                Reading("with a load in frame n + 1, rotated like any other force", printed["joint_force"]),
            ],
        ),
        _row(
            "3.4", "N_i", Cost(24 * n, 18 * n), (text, "link_moment"),
            "two products with I_i, 9 and 6 each, a cross product and a sum.",
            _both("forced", "Two full products with I_i, a cross product and a sum."),
        ),
        _row(
            "3.4", "n_i", Cost(21 * n - 15, 24 * n - 15), (text, "joint_moment"),
            "R taken out of the bracket of (3.3-57), so that R f_{i+1} is known from (3.3-56); p* + s is added again; "
            "no load, so that link n has neither rotation nor the first two terms.",
            _both(
                "follows",
                "One rearrangement of (3.3-57) gives both numbers; as printed, with a load, both are 30 n.",
            ),
            [Reading("as (3.3-57) is printed, p*_i rotated into frame i + 1, and a load", printed["joint_moment"])],
        ),
        _row(
            "3.4", "total", Cost(117 * n - 24, 103 * n - 21), (text, _NEWTON),
            "the sum of the rows: 2 n multiplications more, those of w x z qd.",
            (Label("not equal", not_known.format("2 n")), SUM_OF_ROWS),
            [
                Reading("without the products of w x z qd", total - s["axis_rate"]),
                Reading("and all that is left out: the whole text", texts.formulation(text).cost),
            ],
            {**_GEOMETRY, "joint_torque": "tau_i"},
        ),
    )  # fmt: skip


# ------------------------------------------------------------------------------------------ Table 3.5


@cache
def table_3_5() -> tuple[Row, ...]:
    """The totals of the three formulations: six polynomials."""
    return _lagrange_row(), _newton_row(), dalembert.row()


def _lagrange_row() -> Row:
    text = "lagrange_euler_table"
    s = texts.formulation(text).stages
    gravity = s["gravity_term"] + s["gravity_loading"]
    products = Cost(s["inertia_torque"].multiplications, 0 * n)
    return _row(
        "3.5", "Lagrange-Euler",
        Cost(Polynomial.of("128/3", "512/3", "739/3", "160/3", 0), Polynomial.of("98/3", "781/6", "559/3", "245/6", 0)),
        (text, _TABLED),
        "the procedure of Table 3.1, but without its gravity rows (2 and 3), and with the n^2 multiplications of "
        "D qdd, whose n^2 - n additions are not counted: with these changes every coefficient is equal.",
        (
            Label("not equal", "36 n^2 - 28 n of gravity are not in the published number, n^2 of D qdd are."),
            Label("not equal", "26 n^2 - 23 n of gravity are not in the published number."),
        ),
        [
            Reading(
                "rows 1 and 4 to 7 of Table 3.1, and the multiplications of D qdd",
                summed(s[stage] for stage in _TABLED.split()) - gravity + products,
            )
        ],
        _NOT_TABLED,
    )  # fmt: skip


def _newton_row() -> Row:
    text = "newton_euler_link"
    whole, s = texts.formulation(text).cost, texts.formulation(text).stages
    return _row(
        "3.5", "Newton-Euler", Cost(132 * n, 111 * n - 4), (text, f"{_NEWTON} joint_torque"),
        "not Table 3.4's savings but Table 3.3 as printed: nested cross products, p*_i rotated into frame i + 1, a "
        "load that is rotated into frame n like any other force, also if it is zero, and tau_i; w_0 = w'_0 = 0 save 4 "
        "additions at joint 1.",
        (
            Label(
                "not equal",
                "The products of w x z qd, 2 n - 2, are not in the published number: an omission or a slip of the "
                "table.",
            ),
            Label(
                "tuned",
                "A load of zeros is rotated, but zeros are not added at joint 1: chosen so that both coefficients are "
                "met; without the second choice it would be 111 n.",
            ),
        ),
        [
            Reading("without the products of w x z qd", whole - s["geometry"] - s["axis_rate"]),
            Reading("with the savings of Table 3.4", table_3_4()[-1].counted),
            Reading("and all that is left out: the whole text", whole),
        ],
        _GEOMETRY,
    )  # fmt: skip


def tables() -> tuple[Row, ...]:
    """All rows of Tables 3.1, 3.4 and 3.5."""
    return table_3_1() + table_3_4() + table_3_5()


# ------------------------------------------------------------------------------------------ the literature


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
