"""Tables and drawings: what they must say, how wide they may be, and what they do with odd robots."""

import sys
from html.parser import HTMLParser

import numpy as np
import pytest

import fastdyn as fd
from fastdyn import show
from fastdyn.mechanism.poses import coordinates, link_poses, motion, reach
from fastdyn.rotations import turn
from fastdyn.show.drawing import FRAME_LINES, PALE, SOLID

# ---------------------------------------------------------------------------------------------- tables


@pytest.mark.parametrize("name", fd.robots.names())
def test_the_table_of_every_robot_fits_and_names_every_part(name):
    robot = fd.robots.get(name)
    text = str(robot)
    assert text == show.table(robot)
    assert max(map(len, text.splitlines())) <= 120
    for part in (*robot.all_links, *robot.all_joints):
        assert part.name in text


def test_the_table_of_the_puma_says_what_is_known_of_it():
    text = str(fd.robots.puma560())
    lines = {line.split()[0]: line for line in text.splitlines() if line}
    assert text.startswith("puma560: 6 joints (RRRRRR), 7 links, 23.45 kg moving\n")
    assert "gravity (0, 0, -9.80665) m/s^2; mounted at the world's origin" in text
    assert lines["link2"].split() == "link2 17.4 -0.3638 0.006 0.2275 0.13 0.524 0.539 0 0 0".split()
    assert lines["1"].split() == "1 joint2 revolute link1 link2 0 0 1 -0.7854 3.927 - -".split()
    assert lines["joint2"].split() == "joint2 0.0002 107.81 2.3248 9.4969 13.585 7.6549".split()
    assert text.count("warning:") == 2
    assert "warning: 'link1' has moments of inertia [0.0, 0.0, 0.35] but no mass" in text


def test_units_are_those_of_the_joints_there_are():
    assert "rad | m" in str(fd.robots.stanford())
    assert "N m s/rad | N s/m" in str(fd.robots.dual_arm())
    turning = str(fd.robots.puma560())
    assert "|" not in turning
    assert "rad/s" in turning


def test_fixed_joints_have_no_place_in_q():
    line = next(line for line in str(fd.robots.panda()).splitlines() if "panda_hand_joint" in line)
    assert line.split() == "panda_hand_joint fixed panda_link8 panda_hand - - - -".split()


def test_a_mount_and_another_gravity_are_told():
    mount = np.eye(4)
    mount[:3, :3] = turn((1, 0, 0), np.pi)
    mount[:3, 3] = 0, 0, 2.5
    text = str(fd.robots.two_link(g=5.0).with_mount(mount))
    assert "gravity (0, -5, 0) m/s^2; mounted at (0, 0, 2.5) m, roll pitch yaw (180, 0, 0) deg" in text


def test_long_names_are_shortened_and_stay_apart():
    long = "a_very_long_name_that_no_table_can_hold_in_one_of_its_columns_"
    links = [fd.Link(f"{long}{i}", 1.0, (0.123456, -0.123456, 1e-7), 1e-5 * np.eye(3)) for i in range(12)]
    joints = [fd.Joint(f"joint_{long}{i}", f"{long}{i}", f"{long}{i + 1}") for i in range(11)]
    text = str(fd.Robot(links, joints, name=3 * long))
    assert max(map(len, text.splitlines())) <= 120
    assert ".." in text
    assert "_11 " in text


@pytest.mark.parametrize("joints", [[], [fd.Joint("weld", "b", "c", "fixed")]])
def test_robots_that_do_not_move_have_tables(joints):
    links = [fd.Link("b"), fd.Link("c", 2.0)][: 1 + len(joints)]
    text = str(fd.Robot(links, joints, name="block"))
    assert text.startswith(f"block: 0 joints, {len(links)} link")
    assert "-0" not in text


def test_added_frames_are_listed():
    robot = fd.robots.two_link()
    assert "frame" not in str(robot)
    robot = robot.with_frame("tcp", pose=fd.pose((0.1, 0, -0.2), rpy=(0, 0, np.pi / 2))).with_frame("<eye>", on="base")
    lines = {line.split()[0]: line.split() for line in str(robot).splitlines() if line}
    assert lines["frame"] == "frame on x y z roll pitch yaw".split()
    assert lines["tcp"] == "tcp link2 0.1 0 -0.2 0 0 90".split()
    assert lines["<eye>"] == "<eye> base 0 0 0 0 0 0".split()
    assert {"tcp", "<eye>", "-0.2", "90"} <= set(Cells(robot._repr_html_()).cells)


