"""Generalized d'Alembert: its three texts compute the same, and what the published counts may pay for.

Texts run in plain Python here; tests/test_formulations.py compares them compiled with the library's kernels.
"""

from functools import reduce
from itertools import product

import numpy as np
import pytest

import fastdyn as fd
from fastdyn.formulations import generalized_dalembert, generalized_dalembert_literal, generalized_dalembert_nearest
from fastdyn.mechanism.chains import dh_chain
from fastdyn.polynomials import Polynomial
from fastdyn.scalars.vectors import cross, plus
from fastdyn.study import counts
from fastdyn.study.counts import Cost, dalembert
from fastdyn.study.counts.counting import whole
from fastdyn.study.sections.dalembert import blocks

EPS = np.finfo(float).eps
MODULES = {
    module.__name__.rpartition(".")[2]: module
    for module in (generalized_dalembert, generalized_dalembert_literal, generalized_dalembert_nearest)
}
TEXT, LITERAL, NEAREST = MODULES


def terms(name, robot, state):
    """tau, D_tran, D_rot, h_tran, h_rot and c, by a text in plain Python."""
    module, chain, n = MODULES[name], dh_chain(robot), robot.n
    results = [np.full(size, np.nan) for size in (n, n * n, n * n, n, n, n)]
    getattr(module, name)(chain.P, chain.kinds, *state, *results, np.full(module.work_rows(n), np.nan))
    return dict(zip(("tau", "D_tran", "D_rot", "h_tran", "h_rot", "c"), results, strict=True))


def degree(cost):
    return max(len(p.coefficients) for p in (cost.multiplications, cost.additions)) - 1


# ------------------------------------------------------------------------------------------ the texts


@pytest.mark.parametrize("name", [LITERAL, NEAREST])
@pytest.mark.parametrize("n", [1, 2, 5])
def test_every_term_is_that_of_the_text_that_computes_each_sum_once(name, n):
    """Each term is a sum of some n^2 products that are rounded some n times, the scale being the largest of them."""
    robot, state = fd.robots.random_chain(n, n), np.random.default_rng(n).normal(size=(3, n))
    once, again = terms(TEXT, robot, state), terms(name, robot, state)
    scale = max(np.abs(found).max() for found in once.values())
    for term, found in again.items():
        assert np.abs(found - once[term]).max() <= 20 * n * EPS * scale, term


def test_sums_where_they_are_printed_are_of_order_five():
    """h_tran alone: D has three nested sums and h_rot four. The published order, three, needs sums that are kept."""
    found = counts.formulation(LITERAL)
    degrees = {
        "geometry": 1, "rotational_inertia": 3, "translational_inertia": 3, "translational_velocity_torque": 5,
        "rotational_velocity_torque": 4, "gravity_torques": 2, "torques": 2,
    }  # fmt: skip
    assert {stage: degree(cost) for stage, cost in found.stages.items() if stage} == degrees
    assert [degree(counts.formulation(name).cost) for name in MODULES] == [3, 5, 3]
    assert found.cost.at(6) == (16_354, 10_998)


# ------------------------------------------------------------------------------------------ the published polynomials


def test_the_published_polynomials_by_triples():
    published = dalembert.share("", "", dalembert.PUBLISHED)
    assert published.multiplications == (13, 46, 85, 69)
    assert published.additions == (8, 40, 46, 45)
    n, T = dalembert.n, dalembert.TRIPLES
    assert Cost(13 * T + 46 * n * n + 85 * n + 69, 8 * T + 40 * n * n + 46 * n + 45) == dalembert.PUBLISHED
    assert dalembert.PUBLISHED.at(6) == (2_963, 2_209)


def test_the_glyphs_of_the_multiplications_cannot_be_a_count():
    glyphs = dalembert.row().readings[-1].cost.multiplications
    assert [k for k in range(1, 50) if glyphs(k).denominator == 1] == [6, 12, 18, 24, 30, 36, 42, 48]
    assert all(dalembert.PUBLISHED.multiplications(k).denominator == 1 for k in range(1, 50))
    assert glyphs(6) == 2_749


def test_one_joint_needs_fewer_operations_than_are_published_even_with_nothing_kept():
    needed, published = counts.formulation(LITERAL).cost.at(1), dalembert.PUBLISHED.at(1)
    assert (needed, published) == ((162, 111), (213, 139))


# ------------------------------------------------------------------------------------------ the family


@pytest.mark.parametrize(
    ("polynomial", "condition"),
    [
        (dalembert.PAIRS, lambda i, j, s: i <= s and j == 0),
        (dalembert.LOWER, lambda i, j, s: i < s and j == 0),
        (dalembert.TRIPLES, lambda i, j, s: i <= j <= s),
        (dalembert.ALL_TRIPLES, lambda i, j, s: i <= s and j <= s),
    ],
)
def test_how_often_loops_run(polynomial, condition):
    for n in range(1, 7):
        assert polynomial(n) == sum(condition(*indices) for indices in product(range(n), repeat=3))


