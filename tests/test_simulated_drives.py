"""Simulated motions at their edges: stops, friction of soft joints, noise, batches, users' functions, bad arguments."""

import numba
import numpy as np
import pytest
from numba.core import config

import fastdyn as fd
from fastdyn import control
from fastdyn.simulation import FlexibleJoints, run
from fastdyn.simulation.drives import least_inertias
from tests.samples import geared, with_motors

PUMA = fd.robots.puma560().without_friction()
LIGHT = fd.Robot(  # 0.001 kg m^2 behind a motor that counts for 1 kg m^2
    [fd.Link("base"), fd.Link("rod", 0.1, (0, 0, 0), np.eye(3) * 1e-3)],
    [fd.Joint("j", "base", "rod", axis=(0, 0, 1), motor=fd.Motor(1e-4, 100.0, coulomb=(0.02, -0.02)),
              limits=fd.Limits(-1, 1))],
)  # fmt: skip
SLIDE = fd.Robot(  # turns with 0.01 kg m^2 if the slide is in, with 45 if it is 3 m out
    [fd.Link("base"), fd.Link("s", 0.1, (0, 0, 0), np.eye(3) * 0.01), fd.Link("t", 5.0, (0, 0, 0), np.eye(3) * 0.001)],
    [fd.Joint("turn", "base", "s", axis=(0, 0, 1), limits=fd.Limits(-3, 0.5)),
     fd.Joint("slide", "s", "t", kind="prismatic", axis=(1, 0, 0))],
)  # fmt: skip


def test_friction_of_soft_joints_is_full_where_the_motor_stops_within_a_step():
    springs = FlexibleJoints(50.0, 0.05)
    found = LIGHT.simulate([0.0], [1.0], 0.3, 1e-3, flexible=springs)
    sudden = LIGHT.simulate([0.0], [1.0], 0.3, 1e-4, flexible=springs, slip=1e-4, every=10)
    np.testing.assert_allclose(found.motor_qd, sudden.motor_qd, rtol=0, atol=2e-3)


@pytest.mark.parametrize("integrator", ["rk4", "euler", "implicit"])
@pytest.mark.parametrize("start", [3.0, 1.0])
def test_stops_take_energy_where_inertia_falls_after_the_start(integrator, start):
    r = SLIDE.with_gravity((0, 0, 0)).simulate([0.5, start], [1.0, -3.0], 1.5, 1e-3, integrator=integrator, stops=True)
    assert (r.kinetic_energy <= 1.01 * r.kinetic_energy[0]).all()
    assert r.q[-1, 0] < 0.5 < r.q[:, 0].max()


@pytest.mark.parametrize("integrator", ["rk4", "implicit"])
@pytest.mark.parametrize("springs", [None, FlexibleJoints(50.0, 0.05)], ids=["rigid", "flexible"])
@pytest.mark.parametrize("way", [1, -1])
def test_stops_hold_the_rotor_behind_a_spring_too(springs, integrator, way):
    r = LIGHT.simulate([0.9 * way], [3.0 * way], 0.5, 1e-3, integrator=integrator, stops=True, flexible=springs)
    # a rotor is stopped like a rigid joint; the rod swings on by v sqrt(I / k)
    assert (way * r.q).max() < 1.02 + (3.0 * np.sqrt(1e-3 / 50) if springs else 0.0)
    assert (way * r.q).max() > 1.0


def test_least_inertias_are_those_that_torques_meet():
    M = SLIDE.mass_matrix([0.0, 0.0])
    np.testing.assert_allclose(least_inertias(SLIDE), 1 / np.diag(np.linalg.inv(M)), rtol=0.05)


@pytest.mark.parametrize("more", [{"stops": True}, {"control_period": 1e-3, "noise": (1e-3, 1e-2), "seed": 3}])
def test_a_motion_does_not_depend_on_those_beside_it(more):
    arm = with_motors(fd.robots.panda(), lambda joint: fd.Motor(1e-4, 100.0, coulomb=(0.02, -0.03)))
    starts = arm.limits.position.mean(axis=1) + np.random.default_rng(2).uniform(-1, 1, (9, 7))
    law = control.pd_gravity(arm.limits.position[:, 1], 300.0, 20.0)
    together = arm.simulate(starts, np.zeros(7), 0.1, 1e-3, law, **more)
    place = 0 if "noise" in more else 4  # the first, the second, ... motion each have their noise
    alone = arm.simulate(starts[place], np.zeros(7), 0.1, 1e-3, law, **more)
    np.testing.assert_array_equal(alone.q, together.q[place])
    shorter = arm.simulate(starts, np.zeros(7), 0.03, 1e-3, law, **more)
    np.testing.assert_array_equal(shorter.q, together.q[:, :31])


