"""The table of quantities: what is declared once exists everywhere, and a new row needs nothing else."""

from __future__ import annotations

import ctypes
import inspect
from pathlib import Path

import numpy as np
import pytest
from numba.core import config

import fastdyn as fd
from fastdyn import workspace
from fastdyn.calls import generate
from fastdyn.calls.bound import c_functions, call_name, declaration
from fastdyn.calls.task import Task
from fastdyn.calls.workspace import Workspace
from fastdyn.dynamics import Dynamics
from fastdyn.kinematics import Kinematics
from fastdyn.quantities import FIELDS, METHODS, QD, QDD, QUANTITIES, ROWS, Field, Q, Quantity
from fastdyn.scalars import fill, kernel, load, store
from fastdyn.study import counts
from fastdyn.task_space import TaskSpace
from tests import oracle

EPS = np.finfo(float).eps
ROOT = Path(__file__).parent.parent
jit_only = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="machine code only")


# ---------------------------------------------------------------------------------------------- the sets agree


@pytest.mark.parametrize("name", METHODS)
def test_a_quantity_has_a_method_an_oracle_and_a_note(name):
    row = METHODS[name][0]
    parameters = list(inspect.signature(getattr(TaskSpace, name)).parameters)[1:]
    assert parameters[: len(row.reads)] == [field.name for field in row.reads]
    assert set(parameters) >= {field.name for field in row.optional}
    assert parameters[-3:] == ["out", "threads", "dtype"]
    assert ">>>" in inspect.getdoc(getattr(TaskSpace, name))
    assert callable(getattr(oracle, name))
    assert f"`{name}`" in (ROOT / "notes" / "equations.md").read_text(encoding="utf-8")


def test_what_users_call_is_in_the_table():
    """No method of these classes computes something that the table does not know."""
    helpers = {"parameters", "parameters_in", "task"}
    other_names = {
        "jacobian_bias",  # frame_acceleration without its optional input
        "manipulability", "condition_number",  # of the singular values
        "wrench_capability",  # of Jacobian, gravity and limits
    }  # fmt: skip
    methods = {name for kind in (Dynamics, Kinematics, TaskSpace) for name in vars(kind) if not name.startswith("_")}
    assert methods - helpers - other_names == set(METHODS)


def test_every_way_of_calling_knows_every_quantity():
    assert [row for row, optional in c_functions().values() if not optional] == list(ROWS.values())
    assert [row for row, optional in c_functions().values() if optional] == [
        r for r in QUANTITIES.values() if r.optional
    ]
    for name in QUANTITIES:
        assert callable(getattr(workspace, name))
        assert callable(getattr(workspace, f"coupled_{name}"))
    assert {text.name for text in counts.kernels()} == set(QUANTITIES)
    from benchmarks.suite.dynamics import QUANTITIES as TIMED

    assert {quantity.method for quantity in TIMED.values()} == set(METHODS)


def test_fields_are_named_once():
    names = [field.name for field in FIELDS]
    assert len(set(names)) == len(names)
    used = {field for row in ROWS.values() for field in row.inputs + row.gives}
    assert used == set(FIELDS)


def test_declarations_of_version_0_1_stay():
    known = {
        "inverse_dynamics": "const double *q, const double *qd, const double *qdd, double *tau",
        "forward_dynamics": "const double *q, const double *qd, const double *tau, double *qdd",
        "mass_matrix": "const double *q, double *M",
        "bias_forces": "const double *q, const double *qd, double *tau",
        "gravity_forces": "const double *q, double *tau",
    }
    for name, arguments in known.items():
        assert declaration(name, QUANTITIES[name], False) == f"int64_t {name}({arguments}, void *workspace)"


# ---------------------------------------------------------------------------------------------- one more row


@kernel
def made_up(P, tree, index, q, qd, qdd, J, speed, work):
    """A text with an index and two results: J[r, j] = (index + r) q_j, (6, n), and speed = J qd + qdd_0."""
    n = q.shape[0]
    for r in range(6):
        total = load(qdd, 0) if qdd.shape[0] > 0 else fill(q, 0.0)
        for j in range(n):
            store(work, 0, load(q, j) * (index + r))
            store(J, n * r + j, load(work, 0))
            total = total + load(work, 0) * load(qd, j)
        store(speed, r, total)


ROW = Quantity(
    "made_up", made_up, lambda n: 1, (Q, QD), (Field("J", (6, "n")), Field("speed", (6,))), (QDD,), index=True
)
PLAIN = fd.robots.random_chain(3, seed=1)
COUPLED = PLAIN.coupled([[1.0, 0.0], [0.0, 2.0], [-1.0, 1.0]], offset=[0.1, 0.2, 0.3])


