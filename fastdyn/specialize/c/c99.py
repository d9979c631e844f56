"""Programs as C99 source: for each program a function of one state, and one of a batch with a column for each value.

A function has three steps: the angles, their sines and cosines, the rest, one statement for each operation. It ends
with a branch for what is wrong: a result that is not finite, or a singular joint. No other branch depends on data, but
for the range of angles: constants that depend on signs are looked up. Non-finite inputs show in the results that they
enter by sums and products; those that do not are added to the check.

A batch is computed in blocks of LANES states, in loops that compilers vectorise: sines are a polynomial without
branches, and loops store to local memory only. States of a block in which something is wrong are computed again one by
one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from string import Template

from fastdyn.scalars.tracing import Traced, shown
from fastdyn.specialize.c.helpers import HELPERS, LANES, Real, helper
from fastdyn.specialize.program import Program


@dataclass(frozen=True)
class Function:
    """A C function: its name without the prefix, its program, and for each condition the place in q it is about."""

    name: str
    program: Program
    places: tuple[int, ...] = ()

    @property
    def inputs(self) -> dict[str, int]:
        """The number of values of each input."""
        return {name: len(field) for name, field in self.program.inputs.items()}

    @property
    def outputs(self) -> dict[str, int]:
        """The number of values of each result."""
        return {name: len(field) for name, field in self.program.outputs.items()}

    def reduces(self, real: Real) -> bool:
        """Whether whole turns are taken off inputs: in single precision, where something is added to an angle."""
        nodes, graph = self.program.graph.nodes, self.program.graph
        waves = [nodes[k] for k in graph.live(self.program.results) if nodes[k][0] in ("sin", "cos")]
        return real.name == "float" and any(nodes[operands[0]][0] in ("+", "-", "neg") for _, operands in waves)

    def arguments(self, real: Real, restrict: str = "") -> str:
        """The parameters of the function of one state."""
        given = [f"const {real.name} {name}[{restrict}{size}]" for name, size in self.inputs.items()]
        return ", ".join(given + [f"{real.name} {name}[{restrict}{size}]" for name, size in self.outputs.items()])

    def columns(self, real: Real) -> str:
        """Those of the function of a batch."""
        given = [f"const {real.name} *const {name}[{size}]" for name, size in self.inputs.items()]
        found = [f"{real.name} *const {name}[{size}]" for name, size in self.outputs.items()]
        return ", ".join(["size_t count", *given, *found])


# ---------------------------------------------------------------------------------------------- statements


class Body:
    """The statements of a program: `before`, which compute its angles, and `after`, from inputs, sines and cosines.

    at: the text of an input's value; wave: that of "sin" or "cos" of angle number k, of "turn" number k, one of the
    inputs `turns` less whole turns, or of "choice" number k. apart: whether `after` cannot see the names of `before`;
    choices of constants by the signs of `rates`, as Coulomb friction has them, then come from outside as sines do.
    """

    def __init__(
        self,
        function: Function,
        prefix: str,
        real: Real,
        at: Callable[[str, int], str],
        wave: Callable[[str, int], str],
        apart: bool = False,
    ) -> None:
        self.program, self.places, self.prefix, self.real = function.program, function.places, prefix, real
        self.nodes, self.at, self.wave = self.program.graph.nodes, at, wave
        live = self.program.graph.live(self.program.results)
        self.waves = [k for k in live if self.nodes[k][0] in ("sin", "cos")]
        self.operands = list(dict.fromkeys(self.nodes[k][1][0] for k in self.waves))
        self.names: dict[int, str] = {}
        self.reduced: dict[int, str] = {}
        self.turns: list[str] = []
        self.count = 0
        self.lines: list[str] = []
        self.angles = [self._angle(k) for k in self.operands]
        self.choices = [k for k in live if apart and self._is_choice(k)]
        self.rates = [self._plain(self.nodes[k][1][0]) for k in self.choices]
        self.before, self.lines = self.lines, []
        if apart:
            self.names = {k: wave("choice", number) for number, k in enumerate(self.choices)}
        wanted = self._needed()
        for k in live:
            if k in wanted:
                self._plain(k)
        self.after = self.lines

    def value(self, x: Traced) -> str:
        """The text of a scalar, which may be negative."""
        if x.known is not None:
            return self.real.literal(x.known)
        return f"-{self._plain(x.node)}" if x.sign < 0 else self._plain(x.node)

    def stored(self, to: Callable[[str, int], str]) -> list[str]:
        """Statements that store the results; to: the text of a result's place."""
        fields = self.program.outputs.items()
        return [f"{to(name, k)} = {self.value(x)};" for name, field in fields for k, x in enumerate(field)]

    def check(self) -> list[str]:
        """Statements for `guard`: 0 if all results and inputs are finite, else NaN."""
        summed = sorted({x.node for field in self.program.outputs.values() for x in field if x.known is None})
        terms = [self._plain(k) for k in summed] + [self.at(*place) for place in self._hidden()]
        lines, total = [], terms[0]
        for k, term in enumerate(terms[1:]):
            lines.append(f"const {self.real.name} e{k} = {total} + {term};")
            total = f"e{k}"
        const = "" if self.program.conditions else "const "
        return [*lines, f"{const}{self.real.name} guard = {self.real.literal(0.0)} * {total};"]

    def conditions(self) -> list[tuple[str, str, int]]:
        """Each condition that may fail: a value, the bound that it must be above, and the place in q it is about."""
        found = []
        for condition, place in zip(self.program.conditions, self.places, strict=True):
            bound = condition.bound * self.real.rounding
            if condition.value.known is None or not condition.value.known > bound:
                found.append((self.value(condition.value), self.real.literal(bound), place))
        return found

    def constants(self, k: int) -> list[str]:
        """The constants that a choice has for positive and for negative values."""
        return [self.real.literal(self.nodes[x][1][0]) for x in self.nodes[k][1][1:]]

    def _is_choice(self, k: int) -> bool:
        """Whether a node is a choice between constants by the sign of something that depends on no sine."""
        operation, operands = self.nodes[k]
        if operation != "by_sign" or any(self.nodes[x][0] != "constant" for x in operands[1:]):
            return False
        graph = self.program.graph
        return all(self.nodes[x][0] not in ("sin", "cos") for x in graph.live([Traced(graph, operands[0])]))

    def _needed(self) -> set[int]:
        """The nodes that results depend on, other than through what comes from outside."""
        left = [x.node for x in self.program.results]
        found = set(left)
        while left:
            node = left.pop()
            operation, operands = self.nodes[node]
            if operation not in ("input", "constant", "sin", "cos") and node not in self.choices:
                fresh = set(operands) - found
                found |= fresh
                left += fresh
        return found

    def _hidden(self) -> list[tuple[str, int]]:
        """The inputs that need not make a result NaN or infinite if they are."""
        found = shown(self.nodes, [x.node for field in self.program.outputs.values() for x in field])
        fields = self.program.inputs.items()
        return [(name, k) for name, field in fields for k, x in enumerate(field) if x.node not in found]

    def _define(self, letter: str, text: str) -> str:
        name = f"{letter}{self.count}"
        self.count += 1
        self.lines.append(f"const {self.real.name} {name} = {text};")
        return name

    def _plain(self, k: int) -> str:
        """The text of a node; its statement is written first, if there is none yet."""
        operation, operands = self.nodes[k]
        if operation == "input":
            return self.at(*operands)
        if operation == "constant":
            text = self.real.literal(operands[0])
            return f"({text})" if text.startswith("-") else text
        if operation in ("sin", "cos"):
            return self.wave(operation, self.operands.index(operands[0]))
        if k not in self.names:
            texts = [self._plain(x) for x in operands]
            looked_up = self._is_choice(k)
            self.names[k] = self._define("t", self._looked_up(k) if looked_up else self._operation(operation, texts))
        return self.names[k]

    def _looked_up(self, k: int) -> str:
        """A choice between constants, without a branch, which compilers make of a conditional expression."""
        positive, negative = self.constants(k)
        x, zero, table = self._plain(self.nodes[k][1][0]), self.real.literal(0.0), f"f{self.count}"
        self.lines.append(f"static const {self.real.name} {table}[3] = {{{negative}, {zero}, {positive}}};")
        return f"{table}[1 + (({x} > {zero}) ? 1 : 0) - (({x} < {zero}) ? 1 : 0)]"

    def _operation(self, operation: str, texts: Sequence[str]) -> str:
        zero = self.real.literal(0.0)
        if operation in ("+", "-", "*", "/"):
            return f"{texts[0]} {operation} {texts[1]}"
        if operation == "neg":
            return f"-{texts[0]}"
        if operation == "sqrt":
            return f"sqrt{self.real.suffix}({texts[0]})"
        if operation == "by_sign":
            return f"({texts[0]} > {zero}) ? {texts[1]} : (({texts[0]} < {zero}) ? {texts[2]} : {zero})"
        assert operation == "where_above", f"there is no C for {operation}"
        return f"({texts[0]} > {texts[1]}) ? {texts[2]} : {texts[3]}"

    def _angle(self, k: int) -> str:
        """The text of an angle. In single precision, whole turns are taken off inputs before anything is added."""
        if self.nodes[k][0] == "input":
            return self._plain(k)
        return self._turned(k) if self.real.name == "float" else self._plain(k)

    def _turned(self, k: int) -> str:
        operation, operands = self.nodes[k]
        if operation not in ("input", "+", "-", "neg"):
            return self._plain(k)
        if k not in self.reduced:
            if operation == "input":
                self.turns.append(self._plain(k))
                self.reduced[k] = self.wave("turn", len(self.turns) - 1)
            else:
                self.reduced[k] = self._define("a", self._operation(operation, [self._turned(x) for x in operands]))
        return self.reduced[k]


