"""The operation counts that Fu, Gonzalez and Lee publish, row by row, beside what the texts cost; others' counts."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

from fastdyn.polynomials import Polynomial
from fastdyn.study.counts import texts
from fastdyn.study.counts.costs import Cost, Figure, Reading, Row, summed

n = Polynomial((0, 1))


# ------------------------------------------------------------------------------------------ Table 3.1


@cache
def table_3_1() -> tuple[Row, ...]:
    """Lagrange-Euler, row by row: every count equals the published one."""
    s = texts.lagrange_euler_as_tabled()
    triples = n * (n + 1) * (n + 2)
    coriolis = texts.coriolis_as_written()
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
            "n (n + 1) (n + 2) / 6 traces, D being symmetric, each of four full products (both U again, the product "
            "with J_k, that with U_ki^T) and 3 additions. Products with ^0A_0 = 1 are counted here, but not in row 2.",
        ),
        Row(
            "3.1", "sum of Tr(U_kj J_k U_ki^T)", Cost(0 * n, Fraction(1, 6) * n * (n - 1) * (n + 1)),
            s["inertia_coefficients"], "n - max(i, j) additions for each D_ij with i <= j.",
        ),
        Row(
            "3.1", "Tr(U_mjk J_m U_mi^T)", Cost(Fraction(128, 3) * n * triples, Fraction(65, 2) * n * triples),
            s["coriolis_trace"],
            "four full products and 3 additions for each trace again, U_mjk in one product from the U_{k-1,j} of row "
            "2; symmetric in j and k, but for every i, also for m < i, where U_mi = 0: n times the traces of row 4.",
            (Reading("m from max(i, j, k), as (3.2-33) says", coriolis["coriolis_trace"]),),
        ),
        Row(
            "3.1", "sum of Tr(U_mjk J_m U_mi^T)", Cost(0 * n, Fraction(1, 6) * n * n * (n - 1) * (n + 1)),
            s["coriolis_coefficients"], "n - max(j, k) additions for each h_ijk with j <= k, for every i.",
            (Reading("m from max(i, j, k), as (3.2-33) says", coriolis["coriolis_coefficients"]),),
        ),
    ]  # fmt: skip
    total = summed(row.counted for row in rows)
    published = Cost(
        Polynomial.of("128/3", "512/3", "844/3", "76/3", 0), Polynomial.of("98/3", "781/6", "637/3", "107/6", 0)
    )
    whole = total + s["link_matrices"] + s["inertia_torque"] + s["velocity_torque"] + s["torques"]
    as_written = whole - s["coriolis_trace"] - s["coriolis_coefficients"] + summed(coriolis.values())
    rows.append(
        Row(
            "3.1", "tau = D qdd + h + c", published, total,
            "the sum of the rows above. The products with qdd, qd qd and their sums are not counted.",
            (
                Reading("and the products and sums of (3.2-26), and the entries of ^{i-1}A_i", whole),
                Reading("the same with m from max(i, j, k): all operations of the text in this library", as_written),
            ),
        )
    )  # fmt: skip
    return tuple(rows)


# ------------------------------------------------------------------------------------------ Table 3.4


@cache
def table_3_4() -> tuple[Row, ...]:
    """Newton-Euler in link frames, row by row."""
    s = texts.newton_euler_with_savings()
    printed = texts.newton_euler_as_printed()
    as_printed = "as Table 3.3 prints it (nested cross products"
    rows = [
        Row(
            "3.4", "w_i", Cost(9 * n, 7 * n), s["angular_velocity"],
            "one addition and a full 3x3 rotation, 9 and 6. The count holds for any arm; the caption names a PUMA.",
        ),
        Row(
            "3.4", "w'_i", Cost(9 * n, 9 * n), s["angular_acceleration"] + s["axis_rate"],
            "the rotation, 9 and 6, and 3 additions; but w x z qd = (w_y qd, -w_x qd, 0) also takes two "
            "multiplications a joint, which (3.3-51) needs and the table leaves out.",
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
            "no load to rotate into frame n, so n - 1 rotations; but the addition of f_{n+1} = 0 is counted.",
            (
                Reading("without adding f_{n+1}", s["joint_force"] - Cost(0 * n, 0 * n + 3)),
                Reading("with a load in frame n + 1, rotated like any other force", printed["joint_force"]),
            ),
        ),
        Row(
            "3.4", "N_i", Cost(24 * n, 18 * n), s["link_moment"],
            "two products with I_i, 9 and 6 each, a cross product and a sum.",
        ),
        Row(
            "3.4", "n_i", Cost(21 * n - 15, 24 * n - 15), s["joint_moment"],
            "R taken out of the bracket of (3.3-57), so that R f_{i+1} is known from (3.3-56); p* + s is added again; "
            "no load, so that link n has neither rotation nor the first two terms.",
            (Reading("as (3.3-57) is printed, p*_i rotated into frame i + 1, and a load", printed["joint_moment"]),),
        ),
    ]  # fmt: skip
    total = summed(row.counted for row in rows)
    rows.append(
        Row(
            "3.4", "total", Cost(117 * n - 24, 103 * n - 21), total,
            "the sum of the rows: 2 n multiplications more, those of w x z qd. The entries of R, p* and tau_i are not "
            "counted.",
            (
                Reading("without the products of w x z qd", total - s["axis_rate"]),
                Reading("and the entries of R, p* and tau_i", total + s["geometry"] + s["joint_torque"]),
            ),
        )
    )  # fmt: skip
    return tuple(rows)


# ------------------------------------------------------------------------------------------ Table 3.5


@cache
def table_3_5() -> tuple[Row, ...]:
    """The totals of the three formulations: six polynomials."""
    return _lagrange_row(), _newton_row(), _dalembert_row()


def _lagrange_row() -> Row:
    total, s = table_3_1()[-1], texts.lagrange_euler_as_tabled()
    gravity = s["gravity_term"] + s["gravity_loading"]
    products = Cost(s["inertia_torque"].multiplications, 0 * n)
    return Row(
        "3.5", "Lagrange-Euler",
        Cost(Polynomial.of("128/3", "512/3", "739/3", "160/3", 0), Polynomial.of("98/3", "781/6", "559/3", "245/6", 0)),
        total.counted,
        "the procedure of Table 3.1, but without its gravity rows (2 and 3), and with the n^2 multiplications of "
        "D qdd, whose n^2 - n additions are not counted: with these changes every coefficient is equal.",
        (
            Reading("rows 1 and 4 to 7 of Table 3.1, and the multiplications of D qdd",
                    total.counted - gravity + products),
        ),
    )  # fmt: skip


def _newton_row() -> Row:
    s = texts.newton_euler_as_printed()
    total = summed(s.values()) - s["geometry"]
    return Row(
        "3.5", "Newton-Euler", Cost(132 * n, 111 * n - 4), total,
        "not Table 3.4's savings but Table 3.3 as printed: nested cross products, p*_i rotated into frame i + 1, a "
        "load that is rotated into frame n like any other force, and tau_i; w_0 = w'_0 = 0 save 4 additions at joint "
        "1. The additions are equal; the multiplications of w x z qd, two for each joint but the first, are omitted.",
        (
            Reading("without the products of w x z qd", total - s["axis_rate"]),
            Reading("with the savings of Table 3.4", table_3_4()[-1].counted),
            Reading("and the entries of R and p*", total + s["geometry"]),
        ),
    )  # fmt: skip


def _dalembert_row() -> Row:
    s = texts.dalembert()
    total = summed(s.values())
    additions = Polynomial.of("4/3", 44, "146/3", 45)
    published = Cost(Polynomial.of("13/6", "105/2", "268/3", 69), additions)
    literal = Cost(Polynomial.of("13/6", "108/2", "268/6", 69), additions)
    return Row(
        "3.5", "generalized d'Alembert", published, total,
        "cannot be reproduced: the procedure and its counts are in Fig. 3.9, which is missing from the copy used here. "
        "Counted is (3.4-24) to (3.4-28) with every sum over lower joints computed once. The order is the same, n^3; "
        "the published constants 69 and 45 suggest operations that do not depend on the number of joints, which the "
        "equations do not show. The multiplications are hard to read in print: read literally they are a whole number "
        "only if n is a multiple of 6, so they cannot be a count; the polynomial given in the literature, compared "
        "here, is whole for every n, because it equals 13 n (n + 1) (n + 2) / 6 + 46 n^2 + 85 n + 69.",
        (
            Reading("published, read literally", literal),
            Reading("the coefficients D, h and c alone, without (3.4-24)", total - s["torques"]),
            Reading("and without the positions and rotations of the links", total - s["torques"] - s["geometry"]),
        ),
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
