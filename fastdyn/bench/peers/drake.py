"""Drake, one state at a time. It caches what depends on the state, so the state is set anew each time."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np

from fastdyn.bench.case import FORWARD, INVERSE, MASS, SINGLE, Case, Job
from fastdyn.bench.peers import urdf

NAME = "Drake"


def jobs(case: Case) -> Iterator[Job]:
    """One state, from a URDF file."""
    parsing, plants, tree = (import_module(f"pydrake.multibody.{part}") for part in ("parsing", "plant", "tree"))
    logging.getLogger("drake").setLevel(logging.ERROR)  # no warnings of physically impossible inertias
    plant: Any = plants.MultibodyPlant(0.0)
    parsing.Parser(plant).AddModelsFromString(urdf.text(case.robot), "urdf")
    plant.WeldFrames(plant.world_frame(), plant.GetFrameByName("base"))
    plant.mutable_gravity_field().set_gravity_vector(case.robot.gravity)
    plant.Finalize()
    assert [plant.GetJointByName(f"joint{i}").velocity_start() for i in range(case.n)] == list(range(case.n))
    context, forces, one = plant.CreateDefaultContext(), tree.MultibodyForces(plant), case.one
    state = np.concatenate([one.q, one.qd])
    load = plant.get_applied_generalized_force_input_port().FixValue(context, one.tau)

    def inverse() -> Any:
        plant.SetPositionsAndVelocities(context, state)
        plant.CalcForceElementsContribution(context, forces)  # gravity
        return plant.CalcInverseDynamics(context, one.qdd, forces)

    def forward() -> Any:
        plant.SetPositionsAndVelocities(context, state)
        load.GetMutableData().get_mutable_value().SetFromVector(one.tau)
        return plant.EvalTimeDerivatives(context).get_generalized_velocity().CopyToVector()

    def mass() -> Any:
        plant.SetPositions(context, one.q)
        return plant.CalcMassMatrix(context)

    yield Job(NAME, INVERSE, SINGLE, inverse)
    yield Job(NAME, FORWARD, SINGLE, forward)
    yield Job(NAME, MASS, SINGLE, mass)
