"""Timing against counting: what follows from times whose truth is known, and a small run. Nothing depends on speed."""

import dataclasses
import gc
import math
import time
from functools import partial

import numpy as np
import pytest

from fastdyn import clock, record
from fastdyn.errors import FastdynError
from fastdyn.formulations import newton_euler_link
from fastdyn.scalars import LANES, count, load, store
from fastdyn.study import counts, timing
from fastdyn.study.formulations import FORMULATIONS
from fastdyn.study.sections import headlines as study_headlines
from fastdyn.study.sections import report as study_report
from fastdyn.study.sections import timing as timing_section
from fastdyn.study.sections.headlines import keyed, warnings
from fastdyn.study.timing import figures, host, jobs, predictions, published, work
from fastdyn.study.timing.host import Cache, Host, Rates
from fastdyn.study.timing.predictions import BY_FORMULATION, BY_SIZE, Costs
from fastdyn.study.timing.results import (
    EXPONENTS,
    FAMILIES,
    KERNELS,
    LABELS,
    PAIRS,
    RATIOS,
    Amounts,
    Point,
    Spread,
    Timings,
    by_formulation,
    classic,
    compare,
    doubts,
    for_good,
    furthest,
    growth,
    level,
    slope,
)
from tests import small_report

TINY = timing.Plan(sizes=(1, 2, 6), operations=10**9, seconds=0.0, turns=1, passes=2, room=1 << 12)
SIZES = (1, 2, 3, 4, 6, 8, 12, 16, 25, 50, 100, 200)
QUIET = Host(4, (Cache(1, 32 << 10), Cache(2, 1 << 20)), (1.0,) * 4, (1.0,) * 3, (Rates(10.0, 80.0, 1.2),) * 3)
EXACT = 1e-10  # relative: what rounding leaves of a fit to times that follow the model exactly
TRUE = Costs("scalars", 0, 0, multiplication=0.5, addition=0.3, sine=10.0, byte=0.02, state=40.0)


@pytest.fixture(scope="module")
def works():
    return work.works()


@pytest.fixture(scope="module")
def made_up(works):
    """Timings whose passes follow a rule: ns(amounts, name, n) on scalars, five times as fast on lanes."""

    def made(ns=lambda amounts, name, n: TRUE.time(amounts), passes=(1.0, 1.01, 1.02), sizes=SIZES, host=QUIET):
        def point(name, n):
            amounts = works[name].at(n)
            one = Spread(tuple(ns(amounts, name, n) * scale for scale in passes))
            return Point(name, LABELS[name], n, amounts, Spread(tuple(x / 5 for x in one.passes)), one)

        points = tuple(point(name, n) for n in sizes for name in LABELS)
        return Timings(points, (Spread((2e3,) * 3), Spread((1e4,) * 3)), host, {"Passes": "3"})

    return made


# ---------------------------------------------------------------------------------------------- what texts do


def test_loads_and_stores_are_those_of_the_text():
    def text(P, tree, q, qd, qdd, given, tau, rows):
        part = rows[1:]  # a slice counts what it does, and is nothing by itself
        store(part, 0, load(q, 0) * load(qd, 0))
        store(tau, 0, load(part, 0))

    quantity = dataclasses.replace(FORMULATIONS["newton_euler_link"], text=text)
    assert work.moved(quantity, 2) == 5


def test_what_a_text_does_is_a_polynomial_that_holds_beyond_the_sizes_it_was_found_at(works):
    quantity = FORMULATIONS["newton_euler_link"]
    n = 20
    found = works["newton_euler_link"].at(n)
    assert found.moved == 8 * (work.moved(quantity, n) + 2 * 4 * n)  # q, qd, qdd in and tau out, loaded and stored
    assert found.memory == 8 * (2 * 4 * n + newton_euler_link.work_rows(n))


