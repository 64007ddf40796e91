"""The experiment as a report: the paper's table with recall beside it, and what limits it."""

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


def document(found: CrawlComparison, folder: str) -> ReportDocument:
    """The whole report; `folder` is where the results are, for what to look at next."""
    plan = found.plan
    title = f"The paper's experiment on {plan.world}, {plan.days:g} days, seed {plan.seed}"
    sections = _crawls(found), _recalls(found), _least(found), _missed(found), _next(found, folder)
    return ReportDocument(title, sections)


def _crawls(found: CrawlComparison) -> Section:
    site = PUBLISHED.get(found.plan.world)
    text = (
        "A full crawl, an incremental one and another full one, by the real crawler over HTTP; "
        "hours are requests times the politeness delay, MB are bytes of payload stored. The last "
        "five columns are what a run saved: against full 1, as the paper counts, and against full "
        "2, the crawl that it replaces. Recall: of the pages that are new, changed or gone, those "
        "that the archive holds as they are.",
    )
    facts = (
        ("hints", found.plan.hints),
        ("kept", found.keep),
        ("problems in WARCs", str(len(found.problems))),
    )
    rows = tuple(_row(one, found) for one in _runs(found))
    apart = tuple(_apart(one, found) for one in (found.incremental, found.paper))
    tables = [
        DataTable("Measured here", _TABLE, rows),
        DataTable("Requests saved, pages and embeds apart", _APART, apart),
    ]
    if site is not None:
        tables.insert(0, DataTable(f"Published: {site.name}", _TABLE, _published(site)))
    return Section("The paper's table", text, facts, tables=tuple(tables))


def _runs(found: CrawlComparison) -> tuple[CrawlFigures, ...]:
    return found.full1, found.full2, found.incremental, found.paper


def _published(site: PublishedSite) -> tuple[tuple[Cell, ...], ...]:
    one, two, run = site.first, site.second, site.incremental
    saving: tuple[Cell, ...] = (
        saved(run.hours, one.hours), saved(run.megabytes, one.megabytes),
        saved(run.hours, two.hours), saved(run.megabytes, two.megabytes),
        saved(run.html, two.html),
    )  # fmt: skip
    return (_of_paper(one), _of_paper(two), (*_of_paper(run)[:7], *saving))


def _of_paper(row: Published) -> tuple[Cell, ...]:
    figures: tuple[Cell, ...] = (row.run, row.megabytes, row.hours, row.html)
    return (*figures, *(None for _ in range(len(_TABLE) - len(figures))))


def _row(one: CrawlFigures, found: CrawlComparison) -> tuple[Cell, ...]:
    cells: tuple[Cell, ...] = (
        one.name, round(one.stored / _MEGA, 1), round(one.hours, 2), one.html, one.requests,
        one.embeds, _all(one),
    )  # fmt: skip
    if one.name.startswith("full"):
        return (*cells, *(None for _ in range(5)))
    first, second = saving(one, found.full1), saving(one, found.full2)
    return (*cells, first.time, first.storage, second.time, second.storage, second.html)


def _apart(one: CrawlFigures, found: CrawlComparison) -> tuple[Cell, ...]:
    first, second = saving(one, found.full1), saving(one, found.full2)
    return one.name, first.requests, first.embeds, second.requests, second.embeds


def _all(one: CrawlFigures) -> float | None:
    """Recall in all; a full crawl has no evidence of what is gone, but that it does not meet it."""
    return None if one.name == "full 2" else one.recall("epoch")


def _recalls(found: CrawlComparison) -> Section:
    columns = (Column("run"), *(Column(name, Format.SHARE) for name, _, _ in _RECALL))
    rows = []
    for one in (found.full2, found.incremental, found.paper):
        cells: list[Cell] = [one.recall(group, name) for _, group, name in _RECALL]
        if one is found.full2:
            cells[0] = cells[3] = cells[5] = None
        rows.append((one.name, *cells))
    text = (
        "Of what differs from the first crawl, the share that the archive holds as it is now. A "
        "full crawl leaves no evidence of pages that are gone, it just does not meet them. NPR: "
        "of the pages born since; a page that was born and went away or moved in between counts.",
    )
    return Section("Completeness", text, tables=(DataTable("Recall", columns, tuple(rows)),))


