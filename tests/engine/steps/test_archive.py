"""What is written of a visit, and what is remembered of it."""

import asyncio
import gzip
import threading
from pathlib import Path
from typing import Any

import pytest

from nacre.annotations import DUPLICATE_DELTA, DUPLICATE_NOTED, LONG_VALIDATOR, UNRECORDED
from nacre.archive.certificates import store_chain
from nacre.archive.check import Checker
from nacre.archive.fields import micros
from nacre.archive.record import WarcRecord
from nacre.archive.warc_writer import PackedMember
from nacre.core.capture import BytesBody, TlsFacts
from nacre.core.crawluri import Hop, Outlink
from nacre.core.history import Original
from nacre.core.processor import Keep
from nacre.engine.steps import archive as archive_step
from nacre.engine.steps.archive import Prepared, pack_apart, pack_in
from nacre.errors import StorageError
from nacre.frontier.policy import DONE
from nacre.report.statistics import Stored
from tests.engine.visiting import BEGAN, SEED, ClosedJob, OpenJob, visiting

BODY = b"large" * 1000


def record() -> WarcRecord:
    return WarcRecord(
        "resource", "urn:uuid:1", b"WARC/1.1\r\n\r\n", b"", BytesBody(BODY), len(BODY), "", 0
    )


def test_a_record_becomes_a_member(tmp_path: Path):
    member = asyncio.run(pack_apart(tmp_path, record(), 1))
    assert BODY in gzip.decompress(member.read(0, member.length))
    assert list(tmp_path.iterdir()) == []
    member.close()


def test_a_folder_that_is_gone_is_a_storage_error(tmp_path: Path):
    with pytest.raises(StorageError, match="absent"):
        asyncio.run(pack_apart(tmp_path / "absent", record(), 1))


def test_who_is_cancelled_waits_and_the_member_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    begun, go, members = threading.Event(), threading.Event(), []

    def slow(*args):
        begun.set()
        assert go.wait(10)
        members.append(pack_in(*args))
        return members[-1]

    async def main():
        monkeypatch.setattr(archive_step, "pack_in", slow)
        loop = asyncio.get_running_loop()
        packing = asyncio.ensure_future(pack_apart(tmp_path, record(), 1))
        await loop.run_in_executor(None, begun.wait)
        packing.cancel()
        loop.call_later(0.02, go.set)
        with pytest.raises(asyncio.CancelledError):
            await packing

    asyncio.run(main())
    with pytest.raises(ValueError, match="closed"):
        members[0].read(0, 10)


# ---- records


def fields_of(job: ClosedJob, kind: str) -> dict[str, str]:
    """Fields of the last record of a type."""
    return [fields for fields, _ in job.records if fields["WARC-Type"] == kind][-1]


@pytest.mark.parametrize(
    ("url", "status", "facts", "types", "stored"),
    [
        (SEED, 200, {}, ["response", "request", "metadata"], True),
        (SEED, 404, {}, ["response", "request", "metadata"], True),
        (SEED, 302, {}, ["response", "request", "metadata"], True),
        (SEED, 200, {"truncated": "length"}, ["response", "request", "metadata"], True),
        ("dns:a.test", 1, {"protocol": "dns", "head": b"", "request": b""}, ["resource"], True),
        # A reply that a processor refused, or that a bug spoiled, is not stored.
        (SEED, -5, {}, [], False),
        (SEED, -5002, {}, [], False),
    ],
)
def test_what_is_written_of_a_reply(
    tmp_path: Path,
    url: str,
    status: int,
    facts: dict[str, Any],
    types: list[str],
    stored: bool,
):
    places = []

    def act(job: OpenJob):
        visit = job.reply(status, url, capture=facts)
        job.end(visit)
        places.append((visit.warc_file, visit.warc_offset))

    job = visiting(tmp_path, act)
    assert job.types == types
    ((file, offset),) = places
    assert bool(file) is stored
    assert (offset > 0) is stored
    if "truncated" in facts:
        assert fields_of(job, "response")["WARC-Truncated"] == "length"


