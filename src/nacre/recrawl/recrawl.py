"""An incremental run: the planner chooses, the crawler visits, the planner learns.

Seeds and chosen pages enter the frontier. When the frontier is empty, the planner chooses again,
until it has no more visits or the budget is spent. The knowledge from a visit joins the commit
group of its records.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from msgspec import structs

from nacre import annotations
from nacre.annotations import AUDIT
from nacre.config.effective import Effective
from nacre.core.changes import GONE_PAGE, MOVED_PAGE, NEW_PAGE, ChangeRow
from nacre.core.clock import Clock
from nacre.core.crawluri import PROBE, CrawlURI, Hop
from nacre.core.history import PAIR, FetchRow
from nacre.core.pagerow import ChosenRow, PageKind, PageRow
from nacre.core.processor import Keep, Visit
from nacre.engine.counters import PLANNED, NotVisited, note_not_visited
from nacre.engine.logs import JobLogs
from nacre.engine.seeding.seedbook import SeedBook
from nacre.engine.steps.fetching import UNCONDITIONAL
from nacre.frontier.frontier import Frontier
from nacre.history.dedup import History
from nacre.history.rendered import final_dom
from nacre.planner.change_detection.change import ChangeClass
from nacre.planner.change_detection.deletion import Answer
from nacre.planner.planner import Planner
from nacre.planner.schedules.schedules import Met
from nacre.planner.schedules.timetable import Timetable
from nacre.planner.settings import RecrawlSettings
from nacre.planner.slices import Slices
from nacre.planner.step import Choice
from nacre.planner.visited import VisitFinding
from nacre.recrawl.change_log import change_kind
from nacre.recrawl.change_text import page_difference, page_lead, page_title
from nacre.recrawl.knowledge import Knowledge
from nacre.recrawl.probing import PROBE_SHARE, learn_probe, probes
from nacre.recrawl.proofs import Proofs
from nacre.recrawl.translation import Judgement, Revisits, VisitTranslator
from nacre.report.statistics import Statistics, Stored
from nacre.runs.budget import Budget, Spent, parse_budget
from nacre.runs.runs import RunRow, all_runs
from nacre.store.store import Store

_LEFT = "pages.waves"
PRICE, PRICES = "pages.price", 1e9
"""Counter: the least value of a visit in the last run, times a billion; 0 if unknown."""
CUT = "pages.cut"
"""Counter: 1 if the budget of the last run did not suffice for all pages worth a visit."""
_PORTION = 10_000
_SLICE = 100
"""Visits that enter the frontier at once."""
_ALL = Keep()
_VERSIONS = frozenset((Stored.NOVEL, Stored.DELTA))


@dataclass(frozen=True)
class RecrawlParts:
    """The parts of its job that an incremental run uses.

    Attributes:
        run: The run.
        settings: How the site is visited again.
        full_every: By overlay: seconds after which a page is stored in full again.
        store: Keeps counters.
        clock: The time.
        seeds: The seeds.
        frontier: Receives the chosen visits.
        statistics: The counts of the run, which its budget bounds.
        logs: The logs of the job.
        history: The captures of URLs.
        knowledge: The knowledge about the pages.
        planner: Chooses visits.
        timetable: Pages under a schedule; None if there are none.
        teacher: Passes visits to the planner.
        revisits: Converts choices to URIs.
    """

    run: RunRow
    settings: RecrawlSettings
    full_every: Effective[float]
    store: Store
    clock: Clock
    seeds: SeedBook
    frontier: Frontier
    statistics: Statistics
    logs: JobLogs
    history: History
    knowledge: Knowledge
    planner: Planner
    timetable: Timetable | None
    teacher: VisitTranslator
    revisits: Revisits


class Recrawl:
    """Drives one incremental run, and learns from its visits, as their `VisitObserver`.

    Args:
        parts: The parts of the job that it uses.
        elapsed: Returns how long the run has been running, seconds.

    Attributes:
        planner: Chooses.
        teacher: Passes visits to the planner.
        step: Time of the step: when the run was planned, seconds since the epoch.
        probing: Requested made-up names that wait for an answer.
    """

    def __init__(self, parts: RecrawlParts, elapsed: Callable[[], float]) -> None:
        self._settings, self._full_every = parts.settings, parts.full_every
        self._store, self._clock = parts.store, parts.clock
        self._seeds, self._frontier = parts.seeds, parts.frontier
        self._statistics, self._logs = parts.statistics, parts.logs
        self._history = parts.history
        self._run = run = parts.run
        self._elapsed = elapsed
        self._known = knowledge = parts.knowledge
        self._proofs = Proofs(parts.store)
        self._pages, self._lessons = knowledge.pages, knowledge.judge.lessons
        self._timetable, self._revisits = parts.timetable, parts.revisits
        self.step = run.started
        self.planner = parts.planner
        self.teacher = parts.teacher
        self._budget: Budget = parse_budget(run.budget)
        self._chosen: dict[str, ChosenRow] = {}
        self._rest: list[Choice] = []
        self._left = -1
        self._reopened = False
        self._told = (0, 0)
        self.probing = 0

    # ---- the step

    def begin(self) -> Slices[None]:
        """Begin the step, or resume that of an earlier process; in slices."""
        store, pages = self._store, self._pages
        last = max((run.started for run in all_runs(store) if run.started < self.step), default=0.0)
        marginal = store.counter(PRICE) / PRICES if store.counter(CUT) else 0.0
        self.planner.begin([row.url for row in self._seeds.rows()], last, marginal)
        if store.counter(PLANNED) != self._run.number:
            pages.forget_step()
            store.set_counter(PLANNED, self._run.number)
            note_not_visited(store, NotVisited())
            store.set_counter(_LEFT, -1)
            yield from self.planner.recall(self.step)
            yield from self._probe()
        else:
            rows = list(pages.chosen())
            self._chosen = {row.url: row for row in rows}
            choices = [_choice(row) for row in rows if not (row.reason == "pair" and row.done)]
            yield from self.planner.recall(self.step, choices, store.counter(_LEFT))

    def _probe(self) -> Slices[None]:
        """Request some made-up names, if the budget allows it."""
        most = min(self._settings.probes, self._room() // PROBE_SHARE)
        uris = []
        names = yield from probes(self._pages, self._lessons, self.step, most)
        for url in names:
            uri = self._revisits.linked(url)
            if uri is not None:
                uris.append(structs.replace(uri, heritable={PROBE: "1"}, path=Hop.INFERRED))
        self.probing = self._schedule(uris)

    def _schedule(self, uris: Sequence[CrawlURI]) -> int:
        """Add URIs to the frontier; return the number that it did not have yet."""
        return sum(self._frontier.schedule(uris, self._clock.now()))

    def more(self) -> Slices[bool]:
        """Add the next visits to the frontier, in slices; False if there are no more visits."""
        while True:
            room = self._room()
            cut = bool(self._rest) and room <= 0
            if cut or not self._rest:
                dropped = len(self._rest)
                self._left = self.planner.phases_left
                self._rest = yield from self.planner.choosing(self.step, room)
                if not self._rest:
                    yield from self._note_end(dropped, cut=cut or self.planner.is_cut)
                    if self._goes_on(room):
                        continue
                    return False
            most = min(_PORTION, self._budget.portion(self._spent, room))
            portion, self._rest = self._rest[:most], self._rest[most:]
            entered = yield from self._enter(portion)
            # Set last: a process that is killed before this point chooses the same visits again.
            phases = self._left if self._rest else self.planner.phases_left
            self._store.set_counter(_LEFT, phases)
            if entered:
                self._reopened = False
                return True

    def _goes_on(self, room: int) -> bool:
        """Whether bytes or time are left, as replies were shorter than in the previous run."""
        has_room = self._budget.portion(self._spent, room) < room
        self._reopened = not self._reopened and has_room and self.planner.reopen()
        return self._reopened

    def _note_end(self, dropped: int, *, cut: bool) -> Slices[None]:
        """Record why the choice ended; `dropped`: chosen pages that did not fit the budget."""
        yield from self._prove()
        self._tell_what_waits()
        is_cut, planner = cut and bool(self._run.budget), self.planner
        unvisited = dropped + (yield from planner.counting()) if is_cut else 0
        note_not_visited(self._store, NotVisited(unvisited, planner.trapped, planner.repeated))
        self._store.set_counter(CUT, int(is_cut))
        if self.planner.least > 0.0:
            self._store.set_counter(PRICE, round(self.planner.least * PRICES))

    def _prove(self) -> Slices[None]:
        """Correct the verdicts on pages that were the first to show an event of their site."""
        log, template = self._known.log, self._lessons.template
        corrected = yield from self._proofs.settle(log, self._pages, template)
        if corrected:
            self._logs.job(
                f"{corrected} pages changed as others of their sites did in this run: these "
                "do not count as changes of the pages; `nacre report JOB events` shows what changed"
            )

    def _tell_what_waits(self) -> None:
        trapped, repeated = self.planner.trapped, self.planner.repeated
        if trapped > self._told[0]:
            self._logs.job(
                f"{trapped} visits wait that lead into traps: calendars, filters, "
                "session ids. `nacre report JOB templates` lists them; recrawl.trap_share is "
                "the share of a run that they may take"
            )
        if repeated > self._told[1]:
            self._logs.job(
                f"{repeated} new URLs wait that differ from known pages in idle query parameters "
                "alone: recrawl.idle_parameters is `skip`"
            )
        self._told = trapped, repeated

    def _room(self) -> int:
        run = self._run
        room = self._budget.room(self._spent, run.bytes_each, run.seconds_each)
        totals = self._frontier.totals
        return max(0, room - totals.queued)

    @property
    def _spent(self) -> Spent:
        statistics = self._statistics
        requests = statistics.documents + statistics.totals.page_requests
        spent = Spent(requests, statistics.totals.size, self._elapsed())
        return spent.plus(self._run.before)

    def _enter(self, portion: Sequence[Choice]) -> Slices[int]:
        entered = 0
        for at in range(0, len(portion), _SLICE):
            yield
            uris = [uri for choice in portion[at : at + _SLICE] if (uri := self._chose(choice))]
            if uris:
                entered += self._schedule(uris)
        return entered

    def _chose(self, choice: Choice) -> CrawlURI | None:
        """Record a choice; return its URI for the frontier."""
        row = ChosenRow(choice.url, choice.chance, choice.reason, choice.propensity)
        self._chosen[choice.url] = row
        self._pages.choose(row)
        return self._revisits.uri(choice)

    # ---- what visits teach

    def judge(self, visit: Visit) -> Judgement:
        """See `engine.observer.VisitObserver`."""
        if PROBE in visit.uri.heritable:
            return self._learn_probe(visit)
        is_request = visit.request is not None
        teach = self.teacher.pass_on if is_request else self.teacher.teach
        lesson = teach(visit, self.step)
        finding = lesson.finding
        if finding is None:
            return lesson
        visit.judged(_verdict(finding, first=lesson.first))
        self._note_audit(visit, finding)
        if finding.kind is not ChangeClass.NONE:
            visit.annotate(annotations.verdict(finding.kind, finding.score))
        self._say_what_is_kept(visit, finding)
        return lesson

    def _learn_probe(self, visit: Visit) -> Judgement:
        visit.note_only(PROBE[1:])
        self.probing = max(0, self.probing - 1)
        learn_probe(self._lessons, visit, self.step)
        return Judgement(visit, None, first=True, accepted=[])

    def _note_audit(self, visit: Visit, finding: VisitFinding) -> None:
        """Annotate the reason of a request without validators; alert if it shows a false 304."""
        uri, audits = visit.uri, self._known.audits
        reason = uri.heritable.get(UNCONDITIONAL, "")
        if reason:
            visit.annotate(reason)
        changed = finding.kind.is_change
        if reason == AUDIT and audits.lied(visit, self.step, changed=changed):
            self._logs.alert(
                f"{uri.url}: other bytes under the same validators; pages like it are asked "
                "for without them for 90 days"
            )

    def _say_what_is_kept(self, visit: Visit, finding: VisitFinding) -> None:
        """Set which parts of the visit the archive step need not store in full (`visit.keep`).

        A page that was run in a browser is stored with all its requests, but without its text and
        pictures if nothing of it changed.
        """
        if visit.page_id:
            _keep_state(visit, finding)
            return
        notable = False
        if self._run.keep == "lean" and visit.status == 200:
            version = self._pages.version(visit.uri.url)
            longest = self._full_every[visit.overlay]
            notable = version is not None and self.step - version.full < longest
            versions, url = self._known.versions, visit.uri.url
            if notable and finding.proven and (not finding.is_version or versions.leave_out(url)):
                visit.note_only()
            else:
                visit.write_reply()
        silent = finding.answer is Answer.SILENT
        delta, less = self._run.keep == "delta", self._run.keep != "strict"
        keep = Keep(patchable=delta, notable=notable, silent=silent, links_referable=less)
        visit.may_leave_out(keep)

    def follow(self, visit: Visit, judgement: Judgement, stored: Stored, now: float) -> bool:
        """See `engine.observer.VisitObserver`; links enter the frontier by the planner's choice."""
        lesson, history = judgement, self._history
        depth = len(visit.uri.path) + 1
        uris = [
            uri
            for uri in lesson.accepted
            if uri.is_seed
            or (history.get(uri.url) is None and not self.planner.postpones(uri.url, depth))
        ]
        if uris:
            self._frontier.schedule(uris, now)
        if lesson.finding is not None:
            self.log(lesson, stored, self._run.number, now)
        return True

    def log(self, lesson: Judgement, stored: Stored, run: int, now: float) -> None:
        """Note a visit, and the version that the next one is compared with."""
        finding, visit = lesson.finding, lesson.visit
        if finding is None:
            return
        url = visit.uri.url
        had_version = self._had_version(visit)
        self._keep_version(visit, finding, stored)
        chosen, row = self._mark_done(url), self._pages.get(url)
        if self._timetable is not None and row is not None:
            self._timetable.learn(url, _met(lesson, finding, row, now))
        fetched = _fetch_row(lesson, finding, stored, chosen, row, run=run, now=now)
        is_new = self._known.log.add(fetched)
        self._proofs.note(fetched, finding)
        if is_new and row is not None and run > 1 and not visit.uri.is_prerequisite:
            kind = change_kind(fetched, row, lesson.time, had_version=had_version)
            if kind:
                self._note_change(kind, fetched, finding, row)

    def _had_version(self, visit: Visit) -> bool:
        """Whether a page had content before a visit, which is not recorded yet."""
        record = visit.history
        had_version = self._pages.version(visit.uri.url) is not None
        return had_version or (record is not None and bool(record.digest))

    def _note_change(self, kind: str, visit: FetchRow, finding: VisitFinding, row: PageRow) -> None:
        """Record a change for the change feed, with its words."""
        url, view = visit.url, finding.view
        if view is None and kind in {GONE_PAGE, MOVED_PAGE}:
            view = self._known.versions.last(url)
        difference = page_difference(finding.differing)
        change = ChangeRow(
            *(url, visit.time, visit.run, kind, self._clock.now(), visit.status),
            title=page_title(view) if view is not None else "",
            lead=page_lead(view) if view is not None and kind == NEW_PAGE else "",
            reason=visit.reason,
            score=visit.score,
            texts=difference.texts,
            more=difference.more,
            target=row.target if kind == MOVED_PAGE else "",
        )
        self._known.changes.add(change)

    def _keep_version(self, visit: Visit, finding: VisitFinding, stored: Stored) -> None:
        """Record the place of the current version, if the version changed."""
        url, capture = visit.uri.url, visit.capture
        if capture is not None and final_dom(visit):
            if finding.is_version:
                self._known.versions.moved_on_rendered(visit, capture, self.step)
            return
        is_page = visit.status == 200 and finding.answer is Answer.THERE
        if capture is None or not is_page or stored is Stored.NOTED:
            return
        version = self._pages.version(url)
        if finding.is_version or (stored in _VERSIONS and version):
            differs = stored is Stored.DELTA and version is not None
            full = version.full if version is not None and differs else self.step
            versions = self._known.versions
            versions.moved_on(url, capture, visit.charset, full)

    def _mark_done(self, url: str) -> ChosenRow | None:
        """Return the choice of a visit and mark it as done; None if the visit has no choice."""
        chosen = self._chosen.get(url)
        if chosen is not None and not chosen.done:
            self._chosen[url] = chosen = structs.replace(chosen, done=True)
            self._pages.choose(chosen)
        return chosen

    def rests(self, url: str) -> bool:
        """Whether a seed is under a schedule, which then decides when it is visited."""
        return self._timetable is not None and self._timetable.governs(url)


