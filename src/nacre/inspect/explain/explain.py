"""Answers why a URL was or was not crawled, and which rule decided."""

from collections.abc import Sequence
from itertools import islice
from pathlib import PurePosixPath

from msgspec.structs import replace

from nacre.assembly.rules import open_rules
from nacre.config.effective import Effective
from nacre.core.clock import iso_millis
from nacre.core.status import describe
from nacre.engine.candidates.identity import Identity, Preloaded, canonicalizer
from nacre.engine.candidates.normalizing import normalizing
from nacre.engine.candidates.prospects import Prospects
from nacre.engine.candidates.scope_state import RuleFiles
from nacre.engine.outcomes import Outcome
from nacre.engine.prerequisites import HostAnswers, RobotsCache
from nacre.engine.seeding.seedbook import SeedBook
from nacre.frontier.operator import why_it_waits
from nacre.frontier.policy import delay_limit
from nacre.frontier.queue_cache import read_queue
from nacre.frontier.queues import QueueRow, QueueState
from nacre.frontier.rows import queue_id
from nacre.history.dedup import History
from nacre.inspect.explain.answers import (
    CaptureAnswer,
    Explanation,
    PendingAnswer,
    QueueAnswer,
    ScopeAnswer,
    Standing,
    origin_under,
    politeness_text,
    robots_answer,
    rule_opinions,
    settings_for,
)
from nacre.inspect.explain.next_visits import NextVisits
from nacre.inspect.explain.signing import SigningAnswer, signing_answer
from nacre.inspect.explain.url_state import FoundVia, UrlLookup, UrlState, WaitingUri
from nacre.inspect.reports.seed_outcomes import SeedOutcomes
from nacre.inspect.rights import url_rights
from nacre.inspect.view import View
from nacre.machine.clock import machine_clock
from nacre.messages import message
from nacre.planner.schedules.schedules import NEVER
from nacre.scope.compile import accepted_prefixes
from nacre.scope.scope import Decision, Scope
from nacre.scope.subject import Subject
from nacre.settings.sheets import Sheets
from nacre.store.file_table import file_rows
from nacre.uri.parse import origin, parse
from nacre.uri.typed import is_whole, take_login, typed_url, without_login
from nacre.wire.urltext import spellings

_SHOWN = ("politeness", "robots", "frontier")
_MOST_PREFIXES = 3
"""SURT prefixes that an explanation names."""
_MORE = "…"


