"""The settings that hold for each queue: those of the sheets of its URIs."""

from typing import Protocol

from nacre.config.effective import Effective
from nacre.core.crawluri import CrawlURI
from nacre.frontier.queues import Queue
from nacre.frontier.settings import FrontierSettings, PolitenessSettings


class Chooser(Protocol):
    """Says which combination of sheets applies."""

    def of(self, uri: CrawlURI) -> int:
        """The combination of sheets that applies to a URI."""
        ...

    def of_url(self, url: str) -> int:
        """The combination that applies to a URL of which nothing else is known."""
        ...


class NoSheets:
    """A crawl without sheets."""

    def of(self, uri: CrawlURI) -> int:
        """None."""
        return 0

    def of_url(self, url: str) -> int:
        """None."""
        return 0


class Terms:
    """A queue has the sheets of the URI that was put into it, or handed out of it, last.

    Args:
        settings: The frontier's.
        politeness: The politeness.
        chooser: Says which sheets apply.

    Attributes:
        settings: As given.
        politeness: As given.
        of: `Chooser.of`.
        shorter_end: Shorter time for the last tries than the settings give, seconds; None for that.
    """

    def __init__(
        self,
        settings: Effective[FrontierSettings],
        politeness: Effective[PolitenessSettings],
        chooser: Chooser,
    ) -> None:
        self.settings = settings
        self.politeness = politeness
        self.of = chooser.of
        self._of_url = chooser.of_url
        self.shorter_end: float | None = None

    @property
    def whole(self) -> FrontierSettings:
        """What holds for the whole crawl."""
        return self.settings[0]

    @property
    def last_tries_within(self) -> float:
        """Time for the last tries, seconds."""
        within = self.settings[0].last_tries_within
        return within if self.shorter_end is None else min(within, self.shorter_end)

    @property
    def last_extras_within(self) -> float:
        """Time for the last tries of embeds and guesses, seconds; never more than that of all."""
        return min(self.settings[0].last_extras_within, self.last_tries_within)

    def recall(self, queue: Queue) -> None:
        """Find the sheets of a queue that was not in memory."""
        queue.overlay = self._of_url(queue.row.last_peek or queue.row.last_queued)

    def is_over_budget(self, queue: Queue) -> bool:
        """Whether a queue is over its budget: nothing more may be fetched of it."""
        settings = self.settings[queue.overlay]
        return settings.force_retire or 0 <= settings.queue_total_budget <= queue.row.spent

    def replenish(self, queue: Queue) -> int:
        """What a queue may spend before another one takes its turn."""
        return self.settings[queue.overlay].balance_replenish

    def limit(self, queue: Queue) -> int:
        """How many URIs of a queue may be fetched at the same time."""
        return 1 if queue.row.alone else self.politeness[queue.overlay].in_flight
