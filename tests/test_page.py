"""The report's files, read back; and its page, opened in a browser."""

from __future__ import annotations

import csv
import dataclasses
import html.parser
import io
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pytest

from fastdyn import output
from fastdyn.page import files, ink, markup, vector
from fastdyn.page.content import Column, Picture, Report, Section, Table, mathematics
from fastdyn.polynomials import Polynomial
from fastdyn.study import counts, report
from fastdyn.study.formulations import FORMULATIONS
from fastdyn.study.sections import report as written_report
from fastdyn.study.sources import SOURCES
from tests import browser, small_report

TABLES = [
    "overview", "labels", "table-3-1", "table-3-4", "table-3-5", "texts", "kernels", "literature",
    "dalembert-search", "dalembert-terms", "problem-3-10",
    "problem-3-12", "robots-chief", "robots-all", "six-joints", "latency", "comparisons", "growth", "growth-all",
    "levels", "prediction-errors", "prediction-by-formulation", "predictions", "costs", "crossovers", "expected",
    "history", "host", "points",
    "baselines", "verdicts", "robustness", "simplification", "joint-errors", "elsewhere",
]  # fmt: skip
FIGURES = 7  # those that are not folded


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "study"
    report.write(small_report.results(), path)
    return path


@pytest.fixture(scope="module")
def text(folder: Path) -> str:
    return (folder / "index.html").read_text(encoding="utf-8")


# ---------------------------------------------------------------------------------------------- the files


class Reader(html.parser.HTMLParser):
    """Checks that elements close in the order in which they open, and collects attributes and text."""

    VOID = ("meta", "br")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.attributes: list[tuple[str, str, str | None]] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(tag, name, value) for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, self.getpos()

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] not in ("script", "style"):
            self.text += data

    def values(self, name: str) -> list[str]:
        return [value or "" for _, attribute, value in self.attributes if attribute == name]


def test_the_page_is_balanced_and_its_ids_are_unique(text: str) -> None:
    ids = Reader(text).values("id")
    assert len(ids) == len(set(ids))
    assert set(TABLES) <= set(ids)


def test_the_page_needs_nothing_but_itself(text: str, folder: Path) -> None:
    found = Reader(text)
    references = [*found.values("src"), *found.values("href")]
    ids = set(found.values("id"))
    for reference in references:
        assert (folder / reference).is_file() or (reference[0] == "#" and reference[1:] in ids), reference
    assert re.findall(r"@import|url\((?!#)|//[a-z]+\.", text) == []
    assert {tag for tag, _, _ in found.attributes} & {"link", "img", "iframe", "object"} == set()


def test_every_published_row_is_on_the_page(text: str) -> None:
    shown = Reader(text).text
    for row in counts.tables():
        labels = row.multiplications, row.additions
        words = row.name, row.why, *(reading.what for reading in row.readings), *row.left_out.values()
        for part in (*words, *(label.why for label in labels), *(label.kind for label in labels)):
            assert Reader(mathematics(part)).text in shown
        for cost in (row.published, row.counted, *(reading.cost for reading in row.readings)):
            assert Reader(mathematics(str(cost.additions))).text in shown.replace("\N{NO-BREAK SPACE}", " ")
    for name in FORMULATIONS:
        assert name in shown


def test_csv_holds_every_table(folder: Path) -> None:
    tables = written_report(small_report.results()).tables
    assert [table.key for table in tables] == TABLES
    for table in tables:
        with (folder / "csv" / f"{table.key}.csv").open(encoding="utf-8", newline="") as file:
            head, *rows = csv.reader(file)
        assert head == [column.name for column in table.columns]
        assert rows == [["" if value is None else str(value) for value in row] for row in table.rows]


def test_the_page_is_made_of_what_study_json_keeps_and_of_nothing_else(folder: Path, tmp_path: Path) -> None:
    """In another process, with another order of sets: the same bytes."""
    command = [sys.executable, "-m", "fastdyn", "study", "--from", str(folder / "study.json"), "--out", str(tmp_path)]
    subprocess.run(command, check=True, env={**os.environ, "PYTHONHASHSEED": "1"}, capture_output=True)
    files = {file.relative_to(folder) for file in folder.rglob("*.*")}
    assert files == {file.relative_to(tmp_path) for file in tmp_path.rglob("*.*")}
    for file in files:
        assert (tmp_path / file).read_bytes() == (folder / file).read_bytes(), file