@pytest.mark.parametrize("stored", [True, False])
def test_captures_refer_to_the_certificate_chain_of_their_server(tmp_path: Path, stored: bool):
    tls = TlsFacts("TLSv1.3", "TLS_AES_128_GCM_SHA256", (b"leaf", b"issuer"))
    again = TlsFacts("TLSv1.3", "TLS_AES_128_GCM_SHA256", (b"leaf", b"issuer"))

    def act(job: OpenJob):
        places = []
        for path, facts in (("1", tls), ("2", again), ("3", None)):
            visit = job.reply(url=SEED + path, body=path.encode(), capture={"tls": facts})
            job.end(visit)
            places.append(visit.warc_offset)
        assert places == sorted(set(places))

    job = visiting(tmp_path, act, {"archive": {"certificates": stored}})
    chain = store_chain(tls.chain)
    assert job.types == ["resource"] * stored + ["response", "request", "metadata"] * 3
    lines = [
        f"tlsCertificates: {chain.uri}".encode() in block.split(b"\r\n")
        for fields, block in job.records
        if fields["WARC-Type"] == "metadata"
    ]
    assert lines == [stored, stored, False]
    if stored:
        fields, block = job.records[0]
        assert (fields["WARC-Target-URI"], block) == chain


@pytest.mark.parametrize(
    ("before", "after", "dates"),
    [
        (6, 6, ["00.123400Z", "01.123400Z", "00.123400Z"]),
        (3, 3, ["00.123Z", "01.123Z", "00.123Z"]),
        (0, 0, ["00Z", "01Z", "00Z"]),
        # The capture before the change keeps its date, and the reference is to that instant.
        (6, 0, ["00.123400Z", "01Z", "00.1234Z"]),
        (0, 6, ["00Z", "01.123400Z", "00.000000Z"]),
    ],
)
def test_dates_of_records_have_the_digits_of_the_setting(
    tmp_path: Path, before: int, after: int, dates: list[str]
):
    def act(job: OpenJob):
        job.end(job.reply(capture={"began": BEGAN + 123_400}))
        known = job.known()
        assert known is not None
        assert known.date == micros(minute + dates[0])
        writer = job.archive.writer
        assert writer.settings.date_digits == before
        writer.settings = writer.settings.model_copy(update={"date_digits": after})
        job.end(job.reply(capture={"began": BEGAN + 1_123_400}))
        job.end(job.reply(404, OTHER, b"hello earth", capture={"began": BEGAN + 1_123_400}))

    minute = "2026-11-20T10:00:"
    job = visiting(tmp_path, act, {"archive": {"date_digits": before}})
    revisit = fields_of(job, "revisit")
    known = [fields_of(job, "response"), job.records[0][0], revisit]
    assert known[0]["WARC-Date"] == minute + dates[1]
    assert known[1]["WARC-Date"] == job.records[2][0]["WARC-Date"] == minute + dates[0]
    assert revisit["WARC-Date"] == minute + dates[1]
    assert revisit["WARC-Refers-To-Date"] == minute + dates[2]
    checker = Checker()
    (warc,) = tmp_path.rglob("*.warc.gz*")
    checker.file(warc)
    assert checker.finish() == []
    assert f"{dates[1].rstrip('Z')[3:]:0<3.3}+" in job.log()


def test_without_a_reply_nothing_is_prepared_nor_written(tmp_path: Path):
    async def act(job: OpenJob):
        visit = job.visit(status=-2)
        assert job.archive.prepare(visit, "judged").judgement == "judged"
        assert job.archive.prepare(visit).records is None
        assert (await job.archive.prepare_large(visit)).records is None
        assert not job.archive.is_large(visit)
        assert job.archive.write(visit, Prepared(None)) is Stored.NOTHING
        replied = job.reply(url="http://b.test/")
        assert job.archive.write(replied, None) is Stored.NOTHING
        assert job.archive.write(replied, Prepared(None)) is Stored.NOTHING

    assert visiting(tmp_path, act).types == []


