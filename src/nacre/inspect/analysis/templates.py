"""The URL templates of a job: pages, rules for new links, and what looks like a trap (pure).

The URL templates of a job, for people (pure).

The kinds of URLs that the first crawl learned: which promise nothing new, and their queued URLs.
"""

from collections.abc import Iterable
from heapq import nsmallest

import msgspec

from nacre.core.pagerow import PageKind, PageRow
from nacre.core.urlshape import Shaped, date_of, shaped
from nacre.engine.candidates.prospects import endless_text
from nacre.frontier.novelty import AGAIN, KindRow, Promise
from nacre.inspect.analysis.analysis import Analysis
from nacre.inspect.analysis.recrawl_data import RecrawlData
from nacre.inspect.reports.base import ReportRequest
from nacre.messages import message
from nacre.planner.change_detection.deletion import Life
from nacre.planner.discovery.link_rules import LinkHistory, LinkRule, RuleChoice, RuleRow
from nacre.planner.discovery.traps import Parameter, judged, parameters
from nacre.report.document import Column, DataTable, Format, ReportDocument, Section
from nacre.report.formatting import span

_DAY = 86_400.0
_EXAMPLES = 3
_LATEST = 400
_MANY = 100
_FUTURE = 30 * _DAY
_MOST_FUTURE = 0.2
_FACETS = 3
_ALIKE = 0.2


class TemplateFacts(msgspec.Struct):
    """One template.

    Attributes:
        template: The template.
        urls: URLs heard of.
        visited: Those visited.
        live: Those there at the last visit.
        index: Those that are index pages.
        visits: Visits of all.
        changes: Changes seen at them.
        contents: Different payloads among the visited ones.
        rule: `T`, `S` or `K`: the rule for new links, see `planner.discovery.link_rules`.
        slack: Of rule T: days by which links come later than their date; of rule S: by how much
            numbers fall behind the highest; 0 for K.
        examples: Some of its URLs.
        trap: Why it looks like a trap; "" when it does not.
        waits: URLs that were never visited and wait, because a run visits few of a trap.
    """

    template: str
    urls: int
    visited: int
    live: int
    index: int
    visits: int
    changes: int
    contents: int
    rule: str
    slack: float
    examples: list[str]
    trap: str
    waits: int = 0


class RuleFacts(msgspec.Struct):
    """A rule at work in the job.

    Attributes:
        links: Site and layout of the URLs: templates that differ in plain words alone share a rule.
        rule: `T`, `S` or `K`.
        slack: As in `TemplateFacts`.
        highest: Of rule S: the highest number so far; 0 for the others.
        foreseen: New links that it took for new.
        late: New links that it did not, and that were fetched all the same.
        share: Of the new links that it judged, those that it took for new; None before any.
    """

    links: str
    rule: str
    slack: float
    highest: int
    foreseen: int
    late: int
    share: float | None


class TemplateList(msgspec.Struct):
    """All templates, those with the most URLs first.

    Attributes:
        templates: The templates.
        rules: The rules at work.
        parameters: Query parameters, those first whose value never changed a page.
        trap_share: Share of the visits of a run that traps may take, `recrawl.trap_share`.
    """

    templates: list[TemplateFacts]
    rules: list[RuleFacts] = []
    parameters: list[Parameter] = []
    trap_share: float = 0.0


def template_list(data: RecrawlData) -> TemplateList:
    """Make the list."""
    gathered = gather(data.rows())
    traps = judged(data.traps, data.rows())
    results = [_facts(name, item, traps.reason(name)) for name, item in gathered.items()]
    results.sort(key=lambda item: (-item.urls, item.template))
    rules = [_rule(name, row) for name, row in sorted(data.rules.items())]
    pages = ((row.url, row.digest) for row in data.rows() if row.kind is not PageKind.EMBED)
    return TemplateList(results, rules, parameters(pages), data.settings.trap_share)


