"""What a link promises: something new, another view of what is known, or no end (pure).

Learned while a site is crawled for the first time, of each kind of URLs (`kind_of_url`). Nothing is
refused: what promises less is fetched later.

- A URL whose words all stand in URLs visited before (`?title=Foo&action=edit` beside `/Foo`, a
  further combination of a shop's filters) is another *view*. It goes later, and later still
  unless others of its kind led to new words. What has fewer parameters goes first, and makes words
  known.
- A kind is *poor* when the last of its pages showed no text that was new to the site, and no link
  with a new word.
- A poor kind is *endless* when its pages lead to ever more URLs that promise nothing: a calendar
  leads from month to month, and a session in the path makes each link a new one.
"""

import re
from array import array
from collections import OrderedDict
from collections.abc import Callable, Iterable
from enum import IntEnum
from typing import NamedTuple
from urllib.parse import unquote_to_bytes
from zlib import crc32

import msgspec

from nacre.history.finding.knownset import KnownSet
from nacre.history.finding.urlshape import shaped
from nacre.uri.parse import authority

MANY = 50
"""URLs of a kind that are met before it can be endless."""
_DULL = 5
"""Pages of a kind, one after the other, that make it poor when none has anything new."""
_LONG_DULL = 16
"""The same where half of its pages had something new, and for new words that nobody can count up:
names of things, not dates and numbers. And so many without any new letter make it endless."""
_UNDERWAY = 10_000
"""URLs that were handed out and are not visited yet, whose words are held back."""
_LED = 0.3
"""Share of a kind's pages, of late, with links with new words, from which on it leads to more."""
_EXPLORED = 3
"""Views of a kind that are visited before those that do not lead to what is new wait."""
_NEW_TEXT = 0.12
"""A page has something new from this share of its text on."""
_NEW_LETTERS = 48
"""And from so many letters of new text on."""
_NO_LETTERS = 8
"""A page with fewer has nothing new at all; only such pages make a kind endless."""
_QUERIES = 12
_DATES = 40
"""URLs with a query, or with a date in the path, from which on a site is watched: until then
nothing is learned of it, and no time is spent."""
_READ_FIRST = 12
_READ_THEN = 16
"""Pages of a kind that are read; then one of so many, while they have something new."""
_LEADS = 0.5
"""URLs that promise nothing, for each page of a kind, from which on there is no end to them."""
_KINDS = 2_000
_SITES = 5_000
_NAMES = 200
_VALUES = 40
_LONGEST_URL = 2_000
_TEXT_READ = 100_000

_WORDS = re.compile(r"[/;=:|+,]+")
_SEPARATOR = re.compile(r"[;&]+")
_SHORT = 2
_DATE = re.compile(r"(?<!\d)(?:19|20)\d\d[-_/]?(?:0?[1-9]|1[0-2])(?!\d)")
_OTHERS = "others"
_AGAIN = "again "
"""Before the name of a kind: its URLs had no new word."""
_ANY = "/?…"
"""Behind the path in the name of all its views."""
_TEXTS = 0x5A5A5A5A
_COUNTED = re.compile(r"(?:\{(?:number|int|year|month|date|day|unix|unixms)\}[-_.:T]?)+")
_EXTENSION = re.compile(r"\.[A-Za-z]{1,5}\Z")
_DIGITS_AND_DOTS = "0123456789._-"
_SESSION = re.compile(
    r"/\((?:[A-Z]\([^()/]*\))+\)(?=/)"
    r"|;jsessionid=[^/?&#]*"
    r"|(?<=[?&;])(?:phpsessid|jsessionid|aspsessionid\w*|sessionid|session_id|sid|sess|cfid"
    r"|cftoken|oscsid|zenid|s)=[0-9a-zA-Z_.,-]{12,}",
    re.IGNORECASE,
)
_TEXT = re.compile(rb">([^<>]*[^\s<>][^<>]*)")
_SCRIPT = re.compile(rb"<(script|style)\b")
_BARE = bytes(range(33)) + b"0123456789"


class Link(NamedTuple):
    """A URL that entered the frontier.

    Attributes:
        promise: What it promises.
        view: No word of it was new.
        kind: Its kind; "" while its site is not watched.
    """

    promise: "Promise"
    view: bool
    kind: str


class Promise(IntEnum):
    """What a link promises; less is later."""

    NEW = 0
    VIEW = 1
    POOR = 2
    ENDLESS = 3


