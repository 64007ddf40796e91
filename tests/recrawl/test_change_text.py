"""Differences in words: what went, what came, and little of what stayed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.core.changes import ELLIPSIS, ChangedText, TextRun
from nacre.core.pagerow import PageView, Piece
from nacre.planner.change_detection.template import PieceDifference
from nacre.recrawl import change_text
from nacre.recrawl.change_text import (
    LONGEST_LEAD,
    LONGEST_RUN,
    LONGEST_TEXT,
    LONGEST_TITLE,
    MOST_TEXTS,
    clean_text,
    page_difference,
    page_lead,
    page_title,
    word_difference,
)


def marked(was: str, now: str) -> str:
    signs = {"=": "{}", "-": "[-{}-]", "+": "{{+{}+}}"}
    return "".join(signs[run.kind].format(run.text) for run in word_difference(was, now))


@pytest.mark.parametrize(
    ("was", "now", "difference"),
    [
        ("", "Sunday", "{+Sunday+}"),
        ("Sunday", "", "[-Sunday-]"),
        ("Monday to Friday.", "Monday to Sunday.", "Monday to [-Friday-]{+Sunday+}."),
        ("周一至周五开放", "周一至周六开放", "周一至周[-五-]{+六+}开放"),
        ("上午九点开放。", "开放。", "[-上午九点-]开放。"),
        ("開館は9時", "開館は10時", "開館は[-9-]{+10+}時"),
        ("version 3.2.1 of", "version 3.2.3 of", "version 3.2.[-1-]{+3+} of"),
        ("a big red house", "a small green house", "a [-big red-]{+small green+} house"),
        ("the same", "the same", "the same"),
        ("x y", "x\u202e y", "x y"),
        ("x y", "x\x1b[31m y", "x{+\ufffd[31m+} y"),
    ],
)
def test_the_words_of_a_difference(was: str, now: str, difference: str):
    assert marked(was, now) == difference


def test_words_that_stayed_are_shortened():
    head, tail = "word " * 100, " other" * 100
    runs = word_difference(f"{head}old{tail}", f"{head}new{tail}")
    assert [run.kind for run in runs] == ["=", "-", "+", "="]
    assert runs[0].text.startswith(ELLIPSIS)
    assert runs[0].text.endswith("word ")
    assert runs[3].text.startswith(" other")
    assert runs[3].text.endswith(ELLIPSIS)
    assert max(len(run.text) for run in runs) < 90


def test_long_texts_are_compared_in_bounded_time_and_space():
    was, now = (" ".join(f"{word}{n}" for n in range(20_000)) for word in ("old", "new"))
    runs = word_difference(was, now)
    assert [run.kind for run in runs] == ["-", "+"]
    assert max(len(run.text) for run in runs) == LONGEST_RUN + len(ELLIPSIS)


def test_a_text_with_many_differences_is_cut():
    was, now = (" ".join(f"word{n} {side}{n}" for n in range(5_000)) for side in ("a", "b"))
    runs = word_difference(was, now)
    assert runs[-1] == TextRun("=", ELLIPSIS)
    assert LONGEST_TEXT < sum(len(run.text) for run in runs) < LONGEST_TEXT + LONGEST_RUN


@given(st.text("ab 周。\n", max_size=60), st.text("ab 周。\n", max_size=60))
def test_the_words_of_each_side_are_its_text(was: str, now: str):
    runs = word_difference(was, now)
    assert "".join(run.text for run in runs if run.kind in "=-") == clean_text(was)
    assert "".join(run.text for run in runs if run.kind in "=+") == clean_text(now)


@given(st.text(max_size=50))
def test_a_clean_text_is_printable(text: str):
    assert clean_text(text).replace("\u200c", "").replace("\u200d", "").isprintable()


def pair(kind: str, was: str | None, now: str | None) -> PieceDifference:
    before, after = (None if text is None else Piece(kind, 1, text) for text in (was, now))
    return PieceDifference(before, after)


def test_texts_come_before_links_and_menus():
    found = page_difference([pair("link", None, "/new.html"), pair("text", "old", None)])
    assert [text.kind for text in found.texts] == ["text", "link"]
    assert found.texts[1] == ChangedText("link", (TextRun("+", "/new.html"),))
    assert found.more == 0


def test_many_differences_are_counted():
    found = page_difference([pair("text", None, str(n)) for n in range(MOST_TEXTS + 3)])
    assert (len(found.texts), found.more) == (MOST_TEXTS, 3)


@pytest.mark.parametrize(
    ("pieces", "title", "lead"),
    [
        ((), "", ""),
        ((Piece("title", 1, "标题"), Piece("heading", 1, "开放时间")), "标题", "开放时间"),
        ((Piece("nav", 1, "Menu"), Piece("heading", 1, "Head")), "Head", "Head"),
    ],
)
def test_the_title_and_the_lead_of_a_page(pieces: tuple[Piece, ...], title: str, lead: str):
    view = PageView(pieces)
    assert (page_title(view), page_lead(view)) == (title, lead)


def test_titles_and_leads_are_bounded():
    view = PageView((Piece("title", 1, "t" * 9_000), Piece("text", 1, "字" * 9_000)))
    assert len(page_title(view)) == LONGEST_TITLE + len(ELLIPSIS)
    assert len(page_lead(view)) == LONGEST_LEAD + len(ELLIPSIS)


def test_a_difference_at_the_end_of_a_long_text_has_its_words():
    rest = "博物馆的展览 and its catalogue " * 40_000
    pair = PieceDifference(Piece("text", 1, f"{rest}Friday"), Piece("text", 1, f"{rest}Sunday"))
    (text,) = page_difference([pair]).texts
    assert [run.kind for run in text.runs] == ["=", "-", "+"]
    assert text.runs[0].text.startswith(ELLIPSIS)
    assert [run.text for run in text.runs[1:]] == ["Friday", "Sunday"]


def test_many_long_texts_are_compared_in_a_bounded_part(monkeypatch: pytest.MonkeyPatch):
    lengths = list[int]()

    def compare(was: str, now: str) -> tuple[TextRun, ...]:
        lengths.append(max(len(was), len(now)))
        return word_difference(was, now)

    monkeypatch.setattr(change_text, "word_difference", compare)
    size = 10_000_000 // MOST_TEXTS
    pair = PieceDifference(Piece("text", 1, "上" * size), Piece("text", 1, "下" * size))
    difference = page_difference([pair] * MOST_TEXTS)
    assert len(difference.texts) == MOST_TEXTS
    assert all({run.kind for run in text.runs} == {"-", "+"} for text in difference.texts)
    assert lengths == [100_000, 100_000, *[2_000] * (MOST_TEXTS - 2)]
