"""Compiled code is kept between processes in a private place, and losing it costs time, never correctness."""

from __future__ import annotations

import compileall
import inspect
import json
import os
import shutil
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numba.core import config

import fastdyn as fd
from fastdyn.calls import generate
from fastdyn.compiler import cache, sources
from fastdyn.compiler.entries import generated
from fastdyn.compiler.policy import kernel
from fastdyn.compiler.sources import StaleCodeError, source_hash
from fastdyn.kernels import gravity
from fastdyn.quantities import CORIOLIS_MATRIX, GRAVITY_FORCES, QUANTITIES
from tests.samples import each_row

JOB = """
import fastdyn as fd
from fastdyn.calls import generate
from fastdyn.compiler.cache import cache_directory
from fastdyn.quantities import GRAVITY_FORCES
print(fd.robots.two_link(1.0, 1.0, 1.0, g=10.0).gravity_forces([0.0, 0.0]).round(9).tolist())
print(cache_directory())
print(sum(generate.single(GRAVITY_FORCES, False).dispatcher.stats.cache_hits.values()))
"""

keeps_code = pytest.mark.skipif(
    bool(config.DISABLE_JIT or config.BOUNDSCHECK), reason="nothing is kept without a compiler or with bounds checks"
)


def run(directory: Path, before: str = "") -> tuple[str, str, int, str]:
    """Result, cache directory, cache hits and complaints of a process that computes with the given cache directory.

    before: code that it runs first.
    """
    environment = {**os.environ, "FASTDYN_CACHE_DIR": str(directory)}
    command = [sys.executable, "-c", before + JOB]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    result, kept_in, hits = done.stdout.splitlines()
    assert result == "[20.0, 5.0]"
    return result, kept_in, int(hits), done.stderr


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache directory that a first process has filled."""
    directory = tmp_path_factory.mktemp("filled") / "cache"
    assert run(directory)[2] == 0
    return directory


@keeps_code
def test_a_second_process_compiles_nothing(filled: Path) -> None:
    assert run(filled)[2] == 1


@keeps_code
def test_the_cache_is_private(filled: Path) -> None:
    _, kept_in, _, _ = run(filled)
    for directory in (filled, Path(kept_in)):
        assert directory.stat().st_mode & 0o777 == 0o700


@keeps_code
def test_a_directory_that_others_may_write_to_is_refused(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    _, kept_in, _, complaints = run(shared)
    assert kept_in == "None"
    assert complaints.count(f"RuntimeWarning: {shared} is refused as a cache: others may write to it (mode 777)") == 1
    assert list(shared.iterdir()) == []


@keeps_code
@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can give a directory away")
def test_a_directory_of_somebody_else_is_refused(tmp_path: Path) -> None:
    foreign = tmp_path / "foreign"
    foreign.mkdir(mode=0o700)
    os.chown(foreign, 12345, -1)
    _, kept_in, _, complaints = run(foreign)
    assert kept_in == "None"
    assert complaints.count(f"RuntimeWarning: {foreign} is refused as a cache: it belongs to user 12345") == 1


READ_ONLY = "import os; os.access = lambda path, mode: not mode & os.W_OK\n"  # the tests may run as root


@keeps_code
def test_a_filled_read_only_directory_is_read_and_never_written_to(tmp_path: Path, filled: Path) -> None:
    _, kept_in, hits, complaints = run(filled, READ_ONLY)
    assert (kept_in, hits, complaints) == (str(filled), 1, "")
    empty = tmp_path / "empty"
    empty.mkdir(mode=0o700)
    _, _, hits, complaints = run(empty, READ_ONLY)
    assert hits == 0
    assert complaints.count(f"RuntimeWarning: {empty} is read-only; code is compiled anew in every process") == 1
    assert list(empty.iterdir()) == []


@keeps_code
def test_a_place_where_nothing_can_be_written_is_survived(tmp_path: Path) -> None:
    occupied = tmp_path / "a file"
    occupied.write_text("")
    _, kept_in, _, complaints = run(occupied)
    assert kept_in == "None"
    assert complaints.count(f"RuntimeWarning: {occupied} cannot be used as a cache: ") == 1


@keeps_code
@pytest.mark.parametrize(("suffix", "content"), [("nbi", b"garbage"), ("nbc", b""), ("nbc", b"\x80\x05")])
def test_a_corrupt_cache_is_survived_mentioned_and_mended(
    tmp_path: Path, filled: Path, suffix: str, content: bytes
) -> None:
    shutil.copytree(filled, tmp_path / "cache")
    spoiled = list((tmp_path / "cache").rglob(f"*.{suffix}"))
    assert spoiled
    for path in spoiled:
        path.write_bytes(content)
    _, _, hits, complaints = run(tmp_path / "cache")
    assert hits == 0
    assert "compiled anew" in complaints
    assert run(tmp_path / "cache")[2] == 1


@keeps_code
def test_a_corrupt_cache_is_mended_where_warnings_are_errors(tmp_path: Path, filled: Path) -> None:
    shutil.copytree(filled, tmp_path / "cache")
    (spoiled,) = (tmp_path / "cache").rglob("*.nbc")
    spoiled.write_bytes(b"")
    with pytest.raises(AssertionError, match="RuntimeWarning: compiled code could not be read"):
        run(tmp_path / "cache", "import warnings; warnings.simplefilter('error')\n")
    _, _, hits, complaints = run(tmp_path / "cache")
    assert (hits, complaints) == (0, "")


# ---------------------------------------------------------------------------------------------- an edit of one kernel

EDITED = """
import warnings; warnings.simplefilter("ignore")
import json, sys
import fastdyn as fd
from fastdyn.calls import generate, headers
from fastdyn.quantities import QUANTITIES
robot = fd.robots.two_link()
robot.coriolis_matrix([0.1, 0.2], [0.3, 0.4])
robot.potential_energy([0.1, 0.2])
entries = {
    "coriolis_matrix": generate.single(QUANTITIES["coriolis_matrix"], False),
    "potential_energy": generate.single(QUANTITIES["potential_energy"], False),
}
hits = {name: sum(entry.dispatcher.stats.cache_hits.values()) for name, entry in entries.items()}
print(json.dumps([fd.__file__, hits]))
"""


@keeps_code
def test_an_edit_of_a_kernel_makes_cold_what_uses_it_and_nothing_else(tmp_path: Path) -> None:
    package = tmp_path / "fastdyn"
    shutil.copytree(Path(fd.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    environment = {**os.environ, "FASTDYN_CACHE_DIR": str(tmp_path / "cache")}

    def hits() -> dict[str, int]:
        """Which entries came from the cache, in a process that imports the copy of the package."""
        command = [sys.executable, "-c", EDITED]
        done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        file, found = json.loads(done.stdout)
        assert Path(file).parent == package
        return found

    def edit(module: str) -> None:
        with (package / module).open("a", encoding="utf-8") as file:
            file.write("\n# a remark\n")

    assert hits() == {"coriolis_matrix": 0, "potential_energy": 0}
    assert hits() == {"coriolis_matrix": 1, "potential_energy": 1}
    edit("kernels/coriolis.py")
    assert hits() == {"coriolis_matrix": 0, "potential_energy": 1}
    edit("kernels/gravity.py")
    assert hits() == {"coriolis_matrix": 1, "potential_energy": 0}
    edit("robot.py")  # no machine code comes from it
    assert hits() == {"coriolis_matrix": 1, "potential_energy": 1}
    edit("scalars/samples.py")  # which no kernel imports: it compiles their verbs
    assert hits() == {"coriolis_matrix": 0, "potential_energy": 0}


# ---------------------------------------------------------------------------------------------- ways of installing

HASH = """
import sys
import fastdyn
from fastdyn.calls import generate
from fastdyn.compiler.sources import source_hash
from fastdyn.quantities import GRAVITY_FORCES
{meanwhile}
print(fastdyn.__file__, source_hash(generate.single(GRAVITY_FORCES, False).py_func))
"""


class Installed:
    """A copy of the package as a folder, as an archive, or as bytecode only."""

    def __init__(self, folder: Path, way: str) -> None:
        self.folder, self.way, self.package = folder, way, folder / "source" / "fastdyn"
        shutil.copytree(Path(fd.__file__).parent, self.package, ignore=shutil.ignore_patterns("__pycache__"))

    def path(self) -> Path:
        """What to import it from."""
        if self.way == "folder":
            return self.package.parent
        if self.way == "archive":
            return Path(shutil.make_archive(str(self.folder / "archive"), "zip", self.package.parent))
        shutil.rmtree(self.folder / "bytecode", ignore_errors=True)
        shutil.copytree(self.package.parent, self.folder / "bytecode")
        compileall.compile_dir(self.folder / "bytecode", quiet=1, legacy=True)
        for source in (self.folder / "bytecode").rglob("*.py"):
            source.unlink()
        return self.folder / "bytecode"

    def edit(self, module: str) -> None:
        with (self.package / module).open("a", encoding="utf-8") as file:
            file.write("\nREMARK = 0\n")

    def hash(self, meanwhile: str = "") -> str:
        """The hash of one entry, in a process of its own."""
        environment = {**os.environ, "PYTHONPATH": str(self.path())}
        command = [sys.executable, "-W", "error", "-c", HASH.format(meanwhile=meanwhile)]
        done = subprocess.run(command, env=environment, cwd=self.folder, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        file, found = done.stdout.split()
        assert file.startswith(environment["PYTHONPATH"])
        return found


@pytest.mark.parametrize("way", ["folder", "archive", "bytecode"])
def test_however_the_package_is_installed_a_hash_changes_with_the_sources_it_covers(way: str, tmp_path: Path) -> None:
    installed = Installed(tmp_path, way)
    first = installed.hash()
    assert installed.hash() == first or way == "bytecode"  # which contains the time when it was made
    installed.edit("kernels/gravity.py")
    second = installed.hash()
    assert second != first
    if way != "bytecode":
        installed.edit("robot.py")
        assert installed.hash() == second


@pytest.mark.parametrize("way", ["folder", "archive"])
def test_sources_that_change_after_the_import_are_noticed(way: str, tmp_path: Path) -> None:
    installed = Installed(tmp_path, way)
    file = installed.path() / "fastdyn" / "kernels" / "gravity.py" if way == "folder" else installed.path()
    with pytest.raises(AssertionError, match=r"SourceError: the source of module '[\w.]+' has changed since fastdyn"):
        installed.hash(f"open({str(file)!r}, 'a').write(' ')")


def test_code_of_changed_or_unreadable_sources_is_not_kept() -> None:
    orphan = function_of("fastdyn.nowhere", "def f(x):\n    return x\n")
    with pytest.warns(RuntimeWarning, match=r"module 'fastdyn\.nowhere' cannot be read .*compiled anew"):
        assert cache.code_cache(orphan) is None
    assert cache.code_cache(orphan) is None  # said once: warnings are errors here


# ---------------------------------------------------------------------------------------------- what a hash covers

MAKERS = {
    "batch": generate.batch,
    "bound": generate.bound,
    "single": generate.single,
    "c": lambda row, coupled: generate.c_function(row, coupled, False),
}


def covered(function, monkeypatch) -> set[str]:
    """The modules that a function's hash reads."""
    read = []
    monkeypatch.setattr(sources, "_source", lambda name, original=sources._source: read.append(name) or original(name))
    sources._imports.cache_clear()
    source_hash.__wrapped__(function)
    return set(read)


