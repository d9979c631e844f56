"""Exported C beside other code for one arm: time in a compiled loop, size, stack, and whether time depends on data.

    python -m benchmarks.exported [--robot panda]

The loop is C: it copies each state, calls, and adds up a result, for all programs alike. General and specialised
kernels are called at the address of `robot.c_function`, CasADi's C by itself, compiled with -ffast-math: it checks
nothing. Batches: the exported function of a batch, and CasADi's C widened to lanes by hand. Programs take turns, the
best of many turns counts, and results are compared before.

Instructions of a call are counted by valgrind (callgrind) for states of several kinds: where they are equal, no branch
depends on data.
"""

from __future__ import annotations

import argparse
import ctypes
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import fastdyn as fd
from benchmarks.common import best, markdown, states
from fastdyn.bench.peers import generated

T = 1024  # states: all arrays stay in the second cache
TURNS = 60
CALLS = 200  # for valgrind
SIZES = ("0", "1e-3", "1", "6", "100", "10000")  # of q, qd and qdd
MARCHES = ("native", "haswell")

LOOP = """
#include <stdint.h>
#ifdef OWN_HEADER
#include "exported.h"
#define CALL(f, w, q, qd, qdd, tau) exported_inverse_dynamics(q, qd, qdd, tau)
#else
typedef int64_t (*function)(const double *, const double *, const double *, double *, void *);
#define CALL(f, w, q, qd, qdd, tau) ((function)f)(q, qd, qdd, tau, w)
#endif
double loop(int64_t f, void *w, long count, const double *q, const double *qd, const double *qdd, double *tau)
{
    double sum = 0.0;
    long wrong = 0;
    for (long i = 0; i < count; i++) {
        wrong += CALL(f, w, q + N * i, qd + N * i, qdd + N * i, tau + N * i);
        sum += tau[N * i];
    }
    return wrong ? -1.0 : sum;
}
"""
COUNTED = """
#include <stdio.h>
#include <stdlib.h>
#include "exported.h"
int main(int count, char **given)
{
    double x[3][N], tau[N], sum = 0.0, size = atof(given[2]);
    int wrong = 0;
    for (long i = 0; i < atol(given[1]); i++) {
        for (int k = 0; k < 3 * N; k++) x[k / N][k % N] = size * ((double)rand() / RAND_MAX - 0.5);
        wrong += exported_inverse_dynamics(x[0], x[1], x[2], tau);
        sum += tau[0];
    }
    printf("%d %g\\n", wrong + count - count, sum);
    return wrong != 0;
}
"""


def run(*command: Any) -> str:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True)
    return done.stdout + done.stderr


def built(place: Path, sources: list[Path], flags: list[str], name: str) -> ctypes.CDLL:
    """A shared library of its own."""
    target = place / f"{name}.so"
    objects = [place / f"{name}.{source.stem}.o" for source in sources]
    for source, made in zip(sources, objects, strict=True):
        run("gcc", *flags, "-c", "-fPIC", source, "-o", made)
    run(
        "gcc", "-shared", *objects, "-o", target, "-lm"
    )  # without -ffast-math, which would change the process's rounding
    return ctypes.CDLL(str(target))


def loop_of(library: ctypes.CDLL) -> Callable[..., float]:
    loop: Callable[..., float] = library.loop
    loop.restype = ctypes.c_double
    loop.argtypes = [ctypes.c_int64, ctypes.c_void_p, ctypes.c_long, *[ctypes.c_void_p] * 4]
    return loop


def size_and_stack(place: Path, source: Path, flags: list[str], function: str) -> tuple[int, int]:
    """Bytes of code and constants, and of the stack that functions of a name take together."""
    run("gcc", *flags, "-fstack-usage", "-c", source, "-o", place / "object.o")
    size = int(run("size", place / "object.o").splitlines()[1].split()[0])
    lines = (place / "object.su").read_text().splitlines()
    return size, sum(int(line.split("\t")[1]) for line in lines if re.search(rf":{function}(\.\w+)*\t", line))


