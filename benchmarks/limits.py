"""How far kernels are from the limits of this core: arithmetic, memory, and growth with the number of joints.

    python -m benchmarks.limits [--quick] [--out folder]

Arithmetic. `multiply_adds` keeps independent chains x = x a + b in registers; its rate is the core's peak. It has
the kernels' own compile options, takes turns with them, and its machine code is checked. One multiply-add is two
operations. A kernel's operations are counted by running its text on counting scalars: multiplications and additions of
one state, and those inside sines and cosines, counted in the compiled polynomial. Divisions (a few for each joint of
forward dynamics), comparisons, shuffles, loads and stores, and checks for NaN are work that is not counted. A kernel
reaches the peak only if its multiplications and additions pair up; `floor` is the time that the larger of the two
numbers takes at peak, so no pairing could beat it.

Memory. `triad` is STREAM's a = b + s c on arrays far larger than the caches, bytes counted as STREAM does: what is read
and what is written, once. Kernels take turns with it on batches of as many bytes.

Growth. The exponent p of time ~ n^p, by least squares in log-log, with its 95 % confidence interval.
"""

from __future__ import annotations

import argparse
import platform
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np

import fastdyn as fd
from benchmarks import common
from benchmarks.common import figures, markdown
from fastdyn.calls.task import Task, lane_rows
from fastdyn.compiler.entries import Entry
from fastdyn.compiler.policy import OPTIONS
from fastdyn.quantities import QUANTITIES as ROWS
from fastdyn.quantities import Quantity
from fastdyn.scalars import DOUBLE, LANES, Operations, count, entry, load, sincos, store
from fastdyn.study.timing.results import fit

QUANTITIES = {name.replace("_", " "): row for name, row in ROWS.items()}
JOINTS = (6, 24)
GROWING = ("inverse dynamics", "forward dynamics", "forward dynamics crba", "mass matrix")
GROWTH = (8, 12, 16, 24, 32, 48, 64, 96, 128)


# ---------------------------------------------------------------------------------------------- microkernels


def microkernel(function: Callable[..., Any]) -> Entry:
    """An entry compiled as kernels are, but never cached: the cache key covers the package's sources, not this file."""
    made = entry(function)
    made.dispatcher = numba.njit(**OPTIONS)(function)
    return made


@microkernel
def multiply_adds(P, T, out, X):
    """12 chains: enough for two units with a latency of 4 or 5 cycles. X: a, b, then the chains' values."""
    a, b = load(X, 0), load(X, 1)
    x0, x1, x2, x3, x4, x5 = load(X, 2), load(X, 3), load(X, 4), load(X, 5), load(X, 6), load(X, 7)
    x6, x7, x8, x9, x10, x11 = load(X, 8), load(X, 9), load(X, 10), load(X, 11), load(X, 12), load(X, 13)
    for _ in range(T[0, 0]):
        x0, x1, x2, x3, x4, x5 = x0 * a + b, x1 * a + b, x2 * a + b, x3 * a + b, x4 * a + b, x5 * a + b
        x6, x7, x8, x9, x10, x11 = x6 * a + b, x7 * a + b, x8 * a + b, x9 * a + b, x10 * a + b, x11 * a + b
    store(X, 2, x0 + x1 + x2 + x3 + x4 + x5)
    store(X, 3, x6 + x7 + x8 + x9 + x10 + x11)
    return 0


@microkernel
def multiply_adds_of_6(P, T, out, X):
    """6 chains: where lanes take two registers each, 12 would not fit into 16."""
    a, b = load(X, 0), load(X, 1)
    x0, x1, x2, x3, x4, x5 = load(X, 2), load(X, 3), load(X, 4), load(X, 5), load(X, 6), load(X, 7)
    for _ in range(T[0, 0]):
        x0, x1, x2, x3, x4, x5 = x0 * a + b, x1 * a + b, x2 * a + b, x3 * a + b, x4 * a + b, x5 * a + b
    store(X, 2, x0 + x1 + x2 + x3 + x4 + x5)
    return 0


@microkernel
def triad(P, T, a, b, c, X):
    for i in range(a.shape[0]):
        store(a, i, load(b, i) + P[0, 0] * load(c, i))
    return 0