@pytest.mark.parametrize("springs", [None, FlexibleJoints([2e3] * 3 + [5.0] * 3, 0.01)], ids=["rigid", "flexible"])
def test_noise_is_that_of_a_built_in_law_for_a_python_function(springs):
    arm = with_motors(PUMA, lambda joint: fd.Motor(2e-4, 80.0))
    given = dict(control_period=2e-3, noise=(1e-3, 1e-2), seed=5, flexible=springs)
    ours = arm.simulate(np.zeros((3, 6)), np.zeros(6), 0.05, 1e-3, control.pd([0.1] * 6, 50.0, 10.0), **given)
    python = arm.simulate(np.zeros((3, 6)), np.zeros(6), 0.05, 1e-3, lambda t, q, qd: 50 * (0.1 - q) - 10 * qd, **given)
    np.testing.assert_allclose(python.q, ours.q, rtol=0, atol=1e-12)
    assert np.ptp(ours.q[:, -1], axis=0).min() > 0


def test_friction_of_the_arm_is_implicit_too():
    arm = with_motors(PUMA, lambda joint: fd.Motor(2e-4, 80.0)).with_gravity((0, 0, 0))
    heavy = FlexibleJoints(1e5, 1e3, np.full(6, 3e3))
    r = arm.simulate(np.zeros(6), np.full(6, 0.5), 0.1, 1e-3, integrator="implicit", flexible=heavy)
    assert (np.diff(r.energy) <= 0).all()


def test_adaptive_steps_survive_a_trial_beyond_the_range_of_numbers_and_functions_that_write():
    arm = with_motors(PUMA, lambda joint: fd.Motor(2e-4, 80.0))
    stiff = FlexibleJoints(2e4)
    r = arm.simulate(np.full(6, 0.3), np.zeros(6), 0.1, 1e-2, integrator="DOP853", flexible=stiff)
    fine = arm.simulate(np.full(6, 0.3), np.zeros(6), 0.1, 1e-5, flexible=stiff, every=1000)
    np.testing.assert_allclose(r.q, fine.q, rtol=0, atol=1e-6)

    def writes(t, q, qd):
        torque = 5.0 - q
        q[:] = 100.0
        return torque

    found = PUMA.simulate(np.zeros((2, 6)), np.zeros(6), 0.02, 1e-2, writes, "RK45", every=5)  # a record only at 0
    assert found.q.shape == (2, 1, 6)
    law = control.pd([5.0] * 6, 1.0, 0.0)
    found, wanted = (PUMA.simulate(np.zeros(6), np.zeros(6), 0.02, 1e-2, each, "RK45") for each in (writes, law))
    np.testing.assert_allclose(found.q, wanted.q, rtol=0, atol=1e-9)


@pytest.mark.parametrize("integrator", ["rk4", "RK45"])
@pytest.mark.parametrize("lead", [(0,), (3, 0)])
def test_no_motions_are_no_error(lead, integrator):
    for law in (None, control.pd([0.0] * 6, 1.0, 1.0), lambda t, q, qd: 0 * q):
        r = PUMA.simulate(np.zeros((*lead, 6)), np.zeros(6), 0.02, 1e-3, law, integrator)
        assert r.q.shape == r.tau.shape == (*lead, 21, 6)
        assert r.energy.shape == (*lead, 21)


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="straight-line code is machine code")
def test_a_specialised_robot_is_prepared_once():
    fast = fd.robots.two_link().specialize()
    for _ in range(3):
        fast.simulate([0.1, 0.2], [0.0, 0.0], 0.01, 1e-3)
    assert len(run._OWN[fast.parameters.specialised]) == 1


