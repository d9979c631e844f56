"""Counts of operations: published tables beside what the texts do, and counts that must not change unnoticed."""

import math
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from benchmarks import counts as counts_note
from fastdyn.kernels import crba
from fastdyn.mechanism.chains import dh_chain
from fastdyn.polynomials import Polynomial
from fastdyn.quantities import QUANTITIES
from fastdyn.robots import random_chain
from fastdyn.scalars import Counting, Operations, count, count_stages
from fastdyn.study import counts
from fastdyn.study.counts import Cost
from fastdyn.study.rows import FORMULATIONS
from fastdyn.study.timing.results import LABELS

n = Polynomial((0, 1))


def cost(multiplications, additions):
    """A Cost from coefficients, the highest power first."""
    return Cost(Polynomial.of(*multiplications.split()), Polynomial.of(*additions.split()))


# ------------------------------------------------------------------------------------------ polynomials


@pytest.mark.parametrize("coefficients", [(), (3,), (0, 1), (Fraction(-1, 2), 0, Fraction(7, 3)), (1, 1, 1, 1, 1)])
def test_a_polynomial_is_found_from_its_values(coefficients):
    polynomial = Polynomial(coefficients)
    assert Polynomial.through(map(polynomial, range(1, 9))) == polynomial
    assert Polynomial.through(map(polynomial, range(3, 11)), first=3) == polynomial


def test_values_off_a_polynomial_are_refused():
    with pytest.raises(ValueError, match="do not lie on a polynomial of degree 3 or less"):
        Polynomial.through([1, 2, 4, 8, 16, 32])


def test_polynomials_add_multiply_and_print():
    assert 32 * n * (n - 1) == Polynomial.of(32, -32, 0)
    assert n - n == Polynomial(())
    assert (n + 1)(4) == 5
    printed = [str(p) for p in (n - n, n, -1 * n * n + 1, Fraction(128, 3) * n * n - n)]
    assert printed == ["0", "n", "-n^2 + 1", "128/3 n^2 - n"]


# ------------------------------------------------------------------------------------------ counting by stage


def test_stages_count_for_the_innermost_and_sum_to_the_whole():
    model = random_chain(4).model
    arguments = (model.P, model.tree, *(np.full(rows, 0.5) for rows in (4, 16, crba.mass_matrix_rows(4))))
    stages = {"outer": crba.composite, "inner": crba.parent_inertia}
    found = count_stages(crba.mass_matrix, stages, *arguments)
    assert set(found) == {"", "outer", "inner"}
    assert min(found[name].multiplications + found[name].additions for name in found) > 0
    assert sum((found[name] for name in stages), found[""]) == count(crba.mass_matrix, *arguments)


def test_functions_are_themselves_again_after_counting_even_if_it_fails():
    before, model = crba.composite, random_chain(2).model
    with pytest.raises(TypeError):
        count_stages(crba.mass_matrix, {"composite": before}, model.P, model.tree, 0, 0, 0)
    assert crba.composite is before


def test_divisions_and_sines_are_counted_apart():
    found = count(lambda x: (1.0 / x, x / 3.0, x.sincos(), -x), Counting(2.0))
    assert found.totals() == (0, 0, 2, 1, 0, 0)


# ------------------------------------------------------------------------------------------ Table 3.1


def test_every_row_of_table_3_1_is_counted_as_published():
    rows = counts.table_3_1()
    assert len(rows) == 8
    assert all(row.equal for row in rows)
    assert sum((row.counted for row in rows[:-1]), counts.NOTHING) == rows[-1].published
    assert rows[-1].counted.at(6) == (102_440, 78_203)


def test_a_trace_costs_four_full_products_and_three_additions():
    traces = Fraction(1, 6) * n * (n + 1) * (n + 2)
    assert counts.table_3_1()[3].counted == Cost(4 * 64 * traces, (4 * 48 + 3) * traces)


def test_summing_from_max_i_j_k_spares_a_quarter_of_the_traces():
    row = counts.table_3_1()[5]
    traces = Fraction(1, 24) * n * (n + 1) * (n + 2) * (3 * n + 1)
    assert row.readings[0].cost == Cost(256 * traces, 195 * traces)
    assert row.readings[0].cost.at(6) == (68_096, 51_870)
    assert row.counted.at(6) == (86_016, 65_520)


# ------------------------------------------------------------------------------------------ Table 3.4