def test_the_text_that_is_timed_costs_what_was_counted(works):
    """Of every formulation and kernel, on the arm that is timed; a pair of sine and cosine for each joint."""
    for name in LABELS:
        quantity = work.row(name)
        counted = count(quantity.text, *work._arguments(quantity, 3, lambda size: np.full(size, 0.5)))
        found = works[name].at(3)
        assert (counted.multiplications, counted.additions) == (found.multiplications, found.additions), name
        assert (counted.sincos, found.sines) == (3, 3), name
    assert set(FORMULATIONS) | set(KERNELS) == set(LABELS)


# ---------------------------------------------------------------------------------------------- spread and growth


def test_the_spread_is_that_of_the_passes():
    found = Spread((2.0, 2.5, 2.1))
    assert (found.median, found.least, found.most) == (2.1, 2.0, 2.5)
    assert found.within(0.5)
    assert not found.within(0.4)
    assert not Spread((2.0,)).within(1.0)  # one pass says nothing of its spread


def test_a_point_without_latency_says_so(made_up):
    with pytest.raises(ValueError, match=r"kind is 'latency': not measured for lagrange_euler, 1 joints"):
        made_up().points[0].ns("latency")


def test_growth_is_that_of_every_pass_and_never_crosses_a_level_of_cache(made_up):
    """Within each level the time grows as n^2, and jumps tenfold at each border; the last pass grows as n^2.1."""
    found = made_up()
    points = []
    for p in found.points:
        of = {kind: 10.0 ** level(p, kind, QUIET) for kind in ("lanes", "scalars")}
        times = {kind: Spread((of[kind] * p.n**2, of[kind] * p.n**2, of[kind] * p.n**2.1)) for kind in of}
        points.append(dataclasses.replace(p, **times))
    found = dataclasses.replace(found, points=tuple(points))
    grown = growth(found)
    assert {g.formulation for g in grown} == set(LABELS)
    for g in grown:
        assert g.exponent.passes == pytest.approx((2.0, 2.0, 2.1), abs=1e-9)
        own = [p for p in points if p.formulation == g.formulation and g.first <= p.n <= g.last]
        assert {level(p, g.kind, QUIET) for p in own} == {g.level}
        assert len(own) >= 3
        assert g.last <= 4 * g.first
        assert g.counted == pytest.approx(slope([p.n for p in own], [p.amounts.operations for p in own]))
    assert {g.level for g in grown} == {1, 2}  # beyond the second level, nothing is fitted
    own = [g for g in grown if g.formulation == "newton_euler_link" and g.kind == "lanes"]
    assert furthest(grown, "newton_euler_link", "lanes") == own[-1]
    assert furthest(grown, "nothing", "lanes") is None


def test_two_sizes_within_a_level_give_no_exponent(made_up):
    assert growth(made_up(sizes=(1, 100, 200))) == ()


def test_where_caches_are_not_known_growth_is_fitted_over_all_sizes_and_the_page_says_so(made_up):
    unknown = dataclasses.replace(QUIET, caches=())
    found = made_up(host=unknown)
    assert {g.level for g in growth(found)} == {0}
    assert {g.last for g in growth(found)} == {200}
    results = dataclasses.replace(small_report.results(), timings=found)
    assert any(
        "does not tell the sizes of its caches" in str(block) for block in timing_section.section(results).blocks
    )


def test_counts_predict_four_three_and_one(works):
    """Far out, where only the highest power is left."""
    for name, power in {"lagrange_euler": 4, "generalized_dalembert": 3, "newton_euler_link": 1, "rnea": 1}.items():
        few, many = (works[name].at(10**k).operations for k in (6, 7))
        assert math.log10(many / few) == pytest.approx(power, abs=1e-4)


# ---------------------------------------------------------------------------------------------- costs and predictions


