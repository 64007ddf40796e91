"""Selection against sort-and-scan in Python: refusals, caps, the exact top N, lists."""

import hashlib
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.crawldb.hosts import host_schema
from nacre.crawldb.kernels import Kernel, UserSqlError
from nacre.crawldb.limits import load_limits, read_limits
from nacre.crawldb.row import SCHEMA
from nacre.crawldb.select import (
    REASONS,
    Bracket,
    OrderPoints,
    Place,
    SelectOptions,
    bracket,
    check_cap,
    check_hosts,
    names_rank,
    needed_columns,
    number_candidates,
    order_points,
    refuse,
    row_where,
)
from tests.examples import examples

NOW = 1_800_000_000_000


def tie(key: str) -> int:
    return int.from_bytes(hashlib.md5(key.encode()).digest()[8:], "little")


def row(key: str, **more: Any) -> dict[str, Any]:
    plain = {
        "key": key, "status": 1, "fetch_time": NOW - 1, "interval": 60, "retries": 0,
        "modified": 0, "score": 0, "cash": 0, "inlinks": 0, "first_seen": 5,
    }  # fmt: skip
    return plain | more


def loaded(kernel: Kernel, rows: list[dict[str, Any]]) -> None:
    kernel.load("seen", pa.Table.from_pylist(rows, SCHEMA))


def refused(options: SelectOptions, **more: Any) -> dict[str, int]:
    with Kernel(again=True) as kernel:
        loaded(kernel, [row("http://a.example/", **more)])
        counts = refuse(kernel, "seen", options, since=0)
    assert counts.known == 1
    assert counts.due == 1 - sum(counts.refused.values())
    return counts.refused


@pytest.mark.parametrize(
    ("options", "more", "reason"),
    [
        ({}, {}, None),
        ({}, {"excluded": "regex-urlfilter.txt:12"}, "rules"),
        ({}, {"fetch_time": NOW + 1}, "schedule"),
        ({}, {"fetch_time": NOW}, None),
        ({"interval_max": 60}, {"fetch_time": NOW + 60_001}, None),
        ({"interval_max": 60}, {"fetch_time": NOW + 60_000}, "schedule"),
        ({}, {"leased": "s1", "leased_until": NOW + 1}, "lease"),
        ({}, {"leased": "s1", "leased_until": NOW}, None),
        ({"where": "status = 2"}, {}, "where"),
        ({"where": "status = 1"}, {}, None),
        ({"where": "lang = 'zh'"}, {}, "where"),  # null is not true
        ({"where": "md['主题'] = '书'"}, {"md": [("主题", "书")]}, None),
        ({"status": 2}, {}, "status"),
        ({"min_sort": 10.0}, {"score": 9}, "score"),
        ({"min_sort": 0.1, "sort": "score / 100.0"}, {"score": 10}, None),
        ({"max_interval": 59}, {}, "interval"),
        ({"max_interval": 60}, {}, None),
        # The order of the tests.
        ({"status": 2}, {"fetch_time": NOW + 1}, "schedule"),
        ({"where": "false", "status": 2}, {}, "where"),
    ],
)
def test_refusals_in_the_order_of_nutch(options, more, reason):
    found = refused(SelectOptions(NOW, NOW, **options), **more)
    assert found == ({reason: 1} if reason else {})
    assert set(found) <= set(REASONS)


def test_counts_of_a_bucket():
    rows = [
        row("http://a.example/1", excluded="f:1"),
        row("http://a.example/2", excluded="f:1", first_seen=9),
        row("http://a.example/3", fetch_time=NOW + 7, first_seen=9),
        row("http://a.example/4", fetch_time=NOW + 8),
        row("http://a.example/5"),
    ]
    with Kernel(again=True) as kernel:
        loaded(kernel, rows)
        counts = refuse(kernel, "seen", SelectOptions(NOW, NOW), since=8)
    assert counts == (5, 2, 1, {"rules": 2, "schedule": 2}, {"f:1": 2}, NOW + 7)


def test_a_host_with_urls_in_another_list_is_left_out():
    rows = [
        row("http://a.example/1", leased="s1", leased_until=NOW + 1),
        row("http://a.example/2"),
        row("http://a.example/3", fetch_time=NOW + 5),
        row("http://b.example/", leased="s1", leased_until=NOW),
    ]
    with Kernel(again=True) as kernel:
        loaded(kernel, rows)
        counts = refuse(kernel, "seen", SelectOptions(NOW, NOW), since=8)
        left = kernel.rows("select key from candidates")
    assert counts.refused == {"lease": 1, "host": 1, "schedule": 1}
    assert left == [("http://b.example/",)]


