import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.uri.parse import parse
from nacre.wire.urltext import ENCODINGS, letters, letters_of_host, readable_url, spellings

A_SLASH = "xn--" + "通\uff0f知".encode("punycode").decode()


def escaped(text: str, codec: str) -> str:
    return "".join(f"%{byte:02X}" for byte in text.encode(codec))


@pytest.mark.parametrize(
    ("text", "codec", "domain"),
    [
        ("通知公告", "utf-8", "com"),
        ("通知公告", "gbk", "com"),
        ("通知公告", "gbk", "cn"),
        ("学校", "gbk", "cn"),
        ("通知", "gbk", "test"),
        ("да", "utf-8", "com"),
        ("Zażółć", "utf-8", "com"),
        ("știri", "utf-8", "com"),
        ("最新消息", "big5", "tw"),
        ("お知らせ", "cp932", "jp"),
        ("お知らせ", "euc_jp", "jp"),
        ("공지사항", "cp949", "kr"),
        ("Новости", "cp1251", "ru"),
        ("Новости", "koi8-r", "ru"),
        ("Новости", "utf-8", "cn"),
        ("Événement", "utf-8", "fr"),
        ("附件1096", "utf-8", "com"),
        ("附件1096", "gbk", "com"),
        *((char, "gbk", top) for char in "学书日月" for top in ("com", "cn", "test")),
        ("2007年", "gbk", "org"),
        ("é", "utf-8", "com"),
        ("Ж", "utf-8", "org"),
        ("ω", "utf-8", "org"),
        ("路", "gbk", "cn"),
    ],
)
def test_escapes_are_shown_as_letters(text, codec, domain):
    part = escaped(text, codec)
    assert readable_url(f"http://a.{domain}/x/{part}.doc?q={part}&n=1") == (
        f"http://a.{domain}/x/{text}.doc?q={text}&n=1"
    )


def test_one_character_beside_a_letter_is_read_as_a_part_of_a_word():
    assert letters("F%FC%DFe", "http://a.com/") == "Füße"
    assert letters("%D1%A7%20A", "http://a.ru/") != "学%20A"


def test_the_charset_of_the_page_decides():
    part = escaped("공지사항", "cp949")
    assert readable_url(f"http://a.com/{part}", "euc-kr") == "http://a.com/공지사항"
    assert letters(escaped("通知", "utf-8"), charset="gbk") == "通知"
    assert readable_url(f"http://a.com/{part}", "cp949") == "http://a.com/공지사항"
    assert readable_url(f"http://a.com/{part}", "no such") != f"http://a.com/{part}"
    assert letters(escaped("表", "cp932"), charset="cp932") == "表"
    assert letters(escaped("消息", "big5"), charset="big5hkscs") == "消息"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://a.test/b?c=d#e", "http://a.test/b?c=d#e"),
        ("http://a.test/%7Euser/%41.html", "http://a.test/~user/A.html"),
        ("http://a.test/a%2Fb%3F?c=%26%3D%25&d=%20", "http://a.test/a%2Fb%3F?c=%26%3D%25&d=%20"),
        ("http://a.test/%00%0A%1B%7f", "http://a.test/%00%0A%1B%7f"),
        ("http://a.test/%E2%80%AEcod.exe", "http://a.test/%E2%80%AEcod.exe"),
        ("http://a.test/%E2%81%A6%E2%80%8F%EF%BB%BF", "http://a.test/%E2%81%A6%E2%80%8F%EF%BB%BF"),
        ("http://a.test/%E3%80%80%C2%A0%E2%80%A8", "http://a.test/%E3%80%80%C2%A0%E2%80%A8"),
        ("http://a.test/%CC%81e%CC%81%CC%81", "http://a.test/%CC%81e\u0301\u0301"),
        ("http://a.test/%EE%80%80", "http://a.test/%EE%80%80"),
        ("http://a.test/" + 8 * "%E9%80%9A" + "%FF", "http://a.test/" + 8 * "通" + "%FF"),
        ("http://a.test/%zz%e", "http://a.test/%zz%e"),
        ("http://xn--fsqu00a.xn--g6w251d:80/", "http://例子.測試:80/"),
        ("http://xn--80ak6aa92e.com/", "http://xn--80ak6aa92e.com/"),
        ("http://xn--a.test/", "http://xn--a.test/"),
        ("http://" + A_SLASH + ".test/", "http://" + A_SLASH + ".test/"),
        ("http://xn--" + "a" * 70 + ".test/", "http://xn--" + "a" * 70 + ".test/"),
        ("http://a.test/%D7%A9%D7%9C", "http://a.test/של"),
        ("http://a.test/\x1b[1m \u202e", "http://a.test/%1B[1m%20%E2%80%AE"),
        ("dns:a.test", "dns:a.test"),
        ("\x07", "%07"),
        ("", ""),
    ],
)
def test_what_would_mislead_stays_escaped(url, shown):
    assert readable_url(url) == shown


