"""Benchmarks against peers: what is measured, kept, compared and shown. Clocks and programs are made up here."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import fastdyn as fd
from fastdyn import cli
from fastdyn.bench import measure
from fastdyn.bench import report as pages
from fastdyn.bench.case import BATCH, INVERSE, SINGLE, Case, Job, chain, plain
from fastdyn.bench.compare import Comparison
from fastdyn.bench.peers import OURS, PEERS, Program, urdf
from fastdyn.bench.results import Bench, Row, Untimed, quickest
from fastdyn.page.content import Table
from fastdyn.page.markup import html, markdown

EPS = float(np.finfo(float).eps)


def row(program: str = "fastdyn", ns: float = 30.0, ratio: float = 1.0, *passes: float, robot: str = "arm") -> Row:
    return Row(robot, 6, INVERSE, BATCH, program, ns, ratio, passes or (ratio,) * 3, 4e-16)


QUIET = Bench(
    command="fastdyn bench", date="2026-01-02 03:04 UTC", extent="full", processor="a processor", cores=4,
    instructions="code for this host, 256-bit registers", system="Linux x86_64",
    versions={"Python": "3.11.7", "fastdyn": "0.1.0", "pin": "4.1.0"}, absent={"Drake": "pip install drake"},
    load_before=0.1, load_during=(1.0, 1.1), share=(1.0, 0.99), batch=8192, passes=3, turns=8, compiler="gcc -O3",
    unfinished=(),
    rows=(
        row(), row("fastdyn, specialised", 15.0, 0.5), row("Pinocchio", 900.0, 30.0, 29.5, 30.0, 30.5),
        row(robot="chain(48)"), row("Pinocchio", 600.0, 20.0, robot="chain(48)"),
    ),
    untimed=(Untimed("arm", INVERSE, SINGLE, "PyBullet", 0.03, "its result is not fastdyn's"),),
)  # fmt: skip


# ---------------------------------------------------------------------------------------------- measuring


class Arm:
    """A robot of one joint whose inverse dynamics is 2 qdd: nothing is compiled."""

    name, n = "chain(1)", 1

    def inverse_dynamics(self, q: Any, qd: Any, qdd: Any) -> Any:
        return 2.0 * qdd

    def mass_matrix(self, q: Any) -> Any:
        return np.full((*q.shape, 1), 2.0)


class Made(Program):
    """A program whose jobs give `factor` times the right torques; None: it raises."""

    factors: dict[str, float | None] = {}  # noqa: RUF012

    def jobs(self, case: Case) -> Iterator[Job]:
        factor = self.factors[self.name]
        yield Job(self.name, INVERSE, BATCH, lambda: case.tau)
        if factor is None:
            raise RuntimeError("has no motors\nand more")
        yield Job(self.name, INVERSE, SINGLE, lambda: None, lambda: factor * case.one.tau)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four programs, one of them not installed; the clock ticks by the length of their names."""
    ours, right, wrong, refusing, absent = (
        Made(name, "", (name,), (package,))
        for name, package in zip(
            ("fastdyn", "right", "wrong", "refuses", "absent"), ("sys", "sys", "sys", "sys", "no_such_package"),
            strict=True,
        )
    )  # fmt: skip
    monkeypatch.setattr(Made, "factors", {"fastdyn": 1.0, "right": 1.0 + EPS, "wrong": np.nan, "refuses": None})
    monkeypatch.setattr(Made, "versions", {})
    monkeypatch.setattr(measure, "OURS", ours)
    monkeypatch.setattr(measure, "PEERS", (right, wrong, refusing, absent))
    monkeypatch.setattr(measure, "chain", lambda n: Arm())
    passes = iter(range(1, 100))

    def best(jobs: dict[str, Any], turns: int) -> dict[str, float]:
        slower = next(passes)
        return {name: 1e-6 * slower * len(name) for name in jobs}

    monkeypatch.setattr(measure.clock, "best", best)


PLAN = measure.Plan("quick", (), (1, 2), passes=3, turns=1)


