"""Drive trains: the linear model of one flexible joint, its simulation, and control of robots with flexible joints."""

from dataclasses import replace

import numpy as np
import pytest
from numba.core import config

import fastdyn as fd
from benchmarks.flexible_joint import ARM, SPRINGS, damping, fitted_poles, reference
from fastdyn import control
from fastdyn.simulation import FlexibleJoint, FlexibleJoints, irb1400_joint_1, irb1400_joint_1_deviations
from tests.samples import GEARED

JOINT = irb1400_joint_1()
ROBOT = fd.robots.flexible_joint(JOINT)
DAMPED = FlexibleJoint(J_m=2e-3, J_a=3.0, k=5e3, r=1 / 50, f_m=4e-3, f_a=2.0, d=1.5)
J_M, J_A, F_M, K, R = 5.9e-4, 5.2e-2, 1.3e-2, 677.2, 1 / 118.461539  # Table 3.1
EPS = np.finfo(float).eps


def printed_three_states(sign):
    """A of section 3.3.2 with the report's own numbers; `sign` is that of k / J_a."""
    return np.array([[-F_M / J_M, 0, -K / J_M], [0, 0, sign * K / J_A], [R, -1, 0]])


# ---------------------------------------------------------------------------------------------- the linear model


def test_both_readings_of_table_3_1_are_one_model():
    A = [[0, 1, 0, 0], [-K * R / J_M, -F_M / J_M, K / J_M, 0], [0, 0, 0, 1], [K * R / J_A, 0, -K / J_A, 0]]  # (3.73)
    np.testing.assert_allclose(JOINT.four_states().A, A, rtol=4 * EPS, atol=0)
    np.testing.assert_allclose(JOINT.three_states().A, printed_three_states(+1), rtol=4 * EPS, atol=0)
    assert JOINT.k == pytest.approx(80.2e3, rel=1e-3)
    assert JOINT.J_a == pytest.approx(6.16, rel=1e-3)


def test_three_states_as_printed_are_unstable_and_with_the_sign_of_3_71_stable():
    printed = np.linalg.eigvals(printed_three_states(-1))
    assert printed.real.max() == pytest.approx(74, abs=0.5)  # 1/s
    assert JOINT.three_states().poles().real.max() < 0


@pytest.mark.parametrize("joint", [JOINT, DAMPED], ids=["irb1400", "damped"])
def test_four_states_have_the_poles_of_three_and_one_at_zero(joint):
    three, four = joint.three_states().poles(), joint.four_states().poles()
    scale = 100 * EPS * np.linalg.norm(joint.four_states().A)  # of a matrix that is far from normal
    np.testing.assert_allclose(four, [0, *three], rtol=0, atol=scale)
    root = joint.resonance().root
    assert np.abs(three - root).min() < 1e-9 * abs(root)


def test_without_friction_the_frequencies_are_those_of_two_masses():
    joint = FlexibleJoint(J_m=2e-3, J_a=3.0, k=5e3, r=0.02)
    assert joint.resonance().frequency == pytest.approx(np.sqrt(5e3 * (0.02**2 / 2e-3 + 1 / 3.0)), rel=1e-12)
    assert joint.antiresonance().frequency == pytest.approx(np.sqrt(5e3 / 3.0), rel=1e-12)
    assert abs(joint.resonance().damping) < 1e-12


@pytest.mark.parametrize("joint", [JOINT, DAMPED], ids=["irb1400", "damped"])
def test_frequency_response_is_that_of_the_equations_of_motion(joint):
    """(3.71) in the frequency domain, solved for motor and arm; one model gives the angle, one its rate."""
    w = np.geomspace(1, 1e3, 40)
    s, spring = 1j * w, joint.k + 1j * w * joint.d
    motor = joint.J_m * s**2 + joint.f_m * s + joint.r**2 * spring
    arm = joint.J_a * s**2 + joint.f_a * s + spring
    angle = arm / (motor * arm - joint.r**2 * spring**2)
    np.testing.assert_allclose(joint.four_states().frequency_response(w), angle, rtol=1e-9)
    np.testing.assert_allclose(joint.three_states().frequency_response(w), s * angle, rtol=1e-9)
    zero = joint.antiresonance().root
    assert abs(joint.J_a * zero**2 + (joint.f_a + joint.d) * zero + joint.k) < 1e-9 * joint.k


