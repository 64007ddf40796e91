"""A job's knowledge in memory, for the studies."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from nacre.core.history import FetchRow
from nacre.core.pagerow import PageRow
from nacre.frontier.novelty import KindRow
from nacre.inspect.analysis.recrawl_data import Run
from nacre.inspect.archived_replies import ArchivedReply
from nacre.planner.change_detection.change import ChangeSettings
from nacre.planner.change_detection.template import Template
from nacre.planner.change_rate.rates import NO_EVIDENCE, observe
from nacre.planner.discovery.hints import MapRow, ReplyAudit
from nacre.planner.discovery.link_rules import RuleRow
from nacre.planner.discovery.traps import TrapRow
from nacre.planner.schedules.timetable import Due
from nacre.planner.settings import RecrawlSettings
from nacre.planner.sites import SiteRow

DAY = 86_400.0
MONDAY = 1_795_392_000.0
"""Monday, 23 November 2026, 0 h UTC."""
SITE = "http://a.test"


class Given:
    """`Known` of given parts."""

    def __init__(self, **settings: object) -> None:
        self.now = MONDAY + 30 * DAY
        self.settings = RecrawlSettings.model_validate(settings)
        self.change = ChangeSettings()
        self.sites: Mapping[str, SiteRow] = {}
        self.rules: dict[str, RuleRow] = {}
        self.maps: dict[str, MapRow] = {}
        self.traps: dict[str, TrapRow] = {}
        self.given_kinds: list[tuple[str, KindRow]] = []
        self.templates: dict[str, Template] = {}
        self.audits: dict[str, ReplyAudit] = {}
        self.given_runs: list[Run] = []
        self.given_rows: list[PageRow] = []
        self.given_visits: list[FetchRow] = []
        self.texts: dict[str, str] = {}
        self.given_captures: list[ArchivedReply] = []
        self.given_due: dict[str, Due] = {}

    def kinds(self) -> list[tuple[str, KindRow]]:
        return self.given_kinds

    def runs(self) -> Sequence[Run]:
        return self.given_runs

    def row(self, url: str) -> PageRow | None:
        return next((row for row in self.given_rows if row.url == url), None)

    def rows(self) -> Iterator[PageRow]:
        return iter(self.given_rows)

    def due(self, row: PageRow) -> Due | None:
        return self.given_due.get(row.url)

    def visits(self) -> Iterator[FetchRow]:
        return iter(sorted(self.given_visits, key=lambda one: one.time))

    def captures(self, urls: Collection[str]) -> Iterator[ArchivedReply]:
        return (one for one in self.given_captures if one.url in urls)

    def text(self, capture: ArchivedReply) -> str | None:
        return self.texts.get(capture.date)

    # ---- making it

    def run(self, number: int, day: float, **more: object) -> Run:
        """Add a run that began on a day; the first one is full."""
        started = MONDAY + day * DAY
        facts = {
            "mode": "full" if number == 1 else "incremental",
            "parent": f"run{number - 1}" if number > 1 else "",
            "ended": started + 100.0,
            "elapsed": 100.0,
        } | more
        found = Run(number=number, name=f"run{number}", started=started, **facts)  # type: ignore[arg-type]
        self.given_runs.append(found)
        return found

    def page(self, path: str, *, visits: int = 1, last: float = 0.0, **more: object) -> PageRow:
        """Add a page of template `/page`, last visited on a day."""
        facts: dict[str, object] = {
            "template": f"{SITE}/page",
            "first_seen": MONDAY,
            "last_visit": MONDAY + last * DAY if visits else 0.0,
            "bytes": 1000,
            "digest": f"sha1:{path}" if visits else "",
        }
        row = PageRow(SITE + path, visits=visits, **(facts | more))  # type: ignore[arg-type]
        self.given_rows.append(row)
        return row

    def visit(self, path: str, day: float, run: int, **more: object) -> FetchRow:
        """Add a visit on a day."""
        facts: dict[str, object] = {
            "status": 200, "answer": "there", "kind": "none", "bytes": 1000, "stored": "duplicate",
            "wanted": "rate" if run > 1 else "",
        } | more  # fmt: skip
        found = FetchRow(SITE + path, MONDAY + day * DAY, run=run, **facts)  # type: ignore[arg-type]
        self.given_visits.append(found)
        return found

    def capture(self, path: str, date: str, text: str = "", **more: object) -> ArchivedReply:
        """Add a captured page."""
        facts: dict[str, object] = {
            "status": "200", "mime": "text/html", "digest": f"sha1:{date}", "file": "a.warc.gz",
            "offset": 7,
        } | more  # fmt: skip
        found = ArchivedReply(SITE + path, date, **facts)  # type: ignore[arg-type]
        self.given_captures.append(found)
        self.texts[date] = text
        return found


def evidence(interval: float, bits: str) -> bytes:
    """Of visits at an even interval, days: `1` for a change, `0` for none."""
    found = NO_EVIDENCE
    for bit in bits:
        found = observe(found, interval, changed=bit == "1")
    return found
