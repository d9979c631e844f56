"""Terms that cancel across a rotation: of s (a + x) + c (b + y), s x + c y may vanish for all inputs.

So do moments that the first joint's own velocity causes on the links after it: they have no component along its axis.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

from fastdyn.specialize.algebra.network import ONE, PRIME, Network, Terms, collected, same


class _Part(NamedTuple):
    """A term of a sum: scale x factor x inner, where the product and the inner sum are used nowhere else."""

    term: int
    scale: float
    factor: int
    inner: int


def cancel_across(network: Network) -> bool:
    """Drops such terms from all sums; whether there were any."""
    changed = False
    uses = network.uses()
    for v in network.order():
        for one, other in combinations(_parts(network, v, uses), 2):
            if one.term in network.terms[v] and other.term in network.terms[v] and one.term != other.term:
                changed |= _cancel(network, v, one, other)
    return changed


def _parts(network: Network, v: int, uses: dict[int, int]) -> list[_Part]:
    found = []
    for w, scale in network.terms.get(v, {}).items():
        factors = network.factors.get(w, ())
        if len(factors) == 2 and uses[w] == 1:
            for f, inner in (factors, factors[::-1]):
                if f not in network.terms and inner in network.terms and uses[inner] == 1:
                    found.append(_Part(w, scale, f, inner))
    return found


def _cancel(network: Network, v: int, one: _Part, other: _Part) -> bool:
    """Whether two terms of a sum had parts that cancel."""
    first, second = ({x: c for x, c in written_out(network, part.inner).items() if x != ONE} for part in (one, other))
    marks = {network.prints[one.factor] * network.prints[x] % PRIME: x for x in first}
    gone: tuple[set[int], set[int]] = set(), set()
    for y, c in second.items():
        mark = network.prints[other.factor] * network.prints[y] % PRIME
        for sign, x in ((1, marks.get(mark)), (-1, marks.get(PRIME - mark))):
            if x is not None:
                a, b = one.scale * first[x], other.scale * c
                if same(a, b) and a * b * sign < 0:
                    gone[0].add(x)
                    gone[1].add(y)
    if not gone[0]:
        return False
    rest = {w: c for w, c in network.terms[v].items() if w not in (one.term, other.term)}
    for part, which in zip((one, other), gone, strict=True):
        terms: Terms = {}
        for w, c in network.terms[part.inner].items():
            inner = network.terms.get(w, {})
            terms = collected(terms, {x: c * k for x, k in inner.items()} if which & set(inner) else {w: c})
        left = network.sum({x: c for x, c in terms.items() if x not in which}, v)
        scale, product = network.product([(part.scale, part.factor), left], v)
        rest = collected(rest, {product: scale} if scale else {})
    network.terms[v] = rest
    return True


def written_out(network: Network, v: int) -> Terms:
    """A sum, with the sums in it written out."""
    found: Terms = {}
    for w, c in network.terms[v].items():
        found = collected(found, {x: c * k for x, k in network.terms.get(w, {w: 1.0}).items()})
    return found