def test_repr_stays_one_line():
    assert "\n" not in repr(fd.robots.panda())


class Cells(HTMLParser):
    """The texts of a page's cells; raises where tags are not balanced."""

    def __init__(self, page):
        super().__init__()
        self.open, self.cells, self.attributes = [], [], []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.attributes += attrs
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1] in ("td", "th"):
            self.cells[-1] += data


@pytest.mark.parametrize("name", fd.robots.names())
def test_notebooks_show_every_joint_and_link(name):
    robot = fd.robots.get(name)
    page = Cells(robot._repr_html_())
    assert {part.name for part in (*robot.all_links, *robot.all_joints)} <= set(page.cells)
    assert {value for _, value in page.attributes} <= {"text-align:left", "text-align:right"}  # no colours


def test_notebooks_escape_names_and_show_coupled_and_motionless_robots():
    links = [fd.Link("<b>base</b>"), fd.Link("a & b", 1.0, (0, 0, 0.1))]
    robot = fd.Robot(links, [fd.Joint('"<script>"', "<b>base</b>", "a & b")], name="<i>")
    for each in (robot, robot.coupled([[2.0]])):
        page = each._repr_html_()
        assert "<script>" not in page
        assert "<b>" not in page
        assert "<i>" not in page
        assert {'"<script>"', "a & b"} <= set(Cells(page).cells)
    assert "<p>&quot;&lt;script&gt;&quot; = 2 phi1</p>" in page
    assert "block" in Cells(fd.Robot([fd.Link("block")], [])._repr_html_()).cells


# ---------------------------------------------------------------------------------------------- poses


def test_poses_start_at_the_base_whatever_the_mount():
    robot = fd.robots.panda()
    mount = np.eye(4)
    mount[:3, 3] = 1, 2, 3
    q = np.full(7, 0.3)
    here, there = link_poses(robot, q), link_poses(robot.with_mount(mount), q)
    assert next(iter(here)) == "panda_link0"
    np.testing.assert_array_equal(here["panda_link0"], np.eye(4))
    np.testing.assert_array_equal(here["panda_hand"], there["panda_hand"])


@pytest.mark.parametrize("seed", range(3))
def test_joints_move_their_links_along_and_about_their_axes(seed):
    robot = fd.robots.random_tree(6, seed, prismatic=0.5)
    q = np.random.default_rng(seed).uniform(-1, 1, 6)
    before = link_poses(robot, q)
    for i, joint in enumerate(robot.joints):
        step = 1e-6
        after = link_poses(robot, q + step * np.eye(6)[i])
        hinge = before[joint.parent] @ np.asarray(joint.origin)
        axis = hinge[:3, :3] @ np.asarray(joint.axis)
        moved = before[joint.child][:3, 3]
        speed = axis if joint.kind == "prismatic" else np.cross(axis, moved - hinge[:3, 3])
        # step / 2 of the acceleration, at most the distance from the axis
        np.testing.assert_allclose((after[joint.child][:3, 3] - moved) / step, speed, rtol=0, atol=1e-5)


def test_fixed_joints_do_not_move():
    np.testing.assert_array_equal(motion(fd.Joint("j", "a", "b", "fixed"), 3.0), np.eye(4))


@pytest.mark.parametrize("q", [[1.0], [[1.0, 2.0]], [1.0, np.inf], "ab"])
def test_a_q_of_the_wrong_kind_is_an_error(q):
    with pytest.raises(fd.ArgumentError, match=r"^q"):
        coordinates(fd.robots.two_link(), q)


# ---------------------------------------------------------------------------------------------- drawings


@pytest.fixture
def pyplot():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


def texts(ax):
    return [text.get_text().strip() for text in ax.texts]


