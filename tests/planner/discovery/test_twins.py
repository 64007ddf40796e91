"""Twins: URLs that differ in their query and are one page are visited as one."""

import pytest

from nacre.core.pagerow import PageRow
from nacre.planner.discovery.twins import Twins
from nacre.planner.step import Choice
from nacre.planner.visited import MemoryRows

NOW = 1_767_571_200.0
INDEX = "http://a.test/api/index.html"


def twins(digests: list[str], plain: str = "", time: float = NOW) -> Twins:
    """A family whose members had these bytes when they were visited last, all at once."""
    rows = MemoryRows()
    if plain:
        rows.put(PageRow(INDEX, visits=1, last_visit=1.0, digest=plain))
    for number, digest in enumerate(digests):
        rows.put(PageRow(f"{INDEX}?C{number}", visits=1, last_visit=1.0, digest=digest))
    found = Twins(rows, time)
    for row in rows.scan():
        found.take(row)
    return found


def resting(found: Twins, count: int) -> list[int]:
    return [number for number in range(count) if found.rests(f"{INDEX}?C{number}")]


@pytest.mark.parametrize(
    ("digests", "plain", "rest"),
    [
        (["a"] * 40, "", 38),  # all but the representative and one that is checked, or one less
        (["a"] * 40, "a", 39),
        (["a"] * 5, "", 0),  # four pairs are too few
        (["a"] * 5, "a", 4),
        (["a"] * 39 + ["b"], "", 0),  # one that differs
        (["a"] * 40, "b", 0),
        ([f"d{number}" for number in range(40)], "", 0),
    ],
)
def test_members_that_rest(digests: list[str], plain: str, rest: int) -> None:
    found = len(resting(twins(digests, plain), len(digests)))
    assert rest <= found <= rest + 1


def test_another_member_is_checked_now_and_then() -> None:
    checked: set[int] = set()
    rare = 0
    for step in range(100):
        time = NOW + step * 86_400.0
        rest = set(resting(twins(["a"] * 10, "a", time), 10))
        assert len(rest) == 9, "as long as few pairs were compared, one is checked each time"
        checked |= set(range(10)) - rest
        rare += len(resting(twins(["a"] * 40, "a", time), 40)) < 40
    assert len(checked) == 10
    assert 2 <= rare <= 25


def test_new_members_wait_unless_the_operator_wants_them() -> None:
    found = twins(["a"] * 40, "a")
    new = f"{INDEX}?New"
    wanted = [Choice(new, 1.0, reason) for reason in ("new", "start", "due", "pair")]
    other = Choice("http://a.test/other.html?x", 1.0, "new")
    assert found.admitted([*wanted, other]) == [*wanted[1:], other]
    assert found.held == 1


def test_members_that_were_visited_at_other_times_are_not_compared() -> None:
    rows = MemoryRows()
    for number in range(40):
        digest = "old" if number < 35 else "new"
        last = 1.0 if number < 35 else 2.0
        rows.put(PageRow(f"{INDEX}?C{number:02}", visits=1, last_visit=last, digest=digest))
    rows.put(PageRow(f"{INDEX}?gone", visits=1, last_visit=1.0))
    rows.put(PageRow(f"{INDEX}?unseen"))
    found = Twins(rows, NOW)
    for row in rows.scan():
        found.take(row)
    assert found.rests(f"{INDEX}?unseen")
    assert not found.rests(f"{INDEX}?C00"), "the representative"
    assert not found.rests(INDEX)


def api(release: int, name: str) -> str:
    return f"http://a.test/{release}/api/index.html?{name}"


@pytest.mark.parametrize(
    ("digests", "opened", "resting_members"),
    [
        ({3: "aaa", 4: "bbb", 5: "ccc"}, 2, 3),  # six pairs in three families
        ({3: "aaa", 4: "bbb"}, 9, 0),  # four pairs are too few
        ({3: "aaaaaa", 4: "bc"}, 9, 4),  # families differ: each counts for itself
        ({3: "aaaaaa"}, 2, 4),
    ],
)
def test_a_family_is_proved_by_families_of_its_template(
    digests: dict[int, str], opened: int, resting_members: int
) -> None:
    rows = MemoryRows()
    for release, names in digests.items():
        for number, digest in enumerate(names):
            url = api(release, f"C{number}")
            rows.put(PageRow(url, visits=1, last_visit=1.0, digest=digest))
    found = Twins(rows, NOW)
    for row in rows.scan():
        found.take(row)
    new = [Choice(api(9, f"C{number}"), 1.0, "new") for number in range(9)]
    assert found.admitted(new) == new[:opened]
    assert found.held == 9 - opened
    assert sum(found.rests(row.url) for row in rows.scan()) == resting_members
    assert found.admitted([Choice(api(9, "A"), 1.0, "start")]), "the operator wants it"


