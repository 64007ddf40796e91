"""The promise of a link: new content, another view of known content, or no end (pure).

It is learned while a site is crawled for the first time, of each kind of URLs (`kind_of_url`).
Nothing is refused: URIs that promise less are fetched later.

- A URL whose words are all in URLs visited before (`?title=Foo&action=edit` beside `/Foo`, a
  further combination of a shop's filters) is another *view*. It goes later, and later still
  unless others of its kind led to new words. What has fewer parameters goes first, and makes words
  known.
- A kind is *poor* when the last of its pages showed no text that was new to the site, and no link
  with a new word.
- A kind whose pages declare that they belong in no index (`noindex`) counts as views: lists, forms
  and statistics of a wiki declare it, its articles do not.
- A poor kind is *endless* when its pages lead to ever more URLs that promise nothing: a calendar
  leads from month to month, and a session in the path makes each link a new one.
"""

import re
from collections import OrderedDict
from collections.abc import Callable, Iterable
from enum import IntEnum
from typing import NamedTuple
from zlib import crc32

import msgspec

from nacre.frontier.known_set import KnownSet
from nacre.frontier.page_texts import texts_of, without_echoes
from nacre.frontier.url_kinds import (
    ANY,
    LETTERS,
    KindNames,
    ValuesRow,
    counts,
    has_code,
    last_word,
    shape_of,
    whole_of,
    words_of,
)
from nacre.uri.parse import authority

MANY = 50
"""URLs of a kind that must be met before it counts as endless."""
_DULL = 5
"""Pages of a kind, one after the other, that make it poor when none has anything new."""
_LONG_DULL = 16
"""The same where half of its pages had something new, and for new words that cannot be counted up:
names of things, not dates and numbers. And so many without any new letter make it endless."""
_UNDERWAY = 10_000
"""URLs that were handed out and are not visited yet, whose words are held back."""
_LED = 0.3
"""Share of a kind's pages, of late, with links with new words, from which on it leads to more."""
_EXPLORED = 3
"""Views of a kind that are visited before views that lead to nothing new have to wait."""
_NEW_TEXT = 0.12
"""A page has something new from this share of its text on."""
_NEW_LETTERS = 48
"""And from so many letters of new text on."""
_NO_LETTERS = 8
"""A page with fewer has nothing new at all; only such pages make a kind endless."""
_QUERIES, _DATES, _CODES, _MET = 12, 40, 20, 1_000
"""URLs with a query, with a date or a code in the path, or of any kind, from which on a site is
watched: until then nothing is learned of it, and no time is spent."""
_READ_AT_FIRST = 24
_READ_FIRST = 12
_READ_THEN = 32
"""Pages of a site, and of each kind, that are read; then one of so many, while they have something
new and no kind of the site promises less. The last word of its URL decides which one, so that
views of one thing are read together, in each run the same."""
_READ_OF_CODES = 2
"""The same of URLs with a code in the path: each may be a random name."""
_MANY_FOLDERS = "{}/"
"""In the name of a kind whose folders are many: sessions, perhaps; all its pages are read."""
_LEADS = 0.5
"""URLs that promise nothing, for each page of a kind, from which on there is no end to them."""
_KINDS = 2_000
_SITES = 5_000
_ENTRIES = 500_000
"""Rows, words and beginnings of all sites together, some 150 bytes each: an owner of endless host
names fills each with as many as one may have."""
_SITES_ADDED = 50
"""Sites after which they are counted."""
_LONGEST_EXAMPLE = 2_000
_STARTS = _SHAPES = 2_000

_DATE = re.compile(r"(?<!\d)(?:19|20)\d\d[-_/]?(?:0?[1-9]|1[0-2])(?!\d)")
_NO_URL = " "
"""The beginning of no URL."""
_NOT_UNDERWAY: tuple[list[int], str] = ([], "")
"""No words, and no beginning."""
_OTHERS = "others"
AGAIN = "again "
"""Before the name of a kind: its URLs had no new word."""
_TEXTS = 0x5A5A5A5A


class AssessedLink(NamedTuple):
    """A URL that may enter the frontier.

    Attributes:
        promise: What it promises.
        view: Whether it has no new word.
        kind: Its kind; "" while its site is not watched.
        rows: The row of its kind; for a view also the row of all views of its path.
    """

    promise: "Promise"
    view: bool
    kind: str
    rows: tuple["KindRow", ...] = ()


