"""A robot in the browser that Python moves: where its links are, its sliders, its port."""

from __future__ import annotations

import socket
import sys
import time
from collections.abc import Callable
from urllib.parse import urlsplit
from urllib.request import urlopen

import numpy as np
import pytest

import fastdyn as fd
from tests import browser, samples

HANGING = fd.robots.stanford().with_mount(fd.pose((0.3, -1.0, 2.0), rpy=(np.pi, 0.3, -0.4)))
LIMITS = HANGING.limits.position.tolist()


def test_a_missing_viser_is_told_with_the_extra_that_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(fd.MissingExtraError, match=r"view_live needs viser, .*: pip install fastdyn\[live\]"):
        fd.view_live(fd.robots.two_link())


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.parametrize("robot", [HANGING, samples.GEARED, fd.robots.panda()], ids=lambda robot: robot.name)
def test_update_moves_the_links_as_forward_kinematics(robot: fd.Robot | fd.CoupledRobot) -> None:
    pytest.importorskip("viser")
    names = [link.name for link in robot.all_links]
    with fd.view_live(robot, np.full(robot.n, 0.2), port=0) as live:
        for q in (live.q, *np.random.default_rng(0).uniform(-1, 1, (3, robot.n))):
            live.update(q)
            np.testing.assert_array_equal(live.q, q)
            for name, pose in zip(names, robot.mount @ robot.forward_kinematics(q, names), strict=True):
                node = live._links[name]
                np.testing.assert_allclose(node.position, pose[:3, 3], rtol=0, atol=1e-12)
                np.testing.assert_allclose(fd.rotations.from_quaternion(node.wxyz), pose[:3, :3], rtol=0, atol=1e-12)
        for wrong in (np.zeros(robot.n + 1), np.full(robot.n, np.nan)):
            with pytest.raises(fd.ArgumentError, match=r"^q"):
                live.update(wrong)
        np.testing.assert_array_equal(live.q, q)


def test_only_this_machine_may_connect_and_close_frees_the_port() -> None:
    pytest.importorskip("viser")
    with pytest.raises(fd.ArgumentError, match=r"^q has shape \(2,\)"):
        fd.view_live(HANGING, [0.0, 0.0])
    live = fd.view_live(HANGING, port=0)
    address = urlsplit(live.url)
    assert address.hostname == "127.0.0.1"
    assert b"<html" in urlopen(live.url).read()
    if sys.platform == "linux":  # 127.0.0.2 is this machine, too, but not the address served
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.2", address.port), timeout=5)
    live.close()
    socket.create_server(("127.0.0.1", address.port or 0)).close()


def test_sliders_move_the_robot_and_follow_it() -> None:
    pytest.importorskip("viser")
    with browser.browser() as chromium, fd.view_live(HANGING, port=0) as live:
        requests: list[str] = []
        tab = chromium.new_page(viewport={"width": 400, "height": 120})
        tab.on("request", lambda request: requests.append(request.url))
        tab.goto(live.url)
        turn, slide = (tab.get_by_role("slider").nth(k) for k in (0, 2))

        def values() -> list[float]:
            return [float(each.get_attribute("aria-valuenow") or "nan") for each in (turn, slide)]

        assert values() == [0.0, 0.305]  # joint3 rests at its lower limit
        assert [turn.get_attribute(f"aria-value{end}") for end in ("min", "max")] == [f"{x}" for x in LIMITS[0]]
        for _ in range(3):
            turn.press("ArrowRight")
        until(lambda: live.q[0] == pytest.approx(0.003 * np.ptp(LIMITS[0]), rel=0.02))
        np.testing.assert_array_equal(live.q[1:], [0, 0.305, 0, 0, 0])
        live.update([-0.5, 0, 5.0, 0, 0, 0])  # beyond a limit: shown there, but its slider stays at its end
        until(lambda: values() == pytest.approx([-0.5, 1.27], abs=0.01))
        turn.press("ArrowRight")
        until(lambda: -0.5 < live.q[0] < -0.49)
        assert live.q[2] == 5.0
        assert {urlsplit(each).hostname for each in requests if not each.startswith(("data:", "blob:"))} == {
            "127.0.0.1"
        }
        tab.close()
