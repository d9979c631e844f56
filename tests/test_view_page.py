"""The page of a motion, opened in a browser and used."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastdyn as fd
from fastdyn.mechanism.poses import outward
from tests import browser, samples
from tests.test_view import ARM

# lift is at its torque limit from 0.8 to 1.2 s, turn above its speed limit from 0.2 to 0.3 s, slide at a position limit
# from 1.6 s to the end
T = np.linspace(0.0, 2.0, 201)
Q = np.stack([1.5 * np.sin(2 * T), 0.8 * np.cos(3 * T), np.where(T > 1.595, 0.5, 0.25 + 0.1 * T)], axis=1)
QD = np.stack([np.where(abs(T - 0.25) < 0.055, -4.4, np.cos(T)), 0.5 * T, 0.1 + 0 * T], axis=1)
TAU = np.stack([30 * np.cos(T), np.where(abs(T - 1.0) < 0.205, -20.0, 5 * T), 60 * np.sin(T)], axis=1)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser.browser() as found:
        yield found


@pytest.fixture(scope="module")
def arm_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ARM.view(Q, T, TAU, QD, path=tmp_path_factory.mktemp("view") / "arm.html")


@pytest.fixture
def opened(chromium: Any, arm_page: Path) -> Iterator[Any]:
    """Opens a page at a width; complaints and requests are collected, and looked at in the end."""
    contexts, requests, addresses, complaints = [], set(), set(), []

    def go(file: Path = arm_page, width: int = 1280, **options: Any) -> Any:
        context = chromium.new_context(viewport={"width": width, "height": 900}, **options)
        contexts.append(context)
        tab = context.new_page()
        tab.on("request", lambda request: requests.add(request.url))
        tab.on("console", lambda message: complaints.append(message.text))
        tab.on("pageerror", lambda error: complaints.append(str(error)))
        addresses.add(file.resolve().as_uri())
        tab.goto(file.resolve().as_uri())
        return tab

    yield go
    for context in contexts:
        context.close()
    assert complaints == []
    assert requests == addresses


DRAWN = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
PICTURE = "() => document.querySelector('#arm').toDataURL()"


def at(tab: Any, time: float) -> None:
    tab.evaluate("time => view.go(time)", time)
    tab.evaluate(DRAWN)


def now(tab: Any) -> float:
    return float(tab.evaluate("view.now"))


def picture(tab: Any) -> str:
    tab.evaluate(DRAWN)
    return str(tab.evaluate(PICTURE))


def cursor(tab: Any, strip: str, time: float) -> tuple[float, float]:
    """The middle of a strip's cursor at a time, px of the window."""
    before = now(tab)
    tab.locator(f"[data-strip={strip}] canvas").scroll_into_view_if_needed()
    at(tab, time)
    box = tab.locator(f"[data-strip={strip}] .cursor").bounding_box()
    at(tab, before)
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def legend(tab: Any, place: int) -> list[tuple[float, str]]:
    """The numbers with their units beside a joint's name."""
    text = tab.locator("#legend button").nth(place).locator("small").inner_text().replace("\u2212", "-")
    parts = [part.strip(" ").split("\N{NO-BREAK SPACE}", 1) for part in text.split("\u2002")]
    return [(float(number), unit.replace("\N{NO-BREAK SPACE}", " ")) for number, unit in parts]


def turned_over(robot: Any) -> Any:
    return robot.with_mount(fd.pose((0.3, -1.0, 2.0), rpy=(np.pi, 0.3, -0.4)))


MOVING = {
    "stanford": fd.robots.stanford(), "dual_arm": fd.robots.dual_arm(), "panda": turned_over(fd.robots.panda()),
    "irb1400": fd.robots.irb1400(coupled=True), "geared": turned_over(samples.GEARED),
    "helical": fd.robots.random_tree(6, 4, 0.3, helical=0.5),
    "held": ARM.coupled([[1.0, 0.5], [0, 0], [0, 0.1]], offset=[0.1, 0.7, 0.2]),
}  # fmt: skip


