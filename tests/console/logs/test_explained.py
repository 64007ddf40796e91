"""Lines of crawl.log in words."""

import pytest

from nacre.annotations import ANNOTATIONS, attempts
from nacre.console.logs.lines import annotation_words, in_words
from nacre.report.log_fields import crawl_log_fields
from nacre.web.languages import language

LINE = (
    "2026-11-23T10:00:00.000Z   {} 10 http://h.test/ {} http://h.test/a text/html #001 "
    "20261123100000000+5 sha1:A - {}"
)


def same(text: str) -> str:
    return text


def said(status: int, path: str, annotations: str, name: str = "en") -> str:
    fields = crawl_log_fields(LINE.format(status, path, annotations))
    assert fields is not None
    return in_words(language(name).texts.gettext, fields)


def test_a_line_is_told_in_words():
    told = said(404, "LE", "3t,lenTrunc,strange")
    assert told.startswith("404: the server answered 404 (Not Found).")
    assert "way from the seed: link → embedded." in told
    assert "3t: The URI was tried N times" in told
    assert "lenTrunc: The body is cut" in told
    assert "strange" not in told
    assert said(200, "-", "-").endswith("a seed.")
    assert "… (12+) → link → redirect" in said(200, "12+LR", "-")


def test_a_line_is_told_in_chinese():
    told = said(-9998, "LX", "3t", "zh_CN")
    assert "robots.txt 禁止" in told
    assert "the" not in told


@pytest.mark.parametrize("name", sorted(ANNOTATIONS))
def test_each_annotation_has_its_own_meaning(name: str):
    token = ANNOTATIONS[name].token
    if not any(part in token for part in ("NAME", "KEY", "CLASS", "N")):
        assert annotation_words(same, token) == ANNOTATIONS[name].meaning
    assert annotation_words(language("zh_CN").texts.gettext, "lenTrunc") != annotation_words(
        same, "lenTrunc"
    )


def test_values_of_annotations_are_anything():
    assert annotation_words(same, attempts(12)).startswith("The URI was tried")
    assert annotation_words(same, "usingCharsetDetected:gb18030").startswith("The charset was")
    assert annotation_words(same, "verdict:content:0.4").startswith("What an incremental")
    assert annotation_words(same, "Runtime exceeded 5000ms").startswith("Status -5004")
    assert annotation_words(same, "xt") == ""
