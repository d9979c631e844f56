"""Simulated motions: energy, order of the integrators, SciPy, controllers, drives, errors."""

import os
import signal
import subprocess
import sys
import time

import numba
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import fastdyn as fd
from fastdyn import control
from fastdyn.simulation import FlexibleJoints
from tests.samples import GEARED, with_motors

PUMA = fd.robots.puma560().without_friction()
STARTS = np.random.default_rng(5).uniform(-1, 1, (2, 5, 6))

SOFT = np.array([2e3, 2e3, 2e3, 5.0, 5.0, 5.0])  # N m/rad: the wrist's links are light


def drift(robot, dt, integrator, starts, **options):
    """The largest change of energy of each motion, relative to its largest kinetic energy."""
    r = robot.simulate(*starts, 0.5, dt, integrator=integrator, **options)
    return np.abs(r.energy - r.energy[..., :1]).max(-1) / r.kinetic_energy.max(-1)


def test_the_energy_of_a_passive_arm_drifts_by_the_order_of_the_integrator():
    for integrator, order in (("rk4", 4), ("euler", 1)):
        coarse, fine = (np.median(drift(PUMA, dt, integrator, STARTS)) for dt in (2e-3, 1e-3))
        # the error of energy is of the method's order or one more; rounding is far below
        assert 0.8 * 2**order < coarse / fine < 1.25 * 2 ** (order + 1)


def test_flexible_joints_conserve_energy_to_the_order_of_rk4():
    springs = FlexibleJoints(stiffness=SOFT)
    coarse, fine = (np.median(drift(PUMA, dt, "rk4", STARTS, flexible=springs)) for dt in (5e-4, 2.5e-4))
    assert 0.8 * 16 < coarse / fine < 1.25 * 32


@pytest.mark.parametrize("integrator", ["rk4", "implicit"])
@pytest.mark.parametrize("springs", [None, FlexibleJoints(SOFT, SOFT / 400, 0.01)], ids=["rigid", "flexible"])
def test_with_friction_energy_only_falls(integrator, springs):
    rubbing = with_motors(PUMA, lambda joint: fd.Motor(2e-4, 80.0, viscous=1e-3, coulomb=(0.02, -0.03)))
    rubbing = rubbing.with_gravity((0, 0, 0))
    r = rubbing.simulate(*STARTS, 0.5, 2.5e-4, integrator=integrator, flexible=springs)
    assert (np.diff(r.energy) <= 1e-9 * r.energy[..., :1]).all()
    assert (r.energy[..., -1] < 0.9 * r.energy[..., 0]).all()


def scipy_motion(robot, q0, qd0, t, torque):
    n = len(q0)

    def rate(time, x):
        return np.concatenate([x[n:], robot.forward_dynamics(x[:n], x[n:], torque(time, x[:n], x[n:]))])

    return solve_ivp(rate, (0, t[-1]), [*q0, *qd0], "DOP853", t, rtol=1e-12, atol=1e-12).y.T[:, :n]


@pytest.mark.parametrize("robot", [PUMA, GEARED, PUMA.specialize()], ids=["joints", "coupled", "specialised"])
def test_motions_are_those_of_scipy(robot):
    n = robot.n
    q0, qd0, tau = np.random.default_rng(n).uniform(-0.5, 0.5, (3, n))
    smooth = robot.without_friction()
    r = (robot if robot.specialized else smooth).simulate(q0, qd0, 0.3, 2.5e-4, tau=tau, every=120)
    expected = scipy_motion(smooth, q0, qd0, r.t, lambda t, q, qd: tau)
    # fourth order: errors of about (w dt)^4 with w of some 1/s up to 100 1/s of the fastest modes
    np.testing.assert_allclose(r.q, expected, rtol=0, atol=1e-8)


