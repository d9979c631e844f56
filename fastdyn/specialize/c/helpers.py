"""Floating-point types of C, and the static functions that generated source calls: sines, signs, blocks of states."""

from __future__ import annotations

from dataclasses import dataclass
from string import Template
from typing import Any

import numpy as np

from fastdyn.errors import ArgumentError
from fastdyn.scalars.trigonometry import RECIPES

LANES = 16  # states in a block: two registers of AVX-512 in double precision, one in single


@dataclass(frozen=True)
class Real:
    """A floating-point type of C."""

    name: str
    suffix: str  # of constants and of functions of the C library
    dtype: np.dtype[Any]

    @property
    def recipe(self) -> Any:
        """How sine and cosine are computed."""
        return RECIPES[8 * self.dtype.itemsize]

    @property
    def rounding(self) -> float:
        """Its eps, over that of float64."""
        return float(np.finfo(self.dtype).eps / np.finfo(np.float64).eps)

    def literal(self, value: float) -> str:
        """A constant, with as many digits as give the same number back."""
        with np.errstate(over="ignore", under="ignore"):
            rounded = self.dtype.type(value)
        if not np.isfinite(rounded):
            raise ArgumentError(f"a constant of the robot is {value!r}: expected all within the range of {self.name}")
        text = f"{rounded:.{17 if self.name == 'double' else 9}g}"
        return text + ".0" * text.lstrip("-").isdigit() + self.suffix


REALS = {"double": Real("double", "", np.dtype(np.float64)), "float": Real("float", "f", np.dtype(np.float32))}


HELPERS = {
    "sincos": """\
/* Sine and cosine without branches: ${accuracy} up to ${range} rad,
 * NaN beyond. Reduction to [-pi/4, pi/4] by Cody and Waite, then ${authors} polynomials. */
static void ${prefix}_sincos(size_t count, const ${real} *restrict x, ${real} *restrict s, ${real} *restrict c)
{
    size_t i;
    for (i = 0u; i < count; i++) {
        const ${real} angle = x[i];
        const ${real} shifted = angle * ${two_over_pi} + ${magic};
        const ${real} k = shifted - ${magic}; /* quarter turns: adding the large number rounds */
        const ${real} r1 = angle - k * ${pi0};
        const ${real} r2 = r1 - k * ${pi1};
        const ${real} r = r2 - k * ${pi2};
        const ${real} z = r * r;
${polynomials}
        const ${real} sine = r + (r * z) * ${last_sin};
        const ${real} cosine = (${one} - ${half} * z) + (z * z) * ${last_cos};
        const ${real} shifted_half = (k * ${half} - ${quarter}) + ${magic};
        const ${real} halves = shifted_half - ${magic}; /* half turns, rounded down */
        const ${real} odd = k - ${two} * halves; /* 1 if sine and cosine are exchanged, else 0 */
        const ${real} shifted_turn = (halves * ${half} - ${quarter}) + ${magic};
        const ${real} turns = shifted_turn - ${magic}; /* whole turns, rounded down */
        const ${real} sign = ${one} - ${two} * (halves - ${two} * turns); /* -1 after an odd number of half turns */
        const ${real} even = ${one} - odd;
        const ${real} s0 = odd * cosine + even * sine;
        const ${real} c0 = even * cosine - odd * sine;
        const ${real} far = (angle * angle <= ${squared}) ? ${zero} : (${real})NAN;
        s[i] = sign * s0 + far;
        c[i] = sign * c0 + far;
    }
}
""",
    "within_a_turn": """\
/* Angles less whole turns, in [-pi, pi] up to rounding; NaN beyond ${range} rad. The sum of a large angle and an
 * offset has the spacing of its size: turns are taken off first. */
static void ${prefix}_within_a_turn(size_t count, const ${real} *restrict x, ${real} *restrict turned)
{
    size_t i;
    for (i = 0u; i < count; i++) {
        const ${real} shifted = x[i] * ${over_turn} + ${magic};
        const ${real} turns = shifted - ${magic};
        const ${real} r0 = x[i] - turns * ${turn0};
        const ${real} r1 = r0 - turns * ${turn1};
        const ${real} r2 = r1 - turns * ${turn2};
        const ${real} far = (x[i] * x[i] <= ${squared}) ? ${zero} : (${real})NAN;
        turned[i] = r2 + far;
    }
}
""",
    "not_finite": """\
/* 1 if some of the values are NaN or infinite, else 0. */
static int ${prefix}_not_finite(size_t count, const ${real} *x)
{
    int found = 0;
    size_t i;
    for (i = 0u; i < count; i++) {
        found = (${zero} * x[i] < ${one}) ? found : 1;
    }
    return found;
}
""",
    "by_sign": """\
/* Constants by the signs of values: Coulomb friction. A loop of its own, which compilers turn into no branches. */
static void ${prefix}_by_sign(const ${real} *restrict x, ${real} positive, ${real} negative, ${real} *restrict choice)
{
    size_t i;
    for (i = 0u; i < LANES; i++) {
        const ${real} above = (x[i] > ${zero}) ? positive : ${zero};
        const ${real} below = (x[i] < ${zero}) ? negative : ${zero};
        choice[i] = above + below;
    }
}
""",
    "require": """\
/* Sets check to 1 where a value is not above a bound; a loop of its own, too. */
static void ${prefix}_require(const ${real} *restrict value, ${real} bound, ${real} *restrict check)
{
    size_t i;
    for (i = 0u; i < LANES; i++) {
        check[i] = (value[i] > bound) ? check[i] : ${one};
    }
}
""",
    "take": """\
/* Columns of a last, partial block, filled up with its last state. */
static void ${prefix}_take(size_t columns, const ${real} *const from[], size_t first, size_t size, ${real} *block,
                           const ${real} *to[])
{
    size_t k;
    size_t i;
    for (k = 0u; k < columns; k++) {
        for (i = 0u; i < LANES; i++) {
            block[k * LANES + i] = from[k][first + ((i < size) ? i : (size - 1u))];
        }
        to[k] = &block[k * LANES];
    }
}
""",
    "give": """\
/* Results of a block into their columns. */
static void ${prefix}_give(size_t columns, const ${real} *block, size_t first, size_t size, ${real} *const to[])
{
    size_t k;
    size_t i;
    for (k = 0u; k < columns; k++) {
        ${real} *const column = &to[k][first];
        if (size == LANES) {
            for (i = 0u; i < LANES; i++) {
                column[i] = block[k * LANES + i];
            }
        } else {
            for (i = 0u; i < size; i++) {
                column[i] = block[k * LANES + i];
            }
        }
    }
}
""",
}  # fmt: skip


