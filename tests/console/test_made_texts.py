# ruff: noqa: RUF001 - the signs of Chinese texts are meant
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.console.catalogue import language
from nacre.console.made_texts import (
    NAMED,
    PATTERNS,
    SUFFIXES,
    WHOLE,
    MadeTexts,
    values_in,
)

CHINESE = language("zh_CN")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("2026-11-23 20:27 to 2026-11-23 20:31 UTC (one run)",
         "2026-11-23 20:27 至 2026-11-23 20:31 UTC（一次运行）"),
        ("HTTP status 404.", "HTTP 状态 404。"),
        ("there is no job crawls~{x}", "没有任务 crawls~{x}"),
        ("FINISHED", "已完成"),
        ("root via console (uid 0)", "root，通过控制台（uid 0）"),
        ("com,example,", "com,example,"),
        ("", ""),
    ],
)  # fmt: skip
def test_a_text_that_was_made_is_said_in_chinese(text: str, said: str):
    assert CHINESE.made(text) == said
    assert language("en").made(text) == text


def test_each_text_has_its_chinese():
    for text in (*PATTERNS, *WHOLE, *SUFFIXES, *NAMED):
        said = CHINESE.texts.gettext(text)
        assert said.count("{") == text.count("{"), text
        assert said != text or text in {"URI", "true or false"}


@given(st.text())
def test_no_text_is_too_odd(text: str):
    assert isinstance(CHINESE.made(text), str)
    assert isinstance(CHINESE.error(text), str)
    assert MadeTexts(str, PATTERNS).say(text) == text


@given(st.lists(st.text("ab ", max_size=3), min_size=2, max_size=5), st.text("ab ", max_size=12))
def test_values_and_parts_are_the_text_again(parts: list[str], text: str):
    values = values_in(text, parts)
    if values is not None:
        made = "".join(f"{part}{value}" for part, value in zip(parts, (*values, ""), strict=True))
        assert made == text
        assert values[0]


@given(st.lists(st.text("ab ", min_size=1, max_size=3), min_size=1, max_size=4))
def test_a_text_that_was_made_of_values_has_values(values: list[str]):
    parts = ["the ", *(f", {number} " for number in range(len(values) - 1)), " end"]
    text = "".join(f"{part}{value}" for part, value in zip(parts, (*values, ""), strict=True))
    found = values_in(text, parts)
    assert found is not None
    assert len(found) == len(values)


def test_an_odd_text_is_not_compared_piece_by_piece():
    made = MadeTexts(str, PATTERNS)
    text = ": ".join(". ".join(f"a{line}{piece}" for piece in range(110)) for line in range(6))
    assert made.lines(text) == text
    assert made._forms.find.cache_info().misses < 50
