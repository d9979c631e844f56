"""The URDF elements and attributes that matter for dynamics, where they may appear, and likely misspellings."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fastdyn.formats.xml import Element, short


@dataclass(frozen=True)
class Rule:
    """Required and allowed attributes and children of an element that matters for dynamics."""

    attributes: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    children: tuple[str, ...] = ()
    optional_children: tuple[str, ...] = ()
    any_number: tuple[str, ...] = ()
    open: bool = False  # may hold elements and attributes of other tools
    takes_others: bool = False  # its other attributes do not affect dynamics

    @property
    def all_attributes(self) -> tuple[str, ...]:
        """The attributes it may have."""
        return self.attributes + self.optional

    @property
    def all_children(self) -> tuple[str, ...]:
        """The children it may have."""
        return self.children + self.optional_children + self.any_number


MOMENTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
RULES = {
    "robot": Rule(("name",), optional_children=("fastdyn",), any_number=("link", "joint"), open=True),
    "link": Rule(("name",), optional_children=("inertial",), open=True),
    "inertial": Rule(children=("mass", "inertia"), optional_children=("origin",)),
    "mass": Rule(("value",)),
    "inertia": Rule(MOMENTS),
    "joint": Rule(
        ("name", "type"),
        ("tail", "frame"),
        ("parent", "child"),
        ("origin", "axis", "limit", "dynamics", "mimic"),
        open=True,
    ),
    "parent": Rule(("link",)),
    "child": Rule(("link",)),
    "origin": Rule(optional=("xyz", "rpy")),
    "axis": Rule(("xyz",)),
    "limit": Rule(optional=("lower", "upper", "effort", "velocity"), takes_others=True),
    "dynamics": Rule(optional=("damping", "friction", "armature", "gear", "friction_minus")),
    "mimic": Rule(("joint",), ("multiplier", "offset")),
    "fastdyn": Rule(optional=("gravity", "xyz", "rpy")),
}


def check(element: Element, doubts: list[tuple[int, str]]) -> None:
    """Checks an element against its rule, and its children recursively; unknown attributes are added to doubts."""
    rule = RULES[element.tag]
    for name in rule.attributes:
        if name not in element.attributes:
            raise element.error(f"expected the attribute {name!r}, found {listed(element.attributes) or 'none'}")
    unknown = [name for name in element.attributes if name not in rule.all_attributes]
    for name in unknown:
        for meant in rule.all_attributes:
            if _one_slip(name, meant):
                raise element.error(f"expected an attribute {meant!r}, found {short(name)}")
        if name == "quat_xyzw":
            raise element.error("expected the rotation as 'rpy', found 'quat_xyzw'")
    if unknown and not (rule.open or rule.takes_others):
        doubts.append((element.line, f"{element} has {listed(unknown)}, unknown to URDF and passed over"))

    if element.text:
        raise element.error(f"expected no text in it, found {short(element.text)}")
    first: dict[str, Element] = {}
    for child in element.children:
        if child.tag in rule.all_children:
            if child.tag in first and child.tag not in rule.any_number:
                raise child.error(f"expected one <{child.tag}>, found another in line {first[child.tag].line}")
            first[child.tag] = child
            check(child, doubts)
        else:
            _check_other(child, element)
    for tag in rule.children:
        if tag not in first:
            tags = listed(dict.fromkeys(child.tag for child in element.children)) or "none"
            raise element.error(f"expected an element <{tag}>, found {tags}")


def _check_other(element: Element, parent: Element) -> None:
    """Ignores an element that does not matter for dynamics; raises for a misplaced or misspelt one."""
    if element.tag in RULES:
        if (parent.tag, element.tag) == ("link", "origin") and _is_zero(element):
            return  # some exporters write it
        places = " or ".join(f"<{tag}>" for tag, rule in RULES.items() if element.tag in rule.all_children)
        raise element.error(f"expected it in {places or 'nothing'}, found it in <{parent.tag}>")
    if element.tag.startswith("xacro:"):
        raise element.error("expected URDF, found xacro: let xacro make a URDF file of it first")
    rule = RULES[parent.tag]
    for meant in rule.all_children:
        if _one_slip(element.tag, meant):
            raise element.error(f"expected <{meant}>, found <{element.tag}>")
    if not rule.open:
        raise element.error(f"expected nothing of that kind in <{parent.tag}>, found it there")


def _is_zero(origin: Element) -> bool:
    """Whether an <origin> is the identity."""
    return not "".join(origin.attributes.values()).strip("-+.0 ")


def listed(words: Iterable[str]) -> str:
    """The first few words, quoted."""
    return ", ".join(short(word) for word in list(words)[:9])


def _one_slip(word: str, meant: str) -> bool:
    """Whether one letter is wrong, missing, extra or swapped with the next, ignoring case."""
    if abs(len(word) - len(meant)) > 1:
        return False
    a, b = sorted((word.lower(), meant), key=len)
    if len(a) < len(b):
        return any(b[:i] + b[i + 1 :] == a for i in range(len(b)))
    wrong = [i for i in range(len(a)) if a[i] != b[i]]
    swapped = len(wrong) == 2 and wrong[1] == wrong[0] + 1 and a[wrong[0]] + a[wrong[1]] == b[wrong[1]] + b[wrong[0]]
    return len(wrong) <= 1 or swapped
