"""Output files that appear whole or not at all, and the machine's name."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any


def write(path: Path, content: str | Callable[[IO[bytes]], Any]) -> None:
    """Writes text, or calls content(binary file), under another name and then renames, in a folder made if need be.

    Whoever looks at the path finds the old file or the new one, never a part of it.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(Path(folder) / "new" / "notes.txt", "10 N m")
    ...     (Path(folder) / "new" / "notes.txt").read_text()
    '10 N m'
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            if isinstance(content, str):
                file.write(content.encode())
            else:
                content(file)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def processor() -> str:
    """The processor's name."""
    try:
        with open("/proc/cpuinfo") as file:
            return next(line.split(":")[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def machine() -> str:
    """The processor's name, and how many of it there are."""
    return f"{processor()}, {os.cpu_count()} cores"