@pytest.mark.parametrize("name", fd.robots.names())
def test_every_robot_can_be_drawn(pyplot, name):
    robot = fd.robots.get(name)
    ax = robot.plot()
    ax.figure.canvas.draw()
    assert ax.get_title().startswith(name)
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_zlabel()) == ("x (m)", "y (m)", "z (m)")
    shown = ", ".join(texts(ax)).split(", ")
    assert {str(i) for i in range(robot.n)} <= set(shown)
    labels = [text.get_text().strip() for text in ax.get_legend().get_texts()]
    assert labels[: robot.n] == [joint.name for joint in robot.joints]


@pytest.mark.parametrize("name", fd.robots.names())
def test_the_legend_covers_no_label(pyplot, name):
    ax = fd.robots.get(name).plot()
    ax.figure.canvas.draw()
    legend = ax.get_legend().get_window_extent()
    for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
        assert not legend.overlaps(axis.label.get_window_extent())
        assert not any(legend.overlaps(label.get_window_extent()) for label in axis.get_ticklabels())
    assert legend.x1 <= ax.figure.bbox.x1


def test_the_legend_may_be_left_out(pyplot):
    assert fd.robots.two_link().plot(legend=False).get_legend() is None


@pytest.mark.parametrize("name", fd.robots.names())
def test_axes_are_the_same_for_every_position(pyplot, name):
    robot = fd.robots.get(name)
    low, high = np.clip(robot.limits.position, -1.0, 1.0).T
    figure, seen = pyplot.figure(), set()
    for q in np.random.default_rng(1).uniform(low, high, (10, robot.n)):
        figure.clear()
        ax = robot.plot(q, ax=figure.add_subplot(projection="3d"))
        seen.add((ax.get_xlim(), ax.get_ylim(), ax.get_zlim(), tuple(ax._box_aspect)))
    assert len(seen) == 1


def test_a_joint_beyond_its_limits_is_still_in_the_picture(pyplot):
    ax = fd.robots.stanford().plot([0, np.pi / 2, 9.0, 0, 0, 0])
    assert np.ptp(ax.get_xlim()) > 9


@pytest.mark.parametrize("seed", range(5))
def test_most_positions_are_within_reach(seed):
    robot = fd.robots.random_tree(7, seed, prismatic=0.3)
    q = np.random.default_rng(seed + 10).uniform(-1, 1, (50, 7))
    low, high = reach(robot, np.zeros(7), 1.0)
    found = np.array([[(robot.mount @ T)[:3, 3] for T in link_poses(robot, each).values()] for each in q])
    assert ((found >= low - 1e-9) & (found <= high + 1e-9)).mean() > 0.98


def test_scales_are_equal(pyplot):
    ax = fd.robots.dual_arm().plot(np.full(9, 0.2))
    ranges = np.ptp([ax.get_xlim(), ax.get_ylim(), ax.get_zlim()], axis=1)
    np.testing.assert_allclose(ax._box_aspect / ranges, (ax._box_aspect / ranges)[0], rtol=1e-12)


def test_centres_of_mass_stand_in_the_world_and_grow_with_mass(pyplot):
    mount = np.eye(4)
    mount[:3, 3] = 10, 20, 30
    ax = fd.robots.two_link(m1=1.0, m2=4.0, length=1.0).with_mount(mount).plot([0.0, 0.0])
    discs = ax.collections[0]
    assert np.array(discs._offsets3d).T.tolist() == [[10.5, 20, 30], [11.5, 20, 30]]
    small, large = discs.get_sizes()
    assert large > 2 * small


def test_without_q_the_robot_stands_at_zero_or_at_its_limits(pyplot):
    assert "q = (0, 0, 0, -0.0698, 0, 0, 0)" in fd.robots.panda().plot().get_title()
    assert "q = (0, 0, 0.305, 0, 0, 0)" in fd.robots.stanford().plot().get_title()


def test_given_axes_are_drawn_on_and_flat_ones_refused(pyplot):
    figure = pyplot.figure()
    ax = figure.add_subplot(1, 2, 1, projection="3d")
    assert fd.robots.rrt().plot([0.1, 0.2, 0.3], ax=ax) is ax
    with pytest.raises(fd.ArgumentError, match="ax: expected matplotlib axes with projection='3d', found Axes"):
        fd.robots.rrt().plot(ax=figure.add_subplot(1, 2, 2))