@pytest.mark.usefixtures("made")
def test_programs_that_agree_are_timed_and_others_listed() -> None:
    kept: list[Bench] = []
    said: list[tuple[float, str]] = []
    found = measure.measure(PLAN, "fastdyn bench", lambda *step: said.append(step), kept.append)
    assert [(r.what, r.call, r.program) for r in found.rows[:5]] == [
        *((INVERSE, BATCH, name) for name in ("fastdyn", "right", "wrong", "refuses")), (INVERSE, SINGLE, "fastdyn"),
    ]  # fmt: skip
    assert found.rows[1].ratio == pytest.approx(5 / 7)
    assert found.rows[1].ns == pytest.approx(1e3 * 5 / 8192)  # of a state of a batch, in the quickest pass
    assert found.rows[4].ns == pytest.approx(1e3 * 7 * 2)
    assert len(found.rows[1].passes) == 3
    assert [(u.program, u.call, u.difference, u.why) for u in found.untimed[:2]] == [
        ("wrong", SINGLE, None, "its result is not fastdyn's"), ("refuses", "", None, "has no motors"),
    ]  # fmt: skip
    assert found.absent == {"absent": "pip install absent"}
    assert found.unfinished == ()
    assert [bench.unfinished for bench in kept] == [("chain(2)",), ()]
    assert kept[0].rows == found.rows[: len(kept[0].rows)]
    fractions = [fraction for fraction, _ in said]
    assert fractions == sorted(fractions)
    assert fractions[-1] <= 1.0


