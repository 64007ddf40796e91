"""Compares the content of a visit with the last version of the page."""

from collections import Counter
from collections.abc import Callable, MutableMapping, Sequence
from functools import lru_cache
from typing import NamedTuple, Protocol
from urllib.parse import urlsplit

from msgspec import structs

from nacre.core.pagerow import PageRow, PageView
from nacre.core.urlshape import shaped
from nacre.extract.pageview import page_view
from nacre.extract.walls import (
    CHALLENGE,
    CONSENT,
    EMPTY,
    GEO_BLOCKED,
    PAYWALL,
    RATE_LIMITED,
    SIGNED_OUT,
    asks_first,
    looks_blocked,
)
from nacre.planner.change_detection.change import (
    ORDER,
    SAME,
    Change,
    ChangeClass,
    ChangeSettings,
    compare,
    compare_whole,
)
from nacre.planner.change_detection.deletion import (
    Answer,
    ErrorModel,
    is_same_page,
    looks_failed,
    looks_gone,
)
from nacre.planner.change_detection.pairing import differences, in_document_order
from nacre.planner.change_detection.returning import (
    FAILURES,
    RETURNED,
    PastVersions,
    own_text,
    whole_version,
    with_past,
    with_wholes,
)
from nacre.planner.change_detection.template import (
    PieceDifference,
    Template,
    event_keys,
    in_words,
    on_urls,
)
from nacre.planner.discovery.index_pages import (
    INDEX,
    LinkFacts,
    index_probability,
)
from nacre.planner.discovery.traps import says
from nacre.planner.tuning import guess
from nacre.planner.visited import DigestJudge, Visited, VisitFinding
from nacre.uri.parse import Resolver, authority

_HTML = ("text/html", "application/xhtml+xml")
_LARGEST = 2_000_000
"""A bound of work: longer pages are compared by payload, bytes."""
_PAIRS = guess(
    "judge.pairs", 10, "Number of paired fetches of a site after which its noise is known."
)
RENDERED = "rendered"
"""Reason of a visit that ran a page in a browser for the first time: nothing is compared."""
_LINKS = frozenset(("link", "nav-link", "file"))
"""Kinds of pieces that are addresses of other pages."""


_TURNED_AWAY = frozenset((CHALLENGE, RATE_LIMITED, GEO_BLOCKED, EMPTY))
_ASKED_FIRST = frozenset((SIGNED_OUT, CONSENT))
"""Walls that may be the whole page: they are none if it never was another."""
_CUT = 0.5
"""Share of its text that a page has at most, if a paywall cut it."""


class Versions(Protocol):
    """Returns the last judged version of a page, stored or not, and receives each new one."""

    def last(self, url: str) -> PageView | None:
        """Return the last version, parsed; None if there is none, or it cannot be read."""
        ...

    def keep(self, url: str, view: PageView) -> None:
        """Set the last version."""
        ...


class Lessons(NamedTuple):
    """The knowledge learned from all pages so far, kept in the store.

    Attributes:
        templates: By site: noise, the frame of its pages, events of the run.
        errors: By host and directory: the answers to made-up names, which do not exist.
        past: By URL: the digests of the texts that a page had.
    """

    templates: MutableMapping[str, Template]
    errors: MutableMapping[str, ErrorModel]
    past: MutableMapping[str, PastVersions]

    @classmethod
    def none(cls) -> "Lessons":
        """Nothing was learned yet; in memory."""
        return cls({}, {}, {})

    def template(self, url: str) -> Template:
        """The knowledge from the pages of the site of a URL."""
        name = authority(url)
        site_template = self.templates.get(name)
        if site_template is None:
            site_template = self.templates[name] = Template()
        return site_template

    def error_model(self, url: str) -> ErrorModel:
        """Return the answers of a URL's host to made-up names in the URL's directory."""
        name = directory(url)
        model = self.errors.get(name)
        if model is None:
            model = self.errors[name] = ErrorModel()
        return model


