"""What a job holds, as plain facts, and the invariants that must hold of them at every start.

Source: docs/internals.md, "Durability".
"""

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import msgspec

from nacre.archive.check import Checker
from nacre.archive.reader import WarcReader
from nacre.core.history import Original
from nacre.engine.outcomes import Outcome
from nacre.engine.rights_book import OWN_PREFIX, SITE_PREFIX, RightsRows
from nacre.frontier.pending import pending
from nacre.frontier.queues import read_totals
from nacre.report.statistics import totals
from nacre.store.file_table import file_rows
from nacre.store.files import FileKind, FileState
from nacre.store.store import Store
from tests.fault.site import states_preference

T = TypeVar("T")


@dataclass(frozen=True)
class RecordAt:
    """One record of a WARC."""

    file: str
    offset: int
    kind: str
    url: str
    id: str
    digest: str
    refers_to: str


@dataclass
class Facts:
    """Everything that a stopped job holds.

    Attributes:
        outcomes: Rows of `urls` by URL.
        records: Records by file name and offset.
        logged: Lines of crawl.log: URL -> statuses in order.
        indexed: Index lines: (file name, offset) -> URL.
        originals: Rows of `digests`, with the name of their file.
        waiting: URLs in `queue` and `future`.
        counted: discovered, queued, finished, succeeded, failed, disregarded.
        documents: Captures counted by the statistics.
        damage: What the check of the archive found.
        rights: Rows of the ledger of preferences that state something: URL -> ids of records.
    """

    outcomes: dict[str, Outcome] = field(default_factory=dict)
    records: dict[tuple[str, int], RecordAt] = field(default_factory=dict)
    logged: dict[str, list[int]] = field(default_factory=dict)
    indexed: dict[tuple[str, int], str] = field(default_factory=dict)
    originals: list[tuple[Original, str]] = field(default_factory=list)
    waiting: Counter[str] = field(default_factory=Counter)
    counted: tuple[int, ...] = ()
    documents: int = 0
    damage: list[str] = field(default_factory=list)
    rights: dict[str, list[str]] = field(default_factory=dict)

    @property
    def captures(self) -> Counter[str]:
        """Responses and revisits by URL."""
        return Counter(r.url for r in self.records.values() if r.kind in {"response", "revisit"})

    @property
    def payloads(self) -> dict[str, str]:
        """Payload digest of each URL's capture."""
        return {r.url: r.digest for r in self.records.values() if r.kind in {"response", "revisit"}}


def facts(store: Store, root: Path) -> Facts:
    """Read what a recovered job holds."""
    found = Facts()
    decode = msgspec.msgpack.Decoder(Outcome).decode
    for _, row in store.scan("urls", b""):
        outcome = decode(row)
        found.outcomes[outcome.url] = outcome
    _files(found, store, root)
    for prefix in (OWN_PREFIX, SITE_PREFIX):
        for _, version in RightsRows(store).all_versions(prefix):
            if version.signals:
                found.rights.setdefault(version.url, []).append(version.record_id)
    found.waiting = Counter(entry.uri.url for entry in pending(store))
    t = read_totals(store)
    found.counted = (
        t.discovered, t.queued, t.finished, t.succeeded, t.failed, t.disregarded
    )  # fmt: skip
    found.documents = totals(store).urls
    return found


def _files(found: Facts, store: Store, root: Path) -> None:
    names: dict[int, str] = {}
    checker = Checker()
    for number, row in file_rows(store):
        path = root / (row.final if row.state == FileState.CLOSED else row.path)
        if row.state == FileState.LOST:
            continue
        assert path.stat().st_size == row.size, path
        names[number] = path.name
        if row.kind == FileKind.WARC:
            assert row.state == FileState.CLOSED, row
            index = path.with_name(path.name.removesuffix(".warc.gz") + ".cdxj")
            checker.file(path, index)
            found.records |= {(r.file, r.offset): r for r in records(path)}
            found.indexed |= indexed(index)
        elif path.name == "crawl.log":
            for line in path.read_text().splitlines():
                _, status, _, url, _ = line.split()[:5]
                found.logged.setdefault(url, []).append(int(status))
    checker.finish()
    found.damage = [str(finding) for finding in checker.findings] if checker.damaged else []
    decode = msgspec.msgpack.Decoder(Original).decode
    for _, value in store.scan("digests", b""):
        original = decode(value)
        found.originals.append((original, names[original.file]))


