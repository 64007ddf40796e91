"""The change feed as a folder of HTML pages that need no script and no other server (pure).

The pages are those of reports: their Content-Security-Policy lets nothing from the web run.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from nacre.inspect.changes.atom import ATOM_TYPE, JSON_FEED_TYPE
from nacre.inspect.changes.feed import ChangeEntry, ChangeFeed, FeedRun
from nacre.inspect.changes.markup import FeedLanguage, entry_markup
from nacre.inspect.changes.wording import (
    KIND_WORDS,
    feed_notes,
    feed_title,
    run_counts,
    run_title,
)
from nacre.messages import static
from nacre.report.escape import element, text
from nacre.report.html import page_markup
from nacre.wire.urltext import readable_url

INDEX, ATOM, JSON = "index.html", "feed.atom", "feed.json"
GENERATOR: Final = "Nacre changes"
"""The page generator that marks the index of a folder as one that may be replaced."""


def run_file(number: int | str) -> str:
    """Return the name of the page of a run; `*` for a pattern of all."""
    return f"run-{number}.html"


def index_page(feed: ChangeFeed, runs: Sequence[FeedRun], language: FeedLanguage) -> bytes:
    """Return the page with the newest changes, and links to those of each run.

    Args:
        feed: The newest changes.
        runs: The runs that have a page.
        language: Its language.
    """
    say = language.say
    links = "".join(_run_link(run, language) for run in runs)
    parts = [
        *(element("p", text(say(note))) for note in feed_notes(feed)),
        *_entries(feed.entries, language),
        element("h2", text(say(static("Runs")))) + element("ul", links) if links else "",
    ]
    return _page(say(feed_title(feed)), parts, language)


def run_page(feed: ChangeFeed, run: FeedRun, language: FeedLanguage) -> bytes:
    """Return the page of the changes of a run."""
    say = language.say
    back = element("a", text(say(feed_title(feed))), href=INDEX)
    parts = [
        element("p", back),
        element("p", text(say(run_counts(run)))),
        *_entries([entry for entry in feed.entries if entry.run == run.number], language),
    ]
    return _page(say(run_title(run)), parts, language)


def _run_link(run: FeedRun, language: FeedLanguage) -> str:
    title = element("a", text(language.say(run_title(run))), href=run_file(run.number))
    return element("li", f"{title}: {text(language.say(run_counts(run)))}")


def _entries(entries: Sequence[ChangeEntry], language: FeedLanguage) -> Iterator[str]:
    for entry in entries:
        kind = element("small", text(language.say(KIND_WORDS[entry.kind])))
        name = text(entry.title or readable_url(entry.url))
        time = element("time", text(f"{entry.time[:10]} {entry.time[11:16]} UTC"),
                       datetime=entry.time)  # fmt: skip
        link = element("a", text(readable_url(entry.url)), href=entry.url,
                       rel="nofollow noopener noreferrer")  # fmt: skip
        head = element("h2", f"{kind} {name}") + element("p", f"{link}, {time}")
        yield element("section", head + entry_markup(entry, language), id=entry.id[9:])


def _page(title: str, parts: Sequence[str], language: FeedLanguage) -> bytes:
    head = (
        element("meta", name="generator", content=GENERATOR)
        + _feed_link(ATOM_TYPE, ATOM)
        + _feed_link(JSON_FEED_TYPE, JSON)
    )
    body = element("h1", text(title)) + "".join(parts)
    return page_markup(title, body, language.tag, head).encode()


def _feed_link(kind: str, name: str) -> str:
    return f'<link rel="alternate" type="{kind}" href="{name}"/>'