_UNWATCHED = Link(Promise.NEW, view=False, kind="")


class KindRow(msgspec.Struct, array_like=True):
    """What is known of a kind of URLs; kept in the store.

    Attributes:
        name: The kind.
        met: URLs of it that entered the frontier.
        done: Pages of it that were visited.
        read: Those that were looked at for what is new.
        rich: Those of them that had something new.
        dull: Pages without anything new since the last that had.
        empty: Pages without a new letter since the last that had one.
        leads: URLs that promise nothing, for each of its dull pages; the latest count most.
        led: Share of its pages that brought a link with a new word; the latest count most.
        reason: Why it is endless; "" when it is not.
        example: One of its URLs.
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

    @property
    def promise(self) -> Promise:
        """What a URL of this kind promises, NEW when nothing speaks against it."""
        if self.reason:
            return Promise.ENDLESS
        counts = self.name.startswith(_AGAIN) or _COUNTED.search(self.name) is not None
        if self.dull >= (_DULL if counts and self.rich * 2 <= self.read else _LONG_DULL):
            return Promise.POOR
        return Promise.NEW

    @property
    def leads_on(self) -> bool:
        """Whether its pages are the way to what is new."""
        return self.read >= 2 and self.led >= _LED

    def learn(self, letters: int, total: int, *, led: bool, leads: int) -> None:
        """Take in a page.

        Args:
            letters: Letters of its text that were new to the site.
            total: Letters of its text.
            led: It brought a link with a new word.
            leads: URLs that promise nothing which it brought into the frontier.
        """
        self.read += 1
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
            self.empty >= _LONG_DULL * (2 if self.name.endswith(_ANY) else 1)
            and self.met >= MANY
            and self.leads >= _LEADS
        )


class _Site:
    """One host."""

    __slots__ = ("dates", "kinds", "names", "poor", "queries", "salt")

    def __init__(self, salt: int) -> None:
        self.salt = salt
        self.kinds: dict[str, KindRow] = {}
        self.names: dict[str, list[int] | None] = {}
        self.queries = self.dates = 0
        self.poor = False

    def notes(self, url: str) -> bool:
        """Count a URL; whether the site is watched from now on."""
        if "?" in url or ";" in url or "/(" in url:
            self.queries += 1
        elif _DATE.search(url):
            self.dates += 1
        return self.watched

    @property
    def watched(self) -> bool:
        """Whether its pages are worth a look."""
        return self.queries >= _QUERIES or self.dates >= _DATES


class Novelty:
    """What links promise, by host. Bounded in memory, whatever a site does.

    Args:
        recall: Gives the rows that were kept of a host; None: nothing is kept.

    Attributes:
        words: Words of URLs, and texts of pages, by host.
        changed: Rows that changed since somebody cleared this, by host and name.
    """

    def __init__(self, recall: Callable[[str], Iterable[KindRow]] | None = None) -> None:
        self.words = KnownSet()
        self.changed: dict[tuple[str, str], KindRow] = {}
        self._recall = recall
        self._sites: OrderedDict[str, _Site] = OrderedDict()
        self._underway: OrderedDict[str, array[int]] = OrderedDict()

    def meet(self, url: str) -> Link:
        """Take in a URL that is about to enter the frontier; what it promises."""
        site = self._site(authority(url))
        if not (site.watched or site.notes(url)):
            return _UNWATCHED
        words = _url_words(url)
        view = bool(words) and all(self.words.has(word, site.salt) for word in words)
        row = self._row(site, url, view=view)
        row.met += 1
        if view and (whole := self._whole(site, row)) is not None:
            whole.met += 1
        return Link(_promised(site, row, view=view), view, row.name)

    def place(self, url: str, *, view: bool) -> tuple[Promise, bool]:
        """What a URL that is about to be visited promises now, and whether it is a view by now.

        The first URL that is visited for a word makes it known; others with that word are views
        from then on. The word is to be kept when the URL is `settled`: after a kill it is visited
        again, and must not be taken for a view of itself.
        """
        site = self._site(authority(url))
        if not site.watched:
            return Promise.NEW, False
        if not view:
            words, fresh = _url_words(url), self.words.fresh
            before = len(fresh)
            for word in words:
                self.words.add(word, site.salt)
            view = bool(words) and len(fresh) == before
            if len(fresh) > before:
                self._underway[url] = fresh[before:]
                del fresh[before:]
                if len(self._underway) > _UNDERWAY:
                    self.settled(next(iter(self._underway)))
        row = None
        if site.poor or view:
            row = site.kinds.get(self._kind(site, url, view=view))
        return _promised(site, row, view=view), view

    def settled(self, url: str) -> None:
        """A URL was visited, or goes later: the words that it made known are to be kept."""
        if (words := self._underway.pop(url, None)) is not None:
            self.words.fresh.extend(words)

    def row(self, url: str, *, view: bool, endless: bool = False) -> KindRow | None:
        """What is known of the kind of a URL; None for nothing.

        Args:
            url: The URL.
            view: It had no new word.
            endless: Prefer what says why there is no end to it.
        """
        site = self._site(authority(url))
        name = self._kind(site, url, view=view)
        row, whole = site.kinds.get(name), site.kinds.get(_whole_of(name))
        if endless and whole is not None and not (row is not None and row.reason):
            return whole
        return row

    def wants(self, url: str, *, view: bool) -> bool:
        """Whether a page that was visited is to be read for what is new in it."""
        site = self._site(authority(url))
        if not site.watched:
            return False
        row = self._row(site, url, view=view)
        row.done += 1
        everything = site.queries >= _QUERIES or row.read < _READ_FIRST or row.dull > 0
        return everything or row.done % _READ_THEN == 0

    def learn(self, url: str, body: bytes, links: Iterable[Link], *, view: bool) -> None:
        """Take in a page that `wants` named.

        Links of the page's own kind are not what is new in it: a calendar leads to its next month.

        Args:
            url: Its URL.
            body: Its content, decoded; b"" for a failure.
            links: What it brought into the frontier.
            view: Its URL had no new word.
        """
        host = authority(url)
        site = self._site(host)
        row = self._row(site, url, view=view)
        fresh = [one.promise is Promise.NEW and one.kind != row.name for one in links]
        letters, total = self._reads(site, body)
        whole = self._whole(site, row) if view else None
        for one in (row, whole):
            if one is not None:
                one.learn(letters, total, led=any(fresh), leads=len(fresh) - sum(fresh))
                site.poor = site.poor or one.promise is not Promise.NEW
                self.changed[host, one.name] = one

    def _whole(self, site: _Site, row: KindRow) -> KindRow | None:
        """All views of a path, whatever their parameters: combinations of them are many kinds."""
        name = _whole_of(row.name)
        if not name:
            return None
        whole = site.kinds.get(name)
        if whole is None:
            whole = site.kinds[name] = KindRow(name, example=row.example)
        return whole

    def _reads(self, site: _Site, body: bytes) -> tuple[int, int]:
        """Note the text of a page; its letters that were new, and all."""
        total = new = 0
        for text in texts_of(body):
            total += len(text)
            if self.words.add(text, site.salt ^ _TEXTS):
                new += len(text)
        return new, total

    def _site(self, host: str) -> _Site:
        site = self._sites.get(host)
        if site is None:
            site = self._sites[host] = _Site(crc32(host.encode("utf-8", "replace")))
            for row in self._recall(host) if self._recall is not None else ():
                site.kinds[row.name] = row
                site.queries = _QUERIES
                site.poor = site.poor or row.promise is not Promise.NEW
            if len(self._sites) > _SITES:
                self._sites.popitem(last=False)
        else:
            self._sites.move_to_end(host)
        return site

    def _row(self, site: _Site, url: str, *, view: bool) -> KindRow:
        name = self._kind(site, url, view=view, learn=True)
        row = site.kinds.get(name)
        if row is None:
            if len(site.kinds) >= _KINDS:
                name = _OTHERS
                row = site.kinds.get(name)
            if row is None:
                row = site.kinds[name] = KindRow(name, example=url[:_LONGEST_URL])
        return row

    def _kind(self, site: _Site, url: str, *, view: bool, learn: bool = False) -> str:
        """The kind of a URL: its path without the last word, and parameters that vary little."""
        if len(url) > _LONGEST_URL:
            url = url[:_LONGEST_URL]
        path, mark, query = _without_session(url).partition("?")
        if mark:
            path += mark + _SEPARATOR.sub("&", query)
        parts = []
        last = 0
        for part in shaped(path).segments[1:]:
            if part.startswith("?"):
                name, _, value = part.partition("=")
                parts.append(f"{name}={self._value(site, name, value, learn=learn)}")
            else:
                last = len(parts)
                parts.append(part)
        if parts and not parts[last].startswith("?"):
            parts[last] = self._last(site, parts, last, learn=learn)
        return (_AGAIN if view else "") + "/".join(parts)

    def _last(self, site: _Site, parts: list[str], last: int, *, learn: bool) -> str:
        """The last word of a path: before a query it may be a program, else it names a page."""
        word = parts[last]
        if last + 1 < len(parts):
            return self._value(site, "/" + "/".join(parts[:last]), word, learn=learn)
        found = _EXTENSION.search(word)
        return "{}" + (found[0] if found else "") if word else ""

    def _value(self, site: _Site, name: str, value: str, *, learn: bool) -> str:
        """A parameter's value, when it has few of them; else a placeholder."""
        if "{" in value:
            return "{number}" if _COUNTED.fullmatch(value) else "{}"
        known = site.names.get(name)
        if name not in site.names:
            if not learn:
                return value
            if len(site.names) >= _NAMES:
                return "{}"
            known = site.names[name] = []
        if known is None:
            return "{}"
        if learn:
            if (number := hash(value)) not in known:
                known.append(number)
            if len(known) > _VALUES:
                site.names[name] = None
                return "{}"
        return value


