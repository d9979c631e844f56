"""Trajectories from files: .csv with or without a header, and .npz."""

from __future__ import annotations

import csv
import math
import os
import zipfile
import zlib
from pathlib import Path

import numpy as np

from fastdyn.arrays import Array
from fastdyn.dynamics import Dynamics
from fastdyn.errors import ArgumentError, ArgumentTypeError, FileError
from fastdyn.view.motion import motion

Trajectory = dict[str, Array]
GROUPS = ("q", "qd", "tau")
# what NumPy raises on other files than .npz of plain arrays
NOT_ARRAYS = (ValueError, EOFError, KeyError, NotImplementedError, zipfile.BadZipFile, zlib.error)


def read(path: str | os.PathLike[str], robot: Dynamics) -> Trajectory:
    """The arrays q and, if the file has them, t, tau and qd: the arguments of `write`, checked.

    .csv: a header of t, q1 to qn and, if wanted, qd1 to qdn and tau1 to taun in any order; without a header t and then
    n columns. .npz: arrays t, q, and, if wanted, qd and tau.

    >>> import tempfile
    >>> import fastdyn as fd
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "swing.csv"
    ...     size = file.write_text("t,q2,q1\\n0.0,2,1\\n0.1,4,3\\n")
    ...     read(file, fd.robots.two_link())["q"].tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """
    file = Path(path)
    readers = {".csv": _csv, ".npz": _npz}
    if file.suffix.lower() not in readers:
        raise FileError(f"{file}: expected a name that ends in .csv or .npz")
    found = readers[file.suffix.lower()](file, robot.n)
    try:
        motion(robot, **found, energies={})
    except (ArgumentError, ArgumentTypeError) as problem:
        raise FileError(f"{file}: {problem}") from problem
    return found


def _npz(file: Path, n: int) -> Trajectory:
    try:
        with file.open("rb") as opened:  # NumPy leaves a damaged file open
            found = np.load(opened, allow_pickle=False)
            if isinstance(found, np.ndarray):
                raise FileError(f"{file}: expected a .npz file of named arrays, found one array without a name")
            arrays = {name: found[name] for name in ("t", *GROUPS) if name in found.files}
            names = list(found.files)
    except NOT_ARRAYS as problem:
        raise FileError(f"{file}: expected a .npz file of plain arrays: {str(problem).split('. ')[0]}") from problem
    if "q" not in arrays:
        raise FileError(f"{file}: expected an array q, found {', '.join(names) or 'none'}")
    return arrays


def _csv(file: Path, n: int) -> Trajectory:
    try:
        with file.open(encoding="utf-8-sig", newline="") as text:
            reader = csv.reader(text)
            rows = [(reader.line_num, [cell.strip() for cell in row]) for row in reader]
    except (UnicodeDecodeError, csv.Error) as problem:
        raise FileError(f"{file}: expected text with commas: {problem}") from problem
    rows = [(line, cells) for line, cells in rows if any(cells)]
    if not rows:
        raise FileError(f"{file}: expected a line for each sample, found none")
    plain = ["t", *(f"q{k + 1}" for k in range(n))]
    line, first = rows[0]
    if any(map(_is_number, first)):
        names = plain
    else:
        names, rows = _header(f"{file}, line {line}", first, n), rows[1:]
    numbers = np.array([_numbers(f"{file}, line {line}", cells, names) for line, cells in rows]).reshape(-1, len(names))
    if not len(numbers):
        raise FileError(f"{file}: expected a line for each sample below the header, found none")
    times = numbers[:, names.index("t")]
    for (line, _), before, after in zip(rows[1:], times, times[1:], strict=False):
        if after <= before:
            raise FileError(f"{file}, line {line}, column t: expected a time after {before}, found {after}")
    found = {"t": times}
    for group in GROUPS:
        wanted = [f"{group}{k + 1}" for k in range(n)]
        if group == "q" or set(wanted) & set(names):
            found[group] = numbers[:, [names.index(name) for name in wanted]]
    return found


def _header(where: str, names: list[str], n: int) -> list[str]:
    groups = {group: [f"{group}{k + 1}" for k in range(n)] for group in GROUPS}
    known = {"t"}.union(*groups.values())
    for place, name in enumerate(names):
        if name not in known or name in names[:place]:
            twice = "once" if name in known else f"one of t, q1 to q{n}, qd1 to qd{n}, tau1 to tau{n}"
            raise FileError(f"{where}, column {place + 1}: expected {twice}, found {name!r}")
    needed = ["t", *groups["q"]]
    for group in ("qd", "tau"):
        needed += groups[group] if set(groups[group]) & set(names) else []
    for name in needed:
        if name not in names:
            raise FileError(f"{where}: expected a column {name}, found {', '.join(names)}")
    return names


def _numbers(where: str, cells: list[str], names: list[str]) -> list[float]:
    if len(cells) != len(names):
        raise FileError(f"{where}: expected {len(names)} columns, {', '.join(names)}, found {len(cells)}")
    for name, cell in zip(names, cells, strict=True):
        if not _is_number(cell) or not math.isfinite(float(cell)):
            raise FileError(f"{where}, column {name}: expected a finite number, found {cell!r}")
    return [float(cell) for cell in cells]


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
