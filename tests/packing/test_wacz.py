"""WACZ files: of jobs, of several jobs, of WARCs that are being written, of differences."""

import gzip
import hashlib
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from nacre.archive.delta import MEDIA, Delta, make_patch
from nacre.archive.record import CaptureFacts, WarcRecord, capture_records
from nacre.catalogue.captures import IndexedCapture, read_capture
from nacre.catalogue.holdings import open_holding
from nacre.catalogue.lookup import open_index
from nacre.errors import JobError, StorageError
from nacre.packing import container
from nacre.packing import wacz as module
from nacre.packing.cdx_index import packed_line
from nacre.packing.wacz import PackedWacz, PackOptions, pack_wacz, scratch_folder
from tests.archive.captures import counting_ids, make_capture, sha1
from tests.packing.jobs import CHINESE, HTML, crawl_records, make_job, page
from tests.replay.archives import PAGE, Archive, record

OPTIONS = PackOptions(created=1_795_168_800.0)


def pack(target: Path, *roots: Path, **options) -> tuple[PackedWacz, zipfile.ZipFile]:
    """Pack all of some jobs."""
    values = {"created": OPTIONS.created} | options
    made = pack_wacz(open_holding(roots), target, None, PackOptions(**values), lambda _d, _t: None)
    return made, zipfile.ZipFile(target)


def lines_of(wacz: zipfile.ZipFile) -> list[bytes]:
    return gzip.decompress(wacz.read("indexes/index.cdx.gz")).splitlines()


def pages_of(wacz: zipfile.ZipFile, name: str = "pages") -> list[dict[str, object]]:
    return [json.loads(line) for line in wacz.read(f"pages/{name}.jsonl").splitlines()]


def require_index(wacz: zipfile.ZipFile) -> None:
    """Each line leads to its record, and has its digest; the blocks are where the list says."""
    lines = lines_of(wacz)
    assert lines == sorted(lines)
    for line in lines:
        capture = read_capture(line)
        assert capture is not None
        data = wacz.read(f"archive/{capture.warc}")[capture.offset :][: capture.length]
        fields = json.loads(line.split(b" ", 2)[2])
        assert fields["recordDigest"] == f"sha256:{hashlib.sha256(data).hexdigest()}"
        text = gzip.decompress(data) if capture.warc.endswith(".gz") else data
        assert f"WARC-Target-URI: {capture.url}\r\n".encode() in text
    index = wacz.read("indexes/index.cdx.gz")
    meta, *blocks = wacz.read("indexes/index.idx").splitlines()
    assert meta.startswith(b"!meta 0 {")
    found = []
    for block in blocks:
        facts = json.loads(block.split(b" ", 2)[2])
        data = index[facts["offset"] :][: facts["length"]]
        assert facts["digest"] == f"sha256:{hashlib.sha256(data).hexdigest()}"
        part = gzip.decompress(data).splitlines()
        assert part[0].startswith(b" ".join(block.split(b" ", 2)[:2]))
        found += part
    assert found == lines


@pytest.mark.parametrize("compress", [True, False])
def test_the_warcs_of_a_job_are_packed_as_they_are(tmp_path, compress):
    root = make_job(tmp_path / "demo", compress=compress)
    (warc,) = root.glob("runs/*/archive/*.warc*")
    made, wacz = pack(tmp_path / "a.wacz", root)
    info = wacz.getinfo(f"archive/{warc.name}")
    assert wacz.read(info) == warc.read_bytes()
    assert info.compress_type == zipfile.ZIP_STORED
    assert wacz.getinfo("indexes/index.cdx.gz").compress_type == zipfile.ZIP_STORED
    assert (made.warcs, made.captures, made.pages, made.defects) == (1, 8, 2, ())
    assert made.bytes == (tmp_path / "a.wacz").stat().st_size
    require_index(wacz)