LAWS = {
    "joint_impedance": lambda ref, m: control.joint_impedance(ref, 50.0, 10.0, m),
    "pd": lambda ref, m: control.pd(ref, 50.0, 10.0),
    "pd_gravity": lambda ref, m: control.pd_gravity(ref, 50.0, 10.0, m),
    "computed_torque": lambda ref, m: control.computed_torque(ref, 100.0, 20.0, m),
    "pd_feedforward": lambda ref, m: control.pd_feedforward(ref, 50.0, 10.0, m),
}


def law(name, robot, q, qd, q_d, qd_d, qdd_d):
    """The same laws, written out."""
    e, ed = q_d - q, qd_d - qd
    if name == "computed_torque":
        return robot.inverse_dynamics(q, qd, qdd_d + 100 * e + 20 * ed)
    extra = {
        "pd": lambda: 0.0,
        "pd_gravity": lambda: robot.gravity_forces(q),
        "pd_feedforward": lambda: robot.inverse_dynamics(q_d, qd_d, qdd_d),
        "joint_impedance": lambda: (
            robot.inverse_dynamics(q, 0 * q, qdd_d) + np.einsum("...ij,...j", robot.coriolis_matrix(q, qd), qd_d)
        ),
    }[name]()
    return 50 * e + 10 * ed + extra


def swinging(n):
    """A reference: sines of other frequencies."""
    w = np.linspace(1.0, 2.0, n)
    return lambda t: (
        0.3 * np.sin(np.multiply.outer(t, w)),
        0.3 * w * np.cos(np.multiply.outer(t, w)),
        -0.3 * w**2 * np.sin(np.multiply.outer(t, w)),
    )


@pytest.mark.parametrize(
    ("robot", "name"),
    [*((PUMA, name) for name in LAWS), (GEARED, "computed_torque"), (GEARED, "pd")],
    ids=lambda each: each if isinstance(each, str) else type(each).__name__,
)
def test_controllers_act_continuously_as_their_laws_say(name, robot):
    robot = robot.without_friction()
    n, model = robot.n, robot.with_payload(0.5, link=robot.all_links[-1].name)
    q0, qd0 = np.random.default_rng(n).uniform(-0.2, 0.2, (2, n))
    reference = swinging(n)
    r = robot.simulate(q0, qd0, 0.2, 5e-4, LAWS[name](reference, model), every=40)
    expected = scipy_motion(robot, q0, qd0, r.t, lambda t, q, qd: law(name, model, q, qd, *reference(t)))
    np.testing.assert_allclose(r.q, expected, rtol=0, atol=1e-8)
    # the recorded torque is the law's
    wanted = law(name, model, r.q, r.qd, *reference(r.t))
    np.testing.assert_allclose(r.tau, wanted, rtol=1e-10, atol=1e-10 * np.abs(wanted).max())


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("robot", [PUMA, GEARED], ids=["joints", "coupled"])
def test_controllers_are_bound_and_c_functions(name, robot):
    n, rng = robot.n, np.random.default_rng(3)
    state = rng.uniform(-1, 1, (5, n))
    loop = robot.bind(name)
    for field, value in zip(("q", "qd", "q_d", "qd_d", "qdd_d"), state, strict=True):
        if hasattr(type(loop), field) or field in vars(loop):
            getattr(loop, field)[:] = value
    loop.kp[:], loop.kd[:] = (100.0, 20.0) if name == "computed_torque" else (50.0, 10.0)
    assert getattr(loop, name)() == 0
    expected = law(name, robot, *state)
    np.testing.assert_allclose(loop.tau, expected, rtol=1e-10, atol=1e-10 * np.abs(expected).max())
    assert name in robot.c_function(name).declaration