def test_an_error_of_fastdyn_itself_is_not_hidden(made: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(Made.factors, "fastdyn", None)
    with pytest.raises(RuntimeError, match="has no motors"):
        measure.measure(PLAN, "")


@pytest.mark.parametrize("peer", [OURS, *PEERS], ids=lambda peer: peer.name)
def test_programs_compute_what_fastdyn_does(peer: Program) -> None:
    if peer.missing:
        pytest.skip(f"{peer.name} is not installed")
    found = list(measure.checked(Case(chain(3), 16), peer))
    assert found
    assert not [each for each in found if isinstance(each, Untimed)]
    assert peer.versions.keys() == {name.partition("[")[0] for name in peer.distributions}
    assert np.nextafter(0.0, 1.0) * np.ones(1) > 0  # no library has switched subnormal numbers off


def test_a_package_without_metadata_has_an_unknown_version() -> None:
    peer = Program("a peer", "", ("no-such-distribution[extra]",), ("sys",))
    assert not peer.missing
    assert peer.versions == {"no-such-distribution": "unknown"}


def test_the_urdf_for_peers_is_the_same_robot() -> None:
    arm = plain("panda")
    again = fd.from_urdf(urdf.text(arm)).with_gravity(arm.gravity)
    q, qd, qdd = np.random.default_rng(0).uniform(-1, 1, (3, 8, arm.n))
    tau = arm.inverse_dynamics(q, qd, qdd)
    # poses pass through roll, pitch and yaw, inertias through sums of moments: some roundings for each joint
    scale = np.abs(tau).max()
    np.testing.assert_allclose(again.inverse_dynamics(q, qd, qdd), tau, rtol=0, atol=100 * arm.n * EPS * scale)


# ---------------------------------------------------------------------------------------------- what is kept


def test_a_run_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    page = pages.write(QUIET, tmp_path / "new")
    assert pages.read(page.parent / "bench.json") == QUIET
    names = {str(path.relative_to(page.parent)) for path in page.parent.rglob("*") if path.is_file()}
    assert names == {
        "index.html", "summary.md", "bench.json", "csv/quickest.csv", "csv/robot-1.csv", "csv/robot-2.csv",
        "csv/untimed.csv", "csv/absent.csv",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("no json", "expected JSON"),
        ("[]", "expected a file of the form 'fastdyn bench 1', found None"),
        ('{"form": "fastdyn bench 2"}', "expected a file of the form 'fastdyn bench 1', found 'fastdyn bench 2'"),
        ('{"form": "fastdyn bench 1", "cores": 2}', "has no command"),
        (pages.text(QUIET).replace('"cores": 4', '"cores": "four"'), r"\.cores is 'four': expected int"),
        (pages.text(QUIET).replace("900.0", "NaN"), "NaN"),
    ],
)
def test_other_files_are_refused_by_name(content: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "old.json"
    path.write_text(content)
    with pytest.raises(fd.FastdynError, match=f"^{path}: .*{message}"):
        pages.read(path)


def test_doubts_name_a_loaded_host_ratios_that_vary_and_robots_left_out() -> None:
    assert QUIET.doubts == ()
    (before,) = replace(QUIET, load_before=1.5).doubts
    assert "load average 1.5 before" in before
    assert "on 4 cores" in before
    (during,) = replace(QUIET, load_during=(1.0, 2.5)).doubts
    assert "up to 2.5 during" in during
    (share,) = replace(QUIET, share=(1.0, 0.7)).doubts
    assert "70 % of a core" in share
    assert replace(QUIET, load_before=None, load_during=()).doubts == ()  # a system that tells no load
    (varies,) = replace(QUIET, rows=(row(), row("a peer", 60.0, 2.0, 1.95, 2.2))).doubts
    assert varies.startswith("1 of 2 ratios differ by more than 10 %")
    (ended,) = replace(QUIET, unfinished=("chain(24)", "chain(48)")).doubts
    assert "chain(24), chain(48) not measured" in ended


def test_headlines_are_of_the_quickest_and_only_from_quiet_steady_runs() -> None:
    (found,) = pages.headlines(QUIET)
    assert found.value == "20 to 60 times"  # 600 / 30 and 900 / 15
    assert "inverse dynamics, batch" in found.label
    assert found.label.endswith("Pinocchio, chain(48)")
    assert not list(pages.headlines(replace(QUIET, load_before=3.0)))
    assert not list(pages.headlines(replace(QUIET, rows=(row(), row("Pinocchio", 900.0, 30.0, 20.0, 30.0)))))
    assert not list(pages.headlines(replace(QUIET, rows=(row(),))))  # no peer is installed
    assert quickest(QUIET.rows, ours=True) == row("fastdyn, specialised", 15.0, 0.5)


def test_the_page_shows_ratios_agreement_versions_and_what_is_missing() -> None:
    made = pages.report(replace(QUIET, load_before=3.0))
    page, text = html(made), markdown(made)
    for shown in (
        "a processor, 4 cores", "256-bit registers", "2026-01-02", "pip install drake", "pin 4.1.0", "PyBullet",
        "result is not fastdyn", "fastdyn, specialised", "load average 3.0 before", "gcc -O3", "3.0 before; 1.0, 1.1",
    ):  # fmt: skip
        assert shown in page
        assert shown in text
    assert [picture.title.partition(":")[0] for picture in made.pictures] == ["Inverse dynamics, batch"]
    assert "<svg" in page
    assert page.count("Warning:") == text.count("Warning:") == 1
    (of_arm,) = (table for table in made.tables if table.key == "robot-1")
    assert of_arm.rows[2] == (INVERSE, BATCH, "Pinocchio", 900.0, 30.0, 29.5, 30.5, "yes", 4e-16)
    assert "Everything was timed." in html(pages.report(replace(QUIET, absent={}, untimed=())))


# ---------------------------------------------------------------------------------------------- two runs


NEWER = replace(
    QUIET, processor="another", versions={"Python": "3.11.7", "fastdyn": "0.2.0", "mujoco": "4.0.0"},
    rows=(
        row(ns=24.0), row("Pinocchio", 960.0, 40.0, 39.0, 41.0), row(ns=60.0, robot="chain(48)"),
        row("Pinocchio", 1200.0, 20.0, 19.9, 20.1, robot="chain(48)"), row("MuJoCo", 48.0, 2.0),
    ),
)  # fmt: skip


def test_a_comparison_has_the_ratio_of_ratios_and_what_differs() -> None:
    both = Comparison(QUIET, NEWER)
    ratios = {row[:4]: row[4:] for row in pages.ratios_table(both).rows}
    assert ratios == {
        ("arm", INVERSE, BATCH, "Pinocchio"): (30.0, 40.0, 40 / 30, "yes"),
        ("chain(48)", INVERSE, BATCH, "Pinocchio"): (20.0, 20.0, 1.0, "no"),
    }
    assert [row[4:] for row in pages.times_table(both).rows] == [(30.0, 24.0, 0.8), (30.0, 60.0, 2.0)]
    assert [row.program for row in both.only_old] == ["fastdyn, specialised"]
    assert [row.program for row in both.only_new] == ["MuJoCo"]
    assert pages.missing_table(both).rows == (
        ("old", "arm", "fastdyn, specialised", 1, "inverse dynamics, batch"),
        ("new", "arm", "MuJoCo", 1, "inverse dynamics, batch"),
    )
    (whole,) = pages.missing_table(Comparison(QUIET, replace(QUIET, rows=QUIET.rows[:3]))).rows
    assert whole == ("old", "chain(48)", "all", 2, "")
    assert {(d.name, d.old, d.new) for d in both.differences} == {
        ("fastdyn", "0.1.0", "0.2.0"), ("pin", "4.1.0", None), ("mujoco", None, "4.0.0"),
        ("processor", "a processor", "another"),
    }  # fmt: skip
    assert Comparison(QUIET, QUIET).differences == ()


def test_the_page_of_a_comparison_shows_both_and_their_doubts(tmp_path: Path) -> None:
    page = pages.write_comparison(Comparison(replace(QUIET, load_before=9.0), NEWER), tmp_path)
    text = page.read_text()
    assert all(shown in text for shown in ("a processor", "another", "Old run: The host was loaded", "MuJoCo", "0.2.0"))
    assert json.loads((tmp_path / "comparison.json").read_text())["form"] == "fastdyn bench comparison 1"


# ---------------------------------------------------------------------------------------------- the command


def invoke(*arguments: str | Path) -> str:
    found = CliRunner().invoke(cli.app, ["bench", *map(str, arguments)], catch_exceptions=False)
    assert found.exit_code == 0
    return found.output


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[measure.Plan]:
    """The command measures nothing; the plans it was asked for."""
    asked: list[measure.Plan] = []

    def run(plan: measure.Plan, command: str, progress: Any, keep: Callable[[Bench], None]) -> Bench:
        asked.append(plan)
        progress(0.5, "half of it")
        keep(replace(NEWER, unfinished=("chain(6)",)))
        return replace(NEWER, command=command)

    monkeypatch.setattr(measure, "measure", run)
    return asked


def test_the_command_writes_a_page_and_shows_the_quickest(measured: list[measure.Plan], tmp_path: Path) -> None:
    said = invoke("--quick", "--sizes", "6, 12", "--out", tmp_path / "new")
    assert measured == [replace(measure.QUICK, sizes=(6, 12))]
    assert "50%  half of it" in said
    assert "Pinocchio" in said
    assert f"wrote {tmp_path / 'new' / 'index.html'}" in said
    assert pages.read(tmp_path / "new" / "bench.json").command == "fastdyn bench --quick --sizes 6,12"
    assert not (tmp_path / "new" / "unfinished.json").exists()


def test_the_command_compares_two_runs(measured: list[measure.Plan], tmp_path: Path) -> None:
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    old.write_text(pages.text(QUIET))
    new.write_text(pages.text(NEWER))
    said = invoke("--from", new, "--compare", old)
    assert "1.33" in said
    assert "a processor" in said
    assert "fastdyn, specialised" in said
    assert "wrote" not in said
    assert invoke("--from", new, "--compare", old, "--out", tmp_path / "both").startswith(said[:200])
    assert (tmp_path / "both" / "comparison" / "index.html").is_file()
    assert not measured
    assert "1.33" in invoke("--compare", old, "--out", tmp_path / "now")
    assert measured == [measure.FULL]


def test_ctrl_c_keeps_the_robots_that_were_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def run(plan: Any, command: str, progress: Any, keep: Callable[[Bench], None]) -> Bench:
        keep(replace(QUIET, unfinished=("chain(6)",)))
        raise KeyboardInterrupt

    monkeypatch.setattr(measure, "measure", run)
    with pytest.raises(KeyboardInterrupt):
        cli.bench(out=tmp_path)
    (part,) = tmp_path.iterdir()
    assert f"`fastdyn bench --from {part}`" in capsys.readouterr().err
    assert "Pinocchio" in invoke("--from", part)
    assert "chain(6) not measured" in invoke("--from", part)


def test_without_matplotlib_the_extra_is_named(
    measured: list[measure.Plan], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(fd.MissingExtraError, match=r"fastdyn\[plots\]"):
        cli.bench(out=tmp_path)
    assert not measured


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--sizes", "6;7"], "--sizes is '6;7': expected numbers of joints"),
        (["--from", "old.json", "--quick"], "--from and --quick or --sizes: expected one of them"),
        (["--from", "old.json"], "old.json"),
        (["--compare", "old.json"], "old.json"),
    ],
)
def test_what_cannot_be_done_is_said_before_measuring(
    arguments: list[str], message: str, measured: list[measure.Plan], monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str], tmp_path: Path,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["fastdyn", "bench", *arguments])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 2
    assert message in capsys.readouterr().err
    assert not measured
    assert not list(tmp_path.iterdir())


def test_tables_on_the_terminal_keep_brackets_and_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    from fastdyn.page.content import Column

    cli._print(Table("key", "A title", (Column("name"), Column("value", "number")), (("[bold]", 1234.5), ("b", None))))
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
        ["A", "title"], ["name", "value"], ["[bold]", "1,234"], ["b"],
    ]  # fmt: skip
