"""The table of what search indexes have, and the choice of what they are to get or lose, in SQL.

A row says which content of a page a writer was given, or why it has none of it. What the CrawlDb
says now is compared with that: so only what changed since is read, and a command that was killed
goes on where it was. Source: Nutch, `IndexerMapReduce`, `CleaningJob` (reference N 1.14), which
join all there is for every segment.
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
"""Columns of the CrawlDb that the choice is made of."""
_SUMMED = frozenset(("score", "cash"))
"""Those that only the boost is made of."""


@cache
def indexed_schema() -> "pa.Schema":
    """The schema of the table in Arrow."""
    import pyarrow as pa  # noqa: PLC0415 - an extra, slow to import

    kinds = {"VARCHAR": pa.string(), "BIGINT": pa.int64()}
    return pa.schema([pa.field(one.name, kinds[one.type]) for one in INDEXED_COLUMNS])


NOINDEX = "noindex"
"""Why a page has no document that asks for that."""
_THERE = (Status.FETCHED, Status.NOT_MODIFIED)
_LEFT = {
    Status.GONE: "gone",
    Status.REDIR_TEMP: "redirect",
    Status.REDIR_PERM: "redirect",
    Status.DUPLICATE: "duplicate",
    Status.ORPHAN: "orphan",
    Status.PARSE_FAILED: "unreadable",
}
"""Why a page of a status is in no index. One that could not be fetched lately stays as it is."""


class TextTypes(NamedTuple):
    """The kinds of documents that have a text.

    Attributes:
        types: Media types.
        unknown: Media types that say nothing.
        endings: Ends of names that say it in their place, such as `pdf`.
    """

    types: Sequence[str]
    unknown: Sequence[str]
    endings: Sequence[str]

    def condition(self, row: str) -> str:
        """SQL that is true for a row of the CrawlDb that has a text."""
        known, unknown = (", ".join(map(quoted, names)) for names in (self.types, self.unknown))
        ending = quoted(rf"\.({'|'.join(self.endings)})([?#]|$)")
        return (
            f"({row}.mime in ({known}) or (coalesce({row}.mime, '') in ({unknown}) "
            f"and regexp_matches(lower({row}.key), {ending})))"
        )


def index_changes(
    rows: str, indexed: str, types: TextTypes, bucket: int, boost: BoostRule, *, news: bool = False
) -> str:
    """SQL of what a writer is to be given or to remove: `reason` is null for what it is given.

    With `news` there are also pages that have the content that it was given, or that it was not
    given for `noindex` (the column `same` is true): `noindex_changes` leaves those of them for
    which the newest reply says something else. Its columns `refused` and `lifted` are null here.

    Args:
        rows: What stands behind `from` for rows of the CrawlDb, with `WANTED_COLUMNS` and those of
            `boost`.
        indexed: The same for what the writer has; "" for nothing.
        types: What has a text.
        bucket: The bucket of the rows.
        boost: The rule of the column `boost`.
        news: Whether visits are to be asked for `noindex`.
    """
    has = indexed or "(select ''::VARCHAR as key, ''::VARCHAR as digest, '' as reason where false)"
    lost = " ".join(
        f"when c.status = {int(status)} then {quoted(why)}" for status, why in _LEFT.items()
    )
    there = ", ".join(str(int(one)) for one in _THERE)
    reason = (
        f"case when c.key is null then 'unknown' when c.excluded is not null then 'excluded' {lost}"
        f" when not {types.condition('c')} then 'type' end"
    )
    given = (
        f"reason is null and status in ({there}) and record_id is not null "
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
    shown = ", ".join(f'"{name}"' for name in WANTED_COLUMNS if name not in _SUMMED)
    return (
        f"select key, {shown}, had, had_it, same, refused, lifted, reason, bucket, "
        f"{boost.sql} as boost from ({joined}) where ({given}) or ({removed})"
    )


def noindex_changes(changes: str, visits: str) -> tuple[str, str]:
    """Statements that ask visits for `noindex`, of the pages of a table of changes alone.

    `refused` is then what the newest reply with content says, in its head or in the page; null
    where there is none. `lifted` is true where it says nothing of `noindex`, and is later than the
    capture of the same content, whose head may say it. Pages with `same` go for which nothing
    changed.

    Args:
        changes: The table made of `index_changes`, with `news`.
        visits: What stands behind `from` for visits.
    """
    asked = (
        f"update {changes} c set refused = v.noindex, lifted = not v.noindex and v.again from "
        "(select key, arg_max(noindex, time) as noindex, "
        f"coalesce(arg_max(stored, time) = 'duplicate', false) as again from {visits} "
        f"where status = 200 and key in (select key from {changes} where reason is null) "
        "group by key) v where v.key = c.key and c.reason is null"
    )
    settled = (
        f"delete from {changes} where reason is null and same and coalesce(refused <> had_it, true)"
    )
    return asked, settled