def records(path: Path) -> Iterator[RecordAt]:
    """The records of a WARC."""
    with path.open("rb") as file:
        for entry in WarcReader(file):
            yield RecordAt(
                path.name,
                entry.offset,
                entry.get("WARC-Type") or "",
                entry.get("WARC-Target-URI") or "",
                (entry.get("WARC-Record-ID") or "").strip("<>"),
                entry.get("WARC-Payload-Digest") or "",
                (entry.get("WARC-Refers-To") or "").strip("<>"),
            )


def indexed(path: Path) -> dict[tuple[str, int], str]:
    """The lines of an index."""
    lines = path.read_bytes().splitlines()
    assert lines == sorted(lines)
    found = [json.loads(line.split(b" ", 2)[2]) for line in lines]
    return {(f["filename"], int(f["offset"])): f["url"] for f in found}


def check(found: Facts, again: Collection[str] = (), *, is_salvaged: bool = False) -> None:
    """The invariants of docs/internals.md, "Durability".

    Args:
        found: What a job holds.
        again: Paths that may have been fetched twice.
        is_salvaged: Captures were registered again from WARCs; the ledger has no rows of these.
    """
    assert not found.damage, "\n".join(found.damage)
    captures = [r for r in found.records.values() if r.kind in {"response", "revisit"}]
    repeated = {path_of(url) for url, count in found.captures.items() if count > 1}
    assert repeated <= set(again)
    for url, outcome in found.outcomes.items():
        lines = found.logged[url] if path_of(url) not in again else found.logged[url][-1:]
        assert lines == [outcome.status], url
        if outcome.file:
            assert found.records[outcome.file, outcome.offset] in captures
            assert found.records[outcome.file, outcome.offset].url == url
    assert found.logged.keys() == found.outcomes.keys()
    assert found.captures.keys() == {u for u, o in found.outcomes.items() if o.file}
    assert found.captures.keys() == {u for u, o in found.outcomes.items() if o.status > 0}
    assert found.indexed == {(r.file, r.offset): r.url for r in captures}
    check_originals(found)
    check_counters(found)
    check_rights(found, is_salvaged=is_salvaged)
    assert found.documents == len(found.captures)


def check_originals(found: Facts) -> None:
    """Every original is there, and so is that of every revisit."""
    for original, name in found.originals:
        record = found.records[name, original.offset]
        assert (record.kind, record.url) == ("response", original.url)
        assert record.id == original.record_id
    responses = {r.id for r in found.records.values() if r.kind == "response"}
    known = {original.record_id for original, _ in found.originals}
    for record in found.records.values():
        assert record.kind != "revisit" or record.refers_to in responses & known, record


def check_rights(found: Facts, *, is_salvaged: bool) -> None:
    """A row of the ledger is there exactly if its visit is, and refers to its capture."""
    visited = {url for url, outcome in found.outcomes.items() if outcome.status == 200}
    stating = {url for url in visited if states_preference(path_of(url))}
    assert found.rights.keys() <= stating
    assert is_salvaged or found.rights.keys() == stating
    urls = {record.id: record.url for record in found.records.values()}
    for url, ids in found.rights.items():
        assert [urls[name] for name in ids] == [url], url


def check_counters(found: Facts) -> None:
    """What the frontier counted is what is there."""
    discovered, queued, finished, *parts = found.counted
    assert queued == found.waiting.total()
    assert finished == len(found.outcomes) == sum(parts)
    assert discovered == queued + finished


def path_of(url: str) -> str:
    """A URL without its origin: each crawl's site has another port."""
    return "/" + url.split("/", 3)[3]


def by_path(found: Mapping[str, T]) -> dict[str, T]:
    """The same, by path."""
    return {path_of(url): value for url, value in found.items()}


def check_same(
    found: Facts, calm: Facts, again: Collection[str] = (), *, is_salvaged: bool = False
) -> None:
    """A crawl that was disturbed ended as one that was not."""
    check(found, again, is_salvaged=is_salvaged)
    assert not found.waiting
    assert by_path({u: o.status for u, o in found.outcomes.items()}) == by_path(
        {u: o.status for u, o in calm.outcomes.items()}
    )
    assert found.captures.keys() == found.payloads.keys()
    assert by_path(found.payloads) == by_path(calm.payloads)
    assert found.counted == calm.counted
    assert found.documents == calm.documents
