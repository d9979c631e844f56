"""A report as one self-contained HTML page, and as a Markdown summary."""

from __future__ import annotations

from html import escape
from importlib import resources

from fastdyn.page.content import (
    SORTED_AT,
    Block,
    Column,
    Facts,
    Headline,
    Picture,
    Report,
    Section,
    Sentences,
    Table,
    Value,
    mathematics,
    parts,
    plain_html,
    typeset,
)
from fastdyn.page.vector import svg
from fastdyn.polynomials import Polynomial

LONGEST = 20  # letters of a word in the first column of a table, which stays in view on a phone unless it is wider

# ---------------------------------------------------------------------------------------------- HTML


def html(report: Report) -> str:
    """One file: no external fonts, scripts or images."""
    contents = "".join(f'<li><a href="#{section.key}">{escape(section.title)}</a></li>' for section in report.sections)
    return f"""<!DOCTYPE html>
<html lang="en-GB">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(report.title)} – fastdyn</title>
<style>
{_file("page.css")}</style>
</head>
<body>
<a class="skip" href="#results">Skip to the results</a>
<aside>
<details open class="contents"><summary>Contents</summary>
<nav aria-label="Contents"><ol>{contents}</ol></nav></details>
<button type="button" class="theme">Light or dark</button>
</aside>
<main>
<header>
<p class="kicker">fastdyn {report.name}</p>
<h1>{escape(report.title)}</h1>
<p class="introduction">{plain_html(report.introduction)}</p>
{_state(report)}<div class="headlines" id="results">{"".join(map(_headline, report.headlines))}</div>
</header>
{"".join(_section(section, number) for number, section in enumerate(report.sections, 1))}
<p class="data">Data: each table links to its CSV file; \
<a href="{report.name}.json">{report.name}.json</a> has all numbers, \
<a href="summary.md">summary.md</a> the tables as text.</p>
</main>
<script>
{_file("page.js")}</script>
</body>
</html>
"""


def _state(report: Report) -> str:
    """The run and its machine in a line, and warnings."""
    state = "".join(f"<span>{plain_html(part)}</span>" for part in report.state)
    warnings = "".join(f"<p>{mathematics(warning)}</p>" for warning in report.warnings)
    return (f'<p class="state">{state}</p>\n' if state else "") + (
        f'<div class="warnings" role="note" aria-label="Warnings">{warnings}</div>\n' if warnings else ""
    )


def _file(name: str) -> str:
    return (resources.files("fastdyn.page") / name).read_text(encoding="utf-8")


def _headline(headline: Headline) -> str:
    return f"<p><strong>{mathematics(headline.value)}</strong> {mathematics(headline.label)}</p>"


def _section(section: Section, number: int) -> str:
    blocks = "\n".join(_block(block, f"{section.key}-{place}") for place, block in enumerate(section.blocks))
    return (
        f'<section id="{section.key}" aria-labelledby="{section.key}-title">\n'
        f'<h2 id="{section.key}-title"><span>{number}</span> {escape(section.title)}</h2>\n{blocks}\n</section>\n'
    )


def _block(block: Block, key: str) -> str:
    match block:
        case str():
            return f"<p>{mathematics(block)}</p>"
        case Sentences():
            return "<ul>" + "".join(f"<li>{mathematics(line)}</li>" for line in block.lines) + "</ul>"
        case Facts():
            return "<dl>" + "".join(f"<dt>{escape(n)}</dt><dd>{plain_html(v)}</dd>" for n, v in block.pairs) + "</dl>"
        case Picture():
            return _picture(block, key)
        case Table():
            return _table(block)


def _picture(picture: Picture, key: str) -> str:
    """The figure; one for phones is hidden by the style sheet where the page is wide, and the other way round."""
    inner = f'<div class="box{" wide" if picture.narrow else ""}">{svg(picture.figure, picture.title, key)}</div>'
    if picture.narrow:
        inner += f'<div class="narrow">{svg(picture.narrow, picture.title, f"{key}-narrow")}</div>'
    return _folding("picture", mathematics(picture.title), inner, picture.folded)