CHANGED = 1.0


def copies(*pages: tuple[str, str, int, float], time: float = NOW) -> Twins:
    """Pages on one host by path, bytes, number of changes and time of the last one."""
    found = Twins(MemoryRows(), time)
    for path, digest, changes, changed in pages:
        row = PageRow(f"http://a.test{path}", visits=5, last_visit=9.0, digest=digest)
        row.changes, row.last_change = changes, changed
        found.take(row)
    return found


def resting_share(path: str, *pages: tuple[str, str, int, float]) -> float:
    """Share of steps in which a page rests."""
    times = [NOW + step * 86_400.0 for step in range(200)]
    rests = [copies(*pages, time=time).rests(f"http://a.test{path}") for time in times]
    return sum(rests) / len(rests)


FOLDER = [("/a/", "x", 0, 0.0), ("/a/index.html", "x", 0, 0.0)]
TOGETHER = [("/en/a.html", "x", 2, CHANGED), ("/english/a.html", "x", 3, CHANGED)]


@pytest.mark.parametrize(
    ("path", "pages"),
    [
        ("/a/index.html", FOLDER),
        ("/Default.aspx", [("/", "x", 1, 1.0), ("/Default.aspx", "x", 0, 0.0)]),
        ("/english/a.html", TOGETHER),
        (
            "/\u5173\u4e8e/index.html",
            [("/\u5173\u4e8e/", "x", 0, 0.0), ("/\u5173\u4e8e/index.html", "x", 0, 0.0)],
        ),
    ],
)
def test_a_copy_with_another_path_is_a_spot_check(
    path: str, pages: list[tuple[str, str, int, float]]
) -> None:
    assert 0.8 <= resting_share(path, *pages) <= 0.97
    assert resting_share(pages[0][0], *pages) == 0.0, "the original is always visited"


@pytest.mark.parametrize(
    "pages",
    [
        [("/a/", "x", 0, 0.0), ("/a/index.html", "y", 0, 0.0)],
        [("/a/", "x", 0, 0.0), ("/b/index.html", "x", 0, 0.0)],
        [("/a/one.html", "x", 0, 0.0), ("/a/two.html", "x", 0, 0.0)],
        [("/a/one.html", "x", 1, 1.0), ("/a/two.html", "x", 1, 1.0)],
        [("/a/one.html", "x", 2, 1.0), ("/a/two.html", "x", 2, 2.0)],
        [(f"/a/{number}.html", "out of order", 2, 1.0) for number in range(5)],
    ],
    ids=["other bytes", "other folder", "never changed", "once", "at other times", "many"],
)
def test_pages_that_are_no_copies(pages: list[tuple[str, str, int, float]]) -> None:
    assert all(resting_share(page[0], *pages) == 0.0 for page in pages)


def test_a_new_visit_of_a_copy_waits_unless_the_operator_wants_it() -> None:
    found = copies(*FOLDER, time=NOW)
    url = "http://a.test/a/index.html"
    choices = [Choice(url, 1.0, reason) for reason in ("value", "start", "due")]
    assert found.admitted(choices) == (choices[1:] if found.rests(url) else choices)
    gone = PageRow(url, visits=5, last_visit=9.0, digest="x", life="gone")
    assert not copies(FOLDER[0]).rests(url)
    found = copies(FOLDER[0])
    found.take(gone)
    assert not found.rests(url)


@pytest.mark.parametrize(
    ("digest", "time", "visited"),
    [("same", 1.0, 5), ("other", 1.0, 40), ("other", 2.0, 5), ("", 1.0, 5)],
    ids=["equal", "differs", "differs later", "nothing was visited"],
)
def test_of_new_names_with_empty_segments_a_few_are_visited(
    digest: str, time: float, visited: int
) -> None:
    rows = MemoryRows()
    for number in range(41):
        rows.put(PageRow(f"http://a.test/a/{number}", visits=1, last_visit=1.0, digest="same"))
    if digest:
        rows.put(PageRow("http://a.test//a/40", visits=1, last_visit=time, digest=digest))
    found = Twins(rows, NOW)
    for row in rows.scan():
        found.take(row)
    new = [Choice(f"http://a.test///a/{number}", 1.0, "new") for number in range(40)]
    assert len(found.admitted(new)) == visited
    plain = [Choice(f"http://a.test/b//{number}", 1.0, "new") for number in range(40)]
    assert found.admitted(plain) == plain
