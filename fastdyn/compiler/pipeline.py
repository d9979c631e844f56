"""How Numba compiles kernels: helpers are translated to LLVM's language only, and optimised once, inside an entry.

By default Numba optimises every function on its own and makes machine code of it, links the result into each function
that calls it and optimises again. Kernels are made of dozens of small helpers that are all inlined: their own machine
code is never called, and each level of calls repeated the work.

    Helper      for functions that compiled code calls: neither optimised nor turned into machine code
    Entry       for functions that Python calls: optimised once, with all helpers linked in

Numba's other code, and users' functions that call a helper, are compiled as ever.
"""

from __future__ import annotations

from typing import Any

from numba import _dynfunc
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import InlineOverloads, NativeLowering, NopythonRewrites
from numba.core.untyped_passes import (
    InlineClosureLikes,
    InlineInlinables,
    LiteralPropagationSubPipelinePass,
    LiteralUnroll,
    WithLifting,
)

# for closures, comprehensions, array expressions, `with` and the like, of which kernels have none
_LEFT_OUT = {
    InlineClosureLikes, InlineInlinables, InlineOverloads, LiteralPropagationSubPipelinePass, LiteralUnroll,
    NopythonRewrites, WithLifting,
}  # fmt: skip


class _EntryLibrary(JITCodeLibrary):
    def add_ir_module(self, module: Any) -> None:
        """Adds a module whose functions align their stack to cache lines.

        A vector register kept on the stack could otherwise lie across two lines, and a batch take twice as long.
        """
        for function in module.functions:
            if function.blocks:
                function.attributes.add("nounwind")  # llvmlite writes the next only beside another attribute
                function.attributes.alignstack = 64
        super().add_ir_module(module)

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        # without the passes that Numba runs before, to remove reference counts: there are none
        passes, builder = self._codegen._module_pass_manager()
        with self._recorded_timings.record("Module passes", builder):
            passes.run(self._final_module, builder)


class _HelperLibrary(JITCodeLibrary):
    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def finalize(self) -> None:
        """Callers link what this library calls: `_HelperLowering` gives them the list."""
        self._finalized = True

    @property
    def all_libraries(self) -> list[Any]:
        """This library and those that it calls, directly or indirectly."""
        return list(dict.fromkeys([self, *self._linking_libraries]))


@register_pass(mutates_CFG=True, analysis_only=False)
class _EntryLowering(NativeLowering):
    _name = "fastdyn_entry_lowering"

    def run_pass(self, state: Any) -> bool:
        """As Numba's, with a library of this module."""
        state.library = _EntryLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return bool(super().run_pass(state))


@register_pass(mutates_CFG=True, analysis_only=False)
class _HelperLowering(NativeLowering):
    _name = "fastdyn_helper_lowering"

    def run_pass(self, state: Any) -> bool:
        """As Numba's, up to the point where machine code would be made."""
        state.library = library = _HelperLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        made = state["cr"]
        # the object by which callers find the function; Python cannot call it
        name = made.fndesc.qualname.split(".")[-1]
        cfunc = _dynfunc.make_function(made.fndesc.lookup_module(), name, "a helper", 0, made.env, (library,))
        state.targetctx.insert_user_function(cfunc, made.fndesc, library.all_libraries)
        state["cr"] = made._replace(cfunc=cfunc)
        return True


class Helper(CompilerBase):
    """The passes for a helper."""

    lowering: Any = _HelperLowering

    def define_pipelines(self) -> list[Any]:
        """Numba's passes, without some, and with another one at the end."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.passes = [
            (self.lowering if step is NativeLowering else step, why)
            for step, why in passes.passes
            if step not in _LEFT_OUT
        ]
        passes.finalize()
        return [passes]


class Entry(Helper):
    """The passes for a function that Python calls."""

    lowering = _EntryLowering
