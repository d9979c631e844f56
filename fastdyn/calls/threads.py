"""Runs batches as short compiled calls on one or several threads; Ctrl-C is handled between calls."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from queue import SimpleQueue
from time import thread_time

import numpy as np

from fastdyn.errors import ArgumentError
from fastdyn.scalars import LANES

STEP = 0.01  # s: a compiled call of a long batch takes up to twice this, so that Ctrl-C responds soon

Span = tuple[int, int]  # the first sample, and one past the last
Call = Callable[[int, int], int]  # computes these samples and returns a status

_LOCK = threading.Lock()


def useful(threads: int, T: int, worth: int) -> int:
    """How many threads to use: at most `threads` and the number of cores, each with enough work to be worth waking."""
    if isinstance(threads, bool) or not isinstance(threads, (int, np.integer)) or threads < 1:
        raise ArgumentError(f"threads is {threads!r}: expected a whole number above zero")
    wanted = min(int(threads), T // (2 * worth))
    return min(wanted, _cores()) if wanted > 1 else 1


def _cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def walk(T: int, threads: int, worth: int, ready: Callable[[], Call]) -> Span | None:
    """Computes all samples; returns the first step that failed, if any. ready: makes a thread's own call."""
    if T <= worth:
        return (0, T) if ready()(0, T) else None
    return _Steps(T, threads, worth).walk(ready)


def first_wrong(within: Span, run: Call) -> tuple[int, int]:
    """The first sample, or unit of work, of a failed step that fails by itself, and its status."""
    first, last = within
    while last - first > 1:
        middle = (first + last) // 2
        first, last = (first, middle) if run(first, middle) else (middle, last)
    return first, run(first, last)


class _Steps:
    """A batch as a queue of short compiled calls (steps); each thread takes the next one when it has finished the last.

    Between steps Python can handle Ctrl-C, and a thread that is preempted does not delay the others. Steps are whole
    blocks of lanes, so that results do not depend on them.
    """

    def __init__(self, T: int, threads: int, worth: int) -> None:
        self.T, self.threads, self.first_size, self.smallest = T, threads, _blocks(worth), _blocks(worth // 8)
        self.next = 0
        self.helping, self.over = 0, False
        self.answers: list[Span | BaseException | None] = []  # of the helpers
        self.lock, self.stop, self.left = threading.Lock(), False, SimpleQueue[None]()

    def walk(self, ready: Callable[[], Call]) -> Span | None:
        """Runs all steps, here and in helper threads. After an exception, such as Ctrl-C, no thread writes any more."""
        try:
            for k in range(1, self.threads):
                _helper(k).put(lambda: self._help(ready))
            mine = self._work(ready)
            self._wait()
        except BaseException:
            self.stop = True
            while True:
                try:
                    self._wait()
                    break
                except BaseException:  # Ctrl-C once more: helpers are still at work, and the first is raised soon
                    pass
            raise
        found = [mine, *self.answers]
        for answer in found:
            if isinstance(answer, BaseException):
                raise answer
        # all steps before the first failed one were started earlier, and have finished
        return min((answer for answer in found if isinstance(answer, tuple)), default=None)

    def _help(self, ready: Callable[[], Call]) -> None:
        """A helper's share, unless the batch is done before it starts."""
        with self.lock:
            if self.over:
                return
            self.helping += 1
        try:
            self.answers.append(self._work(ready))
        except BaseException as problem:
            self.answers.append(problem)
        with self.lock:
            self.helping -= 1
        self.left.put(None)

    def _wait(self) -> None:
        """Returns when the helpers that started have finished; no more can start. May be interrupted and called again.

        Helpers themselves count who is left, before they wake the caller: a wake-up that is lost delays nothing.
        """
        with self.lock:
            self.over = True
        while self.helping:
            self.left.get()

    def _work(self, ready: Callable[[], Call]) -> Span | None:
        """One thread's share: its steps double in length until one takes STEP seconds."""
        try:
            run, size = ready(), self.first_size
            while not self.stop and (step := self._take(size)):
                begun = thread_time()
                if run(*step):
                    self.stop = True
                    return step
                if thread_time() - begun < STEP:
                    size *= 2
            return None
        except BaseException:
            self.stop = True
            raise

    def _take(self, size: int) -> Span | None:
        """The next step of `size` samples; fewer towards the end, so that no thread waits long for another."""
        with self.lock:
            first = self.next
            if self.threads > 1:
                size = max(self.smallest, min(size, _blocks((self.T - first) // (2 * self.threads))))
            self.next = min(self.T, first + size)
            return (first, self.next) if first < self.T else None


def _blocks(samples: int) -> int:
    """Whole blocks of lanes, at least one."""
    return max(1, samples // LANES) * LANES


_HELPERS: list[SimpleQueue[Callable[[], None]]] = []


def _helper(k: int) -> SimpleQueue[Callable[[], None]]:
    """The work queue of the k-th helper thread, from 1 on: a queue wakes it sooner than a thread pool's future."""
    with _LOCK:
        while len(_HELPERS) < k:
            work: SimpleQueue[Callable[[], None]] = SimpleQueue()
            threading.Thread(target=_serve, args=(work,), name=f"fastdyn {k}", daemon=True).start()
            _HELPERS.append(work)
    return _HELPERS[k - 1]


def _serve(work: SimpleQueue[Callable[[], None]]) -> None:
    while True:
        work.get()()


if hasattr(os, "register_at_fork"):  # a child process has none of its parent's threads
    os.register_at_fork(after_in_child=_HELPERS.clear)