@each_row
@pytest.mark.parametrize("coupled", [False, True])
@pytest.mark.parametrize("way", MAKERS)
def test_a_hash_covers_the_modules_of_what_is_called(row, coupled, way, monkeypatch):
    function = MAKERS[way](row, coupled).py_func
    text = row.coupled if coupled and row.coupled else row.text
    found = covered(function, monkeypatch)
    assert {"fastdyn.calls.layout", text.__module__} <= found
    assert {"fastdyn.scalars.verbs", "fastdyn.compiler.policy", "fastdyn.kernels.rows"} <= found
    assert {f"fastdyn.scalars.{name}" for name in ("lanes", "samples", "trigonometry", "memory")} <= found
    assert function.generated  # of the template, its text counts (see below), not all that its module imports
    assert not {"fastdyn.calls.generate", "fastdyn.quantities", "fastdyn.robot", "fastdyn.calls.task"} & found
    assert ("fastdyn.kernels.coriolis" in found) == (row is CORIOLIS_MATRIX)


def test_generated_functions_have_the_hash_of_their_text():
    texts = ["def double(P, q, work):\n    return at(q, 1)\n", "def double(P, q, work):\n    return at(q, 2)\n"]
    names = {"at": generate._HELPERS["at"]}
    first, second = (generated(text, "double", names, "fastdyn.calls.generate") for text in texts)
    again = generated(texts[0], "double", names, "fastdyn.calls.generate")
    assert source_hash(first) == source_hash(again) != source_hash(second)

    # and of the functions that its names stand for
    of = lambda text: generated("def call(x):\n    return f(x)\n", "call", {"f": text}, "fastdyn.calls.generate")  # noqa: E731
    assert source_hash(of(gravity.gravity_forces)) != source_hash(of(gravity.potential_energy))
    # and of the generated functions that they call
    outer = "def outer(P, q, work):\n    return inner(P, q, work)\n"
    hashes = {
        source_hash(generated(outer, "outer", {"inner": kernel(inner)}, "fastdyn.calls.generate"))
        for inner in (first, second)
    }
    assert len(hashes) == 2


