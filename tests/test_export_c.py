"""Robots as C99: compiled here by the system's compilers and compared with the robots that they were exported from."""

from __future__ import annotations

import json
import platform
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastdyn as fd
from fastdyn.calls.bound import c_functions
from fastdyn.quantities import QUANTITIES
from fastdyn.specialize.c import export
from fastdyn.specialize.c.export import prefix_of
from fastdyn.specialize.c.helpers import REALS
from fastdyn.specialize.rows import GENERAL
from tests.samples import KINDS, any_robot, draw, geared

EPS, EPS_SINGLE = np.finfo(np.float64).eps, np.finfo(np.float32).eps
STRICT = (
    "-std=c99", "-Wall", "-Wextra", "-pedantic", "-Wconversion", "-Wshadow", "-Wdouble-promotion", "-Wundef",
    "-Wstrict-prototypes", "-Werror",
)  # fmt: skip
EVERYTHING = [name for name, (row, _) in c_functions().items() if row.name not in GENERAL]
FOUND = [name for name in ("gcc", "clang") if shutil.which(name)]
each_compiler = pytest.mark.parametrize(
    "compiler",
    [pytest.param(name, marks=[] if name in FOUND else pytest.mark.skip(f"no {name}")) for name in ("gcc", "clang")],
)
pytestmark = pytest.mark.skipif(not FOUND, reason="there is no C compiler")
QUICK = ("-O1", "-ffp-contract=fast", *STRICT)  # compiles in a third of the time of -O3


def run(*command: Any, good: bool = True) -> str:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=120)
    assert (done.returncode == 0) == good, done.stdout + done.stderr
    return done.stdout + done.stderr


def hinge(name: str = "hinge", robot: str = "pendulum", mass: float = 2.0) -> fd.Robot:
    """A pendulum about z, whose pose shows sine and cosine of q."""
    links = [fd.Link("base"), fd.Link("bob", mass, (0, 0.5, 0))]
    return fd.Robot(links, [fd.Joint(name, "base", "bob")], name=robot, gravity=(0, -10, 0), strict=None)


@pytest.fixture(scope="module")
def puma(tmp_path_factory) -> tuple[Any, Path, Any]:
    """A robot, its export, and that loaded."""
    robot = fd.robots.puma560()
    folder = robot.export_c(tmp_path_factory.mktemp("puma") / "export")
    return robot, folder, fd.load_exported(folder, flags=QUICK)


# ---------------------------------------------------------------------------------------------- numbers


def motion(robot: Any, *lead: int) -> np.ndarray:
    return np.random.default_rng(0).uniform(-2, 2, (3, *lead, robot.n))


def assert_equal_torques(robot: Any, exported: Any, bound: float) -> None:
    """On 10,000 states by the batch, and on some of them one by one; relative to the largest torque."""
    states = motion(robot, 10_003)  # whole blocks, and a rest.astype(exported.real).astype(float)
    expected = robot.inverse_dynamics(*states)
    scale = np.abs(expected).max()
    assert np.abs(exported.inverse_dynamics(*states) - expected).max() <= bound * scale
    for k in range(20):
        assert np.abs(exported.inverse_dynamics(*states[:, k]) - expected[k]).max() <= bound * scale


ROBOTS = {
    **{name: fd.robots.get(name) for name in fd.robots.names()},
    **{f"coupled {name}": fd.robots.get(name, coupled=True) for name in fd.robots.names(coupled=True)},
    "tree with friction": fd.robots.random_tree(7, seed=3, prismatic=0.3, drives=True),
    "geared tree": geared(5, 3, seed=3),
}


@pytest.mark.parametrize("robot", ROBOTS.values(), ids=ROBOTS)
def test_inverse_dynamics_in_c_is_that_of_the_robot(robot, tmp_path):
    """To 1e-13, some hundred roundings: torques are sums of some ten products a joint, in another order than ours."""
    exported = fd.load_exported(robot.export_c(tmp_path / "export"), flags=QUICK)
    assert_equal_torques(robot, exported, 1e-13)


