"""A robot from a file of any kind that is understood, told by the file's suffix and by what is in it."""

from __future__ import annotations

import os
from pathlib import Path

from fastdyn.errors import DescriptionError, MissingExtraError
from fastdyn.formats.mujoco import from_mujoco
from fastdyn.formats.toml import load_toml
from fastdyn.formats.urdf import load_urdf
from fastdyn.mechanism.coupling import CoupledRobot
from fastdyn.robot import Robot

KINDS = ".urdf (URDF), .xml (URDF or MJCF), .toml (fastdyn's own)"


def load(path: str | os.PathLike[str], strict: bool = False) -> Robot | CoupledRobot:
    """The robot in a .urdf, .xml (URDF, or MJCF through the package mujoco) or .toml file.

    strict: makes what is physically doubtful an error instead of a RobotWarning.

    >>> import pathlib, tempfile
    >>> import fastdyn as fd
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "arm.toml")
    ...     _ = file.write_text(fd.to_toml(fd.robots.two_link()))
    ...     fd.load(file)
    <Robot 'two_link': 2 joints RR, 2 kg moving>
    """
    file = Path(path)
    suffix = file.suffix.lower()
    if suffix == ".toml":
        return load_toml(file, strict=strict)
    if suffix == ".urdf" or (suffix == ".xml" and not _is_mjcf(file)):
        return load_urdf(file, strict=strict)
    if suffix == ".xml":
        return _load_mjcf(file, strict)
    raise DescriptionError(f"{file}: expected a file of one of the kinds {KINDS}, found the suffix {file.suffix!r}")


def _is_mjcf(file: Path) -> bool:
    """Whether an XML file's first element is <mujoco>; everything else is for the URDF reader to judge."""
    start = file.read_bytes()[: 1 << 16]
    while start.lstrip().startswith((b"<?", b"<!--", b"\xef\xbb\xbf")):
        start = start.lstrip()
        end = b"-->" if start.startswith(b"<!--") else b"?>" if start.startswith(b"<?") else b"\xbf"
        _, found, start = start.partition(end)
        if not found:
            return False
    return start.lstrip().startswith(b"<mujoco")


def _load_mjcf(file: Path, strict: bool) -> Robot:
    try:
        import mujoco  # type: ignore[import-untyped, unused-ignore]
    except ImportError as problem:
        raise MissingExtraError(
            f"{file} is an MJCF file: reading it needs the package mujoco (pip install mujoco)"
        ) from problem
    try:
        model = mujoco.MjModel.from_xml_path(str(file))
    except ValueError as problem:
        raise DescriptionError(f"{file}: MuJoCo refuses it: {problem}") from problem
    return from_mujoco(model, strict=strict)
