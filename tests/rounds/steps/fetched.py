"""Segments that were fetched and updated, made of what a test says of their visits."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from nacre.crawldb import facts, row
from nacre.crawldb.row import bucket_of
from nacre.machine.layout import Layout
from nacre.rounds.engine.local import LocalEngine
from nacre.rounds.steps.context import StepContext
from nacre.rounds.tables.versions import CycleChanges, SegmentState
from nacre.settings.load import load_job
from tests.rounds.made import BUCKETS, NOW, MadeCycle

Said = Mapping[str, Any]


class FetchedCycle(MadeCycle):
    """A cycle with segments.

    Args:
        folder: The directory of the job.
        buckets: Number of buckets.
    """

    def __init__(self, folder: Path, buckets: int = BUCKETS) -> None:
        super().__init__(folder, buckets)
        (folder / "crawl.yaml").write_text("name: x\nseeds: []\n")

    def visit(self, name: str, *visits: Said, links: list[Said] | None = None) -> None:
        """Commit a segment with these visits, whose lists have what is known of their keys.

        A visit has `key`, `status`, `signature`; its state is in the CrawlDb afterwards.
        """
        known = {one["key"]: one for one in self.rows()}
        listed = [known[one["key"]] for one in visits if one["key"] in known]
        self._put(f"lists/{name}/u0001", listed, row.SCHEMA, f"segments/{name}/lists/u0001.parquet")
        part = f"segments/{name}/parts/u0001/1-001"
        time = (self.clock + 1) * 1000
        rows = [{"bucket": self._of(one["key"]), "time": time, **one} for one in visits]
        self._put("visits", rows, facts.VISITS, f"{part}/visits.parquet")
        found = [{"bucket": self._of(one["dst"]), **one} for one in links or []]
        self._put("links", found, facts.LINKS, f"{part}/links.parquet")
        state = SegmentState(
            state="fetched", units=1, urls=len(visits), parts={"u0001": [part]}, until=NOW
        )
        changes = CycleChanges(step="fetch", clock=self.clock, segments={name: state})
        self.cycle.commit(self.newest, changes)
        self._update(name, visits, known)

    def _update(self, name: str, visits: tuple[Said, ...], known: Mapping[str, Said]) -> None:
        states = []
        for one in visits:
            status = {200: 2, 304: 6, 404: 3}[one["status"]]
            old = known.get(one["key"], {})
            kept = old.get("signature") if status != 2 else one.get("signature")
            states.append(
                {
                    "key": one["key"],
                    "status": status,
                    "signature": kept,
                    "fetch_time": self.clock,
                    "last_time": (self.clock + 1) * 1000,
                }
            )
        self.set("state", *states)
        self.set("duplicate", *({"key": one["key"]} for one in visits))
        state = msgspec.structs.replace(self.newest.segments[name], state="updated")
        changes = CycleChanges(step="update", clock=self.clock, segments={name: state})
        self.cycle.commit(self.newest, changes)

    def _of(self, key: str) -> int:
        return bucket_of(key, self.buckets)

    def _put(self, mark: str, rows: Sequence[Said], schema: pa.Schema, name: str) -> None:
        path = self.folder / f"{mark.replace('/', '-')}.parquet"
        order = sorted(rows, key=lambda one: (one.get("bucket", 0), one.get("key", "")))
        pq.write_table(pa.Table.from_pylist(order, schema), path)
        self.storage.upload(path, name)
        path.unlink(missing_ok=True)

    @contextmanager
    def context(self, *, dry: bool = False, **cycle: Any) -> Iterator[StepContext]:
        """The context of a step, with settings of `cycle`."""
        layout = Layout(self.folder)
        said = [f"cycle.{path.replace('__', '.')}={value}" for path, value in cycle.items()]
        engine = LocalEngine(1)
        yield StepContext(
            layout=layout,
            loaded=load_job(layout, said),
            cycle=self.cycle,
            engine=engine,
            clock=self.clock,
            dry=dry,
        )
        engine.close()
