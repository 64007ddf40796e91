"""Numbers in short gaps are guessed, the latest first, where guesses lead to pages."""

import pytest

from nacre.core.pagerow import PageKind, PageRow
from nacre.history.finding.linkwatch import LinkWatch
from nacre.history.finding.urlshape import shaped
from nacre.history.recrawl.gaps import GapRow, guesses
from nacre.history.slices import at_once
from nacre.history.visited import MemoryRows

DAY = 86_400.0
SITE = "http://a7.test/"


def _rows(*urls: str, kind: PageKind = PageKind.PAGE, visits: int = 1) -> MemoryRows:
    rows = MemoryRows()
    for url in urls:
        rows.put(PageRow(SITE + url, kind, shaped(SITE + url).name, visits=visits))
    return rows


def _watch(*urls: str) -> LinkWatch:
    """A watch that has met the URLs in their order, one a day."""
    watch = LinkWatch()
    for at, url in enumerate(urls):
        watch.meet(SITE + url, at * DAY, 0.0)
    watch.begin_step()
    return watch


def _guessed(
    names: list[str], most: int = 100, known: dict[str, GapRow] | None = None
) -> list[str]:
    found = at_once(
        guesses(_rows(*names), _watch(*names).choice, {} if known is None else known, most)
    )
    return [one.url.removeprefix(SITE) for one in found]


NUMBERS = [10, 11, 12, 14, 15, 16, 17, 20, 21, 90, 91, 92, 93, 95]


def test_numbers_in_short_gaps_are_guessed_the_highest_first() -> None:
    names = [f"news/{number}.html" for number in NUMBERS]
    assert _guessed(names) == [f"news/{number}.html" for number in (94, 19, 18, 13)]
    assert _guessed(names, 2) == ["news/94.html", "news/19.html"]


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ("view?id={:06d}&s=2", "view?id=000094&s=2"),
        ("thread-{}-1-1.html", "thread-94-1-1.html"),
        ("how-to-build-a-boat-8{:05d}", "how-to-build-a-boat-800094"),
        ("%E9%94%94%E4%BB%B6{}.doc", "%E9%94%94%E4%BB%B694.doc"),
        ("%B8%BD%BC%94{}.doc", "%B8%BD%BC%9494.doc"),
    ],
)
def test_the_number_alone_is_replaced(shape: str, expected: str) -> None:
    assert _guessed([shape.format(number) for number in NUMBERS])[0] == expected


def test_where_it_is_not_certain_nothing_is_guessed() -> None:
    assert _guessed([f"{number}/{number}.html" for number in NUMBERS]) == []
    names = [f"item/{number}" for number in NUMBERS]
    assert at_once(guesses(_rows(*names), LinkWatch().choice, {}, 100)) == []
    watch = _watch(*names)
    assert at_once(guesses(_rows(*names, kind=PageKind.FILE), watch.choice, {}, 100)) == []
    assert at_once(guesses(_rows(*names, visits=0), watch.choice, {}, 100)) == []


def test_what_was_asked_for_is_not_asked_for_again_and_hopeless_guesses_end() -> None:
    names = [f"news/{number}.html" for number in NUMBERS]
    known: dict[str, GapRow] = {}
    assert len(_guessed(names, 3, known)) == 3
    assert _guessed(names, 3, known) == ["news/13.html"]
    assert _guessed(names, 3, known) == []
    (row,) = known.values()
    assert row.tried == [94, 19, 18, 13]
    row.tried.clear()
    for number in range(20):
        row.answered(there=number == 0)
    assert len(_guessed(names, 3, known)) == 3
    row.tried.clear()
    row.answered(there=False)
    assert _guessed(names, 3, known) == []


def test_sequences_take_turns() -> None:
    names = [f"{part}/{number}.html" for number in NUMBERS for part in ("a", "b")]
    assert _guessed(names, 2) == ["a/94.html", "b/94.html"]