def test_all_entries_have_hashes_of_their_own():
    functions = [
        make(row, coupled).py_func for make in MAKERS.values() for row in QUANTITIES.values() for coupled in (0, 1)
    ]
    assert len({source_hash(function) for function in functions}) == len(functions)


def function_of(module: str, source: str, **names: object) -> Callable[..., object]:
    """The function f of a source text, as if it stood in a module of the package."""
    exec(source, names)
    function = names["f"]
    function.__module__ = module
    return function


def test_a_function_that_reaches_code_which_its_hash_does_not_cover_is_refused():
    source = "def f(P, q):\n    return helper(P, q)\n"
    assert source_hash(function_of("fastdyn.quantities", source, helper=gravity.potential_energy))  # imports gravity.py
    lost = function_of("fastdyn.errors", source, helper=gravity.potential_energy)  # imports nothing
    message = r"f of fastdyn\.errors reaches fastdyn\.kernels\.gravity, which none of the modules that its hash covers"
    with pytest.raises(StaleCodeError, match=message):
        source_hash(lost)
    with pytest.raises(StaleCodeError, match=message):
        cache.code_cache(lost)  # whether or not anything is kept
    with pytest.raises(StaleCodeError, match=message):
        source_hash(function_of("fastdyn.errors", source, helper=lost))  # by way of a function in between