@pytest.mark.parametrize("name", MOVING)
def test_the_script_moves_links_as_forward_kinematics(opened: Any, name: str, tmp_path: Path) -> None:
    robot = MOVING[name]
    q = np.random.default_rng(len(name)).uniform(-2, 2, (5, robot.n))
    tab = opened(robot.view(q, path=tmp_path / "a.html"))
    names = [robot.base.name, *(joint.child for joint in outward(robot))]
    found = np.array(tab.evaluate("all => all.map(q => view.poses(q).links)", q.tolist())).reshape(5, -1, 3, 4)
    expected = robot.mount @ robot.forward_kinematics(q, names)
    np.testing.assert_allclose(found, expected[..., :3, :], rtol=0, atol=1e-12)


def test_shown_values_are_those_of_the_data(opened: Any) -> None:
    tab = opened()
    for time in (0.0, 0.37, 1.115, 2.0):
        at(tab, time)
        for i in range(3):
            expected = [np.interp(time, T, column[:, i]) for column in (Q, QD, TAU)]
            shown = legend(tab, i)
            np.testing.assert_allclose([x for x, _ in shown], expected, rtol=0.0051, atol=1e-6)
            assert [unit for _, unit in shown] == (["rad", "rad/s", "N m"] if i < 2 else ["m", "m/s", "N"])
        shown_time, end = tab.locator("#time").inner_text().split(" / ")
        assert (float(shown_time), end) == (pytest.approx(time, abs=0.0051), "2.00 s")
        assert float(tab.locator("#scrubber").input_value()) == time
    tab.mouse.click(*cursor(tab, "tau", 1.0))
    time = now(tab)
    turn, slide = 30 * np.cos(time), 60 * np.sin(time)
    rows = tab.locator("[data-strip=tau] .values div").all_inner_texts()
    assert [" ".join(row.split()) for row in rows] == [
        f"t = {time:.3f} s", f"1 turn {turn:.1f} N m ({2 * turn:.1f} %)",
        "2 lift \u221220 N m (\u2212100.0 %)", f"3 slide {slide:.1f} N ({slide:.1f} %)",
    ]  # fmt: skip
    strips = tab.locator("figcaption").all_inner_texts()
    assert [text.split()[0] for text in strips] == ["Torque", "Speed", "Position", "Energy"]
    assert all("% of its limit; limits dashed" in text for text in strips[:2])


def test_the_joint_at_a_limit_is_marked_while_it_is_there(opened: Any) -> None:
    tab, plain = opened(color_scheme="light"), "rgb(89, 98, 108)"
    for time, place, what in (
        (0.1, None, ""), (0.25, 0, "speed"), (0.5, None, ""), (0.78, None, ""), (0.81, 1, "torque"), (1.0, 1, "torque"),
        (1.19, 1, "torque"), (1.22, None, ""), (1.5, None, ""), (1.7, 2, "position"), (2.0, 2, "position"),
    ):  # fmt: skip
        at(tab, time)
        said = ["" if i != place else f"at {what} limit" for i in range(3)]
        assert tab.locator("#legend em").all_inner_texts() == said, time
        warning = "" if place is None else f"⚠ {what} limit: {['turn', 'lift', 'slide'][place]}"
        assert tab.locator("#warning").inner_text() == warning, time
    alert = tab.evaluate("getComputedStyle(document.querySelector('#legend em')).color")
    assert alert not in (plain, *tab.evaluate(SERIES))
    left = tab.locator("[data-strip=tau] canvas").bounding_box()["x"]
    row = np.reshape(tab.evaluate(ROW), (-1, 4))
    for time, marked in ((0.7, False), (0.9, True), (1.1, True), (1.3, False)):  # there is a band
        red, green, *_ = row[round(cursor(tab, "tau", time)[0] - left) + 3]
        assert (red > green + 15) == marked, time


SERIES = """() => [...document.querySelectorAll("#legend b")].map(x => getComputedStyle(x).backgroundColor)"""
ROW = """() => { // red, green, blue and alpha of a row of pixels at the top of the torques' strip
    const canvas = document.querySelector("[data-strip=tau] canvas");
    return [...canvas.getContext("2d").getImageData(0, 8, canvas.width, 1).data];
}"""


