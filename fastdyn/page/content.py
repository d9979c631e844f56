"""The parts of a report, independent of the output format: sections with tables, figures and sentences.

Tables are written as HTML, Markdown and CSV.
"""

from __future__ import annotations

import csv
import html
import io
import math
import re
from dataclasses import dataclass
from typing import Any, Literal

from fastdyn.polynomials import Polynomial

Value = str | int | float | Polynomial | None
Kind = Literal["text", "math", "number", "percent", "mark", "detail"]
SORTED_AT = 6  # joints: polynomials are sorted by their values there


@dataclass(frozen=True)
class Column:
    """A column of a table. "math" is typeset; "mark" is yes, no or partly; "detail" is shown below the row.

    digits: after the decimal point; by default three significant digits, or one after the point for percentages.
    """

    name: str
    kind: Kind = "text"
    digits: int | None = None


NUMBER = Column("", "number")


@dataclass(frozen=True)
class Table:
    """Rows of values, one for each column. `folded`: a long table, collapsed until the reader opens it."""

    key: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]
    folded: bool = False

    def csv(self) -> str:
        """All values in full precision, a line for each row."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(column.name for column in self.columns)
        writer.writerows([plain(value) for value in row] for row in self.rows)
        return text.getvalue()

    def markdown(self) -> str:
        """As Markdown, with the details of each row in a list below."""
        shown = [(i, column) for i, column in enumerate(self.columns) if column.kind != "detail"]
        details = [(i, column) for i, column in enumerate(self.columns) if column.kind == "detail"]
        lines = [[column.name for _, column in shown]]
        lines.append(["---:" if column.kind in ("number", "percent") else "---" for _, column in shown])
        lines += [[written(row[i], column).replace("|", "\\|") for i, column in shown] for row in self.rows]
        text = f"**{self.title}**\n\n" + "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"
        notes = ""
        for row in self.rows:
            told = [f"  - {column.name}: {part}\n" for i, column in details for part in parts(row[i])]
            notes += f"- {written(row[0], self.columns[0])}\n{''.join(told)}" if told else ""
        return text + ("\n" + notes if notes else "")


@dataclass(frozen=True)
class Picture:
    """A matplotlib figure and its title. `folded`: collapsed until the reader opens it.

    narrow: the same, drawn `ink.NARROW` inches wide, for phones; without it `figure` is shown there in full size, and
    scrolls inside its box.
    """

    title: str
    figure: Any
    narrow: Any = None
    folded: bool = False


@dataclass(frozen=True)
class Sentences:
    """A bulleted list."""

    lines: tuple[str, ...]


@dataclass(frozen=True)
class Facts:
    """Names with their values."""

    pairs: tuple[tuple[str, str], ...]


Block = str | Table | Picture | Sentences | Facts  # a str is a paragraph


@dataclass(frozen=True)
class Section:
    """A section of the page."""

    key: str
    title: str
    blocks: tuple[Block, ...]

    def of(self, kind: type[Any]) -> list[Any]:
        """The blocks of this type."""
        return [block for block in self.blocks if isinstance(block, kind)]


@dataclass(frozen=True)
class Headline:
    """A main result in large type, and its description."""

    value: str
    label: str

    @property
    def plain(self) -> str:
        """As a line of text.

        >>> Headline("n^{3.8}", "is the growth").plain
        'n^3.8 is the growth'
        """
        return f"{self.value} {self.label}".replace("{", "").replace("}", "")


@dataclass(frozen=True)
class Report:
    """The content of a page. name: what `fastdyn <name>` makes, and its file of data, <name>.json.

    state: extent of the run, machine, date, load, in a line at the top; warnings: below it, conspicuous.
    """

    name: str
    title: str
    introduction: str
    headlines: tuple[Headline, ...]
    sections: tuple[Section, ...]
    state: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def tables(self) -> list[Table]:
        """Every table, in order."""
        return [table for section in self.sections for table in section.of(Table)]

    @property
    def pictures(self) -> list[Picture]:
        """Every figure, in order."""
        return [picture for section in self.sections for picture in section.of(Picture)]


# ---------------------------------------------------------------------------------------------- values as text


def plain(value: Value) -> str | int | float | None:
    """For CSV and JSON: numbers as they are, polynomials as text. NaN and infinity are an error."""
    if isinstance(value, Polynomial):
        return str(value)
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"a table of the report holds {value}: expected finite numbers")
    return value


def parts(detail: Value) -> list[str]:
    """The lines of a detail, which " | " separates."""
    return str(detail).split(" | ") if detail else []


def written(value: Value, column: Column = NUMBER) -> str:
    """As plain text for readers.

    >>> written(85024), written(0.0123456), written(3.1e-15), written(0.25, Column("share", "percent")), written(None)
    ('85,024', '0.0123', '3.1e-15', '25.0 %', '')
    """
    digits = column.digits
    value = plain(value)
    if value is None or isinstance(value, str):
        return value or ""
    if column.kind == "percent":
        return f"{100 * value:.{1 if digits is None else digits}f} %"
    if isinstance(value, int):
        return f"{value:,}"
    if digits is not None:
        return f"{value:,.{digits}f}"
    if value == 0 or 1e-3 <= abs(value) < 1e9:
        return f"{value:,.{max(0, 2 - math.floor(math.log10(abs(value) or 1)))}f}"
    return f"{value:.1e}"


def typeset(value: Value, column: Column = NUMBER) -> str:
    """As HTML.

    >>> typeset(Polynomial((0, -1, 2))), typeset(3.1e-15)
    ('2\xa0n<sup>2</sup> −\xa0n', '<span class="whole">3.1 × 10<sup>−15</sup></span>')
    """
    text = written(value, column)
    if isinstance(value, Polynomial):  # lines may break only before signs
        return re.sub(r" (?![+−])", "\N{NO-BREAK SPACE}", mathematics(text))
    return plain_html(text) if isinstance(value, str) and column.kind not in ("math", "detail") else mathematics(text)


_SIGNS = (
    (r"\btau\b|\btau(?=_)", "τ"),
    (r"\bqdd(?![a-z])", "q̈"),
    (r"\bqd(?![a-z])", "q̇"),
    (r"\bw(?=['_]|\b)'", "ω̇"),
    (r"\bw(?=_|\b)(?!')", "ω"),
    (r"\bv'(?=_)", "v̇"),
    (r" x ", " × "),
    (r" \. ", " · "),
    (r"(?<![\w.,;:])-(?=[\w ])(?!\w+-)", "−"),
    (r"&lt;=", "≤"),
    (r"(?<=\d)e-0*(?=[1-9])(\d+)", r" × 10^{-\1}"),
)


# numbers with their units, "n = 6", "(3.2-24)", "Table 3.1": lines must not break inside
_WHOLE = re.compile(
    r"\(\d\.\d-\d+\)|\b(?:Tables?|Figs?\.|[Pp]roblems?|sections?|eqs?\.) \d[\d.]*\d|\bn = \d+"
    r"|\d[\d.]* × 10<sup>[^<]*</sup>|(?<![\d.])\d[\d.,]* (?:ns|µs|ms|s|min|%|KiB|MiB|GHz|times)(?!\w)"
)


def plain_html(text: str) -> str:
    """Escaped; <span class="whole"> keeps together what lines must not break.

    >>> plain_html("Table 3.1 & more")
    '<span class="whole">Table 3.1</span> &amp; more'
    """
    return _kept_together(html.escape(text))


def _kept_together(text: str) -> str:
    return _WHOLE.sub(r'<span class="whole">\g<0></span>', text)


def mathematics(text: str) -> str:
    """Formulas in the plain-text notation of this package, as HTML.

    >>> mathematics("^{i-1}A_j x n^2 - w'_i + tau_i")
    '<sup>i−1</sup>A<sub>j</sub> × n<sup>2</sup> − ω̇<sub>i</sub> + τ<sub>i</sub>'
    """
    text = html.escape(text, quote=False)
    for sign, shown in _SIGNS:
        text = re.sub(sign, shown, text)
    for mark, tag, bare in (("\\^", "sup", r"\d+|[A-Za-z]+(?![A-Za-z])|\w"), ("_", "sub", "[A-Za-z0-9]+")):
        text = re.sub(mark + rf"(?:\{{([^}}]*)\}}|({bare}))", _raised(mark, tag), text)
    return _kept_together(text)


def _raised(mark: str, tag: str) -> Any:
    def shown(match: re.Match[str]) -> str:
        inner = match[1] or match[2]
        rest = ""
        if mark == "\\^" and match[1] is None and inner.isalpha():  # ^jA_i: only j is raised
            inner, rest = inner[0], inner[1:]
        return f"<{tag}>{inner.replace('-', '−')}</{tag}>{rest}"

    return shown