def instructions(place: Path, folder: Path, flags: list[str], n: int) -> dict[str, list[int]]:
    """Instructions of one call, for states of several sizes: those of many calls, less those of none."""
    main = place / "counted.c"
    main.write_text(COUNTED)
    run(
        "gcc", "-std=c99", *flags, f"-DN={n}", "-I", folder, main, folder / "exported.c", "-o", place / "counted", "-lm"
    )
    found: dict[str, list[int]] = {}
    for size in SIZES:
        # what is counted is the function, with all that it calls
        options = ["--tool=callgrind", "--toggle-collect=exported_inverse_dynamics"]
        report = run("valgrind", *options, f"--callgrind-out-file={place / 'out'}", place / "counted", CALLS, size)
        collected = re.search(r"Collected : (\d+)", report)
        assert collected is not None
        found[size] = [int(collected[1]) // CALLS, int(collected[1]) % CALLS]
    return found


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robot", default="panda", choices=fd.robots.names())
    options = parser.parse_args(arguments)
    # what every program can do: links, no motors
    robot = fd.robots.get(options.robot).without_motors()
    n = robot.n
    q, qd, qdd = (np.ascontiguousarray(x) for x in states(n, T))
    expected = robot.inverse_dynamics(q, qd, qdd)
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        times, sizes, counted = measured(robot, place, (q, qd, qdd), expected)
    print(f"Inverse dynamics of {robot.name}, gcc -O3, ns per state\n")
    for table in (times, sizes, counted):
        if len(table) > 1:
            print(markdown(table[0], table[1:]))


def measured(robot: fd.Robot, place: Path, given: Any, expected: np.ndarray) -> tuple[list[Any], list[Any], list[Any]]:
    """The three tables: times, sizes, instructions."""
    n, tau = robot.n, np.zeros_like(expected)
    pointers = [x.ctypes.data for x in (*given, tau)]
    columns = [np.ascontiguousarray(x.T) for x in (*given, tau)]
    loop_c = place / "loop.c"
    loop_c.write_text(LOOP)
    jobs: dict[Any, Callable[[], Any]] = {}
    kept: list[Any] = []
    sizes: list[Any] = [["code", ">bytes of code and constants", ">bytes of stack"]]
    counted: list[Any] = [["instructions of a call, states of size", *(f">{size}" for size in SIZES)]]

    def check(found: np.ndarray, what: str) -> None:
        error = np.abs(found - expected).max() / np.abs(expected).max()
        assert error < 1e-8, f"{what} differs by {error}"

    for kind, arm in (("general kernel", robot), ("specialised kernel", robot.specialize())):
        function = arm.c_function("inverse_dynamics")
        memory = function.workspace()
        loop = loop_of(built(place, [loop_c], ["-O3", f"-DN={n}"], kind.split()[0]))
        address = ctypes.c_void_p(memory.ctypes.data)
        arguments = (function.address, address, T, *pointers)
        assert loop(*arguments) != -1.0
        check(tau, kind)
        kept += [function, memory]
        jobs[kind, "one state"] = lambda loop=loop, arguments=arguments: loop(*arguments)
    for sines in ("libm", "own"):
        folder = robot.export_c(place / sines, sincos=sines, prefix="exported")
        lean = robot.export_c(place / f"{sines}_lean", sincos=sines, prefix="exported", batch=False)
        for march in MARCHES:
            flags = ["-std=c99", "-O3", f"-march={march}", "-ffp-contract=fast"]
            label = f"exported C, {'sines of the C library' if sines == 'libm' else 'own sines'}, {march}"
            defined = [f"-DN={n}", "-DOWN_HEADER", f"-I{folder}"]
            library = built(place, [loop_c, folder / "exported.c"], [*flags, *defined], f"{sines}_{march}")
            loop, arguments = loop_of(library), (0, None, T, *pointers)
            assert loop(*arguments) != -1.0
            check(tau, label)
            jobs[label, "one state"] = lambda loop=loop, arguments=arguments: loop(*arguments)
            if sines == "libm":
                many = library.exported_inverse_dynamics_batch
                tables = [(ctypes.c_void_p * n)(*(row.ctypes.data for row in x)) for x in columns]
                size = ctypes.c_size_t(T)
                assert many(size, *tables) == 0
                check(columns[-1].T, label)
                kept.append(tables)
                jobs[f"exported C, {march}", "batch"] = lambda many=many, size=size, tables=tables: many(size, *tables)
            for text, source, function in (
                ("", lean / "exported.c", "exported_inverse_dynamics"),
                (" and batch", folder / "exported.c", "exported_inverse_dynamics_(batch|block)"),
            ):
                sizes.append([label + text, *map(str, size_and_stack(place, source, flags, function))])
        small = ["-std=c99", "-Os", "-ffp-contract=fast"]
        label = f"exported C, {'sines of the C library' if sines == 'libm' else 'own sines'}, -Os"
        sizes.append([label, *map(str, size_and_stack(place, lean / "exported.c", small, "exported_inverse_dynamics"))])
        if shutil.which("valgrind"):
            found = instructions(place, lean, ["-O3", "-march=haswell", "-ffp-contract=fast"], n)
            label = "C library's sines" if sines == "libm" else "own sines"
            counted.append([label, *(f"{whole}{'' if not rest else ' on average'}" for whole, rest in found.values())])
    casadi_jobs(robot, place, pointers, check, tau, jobs, sizes)
    found = best(jobs, TURNS, warm=True)
    times = [["program", "call", ">ns"], *([*key, f"{1e9 * value / T:.1f}"] for key, value in found.items())]
    return times, sizes, counted


def casadi_jobs(
    robot: fd.Robot, place: Path, pointers: Any, check: Any, tau: np.ndarray, jobs: Any, sizes: Any
) -> None:
    """CasADi's C, one state at a time and on lanes, if CasADi is installed."""
    try:
        import casadi
    except ImportError:
        print("CasADi is not installed: left out", file=sys.stderr)
        return
    n = robot.n
    symbols = [casadi.SX.sym(name, n) for name in ("q", "qd", "qdd")]
    body = generated.generate(symbols, generated.newton_euler(robot, *symbols))
    source = place / "casadi.c"
    source.write_text(generated.FRAME.replace("@BODY@", body))
    for march in MARCHES:
        flags = [
            "-O3",
            f"-march={march}",
            "-ffast-math",
            "-fno-strict-aliasing",
            f"-DN={n}",
            f"-DCOLUMNS={n}",
            "-DMOVES=1",
        ]
        for lanes in (1, 4, 8):
            run_c = built(place, [source], [*flags, f"-DLANES={lanes}"], f"casadi_{march}_{lanes}").run
            arguments = [ctypes.c_long(T), *map(ctypes.c_void_p, pointers)]
            run_c(*arguments)
            check(tau, "CasADi's C")
            label = f"CasADi's C{f' on {lanes} lanes' * (lanes > 1)}, {march}"
            call = "batch" if lanes > 1 else "one state"
            jobs[label, call] = lambda run_c=run_c, arguments=arguments: run_c(*arguments)
        sizes.append(
            [f"CasADi's C, {march}", *map(str, size_and_stack(place, source, [*flags, "-DLANES=1"], "(body|run)"))]
        )


if __name__ == "__main__":
    main()
