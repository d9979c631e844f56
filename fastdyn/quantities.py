"""The table of quantities: what can be computed, from what, in which shapes.

A row names a quantity, its kernel text (the function that computes it) and the text's inputs and results. Derived from
the row: batch loop, single-state call, bound call, C function, all of these for coupled robots, warm-up, the parameters
of tests and benchmarks, and operation counts. To add a quantity: write its text, its row here, a method of `Dynamics`
(dynamics.py), a function of tests/oracle.py, and a line in notes/equations.md.

A text is called as text(P, tree, [index,] inputs ..., results ..., work): P and tree are the flat arrays of its layout,
every field is a buffer, `work` has the number of scratch rows given in the row. It writes all of its results.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from fastdyn.kernels import (
    aba,
    controllers,
    coriolis,
    coupling,
    crba,
    gravity,
    inverse_velocity,
    kinematics,
    momentum,
    rnea,
    rows,
    task_space,
    velocities,
)


class Layout(NamedTuple):
    """Which flat arrays a text reads: the layout's name, and how many rows P and tree have."""

    name: str
    rows: int
    tree_rows: int


CANONICAL = Layout("canonical", rows.ROWS, rows.TREE_ROWS)


@dataclass(frozen=True, eq=False)
class Field:
    """An input or a result: its name, and the shape of one sample; "n" stands for the number of joints.

    coupling: how it transforms to actuator coordinates, whose number then replaces "n": as "position", "rate", "force",
    "inertia", "matrix", "columns" of a Jacobian, "hessian", or "kinetic" energy; a "gain" is given in them and has no
    value in joints. A field without one does not change: it belongs to links or frames.
    """

    name: str
    shape: tuple[str | int, ...]
    coupling: str = ""

    def core(self, joints: int, coordinates: int | None = None) -> tuple[int, ...]:
        """The shape of one sample."""
        n = joints if coordinates is None or not self.coupling else coordinates
        return tuple(n if size == "n" else int(size) for size in self.shape)


