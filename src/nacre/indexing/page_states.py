"""The pages of a continuous crawl by its archive, and their documents in indexes.

A file of SQLite next to the index, made from the indexes of the WARC files: a reply with status 200
is a page, a revisit confirms it, any other reply shows that it is gone or elsewhere. Unchanged
indexes are not read again. The file can be removed: then it is made again.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

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
create table if not exists indexed (
    writer text, url text, digest text, reason text, primary key (writer, url)
) without rowid;
"""
_BATCH = 10_000


class ChangedPage(NamedTuple):
    """A page whose document changed.

    Attributes:
        url: Its URL.
        date: Time of its fetch, `2026-11-20T10:00:00Z`.
        digest: Payload digest of its content.
        reply: The reply with the content.
        had: Whether the writer has a document of it.
    """

    url: str
    date: str
    digest: str
    reply: ArchivedReply
    had: bool


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

    def pages_to_write(self, writer: str, *, anew: bool) -> Iterator[ChangedPage]:
        """Yield the pages to write, in the order of the archive.

        Args:
            writer: Name of the writer.
            anew: Yield all pages, since the writer is empty.
        """
        rows = self._db.execute(
            "select p.url, p.date, p.digest, b.url, b.date, b.mime, b.file, b.offset, "
            "coalesce(i.reason = '', 0), "
            # Its own reply precedes that of another page with the same content: the row of the max.
            "max((b.url = p.url) || b.date) from pages p join bodies b on b.digest = p.digest "
            "left join indexed i on i.writer = ? and i.url = p.url "
            "where p.status in ('200', '304') and (? or i.digest is not p.digest) "
            "group by p.url order by b.file, b.offset, p.url",
            [writer, anew],
        )
        while batch := rows.fetchmany(_BATCH):
            for url, date, digest, *reply, had, _ in batch:
                of, when, mime, file, offset = reply
                content = ArchivedReply(of, when, "200", mime, digest, file, offset)
                yield ChangedPage(url, date, digest, content, bool(had))

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


def _reason(status: str) -> str:
    """Return why a page with this status is in no index; "" if it stays unchanged."""
    if status.startswith("3"):
        return "redirect"
    if not status or status in {"408", "429"} or status.startswith("5"):
        return ""  # it may return
    return "gone"
