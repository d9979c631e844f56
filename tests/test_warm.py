"""After warmup nothing compiles."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from numba.core import config

import fastdyn as fd

JOB = """
import warnings; warnings.simplefilter("ignore")
import numpy as np
from numba.core import event
import fastdyn as fd
from fastdyn.calls.workspace import BOUND
from tests.test_bound import compiled_so_far, layouts
from tests.test_interrupt import QUANTITIES

robot = fd.robots.{robot}
fd.warmup(robot, {options})
before = compiled_so_far()
with event.install_recorder("numba:compile") as recorder:
    for name in {names}:
        for lead in {leads}:
            for form in layouts(np.ones((*lead, robot.n))).values():
                state = [form] * QUANTITIES[name]
                getattr(robot, name)(*state)
                if name == "forward_dynamics":
                    getattr(robot, name)(*state, method="crba")
                if name in ("inverse_dynamics", "forward_dynamics", "joint_reactions"):
                    getattr(robot, name)(*state, wrenches=np.zeros((len(robot.joints), 6)))
            if name not in ("kinetic_energy", "potential_energy"):
                result = getattr(robot, name)(*state)
                getattr(robot, name)(*state, out=np.empty_like(result), threads=2)
        if name in BOUND and isinstance(robot, fd.Robot):
            BOUND[name].compiled()
            robot.c_function(name)
print(len(recorder.buffer), compiled_so_far() == before)
"""

every = sorted(["inverse_dynamics", "forward_dynamics", "joint_reactions", "bias_forces", "coriolis_matrix",
                "kinetic_energy", "mass_matrix", "gravity_forces", "potential_energy"])  # fmt: skip


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is ever compiled")
@pytest.mark.parametrize("robot", ["random_tree(5, prismatic=0.3)", "two_link().coupled([[1], [2]])"])
def test_after_warmup_nothing_compiles(robot):
    assert outcome(robot, "", every, [(), (1,), (20,), (3, 2)]) == "0 True"


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is ever compiled")
def test_a_part_of_it_can_be_warmed_up():
    names = ["inverse_dynamics", "mass_matrix"]
    assert outcome("puma560()", f"{names}, batch=False", names, [()]) == "0 True"


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
