"""Entries: the functions that Python calls, compiled for fixed argument types; and functions of generated source."""

from __future__ import annotations

import linecache
import threading
from collections.abc import Callable, Mapping
from typing import Any

from fastdyn.compiler.announce import announced
from fastdyn.compiler.policy import dispatcher, register

_LOCK = threading.RLock()  # two threads may compile the same function at once


class Entry:
    """A function compiled, or loaded from the cache, on first use: once for each kind of arguments.

    signature(kind): the types of the arguments. They are fixed, so that no call ever recompiles. The machine code does
    not check lengths or layouts. `py_func` is the Python function.
    """

    def __init__(
        self, function: Callable[..., Any], signature: Callable[[Any], tuple[Any, ...]], nogil: bool = True
    ) -> None:
        self.__name__, self.__doc__, self.__module__ = function.__name__, function.__doc__, function.__module__
        self.py_func, self.signature, self.nogil = function, signature, nogil
        function.nogil = nogil  # type: ignore[attr-defined]  # counts in the hash of its machine code
        self.dispatcher: Any = None
        self._ready: dict[Any, Callable[..., Any]] = {}

    def compiled(self, kind: Any = None) -> Callable[..., Any]:
        """The machine code for one kind of arguments; with NUMBA_DISABLE_JIT the Python function."""
        if kind not in self._ready:
            from numba.core import config

            self._ready[kind] = self.py_func if config.DISABLE_JIT else self.overload(kind).entry_point
        return self._ready[kind]

    def overload(self, kind: Any = None) -> Any:
        """Numba's compile result for one kind of arguments."""
        with _LOCK:
            register()
            if self.dispatcher is None:
                self.dispatcher = dispatcher(self.py_func, self.nogil)
            signature = self.signature(kind)
            with announced(self.described(kind)):
                self.dispatcher.compile(signature)
            return self.dispatcher.overloads[signature]

    def described(self, kind: Any) -> str:
        """What is compiled for one kind of arguments."""
        return self.__name__

    def address(self) -> int:
        """The machine code's address: a C function of integers and pointers that returns an int64_t."""
        overload = self.overload()
        pointer: int = overload.library.get_pointer_to_function(overload.fndesc.llvm_cfunc_wrapper_name)
        return pointer


def generated(source: str, name: str, names: Mapping[str, Any], module: str) -> Callable[..., Any]:
    """The function `name` of generated source text, with `names` as its globals.

    module: an importable module that the function belongs to (Numba caches only such functions). Tracebacks and
    inspect.getsource show the text.
    """
    file = f"<{module}: {name}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    known = {"__name__": module, **names}
    exec(compile(source, file, "exec"), known)
    function: Callable[..., Any] = known[name]
    function.generated = source  # type: ignore[attr-defined]
    return function
