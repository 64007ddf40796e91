"""The judge of the change feed: its entries against recorded versions and served pages.

A real change, a document that is new and one that is gone should each have an entry (recall). An
entry is right if a reader of the page sees a difference (precision). Its words are right if those
that went are on the page before, and those that came on the page after.
"""

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from bench.histories.figures import Share, share_of, wilson
from bench.histories.loading import load_site
from bench.histories.ota import ComparedVisit, compare_visits
from bench.histories.results import read_visits
from bench.histories.truth import Truth, shown
from bench.histories.worlds import read_plan

FILE = "changes.json"
_READ = frozenset(("title", "heading", "text"))
_BLANKS = re.compile(r"\s+")


class FeedEntry(NamedTuple):
    """An entry of a feed.

    Attributes:
        run: Number of its run, from 1.
        url: The page.
        kind: `new`, `changed`, `gone`, `moved` or `back`.
        gone: Words of its texts that went.
        came: Words of its texts that came.
    """

    run: int
    url: str
    kind: str
    gone: tuple[str, ...] = ()
    came: tuple[str, ...] = ()


class TrueEvent(NamedTuple):
    """An event of a document that a feed should have; `kind` is `real`, `new` or `gone`."""

    run: int
    url: str
    kind: str


class FeedFigures(NamedTuple):
    """The figures of a feed.

    Attributes:
        recall: Real changes that have an entry.
        events: Real changes, and documents that are new or gone, that have one.
        precision: Entries at which a reader sees a difference.
        recorded: Entries at which a recorded version changed, or a document is new or gone.
        words: Entries with words whose words are all right.
        missed: Events without an entry.
        wrong: Entries at which a reader sees no difference.
    """

    recall: Share
    events: Share
    precision: Share
    recorded: Share
    words: Share
    missed: list[TrueEvent]
    wrong: list[FeedEntry]


def parse_feed(text: str) -> list[FeedEntry]:
    """Return the entries of documents in the output of `nacre changes JOB --json`.

    Raises:
        ValueError: It leaves some out.
    """
    feed = json.loads(text)
    if feed["left_out"]:
        raise ValueError(f"the feed leaves out {feed['left_out']} entries")
    entries = [
        FeedEntry(
            entry["run"], entry["url"], entry["kind"],
            tuple(_words(entry, "-")), tuple(_words(entry, "+")),
        )
        for entry in feed["entries"]
    ]  # fmt: skip
    return [entry for entry in entries if urlsplit(entry.url).path.endswith(".html")]


def _words(entry: Mapping[str, object], sign: str) -> Iterator[str]:
    """Yield the words of a side, without those that are cut."""
    for text in entry["texts"]:  # type: ignore[attr-defined]
        if text["kind"] in _READ:
            for words in text["words"]:
                if words["kind"] == sign and not words["text"].endswith("…"):
                    yield words["text"]


def true_events(
    rows: Sequence[ComparedVisit], urls: Sequence[str], times: Sequence[int], truth: Truth
) -> list[TrueEvent]:
    """Return the events that a feed should have.

    Args:
        rows: Visits of documents that were visited before.
        urls: All documents that were visited.
        times: Time of each step.
        truth: The states of pages.
    """
    events = {TrueEvent(row.visit.run, row.visit.url, "real") for row in rows if row.is_real}
    for url in urls:
        there = [truth.reply(url, time).status == 200 for time in times]
        first = there.index(True) if True in there else len(there)
        for step in range(1, len(times)):
            if step == first:
                events.add(TrueEvent(step + 1, url, "new"))
            elif there[step - 1] and not there[step]:
                events.add(TrueEvent(step + 1, url, "gone"))
    return sorted(events)


def figures_of(
    entries: Sequence[FeedEntry],
    events: Sequence[TrueEvent],
    rows: Sequence[ComparedVisit],
    has_right_words: Mapping[FeedEntry, bool],
) -> FeedFigures:
    """Compare a feed with the truth (pure).

    Args:
        entries: The feed.
        events: What it should have.
        rows: Visits of documents that were visited before.
        has_right_words: Whether the words of an entry are right; entries without words are left
            out.
    """
    reported = {(entry.run, entry.url) for entry in entries}
    true = {(event.run, event.url) for event in events}
    differs = {(row.visit.run, row.visit.url) for row in rows if row.text_differs}

    def is_reported(event: TrueEvent) -> bool:
        return (event.run, event.url) in reported

    def is_right(entry: FeedEntry) -> bool:
        return (entry.run, entry.url) in true | differs

    return FeedFigures(
        recall=share_of([event for event in events if event.kind == "real"], is_reported),
        events=share_of(events, is_reported),
        precision=share_of(entries, is_right),
        recorded=share_of(entries, lambda entry: (entry.run, entry.url) in true),
        words=share_of(list(has_right_words), lambda entry: has_right_words[entry]),
        missed=[event for event in events if not is_reported(event)],
        wrong=[entry for entry in entries if not is_right(entry)],
    )


def judge_feed(out: Path) -> FeedFigures:
    """Compare the feed of a run with its repositories.

    Raises:
        ValueError: The run has no feed, or it leaves entries out.
    """
    if not (out / FILE).is_file():
        raise ValueError(f"{out} has no {FILE}: it was made before the feed existed")
    plan = read_plan(out)
    entries = parse_feed((out / FILE).read_text())
    with load_site(plan) as site:
        truth, visits = Truth(plan, site), read_visits(out)
        rows = compare_visits(visits, plan.times, truth, site.versions)
        urls = sorted({visit.url for visit in visits if _is_document(visit.url, truth)})
        events = true_events(rows, urls, plan.times, truth)
        right = {
            entry: _are_words_right(entry, plan.times, truth)
            for entry in entries
            if entry.gone or entry.came
        }
        return figures_of(entries, events, rows, right)


def _is_document(url: str, truth: Truth) -> bool:
    return (truth.document(url) + unquote(urlsplit(url).path)[1:]).endswith(".html")


def _are_words_right(entry: FeedEntry, times: Sequence[int], truth: Truth) -> bool:
    """Whether the words that went are on a page before, and those that came on that of the run."""
    at = entry.run - 1
    now = _plain(truth.reply(entry.url, times[at]).body)
    before = [_plain(truth.reply(entry.url, time).body) for time in times[:at]]
    return all(_plain_text(words) in now for words in entry.came) and any(
        all(_plain_text(words) in page for words in entry.gone) for page in reversed(before)
    )


def _plain(body: bytes) -> str:
    """Return the text of a page without blanks, which elements may add."""
    return _plain_text(shown(body)[0])


def _plain_text(text: str) -> str:
    return _BLANKS.sub("", unicodedata.normalize("NFKC", text))


def feed_lines(out: Path, found: FeedFigures) -> Iterator[str]:
    """Yield the figures for people, with Wilson's 95 % intervals."""
    yield f"# {out}: the change feed"
    names = {
        "recall": "real changes with an entry",
        "events": "real changes, new and gone documents with an entry",
        "precision": "entries at which a reader sees a difference",
        "recorded": "entries with a recorded change",
        "words": "entries whose words are right",
    }
    for name, words in names.items():
        share: Share = getattr(found, name)
        yield f"{name:10} {share} ({wilson(share)}): {words}"
    for event in found.missed:
        yield f"missed     run {event.run}, {event.kind}: {event.url}"
    for entry in found.wrong:
        yield f"wrong      run {entry.run}, {entry.kind}: {entry.url}"
