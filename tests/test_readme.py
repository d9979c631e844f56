"""The README: its snippets and commands run as printed, and what it says of other programs holds."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba.core import config
from numpy.typing import ArrayLike

import fastdyn as fd
from fastdyn.study.results import read
from fastdyn.study.sections.headlines import keyed

README = Path(__file__).parents[1] / "README.md"
MEASUREMENTS = README.parent / "notes" / "measurements"
SETUP = ("make", "pip")  # commands that install or run for minutes; CI runs them

ARM = """<robot name="arm">
<link name="base"/>
<link name="b1"><inertial><mass value="2"/><origin xyz="0.1 0 0.2"/>
  <inertia ixx="0.02" iyy="0.03" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="a1"><inertial><mass value="1"/><origin xyz="0 0.1 0.3"/>
  <inertia ixx="0.02" iyy="0.03" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="b" type="revolute"><parent link="base"/><child link="b1"/><axis xyz="0 1 0"/><origin xyz="0 0 1"/>
  <limit lower="-2" upper="2" effort="9" velocity="3"/><dynamics damping="0.5" friction="0.2"/></joint>
<joint name="a" type="prismatic"><parent link="base"/><child link="a1"/><axis xyz="0 0.6 0.8"/>
  <limit lower="-1" upper="1" effort="9" velocity="3"/><dynamics damping="0.25" friction="0.1"/></joint>