def _least(found: CrawlComparison) -> Section:
    full, least = found.full2, found.least
    rows = tuple(_against(one, full, least) for one in (found.incremental, found.paper))
    facts = (
        ("necessary HTML pages", _of(least.html, full.html)),
        ("necessary requests", _of(least.requests, full.requests)),
        ("necessary embeds", _of(least.embeds, full.embeds)),
        ("necessary bytes", f"{least.stored / _MEGA:,.1f} MB"),
        (f"all rates known, {AIM:.0%} recall", _of(found.bound.requests(AIM), full.html)),
    )
    text = (
        "S_rel is 1 for who fetches just what is necessary: lists, and what is new, changed or "
        "gone; more than that tells of what was missed. Without hints nobody knows the events: "
        "who knows all true rates and visits HTML pages in their order is bounded by the curve.",
    )
    plot, points = _curve(found)
    tables = (DataTable("Against the least possible", _LEAST, rows), points)
    return Section("What could be saved", text, facts, (plot,), tables)


def _curve(found: CrawlComparison) -> tuple[Curves, DataTable]:
    """The bound, what was reached, and the numbers of both."""
    runs = (found.incremental, found.paper)
    marks = (
        *((one.html, one.recall("epoch") or 0.0, one.name) for one in runs),
        (found.least.html, 1.0, "necessary"),
    )
    curve = Curve("all rates known, no hints", found.bound.curve())
    bounds = ((found.bound.requests(part), part, f"bound, {part:.1%}") for part in _POINTS)
    columns = (Column(""), Column("HTML pages", Format.COUNT), Column("recall", Format.SHARE))
    rows = tuple((name, pages, recall) for pages, recall, name in (*bounds, *marks))
    plot = Curves("Recall against HTML pages fetched", "HTML pages", "recall", (curve,), marks)
    return plot, DataTable("The curve", columns, rows)


def _against(one: CrawlFigures, full: CrawlFigures, least: Necessary) -> tuple[Cell, ...]:
    part = relative(one, full, least)
    return (
        one.name, part["requests"], part["embeds"], part["time"],
        share(one.requests, least.requests), share(one.stored, least.stored),
    )  # fmt: skip


def _of(part: float, whole: float) -> str:
    less = max(0.0, 1.0 - part / whole) if whole else 0.0
    return f"{part:,.0f} of {whole:,.0f}: at most {written_share(less)} can be saved"


def _missed(found: CrawlComparison) -> Section:
    columns = (Column("kind"), Column("change"), Column("why"), Column("URLs", Format.COUNT))
    table = DataTable("What the incremental crawl missed", columns, tuple(counted(found.missed)))
    return Section("What was missed", tables=(table,))


def _scoring(found: CrawlComparison, folder: str) -> str:
    plan = found.plan
    return (
        f"nacre simweb score {folder}/job --log {folder}/server.log --world {plan.world} "
        f"--seed {plan.seed} --hints {plan.hints} --days {plan.days:g} --every {plan.days:g}d"
    )


def _next(found: CrawlComparison, folder: str) -> Section:
    text = [
        "missed.tsv names every URL that was missed and why; paper.json has every measure.",
        f"What the crawler itself made of it: nacre report {folder}/job savings; likewise "
        "decisions and hints.",
        f"The score again, from the WARCs: {_scoring(found, folder)}",
    ]
    if found.missed:
        kind, change, why, number = counted(found.missed)[0]
        text.insert(0, f"First the {number:,} of kind {kind} that are {change} and were {why}.")
    if found.problems:
        text.insert(0, f"The WARCs have problems: {found.problems[0]}")
    return Section("What to look at next", tuple(text))
