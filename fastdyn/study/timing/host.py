"""The host of a run: its processors and caches, what else ran on it, and how steady a fixed job was."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fastdyn import clock

_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")  # Linux
STEADY = 0.05  # spread of the reference job, relative, up to which the processor's speed was steady


@dataclass(frozen=True)
class Cache:
    """A level of data cache."""

    level: int
    bytes: int


@dataclass(frozen=True)
class Rates:
    """Multiplications and additions per nanosecond of multiply-adds in registers: the reference job, once in a pass."""

    dependent: float  # on lanes, each depends on the one before
    independent: float  # on lanes
    scalar: float  # on scalars, each depends on the one before


@dataclass(frozen=True)
class Host:
    """The host while the passes ran.

    load: the average number of runnable processes, over a minute, before the first pass and after each; this one counts
    as one. Empty where the system does not tell. share: processor time over elapsed time, of each pass.
    """

    processors: int
    caches: tuple[Cache, ...]
    load: tuple[float, ...]
    share: tuple[float, ...]
    rates: tuple[Rates, ...]

    @property
    def others(self) -> float:
        """Runnable processes besides this one, at most."""
        return max(0.0, max(self.load, default=1.0) - 1.0)

    @property
    def loaded(self) -> bool:
        """Whether other programs took much of the machine."""
        return clock.loaded(self.others, self.processors, self.share)

    @property
    def steady(self) -> bool:
        """Whether the reference job took about the same time in all passes."""
        found = [rates.independent for rates in self.rates]
        return max(found, default=1.0) <= (1 + STEADY) * min(found, default=1.0)

    def doubts(self) -> tuple[str, ...]:
        """Sentences about a host that was loaded or not steady."""
        found = []
        if self.loaded:
            found.append(
                f"The host was loaded: up to {self.others:.1f} other processes wanted its {self.processors} "
                f"processors, and this one had {100 * min(self.share, default=1.0):.0f} % of one. No headline is drawn "
                "from these times."
            )
        if not self.steady:
            found.append(
                f"The speed of the processor changed: a fixed job differed by more than {100 * STEADY:.0f} % between "
                "passes. No headline is drawn from these times."
            )
        return tuple(found)

    @property
    def quiet(self) -> bool:
        """Whether headlines may be drawn."""
        return not self.loaded and self.steady


def caches() -> tuple[Cache, ...]:
    """Each level of data cache, the nearest first, as far as the system tells (Linux)."""
    found = {}
    for place in _CACHES.glob("index*"):
        try:
            kind, level, size = ((place / name).read_text().strip() for name in ("type", "level", "size"))
            if kind != "Instruction":
                found[int(level)] = int(size.removesuffix("K")) * 1024
        except (OSError, ValueError):
            continue
    return tuple(Cache(level, size) for level, size in sorted(found.items()))