def known_hosts(kernel: Kernel, **failures: int) -> None:
    rows = [{"host": f"{name}.example", "dns_failures": count} for name, count in failures.items()]
    kernel.load("hosts", pa.Table.from_pylist(rows, host_schema()))


def test_a_condition_on_hosts():
    options = SelectOptions(NOW, NOW, where="coalesce(host.dns_failures, 0) < 3 and status = 1")
    with Kernel(again=True) as kernel:
        loaded(kernel, [row("http://a.example/"), row("http://b.example/"), row("http://c.test/")])
        assert refuse(kernel, "seen", options, since=0).due == 3, "nothing is known of hosts"
        known_hosts(kernel, a=3, b=2)
        assert refuse(kernel, "seen", options, 0, "hosts").refused == {"where": 1}


def test_ranks_are_asked_for_only_by_who_names_them():
    options = SelectOptions(NOW, NOW, where="host.delay > 1", cap_where="host.fetched")
    with Kernel(again=True) as kernel:
        assert not names_rank(kernel, SelectOptions(NOW, NOW))
        assert not names_rank(kernel, options)
        assert names_rank(kernel, options._replace(where="host.Rank > 1"))
        assert names_rank(kernel, options._replace(cap_where="host['rank']"))
        row_where(kernel, "host.rank > 1")
        check_cap(kernel, "host.rank * 2")
        check_hosts(kernel, "rank > 1")
        with pytest.raises(UserSqlError, match=r"host\.time, host\.rank"):
            check_cap(kernel, "host.ranks")


def first_list(
    options: SelectOptions, rows: list[dict[str, Any]], limits: str = "", **hosts: int
) -> list[str]:
    with Kernel(again=True) as kernel:
        loaded(kernel, rows)
        known_hosts(kernel, **hosts)
        load_limits(kernel, read_limits(limits))
        refuse(kernel, "seen", options._replace(limits=bool(limits)), 0, "hosts")
        table = number_candidates(kernel, options._replace(limits=bool(limits)), [])
        kept = kernel.rows(f"select key from {table} order by key")
    return [key.removeprefix("http://") for (key,) in kept]


MANY = [row(f"http://{host}/{n}", score=n) for host in
        ("a.example", "b.example", "www.b.example", "c.test") for n in range(3)]  # fmt: skip


def test_the_cap_of_a_host_follows_what_is_known_of_it():
    options = SelectOptions(
        NOW,
        NOW,
        max_count=2,
        cap_where="case when host.dns_failures > 3 then host.dns_failures - 4 end",
    )
    assert first_list(options, MANY, a=9, b=4, c=1) == [
        "a.example/0", "a.example/1", "a.example/2",
        "c.test/1", "c.test/2", "www.b.example/1", "www.b.example/2",
    ]  # fmt: skip


def test_the_largest_of_the_hosts_of_a_domain_counts():
    options = SelectOptions(NOW, NOW, cap_by="domain", max_count=1, cap_where="host.dns_failures")
    kept = first_list(options, MANY, a=2)
    assert [key for key in kept if key.startswith("a.")] == ["a.example/1", "a.example/2"]
    assert len([key for key in kept if "b.example" in key]) == 1


@pytest.mark.parametrize(
    ("limits", "kept"),
    [
        ("b.example\t4", 4 + 3 + 3),
        ("b.example\t\t1", 3 + 3 + 3),
        ("b.example\t\t\t1", 2 + 3 + 3),
        ("b.example\t1\t-1\t2\na.example\t0", 1 + 0 + 3),
        ("B.Example\t9\n# all\nb.example\t2", 2 + 3 + 3),
    ],
)
def test_limits_of_domains(limits, kept):
    assert len(first_list(SelectOptions(NOW, NOW), MANY, limits)) == kept


def test_of_the_hosts_of_a_domain_those_with_the_best_urls_are_kept():
    rows = [row("http://www.b.example/", score=9), *MANY]
    kept = first_list(SelectOptions(NOW, NOW, max_count=2), rows, "b.example\t\t1")
    assert [key for key in kept if "b.example" in key] == ["www.b.example/", "www.b.example/2"]


@pytest.mark.parametrize("text", ["a\tmany", "a\t1\t2\t3\t4", "a\t-7"])
def test_a_line_that_is_no_limit_is_named(text):
    with pytest.raises(ValueError, match="line 2"):
        read_limits(f"# domain urls\n{text}\n")


