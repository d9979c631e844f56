"""A small report with every part that a full one has: made by hand, so that pages can be tested in a second."""

from __future__ import annotations

from types import SimpleNamespace as Made
from typing import Any

import numpy as np

from fastdyn.study import ink
from fastdyn.study.formulations import FORMULATIONS
from fastdyn.study.report import Agreement, Results

NAMES = {"lagrange_euler": 4, "generalized_dalembert": 3, "newton_euler_frugal": 1}  # and how they grow
SIZES = (2, 6, 10, 100)


def point(name: str, n: int) -> Made:
    ns = 10.5 * n ** NAMES[name]
    label = f"{name}, <timed>"  # what must be escaped
    return Made(formulation=name, label=label, n=n, ns=ns, ns_one=3 * ns, multiplications=n * 100, additions=n * 90)


def timings() -> Made:
    return Made(
        points=tuple(point(name, n) for name in NAMES for n in SIZES),
        growth=tuple(
            Made(
                formulation=k,
                label=k,
                exponent=v - 0.03,
                plus_minus=0.02,
                exponent_batch=v + 0.1,
                plus_minus_batch=0.03,
                first=2,
                last=100,
                predicted=v - 0.1,
            )
            for k, v in NAMES.items()
        ),
        crossovers=(
            Made(slower="a", quicker="b", n=3, by="time"),
            Made(slower="a", quicker="c", n=None, by="operations"),
            Made(slower="b", quicker="c", n=20, by="time"),
        ),
        history=(
            Made(what="a point", published="10 ms", year="1981", source="a book", today="50 ns", ratio="200,000"),
        ),
        notes=("Counts & clocks differ.",),
        samples="Best of 3 turns.",
    )


def split() -> Made:
    t = np.linspace(0, 3, 4)
    motion = Made(t=t, q=np.zeros((4, 2)), qd=np.zeros((4, 2)), qdd=np.zeros((4, 2)), name="a swing")
    matrix, vector = np.ones((4, 2, 2)), np.ones((4, 2))
    return Made(robot="arm", trajectory=motion, D_tran=matrix, D_rot=matrix, h_tran=vector, h_rot=vector, c=vector)


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
    terms = (Made(name="D11 tran", kept=True, largest=3.0), Made(name="h1 rot", kept=False, largest=0.1))
    return Results(
        agreement=tuple(Agreement(name, 3e-15, 10, "arm") for name in FORMULATIONS),
        timings=timings(),
        timing_figures={"Time over joints": figure(), "Operations over time": figure(3)},
        split=split(),
        verdicts=(
            Made(element="D11", found="both", published="both", agrees=True, share=0.5),
            Made(element="h1", found="rotational", published="translational", agrees=False, share=0.1),
        ),
        robustness=(
            Made(element="D11", translational=0.1, rotational=0.2, both=0.7, none=0.0, agrees=0.7),
            Made(element="h1", translational=0.0, rotational=1.0, both=0.0, none=0.0, agrees=0.0),
        ),
        simplifications=(
            Made(robot="arm", tolerance=0.1, terms=terms, error=0.05, errors=np.ones(2),
                 multiplications=(20, 10), additions=(10, 5)),
        ),
        effects_figures={"The elements of D": figure(1)},
        effects_notes=("A remark.",),
        about={"Machine": "a machine", "Command": "fastdyn study --quick"},
    )  # fmt: skip