def test_twenty_random_robots_have_the_same_torques_in_c(tmp_path):
    for seed in range(20):
        robot = any_robot(KINDS[seed % 4], 1 + seed % 6, seed, prismatic=0.3, drives=seed % 3 == 0)
        folder = robot.export_c(tmp_path / "export", prefix="robot")
        assert_equal_torques(robot, fd.load_exported(folder, flags=["-O0"]), 1e-13)


@pytest.mark.parametrize("name", ["panda", "stanford"])
def test_single_precision_has_the_bound_that_the_manifest_states(name, tmp_path):
    robot = fd.robots.get(name)
    exported = fd.load_exported(robot.export_c(tmp_path / "export", real="float"), flags=QUICK)
    assert exported.real == np.float32
    bound = exported.manifest["functions"]["inverse_dynamics"]["bound"]
    assert 16 * EPS_SINGLE < bound < 1000 * EPS_SINGLE
    assert_equal_torques(robot, exported, bound)


@pytest.mark.parametrize("robot", [ROBOTS["puma560"], ROBOTS["geared tree"]], ids=lambda robot: robot.name)
def test_forward_dynamics_and_mass_matrices_in_c_are_those_of_the_robot(robot, tmp_path):
    names = ["mass_matrix", "forward_dynamics", "forward_dynamics_with_wrenches"]
    exported = fd.load_exported(robot.export_c(tmp_path / "export", names), flags=QUICK)
    values = draw(robot, QUANTITIES["forward_dynamics"], 10_000, optional=True)
    M = robot.mass_matrix(values["q"])
    assert np.abs(exported.mass_matrix(values["q"]) - M).max() <= 1e-13 * np.abs(M).max()
    wrenches = values.pop("wrenches")
    for more in ({}, {"wrenches": wrenches}):
        found = exported.forward_dynamics_with_wrenches if more else exported.forward_dynamics
        expected = robot.forward_dynamics(**values, **more)
        # M qdd = rhs: rounding moves qdd by some eps, n of them, times the condition of M
        error = np.abs(found(**values, **more) - expected).max(axis=-1)
        largest = np.abs(expected).max(axis=-1)
        assert (error <= 50 * robot.n * EPS * np.linalg.cond(M) * (largest + 1)).all()


@pytest.mark.parametrize(("real", "sincos"), [("double", "libm"), ("float", "own")])
def test_every_quantity_passes_its_own_check(real, sincos, tmp_path, monkeypatch):
    """main.c compares with the general texts in plain Python. No warnings, by any compiler."""
    monkeypatch.setattr(export, "optimized", lambda program: program)  # whose programs have tests of their own
    robot = fd.robots.random_tree(3, seed=2, prismatic=0.4, drives=True)
    folder = robot.export_c(
        tmp_path / "export", EVERYTHING, real, sincos, frame=robot.links[-1].name, point=(0.1, 0, 0.2), local=True
    )
    sources = sorted(folder.glob("*.c"))
    for compiler in FOUND:
        run(compiler, *STRICT, "-O1", *sources, "-o", tmp_path / compiler, "-lm")
        report = run(tmp_path / compiler).splitlines()
        assert len(report) == 2 * len(EVERYTHING)
        assert all(line.endswith(": good") for line in report)


def test_the_check_of_main_fails_where_a_number_is_wrong(tmp_path):
    folder = hinge().export_c(tmp_path / "export", ["gravity_forces"])
    source = (folder / "pendulum.c").read_text()
    assert "tau[0] = " in source
    for wrong in (
        source.replace("tau[0] = ", "tau[0] = 1.0e-9 + "),
        source.replace("int status = 0", "int status = 1"),
    ):
        assert wrong != source
        (folder / "pendulum.c").write_text(wrong)
        run(FOUND[0], "-std=c99", *folder.glob("*.c"), "-o", tmp_path / "check", "-lm")
        assert "WRONG" in run(tmp_path / "check", good=False)


# ---------------------------------------------------------------------------------------------- sines