@pytest.mark.parametrize(("speed", "factor"), [("0.25×", 0.25), ("1×", 1.0), ("4×", 4.0)])
def test_play_moves_the_time_at_its_speed_until_it_is_paused_or_at_the_end(
    opened: Any, speed: str, factor: float
) -> None:
    tab = opened()
    tab.clock.install()
    tab.clock.pause_at(tab.evaluate("Date.now()") / 1000 + 10)
    button = tab.locator("#play")
    tab.locator(".speeds button", has_text=speed).click()
    assert tab.locator(".speeds [aria-pressed=true]").all_inner_texts() == [speed]
    button.click()
    assert button.get_attribute("aria-label") == "Pause"
    tab.clock.run_for(400)
    button.click()
    assert button.get_attribute("aria-label") == "Play"
    reached = now(tab)
    assert reached == pytest.approx(0.4 * factor, abs=0.05 * factor)
    tab.clock.run_for(500)
    assert now(tab) == reached
    tab.evaluate("view.go(2 - 1e-3)")
    button.click()
    tab.clock.run_for(100)
    assert (now(tab), tab.evaluate("view.playing")) == (2.0, False)
    button.click()  # starts again
    tab.clock.run_for(200)
    assert 0.0 < now(tab) < 0.3 * factor


def test_scrubber_strips_and_keys_move_the_time(opened: Any) -> None:
    tab = opened()
    box, old = tab.locator("#scrubber").bounding_box(), picture(tab)
    x, y = box["x"], box["y"] + box["height"] / 2
    tab.mouse.move(x + 8, y)
    tab.mouse.down()
    tab.mouse.move(x + 0.75 * box["width"], y, steps=4)
    assert now(tab) == pytest.approx(1.5, abs=0.03)
    tab.mouse.up()
    assert picture(tab) != old
    for strip, time in (("tau", 0.6), ("energy", 1.4), ("q", 0.0), ("qd", 2.0)):
        tab.mouse.click(*cursor(tab, strip, time))
        assert now(tab) == pytest.approx(time, abs=0.005)
    start, end = cursor(tab, "qd", 0.4), cursor(tab, "qd", 0.9)
    tab.mouse.move(*start)
    assert now(tab) == pytest.approx(2.0, abs=0.005)  # pointing is not clicking
    tab.mouse.down()
    tab.mouse.move(*end, steps=3)
    tab.mouse.up()
    assert now(tab) == pytest.approx(0.9, abs=0.005)
    at(tab, 1.0)
    tab.evaluate("document.activeElement.blur()")
    for key, time in (("ArrowRight", 1.01), ("ArrowLeft", 1.0), ("Shift+ArrowRight", 1.1), ("Home", 0.0), ("End", 2.0)):
        tab.keyboard.press(key)
        assert now(tab) == pytest.approx(time, abs=1e-9), key
    tab.keyboard.press("Space")
    assert tab.evaluate("view.playing")
    tab.keyboard.press("ArrowLeft")
    assert not tab.evaluate("view.playing")


def test_drag_wheel_and_keys_turn_and_zoom_the_arm(opened: Any) -> None:
    tab = opened()
    box, reset = tab.locator("#arm").bounding_box(), tab.locator("#reset")
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    camera, first = tab.evaluate("({...view.camera})"), picture(tab)

    def changed() -> set[str]:
        found = tab.evaluate("({...view.camera})")
        what = {name for name in camera if abs(found[name] - camera[name]) > 1e-9}
        assert (picture(tab) != first) == bool(what)
        reset.click()
        assert tab.evaluate("({...view.camera})") == camera
        assert picture(tab) == first
        return what

    def drag(right: int, down: int) -> None:
        tab.mouse.move(x, y)
        tab.mouse.down()
        tab.mouse.move(x + right, y + down, steps=3)
        tab.mouse.up()
        tab.mouse.move(x, y)  # a drag ends with its button

    drag(120, 0)
    assert changed() == {"azimuth"}
    drag(0, 60)
    assert changed() == {"elevation"}
    tab.mouse.move(x, y)
    tab.mouse.wheel(0, -300)
    for _ in range(50):  # pictures, until the browser has passed it on
        tab.evaluate(DRAWN)
        if tab.evaluate("view.camera.zoom > 1.2"):
            break
    assert tab.evaluate("view.camera.zoom > 1.2")
    assert tab.evaluate("scrollY") == 0
    tab.locator("#arm").dblclick(position={"x": 30, "y": 60})
    assert changed() == set()
    tab.locator("#arm").focus()
    for key, what in (("ArrowRight", "azimuth"), ("ArrowUp", "elevation"), ("+", "zoom"), ("-", "zoom")):
        tab.locator("#arm").focus()
        tab.keyboard.press(key)
        assert changed() == {what}, key
    assert now(tab) == 0.0
    for _ in range(9):
        drag(0, 300)
    assert tab.evaluate("view.camera.elevation") <= 1.5  # never upside down


