"""The page of a motion: its data, its file and the command that writes it. test_view_page.py opens it in a browser."""

from __future__ import annotations

import base64
import json
import pickle
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastdyn as fd
from fastdyn.view import files, page
from fastdyn.view.motion import LARGEST, MOST, extremes, motion
from tests import samples
from tests.test_page import Reader

SLIDING = fd.Limits(0.0, 0.5, velocity=0.6, effort=100.0)
ARM = fd.Robot(
    [fd.Link("base"), *(fd.Link(name, 1.0, (0, 0, 0.1), 0.01 * np.eye(3)) for name in ("column", "boom", "rod"))],
    [
        fd.Joint("turn", "base", "column", origin=(0, 0, 0.3), limits=fd.Limits(-2.0, 2.0, velocity=4.0, effort=50.0)),
        fd.Joint("lift", "column", "boom", axis=(0, 1, 0), limits=fd.Limits(-1.0, 1.0, velocity=3.0, effort=20.0)),
        fd.Joint("slide", "boom", "rod", "prismatic", origin=(0, 0, 0.4), limits=SLIDING),
    ],
    name="arm",
)


def data(file: Path) -> dict[str, Any]:
    """What the page's script reads, arrays unpacked."""
    (text,) = re.findall(r'<script type="application/json" id="motion">(.*?)</script>', file.read_text("utf-8"))
    found: dict[str, Any] = json.loads(text)
    n = len(found["scene"]["coordinates"])
    found["t"] = np.frombuffer(base64.b64decode(found["t"]), "<f8")
    for name in ("q", "qd", "tau"):
        if found[name] is not None:
            found[name] = np.frombuffer(base64.b64decode(found[name]), "<f4").reshape(-1, n)
    found["energies"] = {name: np.frombuffer(base64.b64decode(text), "<f4") for name, text in found["energies"]}
    return found


class Page(Reader):
    VOID = (*Reader.VOID, "input")


# ---------------------------------------------------------------------------------------------- the motion


