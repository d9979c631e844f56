"""What a run keeps: a row for each program, robot, quantity and kind of call, and the circumstances."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

FORM = "fastdyn bench 1"  # of bench.json
WIDE = 0.1  # of the ratio: its passes differ by more than this
BUSY = 0.25  # of the cores, used by other programs


@dataclass(frozen=True)
class Row:
    """A program's time for a quantity of a robot, beside fastdyn's in the same passes.

    ns: for a state, the best of all passes. ratio: ns over fastdyn's. passes: the ratio in each pass; the one of all
    passes never lies outside. difference: the largest from fastdyn's result, relative to the largest number in it (of
    forward dynamics: from the accelerations that the torques were made from).
    """

    robot: str
    joints: int
    what: str
    call: str
    program: str
    ns: float
    ratio: float
    passes: tuple[float, ...]
    difference: float

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What it is a row of."""
        return self.robot, self.what, self.call, self.program

    @property
    def steady(self) -> bool:
        """Whether the passes differ by no more than WIDE.

        >>> Row("arm", 6, "mass matrix", "batch", "a peer", 90.0, 2.0, (1.9, 2.0, 2.2), 1e-15).steady
        False
        """
        return max(self.passes) - min(self.passes) <= WIDE * self.ratio


@dataclass(frozen=True)
class Untimed:
    """What was not timed, and why. what, call: empty if the program computed nothing of the robot."""

    robot: str
    what: str
    call: str
    program: str
    difference: float | None
    why: str


@dataclass(frozen=True)
class Bench:
    """A run. absent: programs that are not installed, and the command that installs each."""

    command: str
    date: str
    extent: str
    processor: str
    cores: int
    instructions: str
    system: str
    versions: Mapping[str, str]
    absent: Mapping[str, str]
    load_before: float | None  # averages of a minute; None where the system tells none
    load_during: tuple[float, ...]  # after each robot
    batch: int  # states
    passes: int
    turns: int
    compiler: str  # of generated C
    unfinished: tuple[str, ...]  # robots that were not measured: the run was ended before
    rows: tuple[Row, ...]
    untimed: tuple[Untimed, ...]

    @property
    def doubts(self) -> tuple[str, ...]:
        """Reasons to trust the figures less."""
        found = []
        if self.unfinished:
            found.append(f"The run was ended early: {', '.join(self.unfinished)} not measured.")
        before, during = self.load_before or 0.0, max(self.load_during, default=0.0) - 1.0  # 1 is the run itself
        if max(before, during) > BUSY * self.cores:
            found.append(
                f"Other programs were running: load average {before:.1f} before and up to {during + 1:.1f} during the "
                f"run, which accounts for 1, on {self.cores} cores. They disturb long jobs more than short ones."
            )
        unsteady = sum(not row.steady for row in self.rows)
        if unsteady:
            found.append(
                f"{unsteady} of {len(self.rows)} ratios differ by more than {100 * WIDE:.0f} % between the "
                f"{self.passes} passes; they are marked as not steady."
            )
        if self.extent == "quick":
            found.append("A quick run: few robots, passes and turns.")
        return tuple(found)
