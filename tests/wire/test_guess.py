import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.uri.query import reader_of
from nacre.wire.guess import _LABELS, SAMPLE, Hints, codec_of, guess, name_of

NEWS = {
    "gbk": "通知公告 校园新闻 图书馆开放时间 关于举办学术讲座的通知",
    "big5hkscs": "最新消息 學生事務處 圖書館開放時間 關於舉辦學術講座的公告",
    "cp932": "お知らせ 図書館の開館時間 学術講演会の開催について",
    "euc_jp": "お知らせ 図書館の開館時間 学術講演会の開催について",
    "iso2022_jp": "お知らせ 図書館の開館時間 学術講演会の開催について",
    "cp949": "공지사항 도서관 이용 시간 학술 강연회 안내",
    "cp1251": "Новости университета, библиотека и расписание занятий",
    "koi8-r": "Новости университета, библиотека и расписание занятий",
    "iso8859-5": "Новости университета, библиотека и расписание занятий",
    "cp866": "Новости университета, библиотека и расписание занятий",
    "cp1253": "Νέα του πανεπιστημίου, βιβλιοθήκη και ανακοινώσεις",
    "iso8859-2": "Źródła i książki: wiadomości, ogłoszenia, biblioteka główna, łączność",
    "cp1252": "Actualités de l'université, bibliothèque et événements de l'été",
    "utf-8": "通知公告",
}


@pytest.mark.parametrize("codec", NEWS)
def test_text_in_each_encoding_is_read_as_written(codec):
    text = NEWS[codec]
    body = f"<title>{text}</title>".encode(codec)
    found, source = guess(body)
    assert source == "detected"
    assert body.decode(reader_of(found)) == f"<title>{text}</title>"


@pytest.mark.parametrize("codec", NEWS)
def test_text_that_comes_late_counts(codec):
    body = b"<script>" + b"x = 1; " * 9000 + b"</script>" + NEWS[codec].encode(codec)
    found, _ = guess(body)
    assert NEWS[codec] in body.decode(reader_of(found))


@pytest.mark.parametrize("codec", ["gbk", "big5hkscs", "cp932", "euc_jp", "cp949", "koi8-r"])
def test_text_behind_much_script_counts_as_well(codec):
    text = NEWS[codec]
    title = f"<title>{text[:2]}</title>".encode(codec)
    script = b"<script>" + b"if (a < b && b > c) { go(); }\n" * 1000 + b"</script>"
    found, _ = guess(title + script + "".join(f"<p>{text}</p>\n" for _ in range(30)).encode(codec))
    assert found in {codec, "koi8-u" if codec == "koi8-r" else codec}


def test_ascii_needs_none():
    assert guess(b"plain") == ("cp1252", "default")
    assert guess(b"\x1b[1mbold\x1b(B") == ("cp1252", "default")


def test_the_top_level_domain_decides_where_a_word_does_not():
    word = "联通".encode("gbk")
    assert guess(word) == ("euc_jp", "detected")
    assert guess(word, "http://www.example.cn/a") == ("gbk", "detected")
    for url in ("http://1.2.3.4/", "http://[::1]/", "http://a_b/", "dns:a", "no url"):
        assert guess(word, url)[1] == "detected"


CZECH = "Členové".encode("cp1250")


def test_hints_decide_by_weight_where_a_text_leaves_it_open():
    assert guess(CZECH)[0] != "cp1250"
    assert guess(CZECH, hints=Hints(host="cp1250")) == ("cp1250", "host")
    assert guess(CZECH, hints=Hints(via="cp1250", host="cp1250")) == ("cp1250", "via")
    assert guess(CZECH, hints=Hints(before="cp1250", via="gbk")) == ("cp1250", "before")
    assert guess(CZECH, hints=Hints(link="cp1250", via="gbk")) == ("cp1250", "link")


def test_a_hint_that_the_text_contradicts_counts_nothing():
    for codec, text in NEWS.items():
        if codec in {"cp932", "cp1251", "gbk", "cp949"}:
            hints = Hints("big5hkscs", "utf-8", "cp866", "hz")
            found, _ = guess(2 * text.encode(codec), hints=hints)
            assert found == codec


def test_an_encoding_with_more_letters_keeps_its_name():
    assert guess(NEWS["gbk"].encode("gbk"), hints=Hints(via="gb18030")) == ("gb18030", "detected")
    assert guess(NEWS["koi8-r"].encode("koi8-r"), hints=Hints(via="koi8-r"))[0] == "koi8-r"


def test_two_characters_that_are_utf8_by_chance_are_what_is_stated():
    chance = "牡谩".encode("gbk")
    assert chance.decode("utf-8")
    assert guess(chance)[0] == "utf-8"
    assert guess(chance, hints=Hints(via="gbk"))[0] == "gbk"
    for text in ("通知", "©", "é", "© 4 · 3", "вес", "νέα"):
        assert guess(text.encode(), hints=Hints(via="gbk")) == ("utf-8", "detected")


def test_utf8_with_a_broken_place_is_utf8():
    body = ("通知公告" * 20).encode() + b"\xff" + "图书馆".encode()
    assert guess(body) == ("utf-8", "detected")
    assert guess(b"caf\xe9")[0] == "cp1252"


def test_a_declaration_within_the_text_is_a_quotation():
    body = NEWS["gbk"].encode("gbk") + b"<meta charset=utf-8><META charset=big5>"
    assert guess(body)[0] == "gbk"


@pytest.mark.parametrize("codec", ["gbk", "big5hkscs", "cp932", "euc_jp", "cp949", "iso2022_jp"])
def test_a_long_text_is_not_cut_within_a_character(codec):
    for shift in range(4):
        line = f'<a href="/x">{NEWS[codec]}</a>\n'.encode(codec)
        body = b"x" * shift + line * (4 * SAMPLE // len(line))
        assert guess(body)[0] == codec


@given(
    st.binary(max_size=300),
    st.text(max_size=30),
    st.builds(Hints, *[st.sampled_from(["", "gbk", "cp1251", "no-such", "hz"])] * 4),
)
def test_never_fails(body, url, hints):
    codec, source = guess(body, url, hints)
    assert isinstance(body.decode(reader_of(codec), "replace"), str)
    assert source in {"default", "detected", "link", "before", "via", "host"}
    assert source != "detected" or name_of(codec) != codec


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