def test_the_summary_has_the_tables_and_the_machine(folder: Path) -> None:
    summary = (folder / "summary.md").read_text(encoding="utf-8")
    assert "| lagrange_euler, <timed> | scalars | 1 | 25 | 100 | 4.00 | 4.00 | 4.00 | 1.00 |" in summary
    assert "| mass_matrix | arm | 40 | 30 | 20 | 15 | 18 | 13 |" in summary
    assert "| momentum | arm |" not in summary  # in the folded table
    assert "Machine: a machine" in summary
    assert "All measurements" not in summary


def test_the_summary_has_every_reason(folder: Path) -> None:
    summary = (folder / "summary.md").read_text(encoding="utf-8")
    details = [
        str(row[i])
        for table in written_report(small_report.results()).tables
        for i, column in enumerate(table.columns)
        for row in table.rows
        if column.kind == "detail" and row[i] and not table.folded
    ]
    assert len(details) > 20
    for detail in details:
        for part in detail.split(" | "):
            assert f": {part}\n" in summary


def test_the_state_of_the_run_and_warnings_are_at_the_top(folder: Path, text: str) -> None:
    assert text.index("a quick one") < text.index("<h2")
    found = Report("r", "R", "About.", (), (), ("quick", "a machine"), ("The host was <loaded>.",))
    page = markup.html(found)
    assert "<span>quick</span><span>a machine</span>" in page
    assert "<p>The host was &lt;loaded&gt;.</p>" in page
    assert "quick; a machine.\n\n**Warning:** The host was <loaded>.\n" in markup.markdown(found)


def test_sources_are_named_and_listed_in_full(text: str) -> None:
    sources = [row[1] for row in written_report(small_report.results()).tables[0].rows]
    assert [source for source in sources if not str(source).startswith(tuple(SOURCES))] == []
    shown = Reader(text).text
    for name, reference in SOURCES.items():
        assert name + reference in shown
    assert re.findall(r"\b00[0-4]\b,|document 00", shown) == []


def test_numbers_have_one_separator_of_thousands(text: str) -> None:
    assert re.findall(r"(?<![\d.])\d{1,3}[ \u00a0\u2009\u202f]\d{3}(?![\d.])", Reader(text).text) == []


def test_nothing_is_written_when_something_cannot_be(tmp_path: Path) -> None:
    good = small_report.results()
    spoilt = dataclasses.replace(good.agreement[0], difference=float("nan"))
    with pytest.raises(ValueError, match="nan"):
        report.write(dataclasses.replace(good, agreement=(spoilt,)), tmp_path / "study")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path: Path) -> None:
    def fails(file: IO[bytes]) -> None:
        file.write(b"half")
        raise RuntimeError("no more")

    path = tmp_path / "new" / "file.txt"
    output.write(path, "old")
    with pytest.raises(RuntimeError, match="no more"):
        output.write(path, fails)
    assert path.read_text() == "old"
    assert list(path.parent.iterdir()) == [path]


def test_a_folder_is_updated_file_by_file_and_the_page_comes_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []
    write = output.write
    monkeypatch.setattr(output, "write", lambda path, fill: (order.append(path.name), write(path, fill)))
    (tmp_path / "notes.txt").write_text("mine")
    table = Table("t", "T", (Column("a"),), (("b",),))
    small = Report("small", "S", "About.", (), (Section("s", "S", (table,)),))
    for data in ("1", "2"):
        files.write(small, data, tmp_path)
    assert order == ["t.csv", "small.json", "summary.md", "index.html"] * 2
    assert (tmp_path / "small.json").read_text() == "2"
    assert (tmp_path / "notes.txt").read_text() == "mine"
    assert list(tmp_path.rglob("*.part")) == []


def test_the_first_headline_says_what_equality_shows() -> None:
    found = written_report(small_report.results())
    assert found.headlines[0].value == "33 of 40"
    assert "11 forced by the printed equations" in found.headlines[0].label
    assert "4 tuned to the number" in found.headlines[0].label