def test_non_negative_least_squares_is_the_best_of_all_non_negative_vectors():
    """Its gradient is zero where x > 0 and points outward where x = 0: the conditions of a minimum, which is unique."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        A, b = rng.normal(size=(12, 5)), rng.normal(size=12)
        x = predictions.non_negative(A, b)
        gradient = A.T @ (A @ x - b)
        size = 1e3 * np.finfo(float).eps * np.linalg.norm(A) * np.linalg.norm(b)  # rounding of sums of 12 products
        assert (x >= 0).all()
        assert np.abs(gradient[x > 0]).max(initial=0.0) < size
        assert gradient[x == 0].min(initial=0.0) > -size


def test_a_fit_recovers_the_costs_that_made_the_times(made_up):
    """The condition of the columns is about 30, and there are up to 134 rows: rounding is far below EXACT."""
    for found in predictions.costs(made_up(passes=(1.0,) * 3)):
        scale = 0.2 if found.kind == "lanes" else 1.0
        for field in ("multiplication", "addition", "sine", "byte", "state"):
            assert getattr(found, field) == pytest.approx(scale * getattr(TRUE, field), rel=EXACT), field


def test_what_is_held_out_is_not_fitted_to(made_up):
    """All follow the model but Kane, which takes three times as long: predictions of Kane are off by 3, at every n."""
    found = predictions.predictions(made_up(lambda a, name, n: TRUE.time(a) * (3 if name == "kane" else 1), (1.0,) * 3))
    kane = [p for p in found if p.formulation == "kane" and p.held_out == BY_FORMULATION]
    assert {p.kind for p in kane} == {"lanes", "scalars"}
    assert [p.factor for p in kane] == pytest.approx([3.0] * len(kane), rel=EXACT)
    (error,) = (e for e in predictions.errors(kane) if (e.label, e.kind) == ("Kane", "lanes"))
    assert (error.median, error.worst) == pytest.approx((3.0, 3.0), rel=EXACT)
    assert error.points == sum(p.kind == "lanes" for p in kane)


def test_large_sizes_are_predicted_from_small_ones(made_up):
    found = [p for p in predictions.predictions(made_up(passes=(1.0,) * 3)) if p.held_out == BY_SIZE]
    assert max(p.factor for p in found) < 1 + EXACT
    assert max(p.plain_factor for p in found) > 1.2  # sines, bytes and the state are no operations
    for kind in ("lanes", "scalars"):
        assert {p.level for p in found if p.kind == kind} == {1, 2}


def test_times_of_operations_alone_are_predicted_by_the_plain_model_too(made_up):
    for p in predictions.predictions(made_up(lambda a, name, n: a.operations / 4)):
        assert p.plain_factor == pytest.approx(1.0, rel=EXACT)


def test_few_points_are_not_fitted(made_up):
    few = made_up().points[: predictions.FEWEST - 1]
    assert predictions.fit(few, "scalars", 1) is None
    assert predictions.costs(dataclasses.replace(made_up(), points=few)) == ()
    assert predictions.predictions(dataclasses.replace(made_up(), points=few)) == ()


# ---------------------------------------------------------------------------------------------- crossovers


@pytest.mark.parametrize(
    ("ahead", "n"),
    [([True] * 4, 1), ([False] * 4, None), ([False, True, False, True], 4), ([True, False, True, True], 3)],
)
def test_ahead_for_good(ahead, n):
    assert for_good(dict(enumerate(ahead, 1))) == n


def test_crossovers_are_counted_predicted_without_the_pair_and_measured_in_each_pass(made_up, monkeypatch):
    """Christoffel symbols take 50 n^4 ns, generalized d'Alembert 2,000 n: ahead from n^3 = 40, n = 4 of those timed.

    The last pass has it twice as slow: ahead from n^3 = 80 on, n = 6.
    """
    rules = {"christoffel": lambda n: 50.0 * n**4, "generalized_dalembert": lambda n: 2e3 * n}
    found = made_up(lambda a, name, n: rules[name](n) if name in rules else TRUE.time(a), (1.0,) * 3)
    slowed = [
        dataclasses.replace(p, scalars=Spread((*p.scalars.passes[:2], 2 * p.scalars.passes[2])))
        if p.formulation == "generalized_dalembert" else p
        for p in found.points
    ]  # fmt: skip
    found = dataclasses.replace(found, points=tuple(slowed))
    crossed = {(c.slower, c.quicker, c.kind): c for c in predictions.crossovers(found)}
    assert len(crossed) == 2 * len(PAIRS)
    one = crossed[LABELS["christoffel"], LABELS["generalized_dalembert"], "scalars"]
    assert one.measured == (4, 4, 6)
    at = {(p.formulation, p.n): p for p in found.points}
    sizes = [n for n in SIZES if n <= one.largest]
    pair = [("christoffel", n) for n in sizes], [("generalized_dalembert", n) for n in sizes]
    for value, by in ((one.counted, lambda a: a.operations), (one.predicted, TRUE.time)):
        assert value == for_good({a[1]: by(at[b].amounts) < by(at[a].amounts) for a, b in zip(*pair, strict=True)})
    monkeypatch.setattr(predictions, "PAIRS", [("christoffel", "generalized_dalembert")])
    fitted, fit = [], predictions.fit
    monkeypatch.setattr(predictions, "fit", lambda points, *given: (fitted.extend(points), fit(points, *given))[1])
    assert predictions.crossovers(found)[0] == one
    assert {p.formulation for p in fitted} == set(LABELS) - set(rules)
    beyond = next(n for n in SIZES if n > one.largest)
    assert max(level(at[name, beyond], "scalars", QUIET) for name in rules) > 2


# ---------------------------------------------------------------------------------------------- published and today


def test_published_procedures_take_the_time_of_their_nearest_text_where_their_counts_are_equal(made_up):
    found = made_up(passes=(1.0,) * 3)
    (own,) = (p for p in found.points if (p.formulation, p.n) == ("kane", 6))
    name = "Kane, for the Stanford arm"
    same = counts.Figure(name, own.amounts.multiplications, own.amounts.additions, "a book")
    twice = dataclasses.replace(same, multiplications=2 * same.multiplications, additions=2 * same.additions)
    one, two = published.expected(found, (same, twice))
    assert (one.scalars, one.lanes) == pytest.approx((own.scalars.median, own.lanes.median), rel=EXACT)
    assert one.scalars < two.scalars < 2 * one.scalars  # sines and the state are not doubled
    every = published.procedures(counts.tables(), counts.literature())
    assert {f.method for f in every} == set(published._LIKE)
    assert every[0].multiplications == 102_440  # Table 3.1 at n = 6
    assert [e.name for e in published.expected(found, every)] == [f.method for f in every]


def test_a_bound_gives_no_ratio(made_up):
    bound, long, short, quotient = published.history(made_up(lambda a, name, n: 1e3, (1.0,) * 3))
    assert (bound.published, bound.ratio) == ("less than 10 ms", None)
    assert "bound" in bound.remark
    assert (long.ratio, short.ratio) == pytest.approx((7.9e6, 4.5e3))
    assert quotient.ratio is None
    assert published.history(made_up(sizes=(1, 2))) == ()


def test_lagrange_over_newton_has_one_answer(made_up):
    found = made_up()
    one = classic(found)
    at = {p.formulation: p for p in found.points if p.n == 6}
    assert one.time.median == pytest.approx(
        at["lagrange_euler"].scalars.median / at["newton_euler_link"].scalars.median
    )
    text = f"{one.time.median:.3g} times"
    assert text in published.history(found)[-1].text
    results = dataclasses.replace(small_report.results(), timings=found)
    assert keyed(results)["ratio"].value == f"{one.time.median:.0f} times"
    table = next(t for t in timing_section.section(results).blocks if getattr(t, "key", "") == "comparisons")
    assert table.rows[0][:4] == (one.slower, one.quicker, one.operations, one.time.median)
    assert compare(found, "lagrange_euler", "nothing", "scalars") is None
    assert compare(found, "lagrange_euler", "rnea", "latency") is None


# ---------------------------------------------------------------------------------------------- headlines and doubts


def test_a_quiet_run_with_narrow_spreads_has_all_headlines(made_up):
    results = dataclasses.replace(small_report.results(), timings=made_up())
    found = keyed(results)
    assert {f"growth.{names[0]}" for names in FAMILIES.values()} | {"counts", "ratio"} <= set(found)
    assert study_headlines(results) == tuple(found.values())
    assert warnings(results) == ()


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"load": (1.0, 2.5)}, "The host was loaded: up to 1.5 other processes wanted its 4 processors"),
        ({"share": (1.0, 0.9)}, "had 90 % of one"),
        ({"rates": (Rates(10.0, 80.0, 1.2), Rates(10.0, 70.0, 1.2))}, "speed of the processor changed"),
    ],
)
def test_a_loaded_or_unsteady_host_is_named_and_has_no_headlines_of_times(made_up, changed, said):
    found = made_up(host=dataclasses.replace(QUIET, **changed))
    results = dataclasses.replace(small_report.results(), timings=found)
    assert not any(key.startswith(("growth", "ratio")) for key in keyed(results))
    assert "counts" in keyed(results)
    assert any(said in warning for warning in warnings(results))


def test_a_wide_interval_is_named_and_has_no_headline(made_up):
    """Lagrange-Euler's last pass takes 1.2 times as long from n = 8 on, which changes its exponent and its ratio."""
    points = [
        dataclasses.replace(p, scalars=Spread((*p.scalars.passes[:2], 1.2 * p.scalars.passes[2])))
        if p.formulation == "lagrange_euler" and p.n in (6, 16, 25) else p
        for p in made_up().points
    ]  # fmt: skip
    results = dataclasses.replace(small_report.results(), timings=dataclasses.replace(made_up(), points=tuple(points)))
    assert "growth.lagrange_euler" not in keyed(results)
    assert "ratio" not in keyed(results)
    assert "growth.newton_euler_link" in keyed(results)
    wide, ratio = doubts(results.timings)
    assert f"wider than {EXPONENTS:g}: Lagrange-Euler." in wide
    assert f"Lagrange-Euler over Newton-Euler, link frames is wider than {100 * RATIOS:g} %" in ratio


