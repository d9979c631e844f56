"""Writes a report into a folder."""

from __future__ import annotations

from pathlib import Path

from fastdyn import output
from fastdyn.page.content import Report
from fastdyn.page.markup import html, markdown


def write(report: Report, data: str, folder: Path) -> Path:
    """Writes index.html, summary.md, csv/*.csv and the data as <report.name>.json; returns the page's path.

    Nothing is written unless everything can be; each file appears whole, and the page is written last.
    """
    files = {f"csv/{table.key}.csv": table.csv() for table in report.tables}
    files[f"{report.name}.json"] = data
    files["summary.md"] = markdown(report)
    files["index.html"] = html(report)
    for name, text in files.items():
        output.write(folder / name, text)
    return folder / "index.html"
