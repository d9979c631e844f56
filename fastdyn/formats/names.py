"""Unique names for parts without a name or with a duplicate one."""

from __future__ import annotations


def free_name(wanted: str, taken: set[str]) -> str:
    """`wanted`, or the first of wanted_2, wanted_3, ... that is not taken; adds it to `taken`.

    >>> taken = {"link"}
    >>> free_name("link", taken), free_name("link", taken)
    ('link_2', 'link_3')
    """
    name, count = wanted, 1
    while name in taken:
        count += 1
        name = f"{wanted}_{count}"
    taken.add(name)
    return name