# ---------------------------------------------------------------------------------------------- functions


def single(function: Function, prefix: str, real: Real, own: bool) -> list[str]:
    """The function of one state; own: with the sine without branches, not the C library's."""
    arrays = {"sin": "sine", "cos": "cosine"}
    used: set[str] = set()

    def wave(which: str, k: int) -> str:
        used.add(f"{which[0]}{k}")
        return f"{arrays.get(which, which)}[{k}]" if own or which == "turn" else f"{which[0]}{k}"

    body = Body(function, prefix, real, lambda name, k: f"{name}[{k}]", wave)
    stored, check = body.stored(lambda name, k: f"{name}[{k}]"), body.check()
    lines = []
    if size := len(body.turns):
        lines += [f"{real.name} position[{size}];", f"{real.name} turn[{size}];"]
        lines += [f"position[{k}] = {text};" for k, text in enumerate(body.turns)]
        lines.append(f"{prefix}_within_a_turn({size}u, position, turn);")
    lines += body.before
    if own and body.angles:
        size = len(body.angles)
        lines += [f"{real.name} angle[{size}];", f"{real.name} sine[{size}];", f"{real.name} cosine[{size}];"]
        lines += [f"angle[{k}] = {angle};" for k, angle in enumerate(body.angles)]
        lines.append(f"{prefix}_sincos({size}u, angle, sine, cosine);")
    elif not own:
        for k, angle in enumerate(body.angles):
            for which in ("sin", "cos"):
                if f"{which[0]}{k}" in used:
                    lines.append(f"const {real.name} {which[0]}{k} = {which}{real.suffix}({angle});")
    lines += [*body.after, *check]
    one, conditions = real.literal(1.0), body.conditions()
    if conditions:
        lines.append("int failed = 0;")
        lines += [f"failed += ({value} > {bound}) ? 0 : 1;" for value, bound, _ in conditions]
        lines.append(f"guard = guard + ({real.name})failed;")
    lines += ["int status = 0;", *stored]
    lines += [
        f"if (!(guard < {one})) {{ /* something is wrong: what? */",
        *(f"    {line}" for line in _status(function, prefix, real, body)),
        "}",
        "return status;",
    ]
    return [f"int {prefix}_{function.name}({function.arguments(real, 'restrict ')})", *_braces(lines)]


