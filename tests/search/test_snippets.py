"""The part of a text that has what was asked for."""

import pytest

from nacre.search.analysis import query_phrase
from nacre.search.snippets import snippet_of

LONG = "words before it. " * 100 + "Here the Quick brown fox jumps." + " words behind it." * 100


def test_the_part_with_the_words_is_shown_and_they_are_marked():
    found = snippet_of(LONG, [query_phrase("quick brown"), query_phrase("jumps")])
    assert "Here the **Quick brown** fox **jumps**." in found.marked("**", "**")
    assert found.text.startswith("…")
    assert found.text.endswith("…")
    assert len(found.text) <= 222


@pytest.mark.parametrize("asked", ["图书馆", "馆", "书馆，开"])
def test_chinese(asked):
    text = "前言" * 300 + "国家图书馆，开放时间" + "后记" * 300
    found = snippet_of(text, [query_phrase(asked)])
    assert f"<{asked}>" in found.marked("<", ">")


def test_without_a_match_the_beginning_is_shown():
    found = snippet_of(LONG, [query_phrase("nowhere")])
    assert found.text.startswith("words before it.")
    assert found.marks == ()
    assert snippet_of("", [query_phrase("x")]).text == ""


def test_text_that_normal_form_lengthens_is_shown_in_it():
    assert (
        snippet_of("½ of the ﬁsh", [query_phrase("fish")]).marked("<", ">") == "1⁄2 of the <fish>"
    )


def test_what_stands_far_behind_is_found_and_a_part_with_all_words_is_best():
    text = "fox alone. " + "filler words\n" * 9_000 + " the brown FOX.\n\n" + "more " * 9_000
    found = snippet_of(text, [query_phrase("fox"), query_phrase("brown")])
    assert "the **brown** **FOX**. more" in found.marked("**", "**")
    assert found.text.startswith("…")
    assert "\n" not in found.text


def test_letters_whose_small_form_is_longer_are_marked():
    found = snippet_of("In der Straße İstanbul ist Fußball", [query_phrase("strasse fussball")])
    assert found.marks == ()
    found = snippet_of("In der Straße, İ, Fußball", [query_phrase("fussball")])
    assert found.marked("<", ">") == "In der Straße, İ, <Fußball>"
