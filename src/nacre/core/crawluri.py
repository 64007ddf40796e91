"""`Outlink`, a link as an extractor finds it, and `CrawlURI`, as the frontier keeps it."""

from enum import IntEnum, StrEnum
from functools import lru_cache

import msgspec


class Hop(StrEnum):
    """The kind of link that led to a URI: one letter of a hop path (Heritrix's letters)."""

    LINK = "L"
    EMBED = "E"
    SPECULATIVE = "X"
    REDIRECT = "R"
    PREREQUISITE = "P"
    INFERRED = "I"
    MANIFEST = "M"
    SUBMIT = "S"


class Directive(IntEnum):
    """Scheduling directive: within a queue, a lower value always goes first.

    The first four are Heritrix's. Those behind NORMAL are what the first crawl learns of links
    (`frontier.novelty`): nothing is new in their URLs; pages like them said nothing new; and
    there is no end to their like.
    """

    HIGHEST = 0
    HIGH = 1
    MEDIUM = 2
    NORMAL = 3
    VIEW = 4
    POOR = 5
    ENDLESS = 6


class Outlink(msgspec.Struct, frozen=True, gc=False):
    """One link of a page, resolved.

    Attributes:
        url: Absolute, normalised, without fragment.
        hop: How it was found.
        context: Element and attribute, such as `a/@href`, or a word such as `=JS_MISC`.
        rel: The element's `rel`, lower case, "" when absent.
        text: Anchor text, whitespace collapsed, at most 200 characters.
        rank: Position among the links of the page, from 0.
        path: Element path, `html/body/ul/li/a`; "" if not requested.
        sitemap: The target is a sitemap.
        lastmod: `lastmod` of a sitemap entry as written; "" if absent.
        charset: Charset of the target that its element declares, as written; "" if absent.
    """

    url: str
    hop: Hop
    context: str
    rel: str = ""
    text: str = ""
    rank: int = 0
    path: str = ""
    sitemap: bool = False
    lastmod: str = ""
    charset: str = ""


MAX_HOP_PATH = 50


@lru_cache(maxsize=4096)
def extend_path(path: str, hop: str) -> str:
    """Append one hop letter; above 50 letters the overflow is counted, `3+` before the last 50.

    Source: Heritrix 3, hop types.
    """
    overflow, letters = split_path(path)
    letters += hop
    over = len(letters) - MAX_HOP_PATH
    if over > 0:
        overflow, letters = overflow + over, letters[over:]
    return f"{overflow}+{letters}" if overflow else letters


def split_path(path: str) -> tuple[int, str]:
    """Split a hop path into the number of hops left out and the letters kept."""
    if "+" not in path:
        return 0, path
    overflow, _, letters = path.partition("+")
    return int(overflow), letters


def hop_count(path: str) -> int:
    """Number of hops of a path, those left out included."""
    overflow, letters = split_path(path)
    return overflow + len(letters)


PROBE = "_probe"
"""Key in a URI's heritable data: its name is made up, to learn how its site answers then."""
ELEMENT = "_element"
"""Key in the heritable data of a redirect's target: the link context that led to the redirect, if
it contains the way of loading."""
_LOADING = ("script/", "link[rel=", "xml-stylesheet/", "=JS_IMPORT", "=EMBED_MISC")
"""How the link contexts of such elements begin."""
DEAD = "_dead"
"""Key in a URI's heritable data: a seed that could not be connected to in the last two runs, or its
prerequisite. It has one early try, and one when no other URI is left."""
_ICON = "/favicon.ico"


def is_icon_guess(url: str, path: str, via: str) -> bool:
    """Return True for the guessed favicon without a link to it, or the target of its redirect.

    Browsers request it from every site, and so does the crawler; a missing icon is no error.

    Args:
        url: The URL.
        path: Its hop path.
        via: The page that it was found on.
    """
    if path[-1:] == "R":
        return path.rstrip("R")[-1:] == "I" and via.endswith(_ICON)
    return path[-1:] == "I" and url.endswith(_ICON) and url.count("/") == _OF_A_ROOT


_OF_A_ROOT = 3
"""Slashes of `https://host/favicon.ico`."""


class CrawlURI(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A URI in the frontier. Frozen: a change makes a new one (`msgspec.structs.replace`).

    Attributes:
        url: The URL to request: absolute, normalised, without fragment.
        key: Seen key, 16 bytes (`uri.canonical.seen_key`).
        queue: Queue key, such as `com,example,www,`.
        via: The URL of the page that it was found on; "" for a seed.
        path: Hop path from the seed, letters of `Hop`; "" for a seed.
        context: Link context, as in `Outlink`.
        source: Source tag (the seed line it descends from); "" when tags are off.
        is_seed: A seed, or the redirect target of one.
        force_fetch: Enters the frontier even when seen.
        directive: `Directive` as int.
        precedence: Lower goes first within a directive; 0 to 127.
        cost: What one attempt costs the queue's budget.
        ordinal: Order of discovery, from 1; 0 until it is queued.
        not_before: Earliest fetch, seconds since the epoch (UTC); 0 means now.
        attempts: Fetch attempts made, of all kinds.
        deferrals: Times it was returned for a prerequisite (-50); counted separately.
        last_status: Status of the last attempt; 0 before the first.
        method: HTTP method.
        body: Request body; None for none.
        headers: Extra request headers, in order; they replace those of the same name.
        heritable: Data passed on to descendants.
        annotations: Annotations that it was born with, such as `isSitemap`.
        throttled: Of the attempts, those answered 429 or 503.
        truncated: Of the attempts, those that got a body cut short.
        starved: Of the attempts, those that the crawler itself was out of file handles for.
        last_error: Error of the last attempt; "" if the status suffices.
    """

    url: str
    key: bytes
    queue: str
    via: str = ""
    path: str = ""
    context: str = ""
    source: str = ""
    is_seed: bool = False
    force_fetch: bool = False
    directive: int = Directive.NORMAL
    precedence: int = 1
    cost: int = 1
    ordinal: int = 0
    not_before: float = 0.0
    attempts: int = 0
    deferrals: int = 0
    last_status: int = 0
    method: str = "GET"
    body: bytes | None = None
    headers: tuple[tuple[str, str], ...] = ()
    heritable: dict[str, str] = {}
    annotations: tuple[str, ...] = ()
    throttled: int = 0
    truncated: int = 0
    starved: int = 0
    last_error: str = ""

    @property
    def unreachable(self) -> int:
        """Of the attempts, those that got no usable reply."""
        return self.attempts - self.throttled - self.truncated - self.starved

    @property
    def is_own_guess(self) -> bool:
        """True for a request without a link: a favicon, a probe of a site.

        That it is not there is no error.
        """
        if self.path[-1:] not in {"I", "R"}:
            return False
        if self.heritable and PROBE in self.heritable:
            return True
        return is_icon_guess(self.url, self.path, self.via)

    @property
    def element(self) -> str:
        """The link context with how it is loaded: after redirects, that of the first URL."""
        return self.heritable.get(ELEMENT, self.context) if self.heritable else self.context

    @property
    def is_loaded(self) -> bool:
        """Return whether an element loads it as a script, a style sheet or the like."""
        return self.element.startswith(_LOADING)

    @property
    def is_prerequisite(self) -> bool:
        """True for a `dns:` or robots.txt fetched because another URI needs it."""
        return self.path[-1:] == "P"
