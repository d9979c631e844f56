"""Generates the entries of a row of the table of quantities: source text for each kind of call.

    batch     a loop over (T, columns) arrays, in blocks of lanes or one sample at a time
    fleet     the same for samples that each have a robot of their own, on lanes
    state     one state on a workspace, a block of fixed memory (workspace.py): called by the three below
    bound     state, from the workspace's address alone
    c         state, from and to C arrays
    single    state, from and to NumPy arrays, whose headers it reads itself (headers.py)

All exist for plain robots and for coupled ones, whose fields are in actuator coordinates: generated code transforms
each field (kernels/coupling.py) before and after the text.

All return a status: 0, or 2 (k + 1) if joint k (of the model; coordinate k of a coupled robot) moves no inertia, plus 1
if an input or a result is not finite. Straight-line code of one robot (fastdyn/specialize) finds it by itself: it knows
which values need a check. For a batch it is then the largest status of all blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

from numba import types

from fastdyn import scalars
from fastdyn.calls import headers, layout
from fastdyn.calls.layout import COORDINATES, FIRST_FIELD, JOINTS, PATTERN, SCRATCH, SCRATCH_ROWS
from fastdyn.compiler.entries import Entry, generated
from fastdyn.compiler.policy import kernel
from fastdyn.kernels import coupling
from fastdyn.quantities import FIELDS, Field, Quantity
from fastdyn.scalars import memory
from fastdyn.scalars.entry import SampleEntry, reals_and_integers

WRONG_KIND = -1  # a status
SPARE = 4  # fields that a quantity may have besides FIELDS
HEADER = FIRST_FIELD + 2 * (len(FIELDS) + SPARE)  # slots


@cache
def slot(quantity: Quantity, field: Field, joints: bool = False) -> int:
    """A field's slot in the header; joints: that of its copy in joint coordinates, for coupled robots."""
    own = [f for f in quantity.inputs + quantity.gives if f not in FIELDS]
    place = FIELDS.index(field) if field in FIELDS else len(FIELDS) + own.index(field)
    return FIRST_FIELD + place + (len(FIELDS) + SPARE if joints else 0)


def fields_in_joints(quantity: Quantity) -> list[Field]:
    """The fields that a coupled robot needs in joint coordinates, too."""
    if quantity.coupled is not None:
        return []
    return [f for f in quantity.inputs + quantity.gives if f.coupling not in ("", "kinetic")]


def scratch_rows(quantity: Quantity, coupled: bool, joints: int) -> int:
    """Rows of scratch that the text needs."""
    if coupled and quantity.coupled_rows is not None:
        return quantity.coupled_rows(joints)
    return quantity.rows(joints)


# ---------------------------------------------------------------------------------------------- entries


@cache
def batch(quantity: Quantity, coupled: bool) -> SampleEntry:
    """(P, tree, [G, pattern,] [index,] inputs ..., results ..., scratch): arrays (T, columns), (0, 0) if left out."""
    name = f"{'coupled_' * coupled}{quantity.name}"
    straight = quantity.straight
    source = _straight_source(name, quantity, coupled) if straight else _batch_source(name, quantity, coupled, False)
    function = generated(source, name, _names(quantity), __name__)

    def parameters(real: Any, lanes: int) -> tuple[Any, ...]:
        return (*reals_and_integers(real) * (1 + coupled), *(types.intp,) * quantity.index)

    return SampleEntry(function, parameters)


@cache
def fleet(quantity: Quantity, coupled: bool) -> SampleEntry:
    """(stack, tree, [G, pattern,] robots, first, last, [index,] inputs ..., results ..., scratch).

    Arrays (states * robots, columns), the robots of a state side by side. A unit of work is one state of one block of
    robots: all states of the first block, then of the second, ...; `first` to `last` (exclusive) are computed.
    """
    name = f"{'coupled_' * coupled}{quantity.name}_fleet"
    function = generated(_batch_source(name, quantity, coupled, fleet=True), name, _names(quantity), __name__)

    def parameters(real: Any, lanes: int) -> tuple[Any, ...]:
        from fastdyn.scalars.parameters import StackType

        arrays = reals_and_integers(real)
        return (StackType(real, lanes), arrays[1], *arrays * coupled, *(types.intp,) * (3 + quantity.index))

    return SampleEntry(function, parameters)


