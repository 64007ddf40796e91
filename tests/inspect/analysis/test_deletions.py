import pytest

from nacre.inspect.analysis.deletions import deletion_register, document
from nacre.report.html import html_page
from tests.inspect.analysis.given import DAY, MONDAY, SITE, Given
from tests.report.pages import harmless


@pytest.fixture
def known() -> Given:
    given = Given()
    given.page("/live", visits=3)
    given.page("/gone", visits=4, last=3, life="gone", life_since=MONDAY + DAY, looks=1)
    given.page("/doubt", visits=2, last=3, life="suspect", life_since=MONDAY + 3 * DAY)
    given.page("/moved", visits=2, life="moved", life_since=MONDAY, target=f"{SITE}/to")
    given.visit("/gone", 0, 1, kind="new")
    given.visit("/gone", 1, 2, status=404, answer="missing", stored="novel")
    given.visit("/gone", 2, 2, status=503, answer="silent")
    given.visit("/gone", 2.5, 3, status=404, answer="gone")
    given.visit("/live", 1, 2)
    given.visit("/doubt", 0, 1, kind="new")
    given.visit("/moved", -1, 1, kind="new")
    given.page("/dead-link", life="suspect", life_since=MONDAY)
    given.visit("/dead-link", 0, 1, status=404, answer="missing")
    given.capture(
        "/gone",
        "2026-11-24T00:00:00Z",
        status="404",
        file="runs/a.warc.gz",
        offset=99,
        digest="sha1:X",
    )
    return given


def test_the_register_is_in_order_of_certainty(known: Given):
    found = deletion_register(known).deletions
    assert [(one.url.removeprefix(SITE), one.life) for one in found] == [
        ("/gone", "gone"), ("/doubt", "suspect"), ("/moved", "moved"),
    ]  # fmt: skip


def test_a_dead_link_is_no_deletion(known: Given):
    assert deletion_register(known).never_there == 1


def test_evidence_names_its_record_and_leaves_failures_out(known: Given):
    gone = deletion_register(known).deletions[0]
    assert (gone.last_there, gone.since) == (MONDAY, MONDAY + DAY)
    first, second = gone.evidence
    assert (first.status, first.record, first.digest) == (404, "runs/a.warc.gz:99", "sha1:X")
    assert (second.answer, second.record) == ("gone", "")


def test_what_came_back_in_between_proves_nothing(known: Given):
    known.visit("/doubt", 1, 2, status=404, answer="missing")
    known.visit("/doubt", 2, 3)
    known.visit("/doubt", 3, 4, status=404, answer="missing")
    doubt = deletion_register(known).deletions[1]
    assert [proof.time for proof in doubt.evidence] == [MONDAY + 3 * DAY]
    assert doubt.last_there == MONDAY + 2 * DAY


def test_next_looks(known: Given):
    gone, doubt, moved = deletion_register(known).deletions
    assert gone.next_look == MONDAY + 17 * DAY
    assert doubt.next_look == MONDAY + 4 * DAY
    assert moved.next_look == MONDAY + 30 * DAY


def test_a_page_for_people(known: Given):
    page = html_page(document(deletion_register(known)))
    harmless(page)
    assert "runs/a.warc.gz:99" in page


def test_nothing_is_gone():
    given = Given()
    given.page("/live")
    assert deletion_register(given).deletions == []
