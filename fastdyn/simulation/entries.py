"""The compiled loop of a simulation, for one text of forward dynamics and one law; imports Numba."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from typing import Any

from numba import types

from fastdyn.calls.layout import not_finite
from fastdyn.compiler.entries import generated
from fastdyn.compiler.policy import kernel
from fastdyn.control.controllers import MEASURED, desired, gain_fields
from fastdyn.kernels import simulation
from fastdyn.quantities import Field, Quantity
from fastdyn.scalars import block, load, store
from fastdyn.scalars.entry import SampleEntry, reals_and_integers

SAMPLES = "state, gains, reference, noise, q_out, qd_out, qdd_out, tau_out, motor_out, scratch"
Law = Quantity | Callable[..., Any] | None


@lru_cache(maxsize=256)
def loop(dynamics: Quantity, law: Law, coupled: bool, fleet: bool = False, own: bool = False) -> SampleEntry:
    """The loop for a row of forward dynamics and a law; none: the reference is the torque.

    fleet: P and S are stacks of robots, of which block k is simulated; own: and each robot's law has its own model.
    """
    names = {
        "simulate": simulation.simulate,
        "forward": _forward(dynamics, coupled),
        "control": _control(law, coupled),
        "not_finite": not_finite,
        "block": block,
    }
    called = "torques" if law is None else law.name if isinstance(law, Quantity) else "function"
    name = f"simulate_{'fleet_' * fleet}{'own_' * own}{'coupled_' * coupled}{dynamics.name}_{called}"
    P, S, P_c = ("block(P, k)", "block(S, k)", "block(P_c, k)" if own else "P_c") if fleet else ("P", "S", "P_c")
    source = (
        f"def {name}(P, tree, G, pattern, P_c, tree_c, G_c, pattern_c, S, k, numbers, {SAMPLES}):\n"
        f"    check, worst = simulate(forward, control, {P}, tree, G, pattern, {P_c}, tree_c, G_c, pattern_c, {S}, "
        f"numbers, {SAMPLES})\n"
        "    return 2 * (worst + 1) + not_finite(check)\n"
    )
    function = generated(source, name, names, __name__)
    function.cacheable = law is None or isinstance(law, Quantity)  # type: ignore[attr-defined]

    def parameters(real: Any, lanes: int) -> tuple[Any, ...]:
        from fastdyn.scalars.parameters import StackType

        reals, integers = reals_and_integers(real)
        many = StackType(real, lanes) if fleet else reals
        given = many, integers, reals, integers, many if own else reals, integers, reals, integers, many
        return (*given, types.intp, integers)

    return SampleEntry(function, parameters)


@cache
def _forward(row: Quantity, coupled: bool) -> Any:
    """forward(P, tree, G, pattern, q, qd, tau, qdd, work): a joint that moves no inertia, or -1."""
    first, text = ("P, tree, G, pattern", row.coupled) if coupled else ("P, tree", row.text)
    lines = [f"bad = text({first}, q, qd, tau, work[:0], qdd, work)"]
    lines.append("return -1" if row.straight else "return bad")
    return _text("forward", "P, tree, G, pattern, q, qd, tau, qdd, work", lines, {"text": text})


@lru_cache(maxsize=256)
def _control(law: Law, coupled: bool) -> Any:
    """control(P, tree, G, pattern, seen, reference, gains, tau, work)."""
    arguments = "P, tree, G, pattern, seen, reference, gains, tau, work"
    every = "for j in range(tau.shape[0]):"
    names: dict[str, Any] = {"load": load, "store": store}
    if law is None:
        return _text("control", arguments, [every, "    store(tau, j, load(reference, j))"], names)
    if not isinstance(law, Quantity):  # a user's, on one motion: its reference is the time
        return _text(
            "control",
            arguments,
            ["m = tau.shape[0]", "law(load(reference, 0), seen[:m], seen[m : 2 * m], tau)"],
            names | {"law": law},
        )
    first, text = ("P, tree, G, pattern", law.coupled) if coupled else ("P, tree", law.text)
    parts = {"seen": MEASURED, "reference": desired(law), "gains": gain_fields(law)}
    places = {field: place for buffer, fields in parts.items() for field, place in _slices(buffer, fields)}
    given = ", ".join(places[field] for field in law.reads)
    lines = ["m = tau.shape[0]", f"text({first}, {given}, tau, work)"]
    return _text("control", arguments, lines, {"text": text})


def _slices(buffer: str, fields: Sequence[Field]) -> Iterator[tuple[Field, str]]:
    """Where each field lies in a buffer that holds one after the other; m stands for the number of coordinates."""
    begin = "0"
    for field in fields:
        end = f"{begin} + m" if field.shape == ("n",) else f"{begin} + {math.prod(field.core(0))}"
        yield field, f"{buffer}[{begin} : {end}]"
        begin = end


def _text(name: str, arguments: str, lines: list[str], names: dict[str, Any]) -> Any:
    source = f"def {name}({arguments}):\n" + "".join(f"    {line}\n" for line in lines)
    return kernel(generated(source, name, names, __name__))
