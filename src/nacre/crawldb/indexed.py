"""The table of the documents of search indexes, and the choice of changes for them, in SQL.

A row has the content of a page that a writer got, or why it has no document. Comparing it with the
CrawlDb shows the changes: so only changed pages are read, and a killed command resumes. Source:
Nutch, `IndexerMapReduce`, `CleaningJob` (reference N 1.14), which join all data for every segment.
"""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from nacre.crawldb.kernels import quoted
from nacre.crawldb.row import Status
from nacre.crawldb.scoring import BoostRule

if TYPE_CHECKING:
    import pyarrow as pa


class IndexedColumn(NamedTuple):
    """A column of the table of indexed pages: its name, its type in SQL, its meaning."""

    name: str
    type: str
    doc: str


INDEXED_COLUMNS = (
    IndexedColumn("key", "VARCHAR", "Key of the page."),
    IndexedColumn("writer", "VARCHAR", "Name of the writer."),
    IndexedColumn("digest", "VARCHAR", "Payload digest that it was given; null: none any more."),
    IndexedColumn("reason", "VARCHAR", "Why it has no document of the page; empty: it has one."),
    IndexedColumn("time", "BIGINT", "When that was, ms since the epoch."),
)
"""The columns in the order of their files; (key, writer) identifies a row."""

WANTED_COLUMNS = (
    "url", "status", "last_time", "modified", "digest", "record_id", "warc_date", "length", "mime",
    "lang", "excluded", "dup_of", "score", "cash",
)  # fmt: skip
"""Columns of the CrawlDb that the choice needs."""
_SUMMED = frozenset(("score", "cash"))
"""Columns that only the boost needs."""


@cache
def indexed_schema() -> "pa.Schema":
    """The schema of the table in Arrow."""
    import pyarrow as pa  # noqa: PLC0415 - an extra, slow to import

    kinds = {"VARCHAR": pa.string(), "BIGINT": pa.int64()}
    return pa.schema([pa.field(c.name, kinds[c.type]) for c in INDEXED_COLUMNS])


NOINDEX = "noindex"
"""The reason of a page whose robots directives forbid a document."""
_THERE = (Status.FETCHED, Status.NOT_MODIFIED)
_LEFT = {
    Status.GONE: "gone",
    Status.REDIR_TEMP: "redirect",
    Status.REDIR_PERM: "redirect",
    Status.DUPLICATE: "duplicate",
    Status.ORPHAN: "orphan",
    Status.PARSE_FAILED: "unreadable",
}
"""Why a page of a status is in no index. A page with recent failures stays as it is."""


class TextTypes(NamedTuple):
    """The kinds of documents that have a text.

    Attributes:
        types: Media types.
        unknown: Unspecific media types.
        endings: Ends of names that decide in this case, such as `pdf`.
    """

    types: Sequence[str]
    unknown: Sequence[str]
    endings: Sequence[str]

    def condition(self, row: str) -> str:
        """Return an SQL condition for rows of the CrawlDb that have a text."""
        text_types, unknown = (", ".join(map(quoted, n)) for n in (self.types, self.unknown))
        ending = quoted(rf"\.({'|'.join(self.endings)})([?#]|$)")
        return (
            f"({row}.mime in ({text_types}) or (coalesce({row}.mime, '') in ({unknown}) "
            f"and regexp_matches(lower({row}.key), {ending})))"
        )


def index_changes(
    rows: str, indexed: str, types: TextTypes, bucket: int, boost: BoostRule, *, news: bool = False
) -> str:
    """Return SQL of documents to write or to remove: `reason` is null for documents to write.

    With `news` it adds pages with unchanged content, or without a document for `noindex` (the
    column `same` is true): `noindex_changes` keeps those whose newest reply differs. Its columns
    `refused` and `lifted` are null here.

    Args:
        rows: SQL after `from` for rows of the CrawlDb, with `WANTED_COLUMNS` and those of `boost`.
        indexed: SQL after `from` for the rows of the writer; "" for none.
        types: The kinds of documents with a text.
        bucket: The bucket of the rows.
        boost: The rule of the column `boost`.
        news: Whether `noindex_changes` follows.
    """
    has = indexed or "(select ''::VARCHAR as key, ''::VARCHAR as digest, '' as reason where false)"
    lost = " ".join(
        f"when c.status = {int(status)} then {quoted(w)}" for status, w in _LEFT.items()
    )
    existing = ", ".join(str(int(s)) for s in _THERE)
    reason = (
        f"case when c.key is null then 'unknown' when c.excluded is not null then 'excluded' {lost}"
        f" when not {types.condition('c')} then 'type' end"
    )
    documents = (
        f"reason is null and status in ({existing}) and record_id is not null "
        f"and (not same{' or had_it or kept_out' if news else ''})"
    )
    removed = "reason is not null and had_it"
    used = dict.fromkeys((*WANTED_COLUMNS, *boost.columns))
    used.pop("key", None)
    names = ", ".join(f'c."{name}"' for name in used)
    joined = (
        f"select coalesce(c.key, i.key) as key, {names}, "
        f"i.digest as had, coalesce(i.reason = '', false) as had_it, {reason} as reason, "
        f"coalesce(i.reason = {quoted(NOINDEX)}, false) as kept_out, "
        "c.digest is not distinct from i.digest as same, null::BOOLEAN as refused, "
        f"null::BOOLEAN as lifted, {bucket} as bucket "
        f"from {rows} c full join {has} i on i.key = c.key"
    )
    columns = ", ".join(f'"{name}"' for name in WANTED_COLUMNS if name not in _SUMMED)
    return (
        f"select key, {columns}, had, had_it, same, refused, lifted, reason, bucket, "
        f"{boost.sql} as boost from ({joined}) where ({documents}) or ({removed})"
    )


def noindex_changes(changes: str, visits: str) -> tuple[str, str]:
    """Return statements that read `noindex` from visits, for the pages of a table of changes.

    `refused` becomes `noindex` of the newest reply with content, in its header or in the page; null
    for none. `lifted` is true if that reply has no `noindex`, and is later than the capture of the
    same content, whose header may have it. Pages with `same` and without a change are deleted.

    Args:
        changes: The table from `index_changes`, with `news`.
        visits: SQL after `from` for visits.
    """
    update = (
        f"update {changes} c set refused = v.noindex, lifted = not v.noindex and v.again from "
        "(select key, arg_max(noindex, time) as noindex, "
        f"coalesce(arg_max(stored, time) = 'duplicate', false) as again from {visits} "
        f"where status = 200 and key in (select key from {changes} where reason is null) "
        "group by key) v where v.key = c.key and c.reason is null"
    )
    delete = (
        f"delete from {changes} where reason is null and same and coalesce(refused <> had_it, true)"
    )
    return update, delete