def test_a_click_in_the_legend_highlights_a_joint_and_another_one_ends_it(opened: Any) -> None:
    tab = opened()
    buttons, strip = (
        tab.locator("#legend button"),
        "() => document.querySelector('[data-strip=tau] canvas').toDataURL()",
    )
    arm, lines = picture(tab), tab.evaluate(strip)
    seen = []
    for place in (1, 2):
        buttons.nth(place).click()
        tab.mouse.move(5, 5)
        assert tab.evaluate("view.lit()") == place
        assert [each.get_attribute("aria-pressed") for each in buttons.all()] == [
            str(i == place).lower() for i in range(3)
        ]
        seen += [picture(tab), tab.evaluate(strip)]
    assert len({arm, lines, *seen}) == 6
    buttons.nth(0).hover()
    assert tab.evaluate("view.lit()") == 0  # pointing goes before what was clicked
    buttons.nth(2).click()
    tab.mouse.move(5, 5)
    assert tab.evaluate("view.lit()") is None
    assert (picture(tab), tab.evaluate(strip)) == (arm, lines)


COLOURS = """() => [
    getComputedStyle(document.body).backgroundColor, getComputedStyle(document.querySelector("#legend strong")).color,
    document.querySelector("#arm").toDataURL(), document.querySelector("[data-strip=q] canvas").toDataURL(),
]"""


def test_dark_by_system_by_button_and_light_on_paper(opened: Any) -> None:
    found = []
    for scheme in ("light", "dark"):
        tab = opened(color_scheme=scheme)
        picture(tab)
        found.append(tab.evaluate(COLOURS))
    light, dark = found
    assert all(one != other for one, other in zip(light, dark, strict=True))
    tab = opened(color_scheme="light")
    tab.locator("button.theme").click()
    picture(tab)
    assert tab.evaluate(COLOURS) == dark
    tab.emulate_media(media="print")
    picture(tab)
    assert tab.evaluate(COLOURS) == light
    assert not tab.locator(".player").is_visible()