def test_spread_is_that_of_drawn_parameters():
    rng, deviations = np.random.default_rng(0), irb1400_joint_1_deviations()
    drawn = [
        replace(JOINT, **{name: rng.normal(getattr(JOINT, name), size) for name, size in deviations.items()})
        for _ in range(2000)
    ]
    found = np.std([joint.resonance() for joint in drawn], axis=0)
    np.testing.assert_allclose(found, JOINT.spread(deviations), rtol=0.06)  # 1 / sqrt(2 2000) is 1.6 %


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: replace(JOINT, k=0.0), "k: expected one finite number above zero, found 0.0"),
        (lambda: replace(JOINT, d=-1.0), "d: expected one finite number not below zero, found -1.0"),
        (lambda: replace(JOINT, J_a=[1.0, 2.0]), "J_a: expected one finite number above zero, found"),
        (lambda: replace(JOINT, d=1e5).antiresonance(), "zeros: expected a pair that oscillates, found"),
        (lambda: replace(JOINT, d=1e5).resonance(), "poles: expected a pair that oscillates, found"),
        (lambda: JOINT.spread({"f_a": 1.0}), "deviations: expected names of numbers that are not zero, found 'f_a'"),
        (lambda: JOINT.spread({"x": 1.0}), "deviations: expected names of numbers that are not zero, found 'x'"),
        (lambda: JOINT.four_states().frequency_response(0.0), "w: expected frequencies that are no poles"),
    ],
)
def test_bad_arguments_are_named(make, message):
    with pytest.raises(fd.ArgumentError, match=message):
        make()


def test_bode_picture_names_axes_units_and_modes():
    upper, lower = JOINT.bode(np.geomspace(10, 1000, 50), title="joint 1").axes
    assert (upper.get_title(), lower.get_xlabel()) == ("joint 1: motor torque to velocity", "frequency [Hz]")
    labels = [text.get_text() for text in upper.get_legend().get_texts()]
    assert "resonance 23.92 Hz, damping ratio 0.031" in labels
    assert "antiresonance 18.16 Hz, damping ratio 0.000" in labels


# ---------------------------------------------------------------------------------------------- simulation


@pytest.mark.parametrize("joint", [JOINT, DAMPED], ids=["irb1400", "damped"])
def test_a_simulated_joint_rings_with_the_poles_of_the_linear_model(joint):
    found, expected = fitted_poles(joint), joint.three_states().poles()
    # RK4 shifts a pole s by about (s dt)^4 / 120 of itself: 7e-9 at 200 us
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    root, ring = found[np.argmax(found.imag)], joint.resonance().root
    assert root.imag == pytest.approx(ring.imag, rel=1e-6)  # frequency
    assert root.real == pytest.approx(ring.real, rel=1e-6)  # decay


@pytest.mark.parametrize("times", [100, 1000, 10_000])
def test_stiffer_springs_are_stable_at_a_millisecond_if_implicit(times):
    springs = replace(JOINT, k=times * JOINT.k).springs()
    run = lambda **how: ROBOT.simulate([0.0], [0.0], 1.0, 1e-3, tau=[100.0], **how)  # noqa: E731
    rigid, stiff = run(), run(integrator="implicit", flexible=springs)
    assert np.abs(stiff.q - rigid.q).max() < 3e-4 * rigid.q.max()  # first order in dt
    assert np.abs(stiff.motor_q - stiff.q).max() < 2 * 100.0 / springs.stiffness  # twice the static twist at most
    if times == 100:
        return  # w dt = 1.5: below 2, where semi-implicit Euler steps are stable
    with pytest.raises(fd.NotFiniteError, match="integrator='implicit'"):
        run(integrator="euler", flexible=springs)


# ---------------------------------------------------------------------------------------------- control


def tracked(law, springs=SPRINGS, **how):
    """Errors of the arm, (K, n), in the last two of four seconds, and the rates at which the springs bend."""
    q0, qd0, _ = (part[0] for part in reference(np.zeros(1)))
    r = ARM.simulate(q0, qd0, 4.0, 5e-4, law, flexible=springs, **how)
    return (r.q - reference(r.t)[0])[4000:], (r.motor_qd - r.qd)[4000:]


def test_with_soft_joints_the_composite_law_tracks_and_the_rigid_one_does_not():
    rigid, _ = tracked(control.computed_torque(reference))
    composite, _ = tracked(control.flexible_computed_torque(reference, damping()))
    assert np.sqrt((rigid**2).mean(0)).min() > 5e-3  # rad: motors follow, the arm sags on its springs
    assert np.sqrt((composite**2).mean(0)).max() < 2e-4
    with pytest.raises(fd.NotFiniteError):  # the rigid law on sensors at the arm
        tracked(control.flexible_computed_torque(reference, 0.0))
    with pytest.raises(fd.NotFiniteError):  # springs too slow for kp: a mode below 2 sqrt(kp)
        tracked(control.flexible_computed_torque(reference, 1.4 * np.sqrt(1000.0)), FlexibleJoints(1000.0))


