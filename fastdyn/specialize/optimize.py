"""Fewer operations: a program rewritten by algebra that holds for all inputs, on a new graph.

A rewritten sum has no larger terms than the text's: terms cancel before they are computed, never after.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations
from typing import Any

from fastdyn.scalars.tracing import Graph, Traced
from fastdyn.specialize.network import ONE, Network, Ref, Terms, collected
from fastdyn.specialize.program import Program
from fastdyn.specialize.schedule import compact

ROUNDS = 6  # of rewriting: most programs change no more after three


def optimized(program: Program) -> Program:
    """The same results from fewer operations; the nodes of the new graph are live and in the order of computation."""
    network = Network(program)
    for _ in range(ROUNDS):
        before = cost_of(network)
        flatten(network)
        collect(network)
        factor(network)
        share(network)
        if cost_of(network) >= before:
            break
    group(network)
    share(network)
    return compact(emitted(network, program))


# ---------------------------------------------------------------------------------------------- cost


def cost(terms: Terms) -> int:
    """Operations of a sum: its additions, and a multiplication for every scale other than 1, up to sign."""
    scales = {f"{abs(c):.13e}" for v, c in terms.items() if v != ONE}
    return len(terms) - 1 + len(scales - {f"{1:.13e}"})


def cost_of(network: Network) -> int:
    """Operations of all sums and products."""
    live = network.order()
    sums = sum(cost(network.terms[v]) for v in live if v in network.terms)
    return sums + sum(len(network.factors[v]) - 1 for v in live if v in network.factors)


# ---------------------------------------------------------------------------------------------- rewriting


def flatten(network: Network) -> None:
    """Inlines sums into sums and products into products, where they are used once."""
    uses = network.uses()
    for v in network.order():
        if v in network.terms:
            for w in list(network.terms[v]):
                if w in network.terms and uses[w] == 1:
                    network.terms[v] = inlined(network, network.terms[v], [w])
        elif v in network.factors:
            single = {w for w in network.factors[v] if w in network.factors and uses[w] == 1}
            factors = [f for w in network.factors[v] for f in (network.factors[w] if w in single else (w,))]
            network.factors[v] = tuple(sorted(factors))
    settle(network)


def inlined(network: Network, terms: Terms, which: list[int]) -> Terms:
    """A sum with some of its terms, which are sums, written out."""
    found = {v: c for v, c in terms.items() if v not in which}
    for w in which:
        scale = terms[w]
        found = collected(found, {v: scale * c for v, c in network.terms[w].items()})
    return found


def settle(network: Network) -> None:
    """Replaces sums that have become one term, or none, by that."""
    aliases: dict[int, Ref] = {}
    for v in network.order():
        terms = network.terms.get(v)
        if terms is not None and len(terms) < 2:
            aliases[v] = next(((c, w) for w, c in terms.items()), (0.0, ONE))
    network.resolve(aliases)


def collect(network: Network) -> None:
    """Inlines one or two sums into a sum that then costs no more, because terms cancel or collect."""
    for v in network.order():
        while v in network.terms and collect_once(network, v):
            pass
    settle(network)


def collect_once(network: Network, v: int) -> bool:
    """Whether a sum was changed."""
    terms = network.terms[v]
    inner = [w for w in terms if w in network.terms]
    best, least = None, cost(terms)
    for which in [[w] for w in inner] + [list(pair) for pair in combinations(inner, 2)]:
        parts = [set(network.terms[w]) for w in which] + [set(terms)]
        if sum(map(len, parts)) == len(set().union(*parts)):
            continue  # nothing to collect
        found = inlined(network, terms, which)
        if cost(found) <= least:
            best, least = found, cost(found)
    if best is not None:
        network.terms[v] = best
    return best is not None


def factor(network: Network) -> None:
    """a b + a c = a (b + c), where that saves multiplications."""
    for v in network.order():
        uses = network.uses()
        while v in network.terms and factor_once(network, v, uses):
            uses = network.uses()
    settle(network)


def factor_once(network: Network, v: int, uses: Counter[int]) -> bool:
    """Whether a sum was changed."""
    terms = network.terms[v]
    found: dict[int, list[int]] = defaultdict(list)
    for w in terms:
        for f in sorted(set(network.factors.get(w, (w,) if w != ONE else ()))):
            found[f].append(w)
    best: Any = None
    for f, which in found.items():
        if len(which) < 2:
            continue
        gain = sum(1 for w in which if uses[w] == 1 and w != f) - 1
        if best is None or gain > best[0]:
            best = gain, f, which
    if best is None or best[0] < 1:
        return False
    _, f, which = best
    inner: Terms = {}
    for w in which:
        others = [] if w == f else without(network.factors[w], f)
        scale, rest = network.product([(terms[w], ONE), *((1.0, x) for x in others)], v)
        inner = collected(inner, {rest: scale})
    total = network.sum(inner, v)
    scale, product = network.product([(1.0, f), total], v)
    network.terms[v] = collected({w: c for w, c in terms.items() if w not in which}, {product: scale})
    return True


def without(factors: tuple[int, ...], f: int) -> list[int]:
    """Factors without one of them, once."""
    left = list(factors)
    left.remove(f)
    return left


def share(network: Network) -> None:
    """Computes pairs of terms, and pairs of factors, that several sums or products have in common once."""
    while share_terms(network):
        pass
    while share_factors(network):
        pass


def share_terms(network: Network) -> bool:
    """Whether a pair of terms was made a sum of its own."""
    found: dict[Any, list[int]] = defaultdict(list)
    for v in network.order():
        if v in network.terms:
            for (a, x), (b, y) in combinations(sorted(network.terms[v].items()), 2):
                if a != ONE:
                    found[a, b, f"{y / x:.13e}"].append(v)
    best: Any = None
    for (a, b, _), which in found.items():
        if len(which) > 1:
            pair = {a: 1.0, b: network.terms[which[0]][b] / network.terms[which[0]][a]}
            gain = -cost(pair)
            for v in which:
                terms = network.terms[v]
                if len(terms) == 2:
                    gain += cost(terms) - (abs(terms[a]) != 1)
                else:
                    gain += cost(terms) - cost({w: c for w, c in terms.items() if w not in (a, b)} | {-1: terms[a]})
            if gain > 0 and (best is None or gain > best[0]):
                best = gain, a, b, which
    if best is None:
        return False
    _, a, b, which = best
    exact = next((v for v in which if len(network.terms[v]) == 2), None)
    if exact is None:
        one = network.terms[which[0]]
        scale, pair = network.sum({a: 1.0, b: one[b] / one[a]}, which[0])
    else:
        scale, pair = 1 / network.terms[exact][a], exact
    for v in which:
        if v == pair or network.depends(pair, v):
            continue
        terms = network.terms[v]
        rest = {w: c for w, c in terms.items() if w not in (a, b)}
        network.terms[v] = collected(rest, {pair: terms[a] * scale})
    settle(network)
    return True


def share_factors(network: Network) -> bool:
    """Whether a pair of factors was made a product of its own."""
    found: dict[Any, list[int]] = defaultdict(list)
    for v in network.order():
        if v in network.factors and len(network.factors[v]) > 1:
            for both in sorted(set(combinations(network.factors[v], 2))):
                found[both].append(v)
    best = max(found.items(), key=lambda item: len(item[1]), default=None)
    if best is None or len(best[1]) < 2:
        return False
    (a, b), which = best
    _, pair = network.product([(1.0, a), (1.0, b)], which[0])
    changed = False
    for v in which:
        if v != pair and not network.depends(pair, v):
            network.factors[v] = tuple(sorted([pair, *without(tuple(without(network.factors[v], a)), b)]))
            changed = True
    return changed


def group(network: Network) -> None:
    """k a + k b = k (a + b), for constants k."""
    for v in network.order():
        if v in network.terms:
            groups: dict[str, list[int]] = defaultdict(list)
            for w, c in network.terms[v].items():
                if w != ONE:
                    groups[f"{abs(c):.13e}"].append(w)
            for which in groups.values():
                terms = network.terms[v]
                scale = abs(terms[which[0]])
                if len(which) > 1 and (scale != 1 and len(which) < len(terms)):
                    total, inner = network.sum({w: terms[w] / scale for w in which}, v)
                    rest = {w: c for w, c in terms.items() if w not in which}
                    network.terms[v] = collected(rest, {inner: scale * total})
    settle(network)


# ---------------------------------------------------------------------------------------------- a graph again


def emitted(network: Network, program: Program) -> Program:
    """The program of a network, on a new graph."""
    graph = Graph()
    uses = network.uses()
    done: dict[int, Traced] = {}

    def scaled(scale: float, x: Traced) -> Traced:
        return graph.constant(scale) * x

    for v in network.order():
        if v in network.terms:
            done[v] = sum_of(network, graph, done, uses, v)
        elif v in network.factors:
            factors = network.factors[v]
            inverses = [w for w in factors if network.calls.get(w, ("",))[0] == "inverse"]
            last = next((w for w in inverses if uses[w] == 1), None)
            result: Traced | None = None
            for w in factors:
                if w != last:
                    result = done[w] if result is None else result * done[w]
            assert result is not None
            if last is not None:
                ((scale, below),) = network.calls[last][1]
                result = result / scaled(scale, done[below])
            done[v] = result
        else:
            operation, operands = network.calls[v]
            if operation == "input":
                done[v] = graph.input(*operands)
            elif operation == "constant":
                done[v] = graph.constant(*operands)
            else:
                x, *rest = (scaled(scale, done[w]) for scale, w in operands)
                done[v] = call(operation, x, rest)
    results = [scaled(scale, done[v]) for scale, v in network.results]
    return program.rebuilt(graph, results)


def call(operation: str, x: Traced, rest: list[Traced]) -> Traced:
    """A function of scalars."""
    if operation in ("sin", "cos"):
        return x.sincos()[operation == "cos"]
    if operation == "inverse":
        return 1.0 / x
    made: Traced = getattr(x, operation)(*rest)
    return made


def sum_of(network: Network, graph: Graph, done: dict[int, Traced], uses: Counter[int], v: int) -> Traced:
    """A sum: first what is no product, then products, which fuse with an addition each."""
    groups: dict[str, list[int]] = defaultdict(list)
    terms = network.terms[v]
    parts = []
    for w, c in terms.items():
        groups[f"{abs(c):.13e}" if w != ONE else "one"].append(w)
    for which in groups.values():
        scale = abs(terms[which[0]])
        signed = [(w, 1 if terms[w] > 0 else -1) for w in which]
        if scale == 1 or len(which) == 1:
            for w, sign in signed:
                x = done[w] * (sign * scale)
                product = w in network.factors and uses[w] == 1
                parts.append(((scale != 1 and w != ONE) or product, x.node, x))
        else:
            inner = None
            for w, sign in signed:
                x = done[w] * sign
                inner = x if inner is None else inner + x
            assert inner is not None
            x = inner * scale
            parts.append((True, x.node, x))
    total = None
    for _, _, x in sorted(parts, key=lambda part: part[:2]):
        total = x if total is None else total + x
    assert total is not None
    return total
