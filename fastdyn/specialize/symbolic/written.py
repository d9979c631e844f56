"""Equations written out: as text, as LaTeX, as code in Python, NumPy and C."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from textwrap import indent
from typing import TYPE_CHECKING, Any

from fastdyn.errors import ArgumentError

if TYPE_CHECKING:
    from fastdyn.specialize.symbolic.equations import Equations

PARTS = ("M", "C", "g", "friction")  # of the equations of motion
ALL = (*PARTS, "tau", "kinetic", "potential")
LANGUAGES = ("python", "numpy", "c")
RESERVED = ("sin", "cos", "pow", "copysign", "numpy", "result")  # names that code uses


def _entries(eq: Equations, what: Iterable[str], at: str, equal: str) -> Iterator[tuple[str, Any]]:
    """Each entry's name and formula. at: how an entry's name is made of a part and its place; equal: between names.

    Friction is left out where there is none.
    """
    chosen = [what] if isinstance(what, str) else list(what)
    for part in chosen:
        if part not in ALL:
            raise ArgumentError(f"what contains {part!r}: expected some of {', '.join(ALL)}")
        found = getattr(eq, part)
        if part in ("kinetic", "potential"):
            yield part, found
        elif part in ("M", "C"):
            for a in range(eq.n):
                for b in range(a if part == "M" else 0, eq.n):
                    places = {(a, b), (b, a)} if part == "M" else {(a, b)}
                    names = (at.format(part, f"{x + 1},{y + 1}") for x, y in sorted(places))
                    yield equal.join(names), found[a, b]
        elif part != "friction" or any(found):
            for a in range(eq.n):
                yield at.format(part, a + 1), found[a]


def text(eq: Equations, what: Iterable[str]) -> str:
    """The equations, then what their letters mean."""
    rubs = " + friction" * any(eq.friction)
    lines = [f"{eq.name}: M(q) qdd + C(q, qd) qd + g(q){rubs} = tau", ""]
    shown = list(_entries(eq, what, "{}[{}]", " = "))
    lines += [f"{name} = {formula}" for name, formula in shown]
    used = {str(x) for _, formula in shown for x in formula.free_symbols}
    table = [(f"q{k + 1}", f"{name}, {unit}") for k, (name, unit) in enumerate(eq.coordinates)]
    table += [(x.name, f"{x.value:<15.9g} {x.unit:9s} {x.meaning}") for x in eq.symbols if x.name in used]
    width = max(len(name) for name, _ in table)
    return "\n".join([*lines, "", *(f"{name:{width}}  {meaning}" for name, meaning in table)])


def latex(eq: Equations, what: Iterable[str]) -> str:
    """An align* environment."""
    from sympy import latex as formatted  # type: ignore[import-untyped]

    names = {symbol: _subscripted(str(symbol)) for symbol in eq.values}
    for k in range(eq.n):
        names |= {eq.qd[k]: rf"\dot{{q}}_{{{k + 1}}}", eq.qdd[k]: rf"\ddot{{q}}_{{{k + 1}}}"}
    greek = {"tau": r"\tau", "friction": r"\tau^{\mathrm{f}}", "kinetic": "T", "potential": "V"}
    lines = []
    for name, formula in _entries(eq, what, "{}_{{{}}}", " = "):
        part = re.match("[a-zA-Z]+", name)[0]  # type: ignore[index]  # names begin with the part's
        lines.append(f"{name.replace(part, greek.get(part, part)).replace(',', '')} &= ")
        lines[-1] += formatted(formula, symbol_names=names)
    body = " \\\\\n".join(lines)
    return f"\\begin{{align*}}\n{body}\n\\end{{align*}}"


def _subscripted(name: str) -> str:
    """I1zz as I_{1zz}, lc2 as l_{c2}; longer words, such as Greek letters, as SymPy writes them."""
    from sympy import Symbol, latex

    short = re.fullmatch(r"([A-Za-z])([a-z]?\d\w*)", name)
    return f"{short[1]}_{{{short[2]}}}" if short else str(latex(Symbol(name)))


# ---------------------------------------------------------------------------------------------- code


def code(eq: Equations, language: str) -> str:
    """Functions of the equations' terms, with common subexpressions computed once."""
    if language not in LANGUAGES:
        raise ArgumentError(f"language is {language!r}: expected one of {', '.join(LANGUAGES)}")
    from sympy.printing.c import C99CodePrinter  # type: ignore[import-untyped]
    from sympy.printing.numpy import NumPyPrinter  # type: ignore[import-untyped]
    from sympy.printing.pycode import PythonCodePrinter  # type: ignore[import-untyped]

    printer = {
        "python": lambda: PythonCodePrinter({"fully_qualified_modules": False}),
        "numpy": lambda: NumPyPrinter({"fully_qualified_modules": True}),
        "c": C99CodePrinter,
    }[language]()
    functions = [
        ("mass_matrix", ("q",), eq.M, (eq.n, eq.n)),
        ("coriolis_matrix", ("q", "qd"), eq.C, (eq.n, eq.n)),
        ("gravity_forces", ("q",), eq.g, (eq.n,)),
        ("inverse_dynamics", ("q", "qd", "qdd"), eq.tau, (eq.n,)),
    ]
    write = {"python": _python, "numpy": _numpy, "c": _c}[language]
    bodies = [write(eq, printer, *function) for function in functions]
    used = {str(x) for x in eq.tau.free_symbols}
    symbols = [x for x in eq.symbols if x.name in used]
    letters = "".join(f"\n{x.name} = {x.value!r} {x.unit}: {x.meaning}" for x in symbols)
    about = f"Equations of motion of {eq.name}: M qdd + C qd + g + friction = tau.{letters}"
    if language == "c":
        constants = "".join(f"static const double {x.name} = {x.value!r};\n" for x in symbols)
        head = f"/* {about.replace('*/', '')} */\n\n#include <math.h>\n\n{constants}"
    else:
        imports = "\n".join(f"from {module} import {', '.join(sorted(names))}" for module, names in _imports(printer))
        head = f"{indent(about, '# ', lambda line: True)}\n\n{'import numpy' if language == 'numpy' else imports}\n"
    return "\n\n".join([head, *bodies])


