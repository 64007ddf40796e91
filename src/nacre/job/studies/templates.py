"""The URL templates of a job: pages, rules for new links, and what looks like a trap (pure)."""

from collections.abc import Iterable
from heapq import nsmallest

import msgspec

from nacre.core.pagerow import PageKind, PageRow
from nacre.history.finding.linkrules import Choice, LinkHistory, LinkRule
from nacre.history.finding.linkwatch import RuleRow
from nacre.history.finding.parameters import Parameter, parameters
from nacre.history.finding.traps import judged
from nacre.history.finding.urlshape import Shaped, date_of, shaped
from nacre.history.verdict.deletion import Life
from nacre.job.studies.known import Known

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
        rule: `T`, `S` or `K`: what tells a new link, see `history.finding.linkrules`.
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
        templates: They.
        rules: The rules at work.
        parameters: Query parameters, those first whose value never changed a page.
        trap_share: Share of the visits of a run that traps may take, `recrawl.trap_share`.
    """

    templates: list[TemplateFacts]
    rules: list[RuleFacts] = []
    parameters: list[Parameter] = []
    trap_share: float = 0.0


def template_list(known: Known) -> TemplateList:
    """Make the list."""
    gathered = gather(known.rows())
    traps = judged(known.traps, known.rows())
    found = [_facts(name, one, traps.reason(name)) for name, one in gathered.items()]
    found.sort(key=lambda one: (-one.urls, one.template))
    rules = [_rule(name, row) for name, row in sorted(known.rules.items())]
    pages = ((row.url, row.digest) for row in known.rows() if row.kind is not PageKind.EMBED)
    return TemplateList(found, rules, parameters(pages), known.settings.trap_share)


def _rule(name: str, row: RuleRow) -> RuleFacts:
    choice = row.history.choice()
    slack = choice.slack / _DAY if choice.rule is LinkRule.TIMESTAMP else choice.slack
    return RuleFacts(
        name, str(choice.rule), slack, choice.highest, row.foreseen, row.late, row.share
    )


class Gathered:
    """What the rows of one template tell."""

    def __init__(self) -> None:
        self.urls = self.visited = self.live = self.index = self.visits = self.changes = 0
        self.future = self.facets = 0
        self.contents: set[int] = set()
        self._seen: list[tuple[float, str]] = []
        self._first: str = ""

    def add(self, row: PageRow, one: Shaped) -> None:
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
        date = date_of(one.tokens)
        self.future += date is not None and date > row.first_seen + _FUTURE
        self.facets = max(self.facets, sum(part.startswith("?") for part in one.segments))
        self._seen.append((row.first_seen, row.url))

    def rule(self) -> Choice:
        """The rule that the latest URLs speak for."""
        history = LinkHistory()
        for first_seen, url in sorted(self._seen)[-_LATEST:]:
            history.add(shaped(url).tokens, first_seen)
        return history.choice()

    def examples(self) -> list[str]:
        """The earliest, and those seen last."""
        latest = nsmallest(_EXAMPLES, self._seen, key=lambda seen: (-seen[0], seen[1]))
        return list(dict.fromkeys([url for _, url in latest] + [self._first]))[:_EXAMPLES]


def gather(rows: Iterable[PageRow]) -> dict[str, Gathered]:
    """Rows by template; what pages embed is left out."""
    found: dict[str, Gathered] = {}
    for row in rows:
        if row.kind is not PageKind.EMBED:
            one = shaped(row.url)
            found.setdefault(row.template or one.name, Gathered()).add(row, one)
    return found


def _facts(name: str, one: Gathered, judged_trap: str) -> TemplateFacts:
    rule = one.rule()
    slack = rule.slack / _DAY if rule.rule is LinkRule.TIMESTAMP else rule.slack
    return TemplateFacts(
        name,
        one.urls,
        one.visited,
        one.live,
        one.index,
        one.visits,
        one.changes,
        len(one.contents),
        str(rule.rule),
        slack,
        one.examples(),
        judged_trap or trap(one),
        one.urls - one.visited if judged_trap else 0,
    )


def trap(one: Gathered) -> str:
    """Why a template looks like a trap: many URLs and little behind them; "" when it does not."""
    if one.urls < _MANY:
        return ""
    if one.future > _MOST_FUTURE * one.urls:
        return f"a calendar: {one.future:,} of its URLs name days still to come"
    if one.visited >= _MANY and len(one.contents) < _ALIKE * one.visited:
        return f"{one.visited:,} pages have only {len(one.contents):,} different contents"
    if one.facets >= _FACETS and one.visited < one.urls / 2:
        return f"combinations of {one.facets} parameters, of which most were never visited"
    return ""