def complexity(url: str) -> int:
    """How many parameters a URL has; among URLs that promise the same, the plainest goes first."""
    return url.count("&") + url.count(";") + url.count("?")


def _promised(site: _Site, row: KindRow | None, *, view: bool) -> Promise:
    """A view promises little, unless others of its kind led to what is new."""
    if not view:
        return Promise.NEW if row is None else row.promise
    if row is None:
        return Promise.VIEW
    if row.leads_on:
        return max(Promise.VIEW, row.promise)
    whole = site.kinds.get(_whole_of(row.name))
    if whole is not None and whole.reason and (row.dull or not row.read):
        return Promise.ENDLESS
    explored = row.read >= _EXPLORED
    return max(Promise.POOR if explored else Promise.VIEW, row.promise)


def _whole_of(name: str) -> str:
    """Name of all views of the path of a kind; "" for a kind without parameters."""
    path, mark, _ = name.partition("/?")
    return path + _ANY if mark else ""


def texts_of(body: bytes) -> list[bytes]:
    """The texts between the tags of a page, without digits and spaces; those of few letters not."""
    found = []
    for text in _TEXT.findall(b">" + _without_scripts(body[:_TEXT_READ])):
        bare = text.translate(None, _BARE)
        if len(bare) > 3:
            found.append(bare)
    return found


