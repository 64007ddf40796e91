"""WARCs of a selection: what belongs together, revisits with and without their originals."""

import gzip
from pathlib import Path

import pytest

from nacre.archive.check import Checker
from nacre.archive.findings import Severity
from nacre.archive.index import rebuild_index
from nacre.archive.reader import WarcReader
from nacre.archive.record import CaptureFacts, capture_records
from nacre.catalogue.captures import IndexedCapture
from nacre.catalogue.holdings import open_holding
from nacre.catalogue.lookup import open_index
from nacre.errors import JobError
from nacre.packing.wacz import PackOptions
from nacre.packing.warc_files import PackedWarcs, pack_warcs
from tests.archive.captures import counting_ids
from tests.packing.jobs import CHINESE, ENGLISH, make_job, page
from tests.replay.archives import DATE, PAGE, URL, Archive, record, sha1

OPTIONS = PackOptions(created=1_795_168_800.0)
SAME = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"


def pack(root: Path, target: Path, urls: str = "", **options) -> PackedWarcs:
    """Pack the captures of a job whose URL has a text in it."""
    holding = open_holding([root])
    captures = [each for each in open_index(holding).prefix("") if urls in each.url]
    values = {"created": OPTIONS.created} | options
    return pack_warcs(holding, target, captures, PackOptions(**values), lambda _d, _t: None)


def entries(path: Path) -> list[tuple[dict[str, str], bytes]]:
    """Header and block of each record."""
    found = []
    with path.open("rb") as file:
        for entry in WarcReader(file):
            found.append((dict(entry.fields), b"".join(iter(entry.read, b""))))
    return found


def of_type(path: Path, kind: str) -> list[tuple[dict[str, str], bytes]]:
    return [each for each in entries(path) if each[0]["WARC-Type"] == kind]


def require_sound(path: Path) -> None:
    """The file is without errors but for ids of tests, and its index is what the file has."""
    checker = Checker()
    index = path.with_name(path.name.partition(".warc")[0] + ".cdxj")
    checker.file(path, index)
    checker.finish()
    errors = [each for each in checker.findings if each.severity is Severity.ERROR]
    assert [each for each in errors if each.code != "id-invalid"] == []
    assert index.read_bytes() == rebuild_index(path)


@pytest.mark.parametrize("compress", [True, False])
@pytest.mark.parametrize("resolve", [True, False])
def test_all_of_a_job_is_sound(tmp_path, compress, resolve):
    root = make_job(tmp_path / "demo", compress=compress)
    made = pack(root, tmp_path / "all.warc.gz", resolve=resolve)
    require_sound(made.paths[0])
    assert made.selection.captures == 8
    assert made.selection.resolved == (2 if resolve else 0)
    assert made.selection.left_out == 0
    kinds = [each[0]["WARC-Type"] for each in entries(made.paths[0])]
    assert kinds.count("request") == 8
    assert kinds.count("revisit") == (0 if resolve else 2)
    assert kinds[:2] == ["warcinfo", "warcinfo"]


def test_records_are_copied_byte_for_byte(tmp_path):
    root = make_job(tmp_path / "demo")
    (source,) = root.glob("runs/*/archive/*.warc.gz")
    made = pack(root, tmp_path / "zh.warc.gz", "/zh/")
    before = {each[0]["WARC-Record-ID"]: each for each in entries(source)}
    copied = entries(made.paths[0])[1:]
    assert [each[0]["WARC-Type"] for each in copied] == [
        "warcinfo", "response", "request", "metadata",
    ]  # fmt: skip
    assert all(before[each[0]["WARC-Record-ID"]] == each for each in copied)
    assert copied[1][1].endswith(CHINESE)
    require_sound(made.paths[0])


def test_a_resolved_revisit_has_its_own_head_and_the_body_of_its_original(tmp_path):
    root = make_job(tmp_path / "demo")
    made = pack(root, tmp_path / "copy.warc.gz", "/copy")
    ((fields, block),) = of_type(made.paths[0], "response")
    assert fields["WARC-Target-URI"] == "http://example.test/copy"
    assert fields["WARC-Date"] == "2026-11-20T10:01:00.123456Z"
    assert block.partition(b"\r\n\r\n")[2] == ENGLISH
    metadata = [each[1] for each in of_type(made.paths[0], "metadata")]
    assert any(b"resolvedFrom: <urn:uuid:" in each for each in metadata)
    ids = {each[0]["WARC-Record-ID"] for each in entries(made.paths[0])}
    named = {each[0].get("WARC-Concurrent-To") for each in entries(made.paths[0])} - {None}
    assert named == {fields["WARC-Record-ID"]}
    assert len(ids) == len(entries(made.paths[0]))
    require_sound(made.paths[0])


