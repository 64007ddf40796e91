"""Two captures compared: what each section has, and that hostile content stays in bounds."""

import gzip
import json
from io import BytesIO

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.inspect.analysis.difference import ComparedPages
from nacre.replay import compare
from nacre.replay.compare import (
    SECTIONS,
    ComparedCapture,
    ComparedReply,
    CompareView,
    HeaderDifference,
    SourceComparison,
    compare_headers,
    compare_replies,
)
from tests.replay.test_image_size import PNG

HTML = "text/html; charset=utf-8"


def reply(body: bytes, mime: str = HTML, *more: tuple[str, str]) -> ComparedReply:
    capture = ComparedCapture(
        "a.warc:1", "http://e.test/", "2026-11-20T10:00:00Z", 200, "", "", 0, ""
    )
    headers = [("Content-Type", mime)] if mime else []
    return ComparedReply(capture, [*headers, *more], BytesIO(body).read)


def compared(old: bytes, new: bytes, mime: str = HTML, sections=SECTIONS) -> CompareView:
    return compare_replies(reply(old, mime), reply(new, mime), sections)


def lines_of(view: CompareView) -> list[tuple[str, str]]:
    return [(line.kind, line.text) for line in source_of(view).lines]


def text_of(view: CompareView) -> ComparedPages:
    assert view.text is not None
    return view.text


def source_of(view: CompareView) -> SourceComparison:
    assert view.source is not None
    return view.source


def page(*parts: str) -> str:
    return "<html><head><title>T</title></head><body>" + "".join(parts) + "</body></html>"


def test_two_versions_of_a_page():
    old = page("<p>One.</p><p>Two.</p><a href='/a'>a</a>")
    new = page("<p>One.</p><p>Three.</p><a href='/b'>a</a><img src=i.png>")
    view = compared(old.encode(), new.encode())
    assert not view.is_same
    assert view.first_difference == old.index("Two") + 1
    assert ("text", "Two.", "Three.") in [(p.kind, p.was, p.now) for p in text_of(view).pieces]
    assert view.headers == []
    assert view.links is not None
    assert [(link.url, link.is_new, link.hop) for link in view.links.links] == [
        ("http://e.test/a", False, "L"),
        ("http://e.test/b", True, "L"),
        ("http://e.test/i.png", True, "E"),
    ]
    assert [kind for kind, _ in lines_of(view)] == ["gone", "new"]
    assert (view.old.charset, view.new.size) == ("UTF-8", len(new))


def test_equal_payloads():
    view = compared(b"<p>same", b"<p>same")
    assert (view.is_same, view.first_difference) == (True, -1)
    assert view.old.digest == view.new.digest
    assert (text_of(view).kind, text_of(view).pieces) == ("none", [])
    assert [line.kind for line in source_of(view).lines] == ["same"]


@pytest.mark.parametrize(
    ("codec", "mime"),
    [
        ("gbk", "text/html; charset=gbk"),
        ("gbk", "text/html"),
        ("big5", "text/html; charset=big5"),
        ("utf-8", "text/html"),
        ("utf-16", "text/html"),
    ],
)
def test_text_is_read_in_its_encoding(codec, mime):
    common = "采集系统按照站点的更新频率决定下一次访问的时间。" * 3
    old, new = (
        page(f"<p>{common}</p><p>{text}</p>").replace("的", "之")
        if codec == "big5"
        else page(f"<p>{common}</p><p>{text}</p>")
        for text in ("旧版本", "新版本")
    )
    if codec == "big5":
        old, new = (
            text.translate(str.maketrans("采统点频决访问时间旧", "採統點頻決訪問時間舊"))
            for text in (old, new)
        )
    view = compared(old.encode(codec, "replace"), new.encode(codec, "replace"), mime)
    assert [(piece.was, piece.now) for piece in text_of(view).pieces] == [
        ("舊版本" if codec == "big5" else "旧版本", "新版本")
    ]


def test_versions_in_different_encodings_are_compared_as_text():
    text = page("<p>新闻中心</p>")
    view = compare_replies(
        reply(text.encode("gbk"), "text/html; charset=gbk"), reply(text.encode(), HTML)
    )
    assert not view.is_same
    assert text_of(view).pieces == []
    assert {line.kind for line in source_of(view).lines} <= {"same", "skipped"}
    assert view.headers == [HeaderDifference("Content-Type", "text/html; charset=gbk", HTML)]


def test_content_codings_are_removed_for_text():
    body = page("<p>a</p>").encode()
    old = reply(gzip.compress(body), HTML, ("Content-Encoding", "gzip"))
    new = reply(body.replace(b"<p>a", b"<p>b"))
    view = compare_replies(old, new)
    assert [(piece.was, piece.now) for piece in text_of(view).pieces] == [("a", "b")]
    assert view.headers == [HeaderDifference("Content-Encoding", "gzip", None)]
    assert view.first_difference == 0


