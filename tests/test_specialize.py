"""Specialised robots: straight-line code gives the results, errors and conventions of general code."""

from __future__ import annotations

import copy
import ctypes
import json
import pickle
from dataclasses import replace

import numba
import numpy as np
import pytest

import fastdyn as fd
from fastdyn import workspace
from fastdyn.compiler.cache import cache_directory
from fastdyn.kernels import rows as r
from fastdyn.mechanism.parts import Array
from fastdyn.quantities import INVERSE_DYNAMICS, MASS_MATRIX, QUANTITIES
from fastdyn.specialize import rows
from fastdyn.specialize.algebra.optimize import optimized
from fastdyn.specialize.program import cleaned, trace
from tests.samples import (
    ARM,
    BOTH,
    EPS,
    FEW,
    GEARED,
    any_robot,
    assert_rounded,
    bound,
    changed,
    computed,
    draw,
    on_both,
    parameters,
    part,
    task_of,
)

machine_code = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="bound calls are machine code")
STRAIGHT = {name: row for name, row in QUANTITIES.items() if name not in rows.GENERAL}
SOME = {name: row for name, row in FEW.items() if name not in rows.GENERAL}
SPECIAL = {name: robot.specialize() for name, robot in BOTH.items()}
PUMA = fd.robots.puma560()
FAST = PUMA.specialize()


def of(robot):
    return next(name for name, each in BOTH.items() if each is robot)


# ---------------------------------------------------------------------------------------------- values


@on_both
@pytest.mark.parametrize("row", STRAIGHT.values(), ids=STRAIGHT)
def test_programs_give_the_numbers_of_general_code(robot, row):
    for optional in (False, True) if row.optional else (False,):
        values = draw(robot, row, 5, seed=1, optional=optional)
        expected = computed(robot, row, values)
        program = optimized(trace(row, parameters(robot, row), optional))
        found = program.evaluate({name: value.reshape(5, -1).T for name, value in values.items()})
        for k in range(5):
            flat = [np.reshape(x[k], -1) for x in expected]
            assert_rounded([field[..., k] for field in found.values()], flat, robot, row, part(values, k))


@on_both
@pytest.mark.parametrize("row", SOME.values(), ids=SOME)
def test_straight_line_code_gives_the_numbers_of_general_code(robot, row):
    """As a batch with a partial block, as one state, with and without optional inputs."""
    fast = SPECIAL[of(robot)]
    assert task_of(fast, row).quantity.straight
    for optional in (False, True) if row.optional else (False,):
        values = draw(robot, row, 19, seed=2, optional=optional)
        expected, found = computed(robot, row, values), computed(fast, row, values)
        for k in (0, 7, 18):
            assert_rounded(part(found, k), part(expected, k), robot, row, part(values, k))
        one = computed(fast, row, part(values, 18))
        assert_rounded(one, part(expected, 18), robot, row, part(values, 18))


ZOO = {name: fd.robots.get(name) for name in fd.robots.names()}
ZOO |= {
    f"{kind}-{seed}": any_robot(kind, 2 + seed, seed, 0.3, True) for kind in ("tree", "square") for seed in range(2)
}


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="takes long in plain Python")
@pytest.mark.parametrize("name", ZOO)
def test_torques_of_10000_states_agree_to_1e_13(name):
    robot = ZOO[name]
    values = draw(robot, INVERSE_DYNAMICS, 10_000, seed=3)
    expected = robot.inverse_dynamics(**values)
    found = robot.specialize().inverse_dynamics(**values)
    assert np.abs(found - expected).max() <= 1e-13 * np.abs(expected).max()


@pytest.mark.parametrize("robot", [PUMA, fd.robots.irb1400(coupled=True)], ids=["joints", "angles that are added"])
def test_single_precision_is_as_exact_as_general_code(robot):
    q, qd, qdd = draw(robot, INVERSE_DYNAMICS, 200, seed=4).values()
    q = q + 300.0  # whole turns are taken off before an offset is added
    exact = robot.inverse_dynamics(*(np.float64(np.float32(x)) for x in (q, qd, qdd)))
    errors = [
        np.abs(each.inverse_dynamics(q, qd, qdd, dtype=np.float32) - exact).max() / np.abs(exact).max()
        for each in (robot, robot.specialize())
    ]
    assert errors[1] <= 4 * max(errors[0], np.finfo(np.float32).eps)  # rounded in another order