def _rule(name: str, row: RuleRow) -> RuleFacts:
    choice = row.history.choice()
    slack = choice.slack / _DAY if choice.rule is LinkRule.TIMESTAMP else choice.slack
    return RuleFacts(
        name, str(choice.rule), slack, choice.highest, row.foreseen, row.late, row.share
    )


class TemplateRows:
    """The collected rows of one template."""

    def __init__(self) -> None:
        self.urls = self.visited = self.live = self.index = self.visits = self.changes = 0
        self.future = self.facets = 0
        self.contents: set[int] = set()
        self._seen: list[tuple[float, str]] = []
        self._first: str = ""

    def add(self, row: PageRow, item: Shaped) -> None:
        """Count a row."""
        self.urls += 1
        self.visited += row.visits > 0
        self.live += row.visits > 0 and row.life == Life.LIVE
        self.index += row.index >= 0.5
        self.visits += row.visits
        self.changes += row.changes
        self._first = min(self._first, row.url) if self._first else row.url
        if row.digest:
            self.contents.add(hash(row.digest))
        date = date_of(item.tokens)
        self.future += date is not None and date > row.first_seen + _FUTURE
        self.facets = max(self.facets, sum(part.startswith("?") for part in item.segments))
        self._seen.append((row.first_seen, row.url))

    def rule(self) -> RuleChoice:
        """The rule that fits the latest URLs."""
        history = LinkHistory()
        for first_seen, url in sorted(self._seen)[-_LATEST:]:
            history.add(shaped(url).tokens, first_seen)
        return history.choice()

    def examples(self) -> list[str]:
        """The earliest, and those seen last."""
        latest = nsmallest(_EXAMPLES, self._seen, key=lambda pair: (-pair[0], pair[1]))
        return list(dict.fromkeys([url for _, url in latest] + [self._first]))[:_EXAMPLES]


def gather(rows: Iterable[PageRow]) -> dict[str, TemplateRows]:
    """Rows by template; what pages embed is left out."""
    results: dict[str, TemplateRows] = {}
    for row in rows:
        if row.kind is not PageKind.EMBED:
            shape = shaped(row.url)
            results.setdefault(row.template or shape.name, TemplateRows()).add(row, shape)
    return results


def _facts(name: str, rows: TemplateRows, judged_trap: str) -> TemplateFacts:
    rule = rows.rule()
    slack = rule.slack / _DAY if rule.rule is LinkRule.TIMESTAMP else rule.slack
    return TemplateFacts(
        name,
        rows.urls,
        rows.visited,
        rows.live,
        rows.index,
        rows.visits,
        rows.changes,
        len(rows.contents),
        str(rule.rule),
        slack,
        rows.examples(),
        judged_trap or trap(rows),
        rows.urls - rows.visited if judged_trap else 0,
    )


def trap(item: TemplateRows) -> str:
    """The reason why a template looks like a trap: many URLs, little behind them; "" for none."""
    if item.urls < _MANY:
        return ""
    if item.future > _MOST_FUTURE * item.urls:
        return message(
            "study.calendar",
            "a calendar: {future:,} of its URLs name days still to come",
            future=item.future,
        )
    if item.visited >= _MANY and len(item.contents) < _ALIKE * item.visited:
        return message(
            "study.few-contents",
            "{visited:,} pages have only {number:,} different contents",
            visited=item.visited,
            number=len(item.contents),
        )
    if item.facets >= _FACETS and item.visited < item.urls / 2:
        return message(
            "study.parameter-combinations",
            "combinations of {facets} parameters, of which most were never visited",
            facets=item.facets,
        )
    return ""


_RULES = {
    LinkRule.TIMESTAMP: message("study.url-date", "the date in the URL"),
    LinkRule.SEQUENCE: message("study.url-number", "a rising number in the URL"),
    LinkRule.KEY: message("study.url-set", "the set of known URLs alone"),
}
"""The rule for new links, in words."""