def expected(robot, index, q, qd, qdd=None):
    q, qd = np.asarray(q), np.asarray(qd)
    shift = 0.0
    if isinstance(robot, fd.CoupledRobot):
        qdd = None if qdd is None else np.asarray(qdd) @ robot.G.T
        q, qd = q @ robot.G.T + robot.offset, qd @ robot.G.T
    if qdd is not None:
        shift = np.asarray(qdd)[..., :1]
    J = (index + np.arange(6))[:, None] * q[..., None, :]
    return J, (J @ qd[..., None])[..., 0] + shift


@pytest.fixture
def general(monkeypatch) -> list[Task]:
    """Every task whose arguments had to be converted."""
    found: list[Task] = []
    convert = Task._any
    monkeypatch.setattr(Task, "_any", lambda task, *given: found.append(task) or convert(task, *given))
    return found


@pytest.mark.parametrize("robot", [PLAIN, COUPLED], ids=["plain", "coupled"])
@pytest.mark.parametrize("lead", [(), (1,), (21,)])
@pytest.mark.parametrize("optional", [False, True])
def test_a_new_row_runs_on_the_same_paths(robot, lead, optional, general):
    task = Task(robot.parameters, ROW)
    values = tuple(np.random.default_rng(0).normal(size=(2 + optional, *lead, robot.n)))
    found = task(values, index=(4,))
    right = expected(robot, 4, *values)
    assert [x.shape for x in found] == [(*lead, 6, 3), (*lead, 6)]
    for one, other in zip(found, right, strict=True):
        assert np.abs(one - other).max() <= 20 * EPS * np.abs(other).max()
    assert config.DISABLE_JIT or not general  # neither one state nor a batch of such shapes takes a slower way
    out = tuple(np.full_like(x, np.nan) for x in found)
    assert task(values, out, index=(4,)) is out
    single = Task(robot.parameters, ROW, np.dtype(np.float32))(values, index=(4,))
    for k in range(2):
        assert out[k].tobytes() == found[k].tobytes() or lead == ()
        assert np.abs(single[k] - right[k]).max() <= 20 * np.finfo(np.float32).eps * np.abs(right[k]).max()


@pytest.mark.parametrize(
    ("out", "message"),
    [
        (np.empty((5, 6, 3)), "out is a ndarray: expected a tuple of 2 arrays"),
        ((np.empty((5, 6, 3)),), "out has 1 arrays: expected 2"),
        ((np.empty((5, 6, 3)), np.empty((5, 3))), r"out\[1\] has shape \(5, 3\): expected \(5, 6\)"),
    ],
)
def test_several_results_want_a_tuple(out, message):
    with pytest.raises((fd.ArgumentError, fd.ArgumentTypeError), match=message):
        Task(PLAIN.parameters, ROW)((np.zeros((5, 3)), np.zeros((5, 3))), out, index=(0,))


@jit_only
@pytest.mark.parametrize("robot", [PLAIN, COUPLED], ids=["plain", "coupled"])
def test_a_new_row_can_be_bound_and_called_from_c(robot):
    block = Workspace(robot.parameters, [ROW])
    values = np.random.default_rng(0).normal(size=(3, robot.n))
    for name, value in zip(("q", "qd", "qdd"), values, strict=True):
        block.views[name][:] = value
    coupled = robot.parameters.coupled
    assert generate.bound(ROW, coupled).compiled()(block.address, 4) == 0
    for name, right in zip(("J", "speed"), expected(robot, 4, *values), strict=True):
        assert np.abs(block.views[name] - right).max() <= 20 * EPS * np.abs(right).max()
    for optional in (False, True):
        given = values[: 2 + optional]
        results = np.empty((6, 3)), np.empty(6)
        pointers = [array.ctypes.data for array in (*given, *results)]
        function = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * (len(pointers) + 2))
        call = function(generate.c_function(ROW, coupled, optional).address())
        assert call(*pointers, 4, block.address) == 0
        for one, other in zip(results, expected(robot, 4, *given), strict=True):
            assert np.abs(one - other).max() <= 20 * EPS * np.abs(other).max()


def test_a_field_must_not_be_called_as_something_that_generated_code_uses():
    row = Quantity("bad", made_up, lambda n: 1, (Q,), (Field("matrix", ("n", "n")),))
    with pytest.raises(ValueError, match="bad: a field cannot be called 'matrix'"):
        generate.batch(row, False)


def test_names_of_bound_calls_and_results_do_not_meet():
    results = {field.name for row in QUANTITIES.values() for field in row.gives}
    assert not results & {call_name(row) for row in QUANTITIES.values()}