def test_pages_have_titles_in_any_encoding_and_seeds_are_marked(tmp_path):
    _, wacz = pack(tmp_path / "a.wacz", make_job(tmp_path / "demo"))
    head, *pages = pages_of(wacz)
    assert head["format"] == "json-pages-1.0"
    assert [(each["title"], each["seed"]) for each in pages] == [
        ("First page", True), ("国家图书馆 首页", True),
    ]  # fmt: skip
    assert pages[0]["ts"] == "2026-11-20T10:00:00Z"
    package = json.loads(wacz.read("datapackage.json"))
    assert package["mainPageUrl"] == "http://example.test/zh/"
    assert len(pages_of(wacz, "extraPages")) == 1


def test_pages_that_are_no_seeds_are_others(tmp_path):
    root = make_job(tmp_path / "demo")
    (root / "seeds.txt").write_text("http://example.test/zh/\n")
    _, wacz = pack(tmp_path / "a.wacz", root)
    assert [each["url"] for each in pages_of(wacz)[1:]] == ["http://example.test/zh/"]
    assert [each["url"] for each in pages_of(wacz, "extraPages")[1:]] == ["http://example.test/"]


def test_without_seeds_all_pages_are_in_one_list(tmp_path):
    root = make_job(tmp_path / "demo")
    (root / "seeds.txt").unlink()
    _, wacz = pack(tmp_path / "a.wacz", root)
    assert len(pages_of(wacz)) == 3
    assert "pages/extraPages.jsonl" not in wacz.namelist()


def test_texts_and_logs_are_there_on_request(tmp_path):
    root = make_job(tmp_path / "demo")
    logs = next(root.glob("runs/*")) / "logs"
    logs.mkdir()
    (logs / "crawl.log").write_text("a line\n")
    _, wacz = pack(tmp_path / "a.wacz", root, text=True, logs=True)
    pages = pages_of(wacz)
    assert pages[0]["hasText"] is True
    assert "中文网页的内容。" in str(pages[2]["text"])
    assert wacz.read(f"logs/{logs.parent.name}-crawl.log") == b"a line\n"


def test_warcs_of_two_jobs_with_one_name(tmp_path):
    one = make_job(tmp_path / "one")
    two = make_job(tmp_path / "two", crawl_records(1000))
    _, wacz = pack(tmp_path / "a.wacz", one, two)
    names = [name for name in wacz.namelist() if name.startswith("archive/")]
    assert len(names) == 2
    assert names[1].startswith("archive/two-")
    assert {read_capture(line).warc for line in lines_of(wacz)} == {  # type: ignore[union-attr]
        name.removeprefix("archive/") for name in names
    }
    require_index(wacz)


@pytest.mark.parametrize("compress", [True, False])
@pytest.mark.parametrize("cut", [0, 1, 30, 700])
def test_a_warc_that_is_written_is_packed_up_to_its_last_whole_record(tmp_path, compress, cut):
    root = make_job(tmp_path / "demo", is_open=True, compress=compress)
    (warc,) = root.glob("runs/*/archive/*.warc*.open")
    (index,) = root.glob("runs/*/archive/*.cdxj.open")
    data = warc.read_bytes()
    if cut:
        warc.write_bytes(data[:-cut])
        index.write_bytes(b"".join(index.read_bytes().splitlines(keepends=True)[:-1]) + b"test,ex")
    made, wacz = pack(tmp_path / "a.wacz", root)
    packed = wacz.read(f"archive/{warc.name.removesuffix('.open')}")
    assert data.startswith(packed)
    assert made.captures == (7 if cut else 8)
    assert (len(packed) == len(data)) is (not cut)
    if compress:
        gzip.decompress(packed)
    else:
        assert packed.endswith(b"\r\n\r\n")


def delta_crawl() -> list[list[WarcRecord]]:
    """A page, and a later version of it that is stored as a difference."""
    ids = counting_ids()
    url, old, new = "http://example.test/", CHINESE, CHINESE + "<p>新闻</p>".encode("gbk")
    first = page(url, old)
    records = capture_records(first, CaptureFacts(), ids)
    block, base = HTML % len(new) + new, HTML % len(old) + old
    delta = Delta(
        base_id=records[0].id, base_url=url, base_date=first.began, base_digest=sha1(base),
        base_length=len(base), base_payload=sha1(old), digest=sha1(block), length=len(block),
        payload=sha1(new), body_length=len(new), payload_length=len(new), mime="text/html",
        patch=make_patch(base, block),
    )  # fmt: skip
    later = capture_records(page(url, new, 60), CaptureFacts(delta=delta), ids)
    return [records, later]