def document(result: TemplateList) -> ReportDocument:
    """The list for people."""
    facts = tuple(
        (
            f"Rule {rule}",
            message("study.new-link-rule", "new links are recognized by {words}", words=words),
        )
        for rule, words in _RULES.items()
    )
    tables = [_templates(result.templates), _examples(result.templates)]
    if result.rules:
        tables.append(_rules(result.rules))
    if result.parameters:
        tables.append(_parameters(result.parameters))
    section = Section("", _text(result), facts, tables=tuple(tables))
    return ReportDocument("URL templates", (section,))


def _text(result: TemplateList) -> tuple[str, ...]:
    text = message(
        "study.rules-explained",
        "Rules T and S find missing URLs; a URL that is known already does not count.",
    )
    waits = sum(template.waits for template in result.templates)
    if not waits:
        return (text,)
    trapped = message(
        "study.trap-share",
        "{waits:,} URLs that were never visited lead into traps, and wait: a run spends "
        "{value:g} % of its visits on such URLs (`recrawl.trap_share`; 1 visits them all).",
        waits=waits,
        value=100 * result.trap_share,
    )
    return (text, trapped)


def _templates(templates: list[TemplateFacts]) -> DataTable:
    counts = (
        "URLs",
        "URLs visited",
        "living URLs",
        "index pages",
        "visits",
        "changes",
        "contents",
    )
    columns = (
        Column("template", Format.URL),
        *(Column(name, Format.COUNT) for name in counts),
        *(
            Column("rule"),
            Column("slack"),
            Column("trap"),
            Column("URLs that wait", Format.COUNT),
        ),
    )
    rows = tuple(
        (
            *(item.template, item.urls, item.visited, item.live, item.index),
            *(item.visits, item.changes, item.contents),
            *(item.rule, _slack(item), item.trap, item.waits or None),
        )
        for item in templates
    )
    return DataTable("Templates", columns, rows)


def _examples(templates: list[TemplateFacts]) -> DataTable:
    columns = (Column("template", Format.URL), Column("URL", Format.URL))
    rows = tuple((item.template, url) for item in templates for url in item.examples)
    return DataTable("Examples", columns, rows)


def _parameters(parameters: list[Parameter]) -> DataTable:
    columns = (
        *(Column("site", Format.NAME), Column("parameter", Format.NAME)),
        *(Column(name, Format.COUNT) for name in ("pairs of URLs", "pairs that are the same")),
        Column("idle"),
    )
    rows = tuple(
        (item.site, item.name, item.pairs, item.same, "yes" if item.idle else "")
        for item in parameters
    )
    return DataTable("Query parameters", columns, rows)


def _rules(rules: list[RuleFacts]) -> DataTable:
    columns = (
        *(
            Column("links"),
            Column("rule"),
            Column("slack"),
            Column("highest number", Format.COUNT),
        ),
        *(Column(name, Format.COUNT) for name in ("links foreseen", "links late")),
        Column("share", Format.SHARE),
    )
    rows = tuple(
        (
            *(item.links, item.rule, _slack(item), item.highest or None),
            *(item.foreseen, item.late, item.share),
        )
        for item in rules
    )
    return DataTable("Rules at work", columns, rows)


def _slack(item: TemplateFacts | RuleFacts) -> str:
    if item.rule == LinkRule.TIMESTAMP:
        return span(max(item.slack, 0.0))
    return f"{item.slack:,.0f}" if item.rule == LinkRule.SEQUENCE else ""