@pytest.mark.parametrize(("real", "stated"), [("double", 2.3e-16), ("float", 1.2e-7)])
def test_the_sine_without_branches_has_its_stated_accuracy_and_range(real, stated, tmp_path):
    exported = fd.load_exported(hinge().export_c(tmp_path / "e", ["forward_kinematics"], real, "own"), flags=QUICK)
    limit = exported.manifest["range"]
    assert limit == {"double": 1e6, "float": 8192.0}[real]
    rng = np.random.default_rng(0)
    q = np.concatenate([rng.uniform(-limit, limit, 50_000), rng.uniform(-4, 4, 50_000), np.pi / 4 * np.arange(-40, 41)])
    q = np.concatenate([q, [0.0, limit, -limit]]).astype(exported.real)
    wide = q.astype(np.longdouble)
    for k, name in enumerate((np.cos, np.sin)):
        assert np.abs(exported.forward_kinematics(q[:, None])[:, k, 0] - name(wide)).max() <= stated
        assert abs(exported.forward_kinematics(q[:1])[k, 0] - name(wide[0])) <= stated
    far = np.nextafter(exported.real.type(limit), exported.real.type(np.inf))
    for given in ([far], [[0.0], [-far]]):
        with pytest.raises(fd.NotFiniteError, match=re.escape(f"or an angle is beyond {limit:g} rad")):
            exported.forward_kinematics(given)


def test_batches_compute_angles_beyond_the_range_of_their_sine_as_single_states(puma):
    robot, _, exported = puma
    q, qd, qdd = motion(robot, 40)
    q[17, 2], q[39, 1] = 3e6, -2e6
    found, expected = exported.inverse_dynamics(q, qd, qdd), robot.inverse_dynamics(q, qd, qdd)
    # sums of such angles are rounded by eps of their size
    assert np.abs(found - expected).max() <= 10 * EPS * 3e6 * np.abs(expected).max()


def test_single_precision_takes_whole_turns_off_an_angle_before_it_adds_an_offset(tmp_path):
    """At 300 rad the sum would have a spacing of 3e-5; the angle itself is exact."""
    links = [fd.Link("base"), fd.Link("bob", 1.0, (0.6, 0.8, 0)), fd.Link("tip", 1.0, (0.5, 0, 0))]
    joints = [fd.Joint("a", "base", "bob"), fd.Joint("b", "bob", "tip", origin=(0.6, 0.8, 0))]
    robot = fd.Robot(links, joints, name="offset", gravity=(0, -10, 0))
    folder = robot.export_c(tmp_path / "export", ["gravity_forces"], "float")
    assert "offset_within_a_turn(" in (folder / "offset.c").read_text()
    exported = fd.load_exported(folder, flags=QUICK)
    q = np.random.default_rng(0).uniform(-300, 300, (1000, 2)).astype(np.float32).astype(float)
    expected = robot.gravity_forces(q)
    for found in (exported.gravity_forces(q), [exported.gravity_forces(state) for state in q]):
        assert np.abs(found - expected).max() <= 8 * EPS_SINGLE * np.abs(expected).max()


# ---------------------------------------------------------------------------------------------- status


def test_nothing_that_is_not_finite_passes(tmp_path):
    """In any place of any input, also of those that the results do not depend on."""
    robot = fd.robots.puma560().with_gravity((0, 0, 0))
    names = ["inverse_dynamics_with_wrenches", "forward_dynamics", "gravity_forces", "kinetic_energy"]
    exported = fd.load_exported(robot.export_c(tmp_path / "export", names), flags=QUICK)
    for name in names:
        call = getattr(exported, name)
        for field, shape in call.inputs.items():
            for place in range(int(np.prod(shape))):
                for value in (np.nan, np.inf, -np.inf):
                    values = {key: np.full((1, *shape), 0.3) for key, shape in call.inputs.items()}
                    values[field].flat[place] = value
                    results = [np.zeros((1, int(np.prod(shape)))) for shape in call.outputs.values()]
                    samples = [array.reshape(1, -1) for array in values.values()]
                    assert call._computed(samples, results, ()) == call._computed(samples, results, (1,)) == 1
        values[field] = values[field][0]
        with pytest.raises(fd.NotFiniteError, match=rf"{field}\[.*\] is -inf: expected finite numbers"):
            call(**values)


def test_a_result_out_of_range_is_told_with_its_sample(puma):
    robot, _, exported = puma
    q, qd, qdd = motion(robot, 3, 7)
    qd[2, 1] = 1e200
    messages = []
    for each in (robot, exported):
        with pytest.raises(fd.NotFiniteError, match="at sample 2, 1 is beyond the range of float64") as found:
            each.inverse_dynamics(q, qd, qdd)
        messages.append(str(found.value))
    assert messages[0] == messages[1]


