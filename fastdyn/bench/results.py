"""What a run keeps: a row for each program, robot, quantity and kind of call, and the circumstances."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fastdyn import clock

FORM = "fastdyn bench 1"  # of bench.json
WIDE = 0.1  # of a ratio: passes that differ by more are not steady


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
    share: tuple[float, ...]  # processor time over elapsed time while timing, of each robot
    batch: int  # states
    passes: int
    turns: int
    compiler: str  # of generated C
    unfinished: tuple[str, ...]  # robots that were not measured: the run was ended before
    rows: tuple[Row, ...]
    untimed: tuple[Untimed, ...]

    @property
    def loaded(self) -> bool:
        """Whether other programs took much of the machine."""
        others = max(self.load_before or 0.0, max(self.load_during, default=0.0) - 1.0)  # 1 is the run itself
        return clock.loaded(others, self.cores, self.share)

    @property
    def doubts(self) -> tuple[str, ...]:
        """Reasons to trust the figures less."""
        found = []
        if self.unfinished:
            found.append(f"The run was ended early: {', '.join(self.unfinished)} not measured.")
        if self.loaded:
            found.append(
                f"The host was loaded: load average {self.load_before or 0.0:.1f} before and up to "
                f"{max(self.load_during, default=0.0):.1f} during the run, which accounts for 1, on {self.cores} "
                f"cores; the run had {100 * min(self.share, default=1.0):.0f} % of a core at the least. That disturbs "
                "long jobs more than short ones: no headline is drawn from these times."
            )
        if unsteady := sum(not row.steady for row in self.rows):
            found.append(
                f"{unsteady} of {len(self.rows)} ratios differ by more than {100 * WIDE:.0f} % between the "
                f"{self.passes} passes: they are marked as not steady, and no headline is drawn from them."
            )
        return tuple(found)


def quickest(rows: Iterable[Row], ours: bool) -> Row | None:
    """The row with the shortest time, of fastdyn's own programs or of its peers."""
    own = [row for row in rows if row.program.startswith("fastdyn") is ours]
    return min(own, key=lambda row: row.ns, default=None)
