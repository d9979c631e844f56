"""Every kernel on several robots, with every kind of call. `setup` compiles, so that nothing is compiled while timed.

A kind of call is a function (robot, quantity) -> job, and one line in CALLS. The suite must also run on older versions
of the package, so it uses only public names.
"""

from __future__ import annotations

import timeit
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import fastdyn as fd

T = 4096  # samples of a batch


class Quantity(NamedTuple):
    """A method of Robot, the shapes of what it takes ("n": the number of joints), its options, and if of a frame."""

    method: str
    shapes: tuple[tuple[str | int, ...], ...]
    options: dict[str, Any] = {}  # noqa: RUF012  # never changed
    frame: bool = False

    def arguments(self, robot: fd.Robot, *lead: int) -> list[np.ndarray]:
        """Random states."""
        rng = np.random.default_rng(0)
        sizes = [tuple(robot.n if size == "n" else size for size in shape) for shape in self.shapes]
        return [rng.uniform(-1, 1, (*lead, *size)) for size in sizes]

    def keywords(self, robot: fd.Robot) -> dict[str, Any]:
        """Its options, and the last link's frame."""
        return {**self.options, **({"frame": robot.links[-1].name} if self.frame else {})}


try:
    from fastdyn.quantities import METHODS

    QUANTITIES = {
        row.name.replace("_", " "): Quantity(
            name,
            tuple(f.shape for f in row.reads),
            {"method": row.method} if row.method else {},
            getattr(row, "frame", False),
        )
        for name, rows in METHODS.items()
        for row in rows
    }
except ImportError:  # version 0.1 had no table of quantities
    N = (("n",),)
    QUANTITIES = {
        "inverse dynamics": Quantity("inverse_dynamics", N * 3),
        "forward dynamics": Quantity("forward_dynamics", N * 3, {"method": "aba"}),
        "forward dynamics crba": Quantity("forward_dynamics", N * 3, {"method": "crba"}),
        "mass matrix": Quantity("mass_matrix", N),
        "gravity forces": Quantity("gravity_forces", N),
        "coriolis matrix": Quantity("coriolis_matrix", N * 2),
    }

ROBOTS = {
    "puma560": fd.robots.puma560,
    "chain of 12": partial(fd.robots.random_chain, 12),
    "tree of 12": partial(fd.robots.random_tree, 12),
    "chain of 48": partial(fd.robots.random_chain, 48),
}


def one_state(robot: fd.Robot, quantity: Quantity) -> Callable[[], Any]:
    """As in a control loop."""
    return partial(getattr(robot, quantity.method), *quantity.arguments(robot), **quantity.keywords(robot))


def batch(robot: fd.Robot, quantity: Quantity, samples: int = T, **options: Any) -> Callable[[], Any]:
    """Many states at once, into an existing array."""
    given = quantity.arguments(robot, samples)
    method = partial(getattr(robot, quantity.method), *given, **quantity.keywords(robot), **options)
    return partial(method, out=method())


def bound(robot: fd.Robot, quantity: Quantity) -> Callable[[], Any]:
    """On fixed memory, without checks; the default method only."""
    frame = {"frame": robot.links[-1].name} if quantity.frame else {}
    try:
        loop = robot.bind(quantity.method, **frame)
    except TypeError:  # version 0.1 binds all
        loop = robot.bind()
    name = quantity.method if callable(getattr(loop, quantity.method, None)) else f"compute_{quantity.method}"
    if quantity.options.get("method") == "crba" or not hasattr(loop, name):
        raise NotImplementedError
    return getattr(loop, name)


def fleet(robot: fd.Robot, quantity: Quantity) -> Callable[[], Any]:
    """As many samples as in a batch, each with a robot of its own."""
    if not hasattr(fd, "stack"):
        raise NotImplementedError
    robots = fd.stack([robot] * 64)
    given = quantity.arguments(robot, T // 64, 64)
    return partial(getattr(robots, quantity.method), *given, **quantity.keywords(robot))


def specialised(robot: fd.Robot, quantity: Quantity, call: Callable[..., Any]) -> Callable[[], Any]:
    """A kind of call in straight-line code of the one robot."""
    if not hasattr(robot, "specialize") or robot.n > 12:  # more joints keep general code
        raise NotImplementedError
    return call(robot.specialize(), quantity)


CALLS = {
    "one state": one_state,
    "batch": batch,
    "fleet": fleet,
    "two threads": partial(batch, threads=2),
    "single precision": partial(batch, dtype=np.float32),
    "bound": bound,
    "specialised batch": partial(specialised, call=batch),
    "specialised bound": partial(specialised, call=bound),
}


def warmed(quantity: str, robot: str, call: Callable[..., Callable[[], Any]]) -> Callable[[], Any]:
    """A job that has run once."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fd.RobotWarning)  # published inertias may be impossible
        job = call(ROBOTS[robot](), QUANTITIES[quantity])
    job()
    return job


class Dynamics:
    """Seconds of one call: one state, or T of them; the best of five turns of some milliseconds.

    Not by asv's own clock, which prepares a benchmark with a `setup` anew before every call: calls of a microsecond
    would then find nothing in the caches.
    """

    unit = "seconds"
    param_names = ("quantity", "robot", "call")
    params = (list(QUANTITIES), list(ROBOTS), list(CALLS))

    def setup(self, quantity: str, robot: str, call: str) -> None:
        self.job = warmed(quantity, robot, CALLS[call])

    def track_call(self, quantity: str, robot: str, call: str) -> float:
        timer = timeit.Timer(self.job)
        number = max(1, int(5e-3 / timer.timeit(1)))
        return min(timer.repeat(5, number)) / number


class Memory:
    """Peak memory of a process that computes 100,000 set points: inputs, results and code."""

    param_names = ("quantity",)
    params = (["inverse dynamics", "mass matrix"],)

    def setup(self, quantity: str) -> None:
        self.job = warmed(quantity, "puma560", partial(batch, samples=100_000))

    def peakmem_batch(self, quantity: str) -> None:
        self.job()
