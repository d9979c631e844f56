"""The compiled loop of a simulation, for one text of forward dynamics and one controller; imports Numba."""

from __future__ import annotations

from functools import cache
from typing import Any

from numba import types

from fastdyn.calls.layout import not_finite
from fastdyn.compiler.entries import generated
from fastdyn.compiler.policy import kernel
from fastdyn.kernels import simulation
from fastdyn.quantities import Quantity
from fastdyn.scalars import load, store
from fastdyn.scalars.entry import SampleEntry, reals_and_integers

# how a controller's row finds its inputs: rows of the reference and of the gains, in numbers of coordinates
INPUTS = {
    "q": "q", "qd": "qd", "q_d": "reference[:m]", "qd_d": "reference[m : 2 * m]", "qdd_d": "reference[2 * m : 3 * m]",
    "kp": "gains[:m]", "kd": "gains[m : 2 * m]",
}  # fmt: skip
ARGUMENTS = (
    "P, tree, G, pattern, P_c, tree_c, G_c, pattern_c, S, numbers, state, gains, reference, noise, "
    "q_out, qd_out, qdd_out, tau_out, motor_out, scratch"
)


def _types(real: Any, lanes: int) -> tuple[Any, ...]:
    return (*reals_and_integers(real) * 4, types.Array(real, 2, "F"), types.Array(types.int64, 2, "C"))


@cache
def loop(dynamics: Quantity, controller: Quantity | None, coupled: bool) -> SampleEntry:
    """The loop for a row of forward dynamics and a controller's row; none: the reference is the torque."""
    names = {
        "simulate": simulation.simulate,
        "forward": _forward(dynamics, coupled),
        "control": _held if controller is None else _control(controller, coupled),
        "not_finite": not_finite,
    }
    law = "torques" if controller is None else controller.name
    name = f"simulate_{'coupled_' * coupled}{dynamics.name}_{law}"
    source = (
        f"def {name}({ARGUMENTS}):\n"
        f"    check, worst = simulate(forward, control, {ARGUMENTS})\n"
        "    return 2 * (worst + 1) + not_finite(check)\n"
    )
    return SampleEntry(generated(source, name, names, __name__), _types)


@kernel
def _held(P, tree, G, pattern, q, qd, reference, gains, tau, work):
    for j in range(tau.shape[0]):
        store(tau, j, load(reference, j))


@cache
def _forward(row: Quantity, coupled: bool) -> Any:
    """forward(P, tree, G, pattern, q, qd, tau, qdd, work): a joint that moves no inertia, or -1."""
    first, text = ("P, tree, G, pattern", row.coupled) if coupled else ("P, tree", row.text)
    lines = [f"bad = text({first}, q, qd, tau, work[:0], qdd, work)"]
    lines.append("return -1" if row.straight else "return bad")
    return _text("forward", "P, tree, G, pattern, q, qd, tau, qdd, work", lines, text)


@cache
def _control(row: Quantity, coupled: bool) -> Any:
    first, text = ("P, tree, G, pattern", row.coupled) if coupled else ("P, tree", row.text)
    given = ", ".join(INPUTS[field.name] for field in row.reads)
    lines = ["m = tau.shape[0]", f"text({first}, {given}, tau, work)"]
    return _text("control", "P, tree, G, pattern, q, qd, reference, gains, tau, work", lines, text)


def _text(name: str, arguments: str, lines: list[str], text: Any) -> Any:
    source = f"def {name}({arguments}):\n" + "".join(f"    {line}\n" for line in lines)
    return kernel(generated(source, name, {"text": text}, __name__))
