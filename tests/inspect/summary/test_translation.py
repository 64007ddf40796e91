"""The two languages of the report of a run."""

import re
import string

import pytest

from nacre.inspect.summary.translation import ENDS, KEEPS, LIMIT, Translator, kind_of, reason_of

ENGLISH, CHINESE = Translator("en"), Translator("zh")


def fields(text: str) -> int:
    """How many values a text takes."""
    return sum(name is not None for _, name, _, _ in string.Formatter().parse(text))


def test_an_english_text_is_its_own_translation():
    assert ENGLISH("Hosts") == "Hosts"
    assert ENGLISH("No. {} ({}), {}", 2, "full", "run2") == "No. 2 (full), run2"


def test_a_text_without_a_translation_is_an_error():
    with pytest.raises(KeyError):
        CHINESE("a text that nobody has translated")
    assert ENGLISH("a text that nobody has translated") == "a text that nobody has translated"


def test_values_may_stand_in_another_order():
    text = "The run received {} ({}) from {}; web pages among them: {}."
    told = CHINESE(text, "7", "1 MB", "2", "5")
    assert re.findall(r"[0-9]+", told) == ["2", "7", "1", "5"]


@pytest.mark.parametrize("text", [*ENDS.values(), LIMIT, *KEEPS.values()])
def test_ends_and_ways_of_keeping_are_translated(text: str):
    assert CHINESE(text) != text
    assert fields(CHINESE(text)) == 0


def test_numbers_have_a_noun_in_english_only():
    assert (ENGLISH.count(1, "host"), ENGLISH.count(1234, "host")) == ("1 host", "1,234 hosts")
    assert CHINESE.count(1234, "host") == "1,234"


def test_sentences_follow_each_other_with_a_blank_in_english_only():
    assert ENGLISH.stop("One.", "", "Two.") == "One. Two."
    assert CHINESE.stop("一。", "", "二。") == "一。二。"


@pytest.mark.parametrize(
    ("cause", "chinese"),
    [
        ("connection refused by 127.0.0.1", "连接被拒绝"),
        ("a.test: NXDOMAIN", "域名不存在"),
        ("an error that has no translation", "无法连接服务器"),
        ("", "无法连接服务器"),
    ],
)
def test_a_cause_is_told_as_exactly_as_the_language_has_it(cause: str, chinese: str):
    assert CHINESE.why(-2, cause) == chinese
    assert ENGLISH.why(-2, cause) == (cause or "no connection to the server")


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (404, "there is no such page"),
        (418, "the server refused it"),
        (599, "the server had an error"),
        (-9998, "robots.txt forbids it"),
        (-77, "it could not be fetched"),
    ],
)
def test_a_status_has_a_reason(status: int, reason: str):
    assert reason_of(status) == reason
    assert CHINESE(reason) != reason


@pytest.mark.parametrize(
    ("mime", "kind"),
    [
        ("text/html; charset=utf-8", "web pages"),
        ("application/vnd.ms-excel", "office documents"),
        ("application/rss+xml", "data (JSON, XML)"),
        ("unknown", "not given by the server"),
        ("chemical/x-pdb", "other"),
    ],
)
def test_a_media_type_has_a_kind(mime: str, kind: str):
    assert kind_of(mime) == kind
    assert CHINESE(kind) != kind


def test_the_languages_of_html():
    assert (ENGLISH.tag, CHINESE.tag) == ("en", "zh-CN")
