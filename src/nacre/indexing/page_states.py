"""The pages of a continuous crawl by its archive, and their documents in indexes.

A file of SQLite next to the index, made from the indexes of the WARC files: a reply with status 200
is a page, a revisit confirms it, any other reply shows that it is gone or elsewhere. Unchanged
indexes are not read again. The file can be removed: then it is made again.

The content of a page that was run in a browser is the text that this showed: it changes while the
reply of the server stays the same.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from nacre.archive.page_records import PAGE_INFO, TEXT, urn_parts
from nacre.errors import StorageError
from nacre.inspect.archived_replies import ArchivedReplies, ArchivedReply
from nacre.messages import message

_TABLES = """
create table if not exists files (name text primary key, size integer, changed integer);
create table if not exists pages (url text primary key, date text, status text, digest text);
create table if not exists bodies (
    url text, digest text, date text, mime text, file text, offset integer,
    primary key (digest, url)
);
create table if not exists shown (
    url text, kind text, date text, digest text, file text, offset integer,
    primary key (url, kind)
) without rowid;
create table if not exists indexed (
    writer text, url text, digest text, reason text, primary key (writer, url)
) without rowid;
"""
_VERSION = 1
"""Of the tables: an older file is filled again."""
_BATCH = 10_000
_CONTENT = """with content as (
    select p.url, p.date, p.status, p.digest as body, t.file, t.offset, t.date as shown,
    coalesce(t.digest, p.digest) as digest
    from pages p left join shown t on t.url = p.url and t.kind = 'text' and t.date >= coalesce(
        (select o.date from bodies o where o.digest = p.digest and o.url = p.url), ''
    )
)"""
"""Of each page the digest of its content, and the text that a browser showed of its last reply."""


class ChangedPage(NamedTuple):
    """A page whose document changed.

    Attributes:
        url: Its URL.
        date: Time of its fetch, `2026-11-20T10:00:00Z`.
        digest: Payload digest of its content.
        reply: The reply with the content.
        had: Whether the writer has a document of it.
        text: The record of its text, if it was run in a browser; None if it was not.
        info: The record of what the browser says of it.
        may_be_part: Whether pages were run in a browser, so that it may be a request of one.
    """

    url: str
    date: str
    digest: str
    reply: ArchivedReply
    had: bool
    text: ArchivedReply | None = None
    info: ArchivedReply | None = None
    may_be_part: bool = False


class PageStates:
    """The states of all pages.

    Args:
        path: The file; created if missing.

    Raises:
        StorageError: The file cannot be read or written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(path)
            self._db.executescript(_TABLES)
            if self._db.execute("pragma user_version").fetchone() != (_VERSION,):
                self._db.execute("delete from files")
                self._db.execute(f"pragma user_version = {_VERSION}")
        except (sqlite3.Error, OSError) as error:
            raise StorageError(
                message(
                    "job.file-to-remove",
                    "{path}: {error}. Remove it; it is then built again",
                    path=path,
                    error=error,
                )
            ) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._db.close()

    def update(self, archive: ArchivedReplies) -> None:
        """Read the indexes that changed since the last time."""
        for index in archive.indexes():
            try:
                facts = index.path.stat()
            except FileNotFoundError:
                continue
            now = facts.st_size, facts.st_mtime_ns
            row = self._db.execute(
                "select size, changed from files where name = ?", [index.name]
            ).fetchone()
            if row == now:
                continue
            self._take(archive.replies(index))
            self._db.execute("replace into files values (?, ?, ?)", [index.name, *now])
            self._db.commit()

    def _take(self, replies: Iterable[ArchivedReply]) -> None:
        for reply in replies:
            if not reply.status.isdigit():
                self._take_shown(reply)
                continue
            if reply.status == "200" and not reply.is_revisit and reply.file:
                self._db.execute(
                    "replace into bodies values (?, ?, ?, ?, ?, ?)",
                    [reply.url, reply.digest, reply.date, reply.mime, reply.file, reply.offset],
                )
            # A 304 has the content of the reply before.
            digest = reply.digest if reply.status == "200" else None
            self._db.execute(
                "insert into pages values (?, ?, ?, ?) on conflict (url) do update set "
                "date = excluded.date, status = excluded.status, "
                "digest = coalesce(excluded.digest, digest) where excluded.date >= date",
                [reply.url, reply.date, reply.status, digest],
            )

    def _take_shown(self, reply: ArchivedReply) -> None:
        """Take a record of a page that was run in a browser."""
        kind, url = urn_parts(reply.url)
        if kind in {TEXT, PAGE_INFO} and reply.file:
            self._db.execute(
                "insert into shown values (?, ?, ?, ?, ?, ?) on conflict (url, kind) do update set "
                "date = excluded.date, digest = excluded.digest, file = excluded.file, "
                "offset = excluded.offset where excluded.date >= date",
                [url, kind, reply.date, reply.digest, reply.file, reply.offset],
            )

    def pages_to_write(self, writer: str, *, anew: bool) -> Iterator[ChangedPage]:
        """Yield the pages to write, in the order of the archive.

        Args:
            writer: Name of the writer.
            anew: Yield all pages, since the writer is empty.
        """
        may_be_part = self._db.execute("select 1 from shown limit 1").fetchone() is not None
        rows = self._db.execute(
            f"{_CONTENT} select p.url, p.date, p.digest, p.body, p.file, p.offset, p.shown, "  # noqa: S608 - constants
            "n.file, n.offset, coalesce(i.reason = '', 0), "
            "b.url, b.date, b.mime, b.digest, b.file, b.offset, "
            # Its own reply precedes that of another page with the same content: the row of the max.
            "max((b.url = p.url) || b.date) from content p join bodies b on b.digest = p.body "
            "left join indexed i on i.writer = ? and i.url = p.url "
            "left join shown n on n.url = p.url and n.kind = 'pageinfo' and n.date = p.shown "
            "where p.status in ('200', '304') and (? or i.digest is not p.digest) "
            "group by p.url order by b.file, b.offset, p.url",
            [writer, anew],
        )
        while batch := rows.fetchmany(_BATCH):
            for (
                url,
                date,
                digest,
                _,
                *text,
                note,
                at,
                had,
                of,
                when,
                mime,
                body,
                file,
                offset,
                _,
            ) in batch:
                content = ArchivedReply(of, when, "200", mime, body, file, offset)
                shown_record = _record(url, *text)
                info = _record(url, note, at, text[2])
                yield ChangedPage(
                    url, date, digest, content, bool(had), shown_record, info, may_be_part
                )

    def page(self, url: str) -> ChangedPage | str:
        """Return a page, or the reason why it is in no index: `unknown` without replies.

        Args:
            url: Its URL.
        """
        row = self._db.execute("select status from pages where url = ?", [url]).fetchone()
        if row is None:
            return "unknown"
        pages = (
            candidate for candidate in self.pages_to_write("", anew=True) if candidate.url == url
        )
        return next(pages, None) or _reason(row[0]) or "unknown"

    def lost(self, writer: str) -> list[tuple[str, str]]:
        """Return the pages whose documents a writer must remove, with the reason."""
        rows = self._db.execute(
            "select i.url, coalesce(p.status, '') from indexed i left join pages p "
            "on p.url = i.url where i.writer = ? and i.reason = '' "
            "and coalesce(p.status, '') not in ('200', '304')",
            [writer],
        )
        return [(url, _reason(status)) for url, status in rows if _reason(status)]

    def note(self, writer: str, rows: Sequence[tuple[str, str | None, str]]) -> None:
        """Record the state of a writer: for each URL the digest, and the reason for no document."""
        self._db.executemany(
            "replace into indexed values (?, ?, ?, ?)", [(writer, *row) for row in rows]
        )
        self._db.commit()


def _record(url: str, file: str | None, offset: int, date: str) -> ArchivedReply | None:
    """Return a record of a page that was run in a browser; None if it has none."""
    return ArchivedReply(url, date, "", "", "", file, offset) if file else None


def _reason(status: str) -> str:
    """Return why a page with this status is in no index; "" if it stays unchanged."""
    if status.startswith("3"):
        return "redirect"
    if not status or status in {"408", "429"} or status.startswith("5"):
        return ""  # it may return
    return "gone"