def test_images_have_sizes_and_no_text():
    view = compared(PNG, PNG + b"x" * 100_000, "image/png")
    assert (view.text, view.source, view.links) == (None, None, None)
    assert view.first_difference == len(PNG)
    assert (view.new.width, view.new.height, view.new.size) == (640, 480, len(PNG) + 100_000)


@pytest.mark.parametrize(
    ("mime", "old", "new"),
    [
        ("application/json", '{"a": 1,\n"b": 2}', '{"a": 1,\n"b": 3}'),
        ("text/css", "a {}\nb {}", "a {}\nc {}"),
        ("text/plain", "a\nb", "a\nc"),
        ("text/javascript", "a();\nb();", "a();\nc();"),
        ("application/xml", "<a>\n<b/></a>", "<a>\n<c/></a>"),
    ],
)
def test_other_texts_have_a_source_and_no_pieces(mime, old, new):
    view = compared(old.encode(), new.encode(), mime)
    assert view.text is None
    assert [kind for kind, _ in lines_of(view)] == ["same", "gone", "new"]


def test_equal_lines_far_from_a_difference_are_left_out():
    old = [f"line {number}" for number in range(40)]
    new = [*old[:20], "added", *old[20:]]
    view = compared("\n".join(old).encode(), "\n".join(new).encode(), "text/plain")
    lines = source_of(view).lines
    assert [line.kind for line in lines] == [
        "skipped",
        *["same"] * 3,
        "new",
        *["same"] * 3,
        "skipped",
    ]
    assert (lines[0].old, lines[4].new, lines[-1].new) == (17, 21, 17)
    assert (source_of(view).gone, source_of(view).new, source_of(view).same) == (0, 1, 40)


@pytest.mark.parametrize(
    ("old", "new", "differences"),
    [
        ([("ETag", "1")], [("etag", "1")], []),
        ([("ETag", "1")], [("etag", "2")], [("etag", "1", "2")]),
        ([("A", "1")], [], [("A", "1", None)]),
        ([], [("A", "1")], [("A", None, "1")]),
        (
            [("Set-Cookie", "a"), ("Set-Cookie", "b")],
            [("Set-Cookie", "b"), ("Set-Cookie", "c"), ("Set-Cookie", "d")],
            [("Set-Cookie", "a", "c"), ("Set-Cookie", None, "d")],
        ),
        ([("A", "1"), ("A", "1")], [("A", "1")], [("A", "1", None)]),
    ],
)
def test_headers(old, new, differences):
    assert [msgspec.structs.astuple(item) for item in compare_headers(old, new)] == differences


def test_sections_that_are_not_requested_are_not_made():
    view = compared(b"<p>a", b"<p>b", sections=("headers",))
    assert (view.text, view.source, view.links, view.headers) == (None, None, None, [])


HOSTILE = {
    "a line of megabytes": lambda n: b"<p>" + b"x" * 6_000_000 + b"%d" % n,
    "a bomb": lambda n: gzip.compress(b"%d" % n + b"\0" * 9_000_000),
    "many links": lambda n: b"".join(b"<a href=/%d>" % (at * (n + 1)) for at in range(30_000)),
    "deep": lambda n: b"<div>" * 60_000 + b"%d" % n,
    "brackets": lambda n: b"<" * 3_000_000 + b"%d" % n,
    "lines": lambda n: b"\n".join(b"%d" % ((at * 7919 + n) % 3) for at in range(200_000)),
    "controls": lambda n: bytes(range(256)) * 2000 + b"%d" % n,
}


@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.parametrize("mime", [HTML, "text/plain", ""])
def test_hostile_bodies_are_compared_within_bounds(kind, mime):
    make = HOSTILE[kind]
    coding = [("Content-Encoding", "gzip")] if kind == "a bomb" else []
    view = compare_replies(reply(make(0), mime, *coding), reply(make(1), mime, *coding))
    assert not view.is_same
    assert len(msgspec.json.encode(view)) < 8_000_000
    json.loads(msgspec.json.encode(view))


def test_hostile_headers_are_cut():
    headers = [(f"X-{number}" * 2_000, "v" * 100_000) for number in range(3_000)]
    old, new = (
        ComparedReply(reply(b"").capture, part, BytesIO(b"").read) for part in (headers, [])
    )
    assert len(msgspec.json.encode(compare_replies(old, new))) < 3_000_000


@given(
    st.binary(max_size=300), st.binary(max_size=300), st.sampled_from([HTML, "text/css", "", "a/b"])
)
def test_any_bytes_can_be_compared(old, new, mime):
    view = compared(old, new, mime)
    assert view.is_same is (old == new)
    first = view.first_difference
    assert old[: max(0, first)] == new[: max(0, first)]
    assert first < 0 or old[first : first + 1] != new[first : first + 1]


def test_bodies_over_a_chunk_are_compared_by_their_bytes(monkeypatch):
    monkeypatch.setattr(compare, "_CHUNK", 7)
    old = bytes(range(100))
    for at in (0, 6, 7, 8, 50, 99):
        new = old[:at] + b"\xff" + old[at + 1 :]
        assert compared(old, new, "a/b").first_difference == at
    assert compared(old, old[:49], "a/b").first_difference == 49
