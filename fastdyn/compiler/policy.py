"""The compilation policy: the only file that passes options to Numba, and why.

error_model="numpy"  division by zero gives infinity, as in NumPy; no branch around every division.
nogil=True           a batch runs beside other Python threads; calls of one state keep the GIL, which is faster.
_nrt=False           kernels never allocate, so nothing needs reference counts: counting them at every call of a helper
                     made kernels three times slower.
forceinline=True     kernels are made of helpers that pass dozens of values in registers.
fastmath             contract, reassoc, nsz, arcp let the compiler fuse and reorder. nnan and ninf stay out: they would
                     let it delete every check for NaN and infinity.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

from fastdyn.compiler import stamps  # noqa: F401  # taken before kernels are imported

FAST = ("contract", "reassoc", "nsz", "arcp")
OPTIONS: dict[str, Any] = {"_nrt": False, "error_model": "numpy", "nogil": True, "fastmath": set(FAST)}
INLINE = {**OPTIONS, "forceinline": True, "no_cfunc_wrapper": True}

F = TypeVar("F", bound=Callable[..., Any])


LOWERING: list[str] = []  # modules that tell Numba how to compile the verbs of kernels
_LOCK = threading.RLock()
_unregistered: list[Callable[..., Any]] | None = []  # kernels that Numba does not know yet; None once it knows all


def kernel(function: F) -> F:
    """Makes a plain function over scalars callable from compiled code, on float64 or on lanes.

    It is only recorded: Numba, which takes long to import, is told at the first compilation.
    """
    with _LOCK:
        if _unregistered is None:
            _tell_numba(function)
        else:
            _unregistered.append(function)
    return function


def lowered_by(*modules: str) -> None:
    """Names modules for `register` to import. All machine code depends on them."""
    LOWERING.extend(modules)


def register() -> None:
    """Tells Numba about all kernels and verbs; those that come later are told at once.

    Entries call it before they compile, Numba (entry point `numba_extensions`) before it compiles users' functions.
    """
    global _unregistered
    with _LOCK:
        waiting, _unregistered = _unregistered or [], None
        for module in LOWERING:
            import_module(module)
        for function in waiting:
            _tell_numba(function)


def _tell_numba(function: Callable[..., Any]) -> None:
    overload(function, strict=False)(lambda *arguments, **named: function)


def overload(function: Callable[..., Any], strict: bool = True) -> Callable[[F], F]:
    """Numba's decorator for the compiled version of a function, with the options of helpers."""
    from numba import extending

    from fastdyn.compiler.pipeline import Helper

    made: Callable[[F], F] = extending.overload(function, {**INLINE, "pipeline_class": Helper}, strict)
    return made


def dispatcher(function: Callable[..., Any], nogil: bool) -> Any:
    """Numba's dispatcher of a function that Python calls, with this package's cache."""
    import numba
    from numba.core import config

    from fastdyn.compiler.cache import code_cache
    from fastdyn.compiler.pipeline import Entry

    made = numba.njit(**{**OPTIONS, "nogil": nogil}, pipeline_class=Entry)(function)
    # Numba's cache key ignores bounds checks, so code with them is not cached; nor is code that calls users' functions
    if not config.BOUNDSCHECK and getattr(function, "cacheable", True) and (cache := code_cache(function)) is not None:
        made._cache = cache
    return made
