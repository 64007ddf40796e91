"""The experiment as a report: the paper's table with recall, and its limits."""

from nacre.report.document import (
    Cell,
    Column,
    Curve,
    Curves,
    DataTable,
    Format,
    ReportDocument,
    Section,
)
from nacre.report.formatting import share as written_share
from nacre_simweb.paper.experiment import CrawlComparison
from nacre_simweb.paper.figures import CrawlFigures, Necessary, relative, saving
from nacre_simweb.paper.missed import counted
from nacre_simweb.paper.published import PUBLISHED, Published, PublishedSite, saved
from nacre_simweb.recall import share

_MEGA = 1e6
AIM = 0.99
"""Recall at which the bound is given (G1q)."""
_POINTS = (0.5, 0.8, 0.9, 0.95, AIM, 0.995)
_TABLE = (
    Column("run"), Column("MB", Format.NUMBER), Column("hours", Format.NUMBER),
    Column("HTML", Format.COUNT), Column("requests", Format.COUNT), Column("embeds", Format.COUNT),
    Column("recall", Format.SHARE),
    Column("time, full 1", Format.SHARE), Column("MB, full 1", Format.SHARE),
    Column("time, full 2", Format.SHARE), Column("MB, full 2", Format.SHARE),
    Column("HTML, full 2", Format.SHARE),
)  # fmt: skip
_APART = (
    Column("run"), Column("pages, full 1", Format.SHARE), Column("embeds, full 1", Format.SHARE),
    Column("pages, full 2", Format.SHARE), Column("embeds, full 2", Format.SHARE),
)  # fmt: skip
_RECALL = (
    ("all", "epoch", "recall"), ("new", "epoch", "recall_new"),
    ("changed", "epoch", "recall_changed"), ("gone", "epoch", "recall_gone"),
    ("NPR", "new_pages", "recall"), ("DR", "deletions", "recall"),
    ("lists", "epoch_lists", "recall"), ("files", "epoch_files", "recall"),
    ("embeds", "epoch_embeds", "recall"),
)  # fmt: skip
_LEAST = (
    Column("run"), Column("S_rel, pages", Format.SHARE), Column("S_rel, embeds", Format.SHARE),
    Column("S_rel, time", Format.SHARE), Column("pages / necessary", Format.NUMBER),
    Column("MB / necessary", Format.NUMBER),
)  # fmt: skip


def document(comparison: CrawlComparison, folder: str) -> ReportDocument:
    """Return the whole report; `folder` is where the results are, for what to look at next."""
    plan = comparison.plan
    title = f"The paper's experiment on {plan.world}, {plan.days:g} days, seed {plan.seed}"
    sections = (
        _crawls(comparison),
        _recalls(comparison),
        _least(comparison),
        _missed(comparison),
        _next(comparison, folder),
    )
    return ReportDocument(title, sections)


def _crawls(comparison: CrawlComparison) -> Section:
    site = PUBLISHED.get(comparison.plan.world)
    text = (
        "A full crawl, an incremental one and another full one, by the real crawler over HTTP; "
        "hours are requests times the politeness delay, MB are bytes of payload stored. The last "
        "five columns are what a run saved: against full 1, as the paper counts, and against full "
        "2, the crawl that it replaces. Recall: of the pages that are new, changed or gone, those "
        "that the archive holds as they are.",
    )
    facts = (
        ("hints", comparison.plan.hints),
        ("kept", comparison.keep),
        ("problems in WARCs", str(len(comparison.problems))),
    )
    rows = tuple(_row(crawl, comparison) for crawl in _runs(comparison))
    apart = tuple(_apart(crawl, comparison) for crawl in (comparison.incremental, comparison.paper))
    tables = [
        DataTable("Measured here", _TABLE, rows),
        DataTable("Requests saved, pages and embeds apart", _APART, apart),
    ]
    if site is not None:
        tables.insert(0, DataTable(f"Published: {site.name}", _TABLE, _published(site)))
    return Section("The paper's table", text, facts, tables=tuple(tables))


def _runs(comparison: CrawlComparison) -> tuple[CrawlFigures, ...]:
    return comparison.full1, comparison.full2, comparison.incremental, comparison.paper


def _published(site: PublishedSite) -> tuple[tuple[Cell, ...], ...]:
    full1, full2, run = site.first, site.second, site.incremental
    saving: tuple[Cell, ...] = (
        saved(run.hours, full1.hours), saved(run.megabytes, full1.megabytes),
        saved(run.hours, full2.hours), saved(run.megabytes, full2.megabytes),
        saved(run.html, full2.html),
    )  # fmt: skip
    return (_of_paper(full1), _of_paper(full2), (*_of_paper(run)[:7], *saving))


def _of_paper(row: Published) -> tuple[Cell, ...]:
    figures: tuple[Cell, ...] = (row.run, row.megabytes, row.hours, row.html)
    return (*figures, *(None for _ in range(len(_TABLE) - len(figures))))


def _row(crawl: CrawlFigures, comparison: CrawlComparison) -> tuple[Cell, ...]:
    cells: tuple[Cell, ...] = (
        crawl.name, round(crawl.stored / _MEGA, 1), round(crawl.hours, 2), crawl.html,
        crawl.requests, crawl.embeds, _all(crawl),
    )  # fmt: skip
    if crawl.name.startswith("full"):
        return (*cells, *(None for _ in range(5)))
    first, second = saving(crawl, comparison.full1), saving(crawl, comparison.full2)
    return (*cells, first.time, first.storage, second.time, second.storage, second.html)