class Promise(IntEnum):
    """The promise of a link; less is later."""

    NEW = 0
    VIEW = 1
    POOR = 2
    ENDLESS = 3


_NEW = Promise.NEW
_UNWATCHED = AssessedLink(_NEW, view=False, kind="")


class KindRow(msgspec.Struct, array_like=True):
    """The counts of a kind of URLs; kept in the store.

    Attributes:
        name: The kind.
        met: URLs of it that entered the frontier.
        done: Pages of it that were visited.
        read: Pages that were compared for new content.
        rich: Compared pages with new content.
        dull: Pages without anything new since the last that had.
        empty: Pages without a new letter since the last that had one.
        leads: URLs that promise nothing, for each of its dull pages; the latest count most.
        led: Share of its pages that brought a link with a new word; the latest count most.
        reason: Why it is endless; "" when it is not.
        example: One of its URLs.
        unindexed: Pages of those read that have `noindex`.
    """

    name: str
    met: int = 0
    done: int = 0
    read: int = 0
    rich: int = 0
    dull: int = 0
    leads: float = 0.0
    led: float = 0.0
    empty: int = 0
    reason: str = ""
    example: str = ""
    unindexed: int = 0

    @property
    def promise(self) -> Promise:
        """The prospect of a URL of this kind, NEW without evidence against it."""
        if self.reason:
            return Promise.ENDLESS
        if self.dull >= _DULL and (
            self.dull >= _LONG_DULL
            or (self.rich * 2 <= self.read and (self.name.startswith(AGAIN) or counts(self.name)))
        ):
            return Promise.POOR
        return Promise.VIEW if self.says_noindex else Promise.NEW

    @property
    def says_noindex(self) -> bool:
        """Whether most of its pages are `noindex`."""
        return self.read >= _EXPLORED and self.unindexed * 2 > self.read

    @property
    def leads_on(self) -> bool:
        """Return whether its pages lead to new pages."""
        return self.read >= 2 and self.led >= _LED

    def learn(
        self, letters: int, total: int, *, led: bool, leads: int, noindex: bool = False
    ) -> None:
        """Take in a page.

        Args:
            letters: Letters of its text that were new to the site.
            total: Letters of its text.
            led: It brought a link with a new word.
            leads: URLs that promise nothing which it brought into the frontier.
            noindex: Whether it has `noindex`.
        """
        self.read += 1
        self.unindexed += noindex
        self.led = float(led) if self.read == 1 else 0.75 * self.led + 0.25 * led
        self.empty = self.empty + 1 if letters < _NO_LETTERS and not led else 0
        if led or (letters >= _NEW_LETTERS and letters >= _NEW_TEXT * total):
            self.rich += 1
            self.dull = 0
            self.reason = ""
            return
        self.dull += 1
        self.leads = float(leads) if self.dull == 1 else 0.7 * self.leads + 0.3 * leads
        if self._is_endless:
            self.reason = (
                f"the last {self.empty} pages of this kind had nothing new and led to "
                f"{self.leads:.1f} more such URLs each"
            )
        elif self.leads < _LEADS / 2 or not self.empty:
            self.reason = ""

    @property
    def _is_endless(self) -> bool:
        return (
            self.empty >= _LONG_DULL * (2 if self.name.endswith(ANY) else 1)
            and self.met >= MANY
            and self.leads >= _LEADS
        )


