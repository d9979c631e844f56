"""Machine and versions."""

from __future__ import annotations

from fastdyn.page.content import Facts, Section
from fastdyn.study.results import Results


def section(results: Results) -> Section:
    """The section."""
    return Section(
        "measured",
        "Machine and versions",
        (Facts(tuple(results.about.items())),),
    )
