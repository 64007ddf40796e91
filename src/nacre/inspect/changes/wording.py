"""The change feed in words: titles, and differences as lines (pure).

A difference has the form of `wdiff` and `git diff --word-diff`: `Monday to [-Friday-]{+Sunday+}`.
"""

from collections.abc import Iterator
from typing import Final

from nacre.core.changes import GONE, NEW
from nacre.inspect.analysis.wording import DECIDED_BY
from nacre.inspect.changes.feed import ChangeEntry, DifferingText, FeedRun
from nacre.messages import message, plural, static
from nacre.wire.urltext import readable_url

KIND_WORDS: Final = {
    "new": message("changes.new", "new"),
    "changed": message("changes.changed", "changed"),
    "gone": message("changes.gone", "gone"),
    "moved": message("changes.moved", "moved"),
    "back": message("changes.back", "back"),
}
"""The kinds of changes in words."""
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
    if entry.kind == "changed" and not entry.texts:
        reason = DECIDED_BY.get(entry.reason, entry.reason)
        return message("changes.no-words", "what differs: {reason}", reason=reason)
    return ""


def more_note(entry: ChangeEntry) -> str:
    """Return that an entry leaves out some differences; "" if it has all."""
    if not entry.more:
        return ""
    return plural("changes.more", "and one more difference", "and {number} more differences",
                  number=entry.more)  # fmt: skip


def text_line(text: DifferingText) -> str:
    """Return a difference in one line."""
    return "".join(_marked(words.kind, words.text) for words in text.words)


def _marked(kind: str, text: str) -> str:
    start, end = _MARKS.get(kind, ("", ""))
    return f"{start}{text}{end}"


def run_counts(run: FeedRun) -> str:
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
    """Yield the lines of an entry, below its title: what it says, and its differences."""
    if note := entry_note(entry):
        yield note
    if entry.lead:
        yield entry.lead
    for text in entry.texts:
        yield message("changes.text-line", "{kind}: {text}", kind=static(text.kind),
                      text=text_line(text))  # fmt: skip
    if note := more_note(entry):
        yield note
