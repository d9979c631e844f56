"""Results of a run: percentiles, counts of late cycles, a table, a figure and files."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastdyn.output import write

Times = NDArray[np.int64]  # ns

CLOCK = 100  # ns: about the time of one clock reading; figures show nothing shorter


@dataclass(frozen=True)
class Spread:
    """Percentiles, in microseconds: pX is the smallest time that X per cent of all do not exceed."""

    p50: float
    p99: float
    p99_9: float
    p99_99: float
    max: float

    @classmethod
    def of(cls, times: Times) -> Spread:
        """Of times in nanoseconds; NaN if there are none.

        >>> Spread.of(np.arange(1, 10_001) * 1000)
        Spread(p50=5000.0, p99=9900.0, p99_9=9990.0, p99_99=9999.0, max=10000.0)
        """
        if len(times) == 0:
            return cls(*[math.nan] * 5)
        # integers, since 0.999 * 10,000 is not exactly 9990 in floating point
        ranks = [-(-len(times) * share // 10_000) - 1 for share in (5_000, 9_900, 9_990, 9_999, 10_000)]
        return cls(*(np.sort(times)[ranks] / 1000).tolist())


@dataclass(frozen=True, eq=False)
class Record:
    """The cycles of one loop: how late each began and how long it computed, in ns, and how many were too late.

    missed: cycles not finished when the next one was due; overruns: cycles whose computation alone took longer than a
    period; skipped: cycles that never began.
    """

    lateness: Times
    computation: Times
    missed: int
    overruns: int
    skipped: int

    @classmethod
    def of(cls, lateness: Times, computation: Times, period: int, due: int) -> Record:
        """From the times of the cycles that ran, the period in ns, and the number of cycles that were due."""
        return cls(
            lateness,
            computation,
            missed=int((lateness + computation > period).sum()),
            overruns=int((computation > period).sum()),
            skipped=due - len(lateness),
        )

    @property
    def cycles(self) -> int:
        """Number of cycles that ran."""
        return len(self.computation)


@dataclass(frozen=True, eq=False)
class Report:
    """Result of a run. print() shows a table; `save` writes the table, its numbers and a figure."""

    robot: str
    rate: float  # Hz
    ended: str
    settings: dict[str, str]
    machine: str
    date: str
    loop: Record
    control: Record | None  # the empty loop
    spun: int  # ns that each cycle of the empty loop polls the clock

    def as_dict(self) -> dict[str, Any]:
        """The numbers, times in microseconds, for JSON: None where nothing was measured."""
        loops = {"loop": self.loop} if self.control is None else {"loop": self.loop, "empty loop": self.control}
        return {
            "robot": self.robot,
            "rate [Hz]": self.rate,
            "ended": self.ended,
            "machine": self.machine,
            "date": self.date,
            "settings": self.settings,
            "empty loop spins [us]": None if self.control is None else self.spun / 1000,
        } | {
            name: {
                "cycles": record.cycles,
                "missed": record.missed,
                "overruns": record.overruns,
                "skipped": record.skipped,
                "computation [us]": _jsonable(Spread.of(record.computation)),
                "lateness [us]": _jsonable(Spread.of(record.lateness)),
            }
            for name, record in loops.items()
        }

    def __str__(self) -> str:
        loops = [("the loop", self.loop)] + ([] if self.control is None else [("an empty loop", self.control)])
        lines = [
            f"{self.robot} at {self.rate:g} Hz, {self.loop.cycles:,} cycles, ended {self.ended}",
            f"{self.machine}; {self.date}",
            *(f"{name}: {setting}" for name, setting in self.settings.items()),
            "",
            f"{'[us]':30}" + "".join(f"{head:>11}" for head in ("p50", "p99", "p99.9", "p99.99", "max")),
        ]
        for what in ("computation", "lateness"):
            for name, record in loops:
                spread = Spread.of(getattr(record, what))
                cells = (spread.p50, spread.p99, spread.p99_9, spread.p99_99, spread.max)
                lines.append(f"{what:15}{name:15}" + "".join(f" {cell:10,.1f}" for cell in cells))
        lines.append(f"{'[cycles]':30}" + "".join(f"{head:>11}" for head in ("run", "missed", "overruns", "skipped")))
        for name, r in loops:
            lines.append(f"{'':15}{name:15}" + "".join(f"{c:11,}" for c in (r.cycles, r.missed, r.overruns, r.skipped)))
        return "\n".join([*lines, "", *self._remarks()])

    def _remarks(self) -> list[str]:
        remarks = []
        if self.loop.cycles < 10_000:
            remarks.append("With fewer than 10,000 cycles p99.99 is the largest value seen.")
        if self.control is not None and self.control.cycles:
            late, long = Spread.of(self.control.lateness), Spread.of(self.control.computation)
            remarks.append(
                f"The empty loop only read the clock, for {self.spun / 1000:.1f} us a cycle. "
                f"The host alone made it up to {late.max:,.1f} us late\nand up to "
                f"{long.max - self.spun / 1000:,.1f} us longer than that: any loop on this host must expect as much."
            )
        return [*remarks, "These are observations. An ordinary operating system guarantees no deadline."]

    def picture(self) -> Any:
        """A Matplotlib figure: histograms of computation time and lateness, of both loops."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(9, 7), layout="constrained")
        period = 1e6 / self.rate
        for axis, what in zip(figure.subplots(2, 1), ("computation", "lateness"), strict=True):
            records = [self.loop] if self.control is None else [self.loop, self.control]
            times = [np.maximum(getattr(record, what), CLOCK) / 1000 for record in records]
            known = np.concatenate(times)
            low, high = (known.min(), known.max()) if len(known) else (1.0, period)
            bins = np.geomspace(low * 0.9, high * 1.1, 80)
            if self.control is not None:
                axis.hist(times[1], bins, color="0.75", label="an empty loop: the host alone")
            axis.hist(times[0], bins, histtype="step", color="black", linewidth=1.3, label="the loop")
            if high > period / 20:
                axis.axvline(period, color="black", linestyle=":", label=f"period, {period:g} us")
            axis.set_xscale("log")
            if len(known):
                axis.set_yscale("log")
                axis.set_ylim(bottom=0.5)
            axis.set_xlabel({"computation": "computation time [us]", "lateness": "late at the start [us]"}[what])
            axis.set_ylabel("cycles")
            axis.legend()
        title = f"{self.robot} at {self.rate:g} Hz, {self.loop.cycles:,} cycles; scheduler {self.settings['scheduler']}"
        figure.suptitle(f"{title}\n{self.machine}\n{self.date}", fontsize="medium")
        return figure

    def save(self, folder: str | Path) -> list[Path]:
        """Writes realtime.txt, realtime.json and realtime.png into a folder; returns their paths."""
        target = Path(folder)
        paths = [target / f"realtime.{kind}" for kind in ("txt", "json", "png")]
        figure = self.picture()
        write(paths[0], f"{self}\n")
        write(paths[1], json.dumps(self.as_dict(), indent=1, allow_nan=False))
        write(paths[2], lambda file: figure.savefig(file, format="png", dpi=120))
        return paths


def _jsonable(spread: Spread) -> dict[str, float | None]:
    return {name: None if math.isnan(value) else value for name, value in vars(spread).items()}
