"""fd.load finds the right reader by the file's suffix and content."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import fastdyn as fd

PENDULUM = """<mujoco model="pendulum"><option gravity="0 0 -10"/><worldbody><body name="bob">
<joint name="hinge" type="hinge" axis="0 1 0"/><inertial pos="0 0 -0.5" mass="2" diaginertia="0.1 0.1 0.1"/>
</body></worldbody></mujoco>"""


@pytest.mark.parametrize(("suffix", "write"), [("toml", fd.to_toml), ("urdf", fd.to_urdf), ("xml", fd.to_urdf)])
def test_what_goes_out_comes_in_again(tmp_path: Path, suffix: str, write) -> None:
    robot = fd.robots.random_tree(7, 3, prismatic=0.3, drives=True)
    (tmp_path / f"robot.{suffix}").write_text(write(robot))
    again = fd.load(tmp_path / f"robot.{suffix}")
    q, qd, qdd = np.random.default_rng(0).uniform(-1, 1, (3, 7))
    tau = robot.inverse_dynamics(q, qd, qdd)
    # URDF keeps rotations as angles: a few roundings at each of n frames
    assert np.abs(again.inverse_dynamics(q, qd, qdd) - tau).max() <= 100 * 7 * np.finfo(float).eps * np.abs(tau).max()


def test_mjcf_is_told_by_its_first_element(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    (tmp_path / "pendulum.xml").write_text(f"<?xml version='1.0'?>\n<!-- a comment -->\n{PENDULUM}")
    robot = fd.load(tmp_path / "pendulum.xml")
    assert robot.inverse_dynamics([np.pi / 2], [0.0], [0.0]) == pytest.approx([10.0], rel=1e-12)


def test_what_mujoco_refuses_is_a_description_error(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    (tmp_path / "bad.xml").write_text(PENDULUM.replace('type="hinge"', 'type="hing"'))
    with pytest.raises(fd.DescriptionError, match=r"bad\.xml: MuJoCo refuses it: .*hing"):
        fd.load(tmp_path / "bad.xml")


def test_an_unknown_suffix_is_refused(tmp_path: Path) -> None:
    (tmp_path / "robot.step").write_text("")
    with pytest.raises(fd.DescriptionError, match=r"robot\.step: expected a file of one of the kinds .*'\.step'"):
        fd.load(tmp_path / "robot.step")


def test_a_missing_file_is_told_as_such(tmp_path: Path) -> None:
    for suffix in ("urdf", "xml", "toml"):
        with pytest.raises((FileNotFoundError, fd.DescriptionError), match="nowhere"):
            fd.load(tmp_path / f"nowhere.{suffix}")
