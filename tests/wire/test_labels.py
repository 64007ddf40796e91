import codecs

import pytest

from nacre.wire.labels import _LABELS, codec_of, name_of


@pytest.mark.parametrize(
    ("label", "codec"),
    [
        ("UTF-8", "utf-8"),
        (" \tutf8\n", "utf-8"),
        ("ISO-8859-1", "cp1252"),
        ("us-ascii", "cp1252"),
        ("gb2312", "gbk"),
        ("GB18030", "gb18030"),
        ("Shift_JIS", "cp932"),
        ("ks_c_5601-1987", "cp949"),
        ("iso-8859-9", "cp1254"),
        ("utf-7", None),
        ("", None),
        ("no such thing", None),
    ],
)
def test_labels(label, codec):
    assert codec_of(label) == codec


def test_python_has_every_codec_and_no_label_stands_twice():
    labels = [label for names in _LABELS.values() for label in names.split()]
    assert len(labels) == len(set(labels))
    for codec in _LABELS:
        assert codecs.lookup(codec).encode("a")[0].strip(b"\0") == b"a"


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("utf8", "UTF-8"),
        ("gb2312", "GBK"),
        ("big5-hkscs", "Big5"),
        ("sjis", "Shift_JIS"),
        ("latin1", "windows-1252"),
        ("iso-8859-2", "ISO-8859-2"),
        ("koi8-r", "KOI8-R"),
        ("windows-949", "EUC-KR"),
    ],
)
def test_names_are_those_of_java(label, name):
    assert name_of(codec_of(label) or "") == name


def test_every_name_is_a_label_and_fit_for_a_log():
    for codec in _LABELS:
        name = name_of(codec).removeprefix("x-windows-").removeprefix("x-Mac")
        assert name.isascii()
        assert set(name.replace("Shift_JIS", "")).isdisjoint(" _")
    assert name_of("rot13") == "rot13"
