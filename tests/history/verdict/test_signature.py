"""Whole-page signatures: Nutch's, the Chinese one, the paper's."""

import pytest

from nacre.extract.pageview import page_view
from nacre.history.verdict.signature import TextProfile, paper_changed, text_distance, text_profile

BEFORE = "各单位:经研究,决定延长政策期限至2024年12月底。请各单位遵照执行。政策性 政策性"
AFTER = "各单位:经研究,决定取消政策期限至2023年6月起。请各单位遵照执行。政策性 政策性"


def _of(text: str, **said: object) -> str:
    return text_profile(text, text.encode(), TextProfile.model_validate(said)).hex()


def test_words_once_vanish_when_others_come_twice() -> None:
    assert _of("Fox the fox the quick") == _of("fox the Fox brown the")
    assert _of("alpha beta") != _of("alpha gamma")


def test_nutch_does_not_see_a_changed_chinese_policy_but_ours_does() -> None:
    assert _of(BEFORE) == _of(AFTER)
    assert _of(BEFORE, unspaced=True, quant_rate=0.0) != _of(AFTER, unspaced=True, quant_rate=0.0)


def test_without_text_the_payload_signs() -> None:
    settings = TextProfile()
    assert text_profile("", b"one", settings) != text_profile("", b"two", settings)
    assert text_profile("..", b"one", settings) == text_profile("..", b"two", settings)


def test_latin_words_inside_chinese_text_are_kept() -> None:
    once = _of("使用Python编程Python语言", unspaced=True)
    assert once != _of("使用编程语言", unspaced=True)


@pytest.mark.parametrize(("threshold", "changed"), [(0.0, True), (0.05, True), (0.9, False)])
def test_the_threshold_that_the_paper_promises(threshold: float, *, changed: bool) -> None:
    old, new = page_view(f"<p>{BEFORE}</p>"), page_view(f"<p>{AFTER}</p>")
    assert paper_changed(old, new, threshold) is changed
    assert not paper_changed(old, old, threshold)


def test_distances() -> None:
    assert text_distance("abcdefgh", "abcdefgh") == 0.0
    assert text_distance("abcdefgh", "zyxwvuts") == 1.0
    assert text_distance("", "") == 0.0
