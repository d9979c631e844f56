"""After warmup nothing compiles."""

from __future__ import annotations

import io
import subprocess
import sys
import time

import numpy as np
import pytest
from numba.core import config

import fastdyn as fd
from fastdyn.calls import generate
from fastdyn.calls.task import Task
from fastdyn.compiler import announce
from fastdyn.compiler.entries import Entry
from fastdyn.quantities import CONTROLLERS
from tests.samples import FEW

JOB = """
import warnings; warnings.simplefilter("ignore")
import numpy as np
from numba.core import event
import fastdyn as fd
from fastdyn.calls.bound import c_functions
from fastdyn.quantities import METHODS
from tests.samples import bound, c_function, computed, draw
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
        bound(robot, row.name)
        for name, (other, _) in c_functions().items():
            if other is row:
                c_function(robot, name)
print(len(recorder.buffer), compiled_so_far() == before)
"""


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is ever compiled")
@pytest.mark.parametrize("robot", ["random_tree(5, prismatic=0.3)", "two_link().coupled([[1], [2]])"])
def test_after_warmup_nothing_compiles(robot):
    names = [*FEW]  # of methods, too
    assert outcome(robot, f"{names}", names, [(), (1,), (20,), (3, 2)]) == "0 True"


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is ever compiled")
@pytest.mark.parametrize("robot", ["puma560()", "two_link().coupled([[1, 0], [-1, 1]])"])
def test_a_part_of_it_can_be_warmed_up(robot):
    names = ["inverse_dynamics", "mass_matrix"]
    assert outcome(robot, f"{names}, batch=False", names, [()]) == "0 True"


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is ever compiled")
def test_what_was_not_warmed_up_is_noticed():
    # the machine code may come from the cache: nothing is compiled then, but found for the first time
    assert outcome("puma560()", "['gravity_forces'], batch=False", ["potential_energy"], [()]).endswith("False")


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is ever compiled")
def test_controllers_can_be_warmed_up():
    robot, row = fd.robots.two_link(), CONTROLLERS["pd"]
    fd.warmup(robot, ["pd"])
    entries = generate.bound(row, False), generate.c_function(row, False, False)
    assert all(len(entry.dispatcher.overloads) == 1 for entry in entries)
    robot.bind("pd"), robot.c_function("pd")
    assert all(len(entry.dispatcher.overloads) == 1 for entry in entries)
    with pytest.raises(fd.ArgumentError, match=r"quantities names 'pdd': expected some of .*'mass_matrix'.*'pd'"):
        fd.warmup(robot, ["pdd"])


def outcome(robot: str, options: str, names: list[str], leads: list[tuple[int, ...]]) -> str:
    """What JOB prints: how often something was compiled, and whether all entries know the same types as before."""
    job = JOB.format(robot=robot, options=options, names=names, leads=leads)
    done = subprocess.run([sys.executable, "-c", job], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


SINGLE_PRECISION = """
import numpy as np
import fastdyn as fd
from tests.test_bound import compiled_so_far

robot = fd.robots.two_link()
fd.warmup(robot, ["gravity_forces", "bias_forces"], batch={batch}, dtype=np.float32)
before = compiled_so_far()
for lead in [(), (1,), (20,)]:
    q = np.ones((*lead, 2), np.float32)
    robot.gravity_forces(q, dtype=np.float32, out=np.empty_like(q))
    robot.bias_forces(q, q.astype(float), dtype="float32", threads=2)
print(compiled_so_far() == before)
"""


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is ever compiled")
@pytest.mark.parametrize("batch", [True, False])
def test_after_warmup_in_single_precision_nothing_compiles_for_it(batch):
    job = SINGLE_PRECISION.format(batch=batch)
    done = subprocess.run([sys.executable, "-c", job], capture_output=True, text=True, timeout=600)
    assert done.stdout == "True\n", done.stderr
    with pytest.raises(fd.ArgumentError, match="dtype is 'int8': expected float64 or float32"):
        fd.warmup(fd.robots.two_link(), ["gravity_forces"], dtype="int8")


# ---------------------------------------------------------------------------------------------- what is being compiled


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def on_a_terminal(monkeypatch) -> Terminal:
    """What is said on stderr as a terminal, after a short time. No fixture: pytest sets stderr after fixtures."""
    made = Terminal()
    monkeypatch.setattr(sys, "stderr", made)
    monkeypatch.setattr(announce, "PATIENCE", 0.02)
    monkeypatch.delenv("FASTDYN_QUIET", raising=False)
    return made


class Slow:
    """A compiler that takes its time."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.overloads = seconds, {("types",): "machine code"}

    def compile(self, signature: object) -> None:
        time.sleep(self.seconds)


@pytest.mark.parametrize(("seconds", "said"), [(0.3, "fastdyn: compiling a_b, once per machine ...\n"), (0.0, "")])
def test_an_entry_says_what_it_compiles_if_that_takes_long(seconds, said, monkeypatch):
    terminal = on_a_terminal(monkeypatch)

    def a_b(): ...

    entry = Entry(a_b, lambda kind: ("types",))
    entry.dispatcher = Slow(seconds)
    assert entry.overload() == "machine code"
    assert terminal.getvalue() == said


def test_warmup_says_how_far_it_is(monkeypatch):
    terminal = on_a_terminal(monkeypatch)
    monkeypatch.setattr(Task, "__call__", lambda *arguments: time.sleep(0.2))
    monkeypatch.setattr(Entry, "compiled", lambda entry, kind=None: None)
    monkeypatch.setattr(Entry, "address", lambda entry: 0)
    fd.warmup(fd.robots.two_link(), ["gravity_forces", "mass_matrix"], batch=False)
    assert terminal.getvalue().splitlines() == [
        "fastdyn: compiling gravity_forces (1 of 2), once per machine ...",
        "fastdyn: compiling mass_matrix (2 of 2), once per machine ...",
    ]


def test_only_the_outermost_announcement_is_made_and_none_to_who_asked_for_quiet(monkeypatch):
    terminal = on_a_terminal(monkeypatch)

    def slowly(outer: str, inner: str) -> None:
        with announce.announced(outer), announce.announced(inner):
            time.sleep(0.2)

    slowly("this", "a part")
    assert terminal.getvalue() == "fastdyn: compiling this, once per machine ...\n"
    monkeypatch.setenv("FASTDYN_QUIET", "1")
    slowly("that", "a part")
    monkeypatch.delenv("FASTDYN_QUIET")
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    slowly("that", "a part")
    assert sys.stderr.getvalue() == ""
    assert terminal.getvalue().count("\n") == 1


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
