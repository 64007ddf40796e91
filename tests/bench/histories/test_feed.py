"""The judge of the change feed: what counts as found, right and wrong."""

import json

import pytest

from bench.histories.feed import FeedEntry, TrueEvent, figures_of, parse_feed
from bench.histories.ota import ComparedVisit
from bench.histories.results import JudgedVisit
from bench.histories.truth import Difference

A, B, C = (f"http://a.test/{name}.html" for name in "abc")


def row(url: str, run: int, own: Difference, *, is_real: bool = False) -> ComparedVisit:
    visit = JudgedVisit(run, url, "", "minor", 200, "novel", 0.5, 0.0)
    return ComparedVisit(visit, run - 1, url, 0, 1, own, is_real)


def test_the_figures_of_a_feed():
    rows = [
        row(A, 2, "text", is_real=True), row(A, 3, "text", is_real=True),
        row(B, 2, "text"), row(B, 3, "markup"), row(C, 3, "same"),
    ]  # fmt: skip
    events = [TrueEvent(2, A, "real"), TrueEvent(3, A, "real"), TrueEvent(3, C, "gone")]
    entries = [
        FeedEntry(2, A, "changed", ("old",), ("new",)), FeedEntry(2, B, "changed"),
        FeedEntry(3, B, "changed"), FeedEntry(3, C, "gone"),
    ]  # fmt: skip
    found = figures_of(entries, events, rows, {entries[0]: True})
    assert (found.recall, found.events) == ((1, 2), (2, 3))
    assert (found.precision, found.recorded, found.words) == ((3, 4), (2, 4), (1, 1))
    assert found.missed == [events[1]]
    assert found.wrong == [entries[2]]


def test_a_feed_is_read():
    words = [{"kind": "=", "text": "a"}, {"kind": "-", "text": "b"}, {"kind": "+", "text": "c…"}]
    texts = [{"kind": "text", "words": words}, {"kind": "link", "words": words}]
    entry = {"run": 2, "url": A, "kind": "changed", "texts": texts}
    feed = {"left_out": 0, "entries": [entry, {**entry, "url": "http://a.test/"}]}
    assert parse_feed(json.dumps(feed)) == [FeedEntry(2, A, "changed", ("b",), ())]
    with pytest.raises(ValueError, match="leaves out 3 entries"):
        parse_feed(json.dumps({**feed, "left_out": 3}))