@pytest.mark.parametrize("status", [0, -5])
def test_of_a_reply_without_a_status_of_its_own_no_record_is_made(tmp_path: Path, status: int):
    async def act(job: OpenJob):
        visit = job.reply()
        visit.status = status
        assert job.archive.prepare(visit).records is None
        assert (await job.archive.prepare_large(visit)).records is None

    visiting(tmp_path, act)


def test_metadata_says_what_was_found_of_the_page(tmp_path: Path):
    def act(job: OpenJob):
        visit = job.reply(
            uri={"via": "http://b.test/", "path": "L", "source": "list", "force_fetch": True},
            outlinks=[Outlink("http://c.test/", Hop.LINK, "a/@href")],
            charset="utf-8",
            annotations=["3t"],
            robots_meta=frozenset(("nofollow",)),
        )
        job.end(visit)

    job = visiting(tmp_path, act)
    text = next(block for fields, block in job.records if fields["WARC-Type"] == "metadata")
    for line in (
        b"via: http://b.test/", b"hopsFromSeed: L", b"sourceTag: list", b"annotations: 3t",
        b"outlink: http://c.test/ L a/@href",
    ):  # fmt: skip
        assert line in text


# ---- the same again

OTHER = "http://a.test/other"
SAME = {"mode": "same-url"}
LONG = {"min_length": 1000}


@pytest.mark.parametrize(
    ("settings", "first", "second", "stored"),
    [
        ({}, {}, {}, Stored.DUPLICATE),
        ({}, {}, {"url": OTHER}, Stored.DUPLICATE),
        ({}, {}, {"body": b"news"}, Stored.NOVEL),
        (SAME, {}, {}, Stored.DUPLICATE),
        (SAME, {}, {"url": OTHER}, Stored.NOVEL),
        ({"mode": "off"}, {}, {}, Stored.NOVEL),
        (LONG, {}, {}, Stored.NOVEL),
        ({}, {"capture": {"truncated": "length"}}, {}, Stored.NOVEL),
        ({}, {}, {"capture": {"truncated": "length"}}, Stored.NOVEL),
        ({}, {"body": b""}, {"body": b""}, Stored.NOVEL),
        # A chunked original would be replayed with its framing.
        (
            {},
            {"capture": {"framing": "chunked", "chunks": [(0, 11)]}},
            {},
            Stored.NOVEL,
        ),
        # The page of an error is a duplicate where its URL failed like that before.
        ({}, {"status": 404}, {"status": 404}, Stored.DUPLICATE),
        ({}, {"status": 404}, {"status": 404, "url": OTHER}, Stored.NOVEL),
        # A digest of the content counts in the place of the payload's.
        ({}, {"digest": "x:1"}, {"digest": "x:1", "body": b"news"}, Stored.DUPLICATE),
        ({}, {"digest": "x:1"}, {"digest": "x:2"}, Stored.NOVEL),
        ({}, {"digest": "x:1"}, {"digest": "x:1", "url": OTHER}, Stored.DUPLICATE),
        (SAME, {"digest": "x:1"}, {"digest": "x:1", "url": OTHER}, Stored.NOVEL),
    ],
)
def test_what_counts_as_stored_before(
    tmp_path: Path,
    settings: dict[str, Any],
    first: dict[str, Any],
    second: dict[str, Any],
    stored: Stored,
):
    def act(job: OpenJob):
        job.end(job.reply(**first))
        before = job.session.reporting.statistics.totals.novel_urls
        visit = job.reply(**second)
        job.end(visit)
        totals = job.session.reporting.statistics.totals
        novel = stored is Stored.NOVEL
        assert (totals.novel_urls - before, totals.duplicate_urls) == (novel, not novel)
        assert ("duplicate:digest" in visit.annotations) is not novel

    job = visiting(tmp_path, act, {"dedup": settings})
    kind = "response" if stored is Stored.NOVEL else "revisit"
    assert job.types[3:] == [kind, "request", "metadata"]
    if kind == "revisit":
        original = next(f for f, _ in job.records if f["WARC-Type"] == "response")
        assert fields_of(job, "revisit")["WARC-Refers-To"] == original["WARC-Record-ID"]


