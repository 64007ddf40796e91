"""A report as one page of HTML that needs nothing else: no script, no font, no other file (pure).

Its Content-Security-Policy allows its own style sheet and nothing more, so that even markup that
slipped through could not run. It follows the reader's bright or dark scheme, and every plot is
followed by a table with its numbers.
"""

from collections.abc import Iterator, Sequence

from nacre.report.charts import draw_plot
from nacre.report.document import (
    Cell,
    Column,
    Compared,
    Comparison,
    DataTable,
    Format,
    ReportDocument,
    Section,
)
from nacre.report.escape import element, text
from nacre.report.formatting import NUMERIC, heading, written

MANY_COLUMNS = 4
"""Columns from which on a table has each of its rows as a list, where the screen is narrow."""
DENSE_COLUMNS = 9
"""Columns from which on a table is set smaller."""
SHORT = 15
"""Rows up to which a printed table stays on one sheet; of others no row is cut."""
MOST_ROWS = 5_000
"""Rows of a table that are written; the JSON has them all."""

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_COLOURS_BRIGHT = ("#0b6fb8", "#c4560a", "#0a7f5a", "#9a4f8a", "#8a6d00", "#56606b")
_COLOURS_DARK = ("#63b3ed", "#f6995c", "#5cc9a0", "#d79ac8", "#d9bd4e", "#a3adb8")
_STYLE = """
:root{color-scheme:light dark;--ink:#1b2126;--soft:#56606b;--paper:#fff;--line:#d5dade;
--added:#e2f4e6;--gone:#fbe6e2;%s}
@media (prefers-color-scheme:dark){:root{--ink:#e6eaed;--soft:#a3adb8;--paper:#14181b;
--line:#3a4248;--added:#173a22;--gone:#4a211b;%s}}
*{box-sizing:border-box}
body{font:16px/1.5 system-ui,"Noto Sans CJK SC","Microsoft YaHei",sans-serif;color:var(--ink);
background:var(--paper);max-width:64rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.5rem;overflow-wrap:anywhere}h2{font-size:1.15rem;margin-top:2.2rem}
p,dd,footer{color:var(--soft);margin:.3rem 0;overflow-wrap:anywhere}
footer{margin-top:3rem;font-size:.85rem}
dl{display:grid;grid-template-columns:minmax(8rem,max-content) 1fr;gap:.2rem 1.2rem}
dt{font-weight:600}dd{margin:0;color:var(--ink)}
table{border-collapse:collapse;width:100%%;margin:1rem 0;font-size:.9rem}
caption{text-align:left;font-weight:600;padding:.3rem 0}
th,td{padding:.25rem .6rem;border-bottom:1px solid var(--line);text-align:left;vertical-align:top;
overflow-wrap:anywhere}
thead th{vertical-align:bottom;overflow-wrap:normal}tbody th{font-weight:400;min-width:7rem}
.n{text-align:right;overflow-wrap:normal;font-variant-numeric:tabular-nums}td.n{white-space:nowrap}
.t+.n,td.t{min-width:3.5rem}
.dense{font-size:.78rem}.dense th,.dense td{padding:.25rem .3rem}.dense tbody th{min-width:4.6em}
.dense .t+.n,.dense td.t{min-width:0}.wide{overflow-x:auto}
code{font:.9em ui-monospace,monospace,"Noto Sans CJK SC";overflow-wrap:anywhere}
figure{margin:1rem 0}figcaption{font-weight:600}
svg{display:block;width:100%%;max-width:46rem;height:auto}
svg text{font-size:12px;fill:var(--soft)}.grid{stroke:var(--line);stroke-width:1}
.curve{fill:none;stroke-width:2}.mark{fill:var(--ink)}.heat{fill:var(--s0)}
.legend{display:flex;flex-wrap:wrap;gap:.3rem 1.4rem;list-style:none;padding:0;font-size:.9rem}
.legend i{display:inline-block;width:.9em;height:.9em;margin-right:.4em;border-radius:2px}
ins,del{text-decoration:none}.added{background:var(--added)}.gone{background:var(--gone)}
.noise td{color:var(--soft);opacity:.75;font-style:italic}
@media screen and (max-width:40rem){body{margin:1rem auto}svg text{font-size:17px}
svg .o{display:none}
dl{grid-template-columns:1fr;gap:0}dd{margin:0 0 .5rem}
.many,.many tbody,.many tr,.many th,.many td,.many caption{display:block}.many thead{display:none}
.many tr{border-bottom:1px solid var(--line);padding:.4rem 0}
.many tbody th,.many td{border:0;padding:.1rem 0;text-align:left}.many tbody th{font-weight:600}
.many td::before{content:attr(data-label) ": ";color:var(--soft)}
.many td:empty,.versions td.t:empty{display:none}}
@page{size:A4;margin:16mm 14mm}
@media print{.wide{overflow:visible}
:root{color-scheme:light;--ink:#000;--soft:#444;--paper:#fff;--line:#bbb;
--added:#e2f4e6;--gone:#fbe6e2;%s}
body{max-width:none;margin:0;padding:0;font-size:10pt;print-color-adjust:exact;
-webkit-print-color-adjust:exact}
h1{font-size:15pt}h2{font-size:12pt;break-after:avoid}caption,figcaption{break-after:avoid}
thead{display:table-header-group}tr,figure,dt,dd,.short{break-inside:avoid}
table{font-size:8.5pt}th,td{padding:.12rem .35rem}tbody th{min-width:4.6em}.t+.n,td.t{min-width:0}
.many{font-size:7.5pt}.many td.n{white-space:normal}}
"""


