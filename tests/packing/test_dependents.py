"""Captures that need a record of other WARCs."""

from pathlib import Path

from nacre.catalogue.holdings import open_holding
from nacre.packing.dependents import WarcName, find_dependents
from tests.packing.jobs import make_job
from tests.packing.test_wacz import delta_crawl
from tests.replay.archives import PAGE, Archive, record, sha1

SAME = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
LATER = "2026-11-21T10:00:00Z"


def dependents(root: Path, *names: str) -> list[tuple[str, str]]:
    """URL and original of each capture that needs some WARCs."""
    holding = open_holding([root])
    warcs = {WarcName(0, name) for name in names}
    return [(each.capture.url, each.original) for each in find_dependents(holding, warcs)]


def revisit(url: str, **fields: str) -> bytes:
    return record(PAGE, "revisit", url, LATER, Payload_Digest=sha1(b"hi"), Profile=SAME, **fields)


def test_revisits_need_the_record_that_they_state(tmp_path):
    job = Archive(tmp_path / "job")
    job.add(record(PAGE + b"hi", Payload_Digest=sha1(b"hi")))
    job.add(record(PAGE + b"hi", url="http://h.test/two", Payload_Digest=sha1(b"hi")))
    refers = {"Refers_To_Target_URI": "http://h.test/", "Refers_To_Date": "2026-11-20T10:00:00Z"}
    job.add(revisit("http://h.test/a", **refers), revisit("http://h.test/b"))
    assert dependents(job.root, "w0.warc.gz") == [
        ("http://h.test/a", "20261120100000 http://h.test/"), ("http://h.test/b", ""),
    ]  # fmt: skip
    assert dependents(job.root, "w1.warc.gz") == [("http://h.test/b", "")]
    assert dependents(job.root, "w2.warc.gz") == []
    assert dependents(job.root, "w0.warc.gz", "w2.warc.gz") == []


def test_differences_need_their_base(tmp_path):
    first, later = delta_crawl()
    root = make_job(tmp_path / "demo", [first])
    other = make_job(tmp_path / "other", [later])
    (warc,) = root.glob("runs/*/archive/*.warc.gz")
    for path in other.glob("runs/*/archive/*"):
        name = path.name.replace("NACRE", "LATER")
        data = path.read_bytes()
        if path.suffix == ".cdxj":
            data = data.replace(b"NACRE", b"LATER")
        warc.with_name(name).write_bytes(data)
    assert dependents(root, warc.name) == [
        ("http://example.test/", "20261120100000 http://example.test/")
    ]


def test_a_capture_that_cannot_be_read_is_lost_already(tmp_path):
    job = Archive(tmp_path / "job")
    job.add(record(PAGE + b"hi", Payload_Digest=sha1(b"hi")))
    path = job.add(revisit("http://h.test/a"))
    path.write_bytes(b"")
    assert dependents(job.root, "w0.warc.gz") == []