_MOST = 500
_NO_TRAP = message(
    "study.no-trap", "No trap was found so far: each kind of URLs had something new lately."
)
_ABOUT_TRAPS = (
    message(
        "study.traps-explained",
        "The last pages of these kinds of URLs had no text and no link that was new.",
    ),
    message(
        "study.traps-last",
        "They are fetched after all others. Where there is no end to them, each queue "
        "fetches `traps.budget` of them at the end of the run, and the rest is left out.",
    ),
    message(
        "study.traps-remedy",
        "To be rid of a kind, exclude it; to fetch more of it: `nacre run JOB --traps`.",
    ),
)
_WORDS = {
    Promise.NEW: "",
    Promise.POOR: message("study.nothing-new", "nothing new lately"),
    Promise.ENDLESS: "no end",
}
_WORDS_AGAIN = {
    Promise.NEW: "",
    Promise.POOR: message(
        "study.nothing-new-no-word", "nothing new lately, and no new word in the address"
    ),
    Promise.ENDLESS: message("study.endless-no-word", "no end, and no new word in the address"),
}
"""Those of kinds whose URLs had no new word."""


class KindFacts(msgspec.Struct, frozen=True):
    """A kind of URLs.

    Attributes:
        host: Its host.
        kind: Its name.
        promise: `new`, `poor` or `endless`.
        met: URLs of it that were found.
        visited: Those visited.
        read: Those that were checked for new content.
        new: Those of them that had something new.
        reason: Why it is endless; "" when it is not.
        example: One of its URLs.
    """

    host: str
    kind: str
    promise: str
    met: int
    visited: int
    read: int
    new: int
    reason: str
    example: str


class TrapList(msgspec.Struct, frozen=True):
    """The kinds that promise little, endless ones first; at most 500."""

    kinds: list[KindFacts]


def trap_list(data: RecrawlData) -> TrapList:
    """The list of kinds that had nothing new lately."""
    rows = [(host, row) for host, row in data.kinds() if row.promise is not Promise.NEW]
    rows.sort(key=lambda pair: (-pair[1].promise, pair[1].done - pair[1].met))
    return TrapList([_facts_endless(host, row) for host, row in rows[:_MOST]])


def _facts_endless(host: str, row: KindRow) -> KindFacts:
    promise = row.promise
    return KindFacts(
        host, row.name, promise.name.lower(), row.met, row.done, row.read, row.rich,
        endless_text(row), row.example,
    )  # fmt: skip


def _promised(facts: KindFacts) -> str:
    texts = _WORDS_AGAIN if facts.kind.startswith(AGAIN) else _WORDS
    return texts[Promise[facts.promise.upper()]]


def traps_document(result: TrapList) -> ReportDocument:
    """The list for people."""
    if not result.kinds:
        return ReportDocument("Traps", (Section("", (_NO_TRAP,)),))
    columns = (
        *(Column("host", Format.NAME), Column("kind", Format.NAME), Column("what it has")),
        *(Column("found", Format.COUNT), Column("fetched", Format.COUNT)),
        *(Column("with something new", Format.COUNT), Column("why"), Column("example", Format.URL)),
    )
    rows = tuple(
        (
            *(kind.host, kind.kind.removeprefix(AGAIN), _promised(kind)),
            *(max(kind.met, kind.visited, kind.read), max(kind.visited, kind.read)),
            *(kind.new, kind.reason, kind.example),
        )
        for kind in result.kinds
    )
    return ReportDocument(
        "Traps", (Section("", _ABOUT_TRAPS, tables=(DataTable("Kinds", columns, rows),)),)
    )


class TemplatesReport(Analysis):
    """The URL templates of a job."""

    name = "templates"
    summary = "URL templates, their rules for new links, traps"

    def analyze(self, data: RecrawlData, request: ReportRequest) -> TemplateList:
        """See `Analysis.analyze`."""
        return template_list(data)

    def document(self, data: TemplateList, request: ReportRequest) -> ReportDocument:
        """See `Report.document`."""
        return document(data)


class TrapsReport(Analysis):
    """Kinds of URLs that promise nothing new or have no end."""

    name = "traps"
    summary = "kinds of URLs that promise nothing new or have no end, as a full crawl met them"

    def analyze(self, data: RecrawlData, request: ReportRequest) -> TrapList:
        """See `Analysis.analyze`."""
        return trap_list(data)

    def document(self, data: TrapList, request: ReportRequest) -> ReportDocument:
        """See `Report.document`."""
        return traps_document(data)
