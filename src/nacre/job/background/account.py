"""The account of a run: its pace, the outcomes of its seeds, and the URLs that were too deep."""

import asyncio
from typing import Final

from nacre.core.clock import Clock
from nacre.core.states import ExitStatus
from nacre.engine.counters import SEEDS, SEEDS_GOT, TOO_DEEP, TOO_DEEP_POOR
from nacre.inspect.reports.seed_outcomes import SeedTally, all_seeds
from nacre.job.activity import STEP, JobActivity, JobPace, RatePoint
from nacre.job.session import Session

_AT_A_TIME: Final = 200
"""URLs that the scope is asked about before others, such as commands, have their turn."""


class RunAccount:
    """A background task that notes how fast a run goes, and counts its seeds at its end.

    What was too deep for the scope is counted then, too.

    Args:
        session: The running session.
        clock: The time.

    Attributes:
        seeds: The seeds in numbers; None before the end, and where the end was at once.
    """

    name = "account"
    busy = False

    def __init__(self, session: Session, clock: Clock) -> None:
        self._session = session
        self._clock = clock
        self._activity = JobActivity()
        self.seeds: SeedTally | None = None

    async def run(self) -> None:
        """Note a point every ten seconds, until cancelled."""
        while True:
            self._note()
            await self._clock.sleep(STEP)

    async def ending(self, how: ExitStatus) -> None:
        """Count seeds and URLs that were too deep; the numbers are in the last commit group."""
        store = self._session.storing.store
        run = self._session.run_row.number
        self.seeds = all_seeds(store, self._session.queues.identity, run)
        # What a later run did not choose says nothing of it.
        store.set_counter(SEEDS, self.seeds.total - self.seeds.not_due)
        store.set_counter(SEEDS_GOT, self.seeds.got)
        too_deep = poor = 0
        candidates = self._session.scheduling.candidates
        for url in candidates.too_deep():
            too_deep += 1
            poor += candidates.promises_little(url)
            if too_deep % _AT_A_TIME == 0:
                await asyncio.sleep(0)
        store.set_counter(TOO_DEEP, too_deep)
        store.set_counter(TOO_DEEP_POOR, poor)

    def pace(self) -> JobPace:
        """The pace of this moment."""
        self._note()
        return self._activity.pace()

    def _note(self) -> None:
        waiting, got = self._session.frontier.totals, self._session.statistics.totals
        # What the operator deleted was not worked on: it is no speed.
        processed = waiting.finished - got.deleted
        point = RatePoint(self._clock.monotonic(), processed, got.size, waiting.queued)
        self._activity.note(point)
