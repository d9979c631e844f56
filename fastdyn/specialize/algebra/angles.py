"""Parallel axes: vectors that are rotated twice about one direction are rotated once, by the sum of the angles."""

from __future__ import annotations

from collections import Counter, defaultdict

from fastdyn.specialize.algebra.network import ONE, Network, Ref, Terms, collected, same

Turn = tuple[int, int]  # the values of a sine and a cosine


def turns(network: Network) -> list[Turn]:
    """Sines and cosines of one angle, and those of sums of angles that were added."""
    found: dict[Ref, dict[str, int]] = defaultdict(dict)
    for v in network.order():
        operation, operands = network.calls.get(v, ("", ()))
        if operation in ("sin", "cos"):
            found[operands[0]][operation] = v
    return [(pair["sin"], pair["cos"]) for pair in found.values() if len(pair) == 2] + network.turns


def parallel(network: Network) -> list[tuple[Turn, Turn, int]]:
    """Pairs of angles, one after the other, whose sum (1) or difference (-1) may be worth computing."""
    of = {f: turn for turn in turns(network) for f in turn}
    found: dict[tuple[Turn, Turn, int], None] = {}
    for v in network.order():
        for second in {of[f]: None for f in network.factors.get(v, ()) if f in of}:
            for w in network.factors[v]:
                inner = network.terms.get(w, (w,))
                for first in {of[f]: None for u in inner for f in network.factors.get(u, ()) if f in of}:
                    if first != second:
                        for pair in ((first, second), (second, first)):
                            found |= {(*pair, sign): None for sign in (1, -1)}
    return list(found)


def add_angles(network: Network, first: Turn, second: Turn, sign: int) -> bool:
    """Uses the sine and the cosine of first + sign second in the sums that can; whether any could."""
    (sa, ca), (sb, cb) = first, second
    products = [network.product([(1.0, x), (1.0, y)]) for x, y in ((sa, cb), (ca, sb), (ca, cb), (sa, sb))]
    (k0, p0), (k1, p1), (k2, p2), (k3, p3) = products
    sine = network.sum({p0: k0, p1: sign * k1})
    cosine = network.sum({p2: k2, p3: -sign * k3})
    made = {sine[1], cosine[1], p0, p1, p2, p3}
    changed = False
    live = network.order()
    waves = (sine, cosine)
    uses = network.uses()
    vectors = turned_vectors(network, live, first, second, waves)
    for v in live:
        if v in network.terms and v not in made and mixes(network, v, first, second):
            changed |= turned_once(network, v, vectors, set(live)) or summed_once(
                network, v, first, second, sign, waves, uses
            )
    if changed:
        network.turns.append((sine[1], cosine[1]))
        network.resolve(
            {v: next(((c, w) for w, c in t.items()), (0.0, ONE)) for v, t in network.terms.items() if len(t) < 2}
        )
    return changed


def mixes(network: Network, v: int, first: Turn, second: Turn) -> bool:
    """Whether a sum has a product with one of the angles."""
    return any(f in network.factors.get(w, ()) for w in network.terms[v] for f in first + second)


def turned_vectors(
    network: Network, live: list[int], first: Turn, second: Turn, waves: tuple[Ref, Ref]
) -> list[tuple[int, list[list[Ref]]]]:
    """Components of the vectors that the first angle turns, turned by the sum: fingerprints, and their products."""
    found: dict[tuple[tuple[int, int, int], ...], None] = {}  # sign, wave, coordinate
    (sine, cosine) = first
    for v in live:
        for x in with_factor(network, {v: 1.0}, sine) | with_factor(network, {v: 1.0}, cosine):
            found |= {((sign, wave, x),): None for _, wave in waves for sign in (1, -1) if x not in second}
    for v in live:
        terms = network.terms.get(v, {})
        for x in with_factor(network, terms, sine):
            for y in with_factor(network, terms, cosine):
                for a, b in ((x, y), (y, x)):
                    found |= {((i, waves[0][1], a), (k, waves[1][1], b)): None for i in (1, -1) for k in (1, -1)}
    prints = network.prints
    return [
        (
            sum(i * prints[wave] * prints[x] for i, wave, x in parts),
            [[(1.0 * i, wave), (1.0, x)] for i, wave, x in parts],
        )
        for parts in found
    ]


def turned_once(network: Network, v: int, vectors: list[tuple[int, list[list[Ref]]]], live: set[int]) -> bool:
    """v = a component + rest, where the rest is known: outward rotations."""
    for mark, products in vectors:
        rest = network.equal(network.prints[v] - mark, network.sizes[v], v)
        known = rest is not None and (not rest[0] or rest[1] in live)
        if rest is not None and known and not any(network.depends(x, v) for given in products for _, x in given):
            terms = {rest[1]: rest[0]} if rest[0] else {}
            for given in products:
                c, product = network.product(given, v)
                terms = collected(terms, {product: c})
            network.terms[v] = terms
            return True
    return False


def summed_once(
    network: Network, v: int, first: Turn, second: Turn, sign: int, waves: tuple[Ref, Ref], uses: Counter[int]
) -> bool:
    """sa (cb x + ...) + ca (sb x + ...) = sine x + ...: inward rotations."""
    inner: dict[int, tuple[int, int]] = {}  # for the sine and the cosine of `first`: the product and the sum in it
    for w in network.terms[v]:
        factors = network.factors.get(w, ())
        if len(factors) == 2 and uses[w] == 1:
            for f, g in (factors, factors[::-1]):
                if f in first and g in network.terms and uses[g] == 1:
                    inner[f] = w, g
    if len(inner) < 2:
        return False
    (sa, ca), (sb, cb) = first, second
    (ws, a), (wc, b) = inner[sa], inner[ca]
    terms = network.terms[v]
    alpha, beta = terms[ws], terms[wc]
    left, right, moved = dict(network.terms[a]), dict(network.terms[b]), dict[int, float]()
    for fa, fb, wave, relative in ((cb, sb, waves[0], sign), (sb, cb, waves[1], -sign)):
        others = with_factor(network, network.terms[b], fb)
        for x, pa in with_factor(network, network.terms[a], fa).items():
            if x not in others or uses[pa] > 1 or uses[others[x]] > 1:
                continue
            # alpha sa fa x + beta ca fb x, with the scales of both products
            first_scale, second_scale = alpha * left[pa], beta * right[others[x]]
            if same(first_scale, second_scale) and (first_scale * second_scale > 0) == (relative > 0):
                c, product = network.product([wave, (first_scale if fa == cb else second_scale, x)], v)
                moved = collected(moved, {product: c})
                del left[pa], right[others[x]]
    if not moved:
        return False
    rest = {w: c for w, c in terms.items() if w not in (ws, wc)}
    for f, scale, part in ((sa, alpha, left), (ca, beta, right)):
        c, product = network.product([(scale, f), network.sum(part, v)], v)
        rest = collected(rest, {product: c} if c else {})
    network.terms[v] = collected(rest, moved)
    return True


def with_factor(network: Network, terms: Terms, f: int) -> dict[int, int]:
    """The products of two in a sum that have a factor, by the other factor."""
    found = {}
    for w in terms:
        factors = network.factors.get(w, ())
        if len(factors) == 2 and f in factors:
            found[factors[0] if factors[1] == f else factors[1]] = w
    return found