def test_any_memory_order_out_and_threads():
    values = draw(PUMA, MASS_MATRIX, 4, 9, seed=5)
    q = values["q"]
    expected = FAST.mass_matrix(q)
    assert expected.shape == (4, 9, 6, 6)
    strided = np.empty((8, 9, 6, 6))[::2]
    fortran = np.empty((6, 6, 9, 4)).T
    for given in (q, np.asfortranarray(q), np.repeat(q, 2, axis=-1)[..., ::2], q.tolist()):
        for out in (None, strided, fortran):
            assert np.array_equal(FAST.mass_matrix(given, out=out), expected)
    many = np.tile(q.reshape(36, 6), (2000, 1))
    assert np.array_equal(FAST.mass_matrix(many, threads=2), FAST.mass_matrix(many))


# ---------------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize("count", [None, 1, 20], ids=["one", "partial block", "blocks"])
def test_no_value_that_is_not_finite_passes(count):
    """Not even where a result does not depend on it: q of the first joint, whose axis is vertical."""
    lead = () if count is None else (count,)
    for bad in (np.nan, np.inf, -np.inf):
        for name in ("q", "qd", "qdd"):
            for joint in range(6):
                values = draw(PUMA, INVERSE_DYNAMICS, *lead, seed=6)
                values[name][(*([-1] * len(lead)), joint)] = bad
                with pytest.raises(fd.NotFiniteError, match=f"^{name}.*{'nan' if np.isnan(bad) else 'inf'}"):
                    FAST.inverse_dynamics(**values)


def test_results_beyond_the_range_are_errors():
    with pytest.raises(fd.NotFiniteError, match=r"result of puma560 .*beyond the range"):
        FAST.inverse_dynamics(np.zeros((3, 6)), np.full((3, 6), 1e200), np.zeros((3, 6)))


@pytest.mark.parametrize("method", ["aba", "crba"])
@pytest.mark.parametrize("lead", [(), (3,)], ids=["one", "batch"])
def test_singular_mass_matrices_name_the_joint(method, lead):
    arm = fd.robots.two_link()
    bare = changed(arm, links=[*arm.all_links[:-1], fd.Link(arm.all_links[-1].name)])
    zero = np.zeros((*lead, 2))
    for robot in (bare, bare.specialize()):
        with pytest.raises(fd.SingularMassMatrixError, match="joint 'joint2' moves no inertia"):
            robot.forward_dynamics(zero, zero, zero + 1.0, method=method)


# ---------------------------------------------------------------------------------------------- calls


@machine_code
@pytest.mark.parametrize("name", BOTH)
def test_bound_calls_and_c_functions_run_straight_line_code(name):
    robot, fast = BOTH[name], SPECIAL[name]
    values = draw(robot, INVERSE_DYNAMICS, seed=7, optional=True)
    loop = bound(fast, "inverse_dynamics", "forward_dynamics")
    for given in (values, {**values, "wrenches": 0.0 * values["wrenches"]}):
        for field, value in given.items():
            getattr(loop, field)[:] = value
        assert loop.inverse_dynamics() == 0
        expected = robot.inverse_dynamics(**given)
        assert_rounded((loop.tau,), (expected,), robot, INVERSE_DYNAMICS, values)
    loop.qd[-1] = np.nan
    assert [loop.inverse_dynamics(), loop.forward_dynamics()] == [1, 1]
    function = fast.c_function("inverse_dynamics")
    call = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 5)(function.address)
    tau, memory = np.empty(robot.n), function.workspace()
    arrays = [np.ascontiguousarray(values[field]) for field in ("q", "qd", "qdd")]
    assert call(*(x.ctypes.data for x in (*arrays, tau, memory))) == 0
    without = {field: values[field] for field in ("q", "qd", "qdd")}
    assert_rounded((tau,), (robot.inverse_dynamics(**without),), robot, INVERSE_DYNAMICS, without)


@machine_code
def test_general_code_runs_on_the_same_workspace():
    loop = FAST.bind("inverse_dynamics")
    loop.q[:] = 0.3
    assert numba.njit(lambda address: workspace.inverse_dynamics(address))(loop.address) == 0
    assert np.allclose(loop.tau, PUMA.inverse_dynamics(loop.q, loop.qd, loop.qdd), rtol=0, atol=100 * EPS)


@machine_code
def test_payloads_of_bound_robots_need_general_code():
    with pytest.raises(fd.ArgumentError, match=r"puma560 is specialised.*with_payload\(...\).specialize\(\)"):
        FAST.bind("gravity_forces").payload(1.0)


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy, lambda arm: pickle.loads(pickle.dumps(arm))])
def test_copies_stay_specialised_and_variations_do_not(how):
    other = how(FAST)
    assert other.specialized
    assert other == FAST == PUMA
    assert repr(other) == repr(PUMA)[:-1] + ", specialised>"
    assert not FAST.with_payload(1.0).specialized
    assert not PUMA.specialized
    assert FAST.specialize().specialized
    assert repr(GEARED.specialize()).endswith("joints, specialised>")


