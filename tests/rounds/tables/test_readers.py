"""Readers: numbers, rows and answers to SQL, as they are whatever the files are."""

import json

import pyarrow.parquet as pq
import pytest

from nacre.crawldb.kernels import UserSqlError
from nacre.crawldb.row import ONE
from nacre.errors import ConfigError
from nacre.rounds.engine.local import LocalEngine
from nacre.rounds.segments.compaction import compact
from nacre.rounds.tables.readers import (
    KnownCounts,
    RowFilter,
    TableView,
    count_known_urls,
    dump_rows,
    find_row,
    sql,
    table_stats,
    top_rows,
    versions_table,
)
from nacre.rounds.tables.row_files import plain_row, write_batches
from tests.rounds.made import INTERVAL, NOW, MadeCycle, found

DAY = 86_400_000
HOME, GONE, CHINESE = "http://a.test/", "http://a.test/gone", "http://国.test/图书馆?q=馆"


@pytest.fixture
def made(tmp_path):
    made = MadeCycle(tmp_path)
    made.add(
        found(HOME, score=ONE, first_seen=NOW, md={"k": "v'"}),
        found(GONE, score=ONE // 2, first_seen=NOW, via=HOME),
        found(CHINESE, score=3 * ONE, first_seen=NOW - DAY),
    )
    made.set(
        "state",
        {"key": HOME, "status": 2, "fetch_time": NOW + DAY, "interval": 60, "retries": 0,
         "modified": NOW, "signature": b"\xab"},
        {"key": GONE, "status": 3, "fetch_time": NOW + 2 * DAY, "interval": 90, "retries": 2},
    )  # fmt: skip
    return made


def view(made, workers=1):
    return TableView(made.cycle, made.newest, LocalEngine(workers), made.place, INTERVAL)


def test_known_urls_wait_until_they_are_fetched_or_excluded(made):
    assert count_known_urls(view(made)) == KnownCounts(3, 1)
    made.set("admission", {"key": CHINESE, "rules": 7, "excluded": "regex-urlfilter.txt:2"})
    made.add(found("http://b.test/"), found("http://a.test/new"))
    assert count_known_urls(view(made)) == KnownCounts(5, 2)
    compact(made.cycle, LocalEngine(1), made.place, NOW, keep=9)
    assert count_known_urls(view(made)) == KnownCounts(5, 2)


def test_before_the_first_seed_nothing_is_known(tmp_path):
    assert count_known_urls(view(MadeCycle(tmp_path))) == KnownCounts(0, 0)


def rows_of(batches):
    return [plain_row(row) for batch in batches for row in batch.to_pylist()]


def test_numbers_of_the_table(made):
    stats = table_stats(view(made), by_host=True)
    assert stats.total == 3
    assert stats.statuses == {"db_fetched": 1, "db_gone": 1, "db_unfetched": 1}
    assert stats.retries == {0: 2, 2: 1}
    assert list(stats.intervals) == [60, (60 + 90 + INTERVAL) / 3, INTERVAL]
    assert list(stats.fetch_times) == [NOW - DAY, NOW + 2 * DAY / 3, NOW + 2 * DAY]
    assert stats.scores == (0.5, 1.5, 3.0)
    assert stats.quantiles[0.01] == 0.5
    assert stats.quantiles[0.5] == 1.0
    assert stats.quantiles[0.99] == 3.0
    assert stats.hosts == {
        "a.test": {"db_fetched": 1, "db_gone": 1},
        "国.test": {"db_unfetched": 1},
    }
    compact(made.cycle, LocalEngine(1), made.place, NOW, keep=3, buckets=16)
    assert table_stats(view(made), by_host=True) == stats


def test_numbers_of_nothing(tmp_path):
    stats = table_stats(view(MadeCycle(tmp_path)))
    assert (stats.total, stats.statuses, stats.scores, stats.quantiles) == (0, {}, (0, 0, 0), {})


def test_several_processes_read_the_same(made):
    two = view(made, workers=2)
    try:
        assert table_stats(two) == table_stats(view(made))
    finally:
        two.engine.close()


def test_one_row(made):
    row = find_row(view(made), GONE, GONE)
    assert row is not None
    assert row["status"] == "db_gone"
    assert row["via"] == HOME
    assert row["score"] == 0.5
    assert row["fetch_time"] == "2027-01-17T08:00:00Z"
    assert row["modified"] is None
    home = find_row(view(made), HOME, HOME)
    assert home is not None
    assert (home["signature"], home["md"], home["host"]) == ("ab", {"k": "v'"}, "a.test")
    assert find_row(view(made), "http://a.test/'", "http://a.test/'") is None


def test_the_best_scores(made):
    assert top_rows(view(made), 2) == [(3.0, CHINESE), (1.0, HOME)]
    assert top_rows(view(made), 9, 0.6) == [(3.0, CHINESE), (1.0, HOME)]
    assert top_rows(view(made), 9, 1e300) == []
    assert len(top_rows(view(made), 10**20)) == 3
    for wrong in ("nan", "inf", "-inf"):
        with pytest.raises(ConfigError, match=r"--min .*: it is a score"):
            top_rows(view(made), 2, float(wrong))


@pytest.mark.parametrize(
    ("wanted", "keys"),
    [
        (RowFilter(), [HOME, GONE, CHINESE]),
        (RowFilter(status="gone"), [GONE]),
        (RowFilter(status="3"), [GONE]),
        (RowFilter(status="db_fetched", where="score > .5"), [HOME]),
        (RowFilter(regex=r"http://a\.test/.*"), [HOME, GONE]),
        (RowFilter(regex=r"a\.test"), []),
        (RowFilter(regex=r".*图书馆.*'?"), [CHINESE]),
        (RowFilter(where="host = '国.test' -- or true"), [CHINESE]),
        (RowFilter(where="fetch_time < timestamp '2027-01-16'"), [HOME, CHINESE]),
        (RowFilter(retries=2), [GONE]),
        (RowFilter(retries=2, where="true) or (true"), [GONE]),
        (RowFilter(where="status = 3"), [GONE]),
        (RowFilter(where="status = 'db_gone'"), [GONE]),
        (RowFilter(where="3 = \"Status\" or key = '书'"), [GONE]),
        (RowFilter(where="status in (2, 3) and not status between 3 and 9"), [HOME]),
        (RowFilter(where="status in ('db_gone', 4)"), [GONE]),
        (RowFilter(where="status not in (3, 'db_fetched')"), [CHINESE]),
        (RowFilter(where="status = 'db_gone' or status = 2"), [HOME, GONE]),
        (RowFilter(where="status % 2 = 1 and lower(status) = 'db_gone'"), [GONE]),
        # What fails on a row is not true of it.
        (RowFilter(where="md['k']::INTEGER > 1"), []),
        (RowFilter(where="md['k']"), []),
    ],
)
@pytest.mark.slow
def test_rows_that_pass_a_filter(made, wanted, keys):
    found_keys = [row["key"] for row in rows_of(dump_rows(view(made), wanted))]
    if wanted.where.startswith("fetch_time"):
        keys = [CHINESE, HOME] if NOW + DAY < 1_800_057_600_000 else [CHINESE]
    assert sorted(found_keys) == sorted(keys)


def test_a_sample_is_the_same_every_time(tmp_path):
    made = MadeCycle(tmp_path)
    made.add(*(found(f"http://a.test/{number}") for number in range(400)))
    one = rows_of(dump_rows(view(made), RowFilter(sample=0.25)))
    compact(made.cycle, LocalEngine(1), made.place, NOW, keep=3)
    assert rows_of(dump_rows(view(made), RowFilter(sample=0.25))) == one
    assert 60 < len(one) < 140


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (RowFilter(where="scor > 1"), r"scor.*columns: key, url, host"),
        (RowFilter(where="score >"), "syntax error"),
        (RowFilter(where="exists(select 1 from read_csv('/etc/passwd'))"), "query in it"),
        (RowFilter(where="true)) or ((true"), "syntax"),
        (RowFilter(where="status = 'gone'"), r"no status 'gone'; one of: .*db_gone \(3\)"),
        (RowFilter(where="status = 77"), r"no status 77; one of: .*db_gone \(3\)"),
        (RowFilter(status="77"), r"no status '77'; one of: .*db_gone \(3\)"),
        (RowFilter(regex="(a"), "missing|paren"),
        (RowFilter(status="dead"), "--status: there is no status 'dead'"),
        (RowFilter(sample=0), "--sample 0"),
    ],
)
def test_a_filter_that_is_wrong_is_told_before_anything_is_read(made, wanted, message):
    with pytest.raises((UserSqlError, ConfigError), match=message):
        next(dump_rows(view(made), wanted))


