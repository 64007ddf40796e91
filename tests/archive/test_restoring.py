"""Differences in files: found, rebuilt, checked, expanded; and what is wrong with them."""

from pathlib import Path
from typing import Any

import pytest

from nacre.archive.check import Checker
from nacre.archive.delta import DeltaError
from nacre.archive.expanded import expand_fields, expanded_id, response_record, revisit_record
from nacre.archive.fields import strip_brackets
from nacre.archive.index import rebuild_index
from nacre.archive.reader import WarcReader
from nacre.archive.record import (
    CaptureFacts,
    WarcRecord,
    capture_records,
)
from nacre.archive.restoring import BaseFiles, difference_at, is_delta, response_at, restore_block
from tests.archive.captures import BEGAN, HEAD, counting_ids, make_capture, make_chunked, sha1
from tests.archive.files import MemoryFiles, make_writer
from tests.archive.test_delta import make_delta

OLD, NEW = b"hello world", b"hello, new world"


class Files:
    """A WARC with a page, and one with a difference from it."""

    def __init__(self, folder: Path, **facts: Any) -> None:
        ids, files = counting_ids(), MemoryFiles()
        writer = make_writer(files, template="W-${serialno}")
        page = capture_records(make_capture(body=OLD), CaptureFacts(), ids)
        place = writer.write(page)[0]
        writer.rotate()
        about = {
            "base_id": page[0].id,
            "base_file": place.name,
            "base_offset": place.offset,
            "payload": sha1(NEW),
        }
        delta = make_delta(HEAD + OLD, HEAD + NEW, **(about | facts))
        later = make_capture(body=NEW, began=BEGAN + 1)
        differs = capture_records(later, CaptureFacts(delta=delta), ids)
        self.offset = writer.write(differs)[0].offset
        writer.rotate()
        self.old, self.new = files.save(folder)

    def codes(self, *paths: Path) -> list[str]:
        checker = Checker()
        for path in paths or (self.old, self.new):
            checker.file(path)
        return [finding.code for finding in checker.finish()]


def test_a_reply_is_rebuilt_from_its_difference(tmp_path: Path):
    files = Files(tmp_path)
    found = difference_at(files.new, files.offset)
    assert is_delta(found.entry)
    assert restore_block(found.delta, BaseFiles([files.old]).block) == HEAD + NEW


def test_a_sound_difference_is_counted(tmp_path: Path):
    files, checker = Files(tmp_path), Checker()
    checker.file(files.old)
    checker.file(files.new)
    assert (checker.finish(), checker.summary.rebuilt) == ([], 1)


def test_a_base_that_was_moved_is_found(tmp_path: Path):
    files = Files(tmp_path, base_file="elsewhere.warc.gz", base_offset=5)
    assert files.codes() == []
    packed = files.old.rename(tmp_path / "packed.warc.gz")
    assert files.codes(packed, files.new) == []


@pytest.mark.parametrize(
    ("facts", "code"),
    [
        ({"base_id": "urn:uuid:ffffffff-0000-4000-8000-000000000000"}, "delta-unresolved"),
        ({"base_digest": sha1(b"other")}, "delta-base"),
        ({"base_length": 5}, "delta-base"),
        ({"digest": sha1(b"other")}, "delta-digest"),
        ({"payload": sha1(b"other")}, "delta-digest"),
        ({"patch": b"junk"}, "delta-invalid"),
        ({"length": 3}, "delta-invalid"),
    ],
)
def test_each_defect_is_named(tmp_path: Path, facts: dict[str, Any], code: str):
    assert Files(tmp_path, **facts).codes() == [code]


def test_a_difference_without_its_base_is_damage(tmp_path: Path):
    files = Files(tmp_path)
    assert files.codes(files.new) == ["delta-unresolved"]


def test_a_damaged_base_is_found(tmp_path: Path):
    files = Files(tmp_path)
    data = bytearray(files.old.read_bytes())
    data[difference_at(files.new, files.offset).delta.base_offset + 60] ^= 0xFF
    files.old.write_bytes(data)
    assert {code for code in files.codes() if code.startswith("delta-")} <= {
        "delta-base", "delta-unresolved"
    }  # fmt: skip
    assert any(code.startswith("delta-") for code in files.codes())


def test_chunked_payloads_are_compared_without_their_coding(tmp_path: Path):
    chunked = make_chunked()
    block = chunked.head + chunked.body.read(0, chunked.body.length)
    delta = make_delta(b"base", block, payload=chunked.payload_digest, framing="chunked")
    assert restore_block(delta, lambda _: b"base") == block


@pytest.mark.parametrize("offset", [0, 3, 10**9])
def test_what_is_not_there_is_an_error(tmp_path: Path, offset: int):
    files = Files(tmp_path)
    with pytest.raises(DeltaError):
        difference_at(files.new, offset)
    with pytest.raises(DeltaError):
        response_at(files.old, offset, "urn:uuid:1")
    with pytest.raises(DeltaError):
        difference_at(tmp_path / "none", offset)


