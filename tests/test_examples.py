"""The examples of notes/examples run as they stand: each checks its own results and writes its pictures."""

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "notes" / "examples"


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_an_example_runs_and_its_pictures_are_kept(path, tmp_path):
    runpy.run_path(str(path))["main"](tmp_path)
    written = {picture.name for picture in tmp_path.glob("*.png")}
    assert written
    assert written <= {picture.name for picture in EXAMPLES.glob("*.png")}
