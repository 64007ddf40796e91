"""A cycle whose tables are made of what a test says."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from nacre.crawldb import row
from nacre.crawldb.fold import fold_query
from nacre.crawldb.row import bucket_of
from nacre.rounds.engine.local import LocalEngine
from nacre.rounds.storage import Storage, open_storage
from nacre.rounds.storage.local import LocalStorage
from nacre.rounds.tables.tables import (
    CRAWLDB,
    KINDS,
    FilePlan,
    TaskPlace,
    buckets_of,
    local_bucket,
    publish,
    write_arrow,
)
from nacre.rounds.tables.versions import Cycle, CycleChanges, CycleVersion, TableFile

Row = Mapping[str, Any]
INTERVAL = 2_592_000
NOW = 1_800_000_000_000
BUCKETS = 2
"""Of the tables: with 64, each of a few URLs is in another bucket, which is another task."""


@pytest.fixture(autouse=True, scope="module")
def few_buckets(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Tables have `BUCKETS` unless a test sets another number."""
    folder = tmp_path_factory.mktemp("config")
    (folder / "nacre").mkdir()
    (folder / "nacre/config.yaml").write_text(f"cycle: {{buckets: {BUCKETS}}}\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(folder))
        yield


def place_of(storage: str) -> TaskPlace:
    """A place for tasks of this process: as those of steps have on this machine."""
    return TaskPlace(storage, scratch=LocalEngine(1).scratch)


class MadeCycle:
    """A cycle in a folder, with a table of URLs that grows by what is added."""

    def __init__(self, folder: Path, buckets: int = BUCKETS) -> None:
        self.folder = folder
        self.storage: Storage = LocalStorage(folder / "cycle")
        self.cycle = Cycle(self.storage, host="a")
        self.place = place_of(self.storage.place)
        self.buckets = buckets
        self.clock = NOW

    def use(self, place: str) -> None:
        """Another storage, such as that of a bucket."""
        self.storage = open_storage(place)
        self.cycle = Cycle(self.storage, host="a")
        self.place = place_of(place)

    @property
    def newest(self) -> CycleVersion:
        return self.cycle.newest()

    def add(self, *rows: Row) -> CycleVersion:
        """Commit a version with these rows as `add` files."""
        return self.commit("add", "", rows)

    def set(self, group: str, *rows: Row) -> CycleVersion:
        """Commit a version with these rows as `set` files."""
        return self.commit("set", group, rows)

    def commit(self, kind: str, group: str, rows: Iterable[Row]) -> CycleVersion:
        parent = self.newest
        known = parent.tables.get(CRAWLDB)
        buckets = known.buckets if known else self.buckets
        files = list(self._files(parent.number + 1, kind, group, rows, buckets))
        return self.cycle.commit(
            parent,
            CycleChanges(
                step="inject",
                clock=self.clock,
                added={CRAWLDB: files},
                buckets={CRAWLDB: buckets},
            ),
        )

    def _files(
        self, number: int, kind: str, group: str, rows: Iterable[Row], buckets: int
    ) -> Iterable[TableFile]:
        found: dict[int, list[Row]] = {}
        for one in rows:
            found.setdefault(bucket_of(one["key"], buckets), []).append(one)
        schema = row.GROUPS[group] if group else row.ADD_SCHEMA
        for bucket, of in sorted(found.items()):
            ordered = sorted(of, key=lambda one: one["key"].encode())
            path = self.folder / "scratch.parquet"
            write_arrow(pa.Table.from_pylist(ordered, schema), path)
            file = publish(self.storage, path, FilePlan(CRAWLDB, bucket, kind, number, group))
            path.unlink()
            assert file is not None
            yield file

    def rows(self, version: CycleVersion | None = None) -> list[dict[str, Any]]:
        """The rows as readers see them, by key."""
        found: list[dict[str, Any]] = []
        with self.place.open() as work:
            for bucket in buckets_of(self.cycle, version or self.newest, CRAWLDB):
                local = local_bucket(self.storage, bucket, work.scratch)
                query = fold_query(*local, interval=INTERVAL)
                found += work.kernel.arrow(query).to_pylist()
        return sorted(found, key=lambda one: one["key"].encode())


def found(key: str, **more: Any) -> Row:
    """A row of an `add` file."""
    return {"key": key, "score": 1, "cash": 0, "inlinks": 1, "first_seen": 100, **more}


def fill(made: MadeCycle, table: str, rows: Iterable[Row], kind: str = "set") -> CycleVersion:
    """Commit a version with these rows in a table other than that of URLs.

    Its files have the columns of earlier versions, too.
    """
    parent, of = made.newest, KINDS[table]
    known = parent.tables.get(table)
    buckets = known.buckets if known else made.buckets
    groups: dict[int, list[Row]] = {}
    for one in rows:
        groups.setdefault(of.bucket(one[of.keys[0]], buckets), []).append(one)
    files = []
    for bucket, group in sorted(groups.items()):
        path = made.folder / "scratch.parquet"
        schema = of.schema()
        for name in of.gone:
            schema = schema.append(pa.field(name, pa.string()))
        ordered = pa.Table.from_pylist(group, schema).sort_by(
            [(key, "ascending") for key in of.keys]
        )
        write_arrow(ordered, path)
        file = publish(made.storage, path, FilePlan(table, bucket, kind, parent.number + 1))
        path.unlink()
        assert file is not None
        files.append(file)
    changes = CycleChanges(
        step="update", clock=made.clock, added={table: files}, buckets={table: buckets}
    )
    return made.cycle.commit(parent, changes)