@pytest.mark.parametrize("robot", [PUMA, GEARED], ids=["joints", "coupled"])
def test_the_law_in_task_space_is_what_it_says(robot):
    n, rng, tip = robot.n, np.random.default_rng(4), robot.all_links[-1].name
    q, qd = rng.uniform(-1, 1, (2, n))
    goal, speed = robot.forward_kinematics(q + 0.3, tip), rng.uniform(-1, 1, 6)
    kx, dx = rng.uniform(10, 50, (2, 6))
    loop = robot.bind("task_space_pd", frame=tip)
    loop.q[:], loop.qd[:], loop.pose_d[:], loop.velocity_d[:], loop.kx[:], loop.dx[:] = q, qd, goal, speed, kx, dx
    assert loop.task_space_pd() == 0
    J, pose = robot.jacobian(q, tip), robot.forward_kinematics(q, tip)
    turn = Rotation.from_matrix(goal[:3, :3] @ pose[:3, :3].T).as_rotvec()
    angle = np.linalg.norm(turn)
    e = np.concatenate([goal[:3, 3] - pose[:3, 3], 2 * np.sin(angle / 2) * turn / angle])
    expected = robot.gravity_forces(q) + J.T @ (kx * e + dx * (speed - J @ qd))
    np.testing.assert_allclose(loop.tau, expected, rtol=0, atol=1e-11 * np.abs(expected).max())


def test_a_frame_is_led_along_a_path_in_task_space():
    start = np.array([0.1, -0.4, 0.5, 0.2, 0.7, 0.1])
    pose = PUMA.forward_kinematics(start)

    def path(t):
        poses = np.broadcast_to(pose, (len(t), 4, 4)).copy()
        poses[:, 2, 3] += 0.05 * np.sin(2 * t)
        speeds = np.zeros((len(t), 6))
        speeds[:, 2] = 0.1 * np.cos(2 * t)
        return poses, speeds

    stiff, damped = [9e3] * 3 + [300] * 3, [900] * 3 + [30] * 3
    r = PUMA.simulate(start, np.zeros(6), 2.0, 5e-4, control.task_space_pd(path, stiff, damped), every=20)
    error = np.abs(PUMA.forward_kinematics(r.q) - path(r.t)[0]).max(axis=(-2, -1))
    assert error[40:].max() < 0.005  # the inertias are not compensated
    assert np.ptp(PUMA.forward_kinematics(r.q)[:, 2, 3]) > 0.08


def test_the_observer_finds_the_torques_of_a_stop():
    arm = fd.robots.panda()
    q0 = arm.limits.position.mean(axis=1)
    r = arm.simulate(q0, np.zeros(7), 0.6, 5e-4, tau=arm.gravity_forces(q0) + 2.0 * np.eye(7)[6], stops=True)
    stops = arm.inverse_dynamics(r.q, r.qd, r.qdd) - r.tau  # all that acts beside the motors
    observer = control.MomentumObserver(arm, 100.0, 5e-4)
    found = np.array([observer(*each) for each in zip(r.q, r.qd, r.tau, strict=True)])
    filtered = np.zeros_like(found)
    for k in range(len(stops) - 1):  # the filter that the observer is
        filtered[k + 1] = filtered[k] + 100.0 * 5e-4 * (stops[k] - filtered[k])
    assert np.abs(stops[:, 6]).max() > 1.5
    np.testing.assert_allclose(
        found, filtered, rtol=0, atol=0.2 * np.abs(filtered).max()
    )  # as a stop changes in a step
    with pytest.raises(fd.ArgumentError, match=r"period is 0\.1 s: expected one above zero and below 2 / gain"):
        control.MomentumObserver(arm, 100.0, 0.1)


@pytest.mark.parametrize("robot", [PUMA, GEARED], ids=["joints", "coupled"])
def test_the_observer_row_gives_momenta_and_drain(robot):
    n, rng = robot.n, np.random.default_rng(8)
    q, qd, tau = rng.uniform(-1, 1, (3, n))
    loop = robot.bind("momentum_observer")
    loop.q[:], loop.qd[:], loop.tau[:], loop.ko[:], loop.period[...] = q, qd, tau, 3.0, 0.01
    assert loop.momentum_observer() == 0
    p = robot.mass_matrix(q) @ qd
    C = robot.coriolis_matrix(q, qd)
    drain = robot.bias_forces(q, qd) - C @ qd - C.T @ qd
    np.testing.assert_allclose(loop.external, 3 * p, rtol=0, atol=1e-12 * np.abs(p).max())
    expected = 0.01 * (tau - drain + 3 * p)
    np.testing.assert_allclose(loop.observed_next, expected, rtol=0, atol=1e-11 * np.abs(expected).max())


