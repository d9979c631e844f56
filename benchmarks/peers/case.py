"""The robot and states that every program gets, and the jobs it runs on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

import fastdyn as fd
from benchmarks.common import states

INVERSE, FORWARD, MASS = "inverse dynamics", "forward dynamics", "mass matrix"
BATCH, SINGLE = "batch", "one state"


@dataclass(frozen=True)
class Case:
    """A chain and T states of it; `one` is the first of them, each vector in its own memory."""

    robot: fd.Robot
    T: int
    q: np.ndarray = field(init=False)
    qd: np.ndarray = field(init=False)
    qdd: np.ndarray = field(init=False)
    tau: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        q, qd, qdd = states(self.n, self.T)
        for name, value in {"q": q, "qd": qd, "qdd": qdd, "tau": self.robot.inverse_dynamics(q, qd, qdd)}.items():
            object.__setattr__(self, name, value)

    @property
    def n(self) -> int:
        return self.robot.n

    @cached_property
    def one(self) -> Case:
        only = object.__new__(Case)
        arrays = {name: getattr(self, name)[0].copy() for name in ("q", "qd", "qdd", "tau")}
        for name, value in {"robot": self.robot, "T": 1, **arrays}.items():
            object.__setattr__(only, name, value)
        return only

    @cached_property
    def right(self) -> dict[str, np.ndarray]:
        """The correct results, for all states."""
        return {INVERSE: self.tau, FORWARD: self.qdd, MASS: self.robot.mass_matrix(self.q)}

    @cached_property
    def allowed(self) -> dict[str, float]:
        """Differences that rounding explains: URDF files hold angles, some programs principal moments.

        Forward dynamics amplifies them by the mass matrix's condition number.
        """
        condition = max(np.linalg.cond(M) for M in self.right[MASS][:: max(1, self.T // 64)])
        few = 1e-8
        return {INVERSE: few, MASS: few, FORWARD: max(few, 1e3 * condition * np.finfo(float).eps)}

    def error(self, what: str, call: str, answer: Any) -> float:
        """The largest difference of a result, relative to the largest correct value."""
        right = self.right[what] if call == BATCH else self.right[what][0]
        answer = np.asarray(answer, dtype=float)
        if answer.shape != right.shape:
            return np.inf
        return float(np.abs(answer - right).max() / np.abs(right).max())


@dataclass(frozen=True)
class Job:
    """A computation of a program: `run` is timed, `answer` then gives the result in fastdyn's layout."""

    program: str
    what: str
    call: str
    run: Callable[[], Any]
    answer: Callable[[], Any] | None = None  # by default, what `run` returns

    def result(self) -> Any:
        found = self.run()
        return found if self.answer is None else self.answer()
