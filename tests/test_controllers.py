"""Texts of controllers and of the simulation, also in plain Python: laws against formulas, short motions."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import fastdyn as fd
from fastdyn import control
from fastdyn.quantities import CONTROLLERS
from fastdyn.simulation import FlexibleJoints
from tests.samples import GEARED, with_motors

PUMA = fd.robots.puma560().without_friction()
ROBOTS = {"joints": PUMA, "coupled": GEARED}


def values(robot, row, tip):
    """Some inputs of a row, by name; all gains 1 to 2."""
    random = np.random.default_rng(7)
    found = {field.name: random.uniform(-1, 1, field.core(robot.parameters.joints, robot.n)) for field in row.reads}
    found |= {name: 1.5 + 0.5 * found[name] for name in ("kp", "kd", "kx", "dx", "ko", "kf", "period") if name in found}
    if "pose_d" in found:
        found["pose_d"] = robot.forward_kinematics(found["q"] + 0.4, tip)
    return found


def expected(robot, name, tip, v):
    """A law, written out."""
    if name == "momentum_observer":
        C, p = robot.coriolis_matrix(v["q"], v["qd"]), robot.mass_matrix(v["q"]) @ v["qd"]
        drain = robot.bias_forces(v["q"], v["qd"]) - C @ v["qd"] - C.T @ v["qd"]
        external = v["ko"] * (p - v["observed"])
        return [external, v["observed"] + v["period"] * (v["tau"] - drain + external)]
    if name == "task_space_pd":
        J, now = robot.jacobian(v["q"], tip), robot.forward_kinematics(v["q"], tip)
        turn = Rotation.from_matrix(v["pose_d"][:3, :3] @ now[:3, :3].T).as_rotvec()
        angle = np.linalg.norm(turn)
        e = np.concatenate([(v["pose_d"] - now)[:3, 3], 2 * np.sin(angle / 2) / angle * turn])
        return [robot.gravity_forces(v["q"]) + J.T @ (v["kx"] * e + v["dx"] * (v["velocity_d"] - J @ v["qd"]))]
    q, qd = (v["arm_q"], v["arm_qd"]) if name == "flexible_computed_torque" else (v["q"], v["qd"])
    feedback = v["kp"] * (v["q_d"] - q) + v["kd"] * (v["qd_d"] - qd)
    if name == "pd":
        return [feedback]
    if name == "pd_gravity":
        return [feedback + robot.gravity_forces(q)]
    if name == "pd_feedforward":
        return [feedback + robot.inverse_dynamics(v["q_d"], v["qd_d"], v["qdd_d"])]
    if name == "joint_impedance":
        return [feedback + robot.inverse_dynamics(q, 0 * q, v["qdd_d"]) + robot.coriolis_matrix(q, qd) @ v["qd_d"]]
    tau = robot.inverse_dynamics(q, qd, v["qdd_d"] + feedback)
    return [tau + v["kf"] * (qd - v["qd"]) if name == "flexible_computed_torque" else tau]


@pytest.mark.parametrize("name", CONTROLLERS)
@pytest.mark.parametrize("kind", ROBOTS)
def test_laws_are_their_formulas(name, kind):
    robot, row = ROBOTS[kind], CONTROLLERS[name]
    tip = robot.all_links[-1].name
    parameters = robot.parameters_in(tip, None, False) if row.frame else robot.parameters
    given = values(robot, row, tip)
    n, m = parameters.joints, robot.n
    results = [np.full(int(np.prod(field.core(n, m))), np.nan) for field in row.gives]
    text, rows = (row.coupled, row.coupled_rows) if parameters.coupled else (row.text, row.rows)
    work = np.full(rows(n), np.nan)  # nothing is read before it is written
    text(*parameters.constants, *(given[field.name].ravel() for field in row.reads), *results, work)
    for found, right in zip(results, expected(robot, name, tip, given), strict=True):
        # sums of some hundred products; the conditioning of each is that of inverse dynamics
        np.testing.assert_allclose(found, right, rtol=0, atol=1e-11 * max(1, np.abs(right).max()))


RUBBING = with_motors(PUMA, lambda joint: fd.Motor(2e-4, 80.0, viscous=1e-3, coulomb=(0.02, -0.03)))
SPRINGS = FlexibleJoints([2e3, 2e3, 2e3, 5.0, 5.0, 5.0], 0.01, 1e-3)  # slow beside a step of 1 ms, at the wrist too


@pytest.mark.parametrize("integrator", ["rk4", "euler", "implicit"])
@pytest.mark.parametrize("springs", [None, SPRINGS], ids=["rigid", "flexible"])
def test_the_first_steps_of_a_sampled_loop(integrator, springs):
    """Torques arrive late, limited and disturbed; the acceleration of each record is that of its state and torque."""
    law = control.pd_gravity([0.5] * 6, 50.0, 10.0)
    r = RUBBING.simulate(
        [0.1] * 6, [0.2] * 6, 4e-3, 1e-3, law, integrator, control_period=1e-3, delay=2e-3, noise=(1e-3, 1e-3),
        torque_limits=20.0, stops=True, flexible=springs,
    )  # fmt: skip
    assert (r.tau[:2] == 0).all()
    assert np.abs(r.tau).max() == 20.0
    if springs is None and integrator != "implicit":  # friction is full: all joints move
        found = RUBBING.inverse_dynamics(r.q, r.qd, r.qdd)
        np.testing.assert_allclose(found, r.tau, rtol=0, atol=1e-9 * np.abs(found).max())
    mean = r.q[:-1] + 1e-3 * (r.qd[:-1] + r.qd[1:]) / 2
    tolerance = 1e-3 * np.abs(np.diff(r.qd, axis=0)).max()
    np.testing.assert_allclose(r.q[1:], mean, rtol=0, atol=tolerance)