</robot>"""


def blocks(language: str) -> list[tuple[int, str]]:
    """The README's blocks in a language, each with its first line's number."""
    text = README.read_text(encoding="utf-8")
    found = re.finditer(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [(text.count("\n", 0, each.start(1)), each[1]) for each in found]


def commands() -> list[str]:
    """The commands after a prompt, without comments and those of SETUP."""
    lines = [line[2:].partition("#")[0].strip() for _, text in blocks("console") for line in text.splitlines()]
    return [line for line in lines if line.split()[0] not in SETUP]


def test_the_readme_has_snippets_and_commands() -> None:
    assert len(blocks("python")) >= 7
    assert {"fastdyn robots", "fastdyn info panda"} <= set(commands())
    assert all(line.startswith("$ ") for _, text in blocks("console") for line in text.splitlines())


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="bound calls and long batches need machine code")
def test_every_snippet_runs_as_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pinocchio")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "readme"}
    for line, text in blocks("python"):
        exec(compile("\n" * line + text, str(README), "exec"), names)  # tracebacks show the README's lines


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="the loop is machine code")
@pytest.mark.parametrize("command", commands())
def test_every_command_runs_as_printed(command: str, tmp_path: Path) -> None:
    (tmp_path / "arm.urdf").write_text(ARM)
    np.savez(tmp_path / "run.npz", t=[0.0, 0.1], q=np.zeros((2, 7)))
    program, *arguments = shlex.split(command)
    start = {"fastdyn": ["-m", "fastdyn"], "python": []}[program]
    done = subprocess.run(
        [sys.executable, *start, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


# ---------------------------------------------------------------------------------------------- other programs

STATE = np.random.default_rng(3).uniform(-1, 1, (3, 2))


def close(a: ArrayLike, b: ArrayLike) -> None:
    """Equal up to rounding: sums of a few products of numbers near ten are off by less than 1e-14."""
    np.testing.assert_allclose(a, b, rtol=0, atol=1e-12)


def apart(a: ArrayLike, b: ArrayLike) -> bool:
    """Whether all numbers differ by more than any rounding."""
    return bool(np.abs(np.subtract(a, b)).min() > 1e-4)


def test_what_is_said_of_pinocchio() -> None:
    pin = pytest.importorskip("pinocchio")
    model, arm = pin.buildModelFromXML(ARM), fd.from_urdf(ARM)
    data = model.createData()
    assert [joint.name for joint in arm.joints] == ["b", "a"]  # the file's order
    assert list(model.names)[1:] == ["a", "b"]  # sorted
    q, qd, qdd = STATE
    theirs = [x[::-1].copy() for x in STATE]
    tau = pin.rnea(model, data, *theirs)[::-1]
    same = arm.without_friction().with_gravity((0, 0, -9.81))
    close(same.inverse_dynamics(q, qd, qdd), tau)
    assert apart(arm.with_gravity((0, 0, -9.81)).inverse_dynamics(q, qd, qdd), tau)  # friction
    assert apart(arm.without_friction().inverse_dynamics(q, qd, qdd), tau)  # gravity
    assert model.damping.tolist() == [0.25, 0.5]  # read, but ignored by rnea and aba
    close(same.forward_dynamics(q, qd, tau), pin.aba(model, data, *theirs[:2], tau[::-1].copy())[::-1])
    M = np.triu(pin.crba(model, data, theirs[0]))
    close(arm.mass_matrix(q), (M + np.triu(M, 1).T)[::-1, ::-1])
    C = pin.computeCoriolisMatrix(model, data, theirs[0], theirs[1])
    close(arm.coriolis_matrix(q, qd), C[::-1, ::-1])
    close(same.gravity_forces(q), pin.computeGeneralizedGravity(model, data, theirs[0])[::-1])
    close(same.bias_forces(q, qd), pin.nonLinearEffects(model, data, *theirs[:2])[::-1])
    close(same.kinetic_energy(q, qd), pin.computeKineticEnergy(model, data, *theirs[:2]))
    close(same.potential_energy(q), pin.computePotentialEnergy(model, data, theirs[0]))
    close(arm.center_of_mass(q), pin.centerOfMass(model, data, theirs[0]))
    momentum = pin.computeCentroidalMomentum(model, data, *theirs[:2])
    close(arm.momentum(q, qd), momentum.vector)  # linear, then angular
    limits = np.column_stack([model.lowerPositionLimit, model.upperPositionLimit])
    assert arm.limits.position.tolist() == limits[::-1].tolist()


def test_wrenches_are_those_that_pinocchio_takes() -> None:
    pin = pytest.importorskip("pinocchio")
    model, arm = pin.buildModelFromXML(ARM), fd.from_urdf(ARM).without_friction().with_gravity((0, 0, -9.81))
    wrenches = np.random.default_rng(4).normal(size=(2, 6))  # on b1 and a1
    forces = [pin.Force.Zero(), pin.Force(wrenches[1]), pin.Force(wrenches[0])]
    tau = pin.rnea(model, model.createData(), *(x[::-1].copy() for x in STATE), forces)[::-1]
    close(arm.inverse_dynamics(*STATE, wrenches), tau)


def test_a_continuous_joint_is_one_angle_here_and_two_numbers_in_pinocchio() -> None:
    pin = pytest.importorskip("pinocchio")
    text = ARM.replace('type="revolute"', 'type="continuous"')
    assert (fd.from_urdf(text).n, pin.buildModelFromXML(text).nq) == (2, 3)


def test_imported_models_keep_their_gravity() -> None:
    pin = pytest.importorskip("pinocchio")
    mujoco = pytest.importorskip("mujoco")
    for robot in (fd.from_pinocchio(pin.buildModelFromXML(ARM)), fd.from_mujoco(mujoco.MjModel.from_xml_string(ARM))):
        assert robot.gravity.tolist() == [0, 0, -9.81]
    assert fd.from_urdf(ARM).gravity.tolist() == [0, 0, -9.80665]


def test_what_is_said_of_mujoco() -> None:
    mujoco = pytest.importorskip("mujoco")
    text = ARM.replace('friction="0.2"', "").replace('friction="0.1"', "")  # MuJoCo's is another one
    model = mujoco.MjModel.from_xml_string(text)
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
    data, arm = mujoco.MjData(model), fd.from_urdf(text).with_gravity((0, 0, -9.81))
    place = [mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, joint.name) for joint in arm.joints]
    q, qd, qdd = STATE
    data.qpos[place], data.qvel[place], data.qacc[place] = q, qd, qdd
    mujoco.mj_inverse(model, data)
    tau = arm.inverse_dynamics(q, qd, qdd)
    close(tau, data.qfrc_inverse[place])  # with damping
    assert apart(arm.without_friction().inverse_dynamics(q, qd, qdd), data.qfrc_inverse[place])
    close(arm.without_friction().bias_forces(q, qd), data.qfrc_bias[place])
    M = np.zeros((2, 2))
    mujoco.mj_fullM(model, *((M, data.qM) if hasattr(data, "qM") else (data, M)))  # before and since MuJoCo 4
    close(arm.mass_matrix(q), M[np.ix_(place, place)])
    data.qfrc_applied[place] = tau
    mujoco.mj_forward(model, data)
    close(data.qacc[place], qdd)
    close(data.energy, [arm.potential_energy(q), arm.kinetic_energy(q, qd)])
    assert arm.limits.position.tolist() == model.jnt_range[place].tolist()
    data.qvel[:] = 0
    mujoco.mj_forward(model, data)
    close(arm.gravity_forces(q), data.qfrc_bias[place])


def test_the_studys_figures_are_those_of_the_kept_results() -> None:
    """In the README and in the kept summary, word by word; all three kinds of headline are there."""
    found = keyed(read(MEASUREMENTS / "study.json"))
    assert {key.partition(".")[0] for key in found} == {"counts", "growth", "ratio"}
    summary = (MEASUREMENTS / "study.md").read_text(encoding="utf-8")
    text = README.read_text(encoding="utf-8")
    section = text[text.index("## The study") : text.index("## Layout")]
    listed = re.findall(r"^- (.*)$", section, re.MULTILINE)
    assert listed == [headline.plain for headline in found.values()]
    assert all(f"- {line}\n" in summary for line in listed)