def _status(function: Function, prefix: str, real: Real, body: Body) -> list[str]:
    """Statements that find out what is wrong."""

    def not_finite(fields: Mapping[str, int]) -> str:
        return " + ".join(f"{prefix}_not_finite({size}u, {name})" for name, size in fields.items())

    lines, otherwise = [f"if (({not_finite(function.inputs)}) > 0) {{", "    status = 1;"], "} else {"
    inside, word = [], "if"
    for value, bound, place in body.conditions():
        finite = f"{real.literal(0.0)} * ({value}) < {real.literal(1.0)}"
        inside += [f"{word} (({finite}) && !({value} > {bound})) {{", f"    status = {2 * (place + 1)};"]
        word = "} else if"
    inside += ["} else {", "    status = 0;", "}"] if inside else []
    inside.append(f"status += (({not_finite(function.outputs)}) > 0) ? 1 : 0;")
    return [*lines, otherwise, *(f"    {line}" for line in inside), "}"]


def block(function: Function, prefix: str, real: Real) -> list[str]:
    """The static function of LANES states, from columns to local memory."""
    used: dict[tuple[str, int], None] = {}

    def at(name: str, k: int) -> str:
        used[name, k] = None
        return f"{name}{k}[i]"

    arrays = {"sin": "sine", "cos": "cosine"}
    body = Body(function, prefix, real, at, lambda a, k: f"{arrays.get(a, a)}[{k}u * LANES + i]", apart=True)
    rest = [*body.after, *body.check(), *body.stored(lambda name, k: f"{name}[{k}u * LANES + i]"), "check[i] = guard;"]
    conditions = body.conditions()
    rest += [f"value[{k}u * LANES + i] = {value};" for k, (value, _, _) in enumerate(conditions)]
    angles = len(body.angles)
    sizes = {"turn": len(body.turns), "sine": angles, "cosine": angles, "choice": len(body.choices)}
    # inputs are taken from their columns, sums of them from a local array
    summed = [text for text in dict.fromkeys([*body.angles, *body.rates]) if not text.endswith("[i]")]
    sizes |= {"operand": len(summed), "value": len(conditions)}

    def column(text: str) -> str:
        return f"&operand[{summed.index(text)}u * LANES]" if text in summed else text.removesuffix("[i]")

    lines = [f"const {real.name} *const {name}{k} = &{name}[{k}][first];" for name, k in used]
    lines += [f"{real.name} {name}[{size}u * LANES];" for name, size in sizes.items() if size]
    lines.append("size_t i;")
    for k, text in enumerate(body.turns):
        lines.append(f"{prefix}_within_a_turn(LANES, {column(text)}, &turn[{k}u * LANES]);")
    if summed:
        lines += _loop([*body.before, *(f"operand[{k}u * LANES + i] = {text};" for k, text in enumerate(summed))])
    for k, text in enumerate(body.angles):
        lines.append(f"{prefix}_sincos(LANES, {column(text)}, &sine[{k}u * LANES], &cosine[{k}u * LANES]);")
    for k, (node, text) in enumerate(zip(body.choices, body.rates, strict=True)):
        chosen = ", ".join(body.constants(node))
        lines.append(f"{prefix}_by_sign({column(text)}, {chosen}, &choice[{k}u * LANES]);")
    lines += _loop(rest)
    lines += [f"{prefix}_require(&value[{k}u * LANES], {low}, check);" for k, (_, low, _) in enumerate(conditions)]
    given = [f"const {real.name} *const {name}[{size}]" for name, size in function.inputs.items()]
    found = [f"{real.name} *restrict {name}" for name in (*function.outputs, "check")]
    head = ", ".join(["size_t first", *given, *found])
    return [f"static void {prefix}_{function.name}_block({head})", *_braces(lines)]


