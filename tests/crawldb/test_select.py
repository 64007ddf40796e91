"""Selection against sort-and-scan in Python: refusals, caps, the exact top N, lists."""

import hashlib
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nacre.crawldb.kernels import Kernel, UserSqlError
from nacre.crawldb.row import SCHEMA
from nacre.crawldb.select import (
    REASONS,
    Bracket,
    OrderPoints,
    Place,
    SelectOptions,
    bracket,
    check_where,
    number_candidates,
    order_points,
    refuse,
)

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
    with Kernel() as kernel:
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
    found = refused(SelectOptions(NOW, **options), **more)
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
    with Kernel() as kernel:
        loaded(kernel, rows)
        counts = refuse(kernel, "seen", SelectOptions(NOW), since=8)
    assert counts == (5, 2, 1, {"rules": 2, "schedule": 2}, {"f:1": 2}, NOW + 7)


@pytest.mark.parametrize("text", ["1 = ", "nothing = 1", "1; drop table seen", "(select 1)"])
def test_a_condition_that_is_none(text):
    with Kernel() as kernel, pytest.raises(UserSqlError):
        check_where(kernel, text)


def test_a_condition_that_is_one():
    with Kernel() as kernel:
        check_where(kernel, "score > 3 and md['a'] = 'b' and status = 1 -- as Nutch")


KERNELS = [Kernel(), Kernel()]
"""They take long to open."""
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
        if now.found:
            return now.lower
    raise AssertionError("the bracket does not close")


@settings(max_examples=12, deadline=None)
@given(
    ROWS, st.integers(0, 12), st.integers(0, 4), st.booleans(), st.integers(1, 3), st.integers(1, 2)
)
def test_lists_are_those_of_sort_and_scan(given_rows, top, cap, domain, lists, tasks):
    rows = [row(f"http://{host}/{number}", score=score) for host, number, score in given_rows]
    cap_by = "domain" if domain else "host"
    options = SelectOptions(NOW, cap_by=cap_by, max_count=cap)
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
    while not now.found and looks < 40:
        looks += 1
        now = bracket([look(task, now, points) for task in values], wanted, now)
    expected = None if len(ranked) <= wanted else Place(ranked[wanted - 1], 0)
    assert now == Bracket(now.upper, expected, found=True)
    assert looks <= 8
