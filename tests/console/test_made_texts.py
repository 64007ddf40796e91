# ruff: noqa: RUF001 - the signs of Chinese texts are meant
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.console.catalogue import language
from nacre.console.made_texts import PATTERNS, WHOLE, made_text

CHINESE = language("zh_CN")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("it waits its politeness delay for 1.5 s more", "礼貌间隔还剩 1.5 s"),
        ("it has spent 7 of its budget of 9 (frontier.queue_total_budget)",
         "它已用去 7，预算为 9（frontier.queue_total_budget）"),
        ("2026-11-23 20:27 to 2026-11-23 20:31 UTC (one run)",
         "2026-11-23 20:27 至 2026-11-23 20:31 UTC（一次运行）"),
        ("HTTP status 404.", "HTTP 状态 404。"),
        ("there is no job crawls~{x}", "没有任务 crawls~{x}"),
        ("whole number, fetches", "整数，fetches"),
        ("1 min 9 s", "1 分 9 秒"),
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
    for text in (*PATTERNS, *WHOLE):
        said = CHINESE.texts.gettext(text)
        assert said.count("{") == text.count("{"), text
        assert said != text or text in {"URI", "true or false"}


@given(st.text())
def test_no_text_is_too_odd(text: str):
    assert isinstance(CHINESE.made(text), str)
    assert made_text(text, str) == text
