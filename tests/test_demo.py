"""The demo's trajectory and files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba.core import config

import fastdyn as fd
from fastdyn import demo


def test_the_trajectory_has_exact_derivatives_and_rests_at_both_ends() -> None:
    robot = fd.robots.puma560()
    t, q, qd, qdd = demo.trajectory(robot, points=20001)
    h = t[1] - t[0]
    # central differences are off by h^2 / 6 times the third derivative, which is below 1e3 here
    assert np.abs((q[2:] - q[:-2]) / (2 * h) - qd[1:-1]).max() < 1e3 * h**2
    assert np.abs((qd[2:] - qd[:-2]) / (2 * h) - qdd[1:-1]).max() < 1e4 * h**2
    assert np.abs(qd[[0, -1]]).max() < 1e-12
    lower, upper = (np.array([getattr(j.limits, end) for j in robot.joints]) for end in ("lower", "upper"))
    assert (q >= lower).all()
    assert (q <= upper).all()


def test_a_folder_that_cannot_be_made_is_told_before_any_work(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    command = [sys.executable, "-m", "fastdyn.demo", str(tmp_path / "file" / "demo")]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr.splitlines() == [
        f"fastdyn.demo: folder is {tmp_path / 'file' / 'demo'}: expected a folder for files: Not a directory"
    ]


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="a hundred thousand set points take too long in plain Python")
def test_the_demo_writes_torques_and_a_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    demo.main(str(tmp_path / "demo"))
    said = capsys.readouterr().out
    assert sorted(path.name for path in (tmp_path / "demo").iterdir()) == ["torques.npz", "torques.png"]
    assert "torques.npz" in said
    assert "torques.png" in said
    with np.load(tmp_path / "demo" / "torques.npz") as data:
        assert data["tau"].shape == (demo.SET_POINTS, 6)
        found = fd.robots.puma560().forward_dynamics(data["q"], data["qd"], data["tau"])
        assert np.abs(found - data["qdd"]).max() < 1e-11