def test_table_3_4_comes_out_equal_but_for_two_products_of_each_joint():
    rows = {row.name: row for row in counts.table_3_4()}
    assert len(rows) == 9
    assert all(row.equal_additions for row in rows.values())
    assert {name for name, row in rows.items() if not row.equal_multiplications} == {"w'_i", "total"}
    for name in ("w'_i", "total"):
        row = rows[name]
        assert row.counted - row.published == Cost(2 * n, 0 * n)
        assert row.readings[0].cost == row.published
    assert rows["total"].counted == cost("119 -24", "103 -21")


def test_rows_of_table_3_4_sum_to_its_total():
    *rows, total = counts.table_3_4()
    assert sum((row.published for row in rows), counts.NOTHING) == total.published
    assert sum((row.counted for row in rows), counts.NOTHING) == total.counted


# ------------------------------------------------------------------------------------------ Table 3.5


def test_table_3_5_leaves_gravity_out_of_lagrange_euler():
    lagrange, _, _ = counts.table_3_5()
    assert not lagrange.equal_multiplications
    assert not lagrange.equal_additions
    assert lagrange.published.at(6) == (101_348, 77_405)
    assert lagrange.readings[0].cost == lagrange.published
    assert lagrange.counted - lagrange.published == cost("35 -28 0", "26 -23 0")


def test_table_3_5_counts_newton_euler_as_table_3_3_prints_it():
    _, newton, _ = counts.table_3_5()
    assert newton.equal_additions
    assert not newton.equal_multiplications
    assert newton.counted == cost("134 -2", "111 -4")
    assert newton.readings[0].cost == newton.published


# ------------------------------------------------------------------------------------------ all 40 polynomials


def test_every_row_says_why_and_labels_both_numbers_as_they_are():
    rows = counts.tables()
    assert len(rows) == 20
    for row in rows:
        assert row.why.endswith(".")
        for label, side in ((row.multiplications, "multiplications"), (row.additions, "additions")):
            published = getattr(row.published, side)
            readings = {getattr(reading.cost, side) for reading in row.readings if "published" not in reading.what}
            assert label.why.endswith(".")
            assert (label.kind in ("not equal", "not reproduced")) == (published != getattr(row.counted, side))
            if label.kind == "no information":
                assert published == Polynomial(()) or row.name in ("tau = D qdd + h + c", "total")
            if label.kind in ("not equal", "not reproduced"):
                assert (published in readings) == (label.kind == "not equal")


def test_labels_are_counted_in_one_sentence():
    found = counts.labels(counts.table_3_1() + counts.table_3_4())
    assert found == {
        "forced": 11, "no information": 7, "follows": 11, "tuned": 3, "not equal": 2, "not reproduced": 0,
    }  # fmt: skip
    assert list(found) == list(counts.KINDS)
    assert counts.summary(counts.tables()).startswith(
        "33 of 40 polynomials equal: 11 forced by the printed equations, 7 that carry no information, "
        "11 that follow from a plain procedure, 4 tuned to the number; "
    )


def counted_again(name, joints):
    """Operations of each stage of a formulation's text, the one that is timed, without a load."""
    row, chain = FORMULATIONS[name], dh_chain(counts.arm(joints))
    module = sys.modules[row.text.__module__]
    stages = {stage: getattr(module, stage) for stage in counts.formulation(name).stages if stage}
    buffers = [np.full(math.prod(field.core(joints)), 0.5) for field in row.reads]
    buffers += [np.zeros(0) for _ in row.optional]
    buffers += [np.zeros(math.prod(field.core(joints))) for field in row.gives]
    return count_stages(row.text, stages, chain.P, chain.kinds, *buffers, np.zeros(row.rows(joints)))


def test_every_row_is_counted_in_stages_of_a_text_that_is_timed():
    """What a table leaves out of the text is named in the row of its total: with that, the text is complete."""
    totals = []
    for row in counts.tables():
        assert row.text in LABELS
        assert not set(row.stages) & set(row.left_out)
        for joints in (1, 2, 4):
            found = counted_again(row.text, joints)
            assert row.counted.at(joints) == sum((found[k] for k in row.stages), Operations()).totals()[:2]
        if set(row.stages) | set(row.left_out) == set(found) - {""}:
            assert found[""] == Operations()
            totals.append(f"{row.table} {row.name}")
    others = ["3.5 Lagrange-Euler", "3.5 Newton-Euler", "3.5 generalized d'Alembert"]
    assert totals == ["3.1 tau = D qdd + h + c", "3.4 total", *others]


def test_the_note_on_counts_is_what_its_command_writes():
    note = Path(__file__).parents[1] / "notes" / "measurements" / "counts.md"
    assert note.read_text(encoding="utf-8") == counts_note.text(), "run: python -m benchmarks.counts"


