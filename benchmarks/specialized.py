"""Specialised robots against general ones, Pinocchio, and C that CasADi generates: ratios of one run, taking turns.

    python -m benchmarks.specialized [--robots puma560 ur5 ...] [--turns 60] [--cold]
    python -m benchmarks.specialized --quantities     every quantity, specialised against general
    python -m benchmarks.specialized --bandwidth      batches that outgrow the caches, against copying
    python -m benchmarks.specialized --copying        reading and writing alone, against NumPy's add
    python -m benchmarks.specialized --compile        time to the first result, with an empty cache and a full one
    python -m benchmarks.specialized --crossover      random chains of 3 to 48 joints, where no constant saves anything
    NUMBA_CPU_NAME=haswell NUMBA_CPU_FEATURES= python -m benchmarks.specialized     # AVX2 code, on any host that has it

Robots are without motors, which CasADi's text does not have. One thread, float64, unless said. Each turn begins with an
untimed run; --cold: without. CasADi's C is compiled for the same instruction set as this project's code, and widened
to 4 and to 8 lanes by hand (fastdyn/bench/peers/generated.py); it checks nothing. `differs by`: the largest difference
from the general robot's result (of forward dynamics: from the accelerations that the torques were made from), as a
share of the largest number in it.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numba
import numpy as np

import fastdyn as fd
from benchmarks.common import best, chain, circumstances, figures, heading, markdown, states, versions
from benchmarks.sums import sum_of_three, sum_of_two
from fastdyn.bench.case import BATCH, FORWARD, INVERSE, MASS, SINGLE, Case, Job, plain
from fastdyn.bench.peers import generated, pinocchio
from fastdyn.calls import generate
from fastdyn.calls.task import Task
from fastdyn.compiler.policy import OPTIONS
from fastdyn.quantities import METHODS, QD, QDD, QUANTITIES, TAU, Q, Quantity
from fastdyn.specialize.rows import GENERAL, specialised

T, TURNS = 8192, 60
LONG = 1 << 21  # states: 384 MiB of six joints
SIZES = (3, 6, 9, 12, 18, 24, 36, 48)
ROBOTS = ("puma560", "ur5", "panda", "iiwa")
GENERATED = "CasADi's C"
FLAGS = tuple((*generated.FLAGS, *more) for more in ((), ("-fopenmp-simd",), ("-mprefer-vector-width=512",)))
# the least ratios that specialised code is meant to reach; by robot, or for all
GOALS: dict[tuple[str, str, str], float | dict[str, float]] = {
    (INVERSE, BATCH, "Pinocchio"): {"puma560": 40, "ur5": 40, "panda": 32, "iiwa": 32},
    (INVERSE, BATCH, GENERATED): 1.25,
    (FORWARD, BATCH, "Pinocchio"): 30,
    (MASS, BATCH, "general"): 3,
    (INVERSE, SINGLE, "Pinocchio"): 8,
    (INVERSE, SINGLE, GENERATED): 1.3,
}


def fast(robot: Any) -> Any:
    """The specialised robot."""
    return robot.specialize()


def difference(found: Any, right: Any) -> float:
    """The largest difference, relative to the largest number; of all arrays, where there are several."""
    pairs = zip(found, right, strict=True) if isinstance(right, tuple) else [(found, right)]
    return max(float(np.abs(a - b).max() / np.abs(b).max()) for a, b in pairs)


# ---------------------------------------------------------------------------------------------- against peers


def own_jobs(side: str, robot: Any, case: Case) -> Iterator[Job]:
    """This project's own: batches, and one state on fixed memory."""
    rows, matrices = np.empty((T, case.n)), np.empty((T, case.n, case.n))
    yield Job(side, INVERSE, BATCH, lambda: robot.inverse_dynamics(case.q, case.qd, case.qdd, out=rows))
    yield Job(side, FORWARD, BATCH, lambda: robot.forward_dynamics(case.q, case.qd, case.tau, out=rows))
    yield Job(side, MASS, BATCH, lambda: robot.mass_matrix(case.q, out=matrices))
    loop = robot.bind("inverse_dynamics")
    loop.q[:], loop.qd[:], loop.qdd[:] = case.one.q, case.one.qd, case.one.qdd
    yield Job(side, INVERSE, SINGLE, loop.inverse_dynamics, lambda: loop.tau)


