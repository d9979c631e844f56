"""Animations: what is drawn when, files that appear whole or not at all, and what is refused."""

import sys

import numpy as np
import pytest

import fastdyn as fd
from fastdyn.mechanism.poses import link_poses
from fastdyn.show import Animation, animation

pytest.importorskip("matplotlib").use("Agg")
from matplotlib import pyplot, rcParams  # noqa: E402
from matplotlib.animation import FFMpegWriter  # noqa: E402

ARM = fd.robots.two_link()
PATH = np.linspace((0.0, 0.5), (1.0, -0.5), 3)


@pytest.fixture(autouse=True)
def _closed():
    """Animations leave no figure open."""
    pyplot.close("all")
    yield
    assert pyplot.get_fignums() == []


def test_times_are_kept_by_interpolating():
    motion = Animation(ARM, [[0.0, 0.0], [1.0, 2.0], [1.0, 0.0]], t=[5.0, 5.1, 5.3], fps=20)
    np.testing.assert_allclose(motion.t, 5.0 + 0.05 * np.arange(7), rtol=1e-15)
    expected = [(0, 0), (0.5, 1), (1, 2), (1, 1.5), (1, 1), (1, 0.5), (1, 0)]
    np.testing.assert_allclose(motion.q, expected, rtol=0, atol=1e-12)  # 5.3 - 5.1 has lost four bits
    assert len(motion) == 7
    np.testing.assert_array_equal(Animation(ARM, PATH).q, PATH)


def test_the_scene_follows_the_robot():
    robot = fd.robots.puma560().with_frame("tcp", on="link6", pose=(0, 0, 0.1))
    q = np.linspace(np.zeros(6), np.full(6, 0.5), 3)
    scene = animation._Scene(robot, [animation.posture(robot, row) for row in q], ["tcp", "link3"])
    poses = [link_poses(robot, row) for row in q]
    path = [(pose["link6"] @ robot.frames["tcp"].pose)[:3, 3] for pose in poses]
    np.testing.assert_allclose(scene.paths[0], path, rtol=0, atol=1e-15)
    scene.show(1, "t = 0.04 s")
    np.testing.assert_array_equal(np.transpose(scene.drawn[0].get_data_3d()), path[:2])
    points = np.transpose(scene.lines[0].get_data_3d())
    for pose in poses[1].values():
        assert np.nanmin(np.linalg.norm(points - pose[:3, 3], axis=1)) < 1e-12
    assert scene.ax.get_title() == "puma560, t = 0.04 s"
    labels = [text.get_text() for text in scene.ax.get_legend().get_texts()]
    assert labels == ["path of tcp", "path of link3"]
    for k, name in enumerate("xyz"):  # all postures are in the picture
        low, high = getattr(scene.ax, f"get_{name}lim")()
        places = [pose[k, 3] for each in poses for pose in each.values()]
        assert low <= min(places) <= max(places) <= high
    pyplot.close(scene.figure)


def test_a_gif_has_all_pictures_in_their_time(tmp_path):
    from PIL import Image

    told = []
    file = tmp_path / "new" / "motion.gif"
    Animation(ARM, PATH, fps=20).save(file, progress=lambda fraction, what: told.append((fraction, what)))
    with Image.open(file) as image:
        assert (image.n_frames, image.info["duration"]) == (3, 50)
        first = np.asarray(image.convert("L"), float)
        image.seek(2)
        assert np.abs(np.asarray(image.convert("L"), float) - first).max() > 100  # it has moved
    assert told == [(1 / 3, "picture 1 of 3"), (2 / 3, "picture 2 of 3"), (1.0, "picture 3 of 3")]
    assert [path.name for path in file.parent.iterdir()] == ["motion.gif"]


def test_the_method_writes_and_returns(tmp_path):
    motion = ARM.animate(PATH[:2], file=tmp_path / "motion.GIF", trace=[])
    assert (tmp_path / "motion.GIF").read_bytes().startswith(b"GIF89a")
    page = motion._repr_html_()
    assert page.count("data:image/png;base64") == len(motion) == 2


def test_an_interrupted_file_is_not_written(tmp_path):
    file = tmp_path / "motion.gif"
    file.write_text("old")

    def stop(fraction, what):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Animation(ARM, PATH).save(file, progress=stop)
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


def test_mp4_is_made_by_ffmpeg(tmp_path, monkeypatch):
    """A stand-in that writes what it reads to its last argument: all pictures, whole."""
    program = tmp_path / "ffmpeg"
    program.write_text('#!/bin/sh\nfor last; do :; done\ncat > "$last"\n')
    program.chmod(0o755)
    monkeypatch.setitem(rcParams, "animation.ffmpeg_path", str(program))
    Animation(ARM, PATH).save(tmp_path / "motion.mp4")
    width, height = 7 * animation.DPI, 6.5 * animation.DPI
    assert (tmp_path / "motion.mp4").stat().st_size == 3 * 4 * width * height  # RGBA


def test_a_missing_ffmpeg_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(FFMpegWriter, "isAvailable", classmethod(lambda cls: False))
    with pytest.raises(fd.MissingExtraError, match=r"motion.mp4 needs the program ffmpeg, which is missing: install"):
        Animation(ARM, PATH).save(tmp_path / "motion.mp4")
    assert list(tmp_path.iterdir()) == []


def test_a_terminal_shows_progress(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(animation, "quiet", lambda: False)
    Animation(ARM, PATH[:2]).save(tmp_path / "motion.gif")
    assert capsys.readouterr().err == "\rfastdyn: picture 1 of 2\rfastdyn: picture 2 of 2\n"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"q": [0.0, 0.0]}, r"q has shape \(2,\): expected \(K, n\) with two postures or more"),
        ({"q": [[0.0, 0.0]]}, r"q has shape \(1, 2\): expected \(K, n\) with two postures or more"),
        ({"q": np.zeros((3, 3))}, r"q has shape \(3,\), but two_link has 2 joints"),
        ({"q": [[0.0, 0.0], [np.inf, 0.0]]}, "q: expected finite numbers"),
        ({"t": [0.0, 1.0]}, r"t has shape \(2,\), but q has 3 postures: expected \(3,\)"),
        ({"t": [0.0, 1.0, 1.0]}, "t: expected finite times that increase"),
        ({"t": [0.0, np.nan, 1.0]}, "t: expected finite times that increase"),
        ({"fps": 0}, "fps is 0: expected a whole number from 1 to 100"),
        ({"fps": 2.5}, "fps is 2.5: expected a whole number from 1 to 100"),
        ({"trace": "hand"}, "trace has 'hand', which is no link or frame of two_link"),
        ({"file": "motion.avi"}, r"file is motion.avi: expected a name that ends in .gif or .mp4"),
        ({"file": "/dev/null/motion.gif"}, "file is /dev/null: expected a folder for files: Not a directory"),
    ],
)
def test_what_cannot_be_animated_is_refused(given, message):
    with pytest.raises(fd.ArgumentError, match=message):
        ARM.animate(**{"q": PATH, **given})


def test_a_missing_matplotlib_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(fd.MissingExtraError, match=r"animate needs matplotlib, .*: pip install fastdyn\[plots\]"):
        ARM.animate(PATH)