def test_a_304_has_the_head_of_its_original(tmp_path):
    root = make_job(tmp_path / "demo")
    holding = open_holding([root])
    captures = [each for each in open_index(holding).prefix("") if each.timestamp.endswith("0200")]
    made = pack_warcs(holding, tmp_path / "x.warc.gz", captures, OPTIONS, lambda _d, _t: None)
    ((fields, block),) = of_type(made.paths[0], "response")
    assert fields["WARC-Date"] == "2026-11-20T10:02:00.123456Z"
    assert block.startswith(b"HTTP/1.1 200 OK\r\n")
    assert block.endswith(ENGLISH)


def test_the_key_of_a_form_stays(tmp_path):
    root = make_job(tmp_path / "demo")
    made = pack(root, tmp_path / "form.warc.gz", "/search")
    require_sound(made.paths[0])
    assert b'"method": "POST"' in made.paths[0].with_name("form.cdxj").read_bytes()


def test_a_revisit_that_is_kept_alone_is_reported(tmp_path):
    root = make_job(tmp_path / "demo")
    made = pack(root, tmp_path / "copy.warc.gz", "/copy", resolve=False)
    assert made.selection.left_out == 1
    assert made.selection.left_out_samples == [
        "20261120100100 http://example.test/copy -> "
        "2026-11-20T10:00:00.123456Z http://example.test/"
    ]
    assert of_type(made.paths[0], "response") == []


def test_its_original_comes_with_it_on_request(tmp_path):
    root = make_job(tmp_path / "demo")
    made = pack(root, tmp_path / "copy.warc.gz", "/copy", resolve=False, with_originals=True)
    assert (made.selection.originals, made.selection.left_out) == (1, 0)
    ((_, block),) = of_type(made.paths[0], "response")
    assert block.endswith(ENGLISH)
    require_sound(made.paths[0])


def test_a_revisit_in_the_second_of_its_original_does_not_count_as_this(tmp_path):
    job = Archive(tmp_path / "job")
    job.add(record(PAGE + b"x", Payload_Digest=sha1(b"x")))
    job.add(record(PAGE, "revisit", Refers_To_Target_URI=URL, Refers_To_Date=DATE,
                   Payload_Digest=sha1(b"x"), Profile=SAME))  # fmt: skip
    holding = open_holding([job.root])
    captures = [each for each in open_index(holding).prefix("") if each.is_revisit]
    for with_originals, numbers in ((False, (0, 1)), (True, (1, 0))):
        options = PackOptions(created=OPTIONS.created, resolve=False, with_originals=with_originals)
        target = tmp_path / f"{with_originals}.warc.gz"
        made = pack_warcs(holding, target, captures, options, lambda _d, _t: None)
        assert (made.selection.originals, made.selection.left_out) == numbers
        assert len(of_type(target, "response")) == numbers[0]
    both = pack(job.root, tmp_path / "both.warc.gz", resolve=False)
    assert (both.selection.originals, both.selection.left_out) == (0, 0)


def test_a_redirect_in_the_second_of_its_original_does_not_count_as_this(tmp_path):
    """The addresses of http and https have one key."""
    secure = "https://h.test/"
    moved = b"HTTP/1.1 301 Moved\r\nLocation: https://h.test/\r\n\r\n"
    job = Archive(tmp_path / "job")
    job.add(record(moved, Payload_Digest=sha1(b"")))
    job.add(record(PAGE + b"x", url=secure, Payload_Digest=sha1(b"x")))
    job.add(record(PAGE, "revisit", url=secure, date="2026-11-21T10:00:00Z",
                   Refers_To_Target_URI=secure, Refers_To_Date=DATE,
                   Payload_Digest=sha1(b"x"), Profile=SAME))  # fmt: skip
    holding = open_holding([job.root])
    page, *others = sorted(
        open_index(holding).prefix(""), key=lambda each: each.warc != "w1.warc.gz"
    )
    assert page.status == 200
    for with_originals, numbers in ((False, (0, 1)), (True, (1, 0))):
        options = PackOptions(created=OPTIONS.created, resolve=False, with_originals=with_originals)
        target = tmp_path / f"{with_originals}.warc.gz"
        made = pack_warcs(holding, target, others, options, lambda _d, _t: None)
        assert (made.selection.originals, made.selection.left_out) == numbers
    both = pack(job.root, tmp_path / "both.warc.gz", resolve=False)
    assert (both.selection.originals, both.selection.left_out) == (0, 0)


