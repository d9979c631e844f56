"""Other programs for the dynamics of robots, and this one, each in a module of its own.

A module's `jobs(case)` yields what its program can compute, on states in its preferred layout, prepared beforehand as
far as possible. Packages are imported by `jobs`, not by the modules.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module, metadata
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fastdyn.bench.case import Case, Job


@dataclass(frozen=True)
class Program:
    """A program: its name, the module here that runs it, and the distributions and packages that it needs."""

    name: str
    module: str
    distributions: tuple[str, ...]
    packages: tuple[str, ...]

    def jobs(self, case: Case) -> Iterator[Job]:
        """What it can compute of the case."""
        found: Iterator[Job] = import_module(f"fastdyn.bench.peers.{self.module}").jobs(case)
        return found

    @property
    def missing(self) -> bool:
        """Whether one of its packages is not installed."""
        return not all(map(find_spec, self.packages))

    @property
    def command(self) -> str:
        """What installs it."""
        return f"pip install {' '.join(self.distributions)}"

    @property
    def versions(self) -> dict[str, str]:
        """Of its distributions; packages that did not come from PyPI may tell none."""
        found = {}
        for name in (each.partition("[")[0] for each in self.distributions):
            try:
                found[name] = metadata.version(name)
            except metadata.PackageNotFoundError:
                found[name] = "unknown"
        return found


OURS = Program("fastdyn", "ours", ("fastdyn",), ("fastdyn",))
PEERS = (
    Program("Pinocchio", "pinocchio", ("pin",), ("pinocchio",)),
    Program("MuJoCo", "mujoco", ("mujoco",), ("mujoco",)),
    Program("Drake", "drake", ("drake",), ("pydrake",)),
    Program("PyBullet", "bullet", ("pybullet",), ("pybullet",)),
    Program("Robotics Toolbox", "toolbox", ("roboticstoolbox-python",), ("roboticstoolbox",)),
    Program("CasADi's C", "generated", ("casadi",), ("casadi",)),
    Program("ADAM's C", "adam", ("casadi", "adam-robotics[casadi]"), ("casadi", "adam", "liecasadi")),
)
