"""The change feed in words, and as lines of a terminal (pure).

A difference has the form of `wdiff` and `git diff --word-diff`: `Monday to [-Friday-]{+Sunday+}`.
"""

from collections.abc import Iterator
from typing import Final

from nacre.core.changes import FEED_KINDS, GONE, NEW
from nacre.inspect.analysis.wording import DECIDED_BY
from nacre.inspect.changes.feed import (
    ChangeEntry,
    ChangeFeed,
    DifferingText,
    FeedRun,
    PostedChanges,
    entries_by_run,
)
from nacre.messages import message, plural
from nacre.rights.ledger import OWN
from nacre.wire.urltext import readable_url

KIND_WORDS: Final = {
    "new": message("changes.new", "new"),
    "changed": message("changes.changed", "changed"),
    "gone": message("changes.gone", "gone"),
    "moved": message("changes.moved", "moved"),
    "back": message("changes.back", "back"),
    "rights": message("changes.rights", "rights"),
}
"""The kinds of changes in words."""
PIECE_WORDS: Final = {
    "text": message("changes.text", "text"),
    "title": message("changes.title", "title"),
    "heading": message("changes.heading", "heading"),
    "link": message("changes.link", "link"),
    "image": message("changes.image", "picture"),
    "file": message("changes.file", "file"),
    "nav": message("changes.menu", "menu"),
    "nav-link": message("changes.menu-link", "menu link"),
    "advert": message("changes.advert", "advertisement"),
}
"""The kinds of pieces in words."""
_WIDTH: Final = max(map(len, FEED_KINDS))
_MARKS: Final = {GONE: ("[-", "-]"), NEW: ("{+", "+}")}


def entry_title(entry: ChangeEntry) -> str:
    """Return the title of an entry: `changed: Opening hours`."""
    name = entry.title or readable_url(entry.url)
    kind = KIND_WORDS.get(entry.kind, entry.kind)
    return message("changes.entry-title", "{kind}: {name}", kind=kind, name=name)


def entry_note(entry: ChangeEntry) -> str:
    """Return what an entry says beside its difference; "" for nothing."""
    if entry.kind == "gone":
        return message("changes.gone-note", "the page was not found (status {status})",
                       status=entry.status)  # fmt: skip
    if entry.kind == "moved":
        return message("changes.moved-note", "it redirects to {target}",
                       target=readable_url(entry.target))  # fmt: skip
    if entry.kind == "back":
        return message("changes.back-note", "the page is there again")
    if entry.kind == "rights":
        return _rights_note(entry)
    if entry.kind == "changed" and not entry.texts:
        reason = DECIDED_BY.get(entry.reason, entry.reason)
        return message("changes.no-words", "what differs: {reason}", reason=reason)
    return ""


def _rights_note(entry: ChangeEntry) -> str:
    if entry.reason == OWN:
        return message("changes.rights-page", "the page states other preferences")
    return message("changes.rights-site", "{file} of the site states other preferences",
                   file=entry.reason)  # fmt: skip


def more_note(entry: ChangeEntry) -> str:
    """Return that an entry leaves out some differences; "" if it has all."""
    if not entry.more:
        return ""
    return plural("changes.more", "and one more difference", "and {number} more differences",
                  number=entry.more)  # fmt: skip


def piece_words(kind: str) -> str:
    """Return the kind of a piece in words."""
    return PIECE_WORDS.get(kind, kind)


def text_line(text: DifferingText) -> str:
    """Return a difference in one line."""
    return "".join(_marked(words.kind, words.text) for words in text.words)


def _marked(kind: str, text: str) -> str:
    start, end = _MARKS.get(kind, ("", ""))
    return f"{start}{text}{end}"


def feed_title(feed: ChangeFeed) -> str:
    """Return the title of a feed."""
    return message("changes.feed-title", "Changes of {job}", job=feed.job)


def run_title(run: FeedRun) -> str:
    """Return the title of a run: `run 2 (20261127T100000Z)`."""
    return message("changes.run-title", "run {number} ({name})", number=run.number, name=run.name)


def run_counts(run: FeedRun | PostedChanges) -> str:
    """Return the number of changes of a run: `2 new, 1 changed`."""
    counts = [
        message("changes.count", "{number} {kind}", number=number, kind=KIND_WORDS[kind])
        for kind, number in run.counts.items()
    ]
    text: str = counts[0] if counts else message("changes.none", "no changes")
    for count in counts[1:]:
        text = message("changes.counts", "{first}, {rest}", first=text, rest=count)
    return text


def entry_lines(entry: ChangeEntry) -> Iterator[str]:
    """Yield the lines of an entry, below its title: its text, and its differences."""
    if note := entry_note(entry):
        yield note
    if entry.lead:
        yield entry.lead
    for text in entry.texts:
        yield message("changes.text-line", "{kind}: {text}", kind=piece_words(text.kind),
                      text=text_line(text))  # fmt: skip
    if note := more_note(entry):
        yield note


def feed_notes(feed: ChangeFeed) -> Iterator[str]:
    """Yield what a feed does not have, and how to get it."""
    if feed.is_recording:
        yield message(
            "changes.recording",
            "No run compares the pages of a recording. `nacre report JOB diff URL` compares two "
            "versions of a page.",
        )
    elif not feed.runs and feed.last_run:
        yield message(
            "changes.none-since",
            "No run is selected. The last one with a run before it is {name}.",
            name=feed.last_run,
        )
    elif not feed.runs and not feed.running:
        yield message(
            "changes.no-runs",
            "There is nothing to compare yet: changes are those of the runs after the first. "
            "Run `nacre recrawl JOB`.",
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
            "Run {name} was a full crawl: its changes are listed when the next "
            "`nacre recrawl JOB` has begun.",
            name=name,
        )
    if feed.running:
        yield message(
            "changes.running",
            "Run {name} did not end yet: its changes are listed when it ends.",
            name=feed.running,
        )


def feed_lines(feed: ChangeFeed) -> Iterator[str]:
    """Yield the lines of a feed: runs, the newest first, and their changes by kind."""
    entries = entries_by_run(feed)
    for run in feed.runs:
        yield message(
            "changes.run-line", "{run}: {counts}", run=run_title(run), counts=run_counts(run)
        )  # fmt: skip
        for kind in FEED_KINDS:
            for entry in reversed(entries[run.number]):
                if entry.kind == kind:
                    yield from _titled_lines(entry)
        yield ""
    yield from feed_notes(feed)


def _titled_lines(entry: ChangeEntry) -> Iterator[str]:
    yield ""
    yield f"  {KIND_WORDS[entry.kind]:<{_WIDTH}}  {readable_url(entry.url)}"
    if entry.title:
        yield f"  {'':<{_WIDTH}}  {entry.title}"
    for line in entry_lines(entry):
        yield f"      {line}"