@cache
def state(quantity: Quantity, coupled: bool) -> Callable[..., Any]:
    """(workspace, [index,] given): for compiled code to call; given: whether optional inputs are used."""
    name = f"{'coupled_' * coupled}{quantity.name}_state"
    function: Callable[..., Any] = kernel(
        generated(_state_source(name, quantity, coupled), name, _names(quantity), __name__)
    )
    return function


@cache
def bound(quantity: Quantity, coupled: bool) -> Entry:
    """(workspace, [index]); optional inputs that are all zero are ignored."""
    name = f"{'coupled_' * coupled}{quantity.name}_bound"
    return _address_entry(_bound_source(name, quantity, coupled), name, quantity, coupled)


@cache
def bound_kernel(quantity: Quantity, coupled: bool) -> Callable[..., Any]:
    """The same, for compiled code to call; WRONG_KIND if the workspace is not `coupled` (plain, if this is plain)."""
    name = f"{'coupled_' * coupled}{quantity.name}"
    names = {**_names(quantity), "state": state(quantity, coupled)}
    source = _bound_source(name, quantity, coupled, check=True)
    function: Callable[..., Any] = kernel(generated(source, name, names, __name__))
    return function


@cache
def c_function(quantity: Quantity, coupled: bool, optional: bool) -> Entry:
    """(inputs ..., results ..., [index,] workspace), all addresses; optional: with the optional inputs."""
    name = f"{'coupled_' * coupled}{quantity.name}{'_with_optional' * optional}_c"
    return _address_entry(_c_source(name, quantity, coupled, optional), name, quantity, coupled)


@cache
def single(quantity: Quantity, coupled: bool) -> Entry:
    """(tuple of inputs, result or tuple of results, [index,] workspace): -1 if an array needs conversion."""
    name = f"{'coupled_' * coupled}{quantity.name}_single"
    names = {**_names(quantity), "state": state(quantity, coupled)}
    function = generated(_single_source(name, quantity, coupled), name, names, __name__)
    signature = (headers.REFERENCE, headers.REFERENCE, *(types.intp,) * (1 + quantity.index))
    return Entry(function, lambda kind: signature, nogil=False)


def _address_entry(source: str, name: str, quantity: Quantity, coupled: bool) -> Entry:
    function = generated(source, name, {**_names(quantity), "state": state(quantity, coupled)}, __name__)
    signature = (types.intp,) * function.__code__.co_argcount
    return Entry(function, lambda kind: signature, nogil=False)


def _names(quantity: Quantity) -> dict[str, Any]:
    """The globals of generated source."""
    known = {**_HELPERS, "text": quantity.text, "coupled_text": quantity.coupled}
    for field in quantity.inputs + quantity.gives:
        if field.name in known:
            raise ValueError(
                f"{quantity.name}: a field cannot be called {field.name!r}, as generated code uses the name"
            )
    return known


# ---------------------------------------------------------------------------------------------- source


_HELPERS: dict[str, Any] = {
    name: getattr(module, name)
    for module, names in (
        (layout, "not_finite at model_at coupling_at finite any_nonzero"),
        (scalars, "block_out copy_in copy_out fill take give width block"),
        (memory, "vector_at"),
        (headers, "word items item data_of address_of is_number is_vector is_table copy_vector copy"),
        (
            coupling,
            "positions rates forces inertia matrix columns hessian add_rotor_torques add_friction add_rotor_energies",
        ),
    )
    for name in names.split()
}


def _size(field: Field, coupled: bool) -> str:
    """How many rows a field has, as source; n counts joints, m coordinates."""
    count = "m" if coupled and field.coupling else "n"
    return " * ".join(count if size == "n" else str(size) for size in field.shape) or "1"


