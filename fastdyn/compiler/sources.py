"""Which sources a compiled function depends on, and their hash: the cache key of its machine code.

Numba's own cache checks one file only. Here the hash covers the function's module and every module of the same package
that it imports, directly or indirectly: editing a kernel invalidates the code that uses it, and nothing else. Kernels
do not import the modules that compile their verbs (policy.LOWERING): these count in every hash.
"""

from __future__ import annotations

import hashlib
import os
import pkgutil
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib.util import find_spec
from types import CodeType, ModuleType
from typing import Any

from fastdyn.compiler.policy import LOWERING
from fastdyn.compiler.stamps import IMPORTED, file_of, stamp

PACKAGE = __name__.partition(".")[0]


class StaleCodeError(RuntimeError):
    """A function whose sources cannot be determined: its cached machine code could be out of date."""


class SourceError(StaleCodeError):
    """A module whose file cannot be read, or is not the one that was imported."""


@cache
def source_hash(function: Callable[..., Any]) -> str:
    """A fingerprint of all sources that a function's machine code depends on.

    A function of generated source has that text as its attribute `generated`: the hash covers the text, the functions
    that its names stand for and their modules, not the module that generated it. A function that reaches code of the
    package other than by an import statement is refused.
    """
    texts = _generated(function)
    digest = hashlib.sha256("".join(text.generated for text in texts).encode())
    digest.update(str(getattr(function, "nogil", "")).encode())
    named = [(called, module) for text in texts for called, module in _named(text) if not hasattr(called, "generated")]
    digest.update(" ".join(f"{module}.{getattr(called, '__qualname__', '')}" for called, module in named).encode())
    modules = _closure({*([module for _, module in named] if texts else [function.__module__]), *LOWERING})
    _check(function, frozenset(modules))
    _add(digest, modules)
    return digest.hexdigest()[:16]


def modules_hash(*names: str) -> str:
    """A fingerprint of some modules of the package and of all that they import."""
    digest = hashlib.sha256()
    _add(digest, _closure(set(names)))
    return digest.hexdigest()


def _add(digest: Any, modules: set[str]) -> None:
    for name in sorted(modules):
        digest.update(name.encode())
        digest.update(_source(name))


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
def _source(name: str) -> bytes:
    """The file that a module is imported from: source, or bytecode where only that is installed."""
    try:
        spec: Any = _spec(name)
        content: bytes = spec.loader.get_data(spec.origin)
        changed = name.startswith(f"{PACKAGE}.") and stamp(file_of(spec)) != IMPORTED.get(file_of(spec))
    except (AttributeError, ImportError, OSError, ValueError) as problem:
        raise SourceError(f"the source of module {name!r} cannot be read ({problem})") from problem
    if changed:
        raise SourceError(f"the source of module {name!r} has changed since {PACKAGE} was imported: {file_of(spec)}")
    return content


def _spec(name: str) -> Any:
    return getattr(sys.modules.get(name), "__spec__", None) or find_spec(name)


@cache
def _imports(name: str) -> frozenset[str]:
    """Modules of the package, or of the module's own, that a module imports anywhere in its code.

    Found in the bytecode, which every way of installing has: an import statement leaves the module's name among the
    names, and what is imported from it as a tuple among the constants.
    """
    _source(name)  # raises if the file is not the one that was imported
    found: set[str] = set()
    for code in _codes(_spec(name).loader.get_code(name)):
        packages = {each for each in code.co_names if each.partition(".")[0] in (PACKAGE, name.partition(".")[0])}
        members = {each for group in code.co_consts if isinstance(group, tuple) for each in group}
        found |= packages | {f"{package}.{member}" for package in packages for member in members}
    return frozenset(found & (_modules(PACKAGE) | _modules(name.partition(".")[0])))


def _codes(code: CodeType) -> Iterator[CodeType]:
    """A code object and those of the functions in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


@cache
def _modules(package: str) -> frozenset[str]:
    """The names of all modules in a package that has been imported."""

    def inside(folders: Iterable[str], prefix: str) -> Iterator[str]:
        for _, name, is_package in pkgutil.iter_modules(folders):
            yield f"{prefix}{name}"
            if is_package:
                yield from inside([os.path.join(folder, name) for folder in folders], f"{prefix}{name}.")

    return frozenset(inside(list(getattr(sys.modules.get(package), "__path__", [])), f"{package}."))


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