def _imports(printer: Any) -> list[tuple[str, set[str]]]:
    return [(module, names) for module, names in printer.module_imports.items() if names]


def _statements(printer: Any, results: Any) -> tuple[list[tuple[str, str]], list[str], set[str]]:
    """Assignments of common subexpressions, the entries row by row, and the names of the symbols in them."""
    from sympy import cse, lambdify, numbered_symbols

    used = {str(x) for x in results.free_symbols}
    common, entries = cse(list(results), numbered_symbols("t", exclude=results.free_symbols))
    # cse of SymPy 1.14 changed the value of some long formulas: it is used only where a trial shows that it did not
    symbols = sorted(results.free_symbols, key=str)
    trial = [0.3 + k / len(symbols) for k in range(len(symbols))]
    before, after = (
        lambdify(symbols, list(results), "math", cse=x)(*trial) for x in (False, lambda _: (common, entries))
    )
    if max(abs(x - y) for x, y in zip(before, after, strict=True)) > 1e-9 * max(map(abs, before)):
        common, entries = [], list(results)
    return [(str(x), printer.doprint(y)) for x, y in common], [printer.doprint(x) for x in entries], used


def _keywords(eq: Equations, used: set[str]) -> str:
    """The letters that a function uses as keyword arguments."""
    letters = [f"{x.name}={x.value!r}" for x in eq.symbols if x.name in used]
    return f", *, {', '.join(letters)}" if letters else ""


def _coordinates(eq: Equations, argument: str) -> str:
    return ", ".join(f"{argument}{k + 1}" for k in range(eq.n)) + "," * (eq.n == 1)


def _python(
    eq: Equations, printer: Any, name: str, arguments: tuple[str, ...], results: Any, shape: tuple[int, ...]
) -> str:
    common, entries, used = _statements(printer, results)
    lines = [f"def {name}({', '.join(arguments)}{_keywords(eq, used)}):"]
    lines += [f"    {_coordinates(eq, argument)} = {argument}" for argument in arguments]
    lines += [f"    {x} = {y}" for x, y in common]
    if len(shape) == 1:
        return "\n".join([*lines, f"    return [{', '.join(entries)}]"])
    n = eq.n
    rows = [f"        [{', '.join(entries[n * a : n * (a + 1)])}]," for a in range(n)]
    return "\n".join([*lines, "    return [", *rows, "    ]"])


def _numpy(
    eq: Equations, printer: Any, name: str, arguments: tuple[str, ...], results: Any, shape: tuple[int, ...]
) -> str:
    common, entries, used = _statements(printer, results)
    lines = [f"def {name}({', '.join(arguments)}{_keywords(eq, used)}):"]
    lines += [f"    {_coordinates(eq, each)} = numpy.moveaxis(numpy.asarray({each}), -1, 0)" for each in arguments]
    lines += [f"    {x} = {y}" for x, y in common]
    some = ", ".join(f"{argument}1" for argument in arguments)
    lines += [f"    {'_, ' * len(arguments)}*entries = numpy.broadcast_arrays({some}, {', '.join(entries)})"]
    return "\n".join([*lines, f"    return numpy.stack(entries, axis=-1).reshape(entries[0].shape + {shape})"])


def _c(eq: Equations, printer: Any, name: str, arguments: tuple[str, ...], results: Any, shape: tuple[int, ...]) -> str:
    common, entries, used = _statements(printer, results)
    called = re.sub(r"\W", "_", f"{eq.name}_{name}", flags=re.ASCII)
    called = f"robot_{called}" if called[0].isdigit() else called
    inputs = "".join(f"const double {argument}[{eq.n}], " for argument in arguments)
    lines = [f"void {called}({inputs}double result[{len(entries)}])", "{"]
    for argument in arguments:
        if not any(f"{argument}{k + 1}" in used for k in range(eq.n)):
            lines.append(f"    (void){argument};")
        for k in range(eq.n):
            if f"{argument}{k + 1}" in used:
                lines.append(f"    const double {argument}{k + 1} = {argument}[{k}];")
    lines += [f"    const double {x} = {y};" for x, y in common]
    lines += [f"    result[{k}] = {entry};" for k, entry in enumerate(entries)]
    return "\n".join([*lines, "}"])
