"""B6: the design of the National Library of China's paper.

Index pages, told by the characters of their URLs, are walked at every step; the links on them pass
three rules; a content page is fetched once. It never looks at an old content page again.
"""

import re
from datetime import UTC, datetime

from nacre_simweb.baselines.book import Book
from nacre_simweb.policy import Task, VisitOutcome

_INDEX = re.compile(r"/(?:index(?:_\d+)?\.html?)?(?:\?.*)?\Z")
_DATE = re.compile(r"(20\d\d)-?(\d\d)[-/]?(\d\d)(?!\d)")
_NUMBER = re.compile(r"(\d{3,})\D*\Z")


class Paper(Book):
    """The paper's crawler.

    Attributes:
        seeds: The index pages known: its list of seeds.
    """

    name = "nlc"

    def __init__(self) -> None:
        super().__init__()
        self.seeds: set[str] = set()
        self._begun = 0.0
        self._cycle = 0.0
        self._before = 0.0
        self._todo: list[str] = []
        self._highest: dict[str, int] = {}

    def begin(self, task: Task) -> None:
        """See `Policy`."""
        super().begin(task)
        self._begun = self._cycle = task.start

    def due(self, now: float, room: int) -> list[str]:
        """Return all index pages, once a step."""
        if now != self._cycle:
            self._before, self._cycle = self._cycle, now
            self._todo = sorted(self.seeds, reverse=True)
        return [self._todo.pop() for _ in range(min(room, len(self._todo)))]

    def learn(self, outcome: VisitOutcome) -> None:
        """Links count only on index pages, once the first full crawl is over."""
        index = _INDEX.search(outcome.url) is not None
        if outcome.status == 200 and index:
            self.seeds.add(outcome.url)
        if outcome.time > self._begun:
            links = tuple(link for link in outcome.links if index and self._is_new(link.url))
            outcome = outcome._replace(links=links)
        super().learn(outcome)
        for link in outcome.links:
            self._remember(link.url)

    def _is_new(self, url: str) -> bool:
        """The three rules: date, then number, then the key alone (which `add` looks up)."""
        if _INDEX.search(url):
            return True
        date = _date(url)
        if date is not None:
            return date >= self._before - 86400
        number = _NUMBER.search(url)
        if number:
            return int(number[1]) > self._highest.get(url[: number.start()], -1)
        return True

    def _remember(self, url: str) -> None:
        number = _NUMBER.search(url)
        if number:
            place = url[: number.start()]
            self._highest[place] = max(self._highest.get(place, -1), int(number[1]))


def _date(url: str) -> float | None:
    """Return the date in a URL, seconds since the epoch; None for none."""
    match = _DATE.search(url)
    if match is None:
        return None
    try:
        day = datetime(int(match[1]), int(match[2]), int(match[3]), tzinfo=UTC)
    except ValueError:
        return None
    return day.timestamp()