def _buffers(quantity: Quantity, coupled: bool) -> Iterator[tuple[Field, str, bool]]:
    """Each field, what its buffer is called, and whether that is the one in joint coordinates."""
    for field in quantity.inputs + quantity.gives:
        yield field, f"{field.name}_", False
    for field in fields_in_joints(quantity) if coupled else []:
        yield field, f"{field.name}_joints", True


def _function(name: str, arguments: Iterable[str], lines: Iterable[str]) -> str:
    return f"def {name}({', '.join(arguments)}):\n" + "".join(f"    {line}\n" for line in lines)


def _computation(quantity: Quantity, coupled: bool) -> list[str]:
    """Source from the inputs' buffers (q_, ...) to those of the results: the text, with coupling transforms around it.

    Buffers in joint coordinates of a coupled robot are called q_joints, ... .
    """
    index = ["index"] * quantity.index
    found = "status = " if quantity.straight else "bad = " if quantity.solves else ""
    fields = quantity.inputs + quantity.gives
    if coupled and quantity.coupled is not None:
        buffers = [f"{f.name}_" for f in fields]
        return [f"{found}coupled_text({', '.join(['P', 'tree', 'G', 'pattern', *index, *buffers, 'work'])})"]
    inside = fields_in_joints(quantity) if coupled else []
    buffers = [f"{f.name}_joints" if f in inside else f"{f.name}_" for f in fields]
    lines = [f"{found}text({', '.join(['P', 'tree', *index, *buffers, 'work'])})"]
    if not coupled:
        return lines
    read = {f.name for f in quantity.reads}
    maps = {"position": "positions", "rate": "rates", "force": "forces"}
    for field in quantity.inputs:
        if field in inside:
            line = f"{maps[field.coupling]}(G, pattern, {field.name}_, {field.name}_joints)"
            lines[:0] = [f"if {field.name}_.shape[0] > 0:", f"    {line}"] if field in quantity.optional else [line]
    for field in quantity.gives:
        if field in inside:
            lines.append(f"{maps.get(field.coupling, field.coupling)}(G, pattern, {field.name}_joints, {field.name}_)")
        if field.coupling == "force":
            lines += [f"add_rotor_torques(G, qdd_, {field.name}_)"] * ("qdd" in read)
            lines += [f"add_friction(G, qd_, {field.name}_)"] * ("qd" in read)
        if field.coupling == "kinetic":
            lines.append(f"add_rotor_energies(G, qd_, {field.name}_)")
    return lines


def _batch_source(name: str, quantity: Quantity, coupled: bool, fleet: bool) -> str:
    """A loop over blocks of samples; fleet: whether each sample has its own robot."""
    arguments = ["stack" if fleet else "P", "tree", *["G", "pattern"] * coupled]
    arguments += [*["robots", "first", "last"] * fleet, *["index"] * quantity.index]
    count = f"{quantity.reads[0].name}.shape"
    lines = ["n, m = pattern[2, 0], pattern[2, 1]" if coupled else f"n = {count}[1]", "end = 0"]
    for field, buffer, joints in _buffers(quantity, coupled):
        # rows of inputs that are left out stay unused: `work` begins at the same place (4 % at 24 joints)
        stop = f"end if {field.name}.shape[0] > 0 else begin" if field in quantity.optional else "end"
        lines.append(f"begin, end = end, end + {_size(field, coupled and not joints)}")
        lines.append(f"{buffer} = scratch[begin : {stop}]")
    lines += ["work = scratch[end:]", "check = fill(scratch, 0.0)"]
    lines += ["worst = -1"] * quantity.solves
    if fleet:
        lines += [f"states = {count}[0] // robots", "for unit in range(first, last):"]
        loop = ["k, begin = unit // states, unit % states * robots", "P, lane = block(stack, k), k * width(scratch)"]
    else:
        lines.append(f"for first in range(0, {count}[0], width(scratch)):")
        loop = []

    def copied(verb: str, field: Field) -> str:
        samples = f"{field.name}[begin : begin + robots], lane" if fleet else f"{field.name}, first"
        return f"check = check + {verb}({samples}, {field.name}_, 0)"

    for field in quantity.inputs:
        line = copied("take", field)
        loop += [f"if {field.name}.shape[0] > 0:", f"    {line}"] if field in quantity.optional else [line]
    loop += _computation(quantity, coupled)
    loop += ["worst = max(worst, bad)"] * quantity.solves
    loop += [copied("give", field) for field in quantity.gives]
    lines += [f"    {line}" for line in loop]
    lines.append(f"return {'2 * (worst + 1) + ' * quantity.solves}not_finite(check)")
    return _function(name, [*arguments, *(f.name for f in quantity.inputs + quantity.gives), "scratch"], lines)


