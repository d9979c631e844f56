"""Shared by all benchmarks: timing, a record of machine and versions, and output files."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from fastdyn import clock, output
from fastdyn.bench.case import chain as chain
from fastdyn.bench.case import states as states
from fastdyn.clock import Job, Key
from fastdyn.compiler.host import register_bits

RESULTS = Path(__file__).parent / "results"
MEASUREMENTS = Path(__file__).parents[1] / "notes" / "measurements"


# ---------------------------------------------------------------------------------------------- the clock


def best(jobs: Mapping[Key, Job], turns: int, warm: bool = False) -> dict[Key, float]:
    """Each job's best time in seconds; jobs take turns (fastdyn.clock). warm: each turn begins with an untimed run."""
    return clock.best(jobs, turns, warm=np.inf if warm else 0.0)


# ---------------------------------------------------------------------------------------------- where, when, with what


def versions(packages: Iterable[str]) -> dict[str, str | None]:
    """The installed version of each distribution, None where it is not installed."""
    found: dict[str, str | None] = {}
    for package in packages:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = None
    return found


def circumstances() -> dict[str, Any]:
    """Machine, load, date and versions, to accompany every figure."""
    return {
        "processor": output.processor(),
        "code": f"{os.environ.get('NUMBA_CPU_NAME', 'its own')} instructions, {register_bits()}-bit registers",
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,  # runnable processes
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": versions(("fastdyn", "numpy", "numba", "llvmlite")),
    }


def heading(title: str, about: Mapping[str, Any]) -> str:
    """The circumstances as the first lines of a page."""
    found = ", ".join(f"{name} {version}" for name, version in about["versions"].items() if version)
    where = f"{about['processor']}, {about['cores']} cores, load {about['load']} at the start, {about['date'][:10]}"
    return f"# {title}\n\n{where}.\nCode of {about['code']}. Python {about['python']}, {found}.\n"


def markdown(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table. Columns whose name begins with `>` are right-aligned."""
    lines = [
        "| " + " | ".join(name.lstrip(">") for name in header) + " |",
        "|" + "|".join("---:" if name.startswith(">") else "---" for name in header) + "|",
    ]
    lines += ["| " + " | ".join(map(str, row)) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def figures(value: float | None) -> str:
    """Three significant figures, without an exponent."""
    return "" if value is None else f"{value:.{max(0, 2 - int(np.floor(np.log10(value))))}f}" if value > 0 else "0"


# ---------------------------------------------------------------------------------------------- files


def page(name: str) -> Path:
    """Where a page of figures is kept; those of another instruction set than the host's own beside it."""
    cpu = os.environ.get("NUMBA_CPU_NAME")
    return MEASUREMENTS / f"{name}{f'_{cpu}' if cpu else ''}.md"


def write(path: Path, content: str | Callable[[Any], Any]) -> None:
    """Writes a file and prints its path."""
    output.write(path, content)
    print(f"wrote {path}")


def write_json(path: Path, content: Any) -> None:
    """As `write`."""
    write(path, json.dumps(content, indent=1) + "\n")
