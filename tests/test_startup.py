"""Numba is imported for the first call, not before, and knows all kernels when it compiles a user's function."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from numba.core import config

ROOT = Path(__file__).parent.parent
IMPORTED = """
loaded = sorted(name for name in sys.modules if name.partition(".")[0] in ("numba", "llvmlite"))
assert not loaded, loaded
"""
LIGHT = {
    "import": "import fastdyn",
    "load and print": """
import fastdyn as fd
open("arm.urdf", "w").write(fd.to_urdf(fd.robots.puma560()))
robot = fd.load("arm.urdf").with_payload(1.0)
print(robot, robot.n, robot.coupled([[1.0]] * 6))
""",
    "trajectory": "import fastdyn as fd; print(fd.trajectories.quintic([0.0], [1.0], 1.0), fd.control, fd.simulation)",
    "--help": "command('--help')",
    "robots": "command('robots')",
    "info": "command('info', 'puma560')",
}
COMMAND = """
import sys, warnings
warnings.simplefilter("ignore")
def command(*arguments):
    from fastdyn import cli
    sys.argv = ["fastdyn", *arguments]
    try:
        cli.main()
    except SystemExit as end:
        assert not end.code, end.code
"""


def run(code: str, where: Path, *paths: Path) -> str:
    """What a process prints that runs this code in a directory."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (*paths, ROOT)))}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=where, env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("what", LIGHT)
def test_what_computes_nothing_does_not_import_numba(what: str, tmp_path: Path) -> None:
    assert run(COMMAND + LIGHT[what] + IMPORTED, tmp_path).strip() or what == "import"


USER = """
import numba
@numba.njit
def torque(address):
    return gravity_forces(address)

import fastdyn as fd
loop = fd.robots.two_link(1.0, 1.0, 1.0, g=10.0).bind("gravity_forces")
print(torque(loop.address), loop.tau.round(9).tolist())
"""


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="users' functions are not compiled")
def test_users_functions_can_call_what_they_import_from_workspace(tmp_path: Path) -> None:
    assert run("from fastdyn.workspace import gravity_forces" + USER, tmp_path) == "0 [20.0, 5.0]\n"


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="users' functions are not compiled")
def test_numba_asks_for_the_kernels_before_it_compiles_a_users_function(tmp_path: Path) -> None:
    """By the entry point that pyproject.toml declares, as an installed package has it."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["numba_extensions"]
    about = tmp_path / "fastdyn-0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: fastdyn\nVersion: 0\n")
    lines = [f"{name} = {value}" for name, value in declared.items()]
    (about / "entry_points.txt").write_text("\n".join(["[numba_extensions]", *lines, ""]))
    code = """
import numba
from fastdyn.scalars.vectors import dot
print(numba.njit(lambda a, b: dot(a, b))((1.0, 2.0, 3.0), (4.0, 5.0, 6.0)))
"""
    assert run(code, tmp_path, tmp_path) == "32.0\n"
