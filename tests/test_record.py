"""Records as JSON and back: every kind of field, and errors that say where."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from numpy.typing import NDArray

import fastdyn as fd
from fastdyn import record

FORM = "a test 1"


@dataclass(frozen=True)
class Part:
    name: str
    share: Fraction | int
    word: Literal["yes", "no"]


@dataclass(frozen=True, eq=False)
class Whole:
    parts: tuple[Part, ...]
    pair: tuple[int, float]
    by_name: Mapping[str, Part | None]
    array: NDArray[np.float64]
    sure: bool
    note: str | None = None


def whole() -> Whole:
    part = Part("a", Fraction(13, 6), "yes")
    return Whole((part, Part("b", 2, "no")), (3, 0.1), {"x": part, "y": None}, np.array([[1.0, 1 / 3], [2, 3]]), True)


def written(tmp_path: Path, **changed: Any) -> Path:
    path = tmp_path / "whole.json"
    path.write_text(json.dumps(json.loads(record.text(whole(), FORM)) | changed))
    return path


def test_what_is_read_is_what_was_written(tmp_path: Path) -> None:
    found, given = record.read(Whole, written(tmp_path), FORM), whole()
    assert found.parts == given.parts
    assert type(found.parts[1].share) is int
    assert (found.pair, found.by_name, found.sure, found.note) == (given.pair, given.by_name, True, None)
    assert np.array_equal(found.array, given.array)
    assert record.text(found, FORM) == record.text(given, FORM)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"form": "another"}, "expected a file of the form 'a test 1', found 'another'"),
        ({"pair": [3]}, r"\.pair is \[3\]: expected 2 values"),
        ({"pair": [3.5, 1]}, r"\.pair\[0\] is 3\.5: expected int"),
        (
            {"parts": [{"name": "a", "share": "1/2", "word": "maybe"}]},
            r"\.parts\[0\]\.word is 'maybe': expected one of",
        ),
        ({"parts": [{"name": "a"}]}, r"\.parts\[0\] has no share, word"),
        ({"extra": 1}, "the file has extra: expected parts"),
        ({"by_name": {"x": 1}}, r"\.by_name\.x is 1: expected null"),
        ({"sure": 1}, r"\.sure is 1: expected bool"),
        ({"array": 1.0}, r"\.array is 1\.0: expected a list of numbers"),
    ],
)
def test_what_does_not_fit_is_named(tmp_path: Path, changed: dict[str, Any], message: str) -> None:
    with pytest.raises(fd.FileError, match=message) as problem:
        record.read(Whole, written(tmp_path, **changed), FORM)
    assert "whole.json" in str(problem.value)


def test_nan_is_neither_written_nor_read(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="nan"):
        record.text(Part("a", float("nan"), "yes"), FORM)  # type: ignore[arg-type]
    path = written(tmp_path)
    path.write_text(path.read_text().replace("0.1", "NaN"))
    with pytest.raises(fd.FileError, match="found NaN"):
        record.read(Whole, path, FORM)
