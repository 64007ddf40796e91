import pytest

from nacre.inspect.analysis.sequences import document, sequence_coverage
from nacre.report.html import html_page
from nacre.report.plain import plain_text
from tests.inspect.analysis.given import DAY, MONDAY, Given
from tests.report.pages import harmless


@pytest.fixture
def known() -> Given:
    """100 to 159 but for 120 to 129 and 140: three a day."""
    given = Given()
    for number in range(100, 160):
        if not 120 <= number < 130 and number != 140:
            seen = MONDAY + (number - 100) // 3 * DAY
            given.page(f"/t_{number}.html", template="", first_seen=seen)
    return given


def test_gaps_longest_first(known: Given):
    (found,) = sequence_coverage(known).sequences
    assert (found.first, found.last, found.seen) == (100, 159, 49)
    assert found.share == pytest.approx(49 / 60)
    assert [(gap.first, gap.last) for gap in found.gaps] == [(120, 129), (140, 140)]
    assert found.a_day == pytest.approx((159 - 102) / 19)


def test_parts_of_the_sequence(known: Given):
    (found,) = sequence_coverage(known).sequences
    assert len(found.bins) == 40
    assert max(found.bins) == 1.0
    # Part 13 begins at 119.5, the last of the gap ends before part 20.
    assert found.bins[14:20] == [0.0] * 6
    assert found.bins[20] == 1.0


def test_a_template_without_a_sequence_has_none():
    given = Given()
    given.page("/about")
    found = sequence_coverage(given)
    assert found.sequences == []
    assert "No template of this job counts its pages" in plain_text(document(found))


def test_a_page_for_people(known: Given):
    page = html_page(document(sequence_coverage(known)))
    harmless(page)
    assert "Longest gaps" in page
