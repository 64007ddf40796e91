"""The base of all baselines: the URLs they know, new ones first."""

from collections import deque
from collections.abc import Iterable, Sequence
from urllib.parse import urlsplit

from nacre_simweb.policy import EmbedMode, Task, VisitOutcome, WantedVisit

_FOLLOWED = frozenset({"L", "R", "M"})


class Book:
    """Known URLs. A subclass chooses which visited URLs come next.

    New URLs always go first, as all of these crawlers do. A page changed when its payload digest
    differs from that of its last 200; a 304 means that it did not.

    Attributes:
        task: What there is to do.
        last: Time of the last visit of each URL, seconds since the epoch.
        embeds: Which embeds of a page are visited with it.
    """

    name = ""
    conditional = False
    dedup = True
    embeds: EmbedMode = "new"
    task: Task

    def __init__(self) -> None:
        self.last: dict[str, float] = {}
        self._hosts: set[str] = set()
        self._seen: set[str] = set()
        self._new: deque[str] = deque()
        self._digests: dict[str, str] = {}

    def begin(self, task: Task) -> None:
        """See `Policy`."""
        self.task = task
        self._hosts = {urlsplit(url).netloc for url in task.starts}
        self.add(task.starts)

    def add(self, urls: Iterable[str]) -> None:
        """Learn of URLs."""
        for url in urls:
            if url not in self._seen and urlsplit(url).netloc in self._hosts:
                self._seen.add(url)
                self._new.append(url)

    def choose(self, now: float, room: int) -> Sequence[WantedVisit]:
        """See `Policy`."""
        fresh = [self._new.popleft() for _ in range(min(room, len(self._new)))]
        return [WantedVisit(url) for url in (fresh or self.due(now, room))]

    def due(self, now: float, room: int) -> list[str]:
        """URLs visited before that are to be visited again now, at most `room`."""
        raise NotImplementedError

    def learn(self, outcome: VisitOutcome) -> None:
        """See `Policy`."""
        url = outcome.url
        if url not in self._seen:
            return
        self.add(link.url for link in outcome.links if link.hop in _FOLLOWED)
        before = self._digests.get(url)
        changed = outcome.status == 200 and before is not None and before != outcome.digest
        if outcome.status == 200:
            self._digests[url] = outcome.digest
        first = url not in self.last
        elapsed = outcome.time - self.last.get(url, outcome.time)
        self.last[url] = outcome.time
        self.visited(outcome, elapsed, changed=changed, first=first)

    def visited(self, outcome: VisitOutcome, elapsed: float, *, changed: bool, first: bool) -> None:
        """The next visit, after one visit.

        Args:
            outcome: What it showed.
            elapsed: Seconds since the one before.
            changed: The page changed since.
            first: There was none before.
        """
