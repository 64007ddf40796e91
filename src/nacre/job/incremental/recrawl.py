"""An incremental run: the planner chooses, the crawler visits, the planner learns.

Seeds and what the planner chose enter the frontier. When it runs empty, the planner is asked again,
until it wants nothing more or the budget is spent. What a visit taught joins the commit group of
its records.
"""

from collections.abc import Callable, Sequence

from msgspec import structs

from nacre.core.crawluri import GUESS, PROBE, CrawlURI, Hop
from nacre.core.fetchrow import FetchRow
from nacre.core.pagerow import PageKind, PageRow
from nacre.core.processor import Keep, Visit
from nacre.core.wayrow import ChosenRow
from nacre.history.recrawl.choice import Choice
from nacre.history.recrawl.gaps import guesses
from nacre.history.recrawl.planner import Planner
from nacre.history.schedule.timing import Met
from nacre.history.slices import Slices
from nacre.history.verdict.change import ChangeClass
from nacre.history.verdict.deletion import Answer
from nacre.history.visited import Finding
from nacre.job.assemble import Parts
from nacre.job.incremental.auditing import AUDIT
from nacre.job.incremental.knowledge import Knowledge
from nacre.job.incremental.probing import (
    GUESS_SHARE,
    PROBE_SHARE,
    learn_guess,
    learn_probe,
    probes,
)
from nacre.job.incremental.revisits import Revisits
from nacre.job.incremental.scheduling import timetable_of
from nacre.job.incremental.teaching import Lesson, Teacher
from nacre.job.runrow import RunRow
from nacre.job.runs.budget import Budget, Spent, parse_budget
from nacre.job.visit.fetching import UNCONDITIONAL
from nacre.report.stats import Stored

_RUN, _LEFT = "pages.run", "pages.waves"
PRICE, PRICES = "pages.price", 1e9
"""Counter: what a visit had to be worth in the last run, times a billion; 0 when unknown."""
CUT = "pages.cut"
"""Counter: 1 when the budget of the last run did not do for all that was worth a visit."""
_PORTION = 10_000
_SLICE = 100
"""Visits that enter the frontier at once."""
_ALL = Keep()
_VERSIONS = frozenset((Stored.NOVEL, Stored.DELTA))
_UNCHANGED = frozenset((ChangeClass.MARKUP, ChangeClass.NOISE, ChangeClass.TEMPLATE))


