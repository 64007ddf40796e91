"""The codes of the fetch log, and the results of a recrawl, in words (pure)."""

from collections.abc import Mapping
from typing import Final

from nacre.messages import message

WHY_VISITED = {
    "start": message("visit-reason.start", "a start page: it links to new pages"),
    "new": message("visit-reason.new", "a link that was never seen before"),
    "index": message("visit-reason.index", "an index page that may show something new"),
    "sitemap": message("visit-reason.sitemap", "a sitemap: it lists pages and their changes"),
    "feed": message("visit-reason.feed", "a feed: it lists new and changed pages"),
    "told": message("visit-reason.reported", "a trusted source reported a change"),
    "rate": message("visit-reason.rate", "a change was likely by its rate"),
    "due": message("visit-reason.due", "it was due by its schedule"),
    "gone?": message("visit-reason.gone", "it was missing at the last visit"),
    "moved?": message("visit-reason.moved", "it was a page once and a redirect at the last visit"),
    "floor": message("visit-reason.floor", "every page is visited at least so often"),
    "sample": message("visit-reason.sample", "too little was known of its class"),
    "lot": message(
        "visit-reason.lot", "drawn at random among the pages left out, to measure the recall"
    ),
    "pair": message("visit-reason.pair", "fetched twice in a row, to recognise noise"),
    "embed": message("visit-reason.embed", "a page embeds it, and it was new"),
    "sign": message("visit-reason.sign", "a page that links to it changed, or a page next to it"),
    "": message("visit-reason.none", "a full run visits everything"),
}
"""Why a page was visited."""

FOUND = {
    "new": message("verdict.new", "new"),
    "major": message("verdict.major", "major changes"),
    "minor": message("verdict.minor", "minor changes"),
    "template": message("verdict.template", "only the template differs"),
    "noise": message("verdict.noise", "only noise differs (counters, dates, advertisements)"),
    "markup": message("verdict.markup", "only markup differs"),
    "none": message("verdict.none", "unchanged"),
    "missing": message("verdict.missing", "newly missing"),
    "gone": message("verdict.gone", "gone for good"),
    "soft-404": message("verdict.soft-404", "replaced by an error page"),
    "moved": message("verdict.moved", "moved"),
    "still missing": message("verdict.still-missing", "still missing"),
    "never there": message("verdict.dead-links", "dead links"),
    "silent": message("verdict.silent", "no answer or refused"),
    "pair": message("verdict.pair", "fetched twice, to distinguish noise from changes"),
}
"""What a visit found."""

STORED_AS = {
    "novel": message("storage.novel", "in full"),
    "duplicate": message("storage.duplicate", "a reference to the same content"),
    "not-modified": message("storage.not-modified", "a reference: not modified"),
    "noted": message("storage.noted", "a note"),
    "delta": message("storage.delta", "a difference"),
    "": message("storage.none", "nothing"),
}
"""What the archive got of a visit."""

DECIDED_BY = {
    "payload": message("evidence.payload", "the whole reply"),
    "markup": message("evidence.markup", "markup"),
    "masked": message("evidence.masked", "clocks or counters"),
    "token": message("evidence.token", "tokens of letters and digits"),
    "volatile": message("evidence.volatile", "places that differ at every look"),
    "advert": message("evidence.advert", "advertisements"),
    "churn": message("evidence.churn", "places that differ at every look"),
    "variant": message("evidence.variant", "blocks that come and go by themselves"),
    "typography": message("evidence.typography", "quotation marks or dashes"),
    "link-token": message("evidence.link-token", "tokens in links"),
    "event": message("evidence.event", "what changed in the same way on other pages of the run"),
    "frame": message("evidence.frame", "a part of the frame of the site"),
    "template": message("evidence.template", "what most pages of the site show"),
    "returned": message("evidence.returned", "a text that the page had before"),
    "navigation": message("evidence.navigation", "navigation"),
    "text": message("evidence.text", "text"),
    "title": message("evidence.title", "title"),
    "heading": message("evidence.heading", "headings"),
    "date": message("evidence.date", "a date"),
    "link": message("evidence.link", "links"),
    "image": message("evidence.image", "images"),
    "file": message("evidence.file", "attached files"),
    "order": message("evidence.order", "the order of texts"),
    "layout": message("evidence.layout", "lines and paragraphs of the same text"),
    "score": message("evidence.score", "many small differences"),
    "unread": message("evidence.unread", "the text after the part that was read"),
    "blocked": message("evidence.blocked", "a page that refuses visitors"),
    "failed": message("evidence.failed", "a page that came without its text"),
    "soft-404": message("evidence.soft-404", "an error page with status 200"),
    "redirect": message("evidence.redirect", "a redirect"),
    "pair": message("evidence.pair", "a second fetch, to distinguish noise from changes"),
}
"""What in a reply decided how it counts; other codes are names of signatures."""


FOUND_WORDS: Final[Mapping[str, str]] = {
    "new": message("verdict-short.new", "new"),
    "major": message("verdict-short.major", "major changes"),
    "minor": message("verdict-short.minor", "minor changes"),
    "template": message("verdict-short.template", "other template only"),
    "noise": message("verdict-short.noise", "noise only"),
    "markup": message("verdict-short.markup", "other markup only"),
    "none": message("verdict-short.none", "unchanged"),
    "missing": message("verdict-short.missing", "newly missing"),
    "gone": message("verdict-short.gone", "gone"),
    "soft-404": message("verdict-short.soft-404", "soft-404"),
    "moved": message("verdict-short.moved", "moved"),
    "still missing": message("verdict-short.still-missing", "still missing"),
    "never there": message("verdict-short.dead-links", "dead links"),
    "silent": message("verdict-short.silent", "no answer or refused"),
}
"""The names of `found_by`, in words."""
_SHORT: Final[Mapping[str, tuple[str, ...]]] = {
    "changed": ("minor", "major"),
    "unchanged": ("none", "markup", "noise", "template"),
    "new": ("new",),
    "gone": ("missing", "gone", "soft-404"),
}


_ALWAYS = frozenset(("changed", "unchanged"))


def counts_text(counts: Mapping[str, int]) -> str:
    """`1 changed, 132 unchanged, 2 gone` (English).

    Args:
        counts: Pages by kind, as `count_changes` gives them.
    """
    return ", ".join(f"{n:,} {name}" for name, n in counts.items() if n or name in _ALWAYS)


def count_changes(result: Mapping[str, int]) -> dict[str, int]:
    """Pages that changed, stayed, are new and are gone, of a result of `found_by`.

    Args:
        result: Pages by what a visit found.
    """
    return {name: sum(result.get(kind, 0) for kind in kinds) for name, kinds in _SHORT.items()}


def changes_text(result: Mapping[str, int]) -> str:
    """`1 changed, 132 unchanged (3 noise only), 2 gone; still missing 4` (English).

    Args:
        result: Pages by what a visit found.
    """
    parts = []
    for name, number in count_changes(result).items():
        if number or name in _ALWAYS:
            kinds = [kind for kind in _SHORT[name] if kind != "none" and result.get(kind)]
            more = ", ".join(f"{FOUND_WORDS[kind]} {result[kind]:,}" for kind in kinds)
            parts.append(f"{number:,} {name}" + (f" ({more})" if more and name != "new" else ""))
    short = {kind for kinds in _SHORT.values() for kind in kinds}
    unnamed = [f"{FOUND_WORDS.get(k, k)} {n:,}" for k, n in result.items() if k not in short]
    return "; ".join(filter(None, (", ".join(parts), ", ".join(unnamed))))
