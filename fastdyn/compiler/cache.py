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

from fastdyn.compiler.sources import SourceError, source_hash


@cache
def _directory() -> tuple[Path | None, str]:
    """The cache directory, or None if there is no safe one; what is wrong with it, if anything.

    FASTDYN_CACHE_DIR sets it; by default it is in the user's cache directory. A cache file is code, so a directory that
    somebody else owns or may write to is refused; one of root's is safe.
    """
    root = os.environ.get("FASTDYN_CACHE_DIR")
    try:
        directory = Path(root) if root else _user_cache()
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        if refusal := _refusal(directory):
            return None, f"{directory} is refused as a cache: {refusal}"
        return directory, "" if os.access(directory, os.W_OK | os.X_OK) else f"{directory} is read-only"
    except (OSError, RuntimeError) as problem:  # a read-only disk, no home directory
        return None, f"{root or 'the user cache'} cannot be used as a cache: {problem}"


def cache_directory() -> Path | None:
    """The directory of compiled code, or None if there is no safe one: then every process compiles."""
    return _directory()[0]


def _user_cache() -> Path:
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "fastdyn"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home()) / "fastdyn" / "cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fastdyn"


def _refusal(directory: Path) -> str:
    """Why code in a directory cannot be trusted, if so."""
    if not hasattr(os, "getuid"):
        return ""
    found = directory.stat()
    if found.st_uid not in (os.getuid(), 0):
        return f"it belongs to user {found.st_uid}"
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"others may write to it (mode {found.st_mode & 0o777:o})"
    return ""


def code_cache(function: Callable[..., Any]) -> Any:
    """Numba's cache for a function, or None where there is no safe directory or the sources are not those imported."""
    try:
        source_hash(function)
    except SourceError as problem:
        _warn_once(str(problem))
        return None
    directory, problem_found = _directory()
    if directory is None:
        _warn_once(problem_found)
        return None
    return _Cache(function)


_said: set[str] = set()


def _warn_once(problem: str) -> None:
    if problem not in _said:
        _said.add(problem)
        warnings.warn(
            f"{problem}; code is compiled anew in every process, which costs seconds", RuntimeWarning, stacklevel=2
        )


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
            with suppress(OSError):
                self.flush()  # discard it, so that the next process finds valid code; a warning may be an error
            self._warn("read", problem)
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        if read_only := _directory()[1]:
            _warn_once(read_only)
            return
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
