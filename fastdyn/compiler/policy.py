"""The compilation policy: the only file that passes options to Numba, and why.

error_model="numpy"  division by zero gives infinity, as in NumPy; no branch around every division.
nogil=True           a batch runs beside other Python threads.
_nrt=False           kernels never allocate, so nothing needs reference counts: counting them at every call of a helper
                     made kernels three times slower.
forceinline=True     kernels are made of helpers that pass dozens of values in registers.
fastmath             contract, reassoc, nsz, arcp let the compiler fuse and reorder. nnan and ninf stay out: they would
                     let it delete every check for NaN and infinity.
cache                compiled code is kept between processes in a private directory whose path holds a hash of the
                     package's sources, because Numba's own check sees edits in one file only.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
import threading
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache, update_wrapper
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba import types
from numba.core import caching, config
from numba.extending import register_jitable

FAST = ("contract", "reassoc", "nsz", "arcp")
_OPTIONS: dict[str, Any] = {"_nrt": False, "error_model": "numpy", "nogil": True, "fastmath": set(FAST)}
INLINE = {**_OPTIONS, "forceinline": True}
_PACKAGE = Path(__file__).resolve().parent.parent
_COMPILED = ("compiler/*.py", "calls/*.py", "scalars/*.py", "kernels/*.py", "formulations/*.py", "study/timing/jobs.py")

_LOCK = threading.RLock()  # two threads may ask for the same code at once

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """A plain function over scalars that compiled code may also call, on float64 or on lanes."""
    jitable: F = register_jitable(**INLINE)(function)
    return jitable


def entry(function: Callable[..., Any]) -> Entry:
    """A function that Python calls: (P, T, arrays of samples ..., the result, scratch)."""
    return Entry(function)


class Entry:
    """Compiled, or loaded from the cache, when first wanted: once for each kind of scalar.

    The kind is told by how many samples run at once: 1 (float64), LANES (float64) or SINGLE_LANES (float32). Argument
    types are fixed, so that no call ever compiles anew: P is in Fortran order, T int64, arrays of samples are C-ordered
    with two axes, scratch is 1-D (scalars) or (rows, lanes). `py_func` is the same text in Python.
    """

    nogil = True

    def __init__(self, function: Callable[..., Any]) -> None:
        update_wrapper(self, function)
        self.py_func = function
        self._ready: dict[int, Callable[..., Any]] = {}
        self.dispatcher: Any = None

    def __call__(self, *arguments: Any) -> Any:
        """Runs on scalars or on lanes, whichever the scratch holds."""
        scratch = arguments[-1]
        return self.compiled(1 if scratch.ndim == 1 else scratch.shape[1])(*arguments)

    def compiled(self, width: int = 1) -> Callable[..., Any]:
        """The machine code for so many samples at once. It believes its arguments: no length or layout is checked."""
        if width not in self._ready:
            self._ready[width] = self._compile(width)
        return self._ready[width]

    def signature(self, width: int) -> tuple[Any, ...]:
        """The types of the arguments."""
        real = types.float32 if width == 16 else types.float64
        P, T = types.Array(real, 2, "F"), types.Array(types.int64, 2, "C")
        samples, scratch = types.Array(real, 2, "C"), types.Array(real, 1 if width == 1 else 2, "C")
        return (P, T, *[samples] * (self.py_func.__code__.co_argcount - 3), scratch)

    def _compile(self, width: int) -> Callable[..., Any]:
        if config.DISABLE_JIT:
            return self.py_func
        compiled: Callable[..., Any] = self._overload(width).entry_point
        return compiled

    def _overload(self, width: int) -> Any:
        with _LOCK:
            if self.dispatcher is None:
                self.dispatcher = numba.njit(**{**_OPTIONS, "nogil": self.nogil})(self.py_func)
                # Numba's key does not know of bounds checks: code with them must not be taken for code without
                if not config.BOUNDSCHECK and cache_directory() is not None:
                    self.dispatcher._cache = _Cache(self.py_func)
            signature = self.signature(width)
            self.dispatcher.compile(signature)
            return self.dispatcher.overloads[signature]


class AddressEntry(Entry):
    """An entry whose arguments are addresses: of a workspace, or of C arrays and a workspace. It needs the compiler."""

    nogil = False  # a call takes less time than handing the GIL over and taking it back

    def signature(self, width: int = 1) -> tuple[Any, ...]:
        """Addresses are whole numbers."""
        return (types.intp,) * self.py_func.__code__.co_argcount

    def address(self) -> int:
        """Where the machine code begins: a C function of pointers that returns an int64_t."""
        self.compiled()  # which complains where there is no compiler
        overload = self._overload(1)
        pointer: int = overload.library.get_pointer_to_function(overload.fndesc.llvm_cfunc_wrapper_name)
        return pointer

    def _compile(self, width: int) -> Callable[..., Any]:
        if config.DISABLE_JIT:
            raise RuntimeError("bound calls are machine code: NUMBA_DISABLE_JIT must not be set")
        compiled: Callable[..., Any] = self._overload(width).entry_point
        return compiled


@cache
def source_hash() -> str:
    """A fingerprint of every source file of the package that compiled code may depend on."""
    digest = hashlib.sha256()
    for path in sorted(p for part in _COMPILED for p in _PACKAGE.glob(part)):
        digest.update(str(path.relative_to(_PACKAGE)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


@cache
def cache_directory() -> Path | None:
    """Where compiled code is kept, or None where no private place can be had (then every process compiles).

    FASTDYN_CACHE_DIR names another place; by default it is the user's cache directory. A cache file is code, so a
    directory that somebody else owns or may write to is refused.
    """
    root = os.environ.get("FASTDYN_CACHE_DIR")
    try:
        base = Path(root) if root else _user_cache()
        base.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _private(base):
            return None
        directory = base / source_hash()
        directory.mkdir(mode=0o700, exist_ok=True)
        return directory if _private(directory) and os.access(directory, os.W_OK | os.X_OK) else None
    except (OSError, RuntimeError):  # a read-only disk, no home directory
        return None


def _user_cache() -> Path:
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "fastdyn"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home()) / "fastdyn" / "cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fastdyn"


def _private(directory: Path) -> bool:
    if not hasattr(os, "getuid"):
        return True
    found = directory.stat()
    return found.st_uid == os.getuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


class _Locator(caching._CacheLocator):
    """Tells Numba where a function's compiled code lies."""

    def __init__(self, py_func: Callable[..., Any], py_file: str) -> None:
        self._lineno = py_func.__code__.co_firstlineno

    def get_cache_path(self) -> str:
        return str(cache_directory())

    def get_source_stamp(self) -> str:
        return source_hash()

    def get_disambiguator(self) -> str:
        return str(self._lineno)

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> _Locator:
        return cls(py_func, py_file)


class _CacheImpl(caching.CompileResultCacheImpl):
    _locator_classes = [_Locator]  # noqa: RUF012  # Numba's own declaration


class _Cache(caching.FunctionCache):
    """Numba's cache, except that a file that cannot be read or written means compiling, never failing."""

    _impl_class = _CacheImpl

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception as problem:  # a truncated pickle can raise anything
            self._warn("read", problem)
            with suppress(OSError):
                self.flush()  # forget what is there, so that the next process finds good code
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except Exception as problem:
            self._warn("written", problem)

    def _warn(self, verb: str, problem: Exception) -> None:
        warnings.warn(
            f"compiled code could not be {verb} in {cache_directory()} ({type(problem).__name__}: {problem}); "
            "it is compiled anew, which costs seconds",
            RuntimeWarning,
            stacklevel=2,
        )
