"""Fewer operations: a program rewritten by algebra that holds for all inputs, on a new graph.

>>> from fastdyn.scalars.tracing import Graph
>>> graph = Graph()
>>> x = graph.inputs("x", 3)
>>> y = x[0] * x[1] + x[0] * x[2], (x[1] + x[2]) - (x[2] - x[1])
>>> program = Program("example", graph, {"x": tuple(x)}, {"y": y})
>>> better = optimized(program)  # x0 (x1 + x2) and 2 x1
>>> sum(program.operations().totals()), sum(better.operations().totals())
(6, 3)
>>> better.evaluate({"x": [2.0, 3.0, 4.0]})["y"]
array([14.,  6.])

What is not used: the sum of sin^2 and cos^2 where that would cancel digits; in general an identity is used only if no
term becomes larger than the text's. Terms cancel before they are computed, never after.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from itertools import combinations
from typing import Any

from fastdyn.specialize.algebra.across import cancel_across
from fastdyn.specialize.algebra.angles import add_angles, parallel
from fastdyn.specialize.algebra.emit import emitted
from fastdyn.specialize.algebra.network import ONE, Network, Ref, Terms, collected, comparable, same
from fastdyn.specialize.algebra.schedule import greedy, live_values, timed
from fastdyn.specialize.program import Program

SCHEDULES = ("text", "early", "greedy", "fewest")
ROUNDS = 6  # of rewriting: most programs change no more after three


def optimized(program: Program, schedule: str = "fewest") -> Program:
    """The same results from fewer operations, on a new graph of live nodes in the order of computation.

    schedule: that order. "text": each value when the text computed it; "early": each as soon as the text had its
    operands; in both, operations then move to where they free registers. "greedy": always an operation that frees
    registers, else the next of a depth-first order. "fewest": of these the one with the fewest live values beyond 16.

    The results differ by roundings, relative to the sizes of the terms that the text adds: constants are combined, sums
    reordered, quotients by constants and by common divisors become products. The same program gives the same result in
    every process.
    """
    if schedule not in SCHEDULES:
        raise ValueError(f"schedule is {schedule!r}: expected one of {', '.join(map(repr, SCHEDULES))}")
    network = Network(program)
    flatten(network)
    best = improved(network)
    tried: set[Any] = set()
    left = parallel(network)
    while left:
        pair = left.pop(0)
        tried.add(pair)
        other = network.copy()
        better = improved(other) if add_angles(other, *pair) else best
        if cost_of(better) < cost_of(best):
            network, best = other, better
            left = [pair for pair in parallel(network) if pair not in tried]
    if cancel_across(network):
        settle(network)
        best = min(best, improved(network), key=cost_of)
    found = scheduled(best, program, schedule)
    return found if work(found) <= work(program) else timed(program, {k: k for k in range(len(program.graph.nodes))})


def work(program: Program) -> int:
    """Multiplications and additions, and divisions, which take about four times as long."""
    operations = program.operations()
    return operations.multiplications + operations.additions + 4 * operations.divisions


def scheduled(network: Network, program: Program, schedule: str) -> Program:
    """The program of a network, in the order of a schedule."""
    if schedule == "fewest":
        found = [scheduled(network, program, name) for name in SCHEDULES[:-1]]
        return min(found, key=lambda one: live_values(one).beyond_16)
    made, times = emitted(network, program, early=schedule != "text")
    return greedy(made) if schedule == "greedy" else timed(made, times)


def improved(network: Network) -> Network:
    """A network of fewer operations."""
    network = network.copy()
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
    rescale(network)
    return network


# ---------------------------------------------------------------------------------------------- cost


def cost(terms: Terms) -> int:
    """Operations of a sum: its additions, and a multiplication for every scale other than 1, up to sign."""
    scales = {comparable(abs(c)) for v, c in terms.items() if v != ONE}
    return len(terms) - 1 + len(scales - {comparable(1.0)})


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
        if terms is None:
            continue
        if len(terms) < 2:
            aliases[v] = next(((c, w) for w, c in terms.items()), (0.0, ONE))
        else:
            scale = next(iter(terms.values()))
            if abs(scale) != 1 and ONE not in terms and all(same(c, scale) for c in terms.values()):
                aliases[v] = network.sum(terms, v)
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
    uses = network.uses()
    for v in network.order():
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
                    found[a, b, comparable(y / x)].append(v)
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
        scale, made = network.sum({a: 1.0, b: one[b] / one[a]}, which[0])
    else:
        scale, made = 1 / network.terms[exact][a], exact
    changed = [v for v in which if not network.depends(made, v)]
    for v in changed:
        terms = network.terms[v]
        rest = {w: c for w, c in terms.items() if w not in (a, b)}
        network.terms[v] = collected(rest, {made: terms[a] * scale})
    settle(network)
    return bool(changed)


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
    exact = next((v for v in which if len(network.factors[v]) == 2), None)  # taken, or it would be made again and again
    pair = network.product([(1.0, a), (1.0, b)], which[0]) if exact is None else (1.0, exact)
    aliases: dict[int, Ref] = {}
    for v in which:
        if v != pair[1] and not network.depends(pair[1], v):
            others = without(tuple(without(network.factors[v], a)), b)
            aliases[v] = network.product([pair, *((1.0, w) for w in others)], v)
    network.resolve(aliases)
    return bool(aliases)


def group(network: Network) -> None:
    """k a + k b = k (a + b), for constants k."""
    for v in network.order():
        if v in network.terms:
            groups: dict[str, list[int]] = defaultdict(list)
            for w, c in network.terms[v].items():
                if w != ONE:
                    groups[comparable(abs(c))].append(w)
            for which in groups.values():
                terms = network.terms[v]
                scale = abs(terms[which[0]])
                if len(which) > 1 and (scale != 1 and len(which) < len(terms)):
                    total, inner = network.sum({w: terms[w] / scale for w in which}, v)
                    rest = {w: c for w, c in terms.items() if w not in which}
                    network.terms[v] = collected(rest, {inner: scale * total})
    settle(network)


def rescale(network: Network) -> None:
    """Scales sums so that the fewest multiplications are left in them and in their users."""
    order = network.order()
    users: dict[int, list[int]] = defaultdict(list)
    results: dict[int, list[int]] = defaultdict(list)
    for v in order:
        for w in network.below(v):
            users[w].append(v)
    for k, (_, v) in enumerate(network.results):
        results[v].append(k)

    def places(v: int) -> list[tuple[Any, Any]] | None:
        """Where the scale of a value is written: (terms of a sum or results, key)."""
        found: list[tuple[Any, Any]] = [(network.results, k) for k in results[v]]
        for u in users[v]:
            if u in network.terms:
                found.append((network.terms[u], v))
            elif u in network.factors and network.factors[u].count(v) == 1:
                inner = places(u)
                if inner is None:
                    return None
                found += inner
            else:
                return None
        return found

    for v in reversed(order):
        if v not in network.terms:
            continue
        where = places(v)
        if where is None:
            continue
        terms = network.terms[v]
        scales = [table[key] if isinstance(table, dict) else table[key][0] for table, key in where]
        candidates = [1.0, *(abs(c) for c in scales), *(1 / abs(c) for c in terms.values())]

        totals = [
            sum(not same(c / x, 1.0) for c in scales) + cost({w: c * x for w, c in terms.items()}) for x in candidates
        ]
        best = candidates[totals.index(min(totals))]
        if best != 1:
            network.terms[v] = {w: snapped(c * best) for w, c in terms.items()}
            for table, key in where:
                if isinstance(table, dict):
                    table[key] = snapped(table[key] / best)
                else:
                    table[key] = snapped(table[key][0] / best), table[key][1]


def snapped(scale: float) -> float:
    """A scale; 1 if rounding has left something else of it."""
    return math.copysign(1.0, scale) if same(scale, 1.0) else scale