def test_a_fleet_moves_as_its_robots_do():
    masses = np.linspace(0, 3, 11)
    fleet = PUMA.vary(payload=masses)
    starts = np.random.default_rng(1).uniform(-1, 1, (2, 2, 11, 6))
    for law in (control.pd_gravity([0.1] * 6, 50.0, 5.0), control.pd_gravity([0.1] * 6, 50.0, 5.0, PUMA)):
        together = fleet.simulate(*starts, 0.05, 1e-3, law, threads=2)
        assert together.q.shape == (2, 11, 51, 6)
        for k in (0, 5, 10):
            one = fleet[k].simulate(*starts[:, :, k], 0.05, 1e-3, law)
            np.testing.assert_allclose(together.q[:, k], one.q, rtol=0, atol=1e-9)
            np.testing.assert_allclose(together.energy[:, k], one.energy, rtol=1e-9)
    shared = fleet.simulate([0.0] * 6, [0.0] * 6, 0.05, 1e-3, lambda t, q, qd: -10 * qd + masses[:, None])
    expected = fleet[4].simulate([0.0] * 6, [0.0] * 6, 0.05, 1e-3, lambda t, q, qd: -10 * qd + masses[4])
    np.testing.assert_allclose(shared.q[4], expected.q, rtol=0, atol=1e-9)
    with pytest.raises(fd.ArgumentError, match="batch axes"):
        fleet.simulate(np.zeros((3, 6)), np.zeros(6), 0.05, 1e-3)


@pytest.mark.parametrize("springs", [None, FlexibleJoints(SOFT, SOFT / 400)], ids=["rigid", "flexible"])
def test_adaptive_steps_agree_with_fixed_ones(springs):
    law = control.computed_torque(swinging(6), 25.0, 10.0)
    ours = PUMA.simulate(*STARTS[:, :2], 0.1, 1e-4, law, flexible=springs, every=100)
    scipys = PUMA.simulate(*STARTS[:, :2], 0.1, 1e-2, law, "DOP853", flexible=springs, rtol=1e-11, atol=1e-11)
    for name in ("t", "q", "qd", "qdd", "tau") + ("motor_q", "motor_qd") * (springs is not None):
        wanted = getattr(ours, name)
        np.testing.assert_allclose(getattr(scipys, name), wanted, rtol=0, atol=1e-7 * max(1, np.abs(wanted).max()))
    with pytest.raises(fd.ArgumentError, match="'DOP853', of SciPy, which does not go with control_period"):
        PUMA.simulate(*STARTS, 0.1, 1e-3, law, "DOP853", control_period=1e-3)


def test_a_compiled_function_of_the_user_is_a_controller():
    @numba.njit
    def steer(t, q, qd, tau):
        for j in range(len(q)):
            tau[j] = 50 * (0.2 * np.sin(t) - q[j]) - 10 * qd[j]

    def reference(t):
        zero = np.zeros((len(t), 6))
        return zero + 0.2 * np.sin(t)[:, None], zero, zero

    ours = PUMA.simulate(*STARTS, 0.05, 1e-3, control.pd(reference, 50.0, 10.0))
    theirs = PUMA.simulate(*STARTS, 0.05, 1e-3, steer)
    np.testing.assert_allclose(theirs.q, ours.q, rtol=0, atol=1e-10)