def test_the_second_byte_of_a_character_may_be_a_letter():
    assert readable_url("http://a.tw/?q=%B3q%AA%BE%A4%BD%A7i") == "http://a.tw/?q=通知公告"
    assert readable_url("http://a.cn/?q=%D6%40", "gbk") == "http://a.cn/?q=諤"


@given(
    st.text(max_size=60) | st.from_regex(r"(?:%[0-9A-Fa-f]{2}|[a-z/?&=.]){0,30}", fullmatch=True)
)
def test_what_is_shown_is_on_one_line_and_in_one_direction(text):
    for url in (text, f"http://a.test/{text}"):
        shown = readable_url(url)
        assert shown == "" or (shown.isprintable() and " " not in shown)
        assert not any(char in shown for char in "\u202a\u202e\u2066\u200f\u200b\ufeff")


@given(st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FA5), min_size=1, max_size=8))
def test_what_is_shown_of_utf8_is_understood_when_typed(text):
    url = parse(f"http://a.test/{text}?q={text}")
    assert parse(readable_url(url)) == url


@pytest.mark.parametrize("codec", ENCODINGS)
def test_what_is_typed_is_spelt_in_each_encoding(codec):
    text = {"cp1251": "вести", "koi8-r": "вести", "cp949": "공지", "cp1253": "νέα"}.get(codec, "")
    text = text or {"big5hkscs": "消息", "gbk": "通知"}.get(codec, "")
    text = text or ("図書" if codec in {"cp932", "euc_jp"} else "")
    text = text or {"cp1256": "خبر", "cp874": "ข่าว", "cp1254": "ığ"}.get(codec, "é")
    found = set(spellings(parse(f"http://a.test/l/{text}?cat={text}&n=1")))
    raw = text.encode(codec)
    in_path = "".join(chr(b) if chr(b).isalnum() and b < 128 else f"%{b:02X}" for b in raw)
    in_query = "".join(chr(b) if 0x2A < b < 0x7F else f"%{b:02X}" for b in raw)
    utf8 = escaped(text, "utf-8")
    assert f"http://a.test/l/{utf8}?cat={in_query}&n=1" in found
    assert f"http://a.test/l/{in_path}?cat={in_query}&n=1" in found


def test_what_is_pasted_in_another_encoding_is_spelt_in_utf8_too():
    pasted = f"http://a.test/?cat={escaped('通知公告', 'gbk')}"
    assert parse("http://a.test/?cat=通知公告") in set(spellings(pasted))
    assert list(spellings("http://a.test/%7E?a=%26")) == []


@given(st.text(max_size=40))
def test_spellings_are_few_and_each_once(text):
    found = list(spellings(f"http://a.test/{text}"))
    assert len(found) == len(set(found)) <= 4 * len(ENCODINGS) + 4


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.test", "a.test"),
        ("xn--bcher-kva.test", "bücher.test"),
        ("www.xn--1jq52s681d.xn--fiqs8s", "www.图书馆.中国"),
        # Cyrillic letters that look like others: beside its own name it deceives nobody.
        ("xn--80ak6aa92e.com", "\u0430\u0440\u0440\u04cf\u0435.com"),
        ("xn--a.test", "xn--a.test"),
        ("xn--\x7f.test", "xn--\x7f.test"),
        (f"xn--{'a' * 99}.test", f"xn--{'a' * 99}.test"),
        ("", ""),
    ],
)
def test_a_host_in_its_letters(name: str, text: str):
    assert letters_of_host(name) == text


@given(st.text("abcdef0123456789-", max_size=20))
def test_letters_of_a_host_are_the_same_host(label: str):
    name = f"xn--{label}.test"
    text = letters_of_host(name)
    assert text == name or parse(f"http://{text}/") == f"http://{name}/"