def _straight_source(name: str, quantity: Quantity, coupled: bool) -> str:
    """The same for straight-line code, whose fields have a known number of values, and which checks them itself."""
    fields = quantity.inputs + quantity.gives
    lines, end, loop = [], 0, []
    for field in fields:
        begin, end = end, end + quantity.counts[field]
        lines.append(f"{field.name}_rows = scratch[{begin}:{end}]")
    lines += [f"work = scratch[{end}:]", "worst = 0"]
    for field in quantity.inputs:
        given = f"{field.name}.shape[0] > 0"
        if field in quantity.optional:  # an empty buffer if it is left out
            lines.append(f"{field.name}_ = {field.name}_rows if {given} else {field.name}_rows[:0]")
        else:
            lines.append(f"{field.name}_ = {field.name}_rows")
        line = f"copy_in({field.name}, first, {field.name}_rows, {quantity.counts[field]})"
        loop += [f"if {given}:", f"    {line}"] if field in quantity.optional else [line]
    loop += [f"{f.name}_, {f.name}_own = block_out({f.name}, first, {f.name}_rows)" for f in quantity.gives]
    loop += [*_computation(quantity, coupled), "worst = max(worst, status)"]
    for field in quantity.gives:
        line = f"copy_out({field.name}, first, {field.name}_rows, {quantity.counts[field]})"
        loop += [f"if not {field.name}_own:", f"    {line}"]
    lines.append(f"for first in range(0, {quantity.reads[0].name}.shape[0], width(scratch)):")
    lines += [*(f"    {line}" for line in loop), "return worst"]
    arguments = ["P", "tree", *["G", "pattern"] * coupled, *(f.name for f in fields), "scratch"]
    return _function(name, arguments, lines)


def _sizes(coupled: bool) -> list[str]:
    """n, and m of a coupled robot, from the header."""
    return [f"n = word(workspace + {8 * JOINTS})", *[f"m = word(workspace + {8 * COORDINATES})"] * coupled]


def _state_source(name: str, quantity: Quantity, coupled: bool) -> str:
    arrays = quantity.layout
    lines = [*_sizes(coupled), f"P, tree = model_at(workspace, n, {arrays.rows}, {arrays.tree_rows})"]
    lines += [f"G, pattern = coupling_at(workspace, {coupling.COUPLING_ROWS}, {coupling.PATTERN_ROWS})"] * coupled
    for field, buffer, joints in _buffers(quantity, coupled):
        size = _size(field, coupled and not joints)
        if field in quantity.optional:
            size += " if given else 0"
        lines.append(f"{buffer} = vector_at(at(workspace, {slot(quantity, field, joints)}), {size})")
    lines.append(f"work = vector_at(at(workspace, {SCRATCH}), word(workspace + {8 * SCRATCH_ROWS}))")
    lines += _computation(quantity, coupled)
    if quantity.straight:
        lines += [f"if status % 2 == 1 and not ({_finite(quantity, coupled, quantity.reads)}):", "    return 1"]
        lines.append("return status")
        return _function(name, ["workspace", *["index"] * quantity.index, "given"], lines)
    lines.append(f"if {_finite(quantity, coupled, quantity.reads + quantity.gives)}:")
    lines.append(f"    return {'2 * (bad + 1)' if quantity.solves else '0'}")
    if quantity.solves:  # non-finite inputs can make a joint seem to move no inertia
        lines += [f"if not ({_finite(quantity, coupled, quantity.reads)}):", "    return 1"]
    lines.append(f"return {'2 * (bad + 1) + ' * quantity.solves}1")
    return _function(name, ["workspace", *["index"] * quantity.index, "given"], lines)