def batch(function: Function, prefix: str, real: Real) -> list[str]:
    """The function of a batch: block by block."""
    fields = {**function.inputs, **function.outputs}
    name, kind = f"{prefix}_{function.name}", real.name
    lines = []
    for field, size in function.inputs.items():
        lines += [f"{kind} {field}_rest[{size}u * LANES];", f"const {kind} *{field}_columns[{size}];"]
    lines += [f"{kind} {field}_block[{size}u * LANES];" for field, size in function.outputs.items()]
    lines += [f"{kind} check[LANES];", "int status = 0;", "size_t first;", "size_t i;"]
    loop = ["const size_t size = ((count - first) < LANES) ? (count - first) : LANES;", "size_t wrong = 0u;"]
    results = [f"{field}_block" for field in function.outputs]
    whole = ", ".join(["first", *function.inputs, *results, "check"])
    part = ", ".join(["0u", *(f"{field}_columns" for field in function.inputs), *results, "check"])
    loop += ["if (size == LANES) {", f"    {name}_block({whole});", "} else {"]
    for field, size in function.inputs.items():
        loop.append(f"    {prefix}_take({size}u, {field}, first, size, {field}_rest, {field}_columns);")
    loop += [f"    {name}_block({part});", "}"]
    loop += ["for (i = 0u; i < LANES; i++) {", f"    wrong += (check[i] < {real.literal(1.0)}) ? 0u : 1u;", "}"]
    again = [f"{kind} one_{field}[{size}];" for field, size in fields.items()]
    again += ["int found;", "size_t k;"]
    for field, size in function.inputs.items():
        again += [f"for (k = 0u; k < {size}u; k++) {{", f"    one_{field}[k] = {field}[k][first + i];", "}"]
    again.append(f"found = {name}({', '.join(f'one_{field}' for field in fields)});")
    again.append("status = (status == 0) ? found : status;")
    for field, size in function.outputs.items():
        again += [f"for (k = 0u; k < {size}u; k++) {{", f"    {field}_block[k * LANES + i] = one_{field}[k];", "}"]
    loop += ["if (wrong > 0u) { /* something is wrong: one by one */"]
    loop += ["    for (i = 0u; i < size; i++) {", *(f"        {line}" for line in again), "    }", "}"]
    loop += [f"{prefix}_give({size}u, {f}_block, first, size, {f});" for f, size in function.outputs.items()]
    lines += ["for (first = 0u; first < count; first += LANES) {", *(f"    {line}" for line in loop), "}"]
    lines.append("return status;")
    return [f"int {name}_batch({function.columns(real)})", *_braces(lines)]


