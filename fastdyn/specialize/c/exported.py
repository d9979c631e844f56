"""`fd.load_exported`: the C of an export, compiled and called from Python."""

from __future__ import annotations

import ctypes
import json
import math
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from fastdyn.arrays import Array
from fastdyn.calls.arguments import check_finite, flat, read, target
from fastdyn.calls.parameters import Parameters
from fastdyn.errors import ArgumentError, ArgumentTypeError, FastdynError, NotFiniteError

FLAGS = ("-O3", "-ffp-contract=fast")
COMPILERS = ("cc", "gcc", "clang")
SECONDS = 600.0  # for a compiler to end
REALS: dict[str, np.dtype[Any]] = {"double": np.dtype(np.float64), "float": np.dtype(np.float32)}


def load_exported(
    folder: str | os.PathLike[str],
    compiler: str | None = None,
    flags: Sequence[str] | None = None,
    library: str | os.PathLike[str] | None = None,
) -> Exported:
    """The C functions that `robot.export_c` wrote to a folder, as methods that take arrays like those of the robot.

    The source is compiled in a private temporary folder. compiler: a command; otherwise that of the environment
    variable CC, then cc, gcc or clang. flags: for it, instead of -O3 -ffp-contract=fast. library: a shared library that
    was built from the folder, to be used as it is.

    >>> import tempfile, fastdyn as fd
    >>> arm = fd.robots.two_link(m1=1.0, m2=1.0, length=1.0, g=10.0)
    >>> with tempfile.TemporaryDirectory() as place:
    ...     arm_in_c = fd.load_exported(arm.export_c(f"{place}/arm"))
    >>> arm_in_c.inverse_dynamics([0, 0], [0, 0], [0, 0]).round(12)
    array([20.,  5.])
    """
    path = Path(folder)
    facts = _manifest(path)
    if library is not None:
        return Exported(facts, _opened(Path(library).resolve(), facts))
    with tempfile.TemporaryDirectory(prefix="fastdyn-", ignore_cleanup_errors=True) as place:
        built = Path(place) / f"{facts['prefix']}.so"
        command = [*_compiler(compiler), "-std=c99", *(FLAGS if flags is None else flags), "-shared"]
        command += ["-fPIC"] * (sys.platform != "win32")
        try:
            done = subprocess.run(
                [*command, "-o", str(built), str((path / f"{facts['prefix']}.c").resolve()), "-lm"],
                capture_output=True, text=True, errors="replace", timeout=SECONDS,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as problem:
            raise FastdynError(f"{shlex.join(command)} cannot compile {folder}: {problem}") from problem
        if done.returncode != 0:
            raise FastdynError(f"{shlex.join(command)} cannot compile {folder}:\n{done.stderr[:2000]}")
        return Exported(facts, _opened(built, facts))


def _manifest(path: Path) -> dict[str, Any]:
    """What export.json says, of the shape that `export_c` writes."""
    try:
        facts = json.loads((path / "export.json").read_text())
        _expect(facts["format"] == 1, f"its format is {facts['format']!r}, expected 1")
        _expect(re.fullmatch(r"[A-Za-z]\w*", facts["prefix"], re.ASCII), f"its prefix is {facts['prefix']!r}")
        _expect(facts["real"] in REALS, f"its real is {facts['real']!r}")
        for name, function in facts["functions"].items():
            _expect(re.fullmatch(r"[a-z]\w*", name, re.ASCII), f"it names {name!r}")
            sizes = [size for kind in ("inputs", "outputs") for shape in function[kind].values() for size in shape]
            _expect(all(type(size) is int and size >= 0 for size in sizes), f"it has sizes {sizes}")
            _expect(set(function["counts"]) == set(function["inputs"]), f"it counts {function['counts']}")
        strings = (*facts["names"], facts["robot"], facts["fingerprint"])
        _expect(all(isinstance(name, str) for name in strings), f"it names {strings}")
        for key in ("batch", "coupled", "range"):
            facts[key]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as problem:
        raise ArgumentError(
            f"folder is {str(path)!r}: expected one that export_c has written, found no good export.json "
            f"({type(problem).__name__}: {problem})"
        ) from problem
    return dict(facts)


def _expect(found: object, otherwise: str) -> None:
    if not found:
        raise ValueError(otherwise)


def _compiler(asked: str | None) -> list[str]:
    """The command of the C compiler."""
    if asked is None and os.environ.get("CC"):
        return shlex.split(os.environ["CC"])
    if asked is not None:
        if shutil.which(asked) is None:
            raise FastdynError(f"compiler is {asked!r}: expected a command, found none of this name")
        return [asked]
    for name in COMPILERS:
        if shutil.which(name):
            return [name]
    raise FastdynError(f"found no C compiler: expected {', '.join(COMPILERS)}, or one named by CC or compiler=")


def _opened(library: Path, facts: Mapping[str, Any]) -> ctypes.CDLL:
    """The library, if it was built from this export."""
    try:
        opened = ctypes.CDLL(str(library))
        named = getattr(opened, f"{facts['prefix']}_fingerprint")
        named.restype = ctypes.c_char_p
        found = named().decode()
    except (OSError, AttributeError) as problem:
        raise ArgumentError(f"library is {str(library)!r}: expected one built from the export: {problem}") from problem
    if found != facts["fingerprint"]:
        raise ArgumentError(f"library is {str(library)!r}, built from another export: expected one built from this one")
    return opened


class Exported:
    """The C functions of an export, each a method of its name. Made by `fd.load_exported`.

    A method takes its inputs in the order of the C function, or by name, one state or any batch: (n,) or (..., n), and
    out=, an array for the result, or a tuple of them. It raises the errors that the robot's own methods raise. Batches
    go through the C function of a batch.
    """

    def __init__(self, facts: Mapping[str, Any], library: ctypes.CDLL) -> None:
        self.name: str = facts["robot"]
        self.names: tuple[str, ...] = tuple(facts["names"])
        self.n = len(self.names)
        self.real: np.dtype[Any] = REALS[facts["real"]]
        self.manifest = facts
        self.quantities: tuple[str, ...] = tuple(facts["functions"])
        for name in self.quantities:
            setattr(self, name, ExportedFunction(name, facts, library))

    def __repr__(self) -> str:
        return f"<Exported {self.name!r}: {', '.join(self.quantities)}; {self.real}>"

    def __getattr__(self, name: str) -> Callable[..., Any]:
        raise AttributeError(f"this export has no {name!r}: expected one of {', '.join(self.__dict__['quantities'])}")


class ExportedFunction:
    """A C function of one state, and that of a batch, for arrays."""

    def __init__(self, name: str, facts: Mapping[str, Any], library: ctypes.CDLL) -> None:
        function = facts["functions"][name]
        self.name, self.real, self.range = name, REALS[facts["real"]], facts["range"]
        self.inputs = {key: tuple(shape) for key, shape in function["inputs"].items()}
        self.outputs = {key: tuple(shape) for key, shape in function["outputs"].items()}
        self.counts = function["counts"]
        names = tuple(facts["names"])
        self.parameters = Parameters(facts["robot"], (None,) * (4 if facts["coupled"] else 2), len(names), names=names)
        pointers = [ctypes.c_void_p] * (len(self.inputs) + len(self.outputs))
        self.one = getattr(library, f"{facts['prefix']}_{name}")
        self.one.argtypes = pointers
        self.many = None
        if facts["batch"]:
            self.many = getattr(library, f"{facts['prefix']}_{name}_batch")
            self.many.argtypes = [ctypes.c_size_t, *pointers]

    def __call__(self, *values: Any, out: Any = None, **named: Any) -> Any:
        """The quantity for one state (n,) or any batch (..., n) of them."""
        given = {**dict(zip(self.inputs, values, strict=False)), **named}
        if len(values) + len(named) != len(self.inputs) or set(given) != set(self.inputs):
            raise ArgumentTypeError(f"{self.name} takes {', '.join(self.inputs)}, each once")
        arrays, lead = read(given, self.inputs, self.parameters.robot, self.counts, self.real)
        wanted = self._wanted(out)
        results: list[Array] = []
        for k, (each, core) in enumerate(zip(wanted, self.outputs.values(), strict=True)):
            name = f"out[{k}]" if len(wanted) > 1 else "out"
            results.append(target(each, lead, core, [*arrays.values(), *results], self.real, name))
        samples = [flat(arrays[name], lead, core) for name, core in self.inputs.items()]
        targets = [flat(array, lead, core) for array, core in zip(results, self.outputs.values(), strict=True)]
        if self._computed(samples, targets, lead) != 0:
            self._explain(arrays, samples, lead)
        for each, result in zip(wanted, results, strict=True):
            if each is not None and each is not result:
                np.copyto(each, result)
        if out is not None:
            return out
        found = tuple(result[()] for result in results)  # a number, if it has no axes
        return found if len(found) > 1 else found[0]

    def _wanted(self, out: Any) -> tuple[Any, ...]:
        """The arrays of `out`, one for each result; None where there is none."""
        count = len(self.outputs)
        if out is None:
            return (None,) * count
        if count == 1:
            return (out,)
        if not isinstance(out, tuple):
            raise ArgumentTypeError(f"out is a {type(out).__name__}: expected a tuple of {count} arrays")
        if len(out) != count:
            raise ArgumentError(f"out has {len(out)} arrays: expected {count}")
        return out

    def _computed(self, samples: Sequence[Array], targets: Sequence[Array], lead: tuple[int, ...]) -> int:
        """Computes (T, values) into the targets; the first status that is not 0."""
        T = math.prod(lead)
        if lead == () or self.many is None:
            statuses = [self._state(k, samples, targets) for k in range(T)]
            return next((status for status in statuses if status), 0)
        columns = [np.ascontiguousarray(array.T) for array in samples]
        found = [np.empty((array.shape[1], T), self.real) for array in targets]
        status = int(self.many(T, *(_pointers(array) for array in (*columns, *found))))
        for array, values in zip(targets, found, strict=True):
            array[...] = values.T
        return status

    def _state(self, k: int, samples: Sequence[Array], targets: Sequence[Array] | None) -> int:
        """Computes one state; targets: where results go, if anywhere."""
        given = [np.ascontiguousarray(array[k]) for array in samples]
        found = [np.empty(math.prod(core), self.real) for core in self.outputs.values()]
        status = int(self.one(*(array.ctypes.data for array in (*given, *found))))
        for array, values in zip(targets or (), found, strict=False):
            array[k] = values
        return status

    def _explain(self, arrays: Mapping[str, Array], samples: Sequence[Array], lead: tuple[int, ...]) -> NoReturn:
        """Raises for a status, naming the argument and the sample."""
        from fastdyn.calls.task import error_of

        check_finite(arrays)
        statuses = ((k, self._state(k, samples, None)) for k in range(math.prod(lead)))
        first, status = next((k, status) for k, status in statuses if status)
        sample = "" if lead == () else f" at sample {', '.join(map(str, np.unravel_index(first, lead)))}"
        if status == 1 and self.range is not None:
            raise NotFiniteError(
                f"the result of {self.parameters.robot}{sample} is beyond the range of {self.real}, or an angle is "
                f"beyond {self.range:g} rad, which this export does not take"
            )
        raise error_of(status, sample, self.parameters, self.real)


def _pointers(columns: Array) -> Any:
    """The addresses of the rows of an array, as C wants them."""
    first, step = columns.ctypes.data, columns.strides[0]
    return (ctypes.c_void_p * len(columns))(*(first + k * step for k in range(len(columns))))