def test_computed_torque_tracks_and_an_unknown_payload_spoils_it():
    reference = swinging(6)
    start = reference(np.zeros(1))
    heavy = PUMA.with_payload(1.0, (0, 0, 0.1))
    law = lambda model: control.computed_torque(reference, robot=model)  # noqa: E731
    exact, off, mended = (
        robot.simulate(start[0][0], start[1][0], 1.0, 1e-3, law(model))
        for robot, model in ((PUMA, None), (heavy, PUMA), (heavy, heavy))
    )
    error = [np.abs(r.q - reference(r.t)[0]).max() for r in (exact, off, mended)]
    assert error[0] < 1e-9  # fourth order at 1 ms
    assert error[2] < 1e-9
    assert error[1] > 1e-3


def test_a_batch_is_its_motions_one_by_one_in_any_number_of_threads():
    gains = np.linspace(10, 200, 19)[:, None]
    starts = np.random.default_rng(1).uniform(-1, 1, (2, 19, 6))
    together = PUMA.simulate(*starts, 0.05, 1e-3, control.pd_gravity([0.1] * 6, gains, 5.0))
    again = PUMA.simulate(*starts, 0.05, 1e-3, control.pd_gravity([0.1] * 6, gains, 5.0), threads=2)
    assert together.q.shape == (19, 51, 6)
    np.testing.assert_array_equal(together.q, again.q)
    for k in (0, 7, 18):
        one = PUMA.simulate(*starts[:, k], 0.05, 1e-3, control.pd_gravity([0.1] * 6, gains[k], 5.0))
        np.testing.assert_array_equal(one.q, together.q[k])


def test_a_python_function_holds_its_torque_as_a_built_in_law_does():
    def steer(t, q, qd):
        return 50 * (0.2 - q) - 10 * qd + PUMA.gravity_forces(q)

    given = dict(control_period=2e-3, delay=4e-3, torque_limits=[30.0] * 6)
    ours = PUMA.simulate(*STARTS, 0.1, 1e-3, control.pd_gravity([0.2] * 6, 50.0, 10.0), **given)
    python = PUMA.simulate(*STARTS, 0.1, 1e-3, steer, **given)
    np.testing.assert_allclose(python.q, ours.q, rtol=0, atol=1e-10)
    assert np.abs(ours.tau).max() == 30.0
    assert (ours.tau[:, :4] == 0).all()  # the first torque arrives after 4 ms, and is held for 2
    assert (ours.tau[:, 4:] != 0).any(axis=(1, 2)).all()


def test_whole_numbers_are_numbers():
    runs = [
        PUMA.simulate(start, start, 0.02, 1e-3, law)
        for start, law in (
            ([0] * 6, control.pd([1] * 6, [50] * 6, 10)),
            ([0.0] * 6, control.pd([1.0] * 6, 50.0, 10.0)),
            ([0] * 6, lambda t, q, qd: np.round(50 - 50 * q - 10 * qd).astype(int)),
            ([0] * 6, lambda t, q, qd: np.round(50 - 50 * q - 10 * qd)),
        )
    ]
    np.testing.assert_array_equal(runs[0].q, runs[1].q)
    np.testing.assert_array_equal(runs[2].q, runs[3].q)


def test_noise_is_measured_and_repeats_with_its_seed():
    law = control.pd_gravity([0.0] * 6, 50.0, 10.0)
    run = lambda **more: PUMA.simulate([0.0] * 6, [0.0] * 6, 2.0, 1e-3, law, control_period=1e-3, **more)  # noqa: E731
    silent, noisy = run(), run(noise=(1e-3, 0.0), seed=4)
    np.testing.assert_array_equal(noisy.q, run(noise=(1e-3, 0.0), seed=4).q)
    ratio = (noisy.tau - PUMA.gravity_forces(noisy.q)).std(axis=0) / 0.05  # kp times the deviation
    assert np.abs(silent.q).max() < 1e-12
    assert ((ratio > 0.9) & (ratio < 1.5)).all()


