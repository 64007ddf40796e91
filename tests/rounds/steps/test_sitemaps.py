"""Entries of sitemaps beside what is known of their URLs."""

from typing import Any

from nacre.crawldb.row import ONE
from nacre.rounds.steps.inject import InjectDefaults, NewSeed
from nacre.rounds.steps.sitemap_tasks import ListedUrl, add_entry, merge_entry

NOW = 1_700_000_000_000
DEFAULTS = InjectDefaults(interval=86_400)
KNOWN: dict[str, Any] = {
    "key": "http://a.test/", "status": 2, "fetch_time": NOW + 5, "interval": 86_400,
    "fixed_interval": None, "retries": 0, "modified": 7, "signature": b"s", "last_status": 200,
    "last_time": 1, "last_reason": None, "evidence": b"e", "seed_md": None, "score": ONE,
    "cash": 0, "via": None, "path": None, "source": "http://a.test/", "md": None, "url": None,
    "first_seen": 1,
}  # fmt: skip


def listed(**changes: Any) -> ListedUrl:
    one = ListedUrl(
        "http://a.test/", "http://a.test/", "http://a.test/m.xml", ONE // 2, None, 0, True
    )
    return one._replace(**changes)


def test_a_new_url_is_due_now_and_names_its_sitemap():
    seed = NewSeed("http://a.test/", "http://a.test/", "", 9, ONE // 2, None, None, {})
    made = add_entry(listed(), seed, DEFAULTS, NOW)
    assert made.outcome == "new"
    assert made.state is None
    assert made.add is not None
    assert (made.add["via"], made.add["path"], made.add["judged"]) == (
        "http://a.test/m.xml",
        "M",
        9,
    )
    assert (made.add["score"], made.add["first_seen"]) == (ONE // 2, NOW)
    made = add_entry(listed(interval=60, modified=5), seed, DEFAULTS, NOW)
    assert made.state is not None
    assert (made.state["interval"], made.state["modified"], made.state["status"]) == (60, 5, 1)


def test_a_known_url_stays_unless_it_is_overwritten():
    one = listed(interval=60, modified=5)
    assert merge_entry(one, KNOWN, DEFAULTS, overwrite=False) == ("known", None, None, None)
    foreign = one._replace(own=False)
    assert merge_entry(foreign, KNOWN, DEFAULTS, overwrite=True).outcome == "known"


def test_what_overwrites_keeps_the_state():
    made = merge_entry(listed(interval=60, modified=5), KNOWN, DEFAULTS, overwrite=True)
    assert made.outcome == "merged"
    assert made.state is not None
    assert made.add is not None
    assert (made.state["interval"], made.state["modified"]) == (60, 5)
    kept = ("status", "fetch_time", "signature", "evidence", "last_status")
    assert all(made.state[name] == KNOWN[name] for name in kept)
    assert made.add["score"] == -ONE // 2
    same = listed(score=ONE, modified=7, interval=86_400)
    assert merge_entry(same, KNOWN, DEFAULTS, overwrite=True).outcome == "known"
