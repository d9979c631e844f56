"""The command line: what it says, on which stream, and with which exit code."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import fastdyn as fd
from fastdyn import cli
from tests import small_report

MASSLESS = """<robot name="r"><link name="a"/><link name="b"/>
<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint></robot>"""
BAD = MASSLESS.replace("<parent", '<origin xyz="0 0 1,5"/><parent')


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own."""
    return subprocess.run([sys.executable, "-m", "fastdyn", *arguments], capture_output=True, text=True, check=False)


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Runs a command in this process; returns the one line on stderr with which it ends."""

    def one_line(*arguments: str) -> str:
        monkeypatch.setattr(sys, "argv", ["fastdyn", *arguments])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        assert ended.value.code == 2
        said = capsys.readouterr()
        assert said.out == ""
        (line,) = said.err.splitlines()
        assert line.startswith("fastdyn: ")
        return line

    return one_line


def invoke(*arguments: str) -> str:
    found = CliRunner().invoke(cli.app, list(arguments), catch_exceptions=False)
    assert found.exit_code == 0
    return found.output


def test_robots_are_listed_with_joints_mass_and_source() -> None:
    said = invoke("robots")
    assert all(name in said for name in fd.robots.names())
    (stanford,) = (line for line in said.splitlines() if line.startswith("stanford"))
    assert stanford.split()[1:3] == ["RRPRRR", f"{fd.robots.stanford().moving_mass:.4g}"]
    assert "Armstrong" in said
    assert max(map(len, said.splitlines())) <= cli.WIDTH


def test_info_shows_a_built_in_robot_with_its_source_and_doubts() -> None:
    said = invoke("info", "puma560")
    assert str(fd.robots.puma560()) in said
    assert "Source: Inertia and friction: Armstrong" in said
    assert "'link1' has moments of inertia" in said
    assert said.count("'link1' has moments of inertia") == 1


@pytest.mark.parametrize("name", fd.robots.names(coupled=True))
def test_info_shows_a_coupled_robot(name: str) -> None:
    said = invoke("info", name, "--coupled")
    assert str(fd.robots.get(name, coupled=True)) in said
    assert "Norrlöf's report; its masses are illustrative." in said
    assert ">>>" not in said


def test_info_shows_a_file_and_what_is_doubtful_about_it(tmp_path: Path) -> None:
    file = tmp_path / "arm.urdf"
    file.write_text(MASSLESS)
    found = run("info", str(file))
    assert found.returncode == 0
    assert "1 joint (R)" in found.stdout
    assert "warning: " in found.stdout
    assert "'b'" in found.stdout.partition("warning: ")[2]
    assert found.stderr == ""


def test_a_bad_file_is_one_line_in_a_real_process_too(tmp_path: Path) -> None:
    file = tmp_path / "bad.urdf"
    file.write_text(BAD)
    found = run("info", str(file))
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr.startswith(f"fastdyn: {file}:2: ")
    assert found.stderr.count("\n") == 1
    assert "1,5" in found.stderr


def test_what_cannot_be_done_is_one_line_and_exit_code_2(refused: Callable[..., str], tmp_path: Path) -> None:
    file = tmp_path / "bad.urdf"
    file.write_text(BAD)
    assert str(file) in refused("info", str(file))
    assert "No such file" in refused("info", str(tmp_path / "absent.urdf"))
    assert "did you mean 'puma560'?" in refused("info", "puma")
    assert "ROBOT" in refused("info")
    assert "'robot'" in refused("robot")
    assert "expected JSON" in refused("study", "--from", str(file))
    assert "--from and --quick" in refused("study", "--from", str(file), "--quick")
    assert "--size" in refused("bench", "--size", "6")
    for out in (file, file / "results", Path("/proc/nowhere/results"), tmp_path / ("x" * 300)):
        for command in ("study", "bench"):
            assert f"--out is {out}: expected a folder for files: " in refused(command, "--out", str(out))
    assert list(tmp_path.iterdir()) == [file]


def test_help_has_examples_and_every_command() -> None:
    said = invoke("--help")
    assert "Examples:" in said
    assert "fastdyn info arm.urdf" in said
    for command in ("info", "bench", "study"):
        assert f"fastdyn {command}" in invoke(command, "--help")
    assert invoke() == said


def test_version() -> None:
    assert invoke("--version") == f"fastdyn {fd.__version__}\n"


def loaded_by_help() -> set[str]:
    """The modules that `fastdyn --help` imports."""
    code = "import sys, fastdyn.cli; sys.argv[1:] = ['--help']\ntry: fastdyn.cli.main()\nfinally: print(*sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(found.stdout.splitlines()[-1].split())


def test_help_imports_neither_reports_nor_what_draws() -> None:
    assert loaded_by_help() & {"fastdyn.study", "fastdyn.bench", "matplotlib", "rich"} == set()


def test_without_typer_one_line_names_the_extra() -> None:
    code = "import sys; sys.modules['typer'] = None; import fastdyn.__main__"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert found.returncode == 2
    assert found.stderr == "fastdyn: the command line needs typer and rich: pip install 'fastdyn[cli]'\n"


def test_study_writes_the_page_and_says_what_it_does(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def gather(quick: bool, progress: Any, command: str, keep: Any) -> Any:
        progress(0.5, "half of it")
        assert quick
        assert command == "fastdyn study --quick"
        found = small_report.results()
        keep(found)
        assert unfinished.read_text(encoding="utf-8") == found.text()
        return found

    unfinished = tmp_path / "study" / "unfinished.json"
    monkeypatch.setattr("fastdyn.study.report.gather", gather)
    said = invoke("study", "--quick", "--out", str(tmp_path / "study"))
    assert not unfinished.exists()
    assert "50%  half of it" in said
    assert f"wrote {tmp_path / 'study' / 'index.html'}" in said
    assert (tmp_path / "study" / "index.html").is_file()


@pytest.mark.skipif(os.name == "nt", reason="signals of another kind")
def test_an_interrupt_ends_with_130_and_leaves_nothing_half_written(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "fastdyn", "study", "--quick", "--out", str(tmp_path / "study")],
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    process.stderr.readline()  # it is under way
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said.splitlines()[-1] == "fastdyn: interrupted"
    assert "Traceback" not in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="signals of another kind")
@pytest.mark.parametrize("module", ["fastdyn", "fastdyn.realtime", "fastdyn.demo"])
@pytest.mark.parametrize("imported", ["fastdyn.interrupt", "numpy", "fastdyn.robots"])
def test_an_interrupt_while_importing_ends_with_130_and_without_a_traceback(module: str, imported: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-X", "importtime", "-m", module, "--help"],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    while process.stderr.readline().rpartition("|")[2].strip() != imported:
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said.splitlines()[-1] == "fastdyn: interrupted"
    assert "Traceback" not in said


@pytest.mark.parametrize("program", ["fastdyn", "/usr/bin/fastdyn", "fastdyn.exe", "-m", "pytest", "-c", ""])
def test_only_the_own_commands_change_what_ctrl_c_does(program: str) -> None:
    code = (
        f"import sys, signal; sys.argv = [{program!r}]; sys.orig_argv = ['python', '-m', 'fastdyn.cli']\n"
        "import fastdyn\n"
        "ours = signal.getsignal(signal.SIGINT) is not signal.default_int_handler; fastdyn.interrupt.handle_again()\n"
        "print(ours, signal.getsignal(signal.SIGINT) is signal.default_int_handler)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split() == [str("fastdyn" in program or program == "-m"), "True"]


ASCII = {"PYTHONIOENCODING": "ascii", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


@pytest.mark.parametrize("arguments", [["robots"], ["info", "irb1400"], ["info", "ROBOT"], ["--help"], ["info", "ö"]])
def test_an_ascii_terminal_can_show_everything(arguments: list[str], tmp_path: Path) -> None:
    file = tmp_path / "arm.urdf"
    file.write_text(fd.to_urdf(fd.robots.two_link()).replace("link1", "glied\u00f6"), encoding="utf-8")
    command = [sys.executable, "-m", "fastdyn", *(str(file) if each == "ROBOT" else each for each in arguments)]
    found = subprocess.run(command, capture_output=True, check=False, env={**os.environ, **ASCII})
    assert found.returncode == (2 if "ö" in arguments else 0)
    assert b"Traceback" not in found.stderr
    (found.stdout + found.stderr).decode("ascii")
    if "irb1400" in arguments:
        assert b"Norrl?f" in found.stdout


def test_progress_is_shown_on_an_ascii_terminal() -> None:
    code = (
        "from fastdyn import cli, output; output.print_anything()\n"
        "with cli._progress() as say: say(0.5, 'half \\u00b1 nothing')\n"
        "from rich import console; console.Console.is_terminal = True\n"
        "with cli._progress() as say: say(0.5, 'half \\u00b1 nothing')\n"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, env={**os.environ, **ASCII})
    assert (found.returncode, found.stdout) == (0, b"")
    assert found.stderr.count(b"half ? nothing") >= 2


def test_warnings_are_printed_once(capsys: pytest.CaptureFixture[str]) -> None:
    with cli._tidy_warnings():
        fd.robots.puma560()
        fd.robots.puma560()
    first, *lines = capsys.readouterr().err.splitlines()
    assert first.startswith("fastdyn: warning: robot 'puma560' has links")
    assert [line.split()[0] for line in lines] == [repr(name) for name in fd.robots.puma560().doubts()]