def helper(name: str, prefix: str, real: Real) -> str:
    """The source of a static function that others call."""
    recipe, lit = real.recipe, real.literal
    polynomials = []
    for wave, coefficients in (("sin", recipe.sin), ("cos", recipe.cos)):
        text = lit(coefficients[-1])
        for k, coefficient in reversed(list(enumerate(coefficients[:-1]))):
            polynomials.append(f"        const {real.name} {wave}{k} = {lit(coefficient)} + z * {text};")
            text = f"{wave}{k}"
    single = real.name == "float"
    names = {
        "prefix": prefix, "real": real.name, "zero": lit(0.0), "one": lit(1.0), "half": lit(0.5), "two": lit(2.0),
        "quarter": lit(0.25), "magic": lit(recipe.magic), "two_over_pi": lit(2 / np.pi), "over_turn": lit(0.5 / np.pi),
        **{f"pi{k}": lit(part) for k, part in enumerate(recipe.half_pi)},
        **{f"turn{k}": lit(4 * part) for k, part in enumerate(recipe.half_pi)},
        "polynomials": "\n".join(polynomials), "last_sin": "sin0", "last_cos": "cos0",
        "squared": lit(recipe.range**2), "range": f"{recipe.range:.0f}", "accuracy": accuracy(real),
        "authors": "Cephes'" if single else "fdlibm's",
    }  # fmt: skip
    return Template(HELPERS[name]).substitute(names)


def accuracy(real: Real) -> str:
    """What is stated, and tested, of the sine without branches."""
    return "within 1.2e-7 of the true value" if real.name == "float" else "within 2.3e-16 of the true value"