@microkernel
def copy(P, T, a, b, X):
    for i in range(a.shape[0]):
        store(a, i, load(b, i))
    return 0


@microkernel
def sine_and_cosine(P, T, out, X):
    s, c = sincos(load(X, 0))
    store(X, 1, s)
    store(X, 2, c)
    return 0


# ---------------------------------------------------------------------------------------------- the machine


CHAINS = {multiply_adds: 12, multiply_adds_of_6: 6}
TIMES = 20_000  # iterations of each chain in one run


def peak_jobs() -> dict[Entry, common.Job]:
    """Multiply-adds alone."""
    P, T, out = np.zeros((1, 1), order="F"), np.full((1, 1), TIMES), np.zeros((1, 1))
    X = np.full((14, LANES), 0.5)
    X[1] = 0.25
    return {text: lambda text=text: text(P, T, out, X) for text in CHAINS}


def peak(seconds: dict[Any, float]) -> dict[str, Any]:
    """Operations a second of multiply-adds alone, and the registers that the machine code uses."""
    rates = {text: 2 * LANES * chains * TIMES / seconds[text] for text, chains in CHAINS.items()}
    quickest = max(rates, key=rates.__getitem__)
    return {"operations per second": rates[quickest], "chains": CHAINS[quickest], **looked_at(quickest)}


def looked_at(text: Entry) -> dict[str, Any]:
    """The instructions of the hot loop (on x86); raises if it is not multiply-adds on registers alone."""
    if platform.machine() not in ("x86_64", "AMD64"):
        return {"registers": "unseen"}
    loop = hot_loop(text.dispatcher.inspect_asm(text.signature(DOUBLE)))
    fused = re.findall(r"\tvfmadd\w+pd\t.*%([xyz]mm)\d+", loop)
    if not fused or loop.count("\tv") != len(fused) or len(set(fused)) != 1:
        raise RuntimeError(f"the loop is not multiply-adds alone, so it measures no peak:\n{loop}")
    return {"registers": fused[0], "multiply-adds in the loop": len(fused)}


def hot_loop(asm: str) -> str:
    """The piece of code between a label and the jump back to it that holds most multiply-adds."""
    pieces = []
    for jump in re.finditer(r"\tj\w+\t(\.L\w+)", asm):
        label = asm.find(f"\n{jump[1]}:")
        if 0 <= label < jump.start():
            pieces.append(asm[label : jump.end()])
    return max(pieces, key=lambda piece: piece.count("\tvf"), default="")


