"""URIs that are fetched again and again. As Heritrix's ReschedulingProcessor."""

from typing import Any, Literal

from nacre.config.component import Seconds, setting
from nacre.config.effective import Effective
from nacre.core.processor import FinalProcessor, Result, Visit
from nacre.job.chain.entry import ChainName, Entry, Kit
from nacre.job.chain.table import PROCESSORS


class Reschedule(Entry):
    """Puts a URI into the frontier again, to be fetched after a time; what others need never.

    A crawl with such URIs does not end by itself.
    """

    chains = frozenset((ChainName.DISPOSITION,))
    heritrix = "ReschedulingProcessor"
    behind = "disposition"
    processor: Literal["reschedule"] = "reschedule"
    delay: Seconds | None = setting(
        None, "Time to the next fetch; none: it is not fetched again.", unit="s", ge=1
    )

    @classmethod
    def make(cls, settings: Effective[Any], kit: Kit) -> FinalProcessor:
        """See `Entry.make`."""
        return Rescheduling(settings, kit)


class Rescheduling:
    """What does the work."""

    def __init__(self, settings: Effective[Reschedule], kit: Kit) -> None:
        self._settings = settings
        self._kit = kit

    def accepts(self, visit: Visit) -> bool:
        """Where a time is set, and nobody needed the URI first."""
        return self._settings[visit.overlay].delay is not None and not visit.uri.is_prerequisite

    def process(self, visit: Visit) -> Result:
        """Schedule it."""
        delay = self._settings[visit.overlay].delay
        if delay is not None:
            self._kit.later(visit.uri, self._kit.clock.now() + delay)
        return Result.PROCEED


PROCESSORS.add(Reschedule)
