"""notes/coverage.md: whatever it points at exists, and no section or problem is missing."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "notes" / "coverage.md").read_text(encoding="utf-8")
POINTERS = sorted({found for found in re.findall(r"`([^`]+)`", PAGE) if ".py" in found})
ROWS = [[cell.strip() for cell in line.split("|")[1:-1]] for line in PAGE.splitlines() if line.startswith("| ")]
BOOK = "3.1 3.2 3.2.1 3.2.2 3.2.3 3.2.4 3.2.5 3.2.6 3.3 3.3.1 3.3.2 3.3.3 3.3.4 3.3.5 3.3.6 3.3.7 3.4 3.4.1 3.4.2 3.5"
REPORT = "1 2.1.1 2.1.2 2.2.1 2.2.2 2.3.1 2.3.2 2.3.3 2.3.4 3.1.1 3.1.2 3.1.3 3.1.4 3.1.5 3.2 3.3 3.3.1 3.3.2 4"


@cache
def names(path: Path) -> set[str]:
    """Functions, classes and methods of a module, as `Class::method`."""
    found = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
            found |= {f"{node.name}::{each.name}" for each in getattr(node, "body", ()) if hasattr(each, "name")}
    return found


@pytest.mark.parametrize("pointer", POINTERS)
def test_what_the_page_points_at_exists(pointer):
    path, _, name = pointer.partition("::")
    assert (ROOT / path).is_file()
    assert not name or name in names(ROOT / path)


def test_every_section_and_problem_is_listed():
    book, report = PAGE.split("\n## ")[1:3]

    def listed(part, heading):
        """The numbers in the first column of the tables under that heading."""
        _, *tables = part.split(f"| {heading} |")
        rows = [line.split("|")[1] for table in tables for line in table.split("\n\n")[0].splitlines()[2:]]
        return {number for row in rows for number in re.findall(r"(?<!Table )(?<!Figs\. )\b\d(?:\.\d+)*\b", row)}

    assert listed(book, "section") >= set(BOOK.split())
    assert listed(report, "section") >= set(REPORT.split())
    assert listed(book, "problem") == {f"3.{k}" for k in range(1, 19)}


def test_rows_say_where_or_why():
    assert len(ROWS) > 80
    for row in ROWS:
        assert len(row) == 4, row
        _, _, code, test = row
        absent = re.match(r"nothing to compute|not implemented yet: \w+", code)  # and the reason
        assert "`fastdyn/" in code or absent or re.match("code|as for|the same text", code), row
        assert test or absent, row
        assert "::test_" in test or "::Test" in test or test.startswith("as for") or not test or test == "test", row
