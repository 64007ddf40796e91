"""The change feed on the terminal, by runs (pure)."""

from collections.abc import Iterator

from nacre.core.changes import CHANGE_KINDS
from nacre.inspect.changes.feed import ChangeEntry, ChangeFeed
from nacre.inspect.changes.wording import KIND_WORDS, entry_lines, run_counts
from nacre.messages import message, plural
from nacre.wire.urltext import readable_url

_WIDTH = max(map(len, CHANGE_KINDS))


def feed_lines(feed: ChangeFeed) -> Iterator[str]:
    """Yield the lines of a feed: runs, the newest first, and their changes by kind."""
    for run in feed.runs:
        yield message(
            "changes.run-line", "run {number} ({name}): {counts}",
            number=run.number, name=run.name, counts=run_counts(run),
        )  # fmt: skip
        entries = [entry for entry in feed.entries if entry.run == run.number]
        for kind in CHANGE_KINDS:
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


def feed_notes(feed: ChangeFeed) -> Iterator[str]:
    """Yield what a feed does not have, and how to get it."""
    if not feed.runs:
        yield message(
            "changes.no-runs",
            "There is nothing to compare yet: changes are those of the runs after the first. "
            "Run `nacre recrawl`.",
        )
    if feed.left_out:
        yield plural(
            "changes.left-out",
            "One older change is left out; --most lists more.",
            "{number} older changes are left out; --most lists more.",
            number=feed.left_out,
        )
    for name in feed.unread:
        yield message(
            "changes.unread",
            "Run {name} was a full crawl: its changes are listed when the next `nacre recrawl` "
            "has begun.",
            name=name,
        )
    if feed.running:
        yield message(
            "changes.running",
            "Run {name} did not end yet: its changes are listed when it ends.",
            name=feed.running,
        )