def generated_jobs(case: Case, notes: list[str]) -> Iterator[Job]:
    """CasADi's C: one state through prepared pointers, and batches on 4 and on 8 lanes, with every set of flags.

    Flags that make the same machine code are timed once. notes: receives which sines the code calls.
    """
    import casadi

    symbols = [casadi.SX.sym(name, case.n) for name in ("q", "qd", "qdd")]
    body = generated.generate(symbols, generated.newton_euler(case.robot, *symbols))
    for lanes in (1, 4, 8):
        made: dict[bytes, Callable[..., None]] = {}
        for flags in FLAGS:
            with tempfile.TemporaryDirectory() as folder:
                library = generated.build(Path(folder), body, case.n, case.n, True, lanes, flags)
                content = library.read_bytes()
                if content in made:
                    continue
                made[content] = ctypes.CDLL(str(library)).run
            sines = sorted(set(re.findall(r"_ZGV\w+|\bsin\b|\bcos\b|\bsincos\b", content.decode("latin-1"))))
            name = f"{GENERATED}, {lanes} lanes" if lanes > 1 else GENERATED
            if len(made) > 1:
                name += f", {flags[-1]}"
            what, of = (BATCH, case) if lanes > 1 else (SINGLE, case.one)
            notes.append(f"{case.robot.name}, {name}: {', '.join(sines)}")
            yield generated.job(name, INVERSE, what, made[content], of, np.empty_like(of.q))


def against_peers(name: str, turns: int, warm: bool, notes: list[str]) -> Iterator[tuple[Any, ...]]:
    """Rows of the first table."""
    robot = plain(name)
    case = Case(robot, T)
    sides: dict[tuple[str, str], dict[str, Job]] = {}
    for job in (
        *own_jobs("specialised", fast(robot), case), *own_jobs("general", robot, case), *pinocchio.jobs(case),
        *generated_jobs(case, notes),
    ):  # fmt: skip
        sides.setdefault((job.what, job.call), {})[job.program] = job
    for (what, call), jobs in sides.items():
        if "specialised" not in jobs:
            continue
        errors = {side: case.error(what, call, job.result()) for side, job in jobs.items()}
        for side, error in errors.items():
            assert error <= case.allowed[what], f"{side} does not agree in {what} of {name}: {error:.0e}"
        seconds = best({side: job.run for side, job in jobs.items()}, turns, warm)
        ns = {side: 1e9 * value / (T if call == BATCH else 1) for side, value in seconds.items()}
        quickest = min((side for side in ns if side.startswith(GENERATED)), key=ns.__getitem__, default="")
        for side in list(ns)[1:]:
            goal = GOALS.get((what, call, GENERATED if side == quickest else side))
            least = goal[name] if isinstance(goal, dict) else goal
            ratio = ns[side] / ns["specialised"]
            met = "" if least is None else "met" if ratio >= least else "missed"
            yield (
                name, what, call, figures(ns["specialised"]), side, figures(ns[side]), f"{ratio:.2f}",
                "" if least is None else f"{least:g}", met, f"{max(errors[side], errors['specialised']):.0e}",
            )  # fmt: skip


def precisions(name: str, turns: int, warm: bool) -> tuple[Any, ...]:
    """Inverse dynamics in single precision against double."""
    robot = fast(plain(name))
    case = Case(robot, T)
    double = case.q, case.qd, case.qdd
    single = tuple(x.astype(np.float32) for x in double)
    out, small = np.empty_like(case.q), np.empty((T, case.n), np.float32)
    narrow = partial(robot.inverse_dynamics, *single, out=small, dtype=np.float32)
    wide = partial(robot.inverse_dynamics, *double, out=out)
    error = difference(narrow(), wide())
    seconds = best({"double": wide, "single": narrow}, turns, warm)
    ns = {side: 1e9 * value / T for side, value in seconds.items()}
    return name, *map(figures, ns.values()), f"{ns['double'] / ns['single']:.2f}", f"{error:.0e}"


