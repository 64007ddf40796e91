"""Terms of texts in several scripts, and the phrases that find them."""

from operator import add

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.search.analysis import (
    _RUNS,
    LONGEST,
    PhraseFinder,
    QueryPhrase,
    fold,
    index_terms,
    query_phrase,
)


def finds(asked: str, text: str) -> bool:
    """Whether an index of the terms of a text has the phrase, as a phrase query does."""
    phrase, terms = query_phrase(asked), index_terms(text).split(" ")
    *first, last = phrase.terms
    for at in range(len(terms) - len(first)):
        end = terms[at + len(first)]
        ends = end.startswith(last) if phrase.prefix else end == last
        if ends and terms[at : at + len(first)] == first:
            return True
    return False


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Hello, World", "hello world"),
        ("国家图书馆", "国家 家图 图书 书馆 馆"),
        ("Python语言 3.11", "python 语言 言 3 11"),
        ("ＡＢＣ ｶﾅ", "abc カナ ナ"),
        ("foo_bar", "foo bar"),
        ("Straße", "strasse"),
        ("馆", "馆"),
        ("서울 시", "서울 울 시"),
        ("", ""),
        ("x" * 500, "x" * LONGEST),
    ],
)
def test_terms(text, terms):
    assert index_terms(text) == terms


@pytest.mark.parametrize(
    ("asked", "phrase"),
    [
        ("图书馆", QueryPhrase(("图书", "书馆"))),
        ("馆", QueryPhrase(("馆",), prefix=True)),
        ("Python语", QueryPhrase(("python", "语"), prefix=True)),
        ("图书馆 开放", QueryPhrase(("图书", "书馆", "馆", "开放"))),
        ("人人", QueryPhrase(("人人",))),
        ("two words", QueryPhrase(("two", "words"))),
        ("!?", QueryPhrase(())),
    ],
)
def test_phrases(asked, phrase):
    assert query_phrase(asked) == phrase


@pytest.mark.parametrize("asked", ["图书馆", "馆", "国", "书馆，开", "语言3", "言", "PYTHON语言"])
def test_what_stands_in_a_text_is_found(asked):
    assert finds(asked, "国家图书馆，开放时间；Python语言3 卷")


@pytest.mark.parametrize("asked", ["图馆", "国书", "开放图", "ython", "时间语言"])
def test_what_does_not_stand_there_is_not_found(asked):
    assert not finds(asked, "国家图书馆，开放时间；Python 语言")


WORDS = [
    ("Donaudampfschifffahrt", "Die Donau\u00addampf\u00adschiff\u00adfahrt"),
    ("Bibliothek", "Biblio\u2060thek"),
    ("کتابخانه", "کتاب\u200cخانه"),
    ("Lesesaal", "Lese\u200dsaal"),
    ("Katalog", "Kata\ufefflog"),
    ("Archivar", "Archi\u200evar"),
    ("مكتبة", "مَكْتَبَةٌ"),
    ("كتاب", "كتـــاب"),
    ("خانه", "خانهٔ"),
    ("שלום", "שָׁלוֹם"),
    ("בית ספר", "בֵּית־סֵפֶר"),
    ("ישראל", "יִשְׂרָאֵל"),
    ("Россия", "Росси́я"),
    ("İstanbul", "istanbul"),
    ("café", "cafe\u0301"),
    ("x", "x\u0304"),
    ("हिन्दी", "यह हिन्दी है"),
    ("தமிழ்", "தமிழ்"),
    ("ශ්රී", "ශ්\u200dරී"),
    ("ภาษาไทย", "นี่คือภาษาไทยนะ"),
    ("ภาษาไทย", "ภาษา\u200bไทย"),
    ("ខ្មែរ", "ភាសាខ្មែរ។"),
    ("葛城", "葛\U000e0100城市"),
    ("データベース", "ﾃﾞｰﾀﾍﾞｰｽ"),
    ("がく", "か\u3099く"),
    ("can't", "they can’t"),
    ("org", "example.org"),
    ("example.org", "http://example.org/"),
    ("צה״ל", 'חיילי צה"ל שם'),
]


@pytest.mark.parametrize(("asked", "text"), WORDS)
def test_a_word_is_found_however_it_is_written(asked, text):
    assert finds(asked, text)
    assert finds(text, text)
    places = list(PhraseFinder(query_phrase(asked)).places(fold(text)))
    assert len(places) == 1


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ("हद", "हिन्दी"),
        ("ह", "हिन्दी"),
        ("foobar", "foo\u200bbar"),
        ("cafe", "café"),
        ("Росси", "Росси́я"),
        ("ไทย", "ไ๏ทย"),
    ],
)
def test_parts_of_a_word_are_not_found(asked, text):
    assert not finds(asked, text)


@given(st.text("国家图书馆员 开,a1", min_size=1, max_size=30), st.data())
def test_every_substring_of_unspaced_text_is_found(text, data):
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    asked = text[start:end]
    # Words are found as a whole: the substring must not cut one.
    cut = [text[start - 1 : start + 1] if start else "", text[end - 1 : end + 1]]
    if any(len(one) == 2 and one.isascii() and one.isalnum() for one in cut):
        return
    if query_phrase(asked).terms:
        assert finds(asked, text)


LETTERS = "国家图书馆员 人人开,。a1B_ß́é”\u200b\u00adไทิहि\u064eـ"


@given(st.text(LETTERS, max_size=40) | st.text(max_size=60))
def test_terms_are_runs_of_letters_and_pairs_of_unspaced_characters(text):
    said = text.encode("utf-8", "replace").decode()
    terms: list[str] = []
    for run, word in _RUNS.findall(fold(said)):
        if word:
            terms.append(word[:LONGEST])
        else:
            run = run.replace("\u200b", "")  # noqa: PLW2901 - the same run
            terms += [*map(add, run, run[1:]), run[-1]]
    assert index_terms(text) == " ".join(terms)


@given(st.text(LETTERS, max_size=40), st.text(LETTERS, min_size=1, max_size=4))
def test_places_of_a_phrase_are_where_it_is_found(text, asked):
    phrase = query_phrase(asked)
    places = list(PhraseFinder(phrase).places(fold(text)))
    assert bool(places) == (bool(phrase.terms) and finds(asked, text))
    for start, end in places:
        assert finds(asked, fold(text)[start:end])


def test_marks_without_end_are_cut():
    marks = "\u0301\u0323" * 50_000
    assert len(fold("a" + marks + " b")) < 100
    assert fold("e\u0301") == fold("é")
