"""Values of Nutch: each version, metadata of every class, what is damaged."""

import struct
import zlib

import pytest

from nacre.rounds.moving import nutch
from nacre.rounds.moving.hadoop import WritableError
from nacre.rounds.moving.nutch import ProtocolStatus, UnknownWritable
from tests.rounds.moving import hadoop_files as made

MD = {
    "_pst_": ("org.apache.nutch.protocol.ProtocolStatus", made.protocol_status(14, "国")),
    "名": "值", "f": 1.5, "n": -7, "yes": True, "data": b"\0\xff",
}  # fmt: skip


@pytest.mark.parametrize("version", range(1, 8))
def test_each_version_of_a_datum(version: int):
    data = made.datum(
        3, 1_700_000_000_000, retries=2, interval=86_400, score=0.25, modified=5,
        signature=b"0123456789abcdef", md={"a": "b"}, version=version,
    )  # fmt: skip
    found = nutch.crawl_datum(data)
    assert found[:5] == (3, 1_700_000_000_000, 2, 86_400, 0.25)
    assert found.modified == (5 if version > 2 else 0)
    assert found.signature == (b"0123456789abcdef" if version > 2 else b"")
    assert found.md == ({"a": "b"} if version > 3 else {})


def test_metadata_of_every_class():
    found = nutch.crawl_datum(made.datum(2, md=MD)).md
    assert found == {**MD, "_pst_": ProtocolStatus(14, 0, ("国",))}


def test_a_class_that_is_not_known_is_kept_as_bytes_with_all_behind_it():
    md = {"a": "b", "strange": ("org.example.Strange", b"\1\2\3"), "lost": "x"}
    found = nutch.crawl_datum(made.datum(2, md=md)).md
    assert found["a"] == "b"
    assert isinstance(found["strange"], UnknownWritable)
    assert found["strange"].name == "org.example.Strange"
    assert found["strange"].data.startswith(b"\1\2\3")
    assert "lost" not in found


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", r"version \?"),
        (made.datum(2, version=7).replace(b"\7", b"\11", 1), "version 9"),
        (made.datum(2)[:9], "ends too early"),
        (made.datum(2, md=MD)[:-1], "bytes wanted"),
        (made.datum(2)[:-1] + b"\1\0\x7f\xff\xff\xff", "things are said to follow"),
        (made.datum(2)[:-1] + b"\1\0\0\0\0\1\5\0", "class 5"),
    ],
)
def test_what_is_no_datum(data: bytes, said: str):
    with pytest.raises(WritableError, match=said):
        nutch.crawl_datum(data)


@pytest.mark.parametrize("has_metadata", [True, False])
def test_links_with_and_without_metadata(has_metadata: bool):
    links = [("http://a.example/", "国家图书馆"), ("http://b.example/", "")]
    found = nutch.inlinks(made.inlinks(*links, has_metadata=has_metadata))
    assert [(one.src, one.anchor) for one in found] == links
    assert found[1].md == ({"n": "1"} if has_metadata else {})


def test_a_host():
    found = nutch.host_datum(made.host_datum(77, "http://a.example/", *range(8)))
    assert found == (1.5, 77, "http://a.example/", tuple(range(8)), {"x": "y"})


def metadata(**values: str) -> bytes:
    data = struct.pack(">i", len(values))
    for name, value in values.items():
        data += made.text(name) + struct.pack(">i", 1) + made.text(value)
    return data


def test_content_of_today_and_packed_as_before():
    body = made.text("http://a.example/") + made.text("http://a.example/base")
    body += struct.pack(">i", 3) + b"\xb9\xfa\0" + made.text("text/html") + metadata(Server="x")
    packed = zlib.compress(b"\2" + body)
    for data in (struct.pack(">i", -1) + body, struct.pack(">i", len(packed)) + packed):
        found = nutch.content(data)
        assert (found.data, found.media_type, found.md) == (
            b"\xb9\xfa\0", "text/html", {"Server": ("x",)}
        )  # fmt: skip
    with pytest.raises(WritableError):
        nutch.content(struct.pack(">i", -3))


@pytest.mark.parametrize("has_metadata", [True, False])
def test_what_was_parsed(has_metadata: bool):
    data = struct.pack(">bbbhi", 5, 2, 1, 0, -1) + made.text("题") + struct.pack(">i", 1)
    data += made.text("http://b.example/") + made.text("文") + b"\0" * has_metadata
    found = nutch.parse_data(data + metadata() + metadata(lang="zh"))
    assert (found.code, found.title, found.parse_md) == (1, "题", {"lang": ("zh",)})
    assert found.outlinks == (("http://b.example/", "文"),)
    assert nutch.parse_text(b"\2" + made.text("国家图书馆")) == "国家图书馆"