@pytest.mark.parametrize("real", ["double", "float"])
def test_a_joint_that_moves_no_inertia_is_named_by_its_place_in_q(real, tmp_path):
    links = [fd.Link("base"), fd.Link("left"), fd.Link("right", 1.0, (0.5, 0, 0)), fd.Link("end", 1.0, (0.5, 0, 0))]
    joints = [
        fd.Joint("empty", "base", "left"),
        fd.Joint("full", "base", "right"),
        fd.Joint("tip", "right", "end", origin=(1, 0, 0)),
    ]
    robot = fd.Robot(links, joints, name="fork", strict=None)
    assert robot.parameters.names.index("empty") != 0  # the model has another order
    exported = fd.load_exported(robot.export_c(tmp_path / "export", ["forward_dynamics"], real), flags=QUICK)
    dtype = None if real == "double" else np.float32
    for lead in ((), (30,)):
        messages = []
        for each, options in ((robot, {"dtype": dtype}), (exported, {})):
            with pytest.raises(fd.SingularMassMatrixError, match="joint 'empty' moves no inertia") as found:
                each.forward_dynamics(*np.zeros((3, *lead, 3)), **options)
            messages.append(str(found.value))
        assert messages[0] == messages[1]
    state = np.zeros((3, 1, 3), exported.real)
    assert exported.forward_dynamics._state(0, list(state), None) // 2 == 1
    state[0] = np.nan
    assert exported.forward_dynamics._state(0, list(state), None) == 1
    run(FOUND[0], "-std=c99", *(tmp_path / "export").glob("*.c"), "-o", tmp_path / "check", "-lm")
    run(tmp_path / "check")  # which knows that these states are singular


# ---------------------------------------------------------------------------------------------- the source


@each_compiler
@pytest.mark.parametrize("real", REALS)
def test_batches_are_vectorised_with_friction_and_conditions_too(compiler, real, tmp_path):
    if platform.machine() not in ("x86_64", "AMD64"):
        pytest.skip("counts instructions of x86")
    folder = fd.robots.puma560().export_c(tmp_path / "export", ["forward_dynamics"], real)
    target = tmp_path / "puma560.s"
    run(compiler, *STRICT, "-O3", "-march=haswell", "-ffp-contract=fast", "-S", folder / "puma560.c", "-o", target)
    kind = {"double": "pd", "float": "ps"}[real]
    wide = re.findall(rf"^\s+v(?:mul|fn?m(?:add|sub)\d+){kind}\s.*%ymm", target.read_text(), re.MULTILINE)
    operations = re.search(r"`puma560_forward_dynamics` \| (\d+)", (folder / "README.md").read_text())
    assert operations is not None
    assert len(wide) >= int(operations[1])  # at least one for each multiplication


def test_the_object_has_no_data_and_calls_sine_and_cosine_only(tmp_path):
    if shutil.which("nm") is None:
        pytest.skip("there is no nm")
    robot = fd.robots.random_tree(3, seed=2, prismatic=0.4, drives=True)
    for real in ("double", "float"):
        for sincos in ("libm", "own"):
            folder = robot.export_c(tmp_path / "e", ["forward_dynamics"], real, sincos, prefix="arm")
            run(FOUND[0], *STRICT, "-O2", "-c", folder / "arm.c", "-o", tmp_path / "arm.o")
            symbols = [line.split()[-2:] for line in run("nm", tmp_path / "arm.o").splitlines()]
            suffix = REALS[real].suffix
            sines = {f"{name}{suffix}" for name in ("sin", "cos", "sincos")} if sincos == "libm" else set()
            called = {name for kind, name in symbols if kind == "U"} - {"_GLOBAL_OFFSET_TABLE_"}
            assert called <= sines | {"memcpy", "memset"}  # which compilers may call for any loop
            assert bool(called & sines) == (sincos == "libm")
            assert {kind for kind, _ in symbols} <= {"U", "T", "t", "r"}
            public = {name for kind, name in symbols if kind == "T"}
            assert public == {"arm_forward_dynamics", "arm_forward_dynamics_batch", "arm_fingerprint"}


