from msgspec import structs

from nacre.core.charsets import (
    BEFORE,
    LINK,
    VIA,
    hints_of,
    linked_from,
    read_before_in,
    with_charset,
)
from nacre.core.crawluri import CrawlURI
from nacre.core.processor import Visit
from nacre.wire.guess import NO_HINTS, Hints

PAGE = CrawlURI("http://a.test/", b"k", "test,a,")
LINKED = [structs.replace(PAGE, url="http://a.test/1", path="L")]


def test_what_is_read_in_a_common_encoding_tells_nothing():
    for charset in ("", "utf-8", "cp1252"):
        visit = Visit(PAGE, status=200, charset=charset)
        assert with_charset(visit, LINKED) is LINKED
        assert read_before_in(PAGE, charset) is PAGE
    assert hints_of(PAGE) is NO_HINTS


def test_links_of_a_page_know_its_charset_and_what_their_element_says():
    said = structs.replace(LINKED[0], heritable={LINK: "GB2312", "own": "1"})
    plain, labelled = with_charset(Visit(PAGE, status=200, charset="big5hkscs"), [*LINKED, said])
    assert hints_of(plain) == Hints(via="big5hkscs")
    assert hints_of(labelled, "cp949") == Hints(link="gbk", via="big5hkscs", host="cp949")
    assert labelled.heritable["own"] == "1"


def test_a_label_that_nobody_knows_is_no_hint():
    assert hints_of(structs.replace(PAGE, heritable={LINK: "no\nsuch"})) == NO_HINTS


def test_what_a_redirect_leads_to_is_known_as_well_as_the_redirect():
    known = structs.replace(PAGE, heritable={VIA: "gbk", LINK: "gbk", "_other": "x"})
    target = structs.replace(PAGE, url="http://a.test/2", path="LR")
    found = with_charset(Visit(known, status=302), [target, *LINKED])
    assert found[0].heritable == {VIA: "gbk", LINK: "gbk"}
    assert found[1] is LINKED[0]
    assert with_charset(Visit(known, status=200), [target]) == [target]
    refreshed = with_charset(Visit(known, status=200, charset="big5hkscs"), [target])
    assert refreshed[0].heritable == {VIA: "big5hkscs"}


def test_a_page_is_expected_to_be_what_it_was():
    assert read_before_in(PAGE, "gbk").heritable == {BEFORE: "gbk"}
    assert hints_of(read_before_in(PAGE, "gbk")) == Hints(before="gbk")
    assert hints_of(linked_from(PAGE, "gbk")) == Hints(via="gbk")
    assert linked_from(PAGE, "utf-8") is PAGE
