from nacre.catalogue.captures import REVISIT, IndexedCapture
from nacre.replay_server.timeline import timeline_of

DAY, NEXT = "20261120100000", "20261121100000"


def capture(timestamp: str, mime: str = "text/html", member: int = 0) -> IndexedCapture:
    """A capture of a page."""
    return IndexedCapture(
        "t,h)/", timestamp, "http://h.test/", mime, 200, "", "w.warc.gz", 0, 9, member=member
    )


def test_a_revisit_in_the_second_of_its_original_is_no_further_step():
    timeline = timeline_of([capture(DAY, REVISIT), capture(DAY), capture(NEXT)], ["job"], DAY)
    assert [(row.timestamp, row.mime) for row in timeline.rows] == [
        (DAY, "text/html"), (NEXT, "text/html"),
    ]  # fmt: skip
    assert timeline.next is not None
    assert timeline.next.timestamp == NEXT
    assert timeline.previous is None


def test_captures_of_two_jobs_in_a_second_stay_two():
    timeline = timeline_of([capture(DAY), capture(DAY, member=1)], ["a", "b"], "")
    assert [row.job for row in timeline.rows] == ["a", "b"]