def test_flags_that_remove_the_checks_are_refused(puma):
    for flag in ("-ffast-math", "-Ofast", "-ffinite-math-only"):
        assert "compile without" in run(FOUND[0], "-std=c99", flag, "-fsyntax-only", puma[1] / "puma560.c", good=False)


def test_the_header_is_also_cplusplus(puma, tmp_path):
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("there is no C++ compiler")
    (tmp_path / "user.cpp").write_text('#include "puma560.h"\n#include "puma560.h"\nint main() { return 0; }\n')
    run(compiler, "-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only", "-I", puma[1], tmp_path / "user.cpp")


def test_constants_are_those_of_the_robot():
    for value in (0.1, 1 / 3, 1e-300, 12345678.9, -2.5, 3.0):
        assert float(REALS["double"].literal(value)) == value
        text = REALS["float"].literal(value)
        assert text.endswith("f")
        assert np.float32(text[:-1]) == np.float32(value)
        assert re.search("[.e]", text)
    with pytest.raises(fd.ArgumentError, match="1e\\+39: expected all within the range of float"):
        REALS["float"].literal(1e39)


# ---------------------------------------------------------------------------------------------- names

HOSTILE = ["*/ int evil; /*", "back\\", "new\nline", "??/", '"quote"', "%s%n", "ö", "関節", "#define x", "a|b`c"]


def test_hostile_names_do_no_harm(tmp_path):
    links = [fd.Link("base"), *(fd.Link(f"link {name}", 1.0, (0.1, 0.2, 0.3)) for name in HOSTILE)]
    parents = [link.name for link in links]
    joints = [
        fd.Joint(f"{name} ", parent, child, axis=np.eye(3)[k % 3])
        for k, (name, parent, child) in enumerate(zip(HOSTILE, parents[:-1], parents[1:], strict=True))
    ]
    robot = fd.Robot(links, joints, name="".join(HOSTILE))
    folder = robot.export_c(tmp_path / "export", ["gravity_forces"])
    for path in folder.glob("*.[ch]"):
        assert path.read_text(encoding="ascii").count("/*") == path.read_text().count("*/")
    exported = fd.load_exported(folder, flags=(*QUICK, "-trigraphs"))
    assert exported.names == tuple(f"{name} " for name in HOSTILE)
    assert exported.name == robot.name
    q = np.full(robot.n, 0.3)
    expected = robot.gravity_forces(q)
    assert np.abs(exported.gravity_forces(q) - expected).max() <= 1e-13 * np.abs(expected).max()
    table = [line for line in (folder / "README.md").read_text().splitlines() if line.startswith("| ")]
    assert len([line for line in table if "revolute" in line]) == robot.n


@pytest.mark.parametrize(
    ("name", "prefix"),
    [
        ("panda", "panda"), ("Stäubli RX-90", "Staubli_RX_90"), ("2r", "robot_2r"), ("", "robot"), ("機械", "robot"),
        ("int", "int_robot"), ("Main", "Main_robot"), ("math", "math_robot"), ("__x__", "x"), ("*/", "robot"),
        ("a" * 100, "a" * 26), ("../../etc", "etc"), ("nul", "nul_robot"), ("test", "test_robot"),
    ],
)  # fmt: skip
def test_a_robots_name_becomes_an_identifier(name, prefix):
    assert prefix_of(name) == prefix


@pytest.mark.parametrize(
    "prefix", ["", "9x", "a b", "a__b", "_a", "a_", "ö", "main", "Math", "for", "a" * 33, "a\n", "a/b"]
)
def test_an_invalid_prefix_is_refused(prefix, tmp_path):
    with pytest.raises(fd.ArgumentError, match=r"prefix is .*: expected"):
        hinge().export_c(tmp_path / "export", prefix=prefix)
    assert not any(tmp_path.iterdir())


# ---------------------------------------------------------------------------------------------- the folder