def compare(options: argparse.Namespace) -> None:
    notes: list[str] = []
    rows = [row for name in options.robots for row in against_peers(name, options.turns, not options.cold, notes)]
    header = ("robot", "what", "call", ">ns", "against", ">its ns", ">ratio", ">goal", "", ">differs by")
    print(f"## Against the general robot and peers\n\nBatches of {T}; best of {options.turns} turns. Ratio: the")
    print("other's time over the specialised robot's.\n")
    print(markdown(header, rows))
    print(f"gcc {' '.join(generated.FLAGS)}. Sines that the generated code calls:\n")
    print("\n".join(f"- {note}" for note in notes) + "\n")
    print("## Inverse dynamics in single precision\n")
    pairs = [precisions(name, options.turns, not options.cold) for name in options.robots]
    print(markdown(("robot", ">float64, ns", ">float32, ns", ">ratio", ">differs by"), pairs))


# ---------------------------------------------------------------------------------------------- every quantity


def calls(robot: Any) -> Iterator[tuple[str, Callable[..., Any], tuple[np.ndarray, ...]]]:
    """Every quantity that can be specialised: name, method, and a batch of its inputs."""
    q, qd, qdd = states(robot.n, T)
    values = {"q": q, "qd": qd, "qdd": qdd, "tau": 10 * qdd, "wrench": np.random.default_rng(1).uniform(-9, 9, (T, 6))}
    for method, rows in METHODS.items():
        for row in rows:
            if row.name not in GENERAL:
                choice = {"method": row.method} if row.method else {}
                yield row.name, partial(getattr(robot, method), **choice), tuple(values[f.name] for f in row.reads)


def quantities(options: argparse.Namespace) -> None:
    table: dict[str, list[str]] = {}
    for name in options.robots:
        robot = plain(name)
        for (what, general, values), (_, special, _) in zip(calls(robot), calls(fast(robot)), strict=True):
            one, two = general(*values), special(*values)
            error = difference(two, one)
            seconds = best(
                {"general": partial(general, *values, out=one), "specialised": partial(special, *values, out=two)},
                options.turns,
                not options.cold,
            )
            ns = {side: 1e9 * value / T for side, value in seconds.items()}
            cell = f"{ns['general'] / ns['specialised']:.2f} ({figures(ns['specialised'])} ns; {error:.0e})"
            table.setdefault(what.replace("_", " "), []).append(cell)
    print(f"## Every quantity\n\nThe general robot's time over the specialised one's; batches of {T}; best of")
    print(
        f"{options.turns} turns. In brackets: the specialised robot's time for a state; by how much results differ.\n"
    )
    print(markdown(("quantity", *(f">{name}" for name in options.robots)), ((k, *v) for k, v in table.items())))


# ---------------------------------------------------------------------------------------------- memory


def halves(run: Callable[..., Any], *arrays: np.ndarray) -> Callable[[], None]:
    """run(arrays) by two threads, each on one half of each array."""
    pool, middle = ThreadPoolExecutor(2), len(arrays[0]) // 2
    parts = [[a[:middle] for a in arrays], [a[middle:] for a in arrays]]
    return lambda: [None for _ in pool.map(lambda part: run(*part), parts)] and None


def summed(a: np.ndarray, b: np.ndarray, c: np.ndarray, out: np.ndarray, step: int = 8192) -> None:
    """out = a + b + c by NumPy, in pieces that stay in the nearest cache: memory is read three times, written once."""
    for k in range(0, len(out), step):
        piece = out[k : k + step]
        np.add(a[k : k + step], b[k : k + step], out=piece)
        np.add(piece, c[k : k + step], out=piece)