def test_only_named_frames_have_code_of_their_own():
    def straight(**options):
        return FAST._in(options.get("frame"), options.get("point"), False)[QUANTITIES["jacobian"]].quantity.straight

    assert straight()
    assert straight(frame="link3")
    assert not straight(point=(0, 0, 0.1))
    assert not straight(frame=fd.Frame("tcp", "link6", np.eye(4)))
    q = draw(PUMA, MASS_MATRIX, 3, seed=8)["q"]
    assert np.allclose(FAST.jacobian(q, "link3"), PUMA.jacobian(q, "link3"), rtol=0, atol=50 * EPS)
    assert np.array_equal(FAST.jacobian(q, point=(0, 0, 0.1)), PUMA.jacobian(q, point=(0, 0, 0.1)))


def test_what_has_no_straight_line_is_general():
    q = draw(PUMA, MASS_MATRIX, 3, seed=9)["q"]
    assert np.array_equal(FAST.singular_values(q), PUMA.singular_values(q))
    assert not FAST._in(None, None, False)[QUANTITIES["task_dynamics"]].quantity.straight


def test_robots_of_many_joints_keep_general_code():
    chain = fd.robots.random_chain(rows.LARGEST + 1, seed=0).specialize()
    assert not chain.task(INVERSE_DYNAMICS).quantity.straight


def test_a_fleet_of_specialised_robots_is_a_fleet():
    fleet = fd.stack([FAST, FAST.with_payload(1.0)])
    assert np.allclose(fleet.gravity_forces(np.ones(6))[0], PUMA.gravity_forces(np.ones(6)), rtol=0, atol=100 * EPS)
    post = fd.Robot([fd.Link("base")], [], name="post").specialize()
    assert post.inverse_dynamics([], [], []).shape == (0,)


# ---------------------------------------------------------------------------------------------- programs


def test_what_rounding_left_of_zeros_and_ones_is_cleaned():
    P = PUMA.model.P
    clean = cleaned(P)
    assert np.abs(P[r.COS_ALPHA]).min() < 1e-16
    assert set(np.abs(clean[r.COS_ALPHA])) == {0.0, 1.0}
    assert set(np.abs(clean[r.SIN_ALPHA])) == {0.0, 1.0}
    assert np.abs(clean - P).max() <= 16 * EPS * np.abs(P).max()
    assert np.array_equal(cleaned(ARM.model.P)[[r.MASS, r.ARMATURE]], ARM.model.P[[r.MASS, r.ARMATURE]])


def kept_file() -> tuple[Array, list]:
    row = replace(INVERSE_DYNAMICS)
    return cache_directory() / f"program-{rows._key(row, PUMA.parameters, False)}.json", [row, PUMA.parameters, False]


def test_programs_are_kept_on_disk_and_made_again_if_damaged():
    file, arguments = kept_file()
    code = rows._code(*arguments)
    assert json.loads(file.read_text()) == json.loads(json.dumps(code))
    for damaged in ("", "[1, 2", "[[], []]", file.read_text()[:-20]):
        file.write_text(damaged)
        assert json.dumps(rows._code(*arguments)) == json.dumps(code)
        assert json.loads(file.read_text()) == json.loads(json.dumps(code))
    assert not list(file.parent.glob(f"*{file.name}?*")), "nothing half-written is left"


def test_the_key_of_a_program_is_what_it_depends_on():
    keys = {
        rows._key(row, robot.parameters, optional)
        for row in (INVERSE_DYNAMICS, MASS_MATRIX)
        for robot in (PUMA, PUMA.with_payload(1e-9), GEARED)
        for optional in (False, True)
    }
    assert len(keys) == 12


def test_tracing_runs_the_text_once_for_each_condition():
    program = trace(QUANTITIES["forward_dynamics"], PUMA.parameters)
    assert [condition.index for condition in program.conditions] == [5, 4, 3, 2, 1, 0]


@machine_code
def test_warming_up_compiles_what_calls_use():
    fast = fd.robots.two_link().specialize()
    fd.warmup(fast, ["gravity_forces", "jacobian"])
    tasks = [fast.task(QUANTITIES["gravity_forces"]), fast._in(None, None, False)[QUANTITIES["jacobian"]]]
    assert all(task.quantity.straight for task in tasks)
    assert all(task.entry._ready for task in tasks)