def _without_scripts(body: bytes) -> bytes:
    """A page without scripts and style sheets; one that does not end takes all that follows.

    It looks for each end once: a search that tries all beginnings took seconds for a page that
    consists of them.
    """
    lower = body.lower()
    kept, place = [], 0
    while (begin := _SCRIPT.search(lower, place)) is not None:
        kept.append(body[place : begin.start()])
        place = lower.find(b"</" + begin[1], begin.end())
        if place < 0:
            return b"".join(kept)
    return b"".join((*kept, body[place:]))


def _url_words(url: str) -> list[bytes]:
    """The words of a URL; what is a session is none."""
    at = url.find("/", 8)
    rest = url[at : at + _LONGEST_URL] if at > 0 else ""
    found = _words_of(_plain(_without_session(rest)))
    return [word.encode("utf-8", "replace") for word in found]


def _without_session(url: str) -> str:
    if "?" in url or ";" in url or "/(" in url:
        return _SESSION.sub("", url)
    return url


def _words_of(rest: str) -> list[str]:
    """Words of a path with its query; short ones and numbers together with what they are of."""
    path, _, query = rest.partition("?")
    found: list[str] = []
    _add_words(found, path, "")
    if query:
        for pair in _SEPARATOR.split(query):
            name, _, value = pair.partition("=")
            found.append("?" + name)
            _add_words(found, value, name)
    return found


def _add_words(found: list[str], text: str, before: str) -> None:
    for word in _WORDS.split(text):
        if word:
            short = (len(word) <= _SHORT and word.isascii()) or not word.strip(_DIGITS_AND_DOTS)
            found.append(f"{before}={word}" if short else word)
            before = word


def _plain(text: str) -> str:
    return unquote_to_bytes(text).decode("latin-1") if "%" in text else text
