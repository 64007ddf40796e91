"""References to outlinks in a check of the archive."""

from pathlib import Path

import pytest

from nacre.archive.check import Checker
from nacre.archive.findings import CODES, Severity
from nacre.archive.link_reference import LinkReference, all_lines, links_digest, links_in, parts_of
from nacre.archive.record import CaptureFacts, capture_records
from nacre.core.crawluri import Hop, Outlink
from tests.archive.captures import counting_ids, make_capture
from tests.archive.files import MemoryFiles, make_writer

LINKS = [Outlink(f"http://example.test/{n}", Hop.LINK, "a/@href") for n in range(20)]


def referring(folder: Path, digest: str = "") -> list[Path]:
    """Two WARCs: a page, and three visits of it that refer to its links."""
    files, ids = MemoryFiles(), counting_ids()
    writer = make_writer(files)
    first = writer.write(capture_records(make_capture(), CaptureFacts(outlinks=LINKS), ids))[-1]
    writer.rotate()
    told = digest or links_digest(links_in(first.record.prefix))
    place = first.name, first.offset
    reference = LinkReference(first.record.id, told, all_lines(20), *place)
    for _ in range(3):
        facts = CaptureFacts(outlinks=LINKS, same_links=reference)
        writer.write(capture_records(make_capture(), facts, ids))
    writer.rotate()
    return files.save(folder)


def checked(paths: list[Path]) -> Checker:
    checker = Checker()
    for path in paths:
        checker.file(path)
    checker.finish()
    return checker


@pytest.mark.parametrize("order", [1, -1])
def test_references_are_followed_in_any_order_of_files(tmp_path: Path, order: int):
    checker = checked(referring(tmp_path)[::order])
    assert checker.findings == []
    assert checker.summary.links == 3


def test_a_missing_record_is_named_with_its_page_its_place_and_a_remedy(tmp_path: Path):
    first, second = referring(tmp_path)
    first.unlink()
    checker = checked([second])
    assert [finding.code for finding in checker.findings] == ["links-unresolved"] * 3
    assert checker.damaged
    for finding in checker.findings:
        assert finding.file == str(second)
        assert finding.offset > 0
        assert "the outlinks of http://example.test/: <urn:uuid:" in finding.message
        assert first.name in finding.message
        assert "put back its WARC" in finding.message
    assert len({finding.offset for finding in checker.findings}) == 3


def test_other_links_than_the_digest_says_are_found(tmp_path: Path):
    checker = checked(referring(tmp_path, digest="sha1:OTHER"))
    assert [finding.code for finding in checker.findings] == ["links-digest"] * 3
    assert CODES["links-digest"][0] is Severity.ERROR


def test_a_long_block_is_read_to_its_end(tmp_path: Path):
    files, ids = MemoryFiles(), counting_ids()
    writer = make_writer(files)
    first = writer.write(capture_records(make_capture(), CaptureFacts(outlinks=LINKS), ids))[-1]
    new = b"\r\n".join(b"outlink: http://example.test/%d/x L a/@href" % n for n in range(3000))
    old = links_in(first.record.prefix)
    parts = (*parts_of(old, new), *all_lines(20))
    digest = links_digest(new + b"\r\n" + old)
    reference = LinkReference(first.record.id, digest, parts, first.name, first.offset)
    facts = CaptureFacts(outlinks=LINKS, same_links=reference)
    writer.write(capture_records(make_capture(), facts, ids))
    writer.rotate()
    checker = checked(files.save(tmp_path))
    assert (checker.findings, checker.summary.links) == ([], 1)


def test_a_file_that_goes_during_the_check_is_a_finding(tmp_path: Path):
    first, second = referring(tmp_path)
    checker = Checker()
    checker.file(second)
    first.unlink()
    second.unlink()
    codes = {finding.code for finding in checker.finish()}
    assert codes == {"unreadable"}
