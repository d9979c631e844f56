"""robot.vary: the robots of the fleet are those that are built with other links and payloads."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import fastdyn as fd
from tests.samples import ARM, EPS, GEARED, changed, computed, draw, each_row, result_scale
from tests.test_fleet import kinds


def built(robot: Any, **links: fd.Link) -> Any:
    """The robot with other links, built from scratch."""
    found = changed(
        robot.robot if robot.coupling is not None else robot, [links.get(x.name, x) for x in robot.all_links]
    )
    return found if robot.coupling is None else found.coupled(robot.G, robot.offset, robot.names, robot.coupling.motors)


@each_row
@pytest.mark.parametrize("robot", [ARM, GEARED], ids=["joints", "coupled"])
def test_vary_gives_robots_with_other_links(row, robot):
    rng = np.random.default_rng(6)
    a, b, c = (robot.links[k] for k in (1, 4, 6))
    mass, com = rng.uniform(0.5, 5, 3), rng.uniform(-0.3, 0.3, (3, 3))
    inertia = np.array([fd.inertia.box(m, 0.1, 0.2, 0.3) for m in mass])
    load, place = rng.uniform(0, 5, 3), rng.uniform(-0.3, 0.3, (3, 3))
    fleet = robot.vary(
        mass={a.name: mass, b.name: 2.0}, com={a.name: com}, inertia={b.name: inertia},
        payload=load, payload_com=place, link=c.name,
    )  # fmt: skip
    for k, one in enumerate(fleet):
        scratch = built(
            robot,
            **{
                a.name: replace(a, mass=mass[k], com=com[k]),
                b.name: replace(b, mass=2.0, inertia=inertia[k]),
            },
        ).with_payload(load[k], place[k], link=c.name)
        assert one == scratch
        assert kinds(one) == kinds(scratch)
        values = draw(robot, row, seed=k, optional=True)
        tolerance = 100 * len(robot.joints) * EPS * result_scale(scratch, row, values)
        for found, expected in zip(computed(one, row, values), computed(scratch, row, values), strict=True):
            np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance)


def test_vary_broadcasts_single_values():
    fleet = ARM.vary(mass={"link1": [1.0, 2.0]}, com={"link2": (0, 0, 0.1)}, payload=1.5, link="link7")
    assert len(fleet) == 2
    assert [robot.links[0].mass for robot in fleet] == [1.0, 2.0]
    assert all(robot.links[1].com.tolist() == [0, 0, 0.1] for robot in fleet)
    assert len(ARM.vary(mass={"base": 3.0})) == 1


def test_a_link_that_loses_its_mass_leaves_nothing():
    """Not rounding errors of what it had, which would look like an inertia."""
    arm = fd.robots.two_link()
    fleet = arm.vary(mass={"link2": [1.0, 0.0]}, inertia={"link2": np.zeros((3, 3))})
    assert kinds(fleet[1]) == kinds(copy.deepcopy(fleet[1]))
    with pytest.raises(fd.SingularMassMatrixError, match="'joint2' moves no inertia"):
        fleet[1].forward_dynamics([0.1, 0.2], [0, 0], [1, 1])


def test_vary_warns_once_of_links_that_no_real_body_can_be():
    with pytest.warns(fd.RobotWarning, match="link 'link2' of robot 1 of the fleet: it has principal") as found:
        fd.robots.two_link().vary(inertia={"link2": [np.eye(3), *[np.diag([1.0, 1.0, 9.0])] * 2]})
    assert len(found) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "vary: expected mass, com, inertia or payload, found none"),
        ({"mass": {}}, "vary: expected mass, com, inertia or payload, found none"),
        ({"mass": {"link9": [1.0]}}, r"mass names 'link9', which is no link of two_link: \['base', 'link1', 'link2'\]"),
        ({"mass": {None: [1.0]}}, "mass names None, which is no link of two_link"),
        ({"mass": np.array([1.0, 2.0])}, "mass: expected a mapping from link names to values, found array"),
        ({"mass": {"link1": [1.0, 2.0]}, "payload": [1, 2, 3]}, r"mass\['link1'\]: expected values for 3.*found 2"),
        ({"mass": {"link1": [[1.0, 2.0]]}}, r"mass\['link1'\]: expected shape \(R\), .*found shape \(1, 2\)"),
        ({"mass": {"link1": []}}, r"mass\['link1'\]: expected shape \(R\), .*found shape \(0,\)"),
        ({"com": {"link1": [1.0, 2.0]}}, r"com\['link1'\]: expected shape \(R, 3\), .*found shape \(2,\)"),
        ({"com": {"link1": [[1, 2], [1]]}}, r"com\['link1'\]: expected a rectangular array"),
        ({"mass": {"link1": [1.0, np.nan]}}, r"mass\['link1'\]"),
        ({"mass": {"link1": [1.0, -2.0]}}, "link1.*mass.*-2"),
        ({"payload": [1.0, -1.0]}, "payload.*-1"),
        ({"payload": [1.0], "link": "hand"}, "link is 'hand', which is no link of two_link"),
    ],
)  # fmt: skip
def test_vary_refuses(options, message):
    with pytest.raises((fd.ArgumentError, fd.RobotError), match=message):
        fd.robots.two_link().vary(**options)