def test_a_function_whose_source_cannot_be_read_is_refused():
    orphan = function_of("fastdyn.nowhere", "def f(x):\n    return x\n")
    with pytest.raises(StaleCodeError, match=r"the source of module 'fastdyn\.nowhere' cannot be read"):
        source_hash(orphan)


# ---------------------------------------------------------------------------------------------- generated source


@each_row
@pytest.mark.parametrize("coupled", [False, True])
@pytest.mark.parametrize("way", MAKERS)
def test_the_source_of_generated_functions_can_be_seen(row, coupled, way):
    function = MAKERS[way](row, coupled).py_func
    assert inspect.getsource(function) == function.generated
    assert function.generated.startswith(f"def {function.__name__}(")


def test_a_traceback_shows_the_generated_line():
    robot, entry = fd.robots.two_link(), generate.batch(GRAVITY_FORCES, False)
    too_short = np.zeros(3)
    with pytest.raises((IndexError, ValueError)) as caught:
        entry.py_func(*robot.parameters.constants, np.zeros((1, 2)), np.zeros((1, 2)), too_short)
    shown = "".join(traceback.format_exception(caught.value))
    assert 'File "<fastdyn.calls.generate: gravity_forces>"' in shown
    assert "text(P, tree, q_, tau_, work)" in shown
