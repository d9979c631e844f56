"""Compiled code is kept between processes in a private place, and losing it costs time, never correctness."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from numba.core import config

JOB = """
import fastdyn as fd
from fastdyn.calls import batch
from fastdyn.compiler.policy import cache_directory
print(fd.robots.two_link(1.0, 1.0, 1.0, g=10.0).gravity_forces([0.0, 0.0]).round(9).tolist())
print(cache_directory())
print(sum(batch.gravity_forces.dispatcher.stats.cache_hits.values()))
"""

pytestmark = pytest.mark.skipif(
    bool(config.DISABLE_JIT or config.BOUNDSCHECK), reason="nothing is kept without a compiler or with bounds checks"
)


def run(directory: Path) -> tuple[str, str, int, str]:
    """Result, cache directory, cache hits and complaints of a process that computes with the given cache directory."""
    environment = {**os.environ, "FASTDYN_CACHE_DIR": str(directory)}
    done = subprocess.run([sys.executable, "-c", JOB], env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    result, kept_in, hits = done.stdout.splitlines()
    assert result == "[20.0, 5.0]"
    return result, kept_in, int(hits), done.stderr


def test_a_second_process_compiles_nothing(tmp_path: Path) -> None:
    assert run(tmp_path / "cache")[2] == 0
    assert run(tmp_path / "cache")[2] == 1


def test_the_cache_is_private(tmp_path: Path) -> None:
    _, kept_in, _, _ = run(tmp_path / "cache")
    for directory in (tmp_path / "cache", Path(kept_in)):
        assert directory.stat().st_mode & 0o777 == 0o700


def test_a_directory_that_others_may_write_to_is_refused(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    assert run(shared)[1] == "None"
    assert list(shared.iterdir()) == []


def test_a_place_where_nothing_can_be_written_is_survived(tmp_path: Path) -> None:
    occupied = tmp_path / "a file"
    occupied.write_text("")
    assert run(occupied)[1] == "None"


@pytest.mark.parametrize(("suffix", "content"), [("nbi", b"garbage"), ("nbc", b""), ("nbc", b"\x80\x05")])
def test_a_corrupt_cache_is_survived_mentioned_and_mended(tmp_path: Path, suffix: str, content: bytes) -> None:
    run(tmp_path / "cache")
    spoiled = list((tmp_path / "cache").rglob(f"*.{suffix}"))
    assert spoiled
    for path in spoiled:
        path.write_bytes(content)
    _, _, hits, complaints = run(tmp_path / "cache")
    assert hits == 0
    assert "compiled anew" in complaints
    assert run(tmp_path / "cache")[2] == 1
