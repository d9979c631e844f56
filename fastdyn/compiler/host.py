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


_MULTIPLY_ADD = """
declare double @llvm.fma.f64(double, double, double)
define double @f(double %x) {
    %y = call double @llvm.fma.f64(double %x, double %x, double %x)
    ret double %y
}
"""


@cache
def _assembly(text: str) -> str:
    from llvmlite import binding
    from numba.core.registry import cpu_target

    found: str = cpu_target.target_context.codegen()._tm.emit_assembly(binding.parse_assembly(text))
    return found


@cache
def register_bits() -> int:
    """The width of the vector registers that the compiler uses: 512 with AVX-512, 256 with AVX, else 128 (SSE2, NEON).

    >>> register_bits() in (128, 256, 512)
    True
    """
    text = _assembly(_ADDITION)
    return 512 if "zmm" in text else 256 if "ymm" in text else 128


@cache
def multiplies_and_adds() -> bool:
    """Whether there is an instruction for x y + z with one rounding.

    >>> multiplies_and_adds() in (False, True)
    True
    """
    return "fmadd" in _assembly(_MULTIPLY_ADD)  # otherwise a call of the C library's fma