def test_a_copied_revisit_of_a_damaged_original_is_no_damage(tmp_path):
    job = Archive(tmp_path / "job")
    path = job.add(record(PAGE + b"x", Payload_Digest=sha1(b"x")), compress=False)
    job.add(record(PAGE, "revisit", date="2026-11-21T10:00:00Z",
                   Payload_Digest=sha1(b"x"), Profile=SAME))  # fmt: skip
    path.write_bytes(b"x" * path.stat().st_size)
    made = pack(job.root, tmp_path / "x.warc.gz", resolve=False)
    report = made.selection
    assert (report.captures, report.left_out, report.damaged) == (1, 1, 1)
    assert report.damaged_samples[0].startswith("20261120100000")
    assert len(of_type(made.paths[0], "revisit")) == 1


def test_a_revisit_without_any_original_stays_one(tmp_path):
    job = Archive(tmp_path / "job")
    job.add(record(PAGE, "revisit", Refers_To_Target_URI="http://gone.test/",
                   Refers_To_Date="2025-01-01T00:00:00Z", Payload_Digest=sha1(b"x"),
                   Profile=SAME))  # fmt: skip
    made = pack(job.root, tmp_path / "x.warc.gz")
    assert made.selection.left_out == 1
    assert len(of_type(made.paths[0], "revisit")) == 1


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("original", "head", "block"),
    [
        (CHUNKED + b"2\r\nhi\r\n0\r\n\r\n", PAGE, PAGE + b"hi"),
        (
            PAGE + b"hi",
            CHUNKED,
            b"HTTP/1.1 200 OK\r\nX-Archive-Orig-Transfer-Encoding: chunked\r\n"
            b"Content-Length: 2\r\n\r\nhi",
        ),
        (CHUNKED + b"2\r\nhi\r\n0\r\n\r\n", CHUNKED, CHUNKED + b"2\r\nhi\r\n0\r\n\r\n"),
        (PAGE + b"hi", b"", PAGE + b"hi"),
    ],
)
def test_head_and_body_fit_whatever_the_transfer_coding(tmp_path, original, head, block):
    job = Archive(tmp_path / "job")
    job.add(record(original, Payload_Digest=sha1(b"hi")))
    job.add(record(head, "revisit", date="2026-11-21T10:00:00Z",
                   Refers_To_Target_URI="http://h.test/", Refers_To_Date="2026-11-20T10:00:00Z",
                   Payload_Digest=sha1(b"hi"),
                   Profile=SAME))  # fmt: skip
    made = pack(job.root, tmp_path / "x.warc.gz")
    assert [each[1] for each in of_type(made.paths[0], "response")] == [original, block]
    require_sound(made.paths[0])


def test_requests_in_front_of_their_response_belong_to_it(tmp_path):
    """The order of wget and of old crawlers: request, response."""
    job = Archive(tmp_path / "job")
    for number in range(3):
        url = f"http://h.test/{number}"
        request = record(
            b"GET / HTTP/1.0\r\n\r\n", "request", url, media="application/http;msgtype=request",
            Record_ID=f"<urn:x:q{number}>",
        )  # fmt: skip
        response = record(PAGE + b"hi", url=url, Concurrent_To=f"<urn:x:q{number}>")
        job.add(request, response)
    made = pack(job.root, tmp_path / "x.warc.gz", "/1")
    kinds = [each[0]["WARC-Type"] for each in entries(made.paths[0])]
    assert kinds == ["warcinfo", "response", "request"]


def test_records_in_one_gzip_member_are_divided(tmp_path):
    job = Archive(tmp_path / "job")
    job.add(record(b"a: b\r\n", "warcinfo", media="application/warc-fields") + record(PAGE + b"hi"))
    made = pack(job.root, tmp_path / "x.warc.gz")
    assert [each[1] for each in of_type(made.paths[0], "response")] == [PAGE + b"hi"]
    require_sound(made.paths[0])


