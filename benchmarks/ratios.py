"""The project's speed claims as ratios, each measured in one run, taking turns.

    python -m benchmarks.ratios
    NUMBA_CPU_NAME=haswell NUMBA_CPU_FEATURES= python -m benchmarks.ratios      # AVX2 code, on any host that has it

Against Pinocchio: batches by rneaInParallel(1) and abaInParallel(1), joints about z, its fastest kind; one state by
pin.rnea called from Python. The rest compares this project with itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import pinocchio as pin

import fastdyn as fd
from benchmarks.common import best, chain, circumstances, heading, markdown, states
from tests.peers import Pinocchio

T, LONG = 8192, (65536, 262144)
TURNS = 60
Row = tuple[str, int, float]


def against_pinocchio(n: int) -> Iterator[Row]:
    """Inverse and forward dynamics of a batch."""
    robot, (q, qd, qdd) = chain(n), states(n, T)
    peer, tau, out = Pinocchio(robot), robot.inverse_dynamics(q, qd, qdd), np.empty((T, n))
    pool = pin.ModelPool(peer.model, 1)
    Q, V, A, L = (np.array(x.T, order="F") for x in (q, qd, qdd, tau))
    result = np.empty((n, T), order="F")
    pin.rneaInParallel(1, pool, Q, V, A, result)
    assert np.abs(result.T - tau).max() <= 100 * n * np.finfo(float).eps * np.abs(tau).max(), "they must agree"
    for name, ours, theirs in (
        (
            "inverse dynamics, batch: Pinocchio's time over ours",
            lambda: robot.inverse_dynamics(q, qd, qdd, out=out),
            lambda: pin.rneaInParallel(1, pool, Q, V, A, result),
        ),
        (
            "forward dynamics, batch: Pinocchio's time over ours",
            lambda: robot.forward_dynamics(q, qd, tau, out=out),
            lambda: pin.abaInParallel(1, pool, Q, V, L, result),
        ),
    ):
        seconds = best({"ours": ours, "theirs": theirs}, TURNS)
        yield name, n, seconds["theirs"] / seconds["ours"]


def one_state(n: int) -> Iterator[Row]:
    """Inverse dynamics of one state, from Python."""
    robot, (q, qd, qdd) = chain(n), (x[0].copy() for x in states(n, 1))
    peer, loop = Pinocchio(robot), robot.bind()
    loop.q[:], loop.qd[:], loop.qdd[:] = q, qd, qdd
    seconds = best(
        {
            "pin.rnea": lambda: pin.rnea(peer.model, peer.data, q, qd, qdd),
            "checked": lambda: robot.inverse_dynamics(q, qd, qdd),
            "bound": loop.inverse_dynamics,
        },
        TURNS,
    )
    yield "inverse dynamics, one state, bound: pin.rnea's time over ours", n, seconds["pin.rnea"] / seconds["bound"]
    yield "inverse dynamics, one state, checked: pin.rnea's time over ours", n, seconds["pin.rnea"] / seconds["checked"]


def within(n: int) -> Iterator[Row]:
    """The mass matrix, two threads and single precision against inverse dynamics on one thread in double precision."""
    robot, (q, qd, qdd) = chain(n), states(n, T)
    out, M, single = np.empty((T, n)), np.empty((T, n, n)), [x.astype(np.float32) for x in (q, qd, qdd)]
    small = np.empty((T, n), dtype=np.float32)
    inverse = lambda: robot.inverse_dynamics(q, qd, qdd, out=out)  # noqa: E731
    seconds = best({"inverse": inverse, "mass": lambda: robot.mass_matrix(q, out=M)}, TURNS)
    yield "mass matrix, batch: its time over inverse dynamics'", n, seconds["mass"] / seconds["inverse"]
    seconds = best(
        {"double": inverse, "single": lambda: robot.inverse_dynamics(*single, out=small, dtype=np.float32)}, TURNS
    )
    yield "single precision, batch: double's time over its", n, seconds["double"] / seconds["single"]
    for count in LONG:
        Q, V, A = states(n, count)
        long = np.empty((count, n))
        seconds = best(
            {k: partial(robot.inverse_dynamics, Q, V, A, out=long, threads=k) for k in (1, 2)}, TURNS * LONG[0] // count
        )
        yield f"two threads, batch of {count}: one thread's time over theirs", n, seconds[1] / seconds[2]


def main() -> None:
    about = circumstances()
    about["versions"] |= {"pinocchio": pin.__version__}
    rows: list[Row] = []
    for n in (6, 7, 12, 24, 48, 96):
        rows += against_pinocchio(n)
    for n in (6, 7):
        rows += [*one_state(n), *within(n)]
    print(heading(f"fastdyn {fd.__version__}: ratios", about))
    print(f"One thread unless said; batches of {T}; best of {TURNS} turns.\n")
    print(markdown(("what", ">joints", ">ratio"), [(what, n, f"{ratio:.2f}") for what, n, ratio in sorted(rows)]))


if __name__ == "__main__":
    main()
