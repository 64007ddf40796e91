"""Traps: endless kinds of URLs, and query parameters without effect (pure).

A calendar leads from month to month, a search page to itself under other session ids, a shop to
every combination of its filters. Nothing is dropped: a run visits few of them (`phases.limits`).

A query parameter is idle when its value never changed a page, in five pairs of pages at least. It
is reported; new URLs that differ from a known page in such parameters alone can be made to wait
(`recrawl.idle_parameters`).
"""

import re
from collections.abc import Iterable, Iterator, MutableMapping
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple

import msgspec

from nacre.core.pagerow import PageRow, PageView
from nacre.core.urlshape import date_of, shaped
from nacre.messages import message
from nacre.planner.tuning import guess
from nacre.uri.parse import authority

MANY = guess(
    "traps.many",
    50,
    "Number of URLs of a kind that are visited before it is checked, and number "
    "of the visits that are then checked.",
)
_AGAIN = guess(
    "traps.again",
    0.8,
    "Share of pages without new content from which a kind of URLs counts as a trap.",
    most=1.0,
)
_RECENT = guess(
    "traps.recent", 200.0, "Number of pages of a kind after which its counts are halved."
)
_TEXTS = 500
"""A bound of memory: texts of a kind that are remembered."""
_DAY = 86_400.0
"""Seconds of a day."""
_FUTURE = guess(
    "traps.future",
    30 * _DAY,
    "Time ahead of now from which a date in a URL counts as future, in seconds.",
)
_MOST_FUTURE = guess(
    "traps.most_future",
    0.2,
    "Share of URLs with such dates above which a kind counts as a calendar.",
    most=1.0,
)
_FACETS = guess(
    "traps.facets",
    3,
    "Number of parameters with few values from which combinations of them count as facets.",
)
_VALUES = guess(
    "traps.values",
    0.2,
    "Largest number of values per URL at which a parameter counts as one with few values.",
    most=1.0,
)
_CROWD = " crowd"
"""Suffix of a kind's name, for the pages that lead to no others of the kind."""
_ROWS = re.compile(r"(\{\w+\})(?:[-_.,+~/]\1)+")
_WORDS = re.compile(r"\W+")


class TrapRow(msgspec.Struct, array_like=True):
    """The contents of the pages of a kind; kept in the store.

    Attributes:
        shown: Pages read; the last two hundred count most.
        again: Pages among these with the same content as another page.
        texts: Fingerprints of their contents, the latest at the end.
    """

    shown: float = 0.0
    again: float = 0.0
    texts: list[int] = []

    def add(self, content: int) -> None:
        """Add the content of a page."""
        if self.shown >= _RECENT:
            self.shown, self.again = self.shown / 2.0, self.again / 2.0
        self.shown += 1.0
        if content in self.texts:
            self.again += 1.0
            self.texts.remove(content)
        self.texts.append(content)
        if len(self.texts) > _TEXTS:
            del self.texts[0]

    @property
    def reason(self) -> str:
        """Reason why the kind is a trap; "" if it is not."""
        if self.shown < MANY or self.again < _AGAIN * self.shown:
            return ""
        return message(
            "recrawl.trap-repeats",
            "of 100 of its pages {number:.0f} say what others say",
            number=100 * self.again / self.shown,
        )


class _Waiting:
    """URLs of a kind that were never visited, as met in this step."""

    def __init__(self) -> None:
        self.count = self.looked = self.future = 0
        self.values: dict[str, set[str]] = {}

    def look(self, url: str, first_seen: float) -> None:
        self.looked += 1
        shape = shaped(url)
        date = date_of(shape.tokens)
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
            return message(
                "recrawl.trap-calendar",
                "a calendar: {future} of {number} URLs name days still to come",
                future=self.future,
                number=self.looked,
            )
        few = [len(values) <= _VALUES * self.looked for values in self.values.values()]
        if len(few) >= _FACETS and all(few):
            return message(
                "recrawl.trap-parameters",
                "combinations of {number} parameters with few values each",
                number=len(few),
            )
        return ""


