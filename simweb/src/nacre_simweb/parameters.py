"""The parameters of a world."""

from typing import Literal

from nacre.config.component import Bytes, Component, section, setting
from nacre_simweb.calendar import Rhythm
from nacre_simweb.process import Kind

NoiseKind = Literal[
    "clock",
    "counter",
    "related",
    "advert",
    "token",
    "buster",
    "order",
    "blanks",
    "ago",
    "variant",
    "coding",
    "charset",
]
ShownNoise = Literal["rotating", "wording"]
"""Kinds that change what a reader sees: blocks that rotate, and texts of an experiment."""
PageNoise = NoiseKind | ShownNoise
ValidatorMode = Literal["both", "etag", "modified", "none", "node", "now", "stable", "never"]
SitemapMode = Literal["none", "honest", "now", "partial"]
UrlStyle = Literal["dated", "dashed", "numbered", "thread", "slug", "hashed", "path"]
Language = Literal["zh", "en"]

NOISES: tuple[NoiseKind, ...] = (
    "clock", "counter", "related", "advert", "token", "buster", "order", "blanks", "ago", "variant",
    "coding", "charset",
)  # fmt: skip
"""The kinds of a world that names none."""


class SiteShape(Component):
    """The parameters of how a site is built."""

    hosts: int = setting(1, "Virtual hosts; each is a separate site.", ge=1)
    pages: int = setting(400, "Articles at time 0, all hosts together.", unit="pages", ge=0)
    sections: int = setting(8, "Sections a host; each has a list in pages.", ge=1)
    list_size: int = setting(40, "Articles on one list page.", ge=2)
    language: Language = setting("en", "Language of the text: `zh` or `en`.")
    urls: UrlStyle = setting("dated", "How articles are named: what link rules have to recognise.")
    paragraphs: int = setting(6, "Paragraphs of an article, mean.", ge=1)
    shared_embeds: int = setting(4, "Embeds that all pages of a host share.", ge=0)
    own_embeds: int = setting(1, "Images that belong to one article.", ge=0)
    menu: int = setting(0, "Newest articles in the menu of every page.", ge=0)
    twins: float = setting(
        0.0, "Share of articles that link to one frame page, each under its own query.", ge=0, le=1
    )
    app: bool = setting(
        False, "Pages are shells that a script fills from a JSON API: only a browser shows them."
    )
    attachments: float = setting(0.1, "Share of articles with an attached document.", ge=0, le=1)
    embed_bytes: Bytes = setting(50_000, "Size of an embed, mean, before scaling.", unit="bytes")
    attachment_bytes: Bytes = setting(
        400_000, "Size of an attachment, mean, before scaling.", unit="bytes"
    )


class Births(Component):
    """New articles."""

    per_day: float = setting(2.0, "New articles of all hosts together.", unit="1/d", ge=0)
    sigma: float = setting(1.3, "Spread of the sections' rates (lognormal).", ge=0)
    rhythm: Rhythm = setting("office", "Hours of the week at which they come.")
    releases: tuple[float, ...] = setting(
        (), "Days on which half of all articles change at once (documentation releases)."
    )


class Edits(Component):
    """Changes of what articles say. A page's rate is fixed at its birth."""

    untouched: float = setting(0.5, "Share of articles that are never edited later.", ge=0, le=1)
    every: float = setting(900.0, "Median time between edits of the others.", unit="d", gt=0)
    sigma: float = setting(1.6, "Spread of their rates (lognormal).", ge=0)
    hot: float = setting(0.02, "Share of hot pages.", ge=0, le=1)
    hot_per_day: float = setting(1.0, "Edits of a hot page.", unit="1/d", ge=0)
    early_per_day: float = setting(0.35, "Corrections of a fresh article.", unit="1/d", ge=0)
    early_days: float = setting(1.5, "Age at which a third of that is left.", unit="d", gt=0)
    rhythm: Rhythm = setting("office", "Hours of the week at which they come.")
    processes: tuple[tuple[Kind, float], ...] = setting(
        (("poisson", 0.85), ("bursty", 0.10), ("calendar", 0.05)),
        "Processes of the pages, with their weights.",
    )
    minor: float = setting(0.30, "Share of edits of less than half a per cent of the text.")
    dates: float = setting(0.03, "Share that change a date or number and nothing else.")
    documents: float = setting(0.02, "Share that replace an attachment under its URL.")
    images: float = setting(0.02, "Share that replace an image under its URL.")
    tables: float = setting(0.01, "Share that change one cell of a table.")
    reverts: float = setting(0.01, "Share that return to the version before.")


class Templates(Component):
    """Boilerplate, which changes on all pages of a host at once."""

    per_day: float = setting(1 / 60, "Changes of the boilerplate of a host.", unit="1/d", ge=0)
    versioned: bool = setting(
        default=False, doc="Each change is a release: all titles show the next version number."
    )