def test_a_phone_has_no_scroll_bar_and_is_used_by_touch(opened: Any) -> None:
    tab = opened(width=390, has_touch=True, is_mobile=True, device_scale_factor=2)
    assert tab.evaluate("document.documentElement.scrollWidth") == 390
    for each in (*tab.locator("button, input, figure, canvas").all(), tab.locator("#legend")):
        box = each.bounding_box()
        assert box["x"] >= 0, each
        assert box["x"] + box["width"] <= 390, each
    first, hand = picture(tab), tab.context.new_cdp_session(tab)

    def touch(*steps: list[tuple[float, float]]) -> None:
        for kind, points in zip(
            ("touchStart", *["touchMove"] * (len(steps) - 1), "touchEnd"), (*steps, []), strict=True
        ):
            places = [{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(points)]
            hand.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": places})

    box = tab.locator("#arm").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    camera = tab.evaluate("({...view.camera})")
    touch([(x, y)], [(x + 30, y)], [(x + 60, y)])
    assert tab.evaluate("view.camera.azimuth") == pytest.approx(camera["azimuth"] - 0.48)
    assert picture(tab) != first
    touch([(x - 40, y), (x + 40, y)], [(x - 40, y), (x + 80, y)], [(x - 40, y), (x + 120, y)])
    assert tab.evaluate("view.camera.zoom") == pytest.approx(2.0, rel=0.05)
    assert tab.evaluate("view.camera.azimuth") == pytest.approx(camera["azimuth"] - 0.48)  # two fingers do not turn
    tab.locator("#reset").tap()
    assert tab.evaluate("({...view.camera})") == camera
    tab.locator("[data-strip=tau]").scroll_into_view_if_needed()
    tab.touchscreen.tap(*cursor(tab, "tau", 1.0))
    assert now(tab) == pytest.approx(1.0, abs=0.01)
    tab.evaluate(DRAWN)
    assert "torque limit: lift" in tab.locator("#warning").inner_text()
    shown = tab.locator("[data-strip=tau] .values").bounding_box()
    assert shown["x"] >= 0
    assert shown["x"] + shown["width"] <= 390
    where, places = "() => document.querySelector('#strips').getBoundingClientRect().top + scrollY", set()
    for time in np.linspace(0, 2, 9):
        at(tab, float(time))
        places.add(tab.evaluate(where))
    assert len(places) == 1  # nothing moves up and down while the motion plays
    tab.locator("#legend button").nth(1).tap()
    assert tab.evaluate("view.lit()") == 1


def test_a_posture_has_no_player_and_no_strips(opened: Any, tmp_path: Path) -> None:
    tab = opened(ARM.view([0.5, 0.2, 0.5], tau=[1.0, -20.0, 3.0], path=tmp_path / "a.html"))
    picture(tab)
    assert not tab.locator(".player").is_visible()
    assert tab.locator("#strips figure").count() == 0
    assert legend(tab, 1) == [(0.2, "rad"), (-20.0, "N m")]
    assert tab.locator("#warning").inner_text() == "⚠ torque limit: lift; ⚠ position limit: slide"
    tab.keyboard.press("Space")
    assert not tab.evaluate("view.playing")
    assert "1 sample" in tab.locator(".state").inner_text()


ONE = fd.Robot([fd.Link("rail"), fd.Link("cart", 1.0)], [fd.Joint("x", "rail", "cart", "prismatic", axis=(1, 0, 0))])
STONE = fd.Robot([fd.Link("stone")], [], name="stone")


@pytest.mark.parametrize(
    "robot", [ONE, STONE, fd.robots.two_link(), fd.robots.random_tree(20, 2, 0.4)], ids=lambda r: r.n
)
def test_robots_without_limits_and_of_any_size_have_pages(opened: Any, robot: fd.Robot, tmp_path: Path) -> None:
    t = 1.7e9 + np.linspace(0.0, 0.02, 30)  # a clock's time
    q = 1e-3 * np.sin(300 * (t - t[0]))[:, None] * np.ones(robot.n)
    tab = opened(robot.view(q, t, tau=1e4 * q, path=tmp_path / "a.html"))
    at(tab, t[12])
    assert tab.locator("#warning").inner_text() == ""
    assert tab.locator("#legend button").count() == robot.n
    assert tab.locator("#time").inner_text() == f"{t[12]:.4f} / {t[-1]:.4f} s"
    captions = tab.locator("figcaption").all_inner_texts()
    if robot is ONE:
        assert [unit for _, unit in legend(tab, 0)] == ["m", "m/s", "N"]
        assert captions[0] == f"Force\n% of the largest value, {1e4 * abs(q).max():.3g} N; no limits are known"
    if robot.n == 20:
        assert "Torque or force" in captions[0]
        tab.locator("#legend button").last.click()
    tab.mouse.move(*cursor(tab, "q", t[3]))
    assert len(tab.locator("[data-strip=q] .values div").all()) == robot.n + 1


def test_a_long_motion_opens_and_answers(opened: Any, tmp_path: Path) -> None:
    arm, t = fd.robots.panda(), np.arange(100_000) / 1000
    q = np.clip(np.sin(t[:, None] * np.linspace(0.3, 1.1, 7)), *arm.limits.position.T)
    q += 1e-3 * np.random.default_rng(0).normal(size=q.shape)
    tab = opened(arm.view(q, t, tau=10 * q, path=tmp_path / "long.html"))
    tab.locator("#legend button").nth(3).click()
    tab.mouse.click(*cursor(tab, "tau", 50.0))
    assert now(tab) == pytest.approx(50.0, abs=0.1)
    seconds = tab.evaluate("""async () => {
        const start = performance.now();
        for (const i of [0, 1, 2, 3, 4]) { view.go(10 * i); await new Promise(done => requestAnimationFrame(done)); }
        return (performance.now() - start) / 5000;
    }""")
    assert seconds < 0.3  # 0.03 measured


def test_without_scripts_the_page_says_so(opened: Any) -> None:
    tab = opened(java_script_enabled=False)
    assert "This page draws with JavaScript, which is off." in tab.locator("noscript").inner_text()
