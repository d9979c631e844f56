"""Slices of the workspace against what closed forms say of reachable places, and against forward kinematics."""

import numpy as np
import pytest

import fastdyn as fd
from fastdyn.mechanism.poses import link_poses


def centres(found):
    """The cells' centres, (rows, columns) each."""
    return np.meshgrid(found.right[:-1] + found.cell / 2, found.up[:-1] + found.cell / 2)


def radii(found):
    """The distances of the nearest and the farthest point of each cell from the origin."""
    x, y = (np.abs(each) for each in centres(found))
    half = found.cell / 2
    return np.hypot(np.maximum(x - half, 0), np.maximum(y - half, 0)), np.hypot(x + half, y + half)


def test_a_planar_arm_reaches_a_ring():
    arm = fd.robots.planar_2r(l1=0.6, l2=0.4)
    found = arm.workspace_slice("xy", samples=2000, cells=40)
    near, far = radii(found)
    reached = np.isfinite(found.manipulability)
    assert reached[(near > 0.2) & (far < 1.0)].all()
    assert not reached[(far < 0.2) | (near > 1.0)].any()
    assert reached.sum() * found.cell**2 == pytest.approx(found.area)
    assert found.area == pytest.approx(np.pi * (1.0 - 0.2**2), rel=0.1)  # cells that are half inside count as reached


def test_limits_cut_the_ring():
    arm = fd.robots.planar_2r(l1=0.6, l2=0.4).locked({"joint2": 0.0})
    stop = fd.Limits(lower=-0.5, upper=1.0)
    joints = [fd.Joint(j.name, j.parent, j.child, j.kind, j.origin, j.axis, j.tail, stop) for j in arm.joints]
    fixed = [joint for joint in arm.all_joints if joint.kind == "fixed"]
    arm = fd.Robot(arm.all_links, [*joints, *fixed], name="arc", strict=None)
    found = arm.workspace_slice("xy", samples=500, cells=60)
    x, y = centres(found)
    reached = np.isfinite(found.manipulability)
    angle, across = np.arctan2(y, x)[reached], found.cell  # a cell's diagonal is below 1.5 sides
    assert (np.abs(np.hypot(x, y)[reached] - 1.0) <= across).all()
    assert -0.5 - across <= angle.min() <= -0.5 + across
    assert 1.0 - across <= angle.max() <= 1.0 + across


@pytest.mark.parametrize(("plane", "at"), [("xz", 0.2), ("yz", -0.3), ("xy", 0.4)])
def test_every_posture_is_in_its_cell_in_the_plane_and_within_limits(plane, at):
    arm = fd.robots.puma560().with_frame("tcp", pose=(0, 0, 0.1))
    found = arm.workspace_slice(plane, at, frame="tcp", samples=3000, cells=20)
    reached = np.isfinite(found.manipulability)
    q, value = found.q[reached], found.manipulability[reached]
    assert len(q) > 100
    arm.check_limits(q)
    right, up = centres(found)
    tip = np.linalg.inv(arm.forward_kinematics(np.zeros(6), "link6")) @ arm.forward_kinematics(np.zeros(6), "tcp")
    for k in range(0, len(q), 25):
        place = dict(zip("xyz", (link_poses(arm, q[k])["link6"] @ tip)[:3, 3], strict=True))
        assert place.pop(({"x", "y", "z"} - set(plane)).pop()) == pytest.approx(at, abs=2e-6)  # 1e-6 of the arm's reach
        found_at = np.array([place[plane[0]], place[plane[1]]])
        assert (np.abs(found_at - (right[reached][k], up[reached][k])) <= found.cell / 2 + 2e-6).all()
    J = arm.jacobian(q, "tcp")
    np.testing.assert_allclose(value, np.abs(np.linalg.det(J)), rtol=1e-9, atol=1e-12)  # six joints: sqrt(det(J J^T))
    assert (found.unit, found.frame) == ("m$^{3}$", "tcp")


def test_more_samples_change_little():
    arm = fd.robots.puma560()
    few, many = (arm.workspace_slice(samples=n, cells=20) for n in (2000, 20_000))
    assert few.area == pytest.approx(many.area, rel=0.05)
    assert np.nanmax(few.manipulability) == pytest.approx(np.nanmax(many.manipulability), rel=0.02)
    again = arm.workspace_slice(samples=2000, cells=20)
    np.testing.assert_array_equal(again.manipulability, few.manipulability)