def test_the_folder_and_its_manifest(puma):
    robot, folder, exported = puma
    assert sorted(path.name for path in folder.iterdir()) == [
        "CMakeLists.txt", "README.md", "export.json", "main.c", "puma560.c", "puma560.h",
    ]  # fmt: skip
    facts = json.loads((folder / "export.json").read_text())
    text = (folder / "puma560.h").read_text()
    assert "inverse_dynamics(const double q[6], const double qd[6], const double qdd[6], double tau[6]);" in text
    assert (facts["robot"], facts["prefix"], facts["real"], facts["sincos"]) == ("puma560", "puma560", "double", "libm")
    assert (facts["fastdyn"], facts["coupled"], facts["batch"]) == (fd.__version__, False, True)
    assert facts["names"] == [joint.name for joint in robot.joints]
    function = facts["functions"]["inverse_dynamics"]
    assert function["inputs"] == {"q": [6], "qd": [6], "qdd": [6]}
    assert function["outputs"] == {"tau": [6]}
    assert repr(exported) == "<Exported 'puma560': inverse_dynamics; float64>"
    text = (folder / "README.md").read_text()
    for joint in robot.joints:
        assert f" {joint.name} | {joint.kind} | rad |" in text
    assert "-9.80665" in text


def test_the_same_robot_gives_the_same_files(puma, tmp_path):
    robot, folder, _ = puma
    again = robot.export_c(tmp_path / "again")
    assert {path.name: path.read_bytes() for path in again.iterdir()} == {
        path.name: path.read_bytes() for path in folder.iterdir()
    }


def test_an_export_replaces_an_earlier_one_as_a_whole(tmp_path):
    folder = hinge().export_c(tmp_path / "export", prefix="first")
    assert hinge().export_c(str(folder), ["mass_matrix"], prefix="second") == folder
    assert sorted(path.stem for path in folder.glob("*.h")) == ["second"]
    assert fd.load_exported(folder, flags=QUICK).quantities == ("mass_matrix",)
    (tmp_path / "empty").mkdir()
    hinge().export_c(tmp_path / "empty")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "export"]


def test_folders_with_other_files_are_left_alone(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("x")
    with pytest.raises(fd.ArgumentError, match=r"holds 'thesis.tex', no file of an earlier export as it was written"):
        hinge().export_c(tmp_path / "mine")
    folder = hinge().export_c(tmp_path / "export")
    (folder / "main.c").write_text("int main(void) { return 0; }\n")
    with pytest.raises(fd.ArgumentError, match=r"holds 'main\.c', no file of an earlier export"):
        hinge().export_c(folder)
    with pytest.raises(fd.ArgumentError, match="a file: expected a folder"):
        hinge().export_c(folder / "main.c")
    with pytest.raises(fd.ArgumentError, match="expected one in a folder that exists, found no "):
        hinge().export_c(tmp_path / "no" / "where")
    with pytest.raises(fd.ArgumentTypeError, match="folder is 3: expected a path"):
        hinge().export_c(3)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["export", "mine"]


@pytest.mark.parametrize("step", ["mkdir", "write_bytes", "rename"])
@pytest.mark.parametrize("earlier", [False, True])
def test_a_folder_that_cannot_be_written_is_left_as_it_was(step, earlier, tmp_path, monkeypatch):
    folder = tmp_path / "export"
    if earlier:
        hinge().export_c(folder, prefix="first")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    whole, calls = getattr(Path, step), []

    def failing(self, *arguments, **options):
        calls.append(self)
        if len(calls) == 1 + (step != "mkdir") * earlier and ".export" in str(self):
            raise PermissionError(13, "Permission denied")
        return whole(self, *arguments, **options)

    monkeypatch.setattr(Path, step, failing)
    with pytest.raises(fd.ArgumentError, match="cannot be written: Permission denied"):
        hinge().export_c(folder)
    monkeypatch.undo()
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    assert [path.name for path in tmp_path.iterdir()] == ["export"] * earlier


def test_cmake_builds_and_tests_it_without_warnings(puma, tmp_path):
    if shutil.which("cmake") is None:
        pytest.skip("there is no cmake")
    robot, folder, _ = puma
    flags = f"-DCMAKE_C_FLAGS={' '.join(STRICT[1:])}"
    run("cmake", "-S", folder, "-B", tmp_path / "build", "-DBUILD_SHARED_LIBS=ON", flags)
    run("cmake", "--build", tmp_path / "build")
    assert "puma560_inverse_dynamics_batch" in run(tmp_path / "build" / "puma560_check")
    (library,) = (tmp_path / "build").glob("libpuma560_dynamics.*")
    exported = fd.load_exported(folder, library=library)
    assert_equal_torques(robot, exported, 1e-13)
    other = robot.with_payload(1.0).export_c(tmp_path / "other")
    with pytest.raises(fd.ArgumentError, match="built from another export"):
        fd.load_exported(other, library=library)


# ---------------------------------------------------------------------------------------------- what is asked for


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"quantities": ["inverse_dynamic"]}, "names 'inverse_dynamic': expected some of 'inverse_dynamics', "),
        ({"quantities": ["task_dynamics"]}, "names 'task_dynamics': expected some of "),
        ({"quantities": []}, "quantities is empty: expected some of "),
        ({"quantities": "mass_matrix"}, "quantities is 'mass_matrix': expected a sequence of names"),
        ({"quantities": [3]}, "quantities names 3: expected some of "),
        ({"real": "half"}, "real is 'half': expected 'double' or 'float'"),
        ({"sincos": "fast"}, "sincos is 'fast': expected 'libm' or 'own'"),
        ({"prefix": 3}, "prefix is 3: expected letters"),
        ({"quantities": ["jacobian"], "frame": "tool"}, "frame is 'tool', which is no link or frame of pendulum"),
    ],
)
def test_what_cannot_be_exported_is_refused(options, message, tmp_path):
    with pytest.raises((fd.ArgumentError, fd.ArgumentTypeError), match=message):
        hinge().export_c(tmp_path / "export", **options)
    assert not any(tmp_path.iterdir())