def test_columns_that_are_needed():
    options = SelectOptions(NOW, NOW, where="length > 5 and host.errors = 0")
    with Kernel(again=True) as kernel:
        needed = needed_columns(kernel, options, ("cash",))
    assert {"key", "cash", "length", "status"} <= set(needed)
    assert not {"url", "via", "md", "host"} & set(needed)


def test_what_hosts_have_is_named_where_it_is_misspelt():
    with Kernel(again=True) as kernel:
        check_cap(kernel, "case when host.dns_failures > 3 then 0 end")
        row_where(kernel, "host.homepage is not null and status = 1")
        for check in (check_cap, row_where):
            with pytest.raises(UserSqlError, match=r"host\.dns_failures"):
                check(kernel, "host.dns_failure > 3")


@pytest.mark.parametrize("text", ["1 = ", "nothing = 1", "1; drop table seen", "(select 1)"])
def test_a_condition_that_is_none(text):
    with Kernel(again=True) as kernel, pytest.raises(UserSqlError):
        row_where(kernel, text)


@pytest.mark.parametrize("text", ["1 = ", "status = = 3", "statu = 3"])
def test_a_condition_that_is_none_is_told_with_the_columns(text):
    with Kernel(again=True) as kernel, pytest.raises(UserSqlError, match=r"score.*host\.visits"):
        row_where(kernel, text)


def test_a_condition_that_is_one():
    with Kernel(again=True) as kernel:
        translated = row_where(kernel, "score > 3 and md['a'] = 'b' and status = 1 -- as Nutch")
        assert translated.endswith(" > 3 and md['a'] = 'b' and status = 1 -- as Nutch")
        assert "score::DOUBLE" in translated
        unchanged = "length(lower(key)) > 3 and coalesce(lang, 'zh') in ('zh', 'en')"
        assert row_where(kernel, unchanged) == unchanged


@pytest.mark.parametrize(
    ("where", "passes"),
    [
        ("status = 'db_fetched'", True),
        ("""'书' <> '馆' and "status" in ('db_gone', 'db_fetched') and status = 2""", True),
        ("Status like 'db_f%' and not status > 2", True),
        ("status <> 'db_fetched'", False),
        ("status in ('db_gone', 2)", True),
        ("status not in ('db_gone', 2)", False),
        ("'书' <> '馆' and status in (3.0, 'db_orphan', 2)", True),
        ("status in ('db_gone', 4)", False),
        ("status = 'db_gone' or status = 2", True),
        ("status > 0 and status < 77", True),
        ("case status when 'db_fetched' then true end", True),
    ],
)
def test_a_status_has_a_number_and_a_name(where, passes):
    with Kernel(again=True) as kernel:
        row_where(kernel, where)
    assert refused(SelectOptions(NOW, NOW, where=where), status=2) == (
        {} if passes else {"where": 1}
    )


def test_a_status_that_does_not_exist_is_told_with_those_that_do():
    with Kernel(again=True) as kernel:
        with pytest.raises(UserSqlError, match=r"no status 'fetched'; .* db_fetched \(2\)"):
            row_where(kernel, "status in ('fetched')")
        for wrong in ("status in ('db_gone', 77)", "77 = status", "status <> 77", "status = 2.5"):
            with pytest.raises(UserSqlError, match=r"no status (77|2\.5); .* db_fetched \(2\)"):
                row_where(kernel, wrong)
        with pytest.raises(UserSqlError, match="nothing") as told:
            row_where(kernel, "status = 'db_gone' and nothing = 1")
    assert "case" not in str(told.value)


KERNELS = [Kernel(), Kernel()]
"""They take long to open."""


def test_a_key_of_a_million_characters_is_a_row_like_others(tmp_path):
    with Kernel(100_000_000, scratch=str(tmp_path)) as kernel:
        loaded(kernel, [row("http://a.example/" + "书" * 10**6), row("http://a.example/", score=1)])
        counts = refuse(kernel, "seen", SelectOptions(NOW, NOW, max_count=1), since=0)
        table = number_candidates(kernel, SelectOptions(NOW, NOW, max_count=1), ())
        assert kernel.rows(f"select key from {table}") == [("http://a.example/",)]
    assert counts.due == 2


def test_a_sort_value_that_is_no_number_goes_last():
    options = SelectOptions(
        NOW, NOW, sort="case inlinks when 1 then 'nan'::DOUBLE when 2 then 'inf' else 1 end"
    )
    with Kernel(again=True) as kernel:
        loaded(kernel, [row(f"http://a.example/{n}", inlinks=n) for n in range(4)])
        refuse(kernel, "seen", options, since=0)
        found = dict(kernel.rows("select key[-1:], sort from candidates"))
        points = order_points(kernel, number_candidates(kernel, options, ()), Bracket())
    assert found == {"0": 1.0, "1": 0.0, "2": 0.0, "3": 1.0}
    assert bracket([points], 2).is_exact


