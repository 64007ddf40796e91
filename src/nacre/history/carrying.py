"""What is known of pages as tables, so that it can leave a job and enter another.

Each table has named columns; bytes and nested values become text, so that JSON Lines and Parquet
hold the same.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from nacre.core.fetchrow import FetchRow
from nacre.core.history import HistoryRecord
from nacre.core.pagerow import PageRow
from nacre.core.timingrow import TimingRow
from nacre.core.wayrow import VersionRow, WayRow
from nacre.errors import JobError
from nacre.history.finding.hints import Audit
from nacre.history.finding.linkwatch import RuleRow
from nacre.history.finding.sitemaps import MapRow
from nacre.history.finding.traps import TrapRow
from nacre.history.pagestore import (
    AUDITS,
    ERRORS,
    FAMILY,
    GAPS,
    LISTS,
    MAPS,
    RULES,
    SITES,
    TEMPLATES,
    TIMINGS,
    TRAPS,
)
from nacre.history.recrawl.gaps import GapRow
from nacre.history.recrawl.sites import ShownRow, SiteRow
from nacre.history.verdict.deletion import ErrorModel
from nacre.history.verdict.template import Template
from nacre.history.worth.rates import EVIDENCE_BYTES, RECENT_BYTES
from nacre.store.store import Store

_CHUNK = 512
_ROWS = 5_000
KEY = "key"


class Table(NamedTuple):
    """One table.

    Attributes:
        name: Its name, and that of its file.
        kind: What a row is.
        family: Where its rows are.
        prefix: First byte of their keys; b"" for none.
        binary: Keys are no text: they are written in base 16.
    """

    name: str
    kind: type[msgspec.Struct]
    family: str = FAMILY
    prefix: bytes = b""
    binary: bool = False


TABLES = (
    Table("pages", PageRow, prefix=b"p"),
    Table("ways", WayRow, prefix=b"w"),
    Table("versions", VersionRow, prefix=b"v"),
    Table("visits", FetchRow, prefix=b"f", binary=True),
    Table("sites", SiteRow, prefix=SITES),
    Table("rules", RuleRow, prefix=RULES),
    Table("traps", TrapRow, prefix=TRAPS),
    Table("gaps", GapRow, prefix=GAPS),
    Table("sitemaps", MapRow, prefix=MAPS),
    Table("lists", ShownRow, prefix=LISTS),
    Table("templates", Template, prefix=TEMPLATES),
    Table("errors", ErrorModel, prefix=ERRORS),
    Table("audits", Audit, prefix=AUDITS),
    Table("timings", TimingRow, prefix=TIMINGS),
    Table("captures", HistoryRecord, family="history"),
)


def table_rows(store: Store, table: Table) -> Iterator[dict[str, Any]]:
    """The rows of a table: their key and their columns, as numbers and texts."""
    decode = msgspec.msgpack.Decoder(table.kind).decode
    start = table.prefix
    stop = bytes([start[0] + 1]) if start else None
    while found := list(store.scan(table.family, start, stop, _CHUNK)):
        for key, value in found:
            name = key[len(table.prefix) :]
            columns = {KEY: name.hex() if table.binary else name.decode("utf-8", "replace")}
            columns.update(_columns(decode(value)))
            yield columns
        start = found[-1][0] + b"\0"


def _columns(row: msgspec.Struct) -> dict[str, Any]:
    return {name: _plain(value) for name, value in msgspec.structs.asdict(row).items()}


def _plain(value: Any) -> Any:  # noqa: ANN401 - a field may hold anything
    plain = msgspec.to_builtins(value)
    return plain if isinstance(plain, str | int | float) else msgspec.json.encode(plain).decode()


def _check_lengths(row: PageRow) -> None:
    """What was learned of rates can be read; else the planner would stumble over it later."""
    wanted = {"evidence": EVIDENCE_BYTES, "arrivals": EVIDENCE_BYTES, "recent": RECENT_BYTES}
    for name, size in wanted.items():
        found = len(getattr(row, name))
        if found not in {0, size}:
            raise ValueError(f"{name} has {found} bytes; expected {size}, or none")


class Taking:
    """Puts rows of a table into a store, and commits now and then.

    Args:
        store: The store, open for writing; nobody else works on it.
        table: The table.

    Attributes:
        count: Rows so far.
    """

    def __init__(self, store: Store, table: Table) -> None:
        self._store = store
        self._table = table
        self._fields = {field.name: field.type for field in msgspec.structs.fields(table.kind)}
        self._encode = msgspec.msgpack.Encoder().encode
        self.count = 0

    def take(self, columns: dict[str, Any]) -> None:
        """Put one row, in the place of one of the same key.

        Raises:
            JobError: It is no row of this table.
        """
        try:
            key = columns[KEY]
            name = bytes.fromhex(key) if self._table.binary else key.encode("utf-8", "replace")
            fields = {
                name: _value(columns[name], kind)
                for name, kind in self._fields.items()
                if name in columns
            }
            row = self._table.kind(**fields)
            if isinstance(row, PageRow):
                _check_lengths(row)
        except (KeyError, TypeError, ValueError, AttributeError, msgspec.MsgspecError) as error:
            number = self.count + 1
            raise JobError(f"row {number} of {self._table.name} cannot be read: {error}") from error
        self._store.put(self._table.family, self._table.prefix + name, self._encode(row))
        self.count += 1
        if not self.count % _ROWS:
            self._store.commit()


def _value(value: Any, kind: Any) -> Any:  # noqa: ANN401 - a field may hold anything
    if isinstance(value, str) and kind is not str:
        try:
            return msgspec.convert(value, kind)
        except msgspec.ValidationError:
            return msgspec.json.decode(value, type=kind)
    return msgspec.convert(value, kind)
