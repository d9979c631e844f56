"""Results of all parts of the study: plain data, kept in study.json, from which the page is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fastdyn import record
from fastdyn.study.counts import Figure, Probing, Row, Search, Text
from fastdyn.study.counts.robot import Count
from fastdyn.study.effects.results import Effects
from fastdyn.study.timing import Timings

FORM = "fastdyn study 1"


@dataclass(frozen=True)
class Agreement:
    """A formulation, and its largest difference from the library, relative to the largest torque of the joint."""

    formulation: str
    source: str
    gives: tuple[str, ...]
    rotary_only: bool
    difference: float
    states: int
    robot: str


@dataclass(frozen=True, eq=False)
class Results:
    """Results of all parts of the study."""

    about: Mapping[str, str]  # machine, versions, date, command
    agreement: tuple[Agreement, ...]
    tables: tuple[Row, ...]  # the published ones
    texts: tuple[Text, ...]
    kernels: tuple[Text, ...]
    literature: tuple[Figure, ...]
    probing: Probing
    dalembert: Search  # procedures for the counts of generalized d'Alembert
    robot_counts: tuple[Count, ...]
    timings: Timings
    effects: Effects

    def text(self) -> str:
        """As JSON."""
        return record.text(self, FORM)


def read(path: Path) -> Results:
    """The results that a file study.json keeps."""
    return record.read(Results, path, FORM)