class Explainer:
    """Answers for any number of URLs.

    Args:
        view: The job.
    """

    def __init__(self, view: View) -> None:
        self._view = view
        self._clock = view.clock
        self._live = view.live
        self._root = view.layout.root
        settings, store = view.settings, view.store
        self._max_length = settings.uri.max_length
        self._hosts = HostAnswers(store)
        self._history = History(store)
        self._scope, self._seeds, self._sheets = self._scope_now()
        effective = self._sheets.settings
        self._robots = RobotsCache(store, effective.then(lambda s: s.robots))
        self._identity = (
            view.live.identity
            if view.live is not None
            else Identity(
                canonicalizer(settings.uri),
                effective.then(lambda s: s.frontier),
                self._addresses,
                Preloaded(canonicalizer(settings.uri), RuleFiles(view.layout.root).read_lines),
            )
        )
        self._prospects = Prospects(
            store, effective.then(lambda s: s.traps), self._sheets.of, read_only=True
        )
        self._places = UrlLookup(view, self._identity, self._queue_of, self._first_seed)

    def _first_seed(self) -> str:
        first = next(self._seeds.rows(), None)
        return first.url if first else ""

    def _scope_now(self) -> tuple[Effective[Scope], SeedBook, Sheets]:
        live = self._view.live
        if live is not None:
            return live.scope, live.seeds, live.sheets
        view = self._view
        rules = open_rules(view.settings, view.layout.root, queue_of=self._queue_of)
        seeds = SeedBook(view.store, rules.scope_state)
        seeds.load()
        return rules.scope(), seeds, rules.sheets

    def explain(self, text: str) -> Explanation:
        """Everything about a URL.

        Raises:
            URIError: It is none.
        """
        url = self._as_known(self._normal(self._parsed(text)))
        place = self._places.find(url)
        discovery, pending, outcome = place.discovery, place.pending, place.outcome
        subject = self._subject(discovery)
        overlay = self._sheets.of(pending) if pending else self._sheets.overlay(subject)
        settings = self._sheets.settings[overlay]
        due, due_why = self._due(discovery.url)
        explanation = Explanation(
            url=url,
            canonical=self._identity.canonical(url),
            standing=self._standing(place),
            same_as=discovery.url if discovery.url != url else "",
            context=discovery.context,
            scope=self._scope_answer(overlay, subject, place),
            meaning=self._scope_text(overlay, subject),
            robots=robots_answer(self._robots, discovery.url, settings.robots.policy, overlay),
            queue=self._queue_answer(pending.queue if pending else self._queue_of(url), overlay),
            pending=_pending(place.waiting) if place.waiting else None,
            behind=self._places.behind(place.waiting),
            politeness=politeness_text(settings.politeness),
            capture=self._capture(discovery.url, outcome),
            sheets=self._sheets.names(overlay),
            due=due,
            due_why=due_why,
            later=self._prospects.reason(pending) if pending else "",
            settings=list(settings_for(self._sheets, overlay, _SHOWN, self._view.origin)),
            recorded=self._view.layout.is_recording,
            signing=self._signing(discovery.url, overlay),
        )
        if outcome or place.waiting:
            explanation = self._with_cause(explanation, discovery.url, outcome)
        if outcome or explanation.standing is Standing.KNOWN:
            rights = url_rights(self._view.store, discovery.url, round(self._clock.now() * 1e6))
            explanation = replace(explanation, rights=rights)
        if discovery.is_known:
            way = self._places.way(discovery.via)
            explanation = replace(explanation, path=discovery.path, via=discovery.via, way=way)
        return _with_outcome(explanation, outcome) if outcome else explanation

    def _with_cause(
        self, explanation: Explanation, url: str, outcome: Outcome | None
    ) -> Explanation:
        end = SeedOutcomes(self._view.store, self._identity).outcome_of(url, outcome)
        if not end.cause or not end.tries:
            return explanation
        now = self._clock.now()
        wait = None if end.next_try is None else max(end.next_try - now, 0.0)
        return replace(explanation, not_got=end, next_try=wait)

    def _signing(self, url: str, overlay: int) -> SigningAnswer | None:
        """How requests are signed; those of a recording are not the crawler's."""
        if self._view.layout.is_recording or not url.startswith(("http:", "https:")):
            return None
        settings = self._sheets.settings[overlay].identity
        origin = origin_under(self._sheets, overlay, "identity.key", self._view.origin)
        return signing_answer(settings, machine_clock(self._clock).now(), origin)

    def _standing(self, place: UrlState) -> Standing:
        standing = self._places.standing(place)
        if standing is Standing.UNKNOWN and self._history.get(place.discovery.url) is not None:
            return Standing.KNOWN
        return standing

    def _due(self, url: str) -> tuple[str, str]:
        """When it is visited again, and why; a running job has no time to ask the planner."""
        upcoming = NextVisits(self._view, self._clock.now())
        result = upcoming.scheduled(url) if self._view.live else upcoming.of(url)
        if result is None:
            return "", ""
        return _iso(round(result.time * 1e6)) if result.time < NEVER else "never", result.reason

    def _normal(self, url: str) -> str:
        """The form that the job's normalizers give it, unless it is known as it is."""
        settings = self._view.settings
        if not settings.uri.normalize or self._places.outcome(url):
            return url
        forms = normalizing(settings.uri, RuleFiles(self._root))
        return (forms.link(url) if forms else None) or url

    def _as_known(self, url: str) -> str:
        """The URL in the encoding that the job knows it in; in its own when it knows none."""
        if self._knows(url):
            return url
        return next((spelling for spelling in spellings(url) if self._knows(spelling)), url)

    def _knows(self, url: str) -> bool:
        is_found = self._places.standing(self._places.find(url)) is not Standing.UNKNOWN
        return is_found or self._history.get(url) is not None

    def _parsed(self, text: str) -> str:
        limit = self._max_length
        if is_whole(text):
            return take_login(parse(text, max_length=limit))[0]
        url = typed_url(
            without_login(text),
            lambda: (row.url for row in self._seeds.rows()),
            self._knows,
            max_length=limit,
        )
        plain = f"http{url.removeprefix('https')}"
        if url != plain and not self._knows(url) and self._robots.last(origin(plain)):
            return url if self._robots.last(origin(url)) else plain
        return url

    # ---- what others say of it

    def _subject(self, discovery: FoundVia) -> Subject:
        is_seed = discovery.is_known and self._seeds.knows(discovery.url)
        seed = self._owner(discovery) if discovery.is_known else ""
        return Subject(
            discovery.url,
            discovery.path,
            discovery.via,
            discovery.context,
            is_seed,
            discovery.source,
            seed,
        )

    def _owner(self, discovery: FoundVia) -> str:
        """Return the seed with a separate scope that a URL descends from; "" for none."""
        if not self._seeds.has_owners:
            return ""
        way = self._places.way(discovery.via)
        return self._seeds.owner(way[0].url if way else discovery.url)

    def _scope_answer(self, overlay: int, subject: Subject, place: UrlState) -> ScopeAnswer:
        scope = self._scope[overlay]
        verdict = scope.judge(subject)
        return ScopeAnswer(
            str(verdict.decision),
            verdict.rule,
            rule_opinions(scope, subject),
            assumed=not place.discovery.is_known,
            refused_by=place.refusal.rule if place.refusal else "",
        )

    def _scope_text(self, overlay: int, subject: Subject) -> str:
        """What the scope accepts, for a URL that no rule of it speaks of; "" for another URL."""
        scope = self._scope[overlay]
        verdict = scope.judge(subject)
        if verdict.accepted or not (scope.is_first(verdict) or verdict.decision is Decision.NONE):
            return ""
        rules = self._sheets.settings[overlay].scope
        accepted = accepted_prefixes(rules, self._seeds.scope_state)
        prefixes = list(islice(accepted, _MOST_PREFIXES + 1))
        if not prefixes:
            return message("explain.no-rule-accepts", "No rule of the scope accepts it.")
        more = [_MORE] * (len(prefixes) > _MOST_PREFIXES)
        return message(
            "explain.accepted-prefixes",
            "No rule of the scope accepts it; the scope accepts URLs that begin with {prefixes} "
            "(SURT).",
            prefixes=", ".join([*prefixes[:_MOST_PREFIXES], *more]),
        )

    def _queue_of(self, url: str) -> str:
        return self._identity.queue(url, self._sheets.of_url(url))

    def _addresses(self, name: str) -> Sequence[str]:
        answer = self._hosts.get(name, self._clock.now())
        return answer.addresses if answer else ()

    def _queue_answer(self, name: str, overlay: int) -> QueueAnswer:
        settings = self._sheets.settings[overlay].frontier
        wait = None
        row = None
        result = self._live.queue(name) if self._live is not None else None
        if result is not None:
            row, wait = result
        row = row or read_queue(self._view.store, queue_id(name))
        if row is None:
            return QueueAnswer(name)
        if self._view.live is None and not self._view.running:
            row = _at_rest(row)
        return QueueAnswer(
            name,
            self._state_text(QueueState(row.state)),
            row.size + row.waiting,
            row.errors,
            row.delay,
            wait,
            row.backoff,
            row.last_peek,
            why_it_waits(row, settings, wait),
            row.precedence,
            row.spent,
            settings.queue_total_budget,
            row.cause,
            delay_limit(self._sheets.settings[overlay].politeness, row.cause),
        )

    def _state_text(self, state: QueueState) -> str:
        if state is QueueState.IN_PROCESS and self._view.live is None:
            return "ready"  # a process that is gone had it; the next one begins with it
        return state.name.lower().replace("_", " ")

    def _capture(self, url: str, outcome: Outcome | None) -> CaptureAnswer | None:
        record = self._history.get(url)
        file = outcome.file if outcome else ""
        if record is None and not file:
            return None
        path = self._path_of(file) if file else ""
        offset = outcome.offset if outcome else 0
        if record is None:
            return CaptureAnswer(path, offset)
        date = _iso(record.date)
        return CaptureAnswer(path, offset, date, record.digest, record.visits, record.original)

    def _path_of(self, name: str) -> str:
        """Path of a WARC relative to the job, by its name."""
        for _, row in file_rows(self._view.store):
            for path in (row.path, row.final):
                if PurePosixPath(path).name.removesuffix(".open") == name.removesuffix(".open"):
                    return row.final if row.state == "closed" else row.path
        return name


def _with_outcome(explanation: Explanation, outcome: Outcome) -> Explanation:
    return replace(
        explanation,
        status=outcome.status,
        meaning=describe(outcome.status),
        error=outcome.error,
        time=_iso(outcome.finished),
        annotations=outcome.annotations,
    )


def _pending(waiting: WaitingUri) -> PendingAnswer:
    uri = waiting.uri
    return PendingAnswer(
        waiting.where, waiting.ahead, uri.directive, uri.precedence, uri.attempts, uri.last_status
    )


def _iso(micros: int) -> str:
    return iso_millis(micros / 1_000_000) if micros > 0 else ""


def _at_rest(row: QueueRow) -> QueueRow:
    """The row of a queue that no process looks at: no time passes in which it would wait."""
    if row.state != QueueState.SNOOZED or row.held:
        return row
    state = QueueState.READY if row.size + row.waiting else QueueState.EXHAUSTED
    return replace(row, state=state)