def _colour_rules() -> str:
    return "".join(
        f".s{at}{{fill:var(--s{at})}}.l{at}{{stroke:var(--s{at})}}.b{at}{{background:var(--s{at})}}"
        for at in range(len(_COLOURS_BRIGHT))
    )


def _variables(colours: tuple[str, ...]) -> str:
    return ";".join(f"--s{at}:{colour}" for at, colour in enumerate(colours))


_BRIGHT = _variables(_COLOURS_BRIGHT)
STYLE = _STYLE % (_BRIGHT, _variables(_COLOURS_DARK), _BRIGHT) + _colour_rules()


def html_page(document: ReportDocument) -> str:
    """Return the whole report."""
    body = element("h1", text(document.title)) + _facts(document.about)
    body += "".join(_section(section, document.none) for section in document.sections)
    body += element("footer", text(document.footer))
    return page_markup(document.title, body, document.language)


def page_markup(title: str, body: str, language: str, head: str = "") -> str:
    """Return a page in the style of reports.

    Args:
        title: Its title.
        body: Its content, markup.
        language: Its language, as in HTML.
        head: More elements of its head, markup.
    """
    head = (
        element("meta", charset="utf-8")
        + element("meta", http_equiv="Content-Security-Policy", content=_POLICY)
        + element("meta", name="viewport", content="width=device-width, initial-scale=1")
        + element("meta", name="referrer", content="no-referrer")
        + element("title", text(title))
        + head
        + element("style", STYLE)
    )
    page = element("head", head) + element("body", element("main", body))
    return "<!DOCTYPE html>\n" + element("html", page, lang=language) + "\n"


def _facts(facts: Sequence[tuple[str, str]]) -> str:
    rows = (element("dt", text(name)) + element("dd", text(value)) for name, value in facts)
    return element("dl", "".join(rows)) if facts else ""


def _section(section: Section, none: str) -> str:
    parts = [element("h2", text(section.heading))] if section.heading else []
    parts += [element("p", text(line)) for line in section.text]
    parts.append(_facts(section.facts))
    for plot in section.plots:
        caption = element("figcaption", text(plot.title))
        parts.append(element("figure", caption + draw_plot(plot)))
    parts += (_table(table, none) for table in section.tables)
    if section.comparison is not None:
        parts.append(_comparison(section.comparison))
    return element("section", "".join(parts))


def _table(table: DataTable, none: str) -> str:
    caption = table.caption
    if len(table.rows) > MOST_ROWS:
        caption += f" (the first {MOST_ROWS:,} of {len(table.rows):,})"
    head = "".join(
        element("th", text(heading(column)), scope="col", class_=_class(column))
        for column in table.columns
    )
    rows = (element("tr", "".join(_cells(row, table.columns))) for row in table.rows[:MOST_ROWS])
    content = (
        element("caption", text(caption))
        + element("thead", element("tr", head))
        + element("tbody", "".join(rows) or _no_rows(len(table.columns), none))
    )
    kind = "many" if len(table.columns) >= MANY_COLUMNS else "few"
    if len(table.columns) >= DENSE_COLUMNS:
        kind += " dense"
    if len(table.rows) <= SHORT:
        kind += " short"
    return element("div", element("table", content, class_=kind), class_="wide")


def _cells(row: tuple[Cell, ...], columns: tuple[Column, ...]) -> Iterator[str]:
    for at, (cell, column) in enumerate(zip(row, columns, strict=True)):
        content = text(written(cell, column.form))
        if column.form is Format.URL:
            # Not a link: a report should send no reader to a hostile page.
            content = element("code", content)
        if at:
            # A narrow screen shows each row as a list, with its headings from here.
            yield element("td", content, class_=_class(column), data_label=heading(column))
        else:
            yield element("th", content, scope="row", class_=_class(column))


def _no_rows(columns: int, none: str = "none") -> str:
    return element("tr", element("td", text(none), colspan=str(columns)))


def _class(column: Column) -> str:
    return "n" if column.form in NUMERIC else "t"


def _comparison(comparison: Comparison) -> str:
    names = ("", comparison.old, comparison.new, "does not count because")
    head = "".join(element("th", text(name), scope="col") for name in names)
    rows = "".join(map(_render_compared, comparison.pieces)) or _no_rows(len(names))
    content = (
        element("caption", "Pieces that differ, in document order")
        + element("thead", element("tr", head))
        + element("tbody", rows)
    )
    return element("div", element("table", content, class_="versions many"), class_="wide")


def _render_compared(piece: Compared) -> str:
    was = "" if piece.was is None else element("del", text(piece.was))
    now = "" if piece.now is None else element("ins", text(piece.now))
    is_same = piece.was is not None and piece.was == piece.now
    if is_same:  # it is there as context
        was = now = text(piece.now or "")
    marked = not piece.noise and not is_same
    gone, added = "gone" if marked and was else "t", "added" if marked and now else "t"
    cells = (
        element("th", text(piece.kind), scope="row")
        + element("td", was, class_=gone, data_label="was")
        + element("td", now, class_=added, data_label="now")
        + element("td", text(piece.noise), data_label="does not count because")
    )
    return element("tr", cells, class_="change" if marked else "noise")