class PageJudge:
    """Compares pages by their text and links, and all other files by their payload.

    Args:
        versions: Earlier versions of the pages.
        lessons: The knowledge learned so far; visits add to it.
        settings: When a difference is a change.
        view: Parses a page; None for `view_of`.
    """

    def __init__(
        self,
        versions: Versions,
        lessons: Lessons,
        settings: ChangeSettings,
        view: Callable[[Visited], PageView] | None = None,
    ) -> None:
        self._view = view or view_of
        self._versions = versions
        self.lessons = lessons
        self._settings = settings
        self._by_blocks = settings.signature == "blocks"
        self._plain = DigestJudge()
        self._read: tuple[str, PageView | None] = "", None
        self._before: PageView | None = None

    def judge(self, row: PageRow, visit: Visited) -> VisitFinding:
        """See `nacre.planner.visited.Judge`."""
        self._before = None
        if visit.wall in _TURNED_AWAY or (row.digest and visit.wall in _ASKED_FIRST):
            return VisitFinding(Answer.SILENT, reason="blocked")
        if visit.status in {301, 302, 303, 307, 308}:
            return self._redirected(row, visit)
        page = visit.status == 200 and visit.mime in _HTML and visit.length <= _LARGEST
        if not page or (row.digest and visit.digest == row.digest):
            blocked = looks_blocked(visit.status, None)
            return VisitFinding(Answer.SILENT) if blocked else self._plain.judge(row, visit)
        return self._judge_page(row, visit)

    def _judge_page(self, row: PageRow, visit: Visited) -> VisitFinding:
        """Compare a page with its last version."""
        view = self._view(visit)
        self._read = visit.digest, view
        if looks_blocked(200, view):
            return VisitFinding(Answer.SILENT, reason="blocked")
        old = self._before = self._versions.last(visit.url)
        if visit.wall == PAYWALL and old is not None and _is_cut(old, view):
            return VisitFinding(Answer.SILENT, reason="blocked")
        model = self.lessons.error_model(visit.url)
        if looks_gone(visit.url, view, old, model, self.lessons.template(visit.url)):
            return VisitFinding(Answer.SOFT, reason="soft-404")
        if old is None:
            model.learn_words(visit.url, view)
        elif self._has_failed(row, old, view):
            return VisitFinding(Answer.SILENT, reason="failed")
        return self._compared(row, visit, old, view)

    def _has_failed(self, row: PageRow, old: PageView, view: PageView) -> bool:
        """Whether a page lacks its text, at few visits in a row so far; the visit is counted."""
        template = self.lessons.template(row.url)
        if not self._by_blocks or not looks_failed(view, old, template):
            return False
        past = self.lessons.past.get(row.url) or _first_past(old)
        # A visit without an answer is not counted: the number of visits stays.
        failures = past.failures + 1 if past.failed_at == row.visits else 1
        self.lessons.past[row.url] = structs.replace(past, failed_at=row.visits, failures=failures)
        return failures <= FAILURES

    def _compared(
        self, row: PageRow, visit: Visited, old: PageView | None, view: PageView
    ) -> VisitFinding:
        template = self.lessons.template(visit.url)
        facts = link_facts(visit)
        listing = index_probability(shaped(row.url), view.shape, facts, row.fertile, row.depth)
        # A version that cannot be read back says nothing: what has other bytes is a change then.
        change = Change(ChangeClass.MAJOR, 1.0, "payload") if row.digest else SAME
        if view.rendered and row.digest and (old is None or not old.rendered):
            # The shell of the page, read before, says nothing of what the page said.
            old, change = None, Change(ChangeClass.NONE, 0.0, RENDERED)
        if old is not None:
            change = self._verdict(old, view, template, listing=listing >= INDEX)
            template.learn_visit(old, view)
            template.begin_run(visit.time)
            template.learn_differences([difference for difference, _ in change.differing])
            change = self._with_past(row, visit.url, old, view, change)
        moves = change.kind.is_change or change.kind is ChangeClass.TEMPLATE
        is_kept = old is None or moves or change.reason == RETURNED
        if is_kept:
            template.learn_page(view, old)
            self._versions.keep(visit.url, view)
        noise, suspect = 0.0, 0
        if self._by_blocks:
            noise, suspect = template.noise, _suspect(change, template)
        return VisitFinding(
            *(Answer.THERE, change.kind, change.score, change.reason, listing),
            noise=noise,
            suspect=suspect,
            is_version=is_kept,
            proven=change.proven,
            evidence=evidence_of(change, template),
            unproven=change.unproven if change.kind.is_change else (),
            differing=_decisive(change, old, view),
            view=view,
        )

    def _with_past(
        self, row: PageRow, url: str, old: PageView, view: PageView, change: Change
    ) -> Change:
        """Return the verdict, corrected by the versions before the last one."""
        if not self._by_blocks or change.proven:
            return change
        past, visits = self.lessons.past.get(url) or _first_past(old), row.visits
        if change.kind.is_change:
            change, past = with_past(change, past, own_text(view), visits)
            if change.reason == RETURNED and not change.kind.is_change:
                self.lessons.template(url).learn_variants(url, change.real)
        change, self.lessons.past[url] = with_wholes(change, past, whole_version(view), visits)
        return change

    def _verdict(
        self, old: PageView, view: PageView, template: Template, *, listing: bool
    ) -> Change:
        if self._by_blocks:
            return compare(old, view, template, self._settings, listing=listing)
        return compare_whole(old, view, self._settings)

    def pair(self, row: PageRow, visit: Visited) -> frozenset[int]:
        """See `nacre.planner.visited.Judge`."""
        first = self._versions.last(visit.url)
        if first is None or visit.status != 200 or visit.mime not in _HTML:
            return frozenset()
        second = self._view(visit)
        template = self.lessons.template(visit.url)
        comparison = compare(first, second, template, self._settings)
        changed, shuffled = comparison.kind.is_change, comparison.reason == ORDER
        differing = differences(first.pieces, second.pieces)
        return template.learn_pair(
            *(first, second, differing), looked_changed=changed, shuffled=shuffled
        )

    def pairs_wanted(self, url: str) -> int:
        """See `Judge` of the planner; a signature of the whole page learns no noise."""
        if not self._by_blocks:
            return 0
        return max(0, _PAIRS - self.lessons.template(url).pairs)

    def says(self, visit: Visited) -> int:
        """See `nacre.planner.visited.Judge`."""
        digest, view = self._read
        if view is None or digest != visit.digest or visit.status != 200:
            return self._plain.says(visit)
        return says(view, visit.url)

    def dropped(self, visit: Visited) -> Sequence[str]:
        """See `nacre.planner.visited.Judge`."""
        digest, view = self._read
        if self._before is None or view is None or digest != visit.digest:
            return ()
        here = {piece.text for piece in view.pieces if piece.kind in _LINKS}
        lost = (piece.text for piece in self._before.pieces if piece.kind in _LINKS)
        gone = [text for text in dict.fromkeys(lost) if text not in here]
        resolver = Resolver(visit.url) if gone else None
        urls = [resolver.resolve(text) for text in gone] if resolver is not None else []
        return [url for url in urls if url]

    def _redirected(self, row: PageRow, visit: Visited) -> VisitFinding:
        target = next((link.url for link in visit.links if link.hop == "R"), "")
        if row.digest and asks_first(visit.url, target, visit.status):
            return VisitFinding(Answer.SILENT, reason="blocked")
        if is_same_page(visit.url, target):
            return VisitFinding(Answer.MOVED, reason="redirect")
        model = self.lessons.error_model(visit.url)
        sink = model.is_sink(target, visit.url) or (
            urlsplit(target).path in {"", "/"} and urlsplit(visit.url).path not in {"", "/"}
        )
        if target and authority(target) == authority(visit.url):
            model.learn_redirect(visit.url, target)
        return VisitFinding(Answer.SOFT if sink else Answer.MOVED, reason="redirect")