@pytest.mark.parametrize(
    ("known", "row"),
    [
        (True, (304, BEGAN + 7, BEGAN, 2, BEGAN + 7)),
        (False, (304, BEGAN + 7, 0, 1, 0)),
    ],
)
def test_a_304_refers_to_the_last_capture(
    tmp_path: Path, known: bool, row: tuple[int, int, int, int, int]
):
    """Row: status, visited, date, visits, confirmed."""

    def act(job: OpenJob):
        if known:
            job.end(job.reply())
        visit = job.reply(304, body=b"", capture={"began": BEGAN + 7})
        job.end(visit)
        assert ("duplicate:server-not-modified" in visit.annotations) is known
        assert job.session.reporting.statistics.totals.not_modified_urls == known
        found = job.known()
        assert found is not None
        assert row == (found.status, found.visited, found.date, found.visits, found.confirmed)

    job = visiting(tmp_path, act)
    assert job.types[-3:] == ["revisit" if known else "response", "request", "metadata"]
    if known:
        assert fields_of(job, "revisit")["WARC-Profile"].endswith("server-not-modified")


# ---- history


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        # A version replaces the row.
        ({}, {"body": b"news"}, {"status": 200, "date": BEGAN + 7, "length": 4, "confirmed": 0}),
        # The same confirms it, and its first capture stays the one to refer to.
        ({}, {}, {"status": 200, "date": BEGAN, "length": 11, "confirmed": BEGAN + 7}),
        # What is not a version leaves the last one known.
        ({}, {"status": 404}, {"status": 404, "date": BEGAN, "length": 11, "confirmed": 0}),
        ({"status": 404}, {"status": 500}, {"status": 500, "date": 0, "length": 0}),
    ],
)
def test_what_is_remembered_of_a_url(
    tmp_path: Path, first: dict[str, Any], second: dict[str, Any], expected: dict[str, Any]
):
    def act(job: OpenJob):
        job.end(job.reply(**first))
        job.end(job.reply(**second, capture={"began": BEGAN + 7}))
        row = job.known()
        assert row is not None
        assert (row.visited, row.visits, row.original) == (BEGAN + 7, 2, "")
        assert {name: getattr(row, name) for name in expected} == expected

    visiting(tmp_path, act)


def test_the_same_payload_of_another_url_is_its_original(tmp_path: Path):
    def act(job: OpenJob):
        job.end(job.reply())
        job.end(job.reply(url=OTHER, capture={"began": BEGAN + 7}))
        first, second = job.known(), job.known(OTHER)
        assert first is not None
        assert second is not None
        assert (second.original, second.date) == (SEED, BEGAN)
        assert second.record_id == first.record_id

    visiting(tmp_path, act)


@pytest.mark.parametrize(
    ("etag", "modified", "kept", "noted"),
    [
        (b'"e"', b"x" * 5000, (b'"e"', b""), True),
        (
            b"x" * 5000,
            b"Sat, 21 Nov 2026 10:00:00 GMT",
            (b"", b"Sat, 21 Nov 2026 10:00:00 GMT"),
            True,
        ),
        (b'"e"', b"", (b'"e"', b""), False),
        (b"", b"", (b"", b""), False),
    ],
)
def test_validators_are_kept_unless_they_are_too_long(
    tmp_path: Path, etag: bytes, modified: bytes, kept: tuple[bytes, bytes], noted: bool
):
    headers = [(b"ETag", etag), (b"Last-Modified", modified)]

    def act(job: OpenJob):
        visit = job.reply(capture={"headers": tuple(one for one in headers if one[1])})
        job.end(visit)
        row = job.known()
        assert row is not None
        assert (row.etag, row.last_modified) == kept
        assert (LONG_VALIDATOR in visit.annotations) is noted

    visiting(tmp_path, act)


def test_lookups_of_names_have_no_history(tmp_path: Path):
    def act(job: OpenJob):
        job.end(job.reply(1, "dns:a.test", capture={"protocol": "dns", "head": b""}))
        assert job.known("dns:a.test") is None
        visit = job.reply(1, "dns:b.test", capture={"protocol": "dns", "head": b""})
        assert job.archive.write(visit, job.prepare(visit)) is Stored.NOVEL
        assert visit.warc_file

    visiting(tmp_path, act)