def _apart(crawl: CrawlFigures, comparison: CrawlComparison) -> tuple[Cell, ...]:
    first, second = saving(crawl, comparison.full1), saving(crawl, comparison.full2)
    return crawl.name, first.requests, first.embeds, second.requests, second.embeds


def _all(crawl: CrawlFigures) -> float | None:
    """Return the total recall; None for a full crawl, whose only evidence of removal is absence."""
    return None if crawl.name == "full 2" else crawl.recall("epoch")


def _recalls(comparison: CrawlComparison) -> Section:
    columns = (Column("run"), *(Column(name, Format.SHARE) for name, _, _ in _RECALL))
    rows = []
    for crawl in (comparison.full2, comparison.incremental, comparison.paper):
        cells: list[Cell] = [crawl.recall(group, name) for _, group, name in _RECALL]
        if crawl is comparison.full2:
            cells[0] = cells[3] = cells[5] = None
        rows.append((crawl.name, *cells))
    text = (
        "Of what differs from the first crawl, the share that the archive holds as it is now. A "
        "full crawl leaves no evidence of pages that are gone, it just does not meet them. NPR: "
        "of the pages born since; a page that was born and went away or moved in between counts.",
    )
    return Section("Completeness", text, tables=(DataTable("Recall", columns, tuple(rows)),))


def _least(comparison: CrawlComparison) -> Section:
    full, least = comparison.full2, comparison.least
    rows = tuple(
        _against(crawl, full, least) for crawl in (comparison.incremental, comparison.paper)
    )
    facts = (
        ("necessary HTML pages", _of(least.html, full.html)),
        ("necessary requests", _of(least.requests, full.requests)),
        ("necessary embeds", _of(least.embeds, full.embeds)),
        ("necessary bytes", f"{least.stored / _MEGA:,.1f} MB"),
        (f"all rates known, {AIM:.0%} recall", _of(comparison.bound.requests(AIM), full.html)),
    )
    text = (
        "S_rel is 1 for who fetches just what is necessary: lists, and what is new, changed or "
        "gone; more than that tells of what was missed. Without hints nobody knows the events: "
        "who knows all true rates and visits HTML pages in their order is bounded by the curve.",
    )
    plot, points = _curve(comparison)
    tables = (DataTable("Against the least possible", _LEAST, rows), points)
    return Section("What could be saved", text, facts, (plot,), tables)


def _curve(comparison: CrawlComparison) -> tuple[Curves, DataTable]:
    """Return the plot of the bound and the reached values, and its numbers."""
    runs = (comparison.incremental, comparison.paper)
    marks = (
        *((crawl.html, crawl.recall("epoch") or 0.0, crawl.name) for crawl in runs),
        (comparison.least.html, 1.0, "necessary"),
    )
    curve = Curve("all rates known, no hints", comparison.bound.curve())
    bounds = ((comparison.bound.requests(part), part, f"bound, {part:.1%}") for part in _POINTS)
    columns = (Column(""), Column("HTML pages", Format.COUNT), Column("recall", Format.SHARE))
    rows = tuple((name, pages, recall) for pages, recall, name in (*bounds, *marks))
    plot = Curves("Recall against HTML pages fetched", "HTML pages", "recall", (curve,), marks)
    return plot, DataTable("The curve", columns, rows)


def _against(crawl: CrawlFigures, full: CrawlFigures, least: Necessary) -> tuple[Cell, ...]:
    part = relative(crawl, full, least)
    return (
        crawl.name, part["requests"], part["embeds"], part["time"],
        share(crawl.requests, least.requests), share(crawl.stored, least.stored),
    )  # fmt: skip


def _of(part: float, whole: float) -> str:
    less = max(0.0, 1.0 - part / whole) if whole else 0.0
    return f"{part:,.0f} of {whole:,.0f}: at most {written_share(less)} can be saved"


def _missed(comparison: CrawlComparison) -> Section:
    columns = (Column("kind"), Column("change"), Column("why"), Column("URLs", Format.COUNT))
    table = DataTable(
        "What the incremental crawl missed", columns, tuple(counted(comparison.missed))
    )
    return Section("What was missed", tables=(table,))


def _scoring(comparison: CrawlComparison, folder: str) -> str:
    plan = comparison.plan
    return (
        f"nacre simweb score {folder}/job --log {folder}/server.log --world {plan.world} "
        f"--seed {plan.seed} --hints {plan.hints} --days {plan.days:g} --every {plan.days:g}d"
    )


def _next(comparison: CrawlComparison, folder: str) -> Section:
    text = [
        "missed.tsv names every URL that was missed and why; paper.json has every measure.",
        f"What the crawler itself made of it: nacre report {folder}/job savings; likewise "
        "decisions and hints.",
        f"The score again, from the WARCs: {_scoring(comparison, folder)}",
    ]
    if comparison.missed:
        kind, change, reason, number = counted(comparison.missed)[0]
        text.insert(0, f"First the {number:,} of kind {kind} that are {change} and were {reason}.")
    if comparison.problems:
        text.insert(0, f"The WARCs have problems: {comparison.problems[0]}")
    return Section("What to look at next", tuple(text))
