"""The change feed on the terminal, by runs (pure)."""

from collections.abc import Iterator

from nacre.core.changes import FEED_KINDS
from nacre.inspect.changes.feed import ChangeEntry, ChangeFeed
from nacre.inspect.changes.wording import (
    KIND_WORDS,
    entry_lines,
    feed_notes,
    run_counts,
    run_title,
)
from nacre.messages import message
from nacre.wire.urltext import readable_url

_WIDTH = max(map(len, FEED_KINDS))


def feed_lines(feed: ChangeFeed) -> Iterator[str]:
    """Yield the lines of a feed: runs, the newest first, and their changes by kind."""
    for run in feed.runs:
        yield message(
            "changes.run-line", "{run}: {counts}", run=run_title(run), counts=run_counts(run)
        )  # fmt: skip
        entries = [entry for entry in feed.entries if entry.run == run.number]
        for kind in FEED_KINDS:
            for entry in reversed(entries):
                if entry.kind == kind:
                    yield from _entry(entry)
        yield ""
    yield from feed_notes(feed)


def _entry(entry: ChangeEntry) -> Iterator[str]:
    yield ""
    kind = KIND_WORDS[entry.kind]
    yield f"  {kind:<{_WIDTH}}  {readable_url(entry.url)}"
    if entry.title:
        yield f"  {'':<{_WIDTH}}  {entry.title}"
    for line in entry_lines(entry):
        yield f"      {line}"