def test_a_puma_with_soft_joints_rings_under_the_rigid_law_and_not_under_the_composite_one():
    puma = fd.robots.puma560().without_friction()
    arm = np.diag(puma.without_motors().mass_matrix(np.zeros(6)))
    rotors = np.diag(puma.mass_matrix(np.zeros(6))) - arm
    springs = FlexibleJoints(100.0**2 * arm * rotors / (arm + rotors))  # each joint alone: 100 rad/s
    start = [0.3, -0.3, 0.3, 0.3, -0.3, 0.3]
    laws = control.computed_torque([0.0] * 6), control.flexible_computed_torque([0.0] * 6, 1.2 * rotors * 100.0)
    runs = [puma.simulate(start, [0.0] * 6, 2.0, 5e-4, law, flexible=springs) for law in laws]
    rigid, composite = (np.abs(r.motor_qd - r.qd)[3000:].max() for r in runs)  # rad/s
    assert rigid > 20 * composite
    assert np.abs(runs[1].q[-1]).max() < 1e-3 < 5e-3 < np.abs(runs[0].q[-1]).max()


def written_out(robot, qd, arm_q, arm_qd, q_d, qd_d, qdd_d, kp, kd, kf):
    wanted = qdd_d + kp * (q_d - arm_q) + kd * (qd_d - arm_qd)
    return robot.inverse_dynamics(arm_q, arm_qd, wanted) + kf * (arm_qd - qd)


def test_the_composite_law_is_what_it_says():
    """On few steps: this runs without compiling, too."""
    law = control.flexible_computed_torque(reference, [30.0, 20.0], 100.0, 10.0)
    r = ARM.simulate([0.1, 0.2], [1.0, -1.0], 5e-3, 5e-4, law, flexible=SPRINGS)
    expected = written_out(ARM, r.motor_qd, r.q, r.qd, *reference(r.t), 100.0, 10.0, np.array([30.0, 20.0]))
    np.testing.assert_allclose(r.tau, expected, rtol=1e-10, atol=1e-10 * np.abs(expected).max())
    stiff, plain = (
        ARM.simulate([0.1, 0.2], [1.0, -1.0], 5e-3, 5e-4, each)  # rigid: motors move as the arm does
        for each in (law, control.computed_torque(reference, 100.0, 10.0))
    )
    np.testing.assert_array_equal(stiff.tau, plain.tau)
    n = GEARED.n
    laws = control.flexible_computed_torque([0.1] * n, 30.0), control.computed_torque([0.1] * n)
    of_coupled, same = (GEARED.simulate([0.2] * n, [0.3] * n, 1e-3, 5e-4, each) for each in laws)
    np.testing.assert_array_equal(of_coupled.tau, same.tau)


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="machine code only")
@pytest.mark.parametrize("robot", [ARM, GEARED], ids=["joints", "coupled"])
def test_the_composite_law_is_bound_and_a_c_function(robot):
    loop = robot.bind("flexible_computed_torque")
    names = ("qd", "arm_q", "arm_qd", "q_d", "qd_d", "qdd_d", "kp", "kd", "kf")
    values = np.random.default_rng(3).uniform(-1, 1, (len(names), robot.n))
    for name, value in zip(names, values, strict=True):
        getattr(loop, name)[:] = value
    assert loop.flexible_computed_torque() == 0
    expected = written_out(robot, *values)
    np.testing.assert_allclose(loop.tau, expected, rtol=1e-10, atol=1e-10 * np.abs(expected).max())
    assert "const double *arm_q" in robot.c_function("flexible_computed_torque").declaration


def test_noise_of_motors_and_arm_is_independent_behind_springs_and_one_without():
    run = lambda kf, springs: ARM.simulate(  # noqa: E731
        [0.0, 0.0], [0.0, 0.0], 1.0, 1e-3, control.flexible_computed_torque([0.0, 0.0], kf, 0.0, 0.0),
        control_period=1e-3, noise=(0.0, 1e-3), flexible=springs,
    )  # fmt: skip
    np.testing.assert_array_equal(run(0.0, None).tau, run(50.0, None).tau)
    stiff = FlexibleJoints(1e4, 100.0)
    r = run(5.0, stiff)
    added = r.tau - ARM.gravity_forces(r.q) - 5.0 * (r.qd - r.motor_qd)
    np.testing.assert_allclose(added[500:].std(0), 5.0 * np.sqrt(2) * 1e-3, rtol=0.4)
