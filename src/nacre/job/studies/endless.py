"""What the first crawl learned of kinds of URLs: which promise nothing new, and what waits."""

import msgspec

from nacre.history.finding.novelty import KindRow, Promise
from nacre.job.studies.known import Known
from nacre.report.document import Column, DataTable, Document, Form, Section

_MOST = 500
_WORDS = {Promise.NEW: "", Promise.POOR: "nothing new lately", Promise.ENDLESS: "no end"}


class KindFacts(msgspec.Struct, frozen=True):
    """A kind of URLs.

    Attributes:
        host: Its host.
        kind: Its name.
        promise: `new`, `poor` or `endless`.
        met: URLs of it that were found.
        visited: Those visited.
        read: Those looked at for what is new.
        new: Those of them that had something new.
        reason: Why it is endless; "" when it is not.
        example: One of its URLs.
    """

    host: str
    kind: str
    promise: str
    met: int
    visited: int
    read: int
    new: int
    reason: str
    example: str


class TrapList(msgspec.Struct, frozen=True):
    """The kinds that promise little, endless ones first; at most 500."""

    kinds: list[KindFacts]


def trap_list(known: Known) -> TrapList:
    """What is known of kinds that had nothing new lately."""
    rows = [(host, row) for host, row in known.kinds() if row.promise is not Promise.NEW]
    rows.sort(key=lambda one: (-one[1].promise, one[1].done - one[1].met))
    return TrapList([_facts(host, row) for host, row in rows[:_MOST]])


def _facts(host: str, row: KindRow) -> KindFacts:
    return KindFacts(
        host, row.name, row.promise.name.lower(), row.met, row.done, row.read, row.rich,
        row.reason, row.example,
    )  # fmt: skip


def document(found: TrapList) -> Document:
    """The list for people."""
    if not found.kinds:
        return Document("Traps", (Section("", ("No kind of URLs had nothing new lately.",)),))
    text = (
        "URLs of these kinds are fetched after all others: the last pages of each had no text and "
        "no link that was new. Where there is no end to them, they wait until nothing else is "
        "left, and the run ends after `traps.budget` of each queue; `nacre run JOB --traps` goes "
        "on.",
    )
    columns = (
        *(Column("host"), Column("kind"), Column("promises")),
        *(Column(name, Form.COUNT) for name in ("found", "visited", "read", "new")),
        *(Column("why"), Column("example", Form.URL)),
    )
    rows = tuple(
        (
            *(one.host, one.kind, _WORDS[Promise[one.promise.upper()]]),
            *(one.met, one.visited, one.read, one.new, one.reason, one.example),
        )
        for one in found.kinds
    )
    return Document("Traps", (Section("", text, tables=(DataTable("Kinds", columns, rows),)),))
