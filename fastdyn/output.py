"""Output files that appear whole or not at all, terminals of any encoding, and the machine's name."""

from __future__ import annotations

import io
import os
import platform
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from fastdyn.errors import ArgumentError


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


def check_folder(folder: Path, name: str) -> None:
    """Raises an ArgumentError that calls it `name` unless files can be written into a folder, made if need be.

    Called before long work; leaves nothing behind.

    >>> check_folder(Path("/dev/null/results"), "--out")
    Traceback (most recent call last):
    fastdyn.errors.ArgumentError: --out is /dev/null/results: expected a folder for files: Not a directory
    """
    made: list[Path] = []
    try:
        for each in reversed([part for part in (folder, *folder.parents) if not os.path.lexists(part)]):
            each.mkdir()
            made.append(each)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as problem:
        raise ArgumentError(f"{name} is {folder}: expected a folder for files: {problem.strerror}") from problem
    finally:
        for each in reversed(made):
            each.rmdir()


def print_anything() -> None:
    """Lets print replace characters that the terminal's encoding lacks, instead of raising: for commands."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


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