# ---- what an incremental run leaves out

TEXT = " ".join(f"{n * n * 104729 % 99991:x}" for n in range(2000)).encode()
DAY = 86_400_000_000


@pytest.mark.parametrize("known", [False, True])
def test_of_failures_one_is_written_and_the_others_are_remembered(tmp_path: Path, known: bool):
    def act(job: OpenJob):
        if known:
            job.end(job.reply())
        job.end(
            job.reply(503, OTHER, capture={"began": BEGAN}, keep=Keep(silent=True), conclusive=True)
        )
        visit = job.reply(
            503, keep=Keep(silent=True), conclusive=True, capture={"began": BEGAN + 7}
        )
        job.end(visit)
        assert visit.keep is not None
        assert visit.keep.unrecorded
        assert (visit.annotations, visit.warc_file) == ([UNRECORDED], "")
        row = job.known()
        assert row is not None
        assert (row.status, row.visited, row.visits) == (503, BEGAN + 7, 1 + known)
        assert bool(row.date) is known

    written = visiting(tmp_path, act)
    assert written.types.count("response") == 1 + known


@pytest.mark.parametrize(
    ("status", "body", "annotation", "unchanged"),
    [
        (304, b"", "duplicate:server-not-modified", (3, 0)),
        (200, b"hello world", "duplicate:digest", (0, 3)),
    ],
)
def test_a_confirmation_is_written_once_a_day(
    tmp_path: Path, status: int, body: bytes, annotation: str, unchanged: tuple[int, int]
):
    def act(job: OpenJob):
        job.end(job.reply())
        job.end(job.reply(status, body=body, capture={"began": BEGAN + 1}, keep=Keep()))
        before = job.known()
        visit = job.reply(status, body=body, capture={"began": BEGAN + 2}, keep=Keep())
        job.end(visit)
        row = job.known()
        assert before is not None
        assert row is not None
        assert annotation in visit.annotations
        assert UNRECORDED in visit.annotations
        assert (before.confirmed, row.confirmed) == (BEGAN + 1, BEGAN + 1)
        assert (row.visited, row.visits) == (BEGAN + 2, 3)
        job.end(job.reply(status, body=body, capture={"began": BEGAN + 2 * DAY}, keep=Keep()))
        totals = job.session.reporting.statistics.totals
        assert (totals.not_modified_urls, totals.duplicate_urls) == unchanged

    job = visiting(tmp_path, act)
    assert job.types.count("revisit") == 2


def test_the_same_in_other_bytes_is_a_note(tmp_path: Path):
    news: dict[str, Any] = {"body": b"hello  world", "noted": True}

    def act(job: OpenJob):
        job.end(job.reply(capture={"headers": ((b"etag", b"1"),)}))
        keep = Keep(notable=True)
        headers = ((b"etag", b"2"),)
        job.end(job.reply(**news, keep=keep, capture={"began": BEGAN + 1, "headers": headers}))
        row = job.known()
        assert row is not None
        assert row.noted is not None
        assert (row.etag, row.date, row.confirmed) == (b"2", BEGAN, 0)
        # A 304 now confirms the note, so that no revisit could say it.
        visit = job.reply(304, body=b"", keep=keep, capture={"began": BEGAN + 2})
        job.end(visit)
        assert DUPLICATE_NOTED in visit.annotations
        assert job.session.reporting.statistics.totals.not_modified_urls == 1
        # So does the noted reply itself, a day later.
        later = job.reply(body=b"hello  world", keep=keep, capture={"began": BEGAN + 2 * DAY})
        job.end(later)
        assert DUPLICATE_NOTED in later.annotations
        row = job.known()
        assert row is not None
        assert (row.confirmed, row.visits) == (BEGAN + 2 * DAY, 4)

    job = visiting(tmp_path, act)
    assert job.types == ["response", "request", "metadata", *["metadata"] * 3]
    first = job.records[0][0]["WARC-Record-ID"]
    assert fields_of(job, "metadata")["WARC-Record-ID"] != first