class Noise(Component):
    """The parameters of differences between two replies that mean nothing."""

    share: float = setting(0.4, "Share of articles with at least one kind.", ge=0, le=1)
    kinds: tuple[PageNoise, ...] = setting(NOISES, "The kinds; each host has two to four of them.")
    daily: float = setting(
        0.0, "Chance that the noise of a page differs from that of the day before, and is the same "
        "for all replies of a day; 0: it differs with each reply.", unit="1/d", ge=0, le=1,
    )  # fmt: skip
    shown: float = setting(
        1.0, "Of `daily`, share of the changes that concern `rotating` and `wording` too.",
        ge=0, le=1,
    )  # fmt: skip


class Deaths(Component):
    """Articles that go away, and how."""

    per_year: float = setting(0.08, "Share of articles deleted in a year.", unit="1/y", ge=0)
    missing: float = setting(0.6, "Of these, share answered by 404.", ge=0)
    gone: float = setting(0.1, "Share answered by 410.", ge=0)
    soft: float = setting(0.2, "Share answered by 200 with an error page.", ge=0)
    home: float = setting(0.1, "Share redirected to the start page.", ge=0)
    back: float = setting(0.05, "Share that comes back within weeks.", ge=0, le=1)


class Moves(Component):
    """Articles that get another URL."""

    redirected_per_year: float = setting(0.02, "Share moved with a 301.", unit="1/y", ge=0)
    silent_per_year: float = setting(0.01, "Share moved without.", unit="1/y", ge=0)
    redesign: float = setting(
        0.0, "Day on which every article gets a new URL; 0: never.", unit="d", ge=0
    )


class Validators(Component):
    """ETag and Last-Modified, honest or not.

    `stable` stays the same across real edits (a false 304), `node` differs from server to server,
    `now` is always fresh, `never` sends no 304.
    """

    modes: tuple[tuple[ValidatorMode, float], ...] = setting(
        (("both", 0.4), ("modified", 0.3), ("none", 0.3)), "Modes of the hosts, with weights."
    )


class SimulatedHints(Component):
    """The parameters of what a site says about its changes."""

    sitemap: SitemapMode = setting("none", "`now` and `partial` lie.")
    recall: float = setting(0.8, "Of `partial`: share of real changes told.", ge=0, le=1)
    false_per_day: float = setting(
        0.002, "Of `partial`: changes told of a page that did not happen.", unit="1/d", ge=0
    )
    feed: int = setting(0, "Entries of the feed of the last articles; 0: none.", ge=0)
    teasers: bool = setting(default=True, doc="Lists show each article's date of change.")


class SimulatedTraps(Component):
    """The parameters of endless and hostile places."""

    calendar: bool = setting(default=False, doc="A calendar without end.")
    sessions: bool = setting(default=False, doc="Links with a session id, new each time.")
    facets: int = setting(0, "Filters that can be combined freely; 0: none.", ge=0)
    loop: bool = setting(default=False, doc="Redirects in a ring.")
    wide: int = setting(0, "Links of one very wide page; 0: none.", ge=0)
    slow: bool = setting(default=False, doc="A reply that drips, a byte every few seconds.")
    huge: Bytes = setting(0, "Size of one huge file; 0: none.", unit="bytes")


class SimulatedFailures(Component):
    """The parameters of when the server does not answer as it should."""

    outages_per_day: float = setting(0.0, "Windows of 503 of a host.", unit="1/d", ge=0)
    outage_minutes: float = setting(30.0, "Their length, mean.", unit="min", gt=0)
    silent: float = setting(0.0, "Share of URLs that give no reply for an hour, each day.", ge=0)
    challenged: float = setting(
        0.0, "Share of URLs that answer with a challenge page, each day.", ge=0, le=1
    )
    throttle: int = setting(0, "Requests a minute before 429 with Retry-After; 0: none.", ge=0)
    wall: int = setting(0, "Requests a minute before a challenge page; 0: none.", ge=0)
    robots_changes: bool = setting(
        default=False, doc="robots.txt closes a section in the second month."
    )


class WorldParameters(Component):
    """A world."""

    domain: str = setting("site.test", "Hosts are `www.` and `h2.`, `h3.` … under it.")
    shape: SiteShape = section(SiteShape, "How it is built.")
    births: Births = section(Births, "New articles.")
    edits: Edits = section(Edits, "Changes.")
    templates: Templates = section(Templates, "Boilerplate.")
    noise: Noise = section(Noise, "Noise.")
    deaths: Deaths = section(Deaths, "Deletions.")
    moves: Moves = section(Moves, "Moves.")
    validators: Validators = section(Validators, "Validators.")
    hints: SimulatedHints = section(SimulatedHints, "Hints.")
    traps: SimulatedTraps = section(SimulatedTraps, "Traps.")
    failures: SimulatedFailures = section(SimulatedFailures, "Failures.")
    crawl_delay: float = setting(0.0, "Crawl-delay of robots.txt; 0: none.", unit="s", ge=0)
    days: float = setting(120.0, "Length of its history.", unit="d", gt=0)
    bytes_scale: float = setting(
        0.01, "Embeds are shrunk by this; the metrics multiply back.", gt=0, le=1
    )
