"""Two runs side by side: of two machines, or of two versions."""

from __future__ import annotations

from dataclasses import dataclass

from fastdyn.bench.results import Bench, Row

FORM = "fastdyn bench comparison 1"
FACTS = (
    "processor", "cores", "instructions", "system", "extent", "batch", "passes", "turns", "compiler", "load_before",
    "load_during", "share", "date", "command",
)  # fmt: skip


@dataclass(frozen=True)
class Change:
    """A row of both runs."""

    old: Row
    new: Row

    @property
    def ratio(self) -> float:
        """The new ratio over the old one: above 1, fastdyn gained on the program."""
        return self.new.ratio / self.old.ratio

    @property
    def time(self) -> float:
        """The new time over the old one."""
        return self.new.ns / self.old.ns

    @property
    def beyond(self) -> bool:
        """Whether no pass of one run has a ratio within those of the other."""
        old, new = self.old.passes, self.new.passes
        return max(old) < min(new) or max(new) < min(old)


@dataclass(frozen=True)
class Difference:
    """A circumstance that is not the same in both runs; None where one has none."""

    name: str
    old: str | None
    new: str | None


@dataclass(frozen=True)
class Comparison:
    """Two runs: what both timed, what only one of them did, and how their circumstances differ."""

    old: Bench
    new: Bench

    @property
    def changes(self) -> tuple[Change, ...]:
        """What both timed, in the order of the new run."""
        before = {row.key: row for row in self.old.rows}
        return tuple(Change(before[row.key], row) for row in self.new.rows if row.key in before)

    @property
    def only_old(self) -> tuple[Row, ...]:
        """What only the old run timed."""
        return _without(self.old, self.new)

    @property
    def only_new(self) -> tuple[Row, ...]:
        """What only the new run timed."""
        return _without(self.new, self.old)

    @property
    def differences(self) -> tuple[Difference, ...]:
        """Versions, machine and extent, where they are not the same."""
        versions = {**self.old.versions, **self.new.versions}
        found = [Difference(name, self.old.versions.get(name), self.new.versions.get(name)) for name in versions]
        found += [
            Difference(name.replace("_", " "), *(_said(bench, name) for bench in (self.old, self.new)))
            for name in FACTS
        ]
        return tuple(each for each in found if each.old != each.new)


def _said(bench: Bench, name: str) -> str:
    value = getattr(bench, name)
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _without(some: Bench, others: Bench) -> tuple[Row, ...]:
    known = {row.key for row in others.rows}
    return tuple(row for row in some.rows if row.key not in known)
