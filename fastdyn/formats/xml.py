"""XML -> elements with line numbers. Files are not trusted: no entity is expanded, nothing is fetched or opened."""

from __future__ import annotations

from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from dataclasses import dataclass, field
from xml.parsers import expat

from fastdyn.errors import DescriptionError
from fastdyn.formats.files import check_size

DEPTH = 64
ELEMENTS = 50_000
END = expat.errors.codes[expat.errors.XML_ERROR_NO_ELEMENTS]


@dataclass(eq=False)
class Element:
    """An XML element: tag, attributes, first line and content."""

    tag: str
    attributes: dict[str, str]
    line: int
    source: str
    parent: Element | None = None
    children: list[Element] = field(default_factory=list)
    text: str = ""  # the beginning of its text

    def __str__(self) -> str:
        """The tag with its name; without one, followed by the nearest enclosing element that has one."""
        if "name" in self.attributes:
            return f"<{self.tag} name={short(self.attributes['name'])}>"
        around = self.parent
        while around is not None and "name" not in around.attributes:
            around = around.parent
        return f"<{self.tag}>" if around is None else f"<{self.tag}> in {around}"

    def error(self, message: str) -> DescriptionError:
        """An error that says where: file, line and element."""
        return DescriptionError(f"{self.source}:{self.line}: {self}: {message}")

    def find(self, tag: str) -> Element | None:
        """The first child with this tag, if there is one."""
        return next((child for child in self.children if child.tag == tag), None)


def short(text: str) -> str:
    """The text in quotes, shortened if it is long."""
    return repr(text) if len(text) <= 60 else repr(text[:57] + "...")


def read(data: bytes | str, source: str) -> Element:
    """The root element of a document. source: its name in messages.

    Raises for document type and entity declarations, and for more than files.SIZE bytes, DEPTH levels or ELEMENTS
    elements.
    """
    try:
        data = data.encode() if (is_text := isinstance(data, str)) else data
    except UnicodeEncodeError as problem:
        raise DescriptionError(f"{source}: expected text, found half a character at {problem.start}") from problem
    check_size(data, source)
    if b"<" not in data:
        raise DescriptionError(f"{source}:1: expected the text of an XML file, found no element in it")
    builder = _Builder(source)
    parser = expat.ParserCreate("utf-8" if is_text else None)  # already decoded: a declared encoding is ignored
    builder.listen(parser)
    try:
        parser.Parse(data, True)
    except expat.ExpatError as problem:
        found = "its end" if problem.code == END else expat.ErrorString(problem.code)
        inside = f", inside {builder.open[-1]} of line {builder.open[-1].line}" if builder.open else ""
        where = f"in column {problem.offset + 1}{inside}"
        raise DescriptionError(
            f"{source}:{problem.lineno}: expected well-formed XML, found {found} {where}"
        ) from problem
    except DescriptionError:
        raise
    except (LookupError, ValueError) as problem:  # a declared encoding that Python does not support
        raise DescriptionError(f"{source}:1: expected an encoding such as utf-8, found {problem}") from problem
    assert builder.root is not None  # expat has seen a whole document
    return builder.root


def prolog(data: bytes) -> tuple[str | None, str | None]:
    """The first element's tag and the declared encoding, None where there is none; the rest is not read.

    >>> prolog(b"<?xml version='1.0' encoding='latin-1'?><!-- a comment --><robot name='arm'>")
    ('robot', 'latin-1')
    """
    found: dict[str, str | None] = {}

    def declared(version: str, encoding: str | None, standalone: int) -> None:
        found["encoding"] = encoding

    def start(tag: str, attributes: dict[str, str]) -> None:
        found["tag"] = tag
        raise StopIteration

    def stop(*declaration: object) -> None:  # entities are never expanded
        raise StopIteration

    parser = expat.ParserCreate()
    parser.XmlDeclHandler, parser.StartElementHandler, parser.StartDoctypeDeclHandler = declared, start, stop
    try:
        parser.Parse(data, True)
    except (StopIteration, expat.ExpatError, LookupError, ValueError):  # faults are left to `read`
        pass
    return found.get("tag"), found.get("encoding")


def decoded(data: bytes, source: str) -> str:
    """The text of an XML document, by its byte order mark or its declaration; UTF-8 if it has neither."""
    marked = "utf-16" if data[:2] in (BOM_UTF16_LE, BOM_UTF16_BE) else None
    encoding = marked or prolog(data)[1] or "utf-8"
    try:
        return data.decode(encoding)
    except (LookupError, UnicodeError) as problem:
        raise DescriptionError(f"{source}:1: expected text in {encoding}, found: {problem}") from problem


class _Builder:
    """Builds elements from expat's events."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.root: Element | None = None
        self.open: list[Element] = []
        self.count = 0

    def listen(self, parser: expat.XMLParserType) -> None:
        self.parser = parser
        parser.buffer_text = True
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.CharacterDataHandler = self.text
        parser.StartDoctypeDeclHandler = self.refuse
        parser.EntityDeclHandler = self.refuse

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        parent = self.open[-1] if self.open else None
        element = Element(tag, attributes, self.parser.CurrentLineNumber, self.source, parent)
        self.count += 1
        if self.count > ELEMENTS:
            raise element.error(f"expected at most {ELEMENTS} elements, found more")
        if len(self.open) >= DEPTH:
            raise element.error(f"expected at most {DEPTH} elements inside each other, found more")
        if parent is None:
            self.root = element
        else:
            parent.children.append(element)
        self.open.append(element)

    def end(self, tag: str) -> None:
        self.open.pop()

    def text(self, data: str) -> None:
        if not self.open[-1].text:
            self.open[-1].text = data.strip()[:60]

    def refuse(self, *declaration: object) -> None:
        line = self.parser.CurrentLineNumber
        raise DescriptionError(f"{self.source}:{line}: expected no document type or entities, found a declaration")