def test_robots_without_joints_or_mass_are_refused(tmp_path):
    with pytest.raises(fd.ArgumentError, match="post has no moving joint: there is nothing to export"):
        fd.Robot([fd.Link("base")], [], name="post").export_c(tmp_path / "export")
    with pytest.raises(fd.ArgumentError, match="pendulum has no centre of mass"):
        hinge(mass=0.0).export_c(tmp_path / "export", ["momentum"])
    assert not any(tmp_path.iterdir())


def test_an_export_without_batches_has_one_function_for_a_quantity(tmp_path):
    robot = hinge()
    folder = robot.export_c(tmp_path / "export", ["pose_and_jacobian", "kinetic_energy"], batch=False)
    assert "_batch" not in (folder / "pendulum.c").read_text() + (folder / "pendulum.h").read_text()
    exported = fd.load_exported(folder, flags=QUICK)
    q = np.linspace(-1, 1, 6).reshape(3, 2, 1)
    for found, expected in zip(exported.pose_and_jacobian(q), robot.pose_and_jacobian(q), strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=8 * EPS)
    assert exported.kinetic_energy([0.1], [2.0]).shape == ()
    run(FOUND[0], *STRICT, *folder.glob("*.c"), "-o", tmp_path / "check", "-lm")
    run(tmp_path / "check")


# ---------------------------------------------------------------------------------------------- calls from Python


def test_arrays_of_any_shape_and_order_and_out(puma):
    robot, _, exported = puma
    q, qd, qdd = motion(robot, 5, 4)
    expected = robot.inverse_dynamics(q, qd, qdd)
    bound = 1e-13 * np.abs(expected).max()

    def close(found: Any, to: Any = expected) -> bool:
        return np.shape(found) == np.shape(to) and bool((np.abs(found - to) <= bound).all())

    assert close(exported.inverse_dynamics(q, qd, qdd))
    assert close(exported.inverse_dynamics(q[0, 0].tolist(), qd[0, 0], qdd=qdd[0, 0]), expected[0, 0])
    assert close(exported.inverse_dynamics(q=np.asfortranarray(q), qdd=qdd[..., ::1], qd=qd))
    assert close(exported.inverse_dynamics(q, qd[0, 0], 0 * qdd[:1]), robot.inverse_dynamics(q, qd[0, 0], 0 * qdd[:1]))
    assert exported.inverse_dynamics(q[:0], qd[:0], qdd[:0]).shape == (0, 4, 6)
    for out in (np.empty((5, 4, 6)), np.empty((5, 4, 12))[..., ::2]):
        assert exported.inverse_dynamics(q, qd, qdd, out=out) is out
        assert close(out)
    own = qdd.copy()
    assert exported.inverse_dynamics(q, qd, own, out=own) is own  # the result in place of an argument
    assert close(own)


