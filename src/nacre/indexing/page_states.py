"""The pages of a continuous crawl as its archive shows them, and what indexes have of them.

A file of SQLite beside the index, made of the indexes of the WARC files: a reply with status 200 is
a page, a revisit says that it is as it was, any other reply that it is gone or elsewhere. Of an
index that did not change since nothing is read again. It can be removed: then it is made anew.
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
        date: When it was fetched, `2026-11-20T10:00:00Z`.
        digest: Payload digest of its content.
        reply: The reply that has the content.
        had: The writer has a document of it.
    """

    url: str
    date: str
    digest: str
    reply: ArchivedReply
    had: bool


class PageStates:
    """The states of all pages.

    Args:
        path: The file; made where it is not there.

    Raises:
        StorageError: It cannot be read or written.
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
                    "{path}: {error}; remove it, and it is made anew",
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
        for one in replies:
            if not one.status.isdigit():
                continue
            if one.status == "200" and not one.is_revisit and one.file:
                self._db.execute(
                    "replace into bodies values (?, ?, ?, ?, ?, ?)",
                    [one.url, one.digest, one.date, one.mime, one.file, one.offset],
                )
            # A 304 says that the content is that of the reply before.
            digest = one.digest if one.status == "200" else None
            self._db.execute(
                "insert into pages values (?, ?, ?, ?) on conflict (url) do update set "
                "date = excluded.date, status = excluded.status, "
                "digest = coalesce(excluded.digest, digest) where excluded.date >= date",
                [one.url, one.date, one.status, digest],
            )

    def wanted(self, writer: str, *, anew: bool) -> Iterator[ChangedPage]:
        """The pages that a writer is to be given, in the order of the archive.

        Args:
            writer: Its name.
            anew: It has nothing: all of them.
        """
        rows = self._db.execute(
            "select p.url, p.date, p.digest, b.url, b.date, b.mime, b.file, b.offset, "
            "coalesce(i.reason = '', 0), "
            # Its own reply before that of another page with the same content: the row of the max.
            "max((b.url = p.url) || b.date) from pages p join bodies b on b.digest = p.digest "
            "left join indexed i on i.writer = ? and i.url = p.url "
            "where p.status in ('200', '304') and (? or i.digest is not p.digest) "
            "group by p.url order by b.file, b.offset, p.url",
            [writer, anew],
        )
        while batch := rows.fetchmany(_BATCH):
            for url, date, digest, *reply, had, _ in batch:
                of, when, mime, file, offset = reply
                found = ArchivedReply(of, when, "200", mime, digest, file, offset)
                yield ChangedPage(url, date, digest, found, bool(had))

    def page(self, url: str) -> ChangedPage | str:
        """A page that is there, or why it is in no index: `unknown` where nothing is known of it.

        Args:
            url: Its URL.
        """
        row = self._db.execute("select status from pages where url = ?", [url]).fetchone()
        if row is None:
            return "unknown"
        found = (one for one in self.wanted("", anew=True) if one.url == url)
        return next(found, None) or _reason(row[0]) or "unknown"

    def lost(self, writer: str) -> list[tuple[str, str]]:
        """The pages whose documents a writer is to remove, with the reason."""
        rows = self._db.execute(
            "select i.url, coalesce(p.status, '') from indexed i left join pages p "
            "on p.url = i.url where i.writer = ? and i.reason = '' "
            "and coalesce(p.status, '') not in ('200', '304')",
            [writer],
        )
        return [(url, _reason(status)) for url, status in rows if _reason(status)]

    def note(self, writer: str, rows: Sequence[tuple[str, str | None, str]]) -> None:
        """Note what a writer has: of each URL the digest, and why it has no document of it."""
        self._db.executemany(
            "replace into indexed values (?, ?, ?, ?)", [(writer, *row) for row in rows]
        )
        self._db.commit()


def _reason(status: str) -> str:
    """Why a page with this status is in no index; "" where it stays as it is."""
    if status.startswith("3"):
        return "redirect"
    if not status or status in {"408", "429"} or status.startswith("5"):
        return ""  # it may be there again
    return "gone"
