import pytest

from nacre.core.pagerow import PageKind
from nacre.inspect.analysis.decisions import page_decision
from nacre.inspect.analysis.templates import (
    KindFacts,
    TrapList,
    document,
    template_list,
    traps_document,
)
from nacre.planner.discovery.link_rules import LinkWatch
from nacre.planner.discovery.traps import TrapRow
from nacre.report.html import html_page
from nacre.report.plain import plain_text
from tests.inspect.analysis.given import DAY, MONDAY, SITE, Given
from tests.report.pages import harmless


def numbered(given: Given, count: int = 30) -> None:
    for number in range(count):
        seen = MONDAY + number // 3 * DAY
        given.page(f"/item_{1000 + number}.html", template="", first_seen=seen)


@pytest.fixture
def known() -> Given:
    given = Given()
    numbered(given)
    return given


def test_rising_numbers_are_rule_s(known: Given):
    (found,) = template_list(known).templates
    assert found.template == f"{SITE}/item_{{int}}.html"
    assert (found.urls, found.visited, found.contents, found.rule) == (30, 30, 30, "S")
    assert found.examples[0] == f"{SITE}/item_1027.html"


def test_dates_are_rule_t():
    given = Given()
    for number in range(28):
        name = f"/202611{number + 1:02}/{number * 7 % 5}.html"
        given.page(name, template="", first_seen=MONDAY + number * DAY)
    (found,) = template_list(given).templates
    assert found.rule == "T"
    assert found.slack == pytest.approx(22.0, abs=0.01)


def test_others_are_rule_k():
    given = Given()
    for number in range(30):
        given.page(f"/{number * 7919 % 1000}.html", template="", first_seen=MONDAY + number * DAY)
    assert template_list(given).templates[0].rule == "K"


def test_what_pages_embed_is_left_out():
    given = Given()
    given.page("/a.png", kind=PageKind.EMBED)
    assert template_list(given).templates == []


def test_a_calendar_is_a_trap():
    given = Given()
    for number in range(120):
        day = 20_270_101 + number // 28 * 100 + number % 28
        given.page(f"/cal/{day}", template="", visits=0)
    (found,) = template_list(given).templates
    assert found.trap == "a calendar: 120 of its URLs name days still to come"


def test_many_urls_of_one_content_are_a_trap():
    given = Given()
    for number in range(150):
        given.page(f"/s?sid={number}", template="", digest="sha1:same")
    (found,) = template_list(given).templates
    assert found.trap == "150 pages have only 1 different contents"


def test_facets_are_a_trap():
    given = Given()
    for number in range(200):
        path = f"/list?a={number % 10}&b={number // 10 % 10}&c={number // 100}"
        given.page(path, template="", visits=int(number < 20))
    (found,) = template_list(given).templates
    assert found.trap.startswith("combinations of 3 parameters")


def test_what_waits_in_a_trap_is_told_and_how_to_let_more_in():
    given, template = Given(), f"{SITE}/s/?sid={{int}}"
    given.page("/s?sid=1", template=template, digest="sha1:a")
    given.traps[template] = TrapRow(60.0, 59.0, [1])
    for number in range(2, 9):
        given.page(f"/s?sid={number}", template=template, visits=0)
    found = template_list(given)
    (one,) = found.templates
    assert (one.trap, one.waits) == ("of 100 of its pages 98 say what others say", 7)
    text = html_page(document(found))
    assert "7 URLs that were never visited lead into traps" in text
    assert "recrawl.trap_share" in text
    told = page_decision(given, f"{SITE}/s?sid=5").reason
    assert told.startswith("URLs like it lead into a trap (of 100 of its pages")


def test_a_job_without_traps_says_so():
    told = plain_text(traps_document(TrapList([])))
    assert "No trap was found so far" in told


def test_kinds_without_a_new_word_are_told_in_words():
    found = KindFacts("a.test", "again rili/?m={number}", "poor", 0, 3, 15, 0, "", f"{SITE}/rili")
    (table,) = traps_document(TrapList([found])).sections[0].tables
    assert table.rows == (
        (
            *("a.test", "rili/?m={number}"),
            "nothing new lately, and no new word in the address",
            *(15, 15, 0, "", f"{SITE}/rili"),
        ),
    )


def test_few_urls_are_no_trap():
    given = Given()
    for number in range(50):
        given.page(f"/s?sid={number}", template="", digest="sha1:same")
    assert template_list(given).templates[0].trap == ""


def test_a_page_for_people(known: Given):
    page = html_page(document(template_list(known)))
    harmless(page)
    assert "/item_{int}.html" in page


def test_rules_at_work():
    given = Given()
    watch = LinkWatch(given.rules)
    for day in range(30):
        watch.begin_step()
        seen = MONDAY + day * DAY
        for url in (f"{SITE}/view?id={2 * day + 100}", f"{SITE}/view?id={2 * day + 101}"):
            watch.meet(url, seen, seen - DAY)
    (rule,) = template_list(given).rules
    assert (rule.rule, rule.highest, rule.late) == ("S", 159, 0)
    assert rule.share == 1.0
    titles = [table.caption for table in document(template_list(given)).sections[0].tables]
    assert "Rules at work" in titles
