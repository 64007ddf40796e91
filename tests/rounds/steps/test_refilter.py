"""Rows that move to a key that others have, too."""

from typing import Any

from nacre.crawldb.row import COLUMNS
from nacre.rounds.steps.refilter import merge_arrivals

KEY = "http://a.test/x"


def merged(key: str, **columns: Any) -> dict[str, Any]:
    none = {column.name: None for column in COLUMNS}
    usual = {"first_seen": 5, "score": 1, "to_url": KEY}
    return {**none, **usual, "key": key, **columns}


def test_sums_of_all_arrive_and_the_first_finding_counts():
    old = merged(f"{KEY};1", first_seen=3, via="http://v.test/", cash=7, inlinks=1, depth=4)
    new = merged(f"{KEY};2", inlinks=2, depth=2, last_inlink=9)
    [(group, row)] = merge_arrivals(KEY, [new, old], None)
    assert (group, row["key"], row["url"], row["via"]) == ("", KEY, None, "http://v.test/")
    assert (row["score"], row["cash"], row["inlinks"]) == (2, 7, 3)
    assert (row["depth"], row["first_seen"], row["last_inlink"]) == (2, 3, 9)


def test_the_row_that_was_visited_last_has_the_state():
    seen = merged(f"{KEY};1", status=2, last_time=8, fetch_time=9, mime="text/html")
    groups = dict(merge_arrivals(KEY, [seen, merged(f"{KEY};2")], None))
    assert groups["state"]["status"] == 2
    assert groups["capture"] == {**groups["capture"], "key": KEY, "mime": "text/html"}
    older, newer = (
        merged(KEY, status=3, last_time=7),
        merged(KEY, status=3, last_time=8, fetch_time=10),
    )
    assert set(dict(merge_arrivals(KEY, [seen], older))) == {"", "state", "capture"}
    assert set(dict(merge_arrivals(KEY, [seen], newer))) == {""}