@pytest.mark.parametrize("is_selection", [True, False])
def test_differences_are_expanded_for_others(tmp_path, is_selection):
    root = make_job(tmp_path / "demo", delta_crawl())
    holding = open_holding([root])
    captures = open_index(holding).prefix("") if is_selection else None
    made = pack_wacz(holding, tmp_path / "a.wacz", captures, OPTIONS, lambda _d, _t: None)
    wacz = zipfile.ZipFile(tmp_path / "a.wacz")
    found = [read_capture(line) for line in lines_of(wacz)]
    assert [(each.url, each.mime) for each in found if each] == [
        ("http://example.test/", "text/html")
    ] * 2
    assert MEDIA.encode() not in gzip.decompress(wacz.read("indexes/index.cdx.gz"))
    assert made.defects == ()
    last = found[1]
    assert last is not None
    data = wacz.read(f"archive/{last.warc}")[last.offset :][: last.length]
    assert "新闻".encode("gbk") in gzip.decompress(data)
    assert [each["title"] for each in pages_of(wacz)[1:]] == ["国家图书馆 首页"] * 2


def test_foreign_warcs_without_an_index(tmp_path):
    job = Archive(tmp_path / "job")
    path = job.add(record(PAGE + b"<title>hi</title>"), index=b"")
    path.with_name("w0.cdxj").unlink()
    _, wacz = pack(tmp_path / "a.wacz", job.root)
    require_index(wacz)
    assert len(lines_of(wacz)) == 1


def test_lines_that_lead_nowhere_are_left_out_and_named(tmp_path):
    root = make_job(tmp_path / "demo")
    (index,) = root.glob("runs/*/archive/*.cdxj")
    line = index.read_bytes().splitlines()[0]
    index.write_bytes(
        index.read_bytes() + line.replace(b'"offset": "', b'"offset": "99999')
        + b"\nno line\n" + b"test,example)/x 20261120100000 {}\n"
    )  # fmt: skip
    made, wacz = pack(tmp_path / "a.wacz", root)
    assert len(made.defects) == 1
    assert len(lines_of(wacz)) == 8
    require_index(wacz)


def test_names_and_addresses_in_other_languages(tmp_path):
    root = make_job(tmp_path / "国家图书馆")
    _, wacz = pack(tmp_path / "档案.wacz", root, description="说明")
    package = json.loads(wacz.read("datapackage.json"))
    assert (package["title"], package["description"]) == ("国家图书馆", "说明")


def test_nothing_is_made_of_an_empty_job(tmp_path):
    root = make_job(tmp_path / "demo", [])
    for captures in (None, list[IndexedCapture]()):
        with pytest.raises(JobError, match="no captures"):
            pack_wacz(
                open_holding([root]), tmp_path / "a.wacz", captures, OPTIONS, lambda _d, _t: None
            )
    assert [each.name for each in tmp_path.iterdir()] == ["demo"]


