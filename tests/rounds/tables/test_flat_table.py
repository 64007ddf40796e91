"""The flat table: one row a URL, in plain units, and only what changed is written again."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest

from nacre.crawldb.conditions import READER_COLUMNS
from nacre.crawldb.row import ONE
from nacre.errors import ConfigError, JobError
from nacre.rounds.engine.local import LocalEngine
from nacre.rounds.segments.compaction import compact
from nacre.rounds.tables.flat_table import STATE, export_flat
from nacre.rounds.tables.readers import TableView, sql
from tests.rounds.made import INTERVAL, NOW, MadeCycle, found

HOME, CHINESE = "http://a.test/", "http://国.test/图书馆"


@pytest.fixture
def made(tmp_path: Path) -> MadeCycle:
    made = MadeCycle(tmp_path / "c", 4)
    made.folder.mkdir()
    made.add(
        found(HOME, cash=ONE // 2, first_seen=NOW, md={"k": "v'"}),
        found(CHINESE, score=3 * ONE, first_seen=NOW),
        found("http://b.test/", first_seen=NOW),
    )
    made.set("state", {"key": HOME, "status": 2, "fetch_time": NOW, "signature": b"\xab"})
    return made


def view(made: MadeCycle) -> TableView:
    return TableView(made.cycle, made.newest, LocalEngine(1), made.place, INTERVAL)


def rows(folder: Path) -> dict[str, dict[str, Any]]:
    table = [row for path in folder.glob("*.parquet") for row in pq.read_table(path).to_pylist()]
    return {row["key"]: row for row in table}


def test_each_url_is_a_row_in_plain_units(made: MadeCycle, tmp_path: Path):
    folder = tmp_path / "flat"
    result = export_flat(view(made), folder)
    assert (result.version, result.rows, result.unchanged, result.removed) == (2, 3, 0, 0)
    flat = rows(folder)
    assert set(flat) == {HOME, CHINESE, "http://b.test/"}
    home = flat[HOME]
    assert tuple(home) == READER_COLUMNS
    assert (home["url"], home["host"], home["status"]) == (HOME, "a.test", "db_fetched")
    assert (home["cash"], home["signature"], json.loads(home["md"])) == (0.5, "ab", {"k": "v'"})
    assert home["fetch_time"] == datetime(2027, 1, 15, 8)  # noqa: DTZ001 - UTC, as `sql` has it
    assert flat[CHINESE]["score"] == 3.0
    with sql(view(made), "select * exclude (md, seed_md) from crawldb") as (_, batches):
        asked = {row["key"]: row for batch in batches for row in batch.to_pylist()}
    assert {
        key: {n: row[n] for n in row if n not in {"md", "seed_md"}} for key, row in flat.items()
    } == asked
    query = f"select status, count(*) from '{folder}/*.parquet' group by 1 order by 1"
    assert duckdb.connect().execute(query).fetchall() == [("db_fetched", 1), ("db_unfetched", 2)]


def test_only_buckets_that_changed_are_written_again(made: MadeCycle, tmp_path: Path):
    folder = tmp_path / "flat"
    files = export_flat(view(made), folder).written
    assert export_flat(view(made), folder)[2:] == (0, files, 0)
    made.set("state", {"key": HOME, "status": 3, "fetch_time": NOW})
    assert export_flat(view(made), folder)[2:] == (1, files - 1, 0)
    assert rows(folder)[HOME]["status"] == "db_gone"
    one = next(folder.glob("*.parquet"))
    one.unlink()
    assert export_flat(view(made), folder).written == 1, "a file that is gone is made again"
    compact(made.cycle, LocalEngine(1), made.place, NOW, keep=1, buckets=1)
    result = export_flat(view(made), folder)
    assert (result.written, result.rows) == (1, 3)
    assert [path.name for path in folder.glob("*.parquet")] == ["b00000.parquet"]
    assert len(rows(folder)) == 3


class KilledEngine(LocalEngine):
    """Writes the files of an export, and ends before the export hears of it."""

    def map(self, *args: Any, **options: Any) -> Any:
        super().map(*args, **options)
        raise KeyboardInterrupt


def killed_view(made: MadeCycle) -> TableView:
    return view(made)._replace(engine=KilledEngine(1))


def test_an_export_that_was_killed_can_be_repeated(made: MadeCycle, tmp_path: Path):
    folder = tmp_path / "flat"
    with pytest.raises(KeyboardInterrupt):
        export_flat(killed_view(made), folder)
    assert list(folder.glob("*.parquet"))
    compact(made.cycle, LocalEngine(1), made.place, NOW, keep=1, buckets=1)
    assert export_flat(view(made), folder).rows == 3
    assert [path.name for path in folder.glob("*.parquet")] == ["b00000.parquet"]


def test_files_of_a_killed_export_are_not_taken_for_those_before(made: MadeCycle, tmp_path: Path):
    """The files show a newer version than the state did, which is then exported again."""
    folder, old = tmp_path / "flat", view(made)
    export_flat(old, folder)
    made.set("state", {"key": HOME, "status": 3, "fetch_time": NOW})
    with pytest.raises(KeyboardInterrupt):
        export_flat(killed_view(made), folder)
    assert export_flat(old, folder).written == 1
    assert rows(folder)[HOME]["status"] == "db_fetched"


def test_a_folder_has_the_table_of_one_storage(made: MadeCycle, tmp_path: Path):
    folder, other = tmp_path / "flat", MadeCycle(tmp_path / "d")
    other.folder.mkdir()
    other.add(found("http://z.test/", first_seen=NOW))
    export_flat(view(made), folder)
    with pytest.raises(ConfigError, match=r"has the table of .*c.*, not of .*d.*another folder"):
        export_flat(view(other), folder)
    assert set(rows(folder)) == {HOME, CHINESE, "http://b.test/"}
    state = json.loads((folder / STATE).read_bytes())
    (tmp_path / "link").symlink_to(tmp_path)
    moved = state["storage"].replace(str(tmp_path), str(tmp_path / "link"))
    (folder / STATE).write_text(json.dumps(state | {"storage": moved}))
    assert export_flat(view(made), folder).written == 0, "another path of the same storage"


def test_a_forgotten_url_is_no_row(made: MadeCycle, tmp_path: Path):
    made.set("purge", {"key": "http://b.test/", "purged": NOW})
    export_flat(view(made), tmp_path / "flat")
    assert set(rows(tmp_path / "flat")) == {HOME, CHINESE}


def test_files_of_others_are_left_alone(made: MadeCycle, tmp_path: Path):
    (tmp_path / "x.parquet").write_bytes(b"mine")
    with pytest.raises(ConfigError, match=r"no export made, such as x\.parquet"):
        export_flat(view(made), tmp_path)
    (tmp_path / "x.parquet").unlink()
    (tmp_path / STATE).write_text(
        '{"storage": "", "version": 1, "files": {"../x": {"made_of": "", "rows": 1}}}'
    )
    with pytest.raises(ConfigError, match=r"it names \.\./x"):
        export_flat(view(made), tmp_path)
    with pytest.raises(JobError, match="no table to export"):
        export_flat(view(MadeCycle(tmp_path / "empty")), tmp_path / "other")
