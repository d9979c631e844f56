"""A small report with every part that a full one has: made by hand, so that pages can be tested in a second."""

from __future__ import annotations

from typing import Any

import numpy as np

from fastdyn.page import ink
from fastdyn.scalars import Operations
from fastdyn.study import counts
from fastdyn.study.counts.robot import Count
from fastdyn.study.effects import Robustness, Score, Split, Trajectory, verdicts
from fastdyn.study.effects.models import Elsewhere, Exact
from fastdyn.study.effects.results import CHAPTER, Effects, Parameters, Simplified
from fastdyn.study.formulations import FORMULATIONS
from fastdyn.study.results import Agreement, Results
from fastdyn.study.timing import Point, Spread, Timings
from fastdyn.study.timing.host import Cache, Host, Rates
from fastdyn.study.timing.results import Amounts

NAMES = {"lagrange_euler": 4, "generalized_dalembert": 3, "newton_euler_link": 1}  # and how they grow
SIZES = (1, 2, 6, 10, 25, 50, 100)


def point(name: str, n: int) -> Point:
    """Three passes that differ by 1 %, three times slower on scalars; no latency of Lagrange-Euler."""
    lanes = Spread(tuple(10.5 * n ** NAMES[name] * (1 + k / 200) for k in range(3)))
    scalars = Spread(tuple(3 * ns for ns in lanes.passes))
    return Point(
        formulation=name, label=f"{name}, <timed>",  # what must be escaped
        n=n, amounts=Amounts(multiplications=n * 100, additions=n * 90, sines=n, moved=800 * n, memory=80 * n),
        lanes=lanes, scalars=scalars, latency=None if name == "lagrange_euler" else scalars,
    )  # fmt: skip


def timings() -> Timings:
    return Timings(
        points=tuple(point(name, n) for name in NAMES for n in SIZES),
        simplified=(Spread((50.0, 51.0, 50.5)), Spread((150.0, 152.0, 151.0))),
        host=Host(
            processors=4, caches=(Cache(1, 32 << 10), Cache(2, 1 << 20)), load=(1.0, 1.1, 1.0, 1.0),
            share=(0.99, 1.0, 1.0), rates=(Rates(10.0, 80.0, 1.25),) * 3,
        ),
        how={"Passes": "3 & more"},
    )  # fmt: skip


def split() -> Split:
    still = np.zeros((4, 6))
    motion = Trajectory(t=np.linspace(0, 3, 4), q=still, qd=still, qdd=still, name="a swing")
    matrix, vector = np.ones((4, 6, 6)), np.ones((4, 6))
    return Split(robot="arm", trajectory=motion, D_tran=matrix, D_rot=matrix, h_tran=vector, h_rot=vector, c=vector)


def effects() -> Effects:
    found = verdicts(split())
    errors = np.linspace(0.01, 2, 10)
    return Effects(
        split=split(),
        parameters=(Parameters("built-in", "a table", found), Parameters("other", "another <table>", found)),
        robustness=tuple(
            Robustness(each.element, 0.1, 0.2, both=0.7, none=0.0, agrees=0.7, low=0.2, high=0.8) for each in found
        ),
        scores=tuple(
            Score(answer, 3, single=10.0, both=4.0, deviation=1.0, least=12, most=15)
            for answer in ("this trajectory", "random trajectories", 'always "both"')
        ),
        thresholds=(9, 14),
        models=tuple(
            Simplified(
                name, parameters, tolerance=None, kept=2, dropped=("D11 tran", "h1 rot"), multiplications=20,
                additions=10, errors=errors[:6], elsewhere=(Elsewhere(1.0, 0.1, errors, 5),),
            )
            for name, parameters in (("tolerance 1 %", "built-in"), (CHAPTER, "built-in"), (CHAPTER, "other"))
        ),
        exact=(Exact("Newton-Euler", 7, 6),),
    )  # fmt: skip


def figure(lines: int = 2) -> Any:
    from matplotlib.figure import Figure

    with ink.style():
        drawn = Figure(figsize=(9, 4))
        axes = drawn.subplots()
        for k in range(lines):
            axes.loglog(SIZES, [n ** (k + 1) for n in SIZES], marker=ink.MARKERS[k], label=f"line {k}")
        axes.set(xlabel="joints n", ylabel="ns")
        axes.legend()
    return drawn


def results() -> Results:
    return Results(
        about={"Extent": "a quick one", "Machine": "a machine", "Command": "fastdyn study --quick"},
        tables=counts.tables(),
        texts=counts.formulations(),
        kernels=counts.kernels(),
        literature=counts.literature(),
        probing=counts.probing_counts(),
        dalembert=counts.dalembert.search(),
        agreement=tuple(
            Agreement(name, how.source, ("tau",), how.rotary_only, difference=3e-15, states=10, robot="arm")
            for name, how in FORMULATIONS.items()
        ),
        robot_counts=tuple(
            Count("arm", name, Operations(40, 30), Operations(20, 15), Operations(18, 13))
            for name in ("mass_matrix", "momentum")
        ),
        timings=timings(),
        effects=effects(),
    )  # fmt: skip
