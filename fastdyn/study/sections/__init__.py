"""The study's page: what it says, section by section, from the results alone."""

from __future__ import annotations

from fastdyn.page.content import Report
from fastdyn.study.results import Results
from fastdyn.study.sections import circumstances, counts, effects, formulations, robots, timing
from fastdyn.study.sections.headlines import headlines

INTRODUCTION = (
    "Inverse dynamics: the joint torques that move an arm along a given path. This page takes its classic formulations "
    "from the literature, counts their operations by running their code on counting numbers, compares the counts with "
    "the published tables, and times the code on the machine named below."
)
SECTIONS = (formulations, counts, robots, timing, effects, circumstances)


def report(results: Results) -> Report:
    """The whole report."""
    found = tuple(each.section(results) for each in SECTIONS)
    title = f"{len(results.agreement)} formulations of inverse dynamics, counted and timed"
    return Report("study", title, INTRODUCTION, tuple(headlines(results)), found)
