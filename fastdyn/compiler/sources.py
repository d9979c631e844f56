"""Which sources a compiled function depends on, and their hash: the cache key of its machine code.

Numba's own cache checks one file only. Here the hash covers the function's module and every module of the same package
that it imports, directly or indirectly: editing a kernel invalidates the code that uses it, and nothing else. Kernels
do not import the modules that compile their verbs (policy.LOWERING): these count in every hash.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from fastdyn.compiler.policy import LOWERING

PACKAGE = __name__.partition(".")[0]
_IMPORT = re.compile(r"^\s*(?:from\s+([\w.]+)\s+import\s+(\([^)]*\)|[^\n]*)|import\s+([^\n]+))", re.MULTILINE)


class StaleCodeError(RuntimeError):
    """A function whose sources cannot be determined: its cached machine code could be out of date."""


@cache
def source_hash(function: Callable[..., Any]) -> str:
    """A fingerprint of all sources that a function's machine code depends on.

    A function of generated source has that text as its attribute `generated`: the hash covers the text and the modules
    of the names in it, not the module that generated it. A function that reaches code of the package other than by an
    import statement is refused.
    """
    texts = _generated(function)
    digest = hashlib.sha256("".join(text.generated for text in texts).encode())
    digest.update(str(getattr(function, "nogil", "")).encode())
    named = {module for text in texts for called, module in _named(text) if not hasattr(called, "generated")}
    modules = sorted(_closure({*(named if texts else [function.__module__]), *LOWERING}))
    _check(function, frozenset(modules))
    for name in modules:
        digest.update(name.encode())
        digest.update(_source(name))
    return digest.hexdigest()[:16]


def _generated(function: Callable[..., Any]) -> list[Any]:
    """The function, if its source was generated, and those of generated source that it calls."""
    if not hasattr(function, "generated"):
        return []
    return [function, *(text for called, _ in _named(function) if called is not None for text in _generated(called))]


def _closure(roots: set[str]) -> set[str]:
    found: set[str] = set()
    waiting = list(roots)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += _imports(name)
    return found


@cache
def _path(name: str) -> Path | None:
    """The file of a module of a package that has been imported, whether the module itself has been or not."""
    package, *rest = name.split(".")
    file = getattr(sys.modules.get(package), "__file__", None)
    if file is None or not rest:
        return None if file is None else Path(file)
    base = Path(file).parent.joinpath(*rest)
    return next((path for path in (base.with_suffix(".py"), base / "__init__.py") if path.is_file()), None)


@cache
def _source(name: str) -> bytes:
    try:
        return Path(str(_path(name))).read_bytes()
    except OSError as problem:
        raise StaleCodeError(f"the source of module {name!r} cannot be read: {_path(name)}") from problem


@cache
def _imports(name: str) -> frozenset[str]:
    """Modules of the package, or of the module's own, that a module imports."""
    own = (f"{PACKAGE}.", f"{name.partition('.')[0]}.")
    found = set()
    for package, names, plain in _IMPORT.findall(_source(name).decode()):
        if plain:
            candidates = [each.split()[0] for each in plain.split(",") if each.strip()]
        else:
            candidates = [package, *(f"{package}.{each}" for each in re.findall(r"\w+", names))]
        found |= {c for c in candidates if c.startswith(own) and _path(c) is not None}
    return frozenset(found)


def _named(function: Callable[..., Any]) -> Iterator[tuple[Callable[..., Any] | None, str]]:
    """Functions and modules of the package that a function's code names: (the function, its module)."""
    for name in function.__code__.co_names:
        value: Any = function.__globals__.get(name)
        value = getattr(value, "py_func", value)
        if isinstance(value, ModuleType):
            module, called = value.__name__, None
        else:
            module = getattr(value, "__module__", None) or ""
            called = value if hasattr(value, "__code__") else None
        if module.startswith(f"{PACKAGE}."):
            yield called, module


def _check(function: Callable[..., Any], modules: frozenset[str]) -> None:
    """Raises if the function, or a function that it calls, lives in a module that is not among those hashed."""
    seen: set[Callable[..., Any]] = set()
    waiting = [function]
    while waiting:
        caller = waiting.pop()
        if caller in seen:
            continue
        seen.add(caller)
        for called, module in _named(caller):
            if module not in modules and not hasattr(called, "generated"):
                raise StaleCodeError(
                    f"{function.__qualname__} of {function.__module__} reaches {module}, which none of the modules "
                    "that its hash covers imports: machine code kept for it could be out of date"
                )
            if called is not None:
                waiting.append(called)