def test_a_run_that_keeps_all_notes_a_304_that_confirms_a_note(tmp_path: Path):
    def act(job: OpenJob):
        job.end(job.reply())
        job.end(job.reply(body=b"hello  world", noted=True, capture={"began": BEGAN + 1}))
        visit = job.reply(304, body=b"", capture={"began": BEGAN + 2})
        job.end(visit)
        assert visit.noted
        assert visit.revisit is None

    assert visiting(tmp_path, act).types == ["response", "request", *["metadata"] * 3]


def test_a_note_of_what_nothing_is_known_of_changes_no_history(tmp_path: Path):
    def act(job: OpenJob):
        job.end(job.reply(noted=True))
        assert job.known() is None

    assert visiting(tmp_path, act).types == ["metadata"]


def test_a_note_counts_as_noted_whatever_was_known(tmp_path: Path):
    def act(job: OpenJob):
        first = job.reply(noted=True)
        assert job.archive.write(first, job.prepare(first)) is Stored.NOTED
        job.end(job.reply(url="http://b.test/"))
        again = job.reply(url="http://b.test/", body=b"other bytes", noted=True)
        assert job.archive.write(again, job.prepare(again)) is Stored.NOTED

    visiting(tmp_path, act)


def test_what_resembles_a_version_is_stored_as_a_difference(tmp_path: Path):
    async def act(job: OpenJob):
        job.end(job.reply(body=TEXT))
        job.archive.writer.rotate()
        await job.session.storing.commit.flush()
        for number in (1, 2):
            visit = job.reply(
                body=TEXT + b" and more" * number,
                capture={"began": BEGAN + number},
                keep=Keep(patchable=True),
            )
            job.end(visit)
            assert visit.annotations == [f"delta:{number}"]
            row = job.known()
            assert row is not None
            assert row.base is not None
            assert (row.date, row.base.number) == (BEGAN + number, number)
        assert job.session.reporting.statistics.totals.delta_urls == 2
        # The same as the last difference: a note, for no revisit may refer to one.
        visit = job.reply(
            body=TEXT + b" and more" * 2,
            capture={"began": BEGAN + 3},
            keep=Keep(patchable=True),
        )
        job.end(visit)
        assert DUPLICATE_DELTA in visit.annotations
        # The same elsewhere: in full, and that is what later revisits refer to.
        full = job.reply(url=OTHER, body=TEXT + b" and more" * 2, capture={"began": BEGAN + 4})
        job.end(full)
        assert full.annotations == []
        # A difference never takes the place of what is stored in full.
        capture = full.capture
        assert capture is not None
        job.archive.keep_original(capture, Original(SEED, BEGAN, "delta", base="base"))
        job.end(again := job.reply(url=OTHER, body=TEXT + b" and more" * 2))
        assert again.annotations == ["duplicate:digest"]

    job = visiting(tmp_path, act)
    kinds = [kind for kind in job.types if kind != "request"]
    assert kinds.count("response") == 2
    assert job.types[-3:] == ["revisit", "request", "metadata"]


def test_what_is_no_original_is_not_kept_as_one(tmp_path: Path):
    def act(job: OpenJob):
        visit = job.reply(capture={"truncated": "length"})
        capture = visit.capture
        assert capture is not None
        job.archive.keep_original(capture, Original(SEED, BEGAN, "urn:x:1"))
        job.end(visit)
        job.end(again := job.reply(url=OTHER))
        assert again.annotations == []

    visiting(tmp_path, act)


# ---- large records

LARGE = {"archive": {"large_record": 5000}}
BIG = b"large" * 2000


@pytest.mark.parametrize(("length", "large"), [(5000, False), (5001, True)])
def test_a_body_above_the_limit_is_large(tmp_path: Path, length: int, large: bool):
    def act(job: OpenJob):
        assert job.archive.is_large(job.reply(body=b"x" * length)) is large

    visiting(tmp_path, act, LARGE)


