"""Sentinels: of pages that change together a few are visited first and speak for all (pure)."""

from nacre.core.pagerow import PageKind, PageRow
from nacre.history.finding.hints import Source
from nacre.history.recrawl.choice import SENTINEL, Choice, lot
from nacre.history.recrawl.cochange import SENTINELS, Word
from nacre.history.recrawl.step import Knowledge, Step
from nacre.history.slices import ROWS, Slices
from nacre.history.verdict.deletion import Life

_INDEX = 0.5


class Together:
    """Chooses sentinels, and has the pages of a group visited when theirs have changed.

    Args:
        known: What the planner knows and wants.
        step: The current step.
    """

    def __init__(self, known: Knowledge, step: Step) -> None:
        self._rows, self._sites, _, self._settings = known
        self._step = step
        self._groups: dict[str, list[str]] = {}

    def begin(self) -> None:
        """Begin a step."""
        self._groups = {}
        self._sites.forget_words()

    def take(self, row: PageRow) -> None:
        """Look at a row."""
        page = row.kind is PageKind.PAGE and row.index < _INDEX and row.life == Life.LIVE
        if page and row.visits and self._settings.hints and self._sites.changes_together(row):
            self._groups.setdefault(row.template, []).append(row.url)

    def sentinels(self, room: int) -> Slices[list[Choice]]:
        """A few pages of each group, by lot."""
        yield
        chosen: list[Choice] = []
        for urls in self._groups.values():
            if len(urls) > SENTINELS:
                drawn = sorted(urls, key=lambda url: lot(url, self._step.time))[:SENTINELS]
                share = SENTINELS / len(urls)
                chosen += [Choice(url, 0.0, SENTINEL, share) for url in drawn]
        return [one for one in chosen if one.url not in self._step.done][:room]

    def tell(self) -> Slices[None]:
        """Tell of the pages of groups whose sentinels have changed."""
        for urls in self._groups.values():
            for number, url in enumerate(urls):
                if not number % ROWS:
                    yield
                row = self._rows.get(url)
                if row is None or url in self._step.done:
                    continue
                if self._sites.word_of(row, self._step.time) is not Word.CHANGED:
                    break
                self._step.tell(row, Source.CO_CHANGE)
                self._rows.put(row)
