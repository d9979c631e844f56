"""Dataclasses of plain data as JSON text, and back: results that people keep, compare and show again.

Fields may be numbers, strings, fractions, tuples, mappings from strings, arrays of floats, other such dataclasses, and
any of these or None.
"""

from __future__ import annotations

import json
import re
import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from fastdyn.errors import FileError

Record = TypeVar("Record")


def text(record: Any, form: str) -> str:
    """The record as JSON, marked with its form (such as "fastdyn study 1"). NaN and infinity are an error.

    >>> from fastdyn.polynomials import Polynomial
    >>> print(text(Polynomial.of("1/2", 0), "a polynomial"))
    {
     "form": "a polynomial",
     "coefficients": ["0", "1/2"]
    }
    <BLANKLINE>
    """
    found = json.dumps({"form": form, **_plain(record)}, indent=1, allow_nan=False, ensure_ascii=False) + "\n"
    return re.sub(r"\[\n +([^][{}]*?)\n *\]", _in_a_line, found)


def read(kind: type[Record], path: Path, form: str) -> Record:
    """The record of a file that `text` wrote; a FileError names what is not as expected, and where it stands."""
    content = path.read_text(encoding="utf-8")
    try:
        found = json.loads(content, parse_constant=_refuse)
    except ValueError as problem:
        raise FileError(f"{path}: expected JSON: {problem}") from None
    given = found.pop("form", None) if isinstance(found, dict) else None
    if given != form:
        raise FileError(f"{path}: expected a file of the form {form!r}, found {given!r}")
    try:
        record: Record = _made(kind, found, "")
    except _Unfit as problem:
        raise FileError(f"{path}: {problem}") from None
    return record


def _in_a_line(row: re.Match[str]) -> str:
    return "[" + re.sub(r"\n +", " ", row[1]) + "]"


class _Unfit(Exception):
    """A value that does not fit its type; the message says where."""


def _refuse(constant: str) -> Any:
    raise ValueError(f"found {constant}")


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return str(value) if isinstance(value, Fraction) else value


def _made(kind: Any, value: Any, where: str) -> Any:
    """The value as the type says, from what JSON has of it. where: such as ".points[3].n"."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return _one_of(inner, value, where)
    if origin is Literal:
        return _checked(value in inner, value, f"one of {', '.join(map(repr, inner))}", where) and value
    if is_dataclass(kind):
        return _dataclass(kind, value, where)
    if origin is np.ndarray:
        _checked(isinstance(value, list), value, "a list of numbers", where)
        return np.array(value, dtype=float)
    if origin is tuple:
        _checked(isinstance(value, list), value, "a list", where)
        kinds = [inner[0]] * len(value) if inner[1:] == (...,) else list(inner)
        _checked(len(kinds) == len(value), value, f"{len(kinds)} values", where)
        return tuple(_made(k, v, f"{where}[{i}]") for i, (k, v) in enumerate(zip(kinds, value, strict=True)))
    if origin is not None and issubclass(origin, Mapping):
        _checked(isinstance(value, dict), value, "an object", where)
        return {key: _made(inner[1], each, f"{where}.{key}") for key, each in value.items()}
    if kind is Fraction:
        _checked(isinstance(value, str), value, "a fraction", where)
        return Fraction(value)
    if kind is float:
        _checked(isinstance(value, int | float) and not isinstance(value, bool), value, "a number", where)
        return float(value)
    if kind is type(None):
        return _checked(value is None, value, "null", where) and None
    _checked(type(value) is kind, value, kind.__name__, where)
    return value


def _dataclass(kind: Any, value: Any, where: str) -> Any:
    _checked(isinstance(value, dict), value, f"an object with the fields of {kind.__name__}", where)
    hints = get_type_hints(kind)
    names = [field.name for field in fields(kind)]
    if missing := [name for name in names if name not in value]:
        raise _Unfit(f"{where or 'the file'} has no {', '.join(missing)}")
    if extra := [name for name in value if name not in names]:
        raise _Unfit(f"{where or 'the file'} has {', '.join(extra)}: expected {', '.join(names)}")
    return kind(**{name: _made(hints[name], value[name], f"{where}.{name}") for name in names})


def _one_of(kinds: tuple[Any, ...], value: Any, where: str) -> Any:
    for kind in kinds:
        try:
            return _made(kind, value, where)
        except _Unfit as problem:
            last = problem
    raise last


def _checked(fits: bool, value: Any, expected: str, where: str) -> bool:
    if not fits:
        raise _Unfit(f"{where} is {value!r:.60}: expected {expected}")
    return True
