"""C that CasADi generates for one robot, its constants folded in: the strongest competitor for batches of a small arm.

An algorithm runs on symbols, CasADi writes the straight-line program as C, gcc compiles it (FLAGS), and a loop in C
calls it for all samples. The algorithm here is a plain recursive Newton-Euler. It runs as generated, one sample at a
time, and widened to LANES samples with GCC's vector types, which no existing product does.
"""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from fastdyn.arrays import Array
from fastdyn.bench.case import BATCH, INVERSE, MASS, SINGLE, Case, Job
from fastdyn.bench.peers.models import skeleton
from fastdyn.robot import Robot

NAME = "CasADi's C"
MACHINE = os.environ.get("NUMBA_CPU_NAME") or "native"  # the instruction set that this project's code has
FLAGS = ("-O3", f"-march={MACHINE}", "-ffast-math", "-fno-strict-aliasing", "-Wno-psabi")
LANES = 8
LARGEST = 12  # joints: more than some ten thousand lines take gcc minutes
DOUBLES = ctypes.POINTER(ctypes.c_double)
Text = Callable[[Robot, Any, Any, Any], Any]  # (robot, q, qd, qdd) on CasADi's symbols

# `real` is one double or LANES of them; one sample per row. gcc calls the C library's vector sine for `widely`.
FRAME = """
#include <math.h>
#define casadi_int long long
#if LANES == 1
typedef double real;
#define CALL(f) static real widely_##f(real x) { return f(x); }
#else
typedef double real __attribute__((vector_size(8 * LANES)));
#define CALL(f) static real widely_##f(real x) { for (int l = 0; l < LANES; l++) x[l] = f(x[l]); return x; }
#endif
#define casadi_real real
CALL(sin)
CALL(cos)
static real casadi_sq(real x) { return x * x; }
@BODY@
static void take(real *to, const double *from, int columns) {
  for (int k = 0; k < columns; k++) for (int l = 0; l < LANES; l++) ((double *)(to + k))[l] = from[l * columns + k];
}
void run(long samples, const double *q, const double *qd, const double *qdd, double *out) {
  real x[3][N], y[COLUMNS];
  const real *arg[3] = {x[0], x[1], x[2]};
  real *res[1] = {y};
  for (long t = 0; t < samples; t += LANES) {
    take(x[0], q + N * t, N);
    if (MOVES) { take(x[1], qd + N * t, N); take(x[2], qdd + N * t, N); }
    body(arg, res, 0, 0, 0);
    for (int k = 0; k < COLUMNS; k++)
      for (int l = 0; l < LANES; l++) out[COLUMNS * (t + l) + k] = ((double *)(y + k))[l];
  }
}
"""


def jobs(case: Case) -> Iterator[Job]:
    """Inverse dynamics by a plain recursive Newton-Euler."""
    return generated(NAME, {INVERSE: newton_euler}, case)


def generated(program: str, texts: Mapping[str, Text], case: Case) -> Iterator[Job]:
    """C code of each text, for batches, for batches on lanes, and for one state; of arms up to LARGEST joints."""
    casadi: Any = import_module("casadi")
    if shutil.which("gcc") is None:
        raise RuntimeError("gcc is not installed")
    if case.n > LARGEST:
        raise RuntimeError(f"more than {LARGEST} joints take gcc minutes")
    symbols = [casadi.SX.sym(name, case.n) for name in ("q", "qd", "qdd")]
    for what, text in texts.items():
        source = generate(symbols, text(case.robot, *symbols))
        shape = {INVERSE: (case.n,), MASS: (case.n, case.n)}[what]
        one, lanes = (compile(source, case.n, int(np.prod(shape)), what == INVERSE, width) for width in (1, LANES))
        yield job(program, what, BATCH, one, case, np.empty((case.T, *shape)))
        yield job(f"{program}, {LANES} lanes", what, BATCH, lanes, case, np.empty((case.T, *shape)))
        yield job(program, what, SINGLE, one, case.one, np.empty(shape))


def job(program: str, what: str, call: str, run: Callable[..., None], case: Case, out: Array) -> Job:
    """Arguments are made once: only the call is timed."""
    arguments = [ctypes.c_long(case.T), *(x.ctypes.data_as(DOUBLES) for x in (case.q, case.qd, case.qdd, out))]
    return Job(program, what, call, lambda: run(*arguments), lambda: out)


