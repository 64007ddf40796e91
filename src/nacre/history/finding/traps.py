"""Places without end: many URLs of one kind, and little behind them (pure).

A calendar leads from month to month, a search page to itself under other session ids, a shop to
every combination of its filters. Nothing is dropped: a run visits few of them (`traps`).
"""

import re
from collections.abc import Iterable, MutableMapping
from functools import lru_cache
from hashlib import blake2b

import msgspec

from nacre.core.pagerow import PageRow
from nacre.core.pageview import PageView
from nacre.history.finding.urlshape import date_of, shaped

MANY = 50
"""URLs of a kind that are let through before it is looked at, and how many are then looked at."""
_AGAIN = 0.8
"""A kind is a trap from this share on of pages that say nothing new."""
_RECENT = 200.0
_TEXTS = 500
_DAY = 86_400.0
_FUTURE = 30 * _DAY
_MOST_FUTURE = 0.2
_FACETS = 3
_VALUES = 0.2
_CROWD = " crowd"
"""Suffix of a kind's name: what those of its pages said that lead to no others of the kind."""
_ROWS = re.compile(r"(\{\w+\})(?:[-_.,+~/]\1)+")
_WORDS = re.compile(r"\W+")


class TrapRow(msgspec.Struct, array_like=True):
    """What the pages of a kind have said; kept in the store.

    Attributes:
        shown: Pages read; the last two hundred count most.
        again: Those of them that said what another had said.
        texts: Prints of what they said, the latest at the end.
    """

    shown: float = 0.0
    again: float = 0.0
    texts: list[int] = []

    def add(self, said: int) -> None:
        """Take in what a page says."""
        if self.shown >= _RECENT:
            self.shown, self.again = self.shown / 2.0, self.again / 2.0
        self.shown += 1.0
        if said in self.texts:
            self.again += 1.0
            self.texts.remove(said)
        self.texts.append(said)
        if len(self.texts) > _TEXTS:
            del self.texts[0]

    @property
    def reason(self) -> str:
        """Why it is a trap; "" when it is none."""
        if self.shown < MANY or self.again < _AGAIN * self.shown:
            return ""
        return f"of 100 of its pages {100 * self.again / self.shown:.0f} say what others say"


class _Waiting:
    """URLs of a kind that nobody visited, as met in this step."""

    def __init__(self) -> None:
        self.count = self.looked = self.future = 0
        self.values: dict[str, set[str]] = {}

    def look(self, url: str, first_seen: float) -> None:
        self.looked += 1
        one = shaped(url)
        date = date_of(one.tokens)
        self.future += date is not None and date > first_seen + _FUTURE
        for part in url.partition("?")[2].split("&"):
            name, _, value = part.partition("=")
            values = self.values.setdefault(name, set()) if len(self.values) < _RECENT else set()
            if len(values) <= _VALUES * self.looked:
                values.add(value)

    @property
    def reason(self) -> str:
        if self.looked < MANY:
            return ""
        if self.future > _MOST_FUTURE * self.looked:
            return f"a calendar: {self.future} of {self.looked} URLs name days still to come"
        few = [len(values) <= _VALUES * self.looked for values in self.values.values()]
        if len(few) >= _FACETS and all(few):
            return f"combinations of {len(few)} parameters with few values each"
        return ""


class Traps:
    """Which kinds of URLs are traps.

    Args:
        rows: By kind (`kind_of_trap`), for crowds apart; None for a dictionary.
    """

    def __init__(self, rows: MutableMapping[str, TrapRow] | None = None) -> None:
        self._rows = {} if rows is None else rows
        self._waiting: dict[str, _Waiting] = {}
        self._caught: dict[str, str] = {}
        self._endless: set[str] = set()

    def begin_step(self) -> None:
        """Look at all kinds anew."""
        self._waiting.clear()
        self._caught.clear()
        self._endless.clear()
        for name in list(self._rows):
            self._judge(name, self._rows[name])

    @property
    def any(self) -> bool:
        """Whether there is any trap."""
        return bool(self._caught)

    def meet(self, template: str, url: str, first_seen: float) -> None:
        """Take in a URL that was never visited.

        Args:
            template: Its template.
            url: It.
            first_seen: When it was first heard of, seconds since the epoch.
        """
        name = kind_of_trap(template)
        waiting = self._waiting.get(name)
        if waiting is None:
            waiting = self._waiting[name] = _Waiting()
        waiting.count += 1
        if waiting.count > MANY and waiting.looked < _RECENT:
            waiting.look(url, first_seen)
            self._note(name, waiting.reason)

    def is_crowded(self, template: str) -> bool:
        """Whether many URLs of its kind were met in this step."""
        waiting = self._waiting.get(kind_of_trap(template))
        return waiting is not None and waiting.count >= MANY

    def read(self, template: str, said: int, *, leads: bool) -> None:
        """Take in a page that led to others of its kind, or is one of a crowd.

        Args:
            template: Of the page.
            said: What it says: `print_of` its text or digest.
            leads: It led to others of its kind.
        """
        name = kind_of_trap(template) + ("" if leads else _CROWD)
        row = self._rows.get(name)
        if row is None:
            row = self._rows[name] = TrapRow()
        row.add(said)
        self._judge(name, row)

    def _judge(self, name: str, row: TrapRow) -> None:
        self._note(name.removesuffix(_CROWD), row.reason)
        if row.reason and not name.endswith(_CROWD):
            self._endless.add(name)

    def _note(self, name: str, reason: str) -> None:
        if reason:
            self._caught[name] = reason

    def reason(self, template: str) -> str:
        """Why a template is a trap; "" when it is none."""
        return self._caught.get(kind_of_trap(template), "")

    def is_endless(self, template: str) -> bool:
        """Whether pages of a kind lead on to their like and say the same: worth as little if known.

        A crowd of pages that say the same may be a site that is down for a day.
        """
        return kind_of_trap(template) in self._endless


def judged(rows: MutableMapping[str, TrapRow], pages: Iterable[PageRow]) -> Traps:
    """What a step that begins now would take for traps."""
    traps = Traps(rows)
    traps.begin_step()
    for page in pages:
        if not page.visits:
            traps.meet(page.template, page.url, page.first_seen)
    return traps


@lru_cache(maxsize=50_000)
def kind_of_trap(template: str) -> str:
    """What a template counts as; one or more like placeholders in a row are the same: `1-2-3`."""
    return _ROWS.sub(r"\1", template)


def print_of(text: str) -> int:
    """A short print of a text, the same in every process."""
    digest = blake2b(text.encode("utf-8", "replace"), digest_size=4).digest()
    return int.from_bytes(digest, "big")


def says(view: PageView, url: str) -> int:
    """A print of what a page says and shows, but for what stands in its URL too."""
    own = [re.escape(token.text) for token in shaped(url).tokens]
    text = re.sub(rf"(?<!\w)(?:{'|'.join(own)})(?!\w)", "", view.text) if own else view.text
    shown = sorted(piece.text for piece in view.pieces if piece.kind in {"image", "file"})
    return print_of(_WORDS.sub(" ", text).strip() + "\n".join(["", *shown]))
