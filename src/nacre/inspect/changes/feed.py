"""The change feed of a job as data, whatever its format (pure)."""

from collections.abc import Mapping, Sequence
from uuid import NAMESPACE_URL, uuid5

import msgspec

from nacre.core.changes import FEED_KINDS, ChangeRow
from nacre.core.clock import iso


class DifferingWords(msgspec.Struct, frozen=True):
    """Words of a difference.

    Attributes:
        kind: `=` for words of both versions, `-` of the older one alone, `+` of the newer one.
        text: The words; `…` stands for words that are left out.
    """

    kind: str
    text: str


class DifferingText(msgspec.Struct, frozen=True):
    """A text, a link or a picture that differs.

    Attributes:
        kind: `title`, `heading`, `text`, `link`, `image`, `file`, `nav` and so on.
        words: Its words, in order.
    """

    kind: str
    words: list[DifferingWords]


class ChangeEntry(msgspec.Struct, frozen=True):
    """An entry of the change feed.

    Attributes:
        id: Its permanent name, `urn:uuid:…`.
        url: The page.
        kind: `new`, `changed`, `gone`, `moved` (a redirect now), `back` (it was gone or moved), or
            `rights`: the preferences of the page or its site differ.
        time: When the change was found, RFC 3339.
        run: Number of the run.
        title: Title of the page; "" if unknown.
        lead: Beginning of the text of a new page.
        status: HTTP status of the visit.
        reason: Code of what decided, as in the fetch log; of `rights` the kind of the source, as in
            the ledger.
        score: Share of the page that differs, 0 to 1.
        texts: What differs, in document order.
        more: Number of further differences.
        target: URL that a moved page redirects to.
        record_id: WARC-Record-ID of the capture that states new preferences; else "".
    """

    id: str
    url: str
    kind: str
    time: str
    run: int
    title: str = ""
    lead: str = ""
    status: int = 0
    reason: str = ""
    score: float = 0.0
    texts: list[DifferingText] = []
    more: int = 0
    target: str = ""
    record_id: str = ""


class FeedRun(msgspec.Struct, frozen=True):
    """A run of the feed.

    Attributes:
        number: From 1.
        name: Name of its directory.
        ended: When it ended, RFC 3339.
        counts: Number of its entries of each kind, also of those that the feed leaves out.
    """

    number: int
    name: str
    ended: str
    counts: dict[str, int]


class PostedChanges(msgspec.Struct, frozen=True):
    """The changes of a run, as a webhook receives them.

    Attributes:
        counts: Number of its changes of each kind.
        entries: The newest of them.
    """

    counts: dict[str, int]
    entries: list[ChangeEntry]


class ChangeFeed(msgspec.Struct, frozen=True):
    """The change feed of a job.

    Attributes:
        id: Its permanent name, `urn:uuid:…`; that of a selection is another one.
        job: Name of the job.
        updated: When it changed last, RFC 3339; the end of the last run if it has no entry.
        runs: Its runs, the newest first; those without an entry too.
        entries: The entries, the newest first.
        left_out: Number of older entries that are left out of the runs above.
        unread: Names of full runs whose pages are compared when the next recrawl starts.
        running: Name of a run after the first that did not end: its entries follow when it ends. ""
            for none.
        last_run: Name of the last run of the job that is over and follows another; "" for none.
        is_recording: The job is a recording, whose pages no run compares.
    """

    id: str
    job: str
    updated: str
    runs: list[FeedRun]
    entries: list[ChangeEntry]
    left_out: int = 0
    unread: list[str] = []
    running: str = ""
    last_run: str = ""
    is_recording: bool = False


def make_entry(row: ChangeRow) -> ChangeEntry:
    """Return the entry of a change."""
    texts = [
        DifferingText(text.kind, [DifferingWords(run.kind, run.text) for run in text.runs])
        for text in row.texts
    ]
    return ChangeEntry(
        id=entry_id(row.url, row.time),
        url=row.url,
        kind=row.kind,
        time=iso(row.time),
        run=row.run,
        title=row.title,
        lead=row.lead,
        status=row.status,
        reason=row.reason,
        score=row.score,
        texts=texts,
        more=row.more,
        target=row.target,
    )


def entry_id(url: str, time: float) -> str:
    """Return the permanent name of an entry: the same in each format and at each time."""
    return f"urn:uuid:{uuid5(NAMESPACE_URL, f'nacre-change {round(time * 1e6)} {url}')}"


def feed_id(job: str, first_run: str, selection: Sequence[str] = ()) -> str:
    """Return the permanent name of a feed.

    Args:
        job: Name of the job.
        first_run: Name of its first run.
        selection: What selects its entries.
    """
    name = "\n".join(("nacre-changes", job, first_run, *selection))
    return f"urn:uuid:{uuid5(NAMESPACE_URL, name)}"


def entries_by_run(feed: ChangeFeed) -> dict[int, list[ChangeEntry]]:
    """Return the entries of each run of a feed, by its number, in the order of the feed."""
    entries: dict[int, list[ChangeEntry]] = {run.number: [] for run in feed.runs}
    for entry in feed.entries:
        entries[entry.run].append(entry)
    return entries


def order_counts(counts: Mapping[str, int]) -> dict[str, int]:
    """Return the number of changes of each kind in the order of reports, without zeros."""
    return {kind: counts[kind] for kind in FEED_KINDS if counts.get(kind)}
