"""The robots and states that every program gets, and the jobs it runs on them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from fastdyn.arrays import Array
from fastdyn.errors import RobotWarning
from fastdyn.formats.dh import DHLink
from fastdyn.robot import Robot, from_dh
from fastdyn.robots import get, random_chain

INVERSE, FORWARD, MASS = "inverse dynamics", "forward dynamics", "mass matrix"
BATCH, SINGLE = "batch", "one state"
STATES = 8192  # of a batch


def chain(n: int) -> Robot:
    """A random standard D-H chain of revolute joints with physically possible inertias, which every program accepts.

    >>> chain(3).name
    'chain(3)'
    """
    rng = np.random.default_rng(n)
    rows = []
    for link in random_chain(n, seed=1).links:
        (a, d), (alpha, theta) = rng.uniform(-0.3, 0.3, 2), rng.uniform(-3, 3, 2)
        rows.append(DHLink(a, alpha, d, theta, mass=link.mass, com=link.com, inertia=link.inertia))
    return from_dh(rows, name=f"chain({n})")


def plain(name: str) -> Robot:
    """A built-in robot without motors and friction, which not every program supports."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RobotWarning)  # published inertias may be impossible
        return get(name).without_motors()


def states(n: int, count: int) -> tuple[Array, Array, Array]:
    """Random q, qd, qdd, each (count, n)."""
    q, qd, qdd = np.random.default_rng(0).uniform(-3, 3, (3, count, n))
    return q, qd, qdd


@dataclass(frozen=True)
class Case:
    """A chain and T states of it; `one` is the first of them, each vector in its own memory."""

    robot: Robot
    T: int = STATES
    q: Array = field(init=False)
    qd: Array = field(init=False)
    qdd: Array = field(init=False)
    tau: Array = field(init=False)

    def __post_init__(self) -> None:
        q, qd, qdd = states(self.n, self.T)
        for name, value in {"q": q, "qd": qd, "qdd": qdd, "tau": self.robot.inverse_dynamics(q, qd, qdd)}.items():
            object.__setattr__(self, name, value)

    @property
    def n(self) -> int:
        """The number of joints."""
        return self.robot.n

    @cached_property
    def one(self) -> Case:
        """The case of the first state alone: vectors (n,)."""
        only = object.__new__(Case)
        arrays = {name: getattr(self, name)[0].copy() for name in ("q", "qd", "qdd", "tau")}
        for name, value in {"robot": self.robot, "T": 1, **arrays}.items():
            object.__setattr__(only, name, value)
        return only

    @cached_property
    def right(self) -> dict[str, Array]:
        """The correct results, for all states."""
        return {INVERSE: self.tau, FORWARD: self.qdd, MASS: self.robot.mass_matrix(self.q)}

    @cached_property
    def allowed(self) -> dict[str, float]:
        """Differences that rounding explains: URDF files hold angles, some programs principal moments.

        Forward dynamics amplifies them by the mass matrix's condition number.
        """
        condition = max(float(np.linalg.cond(M)) for M in self.right[MASS][:: max(1, self.T // 64)])
        few = 1e-8
        return {INVERSE: few, MASS: few, FORWARD: max(few, 1e3 * condition * float(np.finfo(float).eps))}

    def error(self, what: str, call: str, answer: Any) -> float:
        """The largest difference of a result, relative to the largest correct value; infinite if it is none."""
        right = self.right[what] if call == BATCH else self.right[what][0]
        answer = np.asarray(answer, dtype=float)
        if answer.shape != right.shape or not np.isfinite(answer).all():
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
        """Runs it once."""
        found = self.run()
        return found if self.answer is None else self.answer()
