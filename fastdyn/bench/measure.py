"""Checks that programs agree, and times those that do."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from importlib import metadata

import numpy as np

from fastdyn import clock, output
from fastdyn.bench.case import BATCH, STATES, Case, Job, chain, plain
from fastdyn.bench.peers import OURS, PEERS, Program
from fastdyn.bench.peers.generated import FLAGS
from fastdyn.bench.results import Bench, Row, Untimed
from fastdyn.compiler.host import register_bits
from fastdyn.robot import Robot

Progress = Callable[[float, str], None]
Question = tuple[str, str]  # what is computed, and by which kind of call


@dataclass(frozen=True)
class Plan:
    """Extent of a run. A ratio is that of the best of `turns` turns; it is measured in each pass."""

    extent: str
    arms: tuple[str, ...]
    sizes: tuple[int, ...]
    passes: int
    turns: int


FULL = Plan("full", ("puma560", "panda"), (6, 7, 12, 24, 48), passes=5, turns=20)
QUICK = Plan("quick", ("puma560",), (6,), passes=3, turns=3)


def measure(
    plan: Plan,
    command: str,
    progress: Progress = lambda fraction, what: None,
    keep: Callable[[Bench], None] = lambda bench: None,
) -> Bench:
    """Runs everything, on one thread, with all installed peers.

    command: shown on the page. progress: called as progress(fraction from 0 to 1, what is being done). keep: called
    with the results so far after each robot.
    """
    programs = (OURS, *(peer for peer in PEERS if not peer.missing))
    robots: dict[str, Callable[[], Robot]] = {name: partial(plain, name) for name in plan.arms}
    robots |= {f"chain({n})": partial(chain, n) for n in plan.sizes}
    bench = circumstances(plan, command, programs)
    for done, (name, make) in enumerate(robots.items()):

        def say(part: float, what: str, done: int = done, name: str = name) -> None:
            progress((done + part) / len(robots), f"{name}: {what}")

        rows, untimed, share = one_robot(Case(make()), programs, plan, say)
        bench = replace(
            bench,
            rows=bench.rows + rows,
            untimed=bench.untimed + untimed,
            load_during=bench.load_during + clock.load(),
            share=(*bench.share, round(share, 3)),
            unfinished=tuple(robots)[done + 1 :],
        )
        keep(bench)
    return bench


def one_robot(
    case: Case, programs: Iterable[Program], plan: Plan, progress: Progress
) -> tuple[tuple[Row, ...], tuple[Untimed, ...], float]:
    """Compares every program's results with fastdyn's, and times those that agree; the first program is fastdyn.

    Rows, what was not timed, and the share of a core that the process had while timing.
    """
    ready: dict[Question, dict[str, tuple[Job, float]]] = {}
    untimed: list[Untimed] = []
    for program in programs:
        progress(0.0, f"preparing {program.name}")
        for found in checked(case, program):
            if isinstance(found, Untimed):
                untimed.append(found)
            else:
                job, _ = found
                ready.setdefault((job.what, job.call), {})[job.program] = found
    seconds: dict[Question, list[Mapping[str, float]]] = {question: [] for question in ready}
    begun = time.perf_counter(), time.process_time()
    for number in range(plan.passes):
        for place, ((what, call), jobs) in enumerate(ready.items()):
            part = (number + place / len(ready)) / plan.passes
            progress(0.2 + 0.8 * part, f"pass {number + 1} of {plan.passes}")
            seconds[what, call].append(clock.best({name: job.run for name, (job, _) in jobs.items()}, plan.turns))
    share = (time.process_time() - begun[1]) / (time.perf_counter() - begun[0])
    rows = (
        _row(case, job, difference, [(found[name], found[OURS.name]) for found in seconds[question]])
        for question, jobs in ready.items()
        for name, (job, difference) in jobs.items()
    )
    return tuple(rows), tuple(untimed), min(1.0, share)


def checked(case: Case, program: Program) -> Iterator[tuple[Job, float] | Untimed]:
    """Each job of a program with the difference of its result, or why it cannot be timed."""
    what = call = ""
    name = program.name
    try:
        for job in program.jobs(case):
            what, call, name = job.what, job.call, job.program
            error = case.error(what, call, job.result())
            if error <= case.allowed[what]:
                yield job, error
            else:
                known = error if np.isfinite(error) else None
                yield Untimed(case.robot.name, what, call, name, known, "its result is not fastdyn's")
            what = call = ""
    except Exception as problem:  # other programs may raise anything
        if program is OURS:
            raise
        reason = (str(problem).splitlines() or [""])[0][:120]
        yield Untimed(case.robot.name, what, call, name, None, reason or type(problem).__name__)


def _row(case: Case, job: Job, difference: float, seconds: Sequence[tuple[float, float]]) -> Row:
    """seconds: this job's and fastdyn's, in each pass."""
    own, ours = (min(column) for column in zip(*seconds, strict=True))
    ns = 1e9 * own / (case.T if job.call == BATCH else 1)
    passes = tuple(a / b for a, b in seconds)
    return Row(case.robot.name, case.n, job.what, job.call, job.program, ns, own / ours, passes, difference)


def circumstances(plan: Plan, command: str, programs: Sequence[Program]) -> Bench:
    """A run without rows: machine, versions, load, date."""
    versions = {"Python": platform.python_version()}
    versions |= {name: metadata.version(name) for name in ("fastdyn", "numpy", "numba", "llvmlite")}
    for program in programs:
        versions |= program.versions
    return Bench(
        command=command,
        date=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        extent=plan.extent,
        processor=output.processor(),
        cores=os.cpu_count() or 1,
        instructions=f"code for {os.environ.get('NUMBA_CPU_NAME') or 'this host'}, {register_bits()}-bit registers",
        system=f"{platform.system()} {platform.machine()}",
        versions=versions,
        absent={peer.name: peer.command for peer in PEERS if peer not in programs},
        load_before=next(iter(clock.load()), None),
        load_during=(),
        share=(),
        batch=STATES,
        passes=plan.passes,
        turns=plan.turns,
        compiler="gcc " + " ".join(FLAGS),
        unfinished=(),
        rows=(),
        untimed=(),
    )
