"""The instruction set that code is compiled for: the host's, or that of NUMBA_CPU_NAME and NUMBA_CPU_FEATURES."""

from functools import cache

_ADDITION = """
define void @f(ptr %p) {
    %x = load <8 x double>, ptr %p
    %y = fadd <8 x double> %x, %x
    store <8 x double> %y, ptr %p
    ret void
}
"""


@cache
def register_bits() -> int:
    """The width of the vector registers that the compiler uses: 512 with AVX-512, 256 with AVX, else 128 (SSE2, NEON).

    >>> register_bits() in (128, 256, 512)
    True
    """
    from llvmlite import binding
    from numba.core.registry import cpu_target

    module = binding.parse_assembly(_ADDITION)
    text = cpu_target.target_context.codegen()._tm.emit_assembly(module)
    return 512 if "zmm" in text else 256 if "ymm" in text else 128