class _Site:
    """One host.

    Attributes:
        host: Its name, with the port if it is explicit.
        salt: Distinguishes its words and texts from those of others.
        kinds: Rows of the kinds of its URLs.
        letters: Letters of names and examples, of each kind those beyond `LETTERS`.
        names: Names these kinds.
        rows: The same by the shapes of URLs, of those with a new word and of views.
        starts: Beginnings of URLs whose words are known.
        calm: Those of them whose kind needs no more than samples; empty while a kind is dull.
        queries, dates, codes, met: Its URLs with a query, with a date, with a code, and all, until
            it is watched.
        read: Its pages that were read.
        poor: One of its kinds promises less than others.
        suspect: A kind is poor, and many URLs of it were met.
        watched: Whether its pages are worth a look.
    """

    __slots__ = (
        *("calm", "codes", "dates", "host", "kinds", "letters", "met", "names", "poor"),
        *("queries", "read", "rows", "salt", "starts", "suspect", "watched"),
    )

    def __init__(self, host: str) -> None:
        self.host = host
        self.salt = crc32(host.encode("utf-8", "replace"))
        self.kinds: dict[str, KindRow] = {}
        self.names = KindNames()
        self.rows: tuple[dict[str, KindRow], dict[str, KindRow]] = ({}, {})
        self.starts: set[str] = set()
        self.calm: set[str] = set()
        self.queries = self.dates = self.codes = self.met = self.read = self.letters = 0
        self.poor = self.suspect = self.watched = False

    def recall(self, rows: Iterable[KindRow | ValuesRow]) -> None:
        """Take up rows that were kept: the site was watched before."""
        for row in rows:
            self.watched = True
            if isinstance(row, ValuesRow):
                self.names.recall(row)
                continue
            self.add(row)
            self.note_promise(row)
            if row.promise >= Promise.POOR:
                self.note_poor(row)
            if not row.name.endswith(ANY):
                self.read += row.read

    def name_of(self, url: str, *, view: bool, learn: bool = False) -> str:
        """Return the kind of a URL."""
        name = self.names.name(url, learn=learn)
        return AGAIN + name if view else name

    def find_row(self, url: str, *, view: bool) -> KindRow | None:
        """Return the row of a URL's kind; None when there is none."""
        row = self.rows[view].get(shape_of(url))
        return row or self.kinds.get(self.name_of(url, view=view))

    def row(self, url: str, *, view: bool) -> KindRow:
        """Return the row of a URL's kind, from now on by the shape of the URL too."""
        merged = self.names.merged
        name = self.name_of(url, view=view, learn=True)
        rows = self.rows[view]
        if self.names.merged != merged or len(rows) >= _SHAPES:
            for by_shape in self.rows:
                by_shape.clear()
        if name not in self.kinds and len(self.kinds) >= _KINDS:
            name = _OTHERS
        row = self.kinds.get(name)
        if row is None:
            row = self.add(KindRow(name, example=url[:_LONGEST_EXAMPLE]))
        rows[shape_of(url)] = row
        return row

    def add(self, row: KindRow) -> KindRow:
        """Add the row of another kind."""
        self.kinds[row.name] = row
        self.letters += max(len(row.name) + len(row.example) - LETTERS, 0)
        return row

    def note_poor(self, row: KindRow) -> None:
        """Note that a kind is poor; that of many URLs is a sign of a trap."""
        if row.met >= MANY:
            self.suspect = True
            self.calm.clear()

    def note_promise(self, row: KindRow) -> None:
        """Note whether one of its kinds is poor now."""
        self.poor = self.poor or row.promise is not Promise.NEW

    @property
    def entries(self) -> int:
        """The number of rows, words, names and values in memory; long texts count as several."""
        tables = (self.kinds, self.starts, self.calm, *self.rows)
        return sum(map(len, tables)) + self.names.entries + self.letters // LETTERS

    def notes(self, url: str) -> bool:
        """Count a URL; whether the site is watched from now on."""
        if "?" in url or ";" in url or "/(" in url:
            self.queries += 1
        elif _DATE.search(url):
            self.dates += 1
        elif has_code(url):
            self.codes += 1
        self.met += 1
        self.watched = (
            self.queries >= _QUERIES
            or self.dates >= _DATES
            or self.codes >= _CODES
            or self.met >= _MET
        )
        return self.watched


