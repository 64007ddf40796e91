"""What one look at all rows shows."""

from nacre.core.pagerow import PageRow
from nacre.history.recrawl.survey import Survey

DAY = 86_400.0
START = 1e9


def test_a_page_that_never_answers_is_tried_ever_more_rarely() -> None:
    row, tried = PageRow("http://a.test/dead", first_seen=START, errors=1), []
    for day in range(1, 400):
        survey = Survey(START + day * DAY)
        survey.take(row)
        if survey.unvisited:
            row.errors += 1
            tried.append(day)
    assert tried == [1, 7, 14, 28, 56, 112, 224]


def test_a_page_of_which_was_heard_is_visited_at_once() -> None:
    survey = Survey(START)
    survey.take(PageRow("http://a.test/new", first_seen=START, depth=3))
    assert survey.unvisited == {"http://a.test/new": 3}