def test_the_title_counts_the_formulations() -> None:
    assert written_report(small_report.results()).title.startswith(f"{len(FORMULATIONS)} formulations ")


def test_formulas_are_typeset() -> None:
    assert mathematics("-m_j U_ki^T <= ^{i-1}A_i") == (
        "−m<sub>j</sub> U<sub>ki</sub><sup>T</sup> ≤ <sup>i−1</sup>A<sub>i</sub>"
    )
    table = Table("t", "T", (Column("a"), Column("b", "number")), (("<x>", Polynomial((-1, 0, 2))),))
    assert markup._table(table).count("&lt;x&gt;") == 1
    assert 'data-value="71.0">2\N{NO-BREAK SPACE}n<sup>2</sup> −\N{NO-BREAK SPACE}1<' in markup._table(table)


def test_figures_take_the_pages_colours_and_share_no_ids() -> None:
    one, two = (vector.svg(small_report.figure(), "A figure", key) for key in ("one", "two"))
    for colour in (ink.INK, ink.PAPER, ink.GRID, *ink.SERIES[:2]):
        assert colour not in one
    assert "var(--ink)" in one
    assert "var(--series-1)" in one
    ids = [set(Reader(each).values("id")) for each in (one, two)]
    assert ids[0]
    assert not ids[0] & ids[1]
    assert "DejaVu" not in one


def test_a_figure_may_have_another_for_phones() -> None:
    one, both = (
        markup._block(Picture("A", small_report.figure(), narrow), "k") for narrow in (None, small_report.figure(1))
    )
    assert one.count("<svg") == 1
    assert 'class="box"' in one
    assert both.count("<svg") == 2
    assert 'class="box wide"' in both
    ids = Reader(both).values("id")
    assert len(ids) == len(set(ids))


def test_a_folded_figure_is_a_disclosure() -> None:
    picture = Picture("A < B", small_report.figure(), folded=True)
    assert markup._block(picture, "k").startswith('<details class="picture"><summary>A &lt; B</summary><div')


# ---------------------------------------------------------------------------------------------- in a browser


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser.browser() as found:
        yield found


@pytest.fixture
def opened(chromium: Any, folder: Path) -> Iterator[Any]:
    """Opens the page at a width; complaints and requests are collected, and looked at in the end."""
    address, contexts, requests, complaints = (folder / "index.html").as_uri(), [], [], []

    def go(width: int = 1280, **options: Any) -> Any:
        context = chromium.new_context(viewport={"width": width, "height": 900}, **options)
        contexts.append(context)
        tab = context.new_page()
        tab.on("request", lambda request: requests.append(request.url))
        tab.on("console", lambda message: complaints.append(message.text))
        tab.on("pageerror", lambda error: complaints.append(str(error)))
        tab.goto(address)
        return tab

    yield go
    for context in contexts:
        context.close()
    assert complaints == []
    assert set(requests) == {address}


@pytest.mark.parametrize("width", [1280, 390])
def test_every_figure_and_table_is_shown_and_nothing_sticks_out(opened: Any, width: int) -> None:
    tab = opened(width)
    assert tab.evaluate("document.documentElement.scrollWidth") == width
    boxes = [figure.bounding_box() for figure in tab.locator("figure svg[role=img]:visible").all()]
    assert len(boxes) == FIGURES
    assert all(box["width"] > 300 and box["height"] > 100 for box in boxes)
    for summary in tab.locator("main summary").all():
        summary.click(position={"x": 5, "y": 5})  # not on its link
    for key in TABLES:
        box = tab.locator(f"table#{key}").bounding_box()
        assert box["width"] > 200, key
        assert box["height"] > 40, key
    assert tab.evaluate("document.documentElement.scrollWidth") == width
    assert tab.locator("nav a").first.is_visible() == (width > 1000)  # folded on a phone
    tab.locator("aside summary").click()
    assert tab.locator("nav a").first.is_visible() == (width < 1000)
    assert min(tab.evaluate(TEXT_SIZES)) >= 10  # px
    assert tab.evaluate(SPLIT) == []