def test_a_controllers_model_may_have_more_joints_but_not_another_fleet():
    small, big = geared(7, 5, seed=3), geared(20, 5, seed=3)
    law = control.joint_impedance(np.full(5, 0.1), 1.0, 1.0, robot=big)
    r = small.simulate(np.full((11, 5), 0.2), np.zeros(5), 0.01, 1e-3, law)
    np.testing.assert_allclose(r.tau[:, 0], big.gravity_forces(r.q[:, 0]) - 0.1, rtol=1e-9, atol=1e-9)
    arm = fd.robots.two_link()
    fleet = arm.vary(payload=[0.0, 1.0, 2.0])
    law = control.pd_gravity([0.0, 0.0], 1.0, 1.0, robot=fleet)
    with pytest.raises(fd.ArgumentError, match=r"robot of the controller is a fleet of 3 robots: expected one robot$"):
        arm.simulate([0.0, 0.0], [0.0, 0.0], 0.01, 1e-3, law)
    with pytest.raises(fd.ArgumentError, match="is a fleet of 3 robots: expected one robot, or a fleet of 2"):
        arm.vary(payload=[0.0, 1.0]).simulate([0.0, 0.0], [0.0, 0.0], 0.01, 1e-3, law)


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="plain Python needs no types")
def test_what_numba_cannot_compile_is_said():
    arm = fd.robots.two_link()
    hold = numba.njit(lambda t, q, qd, tau: None)  # without a name
    assert (arm.simulate([0.0, 0.0], [0.0, 0.0], 0.01, 1e-3, hold).tau == 0).all()
    with pytest.raises(fd.ArgumentError, match=r"controller: Numba cannot compile controller\(t, q, qd, tau\)"):
        arm.simulate([0.0, 0.0], [0.0, 0.0], 0.01, 1e-3, numba.njit(lambda t: None))
    with pytest.raises(fd.ArgumentError, match=r"controller: expected one of fastdyn\.control or a Python function"):
        arm.vary(payload=[0.0, 1.0]).simulate([0.0, 0.0], [0.0, 0.0], 0.01, 1e-3, hold)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seed": -1, "noise": (0.1, 0.1), "control_period": 1e-3}, "seed is -1: expected a whole number"),
        ({"seed": "x"}, "seed is 'x': expected a whole number"),
        ({"flexible": 1e4}, "flexible is a float: expected simulation.FlexibleJoints"),
        ({"delay": np.zeros(2)}, "delay is array.*expected zero, or a number of seconds"),
        ({"stops": np.ones(6)}, "stops is a ndarray: expected True or False"),
        ({"integrator": np.zeros(2)}, "integrator is array.*expected one of 'rk4'"),
        ({"duration": 1e300, "dt": 1e-10}, "duration is 1e.300 s: expected a whole number of steps"),
        ({"controller": control.pd(lambda t: None, 1.0, 1.0)}, r"reference\(t\) is a NoneType: expected a tuple"),
    ],
)
def test_more_bad_arguments_are_named(change, message):
    given = {"q0": [0.0] * 6, "qd0": [0.0] * 6, "duration": 0.1, "dt": 1e-3} | change
    with pytest.raises(fd.FastdynError, match=message):
        PUMA.simulate(**given)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda arm: control.MomentumObserver(arm, 10.0, "x"), "period is 'x' s: expected one above zero"),
        (lambda arm: control.MomentumObserver(arm, 10.0, [0.1]), "period is .* s: expected one above zero"),
        (lambda arm: control.MomentumObserver(arm, 10.0, 0.01, start=3), "start is 3: expected a pair q, qd"),
        (lambda arm: control.MomentumObserver(fd.stack([arm]), 10.0, 0.01), "robot is a Fleet: expected a Robot"),
        (lambda arm: control.MomentumObserver(arm, 10.0, 0.01)([1.0], [0, 0], [0, 0]), r"q has shape \(1,\)"),
        (lambda arm: control.MomentumObserver(arm, 10.0, 0.01)([0, 0], 0.0, [0, 0]), r"qd has shape \(\)"),
        (lambda arm: arm.simulate([0, 0], [0, 0], 0.01).plot("a"), "sample is 'a': expected the index of one motion"),
        (lambda arm: arm.simulate([[0, 0]], [0, 0], 0.01).plot(0.5), "sample is 0.5: expected the index of one motion"),
    ],
)
def test_bad_arguments_beside_simulation_are_named(call, message):
    with pytest.raises(fd.FastdynError, match=message):
        call(fd.robots.two_link())


def test_a_batch_that_blows_up_between_records_is_named():
    law = control.pd([0.1] * 6, [[1.0], [1e7], [1.0]], 0.0)
    with pytest.raises(fd.NotFiniteError, match=r"the motion of joint '.*' of sample 1 of puma560 has left the range"):
        PUMA.simulate(np.zeros((3, 6)), np.zeros(6), 20.0, 1e-2, law, every=2000)
