"""The language of a text: declared, by its script, or guessed."""

import pytest

from nacre.extract.fulltext.language import guess_language, language_of, script_language

CHINESE = "国家图书馆是国家总书库，国家书目中心，国家古籍保护中心。"
ENGLISH = "The quick brown fox jumps over the lazy dog near the river. " * 5


@pytest.mark.parametrize(
    ("text", "lang"),
    [
        (CHINESE, "zh"),
        ("国立国会図書館は、日本の国立図書館である。", "ja"),
        ("국립중앙도서관은 대한민국의 국가대표도서관이다", "ko"),
        (ENGLISH, ""),
        (f"{ENGLISH}国家图书馆", ""),
        ("用 nacre crawl 命令抓取网站，再用 nacre search 搜索", "zh"),
        ("国家の図", ""),
        ("Национальная библиотека", ""),
        ("", ""),
    ],
)
def test_the_script_of_a_text_says_its_language(text, lang):
    assert script_language(text) == lang


@pytest.mark.parametrize(
    ("declared", "text", "lang"),
    [
        ("zh-cn", CHINESE, "zh-cn"),
        ("en", CHINESE, "zh"),
        ("en-us", ENGLISH, "en-us"),
        ("de", ENGLISH, "de"),
        ("zh-cn", ENGLISH, "en"),
        ("zh-cn", "Home page", "zh-cn"),
        ("ja", CHINESE, "ja"),
        ("", ENGLISH, "en"),
        ("", CHINESE, "zh"),
        ("", "", ""),
        ("fr", "", "fr"),
    ],
)
def test_a_declaration_counts_unless_the_script_contradicts_it(declared, text, lang):
    assert language_of(declared, text) == lang


@pytest.mark.parametrize(
    ("text", "lang"),
    [
        (ENGLISH * 2, "en"),
        ("De snelle bruine vos is over de luie hond gesprongen en ligt in het gras. " * 5, "nl"),
        ("Den hurtige brune r\u00e6v and og den dovne hund ligger for enden af haven. " * 5, "da"),
        ("for (i = 0; i < n; i++) { if (is_word(this) or that) return not it; } " * 9, "en"),
    ],
)
def test_english_is_known_without_the_model_and_others_are_not_taken_for_it(text, lang):
    assert guess_language(text) == lang
