"""Checks, times, and writes peers.md, peers.json and peers.png."""

from __future__ import annotations

import argparse
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import fastdyn as fd
from benchmarks import common
from benchmarks.common import figures, markdown
from benchmarks.peers import generated, ours
from benchmarks.peers.case import BATCH, FORWARD, Case, Job
from benchmarks.startup import first_process, second_process

PROGRAMS = ("ours", "pinocchio", "mujoco", "drake", "bullet", "toolbox", "generated")
SIZES = (6, 7, 12, 24, 48)
T = 8192
Row = dict[str, Any]


def main() -> None:
    options = _options()
    turns = 5 if options.quick else 40
    programs = [import_module(f"benchmarks.peers.{name}") for name in PROGRAMS]
    installed = [program for program in programs if find_spec(program.MODULE)]
    about = common.circumstances()
    about["versions"] |= common.versions(program.PACKAGE for program in installed) | common.versions(["adam-robotics"])
    absent = [program.NAME for program in programs if program not in installed] + ["ADAM"] * (not generated.adam())
    about |= {"batch": T, "turns": turns, "warm": options.warm, "threads": 1, "gcc": " ".join(generated.FLAGS)}
    about["not installed"] = absent
    rows: list[Row] = []
    for robot in (common.puma(), *map(common.chain, options.sizes)):
        print(f"{robot.name} ...", flush=True)
        rows += compare(robot, installed, turns, options.warm)
    startup = {"first process": first_process(options.quick), "second process": second_process()}
    page = report(about, rows, startup)
    print("\n" + page)
    common.write(options.out / "peers.md", page)
    common.write_json(options.out / "peers.json", {"about": about, "rows": rows, "startup, seconds": startup})
    if find_spec("matplotlib"):
        from benchmarks.peers.chart import chart

        common.write(options.out / "peers.png", lambda file: chart(about, rows, file))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description="fastdyn and its peers in one run.")
    parser.add_argument("--quick", action="store_true", help="few turns, little compiled anew: to see that it runs")
    parser.add_argument("--warm", action="store_true", help="an untimed run before each timed one: short jobs gain")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="joints of the random chains")
    parser.add_argument("--out", type=Path, default=common.RESULTS, help="folder for peers.md, peers.json, peers.png")
    return parser.parse_args()


def compare(robot: fd.Robot, programs: list[ModuleType], turns: int, warm: bool) -> list[Row]:
    """One row for each job; jobs that compute the same take turns. A note says why a job was not timed."""
    case = Case(robot, T)
    rows: list[Row] = []
    ready: dict[tuple[str, str], dict[str, tuple[Job, Row]]] = {}
    for program in programs:
        row = {"robot": robot.name, "joints": robot.n, "what": "", "call": "", "program": program.NAME}
        row |= {"ns": None, "ratio": None, "error": None, "note": ""}
        try:
            for job in list(program.jobs(case)):
                row = row | {"what": job.what, "call": job.call, "program": job.program}
                row["error"] = case.error(job.what, job.call, job.result())
                if row["error"] <= case.allowed[job.what]:
                    ready.setdefault((job.what, job.call), {})[job.program] = job, row
                    rows.append(row)
                else:
                    rows.append(row | {"note": "does not agree: not timed"})
        except Exception as problem:  # other programs may raise anything
            if program is ours:
                raise
            reason = (str(problem).splitlines() or [""])[0][:80]
            rows.append(row | {"error": None, "note": f"refused: {type(problem).__name__}: {reason}"})
    for (_, call), jobs in ready.items():
        seconds = common.best({name: job.run for name, (job, _) in jobs.items()}, turns, warm)
        for name, (_, row) in jobs.items():
            row["ns"] = seconds[name] * 1e9 / (T if call == BATCH else 1)
            row["ratio"] = seconds[name] / seconds[ours.NAME]
    questions = list(ready)
    return sorted(rows, key=lambda row: questions.index((row["what"], row["call"])) if row["what"] else len(questions))


def report(about: dict[str, Any], rows: list[Row], startup: dict[str, Any]) -> str:
    """The report as a Markdown page."""
    header = ("robot", "what", "call", "program", ">ns per state", ">times fastdyn's", ">differs by", "")
    table = markdown(
        header,
        (
            (
                *(row[key] for key in ("robot", "what", "call", "program")),
                figures(row["ns"]), figures(row["ratio"]), _difference(row), row["note"],
            )
            for row in rows
        ),
    )  # fmt: skip
    absent = ", ".join(about["not installed"]) or "none"
    first = startup["first process"]
    follows = "each job after itself" if about["warm"] else "each job after another"
    return (
        common.heading("fastdyn and its peers", about)
        + f"One thread; batches of {T}; best of {about['turns']} turns, {follows}; generated C: gcc {about['gcc']}.\n"
        + "A figure above 1 in the sixth column means that fastdyn is that many times as fast. `differs by` is the\n"
        + "largest difference from fastdyn's result (of forward dynamics: from the accelerations that the torques\n"
        + "were made from), as a share of the largest number in it. Peers are PyPI's wheels: those of Pinocchio,\n"
        + "PyBullet and the Toolbox hold next to no AVX instructions, and may gain from being built on the machine.\n"
        + f"Not installed: {absent}.\n\n"
        + table
        + f"\nImport and first call in a second process: {startup['second process']:.2f} s. With an empty cache:\n\n"
        + markdown(("what", ">seconds"), [(what, f"{seconds:.2f}") for what, seconds in first.items()])
    )


def _difference(row: Row) -> str:
    if row["program"] == ours.NAME and row["what"] != FORWARD:
        return "reference"
    return "" if row["error"] is None else f"{row['error']:.0e}"


if __name__ == "__main__":
    main()