def test_one_pass_is_named_and_has_no_headlines_of_times(made_up):
    results = dataclasses.replace(small_report.results(), timings=made_up(passes=(1.0,)))
    assert not any(key.startswith(("growth", "ratio")) for key in keyed(results))
    assert "one pass only" in warnings(results)[0]
    assert study_report(results).warnings == warnings(results)


def test_load_and_caches_are_told_as_far_as_the_system_tells(tmp_path, monkeypatch):
    for k, (kind, number, size) in enumerate([("Unified", 2, "1280K"), ("Data", 1, "48K"), ("Instruction", 1, "32K")]):
        (tmp_path / f"index{k}").mkdir()
        for name, value in {"type": kind, "level": number, "size": size}.items():
            (tmp_path / f"index{k}" / name).write_text(f"{value}\n")
    monkeypatch.setattr(host, "_CACHES", tmp_path)
    assert host.caches() == (Cache(1, 48 * 1024), Cache(2, 1280 * 1024))
    monkeypatch.setattr(host, "_CACHES", tmp_path / "none")
    assert host.caches() == ()
    monkeypatch.delattr(clock.os, "getloadavg", raising=False)
    assert clock.load() == ()
    assert not dataclasses.replace(QUIET, load=()).loaded


def test_lanes_need_eight_times_the_memory():
    p = Point("kane", "Kane", 1, Amounts(1, 1, 1, 1, memory=32 << 10), Spread((1.0,)), Spread((1.0,)))
    assert level(p, "scalars", QUIET) == 1
    assert level(p, "lanes", QUIET) == 2
    assert LANES == 8
    assert level(dataclasses.replace(p, amounts=Amounts(1, 1, 1, 1, 1 << 20)), "lanes", QUIET) == 3


