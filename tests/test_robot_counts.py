"""fd.study.count: the operations of any robot, general and specialised."""

from __future__ import annotations

import math

import numpy as np
import pytest
from typer.testing import CliRunner

import fastdyn as fd
from fastdyn import cli
from fastdyn.quantities import QUANTITIES, Quantity
from fastdyn.scalars import Operations, count
from fastdyn.specialize.algebra import optimize
from fastdyn.specialize.algebra.network import Network
from fastdyn.specialize.algebra.optimize import share_factors
from fastdyn.specialize.program import trace
from fastdyn.specialize.rows import GENERAL
from fastdyn.study import counts
from fastdyn.study.counts.robot import SPECIALISED, VALUE, Count, Counts
from fastdyn.study.formulations import FORMULATIONS, chain_of, parameters
from fastdyn.study.report import COUNTED, robot_counts

pytestmark = pytest.mark.filterwarnings("ignore::fastdyn.RobotWarning")


def pair(operations: Operations) -> tuple[int, int]:
    return operations.multiplications, operations.additions


# ------------------------------------------------------------------------------------------ known numbers


@pytest.mark.parametrize("row", [*FORMULATIONS.values(), *QUANTITIES.values()], ids=lambda row: row.name)
def test_general_counts_are_those_of_the_text_alone(row: Quantity) -> None:
    """Copying and checking around the text are not counted."""
    arm = fd.robots.random_chain(3)
    P, tree = arm.parameters_in(None, None, False).constants
    if row.name in FORMULATIONS:
        chain = chain_of(arm, row)
        P, tree = chain.P, chain.kinds
    buffers = [np.full(math.prod(field.core(3)), VALUE) for field in row.reads]
    buffers += [np.empty(0) for _ in row.optional]
    buffers += [np.zeros(math.prod(field.core(3))) for field in row.gives]
    expected = count(row.text, P, tree, *buffers, np.zeros(row.rows(3)))
    assert fd.study.count(arm, row.name, optimize=False).general == expected


def test_general_counts_of_six_joints_do_not_depend_on_the_arm() -> None:
    """The polynomials of the texts, at n = 6."""
    known = {"lagrange_euler": (85_024, 64_741), "newton_euler_frugal": (744, 615), "mass_matrix": (450, 380)}
    for arm in (counts.arm(6), fd.robots.puma560(), fd.robots.ur5()):
        for name, numbers in known.items():
            assert pair(fd.study.count(arm, name, optimize=False).general) == numbers


@pytest.mark.parametrize(
    ("name", "inverse", "mass", "forward"),
    [
        ("puma560", (192, 173), 174, 718),
        ("ur5", (176, 152), 171, 731),
        ("panda", (299, 289), 341, 1324),
        ("iiwa", (220, 200), 217, 864),
        ("stanford", (143, 122), 122, 612),
        ("irb1400", (173, 141), 165, 679),
    ],
)
def test_traced_counts_of_the_zoo(name: str, inverse: tuple[int, int], mass: int, forward: int) -> None:
    """Without friction; 446 and 398 in general code for six rotary joints of any kind."""
    robot = fd.robots.get(name).without_friction()
    found = fd.study.count(robot, "inverse_dynamics", optimize=False)
    assert found.traced is not None
    assert pair(found.traced) == inverse
    if robot.kinds == "RRRRRR":
        assert pair(found.general) == (446, 398)
    for quantity, most in (("mass_matrix", mass), ("forward_dynamics", forward)):
        traced = fd.study.count(robot, quantity, optimize=False).traced
        assert traced is not None
        assert sum(pair(traced)) <= most


def test_algebra_saves_operations() -> None:
    robot = fd.robots.puma560().without_motors()
    for name, most in (("inverse_dynamics", 325), ("mass_matrix", 170), ("newton_euler_frugal", 272 + 201)):
        found = fd.study.count(robot, name)
        assert found.traced is not None
        assert found.specialised is not None
        assert sum(pair(found.specialised)) < sum(pair(found.traced)) < sum(pair(found.general))
        assert sum(pair(found.specialised)) <= most


def test_products_of_inertia_that_are_rounding_cost_nothing() -> None:
    """Two of the UR5's are 7e-21 kg m^2 about the centres of mass: multiplying by them is not counted."""
    arm = fd.robots.ur5()
    for name in ("newton_euler_frugal", "screws"):
        row = FORMULATIONS[name]
        as_it_is = trace(row, parameters(chain_of(arm, row))).operations()
        found = fd.study.count(arm, name, optimize=False).traced
        assert found is not None
        assert sum(pair(found)) < sum(pair(as_it_is))


def test_coupling_is_counted() -> None:
    """Of unit coupling, what general code does: at least a product for each entry of G; traced, it costs nothing."""
    plain = fd.robots.two_link()
    coupled = plain.coupled([[1, 0], [0, 1]])
    for name in ("inverse_dynamics", "jacobian"):
        one, two = (fd.study.count(robot, name, optimize=False) for robot in (plain, coupled))
        assert sum(pair(two.general)) > sum(pair(one.general))
        assert two.traced == one.traced


def test_a_specialised_robot_counts_as_the_general_one() -> None:
    arm = fd.robots.two_link()
    assert fd.study.count(arm.specialize(), "mass_matrix") == fd.study.count(arm, "mass_matrix")


def test_frames_have_counts_of_their_own() -> None:
    arm = fd.robots.panda()
    tip, elbow = (fd.study.count(arm, "jacobian", frame, optimize=False) for frame in (None, arm.joints[3].child))
    assert tip.traced is not None
    assert elbow.traced is not None
    assert elbow.traced.multiplications < tip.traced.multiplications
    assert trace(QUANTITIES["jacobian"], arm.parameters_in(None, None, False)).operations() == tip.traced