# of all text in figures that are shown, exponents left out
TEXT_SIZES = """() => [...document.querySelectorAll("figure svg text")].filter(x => x.checkVisibility()).map(text => {
    const svg = text.ownerSVGElement, parts = text.querySelectorAll("tspan");
    const sizes = [...(parts.length ? parts : [text])].map(part => parseFloat(getComputedStyle(part).fontSize));
    return Math.max(...sizes) * svg.clientWidth / svg.viewBox.baseVal.width;
})"""

# names in code and numbers that take more than one line
SPLIT = """() => [...document.querySelectorAll("tbody th, td, dd")].filter(cell => {
    const name = /^[a-z0-9]+(_[a-z0-9]+)+$/.test(cell.textContent), number = cell.matches(".number:not(.terms)");
    if (!name && !number) return false;
    const range = document.createRange();
    range.selectNodeContents(cell);
    const lines = [...range.getClientRects()].map(line => line.bottom);
    return Math.max(...lines) - Math.min(...lines) > 12;
}).map(cell => cell.textContent)"""


def edge(box: Any) -> float:
    """How dark the right edge of a box is above its text, from 0 to 1."""
    from matplotlib.image import imread

    return 1 - float(imread(io.BytesIO(box.screenshot()))[2, -2, :3].mean())


def test_a_shadow_says_that_a_table_goes_on_beyond_the_edge(opened: Any) -> None:
    """Without scripts: the style sheet alone makes it."""
    tab = opened(390, java_script_enabled=False, color_scheme="light")
    box = tab.locator(".box", has=tab.locator("#overview"))
    assert edge(box) > 0.1
    box.hover()
    tab.mouse.wheel(2000, 0)
    tab.wait_for_timeout(300)
    assert edge(box) < 0.02


def column(tab: Any, table: str, place: int) -> list[str]:
    return tab.locator(f"#{table} tbody tr:first-child > :nth-child({place})").all_inner_texts()


def test_a_click_sorts_by_value_and_another_one_backwards(opened: Any) -> None:
    tab = opened()
    head = tab.locator("#six-joints thead th:nth-child(3)")
    for sort, sign in (("ascending", 1), ("descending", -1)):
        head.locator("button").click()
        assert head.get_attribute("aria-sort") == sort
        found = [float(cell.replace(",", "")) for cell in column(tab, "six-joints", 3)]
        assert found == sorted(found, key=lambda x: sign * x)
        assert len(set(found)) == len(small_report.NAMES)  # 190; 6,838 and 41,028: as text they sort otherwise
    tab.locator("#six-joints thead th:nth-child(1) button").click()
    assert head.get_attribute("aria-sort") == "none"


def test_sorting_by_keyboard_keeps_reasons_with_their_rows(opened: Any) -> None:
    tab = opened()
    button = tab.locator("#table-3-4 thead th:nth-child(2) button")
    button.focus()
    tab.keyboard.press("Enter")
    tab.keyboard.press("Enter")  # the largest polynomial first
    assert column(tab, "table-3-4", 1)[0] == "total"
    assert "the sum of the rows" in tab.locator("#table-3-4 tbody").first.inner_text()
    head = tab.locator("#six-joints thead th:nth-child(4) button")
    for order in (["190", "6,838", ""], ["6,838", "190", ""]):  # blank cells stay last
        head.click()
        assert column(tab, "six-joints", 4) == order


COLOURS = """() => [
    getComputedStyle(document.body).backgroundColor,
    getComputedStyle(document.querySelector("figure svg text")).fill,
]"""


def test_dark_mode_changes_paper_and_ink_by_system_and_by_button(opened: Any) -> None:
    light, dark = (opened(color_scheme=scheme).evaluate(COLOURS) for scheme in ("light", "dark"))
    assert light[0] != dark[0]
    assert light[1] != dark[1]
    tab = opened(color_scheme="light")
    tab.locator("button.theme").click()
    assert tab.evaluate(COLOURS) == dark
    tab.reload()
    assert tab.evaluate(COLOURS) == dark  # remembered
    tab.emulate_media(media="print")
    assert tab.evaluate(COLOURS) == light  # paper is white
    assert not tab.locator("aside").is_visible()