def test_speeds_are_differences_and_energies_those_of_the_robot(tmp_path: Path) -> None:
    point = fd.Robot(
        [fd.Link("base"), fd.Link("bob", 2.0, (0.5, 0, 0))], [fd.Joint("j", "base", "bob", axis=(0, 1, 0))]
    )
    t = np.array([0.0, 0.1, 0.3, 0.4, 0.7])
    found = data(point.view((t**2)[:, None], t, path=tmp_path / "a.html"))
    np.testing.assert_allclose(found["qd"][1:-1, 0], 2 * t[1:-1], rtol=1e-6)  # exact for parabolas, but for the ends
    height, speed = -0.5 * np.sin(t**2), found["qd"][:, 0]
    np.testing.assert_allclose(found["energies"]["potential"], 2.0 * 9.80665 * height, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(found["energies"]["kinetic"], 0.5 * 2.0 * 0.25 * speed**2, rtol=1e-6)
    np.testing.assert_array_equal(found["t"], t)
    assert found["tau"] is None
    assert np.diff(motion(point, np.zeros((3, 1))).t).tolist() == [0.04, 0.04]


def test_a_simulation_brings_its_own_torques_speeds_and_energies(tmp_path: Path) -> None:
    run = fd.robots.two_link().simulate(np.zeros((2, 2)), np.zeros((2, 2)), 0.2, 0.01)
    found = data(run.view(tmp_path / "fall.html", sample=1))
    for name in ("q", "qd", "tau"):
        np.testing.assert_array_equal(found[name], getattr(run, name)[1].astype("f4"))
    np.testing.assert_array_equal(found["energies"]["total"], run.energy[1].astype("f4"))


@pytest.mark.parametrize(("count", "width", "most"), [(10_000, 3, 500), (9_999, 1, 64), (5_000, 20, 1000), (50, 4, 60)])
def test_thinning_keeps_the_ends_and_all_extremes(count: int, width: int, most: int) -> None:
    rng = np.random.default_rng(count)
    columns = np.cumsum(rng.normal(size=(count, width)), axis=0)
    columns[rng.integers(count, size=width), range(width)] += 1000.0  # a peak of one sample
    kept = extremes(columns, most)
    assert len(kept) <= most
    assert kept[0] == 0
    assert kept[-1] == count - 1
    assert (np.diff(kept) > 0).all()
    assert {*columns.argmax(0), *columns.argmin(0)} <= set(kept.tolist())
    assert len(kept) == count or count > most


def test_a_page_is_small_however_long_the_motion(tmp_path: Path) -> None:
    arm, rng = fd.robots.panda(), np.random.default_rng(0)
    empty = arm.view(np.zeros(7), path=tmp_path / "one.html")
    assert empty.stat().st_size < 100_000
    q, one = rng.uniform(-1, 1, (100_000, 7)), fd.robots.two_link()
    q[54_321, 3] = -2.5
    long = arm.view(q, tau=10 * q, path=tmp_path / "long.html")
    found = data(long)
    assert found["q"].min() == -2.5
    assert found["tau"].max() == np.float32(10 * q.max())
    assert len(found["t"]) * (7 + 7 + 7 + 3 + 2) <= MOST
    tall = one.view(rng.uniform(-1, 1, (300_000, 2)), energies={}, path=tmp_path / "tall.html")
    for each in (long, tall):
        assert 4 * MOST * 4 / 3 * 0.3 < each.stat().st_size < 4 * MOST * 4 / 3 + 100_000
    said = Page(long.read_text("utf-8")).text
    assert f"100,000 samples, {len(found['t']):,} of them kept" in said
    assert f"This page keeps {len(found['t']):,} of 100,000 samples" in said


REFUSED = {
    "q has shape (2, 3, 3): expected (K, 3), one motion": {"q": np.zeros((2, 3, 3))},
    "q has shape (0, 3): expected (K, 3), one motion": {"q": np.zeros((0, 3))},
    "q has shape (5, 2), but arm has 3 joints: expected (..., 3)": {"q": np.zeros((5, 2))},
    "q[1, 2] is nan: expected finite numbers": {"q": [[0, 0, 0], [0, 0, np.nan]]},
    "q has dtype <U1: expected real numbers": {"q": ["a"]},
    "tau has shape (4, 3), but q has 5 postures: expected (5, 3)": {"tau": np.zeros((4, 3))},
    "qd has shape (1, 3), but q has 5 postures: expected (5, 3)": {"qd": np.zeros(3)},
    "tau has the value 1e+31: expected at most 1e+30, as pages hold float32": {"tau": np.full((5, 3), -1e31)},
    "t has shape (4,), but q has 5 postures: expected (5,)": {"t": np.arange(4)},
    "t[3] is 1.0 after 2.0: expected times that increase": {"t": [0, 1, 2, 1, 5]},
    "t[4] is 3.0 after 3.0: expected times that increase": {"t": [0, 1, 2, 3, 3]},
    "t[2] is inf: expected finite numbers": {"t": [0, 1, np.inf, 3, 4]},
    "qd, the differences of q, has the value": {"q": np.eye(5, 3), "t": 1e-300 * np.arange(5)},
    "energies['kinetic'] has the value": {"qd": np.full((5, 3), 1e29)},
    "energies['heat'] has shape (2,), but q has 5 postures: expected (5,)": {"energies": {"heat": [1, 2]}},
    "energies is of type list: expected names with arrays, a dict": {"energies": [1, 2]},
}


@pytest.mark.parametrize("says", REFUSED)
def test_what_is_no_motion_is_refused_by_name_and_nothing_is_written(says: str, tmp_path: Path) -> None:
    given = {"q": np.zeros((5, 3)), **REFUSED[says]}
    with pytest.raises((fd.ArgumentError, fd.ArgumentTypeError, fd.NotFiniteError), match=f"^{re.escape(says)}"):
        ARM.view(**given, path=tmp_path / "motion.html")
    assert list(tmp_path.iterdir()) == []


def test_a_path_that_cannot_be_a_file_is_refused_before_the_motion_is_read(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    for path, says in ((tmp_path, "a file's name, found a folder"), (file / "a.html", "a folder for files: Not a dir")):
        with pytest.raises(fd.ArgumentError, match=f"^path is .*: expected {says}"):
            ARM.view("no motion", path=path)
    assert [file] == list(tmp_path.iterdir())
    assert file.read_text() == "mine"


# ---------------------------------------------------------------------------------------------- trajectories from files

PLAIN = "0.0,1,2,3\n0.5,4,5,6\n"


def read(folder: Path, name: str, content: str | bytes | dict[str, Any]) -> dict[str, Any]:
    file = folder / name
    if isinstance(content, dict):
        np.savez_compressed(file, **content)
    else:
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return files.read(file, ARM)


def test_csv_with_and_without_a_header_and_npz_give_the_same(tmp_path: Path) -> None:
    q, t = [[1, 2, 3], [4, 5, 6]], [0.0, 0.5]
    for name, content in {
        "plain.csv": PLAIN, "spaces.CSV": "\ufeff\n 0.0, 1, 2, 3 \r\n\r\n0.5,4,5,6\r\n",
        "head.csv": "t,q1,q2,q3\n" + PLAIN,
        "mixed.csv": "q3,t,q1,q2\n3,0,1,2\n6,0.5,4,5\n", "arrays.npz": {"q": q, "t": t, "other": [1]},
    }.items():  # fmt: skip
        found = read(tmp_path, name, content)
        assert {key: array.tolist() for key, array in found.items()} == {"q": q, "t": t}, name
    found = read(tmp_path, "tau.csv", "t,q1,q2,q3,tau3,tau1,tau2,qd1,qd2,qd3\n0,1,2,3,9,7,8,4,5,6\n")
    assert {name: array.tolist() for name, array in found.items()} == {
        "t": [0], "q": [[1, 2, 3]], "qd": [[4, 5, 6]], "tau": [[7, 8, 9]]
    }  # fmt: skip
    assert set(read(tmp_path, "q.npz", {"q": q, "tau": q})) == {"q", "tau"}  # t is not needed there


HEAD = "t,q1,q2,q3,tau1,tau2,tau3"
BAD_FILES: dict[str, tuple[str, str | bytes | dict[str, Any]]] = {
    ": expected a line for each sample, found none": ("a.csv", "\n \n"),
    ": expected a line for each sample below the header": ("a.csv", "t,q1,q2,q3\n"),
    ", line 2: expected 4 columns, t, q1, q2, q3, found 3": ("a.csv", "0,1,2,3\n0.5,4,5\n"),
    ", line 2, column q2: expected a finite number, found 'nan'": ("a.csv", "0,1,2,3\n1,4,nan,6\n"),
    ", line 3, column q1: expected a finite number, found ''": ("a.csv", "t,q1,q2,q3\n0,1,2,3\n1,,5,6\n"),
    ", line 4, column t: expected a time after 1.0, found 1.0": ("a.csv", "t,q1,q2,q3\n0,1,2,3\n1,4,5,6\n1,4,5,6\n"),
    ", line 1, column 5: expected one of t, q1 to q3, qd1 to qd3": ("a.csv", "t,q1,q2,q3,q4\n0,1,2,3,4\n"),
    ", line 1, column 5: expected once, found 'q3'": ("a.csv", "t,q1,q2,q3,q3\n0,1,2,3,4\n"),
    ", line 1: expected a column t, found q1, q2, q3": ("a.csv", "q1,q2,q3\n1,2,3\n"),
    ", line 1: expected a column tau2, found": ("a.csv", "t,q1,q2,q3,tau1,tau3\n0,1,2,3,4,5\n"),
    ", line 1, column 1: expected one of t, q1 to q3": ("a.csv", "0;1;2;3\n"),
    ": expected text with commas": ("a.csv", b"\xff\xfe\x00"),
    ": expected an array q, found t, tau": ("a.npz", {"t": [0, 1], "tau": np.zeros((2, 3))}),
    ": q has shape (2, 2), but arm has 3 joints": ("a.npz", {"q": np.zeros((2, 2))}),
    ": q[0, 1] is nan: expected finite numbers": ("a.npz", {"q": [[0, np.nan, 0]]}),
    ": t[1] is 0.0 after 1.0: expected times that increase": ("a.npz", {"q": np.zeros((2, 3)), "t": [1, 0]}),
    ": expected a .npz file of plain arrays: Object arrays": ("a.npz", {"q": np.array([{}])}),
    ": expected a .npz file of plain arrays: This file contains pickled": ("a.npz", pickle.dumps([1, 2])),
    ": expected a .npz file of plain arrays: No data left in file": ("a.npz", b""),
    ": expected a .npz file of plain arrays: ": ("a.npz", b"PK\x03\x04 and no more"),
    ": expected a name that ends in .csv or .npz": ("a.txt", PLAIN),
}


@pytest.mark.parametrize("says", BAD_FILES)
def test_what_is_no_trajectory_is_refused_with_file_line_and_column(says: str, tmp_path: Path) -> None:
    name, content = BAD_FILES[says]
    with pytest.raises(fd.FileError, match=f"^{re.escape(str(tmp_path / name) + says)}"):
        read(tmp_path, name, content)


def test_an_array_without_a_name_and_a_damaged_file_are_refused(tmp_path: Path) -> None:
    with (tmp_path / "a.npz").open("wb") as file:
        np.save(file, np.zeros((3, 3)))
    with pytest.raises(fd.FileError, match=r"expected a \.npz file of named arrays, found one array without a name"):
        files.read(tmp_path / "a.npz", ARM)
    good = tmp_path / "b.npz"
    np.savez_compressed(good, q=np.random.default_rng(0).normal(size=(500, 3)))
    whole = good.read_bytes()
    for spoilt in (whole[:3000], whole[:400] + 500 * b"x" + whole[900:]):
        with pytest.raises(fd.FileError, match=r"expected a \.npz file of plain arrays: "):
            read(tmp_path, "c.npz", spoilt)


def test_coupled_robots_have_columns_for_their_coordinates(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("t,q1,q2,q3,q4,q5\n0,1,2,3,4,5\n")
    assert files.read(file, samples.GEARED)["q"].tolist() == [[1, 2, 3, 4, 5]]
    with pytest.raises(fd.FileError, match=r"line 1: expected a column q6, found"):
        files.read(file, samples.ARM)


# ---------------------------------------------------------------------------------------------- the command


def run(*arguments: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "fastdyn", "view", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_command_writes_a_page(tmp_path: Path) -> None:
    trajectory, robot, out = tmp_path / "swing.csv", tmp_path / "arm.urdf", tmp_path / "new" / "swing.html"
    trajectory.write_text("t,q1,q2,q3,tau1,tau2,tau3\n0,0,0,0.1,1,2,3\n0.5,0.5,0,0.2,4,5,6\n")
    robot.write_text(ARM.to_urdf())
    found = run(robot, trajectory, "--out", out)
    assert (found.returncode, found.stdout, found.stderr) == (0, f"wrote {out}\n", "")
    assert data(out)["tau"].tolist() == [[1, 2, 3], [4, 5, 6]]
    assert "arm: swing.csv" in Page(out.read_text("utf-8")).text


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Runs the command in this process; returns the one line on stderr with which it ends."""
    from fastdyn import cli

    def one_line(*arguments: Any) -> str:
        monkeypatch.setattr(sys, "argv", ["fastdyn", "view", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        said = capsys.readouterr()
        assert (ended.value.code, said.out) == (2, "")
        assert said.err.startswith("fastdyn: ")
        (line,) = said.err.splitlines()
        return line

    return one_line


def test_the_command_ends_with_one_line_and_writes_nothing(refused: Callable[..., str], tmp_path: Path) -> None:
    good, bad = tmp_path / "good.csv", tmp_path / "bad.csv"
    good.write_text("0,1,2\n")
    bad.write_text("0,1,2\n1,2,3,4\n")
    before, out = set(tmp_path.iterdir()), tmp_path / "motion.html"
    assert f"{bad}, line 2: expected 3 columns" in refused("two_link", bad, "--out", out)
    assert "expected 7 columns, t, q1, q2, q3, q4, q5, q6, found 3" in refused("puma560", good, "--out", out)
    assert "No such file" in refused("two_link", tmp_path / "none.csv", "--out", out)
    assert "Is a directory" in refused("two_link", make_folder(tmp_path / "folder.csv"), "--out", out)
    assert "did you mean 'two_link'?" in refused("two_lin", good, "--out", out)
    assert "TRAJECTORY" in refused("two_link")
    assert "--out is" in refused("two_link", good, "--out", tmp_path)
    assert "--out is" in refused("two_link", good, "--out", good / "motion.html")
    assert set(tmp_path.iterdir()) - {tmp_path / "folder.csv"} == before


def make_folder(path: Path) -> Path:
    path.mkdir()
    return path


# ---------------------------------------------------------------------------------------------- the file

NASTY = "</script><b>&amp; <!-- 'x\" \u2028"


def test_the_file_is_balanced_loads_nothing_and_escapes_names(tmp_path: Path) -> None:
    links = [fd.Link("base"), fd.Link(NASTY, 1.0)]
    robot = fd.Robot(links, [fd.Joint(NASTY, "base", NASTY)], name=NASTY)
    for each in (robot, robot.coupled([[2.0]], names=[NASTY])):
        file = each.view([[0.0], [1.0]], path=tmp_path / "a.html", energies={NASTY: [0.0, 1.0]})
        text = file.read_text("utf-8")
        found = Page(text)  # balanced
        assert f"{NASTY} in motion" in found.text
        assert data(file)["scene"]["coordinates"][0]["name"] == NASTY
        assert set(data(file)["energies"]) == {NASTY}
        assert "<b>&amp" not in text
        assert found.values("src") == found.values("href") == []
        assert not re.search(r"https?:|@import|url\(|import\(|fetch\(|XMLHttp", text)
        assert {tag for tag, _, _ in found.attributes} & {"link", "img", "iframe", "object"} == set()
        assert page.POLICY in found.values("content")
        ids = found.values("id")
        assert len(ids) == len(set(ids))


def test_json_has_no_infinities(tmp_path: Path) -> None:
    scene = data(fd.robots.two_link().view(np.zeros((2, 2)), path=tmp_path / "a.html"))["scene"]
    assert scene["coordinates"][0]["position"] == [None, None]
    assert scene["coordinates"][0]["tau"] is None
    assert LARGEST < np.finfo("f4").max