def test_the_rebuilt_index_has_the_lines_of_the_writer(tmp_path: Path):
    files = Files(tmp_path)
    index = files.new.with_name(files.new.name.removesuffix(".warc.gz") + ".cdxj")
    assert rebuild_index(files.new) == index.read_bytes()
    assert b"urn:x-nacre-delta:http://example.test/" in index.read_bytes()
    assert b'"status"' not in index.read_bytes()


def test_any_byte_of_a_difference_that_is_changed_is_found(tmp_path: Path):
    files = Files(tmp_path)
    good = files.new.read_bytes()
    with files.new.open("rb") as file:
        end = [entry.offset for entry in WarcReader(file)][2]
    for at in range(files.offset, end):
        files.new.write_bytes(good[:at] + bytes([good[at] ^ 0x11]) + good[at + 1 :])
        assert files.codes(), at


@pytest.mark.parametrize("offset", [0, 3, 10**9])
def test_a_base_whose_file_says_it_wrongly_is_looked_for_everywhere(tmp_path: Path, offset: int):
    files = Files(tmp_path, base_offset=offset)
    found = difference_at(files.new, files.offset)
    bases = BaseFiles()
    with pytest.raises(DeltaError, match="in none of the files"):
        bases.block(found.delta)
    bases.add(files.old)
    assert bases.block(found.delta) == HEAD + OLD
    files.old.unlink()
    assert bases.block(found.delta) == HEAD + OLD, "the last base is kept"
    with pytest.raises(DeltaError, match="in none of the files"):
        BaseFiles([files.old]).block(found.delta)


def test_a_difference_becomes_the_response_that_it_stands_for(tmp_path: Path):
    files = Files(tmp_path)
    entry, delta = difference_at(files.new, files.offset)
    made = expand_fields(entry, delta)
    record = response_record(entry, delta, HEAD + NEW)
    assert (made.url, made.payload) == ("http://example.test/", sha1(NEW))
    assert made.record_id == expanded_id(strip_brackets(entry.get("WARC-Record-ID") or ""))
    assert made.record_id != strip_brackets(entry.get("WARC-Record-ID") or "")
    assert response_record(entry, delta, HEAD + NEW).head == record.head, "the same each time"
    written = parsed(record)
    assert written["WARC-Type"] == "response"
    assert written["WARC-Target-URI"] == "http://example.test/"
    assert written["WARC-Date"] == entry.get("WARC-Date")
    assert written["WARC-Concurrent-To"] == entry.get("WARC-Record-ID")
    assert written["WARC-IP-Address"] == entry.get("WARC-IP-Address")
    assert written["WARC-Payload-Digest"] == sha1(NEW)
    assert written["WARC-Block-Digest"] == sha1(HEAD + NEW)
    assert written["Content-Length"] == str(len(HEAD + NEW))
    assert (record.status, record.mime, record.digest) == ("200", "text/html", sha1(NEW))


@pytest.mark.parametrize("head", [HEAD, b""])
def test_a_note_becomes_a_revisit_of_the_response_that_it_confirms(tmp_path: Path, head: bytes):
    files = Files(tmp_path)
    entry, delta = difference_at(files.new, files.offset)
    original = expand_fields(entry, delta)
    record = revisit_record(entry, original, head)
    written = parsed(record)
    assert written["WARC-Type"] == "revisit"
    assert written["WARC-Refers-To"] == f"<{original.record_id}>"
    assert written["WARC-Refers-To-Target-URI"] == original.url
    assert written["WARC-Refers-To-Date"] == original.date
    assert written["WARC-Payload-Digest"] == original.payload
    assert written["WARC-Block-Digest"] == sha1(head)
    assert written["Content-Length"] == str(len(head))
    profile = "identical-payload-digest" if head else "server-not-modified"
    assert written["WARC-Profile"].endswith(profile)
    assert ("WARC-Truncated" in written) is bool(head)
    assert ("Content-Type" in written) is bool(head)
    assert record.mime == "warc/revisit"
    assert record.status == ("200" if head else None)


def test_what_is_made_of_differences_has_no_defect(tmp_path: Path):
    files = Files(tmp_path)
    entry, delta = difference_at(files.new, files.offset)
    made = MemoryFiles()
    writer = make_writer(made, template="R-${serialno}")
    writer.write([response_record(entry, delta, HEAD + NEW)])
    writer.rotate()
    folder = tmp_path / "expanded"
    folder.mkdir()
    # The head says 11 bytes in all of these tests, and the difference is in another file.
    assert files.codes(*made.save(folder)) == ["http-length", "concurrent-unknown"]


def test_a_difference_that_is_too_long_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    files = Files(tmp_path)
    monkeypatch.setattr("nacre.archive.restoring.LONGEST", 10)
    with pytest.raises(DeltaError, match="at most 10 are read") as caught:
        difference_at(files.new, files.offset)
    assert caught.value.code == "delta-invalid"


def parsed(record: WarcRecord) -> dict[str, str]:
    lines = record.head.decode().split("\r\n")
    assert lines[0] == "WARC/1.1"
    assert lines[-2:] == ["", ""]
    return dict(line.split(": ", 1) for line in lines[1:-2])
