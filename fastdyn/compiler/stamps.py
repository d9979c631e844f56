"""The package's files as they were when it was imported: size and time of change.

A file that has another stamp later no longer tells what was imported. `policy` imports this module, so that stamps are
taken before kernels are read: a file that changes in between counts as changed.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

Stamp = tuple[int, int]


def stamp(path: str) -> Stamp:
    """A file's size and time of change."""
    found = os.stat(path)
    return found.st_size, found.st_mtime_ns


def file_of(spec: Any) -> str:
    """The file that a module was read from, which may be an archive."""
    return str(getattr(spec.loader, "archive", None) or spec.origin)


def _stamps() -> dict[str, Stamp]:
    if hasattr(__spec__.loader, "archive"):
        files = [file_of(__spec__)]
    else:
        files = [
            os.path.join(folder, name)
            for folder, _, names in os.walk(Path(str(__spec__.origin)).parent.parent)
            for name in names
            if name.endswith((".py", ".pyc")) and not folder.endswith("__pycache__")
        ]
    return {file: stamp(file) for file in files}


IMPORTED = _stamps()
