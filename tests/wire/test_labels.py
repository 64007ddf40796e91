import codecs

import pytest

from nacre.wire.labels import _LABELS, codec_of


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