# ---------------------------------------------------------------------------------------------- jobs and the clock


def test_a_formulation_that_disagrees_is_refused():
    names = ("newton_euler_link", "crba", "aba", "simplified")
    results = {name: jobs.job(name, 3, 1, lanes=True).results for name in names}
    jobs.check(3, results)
    for name in names:
        wrong = {key: array.copy() for key, array in results[name].items()}
        for array in wrong.values():
            array[-1, -1] += 1e-9
        with pytest.raises(FastdynError, match=f"{name} disagrees with Robot.inverse_dynamics for 3 joints"):
            jobs.check(3, results | {name: wrong})
        wrong[next(iter(wrong))][0, 0] = np.nan
        with pytest.raises(FastdynError, match=r"disagrees|nan"):
            jobs.check(3, results | {name: wrong})


def test_every_state_of_a_chain_takes_the_torques_of_the_one_before():
    call = jobs.chain("newton_euler_link", 3, 1 << 12)
    q, qd, qdd = call.arguments[2:5]
    tau = call.results["tau"]
    assert np.shares_memory(q, tau)
    assert np.array_equal(q[1:], tau[:-1])
    assert 0.1 < np.abs(tau).max() < 10  # angles as good as any
    before = tau.copy()
    q[0] += 1e-3  # changes the first state, and with it those that follow, until the difference is lost in rounding
    call()
    assert (tau != before).any(axis=1)[: jobs.SHORTEST].all()
    assert len(qd) == len(qdd) == len(q) >= jobs.SHORTEST
    assert jobs.chain("newton_euler_link", 3, 1) is None


