import pytest

from nacre.core.history import HistoryRecord, Original
from nacre.history.dedup import (
    IDENTICAL,
    DedupMode,
    DedupSettings,
    Digests,
    can_be_original,
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