def test_wrong_arguments_are_told_as_the_robot_does(puma):
    robot, _, exported = puma
    zero = np.zeros((3, 6))
    for wrong in (
        lambda arm: arm.inverse_dynamics(np.zeros(7), zero, zero),
        lambda arm: arm.inverse_dynamics(zero, zero, np.zeros((2, 6))),
        lambda arm: arm.inverse_dynamics("q", zero, zero),
        lambda arm: arm.inverse_dynamics(zero, zero, zero, out=np.zeros((3, 7))),
        lambda arm: arm.inverse_dynamics(zero, zero, zero, out=np.zeros((3, 6), np.float32)),
        lambda arm: arm.inverse_dynamics(zero, np.full(6, np.nan), zero),
    ):
        messages = []
        for arm in (robot, exported):
            with pytest.raises(fd.FastdynError) as found:
                wrong(arm)
            messages.append((type(found.value), str(found.value)))
        assert messages[0] == messages[1]
    for count, named in ((2, {}), (4, {}), (3, {"q": zero}), (2, {"u": zero})):
        with pytest.raises(fd.ArgumentTypeError, match="inverse_dynamics takes q, qd, qdd, each once"):
            exported.inverse_dynamics(*[zero] * count, **named)
    with pytest.raises(AttributeError, match="has no 'mass_matrix': expected one of inverse_dynamics"):
        exported.mass_matrix(zero)


def test_results_of_several_arrays_go_to_a_tuple(tmp_path):
    exported = fd.load_exported(hinge().export_c(tmp_path / "export", ["pose_and_jacobian"]), flags=QUICK)
    out = np.empty((3, 4, 4)), np.empty((3, 6, 1))
    assert exported.pose_and_jacobian(np.ones((3, 1)), out=out) is out
    assert abs(out[0][1, 0, 0] - np.cos(1.0)) <= 4 * EPS
    with pytest.raises(fd.ArgumentError, match="out has 1 arrays: expected 2"):
        exported.pose_and_jacobian(np.ones((3, 1)), out=out[:1])
    with pytest.raises(fd.ArgumentTypeError, match="out is a ndarray: expected a tuple of 2 arrays"):
        exported.pose_and_jacobian(np.ones((3, 1)), out=out[0])


def test_what_cannot_be_loaded_is_told(puma, tmp_path, monkeypatch):
    with pytest.raises(fd.ArgumentError, match="expected one that export_c has written"):
        fd.load_exported(tmp_path)
    folder = Path(shutil.copytree(puma[1], tmp_path / "copy"))
    facts = json.loads((folder / "export.json").read_text())
    for change in ({"format": 2}, {"prefix": "../x"}, {"real": "half"}, {"functions": 3}, {"names": [1]}):
        (folder / "export.json").write_text(json.dumps(facts | change))
        with pytest.raises(fd.ArgumentError, match=r"no good export\.json"):
            fd.load_exported(folder)
    (folder / "export.json").write_text("{")
    with pytest.raises(fd.ArgumentError, match=r"no good export\.json"):
        fd.load_exported(folder)
    (folder / "export.json").write_text(json.dumps(facts))
    with pytest.raises(fd.FastdynError, match=r"cannot compile .*:\n.*nonsense"):
        fd.load_exported(folder, flags=["-fnonsense"])
    with pytest.raises(fd.FastdynError, match="compiler is 'nocc': expected a command, found none of this name"):
        fd.load_exported(folder, compiler="nocc")
    with pytest.raises(fd.ArgumentError, match="expected one built from the export"):
        fd.load_exported(folder, library=folder / "main.c")
    monkeypatch.setenv("CC", f"{FOUND[0]} -fnonsense")
    with pytest.raises(fd.FastdynError, match="-fnonsense -std=c99"):
        fd.load_exported(folder)
    monkeypatch.delenv("CC")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(fd.FastdynError, match="found no C compiler: expected cc, gcc, clang, or one named by CC"):
        fd.load_exported(folder)
