"""The flat table in Spark: the rows and columns that DuckDB has, whatever they hold."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest

from nacre.crawldb.conditions import READER_COLUMNS
from nacre.crawldb.row import ONE
from nacre.rounds.engine.local import LocalEngine
from nacre.rounds.tables.flat_table import export_flat
from nacre.rounds.tables.readers import TableView
from tests.rounds.made import INTERVAL, NOW, MadeCycle, found

pytestmark = pytest.mark.spark

_READ = """
import json, sys
from pyspark.sql import SparkSession
session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
rows = [row.asDict() for row in session.read.parquet(sys.argv[1]).collect()]
plain = lambda value: value.hex() if isinstance(value, bytes | bytearray) else str(value)
print(json.dumps(rows, default=plain))
"""
_LAST = 253_402_300_799_000
"""The last second of the year 9999, ms: a server may claim any time."""


def plain(value: object) -> str:
    return value.hex() if isinstance(value, bytes) else str(value)


def test_spark_reads_what_duckdb_reads(tmp_path: Path):
    made = MadeCycle(tmp_path / "c")
    made.folder.mkdir()
    md = {"k": '\0"\n', "国": "馆"}
    made.add(
        found(
            "http://国.test/图书馆", cash=-ONE // 3, score=2**62, first_seen=1, depth=65535, md=md
        ),
        *(found(f"http://h{number}.test/", first_seen=NOW) for number in range(6)),
    )
    made.set(
        "state",
        {
            "key": "http://h0.test/", "status": 2, "fetch_time": _LAST, "last_time": _LAST * 1000,
            "modified": -_LAST // 30, "signature": b"\0\xff", "evidence": b"\0\1\xff",
            "interval": 2**31 - 1, "retries": 255, "last_status": -32768,
        },
        {"key": "http://h1.test/", "status": 3, "fetch_time": 0},
    )  # fmt: skip
    folder = tmp_path / "flat"
    export_flat(TableView(made.cycle, made.newest, LocalEngine(1), made.place, INTERVAL), folder)
    done = subprocess.run(
        [sys.executable, "-c", _READ, str(folder)], capture_output=True, check=True, text=True
    )
    asked = duckdb.read_parquet(f"{folder}/*.parquet").to_arrow_table()
    expected: list[dict[str, Any]] = json.loads(json.dumps(asked.to_pylist(), default=plain))
    by_key = {row["key"]: row for row in json.loads(done.stdout)}
    assert by_key == {row["key"]: row for row in expected}
    assert {tuple(row) for row in by_key.values()} == {READER_COLUMNS}
    assert len(by_key) == 7
