"""The link rules at work: new links are foreseen, late ones marked, and none is left out."""

from nacre.history.finding.linkrules import LinkRule
from nacre.history.finding.linkwatch import LinkWatch, RuleRow

DAY = 86_400.0
START = 1_767_571_200.0
LINKS = "a.test */view?id={int}"


def _url(number: int) -> str:
    return f"http://a.test/view?id={number}"


def _watched(days: int = 30) -> tuple[LinkWatch, dict[str, RuleRow]]:
    rows: dict[str, RuleRow] = {}
    watch = LinkWatch(rows)
    for day in range(days):
        watch.begin_step()
        for number in (2 * day, 2 * day + 1):
            watch.meet(_url(1000 + number), START + day * DAY, START + (day - 1) * DAY)
    watch.begin_step()
    return watch, rows


def test_a_number_beyond_all_known_ones_is_surely_new() -> None:
    watch, rows = _watched()
    assert watch.meet(_url(1060), START + 30 * DAY, START + 29 * DAY) is True
    (row,) = rows.values()
    assert row.history.choice().rule is LinkRule.SEQUENCE
    assert row.share == 1.0


def test_an_unknown_link_below_the_mark_comes_late() -> None:
    watch, rows = _watched()
    assert watch.meet(_url(900), START + 30 * DAY, START + 29 * DAY) is False
    (row,) = rows.values()
    assert row.late == 1


def test_before_a_list_was_visited_twice_nothing_is_judged() -> None:
    watch, rows = _watched()
    before = [(row.foreseen, row.late) for row in rows.values()]
    assert watch.meet(_url(5), START + 30 * DAY, 0.0) is None
    assert [(row.foreseen, row.late) for row in rows.values()] == before


def test_sections_share_a_rule() -> None:
    rows: dict[str, RuleRow] = {}
    watch = LinkWatch(rows)
    for section in ("news", "law"):
        watch.meet(f"http://a.test/{section}/t20260105_5.html", START, 0.0)
    assert len(rows) == 1
