"""fd.load finds the right reader by the file's suffix and content."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import numpy as np
import pytest

import fastdyn as fd
from fastdyn.formats import files

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


DECLARED = "<?xml version='1.0' encoding='{}'?>"
ENCODINGS = ["utf-8", "latin-1", "utf-16"]


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("comment", ["", f"<!-- {'<robot>' * 20_000} -->\n"], ids=["plain", "behind a long comment"])
def test_xml_is_read_in_its_declared_encoding(tmp_path: Path, encoding: str, comment: str) -> None:
    pytest.importorskip("mujoco")
    mjcf = PENDULUM.replace('model="pendulum"', 'model="Ärmchen"')
    urdf = fd.to_urdf(fd.robots.two_link()).replace('"two_link"', '"Ärmchen"')
    for text in (mjcf, urdf):
        (tmp_path / "arm.xml").write_bytes((DECLARED.format(encoding) + comment + text).encode(encoding))
        robot = fd.load(tmp_path / "arm.xml")
        assert robot.name == "Ärmchen"
        assert [joint.name for joint in robot.joints] == (["hinge"] if text is mjcf else ["joint1", "joint2"])


@pytest.mark.parametrize("declared", ["", DECLARED.format("utf-8"), DECLARED.format("klingon")])
def test_xml_in_another_encoding_than_declared_is_refused(tmp_path: Path, declared: str) -> None:
    pytest.importorskip("mujoco")
    for text in (PENDULUM, fd.to_urdf(fd.robots.two_link())):
        (tmp_path / "arm.xml").write_bytes((declared + text.replace("name=", "name='Ä' x=", 1)).encode("latin-1"))
        with pytest.raises(fd.DescriptionError, match=r"arm\.xml:1: expected"):
            fd.load(tmp_path / "arm.xml")


def test_no_entity_is_expanded_to_tell_formats_apart(tmp_path: Path) -> None:
    entities = "".join(f"<!ENTITY e{i} '{f'&e{i - 1};' * 100 if i else 'x'}'>" for i in range(20))
    (tmp_path / "arm.xml").write_text(f"<!DOCTYPE mujoco [{entities}]><mujoco model='&e19;'/>")
    with pytest.raises(fd.DescriptionError, match=r"arm\.xml:1: expected no document type or entities"):
        fd.load(tmp_path / "arm.xml")


def test_names_of_a_mujoco_model_are_utf_8(tmp_path: Path) -> None:
    mujoco = pytest.importorskip("mujoco")
    (tmp_path / "arm.xml").write_bytes(PENDULUM.replace("bob", "bób").encode("latin-1"))
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "arm.xml"))
    with pytest.raises(fd.RobotError, match="names: expected UTF-8 text"):
        fd.from_mujoco(model)


@pytest.mark.parametrize("suffix", ["urdf", "xml", "toml"])
def test_files_that_are_too_large_are_not_read_whole(tmp_path: Path, suffix: str, monkeypatch) -> None:
    monkeypatch.setattr(files, "SIZE", 1000)
    path = tmp_path / f"large.{suffix}"
    path.write_bytes(b" " * 5000)
    asked = []

    class Watched(io.FileIO):
        def read(self, size: int = -1) -> bytes:
            asked.append(size)
            return super().read(size)

    monkeypatch.setattr("builtins.open", lambda name, *rest, **more: Watched(name))
    with pytest.raises(fd.DescriptionError, match=rf"large\.{suffix}: expected at most .*, found more"):
        fd.load(path)
    assert set(asked) == {1001}


@pytest.mark.parametrize(("name", "load"), [("mujoco", "from_mujoco"), ("pinocchio", "from_pinocchio")])
def test_a_missing_package_is_told_with_the_extra_that_brings_it(monkeypatch, name: str, load: str) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(fd.MissingExtraError, match=rf"{load} needs {name}, .*: pip install fastdyn\[peers\]"):
        getattr(fd, load)(None)


def test_an_mjcf_file_needs_mujoco(monkeypatch, tmp_path: Path) -> None:
    (tmp_path / "arm.xml").write_text(PENDULUM)
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(fd.MissingExtraError, match=r"reading the MJCF file .*arm\.xml needs mujoco"):
        fd.load(tmp_path / "arm.xml")


def test_what_mujoco_refuses_is_a_description_error(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    (tmp_path / "bad.xml").write_text(PENDULUM.replace('type="hinge"', 'type="hing"'))
    with pytest.raises(fd.DescriptionError, match=r"bad\.xml: MuJoCo refuses it: .*hing"):
        fd.load(tmp_path / "bad.xml")


def test_an_unknown_suffix_is_refused(tmp_path: Path) -> None:
    (tmp_path / "robot.step").write_text("")
    with pytest.raises(fd.DescriptionError, match=r"robot\.step: expected a file of one of the kinds .*'\.step'"):
        fd.load(tmp_path / "robot.step")


def test_load_and_the_built_in_robots_point_to_each_other() -> None:
    with pytest.raises(fd.DescriptionError, match=r"a built-in robot of that name: fd\.robots\.get\('panda'\)"):
        fd.load("panda")
    with pytest.raises(
        fd.ArgumentError, match=r"no built-in robot 'panda\.urdf': fd\.load\('panda\.urdf'\) reads a file"
    ):
        fd.robots.get("panda.urdf")


def test_a_missing_file_is_told_as_such(tmp_path: Path) -> None:
    for suffix in ("urdf", "xml", "toml"):
        with pytest.raises((FileNotFoundError, fd.DescriptionError), match="nowhere"):
            fd.load(tmp_path / f"nowhere.{suffix}")
