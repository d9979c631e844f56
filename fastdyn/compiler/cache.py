"""Cache of compiled code on disk, in a private directory, with a hash of the sources as its key."""

from __future__ import annotations

import os
import stat
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from numba.core import caching

from fastdyn.compiler.sources import source_hash


@cache
def cache_directory() -> Path | None:
    """The cache directory, or None if no private one is available (then every process compiles).

    FASTDYN_CACHE_DIR sets it; by default it is in the user's cache directory. A cache file is code, so a directory that
    somebody else owns or may write to is refused.
    """
    root = os.environ.get("FASTDYN_CACHE_DIR")
    try:
        directory = Path(root) if root else _user_cache()
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
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


def code_cache(function: Callable[..., Any]) -> Any:
    """Numba's cache for a function, or None where there is no private directory."""
    source_hash(function)  # also without a cache: raises if the function's sources are unknown
    return None if cache_directory() is None else _Cache(function)


class _Locator(caching._CacheLocator):
    """Tells Numba where a function's compiled code is; file names contain the hash of the sources."""

    def __init__(self, py_func: Callable[..., Any], py_file: str) -> None:
        self._stamp = source_hash(py_func)

    def get_cache_path(self) -> str:
        return str(cache_directory())

    def get_source_stamp(self) -> str:
        return self._stamp

    def get_disambiguator(self) -> str:
        return self._stamp

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> _Locator:
        return cls(py_func, py_file)


class _CacheImpl(caching.CompileResultCacheImpl):
    _locator_classes = [_Locator]  # noqa: RUF012  # Numba's own declaration


class _Cache(caching.FunctionCache):
    """Numba's cache, except that a file that cannot be read or written causes recompilation, never an error."""

    _impl_class = _CacheImpl

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception as problem:  # a truncated pickle can raise anything
            self._warn("read", problem)
            with suppress(OSError):
                self.flush()  # discard it, so that the next process finds valid code
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