class Traps:
    """The kinds of URLs that are traps.

    Args:
        rows: By kind (`kind_of_trap`), with separate rows for crowds; None for a dictionary.
    """

    def __init__(self, rows: MutableMapping[str, TrapRow] | None = None) -> None:
        self._rows = {} if rows is None else rows
        self._waiting: dict[str, _Waiting] = {}
        self._caught: dict[str, str] = {}
        self._endless: set[str] = set()

    def begin_step(self) -> None:
        """Evaluate all kinds again."""
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
        """Note a URL that was never visited.

        Args:
            template: Its template.
            url: The URL.
            first_seen: When it was first found, seconds since the epoch.
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

    def read(self, template: str, content: int, *, leads: bool) -> None:
        """Learn from a page that led to others of its kind, or is one of a crowd.

        Args:
            template: Template of the page.
            content: Its content: `print_of` its text or digest.
            leads: It led to others of its kind.
        """
        name = kind_of_trap(template) + ("" if leads else _CROWD)
        row = self._rows.get(name)
        if row is None:
            row = self._rows[name] = TrapRow()
        row.add(content)
        self._judge(name, row)

    def _judge(self, name: str, row: TrapRow) -> None:
        self._note(name.removesuffix(_CROWD), row.reason)
        if row.reason and not name.endswith(_CROWD):
            self._endless.add(name)

    def _note(self, name: str, reason: str) -> None:
        if reason:
            self._caught[name] = reason

    def reason(self, template: str) -> str:
        """Return the reason why a template is a trap; "" if it is not."""
        return self._caught.get(kind_of_trap(template), "")

    def is_endless(self, template: str) -> bool:
        """Whether pages of a kind lead to others of it with the same content.

        Visits of known pages of such a kind are limited, too.

        A crowd of pages with the same content may be a site that is down for a day.
        """
        return kind_of_trap(template) in self._endless


def judged(rows: MutableMapping[str, TrapRow], pages: Iterable[PageRow]) -> Traps:
    """Return the kinds that would be traps in a step that begins now."""
    traps = Traps(rows)
    traps.begin_step()
    for page in pages:
        if not page.visits:
            traps.meet(page.template, page.url, page.first_seen)
    return traps


@lru_cache(maxsize=50_000)
def kind_of_trap(template: str) -> str:
    """Return the kind of a template; adjacent placeholders of a type count as one: `1-2-3`."""
    return _ROWS.sub(r"\1", template)


def print_of(text: str) -> int:
    """Return a short fingerprint of a text, the same in every process."""
    digest = blake2b(text.encode("utf-8", "replace"), digest_size=4).digest()
    return int.from_bytes(digest, "big")


def says(view: PageView, url: str) -> int:
    """A fingerprint of the text and links of a page, without the words of its URL."""
    own = [re.escape(token.text) for token in shaped(url).tokens]
    text = re.sub(rf"(?<!\w)(?:{'|'.join(own)})(?!\w)", "", view.text) if own else view.text
    pictures = sorted(piece.text for piece in view.pieces if piece.kind in {"image", "file"})
    return print_of(_WORDS.sub(" ", text).strip() + "\n".join(["", *pictures]))


PAIRS = 5
"""Pairs of pages that must be the same, all of them, for a parameter to be idle. A guess that no
goal depends on: idle parameters are reported, and `recrawl.idle_parameters: skip` is off by
default."""
_MOST = 24
"""A bound of work: parameters of a URL that are checked."""
_NAMES = 10_000
"""A bound of memory: parameters of all sites."""
_REMEMBERED = 1_000_000
"""A bound of memory: pages of each parameter that others are compared with."""


class Parameter(NamedTuple):
    """The observed effect of a query parameter of a site.

    Attributes:
        site: The site.
        name: The parameter.
        pairs: Pages compared with another page whose URL differs in its value alone.
        same: Pages among these with the same bytes.
    """

    site: str
    name: str
    pairs: int
    same: int

    @property
    def idle(self) -> bool:
        """Whether its value never changed the page."""
        return self.pairs >= PAIRS and self.same == self.pairs


class Pairs:
    """Compares pages that differ in the value of one parameter alone."""

    def __init__(self) -> None:
        self._first: dict[tuple[str, str], str] = {}
        self._counts: dict[tuple[str, str], list[int]] = {}

    def add(self, url: str, digest: str) -> None:
        """Add a page with the digest of its last answer; a page without a digest is left out."""
        for name, remainder in _without_each(url) if digest else ():
            other = self._first.get((name, remainder))
            if other is None:
                if len(self._first) < _REMEMBERED:
                    self._first[name, remainder] = digest
                continue
            key = authority(url), name
            if key in self._counts or len(self._counts) < _NAMES:
                count = self._counts.setdefault(key, [0, 0])
                count[0] += 1
                count[1] += other == digest

    def parameters(self) -> list[Parameter]:
        """All parameters of which at least one pair is known, idle ones first."""
        parameters = [Parameter(*key, *count) for key, count in self._counts.items()]
        return sorted(
            parameters,
            key=lambda parameter: (
                not parameter.idle,
                -parameter.pairs,
                parameter.site,
                parameter.name,
            ),
        )


def parameters(pages: Iterable[tuple[str, str]]) -> list[Parameter]:
    """All parameters of which at least one pair of pages is known, idle ones first.

    Args:
        pages: URLs of pages, and the digests of their last answers.
    """
    pairs = Pairs()
    for url, digest in pages:
        pairs.add(url, digest)
    return pairs.parameters()


def _without_each(url: str) -> Iterator[tuple[str, str]]:
    """Yield each parameter of a URL, with the URL without it."""
    path, mark, query = url.partition("?")
    parts = query.split("&") if mark else []
    for at, part in enumerate(parts[:_MOST]):
        name = part.partition("=")[0]
        if name:
            yield name, f"{path}?{'&'.join([*parts[:at], *parts[at + 1 :]])}"