class Novelty:
    """The prospects of links, by host. Its memory is bounded for any site.

    Args:
        recall: Gives the rows that were kept of a host; None: nothing is kept.

    Attributes:
        words: Words of URLs, and texts of pages, by host.
        changed: Rows that changed since this was cleared, by host and name.
        changed_values: The same of values in URLs.
    """

    def __init__(
        self, recall: Callable[[str], Iterable[KindRow | ValuesRow]] | None = None
    ) -> None:
        self.words = KnownSet()
        self.changed: dict[tuple[str, str], KindRow] = {}
        self.changed_values: dict[tuple[str, str], ValuesRow] = {}
        self._recall = recall
        self._sites: OrderedDict[str, _Site] = OrderedDict()
        self._added = 0
        self._start, self._latest = _NO_URL, _Site("")
        self._underway: OrderedDict[str, tuple[list[int], str]] = OrderedDict()

    def meet(self, url: str) -> AssessedLink:
        """Record a URL that is about to enter the frontier; return its promise."""
        site = self._site(url)
        if not (site.watched or site.notes(url)):
            return _UNWATCHED
        last = last_word(url)
        view = (last is None or self.words.has(last[1], site.salt)) and self._is_view(site, url)
        row = self._row(site, url, view=view)
        if not (view or site.poor):
            return AssessedLink(_NEW, view=False, kind=row.name, rows=(row,))
        whole = self._whole(site, row) if view else None
        promise = _assess_promise(site, row, view=view)
        if promise >= Promise.POOR:
            site.note_poor(row)
        return AssessedLink(promise, view, row.name, (row,) if whole is None else (row, whole))

    def entered(self, links: Iterable[AssessedLink]) -> None:
        """Of the links that were met, these entered the frontier; others were there before."""
        for link in links:
            for row in link.rows:
                row.met += 1

    def place(self, url: str, *, view: bool) -> tuple[Promise, bool]:
        """Return the promise of a URL that is about to be visited, and whether it is a view by now.

        The first URL that is visited for a word makes it known; others with that word are views
        from then on. The word is to be kept when the URL is `settled`: after a kill it is visited
        again, and must not be taken for a view of itself.
        """
        site = self._site(url)
        if not site.watched:
            return _NEW, False
        if not view:
            fresh, start, view = self._mark_words(site, url)
            if fresh:
                self._underway[url] = (fresh, start)
                if len(self._underway) > _UNDERWAY:
                    self.settled(next(iter(self._underway)))
        if not (view or site.poor):
            return _NEW, False
        return _assess_promise(site, site.find_row(url, view=view), view=view), view

    def settled(self, url: str) -> None:
        """A URL was visited, or goes later: the words that it made known are to be kept."""
        self.words.keep(self._underway.pop(url, _NOT_UNDERWAY)[0])

    def row(self, url: str, *, view: bool, endless: bool = False) -> KindRow | None:
        """Return the row of the kind of a URL; None for none.

        Args:
            url: The URL.
            view: It had no new word.
            endless: Prefer the reason for which the kind is endless.
        """
        site = self._site(url)
        row = site.find_row(url, view=view)
        if endless and not (row is not None and row.reason):
            return _why_endless(site, site.name_of(url, view=view)) or row
        return row

    def visited(self, url: str, *, view: bool) -> bool:
        """Count a URL whose page was fetched; return whether to look for new content in it."""
        words, start = self._underway.pop(url, _NOT_UNDERWAY)
        self.words.keep(words)
        site = self._site(url)
        if start in site.calm:
            return words[-1] % _READ_THEN == 0
        if not site.watched:
            return False
        if site.suspect or site.read < _READ_AT_FIRST:
            return True
        row = self._row(site, url, view=view)
        if row.dull or row.read < _READ_FIRST or _MANY_FOLDERS in row.name:
            return True
        if site.codes >= _CODES and has_code(url):
            return _is_sample(site, url, _READ_OF_CODES)
        if start and len(site.calm) < _STARTS:
            site.calm.add(start)
        return _is_sample(site, url)

    def learn(
        self,
        url: str,
        body: bytes,
        links: Iterable[AssessedLink],
        *,
        view: bool,
        noindex: bool = False,
    ) -> None:
        """Take in a page that `visited` named.

        Links of the page's own kind do not count as new: a calendar leads to its next month.

        Args:
            url: Its URL.
            body: Its content, decoded; b"" for a failure.
            links: What it brought into the frontier.
            view: Its URL had no new word.
            noindex: Whether it has `noindex`.
        """
        site = self._site(url)
        row = self._row(site, url, view=view)
        site.read += 1
        fresh = [
            each_row.promise is Promise.NEW and each_row.kind != row.name for each_row in links
        ]
        letters, total = self._reads(site, without_echoes(body, url))
        whole = self._whole(site, row) if view else None
        for each_row in (row, whole, self._deferred_row(site, row)):
            if each_row is not None:
                each_row.learn(
                    letters, total, led=any(fresh), leads=len(fresh) - sum(fresh), noindex=noindex
                )
                site.note_promise(each_row)
        if row.dull:
            site.calm.clear()

    def _is_view(self, site: _Site, url: str) -> bool:
        words = words_of(url)
        return bool(words) and all(self.words.has(word, site.salt) for word in words)

    def _mark_words(self, site: _Site, url: str) -> tuple[list[int], str, bool]:
        """Make the words of a URL known.

        If the beginning of the URL is known, only the last word is checked.

        Returns:
            Those that were not known, for `settled`; the beginning of the URL, "" if it may not
            stand for it; and whether all were known.
        """
        last, mark, salt = last_word(url), self.words.mark, site.salt
        if last is not None and last[0] in site.starts:
            value = mark(last[1], salt)
            return ([], "", True) if value is None else ([value], last[0], False)
        words = words_of(url)
        fresh = [value for word in words if (value := mark(word, salt)) is not None]
        if last is not None:
            if len(site.starts) >= _STARTS:
                site.starts.clear()
            site.starts.add(last[0])
        return fresh, "", bool(words) and not fresh

    def _whole(self, site: _Site, row: KindRow) -> KindRow | None:
        """All views of a path, with any parameters: their combinations would be many kinds."""
        name = whole_of(row.name)
        if not name:
            return None
        whole = site.kinds.get(name) or site.add(KindRow(name, example=row.example))
        self.changed[site.host, name] = whole
        return whole

    def _deferred_row(self, site: _Site, row: KindRow) -> KindRow | None:
        """The row of a poor kind whose URLs went later: their words are known when they come."""
        base = site.kinds.get(row.name.removeprefix(AGAIN))
        if base is None or base is row or not base.dull:
            return None
        self.changed[site.host, base.name] = base
        return base

    def _reads(self, site: _Site, body: bytes) -> tuple[int, int]:
        """Note the text of a page; its letters that were new, and all."""
        texts = texts_of(body)
        return self.words.add_all(texts, site.salt ^ _TEXTS), sum(map(len, texts))

    def _site(self, url: str) -> _Site:
        if not url.startswith(self._start):
            at = url.find("/", 8) + 1
            self._start = url[:at] if at and url.startswith("http") else _NO_URL
            self._latest = self._site_of(authority(url))
        return self._latest

    def _site_of(self, host: str) -> _Site:
        site = self._sites.get(host)
        if site is None:
            site = self._sites[host] = _Site(host)
            if self._recall is not None:
                site.recall(self._recall(host))
            self._bound()
        else:
            self._sites.move_to_end(host)
        return site

    def _bound(self) -> None:
        """Drop the sites that were not met for longest, when all have too much; rows are kept."""
        sites = self._sites
        if len(sites) > _SITES:
            sites.popitem(last=False)
        self._added += 1
        if self._added % _SITES_ADDED:
            return
        total = sum(site.entries for site in sites.values())
        while total > _ENTRIES and len(sites) > 1:
            total -= sites.popitem(last=False)[1].entries

    def _row(self, site: _Site, url: str, *, view: bool) -> KindRow:
        """Return the row of a URL's kind, which is about to change."""
        row = site.rows[view].get(shape_of(url))
        if row is None:
            row = site.row(url, view=view)
            for value in site.names.changed.values():
                self.changed_values[site.host, value.name] = value
            site.names.changed.clear()
        self.changed[site.host, row.name] = row
        return row


