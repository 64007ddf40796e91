"""The lines of a page that are its content."""

import pytest

from nacre.extract.fulltext.main_part import split_text

LONG = "a long line of the text that nobody could take for a part of a menu"


@pytest.mark.parametrize(
    ("whole", "found", "content", "rest"),
    [
        ("a\nb\nb\nc", "b", "b", "a\nb\nc"),
        ("a", "a", "a", ""),
        ("menu\n\n敦煌藏经洞\n\nfoot", "煌藏经洞", "敦煌藏经洞", "menu\nfoot"),
        (f"one\n{LONG}\nmenu one\ntwo", f"one{LONG}", f"one\n{LONG}", "menu one\ntwo"),
        (f"{LONG}\nA\nB\n{LONG}.", f"{LONG}\n{LONG}.", f"{LONG}\nA\nB\n{LONG}.", ""),
        (f"{LONG}\n{LONG}!\n{LONG}.", f"{LONG}\n{LONG}.", f"{LONG}\n{LONG}.", f"{LONG}!"),
        ("share it now text\nx", "text", "share it now text", "x"),
        ("Home\nx1\nx2\nHome\ny1", "Home\nx2\nHome\ny1", "Home\nx1\nx2\nHome\ny1", ""),
        ("other", "unlike", "unlike", "other"),
    ],
)
def test_lines_of_the_content_are_whole(whole, found, content, rest):
    assert split_text(whole, found) == (content, rest)
