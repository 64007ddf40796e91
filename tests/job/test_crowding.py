import pytest

from nacre.job.crowding import crowded_kind, crowded_queue, path_branch, unwanted
from nacre.job.diagnosis import CrowdedKind
from nacre.job.overview import JobOverview, SlowQueue

LARGE = SlowQueue("test,a,", 1_000, 1.0, 1_000.0, host="a.test")
SMALL = SlowQueue("test,b,", 10, 9.0, 2_000.0, host="b.test")


@pytest.mark.parametrize(
    ("queued", "grows", "found"),
    [(1_100, True, LARGE), (1_100, False, None), (2_000, True, None), (500, True, None)],
)
def test_a_queue_is_full_where_it_has_most_and_grows(
    queued: int, grows: bool, found: SlowQueue | None
):
    overview = JobOverview("RUNNING", queued=queued)
    assert crowded_queue(overview, (SMALL, LARGE), grows=grows) == found
    assert crowded_queue(overview, (), grows=grows) is None


def test_a_kind_is_a_directory_or_a_program_that_has_most():
    found = crowded_kind("test,a,#8080", "/rili?", 990, 1_000)
    assert found == CrowdedKind("test,a,#8080", "http://a.test:8080/rili?", 990, 1_000)
    assert found.share == 0.99
    calendar = crowded_kind("test,a,", "/cal/", 800, 1_000)
    assert calendar is not None
    assert calendar.prefix == "http://a.test/cal/"
    for branch, number, looked in (
        ("/cal/", 799, 1_000), ("/page.html", 990, 1_000), ("/", 990, 1_000), ("", 0, 1_000),
        ("/cal/", 9, 0),
    ):  # fmt: skip
        assert crowded_kind("test,a,", branch, number, looked) is None


def test_a_kind_that_is_wanted_is_none():
    kind = CrowdedKind("test,a,", "http://a.test/cal/", 9, 10)
    assert unwanted(kind, ("http://b.test/",)) == kind
    assert unwanted(kind, (kind.prefix,)) is None
    assert unwanted(None, ()) is None


@pytest.mark.parametrize(
    ("url", "path", "branch"),
    [
        ("http://a.test/cal/2024/1", "", "/cal/"),
        ("http://a.test/cal/2024/1", "/cal/", "/cal/2024/"),
        ("http://a.test/rili?y=1/2", "", "/rili?"),
        ("http://a.test/one.html", "", "/one.html"),
        ("http://a.test/one.html", "/cal/", ""),
        ("http://a.test", "", "/"),
    ],
)
def test_a_branch_is_one_level_below_a_path(url: str, path: str, branch: str):
    assert path_branch(url, path) == branch
