"""Timing against counting: what follows from given numbers, and one small run for real. No test depends on speed."""

import dataclasses
import gc
import math
import time
from functools import partial

import numpy as np
import pytest

from fastdyn import clock
from fastdyn.errors import FastdynError
from fastdyn.kernels import rnea
from fastdyn.scalars import count
from fastdyn.study import counts, timing
from fastdyn.study.formulations import FORMULATIONS
from fastdyn.study.timing import figures, jobs, words
from fastdyn.study.timing.results import (
    LABELS,
    PAIRS,
    Point,
    by_formulation,
    crossovers,
    fit,
    for_good,
    growth,
    operation_counts,
    student,
)

TINY = timing.Plan(sizes=(1, 2, 3, 6), operations=10**9, seconds=0.0, turns=1, room=1)
SIZES = (1, 2, 4, 6, 12, 25, 50, 100, 200)
CONTROL = {"dependent": 10.0, "independent": 80.0, "scalar": 1.25}


def made_up(ns=lambda name, n, operations: operations / 10, sizes=SIZES):
    """Points whose times follow a rule."""
    return [
        Point(name, label, n, ns(name, n, sum(cost.at(n))), 5 * ns(name, n, sum(cost.at(n))), *cost.at(n))
        for n in sizes
        for (name, label), cost in zip(LABELS.items(), operation_counts().values(), strict=True)
    ]


@pytest.fixture(scope="module")
def tiny():
    told = []
    return timing.run(TINY, lambda fraction, what: told.append((fraction, what))), told


def test_the_exponent_of_a_power_law_is_found():
    exponent, plus_minus = fit(SIZES, [0.3 * n**3.5 for n in SIZES])
    assert exponent == pytest.approx(3.5, abs=1e-12)
    assert plus_minus < 1e-12


def test_a_confidence_of_95_percent_holds_the_truth_95_times_in_100():
    rng = np.random.default_rng(0)
    runs, sizes = 4000, np.array([50, 64, 80, 100, 128, 160, 200])
    held = 0
    for noise in rng.normal(scale=0.05, size=(runs, len(sizes))):
        exponent, plus_minus = fit(sizes, 7.0 * sizes * np.exp(noise))
        held += abs(exponent - 1.0) <= plus_minus
    assert abs(held / runs - 0.95) < 4 * math.sqrt(0.95 * 0.05 / runs)  # four standard deviations of the fraction


@pytest.mark.parametrize(("freedom", "t"), [(1, 12.706), (12, 2.179), (13, 2.160), (30, 2.042), (100, 1.984)])
def test_student(freedom, t):
    assert student(freedom) == pytest.approx(t, abs=1e-3)


def test_growth_is_fitted_from_a_fourth_of_the_largest_size_on_beside_that_of_the_counts():
    points = made_up(lambda name, n, operations: 5.0 * n**2 if n >= 50 else 1e6)
    for g in growth(points):
        assert (g.first, g.last) == (50, 200)
        assert g.exponent_batch == pytest.approx(2.0, abs=1e-9)
        own = [p.ns_one for p in points if p.formulation == g.formulation and p.n >= 50]
        assert g.exponent == fit([50, 100, 200], own)[0]
        predicted, _ = fit([50, 100, 200], [sum(operation_counts()[g.formulation].at(n)) for n in (50, 100, 200)])
        assert g.predicted == predicted
    assert [g.label for g in growth(points)] == list(LABELS.values())
    assert growth(made_up(sizes=(1, 100, 200))) == ()  # two points say nothing


def test_counts_predict_four_three_and_one():
    """Far out, where only the highest power is left."""
    for name, power in {"lagrange_euler": 4, "generalized_dalembert": 3, "newton_euler_link": 1, "rnea": 1}.items():
        few, many = (sum(operation_counts()[name].at(10**k)) for k in (6, 7))
        assert math.log10(many / few) == pytest.approx(power, abs=1e-4)


@pytest.mark.parametrize(
    ("ahead", "n"),
    [([True] * 4, 1), ([False] * 4, None), ([False, True, False, True], 4), ([True, False, True, True], 3)],
)
def test_ahead_for_good(ahead, n):
    assert for_good(dict(enumerate(ahead, 1))) == n


def test_crossovers_by_time_are_among_the_measured_sizes():
    slow = {slower for slower, _ in PAIRS}
    points = made_up(lambda name, n, operations: n**4 if name in slow - {"kane"} else 1000.0 * n)
    found = {(c.slower, c.quicker, c.by): c.n for c in crossovers(points)}
    assert found[LABELS["lagrange_euler"], LABELS["recursive_lagrange"], "time"] == 12  # n^4 passes 1000 n at 10
    assert found[LABELS["kane"], LABELS["newton_euler_base"], "time"] is None
    assert len(found) == 2 * len(PAIRS)


def test_crossovers_by_operations_are_those_of_the_polynomials():
    found = {(c.slower, c.quicker): c.n for c in crossovers(made_up()) if c.by == "operations"}
    n = found[LABELS["generalized_dalembert"], LABELS["probing"]]
    many, few = operation_counts()["generalized_dalembert"], operation_counts()["probing"]
    assert sum(few.at(n)) < sum(many.at(n))
    assert sum(few.at(n - 1)) >= sum(many.at(n - 1))