def test_joints_that_several_coordinates_move_stay_within_limits():
    stop = fd.Limits(lower=-1.0, upper=1.0)
    arm = fd.robots.planar_2r()
    joints = [fd.Joint(j.name, j.parent, j.child, j.kind, j.origin, j.axis, j.tail, stop) for j in arm.joints]
    arm = fd.Robot(arm.all_links, joints, strict=None).coupled([[1, 0], [-1, 1]])
    found = arm.workspace_slice("xy", samples=2000, cells=20)
    q = found.q[np.isfinite(found.manipulability)]
    assert len(q) > 20
    arm.check_limits(q)


def test_units_of_manipulability():
    assert fd.robots.stanford().workspace_slice(samples=500, cells=5).unit == "m$^{2}$"
    for name, axes, unit in (
        ("planar_2r", None, "m and rad mixed"), ("planar_2r", "xy", "m$^{2}$"), ("planar_2r", "x", "m"),
        ("planar_2r", "rz", "1"), ("planar_2r", "xyz", "m$^{2}$"), ("panda", None, "m$^{3}$"),
        ("panda", "xyz", "m$^{3}$"), ("stanford", "xyz", "m and rad mixed"),
    ):  # fmt: skip
        found = fd.robots.get(name).workspace_slice("xy", samples=200, cells=5, axes=axes)
        assert found.unit == unit


def test_the_axes_of_manipulability():
    """Position in the plane: |l1 l2 sin q2|."""
    found = fd.robots.planar_2r(l1=0.6, l2=0.4).workspace_slice("xy", samples=500, cells=20, axes="xy")
    expected = 0.24 * np.abs(np.sin(found.q[..., 1]))
    np.testing.assert_allclose(found.manipulability, expected, rtol=0, atol=1e-14)
    assert np.nanmax(found.manipulability) > 0.23


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"plane": "zx"}, r"plane is 'zx': expected one of \['xy', 'xz', 'yz'\]"),
        ({"at": np.nan}, "at is nan: expected a finite number"),
        ({"at": "0"}, "at is '0': expected a finite number"),
        ({"at": 9.0}, "at is 9 m: 'link2' of planar_2r was found nowhere in that plane by 100 random postures"),
        ({"samples": 0}, "samples is 0: expected a whole number, 1 or more"),
        ({"cells": 2.5}, "cells is 2.5: expected a whole number, 2 or more"),
        ({"frame": "hand"}, "frame is 'hand', which is no link or frame"),
    ],
)
def test_what_is_no_slice_is_refused(given, message):
    with pytest.raises(fd.ArgumentError, match=message):
        fd.robots.planar_2r().workspace_slice(**{"samples": 100, **given})


def test_robots_without_limits_or_joints_have_no_slice():
    links, slide = [fd.Link("base"), fd.Link("car", 1.0)], fd.Joint("slide", "base", "car", "prismatic")
    with pytest.raises(fd.ArgumentError, match="coordinate 0 of rail slides without limits"):
        fd.Robot(links, [slide], name="rail").workspace_slice()
    with pytest.raises(fd.ArgumentError, match="post has no joints"):
        fd.Robot(links[:1], [], name="post").workspace_slice()


def test_maps_have_equal_scales_names_and_units():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    found = fd.robots.puma560().workspace_slice("xz", samples=2000, cells=20)
    ax = found.plot()
    ax.figure.canvas.draw()
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_aspect()) == ("x (m)", "z (m)", 1.0)
    assert ax.get_title().startswith("puma560: where link6 can be, y = 0 m\ncells of ")
    assert ax.figure.axes[1].get_ylabel() == "largest manipulability found (m$^{3}$)"
    mesh = ax.collections[0].get_array()
    np.testing.assert_array_equal(np.ma.filled(mesh, np.nan).reshape(found.manipulability.shape), found.manipulability)
    ax = found.plot(ax=pyplot.figure().add_subplot(), manipulability=False)
    assert len(ax.figure.axes) == 1
    assert int(np.ma.count(ax.collections[0].get_array())) == np.isfinite(found.manipulability).sum()
    pyplot.close("all")