def test_rows_in_files(made, tmp_path):
    for suffix in (".parquet", ".csv", ".jsonl"):
        target = tmp_path / f"rows{suffix}"
        assert write_batches(dump_rows(view(made), RowFilter()), target) == 3
        assert not target.with_name(f".{target.name}.new").exists()
    assert pq.read_table(tmp_path / "rows.parquet").num_rows == 3
    lines = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    assert {line["key"] for line in lines} == {HOME, GONE, CHINESE}
    assert next(line for line in lines if line["key"] == HOME)["md"] == {"k": "v'"}
    text = (tmp_path / "rows.csv").read_text()
    assert text.startswith("key,url,host,status")
    assert CHINESE in text
    with pytest.raises(ConfigError, match=r"ends with \.parquet, \.csv, \.jsonl"):
        write_batches([], tmp_path / "rows.xls")
    for suffix in (".parquet", ".csv", ".jsonl"):
        with pytest.raises(ConfigError, match=r"none/x.* cannot be written: No such file"):
            write_batches(dump_rows(view(made), RowFilter()), tmp_path / f"none/x{suffix}")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(ConfigError, match="cannot be written: Is a directory"):
        write_batches([], tmp_path / "folder.csv")
    assert not (tmp_path / ".folder.csv.new").exists()


def test_sql_over_all_tables(made):
    query = "select host, count(*) n from crawldb where status = 'db_gone' group by 1"
    with sql(view(made), query) as (columns, batches):
        assert columns == ["host", "n"]
        assert rows_of(batches) == [{"host": "a.test", "n": 1}]
    with sql(view(made), "select version, step from versions order by version") as (_, batches):
        assert rows_of(batches) == [
            {"version": 1, "step": "inject"},
            {"version": 2, "step": "inject"},
        ]


@pytest.mark.parametrize(
    "query",
    [
        "drop view crawldb",
        "select 1; select 2",
        "copy crawldb to '/tmp/x.csv'",
        "set memory_limit = '9GB'",
        "attach '/tmp/x.db'",
        "selec 1",
    ],
)
def test_sql_only_reads(made, query):
    with pytest.raises(UserSqlError), sql(view(made), query) as (_, batches):
        list(batches)


def test_sql_reads_no_other_files(made):
    from nacre.crawldb.kernels import KernelError  # noqa: PLC0415 - beside its use

    with (
        pytest.raises((KernelError, UserSqlError), match=r"(?i)permission|disabled"),
        sql(view(made), "select * from read_text('/etc/passwd')") as (_, batches),
    ):
        list(batches)


def test_versions_as_a_table(made):
    rows = versions_table(made.cycle).to_pylist()
    assert [row["version"] for row in rows] == [1, 2]