def test_the_first_ways_are_the_text_that_computes_each_sum_once():
    ways = {stage.name: next(iter(stage.ways)) for stage in dalembert.family()}
    assert dalembert.procedure(ways).cost == counts.formulation(TEXT).cost


def test_the_nearest_procedure_runs_and_costs_what_its_choices_say():
    """As the text is: the first link's rotation is no product, D has both sums, and tau is computed."""
    ways = dict(dalembert.search().nearest.ways)
    for stage in dalembert.family():
        if stage.name.startswith(("rotations", "tau")):
            ways[stage.name] = next(iter(stage.ways))
    ways["sums of D, (3.4-25)"] = "for i up to j, one cross product again, times m_s"
    assert dalembert.procedure(ways).cost == counts.formulation(NEAREST).cost


def test_sums_of_d_with_all_vectors_again_cost_what_the_literal_text_does():
    stages = counts.formulation(LITERAL).stages
    ways = next(stage.ways for stage in dalembert.family() if stage.name.startswith("sums of D"))
    found = ways["for i up to j, all vectors again, times m_s"]
    assert found == stages["rotational_inertia"] + stages["translational_inertia"]


def test_velocities_with_inner_sums_again():
    """Counted with the functions of the literal text, in frame 0; in frame s the sums have as many terms."""
    literal = generalized_dalembert_literal

    def text(P, kinds, qd, work):
        for k in range(P.shape[1]):
            literal.rate_sum(qd, work, k)
            terms = [cross(literal.rate_sum(qd, work, p - 1), literal.joint_rate(qd, work, p)) for p in range(1, k + 1)]
            terms and reduce(plus, terms)

    found = whole(text, {"work": literal.work_rows})
    ways = [cost for stage in dalembert.family() for way, cost in stage.ways.items() if "inner sum" in way]
    assert ways == [found, found]


# ------------------------------------------------------------------------------------------ the search


def test_eight_procedures_have_the_published_powers_of_n_and_none_the_constants():
    found = dalembert.search()
    assert found.members == np.prod([len(stage.ways) for stage in dalembert.family()])
    assert found.equal == (2_239_488, 1_128, 8, 0)
    assert dalembert.PUBLISHED - found.nearest.cost == Cost(Polynomial((73,)), Polynomial((42,)))
    assert found.neighbours == (308, 5_928)  # one in twenty: it may be chance


def test_the_eight_are_one_procedure_with_three_details_open():
    details = [
        {"rotations, axes and positions, (3.4-3)": "computed, the first link's rotation without a product"},
        {
            "I_s ^sR_0 z_j": "for all n^2 pairs",
            "h_rot, (3.4-27)": "z_i^T I_s from D, I_s w_s once for each link",
        },
        {
            "sums of D, (3.4-25)": "for i up to j, one cross product again, times m_s, one addition for each further s",
            "h_tran, (3.4-26)": "again for every s, by (3.3-34), two sums, m_s times the torques",
        },
    ]
    nearest = dalembert.search().nearest.ways
    members = [
        nearest
        | {name: way for detail, one in zip(details, chosen, strict=True) if one for name, way in detail.items()}
        for chosen in product((False, True), repeat=3)
    ]
    assert len({tuple(member.items()) for member in members}) == dalembert.search().equal[2]
    for member in members:
        off = dalembert.PUBLISHED - dalembert.procedure(member).cost
        assert degree(off) == 0


def test_eight_additions_for_a_triple_leave_one_out():
    assert len(dalembert.search().inertia) == 2
    for way in dalembert.search().inertia:
        assert way.startswith("for i up to j, one cross product again, times m_s, one addition")


def test_shares_sum_to_the_procedure():
    *stages, total, published = dalembert.search().shares
    for side in ("multiplications", "additions"):
        assert [sum(column) for column in zip(*(getattr(s, side) for s in stages), strict=True)] == list(
            getattr(total, side)
        )
        assert getattr(total, side)[:3] == getattr(published, side)[:3]


# ------------------------------------------------------------------------------------------ the row, and the page


def test_the_row_is_counted_in_the_nearest_text_without_the_torques():
    row, text = dalembert.row(), counts.formulation(NEAREST)
    assert row.text == text.name
    assert row.counted == sum((text.stages[stage] for stage in row.stages), counts.NOTHING)
    assert set(text.stages) - set(row.stages) == {*row.left_out}
    assert row.published - row.counted == Cost(Polynomial((100,)), Polynomial.of("-1/6", "3/2", "2/3", 60))
    assert {row.multiplications.kind, row.additions.kind} == {"not reproduced"}
    assert counts.formulation(TEXT).cost.at(6) == (2_114, 1_740)


def test_the_page_shows_what_each_term_may_pay_for():
    _, search, table, sentences = blocks(dalembert.search())
    assert [row[1] for row in search.rows] == [151_165_440, 2_239_488, 1_128, 8, 0]
    assert [str(value) for value in table.rows[-1][1:-1]] == ["13", "46", "85", "69", "8", "40", "46", "45"]
    assert all(len(row) == len(table.columns) for row in table.rows)
    assert any("chance: 5% of" in line for line in sentences.lines)
