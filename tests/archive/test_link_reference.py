"""References to outlinks in the blocks of metadata records."""

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from nacre.archive import link_reference
from nacre.archive.link_reference import (
    LinkReference,
    LinksError,
    all_lines,
    join_parts,
    links_digest,
    links_in,
    parts_of,
    read_reference,
    with_links,
)
from nacre.archive.record import CaptureFacts, capture_records, metadata_block, noted_record
from nacre.core.crawluri import Hop, Outlink
from tests.archive.captures import counting_ids, make_capture, sha1

ID = "urn:uuid:0000"
LINKS = tuple(Outlink(f"http://example.test/{n}/文", Hop.LINK, "a/@href") for n in range(9))
LINES = links_in(metadata_block(make_capture(), CaptureFacts(outlinks=LINKS), b""))
REFERENCE = LinkReference(ID, links_digest(LINES), all_lines(9), "a b.warc.gz", 77)
ALL = b"outlinksAs: 1-9"


@dataclass
class Fields:
    """The header of a record that was written."""

    head: bytes

    def get(self, name: str) -> str | None:
        lines = self.head.decode().split("\r\n")
        found = [line.partition(": ")[2] for line in lines if line.startswith(f"{name}: ")]
        return found[0] if found else None


def test_the_digest_is_that_of_the_lines_as_they_are_written():
    assert LINES.count(b"\r\n") == 8
    assert links_digest(LINES) == sha1(LINES)


@pytest.mark.parametrize(
    "facts",
    [
        CaptureFacts(),
        CaptureFacts(via="http://example.test/", path="LL", annotations=("3t",), verdict="there"),
        CaptureFacts(confirms="urn:uuid:9", charset="gb18030"),
    ],
)
@pytest.mark.parametrize("verbatim", [b"", b"HTTP/1.1 304 x\r\noutlinksDigest: x\r\n\r\n"])
def test_a_record_without_its_links_gives_the_block_that_it_would_have(
    facts: CaptureFacts, verbatim: bytes
):
    capture = make_capture(interim=verbatim)
    whole = metadata_block(capture, structs.replace(facts, outlinks=LINKS), b"")
    less = metadata_block(capture, structs.replace(facts, same_links=REFERENCE), b"")
    assert b"outlink:" not in less
    assert read_reference(less, f"<{ID}>") == REFERENCE
    assert with_links(less, LINES) == whole


def test_the_header_names_the_record():
    facts = CaptureFacts(outlinks=LINKS, same_links=REFERENCE)
    metadata = capture_records(make_capture(), facts, counting_ids())[-1]
    note = noted_record(make_capture(), facts, counting_ids())
    for record in (metadata, note):
        assert Fields(record.head).get("WARC-Refers-To") == f"<{ID}>"
        assert record.type == "metadata"
        assert read_reference(record.prefix, f"<{ID}>") == REFERENCE
        assert record.mime is None, "it is not indexed"
    assert Fields(metadata.head).get("WARC-Concurrent-To") is not None
    strict = capture_records(make_capture(), CaptureFacts(outlinks=LINKS), counting_ids())[-1]
    assert Fields(strict.head).get("WARC-Refers-To") is None


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        (b"outlinksDigest: sha1:A\r\n", LinkReference(ID, "sha1:A", ())),
        (
            b"outlinksDigest: A\r\noutlinksFilename: a\r\noutlinksAs: 1-9\r\n",
            LinkReference(ID, "A", (ALL,), "a"),
        ),
        (
            b"outlinksDigest: x\r\noutlinksFilename: a\r\noutlinksOffset: -9\r\noutlink: u L a\r\n",
            LinkReference(ID, "x", (b"outlink: u L a",), "a"),
        ),
        (b"outlinksDigest: x\r\noutlinksOffset: " + b"9" * 5000, LinkReference(ID, "x", ())),
        (b"outlinksDigest: \r\n", None),
        (b"suspect: body\r\n", None),
        (b"a: b\r\n\r\noutlinksDigest: sha1:A\r\n", None),
        (b"", None),
    ],
)
def test_blocks_of_other_origin(block: bytes, expected: LinkReference | None):
    assert read_reference(block, f"<{ID}>") == expected
    assert read_reference(block, None) is None


def of(*links: str) -> bytes:
    return b"\r\n".join(f"outlink: {link} L a/@href".encode() for link in links)


@pytest.mark.parametrize(
    ("new", "parts"),
    [
        ("a b c", ("outlinksAs: 1-3",)),
        ("a x c", ("outlinksAs: 1-1", "outlink: x L a/@href", "outlinksAs: 3-3")),
        ("b c a", ("outlinksAs: 2-3", "outlinksAs: 1-1")),
        ("a a b", ("outlinksAs: 1-1", "outlinksAs: 1-2")),
        ("x a b c", ("outlink: x L a/@href", "outlinksAs: 1-3")),
        ("x y", ("outlink: x L a/@href", "outlink: y L a/@href")),
    ],
)
def test_links_as_parts_of_others(new: str, parts: tuple[str, ...]):
    old, lines = of("a", "b", "c"), of(*new.split())
    assert tuple(part.decode() for part in parts_of(old, lines)) == parts
    assert join_parts(parts_of(old, lines), old) == lines


@given(
    st.lists(st.sampled_from("abcdef"), min_size=1), st.lists(st.sampled_from("cdefgh"), min_size=1)
)
def test_parts_lead_back_to_the_links(old: list[str], new: list[str]):
    assert join_parts(parts_of(of(*old), of(*new)), of(*old)) == of(*new)


@pytest.mark.parametrize("part", [b"outlinksAs: 0-1", b"outlinksAs: 2-1", b"outlinksAs: 1-4"])
def test_parts_that_are_none(part: bytes):
    with pytest.raises(LinksError, match="3 outlinks"):
        join_parts((part,), of("a", "b", "c"))


def test_what_parts_lead_to_is_bounded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(link_reference, "LONGEST", 100)
    with pytest.raises(LinksError, match="more than 100"):
        join_parts(all_lines(3) * 3, of("a", "b", "c"))


@given(st.binary())
def test_any_block_is_read(block: bytes):
    read_reference(block, f"<{ID}>")
    links_in(block)
    assert with_links(block, b"") is not None
