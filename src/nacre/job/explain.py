"""Why a URL was or was not crawled, and by which rule."""

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from nacre.config.effective import Effective
from nacre.core.crawluri import CrawlURI
from nacre.core.stamp import iso_millis
from nacre.core.status import describe
from nacre.errors import URIError
from nacre.frontier.queues import State
from nacre.frontier.repose import why_it_rests
from nacre.frontier.roster import read_queue
from nacre.frontier.rows import queue_id
from nacre.frontier.settings import PolitenessSettings
from nacre.history.crawldb import History
from nacre.history.timing import NEVER
from nacre.job.assemble import canonicalizer
from nacre.job.explanation import (
    CaptureAnswer,
    Explanation,
    PendingAnswer,
    PrerequisiteAnswer,
    QueueAnswer,
    RuleOpinion,
    ScopeAnswer,
    Standing,
    Step,
)
from nacre.job.identity import Identity
from nacre.job.names import HostAnswers
from nacre.job.normalizing import normalizing
from nacre.job.offline import View
from nacre.job.origins import settings_for
from nacre.job.outcomes import Outcome, Outcomes
from nacre.job.outside import Outside, Refusal
from nacre.job.preloaded import Preloaded
from nacre.job.preview import make_sheets
from nacre.job.robots_answer import robots_answer
from nacre.job.robots_cache import RobotsCache
from nacre.job.rulefiles import RuleFiles
from nacre.job.scoping import scope_state
from nacre.job.seedbook import SeedBook
from nacre.job.sheet_list import sheet_list
from nacre.job.sheets import Sheets
from nacre.job.upcoming import Upcoming
from nacre.job.waiting import Waiting, find_waiting
from nacre.scope.compile import compile_scope
from nacre.scope.rule import Scope, Subject
from nacre.store.table import file_rows
from nacre.uri.parse import host, origin, parse

_SHOWN = ("politeness", "robots", "frontier")
_MOST_STEPS = 60


class _Origin(NamedTuple):
    """How a URL was found; `known` is False where that is assumed."""

    url: str
    path: str
    via: str
    context: str = ""
    source: str = ""
    known: bool = True


