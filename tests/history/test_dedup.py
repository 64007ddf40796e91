import pytest
from msgspec import structs

from nacre.core.history import HistoryRecord, Original
from nacre.history.dedup import (
    IDENTICAL,
    NOT_MODIFIED,
    DedupMode,
    DedupSettings,
    Digests,
    History,
    can_be_original,
    digest_key,
    is_version,
    revisit_of,
)
from nacre.store.store import Store
from tests.archive.captures import BEGAN, make_capture
from tests.store.memory import MemoryEngine

URL = "http://example.test/"
HERE = Original(URL, BEGAN - 1, "urn:uuid:1", 1, 0)
THERE = Original("http://example.test/other", BEGAN - 1, "urn:uuid:2", 1, 0)


def digests(capture, original: Original) -> Digests:
    found = Digests(Store(MemoryEngine()))
    found.put(capture.payload_digest, "", original)
    return found


@pytest.mark.parametrize(
    ("status", "version", "original"),
    [
        *((200, True, True), (404, False, True), (503, False, True)),
        *((206, False, False), (302, False, False)),
    ],
)
def test_pages_and_errors_are_originals_and_only_pages_are_versions(
    status: int, version: bool, original: bool
):
    capture = make_capture(status=status)
    assert (is_version(capture), can_be_original(capture)) == (version, original)
    capture.truncated = "length"
    assert not can_be_original(capture)
    assert not can_be_original(make_capture(body=b"", status=status))


@pytest.mark.parametrize("status", [200, 404])
@pytest.mark.parametrize(
    ("mode", "original", "is_revisit"),
    [
        (DedupMode.ALL, HERE, True),
        (DedupMode.ALL, THERE, True),
        (DedupMode.SAME_URL, HERE, True),
        (DedupMode.SAME_URL, THERE, False),
        (DedupMode.OFF, HERE, False),
    ],
)
def test_the_same_payload_is_a_revisit(
    status: int, mode: DedupMode, original: Original, is_revisit: bool
):
    capture = make_capture(status=status)
    known = HistoryRecord(URL, status, BEGAN - 1, visits=1)
    found = revisit_of(capture, DedupSettings(mode=mode), known, digests(capture, original))
    assert (found is not None) == is_revisit
    if found is not None:
        assert (found.kind, found.original) == (IDENTICAL, original)


def test_an_error_that_is_new_for_its_url_is_stored():
    capture = make_capture(status=404)
    store = digests(capture, HERE)
    for known in (None, HistoryRecord(URL, 200, BEGAN - 1), HistoryRecord(URL, 503, BEGAN - 1)):
        assert revisit_of(capture, DedupSettings(), known, store) is None


def test_an_error_that_says_what_the_page_said_refers_to_the_page():
    capture = make_capture(status=404)
    known = HistoryRecord(
        URL, 404, BEGAN - 1, BEGAN - 1, capture.payload_digest, "", record_id="urn:uuid:3"
    )
    found = revisit_of(capture, DedupSettings(), known, Digests(Store(MemoryEngine())))
    assert found is not None
    assert found.original.record_id == "urn:uuid:3"


def test_where_a_payload_lies_is_known_until_its_record_is_lost():
    capture = make_capture()
    known = digests(capture, HERE)
    assert known.get(capture.payload_digest, "") == HERE
    assert known.get(capture.payload_digest, "chunked") is None
    known.drop(capture.payload_digest, "")
    assert known.get(capture.payload_digest, "") is None


def test_digests_of_other_algorithms_have_keys_by_name():
    sha1 = make_capture().payload_digest
    assert (len(digest_key(sha1, "")), digest_key(sha1, "")[-1:]) == (21, b"-")
    assert digest_key(sha1, "chunked")[-1:] == b"c"
    assert digest_key("sha256:AB", "chunked") == b"sha256:ABc"
    assert digest_key("sha1:AB", "") == b"sha1:AB-"


def test_what_counts_as_the_same_may_be_another_digest():
    capture, content = make_capture(), "md5:CONTENT"
    known = Digests(Store(MemoryEngine()))
    settings = DedupSettings()
    assert revisit_of(capture, settings, None, known, content) is None
    original = structs.replace(HERE, digest="sha1:OTHER")
    known.put(content, "", original)
    found = revisit_of(capture, settings, None, known, content)
    assert found is not None
    assert (found.kind, found.original, found.digest) == (IDENTICAL, original, "sha1:OTHER")
    elsewhere = Digests(Store(MemoryEngine()))
    elsewhere.put(content, "", THERE)
    assert revisit_of(capture, settings, None, elsewhere, content) is not None
    same_url = DedupSettings(mode=DedupMode.SAME_URL)
    assert revisit_of(capture, same_url, None, elsewhere, content) is None


def test_a_304_refers_to_the_version_that_its_url_had():
    known = HistoryRecord(
        URL, 200, BEGAN - 1, BEGAN - 1, "sha1:A", "", record_id="urn:uuid:3", etag=b'"1"'
    )
    capture = make_capture(body=b"", status=304)
    nothing = Digests(Store(MemoryEngine()))
    found = revisit_of(capture, DedupSettings(mode=DedupMode.OFF), known, nothing)
    assert found is not None
    assert (found.kind, found.original.record_id) == (NOT_MODIFIED, "urn:uuid:3")
    assert revisit_of(capture, DedupSettings(), None, nothing) is None
    never = HistoryRecord(URL, 404, BEGAN - 1)
    assert revisit_of(capture, DedupSettings(), never, nothing) is None


def test_short_payloads_are_stored_again():
    capture = make_capture(body=b"12345")
    known = digests(capture, HERE)
    assert revisit_of(capture, DedupSettings(min_length=6), None, known) is None
    assert revisit_of(capture, DedupSettings(min_length=5), None, known) is not None


def test_a_difference_is_no_original():
    capture = make_capture()
    known = digests(capture, structs.replace(HERE, base="sha1:BASE"))
    assert revisit_of(capture, DedupSettings(), None, known) is None
    assert revisit_of(capture, DedupSettings(), None, known, capture.payload_digest) is None


def test_history_is_read_in_later_runs_only():
    store = Store(MemoryEngine())
    first, row = History(store), HistoryRecord(URL, 200, BEGAN, visits=1)
    first.put(row)
    assert first.get(URL) is None
    store.commit()
    later = History(store)
    assert later.get(URL) == row
    assert later.get("http://example.test/other") is None
    assert later.get(f"{URL}Page") is None
