"""Readers (files, texts, tables and models of other libraries -> Description) and writers, one row of FORMATS each."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import WRAPPER_ASSIGNMENTS, wraps
from inspect import signature
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, get_type_hints

from fastdyn.errors import DescriptionError
from fastdyn.formats.dh import from_dh
from fastdyn.formats.mujoco import from_mujoco, is_mjcf, load_mjcf
from fastdyn.formats.pinocchio import from_pinocchio
from fastdyn.formats.screws import from_screws
from fastdyn.formats.toml import from_toml, load_toml, to_toml
from fastdyn.formats.urdf import from_urdf, load_urdf
from fastdyn.formats.urdf_writer import to_urdf
from fastdyn.mechanism.description import Description, Mechanism

__all__ = [
    "FORMATS",
    "Format",
    "by_suffix",
    "from_dh",
    "from_mujoco",
    "from_pinocchio",
    "from_screws",
    "from_toml",
    "from_urdf",
    "load",
    "load_mjcf",
    "load_toml",
    "load_urdf",
    "returning",
    "to_toml",
    "to_urdf",
]

P = ParamSpec("P")
R = TypeVar("R")
Reader = Callable[..., Description]


@dataclass(frozen=True)
class Format:
    """A format: file suffixes, readers and writer (None where it has none).

    read takes a file's path; for formats without files, a table or another library's model.
    """

    name: str
    suffixes: tuple[str, ...]
    from_text: Reader | None
    read: Reader
    write: Callable[[Mechanism], str] | None
    recognises: Callable[[Path], bool] | None = None  # tells formats with the same suffix apart


FORMATS = (
    Format("URDF", (".urdf", ".xml"), from_urdf, load_urdf, to_urdf),
    Format("MJCF", (".xml",), None, load_mjcf, None, recognises=is_mjcf),
    Format("fastdyn's own", (".toml",), from_toml, load_toml, to_toml),
    Format("D-H table", (), None, from_dh, None),
    Format("screws", (), None, from_screws, None),
    Format("mujoco.MjModel", (), None, from_mujoco, None),
    Format("pinocchio.Model", (), None, from_pinocchio, None),
)


def by_suffix() -> dict[str, list[Format]]:
    """File formats by suffix.

    >>> {suffix: [format.name for format in formats] for suffix, formats in by_suffix().items()}
    {'.urdf': ['URDF'], '.xml': ['URDF', 'MJCF'], '.toml': ["fastdyn's own"]}
    """
    found: dict[str, list[Format]] = {}
    for format in FORMATS:
        for suffix in format.suffixes:
            found.setdefault(suffix, []).append(format)
    return found


def load(path: str | os.PathLike[str], strict: bool = False, locked: Mapping[str, float] | None = None) -> Description:
    """The robot in a .urdf, .xml (URDF, or MJCF through the package mujoco) or .toml file.

    strict: physically doubtful data raises an error instead of a RobotWarning. locked: joints or coordinates to hold,
    as in robot.locked: fd.load("panda.urdf", locked={"panda_finger_joint1": 0.02}) is a Robot of seven joints.

    >>> import pathlib, tempfile
    >>> import fastdyn as fd
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "arm.toml")
    ...     _ = file.write_text(fd.to_toml(fd.robots.two_link()))
    ...     fd.load(file)
    <Robot 'two_link': 2 joints RR, 2 kg moving>
    """
    file, known = Path(path), by_suffix()
    possible = known.get(file.suffix.lower())
    if possible is None:
        kinds = ", ".join(
            f"{suffix} ({' or '.join(each.name for each in formats)})" for suffix, formats in known.items()
        )
        hint = "" if file.suffix else f"; a built-in robot of that name: fd.robots.get({str(file)!r})"
        raise DescriptionError(
            f"{file}: expected a file of one of the kinds {kinds}, found the suffix {file.suffix!r}{hint}"
        )
    for format in possible:
        if format.recognises is not None and format.recognises(file):
            return format.read(file, strict=strict, locked=locked)
    return possible[0].read(file, strict=strict, locked=locked)


def returning(make: Callable[[Description], R], read: Callable[P, Description]) -> Callable[P, R]:
    """`read` followed by `make`, with the signature and the documentation of `read` and the module of `make`."""

    @wraps(read, assigned=[name for name in WRAPPER_ASSIGNMENTS if name != "__module__"])
    def reader(*args: P.args, **kwargs: P.kwargs) -> R:
        return make(read(*args, **kwargs))

    made: Any = reader
    made.__module__ = make.__module__
    made.__annotations__ = {**read.__annotations__, "return": get_type_hints(make)["return"]}
    made.__signature__ = signature(read).replace(return_annotation=made.__annotations__["return"])
    return reader
