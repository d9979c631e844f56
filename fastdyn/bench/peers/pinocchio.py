"""Pinocchio: (n, T) columns for batches, through its own pool of one thread; joints about z, its fastest kind."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np

from fastdyn.arrays import Array
from fastdyn.bench.case import BATCH, FORWARD, INVERSE, MASS, SINGLE, Case, Job
from fastdyn.bench.peers.models import pinocchio_model

NAME = "Pinocchio"


def jobs(case: Case) -> Iterator[Job]:
    """Batches of inverse and forward dynamics, and one state."""
    pin: Any = import_module("pinocchio")
    model, _ = pinocchio_model(case.robot)
    data, one = model.createData(), case.one
    pool = pin.ModelPool(model, 1)
    q, qd, qdd, tau = (np.asfortranarray(x.T) for x in (case.q, case.qd, case.qdd, case.tau))
    out = np.empty((case.n, case.T), order="F")

    def symmetric() -> Array:
        upper: Array = np.triu(data.M)
        return upper + np.triu(upper, 1).T

    yield Job(NAME, INVERSE, BATCH, lambda: pin.rneaInParallel(1, pool, q, qd, qdd, out), lambda: out.T)
    yield Job(NAME, FORWARD, BATCH, lambda: pin.abaInParallel(1, pool, q, qd, tau, out), lambda: out.T)
    yield Job(NAME, INVERSE, SINGLE, lambda: pin.rnea(model, data, one.q, one.qd, one.qdd))
    yield Job(NAME, FORWARD, SINGLE, lambda: pin.aba(model, data, one.q, one.qd, one.tau))
    yield Job(NAME, MASS, SINGLE, lambda: pin.crba(model, data, one.q), symmetric)