def bandwidth(options: argparse.Namespace) -> None:
    arm = plain("ur5")
    robot, motion = fast(arm), states(arm.n, LONG)
    right = arm.inverse_dynamics(*(x[::64] for x in motion))
    rows = []
    for kind in (np.float64, np.float32):
        q, qd, qdd = (x.astype(kind) for x in motion)
        tau = np.empty_like(q)
        size = 4 * q.nbytes
        blocks = np.ones((4, q.size), kind)  # written to: untouched memory would be one page of zeros
        source, target = np.ones((2, 2 * q.size), kind)
        inverse = partial(robot.inverse_dynamics, q, qd, qdd, out=tau, dtype=kind)
        error = difference(inverse()[::64], right)
        jobs = {
            ("inverse", 1): inverse, ("inverse", 2): partial(inverse, threads=2),
            ("copy", 1): partial(np.copyto, target, source), ("copy", 2): halves(np.copyto, target, source),
            ("sum", 1): partial(summed, *blocks), ("sum", 2): halves(summed, *blocks),
        }  # fmt: skip
        seconds = best(jobs, max(3, options.turns // 6))
        rate = {key: size / value / 1e9 for key, value in seconds.items()}
        for threads in (1, 2):
            ours, copy, mix = (rate[what, threads] for what in ("inverse", "copy", "sum"))
            rows.append(
                (
                    np.dtype(kind).name, threads, figures(seconds["inverse", threads] / LONG * 1e9), figures(ours),
                    figures(copy), f"{ours / copy:.0%}", figures(mix), f"{ours / mix:.0%}", f"{error:.0e}",
                )
            )  # fmt: skip
    print(f"## Batches that outgrow the caches: inverse dynamics of ur5, {LONG} states\n")
    print(
        "Bytes read and written, each once, in GB/s. Copying (np.copyto) and sums of three arrays into one, in pieces,"
    )
    print("move as many bytes in all. Goal: 60 % of copying.\n")
    header = ("", ">threads", ">ns", ">GB/s", ">copying", ">share", ">sums", ">share", ">differs by")
    print(markdown(header, rows))


def copying(options: argparse.Namespace) -> None:
    table = []
    for name in options.robots:
        robot = plain(name)
        q, qd, qdd = states(robot.n, T)
        tau, theirs = np.empty_like(q), np.empty_like(q)

        def twice(q: Any = q, qd: Any = qd, qdd: Any = qdd, out: Any = theirs) -> None:
            np.add(q, qd, out=out)
            np.add(out, qdd, out=out)

        for text, reads, values, add in (
            (sum_of_two, (Q, QD), (q, qd), partial(np.add, q, qd, out=theirs)),
            (sum_of_three, (Q, QD, QDD), (q, qd, qdd), twice),
        ):
            row = Quantity(text.__name__, text, lambda n: 0, reads, (TAU,))
            jobs, errors = {"add": add}, []
            add()
            for side, own in (("general", row), ("specialised", specialised(row, robot.parameters))):
                entry = generate.batch(own, False)
                entry.dispatcher = numba.njit(**OPTIONS)(entry.py_func)  # not cached: the key does not cover this file
                jobs[side] = partial(Task(robot.parameters, own), values, tau)
                errors.append(difference(jobs[side](), theirs))
            seconds = best(jobs, options.turns, not options.cold)
            numpy, *ours = (1e9 * seconds[side] / T for side in jobs)
            what = " + ".join(field.name for field in reads)
            ratios = (f"{ns / numpy:.2f}" for ns in ours)
            table.append((name, what, figures(numpy), *map(figures, ours), *ratios, f"{max(errors):.0e}"))
    print(f"## Reading and writing alone, batches of {T}\n")
    print(
        "A text that only adds its inputs, called as any quantity, against np.add on the same arrays (twice for three"
    )
    print("inputs). Goal: at most 1.5 times NumPy's time.\n")
    header = (
        "robot",
        "tau",
        ">NumPy, ns",
        ">general, ns",
        ">specialised, ns",
        ">general / NumPy",
        ">specialised / NumPy",
    )
    print(markdown((*header, ">differs by"), table))


# ---------------------------------------------------------------------------------------------- compiling


def first_results(name: str) -> None:
    """Prints, as JSON, seconds to the first result of a batch: for each quantity, general and specialised."""
    robot = plain(name)
    begun = time.perf_counter()
    special = fast(robot)
    found: dict[str, Any] = {"specialize()": [0.0, time.perf_counter() - begun]}
    for (what, *general), (_, *own) in zip(calls(robot), calls(special), strict=True):
        row = []
        for method, values in (general, own):
            begun = time.perf_counter()
            method(*(value[:64] for value in values))
            row.append(time.perf_counter() - begun)
        found[what] = row
    print(json.dumps(found))


def compiling(options: argparse.Namespace) -> None:
    print(
        "## Seconds to the first result of a batch\n\nEach column is a process of its own, Numba imported before. The"
    )
    print("first quantity of the general robot also compiles what all calls share.\n")
    for name in options.robots:
        with tempfile.TemporaryDirectory() as empty:
            columns = []
            for _ in range(2):
                command = [sys.executable, "-m", "benchmarks.specialized", "--first-results", name]
                done = subprocess.run(
                    command,
                    env={**os.environ, "FASTDYN_CACHE_DIR": empty},
                    stdout=subprocess.PIPE,
                    text=True,
                    check=True,
                )
                columns.append(json.loads(done.stdout))
        rows = [
            (what.replace("_", " "), *(f"{columns[k][what][side]:.2f}" for side in (0, 1) for k in (0, 1)))
            for what in columns[0]
        ]
        totals = (f"{sum(row[side] for row in columns[k].values()):.1f}" for side in (0, 1) for k in (0, 1))
        print(f"### {name}\n")
        header = ("quantity", ">general, empty cache", ">cached", ">specialised, empty cache", ">cached")
        print(markdown(header, [*rows, ("all", *totals)]), flush=True)


def crossover(options: argparse.Namespace) -> None:
    table = []
    for n in options.sizes:
        robot = chain(n)
        case = Case(robot, T)
        for what in ("inverse_dynamics", "mass_matrix", "forward_dynamics", "forward_dynamics_crba"):
            row = QUANTITIES[what]
            values = tuple(getattr(case, field.name) for field in row.reads)
            general = Task(robot.parameters, row)
            one = general(values)
            begun = time.perf_counter()
            special = Task(robot.parameters, specialised(row, robot.parameters))  # also where it is slower
            two = special(values)
            compiled = time.perf_counter() - begun
            error = difference(two, one)
            jobs = {"general": partial(general, values, one), "specialised": partial(special, values, two)}
            seconds = best(jobs, options.turns, not options.cold)
            ns = [1e9 * value / T for value in seconds.values()]
            name = what.replace("_", " ")
            table.append((n, name, *map(figures, ns), f"{ns[0] / ns[1]:.2f}", f"{compiled:.1f}", f"{error:.0e}"))
            print(f"{n} joints, {name}: {ns[0] / ns[1]:.2f}, {compiled:.1f} s", file=sys.stderr, flush=True)
    print(f"## Chains of generic geometry\n\nBatches of {T}; all specialised, also where robot.specialize() would not.")
    print("Compiling: to the first result, from the cache if it was there.\n")
    header = (">joints", "what", ">general, ns", ">specialised, ns", ">ratio", ">compiling, s", ">differs by")
    print(markdown(header, table))


SECTIONS = {
    "quantities": quantities, "bandwidth": bandwidth, "copying": copying, "compile": compiling, "crossover": crossover,
}  # fmt: skip


def main(arguments: Iterable[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.specialized", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--robots", nargs="+", default=ROBOTS, choices=fd.robots.names())
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES, help="joints of the chains of --crossover")
    parser.add_argument("--turns", type=int, default=TURNS)
    parser.add_argument("--cold", action="store_true", help="turns do not begin with an untimed run")
    parser.add_argument("--first-results", metavar="ROBOT", help=argparse.SUPPRESS)
    for name in SECTIONS:
        parser.add_argument(f"--{name}", action="store_true")
    options = parser.parse_args(arguments)
    if options.first_results:
        first_results(options.first_results)
        return
    about = circumstances()
    about["versions"] |= versions(("pin", "casadi"))
    print(heading(f"fastdyn {fd.__version__}: specialised robots", about))
    for run in [run for name, run in SECTIONS.items() if getattr(options, name)] or [compare]:
        run(options)
    if max(about["load"] or 0, circumstances()["load"] or 0) > 1.5:  # 1 is this process
        print(
            "**Other programs were running.** They interrupt long runs, such as Pinocchio's, in every turn, and short"
        )
        print("ones in few: ratios to peers are then too high.")


if __name__ == "__main__":
    main()