class Recrawl:
    """Drives one incremental run, and learns from any visits.

    Args:
        parts: Of the job.
        run: The run.
        knowledge: What is known of the pages.
        elapsed: Tells how long the run has been running, seconds.

    Attributes:
        planner: Chooses.
        teacher: Tells the planner of visits.
        step: Time of the step: when the run was planned, seconds since the epoch.
        probing: Names made up that were asked for in this process, and wait for an answer.
    """

    def __init__(
        self, parts: Parts, run: RunRow, knowledge: Knowledge, elapsed: Callable[[], float]
    ) -> None:
        self._parts = parts
        self._run = run
        self._elapsed = elapsed
        self._known = knowledge
        self.step = run.started
        pages = knowledge.pages
        self._timetable = timetable_of(parts.settings, parts.sheets, parts.rule_files, pages)
        self.planner = Planner(
            pages, knowledge.sites, knowledge.judge, parts.settings.recrawl, self._timetable
        )
        self.teacher = Teacher(parts, knowledge, self.planner)
        self._keep = parts.effective.then(lambda settings: settings.keep)
        self._revisits = Revisits(parts, knowledge, self.step)
        self._budget: Budget = parse_budget(run.budget)
        self._chosen: dict[str, ChosenRow] = {}
        self._rest: list[Choice] = []
        self._left = -1
        self._reopened = False
        self._told = (0, 0)
        self._last: Lesson | None = None
        self.probing = 0

    # ---- the step

    def begin(self) -> Slices[None]:
        """Begin the step, or take it up where a process left it; in slices."""
        store, pages = self._parts.store, self._known.pages
        self.planner.begin([row.url for row in self._parts.seeds.rows()])
        if store.counter(_RUN) != self._run.number:
            pages.forget_step()
            store.set_counter(_RUN, self._run.number)
            store.set_counter(_LEFT, -1)
            yield from self.planner.recall(self.step)
            yield from self._probe()
            yield from self._guess()
        else:
            rows = list(pages.chosen())
            self._chosen = {row.url: row for row in rows}
            choices = [_choice(row) for row in rows if not (row.reason == "pair" and row.done)]
            yield from self.planner.recall(self.step, choices, store.counter(_LEFT))

    def _probe(self) -> Slices[None]:
        """Ask for some names that do not exist, where the budget allows it."""
        parts, known = self._parts, self._known
        most = min(parts.settings.recrawl.probes, self._room() // PROBE_SHARE)
        uris = []
        names = yield from probes(known.pages, known.judge.lessons, self.step, most)
        for url in names:
            uri = self._revisits.linked(url)
            if uri is not None:
                uris.append(structs.replace(uri, heritable={PROBE: "1"}, path=Hop.INFERRED))
        self.probing = sum(parts.frontier.schedule(uris, parts.clock.now()))

    def _guess(self) -> Slices[None]:
        """Ask for some numbers that were never seen, where that is wanted."""
        parts, known = self._parts, self._known
        most = min(parts.settings.recrawl.gap_probes, self._room() // GUESS_SHARE)
        if most <= 0:
            return
        uris = []
        found = yield from guesses(known.pages, known.sites.links.choice, known.gaps, most)
        for guess in found:
            uri = self._revisits.linked(guess.url)
            if uri is not None:
                uris.append(structs.replace(uri, heritable={GUESS: guess.name}, path=Hop.INFERRED))
        parts.frontier.schedule(uris, parts.clock.now())

    def more(self) -> Slices[bool]:
        """Let the next visits into the frontier, in slices; False when nothing more is wanted."""
        while True:
            room = self._room()
            cut = bool(self._rest) and room <= 0
            if cut or not self._rest:
                self._left = self.planner.waves_left
                self._rest = yield from self.planner.choosing(self.step, room)
                if not self._rest:
                    self._note_end(cut=cut or self.planner.is_cut)
                    if self._goes_on(room):
                        continue
                    return False
            most = min(_PORTION, self._budget.portion(self._spent, room))
            portion, self._rest = self._rest[:most], self._rest[most:]
            entered = yield from self._enter(portion)
            # Last: who is killed before chooses the wave again.
            left = self._left if self._rest else self.planner.waves_left
            self._parts.store.set_counter(_LEFT, left)
            if entered:
                self._reopened = False
                return True

    def _goes_on(self, room: int) -> bool:
        """Bytes or time are left, because replies were shorter than those of the run before."""
        left = self._budget.portion(self._spent, room) < room
        self._reopened = not self._reopened and left and self.planner.reopen()
        return self._reopened

    def _note_end(self, *, cut: bool) -> None:
        self._tell_what_waits()
        self._parts.store.set_counter(CUT, int(cut and bool(self._run.budget)))
        if self.planner.least > 0.0:
            self._parts.store.set_counter(PRICE, round(self.planner.least * PRICES))

    def _tell_what_waits(self) -> None:
        held, repeated = self.planner.held, self.planner.repeated
        if held > self._told[0]:
            self._parts.logs.job(
                f"{held} visits wait that lead into traps: calendars, filters, "
                "session ids. `nacre report JOB templates` names them; recrawl.trap_share says "
                "what share of a run they may take"
            )
        if repeated > self._told[1]:
            self._parts.logs.job(
                f"{repeated} new URLs wait that differ from known pages in idle query parameters "
                "alone: recrawl.idle_parameters is `skip`"
            )
        self._told = held, repeated

    def _room(self) -> int:
        run = self._run
        room = self._budget.room(self._spent, run.bytes_each, run.seconds_each)
        return max(0, room - self._parts.frontier.totals.queued)

    @property
    def _spent(self) -> Spent:
        statistics = self._parts.statistics
        spent = Spent(statistics.documents, statistics.totals.size, self._elapsed())
        return spent.plus(self._run.before)

    def _enter(self, portion: Sequence[Choice]) -> Slices[int]:
        entered = 0
        for at in range(0, len(portion), _SLICE):
            yield
            uris = [uri for one in portion[at : at + _SLICE] if (uri := self._chose(one))]
            if uris:
                entered += sum(self._parts.frontier.schedule(uris, self._parts.clock.now()))
        return entered

    def _chose(self, choice: Choice) -> CrawlURI | None:
        """Note a choice; what the frontier is given for it."""
        row = ChosenRow(choice.url, choice.chance, choice.reason, choice.propensity)
        self._chosen[choice.url] = row
        self._known.pages.choose(row)
        return self._revisits.uri(choice)

    # ---- what visits teach

    def learn(self, visit: Visit) -> None:
        """Say what a visit means, in the step in which its records are made."""
        if PROBE in visit.uri.heritable:
            self._learn_probe(visit)
            return
        self._last = lesson = self.teacher.teach(visit, self.step)
        finding = lesson.finding
        if GUESS in visit.uri.heritable:
            learn_guess(self._known.gaps, visit, finding)
        if finding is None:
            return
        visit.verdict = _verdict(finding, first=lesson.first)
        self._note_audit(visit, finding)
        if finding.kind is not ChangeClass.NONE:
            visit.annotate(f"verdict:{finding.kind}:{finding.score:.3f}")
        self._say_what_is_kept(visit, finding)

    def _learn_probe(self, visit: Visit) -> None:
        self._last = Lesson(visit, None, first=True, accepted=[])
        visit.noted, visit.verdict = True, PROBE[1:]
        self.probing = max(0, self.probing - 1)
        learn_probe(self._known.judge.lessons, visit, self.step)

    def _note_audit(self, visit: Visit, finding: Finding) -> None:
        """Why it was asked for without validators, and whether that showed a lie."""
        why = visit.uri.heritable.get(UNCONDITIONAL, "")
        if why:
            visit.annotate(why)
        changed = finding.kind.is_change
        if why == AUDIT and self._known.audits.lied(visit, self.step, changed=changed):
            self._parts.logs.alert(
                f"{visit.uri.url}: other bytes under the same validators; pages like it are asked "
                "for without them for 90 days"
            )

    def _say_what_is_kept(self, visit: Visit, finding: Finding) -> None:
        """What of it need not be stored in full, for the archive step (`visit.keeping`)."""
        keep = visit.keep = Keep(silent=finding.answer is Answer.SILENT)
        keep.patchable = self._run.keep == "delta"
        if self._run.keep == "lean" and visit.status == 200:
            version = self._known.pages.version(visit.uri.url)
            longest = self._keep[visit.overlay].full_every
            keep.notable = version is not None and self.step - version.full < longest
            visit.noted = keep.notable and finding.kind in _UNCHANGED

    def finished(self, visit: Visit, stored: Stored, now: float) -> None:
        """A visit is final and its records are in the open group: follow it up and log it."""
        if self._last is None or self._last.visit is not visit:
            self.learn(visit)
        lesson, self._last = self._last, None
        if lesson is None:
            return
        history = self._parts.archive.history
        wanted = [uri for uri in lesson.accepted if uri.is_seed or history.get(uri.url) is None]
        if wanted:
            self._parts.frontier.schedule(wanted, now)
        if lesson.finding is not None:
            self.log(lesson, stored, self._run.number, now)

    def log(self, lesson: Lesson, stored: Stored, run: int, now: float) -> None:
        """Note a visit, and the version that the next one is compared with."""
        finding, url = lesson.finding, lesson.visit.uri.url
        if finding is None:
            return
        self._keep_version(lesson.visit, stored)
        chosen, row = self._done(url), self._known.pages.get(url)
        if self._timetable is not None and row is not None:
            self._timetable.learn(url, _met(lesson, finding, row, now))
        self._known.log.add(_fetch_row(lesson, finding, stored, chosen, row, run=run, now=now))

    def _keep_version(self, visit: Visit, stored: Stored) -> None:
        """Remember where the version lies that counts from now on, if this is another one."""
        url, capture = visit.uri.url, visit.capture
        if capture is None or visit.status != 200 or stored is Stored.NOTED:
            return
        version = self._known.pages.version(url)
        if self._known.versions.kept == url or (stored in _VERSIONS and version):
            differs = stored is Stored.DELTA and version is not None
            full = version.full if version is not None and differs else self.step
            self._known.versions.moved_on(url, capture, visit.charset, full)

    def _done(self, url: str) -> ChosenRow | None:
        """The choice that a visit was made for, which is done now; None where nobody chose it."""
        chosen = self._chosen.get(url)
        if chosen is not None and not chosen.done:
            self._chosen[url] = chosen = structs.replace(chosen, done=True)
            self._known.pages.choose(chosen)
        return chosen

    def rests(self, url: str) -> bool:
        """A seed is under a schedule: it is visited when that says so, or when it is new."""
        return self._timetable is not None and self._timetable.governs(url)


def _fetch_row(  # noqa: PLR0913 - all that is known of a visit
    lesson: Lesson,
    finding: Finding,
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
    )


def _met(lesson: Lesson, finding: Finding, row: PageRow, now: float) -> Met:
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


def _verdict(finding: Finding, *, first: bool) -> str:
    """`there class=minor score=0.0312 reason=text`."""
    kind = "new" if first else str(finding.kind)
    reason = f" reason={finding.reason}" if finding.reason else ""
    return f"{finding.answer} class={kind} score={finding.score:.4f}{reason}"