def _fetch_row(  # noqa: PLR0913 - all that is known of a visit
    lesson: Judgement,
    finding: VisitFinding,
    stored: Stored,
    chosen: ChosenRow | None,
    row: PageRow | None,
    *,
    run: int,
    now: float,
) -> FetchRow:
    visit, capture = lesson.visit, lesson.visit.capture
    keep = visit.keep or _ALL
    unasked = "embed" if row is not None and row.kind is PageKind.EMBED else ""
    return FetchRow(
        url=visit.uri.url,
        time=capture.began / 1e6 if capture is not None else now,
        run=run,
        status=visit.status,
        answer=str(finding.answer),
        kind="new" if lesson.first and visit.status == 200 else str(finding.kind),
        score=finding.score,
        reason=finding.reason,
        wanted=chosen.reason if chosen else unasked,
        propensity=chosen.propensity if chosen else 1.0,
        chance=chosen.chance if chosen else 0.0,
        bytes=capture.payload_length if capture is not None else 0,
        stored="" if keep.unrecorded else str(stored),
        patch=keep.size,
        evidence=finding.evidence,
        rendered=bool(final_dom(visit)),
    )


def _met(lesson: Judgement, finding: VisitFinding, row: PageRow, now: float) -> Met:
    """The visit as schedules see it; `row` is as after it."""
    visit = lesson.visit
    return Met(
        visit.capture.began / 1e6 if visit.capture is not None else now,
        visit.status,
        finding.answer,
        changed=not lesson.first and row.last_change == row.last_visit,
        first=lesson.first,
        mime="" if visit.status == 304 else visit.mime,
        run=lesson.time,
    )


def _choice(row: ChosenRow) -> Choice:
    return Choice(row.url, row.chance, row.reason, row.propensity)


def _keep_state(visit: Visit, finding: VisitFinding) -> None:
    """Leave out text and pictures of a page if nothing differs from those that are stored."""
    last = visit.history
    is_stored = last is not None and last.rendered and last.revisitable
    is_same = finding.answer is Answer.THERE and finding.kind is ChangeClass.NONE
    if visit.page is not None and final_dom(visit) and is_stored and is_same:
        visit.page.keep_last_state()


def _verdict(finding: VisitFinding, *, first: bool) -> str:
    """`there class=minor score=0.0312 reason=text`; `pair …` for a second fetch."""
    answer = PAIR if finding.reason == PAIR else finding.answer
    kind = "new" if first else str(finding.kind)
    reason = f" reason={finding.reason}" if finding.reason else ""
    return f"{answer} class={kind} score={finding.score:.4f}{reason}"