def generate(symbols: list[Any], expression: Any) -> str:
    """The body of the function that CasADi writes, adapted to vectors: constants widened, no input absent."""
    casadi: Any = import_module("casadi")
    generator = casadi.CodeGenerator("generated")
    generator.add(casadi.Function("text", symbols, [casadi.densify(expression.T)], {"cse": True}))
    found = re.search(r"static int casadi_f0\(.*?\n}\n", generator.dump(), re.DOTALL)
    assert found is not None
    body = found[0].replace("casadi_f0", "body")
    body = re.sub(r"arg\[\d\]\? (arg\[\d\]\[\d+\]) : 0", r"\1", body)
    body = re.sub(r"=(-?[\d.]+(e[-+]?\d+)?);", r"=(real){0}+(\1);", body)
    return re.sub(r"\b(sin|cos)\(", r"widely_\1(", body)


def compile(body: str, n: int, columns: int, moves: bool, lanes: int) -> Callable[..., None]:
    """run(samples, q, qd, qdd, out), from a shared library of its own; samples: a multiple of lanes."""
    with tempfile.TemporaryDirectory() as folder:
        run: Callable[..., None] = ctypes.CDLL(str(build(Path(folder), body, n, columns, moves, lanes))).run
    return run


def build(
    folder: Path, body: str, n: int, columns: int, moves: bool, lanes: int, flags: tuple[str, ...] = FLAGS
) -> Path:
    """The shared library with `run`, in the folder."""
    source, library = folder / "text.c", folder / "text.so"
    source.write_text(FRAME.replace("@BODY@", body))
    defined = {"N": n, "COLUMNS": columns, "MOVES": int(moves), "LANES": lanes}
    macros = [f"-D{name}={value}" for name, value in defined.items()]
    # linked apart: with -ffast-math the linker adds code that rounds subnormal numbers to zero in the whole process
    subprocess.run(["gcc", *flags, *macros, "-c", "-fPIC", source, "-o", folder / "text.o"], check=True)
    subprocess.run(["gcc", "-shared", folder / "text.o", "-o", library, "-lm"], check=True)
    return library


def newton_euler(robot: Robot, q: Any, qd: Any, qdd: Any) -> Any:
    """The plain recursion on a chain about z, moments about the joints' origins; CasADi drops zeros and ones."""
    cs: Any = import_module("casadi")
    joints, links = skeleton(robot)
    moments = np.zeros((robot.n, 4, 4))
    for link, on, where in links:
        moments[on] += link.moments(where)
    z = cs.SX([0, 0, 1])
    w, a, v = cs.SX(3, 1), cs.SX(3, 1), cs.SX(-np.asarray(robot.gravity))
    way = []
    for i, _, before in joints:
        c, s = cs.cos(q[i]), cs.sin(q[i])
        turn = cs.vertcat(cs.horzcat(c, -s, 0), cs.horzcat(s, c, 0), cs.horzcat(0, 0, 1))
        R, p = cs.SX(before[:3, :3]) @ turn, cs.SX(before[:3, 3])
        v = R.T @ (v + cs.cross(a, p) + cs.cross(w, cs.cross(w, p)))
        w, a = R.T @ w, R.T @ a
        a, w = a + cs.cross(w, z * qd[i]) + z * qdd[i], w + z * qd[i]
        m, h, J = moments[i, 3, 3], cs.SX(moments[i, :3, 3]), moments[i, :3, :3]
        inertia = cs.SX(np.trace(J) * np.eye(3) - J)
        force = m * v + cs.cross(a, h) + cs.cross(w, cs.cross(w, h))
        moment = inertia @ a + cs.cross(w, inertia @ w) + cs.cross(h, v)
        way.append((i, R, p, force, moment))
    tau, f, n = cs.SX(robot.n, 1), cs.SX(3, 1), cs.SX(3, 1)
    for i, R, p, force, moment in reversed(way):
        f, n = f + force, n + moment
        tau[i] = n[2]
        f = R @ f
        n = R @ n + cs.cross(p, f)
    return tau