def _is_cut(old: PageView, view: PageView) -> bool:
    """Whether a page lost most of its text."""
    return view.shape.text < _CUT * old.shape.text


def _first_past(old: PageView) -> PastVersions:
    """Return the past of a page that had one version."""
    return PastVersions((own_text(old),), wholes=(whole_version(old),))


def _suspect(change: Change, template: Template) -> int:
    """Return the place of a change that is only at a place with possible noise; 0 for none."""
    places = [difference.piece.place for difference in change.real] if change.kind.is_change else []
    return places[0] if places and all(map(template.is_suspect, places)) else 0


def _decisive(change: Change, old: PageView | None, view: PageView) -> Sequence[PieceDifference]:
    """Return the differences that make a change, in order; a signature of the page names none."""
    if not change.kind.is_change or old is None:
        return ()
    deciding = change.real or [pair for pair, _ in change.differing]
    deciding = deciding or differences(old.pieces, view.pieces)
    return [pair for _, pair in in_document_order(deciding, old.pieces, view.pieces)]


_SHOWN = 3
"""Differences that are kept as evidence of a verdict."""


def evidence_of(change: Change, template: Template) -> str:
    """Return the first decisive differences as text: `3.2.1 → 3.2.3; + Careers; and 2 more`."""
    deciding = change.real or [
        difference for difference, code in change.differing if code == change.reason
    ]
    if not deciding:
        return ""
    words = [in_words(difference) for difference in deciding[:_SHOWN]]
    if len(deciding) > _SHOWN:
        words.append(f"and {len(deciding) - _SHOWN} more")
    proof = ""
    if change.reason == "event":
        proof = on_urls(min(template.witnesses(event_keys(difference)) for difference in deciding))
    return proof + "; ".join(words)


def view_of(visit: Visited) -> PageView:
    """Return the parsed page of a visit, marked as truncated if its body was cut."""
    body = visit.body()
    view = page_view(body.decode("utf-8", "replace"))
    if visit.rendered:
        view = structs.replace(view, rendered=True)
    return structs.replace(view, truncated=True) if len(body) >= _LARGEST else view


_shaped = lru_cache(maxsize=16_384)(shaped)
"""Whether most links of a page are on many other pages too."""


def link_facts(visit: Visited) -> LinkFacts:
    """The facts about the links of a page that show whether it is an index page."""
    own = authority(visit.url)
    names = Counter(
        shape.name
        for link in visit.links
        if link.hop == "L" and authority(link.url) == own and (shape := _shaped(link.url)).tokens
    )
    total = sum(names.values())
    share = names.most_common(1)[0][1] / total if total else 0.0
    return LinkFacts(total, share)


def directory(url: str) -> str:
    """Host and directory of a URL."""
    return f"{authority(url)}{urlsplit(url).path.rpartition('/')[0]}/"