def test_the_totals_are_those_of_both_series(tmp_path: Path):
    async def act(job: OpenJob):
        visit = job.reply(body=BIG)
        job.disposition.dispose(visit, DONE, await job.archive.prepare_large(visit))
        job.end(job.reply(url="http://b.test/"))
        one, other = job.archive.writer, job.archive.large
        assert min(one.total, other.total, one.plain, other.plain) > 0
        assert job.archive.totals == (one.total + other.total, one.plain + other.plain)

    visiting(tmp_path, act, LARGE)


def test_a_large_record_is_packed_and_written_apart(tmp_path: Path):
    async def act(job: OpenJob):
        visit = job.reply(body=BIG)
        assert job.archive.is_large(visit)
        prepared = await job.archive.prepare_large(visit)
        assert prepared.members is not None
        assert len(prepared.members) == len(prepared.records or ()) == 3
        job.disposition.dispose(visit, DONE, prepared)
        assert "-large-" in visit.warc_file
        # The same again is a small revisit, which goes to the usual series.
        visit = job.reply(body=BIG)
        prepared = await job.archive.prepare_large(visit)
        assert prepared.members is None
        job.disposition.dispose(visit, DONE, prepared)
        assert "-large-" not in visit.warc_file
        totals = job.session.reporting.statistics.totals
        assert (totals.novel_urls, totals.duplicate_urls) == (1, 1)
        assert not job.archive.is_large(job.reply())

    job = visiting(tmp_path, act, LARGE)
    assert sorted(job.types) == sorted(["response", "revisit", *["request", "metadata"] * 2])
    assert next(block for f, block in job.records if f["WARC-Type"] == "response").endswith(BIG)


def test_packed_members_are_closed_when_another_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    made: list[PackedMember] = []

    async def failing(*args: Any) -> PackedMember:
        if made:
            raise StorageError("full")
        made.append(pack_in(*args))
        return made[0]

    async def act(job: OpenJob):
        monkeypatch.setattr(archive_step, "pack_apart", failing)
        with pytest.raises(StorageError, match="full"):
            await job.archive.prepare_large(job.reply(body=BIG))

    visiting(tmp_path, act, LARGE)
    with pytest.raises(ValueError, match="closed"):
        made[0].read(0, 10)


@pytest.mark.parametrize("large", [False, True])
def test_members_are_closed_when_they_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, large: bool
):
    async def act(job: OpenJob):
        visit = job.reply(body=BIG if large else b"small")
        if large:
            prepared = await job.archive.prepare_large(visit)
        else:
            prepared = job.archive.prepare(visit)
        writer = job.archive.large if large else job.archive.writer

        def fail(*_: Any) -> None:
            raise StorageError("full")

        with monkeypatch.context() as patch:
            patch.setattr(writer, "write", fail)
            with pytest.raises(StorageError, match="full"):
                job.archive.write(visit, prepared)
        for member in prepared.members or ():
            assert member is not None
            with pytest.raises(ValueError, match="closed"):
                member.read(0, 10)
        assert job.known() is None

    assert visiting(tmp_path, act, LARGE).types == []


def test_a_packing_that_fails_after_the_cancellation_leaves_nothing_to_close(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    begun, go = threading.Event(), threading.Event()

    def slow(*_: Any) -> PackedMember:
        begun.set()
        assert go.wait(10)
        raise StorageError("full")

    async def main():
        monkeypatch.setattr(archive_step, "pack_in", slow)
        loop = asyncio.get_running_loop()
        packing = asyncio.ensure_future(pack_apart(tmp_path, record(), 1))
        await loop.run_in_executor(None, begun.wait)
        packing.cancel()
        loop.call_later(0.02, go.set)
        with pytest.raises(asyncio.CancelledError):
            await packing

    asyncio.run(main())


def test_the_file_of_a_member_is_closed_when_packing_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    files: list[Any] = []

    def fail(_record: Any, _level: int, file: Any) -> PackedMember:
        files.append(file)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(archive_step, "pack_to_file", fail)
    with pytest.raises(StorageError, match="No space left on device; free space there"):
        pack_in(tmp_path, record(), 1)
    assert files[0].closed