def test_odd_robots_can_be_drawn(pyplot):
    stone = fd.Robot([fd.Link("stone")], [], name="one $stone$", gravity=(0, 0, 0))
    stone.plot().figure.canvas.draw()
    point = fd.Robot([fd.Link("b"), fd.Link("c", 1.0)], [fd.Joint("_$j", "b", "c")], name="_")
    ax = point.plot()
    ax.figure.canvas.draw()
    assert ax.get_legend().get_texts()[0].get_text() == r" _\$j"


def colours(ax, colour):
    return [line for line in ax.lines if line.get_color() == colour]


def test_frames_are_drawn_as_asked_and_added_ones_are_named(pyplot):
    robot = fd.robots.puma560().with_frame("tcp", pose=fd.pose((0, 0, 0.2), rpy=(0, np.pi / 2, 0)))
    for frames, count in ((True, 8), (False, 0), (["link3", "tcp"], 2), ("tcp", 1)):
        ax = robot.plot(frames=frames)
        assert [len(colours(ax, colour)) for colour, _ in FRAME_LINES] == 3 * [count]
        assert ("tcp" in texts(ax)) == (frames is not False)
        labels = [text.get_text() for text in ax.get_legend().get_texts()]
        assert ("x of a frame" in labels) == (frames is not False)
    (x,) = colours(ax, "tab:red")
    start, end = np.array(x.get_data_3d()).T
    pose = link_poses(robot, np.zeros(6))["link6"] @ robot.frames["tcp"].pose
    np.testing.assert_allclose(start, pose[:3, 3], rtol=0, atol=1e-15)
    np.testing.assert_allclose((end - start) / np.linalg.norm(end - start), pose[:3, 0], rtol=0, atol=1e-14)
    with pytest.raises(fd.ArgumentError, match=r"frames has 'hand', which is no link or frame of puma560"):
        robot.plot(frames=["hand"])


def test_several_postures_are_pale_but_the_last(pyplot):
    robot, q = fd.robots.panda(), np.linspace((0, 0, 0, -1, 0, 1, 0), (1, 1, 0, -2, 0, 2, 0), 4)
    ax, alone = robot.plot(q), robot.plot(q[-1])
    assert len(colours(ax, PALE["color"])) == 3
    assert not colours(alone, PALE["color"])
    for k, line in enumerate(colours(ax, PALE["color"])):
        points = np.array(line.get_data_3d()).T
        for pose in link_poses(robot, q[k]).values():  # each link's origin is a point of the line
            assert np.nanmin(np.linalg.norm(points - pose[:3, 3], axis=1)) < 1e-12
    for drawn, single in zip(colours(ax, SOLID["color"]), colours(alone, SOLID["color"]), strict=True):
        np.testing.assert_array_equal(drawn.get_data_3d(), single.get_data_3d())
    assert ax.get_title().endswith("q = (1, 1, 0, -2, 0, 2, 0), and 3 other postures")
    assert [text.get_text() for text in ax.get_legend().get_texts()][-1] == "other postures"


@pytest.mark.parametrize("q", [np.zeros((2, 3)), np.zeros((0, 2)), np.zeros((2, 2, 2)), [[0, 0], [0, np.nan]],
                               [[0, 0], [0]], np.ma.zeros((2, 2))])  # fmt: skip
def test_what_is_no_posture_is_not_drawn(pyplot, q):
    with pytest.raises(fd.ArgumentError, match=r"^q"):
        fd.robots.two_link().plot(q)


def test_joints_on_one_axis_share_a_label(pyplot):
    links = [fd.Link(name, 1.0) for name in "abc"]
    ax = fd.Robot(links, [fd.Joint("j", "a", "b"), fd.Joint("k", "b", "c")]).plot()
    assert "0, 1" in texts(ax)


def test_a_missing_matplotlib_is_told_with_the_extra_that_brings_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(fd.MissingExtraError, match=r"plot needs matplotlib, .*: pip install fastdyn\[plots\]"):
        fd.robots.two_link().plot()