def test_what_is_not_specialised_has_a_general_count_only() -> None:
    for name in GENERAL:
        found = fd.study.count(fd.robots.planar_2r(), name)
        assert found.general.multiplications > 1000 or name == "task_dynamics"
        assert found.traced is None
        assert found.specialised is None
        assert "traced" not in str(found)


def test_equal_products_are_shared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three joints of the PUMA by Lagrange-Euler have values that are one product under several names."""
    steps = [0]

    def counted(network: Network) -> bool:
        steps[0] += 1
        assert steps[0] < 1000, "products are exchanged for equal ones without end"
        return share_factors(network)

    monkeypatch.setattr(optimize, "share_factors", counted)
    arm = fd.robots.puma560().locked({f"joint{k}": 0.0 for k in (4, 5, 6)})
    found = fd.study.count(arm, "lagrange_euler")
    assert found.traced is not None
    assert found.specialised is not None
    assert found.specialised.multiplications < 0.6 * found.traced.multiplications


# ------------------------------------------------------------------------------------------ tables


def test_all_counts_of_a_robot_are_a_table_and_a_mapping() -> None:
    found = fd.study.count(fd.robots.two_link())
    assert isinstance(found, Counts)
    assert list(found) == [*FORMULATIONS, *SPECIALISED]
    assert len(found) == len(FORMULATIONS) + len(QUANTITIES) - len(GENERAL)
    assert not found.left_out
    assert found["kane"] == fd.study.count(fd.robots.two_link(), "kane")
    first, sides, kinds, *rows = str(found).splitlines()
    assert first == "two_link: operations for one state"
    assert sides.split() == ["general", "traced", "specialised"]
    assert kinds.split()[:4] == ["mul", "add", "div", "sincos"]
    assert [row.split()[0] for row in rows] == list(found)
    lagrange = rows[0].replace(",", "").split()
    assert lagrange[1:5] == [str(k) for k in found["lagrange_euler"].general.totals()[:4]]


def test_a_table_shows_what_was_not_asked_for_as_nothing() -> None:
    found = fd.study.count(fd.robots.two_link(), "mass_matrix", optimize=False)
    assert isinstance(found, Count)
    assert found.specialised is None
    assert "specialised" not in str(found)
    both = Counts("r", {"a": found, "b": fd.study.count(fd.robots.two_link(), "mass_matrix")}, {})
    assert str(both).splitlines()[3].split()[-3:] == ["-"] * 3


def test_formulations_that_a_robot_cannot_have_are_left_out_with_the_reason() -> None:
    found = fd.study.count(fd.robots.stanford(), optimize=False)
    assert set(found.left_out) == {name for name, row in FORMULATIONS.items() if row.rotary_only}
    assert "joint 'joint3' of stanford is prismatic" in " ".join(str(found).split())
    found = fd.study.count(fd.robots.dual_arm(), optimize=False)
    assert set(FORMULATIONS) < set(found.left_out)
    assert "jacobian" in found.left_out
    assert "inverse_dynamics" in found
    assert "is a tree" in str(found)
    assert str(found).count("left out: ") == 2


def test_what_cannot_be_counted_is_refused() -> None:
    with pytest.raises(fd.ArgumentError, match=r"name is 'lagrange': expected one of lagrange_euler, .* task_dynamics"):
        fd.study.count(fd.robots.two_link(), "lagrange")
    with pytest.raises(fd.FormulationError, match="rotary joints only, but joint 'joint3' of stanford is prismatic"):
        fd.study.count(fd.robots.stanford(), "generalized_dalembert")
    with pytest.raises(fd.FormulationError, match="dual_arm is a tree"):
        fd.study.count(fd.robots.dual_arm(), "kane")
    with pytest.raises(fd.FormulationError, match="irb1400 is coupled"):
        fd.study.count(fd.robots.irb1400(coupled=True), "screws")
    with pytest.raises(fd.ArgumentError, match="has no moving joint"):
        fd.study.count(fd.Robot([fd.Link("base")], [], name="post"))
    with pytest.raises(fd.ArgumentTypeError, match="expected a Robot or CoupledRobot, found Fleet"):
        fd.study.count(fd.stack([fd.robots.two_link()] * 2), "mass_matrix")
    with pytest.raises(AttributeError, match="has no attribute 'studies'"):
        fd.studies  # noqa: B018


def test_the_study_counts_six_robots() -> None:
    found = robot_counts(["gravity_forces"])
    assert [each.robot for each in found] == list(COUNTED)
    assert all(each.specialised is not None for each in found)


def test_the_command_prints_the_table() -> None:
    for arguments in (["two_link", "lagrange_euler", "--quick"], ["irb1400", "mass_matrix", "--coupled", "--quick"]):
        said = CliRunner().invoke(cli.app, ["counts", *arguments], catch_exceptions=False)
        robot = fd.robots.get(arguments[0], "--coupled" in arguments)
        expected = str(fd.study.count(robot, arguments[1], optimize=False)).splitlines()
        assert [line.split() for line in said.output.splitlines()] == [line.split() for line in expected]
        assert len({len(line.rstrip()) for line in said.output.splitlines()[2:]}) == 1  # numbers end in one column


def test_the_command_prints_all_within_120_columns_and_says_what_is_left_out() -> None:
    said = CliRunner().invoke(cli.app, ["counts", "stanford", "--quick"], catch_exceptions=False)
    assert "counting lagrange_euler" in said.stderr
    lines = said.stdout.splitlines()
    assert max(map(len, lines)) <= 120
    assert any(line.split()[:3] == ["newton_euler_frugal", "757", "625"] for line in lines)
    assert any(line.startswith("left out: generalized_dalembert: ") for line in lines)
