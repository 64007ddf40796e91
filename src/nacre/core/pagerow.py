"""What is known of a page from all its visits: the hot row of incremental crawling."""

from enum import StrEnum

import msgspec

_Bytes = bytes
"""The type, where a field has its name."""


class PageKind(StrEnum):
    """What a URL is visited for."""

    PAGE = "page"
    INDEX = "index"
    SITEMAP = "sitemap"
    FEED = "feed"
    EMBED = "embed"
    FILE = "file"


class PageRow(msgspec.Struct, array_like=True):
    """One row for each URL ever fetched; survives runs. Times are seconds since the epoch, UTC.

    The validators, digests and place of the last capture are in `core.history.HistoryRecord`.

    Attributes:
        url: The URL.
        kind: What it is visited for.
        template: Its URL template.
        first_seen: When it was first heard of.
        born: When it was published, as far as known; 0: long ago, or open.
        last_visit: Last visit that gave an answer; 0 before any.
        last_change: Last visit that found it changed; 0 for none.
        visits: Visits that gave an answer.
        changes: Those that found it changed.
        noise: Those at which only noise differed.
        errors: Visits without an answer.
        evidence: Likelihood of its rate, see `history.worth.rates`; b"" before the second visit.
        arrivals: The same of the new links that it shows; b"" where it shows none.
        digest: Payload digest of its last answer.
        life: `history.verdict.deletion.Life`.
        life_since: Since when.
        looks: Looks at it since it is gone.
        target: Where it moved to.
        told: Sources that told of a change since the last visit.
        lastmod: What a sitemap or feed said of its last change, as written.
        listed: When a sitemap last named it; 0 for never.
        index: Probability that it is an index page.
        fertile: Visits at which it showed new links.
        steady: Visits at which its text and links stayed.
        weight: Its importance to the operator.
        bytes: Bytes of its last answer.
        depth: Hops from a start page.
        dated: What it said itself of its last change, whole seconds since the epoch; 0 for nothing.
        map: The sitemap that named it then, `history.finding.sitemaps.map_name`; 0 where that is
        not known.
        recent: What its latest visits saw, where older ones may be forgotten, see
        `history.worth.rates.with_recent`; b"" for nothing.
    """

    url: str
    kind: PageKind = PageKind.PAGE
    template: str = ""
    first_seen: float = 0.0
    born: float = 0.0
    last_visit: float = 0.0
    last_change: float = 0.0
    visits: int = 0
    changes: int = 0
    noise: int = 0
    errors: int = 0
    evidence: bytes = b""
    arrivals: bytes = b""
    digest: str = ""
    life: str = "live"
    life_since: float = 0.0
    looks: int = 0
    target: str = ""
    told: tuple[str, ...] = ()
    lastmod: str = ""
    listed: float = 0.0
    index: float = 0.0
    fertile: int = 0
    steady: int = 0
    weight: float = 1.0
    bytes: int = 0
    depth: int = 0
    dated: int = 0
    map: int = 0
    recent: _Bytes = b""
