"""Files and packages that readers need: contents of limited size, and errors that say what is missing."""

from __future__ import annotations

import importlib
import os
from typing import Any

from fastdyn.errors import DescriptionError, MissingExtraError

SIZE = 16 * 2**20  # bytes; the largest published robot descriptions stay below 1 MiB


def contents(path: str | os.PathLike[str]) -> bytes:
    """A file's bytes; no more than SIZE + 1 of them are ever read."""
    with open(path, "rb") as file:
        data = file.read(SIZE + 1)
    check_size(data, os.fspath(path))
    return data


def check_size(data: bytes, source: str) -> None:
    """Raises if there are more than SIZE bytes."""
    if len(data) > SIZE:
        raise DescriptionError(f"{source}: expected at most {SIZE >> 20} MiB, found more")


def package(name: str, wanted_by: str) -> Any:
    """An optional package. wanted_by: what needs it, for the error if it is missing."""
    try:
        return importlib.import_module(name)
    except ImportError as problem:
        raise MissingExtraError(f"{wanted_by} needs {name}, which is missing: pip install fastdyn[peers]") from problem