def _finite(quantity: Quantity, coupled: bool, fields: tuple[Field, ...]) -> str:
    """Whether all of some fields are finite, and optional ones if given.

    Adjacent fields of a workspace are checked together.
    """
    runs: list[list[Field]] = []
    for field in sorted(fields, key=lambda f: slot(quantity, f)):
        if runs and slot(quantity, runs[-1][-1]) + 1 == slot(quantity, field):
            runs[-1].append(field)
        else:
            runs.append([field])
    asked = [
        f"finite(at(workspace, {slot(quantity, run[0])}), {' + '.join(_size(f, coupled) for f in run)})" for run in runs
    ]
    for field in quantity.optional:
        place = slot(quantity, field)
        asked.append(f"(not given or finite(at(workspace, {place}), {_size(field, coupled)}))")
    return " and ".join(asked)


def _bound_source(name: str, quantity: Quantity, coupled: bool, check: bool = False) -> str:
    index = ["index"] * quantity.index
    lines = [f"if word(workspace + {8 * PATTERN}) {'==' if coupled else '!='} 0:", f"    return {WRONG_KIND}"] * check
    lines += [*_sizes(coupled)] * bool(quantity.optional)
    given = [f"any_nonzero(at(workspace, {slot(quantity, f)}), {_size(f, coupled)})" for f in quantity.optional]
    lines.append(f"return state({', '.join(['workspace', *index, ' or '.join(given) or 'False'])})")
    return _function(name, ["workspace", *index], lines)


def _c_source(name: str, quantity: Quantity, coupled: bool, optional: bool) -> str:
    index = ["index"] * quantity.index
    inputs = quantity.inputs if optional else quantity.reads
    lines = _sizes(coupled)
    for field in inputs:
        lines.append(f"copy({field.name}, at(workspace, {slot(quantity, field)}), {_size(field, coupled)})")
    lines.append(f"status = state({', '.join(['workspace', *index, str(optional)])})")
    for field in quantity.gives:
        lines.append(f"copy(at(workspace, {slot(quantity, field)}), {field.name}, {_size(field, coupled)})")
    lines.append("return status")
    return _function(name, [*(f.name for f in (*inputs, *quantity.gives)), *index, "workspace"], lines)


def _single_source(name: str, quantity: Quantity, coupled: bool) -> str:
    index = ["index"] * quantity.index
    several = len(quantity.gives) > 1
    counts = sorted({len(quantity.reads), len(quantity.inputs)})
    lines = [
        *_sizes(coupled),
        "values_, result_ = address_of(values), address_of(result)",
        f"known = {'item(result_, 0)' if several else 'result_'}",
        "count = items(values_)",
        f"if {' and '.join(f'count != {count}' for count in counts)}:",
        "    return -1",
        f"given = {f'count == {counts[-1]}' if quantity.optional else 'False'}",
    ]
    copies = []
    for k, field in enumerate(quantity.inputs):
        taken, is_given = [], field in quantity.optional
        sizes = [_size(Field("", (size,), field.coupling), coupled) for size in field.shape]
        test = ("is_number", "is_vector", "is_table")[len(sizes)]
        taken.append(f"if not {test}({', '.join([f'item(values_, {k})', 'known', *sizes])}):")
        taken.append("    return -1")
        lines += ["if given:", *(f"    {line}" for line in taken)] if is_given else taken
        source = f"copy_vector(item(values_, {k})" if len(sizes) == 1 else f"copy(data_of(item(values_, {k}))"
        line = f"{source}, at(workspace, {slot(quantity, field)}), {_size(field, coupled)})"
        copies += ["if given:", f"    {line}"] if is_given else [line]
    lines += [*copies, f"status = state({', '.join(['workspace', *index, 'given'])})"]
    for k, field in enumerate(quantity.gives):
        target = f"item(result_, {k})" if several else "result_"
        place = slot(quantity, field)
        lines.append(f"copy(at(workspace, {place}), data_of({target}), {_size(field, coupled)})")
    lines.append("return status")
    return _function(name, ["values", "result", *index, "workspace"], lines)