def test_a_damaged_capture_is_left_out_and_named(tmp_path):
    root = make_job(tmp_path / "demo")
    (warc,) = root.glob("runs/*/archive/*.warc.gz")
    holding = open_holding([root])
    captures = open_index(holding).prefix("")
    (bad,) = [each for each in captures if each.url.endswith("/zh/")]
    data = bytearray(warc.read_bytes())
    data[bad.offset + bad.length // 2] ^= 0xFF
    warc.write_bytes(data)
    made = pack_warcs(holding, tmp_path / "x.warc.gz", captures, OPTIONS, lambda _d, _t: None)
    assert (made.selection.captures, made.selection.damaged) == (7, 1)
    assert "http://example.test/zh/" in made.selection.damaged_samples[0]
    require_sound(made.paths[0])


def test_a_damaged_neighbour_costs_only_itself(tmp_path):
    job = Archive(tmp_path / "job")
    path = job.add(record(PAGE + b"hi", Record_ID="<urn:x:1>"))
    half = gzip.compress(record(b"x: y\r\n", "metadata", Concurrent_To="<urn:x:1>"))[:-20]
    path.write_bytes(path.read_bytes() + half)
    made = pack(job.root, tmp_path / "x.warc.gz")
    assert [each[0]["WARC-Type"] for each in entries(made.paths[0])] == ["warcinfo", "response"]


def test_files_of_a_size_have_whole_captures(tmp_path, monkeypatch):
    monkeypatch.setattr("nacre.packing.warc_files.MAX_FILE_SIZE", 2000)
    root = make_job(tmp_path / "demo")
    made = pack(root, tmp_path / "folder")
    assert len(made.paths) > 2
    for path in made.paths:
        require_sound(path)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["demo", "folder"]
    with pytest.raises(JobError, match="not empty"):
        pack(root, tmp_path / "folder")


def test_a_folder_has_one_writer(tmp_path):
    root, folder = make_job(tmp_path / "demo"), tmp_path / "folder"
    holding = open_holding([root])
    captures = open_index(holding).prefix("")

    def meanwhile():
        for replace in (False, True):
            with pytest.raises(JobError, match="another process writes"):
                pack(root, folder, replace=replace)
        yield from captures

    made = pack_warcs(holding, folder, meanwhile(), OPTIONS, lambda _d, _t: None)
    assert made.selection.captures == len(captures)
    pack(root, folder, replace=True)


def test_nothing_is_made_of_no_captures(tmp_path):
    root = make_job(tmp_path / "demo")
    for target in (tmp_path / "x.warc.gz", tmp_path / "folder"):
        with pytest.raises(JobError, match="no captures"):
            pack(root, target, "nowhere")
    assert [each.name for each in tmp_path.iterdir()] == ["demo"]


def test_the_same_selection_is_the_same_file(tmp_path):
    root = make_job(tmp_path / "demo")
    for name in "ab":
        (tmp_path / name).mkdir()
        pack(root, tmp_path / name / "x.warc.gz")
    assert (tmp_path / "a/x.warc.gz").read_bytes() == (tmp_path / "b/x.warc.gz").read_bytes()


def test_captures_that_are_not_in_the_index_or_the_file(tmp_path):
    root = make_job(tmp_path / "demo")
    holding = open_holding([root])
    captures = open_index(holding).prefix("")
    (place,) = holding.members[0].warcs()
    lies = [
        captures[0]._replace(offset=captures[0].offset + 1),
        captures[0]._replace(offset=1 << 50),
        captures[0]._replace(warc="gone.warc.gz"),
        captures[0]._replace(url="http://other.test/", key="test,other)/"),
    ]
    made = pack_warcs(
        holding, tmp_path / "x.warc.gz", [*lies, *captures], OPTIONS, lambda _d, _t: None
    )
    assert (made.selection.captures, made.selection.damaged) == (8, 4)
    assert isinstance(captures[0], IndexedCapture)
    assert place.size
    require_sound(made.paths[0])


def test_a_long_block_is_not_held_in_memory(tmp_path):
    body = bytes(3 << 20)
    crawl = [capture_records(page("http://example.test/", body), CaptureFacts(), counting_ids())]
    root = make_job(tmp_path / "demo", crawl)
    made = pack(root, tmp_path / "x.warc.gz")
    ((_, block),) = of_type(made.paths[0], "response")
    assert block.endswith(body)


def test_a_field_for_a_certificate_chain_adds_no_other_capture(tmp_path):
    job = Archive(tmp_path / "job")
    fields = record(
        b"tlsCertificates: http://h.test/secret\r\n", "metadata", "http://h.test/1",
        media="application/warc-fields", Concurrent_To="<urn:x:1>",
    )  # fmt: skip
    response = record(PAGE + b"hi", url="http://h.test/1", Record_ID="<urn:x:1>")
    job.add(response, fields, record(PAGE + b"no", url="http://h.test/secret"))
    made = pack(job.root, tmp_path / "x.warc.gz", "/1")
    kinds = [each[0]["WARC-Type"] for each in entries(made.paths[0])]
    assert kinds == ["warcinfo", "response", "metadata"]
