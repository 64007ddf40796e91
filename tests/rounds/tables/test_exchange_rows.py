"""Rows that go from a driver to tasks."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nacre.rounds.storage import open_storage
from nacre.rounds.tables import exchange_rows
from nacre.rounds.tables.exchange_rows import ExchangeFiles


def rows(first: int) -> pa.Table:
    numbers = [(first + n) % 256 for n in range(100)]
    return pa.table({"n": range(first, first + 100), "bucket": pa.array(numbers, pa.int32())})


def test_rows_wait_so_that_files_have_few_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(exchange_rows, "_HELD", rows(0).nbytes * 10)
    storage = open_storage(str(tmp_path / "c"))
    with ExchangeFiles(storage, "exchange/x", 256) as exchange:
        for number in range(50):
            exchange.add("a", rows(number * 100))
        exchange.add("b", rows(7))
        sent = exchange.send("a")
        files = {group: pq.ParquetFile(tmp_path / "c" / name) for group, name in sent.items()}
        assert sorted(sent) == list(range(64))
        assert max(file.num_row_groups for file in files.values()) == 1
        found = {
            (group, row["n"])
            for group, file in files.items()
            for row in file.read().to_pylist()
            if row["bucket"] // 4 == group
        }
        assert found == {(n % 256 // 4, n) for n in range(5000)}
        others = [pq.read_table(tmp_path / "c" / name) for name in exchange.send("b").values()]
        assert sum(one.num_rows for one in others) == 100
        exchange.remove()
    assert not (tmp_path / "c/exchange/x").exists()


def test_long_rows_are_in_short_row_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(exchange_rows, "_HELD", 100_000)
    lines = pa.array(["x" * 1_000] * 1_000)
    table = pa.table({"line": lines, "bucket": pa.array([0] * 1_000, pa.int32())})
    with ExchangeFiles(open_storage(str(tmp_path / "c")), "exchange/x", 1) as exchange:
        for start in range(0, 1_000, 50):
            exchange.add("a", table.slice(start, 50))
        read = pq.ParquetFile(tmp_path / "c" / exchange.send("a")[0])
    assert read.num_row_groups == 10
    assert read.read().num_rows == 1_000
