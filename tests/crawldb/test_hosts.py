"""Host rows: visits add up, counts come from the CrawlDb."""

import pyarrow as pa
import pytest

from nacre.crawldb.hosts import (
    HOST_COLUMNS,
    LATENCIES,
    RANK,
    counted_hosts,
    host_schema,
    host_sql,
    latency_percentile,
    load_domains,
    no_hosts,
    ranked_hosts,
    visited_hosts,
)
from nacre.crawldb.kernels import Kernel
from nacre.crawldb.row import ONE, Status
from tests.crawldb.made import read

SUMS = [one.name for one in HOST_COLUMNS if one.source == "sum" and one.name != "latencies"]


@pytest.fixture
def kernel():
    with Kernel(again=True) as made:
        made.execute(f"create temp table old as {no_hosts()}")
        yield made


def seen(kernel, *rows):
    """What units saw, as a table `facts`."""
    names = [
        one for one in host_schema() if one.name in SUMS or one.name in {"host", "latencies"}
    ] + [host_schema().field(name) for name in ("latency", "backoff", "delay", "robots", "answer")]
    schema = pa.schema([*names, host_schema().field("time")])
    empty = {**dict.fromkeys(SUMS, 0), "latencies": [0] * LATENCIES}
    kernel.load("facts", pa.Table.from_pylist([{**empty, **row} for row in rows], schema))


def visited(kernel):
    found = visited_hosts("old", "facts")
    kernel.load("old", kernel.arrow(found))
    return {row["host"]: row for row in read(kernel, "from old")}


def test_a_table_without_rows_has_all_columns(kernel):
    assert kernel.columns("from old") == host_schema().names


def test_visits_add_up_and_the_newest_is_known(kernel):
    bins = [0] * LATENCIES
    bins[3] = 2
    seen(
        kernel,
        {"host": "a.test", "visits": 2, "errors": 1, "latencies": bins, "delay": 5.0, "time": 10},
        {"host": "a.test", "visits": 3, "replies": 3, "delay": 2.0, "robots": b"r", "time": 20},
        {"host": "国.test", "visits": 1, "time": 5},
    )
    first = visited(kernel)
    assert (first["a.test"]["visits"], first["a.test"]["errors"]) == (5, 1)
    assert (first["a.test"]["delay"], first["a.test"]["robots"]) == (2.0, b"r")
    assert first["a.test"]["latencies"][3] == 2
    seen(
        kernel,
        {"host": "a.test", "visits": 1, "replies": 1, "latencies": bins, "delay": 7.0, "time": 30},
    )
    second = visited(kernel)
    assert set(second) == {"a.test"}, "only hosts that were asked have new rows"
    assert second["a.test"]["visits"] == 6
    assert second["a.test"]["latencies"][3] == 4
    assert (second["a.test"]["delay"], second["a.test"]["time"]) == (7.0, 30)
    assert second["a.test"]["robots"] == b"r", "nothing newer is known of it"


def test_who_got_no_answer_learned_no_pace(kernel):
    pace = {"delay": 1.0, "latency": 12.0, "backoff": 1.0}
    seen(kernel, {"host": "a.test", "visits": 1, "replies": 1, **pace, "time": 10})
    visited(kernel)
    # All that was listed is what robots.txt forbids; or the host did not answer.
    nothing = {"delay": 0.0, "latency": 0.0, "backoff": 2.0}
    seen(kernel, {"host": "a.test", "visits": 1, "refused": 1, **nothing, "time": 20})
    found = visited(kernel)["a.test"]
    assert (found["delay"], found["latency"], found["backoff"]) == (1.0, 12.0, 2.0)
    seen(kernel, {"host": "a.test", "visits": 1, "missing": 1, **nothing, "time": 30})
    assert visited(kernel)["a.test"]["delay"] == 0.0


def test_urls_are_counted_by_status_and_the_rest_of_a_row_stays(kernel):
    seen(kernel, {"host": "a.test", "visits": 9, "time": 1})
    visited(kernel)
    statuses = [*Status, Status.FETCHED]
    rows = [
        {"key": f"http://a.test:8080/{number}" if number else "http://a.test/", "status": int(one)}
        for number, one in enumerate(statuses[::-1])
    ]
    rows.append({"key": "https://user@b.test", "status": 1})
    schema = pa.schema([("key", pa.string()), ("status", pa.uint8())])
    kernel.load("rows", pa.Table.from_pylist(rows, schema))
    found = {row["host"]: row for row in read(kernel, counted_hosts("old", "rows"))}
    one = found["a.test"]
    assert one["fetched"] == 2
    assert {one[name] for name in ("unfetched", "gone", "duplicate", "parse_failed")} == {1}
    assert (one["visits"], one["homepage"]) == (9, "http://a.test/")
    assert found["b.test"]["unfetched"] == 1
    assert "homepage" not in found["b.test"]


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://a.test/x?y", "a.test"),
        ("https://u:p@a.test:8443/", "a.test"),
        ("http://[2001:db8::1]:80/", "[2001:db8::1]"),
        ("http://a.test?x", "a.test"),
        ("http://xn--fiqs8s.cn#f", "xn--fiqs8s.cn"),
    ],
)
def test_the_host_of_a_url(kernel, url, host):
    assert kernel.value(f"select {host_sql('u')} from (select ? as u)", [url]) == host


def test_hosts_have_ranks_also_those_of_which_nothing_else_is_known(kernel):
    kernel.load("hosts", pa.Table.from_pylist([{"host": "a", "visits": 3}], host_schema()))
    kernel.execute(
        f"create temp table ranks as from (values ('b', {ONE // 2}::BIGINT), "
        f"('a', {3 * ONE}::BIGINT)) t(node, rank)"
    )
    rows = kernel.arrow(f"{ranked_hosts('hosts', 'ranks')} order by host").to_pylist()
    assert [(row["host"], row["visits"], row["rank"]) for row in rows] == [
        ("a", 3, 3.0),
        ("b", None, 0.5),
    ]
    assert list(rows[0]) == [*host_schema().names, RANK.name]
    only = kernel.rows(
        f"select host, rank from ({ranked_hosts('hosts', 'ranks', add_hosts=False)})"
    )
    assert only == [("a", 3.0)]


def test_latencies_have_percentiles(kernel):
    kernel.execute(
        f"create temp table bins as select list_value({', '.join('0' * LATENCIES)}) as b"
    )
    assert kernel.value(f"select {latency_percentile(0.5, 'b')} from bins") is None
    kernel.execute("create or replace temp table bins as select [0, 5, 0, 4, 1] as b")
    found = [kernel.value(f"select {latency_percentile(x, 'b')} from bins") for x in (0.5, 0.9, 1)]
    assert found == [4, 16, 32]


def test_domains_of_hosts(kernel):
    load_domains(kernel, "domains", ["www.a.co.uk", "127.0.0.1", ""])
    assert kernel.rows("from domains") == [
        ("www.a.co.uk", "a.co.uk"),
        ("127.0.0.1", "127.0.0.1"),
        ("", ""),
    ]