def test_a_load_costs_newton_euler_nothing():
    """Table 3.3 is counted and timed without a load: zeros are rotated as a load would be."""
    row, chain = FORMULATIONS["newton_euler_link"], dh_chain(counts.arm(3))
    motion, work = np.full((3, 3), 0.5), np.zeros(row.rows(3))
    with_load, without = (
        count(row.text, chain.P, chain.kinds, *motion, np.full(rows, 0.5), np.zeros(3), work) for rows in (6, 0)
    )
    assert with_load == without
    assert with_load.totals()[:2] == counts.formulation(row.name).cost.at(3)


# ------------------------------------------------------------------------------------------ problems 3.10 and 3.12


def from_one_joint_on(polynomial):
    """Whether a polynomial is positive for all n >= 1: in powers of n - 1 it has no negative coefficient."""
    shifted = Polynomial.through(map(polynomial, range(1, 9)), first=0)
    return min(shifted.coefficients) >= 0 and polynomial(1) > 0


def test_lagrange_euler_without_velocity_terms_still_costs_more_than_newton_euler():
    """Problem 3.10: never more efficient, for no number of joints, than Newton-Euler with all terms."""
    slow = counts.formulation("simplified").cost
    table = sum((row.counted for row in counts.table_3_1()[:5]), counts.NOTHING)
    assert slow - table == Cost(n * n + 6 * n, n * n + n)  # the entries of ^{i-1}A_i, D qdd and + c
    for name in ("newton_euler_base", "newton_euler_link", "newton_euler_frugal"):
        more = slow - counts.formulation(name).cost
        assert from_one_joint_on(more.multiplications)
        assert from_one_joint_on(more.additions)
    assert slow.at(6) == (16_496, 12_515)


def test_without_velocity_terms_the_best_kernels_save_operations_up_to_two_joints():
    """Problem 3.10 beyond the chapter: D by composite bodies and c, D qdd + c, against the library's Newton-Euler."""
    found = {text.name: text.cost for text in counts.kernels()}
    products = Cost(n * n, n * n)
    less = found["inverse_dynamics"] - found["mass_matrix"] - found["gravity_forces"] - products
    assert [all(k > 0 for k in less.at(joints)) for joints in range(1, 13)] == [True] * 2 + [False] * 10
    assert [all(k < 0 for k in less.at(joints)) for joints in range(1, 13)] == [False] * 2 + [True] * 10


def test_probing_the_mass_matrix_takes_n_runs_or_by_symmetry_the_sum_of_shorter_ones():
    found = counts.probing_counts()
    assert found.run == cost("134 -2", "111 -4")
    assert found.columns == Cost(n * found.run.multiplications, n * found.run.additions)
    for k in range(1, 13):
        shorter = [found.run.at(j) for j in range(1, k + 1)]
        assert found.lower.at(k) == tuple(map(sum, zip(*shorter, strict=True)))


def test_probing_is_the_least_only_if_every_probe_is_charged_a_whole_run():
    """D takes less than a quarter of that if what is zero in a probe is not computed: composite rigid bodies."""
    (bodies,) = (text.cost for text in counts.kernels() if text.name == "mass_matrix")
    runs = counts.probing_counts().lower
    for joints in counts.SIZES:
        assert all(4 * few < many for few, many in zip(bodies.at(joints), runs.at(joints), strict=True))


# ------------------------------------------------------------------------------------------ counts that must not change


def test_counts_of_the_kernels():
    """A change here is a change of the library's speed: measure it, then write the new numbers down."""
    found = {text.name: text.cost for text in counts.kernels()}
    known = {
        "inverse_dynamics": cost("82 -46", "71 -28"),
        "forward_dynamics": cost("221 -173", "213 -151"),
        "forward_dynamics_crba": cost("1/6 11 599/6 -76", "1/6 7 605/6 -56"),
        "mass_matrix": cost("10 20 -30", "6 32 -28"),
        "coriolis_matrix": cost("31 126 -119", "39/2 253/2 -108"),
        "bias_forces": cost("81 -46", "70 -28"),
        "gravity_forces": cost("32 -24", "24 -14"),
        "kinetic_energy": cost("50 -21", "36 -14"),
        "potential_energy": cost("8 11", "7 14"),
        "joint_reactions": cost("130 -46", "119 -28"),
        "center_of_mass": cost("8 7", "7 11"),
        "momentum": cost("74 1", "59 15"),
        "forward_kinematics": cost("30 24", "19 15"),
        "link_poses": cost("66 -12", "46 -12"),
        "jacobian": cost("36 24", "25 15"),
        "pose_and_jacobian": cost("36 24", "25 15"),
        "frame_velocity": cost("39 30", "34 24"),
        "frame_acceleration": cost("60 42", "49 33"),
        "jacobian_derivative": cost("57 30", "52 24"),
        "hessian": cost("6 42 24", "3 28 15"),
        "singular_values": cost("1314 3085", "937 1101"),  # 12 sweeps, the most; 4 to 8 are needed
        "inverse_velocity": cost("1333 3159", "950 1137"),
        "inverse_acceleration": cost("1393 3201", "999 1176"),
        "static_torques": cost("74 0", "55 1"),
        "task_dynamics": cost("1/6 14 1781/6 232", "1/6 10 1577/6 147"),
    }
    assert found == known
    assert list(found) == list(QUANTITIES)
    assert found["inverse_dynamics"].at(6) == (446, 398)


