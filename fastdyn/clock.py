"""The clock of the demo, the study and the benchmarks.

A job's time is its best of many turns: on a shared machine only the best is a property of the program. Jobs that are
compared take turns within one run, so that a disturbance slows all of them and not one.
"""

from __future__ import annotations

import gc
import math
import os
import time
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import repeat
from typing import Any, TypeVar

TURN = 0.5e-3  # seconds: shorter jobs run several times in a turn, so that reading the clock does not count
BUSY = 0.25  # of the processors: where other programs want more of them, the host is loaded
SHARE = 0.95  # of a processor: a program that had less of it was not alone
Key = TypeVar("Key", bound=Hashable)
Job = Callable[[], Any]


def best(
    jobs: Mapping[Key, Job | Sequence[Job]],
    turns: int,
    seconds: float = 0.0,
    warm: float = 0.0,
    progress: Callable[[float], None] = lambda fraction: None,
) -> dict[Key, float]:
    """Seconds that one run of each job takes at best. Every job runs before, untimed.

    A job may be given as several variants, which its turns run one after the other: the best of all counts. Each job
    gets at least so many turns and so many timed seconds. The garbage collector is off while the clock runs.

    warm: jobs shorter than this, in seconds, begin each turn with an untimed run, so that they find caches as they left
    them themselves and not as another job did. Short jobs gain most: figures with and without it do not compare.

    >>> found = best({"short": lambda: sum(range(10)), "long": lambda: sum(range(10_000))}, turns=5)
    >>> found["short"] < found["long"]
    True
    """
    variants = {key: [job] if callable(job) else list(job) for key, job in jobs.items()}
    once = {}
    for key, ways in variants.items():
        ways[0]()
        once[key] = _seconds(ways[0], 1)
    runs = {key: max(1, round(TURN / max(took, 1e-9))) for key, took in once.items()}
    found, spent, had = dict.fromkeys(jobs, math.inf), dict.fromkeys(jobs, 0.0), dict.fromkeys(jobs, 0)
    waiting = list(jobs)
    collecting = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        while waiting:
            for key in waiting:
                job = variants[key][had[key] % len(variants[key])]
                if once[key] < warm:
                    job()
                took = _seconds(job, runs[key])
                found[key] = min(found[key], took)
                spent[key] += took * runs[key]
                had[key] += 1
            waiting = [key for key in waiting if spent[key] < seconds or had[key] < turns]
            missing = [max(1 - had[key] / turns, 1 - spent[key] / seconds if seconds else 0.0) for key in waiting]
            progress(1.0 - sum(missing) / len(jobs))
    finally:
        if collecting:
            gc.enable()
    return found


def _seconds(job: Job, runs: int) -> float:
    start = time.perf_counter()
    for _ in repeat(None, runs):
        job()
    return (time.perf_counter() - start) / runs


def load() -> tuple[float, ...]:
    """The load average over a minute, as one value; none where the system does not tell (Windows)."""
    try:
        return (round(os.getloadavg()[0], 2),)
    except (AttributeError, OSError):
        return ()


def loaded(others: float, processors: int, shares: Iterable[float]) -> bool:
    """Whether other programs took much of the machine, so that times are not to be trusted.

    others: runnable processes besides the program that is timed; shares: its processor time over elapsed time.

    >>> loaded(0.3, 2, [0.99]), loaded(0.6, 2, [0.99]), loaded(0.3, 2, [0.99, 0.9])
    (False, True, True)
    """
    return others > BUSY * processors or min(shares, default=1.0) < SHARE