def test_jobs_take_turns():
    order, told = [], []
    given = {name: [partial(order.append, name + way) for way in "12"] for name in "ab"}
    found = clock.best(given, turns=3, progress=told.append)
    assert all(0 < seconds < 1 for seconds in found.values())
    turns = [name for name, before in zip(order, [None, *order], strict=False) if name != before]
    assert turns == ["a1", "b1", "a1", "b1", "a2", "b2", "a1", "b1"]  # once to see how long they take, then three turns
    assert told == pytest.approx([1 / 3, 2 / 3, 1])


def test_the_clock_times_at_least_so_many_seconds_and_turns_and_leaves_the_garbage_collector_as_it_was():
    short, long = [], []
    given = {"short": lambda: short.append(gc.isenabled()), "long": lambda: (long.append(0), time.sleep(2e-3))}
    for enabled in (True, False):
        (gc.enable if enabled else gc.disable)()
        try:
            found = clock.best(given, turns=3)
            assert gc.isenabled() == enabled
        finally:
            gc.enable()
    assert found["long"] >= 2e-3
    assert not any(short[-100:])
    assert len(long) == 2 * (2 + 3)  # an untimed run, one that tells how long it takes, and a run for each turn
    long.clear()
    clock.best(given, turns=3, warm=math.inf)
    assert len(long) == 2 + 2 * 3
    long.clear()
    clock.best(given, turns=3, warm=clock.TURN)
    assert len(long) == 2 + 3  # it is not shorter than that
    long.clear()
    clock.best(given, turns=1, seconds=0.02)
    assert 2 + 1 < len(long) <= 2 + 10


def test_scratch_moves_and_results_do_not():
    for lanes in (True, False):
        call = jobs.job("newton_euler_link", 3, 1, lanes)
        expected = call.results["tau"].copy()
        for run in jobs.compiled(call):
            call.results["tau"][:] = np.nan
            assert run() == 0
            assert np.array_equal(call.results["tau"], expected)