SCORES = st.integers(0, 6)
HOSTS = st.sampled_from(["a.example", "b.a.example", "c.test", "书.example"])
ROWS = st.lists(
    st.tuples(HOSTS, st.integers(0, 10**6), SCORES), max_size=60, unique_by=lambda r: r[1]
)


def by_hand(
    rows: list[dict[str, Any]], top: int, cap: int, domain: bool, lists: int
) -> list[set[str]]:
    """Sort all, then scan: what each list takes."""
    rest = sorted(rows, key=lambda r: (r["score"], tie(r["key"])), reverse=True)
    found = []
    for _ in range(lists):
        counts: dict[str, int] = {}
        taken: list[dict[str, Any]] = []
        for one in rest:
            host = one["key"].split("/")[2]
            name = "a.example" if domain and host.endswith("a.example") else host
            counts[name] = counts.get(name, 0) + 1
            if (not cap or counts[name] <= cap) and (not top or len(taken) < top):
                taken.append(one)
        found.append({one["key"] for one in taken})
        rest = [one for one in rest if one["key"] not in found[-1]]
    return found


def chosen(
    rows: list[dict[str, Any]], options: SelectOptions, top: int, lists: int, tasks: int
) -> list[set[str]]:
    """By the kernel, the rows spread over tasks by their hosts' domains."""
    kernels = KERNELS[:tasks]
    for number, kernel in enumerate(kernels):
        mine = [r for r in rows if ("a.example" in r["key"]) == (number == 0) or tasks == 1]
        loaded(kernel, mine)
        refuse(kernel, "seen", options, since=0)
    ends: list[Place | None] = []
    for _ in range(lists):
        tables = [number_candidates(kernel, options, ends) for kernel in kernels]
        ends.append(_end(kernels, tables, top))
    found: list[set[str]] = [set() for _ in range(lists)]
    for kernel in kernels:
        number_candidates(kernel, options, ends)
        for key, number in kernel.rows("select key, segment from chosen"):
            found[number].add(key)
    return found


def _end(kernels: list[Kernel], tables: list[str], top: int) -> Place | None:
    if not top:
        return None
    now = Bracket()
    for _ in range(20):
        asked = zip(kernels, tables, strict=True)
        looks = [order_points(kernel, table, now, points=4) for kernel, table in asked]
        now = bracket(looks, top, now)
        if now.is_exact:
            return now.lower
    raise AssertionError("the bracket does not close")


@examples(12)
@given(
    ROWS, st.integers(0, 12), st.integers(0, 4), st.booleans(), st.integers(1, 3), st.integers(1, 2)
)
def test_lists_are_those_of_sort_and_scan(given_rows, top, cap, domain, lists, tasks):
    rows = [row(f"http://{host}/{number}", score=score) for host, number, score in given_rows]
    cap_by = "domain" if domain else "host"
    options = SelectOptions(NOW, NOW, cap_by=cap_by, max_count=cap)
    assert chosen(rows, options, top, lists, tasks) == by_hand(rows, top, cap, domain, lists)


def look(values: list[int], now: Bracket, points: int) -> OrderPoints:
    above = [v for v in values if now.upper is not None and v > now.upper.sort]
    inside = [
        v
        for v in sorted(values, reverse=True)
        if (now.upper is None or v <= now.upper.sort) and (now.lower is None or v >= now.lower.sort)
    ]
    step = max(1, -(-len(inside) // points))
    ranks = [n for n in range(1, len(inside) + 1) if n % step == 0 or n == len(inside)]
    places = tuple(Place(inside[n - 1], 0) for n in ranks)
    return OrderPoints(len(above), len(inside), places, step)


@given(
    st.lists(st.sets(st.integers(0, 10**9), max_size=300), min_size=1, max_size=5),
    st.integers(1, 900),
    st.integers(8, 20),
)
def test_the_end_of_a_list_is_found_in_few_looks(tasks, wanted, points):
    values = [list(task - set().union(*tasks[:number])) for number, task in enumerate(tasks)]
    ranked = sorted((v for task in values for v in task), reverse=True)
    now = Bracket()
    looks = 0
    while not now.is_exact and looks < 40:
        looks += 1
        now = bracket([look(task, now, points) for task in values], wanted, now)
    expected = None if len(ranked) <= wanted else Place(ranked[wanted - 1], 0)
    assert now == Bracket(now.upper, expected, is_exact=True)
    assert looks <= 8
