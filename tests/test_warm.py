"""After warmup nothing compiles."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from numba.core import config

import fastdyn as fd
from fastdyn.quantities import METHODS

JOB = """
import warnings; warnings.simplefilter("ignore")
import numpy as np
from numba.core import event
import fastdyn as fd
from fastdyn.calls.bound import c_functions
from fastdyn.quantities import METHODS
from tests.samples import computed, draw
from tests.test_bound import compiled_so_far, layouts

robot = fd.robots.{robot}
fd.warmup(robot, {options})
before = compiled_so_far()
with event.install_recorder("numba:compile") as recorder:
    for row in [row for name in {names} for row in METHODS[name]]:
        for lead in {leads}:
            given = {{name: np.ones_like(value) for name, value in draw(robot, row, *lead, optional=True).items()}}
            forms = {{name: layouts(value) for name, value in given.items()}}
            for form in forms["q"]:
                values = {{name: forms[name][form] for name in given}}
                computed(robot, row, values)
                computed(robot, row, {{field.name: values[field.name] for field in row.reads}})
            out = tuple(np.empty_like(result) for result in computed(robot, row, given))
            computed(robot, row, given, out=out, threads=2)
        robot.bind(row.name)
        for name, (other, _) in c_functions().items():
            if other is row:
                robot.c_function(name)
print(len(recorder.buffer), compiled_so_far() == before)
"""


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is ever compiled")
@pytest.mark.parametrize("robot", ["random_tree(5, prismatic=0.3)", "two_link().coupled([[1], [2]])"])
def test_after_warmup_nothing_compiles(robot):
    assert outcome(robot, "", list(METHODS), [(), (1,), (20,), (3, 2)]) == "0 True"


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is ever compiled")
@pytest.mark.parametrize("robot", ["puma560()", "two_link().coupled([[1, 0], [-1, 1]])"])
def test_a_part_of_it_can_be_warmed_up(robot):
    names = ["inverse_dynamics", "mass_matrix"]
    assert outcome(robot, f"{names}, batch=False", names, [()]) == "0 True"


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is ever compiled")
def test_what_was_not_warmed_up_is_noticed():
    # the machine code may come from the cache: nothing is compiled then, but found for the first time
    assert outcome("puma560()", "['gravity_forces'], batch=False", ["potential_energy"], [()]).endswith("False")


def outcome(robot: str, options: str, names: list[str], leads: list[tuple[int, ...]]) -> str:
    """What JOB prints: how often something was compiled, and whether all entries know the same types as before."""
    job = JOB.format(robot=robot, options=options, names=names, leads=leads)
    done = subprocess.run([sys.executable, "-c", job], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_robot_without_an_answer_can_be_warmed_up():
    hopeless = fd.Robot([fd.Link("base"), fd.Link("tip")], [fd.Joint("hinge", "base", "tip")], strict=None)
    with np.errstate(all="ignore"):  # in plain Python
        fd.warmup(hopeless, ["forward_dynamics"])
        with pytest.raises(fd.SingularMassMatrixError):
            hopeless.forward_dynamics([0.0], [0.0], [0.0])
    fd.warmup(fd.Robot([fd.Link("base")], []))


def test_names_are_checked():
    with pytest.raises(fd.ArgumentError, match="quantities names 'inverse_kinematics': expected some of"):
        fd.warmup(fd.robots.two_link(), ["mass_matrix", "inverse_kinematics"])
    fd.warmup(fd.robots.two_link(), "gravity_forces", batch=False)
    assert np.isfinite(fd.robots.two_link().gravity_forces([0.0, 0.0])).all()