def _is_sample(site: _Site, url: str, of: int = _READ_THEN) -> bool:
    """Return whether the last word of a URL is one of the few whose pages are read."""
    last = last_word(url)
    words = (last[1],) if last is not None else words_of(url)
    return bool(words) and crc32(words[-1], site.salt) % of == 0


def _why_endless(site: _Site, kind: str) -> KindRow | None:
    """Return the endless row of all views of a path, or of a kind of whose URLs these are views."""
    rows = (site.kinds.get(name) for name in (whole_of(kind), kind.removeprefix(AGAIN)))
    return next((row for row in rows if row is not None and row.reason), None)


def complexity(url: str) -> int:
    """The number of parameters of a URL; among URLs of equal promise, the plainest goes first."""
    return url.count("&") + url.count(";") + url.count("?")


def _assess_promise(site: _Site, row: KindRow | None, *, view: bool) -> Promise:
    """Return a view promises little, unless other views of its kind led to new pages."""
    if not view:
        return Promise.NEW if row is None else row.promise
    if row is None:
        return Promise.VIEW
    if row.leads_on:
        return max(Promise.VIEW, row.promise)
    if (row.dull or not row.read) and _why_endless(site, row.name) is not None:
        return Promise.ENDLESS
    return max(Promise.POOR if row.read >= _EXPLORED else Promise.VIEW, row.promise)