def test_a_formulation_that_disagrees_is_refused():
    calls = {name: jobs.job(name, 3, 1, lanes=True) for name in LABELS}
    results = {name: call.results for name, call in calls.items()}
    jobs.check(3, results)
    for name in LABELS:
        wrong = {key: array.copy() for key, array in results[name].items()}
        for array in wrong.values():
            array[-1, -1] += 1e-9
        with pytest.raises(FastdynError, match=f"{name} disagrees with Robot.inverse_dynamics for 3 joints"):
            jobs.check(3, results | {name: wrong})
        wrong[next(iter(wrong))][0, 0] = np.nan
        with pytest.raises(FastdynError, match=r"disagrees|nan"):
            jobs.check(3, results | {name: wrong})


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
    assert [jobs.batch(4, room, lanes=True) for room in (1, 1 << 10, 1 << 30)] == [8, 32, jobs.MOST]
    assert jobs.batch(4, 1, lanes=False) == 1


def test_a_run_gives_every_formulation_at_every_size(tiny):
    found, told = tiny
    assert [(p.n, p.formulation) for p in found.points] == [(n, name) for n in TINY.sizes for name in LABELS]
    assert set(FORMULATIONS) < set(LABELS)
    for p in found.points:
        assert p.label == LABELS[p.formulation]
        assert 0 < p.ns < math.inf
        assert 0 < p.ns_one < math.inf
        assert (p.multiplications, p.additions) == operation_counts()[p.formulation].at(p.n)
    assert [t.what for t in found.history][1:3] == ["Lagrange-Euler", "Newton-Euler"]
    assert all(isinstance(note, str) and note for note in found.notes)
    assert dataclasses.asdict(found)["growth"][0]["first"] == 2
    fractions = [fraction for fraction, _ in told]
    assert fractions == sorted(fractions)
    assert (fractions[0], fractions[-1]) == (0.0, 1.0)


def test_what_takes_too_many_operations_is_left_out():
    most = sum(operation_counts()["lagrange_euler"].at(1))
    found = timing.run(dataclasses.replace(TINY, sizes=(1, 2), operations=most), lambda fraction, what: None)
    assert [p.n for p in by_formulation(found.points)["lagrange_euler"]] == [1]
    assert [p.n for p in by_formulation(found.points)["rnea"]] == [1, 2]
    assert found.history == ()


def test_the_arm_that_is_timed_costs_what_was_counted():
    for n in (1, 4):
        model = counts.arm(n).model
        q, qd, qdd, tau = np.full((4, n), 0.5)
        work = np.full(rnea.inverse_dynamics_rows(n), 0.5)
        counted = count(rnea.inverse_dynamics, model.P, model.tree, q, qd, qdd, np.empty(0), tau, work)
        assert (counted.multiplications, counted.additions) == operation_counts()["rnea"].at(n)


def test_the_simplified_model_leaves_out_velocities_only():
    call = jobs.job("simplified", 4, 1, lanes=False)
    q, _, qdd = call.arguments[2:5]
    assert call.results["tau"] == pytest.approx(counts.arm(4).inverse_dynamics(q, 0 * q, qdd), rel=1e-12)


def test_notes_say_what_the_numbers_say():
    """Every formulation at ten operations per ns, five times slower on scalars."""
    points = made_up()
    correlation, order, *_, gain = words.notes(points, (), (), CONTROL)[:5]
    assert "correlate by 1.000" in correlation
    assert "at 10 operations per ns" in correlation
    assert "within a factor of 1.0" in correlation
    assert "66 of 66 pairs" in order
    assert "5.0 (" in gain
    assert "5.0 times" in gain


def test_then_over_now():
    rows = words.history(made_up(lambda name, n, operations: 1e3), (1e3, 2e3))
    assert [row.ratio for row in rows] == [
        "up to 5 000 times on scalars, 10 000 on lanes",
        "1 600 000 times on scalars, 7 900 000 on lanes",
        "900 times on scalars, 4 500 on lanes",
        "",
    ]


def test_caches_are_told_from_the_nearest_on(tmp_path, monkeypatch):
    for k, (kind, level, size) in enumerate([("Unified", 2, "1280K"), ("Data", 1, "48K"), ("Instruction", 1, "32K")]):
        (tmp_path / f"index{k}").mkdir()
        for name, value in {"type": kind, "level": level, "size": size}.items():
            (tmp_path / f"index{k}" / name).write_text(f"{value}\n")
    monkeypatch.setattr(words, "_CACHES", tmp_path)
    assert list(words.caches().items()) == [(1, 48 * 1024), (2, 1280 * 1024)]
    assert any(note.startswith("Level-1 cache, 48 KiB") for note in words.notes(made_up(), (), (), CONTROL))
    monkeypatch.setattr(words, "_CACHES", tmp_path / "none")
    assert not any("cache" in note for note in words.notes(made_up(), (), (), CONTROL))


def test_figures_name_their_axes_and_every_formulation():
    pytest.importorskip("matplotlib")
    points = tuple(made_up())
    found = figures.figures(timing.Timings(points, growth(points), crossovers(points), (), (), ""))
    assert len(found) == 5
    for figure in found.values():
        (axes,) = figure.axes
        assert axes.get_xlabel()
        assert axes.get_ylabel()
        (legend,) = figure.legends
        assert {text.get_text().split("\n")[0] for text in legend.get_texts()} == set(LABELS.values())
    looks = {tuple(map(str, figures._style(name).values())) for name in LABELS}
    assert len(looks) == len(LABELS)
