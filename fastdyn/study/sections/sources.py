"""Full references, at the end of the page."""

from __future__ import annotations

from fastdyn.page.content import Facts, Section
from fastdyn.study.results import Results
from fastdyn.study.sources import SOURCES


def section(results: Results) -> Section:
    """The section."""
    return Section("sources", "Sources", (Facts(tuple(SOURCES.items())),))