def test_counts_of_kinematics_by_hand():
    """A joint turns two pairs of axes (12 and 6 each) and adds two multiples of axes to the origin (6 and 6)."""
    found = {text.name: text.cost for text in counts.kernels()}
    joints = Cost((2 * 12 + 6) * (n - 1), (2 * 6 + 6 + 1) * (n - 1))  # 1: the offset of its angle
    first = cost("18", "7")  # its parent's axes are zeros and ones
    frame = cost("36", "27")  # on the last link: four vectors by their components, and one sum of origins
    pose = joints + first + frame
    assert found["forward_kinematics"] == pose
    column = Cost(6 * n, 6 * n)  # an arm and a cross product
    assert found["jacobian"] == found["pose_and_jacobian"] == pose + column
    pairs = Fraction(1, 2) * n * (n + 1)
    assert found["hessian"] == found["jacobian"] + Cost(12 * pairs, 6 * pairs)  # two cross products each
    assert found["static_torques"] == found["gravity_forces"] + found["jacobian"] + Cost(6 * n, 6 * n)


def test_counts_of_the_formulations():
    found = {text.name: text.cost for text in counts.formulations()}
    assert found == {
        "lagrange_euler": cost("32 454/3 293 158/3 0", "49/2 689/6 443/2 211/6 0"),
        "lagrange_euler_table": cost("128/3 518/3 847/3 94/3 0", "98/3 787/6 640/3 113/6 0"),
        "simplified": cost("128/3 197 94/3 0", "98/3 297/2 113/6 0"),
        "recursive_lagrange": cost("631 -80", "509 -80"),
        "newton_euler_base": cost("195 0", "150 0"),
        "newton_euler_link": cost("140 -2", "112 -4"),
        "newton_euler_frugal": cost("128 -24", "106 -21"),
        "probing": cost("68 339 -4", "113/2 551/2 -8"),
        "generalized_dalembert": cost("7/6 30 833/6 -51", "1 53/2 203/2 -39"),
        "generalized_dalembert_literal": cost("1/10 35/8 365/12 609/8 6539/60 -58", "1/10 23/8 79/4 405/8 1473/20 -36"),
        "generalized_dalembert_nearest": cost("13/6 107/2 268/3 -31", "3/2 89/2 50 -15"),
        "christoffel": cost("29/8 53/4 211/8 267/4 0", "19/8 39/4 153/8 195/4 0"),
        "kane": cost("39/2 243/2 0", "33/2 175/2 3"),
        "screws": cost("225 -24", "175 -24"),
        "stacked_screws": cost("1 261 479 -78", "1 473/2 673/2 -60"),
    }


def test_stages_sum_to_the_whole():
    for text in counts.kernels() + counts.formulations():
        assert sum(text.stages.values(), counts.NOTHING) == text.cost


def test_figures_from_the_literature_agree_with_their_formulas():
    known = {figure.method: (figure.multiplications, figure.additions) for figure in counts.literature()}
    assert known["recursive Lagrange, 4x4 matrices"] == (830 * 6 - 592, 675 * 6 - 464)
    assert known["recursive Lagrange, 3x3 matrices"] == (412 * 6 - 277, 320 * 6 - 201)
    assert known["general recursive Newton-Euler"] == (150 * 6 - 48, 131 * 6 - 48)
    additions = Polynomial.of(25, "199/3", "259/2", "127/3", -96)
    assert known["Lagrange-Euler, 4x4 matrices"] == (66_271, additions(6))
    assert (646, 394) in known.values()
    assert (224, 174) in known.values()


def test_the_kernel_is_cheaper_than_every_general_method_known():
    multiplications, additions = counts.kernels()[0].cost.at(6)
    for figure in counts.literature():
        if "simplified" not in figure.method and "Kane" not in figure.method:
            assert multiplications < figure.multiplications
            assert additions < figure.additions
