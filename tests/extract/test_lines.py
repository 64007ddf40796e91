"""Line breaks that are no space."""

import pytest

from nacre.extract.lines import is_no_space, join_lines, one_line


@pytest.mark.parametrize(
    ("before", "after", "vanishes"),
    [
        ("中", "国", True),
        ("の", "デ", True),
        ("ｱ", "漢", True),
        ("。", "第", True),
        ("）", "（", True),
        ("Ａ", "漢", True),
        ("”", "他", True),
        ("说", "…", True),
        ("”", "“", False),
        ("国", "a", False),
        ("韓", "국", False),
        ("서", "울", False),
        ("ไ", "ท", False),
        ("\u3000", "中", False),
        ("a", "\u200b", True),
    ],
)
def test_where_a_break_is_no_space(before, after, vanishes):
    assert is_no_space(before, after) is vanishes
    assert is_no_space(after, before) is vanishes


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("四库\n全书\r\n的\r影印本\n", "四库全书的影印本\n"),
        ("四库 \t\n  全书", "四库全书"),
        ("四库\n\n全书", "四库\n\n全书"),
        ("四库\n\u3000\u3000全书", "四库\n\u3000\u3000全书"),
        ("one\ntwo\n中文", "one\ntwo\n中文"),
        ("Donau\u00ad\n  dampf", "Donaudampf"),
        ("plain\ntext", "plain\ntext"),
    ],
)
def test_lines_of_a_file_of_text(text, joined):
    assert join_lines(text) == joined


def test_a_title_in_one_line():
    assert one_line(" 国家\n  图书馆 \n Library\tof ") == "国家图书馆 Library of"


def test_a_long_run_of_spaces_is_read_once():
    text = ("中" + "\n" * 200_000) * 3 + "x"
    assert one_line(text) == "中中中 x"