class Explainer:
    """Answers for any number of URLs.

    Args:
        view: The job.
    """

    def __init__(self, view: View) -> None:
        self._view = view
        settings, store = view.settings, view.store
        self._hosts = HostAnswers(store)
        self._outcomes = Outcomes(store)
        self._outside = Outside(store)
        self._history = History(store)
        self._scope, self._seeds, self._sheets = self._scope_now()
        effective = self._sheets.overlays.settings
        self._robots = RobotsCache(store, effective.then(lambda s: s.robots))
        self._identity = (
            view.session.parts.identity
            if view.session is not None
            else Identity(
                canonicalizer(settings.uri),
                effective.then(lambda s: s.frontier),
                self._addresses,
                Preloaded(canonicalizer(settings.uri), RuleFiles(view.layout.root).read_lines),
            )
        )

    def _scope_now(self) -> tuple[Effective[Scope], SeedBook, Sheets]:
        if self._view.session is not None:
            parts = self._view.session.parts
            return parts.candidates.scope, parts.seeds, parts.sheets
        view = self._view
        root = view.layout.root
        state = scope_state(root, RuleFiles(root), queue_of=self._queue_of)
        seeds = SeedBook(view.store, state)
        seeds.load()
        sheets = make_sheets(view.settings, sheet_list(view.settings, view.layout.root), state)
        rules = sheets.overlays.settings.then(lambda s: s.scope)
        return rules.then(lambda listed: compile_scope(listed, state)), seeds, sheets

    def explain(self, text: str) -> Explanation:
        """Everything about a URL.

        Raises:
            URIError: It is none.
        """
        url = self._normal(self._parsed(text))
        key = self._identity.key(url)
        outcome = self._outcomes.get(key)
        busy = self._in_process(key)
        waiting = None if busy else self._waiting(url, key, finished=outcome is not None)
        refusal = None if outcome or busy or waiting else self._outside.get(key)
        pending = waiting.uri if waiting else busy
        found = self._origin(url, pending, outcome, refusal)
        queue = pending.queue if pending else self._queue_of(url)
        subject = self._subject(found)
        overlay = self._sheets.of(pending) if pending else self._sheets.overlay(subject)
        settings = self._sheets.overlays.settings[overlay]
        standing = self._standing(key, busy, waiting, outcome, refusal)
        if standing is Standing.UNKNOWN and self._history.get(found.url) is not None:
            standing = Standing.KNOWN
        due, due_why = self._due(found.url)
        return Explanation(
            url=url,
            canonical=self._identity.canonical(url),
            standing=standing,
            same_as=found.url if found.url != url else "",
            status=outcome.status if outcome else None,
            meaning=describe(outcome.status) if outcome else "",
            error=outcome.error if outcome else "",
            time=_iso(outcome.finished) if outcome else "",
            annotations=outcome.annotations if outcome else (),
            path=found.path if found.known else "",
            via=found.via if found.known else "",
            context=found.context,
            way=self._way(found.via) if found.known else [],
            scope=self._scope_answer(overlay, subject, found, refusal),
            robots=robots_answer(self._robots, found.url, settings.robots.policy, overlay),
            queue=self._queue_answer(queue, overlay),
            pending=_pending(waiting) if waiting else None,
            behind=self._behind(waiting),
            politeness=politeness_text(settings.politeness),
            capture=self._capture(found.url, outcome),
            sheets=self._sheets.names(overlay),
            due=due,
            due_why=due_why,
            settings=list(settings_for(self._sheets, overlay, _SHOWN, self._view.origin)),
        )

    def _due(self, url: str) -> tuple[str, str]:
        """When it is visited again, and why; a running job has no time to ask the planner."""
        upcoming = Upcoming(self._view, self._view.clock.now())
        found = upcoming.scheduled(url) if self._view.session else upcoming.of(url)
        if found is None:
            return "", ""
        return _iso(round(found.time * 1e6)) if found.time < NEVER else "never", found.why

    def _normal(self, url: str) -> str:
        """The form that the job's normalizers give it, unless it is known as it is."""
        settings = self._view.settings
        if not settings.uri.normalize or self._outcomes.get(self._identity.key(url)):
            return url
        forms = normalizing(settings, RuleFiles(self._view.layout.root))
        return (forms.link(url) if forms else None) or url

    def _parsed(self, text: str) -> str:
        limit = self._view.settings.uri.max_length
        try:
            return parse(text, max_length=limit)
        except URIError:
            if "://" in text:
                raise
        guesses = [parse(f"{scheme}://{text}", max_length=limit) for scheme in ("https", "http")]
        known = [url for url in guesses if self._outcomes.get(self._identity.key(url))]
        asked = [url for url in guesses if self._robots.last(origin(url))]
        return [*known, *asked, *guesses][0]

    # ---- where it stands

    def _standing(
        self,
        key: bytes,
        busy: CrawlURI | None,
        waiting: Waiting | None,
        outcome: Outcome | None,
        refusal: Refusal | None,
    ) -> Standing:
        if busy is not None:
            return Standing.IN_PROCESS
        if waiting is not None:
            return Standing.QUEUED
        if outcome is not None:
            return Standing.FINISHED
        if refusal is not None:
            return Standing.REFUSED
        seen = self._view.store.get("seen", key) is not None
        return Standing.SEEN if seen else Standing.UNKNOWN

    def _in_process(self, key: bytes) -> CrawlURI | None:
        session = self._view.session
        if session is None:
            return None
        visits = list(session.parts.engine.current.values())
        return next((visit.uri for visit in visits if visit.uri.key == key), None)

    def _waiting(self, url: str, key: bytes, *, finished: bool) -> Waiting | None:
        """The URI in its queue, or among those that wait for their time."""
        store = self._view.store
        if finished or store.get("seen", key) is None:
            return None
        return find_waiting(store, self._queue_of(url), key)

    def _behind(self, waiting: Waiting | None) -> PrerequisiteAnswer | None:
        """What the URI waits for: its host's addresses or its robots.txt, when these wait too."""
        if waiting is None or not waiting.uri.url.startswith(("http:", "https:")):
            return None
        uri = waiting.uri
        for url in (f"dns:{host(uri.url)}", f"{origin(uri.url)}/robots.txt"):
            key = self._identity.key(url)
            busy = self._in_process(key)
            found = None if busy else find_waiting(self._view.store, uri.queue, key)
            if busy:
                return PrerequisiteAnswer(url, busy.attempts, busy.last_status)
            if found:
                left = None if found.due is None else found.due - self._view.clock.now()
                wanted = found.uri
                return PrerequisiteAnswer(url, wanted.attempts, wanted.last_status, left)
        return None

    def _origin(
        self,
        url: str,
        pending: CrawlURI | None,
        outcome: Outcome | None,
        refusal: Refusal | None,
    ) -> _Origin:
        if pending is not None:
            return _Origin(pending.url, pending.path, pending.via, pending.context, pending.source)
        row = outcome or refusal
        if row is not None:
            return _Origin(row.url, row.path, row.via, row.context)
        first = next(self._seeds.rows(), None)
        return _Origin(url, "L", first.url if first else "", known=False)

    def _way(self, via: str) -> list[Step]:
        """Pages from the seed on, found backwards; bounded, and safe against circles."""
        steps: list[Step] = []
        passed: set[str] = set()
        while via and via not in passed and len(steps) < _MOST_STEPS:
            passed.add(via)
            outcome = self._outcomes.get(self._identity.key(via))
            path = outcome.path if outcome else ""
            steps.append(Step(via, path[-1:], outcome.status if outcome else None))
            via = outcome.via if outcome else ""
        return steps[::-1]

    # ---- what others say of it

    def _subject(self, found: _Origin) -> Subject:
        is_seed = found.known and self._seeds.knows(found.url)
        seed = self._owner(found) if found.known else ""
        return Subject(found.url, found.path, found.via, found.context, is_seed, found.source, seed)

    def _owner(self, found: _Origin) -> str:
        """The seed with a scope of its own that a URL descends from; "" for none."""
        if not self._seeds.has_owners:
            return ""
        way = self._way(found.via)
        return self._seeds.owner(way[0].url if way else found.url)

    def _scope_answer(
        self, overlay: int, subject: Subject, found: _Origin, refusal: Refusal | None
    ) -> ScopeAnswer:
        scope = self._scope[overlay]
        verdict = scope.judge(subject)
        opinions = [
            RuleOpinion(opinion.name, str(verdict.decision), str(opinion.decision), opinion.depth)
            for opinion, verdict in zip(scope.opinions, scope.trace(subject), strict=True)
        ]
        return ScopeAnswer(
            str(verdict.decision),
            verdict.rule,
            opinions,
            assumed=not found.known,
            refused_by=refusal.rule if refusal else "",
        )

    def _queue_of(self, url: str) -> str:
        return self._identity.queue(url, self._sheets.of_url(url))

    def _addresses(self, name: str) -> Sequence[str]:
        answer = self._hosts.get(name, self._view.clock.now())
        return answer.addresses if answer else ()

    def _queue_answer(self, name: str, overlay: int) -> QueueAnswer:
        settings = self._sheets.overlays.settings[overlay].frontier
        wait = None
        row = None
        if self._view.session is not None:
            queue = self._view.session.parts.frontier.rotation.roster.get(name)
            if queue is not None:
                row = queue.row
                wait = max(queue.wake - self._view.clock.monotonic(), 0.0)
        row = row or read_queue(self._view.store, queue_id(name))
        if row is None:
            return QueueAnswer(name)
        return QueueAnswer(
            name,
            self._state_text(State(row.state)),
            row.size + row.waiting,
            row.errors,
            row.delay,
            wait,
            row.backoff,
            row.last_peek,
            why_it_rests(row, settings, wait),
            row.precedence,
            row.spent,
            settings.queue_total_budget,
        )

    def _state_text(self, state: State) -> str:
        if state is State.IN_PROCESS and self._view.session is None:
            return "ready"  # a process that is gone had it; the next one begins with it
        return state.name.lower().replace("_", " ")

    def _capture(self, url: str, outcome: Outcome | None) -> CaptureAnswer | None:
        known = self._history.get(url)
        file = outcome.file if outcome else ""
        if known is None and not file:
            return None
        path = self._path_of(file) if file else ""
        offset = outcome.offset if outcome else 0
        if known is None:
            return CaptureAnswer(path, offset)
        date = _iso(known.date)
        return CaptureAnswer(path, offset, date, known.digest, known.visits, known.original)

    def _path_of(self, name: str) -> str:
        """Path of a WARC relative to the job, by its name."""
        for _, row in file_rows(self._view.store):
            for path in (row.path, row.final):
                if PurePosixPath(path).name.removesuffix(".open") == name.removesuffix(".open"):
                    return row.final if row.state == "closed" else row.path
        return name


def _pending(waiting: Waiting) -> PendingAnswer:
    uri = waiting.uri
    return PendingAnswer(
        waiting.where, waiting.ahead, uri.directive, uri.precedence, uri.attempts, uri.last_status
    )


def politeness_text(politeness: PolitenessSettings) -> str:
    """The politeness of the settings, in words."""
    if politeness.delay is not None:
        return f"{politeness.delay:g} s between fetches, {politeness.in_flight} at a time"
    return (
        f"{politeness.delay_factor:g} times the last fetch, {politeness.min_delay:g} to "
        f"{politeness.max_delay:g} s, {politeness.in_flight} at a time"
    )


def _iso(micros: int) -> str:
    return iso_millis(micros / 1_000_000) if micros > 0 else ""