def _folding(kind: str, title: str, inner: str, folded: bool) -> str:
    """Title and content, collapsed until the reader opens it if `folded`."""
    if folded:
        return f'<details class="{kind}"><summary>{title}</summary>{inner}</details>'
    return f'<figure class="{kind}"><figcaption>{title}</figcaption>{inner}</figure>'


def _table(table: Table) -> str:
    shown = [i for i, column in enumerate(table.columns) if column.kind != "detail"]
    details = [i for i, column in enumerate(table.columns) if column.kind == "detail"]
    heads = "".join(_head(table.columns[i]) for i in shown)
    # a row and its details are one <tbody>, so that sorting keeps them together
    bodies = "".join(
        f"<tbody><tr>{''.join(_cell(row[i], table.columns[i], i == 0) for i in shown)}</tr>"
        + _detail([(table.columns[i], row[i]) for i in details], len(shown))
        + "</tbody>"
        for row in table.rows
    )
    words = [word for row in table.rows for word in str(row[0]).split()]
    long = ' class="long"' if max(map(len, words), default=0) > LONGEST else ""
    title = f'{mathematics(table.title)} <a class="data" href="csv/{table.key}.csv">CSV</a>'
    inner = (
        f'<div class="box" role="region" aria-label="{escape(table.title)}" tabindex="0"><table id="{table.key}"{long}>'
        f"<thead><tr>{heads}</tr></thead>{bodies}</table></div>"
    )
    return _folding("table", title, inner, table.folded)


def _side(column: Column) -> str:
    return ' class="number"' if column.kind in ("number", "percent") else ""


def _head(column: Column) -> str:
    return (
        f'<th scope="col" aria-sort="none"{_side(column)}><button type="button">{plain_html(column.name)}'
        '<span aria-hidden="true"></span></button></th>'
    )


def _cell(value: Value, column: Column, first: bool) -> str:
    tag = 'th scope="row"' if first else "td"
    attributes = ' class="number terms"' if isinstance(value, Polynomial) else _side(column)
    if column.kind == "mark":
        attributes += f' class="{"good" if value == "yes" else "other"}"'
    if isinstance(value, Polynomial):
        attributes += f' data-value="{float(value(SORTED_AT))}"'
    elif isinstance(value, int | float):
        attributes += f' data-value="{value}"'
    return f"<{tag}{attributes}>{typeset(value, column)}</{tag[:2]}>"


def _detail(values: list[tuple[Column, Value]], width: int) -> str:
    """The details below a row."""
    text = "".join(
        f"<p><i>{escape(column.name)}:</i> {'<br>'.join(typeset(part, column) for part in parts(value))}</p>"
        for column, value in values
        if value
    )
    return f'<tr class="detail"><td colspan="{width}"><div>{text}</div></td></tr>' if text else ""


# ---------------------------------------------------------------------------------------------- Markdown


def markdown(report: Report) -> str:
    """The summary: the report without figures and folded tables."""
    found = [f"# {report.title}\n", report.introduction.strip() + "\n"]
    if report.state:
        found.append("; ".join(report.state) + ".\n")
    found += [f"**Warning:** {warning}\n" for warning in report.warnings]
    found.append("".join(f"- {headline.plain}\n" for headline in report.headlines))
    for section in report.sections:
        found.append(f"## {section.title}\n")
        for block in section.blocks:
            match block:
                case str():
                    found.append(block.strip() + "\n")
                case Sentences():
                    found.append("".join(f"- {line}\n" for line in block.lines))
                case Facts():
                    found.append("".join(f"- {name}: {value}\n" for name, value in block.pairs))
                case Table() if not block.folded:
                    found.append(block.markdown())
    return "\n".join(found)
