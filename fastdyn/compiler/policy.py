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

from collections.abc import Callable
from typing import Any, TypeVar

import numba
from numba.core import config
from numba.extending import register_jitable

from fastdyn.compiler.cache import code_cache

FAST = ("contract", "reassoc", "nsz", "arcp")
OPTIONS: dict[str, Any] = {"_nrt": False, "error_model": "numpy", "nogil": True, "fastmath": set(FAST)}
INLINE = {**OPTIONS, "forceinline": True}

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Makes a plain function over scalars callable from compiled code, on float64 or on lanes."""
    jitable: F = register_jitable(**INLINE)(function)
    return jitable


def dispatcher(function: Callable[..., Any], nogil: bool) -> Any:
    """Numba's dispatcher of a function that Python calls, with this package's cache."""
    made = numba.njit(**{**OPTIONS, "nogil": nogil})(function)
    # Numba's cache key ignores bounds checks, so code with them is not cached
    if not config.BOUNDSCHECK and (cache := code_cache(function)) is not None:
        made._cache = cache
    return made
