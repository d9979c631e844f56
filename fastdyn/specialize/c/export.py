"""`robot.export_c`: a robot's quantities as a folder of C99, written as a whole or not at all."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import secrets
import shutil
import unicodedata
from collections.abc import Iterable, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from fastdyn.calls import generate
from fastdyn.calls.bound import c_functions
from fastdyn.calls.parameters import Parameters
from fastdyn.errors import ArgumentError, ArgumentTypeError
from fastdyn.kernels.rows import INDEX
from fastdyn.mechanism.frames import named_frame
from fastdyn.mechanism.parts import Array
from fastdyn.quantities import Field, Quantity
from fastdyn.specialize.algebra.optimize import optimized
from fastdyn.specialize.c import export_files
from fastdyn.specialize.c.c99 import Function, source
from fastdyn.specialize.c.export_files import Export, Sample
from fastdyn.specialize.c.helpers import LANES, REALS, Real
from fastdyn.specialize.program import Program, trace
from fastdyn.specialize.rows import GENERAL

MANIFEST = "export.json"
FORMAT = 1  # of the manifest
SINES = ("libm", "own")
STATES = 5  # stored in main.c
SAFETY = 16  # compilers may sum in another order and form other multiply-adds
LONGEST = 32  # letters of a prefix
# file names that would hide a header of C or of an operating system, or that CMake, Windows or C reserve
RESERVED = frozenset(
    "main test all clean install package help con prn aux nul com1 com2 com3 com4 lpt1 lpt2 lpt3 "
    "assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg stdatomic "
    "stdbool stddef stdint stdio stdlib stdnoreturn string tgmath threads time uchar wchar wctype "
    "fcntl unistd pthread sched semaphore memory malloc alloca endian features "
    "auto break case char const continue default do double else enum extern for goto if inline int long register "
    "restrict return short signed sizeof static struct switch typedef union unsigned void volatile while "
    "and bool catch class delete explicit export false friend mutable namespace new not operator or private protected "
    "public template this throw true try typename using virtual xor asm".split()
)


def exported(
    robot: Any,
    folder: str | os.PathLike[str],
    quantities: Iterable[str],
    real: str,
    sincos: str,
    batch: bool,
    prefix: str | None,
    view: tuple[Any, ...],
) -> Path:
    """Writes the folder; see `robot.export_c`. view: frame, point and local."""
    rows = _rows(quantities)
    if real not in REALS:
        raise ArgumentError(f"real is {real!r}: expected {' or '.join(map(repr, REALS))}")
    if sincos not in SINES:
        raise ArgumentError(f"sincos is {sincos!r}: expected {' or '.join(map(repr, SINES))}")
    if not robot.description.n:
        raise ArgumentError(f"{robot.name} has no moving joint: there is nothing to export")
    chosen = prefix_of(robot.name) if prefix is None else _checked_prefix(prefix)
    path = _target(folder)
    frame = ""
    if any(row.frame for row, _ in rows.values()):
        named = named_frame(robot.description, *view[:2])
        frame = f"{named.name}{', along its own axes' * view[2]}{f', point {view[1]}' * (view[1] is not None)}"
    functions, samples = [], {}
    for name, (row, optional) in rows.items():
        if row.name in ("center_of_mass", "momentum") and not robot.description.moving_mass:
            raise ArgumentError(f"{robot.name} has no centre of mass: none of its moving links has mass")
        parameters = robot.parameters_in(*view) if row.frame else robot.parameters
        program = program_of(row, parameters, optional)
        tree = parameters.constants[1]
        places = tuple(c.index if parameters.coupled else int(tree[INDEX, c.index]) for c in program.conditions)
        functions.append(Function(name, program, places))
        samples[name] = sample(robot, row, parameters, functions[-1], REALS[real])
    export = Export(
        chosen, REALS[real], sincos == "own", bool(batch), metadata.version("fastdyn"), functions, samples, robot, frame
    )  # fmt: skip
    files = files_of(export)
    _write(path, {**files, MANIFEST: manifest(export, rows, files)})
    return path


def program_of(row: Quantity, parameters: Parameters, optional: bool) -> Program:
    """The program that is exported."""
    return optimized(trace(row, parameters, optional))


def _rows(quantities: Iterable[str]) -> dict[str, tuple[Quantity, bool]]:
    """The quantities asked for, by name: the row, and whether its optional inputs are used."""
    if isinstance(quantities, str) or not isinstance(quantities, Iterable):
        raise ArgumentTypeError(f"quantities is {quantities!r}: expected a sequence of names")
    known = {name: found for name, found in c_functions().items() if found[0].name not in GENERAL}
    asked = dict.fromkeys(quantities)
    if not asked:
        raise ArgumentError(f"quantities is empty: expected some of {', '.join(map(repr, known))}")
    for name in asked:
        if name not in known:
            raise ArgumentError(f"quantities names {name!r}: expected some of {', '.join(map(repr, known))}")
    return {name: known[name] for name in asked}


# ---------------------------------------------------------------------------------------------- names


def prefix_of(name: str) -> str:
    """The name of a robot as the beginning of C identifiers.

    >>> prefix_of("Kuka iiwa 14-R820"), prefix_of("7 axes"), prefix_of("math"), prefix_of("*/")
    ('Kuka_iiwa_14_R820', 'robot_7_axes', 'math_robot', 'robot')
    """
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    found = re.sub(r"[^A-Za-z0-9]+", "_", plain)[: LONGEST - len("robot_")].strip("_")
    if not found:
        return "robot"
    if found[0].isdigit():
        found = f"robot_{found}"
    return f"{found}_robot" if found.lower() in RESERVED else found


def _checked_prefix(prefix: str) -> str:
    expected = f"expected letters, digits and single underscores, a letter first, at most {LONGEST}"
    if not isinstance(prefix, str):
        raise ArgumentTypeError(f"prefix is {prefix!r}: {expected}")
    if not re.fullmatch(r"[A-Za-z](_?[A-Za-z0-9])*", prefix, re.ASCII) or len(prefix) > LONGEST:
        raise ArgumentError(f"prefix is {prefix!r}: {expected}")
    if prefix.lower() in RESERVED:
        raise ArgumentError(f"prefix is {prefix!r}, which C, CMake or an operating system reserves: expected another")
    return prefix


# ---------------------------------------------------------------------------------------------- stored results


def sample(robot: Any, row: Quantity, parameters: Parameters, function: Function, real: Real) -> Sample:
    """States and results for main.c: results by the general text, in plain Python and double precision."""
    n, m = parameters.joints, parameters.coordinates
    rng = np.random.default_rng(0)
    inputs = {}
    for name, size in function.inputs.items():
        values = rng.uniform(-1.5, 1.5, (STATES, size))
        if name == "q":
            low, high = robot.limits.position.T
            bounded = np.isfinite(low) & np.isfinite(high) & (low <= high)
            low, high = np.where(bounded, (low, high), [[-1.5], [1.5]])
            values = low + (high - low) * rng.uniform(0, 1, (STATES, size))
        inputs[name] = values.astype(real.dtype).astype(float)
    outputs = {f.name: np.zeros((STATES, math.prod(f.core(n, m)))) for f in row.gives}
    in_joints = [math.prod(f.core(n)) for f in generate.fields_in_joints(row)] if parameters.coupled else []
    rows = sum(math.prod(f.core(n, m)) for f in row.inputs + row.gives) + sum(in_joints)
    scratch = np.zeros(rows + generate.scratch_rows(row, parameters.coupled, n))
    tree, singular = parameters.constants[1], []
    for k in range(STATES):
        given = [inputs[f.name][k : k + 1] if f.name in inputs else np.empty((0, 0)) for f in row.inputs]
        results = [array[k : k + 1] for array in outputs.values()]
        with np.errstate(all="ignore"):
            status = generate.batch(row, parameters.coupled).py_func(*parameters.constants, *given, *results, scratch)
        joint = int(status) // 2 - 1
        singular.append(0 if joint < 0 else 1 + (joint if parameters.coupled else int(tree[INDEX, joint])))
    finite = {name: np.where(np.isfinite(array), array, 0.0) for name, array in outputs.items()}
    return Sample(inputs, finite, singular, bound(function.program, inputs, real))


def bound(program: Program, inputs: Mapping[str, Array], real: Real) -> float:
    """How far rounding may move a result, relative to the largest value of its field.

    SAFETY times what it does in single precision, scaled to `real`: errors of this size are proportional to eps.
    """
    single = np.finfo(np.float32).eps
    eps = float(np.finfo(real.dtype).eps)
    with np.errstate(all="ignore"):
        exact = program.evaluate({name: x.T for name, x in inputs.items()})
        rounded = program.evaluate({name: x.T.astype(np.float32) for name, x in inputs.items()})
    worst = 4.0 * single  # stored values are rounded, too, and so are inputs
    for name, values in exact.items():
        good = np.isfinite(values) & np.isfinite(rounded[name])
        scale = np.abs(values[good]).max(initial=0.0) or 1.0
        worst = max(worst, np.abs(rounded[name][good] - values[good]).max(initial=0.0) / scale)
    return SAFETY * float(worst / single) * eps


# ---------------------------------------------------------------------------------------------- files


def files_of(export: Export) -> dict[str, str]:
    """All files but the manifest, by name."""
    options = export.functions, export.prefix, export.real, export.own, export.batches, export_files.banner(export)
    header = export_files.header(export)
    fingerprint = _hash(header + source(*options, fingerprint=""))[:32]
    stack = {f.name: (stack_of(f, export.real), batch_stack_of(f, export.real)) for f in export.functions}
    return {
        f"{export.prefix}.h": header,
        f"{export.prefix}.c": source(*options, fingerprint=fingerprint),
        "main.c": export_files.main(export, SAFETY),
        "CMakeLists.txt": export_files.cmake(export),
        "README.md": export_files.readme(export, stack),
    }


def stack_of(function: Function, real: Real) -> int:
    """Bytes of the values that are alive at once."""
    program = function.program
    nodes, live = program.graph.nodes, program.graph.live(program.results)
    last = {x.node: len(nodes) for x in program.results}
    for k in live:
        if nodes[k][0] not in ("input", "constant"):
            for operand in nodes[k][1]:
                last[operand] = max(last.get(operand, 0), k)
    ends = [last[k] for k in live if nodes[k][0] not in ("input", "constant")]
    starts = [k for k in live if nodes[k][0] not in ("input", "constant")]
    most = max((sum(s <= k < e for s, e in zip(starts, ends, strict=True)) for k in starts), default=0)
    return most * real.dtype.itemsize


def batch_stack_of(function: Function, real: Real) -> int:
    """Bytes of the arrays of a block."""
    sines = 2 * function.program.operations().sincos
    values = sum(function.inputs.values()) + sum(function.outputs.values()) + sines + len(function.places) + 1
    return values * LANES * real.dtype.itemsize


def manifest(export: Export, rows: Mapping[str, tuple[Quantity, bool]], files: Mapping[str, str]) -> str:
    """export.json: what `fastdyn.load_exported` reads."""
    parameters, functions = export.robot.parameters, {}
    for function in export.functions:
        row, _ = rows[function.name]
        shapes = {f.name: f.core(parameters.joints, parameters.coordinates) for f in row.inputs + row.gives}
        functions[function.name] = {
            "inputs": {name: list(shapes[name]) for name in function.inputs},
            "outputs": {name: list(shapes[name]) for name in function.outputs},
            "counts": {f.name: _counted(f, parameters) for f in row.inputs if f.name in function.inputs},
            "bound": export.samples[function.name].bound,
        }
    found = re.search(r'return "([0-9a-f]{32})";', files[f"{export.prefix}.c"])
    assert found is not None
    facts = {
        "format": FORMAT,
        "fastdyn": export.version,
        "robot": export.robot.name,
        "prefix": export.prefix,
        "real": export.real.name,
        "sincos": SINES[export.own],
        "batch": export.batches,
        "range": export.range,
        "coupled": export.robot.coupling is not None,
        "names": export.names,
        "gravity": export.robot.gravity.tolist(),
        "frame": export.frame or None,
        "functions": functions,
        "fingerprint": found[1],
        "files": {name: _hash(text) for name, text in files.items()},
    }
    return json.dumps(facts, indent=2) + "\n"


def _counted(field: Field, parameters: Parameters) -> str:
    """What the first axis of an input counts, for messages; empty if it is the same for all robots."""
    return parameters.unit if field.coupling else "joint" * ("n" in field.shape)


def _hash(text: str | bytes) -> str:
    return hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()


def _target(folder: str | os.PathLike[str]) -> Path:
    """The folder's path; raises if it is not free to be written."""
    try:
        path = Path(folder).resolve()
    except (TypeError, ValueError) as problem:
        raise ArgumentTypeError(f"folder is {folder!r}: expected a path") from problem
    if not path.parent.is_dir():
        raise ArgumentError(f"folder is {str(folder)!r}: expected one in a folder that exists, found no {path.parent}")
    if not path.exists():
        return path
    if not path.is_dir():
        raise ArgumentError(f"folder is {str(folder)!r}, a file: expected a folder, or a name that is free")
    if foreign := _foreign(path):
        raise ArgumentError(
            f"folder {str(folder)!r} holds {', '.join(map(repr, foreign[:5]))}, no file of an earlier export as it was "
            f"written: expected a new or empty folder, or an unchanged export"
        )
    return path


def _foreign(path: Path) -> list[str]:
    """What is in a folder and no unchanged file of an export."""
    there = sorted(os.listdir(path))
    try:
        written = json.loads((path / MANIFEST).read_text())["files"]
        known = {MANIFEST} | {name for name in there if written.get(name) == _hash((path / name).read_bytes())}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        known = set()
    return [name for name in there if name not in known]


def _write(path: Path, files: Mapping[str, str]) -> None:
    """Writes all files to a folder beside, which then takes the place of an earlier export."""
    new, old = (path.parent / f".{path.name}-{secrets.token_hex(4)}-{kind}" for kind in ("new", "old"))
    try:
        new.mkdir()
        for name, text in files.items():
            (new / name).write_bytes(text.encode())
        if path.exists():
            path.rename(old)
            try:
                new.rename(path)
            except OSError:
                old.rename(path)
                raise
        else:
            new.rename(path)
    except OSError as problem:
        raise ArgumentError(f"folder {str(path)!r} cannot be written: {problem.strerror or problem}") from problem
    finally:
        for left in (new, old):
            shutil.rmtree(left, ignore_errors=True)