def _loop(lines: Iterable[str]) -> list[str]:
    return ["for (i = 0u; i < LANES; i++) {", *(f"    {line}" for line in lines), "}"]


def _braces(lines: Iterable[str]) -> list[str]:
    return ["{", *(f"    {line}" for line in lines), "}"]


# ---------------------------------------------------------------------------------------------- the file

FILE = """\
${banner}
#include "${prefix}.h"

#include <float.h>
#include <math.h>

#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(_M_FP_FAST)
#error "-ffast-math and the like remove the checks for NaN and break the reduction of angles: compile without"
#endif
#if defined(__FINITE_MATH_ONLY__)
#if __FINITE_MATH_ONLY__ != 0
#error "-ffinite-math-only removes the checks for NaN: compile without"
#endif
#endif
#if defined(FLT_EVAL_METHOD)
#if FLT_EVAL_METHOD != 0
#error "expected arithmetic in the precision of its type (FLT_EVAL_METHOD 0): on x86 use -msse2 -mfpmath=sse"
#endif
#endif
${lanes}
"""


def source(
    functions: Sequence[Function], prefix: str, real: Real, own: bool, batches: bool, banner: str, fingerprint: str
) -> str:
    """The C file of some functions."""
    parts: list[str] = []
    for function in functions:
        parts.append("\n".join(single(function, prefix, real, own)) + "\n")
        if batches:
            parts.append("\n".join(block(function, prefix, real)) + "\n")
            parts.append("\n".join(batch(function, prefix, real)) + "\n")
    text = "\n".join(parts)
    helpers = [helper(name, prefix, real) for name in HELPERS if f"{prefix}_{name}(" in text]
    lanes = f"\n#define LANES {LANES}u /* states in a block of a batch */\n" * batches
    head = Template(FILE).substitute(banner=banner, prefix=prefix, lanes=lanes)
    named = f'const char *{prefix}_fingerprint(void)\n{{\n    return "{fingerprint}";\n}}\n'
    return "\n".join([head, *helpers, text, named])
