"""Conditions on rows: the columns of readers, and those of files as before."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from nacre.crawldb.conditions import READER_COLUMNS, READER_SQL
from nacre.crawldb.kernels import Kernel, UserSqlError
from nacre.crawldb.row import ONE, SCHEMA
from nacre.crawldb.select import SelectOptions, needed_columns, refuse, row_where, true_sql

NOW = 1_800_000_000_000
ROW: dict[str, Any] = {
    "key": "http://图书.test/a", "url": "http://图书.test/A", "status": 3, "fetch_time": NOW - 1000,
    "interval": 60, "fixed_interval": 30.5, "retries": 2, "modified": NOW - 5000,
    "signature": b"\xab\xcd", "last_status": 404, "last_time": NOW * 1000 - 7,
    "last_reason": "given-up", "evidence": b"e", "digest": "sha1:A", "framing": "chunked",
    "record_id": "urn:1", "warc_date": NOW * 1000, "etag": b'"x"', "last_modified": b"Mon",
    "length": 77, "mime": "text/html", "lang": "zh", "rules": 5, "leased": "s1", "leased_until": 9,
    "dup_of": "http://b.test/", "via": "http://c.test/", "path": "LL", "source": "http://d.test/",
    "md": [("a", "b")], "judged": 4, "score": Decimal(3 * ONE), "cash": Decimal(ONE // 2),
    "inlinks": 4, "depth": 3, "first_seen": 100, "last_inlink": NOW,
}  # fmt: skip


@pytest.mark.parametrize("column", READER_COLUMNS)
def test_bytes_of_servers_are_shown_whatever_they_are(column: str):
    hostile = {
        "etag": b'"\xff\x00\xed\xa0\x80"',
        "last_modified": b"\xff\xfe",
        "signature": b"\xff",
    }
    with Kernel(again=True) as kernel:
        kernel.load("seen", pa.Table.from_pylist([ROW, ROW | hostile], SCHEMA))
        found = kernel.rows(f"select {READER_SQL.get(column, column)} from seen")
    assert len(list(found)) == 2


def is_true(where: str, **more: Any) -> bool:
    with Kernel(again=True) as kernel:
        kernel.load("seen", pa.Table.from_pylist([ROW | more], SCHEMA))
        return refuse(kernel, "seen", SelectOptions(NOW, NOW, where=where), since=0).due == 1


@pytest.mark.parametrize(
    "where",
    [
        "url = 'http://图书.test/A' and URL <> key",
        "host = '图书.test' and host.errors is null and \"Host\" like '%test'",
        "cash = 0.5 and cash < 1 and score between 2.9 and 3.1",
        "score / cash = 6",
        "'书' <> '馆' and fetch_time < timestamp '2027-01-15 08:00:00'",
        "fetch_time < '2027-01-15 08:00:00' and year(fetch_time) = 2027",
        "last_time > modified and warc_date - last_time < interval 1 second",
        "etag is null or etag <> 'x' and last_modified <> 'y'",
        "signature = 'abcd' and etag = '\"x\"' and last_modified like 'M%'",
        "lower(status) = 'db_gone' and status in ('db_gone', 4)",
        "list_filter(['u'], lambda url: url = 'u') = ['u'] and url like '%A'",
        "case status when 'db_gone' then host = '图书.test' else false end",
    ],
)
def test_columns_are_those_of_readers(where):
    assert is_true(where)


@pytest.mark.parametrize(
    "where",
    [
        "fetch_time < 1800000000000 and fetch_time = 1799999999000",
        "fetch_time + interval * 1000 > 1800000000000",
        "fetch_time + interval * 1000 > last_time / 1000",
        "coalesce(modified, 0) > 0 and modified <> 0 and modified in (1799999995000, 5)",
        "nullif(leased_until, 9) is null and leased_until::BIGINT = 9 and leased_until < 3 * 4",
        "epoch_ms(fetch_time) < timestamp '2027-01-15 08:00:00'",
        "make_timestamp(warc_date) = timestamp '2027-01-15 08:00:00'",
        "cash = 2147483648 and cash / 4294967296.0 = 0.5 and cash::DOUBLE / pow(2, 32) < 1",
        "score > 4294967296 * 2 and score > 0",
        "hex(signature) = 'ABCD' and signature = unhex('abcd') and signature = '\\xAB\\xCD'",
        "decode(etag) = '\"x\"' and octet_length(etag) = 3 and etag = '\"x\"'::BLOB",
        "host['errors'] is null and struct_extract(host, 'errors') is null",
        "status = 3 and status % 2 = 1 and cast(status as INT) = 3",
        "case status when 2 then false when 3 then true end",
    ],
)
def test_conditions_over_columns_of_files_stay_valid(where):
    assert is_true(where)


@pytest.mark.parametrize(
    "where",
    [
        "fetch_time > make_date(2026, 1, 1) and make_date(2027, 1, 1) < fetch_time",
        "fetch_time < epoch_ms(1800000000000)",
        "last_time > make_timestamp(1700000000000000)",
        "last_time > make_timestamp(2026, 1, 1, 0, 0, 0.0)",
        "last_time > to_timestamp(1700000000)",
        "fetch_time between make_date(2026, 1, 1) and to_timestamp(1800000000)",
        "fetch_time - interval 30 day > '2026-01-01'",
        "date_add(fetch_time, interval 1 day) > timestamp '2026-01-01'",
        "fetch_time + to_days(1) > '2026-01-01' and status = 3",
        "time_bucket(interval 1 day, warc_date) > '2026-01-01'",
        "status[4:] = 'gone' and status[1] = 'd' and status[-4:-1] = 'gone'",
        "substr(status, 4) = 'gone' and left(status, 2) = 'db'",
        "split_part(host, '.', 1) = '图书' and split_part(url, '/', 3) = '图书.test'",
        "split_part(key, '/', 4) = 'a'",
    ],
)
def test_functions_of_constants_may_be_times_and_places(where):
    assert is_true(where)


@pytest.mark.parametrize(
    "where",
    [
        "fetch_time < epoch_ms(timestamp '2027-01-15 08:00:00')",
        "fetch_time < round(1.8e12) and fetch_time < 18 * 10 ** 11 and fetch_time < pow(10, 13)",
        "fetch_time >= abs(-5) and status = abs(-3) and status in (floor(3.2), 9)",
        "last_time > (1700000000000 * 1000)::BIGINT",
    ],
)
def test_functions_of_constants_may_be_numbers(where):
    assert is_true(where)


def test_a_page_that_was_never_modified_has_no_time_of_it():
    assert is_true("modified is null", modified=0)
    assert is_true("modified = 0", modified=0)
    assert not is_true("modified = 0")


def test_a_condition_over_two_kinds_of_the_same_column():
    assert is_true("fetch_time < 1800000000000 and fetch_time < timestamp '2027-01-15 08:00:00'")


def test_only_columns_of_files_are_read():
    options = SelectOptions(NOW, NOW, where="url like '%a' and host = 'a.test'")
    with Kernel(again=True) as kernel:
        needed = needed_columns(kernel, options, ())
    assert {"key", "url"} <= set(needed)
    assert not {"host", "score", "via"} & set(needed)


def test_an_error_is_that_of_the_condition_as_it_was_written():
    with Kernel(again=True) as kernel:
        with pytest.raises(
            UserSqlError, match=r"year\(\[fetch_time\]\).*columns: key, url, host,"
        ) as said:
            row_where(kernel, "year([fetch_time]) = 1")
        assert "epoch_ms" not in str(said.value).partition("columns:")[2]
        with pytest.raises(UserSqlError, match="nothing"):
            row_where(kernel, "nothing = 1 and cash > 1")


def literal(value: Any) -> str:
    if isinstance(value, datetime):
        return (
            f"timestamp '{value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value}'"
        )
    if isinstance(value, bytes):
        return "'" + "".join(f"\\x{one:02X}" for one in value) + "'::BLOB"
    if isinstance(value, list):
        return "MAP {" + ", ".join(f"'{name}': '{said}'" for name, said in value) + "}"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return repr(value)


@pytest.mark.parametrize("name", READER_COLUMNS)
def test_every_column_has_the_value_that_readers_show(name):
    """Each is compared with what a reader shows of it, in three ways."""
    with Kernel(again=True) as kernel:
        refused = {"excluded": "f:1", "purged": 9, "seed_md": [("c", "d")]}
        table = pa.Table.from_pylist(
            [ROW | refused, {"key": "http://b.test/", "status": 1}], SCHEMA
        )
        kernel.load("seen", table)
        shown = ", ".join(f'{READER_SQL.get(one, one)} as "{one}"' for one in READER_COLUMNS)
        kernel.execute(f"create or replace temp table shown as select {shown} from seen")
        [value] = kernel.rows(f"select \"{name}\" from shown where key = '{ROW['key']}'")[0]
        compared = (f'"{name}" = {literal(value)}', f'"{name}" is null', f'"{name}" is not null')
        for where in compared:
            meant = row_where(kernel, where)
            asked = f"select key from seen where {true_sql(meant)} order by key"
            expected = f"select key from shown where {true_sql(where)} order by key"
            assert kernel.rows(asked) == kernel.rows(expected), where
        kernel.execute("drop table shown")