def test_coulomb_friction_holds_a_joint_and_does_not_chatter():
    arm = with_motors(fd.robots.two_link(g=9.81), lambda joint: fd.Motor(0.01, coulomb=(20.0, -20.0)))
    tau = arm.gravity_forces([0.0, 0.0]) * 0.5
    r = arm.simulate([0.0, 0.0], [0.0, 0.0], 1.0, 1e-3, tau=tau)
    assert np.abs(r.q[-1]).max() < 0.05  # it creeps
    signs = np.sign(np.diff(r.qd[100:], axis=0))
    assert (np.abs(np.diff(signs, axis=0)) > 1).mean() < 0.05
    free = arm.without_friction().simulate([0.0, 0.0], [0.0, 0.0], 1.0, 1e-3, tau=tau)
    assert np.abs(free.q[-1]).max() > 0.5


def test_stops_keep_joints_within_their_limits():
    arm = fd.robots.panda().without_friction()
    middle = arm.limits.position.mean(axis=1)
    r = arm.simulate(middle, np.zeros(7), 1.0, 1e-3, stops=True)
    low, high = arm.limits.position.T
    assert np.maximum(low - r.q, r.q - high).max() < 0.05
    free = arm.simulate(middle, np.zeros(7), 1.0, 1e-3)
    assert np.maximum(low - free.q, free.q - high).max() > 0.1


def test_stiff_springs_are_stable_at_a_millisecond_if_implicit_and_explode_if_not():
    springs = FlexibleJoints(stiffness=500 * SOFT, damping=10.0)
    law = control.pd([0.1] * 6, 100.0, 30.0)
    arm = PUMA.with_gravity((0, 0, 0))
    r = arm.simulate([0.0] * 6, [0.0] * 6, 5.0, 1e-3, law, "implicit", flexible=springs)
    np.testing.assert_allclose(r.q[-1], 0.1, rtol=0, atol=1e-3)
    with pytest.raises(fd.NotFiniteError, match=r"of joint '.*' is .* at t = 0\.\d+ s: .* smaller dt"):
        arm.simulate([0.0] * 6, [0.0] * 6, 5.0, 1e-3, law, "euler", flexible=springs)


def test_stiffer_springs_come_closer_to_a_rigid_arm():
    rigid = PUMA.simulate(*STARTS[:, 0], 0.2, 5e-5, every=400)
    errors = []
    for k in (5 * SOFT, 50 * SOFT):
        soft = PUMA.simulate(*STARTS[:, 0], 0.2, 5e-5, flexible=FlexibleJoints(k, SOFT / 1000), every=400)
        errors.append(np.abs(soft.q - rigid.q).max())
    assert errors[1] < 0.3 * errors[0] < 0.01


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dt": 0.0}, "dt is 0.0: expected a number of seconds above zero"),
        ({"duration": 0.00105}, "duration is 0.00105 s: expected a whole number of steps of 0.001 s"),
        ({"integrator": "rk5"}, "integrator is 'rk5': expected one of 'rk4', 'euler', 'implicit', 'RK45'"),
        ({"delay": 0.01}, "delay is 0.01: expected a control_period with it"),
        ({"noise": (0.1, 0.1)}, "noise: expected a control_period with it"),
        ({"every": 0}, "every is 0: expected a whole number above zero"),
        ({"q0": [0.0] * 5}, r"q0 has shape \(5,\), but puma560 has 6 joints"),
        ({"controller": 3.0}, "controller is a float: expected one of fastdyn.control"),
        ({"controller": control.pd([0.0] * 5, 1.0, 1.0)}, r"reference of the controller has shape \(5,\)"),
        ({"controller": control.pd([0.0] * 6, np.nan, 1.0)}, "kp"),
        ({"tau": [np.nan] * 6}, r"tau\[0, 0\] is nan|tau\[0\] is nan"),
        ({"torque_limits": -1.0}, "torque_limits is -1.0: expected one number above zero, or 6"),
        ({"flexible": FlexibleJoints(0.0)}, "stiffness is 0.0: expected finite numbers above zero"),
        ({"controller": lambda t, q, qd: np.nan}, "controller"),
        ({"controller": lambda t, q, qd: np.zeros(5)}, r"controller\(t, q, qd\) has shape \(5,\)"),
    ],
)
def test_bad_arguments_are_named(change, message):
    given = {"q0": [0.0] * 6, "qd0": [0.0] * 6, "duration": 0.1, "dt": 1e-3} | change
    with pytest.raises(fd.FastdynError, match=message):
        PUMA.simulate(**given)


