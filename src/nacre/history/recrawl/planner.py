"""Which known pages to visit again, and when: the planner of incremental crawling (pure).

A step goes in waves. First what tells of others: start pages, sitemaps, feeds, index pages. Then
what they showed: new links, and pages of which they told. Then pages by what a visit is worth, as
far as the budget goes or until the wanted recall is expected, and a few drawn by lot, which keep
the estimates honest. See docs/recrawl.md.
"""

from collections.abc import Sequence

from nacre.history.recrawl.choice import Choice
from nacre.history.recrawl.idle import IdleParameters
from nacre.history.recrawl.learning import Learning
from nacre.history.recrawl.settings import RecrawlSettings
from nacre.history.recrawl.sites import Sites
from nacre.history.recrawl.step import Knowledge, Step
from nacre.history.recrawl.traps import TrapBudget
from nacre.history.recrawl.waves import Waves
from nacre.history.schedule.timetable import Timetable
from nacre.history.slices import Slices, at_once
from nacre.history.visited import Finding, Judge, Rows, Visited
from nacre.history.worth.rates import mean_rate


class Planner:
    """Plans steps and learns from visits.

    Args:
        rows: All that is known of the pages.
        sites: What is known of their sites: hints, lists, seasons.
        judge: Compares versions.
        settings: What the operator wants.
        timetable: Pages under a schedule, which are visited when they are due; None for no such.
    """

    def __init__(
        self,
        rows: Rows,
        sites: Sites,
        judge: Judge,
        settings: RecrawlSettings,
        timetable: Timetable | None = None,
    ) -> None:
        sites.hints = settings.hints
        known = Knowledge(rows, sites, judge, settings)
        self._rows, self._sites = rows, sites
        self._step = Step()
        self._waves = Waves(known, self._step, timetable)
        self._traps = TrapBudget(known)
        self._idle = IdleParameters(known)
        waves = self._waves
        self._learning = Learning(known, self._step, waves.classes, waves.companions)

    def begin(self, starts: Sequence[str]) -> None:
        """Name the start pages: seeds, and sitemaps that robots.txt names."""
        self._waves.starts = tuple(starts)

    def recall(self, now: float, chosen: Sequence[Choice] = (), left: int = -1) -> Slices[None]:
        """Begin a step, or take up one that another process began.

        Args:
            now: Time of the step.
            chosen: What was chosen in it so far; of the pairs, those that were not made.
            left: Waves that were left (`waves_left`); -1 for all of them.
        """
        self._learning.settle()
        self._step.begin(now)
        self._step.take_up(chosen)
        self._step.paging = dict.fromkeys(self._sites.paging())
        yield from self._waves.begin()
        self._traps.begin(chosen)
        yield from self._idle.begin()
        if left >= 0:
            self._waves.left = self._waves.left[len(self._waves.left) - left :]

    @property
    def expected(self) -> tuple[float, float]:
        """Changes expected at the beginning of the step, and of the pages chosen."""
        return self._waves.expected

    @property
    def least(self) -> float:
        """Worth of the last visit that was chosen for its worth: what a visit has to be worth."""
        return self._waves.least

    @property
    def held(self) -> int:
        """Visits of the step that wait, because they lead into traps."""
        return self._traps.held

    @property
    def is_cut(self) -> bool:
        """Whether the room did not suffice for all that the step wanted, so far."""
        return self._waves.tight or bool(self._waves.left or self._step.new)

    @property
    def repeated(self) -> int:
        """New URLs of the step that wait, because they differ in idle parameters alone."""
        return self._idle.held

    @property
    def waves_left(self) -> int:
        """Waves of the current step that did not begin."""
        return len(self._waves.left)

    def choose(self, now: float, room: int) -> list[Choice]:
        """What to visit next, found without a stop; see `choosing`."""
        return at_once(self.choosing(now, room))

    def choosing(self, now: float, room: int) -> Slices[list[Choice]]:
        """What to visit next; nothing once the step is done.

        Args:
            now: Time of the step, seconds since the epoch: the same for all waves of a step.
            room: Visits left in this step.
        """
        step, waves = self._step, self._waves
        if now != step.time:
            yield from self.recall(now)
        while room > 0:
            wave = step.take_pages(room)
            wave += step.take_new(room - len(wave))
            while not wave and waves.left:
                wave = yield from waves.left.pop(0)(room)
            wave = [one for one in wave if one.url not in step.done][:room]
            wave = self._idle.admitted(wave, step.time)
            asked = len(wave)
            wave = self._traps.admitted(wave, room, waves.known + len(step.chosen))
            if len(wave) < asked:
                waves.shut_traps()
            if wave:
                step.take(wave)
                return wave
            if not waves.left and not step.new:
                break
        self._learning.settle()
        return []

    def reopen(self) -> bool:
        """There is room again after all: `choosing` goes on where it ended; False if it cannot."""
        return self._waves.reopen()

    def learn(self, visit: Visited) -> Finding:
        """Take in what a visit showed."""
        return self._learning.learn(visit)

    def rates(self) -> dict[str, float]:
        """Expected changes a day of every page that was visited twice."""
        return {
            row.url: mean_rate(self._waves.classes.posterior(row))
            for row in self._rows.scan()
            if row.evidence
        }
