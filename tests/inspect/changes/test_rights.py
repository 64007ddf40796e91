"""Changed preferences in the change feed: of which run, and with which words."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from nacre.engine.rights_book import RightsRows, own_key, site_key
from nacre.inspect.changes.atom import FeedAddresses, atom_feed, json_feed
from nacre.inspect.changes.feed import ChangeEntry
from nacre.inspect.changes.markup import ENGLISH
from nacre.inspect.changes.reading import ChangeFilter, posted_changes, read_feed
from nacre.inspect.changes.rights import MOST_SIGNALS
from nacre.inspect.changes.wording import feed_lines
from nacre.recrawl.change_log import ChangeLog
from nacre.rights.ledger import ABSENT, SignalVersion
from nacre.rights.signals import HEADER, ROBOTS, PreferenceSignal
from nacre.rights.vocabulary import Preference
from nacre.store.store import Store
from tests.inspect.changes.test_reading import DAY, TIME, change, put_runs, run

SITE, PAGE = "http://a.test", "http://a.test/书"


def signal(value: str, line: str = "", source: str = ROBOTS, path: str = "") -> PreferenceSignal:
    line = line or f"Content-Usage: {path} train-ai={value}"
    return PreferenceSignal(source, "content-usage", line, (Preference("train-ai", value),), path)


def version(seconds: float, *signals: PreferenceSignal, state: str = "") -> SignalVersion:
    since = round((TIME + seconds) * 1e6)
    return SignalVersion(since, f"{SITE}/robots.txt", f"urn:uuid:{since}", signals, state)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(str(tmp_path)) as opened:
        put_runs(opened, run(1, mode="full"), run(2), run(3))
        yield opened


ROBOTS_KEY = site_key(SITE, ROBOTS)


def entries(store: Store, *versions: SignalVersion) -> list[ChangeEntry]:
    rows = RightsRows(store)
    for each in versions:
        rows.put(ROBOTS_KEY, each)
    return read_feed(store, "demo", ChangeFilter()).entries


def texts(entry: ChangeEntry) -> list[str]:
    return ["".join(f"{word.kind}{word.text}" for word in text.words) for text in entry.texts]


def test_a_changed_line_is_an_entry_with_both_lines(store: Store):
    new = version(2 * DAY + 5, signal("n"))
    (entry,) = entries(store, version(DAY, signal("y")), new)
    assert (entry.kind, entry.run, entry.url) == ("rights", 2, f"{SITE}/robots.txt")
    assert (entry.reason, entry.record_id) == (ROBOTS, new.record_id)
    assert texts(entry) == ["-Content-Usage:  train-ai=y+Content-Usage:  train-ai=n"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (version(DAY, signal("n")), version(2 * DAY, signal("n", "content-usage:train-ai=n"))),
        (version(DAY, signal("n"), signal("y", path="/a")),
         version(2 * DAY, signal("y", path="/a"), signal("n"))),
        (version(DAY, state=ABSENT), version(2 * DAY)),
    ],
)  # fmt: skip
def test_what_means_the_same_is_no_change(
    store: Store, before: SignalVersion, after: SignalVersion
):
    assert entries(store, before, after) == []


def test_a_file_that_is_collected_first_is_no_change(store: Store):
    assert entries(store, version(2 * DAY, signal("n"))) == []


def test_lines_of_other_paths_come_and_go(store: Store):
    (entry,) = entries(
        store,
        version(DAY, signal("n", path="/a")),
        version(3 * DAY, signal("n", path="/书")),
    )
    assert (entry.run, texts(entry)) == (
        3, ["-Content-Usage: /a train-ai=n", "+Content-Usage: /书 train-ai=n"]
    )  # fmt: skip


def test_the_number_of_lines_is_limited(store: Store):
    many = [signal("n", path=f"/{number}") for number in range(MOST_SIGNALS + 3)]
    (entry,) = entries(store, version(DAY), version(2 * DAY, *many))
    assert (len(entry.texts), entry.more) == (MOST_SIGNALS, 3)


def test_many_lines_at_one_place_are_paired_in_order(store: Store):
    was, now = ([signal(value, f"{value}{at}") for at in range(3)] for value in "yn")
    (entry,) = entries(store, version(DAY, *was[:2]), version(2 * DAY, *now))
    assert texts(entry) == ["-y0+n0", "-y1+n1", "+n2"]


def test_all_lines_of_large_files_are_compared_in_little_room(store: Store):
    was, now = ([signal(value, f"{value}{at}") for at in range(2_000)] for value in ("y", "n"))
    (entry,) = entries(store, version(DAY, *was), version(2 * DAY, *now))
    assert (len(entry.texts), entry.more) == (MOST_SIGNALS, 1_980)


def test_each_change_is_in_its_run_and_the_first_run_has_none(store: Store):
    found = entries(
        store,
        version(DAY, signal("n")),
        version(DAY + 9, signal("y")),
        version(2 * DAY, signal("n")),
        version(2 * DAY + 99, signal("y")),
        version(3 * DAY, signal("n")),
    )
    assert [entry.run for entry in found] == [3, 2, 2]
    assert len({entry.id for entry in found}) == 3


def test_own_signals_of_a_page_begin_after_a_capture_without_any(store: Store):
    rows = RightsRows(store)
    header = signal("n", "Content-Usage: train-ai=n", HEADER)
    new, known = (SignalVersion(version(2 * DAY).since, url, "", (header,)) for url in ("n", PAGE))
    rows.put(own_key("http://a.test/new"), new)
    rows.put(own_key(PAGE), known, follows_none=True)
    (entry,) = read_feed(store, "demo", ChangeFilter()).entries
    assert (entry.url, entry.reason, texts(entry)) == (PAGE, "reply", [f"+{header.line}"])


def test_changes_of_pages_and_preferences_are_in_order_and_selected(store: Store):
    ChangeLog(store).add(change("a", 2))
    entries(store, version(DAY), version(2 * DAY + 5, signal("n")))
    feed = read_feed(store, "demo", ChangeFilter())
    assert [entry.kind for entry in feed.entries] == ["changed", "rights"]
    assert feed.runs[-1].counts == {"changed": 1, "rights": 1}
    for chosen, kinds in (
        (ChangeFilter(kinds=("rights",)), ["rights"]),
        (ChangeFilter(kinds=("changed",)), ["changed"]),
        (ChangeFilter(match=r"robots\.txt"), ["rights"]),
        (ChangeFilter(match="/a$"), ["changed"]),
    ):
        assert [entry.kind for entry in read_feed(store, "demo", chosen).entries] == kinds
    assert [entry.kind for entry in posted_changes(store, "run-2").entries] == ["changed", "rights"]
    assert posted_changes(store, "run-3").entries == []


def test_all_formats_have_them(store: Store):
    hostile = "Content-Usage: train-ai=n <script>"
    entries(store, version(DAY), version(2 * DAY, signal("n", hostile)))
    feed = read_feed(store, "demo", ChangeFilter())
    lines = list(feed_lines(feed))
    assert "  rights   http://a.test/robots.txt" in lines
    assert f"      robots.txt: {{+{hostile}+}}" in lines
    atom = atom_feed(feed, ENGLISH, FeedAddresses()).decode()
    assert 'term="rights"' in atom
    assert f'<link rel="via" href="{feed.entries[0].record_id}"/>' in atom
    assert "robots.txt of the site states other preferences" in atom
    (item,) = json.loads(json_feed(feed, ENGLISH, FeedAddresses()))["items"]
    for document in (atom, item["content_html"]):
        assert "<script>" not in document
        assert "train-ai=n" in document