def test_a_blow_up_names_time_joint_and_sample():
    with pytest.raises(fd.NotFiniteError, match=r"of joint '.*' of sample .*1.* at t = "):
        PUMA.simulate(np.zeros((3, 6)), np.zeros((3, 6)), 5.0, 1e-2, control.pd([0.1] * 6, [[1.0], [1e7], [1.0]], 0.0))


def test_results_are_kept_and_drawn(tmp_path):
    r = PUMA.simulate(*STARTS, 0.05, 1e-3)
    with np.load(r.save(tmp_path / "motion.npz")) as kept:
        np.testing.assert_array_equal(kept["tau"], r.tau)
    with pytest.raises(fd.ArgumentError, match="path is"):
        r.save(tmp_path / "motion.csv")
    with pytest.raises(fd.ArgumentError, match="sample: expected the index of one motion"):
        r.plot()
    assert len(r.plot(sample=2).axes) == 4
    fleet = PUMA.vary(payload=[0.0, 1.0]).simulate(*STARTS[:, :1], 0.05, 1e-3)
    assert fleet.q.shape == (2, 51, 6)
    assert fleet.view(tmp_path / "second.html", sample=1).stat().st_size > 50_000
    assert fleet.animate(tmp_path / "second.gif", sample=1) is not None
    assert len(fleet.plot(sample=1).axes) == 4


def test_a_reference_is_asked_for_the_times_of_the_motion_and_no_others():
    asked = []

    def reference(t):
        asked.append(t)
        zero = np.zeros((len(t), 6))
        return zero, zero, zero

    for options in ({}, {"control_period": 2e-3}):
        asked.clear()
        PUMA.simulate(np.zeros((64, 6)), [0.0] * 6, 1.2, 1e-3, control.pd(reference, 50.0, 10.0), every=9, **options)
        times = np.unique(np.concatenate(asked).round(12))
        assert len(asked) > 1  # in several compiled calls
        np.testing.assert_allclose(times, np.linspace(0, 1.2, 601 if options else 2401), rtol=0, atol=1e-12)


LONG = """
import sys
import numpy as np
import fastdyn as fd

arm = fd.robots.puma560().without_friction()
law = (lambda t, q, qd: -5.0 * qd) if sys.argv[1] == "python" else None
start = np.zeros((64, 6)), np.zeros((64, 6))
arm.simulate(*start, 0.01, 1e-3, law)
print("ready", flush=True)
try:
    arm.simulate(*start, 3600.0, 1e-3, law, every=1000, threads=2)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT, opens a terminal")
@pytest.mark.parametrize("law", ["none", "python"])
def test_a_long_simulation_says_how_far_it_is_and_answers_ctrl_c(law):
    import pty

    ours, theirs = pty.openpty()
    command = [sys.executable, "-W", "ignore", "-c", LONG, law]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs, text=True) as child:
        os.close(theirs)
        assert child.stdout.readline() == "ready\n"
        said = ""
        while "%" not in said:
            said += os.read(ours, 100).decode()
        os.kill(child.pid, signal.SIGINT)
        sent = time.monotonic()
        assert child.stdout.readline() == "interrupted\n"
        assert time.monotonic() - sent < 2.0  # a compiled call takes a millisecond, but the machine may be busy
    os.close(ours)
    assert "simulating, the controller in Python:" in said if law == "python" else "simulating:" in said