Q = Field("q", ("n",), "position")
QD = Field("qd", ("n",), "rate")
QDD = Field("qdd", ("n",), "rate")
TAU = Field("tau", ("n",), "force")
WRENCHES = Field("wrenches", ("n", 6))
INERTIA = Field("M", ("n", "n"), "inertia")
CORIOLIS = Field("C", ("n", "n"), "matrix")
REACTIONS = Field("reactions", ("n", 6))
KINETIC = Field("kinetic", (), "kinetic")
POTENTIAL = Field("potential", ())
MOMENTA = Field("momentum", (6,))
COM = Field("com", (3,))
POSE = Field("pose", (4, 4))
LINKS = Field("poses", ("n", 4, 4))
JACOBI = Field("J", (6, "n"), "columns")
VELOCITY = Field("velocity", (6,))
ACCELERATION = Field("acceleration", (6,))
JACOBI_RATE = Field("dJ", (6, "n"), "columns")
HESSE = Field("H", (6, "n", "n"), "hessian")
PREFERRED = Field("preferred", ("n",), "rate")
AXES = Field("axes", (6,))
DAMPING = Field("damping", ())
TOLERANCE = Field("tolerance", ())
RANK = Field("rank", ())
RESIDUAL = Field("residual", ())
SIGMA = Field("sigma", (6,))
WRENCH = Field("wrench", (6,))
LAMBDA = Field("Lambda", (6, 6))
MU = Field("mu", (6,))
TASK_GRAVITY = Field("p", (6,))
KEPT = Field("kept", (6,))
Q_D = Field("q_d", ("n",), "position")
QD_D = Field("qd_d", ("n",), "rate")
QDD_D = Field("qdd_d", ("n",), "rate")
KP = Field("kp", ("n",), "gain")
KD = Field("kd", ("n",), "gain")
# in their order in a workspace
FIELDS = (
    Q, QD, QDD, TAU, WRENCHES, INERTIA, CORIOLIS, REACTIONS, KINETIC, POTENTIAL, MOMENTA, COM,
    POSE, LINKS, JACOBI, VELOCITY, ACCELERATION, JACOBI_RATE, HESSE,
    PREFERRED, AXES, DAMPING, TOLERANCE, RANK, RESIDUAL, SIGMA, WRENCH, LAMBDA, MU, TASK_GRAVITY, KEPT,
    Q_D, QD_D, QDD_D, KP, KD,
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Quantity:
    """A row of the table.

    text, rows: the kernel text, and the rows of scratch it needs for n joints; reads, gives: its inputs and results in
    order; optional: trailing inputs that may be left out (empty buffers), all of them. solves: whether the text returns
    a joint that moves no inertia, or -1. index: whether it takes an integer before its inputs. frame: whether it is a
    quantity of the frame that the flat arrays name. coupled, coupled_rows: a separate text for coupled robots, (P,
    tree, G, pattern, [index,] inputs ..., results ..., work) in actuator coordinates, where transforming the fields is
    not enough. layout: that of P and tree. method: its name for `method=`, where a quantity has several texts. source:
    of a formulation, where it is published. counts: of straight-line code of one robot, how many values
    each field has in a sample.
    """

    name: str
    text: Callable[..., Any]
    rows: Callable[[int], int]
    reads: tuple[Field, ...]
    gives: tuple[Field, ...]
    optional: tuple[Field, ...] = ()
    solves: bool = False
    index: bool = False
    frame: bool = False
    coupled: Callable[..., Any] | None = None
    coupled_rows: Callable[[int], int] | None = None
    layout: Layout = CANONICAL
    method: str = ""
    rotary_only: bool = False
    source: str = ""
    counts: Mapping[Field, int] = dataclasses.field(default_factory=dict)

    @property
    def straight(self) -> bool:
        """Whether the text is straight-line code of one robot, which returns a status."""
        return bool(self.counts)

    @property
    def inputs(self) -> tuple[Field, ...]:
        """All inputs, the optional ones last."""
        return self.reads + self.optional

    def columns(self, n: int) -> int:
        """Values per sample: required inputs and results together."""
        return sum(math.prod(field.core(n)) for field in self.reads + self.gives)


_STATE = (Q, QD)
_MOTION = (Q, QD, QDD)
_COUPLED_SOLUTION: Any = {
    "solves": True, "coupled": coupling.forward_dynamics, "coupled_rows": coupling.forward_dynamics_rows,
}  # fmt: skip

INVERSE_DYNAMICS = Quantity(
    "inverse_dynamics", rnea.inverse_dynamics, rnea.inverse_dynamics_rows, _MOTION, (TAU,), (WRENCHES,)
)
FORWARD_DYNAMICS = Quantity(
    "forward_dynamics", aba.forward_dynamics, aba.forward_dynamics_rows, (Q, QD, TAU), (QDD,), (WRENCHES,),
    method="aba", **_COUPLED_SOLUTION,
)  # fmt: skip
FORWARD_DYNAMICS_CRBA = Quantity(
    "forward_dynamics_crba", crba.forward_dynamics, crba.forward_dynamics_rows, (Q, QD, TAU), (QDD,), (WRENCHES,),
    method="crba", **_COUPLED_SOLUTION,
)  # fmt: skip
MASS_MATRIX = Quantity("mass_matrix", crba.mass_matrix, crba.mass_matrix_rows, (Q,), (INERTIA,))
CORIOLIS_MATRIX = Quantity(
    "coriolis_matrix", coriolis.coriolis_matrix, coriolis.coriolis_matrix_rows, _STATE, (CORIOLIS,)
)
BIAS_FORCES = Quantity("bias_forces", rnea.bias_forces, rnea.bias_forces_rows, _STATE, (TAU,))
GRAVITY_FORCES = Quantity("gravity_forces", gravity.gravity_forces, gravity.gravity_forces_rows, (Q,), (TAU,))
KINETIC_ENERGY = Quantity(
    "kinetic_energy", velocities.kinetic_energy, velocities.kinetic_energy_rows, _STATE, (KINETIC,)
)
POTENTIAL_ENERGY = Quantity(
    "potential_energy", gravity.potential_energy, gravity.potential_energy_rows, (Q,), (POTENTIAL,)
)
JOINT_REACTIONS = Quantity(
    "joint_reactions", rnea.joint_reactions, rnea.joint_reactions_rows, _MOTION, (REACTIONS,), (WRENCHES,)
)
CENTER_OF_MASS = Quantity("center_of_mass", momentum.center_of_mass, momentum.center_of_mass_rows, (Q,), (COM,))
MOMENTUM = Quantity("momentum", momentum.momentum, momentum.momentum_rows, _STATE, (MOMENTA,))
FORWARD_KINEMATICS = Quantity(
    "forward_kinematics", kinematics.forward_kinematics, kinematics.forward_kinematics_rows, (Q,), (POSE,), frame=True
)
LINK_POSES = Quantity("link_poses", kinematics.link_poses, kinematics.link_poses_rows, (Q,), (LINKS,))
JACOBIAN = Quantity("jacobian", kinematics.jacobian, kinematics.jacobian_rows, (Q,), (JACOBI,), frame=True)
POSE_AND_JACOBIAN = Quantity(
    "pose_and_jacobian", kinematics.pose_and_jacobian, kinematics.pose_and_jacobian_rows, (Q,), (POSE, JACOBI),
    frame=True,
)  # fmt: skip
FRAME_VELOCITY = Quantity(
    "frame_velocity", kinematics.frame_velocity, kinematics.frame_velocity_rows, _STATE, (VELOCITY,), frame=True
)
FRAME_ACCELERATION = Quantity(
    "frame_acceleration", kinematics.frame_acceleration, kinematics.frame_acceleration_rows, _STATE, (ACCELERATION,),
    (QDD,), frame=True,
)  # fmt: skip
JACOBIAN_DERIVATIVE = Quantity(
    "jacobian_derivative", kinematics.jacobian_derivative, kinematics.jacobian_derivative_rows, _STATE, (JACOBI_RATE,),
    frame=True,
)  # fmt: skip
HESSIAN = Quantity("hessian", kinematics.hessian, kinematics.hessian_rows, (Q,), (HESSE,), frame=True)
_SOLUTION: Any = {"optional": (PREFERRED, AXES, DAMPING, TOLERANCE), "frame": True}
SINGULAR_VALUES = Quantity(
    "singular_values", inverse_velocity.singular_values, inverse_velocity.singular_values_rows, (Q,), (SIGMA,), (AXES,),
    frame=True, coupled=inverse_velocity.coupled_singular_values,
    coupled_rows=inverse_velocity.coupled_singular_values_rows,
)  # fmt: skip
INVERSE_VELOCITY = Quantity(
    "inverse_velocity", inverse_velocity.inverse_velocity, inverse_velocity.inverse_velocity_rows, (Q, VELOCITY),
    (QD, RANK, RESIDUAL), **_SOLUTION, coupled=inverse_velocity.coupled_inverse_velocity,
    coupled_rows=inverse_velocity.coupled_inverse_velocity_rows,
)  # fmt: skip
INVERSE_ACCELERATION = Quantity(
    "inverse_acceleration", inverse_velocity.inverse_acceleration, inverse_velocity.inverse_acceleration_rows,
    (Q, QD, ACCELERATION), (QDD, RANK, RESIDUAL), **_SOLUTION, coupled=inverse_velocity.coupled_inverse_acceleration,
    coupled_rows=inverse_velocity.coupled_inverse_acceleration_rows,
)  # fmt: skip
STATIC_TORQUES = Quantity(
    "static_torques", task_space.static_torques, task_space.static_torques_rows, (Q, WRENCH), (TAU,), frame=True
)
TASK_DYNAMICS = Quantity(
    "task_dynamics", task_space.task_dynamics, task_space.task_dynamics_rows, _STATE, (LAMBDA, MU, TASK_GRAVITY, KEPT),
    (AXES,), solves=True, frame=True, coupled=task_space.coupled_task_dynamics,
    coupled_rows=task_space.coupled_task_dynamics_rows,
)  # fmt: skip

QUANTITIES = {
    quantity.name: quantity
    for quantity in (
        INVERSE_DYNAMICS, FORWARD_DYNAMICS, FORWARD_DYNAMICS_CRBA, MASS_MATRIX, CORIOLIS_MATRIX, BIAS_FORCES,
        GRAVITY_FORCES, KINETIC_ENERGY, POTENTIAL_ENERGY, JOINT_REACTIONS, CENTER_OF_MASS, MOMENTUM,
        FORWARD_KINEMATICS, LINK_POSES, JACOBIAN, POSE_AND_JACOBIAN, FRAME_VELOCITY, FRAME_ACCELERATION,
        JACOBIAN_DERIVATIVE, HESSIAN,
        SINGULAR_VALUES, INVERSE_VELOCITY, INVERSE_ACCELERATION, STATIC_TORQUES, TASK_DYNAMICS,
    )
}  # fmt: skip
# Controllers: rows like any other, for simulation, bound calls and C; they are not methods of a robot.
_PD = (Q, QD, Q_D, QD_D, KP, KD)
_TRACKING = (Q, QD, Q_D, QD_D, QDD_D, KP, KD)
CONTROLLERS = {
    quantity.name: quantity
    for quantity in (
        Quantity(
            "pd", controllers.pd, controllers.pd_rows, _PD, (TAU,),
            coupled=controllers.coupled_pd, coupled_rows=controllers.pd_rows,
        ),
        Quantity(
            "pd_gravity", controllers.pd_gravity, controllers.pd_gravity_rows, _PD, (TAU,),
            coupled=controllers.coupled_pd_gravity, coupled_rows=controllers.pd_gravity_rows,
        ),
        Quantity(
            "computed_torque", controllers.computed_torque, controllers.model_rows, _TRACKING, (TAU,),
            coupled=controllers.coupled_computed_torque, coupled_rows=controllers.model_rows,
        ),
        Quantity(
            "pd_feedforward", controllers.pd_feedforward, controllers.model_rows, _TRACKING, (TAU,),
            coupled=controllers.coupled_pd_feedforward, coupled_rows=controllers.model_rows,
        ),
    )
}  # fmt: skip
ROWS = QUANTITIES | CONTROLLERS
# rows by the name of the users' method; the default of `method=` comes first
METHODS: dict[str, list[Quantity]] = {}
for _quantity in QUANTITIES.values():
    METHODS.setdefault(_quantity.name.removesuffix(f"_{_quantity.method}"), []).append(_quantity)
