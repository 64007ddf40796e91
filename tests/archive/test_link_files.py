"""Outlinks that are found by a reference: where it says, elsewhere, or not at all."""

from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from nacre.archive.link_files import LinkFiles, metadata_at
from nacre.archive.link_reference import (
    LinkReference,
    LinksError,
    all_lines,
    links_digest,
    links_in,
)
from nacre.archive.record import CaptureFacts, capture_records
from nacre.core.crawluri import Hop, Outlink
from tests.archive.captures import counting_ids, make_capture
from tests.archive.files import MemoryFiles, make_writer

LINKS = [Outlink(f"http://example.test/{n}", Hop.LINK, "a/@href") for n in range(20)]


@pytest.fixture
def reference(tmp_path: Path) -> LinkReference:
    """The place of a metadata record with links in `tmp_path`."""
    files = MemoryFiles()
    writer = make_writer(files)
    facts = CaptureFacts(outlinks=LINKS)
    written = writer.write(capture_records(make_capture(), facts, counting_ids()))[-1]
    writer.rotate()
    files.save(tmp_path)
    lines = links_in(written.record.prefix)
    own, digest = written.record.id, links_digest(lines)
    return LinkReference(own, digest, all_lines(20), written.name, written.offset)


def files(folder: Path) -> LinkFiles:
    return LinkFiles(sorted(folder.glob("*.warc*")))


@pytest.mark.parametrize("place", [{}, {"offset": 0}, {"offset": 10**15}, {"file": "gone.warc.gz"}])
def test_a_place_is_a_hint(tmp_path: Path, reference: LinkReference, place: dict[str, object]):
    lines = files(tmp_path).lines(structs.replace(reference, **place))
    assert lines.count(b"outlink: http://example.test/") == 20
    assert links_digest(lines) == reference.digest


def test_a_file_that_is_still_open_is_found_by_its_final_name(
    tmp_path: Path, reference: LinkReference
):
    warc = tmp_path / reference.file
    warc.rename(warc.with_name(warc.name + ".open"))
    found = LinkFiles()
    found.add(warc.with_name(warc.name + ".open"))
    assert found.lines(reference, search=False)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"record_id": "urn:uuid:other"}, "links-unresolved"),
        ({"digest": "sha1:OTHER"}, "links-digest"),
        ({"parts": (b"outlinksAs: 1-21",)}, "links-digest"),
        ({"parts": ()}, "links-digest"),
    ],
)
def test_what_is_missing_or_wrong(
    tmp_path: Path, reference: LinkReference, changes: dict[str, Any], code: str
):
    with pytest.raises(LinksError) as raised:
        files(tmp_path).lines(structs.replace(reference, **changes))
    assert raised.value.code == code


def test_a_record_that_is_cut_off_is_not_there(tmp_path: Path, reference: LinkReference):
    warc = tmp_path / reference.file
    whole = warc.read_bytes()
    for size in range(reference.offset, len(whole), 20):
        warc.write_bytes(whole[:size])
        with pytest.raises(LinksError):
            files(tmp_path).lines(reference)
    warc.unlink()
    with pytest.raises(LinksError, match=reference.record_id):
        LinkFiles([warc]).lines(reference)


def test_a_block_that_is_too_long_is_not_read(tmp_path: Path, reference: LinkReference):
    path = tmp_path / reference.file
    assert metadata_at(path, reference.offset, reference.record_id)
    assert metadata_at(path, reference.offset, reference.record_id, 100) is None