def test_a_full_disk_is_an_error_that_leaves_nothing(tmp_path, monkeypatch):
    root = make_job(tmp_path / "demo")
    facts = os.statvfs(tmp_path)
    values = list(facts)
    values[4] = 10
    with monkeypatch.context() as patch:
        patch.setattr(os, "statvfs", lambda _: os.statvfs_result(values))
        with pytest.raises(StorageError, match="Free some space"):
            pack(tmp_path / "a.wacz", root)
    limited = (
        "import resource, signal, sys; from pathlib import Path\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))\n"
        "from nacre.catalogue.holdings import open_holding\n"
        "from nacre.errors import StorageError\n"
        "from nacre.packing.wacz import PackOptions, pack_wacz\n"
        "try:\n"
        "    pack_wacz(open_holding([sys.argv[1]]), Path(sys.argv[2]), None,\n"
        "              PackOptions(created=0.0), lambda _d, _t: None)\n"
        "except StorageError as error:\n"
        "    print(error)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", limited, str(root), str(tmp_path / "a.wacz")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "EFBIG" in run.stdout, run.stderr
    assert [each.name for each in tmp_path.iterdir()] == ["demo"]


@pytest.mark.slow
def test_memory_is_bounded(tmp_path):
    """256 MB of a sparse WARC are packed in much less memory."""
    root = make_job(tmp_path / "demo")
    (warc,) = root.glob("runs/*/archive/*.warc.gz")
    with warc.open("r+b") as file:
        file.truncate(256 << 20)
    code = (
        "import sys, resource; from pathlib import Path\n"
        "from nacre.catalogue.holdings import open_holding\n"
        "from nacre.packing.wacz import PackOptions, pack_wacz\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "pack_wacz(open_holding([sys.argv[1]]), Path(sys.argv[2]), None,\n"
        "          PackOptions(created=0.0), lambda _d, _t: None)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, str(root), str(tmp_path / "a.wacz")],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert int(run.stdout) < 40_000, run.stdout


def test_a_seed_that_leads_to_no_url(tmp_path):
    moved = make_capture(
        b"HTTP/1.1 302 Found\r\nLocation: http://[\r\n\r\n", b"", status=302,
        url="http://example.test/start", payload_length=0, payload_digest="",
    )  # fmt: skip
    root = make_job(tmp_path / "demo", [capture_records(moved, CaptureFacts(), counting_ids())])
    made, _ = pack(tmp_path / "demo.wacz", root)
    assert (made.captures, made.pages) == (1, 0)


@pytest.mark.parametrize("is_delta", [False, True])
def test_a_warc_that_is_closed_meanwhile_is_packed(tmp_path, monkeypatch, is_delta):
    crawl = delta_crawl() if is_delta else None
    root = make_job(tmp_path / "demo", crawl, is_open=True)
    closed, _ = pack(tmp_path / "open.wacz", root)
    require_space = module._require_space

    def close(target, size):
        require_space(target, size)
        for path in (root / "runs").rglob("*.open"):
            path.rename(path.with_suffix(""))

    monkeypatch.setattr(module, "_require_space", close)
    made, wacz = pack(tmp_path / "closed.wacz", root)
    assert (made.captures, made.expanded) == (closed.captures, closed.expanded)
    require_index(wacz)


def test_a_file_that_another_process_wrote_meanwhile_stays(tmp_path, monkeypatch):
    target, lock_part = tmp_path / "demo.wacz", container._lock_part

    def lock(part, path):
        target.write_bytes(b"other")
        return lock_part(part, path)

    monkeypatch.setattr(container, "_lock_part", lock)
    with pytest.raises(JobError, match="exists"):
        pack(target, make_job(tmp_path / "demo"))
    assert target.read_bytes() == b"other"
    assert [path.name for path in tmp_path.iterdir() if path.name.endswith(".part")] == []


@pytest.mark.parametrize("more", [b"\xb9\xfa", b"[" * 100_000 + b"]" * 100_000])
def test_a_line_that_is_no_json_for_others_is_written_again(more):
    line = b'test,h)/ 20261120100000 {"url":"http://h.test/","filename":"a.warc","offset":"7"%s}'
    capture = read_capture(line % b"")
    assert capture is not None
    whole = packed_line(line % b"", capture, "b.warc", "sha256:00")
    packed = packed_line(line % (b',"x":' + more), capture, "b.warc", "sha256:00")
    assert read_capture(packed) == read_capture(whole)


def test_only_abandoned_folders_of_temporary_files_are_removed(tmp_path: Path):
    target = tmp_path / "a[1].wacz"
    abandoned, foreign = (tmp_path / f".a[1].wacz.{name}.tmp" for name in ("killed", "mine"))
    for folder in (abandoned, foreign):
        folder.mkdir()
        (folder / "file").write_bytes(b"x")
    (abandoned / "nacre-scratch").touch()
    with scratch_folder(target) as first:
        assert not abandoned.exists()
        with scratch_folder(target) as second:
            assert first.is_dir()
            assert second != first
    assert (foreign / "file").is_file()
    assert not first.exists()