def test_batches_are_whole_blocks_of_lanes():
    assert [jobs.batch(4, 100, room, lanes=True) for room in (1, 1 << 10, 1 << 30)] == [8, 32, jobs.MOST]
    assert jobs.batch(4, 100, 1, lanes=False) == 1
    assert jobs.batch(4, jobs.ENOUGH // 100, 1 << 30, lanes=False) == 100
    assert jobs.batch(4, jobs.ENOUGH, 1 << 30, lanes=False) == jobs.SHORTEST


def test_the_simplified_model_leaves_out_velocities_only():
    call = jobs.job("simplified", 4, 1, lanes=False)
    q, _, qdd = call.arguments[2:5]
    assert call.results["tau"] == pytest.approx(counts.arm(4).inverse_dynamics(q, 0 * q, qdd), rel=1e-12)


# ---------------------------------------------------------------------------------------------- a run


@pytest.fixture(scope="module")
def tiny():
    told, kept = [], []
    return timing.run(TINY, lambda fraction, what: told.append((fraction, what)), kept.append), told, kept


def test_a_run_gives_every_formulation_at_every_size_in_every_pass(tiny, works):
    found, told, _ = tiny
    assert [(p.n, p.formulation) for p in found.points] == [(n, name) for n in TINY.sizes for name in LABELS]
    for p in found.points:
        assert p.label == LABELS[p.formulation]
        assert p.amounts == works[p.formulation].at(p.n)
        for kind in ("lanes", "scalars"):
            assert len(p.ns(kind).passes) == 2
            assert all(0 < ns < math.inf for ns in p.ns(kind).passes)
    chained = {p.formulation for p in found.points if p.latency}
    assert chained == {name for names in FAMILIES.values() for name in names if name in LABELS}
    assert [t.what for t in published.history(found)][1:3] == ["Lagrange-Euler", "Newton-Euler"]
    fractions = [fraction for fraction, _ in told]
    assert fractions == sorted(fractions)
    assert (fractions[0], fractions[-1]) == (0.0, 1.0)
    assert len(found.host.share) == len(found.host.rates) == 2


def test_every_pass_is_kept_and_written_and_read_back(tiny, tmp_path):
    found, _, kept = tiny
    assert [len(timings.points[0].lanes.passes) for timings in kept] == [1, 2]
    assert kept[-1] == found
    assert kept[0].points[0].lanes.passes == found.points[0].lanes.passes[:1]
    (tmp_path / "timings.json").write_text(record.text(found, "timings"), encoding="utf-8")
    assert record.read(Timings, tmp_path / "timings.json", "timings") == found


def test_what_takes_too_many_operations_and_what_is_not_asked_for_is_left_out(works):
    most = works["newton_euler_link"].at(1).operations
    names = ("newton_euler_link", "rnea")
    plan = dataclasses.replace(TINY, sizes=(1, 2), operations=most, names=names, passes=1)
    found = timing.run(plan, lambda fraction, what: None, lambda timings: None)
    own = {name: [p.n for p in points] for name, points in by_formulation(found.points).items()}
    assert own == {"newton_euler_link": [1], "rnea": [1, 2]}
    assert found.simplified == ()


# ---------------------------------------------------------------------------------------------- figures


def test_figures_name_their_axes_and_show_three_families(made_up):
    pytest.importorskip("matplotlib")
    found = made_up()
    families = {LABELS[name] for names in FAMILIES.values() for name in names[:2] if name in LABELS}
    drawn = figures.figures(found)
    for title, figure in {**drawn, **figures.more_figures(found)}.items():
        (axes,) = figure.axes
        assert axes.get_xlabel()
        assert axes.get_ylabel()
        (legend,) = figure.legends
        shown = {text.get_text().split("\n")[0] for text in legend.get_texts()}
        if title.startswith("Predicted"):
            continue
        assert shown == (set(LABELS.values()) if title.startswith("All") else {*families, figures.OTHERS})
    (legend,) = drawn["Throughput on scalars: time per state"].legends
    grown = furthest(growth(found), "lagrange_euler", "scalars")
    power = figures.raised(f"{grown.exponent.median:.2f}")
    wanted = f"Lagrange-Euler\nn{power}, n = {grown.first} to {grown.last}"
    assert wanted in [text.get_text() for text in legend.get_texts()]
    looks = [tuple(map(str, style.values())) for style in figures._everyone(found).values()]
    assert len(set(looks)) == len(looks) == len(LABELS)