def stream_jobs(array: int) -> dict[str, common.Job]:
    """Triad and copy on arrays of `array` bytes."""
    P, T, X = np.full((1, 1), 3.0, order="F"), np.zeros((1, 1), dtype=np.int64), np.zeros((1, LANES))
    a, b, c = (np.full((array // (8 * LANES), LANES), value) for value in (0.0, 1.0, 2.0))
    return {"triad": lambda: triad(P, T, a, b, c, X), "copy": lambda: copy(P, T, a, b, X)}


def last_cache() -> int:
    """Bytes of the last level of cache, as reported by the system; a large default otherwise."""
    found = sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size"))
    return int(found[-1].read_text().strip().rstrip("K")) * 1024 if found else 64 << 20


# ---------------------------------------------------------------------------------------------- the kernels


def sincos_operations() -> Operations:
    """Cost of one sine and cosine on lanes: vector multiplications and additions in the LLVM IR."""
    sine_and_cosine.compiled(DOUBLE)
    (text,) = sine_and_cosine.dispatcher.inspect_llvm().values()
    body = max(text.split("define "), key=len)
    found = {name: len(re.findall(rf"{name} [a-z ]*<{LANES} x double>", body)) for name in ("fmul", "fadd", "fsub")}
    return Operations(found["fmul"], found["fadd"] + found["fsub"])


def operations(robot: fd.Robot, quantity: Quantity) -> Operations:
    """Of one state."""
    task = robot.task(quantity)
    buffers = [np.full(int(np.prod(core)), 0.1) for core in list(task.inputs.values())[: len(quantity.reads)]]
    buffers += [np.zeros(0)] * len(quantity.optional)
    return count(
        quantity.text, *task.constants, *buffers, *map(np.zeros, task.columns), np.zeros(quantity.rows(robot.n))
    )


def bytes_moved(robot: fd.Robot, quantity: Quantity) -> int:
    """Of one state: each number in and out once."""
    return 8 * quantity.columns(robot.n)


def job(robot: fd.Robot, what: str, T: int) -> common.Job:
    """The compiled entry alone, on a batch, without the API's overhead."""
    quantity = QUANTITIES[what]
    task = Task(robot.parameters, quantity)
    q, qd, last = common.states(robot.n, T)
    values = {"q": q, "qd": qd, "qdd": last, "tau": last}
    samples = [values.get(name, task.none) for name in task.names]
    out, scratch = [np.empty((T, columns)) for columns in task.columns], lane_rows(task.rows)
    run = task.entry.compiled(DOUBLE)
    return lambda: run(*task.constants, *samples, *out, scratch)


def in_cache(robot: fd.Robot, what: str) -> int:
    """How many states fill a quarter of a megabyte: whole blocks, one at least."""
    return LANES * max(1, (1 << 18) // bytes_moved(robot, QUANTITIES[what]) // LANES)


def arithmetic(turns: int) -> dict[str, Any]:
    """Each kernel on batches that stay in the cache, and the peak in the same turns."""
    robots = {n: common.chain(n) for n in JOINTS}
    T = {(n, what): in_cache(robots[n], what) for n in JOINTS for what in QUANTITIES}
    jobs: dict[Any, common.Job] = {(n, what): job(robots[n], what, T[n, what]) for n, what in T}
    seconds = common.best(peak_jobs() | jobs, turns)
    top, trig = peak(seconds), sincos_operations()
    most = top["operations per second"]
    rows = []
    for n, what in T:
        own = operations(robots[n], QUANTITIES[what])
        m = own.multiplications + own.sincos * trig.multiplications
        a = own.additions + own.sincos * trig.additions
        time, floor = seconds[n, what] / T[n, what], 2 * max(m, a) / most
        rows.append(
            {
                "joints": n, "what": what, "multiplications": own.multiplications, "additions": own.additions,
                "sincos": own.sincos, "divisions": own.divisions, "operations": m + a, "ns": time * 1e9,
                "operations per second": (m + a) / time, "share of peak": (m + a) / time / most,
                "floor, ns": floor * 1e9, "share of floor": floor / time,
            }
        )  # fmt: skip
    cost = {"multiplications": trig.multiplications, "additions": trig.additions}
    return {"peak": top, "sincos": cost, "rows": rows}


def memory(turns: int, array: int) -> dict[str, Any]:
    """Each kernel on batches of `array` bytes, and triad and copy in the same turns."""
    streams, rows = stream_jobs(array), []
    rates = {"triad": 0.0, "copy": 0.0}
    for n in JOINTS:
        robot = common.chain(n)
        size = {what: bytes_moved(robot, quantity) for what, quantity in QUANTITIES.items()}
        T = {what: array // size[what] for what in QUANTITIES}
        seconds = common.best(streams | {what: job(robot, what, T[what]) for what in QUANTITIES}, turns)
        for name, arrays in (("triad", 3), ("copy", 2)):
            rates[name] = max(rates[name], arrays * array / seconds[name])
        rows += [
            {"joints": n, "what": what, "states": T[what], "bytes": size[what], "ns": seconds[what] / T[what] * 1e9}
            for what in QUANTITIES
        ]
    for row in rows:
        row["bytes per second"] = row["bytes"] / row["ns"] * 1e9
        row["share of triad"] = row["bytes per second"] / rates["triad"]
    return {"bandwidth": rates, "array": array, "rows": rows}


def growth(turns: int, sizes: tuple[int, ...] = GROWTH) -> list[dict[str, Any]]:
    """Batches that stay in the cache; all sizes of one kernel take turns."""
    robots = {n: common.chain(n) for n in sizes}
    rows = []
    for what in GROWING:
        T = {n: in_cache(robots[n], what) for n in sizes}
        seconds = common.best({n: job(robots[n], what, T[n]) for n in sizes}, turns)
        ns = {n: seconds[n] / T[n] * 1e9 for n in sizes}
        p, margin = fit(sizes, list(ns.values()))
        rows.append({"what": what, "exponent": p, "margin": margin, "ns": ns, "per joint, ns": _slope(ns)})
    return rows


def _slope(ns: dict[int, float]) -> float:
    """Time per additional joint, over the last doubling."""
    n = max(ns)
    return (ns[n] - ns[n // 2]) / (n - n // 2)


# ---------------------------------------------------------------------------------------------- the page


def report(found: dict[str, Any]) -> str:
    most, trig, stream = found["arithmetic"]["peak"], found["arithmetic"]["sincos"], found["memory"]["bandwidth"]
    page = common.heading("How far from the limit", found["about"])
    page += f"One thread; best of {found['turns']} turns.\n\n## Arithmetic\n\n"
    page += (
        f"Peak of this core: {most['operations per second'] / 1e9:.1f} G operations/s, by {most['chains']} chains of "
        f"multiply-adds in {most['registers']} registers;\none multiply-add is two operations. `operations` are "
        f"multiplications and additions, with {trig['multiplications']} and {trig['additions']} for each sine\nand "
        "cosine; divisions are not among them. `floor`: the time that the larger of the two numbers takes at peak.\n\n"
    )
    page += markdown(
        (">joints", "what", ">mul", ">add", ">sincos", ">div", ">operations", ">ns", ">G/s", ">% of peak", ">floor, ns",
         ">% of floor"),
        (
            (
                *(row[key] for key in ("joints", "what", "multiplications", "additions", "sincos", "divisions")),
                row["operations"], figures(row["ns"]), f"{row['operations per second'] / 1e9:.1f}",
                f"{100 * row['share of peak']:.0f}", figures(row["floor, ns"]), f"{100 * row['share of floor']:.0f}",
            )
            for row in found["arithmetic"]["rows"]
        ),
    )  # fmt: skip
    page += (
        f"\n## Memory\n\nTriad: {stream['triad'] / 1e9:.1f} GB/s, copy: {stream['copy'] / 1e9:.1f} GB/s, on arrays of "
        f"{found['memory']['array'] >> 20} MiB.\n\n"
    )
    page += markdown(
        (">joints", "what", ">states", ">bytes per state", ">ns", ">GB/s", ">% of triad"),
        (
            (
                row["joints"], row["what"], row["states"], row["bytes"], figures(row["ns"]),
                f"{row['bytes per second'] / 1e9:.1f}", f"{100 * row['share of triad']:.0f}",
            )
            for row in found["memory"]["rows"]
        ),
    )  # fmt: skip
    sizes = list(found["growth"][0]["ns"])
    page += f"\n## Growth\n\nTime ~ n^p for n from {sizes[0]} to {sizes[-1]}; ns per state at each n.\n\n"
    return page + markdown(
        ("what", ">p, 95 %", ">ns per further joint", *(f">{n}" for n in sizes)),
        (
            (row["what"], f"{row['exponent']:.2f} ± {row['margin']:.2f}", figures(row["per joint, ns"]),
             *map(figures, row["ns"].values()))
            for row in found["growth"]
        ),
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.limits", description="How far from the limit.")
    parser.add_argument("--quick", action="store_true", help="few turns, smaller arrays: to see that it runs")
    parser.add_argument("--out", type=Path, default=common.RESULTS, help="folder for limits.md and limits.json")
    options = parser.parse_args()
    turns = 5 if options.quick else 40
    array = (1 if options.quick else 4) * last_cache()
    found: dict[str, Any] = {"about": common.circumstances(), "turns": turns}
    found["arithmetic"] = arithmetic(turns)
    found["memory"] = memory(max(3, turns // 4), array)
    found["growth"] = growth(turns)
    page = report(found)
    print(page)
    common.write(options.out / "limits.md", page)
    common.write_json(options.out / "limits.json", found)


if __name__ == "__main__":
    main()
